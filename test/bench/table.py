#!/usr/bin/python3
"""
What a filter that stays up to date costs, beside an index on the same column and a
table whose PRIMARY KEY the column is.

    make bench BENCH=table
    /usr/bin/python3 test/bench/table.py [num_rows [num_repeats]]

Keys are texts of 16 hexadecimal digits in no order.  The contestants take turns, each on a
database of its own; times are the processor's, a row or a look-up, and as a share of the
index's, by rollback journal and by WAL.

  insert       a statement a row, all in one transaction
  bulk         INSERT ... SELECT of all rows
  absent, present   one key a look-up, 20,000 within one query: pages in SQLite's cache
  grown        absent, in the layers that it grew by, before 'rebuild'
  cold         the same with a page cache of 100 KB
  statement    an absent key, one statement each, in one transaction
  scan         absent keys by the handle
  rebuild      of the filter; REINDEX of the index
  space        bytes a row
"""
import os
import sys

import harness
from harness import timed

# OFF would hide the journal, which who writes pays for.
JOURNALS = "WAL", "DELETE"
NUM_TESTED = 20_000
KINDS = {
    "no filter": (),
    "index": ("CREATE INDEX t_k ON t(k)",),
    "primary key": (),
    "filter": ("CREATE VIRTUAL TABLE f USING bloom(t, k)",),
    "filter with room": ("CREATE VIRTUAL TABLE f USING bloom(t, k, capacity = {})",),
    "set of its own": ("CREATE VIRTUAL TABLE f USING bloom(capacity = {})",),
}
LOOKUP = {
    "index": "SELECT sum(EXISTS (SELECT 1 FROM t WHERE k = a.k)) FROM {} AS a",
    "primary key": "SELECT sum(EXISTS (SELECT 1 FROM t WHERE k = a.k)) FROM {} AS a",
    "filter with room": "SELECT sum((SELECT count(*) FROM f(a.k))) FROM {} AS a",
    "filter": "SELECT sum((SELECT count(*) FROM f(a.k))) FROM {} AS a",
    "set of its own": "SELECT sum((SELECT count(*) FROM f(a.k))) FROM {} AS a",
}
ONE = {
    "index": "SELECT EXISTS (SELECT 1 FROM t WHERE k = ?)",
    "primary key": "SELECT EXISTS (SELECT 1 FROM t WHERE k = ?)",
    "filter with room": "SELECT count(*) FROM f(?)",
    "filter": "SELECT count(*) FROM f(?)",
    "set of its own": "SELECT count(*) FROM f(?)",
}


def open_new(kind, num_rows, mode):
    path = os.path.join(harness.FOLDER, "table.db")
    harness.remove_database(path)
    os.makedirs(harness.FOLDER, exist_ok=True)
    db = harness.connect(path, 512)
    db.executescript(f"PRAGMA journal_mode = {mode}; PRAGMA synchronous = OFF")
    db.execute("CREATE TABLE t(k TEXT PRIMARY KEY) WITHOUT ROWID" if kind == "primary key" else
               "CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT)")
    for sql in KINDS[kind]:
        db.execute(sql.format(num_rows))
    return db


def execute_each(db, sql, rows):
    for row in rows:
        db.execute(sql, row).fetchone()


