"""Copies by tools that replay rows, as sqldiff does: filters and indexes of a file and its copy, each with a history of its own.

    python3 test/source/replays.py [--load ./bloom] [--seed N] [--worlds N] [--first N] [--show]

A world is a file A and its copy B. Both are written to and merged at random, and then made alike by the statements that
sqldiff prints: for each ordinary table, in the order of names, UPDATE, DELETE and INSERT by PRIMARY KEY or rowid. A statement
that fails is passed over, as `sqlite3 A` does; where it is one of the table's own, the world ends. Then, again and again:

- each key in the table may be in its filters, by look-up and by handle;
- each SELECT through the index has the table's rows.

--first is the number of the first world, and --show prints the history of the first one that fails. Prints notes, and `N passed, N failed` last.
"""
import os
import random
import shutil
import sqlite3
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../vtab"))
from cases import FOLDER, arguments, connect, sum_up

KEYS = ["k%d" % i for i in range(40)]
TEXTS = ["%s%d%s" % (a, i, b) for a in ("alpha", "beta") for i in range(8) for b in ("xyz", "qrs")]
TABLES = ("before", "it", "t", "zz")  # before, between and behind bloom's own
KINDS = ("id INTEGER PRIMARY KEY, k TEXT, s TEXT, n INTEGER", "id INTEGER UNIQUE, k TEXT, s TEXT, n INTEGER", "id INTEGER PRIMARY KEY, k TEXT COLLATE NOCASE, s TEXT, n REAL")


def literal(value):
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return "x'%s'" % value.hex()
    return repr(value) if isinstance(value, (int, float)) else "'%s'" % value.replace("'", "''")


def differences(a, b, left_out=()):
    """The statements that make the tables of a those of b."""
    for name, in a.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name NOT LIKE 'sqlite_%' ORDER BY name").fetchall():
        if name in left_out:
            continue
        columns = [(row[1], row[5]) for row in a.execute('PRAGMA table_info("%s")' % name)]
        primary = [column for column, is_key in columns if is_key] or ["rowid"]
        others = [column for column, is_key in columns if not is_key]
        shown = ", ".join('"%s"' % column if column != "rowid" else column for column in primary + others)
        rows = [{tuple(row[:len(primary)]): row[len(primary):] for row in db.execute('SELECT %s FROM "%s"' % (shown, name))} for db in (a, b)]
        for key in sorted(set(rows[0]) | set(rows[1])):
            where = " AND ".join("%s = %s" % (column, literal(value)) for column, value in zip(primary, key))
            if key not in rows[1]:
                yield 'DELETE FROM "%s" WHERE %s' % (name, where)
            elif key not in rows[0]:
                yield 'INSERT INTO "%s"(%s) VALUES (%s)' % (name, shown, ", ".join(map(literal, key + rows[1][key])))
            elif rows[0][key] != rows[1][key]:
                changed = ['"%s" = %s' % (column, literal(new)) for column, old, new in zip(others, rows[0][key], rows[1][key]) if (old, type(old)) != (new, type(new))]
                yield 'UPDATE "%s" SET %s WHERE %s' % (name, ", ".join(changed), where)


