"""Several processes on one database: filters and an index miss no row, whoever writes, in whatever language, and whoever is killed.

    python3 test/source/processes.py [--load ./bloom] [--seconds N] [--seed N]

Writers insert, update and delete in transactions with savepoints and roll some back; every
now and then one is killed by SIGKILL, in the middle of what it does, and another takes its
place.  Writers that have never heard of bloom, in Perl, Tcl and the shell, each with its own SQLite,
write beside them.  Readers ask at the same time, by look-up, by handle and by the index's queries, and after each kill
'integrity-check' finds nothing.  In WAL and in rollback mode.
"""
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vtab"))
from cases import arguments, connect, sum_up  # noqa: E402

MISSED = 3

# Some rows of the table, of which the index finds others than the table by a condition.
OTHER_ROWS = ("SELECT count(*) FROM (SELECT k, ts FROM t WHERE k IS NOT NULL ORDER BY random() LIMIT 5) AS o"
              " WHERE (SELECT group_concat(id) FROM t AS x WHERE {0}) IS NOT (SELECT group_concat(id) FROM i AS x WHERE {0})")
CHECKS = {
    "look-up": "SELECT count(*) FROM t WHERE k IS NOT NULL AND NOT EXISTS (SELECT 1 FROM f WHERE key = k)",
    "handle": "SELECT count(*) FROM t WHERE k IS NOT NULL AND bloom_may_contain((SELECT handle FROM f), k) IS NOT 1",
    "tuple": "SELECT count(*) FROM t WHERE k IS NOT NULL AND part IS NOT NULL AND NOT EXISTS (SELECT 1 FROM g(k, part))",
    "index": OTHER_ROWS.format("x.k = o.k"),
    "pattern": OTHER_ROWS.format("x.k LIKE '%' || o.k || '%'"),
    "range": OTHER_ROWS.format("x.ts BETWEEN o.ts AND o.ts + 30"),
    # The keys of the set are kept in a table beside it, by the same transactions.
    "set": "SELECT count(*) FROM in_set AS i WHERE NOT EXISTS (SELECT 1 FROM s WHERE key = i.k)",
}


# Writers without bloom. Each statement waits for the others, and a row says who wrote it.
STATEMENTS = ["INSERT INTO t(k, part) VALUES ('NAME ' || random(), 1)", "INSERT OR REPLACE INTO t(id, k, part) VALUES (abs(random() % 400), 'NAME ' || random(), 0)",
              "UPDATE t SET k = 'NAME ' || id WHERE id % 89 = abs(random() % 89)", "DELETE FROM t WHERE id % 41 = abs(random() % 41)",
              "INSERT INTO wrote VALUES ('NAME')"]
OTHERS = {
    "perl": ["perl", "-MDBD::SQLite", "-e", """
        my $db = DBI->connect("dbi:SQLite:dbname=$ARGV[0]", "", "", {RaiseError => 0, PrintError => 0});
        $db->sqlite_busy_timeout(20000);
        shift; for (;;) { $db->do($_) || $db->err == 5 || die $db->errstr for @ARGV; }"""],
    "tcl": ["tclsh"],
    "shell": ["sqlite3"],
}
TCL = """package require sqlite3
sqlite3 db [lindex $argv 0]
db timeout 20000
while 1 {foreach sql [lrange $argv 1 end] {if {[catch {db eval $sql} why] && ![string match *locked* $why]} {error $why}}}
"""


def start_other(name, path, folder):
    """A writer in another language, or None where that is not here."""
    statements = [sql.replace("NAME", name) for sql in STATEMENTS]
    command = OTHERS[name]
    env = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}  # The shell takes no other SQLite.
    if shutil.which(command[0]) is None:
        return None
    if name == "tcl":
        with open(os.path.join(folder, "writer.tcl"), "w") as file:
            file.write(TCL)
        command = command + [file.name]
    if name == "shell":  # a new connection for each round
        command = ["sh", "-c", 'while :; do sqlite3 -cmd ".timeout 20000" "$0" "$1"; done', path, "; ".join(statements)]
        return subprocess.Popen(command, start_new_session=True, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return subprocess.Popen(command + [path] + statements, start_new_session=True, env=env)


def check(db):
    # One snapshot for all: and each statement for itself.
    for name, sql in CHECKS.items():
        missed = db.execute(sql).fetchone()[0]
        if missed:
            print("%s misses %d rows" % (name, missed), flush=True)
            os._exit(MISSED)


def write(path, load, seed):
    r = random.Random(seed)
    db = connect(path, load, timeout=20)
    number = seed * 1000000
    while True:
        try:
            db.execute(r.choice(["BEGIN IMMEDIATE", "BEGIN"]))
            for _ in range(r.randint(1, 8)):
                number += 1
                choice = r.random()
                if choice < 0.45:
                    db.execute("INSERT OR REPLACE INTO t(id, k, part, ts) VALUES (?, ?, ?, ?)",
                               (r.choice([None, r.randint(1, 400)]), "Key%d" % number, number % 2, number))
                elif choice < 0.6:
                    db.execute("INSERT INTO t(k, part, ts) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)"
                               " SELECT 'bulk' || ?2 || '/' || i, i % 2, ?2 + i FROM n", (r.choice([10, 300]), number))
                elif choice < 0.75:
                    db.execute("UPDATE t SET k = k || 'u', part = 1 - part, ts = -ts WHERE id % 97 = ?", (r.randint(0, 96),))
                elif choice < 0.85:
                    db.execute("DELETE FROM t WHERE id % 11 = ?", (r.randint(0, 10),))
                else:
                    db.execute("INSERT INTO in_set VALUES (?)", (number,))
                    db.execute("INSERT INTO s(key) VALUES (?)", (number,))
                if r.random() < 0.2:
                    db.execute("SAVEPOINT p")
                if r.random() < 0.1:
                    check(db)
            db.execute(r.choice(["COMMIT", "COMMIT", "COMMIT", "ROLLBACK"]))
            if r.random() < 0.2:
                db.execute("INSERT INTO %s VALUES ('%s')" % (r.choice(["f(f)", "g(g)"]), r.choice(["merge", "merge=7", "merge=100", "rebuild"])))
            if r.random() < 0.3:
                db.execute("INSERT INTO i(i) VALUES (?)", (r.choice(["merge", "merge", "merge", "merge=100", "merge=1000", "rebuild"]),))
            if r.random() < 0.02:
                db.execute("DELETE FROM t WHERE id NOT IN (SELECT id FROM t ORDER BY id DESC LIMIT 3000)")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) and "no such savepoint" not in str(error):
                raise
            if db.in_transaction:
                db.execute("ROLLBACK")


