#!/usr/bin/python3
"""
Which of 100, 1,000 and 10,000 sets may hold a key: with a filter for each set, and with BloomFiles.

    make bench BENCH=many-sets
    /usr/bin/python3 test/bench/many_sets.py SETS REPEATS     SETS: the largest number of sets

Printed are the medians of REPEATS runs in turns, in us for each absent key, the MB that all sets take, and
how many sets answer "maybe", as a share of what theory says.  A set has 2,000 random texts of 16 digits, at
10 bits each; 100 sets differ, and the others repeat them.  Pages have 16 KB.  The absent keys stand in a
table, and each is looked up anew, as by a statement of its own; the handle alone is opened once for all.
"""
import math
import sys

import harness

KEYS = 2_000
DIFFERENT = 100
CACHES = {"warm": 400, "2 MB": 2}
PARTS = (100, 40, 1)
RATE_KEYS = 5_000
THEORY = (1 - math.exp(-0.6)) ** 6  # 10 bits a key, 6 probes


def fill(db, num_sets):
    files = "".join(f"""
        CREATE TABLE files_{parts}(part INTEGER PRIMARY KEY, file BLOB);
        INSERT INTO files_{parts} SELECT part, bloom_build_sets(s, k, 10, {math.ceil(1.05 * KEYS / parts) if parts > 1 else KEYS})
          FROM (SELECT bloom_partition(k, {parts}) AS part, its_set, k FROM keys ORDER BY 1) CROSS JOIN sets USING (its_set) GROUP BY 1;"""
                    for parts in PARTS)
    for statement in f"""
        PRAGMA page_size = 16384;
        CREATE TEMP TABLE keys AS {harness.numbers(DIFFERENT * KEYS, 0)} SELECT n % {DIFFERENT} AS its_set, printf('%016x', random()) AS k FROM numbers;
        CREATE TEMP TABLE sets AS {harness.numbers(num_sets, 0)} SELECT n AS s, n % {DIFFERENT} AS its_set FROM numbers;
        CREATE INDEX temp.by_set ON sets(its_set);
        CREATE TABLE filters(s INTEGER PRIMARY KEY, filter BLOB);
        INSERT INTO filters SELECT s, filter
          FROM (SELECT its_set, bloom_build(k) AS filter FROM keys GROUP BY 1) JOIN sets USING (its_set) ORDER BY 1;
        CREATE TABLE probes(id INTEGER PRIMARY KEY, k TEXT);
        INSERT INTO probes {harness.numbers(20_000)} SELECT n, printf('%016x', random()) FROM numbers;
        {files}""".split(";"):
        db.execute(statement)


def contestants():
    """By name: SQL that counts the sets for each of so many keys, their number, and SQL of the bytes of all sets."""
    probes = "SELECT count(*) FROM probes CROSS JOIN "

    def of(parts):
        return (f"{probes} files_{parts} ON part = bloom_partition(k, {parts}) CROSS JOIN bloom_sets(file, k) WHERE id <= ?",
                1_000, f"sum(length(file)) FROM files_{parts}")

    return {
        "a filter a set": (f"{probes} filters WHERE id <= ? AND bloom_may_contain(filter, k)", 20, "sum(length(filter)) FROM filters"),
        "BloomFiles, 100 partitions": of(100),
        "BloomFiles, 40 partitions": of(40),
        "a BloomFile, by its handle": (f"{probes} bloom_sets((SELECT bloom_open(file) FROM files_1), k) WHERE id <= ?", 20_000, "sum(length(file)) FROM files_1"),
    }


def main():
    most, repeats = map(int, sys.argv[1:])
    results = harness.Results("many-sets", ("num_sets", "cache", "contestant", "repeat", "us"), "us for one absent key")
    num_sets = DIFFERENT
    while num_sets <= most:
        path = harness.database(f"many-sets-{num_sets}", lambda db: fill(db, num_sets))
        for cache, megabytes in CACHES.items():
            db = harness.connect(path, megabytes)
            its = contestants()
            times = harness.race({name: lambda sql=sql, keys=keys: db.execute(sql, (keys,)).fetchone() and None
                                  for name, (sql, keys, _) in its.items()}, repeats)
            print(f"\n{num_sets:,} sets, page cache: {cache}; us a key, MB, sets that may have it, of theory's")
            for name, (sql, keys, space) in its.items():
                size = db.execute(f"SELECT {space}").fetchone()[0]
                false = db.execute(sql, (RATE_KEYS,)).fetchone()[0] / RATE_KEYS / num_sets
                print(f"{name:28} {1e6 * times[name].median / keys:9.4g} {size / 1e6:7.1f} {false / THEORY:6.2f}"
                      f"   spread {100 * times[name].spread():.0f} %", flush=True)
                for repeat, seconds in enumerate(times[name].seconds):
                    results.row(num_sets, cache, name, repeat, 1e6 * seconds / keys)
        num_sets *= 10


if __name__ == "__main__":
    main()
