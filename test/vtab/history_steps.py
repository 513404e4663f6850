"""What may come next in a history: a table of kinds of steps, each with its weight.

A kind is a function that looks at the state of the twins (history_twins.py) and returns
steps: tuples that are complete in themselves.  None, or an empty list, where it does not
apply.  Steps of one kind that belong together come one after the other, with those of other
connections in between.
"""
from cases import quoted

SCHEMAS = ["aux", "two"]
TABLES = ["t", "u", "t t"]
FILTERS = ["f", "g", "h"]
TRIGGERS = ["tr1", "tr2", "tr3", "tr4"]
NEW_COLUMNS = ["k", "v", "w", "x", "k2", "rowid", "_rowid_", "oid", "select"]
OR = ["", "", "", " OR IGNORE", " OR REPLACE", " OR FAIL", " OR ABORT", " OR ROLLBACK"]

DEFINITIONS = [
    "k TEXT, v INTEGER, w)",
    "k TEXT, v INTEGER, w)",
    "k, v INTEGER, w TEXT COLLATE NOCASE)",
    "k INTEGER, v INTEGER, w TEXT)",
    "id INTEGER PRIMARY KEY, k TEXT UNIQUE, v INTEGER CHECK (v < 90), w)",
    "id INTEGER PRIMARY KEY, k TEXT COLLATE NOCASE, v INTEGER, w UNIQUE ON CONFLICT REPLACE)",
    "k TEXT PRIMARY KEY, v INTEGER, w UNIQUE) WITHOUT ROWID",
    "k PRIMARY KEY, v INTEGER NOT NULL DEFAULT 5, w NOT NULL DEFAULT 'none')",
    "k NUMERIC, v INTEGER, w, g TEXT AS (k || '!') STORED)",
    "k TEXT NOT NULL, v INTEGER, w, g AS (v + 1000))",
    "id INTEGER PRIMARY KEY, k TEXT, v REAL UNIQUE, w)",
]


class Generator:
    def __init__(self, random, twins, setup, without=()):
        self.random, self.twins, self.setup = random, twins, setup
        kinds = [(weight, kind) for weight, kind in KINDS if kind.__name__ not in without and kind.__name__ not in setup["without"]]
        self.weights, self.kinds = zip(*kinds)
        self.queue = []
        self.num_filters = 0
        self.num_values = 0
        self.depth = {}  # savepoints, by connection

    # -- What to choose from ----------------------------------------------------------------

    def chance(self, share):
        return self.random.random() < share

    def connection(self):
        there = sorted(self.twins.real.connections)
        return self.random.choice(there) if there else None

    def is_in_transaction(self, c):
        return self.twins.real.connections[c].in_transaction

    def schema(self, c):
        return self.random.choice(self.twins.schemas(c))

    def table(self, c, schema=None):
        """(schema, table), or None."""
        schema = schema or self.schema(c)
        tables = [table for table in self.twins.tables(c, schema) if self.columns(c, schema, table)]
        return (schema, self.random.choice(tables)) if tables else None

    def filter(self, c):
        filters = [f for schema in self.twins.schemas(c) for f in self.twins.filters(c, schema)]
        return self.random.choice(filters) if filters else None

    def columns(self, c, schema, table, with_generated=False):
        """Names, without those of generated columns, which nobody can write."""
        return [name for name, is_generated in self.twins.columns(c, schema, table) if with_generated or not is_generated]

    def value(self, column=""):
        r = self.random
        if column == "id" or (column == "v" and self.chance(0.9)):
            return r.randint(0, 95)
        self.num_values += 1
        return r.choice([
            lambda: "k%d" % r.randint(0, 60), lambda: "k%d" % r.randint(0, 60), lambda: "K%d" % r.randint(0, 60),
            lambda: "key %d" % self.num_values, lambda: "key %d" % self.num_values, lambda: "key %d" % self.num_values,
            lambda: r.randint(-5, 40), lambda: r.randint(0, 10**6), lambda: str(r.randint(-5, 40)),
            lambda: r.choice([1.0, 2.5, -0.0, 1e20, "1.0", "1e1", "", "é", b"1", b"", b"\0k"]),
            lambda: None,
        ])()

    def condition(self, columns):
        """(SQL, arguments)"""
        column = self.random.choice(columns)
        return self.random.choice([
            ("%s = ?" % quoted(column), [self.value(column)]), ("%s > ?" % quoted(column), [self.value(column)]),
            ("%s < ?" % quoted(column), [self.value(column)]), ("length(%s) %% 3 = 0" % quoted(column), []),
            ("%s IN (?, ?, ?)" % quoted(column), [self.value(column) for _ in range(3)])])

    def insert(self, c, schema, table, verb=None):
        """(SQL with %s for the table, arguments)"""
        r = self.random
        columns = self.columns(c, schema, table)
        if not columns:
            return None
        if len(columns) > 1 and self.chance(0.3):
            columns = r.sample(columns, r.randint(1, len(columns)))
        verb = verb or r.choice(["INSERT" + r.choice(OR), "INSERT" + r.choice(OR), "REPLACE"])
        num_rows = r.choice([1, 1, 1, 2, 5])
        row = "(%s)" % ", ".join("?" * len(columns))
        sql = "%s INTO %%s(%s) VALUES %s" % (verb, ", ".join(quoted(column).replace("%", "%%") for column in columns), ", ".join([row] * num_rows))
        if verb == "INSERT" and self.chance(0.2):
            sql += r.choice([" ON CONFLICT DO NOTHING", " ON CONFLICT DO UPDATE SET %s = ?" % quoted(columns[-1])])
        args = [self.value(column) for _ in range(num_rows) for column in columns]
        return sql, args + [self.value()] * (sql.count("?") - len(args))

    def next(self):
        while not self.queue:
            kind = self.random.choices(self.kinds, self.weights)[0]
            c = self.connection()
            if c is None:
                return ("open", 0, 0, 128)
            self.queue = list(kind(self, c) or [])
        step = self.queue.pop(0)
        if self.queue and self.chance(0.1):
            # Another connection comes in between.
            c = self.connection()
            if c is not None:
                other = insert(self, c)
                if other:
                    self.queue.insert(0, step)
                    step = other[0]
        return step


