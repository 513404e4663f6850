/* A log with a bloom_index: the blocks that a query reads, and those that it leaves out. */
import {byId, count, element, some} from "./dom.js";

const NUM_LOG_ROWS = 40000;
const MAX_ROWS_SHOWN = 5;
const MAX_SEARCH_MS = 5000;
const MAX_RUNS_TOLD = 12;
const SHIFT_AT = 60;

/* In no order, and the same on every visit.  Every tenth row belongs to an older row's trace. */
const traceOf = (number) => `lower(hex(bloom_key(${number}, 'siphash', zeroblob(16))))`;
const requestOf = (number) => `printf('%08x', ${number} * 2654435761 % 4294967296)`;

/* Reading trace_id or message of a row calls note_read() with its id. */
const logTables = `
CREATE TABLE log(id INTEGER PRIMARY KEY, stored_trace_id TEXT, stored_message TEXT,
  trace_id TEXT AS (note_read(id, stored_trace_id)), message TEXT AS (note_read(id, stored_message)));
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${NUM_LOG_ROWS})
INSERT INTO log(id, stored_trace_id, stored_message)
SELECT i, ${traceOf("iif(i % 10, i, i / 10)")}, CASE
  WHEN i % 7999 = 0 THEN 'the database is locked, request ' || ${requestOf("i")} || ' waits'
  WHEN i % 997 = 0 THEN printf('payment of user %d was declined by the bank', i * 31 % 977)
  ELSE printf('request %s of user %d took %d ms', ${requestOf("i")}, i * 31 % 977, i * 37 % 400) END FROM n;
CREATE VIRTUAL TABLE log_index USING bloom_index(log, trace_id, message LIKE);
INSERT INTO log_index(log_index) VALUES ('merge');
`;

const conditions = {trace_id: "trace_id = ?", message: "message LIKE ?"};
const patterns = ["%request 8ee06837 %", "%locked%", "%declined%", "%took 9_ ms%", "%xyz%", "%re%"];

/* The last id of each block: its rows have one id >> shift, which ext/FORMATS.md has in the layout. */
function readEnds(db) {
  const [[covered, layout]] = db.exec("SELECT covered, layout FROM log_index_state")[0].rows;
  const numIds = 2 ** layout[SHIFT_AT], ends = [];
  for (let next = numIds; next <= covered; next += numIds) ends.push(next - 1);
  return [...ends, covered];
}

/* "1, 3 to 5" of ascending numbers. */
function runsOf(numbers) {
  const runs = [];
  for (const number of numbers) {
    const last = runs[runs.length - 1];
    if (last?.to === number - 1) last.to = number;
    else runs.push({from: number, to: number});
  }
  const told = runs.slice(0, MAX_RUNS_TOLD).map(({from, to}) => (from === to ? `${from}` : `${from} to ${to}`)).join(", ");
  return told === "" ? "none" : runs.length > MAX_RUNS_TOLD ? `${told} and more` : told;
}

/* db: a connection of its own. */
export function startBlocks(db) {
  const input = byId("blocks-value"), column = byId("blocks-column"), error = byId("blocks-error");
  const seen = new Set(); // ids of the rows that were read
  db.watch("note_read", (id) => seen.add(id));
  db.exec(logTables);
  const ends = readEnds(db);

  /* Returns the number of blocks that were read. */
  function drawBlocks(found) {
    const blocksOf = (ids) => new Set(Array.from(ids, (id) => ends.findIndex((last) => id <= last)));
    const read = blocksOf(seen), hits = blocksOf(found);
    const told = (blocks) => runsOf([...blocks].sort((a, b) => a - b).map((block) => block + 1));
    const picture = byId("blocks-picture");
    picture.replaceChildren(...ends.map((last, i) => element("span", {
      class: `block${read.has(i) ? " read" : ""}${hits.has(i) ? " found" : ""}`,
      title: `block ${i + 1}: rows ${count(i === 0 ? 1 : ends[i - 1] + 1)} to ${count(last)}`,
    })));
    picture.setAttribute("aria-label", `${some(ends.length, "block")} in the order of the rows. Read: ${told(read)}. `
      + `With rows that were found: ${told(hits)}.`);
    return read.size;
  }

  function show() {
    let rows = [];
    seen.clear();
    error.hidden = true;
    try {
      [{rows}] = db.exec(`SELECT id, trace_id, message FROM log_index WHERE ${conditions[column.value]}`, [input.value], {maxMs: MAX_SEARCH_MS});
    } catch (failure) {
      error.hidden = false;
      error.textContent = failure.message;
    }
    const numRead = drawBlocks(rows.map(([id]) => id));
    byId("blocks-verdict").textContent = `${count(numRead)} of ${some(ends.length, "block")} read, ${some(rows.length, "row")} found. `
      + `SQLite looked at ${count(seen.size)} of ${count(NUM_LOG_ROWS)} rows.`;
    const place = byId("blocks-rows");
    place.hidden = rows.length === 0;
    const caption = rows.length > MAX_ROWS_SHOWN ? `The first ${MAX_ROWS_SHOWN} rows` : `The ${some(rows.length, "row").replace(/^1 /, "")}`;
    place.replaceChildren(element("table", {}, element("caption", {}, caption),
      element("thead", {}, element("tr", {}, ...["id", "trace_id", "message"].map((name) => element("th", {scope: "col"}, name)))),
      element("tbody", {}, ...rows.slice(0, MAX_ROWS_SHOWN).map((row) => element("tr", {}, ...row.map((value) => element("td", {}, String(value))))))));
  }

  function pick(name, value) {
    column.value = name;
    input.value = value;
    show();
  }

  const [[known]] = db.exec(`SELECT ${traceOf(777)}`)[0].rows;
  const picks = [["a trace", "trace_id", known], ["an absent one", "trace_id", "0123456789ABCDEF"], ...patterns.map((text) => [text, "message", text])];
  byId("blocks-picks").append(...picks.map(([title, name, value]) => {
    const button = element("button", {type: "button"}, title);
    button.addEventListener("click", () => pick(name, value));
    return button;
  }));
  input.addEventListener("input", show);
  column.addEventListener("change", show);
  byId("blocks-form").addEventListener("submit", (event) => event.preventDefault());
  pick("trace_id", known);
}
