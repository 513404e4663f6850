"""LIKE and GLOB on real texts: a table, its bloom_index, and FTS5's trigram index.

    python3 test/index/real_data.py [--load ./bloom] [--icu PATH] [--patterns N] [--mb N] [--seed N]

The texts are kept, so that a seed draws the same everywhere: the lines of tz_news.gz, in a database
of UTF-8, and of examples/packages/data, in one of UTF-16.  tz_news.gz is the file NEWS of IANA's time
zone database 2025b (https://www.iana.org/time-zones), which is in the public domain.  Patterns are cut
from the rows and changed, and come alone and with AND, OR and other columns.  --icu names SQLite's
ICU extension, whose like() takes the place of SQLite's own.
"""
import gzip
import random
import sqlite3
import sys

import values
from log import command, steps_of  # the first: it finds the others
from cases import arguments, connect, sum_up


def news():
    """Lines of tz_news.gz, each with the release that it is of."""
    release = ""
    with gzip.open("test/index/tz_news.gz") as lines:
        for line in lines:
            if line.startswith(b"Release "):
                release = line.split()[1].decode()
            if line.strip():
                yield release, line.rstrip(b"\n")


def packages():
    with gzip.open("examples/packages/data/packages.tsv.gz") as lines:
        for line in lines:
            yield line.split(b"\t", 1)[0].decode(), line.rstrip(b"\n")


