-- As statements.sql, of bloom_index.

SELECT * FROM log_index WHERE trace = '00FF' OR trace = 'changed';
SELECT id FROM log_index WHERE n = 3 AND trace > '8' ORDER BY id DESC LIMIT 3;
SELECT count(*) FROM log_index WHERE n IN (1, '2.5', 2.5, NULL);
SELECT id FROM log_index WHERE n BETWEEN 1.5 AND '3' AND trace >= 'C' COLLATE NOCASE;
SELECT count(*) FROM log_index WHERE n > 5 OR trace < x'00' OR n <= 'x';
SELECT id, message FROM log_index WHERE message LIKE '%User 7';
SELECT id FROM log_index WHERE message GLOB '*all new*' AND id IN (60, 61, 3);
SELECT id FROM log_index WHERE message REGEXP 'request (7|8)[0-9] of|all new$' AND id < 100;
SELECT id FROM log_index WHERE message = 'request 77 of user 7' OR message IN ('all new', 'absent');
-- error
SELECT id FROM log_index WHERE message REGEXP 'all new(';
SELECT s.k, i.id FROM small s JOIN many_index i ON i.k = s.k;
SELECT id FROM many_index WHERE k IN (SELECT k FROM small) AND id BETWEEN 2 AND 1e3;
SELECT id FROM many_index WHERE k = printf('%08x', 59*2654435761 % 4294967296);
SELECT count(*) FROM broken WHERE k = 'absent';
SELECT id FROM log_index WHERE message LIKE '%new' AND message GLOB '*new' AND trace = 'changed';
SELECT id FROM log_index WHERE trace IN ('twice', 'absent', NULL);
SELECT count(*) FROM unguarded WHERE k = 'absent';
EXPLAIN QUERY PLAN SELECT * FROM untold WHERE k = 'absent';
-- error
SELECT * FROM headless;
DROP TABLE headless;
DROP TABLE log_index;
INSERT INTO log(trace, n, message) VALUES ('new', 7, 'text'), (0.5, NULL, x'00');
UPDATE log SET id = id + 500, trace = upper(trace) WHERE id < 20;
INSERT OR REPLACE INTO log(id, trace) VALUES (7, 'replaced');
INSERT INTO log_index(log_index) VALUES ('merge');
INSERT INTO log_index(log_index) VALUES ('merge=1');
INSERT INTO log_index(log_index) VALUES ('rebuild');
INSERT INTO log_index(log_index) VALUES ('integrity-check');
INSERT INTO broken(broken) VALUES ('merge');
INSERT INTO broken(broken) VALUES ('rebuild');
INSERT INTO untold(untold) VALUES ('merge');
INSERT INTO untold(untold) VALUES ('rebuild');
INSERT INTO unguarded(unguarded) VALUES ('merge');
-- error
INSERT INTO log_index(log_index) VALUES ('optimize');
-- error
INSERT INTO log_index VALUES (1, 'a', 2, 'b');
-- error
CREATE VIRTUAL TABLE i USING bloom_index(log, nothing);
-- error
CREATE VIRTUAL TABLE i USING bloom_index(log, n, probes = 99);
CREATE VIRTUAL TABLE i USING bloom_index(log, "trace", n, message LIKE REGEXP);
PRAGMA integrity_check;
