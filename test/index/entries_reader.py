"""Finds rows by a bloom_index, in a file and without the extension, by "An index's tables" of ext/FORMATS.md alone:

    index = Index(sqlite3.connect(path), "log_index")
    index.of_key(1, value)     ranges (first id, last id) that have all rows whose first indexed column equals the value
    index.of_hash(1, hash)     the same, by the hash of a key
    index.of_text(2, needle)   that have all whose second one is LIKE '%needle%'; begins, ends: without that %

Asserts that no byte is damaged, and no row missing.  Tests' builds have other limits than the page's.
"""
import ctypes
import ctypes.util
import functools
import re
import struct
from collections import namedtuple

MASK = NO_ID = (1 << 64) - 1
GRAM_STEPS = (16, 0x85ebca6b), (13, 0xc2b2ae35), (16, 1)
xxhash = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
xxhash.XXH3_64bits.restype = xxhash.XXH64.restype = ctypes.c_uint64
xxhash.XXH3_64bits.argtypes, xxhash.XXH64.argtypes = [ctypes.c_char_p, ctypes.c_size_t], [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
Run = namedtuple("Run", "number last entries rows end_block slot role num_segments row")


def xxh64(data):
    return xxhash.XXH64(data, len(data), 0)


def mix(x, steps=((33, 0xc2b2ae3d27d4eb4f), (29, 0x165667b19e3779f9), (32, 1)), mask=MASK):
    for shift, factor in steps:
        x = (x & mask ^ (x & mask) >> shift) * factor & mask
    return x


def numbers_of(data):  # returns what takes numbers, one after the other
    assert data[-8:] == struct.pack("<Q", xxh64(data[:-8])), "checksum"
    at = [0]

    def take(form):
        at[0] += struct.calcsize("<" + form)
        return struct.unpack_from("<" + form, data, at[0] - struct.calcsize("<" + form))
    return take


class Bits:  # of a row's lists, as a text of 0 and 1
    def __init__(self, data):
        self.bits, self.at = format(int.from_bytes(data, "little"), f"0{8 * len(data)}b")[::-1], 0

    def take(self, num_bits):
        self.at += num_bits
        assert self.at <= len(self.bits), "the row ends within a list"
        return int("0" + self.bits[self.at - num_bits:self.at][::-1], 2)

    def equal(self, bit, most=4096):  # takes equal bits and the one that ends them, or so many
        length = (self.bits + "10"[bit]).index("10"[bit], self.at) - self.at
        self.take(min(length + 1, most))
        return min(length, most)

    def blocks(self, below):
        log = self.equal(0)
        count = 1 << log | self.take(log)
        is_missing = count == below or 3 < count and below < 2 * count
        num_coded, numbers = below - count if is_missing else count, [-1]
        k = (69 * below // (100 * num_coded or 1) or 1).bit_length() - 1
        while len(numbers) <= num_coded:
            numbers.append(self.take((below - 1).bit_length()) if num_coded <= 3 else numbers[-1] + 1 + (self.equal(1) << k | self.take(k)))
        return set(range(below)) - set(numbers) if is_missing else set(numbers[1:])


def grams_of(text):  # of a needle; of three bytes where nothing else has them
    for unit in re.finditer(b"(?s)[\xe0-\xef]..|.", text):
        gram, is_wide, after = text[unit.start():unit.start() + 3], unit.group() >= b"\xe0", text[unit.start() + 3:unit.start() + 6]
        if is_wide and after[:1] >= b"\xe0":
            after = bytes([1 + (mix(ord(after.decode()), GRAM_STEPS, 0xffffffff) * 255 >> 32)])
        if len(gram) == 3 and (after or is_wide or len(text) == 3):
            yield gram + after[:1]


@functools.lru_cache(maxsize=None)
def lists_of(data, num_segments, segment_blocks):  # of a row: their numbers, and the blocks of each
    number, end_block, num_lists, every, k = struct.unpack_from("<QIHHB", data, 16)
    bits, lists = Bits(data[34 + 6 * ((num_lists - 1) // every if every else 0):]), []
    for i in range(num_lists):
        if i:
            quotient = bits.equal(1, 24)
            number += 1 + (bits.take(56) if quotient == 24 else quotient << k | bits.take(k))
        begin = number % num_segments * segment_blocks
        lists.append((number, {begin + n for n in bits.blocks(min(segment_blocks, end_block - begin))}))
    return lists


class Index:
    def __init__(self, db, name, segment_blocks=4096, span_blocks=1024, spans_per_row=440):
        self.db, self.name, self.segment_blocks, self.span_blocks, self.generations = db, name, segment_blocks, span_blocks, []
        (covered, config, layout), = db.execute(f'SELECT covered, config, layout FROM "{name}_state"')
        take = numbers_of(config)
        magic, _, _, _, num_columns = take("5I")
        assert magic == 0x33434942, "no BIC3"
        self.flags = take(f"{num_columns}I")
        self.names = [take("%ds" % take("I"))[0].decode() for _ in range(1 + 2 * num_columns)]
        take = numbers_of(layout)
        magic, has, last, _, number, _, _, num_generations, bound = take("IIqqQQIIq")
        self.covered = last if has else -1 << 63
        assert magic == 0x34584942 and covered == (last if has else None), "layout"
        for i in range(num_generations):
            place, _, num_spans, _, _, spans_hash, _, _ = take("5I3Q")
            columns = []
            for _ in self.flags:
                bits, num_runs, lists_number = take("IIQ")
                runs = []
                for _ in range(num_runs):
                    run = take("3Q4I")
                    runs.append(Run(*run, -(-run[4] // segment_blocks), take("%ds" % take("I"))[0] if run[6] == 3 else None))
                columns.append((place, bits, lists_number, runs))
            rows = db.execute(f'SELECT data FROM "{name}_spans" WHERE rowid > ? ORDER BY rowid LIMIT ?', (place << 20, -(-num_spans // spans_per_row)))
            spans, h = list(struct.iter_unpack("<qB", b"".join(data for data, in rows)))[:num_spans], mix(number + place)
            for key, shift in spans:
                h = mix(h ^ key * 0x9e3779b97f4a7c15 + shift)
            assert h == spans_hash, "spans"
            ids = (bound + 1, MASK >> 1) if i == 0 and num_generations == 2 else (-1 << 63, bound if i else MASK >> 1)
            self.generations.append((columns, spans, *ids))

    def blocks(self, column, runs, token, num_tokens=1):  # that have one of some tokens
        found, target = set(), [run for run in runs if run.role == 2 and run.last != NO_ID]
        for run in runs:
            wanted, end = token * run.num_segments, (token + num_tokens) * run.num_segments
            if run.role == 1 and target:
                done, segment = divmod(target[0].last + 1, target[0].num_segments)
                wanted = max(wanted, done * run.num_segments + min(segment, run.num_segments))
            while wanted < end and run.last != NO_ID and wanted <= run.last:
                rowid, data = (run.slot << 56 | run.last, run.row) if run.row else self.db.execute(
                    f'SELECT rowid, data FROM "{self.name}_entries{column}" WHERE rowid >= ? ORDER BY rowid LIMIT 1', (run.slot << 56 | wanted,)).fetchone() or (-1, bytes(34))
                checksum, before = struct.unpack_from("<2Q", data)
                last = rowid & (1 << 56) - 1
                assert checksum == mix(xxhash.XXH3_64bits(data[8:], len(data) - 8) ^ mix(run.number + mix(rowid))), "checksum"
                assert rowid >> 56 == run.slot and (before == NO_ID or before < wanted) and last <= run.last, "a row is missing"
                for number, blocks in lists_of(data, run.num_segments, self.segment_blocks):
                    if wanted <= number < end:
                        found |= blocks
                wanted = last + 1
        return found

    def ranges(self, column, find):  # the blocks that find() finds, and the rows that are in none
        ranges = [(id, id) for id, in self.db.execute(f'SELECT id FROM "{self.name}_changed"')] + [(self.covered + 1, MASK >> 1)]
        for columns, spans, least, most in self.generations:
            for block in find(*columns[column - 1]):
                key, shift = spans[block // self.span_blocks]
                first = key * self.span_blocks + block % self.span_blocks << shift
                ranges.append((max(first, least), min(first + (1 << shift) - 1, most, self.covered)))
        return sorted(r for r in ranges if r[0] <= r[1])

    def of_hash(self, column, h):
        return self.ranges(column, lambda place, bits, _, runs: self.blocks(column, runs, h >> 64 - bits))

    def of_key(self, column, key):  # an INTEGER, or a TEXT that is no number
        fold = {"NOCASE": bytes.lower, "RTRIM": lambda text: text.rstrip(b" ")}.get(self.names[2 * column].upper(), bytes)
        return self.of_hash(column, xxh64(struct.pack("<q", key) if isinstance(key, int) else fold(key.encode())))

    def of_text(self, column, needle, begins=False, ends=False):  # three bytes and more, or two that a text begins with
        text = b"\0" * begins + needle.encode().lower() + b"\0" * ends

        def find(place, _, number, runs):
            (data,), = self.db.execute(f'SELECT data FROM "{self.name}_entries{column}" WHERE rowid = {-1 - place}')
            assert data[6147:] == struct.pack("<Q", mix(xxh64(data[:6147]) ^ mix(number))), "lists"
            sizes = [1 << (int.from_bytes(data[i:i + 3], "little") >> j & 7) for i in range(0, 6144, 3) for j in range(0, 24, 3)]
            found = [self.blocks(column, runs, sum(sizes))]
            for gram in grams_of(text):
                of_three, of_four = (mix(int.from_bytes(gram[:n], "big"), GRAM_STEPS, 0xffffffff) for n in (3, 4))
                base, size = sum(sizes[:of_three >> 18]), sizes[of_three >> 18]
                found.append(self.blocks(column, runs, base + (of_four * size >> 32), 1) if gram[3:] else self.blocks(column, runs, base, size))
            return set.intersection(*found[1:]) | found[0]
        return self.ranges(column, find)
