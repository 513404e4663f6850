-- Pruning a star join: one filter for each dimension drops the rows of the fact
-- table that will find no partner, before any look-up in a dimension.
--
-- Written for sales(customer_id, product_id, ...), the dimensions customer and
-- product; replace the names, one condition for each dimension.  Needs the fact
-- table before it.
--
-- For one question no table is needed, the query makes its filters, which answer as = does,
-- whatever the keys' types.  CROSS JOIN makes SQLite scan sales; for JOIN it may index all of them first:
--
--   WITH c AS MATERIALIZED (SELECT id FROM customer WHERE country = 'NZ'),
--        p AS MATERIALIZED (SELECT id FROM product WHERE is_organic)
--   SELECT sum(amount) FROM sales AS s CROSS JOIN c ON c.id = s.customer_id CROSS JOIN p ON p.id = s.product_id
--   WHERE bloom_may_contain((SELECT bloom_filter(id) FROM c), s.customer_id)
--     AND bloom_may_contain((SELECT bloom_filter(id) FROM p), s.product_id);
--
-- Conditions on sales alone that are cheap come first, then the filter that
-- drops most rows, and so on: SQLite tests them in this order.  Leave out the
-- filter of a dimension that keeps more than half of its rows.
--
-- For many questions about one selection, keep the filters.  Both are TEMP: no other
-- connection prunes by them, and nothing is left of them for the next day's question.
--
--   star_filter    one row a dimension that the current selection restricts
--   sales_pruned   the rows of sales that may pass all of these
--
--   BEGIN;
--   DELETE FROM star_filter; -- those of the selection before
--   INSERT INTO star_filter SELECT 'customer', bloom_build(id) FROM customer WHERE country = 'NZ';
--   INSERT INTO star_filter SELECT 'product', bloom_build(id) FROM product WHERE is_organic;
--   SELECT sum(amount) FROM sales_pruned AS s
--   JOIN customer AS c ON c.id = s.customer_id JOIN product AS p ON p.id = s.product_id
--   WHERE c.country = 'NZ' AND p.is_organic;
--   COMMIT; -- until here the dimensions are what the filters were built from
--
-- The join decides, the filters only save it work; but a filter of another selection, or
-- one that misses a new key, loses rows.  A dimension without a filter prunes nothing.
-- Keys on both sides must be of one type and compared as BINARY; otherwise README.md says
-- what to build and test with.
--
-- It pays if a filter drops most rows and keys are text, or ANALYZE was never run.  After
-- ANALYZE SQLite filters integer keys by itself, and better.  If sales has an index on a key,
-- the plain join is faster, too: README.md has the shapes of joins that filters slow down.

CREATE TEMP TABLE IF NOT EXISTS star_filter(
  dimension TEXT PRIMARY KEY NOT NULL CHECK (dimension IN ('customer', 'product')),
  filter    BLOB NOT NULL
);

-- A handle from bloom_open() is made once a query; a BLOB would be copied for
-- every row by SQLite before 3.43.  A filter that is missing prunes nothing.  IS NOT 0:
-- for a key that is NULL the function returns NULL, and its row is left to the join.
CREATE TEMP VIEW IF NOT EXISTS sales_pruned AS
SELECT * FROM sales
WHERE bloom_may_contain(
        (SELECT bloom_open(filter) FROM star_filter WHERE dimension = 'customer'), customer_id) IS NOT 0
  AND bloom_may_contain(
        (SELECT bloom_open(filter) FROM star_filter WHERE dimension = 'product'), product_id) IS NOT 0;
