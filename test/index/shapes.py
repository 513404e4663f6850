"""How a bloom_index stays good: rows that come in another order, change, go or grow.

Each case merges as a program would, and then compares with what 'rebuild' makes: the bytes of entries, the
steps of a look-up and of the merge.
"""
import sys

from log import command, is_believed, plan_says, same, state, steps_of  # the first: it finds the others
from cases import each, execute, expect, main, one, slow, test

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


def size(db):
    """The bytes of all rows of entries of the first column."""
    return one(db, "SELECT coalesce(sum(length(data)), 0) FROM log_index_entries1 WHERE rowid > 0")


def look_up(db):
    """Every 500th row by its key: the steps of all."""
    total = 0
    for id, k in db.execute("SELECT id, k FROM log WHERE id % 500 = 1").fetchall():
        rows, steps = steps_of(db, "SELECT id FROM log_index WHERE k = ?", k)
        assert (id,) in rows, (id, rows)
        total += steps
    return total


def is_nearly_rebuilt(db, size_share, steps_share):
    command(db, "integrity-check")
    merged, steps = size(db), look_up(db)
    command(db, "rebuild")
    assert merged <= size_share * size(db) + 4096, (merged, size(db))
    rebuilt = look_up(db)
    assert steps <= steps_share * rebuilt, (steps, rebuilt)


def number_of(db):
    """It is drawn when all entries are made again."""
    return state(db, "layout")[24:32]


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


@each([descending, second_writer, behind_the_last_id], [100, 1000])
def comes_with_lower_ids(files, order, step):
    db = make(files, num_rows=0)
    for first, last, offset in order(db, step):
        insert(db, first, last, offset)
        command(db, "merge=%d" % step)
    expect(one(db, "SELECT count(*) FROM log_index_changed"), 0)
    is_nearly_rebuilt(db, 2.2, 2.5)


# -- Changes ----------------------------------------------------------------------------------------

CHANGES = {  # a condition on changed rows
    "half of the rows": "id % 2 = 0",
    "all of a part": "id BETWEEN 3000 AND 4000",
    "three in a hundred": "id % 33 = 0",
    "one": "id = 77",
}


@each(CHANGES)
def rows_change(files, condition):
    """A merge costs no more than 'rebuild', or a little."""
    db = make(files)
    command(db, "merge")
    number = number_of(db)
    db.execute("UPDATE log SET k = 'new' || k WHERE " + condition)
    steps = steps_of(db, "INSERT INTO log_index(log_index) VALUES ('merge')")[1]
    expect(number_of(db), number)
    expect(state(db), None)
    command(db, "integrity-check")
    found = look_up(db)
    rebuild = steps_of(db, "INSERT INTO log_index(log_index) VALUES ('rebuild')")[1]
    assert steps < 1.5 * rebuild, (steps, rebuild)
    assert found <= 2 * look_up(db)


@test
def all_rows_change_again_and_again(files):
    """Entries of values that are gone go when all are made again, by a merge of all."""
    db = make(files)
    command(db, "merge")
    number, before = number_of(db), size(db)
    for turn in range(6):
        db.execute("UPDATE log SET k = %d || k" % turn)
        command(db, "merge")
        assert size(db) < 4 * before, (turn, size(db), before)
    assert number_of(db) != number
    command(db, "integrity-check")


@test
@slow
def long_texts_change(files):
    """Those that changed are merged again alone."""
    db = make(files, "message LIKE", 0)
    db.execute("INSERT INTO log WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 300) SELECT i, '', hex(randomblob(800)) FROM c")
    command(db, "merge")
    number = number_of(db)
    db.execute("UPDATE log SET message = hex(randomblob(800)) WHERE id % 28 = 0")
    command(db, "merge")
    expect(number_of(db), number)
    command(db, "integrity-check")
    part = one(db, "SELECT '%' || substr(message, 300, 40) || '%' FROM log WHERE id = 280")
    expect(db.execute("SELECT id FROM log_index WHERE message LIKE ?", (part,)).fetchall(), [(280,)])


