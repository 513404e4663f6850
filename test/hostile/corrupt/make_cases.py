#!/usr/bin/env python3
"""Writes tables of cases: bytes that are, were, or never were a filter.

    test/hostile/corrupt/make_cases.py FOLDER     writes the tables; exits with 1 if they are not CHECKSUM's

A row is a case.  What is expected is worked out here from the rules of LevelDB
(util/bloom.cc, util/hash.cc), Parquet (BloomFilter.md) and BloomFiles (ext/FORMATS.md)
alone, in the plainest way, with no help from ext/.

encoding  as bloom_info says: parquet and bloomfile for bytes that begin with the header
          of their length; all others are LevelDB's
label   good      bytes that the encoding's own writers write for some keys
        dubious   they did not write it so, but read it as bits, and so do we:
                  a key that was in it may be lost, which no reader can see
        bad       no filter can be read: nothing, or everything, may be in it
hello world absent
        what bloom_may_contain answers for these keys
bits probes set
        num_bits, num_probes and bits_set of bloom_info; NULL where it gives NULL
note    how the note of bloom_info begins; NULL for none
change  yes: bloom_merge takes it, and bloom_add, if it is no bloomfile; else why not,
        as their error says
"""

import hashlib
import os
import random
import struct
import sys
import zlib

# SHA-256 of all tables: no case changes, or goes, unless somebody means it.
CHECKSUM = "aba81de75aa8126873f5cdc2faf72ea6993ae781bf72846f9e6d77a8422e3b07"
COLUMNS = "encoding label hello world absent bits probes set note change bytes what".split()


# -- LevelDB's rules ---------------------------------------------------------


def hash_of(key):
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
    hash = hash_of(key)
    delta = (hash >> 17 | hash << 15) & 0xFFFFFFFF
    return [(hash + i * delta) % 2**32 % num_bits for i in range(num_probes)]


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


# -- Parquet's rules ---------------------------------------------------------

# XXH64 with seed 0, as `printf hello | xxhsum -H1` prints it.
XXH64 = {b"hello": 0x26C7827D889F6DA3, b"world": 0xE778FBFE66EE51EF, b"absent": 0x917BEDB7999E409E}
SALTS = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)
MARKS = bytes.fromhex("1c1c00001c1c00001c1c000000")  # SPLIT_BLOCK, XXHASH, UNCOMPRESSED, end


def varint(number):
    """Thrift's: seven bits a byte, the lowest first, the upper bit set but in the last."""
    content = b""
    while number >= 128:
        content += bytes([number & 127 | 128])
        number >>= 7
    return content + bytes([number])


def parquet_header(num_bytes):
    """parquet.thrift, BloomFilterHeader; Thrift writes n as 2n."""
    return b"\x15" + varint(2 * num_bytes) + MARKS


def parquet_bits(key, num_blocks):
    hash = XXH64[key]
    block = (hash >> 32) * num_blocks >> 32
    return [256 * block + 32 * i + ((hash & 0xFFFFFFFF) * salt % 2**32 >> 27) for i, salt in enumerate(SALTS)]


