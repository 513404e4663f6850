-- bloom_info tells what a stored filter is; expected_fpr is the share of absent
-- keys that it accepts all the same.
SELECT printf('  %-16s a filter of %,9d bytes for %,7d %s keys; lets %.2f %% of absent keys through',
              f.name, i.num_bytes, f.num_keys, f.keys, 100 * i.measured_fpr)
FROM filters f, bloom_info(f.filter) i
ORDER BY f.rowid;
