#!/usr/bin/python3
"""bloom beside the writers and a reader of Parquet files.

    real_files.py FOLDER [--golden]    (run.sh installs what it needs and runs it)

DuckDB and hyparquet-writer write files of one column with its filter.  Ours of the same
keys must be theirs, byte for byte; our functions test theirs, without a false negative; and ours, put into a
file in place of its own, is what DuckDB then prunes by.  Random keys of each type are found as the pages say that
they are written in SQL.

--golden prints test/core/golden_parquet.h, what the quick tests compare with.
Ends with `N passed, N failed`.
"""
import json
import math
import os
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
import uuid

NUM_KEYS = (1, 2, 10, 100, 1000, 20000, 100000)
PRUNED_NUM_KEYS = (1000, 100000)

# What DuckDB 1.5.6 does with filters: scans of the first four types test them, and
# parquet_bloom_probe() those of two more.  It tests none of UUIDs; and for a BLOB it tests
# the escaped text, and so misses BLOBs that are there.
PRUNED_TYPES = ("BIGINT", "INTEGER", "DOUBLE", "VARCHAR")
PROBED_TYPES = (*PRUNED_TYPES, "DATE", "TIMESTAMP")
DUCKDB_OPTIONS = """FORMAT parquet, PARQUET_VERSION v1, DICTIONARY_SIZE_LIMIT 200000,
    STRING_DICTIONARY_PAGE_SIZE_LIMIT 100000000, ROW_GROUP_SIZE 200000,
    WRITE_BLOOM_FILTER true, BLOOM_FILTER_FALSE_POSITIVE_RATIO 0.01"""


class Type:
    def __init__(self, sql, plain, value=None):
        self.sql = sql          # key i as DuckDB writes it
        self.plain = plain      # its bytes in a Parquet file
        self.value = value      # what SQLite calls it, if 'parquet' hashes the same bytes of that


def uuid_of(i):
    return struct.pack(">IHHHHI", i, 0, 0x4000, 0x8000, i * 7919 >> 32, i * 7919 & 0xffffffff)


# Key i, 0 .. n-1, of each type: in DuckDB's SQL and in bytes.  writers.mjs and
# ../core/parquet_golden_test.c have the same keys.
TYPES = {
    "BIGINT": Type("i * 1000003 - 500000", lambda i: struct.pack("<q", i * 1000003 - 500000),
                   lambda i: i * 1000003 - 500000),
    "INTEGER": Type("(i * 7 - 3)::INTEGER", lambda i: struct.pack("<i", i * 7 - 3)),
    "DOUBLE": Type("i / 4 - 10", lambda i: struct.pack("<d", i / 4 - 10)),
    "VARCHAR": Type("printf('cust-%011d', i)", lambda i: b"cust-%011d" % i, lambda i: "cust-%011d" % i),
    "BLOB": Type("unhex(printf('%08x00', (i * 2654435761) % 4294967296))",
                 lambda i: struct.pack(">I", i * 2654435761 % 2**32) + b"\0"),
    "DATE": Type("DATE '1970-01-01' + (i - 1000)::INTEGER", lambda i: struct.pack("<i", i - 1000)),
    "TIMESTAMP": Type("make_timestamp(i * 1000003)", lambda i: struct.pack("<q", i * 1000003),
                      lambda i: i * 1000003),
    "UUID": Type("printf('%08x-0000-4000-8000-%012x', i, i * 7919)::UUID", uuid_of),
}

num_passed = num_failed = 0


def check(what, is_right, detail=""):
    global num_passed, num_failed
    if is_right:
        num_passed += 1
    else:
        num_failed += 1
        print(f"FAILED: {what} {detail}")


