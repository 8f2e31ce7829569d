"""Writes TNEF (`winmail.dat`) by [MS-OXTNEF], and compressed RTF by [MS-OXRTFCP]."""

import struct
import zlib

INT16, INT32, BOOL, DOUBLE, TIME, GUID, INT64 = 0x2, 0x3, 0xB, 0x5, 0x40, 0x48, 0x14
STRING, UNICODE, BINARY, OBJECT, MANY = 0x1E, 0x1F, 0x102, 0xD, 0x1000
# The interface ID of a message, at the start of an object's value.
MESSAGE_INTERFACE = bytes.fromhex("0703020000000000c000000000000046")


def attribute(level, tag, data, *, checksum=None, length=None):
    checksum = sum(data) if checksum is None else checksum
    length = len(data) if length is None else length
    return struct.pack("<BII", level, tag, length) + data + struct.pack("<H", checksum & 0xFFFF)


def tnef(*attributes, codepage=1252):
    head = [attribute(1, 0x00089006, struct.pack("<I", 0x10000)),
            attribute(1, 0x00069007, struct.pack("<II", codepage, 0)),
            attribute(1, 0x00078008, b"IPM.Microsoft Mail.Note\0")]
    return struct.pack("<IH", 0x223E9F78, 7) + b"".join(head) + b"".join(attributes)


def padded(data):
    return data + bytes(-len(data) % 4)


def value(kind, content):
    formats = {INT16: "<hxx", INT32: "<i", BOOL: "<?xxx", DOUBLE: "<d", TIME: "<q", INT64: "<q"}
    if kind & 0xFFF in formats:
        return struct.pack(formats[kind & 0xFFF], content)
    if kind & 0xFFF == GUID:
        return content
    if kind & 0xFFF == UNICODE:
        content = (content + "\0").encode("utf-16-le")
    elif kind & 0xFFF == STRING:
        content = content + b"\0"
    return struct.pack("<I", len(content)) + padded(content)


def prop(tag, kind, content, *, name=None):
    """A property; `name` is that of one beyond 0x8000: a number or a text."""
    head = struct.pack("<HH", kind, tag)
    if name is not None:
        head += bytes(range(16))
        head += struct.pack("<II", 0, name) if isinstance(name, int) else struct.pack("<I", 1) + value(UNICODE, name)
    if kind & MANY:
        return head + struct.pack("<I", len(content)) + b"".join(value(kind, one) for one in content)
    counted = kind in (STRING, UNICODE, BINARY, OBJECT)
    return head + (struct.pack("<I", 1) if counted else b"") + value(kind, content)


def props(*each, count=None):
    return struct.pack("<I", len(each) if count is None else count) + b"".join(each)


def message(*each, count=None):
    return attribute(1, 0x00069003, props(*each, count=count))


# One property of each type and each kind of name, which a reader has to skip.
VARIETY = (
    prop(0x0017, INT32, 1), prop(0x0E1F, BOOL, True), prop(0x0039, TIME, 133000000000000000),
    prop(0x3FF1, INT16, 7), prop(0x8001, INT32, 5, name=0x8501), prop(0x8002, UNICODE, "named by a text", name="odd"),
    prop(0x8003, MANY | UNICODE, ["one", "two, longer", ""], name="Keywords"), prop(0x8004, DOUBLE, 1.5, name=1),
    prop(0x8005, MANY | INT16, [1, 2, 3], name=2), prop(0x8006, MANY | BINARY, [b"", b"abcde"], name="b"),
    prop(0x8007, GUID, bytes(16), name=3), prop(0x8008, INT64, -1, name="i"), prop(0x001A, STRING, b"IPM.Note"),
    prop(0x8009, MANY | TIME, [1, 2], name=4), prop(0x800A, MANY | GUID, [bytes(16)], name=5))


def file(title, data, *more, method=1, rest=(), title_first=True, **lies):
    """An attachment: `title` is the short name in the code page, None for none; `more` are its properties."""
    parts = [attribute(2, 0x00069002, struct.pack("<HIHHI", method, 0xFFFFFFFF, 32, 32, 0))]
    title = [] if title is None else [attribute(2, 0x00018010, title + b"\0", **({"checksum": 1} if "checksum" in lies else {}))]
    data = [] if data is None else [attribute(2, 0x0006800F, data, **lies)]
    parts += title + data if title_first else data + title
    if more or rest:
        parts.append(attribute(2, 0x00069005, props(*more, *rest)))
    return b"".join(parts)


DICTIONARY = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans SerifSymbol"
    rb"ArialTimes New RomanCourier{\colortbl\red0\green0\blue0" b"\r\n" rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx")


def rtf(raw, compressed=True):
    """What PR_RTF_COMPRESSED holds."""
    if not compressed:
        return struct.pack("<IIII", len(raw) + 12, len(raw), 0x414C454D, 0) + raw
    ring, at, tokens = bytearray(DICTIONARY.ljust(4096, b"\0")), len(DICTIONARY), []
    place, known = 0, len(DICTIONARY)
    while place < len(raw):
        best, where = 0, 0
        for start in range(known):
            count = 0
            # A match may overlap its own output; a match into the part of the ring being written is skipped.
            while (count < 17 and place + count < len(raw) and start + count < known
                   and ring[start + count] == raw[place + count]):
                count += 1
            if count > best and not start <= at < start + count:
                best, where = count, start
        count = best if best >= 2 else 1
        tokens.append((1, struct.pack(">H", where << 4 | best - 2)) if best >= 2 else (0, raw[place:place + 1]))
        for byte in raw[place:place + count]:
            ring[at] = byte
            at = (at + 1) % 4096
            known = max(known, at)
        place += count
    tokens.append((1, struct.pack(">H", at << 4)))
    packed = b""
    for start in range(0, len(tokens), 8):
        run = tokens[start:start + 8]
        packed += bytes([sum(flag << bit for bit, (flag, _) in enumerate(run))]) + b"".join(data for _, data in run)
    check = zlib.crc32(packed, 0xFFFFFFFF) ^ 0xFFFFFFFF
    return struct.pack("<IIII", len(packed) + 12, len(raw), 0x75465A4C, check) + packed
