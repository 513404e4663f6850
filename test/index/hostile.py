"""Writes anything into the tables of a bloom_index, and puts other things in their place.

    python3 test/index/hostile.py [--load ./bloom] [--seed N] [--runs N]

Whatever is there: a query returns rows of the source, each once and none that it does not
ask for, or an error; commands end; 'rebuild' or DROP and CREATE bring all rows back.  Unless
bytes carry a right checksum, no row is lost, and 'merge' repairs what a query found.
"""
import random
import sqlite3
import struct
import sys

from log import checksummed  # the first: it finds the others
from cases import arguments, connect, draw, sum_up

NUM_ROWS = 1700


def make(load):
    db = connect(":memory:", load)
    db.executescript("""
        CREATE TABLE log(id INTEGER PRIMARY KEY, k TEXT, few INT, message TEXT, ts INT);
        WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM c WHERE i<%d)
        INSERT INTO log SELECT i, printf('%%08x', i*2654435761 %% 4294967296), i%%5, 'request ' || i || ' of user ' || (i*7919%%10007), i*10 FROM c;
        CREATE VIRTUAL TABLE log_index USING bloom_index(log, k, few, message LIKE, ts RANGE);
        INSERT INTO log_index(log_index) VALUES ('merge');
        UPDATE log SET k = 'changed' WHERE id IN (7, 900);
        INSERT INTO log VALUES (5000, 'behind', 1, 'behind', 50000);
    """ % NUM_ROWS)
    return db


QUERIES = ["SELECT id FROM {t} WHERE k = printf('%08x', 77*2654435761 % 4294967296)", "SELECT id FROM {t} WHERE k IN ('changed', 'behind', 'x')",
           "SELECT id FROM {t} WHERE few = 3 AND id > 100 ORDER BY id DESC", "SELECT id FROM {t} WHERE message LIKE '%quest 432 %'",
           "SELECT id FROM {t} WHERE message GLOB '*user 99*' OR k = 'behind'", "SELECT id FROM {t} WHERE id BETWEEN 5 AND 30",
           "SELECT id FROM {t} WHERE ts BETWEEN 500 AND 700", "SELECT id FROM {t} WHERE ts < 100 OR ts >= 16900", "SELECT id FROM {t} WHERE ts IN (9000, 50000) AND k > ''", "SELECT id FROM {t}"]
ALLOWED = ("malformed", "damaged", "misses row", "no such", "cannot", "may not", "there is no table", "other columns", "is gone", "are gone",
           "constraint failed", "did not come to its end", "no such table", "not an error", "SQL logic error", "newer", "made again", "locked",
           "datatype mismatch", "unable to open", "is in the way", "vtable constructor", "interrupted", "has no column", "UPSERT not implemented", "corrupt", "unsafe use",
           "repairs it", "calls itself")


def mangled(r, data):
    """Other bytes in place of some."""
    kind = r.randrange(9)
    if not isinstance(data, bytes) or kind == 0:
        return r.choice([None, 5, 1.5, "text", b"", b"\0" * 10, r.randbytes(r.choice([1, 8, 40, 100, 5000]))])
    if kind == 1:
        return data[:r.randint(0, len(data))]
    if kind == 2:
        return data + r.randbytes(r.choice([1, 8, 5000]))
    if kind == 3:
        return r.randbytes(len(data))
    changed = bytearray(data)
    for _ in range(r.choice([1, 1, 3, 20])):
        if changed:
            at = r.randrange(len(changed))
            if kind < 6:
                changed[at] = r.choice([0, 255, changed[at] ^ (1 << r.randrange(8)), r.getrandbits(8)])
            else:
                number = struct.pack("<Q", r.choice([0, 1, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**63, 2**64 - 1]))
                changed[at:at + 8] = number[:len(changed) - at]
    return bytes(changed)


