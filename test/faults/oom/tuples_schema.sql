-- What the statements of tuples_statements.sql find, on every connection.

CREATE TABLE keys(k); -- that oom.c looks for
CREATE TABLE pairs(a, b TEXT COLLATE NOCASE);
INSERT INTO pairs VALUES (0.5, 'Ada'), (1 << 60, 'bob'), (3, NULL);
CREATE VIRTUAL TABLE pairs_ab USING bloom(pairs, (a, b));
CREATE VIRTUAL TABLE pairs_half USING bloom(pairs, a / 2.0);
CREATE TABLE whole(n);
CREATE VIRTUAL TABLE whole_half USING bloom(whole, n / 2.0);

-- In doubt: without triggers, behind a newer trigger, without pages.
CREATE TABLE doubted(a, b);
CREATE VIRTUAL TABLE doubted_ab USING bloom(doubted, (a, b));
DROP TRIGGER doubted_ab_before_delete;
CREATE TABLE outrun(k);
CREATE VIRTUAL TABLE outrun_k USING bloom(outrun, lower(k));
CREATE TRIGGER newer AFTER INSERT ON outrun BEGIN SELECT 1; END;
CREATE TABLE followed(k);
CREATE VIRTUAL TABLE followed_k USING bloom(followed, lower(k));
CREATE VIRTUAL TABLE followed_late USING bloom(followed, upper(k));
CREATE TABLE lost(k);
CREATE VIRTUAL TABLE lost_k USING bloom(lost, k);
DELETE FROM lost_k_pages;

-- All that statements change: it must be as before where one failed.
CREATE VIEW state AS SELECT a, b FROM pairs
  UNION ALL SELECT n, (SELECT k FROM outrun) FROM whole
  UNION ALL SELECT name, sql FROM sqlite_master;
