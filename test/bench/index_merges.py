"""
Merges: tables that grow from empty, what a small merge writes, and how long one of many rows takes; then
what a statement takes to prepare, and an INSERT.  test/bench/index.py calls this.
"""
import random

import harness
import index_keys
import index_log
import index_texts
from counts import race
from index_report import KEY, copy_of, mean, merge, remove, size_of, values
from index_search import SQL, bound

median = harness.statistics.median
QUICK = {"keys": 100_000, "texts": 20_000, "pause": 1_000_000}
FULL = {"keys": 1_000_000, "texts": 100_000, "pause": 10_000_000}


def insert_log(counter, first, count):
    db = harness.connect(counter.path)
    db.execute("PRAGMA synchronous = OFF")
    db.execute("BEGIN")
    db.executemany("INSERT INTO log VALUES (?, ?, ?, ?)", index_log.rows(first, count))
    db.execute("COMMIT")
    db.close()


def grow(report, what, columns, num_rows, step, looks):
    """Grows a log to num_rows by merges of `step` rows; looks(counter) at 20 times in the last half."""
    report.num_rows = num_rows
    counter = copy_of(None)
    counter.execute("PRAGMA journal_mode = WAL") # pages written are those of the log, with the others as they were
    counter.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, trace_id TEXT, user_id INTEGER, message TEXT)")
    counter.execute("CREATE TABLE waiting(id INTEGER PRIMARY KEY, trace_id TEXT, user_id INTEGER, message TEXT)")
    db = harness.connect(counter.path)
    db.execute("PRAGMA synchronous = OFF")
    db.execute("BEGIN")
    db.executemany("INSERT INTO waiting VALUES (?, ?, ?, ?)", index_log.rows(1, num_rows))
    db.execute("COMMIT")
    db.close()
    counter.execute(f"CREATE VIRTUAL TABLE by_bloom USING bloom_index(log, {columns}, unmerged)")
    merges, seen = [], []
    num_steps = num_rows // step
    for i in range(num_steps):
        counter.execute(f"INSERT INTO log SELECT * FROM waiting WHERE id > {i * step} AND id <= {(i + 1) * step}")
        merges.append(merge(counter))
        if 2 * i >= num_steps and (i + 1) % max(1, num_steps // 40) == 0:
            seen.append(looks(counter))
    last = merges[num_steps // 2:]
    written = [its.pages_written for its in last]
    report.keep(f"{what}, grown by {step}", "bloom_index", "pages written", [its.pages_written for its in merges])
    report.keep(f"{what}, grown by {step}", "bloom_index", "seconds", [its.seconds for its in merges])
    goals = {("key", 100): "8", ("key", 10_000): "130"}
    report.say(f"{what}: a merge of {step:,} rows writes, mean/worst", f"{mean(written):.1f}/{max(written)} pages; "
               f"{1000 * median(its.seconds for its in last):.2f} ms, worst {1000 * max(its.seconds for its in last):.1f}", goals.get((what, step), ""))
    return counter, seen


def grown_keys(report, num_rows, step):
    absent = index_keys.absent_keys(40)

    def looks(counter):
        present = index_keys.present_keys(counter, num_rows // 2, 20)
        return mean(counter.pages(KEY.format("by_bloom"), absent)), mean(counter.pages(KEY.format("by_bloom"), present))
    counter, seen = grow(report, "key", "trace_id", num_rows, step, looks)
    space = size_of(counter, "by_bloom_") / num_rows
    report.keep(f"key, grown by {step}", "bloom_index", "bytes a row", space)
    for i, what in enumerate(("absent", "present")):
        report.keep(f"key, {what}, grown by {step}", "bloom_index", "pages", [its[i] for its in seen])
    report.say(f"key, grown by {step:,}: pages absent, present; bytes a row",
               f"{mean([its[0] for its in seen]):.1f}, {mean([its[1] for its in seen]):.1f}; {space:.2f}", "within a fifth of one merge's")
    remove(counter)


def grown_texts(report, num_rows, step):
    needles = index_texts.Needles("log", [row[3] for row in index_log.rows(1, num_rows)])
    kinds = {kind: needles.some_of(*its, 40) for kind, its in needles.kinds().items() if kind in ("hex digits", "digits", "two words", "8 bytes")}
    counter, _ = grow(report, "text log", "message LIKE", num_rows, step, lambda counter: None)
    num_bytes = values(counter, "SELECT sum(length(CAST(message AS BLOB))) FROM log")[0][0]

    def look():
        return {kind: counter.pages(bound(SQL["bloom_index"]), [f"%{its}%" for its in some]) for kind, some in kinds.items()}, size_of(counter, "by_bloom_") / num_bytes
    grown, share = look()
    merge(counter, how="rebuild")
    rebuilt, share_rebuilt = look()
    report.keep(f"text log, size, grown by {step}", "bloom_index", "share", share)
    said = []
    for kind in kinds:
        report.keep(f"text log, {kind}, grown by {step}", "bloom_index", "pages", grown[kind])
        report.keep(f"text log, {kind}, rebuilt", "bloom_index", "pages", rebuilt[kind])
        said.append(f"{kind} {mean(grown[kind]):.0f} ({mean(rebuilt[kind]):.0f})")
    report.say(f"text log, grown by {step}: (rebuilt) size; mean pages", f"{100 * share:.1f} ({100 * share_rebuilt:.1f}) %; " + ", ".join(said), "within a fifth")
    remove(counter)


def after_one_merge(report, num_rows):
    """100 merges of 100 rows behind a million merged at once."""
    report.num_rows = num_rows
    counter = copy_of(index_log.database(num_rows))
    counter.execute(index_keys.CREATE)
    merge(counter)
    absent, pages, written = index_keys.absent_keys(40), [], []
    for i in range(100):
        insert_log(counter, num_rows + 100 * i + 1, 100)
        written.append(merge(counter).pages_written)
        if i % 10 == 9:
            pages.append(mean(counter.pages(KEY.format("by_bloom"), absent)))
    report.keep("key, absent, after 100 merges of 100", "bloom_index", "pages", pages)
    report.keep("key, 100 merges of 100", "bloom_index", "pages written", written)
    report.say("after 100 merges of 100 rows: absent key, pages", f"{pages[-1]:.1f}, mean of ten times {mean(pages):.1f}; each wrote {mean(written):.1f}", "14")
    remove(counter)


def pause(report, num_rows, num_each=30_000):
    """'merge=30000' until all rows of a large table are merged."""
    report.num_rows = num_rows
    counter = copy_of(index_keys.keys_alone(num_rows))
    counter.execute(index_keys.CREATE)
    merges = [merge(counter, how=f"merge={num_each}") for _ in range(-(-num_rows // num_each))]
    report.keep(f"key, merge={num_each}", "bloom_index", "seconds", [its.seconds for its in merges])
    report.keep(f"key, merge={num_each}", "bloom_index", "pages written", [its.pages_written for its in merges])
    absent = counter.pages(KEY.format("by_bloom"), index_keys.absent_keys(40))
    report.say(f"'merge={num_each}' among keys: worst, median", f"{1000 * max(its.seconds for its in merges):.0f} ms, {1000 * median(its.seconds for its in merges):.0f} ms; "
               f"pages written {max(its.pages_written for its in merges)}; then absent {mean(absent):.1f}", "250 ms")
    remove(counter)


def measure(report, size):
    sizes = QUICK if size == "quick" else FULL
    after_one_merge(report, 1_000_000)
    grown_keys(report, sizes["keys"], 100)
    grown_keys(report, sizes["keys"], 10_000)
    grown_texts(report, sizes["texts"], 100)
    pause(report, sizes["pause"])


# -- Statements ------------------------------------------------------------------------------------

def measure_prepare(report, num_rows):
    report.num_rows = num_rows
    counter, tree = copy_of(index_log.database(num_rows)), copy_of(index_log.database(num_rows), "-tree")
    counter.execute("CREATE VIRTUAL TABLE by_bloom USING bloom_index(log, trace_id, message LIKE, unmerged)")
    tree.execute("CREATE INDEX by_tree ON log(trace_id)")
    merge(counter)
    for what, sql, goal in (("key", "trace_id = ?", "15 us"), ("LIKE", "message LIKE ?", "30 us"), ("LIKE of a literal", "message LIKE '%abc def 123%'", "30 us")):
        found = race({"bloom_index": (counter, f"SELECT * FROM by_bloom WHERE {sql}", ()), "table": (tree, f"SELECT * FROM log WHERE {sql}", ())})
        for name, its in found.seconds.items():
            report.keep(f"prepare, {what}", name, "seconds", its)
        report.say(f"prepare of {what} (of the table)", f"{1e6 * found.least('bloom_index'):.1f} us ({1e6 * found.least('table'):.1f})", goal)
    remove(counter)
    remove(tree)


WRITERS = {
    "plain": (),
    "index": ("CREATE INDEX log_trace_id ON log(trace_id)",),
    "bloom_index": ("CREATE VIRTUAL TABLE log_index USING bloom_index(log, trace_id, user_id, message LIKE)",
                    "INSERT INTO log_index(log_index) VALUES ('merge')"),
    "fts5 none": ("CREATE VIRTUAL TABLE f USING fts5(message, content='log', content_rowid='id', tokenize='trigram', detail=none)",
                  "CREATE TRIGGER log_f AFTER INSERT ON log BEGIN INSERT INTO f(rowid, message) VALUES (new.id, new.message); END"),
}


def measure_inserts(report, num_rows, num_repeats, num_new=20_000):
    """One row a statement, 20,000 in a transaction."""
    report.num_rows = num_rows
    new = list(index_log.rows(num_rows + 1, num_new))
    copies = {name: copy_of(index_log.database(num_rows), "-" + name.split()[0]) for name in WRITERS}
    writers = {name: harness.connect(its.path) for name, its in copies.items()}
    seconds = {name: [] for name in WRITERS}
    for name, db in writers.items():
        db.executescript("PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL")
        for sql in WRITERS[name]:
            db.execute(sql)

    def insert(db):
        for row in new:
            db.execute("INSERT INTO log VALUES (?, ?, ?, ?)", row)

    for repeat in range(num_repeats + 1):
        for name in random.Random(repeat).sample(list(writers), len(writers)):
            db = writers[name]
            db.execute("BEGIN")
            its = harness.timed(lambda: insert(db))
            db.execute("ROLLBACK")
            if repeat: # the first one warms up
                seconds[name].append(its / num_new)
    extra = {}
    for name, its in seconds.items():
        report.keep("insert", name, "seconds", its)
        extra[name] = 1e6 * (min(its) - min(seconds["plain"]))
        writers[name].close()
        remove(copies[name])
    report.say("INSERT, extra (index; FTS5)", f"{extra['bloom_index']:.2f} us ({extra['index']:.2f}; {extra['fts5 none']:.0f})", "as before")
