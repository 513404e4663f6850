"""Rows and columns that the triggers could miss: names of the rowid, recursion, OR clauses, 'rebuild' amid all that.

    python3 test/vtab/rows.py [--load ./bloom] [--only NAME]
"""
import ctypes
import sqlite3
import sys

from cases import (case, column, command, error_of, execute, expect, fails, fill, filtered, is_whole, main,
                   no_false_negative, one, quoted, rules_out_absent_keys, stop_after, test)

# -- Columns that take the rowid's names ----------------------------------------------------

NAMES = "rowid", "_rowid_", "oid"


def renamed_to_rowid(files, columns, args, renamed, name, keys):
    db = files.connect()
    execute(db, "CREATE TABLE t(%s)" % columns, "INSERT INTO t(k, c) VALUES ('Ada', 50), ('Bob', 60)",
            "CREATE VIRTUAL TABLE f USING bloom(%s)" % args)
    error = error_of(db, "ALTER TABLE t RENAME COLUMN %s TO %s" % (renamed, name))
    if error is not None:
        # SQLite may be unable to; it says so, and nothing has changed.
        assert "error in trigger" in str(error) or "rowid alias" in str(error), error
        renamed = None
    k, c, d = (name if renamed == column else column for column in "kcd")
    keys = keys.replace("{k}", k).replace("{c}", c)
    no_false_negative(db, keys)
    for i in range(5):
        db.execute("INSERT INTO t(%s, %s, %s) VALUES (?, ?, ?)" % (k, c, d), ("Eve%d" % i, 1000 + i, None if i % 2 else i))
    # What a BEFORE trigger cannot see as it will be: a BLOB in a TEXT column. The row itself must be found.
    db.execute("INSERT INTO t(%s, %s, %s) VALUES (x'7a', 2000, NULL), (x'7a7a', 2001, 2000), (x'7a7a7a', 2002, 1)" % (k, c, d))
    no_false_negative(db, keys)
    db.execute("UPDATE t SET %s = CAST(%s || 'b' AS BLOB) WHERE %s = 2002" % (k, k, c))
    no_false_negative(db, keys)
    db.execute("UPDATE t SET %s = %s || 'x' WHERE %s > 55" % (k, k, c))
    no_false_negative(db, keys)
    execute(db, "INSERT OR REPLACE INTO t(%s, %s) VALUES ('Zoe', 7)" % (k, c), "UPDATE t SET %s = %s + 5000" % (c, c))
    no_false_negative(db, keys)
    command(db, "f", "rebuild")
    no_false_negative(db, keys)
    db.execute("INSERT INTO t(%s, %s) VALUES ('Late', 3)" % (k, c))
    db.execute("UPDATE t SET %s = 'Later' WHERE %s = 'Zoe'" % (k, k))
    no_false_negative(db, keys)
    db.close()
    db = files.connect()
    no_false_negative(db, keys)
    rules_out_absent_keys(db)


COLUMNS = "k TEXT, c INTEGER, d", "id INTEGER PRIMARY KEY, k TEXT, c INTEGER, d", "k TEXT, c INTEGER, d, PRIMARY KEY (c)"
for name in NAMES:
    for columns in COLUMNS:
        for args, keys in (("t, k", "SELECT {k} AS k FROM t"), ("t, lower(k)", "SELECT lower({k}) AS k FROM t"),
                           ("t, typeof(k) || k", "SELECT typeof({k}) || {k} AS k FROM t"),
                           ("t, k, where = 'c > 40'", "SELECT {k} AS k FROM t WHERE {c} > 40")):
            for renamed in "kcd":
                case(renamed_to_rowid, "%s to %s, %s, %s" % (renamed, name, columns, args), columns, args, renamed, name, keys)


@test
def all_three_names_are_taken(files):
    db = filtered(files, "t, lower(k)", columns="k TEXT, a, b, c", rows="('Ada', 5, 6, 7)")
    for column, name in zip("abc", NAMES):
        error_of(db, "ALTER TABLE t RENAME COLUMN %s TO %s" % (column, name))
        db.execute("INSERT INTO t VALUES (?, 70, 80, 90)", ("Before" + name,))
        db.execute("UPDATE t SET k = k || 'x'")
        no_false_negative(db, "SELECT lower(k) AS k FROM t")


