"""A table that grows in every shape of ids, by merges of a few rows: look-ups find what the table has, and read little for it.

Joins and rebuilds that are spread over many merges go on all the while: the small build has them in tables of some hundred rows.
"""
import itertools
import os
import random
import struct
import sys

from log import command, same, state, steps_of  # the first: it finds the others
from cases import each, expect, main, one, test

NUM_ROWS = 1200
STEP = 40


def snowflakes(draw, i):
    """So many milliseconds since the last burst of eight."""
    return (i // 8 * 13 + draw.randrange(3)) << 22 | 3 << 12 | i % 8


IDS = {
    "dense": lambda draw, i: i + 1,
    "with holes": lambda draw, i: 7 * i + draw.randrange(7),
    "descending": lambda draw, i: NUM_ROWS - i,
    "two writers": lambda draw, i: i // 2 + (10**9 if i % 2 else 1),
    "worker << 48 | seq": lambda draw, i: i % 5 << 48 | i // 5,
    "snowflakes": snowflakes,
    "random": lambda draw, i: draw.getrandbits(63),
    "random, of both signs": lambda draw, i: draw.getrandbits(64) - 2**63,
    "negative": lambda draw, i: i - NUM_ROWS,
    "at both ends": lambda draw, i: (-2**63, 2**63 - 1)[i] if i < 2 else i,
}

MIXED = {  # the same with the number of rows: near each other in one place, far apart in another
    "dense, then random": lambda draw, i, n: i + 1 if i < n // 2 else draw.getrandbits(62),
    "dense, a tenth random": lambda draw, i, n: i + 1 if i < n - n // 10 else draw.getrandbits(62),
    "random, a tenth dense": lambda draw, i, n: i + 1 if i < n // 10 else draw.getrandbits(62),
    "dense, then snowflakes": lambda draw, i, n: i + 1 if i < n // 2 else snowflakes(draw, 10**7 + i),
    "stretches": lambda draw, i, n: i // 200 * 0x9e3779b97f4a7c15 % 2**62 + i % 200,
    "stretches in random ids": lambda draw, i, n: i // 200 * 0x9e3779b97f4a7c15 % 2**62 + i % 200 if i % 3 else draw.getrandbits(62),
    "gaps that grow": lambda draw, i, n: i + int(2**(62 * i / n)),
    "in turns, of both signs": lambda draw, i, n: i - n // 2 if i % 2 else draw.getrandbits(64) - 2**63,
}
IDS.update({shape: lambda draw, i, shape=shape: MIXED[shape](draw, i, NUM_ROWS) for shape in MIXED})


def make(files, columns, others="k TEXT, message TEXT", path=None):
    db = files.connect(path)
    db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, %s)" % others)
    db.execute("CREATE VIRTUAL TABLE log_index USING bloom_index(log, %s)" % columns)
    return db


def finds_all(db, draw, num_rows):
    """What of a sample of rows the table finds, the index finds, too."""
    rows = db.execute("SELECT id, k, message FROM log ORDER BY random() LIMIT ?", (num_rows,)).fetchall()
    for id, k, message in rows:
        for condition, value in ("k = ?", k), ("message LIKE ?", "%" + message[2:-1] + "%"), ("message LIKE ?", message[:9] + "%"):
            wanted, found = (db.execute("SELECT id FROM %s WHERE %s ORDER BY id" % (table, condition), (value,)).fetchall()
                             for table in ("log", "log_index"))
            assert (id,) in found, (id, condition, value)
            expect(found, wanted, condition)
    for i in range(num_rows):
        expect(one(db, "SELECT count(*) FROM log_index WHERE k = ?", "absent %d" % draw.randrange(10**9)), 0)


def num_generations(db):
    return struct.unpack_from("<I", state(db, "layout"), 44)[0]


def slots(db):
    """Of the runs of one column that the layout names."""
    layout, at, found = state(db, "layout"), 56, set()
    for _ in range(num_generations(db)):
        num_runs, = struct.unpack_from("<I", layout, at + 48)
        at += 60
        for _ in range(num_runs):
            slot, role, length = struct.unpack_from("<3I", layout, at + 32)
            found.add(slot)
            at += 44 + length if role == 3 else 40
    return found


