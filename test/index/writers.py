"""Writers that one trigger alone hears of, and triggers that are not the index's.  Changesets of the session extension: ../source/copies.py."""
import itertools
import sqlite3
import sys

from log import PLANS_SAY, command, same, state  # the first: it finds the others
from cases import Api, Skip, ctypes, each, error_of, execute, expect, fails, main, one, plan, slow, stop_after, test

NUM_ROWS = 3000


def make(db, columns="k TEXT, n INTEGER", values="'key' || i, i % 100", indexed="k, n", first=1):
    db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, %s)" % columns)
    db.execute("INSERT INTO log WITH RECURSIVE c(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM c WHERE i < %d) SELECT i, %s FROM c WHERE i <> -1" % (first, NUM_ROWS, values))
    db.execute("CREATE VIRTUAL TABLE log_index USING bloom_index(log, %s)" % indexed)
    command(db, "merge")


def finds(db, id, condition, *args):
    """The row is found, changed as it is, merged, and made again."""
    for then in "merge=1", "merge", "rebuild", None:
        expect(db.execute("SELECT id FROM log_index WHERE " + condition, args).fetchall(), [(id,)], "before " + str(then))
        if then:
            command(db, then)
    command(db, "integrity-check")


STOP = "CREATE TEMP TRIGGER t AFTER %s ON log BEGIN SELECT RAISE(IGNORE); END"
WITH_DEFAULT = {"columns": "b TEXT NOT NULL DEFAULT 'the default', g TEXT AS (coalesce(b, 'none'))", "values": "'none'", "indexed": "g"}
# Who sees a row: how the table is made, what is run, and by which condition the row of an id is found then.
SEEN = {
    # A generated column whose base gets its DEFAULT by OR REPLACE, between BEFORE and AFTER.
    "only AFTER UPDATE": (WITH_DEFAULT, ["UPDATE OR REPLACE log SET b = NULL WHERE id = 77"], 77, "g = 'the default'"),
    # A TEMP trigger fires before all others, keeps the row and stops them.
    "only BEFORE UPDATE": ({}, [STOP % "UPDATE", "UPDATE log SET k = 'late' WHERE id = 77"], 77, "k = 'late'"),
    "only BEFORE UPDATE of an id": ({}, [STOP % "UPDATE", "UPDATE log SET k = 'late' WHERE id = 77", "UPDATE log SET id = -5 WHERE id = 77"], -5, "k = 'late'"),
    "only BEFORE INSERT": ({"first": -500}, ["DELETE FROM log WHERE id = 55", STOP % "INSERT"] + [verb + " INTO log VALUES (55, 'late', 1)" for verb in (
        "INSERT", "REPLACE", "INSERT OR IGNORE")], 55, "k = 'late'"),
    # BEFORE INSERT cannot tell the id -1 from one that SQLite is yet to choose, so that row is always read.
    "nobody": ({"first": -500}, [STOP % "INSERT", "INSERT INTO log VALUES (-1, 'late', 1234567)"], -1, "k = 'late'"),
    "nobody, replaced": ({"first": -500}, [STOP % "INSERT", "INSERT INTO log VALUES (-1, 'late', 1)", "REPLACE INTO log VALUES (-1, 'later', 7654321)"],
                         -1, "n = 7654321"),
    # The id that SQLite chooses is at or below what is covered, where the last rows are gone.
    "only AFTER INSERT": ({}, ["DELETE FROM log WHERE id > 2000", "INSERT INTO log(k, n) VALUES ('late', 5)"], 2001, "k = 'late'"),
    # 1 and 1.0 are equal, but not to LIKE.
    "an INTEGER becomes a REAL": ({"columns": "b", "values": "i * 1000003", "indexed": "b LIKE"}, ["UPDATE log SET b = b + 0.0 WHERE id = 77"], 77, "b LIKE '%231.0'"),
    # There is none behind the last id.
    "the last id": ({}, ["INSERT INTO log VALUES (9223372036854775807, 'last', 1)"], 2**63 - 1, "k = 'last'"),
    "below the last id": ({}, ["INSERT INTO log VALUES (9223372036854775807, 'last', 1)", "INSERT INTO log VALUES (5000, 'late', 1)"], 5000, "k = 'late'"),
}


@each(SEEN.keys())
def sees_it(files, who):
    how, statements, id, condition = SEEN[who]
    db = files.connect()
    make(db, **how)
    execute(db, *statements)
    if "nobody" in who:
        expect(one(db, "SELECT count(*) FROM log_index_changed"), 0)
    finds(db, id, condition)


@each(["BEFORE", "AFTER", ""], ["IGNORE", "FAIL, 'no'"])
def triggers_of_delete_stop_nothing(files, before, how):
    """They fire when REPLACE deletes a row, too, and the index goes on."""
    db = files.connect()
    make(db)
    execute(db, "CREATE UNIQUE INDEX one ON log(k)", "CREATE TABLE gone(id)", "PRAGMA recursive_triggers = ON",
            "CREATE TRIGGER t %s DELETE ON log BEGIN INSERT INTO gone VALUES (old.id); SELECT RAISE(%s) WHERE old.id %% 2; END" % (before, how))
    for sql in "REPLACE INTO log(k, n) VALUES ('key%d', 12345)", "UPDATE OR REPLACE log SET k = 'key%d', n = 12345 WHERE id = 99", "REPLACE INTO log(id, k, n) VALUES (50, 'key%d', 12345)", \
               "DELETE FROM log WHERE id IN (%d, 2999, 3000)", "INSERT INTO log(k, n) VALUES ('late%d', 12345)":
        for id in 77, 78:
            error_of(db, sql % id)
            for condition in "n = 12345", "k = 'key%d'" % id, "k = 'late%d'" % id:
                same(db, "SELECT * FROM {t} WHERE %s ORDER BY id" % condition)
    command(db, "merge")
    expect(state(db), None)
    command(db, "integrity-check")