class World:
    def __init__(self, load, folder, seed):
        self.draw = random.Random(seed)
        self.load, self.log = load, []
        self.paths = [os.path.join(folder, name) for name in ("a", "b")]
        self.table = self.draw.choice(TABLES)
        self.is_of_two = self.draw.random() < 0.3
        db = self.open(0)
        self.run(db, "CREATE TABLE %s(%s)" % (self.table, self.draw.choice(KINDS)))
        self.write(db, 20)
        self.run(db, "CREATE VIRTUAL TABLE f USING bloom(%s, %s, capacity = 500)" % (self.table, "(k, n)" if self.is_of_two else "k"))
        self.run(db, "CREATE VIRTUAL TABLE i USING bloom_index(%s, k, s LIKE, n RANGE)" % self.table)
        self.history(db)
        db.close()
        shutil.copy(*self.paths)

    def open(self, number):
        return connect(self.paths[number], self.load)

    def run(self, db, sql):
        try:
            db.execute(sql)
            self.log.append(sql)
        except sqlite3.Error as error:
            self.log.append("%s -- %s" % (sql, error))
            return False
        return True

    def statement(self):
        draw = self.draw
        key, text, number, row = draw.choice(KEYS), draw.choice(TEXTS), draw.randint(0, 9), draw.randint(1, 60)
        return draw.choice((
            "INSERT INTO {t} VALUES (%d, '%s', '%s', %d)" % (row, key, text, number),
            "INSERT OR REPLACE INTO {t} VALUES (%d, '%s', '%s', %d)" % (row, key, text, number),
            "INSERT INTO {t}(k, s, n) VALUES ('%s', '%s', %d)" % (key, text, number),
            "UPDATE {t} SET k = '%s' WHERE id = %d" % (key, row),
            "UPDATE {t} SET s = '%s', n = %d WHERE id = %d" % (text, number, row),
            "UPDATE {t} SET k = '%s' WHERE id BETWEEN %d AND %d" % (key, row, row + 3),
            "DELETE FROM {t} WHERE id = %d" % row,
            "INSERT INTO {t}(k, s, n) SELECT '%s', '%s', %d FROM (VALUES (1), (2), (3))" % (key, text, number))).format(t=self.table)

    def write(self, db, count):
        for _ in range(count):
            self.run(db, self.statement())

    def history(self, *dbs):
        """Some statements and commands, those that all have in common among them."""
        for _ in range(self.draw.randint(0, 12)):
            one = self.draw.random()
            if one < 0.2:
                name, command = self.draw.choice("fi"), self.draw.choice(("merge", "merge", "merge=2", "merge=5", "rebuild"))
                sql = "INSERT INTO %s(%s) VALUES ('%s')" % (name, name, command)
            else:
                sql = self.statement() if one < 0.97 else "VACUUM"
            for db in dbs if self.draw.random() < 0.35 else [self.draw.choice(dbs)]:
                self.log.append("on %s:" % "ab"[dbs.index(db)])
                self.run(db, sql)

    def replay(self, source, target):
        self.log.append("replay")
        are_alike = True
        for sql in list(differences(target, source)):
            are_alike &= self.run(target, sql) or ' "%s" ' % self.table not in sql
        return are_alike

    def faults(self, db):
        """What is wrong, by 'filter' and 'index'."""
        found = {}
        rows = db.execute("SELECT id, k, s, n FROM %s ORDER BY id, k, s, n" % self.table).fetchall()
        for key, number in sorted({(row[1], row[3]) for row in rows}, key=repr):
            parts = ", ".join(map(literal, (key, number) if self.is_of_two else (key,)))
            for sql in "SELECT count(*) FROM f(%s)", "SELECT bloom_may_contain((SELECT handle FROM f), %s)" % ("bloom_tuple(%s)" if self.is_of_two else "%s"):
                if db.execute(sql % parts).fetchone()[0] != 1:
                    found.setdefault("filter", sql % parts)
        wanted = ["k = '%s'" % key for key in sorted({row[1] for row in rows})] + ["s LIKE '%%%s%%'" % text for text in sorted({row[2] for row in rows})] + \
            ["n = %d" % number for number in range(10)] + ["n BETWEEN 3 AND 5"]
        for where in wanted:
            of = [sorted(db.execute("SELECT id, k, s, n FROM %s WHERE %s" % (name, where)).fetchall(), key=repr) for name in (self.table, "i")]
            if of[0] != of[1]:
                found.setdefault("index", where)
        return found

    def play(self):
        """The module of which something is wrong, and what; None."""
        notes = [0, 0, 0]
        for _ in range(self.draw.randint(1, 4)):
            dbs = [self.open(0), self.open(1)]
            self.history(*dbs)
            for source in self.draw.choice(((0,), (1,), (0, 1))):
                self.log.append("-- to %s" % "ab"[1 - source])
                if not self.replay(dbs[source], dbs[1 - source]):
                    return {}, notes  # the table itself is another than it should be, and the tool says so
                for target in dbs[1 - source], self.open(1 - source):
                    try:
                        faults = self.faults(target)
                        notes[0] += 1
                        notes[1] += (target.execute("SELECT note FROM f").fetchone()[0] or "").startswith("every key")
                        notes[2] += target.execute("SELECT serves FROM bloom_index_info('i')").fetchone()[0] == 0
                    except sqlite3.DatabaseError as error:
                        if "damaged" not in str(error) and "malformed" not in str(error):
                            raise
                        return {}, notes  # said
                    if faults:
                        return faults, notes
            for db in dbs:
                db.close()
        return {}, notes


