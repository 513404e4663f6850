"""Half copies: a tool without bloom copies the tables and triggers of a filter or an index, and not the virtual table.

Programs go on writing to the source, and CREATE makes of what is there a filter that misses no key, and an index that has
the table's rows.  $BLOOM_TEST_SHELL is the sqlite3 shell; without it, the one on the PATH.
"""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vtab"))
import tools  # noqa: E402
from cases import (Skip, column, command, each, error_of, execute, expect, fails, fill, is_whole, literal, main, no_false_negative,  # noqa: E402
                   one, rules_out_absent_keys, stop_after, test, triggers)

CREATE = {"f": "CREATE VIRTUAL TABLE f USING bloom(t, k)", "g": "CREATE VIRTUAL TABLE g USING bloom(t, (k, n))",
          "s": "CREATE VIRTUAL TABLE s USING bloom(capacity = 10)",
          "i": "CREATE VIRTUAL TABLE i USING bloom_index(t, k, k LIKE, n RANGE)"}
PAIRS = "SELECT bloom_tuple(k, n) AS k FROM t"
SET = "SELECT 'set' || id AS k FROM t WHERE id <= 100"


def make(files):
    db = files.connect()
    execute(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT, n INTEGER)")
    fill(db, 200)
    db.execute("UPDATE t SET n = id % 3")
    execute(db, *CREATE.values())
    db.execute("INSERT INTO s(key) " + SET)
    fill(db, 100, "unmerged")
    db.close()


def copy_by_clone(files, copy):
    tools.shell(files, files.path, ".clone %s\n" % copy)


def copy_by_schema(files, copy):
    """The schema alone, and then the rows of t."""
    tools.shell(files, copy, tools.shell(files, files.path, ".schema\n").stdout)
    rows = tools.shell(files, files.path, ".dump --data-only t\n")
    tools.shell(files, copy, rows.stdout)


def copy_by_dump(files, copy):
    """All but what names the virtual tables, as a program that has no bloom can read it."""
    lines = tools.shell(files, files.path, ".dump\n").stdout.split("\n")
    tools.shell(files, copy, "\n".join(line for line in lines if "sqlite_schema" not in line and "sqlite_master" not in line and "writable_schema" not in line))


