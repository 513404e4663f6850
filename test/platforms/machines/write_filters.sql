-- Filters of every kind, each with the keys in it. read_filters.sql describes them.
-- Reals are exact: not every SQLite reads 1e-300 as the same double.
CREATE TABLE keys(kind TEXT, key);
WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
INSERT INTO keys
  SELECT 'integer', i * 1000003 - 500000000 FROM n UNION ALL
  SELECT 'real', i / 8.0 - 50 FROM n UNION ALL
  SELECT 'tiny real', i / 1099511627776.0 / 1099511627776.0 FROM n UNION ALL
  SELECT 'text', 'key ' || i || ' äß€😀' FROM n UNION ALL
  SELECT 'blob', CAST(i || ' bytes' AS BLOB) || x'00ff' FROM n UNION ALL
  SELECT 'odd', i FROM n WHERE i % 2;
INSERT INTO keys VALUES ('odd', NULL), ('odd', ''), ('odd', x''), ('odd', 9223372036854775807),
  ('odd', -9223372036854775807 - 1), ('odd', 9e18), ('odd', -0.0), ('odd', 1e308 * 10), ('odd', x'00');

CREATE TABLE filters(kind TEXT, form TEXT, filter BLOB);
INSERT INTO filters SELECT kind, 'built', bloom_build(key) FROM keys GROUP BY kind;
INSERT INTO filters SELECT kind, '9.3 bits', bloom_build(key, 9.3) FROM keys GROUP BY kind;
INSERT INTO filters SELECT kind, 'roomy', bloom_build(key, 20, 5000) FROM keys GROUP BY kind;
INSERT INTO filters SELECT kind, 'merged', bloom_merge(filter) FROM
  (SELECT kind, bloom_build(key, 12, 1000) AS filter FROM keys GROUP BY kind, bloom_partition(key, 7))
  GROUP BY kind;
INSERT INTO filters SELECT kind, 'grown', bloom_add(bloom_empty(1000), min(key), max(key)) FROM keys GROUP BY kind;
INSERT INTO filters SELECT kind, 'parquet', bloom_build(key, 'parquet') FROM keys GROUP BY kind;
INSERT INTO filters SELECT kind, 'parquet, merged', bloom_merge(filter) FROM
  (SELECT kind, bloom_build(key, 12, 1000, 'parquet') AS filter FROM keys GROUP BY kind, bloom_partition(key, 7))
  GROUP BY kind;
INSERT INTO filters SELECT kind, 'parquet, grown', bloom_add(bloom_empty(1000, 'parquet'), min(key), max(key)) FROM keys GROUP BY kind;
INSERT INTO filters SELECT 'no', 'empty', bloom_build(key) FROM keys WHERE 0;
INSERT INTO filters SELECT kind, 'tuples', bloom_build(bloom_tuple(kind, key, rowid)) FROM keys GROUP BY kind;
INSERT INTO filters SELECT kind, 'tuples, parquet', bloom_build(bloom_tuple(kind, key, rowid), 'parquet') FROM keys GROUP BY kind;
-- Large enough for every vector kernel and for building in passes.
INSERT INTO filters SELECT 'large', 'built', bloom_build(a.key * 1000 + b.key, 10) FROM keys AS a, keys AS b
  WHERE a.kind = 'odd' AND b.kind = 'odd' AND a.key BETWEEN 1 AND 999 AND b.key BETWEEN 1 AND 400;
INSERT INTO filters SELECT 'large', 'parquet', bloom_build(a.key * 1000 + b.key, 10, 'parquet') FROM keys AS a, keys AS b
  WHERE a.kind = 'odd' AND b.kind = 'odd' AND a.key BETWEEN 1 AND 999 AND b.key BETWEEN 1 AND 400;
-- Files of many sets: units of 4 bytes, and of a number that no word has; merged.
INSERT INTO filters SELECT kind, 'bloomfile', bloom_build_sets(rowid % 20, key) FROM keys GROUP BY kind;
INSERT INTO filters SELECT kind, 'bloomfile, wide', bloom_build_sets(rowid % 99, key, 9.3) FROM keys GROUP BY kind;
INSERT INTO filters SELECT kind, 'bloomfile, merged', bloom_merge(filter) FROM
  (SELECT kind, bloom_build_sets(rowid / 2 % 50, key, 12, 30) AS filter FROM keys GROUP BY kind, rowid % 2) GROUP BY kind;
