-- As statements.sql, of a bloom_index in a small schema.

ALTER TABLE log_index RENAME TO renamed;
ALTER TABLE log RENAME TO renamed_log;
