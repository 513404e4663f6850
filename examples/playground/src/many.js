/* Large filters of keys at random, and of keys that look alike. */
import {byId, count, element, percent} from "./dom.js";
import {encodings} from "./encodings.js";

const NUM_MANY = 100000;
const NUM_TESTED = 10000;
/* Keys as SQL makes them from a number; SipHash makes random ones, the same on every visit. */
const manyKinds = [
  ["Texts at random", "lower(hex(bloom_key(i, 'siphash', zeroblob(16))))"],
  ["Sequential string keys", "printf('cust-%011d', i)"],
];
const series = (from, step, num) => (
  `(WITH RECURSIVE n(i) AS (SELECT ${from} UNION ALL SELECT i + ${step} FROM n LIMIT ${num}) SELECT i FROM n)`);

/* db: a connection of its own. */
export function startMany(db) {
  const button = byId("many-run"), status = byId("many-status");

  function run() {
    const rows = manyKinds.map(([title, key]) => {
      const rates = encodings.map(({name}) => {
        const [[filter]] = db.exec(`SELECT bloom_build(${key}, '${name}') FROM ${series(2, 2, NUM_MANY)}`)[0].rows;
        return db.exec(`SELECT avg(bloom_may_contain(?, ${key})) FROM ${series(1, 2, NUM_TESTED)}`, [filter])[0].rows[0][0];
      });
      return element("tr", {}, element("th", {scope: "row"}, title), ...rates.map((rate) => element("td", {class: "number"}, percent(rate))));
    });
    const figures = byId("many-figures");
    figures.tBodies[0].replaceChildren(...rows);
    figures.parentElement.hidden = false;
    status.textContent = `${count(NUM_MANY)} keys in each filter, ${count(NUM_TESTED)} absent ones tested`;
    button.disabled = false;
  }

  button.addEventListener("click", () => {
    button.disabled = true;
    status.textContent = "Measuring…";
    setTimeout(run, 50); // the page shows that first
  });
  button.disabled = false;
}
