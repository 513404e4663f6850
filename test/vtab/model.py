"""Random worlds in which users do what users do, and a filter that stays up to date must miss no key.

    python3 test/vtab/model.py [--load ./bloom] [--seed N] [--statements N] [--world N] [--verbose]

A world is a database of one file: a table with a child that refers to it, and to itself; filters over
columns and tuples; triggers of the user's, TEMP, older and newer than the filters; one to three
connections, some of them without bloom. They send what comes. The oracle is SQLite: each key that `=`
finds in the source is in the filter, by FROM f(?), by key = ? and by a handle, at any moment, in triggers
and within statements too; and while nothing is uncertain absent keys are mostly ruled out. --world N
plays that world again and --verbose prints it as a script.
"""
import os
import random
import re
import shutil
import sqlite3
import sys
import tempfile
import time

from cases import FOLDER, arguments, as_sql, connect, literal, quoted

TYPES = ["INTEGER", "TEXT", "REAL", "NUMERIC", "BLOB", "", "TEXT COLLATE NOCASE", "TEXT COLLATE RTRIM",
         "INT COLLATE NOCASE", "VARCHAR(9)"]
STRICT_TYPES = ["INT", "INTEGER", "REAL", "TEXT", "BLOB", "ANY", "TEXT COLLATE NOCASE", "ANY COLLATE RTRIM"]
NAMES = ["k", "select", 'a "b" c', "größe", "x y", "it's", "[br]", "KEYS", "new", "old", "lower", "key", "random", "r"]
TABLES = ["t", "new", "old", 'a "t"', "größen", "order", "it's"]
VALUES = [None, None, None, None, 0, 1, 7, -2, 10, 2**53 + 1, 2**63 - 1, -2**63, 0.0, -0.0, 1.0, 7.5, 1e18, 1e300, float("inf"),
          "", "1", "01", "7", "7.0", " 7", "7 ", "7.5", "1e1", "a", "A", "a ", "ada", "ADA", "Ada  ", "x'31'", "größe", "GRÖSSE",
          "0x10", "1e999", "12e3456", "1e300", "1.0e+300", "9007199254740993", "9223372036854775808", "a\0b", b"", b"1", b"7", b"a", b"A", b"\xff", "k1", "k2", "K3"]
# Of keys that come from nowhere else: that OR REPLACE stores one is to be seen.
DEFAULTS = ["", "", "", " DEFAULT 4711", " DEFAULT 'By default'", " DEFAULT '0815'", " DEFAULT NULL", " DEFAULT 99.0", " DEFAULT x'd0'", " DEFAULT -333", " DEFAULT (NULL)"]
# What may go wrong. Whatever else a statement says is a fault; so is an error of bloom's own from a write to a source.
EXPECTED = re.compile(
    r"^constraint failed$|UNIQUE constraint|FOREIGN KEY|NOT NULL constraint|CHECK constraint|datatype mismatch|cannot store|is locked|is busy|interrupted|is full"
    r"|^no: |database schema has changed|foreign key mismatch|levels of trigger recursion|nested too deep|abort due to ROLLBACK|no such savepoint|cannot VACUUM|in progress|within a transaction"
    r"|no transaction|user-defined function raised|error in trigger tr_|columns? (specified )?in (view|trigger) tr_|another row available|cannot release|^unable to open database: $"
    r"|integer overflow|string or blob too big|ON CONFLICT clause does not match|string|callback requested|no such trigger: tr_")
REFUSED = re.compile(r"bloom: .*(while another statement of this connection writes|every key may be in it|if its table or column was renamed, drop|so 'merge=N' cannot repair)")
UNCERTAIN = "every key"


class Lost(Exception):
    """A filter denies a key, or a write failed for a filter's sake."""


class Over(Lost):
    """A statement within another one took the transaction back.  SQLite goes on with the other one, and loses a part of
    it, or even damages the file: so it does where plain triggers copy keys into a plain table, without bloom."""


class Filter:
    def __init__(self, table, columns, of_create):
        self.table, self.columns = table, columns  # the parts in the world's names: "t", ["k"]
        self.of_create = of_create                 # the names that CREATE was given, for 'rebuild' after all triggers are gone


