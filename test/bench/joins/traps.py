#!/usr/bin/python3
"""
Where a filter must stand in a query: each trap measured beside the same query
without a filter and with the filter where it belongs.

SQLite takes conditions in the order that EXPLAIN shows; a filter that comes
after the look-up saves nothing.  All three queries must give the same result.

    traps.py [num_facts [num_repeats]]      default: 200,000 and 5

A million rows in the dimension, integer keys, 1 % of the facts match, and all
fits in SQLite's cache.
"""
import os
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness

NUM_ROWS = 1_000_000
NUM_PARTS = 512  # a filter of 2.4 KB: a row fits its page
NUM_STATEMENTS = 200  # where every key has a statement of its own, ?1, or runs a trigger


def may_contain(key, name="dimension"):
    return f"bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = '{name}'), {key})"


MAY_CONTAIN_IN_PART = ("(SELECT bloom_may_contain(filter, {0}) FROM parts WHERE part ="
                       f" bloom_partition({{0}}, {NUM_PARTS}))")
IS_THERE = "EXISTS (SELECT 1 FROM dimension WHERE id = new.key)"
# Each inbox keeps what its trigger lets in.
INBOXES = {
    "plain": IS_THERE,
    "opened": may_contain("new.key") + " AND " + IS_THERE,
    "partitioned": MAY_CONTAIN_IN_PART.format("new.key") + " AND " + IS_THERE,
}


def outer_loop(facts):
    plain = f"SELECT count(*), sum(f.amount) FROM dimension d CROSS JOIN {facts} f ON f.key = d.id"
    better = f"SELECT count(*), sum(f.amount) FROM {facts} f CROSS JOIN dimension d ON f.key = d.id"
    return plain, f"{plain} WHERE {may_contain('f.key')}", f"{better} WHERE {may_contain('f.key')}"


def insert(inbox):
    return f"INSERT INTO inbox_{inbox} SELECT key FROM fact LIMIT {NUM_STATEMENTS}"


