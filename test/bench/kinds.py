#!/usr/bin/python3
"""Kinds of keys that LevelDB's hash spreads badly: what passes, beside the rate of random keys.

    kinds.py [KEYS] [BITS_PER_KEY]     from the top of the checkout; 2000 and 12

Keys of one kind with even numbers are stored and those with odd numbers tested: beginning with
0, and the mean and the worst of 20 filters that begin elsewhere.  Prints a row a kind: the rates
in per cent, divided by that of random keys in a filter of the same size.
"""
import os
import random
import sqlite3
import statistics
import struct
import sys

NUM_STARTS = 20
NUM_RANDOM_TESTED = 200000
KINDS = [
    ('integers', lambda i: i),
    ('text, cust-00000000042', lambda i: 'cust-%011d' % i),
    ('BLOB, big-endian, 8 bytes', lambda i: struct.pack('>q', i)),
    ('BLOB, big-endian, 4 bytes', lambda i: struct.pack('>I', i)),
    ('BLOB, little-endian, 8 bytes', lambda i: struct.pack('<q', i)),
    ('REAL, i + 0.5', lambda i: i + 0.5),
]


def rate(db, stored, tested, bits):
    db.execute('DELETE FROM keys')
    db.executemany('INSERT INTO keys VALUES (?)', ((key,) for key in stored))
    filter = db.execute('SELECT bloom_build(k, ?) FROM keys', (bits,)).fetchone()[0]
    db.execute('DELETE FROM keys')
    db.executemany('INSERT INTO keys VALUES (?)', ((key,) for key in tested))
    return db.execute('SELECT avg(bloom_may_contain(?, k)) FROM keys', (filter,)).fetchone()[0]


def main():
    num_keys = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    bits = float(sys.argv[2]) if len(sys.argv) > 2 else 12
    random.seed(1)
    db = sqlite3.connect(':memory:')
    db.enable_load_extension(True)
    db.load_extension(os.path.abspath('bloom'))
    db.execute('CREATE TABLE keys(k)')
    draw = lambda count: (random.randbytes(12) for _ in range(count))
    usual = statistics.mean(rate(db, draw(num_keys), draw(NUM_RANDOM_TESTED // 10), bits) for _ in range(10))
    print(f'random keys: {100 * usual:.3f} % of absent ones pass, of {num_keys} at {bits:g} bits per key')
    print('kind\tfrom 0 on\tmean\tworst')
    for name, key in KINDS:
        def of_start(start):
            return rate(db, (key(start + 2 * i) for i in range(num_keys)),
                        (key(start + 2 * i + 1) for i in range(num_keys)), bits) / usual
        others = [of_start(random.randrange(1 << 24)) for _ in range(NUM_STARTS)]
        print(f'{name}\t{of_start(0):.1f}\t{statistics.mean(others):.1f}\t{max(others):.1f}')


if __name__ == '__main__':
    main()