# -- The kinds ------------------------------------------------------------------------------

def begin_with(g):
    """The steps that every history begins with: files with tables and filters of the same names."""
    r = g.random
    yield "open", 0, 0, g.setup["num_kept"][0]
    for file in range(g.setup["num_files"] - 1):
        schema = "main" if file == 0 else "aux"
        if file > 0:
            yield "attach", 0, schema, file
        yield "sql", 0, "PRAGMA %s.page_size = %d" % (quoted(schema), g.setup["page_size"])
        yield "sql", 0, "PRAGMA %s.journal_mode = %s" % (quoted(schema), g.setup["journal"])
        definition = DEFINITIONS[0] if file == 0 or g.chance(0.6) else r.choice(DEFINITIONS)
        yield "sql", 0, "CREATE TABLE %s.t(%s" % (quoted(schema), definition)
        for _ in range(r.randint(1, 3)):
            sql, args = g.insert(0, schema, "t", "INSERT OR IGNORE")
            yield "sql", 0, sql % (quoted(schema) + ".t"), args
        if file == 0 or g.chance(0.8):
            yield create_filter_on(g, 0, schema, "t", "f", "k", "")
        if file > 0:
            yield "detach", 0, schema
    for c in range(1, g.setup["num_connections"]):
        yield "open", c, r.choice([0, 0, 1]), g.setup["num_kept"][c]


def change(g, c, make):
    at = g.table(c)
    if not at:
        return None
    made = make(*at)
    return [("sql", c, made[0] % ("%s.%s" % tuple(map(quoted, at))), made[1])] if made else None


def insert(g, c):
    return change(g, c, lambda schema, table: g.insert(c, schema, table))


def insert_select(g, c):
    def make(schema, table):
        columns = g.columns(c, schema, table)
        if not columns:
            return None
        n = g.random.choice([20, 20, 80, 400] + [9000] * g.chance(0.1))
        values = g.random.choice(["'key ' || (i + %d)", "i + %d", "%d || '/' || i"])
        g.num_values += n
        chosen = ", ".join("i %% 90" if column in ("v", "id") else values.replace("%d", str(g.num_values)) for column in columns)
        return ("INSERT OR IGNORE INTO %%s(%s) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
                " SELECT %s FROM n" % (", ".join(map(quoted, columns)), n, chosen), [])
    return change(g, c, make)


