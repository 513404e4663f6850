"""How a bloom_index stays good: rows that come in another order, change, go or grow.

    python3 test/index/shapes.py [--load ./bloom] [--only NAME]

Each case merges as a program would, and then compares with what 'rebuild' makes: the blocks, the steps
of a look-up and of the merge.
"""
import sys

from log import command, is_believed, plan_says, same, state, steps_of  # the first: it finds the others
from cases import case, execute, expect, main, one, test

NUM_ROWS = 12000


def make(files, columns="k", num_rows=NUM_ROWS):
    db = files.connect(":memory:")
    execute(db, "CREATE TABLE log(id INTEGER PRIMARY KEY, k TEXT, message)", "CREATE VIRTUAL TABLE log_index USING bloom_index(log, %s)" % columns)
    insert(db, 1, num_rows)
    return db


def insert(db, first, last, offset=0):
    db.execute("INSERT INTO log WITH RECURSIVE c(i) AS (SELECT {0} UNION ALL SELECT i + 1 FROM c WHERE i < {1})"
               " SELECT i + {2}, printf('%08x', (i + {2} % 9973) * 2654435761 % 4294967296), 'request ' || (i * 7919 % 100003) || ' of ' || i FROM c"
               " WHERE {0} <= {1}".format(first, last, offset))


def blocks(db, number=1):
    return state(db, "blocks_%d" % number)


def look_up(db):
    """Every 500th row by its key: the steps of all."""
    total = 0
    for id, k in db.execute("SELECT id, k FROM log WHERE id % 500 = 1").fetchall():
        rows, steps = steps_of(db, "SELECT id FROM log_index WHERE k = ?", k)
        assert (id,) in rows, (id, rows)
        total += steps
    return total


def is_nearly_rebuilt(db, blocks_share, steps_share):
    command(db, "integrity-check")
    merged, steps = blocks(db), look_up(db)
    command(db, "rebuild")
    assert merged <= blocks_share * blocks(db) + 4, (merged, blocks(db))
    rebuilt = look_up(db)
    assert steps <= steps_share * rebuilt, (steps, rebuilt)


def number_of(db):
    """It is drawn when all blocks are made again."""
    return state(db, "layout")[40:48]


# -- Other orders ---------------------------------------------------------------------------------

def descending(db, step):
    for last in range(NUM_ROWS, 0, -step):
        yield last - step + 1, last, 0


