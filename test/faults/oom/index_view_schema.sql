CREATE TABLE log(id INTEGER PRIMARY KEY, k TEXT, message TEXT);
INSERT INTO log VALUES (1, 'a', 'request'), (2, 'b', 'answer');
CREATE VIRTUAL TABLE log_index USING bloom_index(log, k, probes = 32);
INSERT INTO log_index(log_index) VALUES ('merge');
CREATE TABLE other(id INTEGER PRIMARY KEY, k TEXT, message TEXT);
INSERT INTO other SELECT * FROM log;
DROP TABLE log;
CREATE VIEW log AS SELECT * FROM other;
CREATE TABLE keys(k); -- that oom.c looks for