@test
def a_filter_over_the_rowid_whose_name_is_taken(files):
    db = filtered(files, "t, rowid", columns="id INTEGER PRIMARY KEY, c")
    db.execute("INSERT INTO t VALUES (100, 1), (NULL, 2)")
    assert error_of(db, "ALTER TABLE t RENAME COLUMN c TO rowid") is None or sqlite3.sqlite_version_info > (3, 41)
    db.execute("INSERT INTO t VALUES (200, 77), (NULL, 88)")
    no_false_negative(db, "SELECT id FROM t")
    db.execute("UPDATE t SET id = id + 1000")
    no_false_negative(db, "SELECT id FROM t")
    command(db, "f", "rebuild")
    no_false_negative(db, "SELECT id FROM t")


# -- 'rebuild' while rows are on their way ------------------------------------------------------

def rebuild_in_recursion(files, event, when, depth, columns, args, keys, texts):
    """Triggers nest, and the innermost one rebuilds: rows of all levels have been told but are not in the table yet,
    or the other way round. It may be refused; then what was there before the statement stays true."""
    db = files.connect()
    execute(db, "PRAGMA recursive_triggers = ON", "CREATE TABLE t(id INTEGER PRIMARY KEY, %s)" % columns,
            "INSERT INTO t(id, k) WITH RECURSIVE n(i) AS (SELECT -1 UNION ALL SELECT i - 1 FROM n WHERE i > -500) SELECT i, 'old' || i FROM n")
    key = "'%s' || (%d + %%s)" % (texts, 10000)
    if event == "INSERT":
        step = "INSERT INTO t(id, k) VALUES (new.id + 1, %s)" % (key % "new.id + 1")
        start = "INSERT INTO t(id, k) VALUES (1, %s)" % (key % "1")
    else:
        db.execute("INSERT INTO t(id, k) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <= %d)"
                   " SELECT i, 'before' || i FROM n" % depth)
        step = "UPDATE t SET k = %s WHERE id = new.id + 1" % (key % "new.id + 1")
        start = "UPDATE t SET k = %s WHERE id = 1" % (key % "1")
    deeper = "CREATE TRIGGER deeper %s %s ON t WHEN new.id BETWEEN 1 AND %d BEGIN %s; END" % (when, event, depth - 1, step)
    rebuilds = "CREATE TRIGGER rebuilds %s %s ON t WHEN new.id = %d BEGIN SELECT count(*) FROM f('x'); INSERT INTO f(f) VALUES ('rebuild'); END" % (when, event, depth)
    # Older than the filter, so that its own BEFORE triggers fire first.
    execute(db, deeper, rebuilds, "CREATE VIRTUAL TABLE f USING bloom(%s)" % args)
    no_false_negative(db, keys)
    error_of(db, start)
    no_false_negative(db, keys)
    command(db, "f", "integrity-check")
    execute(db, "BEGIN", "DELETE FROM t WHERE id > 0 AND id % 2")
    error_of(db, start.replace("INSERT", "INSERT OR REPLACE"))
    db.execute("COMMIT")
    no_false_negative(db, keys)
    command(db, "f", "rebuild")
    no_false_negative(db, keys)
    rules_out_absent_keys(db)


for event in "INSERT", "UPDATE":
    for when in "BEFORE", "AFTER":
        for depth in 3, 901:
            for columns, args, keys in (("k TEXT", "t, k", "SELECT k FROM t"), ("k TEXT", "t, lower(k)", "SELECT lower(k) AS k FROM t"),
                                        ("k TEXT, g AS (k || '!')", "t, g", "SELECT g FROM t")):
                for texts in "0", "key":  # texts that look like numbers, and others
                    case(rebuild_in_recursion, "%s %s, %d deep, %s, %r" % (when, event, depth, args, texts),
                         event, when, depth, columns, args, keys, texts)


