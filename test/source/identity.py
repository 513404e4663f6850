"""Which filter and which index a name means: files attached one after the other, replaced, dropped, made again.

Python's sqlite3 keeps the statements that it has prepared, and so SQLite's objects of tables
that are gone.  Each file has a table with a filter and a bloom_index.  Whatever an object has read: the
filter misses no key of the table that its name means now, the index has its rows, or there is an error,
which says "run it again", and then it is so.
"""
import hashlib
import os
import shutil
import sqlite3
import sys
from random import Random

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vtab"))
from cases import (Skip, command, each, error_of, execute, expect, fails, fill, image, is_whole, lookups, main, needs_deserialize,  # noqa: E402
                   no_false_negative, one, rules_out_absent_keys, test)

NUM_ROWS = 400
COLUMNS = "id INTEGER PRIMARY KEY, k TEXT, n INTEGER, message TEXT"
INDEXED = "log, k, n, message LIKE"
FILTER = "CREATE VIRTUAL TABLE {s}.f USING bloom(log, k)"
INDEX = "CREATE VIRTUAL TABLE {s}.log_index USING bloom_index(%s)"


def make_file(files, name, prefix, columns=COLUMNS, indexed=INDEXED, num_rows=NUM_ROWS, journal_mode="DELETE"):
    db = files.connect(files.file(name))
    execute(db, "PRAGMA journal_mode = " + journal_mode, "CREATE TABLE log(%s)" % columns)
    insert(db, "main", prefix, num_rows)
    execute(db, FILTER.format(s="main"), INDEX.format(s="main") % indexed)
    command(db, "log_index", "merge")
    db.close()
    return files.file(name)


def insert(db, schema, prefix, num_rows=NUM_ROWS):
    db.execute("INSERT INTO %s.log(id, k, n, message) WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < %d)"
               " SELECT i, '%s' || i, i * 7, 'request ' || (i * 7919) || ' of %s' FROM c" % (schema, num_rows, prefix, prefix))


QUERIES = ["SELECT * FROM {s}.{t} WHERE k = ?", "SELECT id FROM {s}.{t} WHERE n = ?", "SELECT id, message FROM {s}.{t} WHERE message LIKE ?",
           "SELECT id FROM {s}.{t} WHERE k IN (?, 'ada77', 'bob77', 'late') ORDER BY id DESC"]
# The keys of the table that the filter misses: in a join, alone, by the handle.
MISSED = ["SELECT count(*) FROM {s}.log WHERE NOT EXISTS (SELECT 1 FROM {s}.{f} WHERE key = k)",
          "SELECT count(*) FROM {s}.log WHERE k = ?1 AND NOT (SELECT count(*) FROM {s}.{f}(?1))",
          "SELECT count(*) FROM {s}.log WHERE NOT bloom_may_contain((SELECT handle FROM {s}.{f}), k)"]


def values(prefix):
    return [[prefix + "7", 7 * 234, "%request 7919%", prefix + str(NUM_ROWS - 1)], ["absent", 3, "%absent%", "absent"], ["late", -5, "%late%", "late"]]


def run_again(db, sql, args=()):
    """Runs a statement once more if it says so; returns its rows, and 1 if it did."""
    try:
        return sorted(db.execute(sql, args).fetchall()), 0
    except sqlite3.Error as error:
        assert "run it again" in str(error), error
    return sorted(db.execute(sql, args).fetchall()), 1


def is_right(db, schema="main", prefixes=("ada", "bob"), may_fail=False, index="log_index", filter_="f"):
    """Every query on the index is what it is on the table, and the filter misses none of its keys.  Returns how many had to be
    run again."""
    num_again = 0

    def ask(sql, *args):
        nonlocal num_again
        if not may_fail:
            return sorted(db.execute(sql, args).fetchall())
        rows, again = run_again(db, sql, args)
        num_again += again
        return rows

    for prefix in prefixes:
        for of_query in values(prefix):
            for query, value in zip(QUERIES, of_query):
                found = ask(query.format(s=schema, t=index), value)  # it first: then that of the table is compiled anew, too
                right = ask(query.format(s=schema, t="log"), value)
                assert found == right, "%s, %r: %r, not %r" % (query, value, found, right)
    keys = [(of_query[0],) for prefix in prefixes for of_query in values(prefix)]
    for query in MISSED:
        for args in keys if "?1" in query else [()]:
            missed = ask(query.format(s=schema, f=filter_), *args)
            assert missed == [(0,)], "%s: %r" % (query, missed)
    return num_again


