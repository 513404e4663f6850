#!/usr/bin/python3
"""
What bloom costs per row of a scan, beside functions that do nothing or are built into SQLite, and what
building a filter costs beside other aggregates and an index, and one that answers as = does beside one that
compares bytes; and what opening a filter costs that lies in SQLite's page cache.

    make bench BENCH=per-row
    /usr/bin/python3 test/bench/per_row.py quick|full [TEXT]     TEXT: only groups that have it in their name

quick: 1 million rows; full: 10 million.  Contestants of a group scan one table in memory and take turns.
Printed are medians in ns a row, and medians of the differences from, or ratios to, another contestant in the
same repeat.  Keys lie in 0 .. 10^9, a million different ones, and every filter holds a tenth of them; r is a
key that stays the same for 8 rows.  noop(), which does nothing, is noop.c, which this compiles.
"""
import os
import subprocess
import sys

import harness

HANDLE = "(SELECT bloom_open(leveldb) FROM filter)"
PARQUET = "(SELECT bloom_open(parquet) FROM filter)"
SIZES = {"125 KB": 100_000, "1 MB": 838_860, "12 MB": 10_000_000}
TABLE_ROWS = 100_000
INDEXED_ROWS = 2_000_000


def scans(key, other, builtin):
    """Queries by name, and what is compared, of keys that stand in one column."""
    def may_contain(filter, its_key):
        return f"SELECT sum(bloom_may_contain({filter}, {its_key})) FROM t"

    pair = f"bloom_tuple({key}, {other})"
    return {
        "empty scan": f"SELECT count({key}) FROM t",
        f"noop(handle, {key})": f"SELECT sum(noop({HANDLE}, {key})) FROM t",
        f"may_contain(handle, {key})": may_contain(HANDLE, key),
        f"may_contain(handle, tuple({key}, {other}))": may_contain(HANDLE, pair),
        f"may_contain(parquet, {key})": may_contain(PARQUET, key),
        f"may_contain(parquet, tuple({key}, {other}))": may_contain(PARQUET, pair),
        f"noop(?, {key})": f"SELECT sum(noop(?1, {key})) FROM t",
        f"may_contain(?, {key})": may_contain("?1", key),
        f"{builtin}({key})": f"SELECT sum({builtin}({key})) FROM t",
    }, [
        f"may_contain(handle, {key}) - noop(handle, {key})", f"may_contain(parquet, {key}) - noop(handle, {key})",
        f"may_contain(?, {key}) - noop(?, {key})", f"may_contain(handle, {key}) - empty scan", f"{builtin}({key}) - empty scan",
        f"may_contain(handle, {key}) / {builtin}({key})", f"may_contain(?, {key}) / {builtin}({key})",
        f"may_contain(handle, tuple({key}, {other})) / may_contain(handle, {key})",
        f"may_contain(parquet, tuple({key}, {other})) / may_contain(parquet, {key})",
    ]


# Virtual tables over v, of one column and of two.
TABLES = {
    "handle of k": "SELECT sum(bloom_may_contain((SELECT handle FROM v_k), k)) FROM t",
    "handle of (k, r)": "SELECT sum(bloom_may_contain((SELECT handle FROM v_kr), bloom_tuple(k, r))) FROM t",
    "v_k(k)": "SELECT count(*) FROM t WHERE EXISTS (SELECT 1 FROM v_k(k))",
    "v_kr(k, r)": "SELECT count(*) FROM t WHERE EXISTS (SELECT 1 FROM v_kr(k, r))",
}
BUILDS = {f"{aggregate.format(key)}": f"SELECT length({aggregate.format(key)}) FROM t" for key in "ks" for aggregate in (
    "count({})", "bloom_build({})", "bloom_build({}, 10)", "bloom_build({}, 'parquet')", "group_concat({})")}
OF_BUILDS = [f"bloom_build({key}{size}) / {base}({key})" for key in "ks" for base in ("count", "group_concat") for size in ("", ", 10")]


# A filter of 500,000 keys is built, and one of 50,000 is asked for each row.  REALs lie in 0..1.
KEYS = {"INTEGER": "k", "TEXT": "s", "REAL": "k/1e9"}
EQUAL = {"bloom_filter": "bloom_filter({})", "of bytes": "bloom_open(bloom_build({}, 'parquet'))"}
OPENS = {"bloom_open": "SELECT bloom_open(leveldb) IS NULL FROM filter", "noop(filter)": "SELECT noop(leveldb, 1) FROM filter"}


def compete(db, results, group, queries, compared, num_rows, repeats, parameters=()):
    """One table; queries that have ?1 are given the parameters."""
    queries = {name: sql if callable(sql) else lambda sql=sql: db.execute(sql, parameters if "?" in sql else ()).fetchone() and None
               for name, sql in queries.items()}
    times = harness.race(queries, repeats)
    print(f"\n{group}, ns a row")
    for name, its in times.items():
        print(f"{name:42} {1e9 * its.median / num_rows:9.4g}   spread {100 * its.spread():.0f} %")
        for repeat, seconds in enumerate(its.seconds):
            results.row(group, name, "ns a row", repeat, 1e9 * seconds / num_rows)
    for pair in compared:
        name, operator, base = pair.rpartition(" / ") if " / " in pair else pair.rpartition(" - ")
        both = list(zip(times[name].seconds, times[base].seconds))
        values = [a / b for a, b in both] if operator == " / " else [1e9 * (a - b) / num_rows for a, b in both]
        print(f"  {pair}: {harness.statistics.median(values):.3g} ({min(values):.3g} .. {max(values):.3g})", flush=True)


