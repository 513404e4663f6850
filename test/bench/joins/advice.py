#!/usr/bin/python3
"""
Whether examples/gain.sh advises a form that is slower than the plain join: its SQL for joins of
random shape with one dimension (shapes.py), beside the plain join on the same database.

A shape is tried without statistics and after ANALYZE.  Slower is 1.25 times the processor time, the
least of 5 runs.  Where it advises ANALYZE, the plain join is timed before and after.

    advice.py [SHAPES [SHELL]]     20, and sqlite3; from the top of the checkout
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

import shapes
from shapes import harness

NUM_RUNS = 5


def least(db, sql):
    return min(shapes.seconds_of(db, sql)[1] for _ in range(NUM_RUNS))


def advised(path, d, shell):
    """The statements that gain.sh prints first, for a query without columns of the dimension."""
    rows = lambda table, keys: f"{table}.({', '.join(keys)})" if len(keys) > 1 else f"{table}.{keys[0]}"
    printed = subprocess.run(
        ["sh", os.path.join(harness.ROOT, "examples", "gain.sh"), path, rows("facts", d.fact_keys), rows(d.name, d.keys), d.condition, "amount"],
        env={**os.environ, "SQLITE3": shell, "GAIN_ROUNDS": "2"}, capture_output=True, text=True, check=True).stdout
    first = re.split(r"\nWith columns|\nLEFT JOIN:", printed)[0]
    return [statement.strip() for statement in "".join(re.findall(r"^ {4,7}\S.*\n", first, re.M)).split(";") if statement.strip()]


def main():
    num_shapes = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    shell = sys.argv[2] if len(sys.argv) > 2 else "sqlite3"
    found = collections.Counter()
    for number in range(0, 3 * num_shapes, 3):
        shape = shapes.Shape(number)
        d = shape.dimensions[0]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "shape.db")
            db = harness.connect(path)
            db.execute("BEGIN")
            shape.create(db)
            shape.fill(db)
            db.execute("COMMIT")
            for statistics in "no statistics", "after ANALYZE":
                if statistics == "after ANALYZE":
                    db.execute("ANALYZE")
                statements = advised(path, d, shell)
                plain = f"SELECT count(*), count(f.amount) FROM facts f JOIN {d.name} d ON {d.matched('d')} WHERE d.{d.condition}"
                before = after = least(db, plain)
                advice = "the join" if not statements else "ANALYZE" if statements[0].startswith("ANALYZE") else "a form"
                if advice != "the join":
                    # Rolled back: what one advice writes is not there for the next.
                    db.execute("BEGIN")
                    for statement in statements[:-1] if advice == "a form" else statements:
                        db.execute(statement)
                    after = least(db, statements[-1] if advice == "a form" else plain)
                    db.execute("ROLLBACK")
                is_slower = after >= shapes.SLOWER * before
                found[statistics, advice, is_slower] += 1
                if is_slower:
                    print(f"{statistics}: {after / before:.2f}x: {statements}; {shape}", flush=True)
            db.close()
    print(f"SQLite {shapes.sqlite3.sqlite_version}, {num_shapes} shapes with one dimension")
    for (statistics, advice, is_slower), count in sorted(found.items()):
        print(f"{statistics}, gain.sh advises {advice}: {count} {'SLOWER than the join' if is_slower else 'not slower'}")


if __name__ == "__main__":
    main()
