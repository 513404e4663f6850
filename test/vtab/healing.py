"""'merge=N' repairs a filter N rows at a time: every key may be in it until the last one, and no key is lost then."""
import random
import shutil
import sqlite3
import sys

from cases import (ABSENT, column, command, each, error_of, execute, expect, fails, fill, is_uncertain, is_whole, main,
                   no_false_negative, note, one, test, triggers)

WHY = "'merge=N' has not repaired it to the end"
SOURCES = {  # columns of t, arguments of f, keys
    "a column": ("id INTEGER PRIMARY KEY, k TEXT, n INTEGER, other", "t, k", "SELECT k FROM t"),
    "a DEFAULT": ("k TEXT NOT NULL DEFAULT 'the default', n, id INTEGER PRIMARY KEY", "t, k", "SELECT k FROM t"),
    "two columns": ("id INTEGER PRIMARY KEY, k TEXT, n INTEGER", "t, (k, n)", "SELECT bloom_tuple(k, n) AS k FROM t"),
    "four columns": ("id INTEGER PRIMARY KEY, k TEXT, n INTEGER, a DEFAULT NULL, b", "t, (k, n, a, b)", "SELECT bloom_tuple(k, n, a, b) AS k FROM t")}


def make(files, source="a column", num_rows=500):
    columns, args, keys = SOURCES[source]
    db = files.connect()
    execute(db, "CREATE TABLE t(%s)" % columns, "CREATE VIRTUAL TABLE f USING bloom(%s, capacity = 20000)" % args)
    fill(db, num_rows)
    db.execute("UPDATE t SET n = id % 7")
    if source == "four columns":
        db.execute("UPDATE t SET a = id / 7, b = id || ''")
    command(db, "f", "merge")
    return db, keys


def absent(db, source):
    return [one(db, "SELECT bloom_tuple(?, 1, 2, 3)", key) for key in ABSENT] if source == "four columns" else ABSENT


def harm(db, how):
    """Puts the filter in doubt, or damages it."""
    if how == "a page":
        db.execute("UPDATE f_pages SET bytes = zeroblob(length(bytes)) WHERE rowid = (SELECT max(rowid) FROM f_pages)")
        error_of(db, "SELECT handle FROM f")
    else:
        db.execute({"trigger": "DROP TRIGGER f_before_insert", "guard": "DROP TRIGGER f_guard", "journal": "DELETE FROM f_new", "layout": "DELETE FROM f_pages WHERE rowid = 1",
                    "pages": "DROP TABLE f_pages", "index": "DROP TRIGGER f_before_update"}[how])


@each(SOURCES.keys(), ["trigger", "guard", "journal", "layout", "pages", "a page"])
def healed_by(files, source, how):
    """Steps of 100 rows; what the triggers are afterwards; another program, and a copy of the file, as after a crash, go on in the middle."""
    db, keys = make(files, source)
    texts = triggers(db)
    harm(db, how)
    db.execute("INSERT INTO t(id, k, n) VALUES (-9223372036854775808, 'first', 1), (9223372036854775807, 'last', 2)")
    for step in range(5):
        command(db, "f", "merge=100")
        assert WHY in note(db), note(db)
        expect(db.execute("SELECT serves FROM bloom_index_info('f')").fetchall(), [(0,)])
        is_uncertain(db, keys, absent=absent(db, source))
        execute(db, "UPDATE t SET id = -id WHERE id = 450", "UPDATE t SET k = 'changed' WHERE id IN (7, 77, 377)", "INSERT OR REPLACE INTO t(id, k, n) VALUES (%d, 'put', 1)" % (-step))
        if step == 2:
            shutil.copy(files.path, files.file("crashed"))
    for each in db, files.connect(files.file("crashed")):
        while WHY in str(note(each)):
            command(each, "f", "merge=100")
        is_whole(each, keys, absent=absent(db, source))
        command(each, "f", "merge=1000")
        is_whole(each, keys, absent=absent(db, source))
        expect(triggers(each), texts)


