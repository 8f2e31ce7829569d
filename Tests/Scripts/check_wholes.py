"""check_wholes.py FFCONVERT: what pages and merged documents keep of what their documents have as a whole; damaged ones.

The documents are made here. Prints one line for each rule that is broken, and fails if any is.
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from worker import Worker

folder = tempfile.TemporaryDirectory()
worker = Worker(sys.argv[1])
wrong = 0


def expect(what, found, expected):
    global wrong
    if found != expected:
        wrong += 1
        print(f"{what}: expected {expected}, found {found}")


def stream(entries, data):
    return b"<<%s/Length %d>>\nstream\n%s\nendstream" % (entries, len(data), data)


def document(objects, trailer=b""):
    """A document of these objects, the first of which is its catalog."""
    out, table = b"%PDF-1.7\n", b"0000000000 65535 f \n"
    for number, text in enumerate(objects, 1):
        table += b"%010d 00000 n \n" % len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, text)
    end = (len(objects) + 1, table, len(objects) + 1, trailer, len(out))
    return out + b"xref\n0 %d\n%strailer<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n" % end


def whole(name):
    """Three pages with all that a document can have: page 2 has a heading and, on it, a paragraph that goes on on page 3."""
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 100]/StructParents %d/Contents 6 0 R>>"
    return document([
        b"<</Type/Catalog/Pages 2 0 R/Lang(en-GB)/MarkInfo<</Marked true>>/StructTreeRoot 7 0 R/Metadata 8 0 R/Outlines 9 0 R"
        b"/PageLabels<</Nums[0<</S/r>>1<</S/D/P(A-)/St 5>>]>>/Names<</EmbeddedFiles<</Names[(note.txt)14 0 R]>>>>>>",
        b"<</Type/Pages/Count 3/Kids[3 0 R 4 0 R 5 0 R]>>",
        page % 0, page % 1, page % 2, stream(b"", b"/P<</MCID 0>>BDC EMC"),
        b"<</Type/StructTreeRoot/K 11 0 R/RoleMap<</Title/H1>>/ParentTree<</Nums[0[11 0 R]1[12 0 R 13 0 R]2[13 0 R]]>>>>",
        stream(b"/Type/Metadata/Subtype/XML", b"<x:xmpmeta/>"),
        b"<</Type/Outlines/First 10 0 R/Last 10 0 R/Count 1>>",
        b"<</Title(%s chapter)/Parent 9 0 R/Dest[4 0 R/Fit]/First 16 0 R/Last 16 0 R/Count -1>>" % name,
        b"<</Type/StructElem/S/Document/P 7 0 R/Pg 3 0 R/K[0 12 0 R 13 0 R]>>",
        b"<</Type/StructElem/S/Title/P 11 0 R/Pg 4 0 R/K 0/ID(head)>>",
        b"<</Type/StructElem/S/P/P 11 0 R/Pg 4 0 R/K[1<</Type/MCR/Pg 5 0 R/MCID 0>>]/Alt(words)>>",
        b"<</Type/Filespec/F(note.txt)/UF(note.txt)/EF<</F 15 0 R>>>>",
        stream(b"/Type/EmbeddedFile", b"note of " + name),
        b"<</Title(%s section)/Parent 10 0 R/Dest[5 0 R/Fit]>>" % name,
        b"<</Title(%s)/Author(nobody)>>" % name], b"/Info 17 0 R")


class Made:
    """A document that ffconvert made, by qpdf's idea of its objects."""

    def __init__(self, data, recipe):
        plain, self.path = f"{folder.name}/plain.pdf", f"{folder.name}/made.pdf"
        Path(plain).write_bytes(data)
        failure, _, reason, made = worker.ask(plain, recipe)
        expect(recipe, (failure, reason), (0, ""))
        Path(self.path).write_bytes(made)
        expect(f"check of {recipe}", subprocess.run(["qpdf", "--check", self.path], capture_output=True).returncode, 0)
        told = subprocess.run(["qpdf", "--json=2", self.path], capture_output=True, check=True)
        self.objects = json.loads(told.stdout)["qpdf"][1]
        self.trailer = self.objects["trailer"]["value"]
        self.catalog = self.value(self.trailer["/Root"])

    def value(self, item):
        if not (isinstance(item, str) and item.endswith(" R")):
            return item
        found = self.objects["obj:" + item]
        return found["value"] if "value" in found else found["stream"]["dict"]

    def follow(self, item, *keys):
        for key in keys:
            item = self.value(self.value(item)[key])
        return item


