"""A table with filters and a bloom_index is made again, as migrations do it: by hand and by the tools that people use.

SQLite can change little of a table, so tools create another one, copy, DROP the old one and
RENAME the new one. That takes the triggers away. From then on every key may be in a filter, the
index reads the whole table, nobody is kept from writing, notes say why, and 'rebuild' makes both whole.

After a tool the last step is run that sql/LIMITS.md has for it.

Debian: python3-django, python3-alembic, sqlite-utils. With --slow; what is not there is left out.
"""
import contextlib
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vtab"))
import tools  # noqa: E402
from cases import (PLANS_SAY, Skip, command, each, error_of, execute, expect, fails, is_uncertain, is_whole, main,  # noqa: E402
                   no_false_negative, note, one, plan, rebuild_makes_it_whole, slow, test, triggers_of)

# The filters over a table of people, and the keys of each.
FILTERS = {
    "f": ("person, email", "SELECT email FROM person"),
    "active": ("person, active", "SELECT active FROM person"),
    "pair": ("person, (email, active)", "SELECT bloom_tuple(email, active) FROM person"),
}
COLUMNS = "id INTEGER PRIMARY KEY, email TEXT, active INTEGER, about TEXT"


def people(db):
    db.execute("CREATE TABLE person(%s)" % COLUMNS)
    add_people(db, "Ada", 100)


def add_people(db, prefix, num_rows=50):
    db.execute("INSERT INTO person(email, active) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
               " SELECT '%s' || i || '@Example.org', i %% 2 FROM n" % (num_rows, prefix))


def make_filters_and_index(db):
    for name in FILTERS:
        db.execute("CREATE VIRTUAL TABLE %s USING bloom(%s)" % (name, FILTERS[name][0]))
    execute(db, "UPDATE person SET about = 'about number ' || (id * 7919)",
            "CREATE VIRTUAL TABLE person_index USING bloom_index(person, email, active, about LIKE)",
            "INSERT INTO person_index(person_index) VALUES ('merge')")


def peopled(files, **options):
    db = files.connect(**options)
    people(db)
    make_filters_and_index(db)
    return db


def same_rows(ask, email="email", about="about"):
    """The index has the table's columns and rows.  ask(sql): all rows; what its columns are called now, None: gone."""
    columns, columns_of_index = ([row[1] for row in ask("PRAGMA table_info(%s)" % table)] for table in ("person", "person_index"))
    expect(columns_of_index, columns)
    some = ask("SELECT %s FROM person WHERE id %% 20 = 3 ORDER BY id LIMIT 20" % email)
    conditions = ["%s = '%s'" % (email, row[0]) for row in some] + ["active = 1 ORDER BY id DESC LIMIT 3", "id = '5'"]
    conditions += ["%s IN ('Ada5@Example.org', 'In between', 'absent')" % email]
    conditions += ["%s LIKE '%%number 609763%%'" % about] if about else []
    for condition in conditions:
        sql = "SELECT * FROM %s WHERE " + condition.replace("%", "%%")
        expect(ask(sql % "person_index"), ask(sql % "person"), condition)


def rows_of(db):
    return lambda sql: db.execute(sql).fetchall()


def index_is_certain(db):
    return "repairs it" not in plan(db, "SELECT * FROM person_index WHERE email = 'x'")


def all_true(db, about="about"):
    for name in FILTERS:
        no_false_negative(db, FILTERS[name][1], name)
    same_rows(rows_of(db), about=about)


def all_whole(db, about="about"):
    for name in FILTERS:
        is_whole(db, FILTERS[name][1], name)
    same_rows(rows_of(db), about=about)
    command(db, "person_index", "integrity-check")
    expect(index_is_certain(db), True)


def all_uncertain(db, about="about"):
    for name in FILTERS:
        is_uncertain(db, FILTERS[name][1], name)
    same_rows(rows_of(db), about=about)
    assert not index_is_certain(db) or not PLANS_SAY
    fails(db, "INSERT INTO person_index(person_index) VALUES ('integrity-check')", "repairs it")


def all_rebuilt(db, about="about", by="merge"):
    for name in FILTERS:
        rebuild_makes_it_whole(db, FILTERS[name][1], name, by)
    command(db, "person_index", by)
    same_rows(rows_of(db), about=about)
    expect(one(db, "SELECT note FROM bloom_index_info('person_index')"), None)
    add_people(db, "after the rebuild ")
    db.execute("UPDATE person SET email = 'changed ' || email WHERE id % 5 = 0")
    all_whole(db, about)


# -- By hand --------------------------------------------------------------------------------

COPY = "INSERT INTO %s SELECT id + 100000, 'Copied ' || email, 1 - active, about FROM %s"


