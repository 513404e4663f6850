#!/usr/bin/python3
"""
The ways to write a join of many facts with the few rows of a dimension that pass a condition,
beside each other, by the kind of key and the share of the facts that match.

Facts are joined with a dimension on its primary key, which has two rows for five facts, because
SQLite's own filter wants fewer rows than look-ups.  Every fact has a partner, of which a share
passes.  Keys are of five kinds:

  integer  one INTEGER
  pair     two INTEGERs; bloom_tuple() makes one key of them
  real     a REAL in 0..1
  blob     16 bytes, of which the first 8 are the same in all
  text     customer-00001234

ANALYZE was run.  Forms that need no column of the dimension count and add up facts:

  join             facts JOIN dimension WHERE condition: SQLite's own filter where it sees fit
  never analyzed   the same without statistics, so that SQLite makes no filter
  in               WHERE key IN (SELECT key FROM dimension WHERE condition)
  in, filter       the same behind a filter
  in, d            the same, over a MATERIALIZED d that the filter is built of, too
  subquery         the join, and bloom_open(bloom_build()) over the condition, written twice
  cte              the join, and the filter in a MATERIALIZED CTE
  d                d, MATERIALIZED: the rows that pass; facts JOIN d
  d, filter        d, and bloom_filter() over it: the form that the pages recommend
  index            the join, where the scanned column has an index

then those with a column of the dimension in the result, as `name, column`; and LEFT JOIN:

  left             facts LEFT JOIN dimension ON key AND condition
  left, d          d, and facts LEFT JOIN d
  left, filter     the same, bloom_filter() over d in ON
  left, case       the same, in the key: ON d.k = CASE WHEN filter THEN key END (one column)

All results are compared.  Times are in ms, medians of runs in turns.

    forms.py [FACTS [REPEATS [KIND ...]]]     from the top of the checkout; 300000 and 5
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness

PER_MILLE = [5, 50, 200, 500]  # that pass
ROWS_PER_FACT = 0.4

# The columns of the key, and the SQL of that of row n of num_rows.
KINDS = {
    "integer": ("k INTEGER", "n * 7 + 1000000"),
    "pair": ("a INTEGER, b INTEGER", "n / 1000, n % 1000"),
    "real": ("k REAL", "(n + 0.5) / {num_rows}"),
    "blob": ("k BLOB", "CAST('tenant-7' || printf('%08x', n * 2654435761 % 4294967296) AS BLOB)"),
    "text": ("k TEXT", "printf('customer-%08d', n)"),
}


def key_of(kind, alias=""):
    """The key as bloom_build() takes it: one value."""
    return f"bloom_tuple({alias}a, {alias}b)" if kind == "pair" else f"{alias}k"


def forms(kind, per_mille):
    """The SQL of each form, by name."""
    columns = "a, b" if kind == "pair" else "k"
    key = key_of(kind)
    fact_key = key_of(kind, "f.")
    fact_keys = "f.a, f.b" if kind == "pair" else "f.k"
    fact_row = f"({fact_keys})" if kind == "pair" else fact_keys
    matched = "d.a = f.a AND d.b = f.b" if kind == "pair" else "d.k = f.k"
    passing = f"FROM dimension WHERE share < {per_mille}"
    handle = f"(SELECT bloom_open(bloom_build({key}, 'parquet')) {passing})"
    d = f"WITH d AS MATERIALIZED (SELECT {columns}, weight {passing}) "
    filtered = f"bloom_may_contain((SELECT bloom_filter({columns}) FROM d), {fact_keys})"
    joins = {
        "join": ("", f"facts f JOIN dimension d ON {matched} WHERE d.share < {per_mille}"),
        "subquery": ("", f"facts f JOIN dimension d ON {matched} WHERE bloom_may_contain({handle}, {fact_key})"
                         f" AND d.share < {per_mille}"),
        "cte": (f"WITH f0 AS MATERIALIZED (SELECT bloom_build({key}, 'parquet') AS filter {passing}) ",
                f"facts f JOIN dimension d ON {matched} WHERE d.share < {per_mille}"
                f" AND bloom_may_contain((SELECT bloom_open(filter) FROM f0), {fact_key})"),
        "d": (d, f"facts f JOIN d ON {matched}"),
        "d, filter": (d, f"facts f JOIN d ON {matched} WHERE {filtered}"),
        "index": ("", f"indexed_facts f JOIN dimension d ON {matched} WHERE d.share < {per_mille}"),
    }
    queries = {name: f"{cte}SELECT count(*), sum(f.amount) FROM {rest}" for name, (cte, rest) in joins.items()}
    queries["in"] = f"SELECT count(*), sum(f.amount) FROM facts f WHERE {fact_row} IN (SELECT {columns} {passing})"
    queries["in, filter"] = (f"SELECT count(*), sum(f.amount) FROM facts f WHERE bloom_may_contain({handle}, {fact_key})"
                             f" AND {fact_row} IN (SELECT {columns} {passing})")
    queries["in, d"] = (f"{d}SELECT count(*), sum(f.amount) FROM facts f WHERE {filtered}"
                        f" AND {fact_row} IN (SELECT {columns} FROM d)")
    with_column = {f"{name}, column": f"{cte}SELECT count(*), sum(f.amount + d.weight) FROM {rest}"
                   for name, (cte, rest) in joins.items()}
    left = {
        "left": f"SELECT count(*), sum(f.amount), sum(d.weight) FROM facts f LEFT JOIN dimension d ON {matched} AND d.share < {per_mille}",
        "left, d": f"{d}SELECT count(*), sum(f.amount), sum(d.weight) FROM facts f LEFT JOIN d ON {matched}",
        "left, filter": f"{d}SELECT count(*), sum(f.amount), sum(d.weight) FROM facts f LEFT JOIN d ON {matched} AND {filtered}",
    }
    if kind != "pair":
        left["left, case"] = (f"{d}SELECT count(*), sum(f.amount), sum(d.weight) FROM facts f"
                              f" LEFT JOIN d ON d.k = CASE WHEN {filtered} THEN f.k END")
    return queries, with_column, left


def filler(kind, num_facts):
    num_rows = round(num_facts * ROWS_PER_FACT)
    columns, key = KINDS[kind]
    key = key.format(num_rows=num_rows)
    names = "a, b" if kind == "pair" else "k"

    def fill(db):
        db.execute(f"CREATE TABLE dimension({columns}, share INTEGER, weight INTEGER, name TEXT, PRIMARY KEY ({names}))")
        db.execute(harness.numbers(num_rows, 0) + f"INSERT INTO dimension SELECT {key}, n * 7919 % 1000, n % 100, 'name of ' || n"
                   " FROM numbers")
        db.execute(f"CREATE TABLE facts(id INTEGER PRIMARY KEY, {columns}, amount INTEGER)")
        # A minimal standard generator [Park, Miller 1988] picks the keys.
        db.execute(f"""
            WITH RECURSIVE random(i, r) AS (
              SELECT 1, 20201 UNION ALL SELECT i + 1, r * 48271 % 2147483647 FROM random LIMIT {num_facts})
            INSERT INTO facts SELECT i, {key}, i % 1000 FROM (SELECT i, r % {num_rows} AS n FROM random)""")
        db.execute("CREATE TABLE indexed_facts AS SELECT * FROM facts")
        db.execute(f"CREATE INDEX facts_key ON indexed_facts({names})")
        db.execute("ANALYZE")

    return fill


def main():
    num_facts = int(sys.argv[1]) if len(sys.argv) > 1 else 300_000
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    results = harness.Results("forms", ("keys", "per_mille", "contestant", "repeat", "seconds"),
                              f"{num_facts} facts, {round(num_facts * ROWS_PER_FACT)} rows", keep=not sys.argv[3:])
    first = True
    for kind in sys.argv[3:] or KINDS:
        path = harness.database(f"forms-{kind}-{num_facts}", filler(kind, num_facts))
        db = harness.connect(path, 2048)
        # Never committed: the statistics are gone for this connection alone.
        bare = harness.connect(path, 2048)
        bare.executescript("BEGIN; DELETE FROM sqlite_stat1; ANALYZE sqlite_schema;")
        for per_mille in PER_MILLE:
            for queries in forms(kind, per_mille):
                contestants = {name: (lambda sql=sql: db.execute(sql).fetchone()) for name, sql in queries.items()}
                if "join" in queries:
                    contestants["never analyzed"] = lambda sql=queries["join"]: bare.execute(sql).fetchone()
                times = harness.race(contestants, repeats)
                results.race(times, kind, per_mille)
                if first:
                    version = db.execute("SELECT sqlite_version()").fetchone()[0]
                    print(f"SQLite {version}, {num_facts:,} facts, ms: medians of {repeats} runs in turns")
                first = False
                print(f"{kind:<8}{per_mille / 10:>5} %  " + "  ".join(f"{name} {1e3 * t.median:.1f}" for name, t in times.items())
                      + f"  (spread {100 * max(t.spread() for t in times.values()):.0f} %)", flush=True)
        bare.execute("ROLLBACK")
        bare.close()
        db.close()


if __name__ == "__main__":
    main()
