"""The PDFs that compressing is measured on: photographs, scans, slides and manuals. Made once, the same each time.

Photographs come from the corpus beside the project or, without one, are generated; the pages of scans and the manuals come
from Debian packages.
"""

import subprocess
import sys
from io import BytesIO
from pathlib import Path

import numpy
from PIL import Image, ImageDraw, ImageFilter

import photos
from pdf_writer import Document

PHOTOGRAPHS = ["heic/image1.heic", "heic/image2.heic", "heic/image3.heic", "heic/example.heic",
               "exif-orientation/Landscape_0.jpg", "exif-orientation/Portrait_0.jpg"]
MANUALS = {"gnuplot": "/usr/share/doc/gnuplot/gnuplot.pdf", "libtasn1": "/usr/share/doc/libtasn1-doc/libtasn1.pdf",
           "octave": "/usr/share/doc/octave/octave.pdf"}

def make(folder: Path, corpus: Path) -> None:
    """Writes all documents."""
    if corpus.is_dir():
        photographs = [photograph(corpus / "image" / name, folder) for name in PHOTOGRAPHS]
    else:
        photographs = [generated(folder, number) for number in range(len(PHOTOGRAPHS))]
    for name, file in MANUALS.items():
        (folder / f"manual-{name}.pdf").write_bytes(Path(file).read_bytes())
    albums(folder, photographs)
    scans(folder, photographs)
    slides(folder, photographs)


def photograph(source: Path, folder: Path) -> Image.Image:
    """By libvips, as Pillow reads no HEIC."""
    file = folder / "photograph.png"
    subprocess.run(["vips", "autorot", source, file], check=True, stderr=subprocess.DEVNULL)
    image = Image.open(file).convert("RGB")
    file.unlink()
    return image


def generated(folder: Path, number: int) -> Image.Image:
    file = folder / "photograph.png"
    width, height = (4032, 3024) if number < 4 else (1800, 1200)
    photos.photograph(file, width, height, number)
    image = Image.open(file).convert("RGB")
    file.unlink()
    return image


def albums(folder: Path, photographs: list[Image.Image]) -> None:
    for name, quality, pixels, mode in [
        ("album-camera", 92, 0, "RGB"), ("album-phone", 80, 2400, "RGB"), ("album-small", 75, 1200, "RGB"),
        ("album-cmyk", 90, 2400, "CMYK"), ("album-gray", 90, 2400, "L")]:
        document = Document()
        for image in photographs[:4]:
            image = image.copy()
            image.thumbnail((pixels or max(image.size),) * 2, Image.LANCZOS)
            height = 540 * image.height / image.width
            number = document.jpeg(image.convert(mode), quality)
            words = f"BT /F 12 Tf 28 40 Td (Photograph {number}) Tj ET"
            document.page(f"q 540 0 0 {height} 28 200 cm /I Do Q {words}", {"I": number})
        document.write(folder / f"{name}.pdf")


