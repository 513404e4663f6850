-- The same with the stored filter first.
SELECT count(*), sum(large.installed_kb)
FROM links one
JOIN links two ON two.package_id = one.target_id
JOIN packages large ON large.id = two.target_id
WHERE bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'large_ids'), two.target_id)
  AND large.installed_kb >= 102400;
