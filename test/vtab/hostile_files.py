"""Files that somebody prepared: views, triggers and numbers in place of what a filter's shadow tables hold.

No crash, no endless loop, no gigabyte written or taken, no function called that the schema may
not call, and DROP TABLE works. Errors are welcome. To find misuse of memory, run it on a build
with sanitizers (test/lib/shared.sh, make_sanitized and sanitized):

    LD_PRELOAD="$(cc -print-file-name=libasan.so) $(cc -print-file-name=libubsan.so)" ASAN_OPTIONS=detect_leaks=0 \\
      python3 test/vtab/hostile_files.py --load build/sanitize/bloom.so

Each shadow table is replaced in turn; not_in_the_way.py looks which there are.
"""
import os
import sqlite3
import sys

from cases import (SHADOW_TABLES, checksummed, column, each, error_of, execute, expect, fails, fill, filtered, image, main, one, quoted, test,
                   triggers_of)

# All that a filter does, and what its methods may be entered from: savepoints, renames, DROP TABLE.
STATEMENTS = [
    "SELECT count(*) FROM f('key1')", "SELECT * FROM f", "SELECT bloom_may_contain((SELECT handle FROM f), 'key1')",
    "SELECT count(*) FROM t WHERE EXISTS (SELECT 1 FROM f WHERE key = k)",
    "INSERT INTO t(k) VALUES ('new')", "UPDATE t SET k = k || 'x' WHERE id < 5", "DELETE FROM t WHERE id > 90",
    "INSERT INTO f(key) VALUES ('newer')", "REPLACE INTO t(id, k) VALUES (3, 'replaced')",
    "BEGIN", "SAVEPOINT s", "INSERT INTO t(k) VALUES ('a'), ('b')", "SAVEPOINT q", "INSERT INTO f(key) VALUES ('c')", "SELECT count(*) FROM f('a')",
    "ROLLBACK TO q", "RELEASE q", "ROLLBACK TO s", "INSERT INTO t(k) VALUES ('d')", "RELEASE s", "COMMIT",
    "INSERT INTO f(f) VALUES ('merge=1')", "INSERT INTO f(f) VALUES ('merge')", "INSERT INTO f(f) VALUES ('integrity-check')", "PRAGMA integrity_check", "INSERT INTO f(f) VALUES ('rebuild')", "SELECT count(*) FROM f('key1')",
    "ALTER TABLE t RENAME COLUMN k TO kk", "ALTER TABLE t RENAME TO u", "ALTER TABLE u RENAME TO t", "ALTER TABLE t RENAME COLUMN kk TO k",
    "ALTER TABLE f RENAME TO g", "ALTER TABLE g RENAME TO f", "BEGIN", "SAVEPOINT s", "ALTER TABLE f RENAME TO g", "INSERT INTO t(k) VALUES ('e')",
    "ROLLBACK TO s", "ROLLBACK", "VACUUM", "INSERT INTO t(k) VALUES ('f')", "SELECT count(*) FROM f('f')", "BEGIN", "INSERT INTO t(k) VALUES ('g')",
    "DROP TABLE f", "ROLLBACK", "ANALYZE", "REINDEX",
]

MOST_BYTES = 8 << 20  # a file of this size is large for 100 rows


def make(files, standalone, capacity=None, name="f", path=None):
    db = files.connect(path)
    db.execute("CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, k TEXT, n INTEGER)")
    if one(db, "SELECT count(*) FROM t") == 0:
        fill(db, 100)
    args = "" if standalone else "t, k"
    if capacity:
        args += (", " if args else "") + "capacity = %d" % capacity
    db.execute("CREATE VIRTUAL TABLE %s USING bloom(%s)" % (name, args))
    if standalone:
        db.execute("INSERT INTO %s(key) SELECT k FROM t" % name)
    return db


def run(db, statements=STATEMENTS):
    """Everything, errors or not. Returns the errors' texts."""
    errors = []
    for sql in statements:
        error = error_of(db, sql)
        if error is not None:
            errors.append("%s: %s" % (sql, error))
            assert "out of memory" not in str(error), errors[-1]
    if db.in_transaction:
        db.execute("ROLLBACK")
    return errors


