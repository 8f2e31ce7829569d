"""make_scans.py FOLDER: small pages whose text is known, as images and in PDFs.

`letter.png` is as clean as a page can be; `worn.jpg` is shaded, grainy, blurred and turned a little, `dim.jpg`
grainier than it is dark; `side.jpg` lies on its side. `words.json` has each one's words with the places of their middles, as shares of the page's width and height, and
those of the pages of `mixed.pdf` that are pictures: the second is shown turned, the third cropped and moved.
"""
import json
import math
import random
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "benchmarks"))

from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont

from pdf_writer import Document

folder = Path(sys.argv[1])
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSerif.ttf"
SIZE = (1200, 560)
DPI = 200
TEXT = """The library of the harbour town was open only on
Tuesdays. On every other day its keeper walked along the
quay with a heavy bunch of keys to the nearest inn."""
GERMAN = """Die Bücherei öffnete nur dienstags. An allen übrigen
Tagen ging die Hüterin mit einem schweren Bund am Kai
spazieren, wenn draußen die Heringe vorüberziehen."""


def page(text):
    """The picture, and its words with their middles."""
    image = Image.new("L", SIZE, 255)
    draw = ImageDraw.Draw(image)
    font = ImageFont.truetype(FONT, round(11.5 * DPI / 72))
    words = []
    for row, line in enumerate(text.split("\n")):
        x, y = 100, 130 + 54 * row
        for word in line.split():
            draw.text((x, y), word, fill=0, font=font)
            left, top, right, bottom = draw.textbbox((x, y), word, font=font)
            words.append([word, (left + right) / 2, (top + bottom) / 2])
            x += round(font.getlength(word + " "))
    return image, words


def shares(words, place=lambda x, y: (x, y), size=SIZE):
    """`place`: where a pixel is after what was done to the picture."""
    return [[word, place(x, y)[0] / size[0], place(x, y)[1] / size[1]] for word, x, y in words]


def worn(image, degrees):
    width, height = image.size
    image = image.rotate(degrees, resample=Image.BICUBIC, fillcolor=255).filter(ImageFilter.GaussianBlur(0.9))
    shade = Image.linear_gradient("L").rotate(90).resize(image.size).point(lambda value: 90 + round(value * 0.6))
    grain = Image.effect_noise(image.size, 14)
    return ImageChops.add(ImageChops.multiply(image, shade), grain, 1, -128)


def dim(image):
    """In bad light: its letters are hardly darker than its paper's grains are deep."""
    image = image.filter(ImageFilter.GaussianBlur(1)).point(lambda value: 40 + round(value * 0.4))
    grain = Image.frombytes("L", SIZE, random.Random(4711).randbytes(SIZE[0] * SIZE[1])).point(lambda value: 88 + round(value * 0.31))
    return ImageChops.add(image, grain, 1, -128)


def turned(degrees):
    angle = math.radians(-degrees)
    middle = SIZE[0] / 2, SIZE[1] / 2

    def place(x, y):
        x, y = x - middle[0], y - middle[1]
        return (x * math.cos(angle) - y * math.sin(angle) + middle[0], x * math.sin(angle) + y * math.cos(angle) + middle[1])
    return place


known = {}
letter, words = page(TEXT)
letter.save(folder / "letter.png", dpi=(DPI, DPI))
known["letter.png"] = [shares(words)]
worn(letter, 4).save(folder / "worn.jpg", quality=50, dpi=(DPI, DPI))
known["worn.jpg"] = [shares(words, turned(4))]
dim(letter).save(folder / "dim.jpg", quality=60, dpi=(DPI, DPI))
side = letter.transpose(Image.ROTATE_90)
side.save(folder / "side.jpg", quality=85, dpi=(DPI, DPI))
known["side.jpg"] = [shares(words, lambda x, y: (y, SIZE[0] - x), (SIZE[1], SIZE[0]))]
german, german_words = page(GERMAN)
letter.save(folder / "two.tif", save_all=True, append_images=[german], dpi=(DPI, DPI), compression="tiff_lzw")
known["two.tif"] = [shares(words), shares(german_words)]

