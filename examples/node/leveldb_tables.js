/*
** Shows: the filters inside another program's LevelDB store, in an SQL table, and the
** question "which of these tables can hold this key?", answered while that program runs.
**
** The application here writes its store with classic-level, as Electron applications do,
** and keeps it open.  LevelDB never changes a table file (.ldb) once it is finished, so the
** harvest reads those alone; one that is still being written is no whole table, and waits
** for the next harvest.  The newest keys are in the log and in memory: look them up in the application,
** or take them for there.
**
** LevelDB writes a filter for each data block, of 4 KB unless told otherwise.  Who does not
** know the block must test all filters of a file, and one of a hundred errs: that tells small
** tables apart, not large ones.  With a blockSize over the size of a table there is one
** filter a table.
**
** Run, from this folder, after `make` at the top of the project and `npm install` here:
**     node leveldb_tables.js
** What it prints is in leveldb_tables.expected.
*/
'use strict';

const crypto = require('crypto');
const fs = require('fs');
const os = require('os');
const path = require('path');
const Database = require('better-sqlite3');
const { ClassicLevel } = require('classic-level');

const NUM_KEYS = 60000;

const hashOf = (number) => crypto.createHash('md5').update(String(number)).digest('hex');
const keyOf = (number) => `message:${hashOf(number)}`;

// -- The application, which knows nothing of bloom ------------------------------

async function write(store, begin, end) {
  for (let i = begin; i < end; i += 100) {
    const batch = store.batch();
    for (let j = i; j < i + 100; j++) batch.put(keyOf(j), `${j} ${hashOf(-j)}`.repeat(5));
    await batch.write();
  }
}

// -- The harvest: each finished table once ---------------------------------------

const db = new Database(':memory:');
db.loadExtension(path.join(__dirname, '..', '..', 'bloom'));
db.exec(`CREATE TABLE tables(file TEXT PRIMARY KEY);
         CREATE TABLE filters(file TEXT REFERENCES tables ON DELETE CASCADE, slot INTEGER, filter BLOB);
         CREATE INDEX by_file ON filters(file)`);
db.pragma('foreign_keys = ON');

const addTable = db.prepare('INSERT INTO tables VALUES (?)');
const addFilters = db.prepare('INSERT INTO filters SELECT ?, slot, filter FROM bloom_ldb(?) WHERE length(filter) > 0');
const forget = db.prepare('DELETE FROM tables WHERE file = ?');
const known = db.prepare('SELECT file FROM tables ORDER BY file').pluck();

const harvest = db.transaction((folder) => {
  const files = new Set(fs.readdirSync(folder).filter((name) => /\.(ldb|sst)$/.test(name)));
  for (const file of known.all()) if (!files.delete(file)) forget.run(file); // compacted away
  for (const file of files) {
    try {
      addTable.run(file);
      addFilters.run(file, fs.readFileSync(path.join(folder, file)));
    } catch (error) {
      if (!/not a complete LevelDB table file|ENOENT/.test(error.message)) throw error;
      forget.run(file); // not finished yet, or gone already
    }
  }
});

// -- What the files really hold, to check the answers by --------------------------

function varint(bytes, at) {
  let value = 0;
  for (let factor = 1; ; factor *= 128) {
    const byte = bytes[at++];
    value += (byte & 127) * factor;
    if (byte < 128) return [value, at];
  }
}

// The entries of a block that is not compressed, as [key, value].
function* entries(file, handle) {
  const [offset, at] = varint(handle, 0);
  const block = file.subarray(offset, offset + varint(handle, at)[0]);
  const end = block.length - 4 - 4 * block.readUInt32LE(block.length - 4);
  let key = Buffer.alloc(0);
  for (let i = 0; i < end;) {
    let shared, unshared, valueBytes;
    [shared, i] = varint(block, i);
    [unshared, i] = varint(block, i);
    [valueBytes, i] = varint(block, i);
    key = Buffer.concat([key.subarray(0, shared), block.subarray(i, i + unshared)]);
    i += unshared + valueBytes;
    yield [key, block.subarray(i - valueBytes, i)];
  }
}

function keysOf(file) {
  const footer = file.subarray(-48);
  const [, at] = varint(footer, 0);
  const keys = new Set();
  for (const [, handle] of entries(file, footer.subarray(varint(footer, at)[1]))) {
    for (const [key] of entries(file, handle)) keys.add(key.subarray(0, -8).toString());
  }
  return keys;
}

// -- Testing -----------------------------------------------------------------------

const tablesFor = db.prepare('SELECT DISTINCT file FROM filters WHERE bloom_may_contain(filter, ?)').pluck();

// How many tables must be opened to find these keys; throws if one were missed.
function opened(keys, tables) {
  let numOpened = 0;
  for (const key of keys) {
    const files = tablesFor.all(key);
    numOpened += files.length;
    for (const [file, held] of tables) {
      if (held.has(key) && !files.includes(file)) throw new Error(`${file} holds ${key}, and its filters miss it`);
    }
  }
  return numOpened;
}

function report(title, folder, numKeys) {
  const tables = new Map(known.all().map((file) => [file, keysOf(fs.readFileSync(path.join(folder, file)))]));
  const stored = [], absent = [];
  for (let i = 0; i < 200; i++) {
    stored.push(keyOf(i * Math.floor(numKeys / 200)));
    absent.push(keyOf(-1 - i));
  }
  const all = 200 * tables.size;
  const share = (number) => `${Math.round((100 * number) / all)} %`;
  const filters = db.prepare('SELECT count(*) FROM filters').pluck().get();
  console.log(`${title}: ${tables.size} tables, ${filters > 2 * tables.size ? 'a filter a data block' : 'a filter a table'}`);
  console.log(`  200 stored keys: ${share(opened(stored, tables))} of the tables opened, none missed`);
  console.log(`  200 absent keys: ${share(opened(absent, tables))} of the tables opened`);
}

async function run(title, blockSize) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'leveldb-tables-'));
  const store = new ClassicLevel(folder, { blockSize, compression: false });
  await store.open();
  await write(store, 0, NUM_KEYS);
  await store.compactRange('a', 'z');
  harvest(folder);
  report(title, folder, NUM_KEYS);
  if (blockSize > 4096) {
    // It goes on: what was harvested stays but for the tables that were compacted away.
    await write(store, NUM_KEYS, 2 * NUM_KEYS);
    await store.compactRange('a', 'z');
    harvest(folder);
    report('after more writes', folder, 2 * NUM_KEYS);
  }
  await store.close();
  fs.rmSync(folder, { recursive: true });
  db.exec('DELETE FROM tables');
}

(async () => {
  await run('blocks of 4 KB', 4096);
  await run('blocks of 16 MB', 16 << 20);
})();