@test
def what_is_read_with_care_is_not_damaged(files):
    """To PRAGMA integrity_check: after a VACUUM, without a trigger, without a source."""
    db = files.connect()
    execute(db, "CREATE TABLE log(k TEXT)", "INSERT INTO log VALUES ('a'), ('b')", "CREATE VIRTUAL TABLE log_index USING bloom_index(log, k)")
    command(db, "merge")
    db.isolation_level = None
    for sql, doubt in ("VACUUM", "VACUUM"), ("DROP TRIGGER log_index_after_update", "repairs it"), ("DROP TABLE log", "no table log"):
        db.execute(sql)
        fails(db, "INSERT INTO log_index(log_index) VALUES ('integrity-check')", doubt)
        for check in "integrity_check", "quick_check":
            expect(db.execute("PRAGMA " + check).fetchall(), [("ok",)])


@test
def who_writes_to_the_index_is_told_where(files):
    """By the table's name of today; and making an index is no INSERT."""
    db = files.connect()
    make(db)
    execute(db, "INSERT INTO log VALUES (5000, 'x', 1)", "CREATE VIRTUAL TABLE other USING bloom_index(log, k)")
    expect(one(db, "SELECT last_insert_rowid()"), 5000)
    for table in "log", "journal":
        for db in db, files.connect():
            for sql in "INSERT INTO log_index VALUES (1, 'a', 1)", "INSERT INTO log_index(id) VALUES (1)", "DELETE FROM log_index", "UPDATE log_index SET n = 1", \
                       "REPLACE INTO log_index(id, k) VALUES (1, 'a')", "INSERT INTO log_index(id, log_index) VALUES (1, 'merge')", "UPDATE log_index SET log_index = 'merge'", "INSERT INTO log_index(log_index) VALUES (NULL)":
                fails(db, sql, "bloom_index: log_index is read only: write to table %s" % table)
        if table == "log":
            db.execute("ALTER TABLE log RENAME TO journal")


@test
def an_indexed_column_stays(files):
    """SQLite reads the triggers, in programs without bloom, too."""
    for load in True, False:
        db = files.connect(":memory:" if load else None)
        make(db)
        if not load:
            db.close()
            db = files.connect(load=False)
        fails(db, "ALTER TABLE log DROP COLUMN k", "log_index_before_update" if sqlite3.sqlite_version_info >= (3, 35) else "syntax error")
        db.execute("UPDATE log SET k = 'late' WHERE id = 5")
        expect(one(db, "SELECT count(*) FROM log_index_changed"), 1)


TEXTS = ("WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d), w(j) AS (SELECT 1 UNION ALL SELECT j + 1 FROM w WHERE j < 70)"
         " SELECT i, group_concat(printf('%%x', (i*1000 + j)*2654435761 %% 4294967296), '') AS text FROM n, w GROUP BY i")


def stop_anywhere(db):
    """Refused and interrupted, a merge loses no row."""
    rows = db.execute("SELECT id, substr(text, 2, 20) FROM t WHERE id < 8").fetchall()
    is_refused = True
    for place in list(range(1, 200)) + list(range(200, 1500, 7)):
        if place < 200 and not is_refused:
            continue  # no more is asked
        calls = []
        db.execute("BEGIN")
        if place < 200:
            db.set_authorizer(lambda *args: sqlite3.SQLITE_DENY if calls.append(1) or len(calls) == place else sqlite3.SQLITE_OK)
        else:
            stop_after(db, place - 199, 1)
        error = error_of(db, "INSERT INTO t_index(t_index) VALUES ('merge=1000')")
        db.set_authorizer(None)
        db.set_progress_handler(None, 0)
        is_refused = error is not None
        assert "damaged" not in str(error), error
        for id, text in rows:
            assert (id,) in db.execute("SELECT id FROM t_index WHERE text LIKE '%' || ? || '%'", (text,)).fetchall(), (place, id)
        if db.in_transaction:
            db.execute("ROLLBACK")


@each([3, 40])
def texts_grow(files, num_changed):
    """Few or many of them, by merges that are stopped at each place."""
    db = files.connect()
    execute(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, text, copy)", "INSERT INTO t(id, text) " + TEXTS % (1, 150), "UPDATE t SET copy = text",
            "CREATE VIRTUAL TABLE t_index USING bloom_index(t, text LIKE, copy LIKE)", "INSERT INTO t_index(t_index) VALUES ('merge')")
    db.execute("CREATE TABLE others AS " + TEXTS % (1001, 1160))
    db.execute("UPDATE t SET text = (SELECT group_concat(text, '') FROM others WHERE i BETWEEN t.id + 1000 AND t.id + 1005) WHERE id % 2 = 1 AND id <= ? OR id = 140", (2*num_changed,))
    db.execute("UPDATE t SET copy = text")
    if num_changed == 3:
        stop_anywhere(db)
    for then in "merge=1000", "integrity-check", "merge":
        command(db, then, "t_index")
        for id, text in db.execute("SELECT id, substr(text, 2, 20) FROM t WHERE id % 20 < 2").fetchall():
            sql = "SELECT id FROM {t} WHERE text LIKE '%' || ? || '%'"
            same(db, sql, text, source="t", index="t_index")
            assert (id,) in db.execute(sql.replace("{t}", "t"), (text,)).fetchall()


