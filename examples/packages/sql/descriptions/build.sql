-- What each package is, in a line; and which blocks have the pieces of these lines.
CREATE TABLE descriptions(id INTEGER PRIMARY KEY, package TEXT, line TEXT);
.mode ascii
.import build/demo/descriptions.txt descriptions
.mode list
CREATE VIRTUAL TABLE descriptions_index USING bloom_index(descriptions, line LIKE);
SELECT printf('  %,d descriptions, %,d KB; their bloom_index: %,d KB', count(*), sum(length(line)) / 1024,
              (SELECT bytes / 1024 FROM bloom_index_info('descriptions_index')))
FROM descriptions;
