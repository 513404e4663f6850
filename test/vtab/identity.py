"""Which filter a name means: files attached one after the other, filters made again, the extension loaded twice.

    python3 test/vtab/identity.py [--load ./bloom] [--only NAME]

Python's sqlite3 keeps the statements that it has prepared, and so SQLite's objects of tables
that are gone. Nothing that such an object has read may answer for another filter.
"""
import hashlib
import os
import shutil
import sqlite3
import sys
from random import Random

from cases import (case, column, command, error_of, execute, expect, fill, image, is_whole, lookups, main,
                   needs_deserialize, no_false_negative, one, rules_out_absent_keys, test)

NUM_KEYS = 300


def make_file(files, name, prefix, journal_mode="DELETE", num_keys=NUM_KEYS):
    db = files.connect(files.file(name))
    execute(db, "PRAGMA journal_mode = " + journal_mode, "CREATE TABLE t(k TEXT)")
    fill(db, num_keys, prefix)
    db.execute("CREATE VIRTUAL TABLE f USING bloom(t, k)")
    db.close()
    return files.file(name)


def is_whole_on_disk(files, path, keys="SELECT k FROM t"):
    """A fresh connection finds the file sound, and the filter whole."""
    db = files.connect(path)
    expect(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
    is_whole(db, keys)
    db.close()


def is_whole_in_memory(files, db, schema):
    path = files.file("now")
    with open(path, "wb") as file:
        file.write(db.serialize(name=schema))
    is_whole_on_disk(files, path)


def bytes_of(path):
    return hashlib.sha256(image(path)).hexdigest()


# -- Another database under the same name ------------------------------------------------------

def look(db, schema, prefix, hold):
    """Reads all that could be kept: a page, the facts, the whole filter. Returns cursors that live on."""
    f = schema + ".f"
    expect(len(lookups(db, f, ["%s%d" % (prefix, i) for i in range(1, 20)])), 19)
    one(db, "SELECT bloom_may_contain((SELECT handle FROM %s), 'x')" % f)
    one(db, "SELECT num_keys FROM " + f)
    return [db.execute("SELECT count(*) FROM %s(?)" % f, (str(i),)) for i in range(5)] if hold else []


def is_the_new_one(db, schema, old_prefix):
    no_false_negative(db, "SELECT k FROM %s.t" % schema, schema + ".f")
    rules_out_absent_keys(db, schema + ".f", ["%s%d" % (old_prefix, i) for i in range(1, NUM_KEYS + 1)])


def attach(files, how, journal_mode):
    a, b = make_file(files, "a", "ada", journal_mode), files.file("b")
    if how == "another file":
        make_file(files, "b", "bob", journal_mode)
    else:  # a copy in which other keys are now: pages and their places are the same
        shutil.copy(a, b)
        db = files.connect(b)
        db.execute("UPDATE t SET k = 'bob' || substr(k, 4)")
        command(db, "f", "rebuild")
        db.close()
    bytes_of_a = bytes_of(a)
    db = files.connect(":memory:")
    db.execute("ATTACH ? AS x", (a,))
    held = look(db, "x", "ada", True)
    for cursor in held:
        cursor.fetchall()
    db.execute("DETACH x")
    db.execute("ATTACH ? AS x", (b,))
    is_the_new_one(db, "x", "ada")
    # What is written goes to the new file, as it was before the write and after it.
    execute(db, "INSERT INTO x.t VALUES ('one more')", "BEGIN", "INSERT INTO x.t VALUES ('and another')")
    is_the_new_one(db, "x", "ada")
    db.execute("COMMIT")
    is_the_new_one(db, "x", "ada")
    db.execute("DETACH x")
    db.close()
    is_whole_on_disk(files, b)
    if journal_mode == "DELETE":
        expect(bytes_of(a), bytes_of_a)
    is_whole_on_disk(files, a)


for mode in "DELETE", "WAL":
    case(attach, "another file, " + mode, "another file", mode)
    case(attach, "a copy, " + mode, "a copy", mode)


@test
def attach_writes_first(files):
    """The first thing that happens to the new file is an INSERT, by a statement that was there before."""
    a, b = make_file(files, "a", "ada"), make_file(files, "b", "bob")
    db = files.connect(":memory:")
    db.execute("ATTACH ? AS x", (a,))
    insert = "INSERT INTO x.t VALUES (?)"
    db.execute(insert, ("first",))
    look(db, "x", "ada", True)
    db.execute("DETACH x")
    db.execute("ATTACH ? AS x", (b,))
    db.execute(insert, ("second",))
    db.execute("DETACH x")
    db.close()
    is_whole_on_disk(files, a)
    is_whole_on_disk(files, b)


def attach_shared(files, what):
    """With a shared cache SQLite keeps its object of a filter while the file is detached."""
    paths = [make_file(files, "a", "ada"), make_file(files, "b", "bob")]
    uris = ["file:%s?cache=shared" % path for path in paths]
    bytes_of_b = bytes_of(paths[1])
    other = files.connect(uris[0], uri=True)  # keeps the cache
    look(other, "main", "ada", False)
    db = files.connect("file::memory:", uri=True)
    db.execute("ATTACH ? AS x", (uris[0],))
    look(db, "x", "ada", False)
    db.execute("DETACH x")
    # Now the name is nobody's, or that of a file with a filter of the same name.
    if what == "a name that is taken":
        db.execute("ATTACH ? AS x", (uris[1],))
        look(db, "x", "bob", False)
    elif what == "a name that is deserialized":
        db.execute("ATTACH ':memory:' AS x")
        needs_deserialize(db)
        db.deserialize(image(paths[1]), name="x")
        look(db, "x", "bob", False)
    db.execute("ATTACH ? AS y", (uris[0],))
    if what == "a name that is deserialized":
        # That object may be meant by statements from before and by new ones.
        for sql in "SELECT count(*) FROM y.f('ada1')", "INSERT INTO y.t VALUES ('new')", "SELECT handle FROM y.f", "DROP TABLE y.f":
            expect(isinstance(error_of(db, sql), sqlite3.OperationalError), True, sql)
        expect("its cache is shared" in str(error_of(db, "SELECT * FROM y.f")), True)
        no_false_negative(db, "SELECT k FROM x.t", "x.f")
        return
    db.set_authorizer(lambda action, name, *_: sqlite3.SQLITE_DENY if (action, name) == (sqlite3.SQLITE_PRAGMA, "database_list") else sqlite3.SQLITE_OK)
    expect("not authorized" in str(error_of(db, "SELECT count(*) FROM y.f('ada1')")), True)
    db.set_authorizer(lambda *_: sqlite3.SQLITE_OK)
    no_false_negative(db, "SELECT k FROM y.t", "y.f")
    rules_out_absent_keys(db, "y.f")
    expect(one(db, "SELECT note FROM y.f"), None)
    db.execute("INSERT INTO y.t VALUES ('new')")
    no_false_negative(db, "SELECT k FROM y.t", "y.f")
    execute(db, "INSERT INTO y.f(f) VALUES ('integrity-check')", "ALTER TABLE y.f RENAME TO g",
            "INSERT INTO y.t VALUES ('newer')")
    no_false_negative(db, "SELECT k FROM y.t", "y.g")
    execute(db, "DROP TABLE y.g", "CREATE VIRTUAL TABLE y.f USING bloom(t, k)")
    db.close()
    other.close()
    is_whole_on_disk(files, paths[0])
    expect(bytes_of(paths[1]), bytes_of_b)


for what in "a name that is free", "a name that is taken", "a name that is deserialized":
    case(attach_shared, what, what)


@test
def attach_turn_by_turn(files):
    """Two files change places many times, under two names."""
    paths = [make_file(files, "a", "ada"), make_file(files, "b", "bob", num_keys=5000)]
    db = files.connect(":memory:")
    for i in range(6):
        db.execute("ATTACH ? AS x", (paths[i % 2],))
        db.execute("ATTACH ? AS y", (paths[1 - i % 2],))
        for schema in "x", "y":
            db.execute("INSERT INTO %s.t VALUES (?)" % schema, ("turn %d %s" % (i, schema),))
            lost = one(db, "SELECT count(*) FROM %s.t WHERE NOT EXISTS (SELECT 1 FROM %s.f WHERE key = k)" % (schema, schema))
            expect(lost, 0, "turn %d, %s: missed" % (i, schema))
            lost = one(db, "SELECT count(*) FROM %s.t WHERE bloom_may_contain((SELECT handle FROM %s.f), k) IS NOT 1" % (schema, schema))
            expect(lost, 0, "turn %d, %s: missed by the handle" % (i, schema))
        execute(db, "DETACH x", "DETACH y")
    for path in paths:
        is_whole_on_disk(files, path)


@test
def attach_a_file_without_the_filter(files):
    """Under the old name there is no filter any more, then a standalone one, then another column's."""
    a = make_file(files, "a", "ada")
    db = files.connect(":memory:")
    db.execute("ATTACH ? AS x", (a,))
    look(db, "x", "ada", True)
    execute(db, "DETACH x", "ATTACH ':memory:' AS x")
    assert "no such table" in str(error_of(db, "SELECT count(*) FROM x.f(?)", "ada1"))
    execute(db, "CREATE VIRTUAL TABLE x.f USING bloom(capacity = 100)", "INSERT INTO x.f(key) VALUES ('ada0')")
    expect(lookups(db, "x.f", ["ada0"]), ["ada0"])
    rules_out_absent_keys(db, "x.f", ["ada%d" % i for i in range(1, NUM_KEYS)])
    execute(db, "DETACH x", "ATTACH ':memory:' AS x", "CREATE TABLE x.t(id INTEGER, name TEXT COLLATE NOCASE)",
            "INSERT INTO x.t VALUES (7, 'Eve')", "CREATE VIRTUAL TABLE x.f USING bloom(t, name)")
    expect(lookups(db, "x.f", ["EVE"]), ["EVE"])
    is_whole(db, "SELECT name FROM x.t", "x.f")


def deserialized(files, schema):
    images = [image(make_file(files, name, prefix)) for name, prefix in (("a", "ada"), ("b", "bob"))]
    db = files.connect(":memory:")
    needs_deserialize(db)
    if schema != "main":
        db.execute("ATTACH ':memory:' AS " + schema)
    db.deserialize(images[0], name=schema)
    look(db, schema, "ada", True)
    db.deserialize(images[1], name=schema)
    is_the_new_one(db, schema, "ada")
    db.execute("INSERT INTO %s.t VALUES ('one more')" % schema)
    is_the_new_one(db, schema, "ada")
    is_whole_in_memory(files, db, schema)


case(deserialized, "main", "main")
case(deserialized, "attached", "x")


def deserialized_shared(files, also):
    """Statements from before deserialize() share SQLite's object with those on the old file, attached again by another name."""
    paths = [make_file(files, name, prefix) for name, prefix in (("a", "ada"), ("b", "bob"), ("c", "cy"))]
    images = [image(path) for path in paths]
    uri = "file:%s?cache=shared" % paths[0]
    other = files.connect(uri, uri=True)  # keeps the cache
    db = files.connect(uri, uri=True)
    needs_deserialize(db)

    def is_never_wrong(schema, prefix):
        """The statements are those of before, as Python keeps them."""
        right = 0
        for sql in "SELECT count(*) FROM %s.f WHERE key = ?", "SELECT bloom_may_contain((SELECT handle FROM %s.f), ?)":
            for i in range(1, 20):
                try:
                    expect(one(db, sql % schema, "%s%d" % (prefix, i)), 1, "%s, %s%d" % (sql % schema, prefix, i))
                    right += 1
                except sqlite3.OperationalError as error:
                    assert "its cache is shared" in str(error), error
        return right

    def insert(schema, key):
        error = error_of(db, "INSERT INTO %s.t VALUES (?)" % schema, key)
        assert error is None or "its cache is shared" in str(error), error

    expect(is_never_wrong("main", "ada"), 38)
    insert("main", "before")
    rows = "SELECT k, (SELECT count(*) FROM main.f WHERE key = k) FROM main.t"
    expect(set(row[1] for row in db.execute(rows)), {1})
    db.deserialize(images[1])
    expect(is_never_wrong("main", "bob"), 38)
    insert("main", "after")
    expect(one(db, "SELECT count(*) FROM t WHERE k = 'after'"), 1)
    half = db.execute(rows)
    is_half = half.fetchone() == ("bob1", 1)
    db.execute("ATTACH ? AS two", (uri,))
    for _ in range(2):
        is_never_wrong("two", "ada")
        insert("two", "two")
        is_never_wrong("main", "bob")
        insert("main", "main")
    try:
        expect(is_half, True)
        expect(set(row[1] for row in half), {1})
    except sqlite3.OperationalError as error:
        assert "its cache is shared" in str(error), error
    half.close()
    is_whole_in_memory(files, db, "main")
    if also == "the other name":
        db.deserialize(images[2], name="two")
        for _ in range(2):
            is_never_wrong("main", "bob")
            insert("main", "main again")
            is_never_wrong("two", "cy")
            insert("two", "two again")
        is_whole_in_memory(files, db, "two")
    elif also == "a third name":
        db.execute("DETACH two")  # SQLite compiles all statements anew
        db.execute("ATTACH ? AS three", (uri,))
        is_never_wrong("three", "ada")
        insert("three", "three")
        expect(is_never_wrong("main", "bob"), 38)
        insert("main", "main again")
    is_whole_in_memory(files, db, "main")
    db.close()
    other.close()
    is_whole_on_disk(files, paths[0])


for also in "once", "the other name", "a third name":
    case(deserialized_shared, also, also)


@test
def deserialized_and_back(files):
    """A name gets another file, and then the first one again: nothing that was found of the other counts."""
    a, b = make_file(files, "a", "ada"), make_file(files, "b", "bob")
    uri = "file:%s?cache=shared" % a
    other = files.connect(uri, uri=True)  # keeps the cache
    db = files.connect(":memory:", uri=True)
    needs_deserialize(db)
    execute(other, "DROP TRIGGER f_before_insert", "INSERT INTO t VALUES ('late')")
    versions = [one(other, "PRAGMA schema_version"), 0]
    with files.connect(b) as whole:
        whole.execute("PRAGMA schema_version = %d" % versions[0])
    of_b = image(b)
    for _ in range(2):
        db.execute("ATTACH ? AS x", (uri,))
        no_false_negative(db, "SELECT k FROM x.t", "x.f")
        assert "repairs" in one(db, "SELECT note FROM x.f")
        db.deserialize(of_b, name="x")
        no_false_negative(db, "SELECT k FROM x.t", "x.f")
        db.execute("DETACH x")



KINDS = {"standalone": ("capacity = 50", "k"), "a column": ("t, k", "k"), "another column": ("t, n", "n"), "an expression": ("t, lower(k)", "lower(k)"),
         "columns": ("t, (k, n)", None), "no triggers": ("t, k", "k")}


def image_of(files, name, kind):
    db = files.connect(files.file(name))
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT, n TEXT)")
    db.execute("CREATE VIRTUAL TABLE f USING bloom(%s)" % KINDS[kind][0])
    db.executemany("INSERT INTO t(k, n) VALUES (?, ?)", [("%s %d" % (name, i), "%s n%d" % (name, i)) for i in range(100)])
    if kind == "standalone":
        db.execute("INSERT INTO f(key) SELECT k FROM t")
    if kind == "no triggers":
        for each in column(db, "SELECT name FROM sqlite_master WHERE type = 'trigger'"):
            db.execute("DROP TRIGGER " + each)
        db.execute("INSERT INTO t(k) VALUES ('late')")
    db.execute("PRAGMA schema_version = 50")  # SQLite takes the two for one, and compiles nothing anew
    db.close()
    return image(files.file(name))