# When a row of the index's tables is written: nothing is lost by a merge that is refused there.
REFUSALS = {
    "the first row of entries": "BEFORE INSERT ON log_index_entries1",
    "a later one": "BEFORE INSERT ON log_index_entries1 WHEN (SELECT count(*) FROM log_index_entries1) > 0",
    "the first row of zones": "BEFORE INSERT ON log_index_zones2",
    "the spans": "BEFORE INSERT ON log_index_spans",
    "the state": "BEFORE UPDATE OF layout ON log_index_state",
}


@each(REFUSALS)
def a_merge_is_refused(files, when):
    db = files.connect()
    execute(db, "CREATE TABLE log(id INTEGER PRIMARY KEY, k TEXT)", "CREATE VIRTUAL TABLE log_index USING bloom_index(log, k, k RANGE)")
    db.execute("INSERT INTO log WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < %d) SELECT i, 'key' || i FROM c" % NUM_ROWS)
    db.execute("CREATE TRIGGER refusal %s BEGIN SELECT RAISE(ABORT, 'refused'); END" % when)
    for verb in "INSERT", "INSERT OR FAIL", "INSERT OR IGNORE":
        fails(db, verb + " INTO log_index(log_index) VALUES ('merge')", "bloom_index: refused")
        for id in 1, 77, NUM_ROWS:
            expect(db.execute("SELECT id FROM log_index WHERE k = 'key%d'" % id).fetchall(), [(id,)], verb)
    db.execute("DROP TRIGGER refusal")
    finds(db, 77, "k = 'key77'")


@test
def the_state_is_refused(files):
    """By an authorizer, within a transaction, where SQLite undoes nothing of the merge: it is as if none had been."""
    db = files.connect()
    db.isolation_level = None
    make(db)
    execute(db, "BEGIN", "UPDATE log SET k = 'late' WHERE id = 77", "INSERT INTO log VALUES (9999, 'new', 9999)")
    db.set_authorizer(lambda action, name, *rest: sqlite3.SQLITE_DENY if (action, name) == (sqlite3.SQLITE_UPDATE, "log_index_state") else sqlite3.SQLITE_OK)
    fails(db, "INSERT INTO log_index(log_index) VALUES ('merge')", "bloom_index: not authorized")
    db.set_authorizer(None)
    command(db, "integrity-check")
    finds(db, 77, "k = 'late'")
    finds(db, 9999, "k = 'new'")


@test
def a_rebuild_is_refused(files):
    """At its first write to the state, in a transaction that is committed: nothing is forgotten, not the configuration, nor what changed."""
    db = files.connect()
    db.isolation_level = None
    make(db)
    execute(db, "BEGIN", "UPDATE log SET k = 'late' WHERE id = 77")
    db.set_authorizer(lambda action, name, *rest: sqlite3.SQLITE_DENY if (action, name) == (sqlite3.SQLITE_INSERT, "log_index_state") else sqlite3.SQLITE_OK)
    fails(db, "INSERT INTO log_index(log_index) VALUES ('rebuild')", "not authorized")
    db.set_authorizer(None)
    db.execute("COMMIT")
    for db in db, files.connect():
        finds(db, 77, "k = 'late'")


@test
def the_layout_is_lost_on_the_way(files):
    """By a trigger that fires while a merge writes."""
    db = files.connect()
    make(db, indexed="k")
    db.execute("CREATE TRIGGER t AFTER INSERT ON log_index_entries1 BEGIN UPDATE log_index_state SET layout = NULL; END")
    for text in "rebuild", "merge":
        db.execute("UPDATE log SET k = 'late' WHERE id = 77")
        error_of(db, "INSERT INTO log_index(log_index) VALUES ('%s')" % text)
        expect(db.execute("SELECT id FROM log_index WHERE k = 'late'").fetchall(), [(77,)])
    db.execute("DROP TRIGGER t")
    finds(db, 77, "k = 'late'")


@test
@slow
def more_changes_than_rows(files):
    """Merges of N rows make all entries again, a part each, so that those of old values go."""
    db = files.connect()
    make(db, indexed="k")
    db.execute("UPDATE log SET k = 'new' || id")
    db.execute("INSERT INTO log(k) WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 5000) SELECT 'behind' || i FROM c")
    command(db, "merge=100000")
    expect(state(db, "covered"), NUM_ROWS + 5000)
    for turn in range(12):
        db.execute("UPDATE log SET k = 'newer%d of ' || id" % turn)
        command(db, "merge=100000")
        finds(db, 77, "k = 'newer%d of 77'" % turn)
    merged = state(db, "bytes")
    command(db, "rebuild")
    assert merged < 6 * state(db, "bytes"), (merged, state(db, "bytes"))


@test
def functions_of_the_program(files):
    """Another LIKE in place of SQLite's, of any number of arguments; and a program that may not be told which there are."""
    db = files.connect(":memory:")
    make(db)
    db.create_function("like", -1, lambda pattern, text, *escape: text == "key" + pattern)
    expect(db.execute("SELECT id FROM log_index WHERE k LIKE '77'").fetchall(), [(77,)])
    db = files.connect()
    make(db, indexed="k LIKE")
    db.create_function("like", -1, lambda pattern, text, *escape: text == "key" + pattern)
    same(db, "SELECT id FROM {t} WHERE k LIKE '77'")
    db.close()
    db = files.connect()
    db.set_authorizer(lambda action, name, *rest: sqlite3.SQLITE_IGNORE if (action, name) == (sqlite3.SQLITE_PRAGMA, "function_list") else sqlite3.SQLITE_OK)
    expect(db.execute("SELECT id FROM log_index WHERE k LIKE 'key77'").fetchall(), [(77,)])
    expect(db.execute("SELECT id FROM log_index WHERE k GLOB 'key77'").fetchall(), [(77,)])


