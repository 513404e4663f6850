-- Parts between lines of dashes: what makes the database, scripts, and what must succeed in the
-- end.  A statement ends with a semicolon at the end of a line, and no other line does.

CREATE TABLE followed(id INTEGER PRIMARY KEY, k TEXT COLLATE NOCASE, part TEXT DEFAULT 'a');
INSERT INTO followed(k, part) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
  SELECT 'Key' || i, substr('abc', 1 + i % 3, 1) FROM n;
CREATE VIRTUAL TABLE followed_k USING bloom(followed, k, capacity = 100);
CREATE VIRTUAL TABLE followed_p USING bloom(followed, part);
CREATE VIRTUAL TABLE seen USING bloom(capacity = 10);
CREATE TABLE in_set(k);
CREATE TRIGGER to_set AFTER INSERT ON in_set BEGIN INSERT INTO seen(key) VALUES (new.k); END;
INSERT INTO in_set VALUES (1), ('two'), (x'03'), (4.5);
CREATE TABLE other(k INTEGER, x);
INSERT INTO other(k) VALUES (1), (2);
CREATE VIRTUAL TABLE other_k USING bloom(other, k);
CREATE TABLE pairs(a TEXT COLLATE NOCASE, b INTEGER, x TEXT);
INSERT INTO pairs VALUES ('Ada', 1, '0.5'), ('bob', 2, 'no number'), (NULL, 3, '7');
CREATE VIRTUAL TABLE pairs_ab USING bloom(pairs, (a, b));
CREATE VIRTUAL TABLE pairs_x USING bloom(pairs, x);
CREATE VIEW missed AS
  SELECT 'followed_k misses ' || k FROM followed WHERE NOT EXISTS (SELECT 1 FROM followed_k f WHERE f.key = followed.k)
  UNION ALL SELECT 'handle of followed_k misses ' || k FROM followed WHERE bloom_may_contain((SELECT handle FROM followed_k), k) IS NOT 1
  UNION ALL SELECT 'followed_p misses ' || part FROM followed WHERE part NOT NULL AND NOT EXISTS (SELECT 1 FROM followed_p f WHERE f.key = part)
  UNION ALL SELECT 'pairs_ab misses ' || a || b FROM pairs WHERE a || b NOT NULL AND NOT EXISTS (SELECT 1 FROM pairs_ab(a, b))
  UNION ALL SELECT 'pairs_ab misses the tuple ' || a || b FROM pairs WHERE a || b NOT NULL AND NOT EXISTS (SELECT 1 FROM pairs_ab f WHERE f.key = bloom_tuple(a, b))
  UNION ALL SELECT 'handle of pairs_ab misses ' || a || b FROM pairs WHERE bloom_may_contain((SELECT handle FROM pairs_ab), bloom_tuple(a, b)) = 0
  UNION ALL SELECT 'pairs_x misses ' || x FROM pairs WHERE x NOT NULL AND NOT EXISTS (SELECT 1 FROM pairs_x f WHERE f.key = x)
  UNION ALL SELECT 'seen misses ' || k FROM in_set WHERE NOT EXISTS (SELECT 1 FROM seen WHERE key = in_set.k);

----
SELECT * FROM missed;
SELECT * FROM followed_k;
SELECT bloom_may_contain((SELECT handle FROM followed_k), 'key3');
SELECT key FROM seen WHERE key IN (SELECT k FROM in_set);

----
INSERT INTO followed(k, part) WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 150)
  SELECT i, 'a' FROM n;
UPDATE followed SET k = k || '!', part = 'a' WHERE id % 4 = 0;
DELETE FROM followed WHERE id % 7 = 0;
INSERT OR REPLACE INTO followed(id, k, part) VALUES (3, 'replaced', 'a'), (1000, 'new', 'b');

----
BEGIN;
INSERT INTO followed(k, part) VALUES ('one', 'a'), ('two', 'b');
SAVEPOINT p;
INSERT INTO followed(k, part) WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 130)
  SELECT i, 'a' FROM n;
