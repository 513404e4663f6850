-- As statements.sql, of filters over tuples, and of those in doubt.

-- Tuples, whose REALs and large numbers a statement reads; texts too long to be folded without memory.
SELECT count(*) FROM pairs p WHERE EXISTS (SELECT 1 FROM pairs_ab WHERE key = bloom_tuple(p.a, p.b));
SELECT count(*) FROM pairs_ab WHERE key = bloom_tuple(0.5, printf('Long %300s', 'Text'));
SELECT count(*) FROM pairs_ab WHERE key = bloom_tuple(1, printf('Long %300s', 'Text'));
SELECT count(*) FROM pairs_ab(0.5, printf('Long %300s', 'Text'));
SELECT bloom_may_contain((SELECT handle FROM pairs_ab), bloom_tuple(0.5, 'ADA'));
SELECT bloom_may_contain((SELECT handle FROM doubted_ab), NULL), (SELECT count(*) FROM doubted_ab('a text', 1));
SELECT count(*) FROM pairs_ab(0.25, 'Unmerged');
INSERT INTO pairs VALUES (0.75, 'Cy');
INSERT INTO pairs_ab(pairs_ab) VALUES ('merge');
-- A journal that was emptied; pages that are gone; a trigger that is gone.
INSERT INTO outrun VALUES ('x');
SELECT count(*) FROM outrun_k('a text');
INSERT INTO lost VALUES ('x');
INSERT INTO doubted_ab(doubted_ab) VALUES ('rebuild');
