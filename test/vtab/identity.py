"""Which filter a name means: files attached one after the other, filters made again, the extension loaded twice.

    python3 test/vtab/identity.py [--load ./bloom] [--only NAME]

Python's sqlite3 keeps the statements that it has prepared, and so SQLite's objects of tables
that are gone. Nothing that such an object has read may answer for another filter.
"""
import hashlib
import shutil
import sqlite3
import sys
from random import Random

from cases import (case, command, error_of, execute, expect, fill, image, is_whole, lookups, main,
                   needs_deserialize, no_false_negative, one, rules_out_absent_keys)

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
    db.execute("ATTACH ? AS y", (uris[0],))
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


for what in "a name that is free", "a name that is taken":
    case(attach_shared, what, what)


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


# -- A merge by one, look-ups by others --------------------------------------------------------------------

def merged_by_several(files, journal_mode):
    """Connections that remember the journal's keys find what others add and merge, and what is rolled back."""
    db = files.connect()
    execute(db, "PRAGMA page_size = 512", "PRAGMA journal_mode = " + journal_mode, "CREATE TABLE t(k TEXT)",
            "CREATE VIRTUAL TABLE f USING bloom(t, k, capacity = 300)")
    writers, random = [db, files.connect(), files.connect(load=False)], Random(1)
    for writer in writers:
        writer.execute("PRAGMA synchronous = OFF")
    reader = files.connect()
    for i in range(1500):
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
    is_whole_on_disk(files, files.path)


for mode in "DELETE", "WAL":
    case(merged_by_several, mode, mode)


if __name__ == "__main__":
    sys.exit(main())
