"""What happens while a statement that looks keys up is running, between two of its rows.

Look-ups keep a page open for as long as the statement runs. It has to see what is written
meanwhile, and must keep nobody from anything once the statement has ended.
"""
import json
import sqlite3
import sys

from cases import (ABSENT, Api, Skip, column, each, error_of, execute, expect, fails, fill, is_whole, main, no_false_negative, one,
                   test)

NUM_KEYS = 300
SUBQUERY = "SELECT v.value, (SELECT count(*) FROM f(v.value)) FROM json_each(?) AS v"
JOIN = "SELECT v.value, 1 FROM json_each(?) AS v CROSS JOIN f ON f.key = v.value"
QUERIES = {"subquery": SUBQUERY, "join": JOIN}
MODES = {"DELETE": (), "WAL": (), "WAL, mapped": ("PRAGMA mmap_size = 100000000",)}


def make(files, mode):
    db = files.connect()
    for sql in ("PRAGMA journal_mode = " + mode.split(",")[0], *MODES[mode]):
        db.execute(sql)
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT)")
    db.execute("CREATE VIRTUAL TABLE f USING bloom(t, k, capacity = %d)" % NUM_KEYS)
    fill(db, NUM_KEYS, "ada")
    return db


def keys(db):
    return column(db, "SELECT k FROM t")


class Running:
    """A statement that has looked some keys up, and is to look more up: keys is what it says maybe to."""
    def __init__(self, db, query, first, then):
        self.rows = db.execute(query, (json.dumps(first + then),))
        self.seen = [next(self.rows) for _ in first[:-1]]  # sqlite3 is a row ahead
        self.first, self.then = first, then

    def goes_on(self):
        maybe = {value for value, count in self.seen + self.rows.fetchall() if count}
        lost = [key for key in self.first + self.then if key not in maybe]
        expect(lost, [], "missed while a statement runs")


# -- What is written meanwhile is seen -----------------------------------------------------------

def keys_of(prefix, num_keys=NUM_KEYS):
    return ("INSERT INTO t(k) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
            " SELECT '%s' || i FROM n" % (num_keys, prefix))


def say(text):
    return "INSERT INTO f(f) VALUES ('%s')" % text


MERGE = [keys_of("bob"), say("merge=100"), keys_of("eve", 50), say("merge")]
CHANGES = {
    "insert": [keys_of("bob")],
    "commit": ["BEGIN", keys_of("bob"), "COMMIT"],
    "roll back": ["BEGIN", keys_of("bob"), "ROLLBACK", keys_of("bob")],
    "roll back schema": ["BEGIN", "CREATE TABLE other(x)", keys_of("bob"), "SAVEPOINT s", "CREATE TABLE another(x)", keys_of("eve"), "ROLLBACK TO s", "COMMIT"],
    "merge": MERGE,
    "merge and roll back": ["BEGIN", "SAVEPOINT s", *MERGE, "ROLLBACK TO s", "COMMIT", keys_of("bob")],
    "grow": [keys_of("eve", 10 * NUM_KEYS), *MERGE],
    "rebuild": [keys_of("bob"), say("rebuild")],
    # The schema changes, and other statements have another object of the table.
    "index": ["CREATE INDEX t_k ON t(k)", *MERGE],
    "by another": [*MERGE, keys_of("dee", 10)],
}


@each(QUERIES, MODES.keys(), CHANGES.keys())
def goes_on_after(files, query, mode, change):
    is_another = change == "by another"
    db = make(files, mode)
    first = keys(db)[:20]
    # What others write comes to the next statement.
    then = ["%s%d" % (prefix, i) for prefix in (("ada",) if is_another else ("ada", "bob")) for i in range(1, NUM_KEYS + 1)]
    expect(set(first) <= set(then), True)
    running = Running(db, query, first, then)
    # And one that is not at its first row, and ends before the other one.
    other = Running(db, query, first[:5], first)
    try:
        execute(files.connect(timeout=0) if is_another else db, *CHANGES[change])
    except sqlite3.OperationalError as error:  # the reader's lock, in rollback mode
        assert is_another and "locked" in str(error), error
        execute(db, *CHANGES["insert"])
    other.goes_on()
    running.goes_on()
    no_false_negative(db)
    fresh = files.connect()
    if not is_another:
        expect(set(then) <= set(keys(fresh)), True, "what was written is committed")
    is_whole(fresh)


