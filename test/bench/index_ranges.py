#!/usr/bin/python3
"""
What a range costs by zones, and the newest rows, beside a B-tree index and the scan, in pages.

    make bench BENCH=index-ranges
    /usr/bin/python3 test/bench/index_ranges.py [num_rows]

The rows are those of index_log.py, ten a second, with the time in four columns:

  ts    exact: it ascends
  near  off by up to 100,000 rows, as from many machines that write late
  twin  of two writers, one of which is a day behind
  iso   ts as text, which is computed where it is read

For the newest rows 1,000 more come that are not merged.

A page count is the shell's: `Page cache misses` of `.stats on` in a process of its own, so the
counts are the same on every machine.  Each answer is compared with the table's.
"""
import os
import random
import re
import shutil
import subprocess
import sys

import harness
import index_log

START = 1_700_000_000
SHELL = os.environ.get("BENCH_SHELL", "sqlite3")


def fill(db, num_rows):
    db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, ts INTEGER, near INTEGER, twin INTEGER, trace_id TEXT, user_id INTEGER, message TEXT,"
               " iso TEXT AS (strftime('%Y-%m-%d %H:%M:%S', ts, 'unixepoch')))")
    add(db, 1, num_rows)


def add(db, first, num_rows):
    draw = random.Random(first + 37)
    rows = ((row[0], START + row[0] // 10, START + (row[0] + draw.randint(-100_000, 100_000)) // 10, START + row[0] // 10 - 86_400 * (draw.random() < 0.5),
             row[1], row[2], row[3]) for row in index_log.rows(first, num_rows))
    db.executemany("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?)", rows)


def shell(path, *commands):
    script = [".load " + harness.EXTENSION.removesuffix(".so"), "PRAGMA automatic_index = OFF;", *commands]
    done = subprocess.run([SHELL, path], input="\n".join(script), capture_output=True, text=True, check=True)
    if done.stderr:
        raise SystemExit(done.stderr)
    return done.stdout


def pages(path, table, where):
    """The pages of a query, and its answer."""
    return pages_of(path, f"SELECT count(*), sum(length(message)) FROM {table} WHERE {where}")


def pages_of(path, sql):
    out = shell(path, ".stats on", sql.replace("SELECT ", "SELECT 'answer', ", 1) + ";")
    return int(re.search(r"Page cache misses: +(\d+)", out)[1]), re.search(r"answer\|.*", out)[0]


def queries(num_rows):
    noon = START + num_rows // 20
    minute, hour = f"BETWEEN {noon} AND {noon + 59}", f"BETWEEN {noon} AND {noon + 3599}"
    of_iso = f"iso >= datetime({noon}, 'unixepoch') AND iso < datetime({noon + 60}, 'unixepoch')"
    like = "message LIKE '%node-7 and waits for payment%'"
    # Goals are of 5 million rows.
    return (("a minute, exact", "ts", f"ts {minute}", 45), ("an hour, exact", "ts", f"ts {hour}", None), ("a minute, as text", "iso", of_iso, None),
            ("a minute, off by 100,000 rows", "near", f"near {minute}", None), ("an hour, off by 100,000 rows", "near", f"near {hour}", 8500),
            ("a minute, two writers", "twin", f"twin {minute}", None), ("a minute and LIKE", "ts", f"ts {minute} AND {like}", 60),
            ("an hour and LIKE", "ts", f"ts {hour} AND {like}", None), ("LIKE alone", None, like, None))


NEWEST = "SELECT count(*), sum(length(message)) FROM (SELECT id, message FROM {t} WHERE %s ORDER BY {order} LIMIT 50)"
# A query, whether it has an order by the id instead, and the most pages beyond those of rows that are not merged.
ORDERS = (("the newest 50", NEWEST % "1", True, 60), ("the newest 50 of LIKE '%timeout%'", NEWEST % "message LIKE '%timeout%'", True, None),
          ("the newest 50, off by 100,000 rows", (NEWEST % "1").replace("{order}", "near DESC, id DESC"), False, None), ("max(ts)", "SELECT max(ts) FROM {t}", False, 10),
          ("all, by ts", "SELECT sum(id * n % 1000) FROM (SELECT id, row_number() OVER (ORDER BY ts DESC, id) AS n FROM {t})", False, None))


