"""SipHash-2-4, the keys of bloom_key() under a secret."""
MASK = 2**64 - 1


def rotate(value, bits):
    return (value << bits | value >> (64 - bits)) & MASK


def siphash(secret, message):
    """The 8 bytes that bloom_key(message, 'siphash', secret) returns for a BLOB."""
    k0, k1 = (int.from_bytes(secret[i:i + 8], "little") for i in (0, 8))
    v0, v1 = k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d
    v2, v3 = k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573

    def rounds(count):
        nonlocal v0, v1, v2, v3
        for _ in range(count):
            v0, v2 = (v0 + v1) & MASK, (v2 + v3) & MASK
            v1, v3 = rotate(v1, 13) ^ v0, rotate(v3, 16) ^ v2
            v0 = rotate(v0, 32)
            v2, v0 = (v2 + v1) & MASK, (v0 + v3) & MASK
            v1, v3 = rotate(v1, 17) ^ v2, rotate(v3, 21) ^ v0
            v2 = rotate(v2, 32)

    # Whole words, then what is left of the message with its length as the last byte.
    rest = len(message) % 8
    padded = message + bytes(7 - rest) + bytes([len(message) % 256])
    for i in range(0, len(padded), 8):
        word = int.from_bytes(padded[i:i + 8], "little")
        v3 ^= word
        rounds(2)
        v0 ^= word
    v2 ^= 0xff
    rounds(4)
    return (v0 ^ v1 ^ v2 ^ v3).to_bytes(8, "little")


if __name__ == "__main__":
    # The first two of the authors' vectors, and the key of an INTEGER: its decimal text.
    for message in (b"", b"\0", b"-12"):
        print(siphash(bytes(range(16)), message).hex())