def another_kind(files, first, second):
    """Statements that are held meet a file whose f is of another kind: no wrong "no", and what the file has stays whole."""
    db = files.connect(":memory:")
    needs_deserialize(db)
    images = image_of(files, "a", first), image_of(files, "b", second)
    key = KINDS[second][1]
    looks = "SELECT count(*) FROM f WHERE key = ?", "SELECT bloom_may_contain((SELECT handle FROM f), ?)"
    writes = ("INSERT INTO f(key) VALUES (?)", "new"), ("INSERT INTO t(k, n) VALUES (?, ?)", "newer", "newest")
    db.deserialize(images[0])
    for sql, *args in [*((sql, "a 5") for sql in looks), *writes]:
        error_of(db, sql, *args)
    db.deserialize(images[1])
    for sql in looks if key else ():
        for value in column(db, "SELECT %s FROM t" % key):
            error = error_of(db, sql, value)
            assert error is None and one(db, sql, value) or "was replaced" in str(error), (sql, value, error)
    for sql, *args in writes:
        error_of(db, sql, *args)
    fresh = files.connect(":memory:")
    fresh.deserialize(db.serialize())
    if key:
        no_false_negative(fresh, "SELECT %s AS k FROM t%s" % (key, " WHERE id <= 100" if second == "standalone" else ""))


