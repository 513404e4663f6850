-- The inner join on integers: how many paths of two hard needs end at a package
-- of 100 MB or more? Here SQLite 3.38 and later make a filter of their own.
SELECT count(*), sum(large.installed_kb)
FROM links one
JOIN links two ON two.package_id = one.target_id
JOIN packages large ON large.id = two.target_id
WHERE large.installed_kb >= 102400;
