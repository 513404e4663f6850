#!/usr/bin/env python3
"""Writes the tables of this folder: bytes that are, were, or never were a filter.

    test/corrupt/make_cases.py            writes the tables
    test/corrupt/make_cases.py --check    exits with 1 if one differs

A row is a case.  What is expected is worked out here from LevelDB's rules alone
(util/bloom.cc, util/hash.cc), in the plainest way, with no help from ext/.

label   good      bytes that LevelDB writes for some keys
        dubious   LevelDB did not write it so, but reads it as bits, and so do we:
                  a key that was in it may be lost, which no reader can see
        bad       no filter can be read: nothing, or everything, may be in it
hello world absent
        what bloom_may_contain answers for these keys
bits probes set
        num_bits, num_probes and bits_set of bloom_info; NULL where it gives NULL
note    how the note of bloom_info begins; NULL for none
change  yes: bloom_add and bloom_merge take it; else why not, as their error says
"""

import os
import random
import struct
import sys
import zlib

FOLDER = os.path.dirname(os.path.abspath(__file__))
COLUMNS = "label hello world absent bits probes set note change bytes what".split()


# -- LevelDB's rules ---------------------------------------------------------


def digest_of(key):
    """util/hash.cc, Hash(), with the seed of util/bloom.cc."""
    m, mask = 0xC6A4A793, 0xFFFFFFFF
    h = (0xBC9F1D34 ^ (len(key) * m)) & mask
    while len(key) >= 4:
        h = (h + int.from_bytes(key[:4], "little")) * m & mask
        h ^= h >> 16
        key = key[4:]
    if key:
        h = (h + int.from_bytes(key, "little")) * m & mask
        h ^= h >> 24
    return h


def positions(key, num_bits, num_probes):
    digest = digest_of(key)
    delta = (digest >> 17 | digest << 15) & 0xFFFFFFFF
    return [(digest + i * delta) % 2**32 % num_bits for i in range(num_probes)]


