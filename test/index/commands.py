"""CREATE fills an index, and 'merge' keeps it right: nothing else has to be known."""
import sys

from log import command, same  # the first: it finds the others
from cases import PLANS_SAY, Skip, column, each, error_of, execute, expect, fails, main, one, plan, stop_after, test

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


@each({"alone": ([], 40), "within a transaction": (["BEGIN"], 40)})
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


# -- Tables in its place ----------------------------------------------------------------------------------

@test
def tables_that_only_look_so(files):
    """A table of the user's with a name and a text of ours stays if it has rows, and no state of ours lies beside it."""
    db = make(files)
    execute(db, 'CREATE TABLE "log_index_changed"(id INTEGER UNIQUE)', "INSERT INTO log_index_changed VALUES (7)")
    fails(db, CREATE, "table log_index_changed is in the way of log_index: ALTER TABLE log_index_changed RENAME TO log_index_changed_kept")
    expect(column(db, "SELECT id FROM log_index_changed"), [7])
    expect(column(db, "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"), ["log", "log_index_changed"])


# -- The plan in words --------------------------------------------------------------------------------

WORDS = {
    "k = 'x' AND message LIKE '%abcdef%' AND n = 5": "k = ? by entries; n = ? by zones; message LIKE ? by entries [",
    "message LIKE '%abcdef%' AND id > 7 AND id < 9": "id > ? by id; id < ? by id",
    "n > 5 AND k > 'a'": "n > ? by zones; k > ? by the table [",
    "message LIKE '%ab%'": "message LIKE ? by the table; reads the whole table: the piece has less than 3 bytes [",
    "message LIKE '%ab%' AND k IN ('x', 'y')": "k IN ? by entries; message LIKE ? by the table [",
    "message GLOB '*'": "reads the whole table: the piece has less than 3 bytes [",
    "1": "all rows [",
}


@test
def plans_in_words(files):
    db = made(files)
    if not PLANS_SAY:
        raise Skip("SQLite 3.38.2")
    for condition, words in WORDS.items():
        for part in words.split("; "):
            text = plan(db, "SELECT * FROM log_index WHERE " + condition)
            assert part in text and text.endswith("]"), text
    key = "SELECT * FROM log_index WHERE k = 'x'"
    add(db, 998)
    assert "not merged" not in plan(db, key), plan(db, key)
    add(db, 2)
    assert "k = ? by entries; reads up to 1000 rows that are not merged" in plan(db, key), plan(db, key)
    db.execute("DROP TRIGGER log_index_after_insert")
    assert "k = ? by the table; reads the whole table: triggers on the table are gone; INSERT INTO log_index(log_index) VALUES ('merge') repairs it [" in plan(db, key), plan(db, key)


@test
def collations_with_odd_names(files):
    """The plan's code is found behind all words, whatever columns and collations are called."""
    db = files.connect()
    for name in "plain", "[odd", "a\"b]; [":
        db.create_collation(name, lambda a, b: (a > b) - (a < b))
    execute(db, "CREATE TABLE log(id INTEGER PRIMARY KEY, k TEXT, n INTEGER, message TEXT, \"c [2000010,;;0;1]\" TEXT)")
    add(db, 300)
    execute(db, "UPDATE log SET \"c [2000010,;;0;1]\" = k", CREATE)
    for name in "plain", "[odd", "a\"b]; [":
        collation = '"%s"' % name.replace('"', '""')
        for column_name in "k", "\"c [2000010,;;0;1]\"":
            for condition in "= 'key7' COLLATE %s", "COLLATE %s = 'key7'", "< 'key2' COLLATE %s", "COLLATE %s > 'key9'", "= 'key7'":
                same(db, "SELECT id FROM {t} WHERE %s %s ORDER BY id" % (column_name, condition.replace("%s", collation)))


# -- 'merge' heals -----------------------------------------------------------------------------------

def made(files, create=CREATE):
    db = make(files)
    execute(db, create)
    return db


def own_triggers(db):
    return column(db, "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'log_index%' AND name <> 'log_index_guard' ORDER BY rowid")


def make_anew(db, columns="id INTEGER PRIMARY KEY, k TEXT, n INTEGER, message TEXT", with_triggers=False):
    """The twelve steps of sqlite.org/lang_altertable.html, as Django, Alembic and sqlite-utils take them."""
    old = own_triggers(db)
    execute(db, "CREATE TABLE log_made(%s)" % columns, "INSERT INTO log_made SELECT * FROM log", "DROP TABLE log", "ALTER TABLE log_made RENAME TO log")
    if with_triggers:
        execute(db, *old)


