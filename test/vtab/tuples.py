"""Keys of several columns, at random: whatever SQLite's own `a = ? AND b = ?` finds, the filter may contain.

Tables have columns of all affinities and collations, and values that are equal in many forms. They are looked for by
FROM f(x, y), by key = bloom_tuple(x, y) and by handle, as parameters and as columns of all affinities.
$BLOOM_TEST_SEED draws the same again.
"""
import base64
import os
import itertools
import random
import sqlite3
import sys
import time
import zlib

from cases import command, each, execute, expect, fails, filtered, main, one, test

SEED = int(os.environ.get("BLOOM_TEST_SEED") or (time.time() if "--slow" in sys.argv else 5))
TYPES = ["", "TEXT", "REAL", "NUMERIC", "INTEGER", "BLOB", "ANY", "DATE"]
COLLATIONS = ["", "", "COLLATE NOCASE", "COLLATE RTRIM"]
NUMBERS = [0, -0.0, 1, 1.0, -1, 2.5, 1e15, 10**15, 1e15 + 2, 9007199254740991, 9007199254740991.0, 9007199254740993, 2**53, 1e18, 10**18,
           1234567890123456789, 1234567890123456789.0, 1.2345678901234567e18, 2**63 - 1, -2**63, -2.0**63, 2.0**63, 0.1, 0.1 + 0.2, 0.3, 1 / 3, 1e100,
           1e-300, 123456789.123456789]
TEXTS = ["", "a", "A", "a ", "A  ", "é", "É", "x\0y", "X\0z", "1", "01", "1.0", " 1", "1 ", "+1", "1e0", "-0", "0.0", "2.5", "2.50", "1e15", "1.0e+15",
         "1000000000000000", "1000000000000002", "9007199254740991", "9.00719925474099e+15", "9007199254740991.0", "9007199254740993", "1e18", "1.0e+18",
         "1000000000000000000", "1234567890123456789", "1.23456789012346e+18", "1234567890123456789.0", "1.2345678901234567e18", "9223372036854775807",
         "-9223372036854775808", "9223372036854775808", "9.22337203685478e+18", "0.1", "0.30000000000000004", "0.3", "0.333333333333333",
         "0.3333333333333333", "1e100", "1.0e+100", "1e-300", "123456789.12345679", "abc", "ABC", "0x10"]
# Numbers that have many hashes, equal ones in many forms.
MANY = [1e17, 10**17, "1e17", "1.0e+17", "100000000000000000", "1e17\0x", 8944501234567890123, "8944501234567890123", "89445012345678901234",
        89445012345678901234.0, "8.94450123456789e+19", float("inf"), -float("inf"), "Inf", "-inf", "inf ", "1e999", "-1e999", "5\0x", 5, "5", 5.0, "5.0",
        "0" * 200 + "1", "1", 2.9999999999999996, 3.0, "3.0", "3", 671190997896998.5, "671190997896998.0", 5e-324, "4.94065645841247e-324", -0.0, "0.0",
        2**63 - 1, "9223372036854775807", "9223372036854775808", 2.0**63, 2**40, 2**40 + 0.5, "1099511627776.5"]
BLOBS = [b"", b"a", b"1", b"1.0", b"\0\1"]


def value(random_):
    if random_.many:
        return random_.choice(MANY) if random_.random() < 0.95 else random_.choice(TEXTS)
    kind = random_.randrange(12)
    if kind == 0:
        return None
    if kind < 5:
        return random_.choice(NUMBERS)
    if kind == 5:
        return random_.choice(NUMBERS) * random_.choice((1, 1.0, 0.5)) if random_.random() < 0.5 else random_.randrange(-9, 9)
    return random_.choice(BLOBS) if kind == 6 else random_.choice(TEXTS)


def integer(text):
    """The 64-bit integer of a text."""
    number = int(text)
    if not -2**63 <= number < 2**63:
        raise OverflowError
    return number