class World:
    def __init__(self, seed, options):
        self.seed, self.options = seed, options
        self.random = r = random.Random(seed)
        self.num_statements = self.num_absent = self.num_maybe = self.num_found = 0
        self.log = []
        self.folder = tempfile.mkdtemp(prefix="bloom-model-", dir=FOLDER)
        self.path = os.path.join(self.folder, "db")
        self.names = {"t": r.choice(TABLES), "c": "child"}
        self.columns = {}       # "t" -> {part: name}, parts in the order of the table
        self.definitions = {}   # "t" -> the CREATE TABLE's text with {table} and {part}
        self.filters = {}       # name -> Filter
        self.dropped = set()    # filters that triggers of the user's may still name
        self.triggers = 0
        self.fresh = 0
        self.held = []          # statements that run: (connection, cursor)
        self.stopped = set()  # tables with a TEMP trigger that may hide a tuple from the filter's
        self.has_temp_triggers = False  # other connections' renames do not reach them
        self.depth = 0          # of statements within statements
        self.lost = None
        self.interrupts = 0
        self.names_all = r.random() < 0.3  # INSERTs leave no column to its DEFAULT
        self.is_strict = r.random() < 0.15 and sqlite3.sqlite_version_info >= (3, 37)
        self.is_shared = r.random() < 0.1
        self.meddles = r.random() < 0.15
        self.journal_mode = r.choice(["WAL", "WAL", "DELETE", "MEMORY", "TRUNCATE"])
        # Who writes needs no bloom: but a trigger of the user's that calls it does, so those worlds have it everywhere.
        self.has_bloom = [True] + [r.random() < 0.6 for _ in range(r.choice([0, 0, 1, 1, 2]))]
        self.connections = [self.connect(i) for i in range(len(self.has_bloom))]

    # -- Connections and statements ------------------------------------------------------------------

    def connect(self, i):
        r = self.random
        options = {"timeout": 0, "cached_statements": r.choice([0, 128])}
        path = self.path
        if self.is_shared:
            path, options["uri"] = "file:%s?cache=shared" % self.path, True
        db = connect(path, self.options.load if self.has_bloom[i] else None, **options)
        for pragma in ("synchronous = OFF", "journal_mode = " + self.journal_mode, "recursive_triggers = %d" % r.randint(0, 1),
                       "foreign_keys = %d" % (r.random() < 0.8), "trusted_schema = %d" % (self.meddles or r.random() < 0.8),
                       "cache_size = %d" % r.choice([5, -2000])):
            try:
                db.execute("PRAGMA " + pragma)
            except sqlite3.OperationalError as error:
                if "locked" not in str(error):
                    raise
        db.text_factory = lambda text: text.decode(errors="surrogateescape")
        db.create_function("meddle", 1, lambda value: self.meddle(i, value))
        return db

    def note(self, text):
        self.log.append(text)
        if self.options.verbose:
            print(text, flush=True)

    def do(self, i, sql, args=(), hold=False):
        """Runs SQL on connection i: its rows, or None where it failed as it may. hold: only its first step, and keeps it."""
        self.num_statements += 1
        self.note("/* %d%s */ %s" % (i, " within" * self.depth, as_sql(sql, args)))
        db = self.connections[i]
        if not self.depth:
            ticks = 1 if self.random.random() < self.interrupts else 3000
            every = self.random.choice([30, 300, 3000]) if ticks == 1 else 1000
            left = [ticks]

            def tick():  # also ends triggers that call each other for ever
                left[0] -= 1
                return left[0] < 0
            db.set_progress_handler(tick, every)
        try:
            cursor = db.execute(sql, args)
            if hold:
                self.held.append((i, cursor))
                return []
            return cursor.fetchall()
        except (sqlite3.Error, OverflowError) as error:
            text = str(error)
            self.note("-- " + text)
            if self.depth and ("OR ROLLBACK" in sql or re.search("no: rollback|interrupted|ROLLBACK", text)):
                raise Over(text)
            is_command = sql.startswith("CREATE VIRTUAL") or re.match(r"INSERT INTO (\"(?:[^\"]|\"\")+\")\(\1\)", sql)
            # Where reading the schema is interrupted, or meets a lock, SQLite itself may say so of what is there.
            columns = [name for each in self.columns.values() for name in each.values()]
            missing = re.sub("^no such (table|column): (main[.])?|^table .* has no column named ", "", text)
            is_locked_schema = missing != text and missing in [*self.names.values(), *self.filters, *self.dropped, "other", "log", *columns]
            is_stale_trigger = self.has_temp_triggers and re.search("no such (column|table): |has no column named", text)
            if EXPECTED.search(text) or is_locked_schema or is_stale_trigger or (REFUSED.search(text) and (is_command or self.has_commands_in_triggers)):
                self.error = text
                return None
            raise Lost("an error that nobody expects: %s: %s" % (text, as_sql(sql, args)))
        finally:
            if self.lost:
                raise self.lost

    def table(self, part):
        return quoted(self.names[part])

    def name(self, table, part):
        return quoted(self.columns[table][part])

    def value(self):
        r = self.random
        return r.choice(VALUES) if r.random() < 0.7 else r.choice([r.randint(0, 40), "key%d" % r.randint(0, 99), "Key%d" % r.randint(0, 40)])

    def new_name(self, prefix):
        self.fresh += 1
        return self.random.choice(["%s%d", '%s "%d"', "%s %d", "%s.%d"]) % (prefix, self.fresh)

    # -- The schema ------------------------------------------------------------------------------------

    def start(self):
        r = self.random
        names = r.sample(NAMES, 5)
        types = [r.choice(STRICT_TYPES if self.is_strict else TYPES) for _ in range(5)]
        columns = self.columns["t"] = {}
        parts = []
        key = r.choice(["unique", "unique", "plain", "plain", "primary", "without", "pair"])
        if key in ("unique", "plain"):
            columns["id"] = "id"
            parts.append("{id} INTEGER PRIMARY KEY" + r.choice(["", " AUTOINCREMENT", " DESC"] if not self.is_strict else [""]))
        for part, name, type_ in zip(["k", "a", "b", "p"], names, types):
            columns[part] = name
            text = "{%s} %s" % (part, type_)
            if part == "k" and key == "unique":
                text += " UNIQUE" + r.choice(["", " ON CONFLICT REPLACE", " ON CONFLICT IGNORE"])
            if part == "k" and key == "primary":
                text = "{k} %s PRIMARY KEY" % ("TEXT" if "INTEGER" in type_ else type_)
            if part == "k" and key == "without":
                text += " PRIMARY KEY"
            if part == "p" and key in ("unique", "primary", "without") and r.random() < 0.7:
                text = "{p} %s REFERENCES {table}({k}) ON UPDATE %s ON DELETE %s%s" % (
                    types[0], r.choice(["CASCADE", "CASCADE", "SET NULL", "SET DEFAULT"]),
                    r.choice(["CASCADE", "SET NULL", "SET DEFAULT"]), r.choice(["", " DEFERRABLE INITIALLY DEFERRED"]))
            default = r.choice(DEFAULTS)
            if not (self.is_strict and default.strip()):
                text += r.choice(["", " NOT NULL" if default and "NULL" not in default else ""]) + default
            parts.append(text)
        if r.random() < 0.2 and not self.is_strict:
            parts.append("{g} AS (coalesce({a}, 1) || 'g')" + r.choice(["", " STORED"]))
            columns["g"] = "generated"
        if r.random() < 0.2 or self.meddles:  # a CHECK runs between BEFORE triggers and the row's write
            parts.append("CHECK (%s IS NOT 'no check')" % ("meddle({b})" if self.meddles else "{b}"))
        if key == "pair":
            parts.append("PRIMARY KEY({a}, {k})")
        options = [each for each, wanted in (("WITHOUT ROWID", key in ("without", "pair")), ("STRICT", self.is_strict)) if wanted]
        self.definitions["t"] = "CREATE TABLE {table}(%s) %s" % (", ".join(parts), ", ".join(options))
        self.columns["c"] = {"id": "id", "k": "parent", "a": "v"}
        self.definitions["c"] = "CREATE TABLE {table}({id} INTEGER PRIMARY KEY, {k} %s%s%s, {a})" % (
            types[0].replace("ANY", ""), r.choice(DEFAULTS), " REFERENCES %s({parent}) ON UPDATE %s ON DELETE %s" % (
                self.table("t").replace("{", "{{"), r.choice(["CASCADE", "SET NULL", "SET DEFAULT"]), r.choice(["CASCADE", "SET NULL", "SET DEFAULT"]))
            if key in ("unique", "primary", "without") else "")
        for table in "t", "c":
            if self.do(0, self.definition(table)) is None:
                return False
        self.do(0, "CREATE TABLE log(x, y)")
        self.do(0, "CREATE TABLE other(x INTEGER, y TEXT, z, w REAL)")
        for _ in range(8):
            self.do(0, "INSERT INTO other VALUES (?1, ?1, ?1, ?1)", [self.value()])
        if key not in ("primary", "without") and r.random() < 0.3:
            self.do(0, "CREATE INDEX i ON %s(%s)" % (self.table("t"), self.name("t", "a")))
        self.has_commands_in_triggers = all(self.has_bloom) and r.random() < 0.4
        for _ in range(r.choice([0, 3, 10])):
            self.insert(0)
        before = r.randint(0, 2)
        for _ in range(before):
            self.trigger(0)
        for _ in range(r.randint(1, 3)):
            self.create_filter(0)
        for _ in range(r.randint(0, 3)):
            self.trigger(r.randrange(len(self.connections)))
        return True

    def definition(self, table, name=None):
        names = {part: quoted(each) for part, each in self.columns[table].items()}
        names.setdefault("parent", self.name("t", "k"))
        return self.definitions[table].format(table=quoted(name or self.names[table]), **names)

    def create_filter(self, i, within=False):
        r = self.random
        if not self.has_bloom[i] or not (within or self.alone(i)):
            return
        table = r.choice("tttc")
        able = [part for part in ("k", "a", "b", "p") if part in self.columns[table]]
        columns = r.sample(able, r.choice([1, 1, 1, 2, 2, 3][:3 if len(able) < 3 else 6]))
        if table in self.stopped:
            columns = columns[:1]
        name = self.new_name(r.choice(["f", "F"]))
        texts = [self.name(table, part) for part in columns]
        options = r.choice(["", "", ", capacity = %d" % r.choice([1, 30, 1000]), ", bits_per_key = 0.01"])
        sql = "CREATE VIRTUAL TABLE %s USING bloom(%s, %s%s)" % (
            quoted(name), self.table(table), texts[0] if len(texts) == 1 else "(%s)" % ", ".join(texts), options)
        try:
            rows = self.do(i, sql)
        except Lost as error:
            if re.search("bloom: .*(DEFAULT|INTEGER PRIMARY KEY|rowid)", str(error), re.I):
                return
            raise
        if rows is not None:
            self.filters[name] = Filter(table, columns, [self.names[table]] + [self.columns[table][part] for part in columns])

    def any_filter(self):
        return self.random.choice(list(self.filters)) if self.filters else None

    def has_tuple(self, table):
        return any(len(each.columns) > 1 for each in self.filters.values() if each.table == table)

    def trigger(self, i):
        """A trigger of the user's; its body says what users' triggers say, and worse."""
        r = self.random
        table = r.choice("tttc")
        when, event = r.choice(["BEFORE", "AFTER"]), r.choice(["INSERT", "UPDATE", "UPDATE", "DELETE"])
        temp = r.random() < 0.4 and not self.is_shared
        row = "old" if event == "DELETE" else "new"
        t, k, a = self.table(table), self.name(table, "k"), self.name(table, "a")
        where = r.choice(["WHERE {k} = {row}.{k}", "WHERE {k} = {row}.{a}", "WHERE {a} IS {row}.{a}", "WHERE {k} = 'k1'"] + ["WHERE {k} = old.{k}"] * 3 * (event == "UPDATE"))
        verb = r.choice(["", "OR REPLACE ", "OR IGNORE "])
        bodies = ["SELECT RAISE(ABORT, 'no: abort')", "SELECT RAISE(ROLLBACK, 'no: rollback')",
                  "INSERT INTO log VALUES ({row}.{k}, {row}.{a})", "UPDATE {verb}{t} SET {a} = {row}.{k} || 'x' " + where,
                  "UPDATE {verb}{t} SET {a} = 'Y' " + where, "UPDATE {verb}{t} SET {k} = {row}.{a} " + where,
                  "UPDATE {verb}{t} SET {k} = {k} || 'u', {a} = {k} " + where, "INSERT {verb}INTO {t}({k}, {a}) VALUES ({row}.{a}, {row}.{k})",
                  "INSERT {verb}INTO {t}({k}) SELECT y FROM other LIMIT 2", "DELETE FROM {t} " + where,
                  "INSERT INTO {c}({p}, {v}) VALUES ({row}.{k}, 'by a trigger')", "DELETE FROM log WHERE x = {row}.{k}"]
        # Of a tuple that such a trigger hides from the filter's AFTER UPDATE trigger the reference says that it may be missed.
        if not (when == "AFTER" and event == "UPDATE" and self.has_tuple(table)):
            bodies += ["SELECT RAISE(IGNORE)", "SELECT RAISE(FAIL, 'no: fail')"] * 2
        if when == "BEFORE" and event == "UPDATE" and self.has_tuple(table):
            bodies += ["UPDATE {t} SET {a} = 'Y' || {row}.{k} WHERE {k} = old.{k}"] * 6
        if temp and self.has_bloom[i]:
            bodies += ["SELECT meddle({row}.{k})", "INSERT INTO log VALUES (meddle({row}.{k}), 1)"] * 3
        filter_ = self.any_filter()
        if filter_ and self.has_commands_in_triggers:
            bodies += ["INSERT INTO {f}({f}) VALUES ('%s')" % r.choice(["merge", "merge=1", "merge=3", "rebuild"])] * 4
            of = self.filters[filter_]
            if of.table == table and len(of.columns) == 1 and event != "DELETE" and when == "AFTER":
                looked = self.name(table, of.columns[0])
                bodies += ["INSERT INTO log SELECT 'LOST', new.%s WHERE new.%s IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {f}(new.%s))"
                           % (looked, looked, looked)] * 4
        parts = [r.choice(bodies)]
        if r.random() < 0.2:
            parts.append(r.choice(bodies))
        condition = r.choice(["", "{row}.{k} IS NOT NULL", "length({row}.{k}) > 1", "(SELECT count(*) FROM log) % 3 = 0", "{row}.{k} = 'k1'"]
                             if not parts[0].startswith("SELECT RAISE") else ["{row}.{k} = 'k1'", "length({row}.{k}) = 2", "{row}.{k} > 5"])
        if temp and (when, event) == ("AFTER", "UPDATE") and re.search(r"RAISE\((IGNORE|FAIL)", str(parts)):
            self.stopped.add(table)
        self.triggers += 1
        text = "CREATE {temp}TRIGGER tr_%d %s %s{of} ON {t} {condition} BEGIN %s; END" % (self.triggers, when, event, "; ".join(parts))
        names = dict(t=t, k=k, a=a, row=row, verb=verb, c=self.table("c"), p=self.name("c", "k"), v=self.name("c", "a"), f=quoted(filter_ or ""))
        names["condition"] = "WHEN " + condition.format(**names) if condition else ""
        names["of"] = " OF " + k if event == "UPDATE" and r.random() < 0.2 else ""
        names["temp"] = "TEMP " if temp else ""
        self.has_temp_triggers |= temp
        self.do(i, "SELECT count(*) FROM sqlite_master")
        self.do(i, text.format(**names))

    def drop_trigger(self, i):
        rows = self.do(i, "SELECT name FROM sqlite_temp_master WHERE name LIKE 'tr\\_%' ESCAPE '\\' UNION SELECT name FROM sqlite_master WHERE name LIKE 'tr\\_%' ESCAPE '\\'")
        if rows and len(rows) > 2:
            self.do(i, "DROP TRIGGER " + quoted(self.random.choice(rows)[0]))

    # -- What users write ---------------------------------------------------------------------------------

    def parts(self, table):
        return [part for part in self.columns[table] if part not in ("g", "id")]

    def returning(self, table, i):
        """A RETURNING that looks up the row's key: the trigger has copied it by then."""
        r = self.random
        if r.random() > 0.2 or sqlite3.sqlite_version_info < (3, 35):
            return "", None
        ours = [(name, each.columns[0]) for name, each in self.filters.items() if each.table == table and len(each.columns) == 1]
        if not ours or not self.has_bloom[i]:
            return " RETURNING *", None
        name, part = r.choice(ours)
        key = self.table(table) + "." + self.name(table, part)
        return (" RETURNING %s, (SELECT count(*) FROM %s(%s)), bloom_may_contain((SELECT handle FROM %s), %s)" % (
            key, quoted(name), key, quoted(name), key) if r.random() < 0.7 else " RETURNING %s, EXISTS (SELECT 1 FROM %s AS f WHERE f.key = %s), 1"
            % (key, quoted(name), key)), name

    def write(self, i, table, sql, args, returning=("", None)):
        text, name = returning
        rows = self.do(i, sql + text, args, hold=bool(text) and self.random.random() < 0.1)
        # A handle is read once for the statement, so only the first row is told of by it for sure.
        for number, row in enumerate(rows or []):
            if name and row[0] is not None and (row[1] != 1 or (number == 0 and row[2] != 1 and "handle" in text)):
                raise Lost("in RETURNING %s denies %r: %r" % (name, row[0], row))

    def insert(self, i):
        r = self.random
        table = r.choice("tttc")
        parts = [part for part in self.parts(table) if self.names_all or r.random() < 0.8] or self.parts(table)
        verb = r.choice(["INSERT", "INSERT", "INSERT", "INSERT OR IGNORE", "INSERT OR REPLACE", "INSERT OR FAIL", "INSERT OR ROLLBACK", "REPLACE"])
        if "id" in self.columns[table] and r.random() < 0.3:
            parts = ["id"] + parts
        names = ", ".join(self.name(table, part) for part in parts)
        num_rows = r.choice([1, 1, 1, 3])
        args = [r.choice([None, r.randint(1, 20), 2**63 - 1]) if part == "id" else self.value() for _ in range(num_rows) for part in parts]
        wrap = "meddle(?)" if self.has_bloom[i] and r.random() < 0.05 and not self.depth else "?"
        sql = "%s INTO %s(%s) VALUES %s" % (verb, self.table(table), names, ", ".join(
            ["(%s)" % ", ".join([wrap] + ["?"] * (len(parts) - 1))] * num_rows))
        if r.random() < 0.03 and not self.names_all:
            sql, args = "%s INTO %s DEFAULT VALUES" % (verb, self.table(table)), []
        elif verb == "INSERT" and r.random() < 0.3:
            a, k = self.name(table, "a"), self.name(table, "k")
            sql += r.choice([" ON CONFLICT DO NOTHING", " ON CONFLICT DO UPDATE SET %s = excluded.%s" % (a, k),
                             " ON CONFLICT DO UPDATE SET %s = excluded.%s" % (k, a),
                             " ON CONFLICT DO UPDATE SET %s = %s || 'up', %s = 1 WHERE %s IS NOT NULL" % (k, k, a, k)])
        self.write(i, table, sql, args, self.returning(table, i))

    def bulk(self, i):
        r = self.random
        table, n = r.choice("ttc"), r.choice([5, 20, 20, 60, 300, 1500] if r.random() < 0.2 else [5, 20])
        parts = self.parts(table)
        values = ["'key' || i", "i", "i + 1000", "NULL", "i / 2.0", "hex(i)", "upper('key' || i)", "i % 7"]
        source = r.choice(["(WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n LIMIT %d) SELECT i FROM n)" % (r.choice([1, 100, 5000]), n),
                           "(SELECT %s AS i FROM %s LIMIT %d)" % (self.name("t", r.choice(self.parts("t"))), self.table("t"), n),
                           "(SELECT y AS i FROM other)"])
        self.write(i, table, "INSERT OR %s INTO %s(%s) SELECT %s FROM %s WHERE true" % (
            r.choice(["IGNORE", "REPLACE"]), self.table(table), ", ".join(self.name(table, part) for part in parts),
            ", ".join(r.choice(values) for _ in parts), source), [], self.returning(table, i))

    def where(self, table):
        r = self.random
        column = self.name(table, r.choice(list(self.columns[table])))
        return r.choice([(column + " = ?", [self.value()]), (column + " = ?", [self.value()]), (column + " > ?", [self.value()]),
                         (column + " IN (SELECT y FROM other)", []), ("length(%s) %% 3 = 0" % column, []), (column + " IS NULL", [])])

    def update(self, i):
        r = self.random
        table = r.choice("tttc")
        verb = r.choice(["UPDATE", "UPDATE", "UPDATE", "UPDATE OR IGNORE", "UPDATE OR REPLACE", "UPDATE OR FAIL", "UPDATE OR ROLLBACK"])
        sets, args = [], []
        for part in r.sample(self.parts(table), r.choice([1, 1, 1, 2])):
            column, other = self.name(table, part), self.name(table, r.choice(self.parts(table)))
            value, more = r.choice([("?", [self.value()]), ("?", [self.value()]), (other, []), ("upper(%s)" % column, []), (column + " || ' '", []),
                                    (column + " + 1", []), ("NULL", []), ("CAST(%s AS TEXT)" % column, []),
                                    ("meddle(%s)" % column if self.has_bloom[i] and not self.depth and r.random() < 0.3 else "?", [])])
            if value == "?" and not more:
                more = [self.value()]
            sets.append("%s = %s" % (column, value))
            args += more
        if "id" in self.columns[table] and r.random() < 0.1:
            sets.append("id = id + 1000")
        where, more = self.where(table)
        source = ""
        if r.random() < 0.15 and sqlite3.sqlite_version_info >= (3, 33):
            source = " FROM other AS o"
            sets = ["%s = o.%s" % (self.name(table, r.choice(self.parts(table))), r.choice("xyzw"))]
            where, args = "%s.%s = o.%s" % (self.table(table), self.name(table, "k"), r.choice("xyzw")), []
            more = []
        self.write(i, table, "%s %s SET %s%s WHERE %s" % (verb, self.table(table), ", ".join(sets), source, where), args + more,
                   self.returning(table, i) if not source else ("", None))

    def delete(self, i):
        table = self.random.choice("ttc")
        where, args = self.where(table) if self.random.random() < 0.95 else ("true", [])
        self.do(i, "DELETE FROM %s WHERE %s" % (self.table(table), where), args)

    def transaction(self, i):
        r = self.random
        if not self.connections[i].in_transaction:
            self.do(i, r.choice(["BEGIN", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE", "SAVEPOINT s1"]))
        else:
            self.do(i, r.choice(["COMMIT", "COMMIT", "COMMIT", "ROLLBACK", "SAVEPOINT s%d" % r.randint(1, 3), "SAVEPOINT s%d" % r.randint(1, 3),
                                 "ROLLBACK TO s%d" % r.randint(1, 3), "ROLLBACK TO s%d" % r.randint(1, 3), "RELEASE s%d" % r.randint(1, 3)]))

    def merge(self, i):
        """What comes most often to journals: merges, of a part too, in savepoints that are rolled back, between look-ups."""
        name = self.any_filter()
        if name is None or not self.has_bloom[i]:
            return
        r = self.random
        word = r.choice(["merge", "merge", "merge=%d" % r.choice([1, 2, 3, 10, 100]), "merge=1", "rebuild"])
        sql = "INSERT INTO %s(%s) VALUES ('%s')" % (quoted(name), quoted(name), word)
        if r.random() < 0.3 and not self.depth:
            self.do(i, "SAVEPOINT m")
            self.do(i, sql)
            self.check(i)
            for _ in range(r.randint(0, 2)):
                if self.connections[i].in_transaction:
                    self.insert(i)
            if not self.connections[i].in_transaction:
                return  # a trigger rolled all back, and with it the names of columns
            self.do(i, "ROLLBACK TO m")
            self.check(i)
            self.do(i, "RELEASE m")
        else:
            self.do(i, sql)

    def meddle(self, i, value):
        """Called within statements: looks and merges. A function that writes to the tables is nothing that SQLite stands."""
        if self.depth >= 2 or self.lost:
            return value
        self.depth += 1
        try:
            self.random.choice([self.merge, self.check])(i)
        except Lost as error:
            self.lost = error
        finally:
            self.depth -= 1
        return value

    def hold(self, i):
        """A SELECT that stays open while others write, and looks up what it reads."""
        name = self.any_filter()
        if name is None or not self.has_bloom[i] or len(self.held) > 2 or len(self.filters[name].columns) > 1:
            return
        each = self.filters[name]
        key = self.name(each.table, each.columns[0])
        self.do(i, "SELECT %s, (SELECT count(*) FROM %s(t.%s)), EXISTS (SELECT 1 FROM %s AS f WHERE f.key = t.%s), %s FROM %s AS t"
                % (key, quoted(name), key, quoted(name), key, literal(name), self.table(each.table)), hold=True)

    def step_held(self, _):
        if not self.held:
            return
        i, cursor = self.random.choice(self.held)
        self.note("/* %d */ -- steps a statement that is open" % i)
        try:
            for _ in range(self.random.choice([1, 5, 1000])):
                row = cursor.fetchone()
                if row is None:
                    break
                if len(row) == 4 and row[3] in self.filters and row[0] is not None and (row[1], row[2]) != (1, 1):
                    raise Lost("an open statement of connection %d: %s denies %r" % (i, row[3], row))
        except sqlite3.Error as error:
            self.note("-- " + str(error))
            row = None
            if not EXPECTED.search(str(error)):
                raise Lost("an open statement: %s" % error)
        if row is None or self.random.random() < 0.2:
            cursor.close()
            self.held = [each for each in self.held if each[1] is not cursor]
        if self.lost:
            raise self.lost

    def close_held(self):
        for _, cursor in self.held:
            cursor.close()
        self.held = []

    # -- The schema changes -----------------------------------------------------------------------------------

    def alone(self, i):
        self.close_held()
        return not any(db.in_transaction for db in self.connections)

    def refresh(self, i, table, old, new):
        """The names after a transaction that may have been rolled back: those that the schema has."""
        rows = self.do(i, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?", [new])
        while rows is None:
            rows = self.do(i, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?", [new])
        return new if rows[0][0] else old

    def alter(self, i):
        """RENAME of the table, a column, a filter, in a transaction with writes, which may be rolled back; DROP of a filter."""
        r = self.random
        if not self.alone(i):
            return
        if self.do(i, r.choice(["BEGIN", "BEGIN IMMEDIATE"])) is None:
            return
        for _ in range(r.randint(0, 2)):
            self.insert(i)
        kind = r.choice(["table", "column", "filter", "add", "drop", "create"])
        table = r.choice("tc")
        undo = None
        if not self.connections[i].in_transaction:
            pass
        elif kind == "table" and table == "t":
            old, new = self.names["t"], self.new_name(r.choice(["t", "new"]))
            if self.do(i, "ALTER TABLE %s RENAME TO %s" % (quoted(old), quoted(new))) is not None:
                self.names["t"] = new
                undo = lambda: self.names.update(t=self.refresh(i, "t", old, new))
        elif kind == "column":
            part = r.choice(self.parts(table))
            if table == "t" or part == "a":
                old, new = self.columns[table][part], self.new_name("k")
                if self.do(i, "ALTER TABLE %s RENAME COLUMN %s TO %s" % (self.table(table), quoted(old), quoted(new))) is not None:
                    self.columns[table][part] = new

                    def undo():
                        rows = None
                        while rows is None:
                            rows = self.do(i, "SELECT name FROM pragma_table_info(?)", [self.names[table]])
                        self.columns[table][part] = new if (new,) in rows else old
        elif kind == "filter" and self.filters and self.has_bloom[i] and not self.has_commands_in_triggers:
            old, new = self.any_filter(), self.new_name("r")
            if self.do(i, "ALTER TABLE %s RENAME TO %s" % (quoted(old), quoted(new))) is not None:
                self.filters[new] = self.filters.pop(old)

                def undo():
                    self.filters[self.refresh(i, None, old, new)] = self.filters.pop(new)
        elif kind == "create" and self.has_bloom[i]:
            known = set(self.filters)
            self.create_filter(i, within=True)
            created = set(self.filters) - known

            def undo():
                for name in created:
                    if not self.refresh(i, None, None, name):
                        del self.filters[name]
        elif kind == "drop" and len(self.filters) > 1 and self.has_bloom[i] and not self.has_commands_in_triggers:
            name = self.any_filter()
            if self.do(i, "DROP TABLE " + quoted(name)) is not None:
                dropped = self.filters.pop(name)

                def undo():
                    if self.refresh(i, None, None, name):
                        self.filters[name] = dropped
        else:
            self.do(i, "ALTER TABLE other ADD COLUMN c%d" % len(self.log))
        for _ in range(r.randint(0, 2)):
            if self.connections[i].in_transaction:  # else the names are the old ones again
                r.choice([self.insert, self.update, self.merge])(i)
        while self.connections[i].in_transaction:
            if r.random() < 0.4 or self.do(i, "COMMIT") is None:
                self.do(i, "ROLLBACK")
        if undo:
            undo()

    def remake(self, i):
        """SQLite's twelve steps, as migrations take them; and then 'rebuild', sometimes."""
        r = self.random
        if not self.alone(i) or "\"" in self.names["t"] and r.random() < 0.5:
            return
        foreign_keys = self.do(i, "PRAGMA foreign_keys")
        self.do(i, "PRAGMA foreign_keys = 0")
        if self.do(i, "BEGIN IMMEDIATE") is not None:
            parts = ", ".join(self.name("t", part) for part in self.columns["t"] if part != "g")
            texts = self.do(i, "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? ORDER BY rowid", [self.names["t"]])
            steps = [self.definition("t", "remade"), "INSERT INTO remade(%s) SELECT %s FROM %s" % (parts, parts, self.table("t")),
                     "DROP TABLE " + self.table("t"), "ALTER TABLE remade RENAME TO " + self.table("t")]
            if texts and r.random() < 0.5:
                steps += [text for text, in texts]
            if all(self.do(i, step) is not None for step in steps) and r.random() < 0.8:
                if self.do(i, "COMMIT") is None:
                    self.do(i, "ROLLBACK")
        while self.connections[i].in_transaction:
            self.do(i, "ROLLBACK")
        if foreign_keys:
            self.do(i, "PRAGMA foreign_keys = %d" % foreign_keys[0][0])
        self.check(i)
        if self.has_bloom[i] and r.random() < 0.7:
            for name, each in list(self.filters.items()):
                if each.table != "t":
                    continue
                names = [self.names["t"]] + [self.columns["t"][part] for part in each.columns]
                if names == each.of_create:
                    self.do(i, "INSERT INTO %s(%s) VALUES ('rebuild')" % (quoted(name), quoted(name)))
                elif self.do(i, "DROP TABLE " + quoted(name)) is not None:  # as the reference says
                    del self.filters[name]
                    self.dropped.add(name)
                    self.create_filter(i)

    def vacuum(self, i):
        if self.alone(i):
            self.do(i, "VACUUM")

    def fill_disk(self, i):
        """Leaves room for a few pages, or for all again."""
        rows = self.do(i, "PRAGMA page_count")
        if rows:
            limit = rows[0][0] + self.random.randint(0, 4) if self.random.random() < 0.4 else 10**9
            self.do(i, "PRAGMA max_page_count = %d" % limit)

    def reopen(self, i):
        if self.alone(i):
            self.connections[i].close()
            self.connections[i] = self.connect(i)

    # -- Looking ---------------------------------------------------------------------------------------------------

    def check(self, i):
        if self.depth and (self.random.random() < 0.3 or self.is_shared and not self.has_bloom[i]):
            return  # within a statement another connection would wait for ever for the cache that they share
        i = i if self.has_bloom[i] else 0
        for name, each in self.filters.items():
            f, t = quoted(name), self.table(each.table)
            keys = ["t." + self.name(each.table, part) for part in each.columns]
            is_tuple = len(keys) > 1
            if is_tuple and self.depth:
                continue  # its AFTER UPDATE trigger may be yet to run
            key = "bloom_tuple(%s)" % ", ".join(keys) if is_tuple else keys[0]
            ways = [("f(?)", "NOT EXISTS (SELECT 1 FROM %s(%s))" % (f, ", ".join(keys))),
                    ("key =", "NOT EXISTS (SELECT 1 FROM %s AS f WHERE f.key = %s)" % (f, key)),
                    ("the handle", "bloom_may_contain((SELECT handle FROM %s), %s) IS NOT 1" % (f, key))]
            present = " AND ".join(each + " IS NOT NULL" for each in keys)
            rows = self.do(i, "SELECT %s, %s FROM %s AS t WHERE %s AND (%s) LIMIT 3" % (
                key, ", ".join(way for _, way in ways), t, present, " OR ".join(way for _, way in ways)))
            for row in rows or []:
                raise Lost("%s over %s.%s denies %r, by %s" % (name, each.table, each.columns, row[0], [way for (way, _), no in zip(ways, row[1:]) if no]))
            if not is_tuple:
                self.check_values(i, name, f, t, keys[0])
            self.check_absent(i, name, f, len(keys))
        if not self.depth:
            rows = self.do(i, "SELECT y FROM log WHERE x = 'LOST'")
            if rows:
                raise Lost("in a trigger a look-up denied %r" % rows[0][0])

    def check_values(self, i, name, f, t, key):
        """Whatever `=` finds, with a value's own affinity or that of another table's column."""
        value = self.value()
        if value is not None:
            rows = self.do(i, "SELECT EXISTS (SELECT 1 FROM %s AS t WHERE %s = ?1), (SELECT count(*) FROM %s(?1)), EXISTS (SELECT 1 FROM %s WHERE key = ?1),"
                              " bloom_may_contain((SELECT handle FROM %s), ?1)" % (t, key, f, f, f), [value])
            if rows and rows[0][0] and rows[0][1:] != (1, 1, 1):
                raise Lost("%s denies %r, which = finds: %r" % (name, value, rows[0]))
            if rows and len(set(rows[0][1:])) > 1:
                raise Lost("%s and its handle differ about %r: %r" % (name, value, rows[0]))
        column = self.random.choice("xyzw")
        rows = self.do(i, "SELECT o.%s FROM other AS o JOIN %s AS t ON %s = o.%s WHERE NOT EXISTS (SELECT 1 FROM %s AS f WHERE f.key = o.%s)"
                          " OR bloom_may_contain((SELECT handle FROM %s), o.%s) = 0 LIMIT 1" % (column, t, key, column, f, column, f, column))
        if rows:
            raise Lost("%s denies what joins with other.%s: %r" % (name, column, rows[0]))

    def check_absent(self, i, name, f, num_columns):
        facts = self.do(i, "SELECT note, num_keys, unmerged FROM " + f)
        # With tiny limits a filter soon has several times as many keys as there is room for, and says so.
        if not facts or (facts[0][0] and (UNCERTAIN in facts[0][0] or "more keys than room" in facts[0][0])):
            return
        for _ in range(3):
            absent = ["absent %d" % self.random.randrange(10**9) for _ in range(num_columns)]
            rows = self.do(i, "SELECT count(*) FROM %s(%s)" % (f, ", ".join("?" * num_columns)), absent)
            if rows:
                self.num_absent += 1
                self.num_maybe += rows[0][0]

    # -- A world's life ------------------------------------------------------------------------------------------------

    def run(self):
        r = self.random
        if self.start():
            steps = [self.insert] * 14 + [self.update] * 12 + [self.delete] * 3 + [self.bulk] * 2 + [self.transaction] * 8 + [self.merge] * 4 \
                + [self.hold] + [self.step_held] * 2 + [self.trigger, self.drop_trigger] + [self.check] * 6 + [self.alter] + [self.reopen]
            self.interrupts = r.choice([0, 0, 0.05])
            rare = [self.create_filter, self.remake, self.vacuum, self.fill_disk]
            for _ in range(r.choice([40, 120, 250])):
                (r.choice(rare) if r.random() < 0.03 else r.choice(steps))(r.randrange(len(self.connections)))
            self.interrupts = 0
            self.close_held()
            for i, db in enumerate(self.connections):
                if db.in_transaction and self.do(i, "COMMIT") is None:
                    self.do(i, "ROLLBACK")
            for db in self.connections:
                db.close()
            self.held, self.connections = [], [self.connect(0)]
            self.has_bloom = [True]
            self.check(0)
            for name in list(self.filters):
                for word in "integrity-check", "merge", "rebuild", "integrity-check":
                    try:
                        self.do(0, "INSERT INTO %s(%s) VALUES ('%s')" % (quoted(name), quoted(name), word))
                    except Lost as error:
                        if "misses" in str(error) or UNCERTAIN not in str(error):
                            if not re.search("there is no (table|column)", str(error)):
                                raise
                self.check(0)
            found = [text for text, in self.do(0, "PRAGMA integrity_check") or [] if text != "ok" and UNCERTAIN not in text]
            if found:
                # UPDATE OR REPLACE, a trigger that inserts into the same table, and an id of 2^63-1, so that the next ones are
                # drawn: SQLite 3.40 and 3.54 write rows in the wrong place then, without bloom, too.
                raise (Over if all("out of order" in text for text in found) else Lost)("PRAGMA integrity_check: %r" % found)

    def close(self):
        self.close_held()
        for db in self.connections:
            db.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    options = arguments(statements=20000, world=-1, verbose=False)
    num_statements = num_absent = num_maybe = num_worlds = 0
    failed = []
    print("note: seed %d, SQLite %s" % (options.seed, sqlite3.sqlite_version))
    start = time.time()
    while num_statements < options.statements and len(failed) < 5:
        seed = options.world if options.world >= 0 else options.seed * 1000000 + num_worlds
        world = World(seed, options)
        try:
            world.run()
        except Over:
            pass
        except Lost as error:
            failed.append(seed)
            print("FAILED: --world %d, SQLite %s: %s" % (seed, sqlite3.sqlite_version, str(error)[:2000]))
            for line in world.log[-12:]:
                print("  " + line[:1000])
        finally:
            world.close()
        num_worlds += 1
        num_statements += world.num_statements
        num_absent += world.num_absent
        num_maybe += world.num_maybe
        if options.world >= 0:
            break
    # Small filters in use: a few false positives are Bloom's own, many would mean that nothing is ever ruled out.
    if options.world < 0 and num_absent < num_statements // 200 or num_maybe * 20 > num_absent:
        print("FAILED: of %d absent keys %d are maybe" % (num_absent, num_maybe))
        failed.append(None)
    print("note: %d worlds, %d statements, %.0f a second; %d of %d absent keys maybe" % (
        num_worlds, num_statements, num_statements / (time.time() - start), num_maybe, num_absent))
    print("%d passed, %d failed" % (num_worlds - len(failed), len(failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
