"""The source's schema changes, and the index goes on: columns that come, go and get other names or types, ids, versions."""
import sqlite3
import struct
import sys

from log import CHECK, checksummed, command, is_believed, plan_says, same as same_query, state, u32  # the first: it finds the others
from cases import PLANS_SAY, Skip, each, error_of, execute, expect, fails, main, one, plan, stop_after, test

NUM_ROWS = 1000
DROPS = sqlite3.sqlite_version_info >= (3, 35)


def make(db, columns="id INTEGER PRIMARY KEY, k TEXT, n INTEGER, message TEXT", indexed="k, n, message LIKE", tail=""):
    db.execute("CREATE TABLE log(%s)%s" % (columns, tail))
    names = [each.split()[0] for each in columns.split(", ") if " AS " not in each]
    values = {"id": "i", "k": "'key' || i", "n": "i % 100", "message": "'request ' || (i * 7919) || ' of key' || i", "r": "i + 0.1"}
    db.execute("INSERT INTO log(%s) WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < %d) SELECT %s FROM c" % (
        ", ".join(names), NUM_ROWS, ", ".join(values[name] for name in names)))
    db.execute("CREATE VIRTUAL TABLE log_index USING bloom_index(log, %s)" % indexed)
    command(db, "merge")
    return db


def same(db, condition, *args, columns="*"):
    return same_query(db, "SELECT %s FROM {t} WHERE %s ORDER BY rowid" % (columns, condition), *args)


