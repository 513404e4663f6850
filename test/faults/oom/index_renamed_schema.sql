-- Small: ALTER TABLE reads the whole schema again for each of an index's tables.

CREATE TABLE log(id INTEGER PRIMARY KEY, k TEXT, message TEXT);
INSERT INTO log VALUES (1, 'a', 'request'), (2, 'b', 'answer');
CREATE VIRTUAL TABLE log_index USING bloom_index(log, k, probes = 32);
INSERT INTO log_index(log_index) VALUES ('merge');
CREATE TABLE keys(k); -- that oom.c looks for
