"""A filter never stands in its table's way: what works without it works with it, and says the same.

    python3 test/vtab/not_in_the_way.py [--load ./bloom] [--only NAME]
"""
import os
import re
import sqlite3
import sys

from cases import (Api, SHADOW_TABLES, Skip, case, column, command, error_of, execute, expect, fails, fill, filtered,
                   image, is_whole, main, no_false_negative, note, one, rules_out_absent_keys, shadow_tables, test,
                   triggers_of)

# -- CREATE refuses what its triggers could not do ---------------------------------------------

TABLES = {
    "a rowid": "t(k TEXT, n INTEGER)",
    "an INTEGER PRIMARY KEY": "t(id INTEGER PRIMARY KEY, k TEXT, n INTEGER)",
    "WITHOUT ROWID": "t(k TEXT, n INTEGER, PRIMARY KEY (n)) WITHOUT ROWID",
    "a column named rowid": "t(rowid TEXT, k TEXT, n INTEGER)",
}


def refused_or_works(files, columns, args, keys):
    """What CREATE accepts, every later statement can do. What it refuses, it refuses with a reason, and leaves nothing."""
    db = files.connect()
    execute(db, "CREATE TABLE " + columns, "INSERT INTO t(k, n) VALUES ('old', 1000)")
    before = column(db, "SELECT name FROM sqlite_master")
    error = error_of(db, "CREATE VIRTUAL TABLE f USING bloom(%s)" % args)
    if error is not None:
        assert str(error).startswith("bloom: "), error
        expect(column(db, "SELECT name FROM sqlite_master"), before)
        db.execute("INSERT INTO t(k, n) VALUES ('ada', 5)")
        return
    for i in range(300):
        db.execute("INSERT INTO t(k, n) VALUES (?, ?)", ("Ada%d" % i, i))
    no_false_negative(db, keys)
    execute(db, "UPDATE t SET k = 'Bob' || n WHERE n % 2", "UPDATE t SET n = n + 2000 WHERE n % 3 = 0",
            "DELETE FROM t WHERE n % 5 = 0")
    no_false_negative(db, keys)
    is_whole(db, keys)
    command(db, "f", "rebuild")
    is_whole(db, keys)


for name, columns in TABLES.items():
    for rowid in "rowid", "_rowid_", "oid", '"rowid"', "t.rowid", "main.t.rowid":
        # WITHOUT ROWID a name in quotes that no column has is a text.
        sql_name = "'rowid'" if name == "WITHOUT ROWID" else rowid
        keys = "SELECT k FROM t WHERE %s > 100" % sql_name
        case(refused_or_works, "%s, where %s > 100" % (name, rowid), columns, "t, k, where = '%s > 100'" % rowid, keys)
        keys = "SELECT %s || k AS k FROM t" % sql_name
        case(refused_or_works, "%s, %s || k" % (name, rowid), columns, "t, %s || k" % rowid, keys)
for args in ("t, k, where = 'new.n > 1'", "t, k, where = 'old.n > 1'", "t, new.k", "t, old.k", "t, k, where = 't.n > 1'", "t, t.k || 'x'",
             "t, main.t.k || 'x'", "t, k, where = 'raise(ignore)'", "t, raise(abort, 'x')", "t, k, where = 'no_such_function(k)'",
             "t, k, where = 'nobody = 1'", "t, k COLLATE NOCASE", "t, k, where = 'k MATCH 1'", "t, k, where = \"k = \"\"n\"\"\"",
             "t, k, where = \"\"\"nobody\"\" = 'nobody'\"", "t, excluded.k"):
    keys = {"t, k, where = 't.n > 1'": "SELECT k FROM t WHERE n > 1", "t, t.k || 'x'": "SELECT k || 'x' AS k FROM t",
            "t, main.t.k || 'x'": "SELECT k || 'x' AS k FROM t", "t, k COLLATE NOCASE": "SELECT k FROM t"}.get(args, "SELECT k FROM t WHERE 0")
    case(refused_or_works, args, TABLES["an INTEGER PRIMARY KEY"], args, keys)


def capacity(files, number, with_table):
    """A number that no file has room for is refused in words, and nothing overflows or is left."""
    db = files.connect()
    execute(db, "CREATE TABLE t(k TEXT)", "PRAGMA max_page_count = 5000")
    before = column(db, "SELECT name FROM sqlite_master")
    error = error_of(db, "CREATE VIRTUAL TABLE f USING bloom(%scapacity = %s)" % ("t, k, " if with_table else "", number))
    assert error is not None
    expect(column(db, "SELECT name FROM sqlite_master"), before)
    db.execute("INSERT INTO t VALUES ('ada')")


for number in "9223372036854775807", "9223372036854775808", "4611686018427387904", "1000000000000", "999999999999", "1e18", "-1", "0":
    for with_table in False, True:
        case(capacity, "%s%s" % (number, ", a table" if with_table else ""), number, with_table)


