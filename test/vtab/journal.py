"""What look-ups know of the journal: kept as long as it is true, and no longer.

Work is counted in instructions of SQLite's virtual machine, those of bloom's own statements included.
"""
import shutil
import sqlite3
import subprocess
import sys

from cases import (Skip, case, column, command, each, execute, expect, fill, filtered, instructions, is_uncertain, is_whole, main,
                   no_false_negative, one, rebuild_makes_it_whole, test, without_chain)

NUM_KEYS = 5000
MOST = 20  # times a usual look-up
ABSENT = "SELECT count(*) FROM f('absent')"


def unmerged(files, **options):
    db = filtered(files, "t, k, capacity = 20000", columns="id INTEGER PRIMARY KEY, k TEXT", journal_mode="WAL", **options)
    fill(db, NUM_KEYS)
    return db


MERGE, INSERT = "INSERT INTO f(f) VALUES ('merge=100')", "INSERT INTO t(k) VALUES ('late {}')"


@each({
    "a merge": (MERGE,), "an INSERT": (INSERT,), "INSERT, look-up": (INSERT, "look"),
    "INSERT, look-up, ROLLBACK": ("BEGIN", INSERT, "look", "ROLLBACK"),
    "INSERT, look-up, ROLLBACK TO": ("SAVEPOINT s", INSERT, "look", "ROLLBACK TO s", "ROLLBACK"),
    "a merge, INSERT, look-up, ROLLBACK": ("BEGIN", MERGE, INSERT, "look", "ROLLBACK"),
    "a merge, then INSERT, look-up, ROLLBACK": (MERGE, "BEGIN", INSERT, "look", "ROLLBACK"),
    "many INSERTs and look-ups, ROLLBACK": ("BEGIN", *([INSERT, "look"] * 50), "ROLLBACK")})
def after(files, *what):
    """The first look-up of each connection after something that leaves most of the journal as it was."""
    db = unmerged(files)
    other = files.connect()
    for each in db, other:
        one(each, ABSENT)
    usual = [instructions(each, ABSENT)[0] for each in (db, other)]
    for turn in range(6):
        for sql in what:
            if sql == "look":
                expect(one(db, "SELECT count(*) FROM f('late %d')" % turn), 1)
            else:
                db.execute(sql.replace("{}", str(turn)))
        for each, steps in zip((db, other), usual):
            took, found = instructions(each, ABSENT)
            expect(found, 0)
            assert took <= MOST * steps, "%d instructions, usually %d" % (took, steps)
            if "ROLLBACK" in what:
                expect(one(each, "SELECT count(*) FROM f('late %d')" % turn), 0, "a key that ROLLBACK took")
    is_whole(db)
    is_whole(other)


@each([(), (MERGE,), (MERGE, "VACUUM")])
def taken_back(files, *before):
    """A look-up between a merge and its ROLLBACK knows none of the rows that come back, and the next one does."""
    execute(unmerged(files), *before)
    db = files.connect()
    for command_ in "merge=3000", "merge":
        execute(db, "BEGIN", "INSERT INTO f(f) VALUES ('%s')" % command_)
        expect(one(db, ABSENT), 0)
        db.execute("ROLLBACK")
        is_whole(db)


