-- The same: only the pieces whose filter says "maybe" are read.
SELECT r.piece, r.package, r.kind
FROM pieces p CROSS JOIN piece_rows r ON r.piece = p.piece
WHERE bloom_may_contain(p.filter, (SELECT name FROM asked))
  AND r.target = (SELECT name FROM asked)
ORDER BY r.piece, r.package, r.kind;