document = Document()
width, height = SIZE[0] / DPI * 72, SIZE[1] / DPI * 72
document.page("BT /F 12 Tf 40 200 Td (This page has words of its own) Tj ET", {}, (width, height))
first = document.jpeg(side.convert("L"), 85)
# Stands on its side, and is shown turned clockwise by a quarter; what it paints leaves the graphics state turned over.
document.page(f"q q {height} 0 0 {width} 0 0 cm /I Do Q 1 0 0 -1 0 0 cm", {"I": first}, (height, width), "/Rotate 90")
second = document.jpeg(letter, 85)
document.page(
    f"q {width} 0 0 {height} 30 -20 cm /I Do Q", {"I": second}, (width + 90, height + 50),
    f"/CropBox[30 -20 {30 + width} {height - 20}]/UserUnit 2")
document.write(folder / "mixed.pdf")
# A crop box is what there is of it in the media box.
known["mixed.pdf"] = [[], shares(words), shares(words, lambda x, y: (x, y), (SIZE[0], SIZE[1] - 20 / 72 * DPI))]
document = Document()
document.page("BT /F 12 Tf 40 200 Td (Words alone) Tj ET", {})
document.write(folder / "words.pdf")
document = Document()
document.page(f"q {width} 0 0 {height} 0 0 cm /I Do Q", {"I": document.jpeg(letter, 85)}, (width, height))
document.write(folder / "scan.pdf")
document = Document()
document.page("", {})
document.page("BT /F 12 Tf 40 200 Td (Behind an empty page) Tj ET", {})
document.write(folder / "empty.pdf")


def qpdf(*arguments):
    subprocess.run(["qpdf", *arguments], check=True)


qpdf("--object-streams=generate", folder / "scan.pdf", folder / "packed.pdf")
for key, name in ((40, "locked40.pdf"), (256, "locked256.pdf")):
    weak = ["--allow-weak-crypto"] if key < 256 else []
    qpdf("--static-id", *weak, "--encrypt", "reader", "owner", str(key), "--", folder / "scan.pdf", folder / name)
forbidden = ["--extract=n", "--modify=none"]
qpdf("--static-id", "--encrypt", "", "owner", "256", *forbidden, "--", folder / "scan.pdf", folder / "forbidden.pdf")
text = (folder / "scan.pdf").read_bytes().replace(b"/Type/Catalog", b"/Type/Catalog/AcroForm<</SigFlags 3/Fields[]>>")
(folder.parent / "signed.pdf").write_bytes(text)
# To say so is optional.
field = b"<</T(a)/FT/Sig/V<</Type/Sig/Filter/Adobe.PPKLite/ByteRange[0 1 2 3]/Contents<00>>>>>"
text = (folder / "scan.pdf").read_bytes().replace(b"/Type/Catalog", b"/Type/Catalog/AcroForm<</Fields[%s]>>" % field)
(folder.parent / "field.pdf").write_bytes(text)
# A note on it is no text of the page.
note = b"/Annots[<</Type/Annot/Subtype/FreeText/Rect[100 10 300 40]/Contents(note 17)/DA(0 g /Helv 12 Tf)>>]/Contents"
(folder.parent / "noted.pdf").write_bytes((folder / "scan.pdf").read_bytes().replace(b"/Contents", note, 1))
# Their cross-references are off now.
for name in ("signed.pdf", "field.pdf", "noted.pdf"):
    qpdf("--warning-exit-0", "--no-warn", folder.parent / name, folder / name)
qpdf("--empty", folder / "none.pdf")
known["scan.pdf"] = known["packed.pdf"] = [shares(words)]
(folder.parent / "words.json").write_text(json.dumps(known))
