#!/usr/bin/python3
"""
What bloom_index costs and gains on a log, beside a B-tree index, FTS5's trigram index and
the plain scan.

    make bench BENCH=index
    make bench-full BENCH=index ROWS="100000 1000000 10000000 100000000"
    /usr/bin/python3 test/bench/index.py quick|full [--rows num_rows ...]

The log is that of index_log.py, of a million rows or, in a full run, of 100,000 to 10 million.
Of more than 10 million only sizes, merges and look-ups of keys and of ids are measured, and each
scan once: 100 million rows take 25 GB of disk, and less than half an hour.
Its file is larger than SQLite's page cache, and in the system's.  All contestants are in one
file, and take turns; times are the processor's.  Each answer is compared with the others'.
FTS5 has a million rows at most, and detail=full is part of a full run alone.
$TRANSLATIONS names a file with Debian's descriptions of packages, which run.sh fetches.
"""
import atexit
import glob
import gzip
import math
import os
import shutil
import sys
import time

import harness
import index_log
from harness import timed

median = harness.statistics.median
WORK = os.path.join(harness.FOLDER, f"index-work-{os.getpid()}.db")
# Each on columns of its own: merged or created in turns.
BUILDS = {
    "text": (("trace_id",), "trace_id, probes = 12"),
    "integer": (("user_id",), "user_id, probes = 12"),
    "both": (("trace_id", "user_id"), "trace_id, user_id, probes = 12"),
}
DETAILS = {"quick": ("none",), "full": ("full", "none")}
LARGE = 10_000_000


def open_copy(num_rows, path=WORK):
    """A copy of the log in a file of its own, which nothing waits for; of a large one, the log itself."""
    close(None, path)
    (os.rename if num_rows > LARGE else shutil.copyfile)(index_log.database(num_rows), path)
    db = harness.connect(path)
    db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
    return db


def close(db, path=WORK):
    if db:
        db.close()
    harness.remove_database(path)


def size_of(db, *names):
    """Bytes, by pages: of more than 2 GiB dbstat's pgsize overflows."""
    marks = ", ".join("?" * len(names))
    pages = db.execute(f"SELECT sum(pageno) FROM dbstat WHERE name IN ({marks}) AND aggregate = TRUE", names).fetchone()[0]
    return pages * db.execute("PRAGMA page_size").fetchone()[0]


def blocks_of(name, num_columns=1):
    return [f"{name}_blocks_{i + 1}" for i in range(num_columns)]


def merge(db, name):
    db.execute(f"INSERT INTO {name}({name}) VALUES ('merge')")


class Report:
    """Writes raw rows, and prints lines with what is to be reached."""

    def __init__(self, size):
        self.results = harness.Results("index", ("rows", "what", "contestant", "repeat", "value"),
                                       f"{size}; seconds (space: bytes a row; share: of the text's bytes)")
        self.num_rows = 0

    def keep(self, what, contestant, values):
        for repeat, value in enumerate(values if isinstance(values, list) else [values]):
            self.results.row(self.num_rows, what, contestant, repeat, value)

    def say(self, what, measured, goal=""):
        print(f"{self.num_rows:>10,} | {what:42} | {measured:44} | {goal}", flush=True)


# -- Building ------------------------------------------------------------------------------------

def measure_builds(report, db, num_repeats, names):
    """Merging all rows against CREATE INDEX, and both sizes."""
    goals = {"text": "3.5x", "integer": "2.5x", "both": "5x"}
    for what in names:
        columns, arguments = BUILDS[what]
        seconds = {"index": [], "bloom_index": []}
        for _ in range(num_repeats):
            db.execute(f"CREATE VIRTUAL TABLE log_index USING bloom_index(log, {arguments})")
            seconds["bloom_index"].append(timed(lambda: merge(db, "log_index")))
            bloom_bytes = size_of(db, *blocks_of("log_index", len(columns)))
            db.execute("DROP TABLE log_index")
            seconds["index"].append(timed(lambda: [db.execute(f"CREATE INDEX log_{c} ON log({c})") for c in columns]))
            index_bytes = size_of(db, *(f"log_{c}" for c in columns))
            for column in columns:
                db.execute(f"DROP INDEX log_{column}")
        for contestant, its in seconds.items():
            report.keep(f"build {what}", contestant, its)
        report.keep(f"space {what}, 12 probes", "bloom_index", bloom_bytes / report.num_rows)
        report.keep(f"space {what}", "index", index_bytes / report.num_rows)
        ratio = median(i / b for i, b in zip(seconds["index"], seconds["bloom_index"]))
        report.say(f"merge of {what} against CREATE INDEX", f"{ratio:.2f}x ({median(seconds['bloom_index']):.2f} s)", goals[what])
        report.say(f"space of {what}, 12 probes (index)",
                   f"{bloom_bytes / report.num_rows:.2f} B ({index_bytes / report.num_rows:.1f} B)", "2.3 B a column" if what == "text" else "")


