-- bloom in the sqlite3 shell.  Run it in the folder of bloom.so:
--     sqlite3 < shell.sql
.load ./bloom
.mode list
SELECT printf('SQLite %s, bloom %s', sqlite_version(), bloom_version());

-- Build a filter of the customers, and store it.
CREATE TABLE customers(id INTEGER PRIMARY KEY, country TEXT);
INSERT INTO customers VALUES (1, 'DE'), (2, 'FR'), (1234567890123456789, 'DE');
CREATE TABLE sales(customer_id INTEGER, amount INTEGER);
INSERT INTO sales VALUES (1, 10), (2, 20), (77, 30), (1234567890123456789, 40);
CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB);
INSERT INTO filters SELECT 'customers', bloom_build(id) FROM customers;

-- A parameter of the shell keeps the filter as a BLOB.
.parameter set @filter "(SELECT filter FROM filters WHERE name = 'customers')"
SELECT printf('filter: %d bytes, %s', length(@filter), lower(hex(@filter)));
SELECT value || ': ' || CASE WHEN bloom_may_contain(@filter, value) THEN 'maybe' ELSE 'no' END
  FROM json_each('[1, 77, 1234567890123456789]');

-- In a join bloom_open() reads the stored filter once for all rows.
SELECT printf('customer %d: %d', customer_id, amount) FROM sales JOIN customers ON id = customer_id
 WHERE bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'customers'), customer_id)
 ORDER BY amount;
SELECT printf('%d of %d sales pass the filter',
              sum(bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'customers'), customer_id)),
              count(*)) FROM sales;

SELECT printf('%s, %d bytes, %.1f keys, %.2f %% false positives', encoding, num_bytes, estimated_keys, 100 * measured_fpr)
  FROM filters, bloom_info(filter);

-- The shell puts "Runtime error" and the line's number in front.
SELECT bloom_may_contain('customers', 1);
