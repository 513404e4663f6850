#!/usr/bin/python3
"""
A recipe for SQLAlchemy: bloom on each connection of an engine, a filter over a
table, and two queries with it.  Tested with SQLAlchemy 1.4, which Debian 12 has
(python3-sqlalchemy).

Run, from the top of the project, after `make`:
    /usr/bin/python3 examples/recipes/sqlalchemy_core.py
What it prints is in recipe.expected, as for every recipe here.
"""
import json
import os

from sqlalchemy import Column, Integer, MetaData, Table, Text, create_engine, event, exists, func, insert, not_, or_, select, text

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
engine = create_engine("sqlite://", future=True)


# -- 1. Load bloom on each connection of the pool --------------------------------

@event.listens_for(engine, "connect")
def load_bloom(connection, _record):
    connection.enable_load_extension(True)
    connection.load_extension(os.path.join(ROOT, "bloom"))
    connection.enable_load_extension(False)


# -- 2. The tables.  A purchase may name an address that no customer has ----------

metadata = MetaData()
customer = Table("customer", metadata, Column("email", Text, primary_key=True), Column("country", Text))
purchase = Table("purchase", metadata, Column("id", Integer, primary_key=True), Column("email", Text), Column("amount", Integer))

with engine.begin() as db:
    metadata.create_all(db)
    # In a migration of Alembic: op.execute(sql).
    db.execute(text("CREATE VIRTUAL TABLE customer_filter USING bloom(customer, email)"))
    db.execute(insert(customer), [{"email": f"user{i}@example.org", "country": "DE" if i % 4 == 0 else "FR"} for i in range(20_000)])
    db.execute(insert(purchase), [{"email": f"user{i * 97}@example.org", "amount": i % 10} for i in range(50_000)])


# -- 3. The filter as an expression: compared, it is true or false ------------------

def may_be_customer(key):
    return func.bloom_may_contain(text("(SELECT handle FROM customer_filter)"), key) != 0


with engine.begin() as db:
    # The join, with a filter of the customers that pass, which the query makes as it runs.  It asks the column of
    # the large table.  IN, for SQLAlchemy writes no CROSS JOIN, and for JOIN SQLite may make an index of all purchases.
    counts = select(func.count(), func.sum(purchase.c.amount)).select_from(purchase)
    plain = db.execute(counts.join(customer, customer.c.email == purchase.c.email).where(customer.c.country == "DE")).one()
    d = select(customer.c.email).where(customer.c.country == "DE").cte("d").prefix_with("MATERIALIZED")
    filter_of_d = select(func.bloom_filter(d.c.email)).scalar_subquery()
    screened = db.execute(counts.where(func.bloom_may_contain(filter_of_d, purchase.c.email) != 0,
                                       purchase.c.email.in_(select(d.c.email)))).one()
    print(f"join: {screened[0]} purchases, {screened[1]} in all; the same without the filter: {screened == plain}")


# Which of these thousand keys are new?  One statement; the table is read only for a "maybe".
def new_among(db, keys):
    given = func.json_each(json.dumps(keys)).table_valued("value")
    known = exists().where(customer.c.email == given.c.value)
    return db.execute(select(given.c.value).where(or_(not_(may_be_customer(given.c.value)), not_(known)))).scalars().all()


with engine.begin() as db:
    emails = [f"user{i}@example.org" for i in range(19_600, 20_600)]
    print(f"of {len(emails):,} keys {len(new_among(db, emails))} are new")
    db.execute(insert(customer), {"email": "user20000@example.org", "country": "DE"})
    print(f"one of them is saved: {len(new_among(db, emails))} are new")
