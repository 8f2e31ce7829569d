"""PDF and PNG files put together by hand, for what no library writes."""
import struct
import zlib


def pdf(*objects: bytes) -> bytes:
    """Objects from 1 on; the first is the catalog."""
    parts, places, size = [b"%PDF-1.4\n"], [], 9
    for number, content in enumerate(objects, 1):
        places.append(size)
        parts.append(b"%d 0 obj\n%s\nendobj\n" % (number, content))
        size += len(parts[-1])
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = (len(places) + 1, table, len(places) + 1, size)
    parts.append(b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % end)
    return b"".join(parts)


def stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (entries, len(content), content)


def png(width: int, height: int, packed: bytes, colours: int = 0, depth: int = 8) -> bytes:
    """`packed` is a zlib stream of rows with their filters."""
    head = struct.pack(">IIBBBBB", width, height, depth, colours, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", packed) + _chunk(b"IEND", b"")


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
