/* A filter's bits as squares, 64 a row; Parquet's blocks of 256 as 8 rows of 32, two side by side. */

const COLUMNS = 64;

/* Column and row of a bit, in squares; blocks keep a square's distance. */
export function placeOf(bit, hasBlocks) {
  if (!hasBlocks) return [bit % COLUMNS, Math.floor(bit / COLUMNS)];
  const block = bit >> 8, inBlock = bit & 255;
  return [33 * (block & 1) + (inBlock & 31), 9 * (block >> 1) + (inBlock >> 5)];
}

/* shape: what an encoding's read() returns; marked: bits to be framed. */
export function drawBits(canvas, shape, marked) {
  const style = getComputedStyle(canvas);
  const color = (name) => style.getPropertyValue(name);
  const hasBlocks = shape.numBlocks !== undefined;
  const [, lastRow] = placeOf(shape.numBits - 1, hasBlocks);
  const scale = window.devicePixelRatio || 1;
  // Whole pixels, so that the squares are of one size.
  const square = Math.max(2, Math.floor(canvas.clientWidth * scale / (COLUMNS + 2)));
  const gap = square >= 5 ? Math.max(1, Math.round(square / 8)) : 0;
  const line = Math.max(1.5 * scale, square / 4), inset = Math.ceil(line); // of the frames
  canvas.width = Math.round(canvas.clientWidth * scale);
  canvas.height = square * (lastRow + 1) + 2 * inset;
  canvas.style.height = `${canvas.height / scale}px`;
  Object.assign(canvas.dataset, {square, inset});

  const context = canvas.getContext("2d");
  context.translate(inset, inset);
  const ours = color(hasBlocks ? "--parquet" : "--leveldb"), empty = color("--empty");
  for (let bit = 0; bit < shape.numBits; bit++) {
    const [column, row] = placeOf(bit, hasBlocks);
    context.fillStyle = shape.isSet(bit) ? ours : empty;
    context.fillRect(column * square, row * square, square - gap, square - gap);
  }
  context.strokeStyle = color("--ink");
  // Around the square, so that its own color stays.
  const around = square - gap + line;
  context.lineWidth = line;
  for (const bit of marked) {
    const [column, row] = placeOf(bit, hasBlocks);
    context.strokeRect(column * square - line / 2, row * square - line / 2, around, around);
  }
}
