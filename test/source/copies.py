"""Copies of a database with filters and an index, by every way there is: dumps, backups, VACUUM, changesets.

Each copy is as the original was, and needs no 'rebuild'; an index is read whole behind a dump until 'merge'.  $BLOOM_TEST_SHELL: the sqlite3 shell, sqlite3 unless told.
"""
import ctypes
import os
import shutil
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vtab"))
import tools  # noqa: E402
from cases import (Api, Skip, column, command, each, error_of, execute, expect, fill, is_whole, main, no_false_negative, note, one,  # noqa: E402
                   rules_out_absent_keys, test)

KEYS = {"f": "SELECT k FROM t", "g": "SELECT bloom_tuple(k, n) AS k FROM t", "s": "SELECT 'set' || id AS k FROM t WHERE id <= 100"}


def make(files, path=None):
    db = files.connect(path)
    execute(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT, n INTEGER)", "CREATE TRIGGER mine AFTER INSERT ON t BEGIN SELECT 1; END")
    fill(db, 200, "Ada")
    execute(db, "UPDATE t SET n = id % 2", "CREATE VIRTUAL TABLE f USING bloom(t, k)")
    execute(db, "CREATE VIRTUAL TABLE g USING bloom(t, (k, n))", "CREATE VIRTUAL TABLE s USING bloom(capacity = 10)")
    execute(db, "INSERT INTO s(key) SELECT 'set' || id FROM t WHERE id <= 100", "CREATE VIRTUAL TABLE i USING bloom_index(t, k, n)")
    fill(db, 600, "Layer")
    command(db, "f", "merge=400")
    command(db, "i", "merge=400")
    execute(db, "DELETE FROM t WHERE id > 300", "UPDATE t SET n = 2 WHERE id > 200")
    return db


def all_true(db):
    for name, keys in KEYS.items():
        no_false_negative(db, keys, name)
    expect(one(db, "SELECT count(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM i WHERE i.k = t.k AND i.id = t.id)"), 0, "rows that the index misses")


