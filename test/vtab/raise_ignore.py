"""Triggers of the user that change a row on its way, or keep it and stop all triggers that come later.

    python3 test/vtab/raise_ignore.py [--load ./bloom] [--only NAME]

RAISE(IGNORE) and RAISE(FAIL) in a newer AFTER trigger keep the row and drop the triggers that
would have come after it, so that the filter hears only of what its BEFORE triggers were told.
One test for each way in which the row is another by then.

A trigger that was made after the filter may make the filter uncertain (the guard trigger is
not the last any more): then every key may be in it until 'rebuild'. What counts here is that
no row is missed: after the statement, and after 'rebuild' and the statement once more.
"""
import sys

from cases import (case, column, command, error_of, execute, expect, is_uncertain, is_whole, main, no_false_negative,
                   note, one, rebuild_makes_it_whole, rules_out_absent_keys)

# name, the table, the filter's arguments, triggers made after the filter, statements, the filter's keys.
# {stop} is RAISE(IGNORE) or RAISE(FAIL, ...).
INSERT_STOPS = "CREATE TRIGGER stop_i AFTER INSERT ON t BEGIN SELECT {stop}; END"
UPDATE_STOPS = "CREATE TRIGGER stop_u AFTER UPDATE ON t BEGIN SELECT {stop}; END"
CHANGES_A = ["CREATE TRIGGER b BEFORE UPDATE OF b ON t BEGIN UPDATE t SET a = 'changed' WHERE id = old.id; END",
             "CREATE TRIGGER stop_u AFTER UPDATE OF b ON t BEGIN SELECT {stop}; END"]

