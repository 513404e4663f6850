#!/usr/bin/python3
"""
The Star Schema Benchmark's 13 queries, plain and with filters.

A fact table (lineorder) and four dimensions (date, customer, supplier, part),
generated in the shape that P. O'Neil, E. O'Neil and X. Chen published ("Star
Schema Benchmark", 2009) at scale factor 1: 6 million facts.  `medium` has a
quarter of the facts, `quick` a twentieth; the dimensions keep their size, so the
filters, which the queries build, cost them more for each row than at full size.
Values are drawn by a small random generator.  The columns
that no query reads are left out, but for a comment that fills the rows to their
usual length.  Keys are of three kinds:

  integer  as published
  text     sequential, with zeros, as the benchmark's names are: customer-0001234
  hex      16 hexadecimal digits without order, as in UUIDs

The last two differ because SQLite's own filter, since it hashes text at all,
adds up the first and the last 8 bytes: sequential string keys collide in it.

A filter is built by the query itself from each dimension that keeps at most
half of its rows; `hinted` has unlikely() around each, which tells SQLite to expect
few rows; `parquet` builds them in Parquet's encoding.  All results are compared with the plain query's.  SQLite's own
Bloom filters take part only where ANALYZE was run: measured with it, and for
integer keys without it too.

    star.py quick|medium|full [integer|text|hex [QUERY ...]]      for example: full text 3.1
"""
import datetime
import os
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness

SIZES = {"quick": (300_000, 2), "medium": (1_500_000, 3), "full": (6_000_000, 5)}  # lineorder rows, repeats
NUM_CUSTOMERS, NUM_SUPPLIERS, NUM_PARTS = 30_000, 2_000, 200_000

REGIONS = {
    "AFRICA": ["ALGERIA", "ETHIOPIA", "KENYA", "MOROCCO", "MOZAMBIQUE"],
    "AMERICA": ["ARGENTINA", "BRAZIL", "CANADA", "PERU", "UNITED STATES"],
    "ASIA": ["CHINA", "INDIA", "INDONESIA", "JAPAN", "VIETNAM"],
    "EUROPE": ["FRANCE", "GERMANY", "ROMANIA", "RUSSIA", "UNITED KINGDOM"],
    "MIDDLE EAST": ["EGYPT", "IRAN", "IRAQ", "JORDAN", "SAUDI ARABIA"],
}
NATIONS = [(nation, region) for region, nations in REGIONS.items() for nation in nations]

KEY_COLUMNS = {"date": ("d_datekey", "lo_orderdate"), "customer": ("c_custkey", "lo_custkey"),
               "supplier": ("s_suppkey", "lo_suppkey"), "part": ("p_partkey", "lo_partkey")}

