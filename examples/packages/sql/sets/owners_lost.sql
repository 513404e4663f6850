-- Owners of a path, those that the file does not give, and all pairs that are asked for.
WITH held AS (
  SELECT DISTINCT a.path, o.package FROM paths_asked a JOIN owned o ON o.path = a.path
), found AS (
  SELECT a.path, o.package
  FROM paths_asked a CROSS JOIN bloom_sets((SELECT bloom_open(file) FROM owner_file), a.path) s
  CROSS JOIN owner_of_set o ON o.set_number = s.set_number
)
SELECT count(*), count(*) - (SELECT count(*) FROM (SELECT * FROM held INTERSECT SELECT * FROM found)),
       (SELECT count(*) FROM paths_asked) * (SELECT count(*) FROM owners)
FROM held;