def is_sound(db, schema="main", index="log_index", filter_="f"):
    is_right(db, schema, index=index, filter_=filter_)
    for name in index, filter_:
        command(db, schema + "." + name, "integrity-check")
    rules_out_absent_keys(db, schema + "." + filter_)
    expect(one(db, "SELECT note FROM %s.%s" % (schema, filter_)), None)
    expect(db.execute("PRAGMA %s.integrity_check" % schema).fetchall(), [("ok",)])
    plan = db.execute("EXPLAIN QUERY PLAN SELECT * FROM %s.%s WHERE k = 'x'" % (schema, index)).fetchall()
    assert "reads the whole" not in plan[0][3], plan


def change(db, schema="main"):
    """Changes rows, and looks before and after a merge."""
    db.execute("INSERT INTO %s.log(k, n, message) VALUES ('late', -5, 'too late')" % schema)
    db.execute("UPDATE %s.log SET k = 'late', n = -5, message = 'was late' WHERE id IN (5, 700)" % schema)
    is_right(db, schema)
    for name in "log_index", "f":
        command(db, "%s.%s" % (schema, name), "merge")
    is_right(db, schema)


def is_sound_on_disk(files, path):
    db = files.connect(path)
    is_sound(db)
    db.close()


def bytes_of(path):
    return hashlib.sha256(image(path)).hexdigest()


# -- Another database under the same name ------------------------------------------------------

@each(["the same size", "another size", "other columns", "a copy"], ["DELETE", "WAL"])
def attached(files, how, mode):
    a = make_file(files, "a", "ada", journal_mode=mode)
    if how == "other columns":
        b = make_file(files, "b", "bob", *OTHERS[how], journal_mode=mode)
    elif how == "a copy":  # in which other keys are now: pages and their places are the same
        b = shutil.copy(a, files.file("b"))
        db = files.connect(b)
        db.execute("UPDATE log SET k = 'bob' || substr(k, 4)")
        for name in "f", "log_index":
            command(db, name, "rebuild")
        db.close()
    else:
        b = make_file(files, "b", "bob", num_rows=NUM_ROWS if how == "the same size" else 300, journal_mode=mode)
    db = files.connect(":memory:")
    for _ in range(2):
        for path, old in (a, "bob"), (b, "ada"):
            bytes_of_other = bytes_of(a if path == b else b)
            db.execute("ATTACH ? AS x", (path,))
            is_sound(db, "x")
            rules_out_absent_keys(db, "x.f", ["%s%d" % (old, i) for i in range(1, 300)])
            change(db, "x")
            db.execute("DETACH x")
            if mode == "DELETE":
                expect(bytes_of(a if path == b else b), bytes_of_other)
    for path in a, b:
        is_sound_on_disk(files, path)


@each(["free", "taken", "deserialized"])
def attached_shared(files, name):
    """With a shared cache SQLite keeps its object of an index while the file is detached."""
    paths = [make_file(files, "a", "ada"), make_file(files, "b", "bob", num_rows=300)]
    uris = ["file:%s?cache=shared" % path for path in paths]
    bytes_of_b = bytes_of(paths[1])
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
    if name != "deserialized":
        db.set_authorizer(lambda action, name, *_: sqlite3.SQLITE_DENY if (action, name) == (sqlite3.SQLITE_PRAGMA, "database_list") else sqlite3.SQLITE_OK)
        fails(db, "SELECT count(*) FROM y.f('ada1')", "not authorized")
        db.set_authorizer(None)
    else:
        # The object is meant by new statements alone once one has failed.
        for write in ("INSERT INTO y.log_index(log_index) VALUES ('merge')", "ALTER TABLE y.f RENAME TO f2", "ALTER TABLE y.f2 RENAME TO f"):
            run_again(db, write)
        is_right(db, "x", may_fail=True)
    assert is_right(db, "y", may_fail=True) or name == "deserialized"
    is_sound(db, "y")
    change(db, "y")
    if name == "taken":
        is_sound(db, "x")
    execute(db, "ALTER TABLE y.log_index RENAME TO other", "ALTER TABLE y.f RENAME TO g")
    is_sound(db, "y", "other", "g")
    execute(db, "DROP TABLE y.other", "DROP TABLE y.g", FILTER.format(s="y"), INDEX.format(s="y") % INDEXED)
    change(db, "y")
    db.close()
    other.close()
    expect(bytes_of(paths[1]), bytes_of_b)
    for path in paths:
        is_sound_on_disk(files, path)


