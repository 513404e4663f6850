-- Each path, all packages at once.
SELECT count(*) FROM (
  SELECT DISTINCT a.path, o.package
  FROM paths_asked a CROSS JOIN bloom_sets((SELECT bloom_open(file) FROM owner_file), a.path) s
  CROSS JOIN owner_of_set o ON o.set_number = s.set_number);