def measure_search_builds(report, db, details, num_repeats, name="log", what="log", goal="12 %, 60 MB/s"):
    """Blocks for LIKE against FTS5; the indexes stay."""
    num_bytes = db.execute(f"SELECT sum(length(CAST(message AS BLOB))) FROM {name}").fetchone()[0]
    report.keep(f"text of {what}", "bytes", num_bytes)
    for repeat in range(num_repeats):
        if repeat:
            db.execute(f"DROP TABLE {name}_like")
        db.execute(f"CREATE VIRTUAL TABLE {name}_like USING bloom_index({name}, message LIKE)")
        seconds = timed(lambda: merge(db, f"{name}_like"))
        report.keep(f"build LIKE {what}", "bloom_index", seconds)
    share = size_of(db, *blocks_of(f"{name}_like")) / num_bytes
    report.keep(f"share {what}", "bloom_index", share)
    report.say(f"{what}: size of LIKE and its merge", f"{100 * share:.1f} % of the text, {num_bytes / seconds / 1e6:.0f} MB/s", goal)
    for detail in details:
        fts = f"{name}_fts_{detail}"
        db.execute(f"CREATE VIRTUAL TABLE {fts} USING fts5(message, content='{name}', content_rowid='id',"
                   f" tokenize='trigram', detail={detail})")
        seconds = timed(lambda: db.execute(f"INSERT INTO {fts}({fts}) VALUES ('rebuild')"))
        report.keep(f"build LIKE {what}", f"fts5 {detail}", seconds)
        share = size_of(db, f"{fts}_data", f"{fts}_idx", f"{fts}_docsize") / num_bytes
        report.keep(f"share {what}", f"fts5 {detail}", share)
        report.say(f"{what}: FTS5 trigram, detail={detail}", f"{100 * share:.1f} % of the text, {num_bytes / seconds / 1e6:.1f} MB/s", "")


# -- Other texts ---------------------------------------------------------------------------------

def changelogs():
    for path in sorted(glob.glob("/usr/share/doc/*/changelog*.gz")):
        with gzip.open(path, "rt", encoding="utf-8", errors="replace") as lines:
            yield from (line.rstrip("\n") for line in lines if line.strip())


def descriptions(path):
    """In random order: neighbours are often packages of one source."""
    texts, text = [], []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("Description-en: "):
                text.append(line[16:])
            elif text and line.startswith(" "):
                text.append(line[1:])
            elif text:
                texts.append("".join(text))
                text = []
    harness.random.Random(1).shuffle(texts)
    return texts


def measure_other_texts(report, details):
    corpora = {"changelogs": changelogs()}
    path = os.environ.get("TRANSLATIONS", "")
    if os.path.exists(path):
        corpora["descriptions"] = descriptions(path)
    for what, texts in corpora.items():
        close(None)
        db = harness.connect(WORK)
        db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;"
                         " CREATE TABLE texts(id INTEGER PRIMARY KEY, message TEXT)")
        num_bytes = 0
        for text in texts:
            db.execute("INSERT INTO texts(message) VALUES (?)", (text,))
            num_bytes += len(text)
            if num_bytes > 15 << 20:
                break
        db.execute("COMMIT")
        report.num_rows = db.execute("SELECT count(*) FROM texts").fetchone()[0]
        measure_search_builds(report, db, details, 1, "texts", what, "12 %")
        close(db)


# -- Reading -------------------------------------------------------------------------------------

