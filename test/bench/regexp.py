#!/usr/bin/python3
"""
What REGEXP gains by bloom_index, beside the scan, for the functions that people have: Python's re, which Django
registers, and the regexp() of SQLite's shell.

    make bench BENCH=regexp
    make bench-full BENCH=regexp
    /usr/bin/python3 test/bench/regexp.py quick|full [--rows num_rows ...]

The log is that of index_log.py, of a million rows, in a full run of 5 million; one row in 50,000 is a timeout
of two kinds.  Scan and index take turns; times are the processor's, medians.  Each answer is compared.
"""
import re
import shutil
import sqlite3
import subprocess
import sys

import harness
import index_log

median = harness.statistics.median
# What people look for, in few rows, in one of 5,000 and in many; the last three have no literal, or one that is in most rows.
PATTERNS = {
    "needle": "upstream timeout (after )?[0-9]+ ms",
    "alternatives": "upstream timeout|no such (file|table)|disk full",
    "any case": "(?i)UPSTREAM TIMEOUT (AFTER )?[0-9]+ MS",
    "one id": "request 0{0,2}7[0-9a-f]*3ab[0-9a-f]* *$",
    "no literal, few rows": "[0-9]{6}x",
    "no literal, all rows": "[a-z]",
}
GOALS = {"needle": "40x", "no literal, few rows": "0.91x", "no literal, all rows": "0.91x"}


def fill(db, num_rows):
    index_log.fill(db, num_rows)
    db.execute("UPDATE log SET message = 'upstream timeout ' || CASE id % 100000 WHEN 7 THEN 'after ' ELSE '' END || id || ' ms' WHERE id % 50000 = 7")
    db.execute("CREATE VIRTUAL TABLE log_index USING bloom_index(log, message LIKE REGEXP)")
    db.execute("INSERT INTO log_index(log_index) VALUES ('merge')")


class Python:
    name = "Python's re"

    def __init__(self, path):
        self.db = harness.connect(path)
        self.db.create_function("regexp", 2, lambda pattern, text: text is not None and re.search(pattern, text) is not None, deterministic=True)

    def count(self, table, pattern):
        sql = f"SELECT count(*) FROM {table} WHERE message REGEXP ?"
        found = []
        seconds = harness.timed(lambda: found.append(self.db.execute(sql, (pattern,)).fetchone()[0]))
        return seconds, found[0]

    def close(self):
        self.db.close()


class Shell:
    name = "the shell's"

    def __init__(self, path):
        self.path = path

    def count(self, table, pattern):
        """Once to warm up, as a statement of its own connection has it."""
        quoted = pattern.replace("'", "''")
        script = f".load {harness.EXTENSION}\n.timer on\nSELECT count(*) FROM {table} WHERE message REGEXP '{quoted}';\n"
        out = subprocess.run(["sqlite3", self.path], input=script, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True, text=True).stdout
        user, system = re.search(r"user ([0-9.]+) sys ([0-9.]+)", out).groups()
        return float(user) + float(system), int(out.split("\n")[0])

    def close(self):
        pass


def measure(results, num_rows, num_repeats):
    path = harness.database(f"regexp-{num_rows}", lambda db: fill(db, num_rows))
    for contestant in [Python(path)] + [Shell(path)] * (shutil.which("sqlite3") is not None):
        for what, pattern in PATTERNS.items():
            if contestant.name != Python.name and pattern.startswith("(?i)"):
                continue # an error of the shell's
            seconds = {"log": [], "log_index": []}
            found = set()
            for repeat in range(num_repeats):
                for table, its in seconds.items():
                    # The first look-up reads what the others find in the cache.
                    runs = [contestant.count(table, pattern) for _ in range(2 if table == "log_index" else 1)]
                    its.append(runs[-1][0])
                    found.add(runs[-1][1])
                    results.row(num_rows, what, contestant.name + (" index" if table == "log_index" else " scan"), repeat, its[-1])
            if len(found) != 1:
                sys.exit(f"{what}: index and scan differ: {found}")
            ratio = median([s / i for s, i in zip(seconds["log"], seconds["log_index"])])
            print(f"{num_rows:>10,} | {contestant.name:12} | {what:22} | {found.pop():>9,} | {1000 * median(seconds['log']):>9.1f} | "
                  f"{1000 * median(seconds['log_index']):>9.1f} | {ratio:>7.2f}x | {GOALS.get(what, '')}", flush=True)
        contestant.close()


def main():
    size = sys.argv[1] if len(sys.argv) > 1 else "quick"
    sizes = [int(arg) for arg in sys.argv[3:]] or ([1_000_000] if size == "quick" else [5_000_000])
    results = harness.Results("regexp", ("rows", "what", "contestant", "repeat", "value"), f"{size}; seconds of the processor")
    print(f"SQLite {sqlite3.sqlite_version}\n{'rows':>10} | {'function':12} | {'pattern':22} | {'found':>9} | {'scan, ms':>9} | {'index, ms':>9} | {'gain':>8} | goal")
    for num_rows in sizes:
        measure(results, num_rows, 3 if size == "quick" else 5)


if __name__ == "__main__":
    main()