def all_same(db, k="k", n="n", message="message"):
    expect(same(db, "%s = 'key77'" % k), 1)
    expect(same(db, "%s = 'key77' AND %s = 77" % (k, n)), 1)
    expect(same(db, "%s = 5" % n), NUM_ROWS // 100)
    expect(same(db, "%s LIKE '%%of key77'" % message), 1)
    expect(same(db, "%s IN ('key1', 'key2', 'absent')" % k), 2)


CHANGES = {
    "a column more": ("ALTER TABLE log ADD COLUMN more DEFAULT 7", {}),
    "a column less": ("ALTER TABLE log DROP COLUMN other", {}),
    "an indexed column has another name": ("ALTER TABLE log RENAME COLUMN k TO \"a \"\"key\"\"\"", {"k": '"a ""key"""'}),
    "one has the name of a trigger's row": ("ALTER TABLE log RENAME COLUMN k TO new", {"k": "new"}),
    "another column has another name": ("ALTER TABLE log RENAME COLUMN other TO another", {}),
    "the id has another name": ("ALTER TABLE log RENAME COLUMN id TO number", {}),
    "two change names": ("ALTER TABLE log RENAME COLUMN k TO x; ALTER TABLE log RENAME COLUMN message TO k; ALTER TABLE log RENAME COLUMN x TO message",
                         {"k": "message", "message": "k"}),
    "a column is called like the index": ("ALTER TABLE log RENAME COLUMN other TO log_index", {}),
    "an indexed one is called like the index": ("ALTER TABLE log RENAME COLUMN n TO log_index", {"n": "log_index"}),
    "the table has another name": ("ALTER TABLE log RENAME TO log2; ALTER TABLE log2 RENAME TO log", {}),
}


@each(CHANGES.keys(), {"by itself": ("itself", False), "by another": ("another", False), "by a program without bloom": ("a program without bloom", False),
                       "in a transaction": ("a transaction", False), "legacy_alter_table": ("itself", True)})
def it_goes_on(files, change, who, legacy):
    """Before, between and after, in whatever connection; no merge is needed, and one does not hurt."""
    sqls, names = CHANGES[change]
    if "DROP" in sqls and not DROPS:
        raise Skip("that ALTER TABLE")
    db = make(files.connect())
    db.execute("ALTER TABLE log ADD COLUMN other")
    other = files.connect(load=who != "a program without bloom")
    all_same(db)
    by = db if who == "itself" else other
    if legacy:
        by.execute("PRAGMA legacy_alter_table = ON")
    if who == "a transaction":
        by.execute("BEGIN")
    for sql in sqls.split("; "):
        by.execute(sql)
    if who == "a transaction":
        all_same(by, **names)
        by.execute("ROLLBACK")
        all_same(by)
        for sql in sqls.split("; "):
            by.execute(sql)
    id = "number" if "the id" in change else "id"
    for each in [db, files.connect()] + [other] * (who != "a program without bloom"):
        all_same(each, **names)
        is_believed(each, "SELECT * FROM log_index WHERE %s = 'x'" % names.get("k", "k"))
    other.execute("UPDATE log SET %s = 'late' WHERE %s = 5" % (names.get("k", "k"), id))
    expect(same(db, names.get("k", "k") + " = 'late'"), 1)
    for text in "merge", "integrity-check", "rebuild", "integrity-check":
        command(db, text)
        all_same(db, **names)
    expect(state(db), None)


def edit_schema(db, old, new):
    version = one(db, "PRAGMA schema_version")
    execute(db, "PRAGMA writable_schema = ON",
            "UPDATE sqlite_master SET sql = replace(sql, '%s', '%s') WHERE name = 'log' AND type = 'table'" % (old, new),
            "PRAGMA schema_version = %d" % (version + 1), "PRAGMA writable_schema = OFF")


EDITS = {
    "type": ("k TEXT", "k BLOB", "has another type"),
    "collation": ("k TEXT", "k TEXT COLLATE NOCASE", "has another collation"),
    "gone": ("k TEXT", "c TEXT", "is gone"),
}


@each(EDITS.keys())
def what_is_another_is_not_used(files, edit):
    """Its blocks are out of use, EXPLAIN and note say so, and 'merge' repairs it.  Nothing is mixed by one in a trigger."""
    old, new, why = EDITS[edit]
    db = make(files.connect())
    edit_schema(db, old, new)
    db.close()
    db = files.connect()
    k = "c" if edit == "gone" else "k"
    db.execute("UPDATE log SET %s = 'KEY77' WHERE id = 99" % k) if edit != "gone" else None

    def all_same_but():
        for condition in k + " = 'key77'", k + " = x'6b6579'", "n = 5", "message LIKE '%of key77'":
            same(db, condition)
    all_same_but()
    if edit != "gone":
        plan_says(db, why)
        assert why not in plan(db, "SELECT * FROM log_index WHERE n = 5")
    execute(db, "CREATE TABLE jobs(x)", "CREATE TRIGGER nightly AFTER INSERT ON jobs BEGIN INSERT INTO log_index(log_index) VALUES ('merge'); END",
            "INSERT INTO jobs VALUES (1)")
    expect(state(db), "column k %s; INSERT INTO log_index(log_index) VALUES ('merge') repairs it" % why)
    fails(db, CHECK, "column k %s" % why)
    all_same_but()
    command(db, "merge")
    expect(state(db), None)
    command(db, "integrity-check")
    all_same_but()
    assert why not in plan(db, "SELECT * FROM log_index WHERE %s = 'x'" % k)
    if edit == "gone":
        db.execute("ALTER TABLE log ADD COLUMN k TEXT DEFAULT 'key77'")
        expect(same(db, "k = 'key77'"), NUM_ROWS)
        expect(state(db), "column k is there again; INSERT INTO log_index(log_index) VALUES ('merge') repairs it")
        command(db, "merge")
        expect(same(db, "k = 'key77'"), NUM_ROWS)
        command(db, "integrity-check")


@test
def an_index_of_a_lost_column_is_renamed(files):
    """With legacy_alter_table its triggers do not keep the column, and fail each UPDATE; the renamed index has none."""
    if not DROPS:
        raise Skip("that ALTER TABLE")
    db = make(files.connect())
    execute(db, "PRAGMA legacy_alter_table = ON", "ALTER TABLE log DROP COLUMN k")
    fails(db, "UPDATE log SET n = 101 WHERE id = 5", "no such column")
    execute(db, "ALTER TABLE log_index RENAME TO other", "UPDATE log SET n = 101 WHERE id = 5")
    expect(db.execute("SELECT id FROM other WHERE n = 101").fetchall(), [(5,)])
    for text in "rebuild", "integrity-check":
        command(db, text, "other")
    db.execute("UPDATE log SET n = 102 WHERE id = 5")
    expect(db.execute("SELECT id FROM other WHERE n > 100").fetchall(), [(5,)])


@test
def a_rebuild_that_fails_changes_nothing(files):
    """What it had set in memory is forgotten with the rows: entries are those of the old type still."""
    db = make(files.connect(), indexed="k, k RANGE")
    edit_schema(db, "k TEXT", "k BLOB")
    db.close()
    db = files.connect()
    db.execute("CREATE TRIGGER refusal BEFORE INSERT ON log_index_zones2 BEGIN SELECT RAISE(ABORT, 'refused'); END")
    fails(db, "INSERT INTO log_index(log_index) VALUES ('rebuild')", "refused")
    plan_says(db, "has another type")
    same(db, "k = 'key77'")
    execute(db, "DROP TRIGGER refusal", "BEGIN")
    command(db, "rebuild")
    expect(same(db, "k = 'key77'"), 1)
    db.execute("ROLLBACK")
    expect(same(db, "k = 'key77'"), 1)  # the statements are those that were compiled before
    plan_says(db, "has another type")
    command(db, "rebuild")
    command(db, "integrity-check")


@each(["id INTEGER PRIMARY KEY, n INTEGER, k TEXT, message TEXT", "k TEXT, n INTEGER", "id INTEGER PRIMARY KEY, k TEXT COLLATE NOCASE, n, message LIKE TEXT, more",
       "id INTEGER PRIMARY KEY, k TEXT, n INTEGER, message TEXT, more"])
def made_again_under_its_name(files, columns):
    """In one connection, which SQLite does not tell: the error says what cures it, and that does."""
    cures = {"reset": "PRAGMA writable_schema = RESET", "alter": "ALTER TABLE unrelated ADD COLUMN x", "open": None}
    for cure, sql in cures.items():
        db = make(files.connect(files.file(cure)))
        execute(db, "CREATE TABLE unrelated(a)", "DROP TABLE log", "CREATE TABLE log(%s)" % columns, "INSERT INTO log(k, n) VALUES ('key77', 5)")
        fails(db, "SELECT * FROM log_index WHERE k = 'key77'", "bloom_index: table log has other columns", "PRAGMA writable_schema = RESET")
        if sql:
            db.execute(sql)
        else:
            db.close()
            db = files.connect(files.file(cure))
        expect(same(db, "k = 'key77'"), 1)
        plan_says(db, "reads the whole")
        command(db, "rebuild")
        expect(same(db, "k = 'key77'"), 1)
        command(db, "integrity-check")


# -- Statements that are held ------------------------------------------------------------------------

HELD = ["SELECT l.id, keys.key FROM keys CROSS JOIN log_index l ON l.k = keys.key", "SELECT (SELECT l.id FROM log_index l WHERE l.k = keys.key AND l.n >= 0), key FROM keys",
        "SELECT l.id, keys.key FROM keys CROSS JOIN log_index l ON l.message LIKE '%of ' || keys.key", "SELECT l.id, keys.key FROM keys CROSS JOIN log_index l ON l.id = keys.rowid"]
UNDER_IT = ["ALTER TABLE log RENAME COLUMN k TO c", "ALTER TABLE log RENAME COLUMN k TO x; ALTER TABLE log RENAME COLUMN message TO k; ALTER TABLE log RENAME COLUMN x TO message",
            "ALTER TABLE log ADD COLUMN more", "ALTER TABLE log RENAME COLUMN n TO number", "ALTER TABLE log RENAME COLUMN id TO number", "ALTER TABLE log RENAME TO journal",
            "DROP TRIGGER log_index_after_update; DROP TRIGGER log_index_before_update; UPDATE log SET n = 7000 + id", "CREATE INDEX by_k ON log(k)"]


@each(HELD, UNDER_IT, ["DELETE", "WAL"])
def a_held_join(files, sql, change, mode):
    """Stepped once, then the schema changes: never fewer rows, or an error."""
    db = make(files.connect(cached_statements=0))
    execute(db, "PRAGMA journal_mode = " + mode, "CREATE TABLE keys(key)", "INSERT INTO keys SELECT k FROM log WHERE id <= 100")
    wanted = db.execute(sql).fetchall()
    expect(len(wanted), 100)
    held = db.execute(sql)
    rows = [held.fetchone()]
    for each in change.split("; "):
        db.execute(each)
    try:
        rows += held.fetchall()
    except sqlite3.Error as error:
        assert "schema" in str(error) or "no such column" in str(error), error
        return
    expect(rows, wanted, change)


@test
def a_held_scan_is_stopped(files):
    """The schema changes while it reads one interval after the other, and an interrupt comes at each place where it looks at that."""
    db = make(files.connect(cached_statements=0))
    db.execute("UPDATE log SET k = 'late' WHERE id IN (100, 500, 900)")
    outcomes, place = set(), 1
    while 3 not in outcomes:
        held = db.execute("SELECT id FROM log_index WHERE k = 'late'")
        rows = [held.fetchone()]
        db.execute("CREATE VIEW another AS SELECT 1" if place % 2 else "DROP VIEW another")
        stop_after(db, place, 1)
        try:
            outcomes.add(len(rows + held.fetchall()))
        except sqlite3.Error as error:
            outcomes.add(getattr(error, "sqlite_errorname", "SQLITE_INTERRUPT"))  # Python 3.11
        db.set_progress_handler(None, 0)
        place += 1
    expect(outcomes, {3, "SQLITE_INTERRUPT"})


@test
def renamed_in_doubt(files):
    """It goes on with its table, whatever has the old name, and its own name is free; 'rebuild' ends the doubt."""
    db = make(files.connect())
    execute(db, "ALTER TABLE log RENAME TO log_2025", "CREATE TABLE log AS SELECT * FROM log_2025 LIMIT 5", "ALTER TABLE log_2025 ADD COLUMN c",
            "CREATE TRIGGER audit AFTER UPDATE ON log_2025 BEGIN SELECT 1; END", "ALTER TABLE log_index RENAME TO i", "UPDATE log_2025 SET k = 'late' WHERE id = 9",
            "CREATE VIRTUAL TABLE log_index USING bloom_index(log, k)", "ALTER TABLE log_2025 RENAME TO log_2026")
    for condition in "k = 'key77'", "k = 'late'":
        expect(db.execute("SELECT * FROM i WHERE " + condition).fetchall(), db.execute("SELECT * FROM log_2026 WHERE " + condition).fetchall())
    assert not PLANS_SAY or "made again" in plan(db, "SELECT * FROM i WHERE k = 'x'")
    command(db, "rebuild", "i")
    is_believed(db, "SELECT * FROM i WHERE k = 'x'")


@test
def renamed_without_triggers_or_column(files):
    """No trigger is made for a column that is gone: it would fail each write.  After 'rebuild' nothing looks for that column."""
    db = make(files.connect())
    for old, new, change in ("log_index", "i", "ALTER TABLE log RENAME COLUMN n TO other"), ("i", "log_index", "SELECT 1"):
        execute(db, *["DROP TRIGGER " + row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()] + [change])
        execute(db, "ALTER TABLE %s RENAME TO %s" % (old, new), "INSERT INTO log(k) VALUES ('late'), ('later')", "UPDATE log SET k = 'latest' WHERE k = 'later'")
        for then in None, "rebuild":
            if then:
                command(db, then, new)
            expect([one(db, "SELECT count(*) FROM %s WHERE k = '%s'" % (new, k)) for k in ("late", "latest", "key7")], [1, 1, 1])
        db.execute("DELETE FROM log WHERE k GLOB 'late*'")
    expect(state(db), None)


@test
def refused_in_doubt(files):
    """By an authorizer, at each place, from a new connection: what the plan could not look at is looked at when it runs."""
    make(files.connect(), indexed="k, k RANGE, message LIKE").close()
    for old, new, sql in ("k TEXT", "k BLOB", "k = 'key77'"), ("k BLOB", "k BLOB COLLATE RTRIM", "k > 'key998'"), (None, None, "k = 'key77'"):
        db = files.connect()
        if old:
            edit_schema(db, old, new)
        wanted = sorted(db.execute("SELECT k FROM log WHERE " + sql).fetchall())
        if not old:
            db.execute("DROP TABLE log")
        db.close()
        outcomes, calls = [], [None]
        while len(calls) >= len(outcomes):
            db, calls = files.connect(), []
            db.set_authorizer(lambda *_: calls.append(1) or (sqlite3.SQLITE_DENY if len(calls) == len(outcomes) + 1 else sqlite3.SQLITE_OK))
            try:
                outcomes.append(sorted(db.execute("SELECT k FROM log_index WHERE " + sql).fetchall()))
            except sqlite3.Error as error:
                outcomes.append("lost" if "no table" in str(error) else "refused")
                assert any(word in str(error) for word in ("authoriz", "prohibited", "no table")), error
            db.close()
        for outcome in outcomes:
            assert outcome == "refused" or outcome == (wanted if old else "lost"), outcome


# -- Ids ---------------------------------------------------------------------------------------------

@each(["k TEXT, n INTEGER", "k TEXT, n INTEGER, id INTEGER", "id TEXT PRIMARY KEY, k TEXT, n INTEGER", "id INTEGER PRIMARY KEY DESC, k TEXT, n INTEGER"])
def hidden_ids(files, columns):
    """A source without INTEGER PRIMARY KEY: what renumbers it is noticed, and what does not is not."""
    db = make(files.connect(), columns, "k, n")
    db.execute("DELETE FROM log WHERE n = 5")
    columns = "rowid, *"

    def is_right(db):
        for condition in "k = 'key77'", "n = 77", "rowid = 77", "k = 'key77' AND rowid < 1000", "k IN ('key7', 'key2999')":
            assert same(db, condition, columns=columns) > 0, condition
    is_right(db)
    is_believed(db)
    for sql in "UPDATE log SET k = 'late' WHERE rowid = 9", "UPDATE log SET rowid = -9 WHERE rowid = 8", "INSERT INTO log(rowid, k) VALUES (5, 'late')", \
               "INSERT INTO log(k) VALUES ('late')":
        db.execute(sql)
        same(db, "k = 'late'", columns=columns)
        same(db, "k = 'key8'", columns=columns)
    command(db, "merge")
    is_right(db)
    db.execute("VACUUM INTO ?", (files.file("copy"),))
    is_right(files.connect(files.file("copy")))
    is_believed(files.connect(files.file("copy")))
    db.execute("VACUUM")
    is_right(db)
    plan_says(db, "rowids may be others")
    assert "rowids may be others" in state(db)
    is_right(db)
    for text in "merge", "integrity-check":
        command(db, text)
    is_right(db)
    is_believed(db)
    execute(db, "ALTER TABLE log_index RENAME TO aside", "ALTER TABLE aside RENAME TO log_index")
    is_right(db)
    is_believed(db)
    db.execute("DROP TABLE log_index")
    expect(one(db, "SELECT count(*) FROM sqlite_master WHERE name LIKE 'log_index%'"), 0)


@test
def a_dump_renumbers(files):
    db = make(files.connect(), "k TEXT, n INTEGER", "k, n")
    db.execute("DELETE FROM log WHERE rowid % 2")
    dump = [sql for sql in db.iterdump() if "sqlite_master" not in sql and "writable_schema" not in sql and "CREATE VIRTUAL" not in sql and 'INSERT INTO "log_index" ' not in sql]
    copy = files.connect(files.file("copy"))
    copy.executescript("\n".join(dump))
    execute(copy, "PRAGMA writable_schema = ON", "INSERT INTO sqlite_master(type, name, tbl_name, rootpage, sql) VALUES ('table', 'log_index', 'log_index', 0,"
            " 'CREATE VIRTUAL TABLE log_index USING bloom_index(log, k, n)')")
    copy.close()
    copy = files.connect(files.file("copy"))
    for id in 76, 500, 998:
        expect(same(copy, "k = 'key%d'" % id, columns="rowid, *"), 1)


@test
def no_rowid(files):
    """Refused, with the way out, when it is made and when it becomes so."""
    db = files.connect()
    db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, k TEXT) WITHOUT ROWID")
    fails(db, "CREATE VIRTUAL TABLE log_index USING bloom_index(log, k)", "bloom_index: table log has no rowid that can be named", "USING bloom")
    execute(db, "CREATE TABLE three(rowid, oid, _rowid_, k)")
    fails(db, "CREATE VIRTUAL TABLE i USING bloom_index(three, k)", "has no rowid that can be named")
    execute(db, "DROP TABLE log")
    make(db)
    execute(db, "DROP TABLE log", "CREATE TABLE log(id INTEGER PRIMARY KEY, k TEXT, n INTEGER, message TEXT) WITHOUT ROWID")
    fails(db, "SELECT * FROM log_index", "has no rowid that can be named")
    db.execute("DROP TABLE log_index")


