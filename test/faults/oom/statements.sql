-- What runs while memory fails (oom.c): parts between lines of dashes, by turns what makes a
-- database, and statements that every connection to it runs, one to a line.  One with "-- error"
-- behind it must fail; "-- long" leaves it to the long run.  Every function must be called by one
-- of these, in every number of arguments and every role that it has.

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

----
-- bloom_build: plain, grouped, DISTINCT, filtered, sized by capacity.
SELECT bloom_build(k) FROM keys;
SELECT bloom_build(k, 12.5) FROM keys;
SELECT bloom_build(k, 10, 100) FROM keys;
SELECT bloom_build(k, 0.01), bloom_build(k, 0.01, 100, 'Parquet') FROM keys;
SELECT bloom_build(k, 0.01) OVER (ORDER BY id ROWS 1 PRECEDING) FROM keys;
SELECT bloom_build(k, 1e-9, 100000) FROM keys; -- error
SELECT bloom_empty(100, 0.01), bloom_bits_per_key(0.01, 1000), bloom_build_sets(id, k, 0.05), bloom_build_sets(id, k, 0.05, 100) FROM keys;
SELECT bloom_filter_block_build(id * 5000, k, 0.02) FROM keys;
SELECT bloom_may_contain(NULL, k), bloom_merge(NULL) FROM keys;
SELECT count(*) FROM bloom_ldb(NULL);
SELECT bloom_build(k, '1%') FROM keys; -- error
SELECT bloom_build(k, NULL, NULL) FROM keys;
SELECT bloom_build(k, 'leveldb'), bloom_build(k, 12, 'leveldb'), bloom_build(k, 10, 100, 'leveldb') FROM keys;
SELECT bloom_build(k, 'parquet'), bloom_build(k, 12, 'parquet'), bloom_build(k, 10, 100, 'parquet') FROM keys;
SELECT bloom_build(k, 'no encoding') FROM keys; -- error
SELECT bloom_build(k, 10, 100, 'no encoding') FROM keys; -- error
SELECT bloom_build(k, 10, iif(id = 1, 'leveldb', 100)) FROM keys; -- error
SELECT bloom_build(k, iif(id = 1, 'parquet', 'leveldb')) FROM keys; -- error
SELECT part, bloom_build(k, part) FROM (SELECT iif(part = 'a', 'parquet', 'leveldb') AS part, k FROM keys) GROUP BY part;
SELECT bloom_build(DISTINCT k), bloom_build(k, 'parquet') FILTER (WHERE part = 'a') FROM keys WHERE k NOT NULL;
SELECT part, bloom_build(k), bloom_build(k, 16, 30) FROM keys GROUP BY part;
SELECT part, bloom_build(k) FROM keys GROUP BY part ORDER BY 2;
SELECT bloom_build(DISTINCT k) FROM keys;
SELECT part, bloom_build(DISTINCT k) FROM keys GROUP BY part;
SELECT bloom_build(k) FILTER (WHERE part = 'a'), bloom_build(k, 10, 20) FILTER (WHERE part = 'b') FROM keys;
SELECT bloom_build(k) FROM keys WHERE 0;
SELECT bloom_build(k) FROM keys GROUP BY part HAVING length(bloom_build(k, 20)) > 15;
SELECT * FROM built;

-- Many keys: chunks of hashes, batches that go to the bits.
SELECT bloom_build(a.id * 225 + b.id * 15 + c.id) FROM keys a, keys b, keys c;
SELECT bloom_build(a.id * b.id + c.id * d.id, 10, 500) FROM keys a, keys b, keys c, keys d WHERE a.id < 6;
SELECT bloom_build(a.id * b.id + c.id * d.id, 1, 9) FROM keys a, keys b, keys c, keys d WHERE a.id < 11;
SELECT bloom_build(a.id * 15 + b.id, 'parquet') FROM keys a, keys b;
SELECT bloom_build(a.id * 225 + b.id * 15 + c.id, 'parquet') FROM keys a, keys b, keys c; -- long

