#!/usr/bin/python3
"""
What each way of handing a filter to bloom_may_contain() costs.

    make bench BENCH=query-forms
    /usr/bin/python3 test/bench/query_forms.py [num_keys [num_repeats]]

One 1 MB filter, and keys of which it holds a tenth.  First the ways that never
copy the BLOB, in every kind of query where a filter helps: a bound parameter
against bloom_open() in a scalar subquery, num_keys keys.  Then the ways that
copy it once per row, or may: a hundredth of the keys, with the bound parameter
beside them.  Then forms that people write around a filter or a handle, in a join, where all of
them are right; some say "maybe" to every key.  Then a rate in GROUP BY beside the same number of
bits, in groups of as many sizes as there are groups.  Last, what bloom_open() costs once, whatever the number of keys:
copying the filter into memory that is new to the process.  The ways take turns;
times are the processor's.
"""
import sys

import harness

FILTER_KEYS = 838_860  # 10 bits each: 1 MiB and the probe byte

STORED = "SELECT filter FROM filters WHERE name = 'big'"
BOUND = ":filter"
OPENED = "(SELECT bloom_open(filter) FROM filters WHERE name = 'big')"

# Kinds of query; {} is the filter.
KINDS = {
    "scan, WHERE": "SELECT count(*) FROM probes WHERE bloom_may_contain({}, key)",
    "scan, SELECT": "SELECT sum(bloom_may_contain({}, key)) FROM probes",
    "join": "SELECT count(*) FROM probes JOIN big ON id = key WHERE bloom_may_contain({}, key)",
    "LEFT JOIN ... ON":
        "SELECT count(id) FROM probes LEFT JOIN big ON id = key AND bloom_may_contain({}, key)",
    "IN": "SELECT count(*) FROM probes"
          " WHERE bloom_may_contain({}, key) AND key IN (SELECT id FROM big)",
    "EXISTS": "SELECT count(*) FROM probes"
              " WHERE bloom_may_contain({}, key) AND EXISTS (SELECT 1 FROM big WHERE id = key)",
}

# Ways to hand over the filter; all count the same rows.
FORMS = {
    "bound parameter":
        "SELECT count(*) FROM few_probes WHERE bloom_may_contain(:filter, key)",
    "bloom_open(bound parameter)":
        "SELECT count(*) FROM few_probes WHERE bloom_may_contain(bloom_open(:filter), key)",
    "bloom_open in a scalar subquery":
        f"SELECT count(*) FROM few_probes WHERE bloom_may_contain({OPENED}, key)",
    "scalar subquery":
        f"SELECT count(*) FROM few_probes WHERE bloom_may_contain(({STORED}), key)",
    "joined column":
        "SELECT count(*) FROM filters JOIN few_probes ON bloom_may_contain(filter, key)"
        " WHERE name = 'big'",
    "CTE":
        f"WITH f AS ({STORED})"
        " SELECT count(*) FROM f, few_probes WHERE bloom_may_contain(filter, key)",
    "MATERIALIZED CTE":
        f"WITH f AS MATERIALIZED ({STORED})"
        " SELECT count(*) FROM f, few_probes WHERE bloom_may_contain(filter, key)",
    # SQLite's LATERAL: a subquery that names the outer row, run for each.
    "lateral (correlated subquery)":
        "SELECT sum((SELECT bloom_may_contain(filter, key) FROM filters WHERE name = 'big'))"
        " FROM few_probes",
}

# A join whose rows are the same whatever the filter says: forms around a filter, or a handle.
JOIN = "SELECT count(*) FROM few_probes JOIN big ON id = key"
FILTERS = "FROM filters WHERE name = 'big'"
AROUND = {
    "no filter": JOIN,
    "(SELECT bloom_open(filter) ...)": f"{JOIN} WHERE bloom_may_contain({OPENED}, key)",
    "(SELECT bloom_open(coalesce(filter, bloom_empty(0))) ...)":
        f"{JOIN} WHERE bloom_may_contain((SELECT bloom_open(coalesce(filter, bloom_empty(0))) {FILTERS}), key)",
    "(SELECT handle FROM view)": f"{JOIN} WHERE bloom_may_contain((SELECT handle FROM opened), key)",
    "coalesce((SELECT filter ...), bloom_empty(0))":
        f"{JOIN} WHERE bloom_may_contain(coalesce(({STORED}), bloom_empty(0)), key)",
    "bloom_open(coalesce((SELECT filter ...), bloom_empty(0)))":
        f"{JOIN} WHERE bloom_may_contain(bloom_open(coalesce(({STORED}), bloom_empty(0))), key)",
    "handle of a view in FROM": f"SELECT count(*) FROM opened, few_probes JOIN big ON id = key WHERE bloom_may_contain(handle, key)",
    "handle of a CTE in FROM": f"WITH h AS (SELECT bloom_open(filter) AS handle {FILTERS}) SELECT count(*) FROM h, few_probes"
                               " JOIN big ON id = key WHERE bloom_may_contain(handle, key)",
    "handle of a MATERIALIZED CTE": f"WITH h AS MATERIALIZED (SELECT bloom_open(filter) AS handle {FILTERS}) SELECT count(*)"
                                    " FROM few_probes JOIN big ON id = key WHERE bloom_may_contain((SELECT handle FROM h), key)",
    "(SELECT bloom_may_contain(bloom_open(filter), key) ...)":
        f"{JOIN} WHERE (SELECT bloom_may_contain(bloom_open(filter), key) {FILTERS})",
    "EXISTS (... bloom_may_contain(filter, key))":
        f"{JOIN} WHERE EXISTS (SELECT 1 {FILTERS} AND bloom_may_contain(filter, key))",
}
# UPDATE ... FROM a handle, and with the handle in a scalar subquery.
UPDATE = "UPDATE few_probes SET seen = 1 {} WHERE bloom_may_contain({}, key) AND EXISTS (SELECT 1 FROM big WHERE id = key)"
UPDATES = {
    "no filter": "UPDATE few_probes SET seen = 1 WHERE EXISTS (SELECT 1 FROM big WHERE id = key)",
    "UPDATE, the handle in a scalar subquery": UPDATE.format("", OPENED),
    "UPDATE ... FROM a handle": UPDATE.format(f"FROM (SELECT bloom_open(filter) AS handle {FILTERS})", "handle"),
}

