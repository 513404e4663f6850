"""Asks random tables and their zones for the same ranges: SQLite itself is the model.

    python3 test/index/ranges.py [--load ./bloom] [--seed N] [--runs N] [--verbose]

Each run makes a table of one column, with an affinity, a collation and an encoding of its own,
in stretches of rows whose values are few and near, so that zones leave out most of the table;
then asks for <, <=, >, >=, BETWEEN, =, IS and IN of literals, parameters, expressions and other
columns.  Rows are merged in pieces, changed and deleted in between.
"""
import random
import sys

from log import command  # the first: it finds the others
from cases import Text, arguments, connect, draw, literal, sum_up

TYPES = ["TEXT", "INTEGER", "REAL", "NUMERIC", "BLOB", "", "DATETIME", "ANY"]
COLLATIONS = ["", "", "COLLATE NOCASE", "COLLATE RTRIM"]
OTHERS = {"i": "INTEGER", "r": "REAL", "n": "NUMERIC", "t": "TEXT", "b": "BLOB", "u": "", "c": "TEXT COLLATE NOCASE"}
# Bases of the values of a stretch: near each other, or where two rules meet.
NUMBERS = [0, 1, -1, 9, 10, 11, 100, 255, 2**31, 2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, -2**53 - 1, 2**62 + 1, 2**63 - 1, 2**63 - 2, -2**63,
           0.0, -0.0, 0.5, 0.1, 0.30000000000000004, 9.5, 10.5, 1e5, 1e20, -1e20, 1.5e300, 9007199254740993.0, 9.2233720368547758e18,
           -9.2233720368547758e18, 5e-324, -5e-324, float("inf"), float("-inf")]
TEXTS = ["", " ", "!", "0", "9", "10", " 10", "10 ", "+10", "010", "1e1", "10.0", "10.", ".5", "1e20", "1e400", "-1e400", "0x10", "9007199254740993",
         "9223372036854775807", "9223372036854775808", "0.1", "0.30000000000000004", "1-2", "12345", "a", "A", "a ", "A  ", "ab", "AB", "b", "Z", "z",
         "_", "é", "É", "ß", "\uffff", "\U0001f600", "\ufeffa", "abc", "ABC", "abd", "2026-11-23 12:00:00", "2026-11-23 12:00:00.123456",
         "2026-11-23 12:00:00.123457", "k" * 22, "k" * 23, "k" * 24, "k" * 23 + "a", "k" * 23 + "B", "k" * 22 + "é", "a\0b", "a\0c", "a\0", "\0", "10\0x"]
RAW = [b"a\xff", b"\xc2", b"\xe0\x83\xa9x", b"\xed\xa0\x80", b"a\xf4\x90\x80\x80"]
BEGINNINGS = TEXTS + ["Inf", "-Inf", "a", "A", "1"] + 5 * ["\uffff", "\ufffd", "é"]  # of patterns: SQLite makes ranges of LIKE 'a%'
BLOBS = [b"", b"10", b"a", b"abc", b"\xff"]


class Differs(Exception):
    pass