for first in KINDS:
    for second in KINDS:
        case(another_kind, "%s to %s" % (first, second), first, second)


def backup(files, journal_mode, holds):
    """sqlite3_backup into a connection that has read and written the filter that is overwritten."""
    a, b = make_file(files, "a", "ada", journal_mode), make_file(files, "b", "bob", num_keys=2 * NUM_KEYS)
    db = files.connect(a)
    if holds:
        look(db, "main", "ada", True)
    db.execute("INSERT INTO t VALUES ('before')")
    source = sqlite3.connect(b)
    source.backup(db)
    source.close()
    if holds == "reads first":
        is_the_new_one(db, "main", "ada")
    db.execute("INSERT INTO t VALUES ('after')")
    is_the_new_one(db, "main", "ada")
    db.close()
    is_whole_on_disk(files, a)
    is_whole_on_disk(files, b)


for mode in "DELETE", "WAL":
    for holds in "reads first", "writes first":
        case(backup, "%s, %s" % (mode, holds), mode, holds)


@test
def backup_while_another_connection_looks(files):
    a, b = make_file(files, "a", "ada"), make_file(files, "b", "bob")
    db, other = files.connect(a), files.connect(a)
    look(other, "main", "ada", True)
    look(db, "main", "ada", True)
    source = sqlite3.connect(b)
    source.backup(db)
    is_the_new_one(other, "main", "ada")
    other.execute("INSERT INTO t VALUES ('from the other')")
    is_the_new_one(db, "main", "ada")
    is_the_new_one(other, "main", "ada")
    is_whole_on_disk(files, a)


