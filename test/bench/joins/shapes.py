#!/usr/bin/python3
"""
Which forms of a join are slower than the plain join, on joins of random shape.

A shape is a table of facts and one to three dimensions, each with a condition.  Random are the
number of rows, the kind of each key, the share of a dimension that passes, the share of the facts
that have a partner, and the indexes: of the facts on a key, of a dimension on its key and on its
condition's column.  Each shape is tried without statistics and after ANALYZE.  The forms:

  plain        facts JOIN dimension ... WHERE conditions
  d            WITH d AS MATERIALIZED (the rows that pass), joined in place of the dimension
  d, filter    the same behind bloom_filter() over each d
  kept         plain, behind a bloom_build() of the rows that pass that is kept in a table
  view         the same filters in a view over the facts: sql/star_join.sql
  in           keys IN (SELECT keys of the rows that pass)
  in, filter   the same over each d, behind bloom_filter()
  left, ...    LEFT JOIN: plain; over d; over d with bloom_filter() in ON

`cross` is a form with CROSS JOIN in place of JOIN: SQLite scans the facts, whatever it knows of
them.  Filters that are kept compare bytes, so they are left out where the keys' types differ.

A form is slower if its processor time is 1.25 times the plain join's or more (LEFT JOIN's, for the
left ones), the least of REPEATS runs; at 5 times it is interrupted.

    shapes.py [SHAPES [REPEATS]]     200 and 3, a third of the shapes with each number of dimensions;
                                     from the top of the checkout
"""
import collections
import math
import os
import random
import sqlite3
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness

SEED = 63
SLOWER = 1.25
GIVEN_UP = 5

# The columns of a dimension's key and of the facts' one: a type, and the SQL of the value of key {n}.
Kind = collections.namedtuple("Kind", "dimension facts")
ALIKE = {
    "integer": [("INTEGER", "{n} * 7 + 1000000")],
    "pair": [("INTEGER", "{n} / 100"), ("INTEGER", "{n} % 100")],
    "real": [("REAL", "({n} + 0.5) / 4e6")],
    "blob": [("BLOB", "CAST('tenant-7' || printf('%08x', {n}) AS BLOB)")],
    "text": [("TEXT", "printf('customer-%08d', {n})")],
}
KINDS = {name: Kind(columns, columns) for name, columns in ALIKE.items()}
KINDS["text in facts"] = Kind([("INTEGER", "{n}")], [("TEXT", "CAST({n} AS TEXT)")])
KINDS["text in dimension"] = Kind([("TEXT", "printf('%07d', {n})")], [("INTEGER", "{n}")])

WEIGHTS = [3, 2, 1, 1, 3, 1, 1]


