"""Damage that was done to an index's tables: no row is lost, the plan and notes say why it is slow, commands repair it.

    python3 test/index/damage.py [--load ./bloom] [--only NAME]

$BLOOM_TEST_SQLITES: where test/lib/build_sqlite.sh put other SQLites, build/sqlite unless told.
"""
import glob
import os
import random
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vtab"))
from cases import Skip, case, error_of, expect, fails, main, one, test  # noqa: E402

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
NUM_ROWS = 4000
KEYS = ["key%d" % (i * i % NUM_ROWS + 1) for i in range(1, 40)]


def make(db, num_rows=NUM_ROWS):
    db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, k TEXT, message TEXT)")
    db.execute("INSERT INTO log WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < %d)"
               " SELECT i, 'key' || i, 'request ' || (i * 7919 %% 100003) FROM c" % num_rows)
    db.execute("CREATE VIRTUAL TABLE log_index USING bloom_index(log, k, message LIKE, bits_per_block = 1024, probes = 20)")
    db.execute("INSERT INTO log_index(log_index) VALUES ('merge')")
    return db


def is_right(db):
    for key in KEYS:
        expect(db.execute("SELECT id FROM log_index WHERE k = ?", (key,)).fetchall(), [(int(key[3:]),)], key)
    for i in range(5):
        message = "request %d" % (i * 797 * 7919 % 100003)
        sql = "SELECT id FROM %s WHERE message LIKE ?"
        expect(db.execute(sql % "log_index", (message,)).fetchall(), db.execute(sql % "log", (message,)).fetchall(), message)


PLANS_SAY = sqlite3.sqlite_version_info >= (3, 38, 2)  # older ones are not to be read in while they plan


def plan(db, number=[0]):
    number[0] += 1  # Python would keep the statement, and SQLite its plan
    return db.execute("EXPLAIN QUERY PLAN SELECT * FROM log_index WHERE k = 'x%d'" % number[0]).fetchall()[0][3]


def command(db, text):
    db.execute("INSERT INTO log_index(log_index) VALUES (?)", (text,))


def is_sound(db):
    is_right(db)
    command(db, "integrity-check")
    expect(one(db, "SELECT note FROM log_index_state"), None)
    assert "reads the whole" not in plan(db), plan(db)


def rows_of(db, table):
    return db.execute("SELECT rowid, data FROM " + table).fetchall()


def bits_are_gone(files, how):
    """Each row of the blocks in turn loses bits, its size stays: no query loses a row."""
    db = make(files.connect())
    r = random.Random(7)
    for table, column in ("log_index_blocks_1", "k"), ("log_index_blocks_2", "message_like"):
        num_whole = (one(db, "SELECT %s_blocks FROM log_index_state" % column) - 1) % 64 + 1
        rows = [row for row in rows_of(db, table) if row[1] and not num_whole < row[0] <= 64]  # what was in the others is in slices now
        assert len(rows) > 20, len(rows)
        for rowid, data in r.sample(rows, 20) + rows[-3:] + [row for row in rows if row[0] in (1, 64, 65, 66)]:
            if how == "all":
                changed = bytes(len(data))
            elif how == "a byte in each part":
                changed = bytearray(data)
                for at in range(r.randrange(min(1014, len(data))), len(data), 1014):
                    changed[at] ^= 1 << r.randrange(8)
            else:
                changed = r.choice([row for row in rows if len(row[1]) == len(data) and row[0] != rowid] or [(0, bytes(len(data)))])[1]
            db.execute("UPDATE %s SET data = ? WHERE rowid = ?" % table, (bytes(changed), rowid))
            is_right(db)
            error = error_of(db, "INSERT INTO log_index(log_index) VALUES ('integrity-check')")
            assert "damaged" in str(error), (table, rowid, len(data), error)
            db.execute("UPDATE %s SET data = ? WHERE rowid = ?" % table, (data, rowid))
    command(db, "merge")
    is_sound(db)


for how in "all", "a byte in each part", "of another row":
    case(bits_are_gone, how, how)