CASES = [
    # The row's key that SQLite chooses after BEFORE triggers have run.
    ("a rowid that SQLite chooses", "t(id INTEGER PRIMARY KEY, x)", "t, id", [INSERT_STOPS],
     ["INSERT INTO t(x) VALUES (1)", "INSERT INTO t(id, x) VALUES (NULL, 2)", "INSERT INTO t(id, x) VALUES (1000, 3)"], "SELECT id FROM t"),
    ("an AUTOINCREMENT", "t(id INTEGER PRIMARY KEY AUTOINCREMENT, x)", "t, id", [INSERT_STOPS],
     ["INSERT INTO t(x) VALUES (1)", "INSERT INTO t(x) VALUES (2)"], "SELECT id FROM t"),
    ("a rowid in an expression", "t(id INTEGER PRIMARY KEY, x)", "t, id * 1000 + x", [INSERT_STOPS],
     ["INSERT INTO t(x) VALUES (1)", "INSERT INTO t(x) VALUES (2)"], "SELECT id * 1000 + x AS k FROM t"),
    ("a rowid in the condition", "t(id INTEGER PRIMARY KEY, k TEXT)", "t, k, where = 'id > 0'", [INSERT_STOPS],
     ["INSERT INTO t(k) VALUES ('ada')", "INSERT INTO t(k) VALUES ('bob')"], "SELECT k FROM t WHERE id > 0"),
    ("a generated column of a rowid", "t(id INTEGER PRIMARY KEY, g AS (id * 7))", "t, g", [INSERT_STOPS],
     ["INSERT INTO t(id) VALUES (NULL)", "INSERT INTO t(id) VALUES (NULL)"], "SELECT g FROM t"),

    # A DEFAULT that OR REPLACE puts in place of NULL.
    ("a DEFAULT at INSERT OR REPLACE", "t(k TEXT NOT NULL DEFAULT 'the default', x)", "t, k", [INSERT_STOPS],
     ["INSERT OR REPLACE INTO t VALUES (NULL, 1)"], "SELECT k FROM t"),
    ("a DEFAULT by the column's own ON CONFLICT REPLACE", "t(k TEXT NOT NULL ON CONFLICT REPLACE DEFAULT 'the default', x)", "t, k", [INSERT_STOPS],
     ["INSERT INTO t VALUES (NULL, 1)"], "SELECT k FROM t"),
    ("a DEFAULT at UPDATE OR REPLACE", "t(k TEXT NOT NULL DEFAULT 'the default', x)", "t, k", [UPDATE_STOPS],
     ["INSERT INTO t VALUES ('ada', 1)", "UPDATE OR REPLACE t SET k = NULL"], "SELECT k FROM t"),
    ("a DEFAULT at UPDATE OR REPLACE, in an expression", "t(k TEXT NOT NULL DEFAULT 'The Default', x)", "t, lower(k)", [UPDATE_STOPS],
     ["INSERT INTO t VALUES ('ada', 1)", "UPDATE OR REPLACE t SET k = NULL"], "SELECT lower(k) AS k FROM t"),
    ("a DEFAULT of the condition's column at INSERT", "t(k TEXT, active INTEGER NOT NULL DEFAULT 1)", "t, k, where = 'active = 1'", [INSERT_STOPS],
     ["INSERT OR REPLACE INTO t VALUES ('ada', NULL)"], "SELECT k FROM t WHERE active = 1"),
    ("a DEFAULT of the condition's column at UPDATE", "t(k TEXT, active INTEGER NOT NULL DEFAULT 1)", "t, k, where = 'active = 1'", [UPDATE_STOPS],
     ["INSERT INTO t VALUES ('ada', 0)", "UPDATE OR REPLACE t SET active = NULL"], "SELECT k FROM t WHERE active = 1"),
    ("a DEFAULT that a generated key is made of", "t(a TEXT NOT NULL DEFAULT 'the default', g AS (a || '!'))", "t, g",
     [INSERT_STOPS, UPDATE_STOPS], ["INSERT OR REPLACE INTO t(a) VALUES (NULL)", "INSERT INTO t(a) VALUES ('ada')", "UPDATE OR REPLACE t SET a = NULL"],
     "SELECT g FROM t"),

    # A BEFORE trigger of the user that changes the row while it is on its way.
    ("a BEFORE UPDATE that changes the condition's column", "t(id INTEGER PRIMARY KEY, k TEXT, active INTEGER)", "t, k, where = 'active = 1'",
     ["CREATE TRIGGER b BEFORE UPDATE OF k ON t BEGIN UPDATE t SET active = 1 WHERE id = old.id; END",
      "CREATE TRIGGER stop_u AFTER UPDATE OF k ON t BEGIN SELECT {stop}; END"],
     ["INSERT INTO t VALUES (1, 'ada', 0)", "UPDATE t SET k = 'bob'"], "SELECT k FROM t WHERE active = 1"),
    ("a BEFORE UPDATE that changes what a generated key is made of", "t(id INTEGER PRIMARY KEY, a, b, g AS (a || b))", "t, g",
     CHANGES_A,
     ["INSERT INTO t(id, a, b) VALUES (1, 'ada', 'x')", "UPDATE t SET b = 'y'"], "SELECT g FROM t"),
    ("a BEFORE UPDATE that changes what a stored generated key is made of", "t(id INTEGER PRIMARY KEY, a, b, g AS (a || b) STORED)", "t, g",
     CHANGES_A,
     ["INSERT INTO t(id, a, b) VALUES (1, 'ada', 'x')", "UPDATE t SET b = 'y'"], "SELECT g FROM t"),
    ("a BEFORE UPDATE that changes a column of the expression", "t(id INTEGER PRIMARY KEY, a, b)", "t, a || b",
     CHANGES_A,
     ["INSERT INTO t VALUES (1, 'ada', 'x')", "UPDATE t SET b = 'y'"], "SELECT a || b AS k FROM t"),
    ("a BEFORE UPDATE that changes the key itself", "t(id INTEGER PRIMARY KEY, k, x)", "t, k",
     ["CREATE TRIGGER b BEFORE UPDATE OF x ON t BEGIN UPDATE t SET k = 'changed' WHERE id = old.id; END",
      "CREATE TRIGGER stop_u AFTER UPDATE ON t BEGIN SELECT {stop}; END"],
     ["INSERT INTO t VALUES (1, 'ada', 1)", "UPDATE t SET x = 2"], "SELECT k FROM t"),

    # What is another value in the row than it is before: affinity.
    ("a BLOB in a TEXT column with a condition", "t(k TEXT)", "t, k, where = \"typeof(k) = 'blob'\"", [INSERT_STOPS, UPDATE_STOPS],
     ["INSERT INTO t VALUES (x'616461')", "INSERT INTO t VALUES ('eve')", "UPDATE t SET k = x'626f62' WHERE k = 'eve'"],
     "SELECT k FROM t WHERE typeof(k) = 'blob'"),
    ("a BLOB in a TEXT column of the condition", "t(k TEXT, c TEXT)", "t, k, where = \"typeof(c) = 'blob'\"", [INSERT_STOPS, UPDATE_STOPS],
     ["INSERT INTO t VALUES ('ada', x'01')", "INSERT INTO t VALUES ('eve', 'x')", "UPDATE t SET c = x'02' WHERE c = 'x'"],
     "SELECT k FROM t WHERE typeof(c) = 'blob'"),
    ("a BLOB in a TEXT column in an expression", "t(k TEXT)", "t, hex(k) || typeof(k)", [INSERT_STOPS, UPDATE_STOPS],
     ["INSERT INTO t VALUES (x'616461')", "INSERT INTO t VALUES ('eve')", "UPDATE t SET k = x'626f62' WHERE k = 'eve'"],
     "SELECT hex(k) || typeof(k) AS k FROM t"),
    ("a text in an INTEGER column with a condition", "t(k INTEGER, n NUMERIC)", "t, k, where = \"typeof(n) = 'integer'\"", [INSERT_STOPS, UPDATE_STOPS],
     ["INSERT INTO t VALUES ('7', '8.0')", "INSERT INTO t VALUES ('9', 'x')", "UPDATE t SET n = '1e3' WHERE n = 'x'"],
     "SELECT k FROM t WHERE typeof(n) = 'integer'"),
    ("an integer in a REAL column with a condition", "t(k TEXT, n REAL)", "t, k, where = \"typeof(n) = 'real'\"", [INSERT_STOPS, UPDATE_STOPS],
     ["INSERT INTO t VALUES ('ada', 1)", "INSERT INTO t VALUES ('eve', 'x')", "UPDATE t SET n = '2' WHERE n = 'x'"],
     "SELECT k FROM t WHERE typeof(n) = 'real'"),

    # SET rowid = and a generated column's base: UPDATE OF would not fire.
    ("SET rowid", "t(id INTEGER PRIMARY KEY, x)", "t, id", [UPDATE_STOPS],
     ["INSERT INTO t VALUES (1, 1)", "UPDATE t SET rowid = 700", "UPDATE t SET _rowid_ = 800"], "SELECT id FROM t"),
]