def shadow_table_of(files, other, sql):
    """A virtual table writes to its shadow tables as it likes: following one is refused, with the reason."""
    db = files.connect()
    db.execute("CREATE TABLE t(k TEXT)")
    try:
        db.execute(sql)
    except sqlite3.OperationalError as error:
        raise Skip(error)
    # other_guard is no shadow table.
    tables = column(db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'other\\_%' ESCAPE '\\' AND name <> 'other_guard'")
    assert tables
    before = column(db, "SELECT name FROM sqlite_master")
    for table in tables:
        names = [row[1] for row in db.execute("PRAGMA table_info(%s)" % table)]
        fails(db, "CREATE VIRTUAL TABLE f USING bloom(%s, %s)" % (table, names[0]), "bloom: ", table, "shadow table")
        fails(db, "CREATE VIRTUAL TABLE f USING bloom(%s, 'x' || \"%s\")" % (table.upper(), names[0]), "bloom: ", "shadow table")
    fails(db, "CREATE VIRTUAL TABLE f USING bloom(other, x)", "bloom: ")
    expect(column(db, "SELECT name FROM sqlite_master"), before)


case(shadow_table_of, "FTS5", "FTS5", "CREATE VIRTUAL TABLE other USING fts5(x)")
case(shadow_table_of, "R*Tree", "R*Tree", "CREATE VIRTUAL TABLE other USING rtree(id, a, b)")
case(shadow_table_of, "a filter over a table", "bloom", "CREATE VIRTUAL TABLE other USING bloom(t, k)")
case(shadow_table_of, "a standalone filter", "bloom", "CREATE VIRTUAL TABLE other USING bloom(capacity = 10)")


@test
def names_like_shadow_tables(files):
    """An ordinary table that is called like another's shadow table would be, beside no such virtual table, is followed."""
    db = files.connect()
    execute(db, "CREATE TABLE my_config(k TEXT)", "CREATE TABLE docs_content(k TEXT)")
    for name, table in ("f", "my_config"), ("g", "docs_content"):
        db.execute("CREATE VIRTUAL TABLE %s USING bloom(%s, k)" % (name, table))
        db.execute("INSERT INTO %s VALUES ('ada')" % table)
        is_whole(db, "SELECT k FROM " + table, name)


# -- Nothing of COMMIT or of a statement fails because of the filter -----------------------------------

def commit_writes_nothing(files, journal_mode, spoil, unspoil):
    """After the last INSERT something makes writing impossible: COMMIT has nothing to write but what is there already."""
    db = filtered(files, "t, k, capacity = 10", journal_mode=journal_mode)
    db.execute("BEGIN")
    fill(db, 5000)
    spoil(db)
    db.execute("COMMIT")
    expect(db.in_transaction, False)
    unspoil(db)
    expect(one(db, "SELECT count(*) FROM t"), 5000)
    no_false_negative(db)
    db.close()
    db = files.connect()
    expect(one(db, "SELECT count(*) FROM t"), 5000)
    is_whole(db)


def limit_length(db):
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1000)


SPOILERS = {
    "query_only": (lambda db: db.execute("PRAGMA query_only = ON"), lambda db: db.execute("PRAGMA query_only = OFF")),
    "SQLITE_LIMIT_LENGTH": (limit_length, lambda db: db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1000000000)),
    "max_page_count": (lambda db: db.execute("PRAGMA max_page_count = %d" % one(db, "PRAGMA page_count")),
                       lambda db: db.execute("PRAGMA max_page_count = 1073741823")),
    "no triggers": (lambda db: None, lambda db: None),
    "an authorizer": (lambda db: db.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action == sqlite3.SQLITE_TRANSACTION else sqlite3.SQLITE_DENY),
                      lambda db: db.set_authorizer(None)),
}
for mode in "DELETE", "WAL":
    for name, (spoil, unspoil) in SPOILERS.items():
        case(commit_writes_nothing, "%s, %s" % (name, mode), mode, spoil, unspoil)


def rows_under_a_limit(files, inside):
    """SQLITE_LIMIT_LENGTH below a page: rows that are shorter are written as without the filter, also where it would grow."""
    db = filtered(files, "t, k, capacity = 10")
    limit_length(db)
    for i in range(3):
        if inside:
            db.execute("BEGIN")
        fill(db, 20000, "key %d " % i)
        db.execute("INSERT INTO t VALUES ('x')")
        if inside:
            db.execute("COMMIT")
    expect(one(db, "SELECT count(*) FROM t"), 60003)
    lost = one(db, "SELECT count(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM f WHERE key = k)")
    expect(lost, 0, "missed")
    expect(one(db, "SELECT count(*) FROM f('x')"), 1)
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1000000000)
    lost = one(db, "SELECT count(*) FROM t WHERE bloom_may_contain((SELECT handle FROM f), k) IS NOT 1")
    expect(lost, 0, "missed by the handle")
    command(db, "f", "rebuild")
    rules_out_absent_keys(db)


case(rows_under_a_limit, "alone", False)
case(rows_under_a_limit, "in a transaction", True)

# SQLite's advice for hostile SQL (sqlite.org/security.html), and what fits it.
LIMITS = {"LENGTH": 1000000, "SQL_LENGTH": 100000, "COLUMN": 100, "EXPR_DEPTH": 10, "COMPOUND_SELECT": 3, "VDBE_OP": 25000, "FUNCTION_ARG": 8,
          "ATTACHED": 0, "LIKE_PATTERN_LENGTH": 50, "VARIABLE_NUMBER": 10, "TRIGGER_DEPTH": 10}
ALL = ", ".join("c%d" % i for i in range(8))


def lowered_limits(files, args, values):
    """Under limits as low as these a filter is made, its table is written to, and all that is read of it."""
    db = files.connect(":memory:")
    for name, limit in LIMITS.items():
        db.setlimit(getattr(sqlite3, "SQLITE_LIMIT_" + name), limit)
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT, n NUMERIC, %s)" % ALL)
    insert = "INSERT OR REPLACE INTO t(id, k, n, %s) SELECT %%s, 'key' || %%s, %%s, %s FROM n" % (ALL, ", ".join(["%s"] * 8))
    insert = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) " + insert
    execute(db, insert % (("i",) * 11), "CREATE VIRTUAL TABLE f USING bloom(%s, capacity = 100)" % args,
            insert % (("i + 250",) + ("i / 4.0",) * 10),
            "UPDATE t SET k = 'u' || k, c1 = c0 || 'x', c7 = c7 / 8 WHERE id % 3",
            "UPDATE t SET c7 = c7 || '' WHERE id % 3 = 1", insert % (("i * 5",) + ("i * 10000000000000",) * 10),
            "DELETE FROM t WHERE id % 7 = 0")
    where = "WHERE c0 IN (%s)" % ALL if "where" in args else ""
    for phase in "followed", "rebuilt":
        assert one(db, "SELECT count(*) FROM t " + where) > 100
        expect(one(db, "SELECT count(*) FROM (SELECT * FROM t %s) WHERE NOT EXISTS (SELECT 1 FROM f(%s))" % (where, values)), 0, phase)
        key = "bloom_tuple(%s)" % values if values == ALL else values
        expect(one(db, "SELECT count(*) FROM (SELECT * FROM t %s) WHERE NOT EXISTS (SELECT 1 FROM f WHERE key = %s)" % (where, key)), 0, phase)
        expect(one(db, "SELECT count(*) FROM (SELECT * FROM t %s) WHERE bloom_may_contain((SELECT handle FROM f), %s) = 0" % (where, key)), 0, phase)
        command(db, "f", "integrity-check")
        command(db, "f", "rebuild")
        expect(note(db), None)
    execute(db, "ALTER TABLE t RENAME TO u", "ALTER TABLE f RENAME TO g", "DROP TABLE g")


