-- As statements.sql, of a bloom_index whose source became a view.

-- error
SELECT id FROM log_index WHERE k = 'a' ORDER BY id;
-- error
INSERT INTO log_index(log_index) VALUES ('merge');
-- error
INSERT INTO log_index(log_index) VALUES ('rebuild');
-- error
INSERT INTO log_index(log_index) VALUES ('integrity-check');
-- error
DELETE FROM log_index;