# What, and the query: plain, in the trap, as it should be (None: without a filter).
TRAPS = [
    ("IN before the filter",
     "SELECT count(*), sum(amount) FROM fact WHERE key IN (SELECT id FROM dimension)",
     "SELECT count(*), sum(amount) FROM fact WHERE key IN (SELECT id FROM dimension) AND " + may_contain("key"),
     "SELECT count(*), sum(amount) FROM fact WHERE " + may_contain("key") + " AND key IN (SELECT id FROM dimension)"),
    ("LEFT JOIN: filter in ON, not in the key",
     "SELECT count(*), sum(d.weight) FROM fact f LEFT JOIN dimension d ON d.id = f.key",
     "SELECT count(*), sum(d.weight) FROM fact f LEFT JOIN dimension d ON d.id = f.key AND " + may_contain("f.key"),
     "SELECT count(*), sum(d.weight) FROM fact f LEFT JOIN dimension d ON d.id ="
     " CASE WHEN " + may_contain("f.key") + " THEN f.key END"),
    ("subquery in SELECT: filter inside it",
     "SELECT sum((SELECT weight FROM dimension WHERE id = key)) FROM fact",
     "SELECT sum((SELECT weight FROM dimension WHERE id = key AND " + may_contain("key") + ")) FROM fact",
     "SELECT sum(CASE WHEN " + may_contain("key") + " THEN (SELECT weight FROM dimension WHERE id = key) END) FROM fact"),
    ("OR: filters in its arms, not before it",
     "SELECT count(*), sum(d.weight) FROM fact f JOIN dimension d ON d.id = f.key OR d.id = f.other_key",
     "SELECT count(*), sum(d.weight) FROM fact f JOIN dimension d ON (d.id = f.key AND " + may_contain("f.key") + ")"
     " OR (d.id = f.other_key AND " + may_contain("f.other_key") + ")",
     "SELECT count(*), sum(d.weight) FROM fact f JOIN dimension d ON d.id = f.key OR d.id = f.other_key"
     " WHERE " + may_contain("f.key") + " OR " + may_contain("f.other_key")),
    ("dimension is the outer loop", *outer_loop("indexed_fact")),
    # SQLite adds a filter of its own where it has statistics, some condition on the inner table,
    # which ours is, and more rows that look up than the inner table has.
    ("the same, a tenth of the facts", *outer_loop("indexed_tenth")),
    ("filter before a cheap comparison",
     "SELECT count(*), sum(d.weight) FROM fact f JOIN dimension d ON d.id = f.key WHERE f.amount < 100",
     "SELECT count(*), sum(d.weight) FROM fact f JOIN dimension d ON d.id = f.key"
     " WHERE " + may_contain("f.key") + " AND f.amount < 100",
     "SELECT count(*), sum(d.weight) FROM fact f JOIN dimension d ON d.id = f.key"
     " WHERE f.amount < 100 AND " + may_contain("f.key")),
    ("two filters, the weak one first",
     "SELECT count(*), sum(d.weight) FROM fact f JOIN dimension e ON e.id = f.frequent_key JOIN dimension d ON d.id = f.key",
     "SELECT count(*), sum(d.weight) FROM fact f JOIN dimension e ON e.id = f.frequent_key JOIN dimension d ON d.id = f.key"
     " WHERE " + may_contain("f.frequent_key") + " AND " + may_contain("f.key"),
     "SELECT count(*), sum(d.weight) FROM fact f JOIN dimension e ON e.id = f.frequent_key JOIN dimension d ON d.id = f.key"
     " WHERE " + may_contain("f.key") + " AND " + may_contain("f.frequent_key")),
    ("bloom_open in a correlated subquery",
     "SELECT sum(EXISTS (SELECT 1 FROM dimension WHERE id = key)) FROM fact",
     "SELECT sum(bloom_may_contain((SELECT bloom_open(filter) FROM parts WHERE part ="
     f" bloom_partition(key, {NUM_PARTS})), key) AND EXISTS (SELECT 1 FROM dimension WHERE id = key)) FROM fact",
     "SELECT sum(" + MAY_CONTAIN_IN_PART.format("key") + " AND EXISTS (SELECT 1 FROM dimension WHERE id = key)) FROM fact"),
    ("one key a statement: bloom_open",
     "SELECT EXISTS (SELECT 1 FROM dimension WHERE id = ?1)",
     "SELECT " + may_contain("?1") + " AND EXISTS (SELECT 1 FROM dimension WHERE id = ?1)",
     "SELECT " + MAY_CONTAIN_IN_PART.format("?1") + " AND EXISTS (SELECT 1 FROM dimension WHERE id = ?1)"),
    ("a trigger: bloom_open",
     insert("plain"), insert("opened"), insert("partitioned")),
    ("filter's column in a grouped aggregate (few facts)",
     "SELECT sum(n) FROM (SELECT sum(EXISTS (SELECT 1 FROM dimension WHERE id = key)) AS n FROM few_facts GROUP BY amount)",
     "SELECT sum(n) FROM (SELECT sum(bloom_may_contain(filter, key) AND EXISTS (SELECT 1 FROM dimension WHERE id = key))"
     " AS n FROM filters, few_facts WHERE name = 'small' GROUP BY amount)",
     "SELECT sum(n) FROM (SELECT sum(" + may_contain("key", "small") + " AND EXISTS (SELECT 1 FROM dimension WHERE id = key))"
     " AS n FROM few_facts GROUP BY amount)"),
]


