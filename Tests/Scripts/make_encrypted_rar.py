#!/usr/bin/env python3
"""make_encrypted_rar.py FOLDER PASSWORD [POWER]

Writes RAR archives of versions 5, as in RARLAB's technical note, and 4, with stored files that are encrypted in all
ways that ffmount reads. POWER is the binary logarithm of the number of rounds that derive a key.
"""

import hashlib
import hmac
import os
import random
import struct
import sys
import zlib

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

folder, password = sys.argv[1], sys.argv[2].encode()
power = int(sys.argv[3]) if len(sys.argv) > 3 else 15
random.seed(4711)
SIGNATURE = b"Rar!\x1a\x07\x01\0"


def vint(number):
    data = b""
    while number >= 0x80:
        data += bytes([number & 0x7F | 0x80])
        number >>= 7
    return data + bytes([number])


def padded(data):
    return data + bytes(-len(data) % 16)


def aes(key, vector, data):
    encryptor = Cipher(algorithms.AES(key), modes.CBC(vector)).encryptor()
    return encryptor.update(padded(data)) + encryptor.finalize()


class Keys:
    """The keys of a password and a salt."""

    def __init__(self, own=password, rounds=power):
        self.salt, self.rounds = random.randbytes(16), rounds
        derived = [hashlib.pbkdf2_hmac("sha256", own, self.salt, (1 << min(rounds, 15)) + more) for more in (0, 16, 32)]
        self.key, self.sums, last = derived
        check = bytes(last[place] ^ last[place + 8] ^ last[place + 16] ^ last[place + 24] for place in range(8))
        self.check = check + hashlib.sha256(check).digest()[:4]

    def hidden(self, crc):
        """Returns a CRC-32 that depends on the key."""
        words = struct.unpack("<8I", hmac.new(self.sums, struct.pack("<I", crc), "sha256").digest())
        result = 0
        for word in words:
            result ^= word
        return result


def header(kind, flags, own, extra=b"", data=None):
    content = vint(kind) + vint(flags | (1 if extra else 0) | (2 if data is not None else 0))
    if extra:
        content += vint(len(extra))
    if data is not None:
        content += vint(len(data))
    sized = vint(len(content + own + extra)) + content + own + extra
    return struct.pack("<I", zlib.crc32(sized)) + sized


def record(kind, content):
    content = vint(kind) + content
    return vint(len(content)) + content


def encryption(keys, flags, vector=b""):
    check = keys.check if flags & 1 else b""
    return vint(0) + vint(flags) + bytes([keys.rounds]) + keys.salt + vector + check


class Archive:
    def __init__(self, keys=None, check=True):
        """`keys` encrypt the headers."""
        self.data, self.keys = SIGNATURE, None
        if keys:
            self.add(header(4, 0, encryption(keys, 1 if check else 0)))
            self.keys = keys
        self.add(header(1, 0, vint(0), record(1, vint(1) + vint(99))))

    def add(self, block, data=b""):
        if self.keys:
            vector = random.randbytes(16)
            block = vector + aes(self.keys.key, vector, block)
        self.data += block + data
        return self

    def file(self, name, data, keys=None, flags=3, time=1_600_000_000):
        """Adds a stored file, encrypted by `keys`. `flags`: 1 with a check of the password, 2 with hidden sums."""
        crc, extra, stored = zlib.crc32(data), b"", data
        if keys:
            vector = random.randbytes(16)
            extra = record(1, encryption(keys, flags, vector))
            stored = aes(keys.key, vector, data)
            if flags & 2:
                crc = keys.hidden(crc)
                extra += record(2, vint(0) + random.randbytes(32))
        own = vint(6) + vint(len(data)) + vint(0o100644) + struct.pack("<II", time, crc) + vint(0) + vint(1)
        return self.add(header(2, 0, own + vint(len(name)) + name, extra, stored), stored)

    def folder(self, name):
        own = vint(1) + vint(0) + vint(0o40755) + vint(0) + vint(1) + vint(len(name)) + name
        return self.add(header(2, 0, own, b"", b""))

    def copy(self, name, data, original):
        """Adds a file that is a copy of one before it."""
        own = vint(4) + vint(len(data)) + vint(0o100644) + struct.pack("<I", zlib.crc32(data)) + vint(0) + vint(1)
        extra = record(5, vint(5) + vint(0) + vint(len(original)) + original)
        return self.add(header(2, 0, own + vint(len(name)) + name, extra, b""))

    def comment(self, keys):
        """Adds a service header."""
        data = random.randbytes(32)
        own = vint(4) + vint(20) + vint(0) + struct.pack("<I", 0) + vint(0) + vint(1) + vint(3) + b"CMT"
        return self.add(header(3, 0, own, record(1, encryption(keys, 3, random.randbytes(16))), data), data)

    def write(self, name):
        self.add(header(5, 0, vint(0)))
        with open(os.path.join(folder, name), "wb") as file:
            file.write(self.data)


# Version 4