@test
def rebuild_amid_a_long_statement(files):
    """A trigger rebuilds after each hundredth row of one INSERT, which also grows the filter by layers."""
    for columns in "k TEXT", "k TEXT, g AS (k || '!') STORED":
        db = files.connect(":memory:")
        db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, %s)" % columns)
        db.execute("CREATE TRIGGER b BEFORE INSERT ON t WHEN new.k LIKE '%00' BEGIN INSERT INTO f(f) VALUES ('rebuild'); END")
        db.execute("CREATE TRIGGER a AFTER INSERT ON t WHEN new.k LIKE '%50' BEGIN INSERT INTO f(f) VALUES ('rebuild'); END")
        db.execute("CREATE VIRTUAL TABLE f USING bloom(t, %s, capacity = 10)" % ("g" if "g AS" in columns else "k"))
        keys = "SELECT g FROM t" if "g AS" in columns else "SELECT k FROM t"
        error_of(db, "INSERT INTO t(k) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT 'key' || i FROM n")
        no_false_negative(db, keys)
        execute(db, "DROP TRIGGER a", "DROP TRIGGER b")
        command(db, "f", "rebuild")
        is_whole(db, keys)


@test
def rebuild_that_fails_half_way(files):
    """An interrupt amid 'rebuild' in a transaction leaves the filter as it was, or takes all back."""
    db = filtered(files, rows=3000)
    for after in 1, 2, 5, 20, 100, 500:
        db.execute("BEGIN")
        db.execute("INSERT INTO t VALUES (?)", ("new %d" % after,))
        stop_after(db, after, 20)
        error_of(db, "INSERT INTO f(f) VALUES ('rebuild')")
        db.set_progress_handler(None, 0)
        if db.in_transaction:
            db.execute("INSERT INTO t VALUES (?)", ("newer %d" % after,))
            db.execute("COMMIT")
        no_false_negative(db, "SELECT k FROM t WHERE rowid % 50 = 0 OR k LIKE 'new%'")
    is_whole(db)


# -- OR clauses: the outer statement's replaces that of the statements inside triggers --------------

def or_clauses(files, args, keys):
    db = filtered(files, args, columns="id INTEGER PRIMARY KEY, k TEXT UNIQUE, n INTEGER NOT NULL DEFAULT 5 CHECK (n < 100)")
    number = 0
    for inside in False, True:
        for clause in "", "OR IGNORE", "OR REPLACE", "OR FAIL", "OR ABORT", "OR ROLLBACK":
            for sql in ("INSERT %s INTO t VALUES (NULL, 'A%d', 1), (NULL, 'B%d', 2), (NULL, 'A%d', 3), (NULL, 'C%d', 4)",
                        "INSERT %s INTO t VALUES (NULL, 'D%d', NULL), (NULL, 'E%d', 2)",
                        "INSERT %s INTO t VALUES (NULL, 'F%d', 1), (NULL, 'G%d', 1000), (NULL, 'H%d', 1)",
                        "INSERT %s INTO t(k) VALUES ('I%d'), ('J%d')",
                        "UPDATE %s t SET k = 'K%d' WHERE id %% 3 = 0",
                        "UPDATE %s t SET n = n + 50, k = k || 'u'",
                        "UPDATE %s t SET id = 7 WHERE id BETWEEN 6 AND 9"):
                number += 1
                if inside and not db.in_transaction:
                    db.execute("BEGIN")
                text = sql % ((clause,) + (number,) * sql.count("%d"))
                error_of(db, text)
                lost = one(db, "SELECT count(*) FROM (%s) AS s WHERE NOT EXISTS (SELECT 1 FROM f WHERE key = s.k)" % keys)
                expect(lost, 0, text + ": missed")
        if db.in_transaction:
            db.execute("COMMIT")
    no_false_negative(db, keys)
    is_whole(db, keys)


for args, keys in (("t, k", "SELECT k FROM t"), ("t, lower(k)", "SELECT lower(k) AS k FROM t"), ("t, k, where = 'n > 1'", "SELECT k FROM t WHERE n > 1"),
                   ("t, id", "SELECT id AS k FROM t")):
    case(or_clauses, args, args, keys)


# -- What `=` does not tell apart, or takes for equal ------------------------------------------


def integers_become_reals(files, args, keys):
    """1 and 1.0 are equal, and IS NOT does not tell them apart; typeof(), || and hex() do."""
    db = files.connect()
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, k, n INTEGER)")
    db.execute("INSERT INTO t(k, n) VALUES (1, 7), (2, 7), (3.0, 7), (-9223372036854775807 - 1, 7)")
    db.execute("CREATE VIRTUAL TABLE f USING bloom(%s)" % args)
    for sql in ("UPDATE t SET k = k + 0.0", "UPDATE t SET k = CAST(k AS INTEGER)", "UPDATE t SET n = -9223372036854775807 - 1",
                "UPDATE t SET n = -9223372036854775808.0"):
        db.execute(sql)
        no_false_negative(db, keys)
    is_whole(db, keys)


