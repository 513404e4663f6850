#!/usr/bin/python3
"""
The ways to write a join of many facts with the few rows of a dimension that pass a condition,
beside each other, by the kind of key and the share of the facts that match.

Facts are joined with a dimension on its primary key, which has two rows for five facts; every fact
has a partner, of which a share passes.  Kinds of keys are those of own_filter.py: integer, pair,
real, blob, text.  ANALYZE was run.  Forms that need no column of the dimension count and add up
facts:

  join             facts JOIN dimension WHERE condition: SQLite's own filter where it sees fit
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

import own_filter

PER_MILLE = [5, 50, 200, 500]  # that pass


def forms(kind, per_mille):
    """The SQL of each form, by name."""
    columns = "a, b" if kind == "pair" else "k"
    key = own_filter.key_of(kind)
    fact_key = own_filter.key_of(kind, "f.")
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
    fill_tables = own_filter.filler(kind, num_facts)

    def fill(db):
        fill_tables(db)
        db.execute("CREATE TABLE indexed_facts AS SELECT * FROM facts")
        db.execute(f"CREATE INDEX facts_key ON indexed_facts({'a, b' if kind == 'pair' else 'k'})")
        db.execute("ANALYZE")

    return fill


def main():
    num_facts = int(sys.argv[1]) if len(sys.argv) > 1 else 300_000
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    results = harness.Results("forms", ("keys", "per_mille", "contestant", "repeat", "seconds"),
                              f"{num_facts} facts, {round(num_facts * own_filter.ROWS_PER_FACT)} rows", keep=not sys.argv[3:])
    first = True
    for kind in sys.argv[3:] or own_filter.KINDS:
        db = harness.connect(harness.database(f"forms-{kind}-{num_facts}", filler(kind, num_facts)), 2048)
        for per_mille in PER_MILLE:
            for queries in forms(kind, per_mille):
                times = harness.race({name: (lambda sql=sql: db.execute(sql).fetchone()) for name, sql in queries.items()}, repeats)
                results.race(times, kind, per_mille)
                if first:
                    version = db.execute("SELECT sqlite_version()").fetchone()[0]
                    print(f"SQLite {version}, {num_facts:,} facts, ms: medians of {repeats} runs in turns")
                first = False
                print(f"{kind:<8}{per_mille / 10:>5} %  " + "  ".join(f"{name} {1e3 * t.median:.1f}" for name, t in times.items())
                      + f"  (spread {100 * max(t.spread() for t in times.values()):.0f} %)", flush=True)
        db.close()


if __name__ == "__main__":
    main()
