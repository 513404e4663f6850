/* A filter of each encoding, filled key by key; rates in theory and as measured. */
import {drawChart} from "./chart.js";
import {byId, count, element, percent, some} from "./dom.js";
import {encodings} from "./encodings.js";
import {drawBits} from "./picture.js";

const NUM_ABSENT = 10000;
const NUM_MARKS = 16;
const FIRST_ABSENT = 1000; // beyond the keys that can be added

/* As good as random, and the same on every visit. */
function randomText(number) {
  let text = "";
  for (let i = 0, state = number; i < 2; i++) {
    state = Math.imul(state + 0x6d2b79f5 | 0, 0x9e3779b1);
    state = Math.imul(state ^ state >>> 15, 0x85ebca6b);
    state ^= state >>> 13;
    text += (state >>> 0).toString(16).padStart(8, "0");
  }
  return text;
}

const kinds = [
  ["Texts at random", randomText],
  ["E-mail addresses", (number) => `user${number}@example.org`],
  ["Sequential string keys", (number) => `cust-${String(number).padStart(11, "0")}`],
  ["Integers", (number) => number],
];

/* db: a connection of its own, whose tables no statement of the page's user can change. */
export function startFilters(db) {
  const controls = {kind: byId("bits-kind"), bitsPerKey: byId("bits-per-key"), capacity: byId("bits-capacity"), added: byId("bits-added")};
  const listeners = [];
  let lines = [];      // for each encoding: its shape, and what was measured
  let settled = 0;     // a number for each setting, so that an older one stops measuring

  db.exec("CREATE TABLE keys(number INTEGER PRIMARY KEY, key); CREATE TABLE absent(key)");
  controls.kind.append(...kinds.map(([title], i) => element("option", {value: i}, title)));

  const keyOf = (number) => kinds[controls.kind.value][1](number);
  const numbers = (from, num) => Array.from({length: num}, (_, i) => [from + i, keyOf(from + i)]);
  const setting = () => ({bitsPerKey: Number(controls.bitsPerKey.value), capacity: Number(controls.capacity.value),
    added: Number(controls.added.value)});

  function writeKeys() {
    db.exec("DELETE FROM keys; DELETE FROM absent");
    db.exec("INSERT INTO keys SELECT value ->> 0, value ->> 1 FROM json_each(?)",
      [JSON.stringify(numbers(1, 2 * controls.capacity.max))]);
    db.exec("INSERT INTO absent SELECT value ->> 1 FROM json_each(?)", [JSON.stringify(numbers(FIRST_ABSENT, NUM_ABSENT))]);
  }

  /* The filter of the first keys.  Without a row SQLite would not see the arguments: so one, with NULL, is always there. */
  function build(encoding, numKeys) {
    const {bitsPerKey, capacity} = setting();
    return db.exec("SELECT bloom_build(key, ?1, ?2, ?3) FROM (SELECT 1) LEFT JOIN keys ON number <= ?4",
      [bitsPerKey, capacity, encoding.name, numKeys])[0].rows[0][0];
  }

  const numPassed = (filter) => db.exec("SELECT sum(bloom_may_contain(?1, key)) FROM absent", [filter])[0].rows[0][0];

  function measure(line, numKeys) {
    let found = line.marks.find((mark) => mark.numKeys === numKeys);
    if (found === undefined) {
      const passed = numPassed(build(line.encoding, numKeys));
      found = {numKeys, passed, rate: passed / NUM_ABSENT};
      line.marks.push(found);
    }
    return found;
  }

  function figures(now) {
    const row = (title, name, cells) => element("tr", name ? {class: name} : {}, element("th", {scope: "row"}, title),
      ...cells.map((cell) => element("td", {}, cell)));
    const rates = (column) => now.map(({filter}) => db.exec(`SELECT ${column} FROM bloom_info(?)`, [filter])[0].rows[0][0]);
    const bitsSet = rates("bits_set");
    byId("bits-figures").tBodies[0].replaceChildren(
      row("Bytes", "", now.map(({filter}) => count(filter.length))),
      row("Bits", "", now.map(({shape}) => count(shape.numBits))),
      row("Bits that a key sets", "", now.map(({shape}) => String(shape.numProbes))),
      row("Bits set", "", bitsSet.map(count)),
      row("Share that is set", "", now.map(({shape}, i) => percent(bitsSet[i] / shape.numBits))),
      row("Rate in theory, for so many keys", "", now.map(({encoding, shape, numKeys}) => percent(encoding.theory(numKeys, shape)))),
      row("Rate by bloom_info, for these bits", "", rates("expected_fpr").map(percent)),
      row(`Of ${count(NUM_ABSENT)} absent keys passed`, "", now.map(({passed}) => count(passed))),
      row("Measured rate", "strong", now.map(({passed}) => percent(passed / NUM_ABSENT))));
  }

  /* What the last key set. */
  function lastKey(now, numKeys) {
    if (numKeys === 0) return "No key was added yet.";
    const parts = now.map(({encoding, bits, before}) => (
      `${encoding.title}: ${bits.length} bits, ${bits.filter((bit) => !before.isSet(bit)).length} of them new`));
    return `Key ${count(numKeys)} is ${keyOf(numKeys)}. ${parts.join(". ")}.`;
  }

  function show() {
    const {bitsPerKey, capacity, added} = setting();
    byId("bits-per-key-value").textContent = String(bitsPerKey);
    byId("bits-capacity-value").textContent = some(capacity, "key");
    byId("bits-added-value").textContent = count(added);
    const now = lines.map((line) => {
      const {encoding} = line;
      const filter = build(encoding, added);
      const shape = encoding.read(filter);
      const {passed} = measure(line, added);
      // Each bit once: two probes of a key may meet.
      const bits = added === 0 ? [] : [...new Set(encoding.way(encoding.keyBytes(keyOf(added)).bytes, shape).probes.map(({bit}) => bit))];
      const before = encoding.read(build(encoding, Math.max(0, added - 1)));
      return {encoding, filter, shape, passed, bits, before, numKeys: added};
    });
    for (const {encoding, shape, bits} of now) {
      const canvas = byId(`bits-${encoding.name}`);
      drawBits(canvas, shape, bits);
      canvas.setAttribute("aria-label", `The ${encoding.title} filter of ${some(added, "key")}: ${count(shape.numBits)} bits. `
        + `The last key has ${bits.length > 0 ? bits.join(", ") : "none"}.`);
    }
    figures(now);
    byId("bits-last").textContent = lastKey(now, added);
    showChart();
    for (const listener of listeners) listener(now);
  }

  function showChart() {
    const {capacity, added} = setting();
    const maxKeys = 2 * capacity;
    const summary = lines.map(({encoding, shape, marks}) => (
      `${encoding.title}: ${marks.filter(({numKeys}) => numKeys % (maxKeys / 4) === 0).sort((a, b) => a.numKeys - b.numKeys)
        .map(({numKeys, rate}) => `with ${numKeys} keys ${percent(rate)}, in theory ${percent(encoding.theory(numKeys, shape))}`)
        .join("; ")}`)).join(". ");
    drawChart(byId("bits-chart"), {lines, now: added, capacity, maxKeys, summary});
  }

  /* The marks one by one, so that the page stays awake. */
  function measureAll() {
    const mine = ++settled;
    const maxKeys = 2 * setting().capacity;
    let next = 1;
    byId("bits").setAttribute("aria-busy", "true");
    const go = () => {
      if (mine !== settled) return;
      for (const line of lines) measure(line, Math.round(maxKeys * next / NUM_MARKS));
      showChart();
      if (next++ < NUM_MARKS) setTimeout(go);
      else byId("bits").removeAttribute("aria-busy");
    };
    setTimeout(go);
  }

  /* After a change of what is in the filter, or how large it is. */
  function restart() {
    controls.added.max = 2 * controls.capacity.value;
    lines = encodings.map((encoding) => ({encoding, shape: encoding.read(build(encoding, 0)), marks: []}));
    show();
    measureAll();
  }

  function setAdded(numKeys) {
    controls.added.value = numKeys; // the slider knows its ends
    show();
  }

  controls.kind.addEventListener("change", () => {
    writeKeys();
    restart();
  });
  controls.bitsPerKey.addEventListener("input", restart);
  controls.capacity.addEventListener("input", restart);
  controls.added.addEventListener("input", show);
  byId("bits-add-1").addEventListener("click", () => setAdded(setting().added + 1));
  byId("bits-add-10").addEventListener("click", () => setAdded(setting().added + 10));
  byId("bits-empty").addEventListener("click", () => setAdded(0));
  byId("bits-form").addEventListener("submit", (event) => event.preventDefault());

  writeKeys();
  restart();
  return {show, setting, onChange: (listener) => listeners.push(listener)};
}