class Dimension:
    def __init__(self, name, num_facts, draw):
        self.name = name
        self.kind_name = draw.choices(list(KINDS), WEIGHTS)[0]
        self.kind = KINDS[self.kind_name]
        self.num_rows = max(50, round(num_facts * 0.01 * 100 ** draw.random()))
        self.share = max(0.002 * 300 ** draw.random(), 10 / self.num_rows)  # of its rows, that pass
        self.has_partner = draw.choice([1, 1, 0.5, 0.1])  # the share of the facts
        self.has_key = draw.random() < 0.9
        self.has_index = draw.random() < 0.2
        self.is_indexed_in_facts = draw.random() < 0.1
        self.condition = f"draw < {self.share:.6f}"
        self.keys = [f"k{i}" for i in range(len(self.kind.dimension))]
        self.fact_keys = [f"{name}_{key}" for key in self.keys]

    def __str__(self):
        said = [f"{self.kind_name}: {self.num_rows} rows, {100 * self.share:.2g} % pass", f"{100 * self.has_partner:.0f} % of the facts have a partner"]
        said += ["no key"] * (not self.has_key) + ["condition indexed"] * self.has_index + ["facts indexed"] * self.is_indexed_in_facts
        return ", ".join(said)

    def matched(self, of):
        return " AND ".join(f"{of}.{key} = f.{fact_key}" for key, fact_key in zip(self.keys, self.fact_keys))

    def stored_filter(self):
        key = f"bloom_tuple({', '.join(self.fact_keys)})" if len(self.keys) > 1 else self.fact_keys[0]
        return f"bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = '{self.name}'), {key})"

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
        self.types_agree = all(d.kind.dimension == d.kind.facts for d in self.dimensions)

    def group(self):
        """What says most of which form is right: the first of these that is so."""
        if any(d.is_indexed_in_facts for d in self.dimensions):
            return "the facts have an index on a key"
        if any(d.kind_name == "text in dimension" for d in self.dimensions):
            return "a dimension has TEXT, the facts numbers"
        if any(d.kind_name == "integer" for d in self.dimensions):
            return "a key is one INTEGER"
        if any(d.num_rows < self.num_facts / 10 for d in self.dimensions):
            return "a dimension has less than a tenth of the facts' rows"
        if any(d.share > 0.2 for d in self.dimensions):
            return "a fifth of a dimension passes"
        return "others"

    def __str__(self):
        return f"shape {self.number}: {self.num_facts} facts; " + "; ".join(map(str, self.dimensions))

    def create(self, db):
        """Makes the tables, without rows."""
        columns = "".join(f", {key} {type}" for d in self.dimensions for key, (type, _) in zip(d.fact_keys, d.kind.facts))
        db.execute(f"CREATE TABLE facts(id INTEGER PRIMARY KEY{columns}, amount INTEGER)")
        for d in self.dimensions:
            columns = ", ".join(f"{key} {type}" for key, (type, _) in zip(d.keys, d.kind.dimension))
            primary_key = f", PRIMARY KEY ({', '.join(d.keys)})" if d.has_key else ""
            db.execute(f"CREATE TABLE {d.name}({columns}, draw REAL, weight INTEGER{primary_key})")
            if d.has_index:
                db.execute(f"CREATE INDEX {d.name}_draw ON {d.name}(draw)")
            if d.is_indexed_in_facts:
                db.execute(f"CREATE INDEX facts_{d.name} ON facts({', '.join(d.fact_keys)})")
        db.execute("CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB)")
        db.execute(f"CREATE VIEW pruned AS SELECT * FROM facts WHERE {' AND '.join(d.stored_filter() + ' IS NOT 0' for d in self.dimensions)}")

    def fill(self, db):
        draw = random.Random(self.number)
        db.create_function("draw", 0, draw.random)
        for d in self.dimensions:
            keys = ", ".join(sql.format(n="n") for _, sql in d.kind.dimension)
            db.execute(harness.numbers(d.num_rows, 0) + f"INSERT INTO {d.name} SELECT {keys}, draw(), n % 100 FROM numbers")
        # A key beyond the last has no partner.
        picked = ", ".join(f"CAST(draw() * {round(d.num_rows / d.has_partner)} AS INTEGER) AS of_{d.name}" for d in self.dimensions)
        keys = ", ".join(sql.format(n=f"of_{d.name}") for d in self.dimensions for _, sql in d.kind.facts)
        db.execute(harness.numbers(self.num_facts) + f", picked AS MATERIALIZED (SELECT n, {picked} FROM numbers)"
                   f" INSERT INTO facts SELECT n, {keys}, n % 1000 FROM picked")
        for d in self.dimensions:
            key = f"bloom_tuple({', '.join(d.keys)})" if len(d.keys) > 1 else d.keys[0]
            db.execute(f"INSERT INTO filters SELECT '{d.name}', bloom_build({key}, 'parquet') FROM {d.name} WHERE {d.condition}")

    def forms(self):
        """The SQL of each form, by name."""
        ds = self.dimensions
        select = "SELECT count(*), sum(f.amount) FROM"
        with_d = "WITH " + ", ".join(f"{d.name}_d AS MATERIALIZED (SELECT {', '.join(d.keys)}, weight FROM {d.name} WHERE {d.condition})" for d in ds) + f" {select}"
        conditions = " AND ".join(f"{d.name}.{d.condition}" for d in ds)
        filters = " AND ".join(d.filter() for d in ds)
        forms = {"plain": f"{select} facts f" + "".join(f" JOIN {d.name} ON {d.matched(d.name)}" for d in ds) + f" WHERE {conditions}"}
        for name, join in ("", "JOIN"), (", cross", "CROSS JOIN"):
            tables = "".join(f" {join} {d.name} ON {d.matched(d.name)}" for d in ds)
            ds_joined = "".join(f" {join} {d.name}_d ON {d.matched(d.name + '_d')}" for d in ds)
            forms["d" + name] = f"{with_d} facts f{ds_joined}"
            forms["d, filter" + name] = f"{with_d} facts f{ds_joined} WHERE {filters}"
            if self.types_agree:
                forms["kept" + name] = f"{select} facts f{tables} WHERE {' AND '.join(d.stored_filter() for d in ds)} AND {conditions}"
                forms["view" + name] = f"{select} pruned f{tables} WHERE {conditions}"
        row = lambda names: names[0] if len(names) == 1 else f"({', '.join(names)})"
        fact_rows = [row(["f." + key for key in d.fact_keys]) for d in ds]
        forms["in"] = f"{select} facts f WHERE " + " AND ".join(
            f"{fact_row} IN (SELECT {', '.join(d.keys)} FROM {d.name} WHERE {d.condition})" for d, fact_row in zip(ds, fact_rows))
        forms["in, filter"] = f"{with_d} facts f WHERE {filters} AND " + " AND ".join(
            f"{fact_row} IN (SELECT {', '.join(d.keys)} FROM {d.name}_d)" for d, fact_row in zip(ds, fact_rows))
        left = lambda suffix, on: "".join(f" LEFT JOIN {d.name}{suffix} ON {d.matched(d.name + suffix)} AND {on(d)}" for d in ds)
        if any(d.kind_name == "text in dimension" for d in ds):
            return forms  # LEFT JOIN has no index to search there, of either table
        forms["left, plain"] = f"{select} facts f" + left("", lambda d: f"{d.name}.{d.condition}")
        forms["left, d"] = f"{with_d} facts f" + left("_d", lambda d: "true")
        forms["left, d, filter"] = f"{with_d} facts f" + left("_d", lambda d: d.filter())
        return forms


