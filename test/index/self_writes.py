"""Statements that write the table and read its index: they write what they do where they read the table.

With triggers on a table SQLite copies the rows of INSERT INTO t SELECT ... FROM i first, without them it does not.
"""
import random
import sys

from log import command  # the first: it finds the others
from cases import each, execute, expect, main

MIGRATION = ["CREATE TABLE n(id INTEGER PRIMARY KEY, a, b TEXT)", "INSERT INTO n SELECT * FROM log", "DROP TABLE log", "ALTER TABLE n RENAME TO log"]
STATES = {
    "never merged": [],
    "merged": ["INSERT INTO log_index(log_index) VALUES ('merge')"],
    "a migration": ["INSERT INTO log_index(log_index) VALUES ('merge')"] + MIGRATION,
    "a migration, never merged": MIGRATION,
    "a migration, with an index": MIGRATION + ["CREATE INDEX log_a ON log(a)", "CREATE UNIQUE INDEX log_id ON log(id DESC)"],
    "a migration, empty": ["DELETE FROM log"] + MIGRATION,
    "a migration, the last id": MIGRATION + ["INSERT INTO log VALUES (9223372036854775807, 5, 'xab')"],
    "one trigger is gone": ["DROP TRIGGER %s"],
    "a page is gone": ["INSERT INTO log_index(log_index) VALUES ('merge')", "DELETE FROM log_index_entries1"],
}
CONDITIONS = ["a > 5", "a = '7'", "a IN (1, 3)", "b LIKE '%ab%'", "b >= 'xab5'", "id > 40", "id BETWEEN 10 AND 30", "a IS NULL", "a = 3 OR id = 7"]


def where(r):
    return " WHERE " + r.choice(CONDITIONS) if r.random() < 0.6 else ""


def statement(r, reads_twice):
    """SQL on {t}, which is the table or its index."""
    order = r.choice(["", "", " ORDER BY id", " ORDER BY id DESC", " ORDER BY a", " ORDER BY b DESC, id", " ORDER BY id LIMIT 500",
                      " ORDER BY id DESC LIMIT 30 OFFSET 2"])
    kinds = [
        "INSERT INTO log(a, b) SELECT a, b FROM {t}" + where(r) + order,
        "INSERT INTO log(id, a, b) SELECT %s, a, b FROM {t}" % r.choice(["id - 1000", "id + 1000", "-id"]) + where(r) + order,
        "INSERT OR %s INTO log SELECT id + %d, a, b FROM {t}" % (r.choice(["REPLACE", "IGNORE"]), r.choice([-3, -1, 1, 2, 50])) + where(r) + order,
        "INSERT INTO log(id, a, b) SELECT id + 1, a, b FROM {t} WHERE true ON CONFLICT(id) DO UPDATE SET a = excluded.a",
        "INSERT INTO log(a, b) SELECT max(id), b FROM {t}%s GROUP BY b" % where(r),
        "INSERT INTO log(a, b) SELECT a, b FROM {t} WHERE a > (SELECT avg(a) FROM {t})",
        "UPDATE log SET a = x.a FROM {t} AS x WHERE x.id = log.id + %d" % r.choice([-1, 1]),
        "UPDATE log SET a = a + 1, b = b || '!' WHERE id IN (SELECT id FROM {t}%s)" % where(r),
        "UPDATE log SET id = id + 1000 WHERE id IN (SELECT id FROM {t}%s)" % where(r),
        "UPDATE log SET a = (SELECT count(*) FROM {t} AS x WHERE x.a IS log.a)",
        "DELETE FROM log WHERE id IN (SELECT id FROM {t}%s)" % where(r),
        "DELETE FROM log WHERE EXISTS (SELECT 1 FROM {t} AS x WHERE x.id = log.id + 1 AND x.a > 2)",
        "DELETE FROM log WHERE a < (SELECT avg(a) FROM {t})",
    ]
    if reads_twice:
        kinds += ["INSERT INTO log(a, b) SELECT x.a, y.b FROM {t} AS x JOIN {t} AS y ON x.a = y.a WHERE x.id < 20",
                  "INSERT INTO log(a, b) SELECT a, b FROM {t} UNION ALL SELECT a + 1, b FROM {t}" + where(r)]
    return r.choice(kinds)


@each(STATES.keys())
def writes_the_same(files, state):
    db = files.connect()
    execute(db, "CREATE TABLE log(id INTEGER PRIMARY KEY, a, b TEXT)",
            "INSERT INTO log WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 110) SELECT i, nullif(i % 10, 4), 'xab' || i FROM c",
            "CREATE VIRTUAL TABLE log_index USING bloom_index(log, a, b LIKE, a RANGE)")
    trigger = db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name LIMIT 1").fetchone()[0]
    for sql in STATES[state]:
        execute(db, sql.replace("%s", '"%s"' % trigger))
    has_last = "the last id" in state # then SQLite draws ids, between the others
    r = random.Random(1)
    # A loop without end is an error.
    count = [0]

    def tick():
        count[0] += 1
        return count[0] > 20000
    db.set_progress_handler(tick, 100)
    for _ in range(300):
        sql = statement(r, not has_last)
        results = []
        for name in "log", "log_index":
            count[0] = 0
            db.execute("SAVEPOINT s")
            try:
                db.execute(sql.replace("{t}", name))
                error = False
            except db.Error:
                error = True
            columns = "a, b" if has_last or "SELECT a, b" in sql or "max(id)" in sql or "x.a, y.b" in sql else "id, a, b"
            # What a statement that failed with OR IGNORE leaves depends on the order of its rows.
            results.append(error or sorted(db.execute("SELECT %s FROM log" % columns).fetchall(), key=repr))
            execute(db, "ROLLBACK TO s", "RELEASE s")
        expect(results[1], results[0], sql)
    db.set_progress_handler(None, 0)
    command(db, "rebuild")
    command(db, "integrity-check")


if __name__ == "__main__":
    sys.exit(main())
