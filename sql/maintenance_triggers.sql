-- Triggers that keep a filter true while its table changes.
--
-- Written for column email of table users: replace both names, and 'users.email',
-- throughout.  Needs filter_registry.sql, and the table, before it.
--
--   INSERT, UPDATE  add the new key: the filter never misses one
--   DELETE, UPDATE  count the old key: a Bloom filter cannot forget, so it answers
--                   "maybe" for keys that are gone, which is not wrong but idle
--   rebuild         once removed keys pass a fifth of all and 200, or keys pass
--                   capacity; the new capacity is twice the keys that are left, at
--                   least 1,000
--
-- From then on every program that writes to the table must have loaded bloom: without
-- it INSERT, DELETE and UPDATE fail.  Reading needs nothing.  To go back, drop the
-- triggers.
--
-- An INSERT copies the filter: fine up to some 100 KB (80,000 keys).  For more
-- keys use partitioned_filter.sql, where a change touches one small filter.
-- INSERT OR REPLACE does not count the row that it replaces, unless PRAGMA
-- recursive_triggers is on: the filter stays true, num_removed is too low.

CREATE TRIGGER IF NOT EXISTS users_email_insert AFTER INSERT ON users
WHEN new.email IS NOT NULL BEGIN
  UPDATE bloom_filter SET num_added = num_added + 1, filter = bloom_add(filter, new.email)
  WHERE name = 'users.email';
END;

-- Not UPDATE OF email: that is not fired where a key changes as the rowid, or is
-- generated.  COLLATE BINARY: a column's collation may take the new key for the old one.
CREATE TRIGGER IF NOT EXISTS users_email_update AFTER UPDATE ON users
WHEN new.email IS NOT old.email COLLATE BINARY BEGIN
  UPDATE bloom_filter SET
    num_added = num_added + (new.email IS NOT NULL),
    num_removed = num_removed + (old.email IS NOT NULL),
    filter = bloom_add(filter, new.email)
  WHERE name = 'users.email';
END;

CREATE TRIGGER IF NOT EXISTS users_email_delete AFTER DELETE ON users
WHEN old.email IS NOT NULL BEGIN
  UPDATE bloom_filter SET num_removed = num_removed + 1 WHERE name = 'users.email';
END;

-- Each rebuild resets the counts, so it is far from the next one: a change costs
-- a few keys' worth of rebuilding on average.
CREATE TRIGGER IF NOT EXISTS users_email_rebuild AFTER UPDATE OF num_added, num_removed ON bloom_filter
WHEN new.name = 'users.email'
  AND (5 * new.num_removed > max(1000, new.num_keys + new.num_added) OR new.num_keys + new.num_added > new.capacity)
BEGIN
  UPDATE bloom_filter SET
    capacity = (SELECT max(1000, 2 * count(email)) FROM users),
    num_keys = (SELECT count(email) FROM users),
    num_added = 0, num_removed = 0, built_at = CURRENT_TIMESTAMP,
    filter = (SELECT bloom_build(email, new.bits_per_key, size.n)
              FROM (SELECT max(1000, 2 * count(email)) AS n FROM users) AS size LEFT JOIN users)
  WHERE name = 'users.email';
END;

-- The filter, if the registry has none yet.  Last: what others insert meanwhile comes by
-- the triggers.
INSERT OR IGNORE INTO bloom_filter(name, table_name, column_name, bits_per_key, capacity, num_keys, filter)
SELECT 'users.email', 'users', 'email', 10, size.capacity, size.n, bloom_build(email, 10, size.capacity)
FROM (SELECT count(email) AS n, max(1000, 2 * count(email)) AS capacity FROM users) AS size LEFT JOIN users;