def stopped(files, columns, args, triggers, statements, keys, stop):
    db = files.connect()
    execute(db, "CREATE TABLE " + columns, "CREATE VIRTUAL TABLE f USING bloom(%s)" % args)
    for sql in triggers:
        db.execute(sql.format(stop=stop))

    def change():
        for sql in statements:
            error = error_of(db, sql)
            assert error is None or "FAIL" in stop and "stopped" in str(error), error

    change()
    assert one(db, "SELECT count(*) FROM (%s)" % keys) > 0, "the case leaves no row"
    no_false_negative(db, keys)
    # Made whole once more, beside these triggers.
    command(db, "f", "rebuild")
    expect(note(db), None)
    no_false_negative(db, keys)
    rules_out_absent_keys(db)
    db.execute("DELETE FROM t")
    change()
    no_false_negative(db, keys)


def dropped(files, columns, args, triggers, statements, keys, stop):
    """The triggers that kept rows are dropped again: nothing in the schema tells, but what a filter may not have heard
    of leaves a mark until 'rebuild'."""
    db, other = files.connect(), files.connect()
    execute(db, "CREATE TABLE " + columns, "CREATE VIRTUAL TABLE f USING bloom(%s)" % args)
    expect([note(other), note(db)], [None, None])
    for sql in triggers:
        db.execute(sql.format(stop=stop))
    for sql in statements:
        error_of(db, sql)
    for name in column(db, "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name IN ('stop_i', 'stop_u', 'b')"):
        db.execute("DROP TRIGGER " + name)
    assert one(db, "SELECT count(*) FROM (%s)" % keys) > 0, "the case leaves no row"
    for each in db, other, files.connect():
        if note(each) is None:
            no_false_negative(each, keys)
        else:
            is_uncertain(each, keys)
    if note(db):
        execute(db, "VACUUM", "ALTER TABLE f RENAME TO g")
        is_uncertain(db, keys, "g")
        is_uncertain(other, keys, "g")
        db.execute("ALTER TABLE g RENAME TO f")
    rebuild_makes_it_whole(db, keys)
    is_whole(other, keys)


