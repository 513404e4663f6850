-- A filter is a value: bloom_build gathers a column's keys into one, and it is
-- kept in a column like any other.
CREATE TABLE filters(name TEXT PRIMARY KEY, keys TEXT, num_keys INTEGER, filter BLOB);

INSERT INTO filters
  SELECT 'all_names', 'text', count(name), bloom_build(name) FROM packages;
INSERT INTO filters
  SELECT 'installed_names', 'text', count(name), bloom_build(name) FROM installed;
-- 102400 KB = 100 MB.
INSERT INTO filters
  SELECT 'large_names', 'text', count(name), bloom_build(name) FROM packages WHERE installed_kb >= 102400;
INSERT INTO filters
  SELECT 'large_ids', 'integer', count(id), bloom_build(id) FROM packages WHERE installed_kb >= 102400;
