#!/usr/bin/python3
"""
Shows: seen-before URLs, of which the oldest are forgotten.  A crawler keeps each
day's URLs apart, so that a day can be dropped; a link is new if no day has it, which
is one look-up a day.  Each day has a filter of one shape, and their union, made anew
in a moment, tells at once which links are surely new.

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
CAPACITY = DAYS_KEPT * DAY_LINKS  # one for all days: only filters of one shape merge

SCHEMA = """
    CREATE TABLE seen(day INTEGER, url TEXT, PRIMARY KEY (day, url)) WITHOUT ROWID;
    CREATE TABLE days(day INTEGER PRIMARY KEY, filter BLOB);
    CREATE TEMP TABLE links(url TEXT PRIMARY KEY, maybe INTEGER);
"""
SCREEN = """
    UPDATE links SET maybe = coalesce(
        bloom_may_contain((SELECT bloom_open(bloom_merge(filter)) FROM days), url), 0)
"""
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
            db.execute("INSERT INTO days SELECT ?1, bloom_build(url, 12, ?2) FROM seen WHERE day = ?1", (day, CAPACITY))
            db.execute("DELETE FROM days WHERE day <= ?", (day - DAYS_KEPT,))
            db.execute("DELETE FROM seen WHERE day <= ?", (day - DAYS_KEPT,))
        if set(new) != set(links).difference(*known.values()):
            sys.exit("the filter changed the result")
        known[day] = set(new)
        known.pop(day - DAYS_KEPT, None)
        num_links += len(links)
        num_new += len(new)

    num_bytes, rate = db.execute(
        "SELECT num_bytes, measured_fpr FROM bloom_info((SELECT bloom_merge(filter) FROM days))").fetchone()
    print(f"{num_links:,} links in {NUM_DAYS} days, {num_new:,} of them new")
    print(f"{num_maybe:,} links looked up among the days instead of {num_links:,}")
    print(f"the union of {len(known)} days: {num_bytes:,} bytes, {100 * rate:.2f} % false positives")


if __name__ == "__main__":
    main()
