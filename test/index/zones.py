"""Zones: where they are, how few rows they leave, and what stops, damages or outgrows them.

ranges.py asks at random whether what they leave out is right.
"""
import random
import re
import sqlite3
import struct
import sys

from log import CHECK, command, count_to, same, state, steps_of, u32  # the first: it finds the others
from cases import each, error_of, execute, expect, fails, image, main, one, slow, test
from entries_reader import MASK, mix, xxhash

ZONES, SPAN = 4, 8  # of the build with tiny limits: zones of a row, and blocks of a span
DIRECTORY = 1 << 32  # the rowid of the first one
KEY_BYTES = 24
ZONE = 256  # rows of several zones


def make(db, values, num_rows, columns="v RANGE", definition="v", before=()):
    """log(id, v): values is SQL of i."""
    execute(db, *before, "PRAGMA automatic_index = OFF", "CREATE TABLE log(id INTEGER PRIMARY KEY, %s)" % definition,
            "INSERT INTO log(id, v) %sSELECT i, %s FROM c" % (count_to(num_rows), values),
            "CREATE VIRTUAL TABLE log_index USING bloom_index(log, %s)" % columns)
    command(db, "merge")
    return db


def is_narrow(db, where, share=20, least=0):
    """The index takes a small part of what the table takes."""
    wanted, of_table = steps_of(db, "SELECT id FROM log NOT INDEXED WHERE " + where)
    rows, of_index = steps_of(db, "SELECT id FROM log_index WHERE " + where)
    expect(rows, wanted, where)
    assert len(rows) >= least, "%s: %d rows" % (where, len(rows))
    assert share * of_index < of_table, "%s: %d of %d tens of steps" % (where, of_index, of_table)


def is_right(db, conditions):
    for where in conditions:
        same(db, "SELECT id FROM {t} WHERE " + where)


def is_whole(db):
    command(db, "integrity-check")
    expect(state(db), None)


# -- Zones as FORMATS.md describes them ---------------------------------------------------------

def checksum(data, number, rowid):
    return mix(xxhash.XXH3_64bits(data[8:], len(data) - 8) ^ mix(number + mix(rowid) & MASK))