def measure(kind, mode, keys, absent, source):
    """What one contestant takes: {name: microseconds or bytes}."""
    found = {}
    n = len(keys)
    target = "f(key)" if kind == "set of its own" else "t(k)"
    insert = f"INSERT INTO {target} VALUES (?)"
    db = open_new(kind, n, mode)
    db.execute("BEGIN")
    found["insert"] = timed(lambda: execute_each(db, insert, keys) or db.execute("COMMIT")) / n
    db.close()

    db = open_new(kind, n, mode)
    db.execute("ATTACH ? AS source", (source,))
    found["bulk"] = timed(lambda: db.execute(f"INSERT INTO {target} SELECT k FROM source.present")) / n
    if kind == "no filter":
        return found
    if kind == "filter":
        # It grew by layers from an empty table; one is what it should have to be read.
        query = LOOKUP[kind].format("source.some_absent")
        db.execute(query).fetchone()
        found["grown"] = timed(lambda: db.execute(query).fetchone()) / NUM_TESTED
        db.execute("INSERT INTO f(f) VALUES ('rebuild')")
    db.execute("BEGIN")
    for what, name in (("absent", "some_absent"), ("present", "some_present")):
        query = LOOKUP[kind].format("source." + name)
        db.execute(query).fetchone()
        found[what] = timed(lambda: db.execute(query).fetchone()) / NUM_TESTED
        answer = db.execute(query).fetchone()[0]
        assert what == "absent" or answer == NUM_TESTED, (kind, answer)
        assert what == "present" or answer < NUM_TESTED / 20, (kind, answer)
    found["statement"] = timed(lambda: execute_each(db, ONE[kind], absent)) / len(absent)
    if kind in ("filter", "filter with room", "set of its own"):
        scan = "SELECT count(*) FROM source.some_absent WHERE bloom_may_contain((SELECT handle FROM f), k)"
        db.execute(scan).fetchone()
        found["scan"] = timed(lambda: db.execute(scan).fetchone()) / NUM_TESTED
    db.execute("COMMIT")
    if kind == "filter":
        found["rebuild"] = timed(lambda: db.execute("INSERT INTO f(f) VALUES ('rebuild')")) / n
    elif kind == "index":
        found["rebuild"] = timed(lambda: db.execute("REINDEX t_k")) / n
    db.close()

    db = harness.connect(os.path.join(harness.FOLDER, "table.db"))
    db.execute("PRAGMA cache_size = -100")
    db.execute("ATTACH ? AS source", (source,))
    query = LOOKUP[kind].format("source.some_absent")
    # Each statement finds the filter's own pages gone, too.
    found["cold"] = timed(lambda: db.execute(query).fetchone()) / NUM_TESTED
    name = {"index": "t_k", "primary key": "t"}.get(kind, "f_pages")
    found["space"] = db.execute("SELECT sum(pgsize) FROM dbstat WHERE name = ?", (name,)).fetchone()[0] / n
    db.close()
    return found


def fill(db, num_rows):
    for name, count in (("present", num_rows), ("some_absent", NUM_TESTED)):
        db.execute(f"CREATE TABLE {name}(k TEXT)")
        db.execute(f"INSERT INTO {name} " + harness.numbers(count) + " SELECT printf('%016x', random()) FROM numbers")
    db.execute(f"CREATE TABLE some_present AS SELECT k FROM present ORDER BY random() LIMIT {NUM_TESTED}")


def show(values, num_rows, num_repeats, mode):
    """A table of medians, and as a share of the index's."""
    median = harness.statistics.median
    print(f"SQLite {harness.sqlite3.sqlite_version}, {num_rows:,} rows, journal_mode {mode}, medians of {num_repeats}:"
          " us (space: bytes), and as a share of the index's\n")
    for what in ("insert", "bulk", "absent", "present", "grown", "cold", "statement", "scan", "rebuild", "space"):
        line = f"{what:10}"
        for kind in KINDS:
            if what not in values[kind]:
                line += f" | {kind}: -"
                continue
            value = median(values[kind][what]) * (1 if what == "space" else 1e6)
            line += f" | {kind}: {value:.2f}"
            if what in values["index"] and kind != "index":
                ratio = median(v / i for v, i in zip(values[kind][what], values["index"][what]))
                line += f" ({ratio:.2f})"
        print(line)
    print()


def main():
    num_rows = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    num_repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    results = harness.Results("table", ("rows", "journal", "kind", "what", "repeat", "value"),
                              "seconds (space: bytes), a row or a look-up")
    source = harness.database(f"table-{num_rows}", lambda db: fill(db, num_rows))
    db = harness.connect(source)
    keys = db.execute("SELECT k FROM present").fetchall()
    absent = db.execute("SELECT k FROM some_absent").fetchall()
    db.close()
    for mode in JOURNALS:
        values = {kind: {} for kind in KINDS}
        for repeat in range(num_repeats):
            for kind in harness.random.Random(repeat).sample(list(KINDS), len(KINDS)):
                for what, value in measure(kind, mode, keys, absent, source).items():
                    values[kind].setdefault(what, []).append(value)
                    results.row(num_rows, mode, kind, what, repeat, value)
        show(values, num_rows, num_repeats, mode)


if __name__ == "__main__":
    main()