@test
def a_column_takes_the_rowids_name(files):
    db = make(files.connect(), "k TEXT, n INTEGER", "k, n")
    if "cannot add" in str(error_of(db, "ALTER TABLE log ADD COLUMN rowid DEFAULT 5")):
        raise Skip("a column called rowid, which SQLite 3.54 refuses")
    expect(db.execute("SELECT _rowid_ FROM log_index WHERE k = 'key77'").fetchall(), [(77,)])
    execute(db, "UPDATE log SET k = 'late' WHERE _rowid_ = 9")
    expect(db.execute("SELECT _rowid_ FROM log_index WHERE k = 'late'").fetchall(), [(9,)])
    plan_says(db, "rowid has another name")
    command(db, "rebuild")
    execute(db, "UPDATE log SET k = 'later' WHERE _rowid_ = 9")
    expect(db.execute("SELECT _rowid_ FROM log_index WHERE k = 'later'").fetchall(), [(9,)])
    is_believed(db)


# -- Generated columns -----------------------------------------------------------------------------

@each(["VIRTUAL", "STORED"])
def another_version_merged_it(files, kind):
    """What is computed as it is read may be another value then; what is stored is data."""
    db = make(files.connect(), "id INTEGER PRIMARY KEY, k TEXT, n INTEGER, g AS (k || '!') " + kind, "g, n")
    for g in "key77!", "key7!":
        expect(same(db, "g = ?", g), 1)
    db.execute("UPDATE log SET k = 'late' WHERE id = 9")
    expect(same(db, "g = 'late!'"), 1)
    command(db, "merge")
    data = state(db, "config")[:-8]
    expect(struct.unpack_from("<I", data, 12)[0], int("%d%03d%03d" % sqlite3.sqlite_version_info[:3]))
    db.execute("UPDATE log_index_state SET config = ?", (checksummed(u32(data, 12, 3039004)),))
    db.close()
    db = files.connect()
    expect(same(db, "g = 'key77!'"), 1)
    why = "another version of SQLite merged it"
    if PLANS_SAY:
        expect(why in plan(db, "SELECT * FROM log_index WHERE g = 'x'"), kind == "VIRTUAL")
        assert why not in plan(db, "SELECT * FROM log_index WHERE n = 5")
    cure = "column g is generated, and %s; INSERT INTO log_index(log_index) VALUES ('rebuild') repairs it" % why
    # Two programs would make it again for each other for ever.
    if kind == "VIRTUAL":
        fails(db, "INSERT INTO log_index(log_index) VALUES ('merge')", "bloom_index: log_index: " + cure)
    else:
        command(db, "merge")
    expect(state(db), cure if kind == "VIRTUAL" else None)
    command(db, "rebuild")
    expect(state(db), None)
    assert why not in plan(db, "SELECT * FROM log_index WHERE g = 'x'")
    # What this version takes for the same may be another value for another one.
    db.execute("UPDATE log SET k = k WHERE id = 12")
    expect(one(db, "SELECT count(*) FROM log_index_changed"), int(kind == "VIRTUAL"))


