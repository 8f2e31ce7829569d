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
    with open(path, "wb") as file:
        file.write(b"%PDF-1.4\n")
        table = b"0000000000 65535 f \n"
        for number in sorted(objects):
            table += b"%010d 00000 n \n" % file.tell()
            file.write(b"%d 0 obj\n%s\nendobj\n" % (number, objects[number]))
        end = (len(objects) + 1, table, len(objects) + 1, file.tell())
        file.write(b"xref\n0 %d\n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % end)
