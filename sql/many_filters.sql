-- Many sets, one key: which of thousands of shards (files, segments, days) may hold it?
--
-- With a filter for each shard SQLite reads every one of them.  Here the filters of many
-- shards are side by side in BloomFiles, in partitions by key: a look-up reads one file of
-- a few hundred KB, and finds all its shards at once.  With 10,000 shards that takes tens
-- of microseconds; one row for each shard takes milliseconds (sql/README.md has the table).
--
--   shard_batch    shards whose filters were made together: partitions, and keys of one
--                  shard in one of them
--   shard_name     number and name of each shard, its batch, and its set number in there
--   shard_file     one file for each batch and partition
--   shard_asked    keys to look up
--   shard_lookup   for each of these, the shards that may hold it
--
-- How many partitions: the keys of a shard divided by 20, at 10 bits a key.  More make
-- shorter files, but a file has 191 units at least, and few units cost false positives:
-- for a rate of p keep 2 / p units or more.  Fewer partitions read more.
-- The capacity: a shard's keys divided by the partitions, and 5 % more, since some
-- partitions have more than others.  Every shard gets this room: where sizes differ more
-- than twofold make a batch of each size.
--
-- The keys of the shards are in the table orders(shard, key) here.  To add shards 7 and 8,
-- each of 2,000 keys or so, as batch 3 (use .bail on in the shell, so that it stops at a
-- statement that fails):
--
--   BEGIN IMMEDIATE; -- nobody must see the shards before they have their files
--   INSERT INTO shard_batch VALUES (3, 100, 21);
--   INSERT OR REPLACE INTO shard_name VALUES (7, 'orders of 2024-03', 3, 0), (8, 'orders of 2024-04', 3, 1);
--   INSERT INTO shard_file
--   SELECT b.batch * 1000000 + bloom_partition(o.key, b.num_partitions),
--          bloom_build_sets(n.set_number, o.key, 10, b.capacity)
--   FROM shard_batch AS b JOIN shard_name AS n USING (batch) JOIN orders AS o USING (shard)
--   WHERE b.batch = 3 AND o.key IS NOT NULL GROUP BY 1;
--   COMMIT;
--
-- Add a shard whose keys have changed again in the same way, in a new batch: its set in the
-- old batch is then ignored.  A filter that is out of date answers "no" for keys that are
-- there.  A look-up reads one file of each batch: once there are ten or so, put the shards
-- of several into a new one, and delete what is empty:
--
--   DELETE FROM shard_batch WHERE batch NOT IN (SELECT batch FROM shard_name);
--   DELETE FROM shard_file WHERE id / 1000000 NOT IN (SELECT batch FROM shard_batch);
--
-- To look up keys, without those that another program looks up:
--
--   BEGIN IMMEDIATE;
--   INSERT INTO shard_asked VALUES ('one'), ('another');
--   SELECT key, shard, name FROM shard_lookup;
--   ROLLBACK;
--
-- One key needs no shard_asked:
--
--   SELECT n.shard
--   FROM shard_batch AS b CROSS JOIN shard_file AS f ON f.id = b.batch * 1000000 + bloom_partition(?1, b.num_partitions)
--   CROSS JOIN bloom_sets(f.file, ?1) AS s CROSS JOIN shard_name AS n ON n.batch = b.batch AND n.set_number = s.set_number;
--
-- One filter for each shard, in a table of its own, is still right if shards change all the
-- time, or are few: 200 filters of 3 KB take 0.02 ms.  PRAGMA page_size = 16384 before the
-- first table makes files of that size quicker to read.

CREATE TABLE IF NOT EXISTS shard_batch(
  batch          INTEGER PRIMARY KEY CHECK (batch BETWEEN 0 AND 999999),
  num_partitions INTEGER NOT NULL CHECK (num_partitions BETWEEN 1 AND 1000000),
  capacity       INTEGER NOT NULL CHECK (capacity >= 1)
);

CREATE TABLE IF NOT EXISTS shard_name(
  shard      INTEGER PRIMARY KEY,
  name       TEXT NOT NULL,
  batch      INTEGER NOT NULL REFERENCES shard_batch,
  set_number INTEGER NOT NULL CHECK (set_number >= 0),
  UNIQUE (batch, set_number)
);

CREATE TABLE IF NOT EXISTS shard_file(
  id   INTEGER PRIMARY KEY CHECK (id >= 0), -- batch * 1000000 + partition
  file BLOB NOT NULL
);

CREATE TABLE IF NOT EXISTS shard_asked(key);

CREATE VIEW IF NOT EXISTS shard_lookup AS
SELECT a.key, n.shard, n.name
FROM shard_asked AS a
CROSS JOIN shard_batch AS b
CROSS JOIN shard_file AS f ON f.id = b.batch * 1000000 + bloom_partition(a.key, b.num_partitions)
CROSS JOIN bloom_sets(f.file, a.key) AS s
CROSS JOIN shard_name AS n ON n.batch = b.batch AND n.set_number = s.set_number;