# The filter, and a statement that changes a row of which it may not hear: all kinds of statements. The table t(id, k, x) has
# the row 'Ada' of id 1; child refers to it.
UNHEARD = {
    "INSERT": "INSERT INTO t(k) VALUES ('Eve')",
    "INSERT ... SELECT": "INSERT INTO t(k) SELECT k || 'x' FROM t",
    "REPLACE": "REPLACE INTO t(id, k) VALUES (1, 'Eve')",
    "INSERT OR IGNORE": "INSERT OR IGNORE INTO t(id, k) VALUES (1, 'Bob'), (2, 'Eve')",
    "UPSERT": "INSERT INTO t(id, k) VALUES (1, 'Eve') ON CONFLICT(id) DO UPDATE SET k = excluded.k",
    "UPDATE": "UPDATE t SET k = 'Eve'",
    "UPDATE OR FAIL": "UPDATE OR FAIL t SET k = 'Eve', id = 7",
    "a foreign key": "UPDATE parent SET name = 'Eve'",
    "a trigger on another table": "INSERT INTO log VALUES ('Eve')",
}


def unheard(files, args, key, sql):
    db = files.connect()
    execute(db, "PRAGMA foreign_keys = ON", "CREATE TABLE parent(name PRIMARY KEY)",
            "CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT REFERENCES parent(name) ON UPDATE CASCADE, x)",
            "CREATE TABLE log(k)",
            "CREATE TRIGGER logged AFTER INSERT ON log BEGIN INSERT INTO t(k) VALUES (new.k); END",
            "INSERT INTO parent VALUES ('Ada')", "INSERT INTO t(k) VALUES ('Ada')",
            "CREATE VIRTUAL TABLE f USING bloom(%s)" % args)
    if sql != UNHEARD["a foreign key"]:
        db.execute("PRAGMA foreign_keys = OFF")
    stops = [text.format(stop="RAISE(IGNORE)") for text in (INSERT_STOPS, UPDATE_STOPS)]
    keys = "SELECT %s AS k FROM t" % key

    def stop_and_drop(*statements):
        for text in stops:
            db.execute(text)
        for text in statements:
            db.execute(text)
        execute(db, "DROP TRIGGER stop_i", "DROP TRIGGER stop_u")

    # Where no row came, or it was rolled back, and where another column alone changed, nothing is in doubt.
    stop_and_drop("UPDATE t SET x = 1")
    is_whole(db, keys)
    db.execute("BEGIN")
    stop_and_drop(sql)
    is_uncertain(db, keys)
    assert "misses" in str(error_of(db, "INSERT INTO f(f) VALUES ('integrity-check')"))
    db.execute("ROLLBACK")
    is_whole(db, keys)
    stop_and_drop("SAVEPOINT s", sql, "ROLLBACK TO s", "RELEASE s")
    is_whole(db, keys)
    # A statement that was compiled before there was a newer trigger is compiled anew.
    db.execute(sql + " -- kept")
    is_whole(db, keys)
    execute(db, "UPDATE parent SET name = 'Ada'", "DELETE FROM t", "INSERT INTO t(id, k) VALUES (1, 'Ada')")
    stop_and_drop(sql + " -- kept")
    is_uncertain(db, keys)
    rebuild_makes_it_whole(db, keys)


for name, sql in UNHEARD.items():
    case(unheard, "an expression, " + name, "t, lower(k)", "lower(k)", sql)
    case(unheard, "a condition, " + name, "t, k, where = 'k > 1'", "k", sql)


# Newer AFTER triggers that look as a filter's do, or hide that they are AFTER.
DISGUISED = {
    "called begin": "CREATE TRIGGER begin AFTER INSERT ON t BEGIN SELECT RAISE(IGNORE); END",
    "called main.begin": "CREATE TRIGGER main.begin AFTER INSERT ON t BEGIN SELECT RAISE(IGNORE); END",
    "a table that refuses the row": "CREATE TRIGGER begin_log AFTER INSERT ON t BEGIN INSERT INTO log(key) VALUES (new.x); END",
    "a filter, and RAISE": "CREATE TRIGGER tell AFTER INSERT ON t BEGIN INSERT INTO seen(key) VALUES (RAISE(IGNORE)); END",
    "a filter, and RAISE in WHEN": "CREATE TRIGGER tell AFTER INSERT ON t WHEN RAISE(IGNORE) BEGIN INSERT INTO seen(key) VALUES (new.x); END",
}


