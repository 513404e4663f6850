#!/usr/bin/python3
"""
What a query takes through a bloom_index, as a share of what it takes of the table itself.

    index_shares.py [ROWS [REPEATS]]     from the top of the checkout; 200000 and 5

Most of these queries no block serves: named in them, a bloom_index should be the table. Each pair
is timed in turns, in processor time, and must give the same rows. The last line is the time of a key
that its blocks find.
"""
import os
import sys

import harness

SOURCE = """
CREATE TABLE log(id INTEGER PRIMARY KEY, ts INTEGER, trace_id TEXT, user_id INTEGER, x INTEGER, service TEXT COLLATE NOCASE, message TEXT);
INSERT INTO log WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
 SELECT i, 1790000000 + i, printf('%08x%08x', i * 2654435761 % 4294967296, i), i * 7919 % 20011, i * 48271 % 1000003, 'service-' || (i * 31 % 997),
   'request ' || i || ' of user ' || (i * 7919 % 20011) || ' took ' || (i * 31 % 900) || ' ms' FROM n;
CREATE INDEX log_ts ON log(ts);
CREATE INDEX log_user ON log(user_id);
CREATE INDEX log_service ON log(service);
CREATE TABLE few(trace_id TEXT, x INTEGER);
INSERT INTO few SELECT trace_id, x FROM log WHERE id % ({rows} / 1000) = 7;
CREATE TABLE many(trace_id TEXT, x INTEGER);
INSERT INTO many SELECT trace_id, x FROM log WHERE id % ({rows} / 20000) = 3;
ANALYZE;
"""
INDEX = """
CREATE VIRTUAL TABLE log_index USING bloom_index(log, trace_id, message LIKE);
INSERT INTO log_index(log_index) VALUES ('merge');
"""
KEY = "SELECT id FROM {t} WHERE trace_id = (SELECT trace_id FROM few LIMIT 1 OFFSET 500)"
# What, what its share should be at most, the query, its parameters.
QUERIES = [
    ("id = '5', bound as TEXT", 3, "SELECT message FROM {t} WHERE id = ?", ("5",)),
    ("a column that the table has an index on", 4, "SELECT count(x) FROM {t} WHERE user_id = 4711", ()),
    ("service LIKE 'begin%', by the table's index", 4, "SELECT count(x) FROM {t} WHERE service LIKE 'service-99%'", ()),
    ("an hour of ts, by the table's index", 4, "SELECT count(x) FROM {t} WHERE ts BETWEEN 1790100000 AND 1790103599", ()),
    ("ORDER BY ts LIMIT 50", 4, "SELECT group_concat(id) FROM (SELECT id FROM {t} ORDER BY ts LIMIT 50)", ()),
    ("x = ?, which has no index", 1.2, "SELECT count(id) FROM {t} WHERE x = ?", (4711,)),
    ("ORDER BY x LIMIT 50", 1.2, "SELECT group_concat(id) FROM (SELECT id FROM {t} ORDER BY x LIMIT 50)", ()),
    ("a join of 1,000 rows on blocks", 3, "SELECT count(l.x) FROM few f JOIN {t} l ON l.trace_id = f.trace_id", ()),
    ("IN of 20,000 values, with blocks", 1.6, "SELECT count(x) FROM {t} WHERE trace_id IN (SELECT trace_id FROM many)", ()),
    ("the same without", 1.6, "SELECT count(id) FROM {t} WHERE x IN (SELECT x FROM many)", ()),
    ("SELECT of the whole table", 1.9, "SELECT * FROM {t}", ()),
]


def ask(db, sql, table, parameters):
    """The number of rows, and the last one: all are fetched."""
    last, num_rows = None, 0
    for last in db.execute(sql.format(t=table), parameters):
        num_rows += 1
    return num_rows, last


def main():
    num_rows = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    results = harness.Results("index-shares", ("what", "contestant", "repeat", "seconds"), f"{num_rows} rows")
    path = os.path.join(harness.FOLDER, "index-shares.db")
    os.makedirs(harness.FOLDER, exist_ok=True)
    harness.remove_database(path)
    db = harness.connect(path, 256)
    db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + SOURCE.format(rows=num_rows) + INDEX)
    print(f"SQLite {db.execute('SELECT sqlite_version()').fetchone()[0]}, {num_rows:,} rows: share of the table's own time\n{'':<46}{'share':>7}{'goal':>7}")

    def share(what, goal, sql, parameters):
        times = harness.race({table: lambda table=table: ask(db, sql, table, parameters) for table in ("log", "log_index")}, repeats)
        results.race(times, what)
        print(f"{what:<46}{times['log_index'].median / times['log'].median:>7.3g}{goal:>7}")
        return times["log_index"].median

    for query in QUERIES:
        share(*query)
    seconds = share("a key, by its blocks", "", KEY, ())
    # What blocks were made of is another text now, in half of the rows; then half of the rows are in no block.
    db.execute("UPDATE log SET trace_id = trace_id || 'x' WHERE id % 2")
    share("a key, where half of the rows changed", 1.4, KEY, ())
    db.execute("UPDATE log SET trace_id = rtrim(trace_id, 'x') WHERE id % 2")
    db.execute("DROP TABLE log_index")
    db.execute(f"DELETE FROM log WHERE id > {num_rows // 2}")
    db.executescript(INDEX)
    db.execute(f"INSERT INTO log SELECT id + {num_rows // 2}, ts, trace_id || 'y', user_id, x, service, message FROM log")
    share("a key, where half of the rows are not merged", 1.2, KEY, ())
    print(f"{'a key by its blocks, us':<46}{seconds * 1e6:>7.0f}{80:>7}")
    db.close()
    harness.remove_database(path)


if __name__ == "__main__":
    main()
