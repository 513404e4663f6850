#!/usr/bin/python3
"""
What a filter that stays up to date costs, beside an index on the same column.

    make bench BENCH=table
    /usr/bin/python3 test/bench/table.py [num_rows [num_repeats]]

Keys are texts of 16 hexadecimal digits in no order.  The contestants take turns, each on a
database of its own; times are the processor's, in WAL mode.  The page cache is SQLite's own,
2 MB, or $CACHE_MB.  "extra" is what a row takes beyond the same table without filter and index,
and what is in parentheses is the share of the index's.  A standalone filter has no table, so all
that a row takes is its own.

  insert       a statement a row, all in one transaction: extra
  bulk         a row of INSERT ... SELECT of all: extra
  delete       a row of DELETE of a tenth of all: extra
  upsert       INSERT ... ON CONFLICT DO NOTHING of keys that are there, the column UNIQUE: extra
  update       a row of UPDATE of all, of a column that nothing covers: extra
  update key   a row of UPDATE of a tenth of all, of the key: extra
  upsert journal  bytes of the journal that this leaves, a row
  first        milliseconds of a connection's first look-up while all keys are unmerged
  absent       one key a look-up, 20,000 within one query: merged; 10,000 unmerged; all unmerged
  present      the same of keys that are there, merged
  statement    an absent key, one statement each, in one transaction
  scan         absent keys by the handle
  cold         absent, with a page cache of 100 KB
  readers      absent, one statement each, by eight processes while one writes: 10,000 unmerged
  beside       a row that this one writes, a transaction each
  merge        'merge' of all rows into an empty filter; CREATE INDEX
  merge 10,000 microseconds a row of the next 10,000
  rebuild      of the filter; REINDEX of the index
  space        bytes a row, merged
"""
import multiprocessing
import os
import sys
import time

import harness
from harness import timed

JOURNAL = "WAL" # OFF would hide what who writes pays for
CACHE_MB = int(os.environ["CACHE_MB"]) if "CACHE_MB" in os.environ else None # what users meet
NUM_TESTED = 20_000
NUM_LATE = 10_000
KINDS = {
    "none": (),
    "index": ("CREATE INDEX t_k ON t(k)",),
    "filter": ("CREATE VIRTUAL TABLE f USING bloom(t, k)",),
    "filter with room": ("CREATE VIRTUAL TABLE f USING bloom(t, k, capacity = {})",),
    "standalone": ("CREATE VIRTUAL TABLE f USING bloom(capacity = {})",),
}
NUM_READERS = 8
NUM_WRITTEN = 2_000
EXTRA = "insert", "bulk", "delete", "upsert", "update", "update key"
OTHERS = ("upsert journal", "first", "absent", "absent, 10,000 unmerged", "absent, all unmerged", "present", "statement", "scan",
          "cold", "readers", "beside", "merge", "merge 10,000", "rebuild", "space")
BYTES = "upsert journal", "space"
MILLISECONDS = "first",


def lookup(kind, table):
    if kind == "index":
        return f"SELECT sum(EXISTS (SELECT 1 FROM t WHERE k = a.k)) FROM source.{table} AS a"
    return f"SELECT sum((SELECT count(*) FROM f(a.k))) FROM source.{table} AS a"


def open_new(kind, num_rows, source, table="CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT)"):
    path = os.path.join(harness.FOLDER, "table.db")
    harness.remove_database(path)
    os.makedirs(harness.FOLDER, exist_ok=True)
    db = harness.connect(path, CACHE_MB)
    db.executescript(f"PRAGMA journal_mode = {JOURNAL}; PRAGMA synchronous = OFF")
    db.execute("ATTACH ? AS source", (source,))
    db.execute(table)
    for sql in KINDS[kind]:
        db.execute(sql.format(num_rows))
    return db


def execute_each(db, sql, rows):
    for row in rows:
        db.execute(sql, row).fetchone()


def size_of(db, *names):
    return db.execute("SELECT sum(pgsize) FROM dbstat WHERE name IN (%s)" % ", ".join("?" * len(names)), names).fetchone()[0]


