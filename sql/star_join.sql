-- Pruning a star join: one filter for each dimension drops the rows of the fact
-- table that will find no partner, before any look-up in a dimension.
--
-- Written for sales(customer_id, product_id, ...), the dimensions customer and
-- product; replace the names, one condition for each dimension.  Needs the fact
-- table before it.
--
-- For one question no table is needed, the query can build its filters:
--
--   SELECT sum(amount) FROM sales AS s
--   JOIN customer AS c ON c.id = s.customer_id JOIN product AS p ON p.id = s.product_id
--   WHERE bloom_may_contain((SELECT bloom_open(bloom_build(id)) FROM customer WHERE country = 'NZ'), s.customer_id)
--     AND bloom_may_contain((SELECT bloom_open(bloom_build(id)) FROM product WHERE is_organic), s.product_id)
--     AND c.country = 'NZ' AND p.is_organic;
--
-- Conditions on sales alone that are cheap come first, then the filter that
-- drops most rows, and so on: SQLite asks them in this order.  Leave out the
-- filter of a dimension that keeps more than half of its rows.
--
-- For many questions about one selection, keep the filters:
--
--   star_filter    one row a dimension that the current selection restricts
--   sales_pruned   the rows of sales that may pass all of these
--
--   INSERT OR REPLACE INTO star_filter SELECT 'customer', bloom_build(id) FROM customer WHERE country = 'NZ';
--   INSERT OR REPLACE INTO star_filter SELECT 'product', bloom_build(id) FROM product WHERE is_organic;
--   SELECT sum(amount) FROM sales_pruned AS s
--   JOIN customer AS c ON c.id = s.customer_id JOIN product AS p ON p.id = s.product_id
--   WHERE c.country = 'NZ' AND p.is_organic;
--   DELETE FROM star_filter;
--
-- The join decides, the filters only save it work: an old filter that lacks a
-- new key would lose rows, so build them for each selection, or keep them true
-- with triggers (maintenance_triggers.sql).  A dimension without a filter prunes
-- nothing and costs nothing.
--
-- It pays where a filter drops most rows and keys are text, or ANALYZE was never
-- run.  After ANALYZE SQLite filters integer keys itself, and better.

CREATE TABLE IF NOT EXISTS star_filter(
  dimension TEXT PRIMARY KEY NOT NULL,
  filter    BLOB
);

-- A handle from bloom_open() is made once a query; a BLOB would be copied for
-- every row by SQLite before 3.43.  NOT EXISTS is asked once, too, and spares the
-- call for each row where there is no filter.  IS NOT 0: a key that is NULL is
-- left to the join.
CREATE VIEW IF NOT EXISTS sales_pruned AS
SELECT * FROM sales
WHERE (NOT EXISTS (SELECT 1 FROM star_filter WHERE dimension = 'customer')
       OR bloom_may_contain(
        (SELECT bloom_open(filter) FROM star_filter WHERE dimension = 'customer'), customer_id) IS NOT 0)
  AND (NOT EXISTS (SELECT 1 FROM star_filter WHERE dimension = 'product')
       OR bloom_may_contain(
        (SELECT bloom_open(filter) FROM star_filter WHERE dimension = 'product'), product_id) IS NOT 0);
