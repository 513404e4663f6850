"""A BloomFile, the filters of many sets side by side. Prints known answers, and compares itself with ./bloom."""
import math
import sqlite3
import struct

from parquet_filter import hash as xxh64

MASK = 0xffffffffffffffff
TAG, VERSION = 0xfa9734ed, 0x0100
HEADER = struct.Struct("<IIQIIQ")


def units(h, num_probes, num_units):
    """The units of a hash: one hash drives every probe."""
    delta = h >> 33 | h << 31 & MASK
    for _ in range(num_probes):
        yield h % num_units
        h = h + delta & MASK


def is_prime(n):
    return all(n % d for d in range(2, math.isqrt(n) + 1))


def build(sets, bits_per_key):
    """sets: the keys, as bytes, of set 0, of set 1, ..."""
    num_units = max(191, math.ceil(max(map(len, sets), default=0) * bits_per_key))
    while not is_prime(num_units) or (2**64 - 1) % num_units == 0:
        num_units += 1
    unit_bytes = max(4, (len(sets) + 7) // 8)
    num_probes = min(30, max(1, int(bits_per_key * 0.69)))
    bits = bytearray(num_units * unit_bytes)
    for s, keys in enumerate(sets):
        for key in keys:
            for unit in units(xxh64(key), num_probes, num_units):
                bits[unit * unit_bytes + s // 8] |= 1 << s % 8
    return HEADER.pack(TAG, VERSION, num_units, num_probes, unit_bytes, 0) + bytes(bits)


def read(file):
    """The header's num_units, num_probes, unit_bytes; None if it is no BloomFile."""
    if len(file) <= HEADER.size:
        return None
    tag, version, num_units, num_probes, unit_bytes, zero = HEADER.unpack_from(file)
    if (tag, version, zero) != (TAG, VERSION, 0) or not 1 <= num_probes <= 100:
        return None
    if unit_bytes == 0 or len(file) != HEADER.size + num_units * unit_bytes:
        return None
    return num_units, num_probes, unit_bytes


def sets_of(file, key):
    """The numbers of the sets that may hold the key."""
    num_units, num_probes, unit_bytes = read(file)
    left = -1
    for unit in units(xxh64(key), num_probes, num_units):
        start = HEADER.size + unit * unit_bytes
        left &= int.from_bytes(file[start:start + unit_bytes], "little")
    return [s for s in range(8 * unit_bytes) if left >> s & 1]


if __name__ == "__main__":
    for key in (b"", b"a", b"hello", b"1", b"0123456789" * 5):
        print(f"{key.decode() or '(empty)':<51}{xxh64(key):016x}")
    file = build([[b"hello"], [b"world"], [b"hello", b"world"]], 10)
    print(file[:32].hex())
    print({unit: file[32 + 4 * unit] for unit in range(191) if file[32 + 4 * unit]})

    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension("./bloom")
    db.execute("CREATE TABLE t(s, k)")
    num_compared = 0
    for num_sets, num_keys in ((1, 5), (3, 40), (40, 20), (100, 50)):
        sets = [[b"key %d" % (i * s % 97) for i in range(num_keys - s % 5)] for s in range(num_sets)]
        db.execute("DELETE FROM t")
        db.executemany("INSERT INTO t VALUES (?, ?)", [(s, key) for s, keys in enumerate(sets) for key in keys])
        for bits_per_key in (1, 9.5, 10, 20):
            theirs, = db.execute("SELECT bloom_build_sets(s, k, ?) FROM t", (bits_per_key,)).fetchone()
            assert build(sets, bits_per_key) == theirs
            for key in [b"key %d" % i for i in range(97)] + [b"absent %d" % i for i in range(50)]:
                answer = [s for s, in db.execute("SELECT set_number FROM bloom_sets(?, ?)", (theirs, key))]
                assert sets_of(theirs, key) == answer
                assert set(s for s, keys in enumerate(sets) if key in keys) <= set(answer)
                num_compared += 1
    print(f"{num_compared} answers agree")