# No two groups are equally large, so each asks for a size anew.
GROUPS = "SELECT count(*) FROM (SELECT bloom_build(key, {}) FROM grouped GROUP BY part)"
SIZES = {"14.5 bits": GROUPS.format("14.5"), "a rate, 0.001": GROUPS.format("0.001")}


def contest(db, contestants, filter_blob, num_keys, num_repeats, results, what):
    """Times the queries in turns and keeps every time."""
    def run_of(sql):
        if sql.startswith("UPDATE"):
            return lambda: db.execute(sql).rowcount
        return lambda: db.execute(sql, {"filter": filter_blob} if ":filter" in sql else {}).fetchone()[0]
    times = harness.race({name: run_of(sql) for name, sql in contestants.items()}, num_repeats)
    for name, contestant in times.items():
        for repeat, seconds in enumerate(contestant.seconds):
            results.row(what, name, repeat, seconds * 1e9 / num_keys)
    return times


def print_row(name, times, num_keys, base):
    print(f"{name:<{32 if name else 0}}{times.median * 1e9 / num_keys:>12.1f}{times.spread():>8.0%}"
          f"{1 / harness.faster(base, times):>10.2f}")


def main():
    num_keys = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    num_repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    db = harness.connect()
    db.execute("CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB)")
    # Every tenth number, scattered by a multiplier without common factor.
    db.execute("CREATE TABLE big(id INTEGER PRIMARY KEY)")
    db.execute(harness.numbers(FILTER_KEYS) + "INSERT INTO big SELECT 10 * n FROM numbers")
    db.execute("INSERT INTO filters SELECT 'big', bloom_build(id) FROM big")
    for table, count in ("probes", num_keys), ("few_probes", max(1, num_keys // 100)):
        db.execute(f"CREATE TABLE {table}(key INTEGER, seen INTEGER)")
        db.execute(harness.numbers(count) + f"INSERT INTO {table}(key) SELECT n * 7919 % ? FROM numbers",
                   (10 * FILTER_KEYS,))
    db.execute(f"CREATE VIEW opened AS SELECT bloom_open(filter) AS handle {FILTERS}")
    filter_blob = db.execute(STORED).fetchone()[0]
    results = harness.Results("query-forms", ("what", "contestant", "repeat", "ns_per_key"),
                              f"{num_keys} keys, a hundredth of them for `form`; one statement for `once`")

    version = db.execute("SELECT sqlite_version()").fetchone()[0]
    print(f"SQLite {version}, filter of {len(filter_blob):,} bytes, {num_keys:,} keys, {num_repeats} repeats")
    print(f"\n{'bloom_open, kind of query':<32}{'ns a key':>12}{'spread':>8}{'x bound':>10}")
    for kind, sql in KINDS.items():
        times = contest(db, {"bound": sql.format(BOUND), "opened": sql.format(OPENED)},
                        filter_blob, num_keys, num_repeats, results, kind)
        print_row(kind, times["opened"], num_keys, times["bound"])

    num_keys = max(1, num_keys // 100)
    print(f"\n{'form, ' + format(num_keys, ',') + ' keys':<32}{'ns a key':>12}{'spread':>8}{'x bound':>10}")
    times = contest(db, FORMS, filter_blob, num_keys, num_repeats, results, "form")
    for form in FORMS:
        print_row(form, times[form], num_keys, times["bound parameter"])

    for what, forms in ("join", AROUND), ("update", UPDATES):
        print(f"\n{what + ', ' + format(num_keys, ',') + ' keys':<60}{'ns a key':>12}{'spread':>8}{'x none':>10}")
        times = contest(db, forms, filter_blob, num_keys, min(num_repeats, 5), results, what)
        for form in forms:
            print(f"{form:<60}", end="")
            print_row("", times[form], num_keys, times["no filter"])

    db.execute("CREATE TABLE grouped(part INTEGER, key INTEGER)")
    db.execute(harness.numbers(100 * num_keys) + "INSERT INTO grouped SELECT CAST(sqrt(2 * n) AS INTEGER), n FROM numbers")
    num_groups = db.execute(GROUPS.format("10")).fetchone()[0]
    print(f"\n{f'GROUP BY, {100 * num_keys:,} keys in {num_groups:,} groups':<32}{'ns a key':>12}{'spread':>8}{'x bits':>10}")
    times = contest(db, SIZES, filter_blob, 100 * num_keys, num_repeats, results, "group by")
    for form in SIZES:
        print_row(form, times[form], 100 * num_keys, times["14.5 bits"])

    once = contest(db, {"open": f"SELECT {OPENED} IS NULL"}, filter_blob, 1, 51, results, "once")["open"]
    print(f"\nbloom_open, once a statement: {once.median * 1e3:.2f} ms (least {min(once.seconds) * 1e3:.2f})")


if __name__ == "__main__":
    main()