def each(db, sql, values, num_runs=3):
    """Seconds of each query, the median of some runs; and what they found."""
    seconds, found = [], []
    for value in values:
        runs = []
        for run in range(num_runs + (num_runs > 1)):
            start = time.process_time()
            rows = db.execute(sql, (value,)).fetchall()
            if run or num_runs == 1: # the first run of several warms up
                runs.append(time.process_time() - start)
        seconds.append(median(runs))
        found.append(rows)
    return seconds, found


def race(report, db, what, contestants, values, num_scanned, all_found=None):
    """
    {contestant: [seconds of each value]}, and the rows that all found, as those before them: the scan, which
    is slow, has the first values only.
    """
    times = {}
    for name, sql in contestants.items():
        is_scan = name == "scan"
        times[name], found = each(db, sql, values[:num_scanned] if is_scan else values, 1 if is_scan else 3)
        report.keep(what, name, times[name])
        found = [sorted(rows) for rows in found]
        all_found = found if all_found is None else all_found
        if found != all_found[:len(found)]:
            sys.exit(f"{what}: {name} found other rows")
    return times, all_found


def ms(seconds):
    return f"{1000 * seconds:.3g} ms"


def measure_keys(report, db, num_scanned):
    """Keys in no row, in one, and in some: blocks with 14 probes."""
    draw = harness.random.Random(23)
    absent = [f"{draw.getrandbits(64):016x}" for _ in range(100)]
    present = [row[1] for _ in range(100) for row in index_log.rows(draw.randrange(report.num_rows) + 1, 1)]
    users = [draw.randrange(100_000) for _ in range(20)]
    sql = "SELECT id FROM {} WHERE {} = ?"
    goals = {"absent": "0.3 ms at 10 million, 2,000x", "present": "0.45 ms at 10 million, 2,000x", "user": "5 ms at 10 million"}
    asked = {"absent": ("trace_id", absent), "present": ("trace_id", present), "user": ("user_id", users)}
    # First without the indexes: a bloom_index of a table that has one lets it serve the query.
    raced = {what: race(report, db, f"look-up {what}", {
        "bloom_index": sql.format("log_index", column), "scan": sql.format("log", column)}, values, num_scanned)
             for what, (column, values) in asked.items()}
    for column in "trace_id", "user_id":
        db.execute(f"CREATE INDEX log_{column} ON log({column})")
    for what, (column, values) in asked.items():
        times, found = raced[what]
        times.update(race(report, db, f"look-up {what}", {"index": sql.format("log", column)}, values, num_scanned, found)[0])
        mean = {name: sum(its) / len(its) for name, its in times.items()}
        report.say(f"look-up, {what} (index; scan)",
                   f"{ms(mean['bloom_index'])}, {mean['scan'] / mean['bloom_index']:,.0f}x ({ms(mean['index'])}; {ms(mean['scan'])})", goals[what])
    db.executescript("DROP INDEX log_trace_id; DROP INDEX log_user_id")


def measure_needles(report, db, details, num_scanned):
    goals = {"absent8": "mean 150x, median 1,500x", "absent4": "mean 48x, median 160x", "id12": "1,500x", "piece8": "15x", "percent": "0.9x"}
    for kind, needles in index_log.needles().items():
        if kind == "third" or (report.num_rows > LARGE and kind != "id12"):
            continue
        patterns = [f"%{needle}%" for needle in needles]
        contestants = {"bloom_index": "SELECT id FROM log_index WHERE message LIKE ?",
                       "scan": "SELECT id FROM log NOT INDEXED WHERE message LIKE ?"}
        for detail in details:
            contestants[f"fts5 {detail}"] = f"SELECT rowid FROM log_fts_{detail} WHERE message LIKE ?"
        times, _ = race(report, db, f"needle {kind}", contestants, patterns, num_scanned)
        scan = median(times.pop("scan"))
        for name, its in times.items():
            worst = max(range(len(its)), key=its.__getitem__)
            report.say(f"needle {kind}, {name}", f"mean {scan * len(its) / sum(its):,.2f}x, median {scan / median(its):,.2f}x, "
                       f"worst {scan / its[worst]:,.2f}x '{needles[worst]}'", goals[kind] if name == "bloom_index" else "")
    if report.num_rows > LARGE:
        return
    # In a third of the rows: SQLite's own work on what is found outweighs all else.
    pattern = f"%{index_log.needles()['third'][0]}%"
    for what, result, goal in (("count", "count(*)", "0.75x"), ("text", "sum(length(message))", "0.9x")):
        times = harness.race({name: lambda table=table: db.execute(f"SELECT {result} FROM {table} WHERE message LIKE ?", (pattern,)).fetchone()
                              for name, table in (("bloom_index", "log_index"), ("scan", "log NOT INDEXED"))}, 3)
        for name, its in times.items():
            report.keep(f"third {what}", name, its.seconds)
        report.say(f"in a third of the rows, {what}", f"{harness.faster(times['scan'], times['bloom_index']):.2f}x", goal)


