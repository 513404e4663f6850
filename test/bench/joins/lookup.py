#!/usr/bin/python3
"""
A filter in front of look-ups: when it helps, and when it does not.

A fact table is matched with a dimension by a join, IN and EXISTS: plain, with a filter kept from
before (`kept`), and with one built by the query itself (`built`), in LevelDB's encoding and in
Parquet's.  Parameters: the dimension's size, the kind of key, the share of fact rows that have a
partner, and SQLite's page cache, large enough for everything (`warm`) or of 2 MB, its default
(`small`).  IN and EXISTS are tried warm, where 10 % match.  All results are compared with the plain
query's.  Keys are of three kinds:

  integer  with gaps: 1,000 apart, give or take
  hex      text of 16 hexadecimal digits without order, as in UUIDs
  text     sequential, with zeros: cust-00000000042, the worst kind for LevelDB's hash

    lookup.py quick|medium|full [KEY-ROWS ...]      for example: full hex-10000000

The facts come in random order.  Absent keys lie between the dimension's, so that a
look-up of one is like any other.  ANALYZE was run.
"""
import os
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness

SIZES = {
    # fact rows, repeats, per cent of rows that match, dimensions
    "quick": (200_000, 3, [1, 10, 50, 100], ["integer-1000000", "hex-1000000", "text-1000000"]),
    "medium": (500_000, 3, [0.1, 1, 10, 50, 80, 100],
               ["integer-1000000", "integer-10000000", "hex-1000000", "hex-10000000", "text-1000000"]),
    "full": (2_000_000, 3, [0.1, 1, 10, 50, 80, 100],
             ["integer-1000000", "integer-10000000", "hex-1000000", "hex-10000000",
              "text-1000000", "text-10000000"]),
}
CACHE_MB = {"warm": 2048, "small": 2}

# What stands for {filter}.
CONTESTANTS = {
    "plain": "1",
    "kept": "bloom_may_contain((SELECT bloom_open(leveldb) FROM filters), f.key)",
    "built": "bloom_may_contain((SELECT bloom_open(bloom_build(id)) FROM dimension), f.key)",
    "kept parquet": "bloom_may_contain((SELECT bloom_open(parquet) FROM filters), f.key)",
    "built parquet": "bloom_may_contain((SELECT bloom_open(bloom_build(id, 'parquet')) FROM dimension), f.key)",
}
FORMS = {
    "join": "SELECT count(*), sum(f.amount + d.weight) FROM {fact} f JOIN dimension d ON d.id = f.key WHERE {filter}",
    "IN": "SELECT count(*), sum(f.amount) FROM {fact} f WHERE {filter} AND f.key IN (SELECT id FROM dimension)",
    "EXISTS": "SELECT count(*), sum(f.amount) FROM {fact} f"
              " WHERE {filter} AND EXISTS (SELECT 1 FROM dimension d WHERE d.id = f.key)",
}


def fact_name(percent):
    return f"fact_{percent}".replace(".", "_")


# The SQL of row n's key, and of the absent key beside it.  Odd factors modulo 2^32: different keys of
# different numbers.
KEYS = {
    "integer": "({n}) * 1000 + ({n}) * 2654435761 / 65536 % 500 + 500 * ({absent})",
    "hex": "printf('%08x%08x', (2 * ({n}) + ({absent})) * 2654435761 % 4294967296,"
           " (2 * ({n}) + ({absent})) * 1540483477 % 4294967296)",
    "text": "printf('cust-%011d', 2 * ({n}) + ({absent}))",
}


def filler(kind, num_rows, num_facts, percents):
    as_key = KEYS[kind]
    key_type = "INTEGER" if kind == "integer" else "TEXT"

    def fill(db):
        db.execute(f"CREATE TABLE dimension(id {key_type} PRIMARY KEY, name TEXT, weight INTEGER)")
        db.execute(harness.numbers(num_rows) + "INSERT INTO dimension SELECT " + as_key.format(n="n", absent=0) +
                   ", 'name of ' || n, n % 100 FROM numbers")
        db.execute("CREATE TABLE filters AS SELECT bloom_build(id) AS leveldb, bloom_build(id, 'parquet') AS parquet FROM dimension")
        for percent in percents:
            db.execute(f"CREATE TABLE {fact_name(percent)}(id INTEGER PRIMARY KEY, key {key_type}, amount INTEGER)")
            # A minimal standard generator [Park, Miller 1988], twice: r picks the key, s whether it matches.
            db.execute(f"""
                WITH RECURSIVE random(n, r, s) AS (
                  SELECT 1, 20201, 1234567 UNION ALL
                  SELECT n + 1, r * 48271 % 2147483647, s * 16807 % 2147483647 FROM random LIMIT {num_facts}),
                keys(n, row, absent) AS (SELECT n, r % {num_rows} + 1, s % 1000 >= {10 * percent} FROM random)
                INSERT INTO {fact_name(percent)} SELECT n, {as_key.format(n="row", absent="absent")}, n % 1000
                  FROM keys""")
        db.execute("ANALYZE")

    return fill


def measure(results, size, dimension):
    num_facts, repeats, percents, _ = SIZES[size]
    kind, num_rows = dimension.split("-")
    path = harness.database(f"joins-{dimension}-{num_facts}", filler(kind, int(num_rows), num_facts, percents))
    for cache, cache_mb in CACHE_MB.items():
        db = harness.connect(path, cache_mb)
        for percent in percents:
            for form, sql in FORMS.items():
                if form != "join" and (cache == "small" or percent != 10):
                    continue

                def contestant(condition):
                    text = sql.format(fact=fact_name(percent), filter=condition)
                    return lambda: db.execute(text).fetchone()

                times = harness.race({name: contestant(condition) for name, condition in CONTESTANTS.items()}, repeats)
                results.race(times, kind, num_rows, cache, percent, form)
                print(f"{kind:<8}{int(num_rows):>11,} {cache:<6}{percent:>6} % {form:<7}" + "".join(
                    f"{times[n].median * 1e3:>9.0f}" for n in times) + "".join(
                    f"{harness.faster(times['plain'], times[n]):>8.2f}x" for n in times if n != "plain") +
                    f"{100 * max(t.spread() for t in times.values()):>7.0f} %", flush=True)
        db.close()


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in SIZES:
        sys.exit("usage: lookup.py quick|medium|full [KEY-ROWS ...]")
    size = sys.argv[1]
    num_facts, repeats, _, dimensions = SIZES[size]
    print(f"SQLite {sqlite3.sqlite_version}, {num_facts:,} facts, medians of {repeats} runs in turns; "
          "spread: the run furthest from its median")
    print(f"{'key':<8}{'dimension':>11} {'cache':<6}{'match':>8} {'form':<7}{'plain':>9}{'kept':>9}{'built':>9}{'kept':>9}{'built':>9} ms"
          f"{'kept':>6}{'built':>9}{'kept':>9}{'built':>9}{'spread':>9}; the second kept and built: Parquet's encoding")
    results = harness.Results("joins", ["keys", "rows", "cache", "percent", "form", "contestant", "repeat", "seconds"],
                              f"{num_facts} facts; cache: {CACHE_MB} MB", keep=not sys.argv[2:])
    for dimension in sys.argv[2:] or dimensions:
        measure(results, size, dimension)


if __name__ == "__main__":
    main()
