-- Pruning a star join: one filter for each dimension drops the rows of the fact
-- table that will find no partner, before any look-up in a dimension.
--
-- Written for sales(customer_id, product_id, ...), the dimensions customer and
-- product; replace the names, one condition for each dimension.  Needs the fact
-- table before it.
--
--   star_filter    one row a dimension that the current question restricts
--   sales_pruned   the rows of sales that may pass all of these
--
-- For a question, keep the keys that pass, then join as ever:
--
--   INSERT OR REPLACE INTO star_filter SELECT 'customer', bloom_build(id) FROM customer WHERE country = 'NZ';
--   INSERT OR REPLACE INTO star_filter SELECT 'product', bloom_build(id) FROM product WHERE is_organic;
--   SELECT sum(amount) FROM sales_pruned AS s
--   JOIN customer AS c ON c.id = s.customer_id JOIN product AS p ON p.id = s.product_id
--   WHERE c.country = 'NZ' AND p.is_organic;
--   DELETE FROM star_filter;
--
-- The join decides, the filters only save it work: an old filter that lacks a
-- new key would lose rows, so build them for each question, or keep them true
-- with triggers (maintenance_triggers.sql).  A dimension without a filter prunes
-- nothing.  It pays where a filter drops most rows.

CREATE TABLE IF NOT EXISTS star_filter(
  dimension TEXT PRIMARY KEY NOT NULL,
  filter    BLOB
);

-- A handle from bloom_open() is made once a query; a BLOB would be copied for
-- every row by SQLite before 3.43.
CREATE VIEW IF NOT EXISTS sales_pruned AS
SELECT * FROM sales
WHERE coalesce(bloom_may_contain(
        (SELECT bloom_open(filter) FROM star_filter WHERE dimension = 'customer'), customer_id), 1)
  AND coalesce(bloom_may_contain(
        (SELECT bloom_open(filter) FROM star_filter WHERE dimension = 'product'), product_id), 1);
