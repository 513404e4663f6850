"""A filter never stands in its table's way: what works without it works with it, and says the same."""
import os
import re
import sqlite3
import sys

from cases import (SHADOW_TABLES, Api, Skip, column, command, each, error_of, execute, expect, fails, fill, filtered, image,
                   is_whole, main, no_false_negative, note, one, rules_out_absent_keys, shadow_tables, test, triggers, triggers_of)

# -- CREATE ---------------------------------------------------------------------------------------

@each(["9223372036854775807", "9223372036854775808", "4611686018427387904", "1000000000000", "999999999999", "1e18", "-1", "0"], {"": False, "a table": True})
def capacity(files, number, with_table):
    """A number that no file has room for is refused in words, and nothing overflows or is left."""
    db = files.connect()
    execute(db, "CREATE TABLE t(k TEXT)", "PRAGMA max_page_count = 5000")
    before = column(db, "SELECT name FROM sqlite_master")
    error = error_of(db, "CREATE VIRTUAL TABLE f USING bloom(%scapacity = %s)" % ("t, k, " if with_table else "", number))
    assert error is not None
    expect(column(db, "SELECT name FROM sqlite_master"), before)
    db.execute("INSERT INTO t VALUES ('ada')")


@each({
    "FTS5": ("FTS5", "CREATE VIRTUAL TABLE other USING fts5(x)"),
    "R*Tree": ("R*Tree", "CREATE VIRTUAL TABLE other USING rtree(id, a, b)"),
    "a filter over a table": ("bloom", "CREATE VIRTUAL TABLE other USING bloom(t, k)"),
    "a standalone filter": ("bloom", "CREATE VIRTUAL TABLE other USING bloom(capacity = 10)")})
def shadow_table_of(files, other, sql):
    """A virtual table writes to its shadow tables as it likes: following one is refused, with the reason."""
    db = files.connect()
    db.execute("CREATE TABLE t(k TEXT)")
    try:
        db.execute(sql)
    except sqlite3.OperationalError as error:
        raise Skip(error)
    # other_new is no shadow table.
    tables = column(db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'other\\_%' ESCAPE '\\' AND name <> 'other_new'")
    assert tables
    before = column(db, "SELECT name FROM sqlite_master")
    for table in tables:
        names = [row[1] for row in db.execute("PRAGMA table_info(%s)" % table)]
        fails(db, "CREATE VIRTUAL TABLE f USING bloom(%s, %s)" % (table, names[0]), "bloom: ", table, "shadow table")
    fails(db, "CREATE VIRTUAL TABLE f USING bloom(other, x)", "bloom: ")
    expect(column(db, "SELECT name FROM sqlite_master"), before)


# SQLite's advice for hostile SQL (sqlite.org/security.html), and what fits it.
LIMITS = {"LENGTH": 1000000, "SQL_LENGTH": 100000, "COLUMN": 100, "EXPR_DEPTH": 10, "COMPOUND_SELECT": 3, "VDBE_OP": 25000, "FUNCTION_ARG": 8,
          "ATTACHED": 0, "LIKE_PATTERN_LENGTH": 50, "VARIABLE_NUMBER": 10, "TRIGGER_DEPTH": 10}
ALL = ", ".join("c%d" % i for i in range(3))


@each([("t, k", "k"), ("t, (%s)" % ALL, ALL)])
def lowered_limits(files, args, values):
    """Under limits as low as these a filter is made, its table is written to, and all that is read of it."""
    if not hasattr(sqlite3.Connection, "setlimit"):
        raise Skip("Python 3.11's setlimit()")
    db = files.connect(":memory:")
    for name, limit in LIMITS.items():
        db.setlimit(getattr(sqlite3, "SQLITE_LIMIT_" + name), limit)
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT, n NUMERIC, %s)" % ALL)
    insert = "INSERT OR REPLACE INTO t(id, k, n, %s) SELECT %%s, 'key' || %%s, %%s, %s FROM n" % (ALL, ", ".join(["%s"] * 3))
    insert = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) " + insert
    execute(db, insert % (("i",) * 6), "CREATE VIRTUAL TABLE f USING bloom(%s, capacity = 100)" % args,
            insert % (("i + 250",) + ("i / 4.0",) * 5),
            "UPDATE t SET k = 'u' || k, c1 = c0 || 'x', c2 = c2 / 8 WHERE id % 3",
            "UPDATE t SET c2 = c2 || '' WHERE id % 3 = 1", insert % (("i * 5",) + ("i * 10000000000000",) * 5),
            "DELETE FROM t WHERE id % 7 = 0")
    for phase in "merge", "rebuild", "merged":
        assert one(db, "SELECT count(*) FROM t") > 100
        expect(one(db, "SELECT count(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM f(%s))" % values), 0, phase)
        key = "bloom_tuple(%s)" % values if values == ALL else values
        expect(one(db, "SELECT count(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM f WHERE key = %s)" % key), 0, phase)
        expect(one(db, "SELECT count(*) FROM t WHERE bloom_may_contain((SELECT handle FROM f), %s) = 0" % key), 0, phase)
        command(db, "f", "integrity-check")
        command(db, "f", phase.replace("merged", "merge"))
        expect(note(db), None)
    execute(db, "ALTER TABLE t RENAME TO u", "ALTER TABLE f RENAME TO g", "DROP TABLE g")


