"""Two worlds that live through one history: in one of them the filters are real.

In the other world a plain table stands in each filter's place, and beside it a trigger that
never fires.  Its text names the source table, the column and the condition, so SQLite
itself keeps them right through renames, rollbacks, copies and ATTACH.  That is how this
model knows which table a filter has to know, and it knows nothing else about filters than
their SQL.

A step is a tuple: what to do, the connection's number, and all that is needed to do it, so
a history can be written down, played again, and played with some of its steps left out.
Every method do_KIND is one kind of step.
"""
import collections
import json
import os
import re
import sqlite3
import subprocess

from cases import as_sql, quoted

ERROR, BUSY, LOCKED, MISMATCH, BUSY_SNAPSHOT = 1, 5, 6, 20, 517
NUM_ABSENT = 30
MAX_ROWS = 1200  # of a table of more rows, not all are read into Python

# What may be wrong, the worst first.
FALSE_NEGATIVE = "false negative"
CRASH = "crash"
BLOCKED = "blocked"            # a statement of the user's own fails because of a filter
DIFFERENT = "different"        # it does something else than it does without a filter
LOOK_UP_FAILS = "look-up fails"
VAGUE = "vague"                # absent keys are not told apart, and `note` does not say why
INTEGRITY = "integrity"        # a check fails, and `note` does not say why
KINDS_OF_FAULTS = [FALSE_NEGATIVE, CRASH, BLOCKED, DIFFERENT, LOOK_UP_FAILS, VAGUE, INTEGRITY]

STAND_IN = re.compile(r"CREATE TABLE .*\(stand_in_(\d+) /\*(.*)\*/\)$", re.S)
COLUMN = re.compile(r"/\*<\*/old\.(.*)/\*>\*/", re.S)
EXPRESSION = re.compile(r"/\*<\*/(.*)/\*\|\*/ FROM .*/\*\|\*/(.*)/\*>\*/", re.S)
DROP_COLUMN = re.compile(r'ALTER TABLE "([^"]*)"\."([^"]*)" DROP COLUMN "([^"]*)"$')
IS_CHANGE = re.compile(r"\s*(INSERT|UPDATE|DELETE|REPLACE)\b", re.I)

Outcome = collections.namedtuple("Outcome", "code text rows")
# number: of the stand-in; is_plain: the key is a column, without a condition; has_source:
# nobody has dropped its source table since it was made or rebuilt.
Filter = collections.namedtuple("Filter", "schema name number table key where is_plain has_source")


class Fault(Exception):
    def __init__(self, kind, text):
        super().__init__(kind, text)
        self.kind = kind
        self.text = text


class World:
    """The connections, files and cursors of one of the two."""

    def __init__(self, folder, name, setup, load):
        self.folder, self.name, self.setup, self.load = folder, name, setup, load
        self.connections = {}
        self.cursors = {}
        self.num_fresh = 0
        # Connections with a database that deserialize() put in place: SQLite may run a statement from
        # before, and read columns and pages of the database that was there.
        self.is_stale = set()
        self.is_stuck = False

    def path(self, file):
        return os.path.join(self.folder, "%s%d.db" % (self.name, file))

    def uri(self, file):
        return "file:" + self.path(file) + ("?cache=shared" if self.setup["shared_cache"] else "")

    def connect(self, c, file, num_kept):
        """The outcome."""
        def connect():
            self.connections[c] = self.connection(file, num_kept)
            self.cursors[c] = []
            self.is_stale.discard(c)
        return self.call(connect)

    def connection(self, file, num_kept):
        db = sqlite3.connect(self.uri(file), uri=True, isolation_level=None, timeout=0, cached_statements=num_kept)
        if self.load:
            db.enable_load_extension(True)
            db.load_extension(self.load)
        db.execute("PRAGMA synchronous = OFF")
        # A cache that overflows would lock out the readers of one world before those of the other.
        db.execute("PRAGMA cache_size = -50000")
        return db

    def call(self, function):
        try:
            return Outcome(0, "", function())
        except sqlite3.Error as error:
            return Outcome(getattr(error, "sqlite_errorcode", -1), str(error), None)
        except ValueError as error:
            return Outcome(BUSY if str(error) == "busy" else -1, str(error), None)

    def fresh(self, sql):
        self.num_fresh += 1
        return "%s\n-- %d" % (sql, self.num_fresh)

    def run(self, c, sql, args=(), reads_filter_alone=False):
        """Keeps the statement, unless it is one with which SQLite itself may be wrong, or a BEGIN,
        which locks the databases that there were when it was compiled."""
        if (c in self.is_stale and not reads_filter_alone) or sql.startswith("BEGIN"):
            sql = self.fresh(sql)
        outcome = self.call(lambda: self.connections[c].execute(sql, args).fetchall())
        if outcome.code == LOCKED and c in self.is_stale:
            # A statement of a virtual table, FTS5's too, that was dropped before deserialize(): 3.40 does not compile it again.
            outcome = self.call(lambda: self.connections[c].execute(self.fresh(sql), args).fetchall())
        return outcome

    def run_all(self, c, statements):
        """All of them, or none."""
        if len(statements) == 1:
            return self.run(c, statements[0])
        was_in_transaction = self.connections[c].in_transaction
        first = self.run(c, "SAVEPOINT all_or_none")
        if first.code:
            return first
        for statement in statements:
            outcome = self.run(c, *(statement if isinstance(statement, tuple) else (statement,)))
            if outcome.code:
                break
        if not outcome.code:
            outcome = self.run(c, "RELEASE all_or_none")
        if outcome.code and self.connections[c].in_transaction:
            for sql in ("ROLLBACK TO all_or_none", "RELEASE all_or_none") if was_in_transaction else ("ROLLBACK",):
                self.run(c, sql)
            # Where another connection locks a shared schema, ROLLBACK is not even compiled.
            self.is_stuck |= self.connections[c].in_transaction != was_in_transaction
        return outcome

    def triggers(self, c, schema, table):
        outcome = self.run(c, "SELECT name, sql FROM %s.sqlite_schema WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE"
                              " ORDER BY rowid" % quoted(schema), (table,))
        return outcome.rows or []