class Corpus:
    def __init__(self, name, rows, encoding, options):
        self.random = random.Random(options.seed)
        self.name, self.options = name, options
        self.db = connect(":memory:", options.load, cached_statements=0)
        self.db.execute("PRAGMA encoding = '%s'" % encoding)
        self.db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, package TEXT, line TEXT)")
        self.texts, num_bytes = [], 0
        self.db.execute("BEGIN")
        for package, text in rows:
            self.db.execute("INSERT INTO log VALUES (?, ?, CAST(CAST(? AS BLOB) AS TEXT))" if encoding == "UTF-8" else "INSERT INTO log VALUES (?, ?, ?)",
                            [3 * len(self.texts), package, text if encoding == "UTF-8" else text.decode(errors="replace")])
            self.texts.append(text)
            num_bytes += len(text)
            if num_bytes >= options.mb * 1e6:
                break
        self.db.execute("COMMIT")
        self.packages = [row[0] for row in self.db.execute("SELECT DISTINCT package FROM log")]
        self.db.execute("CREATE VIRTUAL TABLE log_index USING bloom_index(log, package, line LIKE)")
        command(self.db, "merge")
        self.num_found = 0
        print("note: %s: %d rows, %.1f MB" % (name, len(self.texts), num_bytes / 1e6))

    def pattern(self, is_glob):
        r = self.random
        pattern = values.pattern(r, self.cut_from, is_glob)
        if r.random() < 0.2:
            try:
                text = pattern.decode()
                pattern = r.choice([text.upper(), text.lower(), text.swapcase(), text.replace("k", "\u212a").replace("s", "\u017f")]).encode()
            except UnicodeDecodeError:
                pass
        return pattern

    def condition(self, depth=0):
        r = self.random
        kind = r.random()
        if depth < 2 and kind < 0.35:
            parts = [self.condition(depth + 1) for _ in range(r.choice([2, 2, 3]))]
            return "(" + r.choice([" AND ", " OR "]).join(parts) + ")"
        if depth and kind < 0.45:
            self.parameters.append(r.choice(self.packages))
            return "package = ?"
        if depth and kind < 0.5:
            self.parameters += sorted(r.sample(range(3 * len(self.texts)), 2))
            return "id BETWEEN ? AND ?"
        is_glob = r.random() < 0.35
        sql, parameter = values.of_pattern(r, self.pattern(is_glob))
        self.parameters.append(parameter)
        return "line %s%s %s" % ("NOT " if r.random() < 0.05 else "", "GLOB" if is_glob else "LIKE", sql)

    def ids(self, sql):
        """The ids that a query finds, or its error."""
        try:
            return [row[0] for row in self.db.execute(sql, self.parameters)]
        except sqlite3.Error as error:
            return str(error).replace("bloom_index: ", "")

    def check_patterns(self, num_patterns):
        for _ in range(num_patterns):
            self.parameters = []
            # Often of one row, so that several patterns find it.
            self.cut_from = [self.random.choice(self.texts)] if self.random.random() < 0.6 else self.texts
            where = self.condition()
            expected, found = [self.ids("SELECT id FROM %s WHERE %s ORDER BY id" % (table, where)) for table in ("log", "log_index")]
            # Which of several conditions SQLite evaluates is not said.
            if expected != found and "too complex" not in str(expected) + str(found):
                raise AssertionError("%s: %s %r: %r from the table, %r from the index" % (
                    self.name, where, self.parameters, expected[:9], found[:9]))
            self.num_found += len(found) > 0

    def check_fts5(self, num_needles):
        """Of needles in ASCII three answers are one."""
        r = self.random
        self.db.execute("CREATE VIRTUAL TABLE words USING fts5(line, content='', detail=full, tokenize='trigram')")
        self.db.execute("INSERT INTO words(rowid, line) SELECT id, line FROM log")
        # FTS5 goes on behind a NUL, and takes other letters than ASCII's for k, s and i.
        odd = {3 * i for i, text in enumerate(self.texts) if b"\0" in text or
               any(c > "\x7f" and any(folded < "\x80" for folded in c.casefold()) for c in text.decode(errors="replace"))}
        num_found = 0
        for _ in range(num_needles):
            halves = [text[begin:begin + r.randint(1, 7)] for text in r.sample(self.texts, r.choice([1, 2]))
                      for begin in [r.randint(0, max(0, len(text) - 3))]]
            needle = b"".join(halves).decode("ascii", "ignore").replace("%", "").replace("_", "").replace("\0", "")
            if len(needle) < 3:
                continue
            self.parameters = ["%" + needle + "%"]
            answers = [self.ids("SELECT id FROM %s WHERE line LIKE ?" % table) for table in ("log", "log_index")]
            self.parameters = ['"' + needle.replace('"', '""') + '"']
            answers.append(self.ids("SELECT rowid FROM words WHERE words MATCH ?"))
            if answers[0] != answers[1] or set(answers[0]) - odd != set(answers[2]) - odd:
                raise AssertionError("%s: %r: table, index and FTS5 find %r" % (self.name, needle, answers))
            num_found += len(answers[0]) > 0
        if num_found * 4 < num_needles:
            raise AssertionError("of %d needles only %d were found" % (num_needles, num_found))

    def check_blocks(self):
        """They are left out, or nothing was tried; and not under a like() that may be anything."""
        steps = [steps_of(self.db, "SELECT count(*) FROM %s WHERE line LIKE '%%zq7vxqjw9%%'" % table)[1] for table in ("log", "log_index")]
        if (steps[1] * 4 > steps[0]) != bool(self.options.icu):
            raise AssertionError("%s: the table takes %d steps, the index %d" % (self.name, *steps))

    def load_icu(self):
        self.db.load_extension(self.options.icu)
        if self.db.execute("SELECT 'Ä' LIKE 'ä', '\u212a' LIKE 'k'").fetchone() != (1, 1):
            raise AssertionError("this is not ICU's like()")


def main():
    options = arguments(icu="", patterns=300, mb=1.0)  # --mb: of each text
    corpora = [("news", news(), "UTF-8"), ("packages", packages(), "UTF-16le")]
    passed = failed = 0
    for name, rows, encoding in corpora:
        corpus = Corpus(name, rows, encoding, options)
        checks = [corpus.check_blocks, lambda c=corpus: c.check_patterns(options.patterns // 2)]
        if options.icu:
            checks.insert(0, corpus.load_icu)
        elif sqlite3.sqlite_version_info >= (3, 34):
            checks.append(lambda c=corpus: c.check_fts5(options.patterns // 4))
        for check in checks:
            try:
                check()
                passed += 1
            except (AssertionError, sqlite3.Error) as error:
                failed += 1
                print("FAILED: %s" % str(error)[:3000])
        print("note: %s: %d of %d conditions found rows" % (name, corpus.num_found, options.patterns // 2))
    return sum_up(passed, failed)


if __name__ == "__main__":
    sys.exit(main())