@test
def functions_are_shown_to_be_built_in(files):
    """By the ends that SQLite makes of a pattern, without the list of functions, which takes longer than a look-up: in UTF-8, from 3.40 on."""
    asked = []
    db = files.connect()
    make(db, indexed="k LIKE")
    db.set_authorizer(lambda action, name, *rest: asked.append(name) or sqlite3.SQLITE_OK if action == sqlite3.SQLITE_PRAGMA else sqlite3.SQLITE_OK)
    for sql, setting in ("SELECT id FROM {t} WHERE k LIKE '%y77%'", None), ("SELECT id FROM {t} WHERE k GLOB '*y77*'", None), (
            "SELECT id FROM {t} WHERE k LIKE '%Y77%'", 1), ("SELECT id FROM {t} WHERE k LIKE '%Y77%' ", 0):
        if setting is not None:
            db.execute("PRAGMA case_sensitive_like = %d" % setting)
        asked.clear()
        same(db, sql)
        expect("function_list" in asked, setting == 1 or sqlite3.sqlite_version_info < (3, 40), sql)


FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
UTF8, UTF16LE, UTF16BE, UTF16 = 1, 2, 3, 4


def count_by(api, sql):
    statement = api.prepare(sql)
    expect(api.lib.sqlite3_step(statement), 100)
    found = api.lib.sqlite3_column_int64(statement, 0)
    api.lib.sqlite3_finalize(statement)
    return found


@each(["UTF-8", "UTF-16le", "UTF-16be"])
def a_function_replaced(files, encoding):
    """SQLite's like() and glob() by others, for any encoding and number of arguments, before or after a PRAGMA that registers like(), too."""
    db = files.connect()
    db.execute("PRAGMA encoding = '%s'" % encoding)
    make(db, indexed="k LIKE")
    db.close()
    pragma = "PRAGMA case_sensitive_like = 0"
    for name, sql in ("like", "SELECT count(*) FROM {t} WHERE k LIKE '%y77%'"), ("glob", "SELECT count(*) FROM {t} WHERE k GLOB '*y77*'"):
        for num_args, of, before, after in itertools.product((2, -1), (UTF8, UTF16LE, UTF16BE, UTF16), ("", pragma), ("", pragma)):
            api = Api(files.path, files.load)
            is_true = FUNCTION(lambda context, num_args, args: api.lib.sqlite3_result_int(ctypes.c_void_p(context), 1))
            api.run(before)
            api.ok(api.lib.sqlite3_create_function(api.db, name.encode(), num_args, of, None, is_true, None, None))
            api.run(after)
            expect(count_by(api, sql.format(t="log_index")), count_by(api, sql.format(t="log")), "%s(%d), encoding %d; %s; %s" % (name, num_args, of, before, after))
            api.close()


@test
def functions_that_commands_do_without(files):
    """glob() and like() of the application, or denied by its authorizer: what bloom finds in the schema is found without them."""
    for name, result in itertools.product(("glob", "like"), (0, 1, None)):
        db = files.connect(cached_statements=0)
        db.execute("CREATE TABLE t(k TEXT, n INTEGER)")
        db.executemany("INSERT INTO t VALUES (?, ?)", [("k%d" % i, i) for i in range(1000)])
        db.execute("CREATE VIRTUAL TABLE t_index USING bloom_index(t, n)")
        db.execute("CREATE VIRTUAL TABLE t_k USING bloom(t, k)")  # its triggers are newer than the index
        db.set_authorizer(lambda action, first, what, *rest: sqlite3.SQLITE_DENY if what == name else sqlite3.SQLITE_OK)
        for denied in True, False:
            expect(db.execute("SELECT k FROM t_index WHERE n = 77").fetchall(), [("k77",)])
            expect(db.execute("SELECT serves, note FROM bloom_index_info('t_index')").fetchall(), [(1, None)])
            db.set_authorizer(None)
            db.create_function(name, 2, lambda *arguments: result)
        for table, command in itertools.product(("t_index", "t_k"), ("merge", "rebuild", "integrity-check")):
            db.execute("INSERT INTO %s(%s) VALUES ('%s')" % (table, table, command))
        for table in "t_index", "t_k", "t":
            db.execute("DROP TABLE " + table)
        expect(db.execute("SELECT name FROM sqlite_master").fetchall(), [])
        db.close()


@test
def hidden_notes(files):
    """By an authorizer, from a program that reads: then all is read."""
    db = files.connect()
    make(db)
    db.execute("UPDATE log SET k = 'late' WHERE id IN (77, 78)")
    db.set_authorizer(lambda action, name, *rest: sqlite3.SQLITE_IGNORE if (action, name) == (sqlite3.SQLITE_READ, "log_index_changed") else sqlite3.SQLITE_OK)
    expect(db.execute("SELECT id FROM log_index WHERE k = 'late'").fetchall(), [(77,), (78,)])


@test
def statements_outlive_a_plan(files):
    """Those whose results prove that an authorizer hid nothing from them: the next query compiles none of them again."""
    db = files.connect(cached_statements=0)
    make(db)
    read = []
    db.set_authorizer(lambda action, name, *rest: read.append(name) or sqlite3.SQLITE_OK if action == sqlite3.SQLITE_READ else sqlite3.SQLITE_OK)
    for first in True, False:
        read.clear()
        expect(db.execute("SELECT id FROM log_index WHERE k = 'key77'").fetchall(), [(77,)])
        for table in "log_index_state", "log_index_entries1":
            expect(table in read, first, table)


