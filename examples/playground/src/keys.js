/* One key's way: the value that is typed, followed through both encodings. */
import {byId, element} from "./dom.js";
import {encodings} from "./encodings.js";
import {waySteps} from "./ways.js";

const MAX_KEY_MS = 2000;
const picks = ["'hello'", "42", "'42'", "42.0", "0.5", "x'ff00'", "NULL"];
const TEXT = "?5";

/* A row for each encoding: what the key is, its own filter, the answer of the filter above. */
const QUERY = (expression) => `
  WITH k(v) AS MATERIALIZED (SELECT (${expression}
  )),
  f(encoding, filter) AS (VALUES ('leveldb', ?3), ('parquet', ?4))
  SELECT v, upper(typeof(v)), quote(v), bloom_build(v, ?1, ?2, encoding), bloom_may_contain(filter, v)
    FROM k, f GROUP BY encoding`;

export function startKeys(db, filters) {
  const input = byId("key-value"), type = byId("key-type"), error = byId("key-error");
  let now = [];

  function fail(message) {
    error.hidden = message === "";
    error.textContent = message;
  }

  function show() {
    const {bitsPerKey, capacity} = filters.setting();
    const isText = type.value === "text";
    let rows;
    // A text is bound, so that whatever is typed is a key: a quote, or nothing at all.
    if (!isText && input.value.trim() === "") {
      fail("Type an SQL value, such as 42 or 'hello'.");
      return;
    }
    try {
      if (!isText) db.exec(`SELECT (${input.value}\n)`, [], {maxMs: MAX_KEY_MS});
      [{rows}] = db.exec(QUERY(isText ? TEXT : input.value), [bitsPerKey, capacity, ...now.map(({filter}) => filter), input.value],
        {maxMs: MAX_KEY_MS});
    } catch (failure) {
      const [message] = failure.message.split("\n");
      fail(/^no such column/.test(message) ? `${message}. Write texts in quotes: 'hello'.` : message);
      return;
    }
    if (rows.length !== encodings.length) {
      fail("That is not one SQL value.");
      return;
    }
    if (rows[0][0] === null) {
      fail("NULL is no key: it is never added, and a filter's answer for it is NULL.");
      return;
    }
    fail("");
    encodings.forEach((encoding, i) => {
      const [value, sqlType, literal, alone, answer] = rows[i];
      const place = byId(`key-${encoding.name}`);
      place.replaceChildren(...waySteps(encoding, {
        key: {value, type: sqlType, literal}, shape: now[i].shape, alone: encoding.read(alone), answer,
        width: Math.max(200, place.clientWidth - 24),
      }));
    });
  }

  input.addEventListener("input", show);
  type.addEventListener("change", show);
  byId("key-form").addEventListener("submit", (event) => event.preventDefault());
  byId("key-picks").append(...picks.map((pick) => {
    const button = element("button", {type: "button"}, pick);
    button.addEventListener("click", () => {
      input.value = pick;
      type.value = "sql";
      show();
    });
    return button;
  }));
  filters.onChange((changed) => {
    now = changed;
    show();
  });
  filters.show();
  return {show};
}