-- Windows: growing, moving with and without capacity, excluding, partitioned.
SELECT bloom_build(k) OVER () FROM keys;
SELECT bloom_build(k) OVER (ORDER BY id) FROM keys;
SELECT bloom_build(k, 12) OVER (ORDER BY id ROWS 2 PRECEDING) FROM keys;
SELECT bloom_build(k, 12, 20) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) FROM keys;
SELECT bloom_build(k) OVER (ORDER BY id ROWS BETWEEN 2 FOLLOWING AND 4 FOLLOWING) FROM keys;
SELECT bloom_build(k, 10, 8, 'leveldb') OVER (ORDER BY id ROWS 2 PRECEDING) FROM keys;
SELECT bloom_build(k, 'parquet') OVER (ORDER BY id) FROM keys;
SELECT bloom_build(k, 12, 'parquet') OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) FROM keys;
SELECT bloom_build(k, 10, 8, 'parquet') OVER (PARTITION BY part ORDER BY id ROWS 2 PRECEDING) FROM keys;
SELECT bloom_build(k, 10, 8) OVER (PARTITION BY part ORDER BY id RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM keys;
SELECT bloom_build(k) OVER (ORDER BY part GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM keys;

-- bloom_empty, bloom_add.
SELECT bloom_empty(100), bloom_empty(0, 1), bloom_empty(1000, 100), bloom_empty(NULL, 7), bloom_empty(9, 12, 'leveldb'), bloom_empty(9, 'parquet');
SELECT bloom_add(filter, k) FROM keys, filters WHERE name = 'some';
SELECT bloom_add(bloom_empty(50), 1, 2.5, 'text', x'00', NULL, 1e18), bloom_add(NULL, 1);
SELECT bloom_add(filter), bloom_add(bloom_open(filter), 'key') FROM filters WHERE name = 'on overflow pages';
UPDATE filters SET filter = bloom_add(filter, (SELECT max(k) FROM keys), 'new') WHERE name IN ('all', 'some');
SELECT bloom_add(bloom_empty(50, 12, 'parquet'), 1, 2.5, 'text', x'00', NULL, 1e18), bloom_add(bloom_open(filter), k) FROM keys, filters WHERE name = 'of Parquet';

-- bloom_merge.
SELECT bloom_merge(filter) FROM filters WHERE name IN ('all', 'some', 'none');
SELECT bloom_merge(filter) FROM filters WHERE name IN ('no keys', 'all', 'some');
SELECT bloom_merge(filter) FROM (SELECT filter FROM filters WHERE name IN ('no keys', 'another shape') ORDER BY name DESC);
SELECT length(bloom_merge(f)) FROM (SELECT bloom_empty(5) AS f UNION ALL SELECT bloom_build(k) FROM keys);
SELECT part, bloom_merge(filter) FROM built GROUP BY part;
SELECT bloom_merge(DISTINCT filter) FROM built;
SELECT bloom_merge(bloom_open(filter)) FROM filters WHERE name IN ('all', 'some');
SELECT bloom_merge(filter) FROM filters WHERE 0;
SELECT bloom_merge(filter) FROM filters WHERE name = 'on overflow pages';
SELECT bloom_merge(filter) FROM filters WHERE name IN ('of Parquet', 'no keys');
SELECT bloom_merge(bloom_open(f)) FROM (SELECT bloom_build(k, 10, 50, 'parquet') AS f FROM keys GROUP BY part);

-- bloom_filter: each type, joins, several keys, windows.
SELECT count(*) FROM keys WHERE bloom_may_contain((SELECT bloom_filter(k) FROM keys), k);
SELECT o.id, i.id FROM keys o JOIN keys i ON i.k = o.k AND bloom_may_contain((SELECT bloom_filter(k) FROM keys WHERE part = 'a'), o.k);
SELECT count(*) FROM keys WHERE bloom_may_contain((SELECT bloom_filter(part, k) FROM keys), part, k) OR bloom_may_contain((SELECT bloom_filter(id, 1.0/3, 9e999, '1e20', k) FROM keys), id, '1e20', 1.0/7, 9e999, k);
SELECT part, typeof(bloom_filter(k)), bloom_may_contain(bloom_filter(DISTINCT k), 1) FROM keys GROUP BY part;
SELECT id, bloom_may_contain(bloom_filter(k, id) OVER (ORDER BY id ROWS 2 PRECEDING), k, id) FROM keys;

-- bloom_may_contain and bloom_open: BLOBs, handles, joins.
SELECT bloom_may_contain(filter, k) FROM filters, keys;
SELECT k FROM keys WHERE bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'some'), k);
SELECT count(*) FROM keys WHERE bloom_may_contain((SELECT filter FROM filters WHERE name = 'on overflow pages'), k);
SELECT o.id, i.id FROM keys o JOIN keys i ON i.k = o.k AND bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'some'), o.k);
SELECT k IN (SELECT k FROM keys WHERE part = 'a') FROM keys WHERE bloom_may_contain((SELECT bloom_open(bloom_build(k)) FROM keys WHERE part = 'a'), k);
SELECT bloom_open(filter), bloom_open(NULL) FROM filters;
-- BLOBs that SQLite writes out when they are read.
SELECT bloom_may_contain(zeroblob(id + 90), 1), bloom_may_contain(x'0006', zeroblob(id + 90)) FROM keys;
SELECT num_bytes FROM keys, bloom_info(zeroblob(id + 90));
SELECT bloom_may_contain(bloom_open(bloom_open(filter)), 1.0) FROM filters;
SELECT count(*) FROM keys WHERE bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'of Parquet'), k);

