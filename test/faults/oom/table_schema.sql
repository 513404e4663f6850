-- What the statements of table_statements.sql find, on every connection.

CREATE TABLE keys(id INTEGER PRIMARY KEY, part TEXT, k);
INSERT INTO keys(part, k) VALUES ('a', 1), ('a', 2.0), ('a', 0.1), ('a', NULL), ('b', x'00ff10'), ('b', ''), ('c', 'One more'), ('c', '05');
CREATE TABLE followed(id INTEGER PRIMARY KEY, k TEXT COLLATE NOCASE, part TEXT);
INSERT INTO followed(k, part) SELECT k, part FROM keys;
CREATE VIRTUAL TABLE followed_k USING bloom(followed, k);
CREATE VIRTUAL TABLE followed_a USING bloom(followed, k || part, where = "part = 'a'");
CREATE VIRTUAL TABLE seen USING bloom(capacity = 4);
INSERT INTO seen(key) VALUES ('seen'), (5);
CREATE TABLE used_pages(x);

-- Filters that others broke.
CREATE VIRTUAL TABLE without_layers USING bloom();
DELETE FROM without_layers_layers;
CREATE VIRTUAL TABLE without_pages USING bloom();
DROP TABLE without_pages_pages;
CREATE TABLE bare(k PRIMARY KEY) WITHOUT ROWID;
INSERT INTO bare VALUES ('a'), ('b');
CREATE VIRTUAL TABLE without_trigger USING bloom(bare, k);
DROP TRIGGER without_trigger_before_insert;
CREATE VIRTUAL TABLE without_column USING bloom(bare, k);
DROP VIEW without_column_keys;
CREATE VIEW "without_column_keys" AS SELECT "bare"."nothing" AS key FROM "bare" WHERE 1;
CREATE VIRTUAL TABLE without_keys USING bloom(bare, k);
UPDATE without_keys_pages SET blocks = zeroblob(length(blocks));


-- All that statements change: it must be as before where one failed.
CREATE VIEW state AS SELECT k, (SELECT count(*) FROM followed_k(k)) FROM followed
  UNION ALL SELECT k, (SELECT count(*) FROM seen(k)) FROM followed
  UNION ALL SELECT num_keys, num_removed FROM followed_k
  UNION ALL SELECT name, sql FROM sqlite_master;
