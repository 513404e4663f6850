"""Drives random tables with a bloom_index, and asks table and index the same.

    python3 test/index/model.py [--load ./bloom] [--seed N] [--runs N] [--big] [--verbose]

Each run makes a database, a source table of random columns and one or two indexes, then does
what comes, from connections with and without the extension: statements of all kinds,
savepoints, merges, migrations, triggers that fail.  The model is SQLite itself: the rows of
the index are the rows of the source, as values, in order where ORDER BY says one.  A run is
repeated by its seed; --big makes tables large enough for the last tier of groups.  A history
that fails is printed as SQL.
"""
import os
import random
import re
import shutil
import sqlite3
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vtab"))
import changes  # noqa: E402
import queries  # noqa: E402
import regexp_library  # noqa: E402
import values  # noqa: E402
from cases import Text, arguments, as_sql, connect, draw, quoted, sum_up  # noqa: E402


class Differs(Exception):
    pass


def row_of(row):
    return tuple((type(value).__name__, repr(value)) for value in row)


TYPES = ["TEXT", "TEXT", "TEXT COLLATE NOCASE", "TEXT COLLATE RTRIM", "INTEGER", "REAL", "NUMERIC", "BLOB", "", "ANY", "VARCHAR(9)",
         "INT COLLATE NOCASE", "COLLATE NOCASE"]
STRICT_TYPES = ["TEXT", "TEXT COLLATE NOCASE", "INT", "INTEGER", "REAL", "BLOB", "ANY", "ANY COLLATE RTRIM"]
NAMES = ["k", "select", 'a "b" c', "größe", "x y", "it's", "covered", "data", "note", "[br]", "KEYS", "changed", "rowid"]
ID_NAMES = ["id", "ID", 'i"d', "covered_id", "_rowid_"]