@each((("log_index_state", "layout"), ("log_index_state", "covered"), ("log_index_changed", "id"), ("log_index_entries1", "data"), ("log", "id"), ("log", "k")))
def hidden_once(files, of, column):
    """By an authorizer that is gone when the next query comes, which finds what changed since, too."""
    db = files.connect(cached_statements=0)
    make(db)

    def find(key):
        return [db.execute("SELECT id FROM %s WHERE k = ?" % table, (key,)).fetchall() for table in ("log_index", "log")]

    for change in None, "UPDATE log SET k = 'late' WHERE id IN (7, 78)", "INSERT INTO log(k) VALUES ('late')", "INSERT INTO log_index(log_index) VALUES ('merge')":
        if change:
            db.execute(change)
        db.set_authorizer(lambda action, name, its, *rest: sqlite3.SQLITE_IGNORE if action == sqlite3.SQLITE_READ and name == of and its in (column, "ROWID") else sqlite3.SQLITE_OK)
        error_of(db, "SELECT count(*) FROM log_index WHERE k = 'key77'")
        db.set_authorizer(None)
        for key in "key77", "late":
            its, the_tables = find(key)
            expect(its, the_tables, "%s, %s" % (change, key))


@test
def a_plan_is_stopped(files):
    """By an interrupt or an authorizer, at each place: the error says so, and a statement that comes about finds its row."""
    db = files.connect(cached_statements=0)
    make(db, "k TEXT COLLATE NOCASE, n INTEGER", "'key' || i, i")

    def find():
        return db.execute("SELECT id FROM log_index WHERE k = 'KEY77' AND n = 77").fetchall()

    def interrupt(place):
        stop_after(db, place, 1)
        return "SQLITE_INTERRUPT", "interrupted"

    def refuse(place, last):
        calls = []
        db.set_authorizer(lambda action, *rest: sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_SELECT and (calls.append(1) or place <= len(calls) <= last) else sqlite3.SQLITE_OK)
        return "SQLITE_AUTH", "not authorized"

    for stop in interrupt, lambda place: refuse(place, place), lambda place: refuse(place, 1000):
        num_errors = num_found = 0
        for place in range(1, 3000):
            name, message = stop(place)
            try:
                expect(find(), [(77,)], "stopped at %d" % place)
                num_found += 1
            except sqlite3.Error as error:
                num_errors += 1
                expect(str(error)[-len(message):], message, "stopped at %d" % place)
                expect(getattr(error, "sqlite_errorname", name), name, "stopped at %d" % place)  # Python 3.11
            db.set_authorizer(None)
            db.set_progress_handler(None, 0)
            expect(find(), [(77,)])
            if num_found > 2:
                break
        assert num_found > 2 and num_errors > (4 if stop is interrupt else 0), (num_found, num_errors)


@each(["connected", "not connected"])
def compiled_under_a_lock(files, then):
    """What the plan could not look at is looked at when it runs."""
    db = files.connect()
    make(db, indexed="k, k LIKE")
    api = Api(files.path, files.load)
    api.run("SELECT k FROM log_index LIMIT 0" if then == "connected" else "SELECT 1 FROM sqlite_master")
    db.execute("BEGIN EXCLUSIVE")
    sql = ["SELECT id FROM log_index WHERE " + each for each in ("k = 'key77'", "k LIKE 'key77'", "k GLOB '*key77'", "id = 77 AND k IN ('key77', 'x')", "id = 77 AND n > 0 ORDER BY n")]
    if then == "not connected":
        statement = ctypes.c_void_p()
        expect(api.lib.sqlite3_prepare_v2(api.db, sql[0].encode(), -1, ctypes.byref(statement), None), 5)
        expect(api.lib.sqlite3_errmsg(api.db), b"bloom_index: database is locked")
        db.execute("COMMIT")
        statements = []
    else:
        statements = [api.prepare(each) for each in sql]
        db.execute("COMMIT")
    for statement in statements:
        expect(api.lib.sqlite3_step(statement), 100)
        expect(api.lib.sqlite3_column_int64(statement, 0), 77)
        expect(api.lib.sqlite3_step(statement), 101)
        api.lib.sqlite3_finalize(statement)
    api.close()


@each(["UTF-8", "UTF-16le", "UTF-16be"], ["k TEXT", "k NUMERIC", "k"])
def begins_with_a_mark(files, encoding, column):
    """U+FEFF and U+FFFE are characters there, and SQLite takes them for byte-order marks where a value is bound.

    Bytes, since char(65534) is U+FFFD where an old SQLite converts it."""
    db = files.connect()
    db.execute("PRAGMA encoding = '%s'" % encoding)
    expect(one(db, "PRAGMA encoding"), encoding)
    marks = ["CAST(x'%s' AS TEXT)" % text.encode(encoding, "surrogatepass").hex() for text in ("\ufeff", "\ufffe", "\ufffe\ud800")]
    make(db, columns=column + ", n INTEGER", values="(CASE i % 3 WHEN 0 THEN {} WHEN 1 THEN {} ELSE {} END) || 'key' || i, i".format(*marks), indexed="k, k LIKE")
    for number, mark in zip((600, 601, 602), marks):
        key = "%s || 'key%d'" % (mark, number)
        for condition in "k = " + key, "k IS " + key, "k IN ('key5', %s)" % key, "k = 'key5' OR k = " + key, "k = (SELECT k FROM log WHERE id = %d)" % number, \
                         "k LIKE %s || 'key60_'" % mark, "k LIKE %s || '%%'" % mark, "k LIKE '%%' || %s || 'key60_'" % mark, "k GLOB %s || 'key60?'" % mark:
            if "LIKE" not in condition and "GLOB" not in condition: # there a half swallows what follows
                expect(one(db, "SELECT count(*) FROM log WHERE id = %d AND (%s)" % (number, condition)), 1, "%s finds its row" % condition)
            same(db, "SELECT id FROM {t} WHERE %s ORDER BY id" % condition)
    same(db, "SELECT log.id FROM log CROSS JOIN {t} i ON i.k = log.k")


