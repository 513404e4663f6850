"""What tests of an index over a table log share, and the way to the virtual table's helpers; it is no test itself."""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vtab"))
from cases import PLANS_SAY, expect, one, plan  # noqa: E402

CHECK = "INSERT INTO log_index(log_index) VALUES ('integrity-check')"


def command(db, text, index="log_index"):
    db.execute("INSERT INTO {0}({0}) VALUES (?)".format(index), (text,))


def state(db, column="note"):
    """Of the index's own row; the note is what everybody asks for."""
    return one(db, "SELECT note FROM bloom_index_info('log_index')" if column == "note" else "SELECT %s FROM log_index_state" % column)


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


# -- Bytes that carry a right checksum ---------------------------------------------------------------

def u32(data, at, number):
    return data[:at] + struct.pack("<I", number) + data[at + 4:]


def checksummed(data):
    return data + struct.pack("<Q", xxh64(data))


MASK = 2**64 - 1
P = (11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261)


def xxh64(data):
    """XXH64, seed 0: so that what is hostile carries its checksum.  From the specification."""
    def rotl(x, n):
        return ((x << n) | (x >> (64 - n))) & MASK

    def mix(acc, lane):
        return rotl((acc + lane * P[1]) & MASK, 31) * P[0] & MASK
    at, length = 0, len(data)
    if length >= 32:
        lanes = [(P[0] + P[1]) & MASK, P[1], 0, -P[0] & MASK]
        while at + 32 <= length:
            lanes = [mix(lanes[i], int.from_bytes(data[at + 8 * i:at + 8 * i + 8], "little")) for i in range(4)]
            at += 32
        h = (rotl(lanes[0], 1) + rotl(lanes[1], 7) + rotl(lanes[2], 12) + rotl(lanes[3], 18)) & MASK
        for lane in lanes:
            h = ((h ^ mix(0, lane)) * P[0] + P[3]) & MASK
    else:
        h = P[4]
    h = (h + length) & MASK
    while at + 8 <= length:
        h = (rotl(h ^ mix(0, int.from_bytes(data[at:at + 8], "little")), 27) * P[0] + P[3]) & MASK
        at += 8
    if at + 4 <= length:
        h = (rotl(h ^ int.from_bytes(data[at:at + 4], "little") * P[0] & MASK, 23) * P[1] + P[2]) & MASK
        at += 4
    for byte in data[at:]:
        h = rotl(h ^ byte * P[4] & MASK, 11) * P[0] & MASK
    h = (h ^ h >> 33) * P[1] & MASK
    h = (h ^ h >> 29) * P[2] & MASK
    return h ^ h >> 32


assert xxh64(b"") == 0xef46db3751d8e999 and xxh64(b"hello") == 0x26c7827d889f6da3
