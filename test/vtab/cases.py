"""What the tests of the virtual table share; it is no test itself.

A test is a function that takes a Files. Each runs in a process of its own, so that a crash or
an endless loop is one failure.

What these tests take as the interface, where it could be otherwise:
- The row of facts has a column `note`: NULL if there is nothing to say, else a text that says
  why every key may be in the filter, or that 'rebuild' pays, and names the command.
- Where every key may be in the filter, look-ups return a row for each key that is not NULL,
  and the handle makes bloom_may_contain() return 1.
- Objects in the schema are found there: the shadow tables of f are the tables f_*, its
  triggers are those that a test has not made.
"""
import argparse
import collections
import ctypes
import itertools
import os
import re
import shutil
import signal
import sqlite3
import sys
import tempfile
import traceback
from random import Random

TESTS = []
SECONDS = 120  # for one test, sanitizers included
SKIPPED = 77

# No test here is about the disk, and SQLite waits for it after each statement.
MEMORY = "/dev/shm"
FOLDER = MEMORY if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 1 << 30 else None


class Skip(Exception):
    """Something that the test needs is not here."""


def test(function):
    TESTS.append(function)
    return function


def slow(function):
    """Marks a test that takes seconds, or frameworks: it runs with --slow only, or by its name."""
    function.is_slow = True
    return function


def case(function, name, *args):
    """Adds function(files, *args) as a test of its own."""
    def run(files):
        function(files, *args)
    run.__name__ = function.__name__ + ": " + name
    run.is_slow = getattr(function, "is_slow", False)
    run.family, run.words = function, re.split(", |: ", name)
    TESTS.append(run)


def each(*choices):
    """Makes a test of each combination of these: of a list a value, which names itself, and of a dict one that its key names, or
    nothing if that is empty. A tuple is several arguments."""
    def name_of(value):
        return ", ".join(map(name_of, value)) if isinstance(value, tuple) else getattr(value, "__name__", str(value))

    def add(function):
        lists = [choice.items() if isinstance(choice, dict) else [(name_of(value), value) for value in choice] for choice in choices]
        for chosen in itertools.product(*lists):
            arguments = [value if isinstance(value, tuple) else (value,) for _, value in chosen]
            case(function, ", ".join(name for name, _ in chosen if name), *itertools.chain(*arguments))
        return function
    return add


