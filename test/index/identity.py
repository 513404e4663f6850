"""Which index a name means, while statements are held: files attached one after the other, replaced, dropped.

    python3 test/index/identity.py [--load ./bloom] [--only NAME]

Python's sqlite3 keeps the statements that it has prepared, and so SQLite's objects of tables
that are gone.  Whatever such an object has read: the rows of the index are those of the table
that its name means now, or there is an error.
"""
import os
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vtab"))
from cases import Skip, case, error_of, execute, expect, fails, image, main, needs_deserialize, one, test  # noqa: E402

NUM_ROWS = 3000
COLUMNS = "id INTEGER PRIMARY KEY, k TEXT, n INTEGER, message TEXT"
INDEXED = "log, k, n, message LIKE"


def make_file(files, name, prefix, columns=COLUMNS, indexed=INDEXED, num_rows=NUM_ROWS):
    db = files.connect(files.file(name))
    db.execute("CREATE TABLE log(%s)" % columns)
    fill(db, "main", prefix, num_rows)
    db.execute("CREATE VIRTUAL TABLE log_index USING bloom_index(%s)" % indexed)
    db.execute("INSERT INTO log_index(log_index) VALUES ('merge')")
    db.close()
    return files.file(name)


def fill(db, schema, prefix, num_rows=NUM_ROWS):
    db.execute("INSERT INTO %s.log(id, k, n, message) WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < %d)"
               " SELECT i, '%s' || i, i * 7, 'request ' || (i * 7919) || ' of %s' FROM c" % (schema, num_rows, prefix, prefix))


QUERIES = ["SELECT * FROM {s}.{t} WHERE k = ?", "SELECT id FROM {s}.{t} WHERE n = ?", "SELECT id, message FROM {s}.{t} WHERE message LIKE ?",
           "SELECT id FROM {s}.{t} WHERE k IN (?, 'ada77', 'bob77', 'late') ORDER BY id DESC"]


def values(prefix):
    return [[prefix + "7", 7 * 1234, "%request 7919%", prefix + "2999"], ["absent", 3, "%absent%", "absent"], ["late", -5, "%late%", "late"]]


def is_right(db, schema="main", prefixes=("ada", "bob"), may_fail=False, index="log_index"):
    """Every query on the index is what it is on the table; the number of errors where they may be."""
    errors = 0
    for prefix in prefixes:
        for of_query in values(prefix):
            for query, value in zip(QUERIES, of_query):
                right = db.execute(query.format(s=schema, t="log"), (value,)).fetchall()
                try:
                    found = db.execute(query.format(s=schema, t=index), (value,)).fetchall()
                except sqlite3.Error as error:
                    if not may_fail:
                        raise
                    assert "replaced" in str(error) or "detached" in str(error), error
                    errors += 1
                    continue
                expect(sorted(found), sorted(right), "%s, %r" % (query, value))
    return errors


def is_sound(db, schema="main", index="log_index"):
    is_right(db, schema, index=index)
    db.execute("INSERT INTO %s.%s(%s) VALUES ('integrity-check')" % (schema, index, index))
    expect(db.execute("PRAGMA %s.integrity_check" % schema).fetchall(), [("ok",)])
    plan = db.execute("EXPLAIN QUERY PLAN SELECT * FROM %s.%s WHERE k = 'x'" % (schema, index)).fetchall()
    assert "reads the whole" not in plan[0][3], plan


def change(db, schema="main"):
    """Changes rows, and looks before and after a merge."""
    db.execute("INSERT INTO %s.log(k, n, message) VALUES ('late', -5, 'too late')" % schema)
    db.execute("UPDATE %s.log SET k = 'late', n = -5, message = 'was late' WHERE id IN (5, 700)" % schema)
    is_right(db, schema)
    db.execute("INSERT INTO %s.log_index(log_index) VALUES ('merge')" % schema)
    is_right(db, schema)


def is_sound_on_disk(files, path):
    db = files.connect(path)
    is_sound(db)
    db.close()


# -- Another database under the same name ------------------------------------------------------

