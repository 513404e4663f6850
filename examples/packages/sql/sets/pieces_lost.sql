-- Pieces that hold a name, those that the file does not give, and all pairs that are asked for.
WITH held AS (
  SELECT DISTINCT name, piece FROM names_asked JOIN piece_rows ON target = name
), found AS (
  SELECT n.name, p.piece
  FROM names_asked n CROSS JOIN bloom_sets((SELECT bloom_open(file) FROM piece_file), n.name) s
  CROSS JOIN piece_of_set p ON p.set_number = s.set_number
)
SELECT count(*), count(*) - (SELECT count(*) FROM (SELECT * FROM held INTERSECT SELECT * FROM found)),
       (SELECT count(*) FROM names_asked) * (SELECT count(*) FROM pieces)
FROM held;
