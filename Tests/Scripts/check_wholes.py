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

    def __init__(self, data, recipe, remark=""):
        plain, self.path = f"{folder.name}/plain.pdf", f"{folder.name}/made.pdf"
        Path(plain).write_bytes(data)
        failure, _, reason, made = worker.ask(plain, recipe)
        expect(recipe, (failure, reason), (0, remark))
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

# What claims to be PDF/A or PDF/UA is so as a page and smaller, or does not claim it any more.
def archival(part, level, kind=b"element", profile=b"profile", elements=12, parents=True):
    """Two pages, the first of which has structure elements; colors are those of an output intent."""
    claims = {
        b"element": b"<pdfaid:part>%s</pdfaid:part>\n<pdfaid:conformance>%s</pdfaid:conformance><pdfuaid:part>1</pdfuaid:part>",
        b"attribute": b"<rdf:Description pdfaid:part='%s' pdfaid:conformance = \"%s\" pdfuaid:part=\"1\"/>"}[kind] % (part, level)
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 100]%s/Contents 5 0 R>>"
    numbers = b" ".join(b"%d 0 R" % (10 + number) for number in range(elements))
    return document([
        b"<</Type/Catalog/Pages 2 0 R/Lang(en)/MarkInfo<</Marked true>>/StructTreeRoot 6 0 R/Metadata 7 0 R/OutputIntents[8 0 R]"
        b"/ViewerPreferences<</DisplayDocTitle true/Direction/R2L/PrintPageRange[1 2]>>/URI<</Base(http://example.org/)>>"
        b"/PageLayout/TwoPageLeft>>",
        b"<</Type/Pages/Count 2/Kids[3 0 R 4 0 R]>>", page % b"/StructParents 0", page % b"",
        stream(b"", b"/P<</MCID 0>>BDC 0 0 0 1 k 0 0 50 50 re f EMC" + b" " * 200),
        b"<</Type/StructTreeRoot/K[%s]%s>>" % (numbers, b"/ParentTree<</Nums[0[%s]]>>" % numbers if parents else b""),
        stream(b"/Type/Metadata/Subtype/XML", b"<?xpacket begin?><x:xmpmeta>%s</x:xmpmeta>" % claims),
        b"<</Type/OutputIntent/S/GTS_PDFA1/OutputConditionIdentifier(Paper)/DestOutputProfile 9 0 R>>",
        stream(b"/N 4", profile * 20)] + [
        b"<</Type/StructElem/S/P/P 6 0 R/Pg 3 0 R/K %d>>" % number for number in range(elements)])


def metadata(made):
    number = made.catalog["/Metadata"].split()[0]
    return subprocess.run(["qpdf", f"--show-object={number}", "--filtered-stream-data", made.path], capture_output=True).stdout


for recipe in "pages 1", "pages 2", "pages 2-1", "compressed 150dpi.q60":
    for part, level in (b"1", b"A"), (b"2", b"A"), (b"3", b"U"):
        source = archival(part, level)
        made = Made(source, recipe)
        what = f"{recipe} of PDF/A-{(part + level).decode()}"
        intent, = made.value(made.catalog["/OutputIntents"])
        expect(f"intent of {what}", made.follow(intent, "/DestOutputProfile")["/N"], 4)
        expect(f"claim of {what}", [word in metadata(made) for word in (
            b"part>%s<" % part, b"conformance>%s<" % level, b"<pdfuaid:part>1<")], [True] * 3)
        expect(f"structure of {what}", made.follow(made.catalog, "/StructTreeRoot")["/Type"], "/StructTreeRoot")
        expect(f"marks of {what}", made.follow(made.catalog, "/MarkInfo"), {"/Marked": True})
        expect(f"language of {what}", made.catalog["/Lang"], "u:en")
        preferences = {"/DisplayDocTitle": True, "/Direction": "/R2L"} | (
            {"/PrintPageRange": [1, 2]} if recipe.startswith("compressed") else {})
        expect(f"preferences of {what}", made.follow(made.catalog, "/ViewerPreferences"), preferences)
        expect(f"layout of {what}", made.catalog["/PageLayout"], "/TwoPageLeft")
        expect(f"links of {what}", made.follow(made.catalog, "/URI"), {"/Base": "u:http://example.org/"})
        # PDF/A-1 has no object streams and no cross-reference streams; in all parts there is an identifier.
        packed = b"/ObjStm" in Path(made.path).read_bytes(), b"/XRef" in Path(made.path).read_bytes()
        expect(f"packing of {what}", packed, (False, False) if part == b"1" or recipe == "pages 2" else (True, True))
        expect(f"identifier of {what}", len(made.trailer["/ID"]), 2)
        expect(f"encryption of {what}", "/Encrypt" in made.trailer, False)
# A structure that cannot be copied takes the claims with it that need it.
for kind in b"element", b"attribute":
    made = Made(archival(b"2", b"A", kind, parents=False), "pages 1")
    expect("no structure", "/StructTreeRoot" in made.catalog, False)
    told = metadata(made)
    expect(f"lower level, by {kind}", (b"2" in told, b'"B"' in told or b">B<" in told, b"A" in told, b"pdfuaid" in told), (True, True, False, False))

# Merged documents have the output intents that all of their files have, and claim nothing.
def bundle(files):
    members = b"".join(
        struct.pack("<QQ", len(data), len(name.encode())) + name.encode() for name, data in files.items())
    return struct.pack("<Q", len(members) + 8) + members + b"".join(files.values())