@each(QUERIES, MODES.keys())
def its_trigger_is_dropped(files, query, mode):
    """A statement that was planned while all was certain says maybe to keys that no trigger told of."""
    db = make(files, mode)
    running = Running(db, query, keys(db)[:20], ["bob%d" % i for i in range(1, NUM_KEYS + 1)])
    other = Running(db, query, ["ada1", "ada2", "ada3"], ["bob1", "bob2"])
    db.execute("DROP TRIGGER f_before_insert")
    execute(db, *CHANGES["insert"])
    other.goes_on()
    running.goes_on()


@each(["handle", "filter"], MODES.keys())
def handle_comes_after(files, column_, mode):
    """So does a handle, or a filter, that the statement first reads after the trigger was dropped."""
    db = make(files, mode)
    db.execute(say("merge"))
    query = "SELECT v.value, CASE WHEN v.key < 20 THEN 1 ELSE bloom_may_contain(f.%s, v.value) END FROM f CROSS JOIN json_each(?) AS v" % column_
    running = Running(db, query, keys(db)[:20], ["bob%d" % i for i in range(1, NUM_KEYS + 1)])
    db.execute("DROP TRIGGER f_before_insert")
    execute(db, *CHANGES["insert"])
    running.goes_on()


# -- Who has to wait, and until when ---------------------------------------------------------------

@each(QUERIES, ["DELETE", "WAL"], ["run to its end", "stopped", "beside one that failed"])
def ends(files, query, mode, how):
    """Once it has ended, nothing of it is left: another connection writes, checkpoints, the file is detached."""
    make(files, mode).close()
    db = files.connect(":memory:")
    db.execute("ATTACH ? AS x", (files.path,))
    running = Running(db, query.replace(" f", " x.f"), ["ada1", "ada2", "ada3"], ["ada4", "ada5"])
    fails(db, "DETACH x", "locked")
    fails(db, "DROP TABLE x.f", "locked")
    if how == "run to its end":
        running.goes_on()
    elif how == "stopped":
        running.rows.close()
    else:
        fails(db, "SELECT v.value, (SELECT count(*) FROM x.f(v.value)), abs(-9223372036854775808) FROM json_each('[1]') AS v", "overflow")
        running.rows.close()
    other = files.connect(timeout=0)
    other.execute("BEGIN EXCLUSIVE")
    fill(other, 10, "bob")
    other.execute("COMMIT")
    if mode != "DELETE":
        expect(other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone(), (0, 0, 0))
    no_false_negative(db, "SELECT k FROM x.t", "x.f")
    execute(db, "DROP TABLE x.f", "DETACH x")


@test
def autocommit(files):
    """A statement that writes and looks keys up commits at its own end."""
    db = make(files, "DELETE")
    other = files.connect(timeout=0)
    for _ in range(2):
        db.execute("INSERT INTO t(k) SELECT value FROM json_each(?) WHERE NOT EXISTS (SELECT 1 FROM f(value))", (json.dumps(ABSENT),))
        expect(db.in_transaction, False)
        expect(set(ABSENT) - set(keys(other)), set())
        other.execute("INSERT INTO t(k) VALUES ('one more')")
    no_false_negative(db)


