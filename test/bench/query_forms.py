#!/usr/bin/python3
"""
What each way of handing a filter to bloom_may_contain() costs.

One 1 MB filter, a table of keys, one query per way.  The ways take turns, so
that a slow moment of the machine hits all of them.  Prints the median, the
spread (fastest and slowest run) and the ratio to the bound parameter.

    make && /usr/bin/python3 test/bench/query_forms.py [num_keys [num_runs]]
"""
import os
import platform
import sqlite3
import statistics
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
FILTER_KEYS = 838_860  # 10 bits each: 1 MiB and the probe byte

STORED = "SELECT filter FROM filters WHERE name = 'big'"
FORMS = [
    ("bound parameter",
     "SELECT count(*) FROM probes WHERE bloom_may_contain(:filter, key)"),
    ("bloom_open in a scalar subquery",
     "SELECT count(*) FROM probes WHERE bloom_may_contain("
     "(SELECT bloom_open(filter) FROM filters WHERE name = 'big'), key)"),
    ("scalar subquery",
     f"SELECT count(*) FROM probes WHERE bloom_may_contain(({STORED}), key)"),
    ("joined column",
     "SELECT count(*) FROM filters JOIN probes ON bloom_may_contain(filter, key)"
     " WHERE name = 'big'"),
    ("CTE",
     f"WITH f AS ({STORED}) SELECT count(*) FROM f, probes WHERE bloom_may_contain(filter, key)"),
    ("MATERIALIZED CTE",
     f"WITH f AS MATERIALIZED ({STORED})"
     " SELECT count(*) FROM f, probes WHERE bloom_may_contain(filter, key)"),
]


def numbers(count):
    return ("WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL"
            f" SELECT n + 1 FROM numbers WHERE n < {count}) ")


def main():
    num_keys = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    num_runs = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(os.path.join(ROOT, "bloom"))
    db.execute("CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB)")
    db.execute(numbers(FILTER_KEYS) +
               "INSERT INTO filters SELECT 'big', bloom_build(n) FROM numbers")
    # Keys that the filter does not hold: one probe or two each.
    db.execute("CREATE TABLE probes(key INTEGER)")
    db.execute(numbers(num_keys) + "INSERT INTO probes SELECT -n FROM numbers")
    filter_blob = db.execute(STORED).fetchone()[0]

    counts = set()
    seconds = {name: [] for name, _ in FORMS}
    for _ in range(num_runs):
        for name, sql in FORMS:
            start = time.perf_counter()
            count = db.execute(sql, {"filter": filter_blob}).fetchone()[0]
            seconds[name].append(time.perf_counter() - start)
            counts.add(count)
    assert len(counts) == 1, f"the forms disagree: {counts}"

    print(f"SQLite {sqlite3.sqlite_version}, bloom "
          f"{db.execute('SELECT bloom_version()').fetchone()[0]}, {platform.machine()}, "
          f"{len(filter_blob):,} byte filter, {num_keys:,} keys, {num_runs} runs")
    print(f"{'form':<33}{'median us/key':>14}{'fastest':>10}{'slowest':>10}{'ratio':>10}")
    base = statistics.median(seconds[FORMS[0][0]])
    for name, _ in FORMS:
        runs = [s * 1e6 / num_keys for s in seconds[name]]
        median = statistics.median(runs)
        print(f"{name:<33}{median:>14.3f}{min(runs):>10.3f}{max(runs):>10.3f}"
              f"{median * num_keys / 1e6 / base:>9.1f}x")


if __name__ == "__main__":
    main()
