/* One join, timed without the filter and with it. */
import {byId, count, element} from "./dom.js";

const NUM_RUNS = 3;

/* The address of a person, as SQL: in no order, as people are, and the same on every visit. */
const addressOf = (number) => `lower(hex(bloom_key(${number}, 'siphash', zeroblob(16)))) || '@example.org'`;

const joinTables = `
CREATE TABLE customers(email TEXT PRIMARY KEY, country TEXT) WITHOUT ROWID;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
INSERT INTO customers SELECT address, 'DE' FROM (SELECT ${addressOf("i")} AS address FROM n) ORDER BY 1;
CREATE TABLE sales(email TEXT, amount INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
INSERT INTO sales
SELECT ${addressOf("iif(i % 100 = 0, i / 3, -i)")}, i % 90 + 10 FROM n;
CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB);
INSERT INTO filters SELECT 'customers', bloom_build(email) FROM customers;
`;
const FILTER = "bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'customers'), s.email)";
const JOIN = "SELECT count(*), sum(amount) FROM sales s JOIN customers c ON c.email = s.email";

/* open: makes a connection; this one is made by the first run. */
export function startJoin(open) {
  const button = byId("join-run"), status = byId("join-status");
  let db;

  function timed(sql) {
    const start = performance.now();
    const [{rows}] = db.exec(sql);
    return {ms: performance.now() - start, row: rows[0]};
  }

  const median = (runs) => runs.map(({ms}) => ms).sort((a, b) => a - b)[Math.floor(runs.length / 2)];

  function run() {
    if (db === undefined) {
      db = open();
      db.exec(joinTables);
    }
    const plain = [], screened = [];
    for (let i = 0; i < NUM_RUNS; i++) {
      plain.push(timed(JOIN));
      screened.push(timed(`${JOIN} WHERE ${FILTER}`));
    }
    const [[numSales]] = db.exec("SELECT count(*) FROM sales")[0].rows;
    const [[numAsked]] = db.exec(`SELECT count(*) FROM sales s WHERE ${FILTER}`)[0].rows;
    const row = (title, runs, numLookups) => element("tr", {}, element("th", {scope: "row"}, title),
      ...[`${median(runs).toFixed(1)} ms`, count(numLookups), count(runs[0].row[0])].map((cell) => element("td", {class: "number"}, cell)));
    const figures = byId("join-figures");
    figures.tBodies[0].replaceChildren(row("Without the filter", plain, numSales), row("With it", screened, numAsked));
    figures.parentElement.hidden = false;
    const isSame = String(plain[0].row) === String(screened[0].row);
    byId("join-verdict").textContent = isSame
      ? `${(median(plain) / median(screened)).toFixed(1)} times as fast, and the same answer.` : "The answers differ: please report it.";
    status.textContent = `Medians of ${NUM_RUNS} runs in turns, in this browser`;
    button.disabled = false;
  }

  button.addEventListener("click", () => {
    button.disabled = true;
    status.textContent = db ? "Joining…" : "Making the tables…";
    setTimeout(run, 50); // the page shows that first
  });
  button.disabled = false;
}
