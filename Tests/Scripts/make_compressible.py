"""make_compressible.py FOLDER [odd]: PDFs whose images are larger than they are shown, or must stay as they are.

With `odd`, also those that say it in ways that are easily missed.
"""

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

# In a form that scales it to half the size on its page: 1.5 by 1.125 inches, 400 pixels per inch.
document = Document()
image = document.jpeg(photo, 90)
form = document.add(
    f"<</Type/XObject/Subtype/Form/BBox[0 0 1000 1000]/Matrix[.5 0 0 .5 0 0]/Resources<</XObject<</I {image} 0 R>>>>>>",
    b"q 216 0 0 162 100 100 cm /I Do Q")
document.page(f"{words} q 1 0 0 1 10 10 cm /X Do Q", {"X": form})
document.page("q 0 108 -81 0 300 300 cm /I Do Q", {"I": image})
document.write(folder / "form.pdf")

# Once small and once 3 inches wide, which needs 450 pixels.
document = Document()
image = document.jpeg(photo, 90)
document.page(f"{words} q 72 0 0 54 0 0 cm /I Do Q q 216 0 0 162 0 100 cm /I Do Q", {"I": image})
document.write(folder / "twice.pdf")

# Each colour space, painted at 400 pixels per inch, and images that must keep every pixel.
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

# Black and white at 300 pixels per inch: lossless, in three encodings, and a stencil.
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

if sys.argv[2:] != ["odd"]:
    sys.exit()