@each(["UTF-8", "UTF-16le", "UTF-16be"], ["TEXT", "NUMERIC", ""])
def literals_of_bytes(files, encoding, declared):
    """In UTF-16 SQLite shows a plan another text than it compares: of bytes as if they were UTF-8."""
    db = files.connect()
    db.execute("PRAGMA encoding = '%s'" % encoding)
    texts = ["'a'", "'b'", "NULL"] + ["CAST(x'%s' AS TEXT)" % text for text in (
        "61f4908080", "61f48fbfbf", "61eda080", "ff", "6100", "fffe6100", "feff0061", "efbbbf61", "61efbbbf", "61bfef00")]
    db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, v %s, k)" % declared)
    for text in texts:
        db.execute("INSERT INTO log(v, k) VALUES (%s, 1), (%s, 2)" % (text, text))
    db.execute("CREATE VIRTUAL TABLE log_index USING bloom_index(log, k)")
    command(db, "merge")
    for text in texts:
        for operator in "=", "IS", "<", "<=", ">", ">=", "<>", "LIKE", "GLOB":
            for collation in "", " COLLATE NOCASE", " COLLATE RTRIM":
                same(db, "SELECT id FROM {t} WHERE v %s %s%s ORDER BY id" % (operator, text, collation))


LITERALS = """0x7fffffff 0x80000000 0X80000001 +0x80000000 (0x80000000) -0x80000000 -(0x80000000) 0xffffffffffffffff 0x8000000000000000
2147483648 2147483648.0 2147483648. 2.147483648e9 .5 -.5 1e5 1E+5 100000 -5 -(-5) 9223372036854775807 9223372036854775808 -9223372036854775808
99999999999999999999 9e999 -9e999 1.50 '0x80000000' '-0x80000000' '2147483648' '1e5' '1E+5' '.5' '1.5' '1.50' '1-5' -'5' +'5' -'x' 'x' '' NULL -NULL TRUE
x'' x'35' x'30783830303030303030' -x'35' CAST(0x80000000_AS_TEXT) CAST(1.50_AS_TEXT) CAST('0x80000000'_AS_INTEGER) CAST('01x5'_AS_NUMERIC)
CAST(x'35'_AS_INTEGER) CAST(x'35'_AS_TEXT) CAST(0x80000000_AS_BLOB) CAST(NULL_AS_TEXT) CAST(CAST('5x'_AS_NUMERIC)_AS_TEXT)""".replace("\n", " ").split(" ")


@each(["TEXT", "BLOB", "", "NUMERIC", "TEXT COLLATE NOCASE"])
def literals_of_all_forms(files, declared):
    """Up to 3.52 SQLite shows a plan hexadecimal numbers from 0x80000000 on as TEXT."""
    db = files.connect()
    literals = [literal.replace("_", " ") for literal in LITERALS]
    if sqlite3.sqlite_version_info >= (3, 46):
        literals += ["0x8000_0000", "1_000.5", "2_147_483_648"]
    db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, v %s, w %s)" % (declared, declared))
    for literal in literals + ["'2147483647'", "'3'", "'-3'", "'a'", "7", "2147483647", "-2147483649", "x'ff'"]:
        db.execute("INSERT INTO log(v, w) VALUES (%s, %s)" % (literal, literal))
    db.execute("CREATE VIRTUAL TABLE log_index USING bloom_index(log, w, w LIKE, w RANGE)")
    command(db, "merge")
    for column in "v", "w":
        for literal in literals:
            for operator in "=", "IS", "<", "<=", ">", ">=", "LIKE", "GLOB", "COLLATE NOCASE >", "COLLATE RTRIM <":
                same(db, "SELECT id FROM {t} WHERE %s %s %s ORDER BY id" % (column, operator, literal))
            same(db, "SELECT id FROM {t} WHERE (%s, id) > (%s, 20) ORDER BY id" % (column, literal))
            same(db, "SELECT id FROM {t} WHERE %s IN (%s, 'x') ORDER BY id" % (column, literal))
        ends = [literal for literal in literals if "0x" in literal or literal[:1] == "'"]
        for first in ends:
            for last in ends:
                same(db, "SELECT id FROM {t} WHERE %s >= %s AND %s < %s ORDER BY id" % (column, first, column, last))


@each(["v", "w"])
def ends_of_patterns(files, column):
    """SQLite makes a range of `LIKE 'begin%'` and filters by it, from 3.52 on with ends that have other bytes than the pattern:
    an outer join loses its rows where the range is met and the pattern is not."""
    db = files.connect()
    execute(db, "CREATE TABLE log(id INTEGER PRIMARY KEY, v, w TEXT)", "INSERT INTO log(v, w) VALUES ('abc', 'abc'), ('0', '0'), (x'ff', 'z')",
            "CREATE TABLE o(n INTEGER PRIMARY KEY)", "INSERT INTO o VALUES (1), (2)", "CREATE VIRTUAL TABLE log_index USING bloom_index(log, v LIKE)")
    for begin in "\u00ff", "\u00e9", "a\u00ff", "\u07ff", "\U0010ffff", "\x7f", "@", "z", "a", "ab", "0", "":
        for pattern in "LIKE '%s%%'", "LIKE '%s%%x'", "LIKE '%s_%%' ESCAPE '_'", "GLOB '%s*'", "GLOB '%s*x'":
            same(db, "SELECT o.n, t.id FROM o LEFT JOIN {t} AS t ON t.%s %s ORDER BY 1, 2" % (column, pattern % begin))


