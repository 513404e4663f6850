// The packages in ES modules: node use.mjs prints one line a connection. Run in a folder of its own by run.sh.
import Database from 'better-sqlite3';
import { getLoadablePath, load } from 'sqlite-bloom';

const SQL = "SELECT bloom_version() || ' ' || bloom_may_contain(f, 3) || ' ' || bloom_may_contain(f, 4) AS said " +
  "FROM (SELECT bloom_build(value) AS f FROM json_each('[2, 3, 5, 7]'))";

const db = new Database(':memory:');
load(db);
console.log(db.prepare(SQL).get().said);
const other = new Database(':memory:');
other.loadExtension(getLoadablePath());
console.log(other.prepare(SQL).get().said);
// Only newer versions of Node have it.
const sqlite = await import('node:sqlite').catch(() => null);
if (sqlite) {
  const own = new sqlite.DatabaseSync(':memory:', { allowExtension: true });
  load(own);
  console.log(own.prepare(SQL).get().said);
}
