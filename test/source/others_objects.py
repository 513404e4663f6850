"""What is the user's stays the user's: DROP, RENAME, 'rebuild' and CREATE touch nothing that is not bloom's.

A trigger or a table is bloom's if its name, its table and its text together say so.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vtab"))
from cases import column, command, each, error_of, execute, expect, fails, fill, is_whole, main, no_false_negative, one, test  # noqa: E402

MODULES = {"bloom": ("f_new", '"f_new"(key, r) VALUES (new."a", random())'), "bloom_index": ("f_changed", '"f_changed"(id) VALUES (new."a")')}


def make(files, module):
    db = files.connect()
    execute(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT)", "CREATE TABLE other(a, b)")
    fill(db, 50)
    db.execute("CREATE VIRTUAL TABLE f USING %s(t, k)" % module)
    return db


def objects(db, names):
    return {name: one(db, "SELECT sql FROM sqlite_master WHERE name = ?", name) for name in names}


def change(db, how):
    """Each, in and out of a transaction; what fails changes nothing."""
    for in_transaction in False, True:
        db.execute("SAVEPOINT s") if in_transaction else None
        if how == "rebuild":
            # Its own are gone, so that 'rebuild' makes them anew.
            own = column(db, "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 't' AND name LIKE 'f\\_%' ESCAPE '\\' AND sql LIKE '%ON \"t\"%'")
            db.execute('DROP TRIGGER "%s"' % own[0])
            command(db, "f", "rebuild")
        elif how == "RENAME":
            # SQLite refuses it where a trigger names a table that has another name then.
            fails(db, "ALTER TABLE f RENAME TO g", "error in trigger other_")
        elif how == "DROP" and in_transaction:
            db.execute("DROP TABLE f")
        db.execute("RELEASE s") if in_transaction else None


# Triggers on another table that 1.0 could have made by their names, or that feed the filter or note ids.
TRIGGERS = ["my_%s", "other_%s", "f2_%s"]
SUFFIXES = ["before_insert", "after_insert", "before_update", "after_update", "before_delete", "before_move", "guard"]


@each(MODULES.keys(), ["rebuild", "RENAME", "DROP"])
def triggers_stay(files, module, how):
    db = make(files, module)
    command_ = 'BEGIN INSERT INTO "f"(f) VALUES (\'merge\'); END'
    feed = "BEGIN INSERT INTO %s; END" % MODULES[module][1]
    names = []
    for name in TRIGGERS:
        for suffix in SUFFIXES:
            event = " ".join(suffix.split("_")).upper().replace("MOVE", "UPDATE").replace("GUARD", "AFTER INSERT")
            action = command_ if "DELETE" in event or name == "my_%s" else feed
            names.append(name % suffix)
            db.execute('CREATE TRIGGER "%s" %s ON "other" WHEN 1 %s' % (name % suffix, event, action))
    texts = objects(db, names)
    change(db, how)
    expect(sorted(objects(db, names)), sorted(texts))
    if how != "DROP":
        expect(objects(db, names), texts)
        is_whole(db) if module == "bloom" else expect(len(column(db, "SELECT id FROM f")), 50)
    if how == "DROP":
        for name in names:
            db.execute("DROP TRIGGER " + name)
        execute(db, "INSERT INTO t(k) VALUES ('goes on')", "INSERT INTO other VALUES (1, 2)")


@each(MODULES.keys())
def of_its_names(files, module):
    """A trigger that has a name of bloom's, on another table or with another text: said to be in the way, and kept."""
    for suffix in "before_insert", "before_update", "guard":
        for text in ('AFTER INSERT ON other BEGIN INSERT INTO "f"(f) VALUES (\'merge\'); END', "AFTER INSERT ON other BEGIN INSERT INTO %s; END" % MODULES[module][1],
                     'BEFORE INSERT ON "t" WHEN 1 BEGIN INSERT INTO %s; DELETE FROM other; END' % MODULES[module][1].replace('"a"', '"k"' if module == "bloom" else '"id"')):
            db = make(files, module)
            execute(db, "DROP TRIGGER f_" + suffix, "CREATE TRIGGER f_%s %s" % (suffix, text))
            names = column(db, "SELECT name FROM sqlite_master ORDER BY rowid")
            db.execute("BEGIN")
            fails(db, "INSERT INTO f(f) VALUES ('rebuild')", "trigger f_%s is in the way of f" % suffix)
            expect(column(db, "SELECT name FROM sqlite_master ORDER BY rowid"), names)
            db.execute("COMMIT")
            if error_of(db, "ALTER TABLE f RENAME TO g"):
                expect(column(db, "SELECT name FROM sqlite_master ORDER BY rowid"), names)
                db.execute("DROP TABLE f")
            else:
                db.execute("DROP TABLE g")
            expect(column(db, "SELECT name FROM sqlite_master"), ["t", "other", "f_" + suffix])
            execute(db, "DROP TRIGGER f_" + suffix, "DROP TABLE t", "DROP TABLE other")
            db.close()


