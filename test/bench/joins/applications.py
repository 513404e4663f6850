#!/usr/bin/python3
"""
The queries that applications send, in the words of their libraries (Django's for the
most part): what a filter gains in each, where it stands in the way, and what to write.

    applications.py [num_visits [num_repeats]]      default: 100,000 and 3

A million customers and their filter of 1.25 MB; of the visits 1 % are by customers.
Integer keys, ANALYZE was run, and all fits in SQLite's cache.  The contestants of one
query must give the same result; `plain` has no filter, and the others are compared
with it.

First whole queries.  Then how many keys a list must have for a filter to pay, what a
statement for one key costs with a filter of 12 MB (with apsw, too, where it is
installed), and building a filter of a column that has duplicates.
"""
import json
import os
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness

try:
    import apsw
except ImportError:
    apsw = None

NUM_CUSTOMERS = 1_000_000
NUM_PARTS = 512  # a filter of 2.4 KB: a row fits its page
LARGE_CAPACITY = 10_000_000  # a filter of 12.5 MB
NUM_PAGES = 1000

KEY = '"app_visit"."visitor_id"'
SUMS = 'SELECT COUNT(*) AS "__count", SUM("app_visit"."seconds") AS "seconds"'
ON = f'ON ({KEY} = "app_customer"."visitor_id")'


def opened(key=KEY, name="customers"):
    return f"bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = '{name}'), {key})"


def bound(key=KEY):
    return f"bloom_may_contain(:filter, {key})"


def in_part(key):
    return (f"(SELECT bloom_may_contain(filter, {key}) FROM parts"
            f" WHERE part = bloom_partition({key}, {NUM_PARTS}))")


def where(condition):
    return f" WHERE {condition}" if condition else ""


def joined(condition="", select=SUMS, table="app_visit", rest=""):
    """The visits of customers; table: the one of their copies that has the index named."""
    return (f'{select} FROM "{table}" AS "app_visit" INNER JOIN "app_customer" {ON}'
            + where(condition) + rest)


def left_joined(condition, table="app_visit", key=KEY):
    return (f'{SUMS} FROM "{table}" AS "app_visit" LEFT OUTER JOIN "app_customer" ON'
            f' ("app_customer"."visitor_id" = {key}){where(condition)}')


def around(view, outside="", inside=""):
    """A join with a view; inside: the condition of the visits within it."""
    return ('SELECT COUNT(*), SUM(v."seconds") FROM (' + view.format(where(inside)) + ') v'
            ' INNER JOIN "app_customer" ON (v."visitor_id" = "app_customer"."visitor_id")' + where(outside))


def around_each_way(view):
    return {"plain": around(view), "filter outside": around(view, opened('v."visitor_id"')),
            "bound, outside": around(view, bound('v."visitor_id"')),
            "filter inside": around(view, inside=opened('"visitor_id"'))}


def exists(outside="", inside="", table="app_visit"):
    return (f'{SUMS} FROM "{table}" AS "app_visit" WHERE {outside} EXISTS(SELECT 1 AS "a" FROM "app_customer" U0'
            f' WHERE (U0."visitor_id" = ({KEY}){inside}) LIMIT 1)')


def by_status(clause, condition="", plus="", limit=""):
    select = 'SELECT "app_visit"."status"' + (", COUNT(*)" if clause == "GROUP" else "")
    return joined(condition, select, "app_visit_by_status", f' {clause} BY {plus}"app_visit"."status"{limit}')


def by_status_each_way(clause, limit=""):
    return {"plain": by_status(clause, limit=limit), "+column": by_status(clause, plus="+", limit=limit),
            "filter": by_status(clause, opened(), limit=limit),
            "filter, +column": by_status(clause, opened(), "+", limit),
            "likelihood(filter)": by_status(clause, f"likelihood({opened()}, 0.01)", limit=limit)}


def in_days(table, condition=""):
    return joined('"app_visit"."day" BETWEEN 100 AND 130' + condition, table=table)


def in_days_each_way(prefix):
    by_day, by_day_and_visitor = f"{prefix}_by_day", f"{prefix}_by_day_and_visitor"
    return {"plain": in_days(by_day), "filter": in_days(by_day, " AND " + opened()),
            "index with key": in_days(by_day_and_visitor),
            "index with key, filter": in_days(by_day_and_visitor, " AND " + opened())}


IN_COUNTRY = '"app_customer"."country" = \'NZ\''  # 5,000 customers, found by an index
CASE = f"CASE WHEN {opened()} THEN {KEY} END"
COUNTRYS = 'SELECT U0."visitor_id" FROM "app_customer" U0 WHERE U0."country" = \'NZ\''
BUILT = f'bloom_may_contain((SELECT bloom_open(bloom_build(U0."visitor_id")) FROM ({COUNTRYS}) U0), {KEY})'