# -- What stood in the way ---------------------------------------------------------------------------

@test
def pragma_is_denied(files):
    """A program that may only read."""
    make(files.connect()).close()
    db = files.connect()
    allowed = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION}
    db.execute("SELECT 1 FROM log_index").fetchall()  # SQLite asks for leave to connect it, as to create a table
    db.set_authorizer(lambda action, *rest: sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY)
    all_same(db)
    db = files.connect()
    db.set_authorizer(lambda action, *rest: sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_PRAGMA else sqlite3.SQLITE_OK)
    all_same(db)
    for sql in "SELECT * FROM log_index WHERE id = 77", "SELECT count(*) FROM log_index", "SELECT k FROM log_index ORDER BY n LIMIT 3", "INSERT INTO log(id) VALUES (9223372036854775807)":
        db.execute(sql).fetchall()
    plan_says(db, "reads up to 999999999000 rows that are not merged")  # as many as a file has


@test
def columns_of_the_schema_are_hidden(files):
    """An authorizer makes NULL of them: the index has its table's rows."""
    make(files.connect()).close()
    for name in "tbl_name", "rootpage", "sql":
        db = files.connect()
        db.set_authorizer(lambda action, table, column, *rest: sqlite3.SQLITE_IGNORE if action == sqlite3.SQLITE_READ and (table, column) == ("sqlite_master", name) else sqlite3.SQLITE_OK)
        all_same(db)
        db.close()