-- bloom_index: the table, read with blocks left out, and its commands.
SELECT id, k FROM keys_by_bloom_index WHERE k IN ('one more', 2);
SELECT id, k FROM keys_by_bloom_index WHERE k = 'one more' OR k = 2;
SELECT id FROM keys_by_bloom_index WHERE part LIKE '%b%' AND k IN (1, 'one more', NULL);
SELECT id, k FROM keys_by_bloom_index WHERE id = '3' OR part IN ('a', 'b', 5) ORDER BY part LIMIT 2;
SELECT id FROM keys_by_bloom_index WHERE k BETWEEN 1 AND 'one more' AND k > '0';
SELECT id FROM keys_by_bloom_index WHERE part REGEXP '(a|bc)+' AND k <= 2;
SELECT value FROM bloom_index_list(1);
SELECT * FROM bloom_index_info(NULL);
INSERT INTO keys_by_bloom_index(keys_by_bloom_index) VALUES ('merge');
INSERT INTO keys_by_bloom_index(keys_by_bloom_index) VALUES ('rebuild');
INSERT INTO keys_by_bloom_index(keys_by_bloom_index) VALUES ('no command'); -- error

-- bloom_info: constant, lateral, handles, in views; its argument, which cannot be read back.
SELECT * FROM bloom_info(bloom_empty(10));
SELECT * FROM bloom_info(bloom_empty(10, 'parquet'));
SELECT i.* FROM filters f, bloom_info(f.filter) i WHERE f.name > 'short';
SELECT i.* FROM filters f, bloom_info(f.filter) i; -- long
SELECT i.num_bits, i.note, i.rowid FROM filters f, bloom_info(bloom_open(f.filter)) i WHERE f.name LIKE '%full';
SELECT f.name FROM filters f LEFT JOIN bloom_info(f.filter) i WHERE i.bits_set > 10;
SELECT (SELECT fill_ratio FROM bloom_info(b.filter)) FROM built b;
SELECT name, note FROM described;
SELECT * FROM described; -- long
SELECT num_probes FROM bloom_info WHERE argument = x'000000000000000006';
SELECT f.name, i.num_bytes FROM filters f, bloom_info i WHERE i.argument = f.filter OR i.argument IS bloom_empty(length(f.name));

