#!/usr/bin/python3
"""
How many pages a look-up reads that nobody has read before, and how long that takes: bloom_index
beside a B-tree index, FTS5's trigram index and the plain scan.

    make bench BENCH=index_pages
    make bench-full BENCH=index_pages ROWS="100000 1000000 10000000 100000000"
    /usr/bin/python3 test/bench/index_pages.py quick|full [--rows num_rows ...]

Each contestant has a copy of the log (index_log.py) in a file of its own.  Pages are those that the
shell counts as cache misses in a process of its own: the same on every machine.  Milliseconds are
those of the clock, from the first statement of a connection on, after the file was written and
evicted from the system's cache; so they say what the disk is like, too.  Microseconds are those of
the second time that a connection looks all of them up.  A scan is read three times.  Among more than
10 million rows there are bloom_index and the index alone.  NEEDLES=no leaves out what messages take:
then bloom_index has the trace_id alone.
"""
import os
import random
import re
import shutil
import subprocess
import sys
import time

import harness
import index_log

WORK = os.path.join(harness.FOLDER, f"index-pages-{os.getpid()}.db")
FTS = "CREATE VIRTUAL TABLE search USING fts5(message, content = 'log', content_rowid = 'id', tokenize = 'trigram', detail = %s)"
CONTESTANTS = {  # what builds it, the table to ask for a key and for a needle
    "bloom_index": (("CREATE VIRTUAL TABLE by_bloom USING bloom_index(log, trace_id, message LIKE)",
                     "INSERT INTO by_bloom(by_bloom) VALUES ('merge')"), "by_bloom", "by_bloom"),
    "index": (("CREATE INDEX by_trace ON log(trace_id)",), "log", None),
    "FTS5, detail=none": ((FTS % "none", "INSERT INTO search(search) VALUES ('rebuild')"), None, "search"),
    "FTS5, detail=full": ((FTS % "full", "INSERT INTO search(search) VALUES ('rebuild')"), None, "search"),
    "scan": ((), "log", "log"),
}
KEYS_ALONE = os.environ.get("NEEDLES") == "no"
KEY = "SELECT * FROM {} WHERE trace_id = '{}'"
NEEDLE = "SELECT rowid FROM {} WHERE message LIKE '%{}%'"
MOST_OF_ALL = 10_000_000


def build(num_rows, statements):
    harness.remove_database(WORK)
    shutil.copyfile(index_log.database(num_rows), WORK)
    db = harness.connect(WORK, 512)
    db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
    for sql in statements:
        db.execute(sql)
    db.close()


def pages(sql):
    """Pages that a shell reads."""
    said = subprocess.run([os.environ.get("SQLITE3", "sqlite3"), "-batch", WORK], input=f".load {harness.EXTENSION[:-3]}\n.stats on\n{sql};\n",
                          text=True, capture_output=True, check=True).stdout
    return int(re.findall(r"Page cache misses: +(\d+)", said)[-1])


def milliseconds(sql):
    db = harness.connect(WORK)
    file = os.open(WORK, os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)
    start = time.perf_counter()
    db.execute(sql).fetchall()
    seconds = time.perf_counter() - start
    db.close()
    return 1000 * seconds


def microseconds(sql, values):
    """Of each value, the second time that one connection looks for it."""
    db = harness.connect(WORK)
    times = []
    for _ in range(2):
        times.clear()
        for value in values:
            start = time.perf_counter()
            db.execute(sql, [value]).fetchall()
            times.append(1e6 * (time.perf_counter() - start))
    db.close()
    return times


def queries(num_rows):
    draw = random.Random(3)
    needles = index_log.needles()
    db = harness.connect(index_log.database(num_rows))
    keys = [db.execute("SELECT trace_id FROM log WHERE id = ?", [draw.randint(1, num_rows)]).fetchone()[0] for _ in range(80)]
    db.close()
    of_keys = {"absent key": (KEY, ["%015xx" % draw.getrandbits(60) for _ in range(80)]), "key": (KEY, keys)}
    return of_keys if KEYS_ALONE else {
        **of_keys,
        "absent needle": (NEEDLE, needles["absent8"][:40]), "needle": (NEEDLE, needles["id12"][:20] + needles["piece8"][:20])}


def main():
    size = sys.argv[1] if len(sys.argv) > 1 else "quick"
    sizes = list(map(int, sys.argv[3:])) if sys.argv[2:3] == ["--rows"] else {"quick": [100_000], "full": [100_000, 1_000_000, 10_000_000]}[size]
    results = harness.Results("index_pages", ("rows", "what", "contestant", "unit", "repeat", "value"), size)
    print(f"{'rows':>11} | {'contestant':18} | {'what':14} | {'pages: mean':>11} | {'median':>6} | {'most':>7} | {'ms: median':>10} | {'us: median':>10}")
    try:
        for num_rows in sizes:
            asked = queries(num_rows)
            for contestant, (statements, for_key, for_needle) in CONTESTANTS.items():
                if num_rows > MOST_OF_ALL and contestant not in ("bloom_index", "index") or KEYS_ALONE and for_key is None:
                    continue
                build(num_rows, [sql.replace(", message LIKE", "") for sql in statements] if KEYS_ALONE else statements)
                for what, (sql, values) in asked.items():
                    table = for_needle if "needle" in what else for_key
                    if table is None:
                        continue
                    texts = [sql.format(table, value) for value in (values[:3] if contestant == "scan" else values)]
                    read, waited = [pages(text) for text in texts], [milliseconds(text) for text in texts]
                    bound = sql.format(table, "?").replace("'?'", "?").replace("'%?%'", "'%' || ? || '%'")
                    again = microseconds(bound, values[:3] if contestant == "scan" else values)
                    for unit, its in (("pages", read), ("ms", waited), ("us", again)):
                        for repeat, value in enumerate(its):
                            results.row(num_rows, what, contestant, unit, repeat, value)
                    median = harness.statistics.median
                    print(f"{num_rows:>11,} | {contestant:18} | {what:14} | {sum(read) / len(read):>11.1f} | {median(read):>6.0f} | {max(read):>7} |"
                          f" {median(waited):>10.2f} | {median(again):>10.1f}", flush=True)
    finally:
        harness.remove_database(WORK)


if __name__ == "__main__":
    main()
