#!/usr/bin/python3
"""
SQLite's own join filter, and ours, by the kind of key.

Facts are joined with a dimension on its primary key, which has two rows for five facts:
SQLite's filter wants fewer rows than look-ups.  Every fact has a partner; a condition on the dimension lets a share of the partners pass.  Keys are of five
kinds:

  integer  one INTEGER
  pair     two INTEGERs; ours by bloom_tuple()
  real     a REAL in 0..1
  blob     16 bytes, of which the first 8 are the same in all
  text     customer-00001234

Three forms of the query, `plain`, with a filter of the rows that pass `kept` from before,
and one `built` by the query itself, in Parquet's encoding, each run

  own       after ANALYZE, as SQLite runs it: it uses its own filter where it sees fit
  off       after ANALYZE, without that filter
  no stats  where ANALYZE was never run, so that it has none either

`plan` says in which of these the plain query's plan has a BLOOM FILTER.  All results are
compared.  The gains are those over `plain` and `own`.

    own_filter.py quick|medium|large|full [KIND ...]      for example: medium pair text

large is 10 million facts of which 0.5 % pass, once: full takes hours.
"""
import ctypes
import os
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness

PER_MILLE = [5, 50, 500]  # that pass
SIZES = {  # facts, repeats, of which shares
    "quick": [(200_000, 3, PER_MILLE)],
    "medium": [(1_000_000, 3, PER_MILLE)],
    "large": [(10_000_000, 1, [5])],
    "full": [(1_000_000, 5, PER_MILLE), (10_000_000, 3, PER_MILLE)],
}
ROWS_PER_FACT = 0.4

# The columns of the key, and the SQL of that of row n of num_rows.
KINDS = {
    "integer": ("k INTEGER", "n * 7 + 1000000"),
    "pair": ("a INTEGER, b INTEGER", "n / 1000, n % 1000"),
    "real": ("k REAL", "(n + 0.5) / {num_rows}"),
    "blob": ("k BLOB", "CAST('tenant-7' || printf('%08x', n * 2654435761 % 4294967296) AS BLOB)"),
    "text": ("k TEXT", "printf('customer-%08d', n)"),
}

OPTIMIZATIONS = 15        # SQLITE_TESTCTRL_OPTIMIZATIONS
BLOOM_FILTER = 0x80000    # the bit that switches the filter off: `.testctrl optimizations` in the shell

library = ctypes.CDLL("libsqlite3.so.0")  # the one that the sqlite3 module has loaded
library.sqlite3_libversion.restype = ctypes.c_char_p
assert library.sqlite3_libversion().decode() == sqlite3.sqlite_version


def connect(path):
    """A connection, and its address, which SQLite tells an extension that it loads by itself."""
    addresses = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    def entry_point(db, message, api):
        addresses.append(db)
        return 0

    library.sqlite3_auto_extension(entry_point)
    db = harness.connect(path, 2048)
    library.sqlite3_cancel_auto_extension(entry_point)
    return db, addresses[0]


def set_own_filter(address, is_on):
    if library.sqlite3_test_control(OPTIMIZATIONS, ctypes.c_void_p(address), ctypes.c_int(0 if is_on else BLOOM_FILTER)):
        sys.exit("this SQLite has no sqlite3_test_control()")


def key_of(kind, alias=""):
    """The key as ours has it: one value."""
    return f"bloom_tuple({alias}a, {alias}b)" if kind == "pair" else f"{alias}k"


def query(kind, form, per_mille):
    handle = {"kept": f"(SELECT bloom_open(filter) FROM filters WHERE per_mille = {per_mille})",
              "built": f"(SELECT bloom_open(bloom_build({key_of(kind)}, 'parquet')) FROM dimension WHERE share < {per_mille})"}
    condition = f" AND bloom_may_contain({handle[form]}, {key_of(kind, 'f.')})" if form in handle else ""
    matched = "d.a = f.a AND d.b = f.b" if kind == "pair" else "d.k = f.k"
    return (f"SELECT count(*), sum(f.amount + d.weight) FROM facts f JOIN dimension d ON {matched}"
            f" WHERE d.share < {per_mille}{condition}")