def update(g, c):
    def make(schema, table):
        columns = g.columns(c, schema, table)
        if not columns:
            return None
        column = g.random.choice(columns)
        value, args = g.random.choice([("?", [g.value(column)]), ("?", [g.value(column)]), ("%s || 'u'" % quoted(column), []),
                                       (quoted(g.random.choice(columns)), []), ("NULL", []), ("%s + 1" % quoted(column), [])])
        if column == "id":
            value, args = "?", [g.value("id")]
        where, more = g.condition(columns)
        return "UPDATE%s %%s SET %s = %s WHERE %s" % (g.random.choice(OR), quoted(column), value, where.replace("%", "%%")), args + more
    return change(g, c, make)


def delete(g, c):
    def make(schema, table):
        columns = g.columns(c, schema, table)
        where, args = g.condition(columns)
        return ("DELETE FROM %s", []) if g.chance(0.15) else ("DELETE FROM %%s WHERE %s" % where.replace("%", "%%"), args)
    return change(g, c, make)


def transaction(g, c):
    r = g.random
    if not g.is_in_transaction(c):
        g.depth[c] = 0
        if g.chance(0.5):
            return [("sql", c, r.choice(["BEGIN", "BEGIN", "BEGIN IMMEDIATE"]))]
    depth = g.depth.get(c, 0)
    kind = r.choice(["open", "open", "open", "release", "back", "back", "back and release", "COMMIT", "ROLLBACK"])
    if kind == "open" or (depth == 0 and kind not in ("COMMIT", "ROLLBACK")):
        g.depth[c] = depth + 1
        return [("sql", c, "SAVEPOINT s%d" % (depth + 1))]
    if kind in ("COMMIT", "ROLLBACK"):
        g.depth[c] = 0
        return [("sql", c, kind)]
    level = r.randint(1, depth) if g.chance(0.4) else depth
    if kind == "back":
        g.depth[c] = level
        return [("sql", c, "ROLLBACK TO s%d" % level)]
    g.depth[c] = level - 1
    return [("sql", c, "ROLLBACK TO s%d" % level)] * (kind == "back and release") + [("sql", c, "RELEASE s%d" % level)]


def end_transaction(g, c):
    if not g.is_in_transaction(c):
        return None
    g.depth[c] = 0
    return [("sql", c, g.random.choice(["COMMIT", "COMMIT", "ROLLBACK"]))]


def create_filter_on(g, c, schema, table, name, key, options):
    g.num_filters += 1
    return "create_filter", c, schema, name, g.num_filters, table, quoted(key), "", True, options


def create_filter(g, c, names=None):
    r = g.random
    at = g.table(c)
    if not at:
        return None
    schema, table = at
    columns = g.columns(c, schema, table, with_generated=True)
    name = r.choice(names or FILTERS)
    options = r.choice(["", "", "", ", bits_per_key = 16", ", capacity = %d" % r.choice([1, 10, 300, 20000])])
    if g.chance(0.7):
        return [create_filter_on(g, c, schema, table, name, r.choice(["k"] * 3 * ("k" in columns) + columns), options)]
    a, b = (quoted(r.choice(columns)) for _ in range(2))
    key = r.choice(["lower(%s)" % a, "%s || '/' || %s" % (a, b), "coalesce(%s, %s)" % (a, b), a, a])
    where = r.choice(["%s IS NOT NULL" % b, "%s > 20" % b, "length(%s) < 6" % b])
    if key != a and g.chance(0.5):
        where = ""
    g.num_filters += 1
    return [("create_filter", c, schema, name, g.num_filters, table, key, where, False, options)]


def drop_filter(g, c):
    f = g.filter(c)
    return f and [("drop_filter", c, f.schema, f.name)]


def rename_filter(g, c):
    f = g.filter(c)
    return f and [("sql", c, "ALTER TABLE %s.%s RENAME TO %s" % (quoted(f.schema), quoted(f.name), quoted(g.random.choice(FILTERS))))]


def command(g, c):
    f = g.filter(c)
    return f and [("command", c, f.schema, f.name, g.random.choice(["rebuild", "rebuild", "integrity-check"]))]


