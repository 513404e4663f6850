-- A filter in partitions: many small filters, each of which covers the keys of
-- one bloom_partition().  A look-up reads one small row, a change rewrites one,
-- and neither 32-bit digests nor SQLite's largest BLOB set a limit.
--
-- Written for column key of table seen, in 1,024 partitions of 2,000 keys at 12
-- bits per key: a filter of 3,001 bytes, which with its row fits one page of
-- 4,096.  Replace the names, and the numbers throughout: as many partitions as the
-- keys you expect, divided by 2,000.  Needs the table before it.
--
--   seen_part     one row a partition that has keys
--   seen_asked    keys to look up: INSERT them, read seen_lookup, DELETE them
--   seen_lookup   for each of these, 0: surely not in seen, 1: may be
--
-- One key needs no seen_asked; no row means no:
--
--   SELECT bloom_may_contain(filter, ?1) FROM seen_part WHERE part = bloom_partition(?1, 1024);
--
-- From then on every program that writes to the table must have loaded bloom: without
-- it INSERT, DELETE, UPDATE, VACUUM and PRAGMA integrity_check fail.  Reading needs
-- nothing.  To go back, drop the triggers and the index.
--
-- Why these numbers: a row that fits its page is read with that page alone; one that
-- does not adds a page for every 4,092 bytes more, and the whole of it is copied.  For
-- that the table must keep its rowid: WITHOUT ROWID moves all but the first bytes of a
-- row over a quarter of a page elsewhere.  Where look-ups find SQLite's page cache
-- empty, but the file in the system's, two things help further (test/bench/lookups.c):
-- PRAGMA mmap_size, which takes a third off (never for files on a cold disk: there each
-- page costs many times as much), or a database of its own with PRAGMA page_size = 2048
-- and partitions of 1,250 keys, which takes off a seventh.
--
-- GROUP BY sorts the keys: some 0.4 us a key at a million keys, 0.6 at a hundred million,
-- in temporary files of 14 bytes for each INTEGER key, three times that at a hundred
-- million.  Leave PRAGMA cache_size as it is: SQLite then sorts larger pieces, which no
-- longer fit the processor's cache, and takes twice as long.  Ranges of
-- partitions, WHERE bloom_partition(key, 1024) BETWEEN ? AND ?, one after the other, need
-- less room for sorting, but each reads the table (test/bench/build_partitions.py).
--
-- Upkeep: triggers add new keys, count removed ones, and rebuild a partition once
-- a fifth of its keys, and at least 400, are gone.  The index on the partition lets
-- a rebuild read that partition's keys alone.  INSERT OR REPLACE does not count the row
-- that it replaces, unless PRAGMA recursive_triggers is on: no key is ever missed, but
-- num_removed is too low, and rebuilds come late.

CREATE TABLE IF NOT EXISTS seen_part(
  part        INTEGER PRIMARY KEY,
  num_keys    INTEGER NOT NULL,           -- in the filter
  num_removed INTEGER NOT NULL DEFAULT 0, -- of these, no more in the table
  filter      BLOB NOT NULL
);

CREATE INDEX IF NOT EXISTS seen_by_part ON seen(bloom_partition(key, 1024));

CREATE TABLE IF NOT EXISTS seen_asked(key);

CREATE VIEW IF NOT EXISTS seen_lookup AS
SELECT key, coalesce((SELECT bloom_may_contain(filter, seen_asked.key) FROM seen_part
                      WHERE part = bloom_partition(seen_asked.key, 1024)), 0) AS may_be_seen
FROM seen_asked;

-- Not INSERT OR IGNORE within triggers: an INSERT OR REPLACE that fires them would make
-- it an OR REPLACE too, which empties the filter.
CREATE TRIGGER IF NOT EXISTS seen_insert AFTER INSERT ON seen WHEN new.key IS NOT NULL BEGIN
  INSERT INTO seen_part(part, num_keys, filter)
  SELECT bloom_partition(new.key, 1024), 0, bloom_empty(2000, 12)
  WHERE NOT EXISTS (SELECT 1 FROM seen_part WHERE part = bloom_partition(new.key, 1024));
  UPDATE seen_part SET num_keys = num_keys + 1, filter = bloom_add(filter, new.key)
  WHERE part = bloom_partition(new.key, 1024);
END;

CREATE TRIGGER IF NOT EXISTS seen_delete AFTER DELETE ON seen WHEN old.key IS NOT NULL BEGIN
  UPDATE seen_part SET num_removed = num_removed + 1 WHERE part = bloom_partition(old.key, 1024);
END;

-- Not UPDATE OF key: that is not fired where key changes as the rowid, or is generated.
-- COLLATE BINARY: a column's collation may take the new key for the old one.
CREATE TRIGGER IF NOT EXISTS seen_update AFTER UPDATE ON seen
WHEN new.key IS NOT old.key COLLATE BINARY BEGIN
  INSERT INTO seen_part(part, num_keys, filter)
  SELECT bloom_partition(new.key, 1024), 0, bloom_empty(2000, 12)
  WHERE new.key IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM seen_part WHERE part = bloom_partition(new.key, 1024));
  UPDATE seen_part SET num_keys = num_keys + 1, filter = bloom_add(filter, new.key)
  WHERE part = bloom_partition(new.key, 1024);
  UPDATE seen_part SET num_removed = num_removed + 1 WHERE part = bloom_partition(old.key, 1024);
END;

CREATE TRIGGER IF NOT EXISTS seen_rebuild AFTER UPDATE OF num_removed ON seen_part
WHEN new.num_removed >= 400 AND 5 * new.num_removed > new.num_keys BEGIN
  UPDATE seen_part SET
    num_keys = (SELECT count(*) FROM seen WHERE bloom_partition(key, 1024) = new.part),
    num_removed = 0,
    filter = (SELECT bloom_build(key, 12, 2000)
              FROM (SELECT 1) LEFT JOIN seen ON bloom_partition(key, 1024) = new.part)
  WHERE part = new.part;
END;

-- The filters of the keys that are there.  Last: what others insert meanwhile comes by
-- the triggers.  NOT INDEXED: by the index SQLite would look up each row in turn, all
-- over the table.
INSERT OR REPLACE INTO seen_part(part, num_keys, filter)
SELECT bloom_partition(key, 1024), count(*), bloom_build(key, 12, 2000)
FROM seen NOT INDEXED WHERE key IS NOT NULL GROUP BY 1;
