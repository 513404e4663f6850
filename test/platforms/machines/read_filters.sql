-- What filters from any machine and version must say: one text, the same everywhere.
SELECT f.kind, f.form, i.encoding, i.num_bytes, i.num_bits, i.num_probes, i.bits_set, i.estimated_keys > 0,
       printf('%.6f %.9f %.9f', i.fill_ratio, i.expected_fpr, i.measured_fpr), i.note, i.num_sets,
       (SELECT sum(bloom_may_contain((SELECT bloom_open(f.filter)), k.key)) FROM keys AS k WHERE k.kind = f.kind),
       (SELECT sum(bloom_may_contain(f.filter, 'absent ' || k.rowid)) FROM keys AS k WHERE k.kind = f.kind)
  FROM filters AS f, bloom_info(f.filter) AS i
 ORDER BY f.kind, f.form;
SELECT f.kind, f.form, hex(f.filter) FROM filters AS f WHERE length(f.filter) < 10000 ORDER BY f.kind, f.form;
SELECT f.form, sum(bloom_may_contain(f.filter, a.key * 1000 + b.key)), count(*) FROM filters AS f, keys AS a, keys AS b
 WHERE f.kind = 'large' AND a.kind = 'odd' AND b.kind = 'odd' AND a.key BETWEEN 1 AND 99 AND b.key BETWEEN 1 AND 99
 GROUP BY f.form ORDER BY f.form;
SELECT f.kind, f.form, count(*), sum(b.set_number), sum(b.set_number = k.rowid % 20), sum(b.set_number = k.rowid % 99) FROM filters AS f, keys AS k, bloom_sets(f.filter, k.key) AS b
 WHERE f.form LIKE 'bloomfile%' AND k.kind = f.kind GROUP BY f.kind, f.form ORDER BY f.kind, f.form;
SELECT f.kind, f.form, sum(bloom_may_contain(f.filter, bloom_tuple(k.kind, k.key, k.rowid))), sum(bloom_may_contain(f.filter, bloom_tuple(k.kind, k.key, -k.rowid))), count(k.key)
  FROM filters AS f, keys AS k WHERE f.form LIKE 'tuples%' AND k.kind = f.kind GROUP BY f.kind, f.form ORDER BY f.kind, f.form;
