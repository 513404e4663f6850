"""
What the benchmarks in Python share: opening a database with the extension,
timing contestants in turns, and keeping every time measured.

test/bench/run.sh sets the environment:

  BENCH_EXTENSION  the extension to load, built with optimisation
  BENCH_BUILD      the compiler and flags it was built with
  BENCH_RESULTS    where raw results go: a folder and the machine's name
  BENCH_PLOTS      where databases and plots go; build/bench

Without run.sh: ./bloom.so is measured, and nothing is kept.
"""
import glob
import os
import sqlite3
import statistics
import subprocess
import sys
import time
import zlib

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
EXTENSION = os.environ.get("BENCH_EXTENSION", os.path.join(ROOT, "bloom.so"))
PLOTS = os.environ.get("BENCH_PLOTS", os.path.join(ROOT, "build", "bench"))


def machine():
    """The model of the CPU."""
    try:
        with open("/proc/cpuinfo", encoding="ascii") as cpuinfo:
            return next(line.split(":", 1)[1].strip() for line in cpuinfo if line.startswith("model name"))
    except (OSError, StopIteration):
        return os.uname().machine


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


def database(name, fill):
    """The path of a database that fill(db) fills; it is kept in PLOTS until the program changes."""
    with open(sys.argv[0], "rb") as program:
        path = os.path.join(PLOTS, f"{name}-{zlib.crc32(program.read()):08x}.db")
    if not os.path.exists(path):
        os.makedirs(PLOTS, exist_ok=True)
        for old in glob.glob(os.path.join(PLOTS, name + "-????????.db")):
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


class Results:
    """Raw results: one row a measurement, in <machine>-<what>-sqlite-<version>.tsv."""

    def __init__(self, what, columns):
        self.file = None
        if "BENCH_RESULTS" in os.environ:
            self.file = open(f"{os.environ['BENCH_RESULTS']}-{what}-sqlite-{sqlite3.sqlite_version}.tsv", "w", encoding="utf-8")
            self.comment(f"{machine()}; {os.environ.get('BENCH_BUILD', '')}; SQLite {sqlite3.sqlite_version}")
            self.row(*columns)

    def comment(self, text):
        if self.file:
            self.file.write(f"# {text}\n")

    def row(self, *values):
        if self.file:
            self.file.write("\t".join(f"{v:.6g}" if isinstance(v, float) else str(v) for v in values) + "\n")
            self.file.flush()


class Times:
    """Seconds of one contestant, a number a repeat."""

    def __init__(self):
        self.seconds = []
        self.result = None

    median = property(lambda self: statistics.median(self.seconds))

    def spread(self):
        """The run furthest from the median, as a share of it."""
        return max(abs(s / self.median - 1) for s in self.seconds)


def race(contestants, repeats, warm_up=True):
    """
    Times functions in turns, so that a slow moment of the machine hits all:
    {name: function} -> {name: Times}.  The order turns round every time.  All
    must give the same result, or the benchmark ends here.  Times are of the
    processor, user and system: files are in the system's cache, so there is no
    disk to wait for, and other programs do not count.
    """
    times = {name: Times() for name in contestants}
    order = list(contestants)
    for repeat in range(-1 if warm_up else 0, repeats):
        for name in order:
            start = time.process_time()
            result = contestants[name]()
            elapsed = time.process_time() - start
            if repeat >= 0:
                times[name].seconds.append(elapsed)
            times[name].result = result
        order.reverse()
    first = order[0]
    for name in order:
        if times[name].result != times[first].result:
            sys.exit(f"different results: {name}: {times[name].result}, {first}: {times[first].result}")
    return times


def faster(plain, contestant):
    """How many times faster a contestant is: the median of the ratios within one repeat."""
    return statistics.median(p / c for p, c in zip(plain.seconds, contestant.seconds))


def gnuplot(name, script):
    """Writes PLOTS/name.svg; script plots.  Without gnuplot: says so, once for each plot."""
    os.makedirs(PLOTS, exist_ok=True)
    path = os.path.join(PLOTS, name + ".svg")
    try:
        subprocess.run(["gnuplot"], check=True, text=True, input=(
            "set terminal svg size 900,600 font 'sans,14' background rgb 'white'\n"
            f"set output '{path}'\nset grid\nset key outside right\n" + script))
        print(f"wrote {os.path.relpath(path)}")
    except FileNotFoundError:
        print(f"no {name}.svg: gnuplot is missing")
