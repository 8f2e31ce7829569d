#!/usr/bin/env python3
"""many_pages.py PAGES [BYTES]: writes a PDF whose pages each hold a line, and BYTES of noise that they all refer to."""
import random
import sys

pages, noise = int(sys.argv[1]), random.Random(8).randbytes(int((sys.argv + ["0"])[2]))
out, places, size = sys.stdout.buffer, [], 0


def write(content: bytes) -> None:
    global size
    size += out.write(content)


def add(content: bytes) -> None:
    places.append(size)
    write(b"%d 0 obj\n%s\nendobj\n" % (len(places), content))


write(b"%PDF-1.4\n")
add(b"<</Type/Catalog/Pages 2 0 R>>")
add(b"<</Type/Pages/Kids[%s]/Count %d>>" % (b" ".join(b"%d 0 R" % (5 + 2 * page) for page in range(pages)), pages))
add(b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
image = b"/Type/XObject/Subtype/Image/Width 1/Height %d/BitsPerComponent 8/ColorSpace/DeviceGray" % max(1, len(noise))
add(b"<<%s/Length %d>>stream\n%s\nendstream" % (image, len(noise), noise))
resources = b"<</Font<</F 3 0 R>>/XObject<</I 4 0 R>>>>"
for page in range(pages):
    add(b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents %d 0 R/Resources%s>>" % (6 + 2 * page, resources))
    text = b"BT /F 12 Tf 20 100 Td (This is page %d of many) Tj ET" % (page + 1)
    add(b"<</Length %d>>stream\n%s\nendstream" % (len(text), text))
end = size
write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1))
write(b"".join(b"%010d 00000 n \n" % place for place in places))
write(b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(places) + 1, end))