@each(["TEXT", "TEXT COLLATE NOCASE", "TEXT COLLATE RTRIM", "BLOB", "INTEGER", "INTEGER COLLATE NOCASE", "REAL"])
def what_differs(files, declared):
    """Of <> and IS NOT SQLite tells a plan neither the collation nor the affinity of the other side."""
    db = files.connect()
    values = ["'abc'", "'ABC'", "'abc  '", "'x'", "5", "'5'", "'5.0'", "5.5", "'5.5'", "9007199254740993", "'9007199254740993'", "9e999", "'Inf'", "NULL", "x'35'"]
    others = ["TEXT", "NUMERIC", "BLOB", "REAL", "TEXT COLLATE NOCASE", "COLLATE RTRIM"]
    execute(db, "CREATE TABLE log(id INTEGER PRIMARY KEY, v %s, k)" % declared,
            "CREATE TABLE o(id INTEGER PRIMARY KEY, %s)" % ", ".join("d%d %s" % other for other in enumerate(others)))
    for value in values:
        db.execute("INSERT INTO log(v, k) VALUES (%s, 1)" % value)
        db.execute("INSERT INTO o(%s) VALUES (%s)" % (", ".join("d%d" % n for n in range(len(others))), ", ".join([value] * len(others))))
    db.execute("CREATE VIRTUAL TABLE log_index USING bloom_index(log, k)")
    command(db, "merge")
    for operator in "<>", "IS NOT":
        for collation in "", " COLLATE NOCASE", " COLLATE RTRIM", " COLLATE BINARY":
            for value in values:
                same(db, "SELECT id FROM {t} WHERE v %s %s%s ORDER BY id" % (operator, value, collation))
                same(db, "SELECT id FROM {t} WHERE v %s %s%s ORDER BY id LIMIT 4 OFFSET 2" % (operator, value, collation))
            for n in range(len(others)):
                same(db, "SELECT o.id, (SELECT count(*) FROM {t} AS t WHERE t.v %s o.d%d%s) FROM o ORDER BY 1" % (operator, n, collation))
                same(db, "SELECT o.id, (SELECT count(*) FROM {t} AS t WHERE o.d%d%s %s t.v) FROM o ORDER BY 1" % (n, collation, operator))


# -- What is not the index's own -------------------------------------------------------------------

@test
def another_trigger_is_no_guard(files):
    """One on the state, later than a trigger that stops its own: the doubt stays, and 'rebuild' and a new name keep it."""
    for rename in False, True:
        db = files.connect(":memory:")
        make(db)
        execute(db, "DELETE FROM log WHERE id > 2000", "CREATE TRIGGER keep AFTER INSERT ON log BEGIN SELECT RAISE(IGNORE); END",
                "CREATE TRIGGER watch AFTER UPDATE OF covered ON log_index_state BEGIN SELECT 1; END", "INSERT INTO log(k) VALUES ('late'), ('other')")
        if rename:
            execute(db, "ALTER TABLE log_index RENAME TO i", "ALTER TABLE i RENAME TO log_index")
        expect(same(db, "SELECT id FROM {t} WHERE k = 'late'"), 1)
        command(db, "rebuild")
        expect(one(db, "SELECT count(*) FROM sqlite_master WHERE name = 'watch'"), 1)
        db.execute("INSERT INTO log(k) VALUES ('later')")
        expect(same(db, "SELECT id FROM {t} WHERE k = 'later'"), 1)
        command(db, "integrity-check")


@test
def a_trigger_keeps_notes_out(files):
    db = files.connect()
    make(db)
    execute(db, "CREATE TRIGGER x BEFORE INSERT ON log_index_changed BEGIN SELECT RAISE(IGNORE); END", "UPDATE log SET k = 'late' WHERE id = 77")
    expect(same(db, "SELECT id FROM {t} WHERE k = 'late'"), 1)
    fails(db, "INSERT INTO log_index(log_index) VALUES ('integrity-check')", "changed rows has a trigger: drop that")
    for then in "merge", "rebuild":
        fails(db, "INSERT INTO log_index(log_index) VALUES ('%s')" % then, "trigger x is in the way of log_index: DROP TRIGGER x")
    execute(db, "DROP TRIGGER x", "INSERT INTO log_index(log_index) VALUES ('rebuild')", "INSERT INTO log_index(log_index) VALUES ('integrity-check')")


OWN = ["DROP TRIGGER log_index_" + each for each in ("before_insert", "after_insert", "before_move", "before_update", "after_update")]
REBUILD = "INSERT INTO log_index(log_index) VALUES ('rebuild')"
# What is run before, and what while another statement writes.
ON_THEIR_WAY = {
    "CREATE": (["DROP TABLE log_index"], "CREATE VIRTUAL TABLE log_index USING bloom_index(log, k)"),
    "rebuild": (OWN[3:], REBUILD),
    "rebuild for a column": (OWN + ["ALTER TABLE log DROP COLUMN k", REBUILD, "ALTER TABLE log ADD COLUMN k"], REBUILD),
}


@each(ON_THEIR_WAY.keys())
def while_a_statement_writes(files, how):
    """A statement that was compiled without the index's triggers writes on: it has none to note its rows."""
    before, sql = ON_THEIR_WAY[how]
    if "column" in how and sqlite3.sqlite_version_info < (3, 35):
        raise Skip("a SQLite that drops columns")
    db, errors = files.connect(), []
    make(db)
    execute(db, *before)

    def late(_):
        errors.append(error_of(db, sql))
        db.execute("SELECT name FROM sqlite_master").fetchall()  # until then SQLite 3.31 takes the refused table for there
        return "late"
    db.create_function("f", 1, late)
    db.execute("UPDATE log SET k = f(id) WHERE id = 77")
    assert "while another statement of this connection writes" in str(errors[0]), errors
    db.execute(sql)
    expect(same(db, "SELECT id FROM {t} WHERE k = 'late'"), 1)
    command(db, "integrity-check")


