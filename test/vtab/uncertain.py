"""Where something is uncertain the answer is "maybe", the facts say why, and 'rebuild' makes it certain again.

    python3 test/vtab/uncertain.py [--load ./bloom] [--only NAME]

No error meets who reads or writes. Damage alone is SQLITE_CORRUPT_VTAB.
"""
import os
import sqlite3
import struct
import sys

from cases import (case, column, command, error_of, execute, expect, fails, fill, filtered, is_uncertain, is_whole,
                   main, no_false_negative, note, one, quoted, rebuild_makes_it_whole, rules_out_absent_keys,
                   shadow_tables, test, triggers, triggers_of)

KINDS = {
    "a column": ("t, k", "SELECT k FROM t"),
    "an expression": ("t, lower(k)", "SELECT lower(k) AS k FROM t"),
    "a condition": ("t, k, where = 'n > 0'", "SELECT k FROM t WHERE n > 0"),
    "a generated column": ("t, g", "SELECT g FROM t"),
    "the rowid": ("t, id", "SELECT id FROM t"),
}


def make(files, args):
    return filtered(files, args, columns="id INTEGER PRIMARY KEY, k TEXT, n INTEGER DEFAULT 1, g AS (k || '!')", rows=200)


def text_of(db, trigger):
    return one(db, "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name = ?", trigger)


def triggers_on(db, table):
    return column(db, "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? ORDER BY rowid", table)


def goes_on(db, keys):
    """Who writes is not kept from it, in and out of a transaction."""
    execute(db, "INSERT INTO t(k) VALUES ('goes on')", "BEGIN",
            "UPDATE t SET k = 'changed ' || k, id = id + 100000 WHERE id % 10 = 0", "DELETE FROM t WHERE id % 11 = 0")
    is_uncertain(db, keys)
    db.execute("COMMIT")
    is_uncertain(db, keys)


def restored(db, keys, names):
    rebuild_makes_it_whole(db, keys)
    expect(sorted(triggers(db)), sorted(names), "triggers after 'rebuild'")
    for sql in ("INSERT INTO t(k) VALUES ('after')", "UPDATE t SET k = 'then ' || k, n = 1 - n WHERE id % 3 = 0",
                "INSERT OR REPLACE INTO t(id, k) VALUES (1, 'replaced')", "DELETE FROM t WHERE id % 13 = 0", "UPDATE t SET n = 5, id = id + 500000"):
        db.execute(sql)
        no_false_negative(db, keys)
    is_whole(db, keys)


def trigger_is_gone(files, args, keys, number, how):
    db = make(files, args)
    other = files.connect()
    is_whole(other, keys)
    names = triggers(db)
    # Who drops the guard trigger, on a shadow table, and makes it again says that all is well, as a dump does.
    gone = triggers_on(db, "t") if how == "made again" else names
    if number is not None:
        gone = gone[number:number + 1]
    if not gone:
        return
    for name in gone:
        text = text_of(db, name)
        db.execute("DROP TRIGGER " + quoted(name))
        if how == "made again":  # and a row missed between
            execute(db, "INSERT INTO t(k) VALUES ('missed')", "UPDATE t SET k = 'missed too' WHERE id = 1", text)
        elif how == "another of its name":
            db.execute("CREATE TRIGGER %s BEFORE INSERT ON t BEGIN SELECT 1; END" % quoted(name))
        elif how == "on another table":
            db.execute("CREATE TABLE IF NOT EXISTS other(k, n, id, g)")
            db.execute("CREATE TRIGGER %s BEFORE INSERT ON other BEGIN SELECT 1; END" % quoted(name))
    is_uncertain(db, keys)
    is_uncertain(other, keys)
    assert "trigger" in note(db), note(db)
    goes_on(db, keys)
    is_uncertain(other, keys)
    db.execute("VACUUM")
    is_uncertain(db, keys)
    if how in ("another of its name", "on another table"):
        names = names + [name.replace("f_", "f_2_") for name in gone]  # somebody else's stays
    restored(db, keys, names)
    is_whole(other, keys)


for kind, (args, keys) in KINDS.items():
    for how in "dropped", "made again", "another of its name", "on another table":
        for number in [0, 1, 2, 3, 4, 5, None]:
            case(trigger_is_gone, "%s, %s, %s" % (kind, "all" if number is None else "number %d" % number, how), args, keys, number, how)


def rolled_back(files, args, keys):
    """A trigger that comes back by ROLLBACK was never gone."""
    db = make(files, args)
    is_whole(db, keys)
    for undo in "ROLLBACK", "ROLLBACK TO s":
        execute(db, "BEGIN", "SAVEPOINT s")
        for name in triggers(db):
            db.execute("DROP TRIGGER " + quoted(name))
        db.execute("INSERT INTO t(k) VALUES ('unheard')")
        is_uncertain(db, keys)
        db.execute(undo)
        is_whole(db, keys)
        db.execute("INSERT INTO t(k) VALUES ('heard')")
        if db.in_transaction:
            db.execute("COMMIT")
        is_whole(db, keys)


def rebuild_rolled_back(files, args, keys):
    """A 'rebuild' that is rolled back has not happened."""
    db = make(files, args)
    names = triggers(db)
    db.execute("DROP TRIGGER " + quoted(names[0]))
    for undo in "ROLLBACK", "ROLLBACK TO s":
        execute(db, "BEGIN", "SAVEPOINT s", "INSERT INTO t(k) VALUES ('rolled back')")
        rebuild_makes_it_whole(db, keys)
        db.execute("INSERT INTO t(k) VALUES ('rolled back, too')")
        is_whole(db, keys)
        db.execute(undo)
        is_uncertain(db, keys)
        db.execute("INSERT INTO t(k) VALUES ('unheard %s')" % undo)
        if db.in_transaction:
            db.execute("COMMIT")
        is_uncertain(db, keys)
    restored(db, keys, names)