if hasattr(sqlite3.Connection, "setlimit"):
    for args, values in (("t, k", "k"), ("t, coalesce(%s)" % ALL, "c0"), ("t, k, where = 'c0 IN (%s)'" % ALL, "k"), ("t, (%s)" % ALL, ALL),
                         ("t, (%s), where = 'c0 IN (%s)'" % (ALL, ALL), ALL)):
        case(lowered_limits, args, args, values)



def full_disk(files, filtered, inside, journal_mode):
    """Rows until the disk is full. Returns how it ended: with an index in the filter's place it is the same."""
    path = files.file("%s%s%s.db" % (filtered, inside, journal_mode))
    db = files.connect(path)
    execute(db, "PRAGMA journal_mode = " + journal_mode, "CREATE TABLE t(k TEXT)",
            "CREATE VIRTUAL TABLE f USING bloom(t, k, capacity = 10)" if filtered else "CREATE INDEX i ON t(k)")
    if inside:
        db.execute("BEGIN")
    fill(db, 5000)
    # As good as full: a few rows have room, no new layer has.
    db.execute("PRAGMA max_page_count = %d" % (one(db, "PRAGMA page_count") + 3))
    codes = set()
    for i in range(3000):
        try:
            db.execute("INSERT INTO t VALUES (?)", ("more %d" % i,))
        except sqlite3.Error as error:
            codes.add(error.sqlite_errorname)
            break
    survived = not inside or db.in_transaction
    if db.in_transaction:
        db.execute("COMMIT")
    num_rows = one(db, "SELECT count(*) FROM t")
    if filtered:
        no_false_negative(db)
        execute(db, "PRAGMA max_page_count = 1073741823", "INSERT INTO t VALUES ('there is room again')")
        is_whole(db)
    db.close()
    return survived, num_rows >= 5000, codes


def disk_full(files, inside, journal_mode):
    """A statement that finds no room fails alone; the transaction's 5,000 rows stay. An index may cost the transaction."""
    (survived, has_rows, codes), with_index = full_disk(files, True, inside, journal_mode), full_disk(files, False, inside, journal_mode)
    assert survived >= with_index[0] and has_rows >= with_index[1] and codes == with_index[2], (survived, has_rows, codes, with_index)


for mode in "DELETE", "WAL":
    for inside in False, True:
        case(disk_full, "%s, %s" % (mode, "in a transaction" if inside else "alone"), inside, mode)


@test
def growth_on_a_full_disk(files):
    """The filter is due to grow when the disk is full, but the rows have room: they are written, and nothing is lost.
    A filter that cannot grow goes on with the layers that it has: more "maybe", no error."""
    db = files.connect()
    execute(db, "PRAGMA page_size = 4096", "CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT)", "CREATE TABLE room(b)",
            "CREATE VIRTUAL TABLE f USING bloom(t, k, capacity = 10)",
            "INSERT INTO t(k) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000) SELECT 'key' || i FROM n")
    # The rows stay as many as they are, their pages too: UPDATEs bring new keys.
    db.execute("PRAGMA max_page_count = %d" % one(db, "PRAGMA page_count"))
    db.execute("BEGIN")
    num_failed = 0
    for i in range(20):
        num_failed += error_of(db, "UPDATE t SET k = 'k%02d' || substr(k, 4) WHERE id %% 2 = %d" % (i, i % 2)) is not None
        assert db.in_transaction, "the whole transaction was taken back"
        execute(db, "SAVEPOINT s", "RELEASE s")
    db.execute("COMMIT")
    no_false_negative(db, "SELECT k FROM t WHERE id % 50 < 2")
    expect(num_failed, 0, "UPDATEs that failed for want of room for the filter")


# -- Defensive connections ------------------------------------------------------------------------------------

def defensive(files, is_loaded_first):
    """SQLITE_DBCONFIG_DEFENSIVE, which newer shells have by default: a trigger on a shadow table would be a malformed schema."""
    db = filtered(files, rows=10)
    db.execute("CREATE VIRTUAL TABLE s USING bloom(capacity = 10)")
    db.close()
    api = Api(files.path, files.load if is_loaded_first else None)
    api.ok(api.lib.sqlite3_db_config(api.db, 1010, 1, None))
    if not is_loaded_first:
        api.run("SELECT count(*) FROM t")
        api.ok(api.lib.sqlite3_enable_load_extension(api.db, 1))
        api.ok(api.lib.sqlite3_load_extension(api.db, os.fsencode(files.load), None, None))
    for sql in ("SELECT count(*) FROM f('key1')", "INSERT INTO t VALUES ('new')", "UPDATE t SET k = 'newer' WHERE k = 'new'", "INSERT INTO s(key) VALUES (1)",
                "INSERT INTO f(f) VALUES ('integrity-check')", "INSERT INTO f(f) VALUES ('rebuild')", "CREATE TABLE u(k)", "CREATE VIRTUAL TABLE g USING bloom(u, k)",
                "ALTER TABLE g RENAME TO h", "VACUUM", "INSERT INTO h(h) VALUES ('rebuild')", "DROP TABLE h"):
        api.run(sql)
    api.close()
    is_whole(files.connect())