@test
def the_file_is_exchanged(files):
    """A file that is moved over the open one: who has the old one open goes on with it, who opens now has the new."""
    a, b = make_file(files, "a", "ada"), make_file(files, "b", "bob")
    db = files.connect(a)
    look(db, "main", "ada", True)
    os.replace(b, a)
    no_false_negative(db)
    is_whole_on_disk(files, a)


@test
def vacuum_with_statements_held(files):
    """VACUUM moves every page of the file, with another page size, and by another connection."""
    a = make_file(files, "a", "ada", num_keys=5000)
    db, other = files.connect(a), files.connect(a)
    look(db, "main", "ada", True)
    for page_size in 8192, 512, 65536, 1024:
        execute(other, "PRAGMA page_size = %d" % page_size, "VACUUM")
        db.execute("INSERT INTO t VALUES (?)", ("size %d" % page_size,))
        no_false_negative(db)
        other.execute("INSERT INTO t VALUES (?)", ("other %d" % page_size,))
        no_false_negative(db)
        db.execute("VACUUM")
        no_false_negative(other)
    is_whole_on_disk(files, a)


# -- Two filters of one name ------------------------------------------------------------------------

@test
def made_again_after_rollback_to(files):
    """As a plain shell does it: each statement is prepared, run and finalized."""
    db = files.connect(cached_statements=0)
    db.execute("CREATE TABLE t(k TEXT)")
    for sql in ("SAVEPOINT s", "CREATE VIRTUAL TABLE f USING bloom(t, k)", "ROLLBACK TO s", "CREATE VIRTUAL TABLE f USING bloom(t, k)",
                "INSERT INTO t VALUES ('ada')", "ALTER TABLE t ADD COLUMN c", "INSERT INTO t VALUES ('bob', 1)", "COMMIT"):
        db.execute(sql)
    no_false_negative(db)
    db.close()
    is_whole_on_disk(files, files.path)


