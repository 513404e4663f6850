-- Who asks for this name? Without the filters: every row of every piece.
SELECT r.piece, r.package, r.kind
FROM piece_rows r
WHERE r.target = (SELECT name FROM asked)
ORDER BY r.piece, r.package, r.kind;
