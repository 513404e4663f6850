#!/usr/bin/python3
"""
Keys: what a bloom_index of one takes beside a B-tree index, and what ids and values of many kinds cost it.

    index_keys.py [ROWS ...]     from the top of the checkout; without, 100000000: 6 GB, and ten minutes

Tables of up to a million rows are logs (index_log.py); larger ones have ids and keys alone.
"""
import random
import sys

import harness
import index_log
from counts import Counter, race
from index_report import KEY, Report, copy_of, mean, merge, remove, size_of, values

LARGEST_LOG = 1_000_000
FILL = """INSERT INTO log WITH RECURSIVE n(i) AS (VALUES ({first}) UNION ALL SELECT i + 1 FROM n WHERE i < {last})
 SELECT i, printf('%08x%08x', i * 2654435761 % 4294967296, i) FROM n"""
CREATE = "CREATE VIRTUAL TABLE by_bloom USING bloom_index(log, trace_id, unmerged)"
SIZES = {100_000: "", 1_000_000: "2.8 B", 10_000_000: "3.1 B", 100_000_000: "3.6 B"}


def key_of(number):
    return f"{number * 2654435761 % 2**32:08x}{number:08x}"


def keys_alone(num_rows):
    def fill(db):
        db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, trace_id TEXT)")
        db.execute(FILL.format(first=1, last=num_rows))
    return harness.database(f"keys-{num_rows}", fill, __file__)


def absent_keys(num_keys):
    draw = random.Random("absent keys")  # a number below 100 is a seed of the log's, which has its keys
    return [f"{draw.getrandbits(64):016x}" for _ in range(num_keys)]


def present_keys(counter, num_rows, num_keys):
    draw = random.Random(24)
    return [values(counter, "SELECT trace_id FROM log WHERE id = ?", draw.randint(1, num_rows))[0][0] for _ in range(num_keys)]


def measure(report, num_rows, num_builds=3, num_turns=7):
    """Sizes, merges, pages and times of one table."""
    report.num_rows = num_rows
    path = index_log.database(num_rows) if num_rows <= LARGEST_LOG else keys_alone(num_rows)
    bloom, tree = copy_of(path), copy_of(path, "-tree")
    seconds = {"bloom_index": [], "index": []}
    for turn in range(num_builds):
        if turn:
            bloom.execute("DROP TABLE by_bloom")
            tree.execute("DROP INDEX by_tree")
        bloom.execute(CREATE)
        seconds["bloom_index"].append(merge(bloom).seconds)
        seconds["index"].append(tree.execute("CREATE INDEX by_tree ON log(trace_id)").seconds)
    for name, its in seconds.items():
        report.keep("key, build", name, "seconds", its)
    ratio = harness.statistics.median(i / b for i, b in zip(seconds["index"], seconds["bloom_index"]))
    report.say("key: merge over CREATE INDEX", f"{ratio:.2f}x, {num_rows / min(seconds['bloom_index']) / 1e6:.2f} million rows/s", "3x")
    space = {"bloom_index": size_of(bloom, "by_bloom_") / num_rows, "index": size_of(tree, "by_tree") / num_rows}
    for name, its in space.items():
        report.keep("key, space", name, "bytes a row", its)
    report.say("key: bytes a row (index)", f"{space['bloom_index']:.2f} ({space['index']:.1f})", SIZES.get(num_rows, ""))
    pages_and_times(report, bloom, tree, num_rows, num_turns)
    remove(bloom)
    remove(tree)


def pages_and_times(report, bloom, tree, num_rows, num_turns, grown=""):
    asked = {"absent": (absent_keys(200), {1_000_000: "9", 100_000_000: "12"}, "2.5x"),
             "present": (present_keys(bloom, num_rows, 200), {1_000_000: "14", 100_000_000: "18"}, "6x")}
    for what, (keys, goals, goal) in asked.items():
        pages = {"bloom_index": bloom.pages(KEY.format("by_bloom"), keys)}
        pages["fresh"] = [fresh(bloom.path, KEY.format("by_bloom"), key) for key in keys[:20]]
        if tree:
            pages["index"] = tree.pages(KEY.format("log"), keys)
            pages["fresh index"] = [fresh(tree.path, KEY.format("log"), key) for key in keys[:20]]
        said = {name: report.pages(f"key, {what}{grown}", name, its) for name, its in pages.items()}
        report.say(f"key {what}{grown}: pages, median/mean (index)",
                   f"{said['bloom_index']} ({said.get('index', '')}); fresh connection {said['fresh']} ({said.get('fresh index', '')})", goals.get(num_rows, ""))
        if tree:
            times = race({"bloom_index": (bloom, KEY.format("by_bloom"), keys), "index": (tree, KEY.format("log"), keys)}, num_turns)
            for name, its in times.seconds.items():
                report.keep(f"key, {what}{grown}", name, "seconds", its)
            report.say(f"key {what}{grown}: warm, over the index's time",
                       f"{times.over('bloom_index', 'index'):.2f}x ({1e6 * times.least('bloom_index'):.2f} us; {1e6 * times.least('index'):.2f} us)", goal)


def fresh(path, sql, value):
    counter = Counter(path)
    pages = counter.pages(sql, [value])[0]
    counter.close()
    return pages


# -- Ids and values of many kinds ------------------------------------------------------------------