def made_again_after(files, undo, hold, change):
    """A CREATE is undone while a statement is held, the filter is made again, and the schema changes between INSERTs."""
    db = files.connect(cached_statements=0)
    execute(db, "CREATE TABLE t(k TEXT)", "INSERT INTO t VALUES ('first'), ('second')", "BEGIN", "SAVEPOINT s",
            "CREATE VIRTUAL TABLE f USING bloom(t, k)")
    fill(db, 200, "undone")
    held = None
    if hold:
        held = db.execute("SELECT bloom_may_contain((SELECT handle FROM f), k) FROM t")
        held.fetchone()
    error = error_of(db, undo)
    if error is not None:  # SQLite may refuse while the statement runs
        held.fetchall()
        db.execute(undo)
    if not db.in_transaction:
        db.execute("BEGIN")
    db.execute("CREATE VIRTUAL TABLE f USING bloom(t, k, capacity = 20000)")
    fill(db, 300, "after")
    no_false_negative(db)
    if held is not None:
        try:
            held.fetchall()
        except sqlite3.Error:
            pass  # SQLITE_ABORT: its rows are gone
    execute(db, change, "INSERT INTO t(k) VALUES ('last')")
    no_false_negative(db)
    db.execute("COMMIT")
    no_false_negative(db)
    db.close()
    is_whole_on_disk(files, files.path)


