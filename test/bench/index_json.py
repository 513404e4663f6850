#!/usr/bin/python3
"""
A key inside JSON: a bloom_index on a VIRTUAL generated column beside an index on it, and the scan.

    index_json.py [ROWS [REPEATS]]     from the top of the checkout; 1000000 and 5

An event has a payload of some 150 bytes, of which one member, a random number, is looked for.  Sizes are bytes of the
file; a look-up is the mean of 20 keys with SQLite's cache of 2 MB, an INSERT the mean of 10,000 in
one transaction, of which the table alone is taken off.  Medians of runs in turns.
"""
import os
import sys

import harness

EVENT = ("json_object('request', printf('%08x%08x', n * 2654435761 % 4294967296, n), 'user', 'user-' || n % 5000, 'ms', n % 90, 'path', '/api/v1/orders/' || n,"
         " 'agent', 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36')")
WAYS = {
    "scan": "",
    "index": "CREATE INDEX event_request ON event(request)",
    "bloom_index": "CREATE VIRTUAL TABLE event_index USING bloom_index(event, request); INSERT INTO event_index(event_index) VALUES ('merge')",
}


def main():
    num_rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    results = harness.Results("index-json", ("what", "contestant", "repeat", "value"), f"{num_rows} rows")
    paths, sizes, made = {}, {}, {}
    os.makedirs(harness.FOLDER, exist_ok=True)
    for name, sql in WAYS.items():
        paths[name] = os.path.join(harness.FOLDER, f"index-json-{name}.db")
        harness.remove_database(paths[name])
        db = harness.connect(paths[name])
        db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE TABLE event(id INTEGER PRIMARY KEY, payload TEXT, request AS (payload ->> '$.request'))")
        db.execute(harness.numbers(num_rows) + f"INSERT INTO event(payload) SELECT {EVENT} FROM numbers")
        made[name] = harness.timed(lambda db=db, sql=sql: db.executescript(sql))
        sizes[name] = os.path.getsize(paths[name])
        db.close()
    dbs = {name: harness.connect(path) for name, path in paths.items()}

    def look_up(name):
        table = "event_index" if name == "bloom_index" else "event"
        keys = [(7919 * i * (num_rows // 200000 + 1)) % num_rows + 1 for i in range(2 if name == "scan" else 20)]
        found = [dbs[name].execute(f"SELECT id FROM {table} WHERE request = ?", (f"{n * 2654435761 % 2**32:08x}{n:08x}",)).fetchall() for n in keys]
        assert found == [[(n,)] for n in keys], name
        return 1

    def insert(name):
        db = dbs[name]
        db.execute("BEGIN")
        db.execute(harness.numbers(10_000, num_rows + 1) + f"INSERT INTO event(payload) SELECT {EVENT} FROM numbers")
        db.execute("ROLLBACK")
        return 1

    look_ups = harness.race({name: lambda name=name: look_up(name) for name in WAYS}, repeats)
    inserts = harness.race({name: lambda name=name: insert(name) for name in WAYS}, repeats)
    version = dbs["scan"].execute("SELECT sqlite_version()").fetchone()[0]
    print(f"SQLite {version}, {num_rows:,} rows, {sizes['scan'] / 1e6:.0f} MB\n{'':<14}{'bytes a row':>12}{'made in s':>11}{'ms a look-up':>14}{'us an INSERT':>14}")
    for name in WAYS:
        per_look_up = look_ups[name].median * 1e3 / (2 if name == "scan" else 20)
        more = (inserts[name].median - inserts["scan"].median) * 100
        print(f"{name:<14}{(sizes[name] - sizes['scan']) / num_rows:>12.1f}{made[name]:>11.2f}{per_look_up:>14.3f}{more:>14.2f}")
        for repeat in range(repeats):
            results.row("look-up", name, repeat, look_ups[name].seconds[repeat] * 1e3 / (2 if name == "scan" else 20))
            results.row("insert", name, repeat, inserts[name].seconds[repeat] * 100)
        results.row("bytes", name, 0, sizes[name])
    for name, path in paths.items():
        dbs[name].close()
        harness.remove_database(path)


if __name__ == "__main__":
    main()