for kind, (args, keys) in KINDS.items():
    case(rolled_back, kind, args, keys)
    case(rebuild_rolled_back, kind, args, keys)


@test
def changed_text_of_a_trigger(files):
    """Through writable_schema: the trigger is there, but tells something else."""
    db = make(files, "t, k")
    names = triggers_of(db, "t")
    db.execute("PRAGMA writable_schema = ON")
    db.execute("UPDATE sqlite_master SET sql = replace(sql, 'new.\"k\"', 'new.\"n\"') WHERE type = 'trigger' AND tbl_name = 't'")
    db.execute("PRAGMA writable_schema = OFF")
    db.close()
    db = files.connect()
    if triggers_of(db, "t") == names:
        raise AssertionError("the triggers do not say new.\"k\"")
    # Whether it is noticed is not promised; 'rebuild' must not read another column for it silently.
    db.execute("INSERT INTO t(k) VALUES ('unheard')")
    error_of(db, "INSERT INTO f(f) VALUES ('rebuild')")
    no_false_negative(db, "SELECT k FROM t WHERE k <> 'unheard'")


def column_changes(files, kind, before, after):
    """The column's text in the schema is changed in place, which no trigger can tell."""
    db = files.connect()
    execute(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, k %s)" % before, "INSERT INTO t(k) VALUES ('07'), ('Ada'), (8)",
            "CREATE VIRTUAL TABLE f USING bloom(t, k)", "CREATE VIRTUAL TABLE g USING bloom(t, k || 'x')")
    is_whole(db)
    db.execute("PRAGMA writable_schema = ON")
    db.execute("UPDATE sqlite_master SET sql = 'CREATE TABLE t(id INTEGER PRIMARY KEY, k %s)' WHERE name = 't'" % after)
    db.execute("PRAGMA schema_version = %d" % (one(db, "PRAGMA schema_version") + 1))
    db.execute("PRAGMA writable_schema = OFF")
    db.close()
    db = files.connect()
    is_uncertain(db)
    assert "k" in note(db), note(db)
    db.execute("INSERT INTO t(k) VALUES ('010')")
    is_uncertain(db)
    execute(db, "CREATE TABLE other(x %s)" % after, "INSERT INTO other VALUES ('7'), ('ada'), ('10'), (10)")
    lost = "SELECT count(*) FROM other JOIN t ON t.k = other.x WHERE NOT EXISTS (SELECT 1 FROM f WHERE key = other.x)"
    expect(one(db, lost), 0)
    command(db, "f", "rebuild")
    expect(note(db), None)
    expect(one(db, lost), 0)
    no_false_negative(db)
    no_false_negative(db, "SELECT k || 'x' AS k FROM t", "g")


for before, after in ("TEXT", "INTEGER"), ("TEXT", "TEXT COLLATE NOCASE"), ("TEXT", "BLOB"), ("INTEGER", "TEXT"), ("TEXT COLLATE RTRIM", "TEXT"):
    case(column_changes, "%s to %s" % (before, after), "", before, after)


def change_schema(db, sql, is_read_again=True):
    """Writes to sqlite_master. Bloom sees it, and SQLite unless it would refuse it."""
    again = "PRAGMA schema_version = %d" % (one(db, "PRAGMA schema_version") + 1)
    execute(db, "PRAGMA writable_schema = ON", sql, again if is_read_again else "CREATE TABLE aside(x)", "PRAGMA writable_schema = OFF")


@test
def key_of_a_finer_collation(files):
    """PRIMARY KEY(k COLLATE BINARY) has rows that k COLLATE NOCASE takes for one, which a trigger without that did, too."""
    db = files.connect()
    execute(db, "CREATE TABLE t(pk TEXT COLLATE NOCASE, n INTEGER, k TEXT, PRIMARY KEY(n, pk COLLATE BINARY)) WITHOUT ROWID",
            "CREATE VIRTUAL TABLE f USING bloom(t, k, where = k <> '')", "INSERT INTO t VALUES ('A', 1, 'x'), ('a', 1, 'y')")
    command(db, "f", "rebuild")
    db.execute("UPDATE t SET k = 'then ' || pk")
    is_whole(db)
    change_schema(db, "UPDATE sqlite_master SET sql = replace(sql, '.\"pk\" COLLATE BINARY', '.\"pk\"') WHERE type = 'trigger'")
    db.close()
    db = files.connect()
    db.execute("UPDATE t SET k = 'last ' || pk")
    is_uncertain(db)
    rebuild_makes_it_whole(db)


@test
def dropped_column_leaves_its_name_to_the_rowid(files):
    db = filtered(files, "t, k, where = 'rowid > 20'", columns='id INTEGER PRIMARY KEY, k TEXT, "rowid" INTEGER')
    db.execute("INSERT INTO t VALUES (77, 'low', 1), (78, 'high', 99)")
    if error_of(db, "ALTER TABLE t DROP COLUMN rowid"):
        return  # there is no DROP COLUMN, or not of this name
    is_uncertain(db, "SELECT k FROM t WHERE rowid > 20")
    fails(db, "INSERT INTO f(f) VALUES ('rebuild')", "rowid")