def as_value(random_, value_):
    """A value that may be equal, in another form."""
    if isinstance(value_, (int, float)) and random_.random() < 0.5:
        return random_.choice((str, repr, float, lambda x: "%.15g" % x, lambda x: "%.17g" % x, lambda x: " %r " % x))(value_)
    if isinstance(value_, str) and random_.random() < 0.5:
        try:
            return random_.choice((str.upper, str.lower, lambda x: x + "  ", float, integer))(value_)
        except (ValueError, OverflowError):
            pass
    return value_


class Database(sqlite3.Connection):
    schema = ""


def names(prefix, number):
    return ["%s%d" % (prefix, i) for i in range(number)]


def joined(texts, glue=", "):
    return glue.join(texts)


def lost(db, cs, xs, wanted):
    """How many rows of `wanted` SQLite finds in t, and how many of these each way to look for them misses."""
    equal = "EXISTS (SELECT 1 FROM t WHERE %s)" % joined(("t.%s = o.%s" % each for each in zip(cs, xs)), " AND ")
    values = joined("o.%s" % x for x in xs)
    ways = ("EXISTS (SELECT 1 FROM f(%s))" % values, "EXISTS (SELECT 1 FROM f WHERE key = bloom_tuple(%s))" % values,
            "bloom_may_contain((SELECT handle FROM f), bloom_tuple(%s))" % values)
    found = one(db, "SELECT count(*) FROM %s AS o WHERE %s" % (wanted, equal))
    for way in ways:
        missed = db.execute("SELECT * FROM %s AS o WHERE %s AND NOT %s" % (wanted, equal, way)).fetchall()
        assert not missed, "%s misses %r; t is %s; columns of %s" % (way, missed[0], db.schema, wanted)
    return found


def lost_parameters(db, cs, rows):
    equal = "EXISTS (SELECT 1 FROM t WHERE %s)" % joined(("t.%s = ?%d" % (c, i + 1) for i, c in enumerate(cs)), " AND ")
    marks = joined("?%d" % (i + 1) for i in range(len(cs)))
    query = "SELECT %s, EXISTS (SELECT 1 FROM f(%s)), EXISTS (SELECT 1 FROM f WHERE key = bloom_tuple(%s)), bloom_may_contain((SELECT handle FROM f), bloom_tuple(%s))" % (
        equal, marks, marks, marks)
    found = 0
    for row in rows:
        answer = db.execute(query, row).fetchone()
        assert not answer[0] or answer[1:] == (1, 1, 1), "%r of %r; t is %s" % (answer, row, db.schema)
        found += answer[0]
    return found


