"""check_links.py FFCONVERT: links between pages that are taken out together still lead there, and others nowhere."""
import json
import os
import subprocess
import sys
import tempfile

from worker import Worker

PAGES = 40
#: Names as links have them, and as the name tree has them: the same string can be written in many ways.
NAMES = {
    "literal": (b"(place %d)", b"(place %d)"),
    "hex": (b"<706C61636523%02x>", b"(place#\\%03o)"),
    "escaped": (b"(\\050\\134\\)%d)", b"<285C29%s>"),
    "old": (b"/old%d", b"/old%d"),
}


def document():
    """Page N is 100 + N points high; from each page links of every kind lead to pages 3, 4 and N."""
    objects = {}

    def add(text):
        objects[len(objects) + 1] = text
        return len(objects)

    catalog, tree = add(b""), add(b"")
    pages = [add(b"") for _ in range(PAGES)]
    places = [add(b"<</D[%d 0 R/XYZ 0 50 null]>>" % page) for page in pages]
    for number, page in enumerate(pages, 1):
        links = []
        for target in (3, 4, number):
            links += [b"/Dest[%d 0 R/Fit]" % pages[target - 1], b"/A<</S/GoTo/D[%d 0 R/Fit]>>" % pages[target - 1]]
            links += [
                b"/Dest" + NAMES["literal"][0] % target, b"/Dest" + NAMES["hex"][0] % target,
                b"/A %d 0 R" % add(b"<</S/GoTo/D%s>>" % (NAMES["escaped"][0] % target)),
                b"/A<</S/GoTo/D%s>>" % (NAMES["old"][0] % target), b"/A<</S/GoTo/D(nowhere)>>"]
        made = [add(b"<</Type/Annot/Subtype/Link/Rect[0 0 9 9]%s>>" % link) for link in links]
        objects[page] = b"<</Type/Page/Parent %d 0 R/MediaBox[0 0 100 %d]/Annots[%s]>>" % (
            tree, 100 + number, b" ".join(b"%d 0 R" % each for each in made))
    names = []
    for number, place in enumerate(places, 1):
        names.append((b"place %d" % number, NAMES["literal"][1] % number, b"%d 0 R" % place))
        names.append((b"place#" + bytes([number]), NAMES["hex"][1] % number, b"[%d 0 R/Fit]" % pages[number - 1]))
        key = b"(\\)%d" % number
        names.append((key, b"<%s>" % key.hex().encode(), b"%d 0 R" % place))
    names.sort()
    leaves = []
    for first in range(0, len(names), 16):
        some = names[first : first + 16]
        pairs = b" ".join(name + b" " + value for _, name, value in some)
        limits = b"[%s %s]" % (some[0][1], some[-1][1])
        leaves.append((limits, add(b"<</Limits%s/Names[%s]>>" % (limits, pairs))))
    old = b" ".join(b"/old%d %d 0 R" % (number, place) for number, place in enumerate(places, 1))
    root = add(b"<</Kids[%s]>>" % b" ".join(b"%d 0 R" % leaf for _, leaf in leaves))
    objects[catalog] = b"<</Type/Catalog/Pages %d 0 R/Names<</Dests %d 0 R>>/Dests<<%s>>>>" % (tree, root, old)
    objects[tree] = b"<</Type/Pages/Count %d/Kids[%s]>>" % (PAGES, b" ".join(b"%d 0 R" % page for page in pages))
    out, table = b"%PDF-1.5\n", b"0000000000 65535 f \n"
    for number, text in objects.items():
        table += b"%010d 00000 n \n" % len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, text)
    end = (len(objects) + 1, table, len(objects) + 1, len(out))
    return out + b"xref\n0 %d\n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % end


class Made:
    """What a page of a made document leads to, by qpdf's idea of its objects."""

    def __init__(self, path):
        told = subprocess.run(["qpdf", "--json=2", path], capture_output=True, check=True)
        self.objects = json.loads(told.stdout)["qpdf"][1]
        self.catalog = self.value(self.objects["trailer"]["value"]["/Root"])
        self.pages = self.value(self.catalog["/Pages"])["/Kids"]
        names = self.value(self.value(self.catalog.get("/Names", {})).get("/Dests", {})).get("/Names", [])
        self.names = {self.plain(key): value for key, value in zip(names[::2], names[1::2])}
        self.names |= {key: value for key, value in self.value(self.catalog.get("/Dests", {})).items()}

    def value(self, item):
        return self.objects["obj:" + item]["value"] if isinstance(item, str) and item.endswith(" R") else item

    @staticmethod
    def plain(string):
        return bytes.fromhex(string[2:]) if string.startswith("b:") else string[2:].encode("latin-1")

    def height(self, page):
        return self.value(page)["/MediaBox"][3] - 100

    def target(self, link):
        """The number that a page had, or None."""
        link = self.value(link)
        place = link["/Dest"] if "/Dest" in link else self.value(link["/A"])["/D"]
        if isinstance(place, str) and not place.endswith(" R"):
            place = self.names.get(place if place.startswith("/") else self.plain(place))
        place = self.value(place)
        if isinstance(place, dict):
            place = self.value(place["/D"])
        return self.height(place[0]) if place and place[0] in self.pages else None

    def links(self):
        return {self.height(page): [self.target(each) for each in self.value(page)["/Annots"]] for page in self.pages}


wrong = 0
with tempfile.TemporaryDirectory() as folder:
    plain, made = f"{folder}/plain.pdf", f"{folder}/made.pdf"
    with open(plain, "wb") as file:
        file.write(document())
    kinds = {
        "plain": [], "packed": ["--object-streams=generate"], "linear": ["--object-streams=generate", "--linearize"],
        "locked": ["--object-streams=generate", "--encrypt", "", "owner", "256", "--"],
    }
    worker = Worker(sys.argv[1])
    for number, (kind, options) in enumerate(kinds.items(), 1):
        source = f"{folder}/{kind}.pdf"
        if options:
            subprocess.run(["qpdf", *options, plain, source], check=True)
        for selection, pages in {"3": [3], "5": [5], "2-4": [2, 3, 4], "4,39,3": [4, 39, 3]}.items():
            failure, _, reason, data = worker.ask(source, f"pages {selection}", document=number)
            again = worker.ask(source, f"pages {selection}")[3]
            with open(made, "wb") as file:
                file.write(data)
            check = subprocess.run(["qpdf", "--check", made], capture_output=True, text=True)
            found = Made(made) if not failure else None
            expected = {
                page: [at if at in pages and index < 6 else None for at in (3, 4, page) for index in range(7)]
                for page in pages
            }
            # Four names per page, as written in the links.
            targets = len(set(pages + [3, 4]) & set(pages))
            problems = [
                what for what, holds in {
                    reason: not failure, "other bytes the second time": data == again,
                    check.stdout + check.stderr: check.returncode == 0,
                    f"links: {found and found.links()}": found and found.links() == expected,
                    f"names: {found and sorted(found.names, key=str)}": found and len(found.names) == 4 * targets,
                }.items() if not holds
            ]
            for problem in problems:
                wrong += 1
                print(f"{kind} {selection}: {problem}")
    sys.exit(worker.close() or wrong)