def renamed_to_a_row(files, name):
    """In a trigger on the table "new", new."id" would be any row's."""
    db = make(files, "t, lower(k)")
    keys = "SELECT lower(k) AS k FROM "
    execute(db, "ALTER TABLE t RENAME TO " + name, "INSERT INTO %s(k) VALUES ('meanwhile')" % name, "UPDATE %s SET k = 'was ' || k WHERE id > 9" % name)
    is_uncertain(db, keys + name)
    for sql in "BEGIN", "COMMIT":  # what is refused leaves the triggers where they are
        db.execute(sql)
        fails(db, "INSERT INTO f(f) VALUES ('rebuild')", "a trigger cannot tell the table")
    expect(len(triggers_on(db, name)), 5)
    db.execute("ALTER TABLE %s RENAME TO t" % name)
    is_uncertain(db, keys + "t")
    rebuild_makes_it_whole(db, keys + "t")


case(renamed_to_a_row, "new", "NEW")
case(renamed_to_a_row, "old", "old")


def replaced_collation(files, name):
    """The application puts another in place of one of SQLite's own: its connection cannot use the filter."""
    def compare(a, b):
        return (a.casefold().strip() > b.casefold().strip()) - (a.casefold().strip() < b.casefold().strip())
    db = filtered(files, columns="k TEXT COLLATE " + name, rows=50)
    db.execute("INSERT INTO t VALUES ('\u00c477')")
    sql = "SELECT count(*) FROM t WHERE k = '\u00e477\n'", "SELECT count(*) FROM f('\u00e477\n')"
    expect([one(db, each) for each in sql], [0, 0])
    db.create_collation(name, compare)
    expect([one(db, each) for each in sql], [1, 1])
    expect(one(db, "SELECT bloom_may_contain((SELECT handle FROM f), 'absent') + (filter IS NULL) FROM f"), 2)
    assert "collation %s is not SQLite's own" % name in note(db), note(db)
    command(db, "f", "integrity-check")
    for each in "INSERT INTO f(f) VALUES ('rebuild')", "CREATE VIRTUAL TABLE g USING bloom(t, k)":
        fails(db, each, name)
    is_whole(files.connect())


for name in "BINARY", "NOCASE", "RTRIM":
    case(replaced_collation, name, name)


def replaced_beside_the_key(files, name, args, rows, key):
    """One that a condition uses, or the other side of a comparison."""
    db = files.connect()
    execute(db, "CREATE TABLE t(email TEXT COLLATE NOCASE, seg TEXT COLLATE NOCASE)", "CREATE VIRTUAL TABLE f USING bloom(%s)" % args,
            "INSERT INTO t VALUES " + rows)
    db.create_collation(name, lambda a, b: 0 if a.casefold() == b.casefold() else 1 if a > b else -1)
    expect(one(db, "SELECT count(*) FROM f(?)", key), 1)
    command(db, "f", "integrity-check")
    execute(db, "CREATE TABLE log(x)", "CREATE TRIGGER newer AFTER INSERT ON t BEGIN INSERT INTO log VALUES (1); END")
    command(db, "f", "integrity-check")


IN_A_CONDITION = "t, email, where = \"seg = '\u00e4'\""
case(replaced_beside_the_key, "in a condition", "NOCASE", IN_A_CONDITION, "('a', '\u00e4'), ('b', '\u00c4')", "b")
case(replaced_beside_the_key, "in an expression", "NOCASE", "t, CASE seg WHEN '\u00e4' THEN lower(email) END", "('a', '\u00e4'), ('b', '\u00c4')", "b")
case(replaced_beside_the_key, "of the other side", "BINARY", "t, email", "('\u00c4', 1)", "\u00e4")


@test
def checks_look_behind_a_newer_trigger(files):
    db = make(files, "t, lower(k)")
    execute(db, "CREATE TABLE log(x)", "CREATE TRIGGER newer AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.id); END", "INSERT INTO t(k) VALUES ('b')")
    command(db, "f", "integrity-check")
    db.execute("ALTER TABLE t RENAME TO old")
    fails(db, "INSERT INTO f(f) VALUES ('integrity-check')", "its column or its table is another now")
    expect(db.execute("PRAGMA integrity_check").fetchone()[0] == "ok", sqlite3.sqlite_version_info < (3, 44))


@test
def column_gets_a_default(files):
    """In place: now an AFTER trigger is needed that is not there."""
    db = filtered(files, rows=100)
    change_schema(db, "UPDATE sqlite_master SET sql = 'CREATE TABLE t(k TEXT NOT NULL DEFAULT ''x'')' WHERE name = 't'")
    db.close()
    db = files.connect()
    is_uncertain(db)
    assert "it needs triggers" in note(db), note(db)
    rebuild_makes_it_whole(db)
    db.execute("INSERT OR REPLACE INTO t VALUES (NULL)")
    is_whole(db)
    expect(one(db, "SELECT count(*) FROM f('x')"), 1)


def half_a_row_of_the_schema(files, column_of_it):
    """A trigger without a name, or without its table's, is not the filter's any more."""
    db = filtered(files, rows=100)
    change_schema(db, "UPDATE sqlite_master SET %s = NULL WHERE name = 'f_before_insert'" % column_of_it, False)
    is_uncertain(db)


case(half_a_row_of_the_schema, "name", "name")
case(half_a_row_of_the_schema, "table", "tbl_name")


@test
def an_index_that_calls_itself_a_trigger(files):
    """It has no text."""
    db = filtered(files, columns="k TEXT UNIQUE", rows=100)
    change_schema(db, "UPDATE sqlite_master SET type = 'trigger' WHERE type = 'index' AND sql IS NULL AND tbl_name = 't'")
    db.close()
    db = files.connect()
    expect(one(db, "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND sql IS NULL"), 1)
    db.execute("INSERT INTO t VALUES ('one more')")
    is_whole(db)


@test
def its_triggers_on_two_tables(files):
    db = make(files, "t, k")
    text = text_of(db, "f_before_insert")
    execute(db, "CREATE TABLE other(k)", "DROP TRIGGER f_before_insert", text.replace('ON "t"', "ON other"))
    is_uncertain(db)
    expect(note(db).split(";")[0], "every key may be in it, because triggers of its own are on another table")
    goes_on(db, "SELECT k FROM t")


