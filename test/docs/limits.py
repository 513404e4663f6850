"""What sql/LIMITS.md says of upgrades, of taking bloom away, of damage and of sizes. Its blocks are run by readme.tcl.

Both virtual tables, called f, over table t and its column k. What test/source has of the same
sentences stands there alone: migrations.py has the migrations and the tools' last steps, copies.py the copies.

$BLOOM_TEST_SHELL: the sqlite3 shell, sqlite3 unless told.
$BLOOM_TEST_SQLITES: other versions of SQLite, see tools.versions().
"""
import io
import math
import os
import re
import sqlite3
import sys
from decimal import Decimal
from random import Random

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(TOP, "test", "vtab"))
import tools  # noqa: E402
from cases import (Skip, column, command, connect, each, error_of, execute, expect, fails, fill, is_uncertain, is_whole, main,  # noqa: E402
                   no_false_negative, note, one, plan, test, triggers)

NO_MODULE = "no such module: bloom"
FILTER, INDEX = "bloom", "bloom_index"
ASKED = "SELECT * FROM f WHERE k = 'key7'"


def make(files, module, path=None, num_rows=200):
    db = files.connect(path)
    execute(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT, n INTEGER DEFAULT 1, c)", "CREATE TABLE other(a, b, c)")
    fill(db, num_rows)
    db.execute("CREATE VIRTUAL TABLE f USING %s(t, k)" % module)
    if module == INDEX:
        command(db, "f", "merge")
    return db


def same_rows(db):
    """The rows of the index are those of its source."""
    for condition in "k = 'key7'", "k LIKE 'k%'", "k IN ('key3', 'new', 'x')":
        found, wanted = (sorted(db.execute("SELECT * FROM %s WHERE %s" % (table, condition)).fetchall()) for table in "ft")
        expect(found, wanted, condition)


def is_right(db, module):
    if module == FILTER:
        no_false_negative(db)
    else:
        same_rows(db)


def is_certain(db, module):
    """All is well, and nothing has to be run."""
    if module == FILTER:
        is_whole(db)
    else:
        same_rows(db)
        assert "whole table" not in plan(db, ASKED), plan(db, ASKED)
        command(db, "f", "integrity-check")


def is_doubted(db, module):
    if module == FILTER:
        is_uncertain(db)
        return
    same_rows(db)
    assert "reads the whole table" in plan(db, ASKED) and "repairs it" in plan(db, ASKED), plan(db, ASKED)
    fails(db, "INSERT INTO f(f) VALUES ('integrity-check')", "repairs it")


def goes_on(db, module):
    """The table is used as before."""
    execute(db, "INSERT INTO t(k) VALUES ('new')", "UPDATE t SET k = 'x' WHERE id = 3", "DELETE FROM t WHERE id = 4")
    is_right(db, module)


both = each([FILTER, INDEX])


# -- Programs without bloom ----------------------------------------------------------------------

RENAMES = ["ALTER TABLE other RENAME COLUMN a TO aa", "ALTER TABLE other DROP COLUMN c", "ALTER TABLE other RENAME TO another", "ALTER TABLE t RENAME COLUMN c TO cc",
           "ALTER TABLE t RENAME TO tt"]


