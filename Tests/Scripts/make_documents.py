#!/usr/bin/env python3
"""make_documents.py FOLDER: report.pdf with 12 pages that say which they are, and photo.png of 400 by 300 pixels."""

import os
import struct
import sys
import zlib


def pdf(pages):
    kids = b" ".join(b"%d 0 R" % (3 + 2 * page) for page in range(pages))
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, pages)]
    font = b"<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
    for page in range(pages):
        text = b"BT /F1 24 Tf 20 100 Td (Page %d) Tj ET" % (page + 1)
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents %d 0 R/Resources%s>>" % (4 + 2 * page, font))
        objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(text), text))
    out, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = (len(places) + 1, table, len(places) + 1, len(out))
    return out + b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % end


def png(width, height):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes(x * y % 256 for x in range(3 * width)) for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


for name, data in ("report.pdf", pdf(12)), ("photo.png", png(400, 300)):
    with open(os.path.join(sys.argv[1], name), "wb") as file:
        file.write(data)
