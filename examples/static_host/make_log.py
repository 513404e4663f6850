#!/usr/bin/python3
"""
Makes a log to search, with a bloom_index and an FTS5 index on it: make_log.py FILE [ROWS].

A row is (id, ts, trace_id, message): the seconds since 1970, ascending with some disorder, 16
hexadecimal digits, and a message of about 65 bytes. The rows are the same in each run. A million of
them, the default, take a quarter of a minute. ./bloom is loaded.
"""
import os
import random
import sqlite3
import sys

START = 1_790_000_000  # of the log, in seconds since 1970
NAMES = ("checkout", "catalogue", "login", "mail", "search", "basket", "payment", "report", "upload", "thumbnail")
MESSAGES = (
    "{name}: answered {path} with {code} in {ms} ms",
    "{name}: upstream timeout after {ms} ms, attempt {few}, request {id}",
    "{name}: user {user} logged in from 10.{few}.{byte}.{low}, session {id}",
    "{name}: job {id} waits for worker {byte}, {user} jobs before it",
    "{name}: connection {id} closed by peer after {user} bytes",
    "{name}: cache has no {path}, fetched in {ms} ms",
    "{name}: {user} rows written to shard {few} in {ms} ms, batch {id}",
    "{name}: could not parse the header of {id}, byte {byte} of {user}",
)
SCHEMA = "CREATE TABLE log(id INTEGER PRIMARY KEY, ts INTEGER, trace_id TEXT, message TEXT)"
INDEXES = """
CREATE VIRTUAL TABLE log_index USING bloom_index(log, trace_id, message LIKE, ts RANGE);
INSERT INTO log_index(log_index) VALUES ('merge');
CREATE VIRTUAL TABLE log_fts USING fts5(message, content = 'log', content_rowid = 'id', tokenize = 'trigram', detail = 'none', columnsize = 0);
INSERT INTO log_fts(log_fts) VALUES ('rebuild');
INSERT INTO log_fts(log_fts) VALUES ('optimize');
"""


def rows(num_rows):
    draw = random.Random(41)
    for i in range(1, num_rows + 1):
        bits = draw.getrandbits(256)
        name = NAMES[bits % 10]
        values = {"name": name, "id": f"{bits >> 8 & 0xffffffffffff:012x}", "user": (bits >> 56 & 0xffffff) % 100_000,
                  "ms": (bits >> 80 & 0xffff) % 3000, "few": (bits >> 96) % 9 + 1, "byte": bits >> 104 & 0xff,
                  "low": bits >> 112 & 0xff, "code": (200, 200, 200, 304, 404, 500)[(bits >> 120) % 6],
                  "path": f"/{name}/{(bits >> 128 & 0xffffff) % 1_000_000}"}
        # A row every two seconds or so, up to a minute late.
        yield i, START + 2 * i - (bits >> 160) % 60, f"{bits >> 192:016x}", MESSAGES[(bits >> 184) % 8].format(**values)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    path, num_rows = sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 1_000_000
    if os.path.exists(path + ".new"):
        os.remove(path + ".new")
    db = sqlite3.connect(path + ".new", isolation_level=None)
    db.enable_load_extension(True)
    db.load_extension("./bloom")
    db.execute("PRAGMA journal_mode = OFF")
    db.execute(SCHEMA)
    db.execute("BEGIN")
    db.executemany("INSERT INTO log VALUES (?, ?, ?, ?)", rows(num_rows))
    db.execute("COMMIT")
    db.executescript(INDEXES)
    db.execute("VACUUM")  # each table's pages lie side by side: reading on is one request
    db.close()
    os.replace(path + ".new", path)


if __name__ == "__main__":
    main()
