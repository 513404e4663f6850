-- Pieces that may hold the name, that do, and that do although their filter says
-- no (0, or the filter is broken); rows in the first; rows in all.
WITH holds(piece) AS (
  SELECT DISTINCT piece FROM piece_rows WHERE target = (SELECT name FROM asked)
), verdict AS (
  SELECT num_rows,
         bloom_may_contain(filter, (SELECT name FROM asked)) AS maybe,
         piece IN (SELECT piece FROM holds) AS truth
  FROM pieces
)
SELECT sum(maybe), sum(truth), sum(truth AND NOT maybe), total(num_rows * maybe), total(num_rows)
FROM verdict;