-- bloom_tuple.
SELECT bloom_tuple(k), bloom_tuple(id, part, k), bloom_tuple(k, zeroblob(200), k) FROM keys;
SELECT bloom_build(bloom_tuple(part, k)), bloom_build(bloom_tuple(k, k, k), 'parquet') FROM keys;
SELECT count(*) FROM keys WHERE bloom_may_contain((SELECT bloom_open(bloom_build(bloom_tuple(part, k))) FROM keys), bloom_tuple(part, k));
SELECT bloom_tuple(); -- error

-- bloom_partition, bloom_bits_per_key, bloom_version.
SELECT bloom_partition(k, 1000) FROM keys;
SELECT bloom_partition(k, 4), bloom_build(k, 12) FROM keys GROUP BY 1;
SELECT bloom_partition(k, 2), bloom_merge(filter) FROM keys, filters WHERE name = 'some' GROUP BY 1 ORDER BY 2;
SELECT bloom_bits_per_key(0.5, 0), bloom_bits_per_key(NULL);
SELECT bloom_bits_per_key(0.01), bloom_bits_per_key(0.01, 100), bloom_bits_per_key(0.01, 100, 'leveldb'); -- long
SELECT bloom_bits_per_key(0.5, 100, 'leveldb') FROM keys WHERE id < 3;
SELECT bloom_bits_per_key(0.01, 'parquet'), bloom_bits_per_key(0.01, 100, 'parquet') FROM keys WHERE id < 3;
SELECT bloom_version();

-- bloom_key: every kind of type.
SELECT bloom_key(id, 'int32'), bloom_key(id, 'big64'), bloom_key(id, 'varint64'), bloom_key(id / 8.0, 'float'), bloom_key(NULL, 'double') FROM keys;
SELECT bloom_key('123e4567-e89b-12d3-a456-42661417400' || (id % 10), 'uuid'), bloom_key(zeroblob(16), 'uuid') FROM keys;
SELECT bloom_key(k, 'siphash', zeroblob(16)), bloom_key(id, 'siphash', x'000102030405060708090a0b0c0d0e0f') FROM keys;
SELECT bloom_build(bloom_key(k, 'siphash', zeroblob(16))) FROM keys;

-- LevelDB's files: tables, blocks, a table without a filter, each arm of an OR its own.
SELECT * FROM tables, bloom_ldb(file);
SELECT name FROM tables WHERE EXISTS (SELECT 1 FROM bloom_ldb(file) WHERE bloom_may_contain(filter, 'absent'));
SELECT slot, policy FROM bloom_ldb WHERE (argument = (SELECT file FROM tables WHERE name = 'one') AND slot = 0) OR (argument = (SELECT file FROM tables WHERE name = 'none') AND note NOT NULL);
SELECT f.* FROM (SELECT bloom_filter_block_build(id * 1000, k) AS block FROM keys), bloom_filter_block(block) f;
SELECT slot, note FROM bloom_filter_block(x'aa06bb060200000005000000050000000000000004000000ff');
SELECT count(*) FROM bloom_filter_block(zeroblob(300));
SELECT part, bloom_filter_block_build(id * 100, k, 12.5) FROM keys GROUP BY part;
SELECT length(bloom_filter_block_build(a.id * b.id, a.id * 225 + b.id * 15 + c.id)) FROM keys a, keys b, keys c;
SELECT bloom_filter_block_build(id, k) FILTER (WHERE id > 99), bloom_filter_block_build(50000, NULL) FROM keys;