def measure_writing(kind, keys, source, found):
    n = len(keys)
    target = "f(key)" if kind == "standalone" else "t(k)"
    db = open_new(kind, n, source)
    db.execute("BEGIN")
    found["insert"] = timed(lambda: execute_each(db, f"INSERT INTO {target} VALUES (?)", keys) or db.execute("COMMIT")) / n
    db.close()
    if kind not in ("index", "standalone"):  # what a UNIQUE column has already
        db = open_new(kind, n, source, "CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT UNIQUE)")
        db.execute("INSERT INTO t(k) SELECT k FROM source.present")
        if kind != "none":
            db.execute("INSERT INTO f(f) VALUES ('merge')")
        upsert = "INSERT INTO t(k) SELECT k FROM source.present WHERE true ON CONFLICT DO NOTHING"
        found["upsert"] = timed(lambda: db.execute(upsert)) / n
        if kind != "none":
            found["upsert journal"] = size_of(db, "f_new") / n
        db.close()
    if kind != "standalone":
        db = open_new(kind, n, source, "CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT, other INTEGER)")
        db.execute("INSERT INTO t(k) SELECT k FROM source.present")
        found["update"] = timed(lambda: db.execute("UPDATE t SET other = id")) / n
        found["update key"] = timed(lambda: db.execute("UPDATE t SET k = k || 'x' WHERE id % 10 = 0")) / (n / 10)
        db.close()
    db = open_new(kind, n, source)
    found["bulk"] = timed(lambda: db.execute(f"INSERT INTO {target} SELECT k FROM source.present")) / n
    return db


def read_beside(sql, keys, until, times):
    """A reader: puts the processor's seconds of a look-up."""
    db = harness.connect(os.path.join(harness.FOLDER, "table.db"))
    num_read, begin = 0, time.process_time()
    while not until.is_set():
        for key in keys[:100]:
            db.execute(sql, key).fetchone()
        num_read += 100
    times.put((time.process_time() - begin) / num_read)


def measure_readers(db, sql, absent, found):
    """Eight readers, each a process, and a writer."""
    context = multiprocessing.get_context("fork")
    until, times = context.Event(), context.Queue()
    readers = [context.Process(target=read_beside, args=(sql, absent[i::NUM_READERS], until, times)) for i in range(NUM_READERS)]
    for reader in readers:
        reader.start()
    rows = [(key + "y",) for key, in absent[:NUM_WRITTEN]]
    found["beside"] = timed(lambda: execute_each(db, "INSERT INTO t(k) VALUES (?)", rows)) / len(rows)
    until.set()
    found["readers"] = harness.statistics.median(times.get() for _ in readers)
    for reader in readers:
        reader.join()


def measure_merging(db, kind, found, n):
    if kind == "index":
        db.execute("DROP INDEX t_k")
        found["merge"] = timed(lambda: db.execute(KINDS["index"][0])) / n
        return
    found["first"] = timed(lambda: db.execute("SELECT count(*) FROM f('x')").fetchone())
    query = lookup(kind, "some_absent")
    found["absent, all unmerged"] = timed(lambda: db.execute(query).fetchone()) / NUM_TESTED
    found["merge"] = timed(lambda: db.execute("INSERT INTO f(f) VALUES ('merge')")) / n


def measure_reading(db, kind, absent, found):
    db.execute("BEGIN")
    for what, name in (("absent", "some_absent"), ("present", "some_present")):
        query = lookup(kind, name)
        answer = db.execute(query).fetchone()[0]
        found[what] = timed(lambda: db.execute(query).fetchone()) / NUM_TESTED
        assert what == "absent" or answer == NUM_TESTED, (kind, answer)
        assert what == "present" or answer < NUM_TESTED / 20, (kind, answer)
    one = "SELECT EXISTS (SELECT 1 FROM t WHERE k = ?)" if kind == "index" else "SELECT count(*) FROM f(?)"
    found["statement"] = timed(lambda: execute_each(db, one, absent)) / len(absent)
    if kind != "index":
        scan = "SELECT count(*) FROM source.some_absent WHERE bloom_may_contain((SELECT handle FROM f), k)"
        db.execute(scan).fetchone()
        found["scan"] = timed(lambda: db.execute(scan).fetchone()) / NUM_TESTED
    db.execute("COMMIT")


