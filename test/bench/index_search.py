"""
Pieces of text: what `LIKE '%...%'` takes of a bloom_index, of FTS5's trigram index in both details, and of the scan.

The texts and the needles are those of index_texts.py.  test/bench/index.py calls this.
"""
import random

import harness
import index_texts
from counts import race
from index_report import copy_of, mean, merge, remove, size_of, values

SQL = {"bloom_index": "SELECT id FROM by_bloom WHERE message LIKE '%' || ? || '%'",
       "fts5 full": "SELECT rowid FROM fts_full WHERE message LIKE '%' || ? || '%'",
       "fts5 none": "SELECT rowid FROM fts_none WHERE message LIKE '%' || ? || '%'",
       "scan": "SELECT id FROM log NOT INDEXED WHERE message LIKE '%' || ? || '%'"}
# Pages, median or mean: what is to be reached.
GOALS = {("log", "halves"): "16 / 25", ("log", "one row's"): "median 28", ("log", "digits"): "mean 200", ("log", "two words"): "mean 60",
         ("zh and ja", "two characters, absent"): "mean 110", ("zh and ja", "two characters"): "mean 470", ("zh and ja", "two words"): "mean 120"}
SPEEDS = {"log": "64", "descriptions": "45", "documents": "50", "zh and ja": "45"}


def bound(sql):
    """With LIKE's pattern bound, as programs do."""
    return sql.replace("'%' || ? || '%'", "?")


def build(counter, what, report, details, num_turns):
    num_bytes = values(counter, "SELECT sum(length(CAST(message AS BLOB))) FROM log")[0][0]
    seconds = []
    for turn in range(num_turns):
        if turn:
            counter.execute("DROP TABLE by_bloom")
        counter.execute("CREATE VIRTUAL TABLE by_bloom USING bloom_index(log, message LIKE, unmerged)")
        seconds.append(merge(counter).seconds)
    share = size_of(counter, "by_bloom_") / num_bytes
    report.keep(f"text {what}, build", "bloom_index", "seconds", seconds)
    report.keep(f"text {what}, build", "bloom_index", "MB/s", num_bytes / min(seconds) / 1e6)
    report.keep(f"text {what}, size", "bloom_index", "share", share)
    report.say(f"{what}: size, merge", f"{100 * share:.2f} %, {num_bytes / min(seconds) / 1e6:.0f} MB/s", f"12.5 %, {SPEEDS[what]} MB/s")
    for detail in details:
        counter.execute(f"CREATE VIRTUAL TABLE fts_{detail} USING fts5(message, content='log', content_rowid='id', tokenize='trigram', detail={detail})")
        seconds = counter.execute(f"INSERT INTO fts_{detail}(fts_{detail}) VALUES ('rebuild')").seconds
        share = size_of(counter, f"fts_{detail}_") / num_bytes
        report.keep(f"text {what}, build", f"fts5 {detail}", "seconds", seconds)
        report.keep(f"text {what}, size", f"fts5 {detail}", "share", share)
        report.say(f"{what}: FTS5 detail={detail}", f"{100 * share:.0f} %, {num_bytes / seconds / 1e6:.1f} MB/s")


def measure(report, what, num_rows, details, num_needles, num_turns):
    path = index_texts.database(what, num_rows)
    if path is None:
        print(f"left out: {what}")
        return
    counter = copy_of(path)
    messages = [its for its, in values(counter, "SELECT message FROM log")]
    report.num_rows = len(messages)
    build(counter, what, report, details, num_turns)
    contestants = ["bloom_index", *(f"fts5 {detail}" for detail in details)]
    needles = index_texts.Needles(what, messages).all(num_needles)
    scan = counter.run(bound(SQL["scan"]), [f"%{needles['8 bytes'][0]}%"])[0]
    report.keep(f"text {what}, 8 bytes", "scan", "pages", scan.pages_read)
    for kind, some in needles.items():
        look_for(report, counter, what, kind, some, contestants, scan)
    remove(counter)


def look_for(report, counter, what, kind, some, contestants, scan):
    patterns = [f"%{its}%" for its in some]
    said, rows = {}, {}
    for name in contestants:
        counts = counter.run(bound(SQL[name]), patterns)
        rows[name] = [its.rows for its in counts]
        said[name] = report.pages(f"text {what}, {kind}", name, [its.pages_read for its in counts])
    # FTS5 finds nothing by fewer than three characters.
    if not kind.startswith("two characters") and (what, kind) != ("zh and ja", "three bytes") and any(its != rows["bloom_index"] for its in rows.values()):
        raise SystemExit(f"{what}, {kind}: other rows: {rows}")
    times = ""
    if kind in ("halves", "one row's"):
        once = [(n, its) for n, its in zip(rows["bloom_index"], patterns) if n <= 1]
        patterns = [its for _, its in once][:20]
        if patterns:
            found = race({name: (counter, bound(SQL[name]), patterns) for name in contestants}, 5)
            for name, its in found.seconds.items():
                report.keep(f"text {what}, {kind}, warm", name, "seconds", its)
            times = f"; {1e6 * found.least('bloom_index'):.0f} us, the scan {scan.seconds / found.least('bloom_index'):,.0f}x"
    others = ", ".join(said[name] for name in contestants[1:])
    report.say(f"{what}: {kind} (FTS5 {', '.join(name[5:] for name in contestants[1:])})", f"{said['bloom_index']} ({others}){times}",
               GOALS.get((what, kind), "") + (" 100 us" if times and what == "log" and kind == "one row's" else ""))


