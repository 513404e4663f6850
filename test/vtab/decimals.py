"""Numbers and texts that look like numbers: locales with a decimal comma, and files that go from one SQLite to another.

    python3 test/vtab/decimals.py [--load ./bloom] [--only NAME]

$BLOOM_TEST_SQLITES: where test/lib/build_sqlite.sh put other SQLites, build/sqlite unless told. A file that
one version built is read and checked by each other one.
"""
import locale
import os
import random
import shutil
import subprocess
import sys

from cases import Skip, case, command, connect, error_of, execute, expect, main, one, test, under, versions

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
COMMA = "de_DE.UTF-8"


# -- Locales ---------------------------------------------------------------------------------

def use_comma(files):
    """This process writes 1,5 from now on."""
    if shutil.which("localedef") is None:
        raise Skip("localedef (Debian: locales)")
    folder = os.path.join(TOP, "build", "locales")  # made once, for all tests
    if not os.path.exists(os.path.join(folder, COMMA)):
        made = files.file(COMMA)
        done = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", made], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode or not os.path.exists(made):
            raise Skip("the locale de_DE (Debian: locales)")
        os.makedirs(folder, exist_ok=True)
        shutil.move(made, os.path.join(folder, COMMA))
    os.environ["LOCPATH"] = folder
    locale.setlocale(locale.LC_ALL, COMMA)
    expect(locale.localeconv()["decimal_point"], ",")


def use_point():
    locale.setlocale(locale.LC_ALL, "C")


TYPES = ["", "TEXT", "REAL", "NUMERIC", "INTEGER", "TEXT COLLATE NOCASE", "BLOB"]
VALUES = [0.1 + 0.2, 0.3, "0.3", "0,3", 1.5, "1.5", "1,5", "1.50", "+1.5e0", 2.25, "2.25", 1e15 + 0.3, 123456789.123456789, "123456789.123456789", 0.1, 1 / 3,
          "0.333333333333333", "0.3333333333333333", 1e-7, "1e-7", "0.0000001", 100.0, "100", "1e2", 5e-324, 1.7976931348623157e308, -1.7976931348623157e308, float("inf"), "1.234,5", "1,234.5",
          0.30000000000000004, "0.30000000000000004", 9007199254740993, 9007199254740992.0, "9007199254740993", -0.75, "-0.75", "-0,75"]


def make_joined(db, type_, other_type):
    execute(db, "CREATE TABLE t(k %s)" % type_, "CREATE TABLE other(x %s)" % other_type,
            "CREATE VIRTUAL TABLE f USING bloom(t, k)")


def insert_values(db):
    db.executemany("INSERT INTO t VALUES (?)", [(value,) for value in VALUES])
    db.executemany("INSERT INTO other VALUES (?)", [(value,) for value in VALUES])


def joins_hold(db, when):
    num_pairs = one(db, "SELECT count(*) FROM other, t WHERE t.k = other.x")
    assert num_pairs > 0
    for what, missed in (("look-up", "NOT EXISTS (SELECT 1 FROM f WHERE key = other.x)"),
                         ("handle", "bloom_may_contain((SELECT handle FROM f), other.x) IS NOT 1")):
        lost = db.execute("SELECT t.k, other.x FROM other, t WHERE t.k = other.x AND " + missed).fetchall()
        assert not lost, "%s: the %s misses %d of %d pairs: %r" % (when, what, len(lost), num_pairs, lost[:5])


def under_a_locale(files, type_, other_type):
    """Written under a decimal comma, read under a point, and the other way round: always the same."""
    use_comma(files)
    db = files.connect()
    make_joined(db, type_, other_type)
    insert_values(db)
    joins_hold(db, "written and read under a comma")
    use_point()
    joins_hold(db, "written under a comma, read under a point")
    command(db, "f", "integrity-check")
    command(db, "f", "rebuild")
    joins_hold(db, "rebuilt under a point")
    locale.setlocale(locale.LC_ALL, COMMA)
    joins_hold(db, "rebuilt under a point, read under a comma")
    command(db, "f", "integrity-check")
    command(db, "f", "rebuild")
    use_point()
    joins_hold(db, "rebuilt under a comma, read under a point")
    command(db, "f", "integrity-check")


for type_ in TYPES:
    for other_type in TYPES:
        case(under_a_locale, "%s = %s" % (type_ or "no type", other_type or "no type"), type_, other_type)


