-- The same: EXISTS is looked up only where the filter says "maybe".
SELECT count(*)
FROM links one
JOIN links two ON two.package_id = one.target_id
WHERE NOT (bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'large_ids'), two.target_id)
           AND EXISTS (SELECT 1 FROM packages large
                       WHERE large.id = two.target_id AND large.installed_kb >= 102400));