@each(range(24))
def at_random(files, seed):
    """Writes of every kind between the steps, by two connections and one without bloom, and their ROLLBACKs."""
    r = random.Random(seed)
    source = r.choice(sorted(SOURCES))
    db, keys = make(files, source, 200)
    other, writer = files.connect(), files.connect(load=False)
    harm(db, "trigger")
    for turn in range(80):
        each = r.choice([db, db, other, writer])
        a, b = r.randint(-100, 300), r.randint(-100, 300)
        rolled_back = r.random() < 0.2
        if rolled_back:
            each.execute("BEGIN")
        inner = rolled_back and r.random() < 0.5
        for sql in r.sample([
                "INSERT OR IGNORE INTO t(id, k, n) VALUES (%d, 'new %d', %d)" % (a, turn, b), "REPLACE INTO t(id, k, n) VALUES (%d, 'replaced %d', 1)" % (a, turn),
                "UPDATE OR IGNORE t SET id = %d WHERE id = %d" % (a, b), "UPDATE OR REPLACE t SET id = %d WHERE id = %d" % (a, b), "UPDATE OR REPLACE t SET id = id + %d WHERE id > %d" % (a, b),
                "UPDATE t SET k = 'k %d' WHERE id = %d" % (turn, a), "UPDATE t SET n = %d WHERE id BETWEEN %d AND %d" % (turn, a, a + 20), "DELETE FROM t WHERE id = %d" % a,
                "INSERT INTO t(id, k) VALUES (%d, 'x') ON CONFLICT(id) DO UPDATE SET id = %d, k = 'upsert'" % (a, b + 1000), "UPDATE OR REPLACE t SET k = NULL WHERE id = %d" % a], r.randint(1, 4)):
            if r.random() < 0.1 and inner:
                each.execute("SAVEPOINT s")
            error_of(each, sql)
        if each is not writer:
            what = r.choice(["merge=20"] * 12 + ["merge=1", "merge=1000", "merge", "rename", "trigger", "journal", "a page", "VACUUM"])
            if what == "rename":
                execute(each, "ALTER TABLE f RENAME TO g", "ALTER TABLE g RENAME TO f")
            elif what == "VACUUM":
                error_of(each, what)
            elif what.startswith("merge"):
                error_of(each, "INSERT INTO f(f) VALUES ('%s')" % what)
            else:
                try:
                    harm(each, what)
                except sqlite3.Error:
                    pass
        if rolled_back and each.in_transaction:
            error_of(each, "ROLLBACK TO s") if inner else None
            each.execute(r.choice(["ROLLBACK", "COMMIT"]))
        if not db.in_transaction and error_of(other, "SELECT handle FROM f") is None:
            no_false_negative(other, keys)
    for _ in range(200):
        error_of(db, "INSERT INTO f(f) VALUES ('merge=20')")
        if error_of(db, "SELECT note FROM f") is None and "every key" not in str(note(db)):
            break
    else:
        raise AssertionError(note(db))
    no_false_negative(db, keys)
    no_false_negative(other, keys)
    command(db, "f", "integrity-check")


@each(["k TEXT)", "id INT PRIMARY KEY, k TEXT)", "k TEXT, id INTEGER PRIMARY KEY DESC)", "k TEXT PRIMARY KEY) WITHOUT ROWID", "id INTEGER, k TEXT, PRIMARY KEY (id, k))"])
def refused(files, columns):
    """Without an INTEGER PRIMARY KEY rows have no place that writes keep, or are seen to leave."""
    db = files.connect()
    execute(db, "CREATE TABLE t(" + columns, "CREATE VIRTUAL TABLE f USING bloom(t, k)")
    fill(db, 50)
    harm(db, "trigger")
    before = column(db, "SELECT sql FROM sqlite_master ORDER BY rowid")
    fails(db, "INSERT INTO f(f) VALUES ('merge=10')", "table t has no INTEGER PRIMARY KEY, so 'merge=N' cannot repair f; INSERT INTO f(f) VALUES ('merge') can")
    expect(column(db, "SELECT sql FROM sqlite_master ORDER BY rowid"), before)
    is_uncertain(db)
    command(db, "f", "merge")
    is_whole(db)


@test
def renamed(files):
    """Other names of the table and its columns, and VACUUM, in the middle: it goes on where it was."""
    db, _ = make(files)
    harm(db, "trigger")
    for sql in "ALTER TABLE t RENAME COLUMN id TO \"the \"\"id\"", "ALTER TABLE t RENAME COLUMN k TO key", "VACUUM", "ALTER TABLE t RENAME TO \"a table\"":
        command(db, "f", "merge=100")
        db.execute(sql)
    db.execute("UPDATE \"a table\" SET \"the \"\"id\" = -\"the \"\"id\" WHERE \"the \"\"id\" > 450")
    assert WHY in note(db)
    command(db, "f", "merge=100")
    is_whole(db, "SELECT key AS k FROM \"a table\"")


@test
def an_authorizer_hides_the_id(files):
    """Read as NULL, it would end the table before its first row."""
    db, keys = make(files)
    harm(db, "trigger")
    command(db, "f", "merge=100")
    hide = lambda action, a, b, *rest: sqlite3.SQLITE_IGNORE if action == sqlite3.SQLITE_READ and (a, b) == ("t", "id") else sqlite3.SQLITE_OK  # noqa: E731
    db.set_authorizer(hide)
    fails(db, "INSERT INTO f(f) VALUES ('merge=100')", "table t has no INTEGER PRIMARY KEY")
    db.set_authorizer(None)
    is_uncertain(db, keys)


@test
def in_a_trigger(files):
    """Neither heals there nor fails, and while another statement writes."""
    db, keys = make(files)
    execute(db, "CREATE TRIGGER heals AFTER INSERT ON t BEGIN INSERT INTO f(f) VALUES ('merge=1000'); END")
    harm(db, "trigger")
    for _ in range(2):
        fill(db, 3, "in a trigger")
        is_uncertain(db, keys)
        command(db, "f", "merge=100")
    assert WHY in note(db)


if __name__ == "__main__":
    sys.exit(main())
