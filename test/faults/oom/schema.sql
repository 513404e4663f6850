-- What the statements of statements.sql find, on every connection.

CREATE TABLE keys(id INTEGER PRIMARY KEY, part TEXT, k);

-- Every type, a text and a BLOB too long for any buffer, duplicates, NULL.
INSERT INTO keys(part, k) VALUES
  ('a', 1), ('a', -9223372036854775808), ('a', 2.0), ('a', 0.1), ('a', 1e300), ('a', NULL),
  ('b', 'ä text that is longer than any buffer on the way: ' || hex(zeroblob(100))),
  ('b', x'00ff10'), ('b', zeroblob(300)), ('b', ''), ('b', x''), ('b', 1),
  ('c', 'one more'), ('c', 'one more'), ('c', NULL);

CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB);
INSERT INTO filters VALUES
  ('all', (SELECT bloom_build(k, 10, 100) FROM keys)),
  ('some', (SELECT bloom_build(k, 10, 100) FROM keys WHERE part = 'a')),
  ('no keys', bloom_empty(10, 20)),
  ('another shape', (SELECT bloom_build(k, 20) FROM keys)),
  ('of Parquet', (SELECT bloom_build(k, 'parquet') FROM keys WHERE part = 'a')),
  ('on overflow pages', bloom_add(bloom_empty(20000), 1)),
  ('short', x'06'), ('reserved', x'00000000000000ff'), ('no probes', zeroblob(9)),
  ('full', x'ffffffffffffffff06'), ('nearly full', x'ffffffffffffff0006'), ('none', NULL);

-- LevelDB table files of three keys, with a filter and without (test/core/golden_ldb_files.h).
CREATE TABLE tables(name TEXT PRIMARY KEY, file BLOB);
INSERT INTO tables VALUES
  ('one', x'00050068656c6c6f000500776f726c64000200c3a9000000000100000000d9420879114008416510c0100600000000090000000b0064101ae400220266696c7465722e6c6576656c64622e4275696c74696e426c6f6f6d46696c746572322212000000000100000000241b1514000102c4001d0000000001000000006416ab5c392f6d0e00000000000000000000000000000000000000000000000000000000000000000000000057fb808b247547db'),
  ('none', x'00050068656c6c6f000500776f726c64000200c3a9000000000100000000d9420879000000000100000000c0f2a1b0000102c4001d0000000001000000006416ab5c22082f0e00000000000000000000000000000000000000000000000000000000000000000000000057fb808b247547db');

CREATE VIEW built AS SELECT part, bloom_build(k, 12, 50) AS filter FROM keys GROUP BY part;
CREATE VIEW described AS SELECT f.name, i.* FROM filters f, bloom_info(f.filter) i;

CREATE TABLE watched(k CHECK(bloom_may_contain(x'ffffffffffffffff06', k)),
                     part AS (bloom_partition(k, 8)) STORED);
CREATE INDEX watched_part ON watched(bloom_partition(k, 3));
CREATE TABLE answers(key, answer);
CREATE TRIGGER watched_insert AFTER INSERT ON watched BEGIN
  UPDATE filters SET filter = bloom_add(filter, NEW.k) WHERE name = 'all';
  INSERT INTO answers SELECT NEW.k, bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'all'), NEW.k);
END;
CREATE TRIGGER watched_delete AFTER DELETE ON watched BEGIN
  UPDATE filters SET filter = (SELECT bloom_build(k, 10, 100) FROM keys) WHERE name = 'all';
  INSERT INTO answers SELECT note, measured_fpr FROM filters f, bloom_info(f.filter) WHERE name = 'full';
END;

-- Read in place of keys.
CREATE VIRTUAL TABLE keys_by_bloom_index USING bloom_index(keys, k, k RANGE, part LIKE REGEXP);

-- All that statements change: it must be as before where one failed.
CREATE VIEW state AS
  SELECT name, hex(filter) FROM filters UNION ALL SELECT k, part FROM watched UNION ALL SELECT key, answer FROM answers;
