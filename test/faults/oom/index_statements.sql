-- As statements.sql, of bloom_index.

CREATE TABLE log(id INTEGER PRIMARY KEY, trace TEXT COLLATE NOCASE, n, message TEXT);
WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM c WHERE i<120)
INSERT INTO log SELECT i, printf('%08x', i*2654435761 % 4294967296), i%7, 'request ' || i || ' of user ' || i%10 FROM c;
UPDATE log SET trace = 'twice' WHERE id IN (1, 110);
CREATE VIRTUAL TABLE log_index USING bloom_index(log, trace, trace RANGE, n, n RANGE, message LIKE REGEXP);
INSERT INTO log_index(log_index) VALUES ('merge');
UPDATE log SET trace = 'changed', message = 'all new' WHERE id IN (3, 60);
INSERT INTO log VALUES (200, 'behind', 2.5, 'behind what is covered'), (201, '00ff', 'x', NULL);

-- Half of it in blocks.
CREATE TABLE many(id INTEGER PRIMARY KEY, k TEXT);
WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM c WHERE i<60)
INSERT INTO many SELECT i, printf('%08x', i*2654435761 % 4294967296) FROM c;
CREATE VIRTUAL TABLE many_index USING bloom_index(many, k);
INSERT INTO many_index(many_index) VALUES ('merge=40');
CREATE TABLE small(k);
INSERT INTO small VALUES (printf('%08x', 33*2654435761 % 4294967296)), ('absent'), (NULL);

-- What others broke.
CREATE VIRTUAL TABLE broken USING bloom_index(many, k);
INSERT INTO broken(broken) VALUES ('merge');
DELETE FROM broken_spans;
CREATE VIRTUAL TABLE headless USING bloom_index(many, k);
DELETE FROM headless_state;
CREATE VIRTUAL TABLE untold USING bloom_index(many, k);
DROP TRIGGER untold_after_insert;
CREATE VIRTUAL TABLE unguarded USING bloom_index(many, k);
DROP TRIGGER unguarded_guard;
CREATE TABLE old(id INTEGER PRIMARY KEY, k TEXT);
CREATE VIRTUAL TABLE migrated USING bloom_index(old, k, k LIKE);
DROP TABLE old;
CREATE TABLE old(id INTEGER PRIMARY KEY, k TEXT);
INSERT INTO old SELECT id, k FROM many;

