-- As test/vtab/faults.sql, of bloom_index.  Each text of part fills a block of its own, so that
-- few rows make a group.

CREATE VIEW texts AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 90),
  w(j) AS (SELECT 1 UNION ALL SELECT j + 1 FROM w WHERE j < 70)
  SELECT i, group_concat(printf('%x', (i*1000 + j)*2654435761 % 4294967296), '') AS part FROM n, w GROUP BY i;
CREATE TABLE followed(id INTEGER PRIMARY KEY, k TEXT COLLATE NOCASE, part TEXT);
INSERT INTO followed SELECT i, 'Key' || i, part FROM texts WHERE i <= 70;
CREATE VIRTUAL TABLE followed_k USING bloom_index(followed, k, part LIKE, k RANGE);
INSERT INTO followed_k(followed_k) VALUES ('merge');
CREATE TABLE in_set(k INTEGER PRIMARY KEY);
CREATE TABLE other(id INTEGER PRIMARY KEY, k);
INSERT INTO other(k) VALUES (1), ('two'), (2.5);
CREATE VIRTUAL TABLE other_k USING bloom_index(other, k);
CREATE TABLE times(id INTEGER PRIMARY KEY, ts INTEGER);
INSERT INTO times WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 2500) SELECT i, 1700000000 + i FROM c;
CREATE VIRTUAL TABLE times_ts USING bloom_index(times, ts RANGE);
INSERT INTO times VALUES (2501, 1700002501), (2502, NULL);
UPDATE times SET ts = ts + 5 WHERE id % 900 = 7;
CREATE TABLE many(id INTEGER PRIMARY KEY, part TEXT);
INSERT INTO many(part) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT i % 3 FROM n;
CREATE INDEX many_by_part ON many(part);
CREATE VIRTUAL TABLE many_k USING bloom_index(many, part);
-- Blocks of several sizes.
CREATE TABLE spread(id INTEGER PRIMARY KEY, k TEXT);
INSERT INTO spread WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 500) SELECT CASE WHEN i > 400 THEN i << 50 ELSE i END, printf('%0100d', i) FROM c;
CREATE VIRTUAL TABLE spread_k USING bloom_index(spread, k);
INSERT INTO spread_k(spread_k) VALUES ('merge');
CREATE VIEW missed AS
  SELECT 'followed_k misses ' || k FROM followed f WHERE NOT EXISTS (SELECT 1 FROM followed_k i WHERE i.k = f.k AND i.id = f.id)
  UNION ALL SELECT 'followed_k misses ' || k || ' by its zones' FROM followed f WHERE id % 9 = 3 AND NOT EXISTS (SELECT 1 FROM followed_k i WHERE i.k BETWEEN f.k AND f.k AND i.id = f.id)
  UNION ALL SELECT 'followed_k misses the text of ' || id FROM followed f WHERE id % 9 = 6
    AND NOT EXISTS (SELECT 1 FROM followed_k i WHERE i.part LIKE '%' || substr(f.part, 100, 20) || '%' AND i.id = f.id)
  UNION ALL SELECT 'spread_k misses ' || id FROM spread s WHERE id % 50 = 3 AND NOT EXISTS (SELECT 1 FROM spread_k i WHERE i.k = s.k AND i.id = s.id)
  UNION ALL SELECT name || ' is left of a CREATE' FROM sqlite_master WHERE name LIKE 'filled%' AND NOT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'filled');

----
SELECT * FROM missed;
SELECT count(*) FROM followed_k WHERE k IN (SELECT 'key' || id FROM followed);
SELECT id, k FROM followed_k WHERE part GLOB '*abc*' AND id > 5 ORDER BY id DESC;
SELECT * FROM followed_k WHERE id = 7;
SELECT id, ts FROM times_ts ORDER BY ts DESC LIMIT 400;
SELECT id FROM followed_k WHERE k > 'key5' AND k IN ('key50', 'key51', 7) AND id < 60;

----
INSERT INTO followed SELECT i + 5, 'KEY' || i, part FROM texts WHERE i > 70;
UPDATE followed SET k = k || '!' WHERE id % 20 = 0;
INSERT INTO followed_k(followed_k) VALUES ('merge=5');
INSERT INTO followed_k(followed_k) VALUES ('merge');
DELETE FROM followed WHERE id > 50;
INSERT OR REPLACE INTO followed(id, k, part) VALUES (3, 'replaced', 'a'), (1000, 'new', 'b');
INSERT INTO followed_k(followed_k) VALUES ('integrity-check');