@test
def all_names_of_a_trigger_are_taken(files):
    db = files.connect()
    execute(db, "CREATE TABLE t(k TEXT)", "CREATE TABLE other(k)")
    for i in range(1, 101):
        db.execute("CREATE TRIGGER %s_before_insert AFTER INSERT ON other BEGIN SELECT 1; END" % ("f" if i == 1 else "f_%d" % i))
    fails(db, "CREATE VIRTUAL TABLE f USING bloom(t, k)", "trigger \"f_100_before_insert\" already exists")
    db.execute("DROP TRIGGER f_100_before_insert")
    db.execute("CREATE VIRTUAL TABLE f USING bloom(t, k)")
    is_whole(db)
    expect(one(db, "SELECT tbl_name FROM sqlite_master WHERE name = 'f_100_before_insert'"), "t")


@test
def removed_keys(files):
    """It says so where they are many, and more than a fifth."""
    db = filtered(files, "t, k", rows=6000)
    for upto, wanted in (999, None), (1150, None), (1300, "more than a fifth of its keys is gone; INSERT INTO f(f) VALUES ('rebuild') makes it smaller"):
        db.execute("DELETE FROM t WHERE rowid <= %d" % upto)
        expect((one(db, "SELECT num_removed FROM f"), note(db)), (upto, wanted))
    command(db, "f", "rebuild")
    expect(note(db), None)


@test
def a_collation_of_the_program(files):
    """A table made again whose column has a collation that bloom does not know: maybe, and 'rebuild' says why not."""
    db = files.connect()
    db.create_collation("backwards", lambda a, b: (a[::-1] > b[::-1]) - (a[::-1] < b[::-1]))
    execute(db, "CREATE TABLE t(k TEXT)", "INSERT INTO t VALUES ('ada')", "CREATE VIRTUAL TABLE f USING bloom(t, k)",
            "CREATE TABLE n(k TEXT COLLATE backwards)", "DROP TABLE t", "ALTER TABLE n RENAME TO t",
            "INSERT INTO t VALUES ('bob')")
    is_uncertain(db)
    fails(db, "INSERT INTO f(f) VALUES ('rebuild')", "backwards")
    is_uncertain(db)


@test
def a_collation_of_the_program_in_a_tuple(files):
    db = files.connect()
    db.create_collation("backwards", lambda a, b: (a[::-1] > b[::-1]) - (a[::-1] < b[::-1]))
    db.execute("CREATE TABLE t(a TEXT COLLATE backwards, b)")
    fails(db, "CREATE VIRTUAL TABLE f USING bloom(t, (a, b))", "column a of table t has collation backwards")


def trigger_says_no_key(files, args, keys, body):
    """What the key was is not to be read from a trigger that somebody made: then it is as the filter was made."""
    db = make(files, args)
    execute(db, "DROP TRIGGER f_before_delete", "CREATE TRIGGER f_before_delete BEFORE DELETE ON t BEGIN INSERT INTO \"f\"(removed) %s; END" % body)
    fails(db, "INSERT INTO f(f) VALUES ('integrity-check')", "every key may be in it, because its table was made again")
    no_false_negative(db, keys)
    command(db, "f", "rebuild")
    expect(note(db), None)
    no_false_negative(db, keys)
    expect("old" in text_of(db, "f_before_delete"), True)


for args, keys, bodies in (
        ("t, k", "SELECT k FROM t", ("VALUES (1 + (5))", 'SELECT "t"."k", 5', 'SELECT "t"."k" FROM "t"', 'SELECT "t"."k" FROM "t" WHERE 5')),
        ("t, (k, n)", "SELECT bloom_tuple(k, n) AS k FROM t", ("VALUES (1)", 'VALUES (bloom_tuple("old"."k"))'))):
    for body in bodies:
        case(trigger_says_no_key, "%s, %s" % (args, body), args, keys, body)


@test
def a_layout_that_comes_back(files):
    """A plan by a collation of a filter whose layout could not be read."""
    db = filtered(files, columns="k TEXT COLLATE NOCASE", rows=50)
    sql = "SELECT count(*) FROM f WHERE key = ? COLLATE NOCASE"
    for is_certain in True, False:
        db.execute("CREATE TEMP TABLE kept AS SELECT * FROM f_pages WHERE rowid = 1")
        if not is_certain:
            db.execute("DROP TRIGGER f_before_insert")
            expect(note(db).split(";")[0], "every key may be in it, because triggers of its own are gone, or their table is")
        db.execute("DELETE FROM f_pages WHERE rowid = 1")
        # Compiled now, and stepped again later.
        statement = db.cursor()
        error = None
        try:
            statement.execute(sql, ("KEY1",)).fetchall()
        except sqlite3.DatabaseError as raised:
            error = raised
        assert "damaged: its layout" in str(error), error
        db.execute("INSERT INTO f_pages(rowid, bytes) SELECT 1, bytes FROM kept")
        expect([one(db, sql, key) for key in ("KEY1", "absent")], [1, 0 if is_certain else 1])
        db.execute("DROP TABLE kept")


@test
def interrupted_handle(files):
    """A handle that is interrupted while it takes a tuple apart says maybe, or fails."""
    db = filtered(files, "t, (a, b)", columns="a, b")
    db.execute("INSERT INTO t VALUES (0.25, 1)")
    answers = []
    for calls in range(1, 400):
        ticks = iter(range(1, 1 << 30))
        db.set_progress_handler(lambda: next(ticks) == calls, 1)
        try:
            answers.append(one(db, "SELECT bloom_may_contain((SELECT handle FROM f), bloom_tuple(0.25, 1.0))"))
        except sqlite3.OperationalError as error:
            assert "interrupted" in str(error), error
        db.set_progress_handler(None, 0)
    expect(set(answers), {1})