def makes_index_of_facts(db, sql):
    """Whether SQLite would make an index of all facts to run this."""
    return any("facts" in detail and "AUTOMATIC" in detail or "SEARCH f USING AUTOMATIC" in detail
               for _, _, _, detail in db.execute("EXPLAIN QUERY PLAN " + sql))


class Slow(Exception):
    pass


def seconds_of(db, sql, limit=math.inf):
    """Result and processor time; Slow at the limit."""
    start = time.process_time()
    db.set_progress_handler((lambda: time.process_time() - start > limit) if limit < math.inf else None, 10_000)
    try:
        result = db.execute(sql).fetchone()
    except sqlite3.OperationalError as error:
        if "interrupted" not in str(error):
            raise
        raise Slow
    return result, time.process_time() - start


def race(db, forms, repeats):
    """Times forms in turns: {name: least seconds, infinite if it was given up}."""
    least = {}
    results = {}
    for repeat in range(repeats):
        for name, sql in forms.items():
            if least.get(name) == math.inf:
                continue
            base = least.get("left, plain" if name.startswith("left") else "plain", math.inf)
            try:
                results[name], seconds = seconds_of(db, sql, GIVEN_UP * base + 0.02)
            except Slow:
                seconds = math.inf
            # A form that was not too slow once is interrupted by a busy machine at most.
            least[name] = min(seconds, least.get(name, math.inf))
    for name, result in results.items():
        expected = results["left, plain" if name.startswith("left") else "plain"]
        if result != expected:
            sys.exit(f"{name} returned {result}, not {expected}: {forms[name]}")
    return least


def main():
    num_shapes = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    results = harness.Results("shapes", ("statistics", "group", "shape", "contestant", "ratio", "makes_index"), f"{num_shapes} shapes, least of {repeats} runs")
    found = collections.defaultdict(list)  # by statistics, group and form: ratio, and whether it makes an index of the facts
    for number in range(num_shapes):
        shape = Shape(number)
        db = harness.connect()
        shape.create(db)
        shape.fill(db)
        forms = shape.forms()
        for statistics in "no statistics", "after ANALYZE":
            if statistics == "after ANALYZE":
                db.execute("ANALYZE")
            least = race(db, forms, repeats)
            for name, seconds in least.items():
                ratio = seconds / least["left, plain" if name.startswith("left") else "plain"]
                makes_index = makes_index_of_facts(db, forms[name])
                results.row(statistics, shape.group(), number, name, ratio, int(makes_index))
                for group in shape.group(), "dimensions: %d" % len(shape.dimensions), "all":
                    found[statistics, group, name].append((ratio, makes_index))
                if ratio >= SLOWER and "-v" in sys.argv:
                    print(f"{statistics}: {name} {ratio:.1f}x{' (index of the facts)' if makes_index else ''}; {shape}", flush=True)
        db.close()
    print(f"SQLite {sqlite3.sqlite_version}, {num_shapes} shapes, least of {repeats} runs. "
          f"Slower: {SLOWER} times the plain join or more; twice: 2 times")
    for statistics in "no statistics", "after ANALYZE":
        for group in sorted({g for _, g, _ in found}):
            print(f"\n{statistics}; {group}\n{'':<18} {'shapes':>7} {'slower':>7} {'twice':>7} {'worst':>8} {'median':>7} {'makes an index':>15}")
            for (s, g, name), its in found.items():
                if (s, g) == (statistics, group):
                    ratios = sorted(ratio for ratio, _ in its)
                    worst = f"{ratios[-1]:.1f}x" if ratios[-1] < math.inf else f"> {GIVEN_UP}x"
                    print(f"{name:<18} {len(its):>7} {sum(r >= SLOWER for r in ratios):>7} {sum(r >= 2 for r in ratios):>7} {worst:>8}"
                          f" {ratios[len(ratios) // 2]:>6.2f}x {sum(makes for _, makes in its):>15}")


if __name__ == "__main__":
    main()
