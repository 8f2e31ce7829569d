#!/usr/bin/env python3
"""many_pages.py PAGES [BYTES]: writes a PDF whose pages each hold a line, and BYTES of noise that they all show."""
import random
import sys

from raw_files import pdf, stream

pages, noise = int(sys.argv[1]), random.Random(8).randbytes(int((sys.argv + ["0"])[2]))
kids = b" ".join(b"%d 0 R" % (5 + 2 * page) for page in range(pages))
image = b"/Type/XObject/Subtype/Image/Width 1/Height %d/BitsPerComponent 8/ColorSpace/DeviceGray" % max(1, len(noise))
objects = [
    b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, pages),
    b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>", stream(noise, image),
]  # fmt: skip
shown = b"/I Do " if noise else b""
resources = b"<</Font<</F 3 0 R>>/XObject<</I 4 0 R>>>>"
for page in range(pages):
    objects.append(
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents %d 0 R/Resources%s>>" % (6 + 2 * page, resources))
    objects.append(stream(b"%sBT /F 12 Tf 20 100 Td (This is page %d of many) Tj ET" % (shown, page + 1)))
sys.stdout.buffer.write(pdf(*objects))