@test
def called_by_sql_of_its_own(files):
    """A look-up within a statement of bloom's own cannot read the journal; CREATE reads no source while another statement writes."""
    db = make(files, "DELETE")
    look, answers = "SELECT count(*) FROM f('nobody')", []
    db.create_function("look", 0, lambda: answers.append(one(db, look)))
    execute(db, "CREATE VIRTUAL TABLE g USING bloom(t, k)", "CREATE TRIGGER looks AFTER INSERT ON g_pages WHEN new.rowid = 2 BEGIN SELECT look(); END")
    expect(one(db, look), 0)
    db.execute("INSERT INTO g(g) VALUES ('rebuild')")
    expect((answers, one(db, look)), ([1], 0))
    db.execute("CREATE TABLE other(k)")
    db.create_function("make", 0, lambda: str(error_of(db, "CREATE VIRTUAL TABLE h USING bloom(other, k)")))
    db.execute("INSERT INTO other SELECT make()")
    expect(one(db, "SELECT k FROM other"), "bloom: h cannot be made by a trigger, or while another statement of this connection writes")


@test
def an_open_blob_is_no_writer(files):
    """SQLite has a statement without SQL for it, which writes; it fires no trigger."""
    db = make(files, "DELETE")
    if not hasattr(db, "blobopen"):
        raise Skip("Python 3.11's blobopen()")
    execute(db, "CREATE TABLE other(b)", "INSERT INTO other VALUES (zeroblob(9))")
    with db.blobopen("other", "b", 1) as blob:
        blob.write(b"x")
        execute(db, say("rebuild"), "CREATE VIRTUAL TABLE g USING bloom(t, k)")
        db.execute('DROP TRIGGER "%s"' % one(db, "SELECT name FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%f_new%'"))
        db.execute(say("merge"))  # which heals it
    is_whole(db)


@test
def a_right_join(files):
    """SQLite reads its left side as a whole, and a filter has no keys to list: an error, and no row that is missing."""
    if sqlite3.sqlite_version_info < (3, 39):
        raise Skip("RIGHT JOIN")
    db = files.connect()
    execute(db, "CREATE TABLE t(k TEXT)", "INSERT INTO t VALUES ('a'), ('b')", "CREATE VIRTUAL TABLE f USING bloom(t, k)", "CREATE TABLE u(k TEXT)", "INSERT INTO u VALUES ('a'), ('x')")
    for sql in "SELECT * FROM f RIGHT JOIN u ON f.key = u.k", "SELECT u.k, f.key FROM u FULL JOIN f ON f.key = u.k":
        fails(db, sql, "beside a RIGHT or FULL JOIN of it, in a subquery")
    expect(db.execute("SELECT u.k, t.k FROM t RIGHT JOIN u ON t.k = u.k WHERE EXISTS (SELECT 1 FROM f WHERE key IS u.k)").fetchall(), [("a", "a")])


# -- Another connection changes the schema ---------------------------------------------------------------

@test
def another_connection_moves_a_table(files):
    # Before 3.38.2, SQLite must not read the schema anew while it compiles: the statement
    # would go to the page where the table was.
    a, b = files.connect(), files.connect()
    execute(a, "CREATE TABLE t(k)", "INSERT INTO t VALUES (1), (2)", "CREATE TABLE other(k, value)",
            "INSERT INTO other VALUES (1, 'old'), (3, 'old')", "CREATE VIRTUAL TABLE f USING bloom(t, k)")
    maybe = " WHERE EXISTS (SELECT 1 FROM f WHERE key = other.k)"
    assert b.execute("SELECT value FROM other" + maybe).fetchall() == [("old",)]
    for name, sql in ("new", "SELECT value FROM other" + maybe), ("newer", "UPDATE other SET value = 'written'" + maybe):
        execute(a, "BEGIN", "ALTER TABLE other RENAME TO before_" + name, "CREATE TABLE other(k, value)")
        a.execute("INSERT INTO other VALUES (1, ?), (3, ?)", (name, name))
        a.execute("COMMIT")
        assert b.execute(sql).fetchall() == ([("new",)] if name == "new" else [])
    assert a.execute("SELECT value FROM other").fetchall() == [("written",), ("newer",)]
    assert a.execute("SELECT value FROM before_newer").fetchall() == [("new",), ("new",)]