@test
def the_same_bytes_under_every_locale(files):
    """Filters, facts, errors: no byte depends on the locale."""
    def everything():
        db = files.connect(":memory:")
        found = []
        make_joined(db, "", "")
        insert_values(db)
        facts = [row[1] for row in db.execute("PRAGMA table_xinfo(f)") if row[1] not in ("rebuilt_at", "f", "key", "handle", "removed")]
        for sql in ("SELECT %s FROM f" % ", ".join(facts), "SELECT hex(filter) FROM f", "SELECT hex(bloom_build(k, 10.5)) FROM t",
                    "SELECT hex(bloom_build(k, 10.5, 'parquet')) FROM t", "SELECT * FROM bloom_info((SELECT bloom_build(k, 12.5) FROM t))",
                    "SELECT bloom_bits_per_key(0.015)"):
            found.append(db.execute(sql).fetchall() if error_of(db, sql) is None else str(error_of(db, sql)))
        for sql in ("SELECT bloom_build(k, 0.25e-400) FROM t", "SELECT bloom_build(k, 100.5) FROM t", "SELECT bloom_build(k, -1.5) FROM t", "SELECT bloom_build(k, 10, 1.5) FROM t",
                    "SELECT bloom_bits_per_key(1.5)", "SELECT bloom_empty(10, 1e300)", "SELECT bloom_empty(2.5)",
                    "CREATE VIRTUAL TABLE g USING bloom(t, k, bits_per_key = 100.5)", "CREATE VIRTUAL TABLE g USING bloom(t, k, bits_per_key = '10,5')",
                    "CREATE VIRTUAL TABLE g USING bloom(t, k, capacity = 1.5)"):
            found.append("%s: %s" % (sql, error_of(db, sql)))
        db.execute("CREATE VIRTUAL TABLE h USING bloom(t, k, bits_per_key = 12.5)")
        found.append(db.execute("SELECT bits_per_key, hex(filter) FROM h").fetchall())
        db.execute("CREATE VIRTUAL TABLE s USING bloom(bits_per_key = 12.75, capacity = 100)")
        db.execute("INSERT INTO s(key) SELECT k FROM t")
        found.append(db.execute("SELECT bits_per_key, hex(filter) FROM s").fetchall())
        return found

    use_comma(files)
    with_comma = everything()
    use_point()
    with_point = everything()
    for comma, point in zip(with_comma, with_point):
        expect(comma, point)


@test
def nothing_in_ext_asks_the_locale(files):
    """strtod(), printf() and their kind, isalpha(), tolower(), strcoll(): SQLite has its own of each. qsort() and strlen() may stay."""
    import re
    names = r"strto(d|f|ld)|ato[fl]|[vsnfd]*printf|[vsf]*scanf|is(alpha|digit|alnum|space|upper|lower|punct|print|xdigit)|to(upper|lower)|strcoll|strcasecmp|strncasecmp|strftime|localeconv"
    call = re.compile(r"(?<![\w>.])(%s)\s*\(" % names)
    found = []
    for folder, _, names_of_files in os.walk(os.path.join(TOP, "ext")):
        for name in names_of_files:
            if name.endswith((".c", ".h")):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    text = re.sub(r"/\*.*?\*/|//[^\n]*|\"(\\.|[^\"\\])*\"", " ", file.read(), flags=re.S)
                found += ["%s: %s" % (name, match.group(0)) for match in call.finditer(text)]
    expect(found, [])


# -- Other versions of SQLite --------------------------------------------------------------------

def decimals():
    """Decimals of 11 to 19 digits, of which versions of SQLite read some as neighbouring REALs."""
    r = random.Random(21)
    texts = []
    for i in range(2000):
        # Halfway between two REALs, as integers are when they have 15 or 16 digits.
        bits = r.randint(46, 53)
        number = r.randrange(2**bits, 2**(bits + 1))
        texts.append("%d.%s" % (number, str((2 * r.randrange(2**max(52 - bits, 0)) + 1) / 2**max(53 - bits, 1))[2:][:19 - len(str(number))]))
    for i in range(18000):
        digits = "".join(r.choice("0123456789") for _ in range(r.randint(11, 19)))
        at = r.randint(1, len(digits))
        texts.append(digits[:at].lstrip("0") + "." + digits[at:] + ("e%d" % r.randint(-20, 20) if i % 4 == 0 else ""))
    return texts


EXPRESSIONS = [("e1", "CAST(k AS NUMERIC)"), ("e2", "CAST(k AS INTEGER)"), ("e3", "substr(k, 1, 9)"), ("e4", "CAST(k AS NUMERIC)")]


def insert_decimals(db, name):
    # Those of e4 are read as integers: none of them is stored as a REAL.
    texts = [text for text in decimals() if "e" not in text] if name != "e4" else ["%d.5" % (2**52 + 977 * i) for i in range(1000)]
    db.executemany("INSERT INTO %s VALUES (?)" % name, [(text,) for text in texts])


