#!/usr/bin/python3
"""
When a filter in front of a join helps, and when it does not.

A table of a million rows, 200,000 keys looked up in it, a share of them
absent.  Each look-up is run plain and with a filter in front, in turns.
Prints medians in ns per key and how many times faster the filter makes it.

    make && /usr/bin/python3 test/bench/join.py [num_runs]
"""
import os
import sqlite3
import statistics
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
NUM_ROWS = 1_000_000
NUM_PROBES = 200_000

# Row n has the id 2*n, so odd keys are absent.
SETUP = f"""
    CREATE TABLE integers(id INTEGER PRIMARY KEY, payload TEXT);
    CREATE TABLE texts(id TEXT PRIMARY KEY, payload TEXT) WITHOUT ROWID;
    CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB);
    CREATE TABLE probes(integer_key INTEGER, text_key TEXT);
    WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < {NUM_ROWS})
    INSERT INTO integers SELECT 2 * n, printf('payload of row %d', n) FROM i;
    INSERT INTO texts SELECT printf('customer-%09d', id), payload FROM integers;
    INSERT INTO filters SELECT 'integers', bloom_build(id) FROM integers;
    INSERT INTO filters SELECT 'texts', bloom_build(id) FROM texts;
"""

JOINS = [
    ("integer primary key", "integers", "integer_key"),
    ("text primary key", "texts", "text_key"),
]


def fill_probes(db, percent_absent):
    """Keys in scattered order: multiples of 7919 modulo a prime."""
    db.execute("DELETE FROM probes")
    db.execute(f"""
        WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < {NUM_PROBES}),
        keys(key) AS (SELECT 2 * (n * 7919 % 999983 + 1) - (n % 100 < {percent_absent}) FROM i)
        INSERT INTO probes SELECT key, printf('customer-%09d', key) FROM keys""")


def main():
    num_runs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(os.path.join(ROOT, "bloom"))
    db.executescript(SETUP)
    print(f"SQLite {sqlite3.sqlite_version}, {NUM_ROWS:,} rows in memory,"
          f" {NUM_PROBES:,} keys, {num_runs} runs")
    print(f"{'look-up by':<22}{'absent':>8}{'plain ns':>10}{'filter ns':>11}{'faster':>9}{'spread':>14}")
    for title, table, column in JOINS:
        plain = f"SELECT count(payload) FROM probes CROSS JOIN {table} ON id = {column}"
        screened = (f"{plain} WHERE bloom_may_contain("
                    f"(SELECT bloom_open(filter) FROM filters WHERE name = '{table}'), {column})")
        for percent_absent in (0, 50, 90, 99):
            fill_probes(db, percent_absent)
            times = {plain: [], screened: []}
            counts = set()
            for _ in range(num_runs):
                for sql, seconds in times.items():
                    start = time.perf_counter()
                    counts.add(db.execute(sql).fetchone()[0])
                    seconds.append((time.perf_counter() - start) * 1e9 / NUM_PROBES)
            assert len(counts) == 1, f"a filter lost rows: {counts}"
            ratios = sorted(p / s for p, s in zip(times[plain], times[screened]))
            print(f"{title:<22}{percent_absent:>7}%{statistics.median(times[plain]):>10.0f}"
                  f"{statistics.median(times[screened]):>11.0f}"
                  f"{statistics.median(ratios):>8.2f}x{ratios[0]:>8.2f}-{ratios[-1]:.2f}", flush=True)


if __name__ == "__main__":
    main()
