-- Shows: build filters over two columns, store them, look at them, and put them
-- in front of a join.
-- Run, from the top of the project, after `make`:
--     sqlite3 < examples/shell/session.sql
-- What it prints is in session.expected.
.load ./bloom
.headers on
.mode list
.separator " | "

-- A shop: 5,000 articles, and 200,000 scans at the till.  One scan in 40 is of
-- an article of this shop.
CREATE TABLE articles(code INTEGER PRIMARY KEY, title TEXT);
INSERT INTO articles SELECT 40 * value, 'article ' || value FROM generate_series(1, 5000);
CREATE TABLE scans(code INTEGER);
INSERT INTO scans SELECT 4 * value FROM generate_series(1, 200000);

CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB);
INSERT INTO filters SELECT 'articles.code', bloom_build(code) FROM articles;
INSERT INTO filters SELECT 'articles.title', bloom_build(title, 16) FROM articles;

.print What the filters are:
SELECT f.name, i.num_bytes, i.num_probes, round(i.estimated_keys) AS estimated_keys,
       printf('%.2f %%', 100 * i.measured_fpr) AS false_positives
  FROM filters f, bloom_info(f.filter) i;

-- bloom_open: parsed once a statement, not copied once a row.  Without a filter, which is
-- NULL, no row is lost: it may contain every key.
.print
.print Scans in all, scans that pass the filter, scans that have an article:
SELECT (SELECT count(*) FROM scans) AS scans,
       (SELECT count(*) FROM scans
         WHERE bloom_may_contain((SELECT bloom_open(filter) FROM filters
                                   WHERE name = 'articles.code'), code)) AS pass_filter,
       (SELECT count(*) FROM scans JOIN articles USING (code)) AS have_article;

.print
.print The same rows, with the filter in front:
SELECT count(*) AS num_rows, min(title) AS first_title, sum(code) AS sum_of_codes
  FROM scans JOIN articles USING (code)
 WHERE bloom_may_contain((SELECT bloom_open(filter) FROM filters
                           WHERE name = 'articles.code'), code);
SELECT count(*) AS num_rows, min(title) AS first_title, sum(code) AS sum_of_codes
  FROM scans JOIN articles USING (code);

.print
.print A filter is never wrong when it says no; NULL is no key:
SELECT bloom_may_contain(filter, 'article 7') AS there,
       bloom_may_contain(filter, 'umbrella') AS not_there,
       quote(bloom_may_contain(filter, NULL)) AS of_null
  FROM filters WHERE name = 'articles.title';