def copy_by_sqlite_utils(files, copy):
    """sqlite-utils dump: what it says before it fails, or all of it."""
    if shutil.which("sqlite-utils") is None:
        raise Skip("sqlite-utils")
    done = subprocess.run(["sqlite-utils", "dump", files.path, "--load-extension", files.load], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    statements = [line for line in done.stdout.split("\n") if "sqlite_master" not in line and "writable_schema" not in line]
    tools.shell(files, copy, "\n".join(statements))


COPIES = {".clone": copy_by_clone, ".schema": copy_by_schema, ".dump": copy_by_dump, "sqlite-utils dump": copy_by_sqlite_utils}


def half(files, how):
    """The path of a copy that has tables and triggers of f, g and s, and none of them."""
    make(files)
    copy = files.file("copy")
    COPIES[how](files, copy)
    db = files.connect(copy)
    names = column(db, "SELECT name FROM sqlite_master")
    assert "f_pages" in names and "f_new" in names and not set(CREATE) & set(names), names
    db.close()
    return copy


def written(files, copy, change):
    db = files.connect(copy, load=False)
    execute(db, "INSERT INTO t(k) VALUES ('%s')" % change, "UPDATE t SET k = k || '%s', n = 2 WHERE id %% 50 = 0" % change)
    db.close()


def index_is_right(db):
    for where in "k IN (SELECT k FROM t WHERE rowid % 9 < 2)", "k LIKE '%after%'", "k LIKE '%unmerged%'", "n >= 2", "1":
        expect(*(db.execute("SELECT * FROM %s WHERE %s ORDER BY 1" % (table, where)).fetchall() for table in ("i", "t")), where)
    expect(db.execute("SELECT serves, note FROM bloom_index_info('i')").fetchall(), [(1, None)])
    command(db, "i", "integrity-check")


@each(COPIES.keys())
def copied_by_half(files, how):
    copy = half(files, how)
    written(files, copy, "before")
    db = files.connect(copy)
    # A CREATE that is interrupted leaves what there was: nothing stops who writes.
    objects = column(db, "SELECT name FROM sqlite_master ORDER BY 1")
    for num_calls in 3, 10, 30:
        stop_after(db, num_calls, 40)
        error_of(db, CREATE["i"])
        db.set_progress_handler(None, 0)
        expect(column(db, "SELECT name FROM sqlite_master ORDER BY 1"), objects)
        db.execute("UPDATE t SET n = n + 1 WHERE id = 7")
    execute(db, *CREATE.values())
    is_whole(db)
    is_whole(db, PAIRS, "g")
    if how == ".schema":
        db.execute("INSERT INTO s(key) " + SET)
    is_whole(db, SET, "s")
    index_is_right(db)
    written(files, copy, "after")
    index_is_right(db)
    command(db, "i", "merge")
    index_is_right(db)
    db.execute("DROP TABLE i")
    db.execute("INSERT INTO s(key) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT 'later' || i FROM n")
    for name, keys in ("f", "SELECT k FROM t"), ("g", PAIRS), ("s", SET):
        no_false_negative(db, keys, name)
        if name != "s":
            command(db, name, "merge")
        rules_out_absent_keys(db, name)
        db.execute("DROP TABLE " + name)
    expect(column(db, "SELECT name FROM sqlite_master"), ["t"])


@each([("f_pages",), ("f_new",), ("f_pages", "f_new")])
def tables_are_dropped(files, *dropped):
    """As bloom 1.2.0 told people to do: INSERT stops at a trigger whose table is gone, until CREATE."""
    copy = half(files, ".clone")
    db = files.connect(copy)
    execute(db, *["DROP TABLE " + name for name in dropped])
    if "f_new" in dropped:
        fails(db, "INSERT INTO t(k) VALUES ('x')", "no such table: main.f_new")
    db.execute(CREATE["f"])
    is_whole(db)
    written(files, copy, "after")
    is_whole(db)


@each({
    "a user's trigger and table": (["DROP TABLE f_pages", "CREATE TABLE f_pages(x)", "INSERT INTO f_pages VALUES (1)", "CREATE TRIGGER f_after_update AFTER UPDATE ON t BEGIN SELECT 1; END"], ["table f_pages", "trigger f_after_update", "are in the way", "DROP TRIGGER f_after_update", "ALTER TABLE f_pages RENAME TO f_kept_pages"], "f", ["f_pages"]),
    "an index and a table": (["CREATE INDEX mine ON f_new(key)", "DROP TABLE f_pages", "CREATE TABLE f_pages(x)"], ["index mine", "table f_pages", "DROP INDEX mine"], "f", ["f_pages"]),
    "a journal with other columns": (["DROP TABLE f_new", "CREATE TABLE f_new(id INTEGER PRIMARY KEY, key, r, u UNIQUE)"], ["table f_new is in the way", "DROP TRIGGER f_before_insert"], "f", [])})
def pasted(files, obstacles, wanted, create="f", left=()):
    """The error names all that is in the way, and what to run; run at once, it takes nothing with it, and CREATE works."""
    copy = half(files, ".clone")
    db = files.connect(copy)
    execute(db, *obstacles)
    num_rows = {name: one(db, "SELECT count(*) FROM " + name) for name in left}
    error = str(fails(db, CREATE[create], "in the way of %s: " % create))
    for word in wanted:
        assert word in error, error
    sql = error.split(" in the way of %s: " % create)[1]
    kinds = [statement.split()[0:2] for statement in sql.split("; ")]
    expect(kinds, sorted(kinds, key=lambda kind: ["TRIGGER", "INDEX", "TABLE", "VIEW"].index(kind[1].upper())))
    written(files, copy, "between") if not any("VIEW" in each for each in obstacles) else None
    db.executescript(sql)
    db.execute(CREATE[create])
    no_false_negative(db, {"f": "SELECT k FROM t", "s": SET}[create] if create == "f" else "SELECT 'new' AS k WHERE 0", create)
    written(files, copy, "after")
    for name, number in num_rows.items():
        new_name = name.replace("_pages", "_kept_pages") if name.endswith("_pages") else name + "_kept"
        expect(one(db, "SELECT count(*) FROM " + new_name), number, new_name)


def mine(name, schema="main"):
    return ["CREATE TABLE %s.%s(x)" % (schema, name), "INSERT INTO %s.%s VALUES ('mine')" % (schema, name)]


@each({
    "tables and a trigger": (
        mine("i_changed") + mine("i_zones3") + ["CREATE TRIGGER i_before_move BEFORE UPDATE ON t BEGIN SELECT 1; END"],
        ["bloom_index: trigger i_before_move, table i_changed, table i_zones3 are in the way of i: DROP TRIGGER i_before_move; ALTER TABLE i_changed RENAME TO i_changed_kept; ALTER"], "main", ["i_changed", "i_zones3"]),
    "an index, a view and a guard": (
        ["CREATE INDEX i_state ON t(k)", "CREATE TRIGGER i_guard AFTER INSERT ON t BEGIN SELECT 1; END"], ["trigger i_guard, index i_state are in the way of i: DROP TRIGGER i_guard; DROP INDEX i_state"]),
    "an attached database": (mine("i_entries2", "aux"), ["table i_entries2 is in the way of i: ALTER TABLE aux.i_entries2 RENAME TO i_entries2_kept"], "aux", ["i_entries2"]),
    "a canary": (mine("i_canary"), ["bloom_index: table i_canary is in the way of i: ALTER TABLE i_canary RENAME TO i_canary_kept"], "main", ["i_canary"], "t(k TEXT, n INTEGER)")})
def pasted_for_an_index(files, obstacles, wanted, schema="main", left=(), table="t(id INTEGER PRIMARY KEY, k TEXT, n INTEGER)"):
    """The same of an index: also over nothing but the user's own objects."""
    db = files.connect()
    db.execute("ATTACH ? AS aux", (files.file("aux"),))
    execute(db, "CREATE TABLE %s.%s" % (schema, table), "INSERT INTO %s.t(k) VALUES ('a'), ('after b')" % schema, *obstacles)
    before = db.execute("SELECT * FROM %s.sqlite_master" % schema).fetchall()
    create = CREATE["i"].replace("TABLE i", "TABLE %s.i" % schema)
    error = str(fails(db, create, *wanted))
    expect(db.execute("SELECT * FROM %s.sqlite_master" % schema).fetchall(), before)
    sql = error.split(" in the way of i: ")[1]
    kinds = [statement.split()[1].upper() for statement in sql.split("; ")]
    expect(kinds, sorted(kinds, key=["TRIGGER", "INDEX", "TABLE", "VIEW"].index))
    db.executescript(sql)
    db.execute(create)
    index_is_right(db)
    for name in left:
        expect(one(db, "SELECT x FROM %s.%s_kept" % (schema, name)), "mine")


@each({
    "a trigger on its notes": (["CREATE TRIGGER mine AFTER INSERT ON i_changed BEGIN SELECT 1; END"], ["trigger mine is in the way of i: ", "DROP TRIGGER mine", "DROP TRIGGER i_guard"]),
    "another table": (["DROP TABLE i_changed", "CREATE TABLE i_changed(x)"], ["table i_changed is in the way of i: DROP TRIGGER i_after_insert; ", "ALTER TABLE i_changed RENAME TO i_changed_kept"]),
    "tables are gone": (["DROP TABLE i_changed", "DROP TABLE i_spans"], []),
    "nothing tells whose entries they are": (["DROP TABLE i_state"], ["table i_entries2, ", "DROP TRIGGER i_after_insert; ", "ALTER TABLE i_spans RENAME TO i_spans_kept"])})
def over_a_half_copy_of_an_index(files, obstacles, wanted):
    """Writers stop at a trigger whose table is gone, which no SQL prevents: what is pasted drops that first."""
    copy = half(files, ".clone")
    db = files.connect(copy)
    execute(db, *obstacles)
    error = str(fails(db, CREATE["i"], *wanted)) if wanted else None
    if error:
        db.executescript(error.split(" in the way of i: ")[1])
    written(files, copy, "between") if wanted else None
    db.execute(CREATE["i"])
    index_is_right(db)
    written(files, copy, "after")
    index_is_right(db)


def recovered(db):
    """What `.recover` prints, by ext/recover of SQLite 3.54: tables, virtual ones as rows of the schema, rows with their rowids, then all other objects."""
    yield "PRAGMA writable_schema = on"
    schema = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid").fetchall()
    tables = [each for each in schema if each[0] == "table"]
    for _, name, _, sql in tables:
        yield "INSERT INTO sqlite_schema VALUES('table', '%s', '%s', 0, '%s')" % (name, name, sql.replace("'", "''")) if sql.startswith("CREATE VIRTUAL") else sql
    for _, name, _, sql in tables:
        if not sql.startswith("CREATE VIRTUAL"):
            columns = "_rowid_, " + ", ".join(column(db, "SELECT name FROM pragma_table_info(?)", name))
            for row in db.execute("SELECT %s FROM %s" % (columns, name)).fetchall():
                yield "INSERT OR IGNORE INTO %s(%s) VALUES (%s)" % (name, columns, ", ".join(map(literal, row)))
    for kind, _, _, sql in schema:
        if kind != "table":
            yield sql
    yield "PRAGMA writable_schema = off"


@each([".recover", "what .recover prints", "VACUUM INTO"])
def copied_whole(files, how):
    """VACUUM INTO, and `.recover`, also of a shell if it can: virtual tables arrive, and a 'merge' of each is all that they need."""
    make(files)
    copy = files.file("copy")
    if how == "what .recover prints":
        execute(files.connect(copy, load=False), "BEGIN", *recovered(files.connect(load=False)), "COMMIT")
    elif how == ".recover":
        done = tools.shell(files, files.path, ".recover\n")
        if "INSERT" not in done.stdout:
            raise Skip("a shell whose .recover works: $BLOOM_TEST_SHELL")
        tools.shell(files, copy, done.stdout)
    else:
        files.connect().execute("VACUUM INTO '%s'" % copy)
    written(files, copy, "before")
    db = files.connect(copy)
    for name, keys in ("f", "SELECT k FROM t"), ("g", PAIRS), ("s", SET):
        no_false_negative(db, keys, name)
    expect(db.execute("SELECT * FROM i WHERE k LIKE '%unmerged%' ORDER BY 1").fetchall(), db.execute("SELECT * FROM t WHERE k LIKE '%unmerged%' ORDER BY 1").fetchall())
    for name in "f", "g", "i":
        command(db, name, "merge")
    is_whole(db)
    is_whole(db, PAIRS, "g")
    index_is_right(db)
    written(files, copy, "after")
    index_is_right(db)


@test
def the_pages_of_a_standalone_filter(files):
    """They are the only copy of its keys: another filter of that name drops none of them."""
    copy = half(files, ".clone")
    db = files.connect(copy)
    num_rows = one(db, "SELECT count(*) FROM s_pages")
    create = "CREATE VIRTUAL TABLE s USING bloom(t, k)"
    error = str(fails(db, create, "table s_pages is in the way of s: ALTER TABLE s_pages RENAME TO s_kept_pages"))
    db.executescript(error.split(" in the way of s: ")[1])
    expect(one(db, "SELECT count(*) FROM s_kept_pages"), num_rows)
    execute(db, create, "CREATE VIRTUAL TABLE s_kept USING bloom()")
    is_whole(db, "SELECT k FROM t", "s")
    is_whole(db, SET, "s_kept")


@test
def create_fails_over_what_was_left(files):
    """Whatever fails, no key of a standalone filter goes, and nothing stops who writes."""
    copy = half(files, ".clone")
    db = files.connect(copy)
    fails(db, "CREATE VIRTUAL TABLE f USING bloom(t, nothing)", "no column nothing")
    written(files, copy, "after a failure")
    db.execute("PRAGMA max_page_count = %d" % one(db, "PRAGMA page_count"))
    for sql in CREATE["f"].replace("t, k", "t, k, capacity = 100000"), "CREATE VIRTUAL TABLE s USING bloom(nothing = 1)":
        assert error_of(db, sql) is not None
    db.execute("PRAGMA max_page_count = 1000000")
    written(files, copy, "after another")
    execute(db, CREATE["f"], CREATE["s"])
    is_whole(db)
    is_whole(db, SET, "s")


@test
def tables_that_only_look_so(files):
    """A table of the user's with a name and a text of bloom's, but none of its marks, stays."""
    db = files.connect()
    execute(db, "CREATE TABLE t(k)", "CREATE TABLE \"f_new\"(key, r)", "INSERT INTO f_new VALUES ('mine', 'r')",
            "CREATE TABLE \"f_pages\"(bytes BLOB)", "INSERT INTO f_pages VALUES (x'00')")
    fails(db, CREATE["f"], "table f_new, table f_pages are in the way of f: ALTER TABLE f_new RENAME TO f_new_kept; ALTER TABLE f_pages RENAME TO f_kept_pages")
    expect(column(db, "SELECT key FROM f_new") + column(db, "SELECT hex(bytes) FROM f_pages"), ["mine", "00"])
    expect(triggers(db), [])


if __name__ == "__main__":
    sys.exit(main())
