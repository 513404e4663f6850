"""Parquet's split block filter: XXH64, header, blocks. Prints known answers, and compares itself with ./bloom."""
import math
import sqlite3
import struct

MASK = 0xffffffffffffffff
P1, P2, P3 = 0x9e3779b185ebca87, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9
P4, P5 = 0x85ebca77c2b2ae63, 0x27d4eb2f165667c5
SALTS = (0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
         0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31)
MARKS = bytes.fromhex("1c1c0000 1c1c0000 1c1c0000 00")


def rotated(x, n):
    return (x << n | x >> (64 - n)) & MASK


def mixed(acc, word):
    return rotated(acc + word * P2 & MASK, 31) * P1 & MASK


def hash(key):
    """XXH64 with seed 0."""
    at = 0
    if len(key) >= 32:
        accs = [P1 + P2 & MASK, P2, 0, -P1 & MASK]
        for at in range(0, len(key) - 31, 32):
            accs = [mixed(*pair) for pair in zip(accs, struct.unpack_from("<4Q", key, at))]
        at += 32
        h = sum(rotated(acc, n) for acc, n in zip(accs, (1, 7, 12, 18))) & MASK
        for acc in accs:
            h = ((h ^ mixed(0, acc)) * P1 + P4) & MASK
    else:
        h = P5
    h = h + len(key) & MASK
    while at + 8 <= len(key):
        h = (rotated(h ^ mixed(0, *struct.unpack_from("<Q", key, at)), 27) * P1 + P4) & MASK
        at += 8
    if at + 4 <= len(key):
        h = (rotated(h ^ struct.unpack_from("<I", key, at)[0] * P1 & MASK, 23) * P2 + P3) & MASK
        at += 4
    for byte in key[at:]:
        h = rotated(h ^ byte * P5 & MASK, 11) * P1 & MASK
    h = (h ^ h >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32


def header(num_blocks):
    n, varint = 2 * 32 * num_blocks, b""
    while n >= 128:
        varint += bytes([n & 127 | 128])
        n >>= 7
    return b"\x15" + varint + bytes([n]) + MARKS


def bits(h, num_blocks):
    """The eight bits of a hash, counted from block 0 on."""
    block = (h >> 32) * num_blocks >> 32
    for i, salt in enumerate(SALTS):
        yield 256 * block + 32 * i + ((h & 0xffffffff) * salt % 2**32 >> 27)


def build(keys, bits_per_key):
    num_blocks = max(1, math.ceil(len(keys) * bits_per_key / 256))
    blocks = bytearray(32 * num_blocks)
    for key in keys:
        for bit in bits(hash(key), num_blocks):
            blocks[bit // 8] |= 1 << bit % 8
    return header(num_blocks) + bytes(blocks)


def blocks_of(filter):
    """The blocks, or None if the bytes are no such filter."""
    num_blocks = len(filter) // 32          # a header is shorter than a block
    begin = header(num_blocks)
    if num_blocks == 0 or len(filter) != len(begin) + 32 * num_blocks or not filter.startswith(begin):
        return None
    return filter[len(begin):]


def may_contain(filter, key):
    blocks = blocks_of(filter)
    return all(blocks[bit // 8] >> bit % 8 & 1 for bit in bits(hash(key), len(blocks) // 32))


if __name__ == "__main__":
    for key in (b"", b"a", b"hello", struct.pack("<i", 1), struct.pack("<q", 0), struct.pack("<q", 1),
                struct.pack("<q", -1), struct.pack("<d", 1.5), struct.pack("<d", -0.0)):
        print(f"{key.hex() or '(empty)':<18}{hash(key):016x}")
    for key in (struct.pack("<q", 1), struct.pack("<i", 1), b"hello"):
        print(build([key], 1)[15:].hex())

    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension("./bloom")
    db.execute("CREATE TABLE t(k)")
    num_compared = 0
    for n in (1, 7, 100, 2000):
        db.execute("DELETE FROM t")
        keys = [b"key %d" % i * (i % 9) for i in range(n)]
        db.executemany("INSERT INTO t VALUES (?)", [(key,) for key in keys])
        for bits_per_key in (1, 9.5, 10, 100):
            theirs, = db.execute("SELECT bloom_build(k, ?, 'parquet') FROM t", (bits_per_key,)).fetchone()
            assert build(keys, bits_per_key) == theirs
            for key in keys[:50] + [b"absent %d" % i for i in range(200)]:
                answer, = db.execute("SELECT bloom_may_contain(?, ?)", (theirs, key)).fetchone()
                assert may_contain(theirs, key) == bool(answer)
                num_compared += 1
    print(f"{num_compared} answers agree")
