/* One key's way: the value that is typed, followed through both encodings. */
import {byId, element} from "./dom.js";
import {encodings} from "./encodings.js";
import {waySteps} from "./ways.js";

const MAX_KEY_MS = 2000;
const picks = ["'hello'", "42", "'42'", "42.0", "0.5", "x'ff00'", "NULL"];

/* A row for each encoding: what the key is, its own filter, the answer of the filter above. */
const QUERY = (expression) => `
  WITH k(v) AS MATERIALIZED (SELECT (${expression}
  )),
  f(encoding, filter) AS (VALUES ('leveldb', ?3), ('parquet', ?4))
  SELECT v, upper(typeof(v)), quote(v), bloom_build(v, ?1, ?2, encoding), bloom_may_contain(filter, v)
    FROM k, f GROUP BY encoding`;

export function startKeys(db, filters) {
  const input = byId("key-value"), error = byId("key-error");
  let now = [];

  function fail(message) {
    error.hidden = message === "";
    error.textContent = message;
  }

  function show() {
    const {bitsPerKey, capacity} = filters.setting();
    let rows;
    try {
      [{rows}] = db.exec(QUERY(input.value), [bitsPerKey, capacity, ...now.map(({filter}) => filter)], {maxMs: MAX_KEY_MS});
    } catch (failure) {
      fail(/^no such column/.test(failure.message) ? `${failure.message}. Write texts in quotes: 'hello'.` : failure.message);
      return;
    }
    if (rows[0][0] === null) {
      fail("NULL is no key: it is never added, and asking for it gives NULL.");
      return;
    }
    fail("");
    encodings.forEach((encoding, i) => {
      const [value, type, literal, alone, answer] = rows[i];
      const place = byId(`key-${encoding.name}`);
      place.replaceChildren(...waySteps(encoding, {
        key: {value, type, literal}, shape: now[i].shape, alone: encoding.read(alone), answer,
        width: Math.max(200, place.clientWidth - 24),
      }));
    });
  }

  input.addEventListener("input", show);
  byId("key-form").addEventListener("submit", (event) => event.preventDefault());
  byId("key-picks").append(...picks.map((pick) => {
    const button = element("button", {type: "button"}, pick);
    button.addEventListener("click", () => {
      input.value = pick;
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
