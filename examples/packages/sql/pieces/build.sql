-- The needs once more, in pieces of 64 neighbouring packages each: as a log kept
-- in many files or tables would be. A piece's rows lie side by side; there is no
-- index over all targets, one small filter per piece instead.
CREATE TABLE piece_rows(
  piece   INTEGER NOT NULL,
  package TEXT NOT NULL,
  kind    TEXT NOT NULL,
  target  TEXT NOT NULL,
  PRIMARY KEY(piece, package, kind, target)
) WITHOUT ROWID;
INSERT INTO piece_rows
  SELECT p.id / 64, n.package, n.kind, n.target
  FROM packages p JOIN needs n ON n.package = p.name
  ORDER BY 1, 2, 3, 4;

CREATE TABLE pieces(piece INTEGER PRIMARY KEY, num_rows INTEGER, filter BLOB);
INSERT INTO pieces
  SELECT piece, count(*), bloom_build(DISTINCT target) FROM piece_rows GROUP BY piece;
ANALYZE;
