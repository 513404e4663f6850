"""CREATE fills an index, and 'merge' keeps it right: nothing else has to be known.

    python3 test/index/commands.py [--load ./bloom] [--only NAME]
"""
import sys

from log import command, same  # the first: it finds the others
from cases import case, column, error_of, execute, expect, fails, main, one, plan, stop_after, test

CREATE = "CREATE VIRTUAL TABLE log_index USING bloom_index(log, k, n RANGE, message LIKE)"


def make(files, num_rows=500):
    db = files.connect()
    execute(db, "CREATE TABLE log(id INTEGER PRIMARY KEY, k TEXT, n INTEGER, message TEXT)")
    add(db, num_rows)
    return db


def add(db, num_rows):
    db.execute("WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < ?) INSERT INTO log(k, n, message)"
               " SELECT 'key' || (i % 97), i, 'request ' || (i * 7919 % 100003) FROM c", (num_rows,))


def info(db, columns="rows, merged, unmerged, serves, note", name="log_index"):
    return db.execute("SELECT %s FROM bloom_index_info('%s')" % (columns, name)).fetchall()[0]


def is_right(db, source="log"):
    for key in "key1", "key96", "absent":
        same(db, "SELECT * FROM {t} WHERE k = ?", key, source=source)
    same(db, "SELECT * FROM {t} WHERE message LIKE '%quest 7919%'", source=source)
    same(db, "SELECT * FROM {t} WHERE n BETWEEN 20 AND 40", source=source)
    command(db, "integrity-check")


def is_whole(db, source="log"):
    """Its rows are the table's, all of them are merged, and entries serve."""
    num_rows = one(db, "SELECT count(*) FROM " + source)
    expect(info(db), (num_rows, num_rows, 0, 1, None))
    assert "reads" not in plan(db, "SELECT * FROM log_index WHERE k = 'x'"), plan(db, "SELECT * FROM log_index WHERE k = 'x'")
    is_right(db, source)


def contents(db):
    return [db.execute('SELECT rowid, * FROM "%s"' % name).fetchall()
            for name in column(db, "SELECT name FROM sqlite_master WHERE name LIKE 'log_index_%' AND type = 'table' ORDER BY 1")]


# -- CREATE ----------------------------------------------------------------------------------------

@test
def create_fills_it(files):
    db = make(files)
    db.execute(CREATE)
    is_whole(db)
    before = contents(db)
    command(db, "merge")
    expect(contents(db), before)
    add(db, 100)
    expect(info(db)[2], 100)
    command(db, "merge")
    is_whole(db)


@test
def create_of_an_empty_table(files):
    db = make(files, 0)
    execute(db, "DELETE FROM log", CREATE)
    is_right(db)
    expect(info(db), (0, 0, 0, 1, None))
    add(db, 200)
    is_right(db)
    command(db, "merge")
    is_whole(db)


@test
def create_within_a_transaction(files):
    db = make(files)
    execute(db, "BEGIN", "INSERT INTO log(k) VALUES ('mine')", CREATE)
    is_whole(db)
    execute(db, "INSERT INTO log(k) VALUES ('later')")
    is_right(db)
    execute(db, "SAVEPOINT s", "DROP TABLE log_index", "ROLLBACK TO s")
    is_right(db)
    db.execute("ROLLBACK")
    expect(column(db, "SELECT name FROM sqlite_master"), ["log"])
    execute(db, "BEGIN", CREATE, "COMMIT")
    is_whole(db)


@test
def create_leaves_rows_to_merge(files):
    db = make(files)
    db.execute(CREATE.replace("LIKE)", "LIKE, unmerged)"))
    expect(info(db)[:4], (500, 0, 500, 0))
    assert info(db)[4].startswith("500 rows are not merged"), info(db)
    is_right(db)
    command(db, "merge=100")
    expect(info(db)[:4], (500, 100, 400, 1))
    db.close()
    db = files.connect()
    command(db, "merge")
    is_whole(db)
    db.execute("DROP TABLE log_index")
    expect(column(db, "SELECT name FROM sqlite_master"), ["log"])


@test
def a_column_is_called_unmerged(files):
    db = make(files)
    execute(db, "ALTER TABLE log ADD COLUMN unmerged DEFAULT 'x'")
    fails(db, "CREATE VIRTUAL TABLE log_index USING bloom_index(log, k, unmerged)", "column unmerged, which is an option, too: write it in quotes")
    fails(db, "CREATE VIRTUAL TABLE log_index USING bloom_index(log, unmerged LIKE, nothing)", "no column nothing")
    db.execute("CREATE VIRTUAL TABLE log_index USING bloom_index(log, k, \"unmerged\")")
    expect(info(db), (500, 500, 0, 1, None))
    expect(same(db, "SELECT id FROM {t} WHERE unmerged = 'x'"), 500)
    db.execute("DROP TABLE log_index")
    expect(column(db, "SELECT name FROM sqlite_master"), ["log"])


def nothing_is_left(files, begin, num_steps):
    """An interrupt at any place: there is nothing of the index, and CREATE works then."""
    db = make(files)
    failed = 0
    for num_calls in (1, 2, 3, 5, 8, 13, 30, 60, 100, 200, 400, 1000):
        execute(db, *begin)
        stop_after(db, num_calls, num_steps)
        error = error_of(db, CREATE)
        db.set_progress_handler(None, 0)
        if error is None:
            execute(db, "DROP TABLE log_index", *(["COMMIT"] if db.in_transaction else []))
            continue
        failed += 1
        expect(str(error), "interrupted")
        expect(column(db, "SELECT name FROM sqlite_master"), ["log"])
        if db.in_transaction:
            db.execute("COMMIT")
        db.execute("INSERT INTO log(k) VALUES ('goes on')")
    assert failed > 3, failed
    db.execute(CREATE)
    is_whole(db)


case(nothing_is_left, "alone", [], 40)
case(nothing_is_left, "within a transaction", ["BEGIN"], 40)


@test
def a_row_that_cannot_be_read(files):
    """As CREATE INDEX: it fails, and nothing is left, in a transaction neither, whose own writes stay."""
    db = make(files)
    execute(db, "INSERT INTO log(k, n) VALUES ('worst', -9223372036854775808)", "ALTER TABLE log ADD COLUMN v AS (abs(n)) VIRTUAL")
    create = "CREATE VIRTUAL TABLE log_index USING bloom_index(log, k, v)"
    fails(db, create, "integer overflow")
    expect(column(db, "SELECT name FROM sqlite_master"), ["log"])
    execute(db, "BEGIN", "INSERT INTO log(k) VALUES ('mine')")
    fails(db, create, "integer overflow")
    db.execute("COMMIT")
    expect(column(db, "SELECT name FROM sqlite_master"), ["log"])
    expect(one(db, "SELECT count(*) FROM log WHERE k = 'mine'"), 1)


if __name__ == "__main__":
    sys.exit(main())