@each(IDS.keys())
def grows(files, shape):
    draw = random.Random(7)
    db = make(files, "k, message LIKE")
    most_generations = 1
    for i in range(NUM_ROWS):
        db.execute("INSERT OR REPLACE INTO log VALUES (?, ?, ?)", (IDS[shape](draw, i), "key %d" % draw.randrange(10**9),
                                                                   "request %d of host-%d" % (i * 7919, draw.randrange(40))))
        if i % STEP:
            continue
        if i % (6 * STEP) == 0:
            db.execute("UPDATE log SET k = k || 'u' WHERE id IN (SELECT id FROM log ORDER BY random() LIMIT 9)")
            db.execute("DELETE FROM log WHERE id IN (SELECT id FROM log ORDER BY random() LIMIT 4)")
        command(db, "merge=%d" % (STEP + 20))
        most_generations = max(most_generations, num_generations(db))
        if i % (10 * STEP) == 0:
            command(db, "integrity-check")
            finds_all(db, draw, 12)
    command(db, "merge")
    expect(num_generations(db), 1, "a whole merge ends a rebuild")
    command(db, "integrity-check")
    finds_all(db, draw, 60)
    return most_generations


def fills(files, ids, merged_by):
    """A table with these ids in their order, with zones: bytes of the index, and steps of some look-ups by key."""
    db = make(files, "k, v RANGE", "k TEXT, v INTEGER", ":memory:")
    for first in range(0, len(ids), merged_by):
        db.executemany("INSERT INTO log VALUES (?, ?, ?)", ((ids[i], "key %d" % i, i) for i in range(first, min(first + merged_by, len(ids)))))
        command(db, "merge=%d" % (merged_by + 20))
    command(db, "integrity-check")
    few = range(0, len(ids), len(ids) // 150)
    num_steps = 0
    for i in few:
        rows, steps = steps_of(db, "SELECT id FROM log_index WHERE k = ?", "key %d" % i)
        expect(rows, [(ids[i],)])
        num_steps += steps
    for i in few[::10]:
        for condition in "id BETWEEN %d AND %d" % (min(ids[i], ids[-1]), max(ids[i], ids[-1])), "v BETWEEN %d AND %d" % (i, i + 99), "v > %d AND k = 'key %d'" % (i - 9, i):
            same(db, "SELECT id, k FROM {t} WHERE k <> 'key 7' AND %s ORDER BY id" % condition)
    return one(db, "SELECT sum(length(data)) FROM (SELECT data FROM log_index_entries1 UNION ALL SELECT data FROM log_index_spans)"), num_steps


@each(MIXED.keys(), [8 * NUM_ROWS, 500])
def ids_are_near_and_far(files, shape, merged_by):
    """Blocks have as few rows where ids are near each other as where they are far apart: look-ups take few more steps than where all are near."""
    draw, num_rows = random.Random(7), 8 * NUM_ROWS
    (least_bytes, least_steps), (num_bytes, num_steps) = (fills(files, ids, merged_by) for ids in (
        range(1, num_rows + 1), list(dict.fromkeys(MIXED[shape](draw, i, num_rows) for i in range(num_rows)))))
    assert num_steps < 5 * least_steps and num_bytes < 4 * least_bytes, (num_bytes, least_bytes, num_steps, least_steps)



@test
def rebuilds_are_spread(files):
    """Rows that change again and again are merged again, a part in each merge; rows of runs that are gone go."""
    draw = random.Random(3)
    db = make(files, "k")
    most_generations = 1
    for turn in range(60):
        db.executemany("INSERT OR REPLACE INTO log VALUES (?, ?, '')",
                       [(draw.randrange(500), "key %d" % draw.randrange(10**9)) for i in range(50)])
        command(db, "merge=50")
        most_generations = max(most_generations, num_generations(db))
        expect({slot for slot, in db.execute("SELECT DISTINCT rowid >> 56 FROM log_index_entries1 WHERE rowid >= 0")} - slots(db), set())
        for id, k in db.execute("SELECT id, k FROM log ORDER BY random() LIMIT 5").fetchall():
            expect(db.execute("SELECT id FROM log_index WHERE k = ?", (k,)).fetchall(), [(id,)])
    expect(most_generations, 2)


@test
def small_merges_write_one_page(files):
    """Of keys, most of them: the row of log_index_state, which has the entries until they are many."""
    db = make(files, "k")
    db.execute("PRAGMA journal_mode = WAL")
    log, = [row[2] + "-wal" for row in db.execute("PRAGMA database_list")]
    num_pages = 0
    for turn in range(60):
        db.executemany("INSERT INTO log(k) VALUES (?)", [("key %d" % (turn * 7919 + i),) for i in range(5)])
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        command(db, "merge=10")
        num_pages += os.path.getsize(log) // 4120  # a page and its header
    assert 60 <= num_pages < 90, num_pages
    command(db, "integrity-check")
    expect(one(db, "SELECT count(*) FROM log_index WHERE k IN ('key 0', 'key 7923', 'key 467224')"), 3)


@test
def zones_of_divided_blocks(files):
    """Dense ids among far-apart ones, on either side of where a span ends: each span has zones, in the order of their numbers."""
    for step, before, behind in itertools.product((2**14, 2**29, 2**34), (500, 5000), (500, 5000)):
        db = files.connect(":memory:")
        db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, k TEXT, n INTEGER)")
        ids = {*range(-before, behind), *(i * step for i in range(-299, 300))}
        db.executemany("INSERT INTO log VALUES (?1, 'key ' || ?1, ?1 % 1000)", [(id,) for id in ids])
        db.execute("CREATE VIRTUAL TABLE log_index USING bloom_index(log, k, n RANGE)")
        command(db, "integrity-check")
        for n in -7, 7, 999:
            expect(one(db, "SELECT count(*) FROM log_index WHERE n = ?", n), one(db, "SELECT count(*) FROM log WHERE n = ?", n))