for undo in "ROLLBACK TO s", "ROLLBACK":
    for hold in False, True:
        for change in "ALTER TABLE t ADD COLUMN c", "CREATE INDEX i ON t(k)", "SAVEPOINT other":
            case(made_again_after, "%s, %s, %s" % (undo, "held" if hold else "not held", change), undo, hold, change)


def made_by_another(files, journal_mode, args, inside):
    """Another connection drops the filter and makes one of the name; this one has statements of the old one."""
    make_file(files, "db", "ada", journal_mode)
    db, other = files.connect(), files.connect()
    look(db, "main", "ada", True)
    db.execute("INSERT INTO t VALUES (?)", ("before",))
    for i in range(4):
        if inside:
            other.execute("BEGIN")
        execute(other, "DROP TABLE f", "CREATE VIRTUAL TABLE f USING bloom(%s)" % args)
        if inside:
            other.execute("COMMIT")
        if i % 2:
            db.execute("SELECT count(*) FROM f(?)", ("before",)).fetchall()
        db.execute("INSERT INTO t VALUES (?)", ("by the first, %d" % i,))
        no_false_negative(other)
        db.execute("BEGIN")
        db.execute("INSERT INTO t VALUES (?)", ("in a transaction, %d" % i,))
        no_false_negative(db)
        db.execute("COMMIT")
        other.execute("INSERT INTO t VALUES (?)", ("by the second, %d" % i,))
        no_false_negative(db)
        no_false_negative(other)
    db.close()
    other.close()
    is_whole_on_disk(files, files.path)


for mode in "DELETE", "WAL":
    for inside in False, True:
        for args in "t, k", "t, k, bits_per_key = 20, capacity = 30000":
            case(made_by_another, "%s, %s, %s" % (mode, args, "a transaction" if inside else "alone"), mode, args, inside)


@test
def dropped_and_made_again_by_itself(files):
    """DROP and CREATE within one transaction, with savepoints, rolled back or not."""
    make_file(files, "db", "ada")
    db = files.connect()
    look(db, "main", "ada", True)
    execute(db, "BEGIN", "INSERT INTO t VALUES ('one')", "SAVEPOINT s", "DROP TABLE f",
            "CREATE VIRTUAL TABLE f USING bloom(t, k, capacity = 50000)", "INSERT INTO t VALUES ('two')")
    no_false_negative(db)
    db.execute("ROLLBACK TO s")
    no_false_negative(db)
    execute(db, "INSERT INTO t VALUES ('three')", "ALTER TABLE t ADD COLUMN c", "INSERT INTO t VALUES ('four', 4)")
    no_false_negative(db)
    db.execute("COMMIT")
    no_false_negative(db)
    db.close()
    is_whole_on_disk(files, files.path)


@test
def two_filters_change_names(files):
    make_file(files, "db", "ada")
    db = files.connect()
    db.execute("CREATE TABLE u(k TEXT)")
    fill(db, 50, "eve", "u(k)")
    db.execute("CREATE VIRTUAL TABLE g USING bloom(u, k)")
    look(db, "main", "ada", True)
    expect(len(lookups(db, "g", ["eve1", "eve2"])), 2)
    execute(db, "BEGIN", "INSERT INTO t VALUES ('one')", "INSERT INTO u VALUES ('two')")
    for sql in "ALTER TABLE f RENAME TO h", "ALTER TABLE g RENAME TO f", "ALTER TABLE h RENAME TO g":
        db.execute(sql)
    execute(db, "INSERT INTO t VALUES ('three')", "INSERT INTO u VALUES ('four')")
    no_false_negative(db, "SELECT k FROM t", "g")
    no_false_negative(db, "SELECT k FROM u", "f")
    db.execute("COMMIT")
    is_whole(db, "SELECT k FROM t", "g")
    is_whole(db, "SELECT k FROM u", "f")
    # Each has triggers named after the other, and has to make its own again beside them.
    for t, f in ("t", "g"), ("u", "f"):
        texts = [sql for sql, in db.execute("SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?", (t,))]
        for sql in ["CREATE TABLE new(k TEXT)", "INSERT INTO new SELECT k FROM " + t, "DROP TABLE " + t, "ALTER TABLE new RENAME TO " + t] + texts:
            db.execute(sql)
        db.execute("INSERT INTO %s(%s) VALUES ('rebuild')" % (f, f))
        expect(db.execute("SELECT note FROM " + f).fetchone()[0], None)
    db.execute("CREATE VIRTUAL TABLE h USING bloom(t, k)")
    is_whole(db, "SELECT k FROM t", "h")
    is_whole(db, "SELECT k FROM u", "f")
    for f in "f", "g", "h":
        db.execute("DROP TABLE " + f)
    expect(db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall(), [])


