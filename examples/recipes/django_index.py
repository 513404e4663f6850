#!/usr/bin/python3
"""
A recipe for Django: a big log, searched through a bloom_index.  Programs that write the log
need no extension.  Tested with Django 3.2, which Debian 12 has (python3-django).

Run, from the top of the project, after `make`:
    /usr/bin/python3 examples/recipes/django_index.py
What it prints is in index.expected, as for every recipe of its kind here.
"""
import os

import django
from django.conf import settings
from django.db import connection, models
from django.db.backends.signals import connection_created

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
                   INSTALLED_APPS=[], DEFAULT_AUTO_FIELD="django.db.models.BigAutoField")
django.setup()


# -- 1. Load bloom on each connection that searches: in AppConfig.ready() ---------------

def load_bloom(connection, **_):
    if connection.vendor == "sqlite":
        connection.connection.enable_load_extension(True)
        connection.connection.load_extension(os.path.join(ROOT, "bloom"))
        connection.connection.enable_load_extension(False)


connection_created.connect(load_bloom)


# -- 2. The table, and beside it an unmanaged model that reads it through the index -----

class LogFields(models.Model):
    trace_id = models.TextField()
    message = models.TextField()

    class Meta:
        abstract = True


class Log(LogFields):
    class Meta:
        app_label = "logs"
        db_table = "log"


class IndexedLog(LogFields):
    class Meta:
        app_label = "logs"
        db_table = "log_index"
        managed = False  # migrations leave it alone


# In a migration: migrations.RunSQL(CREATE, "DROP TABLE log_index"), in an atomic one too.
CREATE = "CREATE VIRTUAL TABLE log_index USING bloom_index(log, trace_id, message LIKE REGEXP)"

with connection.schema_editor() as schema:
    schema.create_model(Log)
    schema.execute(CREATE)

Log.objects.bulk_create(Log(trace_id=f"{i * 2654435761 % 2**64:016x}", message=f"request {i} timed out, 100% of 5_000 ms")
                        for i in range(1, 20_001))
# In the application's own loop, or by cron.
with connection.cursor() as cursor:
    cursor.execute("INSERT INTO log_index(log_index) VALUES ('merge')")


# -- 3. `contains` that the index serves ------------------------------------------------
# Django writes `contains` as LIKE ... ESCAPE, which SQLite offers to no virtual table.

class Has(models.Lookup):
    """message__has='text': LIKE '%text%'. A % or _ in it stands for itself by a second check."""

    lookup_name = "has"

    def as_sql(self, compiler, connection):
        column, params = self.process_lhs(compiler, connection)
        text = str(self.rhs)
        sql, params = f"{column} LIKE %s", [*params, f"%{text}%"]
        if any(wildcard in text for wildcard in "%_\\"):
            escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
            sql, params = rf"({sql} AND {column} LIKE %s ESCAPE '\')", [*params, *params[:-1], f"%{escaped}%"]
        return sql, params


models.TextField.register_lookup(Has)


def found(query):
    return ", ".join(str(row.pk) for row in query.order_by("pk")) or "nothing"


def is_pruned(query):
    """Whether the plan has blocks to look at."""
    return "VIRTUAL TABLE" in query.explain() and ("message" in query.explain() or "trace_id" in query.explain())


logs = IndexedLog.objects
by_key = logs.filter(trace_id=f"{4711 * 2654435761:016x}")
by_text = logs.filter(message__has="request 12345 ")
by_both = logs.filter(message__has="timed out, 100%", trace_id=f"{815 * 2654435761:016x}")
by_pattern = logs.filter(message__regex=r"^request 1777[0-2] timed (in|out)")
print(f"a key: {found(by_key)}")
print(f"a piece of text: {found(by_text)}")
print(f"text and key, % for itself: {found(by_both)}; 5%000: {found(logs.filter(message__has='5%000'))}")
print(f"a pattern: {found(by_pattern)}")
print(f"all by the index: {all(map(is_pruned, (by_key, by_text, by_both, by_pattern)))}")
Log.objects.create(trace_id="new", message="request 20001 timed out")
print(f"a row that nobody merged: {found(logs.filter(message__has='request 20001 '))}")