for args, keys in (("t, typeof(k)", "SELECT typeof(k) AS k FROM t"), ("t, k || ''", "SELECT k || '' AS k FROM t"),
                   ("t, hex(k)", "SELECT hex(k) AS k FROM t"), ("t, typeof(n)", "SELECT typeof(n) AS k FROM t"),
                   ("t, k, where = \"typeof(k) = 'real'\"", "SELECT k FROM t WHERE typeof(k) = 'real'"),
                   ("t, id, where = \"typeof(k) <> 'real'\"", "SELECT id AS k FROM t WHERE typeof(k) <> 'real'")):
    case(integers_become_reals, args, args, keys)


def collation_of_an_expression(files, expression, is_refused):
    """A filter over an expression compares bytes: one that `=` compares otherwise is refused, and nothing is left."""
    db = files.connect()
    db.execute("CREATE TABLE t(k TEXT COLLATE NOCASE, r TEXT COLLATE RTRIM, b TEXT)")
    db.execute("INSERT INTO t VALUES ('ada', 'ada', 'ada')")
    found = one(db, "SELECT count(*) FROM t WHERE %s = 'ADA' OR %s = 'ada  '" % (expression, expression))
    expect(found > 0, is_refused, "found by `=`")
    before = column(db, "SELECT name FROM sqlite_master")
    if is_refused:
        fails(db, "CREATE VIRTUAL TABLE f USING bloom(t, %s)" % expression, "bloom: ", "collation", "lower(...)")
        expect(column(db, "SELECT name FROM sqlite_master"), before)
        return
    db.execute("CREATE VIRTUAL TABLE f USING bloom(t, %s)" % expression)
    is_whole(db, "SELECT %s AS k FROM t" % expression)
    command(db, "f", "rebuild")
    is_whole(db, "SELECT %s AS k FROM t" % expression)


for expression in "(k)", "+k", "CAST(k AS TEXT)", "b COLLATE NOCASE", "(r)", "+r", "CAST(b AS TEXT) COLLATE RTRIM", "lower(b COLLATE NOCASE)":
    case(collation_of_an_expression, "%s is refused" % expression, expression, True)
for expression in "lower(k)", "k || ''", "k COLLATE BINARY", "rtrim(r, ' ')", "+b", "CAST(b AS TEXT)":
    case(collation_of_an_expression, "%s is followed" % expression, expression, False)


LONG_NUMBERS = "1234567890123456789", "01234567890123456789", "0100", "100", "9007199254740993.5", "009007199254740993.5", "0.15626124190451883", "00.15626124190451883"


def column_of_a_compound(files, type_):
    """A column of UNION has the affinity of its first SELECT, and TEXT of the other: '0100' is 100 then."""
    db = files.connect(":memory:")
    for other in "INTEGER", "REAL", "NUMERIC", "TEXT", "BLOB":
        db.execute("CREATE TABLE %s(a %s)" % (quoted("x " + other), other))
    db.execute("CREATE TABLE y(b TEXT)")
    num_found = 0
    for stored in LONG_NUMBERS:
        db.execute("CREATE TABLE t(k %s)" % type_)
        db.execute("INSERT INTO t VALUES (?)", (stored,))
        db.execute("CREATE VIRTUAL TABLE f USING bloom(t, k)")
        for wanted in LONG_NUMBERS:
            db.execute("DELETE FROM y")
            db.execute("INSERT INTO y VALUES (?)", (wanted,))
            for other in "INTEGER", "REAL", "NUMERIC", "TEXT", "BLOB":
                for compound in 'SELECT a AS v FROM "x %s" UNION ALL SELECT b FROM y', 'SELECT b AS v FROM y UNION SELECT a FROM "x %s"':
                    s = "(%s) AS s" % (compound % other)
                    for source, found in (("s CROSS JOIN t ON t.k = s.v", "s CROSS JOIN f ON f.key = s.v"),
                                          ("s WHERE EXISTS (SELECT 1 FROM t WHERE k = s.v)", "s WHERE EXISTS (SELECT 1 FROM f WHERE key = s.v)"),
                                          ("s WHERE EXISTS (SELECT 1 FROM t WHERE k = s.v)", "s WHERE bloom_may_contain((SELECT handle FROM f), s.v)")):
                        if one(db, "SELECT count(*) FROM " + source.replace("s", s, 1)):
                            num_found += 1
                            expect(one(db, "SELECT count(*) FROM " + found.replace("s", s, 1)), 1, "%s in %s of %s: %s" % (stored, type_, s, found))
        execute(db, "DROP TABLE f", "DROP TABLE t")
    assert num_found > 200, num_found


