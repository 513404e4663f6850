"""Beside the table's own indexes: what a random query costs on the index, and on the table that has the same own indexes.

    python3 test/index/beside.py [--load ./bloom] [--queries 200] [--seed N] [--rows 6000]

Rows are compared, and SQLite's steps, those of inner statements among them: the progress handler counts them all.  A query
may take SHARE times as many as on the table, SOME more to plan it, and OF_LOOK_UP more where a join looks for each row:
a statement that begins, binds, searches and ends, and the version of the schema, where the table moves a cursor.

Not among the kinds, since SQLite tells a virtual table nothing of them, so that all rows are read: min() of a column that
may be NULL (it asks for no order).  Nor is an order by id beside a range of another index, as `WHERE ts > ? ORDER BY id LIMIT 1`:
which of the two is searched is a guess, of SQLite's too.
"""
import random
import re
import sqlite3
import sys

from log import command, steps_of  # the first: it finds the others
from cases import arguments, as_sql, connect, sum_up


SHARE = 3
SOME = 1500
OF_PATTERN = 2500  # SQLite lists all functions, to see whether LIKE is its own
OF_LOOK_UP = 60


# <value> is a random one, as a parameter or a literal; <value?> a parameter, as prepared statements have it; [a|b|c] is one of these.
KINDS = {
    "number for text": ["SELECT id FROM {t} WHERE [code|mark|any_key] = <id>", "SELECT id FROM {t} WHERE [code|any_key] = <id?>"],
    "join of numbers": ["SELECT count(*), sum(t.id) FROM o CROSS JOIN {t} AS t ON t.[code|mark|any_key] = o.n"],
    "range of texts": ["SELECT [count(*)|id, message] FROM {t} WHERE day >[|=] <day?> AND day <[|=] <later?>", "SELECT id FROM {t} WHERE day BETWEEN <day> AND <later>",
                       "SELECT id FROM {t} WHERE service >= <'ap'?> AND service < <'aq'?>"],
    "beginning": ["SELECT id FROM {t} WHERE message GLOB <begin*>", "SELECT id FROM {t} WHERE message LIKE <begin%>", "SELECT id FROM {t} WHERE day GLOB <'2024-07-1*'>",
                  "SELECT id FROM {t} WHERE folded LIKE <begin%>[| ESCAPE '~']"],
    "range beside pattern": ["SELECT id FROM {t} WHERE message >= <begin> AND message < <begin~> AND message [LIKE '%<digit>%'|GLOB '*<digit>*']",
                             "SELECT id FROM {t} WHERE day >= <day> AND day <= <later> AND day [LIKE '%<digit>%'|GLOB '*<digit>*']"],
    "by id": ["SELECT * FROM {t} WHERE id = <id>", "SELECT message FROM {t} WHERE id > <id> LIMIT 5", "SELECT id, ts FROM {t} WHERE id IN (1, 7, <id>)"],
    "join by id": ["SELECT count(*), sum(t.ts) FROM o CROSS JOIN {t} AS t ON t.id = o.n", "SELECT o.n, t.message FROM o LEFT JOIN {t} AS t ON t.id = o.n",
                   "SELECT o.n FROM o JOIN {t} AS t ON t.id = o.n WHERE t.status = 200"],
    "join by key": ["SELECT o.n, t.id FROM o CROSS JOIN {t} AS t ON t.user_id = o.u", "SELECT o.n, count(t.id) FROM o LEFT JOIN {t} AS t ON t.user_id = o.u GROUP BY o.n",
                    "SELECT o.n, t.id FROM o CROSS JOIN {t} AS t ON t.ts = o.ts"],
    "self-join": ["SELECT a.id, b.ts FROM {t} AS a JOIN {t} AS b ON b.id = a.id[| + 1] WHERE a.id BETWEEN <id> AND <next>"],
    "exists": ["SELECT o.n FROM o WHERE [NOT |]EXISTS (SELECT 1 FROM {t} AS t WHERE t.user_id = o.u[| AND t.status = 500| AND t.service = 'api'])"],
    "least": ["SELECT [min(id)|min(ts)|max(id)|max(ts)|max(day)] FROM {t}[|| WHERE service = 'api'| WHERE user_id = <user>| WHERE id > <id>| WHERE ts >= <ts>| WHERE status = 200]"],
    # Of DISTINCT beside a descending order SQLite before 3.52 tells nothing.
    "distinct": ["SELECT DISTINCT [service|day|user_id|status] FROM {t}[| ORDER BY 1%s]" % ("| ORDER BY 1 DESC" if sqlite3.sqlite_version_info >= (3, 52) else ""),
                 "SELECT DISTINCT [service, status|user_id, service] FROM {t}", "SELECT DISTINCT user_id FROM {t} WHERE service = 'auth'"],
    "groups": ["SELECT [service|status|day], count(*) FROM {t} GROUP BY 1", "SELECT user_id, max(id) FROM {t} WHERE user_id < <user> GROUP BY user_id",
               "SELECT day, count(*) FROM {t} WHERE day >= <day> GROUP BY day"],
    "ordered": ["SELECT [id|id, message|id, ts, status] FROM {t}[|| WHERE user_id = <user>] ORDER BY [ts|id|day, id|day DESC, id|ts DESC|id DESC] LIMIT [1|10|50][| OFFSET 10| OFFSET 300]",
                "SELECT [id|id, message|id, ts, status] FROM {t} WHERE ts > <ts> ORDER BY [ts|day, id|day DESC, id|ts DESC] LIMIT [1|10|50][| OFFSET 10| OFFSET 300]"],
    "nothing serves": ["SELECT count(*) FROM {t} WHERE service <> 'web'", "SELECT id FROM {t} WHERE id + 0 = <id>", "SELECT id FROM {t} WHERE status % 100 = 4", "SELECT max(n) FROM {t}",
                       "SELECT id FROM {t} WHERE service IS NOT 'web'", "SELECT sum(n) FROM {t} WHERE user_id <> <user>",
                       "SELECT count(*) FROM {t} WHERE ts > <ts> AND id <> <id>", "SELECT count(*) FROM {t} WHERE user_id [>|<=] <user>"],
    "several": ["SELECT id FROM {t} WHERE user_id = <user> OR [ts = <ts>|id = <id>|trace = <'trace7'>]", "SELECT id FROM {t} WHERE user_id IN (<user>, <user>, <user>, <user>, <user>)",
                "SELECT id FROM {t} WHERE user_id = <user> AND [status = 500|trace = <'trace7'>|message LIKE '%of 77%'|service = 'api'|n > 50]"],
    "entries": ["SELECT id FROM {t} WHERE trace [= <trace>|IN (<trace>, <trace>)]", "SELECT id FROM {t} WHERE message LIKE <%begin%>"],
    "counted": ["SELECT count(*) FROM {t}[| WHERE user_id = <user>| WHERE status = 500| WHERE message LIKE '%of 77%']", "SELECT EXISTS (SELECT 1 FROM {t}), (SELECT 1 FROM {t} LIMIT 1 OFFSET <id>)"],
    # An id is asked for of some rows, or of all.
    "ids after all": ["SELECT DISTINCT service FROM {t} WHERE rowid % 7 = 3", "SELECT DISTINCT service FROM {t} WHERE service <> 'api' AND rowid % 7 = 3",
                      "SELECT count(*), sum(n) FROM (SELECT CASE WHEN row_number() OVER () % <next> = 0 THEN t.rowid ELSE -1 END AS n FROM {t} AS t)",
                      "SELECT count(CASE WHEN abs(random()) % 999 = 0 THEN t.rowid ELSE 1 END) FROM {t} AS t",
                      "SELECT count(t.rowid), count(*) FROM o LEFT JOIN {t} AS t ON o.n = 7 OR t.rowid = o.n"],
    "alternatives": ["SELECT id FROM {t} WHERE message REGEXP <alternatives>"],
}


