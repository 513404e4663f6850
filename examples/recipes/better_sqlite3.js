/*
** A recipe for better-sqlite3: bloom on each connection, a filter over a table, and
** two queries with it.  Tested with better-sqlite3 12.
**
** Run, from this folder, after `make` at the top of the project and `npm install better-sqlite3`:
**     node better_sqlite3.js
** What it prints is in recipe.expected, as for every recipe here.
*/
'use strict';

const path = require('path');
const Database = require('better-sqlite3');

// -- 1. Load bloom on each connection: one function that opens them all ------------

function open(file) {
  const db = new Database(file);
  db.loadExtension(path.join(__dirname, '..', '..', 'bloom'));
  return db;
}

// -- 2. The tables.  A purchase may name an address that no customer has -----------

const db = open(':memory:');
db.exec(`
  CREATE TABLE customer(email TEXT PRIMARY KEY, country TEXT);
  CREATE TABLE purchase(id INTEGER PRIMARY KEY, email TEXT, amount INTEGER);
  CREATE VIRTUAL TABLE customer_filter USING bloom(customer, email);
`);
const addCustomer = db.prepare('INSERT INTO customer VALUES (?, ?)');
const addPurchase = db.prepare('INSERT INTO purchase(email, amount) VALUES (?, ?)');
db.transaction(() => {
  for (let i = 0; i < 20000; i++) addCustomer.run(`user${i}@example.org`, i % 4 === 0 ? 'DE' : 'FR');
  for (let i = 0; i < 50000; i++) addPurchase.run(`user${i * 97}@example.org`, i % 10);
})();

// -- 3. The queries -------------------------------------------------------------

// The join, with a filter of the customers that pass, which the query makes as it runs.  It asks the column of the
// large table.
const plain = db.prepare(`SELECT count(*) AS n, sum(amount) AS total FROM purchase p JOIN customer c ON c.email = p.email
  WHERE c.country = 'DE'`).get();
const screened = db.prepare(`WITH d AS MATERIALIZED (SELECT email FROM customer WHERE country = 'DE')
  SELECT count(*) AS n, sum(amount) AS total FROM purchase p CROSS JOIN d ON d.email = p.email
   WHERE bloom_may_contain((SELECT bloom_filter(email) FROM d), p.email)`).get();
const same = screened.n === plain.n && screened.total === plain.total;
console.log(`join: ${screened.n} purchases, ${screened.total} in all; the same without the filter: ${same ? 'True' : 'False'}`);

// Which of these thousand keys are new?  One statement; the table is read only for a "maybe".
const findNew = db.prepare(`
  SELECT value FROM json_each(?)
   WHERE NOT bloom_may_contain((SELECT handle FROM customer_filter), value)
      OR NOT EXISTS (SELECT 1 FROM customer WHERE email = value)`).pluck();
const newAmong = (keys) => findNew.all(JSON.stringify(keys));

const emails = Array.from({ length: 1000 }, (_, i) => `user${19600 + i}@example.org`);
console.log(`of ${emails.length.toLocaleString('en')} keys ${newAmong(emails).length} are new`);
addCustomer.run('user20000@example.org', 'DE');
console.log(`one of them is saved: ${newAmong(emails).length} are new`);
