"""Django and Alembic on a test's file, with the extension in each of their connections; it is no test itself."""
from cases import Skip


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
