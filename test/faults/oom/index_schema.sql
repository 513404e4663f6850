-- What the statements of index_statements.sql find, on every connection.

CREATE TABLE log(id INTEGER PRIMARY KEY, trace TEXT COLLATE NOCASE, n, message TEXT);
WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM c WHERE i<120)
INSERT INTO log SELECT i, printf('%08x', i*2654435761 % 4294967296), i%7, 'request ' || i || ' of user ' || i%10 FROM c;
UPDATE log SET trace = 'twice' WHERE id IN (1, 110);
CREATE VIRTUAL TABLE log_index USING bloom_index(log, trace, trace RANGE, n, n RANGE, message LIKE REGEXP, probes = 32);
INSERT INTO log_index(log_index) VALUES ('merge');
UPDATE log SET trace = 'changed', message = 'all new' WHERE id IN (3, 60);
INSERT INTO log VALUES (200, 'behind', 2.5, 'behind what is covered'), (201, '00ff', 'x', NULL);

-- Half of it in blocks.
CREATE TABLE many(id INTEGER PRIMARY KEY, k TEXT);
WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM c WHERE i<60)
INSERT INTO many SELECT i, printf('%08x', i*2654435761 % 4294967296) FROM c;
CREATE VIRTUAL TABLE many_index USING bloom_index(many, k, probes = 32);
INSERT INTO many_index(many_index) VALUES ('merge=40');
CREATE TABLE keys(k); -- that oom.c looks for
CREATE TABLE small(k);
INSERT INTO small VALUES (printf('%08x', 33*2654435761 % 4294967296)), ('absent'), (NULL);

-- What others broke.
CREATE VIRTUAL TABLE broken USING bloom_index(many, k);
INSERT INTO broken(broken) VALUES ('merge');
DELETE FROM broken_blocks_1;
CREATE VIRTUAL TABLE headless USING bloom_index(many, k);
DELETE FROM headless_state;
CREATE VIRTUAL TABLE untold USING bloom_index(many, k);
DROP TRIGGER untold_after_insert;
CREATE VIRTUAL TABLE unguarded USING bloom_index(many, k);
DROP TRIGGER unguarded_guard;
