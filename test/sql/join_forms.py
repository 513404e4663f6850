#!/usr/bin/python3
"""The joins that pages print: SQLite scans the facts for them, and never makes an index of all of them first.

Plans of 200 joins of random shape (test/bench/joins/shapes.py), without rows: without statistics and with
statistics of the shape's sizes.  And every such join of the pages and examples says CROSS JOIN or LEFT JOIN.

    join_forms.py        from the top of the checkout, after `make`; prints `N passed, N failed` last
"""
import os
import re
import sqlite3
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path[:0] = [os.path.join(ROOT, "test", "bench", "joins"), os.path.join(ROOT, "test", "bench")]
import harness
import shapes

# Forms of which no plan may make an index of the facts, and those that show that the test would see one.
PRINTED = "d, filter, cross", "in", "in, filter", "left, d", "left, d, filter"
AVOIDED = "d, filter"
NUM_SHAPES = 200

passed = failed = 0


def check(what, is_right):
    global passed, failed
    passed += is_right
    failed += not is_right
    if not is_right:
        print("FAILED", what)


def invent_statistics(db, shape):
    """What ANALYZE would say of the shape's tables if they were filled."""
    rows = [("facts", None, str(shape.num_facts))]
    for d in shape.dimensions:
        rows.append((d.name, None, str(d.num_rows)))
        rows += [(d.name, index, f"{d.num_rows}" + " 1" * (1 if index.endswith("_draw") else len(d.keys)))
                 for index, in db.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ?", (d.name,))]
        if d.is_indexed_in_facts:
            per_key = max(1, round(shape.num_facts / d.num_rows))
            rows.append(("facts", f"facts_{d.name}", f"{shape.num_facts}" + f" {per_key}" * len(d.keys)))
    db.execute("ANALYZE")
    db.execute("DELETE FROM sqlite_stat1")
    db.executemany("INSERT INTO sqlite_stat1 VALUES (?, ?, ?)", rows)
    db.execute("ANALYZE sqlite_master")


def try_shapes():
    seen = {"no statistics": 0, "statistics": 0}
    for number in range(NUM_SHAPES):
        shape = shapes.Shape(number)
        db = harness.connect()
        shape.create(db)
        forms = shape.forms()
        for statistics in seen:
            if statistics == "statistics":
                invent_statistics(db, shape)
            seen[statistics] += shapes.makes_index_of_facts(db, forms[AVOIDED])
            for name in PRINTED:
                if name in forms:
                    check(f"{name}, {statistics}: {shape}", not shapes.makes_index_of_facts(db, forms[name]))
        db.close()
    for statistics, count in seen.items():
        check(f"{AVOIDED}, {statistics}: no shape shows what CROSS JOIN is for", count > NUM_SHAPES // 20)


def try_pages():
    """Each join of a MATERIALIZED table behind a bloom_filter() over it, wherever one is printed."""
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(ROOT) for name in names
             if not re.search(r"(^|/)(build|node_modules|[.]git)\b", os.path.relpath(folder, ROOT)) and (name.endswith((".md", ".sql")) or "/examples" in folder)]
    num_joins = 0
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except (UnicodeDecodeError, OSError):
            continue
        for statement in re.findall(r"\bWITH\s+\w+\s+AS\s+MATERIALIZED\b[^;`]*?bloom_filter\([^;`]*", text):
            joins = re.findall(r"(\w+\s+)?JOIN\b", statement)
            num_joins += len(joins)
            for join in joins:
                check(f"{os.path.relpath(path, ROOT)}: {join or 'a bare '}JOIN in {statement}", join.strip().upper() in ("CROSS", "LEFT"))
    check("the pages print joins", num_joins > 8)


try_shapes()
try_pages()
print(f"note: SQLite {sqlite3.sqlite_version}")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