@test
def rows_of_an_older_build(files):
    """Rows from before a 'rebuild' are none of the index."""
    db = make(files.connect())
    old = rows_of(db, "log_index_blocks_1")
    db.execute("UPDATE log SET k = 'late' WHERE id = 100")
    command(db, "rebuild")
    for rowid, data in old:
        db.execute("UPDATE log_index_blocks_1 SET data = ? WHERE rowid = ?", (data, rowid))
    expect(one(db, "SELECT id FROM log_index WHERE k = 'late'"), 100)
    is_right(db)
    command(db, "merge")
    is_sound(db)


def rows_are_gone(files, sql, reopens, repair):
    db = make(files.connect())
    db.execute("UPDATE log SET k = 'key' || id WHERE id % 500 = 0")
    db.execute(sql)
    if reopens:
        db.close()
        db = files.connect()
    is_right(db)
    assert not PLANS_SAY or "reads the whole table: a page of the index is damaged; 'merge' repairs it" in plan(db), plan(db)
    assert error_of(db, "INSERT INTO log_index(log_index) VALUES ('integrity-check')") is not None
    db.execute("INSERT INTO log VALUES (100000, 'new', 'new')")
    while True:
        command(db, repair)
        is_right(db)
        expect(one(db, "SELECT note FROM log_index_state"), None)
        if one(db, "SELECT covered FROM log_index_state") == 100000:
            break
    is_sound(db)


for sql in ("DELETE FROM log_index_blocks_1 WHERE rowid > 66", "DELETE FROM log_index_blocks_1 WHERE rowid = 82", "DELETE FROM log_index_blocks_1 WHERE rowid <= 64", "DELETE FROM log_index_blocks_1 WHERE rowid = 66",
            "DELETE FROM log_index_blocks_1", "DELETE FROM log_index_blocks_2 WHERE rowid = 65", "DELETE FROM log_index_layout",
            "UPDATE log_index_blocks_1 SET data = NULL", "UPDATE log_index_blocks_1 SET data = x'00'"):
    for repair in "merge", "merge=700", "rebuild":
        for reopens in False, True:
            case(rows_are_gone, "%s, %s%s" % (sql, repair, ", reopened" if reopens else ""), sql, reopens, repair)


@test
def covered_was_changed(files):
    """The triggers compare ids with it, so changes may be lost: everything is read until it is repaired."""
    for covered in 0, None, "'x'", 10**9:
        db = make(files.connect(":memory:"))
        db.execute("UPDATE log_index_state SET covered = %s" % ("NULL" if covered is None else covered))
        db.execute("UPDATE log SET k = 'late' WHERE id = 3000")
        expect(one(db, "SELECT id FROM log_index WHERE k = 'late'"), 3000)
        fails(db, "INSERT INTO log_index(log_index) VALUES ('integrity-check')", "covered was changed")
        command(db, "merge")
        expect(one(db, "SELECT id FROM log_index WHERE k = 'late'"), 3000)
        is_sound(db)


@test
def the_source_is_lost(files):
    """Renamed while nobody could tell."""
    db = make(files.connect())
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'log'").fetchall()]
    for name in names:
        db.execute("DROP TRIGGER " + name)
    is_right(db)
    assert not PLANS_SAY or "triggers on the table are gone" in plan(db), plan(db)
    command(db, "merge")
    expect(one(db, "SELECT note FROM log_index_state"), "triggers on the table are gone; 'rebuild' repairs it")
    db.execute("ALTER TABLE log RENAME TO journal")
    for sql in "SELECT * FROM log_index", "INSERT INTO log_index(log_index) VALUES ('merge')", "INSERT INTO log_index(log_index) VALUES ('integrity-check')":
        fails(db, sql, "bloom_index: there is no table log any more", "drop log_index and create it again")
    db.execute("ALTER TABLE journal RENAME TO log")
    command(db, "rebuild")
    is_sound(db)


