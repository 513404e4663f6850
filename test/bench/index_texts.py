"""
The texts that test/bench/index.py searches, and what it looks for in them.

  log            index_log.py's messages
  descriptions   Debian's long descriptions of packages, in random order: neighbours are often of one source
  documents      of 2 to 30 KB, of descriptions in their own order
  zh and ja      paragraphs of manual pages in Chinese and Japanese

Of each text there are needles, the same in every run:

  halves         8 bytes in no row, of two halves that are in some
  one row's      12 and 8 bytes that one row has; of the log alone, these and the halves from index_needles.tsv
  hex digits     8 random ones, in no row
  digits         a number behind another, as in `user 48213, trace 7f`
  two words      each is in some row, and the two never side by side
  8 bytes, 12    of a row; of zh and ja whole characters, 9 bytes and 12
  three bytes    of a row
  two characters of zh and ja, each in some row, which stand together in none, or in some: these drawn
                 from all different ones, as are their words, of two characters each
"""
import gzip
import os
import random
import re
import subprocess
import sys
import tarfile

import harness
import index_log

DATA = os.path.join(harness.FOLDER, "data")
TRANSLATIONS = os.environ.get("TRANSLATIONS", os.path.join(DATA, "Translation-en"))
MANUALS = "manpages-zh", "manpages-ja"


def descriptions():
    texts, text = [], []
    with open(TRANSLATIONS, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("Description-en: "):
                text.append(line[16:])
            elif text and line.startswith(" "):
                text.append(line[1:])
            elif text:
                texts.append("".join(text))
                text = []
    return texts


def shuffled(texts):
    random.Random(1).shuffle(texts)
    return texts


def documents():
    draw = random.Random(2)
    made, text, wanted = [], [], 0
    for its in descriptions():
        text.append(its)
        if sum(map(len, text)) >= wanted:
            made.append("\n".join(text))
            text, wanted = [], 2000 * 15 ** draw.random()
    return made[1:]


def manual_pages():
    """Paragraphs with at least ten such characters, of the packages that run.sh fetches."""
    found = []
    for package in MANUALS:
        path = os.path.join(DATA, package + ".deb")
        if not os.path.exists(path):
            return []
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", path], stdout=subprocess.PIPE) as unpacked:
            with tarfile.open(fileobj=unpacked.stdout, mode="r|") as files:
                for file in files:
                    if not (file.isfile() and re.search(r"/man/(zh_CN|ja)/.*\.gz$", file.name)):
                        continue
                    text = gzip.decompress(files.extractfile(file).read()).decode("utf-8", "ignore")
                    text = re.sub(r"(?m)^[.'].*\n|\\f.|\\-", "", text)
                    found += [its for its in re.split(r"\n\n|(?<=。)\n", text) if len(CJK.findall(its)) >= 10]
    return found


CJK = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")
TEXTS = {"descriptions": lambda: shuffled(descriptions()), "documents": documents, "zh and ja": lambda: shuffled(manual_pages())}


def database(what, num_rows):
    """The path of a table texts(id, message), which is kept, or None if there is no such text."""
    if what == "log":
        return index_log.database(num_rows)
    if what == "zh and ja" and not all(os.path.exists(os.path.join(DATA, package + ".deb")) for package in MANUALS):
        return None
    if what != "zh and ja" and not os.path.exists(TRANSLATIONS):
        return None

    def fill(db):
        db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, message TEXT)")
        db.executemany("INSERT INTO log(message) VALUES (?)", ((text,) for text in TEXTS[what]()))
    return harness.database(what.replace(" ", "-"), fill, __file__)


# -- Needles -------------------------------------------------------------------------------------

class Needles:
    """What is looked for in a text."""

    def __init__(self, what, messages):
        self.what = what
        self.draw = random.Random(24)
        self.text = "\n".join(messages).lower()
        self.bytes = self.text.encode()
        self.some = [its for its in self.draw.sample(messages, min(3000, len(messages))) if len(its) > 30]
        self.is_cjk = what == "zh and ja"
        self.words = sorted({word for its in self.some[:500] for word in re.findall("[a-z]{3,}", its.lower())})
        self.pairs = sorted({pair for its in self.some for pair in re.findall(f"(?=({CJK.pattern}{{2}}))", its)}) if self.is_cjk else []

    def piece(self, num_bytes):
        """Bytes of a row: characters of 1 byte, or of 3 where there are others."""
        while True:
            its = self.draw.choice(self.some).lower()
            length = num_bytes if not self.is_cjk else -(-num_bytes // 3)
            start = self.draw.randrange(len(its) - length)
            found = its[start:start + length]
            if not re.search(r"[%_\n]", found) and (len(CJK.findall(found)) == length if self.is_cjk else found.isascii()):
                return found

    def has(self, needle):
        return needle.encode() in self.bytes

    def two_words(self):
        if self.is_cjk:
            return self.draw.choice(self.pairs) + self.draw.choice(self.pairs)
        return f"{self.draw.choice(self.words)} {self.draw.choice(self.words)}"

    def digits(self):
        return f"r {self.draw.randrange(10_000, 100_000)}, trace {self.draw.randrange(256):02x}"

    def kinds(self):
        """{kind: (make, whether it is in a row, or None)}"""
        found = {}
        if not self.is_cjk:
            found["halves"] = (lambda: self.piece(4) + self.piece(4), False)
        if self.what == "log":
            del found["halves"]
            found["hex digits"] = (lambda: f"{self.draw.getrandbits(32):08x}", False)
            found["digits"] = (self.digits, None)
        found["two words"] = (self.two_words, False)
        if self.is_cjk:
            found["two characters, absent"] = (lambda: self.piece(3) + self.piece(3), False)
            found["two characters"] = (lambda: self.draw.choice(self.pairs), True)
        found["8 bytes"] = (lambda: self.piece(8), True)
        found["12 bytes"] = (lambda: self.piece(12), True)
        found["three bytes"] = (lambda: self.piece(3), True)
        return found

    def all(self, num_each):
        """{kind: [needle, ...]}"""
        found = {}
        if self.what == "log":
            kept = index_log.needles()
            found = {"halves": kept["absent8"][:num_each], "one row's": kept["id12"][:num_each // 2] + kept["piece8"][:num_each // 2]}
        return found | {kind: self.some_of(*its, num_each) for kind, its in self.kinds().items()}

    def some_of(self, make, is_there, num_each):
        found, tries = [], 0
        while len(found) < num_each and tries < 50 * num_each:
            needle, tries = make(), tries + 1
            if needle not in found and (is_there is None or self.has(needle) == is_there):
                found.append(needle)
        return found


if __name__ == "__main__":
    for name in sys.argv[1:]:
        connection = harness.sqlite3.connect(database(name, 100_000))
        texts = [message for message, in connection.execute("SELECT message FROM log")]
        print(name, len(texts), sum(len(its.encode()) for its in texts))
        for its_kind, its in Needles(name, texts).all(5).items():
            print(" ", its_kind, its)
