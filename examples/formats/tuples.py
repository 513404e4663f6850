"""bloom_tuple(): the bytes of a key of several values, written and read. Compares itself with ./bloom."""
import sqlite3
import struct


def write(values):
    """The tuple's bytes; None if a value is None."""
    if None in values:
        return None
    parts = []
    for v in values:
        if isinstance(v, float) and -2.0**63 <= v < 2.0**63 and v == int(v):
            v = int(v)
        if isinstance(v, int):
            parts.append(b"\1" + struct.pack("<q", v))
        elif isinstance(v, float):
            parts.append(b"\2" + struct.pack("<d", v))
        else:
            tag, v = (b"\3", v.encode()) if isinstance(v, str) else (b"\4", v)
            parts.append(tag + struct.pack("<I", len(v)) + v)
    return b"".join(parts)


def read(key):
    values = []
    while key:
        if key[0] in (1, 2):
            values += struct.unpack_from("<q" if key[0] == 1 else "<d", key, 1)
            key = key[9:]
        else:
            length, = struct.unpack_from("<I", key, 1)
            values.append(key[5:5 + length].decode() if key[0] == 3 else key[5:5 + length])
            key = key[5 + length:]
    return values


if __name__ == "__main__":
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension("./bloom")
    for values in ([1], [-1.0], [0.5], ["1"], [b"1"], [7, "Oslo", 2.5, b"\1"], ["", b""]):
        theirs, = db.execute(f"SELECT bloom_tuple({', '.join('?' * len(values))})", values).fetchone()
        assert write(values) == theirs and read(theirs) == values
        print(f"{str(values):<26}{theirs.hex()}")