alike = Made(bundle({"a.pdf": archival(b"1", b"A"), "b.pdf": archival(b"3", b"U", elements=3)}), "merged")
expect("common intents", [alike.follow(item, "/DestOutputProfile")["/N"] for item in alike.catalog["/OutputIntents"]], [4])
expect("one profile", sum(item.get("stream", {}).get("dict", {}).get("/N") == 4 for item in alike.objects.values()), 1)
expect("no claim", "/Metadata" in alike.catalog, False)
for other in archival(b"1", b"A", profile=b"another"), whole(b"one"):
    expect("different intents", "/OutputIntents" in Made(bundle({"a.pdf": archival(b"1", b"A"), "b.pdf": other}), "merged").catalog, False)

# A file that cannot be read is a page of a merged document that says so.
files = {"a.pdf": whole(b"one"), "b \u00fc.png": b"\x89PNG broken", "c.pdf": b"%PDF-1.4 broken", "empty.pdf": b"", "d.pdf": whole(b"two")}
reason = "has a page with the reason in place of a file that cannot be read: b \u00fc.png is not an image of a known kind (and 2 more)"
made = Made(bundle(files), "merged", reason)
text = subprocess.run(["pdftotext", made.path, "-"], capture_output=True, text=True).stdout
expect("names of lost files", [name in text for name in ("b \u00fc.png", "c.pdf", "empty.pdf")], [True] * 3)
expect("reasons", "This file is empty." in text, True)
expect("pages beside lost files", made.follow(made.catalog, "/Pages")["/Count"], 9)
first = made.follow(made.catalog, "/Outlines")["/First"]
titles = []
while first:
    titles.append(made.value(first)["/Title"][2:])
    first = made.value(first).get("/Next")
expect("outline beside lost files", titles, list(files))
Path(f"{folder.name}/lost").write_bytes(bundle({"x.pdf": b"%PDF-1.4 broken", "y.png": b"broken"}))
expect("nothing but lost files", worker.ask(f"{folder.name}/lost", "merged")[0], 1)
# Of a damaged one, the pages that can be read.
Path(f"{folder.name}/halves").write_bytes(bundle({"a.pdf": whole(b"one").replace(b"\n4 0 obj", b"\n4 0 xxx"), "b.pdf": whole(b"two")}))
failure, _, reason, _ = worker.ask(f"{folder.name}/halves", "merged")
expect("a lost page", (failure, reason), (0, "lacks a page of a.pdf, which is damaged"))

# A document that says that it has signatures, and no more, is not changed.
for flags, fields in (1, b""), (2, b""), (3, b""), (0, b"17 0 R"):
    signed = document([
        b"<</Type/Catalog/Pages 2 0 R/AcroForm<</SigFlags %d/Fields[%s]>>>>" % (flags, fields.replace(b"17", b"5")),
        b"<</Type/Pages/Count 1/Kids[3 0 R]>>", b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>",
        stream(b"", b" " * 5000), b"<</FT/Sig/T(s)/V<</Type/Sig>>>>"])
    Path(f"{folder.name}/signed.pdf").write_bytes(signed)
    failure, _, reason, made = worker.ask(f"{folder.name}/signed.pdf", "compressed 150dpi.q60")
    expect(f"signed by {flags} {fields}", (failure, reason, made == signed), (
        0, "is not changed: it is signed, and the signature is for these bytes", True))

# In another order, each page has its own label.
made = Made(whole(b"one"), "pages 3,1-2")
labels = made.follow(made.catalog, "/PageLabels", "/Nums")
expect("labels", labels, [0, {"/P": "u:A-", "/S": "/D", "/St": 6}, 1, {"/S": "/r", "/St": 1}, 2, {"/P": "u:A-", "/S": "/D", "/St": 5}])

# Two of them are merged, with both outlines, labels and attachments.
made = Made(bundle({"a.pdf": whole(b"one"), "b.pdf": whole(b"two")}), "merged")


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
expect("pages of a circle", worker.ask(f"{folder.name}/circle.pdf")[:2], (0, 2))
expect("each of them", [worker.ask(f"{folder.name}/circle.pdf", f"pages {page}")[0] for page in (1, 2, 3)], [0, 0, 6])

# Without a tree that leads to them, pages are found by their type; all views agree that there are some.
lost = sound.replace(b"/Kids[3 0 R 4 0 R 5 0 R]", b"/Kids[8 0 R 8 0 R 8 0 R]")
for name, data in {
    "no pages": lost,
    "no tree": sound.replace(b"/Type/Catalog/Pages 2 0 R", b"/Type/Catalog/Pagex 2 0 R"),
    "no catalog": sound.replace(b"/Type/Catalog/Pages 2 0 R", b"/Typx/Catalog/Pages 2 0 R").replace(b"/Root 1 0 R", b"/Root 91 0 R"),
    "numbers instead of pages": sound.replace(b"/Kids[3 0 R 4 0 R 5 0 R]", b"/Kids[3 0   4 0   5 0  ]"),
    "no dictionary of encryption": sound.replace(b"/Info 17 0 R", b"/Encrypt(none)"),
    "a number beyond all": lost + b"\n2147483647 0 obj\n<<>>\nendobj\n"}.items():
    path = f"{folder.name}/lost.pdf"
    Path(path).write_bytes(data)
    expect(f"pages with {name}", worker.ask(path)[:2], (0, 3))
    for recipe in "pages 3", "text", "png 10px", "reflowed", "compressed 150dpi.q60":
        expect(f"{recipe} with {name}", worker.ask(path, recipe)[0], 0)
    Path(path).write_bytes(bundle({"a.pdf": data}))
    expect(f"merged with {name}", worker.ask(path, "merged")[0], 0)

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
