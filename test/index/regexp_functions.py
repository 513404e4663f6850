"""REGEXP by functions of an application: which are trusted, and that rows are right with all of them.

A function counts its calls: few of them say that blocks picked rows, and as many as there are rows that
everything was read.
"""
import re
import sys
import unicodedata

import regexp_library
from log import command, same as same_query  # the first: it finds the others
from cases import Skip, each, error_of, execute, expect, fails, main, slow, stop_after, test

NUM_ROWS, FEW_ROWS = 4000, 800  # the latter where the function is called for each row many times
NEEDLE = "upstream timeout (after )?[0-9]+ ms"
SAMPLES = 48  # more calls than a plan's samples need


class Counted:
    """A regexp() that counts its calls for rows."""

    def __init__(self, db, function, name="regexp"):
        self.function, self.num_calls = function, 0
        db.create_function(name, 2, self.call, deterministic=True)

    def call(self, pattern, text):
        self.num_calls += 1
        return self.function(pattern, text)

    def of(self, db, sql, *args):
        """The rows of a query, and how often it was called."""
        before = self.num_calls
        rows = db.execute(sql, args).fetchall()
        return rows, self.num_calls - before


def search(flags=0):
    return lambda pattern, text: None if text is None else re.search(pattern, text, flags) is not None


def make(db, declaration="message TEXT", indexed="message LIKE REGEXP", num_rows=NUM_ROWS):
    db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, %s)" % declaration)
    db.executemany("INSERT INTO log(id, message) VALUES (?, ?)",
                   ((i, "request %d of user %x took %d ms" % (i, i * 2654435761 % 2**32, i % 777)) for i in range(1, num_rows + 1)))
    execute(db, "UPDATE log SET message = 'Upstream TIMEOUT after ' || id || ' ms' WHERE id = 70",
            "UPDATE log SET message = 'upstream timeout after ' || id || ' ms' WHERE id = 700",
            "UPDATE log SET message = 'upstream timeout ' || id || ' ms' WHERE id = 1700",
            "CREATE VIRTUAL TABLE i USING bloom_index(log, %s)" % indexed,
            "INSERT INTO i(i) VALUES ('merge')")


def same(db, pattern):
    """The index has the table's rows, also where one more table is joined."""
    for sql in ("SELECT id FROM {t} WHERE message REGEXP ?", "SELECT count(*) FROM {t} WHERE NOT message REGEXP ?",
                "SELECT a.id FROM log AS a JOIN {t} AS b ON b.id = a.id + 1 AND b.message REGEXP ? WHERE a.id % 4 = 3"):
        same_query(db, sql, pattern, index="i")


@test
def values_that_are_no_texts(files):
    """The function sees numbers, bytes and NULL, and makes texts of its own of them."""
    for takes_null in False, True:
        db = files.connect(":memory:")
        make(db, declaration="message", num_rows=FEW_ROWS * 2)
        db.executemany("INSERT INTO log VALUES (?, ?)", enumerate((None, 1e15, 1e16, 1234567.1234567892, 0.1 + 0.2, b"upstream timeout", -77001, "x\0abcdef"), 5000))
        command(db, "merge", "i")
        counted = Counted(db, lambda pattern, text: (takes_null or text is not None) and re.search(pattern, str(text)) is not None)
        for pattern in "None", "1000000000000000", "e\\+16", "12345678", "0000004", "b'upst", "77001", "abcdef", "(None|10000000)":
            same(db, pattern)
        expect(counted.of(db, "SELECT id FROM i WHERE message REGEXP ?", "4567892")[1] < FEW_ROWS, not takes_null)


