"""What Datasette 0.65 sends, on an index and on a filter, and what it makes of an interrupt.

A page names every column of PRAGMA table_xinfo, hidden ones too, and looks for facets in each. A query that takes
too long ends by the progress handler, and the page goes on without its answer if the error is `interrupted`,
SQLite's own text; any other is shown in place of the page. Datasette itself is in no registry of these tests.
"""
import os
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vtab"))
from cases import case, column, command, each, error_of, execute, expect, fails, main, one, quoted, test  # noqa: E402

# ColumnFacet: what it suggests, and its results; what comes but `interrupted` is shown in place of the page.
COLUMN_FACETS = (
    "WITH limited AS (SELECT * FROM ({page}) LIMIT 1000) SELECT {column} AS value, count(*) AS n FROM limited"
    " WHERE value IS NOT NULL GROUP BY value LIMIT 31",
    "SELECT {column} AS value, count(*) AS count FROM ({page}) WHERE {column} IS NOT NULL GROUP BY {column}"
    " ORDER BY count DESC, value LIMIT 31",
)

# ArrayFacet and DateFacet, which take any error for a no.
OTHER_FACETS = (
    "SELECT DISTINCT json_type({column}) FROM ({page}) WHERE {column} IS NOT NULL AND {column} != '' AND json_valid({column})",
    "SELECT {column} FROM ({page}) WHERE {column} IS NOT NULL AND {column} != '' AND json_valid({column})"
    " AND json_array_length({column}) > 0 LIMIT 100",
    "WITH inner AS ({page}), deduped_array_items AS (SELECT DISTINCT j.value, inner.* FROM json_each(CASE WHEN"
    " json_valid(inner.{column}) THEN inner.{column} ELSE '[]' END) j JOIN inner) SELECT value AS value, count(*) AS count"
    " FROM deduped_array_items GROUP BY value ORDER BY count(*) DESC, value LIMIT 31",
    "SELECT date({column}) FROM (SELECT * FROM ({page}) LIMIT 100) WHERE {column} GLOB '????-??-*'",
    "SELECT date({column}) AS value, count(*) AS count FROM ({page}) WHERE date({column}) IS NOT NULL"
    " GROUP BY date({column}) ORDER BY count DESC, value LIMIT 31",
)

# Of the hidden column these two alone are answered.
NULLS = "{column} IS NULL", "{column} IS NOT NULL"


def make(files, columns="id INTEGER PRIMARY KEY, trace TEXT, message TEXT, tags TEXT, day TEXT, n REAL"):
    db = files.connect()
    execute(db, "CREATE TABLE log(%s)" % columns,
            "INSERT INTO log(trace, message, tags, day, n) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
            " SELECT 'trace' || i, 'message of ' || i % 7, json_array('a', 'b' || i % 5), date('2024-01-01', (i % 9) || ' days'),"
            " nullif(i % 4, 3) FROM n",
            "CREATE VIRTUAL TABLE log_index USING bloom_index(log, trace, message LIKE, n RANGE)",
            "CREATE VIRTUAL TABLE log_trace USING bloom(log, trace)")
    command(db, "log_index", "merge=2000")
    return db


def columns_of(db, table):
    return [row[1] for row in db.execute("PRAGMA table_xinfo(%s)" % table)]


def same(db, sql, page="{table}", **names):
    """The same rows of the index and of its table, whose hidden column is NULL."""
    found = [db.execute(sql.format(page=of, **names)).fetchall() for of in (
        page.format(table="log_index"), page.format(table="(SELECT *, NULL AS log_index FROM log)"))]
    expect(*map(sorted_rows, found), sql)


def sorted_rows(rows):
    return sorted(rows, key=repr)


def has_json(db):
    try:
        return one(db, "SELECT json_valid('[]')")
    except sqlite3.Error:
        return 0


@each({
    "a table with an INTEGER PRIMARY KEY": "id INTEGER PRIMARY KEY, trace TEXT, message TEXT, tags TEXT, day TEXT, n REAL",
    "a table without": "id TEXT, trace TEXT, message TEXT, tags TEXT, day TEXT, n REAL"})