def num_bytes(db):
    return one(db, "PRAGMA page_count") * one(db, "PRAGMA page_size")


def meets_all(files, statements=STATEMENTS, recursive=0):
    """The prepared file meets everything, with and without trusted_schema."""
    for trusted in "OFF", "ON":
        db = files.connect()
        execute(db, "PRAGMA trusted_schema = " + trusted, "PRAGMA recursive_triggers = %d" % recursive)
        run(db, statements)
        assert num_bytes(db) < MOST_BYTES, "the file has grown to %d bytes" % num_bytes(db)
        db.close()


def survives(files, is_dropped=True):
    """It meets everything all at once, and can be dropped."""
    meets_all(files)
    if is_dropped:
        db = files.connect()
        names = column(db, "SELECT name FROM sqlite_master WHERE name IN ('f', 'g') AND type = 'table'")
        for name in names:
            db.execute("DROP TABLE " + name)
        # Where somebody renamed the journal, triggers went along and write to what is no journal any more.
        expect([sql for sql in triggers_of(db, "t") if "CREATE TRIGGER" in sql and "mine" not in sql and "real_one" not in sql], [])
        db.execute("INSERT INTO t(k) VALUES ('at the end')")
        expect(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])


def each_alone(files):
    """A fresh connection for each statement, as the first thing that it does."""
    for sql in STATEMENTS:
        if sql.startswith(("BEGIN", "SAVEPOINT", "RELEASE", "ROLLBACK", "COMMIT")):
            continue
        db = files.connect()
        execute(db, "PRAGMA trusted_schema = OFF", "BEGIN")
        error_of(db, "SAVEPOINT s")
        error_of(db, sql)
        error_of(db, "ROLLBACK TO s")
        if db.in_transaction:
            db.execute("ROLLBACK")
        db.close()


@each({"a standalone filter that is repaired": (True, b"bloomvt4"), "one column, of more than three": (False, b"bloomvt3"), "standalone, of more than three": (True, b"bloomvt3")})
def a_layout_of_another_kind(files, standalone, magic):
    """Under a right checksum: it is damaged."""
    db = make(files, standalone)
    layout = one(db, "SELECT bytes FROM f_pages WHERE rowid = 1")[8:320]
    db.execute("UPDATE f_pages SET bytes = ? WHERE rowid = 1", [checksummed(magic + layout)])
    for sql in "SELECT * FROM f", "SELECT count(*) FROM f('key1')", "INSERT INTO f(f) VALUES ('integrity-check')":
        fails(db, sql, "f is damaged: its layout")


@test
def a_layout_of_other_columns(files):
    """Row 1 of another filter's pages: look-ups and commands say so, writes to the source go on, DROP TABLE and CREATE cure it."""
    db = make(files, standalone=False)
    db.execute("CREATE VIRTUAL TABLE other USING bloom(t, (k, n))")
    db.execute("UPDATE f_pages SET bytes = (SELECT bytes FROM other_pages WHERE rowid = 1) WHERE rowid = 1")
    for db in db, files.connect():
        for sql in ("SELECT count(*) FROM f('key1')", "SELECT handle FROM f", "INSERT INTO f(f) VALUES ('merge')", "INSERT INTO f(f) VALUES ('rebuild')",
                    "INSERT INTO f(f) VALUES ('integrity-check')"):
            fails(db, sql, "open the connection anew, or drop f and create it again")
        db.execute("INSERT INTO t(k) VALUES ('new')")
    execute(db, "DROP TABLE f", "CREATE VIRTUAL TABLE f USING bloom(t, k)")
    expect(one(db, "SELECT count(*) FROM f('new')"), 1)


# -- Views in place of shadow tables ----------------------------------------------------------

VIEWS = {
    "the same rows and a look-up": "SELECT real_one.* FROM real_one, f('key1')",
    "the same rows and the facts": "SELECT real_one.* FROM real_one, f",
    "the same rows, the rowid too, and a handle": "SELECT rowid, real_one.* FROM real_one WHERE bloom_may_contain((SELECT handle FROM f), 'key1')",
    "itself": "SELECT * FROM {table}",
    "many rows": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT real_one.* FROM real_one, n",
    "the filter itself": "SELECT * FROM f('key1')",
    "of the source": "SELECT id, k, k, k, k, k, k, k, k, k FROM t, f",
}