DOUBTS = {
    "made anew": lambda db: make_anew(db),
    "made anew, triggers put back": lambda db: make_anew(db, with_triggers=True),
    "another type, triggers put back": lambda db: make_anew(db, "id INTEGER PRIMARY KEY, k, n TEXT, message TEXT", True),
    "another collation, triggers put back": lambda db: make_anew(db, "id INTEGER PRIMARY KEY, k TEXT COLLATE NOCASE, n INTEGER, message TEXT", True),
    "one trigger is gone": lambda db: db.execute("DROP TRIGGER log_index_after_update"),
    "the guard is gone": lambda db: db.execute("DROP TRIGGER log_index_guard"),
    "a newer trigger": lambda db: db.execute("CREATE TRIGGER mine BEFORE UPDATE ON log WHEN new.k = 'stop' BEGIN SELECT RAISE(IGNORE); END"),
    "a column is gone": lambda db: execute(db, "DROP TRIGGER log_index_after_update", "DROP TRIGGER log_index_before_update", "ALTER TABLE log DROP COLUMN k"),
    "an entry is gone": lambda db: (db.execute("DELETE FROM log_index_entries3"), db.execute("SELECT * FROM log_index WHERE message LIKE '%absent%'").fetchall()),
    "the layout is damaged": lambda db: db.execute("UPDATE log_index_state SET layout = zeroblob(100)"),
    "covered is another's": lambda db: db.execute("UPDATE log_index_state SET covered = covered + 1"),
}


@each(DOUBTS, ["merge", "merge=100"])
def merge_heals(files, break_it, text):
    db = made(files)
    add(db, 50)
    break_it(db)
    execute(db, "UPDATE log SET message = 'written in doubt' WHERE id % 10 = 0", "INSERT INTO log(n, message) VALUES (1000, 'behind')")
    if "k" not in [row[1] for row in db.execute("PRAGMA table_info(log)")]:
        return a_column_is_gone(db, text)
    same(db, "SELECT * FROM {t} WHERE k = 'key7'")
    serves, note = info(db, "serves, note")
    expect(serves, 0)
    assert note.endswith("; INSERT INTO log_index(log_index) VALUES ('merge') repairs it"), note
    assert "triggers" not in note or "gone" in note, note
    for _ in range(100):
        command(db, text)
        same(db, "SELECT * FROM {t} WHERE message LIKE '%in doubt%'")
        if info(db, "unmerged") == (0,):
            break
    is_whole(db)
    execute(db, "UPDATE log SET message = 'written later' WHERE id % 20 = 0", "INSERT INTO log(k) VALUES ('late')")
    is_right(db)
    command(db, "merge")
    other = files.connect()
    is_whole(other)


def a_column_is_gone(db, text):
    for _ in range(100):
        command(db, text)
    expect(info(db, "unmerged, serves, note"), (0, 1, None))
    same(db, "SELECT * FROM {t} WHERE message LIKE '%in doubt%'")
    command(db, "integrity-check")


@test
def rowids_are_others(files):
    db = files.connect()
    execute(db, "CREATE TABLE log(k TEXT, n INTEGER, message TEXT)")
    add(db, 300)
    execute(db, CREATE, "DELETE FROM log WHERE rowid % 3 = 0", "VACUUM")
    assert info(db)[4].startswith("rowids may be others since a VACUUM"), info(db)
    command(db, "merge")
    is_whole(db)


# What 'merge' does not heal: another column is not proven to be the source's.
FAILS = {
    "another type, no triggers": (lambda db: make_anew(db, "id INTEGER PRIMARY KEY, k, n INTEGER, message TEXT"), "VALUES ('rebuild') repairs it", "INSERT INTO log_index(log_index) VALUES ('rebuild')"),
    "another collation, no triggers": (lambda db: make_anew(db, "id INTEGER PRIMARY KEY, k TEXT COLLATE NOCASE, n INTEGER, message TEXT"), "VALUES ('rebuild') repairs it", "INSERT INTO log_index(log_index) VALUES ('rebuild')"),
    "a trigger keeps notes out": (lambda db: db.execute("CREATE TRIGGER \"no notes\" BEFORE INSERT ON log_index_changed BEGIN SELECT RAISE(IGNORE); END"), "DROP TRIGGER \"no notes\"", "DROP TRIGGER \"no notes\""),
    "a trigger has the name of ours": (lambda db: execute(db, "DROP TRIGGER log_index_after_insert", "CREATE TRIGGER log_index_after_insert AFTER INSERT ON log BEGIN SELECT 1; END"), "DROP TRIGGER log_index_after_insert", "DROP TRIGGER log_index_after_insert"),
}