# name, columns, conditions on lineorder, {dimension: (condition, share of its rows that pass)},
# grouping.  A dimension is joined if it is named here.
QUERIES = [
    ("1.1", "sum(lo_extendedprice * lo_discount)", "lo_discount BETWEEN 1 AND 3 AND lo_quantity < 25",
     {"date": ("d_year = 1993", 1/7)}, ""),
    ("1.2", "sum(lo_extendedprice * lo_discount)", "lo_discount BETWEEN 4 AND 6 AND lo_quantity BETWEEN 26 AND 35",
     {"date": ("d_yearmonthnum = 199401", 1/84)}, ""),
    ("1.3", "sum(lo_extendedprice * lo_discount)", "lo_discount BETWEEN 5 AND 7 AND lo_quantity BETWEEN 26 AND 35",
     {"date": ("d_weeknuminyear = 6 AND d_year = 1994", 1/364)}, ""),
    ("2.1", "sum(lo_revenue), d_year, p_brand1", "",
     {"date": ("", 1), "part": ("p_category = 'MFGR#12'", 1/25), "supplier": ("s_region = 'AMERICA'", 1/5)},
     "GROUP BY d_year, p_brand1 ORDER BY d_year, p_brand1"),
    ("2.2", "sum(lo_revenue), d_year, p_brand1", "",
     {"date": ("", 1), "part": ("p_brand1 BETWEEN 'MFGR#2221' AND 'MFGR#2228'", 1/125),
      "supplier": ("s_region = 'ASIA'", 1/5)},
     "GROUP BY d_year, p_brand1 ORDER BY d_year, p_brand1"),
    ("2.3", "sum(lo_revenue), d_year, p_brand1", "",
     {"date": ("", 1), "part": ("p_brand1 = 'MFGR#2221'", 1/1000), "supplier": ("s_region = 'EUROPE'", 1/5)},
     "GROUP BY d_year, p_brand1 ORDER BY d_year, p_brand1"),
    ("3.1", "c_nation, s_nation, d_year, sum(lo_revenue) AS revenue", "",
     {"customer": ("c_region = 'ASIA'", 1/5), "supplier": ("s_region = 'ASIA'", 1/5),
      "date": ("d_year BETWEEN 1992 AND 1997", 6/7)},
     "GROUP BY c_nation, s_nation, d_year ORDER BY d_year, revenue DESC"),
    ("3.2", "c_city, s_city, d_year, sum(lo_revenue) AS revenue", "",
     {"customer": ("c_nation = 'UNITED STATES'", 1/25), "supplier": ("s_nation = 'UNITED STATES'", 1/25),
      "date": ("d_year BETWEEN 1992 AND 1997", 6/7)},
     "GROUP BY c_city, s_city, d_year ORDER BY d_year, revenue DESC"),
    ("3.3", "c_city, s_city, d_year, sum(lo_revenue) AS revenue", "",
     {"customer": ("c_city IN ('UNITED KI1', 'UNITED KI5')", 1/125),
      "supplier": ("s_city IN ('UNITED KI1', 'UNITED KI5')", 1/125),
      "date": ("d_year BETWEEN 1992 AND 1997", 6/7)},
     "GROUP BY c_city, s_city, d_year ORDER BY d_year, revenue DESC"),
    ("3.4", "c_city, s_city, d_year, sum(lo_revenue) AS revenue", "",
     {"customer": ("c_city IN ('UNITED KI1', 'UNITED KI5')", 1/125),
      "supplier": ("s_city IN ('UNITED KI1', 'UNITED KI5')", 1/125),
      "date": ("d_yearmonth = 'Dec1997'", 1/84)},
     "GROUP BY c_city, s_city, d_year ORDER BY d_year, revenue DESC"),
    ("4.1", "d_year, c_nation, sum(lo_revenue - lo_supplycost) AS profit", "",
     {"date": ("", 1), "customer": ("c_region = 'AMERICA'", 1/5), "supplier": ("s_region = 'AMERICA'", 1/5),
      "part": ("p_mfgr IN ('MFGR#1', 'MFGR#2')", 2/5)},
     "GROUP BY d_year, c_nation ORDER BY d_year, c_nation"),
    ("4.2", "d_year, s_nation, p_category, sum(lo_revenue - lo_supplycost) AS profit", "",
     {"date": ("d_year IN (1997, 1998)", 2/7), "customer": ("c_region = 'AMERICA'", 1/5),
      "supplier": ("s_region = 'AMERICA'", 1/5), "part": ("p_mfgr IN ('MFGR#1', 'MFGR#2')", 2/5)},
     "GROUP BY d_year, s_nation, p_category ORDER BY d_year, s_nation, p_category"),
    ("4.3", "d_year, s_city, p_brand1, sum(lo_revenue - lo_supplycost) AS profit", "",
     {"date": ("d_year IN (1997, 1998)", 2/7), "customer": ("c_region = 'AMERICA'", 1/5),
      "supplier": ("s_nation = 'UNITED STATES'", 1/25), "part": ("p_category = 'MFGR#14'", 1/25)},
     "GROUP BY d_year, s_city, p_brand1 ORDER BY d_year, s_city, p_brand1"),
]


def filter_condition(dimension, condition, encoding):
    """The fact row's key may be one of the dimension's rows that pass."""
    key, foreign_key = KEY_COLUMNS[dimension]
    return (f"bloom_may_contain((SELECT bloom_open(bloom_build({key}, '{encoding}')) FROM {dimension} WHERE {condition}),"
            f" {foreign_key})")


def plain_sql(columns, facts, dimensions, grouping):
    conditions = [facts] + [condition for condition, _ in dimensions.values()]
    conditions += ["{} = {}".format(*KEY_COLUMNS[dimension]) for dimension in dimensions]
    return (f"SELECT {columns} FROM lineorder, {', '.join(dimensions)}"
            f" WHERE {' AND '.join(filter(None, conditions))} {grouping}")