def attached(files, how):
    a = make_file(files, "a", "ada")
    if how == "other columns":
        b = make_file(files, "b", "bob", "id INTEGER PRIMARY KEY, message TEXT, n INTEGER, k TEXT COLLATE NOCASE", "log, message LIKE, k, n")
    else:
        b = make_file(files, "b", "bob", num_rows=NUM_ROWS if how == "the same size" else 900)
    db = files.connect(":memory:")
    for _ in range(2):
        for path in a, b:
            db.execute("ATTACH ? AS x", (path,))
            is_sound(db, "x")
            change(db, "x")
            db.execute("DETACH x")
    for path in a, b:
        is_sound_on_disk(files, path)


for how in "the same size", "another size", "other columns":
    case(attached, how, how)


def attached_shared(files, name):
    """With a shared cache SQLite keeps its object of an index while the file is detached."""
    paths = [make_file(files, "a", "ada"), make_file(files, "b", "bob", num_rows=800)]
    uris = ["file:%s?cache=shared" % path for path in paths]
    other = files.connect(uris[0], uri=True)  # keeps the cache
    is_right(other)
    db = files.connect("file::memory:", uri=True)
    db.execute("ATTACH ? AS x", (uris[0],))
    is_right(db, "x")
    db.execute("DETACH x")
    if name == "taken":
        db.execute("ATTACH ? AS x", (uris[1],))
        is_right(db, "x")
    elif name == "deserialized":
        db.execute("ATTACH ':memory:' AS x")
        needs_deserialize(db)
        db.deserialize(image(paths[1]), name="x")
        is_right(db, "x")
    db.execute("ATTACH ? AS y", (uris[0],))
    if name == "deserialized":
        # The object may be meant by statements from before and by new ones.
        assert is_right(db, "y", may_fail=True) > 0
        fails(db, "INSERT INTO y.log_index(log_index) VALUES ('merge')", "detached or replaced")
        fails(db, "INSERT INTO y.log_index(id) VALUES (1)", "detached or replaced")
        fails(db, "DROP TABLE y.log_index")
        is_right(db, "x")
        return
    is_sound(db, "y")
    change(db, "y")
    if name == "taken":
        is_sound(db, "x")
    db.execute("ALTER TABLE y.log_index RENAME TO other")
    is_sound(db, "y", "other")
    execute(db, "DROP TABLE y.other", "CREATE VIRTUAL TABLE y.log_index USING bloom_index(%s)" % INDEXED)
    change(db, "y")
    db.close()
    other.close()
    for path in paths:
        is_sound_on_disk(files, path)


for name in "free", "taken", "deserialized":
    case(attached_shared, "a name that is " + name, name)


def deserialized_shared(files, also):
    """Statements from before deserialize() share SQLite's object with those on the old file, attached again by another name."""
    paths = [make_file(files, name, prefix) for name, prefix in (("a", "ada"), ("b", "bob"), ("c", "cy"))]
    images = [image(path) for path in paths]
    uri = "file:%s?cache=shared" % paths[0]
    other = files.connect(uri, uri=True)  # keeps the cache
    db = files.connect(uri, uri=True)
    needs_deserialize(db)
    merge = "INSERT INTO %s.log_index(log_index) VALUES ('merge')"
    rows = "SELECT id, (SELECT group_concat(id) FROM main.log_index AS i WHERE i.k = log.k) FROM main.log WHERE id < 50"
    is_right(db)
    db.execute(merge % "main")
    assert all(str(row[0]) == row[1] for row in db.execute(rows))
    db.deserialize(images[1])
    is_right(db)
    db.execute("UPDATE log SET k = 'late' WHERE id = 5")
    is_right(db)
    half = db.execute(rows)
    expect(half.fetchone(), (1, "1"))
    db.execute("ATTACH ? AS two", (uri,))
    for _ in range(2):
        for schema in "two", "main":
            is_right(db, schema, may_fail=True)
            error = error_of(db, merge % schema)
            assert error is None or "replaced" in str(error), error
    try:
        assert all(str(row[0]) == row[1] for row in half)
    except sqlite3.Error as error:
        assert "replaced" in str(error), error
    half.close()
    if also == "the other name":
        db.deserialize(images[2], name="two")
        for schema in "main", "two", "main":
            is_right(db, schema, ("bob", "cy"), may_fail=True)
            error = error_of(db, merge % schema)
            assert error is None or "replaced" in str(error), error
    elif also == "a third name":
        db.execute("DETACH two")  # SQLite compiles all statements anew
        is_sound(db)
    for schema in ["main"] + ["two"] * (also == "the other name"):
        with open(files.file("now"), "wb") as file:
            file.write(db.serialize(name=schema))
        is_sound_on_disk(files, files.file("now"))
    db.close()
    other.close()
    is_sound_on_disk(files, paths[0])