def goes_on(db):
    """The copy is used as the original was, and needs no 'rebuild'."""
    all_true(db)
    for name in KEYS:
        rules_out_absent_keys(db, name)
        command(db, name, "integrity-check")
    command(db, "i", "integrity-check")
    execute(db, "INSERT INTO t(k) VALUES ('New')", "UPDATE t SET k = k || 'X', n = 3 WHERE id % 9 = 0",
            "INSERT INTO s(key) VALUES ('newer')")
    all_true(db)
    for name in "fg":
        command(db, name, "merge")
        all_true(db)
        command(db, name, "rebuild")
        is_whole(db, KEYS[name], name)
    for text in "merge", "integrity-check", "rebuild", "integrity-check":
        command(db, "i", text)
        all_true(db)
    expect(note(db, "bloom_index_info('i')"), None)
    fill(db, 200, "Later")
    all_true(db)
    expect(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
    for name in *KEYS, "i":
        db.execute("DROP TABLE " + name)
    expect(column(db, "SELECT name FROM sqlite_master"), ["t", "mine"])


# A dump tells no rowids of tables that name none, and those of entries say what a row has.
CHECKS_OF_RENUMBERED = {"INSERT INTO i(i) VALUES ('integrity-check')": "i is damaged: a page of it"}


@each({"dumped with bloom": True, "dumped without": False}, {"restored with bloom": True, "restored without": False})
def dumped(files, load_to_dump, load_to_restore):
    """.dump and .read of the shell, with and without bloom there."""
    make(files).close()
    done = tools.shell(files, files.path, ".dump\n", load_to_dump)
    expect(done.returncode, 0, done.stderr)
    restored = tools.shell(files, files.file("copy"), done.stdout, load_to_restore)
    expect(restored.stderr, "")
    copy = files.connect(files.file("copy"))
    all_true(copy)
    for how, words in CHECKS_OF_RENUMBERED.items():
        assert words in str(error_of(copy, how)), how
    copy.close()  # what queries found is forgotten
    copy = files.connect(files.file("copy"))
    command(copy, "i", "merge=300")
    while one(copy, "SELECT covered FROM i_state") < one(copy, "SELECT max(id) FROM t"):
        command(copy, "i", "merge=300")
        all_true(copy)
    goes_on(copy)


@test
def dumped_alone(files):
    """.dump of the table alone has no filter, no index and none of their triggers."""
    make(files).close()
    done = tools.shell(files, files.path, ".dump t\n")
    expect(tools.shell(files, files.file("copy"), done.stdout).stderr, "")
    db = files.connect(files.file("copy"))
    expect(column(db, "SELECT name FROM sqlite_master"), ["t"])
    execute(db, "INSERT INTO t(k) VALUES ('new')", "CREATE VIRTUAL TABLE f USING bloom(t, k)", "CREATE VIRTUAL TABLE i USING bloom_index(t, k)")
    is_whole(db)


@test
def dumped_by_python(files):
    """iterdump() fails without bloom, and with it what it says cannot be read."""
    db = make(files)
    dump = "\n".join(db.iterdump())
    db.close()
    for reads, why in ((lambda: files.connect(files.file("copy")).executescript(dump), ""),
                       (lambda: list(files.connect(load=False).iterdump()), "no such module: bloom")):
        try:
            reads()
        except sqlite3.Error as error:
            assert why in str(error), error
            continue
        raise AssertionError("Python %s dumps filters" % sys.version)


@each(["closed", ".backup", "VACUUM INTO without bloom"])
def copied(files, how):
    make(files).close()
    copy = files.file("copy")
    if how == "closed":
        shutil.copy(files.path, copy)
    elif how == ".backup":
        expect(tools.shell(files, files.path, ".backup %s\n" % copy).stderr, "")
    else:
        files.connect(load=False).execute("VACUUM INTO '%s'" % copy)
    goes_on(files.connect(copy))


@each({"at once": -1, "page by page": 5})
def backed_up(files, pages):
    db = make(files)
    all_true(db)
    copy = files.connect(files.file("copy"))
    db.backup(copy, pages=pages)
    goes_on(copy)
    all_true(db)
    copy.close()


@test
def backed_up_while_it_is_written(files):
    db, other = make(files), files.connect()
    copy = files.connect(files.file("copy"))
    written = []

    def progress(status, remaining, total):
        if len(written) < 5:
            other.execute("INSERT INTO t(k) VALUES (?)", ("while %d" % len(written),))
            written.append(remaining)

    db.backup(copy, pages=20, progress=progress)
    goes_on(copy)


@each({"VACUUM": ("VACUUM", "db"), "VACUUM INTO": ("VACUUM INTO '{path}'", "copy")})
def vacuumed(files, sql, path):
    db = make(files)
    held = files.connect()
    all_true(held)
    db.execute(sql.replace("{path}", files.file("copy")))
    if path == "copy":
        goes_on(files.connect(files.file("copy")))
    is_whole_again = files.connect()
    all_true(is_whole_again)
    held.execute("INSERT INTO t(k) VALUES ('by the other')")
    all_true(held)
    all_true(db)
    goes_on(db)


@each(("PRAGMA page_size = 512", "PRAGMA page_size = 65536", "PRAGMA auto_vacuum = FULL", "PRAGMA auto_vacuum = INCREMENTAL",
               "PRAGMA journal_mode = WAL"))
def vacuumed_with(files, pragma):
    db = make(files)
    for _ in range(2):
        execute(db, pragma, "VACUUM")
        all_true(db)
        db.execute("INSERT INTO t(k) VALUES ('after ' || (SELECT count(*) FROM t))")
        all_true(db)
    expect(note(db, "s"), None)
    goes_on(db)


@test
def vacuumed_without_bloom(files):
    make(files).close()
    db = files.connect(load=False)
    execute(db, "VACUUM", "PRAGMA incremental_vacuum")
    db.close()
    goes_on(files.connect())


# -- Changesets of the session extension -----------------------------------------------------------

class Session:
    def __init__(self, api):
        self.api, lib = api, api.lib
        self.session = ctypes.c_void_p()
        api.ok(lib.sqlite3session_create(api.db, b"main", ctypes.byref(self.session)))
        api.ok(lib.sqlite3session_attach(self.session, None))  # every table

    def changeset(self, patch):
        lib, num_bytes, bytes_ = self.api.lib, ctypes.c_int(), ctypes.c_void_p()
        take = lib.sqlite3session_patchset if patch else lib.sqlite3session_changeset
        self.api.ok(take(self.session, ctypes.byref(num_bytes), ctypes.byref(bytes_)))
        changes = ctypes.string_at(bytes_, num_bytes.value)
        lib.sqlite3_free(bytes_)
        lib.sqlite3session_delete(self.session)
        return changes


def tables_of(api, changes):
    lib, iterator, tables = api.lib, ctypes.c_void_p(), set()
    buffer = ctypes.create_string_buffer(changes, len(changes))
    api.ok(lib.sqlite3changeset_start(ctypes.byref(iterator), len(changes), buffer))
    name, num_columns, operation, is_indirect = ctypes.c_char_p(), ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    while lib.sqlite3changeset_next(iterator) == 100:
        lib.sqlite3changeset_op(iterator, ctypes.byref(name), ctypes.byref(num_columns), ctypes.byref(operation), ctypes.byref(is_indirect))
        tables.add(name.value.decode())
    lib.sqlite3changeset_finalize(iterator)
    return tables


def apply(api, changes, answer):
    """answer: what the conflict handler says, 0 omit or 1 replace; replace only where it may be said: DATA 1, CONFLICT 3."""
    handler_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
    handler = handler_type(lambda _, conflict, iterator: answer if conflict in (1, 3) else 0)
    buffer = ctypes.create_string_buffer(changes, len(changes))
    api.ok(api.lib.sqlite3changeset_apply(api.db, len(changes), buffer, None, handler, None))


@each({"changesets": False, "patchsets": True}, {"omit": 0, "replace": 1})
def changes_travel(files, patch, answer):
    """Two databases that were one exchange their changesets of all tables, conflicts and all: only rows of t travel, and
    the filters and the index of each side hear of the other's by their triggers."""
    make(files).close()
    shutil.copy(files.path, files.file("copy"))
    sides = [Api(files.path, files.load), Api(files.file("copy"), files.load)]
    if not hasattr(sides[0].lib, "sqlite3session_create"):
        raise Skip("SQLite with the session extension")
    for turn in range(3):
        sessions = [Session(side) for side in sides]
        for number, side in enumerate(sides):
            side.run("INSERT INTO t(id, k) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
                     " SELECT 100000 + 10000 * %d + i %% 2000 + 5000 * (i %% 2) * %d, 'Side%d turn%d ' || i"
                     " FROM n WHERE 1 ON CONFLICT DO NOTHING" % (turn, number, number, turn))
            side.run("UPDATE t SET k = 'Changed%d by%d ' || k, n = 1 WHERE id %% 5 = %d" % (turn, number, number))
            side.run("DELETE FROM t WHERE id %% 17 = %d" % (turn + number))
            side.run("INSERT INTO f(f) VALUES ('%s')" % ("rebuild" if turn == number else "merge"))
            side.run("INSERT INTO i(i) VALUES ('%s')" % ["merge=500", "merge", "rebuild"][(turn + number) % 3])
        changes = [session.changeset(patch) for session in sessions]
        for number, side in enumerate(sides):
            expect(tables_of(side, changes[number]), {"t"}, "tables in the changeset")
            apply(side, changes[1 - number], answer)
    for side in sides:
        side.close()
    for path in files.path, files.file("copy"):
        db = files.connect(path)
        goes_on(db)
        db.close()


if __name__ == "__main__":
    sys.exit(main())
