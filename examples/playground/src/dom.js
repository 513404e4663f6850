/* Small helpers: elements, and numbers as people read them. */

export const byId = (id) => document.getElementById(id);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

export const element = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

export const drawn = (tag, attributes = {}, ...children) => (
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children));

const grouped = new Intl.NumberFormat("en");
export const count = (number) => grouped.format(number);

export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
export const hex32 = (number) => number.toString(16).padStart(8, "0");

/* 0.00844 is 0.84 %: two digits that count. */
export function percent(share) {
  const value = 100 * share;
  if (value === 0) return "0 %";
  if (value < 0.001) return "< 0.001 %";
  return `${value.toFixed(value >= 10 ? 1 : value >= 0.1 ? 2 : 3)} %`;
}

/* "1 key", "2 keys" */
export const some = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;