class Writers:
    """DuckDB and hyparquet-writer, in a process of their own."""

    def __init__(self, folder):
        self.folder = folder
        self.process = subprocess.Popen(["node", "writers.mjs"], cwd=folder, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.sql("SET threads = 1")     # one row group a file

    def request(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise RuntimeError(f"{request}: {answer['error']}")
        return answer["rows"]

    def sql(self, text):
        return self.request(sql=text)

    def value(self, text):
        (value,), = self.sql(text)
        return value

    def write(self, writer, file, type_name, num_keys):
        if writer == "DuckDB":
            # Every key twice: a filter counts no key.
            self.sql(f"COPY (SELECT {TYPES[type_name].sql} AS k FROM (SELECT j % {num_keys} AS i "
                     f"FROM range({2 * num_keys}) r(j))) TO '{file}' ({DUCKDB_OPTIONS})")
        else:
            self.request(file=file, type=type_name, num_keys=num_keys)

    def filter_place(self, file):
        """Where in the file its only filter lies: offset and length."""
        (offset, length), = self.sql(
            f"SELECT bloom_filter_offset, bloom_filter_length FROM parquet_metadata('{file}')")
        if offset is None:
            raise RuntimeError(f"{file} has no filter")
        return int(offset), int(length)

    def catalogue_filter(self, file):
        """What the catalogue's reader takes for the file's filter, or None."""
        (offset,), = self.sql(f"SELECT bloom_filter_offset FROM parquet_metadata('{file}')")
        filter = self.request(file=file, offset=offset)
        return filter and bytes.fromhex(filter)

    def filter_of(self, file):
        offset, length = self.filter_place(file)
        with open(f"{self.folder}/{file}", "rb") as f:
            f.seek(offset)
            return f.read(length)


class Ours:
    """What bloom makes of keys: plain bytes as BLOBs, but for `value`."""

    def __init__(self, extension="./bloom"):
        self.db = sqlite3.connect(":memory:")
        self.db.enable_load_extension(True)
        self.db.load_extension(extension)
        self.db.execute("CREATE TABLE keys(k)")

    def one(self, sql, *args):
        return self.db.execute(sql, args).fetchone()[0]

    def set_keys(self, keys):
        self.db.execute("DELETE FROM keys")
        self.db.executemany("INSERT INTO keys VALUES (?)", ((key,) for key in keys))

    def build(self, num_blocks):
        """The filter of the keys, in so many blocks: 4 keys of 64 bits fill one."""
        return self.one("SELECT bloom_build(k, 64, ?, 'parquet') FROM keys", 4 * num_blocks)

    def num_found(self, filter):
        return self.one("SELECT sum(bloom_may_contain(?, k)) FROM keys", filter)

    def may_contain(self, filter, key):
        return self.one("SELECT bloom_may_contain(?, ?)", filter, key)


def num_blocks_of(filter):
    return len(filter) // 32    # the header is shorter than a block


def compare(ours, what, type_, num_keys, theirs):
    """Their filters are ours, byte for byte, and our functions can test them."""
    ours.set_keys(type_.plain(i) for i in range(num_keys))
    built = ours.build(num_blocks_of(theirs))
    check(f"{what}: the same filter", built == theirs, f"{built[:40].hex()} {theirs[:40].hex()}")
    check(f"{what}: no key is missed", ours.num_found(theirs) == num_keys)
    encoding, note = ours.db.execute("SELECT encoding, note FROM bloom_info(?)", (theirs,)).fetchone()
    check(f"{what}: bloom_info", encoding == "parquet" and note is None, f"{encoding} {note}")
    if type_.value:
        ours.set_keys(type_.value(i) for i in range(num_keys))
        check(f"{what}: the same from SQL's own values", ours.build(num_blocks_of(theirs)) == theirs)


def constant(writers, type_, i):
    """Key i as a constant of its type: DuckDB tests a filter for constants only."""
    text, name = writers.sql(f"SELECT ({type_.sql})::VARCHAR, typeof({type_.sql}) FROM (SELECT {i}::BIGINT AS i)")[0]
    return f"'{text}'::{name}"


def prune(writers, ours, what, type_name, num_keys, file, theirs):
    """DuckDB answers by what stands in the place of its own filter."""
    type_, place = TYPES[type_name], writers.filter_place(file)
    keys = [num_keys // 50 * j + j % 7 for j in range(50)]      # spread over all, even and odd
    constants = {i: constant(writers, type_, i) for i in keys}
    num_blocks = num_blocks_of(theirs)

    def found(changed):
        return {i for i in keys if writers.value(f"SELECT count(*) > 0 FROM '{changed}' WHERE k = {constants[i]}")}

    def probed(changed):
        return {i for i in keys if not writers.sql(
            f"SELECT bloom_filter_excludes FROM parquet_bloom_probe('{changed}', 'k', {constants[i]})")[0][0]}

    def with_filter(filter, number):
        changed = f"changed-{number}-{file}"    # another name each: DuckDB keeps what it read
        shutil.copyfile(f"{writers.folder}/{file}", f"{writers.folder}/{changed}")
        with open(f"{writers.folder}/{changed}", "r+b") as f:
            f.seek(place[0])
            f.write(filter)
        return changed

    check(f"{what}: by its own filter DuckDB finds every key", found(file) == set(keys))
    # Of no key; of every second, in as many blocks; the same in one less, no power of two.
    ours.set_keys(type_.plain(i) for i in range(0, num_keys, 2))
    filters = [ours.one("SELECT bloom_empty(?, 64, 'parquet')", 4 * num_blocks),
               ours.build(num_blocks), ours.build(num_blocks - 1)]
    for number, (filter, least, most) in enumerate(zip(filters, (0, 25, 25), (0, 30, 30))):
        answers = {i for i in keys if ours.may_contain(filter, type_.plain(i))}
        check(f"{what}: ours says of what it has, and of little else, that it may be there", least <= len(answers) <= most)
        changed = with_filter(filter, number)
        check(f"{what}: parquet_bloom_probe() answers by ours", probed(changed) == answers, f"{len(filter)} bytes")
        if type_name in PRUNED_TYPES:
            check(f"{what}: DuckDB finds what ours lets pass, and nothing else", found(changed) == answers,
                  f"{len(filter)} bytes")


def signed_zeros(writers, ours):
    """0.0 and -0.0 are equal, their bytes are not: who asks for zero asks for both."""
    writers.sql(f"COPY (SELECT '-0.0'::DOUBLE AS k FROM range(10)) TO 'zero.parquet' ({DUCKDB_OPTIONS})")
    theirs = writers.filter_of("zero.parquet")
    check("-0.0 alone: its bytes are found", ours.may_contain(theirs, struct.pack("<d", -0.0)) == 1)
    check("-0.0 alone: the bytes of 0.0 are not", ours.may_contain(theirs, struct.pack("<d", 0.0)) == 0)


def random_float32(r):
    """Any finite one, zeros and denormal numbers among them, or a short one."""
    if r.random() < 0.2:
        return r.choice((0.0, -0.0, 1.5, 3.4028234663852886e38, 1e-45, -3.0))
    while True:
        number, = struct.unpack("<f", struct.pack("<I", r.getrandbits(32)))
        if math.isfinite(number):
            return number


def random_float64(r):
    if r.random() < 0.2:
        return r.choice((0.0, -0.0, 1.5, 2.0**53, -2.0**63, 1.7976931348623157e308, 5e-324))
    while True:
        number, = struct.unpack("<d", struct.pack("<Q", r.getrandbits(64)))
        if math.isfinite(number):
            return number


def random_integer(least, most):
    def draw(r):
        if r.random() < 0.1:
            return r.choice((least, most, max(least, -1), 0, 1))
        return r.randint(least, most) >> r.randrange(most.bit_length())
    return draw


def random_text(r):
    return "".join(chr(r.choice((r.randint(32, 126), r.randint(0xa0, 0xd7ff), r.randint(0x10000, 0x10ffff))))
                   for _ in range(r.randrange(0, 40)))


def random_date(r):
    return f"{r.randint(1, 9999):04}-{r.randint(1, 12):02}-{r.randint(1, 28):02}"


def random_time(first_year, last_year):
    def draw(r):
        return (f"{r.randint(first_year, last_year):04}-{r.randint(1, 12):02}-{r.randint(1, 28):02} "
                f"{r.randrange(24):02}:{r.randrange(60):02}:{r.randrange(60):02}.{r.randrange(1000):03}")
    return draw


def random_decimal(precision, scale):
    """As a text with all its places."""
    def draw(r):
        digits = str(r.randrange(10 ** r.randint(1, precision))).zfill(scale + 1)
        return r.choice(("", "-")) + digits[:len(digits) - scale] + ("." if scale else "") + digits[len(digits) - scale:]
    return draw


def unsigned_to_sql(number):
    return number - 2**64 if number >= 2**63 else number


def real_of(text):
    """The REAL of a decimal, if it says which decimal it is."""
    return float(text) if sum(c.isdigit() for c in text.lstrip("-0.")) <= 15 else text


MILLISECONDS = "CAST(round((julianday(?) - 2440587.5) * 86400000) AS INTEGER)"

# Type in DuckDB: how a key is drawn, as a text for DuckDB, and each way in which the pages write it in SQL.
RANDOM_TYPES = {
    "TINYINT": (random_integer(-2**7, 2**7 - 1), [("bloom_key(?, 'int32')", int)]),
    "SMALLINT": (random_integer(-2**15, 2**15 - 1), [("bloom_key(?, 'int32')", int)]),
    "INTEGER": (random_integer(-2**31, 2**31 - 1), [("bloom_key(?, 'int32')", int), ("bloom_key(?, 'int32')", float)]),
    "UINTEGER": (random_integer(0, 2**32 - 1), [("bloom_key(?, 'fixed32')", int)]),
    "BIGINT": (random_integer(-2**63, 2**63 - 1), [("?", int), ("bloom_key(?, 'int64')", int), ("CAST(? AS INTEGER)", str)]),
    "UBIGINT": (random_integer(0, 2**64 - 1), [("?", unsigned_to_sql), ("bloom_key(?, 'fixed64')", unsigned_to_sql)]),
    "FLOAT": (random_float32, [("bloom_key(?, 'float')", float)]),
    "DOUBLE": (random_float64, [("bloom_key(?, 'double')", float)]),
    "VARCHAR": (random_text, [("?", str), ("CAST(? AS BLOB)", str)]),
    "DATE": (random_date, [("bloom_key(julianday(date(?)) - 2440587.5, 'int32')", str)]),
    "TIMESTAMP": (random_time(1, 9999), [(f"{MILLISECONDS} * 1000", str)]),
    "TIMESTAMP_MS": (random_time(1, 9999), [(MILLISECONDS, str)]),
    "TIMESTAMP_NS": (random_time(1700, 2200), [(f"{MILLISECONDS} * 1000000", str)]),
    "UUID": (lambda r: str(uuid.UUID(int=r.getrandbits(128))), [("bloom_key(?, 'uuid')", str), ("bloom_key(?, 'uuid')", str.upper),
                                                                 ("bloom_key(?, 'uuid')", lambda text: uuid.UUID(text).bytes)]),
}
for precision in range(1, 19):
    for scale in sorted({0, min(2, precision), precision // 2, precision}):
        name = f"decimal({precision},{scale})"
        RANDOM_TYPES[name] = (random_decimal(precision, scale),
                              [(f"bloom_key(?, '{name}')", str), (f"bloom_key(?, '{name}')", real_of)]
                              + ([] if scale else [(f"bloom_key(?, '{name}')", int)]))


def random_keys(writers, ours, seed):
    """No key of a file is denied, in whichever way the pages write it, and few others pass."""
    r = random.Random(seed)
    for number, (type_name, (draw, ways)) in enumerate(RANDOM_TYPES.items()):
        what = f"{type_name}, random keys, seed {seed}"
        keys = {repr(key) if isinstance(key, float) else key: key for key in (draw(r) for _ in range(1500))}
        texts = [str(key).replace("'", "''") for key in keys]
        # The first half is in the file.
        half = len(texts) // 2 or 1
        file = f"random-{number}.parquet"
        rows = ", ".join(f"('{text}'::{type_name})" for text in texts[:half])
        writers.sql(f"COPY (SELECT k FROM (VALUES {rows}) t(k)) TO '{file}' ({DUCKDB_OPTIONS})")
        theirs = writers.filter_of(file)
        check(f"{what}: the catalogue reads the filter", writers.catalogue_filter(file) == theirs)
        found_each_way(ours, what, theirs, list(keys.values()), half, ways)
        if type_name in ("INTEGER", "BIGINT", "FLOAT", "DOUBLE", "VARCHAR"):
            file = f"hyparquet-{file}"
            own = list(keys.values())
            writers.request(file=file, type=type_name, keys=[str(k) if type_name == "BIGINT" else k for k in own[:half]])
            theirs = writers.filter_of(file)
            check(f"{what}: the catalogue reads hyparquet-writer's", writers.catalogue_filter(file) == theirs)
            found_each_way(ours, f"{what}, hyparquet-writer", theirs, own, half, ways)
    nothing, = ours.db.execute("SELECT bloom_key(?, 'double')", (math.nan,)).fetchone()
    check("NaN is NULL in SQLite, which is no key", nothing is None)


def found_each_way(ours, what, theirs, keys, half, ways):
    for expression, form in ways:
        sql = f"SELECT bloom_may_contain(?1, {expression.replace('?', '?2')})"
        found = [ours.one(sql, theirs, form(key)) for key in keys]
        for i, key in enumerate(keys):      # either zero may stand for both
            if isinstance(key, float) and key == 0:
                found[i] |= ours.one(sql, theirs, form(-key))
        missed = [form(key) for key, answer in zip(keys[:half], found) if answer != 1]
        check(f"{what}, {expression}: every key is found", not missed, f"{len(missed)} missed: {missed[:3]}")
        others = found[half:]
        check(f"{what}, {expression}: few others pass", sum(others) <= 5 + len(others) // 20, f"{sum(others)} of {len(others)}")


def without_length(writers, ours):
    """@dsnp/parquetjs tells no length, and its header names no algorithm: every key is maybe."""
    keys = [f"cust-{i}" for i in range(200)]
    writers.request(file="parquetjs.parquet", parquetjs=keys)
    (offset, length), = writers.sql("SELECT bloom_filter_offset, bloom_filter_length FROM parquet_metadata('parquetjs.parquet')")
    check("@dsnp/parquetjs: it tells an offset and no length", offset is not None and length is None)
    check("@dsnp/parquetjs: the catalogue has NULL", writers.catalogue_filter("parquetjs.parquet") is None)
    with open(f"{writers.folder}/parquetjs.parquet", "rb") as f:
        data = f.read()[int(offset):]
    for num_bytes in (10, 11, 100, 1000, len(data)):
        check(f"@dsnp/parquetjs: {num_bytes} bytes from its offset on may contain every key",
              all(ours.may_contain(data[:num_bytes], key) for key in keys))


def checksum(data):
    """FNV-1a."""
    h = 0xcbf29ce484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return h


def print_golden(versions, filters):
    print("/*\n** The filters in Parquet files of " + versions + ".  Written by\n"
          "**   sh test/interop/parquet/run.sh --golden >test/core/golden_parquet.h\n*/\n"
          "static const golden_parquet golden_parquets[] = {")
    for writer, type_name, num_keys, theirs in filters:
        print(f'  {{ "{writer}", "{type_name}", {num_keys}, {len(theirs)}, 0x{checksum(theirs):016x}u }},')
    print("};")


def main():
    writers, ours = Writers(sys.argv[1]), Ours()
    is_golden = "--golden" in sys.argv
    with open(f"{writers.folder}/node_modules/hyparquet-writer/package.json") as f:
        versions = f"DuckDB {writers.value('SELECT version()')} and hyparquet-writer {json.load(f)['version']}"
    filters = []
    for writer in ("DuckDB", "hyparquet-writer"):
        for type_name, type_ in TYPES.items():
            if writer != "DuckDB" and type_name in ("DATE", "TIMESTAMP", "UUID"):
                continue    # it writes no filters for them
            for num_keys in NUM_KEYS:
                file = f"{writer}-{type_name}-{num_keys}.parquet"
                what = f"{writer}, {type_name}, {num_keys} keys"
                writers.write(writer, file, type_name, num_keys)
                theirs = writers.filter_of(file)
                filters.append((writer, type_name, num_keys, theirs))
                if is_golden:
                    continue
                compare(ours, what, type_, num_keys, theirs)
                if num_keys in PRUNED_NUM_KEYS and type_name in PROBED_TYPES:
                    prune(writers, ours, what, type_name, num_keys, file, theirs)
    if is_golden:
        print_golden(versions, filters)
        return 0
    signed_zeros(writers, ours)
    random_keys(writers, ours, int(os.environ.get("BLOOM_TEST_SEED", "63")))
    without_length(writers, ours)
    print(f"note: {len(filters)} filters in files of {versions}")
    print(f"{num_passed} passed, {num_failed} failed")
    return int(num_failed != 0)


if __name__ == "__main__":
    sys.exit(main())