@test
def a_standalone_filter_is_never_uncertain(files):
    db = files.connect()
    execute(db, "CREATE VIRTUAL TABLE f USING bloom(capacity = 100)", "INSERT INTO f(key) VALUES ('ada'), ('bob')",
            "CREATE TABLE t(k)", "INSERT INTO t VALUES ('ada'), ('bob')")
    is_whole(db)
    db.execute("VACUUM")
    is_whole(db)


@test
def triggers_of_the_user(files):
    """Triggers that were there before the filter do not make it uncertain; those that come later may, until 'rebuild'."""
    db = files.connect()
    execute(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT, n INTEGER DEFAULT 1, g AS (k || '!'))",
            "CREATE TABLE log(x)", "CREATE TRIGGER old AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.k); END",
            "CREATE VIRTUAL TABLE f USING bloom(t, k)", "CREATE VIRTUAL TABLE f2 USING bloom(t, lower(k))")
    fill(db, 100)
    is_whole(db)
    is_whole(db, "SELECT lower(k) AS k FROM t", "f2")
    db.execute("CREATE TRIGGER on_log AFTER INSERT ON log BEGIN SELECT 1; END")  # another table's
    is_whole(db)
    db.execute("CREATE TRIGGER newer AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.k); END")
    db.execute("INSERT INTO t(k) VALUES ('with the newer')")
    no_false_negative(db)
    is_uncertain(db, "SELECT lower(k) AS k FROM t", "f2")
    command(db, "f2", "integrity-check")
    if sqlite3.sqlite_version_info >= (3, 44):
        expect(column(db, "PRAGMA integrity_check"), ["ok"])
    command(db, "f", "rebuild")
    command(db, "f2", "rebuild")
    db.execute("INSERT INTO t(k) VALUES ('after the rebuild')")
    is_whole(db, "SELECT lower(k) AS k FROM t", "f2")
    no_false_negative(db)
    command(db, "f", "rebuild")  # the first may say that the second's are newer; each can be certain in the end
    no_false_negative(db, "SELECT lower(k) AS k FROM t", "f2")
    is_whole(db)


def newer_trigger(files, is_certain, *statements):
    db = files.connect()
    execute(db, "CREATE TABLE t(k TEXT, raise TEXT)", "INSERT INTO t VALUES ('Ada', 'x')", "CREATE VIRTUAL TABLE f USING bloom(t, lower(k))")
    is_whole(db, "SELECT lower(k) AS k FROM t")
    for sql in statements:
        if sql.startswith("UPDATE"):
            change_schema(db, sql, False)
        else:
            db.execute(sql)
    db.execute("INSERT INTO t(k) VALUES ('Bob')")
    (is_whole if is_certain else is_uncertain)(db, "SELECT lower(k) AS k FROM t")


# One that only tells another filter of a key; one that may write to whatever stands behind a view; and texts that tell nothing.
ANOTHER_FILTER = "CREATE VIRTUAL TABLE g USING bloom()", "CREATE TRIGGER newer AFTER INSERT ON t BEGIN INSERT INTO g(key) VALUES (new.raise); END"
case(newer_trigger, "another filter's", True, *ANOTHER_FILTER)
case(newer_trigger, "like another filter's, on a view", False, "CREATE VIEW g AS SELECT 1 AS key",
     "CREATE TRIGGER instead INSTEAD OF INSERT ON g BEGIN SELECT 1; END", "CREATE TRIGGER newer AFTER INSERT ON t BEGIN INSERT INTO g(key) VALUES (new.k); END")
case(newer_trigger, "without a text", False, "CREATE TRIGGER newer AFTER INSERT ON t BEGIN SELECT 1; END",
     "UPDATE sqlite_master SET sql = 'CREATE nothing' WHERE name = 'newer'")
case(newer_trigger, "another filter's, with more behind it", False, *ANOTHER_FILTER, "UPDATE sqlite_master SET sql = sql || '; SELECT 1' WHERE name = 'newer'")
case(newer_trigger, "another filter's, which says no module", False, *ANOTHER_FILTER, "UPDATE sqlite_master SET sql = 'CREATE VIRTUAL TABLE g' WHERE name = 'g'")


@test
def two_filters_are_certain_together(files):
    """Filters over one table, made one after the other and rebuilt in every order, do not make each other uncertain."""
    db = files.connect()
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT, n INTEGER DEFAULT 1)")
    fill(db, 50)
    filters = {"f": ("t, k", "SELECT k FROM t"), "g": ("t, lower(k)", "SELECT lower(k) AS k FROM t"), "h": ("t, id", "SELECT id FROM t")}
    for name, (args, _) in filters.items():
        db.execute("CREATE VIRTUAL TABLE %s USING bloom(%s)" % (name, args))

    def all_whole():
        db.execute("INSERT INTO t(k) VALUES ('one more ' || (SELECT count(*) FROM t))")
        for name, (_, keys) in filters.items():
            is_whole(db, keys, name)

    all_whole()
    for order in "fgh", "hgf", "g", "f", "h":
        for name in order:
            command(db, name, "rebuild")
        all_whole()
    db.execute("DROP TABLE g")
    del filters["g"]
    all_whole()