----
SELECT * FROM log_index WHERE trace = '00FF' OR trace = 'changed';
SELECT id FROM log_index WHERE n = 3 AND trace > '8' ORDER BY id DESC LIMIT 3;
SELECT count(*) FROM log_index WHERE n IN (1, '2.5', 2.5, NULL);
SELECT id FROM log_index WHERE n BETWEEN 1.5 AND '3' AND trace >= 'C' COLLATE NOCASE;
SELECT count(*) FROM log_index WHERE n > 5 OR trace < x'00' OR n <= 'x';
SELECT id, message FROM log_index WHERE message LIKE '%User 7';
SELECT id FROM log_index WHERE message GLOB '*all new*' AND id IN (60, 61, 3);
SELECT id FROM log_index WHERE message REGEXP 'request (7|8)[0-9] of|all new$' AND id < 100;
SELECT id FROM log_index WHERE message = 'request 77 of user 7' OR message IN ('all new', 'absent');
SELECT id FROM log_index WHERE message REGEXP 'all new('; -- error
SELECT s.k, i.id FROM small s JOIN many_index i ON i.k = s.k;
SELECT id FROM many_index WHERE k IN (SELECT k FROM small) AND id BETWEEN 2 AND 1e3;
SELECT id FROM many_index WHERE k = printf('%08x', 59*2654435761 % 4294967296);
SELECT count(*) FROM broken WHERE k = 'absent';
SELECT id FROM log_index WHERE message LIKE '%new' AND message GLOB '*new' AND trace = 'changed';
SELECT id FROM log_index WHERE n > '2.5e-';
SELECT id FROM log_index WHERE trace IN ('twice', 'absent', NULL);
SELECT count(*) FROM unguarded WHERE k = 'absent';
SELECT count(*) FROM log_index WHERE trace BETWEEN '0' AND 'z' AND id IN (SELECT i.id FROM many_index AS i UNION ALL VALUES (71), (73), (75), (77));
EXPLAIN QUERY PLAN SELECT * FROM untold WHERE k = 'absent';
SELECT * FROM headless; -- error
SELECT s.name, i.* FROM sqlite_master AS s JOIN bloom_index_info(s.name, 'main') AS i WHERE s.sql LIKE 'CREATE VIRTUAL%';
SELECT * FROM bloom_index_info('many'); -- error
DROP TABLE headless;
DROP TABLE log_index;
INSERT INTO log(trace, n, message) VALUES ('new', 7, 'text'), (0.5, NULL, x'00');
UPDATE log SET id = id + 500, trace = upper(trace) WHERE id < 20;
INSERT OR REPLACE INTO log(id, trace) VALUES (7, 'replaced');
INSERT INTO log_index(log_index) VALUES ('merge');
INSERT INTO log_index(log_index) VALUES ('merge=1');
INSERT INTO log_index(log_index) VALUES ('rebuild');
INSERT INTO log_index(log_index) VALUES ('integrity-check');
INSERT INTO broken(broken) VALUES ('integrity-check'); -- error
INSERT INTO broken(broken) VALUES ('merge');
INSERT INTO broken(broken) VALUES ('rebuild');
INSERT INTO untold(untold) VALUES ('merge');
INSERT INTO untold(untold) VALUES ('rebuild');
INSERT INTO unguarded(unguarded) VALUES ('merge');
INSERT INTO migrated(migrated) VALUES ('merge');
INSERT INTO migrated(migrated) VALUES ('merge=20');
INSERT INTO log_index(log_index) VALUES ('optimize'); -- error
INSERT INTO log_index VALUES (1, 'a', 2, 'b'); -- error
CREATE VIRTUAL TABLE i USING bloom_index(log, nothing); -- error
CREATE VIRTUAL TABLE i USING bloom_index(log, n, probes = 99); -- error
CREATE VIRTUAL TABLE i USING bloom_index(log, "trace", n, message LIKE REGEXP);
PRAGMA integrity_check;

----
-- Small: ALTER TABLE reads the whole schema again for each of an index's tables.

CREATE TABLE log(id INTEGER PRIMARY KEY, k TEXT, message ANY);
INSERT INTO log VALUES (1, 'a', 'request'), (2, 'b', 'answer');
CREATE VIRTUAL TABLE log_index USING bloom_index(log, k);
INSERT INTO log_index(log_index) VALUES ('merge');

----
ALTER TABLE log_index RENAME TO renamed;
ALTER TABLE log RENAME TO renamed_log;

----
-- Its source became a view.
CREATE TABLE log(id INTEGER PRIMARY KEY, k TEXT, message TEXT);
INSERT INTO log VALUES (1, 'a', 'request'), (2, 'b', 'answer');
CREATE VIRTUAL TABLE log_index USING bloom_index(log, k);
INSERT INTO log_index(log_index) VALUES ('merge');
CREATE TABLE other(id INTEGER PRIMARY KEY, k TEXT, message TEXT);
INSERT INTO other SELECT * FROM log;
DROP TABLE log;
CREATE VIEW log AS SELECT * FROM other;

----
SELECT id FROM log_index WHERE k = 'a' ORDER BY id; -- error
INSERT INTO log_index(log_index) VALUES ('merge'); -- error
INSERT INTO log_index(log_index) VALUES ('rebuild'); -- error
INSERT INTO log_index(log_index) VALUES ('integrity-check'); -- error
DELETE FROM log_index; -- error

