-- Which packages of 100 MB or more do the Python, Perl, Ruby and JavaScript
-- packages reach in two steps, and how often?
SELECT large.name, count(*)
FROM packages p
JOIN needs one ON one.package = p.name
JOIN needs two ON two.package = one.target
JOIN packages large ON large.name = two.target
WHERE p.section IN ('python', 'perl', 'ruby', 'javascript')
  AND large.installed_kb >= 102400
GROUP BY large.name
ORDER BY count(*) DESC, large.name;