def shapes(num_rows):
    """{name: ids in the order in which they come}"""
    draw = random.Random(7)
    half = num_rows // 2
    return {
        "dense": range(1, num_rows + 1),
        "with holes": sorted(draw.sample(range(1, 5 * num_rows), num_rows)),
        "descending": range(num_rows, 0, -1),
        "two interleaved": [i // 2 + 1 + (i % 2) * 10**9 for i in range(num_rows)],
        "worker << 48 | seq": [(i % 16) << 48 | i // 16 for i in range(num_rows)],
        "snowflakes": [(1_000_000 + i // 8 * 3) << 22 | (i % 8) for i in range(num_rows)],
        "snowflakes, one a ms": [(1_000_000 + i) << 22 | (i * 7 % 32) << 12 for i in range(num_rows)],
        "random 63 bits": [draw.getrandbits(63) for _ in range(num_rows)],
        "negative": range(-num_rows, 0),
        "both ends of 64 bits": [-2**63, 2**63 - 1, *range(1, num_rows - 1)],
        **mixtures(draw, num_rows),
    }


def mixtures(draw, num_rows):
    """{name: ids that are dense in one place and far apart in another}"""
    def dense(num, first=1):
        return range(first, first + num)

    def far_apart(num):
        return [draw.getrandbits(62) for _ in range(num)]

    def stretches(num, length):
        return [id for first in far_apart(num) for id in dense(length, first)]
    tenth = num_rows // 10
    return {
        "half dense, half random": [*dense(5 * tenth), *far_apart(5 * tenth)],
        "dense, a tenth random": [*dense(9 * tenth), *far_apart(tenth)],
        "random, a tenth dense": [*dense(tenth), *far_apart(9 * tenth)],
        "two dense ranges, half random": [*dense(3 * tenth), *dense(2 * tenth, 10**15), *far_apart(5 * tenth)],
        "dense stretches of 200": stretches(num_rows // 200, 200),
        "stretches of 200, half random": [*stretches(num_rows // 400, 200), *far_apart(5 * tenth)],
        "one left of a hundred": sorted(draw.sample(range(1, 100 * num_rows), num_rows)),
        "gaps that grow": [i + int(2**(62 * i / num_rows)) for i in range(1, num_rows + 1)],
        "dense, then snowflakes": [*dense(5 * tenth), *((10**9 + i // 8 * 3) << 22 | i % 8 for i in range(5 * tenth))],
    }


def values_of(num_rows):
    draw = random.Random(8)
    return {
        "8 values": lambda i: f"{draw.randrange(8)}",
        "1,000 values": lambda i: f"value {draw.randrange(1000)}",
        "100,000 values": lambda i: f"value {draw.randrange(100_000)}",
        "skewed": lambda i: f"value {int(num_rows ** draw.random())}",
        "all equal": lambda i: "value",
    }


def fill_rows(counter, rows, merged_by=0):
    """Rows (id, trace_id), with 90 bytes more; merged as they come, or at the end."""
    db = harness.connect(counter.path)
    db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE TABLE log(id INTEGER PRIMARY KEY, trace_id TEXT, message TEXT)")
    db.execute(CREATE)
    for first in range(0, len(rows), merged_by or len(rows)):
        db.execute("BEGIN")
        db.executemany("INSERT INTO log VALUES (?, ?, ?)", ((*row, f"{row[1]:.90}".ljust(90, "m")) for row in rows[first:first + (merged_by or len(rows))]))
        db.execute("COMMIT")
        db.execute("INSERT INTO by_bloom(by_bloom) VALUES ('merge')")
    db.close()


def measure_shapes(report, num_rows, merged_by=1000):
    report.num_rows = num_rows
    for name, ids in shapes(num_rows).items():
        said = []
        for how in 0, merged_by:
            counter = copy_of(None)
            fill_rows(counter, [(id, key_of(i)) for i, id in enumerate(ids)], how)
            space = size_of(counter, "by_bloom_") / num_rows
            absent = counter.pages(KEY.format("by_bloom"), absent_keys(100))
            present = counter.pages(KEY.format("by_bloom"), [key_of(i * 7919 % num_rows) for i in range(100)])
            what = f"ids, {name}{', grown' if how else ''}"
            report.keep(what, "bloom_index", "bytes a row", space)
            report.keep(what + ", absent", "bloom_index", "pages", absent)
            report.keep(what + ", present", "bloom_index", "pages", present)
            said.append(f"{space:.2f} B, {mean(absent):.1f}, {mean(present):.1f}")
            remove(counter)
        report.say(f"ids {name}: B a row, pages absent, present", f"{said[0]}; grown {said[1]}", "")


def measure_equal(report, num_rows):
    report.num_rows = num_rows
    for name, value in values_of(num_rows).items():
        counter = copy_of(None)
        keys = [value(i) for i in range(num_rows)]
        fill_rows(counter, [(i + 1, key) for i, key in enumerate(keys)])
        space = size_of(counter, "by_bloom_entries") / num_rows
        some = keys[::num_rows // 30]
        times = counter.run("SELECT count(*) FROM by_bloom WHERE trace_id = ?", some, cold=False)
        scan = counter.run("SELECT count(*) FROM log WHERE trace_id = ?", some[:3], cold=False)
        absent = counter.pages(KEY.format("by_bloom"), absent_keys(30))
        report.keep(f"keys, {name}", "bloom_index", "bytes a row", space)
        report.keep(f"keys, {name}, absent", "bloom_index", "pages", absent)
        share = harness.statistics.median(its.seconds for its in times) / harness.statistics.median(its.seconds for its in scan)
        report.say(f"{name}: B a row, pages absent; of the scan's time", f"{space:.3f} B, {mean(absent):.1f}; {share:.4f}", "")
        remove(counter)


def main():
    report = Report("large", "full")
    for num_rows in map(int, sys.argv[1:] or ["100000000"]):
        measure(report, num_rows, 1)


if __name__ == "__main__":
    main()
