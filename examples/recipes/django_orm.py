#!/usr/bin/python3
"""
A recipe for Django: bloom on each connection, a filter over a model's table, and
two queries with it.  Tested with Django 3.2, which Debian 12 has (python3-django).

Run, from the top of the project, after `make`:
    /usr/bin/python3 examples/recipes/django_orm.py
What it prints is in recipe.expected, as for every recipe here.
"""
import json
import os

import django
from django.conf import settings
from django.db import connection, models
from django.db.backends.signals import connection_created

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

# A project has these in its settings.py and models.py.
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


# -- 2. The models.  A purchase may name an address that no customer has ----------

class Customer(models.Model):
    email = models.TextField(unique=True)
    country = models.TextField()

    class Meta:
        app_label = "shop"
        db_table = "customer"


class Purchase(models.Model):
    customer = models.ForeignKey(Customer, to_field="email", db_column="email", on_delete=models.DO_NOTHING,
                                 db_constraint=False, db_index=False)
    amount = models.IntegerField()

    class Meta:
        app_label = "shop"
        db_table = "purchase"


with connection.schema_editor() as schema:
    schema.create_model(Customer)
    schema.create_model(Purchase)
    # In a migration: migrations.RunSQL(sql, "DROP TABLE customer_filter").
    schema.execute("CREATE VIRTUAL TABLE customer_filter USING bloom(customer, email)")

Customer.objects.bulk_create(Customer(email=f"user{i}@example.org", country="DE" if i % 4 == 0 else "FR")
                             for i in range(20_000))
Purchase.objects.bulk_create(Purchase(customer_id=f"user{i * 97}@example.org", amount=i % 10) for i in range(50_000))


# -- 3. The filter as an expression ---------------------------------------------

class MayBeCustomer(models.Func):
    template = "bloom_may_contain((SELECT handle FROM customer_filter), %(expressions)s)"
    output_field = models.BooleanField()


# The join.  The filter goes first, into filter(): it asks the column of the large table.
german = Purchase.objects.filter(customer__country="DE")
plain = german.aggregate(n=models.Count("*"), total=models.Sum("amount"))
screened = Purchase.objects.filter(MayBeCustomer(models.F("customer_id"))).filter(customer__country="DE").aggregate(
    n=models.Count("*"), total=models.Sum("amount"))
print(f"join: {screened['n']} purchases, {screened['total']} in all; the same without the filter: {screened == plain}")

# Which of these thousand keys are new?  One statement; the table is read only for a "maybe".
NEW = """
    SELECT value FROM json_each(%s)
     WHERE NOT bloom_may_contain((SELECT handle FROM customer_filter), value)
        OR NOT EXISTS (SELECT 1 FROM customer WHERE email = value)"""


def new_among(keys):
    with connection.cursor() as cursor:
        cursor.execute(NEW, [json.dumps(keys)])
        return [key for key, in cursor]


emails = [f"user{i}@example.org" for i in range(19_600, 20_600)]
print(f"of {len(emails):,} keys {len(new_among(emails))} are new")
Customer.objects.create(email="user20000@example.org", country="DE")
print(f"one of them is saved: {len(new_among(emails))} are new")