def loaded_twice(files, copy, inside, drops):
    """A second load replaces the module while tables of the first one live; from the same file or a copy of it."""
    make_file(files, "db", "ada")
    db = files.connect()
    look(db, "main", "ada", True)
    if inside:
        db.execute("BEGIN")
    db.execute("INSERT INTO t VALUES ('before')")
    if inside:
        db.execute("SAVEPOINT s")
    again = files.library() if copy else files.load
    db.enable_load_extension(True)
    db.load_extension(again)
    db.execute("INSERT INTO t VALUES ('after')")
    no_false_negative(db)
    db.execute("ALTER TABLE t ADD COLUMN c")  # makes SQLite's objects again
    db.execute("INSERT INTO t VALUES ('later', 1)")
    no_false_negative(db)
    if drops:
        execute(db, "DROP TABLE f", "CREATE VIRTUAL TABLE f USING bloom(t, k)", "INSERT INTO t VALUES ('last', 1)")
        no_false_negative(db)
    db.load_extension(files.load)
    db.execute("INSERT INTO t VALUES ('very last', 1)")
    no_false_negative(db)
    if inside:
        db.execute("ROLLBACK TO s")
        no_false_negative(db)
        execute(db, "INSERT INTO t(k) VALUES ('after all')", "COMMIT")
    no_false_negative(db)
    db.close()
    is_whole_on_disk(files, files.path)


for copy in False, True:
    for inside in False, True:
        for drops in False, True:
            name = "%s, %s%s" % ("a copy" if copy else "the same file", "in a transaction" if inside else "alone", ", made again" if drops else "")
            case(loaded_twice, name, copy, inside, drops)


# -- A layer more, step by step ----------------------------------------------------------------------

def grown_by_several(files, journal_mode, capacity, page_size):
    """Connections that remember how many layers there were find what others add, whenever that is."""
    db = files.connect()
    execute(db, "PRAGMA page_size = %d" % page_size, "PRAGMA journal_mode = " + journal_mode, "CREATE TABLE t(k TEXT)",
            "CREATE VIRTUAL TABLE f USING bloom(t, k, capacity = %d)" % capacity)
    fill(db, capacity * 9 // 10, "ada")
    writers, numbers, random = [db, files.connect(), files.connect()], set(), Random(capacity)
    for writer in writers:
        writer.execute("PRAGMA synchronous = OFF")
    reader = files.connect()
    for i in range(capacity // 2):
        key, writer = "bob%d" % i, random.choice(writers)
        writer.execute("BEGIN")
        if random.random() < 0.3:
            writer.execute("SAVEPOINT s")
            fill(writer, random.randint(1, 40), "eve%d" % i)
            expect(len(lookups(writer, "f", ["eve%d1" % i, key])) >= 1, True)
            writer.execute("ROLLBACK TO s")
        writer.execute("INSERT INTO t VALUES (?)", (key,))
        writer.execute("ROLLBACK" if random.random() < 0.1 else "COMMIT")
        for each in random.sample(writers, 2) + [reader]:
            there = [row[0] for row in each.execute("SELECT k FROM t ORDER BY rowid DESC LIMIT 5").fetchall()]
            expect(lookups(each, "f", there), there, "missed after %d" % i)
        numbers.add(one(db, "SELECT count(DISTINCT substr(bytes, 1, 8)) FROM f_pages WHERE rowid > 1"))
    expect(one(db, "SELECT num_layers FROM f") > 1, True)
    # While it grows there are pages of two numbers, if there are more pages than a step takes.
    expect(numbers, {1, 2})
    for each in *writers, reader:
        no_false_negative(each)
    is_whole_on_disk(files, files.path)


for mode in "DELETE", "WAL":
    case(grown_by_several, "from few pages, " + mode, mode, 2000, 512)
    case(grown_by_several, "from many pages, " + mode, mode, 7000, 512)


if __name__ == "__main__":
    sys.exit(main())
