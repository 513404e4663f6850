#!/usr/bin/python3
"""
What it costs that bloom_filter() answers as `=` does: beside bloom_open(bloom_build(k, 'parquet')),
which compares bytes, by the kind of keys.

    equal_keys.py [NUM_KEYS [REPEATS]]     from the top of the checkout; 500000 and 9

`build` makes a handle of NUM_KEYS keys; `probe` makes one of a tenth of them and asks it for twice
NUM_KEYS, of which a twentieth is there.  The tables are in memory.  ns a key, medians of runs in
turns; the ratio is the median of those within a turn.
"""
import sys

import harness

KINDS = {  # of i, a number without pattern in 32 bits
    "integer": "i",
    "text, hexadecimal": "printf('%08x%08x', i, i * 40503 % 4294967296)",
    "text, sequential": "printf('customer-%08d', n)",
    "text of digits": "CAST(i AS TEXT)",
    "blob": "CAST(printf('%08x%08x', i, i * 40503 % 4294967296) AS BLOB)",
    "real in 0..1": "i / 4294967296.0",
    "real, i + 0.5": "i + 0.5",
}
HANDLES = {"parquet": "bloom_open(bloom_build(k, 'parquet'))", "bloom_filter": "bloom_filter(k)"}


def main():
    num_keys = int(sys.argv[1]) if len(sys.argv) > 1 else 500_000
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    results = harness.Results("equal-keys", ("keys", "what", "contestant", "repeat", "ns_per_key"), f"{num_keys} keys")
    num_asked, num_there = 2 * num_keys, num_keys // 10
    for kind, key in KINDS.items():
        db = harness.connect(cache_mb=1024)
        for table, count in ("many", num_keys), ("few", num_there), ("asked", num_asked):
            db.execute(f"CREATE TABLE {table} AS {harness.numbers(count)}, scattered(n, i) AS (SELECT n, n * 2654435761 % 4294967296 FROM numbers)"
                       f" SELECT {key} AS k FROM scattered ORDER BY n * 7919 % {count}")
        if kind == "integer":
            version = db.execute("SELECT sqlite_version()").fetchone()[0]
            print(f"SQLite {version}, {num_keys:,} keys, ns a key, {repeats} repeats\n"
                  f"{'':<20}{'build: parquet':>15}{'bloom_filter':>14}{'ratio':>7}{'probe: parquet':>17}{'bloom_filter':>14}{'ratio':>7}")

        def right_number(sql):
            """Both pass what is there, and some 1 % of the rest."""
            return num_there <= db.execute(sql).fetchone()[0] <= num_there + 0.02 * num_asked

        line = f"{kind:<20}"
        for what, count, query, is_right in (
                ("build", num_keys, "SELECT typeof({}) FROM many", lambda sql: db.execute(sql).fetchone()[0]),
                ("probe", num_asked, "SELECT count(*) FROM asked WHERE bloom_may_contain((SELECT {} FROM few), k)", right_number)):
            times = harness.race({name: lambda sql=query.format(handle): is_right(sql) for name, handle in HANDLES.items()}, repeats)
            for name, contestant in times.items():
                for repeat, seconds in enumerate(contestant.seconds):
                    results.row(kind, what, name, repeat, seconds * 1e9 / count)
            if what == "probe" and not times["parquet"].result:
                sys.exit(f"{kind}: not as many keys pass as should")
            ratio = harness.faster(times["bloom_filter"], times["parquet"])
            line += "".join(f"{times[name].median * 1e9 / count:>{width}.1f}" for name, width in (("parquet", 15 if what == "build" else 17), ("bloom_filter", 14)))
            line += f"{ratio:>7.2f}"
        print(line, flush=True)
        db.close()


if __name__ == "__main__":
    main()
