"""The source of a bloom_index is migrated by Django and Alembic, with queries before, between and after.

    python3 test/index/migrations.py [--load ./bloom] [--only NAME]

Debian: python3-django, python3-alembic. What is not there is left out.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vtab"))
from cases import case, execute, expect, main, one  # noqa: E402
import tools  # noqa: E402

NUM_ROWS = 2000
CREATE = "CREATE VIRTUAL TABLE person_index USING bloom_index(person, email, active, about LIKE, probes = 20)"
MERGE = "INSERT INTO person_index(person_index) VALUES ('merge')"


def add_people(run, prefix, num_rows, columns=()):
    """run(sql); columns: others that need a value."""
    run("INSERT INTO person(email, active, about%s) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
        " SELECT '%s' || i || '@example.org', i %% 50, 'about %s number ' || (i * 7919)%s FROM n" % (
            "".join(", " + name for name in columns), num_rows, prefix, prefix, ", 'x'" * len(columns)))


def is_same(ask, names):
    """Index and table have the same rows.  ask(sql): all rows; names: what email, active and about are called now, None: gone."""
    columns = [[row[1] for row in ask("PRAGMA table_info(%s)" % table)] for table in ("person", "person_index")]
    expect(columns[1], columns[0])
    email, active, about = names
    conditions = ["%s = 'Ada77@example.org'" % email, "%s IN ('Ada5@example.org', 'Late3@example.org', 'absent')" % email, "id = '5'"]
    conditions += ["%s = 7 ORDER BY id DESC LIMIT 3" % active] if active else []
    conditions += ["%s LIKE '%%number 609763%%'" % about] if about else []
    for condition in conditions:
        sql = "SELECT * FROM %s WHERE " + condition.replace("%", "%%")
        expect(ask(sql % "person_index"), ask(sql % "person"), condition)
    assert ask("SELECT count(*) FROM person_index WHERE %s = 'Ada77@example.org'" % email)[0][0] == 1, email


def is_repaired(files, names):
    """Each writer was heard or is read; 'rebuild' is the last step, and then blocks are believed again."""
    db = files.connect()
    is_same(lambda sql: db.execute(sql).fetchall(), names)
    db.execute("UPDATE person SET %s = 'Late3@example.org' WHERE id = 3" % names[0])
    is_same(lambda sql: db.execute(sql).fetchall(), names)
    for command in "merge", "rebuild", "integrity-check":
        db.execute("INSERT INTO person_index(person_index) VALUES ('%s')" % command)
        is_same(lambda sql: db.execute(sql).fetchall(), names)
    expect(one(db, "SELECT note FROM person_index_state"), None)
    plan = db.execute("EXPLAIN QUERY PLAN SELECT * FROM person_index WHERE %s = 'x'" % names[0]).fetchall()[0][3]
    assert "reads the whole" not in plan and "rebuild" not in plan, plan


# -- Django ---------------------------------------------------------------------------------------------

def add_field(migrations, models):
    yield migrations.AddField("person", "nick", models.CharField(max_length=20, null=True)), ("email", "active", "about"), ()


def rename_field(migrations, models):
    yield migrations.RenameField("person", "email", "mail"), ("mail", "active", "about"), ()
    yield migrations.RenameField("person", "mail", "email"), ("email", "active", "about"), ()


def alter_field(migrations, models):
    yield migrations.AlterField("person", "email", models.CharField(max_length=100, null=True)), ("email", "active", "about"), ()
    yield migrations.AlterField("person", "active", models.TextField(default="0")), ("email", "active", "about"), ()
    yield migrations.AlterField("person", "about", models.CharField(max_length=300, null=True, db_index=True)), ("email", "active", "about"), ()


def remove_field(migrations, models):
    yield migrations.AddField("person", "nick", models.CharField(max_length=20, null=True)), ("email", "active", "about"), ()
    yield migrations.RemoveField("person", "nick"), ("email", "active", "about"), ()
    yield migrations.RemoveField("person", "about"), ("email", "active", None), ()


def django(files, operations):
    _, connection, migrations, models, migrate = tools.django(files)
    from django.db.migrations.state import ProjectState
    state = migrate(ProjectState(), migrations.CreateModel("Person", [
        ("id", models.AutoField(primary_key=True)), ("email", models.TextField(null=True)), ("active", models.IntegerField(default=0)),
        ("about", models.TextField(null=True))], options={"db_table": "person"}))

    def ask(sql):
        with connection.cursor() as cursor:
            return cursor.execute(sql).fetchall()
    with connection.cursor() as cursor:
        add_people(cursor.execute, "Ada", NUM_ROWS)
        cursor.execute(CREATE)
        cursor.execute(MERGE)
    names = "email", "active", "about"
    is_same(ask, names)
    for operation, names, _ in operations(migrations, models):
        state = migrate(state, operation)
        is_same(ask, names)
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO person(%s, active) VALUES ('Late3@example.org', 7)" % names[0])
        is_same(ask, names)
    connection.close()
    is_repaired(files, names)


for operations in add_field, rename_field, alter_field, remove_field:
    case(django, operations.__name__, operations)


# -- Alembic ----------------------------------------------------------------------------------------------

def alter_column(sqlalchemy, batch, i):
    batch.alter_column("email", type_=sqlalchemy.String(100 + i))


def add_column(sqlalchemy, batch, i):
    batch.add_column(sqlalchemy.Column("nick%d" % i, sqlalchemy.String(20)))


def rename_column(sqlalchemy, batch, i):
    batch.alter_column("about" if i == 0 else "text", new_column_name="text" if i == 0 else "about")


def alembic(files, change, recreate):
    sqlalchemy, engine, MigrationContext, Operations = tools.alembic(files)
    db = files.connect()
    db.execute("CREATE TABLE person(id INTEGER PRIMARY KEY, email TEXT, active INTEGER, about TEXT)")
    add_people(db.execute, "Ada", NUM_ROWS)
    execute(db, CREATE, MERGE)
    db.close()
    names = "email", "active", "about"
    with engine.connect() as connection:
        def ask(sql):
            return [tuple(row) for row in connection.execute(sqlalchemy.text(sql.replace(":", "\\:"))).fetchall()]
        is_same(ask, names)
        operations = Operations(MigrationContext.configure(connection))
        for i in range(2):
            with operations.batch_alter_table("person", recreate=recreate) as batch:
                change(sqlalchemy, batch, i)
            if change is rename_column:
                names = "email", "active", "text" if i == 0 else "about"
            is_same(ask, names)
            connection.execute(sqlalchemy.text("INSERT INTO person(email, active) VALUES ('Late3@example.org', 7)"))
            is_same(ask, names)
            if hasattr(connection, "commit"):
                connection.commit()
    engine.dispose()
    is_repaired(files, names)


for change in alter_column, add_column, rename_column:
    for recreate in "always", "auto":
        case(alembic, "%s, recreate %s" % (change.__name__, recreate), change, recreate)


if __name__ == "__main__":
    sys.exit(main())