def disguised(files, trigger):
    db = files.connect()
    execute(db, "CREATE TABLE t(k TEXT, x)", "CREATE TABLE log(key UNIQUE)", "INSERT INTO log VALUES (7)",
            "CREATE VIRTUAL TABLE seen USING bloom(capacity = 10)", "CREATE VIRTUAL TABLE f USING bloom(t, lower(k))",
            "CREATE VIRTUAL TABLE \"another f\" USING bloom(t, upper(k))",
            "CREATE TRIGGER told AFTER INSERT ON t BEGIN INSERT INTO seen(key) VALUES (new.x); END")
    is_whole(db, "SELECT lower(k) AS k FROM t")
    db.execute(trigger)
    error_of(db, "INSERT OR FAIL INTO t VALUES ('Ada', 7)")
    expect(one(db, "SELECT k FROM t"), "Ada")
    is_uncertain(db, "SELECT lower(k) AS k FROM t")
    for name in column(db, "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name IN ('begin', 'begin_log', 'tell')"):
        db.execute("DROP TRIGGER \"%s\"" % name)
    is_uncertain(db, "SELECT lower(k) AS k FROM t")
    rebuild_makes_it_whole(db, "SELECT lower(k) AS k FROM t")


for name, trigger in DISGUISED.items():
    case(disguised, name, trigger)


def guard_is_emptied(files):
    """The mark's row: without it nobody knows."""
    db = files.connect()
    execute(db, "CREATE TABLE t(k TEXT)", "CREATE VIRTUAL TABLE f USING bloom(t, lower(k))", "DELETE FROM f_guard",
            "CREATE TABLE another(x)")
    is_uncertain(db)
    rebuild_makes_it_whole(db)
    # Of a column that has an index sqlite3_blob writes nothing.
    db.execute("CREATE INDEX i ON f_guard(unused)")
    db.execute(INSERT_STOPS.format(stop="RAISE(IGNORE)"))
    execute(db, "INSERT INTO t VALUES ('Ada')", "DROP TRIGGER stop_i")
    is_uncertain(db, "SELECT lower(k) AS k FROM t")


case(guard_is_emptied, "a row of the guard's table")


def stopped_by_temp(files, columns, args, triggers, statements, keys):
    """A TEMP trigger fires before all others, and is in no file: nothing can close that, but 'integrity-check' finds
    what is missed, and 'rebuild' repairs it. One example for the reference: this is the list of what stays open."""
    db = files.connect()
    execute(db, "CREATE TABLE " + columns, "CREATE VIRTUAL TABLE f USING bloom(%s)" % args)
    for sql in triggers:
        db.execute(sql.replace("CREATE TRIGGER", "CREATE TEMP TRIGGER", 1).replace(" ON t ", " ON main.t ", 1).format(stop="RAISE(IGNORE)"))
    for sql in statements:
        db.execute(sql)
    rows = [row[0] for row in db.execute(keys) if row[0] is not None]
    missed = [key for key in rows if one(db, "SELECT count(*) FROM f(?)", key) == 0]
    if missed:
        assert error_of(db, "INSERT INTO f(f) VALUES ('integrity-check')") is not None, "nobody says that keys are missed"
    command(db, "f", "rebuild")
    no_false_negative(db, keys)


def unhindered(files, columns, args, triggers, statements, keys):
    """The same rows without a trigger that stops others: nothing is missed, and the filter stays certain."""
    db = files.connect()
    db.execute("CREATE TABLE " + columns)
    for sql in triggers:
        if "{stop}" not in sql:
            db.execute(sql)
    db.execute("CREATE VIRTUAL TABLE f USING bloom(%s)" % args)
    for sql in statements:
        db.execute(sql)
        no_false_negative(db, keys)
    rules_out_absent_keys(db)
    expect(note(db), None)
    command(db, "f", "integrity-check")


for name, *what in CASES:
    for function in stopped, dropped:
        case(function, name + ", RAISE(IGNORE)", *what, "RAISE(IGNORE)")
        case(function, name + ", RAISE(FAIL)", *what, "RAISE(FAIL, 'stopped')")
    case(stopped_by_temp, name, *what)
    case(unhindered, name, *what)


if __name__ == "__main__":
    sys.exit(main())
