-- The pieces' filters once more, side by side in one BloomFile.  Each set in it gets the
-- room of the largest, so a piece of many names is several sets of up to 128.
CREATE TABLE piece_sets AS
  SELECT dense_rank() OVER (ORDER BY piece, part) - 1 AS set_number, piece, target
  FROM (SELECT piece, target, (row_number() OVER (PARTITION BY piece ORDER BY target) - 1) / 128 AS part
        FROM (SELECT DISTINCT piece, target FROM piece_rows));
CREATE TABLE piece_file(file BLOB);
INSERT INTO piece_file SELECT bloom_build_sets(set_number, target) FROM piece_sets;
CREATE TABLE piece_of_set(set_number INTEGER PRIMARY KEY, piece INTEGER NOT NULL);
INSERT INTO piece_of_set SELECT DISTINCT set_number, piece FROM piece_sets;
DROP TABLE piece_sets;
-- 500 names to ask for, some in no piece.
CREATE TABLE names_asked AS
  SELECT name FROM (SELECT name FROM packages ORDER BY bloom_partition(name, 1000000007) LIMIT 490)
  UNION ALL SELECT 'no-such-package-' || id FROM packages WHERE id <= 10;
SELECT printf('  %,d KB in one file for the %,d pieces, as %,d sets; %,d names are asked for',
              length(file) / 1024, (SELECT count(*) FROM pieces), (SELECT count(*) FROM piece_of_set),
              (SELECT count(*) FROM names_asked))
FROM piece_file;