for also in "once", "the other name", "a third name":
    case(deserialized_shared, also, also)


OTHERS = {
    "the same columns": (COLUMNS, INDEXED),
    "other columns": ("id INTEGER PRIMARY KEY, message TEXT, n INTEGER, k TEXT", "log, message LIKE, n, k"),
    "another collation": ("id INTEGER PRIMARY KEY, k TEXT COLLATE NOCASE, n INTEGER, message TEXT", INDEXED),
    "other sizes": (COLUMNS, "log, k, n, message LIKE, probes = 19"),
    "fewer indexed": (COLUMNS, "log, message LIKE"),
    "no merge": (COLUMNS, INDEXED),
    "no triggers": (COLUMNS, INDEXED),
    "renamed": (COLUMNS, INDEXED),
    "a short configuration": (COLUMNS, INDEXED),
    "no configuration": (COLUMNS, INDEXED),
}


def deserialized(files, schema, other):
    """Another file comes under statements that are held, and SQLite compiles none of them anew."""
    a, b = make_file(files, "a", "ada"), make_file(files, "b", "bob", *OTHERS[other])
    db = files.connect(b)
    if other == "no merge":
        db.execute("UPDATE log SET k = 'late' WHERE id = 9")
    elif other == "no triggers":
        for name in "before_update", "after_update":
            db.execute("DROP TRIGGER log_index_" + name)
        db.execute("UPDATE log SET k = 'late' WHERE id = 9")
    elif other.endswith(" configuration"):
        db.execute("DELETE FROM log_index_state" if other.startswith("no") else "UPDATE log_index_state SET config = x'01'")
    elif other == "renamed":
        execute(db, "CREATE TABLE spare(%s)" % COLUMNS, "ALTER TABLE log RENAME TO old_log",
                "ALTER TABLE spare RENAME TO log")
    # The same schema version in both: SQLite has no other way to tell.
    versions = [one(db, "PRAGMA schema_version")]
    first = files.connect(a)
    versions.append(one(first, "PRAGMA schema_version"))
    for of in db, first:
        of.execute("PRAGMA schema_version = %d" % max(versions))
        of.close()
    db = files.connect(":memory:")
    needs_deserialize(db)
    if schema != "main":
        db.execute("ATTACH ':memory:' AS " + schema)
    images = [image(path) for path in (a, b)]
    for i in 0, 1, 0, 1:
        db.deserialize(images[i], name=schema)
        if other == "renamed" and i == 1:
            # The table log is not the source, and statements from before the change may read its pages.
            for value in "bob7", "late":
                rows = db.execute("SELECT k FROM %s.log_index WHERE k = ?" % schema, (value,)).fetchall()
                expect(rows, db.execute("SELECT k FROM %s.old_log WHERE k = ?" % schema, (value,)).fetchall())
            continue
        if other.endswith(" configuration") and i == 1:
            for query in QUERIES:
                error = str(error_of(db, query.format(s=schema, t="log_index"), "ada7"))
                # The first is a held one, which newer versions compile anew, as all do the others.
                words = ("replaced by another", "is damaged")
                assert any(each in error for each in words), error
            continue
        num_errors = is_right(db, schema, may_fail=True)
        if other == "the same columns":
            expect(num_errors, 0)
            change(db, schema)
    fresh = files.connect(":memory:")
    fresh.deserialize(db.serialize(name=schema))
    if other == "the same columns":
        is_sound(fresh)


for schema in "main", "x":
    for other in OTHERS:
        case(deserialized, "%s, %s" % (schema, other), schema, other)


