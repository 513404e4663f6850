"""The pages of an index, read by entries_reader.py: another program, which knows ext/FORMATS.md alone.

Every row that the index finds lies in the ranges that the reader finds, absent keys leave few, and no damage is passed over.
"""
import bisect
import random
import struct
import sys

from log import command  # the first: it finds the others
from cases import column, each, execute, expect, main, one, test
from entries_reader import Index

SHAPES = {
    "dense": lambda i, draw: i,
    "descending": lambda i, draw: -i,
    "with holes": lambda i, draw: i * 1000 + draw.randrange(900),
    "three workers": lambda i, draw: (i % 3) << 48 | i,
    "times": lambda i, draw: (1700000000000 + i * 7) << 22 | i % 5,
    "random": lambda i, draw: draw.randrange(-1 << 63, 1 << 63),
}
WORDS = "Error timeout user näher 接続 失敗 データ café 👍 order-7731 Ünïcode select\tfrom ok".split(" ")
KEYS = ("k", "n", "c")  # the first three indexed columns


def read(files, db):
    """The index as a connection without the extension finds it; limits are those of run.sh's small build."""
    db.execute("COMMIT") if db.in_transaction else None
    tiny = dict(segment_blocks=64, span_blocks=8, spans_per_row=5)
    return Index(files.connect(load=False), "log_index", **(tiny if "tiny" in files.load else {}))


def row(i, shape, draw):
    text = " ".join(draw.choices(WORDS, k=6)) + " %05x" % draw.randrange(1 << 20)
    return SHAPES[shape](i, draw), draw.choice(("key-%x", "Key %d ", "é%d")) % draw.randrange(1 << 30), draw.randrange(2000), draw.choice("abcdefgh") * 3, text


def make(files, shape, draw, num_merges=40, rows_of_merge=60):
    db = files.connect()
    execute(db, "CREATE TABLE log(id INTEGER PRIMARY KEY, k TEXT COLLATE NOCASE, n INTEGER, c TEXT COLLATE RTRIM, m)",
            "CREATE VIRTUAL TABLE log_index USING bloom_index(log, k, n, c, m LIKE)")
    num_joins = 0
    for i in range(num_merges):
        db.execute("BEGIN")
        db.executemany("INSERT OR IGNORE INTO log VALUES (?, ?, ?, ?, ?)", [row(i * rows_of_merge + j, shape, draw) for j in range(rows_of_merge)])
        db.execute("UPDATE log SET m = 123456.25 + %d WHERE id = (SELECT id FROM log LIMIT 1 OFFSET %d)" % (i, 7 * i) if i % 8 == 5 else "SELECT 1")
        db.execute("COMMIT")
        execute(db, "UPDATE log SET k = k || 'x', m = 'changed ' || m WHERE id IN (SELECT id FROM log ORDER BY id * 17 %% 1009 LIMIT %d)" % (i % 3))
        command(db, "merge=%d" % (rows_of_merge + 5))
        num_joins += i % 4 == 3 and any(run.role == 2 for columns, *_ in read(files, db).generations for *_, runs in columns for run in runs)
    execute(db, "INSERT INTO log(k, n, c, m) VALUES ('new', -5, 'z', 'a new row')" if shape != "random" else "SELECT 1",
            "UPDATE log SET n = 77, m = 'moved' WHERE id IN (SELECT id FROM log LIMIT 3)")
    return db, num_joins


def are_in(ids, ranges, what):
    ranges = [r for i, r in enumerate(sorted(ranges)) if r[0] <= r[1]]
    begins, most = [r[0] for r in ranges], []
    for r in ranges:
        most.append(max(r[1], most[-1] if most else r[1]))
    for id_ in ids:
        at = bisect.bisect(begins, id_) - 1
        assert at >= 0 and id_ <= most[at], "%s: row %d is not in %r" % (what, id_, ranges[:20])


