"""What look-ups know of the schema: read again when it changes, at a low price, and then the whole truth.

Work is counted in instructions of SQLite's virtual machine, those of bloom's own statements included.
"""
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vtab"))
from cases import column, command, each, error_of, execute, expect, fill, instructions, main, note, one, test  # noqa: E402

ABSENT = {"f": "SELECT count(*) FROM f('absent')", "i": "SELECT count(*) FROM i WHERE k = 'absent'"}


def make(files, num_tables=0):
    db = files.connect()
    execute(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT)", "CREATE TABLE first(a)", "CREATE VIRTUAL TABLE f USING bloom(t, k)",
            "CREATE VIRTUAL TABLE i USING bloom_index(t, k)", "BEGIN", *("CREATE TABLE x%d(a)" % j for j in range(num_tables)), "COMMIT")
    fill(db, 2000)
    for each in "fi":
        command(db, each, "merge")
    return db


OTHERS = {"a table": "CREATE TABLE z(a)", "an index": "CREATE INDEX z ON first(a)", "a view": "CREATE VIEW z AS SELECT 1", "DROP": "DROP TABLE first", "a constraint": "CREATE TABLE z(a UNIQUE)"}


@each(OTHERS, "fi")
def others(files, sql, name):
    """After a change the look-up scans the schema twice: for triggers and tables of its own, and for the source."""
    steps, counts = [], (10, 510)
    for num_tables in counts:
        files.path = files.file("db%d" % num_tables)
        db = make(files, num_tables)
        one(db, ABSENT[name])
        db.execute(sql)
        took, found = instructions(db, ABSENT[name])
        expect(found, 0)
        steps.append(took)
        db.close()
    assert steps[1] - steps[0] <= 8 * (counts[1] - counts[0]), steps


@test
def views(files):
    """A look-up compiles no view: an authorizer is not asked for what is in one."""
    db = make(files)
    execute(db, "CREATE VIEW v AS SELECT a FROM first")
    db.close()
    for name in "fi":
        db, asked = files.connect(), []
        db.set_authorizer(lambda action, one, two, schema, within: asked.append((one, within)) or 0)
        expect(one(db, ABSENT[name]), 0)
        expect([each for each in asked if each[0] == "first" or each[1] == "v"], [])
        db.close()


@test
def vacuumed(files):
    """VACUUM gives rows without an INTEGER PRIMARY KEY other ids, and may leave the schema as it was."""
    db = files.connect()
    execute(db, "CREATE TABLE t(k)", "CREATE VIRTUAL TABLE i USING bloom_index(t, k)")
    fill(db, 5000)
    command(db, "i", "merge")
    canary = one(db, "SELECT rowid FROM i_canary")
    db.execute("VACUUM")  # no rowid is another yet, but those of the schema
    db.execute("UPDATE i_canary SET rowid = %d" % canary)
    rows = db.execute("SELECT rowid, name FROM sqlite_master").fetchall()
    db.execute("DELETE FROM t WHERE rowid % 2")
    one(db, ABSENT["i"])
    db.execute("VACUUM")
    expect(db.execute("SELECT rowid, name FROM sqlite_master").fetchall(), rows)
    for number in 2, 2500, 5000:
        expect(one(db, "SELECT count(*) FROM i WHERE k = 'key%d'" % number), 1, number)


# What changes between look-ups; %d is a number.
CHANGES = [
    "CREATE TABLE x%d(a)", "CREATE TABLE x%d(a UNIQUE, b UNIQUE)", "CREATE TABLE x%d(a INTEGER PRIMARY KEY AUTOINCREMENT)",
    "CREATE VIEW x%d AS SELECT 1", "CREATE VIRTUAL TABLE x%d USING bloom()", "CREATE INDEX xi%d ON first(a)", "DROP INDEX xi%d",
    "DROP TABLE x%d", "DROP VIEW x%d", "ALTER TABLE x%d RENAME TO y%d", "DROP TABLE y%d", "ALTER TABLE x%d ADD COLUMN c%d", "ANALYZE",
    "VACUUM", "CREATE TRIGGER x%d AFTER INSERT ON first BEGIN SELECT 1; END", "DROP TRIGGER x%d",
    "CREATE TRIGGER zt BEFORE INSERT ON f_new BEGIN SELECT RAISE(IGNORE); END", "DROP TRIGGER zt", "CREATE INDEX zi ON f_new(key)", "DROP INDEX zi",
    "CREATE TRIGGER zu AFTER INSERT ON t BEGIN SELECT RAISE(IGNORE); END", "DROP TRIGGER zu",
    "CREATE TRIGGER zv BEFORE INSERT ON i_changed BEGIN SELECT RAISE(IGNORE); END", "DROP TRIGGER zv",
    "ALTER TABLE t RENAME TO u", "ALTER TABLE u RENAME TO t", "CREATE TABLE u(k)", "DROP TABLE u", "ALTER TABLE t ADD COLUMN c%d",
    "CREATE INDEX ti%d ON t(k)", "DROP INDEX ti%d", "ROLLBACK TO s"]


def last_object(db):
    """A statement that drops the schema's last object, for its number is given to the next."""
    found = db.execute("SELECT type, name FROM sqlite_master ORDER BY rowid DESC LIMIT 1").fetchone()
    return "DROP %s %s" % found


def drawn(files, seed):
    """After changes at random a look-up answers like one of a connection that has never looked."""
    draw = random.Random(seed)
    db, fresh = make(files), files.connect()
    texts = column(db, "SELECT sql FROM sqlite_master WHERE type = 'trigger'")
    names = column(db, "SELECT name FROM sqlite_master WHERE type = 'trigger'")
    for turn in range(60):
        done = []
        in_transaction = draw.random() < .3
        if in_transaction:
            execute(db, "BEGIN", "SAVEPOINT s")
        for _ in range(draw.choice((1, 1, 2, 2, 3, 4))):
            number = draw.randrange(3)
            sql = draw.choice(CHANGES + [None] * 4 + texts[:2] + ["DROP TRIGGER " + draw.choice(names)])
            sql = last_object(db) if sql is None else sql.replace("%d", str(number))
            done.append((sql, error_of(db, sql) is None))
        if in_transaction:
            look(db, turn)
            db.execute(draw.choice(("COMMIT", "ROLLBACK")))
        look(db, turn)
        if error_of(db, "SELECT 1 FROM f, i") or error_of(db, "SELECT 1 FROM t"):
            break
        fresh.close()
        fresh = files.connect()
        expect(note(db), note(fresh), "turn %d: %s" % (turn, done))
        expect(one(db, "SELECT count(*) FROM i WHERE k = 'turn %d'" % turn), one(db, "SELECT count(*) FROM t WHERE k = 'turn %d'" % turn), str(done))
        if note(db) and draw.random() < .5:
            for each in "fi":
                error_of(db, "INSERT INTO %s(%s) VALUES ('rebuild')" % (each, each))
            look(db, turn)


def look(db, turn):
    """A new key, the row of which no index would read without a note."""
    error_of(db, "UPDATE t SET k = 'turn %d' WHERE id = %d" % (turn, turn))
    for name in "fi":
        error_of(db, ABSENT[name])


@each([0, 5, 10, 15])
def draws(files, first):
    for seed in range(first, first + 5):
        files.path = files.file("db%d" % seed)
        drawn(files, seed)


if __name__ == "__main__":
    sys.exit(main())
