"""The followed table is made again, as migrations do it: by hand and by the tools that people use.

    python3 test/vtab/migrations.py [--load ./bloom] [--only NAME]

SQLite can change little of a table, so tools create another one, copy, DROP the old one and
RENAME the new one. That takes the filter's triggers away. From then on every key may be in
the filter, nobody is kept from writing, `note` says why, and 'rebuild' makes it whole.

Debian: python3-django, python3-alembic. What is not there is left out. sqlite-utils: ../docs/breaks.py.
"""
import contextlib
import sqlite3
import sys

import tools
from cases import (case, error_of, execute, expect, is_uncertain, is_whole, main,
                   no_false_negative, note, one, rebuild_makes_it_whole, test, triggers_of)

# The filters over a table of people, and the keys of each.
FILTERS = {
    "f": ("person, email", "SELECT email FROM person"),
    "active": ("person, active", "SELECT active FROM person"),
    "pair": ("person, (email, active)", "SELECT bloom_tuple(email, active) FROM person"),
}
COLUMNS = "id INTEGER PRIMARY KEY, email TEXT, active INTEGER"


def people(db, num_rows=200):
    db.execute("CREATE TABLE person(%s)" % COLUMNS)
    add_people(db, "Ada", num_rows)


def add_people(db, prefix, num_rows=50):
    db.execute("INSERT INTO person(email, active) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
               " SELECT '%s' || i || '@Example.org', i %% 2 FROM n" % (num_rows, prefix))


def make_filters(db, names=FILTERS):
    for name in names:
        db.execute("CREATE VIRTUAL TABLE %s USING bloom(%s)" % (name, FILTERS[name][0]))


def peopled(files, **options):
    db = files.connect(**options)
    people(db)
    make_filters(db)
    return db


def all_true(db, names=FILTERS):
    for name in names:
        no_false_negative(db, FILTERS[name][1], name)


def all_whole(db, names=FILTERS):
    for name in names:
        is_whole(db, FILTERS[name][1], name)


def all_uncertain(db, names=FILTERS):
    for name in names:
        is_uncertain(db, FILTERS[name][1], name)


def all_rebuilt(db, names=FILTERS):
    for name in names:
        rebuild_makes_it_whole(db, FILTERS[name][1], name)
    add_people(db, "after the rebuild ")
    db.execute("UPDATE person SET email = 'changed ' || email WHERE id % 5 = 0")
    all_whole(db, names)


# -- By hand --------------------------------------------------------------------------------

COPY = "INSERT INTO %s SELECT id + 100000, 'Copied ' || email, 1 - active FROM %s"


def drop_and_rename(db):
    """sqlite.org's way: lang_altertable.html, section 7."""
    yield "CREATE TABLE new_person(%s)" % COLUMNS
    yield COPY % ("new_person", "person")
    yield "DROP TABLE person"
    yield "ALTER TABLE new_person RENAME TO person"


def rename_away(db):
    """The other way round: the triggers go with the old table, and are dropped with it."""
    yield "ALTER TABLE person RENAME TO old_person"
    yield "CREATE TABLE person(%s)" % COLUMNS
    yield COPY % ("person", "old_person")
    yield "DROP TABLE old_person"


def drop_and_create(db):
    """Without a rename: the rows wait in another table."""
    yield "CREATE TEMP TABLE kept AS SELECT * FROM person"
    yield "DROP TABLE person"
    yield "CREATE TABLE person(%s)" % COLUMNS
    yield COPY % ("person", "temp.kept")
    yield "DROP TABLE temp.kept"


def by_hand(files, way, inside, legacy, held, other):
    db = peopled(files, cached_statements=128 if held else 0)
    all_true(db)
    watcher = files.connect() if other else None
    if watcher is not None:
        all_true(watcher)
    if legacy:
        db.execute("PRAGMA legacy_alter_table = ON")
    db.execute("PRAGMA foreign_keys = OFF")
    if inside:
        db.execute("BEGIN")
        add_people(db, "In the transaction ")
    for sql in way(db):
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
    all_rebuilt(db)
    if watcher is not None:
        all_whole(watcher)
    for name in FILTERS:
        db.execute("DROP TABLE " + name)
    expect(triggers_of(db, "person"), [])