class Run:
    def __init__(self, seed, options, counts):
        self.random, self.options, self.counts = random.Random(seed), options, counts

    def value(self, kinds):
        r = self.random
        kind = r.choice(kinds)
        if kind == "i":
            value = r.choice(NUMBERS)
            return value + r.randint(-2, 2) if isinstance(value, int) and abs(value) < 2**62 else value
        if kind == "f":
            return r.choice([r.choice(NUMBERS), r.choice(NUMBERS) * r.choice([1.0, 1 + 2**-52]), float(r.randint(-20, 20)) / 2])
        if kind == "t":
            return r.choice(TEXTS)
        if kind == "s":  # numbers as text
            return r.choice(["%d", " %d", "%d.0", "0%d", "%d.5"]) % r.choice([0, 1, 2, 9, 10, 11, 20, 100, -1, -10, 2**53 + 1])
        if kind == "d":
            return "2026-11-%02d %02d:%02d:00" % (r.randint(1, 30), r.randint(0, 23), r.randint(0, 59))
        if kind == "x" and self.encoding == "UTF-8":
            return Text(r.choice(RAW))
        return r.choice(BLOBS)

    def asked(self):
        """SQL of the other side, and its parameters."""
        r = self.random
        value = r.choice(self.pool) if r.random() < 0.5 else self.value("iifttsd" + "xb"[r.randint(0, 1)])
        form = r.random()
        if r.random() < 0.15:
            value = str(value) if isinstance(value, (int, float)) else value
        if form < 0.42:
            return literal(value), []
        if form < 0.7:
            return ("CAST(? AS TEXT)", [bytes(value)]) if isinstance(value, Text) else ("?", [value])
        if form < 0.9:
            cast = r.choice(["CAST(%s AS TEXT)", "CAST(%s AS NUMERIC)", "CAST(%s AS INTEGER)", "CAST(%s AS REAL)", "CAST(%s AS BLOB)", "+%s", "(SELECT %s)",
                             "%s COLLATE NOCASE", "%s COLLATE BINARY", "%s COLLATE RTRIM", "coalesce(%s, 1)"])
            return cast % literal(value), []
        if form < 0.95:
            return "NULL", []
        return "(SELECT %s FROM o WHERE n = %d)" % (r.choice(list(OTHERS)), r.randint(1, 12)), []

    def condition(self):
        r = self.random
        a, of_a = self.asked()
        b, of_b = self.asked()
        form = r.randrange(15)
        if form == 13:
            return r.choice(["v IS NULL", "v IS NULL", "v NOT NULL", "v IS (SELECT n FROM o WHERE n = 99)", "v IS NULL AND id > 200"]), []
        if form == 14:
            return "v LIKE %s AND v %s %s" % (literal(r.choice(BEGINNINGS)[:r.randint(1, 9)] + r.choice(["%", "_%", ""])), r.choice(["<", ">=", "NOT LIKE"]), a), of_a
        if form == 12:
            return "v %s %s COLLATE %s" % (r.choice(["<", "<=", ">", ">=", "="]), literal(r.choice(TEXTS)), r.choice(["BINARY", "NOCASE", "RTRIM"])), []
        if form < 5:
            return "v %s %s" % (r.choice(["<", "<=", ">", ">="]), a), of_a
        if form == 5:
            return "%s %s v" % (a, r.choice(["<", "<=", ">", ">="])), of_a
        if form < 8:
            return "v BETWEEN %s AND %s" % (a, b), of_a + of_b
        if form == 8:
            return "v %s %s" % (r.choice(["=", "=", "IS"]), a), of_a
        if form == 9:
            return "v IN (%s, %s)" % (a, b), of_a + of_b
        if form == 10:
            return "v IN (SELECT %s FROM o)" % r.choice(list(OTHERS)), []
        return "v > %s AND v < %s AND id %s %d" % (a, b, r.choice(["<", ">"]), r.randint(0, self.num_rows)), of_a + of_b

    def beginning(self):
        r = self.random
        value = r.choice([value for value in self.pool if isinstance(value, str)] or BEGINNINGS) if r.random() < 0.5 else r.choice(BEGINNINGS)
        value = value[:r.choice([1, 1, 2, 2, 5, 12, 30])]
        return value.swapcase() if r.random() < 0.3 else value

    def query(self):
        r = self.random
        where, parameters = self.condition()
        form = r.random()
        if form < 0.1:
            other, of_other = self.condition()
            return "SELECT id FROM {t} AS t WHERE %s OR %s" % (where, other), parameters + of_other
        if form < 0.35:
            on = "v %s o.%s" % (r.choice(["<", "<=", ">", ">=", "=", "IS"]), r.choice(list(OTHERS)))
            if r.random() < 0.4:
                on += " AND v %s o.%s" % (r.choice(["<", ">="]), r.choice(list(OTHERS)))
            return "SELECT id, o.n FROM o %s {t} AS t ON %s WHERE o.n < 8" % (r.choice(["JOIN", "CROSS JOIN", "LEFT JOIN"]), on), []
        if form < 0.42 and r.random() < 0.4:  # as SQLite makes of LIKE, or anybody
            a, b = (literal(r.choice([self.beginning(), self.beginning()[:2] + r.choice("[_^`@{\\~ ") + self.beginning()])) for _ in "ab")
            return "SELECT id FROM {t} AS t WHERE v %s %s COLLATE NOCASE%s" % (r.choice(["<", "<=", ">", ">="]), a, r.choice(["", " AND v < %s COLLATE NOCASE" % b])), []
        if form < 0.42:
            return "SELECT id FROM {t} AS t WHERE v LIKE %s" % literal(self.beginning() + "%"), []
        if form < 0.5:
            return "SELECT id FROM {t} AS t WHERE v GLOB %s" % r.choice([literal(self.beginning() + "*"), "(SELECT %s)" % literal(self.beginning() + "*")]), []
        if form < 0.5 + 0.15 * self.options.orders:
            if r.random() < 0.5:
                where, parameters = "1", []
            if r.random() < 0.2:  # of equal values any may be the largest
                return "SELECT count(*) FROM t AS b WHERE b.v IS (SELECT %s(v) FROM {t} AS t WHERE %s)" % (r.choice(["max", "min"]), where), parameters
            limit = " LIMIT %d" % r.choice([1, 3, 10, 50, 300]) + r.choice(["", "", " OFFSET 5"]) if r.random() < 0.6 else ""
            return "SELECT id, v FROM {t} AS t WHERE %s ORDER BY v%s, id%s%s" % (where, r.choice(["", " DESC"]), r.choice(["", " DESC"]), limit), parameters
        return "SELECT id FROM {t} AS t WHERE %s" % where, parameters

    def check(self, num_queries):
        for _ in range(num_queries):
            sql, parameters = self.query()
            # Of `v = ? ORDER BY v` SQLite takes v for a constant, also where '1e400' and an infinity are equal to one REAL.
            on_table = self.db.execute(sql.replace("{t}", "t").replace("ORDER BY v", "ORDER BY +v"), parameters).fetchall()
            on_index = self.db.execute(sql.replace("{t}", "i"), parameters).fetchall()
            self.counts["queries"] += 1
            self.counts["rows"] += len(on_index)
            if (on_table != on_index and "ORDER BY" in sql) or sorted(on_table, key=repr) != sorted(on_index, key=repr):
                lost = sorted(set(on_table) - set(on_index))[:3]
                values = [self.db.execute("SELECT id, typeof(v), quote(v) FROM t WHERE id = ?", row[:1]).fetchall() for row in lost]
                raise Differs("%s %r\n%s, %s\n%d rows of the table, %d of the index; lost %r: %r" % (
                    sql, parameters, self.definition, self.encoding, len(on_table), len(on_index), lost, values))

    def insert(self, first, count):
        """Stretches of about a zone's rows, of few values each."""
        r = self.random
        at = first
        while at < first + count:
            stretch = min(r.choice([256, 256, 100, 500]), first + count - at)
            values = [self.value(self.kinds) for _ in range(r.choice([1, 2, 2, 3, 5]))]
            if r.random() < 0.1:
                values.append(None)
            if r.random() < 0.1:
                values.append(r.choice(BLOBS))
            self.pool += [value for value in values if value is not None]
            rows = [(at + i, value) for i, value in enumerate(r.choice(values) for _ in range(stretch))]
            for i, value in rows:
                self.db.execute("INSERT INTO t VALUES (?, %s)" % ("CAST(? AS TEXT)" if isinstance(value, Text) else "?"),
                                (i, bytes(value) if isinstance(value, Text) else value))
            at += stretch
        self.num_rows = at - 1

    def run(self):
        r = self.random
        self.db = connect(":memory:", self.options.load)
        self.db.text_factory = Text
        self.encoding = r.choice(["UTF-8", "UTF-8", "UTF-16le", "UTF-16be"])
        self.db.execute("PRAGMA encoding = '%s'" % self.encoding)
        self.db.execute("PRAGMA automatic_index = OFF")  # in 3.40.1 its Bloom filter loses rows under RTRIM
        self.definition = "v %s %s" % (r.choice(TYPES), r.choice(COLLATIONS))
        self.kinds = r.choice(["i", "f", "t", "d", "s", "it", "st", "ifts", "iftsdx", "tx", "xb"])
        self.db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, %s)" % self.definition)
        self.db.execute("CREATE TABLE o(n INTEGER PRIMARY KEY, %s)" % ", ".join("%s %s" % pair for pair in OTHERS.items() if pair[0] != "n"))
        self.pool = []
        self.insert(1, r.choice([300, 1000, 2500]))
        for n in range(1, 13):
            value = r.choice(self.pool) if r.random() < 0.5 else self.value("iftsd")
            value = bytes(value) if isinstance(value, Text) else value
            self.db.execute("INSERT INTO o VALUES (?1%s)" % (", ?2" * (len(OTHERS) - 1)), (n, value))
        self.db.execute("CREATE VIRTUAL TABLE i USING bloom_index(t, %s)" % r.choice(["v RANGE", "v RANGE, v", "v, v RANGE", "v RANGE, v LIKE"]))
        command(self.db, "merge", "i")
        self.check(60)
        for _ in range(3):
            if r.random() < 0.7:
                self.insert(self.num_rows + 1, r.choice([1, 50, 300, 700]))
                self.check(5)
            for _ in range(r.choice([0, 1, 10])):
                value = self.value(self.kinds + "f")
                self.db.execute("UPDATE t SET v = %s WHERE id = ?" % literal(value), (r.randint(1, self.num_rows),))
            if r.random() < 0.3:
                self.db.execute("DELETE FROM t WHERE id %% 7 = %d" % r.randint(0, 6))
            if r.random() < 0.3:
                self.db.execute("INSERT OR REPLACE INTO t VALUES (?, %s)" % literal(self.value(self.kinds)), (r.randint(1, self.num_rows),))
            self.check(5)
            command(self.db, r.choice(["merge", "merge", "merge=%d" % r.choice([1, 60, 256, 300]), "rebuild"]), "i")
            self.check(25)
        command(self.db, "merge", "i")
        command(self.db, "integrity-check", "i")
        self.check(20)
        self.db.close()


def main():
    options = arguments(runs=100, orders=1, verbose=False)
    counts = {"queries": 0, "rows": 0}
    num_passed, num_failed = draw(lambda seed, options: Run(seed, options, counts).run(), options, most_failures=3)
    print("note: %d queries, %d rows" % (counts["queries"], counts["rows"]))
    return sum_up(num_passed, num_failed)


if __name__ == "__main__":
    sys.exit(main())