def left_joined_each_way(table):
    return {"plain": left_joined(IN_COUNTRY, table),
            "CASE in the key": left_joined(IN_COUNTRY, table, CASE),
            "filter in WHERE": left_joined(IN_COUNTRY + " AND " + opened(), table)}


def country_each_way(table):
    visits = f'{SUMS} FROM "{table}" AS "app_visit"'
    return {"plain": joined(IN_COUNTRY, table=table),
            "filter": joined(IN_COUNTRY + " AND " + opened(), table=table),
            "filter of that country": joined(IN_COUNTRY + " AND " + BUILT, table=table),
            "IN": f"{visits} WHERE {KEY} IN ({COUNTRYS})",
            "filter, IN": f"{visits} WHERE {opened()} AND {KEY} IN ({COUNTRYS})",
            "index on key, no filter": joined(IN_COUNTRY, table="app_visit_by_visitor")}


def visitors_each_way(table):
    visits = f'FROM "{table}" AS "app_visit"'
    known = 'SELECT "visitor_id" FROM "app_customer"'

    def count(rows):
        return f"SELECT COUNT(*) FROM ({rows}) subquery"

    # The plus keeps IN from driving an index on the key.
    return {"plain": count(joined("", f"SELECT DISTINCT {KEY}", table)),
            "filter": count(joined(opened(), f"SELECT DISTINCT {KEY}", table)),
            "IN": count(f"SELECT DISTINCT {KEY} {visits} WHERE {KEY} IN ({known})"),
            "filter, IN": count(f"SELECT DISTINCT {KEY} {visits} WHERE {opened()} AND {KEY} IN ({known})"),
            "filter, +k IN": count(f"SELECT DISTINCT {KEY} {visits} WHERE {opened()} AND +{KEY} IN ({known})"),
            "filter, EXISTS": count(f"SELECT DISTINCT {KEY} {visits} WHERE {opened()}"
                                    f" AND EXISTS(SELECT 1 FROM app_customer U0 WHERE U0.visitor_id = {KEY})"),
            "INTERSECT": count(f"SELECT {KEY} {visits} INTERSECT {known}")}


def all_customers_each_way(table):
    visits = f'{SUMS} FROM "{table}" AS "app_visit" WHERE '
    known = 'IN (SELECT U0."visitor_id" FROM "app_customer" U0)'
    return {"plain": joined("", table=table), "filter": joined(opened(), table=table), "IN": f"{visits} {KEY} {known}",
            "filter, IN": f"{visits} {opened()} AND {KEY} {known}",
            "filter, +k IN": f"{visits} {opened()} AND +{KEY} {known}",
            "filter, EXISTS": exists(opened() + " AND", table=table)}


LISTED = 'SELECT "app_visit"."id", "app_customer"."name"'
NEWEST = ' ORDER BY "app_visit"."id" DESC LIMIT 21'

QUERIES = {
    "a join": {
        "plain": joined(), "asks c.visitor_id": joined(opened('"app_customer"."visitor_id"')),
        "filter": joined(opened()), "bound": joined(bound())},
    "customers JOIN visits USING (visitor_id)": {
        name: f'{SUMS} FROM "app_customer" JOIN "app_visit" USING ("visitor_id")' + where(condition)
        for name, condition in (("plain", ""), ("asks visitor_id", opened('"visitor_id"')), ("filter", opened()))},
    "the newest 21": {
        "plain": joined("", LISTED, rest=NEWEST), "filter": joined(opened(), LISTED, rest=NEWEST),
        "bound": joined(bound(), LISTED, rest=NEWEST)},
    "WHERE EXISTS": {
        "plain": exists(), "filter inside": exists(inside=" AND " + opened()),
        "bound, inside": exists(inside=" AND " + bound()), "filter outside": exists(opened() + " AND")},
    "a view with GROUP BY": around_each_way(
        'SELECT "visitor_id", SUM("seconds") AS "seconds" FROM "app_visit"{0} GROUP BY "visitor_id"'),
    "a view with DISTINCT": around_each_way('SELECT DISTINCT "visitor_id", "page", "seconds" FROM "app_visit"{0}'),
    "a view with UNION": around_each_way(
        'SELECT "visitor_id", "seconds" FROM "app_visit"{0} UNION SELECT "visitor_id", "seconds" FROM "app_call"{0}'),
    "LEFT JOIN, right table in WHERE": left_joined_each_way("app_visit"),
    "LEFT JOIN, right table in WHERE, index on key": left_joined_each_way("app_visit_by_visitor"),
    "GROUP BY an indexed column": by_status_each_way("GROUP"),
    "ORDER BY an indexed column": by_status_each_way("ORDER"),
    "ORDER BY an indexed column LIMIT 21": by_status_each_way("ORDER", " LIMIT 21"),
    "a range of an index, rows in any order": in_days_each_way("app_visit"),
    "a range of an index, rows in its order": in_days_each_way("app_log"),
    "customers of one country": country_each_way("app_visit"),
    "customers of one country, index on key": country_each_way("app_visit_by_visitor"),
    "all customers": all_customers_each_way("app_visit"),
    "all customers, index on key": all_customers_each_way("app_visit_by_visitor"),
    "which customers": visitors_each_way("app_visit"),
    "which customers, index on key": visitors_each_way("app_visit_by_visitor"),
}

