/* The sample database, and the examples to pick. */

export const sampleTables = `
CREATE TABLE customers(id INTEGER PRIMARY KEY, email TEXT UNIQUE, country TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
INSERT INTO customers
SELECT i, 'user' || i || '@example.org', substr('DEFRNZUS', 1 + 2 * (i % 4), 2) FROM n;

CREATE TABLE sales(email TEXT, amount INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
INSERT INTO sales
SELECT iif(i % 100 = 0, 'user' || (i / 4) || '@example.org', 'guest' || i || '@example.com'), i % 90 + 10 FROM n;

CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB);
INSERT INTO filters SELECT 'customers', bloom_build(email) FROM customers;
`;

export const examples = [
  ["Test a filter", `-- bloom_may_contain returns 0, which is "no", or 1, which is "maybe".
SELECT value AS key, iif(bloom_may_contain(filter, value), 'maybe', 'no') AS answer
  FROM filters, json_each('["user77@example.org", "nobody@example.org", "somebody@example.org"]')
 WHERE name = 'customers';`],

  ["Build a filter", `-- The keys themselves, and 10 bits for each of them.
SELECT count(*) AS keys, sum(length(email)) AS bytes_of_keys,
       length(bloom_build(email)) AS bytes_of_filter,
       length(bloom_build(email, 16)) AS at_16_bits
  FROM customers;`],

  ["Describe a filter", `SELECT encoding, num_bytes, num_probes, fill_ratio, estimated_keys, expected_fpr, measured_fpr
  FROM filters, bloom_info(filter);`],

  ["A join, with the filter in front", `-- 99 of 100 sales are to guests: the filter says so before a customer is looked up.
SELECT country, count(*) AS sales, sum(amount) AS amount
  FROM sales s JOIN customers c ON c.email = s.email
 WHERE bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'customers'), s.email)
 GROUP BY country;

-- How many look-ups are left, of 20,000.
SELECT count(*) AS look_ups FROM sales
 WHERE bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'customers'), email);`],

  ["A filter that stays up to date", `DROP TABLE IF EXISTS emails;
DELETE FROM customers WHERE email = 'ada@example.org';
CREATE VIRTUAL TABLE emails USING bloom(customers, email);
SELECT iif(count(*), 'maybe', 'no') AS before FROM emails('ada@example.org');

INSERT INTO customers(email, country) VALUES ('ada@example.org', 'UK');
SELECT iif(count(*), 'maybe', 'no') AS after FROM emails('ada@example.org');`],

  ["Two encodings of the same keys", `WITH f(filter) AS (
  SELECT bloom_build(email) FROM customers UNION ALL SELECT bloom_build(email, 'parquet') FROM customers)
SELECT encoding, num_bytes, num_probes, fill_ratio, measured_fpr FROM f, bloom_info(filter);

-- LevelDB's keys are bytes, and the digits of 1 are '1'.  Parquet's columns have types.
SELECT iif(bloom_may_contain(bloom_build(1), '1'), 'maybe', 'no') AS leveldb,
       iif(bloom_may_contain(bloom_build(1, 'parquet'), '1'), 'maybe', 'no') AS parquet;`],

  ["Merge the filters of shards", `-- Each country's filter has the shape that 5,000 keys need, so that they can be merged.
WITH shards(filter) AS (SELECT bloom_build(email, 10, 5000) FROM customers GROUP BY country)
SELECT count(*) AS shards, iif(bloom_may_contain(bloom_merge(filter), 'user77@example.org'), 'maybe', 'no') AS user77,
       iif(bloom_may_contain(bloom_merge(filter), 'nobody@example.org'), 'maybe', 'no') AS nobody
  FROM shards;`],

  ["Which shards may hold this key?", `-- One BloomFile for 50 shards of 100 customers each.
WITH f(file) AS (SELECT bloom_build_sets(id / 100, email) FROM customers WHERE id < 5000)
SELECT set_number AS shard FROM f, bloom_sets(file, 'user777@example.org');`],

  ["How large must it be?", `SELECT value AS rate, bloom_bits_per_key(value) AS bits_per_key,
       bloom_bits_per_key(value, 'parquet') AS parquet
  FROM json_each('[0.1, 0.03, 0.01, 0.003, 0.001]');`],

  ["An error", `SELECT bloom_build(email, 0) FROM customers;`],
];