def index_of(db, column):
    """A contestant that makes an index; the next one finds it gone."""
    def create():
        db.execute("DROP INDEX IF EXISTS side.its_index")
        db.execute(f"CREATE INDEX side.its_index ON t2({column})")

    return create


def noop():
    """The library that has noop()."""
    path = os.path.join(harness.FOLDER, "noop.so")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "noop.c")
    os.makedirs(harness.FOLDER, exist_ok=True)
    subprocess.run([*os.environ.get("CC", "cc").split(), "-O3", "-fPIC", "-shared", "-o", path, source], check=True)
    return path


def main():
    size, wanted = (sys.argv[1:] + ["quick", ""][len(sys.argv) - 1:])[:2]
    num_rows, repeats = (10_000_000, 7) if size == "full" else (1_000_000, 5)
    db = harness.connect()
    db.load_extension(noop())
    print(f"SQLite {harness.sqlite3.sqlite_version}, {num_rows:,} rows")
    results = harness.Results("per-row", ("group", "contestant", "unit", "repeat", "time"), f"{num_rows} rows", keep=not wanted)
    db.execute("CREATE TABLE t(k INTEGER, s TEXT, r INTEGER)")
    db.execute(harness.numbers(num_rows, 0) + "INSERT INTO t SELECT (n*7919 % 1000000)*997, printf('key-%012d', n*7919 % 1000000),"
               " (n/8*7919 % 1000000)*997 FROM numbers")
    kinds = {"INTEGER": (scans("k", "r", "abs"), "10*n*997"), "TEXT": (scans("s", "k", "length"), "printf('key-%012d', 10*n)")}
    for name, num_keys in SIZES.items():
        for kind, (queries, key) in kinds.items():
            group = f"scan: {kind}, filter of {name}"
            if wanted in group:
                db.execute("DROP TABLE IF EXISTS filter")
                db.execute("CREATE TABLE filter AS " + harness.numbers(num_keys, 0) +
                           f"SELECT bloom_build({key}) AS leveldb, bloom_build({key}, 'parquet') AS parquet FROM numbers")
                compete(db, results, group, *queries, num_rows, repeats, db.execute("SELECT leveldb FROM filter").fetchone())
    for name, num_keys in {**SIZES, "120 MB": 96_000_000}.items():
        if wanted in f"open: filter of {name}":
            db.execute("DROP TABLE IF EXISTS filter")
            db.execute(f"CREATE TABLE filter AS SELECT bloom_empty({num_keys}) AS leveldb")
            compete(db, results, f"open: filter of {name}", OPENS, [], 1, repeats)
    db.execute("CREATE TABLE few AS SELECT k, s FROM t LIMIT 50000")
    for kind, key in KEYS.items():
        for group, sql in (("build", "SELECT {} IS NULL FROM (SELECT k, s FROM t LIMIT 500000)"),
                           ("ask", "SELECT sum(bloom_may_contain((SELECT {} FROM few), " + key + ")) FROM t")):
            if wanted in f"equal, {group}: {kind}":
                compete(db, results, f"equal, {group}: {kind}", {name: sql.format(its.format(key)) for name, its in EQUAL.items()},
                        ["bloom_filter / of bytes"], 500_000 if group == "build" else num_rows, repeats)
    if wanted in "scan: virtual tables":
        db.executescript(f"CREATE TABLE v AS SELECT k, s, r FROM t LIMIT {TABLE_ROWS}; CREATE VIRTUAL TABLE v_k USING bloom(v, k);"
                         "CREATE VIRTUAL TABLE v_kr USING bloom(v, (k, r))")
        compete(db, results, "scan: virtual tables", TABLES, ["handle of (k, r) / handle of k", "v_kr(k, r) / v_k(k)"], num_rows, repeats)
    if wanted in "build: beside other aggregates":
        compete(db, results, "build: beside other aggregates", BUILDS, OF_BUILDS, num_rows, repeats)
    if wanted in "build: beside an index in memory":
        num_indexed = min(num_rows, INDEXED_ROWS)
        db.executescript(f"ATTACH ':memory:' AS side; CREATE TABLE side.t2 AS SELECT k, s FROM t LIMIT {num_indexed}")
        builds = {f"bloom_build({key}, 10)": f"SELECT length(bloom_build({key}, 10)) FROM t2" for key in "ks"}
        builds.update({f"CREATE INDEX ({key})": index_of(db, key) for key in "ks"})
        compete(db, results, "build: beside an index in memory", builds,
                [f"CREATE INDEX ({key}) / bloom_build({key}, 10)" for key in "ks"], num_indexed, repeats)


if __name__ == "__main__":
    main()
