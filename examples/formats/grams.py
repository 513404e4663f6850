"""The grams of a text in a LIKE column, as ext/FORMATS.md has them: hashes, classes and lists."""
def grams_hash(x):
    x = (x ^ x >> 16) * 0x85ebca6b & 0xffffffff
    x = (x ^ x >> 13) * 0xc2b2ae35 & 0xffffffff
    return x ^ x >> 16


def runs(text):
    text, run, at = text.split(b"\0")[0], b"\0", 0
    while at < len(text):
        c = text[at]
        at += 1
        if c >= 0xc0:
            c &= 0x1f if c < 0xe0 else 0x0f if c < 0xf0 else 0x07 if c < 0xf8 else 0x03 if c < 0xfc else c < 0xfe
            while at < len(text) and 0x80 <= text[at] < 0xc0:
                c = (c << 6 | text[at] & 0x3f) & 0xffffffff
                at += 1
            if c < 0x80 or 0xd800 <= c < 0xe000 or 0xfffd <= c <= 0xffff or c > 0x10ffff:
                yield run
                run = b""
                continue
        run += chr(c).encode().lower()      # of bytes: ASCII alone
    yield run


def grams(text):
    for run in runs(text):
        at = 0
        while at < len(run) - 2:
            this, after = run[at:at + 3], run[at + 3:at + 6]
            is_wide = this[0] & 0xf0 == 0xe0
            w = after[:1] or b"\0"
            if is_wide and w[0] & 0xf0 == 0xe0:
                w = bytes([1 + (grams_hash(ord(after.decode())) * 255 >> 32)])
            yield int.from_bytes(this + w, "big")
            at += 3 if is_wide else 1


def list_of(gram, cut):
    c = grams_hash(gram >> 8) >> 18
    return sum(1 << n for n in cut[:c]) + (grams_hash(gram) << cut[c] >> 32)


if __name__ == "__main__":
    for gram in grams(b"Kyoto"):
        print(gram.to_bytes(4, "big"), f"{grams_hash(gram):08x} {grams_hash(gram >> 8) >> 18} {list_of(gram, [7] * 16384)}")
    print(*(run.hex() or "-" for run in runs(b"\xc3\x84\xa3\xe0\x82\xa3A\xffb\xef\xbf\xbdC\0d")))
    print([list_of(gram, [0, 1, 2, 3, 4, 5, 6, 7] * 2048) for gram in grams("京都".encode())])