for way in drop_and_rename, rename_away, drop_and_create:
    for inside in False, True:
        for legacy in False, True:
            for held in False, True:
                name = "%s, %s%s%s" % (way.__name__, "in a transaction" if inside else "alone", ", legacy_alter_table" if legacy else "",
                                       ", statements held" if held else "")
                case(by_hand, name, way, inside, legacy, held, held)


@test
def a_migration_that_is_rolled_back(files):
    """At every step of it: then nothing has happened, and the filters are as they were."""
    db = peopled(files)
    for num_steps in range(1, 5):
        db.execute("BEGIN")
        for sql, _ in zip(drop_and_rename(db), range(num_steps)):
            db.execute(sql)
        if num_steps == 4:
            add_people(db, "Rolled back ")
            all_true(db)
        db.execute("ROLLBACK")
        all_whole(db)
        add_people(db, "Stays %d " % num_steps)
        execute(db, "BEGIN", "SAVEPOINT s")
        for sql, _ in zip(drop_and_rename(db), range(num_steps)):
            db.execute(sql)
        db.execute("ROLLBACK TO s")
        add_people(db, "Stays too %d " % num_steps)
        db.execute("COMMIT")
        all_whole(db)


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
            "INSERT INTO new_person SELECT %s FROM person" % ("id + 5000, 'Copied ' || email, 1 - active" if changed else "id, email, active"),
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


for changed in True, False:
    for held in False, True:
        for vacuumed in False, True:
            case(twelve_steps, "%s%s%s" % ("keys changed" if changed else "keys as they were", ", statements held" if held else "",
                                          ", VACUUM" if vacuumed else ""), changed, held, vacuumed)


@test
def the_column_is_gone(files):
    """The new table has no such column: no error but to 'rebuild', which says why, and DROP TABLE works."""
    db = files.connect()
    people(db)
    make_filters(db, ["f", "active"])
    execute(db, "CREATE TABLE new_person(id INTEGER PRIMARY KEY, name TEXT, active INTEGER)", "DROP TABLE person",
            "ALTER TABLE new_person RENAME TO person", "INSERT INTO person(name) VALUES ('ada')")
    is_uncertain(db, "SELECT name FROM person", "f")
    error = error_of(db, "INSERT INTO f(f) VALUES ('rebuild')")
    assert error is not None and "email" in str(error), error
    is_uncertain(db, "SELECT name FROM person", "f")
    rebuild_makes_it_whole(db, "SELECT active FROM person", "active")
    db.execute("DROP TABLE f")


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