@test
def a_table_of_the_users_is_kept(files):
    db = make(files.connect(), indexed="k")
    execute(db, "CREATE TABLE log_index_entries2(mine)", "INSERT INTO log_index_entries2 VALUES (7)", "CREATE TABLE log_index_canary(mine)", "DROP TABLE log_index")
    expect(sorted(row[0] for row in db.execute("SELECT name FROM sqlite_master")), ["log", "log_index_canary", "log_index_entries2"])
    fails(db, "CREATE VIRTUAL TABLE log_index USING bloom_index(log, k, n)", "table log_index_entries2 is in the way of log_index: ALTER TABLE log_index_entries2 RENAME TO log_index_entries2_kept")
    expect(one(db, "SELECT mine FROM log_index_entries2"), 7)


@test
def names_that_would_be_one(files):
    db = files.connect()
    execute(db, "CREATE TABLE log(id INTEGER PRIMARY KEY, a, a_like, covered, note, \"bytes\", \"layout\")",
            "CREATE VIRTUAL TABLE log_index USING bloom_index(log, a LIKE, a_like, covered, note, bytes, layout)", "INSERT INTO log(a_like) VALUES ('x')")
    command(db, "merge")
    expect(same(db, "a_like = 'x'"), 1)


@test
def expressions_are_not_deep(files):
    """16 indexed columns, and a filter of them, in a program that limits their depth to 10."""
    api_columns = ", ".join("c%d" % i for i in range(16))
    db = files.connect()
    execute(db, "CREATE TABLE log(id INTEGER PRIMARY KEY, %s)" % api_columns, "CREATE VIRTUAL TABLE log_index USING bloom_index(log, %s)" % api_columns,
            "CREATE VIRTUAL TABLE f USING bloom(log, (%s))" % api_columns, "INSERT INTO log(c15) VALUES ('x'), ('y')")
    command(db, "merge")
    if not hasattr(db, "setlimit"):
        raise Skip("Python 3.11's setlimit()")
    db.close()
    db = files.connect()
    db.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 10)
    execute(db, "UPDATE log SET c15 = 'z' WHERE id = 2", "INSERT INTO log(c0) VALUES (1)", "INSERT INTO f(f) VALUES ('rebuild')", "SELECT handle FROM f")
    expect(one(db, "SELECT count(*) FROM log_index_changed"), 1)
    expect(same(db, "c15 = 'z'"), 1)