# -- Small merges --------------------------------------------------------------------------------

def insert_rows(db, rows):
    db.execute("BEGIN")
    db.executemany("INSERT INTO log VALUES (?, ?, ?, ?)", rows)
    db.execute("COMMIT")


def merge_with_journal(db, name):
    """Seconds, and bytes that the journal grew by."""
    before = os.path.getsize(WORK + "-wal")
    seconds = timed(lambda: merge(db, name))
    return seconds, os.path.getsize(WORK + "-wal") - before


def measure_small_merges(report, db):
    """The work of a program that merges as it goes: in a WAL, of the trace_id alone and of all columns."""
    num_rows = report.num_rows
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA wal_autocheckpoint = 0")
    draw = harness.random.Random(10)
    absent = [f"{draw.getrandbits(64):016x}" for _ in range(50)]
    sql = "SELECT id FROM log_key WHERE trace_id = ?"
    merged = sum(each(db, sql, absent)[0]) / len(absent)
    new = list(index_log.rows(num_rows + 1, 20_000))
    insert_rows(db, new[:10_000])
    unmerged = sum(each(db, sql, absent)[0]) / len(absent)
    alone = sum(each(db, f"SELECT id FROM log NOT INDEXED WHERE id > {num_rows} AND trace_id = ?", absent)[0]) / len(absent)
    for what, seconds in (("merged", merged), ("unmerged", unmerged), ("alone", alone)):
        report.keep("look-up with 10,000 unmerged rows", what, seconds)
    report.say("10,000 unmerged rows beside just these", f"{1000 * (unmerged - alone):+.2f} ms ({ms(merged)} without; alone {ms(alone)})", "+0.3 ms")
    for name, goal in (("log_key", "4.4 ms"), ("log_index", "")):
        seconds, journal = merge_with_journal(db, name)
        report.keep(f"merge of 10,000, {name}", "seconds", seconds)
        report.keep(f"merge of 10,000, {name}", "journal", journal)
        report.say(f"merge of 10,000 rows, {name}", f"{ms(seconds)}, {journal / 1000:.0f} KB", goal)
    for name, goal in (("log_key", "0.16 ms, 19 KB"), ("log_index", "")):
        first = 10_000 + (0 if name == "log_key" else 4000)
        seconds, journals = [], []
        for i in range(40):
            insert_rows(db, new[first + 100 * i:first + 100 * (i + 1)])
            its, journal = merge_with_journal(db, name)
            seconds.append(its)
            journals.append(journal)
        report.keep(f"merge of 100, {name}", "seconds", seconds)
        report.keep(f"merge of 100, {name}", "journal", journals)
        report.say(f"merge of 100 rows, {name}",
                   f"{ms(median(seconds))}, {median(journals) / 1000:.0f} KB (worst {ms(max(seconds))})", goal)


# -- Writing -------------------------------------------------------------------------------------

WRITERS = {
    "plain": (),
    "index": ("CREATE INDEX log_trace_id ON log(trace_id)",),
    "bloom_index": ("CREATE VIRTUAL TABLE log_index USING bloom_index(log, trace_id, user_id, message LIKE)",
                    "INSERT INTO log_index(log_index) VALUES ('merge')"),
    "fts5 none": ("CREATE VIRTUAL TABLE f USING fts5(message, content='log', content_rowid='id', tokenize='trigram', detail=none)",
                  "CREATE TRIGGER log_f AFTER INSERT ON log BEGIN INSERT INTO f(rowid, message) VALUES (new.id, new.message); END"),
}