def damage(r, db):
    """SQL that was run, and whether no row may be lost by it."""
    short, column = r.choice([("state", "config"), ("state", "layout"), ("state", "covered"), ("changed", "id"), ("spans", "data"),
                              ("entries1", "data"), ("entries2", "data"), ("entries3", "data"), ("zones4", "data")])
    table = "log_index_" + short
    kind = r.random()
    if kind < 0.55 and column not in ("covered", "id"):
        rows = db.execute("SELECT rowid, %s FROM %s LIMIT 1000" % (column, table)).fetchall()  # it may be an endless view
        rowid, data = r.choice(rows or [(1, b"")])
        new = mangled(r, data)
        if short == "state" and isinstance(new, bytes) and len(new) > 8 and r.random() < 0.7:
            new = checksummed(new[:-8])
            db.execute("UPDATE %s SET %s = ? WHERE rowid = ?" % (table, column), [new, rowid])
            return "checksummed bytes in %s: %s" % (column, new[:60].hex()), False
        db.execute("UPDATE %s SET %s = ? WHERE rowid = ?" % (table, column), [new, rowid])
        return "bytes in row %d of %s, %s" % (rowid, table, column), True
    if kind < 0.65:
        if column == "covered":
            db.execute("UPDATE log_index_state SET covered = ?", [r.choice([None, 0, -2**63, 2**63 - 1, "x", 1e300, b"1"])])
        elif short == "changed":
            db.execute("INSERT OR IGNORE INTO log_index_changed VALUES (?)", [r.choice([None, -2**63, 2**63 - 1, "x", 1.5, b"1"])])
        else:
            rowids = [row[0] for row in db.execute("SELECT rowid FROM %s LIMIT 1000" % table).fetchall()] or [1]
            first = r.choice(rowids)
            db.execute("DELETE FROM %s WHERE rowid BETWEEN ? AND ?" % table, [first, r.choice([2**63 - 1, first, r.choice(rowids)])])
        return "rows of %s, %s" % (table, column), short != "changed"
    if kind < 0.7 and column == "data":
        rowids = [row[0] for row in db.execute("SELECT rowid FROM %s LIMIT 1000" % table).fetchall()] or [1]
        one, two = r.choice(rowids), r.choice(rowids)
        db.execute("UPDATE %s SET data = (SELECT data FROM %s WHERE rowid = ?) WHERE rowid = ?" % (table, table), [one, two])
        return "row %d in place of row %d in %s" % (one, two, table), True
    if kind < 0.75:
        db.execute("INSERT INTO %s SELECT * FROM %s" % (table, table) if short != "changed" else "DROP TABLE log_index_changed")
        return "rows twice in " + table, short != "changed"
    db.execute("DROP TABLE " + table)
    columns = {"state": "covered, config, layout", "changed": "id"}.get(short, "data")
    values = ", ".join(["1"] * (columns.count(",") + 1))
    what = r.choice([
        "CREATE VIEW {0}({1}) AS SELECT {2}", "CREATE VIEW {0}({1}) AS WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i+2 FROM c) SELECT {3} FROM c",
        "CREATE VIEW {0}({1}) AS SELECT {3} FROM (SELECT id AS i FROM log_index WHERE k = 'changed')",
        "CREATE VIRTUAL TABLE {0} USING bloom_index(log, k)", "CREATE TABLE {0}({1})", "CREATE TABLE {0}(other)", "",
        "CREATE TABLE {0}({1} PRIMARY KEY) WITHOUT ROWID" if "," not in columns else "",
        "CREATE TABLE {0}({1}); CREATE TRIGGER tr AFTER INSERT ON {0} BEGIN SELECT count(*) FROM log_index WHERE k = 'x'; END",
    ]).format(table, columns, values, values.replace("1", "i"))
    db.executescript(what)
    return what or "dropped " + table, False


def run(seed, options):
    r = random.Random(seed)
    db = make(options.load)
    steps = []
    is_kept = True
    for _ in range(r.choice([1, 1, 2])):
        try:
            what, keeps = damage(r, db)
            steps.append(what)
            is_kept = is_kept and keeps
        except sqlite3.Error as error:
            steps.append("-- %s" % error)
    # A copy reads it all anew; else tables stay as they were connected.
    if r.random() < 0.7:
        copy = connect(":memory:", options.load)
        db.backup(copy)
        db = copy
    num_steps = [0]

    def tick():
        num_steps[0] += 1
        return 1 if num_steps[0] > 3000 else 0 # 30 million steps of the virtual machine: it hangs
    db.set_progress_handler(tick, 10000)

    def attempt(sql):
        try:
            return db.execute(sql).fetchall(), None
        except sqlite3.Error as error:
            if not any(word in str(error) for word in ALLOWED):
                raise AssertionError("%s: %s; after %s" % (sql, error, steps))
            if "interrupted" in str(error) and num_steps[0] > 3000:
                raise AssertionError("%s does not end; after %s" % (sql, steps))
            return None, str(error)

    def look(is_complete):
        for query in QUERIES:
            right = db.execute(query.replace("{t}", "log")).fetchall()
            found, error = attempt(query.replace("{t}", "log_index"))
            if found is None:
                assert not is_complete, "%s: %s; after %s" % (query, error, steps)
                continue
            assert len(set(found)) == len(found) and set(found) <= set(right), "%s has rows that log has not; after %s" % (query, steps)
            if is_complete and found != right:
                raise AssertionError("%s: %d of %d rows; after %s" % (query, len(found), len(right), steps))
    is_whole = is_kept and not any("config" in step or "rows of log_index_state" in step for step in steps)
    if is_whole:
        look(True)
    look(False)
    for _ in range(r.choice([0, 1, 2])):
        command = r.choice(["merge", "merge=5", "integrity-check"])
        attempt("INSERT INTO log_index(log_index) VALUES ('%s')" % command)
        steps.append(command)
        look(is_whole)
    attempt("INSERT INTO log VALUES (3000, 'new', 1, 'new', 30000)")
    attempt("UPDATE log SET k = 'changed' WHERE id = 8")
    if attempt("INSERT INTO log_index(log_index) VALUES ('rebuild')")[1] is None:
        steps.append("rebuild")
        look(True)
    if attempt("DROP TABLE log_index")[1] is None:
        # A table or view of another text in a table's place is another's, and stays.
        for other in db.execute("SELECT type, name FROM sqlite_master WHERE name GLOB 'log_index_*' AND type IN ('table', 'view') AND rootpage = 0"
                                " UNION ALL SELECT type, name FROM sqlite_master WHERE name GLOB 'log_index_*' AND rootpage > 0 AND type = 'table'").fetchall():
            db.execute("DROP %s IF EXISTS %s" % other)
        db.execute("CREATE VIRTUAL TABLE log_index USING bloom_index(log, k, few, message LIKE, ts RANGE)")
        db.execute("INSERT INTO log_index(log_index) VALUES ('merge')")
        steps.append("made again")
        look(True)
        db.execute("INSERT INTO log_index(log_index) VALUES ('integrity-check')")
    db.close()


if __name__ == "__main__":
    sys.exit(sum_up(*draw(run, arguments(runs=100))))
