/* The two hashes, as ext/FORMATS.md describes them. Bytes are Uint8Arrays. */

const littleEndian = (bytes, at, num) => {
  let value = 0n;
  for (let i = num - 1; i >= 0; i--) value = value << 8n | BigInt(bytes[at + i]);
  return value;
};

/* LevelDB's: a number of 32 bits. */
export function leveldbHash(bytes) {
  const multiplier = 0xc6a4a793;
  let h = (0xbc9f1d34 ^ Math.imul(bytes.length, multiplier)) >>> 0;
  let at = 0;
  for (; at + 4 <= bytes.length; at += 4) {
    h = Math.imul(h + Number(littleEndian(bytes, at, 4)) | 0, multiplier);
    h = (h ^ h >>> 16) >>> 0;
  }
  if (at < bytes.length) {
    h = Math.imul(h + Number(littleEndian(bytes, at, bytes.length - at)) | 0, multiplier);
    h ^= h >>> 24;
  }
  return h >>> 0;
}

const P1 = 0x9e3779b185ebca87n, P2 = 0xc2b2ae3d27d4eb4fn, P3 = 0x165667b19e3779f9n;
const P4 = 0x85ebca77c2b2ae63n, P5 = 0x27d4eb2f165667c5n;
const to64 = (value) => BigInt.asUintN(64, value);
const rotated = (value, n) => to64(value << n | value >> (64n - n));
const mixed = (lane, word) => to64(rotated(to64(lane + word * P2), 31n) * P1);

/* XXH64 with seed 0, which Parquet takes: a bigint of 64 bits. */
export function xxh64(bytes) {
  let at = 0;
  let h = P5;
  if (bytes.length >= 32) {
    let lanes = [to64(P1 + P2), P2, 0n, to64(-P1)];
    for (; at + 32 <= bytes.length; at += 32) {
      const start = at;
      lanes = lanes.map((lane, i) => mixed(lane, littleEndian(bytes, start + 8 * i, 8)));
    }
    const shifts = [1n, 7n, 12n, 18n];
    h = to64(lanes.reduce((sum, lane, i) => sum + rotated(lane, shifts[i]), 0n));
    for (const lane of lanes) h = to64((h ^ mixed(0n, lane)) * P1 + P4);
  }
  h = to64(h + BigInt(bytes.length));
  for (; at + 8 <= bytes.length; at += 8) h = to64(rotated(h ^ mixed(0n, littleEndian(bytes, at, 8)), 27n) * P1 + P4);
  for (; at + 4 <= bytes.length; at += 4) h = to64(rotated(h ^ to64(littleEndian(bytes, at, 4) * P1), 23n) * P2 + P3);
  for (; at < bytes.length; at++) h = to64(rotated(h ^ to64(BigInt(bytes[at]) * P5), 11n) * P1);
  h = to64((h ^ h >> 33n) * P2);
  h = to64((h ^ h >> 29n) * P3);
  return h ^ h >> 32n;
}
