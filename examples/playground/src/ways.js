/* One key's way from value to bits, step by step. */
import {count, drawn, element, hex, hex32} from "./dom.js";

const MAX_BYTES_SHOWN = 32;

const step = (title, ...content) => element("li", {}, element("h4", {}, title), ...content);
const value = (...content) => element("p", {class: "value"}, ...content);
const note = (text) => element("p", {class: "quiet"}, text);

function bytesShown(bytes) {
  if (bytes.length === 0) return "no bytes";
  return hex(bytes.subarray(0, MAX_BYTES_SHOWN)) + (bytes.length > MAX_BYTES_SHOWN ? ` … (${count(bytes.length)} bytes)` : "");
}

function table(heads, rows) {
  return element("table", {},
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", {scope: "col"}, head)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", {}, cell))))));
}

/* One path for all set bits: a rectangle for each. */
function setBits(shape, from, to, place) {
  let path = "";
  for (let bit = from; bit < to; bit++) {
    if (!shape.isSet(bit)) continue;
    const [x, y, width, height] = place(bit);
    path += `M${x.toFixed(2)} ${y.toFixed(2)}h${width.toFixed(2)}v${height.toFixed(2)}h${(-width).toFixed(2)}z`;
  }
  return drawn("path", {class: "cell set", d: path});
}

const picture = (encoding, width, height, probes, shape) => drawn("svg", {
  class: encoding.name, viewBox: `0 0 ${width} ${height}`, role: "img",
  "aria-label": `Bits ${probes.map(({bit}) => bit).join(", ")} of ${count(shape.numBits)}`,
});

/* What a test reads: data-bit, and whether the filter above has it. */
const probeAttributes = ({bit}, shape) => ({class: shape.isSet(bit) ? "probe" : "probe miss", "data-bit": bit});

/* A fan from the hash to the array. */
function drawLeveldb(encoding, width, way, shape) {
  const height = 110, top = 82, bar = 20;
  const svg = picture(encoding, width, height, way.probes, shape);
  const x = (bit) => width * bit / shape.numBits;
  svg.append(drawn("rect", {class: "cell", x: 0, y: top, width, height: bar}),
    setBits(shape, 0, shape.numBits, (bit) => [x(bit), top, width / shape.numBits, bar]));
  for (const {bit} of way.probes) {
    svg.append(drawn("path", {class: "ray", d: `M${width / 2} 0 Q${width / 2} ${top / 2} ${x(bit + 0.5)} ${top}`}));
  }
  for (const probe of way.probes) {
    svg.append(drawn("circle", {...probeAttributes(probe, shape), cx: x(probe.bit + 0.5), cy: top + bar / 2, r: 6},
      drawn("title", {}, `bit ${probe.bit}`)));
  }
  return svg;
}

/* The row of blocks, and the one that was picked, enlarged. */
function drawParquet(encoding, width, way, shape) {
  const cell = Math.min(14, width / 32), top = 34, blocks = 20, zoomTop = top + blocks + 30;
  const left = (width - 32 * cell) / 2;
  const svg = picture(encoding, width, zoomTop + 8 * cell + 2, way.probes, shape);
  const blockWidth = width / shape.numBlocks;
  const [from, to] = [way.block * blockWidth, (way.block + 1) * blockWidth];
  for (let block = 0; block < shape.numBlocks; block++) {
    svg.append(drawn("rect", {class: "cell", x: block * blockWidth + 1, y: top, width: Math.max(1, blockWidth - 2), height: blocks}));
  }
  svg.append(drawn("path", {class: "ray", d: `M${width / 2} 0 Q${width / 2} ${top / 2} ${(from + to) / 2} ${top}`}),
    drawn("rect", {class: "box", x: from + 1, y: top, width: Math.max(1, blockWidth - 2), height: blocks}),
    drawn("path", {class: "grid-line", d: `M${from} ${top + blocks}L${left} ${zoomTop}M${to} ${top + blocks}L${left + 32 * cell} ${zoomTop}`}));

  const start = 256 * way.block;
  const place = (bit) => [left + (bit - start) % 32 * cell, zoomTop + Math.floor((bit - start) / 32) * cell, cell - 1, cell - 1];
  for (let bit = start; bit < start + 256; bit++) {
    const [x, y, size] = place(bit);
    svg.append(drawn("rect", {class: "cell", x, y, width: size, height: size}));
  }
  svg.append(setBits(shape, start, start + 256, place));
  for (const probe of way.probes) {
    const [x, y, size] = place(probe.bit);
    svg.append(drawn("rect", {...probeAttributes(probe, shape), x, y, width: size, height: size},
      drawn("title", {}, `bit ${probe.bit}`)));
  }
  return svg;
}

function hashSteps(encoding, way, shape) {
  if (encoding.name === "leveldb") {
    return [
      step("Hash", value(element("b", {}, hex32(way.hash))), note("LevelDB’s hash, 32 bits"),
        value("delta ", element("b", {}, hex32(way.delta))), note("the hash, rotated by 17 bits")),
      step("Probes", note(`Hash + i × delta, modulo the ${count(shape.numBits)} bits of the filter`),
        table(["i", "sum", "bit"], way.probes.map(({sum, bit}, i) => [String(i), hex32(sum), count(bit)]))),
    ];
  }
  return [
    step("Hash", value(element("b", {}, hex32(way.upper)), " ", element("b", {}, hex32(way.lower))), note("XXH64, 64 bits: two halves"),
      value("block ", element("b", {}, String(way.block))),
      note(`of 0 to ${shape.numBlocks - 1}: the upper half × ${shape.numBlocks}, without its lowest 32 bits`)),
    step("Probes", note("For each row of the block: the lower half × a constant. Its top 5 bits tell the place."),
      table(["row", "product", "place"], way.probes.map(({product, bit}, i) => [String(i), hex32(product), String(bit % 32)]))),
  ];
}

/*
** The steps of one encoding.  key: value, type and literal of the SQL value; shape: the
** filter above, as its encoding read it; alone: that of the filter with this key alone;
** answer: what bloom_may_contain says of the filter above.
*/
export function waySteps(encoding, {key, shape, alone, answer, width}) {
  const {bytes, how} = encoding.keyBytes(key.value);
  const way = encoding.way(bytes, shape);
  const bits = new Set(way.probes.map(({bit}) => bit));
  let isSame = alone.numBits === shape.numBits;
  for (let bit = 0; bit < alone.numBits; bit++) isSame = isSame && alone.isSet(bit) === bits.has(bit);
  const numMissing = [...bits].filter((bit) => !shape.isSet(bit)).length;
  const draw = encoding.name === "leveldb" ? drawLeveldb : drawParquet;
  return [
    step("SQL value", value(element("b", {}, key.literal)), note(key.type)),
    step("Key bytes", value(element("b", {}, bytesShown(bytes))), note(how)),
    ...hashSteps(encoding, way, shape),
    step("Bits", draw(encoding, width, way, shape),
      element("p", {class: "verdict"}, answer === 0 ? `no: surely not there. ${numMissing} of its ${bits.size} bits ${numMissing === 1 ? "is" : "are"} not set.`
        : `maybe: all of its ${bits.size} bits are set.`),
      element("p", {class: "quiet", "data-check": isSame ? "same" : "different"}, isSame
        ? "✓ bloom_build sets exactly these bits for this key alone."
        : "✗ bloom_build sets other bits for this key.")),
  ];
}
