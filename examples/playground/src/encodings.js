/* The two encodings: which bytes a SQL value has, which bits a key sets, and what theory says. */
import {leveldbHash, xxh64} from "./hashes.js";

const utf8Encoder = new TextEncoder();

/* A number or bigint that SQL has as an integer of 64 bits, as a bigint; else null. */
function integerOf(value) {
  if (typeof value === "bigint") return value;
  const limit = 2 ** 63;
  return Number.isInteger(value) && value >= -limit && value < limit ? BigInt(value) : null;
}

function eightBytes(write) {
  const view = new DataView(new ArrayBuffer(8));
  write(view);
  return new Uint8Array(view.buffer);
}

/* What bytes and texts are in every encoding; numbers differ. How: in words. */
function keyBytes(value, integerBytes) {
  if (value instanceof Uint8Array) return {bytes: value, how: "the bytes of the BLOB"};
  if (typeof value === "string") return {bytes: utf8Encoder.encode(value), how: "the text in UTF-8"};
  const integer = integerOf(value);
  if (integer !== null) return integerBytes(integer);
  return {bytes: eightBytes((view) => view.setFloat64(0, value, true)), how: "8 bytes of floating point, little-endian"};
}

const bitAt = (bytes, bit) => bytes[bit >> 3] >> (bit & 7) & 1;

export const leveldb = {
  name: "leveldb",
  title: "LevelDB",
  keyBytes: (value) => keyBytes(value, (integer) => (
    {bytes: utf8Encoder.encode(String(integer)), how: "the integer’s decimal text"})),

  /* What a filter's bytes say of its shape: isSet(bit) reads them. */
  read(filter) {
    const numBits = 8 * (filter.length - 1);
    return {numBits, numProbes: filter[filter.length - 1], isSet: (bit) => bitAt(filter, bit) === 1};
  },

  /* A step for each probe: the sum that is taken modulo num_bits. */
  way(bytes, {numBits, numProbes}) {
    const hash = leveldbHash(bytes);
    const delta = (hash >>> 17 | hash << 15) >>> 0;
    const probes = [];
    for (let i = 0, sum = hash; i < numProbes; i++, sum = (sum + delta) >>> 0) probes.push({sum, bit: sum % numBits});
    return {hash, delta, probes};
  },

  theory: (numKeys, {numBits, numProbes}) => (1 - (1 - 1 / numBits) ** (numKeys * numProbes)) ** numProbes,
};

const SALTS = [0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31];

export const parquet = {
  name: "parquet",
  title: "Parquet",
  keyBytes: (value) => keyBytes(value, (integer) => (
    {bytes: eightBytes((view) => view.setBigInt64(0, integer, true)), how: "the integer’s 8 bytes, little-endian"})),

  read(filter) {
    const numBlocks = Math.floor(filter.length / 32); // a header is shorter than a block
    const blocks = filter.subarray(filter.length - 32 * numBlocks);
    return {numBits: 256 * numBlocks, numBlocks, numProbes: 8, isSet: (bit) => bitAt(blocks, bit) === 1};
  },

  /* A step for each word of the block that the upper half picks. */
  way(bytes, {numBlocks}) {
    const hash = xxh64(bytes);
    const upper = Number(hash >> 32n), lower = Number(hash & 0xffffffffn);
    const block = Number(BigInt(upper) * BigInt(numBlocks) >> 32n);
    const probes = SALTS.map((salt, word) => {
      const product = Math.imul(lower, salt) >>> 0;
      return {product, bit: 256 * block + 32 * word + (product >>> 27)};
    });
    return {hash, upper, lower, block, probes};
  },

  /* Keys fall into blocks as balls into bins: the sum over how many a block has. */
  theory(numKeys, {numBlocks}) {
    const share = 1 / numBlocks;
    let sum = 0;
    let chance = numBlocks === 1 ? 0 : (1 - share) ** numKeys; // that a block has no key
    if (numBlocks === 1) return (1 - (31 / 32) ** numKeys) ** 8;
    for (let inBlock = 1; inBlock <= numKeys; inBlock++) {
      chance *= (numKeys - inBlock + 1) / inBlock * share / (1 - share);
      sum += chance * (1 - (31 / 32) ** inBlock) ** 8;
    }
    return sum;
  },
};

export const encodings = [leveldb, parquet];