# -- Defensive connections ------------------------------------------------------------------------------------

@each({"bloom loaded first": True, "bloom loaded later": False})
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
    for sql in "DELETE FROM f_pages", "UPDATE f_pages SET bytes = NULL", "DROP TABLE f_pages":  # by the virtual table alone
        expect(api.lib.sqlite3_exec(api.db, sql.encode(), None, None, None), 1, sql)
    api.close()
    is_whole(files.connect())


# -- Every change -----------------------------------------------------------------------------------------------

# Keys #00 to #99 are there; a digit stands for #, another one for each policy.
CHANGES = ["INSERT {} INTO t(key) VALUES (9#01), (9#02), (#05), (9#03)", "INSERT {} INTO t(key) VALUES ('0#06'), (9#04)", "INSERT {} INTO t(key) VALUES ('9#05.0'), (NULL)",
           "INSERT {} INTO t(key) VALUES ('x#'), ('y#')", "UPDATE {} t SET key = key + 8000 WHERE key BETWEEN #10 AND #14", "UPDATE {} t SET key = #20 WHERE key = #21",
           "UPDATE {} t SET key = key + 1 WHERE key BETWEEN #30 AND #34", "UPDATE {} t SET key = upper(key) WHERE key = 'x#'", "UPDATE {} t SET key = NULL WHERE key = #41",
           "UPDATE {} t SET rowid = 9#50 WHERE key = #50", "UPDATE {} t SET rowid = (SELECT rowid FROM t WHERE key = #52) WHERE key = #51",
           "UPDATE {} t SET other = 1, key = key WHERE key BETWEEN #60 AND #69", "INSERT {} INTO t(key) VALUES (#70), (9#71) ON CONFLICT DO NOTHING",
           "INSERT {} INTO t(key) VALUES (#72), (9#72) ON CONFLICT(key) DO UPDATE SET key = excluded.key + 5000",
           "INSERT {} INTO t(key) SELECT key + 1 FROM t WHERE key BETWEEN #74 AND #76", "REPLACE INTO t(key) VALUES (#77), (9#77)", "DELETE FROM t WHERE key BETWEEN #80 AND #99"]
POLICIES = ["", "OR ABORT", "OR FAIL", "OR IGNORE", "OR REPLACE", "OR ROLLBACK"]
MISSED = "SELECT count(*) FROM t WHERE key IS NOT NULL AND (NOT EXISTS (SELECT 1 FROM f WHERE f.key = t.key) OR bloom_may_contain((SELECT handle FROM f), key) IS NOT 1)"


@each(["id INTEGER PRIMARY KEY, key UNIQUE, other)", "key TEXT PRIMARY KEY, other) WITHOUT ROWID", "key TEXT COLLATE NOCASE UNIQUE, other)", "key INTEGER NOT NULL DEFAULT 7777 UNIQUE, other)",
       "key REAL UNIQUE, other)", "key ANY UNIQUE, other ANY) STRICT", "key UNIQUE ON CONFLICT REPLACE, other)", "key NOT NULL UNIQUE ON CONFLICT IGNORE, other)"],
      {"copied": ("", None), "merged": (", capacity = 700", "merge"), "in pieces": (", capacity = 10", "merge=3")}, {"": 0, "recursive": 1})
