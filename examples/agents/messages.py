"""Shows: a store of agents' messages, searched by a bloom_index and by FTS5's trigrams, in both details: size, pages that a
search reads, pages that an INSERT writes.  Run, from the top of the project, after `make`:

    python3 examples/agents/messages.py [number of messages]

Messages are tool calls and results as JSON, what people say, and files that were read: those of Python's own library.
Pages are of 4 KB, and those that a search reads are counted with an empty cache, so no machine is faster.  What it prints
is in messages.expected: of 40,000 messages, with Debian 12's Python and SQLite.
"""
import glob
import json
import os
import random
import statistics
import sys
import sysconfig

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(TOP, "test", "bench"))
import counts  # noqa: E402
import harness  # noqa: E402

NUM_NEEDLES, NUM_INSERTED = 20, 1000
WAYS = {
    "bloom_index": ("CREATE VIRTUAL TABLE found USING bloom_index(message, content LIKE)",),
    "FTS5, detail=none": ("CREATE VIRTUAL TABLE found USING fts5(content, content=message, content_rowid=id, tokenize=trigram, detail=none)",),
    "FTS5, detail=full": ("CREATE VIRTUAL TABLE found USING fts5(content, content=message, content_rowid=id, tokenize=trigram)",),
    "the table alone": (),
}
FTS_TRIGGER = "CREATE TRIGGER follow AFTER INSERT ON message BEGIN INSERT INTO found(rowid, content) VALUES (new.id, new.content); END"
ERRORS = ["ECONNREFUSED while calling the billing gateway", "permission denied: cannot open lock file", "assertion failed: left == right",
          "worker exited with signal 9 (out of memory)", "TLS handshake timed out after 3 retries"]


class Messages:
    """What agents write, one after the other; remembers needles, and how many messages have each."""

    def __init__(self):
        self.random = random.Random(7)
        self.lines = []
        for path in sorted(glob.glob(os.path.join(sysconfig.get_path("stdlib"), "*.py"))):
            with open(path, encoding="utf-8") as file:
                self.lines += [(os.path.basename(path), number, line.rstrip()) for number, line in enumerate(file, 1)]
        self.ids, self.paths = [], [f"/srv/app/services/{name}_{i}/handler.py" for i in range(400) for name in ("auth", "billing", "search")]

    def write(self):
        draw, kind = self.random, self.random.random()
        id_ = f"toolu_{draw.getrandbits(64):016x}"
        if kind < 0.35:
            self.ids.append(id_)
            return json.dumps({"type": "tool_use", "id": id_, "name": draw.choice(["read_file", "bash", "grep"]),
                               "input": {"path": draw.choice(self.paths), "offset": draw.randrange(2000)}})
        if kind < 0.75:
            at = draw.randrange(len(self.lines) - 60)
            text = "\n".join("%5d\t%s" % line[1:] for line in self.lines[at:at + draw.randrange(10, 40)])
            if draw.random() < 0.005:
                text += "\nerror: " + draw.choice(ERRORS)
            return json.dumps({"type": "tool_result", "tool_use_id": id_, "content": text})
        start = draw.randrange(len(self.lines) - 10)
        return "Let me look at %s. %s" % (draw.choice(self.paths), " ".join(line[2].strip() for line in self.lines[start:start + draw.randrange(2, 8)]))


def make(path, statements, contents, is_fts):
    """The table with its index, made as a whole; the bytes of the index."""
    db = harness.connect(path)
    db.execute("PRAGMA page_size = 4096")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("CREATE TABLE message(id INTEGER PRIMARY KEY, content TEXT)")
    db.execute("BEGIN")
    db.executemany("INSERT INTO message(content) VALUES (?)", ((content,) for content in contents))
    db.execute("COMMIT")
    pages = "SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count"
    before, = db.execute(pages).fetchone()
    for statement in statements:
        db.execute(statement)
    if is_fts:
        for command in "rebuild", "optimize":
            db.execute("INSERT INTO found(found) VALUES (?)", (command,))
        db.execute(FTS_TRIGGER)
    elif statements:
        db.execute("INSERT INTO found(found) VALUES ('merge')")
    db.commit()
    after, = db.execute(pages).fetchone()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return 4096 * (after - before)


def median(numbers):
    return f"{statistics.median(numbers):,.0f}"


def main(num_messages):
    messages = Messages()
    contents = [messages.write() for _ in range(num_messages)]
    num_bytes = sum(len(content.encode()) for content in contents)
    ids = list(messages.ids)
    new = [messages.write() for _ in range(NUM_INSERTED)]
    draw = random.Random(8)
    needles = {
        "an id": draw.sample(ids, NUM_NEEDLES),
        "an id that is nowhere": [f"toolu_{draw.getrandbits(64):016x}" for _ in range(NUM_NEEDLES)],
        "a path": draw.sample(messages.paths, NUM_NEEDLES),
        "an error text": ERRORS,
    }
    print(f"{num_messages:,} messages, {num_bytes / 1e6:.1f} MB")
    print("| | size, % of the text | " + " | ".join(f"{name}, in {statistics.mean(sum(n in c for c in contents) for n in some):.0f}: pages" for name, some in needles.items()) + " | an INSERT writes pages, mean; most | later |")
    print("|---|" + "---:|" * (len(needles) + 3))
    wanted = {}
    for name, statements in WAYS.items():
        os.makedirs(harness.FOLDER, exist_ok=True)
        path = os.path.join(harness.FOLDER, "agents.db")
        for suffix in "", "-wal", "-shm":
            if os.path.exists(path + suffix):
                os.remove(path + suffix)
        size = make(path, statements, contents, name.startswith("FTS5"))
        counter = counts.Counter(path)
        searched = []
        for kind, some in needles.items():
            table, column = ("found", "rowid") if statements else ("message", "id")
            if not statements:
                some = some[:3]
            found = counter.run(f"SELECT {column} FROM {table} WHERE content LIKE ?", [f"%{needle}%" for needle in some])
            for needle, its in zip(some, found):
                assert wanted.setdefault(needle, its.rows) == its.rows, (name, needle)
            searched.append(median([its.pages_read for its in found]))
        written = [its.pages_written for its in counter.run("INSERT INTO message(content) VALUES (?)", new, cold=False)]
        then = ""
        if name == "bloom_index":
            then = f"'merge' of {NUM_INSERTED:,}: {counter.execute('INSERT INTO found(found) VALUES (' + chr(39) + 'merge' + chr(39) + ')').pages_written:,}"
        counter.close()
        print(f"| {name} | {100 * size / num_bytes:.0f} | " + " | ".join(searched) + f" | {statistics.mean(written):.1f}; {max(written):,} | {then} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40000)