SELECT count(*) FROM followed_k('105');
SAVEPOINT q;
UPDATE followed SET k = 'u' || k;
INSERT INTO in_set VALUES ('within');
ROLLBACK TO q;
INSERT INTO followed(k, part) VALUES ('three', 'a');
RELEASE q;
ROLLBACK TO p;
INSERT INTO followed(k, part) VALUES ('four', 'a');
COMMIT;

----
SAVEPOINT p;
INSERT INTO in_set WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 170) SELECT i FROM n;
SAVEPOINT q;
INSERT INTO in_set VALUES ('kept');
SELECT num_keys, bytes FROM seen;
RELEASE q;
INSERT INTO followed(k) VALUES ('kept');
ROLLBACK TO p;
INSERT INTO in_set VALUES ('last');
RELEASE p;

----
BEGIN;
UPDATE followed SET k = 'rolled back';
INSERT INTO in_set VALUES ('rolled back');
SELECT num_keys FROM followed_k;
ROLLBACK;
INSERT INTO followed(k, part) VALUES ('new', 'a');

----
INSERT INTO followed_k(followed_k) VALUES ('rebuild');
INSERT INTO followed_p(followed_p) VALUES ('integrity-check');
BEGIN;
INSERT INTO followed(k, part) VALUES ('before', 'a');
INSERT INTO followed_k(followed_k) VALUES ('rebuild');
INSERT INTO followed(k, part) VALUES ('between', 'a');
INSERT INTO followed_p(followed_p) VALUES ('rebuild');
COMMIT;

----
BEGIN;
INSERT INTO followed(k, part) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
  SELECT 'many' || i, 'b' FROM n;
INSERT INTO followed_k(followed_k) VALUES ('rebuild');
COMMIT;

----
INSERT INTO followed(k, part) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
  SELECT 'many' || i, 'b' FROM n;
DELETE FROM followed WHERE id > 500;
INSERT INTO followed(k, part) VALUES ('after', 'a');

----
INSERT INTO in_set WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) SELECT 'many' || i FROM n;
SELECT num_keys, capacity, bytes, expected_fpr FROM seen;

----
BEGIN;
INSERT INTO pairs WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 60) SELECT 'pair' || i, i, i || '.25' FROM n;
SELECT count(*) FROM pairs_ab('PAIR20', '20');
SELECT count(*) FROM pairs_ab WHERE key = bloom_tuple('PAIR20', 20.0);
UPDATE pairs SET a = 'new' || b, x = b WHERE b % 3 = 0;
SAVEPOINT p;
INSERT INTO pairs_ab(pairs_ab) VALUES ('rebuild');
DELETE FROM pairs WHERE b > 50;
ROLLBACK TO p;
INSERT INTO pairs_x(pairs_x) VALUES ('merge');
COMMIT;
INSERT INTO pairs VALUES ('last', 9007199254740993, '0.1');

----
DELETE FROM pairs;
INSERT INTO pairs_x(pairs_x) VALUES ('merge');
INSERT INTO pairs_x(pairs_x) VALUES ('rebuild');
INSERT INTO pairs VALUES ('an integer', 4, '1');
INSERT INTO pairs VALUES ('a decimal', 5, '1.5');
SELECT bloom_may_contain((SELECT handle FROM pairs_x), '1.5'), bloom_may_contain((SELECT handle FROM pairs_ab), bloom_tuple('A DECIMAL', 5));

----
BEGIN;
CREATE VIRTUAL TABLE new USING bloom(other, k, bits_per_key = 12.5, capacity = 1e2);
INSERT INTO other(k) VALUES (7);
SELECT count(*) FROM new(7);
SAVEPOINT p;
CREATE VIRTUAL TABLE newer USING bloom(other, (x, k));
INSERT INTO other(k) VALUES (8);
ROLLBACK TO p;
INSERT INTO other(k) VALUES (9);
COMMIT;
CREATE VIRTUAL TABLE newest USING bloom();
INSERT INTO newest(key) VALUES (1);

