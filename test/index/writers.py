"""Writers that one trigger alone hears of, and changesets of the session extension.

    python3 test/index/writers.py [--load ./bloom] [--only NAME]
"""
import os
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vtab"))
import cases  # noqa: E402
from cases import case, execute, expect, fails, main, one, test  # noqa: E402
import copies  # noqa: E402
cases.TESTS.clear()  # those of copies.py

NUM_ROWS = 3000


def make(db, columns="k TEXT, n INTEGER", values="'key' || i, i % 100", indexed="k, n", first=1):
    db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, %s)" % columns)
    db.execute("INSERT INTO log WITH RECURSIVE c(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM c WHERE i < %d) SELECT i, %s FROM c WHERE i <> -1" % (first, NUM_ROWS, values))
    db.execute("CREATE VIRTUAL TABLE log_index USING bloom_index(log, %s, bits_per_block = 1024, probes = 20)" % indexed)
    db.execute("INSERT INTO log_index(log_index) VALUES ('merge')")


def finds(db, id, condition, *args):
    """The row is found, changed as it is, merged, and made again."""
    for then in "merge=1", "merge", "rebuild", None:
        expect(db.execute("SELECT id FROM log_index WHERE " + condition, args).fetchall(), [(id,)], "before " + str(then))
        if then:
            db.execute("INSERT INTO log_index(log_index) VALUES (?)", (then,))
    db.execute("INSERT INTO log_index(log_index) VALUES ('integrity-check')")


@test
def only_after_update_sees_it(files):
    """A generated column whose base gets its DEFAULT by OR REPLACE, between BEFORE and AFTER."""
    db = files.connect()
    make(db, "b TEXT NOT NULL DEFAULT 'the default', g TEXT AS (coalesce(b, 'none'))", "'none'", "g")
    db.execute("UPDATE OR REPLACE log SET b = NULL WHERE id = 77")
    expect(one(db, "SELECT g FROM log WHERE id = 77"), "the default")
    finds(db, 77, "g = ?", "the default")


@test
def only_before_update_sees_it(files):
    """A TEMP trigger fires before all others, keeps the row and stops them."""
    db = files.connect()
    make(db)
    db.execute("CREATE TEMP TRIGGER t AFTER UPDATE ON log BEGIN SELECT RAISE(IGNORE); END")
    db.execute("UPDATE log SET k = 'late' WHERE id = 77")
    finds(db, 77, "k = ?", "late")
    db.execute("UPDATE log SET id = -5 WHERE id = 77")
    finds(db, -5, "k = ?", "late")


@test
def only_before_insert_sees_it(files):
    db = files.connect()
    make(db, first=-500)
    db.execute("DELETE FROM log WHERE id = 55")
    db.execute("CREATE TEMP TRIGGER t AFTER INSERT ON log BEGIN SELECT RAISE(IGNORE); END")
    for verb in "INSERT", "REPLACE", "INSERT OR IGNORE":
        db.execute(verb + " INTO log VALUES (55, 'late', 1)")
    finds(db, 55, "k = ?", "late")


@test
def nobody_sees_row_minus_1(files):
    """BEFORE INSERT cannot tell the id -1 from one that SQLite is yet to choose, so that row is always read."""
    db = files.connect()
    make(db, first=-500)
    db.execute("CREATE TEMP TRIGGER t AFTER INSERT ON log BEGIN SELECT RAISE(IGNORE); END")
    db.execute("INSERT INTO log VALUES (-1, 'late', 1234567)")
    expect(one(db, "SELECT count(*) FROM log_index_changed"), 0)
    finds(db, -1, "k = ?", "late")
    db.execute("REPLACE INTO log VALUES (-1, 'later', 7654321)")
    finds(db, -1, "n = ?", 7654321)


@test
def only_after_insert_sees_it(files):
    """The id that SQLite chooses is at or below what is covered, where the last rows are gone."""
    db = files.connect()
    make(db)
    execute(db, "DELETE FROM log WHERE id > 2000", "INSERT INTO log(k, n) VALUES ('late', 5)")
    finds(db, 2001, "k = ?", "late")


@test
def who_writes_to_the_index_is_told_where(files):
    """By the table's name of today; and making an index is no INSERT."""
    db = files.connect()
    make(db)
    execute(db, "INSERT INTO log VALUES (5000, 'x', 1)", "CREATE VIRTUAL TABLE other USING bloom_index(log, k)")
    expect(one(db, "SELECT last_insert_rowid()"), 5000)
    for table in "log", "journal":
        for db in db, files.connect():
            for sql in "INSERT INTO log_index VALUES (1, 'a', 1)", "INSERT INTO log_index(id) VALUES (1)", "DELETE FROM log_index", "UPDATE log_index SET n = 1", \
                       "REPLACE INTO log_index(id, k) VALUES (1, 'a')", "INSERT INTO log_index(id, log_index) VALUES (1, 'merge')", "UPDATE log_index SET log_index = 'merge'", "INSERT INTO log_index(log_index) VALUES (NULL)":
                fails(db, sql, "bloom_index: log_index is read only: write to table %s" % table)
        if table == "log":
            db.execute("ALTER TABLE log RENAME TO journal")


@test
def an_indexed_column_stays(files):
    """SQLite reads the triggers, in programs without bloom, too."""
    for load in True, False:
        db = files.connect(":memory:" if load else None)
        make(db)
        if not load:
            db.close()
            db = files.connect(load=False)
        fails(db, "ALTER TABLE log DROP COLUMN k", "log_index_before_update" if sqlite3.sqlite_version_info >= (3, 35) else "syntax error")
        db.execute("UPDATE log SET k = 'late' WHERE id = 5")
        expect(one(db, "SELECT count(*) FROM log_index_changed"), 1)