class Twins:
    def __init__(self, folder, setup, load, ignored=()):
        self.folder, self.setup, self.load, self.ignored = folder, setup, load, ignored
        self.real = World(folder, "real", setup, load)
        self.plain = World(folder, "plain", setup, None)
        self.attached = {}         # by connection: the names of its databases, and their files; None: in memory
        self.has_copy = set()      # connections that loaded a second copy of the extension
        self.same_rowid = {}       # by connection: last_insert_rowid() can be compared
        self.notes = collections.Counter()
        self.num_statements = 0
        self.number = 0            # of the step
        self.has_note = True
        self.is_scan = {}          # by connection: of each cursor, whether its rows say what a look-up said
        self.parsed = {}
        self.is_abandoned = False
        self.is_uneven = False     # a lock of one world may have no counterpart in the other

    # -- What is wrong ----------------------------------------------------------------------

    def fault(self, kind, text):
        """Ends the history, unless such faults are not looked for."""
        if "while its cache is shared" in text and self.setup["shared_cache"] and self.real.is_stale:
            # After deserialize() the file from before is attached by another name, and SQLite has one
            # object for both: which one is meant cannot be told.
            self.is_abandoned = True
            return
        if not any(re.search(pattern, "%s: %s" % (kind, text)) for pattern in self.ignored):
            raise Fault(kind, text)
        self.notes["times passed over: " + kind] += 1
        if kind in (BLOCKED, DIFFERENT):
            # From here on the two are different.
            self.is_abandoned = True

    def compare(self, c, what, real, plain):
        """The outcomes of the same statement in both worlds."""
        codes = {real.code & 0xff, plain.code & 0xff}
        if len(codes) == 2 and codes & {BUSY, LOCKED} and self.has_other_locks():
            self.notes["histories that end at a lock of one world"] += 1
            self.is_abandoned = True
            return
        if real.code == BUSY_SNAPSHOT and self.real.connections[c].in_transaction:
            # A filter is told of rows that OR IGNORE leaves out. Where nothing else was written, the file of
            # one world alone is another since this transaction began to read.
            self.notes["histories that end at a snapshot of one world"] += 1
            self.is_abandoned = True
        elif real.code & 0xff == ERROR and plain.code & 0xff != ERROR and (
                "cannot be rebuilt by a trigger" in real.text or self.has_rebuilding_trigger(c)):
            # 'rebuild' is refused before the statement would be locked, or meet a constraint, whose ROLLBACK
            # takes that trigger away.
            self.is_abandoned = True
        elif "after drop column" in real.text and not plain.code and self.is_of_an_expression(c, what):
            self.is_abandoned = True  # as a column of an index cannot be dropped
        elif real.code and not plain.code:
            self.fault(BLOCKED, "with a filter this fails: %s (code %d): %s" % (real.text, real.code, what))
        elif plain.code and not real.code:
            self.fault(DIFFERENT, "only without a filter this fails: %s (code %d): %s" % (plain.text, plain.code, what))
        elif real.code and plain.code and codes & {BUSY, LOCKED}:
            pass  # the twin's first statement meets the lock before the name that is taken
        elif real.code & 0xff != plain.code & 0xff:
            self.fault(DIFFERENT, "%s (code %d), without a filter %s (code %d): %s"
                       % (real.text, real.code, plain.text, plain.code, what))
        elif real.rows != plain.rows:
            self.fault(DIFFERENT, "%r, without a filter %r: %s" % (real.rows, plain.rows, what))
        if real.code == MISMATCH or "trigger recursion" in real.text or "nested too deep" in real.text:
            # After these errors SQLite may keep half of a statement's rows, if no trigger has it
            # keep a journal of the statement.
            self.is_abandoned = True
        self.compare_transactions(c, what)

    def is_of_an_expression(self, c, sql):
        """Whether ALTER TABLE drops a column of a filter's expression or condition.  In the
        stand-in's text it stands quoted, and without the column SQLite takes it for a text."""
        match = DROP_COLUMN.match(sql)
        return match is not None and any(
            not f.is_plain and f.table.lower() == match[2].lower()
            and (re.search(r"(?<!\w)%s(?!\w)" % re.escape(match[3]), "%s %s" % (f.key, f.where), re.I)
                 or self.finds_rows_by_a_column(c, f)) for f in self.filters(c, match[1]))

    def finds_rows_by_a_column(self, c, f):
        """Whether a column had the name rowid, and took it along from the triggers' text when it was renamed again."""
        name = "%s.%s" % (quoted(f.schema), quoted(f.name))
        return "its triggers may find other rows" in (self.note(c, name, name) or "")

    def compare_transactions(self, c, what):
        if c not in self.real.connections:
            return
        real, plain = (world.connections[c].in_transaction for world in (self.real, self.plain))
        if real != plain and self.plain.is_stuck:
            self.is_abandoned = True
        if real != plain and not self.is_abandoned:
            self.fault(DIFFERENT, "%s a transaction, without a filter %s: %s" % (
                ("in" if real else "not in"), ("in one" if plain else "in none"), what))

    def has_other_locks(self):
        """A shared cache locks table by table, an open cursor keeps a table in use, and what was
        refused may leave a lock: where there are more tables there are more locks."""
        return self.setup["shared_cache"] or self.is_uneven or any(self.real.cursors.values())

    def is_lock_of_ours(self, c, real):
        if real.code & 0xff not in (BUSY, LOCKED) or not self.has_other_locks():
            return False
        self.notes["locked by a shared cache or a cursor"] += 1
        return True

    def lock_alike(self, c, schema):
        """A statement that fails in the real world alone may lock the file until the transaction
        ends, and have the schema read again: so does this in the other.  It fails by itself, since
        a ROLLBACK of what changed the schema would end the queries of this world alone."""
        self.is_uneven = True
        self.plain.run(c, "CREATE VIRTUAL TABLE %s.alike USING no_module" % quoted(schema))

    # -- What is there ----------------------------------------------------------------------

    def schemas(self, c):
        return list(self.attached[c])

    def objects(self, c, schema):
        """The rows of the plain world's sqlite_schema, or None if it is locked."""
        sql = "SELECT type, name, tbl_name, sql FROM %s.sqlite_schema" % quoted(schema)
        plain = self.plain.run(c, sql)
        real = self.real.run(c, sql)
        if bool(plain.code) != bool(real.code) and not self.is_lock_of_ours(c, real) and not self.is_lock_of_ours(c, plain):
            self.compare(c, sql, real._replace(rows=None), plain._replace(rows=None))
        return plain.rows if not real.code else None  # of both, or of none

    def filters(self, c, schema):
        objects = self.objects(c, schema)
        return self.parse(schema, objects)[0] if objects else []

    def tables(self, c, schema):
        """The names of the tables that are no filters."""
        objects = self.objects(c, schema)
        return self.parse(schema, objects)[1] if objects else []

    def parse(self, schema, objects):
        key = (schema, tuple(objects))
        if key in self.parsed:
            return self.parsed[key]
        filters, tables = [], []
        triggers = {name: (table, sql) for kind, name, table, sql in objects if kind == "trigger"}
        for kind, name, table, sql in objects:
            if kind != "table":
                continue
            match = STAND_IN.match(sql)
            if not match:
                if not name.startswith("sqlite_"):
                    tables.append(name)
                continue
            number, made = int(match[1]), json.loads(match[2])
            has_source = "stand_in_%d" % number in triggers
            table, key_text, where = made["table"], made["key"], made["where"]
            if has_source:
                table, text = triggers["stand_in_%d" % number]
                column, expression = COLUMN.search(text), EXPRESSION.search(text)
                key_text, where = (column[1], "") if column else (expression[1], expression[2])
            filters.append(Filter(schema, name, number, table, key_text, where, made["is_plain"], has_source))
        if len(self.parsed) > 200:
            self.parsed.clear()
        self.parsed[key] = filters, tables
        return filters, tables

    def columns(self, c, schema, table):
        """Their names, and whether they are generated."""
        rows = self.plain.run(c, "PRAGMA %s.table_xinfo(%s)" % (quoted(schema), quoted(table))).rows or []
        return [(row[1], bool(row[6])) for row in rows]

    # -- Looking ----------------------------------------------------------------------------

    def check(self, c, how="", is_thorough=True):
        for schema in self.schemas(c):
            for f in self.filters(c, schema):
                if self.is_abandoned:
                    return
                self.check_filter(c, f, how, is_thorough)
            if is_thorough and not self.is_abandoned:
                self.compare_contents(c, schema)

    def source(self, f):
        return "SELECT %s\n AS q FROM %s.%s%s" % (f.key, quoted(f.schema), quoted(f.table), f.where and " WHERE %s\n" % f.where)

    def check_filter(self, c, f, how="", is_thorough=True):
        name = "%s.%s" % (quoted(f.schema), quoted(f.name))
        title = "%s%s of connection %s" % (how and how + ": ", name, c)
        keys_of = "SELECT q FROM (%s) WHERE q IS NOT NULL LIMIT %d" % (self.source(f), MAX_ROWS)
        plain, real = self.plain.run(c, keys_of), self.real.run(c, keys_of)
        if plain.code or real.code:
            # The table is gone, or somebody has locked it.
            if real.code & 0xff != plain.code & 0xff and not self.is_lock_of_ours(c, real):
                self.compare(c, keys_of, real, plain)
            return
        if plain.rows != real.rows and sorted(map(repr, plain.rows)) != sorted(map(repr, real.rows)):
            if self.real.cursors[c]:
                # As with DETACH: a second query, a filter's reader, keeps the snapshot that ATTACH read.
                self.notes["histories that end at a snapshot of one world"] += 1
                self.is_abandoned = True
                return
            self.fault(DIFFERENT, "the keys of %s.%s are not those that it has without a filter" % (f.schema, f.table))
            return
        self.check_keys(c, f, name, title, [row[0] for row in real.rows], is_thorough)
        if f.has_source and is_thorough:
            self.check_absent(c, f, name, title)

    def probe(self, c, title, sql, args=(), reads_filter_alone=False):
        """The rows, or None."""
        outcome = self.real.run(c, sql, args, reads_filter_alone)
        if outcome.code:
            if not self.is_lock_of_ours(c, outcome):
                self.fault(LOOK_UP_FAILS, "%s: %s (code %d): %s" % (title, outcome.text, outcome.code, sql))
            return None
        return outcome.rows

    def check_keys(self, c, f, name, title, keys, is_thorough):
        statements = {
            "look-up": "SELECT count(*) FROM (%s) WHERE q IS NOT NULL AND NOT EXISTS (SELECT 1 FROM %s AS filter"
                       " WHERE filter.key = q COLLATE BINARY)" % (self.source(f), name),
            "handle": "SELECT count(*) FROM (%s) WHERE q IS NOT NULL AND bloom_may_contain("
                      "(SELECT handle FROM %s), q) IS 0" % (self.source(f), name),
        }
        for which, sql in statements.items():
            if which == "look-up" and len(keys) == MAX_ROWS and self.number % 8:
                continue
            for is_held in (True, False):
                if not is_held and not is_thorough and (self.number + len(which)) % 4:
                    continue
                rows = self.probe(c, title, sql if is_held else self.real.fresh(sql))
                if rows is None:
                    break
                if rows[0][0]:
                    self.fault(FALSE_NEGATIVE, "%s: a %s statement says no to %d of the keys of %s, by %s"
                               % (title, "held" if is_held else "fresh", rows[0][0], f.table, which))
        if not keys:
            return
        # The newest ones, and two of the others.
        some = keys[-2:] + [keys[self.number % len(keys)], keys[7 * self.number % len(keys)]]
        if c in self.real.is_stale:
            some = keys[:20] + some
        for which, sql in (("look-up", "SELECT count(*) FROM %s(?)" % name),
                           ("handle", "SELECT bloom_may_contain((SELECT handle FROM %s), ?)" % name)):
            for i, key in enumerate(some):
                is_held = i > 0
                rows = self.probe(c, title, sql if is_held else self.real.fresh(sql), (key,), reads_filter_alone=True)
                if rows is None:
                    break
                if rows[0][0] == 0:
                    self.fault(FALSE_NEGATIVE, "%s: a %s statement says no to %r, by %s"
                               % (title, "held" if is_held else "fresh", key, which))

    def note(self, c, title, name):
        """Its note, or None; False if it cannot be read."""
        if not self.has_note:
            return None
        outcome = self.real.run(c, "SELECT note FROM %s" % name)
        if outcome.code and "no such column: note" in outcome.text:
            self.has_note = False
            return None
        if outcome.code:
            if not self.is_lock_of_ours(c, outcome):
                self.fault(LOOK_UP_FAILS, "%s: %s (code %d): SELECT note" % (title, outcome.text, outcome.code))
            return False
        if outcome.rows[0][0] is not None:
            self.notes["note: " + outcome.rows[0][0][:60]] += 1
        return outcome.rows[0][0]

    def check_absent(self, c, f, name, title, whatever_the_note=False):
        if not whatever_the_note and self.note(c, title, name) is not None:
            return
        absent = "WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 + %d)" % (NUM_ABSENT - 1)
        rows = self.probe(c, title, "%s SELECT sum(EXISTS (SELECT 1 FROM %s AS filter WHERE filter.key = 'absent ' || i)),"
                          " sum(bloom_may_contain((SELECT handle FROM %s), 'absent ' || i)) FROM n" % (absent, name, name),
                          (NUM_ABSENT * self.number,))
        if not rows:
            return
        by_look_up, by_handle = rows[0]
        if by_handle is None or c in self.has_copy:
            by_handle = 0  # one that another copy of the extension made is NULL for this one
        if max(by_look_up, by_handle) > NUM_ABSENT // 2:
            self.fault(VAGUE, "%s: of %d absent keys it says maybe to %d by look-up and to %d by handle"
                       % (title, NUM_ABSENT, by_look_up, by_handle))

    def compare_contents(self, c, schema):
        for table in self.tables(c, schema):
            sql = "SELECT * FROM %s.%s LIMIT %d" % (quoted(schema), quoted(table), MAX_ROWS)
            real, plain = self.real.run(c, sql), self.plain.run(c, sql)
            if real != plain and not self.is_lock_of_ours(c, real):
                if real.code or plain.code:
                    self.compare(c, sql, real._replace(rows=None), plain._replace(rows=None))
                elif sorted(map(repr, real.rows)) == sorted(map(repr, plain.rows)):
                    pass  # by another index
                elif self.real.cursors[c] and self.setup["journal"] == "WAL":
                    # The page that a look-up keeps open is one more reader, and where there are two, ATTACH keeps its snapshot.
                    self.notes["histories that end at a snapshot of one world"] += 1
                    self.is_abandoned = True
                else:
                    self.fault(DIFFERENT, "%s.%s has not the rows that it has without a filter" % (schema, table))

    def check_in_a_fresh_connection(self, is_last=False):
        for file in range(self.setup["num_files"]):
            if not os.path.exists(self.real.path(file)):
                continue
            if not self.connect("fresh", file, 0):
                continue
            try:
                self.check("fresh", "a fresh connection to file %d" % file)
                if is_last and not self.is_abandoned:
                    self.check_integrity("fresh", file)
            finally:
                self.disconnect("fresh")
            if self.is_abandoned:
                return

    def check_integrity(self, c, file):
        rows = self.probe(c, "file %d" % file, "PRAGMA integrity_check")
        is_vague = False
        for f in self.filters(c, "main"):
            name = quoted(f.name)
            if not f.has_source or self.note(c, name, name) is not None:
                is_vague = True
                continue
            outcome = self.real.run(c, "INSERT INTO %s(%s) VALUES ('integrity-check')" % (name, name))
            if outcome.code:
                self.fault(INTEGRITY, "file %d: 'integrity-check' of %s: %s" % (file, name, outcome.text))
        if rows and rows != [("ok",)] and not is_vague:
            self.fault(INTEGRITY, "file %d: PRAGMA integrity_check: %r" % (file, rows))

    # -- Steps ------------------------------------------------------------------------------

    def step(self, number, is_quiet, step):
        self.number = number
        kind, c, *args = step
        if c is not None and kind != "open" and c not in self.real.connections:
            return
        self.num_statements += 1
        getattr(self, "do_" + kind)(c, *args)
        self.is_uneven = self.is_uneven and self.is_in_use()
        if self.is_abandoned or is_quiet:
            return
        if c in self.real.connections:
            self.check(c)
        others = [other for other in sorted(self.real.connections) if other != c]
        if others and not self.is_abandoned:
            self.check(others[number % len(others)], is_thorough=False)
        if number % 25 == 0 and not self.is_abandoned and not self.is_in_use():
            self.check_in_a_fresh_connection()

    def is_in_use(self):
        return any(db.in_transaction for db in self.real.connections.values()) or any(self.real.cursors.values())

    def finish(self):
        """Ends what is open, one way or the other, and looks at the files as they are then."""
        for c in list(self.real.connections):
            if self.is_abandoned:
                return
            self.do_uncursor(c, -1)
            if self.real.connections[c].in_transaction:
                self.do_sql(c, "ROLLBACK" if c == 1 else "COMMIT", ())
            self.check(c)
        if self.is_abandoned:
            return
        for c in list(self.real.connections):
            self.disconnect(c)
        self.check_in_a_fresh_connection(is_last=True)

    def do_open(self, c, file, num_kept):
        if c in self.real.connections:
            self.do_close(c)
        if not self.connect(c, file, num_kept):
            return
        self.same_rowid[c] = True
        self.has_copy.discard(c)
        self.is_scan[c] = []

    def connect(self, c, file, num_kept):
        outcomes = [world.connect(c, file, num_kept) for world in (self.real, self.plain)]
        self.compare(c, "a new connection to file %d" % file, *outcomes)
        if any(outcome.code for outcome in outcomes):
            self.disconnect(c)
            return False
        self.attached[c] = {"main": file}
        return True

    def disconnect(self, c):
        for world in (self.real, self.plain):
            if c in world.connections:
                world.connections.pop(c).close()
                world.cursors.pop(c)

    def do_close(self, c):
        self.do_uncursor(c, -1)
        self.disconnect(c)

    def do_sql(self, c, sql, args=()):
        real = self.real.run(c, sql, args)
        plain = self.plain.run(c, sql, args)
        is_change = IS_CHANGE.match(sql)
        if not is_change and not sql.startswith("SELECT"):
            real, plain = (outcome._replace(rows=None) for outcome in (real, plain))
        if "from within a transaction" in real.text + plain.text and bool(real.code) != bool(plain.code):
            return  # journal_mode stays as it is, which SQLite says only of a transaction that has written nothing
        if real.code and plain.code:
            self.notes["statements that fail in both worlds"] += 1
        if sql.startswith("VACUUM"):
            self.same_rowid[c] = False  # it counts the rows of sqlite_schema
        self.compare(c, sql, real, plain)
        if is_change and not real.code and not self.is_abandoned:
            self.compare_changes(c, sql)

    def compare_changes(self, c, sql):
        counts = [world.run(c, "SELECT changes(), last_insert_rowid()").rows[0] for world in (self.real, self.plain)]
        self.same_rowid[c] |= counts[0][1] == counts[1][1] and sql.startswith("INSERT INTO") and counts[0][0] > 0
        for what, real, plain in zip(("changes()", "last_insert_rowid()"), *counts):
            if real != plain and (what == "changes()" or self.same_rowid[c]):
                self.fault(DIFFERENT, "%s is %d, without a filter %d: %s" % (what, real, plain, sql))

    def has_rebuilding_trigger(self, c):
        return any("/* rebuilds */" in (sql or "") for schema in self.schemas(c) for _, _, _, sql in self.objects(c, schema) or [])

    def stand_in_trigger(self, schema, number, table, key, where, is_plain):
        return "CREATE TRIGGER %s.stand_in_%d AFTER DELETE ON %s WHEN 0 BEGIN SELECT /*<*/%s/*>*/; END" % (
            quoted(schema), number, quoted(table),
            "old." + key if is_plain else "%s/*|*/ FROM %s WHERE /*|*/%s" % (key, quoted(table), where or "1"))

    def do_create_filter(self, c, schema, name, number, table, key, where, is_plain, options):
        sql = "CREATE VIRTUAL TABLE %s.%s USING bloom(%s, %s%s%s)" % (
            quoted(schema), quoted(name), quoted(table), key,
            where and ", where = '%s'" % where.replace("'", "''"), options)
        self.same_rowid[c] = False
        real = self.real.run(c, sql)
        # Locked, the twin has to be as well: SQLite then reads all schemas of the connection again, and may not be let.
        if real.code and real.code & 0xff not in (BUSY, LOCKED):
            # It may say no to what it cannot follow, and names of its own may be taken.
            self.notes["CREATE VIRTUAL TABLE is refused: " + real.text[:60]] += 1
            if "already exists" not in real.text:
                self.lock_alike(c, schema)
            self.compare_transactions(c, sql)
            return
        made = json.dumps({"table": table, "key": key, "where": where, "is_plain": is_plain})
        plain = self.plain.run_all(c, [
            "CREATE TABLE %s.%s(stand_in_%d /*%s*/)" % (quoted(schema), quoted(name), number, made),
            self.stand_in_trigger(schema, number, table, key, where, is_plain)])
        self.compare(c, sql, real._replace(rows=None), plain._replace(rows=None))

    def find(self, c, schema, name):
        for f in self.filters(c, schema) if schema in self.schemas(c) else []:
            if f.name == name:
                return f
        return None

    def do_drop_filter(self, c, schema, name):
        f = self.find(c, schema, name)
        if not f:
            return
        sql = "DROP TABLE %s.%s" % (quoted(schema), quoted(name))
        real = self.real.run(c, sql)
        plain = self.plain.run_all(c, [sql, "DROP TRIGGER IF EXISTS %s.stand_in_%d" % (quoted(schema), f.number)])
        self.compare(c, sql, real._replace(rows=None), plain._replace(rows=None))

    def names_the_rowid(self, c, f):
        """Whether a column was dropped and has left its name to the rowid, over which no filter is made."""
        columns = {name.lower() for name, _ in self.columns(c, f.schema, f.table)}
        return any(re.search(r"(?<!\w)%s(?!\w)" % name, "%s %s" % (f.key, f.where), re.I)
                   for name in {"rowid", "oid", "_rowid_"} - columns)

    def do_command(self, c, schema, name, command):
        f = self.find(c, schema, name)
        if not f:
            return
        full_name = "%s.%s" % (quoted(schema), quoted(name))
        title = "%s of connection %d" % (full_name, c)
        is_check = command == "integrity-check"
        may_fail = not f.has_source or self.names_the_rowid(c, f) or (is_check and self.note(c, title, full_name) is not None)
        sql = "INSERT INTO %s(%s) VALUES ('%s')" % (full_name, quoted(name), command)
        self.same_rowid[c] = False
        real = self.real.run(c, sql)
        if real.code and may_fail and real.code & 0xff not in (BUSY, LOCKED):
            self.lock_alike(c, schema)
            self.compare_transactions(c, sql)
            return
        if is_check and real.code and real.code & 0xff not in (BUSY, LOCKED):
            self.fault(INTEGRITY, "%s: %s (code %d)" % (sql, real.text, real.code))
            return
        # It writes in both worlds, so that both lock the file.
        statements = ["DELETE FROM %s WHERE 0" % full_name if is_check else "INSERT INTO %s DEFAULT VALUES" % full_name]
        if command == "rebuild" and not f.has_source and f.table in self.tables(c, schema):
            statements.append(self.stand_in_trigger(schema, f.number, f.table, f.key, f.where, f.is_plain))
        plain = self.plain.run_all(c, statements)
        self.compare(c, sql, real._replace(rows=None), plain._replace(rows=None))
        if command == "rebuild" and not real.code and not self.is_abandoned:
            f = self.find(c, schema, name)
            if f and f.has_source:
                self.check_absent(c, f, full_name, title, whatever_the_note=True)

    def do_create_rebuilding_trigger(self, c, schema, trigger, head, name):
        """A user's trigger that rebuilds a filter."""
        f = self.find(c, schema, name)
        if not f:
            return
        text = "CREATE TRIGGER %s.%s %s BEGIN INSERT INTO %s{} /* rebuilds */; END" % (
            quoted(schema), quoted(trigger), head, quoted(name))
        real = self.real.run(c, text.replace("{}", "(%s) VALUES ('rebuild')" % quoted(name)))
        plain = self.plain.run(c, text.replace("{}", " VALUES (NULL)"))
        self.compare(c, text, real, plain)

    def do_attach(self, c, schema, file):
        if file in self.attached[c].values():
            return  # it would lock itself out
        sql = "ATTACH ? AS %s" % quoted(schema)
        real = self.real.run(c, sql, (self.real.uri(file),))
        self.compare(c, "ATTACH file %d AS %s" % (file, schema), real, self.plain.run(c, sql, (self.plain.uri(file),)))
        if not real.code:
            self.attached[c][schema] = file

    def do_detach(self, c, schema):
        if self.setup["shared_cache"] and self.filters(c, schema):
            return  # SQLite forgets its objects, FTS4's too, and uses them when the last connection closes
        sql = "DETACH " + quoted(schema)
        real = self.real.run(c, sql)
        plain = self.plain.run(c, sql)
        if bool(real.code) != bool(plain.code) and "is locked" in real.text + plain.text and self.has_other_locks():
            # What ATTACH read stays locked if two queries or more run then, and a filter's reader is one.
            self.notes["histories that end at a lock of one world"] += 1
            self.is_abandoned = True
            return
        self.compare(c, sql, real, plain)
        if not real.code:
            del self.attached[c][schema]

    def do_load(self, c, name):
        """Loads the extension once more; SQLite refuses while a statement runs."""
        load = self.load
        if name == "copy":
            load = os.path.join(self.folder, "bloom.so")
            if not os.path.exists(load):
                original = self.load if os.path.exists(self.load) else self.load + ".so"
                subprocess.run(["cp", original, load], check=True)
            self.has_copy.add(c)
        outcome = self.real.call(lambda: self.real.connections[c].load_extension(load))
        if outcome.code and not any(self.real.cursors.values()):
            self.fault(BLOCKED, "the extension cannot be loaded again: " + outcome.text)

    def do_copy(self, c, source, target):
        """Copies a file, byte for byte, while nobody writes and nobody has the target open."""
        worlds = (self.real, self.plain)
        if self.is_in_use() or source == target:
            return
        open_paths = [row[2] for world in worlds for other in world.connections
                      for row in world.run(other, "PRAGMA database_list").rows]
        if any(os.path.realpath(world.path(target)) == os.path.realpath(path)
                                   for world in worlds for path in open_paths if path):
            return
        if not all(os.path.exists(world.path(source)) for world in worlds):
            return
        for world in worlds:
            db = sqlite3.connect(world.path(source), timeout=0)
            world.call(lambda: db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall())
            db.close()
        for world in worlds:
            for end in ("", "-wal", "-shm", "-journal"):
                if os.path.exists(world.path(target) + end):
                    os.remove(world.path(target) + end)
            # By another process: to close a file here would drop SQLite's locks on it.
            subprocess.run(["cp", world.path(source), world.path(target)], check=True)

    def do_deserialize(self, c, schema, source, source_schema):
        """Puts a copy of a database, in memory, in the place of one that is open."""
        if source not in self.real.connections or schema not in self.schemas(c) or source_schema not in self.schemas(source):
            return
        if self.real.cursors[c] or (self.setup["shared_cache"] and self.filters(c, schema)):
            # SQLite itself crashes; of a shared cache with virtual tables, its own dbstat too, when the last connection closes.
            return
        outcomes = []
        for world in (self.real, self.plain):
            def replace(world=world):
                data = bytearray(world.connections[source].serialize(name=source_schema))
                data[18:20] = b"\1\1"  # not in WAL mode: there is no file
                world.connections[c].deserialize(bytes(data), name=schema)
            if self.is_empty(world, source, source_schema):
                return
            outcomes.append(world.call(replace))
        self.compare(c, "deserialize", *outcomes)
        if outcomes[0].code or outcomes[1].code:
            self.is_abandoned = True  # SQLite goes on to compile new tables for this database, even when it is detached
        if not outcomes[0].code:
            for world in (self.real, self.plain):
                world.is_stale.add(c)
            self.attached[c][schema] = None

    def is_empty(self, world, c, schema):
        outcome = world.run(c, "PRAGMA %s.page_count" % quoted(schema))
        return bool(outcome.code) or outcome.rows[0][0] == 0

    def do_backup(self, c, source, source_schema):
        """Copies a database into one that is open."""
        if source not in self.real.connections or source_schema not in self.schemas(source):
            return
        file = self.attached[source][source_schema]
        if self.setup["shared_cache"] and file is not None and file in self.attached[c].values():
            return  # SQLite waits for itself forever
        def stop_waiting(status, *_):
            if status & 0xff in (BUSY, LOCKED):
                raise ValueError("busy")
        outcomes = []
        for world in (self.real, self.plain):
            outcomes.append(world.call(lambda world=world: world.connections[source].backup(
                world.connections[c], name=source_schema, progress=stop_waiting)))
        self.compare(c, "backup of connection %d, %s" % (source, source_schema), *outcomes)

    def do_cursor(self, c, schema, name):
        """A query that stays where it is: it reads each row and probes the filter for it."""
        f = self.find(c, schema, name)
        if not f:
            return
        for world, probe in ((self.real, "(SELECT count(*) FROM %s.%s(q))" % (quoted(schema), quoted(name))), (self.plain, "1")):
            sql = "SELECT q, %s FROM (%s)" % (probe, self.source(f))
            if c in world.is_stale:
                sql = world.fresh(sql)
            outcome = world.call(lambda: world.connections[c].execute(sql))
            if not outcome.code:
                world.cursors[c].append(outcome.rows)
            elif world is self.real:
                return  # gone, locked, or its source is
        self.even_cursors(c)
        self.is_scan[c].append(True)

    def do_facts_cursor(self, c, schema, name):
        """One that stands on the row of facts."""
        if not self.find(c, schema, name):
            return
        for world, sql in ((self.real, "SELECT handle, num_keys FROM %s.%s" % (quoted(schema), quoted(name))),
                           (self.plain, "SELECT * FROM %s.sqlite_schema LIMIT 1" % quoted(schema))):
            outcome = world.call(lambda: world.connections[c].execute(sql))
            if not outcome.code:
                world.cursors[c].append(outcome.rows)
            elif world is self.real:
                return
        self.even_cursors(c)
        self.is_scan[c].append(False)

    def even_cursors(self, c):
        if len(self.real.cursors[c]) != len(self.plain.cursors[c]):
            self.fault(DIFFERENT, "a query runs only with a filter")

    def do_fetch(self, c, i):
        if not self.real.cursors[c]:
            return
        i %= len(self.real.cursors[c])
        for world in (self.plain, self.real):
            row = world.call(world.cursors[c][i].fetchone)
        if self.is_scan[c][i] and row.rows and row.rows[0] is not None and row.rows[1] == 0:
            self.fault(FALSE_NEGATIVE, "a query that is half-way says no to %r, which it has just read" % (row.rows[0],))
        if not row.rows:
            self.do_uncursor(c, i)

    def do_uncursor(self, c, i):
        """Closes a cursor; -1: all."""
        cursors = len(self.real.cursors[c])
        for j in reversed(range(cursors)) if i < 0 else [i % cursors] if cursors else []:
            for world in (self.real, self.plain):
                world.cursors[c].pop(j).close()
            self.is_scan[c].pop(j)

    def do_rename_old_way(self, c, schema, table, new):
        """With PRAGMA legacy_alter_table, which leaves the text of triggers alone."""
        if any(f.table.lower() == table.lower() and not f.is_plain for f in self.filters(c, schema)):
            return  # its triggers must name the table
        if any(kind == "trigger" and not name.startswith("stand_in_") for kind, name, _, _ in self.objects(c, schema) or []):
            return  # and so may the user's
        for world in (self.real, self.plain):
            world.run(c, "PRAGMA legacy_alter_table = 1")
        self.do_sql(c, "ALTER TABLE %s.%s RENAME TO %s" % (quoted(schema), quoted(table), quoted(new)))
        for world in (self.real, self.plain):
            world.run(c, "PRAGMA legacy_alter_table = 0")

    def do_make_again(self, c, schema, table, definition, columns, meanwhile, restored, is_old_way):
        """sqlite.org's twelve steps.  restored: which triggers are put back from their text."""
        s, t, new = quoted(schema), quoted(table), quoted("new_" + table)
        if schema not in self.schemas(c):
            return
        if is_old_way and any(not f.is_plain for f in self.filters(c, schema)):
            return
        outcomes = []
        # Triggers that name a column which the new table has not do not fit it: nobody would keep them.
        gone = [row[1] for row in self.plain.run(c, "PRAGMA %s.table_xinfo(%s)" % (s, t)).rows or ()
                if not re.search(r"(?<!\w)%s(?!\w)" % re.escape(row[1]), definition, re.I)]
        if re.search(r"WITHOUT ROWID", definition, re.I):
            gone += ["rowid", "_rowid_", "oid"]
        patterns = [r'"select"' if column == "select" else r"(?<!\w)%s(?!\w)" % re.escape(column) for column in gone]  # not the keyword
        filters = {"stand_in_%d" % f.number: f.name for f in self.filters(c, schema)}
        kept = None  # the triggers that are put back in the real world
        for world in (self.real, self.plain):
            triggers = [(name, sql) for name, sql in world.triggers(c, schema, table)
                        if (restored == "all" or (restored == "the user's" and name.startswith("tr")))
                        and not any(re.search(pattern, sql, re.I) for pattern in patterns)
                        # A filter's name the rowid as well: where they are gone, 'rebuild' knows the table's first name alone.
                        and (name not in filters or kept is None
                             or any("BEFORE DELETE" in text and "INSERT INTO %s(" % quoted(filters[name]) in text for _, text in kept))]
            kept = kept or triggers
            if is_old_way:
                world.run(c, "PRAGMA legacy_alter_table = 1")
            outcomes.append(world.run_all(c, [
                "CREATE TABLE %s.%s(%s" % (s, new, definition),
                "INSERT OR IGNORE INTO %s.%s(%s) SELECT %s FROM %s.%s" % (s, new, columns, columns, s, t),
                *[(sql % (s + "." + new), tuple(args)) for sql, args in meanwhile],
                "DROP TABLE %s.%s" % (s, t),
                "ALTER TABLE %s.%s RENAME TO %s" % (s, new, t),
                *[sql.replace("CREATE TRIGGER ", "CREATE TRIGGER %s." % s, 1) for name, sql in triggers],
            ]))
            if is_old_way:
                world.run(c, "PRAGMA legacy_alter_table = 0")
        self.same_rowid[c] = False
        self.compare(c, "%s.%s is made again" % (s, t), *(outcome._replace(rows=None) for outcome in outcomes))


def shown(number, step):
    """A step as a line of SQL, as far as SQL has a word for it."""
    kind, c, *args = step
    if kind == "sql":
        text = as_sql(args[0], args[1] if len(args) > 1 else ())
    elif kind == "create_filter":
        schema, name, _, table, key, where, _, options = args
        text = "CREATE VIRTUAL TABLE %s.%s USING bloom(%s, %s%s%s);" % (
            quoted(schema), quoted(name), quoted(table), key, where and ", where = '%s'" % where.replace("'", "''"), options)
    elif kind == "drop_filter":
        text = "DROP TABLE %s.%s;" % tuple(map(quoted, args))
    elif kind == "command":
        text = "INSERT INTO %s.%s(%s) VALUES ('%s');" % (quoted(args[0]), quoted(args[1]), quoted(args[1]), args[2])
    elif kind == "detach":
        text = "DETACH %s;" % quoted(args[0])
    elif kind == "attach":
        text = "ATTACH 'real%d.db' AS %s;" % (args[1], quoted(args[0]))
    else:
        text = "-- %s%r" % (kind, tuple(args))
    return "/* %4d, %s */ %s" % (number, "the files" if c is None else "connection %d" % c, text)