def scans(folder: Path, photographs: list[Image.Image]) -> None:
    def sheets(manual: str, first: int, count: int, density: int) -> list[Image.Image]:
        made = []
        for page in range(first, first + count):
            drawn = subprocess.run(["pdftoppm", "-r", str(density), "-f", str(page), "-l", str(page), "-png", MANUALS[manual]],
                                   stdout=subprocess.PIPE, check=True).stdout
            made.append(Image.open(BytesIO(drawn)).convert("RGB"))
        return made

    def scan(sheet: Image.Image, seed: int, photo: Image.Image | None = None) -> Image.Image:
        """A sheet as a scanner sees it: a little askew and out of focus, on paper, with noise."""
        if photo:
            photo = photo.copy()
            photo.thumbnail((sheet.width * 2 // 3, sheet.height // 3))
            sheet = sheet.copy()
            sheet.paste(photo, (sheet.width // 6, sheet.height // 2))
        noise = numpy.random.default_rng(seed)
        turned = sheet.rotate(float(noise.uniform(-0.6, 0.6)), Image.BICUBIC, fillcolor=(255, 255, 255))
        seen = numpy.asarray(turned.filter(ImageFilter.GaussianBlur(sheet.width / 2480 * 0.9)), numpy.float32)
        rows, columns, _ = seen.shape
        paper = numpy.array([0.975, 0.965, 0.93], numpy.float32)
        light = 1 - 0.04 * numpy.linspace(0, 1, columns, dtype=numpy.float32)[None, :, None]
        seen = seen * paper * light + noise.normal(0, 2.5, (rows, columns, 1)).astype(numpy.float32)
        return Image.fromarray(numpy.clip(seen + 8, 0, 255).astype(numpy.uint8))

    words = "\n".join(f"Line {number} of what a program has read" for number in range(40))
    pages = sheets("gnuplot", 20, 4, 300) + sheets("octave", 60, 2, 300)
    documents: dict[str, Document] = {}

    def add(name: str, make_image, *, text: str = "") -> None:
        document = documents.setdefault(name, Document())
        document.picture(make_image(document), words=text)

    for seed, sheet in enumerate(pages):
        colour = scan(sheet, seed, photographs[seed % 4] if seed % 2 else None)
        gray = colour.convert("L")
        bilevel = gray.point(lambda value: 255 if value > 160 else 0).convert("1")
        add("scan-colour-300", lambda document: document.jpeg(colour, 85))
        if seed % 2 == 0:
            add("scan-colour-read", lambda document: document.jpeg(colour, 75), text=words)
        add("scan-gray-300", lambda document: document.jpeg(gray, 80))
        add("scan-fax-300", lambda document: document.fax(bilevel))
        add("scan-bilevel-300", lambda document: document.plain(bilevel))
        if seed % 2:
            add("scan-dithered-300", lambda document: document.fax(gray.convert("1")))
            small = colour.resize((colour.width * 2 // 3, colour.height * 2 // 3), Image.LANCZOS)
            add("scan-colour-200", lambda document: document.jpeg(small, 80))
    for seed, sheet in enumerate(sheets("libtasn1", 10, 3, 600)):
        bilevel = scan(sheet, 100 + seed).convert("L").point(lambda value: 255 if value > 160 else 0).convert("1")
        add("scan-fax-600", lambda document: document.fax(bilevel))
    for name, document in documents.items():
        document.write(folder / f"{name}.pdf")


def slides(folder: Path, photographs: list[Image.Image]) -> None:
    """Photographs without loss, some transparent, a logo for each slide, and drawings by a palette."""
    size = (960.0, 540.0)
    document = Document()
    for number, photo in enumerate(photographs[:4]):
        photo = photo.copy()
        photo.thumbnail((1600, 1600), Image.LANCZOS)
        mask = Image.new("L", photo.size, 0)
        ImageDraw.Draw(mask).rounded_rectangle((0, 0, *photo.size), photo.width // 8, 255)
        soft = document.plain(mask.filter(ImageFilter.GaussianBlur(4)))
        picture = document.plain(photo, f"/SMask {soft} 0 R" if number % 2 else "")
        logo = document.plain(photographs[4].resize((600, 400), Image.LANCZOS))
        height = 400 * photo.height / photo.width
        words = "".join(f"1 0 0 1 480 {400 - 40 * line} Tm (Point {line + 1} of slide {number + 1}) Tj " for line in range(6))
        document.page(
            f"0.9 0.95 1 rg 0 0 960 540 re f q 400 0 0 {height} 40 60 cm /P Do Q q 90 0 0 60 850 470 cm /L Do Q "
            f"0 g BT /F 24 Tf {words}ET", {"P": picture, "L": logo}, size)
    document.write(folder / "slides.pdf")

    document = Document()
    for number in range(3):
        chart = Image.new("RGB", (2400, 1500), "white")
        pen = ImageDraw.Draw(chart)
        for bar in range(24):
            top = (bar * 7919 + number * 104729) % 1200
            pen.rectangle((60 + bar * 96, 1400 - top, 130 + bar * 96, 1400), fill=(40, bar * 9, 200 - bar * 7), outline="black")
            pen.text((60 + bar * 96, 1420), f"{top}", fill="black")
        table = chart.quantize(64)
        document.page(f"q 540 0 0 337 28 400 cm /C Do Q BT /F 12 Tf 28 370 Td (Figure {number + 1}) Tj ET",
                      {"C": document.plain(table if number else chart)})
    document.write(folder / "charts.pdf")


if __name__ == "__main__":
    make(Path(sys.argv[1]), Path(sys.argv[2]))
