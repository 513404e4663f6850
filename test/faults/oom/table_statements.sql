-- As statements.sql, of filters that stay up to date.

SELECT k, (SELECT count(*) FROM followed_k(k)), (SELECT count(*) FROM followed_a(part)) FROM keys;
SELECT k, bloom_may_contain((SELECT handle FROM followed_k), k) FROM keys;
SELECT key FROM followed_k WHERE key IN (SELECT k FROM keys);
SELECT num_keys, unmerged, capacity, bits_per_key, bytes, expected_fpr, hex(filter) FROM followed_k;
SELECT i.* FROM seen f, bloom_info(f.filter) i;
INSERT INTO followed(k, part) VALUES ('new', 'a'), (7, 'b'), ('0.50', 'a');
-- A text too long to be folded without memory.
INSERT INTO followed(k) VALUES (printf('Long %300s', 'Text'));
SELECT count(*) FROM followed_k(printf('lONG %300s', 'Text'));
SELECT count(*) FROM seen(0.1);
-- A text that is also a number, first of all keys.
INSERT INTO followed(k) VALUES ('0.70');
INSERT OR REPLACE INTO followed(id, k) VALUES (1, 'replaced');
UPDATE followed SET k = k || 'x' || id;
DELETE FROM followed WHERE part = 'a';
INSERT INTO seen(key) VALUES ('one more');
INSERT INTO seen(key) SELECT k FROM keys;
SELECT k, (SELECT count(*) FROM seen(k)), bloom_may_contain((SELECT handle FROM seen), k) FROM keys;
INSERT INTO followed_k(followed_k) VALUES ('merge');
INSERT INTO followed_k(followed_k) VALUES ('merge=1');
INSERT INTO followed_k(followed_k) VALUES ('rebuild');
INSERT INTO without_journal(without_journal) VALUES ('rebuild');
INSERT INTO followed_a(followed_a) VALUES ('integrity-check');
PRAGMA integrity_check;
-- error
CREATE VIRTUAL TABLE f USING bloom(keys, nothing);
-- error
CREATE VIRTUAL TABLE f USING bloom(keys, lower(k));
-- error
CREATE VIRTUAL TABLE followed USING bloom(keys, k);
-- error
CREATE VIRTUAL TABLE f USING bloom(keys, k, nothing = 5);
-- error
CREATE VIRTUAL TABLE used USING bloom(keys, k);
-- error
DELETE FROM seen;
-- error
INSERT INTO seen(seen) VALUES ('rebuild');
-- error
SELECT key FROM followed_k;
-- error
SELECT count(*) FROM without_layout(1);
-- error
SELECT count(*) FROM without_pages(1);
SELECT count(*), bloom_may_contain((SELECT handle FROM without_trigger), 1) FROM without_trigger(1);
SELECT note FROM without_trigger;
-- error
INSERT INTO without_trigger(without_trigger) VALUES ('integrity-check');
-- error
INSERT INTO without_keys(without_keys) VALUES ('integrity-check');
SELECT count(*), bloom_may_contain((SELECT handle FROM without_journal), 1) FROM without_journal(1);
-- error
CREATE VIRTUAL TABLE key USING bloom(keys, k);
-- error
SELECT bloom_open((SELECT handle FROM followed_k));

-- Making, renaming and dropping take thousands of allocations each.
-- long
CREATE VIRTUAL TABLE f USING bloom(keys, k, bits_per_key = 12.5, capacity = 1e3);
-- long
CREATE VIRTUAL TABLE "f 2" USING bloom(keys, (k, part));
-- long
CREATE VIRTUAL TABLE f USING bloom(capacity = 7);
-- Not ALTER TABLE followed_k RENAME: SQLite leaves legacy_alter_table on if it has no memory
-- to convert the new name to UTF-8.
-- long
ALTER TABLE followed RENAME TO leader;
-- long
DROP TABLE followed_a;