def build_parquet(keys, num_blocks):
    blocks = bytearray(32 * num_blocks)
    for key in keys:
        for bit in parquet_bits(key, num_blocks):
            blocks[bit // 8] |= 1 << bit % 8
    return parquet_header(len(blocks)) + bytes(blocks)


def parquet_blocks(filter_bytes):
    """The blocks behind a header of exactly their length, or None."""
    for num_bytes in range(32, len(filter_bytes), 32):
        header = parquet_header(num_bytes)
        if filter_bytes.startswith(header) and len(filter_bytes) == len(header) + num_bytes:
            return filter_bytes[len(header):]  # fmt: skip
    return None


def parquet_case(filter_bytes, blocks, what, good):
    bits_set = sum(bin(byte).count("1") for byte in blocks)
    note = "NULL"
    if bits_set == 8 * len(blocks):
        note = "saturated"
    elif bits_set > 6 * len(blocks):
        note = "nearly saturated"
    answers = {
        key.decode(): int(all(blocks[bit // 8] >> bit % 8 & 1 for bit in parquet_bits(key, len(blocks) // 32)))
        for key in XXH64
    }
    return dict(
        encoding="parquet", label="good" if good else "dubious", bits=8 * len(blocks), probes=8, set=bits_set,
        note=note, change="yes", bytes=filter_bytes.hex(), what=what, **answers,
    )  # fmt: skip


# -- BloomFiles' rules --------------------------------------------------------


def bloomfile_header(num_units, num_probes, unit_bytes, tag=0xFA9734ED, version=0x0100, zero=0):
    return struct.pack("<IIQIIQ", tag, version, num_units, num_probes, unit_bytes, zero)


def bloomfile_units(key, num_units, num_probes):
    hash = XXH64[key]
    delta = hash >> 33 | hash << 31 & 2**64 - 1
    return [(hash + i * delta) % 2**64 % num_units for i in range(num_probes)]


def build_bloomfile(sets, num_units=11, num_probes=3, unit_bytes=4):
    """sets: the keys of set 0, of set 1, ..."""
    bits = bytearray(num_units * unit_bytes)
    for number, keys in enumerate(sets):
        for key in keys:
            for unit in bloomfile_units(key, num_units, num_probes):
                bits[unit * unit_bytes + number // 8] |= 1 << number % 8
    return bloomfile_header(num_units, num_probes, unit_bytes) + bytes(bits)


def bloomfile_shape(content):
    """num_units, num_probes and unit_bytes, or None if it is no BloomFile."""
    if len(content) <= 32:
        return None
    tag, version, num_units, num_probes, unit_bytes, zero = struct.unpack_from("<IIQIIQ", content)
    if (tag, version, zero) != (0xFA9734ED, 0x0100, 0) or not 1 <= num_probes <= 100 or unit_bytes == 0:
        return None
    return (num_units, num_probes, unit_bytes) if len(content) == 32 + num_units * unit_bytes else None


def bloomfile_case(content, shape, what, good):
    num_units, num_probes, unit_bytes = shape
    units = [int.from_bytes(content[32 + i * unit_bytes:][:unit_bytes], "little") for i in range(num_units)]
    counts = [sum(unit >> number & 1 for unit in units) for number in range(8 * unit_bytes)]
    note = "NULL"
    if max(counts) == num_units:
        note = "saturated"
    elif max(counts) > 0.75 * num_units:
        note = "nearly saturated"
    answers = {}
    for key in XXH64:
        left = 2 ** (8 * unit_bytes) - 1
        for unit in bloomfile_units(key, num_units, num_probes):
            left &= units[unit]
        answers[key.decode()] = int(left > 0)
    return dict(
        encoding="bloomfile", label="good" if good else "dubious", bits=8 * num_units * unit_bytes, probes=num_probes,
        set=sum(counts), note=note, change="yes", bytes=content.hex(), what=what, **answers,
    )  # fmt: skip


# -- A case ------------------------------------------------------------------


def case(filter_bytes, what, good=False):
    """A row, as a dict of its columns."""
    blocks = parquet_blocks(filter_bytes)
    if blocks is not None:
        return parquet_case(filter_bytes, blocks, what, good)
    if bloomfile_shape(filter_bytes):
        return bloomfile_case(filter_bytes, bloomfile_shape(filter_bytes), what, good)
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
        encoding="NULL" if probes == "NULL" and bits == "NULL" else "leveldb", label=label, bits=bits, probes=probes, set=bits_set, note=note, change=change,
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
    yield case(build([b"hello"] * 9), "hello nine times: duplicates count toward the size", True)
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
    both = build_parquet([b"hello", b"world"], 1)[15:]
    yield case(both, "Parquet: a split block filter of hello and world without its header")
    yield case(bytes(32), "Parquet: a split block filter without keys, without its header")
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


def parquet_filters():
    both = (b"hello", b"world")
    for num_blocks in (1, 2, 3, 4, 5):
        yield case(build_parquet([], num_blocks), f"Parquet: no keys in {num_blocks} blocks", True)
        yield case(build_parquet(both, num_blocks), f"Parquet: hello and world in {num_blocks} blocks", True)
    one, two = build_parquet(both, 1), build_parquet(both, 2)
    for whole in (one, two):
        for num_bytes in range(1, len(whole)):
            yield case(whole[:num_bytes], f"Parquet: the first {num_bytes} of {len(whole)} bytes")
            yield case(whole[num_bytes:], f"Parquet: without the first {num_bytes} of {len(whole)} bytes")
        for bit in range(8 * 20):
            flipped = bytearray(whole)
            flipped[bit // 8] ^= 1 << bit % 8
            yield case(bytes(flipped), f"Parquet: {len(whole)} bytes with bit {bit % 8} of byte {bit // 8} flipped")
        for behind in (b"\0", b"\n", bytes(31), bytes(32), whole):
            yield case(whole + behind, f"Parquet: {len(whole)} bytes and {len(behind)} more")
        yield case(b"\0" + whole, f"Parquet: {len(whole)} bytes behind a zero")
    blocks = one[15:]
    lying = (0, 1, 31, 33, 64, 2**30, 2**31 - 32, 2**31 - 1, 2**31, 2**31 + 32, 2**32, 2**32 + 32, 2**63 - 32, 2**63)
    for told in lying:
        yield case(parquet_header(told) + blocks, f"Parquet: a header of {told} bytes before 32")
        yield case(parquet_header(told), f"Parquet: a header of {told} bytes, and none")
    yield case(b"\x15\x3f" + MARKS + blocks, "Parquet: a header of -32 bytes")
    yield case(b"\x15" + b"\xff" * 9 + b"\x01" + MARKS + blocks, "Parquet: a header of -2^63 bytes")
    for longer in (b"\xc0\0", b"\xc0\x80\0", b"\xc0\x80\x80\x80\x80\0", b"\xc0" + b"\x80" * 9 + b"\0"):
        yield case(b"\x15" + longer + MARKS + blocks, f"Parquet: 32 as a number of {len(longer)} bytes")
    yield case(b"\x15" + b"\xff" * 40, "Parquet: a number without an end")
    for at in range(2, 15):
        mangled = bytearray(one)
        mangled[at] = 0x2C if mangled[at] == 0x1C else 0x1C
        yield case(bytes(mangled), f"Parquet: another mark in byte {at}")
    yield case(one[:15] + b"\xff" * 32, "Parquet: every bit set")
    yield case(one[:15] + b"\xff" * 24 + bytes(8), "Parquet: 192 of 256 bits set, just not nearly saturated")
    yield case(one[:15] + b"\xff" * 24 + b"\1" + bytes(7), "Parquet: 193 of 256 bits set, just nearly saturated")
    yield case(one[:15] + b"\xff" * 31 + b"\x7f", "Parquet: 255 of 256 bits set")
    yield case(two[:16] + b"\xff" * 32 + bytes(32), "Parquet: one block full, the other empty")


def bloomfiles():
    both = [[b"hello"], [b"world"], [b"hello", b"world"]]
    small = build_bloomfile(both)
    bits = small[32:]
    yield case(build_bloomfile([]), "BloomFile: no keys", True)
    yield case(small, "BloomFile: hello, world, and both", True)
    yield case(build_bloomfile([[]] * 31 + [[b"world"]]), "BloomFile: world, in the last of 32 sets", True)
    for unit_bytes in (1, 2, 3, 5, 8, 9, 70):
        yield case(build_bloomfile(both, 11, 3, unit_bytes), f"BloomFile: units of {unit_bytes} bytes", unit_bytes > 3)
    for num_probes in (1, 2, 30, 99, 100):
        yield case(build_bloomfile(both, 11, num_probes), f"BloomFile: {num_probes} probes", num_probes <= 30)
    yield case(build_bloomfile(both, 1), "BloomFile: one unit")
    yield case(build_bloomfile(both, 12), "BloomFile: a number of units that is no prime")
    for num_bytes in range(len(small)):
        yield case(small[:num_bytes], f"BloomFile: the first {num_bytes} of {len(small)} bytes")
    for start in range(1, len(small)):
        yield case(small[start:], f"BloomFile: without the first {start} of {len(small)} bytes")
    for bit in range(256):
        flipped = bytearray(small)
        flipped[bit // 8] ^= 1 << bit % 8
        yield case(bytes(flipped), f"BloomFile: bit {bit % 8} of byte {bit // 8}, of the header, flipped")
    for name, header in (
        ("big-endian", struct.pack(">IIQIIQ", 0xFA9734ED, 0x0100, 11, 3, 4, 0)),
        ("another version", bloomfile_header(11, 3, 4, version=0x0200)),
        ("no units told", bloomfile_header(0, 3, 4)),
        ("one unit too few told", bloomfile_header(10, 3, 4)),
        ("one unit too many told", bloomfile_header(12, 3, 4)),
        ("units times bytes is 2^64 and what is there", bloomfile_header(2**62 + 11, 3, 4)),
        ("the most units", bloomfile_header(2**64 - 1, 3, 4)),
        ("no probes", bloomfile_header(11, 0, 4)),
        ("101 probes", bloomfile_header(11, 101, 4)),
        ("the most probes", bloomfile_header(11, 2**32 - 1, 4)),
        ("empty units", bloomfile_header(11, 3, 0)),
        ("one unit of all bytes", bloomfile_header(1, 3, 44)),
        ("44 units of a byte", bloomfile_header(44, 3, 1)),
        ("one unit of the most bytes", bloomfile_header(1, 3, 2**32 - 1)),
        ("something in the reserved place", bloomfile_header(11, 3, 4, zero=1)),
    ):
        yield case(header + bits, f"BloomFile: {name}")
    yield case(small + b"\n", "BloomFile: a line feed behind it")
    yield case(small + small[32:36], "BloomFile: one unit more behind it")
    yield case(b"\xef\xbb\xbf" + small, "BloomFile: a byte order mark in front")
    yield case(small.hex().encode(), "BloomFile: as hexadecimal text")
    yield case(small[:32] + b"\xff" * 44, "BloomFile: every bit set")
    yield case(small[:32] + b"\x01\0\0\0" * 9 + bytes(8), "BloomFile: 9 of 11 bits of a set")
    yield case(small[:32] + b"\x01\0\0\0" * 8 + bytes(12), "BloomFile: 8 of 11 bits of a set")


TABLES = {
    "good_filters": good_filters,
    "cut_off_filters": cut_off_filters,
    "every_last_byte": every_last_byte,
    "flipped_bits": flipped_bits,
    "random_bytes": random_bytes,
    "mangled_filters": mangled_filters,
    "other_formats": other_formats,
    "parquet_filters": parquet_filters,
    "bloomfiles": bloomfiles,
}


def table_text(name, cases):
    lines = [f"# {name.replace('_', ' ').capitalize()}; make_cases.py wrote this and explains the columns."]
    lines.append("\t".join(COLUMNS))
    lines += ["\t".join(str(row[column]) for column in COLUMNS) for row in cases]
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    checksum = hashlib.sha256()
    for name, cases in TABLES.items():
        text = table_text(name, cases())
        checksum.update(text.encode("ascii"))
        with open(os.path.join(sys.argv[1], name + ".tsv"), "w", encoding="ascii") as file:
            file.write(text)
    if checksum.hexdigest() != CHECKSUM:
        sys.exit(f"other cases than before: their checksum is {checksum.hexdigest()}")


if __name__ == "__main__":
    main()