def filtered_sql(columns, facts, dimensions, grouping, hint="{}", encoding="leveldb"):
    """Cheap comparisons first, then the filters, the most selective one first; hint: around each."""
    chosen = sorted((share, dimension) for dimension, (_, share) in dimensions.items() if share <= 0.5)
    filters = [hint.format(filter_condition(dimension, dimensions[dimension][0], encoding)) for _, dimension in chosen]
    return plain_sql(columns, " AND ".join(filter(None, [facts] + filters)), dimensions, grouping)


def filler(key_type, num_facts):
    def key(kind, number):
        """The SQL of a key from that of a number; a date's number is YYYYMMDD."""
        if key_type == "integer":
            return number
        if key_type == "hex":
            # Multiplied by odd numbers modulo 2^32: different for different numbers.
            return f"printf('%08x%08x', ({number}) * 2654435761 % 4294967296, ({number}) * 1540483477 % 4294967296)"
        template = {"date": "%08d", "customer": "customer-%07d", "supplier": "supplier-%07d", "part": "part-%011d"}
        return f"printf('{template[kind]}', {number})"

    def fill(db):
        t = "INTEGER" if key_type == "integer" else "TEXT"
        db.execute(f"CREATE TABLE date(d_datekey {t} PRIMARY KEY, d_year INTEGER, d_yearmonthnum INTEGER,"
                   " d_yearmonth TEXT, d_weeknuminyear INTEGER)")
        db.execute(f"CREATE TABLE customer(c_custkey {t} PRIMARY KEY, c_name TEXT, c_city TEXT, c_nation TEXT, c_region TEXT)")
        db.execute(f"CREATE TABLE supplier(s_suppkey {t} PRIMARY KEY, s_name TEXT, s_city TEXT, s_nation TEXT, s_region TEXT)")
        db.execute(f"CREATE TABLE part(p_partkey {t} PRIMARY KEY, p_name TEXT, p_mfgr TEXT, p_category TEXT, p_brand1 TEXT)")
        db.execute(f"CREATE TABLE lineorder(lo_orderkey INTEGER, lo_linenumber INTEGER, lo_custkey {t}, lo_partkey {t},"
                   f" lo_suppkey {t}, lo_orderdate {t}, lo_quantity INTEGER, lo_extendedprice INTEGER,"
                   " lo_discount INTEGER, lo_revenue INTEGER, lo_supplycost INTEGER, lo_comment TEXT)")
        day = datetime.date(1992, 1, 1)
        while day.year < 1999:
            db.execute(f"INSERT INTO date VALUES ({key('date', '?1')}, ?2, ?3, ?4, ?5)", (
                int(day.strftime("%Y%m%d")), day.year, day.year * 100 + day.month,
                day.strftime("%b%Y"), (day.timetuple().tm_yday - 1) // 7 + 1))
            day += datetime.timedelta(1)
        for table, count in (("customer", NUM_CUSTOMERS), ("supplier", NUM_SUPPLIERS)):
            for i in range(1, count + 1):
                nation, region = NATIONS[i * 7919 % 25]
                city = f"{nation:<9.9}{i * 7919 // 25 % 10}"
                db.execute(f"INSERT INTO {table} VALUES ({key(table, '?1')}, ?2, ?3, ?4, ?5)",
                           (i, f"{table.capitalize()}#{i:09}", city, nation, region))
        for i in range(1, NUM_PARTS + 1):
            brand = i * 7919 % 1000
            category = f"MFGR#{brand // 200 + 1}{brand // 40 % 5 + 1}"
            db.execute(f"INSERT INTO part VALUES ({key('part', '?1')}, ?2, ?3, ?4, ?5)",
                       (i, f"part number {i}", category[:6], category, f"{category}{brand % 40 + 1}"))
        # An order has 1 to 7 lines, of one customer and date.  Each column is drawn by a minimal
        # standard generator of its own [Park, Miller 1988].
        db.execute(f"""
            WITH RECURSIVE
            line(n, orderkey, number, last, c, d, p, s, q, x) AS (
              SELECT 1, 1, 1, 4, 11, 2222, 333333, 44444444, 55555, 66666666 UNION ALL
              SELECT n + 1, orderkey + (number = last), CASE WHEN number = last THEN 1 ELSE number + 1 END,
                CASE WHEN number = last THEN 1 + d % 7 ELSE last END,
                CASE WHEN number = last THEN c * 48271 % 2147483647 ELSE c END,
                CASE WHEN number = last THEN d * 16807 % 2147483647 ELSE d END,
                p * 48271 % 2147483647, s * 69621 % 2147483647, q * 16807 % 2147483647, x * 39373 % 2147483647
              FROM line LIMIT {num_facts})
            INSERT INTO lineorder SELECT orderkey, number, {key("customer", f"c % {NUM_CUSTOMERS} + 1")},
              {key("part", f"p % {NUM_PARTS} + 1")}, {key("supplier", f"s % {NUM_SUPPLIERS} + 1")},
              {key("date", "CAST(strftime('%Y%m%d', 694224000 + 86400 * (d / 7 % 2406), 'unixepoch') AS INTEGER)")},
              q % 50 + 1, (q % 50 + 1) * (90000 + p % 20001), x / 7 % 11,
              (q % 50 + 1) * (90000 + p % 20001) * (100 - x / 7 % 11) / 100, 54000 + x % 12001,
              '2-HIGH 0 TRUCK 19970102 4'
            FROM line""")
        db.execute("ANALYZE")

    return fill


def measure(results, size, key_type, analyzed, chosen):
    num_facts, repeats = SIZES[size]
    path = harness.database(f"star-{key_type}-{num_facts}", filler(key_type, num_facts))
    state = "ANALYZE" if analyzed else "no ANALYZE"
    db = harness.connect(path, 2048)
    if not analyzed:
        # Never committed: the statistics are gone for this connection alone.
        db.executescript("BEGIN; DELETE FROM sqlite_stat1; ANALYZE sqlite_schema;")
    total = {"plain": 0, "filtered": 0, "hinted": 0, "parquet": 0}
    print(f"\n{key_type} keys, {state}, {num_facts:,} facts\n{'query':<7}{'plain':>9}{'filtered':>10}{'hinted':>8}{'parquet':>8} ms{'faster':>9}{'hinted':>9}{'parquet':>9}{'spread':>9}")
    for name, *query in QUERIES:
        if chosen and name not in chosen:
            continue
        forms = {"plain": plain_sql(*query), "filtered": filtered_sql(*query),
                 "hinted": filtered_sql(*query, "unlikely({})"), "parquet": filtered_sql(*query, encoding="parquet")}
        times = harness.race({form: lambda sql=sql: db.execute(sql).fetchall() for form, sql in forms.items()}, repeats)
        if not times["plain"].result or times["plain"].result[0][0] is None:
            sys.exit(f"{name} gives no rows: the data is wrong")
        results.race(times, key_type, state, name)
        for contestant, t in times.items():
            total[contestant] += t.median
        print(f"Q{name:<6}{times['plain'].median * 1e3:>9.0f}{times['filtered'].median * 1e3:>10.0f}"
              f"{times['hinted'].median * 1e3:>8.0f}{times['parquet'].median * 1e3:>8.0f}{harness.faster(times['plain'], times['filtered']):>11.2f}x"
              f"{harness.faster(times['plain'], times['hinted']):>8.2f}x{harness.faster(times['plain'], times['parquet']):>8.2f}x"
              f"{100 * max(t.spread() for t in times.values()):>7.0f} %", flush=True)
    print(f"{'total':<7}{total['plain'] * 1e3:>9.0f}{total['filtered'] * 1e3:>10.0f}{total['hinted'] * 1e3:>8.0f}"
          f"{total['parquet'] * 1e3:>8.0f}{total['plain'] / total['filtered']:>11.2f}x{total['plain'] / total['hinted']:>8.2f}x"
          f"{total['plain'] / total['parquet']:>8.2f}x", flush=True)
    db.close()


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in SIZES:
        sys.exit("usage: star.py quick|medium|full [integer|text|hex [QUERY ...]]")
    size, chosen = sys.argv[1], sys.argv[3:]
    key_types = sys.argv[2:3] or (["text", "integer"] if size == "quick" else ["text", "hex", "integer"])
    print(f"SQLite {sqlite3.sqlite_version}, star schema, medians of {SIZES[size][1]} runs in turns")
    results = harness.Results("star", ["keys", "statistics", "query", "contestant", "repeat", "seconds"],
                              f"{SIZES[size][0]} rows in lineorder; cache: 2048 MB", keep=not sys.argv[2:])
    for key_type in key_types:
        measure(results, size, key_type, True, chosen)
    if "integer" in key_types:
        measure(results, size, "integer", False, chosen)


if __name__ == "__main__":
    main()
