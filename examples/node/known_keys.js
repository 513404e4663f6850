/*
** Shows: turning away unknown API keys.  A server keeps the filter of all keys that it
** ever gave out in memory, as a Buffer, and looks into the table only for those that
** may be among them.  A new key goes to the table and to the stored filter in one
** transaction.
**
** Run, from this folder, after `make` at the top of the project and `npm install` here:
**     node known_keys.js
** What it prints is in known_keys.expected.
*/
'use strict';

const crypto = require('crypto');
const path = require('path');
const Database = require('better-sqlite3');

const NUM_KEYS = 10000;
const CAPACITY = 2 * NUM_KEYS; // more keys are taken; more look-ups follow

const keyOf = (number) => crypto.createHash('sha256').update(String(number)).digest('hex').slice(0, 32);

const db = new Database(':memory:');
db.loadExtension(path.join(__dirname, '..', '..', 'bloom'));
db.exec(`
  CREATE TABLE api_key(key TEXT PRIMARY KEY, owner INTEGER) WITHOUT ROWID;
  CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB);
`);
const addKey = db.prepare('INSERT INTO api_key VALUES (?, ?)');
db.transaction(() => {
  for (let i = 0; i < NUM_KEYS; i++) addKey.run(keyOf(i), i);
  db.prepare("INSERT INTO filters SELECT 'api_key', bloom_build(key, 12, ?) FROM api_key").run(CAPACITY);
})();

const readFilter = db.prepare("SELECT filter FROM filters WHERE name = 'api_key'").pluck();
const mayBeKnown = db.prepare('SELECT bloom_may_contain(?, ?)').pluck();
const lookUp = db.prepare('SELECT owner FROM api_key WHERE key = ?').pluck();

let filter = readFilter.get();
let numLookUps = 0;

function ownerOf(key) {
  if (!mayBeKnown.get(filter, key)) return undefined;
  numLookUps++;
  return lookUp.get(key);
}

// One transaction: no other program finds the key without its bits.  An UPDATE that finds no
// filter is no error, so check how many it changed.
const giveOut = db.transaction((key, owner) => {
  addKey.run(key, owner);
  const { changes } = db.prepare("UPDATE filters SET filter = bloom_add(filter, ?) WHERE name = 'api_key'").run(key);
  if (changes !== 1) throw new Error('there is no filter of api_key');
});

let numRequests = 0;
let numKnown = 0;
for (let i = 0; i < 10 * NUM_KEYS; i += 3, numRequests++) {
  const owner = ownerOf(keyOf(i));
  if ((owner !== undefined) !== (i < NUM_KEYS)) throw new Error('the filter changed an answer');
  if (owner !== undefined) numKnown++;
}
console.log(`${numRequests} requests, ${numKnown} with a known key, ${numLookUps} look-ups`);

giveOut(keyOf(NUM_KEYS), NUM_KEYS);
filter = readFilter.get();
console.log(`a new key belongs to ${ownerOf(keyOf(NUM_KEYS))}; the filter has ${filter.length} bytes`);
db.close();