def take_back(g, c):
    """A filter is made, taken back in one of many ways, and made again with others' help."""
    r = g.random
    made = create_filter(g, c, FILTERS[:2])
    if not made:
        return None
    step = made[0]
    drop = ("drop_filter", c, step[2], step[3])
    again = step[:4] + (g.num_filters + 1,) + step[5:]
    g.num_filters += 1
    change_schema = ("sql", c, "ALTER TABLE %s.%s ADD COLUMN %s" % (quoted(step[2]), quoted(step[5]), quoted("a%d" % g.num_filters)))
    def some(*steps):
        return [one for one in steps if g.chance(0.6)]
    def changes():
        return (insert(g, c) or []) + (insert(g, c) or [])
    sp = ("sql", c, "SAVEPOINT s")
    back = [("sql", c, "ROLLBACK TO s")] + some(("sql", c, "RELEASE s"))
    end = [("sql", c, r.choice(["COMMIT", "RELEASE s"]))]
    return r.choice([
        lambda: [drop, sp, step] + some(*changes()) + back + [again] + changes() + some(change_schema) + changes() + end,
        lambda: [drop, ("sql", c, "BEGIN"), step] + some(*changes()) + [("sql", c, "ROLLBACK"), again] + changes(),
        lambda: [("sql", c, "BEGIN"), sp, drop] + some(again) + changes() + back + changes() + some(change_schema) + changes() + end,
        lambda: [drop, step] + changes() + [drop, again] + changes(),
    ])()


def create_table(g, c):
    schema = g.schema(c)
    return [("sql", c, "CREATE TABLE %s.%s(%s" % (quoted(schema), quoted(g.random.choice(TABLES)), g.random.choice(DEFINITIONS)))]


def drop_table(g, c):
    at = g.table(c)
    if not at:
        return None
    steps = [("sql", c, "DROP TABLE %s.%s" % tuple(map(quoted, at)))]
    if g.chance(0.6):
        # Another one comes in its place.
        steps.append(("sql", c, "CREATE TABLE %s.%s(%s" % (*map(quoted, at), g.random.choice(DEFINITIONS))))
        filters = [f for f in g.twins.filters(c, at[0]) if f.table == at[1]]
        if filters and g.chance(0.6):
            f = g.random.choice(filters)
            steps.append(("sql", c, "INSERT INTO %s.%s(k) VALUES (?)" % tuple(map(quoted, at)), [g.value()]))
            steps.append(("command", c, f.schema, f.name, "rebuild"))
    return steps


def make_again(g, c):
    at = g.table(c)
    if not at:
        return None
    schema, table = at
    definition = g.random.choice(DEFINITIONS)
    columns = g.columns(c, schema, table)
    common = [column for column in columns if column in ("k", "v", "w", "id") and column + " " in definition.replace(",", " ")]
    if "k" not in common:
        return None
    meanwhile = [(sql, args) for sql, args in (
        ("INSERT OR IGNORE INTO %s(k) VALUES (?)", [g.value()]), ("UPDATE OR IGNORE %s SET k = k || 'm'", []),
        ("DELETE FROM %s WHERE v > ?", [g.value("v")])) if g.chance(0.25)]
    steps = [("make_again", c, schema, table, definition, ", ".join(map(quoted, common)), meanwhile,
              g.random.choice(["no", "the user's", "all", "all"]), g.chance(0.2))]
    filters = [f for f in g.twins.filters(c, schema) if f.table == table]
    if filters and g.chance(0.6):
        f = g.random.choice(filters)
        steps.append(("command", c, f.schema, f.name, "rebuild"))
    return steps