def sample():
    """Of a function's cases a third, three at least: those that have a word in their names that none before them has, in
    a shuffled order that is always the same. So of a product of few arguments each value is tried."""
    left = collections.Counter(getattr(each, "family", each) for each in TESTS)
    left = {family: max(3, num_cases // 3) for family, num_cases in left.items()}
    seen, chosen = set(), set()
    for each in Random(1).sample(TESTS, len(TESTS)):
        family = getattr(each, "family", each)
        words = {(family, place, word) for place, word in enumerate(getattr(each, "words", ""))}
        if left[family] and (not words or not words <= seen):
            left[family] -= 1
            chosen.add(each)
            seen |= words
    TESTS[:] = [each for each in TESTS if each in chosen]


def connect(path, load=None, **options):
    options.setdefault("isolation_level", None)
    db = sqlite3.connect(path, **options)
    if load:
        db.enable_load_extension(True)
        db.load_extension(load)
    return db


class Files:
    def __init__(self, load, folder):
        self.load = os.path.abspath(load)
        self.folder = folder
        self.path = self.file("db")

    def file(self, name):
        return os.path.join(self.folder, name)

    def connect(self, path=None, load=True, **options):
        return connect(path or self.path, self.load if load else None, **options)

    def load_into(self, db):
        db.enable_load_extension(True)
        db.load_extension(self.load)

    def library(self):
        """The extension's file as another program may have it, a copy under the same name."""
        path = self.load if os.path.exists(self.load) else self.load + ".so"
        os.makedirs(self.file("copy"), exist_ok=True)
        return shutil.copy(path, os.path.join(self.folder, "copy", "bloom.so"))


def image(path):
    with open(path, "rb") as file:
        return file.read()


def needs_deserialize(db):
    if not hasattr(db, "deserialize"):
        raise Skip("Python 3.11's deserialize()")


def one(db, sql, *args):
    return db.execute(sql, args).fetchone()[0]


def column(db, sql, *args):
    return [row[0] for row in db.execute(sql, args).fetchall()]


def execute(db, *statements):
    for sql in statements:
        db.execute(sql)


def error_of(db, sql, *args):
    """The error that SQL ends with, or None."""
    try:
        db.execute(sql, args).fetchall()
    except sqlite3.Error as error:
        return error
    return None


def stop_after(db, num_calls, num_steps):
    """Interrupts what runs when the progress handler, called each num_steps, is called for the num_calls-th time."""
    left = [num_calls]

    def tick():
        left[0] -= 1
        return left[0] <= 0

    db.set_progress_handler(tick, num_steps)


def checksummed(layout):
    """The 320 bytes of a filter's layout, with their checksum."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/formats"))
    from parquet_filter import hash as xxh64
    return bytes(layout) + xxh64(bytes(layout)).to_bytes(8, "little")


def without_chain(db, filter_="f"):
    """Makes a filter one of an older version: its layout does not say that the journal's rows are a chain, and its triggers have no OF, and write random() alone."""
    layout = bytearray(one(db, 'SELECT bytes FROM "%s_pages" WHERE rowid = 1' % filter_)[:320])
    layout[28:32] = bytes(4)
    db.execute('UPDATE "%s_pages" SET bytes = ? WHERE rowid = 1' % filter_, (checksummed(layout),))
    for name, text in db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%_new%' ORDER BY rowid").fetchall():
        db.execute('DROP TRIGGER "%s"' % name)
        text = re.sub(r' OF "[^"]*"(, "[^"]*")* ON', " ON", text)
        db.execute(re.sub(r"\(random\(\) << 24\) \| \(SELECT .*\)\); END", "random()); END", text))


def fails(db, sql, *words):
    error = error_of(db, sql)
    assert error is not None, "no error: " + sql
    for word in words:
        assert word.lower() in str(error).lower(), "%s: %s" % (sql, error)
    return error


def expect(value, wanted, what=""):
    assert value == wanted, "%s%r, not %r" % (what and what + ": ", value, wanted)


def instructions(db, sql):
    """How many of SQLite's virtual machine a query takes, compiled anew, and its value."""
    count = [0]

    def tick():
        count[0] += 1
        return 0
    db.set_progress_handler(tick, 1)
    found = one(db, sql)
    db.set_progress_handler(None, 0)
    return count[0], found


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


class Text(bytes):
    """A TEXT as SQLite has its bytes, beside bytes, which are a BLOB."""


def literal(value):
    if value is None:
        return "NULL"
    if isinstance(value, Text):
        return "CAST(x'%s' AS TEXT)" % value.hex()
    if value in (float("inf"), float("-inf")):
        return "9e999" if value > 0 else "-9e999"
    if value == -2**63:
        return "(-9223372036854775807 - 1)"
    if isinstance(value, bytes):
        return "x'%s'" % value.hex()
    if isinstance(value, str):
        return "CAST(x'%s' AS TEXT)" % value.encode().hex() if "\0" in value else "'" + value.replace("'", "''") + "'"
    return repr(value)


def as_sql(sql, parameters):
    """A statement to print, with its parameters in place."""
    parts = sql.split("?")
    if len(parts) != len(parameters) + 1:
        return "%s; -- %r" % (sql, parameters)
    return "".join(part + (literal(parameters[i]) if i < len(parameters) else "") for i, part in enumerate(parts)) + ";"


def bare(filter_):
    """A filter's name without its schema's, in quotes."""
    return filter_ if filter_.startswith('"') else quoted(filter_.split(".")[-1])


def command(db, filter_, text):
    name = bare(filter_)
    db.execute("INSERT INTO %s(%s) VALUES ('%s')" % (filter_, name, text))


def note(db, filter_="f"):
    return one(db, "SELECT note FROM " + filter_)


# -- No key is lost -----------------------------------------------------------------------

def asked(db, filter_, keys, sql):
    """The keys to which SQL with a mark %s says maybe; of a filter over two columns a text alone is a tuple's first value."""
    is_pair = any(isinstance(key, str) for key in keys) and error_of(db, "SELECT key_2 FROM %s LIMIT 0" % filter_) is None
    alone, pair = sql % "?", sql % "bloom_tuple(?, 0)"
    return [key for key in keys if one(db, pair if is_pair and isinstance(key, str) else alone, key) == 1]


def lookups(db, filter_, keys):
    """The keys to which a look-up says maybe."""
    return asked(db, filter_, keys, "SELECT count(*) FROM %s WHERE key = %%s" % filter_)


def handled(db, filter_, keys):
    """The keys to which the handle says maybe."""
    return asked(db, filter_, keys, "SELECT bloom_may_contain((SELECT handle FROM %s), %%s)" % filter_)


def no_false_negative(db, keys="SELECT k FROM t", filter_="f"):
    """Each key that the SQL text returns is tested by look-up and by handle, in a join and alone."""
    values = [key for key in column(db, keys) if key is not None]
    for way in lookups, handled:
        found = set(map(repr, way(db, filter_, values)))
        lost = [key for key in values if repr(key) not in found]
        assert not lost, "%s: %s: %d of %d keys missed, such as %r" % (filter_, way.__name__, len(lost), len(values), lost[0])
    names = [each[0] for each in db.execute(keys).description]
    lost = one(db, "SELECT count(*) FROM (%s) AS s WHERE s.%s IS NOT NULL AND NOT EXISTS (SELECT 1 FROM %s WHERE key = s.%s)"
               % (keys, quoted(names[0]), filter_, quoted(names[0])))
    assert not lost, "%s: look-ups of a join miss %d of %d keys" % (filter_, lost, len(values))


ABSENT = ["surely absent %d" % i for i in range(100)]


def rules_out_absent_keys(db, filter_="f", absent=ABSENT):
    """The filter is of use: of keys that are nowhere it rules out nearly all."""
    for way in lookups, handled:
        num_maybe = len(way(db, filter_, absent))
        assert num_maybe <= len(absent) // 10, "%s: %s: maybe to %d of %d absent keys" % (filter_, way.__name__, num_maybe, len(absent))


def is_whole(db, keys="SELECT k FROM t", filter_="f", absent=ABSENT):
    """All is well: no key is lost, absent ones are ruled out, there is nothing to say."""
    no_false_negative(db, keys, filter_)
    rules_out_absent_keys(db, filter_, absent)
    why = note(db, filter_)
    assert why is None or "every key" not in why, filter_ + ": " + why  # advice is no uncertainty
    command(db, filter_, "integrity-check")


def is_uncertain(db, keys="SELECT k FROM t", filter_="f", absent=ABSENT):
    """Every key may be in it, the facts say why and what to do, and the check finds it, or what came of it."""
    no_false_negative(db, keys, filter_)
    expect(len(lookups(db, filter_, absent)), len(absent), filter_ + ": maybe to absent keys by look-up")
    expect(len(handled(db, filter_, absent)), len(absent), filter_ + ": maybe to absent keys by handle")
    text = note(db, filter_)
    assert isinstance(text, str) and cure(text), "%s: note: %r" % (filter_, text)
    name = bare(filter_)
    error = error_of(db, "INSERT INTO %s(%s) VALUES ('integrity-check')" % (filter_, name))
    # A trigger that may be harmless is no fault, but what it kept from the filter is.
    assert "misses" in str(error) or "every key" in str(error), error


def cure(text):
    """The command that a note names, None without one."""
    found = re.search(r" VALUES \('(merge|rebuild)'\) (?:repairs it|takes that one|makes)", text or "")
    return found and found.group(1)


def rebuild_makes_it_whole(db, keys="SELECT k FROM t", filter_="f", by=None):
    """by: None: what the note names, 'merge' where what is in doubt is in the file."""
    command(db, filter_, by or cure(note(db, filter_)) or "rebuild")
    is_whole(db, keys, filter_)


# What f has, and whether it is standalone then.
SHADOW_TABLES = [("f_pages", False), ("f_new", False), ("f_pages", True)]


# -- Plans --------------------------------------------------------------------------------------

PLANS_SAY = sqlite3.sqlite_version_info >= (3, 38, 2)  # older ones are not to be read in while they plan
NUMBERS = itertools.count()


def plan(db, sql, *args):
    """The first line of EXPLAIN QUERY PLAN. Python keeps statements, and SQLite compiles no EXPLAIN again: so each is another text."""
    return db.execute("EXPLAIN QUERY PLAN %s -- %d" % (sql, next(NUMBERS)), args).fetchall()[0][3]


# -- The schema -----------------------------------------------------------------------------

def shadow_tables(db, filter_="f"):
    """The names of the filter's own tables."""
    return column(db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE ? ESCAPE '\\' ORDER BY rowid",
                  filter_.replace("_", "\\_") + "\\_%")


def triggers(db):
    return column(db, "SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY rowid")


def triggers_of(db, table):
    return column(db, "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE ORDER BY rowid", table)


def fill(db, num_rows, prefix="key", table="t(k)"):
    db.execute("INSERT INTO %s WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
               " SELECT '%s' || i FROM n" % (table, num_rows, prefix))


def filtered(files, args="t, k", columns="k TEXT", rows=None, journal_mode="DELETE", path=None, **options):
    """A connection to a new file with a table t and a filter f of bloom(args); rows: how many t has before, or the VALUES."""
    db = files.connect(path, **options)
    db.execute("PRAGMA journal_mode = " + journal_mode)
    db.execute("CREATE TABLE t(%s)" % columns)
    if isinstance(rows, int):
        fill(db, rows)
    elif rows:
        db.execute("INSERT INTO t VALUES " + rows)
    db.execute("CREATE VIRTUAL TABLE f USING bloom(%s)" % args)
    return db


# -- SQLite's C interface ------------------------------------------------------------------------

class Api:
    """A connection by ctypes, for what Python's module does not have. The library is the one that the module loads."""

    def __init__(self, path, load):
        self.lib = ctypes.CDLL("libsqlite3.so.0")
        self.lib.sqlite3_errmsg.restype = ctypes.c_char_p
        self.lib.sqlite3_column_text.restype = ctypes.c_char_p
        self.lib.sqlite3_column_int64.restype = ctypes.c_int64
        self.db = ctypes.c_void_p()
        self.ok(self.lib.sqlite3_open(os.fsencode(path), ctypes.byref(self.db)))
        if load:
            self.ok(self.lib.sqlite3_enable_load_extension(self.db, 1))
            self.ok(self.lib.sqlite3_load_extension(self.db, os.fsencode(load), None, None))

    def ok(self, code):
        assert code == 0, "code %d: %s" % (code, (self.lib.sqlite3_errmsg(self.db) or b"").decode())

    def run(self, sql):
        self.ok(self.lib.sqlite3_exec(self.db, sql.encode(), None, None, None))

    def prepare(self, sql):
        statement = ctypes.c_void_p()
        self.ok(self.lib.sqlite3_prepare_v2(self.db, sql.encode(), -1, ctypes.byref(statement), None))
        return statement

    def close(self):
        self.ok(self.lib.sqlite3_close(self.db))


# -- Running -------------------------------------------------------------------------------------

def in_child(function, load):
    folder = tempfile.mkdtemp(prefix="bloom-vtab-", dir=FOLDER)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 1
        signal.alarm(SECONDS)
        try:
            function(Files(load, folder))
            status = 0
        except Skip as reason:
            print("note: left out: %s: %s" % (function.__name__, reason))
            status = SKIPPED
        except BaseException:  # not only errors: nothing of the parent's may run here
            traceback.print_exc(file=sys.stdout)
        sys.stdout.flush()
        os._exit(status)
    _, status, used = os.wait4(child, 0)
    shutil.rmtree(folder, ignore_errors=True)
    return status, used.ru_utime + used.ru_stime


def reason_of(status):
    return "signal %d" % os.WTERMSIG(status) if os.WIFSIGNALED(status) else "status %d" % os.WEXITSTATUS(status)


def arguments(**defaults):
    """The options of a test that draws at random: --load, --seed and these."""
    parser = argparse.ArgumentParser()
    for name, default in {"load": "./bloom", "seed": 1, **defaults}.items():
        kind = {"action": "store_true"} if default is False else {"type": type(default), "default": default}
        parser.add_argument("--" + name, **kind)
    return parser.parse_args()


def draw(run, options, most_failures=5):
    """run(seed, options) for --runs seeds, or until so many have failed; how many passed and failed."""
    num_passed = num_failed = 0
    for seed in range(options.seed, options.seed + options.runs):
        try:
            run(seed, options)
            num_passed += 1
        except Exception as error:
            num_failed += 1
            print("FAILED: seed %d, SQLite %s: %s: %s" % (
                seed, sqlite3.sqlite_version, type(error).__name__, str(error)[:3000]))
            if num_failed >= most_failures:
                break
    return num_passed, num_failed


def sum_up(num_passed, num_failed):
    print("%d passed, %d failed" % (num_passed, num_failed))
    return 1 if num_failed else 0


def main(step=None):
    """step: what a test runs in a process of its own, under another SQLite: see under()."""
    if step is not None and "--step" in sys.argv:
        return step(arguments(step="", path=""))
    parser = argparse.ArgumentParser()
    parser.add_argument("--load", default="./bloom")
    parser.add_argument("--only", default="", help="tests whose names contain this")
    parser.add_argument("--slow", action="store_true", help="the slow ones, too")
    parser.add_argument("--together", action="store_true", help="all in this process, so that gcov hears of them")
    parser.add_argument("--times", action="store_true", help="the processor time that each took, by a process of its own")
    parser.add_argument("--sample", action="store_true", help="of many cases of one kind only some")
    options = parser.parse_args()
    if options.sample:
        sample()
    num_passed = num_failed = 0
    for function in TESTS:
        if options.only not in function.__name__ or (getattr(function, "is_slow", False) and not (options.slow or options.only)):
            continue
        seconds = 0.0
        if options.together:
            with tempfile.TemporaryDirectory(prefix="bloom-vtab-", dir=FOLDER) as folder:
                try:
                    function(Files(options.load, folder))
                except Skip as reason:
                    print("note: left out: %s: %s" % (function.__name__, reason))
                    continue
            status = 0
        else:
            status, seconds = in_child(function, options.load)
        if options.times:
            print("%6.2f s %s" % (seconds, function.__name__))
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == SKIPPED:
            continue
        if status:
            num_failed += 1
            print("FAILED: %s (%s)" % (function.__name__, reason_of(status)))
        else:
            num_passed += 1
    return sum_up(num_passed, num_failed)
