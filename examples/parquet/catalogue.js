/*
** Shows: which of many Parquet files can hold this key, tested before one is opened.
** DuckDB writes 300 files with Bloom filters.  Their filters, taken from where
** parquet_metadata() says that they lie, go into one table of SQLite; a question goes
** to that table first, and DuckDB reads the files that are left.  README.md beside this
** says how to write a key for each type of column.
**
** Run, from this folder, after `make` at the top of the project and `npm install` here:
**     node catalogue.js
** What it prints is in catalogue.expected, less the times.
*/
'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');
const Database = require('better-sqlite3');
const { DuckDBInstance } = require('@duckdb/node-api');
const { readFilter } = require('./read_filter.js');

const NUM_FILES = 300;
const ROWS_PER_FILE = 4096;
const NUM_RUNS = 5; // of each question; the median time counts

// Only columns with a dictionary get a filter, so dictionaries may be large.
const OPTIONS = `FORMAT parquet, PARQUET_VERSION v1, ROW_GROUP_SIZE 2048,
  DICTIONARY_SIZE_LIMIT 100000, STRING_DICTIONARY_PAGE_SIZE_LIMIT 100000000,
  WRITE_BLOOM_FILTER true, BLOOM_FILTER_FALSE_POSITIVE_RATIO 0.01`;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bloom-catalogue-'));
const pathOf = (file) => path.join(folder, file);

async function openDuckDB() {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  await connection.run('SET threads = 1');
  const rows = async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJson();
  return { run: (sql) => connection.run(sql), rows };
}

// Keys in no order: the smallest and the largest of a file, by which readers leave files
// out as well, say nothing here.
async function writeFiles(duckdb) {
  for (let i = 0; i < NUM_FILES; i++) {
    const file = `part-${String(i).padStart(3, '0')}.parquet`;
    await duckdb.run(`COPY (
      SELECT n * 48271 % 2147483647 * 1000003 AS order_id,
        printf('cust-%011d', n * 7919 % 1000003) AS customer,
        (n * 16807 % 2147483647)::INTEGER AS serial,
        DATE '1970-01-01' + (n * 69621 % 2147483647 % 1000000)::INTEGER AS day,
        printf('%08x-0000-4000-8000-%012x', n, n * 48271)::UUID AS session,
        (n * 40692 % 2147483399) / 4 AS amount
      FROM (SELECT ${i * ROWS_PER_FILE} + r + 1 AS n FROM range(${ROWS_PER_FILE}) AS t(r))
    ) TO '${pathOf(file)}' (${OPTIONS})`);
  }
}

function openCatalogue() {
  const db = new Database(':memory:');
  db.loadExtension(path.join(__dirname, '..', '..', 'bloom'));
  db.exec(`
    CREATE TABLE files(file TEXT PRIMARY KEY, num_rows INTEGER, num_bytes INTEGER, footer_bytes INTEGER);
    CREATE TABLE filters(column_name TEXT, file TEXT, row_group INTEGER, filter BLOB, -- NULL: it has none
      PRIMARY KEY (column_name, file, row_group));
  `);
  return db;
}

// The filters lie in the files as bloom reads them: nothing is built.
async function harvest(duckdb, db) {
  const addFile = db.prepare('INSERT INTO files VALUES (?, ?, ?, ?)');
  const addFilter = db.prepare('INSERT INTO filters VALUES (?, ?, ?, ?)');
  const files = await duckdb.rows(`SELECT * FROM parquet_file_metadata('${pathOf('*.parquet')}')`);
  const columns = await duckdb.rows(`SELECT file_name, row_group_id, path_in_schema AS name,
    bloom_filter_offset AS start FROM parquet_metadata('${pathOf('*.parquet')}')`);
  const open = new Map(files.map((f) => [f.file_name, fs.openSync(f.file_name)]));
  db.transaction(() => {
    for (const f of files) {
      addFile.run(path.basename(f.file_name), f.num_rows, f.file_size_bytes, Number(f.footer_size) + 8);
    }
    for (const c of columns) {
      const filter = readFilter(open.get(c.file_name), c.start);
      addFilter.run(c.name, path.basename(c.file_name), c.row_group_id, filter);
    }
  })();
  for (const number of open.values()) fs.closeSync(number);
}

