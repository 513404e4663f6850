-- The same with one line more, first in WHERE.
SELECT large.name, count(*)
FROM packages p
JOIN needs one ON one.package = p.name
JOIN needs two ON two.package = one.target
JOIN packages large ON large.name = two.target
WHERE bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'large_names'), two.target)
  AND p.section IN ('python', 'perl', 'ruby', 'javascript')
  AND large.installed_kb >= 102400
GROUP BY large.name
ORDER BY count(*) DESC, large.name;