def measure(kind, keys, absent, source):
    """What one contestant takes: {name: seconds or bytes}."""
    found = {}
    n = len(keys)
    db = measure_writing(kind, keys, source, found)
    if kind == "none":
        found["delete"] = timed(lambda: db.execute("DELETE FROM t WHERE id % 10 = 0")) / (n / 10)
        return found
    if kind != "standalone":
        measure_merging(db, kind, found, n)
    measure_reading(db, kind, absent, found)
    names = ("t_k",) if kind == "index" else ("f_pages", "f_new")
    found["space"] = size_of(db, *names) / n
    if kind == "standalone":
        return found
    rebuild = "REINDEX t_k" if kind == "index" else "INSERT INTO f(f) VALUES ('rebuild')"
    found["rebuild"] = timed(lambda: db.execute(rebuild)) / n
    db.execute(f"INSERT INTO t(k) SELECT k || 'x' FROM source.present LIMIT {NUM_LATE}")
    query = lookup(kind, "some_absent")
    db.execute(query).fetchone()
    found["absent, 10,000 unmerged"] = timed(lambda: db.execute(query).fetchone()) / NUM_TESTED
    measure_readers(db, "SELECT EXISTS (SELECT 1 FROM t WHERE k = ?)" if kind == "index" else "SELECT count(*) FROM f(?)", absent, found)
    if kind != "index":
        found["merge 10,000"] = timed(lambda: db.execute("INSERT INTO f(f) VALUES ('merge')")) / (NUM_LATE + NUM_WRITTEN)
    found["delete"] = timed(lambda: db.execute("DELETE FROM t WHERE id % 10 = 0")) / (n / 10)
    db.close()
    db = harness.connect(os.path.join(harness.FOLDER, "table.db"))
    db.execute("PRAGMA cache_size = -100")
    db.execute("ATTACH ? AS source", (source,))
    # Each statement finds the filter's own pages gone, too.
    found["cold"] = timed(lambda: db.execute(query).fetchone()) / NUM_TESTED
    db.close()
    return found


def fill(db, num_rows):
    for name, count in (("present", num_rows), ("some_absent", NUM_TESTED)):
        db.execute(f"CREATE TABLE {name}(k TEXT)")
        db.execute(f"INSERT INTO {name} " + harness.numbers(count) + " SELECT printf('%016x', random()) FROM numbers")
    db.execute(f"CREATE TABLE some_present AS SELECT k FROM present ORDER BY random() LIMIT {NUM_TESTED}")


def show(values, num_rows, num_repeats):
    """A table of medians, and as a share of the index's."""
    median = harness.statistics.median
    print(f"SQLite {harness.sqlite3.sqlite_version}, {num_rows:,} rows, medians of {num_repeats}:"
          " us (first: ms; space: bytes), and as a share of the index's\n")
    for what in EXTRA + OTHERS:
        line = f"{what:24}"
        own = {kind: values[kind].get(what) for kind in KINDS}
        if what in EXTRA:
            own = {kind: each if kind == "standalone" else [v - w for v, w in zip(each, values["none"][what])]
                   for kind, each in own.items() if each}
            line += f" | none: {median(values['none'][what]) * 1e6:.2f}"
        for kind in list(KINDS)[1:]:
            if not own.get(kind):
                continue
            scale = 1 if what in BYTES else 1e3 if what in MILLISECONDS else 1e6
            line += f" | {kind}: {median(own[kind]) * scale:.2f}"
            if kind != "index" and own.get("index"):
                line += f" ({median(own[kind]) / median(own['index']):.2f})"
        print(line)
    print()


def main():
    num_rows = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    num_repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    results = harness.Results("table", ("rows", "kind", "what", "repeat", "value"),
                              "seconds (space: bytes), a row or a look-up")
    source = harness.database(f"table-{num_rows}", lambda db: fill(db, num_rows))
    db = harness.connect(source)
    keys = db.execute("SELECT k FROM present").fetchall()
    absent = db.execute("SELECT k FROM some_absent").fetchall()
    db.close()
    values = {kind: {} for kind in KINDS}
    for repeat in range(num_repeats):
        for kind in harness.random.Random(repeat).sample(list(KINDS), len(KINDS)):
            for what, value in measure(kind, keys, absent, source).items():
                values[kind].setdefault(what, []).append(value)
                results.row(num_rows, kind, what, repeat, value)
    show(values, num_rows, num_repeats)


if __name__ == "__main__":
    main()