@test
@slow
def blocks_serve_a_search(files):
    db = files.connect()
    make(db)
    counted = Counted(db, search())
    rows, num_calls = counted.of(db, "SELECT id FROM i WHERE message REGEXP ?", NEEDLE)
    expect(rows, [(700,), (1700,)])
    expect(num_calls < SAMPLES, True, "%d calls" % num_calls)
    plan = db.execute("EXPLAIN QUERY PLAN SELECT id FROM i WHERE message REGEXP 'timeout'").fetchone()[3]
    expect("message REGEXP ?" in plan, True, plan)
    db.create_function("regexp", 2, lambda pattern, text: None if pattern is None or text is None else re.search(pattern, text) is not None, deterministic=True)
    same(db, None)
    # No blocks are said to serve what has no piece.
    for condition in "REGEXP '^[0-9]+$'", "LIKE '%ab%'", "GLOB 'a*b'":
        plan = db.execute("EXPLAIN QUERY PLAN SELECT id FROM i WHERE message %s" % condition).fetchone()[3]
        expect("by entries" in plan, False, plan)
    # Of several terms, and beside other conditions.
    rows, num_calls = counted.of(db, "SELECT id FROM i WHERE message REGEXP 'request 7 |request 3999 of|timeout after 700' AND id > 5")
    expect(rows, [(7,), (700,), (3999,)])
    expect(num_calls < NUM_ROWS / 2, True, "%d calls" % num_calls)
    # As an expression of another table, and as a function.
    rows, num_calls = counted.of(db, "SELECT i.id FROM (SELECT 'timeout after ' || '7' AS p UNION ALL SELECT 'user [0-9a-f]+ took 776 ') JOIN i ON regexp(p, message)")
    expect(len(rows), 1 + NUM_ROWS // 777)
    for pattern in NEEDLE, "[0-9] ms$", "a{0}", "timeout|", "", "(?i)UPSTREAM", "request 399[0-9] ", "(?:request|upstream) [0-9]*7", "\\d{4} of", "after \\d+ ms":
        same(db, pattern)


@test
def blocks_serve_a_search_of_few_rows(files):
    """So that who reads everything below does so for the function's sake."""
    db = files.connect()
    make(db, num_rows=FEW_ROWS)
    rows, num_calls = Counted(db, search()).of(db, "SELECT id FROM i WHERE message REGEXP 'upstream timeout'")
    expect((rows, num_calls < SAMPLES), ([(700,)], True))


@test
def the_longest_literal_is_looked_for_in_a_row_before_it_is_called(files):
    """One row of 300 has it, in each block, whose pieces are in lower case."""
    db = files.connect()
    make(db)
    db.execute("UPDATE log SET message = replace(message, 'request', 'Request') WHERE id % 300 = 5")
    counted = Counted(db, search())
    command(db, "merge", "i")
    rows, num_calls = counted.of(db, "SELECT id FROM i WHERE message REGEXP 'Request [0-9]+ of'")
    expect(len(rows), len(range(5, NUM_ROWS + 1, 300)))
    expect(num_calls < len(rows) + SAMPLES, True, "%d calls" % num_calls)
    # Whatever case is ignored, by the pattern or by the function.
    rows, num_calls = counted.of(db, "SELECT id FROM i WHERE message REGEXP '(?i)REQUEST [0-9]*305 of USER'")
    expect(rows, [(305,), (1305,), (2305,), (3305,)])
    counted = Counted(db, search(re.I))
    rows, num_calls = counted.of(db, "SELECT id FROM i WHERE message REGEXP 'UPSTREAM TIMEOUT'")
    expect(rows, [(70,), (700,), (1700,)])
    expect(num_calls < SAMPLES, True, "%d calls" % num_calls)


@test
def beginnings_and_ends_are_looked_for_there(files):
    """Not where the function matches lines, or leaves out what is before or behind; then the literal is looked for anywhere."""
    db = files.connect()
    make(db, num_rows=FEW_ROWS)
    db.execute("UPDATE log SET message = 'took a message: ' || message || ' :egassem' WHERE id % 2 = 0")
    db.execute("UPDATE log SET message = 'request 40' || char(10) || message WHERE id % 100 = 41")
    for number, before in enumerate(("to", "to\n", "\ufeff", " \n", "\0", "\n", "\u2028", "\r")):
        db.execute("UPDATE log SET message = ? WHERE id = ?", (before + "took a while, and then some more" + before[::-1], 90 * number + 9))
    command(db, "rebuild", "i")
    patterns = "^took a while", "^request 409 ", "(?i)^(TOOK A WHILE|request 11)", "(?m)^took a while", "^request 40$", "^to", "^(took|re)quest 9", "took a while|^request 77", \
        "some more$", "^took a while, and then some more$", "(?i)(7|MORE) MS$", "(?m)some more$", "some more\\n$", "77 ms$", "(?s)some.more$|4[0-9] ms$", "ms$", "ot$"
    for name, function, is_by_line in (("search", search(), False), ("lines", search(re.M), True), ("case", search(re.I), True),
                                       ("lines and case", search(re.M | re.I), True),
                                       ("ends of lines", checked(lambda pattern, text: re.search(pattern, text.rstrip("\r\n")) is not None), True),
                                       ("a carriage return at the end", checked(lambda pattern, text: re.search(pattern, text[:-1] if text[-1:] == "\r" else text) is not None), True),
                                       ("blanks at the end", checked(lambda pattern, text: re.search(pattern, text.rstrip()) is not None), True),
                                       ("byte order mark", checked(lambda pattern, text: re.search(pattern, text.removeprefix("\ufeff")) is not None), True),
                                       ("blanks", checked(lambda pattern, text: re.search(pattern, text.lstrip(" \n")) is not None), True)):
        counted = Counted(db, function)
        for pattern in patterns:
            same(db, pattern)
        # Each block has such a row, whose literal is looked for before the function is called.
        rows, num_calls = counted.of(db, "SELECT id FROM i WHERE message REGEXP '^took a message'")
        expect((len(rows) > 300, num_calls > 300), (True, True), name)
        for pattern in "^message: request", "ms :ega$":
            rows, num_calls = counted.of(db, "SELECT id FROM i WHERE message REGEXP ?", pattern)
            expect((rows, num_calls < SAMPLES), ([], not is_by_line), "%s: %d calls" % (name, num_calls))


# -- Functions that are none, or another's -------------------------------------------------------------------

def fold_accents(text):
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


def like(pattern, text):
    return re.fullmatch(re.escape(pattern).replace("%", ".*").replace("_", "."), text, re.I | re.S) is not None


def checked(function):
    return lambda pattern, text: None if text is None else function(pattern, text)


DISTRUSTED = {
    "swapped": checked(lambda pattern, text: re.search(text, pattern) is not None),
    "match": checked(lambda pattern, text: re.match(pattern, text) is not None),
    "fullmatch": checked(lambda pattern, text: re.fullmatch(pattern, text) is not None),
    "verbose": search(re.VERBOSE),
    "like": checked(like),
    "null_is_true": lambda pattern, text: text is None or re.search(pattern, text) is not None,
    "accents": checked(lambda pattern, text: re.search(fold_accents(pattern), fold_accents(text)) is not None),
    "negated": checked(lambda pattern, text: re.search(pattern, text) is None),
    "blanks": checked(lambda pattern, text: re.search(re.sub(" +", " ", pattern), re.sub(" +", " ", text)) is not None),
    "trimmed": checked(lambda pattern, text: re.search(pattern.strip(), text) is not None),
    "punctuation": checked(lambda pattern, text: re.search(pattern.replace("-", ""), text) is not None),
    "width": checked(lambda pattern, text: re.search(pattern, unicodedata.normalize("NFKC", text)) is not None),
    "substring": checked(lambda pattern, text: pattern in text),
    "none_matches": checked(lambda pattern, text: False),
    "all_match": checked(lambda pattern, text: True),
    "words": checked(lambda pattern, text: set(re.findall("[a-z]+", pattern)) <= set(re.findall("[a-z]+", text))),
    "escaped": checked(lambda pattern, text: re.search(re.escape(pattern), text) is not None),
}


@each(DISTRUSTED.keys())
def reads_everything(files, name):
    db = files.connect()
    make(db, num_rows=FEW_ROWS)
    execute(db, "INSERT INTO log VALUES (0, NULL)", "UPDATE log SET message = 'upstrèam-timeout  after the  request' WHERE id = 71")
    command(db, "merge", "i")
    counted = Counted(db, DISTRUSTED[name])
    _, num_calls = counted.of(db, "SELECT id FROM i WHERE message REGEXP 'upstream timeout'")
    expect(num_calls >= FEW_ROWS, True, "%d calls" % num_calls)
    for pattern in "upstream timeout", "upstream  timeout", "upstream timeout after 700 ms", "%timeout%", "timeout after", "ups tream", "up-stream timeout":
        same(db, pattern)


@test
def it_fails_for_samples(files):
    """One that always fails is asked for each row, so that its error is the table's."""
    db = files.connect()
    make(db)

    def function(pattern, text):
        raise ValueError
    Counted(db, function)
    fails(db, "SELECT id FROM i WHERE message REGEXP 'upstream timeout'", "user-defined function raised exception")
    # Only of NULL: well.
    counted = Counted(db, lambda pattern, text: re.search(pattern, text) is not None)
    rows, num_calls = counted.of(db, "SELECT id FROM i WHERE message REGEXP ?", NEEDLE)
    expect((rows, num_calls < SAMPLES), ([(700,), (1700,)], True))


@test
def it_is_replaced(files):
    """Each plan looks, also one that is made anew because the function changed."""
    db = files.connect()
    make(db)
    sql = "SELECT id FROM i WHERE message REGEXP 'upstream timeout after'"
    for flags, wanted in (0, [(700,)]), (re.I, [(70,), (700,)]), (0, [(700,)]):
        Counted(db, search(flags))
        expect(db.execute(sql).fetchall(), wanted, str(flags))
    Counted(db, DISTRUSTED["swapped"])
    expect(db.execute(sql).fetchall(), [])
    same_query(db, "SELECT id FROM {t} WHERE 'upstream timeout after 700 ms, or so' REGEXP message", index="i")


@test
def case_is_ignored(files):
    """What ignores case finds other characters, too."""
    db = files.connect()
    make(db, num_rows=FEW_ROWS)
    texts = ["stop \u212aelvin at \ufb06reet \u017ftop", "\u0130stanbul \u0131s", "office \ufb03x \ufb02ow", "ÄÖÜ grö\u1e9eer", "kiss the fist"]
    for number, text in enumerate(texts):
        db.execute("UPDATE log SET message = ? WHERE id = ?", (text, 150 * number + 9))
    command(db, "rebuild", "i")
    for flags in 0, re.I, re.I | re.A:
        Counted(db, search(flags))
        for pattern in "kelvin at", "KELVIN", "street stop", "istanbul is", "office", "flow", "äöü", "größer", "KISS THE FIST", "(?i)kelvin at", "(?i)fist":
            same(db, pattern)


def strict(pattern, text):
    """Raises of what is no text, as the usual one-liner does."""
    return re.search(pattern, text) is not None


@each(["n", "message LIKE REGEXP", "n, message LIKE", "message RANGE"])
def a_guard(files, indexed):
    """A function that fails is called for no row that the conditions before it leave out."""
    db = files.connect()
    make(db, declaration="message, n INTEGER", indexed=indexed, num_rows=FEW_ROWS)
    db.executemany("INSERT INTO log VALUES (?, ?, 1)", enumerate((None, b"upstream timeout", 5, 5.5, "upstream timeout 8"), 5000))
    command(db, "merge", "i")
    for name, operator, pattern in ("regexp", "REGEXP", NEEDLE), ("like", "LIKE", "timeout"), ("glob", "GLOB", "timeout"):
        db.create_function(name, 2, strict, deterministic=True)
        for guard in "typeof(message) = 'text'", "message IS NOT NULL AND message > '' AND message < x''", "id <> 5000 AND id <> 5001 AND id NOT IN (5002, 5003)":
            sql = "SELECT id FROM {t} WHERE %s AND message %s " % (guard, operator)
            same_query(db, sql + "?", pattern, index="i")
            same_query(db, sql + "'%s'" % pattern, index="i")


@test
def patterns_that_are_errors(files):
    """As on the table, though no row may be left that would call the function; but not without a row."""
    db = files.connect()
    make(db)
    Counted(db, search())
    for pattern in "timeout \\y", "absent absent \\y", "absent(", "[absent", "absent{2,1}", "*absent", 5, 2.5:
        wanted = str(error_of(db, "SELECT id FROM log WHERE message REGEXP ?", pattern))
        expect(str(error_of(db, "SELECT id FROM i WHERE message REGEXP ?", pattern)).removeprefix("bloom_index: "), wanted, pattern)
    for pattern in None, b"upstream", b"":
        for flags in 0, re.I:
            Counted(db, lambda pattern, text: re.search(str(pattern), str(text)) is not None)
            same(db, pattern)
    execute(db, "DROP TABLE i", "DELETE FROM log", "CREATE VIRTUAL TABLE i USING bloom_index(log, message LIKE REGEXP)", "INSERT INTO i(i) VALUES ('merge')")
    same(db, "absent absent \\y")


@test
def values_of_all_types(files):
    """Text goes on behind a NUL for Python, and numbers and BLOBs are what a function makes of them."""
    db = files.connect()
    make(db, "message", num_rows=FEW_ROWS)
    things = ["abc\0defgh", "\0xyz\0\0later", "trailing\0", 12345678, 1234.5678, 1e300, b"a blob of bytes", b"\0behind", "", "\0"]
    for number, value in enumerate(things):
        db.execute("UPDATE log SET message = ? WHERE id = ?", (value, 75 * number + 9))
    db.execute("UPDATE log SET message = NULL WHERE id = 8")
    command(db, "rebuild", "i")

    def as_text(pattern, text):
        if text is None:
            return None
        return re.search(pattern, text.decode("latin1") if isinstance(text, bytes) else str(text)) is not None
    Counted(db, as_text)
    for pattern in "defgh", "abc.defgh", "later", "xyz.*later", "trailing", "1234567", "345.67", "1e.300", "blob of", "behind", "took 7 ms":
        same(db, pattern)
    command(db, "integrity-check", "i")
    # LIKE does not go on, and is right.
    same_query(db, "SELECT count(*) FROM {t} WHERE message LIKE '%defgh%'", index="i")


@test
def without_the_declaration(files):
    """LIKE alone: the condition is the table's, and nothing is left out."""
    db = files.connect()
    make(db, indexed="message LIKE")
    db.execute("UPDATE log SET message = 'abc' || char(0) || 'upstream timeout' WHERE id = 9")
    command(db, "rebuild", "i")
    counted = Counted(db, search())
    rows, num_calls = counted.of(db, "SELECT id FROM i WHERE message REGEXP 'upstream timeout'")
    expect((rows, num_calls >= NUM_ROWS), ([(9,), (700,), (1700,)], True))


@test
def a_plan_is_interrupted(files):
    """While it asks the function for samples, and elsewhere: it says so, or has all rows."""
    db = files.connect()
    make(db)
    counted, num_among_samples = Counted(db, search()), 0
    for num_steps in range(1, 1600, 4):
        counted.num_calls = 0
        stop_after(db, num_steps, 1)
        error = error_of(db, "SELECT id FROM i WHERE message REGEXP 'upstream timeout'")
        db.set_progress_handler(None, 0)
        assert "interrupted" in str(error), "%d steps: %s" % (num_steps, error)
        num_among_samples += 0 < counted.num_calls < SAMPLES
    assert num_among_samples > 10, num_among_samples
    same(db, NEEDLE)


@test
def nobody_has_a_regexp(files):
    db = files.connect()
    make(db)
    fails(db, "SELECT id FROM log WHERE message REGEXP 'x'", "no such function: REGEXP")
    fails(db, "SELECT id FROM i WHERE message REGEXP 'x'", "no such function: REGEXP")


@test
@slow
def replaced_functions_that_look_for_literals(files):
    """instr() and lower() are the application's: then REGEXP alone is asked."""
    db = files.connect()
    make(db)
    for name, num_args in ("instr", 2), ("lower", 1):
        db.create_function(name, num_args, lambda *args: 0)
        for flags in 0, re.I:
            Counted(db, search(flags))
            for pattern in NEEDLE, "(?i)" + NEEDLE:
                same(db, pattern)


@test
@slow
def in_utf_16(files):
    db = files.connect()
    db.execute("PRAGMA encoding = 'UTF-16le'")
    make(db)
    db.execute("UPDATE log SET message = 'größe \U0001f600 abc' || char(0) || 'naïve' WHERE id = 9")
    command(db, "merge", "i")
    for flags in 0, re.I:
        counted = Counted(db, search(flags))
        for pattern in NEEDLE, "größe", "GRÖSSE|größe .", "\U0001f600 abc", "naïve", "abc.na.ve":
            same(db, pattern)
        rows, num_calls = counted.of(db, "SELECT id FROM i WHERE message REGEXP ?", NEEDLE)
        expect(num_calls < SAMPLES, True, "%d calls" % num_calls)


@each(["UTF-8", "UTF-16le", "UTF-16be"])
def pattern_is_a_blob(files, encoding):
    """Of CAST(123 AS BLOB) SQLite remembers the encoding, and a function that reads it as a text has its digits."""
    if not regexp_library.make():
        raise Skip("there is no compiler")
    db = files.connect()
    db.execute("PRAGMA encoding = '%s'" % encoding)
    regexp_library.load(db)
    make(db)
    for pattern in "CAST(1700 AS BLOB)", "CAST(17 AS BLOB)", "CAST('timeout' AS BLOB)", "x'31373030'", "x'3100'", "x''":
        for sql in "SELECT id FROM {t} WHERE message REGEXP %s", "SELECT id FROM {t} WHERE message REGEXP 'ms' AND message REGEXP %s AND id > 9":
            same_query(db, sql % pattern, index="i")


@test
def function_reads_the_index(files):
    """What it runs fails while a plan's samples call it, and says why; the rows are right, and nothing is taken for damage."""
    db = files.connect(":memory:")
    make(db, num_rows=FEW_ROWS)
    for sql in ("SELECT count(*) FROM i WHERE message LIKE '%timeout%'", "SELECT * FROM bloom_index_info('i')",
                "INSERT INTO i(i) VALUES ('merge')", "INSERT INTO i(i) VALUES ('integrity-check')"):
        errors = []
        db.create_function("regexp", 2, lambda pattern, text: errors.append(error_of(db, sql) if len(errors) < SAMPLES else None) or search()(pattern, text))
        expect(db.execute("SELECT id FROM i WHERE message REGEXP ?", [NEEDLE]).fetchall(), [(700,)])
        expect({error and str(error).split(": ", 1)[1] for error in errors},
               {None, "i calls itself: by a function of the application that it calls, or by a view in the place of one of its tables"})
        command(db, "integrity-check", "i")
        expect(db.execute("SELECT note FROM bloom_index_info('i')").fetchall(), [(None,)])


if __name__ == "__main__":
    sys.exit(main())
