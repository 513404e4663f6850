-- A registry of filters: which column each covers, when it was built, with how
-- many keys, and a view that says which are not worth having any more.
--
--   bloom_filter          one row a filter; the program keeps the counts, or the
--                         triggers of maintenance_triggers.sql do
--   bloom_filter_status   the same with bloom_info() and a verdict, filter left out
--
-- To build a filter, or to build it anew (here for column email of users, with
-- room for twice the keys there are):
--
--   INSERT OR REPLACE INTO bloom_filter(name, table_name, column_name, bits_per_key,
--     capacity, num_keys, filter)
--   SELECT 'users.email', 'users', 'email', 10, 2 * size.n, size.n, bloom_build(email, 10, 2 * size.n)
--   FROM (SELECT count(email) AS n FROM users) AS size LEFT JOIN users;
--
-- To ask it:
--
--   SELECT bloom_may_contain(filter, ?) FROM bloom_filter WHERE name = 'users.email';
--
-- The statements below change nothing that is there already.

CREATE TABLE IF NOT EXISTS bloom_filter(
  name         TEXT PRIMARY KEY NOT NULL,
  table_name   TEXT NOT NULL,
  column_name  TEXT NOT NULL,
  bits_per_key REAL NOT NULL DEFAULT 10,
  capacity     INTEGER NOT NULL,           -- keys that the filter was sized for
  built_at     TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, -- UTC
  num_keys     INTEGER NOT NULL,           -- in the filter when it was built
  num_added    INTEGER NOT NULL DEFAULT 0, -- keys since then
  num_removed  INTEGER NOT NULL DEFAULT 0, -- keys still in the filter, no more in the column
  filter       BLOB NOT NULL               -- last: reading the others does not read its pages
);

-- verdict, the worst that holds:
--   unreadable  the BLOB is no filter that keys can be added to: build it anew
--   saturated   more keys than capacity: the false positive rate exceeds what was asked for
--   stale       over a fifth of its keys, and over 200, are gone: they cost room and give
--               false positives
--   good
CREATE VIEW IF NOT EXISTS bloom_filter_status AS
SELECT name, table_name, column_name, built_at, capacity, num_keys, num_added, num_removed,
  info.num_bytes, info.fill_ratio, info.measured_fpr,
  CASE
    WHEN info.num_probes IS NULL OR info.num_probes = 0 THEN 'unreadable'
    WHEN num_keys + num_added > capacity OR info.fill_ratio > 0.75 THEN 'saturated'
    WHEN 5 * num_removed > max(1000, num_keys + num_added) THEN 'stale'
    ELSE 'good'
  END AS verdict,
  info.note
FROM bloom_filter JOIN bloom_info(bloom_filter.filter) AS info;
