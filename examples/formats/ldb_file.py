"""The filters in a LevelDB table file, read as ext/FORMATS.md says. Compares itself with bloom_ldb() of ./bloom."""
import sqlite3
import struct

FILTER_KEY = b"filter.leveldb.BuiltinBloomFilter2"


def crc32c(content):
    crc = 0xffffffff
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def mask(crc):
    return (crc >> 15 | crc << 17) + 0xa282ead8 & 0xffffffff


def varint(data, at):
    """The integer, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def block(file, at_handle, handles):
    offset, at_handle = varint(handles, at_handle)
    size, at_handle = varint(handles, at_handle)
    compression, crc = struct.unpack_from("<BI", file, offset + size)
    assert crc == mask(crc32c(file[offset:offset + size + 1])) and compression == 0
    return file[offset:offset + size]


def filter_block(file):
    assert struct.unpack("<Q", file[-8:]) == (0xdb4775248b80fb57,)
    metaindex = block(file, 0, file[-48:])
    num_restarts, = struct.unpack("<I", metaindex[-4:])
    end = len(metaindex) - 4 - 4 * num_restarts
    at, key = 0, b""
    while at < end:
        shared, at = varint(metaindex, at)
        unshared, at = varint(metaindex, at)
        value_bytes, at = varint(metaindex, at)
        key = key[:shared] + metaindex[at:at + unshared]
        at += unshared + value_bytes
        if key == FILTER_KEY:
            return block(file, at - value_bytes, metaindex)


def slots(filters):
    end, base_lg = struct.unpack("<IB", filters[-5:])
    for slot in range((len(filters) - 5 - end) // 4):
        start, limit = struct.unpack_from("<II", filters, end + 4 * slot)
        yield slot, slot << base_lg, (slot + 1 << base_lg) - 1, filters[start:limit]


if __name__ == "__main__":
    # The keys hello, world and e with an acute accent, as LevelDB 1.23 wrote them.
    file = bytes.fromhex(
    "00050068656c6c6f000500776f726c64000200c3a9000000000100000000d9420879114008416510"
    "c0100600000000090000000b0064101ae400220266696c7465722e6c6576656c64622e4275696c74"
    "696e426c6f6f6d46696c746572322212000000000100000000241b1514000102c4001d0000000001"
    "000000006416ab5c392f6d0e00000000000000000000000000000000000000000000000000000000"
    "000000000000000057fb808b247547db")
    for slot, first_offset, last_offset, filter in slots(filter_block(file)):
        print(slot, first_offset, last_offset, filter.hex())
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension("./bloom")
    ours = db.execute("SELECT slot, first_offset, last_offset, filter FROM bloom_ldb(?)", (file,)).fetchall()
    print(ours == list(slots(filter_block(file))))