COLUMNS = ("(id INTEGER PRIMARY KEY, visitor_id INTEGER, status INTEGER, day INTEGER,"
           " seconds INTEGER, page TEXT)")
COPIES = {  # of the visits, in their order or in that of their days: the index
    "app_visit_by_visitor": ("id", "visitor_id"),
    "app_visit_by_status": ("id", "status"),
    "app_visit_by_day": ("id", "day"),
    "app_visit_by_day_and_visitor": ("id", "day, visitor_id"),
    "app_log_by_day": ("day", "day"),
    "app_log_by_day_and_visitor": ("day", "day, visitor_id"),
}


def fill(db):
    db.execute("CREATE TABLE app_customer(visitor_id INTEGER PRIMARY KEY, name TEXT, country TEXT)")
    db.execute(harness.numbers(NUM_CUSTOMERS) + "INSERT INTO app_customer SELECT 2 * n, 'name of ' || n,"
               " CASE n % 200 WHEN 7 THEN 'NZ' ELSE 'country ' || (n % 200) END FROM numbers")
    db.execute("CREATE INDEX app_customer_country ON app_customer(country)")
    db.execute("CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB)")
    db.execute("INSERT INTO filters SELECT 'customers', bloom_build(visitor_id) FROM app_customer")
    db.execute(f"INSERT INTO filters SELECT 'large', bloom_build(visitor_id, 10, {LARGE_CAPACITY}) FROM app_customer")
    db.execute("CREATE TABLE parts(part INTEGER PRIMARY KEY, filter BLOB)")
    db.execute(f"INSERT INTO parts SELECT bloom_partition(visitor_id, {NUM_PARTS}), bloom_build(visitor_id)"
               " FROM app_customer GROUP BY 1")
    db.execute("CREATE VIRTUAL TABLE customer_filter USING bloom(app_customer, visitor_id)")
    db.execute("CREATE TABLE app_visit" + COLUMNS)
    # A minimal standard generator [Park, Miller 1988] picks the keys; even ones match.
    db.execute(f"""
        WITH RECURSIVE random(n, r) AS (
          SELECT 1, 20201 UNION ALL SELECT n + 1, r * 48271 % 2147483647 FROM random LIMIT {num_visits})
        INSERT INTO app_visit SELECT n, 2 * (r % {NUM_CUSTOMERS} + 1) - (n % 100 <> 1), r / 13 % 50, r / 17 % 365,
          r / 11 % 1000, '/articles/' || (r / 7 % {NUM_PAGES}) FROM random""")
    db.execute("CREATE TABLE app_call AS SELECT * FROM app_visit WHERE id % 2")
    for copy, (order, index) in COPIES.items():
        db.execute(f"CREATE TABLE {copy}{COLUMNS}")
        db.execute(f"INSERT INTO {copy} SELECT row_number() OVER (ORDER BY {order}), visitor_id, status, day, seconds, page"
                   " FROM app_visit")
        db.execute(f"CREATE INDEX {copy}_index ON {copy}({index})")
    db.execute("ANALYZE")


num_visits = int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000
num_repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 3
path = harness.database(f"applications-{num_visits}", fill)
db = harness.connect(path, 1024)
results = harness.Results("applications", ["query", "contestant", "repeat", "seconds"], f"{num_visits} visits")


def filter_of(name):
    return db.execute("SELECT filter FROM filters WHERE name = ?", (name,)).fetchone()[0]


def compete(what, contestants):
    """Times them, and prints a line for each; seconds are those of one run."""
    times = harness.race(contestants, num_repeats)
    results.race(times, what)
    for name, its in times.items():
        print(f"{what if name == 'plain' else '':<48}{name:<26}{its.median * 1e3:>10.4g}"
              f"{harness.faster(times['plain'], its):>10.3g}x{100 * its.spread():>7.0f} %", flush=True)