@test
def the_codes_of_errors(files):
    """Damage is SQLITE_CORRUPT_VTAB; what is uncertain is no error but to 'integrity-check'."""
    db = make(files, "t, k")
    db.execute("DROP TRIGGER " + quoted(triggers_on(db, "t")[0]))
    error = error_of(db, "INSERT INTO f(f) VALUES ('integrity-check')")
    assert error is not None and "rebuild" in str(error), error
    command(db, "f", "rebuild")
    for table in shadow_tables(db):
        copy = files.connect(":memory:")
        db.backup(copy)
        copy.execute("DELETE FROM " + table)
        errors = [error_of(copy, "SELECT count(*) FROM f('key1')"), error_of(copy, "SELECT handle FROM f"), error_of(copy, "SELECT * FROM f")]
        for error in errors:
            assert error is None or error.sqlite_errorname == "SQLITE_CORRUPT_VTAB", (table, error.sqlite_errorname, error)
        if not any(errors):
            no_false_negative(copy)
        if not table.endswith("_guard"):  # whose row an early key does not need
            assert error_of(copy, "INSERT INTO f(f) VALUES ('integrity-check')") is not None, table


def missed(db, key):
    return one(db, "SELECT count(*) FROM (SELECT %s AS v FROM t), (SELECT handle FROM f) WHERE NOT EXISTS (SELECT 1 FROM f WHERE key = v)"
               " OR NOT bloom_may_contain(handle, v)" % key)


def given_up(files, damage, *back):
    """Who writes to the source writes on, whatever became of the pages; putting them back tells no lie; 'rebuild' repairs all."""
    for arguments, key in (("t, k", "kk"), ("t, lower(k), where = 'id > 0'", "lower(kk)"), ("t, (id, k)", "bloom_tuple(id, kk)")):
        db = make(files, arguments)
        db.execute("ALTER TABLE t RENAME COLUMN k TO kk")
        held = files.connect()  # with a hint of its own
        for each in db, held:
            expect(missed(each, key), 0)
        execute(db, "BEGIN", "SAVEPOINT s", damage)
        for sql in ("INSERT INTO t(kk) VALUES ('late')", "UPDATE t SET kk = 'changed' || kk WHERE id < 5", "DELETE FROM t WHERE id = 9",
                    "INSERT OR REPLACE INTO t(id, kk) VALUES (7, 'replaced')"):
            before = one(db, "SELECT last_insert_rowid()")
            db.execute(sql)
            assert "INSERT" in sql or one(db, "SELECT last_insert_rowid()") == before, sql
        db.execute("ROLLBACK TO s")
        expect(missed(db, key), 0)
        execute(db, damage, "INSERT INTO t(kk) VALUES ('late')", "COMMIT")
        for sql in back:
            error_of(db, sql)
        for each in db, held, files.connect():
            for sql in "SELECT count(*) FROM f WHERE key = ?", "SELECT bloom_may_contain((SELECT handle FROM f), ?)":
                for value in column(each, "SELECT %s FROM t ORDER BY id DESC LIMIT 3" % key):
                    error = error_of(each, sql, value)
                    if error is None:
                        expect(one(each, sql, value), 1, sql)
                    else:
                        assert error.sqlite_errorname == "SQLITE_CORRUPT_VTAB" and "rebuild" in str(error), error
        for sql in () if back else ("SELECT count(*) FROM t WHERE EXISTS (SELECT 1 FROM f WHERE key = %s)" % key, "SELECT handle FROM f"):
            fails(db, sql, "bloom: f is damaged")
        if "INDEX" in damage:
            fails(db, "INSERT INTO f(f) VALUES ('rebuild')", "f_pages has an index", "drop the index")
            db.execute("DROP INDEX mine")
        command(db, "f", "rebuild")
        expect((missed(db, key), missed(held, key), note(db)), (0, 0, None))
        command(db, "f", "integrity-check")
        execute(db, "DROP TABLE t", "DROP TABLE f")
        db.close()
        held.close()
        os.remove(files.path)


for damage, *back in (("DELETE FROM f_pages",), ("DELETE FROM f_pages WHERE rowid > 1",),
                      ("UPDATE f_pages SET rowid = rowid + 1000", "UPDATE f_pages SET rowid = rowid - 1000"), ("DROP TABLE f_pages",),
                      ("ALTER TABLE f_pages RENAME TO gone", "ALTER TABLE gone RENAME TO f_pages"), ("CREATE INDEX mine ON f_pages(bytes)",),
                      ("UPDATE f_pages SET bytes = zeroblob(length(bytes)) WHERE rowid > 1",),
                      ("UPDATE f_pages SET bytes = zeroblob(length(bytes))",), ("UPDATE f_pages SET rowid = rowid + 1000",),
                      ("ALTER TABLE f_pages RENAME TO gone",)):
    case(given_up, damage, damage, *back)


@test
def unheard_by_hand(files):
    """What the triggers write may come from anybody: a standalone filter has no mark, and no guard keeps none."""
    db = make(files, "t, k")
    execute(db, "CREATE VIRTUAL TABLE seen USING bloom()", "INSERT INTO seen(key, unheard) VALUES ('ada', 1)")
    expect((one(db, "SELECT num_keys FROM seen"), note(db, "seen")), (1, None))
    rules_out_absent_keys(db, "seen")
    execute(db, "DROP TABLE f_guard", "INSERT INTO f(unheard) VALUES (1)")
    is_uncertain(db)
    rebuild_makes_it_whole(db)


@test
def layers_of_a_rate(files):
    """Where a rate is asked for, all layers together keep it."""
    db = filtered(files, "t, k, bits_per_key = 0.01, capacity = 100", rows=50)
    fill(db, 2000, "more")
    no_false_negative(db)
    num_layers, rate = db.execute("SELECT num_layers, expected_fpr FROM f").fetchone()
    assert num_layers > 1 and 0 < rate < 0.012, (num_layers, rate)


