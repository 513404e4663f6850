"""
A connection that counts: the pages and the steps that a statement takes, and the time beside another's.

Pages read are those that SQLite does not find in its page cache, page 1 included.  `cold` empties the
cache before each value: then they are the same in every run, on every machine.
"""
import ctypes
import os
import subprocess
from dataclasses import dataclass

import harness


class Counts(ctypes.Structure):
    _fields_ = [("rows", ctypes.c_int64), ("pages_read", ctypes.c_int64), ("pages_written", ctypes.c_int64),
                ("steps", ctypes.c_int64), ("seconds", ctypes.c_double)]


def library():
    """counts.c, compiled; it takes the SQLite that Python has."""
    path = os.path.join(harness.FOLDER, f"counts-{harness.sqlite3.sqlite_version}.so")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "counts.c")
    if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(source):
        os.makedirs(harness.FOLDER, exist_ok=True)
        subprocess.run([*os.environ.get("CC", "cc").split(), "-O2", "-Wall", "-fPIC", "-shared", "-o", path + ".new", source, "-lsqlite3"], check=True)
        os.rename(path + ".new", path)
    loaded = ctypes.CDLL(path)
    texts = ctypes.POINTER(ctypes.c_char_p)
    loaded.counts_open.restype = ctypes.c_void_p
    loaded.counts_message.restype = ctypes.c_char_p
    loaded.counts_time.restype = ctypes.c_double
    loaded.counts_open.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
    loaded.counts_close.argtypes = loaded.counts_message.argtypes = [ctypes.c_void_p]
    loaded.counts_run.argtypes = [ctypes.c_void_p, ctypes.c_char_p, texts, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.POINTER(Counts)]
    loaded.counts_time.argtypes = [ctypes.c_void_p, ctypes.c_char_p, texts, ctypes.c_int, ctypes.c_int]
    return loaded


def texts_of(values):
    return (ctypes.c_char_p * max(1, len(values)))(*[str(value).encode() for value in values])


class Counter:
    loaded = None

    def __init__(self, path):
        Counter.loaded = Counter.loaded or library()
        self.db = self.loaded.counts_open(path.encode(), harness.EXTENSION.encode())
        if not self.db:
            raise RuntimeError(f"{path}: not opened")

    def close(self):
        if self.db:
            self.loaded.counts_close(self.db)
        self.db = None

    def check(self, is_good, sql):
        if not is_good:
            raise RuntimeError(f"{sql}: {self.loaded.counts_message(self.db).decode()}")

    def run(self, sql, values=("",), cold=True, steps=False):
        """The Counts of a statement with each value."""
        out = (Counts * len(values))()
        rc = self.loaded.counts_run(self.db, sql.encode(), texts_of(values), len(values), cold, steps, out)
        self.check(rc == 0, sql)
        return list(out)

    def execute(self, sql):
        return self.run(sql, cold=False)[0]

    def pages(self, sql, values):
        return [its.pages_read for its in self.run(sql, values)]

    def seconds(self, sql, values, num_runs):
        """Of one value, with a cache that has what it needs; of sqlite3_prepare_v2() without values."""
        seconds = self.loaded.counts_time(self.db, sql.encode(), texts_of(values), len(values), num_runs)
        self.check(seconds >= 0, sql)
        return seconds / num_runs / max(1, len(values))


@dataclass
class Race:
    seconds: dict  # {contestant: [seconds of each run]}

    def least(self, name):
        return min(self.seconds[name])

    def over(self, name, other):
        """How many times the other's time: the median of the ratios within one turn."""
        return harness.statistics.median(a / b for a, b in zip(self.seconds[name], self.seconds[other]))


def race(contestants, num_turns=7, least=0.02):
    """contestants: {name: (counter, sql, values)}, which take turns; each once before, untimed."""
    found = {name: [] for name in contestants}
    runs = {}
    for name, (counter, sql, values) in contestants.items():
        counter.seconds(sql, values, 1)
        once = counter.seconds(sql, values, 1) * max(1, len(values))
        runs[name] = max(1, round(least / max(once, 1e-7)))
    shuffle = harness.random.Random(1)
    for _ in range(num_turns):
        for name in shuffle.sample(list(contestants), len(contestants)):
            counter, sql, values = contestants[name]
            found[name].append(counter.seconds(sql, values, runs[name]))
    return Race(found)