@test
def an_application_keeps_to_itself(files):
    """It allows few variables, as sqlite.org/security.html advises, and has a count() of its own."""
    db = make(files.connect())
    execute(db, "ALTER TABLE log ADD COLUMN z", "CREATE VIRTUAL TABLE log_two USING bloom_index(log, k, n)")
    if hasattr(db, "setlimit"): # Python 3.11
        db.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 10)
    expect(len(db.execute("SELECT id FROM log_two WHERE k = 'key77'" + "".join(" AND z IS NOT %d" % i for i in range(12))).fetchall()), 1)
    db.create_function("count", -1, lambda *values: 3)
    for name in "merge", "rebuild", "integrity-check":
        command(db, name, "log_two")


@test
def triggers_are_plain(files):
    """No words that old versions would not read."""
    db = make(files.connect())
    sql = " ".join(row[0] for row in db.execute("SELECT sql FROM sqlite_master WHERE type = 'trigger'"))
    assert "ON CONFLICT" not in sql, sql
    assert "OR IGNORE" not in sql, sql


# -- While a statement writes ---------------------------------------------------------------------------------

@test
def a_temp_trigger_reads_before_the_row_is_noted(files):
    """It fires before ours, and SQLite chose the row's id, at or below what is covered."""
    db = make(files.connect())
    execute(db, "DELETE FROM log WHERE id > 700", "CREATE TEMP TABLE seen(id)",
            "CREATE TEMP TRIGGER t AFTER INSERT ON log BEGIN INSERT INTO seen SELECT i.id FROM log_index i WHERE i.k = new.k; END")
    for id in range(701, 710):
        db.execute("INSERT INTO log(k, n) VALUES ('late' || ?, 5)", (id,))
        expect(db.execute("SELECT id FROM seen").fetchall()[-1:], [(id,)])
    # Behind the last id SQLite draws one at random.
    db.execute("INSERT INTO log(id, k) VALUES (9223372036854775807, 'last')")
    command(db, "merge")
    execute(db, "DELETE FROM seen", "INSERT INTO log(k) VALUES ('drawn')")
    expect(one(db, "SELECT count(*) FROM seen"), 1)
    # An open sqlite3_blob writes without SQL, and a statement that cannot be explained may have a trigger.
    if hasattr(db, "blobopen"): # Python 3.11
        with db.blobopen("log", "k", 1):
            expect(same(db, "k = 'last'"), 1)

    def look():
        db.set_authorizer(lambda action, name, *_: sqlite3.SQLITE_DENY if (action, name) == (sqlite3.SQLITE_INSERT, "looks") else sqlite3.SQLITE_OK)
        return one(db, "SELECT count(*) FROM log_index WHERE k = 'last'")
    db.create_function("look", 0, look)
    execute(db, "CREATE TEMP TABLE looks(n)", "INSERT INTO looks SELECT look()")
    db.set_authorizer(None)
    expect(one(db, "SELECT n FROM looks"), 1)


@each(["", "ORDER BY id", "ORDER BY id DESC", "WHERE k >= 'key'"])
def it_ends(files, order):
    """What is inserted while it is read does not come again, where our triggers are gone."""
    db = make(files.connect())
    for name in "before_insert", "after_insert", "before_move", "before_update", "after_update":
        db.execute("DROP TRIGGER log_index_" + name)
    stop_after(db, 5000, 10000)
    before = one(db, "SELECT count(*) FROM log")
    db.execute("INSERT INTO log(k, n) SELECT k, n + 1 FROM log_index %s" % order)
    expect(one(db, "SELECT count(*) FROM log"), 2 * before)
    if "n" in order:
        return
    db.execute("INSERT INTO log(id, k) SELECT id - 100000, k FROM log_index ORDER BY id DESC")
    expect(one(db, "SELECT count(*) FROM log"), 4 * before)