def number_of_blocks(index, ranges):
    """How many ranges are of blocks, and not of single rows or what is not merged."""
    return sum(first < last and first <= index.covered for first, last in ranges)


@each(SHAPES.keys())
def finds_all(files, shape):
    draw = random.Random(shape)
    db, num_joins = make(files, shape, draw)
    assert num_joins > 0 or "tiny" not in files.load, "no join was seen that is spread over merges"
    index = read(files, db)
    num_found = 0
    for number, name in enumerate(KEYS, 1):
        for key in draw.sample(column(db, "SELECT DISTINCT %s FROM log" % name), k=8 if name == "c" else 20):
            ids = column(db, "SELECT id FROM log_index WHERE %s = ?" % name, key)
            are_in(ids, index.of_key(number, key), "%s = %r" % (name, key))
            num_found += len(ids)
    for text in column(db, "SELECT CAST(m AS TEXT) FROM log ORDER BY typeof(m), id % 101 LIMIT 9"):
        begin = draw.randrange(len(text) - 2)
        for needle, options in ((text[begin:begin + draw.randrange(3, 12)], {}), (text[:draw.randrange(2, 9)], {"begins": True}), (text[-draw.randrange(3, 9):], {"ends": True}),
                                (text, {"begins": True, "ends": True})):
            pattern = "%" * ("begins" not in options) + needle + "%" * ("ends" not in options)
            ids = column(db, "SELECT id FROM log_index WHERE m LIKE ?", pattern)
            assert ids, pattern
            are_in(ids, index.of_text(4, needle, **options), pattern)
            num_found += len(ids)
    assert num_found > 150, num_found
    absent = [number_of_blocks(index, index.of_key(1, "absent %x" % draw.randrange(1 << 60))) for _ in range(30)]
    absent += [number_of_blocks(index, index.of_text(4, needle)) for needle in ("zqxzqxzqx", "本当本当", "&&&&&&")]
    assert sum(absent) <= len(absent), absent


@test
def damage_is_seen(files):
    """No byte of a row that is changed, and no row that is gone, leaves a smaller answer."""
    draw = random.Random(1)
    db, _ = make(files, "dense", draw, num_merges=12)
    keys = draw.sample(column(db, "SELECT k FROM log"), k=30)
    wanted = [read(files, db).of_key(1, key) for key in keys]

    def is_seen(what):
        for key, ranges in zip(keys, wanted):
            try:
                found = read(files, db).of_key(1, key)
            except (AssertionError, struct.error):
                return 1
            expect(found, ranges, what)
        return 0
    num_seen = is_seen("nothing")
    rows = db.execute("SELECT rowid, data FROM log_index_entries1 WHERE rowid > 0 ORDER BY rowid").fetchall()
    for rowid, data in draw.sample(rows, k=min(len(rows), 8)):
        at = draw.randrange(len(data))
        db.execute("UPDATE log_index_entries1 SET data = ? WHERE rowid = ?", (data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1:], rowid))
        num_seen += is_seen("row %d, byte %d" % (rowid, at))
        db.execute("DELETE FROM log_index_entries1 WHERE rowid = ?", (rowid,))
        num_seen += is_seen("row %d is gone" % rowid)
        db.execute("INSERT INTO log_index_entries1(rowid, data) VALUES (?, ?)", (rowid, data))
    expect(is_seen("all is as it was"), 0)
    assert num_seen >= 4, num_seen
    for table, name in (("state", "layout"), ("state", "config"), ("spans", "data")):
        data = one(db, "SELECT %s FROM log_index_%s" % (name, table))
        at = draw.randrange(len(data))
        db.execute("UPDATE log_index_%s SET %s = ?" % (table, name), (data[:at] + bytes([data[at] ^ 16]) + data[at + 1:],))
        expect(is_seen(name), 1, table)
        db.execute("UPDATE log_index_%s SET %s = ?" % (table, name), (data,))


if __name__ == "__main__":
    sys.exit(main())
