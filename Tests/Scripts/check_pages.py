"""check_pages.py FFCONVERT: what a page takes along of its document, and what stays behind; what it looks like; what compression
may cost.

The documents are made here, each for one rule. Prints one line for each that is broken, and fails if any is.
"""
import io
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "benchmarks"))

from PIL import Image, ImageChops, ImageStat

from pdf_writer import Document
from worker import Worker

folder = tempfile.TemporaryDirectory()
worker = Worker(sys.argv[1])
wrong = 0


def expect(what, found, expected):
    global wrong
    if found != expected:
        wrong += 1
        print(f"{what}: expected {expected}, found {found}")


def document(catalog, objects):
    """A document whose first object is its catalog; `objects` are the others, in order."""
    out, table = b"%PDF-1.5\n", b"0000000000 65535 f \n"
    for number, text in enumerate([catalog, *objects], 1):
        table += b"%010d 00000 n \n" % len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, text)
    end = (len(objects) + 2, table, len(objects) + 2, len(out))
    return out + b"xref\n0 %d\n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % end


def stream(entries, data):
    return b"<<%s/Length %d>>\nstream\n%s\nendstream" % (entries, len(data), data)


class Made:
    """A document that ffconvert made, by qpdf's idea of its objects."""

    def __init__(self, data, recipe):
        plain, self.path = f"{folder.name}/plain.pdf", f"{folder.name}/made.pdf"
        Path(plain).write_bytes(data)
        failure, _, reason, made = worker.ask(plain, recipe)
        expect(recipe, (failure, reason), (0, ""))
        Path(self.path).write_bytes(made)
        told = subprocess.run(["qpdf", "--json=2", self.path], capture_output=True, check=True)
        self.objects = json.loads(told.stdout)["qpdf"][1]
        self.catalog = self.value(self.objects["trailer"]["value"]["/Root"])
        self.pages = self.value(self.catalog["/Pages"])["/Kids"]

    def value(self, item):
        if not (isinstance(item, str) and item.endswith(" R")):
            return item
        found = self.objects["obj:" + item]
        return found["value"] if "value" in found else found["stream"]["dict"]

    def follow(self, item, *keys):
        for key in keys:
            item = self.value(item)[key]
        return item

    def raw(self, reference):
        """A stream's bytes as they are in the file."""
        number = reference.split()[0]
        words = ["qpdf", f"--show-object={number}", "--raw-stream-data", self.path]
        return subprocess.run(words, capture_output=True, check=True).stdout


