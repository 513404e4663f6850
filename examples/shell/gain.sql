-- A shop on which examples/test.sh tries gain.sh.
CREATE TABLE customers(id INTEGER PRIMARY KEY, code TEXT UNIQUE, nocase TEXT COLLATE NOCASE UNIQUE, country TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
INSERT INTO customers SELECT i, printf('customer-%08d', i), printf('customer-%08d', i), CASE WHEN i % 200 THEN 'DE' ELSE 'NZ' END FROM n;
CREATE TABLE orders(id INTEGER PRIMARY KEY, code TEXT, loud TEXT COLLATE NOCASE);
WITH RECURSIVE n(i, r) AS (SELECT 1, 20201 UNION ALL SELECT i + 1, r * 48271 % 2147483647 FROM n WHERE i < 100000)
INSERT INTO orders SELECT i, printf('customer-%08d', r % 20000 + 1), printf('%s-%08d', CASE i % 4 WHEN 0 THEN 'Customer' ELSE 'customer' END, r % 20000 + 1) FROM n;
CREATE TABLE same_orders(id INTEGER, code TEXT, PRIMARY KEY (id, code)) WITHOUT ROWID;
INSERT INTO same_orders SELECT id, code FROM orders;
-- One in 200 is of NZ, in a period that one row in 100 would meet again and again.
CREATE TABLE even_orders(id INTEGER PRIMARY KEY, code TEXT);
INSERT INTO even_orders SELECT id, printf('customer-%08d', (id + 99) % 20000 + 1) FROM orders;
-- Joins whose `=` takes more for equal than bytes: 2,500 of 50,000 visits are of one of 21,000 people.
CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE UNIQUE);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 21000) INSERT INTO people SELECT i, 'person ' || i FROM n;
CREATE TABLE visits(person TEXT, padded TEXT, loud TEXT COLLATE NOCASE, shouted TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000), p(i, person) AS (SELECT i, CASE WHEN i % 20 THEN 1000000 + i ELSE i * 2 / 5 END FROM n)
INSERT INTO visits SELECT person, printf('%06d', person), CASE WHEN i % 2000 THEN 'PERSON ' ELSE 'person ' END || person, CASE WHEN i % 2000 THEN 'PERSON ' ELSE 'person ' END || person FROM p;
