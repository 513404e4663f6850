/*
** A recipe for better-sqlite3: a big log, searched through a bloom_index.  Programs that write the
** log need no extension.  Tested with better-sqlite3 12.
**
** Run, from this folder, after `make` at the top of the project and `npm install better-sqlite3`:
**     node better_sqlite3_index.js
** What it prints is in index.expected, as for every recipe of its kind here.
*/
'use strict';

const path = require('path');
const Database = require('better-sqlite3');

// -- 1. Load bloom, and say what REGEXP is, on each connection that searches --------------

function open(file) {
  const db = new Database(file);
  db.loadExtension(path.join(__dirname, '..', '..', 'bloom'));
  const patterns = new Map();
  db.function('regexp', { deterministic: true }, (pattern, value) => {
    if (pattern === null || value === null) return null;
    if (!patterns.has(pattern)) patterns.set(pattern, new RegExp(pattern));
    return patterns.get(pattern).test(String(value)) ? 1 : 0;
  });
  return db;
}

// -- 2. The table and the index -------------------------------------------------------------

const db = open(':memory:');
const traceOf = (i) => (BigInt(i) * 2654435761n).toString(16).padStart(16, '0');
db.exec(`
  CREATE TABLE log(id INTEGER PRIMARY KEY, trace_id TEXT, message TEXT);
  CREATE VIRTUAL TABLE log_index USING bloom_index(log, trace_id, message LIKE REGEXP);
`);
const add = db.prepare('INSERT INTO log(trace_id, message) VALUES (?, ?)');
db.transaction(() => {
  for (let i = 1; i <= 20000; i++) add.run(traceOf(i), `request ${i} timed out, 100% of 5_000 ms`);
})();
db.exec("INSERT INTO log_index(log_index) VALUES ('merge')");

// -- 3. The queries ---------------------------------------------------------------------------

// LIKE without ESCAPE, which SQLite offers to no virtual table. A % or _ in the text is a wildcard:
// where it is to stand for itself, a second check says so.
const has = (text) => `message LIKE ${quote(`%${text}%`)}` + (/[%_]/.test(text) ? ` AND instr(lower(message), lower(${quote(text)}))` : '');
const quote = (text) => `'${text.replaceAll("'", "''")}'`;
const select = (condition) => `SELECT id FROM log_index WHERE ${condition} ORDER BY id`;
const rows = (condition) => db.prepare(select(condition)).pluck().all().join(', ') || 'nothing';
const isPruned = (condition) => db.prepare(`EXPLAIN QUERY PLAN ${select(condition)}`).all()
  .some(({ detail }) => detail.includes('VIRTUAL TABLE') && /message|trace_id/.test(detail));

const byKey = `trace_id = ${quote(traceOf(4711))}`;
const byText = has('request 12345 ');
const byBoth = `${has('timed out, 100%')} AND trace_id = ${quote(traceOf(815))}`;
const byPattern = "message REGEXP '^request 1777[0-2] timed (in|out)'";
console.log(`a key: ${rows(byKey)}`);
console.log(`a piece of text: ${rows(byText)}`);
console.log(`text and key, % for itself: ${rows(byBoth)}; 5%000: ${rows(has('5%000'))}`);
console.log(`a pattern: ${rows(byPattern)}`);
console.log(`all by the index: ${[byKey, byText, byBoth, byPattern].every(isPruned) ? 'True' : 'False'}`);
add.run('new', 'request 20001 timed out');
console.log(`a row that nobody merged: ${rows(has('request 20001 '))}`);
