#!/usr/bin/python3
"""
The false positive rate that a filter really has, by number of keys and
bits_per_key.

Keys are the integers 1..num_keys; a million others that are not in the filter
are asked for.  Prints the share (in percent) that the filter let through.
The last line splits the keys over filters of about 16,000 keys each.

    make && /usr/bin/python3 test/bench/false_positives.py [largest num_keys]
"""
import os
import sqlite3
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
BITS_PER_KEY = [5, 8, 10, 12, 16, 20]
NUM_ABSENT = 1_000_000
PARTITIONS = 64


def numbers(first, count):
    return (f"WITH RECURSIVE numbers(n) AS (SELECT {first} UNION ALL"
            f" SELECT n + 1 FROM numbers WHERE n < {first + count - 1}) ")


def main():
    largest = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(os.path.join(ROOT, "bloom"))
    one = lambda sql, *args: db.execute(sql, args).fetchone()

    print(f"{'num_keys':>12}" + "".join(f"{bits:>9} b" for bits in BITS_PER_KEY))
    num_keys = 1000
    while num_keys <= largest:
        # capacity: memory is the filters' alone.
        filters = one(numbers(1, num_keys) + "SELECT " + ", ".join(
            f"bloom_build(n, {bits}, {num_keys})" for bits in BITS_PER_KEY) + " FROM numbers")
        passed = one(numbers(num_keys + 1, NUM_ABSENT) + "SELECT " + ", ".join(
            "sum(bloom_may_contain(?, n))" for _ in filters) + " FROM numbers", *filters)
        print(f"{num_keys:>12,}" + "".join(f"{100 * p / NUM_ABSENT:>10.4f}%" for p in passed),
              flush=True)
        num_keys *= 10

    num_keys = 1_000_000
    db.execute("CREATE TABLE parts(part INTEGER PRIMARY KEY, filter BLOB)")
    rates = []
    for bits in BITS_PER_KEY:
        db.execute("DELETE FROM parts")
        db.execute(numbers(1, num_keys) + "INSERT INTO parts"
                   f" SELECT bloom_partition(n, {PARTITIONS}), bloom_build(n, {bits}) FROM numbers GROUP BY 1")
        passed = one(numbers(num_keys + 1, NUM_ABSENT) +
                     "SELECT sum(bloom_may_contain(filter, n)) FROM numbers"
                     f" JOIN parts ON part = bloom_partition(n, {PARTITIONS})")[0]
        rates.append(100 * passed / NUM_ABSENT)
    print(f"{num_keys:>12,}" + "".join(f"{rate:>10.4f}%" for rate in rates) +
          f"   in {PARTITIONS} filters")

    print("\nbytes for 1,000,000 keys: " + ", ".join(
        f"{bits} bits {one('SELECT length(bloom_build(1, ?, 1000000))', bits)[0]:,}"
        for bits in BITS_PER_KEY))


if __name__ == "__main__":
    main()