def read(path, load):
    db = connect(path, load, timeout=20)
    while True:
        try:
            db.execute("BEGIN")
            check(db)
            db.execute("COMMIT")
            for sql in CHECKS.values():
                if db.execute(sql).fetchone()[0]:
                    os._exit(MISSED)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            if db.in_transaction:
                db.execute("ROLLBACK")


def damage(db):
    """What the filters' and the index's own checks find, unless others keep them from looking."""
    found = []
    for name in "fgsi":
        try:
            db.execute("INSERT INTO %s(%s) VALUES ('integrity-check')" % (name, name))
        except sqlite3.Error as error:
            found += [] if "locked" in str(error) else [str(error)]
    return found


def run(mode, options):
    folder = tempfile.mkdtemp(prefix="bloom-processes-")
    path = os.path.join(folder, "db")
    r = random.Random(options.seed)
    db = connect(path, options.load, timeout=20)
    db.execute("PRAGMA page_size = 1024")
    db.execute("PRAGMA journal_mode = " + mode)
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT COLLATE NOCASE, part, ts INTEGER)")
    db.execute("CREATE TABLE in_set(k)")
    db.execute("CREATE TABLE wrote(name)")
    db.execute("INSERT INTO t(k, part, ts) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
               " SELECT 'first' || i, i % 2, i FROM n")
    db.execute("CREATE VIRTUAL TABLE f USING bloom(t, k)")
    db.execute("CREATE VIRTUAL TABLE g USING bloom(t, (k, part))")
    db.execute("CREATE VIRTUAL TABLE s USING bloom(capacity = 100)")
    db.execute("CREATE VIRTUAL TABLE i USING bloom_index(t, k, k LIKE, ts RANGE)")
    db.close()
    seeds = iter(range(1, 1000000))
    start = lambda *what: subprocess.Popen([sys.executable, __file__, "--load", options.load, "--path", path, *what])
    writers = [start("--write", str(next(seeds))) for _ in range(2)]
    readers = [start("--read") for _ in range(2)]
    others = {name: start_other(name, path, folder) for name in OTHERS}
    for name in [name for name, process in others.items() if process is None]:
        print("note: left out: a writer in %s" % name)
        del others[name]
    kills, failures = 0, []
    end = time.monotonic() + options.seconds
    db, hasty = (connect(path, options.load, timeout=timeout) for timeout in (20, 0.1))
    # On a busy machine longer, until each of the others has written: but in rollback mode some may wait as long as the test takes.
    waits_for = set(others) if mode == "WAL" else set()
    while (time.monotonic() < end or (waits_for and time.monotonic() < end + 60)) and not failures:
        waits_for -= {name for name, in db.execute("SELECT DISTINCT name FROM wrote")} if waits_for else set()
        time.sleep(r.random() * 0.4)
        for process in writers + readers:
            if process.poll() is not None:
                failures.append("a process ended with status %d" % process.returncode)
        for name, process in others.items():
            if process.poll() is not None:
                failures.append("the writer in %s ended with status %d" % (name, process.returncode))
        victim = r.randrange(2)
        writers[victim].send_signal(signal.SIGKILL)
        writers[victim].wait()
        kills += 1
        failures += damage(hasty)
        writers[victim] = start("--write", str(next(seeds)))
    for process in others.values():
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for process in writers + readers:
        process.kill()
        process.wait()
    for name, sql in CHECKS.items():
        missed = db.execute(sql).fetchone()[0]
        if missed:
            failures.append("%s misses %d rows" % (name, missed))
    failures += damage(db)
    if db.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
        failures.append("PRAGMA integrity_check")
    failures += ["the writer in %s has written nothing" % name for name in waits_for]
    hasty.close()
    rows = db.execute("SELECT count(*) FROM t").fetchone()[0], db.execute("SELECT count(*) FROM in_set").fetchone()[0]
    db.close()
    shutil.rmtree(folder)
    print("note: %s: %d writers killed, %d rows and %d keys of a set in the end" % (mode, kills, *rows))
    for failure in failures:
        print("FAILED: %s: %s" % (mode, failure))
    return failures


def main():
    options = arguments(seconds=5.0, path="", write=0, read=False)
    if options.write:
        write(options.path, options.load, options.write)
    elif options.read:
        read(options.path, options.load)
    else:
        failed = [mode for mode in ("WAL", "DELETE") if run(mode, options)]
        sys.exit(sum_up(2 - len(failed), len(failed)))


if __name__ == "__main__":
    main()
