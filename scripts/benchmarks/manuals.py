"""PDFs to measure with: Debian's manuals, and one of many tiny pages."""

import shutil
import subprocess
from pathlib import Path

#: Where packages keep long manuals.
MANUALS = {
    "gnuplot-doc": "usr/share/doc/gnuplot/gnuplot.pdf",
    "octave-doc": "usr/share/doc/octave/octave.pdf",
    "lilypond-doc-pdf": "usr/share/doc/lilypond/html/Documentation/notation.pdf",
    "r-doc-pdf": "usr/share/R/doc/manual/refman.pdf",
    "texlive-pictures-doc": "usr/share/doc/texlive-doc/generic/pgf/pgfmanual.pdf",
}


def fetch(folder: Path, packages: list[str]) -> None:
    """Takes the manuals out of their packages, which are not installed."""
    for package in packages:
        subprocess.run(["apt-get", "-qq", "download", package], cwd=folder, check=True, timeout=600)
        [archive] = folder.glob(f"{package}_*.deb")
        manual = folder / MANUALS[package]
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE) as unpacking:
            subprocess.run(
                ["tar", "-x", "-C", folder, f"./{MANUALS[package]}"], stdin=unpacking.stdout, check=True
            )
        manual.rename(folder / manual.name)
        archive.unlink()
    shutil.rmtree(folder / "usr", ignore_errors=True)


def write_tiny(path: Path, pages: int) -> None:
    """A page is a line of text and a link to the next one; all share a font. The page tree has nodes of 40."""
    objects: dict[int, bytes] = {}
    nodes = [range(first, min(first + 40, pages)) for first in range(0, pages, 40)]
    node, page = 4, 4 + len(nodes)
    objects[1] = b"<</Type/Catalog/Pages 2 0 R>>"
    kids = b" ".join(b"%d 0 R" % (node + index) for index in range(len(nodes)))
    objects[2] = b"<</Type/Pages/Count %d/Kids[%s]/MediaBox[0 0 300 200]>>" % (pages, kids)
    objects[3] = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
    for index, numbers in enumerate(nodes):
        kids = b" ".join(b"%d 0 R" % (page + 3 * number) for number in numbers)
        objects[node + index] = b"<</Type/Pages/Parent 2 0 R/Count %d/Kids[%s]>>" % (len(numbers), kids)
        for number in numbers:
            own = page + 3 * number
            text = b"BT /F1 18 Tf 20 100 Td (Page %d of %d) Tj ET" % (number + 1, pages)
            objects[own] = (
                b"<</Type/Page/Parent %d 0 R/Contents %d 0 R/Annots[%d 0 R]/Resources<</Font<</F1 3 0 R>>>>>>"
                % (node + index, own + 1, own + 2)
            )
            objects[own + 1] = b"<</Length %d>>stream\n%s\nendstream" % (len(text), text)
            target = page + 3 * ((number + 1) % pages)
            objects[own + 2] = b"<</Type/Annot/Subtype/Link/Rect[20 20 80 40]/Dest[%d 0 R/Fit]>>" % target
    _write(path, objects)


def write_scan(path: Path, manual: Path, pages: int) -> None:
    """Pages of a manual as a scanner gives them: each an A4 page of a JPEG with 150 dpi, and no text."""
    width, height = 1240, 1754
    pictures = path.with_suffix(".pictures")
    pictures.mkdir()
    words = ["pdftoppm", "-jpeg", "-scale-to-x", width, "-scale-to-y", height, "-f", 21, "-l", 20 + pages, manual, pictures / "page"]
    subprocess.run(list(map(str, words)), check=True)
    files = sorted(pictures.iterdir())
    kids = b" ".join(b"%d 0 R" % (3 + 3 * index) for index in range(len(files)))
    objects = {1: b"<</Type/Catalog/Pages 2 0 R>>", 2: b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(files), kids)}
    for index, file in enumerate(files):
        page, bytes = 3 + 3 * index, file.read_bytes()
        objects[page] = (
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents %d 0 R/Resources<</XObject<</I %d 0 R>>>>>>" % (page + 1, page + 2)
        )
        draw = b"q 595 0 0 842 0 0 cm /I Do Q"
        objects[page + 1] = b"<</Length %d>>stream\n%s\nendstream" % (len(draw), draw)
        objects[page + 2] = (
            b"<</Type/XObject/Subtype/Image/Width %d/Height %d/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/DCTDecode/Length %d>>"
            b"stream\n%s\nendstream" % (width, height, len(bytes), bytes)
        )
    shutil.rmtree(pictures)
    _write(path, objects)


def _write(path: Path, objects: dict[int, bytes]) -> None:
    with open(path, "wb") as file:
        file.write(b"%PDF-1.4\n")
        table = b"0000000000 65535 f \n"
        for number in sorted(objects):
            table += b"%010d 00000 n \n" % file.tell()
            file.write(b"%d 0 obj\n%s\nendobj\n" % (number, objects[number]))
        end = (len(objects) + 1, table, len(objects) + 1, file.tell())
        file.write(b"xref\n0 %d\n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % end)
