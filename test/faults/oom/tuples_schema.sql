-- What the statements of tuples_statements.sql find, on every connection.

CREATE TABLE keys(k); -- that oom.c looks for
CREATE TABLE pairs(a, b TEXT COLLATE NOCASE);
INSERT INTO pairs VALUES (0.5, 'Ada'), (1 << 60, 'bob'), (3, NULL);
CREATE VIRTUAL TABLE pairs_ab USING bloom(pairs, (a, b));
INSERT INTO pairs VALUES (0.25, 'unmerged');

-- In doubt: without a trigger, without a journal, without pages.
CREATE TABLE doubted(a, b);
CREATE VIRTUAL TABLE doubted_ab USING bloom(doubted, (a, b));
DROP TRIGGER doubted_ab_after_update;
CREATE TABLE outrun(k);
CREATE VIRTUAL TABLE outrun_k USING bloom(outrun, k);
DELETE FROM outrun_k_new;
CREATE TABLE lost(k);
CREATE VIRTUAL TABLE lost_k USING bloom(lost, k);
DELETE FROM lost_k_pages;

-- All that statements change: it must be as before where one failed.
CREATE VIEW state AS SELECT a, b FROM pairs
  UNION ALL SELECT 1, k FROM outrun
  UNION ALL SELECT name, sql FROM sqlite_master;
