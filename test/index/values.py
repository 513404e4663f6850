"""Values, texts, patterns and ids for the tests of bloom_index.

A value is a pair: SQL with at most one parameter, and the parameter or NONE.
"""
import sqlite3

NONE = object()

WORDS = ["time_out", "timeout", "request", "Request", "REQUEST", "user", "error", "took", "ms", "GET", "/index.html",
         "Zeit", "Ä", "ä", "größe", "\u212a", "k", "\u017f", "s", "I", "i", "\u0130", "\ufffd", "\ufffe", "\u0080", "\U0001f600",
         "100%", "a_b", "[x]", "*", "?", "^", "-", "0x1f", "3.14", "1e5", "12345"]
RAW = [b"a\xffb", b"\xc2", b"a\xe2\x82b", b"abc\0def", b"\0", b"\xed\xa0\x80abc", b"\xf8\x88\x80\x80\x80xyz", b"\xa3abc",
       b"\xc2\xa3abc", b"\xe0\x82\xa3abc", b"ab\xc0\x80cd", b"\xc2\x80\xc2\x81abc", b"\xf4\x90\x80\x80abc"]
NUMBERS = [0, 1, -1, 7, 10, 100, 255, 2**31 - 1, 2**31, -2**31, 2**32, 2**53, 2**53 + 1, -2**53 - 1, 2**63 - 1, -2**63, 0.0, -0.0, 0.5, 1.0, 7.0, 1e5, 1e20, -1e20,
           0.1, 0.1 + 0.2, 1.5e300, 9007199254740993.0, 9.2233720368547758e18, -9.2233720368547758e18, 5e-324]
NUMERIC_TEXTS = ["0", "1", "01", "1.0", " 1", "1 ", "+1", "-0", "1e0", "7", "7.", "07", "100", "1e2", "0.5", ".5", "0.50", "0x10", "1_0",
                 "9007199254740993", "9223372036854775807", "9223372036854775808", "1e20", "100000000000000000000", "0.1", "0.3",
                 "0.30000000000000004", "1e999", "12e3456", "1234567890e12345", "-9e999", "1e300", "1.50e+300", "2e-400", "1-2", "12345", "", " ", "a", "A", "a ", "A  ", "é", "É", "abc", "ABC", "Abc "]
BLOBS = [b"", b"1", b"abc", b"\0", b"time_out", b"\xff\xff"]
IDS = [-1, 0, 1, -2, 2**63 - 1, -2**63, 2**63 - 2, -2**63 + 1, 1000, -1000, 2**32, 2**40]


def text(r):
    """A text of a row, as str or bytes."""
    kind = r.random()
    if kind < 0.05:
        return r.choice(RAW) + r.choice(WORDS).encode() + r.choice(RAW)
    if kind < 0.08:
        # In UTF-16be SQLite 3.54.1 does not find a long text that begins with U+FFFE in an index of its own.
        return " ".join(r.choice(WORDS) for _ in range(r.randint(100, 900))).lstrip("\ufffe")
    words = [r.choice(WORDS) for _ in range(r.randint(0, 8))]
    if r.random() < 0.7:
        words.insert(r.randint(0, len(words)), "%08x" % r.getrandbits(32))
    return r.choice(["", " ", "_"]).join(words)


def of_text(value):
    return ("CAST(? AS TEXT)", value) if isinstance(value, bytes) else ("?", value)


def any_value(r):
    kind = r.random()
    if kind < 0.25:
        return ("?", r.choice(NUMERIC_TEXTS))
    if kind < 0.45:
        return ("?", r.choice(NUMBERS))
    if kind < 0.6:
        return ("?", r.randint(-5, 300))
    if kind < 0.75:
        return ("?", "key%d" % r.randint(0, 2000))
    if kind < 0.8:
        return ("?", r.choice(BLOBS))
    if kind < 0.85:
        return ("?", None)
    if kind < 0.88:
        return ("zeroblob(3)", NONE)
    return of_text(text(r))


