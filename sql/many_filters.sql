-- Many filters, one key: which of thousands of shards (files, segments, days) may
-- hold it?
--
-- The plain way, one row a shard and WHERE bloom_may_contain(filter, ?), makes SQLite
-- copy each filter whole, though a few bytes of it are tested: overflow pages first,
-- then the bytes themselves.  Here each shard's filter is in 16 partitions, and the
-- rows of one partition of all shards lie side by side: a look-up reads a sixteenth of
-- the bytes, in one run of pages, and takes a tenth of the time where filters have
-- 12 KB (test/bench/many_filters.c).
--
--   shard_layout   the number of partitions: the one place that says it
--   shard_name     number and name of each shard
--   shard_part     one row a shard and partition that has keys
--   shard_asked    keys to look up
--   shard_lookup   for each of these, the shards that may hold it
--
-- Up to some hundreds of small filters the plain way is fast enough: 200 filters of 3 KB
-- take 0.1 ms.
--
-- Replace the 16 in shard_layout, before this file is first read, by the keys of a shard
-- divided by 500: filters of 500 to 1,000 bytes (330 to 660 keys a shard and partition at
-- 12 bits) are good; under 100 bytes the row costs more than the filter.  All else asks
-- shard_layout.  To change it later: DELETE FROM shard_part, DROP VIEW shard_layout, read
-- the file again, and fill shard_part anew, in one transaction.
-- Up to a million shards, 0 to 999999: the 1000000 stays as it is.  In a database of its
-- own, PRAGMA page_size = 16384 before the first table takes off another fifth.
--
-- A filter that is out of date answers "no" for keys that are there.  To add shard 7, and
-- to replace it each time its keys have changed (.bail on in the shell, lest a statement
-- that fails be passed over):
--
--   BEGIN IMMEDIATE; -- who looks up meanwhile must not find the shard without its filters
--   INSERT OR REPLACE INTO shard_name VALUES (7, 'orders of 2024-03');
--   DELETE FROM shard_part WHERE id % 1000000 = 7;
--   INSERT INTO shard_part
--   SELECT bloom_partition(key, num_partitions) * 1000000 + 7, bloom_build(key, 12)
--   FROM shard_layout, orders_2024_03 WHERE key IS NOT NULL GROUP BY 1;
--   COMMIT;
--
-- To look keys up, so that no other program's come among them:
--
--   BEGIN IMMEDIATE;
--   INSERT INTO shard_asked VALUES ('one'), ('another');
--   SELECT key, shard, name FROM shard_lookup;
--   ROLLBACK;
--
-- One key needs no shard_asked:
--
--   SELECT p.id % 1000000 AS shard
--   FROM (SELECT bloom_partition(?1, num_partitions) * 1000000 AS first FROM shard_layout) AS l
--   CROSS JOIN shard_part AS p ON p.id BETWEEN l.first AND l.first + 999999
--   WHERE bloom_may_contain(p.filter, ?1);

CREATE VIEW IF NOT EXISTS shard_layout(num_partitions) AS SELECT 16;

CREATE TABLE IF NOT EXISTS shard_name(
  shard INTEGER PRIMARY KEY CHECK (shard BETWEEN 0 AND 999999),
  name  TEXT NOT NULL
);

-- A rowid table: WITHOUT ROWID would move filters over a quarter of a page elsewhere.
CREATE TABLE IF NOT EXISTS shard_part(
  id     INTEGER PRIMARY KEY CHECK (id >= 0), -- partition * 1000000 + shard
  filter BLOB NOT NULL
);

CREATE TABLE IF NOT EXISTS shard_asked(key);

-- A shard without a name is found, too.
CREATE VIEW IF NOT EXISTS shard_lookup AS
SELECT a.key, p.id % 1000000 AS shard, n.name
FROM shard_asked AS a
CROSS JOIN shard_part AS p
  ON p.id BETWEEN bloom_partition(a.key, (SELECT num_partitions FROM shard_layout)) * 1000000
              AND bloom_partition(a.key, (SELECT num_partitions FROM shard_layout)) * 1000000 + 999999
  AND bloom_may_contain(p.filter, a.key)
LEFT JOIN shard_name AS n ON n.shard = p.id % 1000000;