case(defensive, "bloom loaded first", True)
case(defensive, "bloom loaded later", False)


# -- Columns and tables come and go -------------------------------------------------------------------

def drop_column(files, args, keys):
    db = filtered(files, args, columns="id INTEGER PRIMARY KEY, k TEXT, n INTEGER, c, d, e", rows="(1, 'Ada', 1, 2, 3, 4)")
    for name in "dce":
        db.execute("ALTER TABLE t DROP COLUMN " + name)
        db.execute("INSERT INTO t(k, n) VALUES (?, 1)", ("After " + name,))
        db.execute("UPDATE t SET k = k || 'x' WHERE id = 1")
        is_whole(db, keys)
    execute(db, "ALTER TABLE t ADD COLUMN z DEFAULT 5", "INSERT INTO t(k, n, z) VALUES ('Late', 1, 1)",
            "ALTER TABLE t RENAME COLUMN z TO y", "ALTER TABLE t RENAME COLUMN k TO name")
    keys = keys.replace("k", "name").replace("AS name", "AS k")
    db.execute("INSERT INTO t(name, n) VALUES ('Later', 1)")
    is_whole(db, keys)
    db.execute("ALTER TABLE t DROP COLUMN y")
    command(db, "f", "rebuild")
    is_whole(db, keys)
    execute(db, "ALTER TABLE t RENAME TO u", "INSERT INTO u(name, n) VALUES ('Last', 1)")
    is_whole(db, keys.replace(" t", " u"))
    if args == "t, k":
        fails(db, "ALTER TABLE u DROP COLUMN name", "error in trigger", "name")
    elif error_of(db, "ALTER TABLE u DROP COLUMN name") is None:  # the key's own: refused by SQLite, or the filter is uncertain
        assert note(db) is not None


for args, keys in (("t, k", "SELECT k FROM t"), ("t, lower(k)", "SELECT lower(k) AS k FROM t"), ("t, k, where = 'n = 1'", "SELECT k FROM t WHERE n = 1"),
                   ("t, k || n", "SELECT k || n AS k FROM t")):
    case(drop_column, args, args, keys)


@test
def legacy_rename_of_the_table(files):
    """With legacy_alter_table SQLite rewrites no trigger's text: a plain column's has nothing to be rewritten."""
    db = filtered(files, columns="id INTEGER PRIMARY KEY, k TEXT", rows="(1, 'ada')")
    execute(db, "PRAGMA legacy_alter_table = ON", "ALTER TABLE t RENAME TO u", "INSERT INTO u VALUES (2, 'bob')",
            "UPDATE u SET k = 'cy' WHERE id = 1", "INSERT OR REPLACE INTO u VALUES (2, 'dee')",
            "DELETE FROM u WHERE id = 1")
    no_false_negative(db, "SELECT k FROM u")
    command(db, "f", "rebuild")
    is_whole(db, "SELECT k FROM u")


def drop_filter(files, steps, is_there):
    db = filtered(files)
    db.execute("CREATE VIRTUAL TABLE s USING bloom(capacity = 10)")
    for sql in steps:
        db.execute(sql)
    if db.in_transaction:
        db.execute("COMMIT")
    expect(one(db, "SELECT count(*) FROM sqlite_master WHERE name = 'f'"), int(is_there))
    if is_there:
        db.execute("INSERT INTO t VALUES ('after')")
        is_whole(db)
    else:
        expect(shadow_tables(db), [])
        expect(triggers_of(db, "t"), [])
        db.execute("CREATE VIRTUAL TABLE f USING bloom(t, k)")
        is_whole(db)


INSERT = "INSERT INTO t VALUES ('ada'), ('bob')"
for steps, is_there in (
        (["BEGIN", INSERT, "SAVEPOINT s", "DROP TABLE f"], False),
        (["BEGIN", INSERT, "SAVEPOINT s", "DROP TABLE f", "ROLLBACK TO s"], True),
        (["BEGIN", INSERT, "SAVEPOINT s", "DROP TABLE f", "ROLLBACK TO s", INSERT, "RELEASE s"], True),
        (["BEGIN", INSERT, "SAVEPOINT s", INSERT, "DROP TABLE f", INSERT, "ROLLBACK TO s", "DROP TABLE f"], False),
        (["SAVEPOINT s", INSERT, "SAVEPOINT q", "DROP TABLE f", "ROLLBACK TO q", "RELEASE s"], True),
        (["BEGIN", INSERT, "DROP TABLE f", "ROLLBACK"], True),
        (["BEGIN", "SAVEPOINT a", INSERT, "SAVEPOINT b", "INSERT INTO s(key) VALUES (1)", "DROP TABLE s", "DROP TABLE f", "RELEASE b", "RELEASE a"], False)):
    case(drop_filter, "; ".join(steps), steps, is_there)