def every_change(files, table, options, merge, recursive):
    """Rows and errors are those of a table without a filter, and no key is missed, before the transaction ends or after: a statement's conflict policy holds
    in the triggers that it fires, REPLACE deletes rows without firing those of DELETE, and a collation may hide that a key changed."""
    if "STRICT" in table and sqlite3.sqlite_version_info < (3, 37):
        raise Skip("STRICT tables")
    plain, db = dbs = [files.connect(":memory:") for _ in range(2)]
    for each_db in dbs:
        execute(each_db, "PRAGMA trusted_schema = OFF", "CREATE TABLE t(" + table, "PRAGMA recursive_triggers = %d" % recursive,
                "INSERT INTO t(key) WITH RECURSIVE c(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM c WHERE i < 699) SELECT i FROM c")
    db.execute("CREATE VIRTUAL TABLE f USING bloom(t, key%s)" % options)
    num_errors = 0
    for digit, policy in enumerate(POLICIES, 1):
        for number, change in enumerate(CHANGES, 1):
            sql, errors = change.format(policy).replace("#", str(digit)), []
            for each_db in dbs:  # a row before it in the transaction, to see what is rolled back
                execute(each_db, "BEGIN", "INSERT INTO t(key) VALUES (%d)" % (77000 + 100 * digit + number))
                errors.append(str(error_of(each_db, sql)))
                if each_db is db and number % 3 == 0:
                    expect(one(db, MISSED), 0, sql + ": missed in the transaction")
                error_of(each_db, "COMMIT")
            if merge:
                command(db, "f", merge)
            num_errors += errors[0] != "None"
            expect(errors[1], errors[0], sql)
            expect(*[column(each_db, "SELECT quote(key) FROM t ORDER BY 1") for each_db in (db, plain)], sql)
            expect(one(db, MISSED), 0, sql + ": missed")
    assert num_errors >= 5, num_errors
    command(db, "f", "integrity-check")


# -- Columns and tables come and go -------------------------------------------------------------------

@each([("t, k", "SELECT k FROM t"), ("t, (k, n)", "SELECT bloom_tuple(k, n) AS k FROM t")])
def drop_column(files, args, keys):
    db = filtered(files, args, columns="id INTEGER PRIMARY KEY, k TEXT, n INTEGER, c, d, e", rows="(1, 'Ada', 1, 2, 3, 4)")
    for name in "dce":
        db.execute("ALTER TABLE t DROP COLUMN " + name)
        db.execute("INSERT INTO t(k, n) VALUES (?, 1)", ("After " + name,))
        db.execute("UPDATE t SET k = k || 'x' WHERE id = 1")
        is_whole(db, keys)
    execute(db, "ALTER TABLE t ADD COLUMN z DEFAULT 5", "INSERT INTO t(k, n, z) VALUES ('Late', 1, 1)",
            "ALTER TABLE t RENAME COLUMN z TO y", "ALTER TABLE t RENAME COLUMN k TO name")
    keys = keys.replace("(k,", "(name,").replace("SELECT k", "SELECT name")
    db.execute("INSERT INTO t(name, n) VALUES ('Later', 1)")
    is_whole(db, keys)
    db.execute("ALTER TABLE t DROP COLUMN y")
    command(db, "f", "rebuild")
    is_whole(db, keys)
    execute(db, "ALTER TABLE t RENAME TO u", "INSERT INTO u(name, n) VALUES ('Last', 1)")
    is_whole(db, keys.replace(" t", " u"))
    fails(db, "ALTER TABLE u DROP COLUMN name", "error in trigger", "name")


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


@each(STATEMENTS, ["nothing read", "schema read", "used", "changed since"])
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


@each(["a look-up", "the facts", "the handle", "INSERT"])
def locked(files, name):
    """The same with a shared cache, where it is SQLITE_LOCKED."""
    uri = "file:%s?cache=shared" % files.path
    db = filtered(files, rows="('ada')", path=uri, uri=True, timeout=0)
    other = files.connect(uri, uri=True, timeout=0)
    one(other, "SELECT count(*) FROM f('x')")
    db.execute("BEGIN")
    db.execute("CREATE TABLE something(x)")  # write-locks the schema
    error = error_of(other, STATEMENTS[name])
    assert error is not None
    expect(error.sqlite_errorname.split("_")[1], "LOCKED", str(error))
    db.execute("COMMIT")
    other.execute(STATEMENTS[name]).fetchall()


@test
def a_drop_that_an_open_query_refuses(files):
    """It changes nothing, to a query that is open and to a statement that is compiled already, either."""
    db = filtered(files, rows=100)
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


