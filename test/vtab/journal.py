"""What look-ups know of the journal: kept as long as it is true, and no longer.

    python3 test/vtab/journal.py [--load ./bloom] [--only NAME]

Work is counted in instructions of SQLite's virtual machine, those of bloom's own statements included.
"""
import shutil
import subprocess
import sys

from cases import (Skip, case, column, command, execute, expect, fill, filtered, is_uncertain, is_whole, lookups, main, no_false_negative, one,
                   rebuild_makes_it_whole, test)

NUM_KEYS = 5000
MOST = 20  # times a usual look-up


def instructions(db, sql):
    """How many it takes: no clock is asked."""
    count = [0]

    def tick():
        count[0] += 1
        return 0
    db.set_progress_handler(tick, 1)
    found = one(db, sql)
    db.set_progress_handler(None, 0)
    return count[0], found


ABSENT = "SELECT count(*) FROM f('absent')"


def unmerged(files, **options):
    db = filtered(files, "t, k, capacity = 20000", columns="id INTEGER PRIMARY KEY, k TEXT", journal_mode="WAL", **options)
    fill(db, NUM_KEYS)
    return db


def after(files, what):
    """The first look-up of each connection after something that leaves most of the journal as it was."""
    db = unmerged(files)
    other = files.connect()
    for each in db, other:
        one(each, ABSENT)
    usual = [instructions(each, ABSENT)[0] for each in (db, other)]
    for turn in range(6):
        for sql in what:
            if sql == "look":
                expect(one(db, "SELECT count(*) FROM f('late %d')" % turn), 1)
            else:
                db.execute(sql.replace("{}", str(turn)))
        for each, steps in zip((db, other), usual):
            took, found = instructions(each, ABSENT)
            expect(found, 0)
            assert took <= MOST * steps, "%d instructions, usually %d" % (took, steps)
            if "ROLLBACK" in what:
                expect(one(each, "SELECT count(*) FROM f('late %d')" % turn), 0, "a key that ROLLBACK took")
    is_whole(db)
    is_whole(other)


MERGE, INSERT = "INSERT INTO f(f) VALUES ('merge=100')", "INSERT INTO t(k) VALUES ('late {}')"
for name, *statements in (
        ("a merge", MERGE), ("an INSERT", INSERT), ("INSERT, look-up", INSERT, "look"),
        ("INSERT, look-up, ROLLBACK", "BEGIN", INSERT, "look", "ROLLBACK"),
        ("INSERT, look-up, ROLLBACK TO", "SAVEPOINT s", INSERT, "look", "ROLLBACK TO s", "ROLLBACK"),
        ("a merge, INSERT, look-up, ROLLBACK", "BEGIN", MERGE, INSERT, "look", "ROLLBACK"),
        ("a merge, then INSERT, look-up, ROLLBACK", MERGE, "BEGIN", INSERT, "look", "ROLLBACK"),
        ("many INSERTs and look-ups, ROLLBACK", "BEGIN", *([INSERT, "look"] * 50), "ROLLBACK")):
    case(after, name, statements)


@test
def by_turns(files):
    """In one transaction: each look-up reads the few rows that are new to it, not the journal."""
    db = unmerged(files)
    one(db, ABSENT)
    usual = instructions(db, ABSENT)[0]
    db.execute("BEGIN")
    steps = []
    for i in range(100):
        took, found = instructions(db, "SELECT count(*) FROM f('turn %d')" % i)
        expect(found, 0)
        steps.append(took)
        db.execute("INSERT INTO t(k) VALUES ('turn %d')" % i)
    assert sum(steps) <= 4 * 100 * usual, "%d instructions a look-up, usually %d" % (sum(steps) // 100, usual)
    db.execute("COMMIT")
    is_whole(db)


@test
def a_merge_keeps_rowids(files):
    """Nothing that came later gets the rowid of a row that was merged."""
    db = filtered(files)
    last = one(db, "SELECT max(rowid) FROM f_new")
    for turn in range(4):
        fill(db, 3, "turn %d " % turn)
        command(db, "f", "merge" if turn % 2 else "merge=2")
        expect(one(db, "SELECT max(rowid) FROM f_new"), last + 3)
        last += 3
        db.execute("BEGIN")
        fill(db, 1, "gone")
        db.execute("ROLLBACK")
    is_whole(db)


def rows_are_missing(files, where):
    """Rows go and come one after the other: where one is missing, every key may be in the filter."""
    db = filtered(files, rows=10)
    fill(db, 20, "new")
    db.execute("DELETE FROM f_new WHERE rowid " + where)
    other = files.connect()
    is_uncertain(other)
    assert "its journal was emptied or made again" in one(other, "SELECT note FROM f")
    rebuild_makes_it_whole(other)
    is_whole(db)


for where in "= 7", "IN (2, 3)", "BETWEEN 5 AND 19":
    case(rows_are_missing, where, where)


def replayed(files, table, merged):
    """A and its copy B: 'merge' on A, rows in B, sqldiff's statements on A, which have B's rows with their rowids, by the tables' names."""
    if shutil.which("sqldiff") is None:
        raise Skip("sqldiff (Debian: sqlite3-tools)")
    a = filtered(files, columns="id INTEGER PRIMARY KEY, k TEXT", rows=None)
    a.execute("ALTER TABLE t RENAME TO " + table)
    fill(a, 20, table=table + "(k)")
    command(a, "f", "merge")
    fill(a, 20, "unmerged", table + "(k)")
    a.close()
    shutil.copy(files.path, files.file("b"))
    a, b = files.connect(), files.connect(files.file("b"))
    for name in merged:
        command(a if name == "a" else b, "f", "merge")
    fill(b, 5, "of b ", table + "(k)")
    b.execute("UPDATE %s SET k = 'changed' WHERE id = 3" % table)
    a.close()
    b.close()
    done = subprocess.run(["sqldiff", files.path, files.file("b")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    a = files.connect()
    for sql in done.stdout.split(";\n"):
        try:
            a.execute(sql)
        except Exception:  # sqldiff's user goes on: a row is there already
            pass
    a.close() if a.in_transaction else None
    a = files.connect()
    expect(*(sorted(column(db, "SELECT k FROM " + table)) for db in (a, files.connect(files.file("b")))))
    no_false_negative(a, "SELECT k FROM " + table)


for table in "before", "later":
    for merged in "", "a", "b", "ab":
        case(replayed, "%s, %s merged" % (table, merged or "none"), table, merged)


if __name__ == "__main__":
    sys.exit(main())