-- Many sets: files of all sizes, one that grows to more sets while it is built, tested in joins.
SELECT bloom_build_sets(id, k), bloom_build_sets(id % 4, k, 12), bloom_build_sets(id * 9, k, 10, 3) FROM keys;
SELECT part, bloom_build_sets(id, k, NULL, 2) FROM keys GROUP BY part;
SELECT bloom_build_sets(id, k) FROM keys WHERE 0;
SELECT length(bloom_build_sets(a.id * b.id, a.id * 225 + b.id * 15 + c.id)) FROM keys a, keys b, keys c;
SELECT length(bloom_build_sets(a.id * 100, b.id * c.id * d.id, 1, 9)) FROM keys a, keys b, keys c, keys d WHERE a.id < 11;
SELECT k.id, b.set_number FROM (SELECT bloom_build_sets(id % 5, k) AS file FROM keys) f, keys k, bloom_sets(f.file, k.k) b;
SELECT id, set_number FROM keys, bloom_sets((SELECT bloom_open(bloom_build_sets(id, k)) FROM keys), k);
SELECT set_number FROM bloom_sets WHERE (argument_1 = (SELECT bloom_build_sets(id, k) FROM keys) AND argument_2 = 1) OR (argument_1 = (SELECT bloom_build_sets(id, part) FROM keys) AND argument_2 = 'a');
SELECT bloom_merge(f), bloom_may_contain(f, 'one more') FROM (SELECT bloom_build_sets(id, k, 10, 2) AS f FROM keys UNION ALL SELECT bloom_build_sets(id, part, 10, 2) FROM keys);
SELECT * FROM bloom_info((SELECT bloom_build_sets(id, k) FROM keys));
SELECT bloom_build_sets(-id, k) FROM keys; -- error
SELECT bloom_build_sets(id, k, id) FROM keys; -- error
SELECT bloom_build_sets(id, k, 10, nullif(id, 2)) FROM keys; -- error
SELECT bloom_build_sets(id * 100000000, k) FROM keys; -- error
SELECT * FROM filters, bloom_sets(filter, 'key'); -- error
SELECT * FROM bloom_sets; -- error
SELECT * FROM bloom_sets('text', 1); -- error
SELECT bloom_add(bloom_build_sets(id, k), 1) FROM keys; -- error

-- A BLOB of zeros gets its memory when it is read.
SELECT bloom_build(zeroblob(200 + id)), bloom_build(zeroblob(200 + id), 9, 5) FROM keys WHERE id < 4;
SELECT bloom_add(bloom_empty(9), 1, zeroblob(200)), bloom_partition(zeroblob(200), 99);
SELECT bloom_may_contain(filter, zeroblob(200)), bloom_may_contain(zeroblob(200), name) FROM filters WHERE name < 'b';
SELECT bloom_open(zeroblob(200)), i.note FROM bloom_info(zeroblob(200)) i;
SELECT bloom_merge(zeroblob(200)) FROM keys; -- error
SELECT bloom_add(zeroblob(200), 1); -- error

-- Triggers, CHECK, stored column, index on an expression, savepoints; then new schemas.
INSERT INTO watched(k) SELECT k FROM keys WHERE k IS NOT NULL;
INSERT INTO watched(k) VALUES ('x'), (1e9) RETURNING part, bloom_partition(k, 3);
INSERT INTO filters SELECT part, filter FROM built WHERE 1 ON CONFLICT DO NOTHING;
DELETE FROM filters WHERE bloom_may_contain(filter, 'one more');
CREATE TABLE made AS SELECT part, bloom_build(k) AS filter FROM keys GROUP BY part;
CREATE INDEX keys_part ON keys(bloom_partition(k, 5)) WHERE bloom_may_contain(x'ffffffffffffffff06', k);
WITH h AS MATERIALIZED (SELECT bloom_open(filter) AS handle FROM filters) SELECT bloom_may_contain(handle, 1) FROM h;

