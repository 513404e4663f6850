"""Zones: where they are, how few rows they leave, and what stops, damages or outgrows them.

    python3 test/index/zones.py [--load ./bloom] [--only NAME]

ranges.py asks at random whether what they leave out is right.
"""
import random
import re
import sqlite3
import sys

from log import CHECK, PLANS_SAY, command, row_checksummed, same, state, steps_of  # the first: it finds the others
from cases import case, error_of, execute, expect, fails, image, main, one, plan, slow, test

ZONE = 256
NARROW, WIDE = 91, 38  # zones of a row
DIRECTORY = 38         # rows of a directory of wide keys


def count_to(n, first=1):
    return "WITH RECURSIVE c(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM c WHERE i < %d) " % (first, n)


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


def num_zone_rows(db):
    return one(db, "SELECT count(*) FROM log_index_blocks_1")


def is_whole(db):
    command(db, "integrity-check")
    expect(state(db), None)


def unchecked(data):
    return b"".join(data[at:at + 1008] for at in range(0, len(data), 1014))


def read_zones(data):
    """A stored row, without its checksums: bytes of a key, and (last id, four keys) of each zone."""
    data = unchecked(data)
    width = data[1]
    size = 8 + 4 * (1 + width)
    zones = [data[4 + size * i:4 + size * (i + 1)] for i in range(data[0])]
    return width, [(int.from_bytes(zone[:8], "little", signed=True), [zone[8 + j * (1 + width):8 + (j + 1) * (1 + width)] for j in range(4)]) for zone in zones]


OPERATORS = {"<": "v < 2100", "<=": "v <= 2100", ">": "v > 198000", ">=": "v >= 198000", "BETWEEN": "v BETWEEN 100000 AND 100100",
             "two": "v > 100000 AND v < 100300", "=": "v = 77777", "IS": "v IS 77777", "IN": "v IN (5, 777, 77777, 199999)", "IN list": "v IN (SELECT i * 40000 FROM (%sSELECT i FROM c))" % count_to(4),
             "turned": "2100 > v", "parameters": "v BETWEEN 2 * 50000 AND 100000 + 100"}


def operators(files, where):
    is_narrow(make(files.connect(), "i * 2 + i % 7", 100000, definition="v INTEGER"), where, share=15)


for name, where in OPERATORS.items():
    case(operators, name, where)


@test
def sizes(files):
    """0.18 bytes a row of numbers, 0.42 of texts: rows fill their pages."""
    db = files.connect()
    num_rows = 100 * NARROW * ZONE // 10
    make(db, "i * 10", num_rows)
    expect(num_zone_rows(db), 11)
    expect({len(row[0]) for row in db.execute("SELECT data FROM log_index_blocks_1")}, {4056})
    expect([len(read_zones(row[0])[1]) for row in db.execute("SELECT data FROM log_index_blocks_1")], [10] + 10 * [NARROW])
    expect(one(db, "SELECT hex(substr(data, 1, 4)) FROM log_index_blocks_1 WHERE rowid = 1"), "0A08FF%02X" % NARROW)
    execute(db, "DROP TABLE log_index", "UPDATE log SET v = strftime('%Y-%m-%d %H:%M:%S', v, 'unixepoch')", "CREATE VIRTUAL TABLE log_index USING bloom_index(log, v RANGE)")
    command(db, "merge")
    expect([len(read_zones(row[0])[1]) for row in db.execute("SELECT data FROM log_index_blocks_1")][:3], [24, WIDE, WIDE])
    is_narrow(db, "v >= '1970-01-20' AND v < '1970-01-20 01'")


@test
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


