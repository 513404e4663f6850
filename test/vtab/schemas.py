"""What others do to the schema: another connection, an old ALTER TABLE, a hostile file.

    python3 test/vtab/schemas.py [--load ./bloom] [--only NAME]

Each test runs in a process of its own, so that a crash is one failure.
"""
import sys

from cases import execute, main, one, test


@test
def another_connection_changes_the_schema(files):
    a, b = files.connect(), files.connect()
    execute(a, "CREATE TABLE t(k TEXT)", "INSERT INTO t VALUES ('ada')", "CREATE VIRTUAL TABLE f USING bloom(t, k)")
    assert one(b, "SELECT count(*) FROM t") == 1
    a.execute("CREATE TABLE other(x)")
    assert one(b, "SELECT count(*) FROM f('ada')") == 1
    a.execute("CREATE TABLE another(x)")
    assert one(b, "SELECT 2 * count(*) FROM f WHERE key = ?", "ada") == 2
    a.execute("CREATE TABLE third(x)")
    assert one(b, "SELECT bloom_may_contain((SELECT handle FROM f), 'ada')") == 1


@test
def another_connection_moves_a_table(files):
    # Before 3.38.2, SQLite must not read the schema anew while it compiles: the statement
    # would go to the page where the table was.
    a, b = files.connect(), files.connect()
    execute(a, "CREATE TABLE t(k)", "INSERT INTO t VALUES (1), (2)", "CREATE TABLE other(k, value)",
            "INSERT INTO other VALUES (1, 'old'), (3, 'old')", "CREATE VIRTUAL TABLE f USING bloom(t, k)")
    maybe = " WHERE EXISTS (SELECT 1 FROM f WHERE key = other.k)"
    assert b.execute("SELECT value FROM other" + maybe).fetchall() == [("old",)]
    for name, sql in ("new", "SELECT value FROM other" + maybe), ("newer", "UPDATE other SET value = 'written'" + maybe):
        execute(a, "BEGIN", "ALTER TABLE other RENAME TO before_" + name, "CREATE TABLE other(k, value)")
        a.execute("INSERT INTO other VALUES (1, ?), (3, ?)", (name, name))
        a.execute("COMMIT")
        assert b.execute(sql).fetchall() == ([("new",)] if name == "new" else [])
    assert a.execute("SELECT value FROM other").fetchall() == [("written",), ("newer",)]
    assert a.execute("SELECT value FROM before_newer").fetchall() == [("new",), ("new",)]


@test
def another_connection_makes_the_filter_again(files):
    a, b = files.connect(), files.connect()
    execute(a, "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, number INTEGER)",
            "INSERT INTO t VALUES (1, 'Ada', 3)", "CREATE VIRTUAL TABLE f USING bloom(t, name)")
    # A prepared statement keeps b's object of the table alive.
    assert one(b, "SELECT count(*) FROM f(?)", "ADA") == 1
    execute(a, "DROP TABLE f", "PRAGMA page_size = 16384", "VACUUM",
            "CREATE VIRTUAL TABLE f USING bloom(t, number, capacity = 100000)")
    assert one(b, "SELECT count(*) FROM t") == 1
    assert one(b, "SELECT 0 + count(*) FROM f('03')") == 1
    b.execute("INSERT INTO t VALUES (2, 'Bob', 77)")
    assert one(b, "SELECT count(*) FROM f(?)", "077") == 1
    assert one(b, "SELECT bloom_may_contain((SELECT handle FROM f), '77.0')") == 1
    assert one(a, "SELECT count(*) FROM f('77')") == 1


@test
def a_rename_that_rewrites_no_trigger(files):
    db = files.connect()
    execute(db, 'CREATE TABLE "it\'s ""t"""(k)', 'CREATE VIRTUAL TABLE f USING bloom("it\'s ""t""", k)',
            'INSERT INTO "it\'s ""t""" VALUES (1)', 'ALTER TABLE "it\'s ""t""" RENAME TO "T ""2"""')
    assert one(db, "SELECT count(*) FROM f(1)") == 1
    execute(db, "PRAGMA legacy_alter_table = ON", 'ALTER TABLE "T ""2""" RENAME TO old', 'CREATE TABLE "T ""2"""(k)',
            'INSERT INTO "T ""2""" VALUES (2)', "INSERT INTO old VALUES (3)")
    assert db.execute("SELECT count(*), note FROM f(3)").fetchall() == [(1, None)]
    assert one(db, "SELECT count(*) FROM f(2)") == 0


@test
def texts_that_look_like_numbers(files):
    # Versions of SQLite differ in what a NUL ends, and 3.52.0 crashed.
    db = files.connect()
    num_found = 0
    for type_ in ("INTEGER", "REAL", "NUMERIC"):
        execute(db, "CREATE TABLE t(k %s)" % type_, "INSERT INTO t VALUES (0), (77), (1e18)",
                "CREATE VIRTUAL TABLE f USING bloom(t, k)")
        for text in ("077", "77.0", " 77 ", "7.7e1", "+77.", "77\0", "77\0x", "77x", "0\0", "1e18", "1000000000000000000", "x", "-", "."):
            if one(db, "SELECT count(*) FROM t WHERE k = ?", text):
                num_found += 1
                assert one(db, "SELECT count(*) FROM f(?)", text) == 1, (type_, text)
                assert one(db, "SELECT bloom_may_contain((SELECT handle FROM f), ?)", text) == 1, (type_, text)
        execute(db, "DROP TABLE f", "DROP TABLE t")
    assert num_found >= 20, num_found


if __name__ == "__main__":
    sys.exit(main())