// A question: the condition as DuckDB reads it, and its key as the column hashes it.
const questions = [
  { column: 'customer', is: "'cust-00000007919'", key: '?', value: 'cust-00000007919' },
  { column: 'customer', is: "'cust-99999999999'", key: '?', value: 'cust-99999999999' },
  { column: 'order_id', is: '48271144813', key: '?', value: 48271144813n },
  { column: 'serial', is: '33614', key: "bloom_key(?, 'int32')", value: 33614 },
  { column: 'day', is: "DATE '2001-02-03'", key: "bloom_key(julianday(?) - 2440587.5, 'int32')", value: '2001-02-03' },
  { column: 'session', is: "UUID '00000003-0000-4000-8000-0000000235ad'", key: "bloom_key(?, 'uuid')",
    value: '00000003-0000-4000-8000-0000000235ad' },
  { column: 'amount', is: '10173.0', key: "bloom_key(?, 'double')", value: 10173 },
];

// A row group without a filter has NULL, which may hold any key.
function filesFor(db, { column, key, value }) {
  return db.prepare(`SELECT DISTINCT file FROM filters
    WHERE column_name = ? AND bloom_may_contain(filter, ${key}) ORDER BY file`).pluck().all(column, value);
}

async function read(duckdb, files, { column, is }) {
  if (files.length === 0) return { rows: [], bytes: 0 };
  const profile = pathOf('profile.json');
  await duckdb.run("PRAGMA enable_profiling = 'json'");
  await duckdb.run(`PRAGMA profiling_output = '${profile}'`);
  await duckdb.run(`PRAGMA custom_profiling_settings = '{"TOTAL_BYTES_READ": "true"}'`);
  const rows = await duckdb.rows(`SELECT * FROM read_parquet([${files.map((f) => `'${pathOf(f)}'`)}])
    WHERE ${column} = ${is} ORDER BY ALL`);
  return { rows, bytes: JSON.parse(fs.readFileSync(profile, 'utf8')).total_bytes_read };
}

async function timedAnswer(db, question, choose) {
  const times = [];
  let answer;
  for (let i = 0; i < NUM_RUNS; i++) {
    const duckdb = await openDuckDB(); // one that has read none of the files yet
    const start = process.hrtime.bigint();
    const files = choose();
    answer = { files, ...await read(duckdb, files, question) };
    times.push(Number(process.hrtime.bigint() - start) / 1e6);
  }
  const footer = db.prepare('SELECT footer_bytes FROM files WHERE file = ?').pluck();
  for (const file of answer.files) answer.bytes += footer.get(file); // read before the profile starts
  answer.time = times.sort((a, b) => a - b)[NUM_RUNS >> 1];
  return answer;
}

const group = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ',');
const line = (how, { files, bytes, rows, time }) => console.log(
  `  ${how.padEnd(16)} files opened: ${String(files.length).padStart(3)}, bytes read: ${group(bytes).padStart(9)},`
  + ` rows found: ${rows.length} ${time.toFixed(1).padStart(8)} ms`);

async function main() {
  const duckdb = await openDuckDB();
  const db = openCatalogue();
  await writeFiles(duckdb);
  await harvest(duckdb, db);
  const all = db.prepare('SELECT file FROM files ORDER BY file').pluck().all();
  const sum = db.prepare('SELECT count(*) AS files, sum(num_rows) AS num_rows, sum(num_bytes) AS bytes FROM files').get();
  const kept = db.prepare('SELECT count(filter) AS filters, sum(length(filter)) AS bytes FROM filters').get();
  console.log(`${sum.files} files, ${group(sum.num_rows)} rows, ${group(sum.bytes)} bytes`);
  console.log(`${group(kept.filters)} filters in the catalogue, ${group(kept.bytes)} bytes`);
  for (const question of questions) {
    console.log(`${question.column} = ${question.is}`);
    const without = await timedAnswer(db, question, () => all);
    const withIt = await timedAnswer(db, question, () => filesFor(db, question));
    line('all files', without);
    line('by the catalogue', withIt);
    if (JSON.stringify(without.rows) !== JSON.stringify(withIt.rows)) throw new Error('the catalogue changed an answer');
  }
  console.log('equal rows for every question');
  db.close();
}

main().finally(() => fs.rmSync(folder, { recursive: true }));