@both
def who_writes_needs_no_bloom(files, module):
    """vtab/model.py and source/processes.py: at random, and in other languages."""
    make(files, module).close()
    db = files.connect(load=False)
    execute(db, "INSERT INTO t(k) VALUES ('new'), ('key7')", "UPDATE t SET k = 'x' WHERE id < 5", "REPLACE INTO t(id, k) VALUES (9, 'replaced')",
            "UPDATE t SET id = id + 1000 WHERE id > 100", "DELETE FROM t WHERE id = 6", *(RENAMES if module == FILTER else RENAMES[:3]))
    if module == FILTER:
        execute(db, "ALTER TABLE tt RENAME TO t", "ALTER TABLE t RENAME COLUMN k TO kk", "INSERT INTO t(kk) VALUES ('newer')", "ALTER TABLE t RENAME COLUMN kk TO k")
        fails(db, "ALTER TABLE t DROP COLUMN k", "f_before_insert")
    fails(db, "SELECT * FROM f", NO_MODULE)
    expect(one(db, "SELECT count(*) FROM t WHERE k = 'key7'"), 2)
    execute(db, "ALTER TABLE t ADD COLUMN d", "CREATE INDEX i ON t(k)", "VACUUM", "ANALYZE", "REINDEX")
    expect(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
    copy = files.connect(files.file("copy"), load=False)
    db.backup(copy)
    copy.execute("DROP TABLE t")
    db.close()
    db = files.connect()
    is_right(db, module)
    if module == FILTER:
        is_certain(db, module)
    command(db, "f", "merge")
    is_certain(db, module)


@test
def a_random_of_the_program(files):
    make(files, FILTER).close()
    db = files.connect(load=False)
    db.create_function("random", 0, lambda: 4)
    execute(db, "INSERT INTO t(k) VALUES ('trusted')", "PRAGMA trusted_schema = OFF")
    fails(db, "INSERT INTO t(k) VALUES ('new')", "unsafe use of random()")
    db.execute("DELETE FROM t WHERE id = 1")
    is_right(files.connect(), FILTER)


@test
def the_column_is_dropped_under_legacy_alter_table(files):
    make(files, FILTER).close()
    db = files.connect(load=False)
    db.execute("PRAGMA legacy_alter_table = ON")
    if error_of(db, "ALTER TABLE t DROP COLUMN k") is None:
        fails(db, "INSERT INTO t(c) VALUES (1)", "no such column: new.k")
    db = files.connect()
    execute(db, "DROP TABLE f", "INSERT INTO t(c) VALUES (1)")


@both
def without_its_triggers_everybody_can_write(files, module):
    """'You may stop here.'"""
    make(files, module).close()
    db = files.connect(load=False)
    for name in triggers(db):
        if not name.endswith("_guard"):
            db.execute("DROP TRIGGER " + name)
    db.execute("INSERT INTO t(k) VALUES ('new'), ('key7')")
    for sql in RENAMES[:3]:
        db.execute(sql)
    db.execute("VACUUM")
    db.close()
    db = files.connect()
    is_doubted(db, module)
    command(db, "f", "rebuild")
    is_certain(db, module)
    goes_on(db, module)


# -- Tools that look at the schema -----------------------------------------------------------------

def people(files, module=FILTER):
    db = files.connect()
    db.execute("CREATE TABLE people(id INTEGER PRIMARY KEY, email TEXT, active INTEGER)")
    fill(db, 200, table="people(email)")
    db.execute("CREATE VIRTUAL TABLE people_email USING %s(people, email)" % module)
    return db


def autogenerate(files, module):
    people(files, module).close()
    sqlalchemy, engine, MigrationContext, _ = tools.alembic(files)
    from alembic.autogenerate import compare_metadata
    metadata = sqlalchemy.MetaData()
    sqlalchemy.Table("people", metadata, sqlalchemy.Column("id", sqlalchemy.Integer, primary_key=True, nullable=True), sqlalchemy.Column("email", sqlalchemy.Text),
                     sqlalchemy.Column("active", sqlalchemy.Integer))
    include_name = recipes_include_name()
    with engine.connect() as connection:
        found = compare_metadata(MigrationContext.configure(connection), metadata)
        dropped = {change[1].name for change in found if change[0] == "remove_table"}
        assert "people_email" in dropped and len(dropped) > 1, found
        expect(compare_metadata(MigrationContext.configure(connection, opts={"include_name": include_name}), metadata), [])
    # env.py need not load bloom.
    with sqlalchemy.create_engine("sqlite:///" + files.path).connect() as connection:
        expect(compare_metadata(MigrationContext.configure(connection, opts={"include_name": include_name}), metadata), [])


both(autogenerate)


def recipes():
    with open(os.path.join(TOP, "examples", "recipes", "README.md"), encoding="utf-8") as file:
        return file.read().replace("log_index", "people_email")


def recipes_include_name():
    code = re.search(r"^    def include_name\(.*\n        return .*$", recipes(), re.M).group(0)
    names = {}
    exec("\n".join(line[4:] for line in code.split("\n")), names)
    return names["include_name"]


def inspectdb(files, module):
    """Without arguments it makes models of bloom's tables, too; with those that the recipes give it, of the source alone."""
    people(files, module).close()
    _, connection, *_ = tools.django(files)
    from django.core.management import call_command

    def models_of(*names):
        printed = io.StringIO()
        call_command("inspectdb", *names, stdout=printed)
        return re.findall(r"^class (\w+)\(", printed.getvalue(), re.M)

    assert "People" in models_of() and len(models_of()) > 1, models_of()
    assert "`manage.py inspectdb people`" in recipes().replace("inspectdb log", "inspectdb people")
    expect(models_of("people"), ["People"])
    connection.close()


both(inspectdb)


# -- Upgrades ------------------------------------------------------------------------------------------

DECIMAL = "0.15626124190451883"


NUM_SMALL = 3000
# Each with column k, its type and how many of the numbers, filter f_ and index i_.
TABLES = {"a": ("TEXT", None), "b": ("REAL", None), "c": ("", None), "d": ("TEXT", NUM_SMALL), "e": ("", NUM_SMALL), "g": ("NUMERIC", NUM_SMALL)}


def numbers():
    """The small ones first: beyond 2^53 versions differ by more, which the page says."""
    r = Random(7)
    small = ["%s0.%d%s" % (r.choice(["", "-"]), r.randrange(10**r.randint(10, 19)), r.choice(["", "", "e%d" % r.randint(-30, 2)])) for _ in range(NUM_SMALL)]
    halves = []
    for _ in range(1500):  # decimals between a large integer and the REAL next to it, which versions round otherwise
        whole = float(r.randrange(2**r.randrange(33, 53)))
        half = (Decimal(whole) + Decimal(math.nextafter(whole, r.choice([0, 2**60])))) / 2
        halves.append(str(half.quantize(Decimal(1).scaleb(len(str(int(half))) - r.randrange(17, 22)))))
    return small + halves + ["%s%d.%0*d" % (r.choice(["", "-"]), r.randrange(10**r.randrange(1, 9)), r.randrange(1, 17), r.randrange(10**r.randrange(1, 17)))
                    for _ in range(6000)] + [DECIMAL]


def one_version(args):
    """In a process of its own, under another SQLite."""
    db = connect(args.path, args.load)
    if args.step == "write":
        db.execute("BEGIN")
        for name, (type_, num_rows) in TABLES.items():
            db.execute("CREATE TABLE %s(id INTEGER PRIMARY KEY, k %s)" % (name, type_))
            db.executemany("INSERT INTO %s(k) VALUES (?)" % name, [(text,) for text in numbers()[:num_rows]])
            execute(db, "CREATE VIRTUAL TABLE f_{0} USING bloom({0}, k)".format(name),
                    "CREATE VIRTUAL TABLE i_{0} USING bloom_index({0}, k)".format(name))
            command(db, "i_" + name, "merge")
        execute(db, "CREATE TABLE stored(filter)", "INSERT INTO stored SELECT bloom_build(CAST(k AS REAL), 20) FROM a",
                "COMMIT")
        return
    if args.step == "cast":
        print(repr(one(db, "SELECT CAST(? AS REAL)", DECIMAL)))
        return
    if args.step == "words":
        print(two_characters(db))
        return
    db.execute("CREATE TEMP TABLE n(x REAL)")
    db.executemany("INSERT INTO n VALUES (?)", [(text,) for text in numbers()])
    for name, (_, num_rows) in TABLES.items():
        if args.step == "rebuild":
            command(db, "f_" + name, "rebuild")
            command(db, "i_" + name, "rebuild")
        if num_rows == NUM_SMALL:
            command(db, "i_" + name, "integrity-check")  # no false alarm
        of_row = "SELECT 1 FROM i_%s AS i WHERE i.id = t.id AND i.k = " % name
        for found in "SELECT 1 FROM f_%s WHERE key = n.x" % name, of_row + "n.x":
            lost = one(db, "SELECT count(*) FROM n JOIN %s AS t ON t.id = n.rowid AND t.k = n.x WHERE NOT EXISTS (%s)" % (name, found))
            expect(lost, 0, found)
        expect(one(db, "SELECT count(*) FROM %s AS t WHERE id %% 50 = 0 AND NOT EXISTS (%s)" % (name, of_row + "t.k")), 0, of_row)
    print(one(db, "SELECT count(*) FROM a, stored WHERE NOT bloom_may_contain(filter, CAST(k AS REAL))"))


SQLITES = range(max(len(tools.versions()), 2))


@each([(writes, reads) for writes in SQLITES for reads in SQLITES if writes != reads])
def another_sqlite(files, writes, reads):
    folders = tools.versions()
    if max(writes, reads) >= len(folders):
        raise Skip("another SQLite (sh test/lib/build_sqlite.sh 3.54.1)")
    tools.under(folders[writes], files, "write")
    expect(tools.under(folders[writes], files, "read"), "0")
    tools.under(folders[reads], files, "read")


@test
def stored_filters_of_casts_differ(files):
    """Where two versions of SQLite are here that read the page's decimal otherwise."""
    assert DECIMAL in tools.page()
    folders = tools.versions()
    tools.under("", files, "write")
    if all(tools.under(folder, files, "cast") == tools.under("", files, "cast") for folder in folders):
        raise Skip("two SQLites that read decimals otherwise (sh test/lib/build_sqlite.sh 3.54.1)")
    assert any(int(tools.under(folder, files, "rebuild")) > 0 for folder in folders)


SCRIPTS = (0x3041, 0x3096), (0x30a1, 0x30fa), (0x4e00, 0x9fff), (0xac00, 0xd7a3), (0x0410, 0x044f), (0x0e01, 0x0e2e)


def two_characters(db):
    """The guide: two characters of Chinese, Japanese, Korean are enough, and an index finds what the table has.  Returns how many words are in no row."""
    r = Random(11)
    used = [[r.randrange(low, high + 1) for _ in range(60)] for low, high in SCRIPTS]

    def word():
        some = r.choice(used)
        return chr(r.choice(some)) + chr(r.choice(some))

    db.execute("CREATE TABLE notes(id INTEGER PRIMARY KEY, text TEXT)")
    db.executemany("INSERT INTO notes(text) VALUES (?)", [("".join(word() for _ in range(r.randrange(1, 9))),) for _ in range(3000)])
    db.execute("CREATE VIRTUAL TABLE notes_index USING bloom_index(notes, text LIKE)")
    command(db, "notes_index", "merge")
    num_absent = 0
    for _ in range(1000):
        pattern = (r.choice(["%%%s%%"] * 6 + ["%s%%", "%%%s"])) % word()
        found, wanted = (column(db, "SELECT id FROM %s WHERE text LIKE ? ORDER BY id" % table, pattern) for table in ("notes_index", "notes"))
        expect(found, wanted, pattern)
        num_absent += not wanted
    assert "whole table" not in plan(db, "SELECT id FROM notes_index WHERE text LIKE '%%%s%%'" % word())
    return num_absent


@test
def two_characters_are_enough(files):
    for folder in tools.versions():
        num_absent = int(tools.under(folder, files, "words"))
        assert 100 < num_absent < 900, num_absent
        os.remove(files.path)


def made_by_1_1_0(files):
    """A database of bloom 1.1.0, by its dump, with a stored filter of 1.0.0."""
    db = files.connect(load=False)
    with open(os.path.join(TOP, "test", "docs", "made_by_1_1_0.sql"), encoding="utf-8") as file:
        db.executescript(file.read())
    db.close()
    return files.connect()


@test
def stored_filters_of_1_0_0_are_read(files):
    db = made_by_1_1_0(files)
    expect(one(db, "SELECT min(bloom_may_contain(filter, email)) FROM filters, people"), 1)
    expect(one(db, "SELECT bloom_may_contain(filter, 'nobody@example.org') FROM filters"), 0)


@test
def virtual_tables_of_1_1_0_are_not_read(files):
    db = made_by_1_1_0(files)
    for sql in ("SELECT count(*) FROM people_email('ada@example.org')", "SELECT * FROM people_email", "SELECT handle FROM people_email", "SELECT * FROM seen",
                "INSERT INTO people(email) VALUES ('eve@example.org')", "UPDATE people SET email = 'x'", "INSERT INTO seen(key) VALUES (1)",
                "INSERT INTO people_email(people_email) VALUES ('rebuild')", "SELECT * FROM vip"):
        error = str(error_of(db, sql))
        assert re.match(r"bloom: (\w+) was made by bloom 1.[01].*: DROP TABLE \1, and create it again", error), (sql, error)
    assert "lower(email)" in str(error_of(db, "CREATE VIRTUAL TABLE vip2 USING bloom(people, lower(email))"))
    expect(one(db, "SELECT count(*) FROM people WHERE email LIKE '%example.org'"), 2)
    # What to do: DROP TABLE leaves nothing of them; then the source is as any other.
    execute(db, "DROP TABLE people_email", "DROP TABLE vip", "DROP TABLE seen")
    expect(column(db, "SELECT name FROM sqlite_master"), ["people", "filters"])
    db.execute("INSERT INTO people(email) VALUES ('before@example.org')")
    db.execute("CREATE VIRTUAL TABLE people_email USING bloom(people, email)")
    is_whole(db, "SELECT email FROM people", "people_email")
    db.execute("INSERT INTO people(email) VALUES ('eve@example.org')")
    is_whole(db, "SELECT email FROM people", "people_email")


@test
def indexes_of_1_1_0_are_not_read(files):
    """Their configuration begins otherwise: with BIC1."""
    db = make(files, INDEX)
    execute(db, "DROP TABLE f_state", 'CREATE TABLE "f_state"(covered INTEGER, changed_rows INTEGER, note TEXT)', "INSERT INTO f_state VALUES (200, 0, NULL)",
            'CREATE TABLE "f_layout"(data BLOB)', 'CREATE TABLE "f_config"(data BLOB)', "INSERT INTO f_config VALUES (CAST('BIC1' AS BLOB))")
    db.close()
    db = files.connect()
    execute(db, "DROP TRIGGER f_after_insert", 'CREATE TRIGGER "f_after_insert" AFTER INSERT ON "t" WHEN new."id" <= (SELECT covered FROM "f_state")'
            ' BEGIN INSERT INTO "f_changed"(id) VALUES (new."id") ON CONFLICT DO NOTHING; END')
    for sql in "SELECT * FROM f", "SELECT count(*) FROM f WHERE id = 1", "INSERT INTO f(f) VALUES ('merge')", "INSERT INTO f(f) VALUES ('rebuild')":
        expect(str(error_of(db, sql)), "bloom_index: f is damaged: its configuration; drop it and create it again")
    execute(db, "INSERT INTO t(k) VALUES ('new')", "UPDATE t SET k = 'other' WHERE id = 1", "DROP TABLE f")
    expect(column(db, "SELECT name FROM sqlite_master"), ["t", "other", "f_state", "f_layout", "f_config"])


# -- Taking it away ----------------------------------------------------------------------------------------

def lines_without_bloom(module):
    """The statements of the two blocks; for an index, as the sentence after them says."""
    blocks = re.search(r"### Without bloom(.*?)\n## ", tools.page("README.md"), re.S).group(1)
    statements = [sql for sql in re.findall(r"^sqlite> (.*)$", blocks, re.M) if not sql.startswith(".")]
    if module == FILTER:
        return statements
    assert 'search for `INSERT INTO "log_index_changed"` instead' in blocks
    tables = ["log_index" + suffix for suffix in re.findall(r"`(?:log_index)?(_\w+)`", blocks[blocks.index("For an index"):])]
    expect(tables, ["log_index_state", "log_index_changed", "log_index_spans", "log_index_entries1", "log_index_zones1", "log_index_canary"])
    tables = [table.replace("zones1", "entries2") for table in tables]  # what this one has
    done = []
    for sql in statements:
        if sql.startswith("DROP TRIGGER"):
            continue
        if sql == "DROP TABLE people_email_new;":
            continue
        if sql == "DROP TABLE people_email_pages;":
            done += ["DROP TABLE %s;" % table for table in tables]
        elif sql.startswith("SELECT 'DROP TRIGGER"):
            done += [sql.replace('"people_email_new"', '"log_index_changed"')]
        else:
            done += [sql.replace("people_email", "log_index").replace("people(email)", "log(trace_id)")]
    return done


@each([FILTER, INDEX], {"": False, "renamed": True})
def taken_away_without_bloom(files, module, renamed):
    """By the page's lines; another connection is open, and sees it."""
    table, name = ("people", "people_email") if module == FILTER else ("log", "log_index")
    db = files.connect()
    if module == FILTER:
        db.execute("CREATE TABLE people(id INTEGER PRIMARY KEY, email TEXT)")
        create = "CREATE VIRTUAL TABLE %s USING bloom(people, email)"
    else:
        db.execute("CREATE TABLE log(trace_id TEXT, user_id INTEGER)")
        create = "CREATE VIRTUAL TABLE %s USING bloom_index(log, trace_id, user_id)"
    db.execute(create % ("first_name" if renamed else name))
    if renamed:
        db.execute("ALTER TABLE first_name RENAME TO " + name)
    db.close()
    db, other = files.connect(load=False), files.connect(load=False)
    expect(one(other, "SELECT count(*) FROM sqlite_master WHERE name = '%s'" % name), 1)
    for sql in lines_without_bloom(module):
        if sql == "DROP TABLE %s;" % name:
            fails(db, sql, NO_MODULE)
        elif sql.startswith("SELECT 'DROP TRIGGER"):
            drops = column(db, sql)
            expect(len(drops), 5 if module == INDEX else 2, str(drops))
            for drop in drops:
                db.execute(drop)
        elif sql.startswith("DROP TRIGGER"):
            if not renamed:
                assert "no such trigger" in str(error_of(db, sql))  # the line before has dropped it
        else:
            db.execute(sql)
    expect(column(db, "SELECT name FROM sqlite_master"), [table])
    expect(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
    expect(one(db, "SELECT count(*) FROM " + table), 1)
    expect(one(other, "SELECT count(*) FROM " + table), 1)
    fails(other, "SELECT * FROM " + name, "no such table")
    db.execute("CREATE TABLE %s(x)" % name)  # the name is free
    db.execute("DROP TABLE " + name)
    db.close()
    db = files.connect()
    db.execute(create % name)
    command(db, name, "integrity-check")


@test
def a_defensive_shell(files):
    make(files, FILTER).close()
    lines = "PRAGMA writable_schema = ON;\nDELETE FROM sqlite_master WHERE type = 'table' AND name = 'f' AND rootpage = 0;\nSELECT changes();\n"
    done = tools.shell(files, files.path, ".dbconfig defensive on\n" + lines)
    if "unknown" in done.stderr.lower():
        raise Skip("a shell with .dbconfig")
    assert "sqlite_master may not be modified" in done.stderr, done
    done = tools.shell(files, files.path, ".dbconfig defensive on\n.dbconfig defensive off\n" + lines)
    expect(done.stderr, "")
    assert done.stdout.rstrip().endswith("1"), done.stdout


@test
def a_migration_of_a_table_that_was_renamed(files):
    """The triggers go with the table, and its first name is all that is left: it is gone."""
    db = make(files, FILTER)
    execute(db, "ALTER TABLE t RENAME TO u", "CREATE TABLE new AS SELECT * FROM u", "DROP TABLE u",
            "ALTER TABLE new RENAME TO u")
    assert "if its table is still called t; else drop it" in note(db), note(db)
    fails(db, "INSERT INTO f(f) VALUES ('rebuild')", "there is no table t", "drop f and create it again")
    execute(db, "DROP TABLE f", "CREATE VIRTUAL TABLE f USING bloom(u, k)")
    no_false_negative(db, "SELECT k FROM u")


# -- Damage: test/vtab/damage.py and hostile_files.py have it at random ----------------------------------
# Who reads a damaged filter, or writes to its source: vtab/certain.py, damaged_pages and journal_is_gone.

@test
def a_filter_whose_rebuild_fails(files):
    db = make(files, FILTER)
    execute(db, "DROP TABLE f_pages", "CREATE TABLE f_pages(x)")
    fails(db, "INSERT INTO f(f) VALUES ('rebuild')", "table f_pages is in the way of f: ALTER TABLE f_pages RENAME TO f_kept_pages")
    execute(db, "DROP TABLE f_pages", "INSERT INTO f(f) VALUES ('rebuild')", "DROP TABLE f", "CREATE VIRTUAL TABLE f USING bloom(t, k)")
    is_certain(db, FILTER)


@each([FILTER, "standalone", INDEX])
def a_cleaner_deletes_from_all_tables(files, module):
    """Writes go on, and the row's last column cures it."""
    if module == "standalone":
        db = files.connect()
        execute(db, "CREATE VIRTUAL TABLE f USING bloom(capacity = 1000)", "INSERT INTO f(key) VALUES ('key7')")
    else:
        db = make(files, module)
    db.close()
    db = files.connect(load=False)
    for table in column(db, "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE 'sqlite%'"):
        db.execute('DELETE FROM "%s"' % table)
    if module != "standalone":
        fill(db, 100)
    db.close()
    db = files.connect()
    if module == INDEX:
        fails(db, ASKED, "f is damaged: its configuration; drop it and create it again")
        execute(db, "DROP TABLE f", "CREATE VIRTUAL TABLE f USING bloom_index(t, k)")
    else:
        fails(db, "SELECT * FROM f('key7')", "f is damaged: its layout")
        command(db, "f", "merge" if module == FILTER else "delete-all")
    if module == "standalone":
        expect(one(db, "SELECT count(*) FROM f('key7')"), 0)
    else:
        is_certain(db, module)


def flipped_bits(files, module):
    db = make(files, module, num_rows=5000)
    if module == FILTER:
        db.execute("UPDATE f_pages SET bytes = substr(bytes, 1, 32) || zeroblob(length(bytes) - 32) WHERE rowid = 2")
    else:
        db.execute("UPDATE f_entries1 SET data = zeroblob(length(data))")
    expect(error_of(db, "INSERT INTO f(f) VALUES ('integrity-check')").sqlite_errorname, "SQLITE_CORRUPT_VTAB")
    found = column(db, "PRAGMA integrity_check")
    assert (found != ["ok"]) == (sqlite3.sqlite_version_info >= (3, 44)), found
    command(db, "f", "rebuild")
    is_certain(db, module)
    expect(column(db, "PRAGMA integrity_check"), ["ok"])


both(flipped_bits)


@each([(FILTER, "f_pages"), (FILTER, "f_new"), (FILTER, "t"), (INDEX, "f_state"), (INDEX, "f_changed"), (INDEX, "f_entries1"), (INDEX, "t")])
def damaged_b_tree(files, module, table):
    """SQLite's own text, with the name of the filter or index whose table it is; or the answer, where it is not read."""
    db = make(files, module, num_rows=5000)
    page, num_bytes = one(db, "SELECT rootpage FROM sqlite_master WHERE name = ?", table), one(db, "PRAGMA page_size")
    db.close()
    with open(files.path, "r+b") as file:
        file.seek((page - 1) * num_bytes)
        file.write(b"\xff" * num_bytes)
    module_name, num_failed = ("bloom_index", 0) if module == INDEX else ("bloom", 0)
    for sql in ("SELECT count(*) FROM f WHERE %s = 'key7'" % ("k" if module == INDEX else "key"), "SELECT * FROM f", "SELECT handle FROM f" if module == FILTER else ASKED,
                "INSERT INTO f(f) VALUES ('merge')", "INSERT INTO f(f) VALUES ('integrity-check')", "INSERT INTO f(f) VALUES ('rebuild')"):
        error = error_of(files.connect(), sql)
        if error is not None:
            num_failed += 1
            wanted = "%s: f: database disk image is malformed" % module_name
            assert str(error) == wanted or (table == "f_state" and "f is damaged: its configuration" in str(error)), "%s: %s" % (sql, error)
    assert num_failed > 0


@test
def a_stored_filter_has_no_checksum(files):
    """hostile/fuzz has any bytes."""
    db = files.connect()
    for change in "zeroblob(length(filter) - 1) || x'06'", "substr(filter, 1, 1)", "x''":
        changed = one(db, "SELECT CAST(%s AS BLOB) FROM (SELECT bloom_build('a') AS filter)" % change)
        expect(one(db, "SELECT bloom_may_contain(?, 'a')", changed), 0, change)


# -- What it takes on disk -------------------------------------------------------------------------------------

def bytes_used(db):
    return (one(db, "PRAGMA page_count") - one(db, "PRAGMA freelist_count")) * one(db, "PRAGMA page_size")


def said(row):
    """The bytes a key that the page's table says."""
    return float(re.search(r"^\| %s \| (?:up to )?([\d.]+) \|$" % row, tools.page("README.md"), re.M).group(1))


@each([
    ("a filter, 10 bits a key, with room for twice the keys; 24 KB at least", "bloom(t, k)", 0.9, 1.1),
    ("an index, a column", "bloom_index(t, k)", 0.9, 1.1),
    ("an index, a column with LIKE | 13 % of the text", "bloom_index(t, m LIKE)", 0.8, 1.25),
    ("a stored filter, 10 bits a key", "CREATE TABLE s(filter); INSERT INTO s SELECT bloom_build(k) FROM t", 0.9, 1.1),
    ("for comparison: CREATE INDEX on 16 hexadecimal digits", "CREATE INDEX i ON t(k)", 0.9, 1.1)])
def size(files, row, declaration, least, most):
    db = files.connect()
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT, m TEXT)")
    num_rows = 100000
    db.execute("INSERT INTO t(k, m) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
               " SELECT printf('%%016x', abs(random())), 'a message with two identifiers, ' || hex(randomblob(8)) || ' and ' || hex(randomblob(8)) FROM n" % num_rows)
    before = bytes_used(db)
    if declaration.startswith("bloom"):
        db.execute("CREATE VIRTUAL TABLE f USING " + declaration)
        command(db, "f", "rebuild")
    else:
        for sql in declaration.split("; "):
            db.execute(sql)
    num_bytes = bytes_used(db) - before
    if "LIKE" in declaration:
        num_bytes /= one(db, "SELECT sum(length(m)) FROM t")
        assert row in tools.page("README.md")
        assert least * 0.13 <= num_bytes <= most * 0.13, num_bytes
    else:
        num_bytes /= num_rows
        assert least * said(row) <= num_bytes <= most * said(row), num_bytes


@test
def size_of_a_small_filter(files):
    db = files.connect()
    db.execute("CREATE TABLE t(k)")
    before = bytes_used(db)
    db.execute("CREATE VIRTUAL TABLE f USING bloom(t, k)")
    num_bytes = bytes_used(db) - before
    assert 20 << 10 <= num_bytes <= 28 << 10, num_bytes


@test
def size_of_a_journal(files):
    db = make(files, FILTER, num_rows=200)
    before = bytes_used(db)
    db.execute("CREATE TABLE plain(id INTEGER PRIMARY KEY, k TEXT, n INTEGER DEFAULT 1, c)")
    keys = ("INSERT INTO %s(k) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) SELECT printf('%%016x', abs(random())) FROM n")
    db.execute(keys % "plain")
    without = bytes_used(db) - before
    db.execute(keys % "t")
    num_bytes = bytes_used(db) - before - 2 * without
    row = said("a key in its journal, 16 hexadecimal digits, until 'merge'")
    assert 0.9 * row <= num_bytes / 50000 <= 1.1 * row, num_bytes / 50000
    command(db, "f", "merge")
    assert (bytes_used(db) - before - 2 * without) / 50000 <= 3.3
    db.execute("DELETE FROM t WHERE id % 10 <> 0")
    num_bytes = one(db, "SELECT bytes FROM f")
    command(db, "f", "rebuild")
    assert one(db, "SELECT bytes FROM f") < num_bytes / 2


# -- Others called bloom ---------------------------------------------------------------------------------------

@test
def a_table_of_another_module_called_bloom(files):
    db = files.connect(load=False)
    db.execute("PRAGMA writable_schema = ON")
    db.execute("INSERT INTO sqlite_master(type, name, tbl_name, rootpage, sql)"
               " VALUES ('table', 'recent', 'recent', 0, 'CREATE VIRTUAL TABLE recent USING bloom(size=100000, p=0.01)')")
    db.close()
    db = files.connect()
    fails(db, "SELECT * FROM recent", "bloom: there is no option size")


@test
def modules_that_are_not_called_bloom_are_not_ours(files):
    """bloom_filter, sqlean's, is free."""
    db = files.connect()
    fails(db, "CREATE VIRTUAL TABLE plants USING bloom_filter(20)", "no such module: bloom_filter")


if __name__ == "__main__":
    sys.exit(main(one_version))