def run_of(sql, parameters):
    return lambda: db.execute(sql, parameters).fetchall()


def for_each(execute, sql, *more):
    """A statement for each of some keys."""
    return lambda: sum(execute(sql, (key, *more)).fetchone()[0] for key in keys[:30])


print(f"SQLite {sqlite3.sqlite_version}, {num_visits:,} visits, medians of {num_repeats} runs in turns")
print(f"{'query':<48}{'':<26}{'ms':>10}{'times':>11}{'spread':>9}")
for what, contestants in QUERIES.items():
    compete(what, {name: run_of(sql, {"filter": filter_of("customers")} if ":filter" in sql else ())
                   for name, sql in contestants.items()})

# -- Lists of keys

IS_CUSTOMER = "EXISTS(SELECT 1 FROM app_customer WHERE visitor_id = {})"
EACH = f"SELECT COUNT(*) FROM json_each(?1) WHERE {{}} AND {IS_CUSTOMER.format('value')}"
keys = [key for key, in db.execute("SELECT visitor_id FROM app_visit LIMIT 10000")]
for num_keys in (20, 100, 500, 1000, 2000, 10000):
    listed = keys[:num_keys]
    IN_LIST = f"SELECT COUNT(*) FROM app_customer WHERE visitor_id IN ({', '.join('?' * num_keys)})"
    as_json = (json.dumps(listed),)
    compete(f"a list of {num_keys} keys", {
        "plain": run_of(IN_LIST, listed), "IN (?, ...) AND filter": run_of(f"{IN_LIST} AND {opened('visitor_id')}", listed),
        "json_each(?)": run_of(EACH.format("1"), as_json), "json_each(?), filter": run_of(EACH.format(opened("value")), as_json)})

# -- One key a statement, a filter of 12 MB

large = filter_of("large")
ONE = "SELECT {} AND " + IS_CUSTOMER.format("?1")
one_key = {
    "plain": for_each(db.execute, ONE.format("1")),
    "bound": for_each(db.execute, ONE.format("bloom_may_contain(?2, ?1)"), large),
    "bloom_open": for_each(db.execute, ONE.format(opened("?1", "large"))),
    "partitions": for_each(db.execute, ONE.format(in_part("?1"))),
    "virtual table": for_each(db.execute, ONE.format("EXISTS(SELECT 1 FROM customer_filter(?1))")),
}
if apsw and apsw.sqlitelibversion() == sqlite3.sqlite_version:
    other = apsw.Connection(path)
    other.enableloadextension(True)
    other.loadextension(harness.EXTENSION)
    other.cursor().execute("PRAGMA cache_size = -1000000")
    one_key["plain, apsw"] = for_each(other.cursor().execute, ONE.format("1"))
    one_key["bound, apsw"] = for_each(other.cursor().execute, ONE.format("bloom_may_contain(?2, ?1)"), large)
compete("30 statements of one key, filter of 12 MB", one_key)
for num_keys in (100, 1000):
    as_json = json.dumps(keys[:num_keys])
    compete(f"one statement of {num_keys} keys, filter of 12 MB", {
        "plain": run_of(EACH.format("1"), (as_json,)),
        "bound": run_of(EACH.format("bloom_may_contain(?2, value)"), (as_json, large)),
        "bloom_open": run_of(EACH.format(opened("value", "large")), (as_json,)),
        "partitions": run_of(EACH.format(in_part("value")), (as_json,))})

# -- Building a filter of a column that has duplicates

for column, num_different in ("visitor_id", num_visits), ("page", NUM_PAGES):
    known = db.execute(f"SELECT {column} FROM app_visit LIMIT 1").fetchone()
    for indexed in (False, True):
        table = "app_visit"
        if indexed:
            table = "temp.app_visit_of"
            db.execute(f"CREATE TEMP TABLE app_visit_of AS SELECT {column} FROM app_visit")
            db.execute(f"CREATE INDEX temp.app_visit_of_column ON app_visit_of({column})")
        compete(f"building of {column}{', indexed' if indexed else ''}", {
            name: run_of(f"SELECT bloom_may_contain({build}, ?1) FROM {rows}", known) for name, build, rows in (
                ("plain", f"bloom_build(DISTINCT {column})", table),
                ("GROUP BY", f"bloom_build({column})", f"(SELECT {column} FROM {table} GROUP BY {column})"),
                ("capacity", f"bloom_build({column}, 10, {num_different})", table),
                ("duplicates and all", f"bloom_build({column})", table))})
        db.execute("DROP TABLE IF EXISTS temp.app_visit_of")