@test
def an_older_trigger_deletes_the_last_rows(files):
    """After ours said nothing of a row behind them, and the row gets another id then."""
    db = files.connect()
    execute(db, "CREATE TABLE log(id INTEGER PRIMARY KEY, k TEXT, n INTEGER, message TEXT)",
            "CREATE TRIGGER older BEFORE INSERT ON log BEGIN DELETE FROM log WHERE id > 1000; END")
    execute(db, "INSERT INTO log(k) WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 3000) SELECT 'key' || i FROM c")
    execute(db, "DROP TRIGGER older", "INSERT OR IGNORE INTO log(id, k) WITH RECURSIVE c(i) AS (SELECT 1001 UNION ALL SELECT i + 1 FROM c WHERE i < 3000) SELECT i, 'key' || i FROM c",
            "CREATE TRIGGER older BEFORE INSERT ON log BEGIN DELETE FROM log WHERE id > 1000; END",
            "CREATE VIRTUAL TABLE log_index USING bloom_index(log, k, n)")
    command(db, "merge")
    for sql in "INSERT INTO log(k) VALUES ('late')", "INSERT INTO log(id, k) VALUES (NULL, 'late')", "INSERT INTO log(id, k) VALUES (random() % 500 + 2000, 'late')", \
               "INSERT INTO log(id, k) VALUES (abs(random() % 900) + 1, 'late') ON CONFLICT DO UPDATE SET k = 'late'":
        db.execute(sql)
        assert same(db, "k = 'late'") > 0, sql


@test
def random_ids(files):
    """SQLite evaluates the expression once more for the row than for BEFORE INSERT."""
    db = make(files.connect())
    for i in range(300):
        db.execute("INSERT OR REPLACE INTO log(id, k) VALUES (abs(random() %% 2500) + 1, 'random%d')" % i)
        expect(same(db, "k = 'random%d'" % i), 1)
    command(db, "integrity-check")


@test
def the_smallest_id_as_a_real(files):
    db = make(files.connect())
    db.execute("INSERT INTO log(id, k) VALUES (-9223372036854775808, 'first')")
    for condition in "id = -9223372036854775808.0", "id = -9223372036854775808.0 AND k = 'first'", "id IN (-9223372036854775808.0, 5)", "id <= -9223372036854775808.0", "rowid = '77'", \
                     "rowid = '77.0'", "id = 'x'", "id > '2990'", "id IS '5'":
        same(db, condition)


# -- Values of every kind against columns of every kind ----------------------------------------------------

OPERATORS = ["=", "IS", "<", "<=", ">", ">="]
SIDES = ["INTEGER", "REAL", "NUMERIC", "TEXT", "", "BLOB", "TEXT COLLATE NOCASE", "COLLATE RTRIM"]
VALUES = ["NULL", "5", "-5", "5.5", "9e18", "'5'", "'5.0'", "'05'", "' 5'", "'9'", "'10'", "'!'", "'abc'", "'ABC'", "'abc '", "''", "x'35'", "x''", "x'616263'", "'9e-5'", "1e999", "CAST(x'bf616263' AS TEXT)", "CAST(x'c2bf616263' AS TEXT)"]


