#!/usr/bin/python3
"""
Shows: filters that travel.  Sixteen shards each build a filter of their keys, in their own
process, over their own database.  The coordinator collects the filters, and queries only the
shards that may hold a key.

A shard that inserts makes its collected filter old, and an old filter would say a wrong "no".
So versions travel, too, in this order:

    1. The shard announces its next version, a number, to the coordinator.
    2. It commits the rows, and the version with them.
    3. When it likes, it sends a filter and the version that this filter covers.

Between 1 and 3 the coordinator knows that the filter is old, and queries that shard for every key.
So whatever is lost or late on the way makes it query too often, and never too seldom: the last part
loses, delays and reorders messages at random, and lets shards die before they commit.  A
coordinator that starts again has no filters yet, and queries every shard.

Run, from the top of the project, after `make`:
    /usr/bin/python3 examples/python/coordinator.py
What it prints is in coordinator.expected.
"""
import concurrent.futures
import os
import random
import sqlite3
import sys
import tempfile
from contextlib import closing

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
NUM_SHARDS = 16
NUM_ORDERS = 5000  # of each shard
NUM_CUSTOMERS = 40000


def connect(path):
    db = sqlite3.connect(path, isolation_level=None)  # transactions are begun below, by hand
    try:
        db.enable_load_extension(True)
        db.load_extension(os.path.join(ROOT, "bloom"))
        db.enable_load_extension(False)
    except AttributeError:
        sys.exit("this Python cannot load extensions; try /usr/bin/python3")
    except sqlite3.OperationalError as error:
        sys.exit(f"cannot load bloom ({error}); run make first")
    return db


# -- A shard --------------------------------------------------------------------


def create_shard(path, number):
    """Fills a new shard.  Runs in a process of its own."""
    with closing(connect(path)) as db:
        db.execute("CREATE TABLE orders(id INTEGER PRIMARY KEY, customer TEXT)")
        db.execute("CREATE INDEX orders_customer ON orders(customer)")
        db.execute("CREATE TABLE version AS SELECT 1 AS version")
        db.execute("BEGIN")
        db.executemany("INSERT INTO orders(customer) VALUES (?)",
                       ((f"customer {(number * NUM_ORDERS + i) * 7919 % NUM_CUSTOMERS}",)
                        for i in range(NUM_ORDERS)))
        db.execute("COMMIT")
    return filter_of(path)


