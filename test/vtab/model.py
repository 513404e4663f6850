"""Drives random databases through all that can happen to a filter that stays up to date.

    python3 test/vtab/model.py [--load ./bloom] [--seed N] [--runs N] [--steps N] [--verbose]

Each run makes a database, a table of random columns, several filters that follow it and a
set of its own, and one or two connections that do what comes: statements of all kinds,
savepoints, commands, changes of the schema, closing and opening.  The model is SQLite
itself: whenever `SELECT ... WHERE column = value` finds a row, the filter must not miss
that value.  A run is repeated by its seed.
"""
import os
import random
import sqlite3
import sys
import tempfile

from cases import arguments, connect, draw, quoted, sum_up


class Missed(Exception):
    pass


TYPES = ["INTEGER", "TEXT", "REAL", "NUMERIC", "BLOB", "", "TEXT COLLATE NOCASE", "TEXT COLLATE RTRIM",
         "INT COLLATE NOCASE", "VARCHAR(9)"]
NAMES = ["k", "select", 'a "b" c', "größe", "x y", "it's", "rowid2", "[br]", "KEYS"]
EXPRESSIONS = ["lower({a})", "{a} || '/' || {b}", "coalesce({a}, {b})", "abs({b})", "{a} + 1",
               "CASE {a} WHEN '1' THEN 'one' ELSE {b} END", "{a} /* ) */ -- x"]
CONDITIONS = ["{a} = '1'", "{b} IN ('1', 2, 'ADA')", "{a} IS NOT NULL", "{b} > 2", "{a} = {b}", "typeof({a}) = 'text'",
              "{a} < 'b' OR {b} BETWEEN 1 AND '3'"]