# One page of three keeps the properties that concern it.
made = Made(whole(b"one"), "pages 2")
expect("language", made.catalog.get("/Lang"), "u:en-GB")
expect("title", made.value(made.trailer["/Info"]), {"/Author": "u:nobody", "/Title": "u:one"})
expect("metadata", made.follow(made.catalog, "/Metadata")["/Subtype"], "/XML")
expect("label", made.follow(made.catalog, "/PageLabels", "/Nums"), [0, {"/P": "u:A-", "/S": "/D", "/St": 5}])
expect("marks", made.follow(made.catalog, "/MarkInfo"), {"/Marked": True})
root = made.follow(made.catalog, "/StructTreeRoot")
top, = root["/K"]
elements = made.follow(top, "/K")
expect("elements", [made.value(item)["/S"] for item in elements], ["/Title", "/P"])
expect("their content", [made.value(item)["/K"] for item in elements], [[0], [1]])
expect("their page", {made.value(item)["/Pg"] for item in elements}, {made.follow(made.catalog, "/Pages")["/Kids"][0]})
expect("what stands above", made.value(elements[0])["/P"], top)
expect("their numbers", root["/ParentTree"]["/Nums"], [1, elements])
expect("their names", root["/IDTree"]["/Names"], ["u:head", elements[0]])
expect("roles", made.value(root["/RoleMap"]), {"/Title": "/H1"})
expect("outline", "/Outlines" in made.catalog, False)

# Of many structure elements, a page keeps its own and their ancestors, packed, with their role maps; the same if
# encrypted.
def tagged(each=200):
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 100]/StructParents %d/Contents 6 0 R>>"
    kinds = [range(10 + page * each, 10 + (page + 1) * each) for page in range(3)]
    lists = [b" ".join(b"%d 0 R" % number for number in numbers) for numbers in kinds]
    return document([
        b"<</Type/Catalog/Pages 2 0 R/MarkInfo<</Marked true>>/StructTreeRoot 7 0 R>>",
        b"<</Type/Pages/Count 3/Kids[3 0 R 4 0 R 5 0 R]>>", page % 0, page % 1, page % 2, stream(b"", b"/P<</MCID 0>>BDC EMC"),
        b"<</Type/StructTreeRoot/K 8 0 R/RoleMap<</Row/Line/Line/P/Other/H1>>/ClassMap<</red<</O/Layout>>/blue<</O/Layout>>>>"
        b"/ParentTree<</Nums[%s]>>>>" % b" ".join(b"%d[%s]" % pair for pair in enumerate(lists)),
        b"<</Type/StructElem/S/Document/P 7 0 R/K 9 0 R>>", b"[%s]" % b" ".join(lists)] + [
        b"<</Type/StructElem/S/Row/C/red/P 8 0 R/Pg %d 0 R/K %d/Alt(row %d of %d)>>" % (3 + page, row, row, page + 1)
        for page in range(3) for row in range(each)])


Path(f"{folder.name}/many.pdf").write_bytes(tagged())
subprocess.run(["qpdf", "--encrypt", "", "owner", "256", "--", f"{folder.name}/many.pdf", f"{folder.name}/secret.pdf"], check=True)
subprocess.run(["qpdf", "--object-streams=generate", f"{folder.name}/many.pdf", f"{folder.name}/streams.pdf"], check=True)
streams = Path(f"{folder.name}/streams.pdf").read_bytes()
# As office programs write it: an empty table at the end, with the offset of the stream that lists all objects.
Path(f"{folder.name}/hybrid.pdf").write_bytes(
    streams + b"xref\r\n0 0\r\ntrailer\r\n<</Size %s/Root %s/XRefStm %s>>\r\nstartxref\r\n%d\r\n%%%%EOF\r\n" % (
        re.search(rb"/Size (\d+)", streams)[1], re.search(rb"/Root (\d+ 0 R)", streams)[1], streams.split()[-2], len(streams)))
for name in "many.pdf", "secret.pdf", "hybrid.pdf":
    source = Path(f"{folder.name}/{name}").read_bytes()
    made = Made(source, "pages 2")
    root = made.follow(made.catalog, "/StructTreeRoot")
    top, = root["/K"]
    rows = [made.value(item) for item in made.follow(top, "/K")]
    expect(f"rows of {name}", [(row["/Alt"], row["/K"]) for row in rows], [(f"u:row {row} of 2", [row]) for row in range(200)])
    expect(f"elements of {name}", sum("/StructElem" in json.dumps(item) for item in made.objects.values()), 201)
    expect(f"roles of {name}", made.value(root["/RoleMap"]), {"/Row": "/Line", "/Line": "/P"})
    expect(f"classes of {name}", made.value(root["/ClassMap"]), {"/red": {"/O": "/Layout"}})
    expect(f"protection of {name}", "/Encrypt" in made.trailer, name == "secret.pdf")
    unpacked = f"{folder.name}/unpacked.pdf"
    subprocess.run(["qpdf", "--object-streams=disable", made.path, unpacked], check=True)
    sizes = os.stat(made.path).st_size, os.stat(unpacked).st_size
    expect(f"{name} packed, of {sizes}", sizes[0] * 4 < sizes[1], True)
    again = Path(made.path).read_bytes()
    Made(source, "pages 2")
    expect(f"{name} made again", Path(made.path).read_bytes() == again, True)

