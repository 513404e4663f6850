"""Rows in the order of a column with zones: few are read where a LIMIT ends the query, and all come once, in order.

ranges.py and model.py ask at random whether rows and order are the table's.
"""
import os
import random
import sqlite3
import sys

from log import command, count_to, same, steps_beside  # the first: it finds the others
from cases import case, each, execute, expect, main, one, plan, test

RELEASE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bloom")
NUM_ROWS = 12000
MESSAGE = "CASE WHEN i % 40 = 7 THEN 'a timeout ' ELSE 'all is well ' END || i"


def make(db, ts="1700000000 + i / 10", definition="INTEGER NOT NULL", columns="ts RANGE, message LIKE", num_rows=NUM_ROWS):
    execute(db, "PRAGMA automatic_index = OFF", "CREATE TABLE log(id INTEGER PRIMARY KEY, ts %s, message TEXT)" % definition,
            "INSERT INTO log %sSELECT i, %s, %s FROM c" % (count_to(num_rows), ts, MESSAGE),
            "CREATE VIRTUAL TABLE log_index USING bloom_index(log, %s)" % columns)
    command(db, "merge")
    return db


def add(db, num_rows, ts="1700000000 + i / 10"):
    last = one(db, "SELECT max(id) FROM log")
    db.execute("INSERT INTO log %sSELECT i, %s, %s FROM c" % (count_to(last + num_rows, last + 1), ts, MESSAGE))


def is_short(db, sql, share):
    """As on the table, in a small part of its steps; SQLite sorts nothing."""
    of_index, of_table = steps_beside(db, sql)
    assert share * of_index < of_table, "%s: %d of %d tens of steps" % (sql, of_index, of_table)
    said = plan(db, sql.replace("{t}", "log_index"))
    assert "ORDER BY ts by zones" in said and "TEMP B-TREE" not in said, said


def is_about_once(db, sql, most=2.3):
    """As on the table, in no more than twice the steps: that sorts all rows at once."""
    of_index, of_table = steps_beside(db, sql)
    assert of_index < most * of_table, "%s: %d of %d tens of steps" % (sql, of_index, of_table)


NEWEST = {
    "the newest": "SELECT * FROM {t} ORDER BY ts DESC, id DESC LIMIT 50", "the oldest": "SELECT * FROM {t} ORDER BY ts, id LIMIT 50",
    "another order after it": "SELECT * FROM {t} ORDER BY ts DESC, message LIMIT 50", "max": "SELECT max(ts) FROM {t}", "min": "SELECT min(ts) FROM {t}",
    "a pattern": "SELECT * FROM {t} WHERE message LIKE '%timeout%' ORDER BY ts DESC, id LIMIT 5",
    "a range": "SELECT * FROM {t} WHERE ts < 1700001000 ORDER BY ts DESC, id LIMIT 20", "another condition": "SELECT * FROM {t} WHERE id % 7 = 1 ORDER BY ts DESC, id LIMIT 20",
    "offset": "SELECT * FROM {t} ORDER BY ts DESC, id DESC LIMIT 10 OFFSET 40",
}


@each(["merged", "unmerged", "emptied"])
def newest(files, state):
    """Also with rows that are not merged, that changed, and whose zones are empty by now."""
    db = make(files.connect(":memory:"))
    if state == "unmerged":
        add(db, 300)
        db.execute("UPDATE log SET ts = ts + 5000 WHERE id % 5000 = 17")
    elif state == "emptied":
        db.execute("DELETE FROM log WHERE id > %d OR id < 300" % (NUM_ROWS - 900))
    for name, sql in NEWEST.items():
        # Of another condition a slice with tiny limits has too few rows: a second one is read.
        is_short(db, sql, 5 if state != "merged" else 8 if name == "another condition" else 10)


@test
def unmerged_ids_that_are_far_apart(files):
    """300 rows are few, whatever their ids."""
    db = make(files.connect(":memory:"))
    execute(db, "UPDATE log SET id = -1000 * id", "UPDATE log SET id = -id", "INSERT INTO log_index(log_index) VALUES ('rebuild')",
            "INSERT INTO log %sSELECT 1000 * i, 1700000000 + i / 10, %s FROM c" % (count_to(NUM_ROWS + 300, NUM_ROWS + 1), MESSAGE))
    for name in "the newest", "max", "a pattern":
        is_short(db, NEWEST[name], 5)


