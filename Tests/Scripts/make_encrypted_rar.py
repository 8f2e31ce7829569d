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


class OldArchive:
    def __init__(self, salt, hides_names=False):
        self.salt, (self.key, self.vector) = salt, old_key(salt)
        self.data, self.hides = b"Rar!\x1a\x07\0" + old_block(0x73, 0x80 if hides_names else 0, bytes(6)), hides_names

    def add(self, block, data=b""):
        if self.hides:
            block = self.salt + aes(self.key, self.vector, block)
        self.data += block + data
        return self

    def file(self, name, data, is_encrypted=True):
        stored = aes(self.key, self.vector, data) if is_encrypted else data
        fields = struct.pack(
            "<IIBIIBBHI", len(stored), len(data), 3, zlib.crc32(data), 0x50000000, 29, 0x30, len(name), 0o100644)
        flags = 0x8000 | (0x404 if is_encrypted else 0)
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
Archive(one).folder(b"d").file(b"d/letter.txt", text, one, 1).file(b"d/noise.bin", noise, one, 1).write("headers.rar")
Archive(one, check=False).file(b"letter.txt", text, one, 0).write("unchecked.rar")
Archive(Keys(password + b"-2")).file(b"letter.txt", text).write("other.rar")
Archive().file(b"letter.txt", text, one).file(b"second.txt", text, Keys(password + b"-2")).write("mixed.rar")
Archive().file(b"letter.txt", text, Keys(rounds=24)).write("slow.rar")
Archive().file(b"letter.txt", text).file(b"noise.bin", noise).write("plain.rar")
for name, hides in [("old.rar", False), ("old-headers.rar", True)]:
    OldArchive(random.randbytes(8), hides).file(b"d\\letter.txt", text).file(b"d\\noise.bin", noise).write(name)