def orders(path, num_rows, then):
    """Pages by zones, by the scan, by the id; the caller adds those by a B-tree."""
    least = pages_of(path, f"SELECT count(message) FROM log WHERE id > {num_rows}")[0]
    print(f"{then}: {least} pages of the table to read what is not merged")
    found = []
    for what, sql, has_id, goal in ORDERS:
        by_time, by_id = (sql.replace("{order}", order) for order in ("ts DESC, id DESC", "id DESC"))
        index = "zones" if "near" in sql else "zones_like"
        of_zones, answer = pages_of(path, by_time.replace("{t}", index))
        of_scan, expected = pages_of(path, by_time.replace("{t}", "log NOT INDEXED"))
        if answer != expected:
            raise SystemExit(f"{what}: {answer}, not {expected}")
        of_id = pages_of(path, by_id.replace("{t}", index))[0] if has_id else "-"
        found.append((what, by_time, of_zones, of_scan, of_id, f"  goal {goal + least}" if goal else ""))
    return found


def main(num_rows):
    path = os.path.join(harness.FOLDER, f"ranges-work-{os.getpid()}.db")
    shutil.copyfile(harness.database(f"ranges-{num_rows}", lambda db: fill(db, num_rows), __file__), path)
    db = harness.connect(path)
    db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
    for name, columns in ("zones", "ts RANGE, near RANGE, twin RANGE, iso RANGE"), ("zones_like", "ts RANGE, message LIKE"):
        db.execute(f"CREATE VIRTUAL TABLE {name} USING bloom_index(log, {columns})")
        db.execute(f"INSERT INTO {name}({name}) VALUES ('merge')")
    for i, column in enumerate(("ts", "near", "twin", "iso")):
        stored = db.execute("SELECT sum(pgsize) FROM dbstat WHERE name = ?", (f"zones_zones{i + 1}",)).fetchone()[0]
        print(f"{column}: {stored / num_rows:.3f} bytes a row")
    db.close()
    found = []
    for what, column, where, goal in queries(num_rows):
        of_zones, answer = pages(path, "zones_like" if "LIKE" in where else "zones", where)
        of_scan, expected = pages(path, "log NOT INDEXED", where)
        if answer != expected:
            raise SystemExit(f"{what}: {answer}, not {expected}")
        found.append((what, column, where, goal, of_zones, of_scan, answer))
    of_orders = orders(path, num_rows, "all rows merged")
    db = harness.connect(path)
    db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
    add(db, num_rows + 1, 1000)
    db.close()
    of_orders += orders(path, num_rows, "1,000 rows not merged")
    db = harness.connect(path)
    db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; DROP TABLE zones; DROP TABLE zones_like;"
                     "CREATE INDEX by_ts ON log(ts); CREATE INDEX by_near ON log(near); CREATE INDEX by_twin ON log(twin); CREATE INDEX by_iso ON log(iso)")
    db.close()
    print(f"{num_rows} rows; pages read by zones, by an index, by the scan")
    for what, column, where, goal, of_zones, of_scan, answer in found:
        of_index = pages(path, f"log INDEXED BY by_{column}", where)[0] if column else "-"
        print(f"{what:32} {of_zones:8} {of_index:>8} {of_scan:8}  {answer.split('|')[1]} rows" + (f"  goal {goal}" if goal else ""), flush=True)
    print("pages read by zones, by an index, by the scan, by the index in the order of ids")
    for what, sql, of_zones, of_scan, of_id, goal in of_orders:
        print(f"{what:36} {of_zones:8} {pages_of(path, sql.replace('{t}', 'log'))[0]:8} {of_scan:8} {of_id:>8}{goal}", flush=True)
    harness.remove_database(path)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500_000)
