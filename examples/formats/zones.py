"""The keys of values in a column with RANGE, and rows of zones, as ext/FORMATS.md has them."""
import struct


def of_number(x, step=0):
    bits, = struct.unpack(">Q", struct.pack(">d", float(x) + 0.0))
    bits = bits ^ (2**64 - 1 if bits >> 63 else 2**63)
    return (b"\x01" + struct.pack(">Q", bits + step)).ljust(24, b"\0")


def of_text(text, collation="BINARY"):
    text = text.encode()
    if collation == "RTRIM":
        text = text.rstrip(b" ")
    if collation == "NOCASE":
        text = text.split(b"\0")[0].lower()
    return b"\x02" + text[:23].ljust(23, b"\0")


def divided(spans):
    spans, gaps, largest = sorted(spans), [], b""
    for i, (smallest, last) in enumerate(spans):
        if i and smallest > largest:
            gaps.append((int.from_bytes(smallest, "big") - int.from_bytes(largest, "big"), -i))
        largest = max(largest, last)
    cut = -max(gaps)[1] if gaps else len(spans)
    return [(min(half)[0], max(last for _, last in half)) for half in (spans[:cut], spans[cut:]) if half]


def zone(values):
    spans = []
    for value in values:
        spans = divided(spans + [value])
    return spans


def packed(zones, nulls=()):
    """zones: {place in the row: spans}; without the checksum."""
    keys = [key for i in sorted(zones) for span in zones[i] for key in span]
    bits = [sum(1 << i for i in zones if len(zones[i]) > n) for n in (0, 1)] + [sum(1 << i for i in nulls)]
    most = max(len(key.rstrip(b"\0")) for key in keys)
    p = next((i for i in range(most) if len({key[i] for key in keys}) > 1), most)
    return struct.pack("<IIIBB", *bits, p, most - p) + keys[0][:p] + b"".join(key[p:most] for key in keys)


if __name__ == "__main__":
    times = zone((of_number(x),) * 2 for x in (1700000000, 1700000007, 1699913600, 1700000003))
    print(packed({0: times, 31: times[:1]}, [0, 7]).hex())
    words = zone((of_text(word, "NOCASE"),) * 2 for word in ("2026-11-23 12:00:00.123456", "Zebra", "abc"))
    print(packed({2: words}).hex())
    ten = of_number(10, -1), of_text("10")
    print(packed({1: zone([ten, (of_number(12),) * 2, (of_text("zzz"),) * 2])}).hex())
