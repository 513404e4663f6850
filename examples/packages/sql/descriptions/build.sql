-- What each package is, in a line; and blocks of the pieces of these lines.
CREATE TABLE descriptions(id INTEGER PRIMARY KEY, package TEXT, line TEXT);
.mode ascii
.import build/demo/descriptions.txt descriptions
.mode list
CREATE VIRTUAL TABLE descriptions_index USING bloom_index(descriptions, line LIKE);
INSERT INTO descriptions_index(descriptions_index) VALUES ('merge');
SELECT printf('  %,d descriptions, %,d KB; their bloom_index: %,d KB', count(*), sum(length(line)) / 1024,
              (SELECT bytes_1 / 1024 FROM descriptions_index_state))
FROM descriptions;