@each(MODULES.keys())
def of_its_names_elsewhere(files, module):
    """A trigger that has a name and an event of bloom's, and writes to a table of the user's: DROP keeps it."""
    db = make(files, module)
    for suffix, event in ("before_insert", "BEFORE INSERT"), ("after_update", "AFTER UPDATE"):
        execute(db, "DROP TRIGGER IF EXISTS f_" + suffix, 'CREATE TRIGGER "f_%s" %s ON t BEGIN INSERT INTO other(a, b) VALUES (new.k, random()); END' % (suffix, event))
    db.execute("DROP TABLE f")
    expect(column(db, "SELECT name FROM sqlite_master"), ["t", "other", "f_before_insert", "f_after_update"])


@test
def triggers_that_feed(files):
    """Triggers of the user's that feed a standalone filter: DROP keeps them."""
    db = files.connect()
    execute(db, "CREATE TABLE t(k)", "CREATE VIRTUAL TABLE f USING bloom()", 'CREATE TRIGGER f_before_insert BEFORE INSERT ON t BEGIN INSERT INTO "f"(key) VALUES (new.k); END')
    db.execute("DROP TABLE f")
    expect(column(db, "SELECT name FROM sqlite_master"), ["t", "f_before_insert"])


@each(MODULES.keys())
def of_no_name(files, module):
    """A trigger of its own that somebody changed is repaired, while all that it does is to write to its table; until then all keys may be there."""
    for before, after in (" WHEN ", " WHEN 0 AND "), ('(new."k", ', "('x', ") if module == "bloom" else ('(new."id", ', "(-7, "):
        db = make(files, module)
        text = one(db, "SELECT sql FROM sqlite_master WHERE name = 'f_before_insert'")
        assert before in text, text
        execute(db, "DROP TRIGGER f_before_insert", text.replace(before, after), "INSERT INTO t(k) VALUES ('missed')")
        if module == "bloom":
            expect(one(db, "SELECT count(*) FROM f('missed')"), 1)
        command(db, "f", "rebuild")
        expect(one(db, "SELECT sql FROM sqlite_master WHERE name = 'f_before_insert'"), text)
        no_false_negative(db) if module == "bloom" else expect(column(db, "SELECT id FROM f WHERE k = 'missed'"), [51])
        execute(db, "DROP TABLE f", "DROP TABLE t", "DROP TABLE other")
        db.close()


@each([("bloom", "f_pages"), ("bloom", "f_new"), ("bloom_index", "f_state"), ("bloom_index", "f_changed"), ("bloom_index", "f_entries1")],
      ["TABLE {0}(a, b)", 'TABLE "{0}"(mine BLOB)', "VIEW {0} AS SELECT 1 AS a"])
def tables_stay(files, module, table, definition):
    """A table, or a view, that got the name of one of bloom's: kept by all, with its rows."""
    for how in "rebuild", "RENAME", "DROP":
        db = make(files, module)
        if error_of(db, "DROP TABLE " + table):
            db.execute("DROP VIEW " + table)
        db.execute("CREATE %s" % definition.format(table))
        if definition.startswith("TABLE"):
            db.execute("INSERT INTO %s DEFAULT VALUES" % table)
        kept = objects(db, [table])
        for in_transaction in False, True:
            db.execute("BEGIN") if in_transaction else None
            if how == "rebuild":
                error = error_of(db, "INSERT INTO f(f) VALUES ('rebuild')")
                assert error is not None
            elif how == "RENAME":
                assert error_of(db, "ALTER TABLE f RENAME TO g") is not None
            elif in_transaction:
                db.execute("DROP TABLE f")
            db.execute("COMMIT") if in_transaction else None
            expect(objects(db, [table]), kept)
            if definition.startswith("TABLE"):
                expect(one(db, "SELECT count(*) FROM " + table), 1)
        if how != "DROP":
            db.execute("DROP TABLE f")
        expect(sorted(column(db, "SELECT name FROM sqlite_master WHERE type IN ('table', 'view', 'trigger')")), sorted(["t", "other", table]))
        execute(db, "INSERT INTO t(k) VALUES ('goes on')", "DROP %s %s" % (definition.split()[0], table), "DROP TABLE t", "DROP TABLE other")
        db.close()


@test
def create_fails_and_drops_nothing(files):
    for module in MODULES:
        for table in "f_pages", "f_new", "f_state", "f_changed", "f_entries1":
            db = files.connect(":memory:")
            execute(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, k)", "CREATE TABLE %s(mine)" % table, "INSERT INTO %s VALUES (1)" % table,
                    "CREATE TABLE other(a)", 'CREATE TRIGGER f_after_insert AFTER INSERT ON other BEGIN INSERT INTO "f"(f) VALUES (\'merge\'); END')
            names = column(db, "SELECT name FROM sqlite_master")
            error = error_of(db, "CREATE VIRTUAL TABLE f USING %s(t, k)" % module)
            if error is None:
                db.execute("DROP TABLE f")
            expect(column(db, "SELECT name FROM sqlite_master"), names, str(error))
            expect(one(db, "SELECT mine FROM " + table), 1)
            db.close()


if __name__ == "__main__":
    sys.exit(main())