def check_expressions(db):
    """Where this SQLite reads decimals otherwise than when REALs were stored, every key may be in it, and it says so."""
    num_others = one(db, "SELECT count(*) FROM as_read JOIN e1 ON e1.rowid = as_read.rowid WHERE x IS NOT CAST(k AS NUMERIC)")
    for name, key in EXPRESSIONS:
        f = "f" + name
        equal = "CAST(k AS NUMERIC)" if name == "e4" else key
        for way in "EXISTS (SELECT 1 FROM %s WHERE key = %s)", "bloom_may_contain((SELECT handle FROM %s), %s)":
            expect(one(db, "SELECT count(*) FROM %s WHERE NOT %s" % (name, way % (f, equal))), 0, f + ": missed")
        num_found = one(db, "SELECT count(*) FROM e1 WHERE EXISTS (SELECT 1 FROM %s WHERE key = 'x' || k)" % f)
        note = one(db, "SELECT note FROM " + f)
        if name == "e1" and num_others:
            assert note and "decimals" in note and "'rebuild'" in note, note
            assert num_found == one(db, "SELECT count(*) FROM e1"), num_found
            expect(one(db, "SELECT filter FROM " + f), None)
            expect(one(db, "SELECT expected_fpr FROM " + f), 1.0)
            expect("decimals" in str(error_of(db, "INSERT INTO %s(%s) VALUES ('integrity-check')" % (f, f))), True)
        elif name != "e1":
            expect(note, None, f)
            assert num_found < 1000, num_found
            command(db, f, "integrity-check")
    if num_others:
        # What this version stores the other one does not know, and the other way round: till 'rebuild'.
        db.execute("BEGIN")
        insert_decimals(db, "e1")
        assert "decimals" in one(db, "SELECT note FROM fe1")
        db.execute("ROLLBACK")
        command(db, "fe1", "rebuild")
        expect(one(db, "SELECT note FROM fe1"), None)
        command(db, "fe1", "integrity-check")
        db.execute("UPDATE as_read SET x = (SELECT CAST(k AS NUMERIC) FROM e1 WHERE e1.rowid = as_read.rowid)")


def one_version(args):
    """Run in a process of its own, under another SQLite: writes or checks the file."""
    db = connect(args.path, args.load)
    if args.step == "write":
        db.execute("BEGIN")
        for name, type_ in (("a", "TEXT"), ("b", "REAL"), ("c", ""), ("d", "NUMERIC")):
            db.execute("CREATE TABLE %s(k %s)" % (name, type_))
            db.executemany("INSERT INTO %s VALUES (?)" % name, [(text,) for text in decimals()])
            db.execute("CREATE VIRTUAL TABLE f%s USING bloom(%s, k, bits_per_key = 20)" % (name, name))
        for name, key in EXPRESSIONS:
            db.execute("CREATE TABLE %s(k TEXT)" % name)
            insert_decimals(db, name)
            db.execute("CREATE VIRTUAL TABLE f%s USING bloom(%s, %s)" % (name, name, key))
        execute(db, "CREATE TABLE as_read(x)", "INSERT INTO as_read SELECT CAST(k AS NUMERIC) FROM e1", "COMMIT")
    else:
        check_expressions(db)
        for name in "abcd":
            f = "f" + name
            lost = one(db, "SELECT count(*) FROM %s AS t WHERE NOT EXISTS (SELECT 1 FROM %s WHERE key = t.k)" % (name, f))
            expect(lost, 0, f + ": missed")
            lost = one(db, "SELECT count(*) FROM %s AS t WHERE bloom_may_contain((SELECT handle FROM %s), t.k) IS NOT 1" % (name, f))
            expect(lost, 0, f + ": missed by the handle")
            # By the number: what this version of SQLite takes for equal.
            execute(db, "CREATE TEMP TABLE n(x REAL)", "INSERT INTO n SELECT CAST(k AS REAL) FROM " + name)
            lost = one(db, "SELECT count(*) FROM %s AS t JOIN n ON n.rowid = t.rowid AND t.k = n.x WHERE NOT EXISTS (SELECT 1 FROM %s WHERE key = n.x)" % (name, f))
            expect(lost, 0, f + ": numbers missed")
            db.execute("DROP TABLE n")
            command(db, f, "integrity-check")
        expect(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        db.execute("BEGIN")
        for name in "abcd":
            db.executemany("INSERT INTO %s VALUES (?)" % name, [(text + "1",) for text in decimals()[:500]])
            command(db, "f" + name, "integrity-check")
        db.execute("COMMIT")
    db.close()


def goes_to_another_version(files, number, other):
    folders = versions()
    if max(number, other) >= len(folders):
        raise Skip("another SQLite (sh test/lib/build_sqlite.sh 3.54.1)")
    under(folders[number], files, "write")
    under(folders[other], files, "check")
    under(folders[number], files, "check")


for number in range(max(len(versions()), 2)):
    for other in range(max(len(versions()), 2)):
        if number != other:
            case(goes_to_another_version, "%s to %s" % tuple(
                os.path.basename(os.path.dirname(versions()[n])) if 0 < n < len(versions()) else ["the system's", "another"][n > 0] for n in (number, other)), number, other)


if __name__ == "__main__":
    sys.exit(main(one_version))