-- Errors: their own message or "out of memory".
SELECT bloom_build(k, 0) FROM keys; -- error
SELECT bloom_build(k, 100.1 + 0.2) FROM keys; -- error
SELECT bloom_build(k, 'ten') FROM keys; -- error
SELECT bloom_build(k, x'10') FROM keys; -- error
SELECT bloom_build(k, 10, -1.5) FROM keys; -- error
SELECT bloom_build(k, id) FROM keys; -- error
SELECT bloom_build(k, 10, id) FROM keys; -- error
SELECT bloom_build(k, 10, nullif(id, 1)) FROM keys; -- error
SELECT bloom_build(k, 10, nullif(id, 2)) FROM keys; -- error
SELECT bloom_build(k, 10, 1000000000000) FROM keys; -- error
SELECT bloom_build(k, 10, id / 9) OVER (ORDER BY id ROWS 3 PRECEDING) FROM keys; -- error
SELECT bloom_build(a.id, 10, 9) OVER (ROWS BETWEEN CURRENT ROW AND 16390 FOLLOWING) FROM keys a, keys b, keys c, keys d WHERE a.id < 6; -- error, long
SELECT bloom_empty('many'); -- error
SELECT bloom_empty(1, 1000); -- error
SELECT bloom_empty(9e18, 100); -- error
SELECT bloom_add(); -- error
SELECT bloom_add(5, 1); -- error
SELECT bloom_add(filter, 1) FROM filters WHERE name = 'short'; -- error
SELECT bloom_add(filter, 1) FROM filters WHERE name = 'reserved'; -- error
SELECT bloom_add(filter, 1) FROM filters WHERE name = 'no probes'; -- error
SELECT bloom_merge(filter) FROM filters WHERE name IN ('all', 'another shape'); -- error
SELECT bloom_merge(filter) FROM filters WHERE name IN ('all', 'of Parquet'); -- error
SELECT bloom_bits_per_key(1e-12, 'parquet'); -- error
SELECT bloom_merge(name) FROM filters; -- error
SELECT bloom_merge(filter) FROM filters; -- error
SELECT bloom_may_contain(name, 1) FROM filters; -- error
SELECT bloom_open(1.5); -- error
SELECT * FROM bloom_info; -- error
SELECT * FROM filters f, bloom_info(f.name); -- error
SELECT bloom_partition(k, 0) FROM keys; -- error
SELECT bloom_partition(k, 'four') FROM keys; -- error
SELECT bloom_bits_per_key(2); -- error
SELECT bloom_bits_per_key(0.001, 100000000); -- error, long
SELECT bloom_bits_per_key(0.01, -5); -- error
INSERT INTO watched(k) SELECT k FROM keys WHERE k IS NOT NULL UNION ALL SELECT bloom_open(name) FROM filters; -- error
DELETE FROM filters WHERE bloom_may_contain(nullif(filter, x'06'), bloom_open(name)); -- error
SELECT bloom_key(k, 'int32') FROM keys; -- error
SELECT bloom_key(k, 'uuid') FROM keys; -- error
SELECT bloom_key(1e39, 'float'); -- error
SELECT bloom_key(id, 'siphash', k) FROM keys; -- error
SELECT bloom_key(id, 'siphash', zeroblob(id)) FROM keys; -- error
SELECT bloom_key(id, name, zeroblob(16)) FROM keys, filters; -- error
SELECT bloom_key(id, 'siphash') FROM keys; -- error
SELECT bloom_key(id, part) FROM keys; -- error
SELECT bloom_key(k, part) FROM keys WHERE typeof(k) = 'text'; -- error
SELECT * FROM tables, bloom_ldb(substr(file, 2)); -- error
SELECT * FROM tables, bloom_ldb(name); -- error
SELECT * FROM bloom_ldb(zeroblob(300)); -- error
SELECT * FROM bloom_ldb; -- error
SELECT argument FROM bloom_filter_block(x'000000000000000000'); -- error
SELECT * FROM bloom_filter_block(x'00'); -- error
SELECT * FROM bloom_filter_block(bloom_open(x'0006')); -- error
SELECT bloom_filter_block_build(id - 9, k) FROM keys; -- error
SELECT bloom_filter_block_build(id, k, id) FROM keys; -- error
SELECT bloom_filter_block_build(id, k, 0) FROM keys; -- error
SELECT bloom_filter_block_build(id * 1000000000000000, k) FROM keys; -- error
SELECT argument FROM bloom_info(x'0006'); -- error