@each({"a column": ("t, k, capacity = 10", "('a')"), "columns": ("t, (k, k2), capacity = 10", "('a', 1)")})
def counts(files, args, looked):
    """changes() and last_insert_rowid() are what they would be without the filter, after each statement and each look at it."""
    results = []
    for filtered in False, True:
        db = files.connect(":memory:")
        db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT, k2)")
        if filtered:
            db.execute("CREATE VIRTUAL TABLE f USING bloom(%s)" % args)
        numbers = []
        for sql in SCRIPT:
            cursor = db.execute(sql)
            numbers.append((sql, cursor.rowcount if sql[:6] in ("INSERT", "UPDATE", "DELETE") else None))
            numbers.append((sql, db.execute("SELECT changes(), last_insert_rowid()").fetchone()))
            if filtered:
                for look in "SELECT count(*) FROM f%s" % looked, "SELECT * FROM f", "SELECT handle IS NULL FROM f":
                    db.execute(look).fetchall()
            numbers.append((sql, db.execute("SELECT changes(), last_insert_rowid()").fetchone()))
        results.append(numbers)
    for without, with_filter in zip(*results):
        expect(with_filter, without)


# -- Nothing is written by a SELECT or by COMMIT ------------------------------------------------------------

READS = ["SELECT count(*) FROM f('ada')", "SELECT count(*) FROM f WHERE key = 'nobody'", "SELECT * FROM f", "SELECT note FROM f",
         "SELECT bloom_may_contain((SELECT handle FROM f), 'ada')",
         "SELECT count(*) FROM t WHERE EXISTS (SELECT 1 FROM f WHERE key = k)"]


def after_many_deletions(files, journal_mode):
    """A file in which housekeeping would pay: a long journal, removed keys."""
    db = filtered(files, "t, k, capacity = 10", journal_mode=journal_mode)
    fill(db, 30000)
    db.execute("DELETE FROM t WHERE rowid > 2000")
    db.close()


@each(["DELETE", "WAL"], {"": False, "in a transaction": True})
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


@each(["query_only", "mode=ro", "immutable"])
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
                      ("SELECT handle FROM f", "handle"), ("SELECT bloom_may_contain((SELECT handle FROM f), k) FROM t", "handle")):
        text = plan(db, sql)
        assert re.search(r"VIRTUAL TABLE INDEX \d+:.*\b%s\b" % word, text), "%s: %s" % (sql, text)


# -- No view, and what else stands in the user's schema -----------------------------------------------------------

@test
def what_is_made(files):
    """Triggers that name the key's columns alone, and neither the source nor bloom; no view; nothing is left by DROP TABLE."""
    db = filtered(files, columns="id INTEGER PRIMARY KEY, k TEXT, n INTEGER")
    execute(db, "CREATE VIRTUAL TABLE g USING bloom(t, (k, n))", "CREATE VIRTUAL TABLE s USING bloom(capacity = 10)")
    expect(one(db, "SELECT count(*) FROM sqlite_master WHERE type = 'view'"), 0, "views")
    expect([(table, False) for table in shadow_tables(db)] + [(table.replace("s_", "f_"), True) for table in shadow_tables(db, "s")], SHADOW_TABLES)
    for table in shadow_tables(db) + shadow_tables(db, "g") + shadow_tables(db, "s"):
        keys = [row[1] for row in db.execute("PRAGMA table_info(%s)" % table) if row[5]]
        expect(keys, [], table + ": a declared PRIMARY KEY")
    expect(sorted(triggers(db)), ["f_before_insert", "f_before_update", "f_guard", "g_after_update", "g_before_insert", "g_before_update", "g_guard"])
    for sql in triggers_of(db, "t"):
        assert not re.search(r"\bOR\s+IGNORE\b|\bid\b|bloom", sql, re.I), sql
        body = sql[sql.upper().index("BEGIN"):]
        assert not re.search(r'"t"', body), sql
    for name in "f", "g", "s":
        db.execute("DROP TABLE " + name)
    expect(column(db, "SELECT name FROM sqlite_master"), ["t"])


@test
def pages_are_rows_without_gaps(files):
    """Rows 1..n of the pages, before and after growth, 'rebuild' and VACUUM: so VACUUM keeps their numbers."""
    db = filtered(files, "t, k, capacity = 10")
    for word in "merge", "VACUUM", "rebuild", "merge=100", "VACUUM", "merge":
        fill(db, 20000, "key " + word)
        if word == "VACUUM":
            db.execute("VACUUM")
        else:
            command(db, "f", word)
        first, last, count = db.execute("SELECT min(rowid), max(rowid), count(*) FROM f_pages").fetchone()
        expect((first, last), (1, count), "f_pages: rows ")
    is_whole(db, "SELECT k FROM t WHERE rowid % 100 = 0")