@each(["once", "the other name", "a third name"])
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
    assert is_right(db, may_fail=True) <= 1
    db.execute("UPDATE log SET k = 'late' WHERE id = 5")
    is_right(db)
    half = db.execute(rows)
    expect(half.fetchone(), (1, "1"))
    db.execute("ATTACH ? AS two", (uri,))
    for _ in range(2):
        for schema in "two", "main":
            is_right(db, schema, may_fail=True)
            run_again(db, merge % schema)
    try:
        assert all(str(row[0]) == row[1] for row in half)
    except sqlite3.Error as error:
        assert "run it again" in str(error), error
    half.close()
    if also == "the other name":
        db.deserialize(images[2], name="two")
        for schema in "main", "two", "main":
            is_right(db, schema, ("bob", "cy"), may_fail=True)
            run_again(db, merge % schema)
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


OTHERS = {
    "the same columns": (COLUMNS, INDEXED),
    "other columns": ("id INTEGER PRIMARY KEY, message TEXT, n INTEGER, k TEXT", "log, message LIKE, n, k"),
    "another collation": ("id INTEGER PRIMARY KEY, k TEXT COLLATE NOCASE, n INTEGER, message TEXT", INDEXED),
    "other sizes": (COLUMNS, "log, k, n, message LIKE"),
    "fewer indexed": (COLUMNS, "log, message LIKE"),
    "no merge": (COLUMNS, INDEXED),
    "no triggers": (COLUMNS, INDEXED),
    "renamed": (COLUMNS, INDEXED),
    "a short configuration": (COLUMNS, INDEXED),
    "no configuration": (COLUMNS, INDEXED),
}


DROP_TRIGGERS = ["DROP TRIGGER " + name for name in ("log_index_before_update", "log_index_after_update", "f_before_update")]


@each(["main", "x"], OTHERS.keys())
def deserialized(files, schema, other):
    """Another file comes under statements that are held, and SQLite compiles none of them anew."""
    a, b = make_file(files, "a", "ada"), make_file(files, "b", "bob", *OTHERS[other])
    db = files.connect(b)
    if other == "no merge":
        db.execute("UPDATE log SET k = 'late' WHERE id = 9")
    elif other == "no triggers":
        execute(db, *DROP_TRIGGERS, "UPDATE log SET k = 'late' WHERE id = 9")
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
    images, num_failed = [image(path) for path in (a, b)], 0
    for i in 0, 1, 0, 1:
        db.deserialize(images[i], name=schema)
        if other == "renamed" and i == 1:
            # The table log is not the source, and statements from before the change may read its pages.
            for value in "bob7", "late":
                rows, _ = run_again(db, "SELECT k FROM %s.log_index WHERE k = ?" % schema, (value,))
                expect(rows, db.execute("SELECT k FROM %s.old_log WHERE k = ?" % schema, (value,)).fetchall())
            continue
        if other.endswith(" configuration") and i == 1:
            for query in QUERIES:
                error = str(error_of(db, query.format(s=schema, t="log_index"), "ada7"))
                # The first is a held one, which newer versions compile anew, as all do the others.
                assert "run it again" in error or "is damaged" in error, error
                assert "is damaged" in str(error_of(db, query.format(s=schema, t="log_index"), "ada7"))
            continue
        num_again = is_right(db, schema, may_fail=True)
        assert num_again <= 1, num_again
        num_failed += num_again
        if other == "the same columns":
            rules_out_absent_keys(db, schema + ".f", ["%s%d" % (("bob", "ada")[i], number) for number in range(1, 300)])
            change(db, schema)
    if other == "other columns":
        # Newer versions than 3.52 compile held statements anew by themselves.
        assert num_failed or sqlite3.sqlite_version_info > (3, 53)
    fresh = files.connect(":memory:")
    fresh.deserialize(db.serialize(name=schema))
    if other == "the same columns":
        is_sound(fresh)


