#!/usr/bin/python3
"""
A recipe for Django: `message__regex` and `message__iregex` on a table of many texts, by bloom_index.
Tested with Django 3.2, which Debian 12 has (python3-django).

Run, from the top of the project, after `make`:
    /usr/bin/python3 examples/recipes/django_regex.py
What it prints is in django_regex.expected.
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


# -- 1. Load bloom on each connection: in AppConfig.ready(), or in models.py ------

def load_bloom(connection, **_):
    if connection.vendor == "sqlite":
        connection.connection.enable_load_extension(True)
        connection.connection.load_extension(os.path.join(ROOT, "bloom"))
        connection.connection.enable_load_extension(False)


connection_created.connect(load_bloom)


# -- 2. The model, and the same rows by the index.  Who writes uses Entry ---------

class Fields(models.Model):
    service = models.TextField()
    message = models.TextField()

    class Meta:
        abstract = True


class Entry(Fields):
    class Meta:
        app_label = "log"
        db_table = "log_entry"


class IndexedEntry(Fields):
    class Meta:
        app_label = "log"
        db_table = "log_entry_index"
        managed = False


with connection.schema_editor() as schema:
    schema.create_model(Entry)
    # In a migration: migrations.RunSQL(sql, "DROP TABLE log_entry_index").
    schema.execute("CREATE VIRTUAL TABLE log_entry_index USING bloom_index(log_entry, message LIKE REGEXP)")

Entry.objects.bulk_create(Entry(service="api" if i % 3 else "queue", message=(
    f"upstream timeout {'after ' if i % 2 else ''}{i} ms" if i % 9973 == 1 else f"request {i * 2654435761 % 2**32:08x} took {i % 977} ms"))
    for i in range(50_000))

# Once a minute, say, by a job of its own.
with connection.cursor() as cursor:
    cursor.execute("INSERT INTO log_entry_index(log_entry_index) VALUES ('merge')")


# -- 3. Queries.  re.search() is called for few rows: count how often -------------

calls = 0


def count_calls():
    """What Django registers as REGEXP, with a counter."""
    import django.db.backends.sqlite3.base as base
    function = getattr(base, "_sqlite_regexp", None)
    if function is None:  # from Django 4.2 on
        from django.db.backends.sqlite3._functions import _sqlite_regexp as function

    def counted(pattern, text):
        global calls
        calls += 1
        return function(pattern, text)
    connection.connection.create_function("REGEXP", 2, counted, deterministic=True)


count_calls()
for lookup in ({"message__regex": r"upstream timeout (after )?[0-9]+ ms"}, {"message__iregex": r"UPSTREAM TIMEOUT AFTER [0-9]+ MS"},
               {"message__regex": r"[0-9]{5} ms"}):
    found = {}
    for model in Entry, IndexedEntry:
        calls = 0
        rows = list(model.objects.filter(**lookup).order_by("id").values_list("id", flat=True))
        found[model] = (rows, calls)
    assert found[Entry][0] == found[IndexedEntry][0]
    share = "few" if found[IndexedEntry][1] < found[Entry][1] / 20 else "as many"
    print(f"{', '.join(f'{k} = {v}' for k, v in lookup.items())}: {len(found[Entry][0])} rows, {share} calls of re.search()")
print(IndexedEntry.objects.filter(message__regex="upstream timeout after").explain())
