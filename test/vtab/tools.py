"""Other programs on a test's file, with the extension in each of their connections: Django, Alembic, the shell, other SQLites. It is no test itself."""
import glob
import os
import re
import shutil
import subprocess
import sys

from cases import Skip, expect

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def django(files):
    try:
        from django.conf import settings
        import django as package
    except ImportError:
        raise Skip("Django (Debian: python3-django)")
    settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": files.path}}, INSTALLED_APPS=[],
                       DEFAULT_AUTO_FIELD="django.db.models.AutoField", USE_TZ=True)
    package.setup()
    from django.db import connection, migrations, models
    from django.db.backends.signals import connection_created
    from django.db.migrations.migration import Migration
    connection_created.connect(lambda sender, connection, **_: files.load_into(connection.connection), weak=False)

    def migrate(state, *operations):
        migration = Migration("step", "app")
        migration.operations = list(operations)
        with connection.schema_editor(atomic=True) as editor:
            return migration.apply(state, editor)

    return package, connection, migrations, models, migrate


def alembic(files):
    try:
        import sqlalchemy
        from alembic.migration import MigrationContext
        from alembic.operations import Operations
    except ImportError:
        raise Skip("Alembic (Debian: python3-alembic)")
    engine = sqlalchemy.create_engine("sqlite:///" + files.path)
    sqlalchemy.event.listen(engine, "connect", lambda connection, _: files.load_into(connection))
    return sqlalchemy, engine, MigrationContext, Operations


def page(name="LIMITS.md"):
    """sql/LIMITS.md, which tells users what to run, or another page of sql."""
    with open(os.path.join(TOP, "sql", name), encoding="utf-8") as file:
        return file.read()


def last_step(tool):
    """What the page's table has for a tool, for a filter f."""
    return re.search(r"^\| %s \|.*\| `(.*)` \|$" % tool, page(), re.M).group(1).replace("people_email", "f")


def shell(files, path, text, load=False):
    """The sqlite3 shell on a database, with bloom or without."""
    name = os.environ.get("BLOOM_TEST_SHELL", "sqlite3")
    if shutil.which(name) is None:
        raise Skip("the shell " + name)
    options = ["-cmd", ".load " + files.load] if load else []
    return subprocess.run([name, *options, path], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def versions():
    """Folders for LD_LIBRARY_PATH that have another SQLite each, from 3.31 on, the system's first: ""."""
    built = os.path.join(TOP, "build", "sqlite")
    folders = sorted(glob.glob(os.path.join(os.environ.get("BLOOM_TEST_SQLITES", built), "[0-9]*", "")))
    return [""] + [folder for folder in folders if int(folder.split(os.sep)[-2].split(".")[1]) >= 31]


def under(folder, files, step):
    """What the test program prints that runs, under that SQLite, its --step on a file."""
    env = dict(os.environ, LD_LIBRARY_PATH=folder)
    if not folder:
        del env["LD_LIBRARY_PATH"]
    done = subprocess.run([sys.executable, sys.argv[0], "--load", files.load, "--step", step, "--path", files.path], env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    expect(done.returncode, 0, "%s under %s: %s" % (step, folder or "the system's SQLite", done.stdout))
    return done.stdout.strip()
