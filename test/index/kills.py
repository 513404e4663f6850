"""Kills processes that merge, and looks at what they left.

    python3 test/index/kills.py [--load ./bloom] [--kills N] [--seed N]

A child inserts, updates and merges, in transactions or not, until it is killed; the next one
goes on with the file.  After each kill the rows of the index are the rows of the table,
and 'integrity-check' finds nothing.
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


def child(path, load, seed):
    r = random.Random(seed)
    db = connect(path, load, timeout=10)
    db.execute("PRAGMA synchronous = OFF")
    print("ready", flush=True)
    while True:
        is_transaction = r.random() < 0.5
        if is_transaction:
            db.execute("BEGIN IMMEDIATE")
        for _ in range(r.randint(1, 4)):
            what = r.random()
            if what < 0.3:
                db.execute("INSERT INTO log(k, message, ts) WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM c WHERE i<%d)"
                           " SELECT hex(randomblob(4)), 'request ' || hex(randomblob(5)), coalesce((SELECT max(id) FROM log), 0) + i FROM c" % r.choice([10, 200, 2000]))
            elif what < 0.5:
                db.execute("UPDATE log SET k = 'changed', message = 'all new', ts = -ts WHERE id %% 97 = %d" % r.randint(0, 96))
            elif what < 0.6:
                db.execute("DELETE FROM log WHERE id %% 5 = %d" % r.randint(0, 4))
            else:
                db.execute("INSERT INTO log_index(log_index) VALUES (?)", [r.choice(["merge", "merge=100", "merge=1000", "rebuild"])])
        if is_transaction:
            db.execute(r.choice(["COMMIT", "COMMIT", "ROLLBACK"]))


def look(path, load):
    db = connect(path, load, timeout=10)
    assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    db.execute("INSERT INTO log_index(log_index) VALUES ('integrity-check')")
    keys = [row[0] for row in db.execute("SELECT k FROM log ORDER BY random() LIMIT 20")] + ["changed"]
    for key in keys:
        for condition in ["k = ?", "message LIKE '%' || ? || '%'"]:
            found = [db.execute("SELECT id, k FROM %s WHERE %s" % (table, condition), [key]).fetchall() for table in ("log", "log_index")]
            assert found[0] == found[1], "%s %s: %r" % (condition, key, found)
    for (ts,) in db.execute("SELECT ts FROM log ORDER BY random() LIMIT 20").fetchall():
        found = [db.execute("SELECT id, ts FROM %s WHERE ts BETWEEN ? AND ? + 30" % table, [ts, ts]).fetchall() for table in ("log", "log_index")]
        assert found[0] == found[1], "ts %d: %r" % (ts, found)
    rows = db.execute("SELECT count(*), (SELECT note FROM log_index_state) FROM log").fetchone()
    db.close()
    return rows


def main():
    options = arguments(kills=5, child="")
    if options.child:
        child(options.child, options.load, options.seed)
    r = random.Random(options.seed)
    folder = tempfile.mkdtemp(prefix="bloom-index-kills-")
    path = os.path.join(folder, "db")
    db = connect(path, options.load, timeout=10)
    db.execute("PRAGMA journal_mode = %s" % r.choice(["WAL", "DELETE"]))
    db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, k TEXT, message TEXT, ts INTEGER)")
    db.execute("CREATE VIRTUAL TABLE log_index USING bloom_index(log, k, message LIKE, ts RANGE, probes = 32)")
    db.close()
    passed = failed = 0
    for number in range(options.kills):
        process = subprocess.Popen([sys.executable, __file__, "--load", options.load, "--seed", str(options.seed + number), "--child", path],
                                   stdout=subprocess.PIPE)
        process.stdout.readline()
        time.sleep(r.uniform(0.01, 0.6))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        try:
            look(path, options.load)
            passed += 1
        except (AssertionError, sqlite3.Error) as error:
            failed += 1
            print("kill %d of seed %d: %s" % (number, options.seed, error))
            break
    shutil.rmtree(folder)
    return sum_up(passed, failed)


if __name__ == "__main__":
    sys.exit(main())
