#!/usr/bin/python3
"""The joins that pages print: SQLite scans the facts for them, and never makes an index of all of them first.

Plans of 200 joins of random shape, without rows: without statistics and with statistics of the shape's sizes.
A shape is a table of facts and one to three dimensions, each with a condition; random are the numbers of rows, the
kind of each key, the share that passes, and the indexes.  And every such join of the pages and examples says
CROSS JOIN or LEFT JOIN.

    join_forms.py        from the top of the checkout, after `make`; prints `N passed, N failed` last
"""
import os
import random
import re
import sqlite3
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.append(os.path.join(ROOT, "test", "vtab"))
from cases import connect

# Forms of which no plan may make an index of the facts, and those that show that the test would see one.
PRINTED = "d, filter, cross", "in", "in, filter", "left, d", "left, d, filter"
AVOIDED = "d, filter"
NUM_SHAPES = 200
SEED = 63

passed = failed = 0


def check(what, is_right):
    global passed, failed
    passed += is_right
    failed += not is_right
    if not is_right:
        print("FAILED", what)


# The types of a dimension's key, and of the facts' one.
KINDS = {name: (types, types) for name, types in {"integer": ["INTEGER"], "pair": ["INTEGER", "INTEGER"], "real": ["REAL"], "blob": ["BLOB"], "text": ["TEXT"]}.items()}
KINDS["text in facts"] = ["INTEGER"], ["TEXT"]
KINDS["text in dimension"] = ["TEXT"], ["INTEGER"]
WEIGHTS = [3, 2, 1, 1, 3, 1, 1]

class Dimension:
    def __init__(self, name, num_facts, draw):
        self.name = name
        self.kind_name = draw.choices(list(KINDS), WEIGHTS)[0]
        self.types, self.fact_types = KINDS[self.kind_name]
        self.num_rows = max(50, round(num_facts * 0.01 * 100 ** draw.random()))
        self.share = max(0.002 * 300 ** draw.random(), 10 / self.num_rows)  # of its rows, that pass
        self.has_key = draw.random() < 0.9
        self.has_index = draw.random() < 0.2
        self.is_indexed_in_facts = draw.random() < 0.1
        self.condition = f"draw < {self.share:.6f}"
        self.keys = [f"k{i}" for i in range(len(self.types))]
        self.fact_keys = [f"{name}_{key}" for key in self.keys]

    def __str__(self):
        said = [f"{self.kind_name}: {self.num_rows} rows, {100 * self.share:.2g} % pass"]
        said += ["no key"] * (not self.has_key) + ["condition indexed"] * self.has_index + ["facts indexed"] * self.is_indexed_in_facts
        return ", ".join(said)

    def matched(self, of):
        return " AND ".join(f"{of}.{key} = f.{fact_key}" for key, fact_key in zip(self.keys, self.fact_keys))

    def filter(self):
        """bloom_filter() over the rows that pass."""
        return f"bloom_may_contain((SELECT bloom_filter({', '.join(self.keys)}) FROM {self.name}_d), {', '.join('f.' + k for k in self.fact_keys)})"


