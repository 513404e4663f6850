"""An index that bloom 1.2 made (kept/index_1_2.db.gz): read whole, with a note, until the first 'merge' makes entries of it.

It is over log(id, k, message, ts) of 600 rows, with k, message LIKE and ts RANGE; behind its last merge rows 7 and
300 changed, and row 1000 came.
"""
import gzip
import os
import sys

from log import CHECK, command, is_believed, plan_says, same, state  # the first: it finds the others
from cases import each, error_of, execute, expect, main, one, test

KEPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kept", "index_1_2.db.gz")


def kept(files):
    with gzip.open(KEPT) as packed, open(files.path, "wb") as file:
        file.write(packed.read())
    return files.connect()


def is_right(db, index="log_index"):
    for where in "k = 'changed'", "k = 'key77'", "k IN ('late', 'behind')", "message LIKE '%request 1234%'", "ts BETWEEN 100 AND 200", "k = 'absent'":
        same(db, "SELECT id FROM {t} WHERE " + where, index=index)


@each(["merge", "merge=100", "rebuild", "rolled back"])
def converts(files, how):
    db, other = kept(files), files.connect()
    is_right(db)
    is_right(other)
    plan_says(db, "its blocks are those of bloom 1.2; INSERT INTO log_index(log_index) VALUES ('merge') repairs it")
    assert "1.2" in str(error_of(db, CHECK))
    execute(db, "UPDATE log SET k = 'late' WHERE id = 5", "INSERT INTO log(k) VALUES ('late')")
    is_right(db)
    if how == "rolled back":
        db.execute("BEGIN")
        command(db, "merge")
        is_right(db)
        db.execute("ROLLBACK")
        is_right(db)
        how = "merge"
    command(db, how)
    while state(db, "covered") < one(db, "SELECT max(id) FROM log"):
        command(db, how)
        is_right(db)
    for each in db, other, files.connect():
        is_right(each)
        is_believed(each)
        command(each, "integrity-check")
    execute(other, "UPDATE log SET k = 'late' WHERE id = 9", "ALTER TABLE log_index RENAME TO renamed")
    is_right(other, "renamed")
    db.execute("DROP TABLE renamed")
    expect(one(db, "SELECT count(*) FROM sqlite_master WHERE name <> 'log'"), 0)


@each(["merge", "merge=100", "rebuild"])
def tables_are_in_the_way(files, how):
    """What DROP by bloom 1.2 leaves of a converted index, or the user's: the error has the SQL."""
    db = kept(files)
    execute(db, "CREATE TABLE log_index_spans(data BLOB)", "CREATE TABLE log_index_zones3(x)")
    error = str(error_of(db, "INSERT INTO log_index(log_index) VALUES ('%s')" % how))
    assert "table log_index_spans, table log_index_zones3 are in the way of log_index: " in error, error
    is_right(db)
    db.executescript(error.split("of log_index: ")[1])
    command(db, "merge")
    is_right(db)
    is_believed(db)


@test
def renamed_and_dropped(files):
    """As it is."""
    db = kept(files)
    db.execute("ALTER TABLE log_index RENAME TO renamed")
    is_right(db, "renamed")
    db.execute("DROP TABLE renamed")
    expect(one(db, "SELECT count(*) FROM sqlite_master WHERE name <> 'log'"), 0)


if __name__ == "__main__":
    sys.exit(main())