----
BEGIN;
INSERT INTO other(k) VALUES (5);
ALTER TABLE other_k RENAME TO renamed;
INSERT INTO other(k) VALUES (6);
SAVEPOINT p;
ALTER TABLE renamed RENAME TO again;
INSERT INTO other(k) VALUES (7);
ROLLBACK TO p;
INSERT INTO other(k) VALUES (8);
COMMIT;
ALTER TABLE renamed RENAME TO other_k;
INSERT INTO other(k) VALUES (9);

----
BEGIN;
DROP TABLE other_k;
INSERT INTO other(k) VALUES (5);
ROLLBACK;
INSERT INTO other(k) VALUES (6);
SAVEPOINT p;
DROP TABLE other_k;
CREATE VIRTUAL TABLE other_k USING bloom(other, x);
INSERT INTO other(x) VALUES (5);
RELEASE p;
DROP TABLE other_k;

----
ALTER TABLE other ADD COLUMN y;
INSERT INTO other(k) VALUES (11);
ALTER TABLE other RENAME TO others;
ALTER TABLE others RENAME COLUMN k TO key;
INSERT INTO others(key) VALUES (12);
VACUUM;
SELECT count(*) FROM other_k(12);

----

INSERT INTO followed_k(followed_k) VALUES ('merge');
INSERT INTO followed(k) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) SELECT 'm' || i FROM n;
SELECT count(*) FROM followed_k('m7');
BEGIN;
INSERT INTO followed_k(followed_k) VALUES ('merge=7');
SELECT count(*) FROM followed_k('m7');
INSERT OR REPLACE INTO followed(id, k, part) VALUES (4, 'between', NULL);
SAVEPOINT p;
INSERT INTO followed_k(followed_k) VALUES ('merge');
INSERT INTO followed_p(followed_p) VALUES ('merge');
INSERT INTO followed(k) VALUES ('taken back');
SELECT unmerged, note FROM followed_k;
ROLLBACK TO p;
SELECT count(*) FROM followed_k('m30');
COMMIT;
INSERT INTO pairs_ab(pairs_ab) VALUES ('merge=2');

----

CREATE TRIGGER to_merge AFTER INSERT ON followed WHEN new.id % 10 = 0 BEGIN INSERT INTO followed_p(followed_p) VALUES ('merge'); END;
INSERT INTO followed(k, part) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25) SELECT 't' || i, 'p' || i FROM n;
UPDATE followed SET part = part || part WHERE id > 20;
DROP TRIGGER to_merge;
INSERT INTO followed(k) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT 'beyond' || i FROM n;
INSERT INTO followed_k(followed_k) VALUES ('merge');
SELECT num_keys, unmerged, capacity FROM followed_k;

----
DROP TRIGGER followed_k_before_insert;
INSERT INTO followed(k, part) VALUES ('missed', 'a');
INSERT INTO followed_k(followed_k) VALUES ('merge');
BEGIN;
DELETE FROM followed_p_new;
INSERT INTO followed_p(followed_p) VALUES ('merge');
INSERT INTO followed(k, part) VALUES ('then', 'z');
COMMIT;

----
DROP TRIGGER followed_k_before_insert;
INSERT INTO followed(k, part) VALUES ('missed', 'a');
INSERT INTO followed_k(followed_k) VALUES ('merge=12');
UPDATE followed SET id = -id, part = 'moved' WHERE id = 25;
SELECT count(*) FROM followed_k('key25');
BEGIN;
INSERT INTO followed_k(followed_k) VALUES ('merge=12');
UPDATE followed SET k = 'changed' WHERE id IN (3, 29);
INSERT INTO followed_k(followed_k) VALUES ('merge=12');
COMMIT;

----
INSERT INTO followed(k, part) VALUES ('at last', 'a');
UPDATE followed SET k = k || '.' WHERE id = 1;
INSERT INTO in_set VALUES ('at last');
INSERT INTO followed_k(followed_k) VALUES ('rebuild');
INSERT INTO followed_k(followed_k) VALUES ('merge');
INSERT INTO followed_p(followed_p) VALUES ('merge');