@each(SHADOW_TABLES, VIEWS, {"": False, "INSTEAD OF": True})
def view(files, table, standalone, text, writes):
    db = make(files, standalone)
    db.execute("ALTER TABLE %s RENAME TO real_one" % table)
    db.execute("CREATE VIEW %s AS %s" % (table, text.replace("{table}", table)))
    if writes:
        for event in "INSERT", "UPDATE", "DELETE":
            db.execute("CREATE TRIGGER mine_%s INSTEAD OF %s ON %s BEGIN %s; END" % (event, event, table, {
                "INSERT": "SELECT count(*) FROM f('x')", "UPDATE": "INSERT INTO f(f) VALUES ('rebuild')",
                "DELETE": "INSERT INTO f(key) VALUES ('y')"}[event]))
    db.close()
    each_alone(files)
    survives(files)


# -- Triggers on shadow tables -------------------------------------------------------------------

ACTIONS = ["SELECT count(*) FROM f('key1')", "SELECT num_keys FROM f", "SELECT bloom_may_contain((SELECT handle FROM f), 'x')",
           "INSERT INTO f(f) VALUES ('rebuild')", "INSERT INTO f(f) VALUES ('integrity-check')", "INSERT INTO f(key) VALUES (7)",
           "INSERT INTO t(k) VALUES ('by a trigger')", "DELETE FROM t", "SELECT RAISE(IGNORE)", "SELECT RAISE(FAIL, 'no')", "SELECT RAISE(ROLLBACK, 'no')",
           "DELETE FROM {table}"]


@each(SHADOW_TABLES, ACTIONS, {"": 0, "recursive": 1})
def trigger(files, table, standalone, action, recursive):
    db = make(files, standalone)
    for event in "INSERT", "UPDATE", "DELETE":
        for when in "BEFORE", "AFTER":
            db.execute("CREATE TRIGGER mine_%s_%s %s %s ON %s BEGIN %s; END" % (when, event, when, event, table, action.replace("{table}", table)))
    db.close()
    each_alone(files)
    meets_all(files, STATEMENTS, recursive)
    survives(files)


# -- Numbers -----------------------------------------------------------------------------------------


@each(SHADOW_TABLES, [100, 5000000])
def rows_of_another(files, table, standalone, capacity):
    """A shadow table's rows come from another filter, checksums and all: no size is believed that the file has no pages for."""
    db = make(files, standalone)
    other = make(files, standalone, capacity, "big", files.file("big"))
    source = table.replace("f_", "big_")
    rows = other.execute("SELECT rowid, * FROM %s LIMIT 5" % source).fetchall()
    db.execute("DELETE FROM " + table)
    for row in rows:
        try:
            names = ["rowid"] + [each[1] for each in db.execute("PRAGMA table_info(%s)" % table)]
            db.execute("INSERT OR REPLACE INTO %s(%s) VALUES (%s)" % (table, ", ".join(map(quoted, names)), ", ".join("?" * len(row))), row)
        except sqlite3.Error:
            pass
    db.close()
    other.close()
    os.remove(files.file("big"))
    db = files.connect()
    start = num_bytes(db)
    for i in range(7):
        error_of(db, "INSERT INTO %s VALUES (?)" % ("f(key)" if standalone else "t(k)"), "seventh %d" % i)
    assert num_bytes(db) - start < 4 << 20, "%d bytes were written" % (num_bytes(db) - start)
    db.close()
    survives(files, False)