@test
def by_turns(files):
    """In one transaction: each look-up reads the few rows that are new to it, not the journal."""
    db = unmerged(files)
    one(db, ABSENT)
    usual = instructions(db, ABSENT)[0]
    db.execute("BEGIN")
    steps = []
    for i in range(100):
        took, found = instructions(db, "SELECT count(*) FROM f('turn %d')" % i)
        expect(found, 0)
        steps.append(took)
        db.execute("INSERT INTO t(k) VALUES ('turn %d')" % i)
    assert sum(steps) <= 100 * (usual + 30), "%d instructions a look-up, usually %d" % (sum(steps) // 100, usual)
    db.execute("COMMIT")
    is_whole(db)


@test
def temporary_tables(files):
    """Where only TEMP has another schema, the schema of the filter's file is not read again, of however many tables."""
    steps = []
    for num_tables in 10, 500:
        db = files.connect(":memory:")
        execute(db, "CREATE TABLE t(k TEXT)", "CREATE VIRTUAL TABLE f USING bloom(t, k)", *("CREATE TABLE t%d(a)" % i for i in range(num_tables)))
        one(db, ABSENT)
        db.execute("CREATE TEMP TABLE other(a)")
        steps.append(instructions(db, ABSENT)[0])
        db.execute("CREATE TEMP TRIGGER mine AFTER INSERT ON f_new BEGIN SELECT 1; END")
        expect(one(db, ABSENT), 1)
        db.execute("DROP TRIGGER mine")
        expect(one(db, ABSENT), 0)
        db.execute("DROP TRIGGER f_before_insert")
        db.execute("CREATE TEMP TABLE another(a)")
        expect(one(db, ABSENT), 1)
        db.close()
    assert steps[1] <= 2 * steps[0], steps


@test
def a_merge_keeps_rowids(files):
    """Nothing that came later gets the rowid of a row that was merged."""
    db = filtered(files)
    last = one(db, "SELECT max(rowid) FROM f_new")
    for turn in range(4):
        fill(db, 3, "turn %d " % turn)
        command(db, "f", "merge" if turn % 2 else "merge=2")
        expect(one(db, "SELECT max(rowid) FROM f_new"), last + 3)
        last += 3
        db.execute("BEGIN")
        fill(db, 1, "gone")
        db.execute("ROLLBACK")
    is_whole(db)


@each(["= 7", "IN (2, 3)", "BETWEEN 5 AND 19"])
def rows_are_missing(files, where):
    """Rows go and come one after the other: where one is missing, every key may be in the filter."""
    db = filtered(files, rows=10)
    fill(db, 20, "new")
    db.execute("DELETE FROM f_new WHERE rowid " + where)
    other = files.connect()
    is_uncertain(other)
    assert "its journal does not have the rows that its triggers wrote" in one(other, "SELECT note FROM f")
    rebuild_makes_it_whole(other)
    is_whole(db)


@each(["before", "later"], ["", "a", "b", "ab"])
def replayed(files, table, merged):
    """A and its copy B: 'merge' on A, rows in B, sqldiff's statements on A, which have B's rows with their rowids, by the tables' names."""
    if shutil.which("sqldiff") is None:
        raise Skip("sqldiff (Debian: sqlite3-tools)")
    a = filtered(files, columns="id INTEGER PRIMARY KEY, k TEXT", rows=None)
    a.execute("ALTER TABLE t RENAME TO " + table)
    fill(a, 20, table=table + "(k)")
    command(a, "f", "merge")
    fill(a, 20, "unmerged", table + "(k)")
    a.close()
    shutil.copy(files.path, files.file("b"))
    a, b = files.connect(), files.connect(files.file("b"))
    for name in merged:
        command(a if name == "a" else b, "f", "merge")
    fill(b, 5, "of b ", table + "(k)")
    b.execute("UPDATE %s SET k = 'changed' WHERE id = 3" % table)
    a.close()
    b.close()
    done = subprocess.run(["sqldiff", files.path, files.file("b")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    a = files.connect()
    for sql in done.stdout.split(";\n"):
        try:
            a.execute(sql)
        except Exception:  # sqldiff's user goes on: a row is there already
            pass
    a.close() if a.in_transaction else None
    a = files.connect()
    expect(*(sorted(column(db, "SELECT k FROM " + table)) for db in (a, files.connect(files.file("b")))))
    no_false_negative(a, "SELECT k FROM " + table)


# -- Who writes ---------------------------------------------------------------------------------------------

ARGS = {"a column": ("t, k", "SELECT k FROM t"), "columns": ("t, (k, n)", "SELECT bloom_tuple(k, n) AS k FROM t")}
COLUMNS = "id INTEGER PRIMARY KEY, k TEXT, n INTEGER, other"


@each({name: args for name, (args, _) in ARGS.items()})
def of_other_columns(files, args):
    """An UPDATE of a column that the filter does not have runs no trigger, nor does one of the rowid."""
    db = filtered(files, args, columns=COLUMNS)
    fill(db, 10)
    for sql in "UPDATE t SET other = 1", "UPDATE t SET id = id + 100", "UPDATE t SET rowid = rowid + 100, other = 2", "INSERT INTO t(id, k, n) VALUES (201, 'x', 1) ON CONFLICT DO UPDATE SET other = 3":
        programs = [row for row in db.execute("EXPLAIN " + sql) if row[1] == "Program"]
        expect(len(programs), int(sql.startswith("INSERT")), sql)  # INSERT has its own


@each(ARGS)
def of_its_columns(files, args, keys):
    """However a statement sets a column of the filter, its trigger hears of it."""
    db = filtered(files, args, columns=COLUMNS + ", UNIQUE (k, n)")
    execute(db, "PRAGMA foreign_keys = ON", "CREATE TABLE parent(p PRIMARY KEY)", "INSERT INTO parent VALUES ('a'), ('b')",
            'CREATE TABLE child(id INTEGER PRIMARY KEY, "x y" TEXT REFERENCES parent ON UPDATE CASCADE ON DELETE SET NULL, n)',
            'CREATE VIRTUAL TABLE g USING bloom(child, "x y")', "CREATE TABLE source(id, k, n)", "INSERT INTO source VALUES (1, 'from', 50), (2, 'from too', 60)")
    fill(db, 10)
    execute(db, "INSERT INTO child(\"x y\", n) VALUES ('a', 1), ('b', 2)", "CREATE TABLE log(x)",
            "CREATE TRIGGER changes AFTER UPDATE OF other ON t BEGIN UPDATE t SET k = 'by a trigger ' || new.id WHERE id = new.id; END",
            "CREATE TRIGGER earlier BEFORE UPDATE OF other ON t BEGIN UPDATE t SET n = 1000 + new.other WHERE id = new.id; END")
    for sql in ("UPDATE t SET k = 'set' WHERE id = 1", "UPDATE t SET (other, k) = (1, 'by row') WHERE id = 2", "UPDATE t SET K = 'case', n = 3 WHERE id = 3", 'UPDATE t SET "k" = NULL WHERE id = 4',
                "UPDATE t SET k = 'again', \"n\" = 7 WHERE id = 4", "UPDATE t SET other = 9 WHERE id = 5", "UPDATE OR REPLACE t SET k = 'set', n = 8 WHERE id IN (6, 7)",
                "INSERT INTO t(id, k, n) VALUES (8, 'x', 1) ON CONFLICT DO UPDATE SET k = 'upsert ' || excluded.k, n = 5", "REPLACE INTO t(id, k, n) VALUES (9, 'replaced', 9)",
                "UPDATE t SET k = source.k, n = source.n FROM source WHERE t.id = source.id", "UPDATE t SET n = n + 1", "UPDATE parent SET p = 'cascade' WHERE p = 'a'", "DELETE FROM parent WHERE p = 'b'",
                'ALTER TABLE child RENAME COLUMN "x y" TO "z"', "UPDATE parent SET p = 'later'", "ALTER TABLE child RENAME TO kid", "UPDATE parent SET p = 'last'",
                "ALTER TABLE t RENAME COLUMN k TO key", "UPDATE t SET key = 'renamed ' || id"):
        if " FROM source" in sql and sqlite3.sqlite_version_info < (3, 33):
            continue
        db.execute(sql)
        new_keys = keys.replace("SELECT k", "SELECT key AS k").replace("(k,", "(key,") if "key" in column(db, "SELECT name FROM pragma_table_info('t')") else keys
        no_false_negative(db, new_keys)
        kid, x = ("kid" if one(db, "SELECT count(*) FROM sqlite_master WHERE name = 'kid'") else "child"), one(db, "SELECT name FROM pragma_table_info('child') WHERE cid = 1 UNION ALL SELECT name FROM pragma_table_info('kid') WHERE cid = 1")
        no_false_negative(db, 'SELECT "%s" AS k FROM %s' % (x, kid), "g")
    is_whole(db, 'SELECT z AS k FROM kid', "g")


@each(ARGS)
def of_1_2_0(files, args, keys):
    """Triggers without OF are as certain; 'rebuild' makes those of now."""
    db = filtered(files, args, columns=COLUMNS)
    fill(db, 10)
    texts = column(db, "SELECT sql FROM sqlite_master WHERE type = 'trigger' ORDER BY rowid")
    writer = files.connect(load=False)
    without_chain(writer)
    writer.execute("UPDATE f_pages SET bytes = bytes")
    execute(db, "INSERT INTO t(k, n) VALUES ('new', 2)", "UPDATE t SET k = 'changed', n = 4 WHERE id < 4")
    is_whole(db, keys)
    command(db, "f", "merge")
    is_whole(db, keys)
    command(db, "f", "rebuild")
    is_whole(db, keys)
    expect(column(db, "SELECT sql FROM sqlite_master WHERE type = 'trigger' ORDER BY rowid"), texts)
    execute(db, "ALTER TABLE f RENAME TO g", "DROP TABLE g")
    expect(column(db, "SELECT name FROM sqlite_master WHERE type = 'trigger'"), [])


if __name__ == "__main__":
    sys.exit(main())