def encodings(files, encoding):
    """BINARY compares UTF-16 as its bytes, in which letters beyond ASCII have another order."""
    db = files.connect(":memory:")
    db.execute("PRAGMA encoding = '%s'" % encoding)
    letters = ["a", "z", "\u00e9", "\u0101", "\u0161", "\u017f", "\u2161", "\uff41", "\U0001f600", "za", "z\u0101", "z\u00e9", "zz", "\u6100", "\u00e9a"]
    make(db, "(SELECT t FROM words WHERE n = i / 256)", 256 * len(letters) - 1,
         before=["CREATE TABLE words(n INTEGER PRIMARY KEY, t TEXT)"] + ["INSERT INTO words VALUES (%d, '%s')" % pair for pair in enumerate(letters)], definition="v TEXT")
    is_right(db, ["v %s '%s'" % (operator, letter) for operator in ("<", "<=", ">", ">=", "=") for letter in letters]
             + ["v > '%s' AND v < '%s'" % (a, b) for a in letters for b in letters] + ["v >= CAST(x'6161' AS TEXT) AND v < CAST(x'6162' AS TEXT)"])


for encoding in "UTF-8", "UTF-16le", "UTF-16be":
    case(encodings, encoding, encoding)


def list_of_halves(files, encoding, half, columns):
    """Half a character in a list is what it was where damage gives up the blocks or zones that were asked for it."""
    db = files.connect(":memory:")
    db.execute("PRAGMA encoding = '%s'" % encoding)
    make(db, "'key' || i", 20 * ZONE, columns, "v TEXT")
    db.execute("UPDATE log SET v = CAST(x'%s' AS TEXT) WHERE id = 900" % half)
    command(db, "rebuild")
    db.execute("UPDATE log_index_blocks_1 SET data = x'' WHERE data <> x'' AND rowid > 0")
    where = "v IN (CAST(x'%s' AS TEXT), 'key5', 'key6')" % half
    expect(db.execute("SELECT id FROM log WHERE " + where).fetchall(), [(5,), (6,), (900,)])
    is_right(db, [where])


for encoding, half in ("UTF-16le", "6b003dd86b00"), ("UTF-16be", "006bd83d006b"):
    for columns in "v", "v RANGE", "v LIKE":
        case(list_of_halves, "%s, %s" % (encoding, columns), encoding, half, columns)


@test
def numbers_and_texts_of_other_columns(files):
    """What a text is depends on the other side, which nobody tells: a column of numbers that holds '!', another virtual table."""
    db = make(files.connect(":memory:"), "CASE WHEN i < 600 THEN '10' WHEN i < 1200 THEN 'x' ELSE 'word ' || i END", 3000, definition="v TEXT")
    execute(db, "CREATE TABLE o(n NUMERIC, t TEXT, i INTEGER)", "INSERT INTO o VALUES ('!', '!', 10), ('x', '9', 9), (5, '10', 11)")
    for operator in "<", "<=", ">", ">=", "=", "IS":
        for column in "n", "t", "i":
            same(db, "SELECT count(*), sum(l.id) FROM o CROSS JOIN {t} AS l ON l.v %s o.%s" % (operator, column))


@test
def together_with_blocks(files):
    """Zones come before blocks, and ids before both."""
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
    """Of any number of rows: a zone that is open goes on, and another begins where it is full."""
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
    zones = [zone for row in db.execute("SELECT data FROM log_index_blocks_1 WHERE rowid > 1 ORDER BY rowid") for zone in read_zones(row[0])[1]]
    expect([last for last, _ in zones], [min(last, num_rows) for last in range(ZONE, num_rows + ZONE, ZONE)])