WAYS = {
    # sqlite.org's way: lang_altertable.html, section 7.
    "drop_and_rename": ("CREATE TABLE new_person(%s)" % COLUMNS, COPY % ("new_person", "person"), "DROP TABLE person", "ALTER TABLE new_person RENAME TO person"),
    # The other way round: the triggers go with the old table, and are dropped with it.
    "rename_away": ("ALTER TABLE person RENAME TO old_person", "CREATE TABLE person(%s)" % COLUMNS, COPY % ("person", "old_person"), "DROP TABLE old_person"),
    # Without a rename: the rows wait in another table.
    "drop_and_create": ("CREATE TEMP TABLE kept AS SELECT * FROM person", "DROP TABLE person", "CREATE TABLE person(%s)" % COLUMNS,
                        COPY % ("person", "temp.kept"), "DROP TABLE temp.kept"),
}


@each(WAYS.keys(), {"alone": False, "in a transaction": True}, {"": False, "legacy_alter_table": True}, {"": False, "statements held": True})
def by_hand(files, way, inside, legacy, held):
    db = peopled(files, cached_statements=128 if held else 0)
    all_true(db)
    watcher = files.connect() if held else None
    if watcher is not None:
        all_true(watcher)
    if legacy:
        db.execute("PRAGMA legacy_alter_table = ON")
    db.execute("PRAGMA foreign_keys = OFF")
    if inside:
        db.execute("BEGIN")
        add_people(db, "In the transaction ")
    for sql in WAYS[way]:
        db.execute(sql)
        # Whatever the table is called just now, who writes is not kept from it.
        if one(db, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'person'"):
            add_people(db, "In between, %s " % sql.split()[0], 5)
    if inside:
        db.execute("COMMIT")
    add_people(db, "Afterwards ")
    execute(db, "UPDATE person SET email = 'New ' || email WHERE id % 3 = 0", "DELETE FROM person WHERE id % 7 = 0")
    all_uncertain(db)
    if watcher is not None:
        all_uncertain(watcher)
        add_people(watcher, "By the other ")
    db.close()
    db = files.connect()
    all_uncertain(db)
    assert one(db, "SELECT note FROM bloom_index_info('person_index')").endswith("INSERT INTO person_index(person_index) VALUES ('merge') repairs it")
    all_rebuilt(db)
    if watcher is not None:
        all_whole(watcher)
    for name in *FILTERS, "person_index":
        db.execute("DROP TABLE " + name)
    expect(triggers_of(db, "person"), [])


@test
def a_migration_that_is_rolled_back(files):
    """At every step of it: then nothing has happened, and the filters are as they were."""
    db = peopled(files)
    for num_steps in range(1, 5):
        db.execute("BEGIN")
        execute(db, *WAYS["drop_and_rename"][:num_steps])
        if num_steps == 4:
            add_people(db, "Rolled back ")
            all_true(db)
        db.execute("ROLLBACK")
        all_whole(db)
        add_people(db, "Stays %d " % num_steps)
        execute(db, "BEGIN", "SAVEPOINT s", *WAYS["drop_and_rename"][:num_steps], "ROLLBACK TO s")
        add_people(db, "Stays too %d " % num_steps)
        db.execute("COMMIT")
        all_whole(db)


@each({"keys changed": True, "keys as they were": False}, {"": False, "statements held": True}, {"": False, "VACUUM": True})
def twelve_steps(files, changed, held, vacuumed):
    """The triggers are put back from their text, as the twelve steps say. Keys that were changed on the way are in no
    filter; that the triggers are there again must deceive nobody."""
    db = peopled(files)
    if held:
        all_true(db)
    # 1 to 3: the triggers' text, in the order in which they were made.
    execute(db, "PRAGMA foreign_keys = OFF", "BEGIN")
    texts = triggers_of(db, "person")
    assert texts
    execute(db, "CREATE TABLE new_person(%s)" % COLUMNS,
            "INSERT INTO new_person SELECT %s FROM person" % ("id + 5000, 'Copied ' || email, 1 - active, about" if changed else "*"),
            "DROP TABLE person", "ALTER TABLE new_person RENAME TO person")
    for sql in texts:
        db.execute(sql)
    db.execute("COMMIT")
    expect(sorted(triggers_of(db, "person")), sorted(texts))
    all_uncertain(db)
    add_people(db, "Afterwards ")
    if vacuumed:
        db.execute("VACUUM")
    all_uncertain(db)
    db.close()
    db = files.connect()
    all_uncertain(db)
    all_rebuilt(db)
    db.execute("VACUUM")
    all_whole(db)


@test
def the_column_is_gone(files):
    """The new table has no such column: no error but to a filter's 'rebuild', which says why, and DROP TABLE works."""
    db = files.connect()
    people(db)
    for name in "f", "active":
        db.execute("CREATE VIRTUAL TABLE %s USING bloom(%s)" % (name, FILTERS[name][0]))
    execute(db, "CREATE VIRTUAL TABLE person_index USING bloom_index(person, email)", "INSERT INTO person_index(person_index) VALUES ('merge')",
            "CREATE TABLE new_person(id INTEGER PRIMARY KEY, name TEXT, active INTEGER)", "DROP TABLE person",
            "ALTER TABLE new_person RENAME TO person", "INSERT INTO person(name) VALUES ('ada')")
    for _ in range(2):
        is_uncertain(db, "SELECT name FROM person", "f")
        fails(db, "INSERT INTO f(f) VALUES ('rebuild')", "email")
    rebuild_makes_it_whole(db, "SELECT active FROM person", "active")
    for _ in range(2):
        expect(one(db, "SELECT id FROM person_index WHERE name = 'ada'"), 1)
        command(db, "person_index", "rebuild")
    execute(db, "DROP TABLE f", "DROP TABLE person_index", "CREATE VIRTUAL TABLE f USING bloom(person, name)",
            "CREATE VIRTUAL TABLE person_index USING bloom_index(person, name)")
    is_whole(db, "SELECT name FROM person", "f")
    command(db, "person_index", "rebuild")
    command(db, "person_index", "integrity-check")


@test
def the_table_is_gone(files):
    db = peopled(files)
    db.execute("DROP TABLE person")
    for name in FILTERS:
        is_uncertain(db, "SELECT bloom_tuple('whatever', 1) AS k" if name == "pair" else "SELECT 'whatever' AS k", name)
        error = error_of(db, "INSERT INTO %s(%s) VALUES ('rebuild')" % (name, name))
        assert error is not None and "person" in str(error), error
    # It comes back, much later.
    people(db)
    all_uncertain(db)
    all_rebuilt(db)


@each(WAYS.keys())
def by_a_program_without_bloom(files, way):
    """It needs no bloom, and no filter misses a key."""
    db = peopled(files)
    db.close()
    db = files.connect(load=False)
    execute(db, *WAYS[way], "INSERT INTO person(email, active) VALUES ('Eve@example.org', 1)")
    expect(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
    db.close()
    db = files.connect()
    add_people(db, "Afterwards ")
    all_uncertain(db)
    all_rebuilt(db)


@test
def another_table_is_made_again(files):
    """No ALTER TABLE of a table that has nothing to do with a filter is kept from working."""
    db = peopled(files)
    execute(db, "CREATE TABLE other(a, b, c)", "CREATE VIEW over_other AS SELECT a FROM other",
            "ALTER TABLE other DROP COLUMN c", "ALTER TABLE other RENAME COLUMN b TO d",
            "ALTER TABLE other RENAME TO another", "DROP VIEW over_other", "CREATE TABLE new(a, d)",
            "DROP TABLE another", "ALTER TABLE new RENAME TO another", "DROP TABLE person")
    # Nor while a filter's own table is missing.
    execute(db, "ALTER TABLE another RENAME TO other", "ALTER TABLE other DROP COLUMN d",
            "ALTER TABLE active RENAME TO is_active")


# -- By tools ---------------------------------------------------------------------------------

def after_a_tool(files, about, is_made_again, run_last_step):
    """What it left holds no untruth, is told apart from what is whole, and its last step makes f whole, 'rebuild' all."""
    db = files.connect()
    all_true(db, about)
    add_people(db, "Between ")
    db.execute("UPDATE person SET email = 'In between' WHERE id = 3")
    (all_uncertain if is_made_again or note(db) else all_whole)(db, about)
    run_last_step()
    is_whole(db, FILTERS["f"][1])
    all_rebuilt(db, about, "rebuild")  # a column's type may have changed


# What each operation is, and the names of email and about behind it.
def add_field(migrations, models):
    yield migrations.AddField("person", "nick", models.CharField(max_length=100, default="nobody", null=True)), "email", "about"


def rename_field(migrations, models):
    yield migrations.RenameField("person", "email", "mail"), "mail", "about"
    yield migrations.RenameField("person", "mail", "email"), "email", "about"


def alter_field(migrations, models):
    yield migrations.AlterField("person", "email", models.CharField(max_length=100, null=True)), "email", "about"
    yield migrations.AlterField("person", "active", models.TextField(default="0")), "email", "about"
    yield migrations.AlterField("person", "email", models.CharField(max_length=200, null=True, db_index=True)), "email", "about"


def add_and_alter_and_remove(migrations, models):
    yield migrations.AddField("person", "nick", models.CharField(max_length=100, null=True)), "email", "about"
    yield migrations.AlterField("person", "active", models.SmallIntegerField(default=1)), "email", "about"
    yield migrations.RemoveField("person", "nick"), "email", "about"
    yield migrations.RemoveField("person", "about"), "email", None


@each([add_field, rename_field, alter_field, add_and_alter_and_remove])
@slow
def django(files, operations):
    package, connection, migrations, models, migrate = tools.django(files)
    from django.db.migrations.state import ProjectState
    state = migrate(ProjectState(), migrations.CreateModel("Person", [
        ("id", models.AutoField(primary_key=True)), ("email", models.TextField(null=True)), ("active", models.IntegerField(default=0)),
        ("about", models.TextField(null=True))], options={"db_table": "person"}))

    def ask(sql):
        with connection.cursor() as cursor:
            return cursor.execute(sql).fetchall()
    with connection.cursor() as cursor:
        add_people(cursor, "Ada", 100)
        make_filters_and_index(cursor)
        for name, (_, keys) in FILTERS.items():  # this connection's statements live on
            cursor.execute("SELECT count(*) FROM (%s) AS s, %s WHERE key = bloom_tuple('nobody', 1)" % (keys, name))
    same_rows(ask)
    for operation, email, about in operations(migrations, models):
        state = migrate(state, operation)
        same_rows(ask, email, about)
        ask("INSERT INTO person(%s, active) VALUES ('In between', 1)" % email)
        same_rows(ask, email, about)
    person = state.apps.get_model("app", "Person")
    person.objects.create(email="By the model@example.org", active=1)
    person.objects.filter(id=3).update(email="Updated@example.org")
    expect(person.objects.get(id=3).email, "Updated@example.org")
    connection.close()
    is_made_again = operations in (alter_field, add_and_alter_and_remove) or (operations is add_field and package.VERSION < (4,))
    after_a_tool(files, about, is_made_again, lambda: migrate(state, eval(tools.last_step("Django"), {"migrations": migrations})))
    connection.close()


CHANGES = {  # in the first and in the second migration
    "alter_column": lambda sqlalchemy, batch, i: batch.alter_column("email", type_=sqlalchemy.String(100 + i)),
    "add_column": lambda sqlalchemy, batch, i: batch.add_column(sqlalchemy.Column("nick%d" % i, sqlalchemy.String(20))),
    "rename_column": lambda _, batch, i: batch.alter_column("about" if i == 0 else "text", new_column_name="text" if i == 0 else "about"),
    "add_constraint": lambda _, batch, i: batch.create_check_constraint("check%d" % i, "active < 10"),
}


@each(CHANGES.keys(), {"recreate always": "always", "recreate auto": "auto"})
@slow
def alembic(files, change, recreate):
    sqlalchemy, engine, MigrationContext, Operations = tools.alembic(files)
    peopled(files).close()
    with engine.connect() as connection:
        def ask(sql):
            return [tuple(row) for row in connection.execute(sqlalchemy.text(sql.replace(":", "\\:"))).fetchall()]
        all_true(connection.connection)
        operations = Operations(MigrationContext.configure(connection))
        for i in range(2):
            with operations.batch_alter_table("person", recreate=recreate) as batch:
                CHANGES[change](sqlalchemy, batch, i)
            about = "text" if change == "rename_column" and i == 0 else "about"
            same_rows(ask, about=about)
            connection.execute(sqlalchemy.text("INSERT INTO person(email, active) VALUES ('In between', 1)"))
            same_rows(ask, about=about)
            with contextlib.suppress(AttributeError):
                connection.commit()

    def run_last_step():
        with engine.connect() as connection:
            eval(tools.last_step("Alembic"), {"op": Operations(MigrationContext.configure(connection))})
            with contextlib.suppress(AttributeError):
                connection.commit()
    after_a_tool(files, "about", recreate == "always", run_last_step)
    engine.dispose()


@test
@slow
def sqlite_utils(files):
    peopled(files).close()

    def run(*arguments):
        done = subprocess.run([sys.executable, "-m", "sqlite_utils", *arguments, "--load-extension", files.library()], cwd=files.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode and "No module named" in done.stdout:
            raise Skip("sqlite-utils (Debian: sqlite-utils)")
        expect(done.returncode, 0, done.stdout)

    run("transform", files.path, "person", "--type", "active", "text")
    sql = re.match(r'sqlite-utils people.db "(.*)" --load-extension ./bloom.so$', tools.last_step("sqlite-utils")).group(1)
    after_a_tool(files, "about", True, lambda: run(files.path, sql))


if __name__ == "__main__":
    sys.exit(main())