def value_for(r, type_name, is_strict):
    """A value that a column takes, mostly."""
    if r.random() < 0.06:
        return ("?", None)
    if is_strict:
        if type_name in ("INT", "INTEGER"):
            return ("?", r.choice([r.randint(-5, 3000), r.choice([n for n in NUMBERS if isinstance(n, int)])]))
        if type_name == "REAL":
            return ("?", r.choice([r.randint(-5, 300), r.random(), r.choice(NUMBERS)]))
        if type_name == "BLOB":
            return ("?", r.choice(BLOBS + [b"%d" % r.randint(0, 3000)]))
        if type_name.startswith("TEXT"):
            return r.choice([of_text(text(r)), ("?", r.choice(NUMERIC_TEXTS)), ("?", "key%d" % r.randint(0, 2000))])
    if r.random() < 0.4:
        return any_value(r)
    if "TEXT" in type_name or "CHAR" in type_name:
        return r.choice([of_text(text(r)), of_text(text(r)), ("?", "%x" % r.getrandbits(40)), ("?", str(r.randint(0, 3000)))])
    return r.choice([("?", r.randint(0, 3000)), ("?", r.getrandbits(40)), ("?", "%x" % r.getrandbits(40)), ("?", r.random())])


def literal(r, value):
    """SQL of a literal, in any of its lexical forms; None if there is none of this value."""
    if value is None:
        return r.choice(["NULL", "NULL", "CAST(NULL AS TEXT)", "-NULL"])
    if isinstance(value, bytes):
        if type(value) is bytes:
            return r.choice(["x'%s'", "X'%s'", "CAST(x'%s' AS BLOB)"]) % value.hex()
        return "CAST(x'%s' AS TEXT)" % value.hex()
    if isinstance(value, str):
        if "\0" in value:
            return None
        return r.choice(["%s"] * 6 + ["+%s", "(%s)", "CAST(%s AS TEXT)", "-%s"]) % ("'" + value.replace("'", "''") + "'")
    if isinstance(value, float):
        if value != value or abs(value) == float("inf"):
            return r.choice(["9e999", "-9e999", "1e400"])
        sql = r.choice([repr(value), "%.17e" % value, "%.17E" % value, "%.2f" % value if abs(value) < 1e15 else repr(value)])
    elif value == -2**63:
        return r.choice(["-9223372036854775808", "0x8000000000000000", "CAST('-9223372036854775808' AS INTEGER)"])
    else:
        size = "%d" % abs(value)
        sql = r.choice([size, "0x%x" % abs(value), "0x%x" % abs(value), "0X%016X" % abs(value), size + ".0", size + "e0", size + ".", "00" + size])
        if value < 0 and r.random() < 0.3:
            return "0x%x" % (value + 2**64)
        if sqlite3.sqlite_version_info >= (3, 46) and size.isdigit() and len(size) > 1 and r.random() < 0.2:
            sql = r.choice([size[:1] + "_" + size[1:], "0x%02x" % (abs(value) >> 8) + "_%02x" % (abs(value) & 255)])
        sql = "-" + sql if value < 0 else sql
    return r.choice(["%s"] * 6 + ["+%s", "(%s)", "- %s", "-(%s)", "CAST(%s AS TEXT)", "CAST(%s AS INTEGER)", "CAST(%s AS NUMERIC)", "CAST(%s AS BLOB)"]) % sql


def near(r, value):
    """A parameter that may be equal to a value by some affinity or collation."""
    if isinstance(value, (int, float)):
        return r.choice([value, value, str(value), " %s" % value, "%s.0" % value, "0%s" % value, value + 1 if abs(value) < 2**62 else value,
                         float(value), repr(float(value)), str(value).encode()])
    if isinstance(value, bytes):
        try:
            as_text = value.decode()
        except UnicodeDecodeError:
            return value
        changes = [as_text, as_text, as_text.upper(), as_text.lower(), as_text + " ", as_text.rstrip(), "0" + as_text, as_text + ".0",
                   value, as_text[:-1], as_text + "x"]
        try:
            changes += [int(as_text), float(as_text)]
        except (ValueError, OverflowError):
            pass
        changed = r.choice(changes)
        return changed if not isinstance(changed, int) or abs(changed) < 2**63 else value
    return value


