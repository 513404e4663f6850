-- What the statements of table_statements.sql find, on every connection.

CREATE TABLE keys(id INTEGER PRIMARY KEY, part TEXT, k);
INSERT INTO keys(part, k) VALUES ('a', 1), ('a', 2.0), ('a', 0.1), ('a', NULL), ('b', x'00ff10'), ('b', ''), ('c', 'One more'), ('c', '05');
CREATE TABLE followed(id INTEGER PRIMARY KEY, k TEXT COLLATE NOCASE, part TEXT);
INSERT INTO followed(k, part) SELECT k, part FROM keys;
CREATE VIRTUAL TABLE followed_k USING bloom(followed, k);
CREATE VIRTUAL TABLE followed_a USING bloom(followed, part);
INSERT INTO followed(k, part) VALUES ('unmerged', 'd'), (8, 'e');
CREATE VIRTUAL TABLE seen USING bloom(capacity = 4);
INSERT INTO seen(key) VALUES ('seen'), (5);
CREATE TABLE used_pages(x);

-- Filters that others broke.
CREATE VIRTUAL TABLE without_layout USING bloom();
DELETE FROM without_layout_pages;
CREATE VIRTUAL TABLE without_pages USING bloom();
DROP TABLE without_pages_pages;
CREATE TABLE bare(k PRIMARY KEY) WITHOUT ROWID;
INSERT INTO bare VALUES ('a'), ('b');
CREATE VIRTUAL TABLE without_keys USING bloom(bare, k);
UPDATE without_keys_pages SET bytes = CAST(substr(bytes, 1, 32) || zeroblob(length(bytes) - 32) AS BLOB) WHERE rowid > 1;
CREATE TABLE cleaned(k DEFAULT 'by default');
CREATE VIRTUAL TABLE without_journal USING bloom(cleaned, k);
DELETE FROM without_journal_new;
-- In doubt.
CREATE TABLE made_anew(k TEXT);
CREATE VIRTUAL TABLE without_trigger USING bloom(made_anew, k);
DROP TRIGGER without_trigger_before_insert;

-- All that statements change: it must be as before where one failed.
CREATE VIEW state AS SELECT k, (SELECT count(*) FROM followed_k(k)) FROM followed
  UNION ALL SELECT k, (SELECT count(*) FROM seen(k)) FROM followed
  UNION ALL SELECT num_keys, unmerged FROM followed_k
  UNION ALL SELECT name, sql FROM sqlite_master;
