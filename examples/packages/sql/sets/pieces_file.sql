-- Each name, all pieces at once.
SELECT count(*) FROM (
  SELECT DISTINCT n.name, p.piece
  FROM names_asked n CROSS JOIN bloom_sets((SELECT bloom_open(file) FROM piece_file), n.name) s
  CROSS JOIN piece_of_set p ON p.set_number = s.set_number);