def damaged(files, place, table, standalone):
    """DROP TABLE works whatever stands in the place of a shadow table, and takes the triggers away."""
    db = filtered(files, "capacity = 10" if standalone else "t, k", rows="('ada')")
    place(db, table)
    db.close()
    db = files.connect()
    # The filter may be probed first, or not.
    if table == "f_guard":
        error_of(db, "SELECT count(*) FROM f('ada')")
    db.execute("DROP TABLE f")
    expect(one(db, "SELECT count(*) FROM sqlite_master WHERE name = 'f'"), 0)
    expect(triggers_of(db, "t"), [])
    db.execute("INSERT INTO t VALUES ('bob')")
    expect(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
    db.close()
    db = files.connect(load=False)
    execute(db, "INSERT INTO t VALUES ('cy')", "ALTER TABLE t RENAME TO u")


def replaced_by(*statements):
    def place(db, table):
        db.execute("DROP TABLE " + table)
        for sql in statements:
            db.execute(sql % {"table": table})
    return place


def spoiled_text(db, table):
    if table.endswith("_guard"):
        return  # a trigger on a table with another text is SQLite's to refuse: the schema is malformed then
    db.execute("PRAGMA writable_schema = ON")
    db.execute("UPDATE sqlite_master SET sql = 'CREATE TABLE ' || name || '(x)' WHERE name = ?", (table,))
    db.execute("PRAGMA writable_schema = OFF")


PLACES = {
    "nothing": replaced_by(),
    "a view": replaced_by("CREATE VIEW %(table)s AS SELECT 1 AS x"),
    "a view that fails": replaced_by("CREATE VIEW %(table)s AS SELECT * FROM absent"),
    "a view of the filter": replaced_by("CREATE VIEW %(table)s AS SELECT * FROM f('x')"),
    "an FTS5 table": replaced_by("CREATE VIRTUAL TABLE %(table)s USING fts5(x)"),
    "another filter": replaced_by("CREATE VIRTUAL TABLE %(table)s USING bloom(capacity = 10)"),
    "a table of other columns": replaced_by("CREATE TABLE %(table)s(x, y)", "INSERT INTO %(table)s VALUES (1, 2), (3, 4)"),
    "a table WITHOUT ROWID": replaced_by("CREATE TABLE %(table)s(x PRIMARY KEY) WITHOUT ROWID", "INSERT INTO %(table)s VALUES (1)"),
    "an index": replaced_by("CREATE INDEX %(table)s ON t(k)"),
    "no rows": lambda db, table: db.execute("DELETE FROM " + table),
    "a trigger": lambda db, table: db.execute("CREATE TRIGGER spoiler BEFORE DELETE ON %s BEGIN SELECT RAISE(ABORT, 'no'); END" % table),
    "a foreign key": lambda db, table: db.execute("CREATE TABLE child(x REFERENCES %s(rowid))" % table),
    "another text in the schema": spoiled_text,
}
for name, place in PLACES.items():
    for table, standalone in SHADOW_TABLES:
        case(damaged, "%s in place of %s%s" % (name, table, ", standalone" if standalone else ""), place, table, standalone)


# -- Locks -------------------------------------------------------------------------------------------

STATEMENTS = {
    "a look-up": "SELECT count(*) FROM f('ada')",
    "the facts": "SELECT * FROM f",
    "the handle": "SELECT bloom_may_contain((SELECT handle FROM f), 'ada')",
    "a join": "SELECT count(*) FROM t WHERE EXISTS (SELECT 1 FROM f WHERE key = t.k)",
    "INSERT": "INSERT INTO t VALUES ('new')",
    "UPDATE": "UPDATE t SET k = k || 'x'",
    "rebuild": "INSERT INTO f(f) VALUES ('rebuild')",
    "integrity-check": "INSERT INTO f(f) VALUES ('integrity-check')",
    "DROP TABLE": "DROP TABLE f",
    "RENAME": "ALTER TABLE f RENAME TO g",
    "CREATE": "CREATE VIRTUAL TABLE h USING bloom(t, k)",
    "CREATE standalone": "CREATE VIRTUAL TABLE h USING bloom(capacity = 10)",
}


def busy(files, sql, state):
    """What finds the database locked ends with SQLITE_BUSY, which retry loops know, and works a moment later."""
    db = filtered(files, rows="('ada')", timeout=0)
    other = files.connect(timeout=0)
    if state != "nothing read":
        one(other, "SELECT count(*) FROM t")
    if state == "used":
        one(other, "SELECT count(*) FROM f('x')")
    if state == "changed since":
        one(other, "SELECT count(*) FROM f('x')")
        db.execute("CREATE TABLE something(x)")
    db.execute("BEGIN EXCLUSIVE")
    for _ in range(2):
        error = error_of(other, sql)
        assert error is not None
        expect(error.sqlite_errorname.split("_")[1], "BUSY", str(error))
    db.execute("COMMIT")
    other.execute(sql).fetchall()


for state in "nothing read", "schema read", "used", "changed since":
    for name, sql in STATEMENTS.items():
        case(busy, "%s, %s" % (name, state), sql, state)


def locked(files, sql):
    """The same with a shared cache, where it is SQLITE_LOCKED."""
    uri = "file:%s?cache=shared" % files.path
    db = filtered(files, rows="('ada')", path=uri, uri=True, timeout=0)
    other = files.connect(uri, uri=True, timeout=0)
    one(other, "SELECT count(*) FROM f('x')")
    db.execute("BEGIN")
    db.execute("CREATE TABLE something(x)")  # write-locks the schema
    error = error_of(other, sql)
    assert error is not None
    expect(error.sqlite_errorname.split("_")[1], "LOCKED", str(error))
    db.execute("COMMIT")
    other.execute(sql).fetchall()


for name in "a look-up", "the facts", "the handle", "INSERT":
    case(locked, name, STATEMENTS[name])


@test
def a_lock_that_comes_while_a_statement_is_kept(files):
    """Python keeps the statement; the second run meets the lock in xFilter and not in xBestIndex."""
    db, other = files.connect(timeout=0), files.connect(timeout=0)
    execute(db, "CREATE TABLE t(k TEXT)", "CREATE VIRTUAL TABLE f USING bloom(t, k)")
    sql = "SELECT count(*) FROM f(?)"
    expect(one(other, sql, "ada"), 0)
    for _ in range(3):
        execute(db, "BEGIN EXCLUSIVE", "INSERT INTO t VALUES ('ada')")
        expect(error_of(other, sql, "ada").sqlite_errorname, "SQLITE_BUSY")
        db.execute("COMMIT")
        expect(one(other, sql, "ada"), 1)


@test
def a_drop_that_an_open_query_refuses(files):
    """It changes nothing, to a query that is open and to a statement that is compiled already, either."""
    db = filtered(files, args="t, k, where = 'length(k) > 1'", rows=100)
    execute(db, "ALTER TABLE f RENAME TO g", "CREATE VIRTUAL TABLE f USING bloom(t, k)")
    db.close()
    db = files.connect()
    query = db.execute("SELECT k, (SELECT count(*) FROM f(k)) FROM t")
    insert = "INSERT INTO t VALUES (?)"
    expect(error_of(db, insert, "first"), None)
    db.execute("SAVEPOINT s")
    fails(db, "DROP TABLE g", "locked")
    expect(error_of(db, insert, "second"), None)
    expect({found for _, found in query}, {1})
    for filter_ in "f", "g":
        is_whole(db, filter_=filter_)
    execute(db, "DROP TABLE g", "RELEASE s")


# -- Counts ----------------------------------------------------------------------------------------------

SCRIPT = [
    "INSERT INTO t(k) VALUES ('a'), ('b'), ('c')", "BEGIN", "INSERT INTO t(k) VALUES ('d'), ('e')", "COMMIT",
    "INSERT INTO t(k) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) SELECT 'key' || i FROM n",
    "UPDATE t SET k = k || 'x' WHERE id % 3 = 0", "DELETE FROM t WHERE id % 5 = 0", "BEGIN", "DELETE FROM t WHERE id % 7 = 0",
    "SAVEPOINT s", "UPDATE t SET k = 'same' WHERE id < 100", "ROLLBACK TO s", "COMMIT", "REPLACE INTO t(id, k) VALUES (1, 'r'), (2, 's')",
    "INSERT OR IGNORE INTO t(id, k) VALUES (1, 'i'), (900000, 'j')", "INSERT INTO t(id, k) VALUES (1, 'u') ON CONFLICT DO UPDATE SET k = 'v'",
    "UPDATE t SET k = k", "DELETE FROM t WHERE id > 100", "DELETE FROM t", "INSERT INTO t(k) SELECT '2024-01-' || value FROM (SELECT 1 AS value UNION SELECT 2)",
]


def counts(files, args):
    """changes() and last_insert_rowid() are what they would be without the filter, after each statement and each look at it."""
    results = []
    for filtered in False, True:
        db = files.connect(":memory:")
        db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT)")
        if filtered:
            db.execute("CREATE VIRTUAL TABLE f USING bloom(%s)" % args)
        numbers = []
        for sql in SCRIPT:
            cursor = db.execute(sql)
            numbers.append((sql, cursor.rowcount if sql[:6] in ("INSERT", "UPDATE", "DELETE") else None))
            numbers.append((sql, db.execute("SELECT changes(), last_insert_rowid()").fetchone()))
            if filtered:
                for look in "SELECT count(*) FROM f('a')", "SELECT * FROM f", "SELECT bloom_may_contain((SELECT handle FROM f), 'a')":
                    db.execute(look).fetchall()
            numbers.append((sql, db.execute("SELECT changes(), last_insert_rowid()").fetchone()))
        results.append(numbers)
    for without, with_filter in zip(*results):
        expect(with_filter, without)


