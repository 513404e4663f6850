/*
** bloom in Node, by better-sqlite3, or by libsql, a fork of SQLite with the same interface.
** Run it in the folder of bloom.so, after `npm install better-sqlite3` or `npm install libsql`:
**     node better_sqlite3.mjs
**     node better_sqlite3.mjs libsql
*/
const { default: Database } = await import(process.argv[2] ?? 'better-sqlite3');

const db = new Database(':memory:');
db.loadExtension('./bloom');
const version = db.prepare('SELECT sqlite_version() AS sqlite, bloom_version() AS bloom').get();
console.log(`SQLite ${version.sqlite}, bloom ${version.bloom}`);

// Build a filter of the customers, and store it.
db.exec(`
  CREATE TABLE customers(id INTEGER PRIMARY KEY, country TEXT);
  INSERT INTO customers VALUES (1, 'DE'), (2, 'FR'), (1234567890123456789, 'DE');
  CREATE TABLE sales(customer_id INTEGER, amount INTEGER);
  INSERT INTO sales VALUES (1, 10), (2, 20), (77, 30), (1234567890123456789, 40);
  CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB);
  INSERT INTO filters SELECT 'customers', bloom_build(id) FROM customers;
`);

// The filter is a Buffer here, to read and to bind.  Keys past 2^53 are BigInts.
const { filter } = db.prepare("SELECT filter FROM filters WHERE name = 'customers'").get();
console.log(`filter: ${filter.length} bytes, ${filter.toString('hex')}`);
const probe = db.prepare('SELECT bloom_may_contain(?, ?) AS maybe');
for (const key of [1n, 77n, 1234567890123456789n]) {
  console.log(`${key}: ${probe.get(filter, key).maybe ? 'maybe' : 'no'}`);
}

// In a join bloom_open() reads the stored filter once for all rows.
const join = db.prepare(`
  SELECT customer_id, amount FROM sales JOIN customers ON id = customer_id
   WHERE bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'customers'), customer_id)
   ORDER BY amount`).safeIntegers();
for (const sale of join.iterate()) console.log(`customer ${sale.customer_id}: ${sale.amount}`);
const sales = db.prepare(`
  SELECT sum(bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'customers'), customer_id)) AS passed,
         count(*) AS tested FROM sales`).get();
console.log(`${sales.passed} of ${sales.tested} sales pass the filter`);

const info = db.prepare('SELECT i.* FROM filters, bloom_info(filter) i').get();
console.log(`${info.encoding}, ${info.num_bytes} bytes, ${info.estimated_keys.toFixed(1)} keys, ` +
  `${(100 * info.measured_fpr).toFixed(2)} % false positives`);

try {
  db.prepare("SELECT bloom_may_contain('customers', 1)").get();
} catch (error) {
  console.log(`error: ${error.message}`);
}