@test
def text_as_long_as_may_be(files):
    """A trigger's 'merge' that would make room asks EXPLAIN of the statement, which is too long for it: no INSERT fails for that."""
    for extra in 2, 8:
        db = files.connect(":memory:")
        execute(db, "CREATE TABLE t(k TEXT)", "CREATE VIRTUAL TABLE f USING bloom(t, k, capacity = 1)",
                "CREATE TRIGGER m AFTER INSERT ON t BEGIN INSERT INTO f(f) VALUES ('merge'); END")
        sql = "INSERT INTO t(k) VALUES ('a'), ('b'), ('c') /*%s*/" % (100000 * "x")
        if not hasattr(db, "setlimit"):
            raise Skip("a Python that sets limits")
        db.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, len(sql) + extra)
        db.execute(sql)
        expect(one(db, "SELECT count(*) FROM t"), 3)


@test
def pragma_that_is_not_read_to_its_end(files):
    """SQLite says that it writes; CREATE and 'rebuild' run all the same."""
    for before in ("PRAGMA journal_mode = WAL", ";; pragma main.wal_checkpoint", "EXPLAIN INSERT INTO t VALUES (1)", "EXPLAIN QUERY PLAN DELETE FROM t"):
        for module in "bloom", "bloom_index":
            db = files.connect(":memory:")
            execute(db, "CREATE TABLE t(k)", "INSERT INTO t VALUES (1)")
            kept = db.execute(before)
            db.execute("CREATE VIRTUAL TABLE f USING %s(t, k)" % module)
            kept.close()
            db.execute("DROP TRIGGER f_before_insert")
            kept = db.execute(before)
            command(db, "f", "rebuild")
            command(db, "f", "integrity-check")
            kept.close()
            db.close()


@test
def pages_larger_than_the_connection_allows(files):
    """An error, and the transaction goes on."""
    db = files.connect()
    if not hasattr(db, "setlimit"):
        raise Skip("a Python that sets limits")
    execute(db, "CREATE TABLE t(k TEXT)", "CREATE VIRTUAL TABLE f USING bloom(t, k)")
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1000)
    execute(db, "BEGIN", "CREATE TABLE mine(x)", "INSERT INTO t VALUES ('a')")
    fails(db, "INSERT INTO f(f) VALUES ('rebuild')", "SQLITE_LIMIT_LENGTH is 1000")
    db.execute("COMMIT")
    expect(column(db, "SELECT k FROM t UNION ALL SELECT count(*) FROM mine"), ["a", 0])


@test
def of_one_name_in_temp(files):
    """A filter in TEMP whose journal has the name of one in main."""
    db = files.connect()
    execute(db, "CREATE TABLE t(k)", "CREATE VIRTUAL TABLE f USING bloom(t, k)", "CREATE TEMP TABLE u(k)", "CREATE VIRTUAL TABLE temp.f USING bloom(u, k)",
            "INSERT INTO t VALUES (1)", "INSERT INTO u VALUES (2)")
    for schema, key, other in ("main", 1, 2), ("temp", 2, 1):
        expect(one(db, "SELECT note FROM %s.f" % schema), None)
        expect([one(db, "SELECT count(*) FROM %s.f WHERE key = %d" % (schema, k)) for k in (key, other)], [1, 0], schema)
        db.execute("INSERT INTO %s.f(f) VALUES ('merge')" % schema)


@test
def count_of_the_application(files):
    """'merge' of an index counts rows by SQL: what an application's count() says is no matter."""
    for says in -700, 0, 2**62, None, "x":
        db = files.connect(":memory:")
        execute(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, k)", "CREATE VIRTUAL TABLE f USING bloom_index(t, k)")
        fill(db, 3000)
        command(db, "f", "merge")
        db.create_function("count", 0, lambda says=says: says)
        db.execute("UPDATE t SET k = k || 'x' WHERE id < 200 OR id > 2900")
        command(db, "f", "merge=10000")
        expect(column(db, "SELECT id FROM f WHERE k IN (SELECT k FROM t WHERE id IN (7, 1500, 2950)) ORDER BY id"), [7, 1500, 2950])
        db.close()


if __name__ == "__main__":
    sys.exit(main())
