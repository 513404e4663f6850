"""
What the benchmarks in Python share: opening a database with the extension,
timing contestants in turns, and keeping every time measured.

test/bench/run.sh sets the environment:

  BENCH_EXTENSION  the extension to load, built with optimisation
  BENCH_MACHINE    the CPU, the day, the commit, and the compiler and flags the extension was built with
  BENCH_RESULTS    the folder of the raw rows
  BENCH_FOLDER     where databases go; build/bench

Without run.sh: ./bloom.so is measured, and nothing is kept.
"""
import glob
import os
import random
import sqlite3
import statistics
import sys
import time
import zlib

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
EXTENSION = os.environ.get("BENCH_EXTENSION", os.path.join(ROOT, "bloom.so"))
FOLDER = os.environ.get("BENCH_FOLDER", os.path.join(ROOT, "build", "bench"))


def connect(path=":memory:", cache_mb=None):
    """A connection that has the extension; cache_mb: SQLite's page cache, NULL its own 2 MB."""
    db = sqlite3.connect(path, isolation_level=None)
    db.enable_load_extension(True)
    db.load_extension(EXTENSION)
    if cache_mb is not None:
        db.execute(f"PRAGMA cache_size = {-1024 * cache_mb}")
    return db


def numbers(count, first=1):
    """A WITH clause: numbers(n), first and the following, in order."""
    return (f"WITH RECURSIVE numbers(n) AS (SELECT {first} UNION ALL"
            f" SELECT n + 1 FROM numbers LIMIT {count}) ")


def database(name, fill, program=None):
    """The path of a database that fill(db) fills; it is kept in FOLDER until the program that makes it changes."""
    with open(program or sys.argv[0], "rb") as program:
        path = os.path.join(FOLDER, f"{name}-{zlib.crc32(program.read()):08x}.db")
    if not os.path.exists(path):
        os.makedirs(FOLDER, exist_ok=True)
        for old in glob.glob(os.path.join(FOLDER, name + "-????????.db")):
            os.remove(old)
        print(f"generating {os.path.relpath(path)} ...", file=sys.stderr, flush=True)
        half_done = f"{path}.{os.getpid()}"
        try:
            db = connect(half_done, 512)
            db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;")
            fill(db)
            db.execute("COMMIT")
            db.close()
            os.rename(half_done, path)
        finally:
            if os.path.exists(half_done):
                os.remove(half_done)
    return path


def remove_database(path):
    for suffix in ("", "-journal", "-wal", "-shm"):
        if os.path.exists(path + suffix):
            os.remove(path + suffix)


def timed(run):
    """Seconds of the processor."""
    start = time.process_time()
    run()
    return time.process_time() - start


class Results:
    """Raw rows, one a measurement, in $BENCH_RESULTS/<what>-sqlite-<version>.tsv; fold.py reads them by the column repeat."""

    def __init__(self, what, columns, note, keep=True):
        self.file = None
        if keep and "BENCH_RESULTS" in os.environ:
            self.file = open(f"{os.environ['BENCH_RESULTS']}/{what}-sqlite-{sqlite3.sqlite_version}.tsv", "w", encoding="utf-8")
            self.file.write(f"# {os.environ.get('BENCH_MACHINE', '')}; SQLite {sqlite3.sqlite_version}\n# {note}\n")
            self.row(*columns)

    def row(self, *values):
        if self.file:
            self.file.write("\t".join(f"{v:.6g}" if isinstance(v, float) else str(v) for v in values) + "\n")
            self.file.flush()

    def race(self, times, *columns):
        """What race() gave: the columns, then contestant, repeat and seconds."""
        for name, its in times.items():
            for repeat, seconds in enumerate(its.seconds):
                self.row(*columns, name, repeat, seconds)


class Times:
    """Seconds of one contestant, a number a repeat."""

    def __init__(self):
        self.seconds = []
        self.result = None

    median = property(lambda self: statistics.median(self.seconds))

    def spread(self):
        """The run furthest from the median, as a share of it."""
        return max(abs(s / self.median - 1) for s in self.seconds)


SHORT = 0.1  # seconds
LEAST = 0.02


def race(contestants, repeats):
    """
    Times functions in turns, so that a slow moment of the machine hits all:
    {name: function} -> {name: Times}.  The order is drawn anew every repeat, the
    same in every run of the program, and a short function runs once untimed
    before: it would meet the caches and the freed memory of the one before it.
    It is then timed over several runs.  All must give the same result, or the
    benchmark ends here.  Times are of the processor, user and system: files are
    in the system's cache, so there is no disk to wait for, and other programs do
    not count.
    """
    times = {name: Times() for name in contestants}
    warm = {}

    def timed(name, num_runs):
        start = time.process_time()
        for _ in range(num_runs):
            times[name].result = contestants[name]()
        return (time.process_time() - start) / num_runs

    for name in contestants:
        warm[name] = timed(name, 1)
    shuffle = random.Random(1)
    for _ in range(repeats):
        for name in shuffle.sample(list(contestants), len(contestants)):
            if warm[name] < SHORT:
                contestants[name]()
            times[name].seconds.append(timed(name, max(1, round(LEAST / max(warm[name], 1e-6)))))
    first = next(iter(times.values())).result
    for name, its in times.items():
        if its.result != first:
            sys.exit(f"different results: {name}: {its.result}, {next(iter(times))}: {first}")
    return times


def faster(plain, contestant):
    """How many times faster a contestant is: the median of the ratios within one repeat."""
    return statistics.median(p / c for p, c in zip(plain.seconds, contestant.seconds))