def alter_table(g, c):
    at = g.table(c)
    if not at:
        return None
    schema, table = at
    r = g.random
    full = "%s.%s" % (quoted(schema), quoted(table))
    columns = g.columns(c, schema, table, with_generated=True)
    kind = r.choice(["table", "table", "old way", "column", "column", "column", "add", "add", "drop"])
    if kind == "table":
        return [("sql", c, "ALTER TABLE %s RENAME TO %s" % (full, quoted(r.choice(TABLES))))]
    if kind == "old way":
        return [("rename_old_way", c, schema, table, r.choice(TABLES))]
    if kind == "column":
        old, new = r.choice(columns), r.choice(NEW_COLUMNS)
        steps = [("sql", c, "ALTER TABLE %s RENAME COLUMN %s TO %s" % (full, quoted(old), quoted(new)))]
        # Most often there is a k again soon, which the other steps know.
        return steps + [("sql", c, "ALTER TABLE %s RENAME COLUMN %s TO %s" % (full, quoted(new), quoted(old)))] * g.chance(0.5)
    if kind == "add":
        return [("sql", c, "ALTER TABLE %s ADD COLUMN %s%s" % (full, quoted(r.choice(NEW_COLUMNS)), r.choice(["", " TEXT", " DEFAULT 'd'"])))]
    return [("sql", c, "ALTER TABLE %s DROP COLUMN %s" % (full, quoted(r.choice(columns))))]


def create_trigger(g, c):
    at = g.table(c)
    if not at:
        return None
    r = g.random
    schema, table = at
    t = quoted(table)
    name = "%s.%s" % (quoted(schema), quoted(r.choice(TRIGGERS)))
    u = quoted(r.choice(g.twins.tables(c, schema)))
    when = "%% %d = %d" % (r.randint(2, 5), r.randint(0, 1))
    time = r.choice(["BEFORE", "AFTER", "AFTER"])
    body = r.choice(["IGNORE", "IGNORE", "ABORT, 'no'", "FAIL, 'no'", "ROLLBACK, 'no'"])
    event, row = r.choice([("INSERT", "new"), ("UPDATE", "new"), ("DELETE", "old")])
    head = "%s %s ON %s WHEN length(%s.k) %s" % (time, event, t, row, when)
    f = g.filter(c)
    if f and f.schema == schema and g.chance(0.1):
        return [("create_rebuilding_trigger", c, schema, r.choice(TRIGGERS), head, f.name)]
    text = r.choice([
        "%s BEGIN SELECT RAISE(%s); END" % (head, body),
        "%s BEGIN SELECT RAISE(%s); END" % (head, body),
        "AFTER INSERT ON %s WHEN new.v BETWEEN 1 AND %d BEGIN INSERT%s INTO %s(k, v) VALUES (new.k || 'n', new.v - 1); END"
        % (t, r.choice([3, 9, 40]), r.choice(OR), t),
        "AFTER INSERT ON %s WHEN new.v %s BEGIN INSERT%s INTO %s(k) VALUES (new.k || 'i'); END" % (t, when, r.choice(OR), u),
        "%s UPDATE ON %s WHEN old.v %s BEGIN UPDATE%s %s SET w = old.w || 'b' WHERE k = old.k; END" % (time, t, when, r.choice(OR), t),
        "%s UPDATE ON %s WHEN old.v %s BEGIN UPDATE%s %s SET k = old.k || 'c' WHERE k = old.k; END" % (time, t, when, r.choice(OR), t),
        "%s DELETE ON %s WHEN old.v %s BEGIN INSERT%s INTO %s(k) VALUES (old.k || 'd'); END" % (time, t, when, r.choice(OR), u),
        "%s UPDATE ON %s WHEN new.v %s BEGIN DELETE FROM %s WHERE v < 3; INSERT%s INTO %s(k) VALUES (new.k || 'e'); END"
        % (time, t, when, u, r.choice(OR), u),
        # Recursion that fails at its end.
        "AFTER INSERT ON %s WHEN new.v > 60 BEGIN INSERT INTO %s(k, v) VALUES (new.k || 'r', new.v - 1);"
        " SELECT RAISE(%s) WHERE new.v = 61; END" % (t, t, body),
    ])
    count_down = "new.v - 1)"
    if count_down in text and any(row[0] == "trigger" and row[2] == table and count_down in row[3] for row in g.twins.objects(c, schema) or []):
        return None  # with two of them each row would make two, and each of these two, down to 0
    return [("sql", c, "CREATE TRIGGER %s %s" % (name, text))]


def drop_trigger(g, c):
    schema = g.schema(c)
    names = [row[1] for row in g.twins.objects(c, schema) or [] if row[0] == "trigger" and row[1].startswith("tr")]
    return names and [("sql", c, "DROP TRIGGER %s.%s" % (quoted(schema), quoted(g.random.choice(names))))]