@test
def unmerged_ids_that_are_near_each_other(files):
    """Behind merged ones that are far apart: 3,000 rows are not read for each slice.  By the release, whose slices are large."""
    files.load = RELEASE
    db = make(files.connect(":memory:"))
    execute(db, "UPDATE log SET id = -1000 * id", "UPDATE log SET id = -id", "INSERT INTO log_index(log_index) VALUES ('rebuild')",
            "INSERT INTO log %sSELECT 1000 * %d + i, 1700000000 + i / 10, %s FROM c" % (count_to(NUM_ROWS + 3000, NUM_ROWS + 1), NUM_ROWS, MESSAGE))
    is_about_once(db, "SELECT * FROM {t} ORDER BY ts DESC, id")
    # They are counted for the cost alone: a query does not fail where count() is refused.
    db.set_authorizer(lambda action, _, name, *rest: sqlite3.SQLITE_DENY if name == "count" else sqlite3.SQLITE_OK)
    same(db, "SELECT id FROM {t} ORDER BY ts DESC, id LIMIT 100")


@test
def a_condition_of_few_rows(files):
    """It is tested before the ends of a slice: 2.6 times the table's steps, else 4.2.  By the release, whose blocks all have such a row."""
    files.load = RELEASE
    db = files.connect(":memory:")
    execute(db, "CREATE TABLE log(id INTEGER PRIMARY KEY, ts, z)", "INSERT INTO log %sSELECT i, i / 7, i %% 100 FROM c" % count_to(20000),
            "CREATE VIRTUAL TABLE log_index USING bloom_index(log, ts RANGE, z)")
    is_about_once(db, "SELECT id FROM {t} WHERE z = 5 ORDER BY ts, id", 3.2)


VALUES = {
    "text": ("strftime('%Y-%m-%d %H:%M:%S', 1700000000 + i / 10, 'unixepoch')", "TEXT"), "text, NOCASE": ("printf('Key%06d', i / 3)", "TEXT COLLATE NOCASE"),
    "text, RTRIM": ("printf('key%06d  ', i / 3)", "TEXT COLLATE RTRIM"), "long text": ("printf('a beginning that all of them have %06d', i)", "TEXT"), "Cyrillic": ("'ключ' || printf('%06d', i)", ""),
    "real": ("i / 7.0", "REAL"), "large": ("9007199254740992 + i", "INTEGER"), "negative": ("-i", "INTEGER"), "two writers": ("i / 2 - (i % 2) * 100000", ""),
    "NULLs": ("CASE WHEN i % 3 THEN i / 10 END", ""), "NULLs alone": ("NULL", ""), "mixed": ("CASE i % 4 WHEN 0 THEN i WHEN 1 THEN i / 3.0 WHEN 2 THEN printf('t%06d', i) ELSE NULL END", ""),
    "NULLs at one end": ("CASE WHEN i > 30000 THEN i END", ""), "BLOBs": ("CASE WHEN i % 9000 = 5 THEN x'00' ELSE i END", ""), "infinity": ("CASE i % 20000 WHEN 5 THEN 9e999 WHEN 6 THEN -9e999 ELSE i END", ""),
    "near": ("i + (i * 7919) % 3001", "INTEGER"), "one value": ("5", "INTEGER"), "number-like text": ("printf('%09d', i)", "TEXT"),
    "half a character": ("printf('%022d', 7) || char(200 + i / 300 * 64)", "TEXT COLLATE NOCASE"),
}


def every_row(files, values, definition, encoding):
    """Whole orders, in many slices."""
    db = files.connect(":memory:")
    db.execute("PRAGMA encoding = '%s'" % encoding)
    make(db, values, definition, num_rows=4000)
    for _ in range(2):
        for direction in "", " DESC":
            for more in "", " DESC":
                for condition in "1", "message LIKE '%timeout%'", "id BETWEEN 1000 AND 4000":
                    same(db, "SELECT id, ts FROM {t} WHERE %s ORDER BY ts%s, id%s" % (condition, direction, more))
                    same(db, "SELECT id, ts FROM {t} WHERE %s ORDER BY ts%s, id%s LIMIT 30" % (condition, direction, more))
        add(db, 50, values)
        execute(db, "UPDATE log SET ts = (SELECT ts FROM log WHERE id = 4000) WHERE id % 300 = 1", "DELETE FROM log WHERE id BETWEEN 2000 AND 2500")


for name, (values, definition) in VALUES.items():
    for encoding in ("UTF-8", "UTF-16le") if definition.startswith("TEXT") or "Cyr" in name or name == "mixed" else ("UTF-8",):
        case(every_row, "%s, %s" % (name, encoding), values, definition, encoding)


@test
def all_without_a_limit(files):
    db = make(files.connect(":memory:"))
    for sql in "SELECT * FROM {t} ORDER BY ts DESC, id", "SELECT * FROM {t} ORDER BY ts, id", "SELECT ts, count(*) FROM {t} GROUP BY ts":
        is_about_once(db, sql)