for type_ in "TEXT", "BLOB", "INTEGER", "REAL":
    case(column_of_a_compound, type_, type_)


@test
def statements_that_return_their_changes(files):
    """Under PRAGMA count_changes every INSERT has a row: CREATE and 'rebuild' made nothing then, without an error."""
    db = files.connect()
    execute(db, "PRAGMA count_changes = 1", "CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT)")
    fill(db, 100)
    db.execute("CREATE VIRTUAL TABLE f USING bloom(t, k, capacity = 10)").fetchall()
    db.execute("CREATE VIRTUAL TABLE i USING bloom_index(t, k)").fetchall()
    expect(one(db, "SELECT count(*) FROM sqlite_master WHERE name IN ('f', 'i')"), 2, "virtual tables")
    fill(db, 2000, "more")
    assert one(db, "SELECT num_layers FROM f") > 1
    no_false_negative(db)
    command(db, "f", "rebuild")
    expect(one(db, "SELECT num_layers FROM f"), 1, "layers after 'rebuild'")
    is_whole(db)


@test
def upserts(files):
    db = files.connect()
    execute(db, "CREATE TABLE t(k TEXT PRIMARY KEY, n INTEGER DEFAULT 0) WITHOUT ROWID",
            "CREATE VIRTUAL TABLE f USING bloom(t, k)", "CREATE VIRTUAL TABLE g USING bloom(t, k || n)")
    for i in range(40):
        db.execute("INSERT INTO t(k) VALUES ('a' || ?), ('b'), ('c' || ?) ON CONFLICT (k) DO UPDATE SET k = excluded.k || '+' || ?, n = n + 1", (i % 7, i % 5, i))
        db.execute("INSERT INTO t(k) VALUES ('a' || ?), ('d') ON CONFLICT DO NOTHING", (i,))
        no_false_negative(db)
        no_false_negative(db, "SELECT k || n AS k FROM t", "g")
    is_whole(db)


@test
def pages_that_savepoints_take_back(files):
    """Keys of rows that stay must not go with savepoints of rows that do not, at every depth."""
    db = filtered(files, "t, k, capacity = 10")
    fill(db, 30, "base")
    db.execute("BEGIN")
    for depth in range(12):
        db.execute("SAVEPOINT s%d" % depth)
        fill(db, 400, "depth%d-" % depth)
    for depth in 10, 7, 6, 3, 0:
        db.execute("ROLLBACK TO s%d" % depth)
        no_false_negative(db, "SELECT k FROM t WHERE rowid % 7 = 0")
        fill(db, 40, "after%d-" % depth)
        no_false_negative(db, "SELECT k FROM t WHERE k LIKE 'after%'")
        db.execute("RELEASE s%d" % depth)
    db.execute("COMMIT")
    no_false_negative(db)
    command(db, "f", "integrity-check")


def nothing_is_left(files, sql, word):
    """SQLite's memory is as before once the connection is closed, also where it takes no message: from xDestroy."""
    memory_used = ctypes.CDLL("libsqlite3.so.0").sqlite3_memory_used
    memory_used.restype = ctypes.c_int64
    left = []
    for _ in range(3):
        db = filtered(files, path=":memory:", rows=10, cached_statements=0)
        db.execute("PRAGMA legacy_alter_table = ON")
        pages = db.execute("SELECT * FROM f_pages")
        pages.fetchone()
        fails(db, sql, word)
        pages.close()
        assert memory_used() > 0
        db.close()
        left.append(memory_used())
    expect(left[2], left[0], "bytes in use")


case(nothing_is_left, "DROP", "DROP TABLE f", "locked")
case(nothing_is_left, "RENAME", "ALTER TABLE f RENAME TO g", "legacy_alter_table")


if __name__ == "__main__":
    sys.exit(main())