def backup(files, other):
    """sqlite3_backup into a connection that has read and written the index that is overwritten."""
    a, b = make_file(files, "a", "ada"), make_file(files, "b", "bob", *OTHERS[other])
    db, third = files.connect(a), files.connect(a)
    for of in db, third:
        is_right(of)
    db.execute("UPDATE log SET k = 'late' WHERE id = 3")
    source = sqlite3.connect(b)
    source.backup(db)
    source.close()
    for of in db, third, db:
        is_right(of)
        change(of)
    db.close()
    third.close()
    is_sound_on_disk(files, a)


for other in "the same columns", "other columns", "another collation", "other sizes":
    case(backup, other, other)


@test
def backup_under_an_open_cursor(files):
    """A backup waits for a reader, and one in the middle of its rows gets what it began with."""
    a, b = make_file(files, "a", "ada"), make_file(files, "b", "bob")
    db = files.connect(a)
    cursor = db.execute("SELECT k FROM log_index WHERE n > 0 ORDER BY id")
    rows = [cursor.fetchone()]
    source = sqlite3.connect(b)
    try:
        source.backup(db)
    except sqlite3.Error as error:
        assert "in use" in str(error) or "locked" in str(error), error
    rows += cursor.fetchall()
    expect(len(rows), NUM_ROWS)
    source.backup(db)
    is_right(db)
    is_sound_on_disk(files, a)


@test
def the_file_is_exchanged(files):
    """A file that is moved over the open one: who has the old one open goes on with it, who opens now has the new."""
    a, b = make_file(files, "a", "ada"), make_file(files, "b", "bob", *OTHERS["other sizes"])
    db = files.connect(a)
    is_right(db)
    os.replace(b, a)
    is_right(db)
    expect(one(db, "SELECT count(*) FROM log_index WHERE k = 'ada7'"), 1)
    is_sound_on_disk(files, a)
    other = files.connect(a)
    expect(one(other, "SELECT count(*) FROM log_index WHERE k = 'bob7'"), 1)


@test
def locked_in_memory(files):
    """A database that may be another since is looked at each time, and its lock is no damage."""
    if sqlite3.sqlite_version_info < (3, 36):
        raise Skip("memdb, of SQLite 3.36")
    db, other = (files.connect("file:/%s?vfs=memdb" % files.file("m").replace("/", "."), uri=True) for _ in range(2))
    execute(db, "CREATE TABLE log(%s)" % COLUMNS, "CREATE VIRTUAL TABLE log_index USING bloom_index(%s)" % INDEXED)
    fill(db, "main", "ada")
    db.execute("INSERT INTO log_index(log_index) VALUES ('merge')")
    is_right(other)
    for lock in "BEGIN EXCLUSIVE", "BEGIN IMMEDIATE; UPDATE log SET n = 1 WHERE id = 1":
        db.executescript(lock)
        error = error_of(other, "SELECT id FROM log_index WHERE k = 'ada8'")
        assert error is None or "locked" in str(error), error
        db.execute("ROLLBACK")
    is_sound(other)


@test
def two_indexes_change_names(files):
    make_file(files, "db", "ada")
    db = files.connect()
    execute(db, "CREATE TABLE log2(%s)" % COLUMNS, "INSERT INTO log2 SELECT id, 'bob' || id, n, message FROM log",
            "CREATE VIRTUAL TABLE log2_index USING bloom_index(log2, k)",
            "INSERT INTO log2_index(log2_index) VALUES ('merge')")
    queries = [("SELECT id FROM %s WHERE k = ?" % index, value) for index in ("log_index", "log2_index") for value in ("ada7", "bob7")]
    expect([len(db.execute(sql, (value,)).fetchall()) for sql, value in queries], [1, 0, 0, 1])
    for sql in "BEGIN", "ALTER TABLE log_index RENAME TO aside", "ALTER TABLE log2_index RENAME TO log_index", "ALTER TABLE aside RENAME TO log2_index":
        db.execute(sql)
    expect([len(db.execute(sql, (value,)).fetchall()) for sql, value in queries], [0, 1, 1, 0])
    db.execute("ROLLBACK")
    expect([len(db.execute(sql, (value,)).fetchall()) for sql, value in queries], [1, 0, 0, 1])


