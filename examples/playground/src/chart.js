/* False positive rate by the number of keys: a line of theory and measured marks for each encoding. */
import {drawn} from "./dom.js";

const HEIGHT = 280, LEFT = 52, RIGHT = 72, TOP = 12, BOTTOM = 44;
const LOWEST = 1e-4; // 0.01 %: one of the 10,000 absent keys that are asked for

/* A circle or a square, so that color is not all that tells them apart. */
function mark(encoding, x, y, isNow) {
  const name = `measured${isNow ? " now" : ""}`;
  const size = isNow ? 5 : 3.5;
  return encoding.name === "leveldb" ? drawn("circle", {class: name, cx: x, cy: y, r: size})
    : drawn("rect", {class: name, x: x - size, y: y - size, width: 2 * size, height: 2 * size});
}

/*
** lines: for each encoding {encoding, shape, marks: [{numKeys, rate}]}.  now: the number of
** keys in the filter; maxKeys: where the axis ends; capacity: what the filter was made for.
*/
export function drawChart(place, {lines, now, capacity, maxKeys, summary}) {
  const width = Math.max(240, place.clientWidth);
  const x = (numKeys) => LEFT + (width - LEFT - RIGHT) * numKeys / maxKeys;
  const y = (rate) => TOP + (HEIGHT - TOP - BOTTOM) * Math.log10(Math.min(1, rate)) / Math.log10(LOWEST);
  const svg = drawn("svg", {viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": summary, "font-size": 13});

  for (let rate = LOWEST; rate < 1.5; rate *= 10) {
    svg.append(drawn("line", {class: "grid-line", x1: LEFT, x2: width - RIGHT, y1: y(rate), y2: y(rate)}),
      drawn("text", {class: "quiet", x: LEFT - 8, y: y(rate) + 4, "text-anchor": "end"}, `${Number((100 * rate).toPrecision(1))} %`));
  }
  for (const numKeys of [0, capacity, maxKeys]) {
    svg.append(drawn("text", {class: "quiet", x: x(numKeys), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle"}, String(numKeys)));
  }
  svg.append(drawn("text", {class: "quiet", x: x(maxKeys / 2), y: HEIGHT - 6, "text-anchor": "middle"}, "keys added"),
    drawn("line", {class: "grid-line", x1: x(capacity), x2: x(capacity), y1: TOP, y2: HEIGHT - BOTTOM}),
    drawn("line", {class: "marker", x1: x(now), x2: x(now), y1: TOP, y2: HEIGHT - BOTTOM}));

  const ends = lines.map(({encoding, shape}) => y(encoding.theory(maxKeys, shape)));
  if (ends.length === 2 && Math.abs(ends[0] - ends[1]) < 16) {
    const middle = (ends[0] + ends[1]) / 2, sign = ends[0] <= ends[1] ? 1 : -1;
    ends[0] = middle - 8 * sign;
    ends[1] = middle + 8 * sign;
  }
  lines.forEach(({encoding, shape, marks}, i) => {
    const group = drawn("g", {class: encoding.name});
    const points = [];
    for (let numKeys = 1; numKeys <= maxKeys; numKeys++) {
      const rate = encoding.theory(numKeys, shape);
      if (rate >= LOWEST) points.push(`${x(numKeys).toFixed(1)},${y(rate).toFixed(1)}`);
    }
    group.append(drawn("polyline", {class: "theory", points: points.join(" ")}),
      drawn("text", {class: "end", x: width - RIGHT + 8, y: ends[i] + 4}, encoding.title));
    for (const {numKeys, rate} of marks) {
      if (rate >= LOWEST) group.append(mark(encoding, x(numKeys), y(rate), numKeys === now));
    }
    svg.append(group);
  });
  place.replaceChildren(svg);
}