@each(SIDES)
def every_pass(files, affinity):
    """Each rule of what may be passed: columns, literals, parameters, what comes through another column, lists, ranges of LIKE."""
    db = files.connect()
    execute(db, "CREATE TABLE log(id INTEGER PRIMARY KEY, k TEXT, c %s)" % affinity, "CREATE INDEX log_c ON log(c)", "CREATE INDEX log_n ON log(c COLLATE NOCASE)", "CREATE TABLE u(n INTEGER PRIMARY KEY)")
    for side in SIDES:
        db.execute("ALTER TABLE u ADD COLUMN \"%s\" %s" % (side, side))
    for value in VALUES:
        db.execute("INSERT INTO log(k, c) VALUES ('x', %s)" % value)
        db.execute("INSERT INTO u(%s) VALUES (%s)" % (", ".join('"%s"' % side for side in SIDES), ", ".join([value] * len(SIDES))))
    db.execute("CREATE VIRTUAL TABLE log_index USING bloom_index(log, k)")
    command(db, "merge")

    def both(sql, *args):
        wanted, found = (sorted(db.execute(sql.replace("{t}", t), args).fetchall(), key=repr) for t in ("log", "log_index"))
        expect(found, wanted, "%s %r" % (sql, args))
    bound = [one(db, "SELECT " + value) for value in VALUES if "1e999" not in value and "CAST" not in value]
    for operator in OPERATORS:
        for value in VALUES:
            both("SELECT i.id FROM {t} i WHERE i.c %s %s" % (operator, value))
            both("SELECT i.id FROM {t} i WHERE i.c %s CAST(%s AS TEXT)" % (operator, value))
            both("SELECT i.id FROM {t} i WHERE i.c %s %s COLLATE NOCASE" % (operator, value))
        for value in bound:
            both("SELECT i.id FROM {t} i WHERE i.c %s ?" % operator, value)
            both("SELECT i.id FROM {t} i WHERE i.c %s +? COLLATE RTRIM" % operator, value)
            for collation in "BINARY", "NOCASE":
                both("SELECT i.id FROM {t} i WHERE (i.c, i.id) %s (?, 4 COLLATE %s)" % (operator, collation), value)
            for side in SIDES:
                both("SELECT i.id, u.n FROM u CROSS JOIN {t} i WHERE u.\"%s\" = ?1 AND i.c %s u.\"%s\"" % (side, operator, side), value)
        for side in SIDES:
            both("SELECT i.id, u.n FROM u CROSS JOIN {t} i WHERE i.c %s u.\"%s\"" % (operator, side))
            both("SELECT i.id, u.n FROM u LEFT JOIN {t} i ON i.c %s u.\"%s\"" % (operator, side))
        for value in VALUES:
            # A numeric column of a compound SELECT that holds a TEXT all the same.
            both("SELECT i.id FROM (SELECT n AS v FROM u WHERE 0 UNION ALL SELECT %s) AS o CROSS JOIN {t} i ON i.c %s o.v" % (value, operator))
    for side in SIDES:
        both("SELECT i.id FROM {t} i WHERE i.c IN (SELECT \"%s\" FROM u)" % side)
        both("SELECT i.id FROM {t} i WHERE i.c IN (SELECT \"%s\" FROM u WHERE n > 5) AND i.id IN (SELECT n FROM u)" % side)
    both("SELECT i.id FROM {t} i WHERE i.c IN (%s)" % ", ".join(VALUES))
    both("SELECT i.id FROM {t} i WHERE i.c IN (5, 5.5, 9)")
    for pattern in "a%", "ABC%", "5%", "!%", "abc", "%b%":
        both("SELECT i.id FROM {t} i WHERE i.c LIKE '%s'" % pattern)
        both("SELECT i.id FROM {t} i WHERE i.c LIKE '%s' ESCAPE '\\'" % pattern)
        both("SELECT i.id FROM {t} i WHERE i.c GLOB '%s'" % pattern.replace("%", "*"))
        both("SELECT i.id FROM {t} i WHERE i.c LIKE ?", pattern)
    # SQLite reads no range from a pattern that is an expression, and so finds all texts of an infinite REAL.
    for pattern in "LIKE 'in' || 'f%'", "LIKE (SELECT 'inf')", "LIKE 'IN' || '%'", "GLOB 'In' || '*'", "LIKE char(0xbf) || '%'", "LIKE CAST(x'bf25' AS TEXT)", "LIKE 'in' || '%' AND c >= 5":
        both("SELECT i.id FROM {t} i WHERE i.c " + pattern)
    for edge in ("abc", "abd"), ("5", "6"), ("ABC", "abd"), ("abc", "abz"), ("", "!"):
        both("SELECT i.id FROM {t} i WHERE i.c >= '%s' AND i.c < '%s'" % edge)
        both("SELECT i.id FROM {t} i WHERE i.c >= ? AND i.c < ?", *edge)
    db.text_factory = lambda text: text.decode(errors="replace")
    for order in "c", "c DESC", "c, id DESC", "c COLLATE NOCASE", "c LIMIT 5", "c DESC LIMIT 5 OFFSET 3":
        # Rows that an order has as one may come in any: their values are compared, and how they follow.
        sql = "SELECT c FROM {t} ORDER BY " + order
        if "COLLATE" not in order and affinity in ("INTEGER", "REAL", "NUMERIC", "TEXT", "", "BLOB"):
            expect(*[[str(row[0]).strip("0.") for row in db.execute(sql.replace("{t}", t))] for t in ("log_index", "log")], sql)
    for sql in "SELECT count(*) FROM (SELECT 1 FROM {t} WHERE c > '' LIMIT 4)", "SELECT count(*) FROM (SELECT 1 FROM {t} WHERE (c, id) > ('5', 3) ORDER BY c LIMIT 4)", \
               "SELECT id FROM {t} WHERE c IS NULL LIMIT 3", "SELECT count(*) FROM {t} WHERE c IS NOT NULL", "SELECT id FROM {t} GROUP BY id ORDER BY c LIMIT 2", \
               "SELECT 1 FROM {t} LIMIT 2 OFFSET 2", "SELECT count(*) FROM (SELECT c FROM {t} UNION ALL SELECT c FROM {t} ORDER BY c LIMIT 30 OFFSET 15)":
        both(sql)


@test
def more_conditions_than_sqlite_marks(files):
    """SQLite tells of the first 32 only that they are an IN, which compares by its own affinity."""
    db = make(files.connect(), "id INTEGER PRIMARY KEY, k TEXT, n INTEGER", "k")
    execute(db, "UPDATE log SET k = '01', n = NULL WHERE id = 7", "CREATE TABLE v(n)", "INSERT INTO v VALUES (NULL)", "CREATE TABLE u(k INTEGER)", "INSERT INTO u VALUES (1)")
    on = " AND ".join(["t.n IS v.n"] * 33)
    expect(same_query(db, "SELECT t.id FROM {t} AS t JOIN v ON %s AND t.k IN (SELECT k FROM u)" % on), 1)


if __name__ == "__main__":
    sys.exit(main())