def by_a_program_without_bloom(files, way):
    """It needs no bloom, and no filter misses a key."""
    db = peopled(files)
    db.close()
    db = files.connect(load=False)
    execute(db, *way(db), "INSERT INTO person(email, active) VALUES ('Eve@example.org', 1)")
    expect(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
    db.close()
    db = files.connect()
    add_people(db, "Afterwards ")
    all_uncertain(db)
    all_rebuilt(db)


for way in drop_and_rename, rename_away, drop_and_create:
    case(by_a_program_without_bloom, way.__name__, way)


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

def after_a_tool(files):
    db = files.connect()
    add_people(db, "Between ")
    all_uncertain(db)
    all_rebuilt(db)
    db.close()


def django(files, operations, in_between):
    _, connection, migrations, models, migrate = tools.django(files)
    from django.db.migrations.state import ProjectState
    state = migrate(ProjectState(), migrations.CreateModel("Person", [
        ("id", models.AutoField(primary_key=True)), ("email", models.TextField(null=True)), ("active", models.IntegerField(default=0))],
        options={"db_table": "person"}))
    with connection.cursor() as cursor:
        add_people(cursor, "Ada")
        make_filters(cursor)
        for name, (_, keys) in FILTERS.items():  # this connection's statements live on
            cursor.execute("SELECT count(*) FROM (%s) AS s, %s WHERE key = bloom_tuple('nobody', 1)" % (keys, name))
    for operation in operations(migrations, models):
        state = migrate(state, operation)
        if in_between:
            with connection.cursor() as cursor:
                cursor.execute("INSERT INTO person(email, active%s) VALUES ('In between', 1%s)" % (
                    (", nick", ", 'x'") if "nick" in [c.name for c in connection.introspection.get_table_description(cursor, "person")] else ("", "")))
    person = state.apps.get_model("app", "Person")
    person.objects.create(email="By the model@example.org", active=1)
    person.objects.filter(id=3).update(email="Updated@example.org")
    expect(person.objects.get(id=3).email, "Updated@example.org")
    connection.close()

    db = files.connect()
    if "nick" in [row[1] for row in db.execute("PRAGMA table_info(person)")]:
        db.execute("CREATE TRIGGER nick AFTER INSERT ON person BEGIN SELECT 1; END")  # nothing of the tool's stands in its way
        db.execute("DROP TRIGGER nick")
    all_true(db)
    if any(note(db, name) is not None for name in FILTERS):
        db.close()
        db = files.connect()
        with contextlib.suppress(sqlite3.IntegrityError):
            add_people(db, "Between ")
        all_uncertain(db)
        for name in FILTERS:
            rebuild_makes_it_whole(db, FILTERS[name][1], name)
    with contextlib.suppress(sqlite3.IntegrityError):
        add_people(db, "After ")
    db.execute("UPDATE person SET email = 'changed ' || email WHERE id % 5 = 0")
    all_whole(db)


def alter_field(migrations, models):
    yield migrations.AlterField("person", "email", models.CharField(max_length=100, null=True))
    yield migrations.AlterField("person", "email", models.CharField(max_length=200, null=True, db_index=True))


def add_field(migrations, models):
    yield migrations.AddField("person", "nick", models.CharField(max_length=100, default="nobody"))


def add_and_alter_and_remove(migrations, models):
    yield migrations.AddField("person", "nick", models.CharField(max_length=100, null=True))
    yield migrations.AlterField("person", "active", models.SmallIntegerField(default=1))
    yield migrations.RemoveField("person", "nick")


for operations in alter_field, add_field, add_and_alter_and_remove:
    for in_between in False, True:
        case(django, "%s%s" % (operations.__name__, ", rows in between" if in_between else ""), operations, in_between)


def alembic(files, change, in_between):
    sqlalchemy, engine, MigrationContext, Operations = tools.alembic(files)
    peopled(files).close()
    with engine.connect() as connection:
        all_true(connection.connection)
        operations = Operations(MigrationContext.configure(connection))
        for i in range(2 if in_between else 1):
            with operations.batch_alter_table("person", recreate="always") as batch:
                change(sqlalchemy, batch, i)
            connection.execute(sqlalchemy.text("INSERT INTO person(email, active) VALUES ('In between', 1)"))
            with contextlib.suppress(AttributeError):
                connection.commit()
    engine.dispose()
    after_a_tool(files)


def alter_column(sqlalchemy, batch, i):
    batch.alter_column("email", type_=sqlalchemy.String(100 + i))


def add_column(sqlalchemy, batch, i):
    batch.add_column(sqlalchemy.Column("nick%d" % i, sqlalchemy.String(20)))


def add_constraint(sqlalchemy, batch, i):
    batch.create_check_constraint("check%d" % i, "active < 10")


for change in alter_column, add_column, add_constraint:
    for in_between in False, True:
        case(alembic, "%s%s" % (change.__name__, ", twice, rows in between" if in_between else ""), change, in_between)


if __name__ == "__main__":
    sys.exit(main())