# Pages share one dictionary of two fonts, and their contents name one of them. Objects with contents of their own but
# no resources may use the other one.
fonts = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>", b"<</Type/Font/Subtype/Type1/BaseFont/Courier>>"
form = stream(b"/Type/XObject/Subtype/Form/BBox[0 0 50 50]", b"BT /F2 9 Tf (seen) Tj ET")
mask = b"<</Type/ExtGState/SMask<</Type/Mask/S/Luminosity/G 8 0 R>>>>"
kinds = {
    "alone": (b"", b"", ["/F1"]),
    "with an appearance": (b"/Annots[<</Type/Annot/Subtype/Stamp/Rect[0 0 50 50]/AP<</N 8 0 R>>>>]", b"", ["/F1", "/F2"]),
    "with a referred appearance": (b"/Annots[9 0 R]", b"", ["/F1", "/F2"]),
    "with a note": (b"/Annots[<</Type/Annot/Subtype/Text/Rect[0 0 50 50]/Contents(a)>>]", b"", ["/F1"]),
    "with a mask": (b"", b"/ExtGState<</G %s>>" % mask, ["/F1", "/F2"]),
    "with a referred mask": (b"", b"/ExtGState<</G 10 0 R>>", ["/F1", "/F2"]),
    "with another graphics state": (b"", b"/ExtGState<</G<</Type/ExtGState/CA .5>>>>", ["/F1"]),
}
for kind, (annotations, states, kept) in kinds.items():
    contents = stream(b"", b"BT /F1 9 Tf (read) Tj ET /G gs 0 0 10 10 re f")
    data = document(b"<</Type/Catalog/Pages 2 0 R>>", [
        b"<</Type/Pages/Count 2/Kids[3 0 R 11 0 R]>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 100]/Contents 4 0 R/Resources 5 0 R%s>>" % annotations,
        contents, b"<</Font<</F1 6 0 R/F2 7 0 R>>%s>>" % states, *fonts, form,
        b"<</Type/Annot/Subtype/Stamp/Rect[0 0 50 50]/AP<</N 8 0 R>>>>", mask,
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 100]/Contents 4 0 R/Resources 5 0 R>>"])
    made = Made(data, "pages 1")
    expect(f"fonts of a page {kind}", sorted(made.value(made.follow(made.pages[0], "/Resources", "/Font"))), kept)

# A link to a page that is copied twice leads to its first copy.
pages = [b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 %d]>>" % (100 + number) for number in (1, 2)]
link = b"/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/Dest[3 0 R/Fit]>>]"
data = document(b"<</Type/Catalog/Pages 2 0 R>>", [
    b"<</Type/Pages/Count 3/Kids[3 0 R 4 0 R 5 0 R]>>", *pages, b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 103]%s>>" % link])
for selection, place in {"1,3,1": 0, "3,1,1": 1, "1,1,3,1": 0}.items():
    made = Made(data, f"pages {selection}")
    linking = [number for number in range(len(made.pages)) if made.follow(made.pages[number], "/MediaBox")[3] == 103]
    for number in linking:
        target = made.value(made.value(made.follow(made.pages[number], "/Annots"))[0])["/Dest"][0]
        expect(f"target in pages {selection}", made.pages.index(target) if target in made.pages else None, place)

# Pages of a signed form are not signed, and must not claim that changes are forbidden.
widget = b"<</Type/Annot/Subtype/Widget/FT/%s/T(%s)/Rect[0 0 50 50]/P 3 0 R>>"
data = document(b"<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R 5 0 R]/SigFlags 3/CO[5 0 R]/XFA(x)/DA(/F 0 Tf)>>>>", [
    b"<</Type/Pages/Count 2/Kids[3 0 R 6 0 R]>>",
    b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 100]/Annots[4 0 R 5 0 R]>>", widget % (b"Sig", b"s"), widget % (b"Tx", b"t"),
    b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 100]>>"])
made = Made(data, "pages 1")
expect("what is said of a form", sorted(made.value(made.catalog["/AcroForm"])), ["/DA", "/Fields"])

# A document inside a file, as in an archive, is read at its offset and not beyond its end.
Path(f"{folder.name}/many").write_bytes(document(b"", []) + data + data.replace(b"100 100", b"200 200"))
start = len(document(b"", []))
alone = f"{folder.name}/alone.pdf"
Path(alone).write_bytes(data)
for recipe in "count pages", "pages 1", "text", "jpeg 72dpi", "compressed 150dpi.q60":
    answers = [
        worker.ask(f"{folder.name}/many", recipe, start=start, size=len(data)), worker.ask(alone, recipe)]
    expect(f"part of a file, {recipe}", answers[0], answers[1])

drawn = io.BytesIO()
Image.effect_mandelbrot((64, 48), (-2, -1.5, 1, 1.5), 20).save(drawn, "PNG")
Path(f"{folder.name}/many").write_bytes(b"x" * 5000 + drawn.getvalue() + b"y" * 5000)
Path(alone).write_bytes(drawn.getvalue())
for recipe in "jpeg q80", "tiff 32px":
    answers = [
        worker.ask(f"{folder.name}/many", recipe, start=5000, size=len(drawn.getvalue())), worker.ask(alone, recipe)]
    expect(f"an image in a file, {recipe}", (answers[0], answers[0][0]), (answers[1], 0))

# Pages are counted through nodes of different sizes.
nodes = ("5 0 R 6 0 R", 2), ("7 0 R 8 0 R 9 0 R", 3)
data = document(b"<</Type/Catalog/Pages 2 0 R>>", [
    b"<</Type/Pages/Count 5/Kids[3 0 R 4 0 R]>>",
    *(b"<</Type/Pages/Parent 2 0 R/Count %d/Kids[%s]>>" % (count, kids.encode()) for kids, count in nodes),
    *(b"<</Type/Page/Parent %d 0 R/MediaBox[0 0 100 %d]>>" % (3 + (number > 2), 100 + number) for number in range(1, 6))])
made = Made(data, "pages 1,2,3,4,5")
expect("the pages of nodes", [made.follow(page, "/MediaBox")[3] for page in made.pages], [101, 102, 103, 104, 105])

# The values of the catalog's last entries may be indirect objects, too.
data = document(b"<</Type/Catalog/Pages 2 0 R/MarkInfo<</Marked 4 0 R>>/StructTreeRoot 5 0 R>>", [
    b"<</Type/Pages/Count 1/Kids[3 0 R]>>", b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/StructParents 0>>", b"true",
    b"<</Type/StructTreeRoot/K 6 0 R/ParentTree<</Nums[0[6 0 R]]>>>>", b"<</Type/StructElem/S/P/P 5 0 R/Pg 3 0 R/K 0>>"])
made = Made(data, "pages 1")
expect("whether it is tagged", made.value(made.follow(made.catalog, "/MarkInfo", "/Marked")), True)

# A page as an image: 101 by 50 points are 140.3 by 69.4 pixels.
Path(f"{folder.name}/flag.pdf").write_bytes(document(b"<</Type/Catalog/Pages 2 0 R>>", [
    b"<</Type/Pages/Count 1/Kids[3 0 R]>>", b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 101 50]/Contents 4 0 R>>",
    stream(b"", b"1 .4 0 rg 0 0 30 50 re f 0 1 .4 rg 30 0 30 50 re f .4 0 1 rg 60 0 30 50 re f")]))
shown = Image.open(io.BytesIO(worker.ask(f"{folder.name}/flag.pdf", "png 100dpi")[3]))
expect("a picture's size", shown.size, (140, 69))
expect("a picture's colours", [shown.getpixel((x, 35)) for x in (20, 60, 100, 135)],
       [(255, 102, 0), (0, 255, 102), (102, 0, 255), (255, 255, 255)])

# Soft masks have edges: they keep a quality of at least 75.
pixels = random.Random(1)
photo = Image.frombytes("RGB", (600, 450), bytes(
    int(128 + 60 * math.sin(x / 31 + band) + 50 * math.cos(y / 47 - band) + pixels.randrange(9))
    for y in range(450) for x in range(600) for band in range(3)))
source = Document()
soft = source.plain(photo.convert("L"))
source.page("q 108 0 0 81 72 72 cm /I Do Q", {"I": source.jpeg(photo, 95, f"/SMask {soft} 0 R")})
source.write(Path(folder.name) / "soft.pdf")
made = Made((Path(folder.name) / "soft.pdf").read_bytes(), "compressed 150dpi.q20")
image = made.follow(made.pages[0], "/Resources", "/XObject", "/I")
mask = made.value(image)["/SMask"]
for what, reference, coarsest in ("image", image, 1000), ("soft mask", mask, 8):
    expect(f"coding of the {what}", made.value(reference)["/Filter"], "/DCTDecode")
    first = Image.open(io.BytesIO(made.raw(reference))).quantization[0][0]
    # In the standard table the first step is 16 at quality 50, 8 at 75 and 40 at 20.
    expect(f"first step of the {what}", (first <= 8, first > 8), (coarsest <= 8, coarsest > 8))

# Streams that cannot be encoded in fewer bytes stay unchanged, in a document that gets smaller otherwise and that is
# too long for offsets of two bytes.
source = Document()
noise = Image.frombytes("1", (800, 800), pixels.randbytes(80000))
source.page("q 96 0 0 96 0 0 cm /N Do Q q 54 0 0 40 0 0 cm /I Do Q", {"N": source.plain(noise), "I": source.jpeg(photo, 95)})
source.write(Path(folder.name) / "noise.pdf")
data = (Path(folder.name) / "noise.pdf").read_bytes()
for recipe in "compressed 150dpi.q100", "compressed 72dpi.q100":
    made = Made(data, recipe)
    expect(f"size of {recipe}", os.path.getsize(made.path) < len(data), True)
    noises = made.follow(made.pages[0], "/Resources", "/XObject", "/N")
    expect(f"the noise's coding in {recipe}", made.value(noises)["/Filter"], "/FlateDecode")
    expect(f"the noise in {recipe}", zlib.decompress(made.raw(noises)) == noise.tobytes(), True)


def compressed(source, *place):
    """What becomes of the image that is found on the page along these keys, and its size."""
    path = Path(folder.name) / "source.pdf"
    source.write(path)
    made = Made(path.read_bytes(), "compressed 150dpi.q60")
    image = made.follow(made.pages[0], *place)
    return made, image, tuple(made.value(image)[key] for key in ("/Width", "/Height"))


# Samples of two bytes, with a predictor: half an inch of 300 pixels.
own = "/Resources", "/XObject", "/I"
gray = photo.convert("L").resize((300, 225))
samples = gray.tobytes()
deep = bytes(part for value in samples for part in (value, 77))
differences = bytes((value - (samples[at - 1] if at % 300 else 0)) & 255 for at, value in enumerate(samples))
predictor = "/DecodeParms<</Predictor 2/Colors 1/BitsPerComponent 8/Columns 300>>"
for what, bits, data, more in ("two bytes", 16, deep, ""), ("differences", 8, differences, predictor):
    source = Document()
    entries = f"/ColorSpace/DeviceGray/BitsPerComponent {bits}/Filter/FlateDecode{more}"
    source.page("q 36 0 0 27 72 72 cm /I Do Q", {"I": source.image(entries, zlib.compress(data), gray.size)})
    made, image, size = compressed(source, *own)
    expect(f"size of {what}", size, (75, 57))
    if size == (75, 57):
        shown = Image.open(io.BytesIO(made.raw(image)))
        change = ImageStat.Stat(ImageChops.difference(shown, gray.resize(size))).mean[0]
        expect(f"whether {what} look the same", change < 8 or change, True)

# A form that is painted at one size is scanned once, however often it is used.
form = "<</Type/XObject/Subtype/Form/BBox[%s]/Resources<</XObject<</I %d 0 R>>>>>>"
source = Document()
symbol = source.add(form % ("0 0 36 27", source.jpeg(photo, 90)), b"q 36 0 0 27 0 0 cm /I Do Q")
source.page("/S Do " * 10_001, {"S": symbol})
expect("size in a form", compressed(source, "/Resources", "/XObject", "/S", *own)[2], (75, 57))

# The bounding box of an annotation's appearance may be anywhere.
source = Document()
look = source.add(form % ("0 900 36 927", source.jpeg(photo, 90)), b"q 36 0 0 27 0 900 cm /I Do Q")
source.page("", {}, more=f"/Annots[<</Type/Annot/Subtype/Stamp/Rect[72 72 108 99]/AP<</N {look} 0 R>>>>]")
expect("size in an annotation", compressed(source, "/Annots", 0, "/AP", "/N", *own)[2], (75, 57))

# Beside black areas, dots that are a fifteenth of all pixels would vanish: the image keeps its resolution.
tint = Image.new("1", (1350, 1350), 1)
tint.paste(0, (0, 0, 540, 1350))
for y in range(0, 1350, 3):
    for x in range(540, 945, 3):
        tint.paste(0, (x, y, x + 2, y + 1))
source = Document()
source.page("q 108 0 0 108 72 72 cm /I Do Q q 108 0 0 81 72 200 cm /P Do Q",
            {"I": source.plain(tint), "P": source.jpeg(photo, 90)})
expect("size of what has a tint", compressed(source, *own)[2], tint.size)

sys.exit(worker.close() or wrong)
