-- Rows that reach the last table, those that the filter accepts, those that match.
SELECT count(*),
       sum(bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'large_ids'), two.target_id)),
       sum(two.target_id IN (SELECT id FROM packages WHERE installed_kb >= 102400))
FROM links one
JOIN links two ON two.package_id = one.target_id;
