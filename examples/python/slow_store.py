#!/usr/bin/python3
"""
Shows: protecting a slow store from look-ups of absent keys.  A cache only keeps
what is there, so requests for what is not (a scan of made-up ids, say) all go
through it: cache penetration.  A filter of the store's ids stops them, and keeps
itself up to date as ids come and go.

Run, from the top of the project, after `make`:
    /usr/bin/python3 examples/python/slow_store.py
What it prints is in slow_store.expected.
"""
import collections
import os
import random
import sqlite3
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
NUM_PRODUCTS = 20_000
NUM_REQUESTS = 50_000
CACHE_ROWS = 5_000

# The filter fills itself, and stays up to date.
SCHEMA = "CREATE VIRTUAL TABLE product_filter USING bloom(product, id, bits_per_key = 12)"


class Store:
    """The slow store: another table here, another machine in earnest."""
    def __init__(self, db):
        self.db = db
        self.num_asked = 0

    def get(self, product_id):
        self.num_asked += 1
        row = self.db.execute("SELECT title FROM product WHERE id = ?", (product_id,)).fetchone()
        return row and row[0]


def serve(db, requests, with_filter):
    """Answers the requests; returns the titles and how often the store was read."""
    store, cache, titles = Store(db), collections.OrderedDict(), []
    for product_id in requests:
        title = cache.get(product_id)
        if title is None:
            may_be_there = not with_filter or db.execute(
                "SELECT count(*) FROM product_filter(?)", (product_id,)).fetchone()[0]
            title = store.get(product_id) if may_be_there else None
            if title is not None:
                cache[product_id] = title
                if len(cache) > CACHE_ROWS:
                    cache.popitem(last=False)
        titles.append(title)
    return titles, store.num_asked


def main():
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(os.path.join(ROOT, "bloom"))
    db.enable_load_extension(False)
    db.execute("CREATE TABLE product(id TEXT PRIMARY KEY, title TEXT)")
    db.executemany("INSERT INTO product VALUES (?, ?)",
                   ((f"p{n}", f"product {n}") for n in range(NUM_PRODUCTS)))
    db.execute(SCHEMA)

    # Half of the requests are for a popular product, half for ids that do not exist.
    chance = random.Random(5)
    requests = [f"p{int(NUM_PRODUCTS * chance.random() ** 3)}" if chance.random() < 0.5
                else f"p{chance.randrange(NUM_PRODUCTS, 10**9)}" for _ in range(NUM_REQUESTS)]
    plain, num_plain = serve(db, requests, with_filter=False)
    screened, num_screened = serve(db, requests, with_filter=True)
    if plain != screened:
        sys.exit("the filter changed an answer")
    print(f"{NUM_REQUESTS:,} requests, {plain.count(None):,} for products that do not exist")
    print(f"the store is asked {num_plain:,} times behind a cache,"
          f" {num_screened:,} times behind a cache and a filter")

    # An id that the filter stopped, and that comes into being.
    absent = next(product_id for product_id in requests if serve(db, [product_id], True) == ([None], 0))
    db.execute("INSERT INTO product VALUES (?, 'a new product')", (absent,))
    print(f"asked for again once it is inserted: {serve(db, [absent], True)[0][0]}")


if __name__ == "__main__":
    main()
