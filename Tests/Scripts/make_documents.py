#!/usr/bin/env python3
"""make_documents.py FOLDER: report.pdf with 12 pages that say which they are, and photo.png of 400 by 300 pixels."""

import os
import sys
import zlib

from raw_files import pdf, png, stream


def report(pages):
    kids = b" ".join(b"%d 0 R" % (3 + 2 * page) for page in range(pages))
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, pages)]
    font = b"<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
    for page in range(pages):
        text = b"BT /F1 24 Tf 20 100 Td (Page %d) Tj ET" % (page + 1)
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents %d 0 R/Resources%s>>" % (4 + 2 * page, font))
        objects.append(stream(text))
    return pdf(*objects)


def photo(width, height):
    rows = b"".join(b"\0" + bytes(x * y % 256 for x in range(3 * width)) for y in range(height))
    return png(width, height, zlib.compress(rows), colours=2)


for name, data in ("report.pdf", report(12)), ("photo.png", photo(400, 300)):
    with open(os.path.join(sys.argv[1], name), "wb") as file:
        file.write(data)