----
UPDATE followed SET part = (SELECT group_concat(part, '') FROM texts WHERE i > 79) WHERE id IN (3, 64, 67);
INSERT INTO followed_k(followed_k) VALUES ('merge');
SELECT id FROM followed_k WHERE part LIKE '%' || (SELECT substr(part, 40, 30) FROM texts WHERE i = 80) || '%';

----
BEGIN;
UPDATE followed SET k = 'first' WHERE id < 3;
INSERT INTO followed_k(followed_k) VALUES ('merge');
SAVEPOINT p;
UPDATE followed SET part = 'second', id = id + 300 WHERE id > 60;
INSERT INTO followed_k(followed_k) VALUES ('rebuild');
ROLLBACK TO p;
UPDATE followed SET part = part || k WHERE id IN (4, 70);
INSERT INTO followed_k(followed_k) VALUES ('merge=1');
COMMIT;

----
INSERT INTO followed_k(followed_k) VALUES ('rebuild');
INSERT INTO followed_k(followed_k) VALUES ('integrity-check');

----
INSERT INTO spread_k(spread_k) VALUES ('rebuild');
SELECT count(*) FROM spread_k WHERE k IN (printf('%0100d', 7), printf('%0100d', 340), printf('%0100d', 450)) AND id < 1 << 60;
INSERT INTO spread_k(spread_k) VALUES ('integrity-check');

----
BEGIN;
CREATE VIRTUAL TABLE new USING bloom_index(other, k);
INSERT INTO new(new) VALUES ('merge');
INSERT INTO other(k) VALUES (7);
SELECT count(*) FROM new WHERE k = 7;
SAVEPOINT p;
CREATE VIRTUAL TABLE newer USING bloom_index(other, k LIKE);
INSERT INTO other(k) VALUES (8);
ROLLBACK TO p;
INSERT INTO other(k) VALUES (9);
COMMIT;

----
BEGIN;
INSERT INTO other(k) VALUES (5);
ALTER TABLE other_k RENAME TO renamed;
INSERT INTO renamed(renamed) VALUES ('merge');
SAVEPOINT p;
ALTER TABLE renamed RENAME TO again;
INSERT INTO other(k) VALUES (7);
ROLLBACK TO p;
INSERT INTO other(k) VALUES (8);
COMMIT;
SELECT id FROM renamed WHERE k = 8;
DROP TABLE renamed;

----
ALTER TABLE other RENAME TO others;
INSERT INTO others(k) VALUES (12);
VACUUM;
INSERT INTO followed_k(followed_k) VALUES ('merge');

----
CREATE INDEX followed_by_part ON followed(part);
SELECT count(*) FROM followed_k WHERE part = 12;
SELECT count(*) FROM followed_k WHERE part GLOB 'a*' AND part >= 'a' AND part < 'b';
DROP INDEX followed_by_part;

----
CREATE VIRTUAL TABLE filled USING bloom_index(followed, k, part LIKE, k RANGE);
SELECT id FROM filled WHERE k = 'key7';
DROP TABLE filled;

----
DROP TRIGGER followed_k_after_insert;
UPDATE followed SET k = k || '?' WHERE id IN (2, 69);
INSERT INTO followed_k(followed_k) VALUES ('merge=30');
SELECT id FROM followed_k WHERE k = 'key2?' OR k = 'key69?';
INSERT INTO followed_k(followed_k) VALUES ('merge');

----
BEGIN;
UPDATE followed_k_state SET layout = x'00';
INSERT INTO followed(k, part) VALUES ('behind', 'a');
INSERT INTO followed_k(followed_k) VALUES ('merge');
SELECT merged, serves, note FROM bloom_index_info('followed_k');
COMMIT;

----
SELECT count(*) FROM many_k;
SELECT DISTINCT part FROM many_k;
SELECT DISTINCT part FROM many_k ORDER BY part DESC;
SELECT count(*) FROM many_k WHERE part = 2;

----
-- The last part is what must succeed in the end.
INSERT INTO followed(k, part) VALUES ('at last', 'a');
UPDATE followed SET k = k || '.' WHERE id IN (1, 69);
INSERT INTO followed_k(followed_k) VALUES ('merge');
