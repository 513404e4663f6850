-- As statements.sql, of filters that stay up to date.

CREATE TABLE keys(id INTEGER PRIMARY KEY, part TEXT, k);
INSERT INTO keys(part, k) VALUES ('a', 1), ('a', 2.0), ('a', 0.1), ('a', NULL), ('b', x'00ff10'), ('b', ''), ('c', 'One more'), ('c', '05');
CREATE TABLE followed(id INTEGER PRIMARY KEY, k TEXT COLLATE NOCASE, part TEXT);
INSERT INTO followed(k, part) SELECT k, part FROM keys;
CREATE VIRTUAL TABLE followed_k USING bloom(followed, k);
CREATE VIRTUAL TABLE followed_a USING bloom(followed, part);
INSERT INTO followed(k, part) VALUES ('unmerged', 'd'), (8, 'e');
CREATE VIRTUAL TABLE seen USING bloom(capacity = 4);
INSERT INTO seen(key) VALUES ('seen'), (5);
CREATE TABLE used_pages(x);

-- Filters that others broke.
CREATE VIRTUAL TABLE without_layout USING bloom();
DELETE FROM without_layout_pages;
CREATE VIRTUAL TABLE without_pages USING bloom();
DROP TABLE without_pages_pages;
CREATE TABLE bare(k PRIMARY KEY) WITHOUT ROWID;
INSERT INTO bare VALUES ('a'), ('b');
CREATE VIRTUAL TABLE without_keys USING bloom(bare, k);
UPDATE without_keys_pages SET bytes = CAST(substr(bytes, 1, 32) || zeroblob(length(bytes) - 32) AS BLOB) WHERE rowid > 1;
CREATE TABLE cleaned(k DEFAULT "by default");
CREATE VIRTUAL TABLE without_journal USING bloom(cleaned, k);
DELETE FROM without_journal_new;
-- In doubt.
CREATE TABLE made_anew(k TEXT);
CREATE VIRTUAL TABLE without_trigger USING bloom(made_anew, k);
DROP TRIGGER without_trigger_before_insert;
CREATE TABLE ids(id INTEGER PRIMARY KEY, k DEFAULT 'x');
INSERT INTO ids(k) VALUES (1), ('two'), (3);
CREATE VIRTUAL TABLE in_steps USING bloom(ids, k);
DROP TRIGGER in_steps_before_update;

-- All that statements change: it must be as before where one failed.
CREATE VIEW state AS SELECT k, (SELECT count(*) FROM followed_k(k)) FROM followed
  UNION ALL SELECT k, (SELECT count(*) FROM seen(k)) FROM followed
  UNION ALL SELECT num_keys, unmerged FROM followed_k
  UNION ALL SELECT name, sql FROM sqlite_master;

----
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
CREATE VIRTUAL TABLE f USING bloom(keys, nothing); -- error
CREATE VIRTUAL TABLE f USING bloom(keys, lower(k)); -- error
CREATE VIRTUAL TABLE followed USING bloom(keys, k); -- error
CREATE VIRTUAL TABLE f USING bloom(keys, k, nothing = 5); -- error
CREATE VIRTUAL TABLE used USING bloom(keys, k); -- error
DELETE FROM seen; -- error
INSERT INTO seen(seen) VALUES ('rebuild'); -- error
SELECT key FROM followed_k; -- error
SELECT count(*) FROM without_layout(1); -- error
SELECT count(*) FROM without_pages(1); -- error
SELECT count(*), bloom_may_contain((SELECT handle FROM without_trigger), 1) FROM without_trigger(1);
SELECT note FROM without_trigger;
INSERT INTO without_trigger(without_trigger) VALUES ('integrity-check'); -- error
INSERT INTO without_trigger(without_trigger) VALUES ('merge=1'); -- error
INSERT INTO without_trigger(without_trigger) VALUES ('merge');
INSERT INTO in_steps(in_steps) VALUES ('merge=2');
INSERT INTO in_steps(in_steps) VALUES ('merge=9');
INSERT INTO without_keys(without_keys) VALUES ('integrity-check'); -- error
SELECT count(*), bloom_may_contain((SELECT handle FROM without_journal), 1) FROM without_journal(1);
CREATE VIRTUAL TABLE key USING bloom(keys, k); -- error
SELECT bloom_open((SELECT handle FROM followed_k)); -- error

