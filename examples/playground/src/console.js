/* The SQL editor and its results. */
import {byId, count, element, hex, some} from "./dom.js";
import {examples} from "./sample.js";

const MAX_ROWS = 200;
const MAX_MS = 10000;
const MAX_BLOB_SHOWN = 24;

function cell(value) {
  if (value === null) return element("td", {class: "null"}, "NULL");
  if (value instanceof Uint8Array) {
    const digits = hex(value.subarray(0, MAX_BLOB_SHOWN)).replaceAll(" ", "");
    return element("td", {}, value.length > MAX_BLOB_SHOWN ? `x'${digits}…' (${count(value.length)} bytes)` : `x'${digits}'`);
  }
  return element("td", typeof value === "string" ? {} : {class: "number"}, String(value));
}

function resultTable({columns, rows, isCut}, number) {
  const isNumber = columns.map((_, i) => rows.some((row) => typeof row[i] === "number" || typeof row[i] === "bigint"));
  const heads = columns.map((name, i) => element("th", {scope: "col", ...(isNumber[i] && {class: "number"})}, name));
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...heads)),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell)))));
  // A focus of its own, so that the keyboard can scroll it.
  const region = element("div", {class: "scroll", role: "region", tabindex: "0", "aria-label": `Result ${number}`}, table);
  return isCut ? [region, element("p", {class: "quiet"}, `The first ${MAX_ROWS} rows.`)] : [region];
}

export function startConsole(db) {
  const text = byId("sql-text"), example = byId("sql-example"), error = byId("sql-error");

  function run() {
    const start = performance.now();
    let results = [], message = "";
    try {
      results = db.exec(text.value, [], {maxRows: MAX_ROWS, maxMs: MAX_MS});
    } catch (failure) {
      message = failure.message === "interrupted" ? `interrupted, after ${MAX_MS / 1000} seconds` : failure.message;
    }
    const ms = performance.now() - start;
    error.hidden = message === "";
    error.textContent = message;
    byId("sql-results").replaceChildren(...results.flatMap((result, i) => resultTable(result, i + 1)));
    const numRows = results.reduce((sum, {rows}) => sum + rows.length, 0);
    byId("sql-status").textContent = message ? "" : `${some(numRows, "row")} in ${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  }

  example.append(...examples.map(([title], i) => element("option", {value: i}, title)));
  example.addEventListener("change", () => {
    text.value = examples[example.value][1];
    run();
  });
  byId("sql-form").addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    }
  });
  text.value = examples[0][1];
  byId("sql-run").disabled = false;
  run();
}