@test
def another_connection_makes_the_filter_again(files):
    a, b = files.connect(), files.connect()
    execute(a, "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, number INTEGER)",
            "INSERT INTO t VALUES (1, 'Ada', 3)", "CREATE VIRTUAL TABLE f USING bloom(t, name)")
    # A prepared statement keeps b's object of the table alive.
    assert one(b, "SELECT count(*) FROM f(?)", "ADA") == 1
    execute(a, "DROP TABLE f", "PRAGMA page_size = 16384", "VACUUM",
            "CREATE VIRTUAL TABLE f USING bloom(t, number, capacity = 100000)")
    assert one(b, "SELECT count(*) FROM t") == 1
    assert one(b, "SELECT 0 + count(*) FROM f('03')") == 1
    b.execute("INSERT INTO t VALUES (2, 'Bob', 77)")
    assert one(b, "SELECT count(*) FROM f(?)", "077") == 1
    assert one(b, "SELECT bloom_may_contain((SELECT handle FROM f), '77.0')") == 1
    assert one(a, "SELECT count(*) FROM f('77')") == 1


# -- Compiled while the database was locked ---------------------------------------------------------------

def text_rows(api, statement):
    """What a statement returns, a text or NULL for each row's first column."""
    rows = []
    code = api.lib.sqlite3_step(statement)
    while code == 100:
        rows.append(api.lib.sqlite3_column_text(statement, 0))
        code = api.lib.sqlite3_step(statement)
    expect(code, 101, "the statement's end")
    api.lib.sqlite3_finalize(statement)
    return [row and row.decode() for row in rows]


@each({
    "NOCASE of NOCASE": ("k TEXT COLLATE NOCASE, n INTEGER", "t, k", "key = trim(%s) COLLATE NOCASE", "10"),
    "RTRIM of RTRIM": ("k TEXT COLLATE RTRIM, n INTEGER", "t, k", "key = lower(%s) COLLATE RTRIM", "10"),
    "NOCASE of BINARY": ("k TEXT, n INTEGER", "t, k", "key = %s COLLATE NOCASE", "11"),
    "RTRIM of NOCASE": ("k TEXT COLLATE NOCASE, n INTEGER", "t, k", "key = %s COLLATE RTRIM", "11"),
    "BINARY of BINARY": ("k TEXT, n INTEGER", "t, k", "key = lower(trim(%s))", "10"),
    "a tuple": ("k TEXT COLLATE NOCASE, n INTEGER", "t, (k, n)", "key_1 = trim(%s) COLLATE NOCASE AND key_2 = 1", "10"),
    "a tuple, BINARY": ("k TEXT, n INTEGER", "t, (k, n)", "key_1 = lower(trim(%s)) AND key_2 = 1", "10")})
def compiled_under_a_lock(files, columns, args, way, wanted):
    """The plan cannot know then which collation the key has: where it is another's, every key may be in the filter."""
    db = files.connect()
    execute(db, "CREATE TABLE t(%s)" % columns, "INSERT INTO t VALUES ('ada', 1)", "CREATE VIRTUAL TABLE f USING bloom(%s)" % args)
    api = Api(files.path, files.load)
    expect(text_rows(api, api.prepare("SELECT num_keys FROM f")), ["1"])
    db.execute("BEGIN EXCLUSIVE")
    statements = [api.prepare("SELECT count(*) FROM f WHERE " + way % key) for key in ("'ADA '", "'nobody'")]
    db.execute("COMMIT")
    expect([text_rows(api, each) for each in statements], [[each] for each in wanted])
    api.close()


if __name__ == "__main__":
    sys.exit(main())