def indexed_and_its_copy(load, folder, table):
    """A database with a table of 5,000 rows and an index over it, and a copy of its file."""
    paths = [os.path.join(folder, table + name) for name in ("_a", "_b")]
    a = connect(paths[0], load)
    for sql in ("CREATE TABLE %s(id INTEGER PRIMARY KEY, k TEXT)", "INSERT INTO %s WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i, 'k' || i FROM n",
                "CREATE VIRTUAL TABLE i USING bloom_index(%s, k)"):
        a.execute(sql % table)
    a.close()
    shutil.copy(*paths)
    return [connect(path, load) for path in paths]


def notes_collide(load, folder):
    """A note of B, of a row that A changed, too, but had not merged before, has the rowid that a note of A had from a counter: the rows that the index misses."""
    a, b = indexed_and_its_copy(load, folder, "before")
    for db in a, b:
        db.execute("INSERT INTO before VALUES (5001, 'x')")
    b.execute("INSERT INTO i(i) VALUES ('merge')")
    for db in a, b:
        db.execute("UPDATE before SET k = 'v' WHERE id = 5001")
    b.execute("UPDATE before SET k = 'w' WHERE id = 5")
    for sql in list(differences(a, b)):
        try:
            a.execute(sql)
        except sqlite3.Error:
            pass
    missed = [key for key in ("v", "w", "k7") if not a.execute("SELECT * FROM i WHERE k = ?", (key,)).fetchall()]
    # As after a dump, which numbers rows anew: a note's rowid is taken, and no write fails.
    for sql in "DELETE FROM i_changed", "INSERT INTO i_changed(rowid, id) VALUES (-10, 3), (-11, 4), (7, 5)", "UPDATE before SET k = 'y' WHERE id IN (9, 10)":
        a.execute(sql)
    return missed + [row for row in (9, 10) if a.execute("SELECT id FROM i WHERE k = 'y' AND id = ?", (row,)).fetchall() != [(row,)]]


def notes_left_out(load, folder):
    """Without i_changed a merged note of A is gone, and what takes its place knows nothing of the row: 'integrity-check' tells, 'rebuild' repairs."""
    a, b = indexed_and_its_copy(load, folder, "t")
    for db in a, b:
        db.execute("UPDATE t SET k = 'v' WHERE id = 7")
    a.execute("INSERT INTO i(i) VALUES ('merge')")
    for sql in list(differences(a, b, ["i_changed"])):
        a.execute(sql)
    rows = [a.execute("SELECT id FROM i WHERE k = 'v'").fetchall()]
    try:
        a.execute("INSERT INTO i(i) VALUES ('integrity-check')")
        rows.append("passes")
    except sqlite3.Error as error:
        rows.append("misses" in str(error))
    a.execute("INSERT INTO i(i) VALUES ('rebuild')")
    rows.append(a.execute("SELECT id FROM i WHERE k = 'v'").fetchall())
    return [] if rows in ([[], True, [(7,)]], [[(7,)], "passes", [(7,)]]) else rows


def main():
    args = arguments(seed=5, worlds=100, first=0, show=False)
    failed, sums = {}, [0, 0, 0]
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        missed = [test(os.path.abspath(args.load), folder) for test in (notes_collide, notes_left_out)]
    for test in filter(None, missed):
        print("FAILED: notes: %s" % test)
    for number in range(args.first, args.worlds):
        folder = tempfile.mkdtemp(prefix="bloom-replays-", dir=FOLDER)
        try:
            world = World(os.path.abspath(args.load), folder, "%d, %d" % (args.seed, number))
            faults, notes = world.play()
        finally:
            shutil.rmtree(folder)
        sums = [a + b for a, b in zip(sums, notes)]
        for module, sql in faults.items():
            failed.setdefault(module, []).append(number)
            print("FAILED: world %d, %s: %s" % (number, module, sql))
            if args.show:
                print("\n".join(world.log))
                return 1
    print("note: of %d looks after a replay the filter was in doubt in %d, the index in %d" % tuple(sums))
    num_failed = len(set().union(*map(set, failed.values()))) if failed else 0
    num_failed += sum(map(bool, missed))
    return sum_up(args.worlds - args.first + len(missed) - num_failed, num_failed)


if __name__ == "__main__":
    sys.exit(main())