# What a random query found once, with ANALYZE.
FOUND = ["SELECT id, ts, status FROM {t} WHERE ts > <late> ORDER BY day, id LIMIT 1 OFFSET 300"]


class Query:
    def __init__(self, r, num_rows, template):
        self.r, self.num_rows, self.values = r, num_rows, []
        self.first, self.begin = r.randint(1, num_rows), "request %d" % r.randint(10, 998)
        template = re.sub(r"\[([^\[\]]*)\]", lambda match: r.choice(match.group(1).split("|")), template)
        template = re.sub(r"\[([^\[\]]*)\]", lambda match: r.choice(match.group(1).split("|")), template)
        self.sql = re.sub(r"<([a-z%'][^ <>]*)>", lambda match: self.take(match.group(1)), template)

    def take(self, name):
        r = self.r
        if name == "digit":
            return str(r.randint(0, 99))
        is_bound = name.endswith("?") or r.random() < 0.6
        value = self.value(name.rstrip("?"))
        if is_bound:
            self.values.append(value)
            return "?"
        return "'%s'" % value if isinstance(value, str) else str(value)

    def value(self, name):
        r = self.r
        if name.startswith("'"):
            return name.strip("'")
        if "begin" in name:
            return name.replace("begin", self.begin)
        if name == "alternatives":
            return "|".join("of %d$" % r.randint(1, self.num_rows) for _ in range(r.choice([2, 8, 17, 30])))
        if name in ("day", "later"):
            return day_of(self.first + (name == "later") * self.num_rows // 100, self.num_rows)
        return {"id": self.first, "next": self.first + 100, "ts": 1700000000 + r.randint(1, self.num_rows) * 30, "late": 1700000000 + (self.num_rows - 636) * 30, "user": r.randint(1, self.num_rows // 40),
                "trace": "trace%d" % r.randint(1, self.num_rows)}[name]


def day_of(i, num_rows):
    return "2024-%02d-%02d" % (1 + i * 12 // (num_rows * 2), 1 + i * 336 // (num_rows * 2) % 28)


# How many rows a join looks for.
LOOK_UPS = {"join by id": 60, "join by key": 60, "self-join": 101, "exists": 60, "join of numbers": 60,
            "ids after all": 10**6}


def make(db, r, num_rows, is_analyzed):
    db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, ts INTEGER NOT NULL, day TEXT, user_id INTEGER, code TEXT, mark BLOB, any_key, service TEXT NOT NULL, status INTEGER,"
               " message TEXT, trace TEXT, n INTEGER, folded TEXT AS (message))")
    db.executemany("INSERT INTO log(id, ts, day, user_id, code, mark, any_key, service, status, message, trace, n) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (
        (i, 1700000000 + i * 30, day_of(i, num_rows), r.randint(1, num_rows // 40) if i % 90 else None, str(i * 3),
         i * 3 if i % 2 else str(i * 3).encode(), i * 3 if i % 3 else str(i * 3), r.choice(["web", "web", "web", "api", "auth", "mail"]), r.choice([200] * 8 + [404, 500]),
         "request %d of %d" % (r.randint(10, 99999), i), "trace%d" % i, r.randint(1, 100)) for i in range(1, num_rows + 1)))
    for column in "ts", "day", "user_id", "code", "mark", "any_key", "service", "message":
        db.execute("CREATE INDEX log_%s ON log(%s)" % (column, column))
    db.execute("CREATE INDEX log_folded ON log(folded COLLATE NOCASE)")
    db.execute("CREATE TABLE o(n INTEGER PRIMARY KEY, u INTEGER, ts INTEGER)")
    db.executemany("INSERT INTO o VALUES (?, ?, ?)", ((n, r.randint(1, num_rows // 40), 1700000000 + n * 30) for n in r.sample(range(3, num_rows, 3), 60)))
    if is_analyzed:
        db.execute("ANALYZE")
    for name, columns in ("by_trace", "trace, message LIKE REGEXP"), ("by_more", "user_id, trace, message LIKE REGEXP, ts RANGE"):
        db.execute("CREATE VIRTUAL TABLE %s USING bloom_index(log, %s)" % (name, columns))
        command(db, "merge", name)


def looks_like(r, number):
    """A text that is a number for a number's affinity, or nearly."""
    if r.random() < 0.15:
        text = r.choice(["%.17g", "%.15g", "%e", "%.3f", "%.20f"]) % number
    elif r.random() < 0.2:
        text = str(int(number) - 1) + "." + "9" * r.choice([5, 12, 20, 25])
    else:
        digits, exponent = str(abs(int(number))), r.choice([0, 0, -1, 1, -3, 5])
        digits += "0" * r.choice([0, 0, 0, 1, 12])
        point = r.randint(0, len(digits))
        exponent += r.choice([0, len(str(abs(int(number)))) - point - exponent])
        text = digits[:point] + r.choice([".", ""]) + digits[point:] + (r.choice("eE") + r.choice(["", "+"] if exponent >= 0 else [""]) + str(exponent) if exponent or r.random() < 0.2 else "")
        text = ("-" if number < 0 else r.choice(["", "", "", "+"])) + r.choice(["", "", "0", "000"]) + text
    return r.choice(["", "", "", " ", "\t"]) + text + r.choice(["", "", "", " ", "\n", "x", "-", "."])


def numbers(db, r, num_queries):
    """Texts that look like numbers, in the source's own indexes, beside a number of any affinity: how many queries differ."""
    columns = {"t": "TEXT", "u": "TEXT COLLATE NOCASE", "v": "TEXT COLLATE RTRIM", "a": "", "b": "BLOB"}
    bases = [0, 1, 5, 12, 100, 12345, 99999, 10**9, 123456789012, 2**53, 2**53 + 1, 2**63 - 1, 999999999, 1000000001] + [r.randint(1, 10**r.randint(1, 18)) for _ in range(12)]
    bases += [-base for base in bases[1:]]
    db.execute("CREATE TABLE texts(id INTEGER PRIMARY KEY, %s, k)" % ", ".join("%s %s" % pair for pair in columns.items()))
    for number in range(3000):
        base = r.choice(bases)
        value = r.choice([base, float(base), base + r.choice([0.5, 1e-7 * base]), "2024-%02d-%02d" % (r.randint(1, 12), r.randint(1, 28)), "%x" % r.randrange(1 << 32)] + [looks_like(r, base)] * 4)
        db.execute("INSERT INTO texts VALUES (?, ?, ?, ?, ?, ?, 1)", (number,) + (value,) * 5)
    # Numbers too small for a REAL are 0.
    db.executemany("INSERT INTO texts VALUES (?, ?, ?, ?, ?, ?, 1)", ((3000 + n,) + (text,) * 5 for n, text in enumerate(["5e-400", "1E-3000", "12.5e-999", "-7e-400", "2e400", "-7e999", "Inf", "9e-324"])))
    for column in columns:
        db.execute("CREATE INDEX texts_%s ON texts(%s)" % (column, column))
    db.execute("CREATE VIRTUAL TABLE texts_index USING bloom_index(texts, k)")
    command(db, "merge", "texts_index")
    db.execute("CREATE TABLE others(n NUMERIC, r REAL, x, t TEXT)")
    values = bases + [0, 0.0, float("inf"), float("-inf"), 9e-324] + [float(base) for base in bases] + [base + 0.5 for base in bases] + ["2024-05-01", "2024-12", "5x", "5-", "1e", "a", "-", "", "12345 x", "9:"]
    db.executemany("INSERT INTO others VALUES (?, ?, ?, ?)", ((value,) * 4 for value in values))
    num_failed = num_other_rows = 0
    for _ in range(num_queries):
        column, value = "t." + r.choice(list(columns)), r.choice(values)
        operator = r.choice(["<", "<=", "<"] if isinstance(value, str) else ["=", "=", "IS"])
        sql, parameters = r.choice([("%s %s ?", [value]), ("%s %s CAST(? AS NUMERIC)", [value]), ("%s %s %s" % (column, operator, repr(value).replace("inf", "9e999")), [])] + [
            ("o.%s = ? AND %%s %%s o.%s" % (other, other), [value]) for other in "nrxt"])
        sql = "SELECT t.id%s WHERE " % (" FROM others AS o, {t} AS t" if "o." in sql else " FROM {t} AS t") + (sql % (column, operator) if "%s" in sql else sql)
        wanted, rows = (sorted(db.execute(sql.format(t=table), parameters).fetchall()) for table in ("texts", "texts_index"))
        num_other_rows += len(wanted)
        if rows != wanted:
            num_failed += 1
            print("FAIL: %d rows, not %d: %s" % (len(rows), len(wanted), as_sql(sql.format(t="texts_index"), parameters)))
    print("note: %d queries of texts that look like numbers, %d rows" % (num_queries, num_other_rows))
    return num_failed


def main():
    options = arguments(queries=200, seed=5, rows=6000)
    r = random.Random(options.seed)
    dbs = []
    for is_analyzed in False, True:
        db = connect(":memory:", options.load, cached_statements=0)
        db.create_function("regexp", 2, lambda pattern, text: re.search(pattern, text) is not None, deterministic=True)
        db.execute("PRAGMA automatic_index = OFF")
        make(db, r, options.rows, is_analyzed)
        db.execute("SELECT (SELECT id FROM by_trace LIMIT 1), (SELECT id FROM by_more LIMIT 1)")  # what the first query looks at
        dbs.append(db)
    failed = 0
    for number in range(-len(FOUND), options.queries):
        kind = list(KINDS)[number % len(KINDS)] if number >= 0 else "ordered"
        db, query = r.choice(dbs) if number >= 0 else dbs[1], Query(r, options.rows, r.choice(KINDS[kind]) if number >= 0 else FOUND[number])
        index = r.choice(["by_trace", "by_more"])
        wanted, most = steps_of(db, query.sql.format(t="log"), *query.values)
        rows, steps = steps_of(db, query.sql.format(t=index), *query.values)
        most, steps = most * 10, steps * 10
        allowed = SHARE * most + SOME + LOOK_UPS.get(kind, 0) * OF_LOOK_UP
        if kind == "number for text":
            allowed += options.rows // 4  # 30 may be what begins with 30
        if kind == "counted":
            allowed += 3 * options.rows  # each row is a step of SQLite's, though it is not read
        if any(word in query.sql for word in ("LIKE", "GLOB", "REGEXP")):
            allowed += OF_PATTERN
        text = "%d steps for %d, analyzed %d: %s" % (steps, most, dbs.index(db), as_sql(query.sql.format(t=index), query.values))
        if sorted(map(repr, rows)) != sorted(map(repr, wanted)):
            print("FAIL: %d rows, not %d: %s" % (len(rows), len(wanted), text))
            failed += 1
        elif steps > allowed:
            failed += 1
            print("FAIL: " + text)
    failed += numbers(dbs[0], r, options.queries)
    return sum_up(len(FOUND) + 2 * options.queries - failed, failed)


if __name__ == "__main__":
    sys.exit(main())