def second_writer(db, step):
    for first in range(1, NUM_ROWS // 2, step):
        yield first, first + step - 1, 0
        yield first, first + step - 1, 10**9


def behind_the_last_id(db, step):
    db.execute("INSERT INTO log VALUES (9223372036854775807, 'last', 'x')")
    for first in range(1, NUM_ROWS, step):
        yield first, first + step - 1, 0


def comes_with_lower_ids(files, order, step):
    db = make(files, num_rows=0)
    for first, last, offset in order(db, step):
        insert(db, first, last, offset)
        command(db, "merge=%d" % step)
    expect(one(db, "SELECT count(*) FROM log_index_changed"), 0)
    is_nearly_rebuilt(db, 2.2, 2)


for order in descending, second_writer, behind_the_last_id:
    for step in 100, 1000:
        case(comes_with_lower_ids, "%s, %d" % (order.__name__.replace("_", " "), step), order, step)


# -- Changes ----------------------------------------------------------------------------------------

CHANGES = {  # a condition on changed rows, whether all blocks are made again
    "half of the rows": ("id % 2 = 0", True),
    "all of a part": ("id BETWEEN 3000 AND 4000", False),
    "three in a hundred": ("id % 33 = 0", False),
    "one": ("id = 77", False),
}


def rows_change(files, condition, is_rebuilt):
    """A merge costs no more than 'rebuild', or a little."""
    db = make(files)
    command(db, "merge")
    number = number_of(db)
    db.execute("UPDATE log SET k = 'new' || k WHERE " + condition)
    steps = steps_of(db, "INSERT INTO log_index(log_index) VALUES ('merge')")[1]
    expect(number_of(db) != number, is_rebuilt)
    expect(state(db), None)
    command(db, "integrity-check")
    found = look_up(db)
    rebuild = steps_of(db, "INSERT INTO log_index(log_index) VALUES ('rebuild')")[1]
    assert steps < 1.5 * rebuild, (steps, rebuild)
    assert found <= 2 * look_up(db)


for name, (condition, is_rebuilt) in CHANGES.items():
    case(rows_change, name, condition, is_rebuilt)


@test
def long_texts_change(files):
    """Each is more than a block takes: those that changed are made again alone."""
    db = make(files, "message LIKE", 0)
    db.execute("INSERT INTO log WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 2000) SELECT i, '', hex(randomblob(800)) FROM c")
    command(db, "merge")
    number = number_of(db)
    db.execute("UPDATE log SET message = hex(randomblob(800)) WHERE id % 28 = 0")
    command(db, "merge")
    expect(number_of(db), number)
    command(db, "integrity-check")
    part = one(db, "SELECT '%' || substr(message, 300, 40) || '%' FROM log WHERE id = 280")
    expect(db.execute("SELECT id FROM log_index WHERE message LIKE ?", (part,)).fetchall(), [(280,)])


@test
def a_third_is_deleted(files):
    """The oldest rows: a merge that finds no new one shrinks, and one of N rows says that it would pay."""
    db = make(files)
    command(db, "merge")
    before = blocks(db)
    db.execute("DELETE FROM log WHERE id <= %d" % (NUM_ROWS // 3))
    command(db, "merge")
    assert blocks(db) < 0.75 * before, (before, blocks(db))
    command(db, "integrity-check")
    db.execute("DELETE FROM log WHERE id % 2")
    insert(db, NUM_ROWS + 1, NUM_ROWS + 6000)
    command(db, "merge=6000")
    assert "a fifth of the rows is gone" in state(db)


# -- Growth and notes -----------------------------------------------------------------------------------

@test
def what_is_not_merged_is_said(files):
    db = make(files)
    command(db, "merge=6000")
    assert "are in no block yet" in state(db)
    command(db, "merge=5000")
    expect(state(db), None)


@test
def probes_grow_with_the_table(files):
    """A merge of all makes all blocks anew when a table has twice the rows that they were made for; one of N rows says so."""
    db = make(files, num_rows=0)
    for last in range(50000, 500001, 50000):
        insert(db, last - 49999, last)
        command(db, "merge=50000")
    expect(state(db, "layout")[32], 12)
    assert "twice the rows" in state(db)
    number = number_of(db)
    command(db, "merge=1")
    expect(number_of(db), number)
    command(db, "merge")
    expect(state(db, "layout")[32], 13)
    expect(state(db), None)
    number = number_of(db)
    insert(db, 500001, 501000)
    command(db, "merge")
    expect(number_of(db), number)
    db = make(files, "k, probes = 9")
    command(db, "merge")
    expect(state(db, "layout")[32], 9)


# -- Numbers among texts -------------------------------------------------------------------------------------

@test
def numbers_among_texts(files):
    """Integers have the pieces of their digits; a REAL or a BLOB has a block of its own."""
    db = make(files, "message LIKE")
    command(db, "merge")
    texts, needle = blocks(db), "%t 67189 of 1234%"
    few = steps_of(db, "SELECT id FROM log_index WHERE message LIKE ?", needle)[1]
    db.execute("UPDATE log SET message = id * 1000003 WHERE id % 256 = 0")
    command(db, "rebuild")
    assert blocks(db) <= texts + 3, (texts, blocks(db))
    same(db, "SELECT id FROM {t} WHERE message LIKE '%12000_6%'")
    expect(db.execute("SELECT id FROM log_index WHERE message LIKE '512001536'").fetchall(), [(512,)])
    for value in "1.5", "x'313233'":
        db.execute("UPDATE log SET message = %s WHERE id %% 256 = 0" % value)
        command(db, "rebuild")
        rows, steps = steps_of(db, "SELECT id FROM log_index WHERE message LIKE ?", needle)
        expect(rows, db.execute("SELECT id FROM log WHERE message LIKE ?", (needle,)).fetchall())
        assert steps < few + 3 * NUM_ROWS // 256, (value, steps, few)
        for text in "1.5", "123":
            same(db, "SELECT count(*) FROM {t} WHERE message LIKE '%s'" % text)
    # Where they are not rare, they share blocks.
    db.execute("UPDATE log SET message = 1.5 WHERE id % 3 = 0")
    command(db, "rebuild")
    assert blocks(db) < NUM_ROWS // 200, blocks(db)


# -- Order of conditions -----------------------------------------------------------------------------------

@test
def no_block_is_read_in_vain(files):
    """Few ids are left, by a condition on them or by a column that was looked up: damage of the rest is not met."""
    db = make(files, "k, message LIKE")
    command(db, "merge")
    key = one(db, "SELECT k FROM log WHERE id = 77")
    db.execute("UPDATE log_index_blocks_2 SET data = x''")
    expect(db.execute("SELECT id FROM log_index WHERE k = ? AND message LIKE '%request%'", (key,)).fetchall(), [(77,)])
    expect(db.execute("SELECT count(*) FROM log_index WHERE message LIKE '%request%' AND id BETWEEN 70 AND 80").fetchall(), [(11,)])
    db.execute("UPDATE log_index_blocks_1 SET data = x'' WHERE rowid > 12")
    expect(db.execute("SELECT id FROM log_index WHERE k = ? AND id < 30", (key,)).fetchall(), [])
    is_believed(db)
    expect(db.execute("SELECT id FROM log_index WHERE k = ?", (key,)).fetchall(), [(77,)])
    plan_says(db, "damaged")


if __name__ == "__main__":
    sys.exit(main())