def pages(files, columns):
    db = make(files, columns)
    names = columns_of(db, "log_index")
    assert names[-1] == "log_index", names
    listed = ", ".join(map(quoted, names))
    for order in "", " ORDER BY id", " ORDER BY id DESC", " ORDER BY trace, id":
        for where in "", " WHERE id > 1500", " WHERE trace = 'trace77'", " WHERE message LIKE '%of 3%'", " WHERE n IS NULL":
            same(db, "SELECT %s FROM {page}%s%s%s" % (listed, where, order, " LIMIT 101" if "id" in order else ""))
    same(db, "SELECT count(*) FROM {page}")
    same(db, "SELECT count(*) FROM (SELECT %s FROM {page} WHERE message LIKE '%%of 3%%' LIMIT 10001)" % listed)
    same(db, "SELECT count(*) FROM (SELECT %s FROM {page} LIMIT 0)" % listed)
    for name in map(quoted, names):
        for facet in COLUMN_FACETS + (OTHER_FACETS if name != '"log_index"' else ()):
            if has_json(db) or "json" not in facet:
                same(db, facet, "SELECT %s FROM {table}" % listed, column=name)
    for facet in OTHER_FACETS:
        error = error_of(db, facet.format(page="SELECT %s FROM log_index" % listed, column="log_index"))
        assert error is None or "takes commands alone" in str(error) or not has_json(db), error
    expect(column(db, "SELECT rowid FROM log_index WHERE rowid > 10 ORDER BY rowid LIMIT 5"), [11, 12, 13, 14, 15])
    expect(db.execute("SELECT trace, log_index FROM log_index WHERE rowid = 77").fetchall(), [("trace77", None)])


@each(["log_index", "log_trace"])
def conditions_on_the_hidden_column(files, table):
    db = make(files)
    num_rows = one(db, "SELECT count(*) FROM %s" % table)
    for condition, wanted in zip(NULLS, (num_rows, 0)):
        expect(one(db, "SELECT count(*) FROM {0} WHERE {1}".format(table, condition.format(column=table))), wanted)
        expect(one(db, "SELECT count(*) FROM {0} WHERE {1} OR 0".format(table, condition.format(column=table))), wanted)
    expect(one(db, "SELECT count(*) FROM log LEFT JOIN {0} ON {0}.{0} IS NOT NULL WHERE {0}.{0} IS NULL".format(table)),
           one(db, "SELECT count(*) FROM log"))
    for condition in "= 'merge'", "IS 'merge'", "> 'a'", "LIKE 'a%'", "= NULL", "IN ('a', 'b')", "MATCH 'a'", "BETWEEN 1 AND 2", "= ?1":
        sql = "SELECT count(*) FROM {0} WHERE {0} {1}".format(table, condition)
        if "?" not in sql:
            fails(db, sql, "takes commands alone")


@test
def the_page_of_a_filter(files):
    """Its facts and facets of each column but key, which is an error: NULL there would say no to every key."""
    db = make(files)
    names = [name for name in columns_of(db, "log_trace") if name != "key"]
    listed = ", ".join(map(quoted, names))
    expect(len(db.execute("SELECT %s FROM log_trace LIMIT 101" % listed).fetchall()), 1)
    for name in map(quoted, names):
        for facet in COLUMN_FACETS:
            db.execute(facet.format(page="SELECT %s FROM log_trace" % listed, column=name)).fetchall()
    fails(db, "SELECT key FROM log_trace", "test one, WHERE key =")


# -- Interrupts --------------------------------------------------------------------------------------