@test
def as_many_blocks_as_there_may_be(files):
    """The database may not have their pages, and nothing of them is left."""
    db = files.connect()
    execute(db, "CREATE TABLE t(k TEXT)", "PRAGMA max_page_count = 50")
    fails(db, "CREATE VIRTUAL TABLE f USING bloom(t, k, capacity = 1000000000000)", "bloom: f needs", "50 at most")
    expect(column(db, "SELECT name FROM sqlite_master"), ["t"])
    expect(one(db, "PRAGMA integrity_check"), "ok")


@test
def header_of_a_page(files):
    """Its counts, under a checksum that is wrong: who deletes writes on, and the filter is damaged from then on."""
    db = make(files, "t, k")
    db.execute("UPDATE f_pages SET bytes = CAST(substr(bytes, 1, 8) || x'ffffffff' || substr(bytes, 13) AS BLOB) WHERE rowid > 1")
    db.execute("DELETE FROM t WHERE id = 1")
    fails(db, "SELECT count(*) FROM f('key2')", "bloom: f is damaged")
    rebuild_makes_it_whole(db)


@test
def pages_and_guard_are_gone(files):
    """Where nothing can say that a key passed by, the write fails and says what repairs it."""
    db = make(files, "t, k")
    execute(db, "DROP TABLE f_pages", "DROP TABLE f_guard")
    fails(db, "INSERT INTO t(k) VALUES ('late')", "f is damaged", "rebuild")
    command(db, "f", "rebuild")
    db.execute("INSERT INTO t(k) VALUES ('late')")
    no_false_negative(db)
    rules_out_absent_keys(db)