@each(["the same columns", "other columns", "another collation", "other sizes"], ["DELETE", "WAL"], {"reads first": True, "writes first": False})
def backup(files, other, mode, reads_first):
    """sqlite3_backup into a connection that has read and written what is overwritten."""
    a, b = make_file(files, "a", "ada", journal_mode=mode), make_file(files, "b", "bob", *OTHERS[other])
    db, third = files.connect(a), files.connect(a)
    for of in db, third:
        is_right(of)
    db.execute("UPDATE log SET k = 'late' WHERE id = 3")
    source = sqlite3.connect(b)
    source.backup(db)
    source.close()
    if reads_first:
        for of in db, third:
            is_right(of)
            rules_out_absent_keys(of, "f", ["ada%d" % i for i in range(1, 300)])
    for of in db, third, db:
        change(of)
    db.close()
    third.close()
    for path in a, b:
        is_sound_on_disk(files, path)


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
    db, other = (files.connect("file:/%s?vfs=memdb" % files.file("m").replace("/", "."), uri=True, timeout=0) for _ in range(2))
    execute(db, "CREATE TABLE log(%s)" % COLUMNS, FILTER.format(s="main"), INDEX.format(s="main") % INDEXED)
    insert(db, "main", "ada")
    for name in "log_index", "f":
        command(db, name, "merge")
    is_right(other)
    for lock in "BEGIN EXCLUSIVE", "BEGIN IMMEDIATE; UPDATE log SET n = 1 WHERE id = 1":
        db.executescript(lock)
        for sql in "SELECT id FROM log_index WHERE k = 'ada8'", "SELECT 1 FROM f('ada8')":
            error = error_of(other, sql)
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


@each({"alone": False, "in a transaction": True})
def made_by_another(files, inside):
    """Another connection drops the index and makes one of the name; this one has statements of the old one."""
    make_file(files, "db", "ada")
    db, other = files.connect(), files.connect()
    is_right(db)
    for i, indexed in enumerate(["log, n, message LIKE", "log, k", INDEXED]):
        if inside:
            other.execute("BEGIN")
        execute(other, "DROP TABLE log_index", "DROP TABLE f", INDEX.format(s="main") % indexed, FILTER.format(s="main"))
        if i != 1:
            other.execute("INSERT INTO log_index(log_index) VALUES ('merge=400')")
        if inside:
            other.execute("COMMIT")
        change(db)
        is_right(other)
    is_sound(db)


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
        for name in "log_index", "f":
            command(other, name, "rebuild")
        is_sound(db)
        for undo in "ROLLBACK", "ROLLBACK TO s":
            execute(db, "BEGIN", "SAVEPOINT s")
            execute(db, *DROP_TRIGGERS, "UPDATE log SET k = 'late' WHERE id = 11")
            is_right(db)
            db.execute(undo)
            is_sound(db)
            if db.in_transaction:
                db.execute("COMMIT")
        other.execute("UPDATE log SET k = 'ada10' WHERE id = 10")


# -- What is dropped under a cursor ----------------------------------------------------------------

@each(["DROP TABLE log_index", "DROP TABLE log"])
def dropped_under_a_cursor(files, what):
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
        execute(db, "DROP TABLE log_index", "DROP TABLE f")
        expect(db.execute("SELECT name FROM sqlite_master").fetchall(), [])


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
            other.execute(INDEX.format(s="main") % INDEXED)


# -- A merge by one, look-ups by others --------------------------------------------------------------------

@each(["DELETE", "WAL"])
def merged_by_several(files, journal_mode):
    """Connections that remember the journal's keys find what others add and merge, and what is rolled back."""
    db = files.connect()
    execute(db, "PRAGMA page_size = 512", "PRAGMA journal_mode = " + journal_mode, "CREATE TABLE t(k TEXT)",
            "CREATE VIRTUAL TABLE f USING bloom(t, k, capacity = 300)")
    writers, random = [db, files.connect(), files.connect(load=False)], Random(1)
    for writer in writers:
        writer.execute("PRAGMA synchronous = OFF")
    reader = files.connect()
    for i in range(600):
        writer = random.choice(writers)
        writer.execute("BEGIN")
        if writer is not writers[2] and random.random() < 0.3:
            writer.execute("SAVEPOINT s")
            fill(writer, random.randint(1, 40), "eve%d" % i)
            command(writer, "f", random.choice(["merge", "merge=2", "merge=30"]))
            expect(lookups(writer, "f", ["eve%d1" % i]), ["eve%d1" % i])
            writer.execute("ROLLBACK TO s")
        writer.execute("INSERT INTO t VALUES (?)", ("bob%d" % i,))
        if writer is not writers[2] and random.random() < 0.2:
            command(writer, "f", random.choice(["merge", "merge=2", "merge=30"]))
        writer.execute("ROLLBACK" if random.random() < 0.1 else "COMMIT")
        for each in random.sample(writers[:2], 1) + [reader]:
            there = [row[0] for row in each.execute("SELECT k FROM t ORDER BY rowid DESC LIMIT 5").fetchall()]
            expect(lookups(each, "f", there), there, "missed after %d" % i)
    for each in *writers[:2], reader:
        no_false_negative(each)
    fresh = files.connect()
    expect(fresh.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
    is_whole(fresh)


if __name__ == "__main__":
    sys.exit(main())