----
-- A newer trigger, of a filter, is in nobody's way.
CREATE TABLE small(k);
INSERT INTO small VALUES ('33'), ('absent'), (NULL);
CREATE VIRTUAL TABLE small_index USING bloom_index(small, k);
CREATE VIRTUAL TABLE small_k USING bloom(small, k);

----
SELECT count(*) FROM small_index WHERE k = 'absent';
INSERT INTO small_index(small_index) VALUES ('rebuild');

----
-- Each row is a block of its own, so that few make two groups, which the last one joins.
CREATE TABLE texts(id INTEGER PRIMARY KEY, t);
WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n WHERE i<130), w(j) AS (VALUES(1) UNION ALL SELECT j+1 FROM w WHERE j<300)
INSERT INTO texts SELECT i, CASE WHEN i%2 THEN group_concat(char(33 + h%90, 33 + h/90%90, 33 + h/8100%90, 33 + h/729000%90), '') ELSE 0.5 END FROM (SELECT i, (i*1000 + j)*2654435761 % 4294967296 AS h FROM n, w) GROUP BY i;
CREATE VIRTUAL TABLE texts_index USING bloom_index(texts, t LIKE);
INSERT INTO texts_index(texts_index) VALUES ('merge=127');

----
SELECT count(*) FROM texts_index WHERE t LIKE '%absent%';
INSERT INTO texts_index(texts_index) VALUES ('merge=3');

----
-- The last id of all, and several blocks of each column.
CREATE TABLE last(id INTEGER PRIMARY KEY, k TEXT);
INSERT INTO last VALUES (1, 'first'), (9223372036854775807, 'last');
CREATE VIRTUAL TABLE last_index USING bloom_index(last, k);
INSERT INTO last_index(last_index) VALUES ('merge');
CREATE TABLE more(id INTEGER PRIMARY KEY, k, t);
WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM c WHERE i<600)
INSERT INTO more SELECT i, i, printf('%08x%08x%08x%08x%08x%08x', i*374761393 % 4294967296, i*3935559000 % 4294967296, i*2654435761 % 4294967296, i*2246822519 % 4294967296, i*3266489917 % 4294967296, i*668265263 % 4294967296) FROM c;
CREATE VIRTUAL TABLE more_index USING bloom_index(more, k, t LIKE REGEXP);
INSERT INTO more_index(more_index) VALUES ('merge');

----
UPDATE last SET k = (SELECT i.id FROM last_index AS i WHERE i.k = 'last');
SELECT id FROM more_index WHERE k = '5e0';
SELECT id FROM more_index WHERE t REGEXP '00000|fffff';

----
-- Two finished blocks: most rows of the first changed, of the second one did.
CREATE TABLE log(id INTEGER PRIMARY KEY, part);
WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM c WHERE i<50)
INSERT INTO log SELECT i, group_concat(printf('%08x', (i*64 + j)*2654435761 % 4294967296), '') FROM c, (SELECT i AS j FROM c WHERE i <= 40) GROUP BY i;
CREATE VIRTUAL TABLE log_index USING bloom_index(log, part LIKE);
INSERT INTO log_index(log_index) VALUES ('merge');
UPDATE log SET part = CASE id WHEN 9 THEN 2.5 ELSE part || 'xyz' END WHERE id < 12 OR id = 30;
CREATE TABLE keys(id INTEGER PRIMARY KEY, k TEXT);
WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM c WHERE i<520) INSERT INTO keys SELECT i, 'key' || i FROM c;
CREATE VIRTUAL TABLE keys_index USING bloom_index(keys, k);
INSERT INTO keys_index(keys_index) VALUES ('merge');
UPDATE keys SET k = 'changed' WHERE id = 7;
CREATE VIRTUAL TABLE headless USING bloom_index(keys, k);
DELETE FROM headless_state;

----
SELECT count(*) FROM headless; -- error
INSERT INTO keys_index(keys_index) VALUES ('merge');
INSERT INTO log_index(log_index) VALUES ('merge=20');
INSERT INTO log_index(log_index) VALUES ('integrity-check');