@each([(SEED + i, i >= 15) for i in range(25)])
def against_equality(files, seed, many):
    random_ = random.Random(seed)
    random_.many = many
    db = files.connect(factory=Database)
    if random_.random() < 0.2:
        db.execute("PRAGMA encoding = 'UTF-16'")
    number = random_.choice((4, 5, 7, 8) if many else (2, 2, 2, 3, 4, 5))
    cs, xs = names("c", number), names("x", number)
    types = [(random_.choice(TYPES), random_.choice(COLLATIONS)) for _ in cs]
    db.schema = joined("%s %s %s" % (c, type_, collation) for c, (type_, collation) in zip(cs, types))
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, %s)" % db.schema)
    rows = [[value(random_) for _ in cs] for _ in range(random_.choice((5, 60)))]
    insert = "INSERT INTO t(%s) VALUES (%s)" % (joined(cs), joined("?" for _ in cs))
    db.executemany(insert, rows[:len(rows) // 2])
    db.execute("CREATE VIRTUAL TABLE f USING bloom(t, (%s))" % joined(cs))
    assert "every key" not in (one(db, "SELECT note FROM f") or "")
    db.executemany(insert, rows[len(rows) // 2:])
    for _ in range(6):
        db.execute("UPDATE t SET %s = ? WHERE id %% 7 = ?" % random_.choice(cs), (value(random_), random_.randrange(7)))
    db.execute("DELETE FROM t WHERE id % 11 = 5")
    found = 0
    for phase in "merge", "rebuild", "rebuilt":
        stored = db.execute("SELECT %s FROM t" % joined(cs)).fetchall()
        wanted = [[as_value(random_, each) for each in random_.choice(stored)] if random_.random() < 0.8 else
                 [random_.choice(stored)[i] for i in range(number)] for _ in range(150)]
        found += lost_parameters(db, cs, wanted)
        for kind in "any", "typed":
            db.execute("DROP TABLE IF EXISTS other")
            db.execute("CREATE TABLE other(%s)" % joined("%s %s" % (x, random_.choice(TYPES) if kind == "typed" else "") for x in xs))
            db.executemany("INSERT INTO other VALUES (%s)" % joined("?" for _ in xs), wanted)
            found += lost(db, cs, xs, "other")
        found += lost(db, cs, xs, "(SELECT %s FROM t)" % joined("+%s COLLATE BINARY AS %s" % each for each in zip(cs, xs)))
        command(db, "f", "integrity-check")
        if phase != "rebuilt":
            command(db, "f", phase)
    assert found > 0 or len(rows) < 10, "nothing is ever equal"


@each(["UTF-8", "UTF-16le", "UTF-16be"])
def halves_of_characters(files, encoding):
    """Texts that SQLite cannot make UTF-8 of and UTF-16 again, and those that begin with a byte-order mark, beside
    a REAL, of which only SQLite knows the keys."""
    db = files.connect(factory=Database)
    execute(db, "PRAGMA encoding = '%s'" % encoding, "CREATE TABLE t(a TEXT, b)",
            "CREATE VIRTUAL TABLE f USING bloom(t, (a, b))")
    for units in itertools.product("\ufeff \ufffe \uffff \ud800 \udbff \udc00 \udfff 1 a \0".split(" "), repeat=2):
        text = "".join(units).encode(encoding, "surrogatepass").hex()
        db.execute("INSERT INTO t VALUES (CAST(x'%s' AS TEXT), 2.5), (CAST(x'%s' AS TEXT), 1 << 60)" % (text, text))
    for _ in range(2):
        found = lost(db, ["a", "b"], ["a", "b"], "(SELECT a, b FROM t)")
        expect(found, 200)
        command(db, "f", "rebuild")


@test
def absent_tuples_are_ruled_out(files):
    """The filter is of use: of pairs whose parts are there, but not together, it rules out nearly all."""
    for types in ("INTEGER", "INTEGER"), ("TEXT COLLATE NOCASE", "INTEGER"), ("REAL", "TEXT"), ("", "TEXT"), ("", "", "TEXT", "INTEGER", "BLOB"):
        db = files.connect(":memory:")
        cs = names("c", len(types))
        db.execute("CREATE TABLE t(%s)" % joined("%s %s" % each for each in zip(cs, types)))
        db.execute("CREATE VIRTUAL TABLE f USING bloom(t, (%s))" % joined(cs))
        more = joined(("0",) * (len(cs) - 2))
        series = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) "
        db.execute("INSERT INTO t %sSELECT i, i * 2%s FROM n" % (series, more and ", " + more))
        for way in "EXISTS (SELECT 1 FROM f(i, i * 2 + 1%s))", "bloom_may_contain((SELECT handle FROM f), bloom_tuple(i, i * 2 + 1%s))":
            num_maybe = one(db, "%sSELECT count(*) FROM n WHERE %s" % (series, way % (more and ", " + more)))
            assert num_maybe < 150, "%r: %d of 2000 absent pairs may be in it" % (types, num_maybe)


# A key, and two that are absent: of texts, and of other numbers.
SIM_CARDS = ["8944501234567890%03d" % i for i in range(7)]
MANY_NUMBERS = {
    "four exponents": ("TEXT", ["1e17", "2e17", "3e17", "4e17"], ["1e17", "2e17", "3e17", "5e17"]),
    "seven SIM cards of 19 digits": ("TEXT", SIM_CARDS, ["8945" + each[4:] for each in SIM_CARDS]),
    "seven SIM cards of 20 digits": ("", [each + "7" for each in SIM_CARDS], ["8945" + each[4:] + "7" for each in SIM_CARDS]),
    "eight large integers": ("INTEGER", [8944501234567890123 + i for i in range(8)], [8944501234567890124 + i for i in range(8)]),
    "sixteen of digits and a NUL": ("NUMERIC", ["9007199254740993\0x"] * 16, [9007199254741993] * 16),
}


@each(MANY_NUMBERS.keys())
def many_numbers(files, name):
    """One row of many numbers does not make a filter say "maybe" to others."""
    type_, row, other = MANY_NUMBERS[name]
    db = files.connect(":memory:")
    cs, marks = names("c", len(row)), joined("?" for _ in row)
    db.execute("CREATE TABLE t(%s)" % joined("%s %s" % (c, type_) for c in cs))
    db.execute("CREATE VIRTUAL TABLE f USING bloom(t, (%s), capacity = 10000)" % joined(cs))
    db.execute("INSERT INTO t VALUES (%s)" % marks, row)
    for _ in range(2):
        for way in "FROM f(%s)", "FROM f WHERE key = bloom_tuple(%s)":
            expect([one(db, "SELECT count(*) " + way % marks, *key) for key in (row, other, ["a"] * len(row))], [1, 0, 0])
        expect([one(db, "SELECT bloom_may_contain((SELECT handle FROM f), bloom_tuple(%s))" % marks, *key) for key in (row, other)], [1, 0])
        expect(one(db, "SELECT note FROM f"), None)
        command(db, "f", "merge")


# A database of bloom 1.2.0: f over (a, b, c, d) of t, whose row ('1e17', '2e17', '3e17', '4e17') is stored as every key.
OF_1_2_0 = (
    'c-rk(yKmb@7{8+^kqPVy8C(tOaG>EpL}^2mjpiLhvT27cP1$-l&Juwy2|{Gcm6)XJlGv!1><v(K?A#&wFETV8lP+C674Xmp&>=y9+=G;@$Wj7iaNO!A-9z7Z'
    'cfarM`|cxETs7*xhpNrihUKGKzyS!sHG}{FJT9lf0Zs+75D>f@JeYA{6n7%<FY@~|d<Fky-4TupqJXOy@k*2*r@r|Wz(3&cxEbMOV>}W~KnNR_@3puHe~OF7'
    'G46fS`E~+ECooh`J(s~{7MD3(i2pe-2EY?Awmr#3c8o_qZMWLxrxHgs2QXePif0#IyneS4G%-A2$pSZGkO>|HD$+8U$TA8S^toQb0oeHpMs`258_nj%T|X0A'
    'OSr}lC8cm7;r^|?)o1I^!`Yd1=8I`noz7f9>fFW5`HQn^U><{eLLDCoKJSa>FOBaf{`q^7`X9ak@K0Qg@Snk_T#O`wSeOa&KkuJe+pl?_z!*`-p07V!-Me*P'
    'ApYke58!X`N4Ns{|KnMG$qR{iT-=WOmfi5G)%k*!Eoo>?FO<qz1C_ElLqk<mF6!nIqKPNvD=AB{6-RMp#j&<5r|x&IsOhw<M`DRY0=C&wl}+y+t@vO~ww6R?'
    'QtGzXsi+DfO@=kIteI0#OTLU<m`uXeV5u#u=Cy++^7e96Dy8g>@3m3R$mirK7{i-_m*{NY=Xz%NUF%uSd<@9<L}15=3dzso;&*kwRj<{&R<&Y#`1RGR)HmB+'
    '%lE^L7WAbhtw0W^M=znAwwNzyNH>dGp@i}#lCbc`b<ITc*`mgJ*gZ3nB_X|t%(8)FfC$rvboLOPGeqb1=`;hAsz@^zuw_fS85*XWrTlwF3R=q=Wvz%(f!RuE'
    'qY@gVgzR{@wdvvrmgP%?lN@QorF)&v8wNSKoNi_dH>sKVQuidNwJO_*-`Vn-)l`#Bl+op@p(q$F_Y9}w?4bnqU;?|Jz&?t=8A{*`CUE)*oTCWbp#<(=0=J*Q'
    'Js_a|Pal{6+56uzfK#~oQ0y)XLQ;;44>!7Z)2ia<Pvy>*i=RVBT+PF331t^cSX^FNAft}`VlvN@Kfb#wF`9E8e*JdN8Mv_?eK+TPbXyZf_kVQ%A^ZX0?+70g'
    'JW)s{6XNz{H|5msSS^>vLw~xVx+4-O3m+De=^(y}nxV~?P@4Mx4a32sL;')


@test
def of_an_older_version(files):
    """A filter that bloom 1.2.0 made has its keys, says that every key may be in it, and 'merge' repairs that."""
    with open(files.path, "wb") as file:
        file.write(zlib.decompress(base64.b85decode(OF_1_2_0)))
    db = files.connect()
    db.execute("INSERT INTO t VALUES ('5e17', 5e17, '6e17', 100000000000000000)")
    keys = [("1e17", "2e17", "3e17", "4e17"), ("w", "x", "y", "z"), ("later", 2, 3, 4), ("5e17", 5e17, "6e17", 10**17)]
    absent = [("a", "b", "c", "d"), ("1e17", "2e17", "3e17", "5e17")]
    for maybe, start in (1, "every key may be in it, because bloom 1.2.0 made it, of more than three columns;"), (0, "None"):
        expect([one(db, "SELECT count(*) FROM f(?, ?, ?, ?)", *key) for key in keys + absent], [1] * 4 + [maybe] * 2)
        expect([one(db, "SELECT bloom_may_contain((SELECT handle FROM f), bloom_tuple(?, ?, ?, ?))", *key) for key in keys + absent], [1] * 4 + [maybe] * 2)
        assert str(one(db, "SELECT note FROM f")).startswith(start)
        command(db, "f", "merge")
    command(db, "f", "integrity-check")


@each(["trigger", "function"], [None, "IGNORE", "FAIL, 'failed'"])
def changed_by_others(files, how, end):
    """What LIMITS says of a key of several columns one of which something else than the statement changes: it is there once the AFTER trigger has run, and after 'rebuild'."""
    db = filtered(files, "t, (k, n)", columns="id INTEGER PRIMARY KEY, k TEXT, n INTEGER, other", rows="(1, 'a', 1, 0), (2, 'b', 2, 0)")
    if how == "trigger":
        db.execute("CREATE TRIGGER earlier BEFORE UPDATE OF k ON t BEGIN UPDATE t SET n = 77 WHERE id = new.id; END")
    else:
        db.create_function("change", 1, lambda x: db.execute("UPDATE t SET n = 77 WHERE id = 1") and x)
    if end:
        db.execute("CREATE TRIGGER later AFTER UPDATE OF other ON t BEGIN SELECT RAISE(%s); END" % end)
    found, error = "(SELECT count(*) FROM f(t.k, t.n))", None
    update = "UPDATE%s t SET k = 'x', other = %s WHERE id = 1" % (" OR FAIL" if end else "", "change(7)" if how == "function" else "7")
    try:
        if sqlite3.sqlite_version_info >= (3, 35) and not end:
            expect(db.execute(update + " RETURNING k, n, " + found.replace("t.", "")).fetchall(), [("x", 77, 0)])
        else:
            db.execute(update)
    except sqlite3.Error as raised:
        error = str(raised)
    expect(error, "failed" if end and "FAIL" in end else None)
    expect(db.execute("SELECT k, n, %s FROM t WHERE id = 1" % found).fetchall(), [("x", 77, 0 if end else 1)])
    if end:
        fails(db, "INSERT INTO f(f) VALUES ('integrity-check')", "misses 1 of the 2 keys")
        command(db, "f", "rebuild")
    expect([row[0] for row in db.execute("SELECT %s FROM t" % found)], [1, 1])
    command(db, "f", "integrity-check")


if __name__ == "__main__":
    sys.exit(main())