@test
def errors_are_the_indexs(files):
    """No message begins with the name of the other virtual table."""
    db = files.connect()
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, k)")
    db.execute("CREATE VIEW v AS SELECT * FROM t")
    db.execute("CREATE VIRTUAL TABLE f USING bloom(t, k)")
    for source in "absent", "v", "f", "f_pages":
        error = str(fails(db, "CREATE VIRTUAL TABLE i USING bloom_index(%s, k)" % source))
        assert error.startswith("bloom_index: "), error
    make(db)
    db.execute("DROP TABLE log")
    assert str(error_of(db, "SELECT * FROM log_index")).startswith("bloom_index: there is no table log")
    db.execute("CREATE VIEW log AS SELECT 1 AS id, 2 AS k, 3 AS message")
    assert str(error_of(db, "SELECT * FROM log_index")).startswith("bloom_index: log is a view")


@test
def a_check_is_interrupted(files):
    """It says so, at whatever step."""
    db = make(files.connect(), 30000)
    for sql in "INSERT INTO log_index(log_index) VALUES ('integrity-check')", "SELECT count(*) FROM log_index WHERE k > 'key'", \
               "INSERT INTO log_index(log_index) VALUES ('rebuild')":
        for num_steps in list(range(1, 90)) + [10**n for n in range(2, 6)]:
            left = [num_steps]

            def tick():
                left[0] -= 1
                return left[0] <= 0
            db.set_progress_handler(tick, 1)
            error = error_of(db, sql)
            db.set_progress_handler(None, 0)
            assert error is None or str(error) in ("interrupted", "bloom_index: interrupted"), "%s, %d steps: %s" % (sql, num_steps, error)
    is_sound(db)


# -- Files that go from one SQLite to another ------------------------------------------------------

DECIMALS = """
import random, sqlite3, sys
load, path, what = sys.argv[1:]
db = sqlite3.connect(path, isolation_level=None)
db.enable_load_extension(True)
db.load_extension(load)
if what == "make":
    r = random.Random(3) # below 2^53: beyond it 3.52.0 differs by more, and sql/BREAKS.md says so
    db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, t TEXT, a, n NUMERIC)")
    db.execute("BEGIN")
    for i in range(3000):
        text = "%s0.%d%s" % (r.choice(["", "-"]), r.randrange(10**r.randint(10, 19)), r.choice(["", "", "e%d" % r.randint(-30, 2)]))
        db.execute("INSERT INTO log(t, a, n) VALUES (?, ?, ?)", (text, text, text))
    db.execute("COMMIT")
    db.execute("CREATE VIRTUAL TABLE log_index USING bloom_index(log, t, a, n, bits_per_block = 1024, probes = 32)")
    db.execute("INSERT INTO log_index(log_index) VALUES ('merge')")
else:
    db.execute("INSERT INTO log_index(log_index) VALUES ('integrity-check')")
    for column in "t", "a", "n":
        for id, value in db.execute("SELECT id, {0} FROM log WHERE id % 50 = 0".format(column)).fetchall():
            assert (id,) in db.execute("SELECT id FROM log_index WHERE {0} = ?".format(column), (value,)).fetchall(), (column, value)
"""


@test
def another_sqlite_checks(files):
    """Versions read some decimals as neighbouring REALs: neither a false alarm nor a lost row."""
    sqlites = [None] + sorted(glob.glob(os.path.join(os.environ.get("BLOOM_TEST_SQLITES", os.path.join(TOP, "build", "sqlite")), "*", "libsqlite3.so.0")))
    if len(sqlites) == 1:
        raise Skip("another SQLite (test/lib/build_sqlite.sh)")

    def run(library, path, what):
        environment = dict(os.environ)
        if library:
            environment["LD_LIBRARY_PATH"] = os.path.dirname(library)
        done = subprocess.run([sys.executable, "-c", DECIMALS, files.load, path, what], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        expect(done.returncode, 0, "%s by %s: %s" % (what, library, done.stdout.decode()[-400:]))
    for number, maker in enumerate(sqlites):
        path = files.file("by %d" % number)
        run(maker, path, "make")
        for checker in sqlites:
            if maker is None or checker is None or maker == checker:
                run(checker, path, "check")


if __name__ == "__main__":
    sys.exit(main())