def measure_inserts(report, num_repeats):
    """One row a statement, 20,000 in a transaction, into a table of a million."""
    num_new = 20_000
    new = list(index_log.rows(report.num_rows + 1, num_new))
    paths = {name: f"{WORK}-{name.split()[0]}" for name in WRITERS}
    writers = {name: open_copy(report.num_rows, path) for name, path in paths.items()}
    seconds = {name: [] for name in WRITERS}
    for name, db in writers.items():
        for sql in WRITERS[name]:
            db.execute(sql)
        db.execute("PRAGMA journal_mode = WAL")

    def insert(db):
        for row in new:
            db.execute("INSERT INTO log VALUES (?, ?, ?, ?)", row)

    for repeat in range(num_repeats + 1):
        for name in harness.random.Random(repeat).sample(list(writers), len(writers)):
            db = writers[name]
            db.execute("BEGIN")
            its = timed(lambda: insert(db))
            db.execute("ROLLBACK")
            if repeat: # the first one warms up
                seconds[name].append(its / num_new)
    extra = {}
    for name, its in seconds.items():
        report.keep("insert", name, its)
        extra[name] = 1e6 * (median(its) - median(seconds["plain"]))
        close(writers[name], paths[name])
    report.say("INSERT, extra (index; FTS5)", f"{extra['bloom_index']:.2f} us ({extra['index']:.2f}; {extra['fts5 none']:.0f})",
               "0.65 us, an eighth of the index")


def measure(report, num_rows, size):
    details = DETAILS[size] if num_rows <= 1_000_000 else ()
    is_large = num_rows > LARGE
    # One probe more each time the table doubles.
    probes = 14 if not is_large else 14 + round(math.log2(num_rows / LARGE))
    report.num_rows = num_rows
    db = open_copy(num_rows)
    measure_builds(report, db, 1 if is_large else 3 if num_rows <= 1_000_000 else 2, ("text",) if is_large else BUILDS)
    if not is_large:
        measure_search_builds(report, db, details, 1)
        db.execute("DROP TABLE log_like")
    db.execute(f"CREATE VIRTUAL TABLE log_key USING bloom_index(log, trace_id, probes = {probes})")
    db.execute(f"CREATE VIRTUAL TABLE log_index USING bloom_index(log, trace_id, user_id, message LIKE, probes = {probes})")
    merge(db, "log_key")
    seconds = timed(lambda: merge(db, "log_index"))
    report.keep(f"build all, {probes} probes", "bloom_index", seconds)
    space = size_of(db, *blocks_of("log_key")) / num_rows
    report.keep(f"space text, {probes} probes", "bloom_index", space)
    report.say(f"space of text, {probes} probes", f"{space:.2f} B", "2.6 B")
    space = size_of(db, *blocks_of("log_index", 3)) / num_rows
    report.keep(f"space all, {probes} probes", "bloom_index", space)
    report.say("space of text, integer and LIKE, and their merge", f"{space:.1f} B, {seconds:.1f} s")
    num_scanned = 1 if is_large else max(3, min(20, 20_000_000 // num_rows))
    measure_keys(report, db, num_scanned)
    measure_needles(report, db, details, num_scanned)
    if not is_large:
        measure_small_merges(report, db)
    close(db)


def main():
    size = sys.argv[1] if len(sys.argv) > 1 else "quick"
    if size not in DETAILS or (len(sys.argv) > 2 and sys.argv[2] != "--rows"):
        sys.exit("usage: index.py quick|full [--rows num_rows ...]")
    sizes = [int(arg) for arg in sys.argv[3:]] or ([1_000_000] if size == "quick" else [100_000, 1_000_000, 10_000_000])
    atexit.register(close, None)
    report = Report(size)
    print(f"SQLite {harness.sqlite3.sqlite_version}\n{'rows':>10} | {'what':42} | {'measured':44} | goal")
    report.num_rows = min(1_000_000, max(sizes))
    measure_inserts(report, 3 if size == "quick" else 5)
    measure_other_texts(report, DETAILS[size])
    for num_rows in sizes:
        measure(report, num_rows, size)


if __name__ == "__main__":
    main()
