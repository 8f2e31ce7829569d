"""Writes PDFs of three pages: FOLDER/data.pdf, whose second page has damaged data, FOLDER/lost.pdf, in which the contents of the
second page and the cross-references are lost, FOLDER/zeros.pdf, in which zeros are in place of the contents of the second
page, FOLDER/cut.pdf, whose end with the font is cut off, and with qpdf FOLDER/objects.pdf, whose object stream is damaged."""

import pathlib
import re
import subprocess
import sys
import zlib


def document(damage: str) -> bytes:
    contents = []
    for page in range(3):
        lines = "".join(f"({'first second third'.split()[page]} {number * 7919 % 1000}) Tj T*\n" for number in range(200))
        contents.append(bytearray(zlib.compress(f"BT /F 9 Tf 10 TL 20 780 Td\n{lines}ET\n".encode())))
    if damage == "data":
        middle = len(contents[1]) // 2
        contents[1][middle] ^= 255
        contents[1][middle + 1] ^= 255
    objects = {1: b"<</Type/Catalog/Pages 2 0 R>>", 2: b"<</Type/Pages/Count 3/Kids[4 0 R 6 0 R 8 0 R]>>"}
    objects[3] = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
    for page, data in enumerate(contents):
        number = 4 + 2 * page
        resources = b"/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>>>"
        objects[number] = b"<</Type/Page/Parent 2 0 R%b/Contents %d 0 R>>" % (resources, number + 1)
        objects[number + 1] = b"<</Filter/FlateDecode/Length %d>>stream\n%b\nendstream" % (len(data), data)
    if damage == "lost":
        del objects[7]
    file, places = b"%PDF-1.4\n", {}
    for number, text in sorted(objects.items()):
        places[number] = len(file)
        file += b"%d 0 obj%b\nendobj\n" % (number, text)
    table = b"".join(b"%010d 00000 n \n" % places.get(number, 0) for number in range(1, 10))
    end = b"trailer<</Size 10/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (1 if damage == "lost" else len(file))
    return file + b"xref\n0 10\n0000000000 65535 f \n" + table + end


folder = pathlib.Path(sys.argv[1])
for kind in ("data", "lost", "sound"):
    (folder / f"{kind}.pdf").write_bytes(document(kind))
sound = bytearray((folder / "sound.pdf").read_bytes())
start = sound.index(b"7 0 obj")
sound[start : sound.index(b"8 0 obj")] = bytes(sound.index(b"8 0 obj") - start)
(folder / "zeros.pdf").write_bytes(sound)
# The font comes last.
sound = (folder / "sound.pdf").read_bytes().replace(b"/F 3 0 R", b"/F 99 0 R")
(folder / "cut.pdf").write_bytes(sound[: sound.index(b"xref")])
path = folder / "objects.pdf"
subprocess.run(["qpdf", "--object-streams=generate", "--recompress-flate", "--compression-level=0", folder / "sound.pdf", path], check=True)
file = bytearray(path.read_bytes())
stream = re.compile(rb"/ObjStm.*?stream\n(.*?)endstream", re.S).search(file)
place = file.index(b"Helvetica", stream.start(1))
file[place : place + 9] = b"Helvetika"
path.write_bytes(file)