@test
def equal_keys(files):
    """A value that many rows have is one list, and never wider than the rows."""
    for num_values in 1, 8, 1000:
        db = files.connect(":memory:")
        db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, k TEXT)")
        db.execute("INSERT INTO log WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 8000)"
                   " SELECT i, 'v' || (i * 7919 %% %d) FROM c" % num_values)
        db.execute("CREATE VIRTUAL TABLE log_index USING bloom_index(log, k)")
        command(db, "merge")
        for k, count in db.execute("SELECT k, count(*) FROM log GROUP BY k LIMIT 8").fetchall():
            expect(one(db, "SELECT count(*) FROM log_index WHERE k = ?", k), count)
        expect(one(db, "SELECT count(*) FROM log_index WHERE k = 'absent'"), 0)


@test
def blocks_of_texts(files):
    """Random texts fill lists, so their blocks are large: of 32 rows of 70 bytes (small build)."""
    draw = random.Random(12)
    db = make(files, "message LIKE")
    db.executemany("INSERT INTO log VALUES (?, '', ?)", [(i + 1, "%054x" % draw.getrandbits(216)) for i in range(3000)])
    command(db, "merge")
    # Else the table has too few blocks for a sample.
    expect(struct.unpack_from("<I", state(db, "layout"), 60)[0], 5 if "tiny" in files.load else 7)


@test
def two_characters(files):
    """Of Chinese, Japanese or Korean they are a needle of six bytes: a thousand of them."""
    draw = random.Random(11)
    db = make(files, "message LIKE")
    letters = [chr(first + i) for first in (0x4e00, 0x3042, 0xac00) for i in range(0, 400, 5)]
    db.executemany("INSERT INTO log VALUES (?, '', ?)",
                   [(i + 1, "".join(draw.choices(letters, k=draw.randrange(2, 20)) + [draw.choice((", ", " id \u00e4", "\U0001f600"))] + draw.choices(letters, k=5)))
                    for i in range(1500)])
    command(db, "merge")
    texts, num_found = [text for text, in db.execute("SELECT message FROM log")], 0
    for turn in range(1000):
        text = draw.choice(texts)
        needle = (text[:2], draw.choice(letters) + draw.choice(letters), text[-2:])[turn % 3]
        sql, pattern = "SELECT id FROM %s WHERE message LIKE ? ORDER BY id", ("%{}%", "%{}", "{}%", "%{}_%")[turn % 4].format(needle)
        found = db.execute(sql % "log_index", (pattern,)).fetchall()
        expect(found, db.execute(sql % "log", (pattern,)).fetchall(), pattern)
        num_found += found != []
    assert 200 < num_found < 900, num_found
    assert "message LIKE" in str(db.execute("EXPLAIN QUERY PLAN SELECT id FROM log_index WHERE message LIKE '%\u4e2d\u6587%'").fetchall())


if __name__ == "__main__":
    sys.exit(main())