case(counts, "a column", "t, k, capacity = 10")
case(counts, "a condition", "t, lower(k), where = 'id % 2', capacity = 10")


@test
def changes_after_commit(files):
    db = filtered(files)
    for i in range(10):
        db.execute("BEGIN")
        db.execute("INSERT INTO t VALUES (?), (?), (?)", ("a%d" % i, "b%d" % i, "c%d" % i))
        db.execute("COMMIT")
        expect(one(db, "SELECT changes()"), 3)


# -- Nothing is written by a SELECT or by COMMIT ------------------------------------------------------------

READS = ["SELECT count(*) FROM f('ada')", "SELECT count(*) FROM f WHERE key = 'nobody'", "SELECT * FROM f", "SELECT note FROM f",
         "SELECT bloom_may_contain((SELECT handle FROM f), 'ada')", "SELECT length(filter) FROM f",
         "SELECT count(*) FROM t WHERE EXISTS (SELECT 1 FROM f WHERE key = k)"]


def after_many_deletions(files, journal_mode):
    """A file in which housekeeping would pay: layers, removed keys."""
    db = filtered(files, "t, k, capacity = 10", journal_mode=journal_mode)
    fill(db, 30000)
    db.execute("DELETE FROM t WHERE rowid > 2000")
    db.close()


def select_writes_nothing(files, journal_mode, inside):
    after_many_deletions(files, journal_mode)
    db, other = files.connect(), files.connect()
    version = one(other, "PRAGMA data_version")
    before = image(files.path)
    changes = db.total_changes
    if inside:
        db.execute("BEGIN")
    for sql in READS:
        db.execute(sql).fetchall()
        expect(db.total_changes, changes, sql)
    if inside:
        db.execute("COMMIT")
    expect(one(other, "PRAGMA data_version"), version)
    assert image(files.path) == before, "the file has changed"


for mode in "DELETE", "WAL":
    for inside in False, True:
        case(select_writes_nothing, "%s%s" % (mode, ", in a transaction" if inside else ""), mode, inside)


def reads_without_writing(files, how):
    """query_only, a read-only connection, an immutable file, a file and folder that nobody may write to."""
    after_many_deletions(files, "DELETE")
    if how == "query_only":
        db = files.connect()
        db.execute("PRAGMA query_only = ON")
    elif how == "mode=ro":
        db = files.connect("file:%s?mode=ro" % files.path, uri=True)
    else:
        db = files.connect("file:%s?mode=ro&immutable=1" % files.path, uri=True)
    for sql in READS:
        db.execute(sql).fetchall()
    no_false_negative(db)
    rules_out_absent_keys(db)
    error_of(db, "INSERT INTO f(f) VALUES ('integrity-check')")
    no_false_negative(db)


for how in "query_only", "mode=ro", "immutable":
    case(reads_without_writing, how, how)