@test
def numbers_out_of_bounds(files):
    """Each number of a layout is looked at, whose checksum is right: a filter's own rowid of its bytes."""
    sums = files.connect(":memory:")
    sums.execute("CREATE VIRTUAL TABLE sums USING bloom()")

    def with_sum(content):
        sums.execute("INSERT INTO sums(key) VALUES (?)", (content,))
        return content + one(sums, "SELECT rowid FROM sums WHERE key = ?", content).to_bytes(8, "little", signed=True)

    def put(row, content):
        db.execute("INSERT OR REPLACE INTO f_pages(rowid, bytes) VALUES (?, ?)", (row, content))

    def layout(changes):
        changed = bytearray(sound)
        for at, number, size in changes:
            changed[at:at + size] = number.to_bytes(size, "little")
        return with_sum(bytes(changed))

    for standalone, wrong in (True, [(24, 0, 4), (24, 16, 4)]), (False, [
            (16, 17, 4), (24, 2, 4), (20, 0, 4), (20, 2049, 4), (32, 2**50 + 1, 8), (80, 0, 8), (80, 60000001, 8), (88, 0, 8), (88, 2**50 + 1, 8),
            (272, 255, 1), (273, 255, 1)]):
        db = make(files, standalone, path=":memory:")
        whole = one(db, "SELECT bytes FROM f_pages WHERE rowid = 1")
        sound = whole[:320]
        for change in wrong:
            put(1, layout([change]))
            assert "f is damaged: its layout" in str(error_of(db, "SELECT count(*) FROM f('key1')")), change
        put(1, layout([]))
        expect((one(db, "SELECT bytes FROM f_pages WHERE rowid = 1"), one(db, "SELECT count(*) FROM f('key1')")), (whole, 1))
    # As many layers as there may be, all full, and one of too many blocks to make a larger one: neither grows, and both take keys.
    db = make(files, True, path=":memory:")
    sound = one(db, "SELECT bytes FROM f_pages WHERE rowid = 1")[:320]
    header = sound[8:16] + bytes(4) + (1 << 31).to_bytes(4, "little") + bytes(8)
    for num_layers, num_blocks in (15, 1), (1, 15000000):
        put(1, layout([(24, num_layers, 4)] + [(80 + 8 * i, (num_blocks, 1)[i % 2], 8) for i in range(2 * num_layers)]))
        for row in range(2, num_layers + 2):
            put(row, header + with_sum(header + row.to_bytes(8, "little"))[-8:] + bytes(32 * min(num_blocks, int.from_bytes(sound[20:24], "little"))))
        num_rows, hash_0 = one(db, "SELECT count(*) FROM f_pages"), bytes.fromhex("7385807d8f0b5339")
        expect(one(db, "SELECT count(*) FROM f(?)", hash_0), 0)
        db.execute("INSERT INTO f(key) VALUES (?)", (hash_0,))
        expect((one(db, "SELECT count(*) FROM f(?)", hash_0), one(db, "SELECT count(*) FROM f_pages")), (1, num_rows))


# -- Arguments and triggers' text ---------------------------------------------------------------------

ARGUMENTS = ["", "t", "t, k, k", "nobody, k", "t, nobody", "t, secret(k)", "t, id", "t, (k, n)", "t, n", "t, k, capacity = 9223372036854775807",
             "t, k, where = '1) UNION SELECT secret(1) FROM (SELECT 1'", "t, (SELECT secret(1))", "capacity = 1000000000000", "v, k", "f_config, format",
             "sqlite_schema, name", "t, k, where = \"k = (SELECT secret(1))\"", "t, randomblob(1000000000)", "t, k || ')'", "t, date('now')"]


def needs_schema(db, sql, *args):
    db.execute("PRAGMA writable_schema = ON")
    db.execute(sql, args)
    db.execute("PRAGMA writable_schema = OFF")


def with_secret(files):
    """A connection whose function secret() must not be called by a schema: it is not innocuous. Returns its calls, too."""
    db = files.connect()
    calls = []
    db.create_function("secret", -1, lambda *args: calls.append(args) or 1, deterministic=True)
    db.execute("PRAGMA trusted_schema = OFF")
    return db, calls


@each(ARGUMENTS, {"": (False, False), "triggers gone": (False, True), "standalone": (True, False)})
def arguments(files, text, standalone, gone):
    """The text of CREATE VIRTUAL TABLE in the schema is another one; the triggers may be gone, so that nothing else tells the key."""
    db = make(files, standalone)
    db.execute("CREATE VIEW v AS SELECT k FROM t")
    if gone:
        for name in column(db, "SELECT name FROM sqlite_master WHERE type = 'trigger'"):
            db.execute("DROP TRIGGER " + quoted(name))
    needs_schema(db, "UPDATE sqlite_master SET sql = ? WHERE name = 'f'", "CREATE VIRTUAL TABLE f USING bloom(%s)" % text)
    db.close()
    db, calls = with_secret(files)
    run(db, [sql for sql in STATEMENTS if "RENAME" not in sql])
    expect(calls, [], "calls of secret()")
    db.close()
    survives(files, False)


