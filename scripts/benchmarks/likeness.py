"""likeness.py SOURCE RESULT…: how much alike PDFs are to one, and what they have lost: a line of JSON for each.

The number is the mean structural similarity (Wang et al. 2004) of some pages at 100 dpi in gray.
"""

import json
import subprocess
import sys
from io import BytesIO

import numpy
import pymupdf
from PIL import Image

# The number of pages compared, spread from the first to the last.
PAGES = 4


def text(file: str) -> bytes:
    return subprocess.run(["pdftotext", file, "-"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def links(document: pymupdf.Document) -> list:
    """Of each page, where its links lead."""
    def target(link: dict) -> tuple:
        at = link.get("to")
        place = (round(at.x, 1), round(at.y, 1)) if hasattr(at, "x") else at
        return (link["kind"], link.get("uri"), link.get("page"), place, link.get("nameddest"),
                tuple(round(edge, 1) for edge in link["from"]))
    return [sorted(map(repr, map(target, page.get_links()))) for page in document]


def outline(document: pymupdf.Document) -> list:
    return [(level, title, page) for level, title, page in document.get_toc()]


def boxes(document: pymupdf.Document) -> list:
    return [tuple(tuple(round(edge, 2) for edge in box) for box in (page.mediabox, page.cropbox)) + (page.rotation,)
            for page in document]


def picture(file: str, page: int) -> numpy.ndarray:
    drawn = subprocess.run(["pdftoppm", "-r", "100", "-gray", "-f", str(page), "-l", str(page), file],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    return numpy.asarray(Image.open(BytesIO(drawn)).convert("L"), numpy.float64)


def blurred(image: numpy.ndarray) -> numpy.ndarray:
    """By a Gaussian of 1.5 pixels in a window of 11, where that fits."""
    weights = numpy.exp(-(numpy.arange(-5, 6) ** 2) / (2 * 1.5**2))
    weights = (weights / weights.sum()).astype(image.dtype)
    rows, columns = image.shape[0] - 10, image.shape[1] - 10
    image = sum(weight * image[start : start + rows] for start, weight in enumerate(weights))
    return sum(weight * image[:, start : start + columns] for start, weight in enumerate(weights))


class Picture:
    """A page, and what comparing needs of it."""

    def __init__(self, file: str, page: int) -> None:
        self.pixels = picture(file, page)
        if min(self.pixels.shape) >= 11:
            self.mean = blurred(self.pixels)
            self.variance = blurred(self.pixels * self.pixels) - self.mean**2


def similarity(one: Picture, other: Picture) -> float:
    if one.pixels.shape != other.pixels.shape:
        return 0.0
    if min(one.pixels.shape) < 11 or numpy.array_equal(one.pixels, other.pixels):
        return float(numpy.array_equal(one.pixels, other.pixels))
    covariance = blurred(one.pixels * other.pixels) - one.mean * other.mean
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    above = (2 * one.mean * other.mean + c1) * (2 * covariance + c2)
    return float((above / ((one.mean**2 + other.mean**2 + c1) * (one.variance + other.variance + c2))).mean())


class Source:
    def __init__(self, file: str) -> None:
        self.file, self.document = file, pymupdf.open(file)
        count = len(self.document)
        shown = range(1, count + 1) if count <= PAGES else [1 + index * (count - 1) // (PAGES - 1) for index in range(PAGES)]
        self.pictures = {page: Picture(file, page) for page in shown}
        self.kept = [(name, part(self.document)) for name, part in PARTS]
        self.text = text(file)

    def compare(self, file: str) -> tuple[float, list[str]]:
        """How much alike they look, and what the other has lost."""
        document = pymupdf.open(file)
        if len(document) != len(self.document):
            return 0.0, [f"{len(document)} pages of {len(self.document)}"]
        alike = [similarity(one, Picture(file, page)) for page, one in self.pictures.items()]
        faults = [f"other {name}" for (name, before), (_, part) in zip(self.kept, PARTS) if part(document) != before]
        if text(file) != self.text:
            faults.append("other text")
        check = subprocess.run(["qpdf", "--check", file], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if check.returncode:
            faults.append("qpdf --check: " + check.stdout.strip().splitlines()[-1])
        return sum(alike) / len(alike), faults


PARTS = [("links", links), ("outline", outline), ("boxes", boxes)]
source = Source(sys.argv[1])
for made in sys.argv[2:]:
    try:
        alike, faults = source.compare(made)
    except (RuntimeError, ValueError, subprocess.SubprocessError) as error:
        alike, faults = None, [f"cannot be compared: {error}"]
    print(json.dumps([alike, faults]), flush=True)