@test
def triggers_are_off(files):
    """Then SQLite hands a statement the rows that it inserts: what reads the index for them comes to an end all the same."""
    make(files.connect())
    api = Api(files.path, files.load)
    api.ok(api.lib.sqlite3_db_config(api.db, 1003, 0, None))
    api.run("PRAGMA max_page_count = 2000; INSERT INTO log(k, n) SELECT k, n FROM log_index WHERE n < 50; INSERT INTO log(k, n) SELECT k, n FROM log_index WHERE k = 'key77'")
    api.close()
    expect(one(files.connect(), "SELECT count(*) FROM log"), 4501)


@test
def plans_say_what_is_not_merged(files):
    if not PLANS_SAY:
        raise Skip("a SQLite whose plans are read in")
    db = files.connect()
    execute(db, "CREATE TABLE log(id INTEGER PRIMARY KEY, k TEXT)", "CREATE VIRTUAL TABLE log_index USING bloom_index(log, k)")

    def add(num_rows):
        db.execute("INSERT INTO log(k) WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < %d) SELECT 'k' || i FROM c" % num_rows)

    def says(what, column="k"):
        text = plan(db, "SELECT * FROM log_index WHERE %s = 'x'" % column)
        expect(text.split("= ? by ")[1].split(" [")[0], ("id" if column == "id" else "entries") + what, text)
    cure = "; INSERT INTO log_index(log_index) VALUES ('merge') makes it faster"
    add(999)
    says("")
    add(1001)
    says("; reads up to 2000 rows that are not merged" + cure)
    command(db, "merge")
    says("")
    add(20000)
    says("; reads up to 20000 rows that are not merged" + cure)
    command(db, "merge")
    add(999)
    says("")
    add(1)
    says("; reads up to 1000 rows that are not merged" + cure)
    says("", "id")
    command(db, "merge")
    db.execute("UPDATE log SET k = k || 'x' WHERE id <= 1000")
    says("")
    db.execute("UPDATE log SET k = k || 'x' WHERE id <= 3000")
    says("; reads the whole table: too many rows changed since the last merge" + cure)
    command(db, "merge")
    for rows in "= 19999", "<= 3000", "= 20000":
        db.execute("UPDATE log SET k = k || 'y' WHERE id " + rows)
    command(db, "merge=3000")  # leaves the two that are far from each other
    says("")


@each(["delete", "wal", "memory", "off"])
def nothing_written_is_missed(files, mode):
    """What a look-up found out it keeps until something is written: by itself, by another connection, or for a while."""
    in_file = mode in ("delete", "wal")
    path = files.path if in_file else ":memory:"
    db = files.connect(path, cached_statements=500)
    make(db, values="'key' || i * 7, i % 100")
    expect(one(db, "PRAGMA journal_mode = " + mode), mode)

    def look(what):
        for condition, value in itertools.chain(itertools.product(["k"], ("key350", "late", "early", "key21000")), itertools.product(["n"], (50, 77777, None))):
            sql = "SELECT id, n FROM %%s WHERE %s = ?" % condition
            rows = [sorted(db.execute(sql % table, (value,)).fetchall()) for table in ("log_index", "log")]
            expect(*rows, "%s: %s, %r" % (what, sql, value))

    number = itertools.count(10001)
    for writer in [db, files.connect(path, timeout=0)] if in_file else [db]:
        for sql in ("INSERT INTO log(k, n) VALUES ('late', %d)", "UPDATE log SET k = 'early' WHERE id = %d %% 3000", "UPDATE log SET n = 77777 WHERE id = %d %% 100",
                    "INSERT OR FAIL INTO log VALUES (%d, 'late', 50), (50, 'no', 50)", "INSERT INTO log VALUES (%d, 'late', 50), (50, 'no', 50)",
                    "DELETE FROM log WHERE id > 3000 AND id %% 3 = %d %% 3", "INSERT INTO log_index(log_index) VALUES ('merge=100') -- %d",
                    "INSERT INTO log_index(log_index) VALUES ('merge') -- %d", "INSERT INTO log_index(log_index) VALUES ('rebuild') -- %d"):
            for around in ["%s"], ["BEGIN", "%s", "COMMIT"], ["BEGIN", "%s", "ROLLBACK"], ["BEGIN", "SAVEPOINT s", "%s", "ROLLBACK TO s", "COMMIT"]:
                for part in around:
                    what = part.replace("%s", sql % next(number))
                    error_of(writer, what)
                    look("%s, %s: %s" % (mode, "itself" if writer is db else "another", " ".join(around).replace("%s", what)))
    if mode != "off":
        command(db, "integrity-check")


@test
def of_a_shared_cache(files):
    """What another connection's transaction writes is there by PRAGMA read_uncommitted, and may go again."""
    uri = "file:%s?cache=shared" % files.path
    db, other = (files.connect(uri, uri=True, timeout=0) for _ in range(2))
    make(db)
    db.execute("PRAGMA read_uncommitted = ON")
    for end in "COMMIT", "ROLLBACK":
        for sql in None, "BEGIN", "INSERT INTO log(k, n) VALUES ('late', 5)", "UPDATE log SET k = 'late' WHERE id = 7", "INSERT INTO log_index(log_index) VALUES ('merge')", end:
            if sql:
                other.execute(sql)
            for _ in range(2):
                rows = [sorted(db.execute("SELECT id FROM %s WHERE k = ?" % table, ("late",)).fetchall()) for table in ("log_index", "log")]
                expect(rows[0], rows[1], "%s, %s" % (sql, end))


if __name__ == "__main__":
    sys.exit(main())