@test
def a_view_that_calls_in_place_of_the_source(files):
    db = make(files, False)
    execute(db, "CREATE VIRTUAL TABLE g USING bloom(t, (k, n))", "DROP TABLE t",
            "CREATE VIEW t AS SELECT 1 AS id, secret(1) AS k, 2 AS n")
    db.close()
    db, calls = with_secret(files)
    for name in "f", "g":
        run(db, ["INSERT INTO %s(%s) VALUES ('rebuild')" % (name, name), "INSERT INTO %s(%s) VALUES ('integrity-check')" % (name, name),
                 "SELECT * FROM " + name, "SELECT count(*) FROM %s('x')" % name])
    expect(calls, [], "calls of secret()")


@test
def a_generated_column_that_calls(files):
    db = make(files, False)
    db.create_function("secret", -1, lambda *args: 1, deterministic=True)
    execute(db, "CREATE TABLE u(k TEXT, g AS (secret(k)))", "CREATE VIRTUAL TABLE g USING bloom(u, k)",
            "INSERT INTO u(k) VALUES ('a')")
    needs_schema(db, "UPDATE sqlite_master SET sql = replace(sql, 'k TEXT, g', 'k AS (secret(1)), g TEXT, h') WHERE name = 'u'")
    db.close()
    try:
        db, calls = with_secret(files)
        one(db, "SELECT count(*) FROM t")
    except sqlite3.DatabaseError:
        return
    run(db, ["INSERT INTO g(g) VALUES ('rebuild')", "INSERT INTO g(g) VALUES ('integrity-check')", "SELECT * FROM g", "SELECT count(*) FROM g('x')"])
    expect(calls, [], "calls of secret()")


# -- Keys of several columns ----------------------------------------------------------------------------

@test
def bytes_that_are_no_tuple(files):
    """A tuple that was cut, and one with each of its bytes changed, looked up by key and by handle."""
    db = filtered(files, "t, (k, n)", columns="id INTEGER PRIMARY KEY, k TEXT, n INTEGER", rows=100)
    db.execute("UPDATE t SET n = id")
    whole = one(db, "SELECT bloom_tuple('key1', 1)")
    expect(one(db, "SELECT count(*) FROM f WHERE key = ?", whole), 1)
    keys = [whole[:end] for end in range(len(whole))] + [whole + b"\0", whole * 2, whole * 9]
    for at in range(len(whole)):
        keys += [whole[:at] + bytes([byte]) + whole[at + 1:] for byte in (0, 2, 3, 4, 5, 127, 128, 255) if byte != whole[at]]
    for key in keys:
        error_of(db, "SELECT count(*), count(key) FROM f WHERE key = ?", key)
        error_of(db, "SELECT bloom_may_contain((SELECT handle FROM f), ?)", key)
        error_of(db, "INSERT INTO f(key) VALUES (?)", key)
    expect(one(db, "SELECT count(*) FROM f('key1', 1)"), 1)


# -- Damaged pages of the file itself -------------------------------------------------------------------

@test
def bytes_of_the_file(files):
    """Each byte of a small file is changed, one here and there at a time: no crash, whatever it meant."""
    db = make(files, False)
    db.close()
    sound = image(files.path)
    for start in range(7):
        for at in range(100 + start * 61, len(sound), 1531):
            damaged = bytearray(sound)
            damaged[at] ^= 0xff
            with open(files.path, "wb") as file:
                file.write(damaged)
            db = files.connect()
            db.text_factory = bytes
            for sql in STATEMENTS[:9]:
                try:
                    error_of(db, sql)
                except UnicodeDecodeError:
                    pass  # Python's, of a message that has a name of the damaged schema
            db.close()


if __name__ == "__main__":
    sys.exit(main())
