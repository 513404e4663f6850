#!/usr/bin/python3
"""
Ways to build many small filters from a table in no order, in SQL: time, peak
memory and bytes written to temporary files.

    build_partitions.py FOLDER quick|full

quick: a million keys, in partitions of 2,000, one run; full: five runs, and some of the
ways with ten and a hundred million keys too.  FOLDER gets databases with the keys (12 MB
a million) and, while it runs, SQLite's temporary files (45 MB a million).  Each run is a
process of its own; the ways take turns.  Printed is the median of the runs, times in us
a key.
"""
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import time

import harness

KEYS_PER_PART = 2_000

INSERT = "INSERT INTO part SELECT bloom_partition(k, :parts), bloom_build(k, 12) FROM keys.t"
WAYS = [
    # name, pragmas, number of ranges (0: one filter of all keys)
    ("one filter", "", 0),
    ("GROUP BY", "", 1),
    ("GROUP BY, cache 512 MB", "PRAGMA cache_size = -512000", 1),
    ("GROUP BY, cache 512 MB, 1 thread more", "PRAGMA cache_size = -512000; PRAGMA threads = 1", 1),
    ("GROUP BY in 8 ranges", "", 8),
    ("GROUP BY in 8 ranges, cache 512 MB", "PRAGMA cache_size = -512000", 8),
    ("GROUP BY, cache 32 MB", "PRAGMA cache_size = -32000", 1),
]
SIZES = {
    # number of keys, runs, ways
    "quick": [(1_000_000, 1, range(7))],
    "full": [(1_000_000, 5, range(7)), (10_000_000, 5, (0, 1, 4)), (100_000_000, 5, (1,))],
}


def written_bytes():
    with open("/proc/self/io") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("wchar"))


def peak_bytes():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def run_way(path, num_keys, way):
    """What a process of its own does: prints what it cost."""
    _, pragmas, num_ranges = WAYS[way]
    num_parts = max(1, num_keys // KEYS_PER_PART)
    db = harness.connect("")  # a temporary database, on disk once it is large
    db.execute("ATTACH ? AS keys", (path,))
    db.executescript(pragmas)
    db.execute("CREATE TABLE part(part INTEGER PRIMARY KEY, filter BLOB)")
    written, start, cpu = written_bytes(), time.perf_counter(), time.process_time()
    db.execute("BEGIN")
    if num_ranges == 0:
        db.execute("INSERT INTO part SELECT 0, bloom_build(k, 12) FROM keys.t")
    elif num_ranges == 1:
        db.execute(INSERT + " GROUP BY 1", {"parts": num_parts})
    else:
        for i in range(num_ranges):
            db.execute(INSERT + " WHERE bloom_partition(k, :parts) BETWEEN :first AND :last GROUP BY 1",
                       {"parts": num_parts, "first": i * num_parts // num_ranges,
                        "last": (i + 1) * num_parts // num_ranges - 1})
    db.execute("COMMIT")
    costs = (time.perf_counter() - start, time.process_time() - cpu, peak_bytes(), written_bytes() - written)
    num_rows, num_bytes = db.execute("SELECT count(*), sum(length(filter)) FROM part").fetchone()
    if num_rows > num_parts or num_bytes < 1.5 * num_keys:
        sys.exit(f"wrong: {num_rows} filters of {num_bytes} bytes in all")
    print(*costs)


def keys_path(folder, num_keys):
    """A database with the keys, made unless it is there."""
    path = os.path.join(folder, f"keys-{num_keys}.db")
    if not os.path.exists(path):
        db = sqlite3.connect(path + ".new")
        db.executescript(f"""
            PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
            DROP TABLE IF EXISTS t;
            CREATE TABLE t(k INTEGER);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {num_keys})
            INSERT INTO t SELECT i * 7919 % 1000000007 * 1000003 FROM n""")
        db.close()
        os.rename(path + ".new", path)
    return path


def measure(folder, num_keys, num_runs, ways, results):
    keys_path(folder, num_keys)
    costs = {way: [] for way in ways}
    shuffle = random.Random(1)
    for run in range(num_runs):
        for way in shuffle.sample(ways, len(ways)):
            output = subprocess.run([sys.executable, __file__, folder, str(num_keys), str(way)],
                                    check=True, capture_output=True, text=True).stdout
            costs[way].append([float(cost) for cost in output.split()])
            results.row(num_keys, WAYS[way][0], run, *output.split())
    print(f"\n{format(num_keys, ',') + ' keys':<40}{'processor':>10}{'least':>7}{'most':>7}{'clock':>7}"
          f"  {'peak MB':>8}{'written MB':>12}")
    for way in ways:
        clock, processor, peak, written = zip(*costs[way])
        us = [1e6 * seconds / num_keys for seconds in processor]
        print(f"{WAYS[way][0]:<40}{statistics.median(us):>10.2f}{min(us):>7.2f}{max(us):>7.2f}"
              f"{1e6 * statistics.median(clock) / num_keys:>7.2f}  {statistics.median(peak) / 1e6:>8.0f}"
              f"{statistics.median(written) / 1e6:>12.0f}", flush=True)


def main():
    if len(sys.argv) == 4:  # a process of its own, from measure()
        run_way(keys_path(sys.argv[1], int(sys.argv[2])), int(sys.argv[2]), int(sys.argv[3]))
        return
    if len(sys.argv) != 3 or sys.argv[2] not in SIZES:
        sys.exit("usage: build_partitions.py FOLDER quick|full")
    folder, size = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    results = harness.Results("build-partitions",
                              ["num_keys", "way", "repeat", "clock_s", "processor_s", "peak_bytes", "written_bytes"],
                              f"partitions of {KEYS_PER_PART} keys; each run a process of its own")
    print(f"SQLite {sqlite3.sqlite_version}, partitions of {KEYS_PER_PART:,}")
    for num_keys, num_runs, ways in SIZES[size]:
        measure(folder, num_keys, num_runs, ways, results)


if __name__ == "__main__":
    main()