@test
def query_only_after_others_wrote(files):
    after_many_deletions(files, "WAL")
    db, other = files.connect(), files.connect()
    db.execute("PRAGMA query_only = ON")
    for i in range(5):
        other.execute("INSERT INTO t VALUES (?)", ("new %d" % i,))
        expect(one(db, "SELECT count(*) FROM f(?)", "new %d" % i), 1)
        expect(one(db, "SELECT bloom_may_contain((SELECT handle FROM f), ?)", "new %d" % i), 1)


@test
def commit_runs_nothing(files):
    """What xUpdate was told is in the database when xUpdate returns: COMMIT prepares no statement and changes no row."""
    db = filtered(files, "t, k, capacity = 10")
    for i in range(5):
        db.execute("BEGIN")
        fill(db, 3000, "key %d " % i)
        db.execute("DELETE FROM t WHERE rowid % 3 = 0")
        changes, actions = db.total_changes, []
        db.set_authorizer(lambda *action: actions.append(action[:3]) or sqlite3.SQLITE_OK)
        db.execute("COMMIT")
        db.set_authorizer(None)
        expect(db.total_changes, changes, "rows that COMMIT changed")
        expect([action for action in actions if action[0] != sqlite3.SQLITE_TRANSACTION], [], "what COMMIT prepared")


@test
def what_is_told_is_in_the_database(files):
    """A copy of the database amid a transaction has the keys of its rows."""
    db = files.connect(":memory:")
    if not hasattr(db, "serialize"):
        raise Skip("Python 3.11's serialize()")
    execute(db, "CREATE TABLE t(k TEXT)", "CREATE VIRTUAL TABLE f USING bloom(t, k, capacity = 10)", "BEGIN")
    for i in range(4):
        fill(db, 100 if i < 2 else 8000, "key %d " % i)
        db.execute("SAVEPOINT s%d" % i)
        copy = files.connect(":memory:")
        copy.deserialize(db.serialize())
        no_false_negative(copy, "SELECT k FROM t WHERE rowid % 20 < 2")
        command(copy, "f", "integrity-check")
    db.execute("COMMIT")


# -- Growth, and texts that look like numbers ---------------------------------------------------------------------

TEXTS = {
    "dates": "date('2000-01-01', '+' || %s || ' days')",
    "times": "datetime('2000-01-01', '+' || %s || ' minutes')",
    "IPv4": "printf('10.%%d.%%d.%%d', %s / 65536, %s / 256 %% 256, %s %% 256)",
    "padded numbers": "printf('%%010d', %s)",
    "phone numbers": "printf('+49 30 %%07d', %s)",
    "decimals": "printf('%%d.%%02d', %s / 100, %s %% 100)",
    "plain texts": "'key' || %s",
}


def text(name, number):
    return TEXTS[name].replace("%s", number).replace("%%", "%")


def counted_once(files, name, type_):
    """A key is one key, whatever it looks like: it has one place in the counts, and the capacity is for keys."""
    db = files.connect()
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, k %s)" % type_)
    numbers = "WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
    db.execute("INSERT INTO t(k) " + numbers % (1, 20000) + "SELECT %s FROM n" % text(name, "i"))
    num_keys = one(db, "SELECT count(DISTINCT k) FROM t")
    db.execute("CREATE VIRTUAL TABLE f USING bloom(t, k)")
    expect(one(db, "SELECT num_layers FROM f"), 1)
    counted = one(db, "SELECT num_keys FROM f")
    assert 19000 <= counted <= 20000, "%d keys, counted as %d" % (20000, counted)
    assert one(db, "SELECT capacity FROM f") >= 40000, "room for twice the keys"
    assert num_keys > 15000
    # One row a commit: none of them may write more than a few pages, and no layer or rebuild is due.
    writes = 0
    for i in range(20001, 20201):
        before = db.total_changes
        db.execute("INSERT INTO t(k) SELECT %s" % text(name, str(i)))
        writes = max(writes, db.total_changes - before)
    assert writes <= 12, "one row made %d changes: the filter is written again" % writes
    db.execute("INSERT INTO t(k) " + numbers % (20201, 39000) + "SELECT %s FROM n" % text(name, "i"))
    expect(one(db, "SELECT num_layers FROM f"), 1, "layers, with room left: ")
    counted = one(db, "SELECT num_keys FROM f")
    assert counted <= 39000, "%d rows, counted as %d" % (39000, counted)
    no_false_negative(db, "SELECT k FROM t WHERE id % 100 = 0")
    rate = one(db, "SELECT expected_fpr FROM f")
    assert rate < 0.02, rate
    # A later rebuild counts the same.
    command(db, "f", "rebuild")
    expect(one(db, "SELECT num_layers FROM f"), 1)
    counted = one(db, "SELECT num_keys FROM f")
    assert 37000 <= counted <= 39000, "%d keys, counted as %d" % (39000, counted)


for name in TEXTS:
    for type_ in "TEXT", "TEXT COLLATE NOCASE", "":
        case(counted_once, "%s, %s" % (name, type_ or "no type"), name, type_)


def wal_bytes(files, name):
    db = files.connect(files.file(name))
    execute(db, "PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0", "CREATE TABLE t(k TEXT)")
    db.execute("INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) SELECT %s FROM n" % text(name, "i"))
    db.execute("CREATE VIRTUAL TABLE f USING bloom(t, k)")
    start = os.path.getsize(files.file(name) + "-wal")
    for i in range(50001, 50101):
        db.execute("INSERT INTO t SELECT " + text(name, str(i)))
    return os.path.getsize(files.file(name) + "-wal") - start


@test
def they_write_as_much_as_plain_texts(files):
    num_bytes = {name: wal_bytes(files, name) for name in TEXTS}
    assert max(num_bytes.values()) <= 2 * num_bytes["plain texts"], "of WAL for 100 rows: %r" % num_bytes