# -- Growth and notes -----------------------------------------------------------------------------------

@test
def what_is_not_merged_is_said(files):
    db = make(files)
    command(db, "merge=6000")
    assert "rows are not merged" in state(db), state(db)
    command(db, "merge=5000")
    expect(state(db), None)


@test
def tokens_grow_with_the_table(files):
    """A merge of all makes all entries anew when a table has outgrown what they were chosen for; one of N rows says so."""
    db = make(files, num_rows=0)
    insert(db, 1, 1000)
    command(db, "merge")
    for last in range(8000, 48001, 8000):
        insert(db, last - 7999 if last > 8000 else 1001, last)
        command(db, "merge=8000")
    command(db, "merge=1")
    number = number_of(db)
    if state(db):
        assert "made again" in state(db), state(db)
    command(db, "merge")
    expect(state(db), None)
    number = number_of(db)
    insert(db, 48001, 49000)
    command(db, "merge")
    expect(number_of(db), number)
    is_nearly_rebuilt(db, 1.3, 2.5)  # a join is half done, whose sources are 16 runs


# -- Numbers among texts -------------------------------------------------------------------------------------

@test
def numbers_among_texts(files):
    """Integers have the pieces of their digits; a REAL or a BLOB puts its block, and no other, on the list that is always read."""
    db = make(files, "message LIKE")
    command(db, "merge")
    texts, needle = size(db), "%t 67189 of 1234%"
    few = steps_of(db, "SELECT id FROM log_index WHERE message LIKE ?", needle)[1]
    db.execute("UPDATE log SET message = id * 1000003 WHERE id % 256 = 0")
    command(db, "rebuild")
    assert size(db) <= 1.2 * texts, (texts, size(db))
    same(db, "SELECT id FROM {t} WHERE message LIKE '%12000_6%'")
    expect(db.execute("SELECT id FROM log_index WHERE message LIKE '512001536'").fetchall(), [(512,)])
    for value in "1.5", "x'313233'":
        db.execute("UPDATE log SET message = %s WHERE id %% 3000 = 7" % value)
        command(db, "rebuild")
        rows, steps = steps_of(db, "SELECT id FROM log_index WHERE message LIKE ?", needle)
        expect(rows, db.execute("SELECT id FROM log WHERE message LIKE ?", (needle,)).fetchall())
        # Four blocks of few rows each.
        assert steps < few + NUM_ROWS // 8, (value, steps, few)
        for text in "1.5", "123":
            same(db, "SELECT count(*) FROM {t} WHERE message LIKE '%s'" % text)


# -- Order of conditions -----------------------------------------------------------------------------------

@test
def no_list_is_read_in_vain(files):
    """Few ids are left, by a condition on them or by a column that was looked up: damage of the rest is not met."""
    db = make(files, "k, message LIKE")
    command(db, "merge")
    key = one(db, "SELECT k FROM log WHERE id = 77")
    db.execute("UPDATE log_index_entries2 SET data = x'' WHERE rowid > 0")
    expect(db.execute("SELECT id FROM log_index WHERE k = ? AND message LIKE '%request%'", (key,)).fetchall(), [(77,)])
    expect(db.execute("SELECT count(*) FROM log_index WHERE message LIKE '%request%' AND id BETWEEN 70 AND 80").fetchall(), [(11,)])
    db.execute("UPDATE log_index_entries1 SET data = x''")
    expect(db.execute("SELECT id FROM log_index WHERE k = ? AND id < 30", (key,)).fetchall(), [])
    is_believed(db)
    expect(db.execute("SELECT id FROM log_index WHERE k = ?", (key,)).fetchall(), [(77,)])
    plan_says(db, "damaged")


if __name__ == "__main__":
    sys.exit(main())