@each(FAILS)
def merge_fails_with_the_cure(files, break_it, words, cure):
    db = made(files)
    break_it(db)
    db.execute("INSERT INTO log(k) VALUES ('in doubt')")
    before = contents(db)
    for text in "merge", "merge=10":
        error = str(fails(db, "INSERT INTO log_index(log_index) VALUES ('%s')" % text, words))
        assert error.startswith("bloom_index: "), error
    expect(contents(db), before)
    same(db, "SELECT * FROM {t} WHERE k = 'in doubt'")
    db.execute(cure)
    command(db, "merge")
    is_whole(db)


@test
def the_source_is_gone(files):
    db = made(files)
    db.execute("DROP TABLE log")
    fails(db, "INSERT INTO log_index(log_index) VALUES ('merge')", "there is no table log in database main", "drop log_index, and create it on the table that you mean")


@test
def in_a_trigger_it_neither_heals_nor_fails(files):
    db = made(files)
    execute(db, "CREATE TABLE jobs(x)", "CREATE TRIGGER nightly AFTER INSERT ON jobs BEGIN INSERT INTO log_index(log_index) VALUES ('merge'); END")
    for break_it in DOUBTS["made anew"], FAILS["another type, no triggers"][0]:
        break_it(db)
        before = contents(db)
        db.execute("INSERT INTO jobs VALUES (1)")
        expect(contents(db), before)
        same(db, "SELECT * FROM {t} WHERE k = 'key7'")
    db.execute("INSERT INTO log_index(log_index) VALUES ('rebuild')")
    is_whole(db)
    execute(db, "DROP TABLE log", "INSERT INTO jobs VALUES (2)")


@test
def a_damaged_configuration_in_a_trigger(files):
    """A user's INSERT must not fail for it; the command alone says what cures it."""
    db = made(files)
    execute(db, "CREATE TABLE jobs(x)", "CREATE TRIGGER nightly AFTER INSERT ON jobs BEGIN INSERT INTO log_index(log_index) VALUES ('merge'), ('merge=5'); END",
            "UPDATE log_index_state SET config = x'00'")
    db.close()
    db = files.connect()
    execute(db, "INSERT INTO jobs VALUES (1), (2)", "INSERT INTO log(k) VALUES ('late')")
    for text in "merge", "merge=5", "rebuild":
        fails(db, "INSERT INTO log_index(log_index) VALUES ('%s')" % text, "drop it and create it again")
    execute(db, "DROP TABLE log_index", CREATE, "INSERT INTO jobs VALUES (3)")
    is_whole(db)


@test
def while_another_statement_writes(files):
    db = made(files)
    make_anew(db)
    writer = db.execute("INSERT INTO log(k) SELECT k FROM log LIMIT 10 RETURNING id")
    before = contents(db)
    command(db, "merge")
    expect(contents(db), before)
    writer.fetchall()
    command(db, "merge")
    is_whole(db)


@test
def an_authorizer_hides_the_schema(files):
    """That is the connection's own: 'merge' must not make triggers for it."""
    db = made(files)
    before = contents(db)
    db.set_authorizer(lambda action, first, *rest: 2 if action == 20 and first in ("sqlite_master", "sqlite_schema") else 0)
    assert error_of(db, "INSERT INTO log_index(log_index) VALUES ('merge')") is not None
    db.set_authorizer(None)
    expect(contents(db), before)
    db.close()
    is_whole(files.connect())


@test
def a_held_transaction_is_taken_back(files):
    db = made(files)
    make_anew(db)
    before = contents(db)
    execute(db, "BEGIN")
    command(db, "merge")
    is_whole(db)
    db.execute("ROLLBACK")
    expect(contents(db), before)
    same(db, "SELECT * FROM {t} WHERE k = 'key7'")
    command(db, "merge")
    is_whole(db)


if __name__ == "__main__":
    sys.exit(main())
