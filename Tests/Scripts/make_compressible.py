"""make_compressible.py FOLDER: PDFs whose images are larger than they are shown, or must stay as they are."""

import math
import sys
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "benchmarks"))

from PIL import Image

from pdf_writer import Document

folder = Path(sys.argv[1])


def photograph(width, height):
    """Smooth, with a little of everything, the same each time."""
    pixels = bytes(
        int(128 + 60 * math.sin(x / 37 + band) + 50 * math.cos(y / 53 - band) + (x * y * 7919 >> 5) % 9) & 255
        for y in range(height) for x in range(width) for band in range(3))
    return Image.frombytes("RGB", (width, height), pixels)


photo = photograph(600, 450)
words = "BT /F 12 Tf 40 40 Td (Seen \\(and read\\)) Tj ET"

# In a form, which makes it half as large as its page says: 1.5 by 1.125 inches, 400 pixels an inch.
document = Document()
image = document.jpeg(photo, 90)
form = document.add(
    f"<</Type/XObject/Subtype/Form/BBox[0 0 1000 1000]/Matrix[.5 0 0 .5 0 0]/Resources<</XObject<</I {image} 0 R>>>>>>",
    b"q 216 0 0 162 100 100 cm /I Do Q")
document.page(f"{words} q 1 0 0 1 10 10 cm /X Do Q", {"X": form})
document.page("q 0 108 -81 0 300 300 cm /I Do Q", {"I": image})
document.write(folder / "form.pdf")

# Once small and once 3 inches wide: that takes 450 pixels.
document = Document()
image = document.jpeg(photo, 90)
document.page(f"{words} q 72 0 0 54 0 0 cm /I Do Q q 216 0 0 162 0 100 cm /I Do Q", {"I": image})
document.write(folder / "twice.pdf")

# Each kind of colours, shown at 400 pixels an inch, and what must keep every pixel.
document = Document()
soft = document.plain(photo.convert("L"))
placed = {
    "gray": document.jpeg(photo.convert("L"), 90),
    "cmyk": document.jpeg(photo.convert("CMYK"), 90),
    "plain": document.plain(photo, f"/SMask {soft} 0 R"),
    "palette": document.plain(photo.quantize(200)),
    "keyed": document.plain(photo, "/Mask[0 10 0 10 0 10]"),
}
for name, image in placed.items():
    document.page(f"{words} q 108 0 0 81 72 72 cm /{name} Do Q", {name: image})
document.write(folder / "colours.pdf")

# Black and white at 300 pixels an inch: to the last pixel, in three codings, and a stencil.
lines = photo.convert("L").resize((450, 338)).point(lambda value: 255 if value > 128 else 0).convert("1")
document = Document()
for image in (document.fax(lines), document.plain(lines), document.plain(lines.convert("L"))):
    document.page(f"{words} q 108 0 0 81 72 72 cm /I Do Q", {"I": image})
stencil = document.image("/ImageMask true/Filter/FlateDecode", zlib.compress(lines.tobytes()), lines.size)
document.page(f"{words} q 0 0 1 rg 108 0 0 81 72 72 cm /I Do Q", {"I": stencil})
document.write(folder / "bilevel.pdf")

# The same image twenty times.
document = Document()
for number in range(20):
    document.page(f"q 108 0 0 81 72 {number} cm /I Do Q", {"I": document.jpeg(photo.resize((225, 169)), 50)})
document.write(folder / "copies.pdf")

# With the value of a signature.
document = Document()
image = document.jpeg(photo, 90)
value = document.add("<</Type/Sig/Filter/Adobe.PPKLite/ByteRange[0 10 20 30]/Contents<00>>>")
field = document.add(f"<</Type/Annot/Subtype/Widget/FT/Sig/T(Signature)/V {value} 0 R/Rect[0 0 0 0]>>")
document.page(f"q 108 0 0 81 72 72 cm /I Do Q", {"I": image}, more=f"/Annots[{field} 0 R]")
document.write(folder / "signed.pdf")
