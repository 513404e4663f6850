#!/usr/bin/python3
"""
Shows: seen-before URL de-duplication.  A crawler finds links in batches, and most
of them for the first time.  The filter tells at once which are surely new; only
the others are looked up among the URLs of the past.

A batch's own filter, of the same capacity, is merged into the one of the past:
one write a batch, and the same bytes as building it over all keys.

Run, from the top of the project, after `make`:
    /usr/bin/python3 examples/python/seen_urls.py
What it prints is in seen_urls.expected.
"""
import os
import sqlite3
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
NUM_BATCHES = 10
BATCH_URLS = 5_000
CAPACITY = NUM_BATCHES * BATCH_URLS  # more URLs are taken; more look-ups follow

SCHEMA = """
    CREATE TABLE seen(url TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE seen_filter(filter BLOB);
    INSERT INTO seen_filter VALUES (bloom_empty(:capacity, 12));
    CREATE TEMP TABLE batch(url TEXT PRIMARY KEY, maybe INTEGER)
"""
SCREEN = "UPDATE batch SET maybe = bloom_may_contain((SELECT bloom_open(filter) FROM seen_filter), url)"
# The filter comes first: the look-up in seen is made only where it says "maybe".
NEW = "SELECT url FROM batch WHERE NOT maybe OR url NOT IN (SELECT url FROM seen)"
REMEMBER = """
    UPDATE seen_filter SET filter = (SELECT bloom_merge(filter) FROM
        (SELECT filter FROM seen_filter UNION ALL SELECT bloom_build(url, 12, :capacity) FROM batch))
"""


def links_of(batch):
    """The URLs of a batch: one in ten was in a batch before."""
    first = batch * BATCH_URLS * 9 // 10
    return [f"https://example.org/page/{n}" for n in range(first, first + BATCH_URLS)]


def main():
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(os.path.join(ROOT, "bloom"))
    db.enable_load_extension(False)
    for statement in SCHEMA.split(";"):
        db.execute(statement, {"capacity": CAPACITY} if ":capacity" in statement else {})

    known = set()  # what the filter's answers are held against
    num_links = num_asked = 0
    for batch in range(NUM_BATCHES):
        links = links_of(batch)
        with db:
            db.execute("DELETE FROM batch")
            db.executemany("INSERT OR IGNORE INTO batch(url) VALUES (?)", ((url,) for url in links))
            db.execute(SCREEN)
            num_asked += db.execute("SELECT sum(maybe) FROM batch").fetchone()[0]
            new = [url for url, in db.execute(NEW)]
            db.executemany("INSERT INTO seen VALUES (?)", ((url,) for url in new))
            db.execute(REMEMBER, {"capacity": CAPACITY})
        num_links += len(links)
        if set(new) != set(links) - known:
            sys.exit("the filter changed the result")
        known.update(links)

    num_bytes, rate = db.execute(
        "SELECT num_bytes, measured_fpr FROM seen_filter AS f, bloom_info(f.filter)").fetchone()
    print(f"{num_links:,} links in {NUM_BATCHES} batches, {len(known):,} of them new")
    print(f"{num_asked:,} look-ups instead of {num_links:,}; {num_links - len(known):,} were seen before")
    print(f"the filter: {num_bytes:,} bytes, {100 * rate:.2f} % false positives")


if __name__ == "__main__":
    main()
