-- Over all packages: how many paths of two hard needs end at no package of
-- 100 MB or more?
SELECT count(*)
FROM links one
JOIN links two ON two.package_id = one.target_id
WHERE NOT EXISTS (SELECT 1 FROM packages large
                  WHERE large.id = two.target_id AND large.installed_kb >= 102400);