# In another order, each page has its own label.
made = Made(whole(b"one"), "pages 3,1-2")
labels = made.follow(made.catalog, "/PageLabels", "/Nums")
expect("labels", labels, [0, {"/P": "u:A-", "/S": "/D", "/St": 6}, 1, {"/S": "/r", "/St": 1}, 2, {"/P": "u:A-", "/S": "/D", "/St": 5}])

# Two of them are merged, with both outlines, labels and attachments.
files = {"a.pdf": whole(b"one"), "b.pdf": whole(b"two")}
members = b"".join(struct.pack("<QQ", len(data), len(name)) + name.encode() for name, data in files.items())
made = Made(struct.pack("<Q", len(members) + 8) + members + b"".join(files.values()), "merged")


def outline(item):
    found = []
    while item:
        entry = made.value(item)
        place = made.follow(made.catalog, "/Pages")
        found.append((entry["/Title"][2:], entry.get("/Count"), outline(entry.get("/First"))))
        item = entry.get("/Next")
    return found


def entries(name):
    return [(f"{name} chapter", -1, [(f"{name} section", None, [])])]


expect("both outlines", outline(made.follow(made.catalog, "/Outlines")["/First"]),
       [("a.pdf", -1, entries("one")), ("b.pdf", -1, entries("two"))])
names = made.follow(made.catalog, "/Names", "/EmbeddedFiles", "/Names")
expect("attachments", names[::2], ["u:note.txt", "u:note.txt (2)"])
attached = subprocess.run(["qpdf", "--show-attachment=note.txt (2)", made.path], capture_output=True).stdout
expect("the second one", attached, b"note of two")
labels = made.follow(made.catalog, "/PageLabels", "/Nums")
expect("labels of both", labels[::2], [0, 1, 3, 4])

# Truncated at any offset after its pages, it still has all of them; the page tree may be cyclic.
sound = whole(b"one")
Path(f"{folder.name}/packed.pdf").write_bytes(sound)
packed = f"{folder.name}/objects.pdf"
subprocess.run(["qpdf", "--object-streams=generate", "--preserve-unreferenced", f"{folder.name}/packed.pdf", packed])
for data in sound, Path(packed).read_bytes():
    for part in range(97, 101):
        cut = data[:len(data) * part // 100]
        Path(f"{folder.name}/cut.pdf").write_bytes(cut)
        expect(f"pages of {part} %", worker.ask(f"{folder.name}/cut.pdf")[:2], (0, 3))
        expect(f"page 3 of {part} %", worker.ask(f"{folder.name}/cut.pdf", "pages 3")[0], 0)
circle = sound.replace(b"/Kids[3 0 R 4 0 R 5 0 R]", b"/Kids[3 0 R 2 0 R 5 0 R]")
Path(f"{folder.name}/circle.pdf").write_bytes(circle[:-40])
expect("pages of a circle", [worker.ask(f"{folder.name}/circle.pdf", f"pages {page}")[0] for page in (1, 2, 3)], [0, 1, 0])

# If only attached files are encrypted, the pages are readable.
locked = f"{folder.name}/locked.pdf"
dictionary = (
    b"/Encrypt<</Filter/Standard/V 4/R 4/Length 128/P -4/O<%s>/U<%s>/CF<</StdCF<</CFM/AESV2/AuthEvent/EFOpen/Length 16>>>>"
    b"/StmF/Identity/StrF/Identity/EFF/StdCF>>/ID[<00><00>]" % (b"11" * 32, b"22" * 32))
Path(locked).write_bytes(sound.replace(b"/Info 17 0 R>>", b"/Info 17 0 R%s>>" % dictionary))
expect("pages beside locked files", worker.ask(locked)[:2], (0, 3))
made = Made(Path(locked).read_bytes(), "pages 1")
expect("their title", made.value(made.trailer["/Info"])["/Title"], "u:one")
expect("protection of the page", "/Encrypt" in made.trailer, False)

sys.exit(worker.close() or wrong)
