#!/usr/bin/python3
"""
A recipe for SQLAlchemy: a big log, searched through a bloom_index.  Programs that write the log
need no extension.  Tested with SQLAlchemy 1.4, which Debian 12 has (python3-sqlalchemy).

Run, from the top of the project, after `make`:
    /usr/bin/python3 examples/recipes/sqlalchemy_index.py
What it prints is in index.expected, as for every recipe of its kind here.
"""
import os
import re

from sqlalchemy import Column, Integer, MetaData, Table, Text, and_, create_engine, event, insert, select, text

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
engine = create_engine("sqlite://", future=True)


# -- 1. Load bloom on each connection that searches ---------------------------------------
# SQLAlchemy brings a regexp() of its own; with another driver define one here.

@event.listens_for(engine, "connect")
def load_bloom(connection, _record):
    connection.enable_load_extension(True)
    connection.load_extension(os.path.join(ROOT, "bloom"))
    connection.enable_load_extension(False)


# -- 2. The table, and beside it one that reads it through the index ----------------------

metadata, unmanaged = MetaData(), MetaData()  # create_all() and Alembic know the first alone


def log_columns():
    return Column("id", Integer, primary_key=True), Column("trace_id", Text), Column("message", Text)


log = Table("log", metadata, *log_columns())
log_index = Table("log_index", unmanaged, *log_columns())

with engine.begin() as db:
    metadata.create_all(db)
    # In a migration of Alembic: op.execute(sql).
    db.execute(text("CREATE VIRTUAL TABLE log_index USING bloom_index(log, trace_id, message LIKE REGEXP)"))
    db.execute(insert(log), [{"trace_id": f"{i * 2654435761 % 2**64:016x}", "message": f"request {i} timed out, 100% of 5_000 ms"}
                             for i in range(1, 20_001)])
    db.execute(text("INSERT INTO log_index(log_index) VALUES ('merge')"))


# -- 3. `contains` that the index serves --------------------------------------------------
# contains(..., autoescape=True) writes LIKE ... ESCAPE, which SQLite offers to no virtual table; like()
# without an escape reaches it. A % or _ stands for itself by a second check.

def has(column, text):
    found = column.like(f"%{text}%")
    return and_(found, column.contains(text, autoescape=True)) if re.search("[%_]", text) else found


with engine.begin() as db:
    def rows(condition):
        ids = db.execute(select(log_index.c.id).where(condition).order_by(log_index.c.id)).scalars().all()
        return ", ".join(map(str, ids)) or "nothing"

    def is_pruned(condition):
        """Whether the plan has blocks to look at."""
        sql = select(log_index.c.id).where(condition).compile(engine, compile_kwargs={"literal_binds": True})
        plan = db.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}").all()
        return "VIRTUAL TABLE" in plan[0].detail and ("message" in plan[0].detail or "trace_id" in plan[0].detail)

    message, trace_id = log_index.c.message, log_index.c.trace_id
    by_key = trace_id == f"{4711 * 2654435761:016x}"
    by_text = has(message, "request 12345 ")
    by_both = and_(has(message, "timed out, 100%"), trace_id == f"{815 * 2654435761:016x}")
    by_pattern = message.regexp_match("^request 1777[0-2] timed (in|out)")
    print(f"a key: {rows(by_key)}")
    print(f"a piece of text: {rows(by_text)}")
    print(f"text and key, % for itself: {rows(by_both)}; 5%000: {rows(has(message, '5%000'))}")
    print(f"a pattern: {rows(by_pattern)}")
    print(f"all by the index: {all(map(is_pruned, (by_key, by_text, by_pattern)))}")
    db.execute(insert(log), {"trace_id": "new", "message": "request 20001 timed out"})
    print(f"a row that nobody merged: {rows(has(message, 'request 20001 '))}")