def end_first(g, c):
    """What SQLite refuses within a transaction mostly comes after it."""
    if g.is_in_transaction(c) and g.chance(0.9):
        g.depth[c] = 0
        return [("sql", c, "COMMIT")]
    return []


def any_file(g):
    return g.random.randrange(g.setup["num_files"])


def attach(g, c):
    schema = g.random.choice(SCHEMAS)
    if schema not in g.twins.schemas(c):
        return end_first(g, c) + [("attach", c, schema, any_file(g))]
    if g.chance(0.3):
        return end_first(g, c) + [("detach", c, schema)]
    # Another file under the same name, perhaps a copy.
    file = any_file(g)
    steps = end_first(g, c) + [("detach", c, schema)]
    if g.chance(0.3):
        steps.append(("copy", None, any_file(g), file))
    steps.append(("attach", c, schema, file))
    for _ in range(g.random.randint(0, 2)):
        steps.append(("sql", c, "INSERT OR IGNORE INTO %s.t(k) VALUES (?)" % quoted(schema), [g.value()]))
    return steps


def copy(g, c):
    source, target = any_file(g), any_file(g)
    return source != target and [("copy", None, source, target)]


def deserialize(g, c):
    source = g.connection()
    return end_first(g, c) + [("deserialize", c, g.schema(c), source, g.schema(source))]


def backup(g, c):
    source = g.connection()
    return source != c and end_first(g, c) + [("backup", c, source, g.schema(source))]


def reopen(g, c):
    steps = []
    if g.chance(0.7):
        steps = end_first(g, c) + [("close", c)]
    return steps + [("open", g.random.randrange(g.setup["num_connections"]), any_file(g), g.random.choice([0, 128, 128]))]


def load(g, c):
    return [("load", c, g.random.choice(["again", "again", "copy"]))]


def vacuum(g, c):
    return end_first(g, c) + [("sql", c, "VACUUM %s" % quoted(g.schema(c)))]


def pragma(g, c):
    r = g.random
    return [("sql", c, r.choice(["PRAGMA recursive_triggers = %d", "PRAGMA recursive_triggers = %d",
                                 "PRAGMA trusted_schema = %d", "PRAGMA defer_foreign_keys = %d"]) % r.randint(0, 1))]


def journal_mode(g, c):
    return end_first(g, c) + [("sql", c, "PRAGMA %s.journal_mode = %s" % (quoted(g.schema(c)), g.random.choice(
        ["WAL", "DELETE", "TRUNCATE", "PERSIST", "MEMORY"])))]


def cursor(g, c):
    f = g.filter(c)
    return f and [(g.random.choice(["cursor", "cursor", "facts_cursor"]), c, f.schema, f.name)]


def fetch(g, c):
    return g.twins.real.cursors[c] and [("fetch", c, g.random.randint(0, 9))]


def uncursor(g, c):
    return g.twins.real.cursors[c] and [("uncursor", c, g.random.choice([-1, 0, 1, 2]))]


KINDS = [
    (14, insert), (3, insert_select), (6, update), (4, delete), (14, transaction), (3, end_transaction),
    (4, create_filter), (1, drop_filter), (2, rename_filter), (3, command), (5, take_back),
    (1, create_table), (1, drop_table), (2, make_again), (4, alter_table), (2, create_trigger), (2, drop_trigger),
    (7, attach), (1, copy), (2, deserialize), (2, backup), (2, reopen), (1, load), (1, vacuum), (1, pragma),
    (0.5, journal_mode), (1, cursor), (2, fetch), (2, uncursor),
]
NAMES = [kind.__name__ for _, kind in KINDS]


def draw_setup(random):
    """What a history begins with."""
    num_connections = random.choice([1, 2, 2, 3])
    return {
        "num_files": 4,  # the last one is not there at first
        "num_connections": num_connections,
        "num_kept": [random.choice([0, 128, 128]) for _ in range(num_connections)],
        "shared_cache": random.random() < 0.2,
        "journal": random.choice(["WAL", "WAL", "DELETE", "TRUNCATE"]),
        "page_size": random.choice([512, 1024, 4096, 4096]),
        # A history of a few kinds of steps goes further with them than one of all.
        "without": [name for name in NAMES if name not in ("insert", "transaction") and random.random() < 0.4],
    }
