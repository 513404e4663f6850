"""What tests of an index over a table log share, and the way to the virtual table's helpers; it is no test itself."""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vtab"))
from cases import PLANS_SAY, expect, one, plan  # noqa: E402
from entries_reader import xxh64  # noqa: E402

CHECK = "INSERT INTO log_index(log_index) VALUES ('integrity-check')"


def count_to(n, first=1):
    """The beginning of a SELECT from c, whose i are these numbers."""
    return "WITH RECURSIVE c(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM c WHERE i < %d) " % (first, n)


def command(db, text, index="log_index"):
    db.execute("INSERT INTO {0}({0}) VALUES (?)".format(index), (text,))


def state(db, column="note"):
    """Of the index's own row; the note is what everybody asks for."""
    return one(db, "SELECT %s FROM %s" % (column, "bloom_index_info('log_index')" if column in ("note", "bytes") else "log_index_state"))


def same(db, sql, *args, source="log", index="log_index"):
    """A query on {t} has the rows of the source from the index, too: how many."""
    found, wanted = (db.execute(sql.replace("{t}", t), args).fetchall() for t in (index, source))
    expect(found, wanted, "%s %r" % (sql, args))
    return len(wanted)


def plan_says(db, words, sql="SELECT * FROM log_index WHERE k = 'x'"):
    """Where plans say anything."""
    assert not PLANS_SAY or words in plan(db, sql), plan(db, sql)


def is_believed(db, sql="SELECT * FROM log_index WHERE k = 'x'"):
    assert "reads the whole" not in plan(db, sql), plan(db, sql)


def steps_of(db, sql, *values):
    """The rows, and about how many tens of SQLite's steps it took."""
    num_steps = [0]

    def step():
        num_steps[0] += 1
    db.set_progress_handler(step, 10)
    rows = db.execute(sql, values).fetchall()
    db.set_progress_handler(None, 0)
    return rows, num_steps[0]


def steps_beside(db, sql, *values, index="log_index", order=list):
    """A query on {t} has the table's rows from the index, too: the tens of steps of the index, and of the table."""
    (wanted, of_table), (found, of_index) = (steps_of(db, sql.replace("{t}", t), *values) for t in ("log", index))
    expect(order(found), order(wanted), "%s %r" % (sql, values))
    return of_index, of_table


# -- Bytes that carry a right checksum ---------------------------------------------------------------

def u32(data, at, number):
    return data[:at] + struct.pack("<I", number) + data[at + 4:]


def checksummed(data):
    return data + struct.pack("<Q", xxh64(data))