class Layout:
    """What zones of the first column need of it, and the numbers of spans."""

    def __init__(self, db):
        data = state(db, "layout")
        num_spans, self.zone_lg = struct.unpack("<II", data[64:72])
        self.number, = struct.unpack("<Q", data[108:116])
        spans = b"".join(row[0] for row in db.execute("SELECT data FROM log_index_spans ORDER BY rowid"))
        self.spans = {span: n for n, span in enumerate(struct.iter_unpack("<qB", spans[:9 * num_spans]))}

    def zone_of(self, row_id):
        shift = min(shift for key, shift in self.spans if row_id >> shift >> 3 == key)
        block = row_id >> shift
        return (self.spans[block // SPAN, shift] * SPAN + block % SPAN) >> self.zone_lg


def read_zones(data):
    """A row: a list of (has NULL, [smallest and largest key of each span])."""
    firsts, seconds, nulls = struct.unpack("<III", data[8:20])
    shared, kept = data[20], data[21]
    prefix, at, zones = data[22:22 + shared], 22 + shared, []
    for i in range(ZONES):
        keys = []
        for _ in range(2 * (firsts >> i & 1) + 2 * (seconds >> i & 1)):
            keys.append((prefix + data[at:at + kept]).ljust(KEY_BYTES, b"\0"))
            at += kept
        zones.append((nulls >> i & 1, keys))
    expect(at, len(data))
    return zones


def key_of(number):
    bits, = struct.unpack(">Q", struct.pack(">d", float(number) + 0.0))
    return (b"\1" + struct.pack(">Q", bits ^ (2**64 - 1 if bits >> 63 else 2**63))).ljust(KEY_BYTES, b"\0")


def ends(parts):
    """Of values' keys, or of zones: whether there is a NULL, and the smallest and the largest key."""
    keys = [key for _, of_part in parts for key in of_part]
    return max(is_null for is_null, _ in parts), (min(keys), max(keys)) if keys else None


def is_exact(db):
    """Zones have the ends of their rows' numbers, directories those of their rows, and no other row is there."""
    layout, by_zone = Layout(db), {}
    for row_id, v in db.execute("SELECT id, v FROM log"):
        by_zone.setdefault(layout.zone_of(row_id), []).append((int(v is None), [] if v is None else [key_of(v)]))
    stored = dict(db.execute("SELECT rowid, data FROM log_index_zones1"))
    for rowid, data in stored.items():
        expect(int.from_bytes(data[:8], "little"), checksum(data, layout.number, rowid))
    rows = {number: read_zones(stored[number]) for number in {zone // ZONES for zone in by_zone}}
    directories = range(-(-len(layout.spans) * SPAN // (ZONES * ZONES << layout.zone_lg)))
    expect(sorted(stored), sorted(list(rows) + [DIRECTORY + n for n in directories]))
    for number, zones in rows.items():
        for i, zone in enumerate(zones):
            expect(ends([zone]), ends(by_zone.get(number * ZONES + i, [(0, [])])), "zone %d of row %d" % (i, number))
            assert zone[1] == sorted(zone[1]), zone
    for n in directories:
        for i, entry in enumerate(read_zones(stored[DIRECTORY + n])):
            expect(ends([entry]), ends(rows.get(n * ZONES + i, [(0, [])])), "entry %d of directory %d" % (i, n))


@test
def operators(files):
    db = make(files.connect(), "i * 2 + i % 7", 100000, definition="v INTEGER")
    for where in ("v < 2100", "v <= 2100", "v > 198000", "v >= 198000", "v BETWEEN 100000 AND 100100", "v > 100000 AND v < 100300", "v = 77777", "v IS 77777",
                  "v IN (5, 777, 77777, 199999)", "v IN (SELECT i * 40000 FROM (%sSELECT i FROM c))" % count_to(4), "2100 > v", "v BETWEEN 2 * 50000 AND 100000 + 100"):
        is_narrow(db, where, share=15)


@test
def sizes(files):
    """Of all keys of a row what they begin with is kept once: bytes of a zone, four numbers or four texts."""
    db = make(files.connect(), "1700000000 + i", 60 * ZONE)

    def bytes_of_zone():
        rows = [data for rowid, data in db.execute("SELECT rowid, data FROM log_index_zones1") if rowid < DIRECTORY]
        return sum(map(len, rows)) / sum(len(keys) > 0 for data in rows for _, keys in read_zones(data))
    assert bytes_of_zone() < 20, bytes_of_zone()
    execute(db, "DROP TABLE log_index", "UPDATE log SET v = strftime('%Y-%m-%d %H:%M:%S', v, 'unixepoch')", "CREATE VIRTUAL TABLE log_index USING bloom_index(log, v RANGE)")
    command(db, "merge")
    assert bytes_of_zone() < 36, bytes_of_zone()
    is_narrow(db, "v >= '2023-11-15' AND v < '2023-11-15 00:01'")


SHAPES = {
    "dense": lambda i, r: i, "with holes": lambda i, r: i * 37, "descending": lambda i, r: -i, "down to the lowest": lambda i, r: -2**63 + 5000 - i,
    "two writers": lambda i, r: i // 2 + i % 2 * 10**9, "worker and sequence": lambda i, r: i % 7 << 48 | i, "random": lambda i, r: r.getrandbits(63), "both ends": lambda i, r: i if i > 1 else (-2**63, 2**63 - 2)[i % 2],
}


@each(SHAPES)
def ids(files, id_of):
    """Of every shape, in many merges: no zone but that of a row's block is touched, and each has just its rows."""
    db, r = files.connect(":memory:"), random.Random(9)
    execute(db, "CREATE TABLE log(id INTEGER PRIMARY KEY, v)", "CREATE VIRTUAL TABLE log_index USING bloom_index(log, v RANGE)")
    at = 0
    for more in 1, 300, 700, 5, 40, 1, 1500, 900, 20:
        db.executemany("INSERT INTO log VALUES (?, ?)", [(id_of(i, r), None if i % 50 == 3 else 1700000000 + i) for i in range(at, at + more)])
        at += more
        command(db, r.choice(["merge", "merge", "merge=%d" % (more // 2 + 1)]))
        conditions = ["v BETWEEN %d AND %d" % (1700000000 + low, 1700000009 + low) for low in (0, at // 2, at - 9)]
        is_right(db, conditions)
    command(db, "merge")
    is_exact(db)
    command(db, "rebuild")
    is_exact(db)
    is_right(db, conditions)
    is_whole(db)


@test
def two_generations(files):
    """While all is made again in parts each has its own zones; those of the old one go at the end."""
    db = make(files.connect(":memory:"), "i", 2000)
    seen = set()
    for turn in range(150):
        db.execute("UPDATE log SET v = v + 1 WHERE id % 12 = ?", (turn % 12,))
        command(db, "merge=170")
        is_right(db, ["v BETWEEN 40 AND 60", "v BETWEEN 1000 AND 1009", "v > 1999"])
        data = state(db, "layout")
        seen.add((int.from_bytes(data[44:48], "little"), data[56]))
        if {(2, 0), (1, 1)} <= seen:
            break
    assert {(2, 0), (1, 1)} <= seen, seen
    assert one(db, "SELECT min(rowid) FROM log_index_zones1") >= 2 * DIRECTORY
    command(db, "integrity-check")


@test
def vacuum(files):
    """Rowids of zones stay, and so they are found."""
    db = make(files.connect(), "i", 20 * ZONE)
    execute(db, "DELETE FROM log WHERE id % 3 = 0", "VACUUM", "ALTER TABLE log_index RENAME TO renamed", "VACUUM", "ALTER TABLE renamed RENAME TO log_index", "VACUUM")
    is_narrow(db, "v BETWEEN 700 AND 720", share=8)
    is_whole(db)


@test
@slow
def two_writers(files):
    """A day apart, and one of them now and then 0: each has a span of its own."""
    db = make(files.connect(), "1700000000 + i / 10 - (i % 2) * 86400", 200000)
    is_narrow(db, "v BETWEEN 1700010000 AND 1700010059", least=299)
    is_narrow(db, "v BETWEEN 1700010000 - 86400 AND 1700010059 - 86400", least=299)
    execute(db, "UPDATE log SET v = CASE WHEN i.n % 1000 = 5 THEN 0 ELSE n END FROM (SELECT id AS n FROM log) AS i WHERE i.n = log.id" if sqlite3.sqlite_version_info >= (3, 33) else "SELECT 1")
    command(db, "rebuild")
    is_narrow(db, "v BETWEEN 100000 AND 100059")
    is_narrow(db, "v = 77")


@test
def what_is_in_a_zone(files):
    """NULLs are in none; BLOBs, and texts among numbers, spoil no other."""
    db = make(files.connect(), "CASE WHEN i BETWEEN 2560 AND 5000 THEN NULL WHEN i = 10000 THEN x'00' WHEN i = 20000 THEN 'word' ELSE i END", 50000, definition="v NUMERIC")
    for where in "v < 3000 AND v > 2600", "v > 49000", "v > 'a'", "v = 'word'", "v >= x''", "v < 100":
        is_narrow(db, where, share=8)
    is_right(db, ["v IS NULL", "v IS NULL AND id < 3000", "v < NULL", "v IN (NULL, 7)", "v BETWEEN NULL AND 5", "v NOT NULL AND v < 10"])


@test
def beginnings_and_nulls(files):
    """Of patterns on every version; and what is NULL, or not."""
    db = make(files.connect(":memory:"), "CASE WHEN i BETWEEN 9000 AND 9100 THEN NULL ELSE strftime('%Y-%m-%d %H:%M:%S', 1700000000 + i * 60, 'unixepoch') END", 30000, definition="v TEXT")
    # SQLite before 3.52 does not pass LIKE safely, and makes a range of it by NOCASE, whose ends it tells from 3.38 on.
    has_like, has_not_null = (sqlite3.sqlite_version_info >= version for version in ((3, 38), (3, 52)))
    likes = ["v LIKE '2023-11-20 1%'", "v LIKE '2023-11-20 1_:13:20'"] if has_like else []
    for where in likes + ["v GLOB '2023-11-20 1[23]*'", "v IS NULL", "v IS (SELECT i.id FROM log AS i WHERE i.id = 0)"]:
        is_narrow(db, where, share=8, least=1)
    db.execute("UPDATE log SET v = CASE WHEN id BETWEEN 700 AND 800 THEN printf('Error %d', id) WHEN id BETWEEN 9700 AND 9800 THEN printf('error %d', id) WHEN id = 20000 THEN NULL ELSE 'info ' || id END")
    command(db, "rebuild")
    if has_like:
        is_narrow(db, "v LIKE 'error%'", share=8, least=202)
        is_narrow(db, "v LIKE 'ERR%'", share=8, least=202)
    is_narrow(db, "v GLOB 'Err*'", share=8, least=101)
    db.execute("UPDATE log SET v = NULL WHERE id > 300")
    command(db, "rebuild")
    if has_not_null:
        is_narrow(db, "v NOT NULL", share=8, least=300)
    is_right(db, ["v IS NULL", "v NOT NULL", "v LIKE 'e%'", "v IS NULL AND v > 'a'"])
    is_narrow(make(files.connect(":memory:"), "'key' || (i / 100)", 30000, definition="v TEXT COLLATE NOCASE"), "v LIKE 'KEY29%'", share=5, least=1000)


@test
def a_text_of_an_odd_number_of_bytes(files):
    """In UTF-16, as SQLite before 3.40 stores it, and compares it with its last byte: a BLOB whose type is another in the file."""
    db = files.connect()
    db.execute("PRAGMA encoding = 'UTF-16le'")
    make(db, "CASE WHEN i BETWEEN 1025 AND 1300 THEN x'ff' WHEN i = 2000 THEN x'e900ac2041' ELSE '2024-' || i END", 3000, "v RANGE", "v").close()
    data = image(files.path)
    # The second has five bytes in UTF-8, too.
    data = data.replace(b"\3\0\x16\xe9\0\xac\x20\x41", b"\3\0\x17\xe9\0\xac\x20\x41")
    open(files.path, "wb").write(data.replace(b"\3\0\x0e\xff", b"\3\0\x0f\xff"))
    db = files.connect()
    command(db, "rebuild")
    is_right(db, ["v > 'zz'", "v >= '2024-2'", "v < 'zz'", "v > '2024-29' AND typeof(v) = 'text'"])
    expect(one(db, "SELECT count(*) FROM log WHERE v > 'zz' AND typeof(v) = 'text'"), 277)


@test
def ranges_of_two_columns(files):
    """Each condition is for its own column's zones."""
    db = make(files.connect(":memory:"), "i", 20000, "v RANGE, w RANGE, v", "v INTEGER, w TEXT")
    db.execute("UPDATE log SET w = printf('%06d', 30000 - id)")
    command(db, "rebuild")
    for where in "v BETWEEN 5000 AND 5300 AND w > '024800'", "v > 19000 AND w < '010500' AND w > '010100'", "w = '010000' AND v = 20000", "v IN (7, 8000) AND w < '023000'":
        is_narrow(db, where, share=5, least=1)


@test
def what_only_patterns_find(files):
    """SQLite makes ranges of a pattern's beginning: BLOBs, infinity and ill-formed texts lie outside of them."""
    for definition in "v", "v COLLATE NOCASE", "v REAL", "v NUMERIC COLLATE NOCASE":
        db = make(files.connect(":memory:"), "CASE i / 300 WHEN 3 THEN x'6162' WHEN 5 THEN 9e999 WHEN 7 THEN -9e999 WHEN 9 THEN CAST(x'efbfbe' AS TEXT) WHEN 11 THEN CAST(x'61c2' AS TEXT) ELSE i END",
                  5000, definition=definition)
        conditions = ["v %s '%s%s'" % (operator, text, many) for operator, many in (("LIKE", "%"), ("GLOB", "*"))
                      for text in ("a", "A", "ab", "I", "In", "-I", "-In", "a\ufffd", "\ufffd", "\uffff", "k")]
        is_right(db, conditions)
        assert max(one(db, "SELECT count(*) FROM log_index WHERE " + where) for where in conditions) >= 300
        db.close()


@each(["UTF-8", "UTF-16le", "UTF-16be"])
def encodings(files, encoding):
    """BINARY compares UTF-16 as its bytes, in which letters beyond ASCII have another order."""
    db = files.connect(":memory:")
    db.execute("PRAGMA encoding = '%s'" % encoding)
    letters = ["a", "z", "\u00e9", "\u0101", "\u0161", "\u017f", "\u2161", "\uff41", "\U0001f600", "za", "z\u0101", "z\u00e9", "zz", "\u6100", "\u00e9a"]
    make(db, "(SELECT t FROM words WHERE n = i / 256)", 256 * len(letters) - 1,
         before=["CREATE TABLE words(n INTEGER PRIMARY KEY, t TEXT)"] + ["INSERT INTO words VALUES (%d, '%s')" % pair for pair in enumerate(letters)], definition="v TEXT")
    is_right(db, ["v %s '%s'" % (operator, letter) for operator in ("<", "<=", ">", ">=", "=") for letter in letters]
             + ["v > '%s' AND v < '%s'" % (a, b) for a in letters for b in letters] + ["v >= CAST(x'6161' AS TEXT) AND v < CAST(x'6162' AS TEXT)"])


@each([("UTF-16le", "6b003dd86b00"), ("UTF-16be", "006bd83d006b")], ["v", "v RANGE", "v LIKE"])
def list_of_halves(files, encoding, half, columns):
    """Half a character in a list is what it was where damage gives up the entries or zones that were asked for it."""
    db = files.connect(":memory:")
    db.execute("PRAGMA encoding = '%s'" % encoding)
    make(db, "'key' || i", 20 * ZONE, columns, "v TEXT")
    db.execute("UPDATE log SET v = CAST(x'%s' AS TEXT) WHERE id = 900" % half)
    command(db, "rebuild")
    db.execute("UPDATE log_index_%s1 SET data = x'' WHERE rowid > 0" % ("zones" if "RANGE" in columns else "entries"))
    where = "v IN (CAST(x'%s' AS TEXT), 'key5', 'key6')" % half
    expect(db.execute("SELECT id FROM log WHERE " + where).fetchall(), [(5,), (6,), (900,)])
    is_right(db, [where])


@test
def numbers_and_texts_of_other_columns(files):
    """What a text is depends on the other side, which nobody tells: a column of numbers that holds '!', another virtual table."""
    db = make(files.connect(":memory:"), "CASE WHEN i < 600 THEN '10' WHEN i < 1200 THEN 'x' ELSE 'word ' || i END", 3000, definition="v TEXT")
    execute(db, "CREATE TABLE o(n NUMERIC, t TEXT, i INTEGER)", "INSERT INTO o VALUES ('!', '!', 10), ('x', '9', 9), (5, '10', 11)")
    for operator in "<", "<=", ">", ">=", "=", "IS":
        for column in "n", "t", "i":
            same(db, "SELECT count(*), sum(l.id) FROM o CROSS JOIN {t} AS l ON l.v %s o.%s" % (operator, column))


@test
@slow
def together_with_entries(files):
    """Zones come before entries, and ids before both."""
    db = make(files.connect(), "i", 100000, "v RANGE, k, v, k LIKE", "v INTEGER, k TEXT")
    db.execute("UPDATE log SET k = 'key ' || (id % 1000)")
    command(db, "rebuild")
    for where in "v BETWEEN 50000 AND 50100 AND k = 'key 77'", "v > 99000 AND k LIKE '%y 77%'", "v < 1000 AND id > 900", \
                 "v = 5 OR v BETWEEN 9000 AND 9010", "k = 'key 77' AND v IN (77, 50077)":
        is_narrow(db, where, share=8)
    is_right(db, ["v = 500 AND id < 400", "v = 500 AND id > 400", "id = 7 AND v < 8"])


@test
def changed_and_deleted(files):
    """A changed row widens its zone; what was there before goes with 'rebuild' alone."""
    db = make(files.connect(), "i", 20 * ZONE)
    for i in range(1, 20 * ZONE, 700):
        db.execute("UPDATE log SET v = -id WHERE id = ?", (i,))
    db.execute("DELETE FROM log WHERE id BETWEEN 3000 AND 3100")
    conditions = ["v < 0", "v = -701", "v BETWEEN 700 AND 702", "v BETWEEN 2990 AND 3110", "v BETWEEN -5000 AND -4000"]
    is_right(db, conditions)
    expect(one(db, "SELECT count(*) FROM log_index_changed"), 8)
    for text in "merge=3", "merge", "rebuild":
        command(db, text)
        is_right(db, conditions)
        is_whole(db)
    expect(one(db, "SELECT count(*) FROM log_index_changed"), 0)
    is_narrow(db, "v = -701", share=5)


@test
def ids_in_any_order(files):
    """Rows that come with lower ids than what is merged, in gaps, and at both ends of what ids there are."""
    db = make(files.connect(), "i * 10", 3000)
    execute(db, "UPDATE log SET id = -id * 1000", "UPDATE log SET id = -id")
    command(db, "rebuild")
    r = random.Random(3)
    for turn in range(12):
        for i in [r.randint(1, 3000000) for _ in range(200)] + [-turn, 2**63 - 1 - turn, -2**63 + turn]:
            db.execute("INSERT OR REPLACE INTO log VALUES (?, ?)", (i, r.randint(-100, 40000)))
        conditions = ["v BETWEEN %d AND %d" % (low, low + 300) for low in r.sample(range(-200, 40000), 10)] + ["v < 0", "v > 39990"]
        is_right(db, conditions)
        command(db, ["merge", "merge=50", "rebuild"][turn % 3])
        is_right(db, conditions)
        command(db, "integrity-check")
    db.execute("VACUUM")
    is_right(db, conditions)
    command(db, "merge")
    is_whole(db)


@test
def small_merges(files):
    """Of any number of rows: a zone that has some gets more."""
    db = make(files.connect(), "i", 1)
    num_rows = 1
    r = random.Random(5)
    for turn in range(150):
        more = r.choice([1, 2, 50, 255, 256, 257, 600])
        db.execute("INSERT INTO log %sSELECT i, i FROM c" % count_to(num_rows + more, num_rows + 1))
        num_rows += more
        command(db, r.choice(["merge", "merge", "merge=%d" % r.choice([1, 100, 256])]))
        if turn % 10 == 0:
            is_right(db, ["v BETWEEN %d AND %d" % (low, low + 10) for low in (0, num_rows // 2, num_rows - 5)])
    command(db, "merge")
    is_whole(db)
    is_exact(db)


@test
@slow
def texts_among_numbers(files):
    """A row's keys get longer."""
    r = random.Random(11)
    for num_zones in 3, 8, 15:
        for open_rows in 0, 100:
            db = make(files.connect(":memory:"), "i", num_zones * ZONE + open_rows)
            num_rows = num_zones * ZONE + open_rows
            for more in 30, 300, 3000, 30:
                db.execute("INSERT INTO log %sSELECT i, 'over 8 bytes: ' || printf('%%06d', i) FROM c" % count_to(num_rows + more, num_rows + 1))
                num_rows += more
                command(db, "merge")
                command(db, "integrity-check")
                conditions = ["v < 300", "v BETWEEN %d AND %d" % (num_rows // 2, num_rows // 2 + 9), "v > 'over 8 bytes: %06d'" % (num_rows - 5), "v = 'over'",
                              "v >= 'over 8 bytes: %06d' AND v < 'p'" % r.randint(1, num_rows)]
                is_right(db, conditions)
            for at in num_rows - 3200, num_rows - 2000, num_rows - 1000:
                is_narrow(db, "v >= 'over 8 bytes: %06d' AND v < 'over 8 bytes: %06d'" % (at, at + 20), share=4)
            db.execute("UPDATE log SET v = 'over 8 bytes: late' WHERE id IN (5, 3000, ?)", (num_rows,))
            command(db, "merge")
            is_right(db, conditions + ["v = 'over 8 bytes: late'", "v > 'over 8 bytes: '"])
            is_whole(db)
            db.close()


@test
@slow
def many_directories(files):
    """Each is read alone where few rows are asked for, and few of what they have."""
    num_rows = 3000

    def value(at):
        return "strftime('%%Y-%%m-%%d %%H:%%M:%%S', 1700000000 + %s, 'unixepoch')" % at
    db = make(files.connect(":memory:"), value("i"), num_rows)

    def finds(where, ids):
        """In few steps: a scan of the table takes three or more for each row."""
        rows, steps = steps_of(db, "SELECT id FROM log_index WHERE " + where)
        expect([row[0] for row in rows], list(ids), where)
        assert 10 * steps < 1000 + num_rows // 12, (where, steps, num_rows)
    for more in 200, 99, 1, 1, 256, 20000, 7:
        db.execute("INSERT INTO log %sSELECT i, %s FROM c" % (count_to(num_rows + more, num_rows + 1), value("i")))
        num_rows += more
        command(db, "merge")
        for at in 1, ZONE, num_rows // 2, num_rows - 5:
            finds("v >= %s AND v < %s" % (value(at), value(at + 20)), range(at, min(at + 20, num_rows + 1)))
    assert one(db, "SELECT count(*) FROM log_index_zones1 WHERE rowid >= ?", DIRECTORY) > 8
    late = [1, 2000, 2001, 9005, num_rows]
    for at in late:
        db.execute("UPDATE log SET v = '2100' WHERE id = ?", (at,))
    command(db, "merge")
    finds("v = '2100'", late)
    for at in late:
        finds("v >= %s AND v < %s" % (value(at), value(at + 20)), [i for i in range(at, min(at + 20, num_rows + 1)) if i not in late])
    is_whole(db)


# -- What stops a merge ---------------------------------------------------------------------------

STOP = "CREATE TEMP TRIGGER stop BEFORE INSERT ON log_index_zones1 WHEN new.rowid = %d BEGIN SELECT RAISE(%s); END"


def copy_of(files, db):
    copy = files.connect(":memory:")
    db.backup(copy)
    return copy


def goes_on_after_a_stop(db, conditions, *texts):
    """The rows are right in the transaction in which a merge was stopped, and the next merges are."""
    is_right(db, conditions)
    for text in texts:
        command(db, text)
        is_right(db, conditions)
    db.execute("COMMIT")
    is_whole(db)
    db.close()


@test
@slow
def stopped_merges(files):
    """An authorizer refuses the merge's n-th statement, for every n."""
    num_stops = 0
    made = [make(files.connect(":memory:"), "i * 10", num_rows) for num_rows in (90 * ZONE + 100, 500)]
    for is_wide in False, True:
        for n in range(1, 400):
            db = copy_of(files, made[n % 2])
            num_rows = one(db, "SELECT count(*) FROM log")
            more = "'over 8 bytes: ' || i" if is_wide else "i * 10 - 400"
            execute(db, "BEGIN", "UPDATE log SET v = -7 WHERE id IN (3, 300, 450)", "INSERT INTO log %sSELECT i, %s FROM c" % (count_to(num_rows + 700, num_rows + 1), more))
            left = [n]

            def refuse(*what):
                left[0] -= 1
                return sqlite3.SQLITE_DENY if left[0] == 0 else sqlite3.SQLITE_OK
            db.set_authorizer(refuse)
            num_stops += error_of(db, "INSERT INTO log_index(log_index) VALUES ('merge')") is not None
            db.set_authorizer(None)
            conditions = ["v = -7", "v BETWEEN 4000 AND 4100", "v > %d" % (num_rows * 10 - 100), "v > 'over 8 bytes: %d'" % (num_rows + 5), "v < 100"]
            goes_on_after_a_stop(db, conditions, "merge=%d" % (1 + n % 5), "merge")
            if left[0] > 0:
                break
    assert num_stops > 20, num_stops


def changed_rows(files, made, prepare):
    """The rowids of rows that a merge writes."""
    db = copy_of(files, made)
    execute(db, *prepare)
    before = dict(db.execute("SELECT rowid, data FROM log_index_zones1"))
    command(db, "merge")
    after = dict(db.execute("SELECT rowid, data FROM log_index_zones1"))
    db.close()
    return sorted(rowid for rowid, data in after.items() if before.get(rowid) != data)


@test
@slow
def stopped_writes(files):
    """A trigger refuses the merge to write a row of zones or a directory, after those before it."""
    num_stops = 0
    for num_rows, more in (1000, "i"), (1024, "'a long text: ' || i"):
        made = make(files.connect(":memory:"), "i", num_rows)
        prepare = ["UPDATE log SET v = -7 WHERE id IN (3, 450)", "INSERT INTO log %sSELECT i, %s FROM c" % (count_to(num_rows + 900, num_rows + 1), more)]
        for rowid in changed_rows(files, made, prepare):
            for action in "FAIL, 'stop'", "ABORT, 'stop'", "IGNORE":
                db = copy_of(files, made)
                execute(db, "BEGIN", *prepare, STOP % (rowid, action))
                num_stops += error_of(db, "INSERT INTO log_index(log_index) VALUES ('merge')") is not None
                db.execute("DROP TRIGGER stop")
                command(db, "integrity-check")
                conditions = ["v = -7", "v BETWEEN 400 AND 410", "v BETWEEN %d AND %d" % (num_rows - 90, num_rows + 10), "v > 'a long text: 9'", "v = 'a long text: %d'" % (num_rows + 30)]
                goes_on_after_a_stop(db, conditions, "merge=100", "merge")
    assert num_stops > 40, num_stops


@test
def a_trigger_that_keeps_rows_out(files):
    """The merge says so: zones of before would lose rows.  A row that is gone is damage, of which each query tells."""
    db = make(files.connect(":memory:"), "i", 1000)
    execute(db, "CREATE TRIGGER kept BEFORE INSERT ON log_index_zones1 BEGIN SELECT RAISE(IGNORE); END", "UPDATE log SET v = -7 WHERE id = 500")
    fails(db, "INSERT INTO log_index(log_index) VALUES ('merge')", "a trigger on log_index_zones1 keeps its rows out")
    is_right(db, ["v = -7", "v = 500"])
    execute(db, "DROP TRIGGER kept", "CREATE TRIGGER kept AFTER INSERT ON log_index_zones1 BEGIN DELETE FROM log_index_zones1 WHERE rowid = new.rowid; END")
    command(db, "merge")
    is_right(db, ["v = -7", "v = 500"])
    fails(db, CHECK, "damaged")
    db.execute("DROP TRIGGER kept")
    command(db, "merge")
    is_right(db, ["v = -7", "v = 500"])
    is_whole(db)


# -- Damage -----------------------------------------------------------------------------------------

def write(db, rowid, data):
    db.execute("UPDATE log_index_zones1 SET data = ? WHERE rowid = ?", (data, rowid))


DAMAGES = {
    "gone": lambda db, rowid, data, former: db.execute("DELETE FROM log_index_zones1 WHERE rowid = ?", (rowid,)),
    "zeros": lambda db, rowid, data, former: write(db, rowid, bytes(len(data))),
    "a bit": lambda db, rowid, data, former: write(db, rowid, data[:9] + bytes([data[9] ^ 4]) + data[10:]),
    "short": lambda db, rowid, data, former: write(db, rowid, data[:-1]),
    "empty": lambda db, rowid, data, former: write(db, rowid, b""),
    "long": lambda db, rowid, data, former: write(db, rowid, data + bytes(4000)),
    "another's": lambda db, rowid, data, former: write(db, rowid, one(db, "SELECT data FROM log_index_zones1 WHERE rowid <> ?", rowid)),
    "of a former generation": lambda db, rowid, data, former: write(db, rowid, former[rowid]),
    "no BLOB": lambda db, rowid, data, former: write(db, rowid, None),
}


@each(DAMAGES)
def damaged(files, damage):
    """Each row of zones in turn: no row is lost, and 'merge' repairs it."""
    db = make(files.connect(), "i * 10", 700)
    conditions = ["v BETWEEN %d AND %d" % (low, low + 100) for low in range(0, 7000, 900)] + ["v > 6900", "v < 50"]
    former = dict(db.execute("SELECT rowid, data FROM log_index_zones1"))
    command(db, "rebuild")
    assert len(former) > 6 and max(former) > DIRECTORY, former
    for rowid in former:
        damage(db, rowid, one(db, "SELECT data FROM log_index_zones1 WHERE rowid = ?", rowid), former)
        is_right(db, conditions)
        fails(db, CHECK, "damaged")
        execute(db, "UPDATE log SET v = v WHERE id = 5", "INSERT INTO log(v) VALUES (7)")
        command(db, "merge")
        if error_of(db, CHECK):
            command(db, "rebuild")  # nothing had met it yet
        is_right(db, conditions)
        is_whole(db)


@test
def tables_swapped(files):
    """Zones of another column are damage, too."""
    db = make(files.connect(":memory:"), "i", 1000, "v RANGE, w RANGE", "v, w")
    db.execute("UPDATE log SET w = -id")
    command(db, "rebuild")
    execute(db, "CREATE TEMP TABLE kept AS SELECT rowid AS n, data FROM log_index_zones1", "DELETE FROM log_index_zones1", "INSERT INTO log_index_zones1(rowid, data) SELECT rowid, data FROM log_index_zones2",
            "DELETE FROM log_index_zones2", "INSERT INTO log_index_zones2(rowid, data) SELECT n, data FROM kept")
    is_right(db, ["v = 77", "w = -77", "v > 990 AND w > -995"])
    fails(db, CHECK, "damaged")
    command(db, "merge")
    is_whole(db)


@test
def damage_that_a_merge_meets_first(files):
    """Where it goes on, or where a row has changed."""
    for rowid in 0, DIRECTORY:
        for change in "INSERT INTO log VALUES (0, 77777)", "UPDATE log SET v = 77777 WHERE id = 3":
            db = make(files.connect(":memory:"), "i", 500)
            write(db, rowid, b"")
            db.execute(change)
            command(db, "merge")
            is_right(db, ["v = 77777", "v < 5", "v > 400"])
            is_whole(db)


# Of rows of all keys' bytes: {what: (whether it reads as none, the new bytes)}.
RIGHTLY_CHECKSUMMED = {
    "too many shared bytes": lambda data: data[:20] + b"\x19" + data[21:], "too many kept bytes": lambda data: data[:21] + b"\x18" + data[22:], "both of 255": lambda data: data[:20] + b"\xff\xff" + data[22:],
    "a second span alone": lambda data: u32(u32(data, 8, 0), 12, 1), "a key too many": lambda data: data + bytes(data[21]), "a span too many": lambda data: data[:-2 * data[21]], "too few": lambda data: u32(data, 12, 0),
    "a head alone": lambda data: data[:22], "a span turned round": lambda data: data[:22 + data[20]] + b"\xff" * data[21] + bytes(data[21]) + data[22 + data[20] + 2 * data[21]:],
}


@each(RIGHTLY_CHECKSUMMED)
def damaged_under_a_checksum(files, change):
    """Such a row is seen to be none: everything is read."""
    for rowid in 2, DIRECTORY + 1:
        db = make(files.connect(":memory:"), "i * 10", 1000)
        data = change(one(db, "SELECT data FROM log_index_zones1 WHERE rowid = ?", rowid))
        write(db, rowid, struct.pack("<Q", checksum(data, Layout(db).number, rowid)) + data[8:])
        is_right(db, ["v BETWEEN %d AND %d" % (low, low + 100) for low in range(0, 10000, 900)])
        fails(db, CHECK, "is damaged")
        command(db, "merge")
        is_whole(db)
        db.close()


@test
def zones_behind_the_last_span(files):
    """They are not looked at: a merge that stopped half-way may have left them."""
    db = make(files.connect(":memory:"), "i", 300)
    for rowid in [row[0] for row in db.execute("SELECT rowid FROM log_index_zones1 WHERE rowid >= ?", (DIRECTORY,))]:
        # Each entry has all keys.
        data = bytes(8) + struct.pack("<IIIBB", 0, 2**ZONES - 1, 0, 0, KEY_BYTES) + ZONES * (bytes(KEY_BYTES) + b"\xff" + bytes(KEY_BYTES - 1))
        write(db, rowid, struct.pack("<Q", checksum(data, Layout(db).number, rowid)) + data[8:])
    conditions = ["v BETWEEN 5 AND 9", "v > 290"]
    last = db.execute("SELECT rowid, data FROM log_index_zones1 WHERE rowid < ? ORDER BY rowid DESC", (DIRECTORY,)).fetchone()
    is_right(db, conditions)
    assert last is not None


@test
def check_finds_what_a_zone_lacks(files):
    """A directory from before rows changed, and notes of changed rows that somebody deletes.  The repair can be pasted."""
    db = make(files.connect(), "i", 5000)
    rowid = DIRECTORY + Layout(db).zone_of(3000) // ZONES // ZONES
    before = one(db, "SELECT data FROM log_index_zones1 WHERE rowid = ?", rowid)
    db.execute("UPDATE log SET v = 77777 WHERE id = 3000")
    command(db, "merge")
    write(db, rowid, before)
    fails(db, CHECK, "misses row 3000", "rebuild")
    execute(db, "UPDATE log SET v = 99999 WHERE id = 2000", "DELETE FROM log_index_changed")
    fails(db, CHECK, "misses row 2000", "rebuild")
    db.execute('ALTER TABLE log_index RENAME TO "order"')
    check = """INSERT INTO "order"("order") VALUES ('integrity-check')"""
    fails(db, check, "misses row 2000")
    db.execute(re.search("(INSERT INTO .*) repairs it", str(error_of(db, check)))[1])
    db.execute('ALTER TABLE "order" RENAME TO log_index')
    is_whole(db)
    is_right(db, ["v > 6000"])


@test
def grammar(files):
    db = files.connect()
    db.create_collation("own", lambda a, b: (a > b) - (a < b))
    execute(db, "CREATE TABLE log(id INTEGER PRIMARY KEY, v INTEGER, w TEXT COLLATE own)")
    for sql, *words in (("bloom_index(log, v RANGE, v RANGE)", "column v is named twice"), ("bloom_index(log, id RANGE)", "INTEGER PRIMARY KEY"),
                        ("bloom_index(log, v RANGE LIKE)", "RANGE"), ("bloom_index(log, w RANGE)", "column w", "collation own"), ("bloom_index(log, z RANGE)", "no column z")):
        fails(db, "CREATE VIRTUAL TABLE log_index USING " + sql, *words)
    for columns in "v RANGE", "v range, v", "v LIKE, v RANGE, v", '"v" Range, w LIKE':
        db.execute("CREATE VIRTUAL TABLE log_index USING bloom_index(log, %s)" % columns)
        command(db, "merge")
        expect(db.execute("SELECT * FROM log_index WHERE v > 5").fetchall(), [])
        db.execute("DROP TABLE log_index")


if __name__ == "__main__":
    sys.exit(main())