def build(keys, bits_per_key=10):
    """util/bloom.cc, CreateFilter()."""
    num_bytes = (max(64, len(keys) * bits_per_key) + 7) // 8
    num_probes = min(30, max(1, bits_per_key * 69 // 100))
    bits = bytearray(num_bytes)
    for key in keys:
        for position in positions(key, num_bytes * 8, num_probes):
            bits[position // 8] |= 1 << position % 8
    return bytes(bits) + bytes([num_probes])


def may_contain(filter_bytes, key):
    """util/bloom.cc, KeyMayMatch()."""
    if len(filter_bytes) < 2:
        return 0
    num_probes = filter_bytes[-1]
    if num_probes > 30:
        return 1
    num_bits = (len(filter_bytes) - 1) * 8
    return int(all(filter_bytes[p // 8] >> p % 8 & 1 for p in positions(key, num_bits, num_probes)))


def case(filter_bytes, what, good=False):
    """A row, as a dict of its columns."""
    num_probes = filter_bytes[-1] if filter_bytes else 0
    bits = max(0, len(filter_bytes) - 1) * 8
    bits_set = sum(bin(byte).count("1") for byte in filter_bytes[:-1])
    note, change, label, probes = "NULL", "yes", "good" if good else "dubious", num_probes
    if len(filter_bytes) < 2:
        label, note, change, probes = "bad", "too short", "too short", "NULL"
    elif num_probes > 30:
        label, note, change = "bad", "reserved encoding", "of a reserved encoding"
        bits = bits_set = probes = "NULL"
    elif num_probes == 0:
        label, note, change = "bad", "no probes", "without probes"
    elif bits_set == bits:
        note = "saturated"
    elif bits_set > 0.75 * bits:
        note = "nearly saturated"
    return dict(
        label=label, bits=bits, probes=probes, set=bits_set, note=note, change=change,
        hello=may_contain(filter_bytes, b"hello"),
        world=may_contain(filter_bytes, b"world"),
        absent=may_contain(filter_bytes, b"absent"),
        bytes=filter_bytes.hex() or "-", what=what,
    )  # fmt: skip


# -- The tables --------------------------------------------------------------

SMALL = build([b"hello", b"world"])
TEXTS = [b"hello", b"world"] + [str(i).encode() for i in range(18)]
LARGER = build(TEXTS)
MANY_PROBES = build([b"hello", b"world"], 44)


def good_filters():
    yield case(build([]), "no keys", True)
    yield case(build([b""]), "the empty key", True)
    for bits_per_key in (1, 2, 5, 10, 20, 43, 44, 100):
        yield case(build([b"hello", b"world"], bits_per_key), f"hello and world at {bits_per_key} bits per key", True)
    yield case(build([b"hello"] * 9), "hello nine times: duplicates count for the size", True)
    yield case(LARGER, "hello, world and eighteen numbers", True)
    yield case(build([str(i).encode() for i in range(300)]), "300 numbers, neither hello nor world", True)


def cut_off_filters():
    for name, whole in (("hello, world", SMALL), ("twenty keys", LARGER), ("30 probes", MANY_PROBES)):
        for num_bytes in range(len(whole)):
            yield case(whole[:num_bytes], f"{name}: the first {num_bytes} of {len(whole)} bytes")
        for start in range(1, len(whole)):
            yield case(whole[start:], f"{name}: without the first {start} of {len(whole)} bytes")


def every_last_byte():
    for last in range(256):
        if last != SMALL[-1]:
            yield case(SMALL[:-1] + bytes([last]), f"hello, world with {last} as the number of probes")
    for last in (0, 1, 6, 30, 31, 32, 127, 128, 254, 255):
        yield case(bytes([last]), f"the number of probes alone: {last}")
        yield case(bytes([0, last]), f"no bit of 8 set, {last} probes")
        yield case(bytes([255, last]), f"every bit of 8 set, {last} probes")


def flipped_bits():
    for bit in range(len(SMALL) * 8):
        flipped = bytearray(SMALL)
        flipped[bit // 8] ^= 1 << bit % 8
        where = "of the number of probes" if bit // 8 == len(SMALL) - 1 else f"of byte {bit // 8}"
        yield case(bytes(flipped), f"hello, world with bit {bit % 8} {where} flipped")


def random_bytes():
    source = random.Random(4)
    for number in range(200):
        num_bytes = number // 4
        content = bytearray(source.getrandbits(8) for _ in range(num_bytes))
        # Half of them with a number of probes that is one.
        if number % 2 and content:
            content[-1] = source.randrange(1, 31)
        yield case(bytes(content), f"random bytes, number {number}")


def mangled_filters():
    def mangled(content, what):
        return case(content, f"hello, world: {what}")

    yield mangled(SMALL + b"\n", "a line feed behind it")
    yield mangled(SMALL + b"\0", "a zero byte behind it")
    yield mangled(b"\xef\xbb\xbf" + SMALL, "a byte order mark in front")
    yield mangled(SMALL * 2, "twice")
    yield mangled(SMALL[::-1], "backwards")
    yield mangled(SMALL[-1:] + SMALL[:-1], "the number of probes in front")
    yield mangled(bytes(int(f"{byte:08b}"[::-1], 2) for byte in SMALL[:-1]) + SMALL[-1:], "the bits of each byte backwards")
    yield mangled(bytes(255 - byte for byte in SMALL), "every bit flipped")
    yield mangled(SMALL.hex().encode(), "as hexadecimal text, lower case")
    yield mangled(SMALL.hex().upper().encode(), "as hexadecimal text, as hex() gives it")
    yield mangled(b"x'" + SMALL.hex().encode() + b"'", "as an SQL literal")
    yield mangled(b"EUAAQQQUQBAG", "as base64 text")
    yield mangled(SMALL.decode("latin-1").encode("utf-8"), "read as Latin-1, written as UTF-8")
    yield mangled(SMALL.decode("utf-8", "replace").encode("utf-8"), "read and written as UTF-8")
    yield mangled(SMALL.decode("latin-1").encode("utf-16-le"), "as UTF-16")
    yield mangled(SMALL.split(b"\0")[0], "as a C string: up to its first zero byte")
    yield mangled(SMALL.replace(b"\0", b""), "its zero bytes left out")
    yield mangled(zlib_stored(SMALL), "compressed by zlib")
    gzip_end = struct.pack("<II", zlib.crc32(SMALL), len(SMALL))
    yield mangled(b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + zlib_stored(SMALL)[2:-4] + gzip_end, "compressed by gzip")
    yield mangled(struct.pack("<I", len(SMALL)) + SMALL, "its length in front")
    yield mangled(SMALL + struct.pack("<I", zlib.crc32(SMALL)), "its CRC-32 behind")
    yield mangled(bytes(8) + SMALL[-1:], "every bit cleared")
    yield mangled(b"\xff" * 8 + SMALL[-1:], "every bit set")
    yield mangled(b"\xff" * 7 + b"\x0f" + SMALL[-1:], "60 of 64 bits set")
    yield mangled(b"\xff" * 6 + b"\0\0" + SMALL[-1:], "48 of 64 bits set, just not nearly saturated")
    yield mangled(b"\xff" * 6 + b"\1\0" + SMALL[-1:], "49 of 64 bits set, just nearly saturated")


def zlib_stored(content):
    """Level 0, the same by every version of zlib (RFC 1950, 1951)."""
    length = len(content)
    return b"\x78\x01\x01" + struct.pack("<HH", length, length ^ 0xFFFF) + content + struct.pack(">I", zlib.adler32(content))


def png():
    """An image of one black pixel."""

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib_stored(b"\0\0")) + chunk(b"IEND", b"")


def split_block(hashes):
    """Parquet's split block filter of one block (BloomFilter.md)."""
    salts = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)
    words = [0] * 8
    for key_hash in hashes:
        for i, salt in enumerate(salts):
            words[i] |= 1 << ((key_hash & 0xFFFFFFFF) * salt % 2**32 >> 27)
    return struct.pack("<8I", *words)


def other_formats():
    words = [0x0040001000200801, 0x8010000402000100]  # bits as a filter of few keys has them

    def leveldb_block(filters):
        offsets, content = [], b""
        for one in filters:
            offsets.append(len(content))
            content += one
        array = len(content)
        return content + b"".join(struct.pack("<I", offset) for offset in offsets) + struct.pack("<IB", array, 11)

    # table/filter_block.cc: offsets and base_lg, 11, behind the filters.
    yield case(leveldb_block([]), "LevelDB: a filter block without filters; its last byte reads as 11 probes")
    yield case(leveldb_block([SMALL]), "LevelDB: a filter block of one filter; its last byte reads as 11 probes")
    yield case(leveldb_block([SMALL, b"", LARGER]), "LevelDB: a filter block of three filters, one of them empty")
    yield case(bytes.fromhex("000000000b"), "LevelDB: what an empty filter block builder gives")
    yield case(bytes(40) + bytes.fromhex("57fb808b247547db"), "LevelDB: the footer of a table")
    # util/bloom_impl.h, table/block_based/filter_policy.cc of RocksDB.
    rocks_bits = struct.pack("<8Q", *(words * 4))
    yield case(rocks_bits + struct.pack("<BI", 6, 1), "RocksDB: a legacy full filter, probes and cache lines behind its bits")
    yield case(rocks_bits + bytes([0xFF, 0, 6, 0, 0]), "RocksDB: FastLocalBloom, five bytes of metadata behind its bits")
    yield case(rocks_bits + bytes([0xFE, 7, 1, 0, 0]), "RocksDB: a Ribbon filter, five bytes of metadata behind it")
    yield case(bytes(5), "RocksDB: a filter of no keys with zeros as metadata")
    # The Thrift header, then one block; hashes by XXH64.
    header = bytes.fromhex("15401c1c00001c1c00001c1c000000")
    both = split_block([HELLO_XXH64, WORLD_XXH64])
    yield case(header, "Parquet: the header of a split block filter")
    yield case(header + both, "Parquet: a split block filter of hello and world, with its header")
    yield case(both, "Parquet: the same without the header")
    yield case(bytes(32), "Parquet: a split block filter without keys")
    # Strategy, number of hashes, number of words, words: big-endian.
    yield case(struct.pack(">bBi2Q", 1, 7, 2, *words), "Guava: BloomFilter.writeTo()")
    yield case(struct.pack(">iii2Q", 1, 7, 2, *words), "Spark: BloomFilterImpl.writeTo(), version 1")
    yield case(struct.pack(">ii2Q", 7, 2, *words), "Cassandra: number of hashes, then words")
    yield case(struct.pack(">QQQ2Q", 128, 7, 128, *words), "Go: bits-and-blooms, WriteTo()")
    # A string or module value, then version and CRC64 (made up).
    dump_end = struct.pack("<HQ", 10, 0x1122334455667788)
    yield case(b"\0\x10" + struct.pack("<2Q", *words) + dump_end, "Redis: DUMP of a bitmap")
    yield case(b"\x07\x81" + struct.pack(">Q", 0xB2F2A6C48B4C0804) + b"\x02\x02\x02\x01" + struct.pack("<2Q", *words)
               + b"\0" + dump_end, "RedisBloom: DUMP of a filter")  # fmt: skip
    yield case(struct.pack("<QIII", 2, 1, 4, 2) + struct.pack("<QQdII", 16, 128, 0.01, 7, 7), "RedisBloom: the header that SCANDUMP gives")
    yield case(png(), "an image: PNG of one pixel")
    yield case(b"GIF89a\1\0\1\0\0\0\0;", "an image: GIF")
    yield case(b"SQLite format 3\0\x10\0\1\1\0\x40\x20\x20", "an SQLite database: its first 24 bytes")
    yield case(b"PK\5\6" + bytes(18), "an empty ZIP archive")
    yield case(b"\x7fELF\2\1\1" + bytes(9), "a program: the first 16 bytes of an ELF file")
    yield case(b"hello", "plain text: hello")
    yield case(b"hello\n", "plain text: hello and a line feed")
    yield case(b"hello\0", "plain text: hello as a C string with its end")
    yield case("héllo".encode("utf-16-le"), "plain text: UTF-16")
    yield case(b'{"bits": [1, 0, 1], "probes": 6}', "JSON")
    yield case(b"\x80\x04N.", "a pickled None of Python")
    yield case(struct.pack("<d", 0.5), "eight bytes: the double 0.5")
    yield case(struct.pack("<Q", 42), "eight bytes: the integer 42, little-endian")
    yield case(struct.pack(">Q", 42), "eight bytes: the integer 42, big-endian")
    yield case(struct.pack(">Q", 6), "eight bytes: the integer 6, big-endian")


# XXH64 with seed 0, as `printf hello | xxhsum -H1` prints it.
HELLO_XXH64 = 0x26C7827D889F6DA3
WORLD_XXH64 = 0xE778FBFE66EE51EF

TABLES = {
    "good_filters": good_filters,
    "cut_off_filters": cut_off_filters,
    "every_last_byte": every_last_byte,
    "flipped_bits": flipped_bits,
    "random_bytes": random_bytes,
    "mangled_filters": mangled_filters,
    "other_formats": other_formats,
}


def table_text(name, cases):
    lines = [f"# {name.replace('_', ' ').capitalize()}; make_cases.py wrote this and explains the columns."]
    lines.append("\t".join(COLUMNS))
    lines += ["\t".join(str(row[column]) for column in COLUMNS) for row in cases]
    return "\n".join(lines) + "\n"


def main():
    is_check = sys.argv[1:] == ["--check"]
    num_different = 0
    for name, cases in TABLES.items():
        path = os.path.join(FOLDER, name + ".tsv")
        text = table_text(name, cases())
        if not is_check:
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
            continue
        with open(path, encoding="ascii") as file:
            if file.read() != text:
                print(f"{path} is not what make_cases.py writes")
                num_different += 1
    sys.exit(num_different > 0)


if __name__ == "__main__":
    main()