def old_key(salt):
    """Returns the key and the vector of a password and a salt."""
    seed = password.decode().encode("utf-16-le") + salt
    state, vector = hashlib.sha1(), b""
    for index in range(0x40000):
        state.update(seed + struct.pack("<I", index)[:3])
        if index % 0x4000 == 0:
            vector += state.copy().digest()[19:]
    words = struct.unpack(">4I", state.digest()[:16])
    return struct.pack("<4I", *words), vector


def old_block(kind, flags, rest):
    content = struct.pack("<BHH", kind, flags, 7 + len(rest)) + rest
    return struct.pack("<H", zlib.crc32(content) & 0xFFFF) + content


def codes(lengths):
    """The canonical code of symbols with these lengths: of each its bits and their number."""
    made, code, before = {}, 0, 0
    for length, symbol in sorted((length, symbol) for symbol, length in lengths.items()):
        code <<= length - before
        made[symbol], before = (code, length), length
        code += 1
    return made


def old_packed(data):
    """Compresses bytes to one block of version 2.9 that has only literals."""
    bits = ""

    def put(value, count):
        nonlocal bits
        bits += f"{value:0{count}b}"

    put(0, 2)  # LZ, with new lengths of codes
    first = {8: 2, 9: 2, 17: 2, 18: 3, 19: 3}
    for symbol in range(20):
        put(first.get(symbol, 0), 4)
    # 255 lengths of 8, two of 9, and 147 zeros: 17 repeats, 18 and 19 are zeros.
    made = codes(first)
    for symbol, *counts in [(8,), (17, 127, 7), (17, 105, 7), (9,), (9,), (19, 127, 7), (18, 6, 3)]:
        put(*made[symbol])
        if counts:
            put(*counts)
    literals = codes({symbol: 8 if symbol < 255 else 9 for symbol in range(257)})
    for byte in data:
        put(*literals[byte])
    put(*literals[256])
    put(1, 2)  # the end of the file
    bits += "0" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big")


class OldArchive:
    def __init__(self, salt, hides_names=False, is_solid=False):
        self.salt, (self.key, self.vector) = salt, old_key(salt)
        self.hides, self.solid, self.count = hides_names, is_solid, 0
        flags = (0x80 if hides_names else 0) | (8 if is_solid else 0)
        self.data = b"Rar!\x1a\x07\0" + old_block(0x73, flags, bytes(6))

    def add(self, block, data=b""):
        if self.hides:
            block = self.salt + aes(self.key, self.vector, block)
        self.data += block + data
        return self

    def file(self, name, data, is_encrypted=True, is_packed=False, flaw=0):
        stored = old_packed(data) if is_packed else data
        stored = aes(self.key, self.vector, stored) if is_encrypted else stored
        fields = struct.pack(
            "<IIBIIBBHI", len(stored), len(data), 3, zlib.crc32(data) ^ flaw, 0x50000000, 29, 0x33 if is_packed else 0x30, len(name),
            0o100644)
        flags = 0x8000 | (0x404 if is_encrypted else 0) | (0x10 if self.solid and self.count else 0)
        self.count += 1
        return self.add(old_block(0x74, flags, fields + name + (self.salt if is_encrypted else b"")), stored)

    def write(self, name):
        self.add(old_block(0x7B, 0x4000, b""))
        with open(os.path.join(folder, name), "wb") as file:
            file.write(self.data)


text, noise = b"Dear Anna, herring 4711\n", random.Random(1).randbytes(100_000)
one, two = Keys(), Keys()
for name, flags in [("files.rar", 3), ("sums.rar", 1), ("bare.rar", 0)]:
    made = Archive().folder(b"d").file(b"d/letter.txt", text, one, flags).file(b"d/empty", b"", one, flags)
    made.comment(one).file(b"d/noise.bin", noise, two, flags).file("d/gr\u00fcn.txt".encode(), b"plain\n").write(name)
made = Archive(one).folder(b"d").file(b"d/letter.txt", text, one, 1).file(b"d/noise.bin", noise, one, 1)
made.copy(b"again.txt", text, b"d/letter.txt").write("headers.rar")
Archive(one, check=False).file(b"letter.txt", text, one, 0).write("unchecked.rar")
Archive(Keys(password + b"-2")).file(b"letter.txt", text).write("other.rar")
Archive().file(b"letter.txt", text, one).file(b"second.txt", text, Keys(password + b"-2")).write("mixed.rar")
Archive().file(b"letter.txt", text, Keys(rounds=24)).write("slow.rar")
Archive().file(b"letter.txt", text).file(b"noise.bin", noise).write("plain.rar")
for name, hides in [("old.rar", False), ("old-headers.rar", True)]:
    OldArchive(random.randbytes(8), hides).file(b"d\\letter.txt", text).file(b"d\\noise.bin", noise).write(name)
made = OldArchive(b"").file(b"letter.txt", text, False, True, flaw=1)
made.file(b"long.txt", text * 400, False, True).write("old-wrong.rar")
for name, solid in [("old-packed.rar", False), ("old-solid.rar", True)]:
    made = OldArchive(random.randbytes(8), is_solid=solid)
    made.file(b"letter.txt", text, is_packed=True).file(b"long.txt", text * 400, is_packed=True).write(name)