-- Making, renaming and dropping take thousands of allocations each.
CREATE VIRTUAL TABLE f USING bloom(keys, k, bits_per_key = 12.5, capacity = 1e3); -- long
CREATE VIRTUAL TABLE "f 2" USING bloom(keys, (k, part)); -- long
CREATE VIRTUAL TABLE f USING bloom(capacity = 7); -- long
-- Not ALTER TABLE followed_k RENAME: SQLite leaves legacy_alter_table on if it has no memory
-- to convert the new name to UTF-8.
ALTER TABLE followed RENAME TO leader; -- long
DROP TABLE followed_a; -- long

----
-- Filters over tuples, and filters in doubt.
CREATE TABLE pairs(a, b TEXT COLLATE NOCASE);
INSERT INTO pairs VALUES (0.5, 'Ada'), (1 << 60, 'bob'), (3, NULL);
CREATE VIRTUAL TABLE pairs_ab USING bloom(pairs, (a, b));
INSERT INTO pairs VALUES (0.25, 'unmerged');

-- In doubt: without a trigger, without a journal, without pages.
CREATE TABLE doubted(a, b);
CREATE VIRTUAL TABLE doubted_ab USING bloom(doubted, (a, b));
DROP TRIGGER doubted_ab_after_update;
CREATE TABLE outrun(k);
CREATE VIRTUAL TABLE outrun_k USING bloom(outrun, k);
DELETE FROM outrun_k_new;
CREATE TABLE lost(k);
CREATE VIRTUAL TABLE lost_k USING bloom(lost, k);
DELETE FROM lost_k_pages;

-- All that statements change: it must be as before where one failed.
CREATE VIEW state AS SELECT a, b FROM pairs
  UNION ALL SELECT 1, k FROM outrun
  UNION ALL SELECT name, sql FROM sqlite_master;

----
-- Tuples, whose REALs and large numbers a statement reads; texts too long to be folded without memory.
SELECT count(*) FROM pairs p WHERE EXISTS (SELECT 1 FROM pairs_ab WHERE key = bloom_tuple(p.a, p.b));
SELECT count(*) FROM pairs_ab WHERE key = bloom_tuple(0.5, printf('Long %300s', 'Text'));
SELECT count(*) FROM pairs_ab WHERE key = bloom_tuple(1, printf('Long %300s', 'Text'));
SELECT count(*) FROM pairs_ab(0.5, printf('Long %300s', 'Text'));
SELECT bloom_may_contain((SELECT handle FROM pairs_ab), bloom_tuple(0.5, 'ADA'));
SELECT bloom_may_contain((SELECT handle FROM doubted_ab), NULL), (SELECT count(*) FROM doubted_ab('a text', 1));
SELECT count(*) FROM pairs_ab(0.25, 'Unmerged');
INSERT INTO pairs VALUES (0.75, 'Cy');
INSERT INTO pairs_ab(pairs_ab) VALUES ('merge');
-- A journal that was emptied; pages that are gone; a trigger that is gone.
INSERT INTO outrun VALUES ('x');
SELECT count(*) FROM outrun_k('a text');
INSERT INTO lost VALUES ('x');
INSERT INTO doubted_ab(doubted_ab) VALUES ('rebuild');

----
-- A bloom_index keeps statements from one look-up of a join to the next: what the state asks after a failure uses them.
CREATE TABLE log(id INTEGER PRIMARY KEY, k TEXT);
WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 60) INSERT INTO log SELECT i, 'key' || i FROM c;
CREATE VIRTUAL TABLE log_index USING bloom_index(log, k);
UPDATE log SET k = 'changed' WHERE id = 3;
INSERT INTO log VALUES (100, 'behind');
CREATE TABLE sought(k);
INSERT INTO sought VALUES ('key7'), ('absent'), ('changed'), ('behind'), ('key59');
CREATE VIEW state AS SELECT s.k, i.id FROM sought s CROSS JOIN log_index i ON i.k = s.k UNION ALL SELECT name, sql FROM sqlite_master;

----
SELECT s.k, i.id FROM sought s CROSS JOIN log_index i ON i.k = s.k;
SELECT s.k, (SELECT count(*) FROM log_index i WHERE i.k = s.k AND i.id > 5) FROM sought s;