def fill(db):
    db.execute("CREATE TABLE dimension(id INTEGER PRIMARY KEY, name TEXT, weight INTEGER)")
    db.execute(harness.numbers(NUM_ROWS) + "INSERT INTO dimension SELECT 2 * n, 'name of ' || n, n % 100 FROM numbers")
    db.execute("CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB)")
    db.execute("INSERT INTO filters SELECT 'dimension', bloom_build(id) FROM dimension")
    db.execute("CREATE TABLE parts(part INTEGER PRIMARY KEY, filter BLOB)")
    db.execute(f"INSERT INTO parts SELECT bloom_partition(id, {NUM_PARTS}), bloom_build(id) FROM dimension GROUP BY 1")
    columns = "(id INTEGER PRIMARY KEY, key INTEGER, other_key INTEGER, frequent_key INTEGER, amount INTEGER)"
    for table in ("fact", "indexed_fact", "indexed_tenth", "few_facts"):
        db.execute(f"CREATE TABLE {table}{columns}")
    # A minimal standard generator [Park, Miller 1988] picks the keys; even ones match.
    db.execute(f"""
        WITH RECURSIVE random(n, r) AS (
          SELECT 1, 20201 UNION ALL SELECT n + 1, r * 48271 % 2147483647 FROM random LIMIT {num_facts})
        INSERT INTO fact SELECT n, 2 * (r % {NUM_ROWS} + 1) - (n % 100 <> 1), 2 * (r / 5 % {NUM_ROWS} + 1) - (n % 100 <> 2),
          2 * (r / 7 % {NUM_ROWS} + 1) - (n % 2), r / 11 % 1000 FROM random""")
    db.execute("INSERT INTO indexed_fact SELECT * FROM fact")
    db.execute(f"INSERT INTO indexed_tenth SELECT * FROM fact LIMIT {num_facts // 10}")
    for table in ("indexed_fact", "indexed_tenth"):
        db.execute(f"CREATE INDEX {table}_key ON {table}(key)")
    db.execute("INSERT INTO few_facts SELECT * FROM fact WHERE id % 100 = 0 LIMIT 1000")
    db.execute("INSERT INTO filters SELECT 'small', bloom_build(key, 10, 10000) FROM few_facts")
    db.execute("ANALYZE")


num_facts = int(float(sys.argv[1])) if len(sys.argv) > 1 else 200_000
num_repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 5
db = harness.connect(harness.database(f"traps-{num_facts}", fill), 1024)
results = harness.Results("traps", ["trap", "contestant", "repeat", "seconds"], f"{num_facts} facts")
print(f"SQLite {sqlite3.sqlite_version}, {num_facts:,} facts, medians of {num_repeats} runs in turns, ms;"
      " times faster than plain in brackets")
print(f"{'':<52}{'plain':>8}{'in the trap':>18}{'as it should be':>18}{'spread':>9}")
keys = db.execute("SELECT key FROM fact LIMIT ?", (NUM_STATEMENTS,)).fetchall()


def contestant(sql):
    if "?1" in sql:
        return lambda: [db.execute(sql, key).fetchone() for key in keys]
    if sql.startswith("INSERT"):
        return lambda: inserted(sql)
    return lambda: db.execute(sql).fetchall()


def inserted(sql):
    """How many rows it inserts; they are gone at once."""
    before = db.total_changes
    db.execute("BEGIN")
    db.execute(sql)
    db.execute("ROLLBACK")
    return db.total_changes - before


for inbox, condition in INBOXES.items():
    db.executescript(f"CREATE TEMP TABLE inbox_{inbox}(key INTEGER);"
                     f" CREATE TEMP TRIGGER inbox_{inbox}_filter BEFORE INSERT ON inbox_{inbox} WHEN NOT ({condition})"
                     " BEGIN SELECT RAISE(IGNORE); END")


for what, plain, trap, better in TRAPS:
    times = harness.race({name: contestant(sql) for name, sql in (
        ("plain", plain), ("trap", trap), ("better", better))}, num_repeats)
    results.race(times, what)
    print(f"{what:<52}{times['plain'].median * 1e3:>8.1f}" + "".join(
        f"{times[name].median * 1e3:>8.1f} ({harness.faster(times['plain'], times[name]):>6.3g}x)"
        for name in ("trap", "better")) + f"{100 * max(t.spread() for t in times.values()):>7.0f} %", flush=True)