def filler(kind, num_facts):
    num_rows = round(num_facts * ROWS_PER_FACT)
    columns, key = KINDS[kind]
    key = key.format(num_rows=num_rows)
    names = "a, b" if kind == "pair" else "k"

    def fill(db):
        db.execute(f"CREATE TABLE dimension({columns}, share INTEGER, weight INTEGER, name TEXT, PRIMARY KEY ({names}))")
        db.execute(harness.numbers(num_rows, 0) + f"INSERT INTO dimension SELECT {key}, n * 7919 % 1000, n % 100, 'name of ' || n"
                   " FROM numbers")
        db.execute("CREATE TABLE filters(per_mille INTEGER PRIMARY KEY, filter BLOB)")
        for per_mille in PER_MILLE:
            db.execute(f"INSERT INTO filters SELECT {per_mille}, bloom_build({key_of(kind)}, 'parquet') FROM dimension"
                       f" WHERE share < {per_mille}")
        db.execute(f"CREATE TABLE facts(id INTEGER PRIMARY KEY, {columns}, amount INTEGER)")
        # A minimal standard generator [Park, Miller 1988] picks the keys.
        db.execute(f"""
            WITH RECURSIVE random(i, r) AS (
              SELECT 1, 20201 UNION ALL SELECT i + 1, r * 48271 % 2147483647 FROM random LIMIT {num_facts})
            INSERT INTO facts SELECT i, {key}, i % 1000 FROM (SELECT i, r % {num_rows} AS n FROM random)""")
        db.execute("ANALYZE")

    return fill


def has_own_filter(db, sql):
    return any("BLOOM FILTER" in row[3] for row in db.execute("EXPLAIN QUERY PLAN " + sql))


def contestant(db, address, sql, is_on):
    """The comment keeps the module from taking the other's prepared statement."""
    text = sql if is_on else sql + " -- off"

    def run():
        set_own_filter(address, is_on)
        return db.execute(text).fetchone()

    return run


def measure(results, kind, num_facts, repeats, shares):
    path = harness.database(f"own-filter-{kind}-{num_facts}", filler(kind, num_facts))
    analyzed, address = connect(path)
    # Never committed: the statistics are gone for this connection alone.
    bare, bare_address = connect(path)
    bare.executescript("BEGIN; DELETE FROM sqlite_stat1; ANALYZE sqlite_schema;")
    for per_mille in shares:
        contestants, plans = {}, []
        for state, db, where, is_on in (("own", analyzed, address, True), ("off", analyzed, address, False),
                                        ("no stats", bare, bare_address, True)):
            for form in ("plain", "kept", "built"):
                contestants[f"{form}, {state}"] = contestant(db, where, query(kind, form, per_mille), is_on)
            set_own_filter(where, is_on)
            if has_own_filter(db, query(kind, "plain", per_mille) + (" -- off" if not is_on else "")):
                plans.append(state)
        times = harness.race(contestants, repeats)
        results.race(times, kind, num_facts, per_mille, "+".join(plans) or "none")
        own = times["plain, own"]
        gain = {name: harness.faster(own, its) for name, its in times.items()}
        print(f"{kind:<8}{num_facts:>11,}{per_mille / 10:>6} %  " +
              "".join(f"{times[name].median * 1e3:>8.0f}" for name in times) +
              f"   {gain['kept, own']:>6.2f}x{gain['built, own']:>7.2f}x{gain['plain, off']:>7.2f}x"
              f"{100 * max(t.spread() for t in times.values()):>6.0f} %  {'+'.join(plans) or 'none'}", flush=True)
    bare.execute("ROLLBACK")
    analyzed.close()
    bare.close()


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in SIZES or not set(sys.argv[2:]) <= set(KINDS):
        sys.exit(f"usage: own_filter.py quick|medium|large|full [{'|'.join(KINDS)} ...]")
    print(f"SQLite {sqlite3.sqlite_version}, ms of plain, kept and built: own filter on, off, without ANALYZE;"
          " then the gain of kept, of built, and of plain without its own filter; medians of runs in turns")
    results = harness.Results("own-filter", ["keys", "facts", "per_mille", "own_filter_in_plan", "contestant", "repeat", "seconds"],
                              "cache: 2048 MB", keep=not sys.argv[2:])
    for num_facts, repeats, shares in SIZES[sys.argv[1]]:
        for kind in sys.argv[2:] or KINDS:
            measure(results, kind, num_facts, repeats, shares)


if __name__ == "__main__":
    main()