def made_by_another(files, inside):
    """Another connection drops the index and makes one of the name; this one has statements of the old one."""
    make_file(files, "db", "ada")
    db, other = files.connect(), files.connect()
    is_right(db)
    for i, indexed in enumerate(["log, n, message LIKE", "log, k", INDEXED]):
        if inside:
            other.execute("BEGIN")
        execute(other, "DROP TABLE log_index", "CREATE VIRTUAL TABLE log_index USING bloom_index(%s)" % indexed)
        if i != 1:
            other.execute("INSERT INTO log_index(log_index) VALUES ('merge=1000')")
        if inside:
            other.execute("COMMIT")
        change(db)
        is_right(other)
    is_sound(db)


for inside in False, True:
    case(made_by_another, "in a transaction" if inside else "alone", inside)


@test
def the_schema_is_rolled_back(files):
    """A doubt, or none, that was found in a transaction that is undone: schema versions come twice."""
    make_file(files, "db", "ada")
    db, other = files.connect(), files.connect()
    is_sound(db)
    for _ in range(2):
        # What was certain at a version that is undone, then the trigger is gone at that version.
        execute(db, "BEGIN", "CREATE INDEX i ON log(n)")
        is_right(db)
        version = one(db, "PRAGMA schema_version")
        db.execute("ROLLBACK")
        execute(other, "DROP TRIGGER log_index_before_update", "UPDATE log SET k = 'late' WHERE id = 10")
        expect(one(db, "PRAGMA schema_version"), version)
        is_right(db)
        other.execute("INSERT INTO log_index(log_index) VALUES ('rebuild')")
        is_sound(db)
        for undo in "ROLLBACK", "ROLLBACK TO s":
            execute(db, "BEGIN", "SAVEPOINT s")
            for name in "before_update", "after_update":
                db.execute("DROP TRIGGER log_index_" + name)
            db.execute("UPDATE log SET k = 'late' WHERE id = 11")
            is_right(db)
            db.execute(undo)
            is_sound(db)
            if db.in_transaction:
                db.execute("COMMIT")
        other.execute("UPDATE log SET k = 'ada10' WHERE id = 10")


# -- What is dropped under a cursor ----------------------------------------------------------------

def dropped_under_a_cursor(files, what, sql):
    make_file(files, "db", "ada")
    db = files.connect()
    cursor = db.execute("SELECT id FROM log_index WHERE n > 0 ORDER BY id")
    rows = [cursor.fetchone()]
    fails(db, what, "locked")
    rows += cursor.fetchall()
    expect(rows, db.execute("SELECT id FROM log ORDER BY id").fetchall())
    db.execute(what)
    if "log_index" in what:
        fails(db, "SELECT * FROM log_index", "no such table")
        expect(db.execute("SELECT name FROM sqlite_master WHERE name LIKE 'log%'").fetchall(), [("log",)])
    elif what.endswith(" log"):
        fails(db, "SELECT * FROM log_index", "there is no table log")
        db.execute("DROP TABLE log_index")
        expect(db.execute("SELECT name FROM sqlite_master").fetchall(), [])


for what in "DROP TABLE log_index", "DROP TABLE log":
    case(dropped_under_a_cursor, what, what, None)


@test
def dropped_by_another_under_a_cursor(files):
    make_file(files, "db", "ada")
    db, other = files.connect(), files.connect(timeout=0)
    other.execute("PRAGMA journal_mode = WAL")
    for drop in "DROP TABLE log_index", "DROP TABLE log":
        cursor = db.execute("SELECT id FROM log_index WHERE n > 0 ORDER BY id")
        rows = [cursor.fetchone()]
        execute(other, "BEGIN", drop, "COMMIT")
        rows += cursor.fetchall()
        expect(len(rows), NUM_ROWS, drop)
        assert error_of(db, "SELECT id FROM log_index WHERE n > 0") is not None
        if drop.endswith("index"):
            other.execute("CREATE VIRTUAL TABLE log_index USING bloom_index(%s)" % INDEXED)


if __name__ == "__main__":
    sys.exit(main())
