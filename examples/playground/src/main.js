/* Starts the page: SQLite first, then its parts. */
import {startBlocks} from "./blocks.js";
import {startConsole} from "./console.js";
import {byId} from "./dom.js";
import {startFilters} from "./filters.js";
import {startJoin} from "./join.js";
import {startKeys} from "./keys.js";
import {startMany} from "./many.js";
import {sampleTables} from "./sample.js";

async function start() {
  const {open} = await sqliteBloom();
  const db = open();
  db.exec(sampleTables);
  startConsole(db);
  const filters = startFilters(open());
  startJoin(open);
  startMany(open());
  startBlocks(open());
  // An expression may read the sample tables, as they are here, and change nothing.
  const ownTables = open();
  ownTables.exec(`${sampleTables} PRAGMA query_only = 1`);
  startKeys(ownTables, filters);
  const [sqlite, bloom] = db.exec("SELECT sqlite_version(), bloom_version()")[0].rows[0];
  byId("versions").textContent = `SQLite ${sqlite} with bloom ${bloom}`;

  // Pictures take their colors and their width from the page.
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", filters.show);
  let width = document.body.clientWidth;
  new ResizeObserver(() => {
    if (width === document.body.clientWidth) return;
    width = document.body.clientWidth;
    filters.show();
  }).observe(document.body);
}

start().catch((failure) => {
  byId("versions").textContent = `SQLite did not start: ${failure.message}`;
});