def filter_of(path):
    """The shard's path, its version and its filter.  One statement reads both, so no insert comes
    in between.  The filter has room for half as many keys again: some may be added to it."""
    with closing(connect(path)) as db:
        return path, *db.execute(
            "SELECT (SELECT version FROM version), bloom_build(customer, 10, ?, 'parquet') FROM orders",
            (NUM_ORDERS * 3 // 2,)).fetchone()


def insert(path, customers, announce):
    """Gives the version that has these rows.  Without an announcement no row is committed."""
    with closing(connect(path)) as db:
        db.execute("BEGIN IMMEDIATE")
        version, = db.execute("SELECT version + 1 FROM version").fetchone()
        announce(path, version)
        db.executemany("INSERT INTO orders(customer) VALUES (?)", ((c,) for c in customers))
        db.execute("UPDATE version SET version = ?", (version,))
        db.execute("COMMIT")
    return version


def orders_of(path, customer):
    with closing(sqlite3.connect(path)) as db:
        return [(path, id) for id, in db.execute("SELECT id FROM orders WHERE customer = ?", (customer,))]


# -- The coordinator ------------------------------------------------------------


class Coordinator:
    def __init__(self, paths):
        self.db = connect(":memory:")
        # A shard without a filter has NULL, and is queried for every key.
        self.db.execute("CREATE TABLE shards(path TEXT PRIMARY KEY, newest INTEGER, version INTEGER, filter BLOB)")
        self.db.executemany("INSERT INTO shards VALUES (?, 0, 0, NULL)", ((path,) for path in paths))

    def announce(self, path, version):
        """An UPDATE that finds no row is no error.  But a shard without a row would never be queried."""
        if self.db.execute("UPDATE shards SET newest = max(newest, ?) WHERE path = ?", (version, path)).rowcount != 1:
            raise LookupError(f"{path} is no shard of this coordinator")

    def collect(self, path, version, filter_blob):
        """Takes a shard's filter, unless a newer one is there."""
        self.db.execute(
            "UPDATE shards SET filter = ?, version = ?, newest = max(newest, ?) WHERE path = ? AND version < ?",
            (filter_blob, version, version, path, version))

    def add(self, path, old_version, version, keys):
        """The same for all keys that came between two versions: some dozens, or a filter is better."""
        self.db.execute(
            f"UPDATE shards SET filter = bloom_add(filter{', ?' * len(keys)}), version = ?, newest = max(newest, ?)"
            " WHERE path = ? AND version = ?",
            (*keys, version, version, path, old_version))

    def shards_to_query(self, key):
        return [path for path, in self.db.execute(
            "SELECT path FROM shards WHERE version < newest OR bloom_may_contain(filter, ?)"
            " ORDER BY path", (key,))]


def compare(title, coordinator, paths, customers):
    """Queries all shards for each customer, and then those that the coordinator names."""
    num_queried = num_holding = 0
    for customer in customers:
        truth = [row for path in paths for row in orders_of(path, customer)]
        queried = coordinator.shards_to_query(customer)
        if [row for path in queried for row in orders_of(path, customer)] != truth:
            sys.exit(f"{customer}: orders were missed")
        num_queried += len(queried)
        num_holding += len({path for path, _ in truth})
    print(f"{title:<33}{len(customers) * len(paths):>9,}{num_queried:>9,}{num_holding:>9,}")


def lose_and_delay(coordinator, paths):
    """Lets anything happen, in any order.  No customer may be out of the coordinator's sight."""
    def announce_and_die(path, version):
        coordinator.announce(path, version)
        raise InterruptedError

    chance = random.Random(1)
    inserted, on_the_way = [], []
    num_lost = 0
    for step in range(600):
        path = chance.choice(paths)
        event = chance.choice(["insert", "insert and die", "send a filter", "arrive", "arrive", "get lost"])
        if event == "insert":
            key = f"random customer {step}"
            version = insert(path, [key], coordinator.announce)
            inserted.append((path, key))
            on_the_way.append((coordinator.add, path, version - 1, version, [key]))
        elif event == "insert and die":
            try:
                insert(path, ["nobody"], announce_and_die)
            except InterruptedError:
                pass
        elif event == "send a filter":
            on_the_way.append((coordinator.collect, *filter_of(path)))
        elif on_the_way:
            take, *message = on_the_way.pop(chance.randrange(len(on_the_way)))
            if event == "arrive":
                take(*message)
            else:
                num_lost += 1
        for path, key in chance.sample(inserted, min(10, len(inserted))):
            if path not in coordinator.shards_to_query(key):
                sys.exit(f"{key} is in {path}, which would not be queried")
    return len(inserted), num_lost


def main():
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f"shard{n:02}.db") for n in range(NUM_SHARDS)]
        coordinator = Coordinator(paths)
        with concurrent.futures.ProcessPoolExecutor() as processes:
            for shard in processes.map(create_shard, paths, range(NUM_SHARDS)):
                coordinator.collect(*shard)
        num_bytes, = coordinator.db.execute("SELECT sum(length(filter)) FROM shards").fetchone()
        print(f"{NUM_SHARDS} shards of {NUM_ORDERS:,} orders, {num_bytes:,} bytes of filters")

        # Half of them have orders.
        customers = [f"customer {i * 397 % (2 * NUM_CUSTOMERS)}" for i in range(200)]
        print(f"{len(customers)} customers; shards:{'all':>15}{'asked':>9}{'holding':>9}")
        compare("filters are up to date", coordinator, paths, customers)

        # New customers in two shards, of whom the coordinator knows the version alone.
        late = [f"late customer {i}" for i in range(20)]
        first, second = paths[5], paths[11]
        first_version = insert(first, late, coordinator.announce)
        insert(second, late, coordinator.announce)
        compare("two shards have inserted", coordinator, paths, customers + late)

        # One shard sends its new keys, the other a new filter.
        coordinator.add(first, first_version - 1, first_version, late)
        coordinator.collect(*filter_of(second))
        compare("both have told what", coordinator, paths, customers + late)

        # A shard that nobody added to the coordinator: its rows would never be found.
        stranger = os.path.join(folder, "stranger.db")
        create_shard(stranger, NUM_SHARDS)
        try:
            insert(stranger, late, coordinator.announce)
        except LookupError:
            print("a shard that the coordinator does not know inserts nothing")

        num_inserts, num_lost = lose_and_delay(coordinator, paths)
        print(f"{num_inserts} inserts more, {num_lost} messages lost, the others late and in any order")
        # An empty insert settles what a dead shard announced and did not commit.
        for path in paths:
            insert(path, [], coordinator.announce)
            coordinator.collect(*filter_of(path))
        compare("all have sent their filter again", coordinator, paths, customers + late)
        print("no order was missed")


if __name__ == "__main__":
    main()
