"""make_rars.py FOLDER FILE: RAR archives of a file that is stored in them, as no free program makes them.

old.rar with old.r00 and old.r01 (version 4), new.part1.rar to new.part3.rar (version 5), one.rar and wrong.rar, of which the
checksum is not that of the bytes, and behind it a file that is right; alone.part1.rar, of which the rest is missing; secret.rar,
which says that it is encrypted; copies.rar (version 5) with two copies of the file, before and behind it.
"""
import os
import struct
import sys
import zlib

folder, path = sys.argv[1:]
with open(path, "rb") as file:
    content = file.read()
NAME = os.path.basename(path).encode()


def block4(kind, flags, rest, data=b""):
    body = struct.pack("<BHH", kind, flags, 7 + len(rest)) + rest
    return struct.pack("<H", zlib.crc32(body) & 0xFFFF) + body + data


def file4(name, part, flags, size, check):
    words = struct.pack("<IIBIIBBHI", len(part), size, 3, check, 0x58210000, 20, 0x30, len(name), 0o100644)
    return block4(0x74, 0x8000 | flags, words + name, part)


def archive4(files, volume=0, goes_on=0):
    return b"Rar!\x1a\x07\0" + block4(0x73, volume, bytes(6)) + b"".join(files) + block4(0x7B, 0x4000 | goes_on, b"")


def number(value):
    found = b""
    while value > 0x7F:
        found += bytes([value & 0x7F | 0x80])
        value >>= 7
    return found + bytes([value])


def block5(kind, flags, rest, data=b"", more=b""):
    sizes = (number(len(more)) if flags & 1 else b"") + (number(len(data)) if flags & 2 else b"")
    body = number(kind) + number(flags) + sizes + rest + more
    body = number(len(body)) + body
    return struct.pack("<I", zlib.crc32(body)) + body + data


def file5(name, size, check):
    return number(4) + number(size) + number(0o100644) + struct.pack("<I", check) + number(0) + number(1) + number(len(name)) + name


def redirection5(name, kind, original, size, check):
    record = number(5) + number(kind) + number(0) + number(len(original)) + original
    return block5(2, 3, file5(name, size, check), more=number(len(record)) + record)


def copy5(name, original):
    """A file that RAR's -oi has stored once already: a redirection of type 5."""
    return redirection5(name, 5, original, len(content), whole)


def link5(name, target):
    """A symbolic link: a redirection of type 1."""
    return redirection5(name, 1, target, 0, 0)


def archive5(part, flags, index, check):
    main = number(1 if index == 0 else 3) + (number(index) if index else b"")
    goes_on = 1 if flags & 0x10 else 0
    words = file5(NAME, len(content), check)
    return b"Rar!\x1a\x07\x01\0" + block5(1, 0, main) + block5(2, 2 | flags, words, part) + block5(5, 0, number(goes_on))


def write(name, data):
    with open(f"{folder}/{name}", "wb") as file:
        file.write(data)


whole = zlib.crc32(content)
third = len(content) // 3
parts = [content[:third], content[third : 2 * third], content[2 * third :]]
for index, part in enumerate(parts):
    last = index == len(parts) - 1
    check = whole if last else zlib.crc32(part)
    split = (1 if index else 0) | (0 if last else 2)
    name = "old.rar" if index == 0 else f"old.r{index - 1:02}"
    write(name, archive4([file4(NAME, part, split, len(content), check)], 1, 0 if last else 1))
    five = archive5(part, (8 if index else 0) | (0 if last else 16), index, check)
    write(f"new.part{index + 1}.rar", five)
    if index == 0:
        write("alone.part1.rar", five)
write("one.rar", archive4([file4(NAME, content, 0, len(content), whole)]))
write(
    "wrong.rar",
    archive4([file4(NAME, content, 0, len(content), whole ^ 1), file4(b"right", b"right\n", 0, 6, zlib.crc32(b"right\n"))]))
write("secret.rar", archive4([file4(NAME, content, 4, len(content), whole)]))
files = copy5(b"d/before", NAME) + block5(2, 2, file5(NAME, len(content), whole), content) + copy5("hinter\u00e4".encode(), NAME)
files += link5(b"link", NAME)
write("copies.rar", b"Rar!\x1a\x07\x01\0" + block5(1, 0, number(0)) + files + block5(5, 0, number(0)))
