-- Rows that reach the last table, those that the filter accepts, those that match.
SELECT count(*),
       sum(bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'large_names'), two.target)),
       sum(two.target IN (SELECT name FROM packages WHERE installed_kb >= 102400))
FROM packages p
JOIN needs one ON one.package = p.name
JOIN needs two ON two.package = one.target
WHERE p.section IN ('python', 'perl', 'ruby', 'javascript');
