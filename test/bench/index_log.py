"""
The log that test/bench/index.py searches, and the needles that it looks for.

Rows are (id, trace_id, user_id, message): 16 hexadecimal digits in no order, a number below
100,000, and a message of about 95 bytes with random ids in it.  Row n is the same in every
table, whatever its size.  index_needles.tsv has the needles; `index_log.py ROWS` writes it,
for tables of up to so many rows, and takes minutes.

  absent8, absent4    in no row, made of two halves that are in rows: the hard kind
  id12, piece8        in one row: an id of 12 digits, any piece of 8 bytes
  percent             in about 1 % of the rows, spread evenly
  third               in a third of them
"""
import os
import random
import sys

import harness

NEEDLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "index_needles.tsv")
CHUNK = 10_000
THINGS = ("payment", "order", "session", "cache", "request", "worker", "shipment", "invoice", "profile", "basket")
MESSAGES = (
    lambda r: f"GET /api/v1/{r.thing}s/{r.id} finished with status 200 in {r.ms} ms for user {r.user}, trace {r.other}",
    lambda r: f"could not reach {r.thing} service at 10.7.{r.a}.{r.b}: connection time_out after {r.ms} ms, request {r.id}",
    lambda r: f"user {r.user} signed in from 192.168.{r.a}.{r.b} with session {r.id} and was sent to the {r.thing} page",
    lambda r: f"{r.thing} {r.other} was written to the queue by node-{r.a % 64} and waits for {THINGS[r.b % 10]} {r.id}",
    lambda r: f"warning: slow query on table {r.thing}_{THINGS[r.b % 10]} took {r.ms} ms and returned {r.many} rows, statement {r.id}",
    lambda r: f"retry {r.a % 9} of job {r.id} failed because the {r.thing} was locked by transaction {r.other}",
    lambda r: f"sent {r.many * 17} bytes of {r.thing} to client {r.user} over TLS 1.3, peer id {r.id}, cache miss",
    lambda r: f"error 500 in {r.thing} handler: unexpected end of input at byte {r.many} of message {r.id}",
    lambda r: f"scheduled task cleanup_{r.thing} removed {r.many} entries older than {r.a % 90} days, run {r.id}",
    lambda r: f"{r.thing} {r.id} was created by user {r.user} with total {r.ms}.{r.b % 90 + 10} EUR, confirmation {r.other}",
    lambda r: f"health check of host-{r.a % 128}: cpu {r.b % 100} %, memory {r.many} MB, {r.ms} open files, probe {r.id}",
    lambda r: f"token {r.id} of user {r.user} expired after {r.ms} s, refreshed from key {r.other} for {r.thing}",
)


class Numbers:
    """What a message is made of, from random bits."""
    __slots__ = ("id", "other", "user", "ms", "many", "a", "b", "thing")

    def __init__(self, bits):
        self.id = f"{bits & 0xffffffffffff:012x}"
        self.other = f"{bits >> 48 & 0xffffffffffff:012x}"
        self.user = (bits >> 96 & 0xffffff) % 100_000
        self.ms = (bits >> 120 & 0xffff) % 3000
        self.many = (bits >> 136 & 0xffffff) % 50_000
        self.a = bits >> 160 & 0xff
        self.b = bits >> 168 & 0xff
        self.thing = THINGS[(bits >> 176 & 0xffff) % 10]


def chunk(number):
    draw = random.Random(number).getrandbits
    for i in range(number * CHUNK, (number + 1) * CHUNK):
        bits = draw(256)
        trace_id = f"{bits >> 192:016x}"
        bits = draw(256)
        yield i + 1, trace_id, (bits >> 192 & 0xffffffff) % 100_000, MESSAGES[(bits >> 224) % 12](Numbers(bits))


def rows(first, count):
    """Rows first .. first+count-1."""
    for number in range((first - 1) // CHUNK, (first + count - 2) // CHUNK + 1):
        for row in chunk(number):
            if first <= row[0] < first + count:
                yield row


def fill(db, num_rows):
    db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, trace_id TEXT, user_id INTEGER, message TEXT)")
    db.executemany("INSERT INTO log VALUES (?, ?, ?, ?)", rows(1, num_rows))


def database(num_rows):
    """The path of a table of so many rows, which is kept."""
    return harness.database(f"log-{num_rows}", lambda db: fill(db, num_rows), __file__)


def needles():
    """{kind: [needle, ...]}"""
    found = {}
    with open(NEEDLES, encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith("#"):
                kind, *some = line.rstrip("\n").split("\t")
                found.setdefault(kind, []).extend(some)
    return found


# -- Making the list --------------------------------------------------------------------------

def count(text, needle):
    """In how many places a needle stands: 0, 1, or 2 for more."""
    first = text.find(needle)
    return 0 if first < 0 else 1 if text.find(needle, first + 1) < 0 else 2


def pick(text, make, wanted, how_many):
    """Different needles that stand in 0 places, or in 1."""
    found = []
    while len(found) < how_many:
        needle = make()
        if needle not in found and b"%" not in needle and b"_" not in needle and count(text, needle) == wanted:
            found.append(needle)
            print(needle, file=sys.stderr)
    return found


def write_needles(num_rows):
    draw = random.Random(24)
    text = "\n".join(row[3] for row in rows(1, num_rows)).lower().encode()
    some = [row[3].lower().encode() for row in rows(1, 100_000)]

    def piece(length):
        message = draw.choice(some)
        start = draw.randrange(len(message) - length)
        return message[start:start + length]

    def an_id():
        message = draw.choice(some)
        return next(word for word in reversed(message.replace(b",", b" ").replace(b"/", b" ").split())
                    if len(word) == 12 and all(c in b"0123456789abcdef" for c in word))

    found = {
        "absent8": pick(text, lambda: piece(4) + piece(4), 0, 100),
        "absent4": pick(text, lambda: piece(2) + piece(2), 0, 100),
        "id12": pick(text, an_id, 1, 30),
        "piece8": pick(text, lambda: piece(8), 1, 60),
        "percent": [b"error 500 in basket", b"not reach cache", b"cleanup_order"],
        "third": [b"user "],
    }
    with open(NEEDLES, "w", encoding="utf-8") as out:
        out.write(f"# kind, needle ...; made by index_log.py {num_rows}, which says what the kinds are\n")
        for kind, its in found.items():
            for i in range(0, len(its), 10):
                out.write("\t".join([kind] + [needle.decode() for needle in its[i:i + 10]]) + "\n")


if __name__ == "__main__":
    write_needles(int(sys.argv[1]))