def pattern(r, texts, is_glob):
    """A pattern of LIKE or GLOB, cut from texts (bytes) and changed, as bytes."""
    many, one = (b"*", b"?") if is_glob else (b"%", b"_")
    pieces = []
    for _ in range(r.choice([1, 1, 1, 2, 2, 3])):
        source = r.choice(texts) if texts and r.random() < 0.9 else r.choice(WORDS).encode()
        begin = r.randint(0, max(0, len(source) - 1))
        piece = source[begin:begin + r.choice([1, 2, 3, 4, 5, 6, 8, 12, 20, 100])]
        change = r.random()
        if change < 0.1:
            piece = piece.swapcase()
        elif change < 0.2 and piece:
            at = r.randrange(len(piece))
            piece = piece[:at] + r.choice([one, many, b"x", b"", b"_", b"%", b"[", b"]", b"\0", b"\xff", "\u212a".encode()]) + piece[at + 1:]
        elif change < 0.3 and is_glob and piece:
            at = r.randrange(len(piece))
            piece = piece[:at] + b"[" + r.choice([b"", b"^"]) + piece[at:at + 1] + r.choice([b"", b"-z", b"x", b"]"]) + b"]" + piece[at + 1:]
        elif change < 0.35:
            piece = piece + r.choice(WORDS).encode()[:r.randint(1, 4)]
        pieces.append(piece)
    result = r.choice([many, one, many + one]).join(pieces)
    shape = r.random()
    if shape < 0.7:
        result = many + result + many
    elif shape < 0.8:
        result = result + many
    elif shape < 0.9:
        result = many + result
    if r.random() < 0.02:
        result = r.choice([b"", many, many * 5, one, b"%" * 60000, b"[", b"[^", b"[]"])
    return result


def regexp(r, texts):
    """A regular expression, cut from texts (bytes) and changed, as bytes."""
    def part():
        source = r.choice(texts) if texts and r.random() < 0.9 else r.choice(WORDS).encode()
        begin = r.randint(0, max(0, len(source) - 1))
        piece = source[begin:begin + r.choice([1, 2, 3, 4, 5, 6, 8, 12, 20])]
        change = r.random()
        if change < 0.1:
            piece = piece.swapcase()
        escaped = b"".join(b"\\" + bytes([c]) if c in b".\\[]{}|()*+?^$" else bytes([c]) for c in piece)
        if change < 0.3:
            escaped += r.choice([b"*", b"+", b"?", b"{2}", b"{0,3}", b".", b"$", b"+?"]) if escaped else b"."
        elif change < 0.45:
            escaped = b"(" + escaped + r.choice([b")", b")?", b")+", b"|" + r.choice(WORDS[:6]).encode() + b")", b"|)"])
        return escaped
    result = r.choice([b"", b".*", b".", b"[0-9a-f]+", b"[^ ]", b" ?"]).join(part() for _ in range(r.choice([1, 1, 2, 3])))
    if r.random() < 0.15:
        result += b"|" + part()
    if r.random() < 0.05:
        result = b"^" + result
    return result.replace(b"\0", b"")


def of_pattern(r, value):
    """A pattern as a parameter."""
    try:
        return ("?", value.decode())
    except UnicodeDecodeError:
        return ("CAST(? AS TEXT)", value)


def random_id(r, low, high):
    kind = r.random()
    if kind < 0.5:
        return r.randint(low, max(low, high))
    if kind < 0.6:
        return high + r.randint(-2, 3)
    if kind < 0.7:
        return high + r.choice([1, 10, 1000])
    if kind < 0.8:
        return low - r.randint(0, 3)
    return r.choice(IDS)