def sheet(document, content, resources, more=""):
    """A page with resources of any kind."""
    stream = document.add("<<>>", content if isinstance(content, bytes) else content.encode("latin-1"))
    document.pages.append(document.add(
        f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents {stream} 0 R/Resources<<{resources}>>{more}>>"))
    return document.pages[-1]


def form(document, content, resources="", box="0 0 595 842"):
    return document.add(f"<</Type/XObject/Subtype/Form/BBox[{box}]{resources}>>", content.encode())


# Colour tables in another object, with the default decoding, and with more entries than can be used.
document = Document()
for number in range(9):
    document.add(f"({number})")
spot = document.add(
    "<</FunctionType 2/Domain[0 1]/C0[0 0 0 0]/C1[0 .9 .2 0]/N 1>>")
table = document.add(f"[/Separation/Spot/DeviceCMYK {spot} 0 R]")
few = photo.quantize(16, dither=Image.Dither.NONE)
indices = few.tobytes()
half = bytes(high << 4 | low for high, low in zip(indices[::2], indices[1::2]))
colours = bytes(few.getpalette()[:48])
many = photo.quantize(200)
for space, bits, data in (
        (f"[/Indexed {table} 0 R 199<{bytes(range(55, 255)).hex()}>]", 8, many.tobytes()),
        (f"[/Indexed[/Separation/Spot/DeviceCMYK {spot} 0 R]199<{bytes(range(55, 255)).hex()}>]", 8, many.tobytes()),
        (f"[/Indexed/DeviceRGB 15<{colours.hex()}>]/Decode[0 15]", 4, half),
        (f"[/Indexed/DeviceRGB 50<{bytes(many.getpalette()[:600]).hex()}>]", 8, many.tobytes())):
    image = document.image(
        f"/ColorSpace{space}/BitsPerComponent {bits}/Filter/FlateDecode", zlib.compress(data), photo.size)
    sheet(document, "q 108 0 0 81 72 72 cm /I Do Q q 500 0 0 375 50 200 cm /I Do Q" if bits == 4
          else "q 108 0 0 81 72 72 cm /I Do Q", f"/XObject<</I {image} 0 R>>")
document.write(folder / "palettes.pdf")

# Halftone dots and lines of one pixel, at 600 pixels per inch.
document = Document()
ramp = Image.linear_gradient("L").resize((900, 900))
dots = ramp.convert("1")
fine = Image.new("1", (900, 900), 1)
for at in range(11, 900, 24):
    fine.paste(0, (at, 0, at + 1, 900))
for image in (dots, fine):
    number = document.plain(image)
    sheet(document, "q 108 0 0 108 72 72 cm /I Do Q", f"/XObject<</I {number} 0 R>>")
document.write(folder / "dots.pdf")

# Small where it is easy to find, and large where it is hard to find: the image keeps its pixels.
SMALL, LARGE = "q 36 0 0 27 10 10 cm /I Do Q ", "q 432 0 0 324 50 150 cm /I Do Q "
INLINE = b"q 20 0 0 20 300 700 cm BI/W 4/H 4/CS/G/BPC 8 ID " + bytes(range(100, 116))
for place in ("circle", "borrowed", "lent", "glyph", "close", "latin", "icon"):
    document = Document()
    image = document.jpeg(photo, 90)
    objects, content, more = {"I": image}, SMALL, ""
    font = ""
    if place == "circle":
        # The form visited first refers back to the one with the image.
        both = document.add("")
        large = form(document, LARGE, f"/Resources {both} 0 R")
        other = form(document, "/L Do", f"/Resources<</XObject<</L {large} 0 R>>>>")
        document.objects[both - 1] = f"<</XObject<</A {large} 0 R/G {other} 0 R/I {image} 0 R>>>>".encode()
        stream = document.add("<<>>", f"{SMALL} /G Do".encode())
        document.pages.append(document.add(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents {stream} 0 R/Resources {both} 0 R>>"))
        document.write(folder / "elsewhere-circle.pdf")
        continue
    if place == "borrowed":
        inner = form(document, LARGE)
        objects["G"] = form(document, "/L Do", f"/Resources<</XObject<</L {inner} 0 R>>>>")
        content += "/G Do"
    if place == "lent":
        # The resources of another page, which has another image of that name.
        objects["G"] = form(document, LARGE)
        sheet(document, "/G Do", f"/XObject<</G {objects['G']} 0 R/I {document.plain(photo.convert('L'))} 0 R>>")
        content += "/G Do"
    if place == "glyph":
        glyph = document.add("<<>>", b"1000 0 d0 q 1000 0 0 750 0 0 cm /I Do Q")
        font = (f"/Font<</T<</Type/Font/Subtype/Type3/FontBBox[0 0 1000 1000]/FontMatrix[.001 0 0 .001 0 0]"
                f"/CharProcs<</a {glyph} 0 R>>/Encoding<</Differences[97/a]>>/FirstChar 97/LastChar 97/Widths[1000]"
                f"/Resources<</XObject<</I {image} 0 R>>>>>>>>")
        content += "BT /T 432 Tf 50 150 Td (a) Tj ET"
    if place == "close":
        content = SMALL.encode() + INLINE + b"EI Q " + LARGE.encode()
    if place == "latin":
        content = SMALL.encode() + INLINE + b"\nEI Q BT(\x80\x90)Tj ET " + LARGE.encode()
    if place == "icon":
        icon = form(document, "/I Do", f"/Resources<</XObject<</I {image} 0 R>>>>", "0 0 1 1")
        more = f"/Annots[<</Type/Annot/Subtype/Widget/FT/Btn/Ff 65536/T(b)/Rect[50 150 482 474]/MK<</I {icon} 0 R/TP 1>>>>]"
    names = "".join(f"/{name} {number} 0 R" for name, number in objects.items())
    sheet(document, content, f"/XObject<<{names}>>{font}", more)
    document.write(folder / f"elsewhere-{place}.pdf")

# Sixteen bits, where the image may also be used elsewhere.
document = Document()
deep = b"".join(bytes((value, 77)) for value in photo.convert("L").tobytes())
image = document.image("/ColorSpace/DeviceGray/BitsPerComponent 16/Filter/FlateDecode", zlib.compress(deep, 1), photo.size)
sheet(document, f"{SMALL} /Missing Do", f"/XObject<</I {image} 0 R>>")
document.write(folder / "deep.pdf")

# A signature in the field itself; information in the trailer itself.
document = Document()
field = document.add(
    "<</Type/Annot/Subtype/Widget/FT/Sig/T(Signature)/V<</Type/Sig/ByteRange[0 10 20 30]/Contents<00>>>/Rect[0 0 0 0]>>")
document.page("q 108 0 0 81 72 72 cm /I Do Q", {"I": document.jpeg(photo, 90)}, more=f"/Annots[{field} 0 R]")
document.write(folder / "initialled.pdf")

document = Document()
document.page("q 108 0 0 81 72 72 cm /I Do Q", {"I": document.jpeg(photo, 90)})
document.write(folder / "titled.pdf")
trailer = (folder / "titled.pdf").read_bytes()
(folder / "titled.pdf").write_bytes(trailer.replace(b"/Root 1 0 R>>", b"/Root 1 0 R/Info<</Title(Of the trailer)>>>>"))

# A font that is a direct object, without resources of its own: another font is used only by it.
document = Document()
glyph = document.add("<<>>", b"1000 0 d0 BT /Inner 900 Tf (Q) Tj ET")
sheet(document, "BT /T 100 Tf 50 500 Td (a) Tj ET",
      f"/Font<</T<</Type/Font/Subtype/Type3/FontBBox[0 0 1000 1000]/FontMatrix[.001 0 0 .001 0 0]/CharProcs<</a {glyph} 0 R>>"
      "/Encoding<</Differences[97/a]>>/FirstChar 97/LastChar 97/Widths[1000]>>"
      "/Inner<</Type/Font/Subtype/Type1/BaseFont/Courier>>>>")
document.write(folder / "glyphs.pdf")

# Cyclic parents.
document = Document()
circle = document.add("")
document.objects[circle - 1] = f"<</Parent {circle} 0 R>>".encode()
page = document.page(words, {})
document.objects[page - 1] = document.objects[page - 1].replace(b"/Parent 2 0 R", b"/Parent %d 0 R" % circle)
document.write(folder / "circle.pdf")
data = (folder / "circle.pdf").read_bytes()
(folder / "circle.pdf").write_bytes(data.replace(b"/Count 1>>\nendobj", b"/Count 9>>\nendobj"))

# Nested forms, each painting the next ten times.
document = Document()
inner = document.jpeg(photo, 90)
for level in range(22):
    content = " ".join(f"q .9{step} 0 0 .9{(step + level) % 10} 0 0 cm /X Do Q" for step in range(10))
    inner = form(document, content, f"/Resources<</XObject<</X {inner} 0 R>>>>")
sheet(document, "/X Do", f"/XObject<</X {inner} 0 R>>")
# More data than memory, and rows longer than that.
block = zlib.compressobj(9)
bomb = block.compress(bytes(1 << 24)) + block.flush(zlib.Z_FULL_FLUSH)
bomb = bomb[:2] + bomb[2:] * 150 + b"\x03\0\0\0\0\1"
wide = "/DecodeParms<</Predictor 12/Colors 9999999999999/Columns 100>>"
entries = "/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/FlateDecode"
for image in (document.image(entries, bomb, (100, 100)), document.image(entries + wide, zlib.compress(bytes(99)), (100, 100))):
    document.page("q 100 0 0 100 0 0 cm /I Do Q", {"I": image})
document.write(folder / "large.pdf")