class Run:
    text_type = Text

    def __init__(self, seed, options, counts):
        self.random = random.Random(seed)
        self.options, self.counts = options, counts
        self.log = []
        self.folder = tempfile.mkdtemp(prefix="bloom-index-")
        self.changes = changes.Changes(self)
        self.queries = queries.Queries(self)
        self.has_right_join = sqlite3.sqlite_version_info >= (3, 39)
        # Until then SQLite takes LIKE in the ON clause of a LEFT JOIN for a condition on the
        # left table, if that is virtual, and loses rows.
        self.is_like_safe_in_on = sqlite3.sqlite_version_info >= (3, 52)

    # -- Connections ---------------------------------------------------------------

    def connect(self, has_extension):
        r = self.random
        db = connect(os.path.join(self.folder, "db"), self.options.load if has_extension else None, timeout=0,
                     cached_statements=r.choice([0, 100]))
        db.text_factory = Text
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA recursive_triggers = %d" % r.randint(0, 1))
        db.execute("PRAGMA foreign_keys = %d" % (r.random() < 0.8))
        db.execute("PRAGMA trusted_schema = %d" % r.randint(0, 1))
        if r.random() < 0.3:
            db.execute("PRAGMA cache_size = 5")
        # Where TEMP outgrows its cache, a ROLLBACK can damage it, in plain SQL too, up to 3.54.1.
        db.execute("PRAGMA temp.cache_size = -1000000")
        if self.schema == "aux":
            db.execute("ATTACH ? AS aux", [os.path.join(self.folder, "aux")])
        if has_extension:
            self.replace_like(db, self.like_mode)
            self.add_regexp(db, self.regexp_mode)
        return db

    def replace_like(self, db, mode):
        if mode == "own":
            db.create_function("like", 2, lambda pattern, text: None if text is None else len(str(pattern)) % 2 == len(str(text)) % 2)
            db.create_function("glob", 2, lambda pattern, text: str(pattern)[1:3] in str(text))
        elif mode == "icu":
            def fold(value):
                return bytes(value).decode("utf-8", "replace").casefold() if isinstance(value, bytes) else str(value).casefold()
            db.create_function("like", 2, lambda pattern, text: None if text is None or pattern is None else fold(pattern).strip("%_") in fold(text))
        elif mode == "case":
            db.execute("PRAGMA case_sensitive_like = 1")

    def add_regexp(self, db, mode):
        """The C library's, which takes any bytes, or a function that is none to trust."""
        if mode in ("regexp", "regexpi"):
            regexp_library.load(db, mode)
        elif mode == "match":
            db.create_function("regexp", 2, lambda pattern, text: re.match(re.escape(str(pattern)), str(text)) is not None)
        elif mode == "swapped":
            db.create_function("regexp", 2, lambda pattern, text: str(text) in str(pattern))

    def do(self, i, sql, parameters=(), may_fail=True):
        """Runs a statement on connection i; its rows, or None if it failed, as it may."""
        if not sql.startswith("SELECT"):
            self.log.append((i, sql, parameters))
        if self.options.verbose:
            print(i, as_sql(sql, parameters)[:500], flush=True)
        db = self.connections[i]
        is_interrupted = self.interrupts and self.random.random() < self.interrupts
        if is_interrupted:
            db.set_progress_handler(lambda: 1, self.random.choice([10, 100, 1000, 10000]))
        try:
            return db.execute(sql, parameters).fetchall()
        except (sqlite3.Error, OverflowError) as error:
            message = str(error)
            self.log.append((i, "-- " + message, ()))
            if self.options.verbose:
                print("--", message, flush=True)
            if "malformed" in message or "corrupt" in message or "reentered" in message or not may_fail:
                raise Differs(message)
            return None
        finally:
            if is_interrupted:
                db.set_progress_handler(None, 0)

    interrupts = 0

    # -- What is there ----------------------------------------------------------------

    def make_source(self):
        r = self.random
        self.is_strict = sqlite3.sqlite_version_info >= (3, 37) and r.random() < 0.25
        self.id = r.choice(ID_NAMES)
        self.columns = r.sample([n for n in NAMES if self.id != n], r.choice([2, 3, 4]))
        self.has_rowid = "rowid" not in self.columns
        self.types = {}
        definitions = []
        for name in self.columns:
            self.types[name] = r.choice(STRICT_TYPES if self.is_strict else TYPES)
            definition = quoted(name) + " " + self.types[name]
            if r.random() < 0.1:
                definition += " UNIQUE ON CONFLICT " + r.choice(["ABORT", "REPLACE", "IGNORE", "FAIL", "ROLLBACK"])
            elif r.random() < 0.1:
                definition += " REFERENCES parents(p) ON UPDATE %s ON DELETE %s DEFERRABLE INITIALLY DEFERRED" % (
                    r.choice(["CASCADE", "SET NULL"]), r.choice(["CASCADE", "SET NULL", "SET DEFAULT"]))
            definitions.append(definition)
        self.written = list(self.columns)
        if r.random() < 0.4:
            base = quoted(r.choice(self.columns))
            self.columns.append("made")
            self.types["made"] = "TEXT"
            made = r.choice(["lower(%s) || '!'", "substr(%s, 1, 4)", "hex(%s)"]) % base
            if self.encoding != "UTF-8":
                # Of a BLOB that becomes half a character of UTF-16 SQLite finds no entry in an index.
                made = "CASE typeof(%s) WHEN 'blob' THEN hex(%s) ELSE %s END" % (base, base, made)
            definitions.append('"made" TEXT AS (%s) %s' % (made, r.choice(["STORED", "VIRTUAL"])))
        definitions.insert(r.randint(0, len(definitions)), "%s INTEGER PRIMARY KEY%s" % (quoted(self.id), r.choice(["", "", " AUTOINCREMENT"])))
        if r.random() < 0.2:
            definitions.append("CHECK (%s IS NOT 'never')" % quoted(self.columns[0]))
        self.definition = "(%s)%s" % (", ".join(definitions), " STRICT" if self.is_strict else "")
        self.source = r.choice(["log", "Log 2", 'l"og', "größe"])
        self.do(0, "CREATE TABLE %s%s" % (self.named(self.source), self.definition), may_fail=False)

    def named(self, name):
        return "%s.%s" % (self.schema, quoted(name))

    def make_index(self, i=0):
        r = self.random
        name = r.choice(["log_index", "by k", 'i"x', "Größen", "it's"]) + r.choice(["", "", "2"])
        if name in self.indexes:
            return
        indexed = []
        for column in r.sample(self.columns, r.randint(1, len(self.columns))):
            if r.random() < 0.6:
                indexed.append((column, False))
            if r.random() < 0.5:
                indexed.append((column, True))
        if not indexed:
            indexed = [(self.columns[0], False)]
        r.shuffle(indexed)
        keys = [quoted(column) + (r.choice([" LIKE", " LIKE REGEXP"]) if is_like else "") for column, is_like in indexed]
        ranges = [column for column in self.columns if r.random() < 0.3]
        for column in ranges:
            keys.insert(r.randint(0, len(keys)), quoted(column) + " RANGE")
        indexed += [(column, False) for column in ranges]
        arguments = [quoted(self.source)] + keys
        if r.random() < 0.3:
            arguments.append("unmerged")
        if self.do(i, "CREATE VIRTUAL TABLE %s USING bloom_index(%s)" % (self.named(name), ", ".join(arguments))) is not None:
            self.indexes[name] = indexed
            self.range_columns = sorted(set(self.range_columns) | set(ranges))
        self.note_columns()

    def note_columns(self):
        self.key_columns = sorted({column for indexed in self.indexes.values() for column, _ in indexed})
        self.like_columns = {column for indexed in self.indexes.values() for column, is_like in indexed if is_like}

    def start(self):
        r = self.random
        self.schema = r.choice(["main", "main", "main", "main", "aux", "temp"])
        # In half of the worlds nobody knows of 'rebuild'.
        self.commands = ["merge"] * 5 + ["merge=%d" % n for n in (1, 10, 63, 1000)] + r.choice([[], ["rebuild"]])
        self.like_mode = r.choice(["builtin"] * 6 + ["own", "icu", "case"])
        self.regexp_mode = r.choice(["regexp"] * 4 + ["regexpi"] * 2 + ["match", "swapped", None]) if self.options.has_regexp else None
        for file in ["db", "aux"]:
            db = sqlite3.connect(os.path.join(self.folder, file), isolation_level=None)
            db.execute("PRAGMA page_size = %d" % r.choice([512, 1024, 4096, 4096, 65536]))
            if file == "db":
                self.encoding = r.choice(["UTF-8", "UTF-8", "UTF-8", "UTF-16le", "UTF-16be"])
            db.execute("PRAGMA encoding = '%s'" % self.encoding)
            db.execute("PRAGMA journal_mode = %s" % r.choice(["WAL", "DELETE", "TRUNCATE"]))
            db.execute("CREATE TABLE other(x)")
            db.close()
        # The last one is a program without the extension.
        self.connections = [self.connect(True)]
        if self.schema != "temp":
            self.connections += [self.connect(True), self.connect(False)]
        self.indexes, self.range_columns = {}, []
        self.do(0, "CREATE TABLE %s.parents(p UNIQUE)" % self.schema)
        self.do(0, "CREATE TABLE main.o(n INTEGER PRIMARY KEY, x, y INTEGER, z TEXT COLLATE NOCASE, w REAL)")
        self.make_source()
        self.changes.bulk(0)
        for n in range(12):
            pair = values.any_value(r)
            self.do(0, "INSERT INTO main.o SELECT %d, v, v, v, v FROM (SELECT %s AS v)" % (n, pair[0]), [] if pair[1] is values.NONE else [pair[1]])
        for _ in range(r.choice([0, 0, 1, 2])):
            self.changes.source_index(0)
        if r.random() < 0.3:
            self.do(0, "ANALYZE")
        if r.random() < 0.3:
            self.changes.user_trigger(0)
        self.make_index()
        if r.random() < 0.2:
            self.make_index()

    # -- Looking ---------------------------------------------------------------------

    def sample(self, i):
        """Values that queries are made of."""
        r = self.random
        name = self.named(self.source)
        self.low, self.high = 0, 0
        self.ids, self.keys, self.texts = [], [], []
        rows = self.do(i, "SELECT min(%s), max(%s) FROM %s" % (quoted(self.id), quoted(self.id), name))
        if not rows or rows[0][0] is None:
            return
        self.low, self.high = rows[0]
        for _ in range(12):
            at = r.randint(self.low, self.high) if r.random() < 0.5 else values.random_id(r, self.low, self.high)
            rows = self.do(i, "SELECT * FROM %s WHERE %s >= ? LIMIT 1" % (name, quoted(self.id)), [max(-2**63, min(at, 2**63 - 1))])
            for row in rows or []:
                for value in row:
                    if value is not None: # LIKE sees numbers as texts, too
                        self.texts.append(bytes(value) if isinstance(value, (Text, bytes)) else str(value).encode())
                    self.keys.append(value)
        rows = self.do(i, "SELECT %s FROM %s LIMIT 5000" % (quoted(self.id), name)) if self.high - self.low < 5000 else []
        self.ids = [row[0] for row in r.sample(rows or [], min(5, len(rows or [])))] + [self.low, self.high]

    def ask(self, i, sql, parameters, with_automatic_indexes=True):
        """Rows, or the error."""
        db = self.connections[i]
        try:
            if not with_automatic_indexes:
                db.execute("PRAGMA automatic_index = OFF")
            return db.execute(sql, parameters).fetchall(), None
        except (sqlite3.Error, OverflowError) as error:
            return None, str(error).replace("bloom_index: ", "")
        finally:
            if not with_automatic_indexes:
                db.execute("PRAGMA automatic_index = ON")

    def check(self, i, num_queries=8):
        if i == len(self.connections) - 1 and i > 0:
            i = 0
        self.sample(i)
        for name in list(self.indexes):
            for _ in range(num_queries):
                sql, parameters, is_ordered = self.queries.query()
                # Of LIKE in the ON clause of a LEFT JOIN SQLite makes a range of an index, and loses rows of a plain table: not of an expression.
                source_sql = re.sub(r'(t\."(?:[^"]|"")*" (?:NOT )?(?:LIKE|GLOB) )', r"+\1", sql) if " LEFT JOIN " in sql else sql
                # In 3.40.1 the Bloom filter of an automatic index loses texts that differ in trailing spaces alone, which RTRIM ignores.
                on_source, source_error = self.ask(i, source_sql.replace("{t}", self.named(self.source)), parameters,
                                                   sqlite3.sqlite_version_info >= (3, 41))
                on_index, index_error = self.ask(i, sql.replace("{t}", self.named(name)), parameters)
                self.counts["queries"] += 1
                if source_error and index_error and (source_error == index_error  # of a table that only the other connection has yet
                                                     or source_error.replace(self.source, "") == index_error.replace(name, "")):
                    continue
                # Without triggers nobody tells that the source was renamed.
                if index_error and "no such column" in index_error:
                    index_error = self.ask(i, "SELECT 1 FROM " + self.named(name), [])[1] or index_error
                if index_error and "there is no table" in index_error:
                    self.counts["sourceless"] += 1
                    break
                if source_error or index_error:
                    if any(word in str(source_error) + str(index_error) for word in ("locked", "user-defined function", "too complex", "too large to convert",
                                                                                              "Unmatched", "Invalid", "Trailing")):
                        continue
                    raise Differs("%s\nsource: %s\nindex: %s" % (as_sql(sql.replace("{t}", self.named(name)), parameters), source_error, index_error))
                if len(on_source) == 200000:
                    continue
                rows = [row_of(row) for row in on_source], [row_of(row) for row in on_index]
                if rows[0] != rows[1] and (is_ordered or sorted(rows[0]) != sorted(rows[1])):
                    lost = [row for row in on_source if row_of(row) not in set(rows[1])]
                    more = [row for row in on_index if row_of(row) not in set(rows[0])]
                    raise Differs("%s\n%d rows of the source, %d of the index; lost %r; too many %r" % (
                        as_sql(sql.replace("{t}", self.named(name)), parameters), len(on_source), len(on_index), lost[:3], more[:3]))
                self.counts["rows"] += len(on_index)
            plan, _ = self.ask(i, "EXPLAIN QUERY PLAN SELECT * FROM %s WHERE %s = 1" % (self.named(name), quoted(self.id)), [])
            if plan and not any(b"reads the whole" in row[3] for row in plan):
                self.counts["believed"] += num_queries

    def integrity(self, i):
        for name in list(self.indexes):
            if self.do(i, "INSERT INTO %s(%s) VALUES ('integrity-check')" % (self.named(name), quoted(name))) is None:
                message = self.log[-1][1]
                if "misses row" in message or "damaged" in message:
                    raise Differs(message)

    def run(self, num_steps):
        self.start()
        r = self.random
        if r.random() < 0.2:
            self.interrupts = 0.05
        steps = self.changes.steps()
        for _ in range(num_steps):
            r.choice(steps)(r.randrange(len(self.connections)))
        self.interrupts = 0
        for i, db in enumerate(self.connections):
            if db.in_transaction and self.do(i, "COMMIT") is None:
                self.do(i, "ROLLBACK")
        for i in range(len(self.connections)):
            self.check(i)
        self.integrity(0)
        for name in list(self.indexes):
            last = self.commands[-1] if self.commands[-1] == "rebuild" else "merge"
            done = self.do(0, "INSERT INTO %s(%s) VALUES ('%s')" % (self.named(name), quoted(name), last))
            # Without a trigger other columns are not proven to be the source's.
            if done is None and last == "merge" and "VALUES ('rebuild') repairs it" in self.log[-1][1]:
                self.counts["unproven"] += 1
                done = self.do(0, "INSERT INTO %s(%s) VALUES ('rebuild')" % (self.named(name), quoted(name)))
            if done is None:
                if "there is no table" in self.log[-1][1]:
                    continue
                raise Differs(last + ": " + self.log[-1][1])
            self.check(0)
            if self.do(0, "INSERT INTO %s(%s) VALUES ('integrity-check')" % (self.named(name), quoted(name))) is None:
                raise Differs("integrity-check after %s: %s" % (last, self.log[-1][1]))
        for schema in ["main"] + [self.schema] * (self.schema != "main"):
            rows = self.do(0, "PRAGMA %s.integrity_check" % schema)
            # Of the source SQLite says so itself: a TEXT that is generated from a BLOB.
            if any(row != (b"ok",) and b" value in " not in row[0] and b"there is no table" not in row[0] for row in rows):
                raise Differs("PRAGMA integrity_check: %r" % rows)
        for name in list(self.indexes):
            self.do(0, "DROP TABLE " + self.named(name), may_fail=False)
        begins = tuple(("%s_" % name).encode() for name in self.indexes)
        left = [name for name, in self.do(0, "SELECT name FROM %s.sqlite_master" % self.schema) if name.startswith(begins)]
        if left:
            raise Differs("left behind: %r" % left)
        self.close()

    def close(self):
        for db in self.connections:
            db.close()
        shutil.rmtree(self.folder)


def main():
    options = arguments(runs=20, steps=40, big=False, verbose=False)
    options.has_regexp = regexp_library.make()
    if not options.has_regexp:
        print("note: left out: REGEXP: there is no compiler")
    counts = {"queries": 0, "believed": 0, "rows": 0, "sourceless": 0, "unproven": 0}

    def one_run(seed, options):
        run = Run(seed, options, counts)
        try:
            run.run(options.steps)
        except Exception:
            for i, sql, parameters in run.log[-400:]:
                print("/* %d */ %s" % (i, as_sql(sql, parameters)[:1000]))
            raise

    num_passed, num_failed = draw(one_run, options, most_failures=3)
    print("note: %d queries, %d of them with blocks that were believed; %d rows; %d merges left it to 'rebuild'" % (
        counts["queries"], counts["believed"], counts["rows"], counts["unproven"]))
    return sum_up(num_passed, num_failed)


if __name__ == "__main__":
    sys.exit(main())