@test
def growth_by_layers(files):
    """Room for twice the keys and for 10,000 at least; each layer is four times the last at least; the rate is kept."""
    db = filtered(files, rows=100)
    assert one(db, "SELECT capacity FROM f") >= 10000
    promised = 0.0145  # 10 bits a key: 1.27 %
    fill(db, 9000, "more ")
    expect(one(db, "SELECT num_layers FROM f"), 1)
    seen, last_capacity = 1, one(db, "SELECT capacity FROM f")
    for i in range(40):
        fill(db, 10000, "layer %d " % i)
        num_layers, capacity = db.execute("SELECT num_layers, capacity FROM f").fetchone()
        if num_layers > seen:
            expect(num_layers, seen + 1)
            assert capacity >= 4 * last_capacity, (capacity, last_capacity)
            seen, last_capacity = num_layers, capacity
        if i % 5 == 0:
            expect(one(db, "SELECT count(*) FROM t WHERE rowid % 97 = 0 AND NOT EXISTS (SELECT 1 FROM f WHERE key = k)"), 0)
            num_maybe = one(db, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
                            " SELECT count(*) FROM n WHERE bloom_may_contain((SELECT handle FROM f), 'absent' || i)")
            assert num_maybe <= 20000 * promised, "%d of 20000 absent keys pass" % num_maybe
    assert 2 <= seen <= 4, seen
    command(db, "f", "rebuild")
    expect(one(db, "SELECT num_layers FROM f"), 1)
    expect(one(db, "SELECT num_keys FROM f"), one(db, "SELECT count(*) FROM t"))
    is_whole(db, "SELECT k FROM t WHERE rowid % 50 = 0")


@test
def a_note_says_when_a_rebuild_pays(files):
    """Deleted keys stay in the filter until 'rebuild': the facts say so, and that is no uncertainty."""
    db = filtered(files, rows=20000)
    expect(note(db), None)
    db.execute("DELETE FROM t WHERE rowid > 500")
    assert "rebuild" in (note(db) or ""), note(db)
    no_false_negative(db)
    rules_out_absent_keys(db)
    command(db, "f", "integrity-check")
    expect(one(db, "SELECT count(*) FROM f('key900')"), 1)
    command(db, "f", "rebuild")
    expect(one(db, "SELECT count(*) FROM f('key900')"), 0)
    is_whole(db)


# -- Query plans -----------------------------------------------------------------------------------------------

def plan(db, sql):
    return " / ".join(row[3] for row in db.execute("EXPLAIN QUERY PLAN " + sql, [1] * sql.count("?")))


@test
def plans_have_names(files):
    """EXPLAIN QUERY PLAN names what the virtual table does: a key, the facts, the handle, the filter."""
    db = filtered(files)
    for sql, word in (("SELECT count(*) FROM f('ada')", "key"), ("SELECT count(*) FROM f WHERE key = ?", "key"),
                      ("SELECT count(*) FROM t WHERE EXISTS (SELECT 1 FROM f WHERE key = t.k)", "key"),
                      ("SELECT * FROM f", "facts"), ("SELECT num_keys FROM f", "facts"), ("SELECT note FROM f", "facts"),
                      ("SELECT handle FROM f", "handle"), ("SELECT bloom_may_contain((SELECT handle FROM f), k) FROM t", "handle"),
                      ("SELECT filter FROM f", "filter")):
        text = plan(db, sql)
        assert re.search(r"VIRTUAL TABLE INDEX \d+:.*\b%s\b" % word, text), "%s: %s" % (sql, text)


# -- No view, and what else stands in the user's schema -----------------------------------------------------------

@test
def what_is_made(files):
    db = filtered(files, columns="id INTEGER PRIMARY KEY, k TEXT, n INTEGER")
    db.execute("CREATE VIRTUAL TABLE g USING bloom(t, lower(k), where = 'n = 1')")
    db.execute("CREATE VIRTUAL TABLE s USING bloom(capacity = 10)")
    expect(one(db, "SELECT count(*) FROM sqlite_master WHERE type = 'view'"), 0, "views")
    expect([(table, False) for table in shadow_tables(db)] + [(table.replace("s_", "f_"), True) for table in shadow_tables(db, "s")],
           SHADOW_TABLES)
    for table in shadow_tables(db) + shadow_tables(db, "g") + shadow_tables(db, "s"):
        keys = [row[1] for row in db.execute("PRAGMA table_info(%s)" % table) if row[5]]
        expect(keys, [], table + ": a declared PRIMARY KEY")
    for sql in triggers_of(db, "t"):
        assert not re.search(r"\bUPDATE\s+OF\b", sql, re.I), sql
        assert not re.search(r"\bOR\s+IGNORE\b", sql, re.I), sql
        assert not re.search(r"\bid\b", sql) or '"g"' in sql, "a column that is not needed: " + sql
        if '"f"' in sql:  # a plain column's text names no table but the filter
            body = sql[sql.upper().index("BEGIN"):]
            assert not re.search(r'"t"', body), sql
    for name in "f", "g", "s":
        db.execute("DROP TABLE " + name)
    expect(column(db, "SELECT name FROM sqlite_master"), ["t"])


@test
def pages_are_rows_without_gaps(files):
    """Rows 1..n of the pages, before and after growth, 'rebuild' and VACUUM."""
    db = filtered(files, "t, k, capacity = 10")

    def look():
        for table in shadow_tables(db):
            first, last, count = db.execute("SELECT min(rowid), max(rowid), count(*) FROM " + table).fetchone()
            if count:
                expect((first, last), (1, count), table + ": rows ")

    look()
    for i in range(3):
        fill(db, 20000, "key %d " % i)
        look()
    db.execute("VACUUM")
    look()
    command(db, "f", "rebuild")
    look()
    db.execute("DELETE FROM t WHERE rowid > 100")
    command(db, "f", "rebuild")
    look()
    db.execute("VACUUM")
    look()
    is_whole(db)


if __name__ == "__main__":
    sys.exit(main())
