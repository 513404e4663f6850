"""
What the parts of test/bench/index.py share: files to work in, sizes, and the table that they print.
"""
import glob
import os
import shutil

import harness
from counts import Counter

WORK = os.path.join(harness.FOLDER, f"index-work-{os.getpid()}.db")
KEY = "SELECT * FROM {} WHERE trace_id = ?"


def copy_of(path, name=""):
    """A Counter of a copy, in which nothing waits for a disk; of an empty file without a path."""
    work = WORK + name
    harness.remove_database(work)
    os.makedirs(harness.FOLDER, exist_ok=True)
    if path:
        shutil.copyfile(path, work)
    counter = Counter(work)
    counter.path = work
    for pragma in ("journal_mode = OFF", "synchronous = OFF"):
        counter.execute("PRAGMA " + pragma)
    return counter


def remove(counter):
    if counter:
        counter.close()
        harness.remove_database(counter.path)


def remove_all():
    """What an interrupted run leaves."""
    for path in glob.glob(WORK + "*"):
        os.remove(path)


def merge(counter, name="by_bloom", how="merge"):
    return counter.execute(f"INSERT INTO {name}({name}) VALUES ('{how}')")


def values(counter, sql, *arguments):
    """What a query finds, in a connection of its own."""
    db = harness.connect(counter.path)
    found = db.execute(sql, arguments).fetchall()
    db.close()
    return found


def size_of(counter, *prefixes):
    """Bytes of all tables and indexes whose names begin so, by pages: of more than 2 GiB dbstat's pgsize overflows."""
    where = " OR ".join("name GLOB ?" for _ in prefixes)
    return 4096 * values(counter, f"SELECT sum(pageno) FROM dbstat WHERE ({where}) AND aggregate = TRUE", *[its + "*" for its in prefixes])[0][0]


def mean(numbers):
    return sum(numbers) / len(numbers)


class Report:
    """Writes raw rows, and prints lines with what is to be reached."""

    def __init__(self, part, size):
        self.results = harness.Results(f"index_{part}", ("rows", "what", "contestant", "unit", "repeat", "value"), size)
        self.num_rows = 0
        print(f"SQLite {harness.sqlite3.sqlite_version}, {part}\n{'rows':>10} | {'what':52} | {'measured':58} | goal")

    def keep(self, what, contestant, unit, its):
        for repeat, value in enumerate(its if isinstance(its, list) else [its]):
            self.results.row(self.num_rows, what, contestant, unit, repeat, value)

    def say(self, what, measured, goal=""):
        print(f"{self.num_rows:>10,} | {what:52} | {measured:58} | {goal}", flush=True)

    def pages(self, what, contestant, its):
        """Keeps pages, and says them."""
        self.keep(what, contestant, "pages", its)
        return f"{harness.statistics.median(its):.0f}/{mean(its):.1f}"