class Shape:
    """What the tables are: the same number, the same shape."""

    def __init__(self, number):
        draw = random.Random(SEED * 1000 + number)
        self.number = number
        self.num_facts = round(8_000 * 3 ** draw.random())
        self.dimensions = [Dimension(f"dimension_{i}", self.num_facts, draw) for i in range(1 + number % 3)]

    def __str__(self):
        return f"shape {self.number}: {self.num_facts} facts; " + "; ".join(map(str, self.dimensions))

    def create(self, db):
        """Makes the tables, without rows."""
        columns = "".join(f", {key} {type}" for d in self.dimensions for key, type in zip(d.fact_keys, d.fact_types))
        db.execute(f"CREATE TABLE facts(id INTEGER PRIMARY KEY{columns}, amount INTEGER)")
        for d in self.dimensions:
            columns = ", ".join(f"{key} {type}" for key, type in zip(d.keys, d.types))
            primary_key = f", PRIMARY KEY ({', '.join(d.keys)})" if d.has_key else ""
            db.execute(f"CREATE TABLE {d.name}({columns}, draw REAL, weight INTEGER{primary_key})")
            if d.has_index:
                db.execute(f"CREATE INDEX {d.name}_draw ON {d.name}(draw)")
            if d.is_indexed_in_facts:
                db.execute(f"CREATE INDEX facts_{d.name} ON facts({', '.join(d.fact_keys)})")

    def forms(self):
        """The SQL of each form, by name."""
        ds = self.dimensions
        select = "SELECT count(*), sum(f.amount) FROM"
        with_d = "WITH " + ", ".join(f"{d.name}_d AS MATERIALIZED (SELECT {', '.join(d.keys)}, weight FROM {d.name} WHERE {d.condition})" for d in ds) + f" {select}"
        filters = " AND ".join(d.filter() for d in ds)
        joined = lambda join, on: "".join(f" {join} JOIN {d.name}_d ON {d.matched(d.name + '_d')}{on(d)}" for d in ds)
        row = lambda names: names[0] if len(names) == 1 else f"({', '.join(names)})"
        fact_rows = [(d, row(["f." + key for key in d.fact_keys])) for d in ds]
        forms = {AVOIDED: f"{with_d} facts f{joined('', lambda d: '')} WHERE {filters}",
                 "d, filter, cross": f"{with_d} facts f{joined('CROSS', lambda d: '')} WHERE {filters}",
                 "in": f"{select} facts f WHERE " + " AND ".join(f"{fact} IN (SELECT {', '.join(d.keys)} FROM {d.name} WHERE {d.condition})" for d, fact in fact_rows),
                 "in, filter": f"{with_d} facts f WHERE {filters} AND " + " AND ".join(f"{fact} IN (SELECT {', '.join(d.keys)} FROM {d.name}_d)" for d, fact in fact_rows)}
        if all(d.kind_name != "text in dimension" for d in ds):  # LEFT JOIN has no index to search there, of either table
            forms["left, d"] = f"{with_d} facts f" + joined("LEFT", lambda d: "")
            forms["left, d, filter"] = f"{with_d} facts f" + joined("LEFT", lambda d: f" AND {d.filter()}")
        return forms


def makes_index_of_facts(db, sql):
    """Whether SQLite would make an index of all facts to run this."""
    return any("facts" in detail and "AUTOMATIC" in detail or "SEARCH f USING AUTOMATIC" in detail
               for _, _, _, detail in db.execute("EXPLAIN QUERY PLAN " + sql))


def invent_statistics(db, shape):
    """What ANALYZE would say of the shape's tables if they were filled."""
    rows = [("facts", None, str(shape.num_facts))]
    for d in shape.dimensions:
        rows.append((d.name, None, str(d.num_rows)))
        rows += [(d.name, index, f"{d.num_rows}" + " 1" * (1 if index.endswith("_draw") else len(d.keys)))
                 for index, in db.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ?", (d.name,))]
        if d.is_indexed_in_facts:
            per_key = max(1, round(shape.num_facts / d.num_rows))
            rows.append(("facts", f"facts_{d.name}", f"{shape.num_facts}" + f" {per_key}" * len(d.keys)))
    db.execute("ANALYZE")
    db.execute("DELETE FROM sqlite_stat1")
    db.executemany("INSERT INTO sqlite_stat1 VALUES (?, ?, ?)", rows)
    db.execute("ANALYZE sqlite_master")


def try_shapes():
    seen = {"no statistics": 0, "statistics": 0}
    for number in range(NUM_SHAPES):
        shape = Shape(number)
        db = connect(":memory:", os.path.join(ROOT, "bloom"))
        shape.create(db)
        forms = shape.forms()
        for statistics in seen:
            if statistics == "statistics":
                invent_statistics(db, shape)
            seen[statistics] += makes_index_of_facts(db, forms[AVOIDED])
            for name in PRINTED:
                if name in forms:
                    check(f"{name}, {statistics}: {shape}", not makes_index_of_facts(db, forms[name]))
        db.close()
    for statistics, count in seen.items():
        check(f"{AVOIDED}, {statistics}: no shape shows what CROSS JOIN is for", count > NUM_SHAPES // 20)


def try_pages():
    """Each join of a MATERIALIZED table behind a bloom_filter() over it, wherever one is printed."""
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(ROOT) for name in names
             if not re.search(r"(^|/)(build|node_modules|[.]git)\b", os.path.relpath(folder, ROOT)) and (name.endswith((".md", ".sql")) or "/examples" in folder)]
    num_joins = 0
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except (UnicodeDecodeError, OSError):
            continue
        for statement in re.findall(r"\bWITH\s+\w+\s+AS\s+MATERIALIZED\b[^;`]*?bloom_filter\([^;`]*", text):
            joins = re.findall(r"(\w+\s+)?JOIN\b", statement)
            num_joins += len(joins)
            for join in joins:
                check(f"{os.path.relpath(path, ROOT)}: {join or 'a bare '}JOIN in {statement}", join.strip().upper() in ("CROSS", "LEFT"))
    check("the pages print joins", num_joins > 8)


try_shapes()
try_pages()
print(f"note: SQLite {sqlite3.sqlite_version}")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
