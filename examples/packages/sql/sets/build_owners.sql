-- dpkg's lists of files: which package owns which path.
CREATE TABLE owned(package TEXT, path TEXT);
.mode tabs
.import build/demo/owned.tsv owned
.mode list

CREATE TABLE owners(package TEXT PRIMARY KEY, filter BLOB);
INSERT INTO owners SELECT package, bloom_build(path) FROM owned GROUP BY package;

-- Packages have from a few to thousands of paths, and each set in a file gets the room of
-- the largest: a package of many paths is several sets of up to 128.
CREATE TABLE owner_sets AS
  SELECT dense_rank() OVER (ORDER BY package, part) - 1 AS set_number, package, path
  FROM (SELECT package, path, (row_number() OVER (PARTITION BY package ORDER BY path) - 1) / 128 AS part FROM owned);
CREATE TABLE owner_file(file BLOB);
INSERT INTO owner_file SELECT bloom_build_sets(set_number, path) FROM owner_sets;
CREATE TABLE owner_of_set(set_number INTEGER PRIMARY KEY, package TEXT NOT NULL);
INSERT INTO owner_of_set SELECT DISTINCT set_number, package FROM owner_sets;
DROP TABLE owner_sets;

CREATE INDEX owned_by_path ON owned(path);
CREATE TABLE paths_asked AS
  SELECT path FROM (SELECT DISTINCT path FROM owned ORDER BY bloom_partition(path, 1000000007) LIMIT 500)
  UNION ALL SELECT '/no/such' || path FROM (SELECT DISTINCT path FROM owned ORDER BY path LIMIT 500);
SELECT printf('  %,d packages, %,d paths; a filter each: %,d KB; one file of %,d sets: %,d KB',
              (SELECT count(*) FROM owners), (SELECT count(*) FROM owned),
              (SELECT sum(length(filter)) / 1024 FROM owners), (SELECT count(*) FROM owner_of_set),
              length(file) / 1024)
FROM owner_file;