@each(["", "DESC"])
def own_writes(files, direction):
    """Rows that the program changes while it reads: what it left alone comes once, in order, and there is an end."""
    db, r = make(files.connect(), num_rows=5000), random.Random(4)
    add(db, 100)
    rows = db.execute("SELECT id, ts FROM log_index ORDER BY ts " + direction)
    seen, touched = [], set()
    for row in rows:
        seen.append(row)
        assert len(seen) < 20000
        if len(seen) < 3000 and len(seen) % 7 == 0:
            kind, other = r.randrange(4), r.randint(1, 5000)
            touched.add(other)
            db.execute(["UPDATE log SET ts = ts + 300 WHERE id = ?", "UPDATE log SET ts = ts - 300 WHERE id = ?", "DELETE FROM log WHERE id = ?", "UPDATE log SET message = 'x' WHERE id = ?"][kind], (other,))
            add(db, 1)
        if len(seen) == 900:
            command(db, "merge")
    times = [ts for row_id, ts in seen if row_id not in touched]
    expect(times, sorted(times, reverse=direction == "DESC"))
    left = [row_id for row_id, _ in seen if row_id not in touched]
    expect(sorted(set(left)), sorted(left))
    expect([n for n in range(1, 5101) if n not in touched], [n for n in sorted(left) if n < 5101])
    command(db, "merge")
    command(db, "integrity-check")


@test
def while_entries_are_made_anew(files):
    """A few blocks with each merge: ids that the new zones have are not read by the old ones, too, nor left out."""
    db = make(files.connect(":memory:"), num_rows=100)
    num_ids = 0
    for _ in range(30):
        add(db, 100)
        command(db, "merge=130")
        for order in "ts DESC, id DESC", "ts, id":
            num_ids += same(db, "SELECT id, ts FROM {t} ORDER BY " + order)
            same(db, "SELECT id FROM {t} WHERE id % 7 = 1 ORDER BY " + order)
    assert num_ids == 2 * sum(range(200, 3200, 100))


@test
def damage(files):
    """Zones that are damaged where only a later slice meets them."""
    db = make(files.connect(), num_rows=5000)
    for number in range(0, one(db, "SELECT count(*) FROM log_index_zones1"), 5):
        other = files.connect()
        execute(other, "BEGIN", "UPDATE log_index_zones1 SET data = zeroblob(30) WHERE rowid = (SELECT rowid FROM log_index_zones1 LIMIT 1 OFFSET %d)" % number)
        for direction in "", "DESC":
            same(other, "SELECT id, ts FROM {t} ORDER BY ts %s, id" % direction)
        other.close()


@test
def where_it_does_not_pay(files):
    """Values in no order of ids; an index of the table's own.  By the release: with tiny limits slices of any values do."""
    files.load = RELEASE
    db = make(files.connect(":memory:"), "i * 7919 % 40000", num_rows=40000)
    for sql in "SELECT id FROM {t} ORDER BY ts DESC, id LIMIT 5", "SELECT id FROM {t} ORDER BY ts, id":
        is_about_once(db, sql, 2.5)
    db.execute("CREATE INDEX log_ts ON log(ts)")
    of_index, of_table = steps_beside(db, "SELECT id FROM {t} ORDER BY ts DESC LIMIT 5")
    assert of_index < of_table + 200, "%d of %d tens of steps" % (of_index, of_table)


@test
def a_merge_is_rolled_back(files):
    """Between two rows of a query: rows that the merge took come all the same."""
    db = make(files.connect())
    db.isolation_level = None
    add(db, 300)
    db.execute("SAVEPOINT a")
    command(db, "merge")
    rows = db.execute("SELECT id FROM log_index ORDER BY ts")
    found = [rows.fetchone() for _ in range(100)]
    db.execute("ROLLBACK TO a")
    found += rows.fetchall()
    db.execute("RELEASE a")
    wanted = db.execute("SELECT id FROM log ORDER BY id").fetchall()
    expect(len(found), len(wanted))
    assert sorted(found) == wanted


@test
def not_null(files):
    """NOT NULL is what the table says now."""
    db = make(files.connect(), num_rows=3000)
    same(db, "SELECT min(ts), max(ts) FROM {t}")
    same(db, "SELECT count(*) FROM {t} WHERE ts IS NULL")
    same(db, "SELECT o.i, t.id FROM (SELECT 1 AS i UNION ALL SELECT 99999) AS o LEFT JOIN {t} AS t ON t.id = o.i WHERE t.ts IS NULL")
    execute(db, "CREATE TABLE n(id INTEGER PRIMARY KEY, ts INTEGER, message TEXT)", "INSERT INTO n SELECT * FROM log", "INSERT INTO n VALUES (5000, NULL, 'x')",
            "DROP TABLE log", "ALTER TABLE n RENAME TO log")
    expect(same(db, "SELECT id FROM {t} WHERE ts IS NULL"), 1)
    same(db, "SELECT min(ts) FROM {t}")
    command(db, "rebuild")
    same(db, "SELECT id FROM {t} WHERE ts IS NULL")
    same(db, "SELECT min(ts) FROM {t}")


if __name__ == "__main__":
    sys.exit(main())