STATEMENTS = {
    "index": (
        "SELECT count(*) FROM log_index", "SELECT count(*) FROM log_index WHERE trace = 'trace77'",
        "SELECT count(*) FROM log_index WHERE message LIKE '%of 3%'", "SELECT count(*) FROM log_index WHERE n BETWEEN 1 AND 2",
        "SELECT count(*) FROM log AS a JOIN log_index AS b ON b.trace = a.trace WHERE a.id % 300 = 0",
        "SELECT * FROM log_index ORDER BY trace LIMIT 5", "SELECT covered FROM log_index_state",
        "INSERT INTO log_index(log_index) VALUES ('merge')", "INSERT INTO log_index(log_index) VALUES ('rebuild')",
        "INSERT INTO log_index(log_index) VALUES ('integrity-check')", "DROP TABLE log_index",
        "ALTER TABLE log_index RENAME TO renamed", "CREATE VIRTUAL TABLE another USING bloom_index(log, message LIKE)",
    ),
    "filter": (
        "SELECT count(*) FROM log_trace('absent')", "SELECT * FROM log_trace", "SELECT handle IS NULL FROM log_trace",
        "SELECT count(*) FROM log WHERE NOT bloom_may_contain((SELECT handle FROM log_trace), trace)",
        "SELECT count(*) FROM log WHERE EXISTS (SELECT 1 FROM log_trace WHERE key = log.trace)",
        "INSERT INTO log_trace(log_trace) VALUES ('merge')", "INSERT INTO log_trace(log_trace) VALUES ('rebuild')",
        "INSERT INTO log_trace(log_trace) VALUES ('integrity-check')", "DROP TABLE log_trace",
        "ALTER TABLE log_trace RENAME TO renamed", "CREATE VIRTUAL TABLE another USING bloom(log, (trace, n))",
        "CREATE VIRTUAL TABLE another USING bloom(capacity = 100000)",
        "INSERT INTO alone(key) SELECT trace FROM log", "SELECT length(filter) FROM alone",
    ),
    "functions": (
        "SELECT length(bloom_build(trace)) FROM log", "SELECT length(bloom_build(trace, 10, 10000000)) FROM log WHERE id < 9",
        "SELECT bloom_may_contain((SELECT bloom_filter(trace) FROM log), 'x')",
        "SELECT * FROM bloom_info((SELECT bloom_build(trace, 10, 10000000) FROM log))",
        "SELECT length(bloom_merge(f)) FROM (SELECT bloom_build(trace, 10, 1000000) AS f FROM log GROUP BY id % 3)",
        "SELECT length(bloom_build_sets(id % 5, trace)) FROM log", "SELECT length(bloom_empty(30000000))",
        "SELECT count(*) FROM bloom_sets((SELECT bloom_build_sets(id % 5, trace) FROM log), 'trace7')",
        "SELECT length(bloom_filter_block_build(0, trace)) FROM log",
    ),
}


def interrupted(files, sql, is_in_transaction):
    """At any moment the error is SQLite's; and what was there before is there after it, or the transaction is gone."""
    db = make(files)
    execute(db, "CREATE VIRTUAL TABLE alone USING bloom(capacity = 100)", "INSERT INTO alone(key) SELECT trace FROM log LIMIT 500")
    wanted = column(db, "SELECT sql FROM sqlite_master ORDER BY rowid")
    db.execute("SELECT count(*) FROM log_index, log_trace WHERE log_index.trace = 'trace1'").fetchall()
    num_interrupts, moment, steps = 0, 0, 1
    while True:
        if is_in_transaction:
            db.execute("BEGIN")
        left = [moment]

        def tick():
            left[0] -= 1
            return left[0] < 0

        db.set_progress_handler(tick, steps)
        try:
            db.execute(sql).fetchall()
            is_done = True
        except sqlite3.Error as error:
            is_done = False
            expect(str(error), "interrupted", "at moment %d of %d steps" % (moment, steps))
            expect(getattr(error, "sqlite_errorcode", 9), 9)
            num_interrupts += 1
        db.set_progress_handler(None, 0)
        if db.in_transaction:
            db.execute("ROLLBACK")
        if is_done:
            break
        expect(column(db, "SELECT sql FROM sqlite_master ORDER BY rowid"), wanted)
        moment += 1 if moment < 40 else 1 + moment // 4
    assert num_interrupts, sql
    if not sql.startswith(("DROP", "ALTER")):
        for name in "log_index", "log_trace":
            command(files.connect(), name, "merge")


for part, statements in STATEMENTS.items():
    for sql in statements:
        case(interrupted, "%s: %s" % (part, sql), sql, False)
        if sql.split()[0] in ("INSERT", "CREATE", "DROP", "ALTER"):
            case(interrupted, "%s: in a transaction: %s" % (part, sql), sql, True)


if __name__ == "__main__":
    sys.exit(main())
