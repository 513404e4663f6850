#!/usr/bin/python3
"""
Shows: seen-before URLs, of which the oldest are forgotten.  A crawler keeps each
day's URLs apart, so that a day can be dropped; a link is new if no day has it, which
is one look-up a day.  A filter of all that was seen tells at once which links are
surely new; it stays up to date with the table.  Each day it is rebuilt, so that it forgets the
days that were dropped.

In front of a single UNIQUE table a filter would save nothing: INSERT OR IGNORE
searches its index in any case.

Run, from the top of the project, after `make`:
    /usr/bin/python3 examples/python/seen_urls.py
What it prints is in seen_urls.expected.
"""
import os
import sqlite3
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
NUM_DAYS = 14
DAYS_KEPT = 7
DAY_LINKS = 5_000

SCHEMA = """
    CREATE TABLE seen(day INTEGER, url TEXT, PRIMARY KEY (day, url)) WITHOUT ROWID;
    CREATE TABLE days(day INTEGER PRIMARY KEY);
    CREATE VIRTUAL TABLE seen_url USING bloom(seen, url, bits_per_key = 12);
    CREATE TEMP TABLE links(url TEXT PRIMARY KEY, maybe INTEGER);
"""
SCREEN = "UPDATE links SET maybe = bloom_may_contain((SELECT handle FROM seen_url), url)"
# Days are looked up only where the filter says "maybe".  CROSS JOIN: day after day, each by
# its index.
NEW = """
    SELECT url FROM links
    WHERE NOT maybe OR NOT EXISTS (SELECT 1 FROM days CROSS JOIN seen USING (day) WHERE seen.url = links.url)
"""


def links_of(day):
    """The links found on a day: two in ten were found the day before, too."""
    first = day * DAY_LINKS * 8 // 10
    return [f"https://example.org/page/{n}" for n in range(first, first + DAY_LINKS)]


def main():
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(os.path.join(ROOT, "bloom"))
    db.enable_load_extension(False)
    db.executescript(SCHEMA)

    known = {}  # day: its URLs, what the answers are held against
    num_links = num_new = num_maybe = 0
    for day in range(NUM_DAYS):
        links = links_of(day)
        with db:
            db.execute("DELETE FROM links")
            db.executemany("INSERT OR IGNORE INTO links(url) VALUES (?)", ((url,) for url in links))
            db.execute(SCREEN)
            num_maybe += db.execute("SELECT sum(maybe) FROM links").fetchone()[0]
            new = [url for url, in db.execute(NEW)]
            db.executemany("INSERT INTO seen VALUES (?, ?)", ((day, url) for url in new))
            db.execute("INSERT INTO days VALUES (?)", (day,))
            db.execute("DELETE FROM days WHERE day <= ?", (day - DAYS_KEPT,))
            db.execute("DELETE FROM seen WHERE day <= ?", (day - DAYS_KEPT,))
            db.execute("INSERT INTO seen_url(seen_url) VALUES ('rebuild')")
        if set(new) != set(links).difference(*known.values()):
            sys.exit("the filter changed the result")
        known[day] = set(new)
        known.pop(day - DAYS_KEPT, None)
        num_links += len(links)
        num_new += len(new)

    num_keys, num_bytes = db.execute("SELECT num_keys, bytes FROM seen_url").fetchone()
    print(f"{num_links:,} links in {NUM_DAYS} days, {num_new:,} of them new")
    print(f"{num_maybe:,} links looked up among the days instead of {num_links:,}")
    print(f"the filter of {len(known)} days: {num_bytes:,} bytes for {num_keys:,} keys")


if __name__ == "__main__":
    main()
