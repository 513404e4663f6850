"""Random queries on a table t, which is the source or the index: {t} stands for its name."""
import sqlite3

import values
from cases import quoted


COMPARED_AS = ["CAST(%s AS INTEGER)", "CAST(%s AS TEXT)", "CAST(%s AS NUMERIC)", "CAST(%s AS BLOB)", "+%s", "(SELECT %s)",
               "%s COLLATE NOCASE", "%s COLLATE BINARY", "%s COLLATE RTRIM"]
OTHERS = ["x", "y", "z", "w"]


class Queries:
    """run has random, columns (names), id, texts (bytes of rows), keys (values of rows) and ids."""

    def __init__(self, run):
        self.run = run

    def parameter(self, sql, value):
        if value is not values.NONE:
            self.parameters.append(value)
        return sql

    def value(self, is_plain=False):
        """SQL of a value to compare with."""
        run, r = self.run, self.run.random
        if run.keys and r.random() < 0.75:
            value = r.choice(run.keys)
            if r.random() < 0.5:
                value = values.near(r, value)
            if isinstance(value, run.text_type):
                pair = values.of_pattern(r, bytes(value))
            else:
                pair = ("?", value)
        else:
            pair = values.any_value(r)
        literal = values.literal(r, pair[1]) if pair[0] == "?" and r.random() < 0.4 else None
        if literal is not None and not (is_plain and "CAST" in literal):
            pair = (literal, values.NONE)
        sql = self.parameter(*pair)
        return r.choice(COMPARED_AS) % sql if r.random() < 0.15 and not is_plain else sql

    def id_value(self):
        # Not -2.0**63, which SQLite compares as -2**63 but does not find as a rowid.
        r = self.run.random
        low, high = self.run.low, self.run.high
        return self.parameter("?", r.choice([values.random_id(r, low, high), values.random_id(r, low, high), r.choice(self.run.ids or [0]),
                                             r.choice(self.run.ids or [0]), r.uniform(-2.5, 2.5), r.choice([1e300, -1e300, 2.0**63, "5", "x", None, b"1"]),
                                             str(r.choice(self.run.ids or [0]))]) if r.random() < 0.5 else r.choice(self.run.ids or [0]))

    def condition(self, alias, depth=0):
        run, r = self.run, self.run.random
        kind = r.random()
        if depth < 2 and kind < 0.35:
            parts = [self.condition(alias, depth + 1) for _ in range(r.choice([2, 2, 3]))]
            return "(" + r.choice([" AND ", " AND ", " OR "]).join(parts) + ")"
        if depth < 2 and kind < 0.38:
            return "NOT " + self.condition(alias, depth + 1)
        if kind < 0.5:
            column = "%s.%s" % (alias, r.choice([quoted(run.id), quoted(run.id), "rowid" if run.has_rowid else quoted(run.id)]))
            form = r.randrange(7)
            if form == 0:
                return "%s BETWEEN %s AND %s" % (column, self.id_value(), self.id_value())
            if form == 1:
                return "%s IN (%s, %s, %s)" % (column, self.id_value(), self.id_value(), self.id_value())
            if form == 2:
                return "%s %% %d = %d" % (column, r.randint(1, 9), r.randint(0, 3))
            return "%s %s %s" % (column, r.choice(["=", "<", "<=", ">", ">=", "<>", "IS"]), self.id_value())
        name = r.choice(run.key_columns if r.random() < 0.85 and run.key_columns else run.columns)
        column = "%s.%s" % (alias, quoted(name))
        if kind < 0.78 and not (name in run.like_columns and r.random() < 0.7):
            form = r.randrange(20)
            if form < 5:
                return "%s = %s" % (column, self.value())
            if form == 5:
                return "%s = %s" % (self.value(), column)
            if form == 6:
                return "%s IS %s" % (column, self.value() if r.random() < 0.5 else "NULL")
            if form == 7:
                return "%s IN (%s)" % (column, ", ".join(self.value() for _ in range(r.randint(1, 4))))
            if form == 8:
                return "%s IN (SELECT %s FROM o)" % (column, r.choice(OTHERS))
            if form == 9:
                return "%s = (SELECT %s FROM o WHERE n = %d)" % (column, r.choice(OTHERS), r.randint(0, 12))
            if form in (10, 13, 14):
                return "%s %s %s" % (column, r.choice(["<", ">", "<=", ">=", "<", ">", "<=", ">=", "<>", "IS NOT"]), self.value())
            if form == 15:
                return "%s BETWEEN %s AND %s" % (column, self.value(), self.value())
            if form == 16:
                return "%s %s %s" % (self.value(), r.choice(["<", ">", "<=", ">="]), column)
            if form == 17:
                return "%s IN (%s)" % (column, ", ".join(self.value(True) for _ in range(r.choice([5, 20, 60, 200]))))
            if form == 18:
                return "%s %s %s" % (column, r.choice(["=", "IS", "<", ">="]), self.column(alias))
            if form == 19:
                return "%s >= %s AND %s%s < %s" % (column, self.value(), column, r.choice(["", " COLLATE NOCASE", " COLLATE BINARY"]), self.value())
            if form == 11:
                return "%s %s" % (column, r.choice(["IS NULL", "NOT NULL", "COLLATE NOCASE = 'ABC'", "COLLATE RTRIM >= 'abc'", "COLLATE NOCASE < 'B'"]))
            if r.random() < 0.7:  # as pages are turned
                return "(%s, %s.%s) %s (%s, %s)" % (column, alias, quoted(run.id), r.choice(["<", ">", "<=", ">=", "=", "<>"]), self.value(True), self.id_value())
            # Of a row value's IN SQLite compares a virtual table's columns without affinity.
            return "(%s, %s.%s) IN (VALUES(%s, %s))" % (column, alias, quoted(r.choice(run.columns)), self.value(True), self.value(True))
        if run.regexp_mode and r.random() < 0.3:
            sql = self.parameter(*values.of_pattern(r, values.regexp(r, run.texts))) if r.random() < 0.95 else self.value()
            form = r.random()
            if form < 0.1:
                return "%s NOT REGEXP %s" % (column, sql)
            return ("regexp(%s, %s)" % (sql, column)) if form < 0.15 else "%s REGEXP %s" % (column, sql)
        is_glob = r.random() < 0.35
        pattern = values.pattern(r, run.texts, is_glob)
        if pattern[:1] in (b"i", b"I", b"-"):  # SQLite may make a range of an index of the table's, and infinity, 'Inf', is not in it
            pattern = (b"*" if is_glob else b"%") + pattern
        sql = self.parameter(*values.of_pattern(r, pattern)) if r.random() < 0.95 else self.value()
        form = r.random()
        if form < 0.07:
            return "%s NOT %s %s" % (column, "GLOB" if is_glob else "LIKE", sql)
        if form < 0.12 and not is_glob:
            return "%s LIKE %s ESCAPE '_'" % (column, sql)
        if form < 0.16:
            return "%s(%s, %s)" % ("glob" if is_glob else "like", sql, column)
        if form < 0.19:
            return "%s %s (SELECT z FROM o WHERE n = %d)" % (column, "GLOB" if is_glob else "LIKE", r.randint(0, 12))
        return "%s %s %s" % (column, "GLOB" if is_glob else "LIKE", sql)

    def column(self, alias="t"):
        return "%s.%s" % (alias, quoted(self.run.random.choice(self.run.columns)))

    def plus(self, name):
        """Before o.x, where SQLite 3.40 would make an automatic index on it: with a Bloom filter over that, which hashes
        without the collation, it loses rows of plain tables, too, such as ' ' = '' under RTRIM."""
        return "+" if (3, 38) <= sqlite3.sqlite_version_info < (3, 44) and "RTRIM" in self.run.types[name] else ""

    def query(self):
        """SQL, parameters, and whether the order of its rows is said."""
        run, r = self.run, self.run.random
        self.parameters = []
        one_id = "t." + quoted(run.id)
        form = r.random()
        if form < 0.3:
            return "SELECT * FROM {t} AS t WHERE " + self.condition("t"), self.parameters, False
        if form < 0.45:
            sql = "SELECT %s, %s FROM {t} AS t WHERE %s ORDER BY %s%s" % (one_id, self.column(), self.condition("t", r.choice([0, 2])), one_id, r.choice(["", " DESC"]))
            if r.random() < 0.5:
                sql += " LIMIT %d" % r.randint(0, 20)
                if r.random() < 0.5:
                    sql += " OFFSET %d" % r.randint(0, 20)
            return sql, self.parameters, True
        if form < 0.5:
            # The order of a column, or of several, which an index of the source may give.
            columns = r.sample(run.columns, r.choice([1, 1, 2]) if len(run.columns) > 1 else 1)
            if run.range_columns and r.random() < 0.6:  # zones may give it
                columns = [r.choice(run.range_columns)] + [name for name in columns if r.random() < 0.5]
                columns = list(dict.fromkeys(columns))
            order = ", ".join("t.%s%s" % (quoted(name), r.choice(["", " DESC", "", " DESC", " COLLATE NOCASE", " NULLS LAST"]))
                              for name in columns)
            where = " WHERE " + self.condition("t", r.choice([0, 2])) if r.random() < 0.6 else ""
            limit = " LIMIT %d" % r.choice([-1, 0, 1, 3, 10, 50]) + r.choice(["", "", " OFFSET 3"]) if r.random() < 0.7 else ""
            return "SELECT %s, %s FROM {t} AS t%s ORDER BY %s, %s%s%s" % (self.column(), one_id, where, order, one_id, r.choice(["", " DESC"]), limit), self.parameters, True
        if form < 0.53 and run.range_columns:
            # Of equal values any may be the largest.
            name, where = quoted(r.choice(run.range_columns)), self.condition("t") if r.random() < 0.5 else "1"
            return "SELECT count(*) FROM %s AS b WHERE b.%s IS (SELECT %s(t.%s) FROM {t} AS t WHERE %s)" % (
                run.named(run.source), name, r.choice(["max", "min"]), name, where), self.parameters, True
        if form < 0.58:
            what = r.choice(["count(*), sum(%s %% 1000)", "min(%s), count(*)", "max(%s)", "total(%s %% 7), count(DISTINCT typeof(%s))"]).replace("%s", one_id)
            return "SELECT %s FROM {t} AS t WHERE %s" % (what.replace("%%", "%"), self.condition("t")), self.parameters, True
        if form < 0.65:
            column = self.column()
            return "SELECT typeof(%s), count(*), max(%s) FROM {t} AS t WHERE %s GROUP BY typeof(%s)" % (
                column, one_id, self.condition("t"), column), self.parameters, False
        if form < 0.68:
            return "SELECT DISTINCT typeof(%s) FROM {t} AS t WHERE %s" % (self.column(), self.condition("t")), self.parameters, False
        if form < 0.85:
            kind = r.choice(["JOIN", "CROSS JOIN", "LEFT JOIN", "LEFT JOIN"] + (["RIGHT JOIN", "FULL JOIN"] if run.has_right_join else []))
            name = r.choice(run.columns)
            on = "t.%s %s %so.%s" % (quoted(name), r.choice(["=", "=", "=", "IS", "LIKE", "<", ">=", "<=", ">"]), self.plus(name), r.choice(OTHERS))
            if r.random() < 0.1:
                on = "t.%s IN (%s)" % (quoted(run.id), ", ".join(self.id_value() for _ in range(3)))
            if r.random() < 0.3:
                on += " AND " + self.condition("t")
            tables = ["o", "{t} AS t"]
            if r.random() < 0.15:
                tables[0] = "(SELECT x AS x, y, z, w, n FROM o UNION ALL SELECT %s, 2, 'x', 1.5, 99) AS o" % self.value()
            if r.random() < 0.5:
                tables.reverse()
            has_like = any(word in on for word in ("LIKE", "GLOB", "REGEXP", "like(", "glob(", "regexp("))
            # There SQLite 3.54.1 loses rows of a plain table that has an index, and before 3.54 generated columns are of another row.
            is_known = has_like or ("made" in run.columns and sqlite3.sqlite_version_info < (3, 54))
            if kind in ("RIGHT JOIN", "FULL JOIN") and is_known:
                kind = "LEFT JOIN"
            if tables[0] != "o" and not run.is_like_safe_in_on and has_like:
                kind = "JOIN"
            where = " WHERE " + self.condition("t") if r.random() < 0.3 else ""
            # Parameters come in the order of the text, other than where a subquery stands first.
            if "?" in tables[0] or "?" in tables[1]:
                return self.query()
            return "SELECT %s, o.n, %s FROM %s %s %s ON %s%s" % (one_id, self.column(), tables[0], kind, tables[1], on, where), self.parameters, False
        if form < 0.9:
            return "SELECT o.n, (SELECT count(*) FROM {t} AS t WHERE %s %s o.%s AND %s) FROM o" % (
                self.column(), r.choice(["=", "=", "<>", "IS NOT"]), r.choice(OTHERS), self.condition("t")), self.parameters, False
        if form < 0.94:
            on = "a.%s = b.%s" % (quoted(r.choice(run.columns)), quoted(r.choice(run.columns)))
            return "SELECT a.%s, b.%s FROM {t} AS a JOIN {t} AS b ON %s WHERE %s AND %s LIMIT 200000" % (
                quoted(run.id), quoted(run.id), on, "a.%s < %s" % (quoted(run.id), self.parameter("?", run.low + 20)),
                self.condition("b")), self.parameters, False
        if form < 0.97:
            return "SELECT o.n FROM o WHERE EXISTS (SELECT 1 FROM {t} AS t WHERE %s = o.%s AND %s)" % (
                self.column(), r.choice(OTHERS), self.condition("t")), self.parameters, False
        return "SELECT %s FROM {t} AS t WHERE %s UNION ALL SELECT %s FROM {t} AS t WHERE %s" % (
            one_id, self.condition("t"), one_id, self.condition("t")), self.parameters, False
