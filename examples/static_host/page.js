/*
** The page: what a person searches for becomes SQL, which the worker runs; what it fetched is shown.
**
** In the page's address ?db= names another file, ?unit= the bytes of a unit and ?ahead= the most
** units of a request (worker.js).
*/
"use strict";

const MAX_ROWS = 1000, MAX_SHOWN = 20; // a search ends with so many rows
const options = new URLSearchParams(location.search);
const find = (id) => document.getElementById(id);
const ways = {
  bloom_index: {name: "bloom_index", table: "log_index", button: find("by-index")},
  fts: {name: "FTS5", table: "log", button: find("by-fts")},
  scan: {name: "reading it all", table: "log", button: find("by-scan")},
};
let worker = null, size = 0, search = null; // the search that runs: {way, label}

const number = new Intl.NumberFormat("en");
const bytesText = (bytes) => bytes < 1e6 ? `${number.format(Math.round(bytes / 1000))} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
const timeText = (ms) => ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
const count = (n, what) => `${number.format(n)} ${what}${n === 1 ? "" : "s"}`;

/* -- The worker ---------------------------------------------------------------------------- */

function start() {
  setBusy(true);
  find("state").textContent = "Opening the file…";
  worker = new Worker("worker.js");
  worker.onmessage = ({data}) => {
    if ("progress" in data) showProgress(data.progress);
    if ("opened" in data) showOpened(data.opened);
    if ("answer" in data) showAnswer(data.answer);
    if ("error" in data) showError(data.error);
  };
  worker.onerror = (event) => showError(`the page's worker does not run: ${event.message}. From the disk it cannot: use a web server`);
  worker.postMessage({open: {
    url: new URL(options.get("db") ?? "log.db", location.href).href,
    unit: Number(options.get("unit") ?? 16384), ahead: Number(options.get("ahead") ?? 128),
  }});
}

function setBusy(isBusy) {
  for (const {button} of Object.values(ways)) button.disabled = isBusy;
  find("stop").disabled = !isBusy || search === null;
  find("search").setAttribute("aria-busy", isBusy);
}

/* -- Searching ----------------------------------------------------------------------------- */

/* The seconds since 1970 of a field, or null. */
function timeOf(id) {
  const text = find(id).value;
  return text === "" ? null : Date.parse(`${text}Z`) / 1000;
}

/* The query that the fields ask, or null if all are empty. */
function queryOf(way) {
  const text = find("text").value, trace = find("trace").value.trim(), from = timeOf("from"), until = timeOf("until");
  const conditions = [], parameters = [], labels = [];
  const add = (condition, parameter, label) => {
    conditions.push(condition);
    parameters.push(parameter);
    labels.push(label);
  };
  if (text !== "") {
    add(way === ways.fts ? "id IN (SELECT rowid FROM log_fts WHERE message LIKE ?)" : "message LIKE ?", `%${text}%`, text);
  }
  if (trace !== "") add("trace_id = ?", trace, `trace ${trace}`);
  if (from !== null) add("ts >= ?", from, `from ${find("from").value.replace("T", " ")}`);
  if (until !== null) add("ts < ?", until, `until ${find("until").value.replace("T", " ")}`);
  if (conditions.length === 0) return null;
  return {sql: `SELECT id, datetime(ts, 'unixepoch'), trace_id, message FROM ${way.table} WHERE ${conditions.join(" AND ")} ORDER BY id`,
    parameters, label: labels.join(", ")};
}

function run(way) {
  const query = queryOf(way);
  hideError();
  if (query === null) {
    showError("Write what to search for: a piece of the message, a trace id or a time");
    return;
  }
  if (way === ways.fts && find("text").value.length < 3) {
    showError("FTS5's trigram index finds pieces of at least 3 characters, and messages alone: write a piece of the message");
    return;
  }
  search = {way, label: query.label};
  setBusy(true);
  find("progress").textContent = `Searching by ${way.name}…`;
  find("progress").scrollIntoView({block: "nearest"}); // on a phone it is below the fields
  worker.postMessage({query: {...query, maxRows: MAX_ROWS, forget: find("forget").checked}});
}

/* -- What is shown ------------------------------------------------------------------------- */

function showOpened({versions, requests, bytes, size: its}) {
  size = its;
  find("state").textContent = `The file has ${bytesText(size)}. To open it, ${count(requests, "request")} fetched ${bytesText(bytes)} of it. SQLite ${versions}.`;
  search = null;
  setBusy(false);
}

function showProgress({requests, bytes}) {
  if (search === null) return;
  find("progress").textContent = `Searching by ${search.way.name}: ${count(requests, "request")}, ${bytesText(bytes)} so far…`;
}

function cell(text, isNumber) {
  const td = document.createElement("td");
  td.textContent = text;
  if (isNumber) td.className = "number";
  return td;
}

function showAnswer({rows, isCut, requests, bytes, ms}) {
  const {way, label} = search, body = find("ways").tBodies[0], row = document.createElement("tr");
  const num = number.format(rows.length) + (isCut ? "+" : "");
  search = null;
  row.append(cell(way.name), cell(label), cell(num, true), cell(number.format(requests), true),
    cell(bytesText(bytes), true), cell(`${(100 * bytes / size).toFixed(2)} %`, true), cell(timeText(ms), true));
  body.querySelector(".none")?.remove();
  body.prepend(row);
  find("progress").textContent = `${num} row${num === "1" ? "" : "s"} found by ${way.name}, with ${count(requests, "request")} and ${bytesText(bytes)}, in ${timeText(ms)}.`;
  find("progress").scrollIntoView({block: "nearest"});
  find("rows-note").textContent = rows.length > MAX_SHOWN ? `The first ${MAX_SHOWN} of ${num}.` : "";
  find("rows").replaceChildren(...rows.slice(0, MAX_SHOWN).map(([id, time, trace, message]) => {
    const item = document.createElement("li"), head = document.createElement("span");
    head.className = "quiet";
    head.textContent = `${id}  ${time}  ${trace}  `;
    item.append(head, message);
    return item;
  }));
  setBusy(false);
}

function showError(message) {
  const wasOpening = size === 0;
  find("error").hidden = false;
  find("error").textContent = message[0].toUpperCase() + message.slice(1) + ".";
  find("error").scrollIntoView({block: "nearest"});
  find("progress").textContent = "";
  search = null;
  if (wasOpening) {
    find("state").textContent = "The file is not open.";
  } else {
    setBusy(false);
  }
}

function hideError() {
  find("error").hidden = true;
}

/* -- What a person does -------------------------------------------------------------------- */

find("search").addEventListener("submit", (event) => {
  event.preventDefault();
  if (find("search").getAttribute("aria-busy") !== "true") run(ways[event.submitter?.value ?? "bloom_index"]);
});

find("stop").addEventListener("click", () => {
  worker.terminate();
  search = null;
  find("progress").textContent = "Stopped.";
  start();
});

function fill({text = "", trace = "", from = "", until = ""}) {
  Object.entries({text, trace, from, until}).forEach(([id, value]) => { find(id).value = value; });
  find("by-index").focus();
}

for (const button of document.querySelectorAll("#picks [data-text]")) {
  button.addEventListener("click", () => fill(button.dataset));
}
find("pick-trace").addEventListener("click", () => fill(find("pick-trace").dataset));

start();