# -- The ends of texts ------------------------------------------------------------------------------

def pages_of_blocks(counter, ids, table="log"):
    """Pages of the table's blocks that hold these rows."""
    layout = values(counter, "SELECT layout FROM by_bloom_state")[0][0]
    shift = int.from_bytes(layout[60:64], "little")
    blocks = sorted({id >> shift for id in ids})
    sql = (f"SELECT sum(length(t.trace_id)) FROM json_each(?) r CROSS JOIN {table} t"
           f" ON t.id BETWEEN r.value << {shift} AND (r.value + 1 << {shift}) - 1")
    return counter.pages(sql, [str(blocks)])[0]


def measure_prefixes(report, path, num_rows, num_prefixes=40):
    report.num_rows = num_rows
    counter = copy_of(path)
    counter.execute("CREATE VIRTUAL TABLE by_bloom USING bloom_index(log, trace_id LIKE)")
    merge(counter)
    size = size_of(counter, "by_bloom_") / (16 * num_rows)
    draw = random.Random(5)
    prefixes = [f"{draw.getrandbits(16):04x}" for _ in range(num_prefixes)]
    pages = counter.pages("SELECT * FROM by_bloom WHERE trace_id LIKE ?", [its + "%" for its in prefixes])
    ideal = [pages_of_blocks(counter, [id for id, in values(counter, "SELECT id FROM log WHERE trace_id LIKE ?", its + "%")]) for its in prefixes]
    ratio = mean(pages) / mean(ideal)
    report.keep("prefix of 4 digits", "bloom_index", "pages", pages)
    report.keep("prefix of 4 digits", "blocks", "pages", ideal)
    report.say("prefix of 4 hex digits: pages (of its blocks)", f"{mean(pages):.0f} ({mean(ideal):.0f}), {ratio:.2f}x; {100 * size:.1f} % of the text", "1.5x")
    remove(counter)


def measure_numbers(report, num_rows=100_000):
    """Steps of `ip = '10.2.3.4'` and the like, of the scan's."""
    report.num_rows = num_rows
    draw = random.Random(6)
    counter = copy_of(None)
    db = harness.connect(counter.path)
    db.executescript("CREATE TABLE log(id INTEGER PRIMARY KEY, ip TEXT, phone TEXT, isbn TEXT); BEGIN")
    rows = [(f"10.{draw.randrange(256)}.{draw.randrange(256)}.{draw.randrange(256)}", f"+49 {draw.randrange(100, 1000)} {draw.randrange(10**7):07}",
             f"978-{draw.randrange(10)}-{draw.randrange(10**5):05}-{draw.randrange(10**3):03}-{draw.randrange(10)}") for _ in range(num_rows)]
    db.executemany("INSERT INTO log(ip, phone, isbn) VALUES (?, ?, ?)", rows)
    db.execute("COMMIT")
    db.close()
    counter.execute("CREATE VIRTUAL TABLE by_bloom USING bloom_index(log, ip LIKE, phone LIKE, isbn LIKE)")
    counter.execute("CREATE VIRTUAL TABLE by_key USING bloom_index(log, ip, phone, isbn)")
    merge(counter)
    merge(counter, "by_key")
    for i, column in enumerate(("ip", "phone", "isbn")):
        some = [rows[j][i] for j in range(0, num_rows, num_rows // 20)]
        steps = {}
        for name, table in (("bloom_index", "by_bloom"), ("key", "by_key"), ("scan", "log")):
            counts = counter.run(f"SELECT id FROM {table} WHERE {column} = ?", some if table != "log" else some[:3], cold=False, steps=True)
            steps[name] = [its.steps for its in counts]
            report.keep(f"number {column}", name, "steps", steps[name])
        like = counter.run(f"SELECT id FROM by_bloom WHERE {column} LIKE ?", [f"%{its[:-1]}%" for its in some], cold=False, steps=True)
        report.say(f"{column} = '{some[0]}': steps of the scan's; as a key; LIKE",
                   f"{mean(steps['bloom_index']) / mean(steps['scan']):.4f}; {mean(steps['key']) / mean(steps['scan']):.4f}; "
                   f"{mean([its.steps for its in like]) / mean(steps['scan']):.4f}", "0.05")
    remove(counter)
