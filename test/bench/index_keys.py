#!/usr/bin/python3
"""
Pages that a look-up of a key reads in a table too large for the other benchmarks: ids and keys alone.

    index_keys.py [ROWS]     from the top of the checkout; 100000000: 4 GB, and ten minutes

80 look-ups, each in a shell of its own, of keys that are absent and that are there; then
microseconds of the second time that one connection looks the absent ones up.
"""
import os
import random
import re
import statistics
import subprocess
import sys
import time

import harness

FILL = """INSERT INTO log WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
 SELECT i, printf('%08x%08x', i * 2654435761 % 4294967296, i) FROM n"""
NUM_LOOK_UPS = 80


def main():
    num_rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000_000
    path = os.path.join(harness.FOLDER, "index-keys.db")
    os.makedirs(harness.FOLDER, exist_ok=True)
    harness.remove_database(path)
    db = harness.connect(path, 512)
    db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE TABLE log(id INTEGER PRIMARY KEY, trace_id TEXT)")
    db.execute(FILL.format(rows=num_rows))
    db.execute("CREATE VIRTUAL TABLE log_index USING bloom_index(log, trace_id)")
    print(f"{num_rows:,} rows, merged in {harness.timed(lambda: db.execute('INSERT INTO log_index(log_index) VALUES (?)', ('merge',))):.0f} s")

    def pages(key):
        sql = f".load {harness.EXTENSION[:-3]}\n.stats on\nSELECT * FROM log_index WHERE trace_id = '{key}';\n"
        said = subprocess.run(["sqlite3", "-batch", path], input=sql, text=True, capture_output=True, check=True).stdout
        return int(re.findall(r"Page cache misses: +(\d+)", said)[-1])

    draw = random.Random(1)
    absent = [f"{draw.getrandbits(64):016x}" for _ in range(NUM_LOOK_UPS)]
    there = [f"{i * 2654435761 % 2**32:08x}{i:08x}" for i in draw.choices(range(1, num_rows + 1), k=NUM_LOOK_UPS)]
    for name, keys in ("absent", absent), ("there", there):
        read = [pages(key) for key in keys]
        print(f"a key that is {name}: median {statistics.median(read):.0f} pages, mean {statistics.mean(read):.0f}, at most {max(read)}")
    for _ in range(2):
        start = time.perf_counter()
        for key in absent:
            db.execute("SELECT * FROM log_index WHERE trace_id = ?", (key,)).fetchall()
        seconds = time.perf_counter() - start
    print(f"warm: {seconds / NUM_LOOK_UPS * 1e6:.0f} us")
    db.close()
    harness.remove_database(path)


if __name__ == "__main__":
    main()