TEXTS = ("WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d), w(j) AS (SELECT 1 UNION ALL SELECT j + 1 FROM w WHERE j < 70)"
         " SELECT i, group_concat(printf('%%x', (i*1000 + j)*2654435761 %% 4294967296), '') AS text FROM n, w GROUP BY i")


def blocks_get_too_full(files, num_changed):
    """Few are built again in their place, many with all others; each text fills one."""
    db = files.connect()
    execute(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, text)", "INSERT INTO t " + TEXTS % (1, 150),
            "CREATE VIRTUAL TABLE t_index USING bloom_index(t, text LIKE, bits_per_block = 1024)", "INSERT INTO t_index(t_index) VALUES ('merge')")
    assert one(db, "SELECT text_like_blocks FROM t_index_state") > 140
    db.execute("CREATE TABLE others AS " + TEXTS % (1001, 1150))
    db.execute("UPDATE t SET text = (SELECT text FROM others WHERE i = t.id + 1000) WHERE id % 2 = 0 AND id <= ?", (2*num_changed,))
    for command in "merge", "integrity-check":
        db.execute("INSERT INTO t_index(t_index) VALUES ('%s')" % command)
        for id, text in db.execute("SELECT id, substr(text, 200, 20) FROM t WHERE id % 10 < 2").fetchall():
            expect(db.execute("SELECT id FROM t_index WHERE text LIKE '%' || ? || '%'", (text,)).fetchall(), [(id,)], text)
    fill = one(db, "SELECT text_like_fill FROM t_index_state")
    assert 0.4 < fill < 0.8, fill


for num_changed in 3, 20, 40, 74:
    case(blocks_get_too_full, str(num_changed), num_changed)


def begins_with_a_mark(files, encoding, column):
    """U+FEFF and U+FFFE are characters there, and SQLite takes them for byte-order marks where a value is bound.

    Bytes, since char(65534) is U+FFFD where an old SQLite converts it."""
    db = files.connect()
    db.execute("PRAGMA encoding = '%s'" % encoding)
    expect(one(db, "PRAGMA encoding"), encoding)
    marks = ["CAST(x'%s' AS TEXT)" % text.encode(encoding, "surrogatepass").hex() for text in ("\ufeff", "\ufffe", "\ufffe\ud800")]
    make(db, columns=column + ", n INTEGER", values="(CASE i % 3 WHEN 0 THEN {} WHEN 1 THEN {} ELSE {} END) || 'key' || i, i".format(*marks), indexed="k, k LIKE")
    for number, mark in zip((600, 601, 602), marks):
        key = "%s || 'key%d'" % (mark, number)
        for condition in "k = " + key, "k IS " + key, "k IN ('key5', %s)" % key, "k = 'key5' OR k = " + key, "k = (SELECT k FROM log WHERE id = %d)" % number, \
                         "k LIKE %s || 'key60_'" % mark, "k LIKE %s || '%%'" % mark, "k LIKE '%%' || %s || 'key60_'" % mark, "k GLOB %s || 'key60?'" % mark:
            on_index, on_log = (db.execute("SELECT id FROM %s WHERE %s ORDER BY id" % (t, condition)).fetchall() for t in ("log_index", "log"))
            if "LIKE" not in condition and "GLOB" not in condition: # there a half swallows what follows
                expect((number,) in on_log, True, "%s finds its row" % condition)
            expect(on_index, on_log, condition)
    joined = "SELECT log.id FROM log CROSS JOIN %s i ON i.k = log.k"
    expect(db.execute(joined % "log_index").fetchall(), db.execute(joined % "log").fetchall(), "a join")


for encoding in "UTF-8", "UTF-16le", "UTF-16be":
    for column in "k TEXT", "k NUMERIC", "k":
        case(begins_with_a_mark, "%s, %s" % (encoding, column), encoding, column)


# -- Changesets of the session extension -----------------------------------------------------------

def changes_travel(files, patch, answer):
    """Changes of two databases that were one, between merges."""
    db = files.connect()
    make(db)
    db.close()

    def changes_of(turn, number):
        yield ("INSERT INTO log(id, k, n) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)"
               " SELECT 10000 * %d + 1500 * %d + i, 'side%d turn%d ' || i, 7 FROM n WHERE 1 ON CONFLICT DO NOTHING" % (
                   turn, number, number, turn))
        yield "UPDATE log SET k = 'changed%d by%d ' || k, n = -1 WHERE id %% 5 = %d" % (turn, number, number)
        yield "DELETE FROM log WHERE id %% 17 = %d" % (turn + number)
        yield "INSERT INTO log_index(log_index) VALUES ('%s')" % ["merge=500", "merge", "rebuild"][(turn + number) % 3]

    for db in copies.exchange(files, patch, answer, "log", changes_of):
        for merge in "SELECT 1", "INSERT INTO log_index(log_index) VALUES ('merge')":
            db.execute(merge)
            expect(one(db, "SELECT count(*) FROM log WHERE NOT EXISTS (SELECT 1 FROM log_index i WHERE i.k = log.k AND i.id = log.id)"), 0)
            expect(one(db, "SELECT note FROM log_index_state"), None)
        db.execute("INSERT INTO log_index(log_index) VALUES ('integrity-check')")


for patch in False, True:
    for answer in 0, 1:
        case(changes_travel, "%s, %s" % ("patchsets" if patch else "changesets", "replace" if answer else "omit"), patch, answer)


if __name__ == "__main__":
    sys.exit(main())