@test
def pragma_integrity_check_finds_it(files):
    """From SQLite 3.44 on."""
    db = make(files, "t, k")
    expect(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
    db.execute("DROP TRIGGER " + quoted(triggers_on(db, "t")[0]))
    found = [row[0] for row in db.execute("PRAGMA integrity_check")]
    if sqlite3.sqlite_version_info >= (3, 44):
        assert any("rebuild" in text for text in found), found
    else:
        expect(found, ["ok"])


# -- Numbers that somebody wrote, under checksums that are right ---------------------------------------------

def checksum(data):
    """XXH64 with the seed 0."""
    p1, p2, p3, p4, p5 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
    bits = 2**64 - 1

    def rotated(x, n):
        return (x << n | x >> (64 - n)) & bits

    def round_(lane, word):
        return rotated((lane + word * p2) & bits, 31) * p1 & bits

    words = struct.unpack("<%dQ" % (len(data) // 8), data)  # of whole words alone
    h = p5
    if len(words) >= 4:
        lanes = [(p1 + p2) & bits, p2, 0, -p1 & bits]
        for i in range(len(words) // 4 * 4):
            lanes[i % 4] = round_(lanes[i % 4], words[i])
        h = sum(map(rotated, lanes, (1, 7, 12, 18))) & bits
        for lane in lanes:
            h = ((h ^ round_(0, lane)) * p1 + p4) & bits
    h = (h + len(data)) & bits
    for word in words[len(words) // 4 * 4:]:
        h = (rotated(h ^ round_(0, word), 27) * p1 + p4) & bits
    for shift, prime in (33, p2), (29, p3), (32, 1):
        h = (h ^ h >> shift) * prime & bits
    return h


def write_layout(db, at, form, *numbers):
    """Writes numbers into the layout of f, and its checksum."""
    layout = bytearray(one(db, "SELECT bytes FROM f_pages WHERE rowid = 1"))
    expect(checksum(bytes(layout[:296])), struct.unpack_from("<Q", layout, 296)[0], "the layout's checksum")
    struct.pack_into("<" + form, layout, at, *numbers)
    struct.pack_into("<Q", layout, 296, checksum(bytes(layout[:296])))
    db.execute("UPDATE f_pages SET bytes = ? WHERE rowid = 1", (bytes(layout),))


def out_of_bounds(files, at, form, number):
    db = filtered(files, rows=200)
    write_layout(db, at, form, number)
    for sql in "SELECT count(*) FROM f('key1')", "SELECT * FROM f", "SELECT handle FROM f":
        fails(files.connect(), sql, "bloom: f is damaged: its layout")
    db.execute("INSERT INTO t VALUES ('goes on')")
    fails(db, "SELECT count(*) FROM f('goes on')", "damaged")
    rebuild_makes_it_whole(db)


for at, form, numbers in ((20, "I", [17]), (24, "I", [0, 2049]), (28, "I", [0, 13]), (32, "d", [0.0, -1.0, 100.5, float("nan")]), (40, "q", [0, -1, 2**50 + 1]),
                          (72, "Q", [0, 60000001]), (80, "q", [0, 2**63 - 1]), (88, "q", [-1, 2**50 + 1]), (264, "B", [255]), (265, "B", [3])):
    for number in numbers:
        case(out_of_bounds, "%r at %d" % (number, at), at, form, number)


@test
def decimals_of_another_sqlite(files):
    """The layout says that the keys were stored by a SQLite that reads decimals in another way."""
    db = filtered(files, "t, CAST(k AS NUMERIC)", rows="('0.5'), ('1')")
    keys = "SELECT CAST(k AS NUMERIC) AS k FROM t"
    is_whole(db, keys)
    write_layout(db, 68, "I", 12346)
    db = files.connect()
    is_uncertain(db, keys)
    assert "decimals" in note(db), note(db)
    db.execute("INSERT INTO t VALUES ('2.5')")  # now of two ways
    is_uncertain(db, keys)
    db.execute("INSERT INTO t VALUES ('3.5')")
    is_uncertain(files.connect(), keys)
    rebuild_makes_it_whole(db, keys)


@test
def decimals_of_another_sqlite_and_no_layout(files):
    db = filtered(files, "t, CAST(k AS NUMERIC)", rows="('0.5'), ('1')")
    write_layout(db, 68, "I", 12346)
    expect(one(db, "SELECT count(*) FROM f(7.5)"), 1)
    files.connect().execute("DELETE FROM f_pages WHERE rowid = 1")
    fails(db, "SELECT count(*) FROM f(7.5)", "damaged: its layout")


@test
def decimals_of_two_connections(files):
    """One has its first decimal when another has written one."""
    db = filtered(files, "t, CAST(k AS NUMERIC)", rows="('1')")
    other = files.connect()
    for each, key in (db, "2"), (other, "2.5"), (db, "3.5"), (other, "4.5"):
        each.execute("INSERT INTO t VALUES (?)", (key,))
    for each in db, other:
        is_whole(each, "SELECT CAST(k AS NUMERIC) AS k FROM t")


@test
def decimals_that_may_not_be_read(files):
    """An authorizer keeps bloom from a SELECT of its own: maybe, until it may."""
    filtered(files, "t, CAST(k AS NUMERIC)", rows="('0.5')").close()
    db = files.connect()
    refused = []
    db.set_authorizer(lambda action, *_: sqlite3.SQLITE_DENY if action in refused else sqlite3.SQLITE_OK)
    sql = "SELECT CASE WHEN ? THEN (SELECT count(*) FROM f(?)) END"
    expect(one(db, sql, 0, 0.25), None)
    refused.append(sqlite3.SQLITE_SELECT)
    expect(one(db, sql, 1, 0.25), 1)
    refused.clear()
    expect((one(db, sql, 1, 0.25), one(db, sql, 1, 0.5)), (0, 1))


@test
def a_page_of_neither_layout(files):
    """While a layer more is on its way, pages may have the next layout's number, and no third one."""
    db = filtered(files, rows=200)
    write_layout(db, 88, "q", 3)
    no_false_negative(files.connect())
    db.execute("UPDATE f_pages SET bytes = CAST(x'0102030405060708' || substr(bytes, 9) AS BLOB) WHERE rowid > 1")
    fails(files.connect(), "SELECT count(*) FROM f('key1')", "damaged: a page")
    rebuild_makes_it_whole(db)


@test
def twelve_layers_and_full_counts(files):
    """There is no thirteenth layer, whatever the last one holds; and counts end at their largest number."""
    db = filtered(files, "t, CAST(k AS NUMERIC)", rows="('1')")
    keys = "SELECT CAST(k AS NUMERIC) AS k FROM t"
    number = struct.unpack_from("<Q", one(db, "SELECT bytes FROM f_pages WHERE rowid = 1"), 8)[0]
    write_layout(db, 28, "I", 12)
    write_layout(db, 72, "Qq" * 12, *[1, 1] * 12)
    db.execute("DELETE FROM f_pages WHERE rowid > 1")
    for row in range(2, 14):
        header = struct.pack("<QIIII", number, 2**32 - 1, 2**32 - 1, 2**32 - 1, 0)
        header += struct.pack("<Q", checksum(header + struct.pack("<Q", row)))
        db.execute("INSERT INTO f_pages(rowid, bytes) VALUES (?, ?)", (row, header + bytes(32)))
    db = files.connect()
    expect(one(db, "SELECT num_layers FROM f"), 12)
    db.execute("DELETE FROM t")
    db.executemany("INSERT INTO t VALUES (?)", [("2",), ("3.5",), ("4",)])
    no_false_negative(db, keys)
    db.execute("DELETE FROM t WHERE k = '4'")
    expect(db.execute("SELECT num_layers, num_keys, num_removed FROM f").fetchone(), (12, 12 * (2**32 - 1), 12 * (2**32 - 1)))
    command(db, "f", "integrity-check")
    rebuild_makes_it_whole(db, keys)


# -- Pages amid growth -----------------------------------------------------------------------------------------

def page_amid_growth(files, what, args):
    """A page is damaged while the pages get their next number, for a key of another page."""
    db = filtered(files, args, rows=3000)
    if args == "capacity = 6000":
        db.execute("INSERT INTO f(key) SELECT k FROM t")
    layout, bytes_ = (one(db, "SELECT bytes FROM f_pages WHERE rowid = ?", row) for row in (1, 3))
    number = struct.unpack_from("<Q", layout, 8)[0]
    if what != "deletion":
        write_layout(db, 88, "q", 2)
    page = bytearray(bytes_)
    if what == "another number":
        struct.pack_into("<Q", page, 0, number ^ 1)
        struct.pack_into("<Q", page, 24, checksum(bytes(page[:24]) + struct.pack("<Q", 3)))
    else:
        page[25] ^= 1
    if what == "a gap":
        db.execute("DELETE FROM f_pages WHERE rowid = 3")
    else:
        db.execute("UPDATE f_pages SET bytes = ? WHERE rowid = 3", (bytes(page),))
    db = files.connect()
    if what == "deletion":
        db.execute("DELETE FROM t")
    elif args == "capacity = 6000":
        fails(db, "INSERT INTO f(key) VALUES ('zetakey0')", "bloom: f is damaged: a page")
        return
    else:
        db.execute("INSERT INTO t VALUES ('zetakey0')")
    fails(db, "SELECT handle FROM f", "damaged")
    fails(db, "SELECT count(*) FROM f WHERE key = 'key1' COLLATE NOCASE", "damaged")
    rebuild_makes_it_whole(db)


for what, args in (("its checksum", "t, k"), ("another number", "t, k"), ("its checksum", "capacity = 6000"), ("deletion", "t, k"), ("a gap", "t, k")):
    case(page_amid_growth, "%s, %s" % (what, args), what, args)


if __name__ == "__main__":
    sys.exit(main())
