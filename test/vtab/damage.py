"""Shadow tables that something else wrote to: an error or "maybe", never a crash or a wrong "no".
The source can be written to all the same, and 'rebuild' repairs the filter.

    python3 test/vtab/damage.py [--load ./bloom] [--runs N] [--seed N]

Each run changes, deletes or adds rows of a shadow table, renames it or drops it.  What cannot be told
apart from a filter is left out: a page of the right size with other bits.
"""
import random
import sqlite3
import sys

from cases import arguments, connect, draw, sum_up

VALUES = [0, 1, -1, 2, 5, 100, 2**31, 2**32, 2**63 - 1, -2**63, 0.5, 1e300, None, "x", "", b"", b"x" * 500, b"\0" * 32]


def database(load, r, is_standalone):
    db = connect(":memory:", load)
    db.execute("PRAGMA page_size = 1024")
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, k)")
    db.execute("INSERT INTO t(k) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT 'key' || i FROM n")
    if is_standalone:
        db.execute("CREATE VIRTUAL TABLE f USING bloom(capacity = 100)")
        db.execute("INSERT INTO f(key) SELECT k FROM t")
    else:
        db.execute("CREATE VIRTUAL TABLE f USING bloom(t, k)")
        db.execute("INSERT INTO t(k) VALUES ('unmerged')")
    if r.random() < 0.5:
        db.execute("SELECT count(*) FROM f('what is read is kept')")
    return db


def damage(db, r):
    table = "f_pages"
    columns = ["bytes", "bytes", "rowid"]
    one = "(SELECT rowid FROM %s ORDER BY %s LIMIT 1)" % (table, r.choice(["random()", "rowid"]))
    sql, args = r.choice([
        ("UPDATE OR REPLACE %s SET %s = ? WHERE rowid = %s" % (table, r.choice(columns), one), [r.choice(VALUES)]),
        ("UPDATE OR REPLACE %s SET %s = ?" % (table, r.choice(columns)), [r.choice(VALUES)]),
        # One byte of the layout, or of a page's header.
        ("UPDATE %s SET bytes = CAST(substr(bytes, 1, ?1) || ?2 || substr(bytes, ?1 + 2) AS BLOB) WHERE rowid = 1" % table,
         [r.randint(0, 303), bytes([r.randint(0, 255)])]),
        ("UPDATE %s SET bytes = CAST(substr(bytes, 1, ?1) || ?2 || substr(bytes, ?1 + 2) AS BLOB) WHERE rowid = %s AND rowid > 1" % (table, one),
         [r.randint(0, 31), bytes([r.randint(0, 255)])]),
        ("UPDATE %s SET bytes = (SELECT bytes FROM %s ORDER BY random() LIMIT 1) WHERE rowid = %s" % (table, table, one), []),
        ("DELETE FROM %s WHERE rowid = %s" % (table, one), []),
        ("DELETE FROM " + table, []),
        ("UPDATE %s SET rowid = rowid + ?" % table, [r.choice([-10000, 10000])]),
        ("INSERT OR IGNORE INTO %s(rowid) VALUES (?)" % table, [r.choice([0, 1, 2, 7, -1])]),
        ("DROP TABLE %s" % table, []),
        ("ALTER TABLE %s RENAME TO %s_before" % (table, table), []),
    ])
    try:
        db.execute(sql, args)
        if r.random() < 0.3:
            db.execute("VACUUM")  # which numbers rows anew
    except sqlite3.Error:
        pass  # a value that the column cannot hold
    return sql, args


def run(seed, options):
    r = random.Random(seed)
    is_standalone = r.random() < 0.4
    db = database(options.load, r, is_standalone)
    what = damage(db, r)

    def ask(sql):
        try:
            return db.execute(sql).fetchall()
        except sqlite3.Error as error:
            return str(error)

    for sql in ("SELECT count(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM f WHERE key = k)",
                "SELECT count(*) FROM t WHERE bloom_may_contain((SELECT handle FROM f), k) IS NOT 1"):
        rows = ask(sql)
        if isinstance(rows, list) and rows[0][0]:
            raise AssertionError("%r: %d rows missed" % (what, rows[0][0]))
    in_transaction = r.random() < 0.5
    if in_transaction:
        db.execute("BEGIN")
    for sql in ("SELECT * FROM f", "SELECT handle FROM f", "INSERT INTO t(k) VALUES ('new')", "INSERT INTO t(k) SELECT 'newer' || k FROM t",
                "UPDATE t SET k = 'changed' || k WHERE id % 5 = 0", "DELETE FROM t WHERE id < 700", "INSERT INTO f(f) VALUES ('merge')", "INSERT INTO f(f) VALUES ('integrity-check')",
                "INSERT INTO f(f) VALUES ('rebuild')", "INSERT INTO f(key) VALUES ('newest')", "PRAGMA integrity_check"):
        answer = ask(sql)
        if isinstance(answer, str) and not is_standalone and "FROM f" not in sql and "check" not in sql and "merge" not in sql and "f(key)" not in sql:
            raise AssertionError("%r: %s: %s" % (what, sql, answer))
    if db.in_transaction:  # a merge that fails half-way takes it back
        db.execute("COMMIT")
    if not is_standalone:
        missed = ask("SELECT count(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM f WHERE key = k)")
        if missed != [(0,)] or ask("SELECT count(*) < 20 FROM t WHERE EXISTS (SELECT 1 FROM f WHERE key = 'absent' || k)") != [(1,)]:
            raise AssertionError("%r: after 'rebuild' %r rows missed, or absent keys found" % (what, missed))
    # It can be dropped, and what SQLite itself checks is sound.
    for sql, right in ("DROP TABLE f", []), ("PRAGMA integrity_check", [("ok",)]):
        answer = ask(sql)
        assert answer == right, "%r: %s: %s" % (what, sql, answer)
    db.close()


if __name__ == "__main__":
    sys.exit(sum_up(*draw(run, arguments(runs=300), most_failures=300)))