@test
@slow
def texts_among_numbers(files):
    """A row of zones gets wider keys while it has room; after that the next row has them, and the zone that was open stays where it is."""
    r = random.Random(11)
    for num_zones in 3, WIDE - 1, WIDE, WIDE + 5, NARROW - 1, NARROW:
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
    """Rows of zones of two directories and of a third, which is there before its first row."""
    per_directory = DIRECTORY * WIDE * ZONE
    num_rows = per_directory - 300

    def value(at):
        return "strftime('%%Y-%%m-%%d %%H:%%M:%%S', 1700000000 + %s, 'unixepoch')" % at
    db = make(files.connect(":memory:"), value("i"), num_rows)

    def finds(where, ids):
        """In a fiftieth of the steps of a table's scan, which takes three or more for a row."""
        rows, steps = steps_of(db, "SELECT id FROM log_index WHERE " + where)
        expect([row[0] for row in rows], list(ids), where)
        assert 50 * 10 * steps < 3 * num_rows, (where, steps)
    expect(num_zone_rows(db), 1 + DIRECTORY)
    # The full directory cannot be written.
    execute(db, INDEXED, "BEGIN", "INSERT INTO log %sSELECT i, %s FROM c" % (count_to(num_rows + 900, num_rows + 1), value("i")), STOP % 1)
    fails(db, "INSERT INTO log_index(log_index) VALUES ('merge')", "stop")
    execute(db, "ROLLBACK", "DROP INDEX own")
    for more in 200, 99, 1, 1, 256, 3 * per_directory // 2, 7:
        db.execute("INSERT INTO log %sSELECT i, %s FROM c" % (count_to(num_rows + more, num_rows + 1), value("i")))
        num_rows += more
        command(db, "merge")
        for at in 1, ZONE, num_rows // 2, per_directory - 10, per_directory, num_rows - 5:
            finds("v >= %s AND v < %s" % (value(at), value(at + 20)), range(at, min(at + 20, num_rows + 1)))
    expect(num_zone_rows(db), -(-(-(-num_rows // ZONE)) // WIDE) + 3)
    late = [1, per_directory, per_directory + 1, 2 * per_directory + 5, num_rows]
    for at in late:
        db.execute("UPDATE log SET v = '2100' WHERE id = ?", (at,))
    command(db, "merge")
    finds("v = '2100'", late)
    for at in late:
        finds("v >= %s AND v < %s" % (value(at), value(at + 20)), [i for i in range(at, min(at + 20, num_rows + 1)) if i not in late])
    is_whole(db)


# -- What stops a merge ---------------------------------------------------------------------------

# Rows that are there are written as BLOBs, which no trigger hears of, but for those of a table that is indexed.
INDEXED = "CREATE INDEX own ON log_index_blocks_1(data)"
STOP = "CREATE TEMP TRIGGER stop BEFORE INSERT ON log_index_blocks_1 WHEN new.rowid = %d BEGIN SELECT RAISE(FAIL, 'stop'); END"


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


@test
@slow
def stopped_writes(files):
    """A trigger refuses the merge to write a row of zones, after those before it."""
    num_stops = 0
    for num_rows, more in (89 * ZONE + 100, "'a long text: ' || i"), (90 * ZONE + 256, "i"), (182 * ZONE + 100 - 30000, "i"), (500, "'a long text: ' || i"), (180 * ZONE, "'a long text: ' || i"):
        made = make(files.connect(":memory:"), "i", num_rows)
        for rowid, indexed in [(rowid, "SELECT 1") for rowid in range(1, 5)] + [(1, INDEXED), (2, INDEXED)]:
            db = copy_of(files, made)
            execute(db, "BEGIN", "UPDATE log SET v = -7 WHERE id IN (3, 450)", "INSERT INTO log %sSELECT i, %s FROM c" % (count_to(num_rows + 30000, num_rows + 1), more),
                    indexed, STOP % rowid)
            num_stops += error_of(db, "INSERT INTO log_index(log_index) VALUES ('merge')") is not None
            db.execute("DROP TRIGGER stop")
            command(db, "integrity-check")
            conditions = ["v = -7", "v BETWEEN 400 AND 410", "v BETWEEN %d AND %d" % (num_rows - 90, num_rows + 10), "v > 'a long text: 9'", "v = 'a long text: %d'" % (num_rows + 30)]
            goes_on_after_a_stop(db, conditions, "merge=100", "merge")
    assert num_stops > 8, num_stops


# -- Damage -----------------------------------------------------------------------------------------

def damaged(files, name, damage):
    """Each row of zones in turn: no row is lost, and 'merge' repairs it."""
    db = make(files.connect(), "i * 10", 190 * ZONE)
    conditions = ["v BETWEEN %d AND %d" % (low, low + 100) for low in range(0, 1900 * ZONE, 450 * ZONE)] + ["v > %d" % (1899 * ZONE), "v < 50"]
    rows = db.execute("SELECT rowid, data FROM log_index_blocks_1").fetchall()
    expect(len(rows), 4)
    for rowid, data in rows:
        damage(db, rowid, data)
        is_right(db, conditions)
        fails(db, CHECK, "damaged")
        assert "reads the whole" in plan(db, "SELECT * FROM log_index WHERE v = 1") or not PLANS_SAY or rowid == rows[-1][0] or name == "a bit"
        execute(db, "UPDATE log SET v = v WHERE id = 5", "INSERT INTO log(v) VALUES (7)")
        command(db, "merge")
        if error_of(db, CHECK):
            command(db, "rebuild")  # nothing had met it yet
        is_right(db, conditions)
        is_whole(db)
        expect(num_zone_rows(db), 4)


def write(db, rowid, data):
    db.execute("UPDATE log_index_blocks_1 SET data = ? WHERE rowid = ?", (data, rowid))


DAMAGES = {
    "gone": lambda db, rowid, data: db.execute("DELETE FROM log_index_blocks_1 WHERE rowid = ?", (rowid,)),
    "zeros": lambda db, rowid, data: write(db, rowid, bytes(len(data))),
    "a bit": lambda db, rowid, data: write(db, rowid, data[:30] + bytes([data[30] ^ 4]) + data[31:]),
    "short": lambda db, rowid, data: write(db, rowid, data[:1014]),
    "empty": lambda db, rowid, data: write(db, rowid, b""),
    "another's": lambda db, rowid, data: db.execute("UPDATE log_index_blocks_1 SET data = (SELECT b.data FROM log_index_blocks_1 b WHERE b.rowid = ?1 % 4 + 1) WHERE rowid = ?1", (rowid,)),
    "no BLOB": lambda db, rowid, data: write(db, rowid, None),
}
for name, damage in DAMAGES.items():
    case(damaged, name, name, damage)


@test
def damage_that_a_merge_meets_first(files):
    """Where it goes on, or where a row has changed."""
    for rowid in 1, 2:
        for change in "INSERT INTO log(v) VALUES (77777)", "UPDATE log SET v = 77777 WHERE id = 3":
            db = make(files.connect(":memory:"), "i", 500)
            write(db, rowid, b"")
            db.execute(change)
            command(db, "merge")
            is_right(db, ["v = 77777", "v < 5", "v > 400"])
            is_whole(db)


# Of a directory and a row of zones: 44 bytes each behind the first 4, and the last id in front.
RIGHTLY_CHECKSUMMED = {
    "bytes of a key": (3, 1, b"\x09"), "zones": (3, 0, b"\x5c"), "room": (1, 3, b"\x5c"), "ids descend": (3, 4 + 44, bytes(8)),
    "a row begins too early": (3, 4, bytes(8)), "a row ends too early": (3, 0, b"\x05"), "a directory ends too early": (1, 0, b"\x02"),
    "a directory goes on before its end": (1, 0, b"\1\x08\xff\0"),
}


def damaged_under_a_checksum(files, rowid, at, new):
    """Such a row is seen to be none: everything is read."""
    db = make(files.connect(), "i * 10", 190 * ZONE)
    data = unchecked(one(db, "SELECT data FROM log_index_blocks_1 WHERE rowid = ?", rowid))
    write(db, rowid, row_checksummed(db, rowid, data[:at] + new + data[at + len(new):]))
    is_right(db, ["v BETWEEN %d AND %d" % (low, low + 100) for low in range(0, 1900 * ZONE, 450 * ZONE)])
    assert any(word in str(error_of(db, CHECK)) for word in ("is damaged", "misses row"))
    command(db, "merge")
    is_whole(db)


for name, changed in RIGHTLY_CHECKSUMMED.items():
    case(damaged_under_a_checksum, name, *changed)


@test
def check_finds_what_a_zone_lacks(files):
    """A directory from before rows changed, and notes of changed rows that somebody deletes.  The repair can be pasted."""
    db = make(files.connect(), "i", 5000)
    before = one(db, "SELECT data FROM log_index_blocks_1 WHERE rowid = 1")
    db.execute("UPDATE log SET v = 77777 WHERE id = 3000")
    command(db, "merge")
    write(db, 1, before)
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
