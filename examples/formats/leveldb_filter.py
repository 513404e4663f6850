"""LevelDB's filter: its hash, probes and bits, as ext/FORMATS.md has them. Prints known answers, and compares itself with ./bloom."""
import math
import sqlite3
import struct

MASK = 0xffffffff
SEED = 0xbc9f1d34
MULTIPLIER = 0xc6a4a793


def hash(key):
    """The 32-bit hash of a key's bytes: little-endian words, then the rest."""
    h = SEED ^ (len(key) * MULTIPLIER & MASK)
    num_words = len(key) // 4
    for word in struct.unpack(f"<{num_words}I", key[:4 * num_words]):
        h = (h + word) * MULTIPLIER & MASK
        h ^= h >> 16
    rest = key[4 * num_words:]              # 0 to 3 bytes, unsigned
    if rest:
        h = (h + int.from_bytes(rest, "little")) * MULTIPLIER & MASK
        h ^= h >> 24
    return h


def positions(h, num_probes, num_bits):
    """The bits of a hash: one hash drives every probe."""
    delta = h >> 17 | h << 15 & MASK        # rotated right by 17
    for _ in range(num_probes):
        yield h % num_bits
        h = h + delta & MASK


def build(keys, bits_per_key):
    num_bits = max(64, math.ceil(len(keys) * bits_per_key))
    num_bytes = (num_bits + 7) // 8
    num_probes = min(30, max(1, int(bits_per_key * 0.69)))
    bits = bytearray(num_bytes)
    for key in keys:
        for i in positions(hash(key), num_probes, 8 * num_bytes):
            bits[i // 8] |= 1 << i % 8
    return bytes(bits) + bytes([num_probes])


def may_contain(filter, key):
    if len(filter) < 2:
        return False                        # too short: contains nothing
    num_probes = filter[-1]
    if num_probes > 30:
        return True                         # reserved for other encodings
    num_bits = 8 * (len(filter) - 1)
    return all(filter[i // 8] >> i % 8 & 1
               for i in positions(hash(key), num_probes, num_bits))


if __name__ == "__main__":
    for key in (b"", b"\x62", b"\xc3\x97", b"\xe2\x99\xa5", b"\xe1\x80\xb9\x32", b"hello", b"world"):
        print(f"{key.hex() or '(empty)':<12}{hash(key):08x}")
    for bits_per_key in (1, 10, 16, 44):
        print(f"{bits_per_key:>2} {build([b'hello', b'world'], bits_per_key).hex()}")

    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension("./bloom")
    db.execute("CREATE TABLE t(k)")
    num_compared = 0
    for n in (0, 1, 7, 100, 2000):
        db.execute("DELETE FROM t")
        keys = [b"key %d" % i * (i % 5) for i in range(n)]
        db.executemany("INSERT INTO t VALUES (?)", [(key,) for key in keys])
        for bits_per_key in (1, 9.5, 10, 100):
            theirs, = db.execute("SELECT bloom_build(k, ?) FROM t", (bits_per_key,)).fetchone()
            if n:                           # no rows: no bits_per_key, so 10
                assert build(keys, bits_per_key) == theirs
            for key in keys[:50] + [b"absent %d" % i for i in range(200)]:
                answer, = db.execute("SELECT bloom_may_contain(?, ?)", (theirs, key)).fetchone()
                assert may_contain(theirs, key) == bool(answer)
                num_compared += 1
    print(f"{num_compared} answers agree")