class Run:
    def __init__(self, seed, options):
        self.random = random.Random(seed)
        self.options = options
        self.log = []
        self.folder = tempfile.mkdtemp(prefix="bloom-model-")
        self.path = os.path.join(self.folder, "db")
        self.filters = {}   # name -> (SQL of key, condition, is a column)
        self.sets = {}      # name -> committed keys
        self.connections = []
        self.open_sets = {}  # connection index -> list of (savepoint name or None, {set: keys})
        self.names = 0

    # -- Connections ---------------------------------------------------------------

    def connect(self):
        db = connect(self.path, self.options.load, timeout=0, cached_statements=self.random.choice([0, 128]))
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA recursive_triggers = %d" % self.random.randint(0, 1))
        db.execute("PRAGMA foreign_keys = 1")
        if self.random.random() < 0.3:
            db.execute("PRAGMA cache_size = 5")
        if self.random.random() < 0.3:
            db.execute("PRAGMA trusted_schema = 0")
        return db

    def do(self, i, sql, args=()):
        """Runs a statement on connection i; its rows, or None if it failed as it may."""
        self.log.append((i, sql, args))
        if self.options.verbose:
            print(i, sql, args, flush=True)
        db = self.connections[i]
        is_interrupted = self.random.random() < self.interrupts
        if is_interrupted:
            after = self.random.choice([10, 100, 1000])
            db.set_progress_handler(lambda: 1, after)
        try:
            return db.execute(sql, args).fetchall()
        except sqlite3.Error as error:
            message = str(error)
            self.log.append((i, "-- " + message, ()))
            if self.options.verbose:
                print("--", message, flush=True)
            if "damaged" in message or "no such table: main." in message or "malformed" in message:
                raise
            if not self.connections[i].in_transaction:
                self.savepoints[i] = []
                self.staged[i] = [{}]
            return None
        finally:
            if is_interrupted:
                db.set_progress_handler(None, 0)

    interrupts = 0

    # -- Values ---------------------------------------------------------------------

    def value(self):
        r = self.random
        return r.choice([
            lambda: r.randint(-3, 12), lambda: r.randint(-3, 12), lambda: str(r.randint(-3, 12)),
            lambda: r.choice(["ada", "ADA", "Ada ", "ada  ", "", " ", "é", "É", "a\0b", "A\0c", "x" * 300]),
            lambda: r.choice([1.0, 2.5, -0.0, 0.1, 1e20, 1e300, 9007199254740993.0, 0.1 + 0.2]),
            lambda: r.choice(["1.0", "01", " 1", "1 ", "+1", "2.50", "1e1", "0.1", ".1", "-0", "1e20",
                              "9007199254740993", "100000000000000000000", "0.3", "0x10", "1_0"]),
            lambda: r.choice([b"", b"1", b"ada", b"\0"]),
            lambda: r.choice([2**53 + 1, -2**63, 2**63 - 1]),
            lambda: "key%d" % r.randint(0, 300), lambda: "key%d" % r.randint(0, 300), lambda: r.randint(0, 10**6),
            lambda: None,
        ])()

    def name(self, base):
        self.names += 1
        return self.random.choice(["", 'q"', "sp ", "ü"]) + base + str(self.names)

    # -- What is there ----------------------------------------------------------------

    def start(self):
        r = self.random
        db = sqlite3.connect(self.path, isolation_level=None)
        db.execute("PRAGMA page_size = %d" % r.choice([512, 1024, 4096, 65536]))
        db.execute("PRAGMA encoding = '%s'" % r.choice(["UTF-8", "UTF-8", "UTF-16le"]))
        db.execute("PRAGMA journal_mode = %s" % r.choice(["WAL", "DELETE", "TRUNCATE"]))
        db.close()
        self.connections = [self.connect() for _ in range(r.choice([1, 1, 2]))]
        n = len(self.connections)
        self.savepoints = [[] for _ in range(n)]
        self.staged = [[{}] for _ in range(n)]
        self.table = self.name("t")
        columns = r.sample(NAMES, 4)
        self.columns = columns
        self.has_row = False
        definitions = []
        kind = r.choice(["rowid", "ipk", "without", "plain"])
        for j, column in enumerate(columns[:3]):
            definition = quoted(column) + " " + r.choice(TYPES)
            if j == 0 and kind == "ipk":
                definition = quoted(column) + " INTEGER PRIMARY KEY"
            if j == 0 and kind == "without":
                definition += " PRIMARY KEY"
            if j == 1 and r.random() < 0.3:
                definition += " UNIQUE ON CONFLICT " + r.choice(["ABORT", "REPLACE", "IGNORE", "FAIL", "ROLLBACK"])
            definitions.append(definition)
        if r.random() < 0.5:
            definitions.append("%s TEXT AS (%s || '!') %s" % (
                quoted(columns[3]), quoted(columns[r.randint(0, 2)]), r.choice(["STORED", "VIRTUAL"])))
        else:
            definitions.append(quoted(columns[3]) + " " + r.choice(TYPES))
            self.has_row = True
        self.num_written = 4 if self.has_row else 3
        self.do(0, "CREATE TABLE %s(%s)%s" % (quoted(self.table), ", ".join(definitions),
                                              " WITHOUT ROWID" if kind == "without" else ""))
        self.do(0, "CREATE TABLE other(x, y INTEGER, z TEXT COLLATE NOCASE)")
        if kind == "ipk" and r.random() < 0.5:
            # Its rows go with those of a parent.
            self.do(0, "CREATE TABLE child(c REFERENCES %s(%s) ON DELETE CASCADE ON UPDATE CASCADE)"
                    % (quoted(self.table), quoted(columns[0])))
            self.do(0, "CREATE VIRTUAL TABLE child_c USING bloom(child, c)")
            self.filters["child_c"] = ("child", "c", "1", True)
        for _ in range(r.randint(0, 20)):
            self.insert(0)
        for _ in range(r.randint(1, 3)):
            self.create_filter(0)
        if r.random() < 0.7:
            self.create_set(0)
        if r.random() < 0.4:
            # A newer trigger that keeps the row and stops all that come after.  With the
            # rowid as the key that is told to be beyond BEFORE triggers.
            if not any(f[1] == quoted(columns[0]) for f in self.filters.values()) or kind != "ipk":
                if all(f[3] and f[2] == "1" for f in self.filters.values()) and self.has_row:
                    self.do(0, "CREATE TRIGGER ignores AFTER INSERT ON %s WHEN random() %% 3 = 0 BEGIN SELECT RAISE(IGNORE); END"
                            % quoted(self.table))
                    self.has_ignore = True
        if r.random() < 0.3:
            self.do(0, "CREATE TRIGGER meddles BEFORE UPDATE ON %s WHEN random() %% 3 = 0 BEGIN UPDATE %s SET %s = old.%s || 'm' WHERE %s = old.%s; END"
                    % ((quoted(self.table),) * 2 + (quoted(columns[1]),) * 2 + (quoted(columns[0]),) * 2))

    has_ignore = False

    def create_filter(self, i):
        r = self.random
        name = self.name("f")
        a, b = (quoted(c) for c in r.sample(self.columns, 2))
        options = ""
        condition = "1"
        is_column = r.random() < 0.6
        key = a if is_column else r.choice(EXPRESSIONS).format(a=a, b=b)
        if r.random() < 0.3:
            condition = r.choice(CONDITIONS).format(a=a, b=b)
            options += ", where = '%s'" % condition.replace("'", "''")
        if self.has_ignore and (not is_column or condition != "1" or a == quoted(self.columns[0])):
            return
        if r.random() < 0.5:
            options += ", bits_per_key = %s" % r.choice(["5", "8.5", "20"])
        if r.random() < 0.3:
            options += ", capacity = %d" % r.choice([1, 100, 5000])
        rows = self.do(i, "CREATE VIRTUAL TABLE %s USING bloom(%s, %s\n%s)" % (quoted(name), quoted(self.table), key, options))
        if rows is not None:
            if key.endswith("-- x"):
                key += "\n"
            self.filters[name] = (self.table, key, condition, is_column)

    def create_set(self, i):
        name = self.name("s")
        sql = "CREATE VIRTUAL TABLE %s USING bloom(capacity = %d)" % (quoted(name), self.random.choice([1, 20, 1000]))
        if not self.connections[i].in_transaction and self.do(i, sql) is not None:
            self.sets[name] = set()

    # -- Steps ---------------------------------------------------------------------------

    def values(self):
        return [self.value() for _ in range(self.num_written)]

    def insert(self, i):
        r = self.random
        names = ", ".join(quoted(c) for c in self.columns[:self.num_written])
        verb = r.choice(["INSERT", "INSERT", "INSERT OR IGNORE", "INSERT OR REPLACE", "INSERT OR FAIL", "INSERT OR ROLLBACK", "REPLACE"])
        marks = ", ".join("?" * self.num_written)
        rows = r.choice([1, 1, 1, 3])
        sql = "%s INTO %s(%s) VALUES %s" % (verb, quoted(self.table), names, ", ".join(["(%s)" % marks] * rows))
        args = sum((self.values() for _ in range(rows)), [])
        if verb == "INSERT" and r.random() < 0.2:
            sql += " ON CONFLICT DO UPDATE SET %s = excluded.%s" % (quoted(self.columns[2]), quoted(self.columns[1])) \
                if sqlite3.sqlite_version_info >= (3, 35) else " ON CONFLICT DO NOTHING"
        self.do(i, sql, args)

    def bulk(self, i):
        n = self.random.choice([10, 60, 400])
        names = ", ".join(quoted(c) for c in self.columns[:self.num_written])
        self.do(i, "INSERT OR IGNORE INTO %s(%s) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
                   " SELECT %s FROM n" % (quoted(self.table), names, n, ", ".join(self.random.choice(
                       ["'key' || i", "i", "i + 1000", "NULL", "abs(random() % 1000)", "i / 2.0", "hex(i)"])
                       for _ in range(self.num_written))))

    def update(self, i):
        r = self.random
        column = quoted(self.columns[r.randint(0, self.num_written - 1)])
        verb = r.choice(["UPDATE", "UPDATE", "UPDATE OR IGNORE", "UPDATE OR REPLACE", "UPDATE OR FAIL"])
        value, args = r.choice([("?", [self.value()]), (quoted(self.columns[1]), []), ("upper(%s)" % column, []),
                                (column + " + 1", []), ("NULL", [])])
        where, more = self.where()
        self.do(i, "%s %s SET %s = %s WHERE %s" % (verb, quoted(self.table), column, value, where), args + more)

    def where(self):
        r = self.random
        column = quoted(r.choice(self.columns))
        return r.choice([(column + " = ?", [self.value()]), (column + " > ?", [self.value()]),
                         ("random() % 10 = 0", []), ("random() % 2 = 0", [])])

    def delete(self, i):
        where, args = self.where()
        if self.random.random() < 0.05:
            where, args = "1", []
        self.do(i, "DELETE FROM %s WHERE %s" % (quoted(self.table), where), args)

    def child(self, i):
        if "child_c" in self.filters:
            self.do(i, "INSERT INTO child SELECT %s FROM %s ORDER BY random() LIMIT 3" % (quoted(self.columns[0]), quoted(self.table)))

    def add_to_set(self, i):
        for name in list(self.sets)[:1]:
            keys = ["key%d" % self.random.randint(0, 10**9) for _ in range(self.random.choice([1, 3, 30, 200]))]
            if self.do(i, "INSERT INTO %s(key) VALUES %s" % (quoted(name), ", ".join(["(?)"] * len(keys))), keys) is not None:
                if self.connections[i].in_transaction:
                    self.staged[i][-1].setdefault(name, []).extend(keys)
                else:
                    self.sets[name].update(keys)

    def transaction(self, i):
        r = self.random
        db = self.connections[i]
        if not db.in_transaction:
            if r.random() < 0.5:
                self.do(i, r.choice(["BEGIN", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"]))
                self.savepoints[i], self.staged[i] = [], [{}]
            else:
                self.savepoint(i)
            return
        choice = r.random()
        if choice < 0.25:
            if self.do(i, "COMMIT") is not None:
                self.commit(i)
        elif choice < 0.35:
            self.do(i, "ROLLBACK")
            self.savepoints[i], self.staged[i] = [], [{}]
        elif choice < 0.6 or not self.savepoints[i]:
            self.savepoint(i)
        elif choice < 0.85:
            depth = r.randrange(len(self.savepoints[i]))
            if self.do(i, "ROLLBACK TO s%d" % self.savepoints[i][depth]) is not None:
                del self.savepoints[i][depth + 1:]
                del self.staged[i][depth + 1:]
                self.staged[i].append({})
        else:
            depth = r.randrange(len(self.savepoints[i]))
            if self.do(i, "RELEASE s%d" % self.savepoints[i][depth]) is not None:
                del self.savepoints[i][depth:]
                merged = self.staged[i][depth]
                for later in self.staged[i][depth + 1:]:
                    for name, keys in later.items():
                        merged.setdefault(name, []).extend(keys)
                del self.staged[i][depth + 1:]
                if not db.in_transaction:
                    self.commit(i)

    def savepoint(self, i):
        self.names += 1
        fresh = not self.connections[i].in_transaction
        if self.do(i, "SAVEPOINT s%d" % self.names) is not None:
            if fresh:
                self.savepoints[i], self.staged[i] = [], [{}]
            self.savepoints[i].append(self.names)
            self.staged[i].append({})

    def commit(self, i):
        for level in self.staged[i]:
            for name, keys in level.items():
                if name in self.sets:
                    self.sets[name].update(keys)
        self.savepoints[i], self.staged[i] = [], [{}]

    def command(self, i):
        name = self.random.choice(list(self.filters) or [None])
        if name:
            command = self.random.choice(["rebuild", "rebuild", "integrity-check"])
            message = self.log[-1]
            if self.do(i, "INSERT INTO %s(%s) VALUES ('%s')" % (quoted(name), quoted(name), command)) is None:
                if "misses" in self.log[-1][1]:
                    raise Missed(self.log[-1][1])

    def schema(self, i):
        """Changes the schema, in or out of a transaction."""
        r = self.random
        choice = r.random()
        self.names += 1
        others = len(self.connections) > 1 or self.connections[i].in_transaction
        if choice < 0.3:
            self.do(i, "ALTER TABLE other ADD COLUMN c%d" % self.names)
        elif choice < 0.4:
            self.do(i, "CREATE TABLE more%d(x)" % self.names)
        elif others:
            return  # names, as the model has them, are for those who are alone
        elif choice < 0.6:
            old = r.choice(list(self.filters) or [None])
            if old:
                new = self.name("r")
                if self.do(i, "ALTER TABLE %s RENAME TO %s" % (quoted(old), quoted(new))) is not None:
                    self.filters[new] = self.filters.pop(old)
        elif choice < 0.7 and len(self.filters) > 1:
            old = r.choice(list(self.filters))
            if self.do(i, "DROP TABLE %s" % quoted(old)) is not None:
                del self.filters[old]
        elif choice < 0.8 and len(self.filters) < 5:
            self.create_filter(i)
        elif choice < 0.9:
            new = self.name("t")
            if "child_c" in self.filters:
                return
            if self.do(i, "ALTER TABLE %s RENAME TO %s" % (quoted(self.table), quoted(new))) is not None:
                old, self.table = self.table, new
                for name, (table, *rest) in self.filters.items():
                    if table == old:
                        self.filters[name] = (new, *rest)
        else:
            self.do(i, "VACUUM")

    def rename_and_roll_back(self, i):
        """Renames within a transaction that is rolled back, wholly or in part."""
        if self.connections[i].in_transaction or not self.filters:
            return
        old = self.random.choice(list(self.filters))
        self.do(i, "BEGIN")
        if not self.connections[i].in_transaction:
            return
        if self.random.random() < 0.7:
            self.insert(i)
        if not self.connections[i].in_transaction:
            return
        self.do(i, "SAVEPOINT r")
        if self.random.random() < 0.5:
            self.insert(i)
        if self.connections[i].in_transaction:
            self.do(i, self.random.choice(["ALTER TABLE %s RENAME TO renamed", "DROP TABLE %s"]) % quoted(old))
        if self.connections[i].in_transaction:
            self.do(i, "ROLLBACK TO r")
        if self.random.random() < 0.7 and self.connections[i].in_transaction:
            self.insert(i)
        if self.connections[i].in_transaction and self.do(i, self.random.choice(["COMMIT", "ROLLBACK"])) is None:
            self.do(i, "ROLLBACK")

    def fill_disk(self, i):
        """Leaves room for a few pages, or for all again."""
        if self.random.random() < 0.5:
            self.do(i, "PRAGMA max_page_count = 1000000000")
            return
        rows = self.do(i, "PRAGMA page_count")
        if rows:
            self.do(i, "PRAGMA max_page_count = %d" % (rows[0][0] + self.random.randint(0, 4)))

    def reopen(self, i):
        if any(db.in_transaction for db in self.connections):
            return
        self.connections[i].close()
        self.connections[i] = self.connect()

    # -- Looking ---------------------------------------------------------------------------

    def check(self, i):
        r = self.random
        for name, (table, key, condition, is_column) in list(self.filters.items()):
            f, t = quoted(name), quoted(table)
            rows = self.do(i, "SELECT count(*) FROM %s WHERE (%s) AND (%s\n) IS NOT NULL AND NOT EXISTS"
                              " (SELECT 1 FROM %s AS f WHERE f.key = (%s\n) COLLATE BINARY)" % (t, condition, key, f, key))
            if rows is not None and rows[0][0] != 0:
                raise Missed("%s misses %d rows of (%s) of %s" % (name, rows[0][0], key, table))
            rows = self.do(i, "SELECT count(*) FROM %s WHERE (%s) AND (%s\n) IS NOT NULL"
                              " AND bloom_may_contain((SELECT handle FROM %s), (%s\n)) IS NOT 1" % (t, condition, key, f, key))
            if rows is not None and rows[0][0] != 0:
                raise Missed("handle of %s misses %d rows of (%s) of %s" % (name, rows[0][0], key, table))
            if not is_column:
                continue
            for _ in range(3):
                value = self.value()
                there = self.do(i, "SELECT count(*) FROM %s WHERE (%s) AND %s = ?" % (t, condition, key), [value])
                found = self.do(i, "SELECT count(*) FROM %s(?)" % f, [value])
                by_handle = self.do(i, "SELECT bloom_may_contain((SELECT handle FROM %s), ?)" % f, [value])
                if found and by_handle and value is not None and found != by_handle:
                    raise Missed("%s and its handle differ about %r" % (name, value))
                if there and found and there[0][0] and not found[0][0]:
                    raise Missed("%s misses %r, which %s = finds in %s" % (name, value, key, table))
            # Columns of other tables, compared with their own affinities.
            value = self.value()
            for column in ("x", "y", "z"):
                rows = self.do(i, "SELECT count(*) FROM (SELECT CAST(? AS INTEGER) AS one) JOIN %s AS t ON (%s)"
                                  " JOIN (SELECT x, y, z FROM other) AS o ON t.%s = o.%s"
                                  " WHERE NOT EXISTS (SELECT 1 FROM %s AS f WHERE f.key = +o.%s)"
                               % (t, condition, key, column, f, column), [1])
                if rows is not None and rows[0][0] != 0:
                    shown = self.do(i, "SELECT t.%s, typeof(t.%s), o.%s, typeof(o.%s) FROM %s AS t JOIN other AS o ON t.%s = o.%s"
                                       " WHERE NOT EXISTS (SELECT 1 FROM %s AS f WHERE f.key = +o.%s)"
                                    % (key, key, column, column, t, key, column, f, column))
                    raise Missed("%s misses what joins %s with other.%s: %r" % (name, key, column, shown[:5]))
        for name, keys in self.sets.items():
            if self.connections[i].in_transaction and len(self.connections) > 1:
                continue  # it may see an older state than the other committed
            here = set(keys)
            for level in self.staged[i]:
                here.update(level.get(name, []))
            for key in r.sample(sorted(here), min(50, len(here))):
                rows = self.do(i, "SELECT count(*) FROM %s(?)" % quoted(name), [key])
                if rows is not None and rows[0][0] == 0:
                    raise Missed("set %s misses %s" % (name, key))

    def run(self):
        self.start()
        r = self.random
        for _ in range(12):
            self.do(0, "INSERT INTO other(x, y, z) VALUES (?1, ?1, ?1)", [self.value()])
        steps = [self.insert] * 6 + [self.update] * 4 + [self.delete] * 2 + [self.bulk] * 2 + [self.transaction] * 5 \
            + [self.add_to_set] * 2 + [self.command] + [self.schema] + [self.rename_and_roll_back] + [self.reopen] \
            + [self.child] + [self.check] * 4
        if r.random() < 0.3:
            self.interrupts = 0.1
        if r.random() < 0.3:
            steps += [self.fill_disk] * 2
        for _ in range(self.options.steps):
            r.choice(steps)(r.randrange(len(self.connections)))
        self.interrupts = 0
        for i in range(len(self.connections)):
            if self.connections[i].in_transaction:
                if self.do(i, "COMMIT") is not None:
                    self.commit(i)
                else:
                    self.do(i, "ROLLBACK")
                    self.savepoints[i], self.staged[i] = [], [{}]
            self.check(i)
        for db in self.connections:
            db.close()
        self.connections = [self.connect()]
        self.savepoints, self.staged = [[]], [[{}]]
        self.check(0)
        for name in self.filters:
            if self.do(0, "INSERT INTO %s(%s) VALUES ('integrity-check')" % (quoted(name), quoted(name))) is None:
                raise Missed(self.log[-1][1])
        rows = self.do(0, "PRAGMA integrity_check")
        if rows != [("ok",)]:
            raise Missed("PRAGMA integrity_check: %r" % rows)
        self.connections[0].close()
        self.open_without_extension()
        for file in os.listdir(self.folder):
            os.remove(os.path.join(self.folder, file))
        os.rmdir(self.folder)

    def open_without_extension(self):
        """Reading the table needs nothing; writing says what is missing."""
        db = sqlite3.connect(self.path, isolation_level=None)
        db.execute("SELECT * FROM %s" % quoted(self.table)).fetchall()
        if self.filters:
            try:
                db.execute("DELETE FROM %s" % quoted(self.table))
                if any(table == self.table for table, *_ in self.filters.values()):
                    raise Missed("rows were deleted without the filter")
            except sqlite3.OperationalError as error:
                if "no such module: bloom" not in str(error):
                    raise
        db.close()


if __name__ == "__main__":
    options = arguments(runs=20, steps=120, verbose=False)
    sys.exit(sum_up(*draw(lambda seed, options: Run(seed, options).run(), options)))
