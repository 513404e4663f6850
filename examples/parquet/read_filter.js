/*
** The Bloom filter at an offset in a Parquet file, header and all, as bloom reads it; null, which
** may contain every key, if there is none, or one of a kind that bloom does not know.
**
** Its length is the one that its header states.  The footer's bloom_filter_length is optional:
** parquet-java before 1.14 and others leave it out.
*/
'use strict';

const fs = require('fs');

const MARKS = Buffer.from('1c1c00001c1c00001c1c000000', 'hex'); // split blocks, XXH64, uncompressed
const MAX_HEADER_BYTES = 6 + MARKS.length;

function readAt(file, start, numBytes) {
  const bytes = Buffer.alloc(numBytes);
  return bytes.subarray(0, fs.readSync(file, bytes, 0, numBytes, start));
}

// The bytes of header and blocks, or 0.  After 0x15 twice the bytes of all blocks, seven bits a byte.
function statedLength(header) {
  let doubled = 0;
  let at = 1;
  if (header[0] !== 0x15) return 0;
  for (let scale = 1; ; scale *= 128, at++) {
    if (at >= MAX_HEADER_BYTES - MARKS.length || at >= header.length) return 0;
    doubled += (header[at] & 127) * scale;
    if (header[at] < 128) break;
  }
  at += 1 + MARKS.length;
  return header.subarray(at - MARKS.length, at).equals(MARKS) ? at + doubled / 2 : 0;
}

function readFilter(file, offset) {
  if (offset === null || offset === undefined) return null;
  const length = statedLength(readAt(file, Number(offset), MAX_HEADER_BYTES));
  if (length === 0 || length > fs.fstatSync(file).size - Number(offset)) return null;
  return readAt(file, Number(offset), length);
}

module.exports = { readFilter };
