"""check_merge.py SOURCE MOUNT: fifty files of mixed kinds become one document with all that they have.

Without MOUNT, makes the files in SOURCE.
"""
import email.message
import errno
import json
import os
import random
import subprocess
import sys
import tempfile
import zipfile

from PIL import Image

NAMED, FORMED = "Part 3.pdf", ("part 12.pdf", "part 20.pdf")


def pdf(label, pages, width, form=False, named=False):
    """Pages that say which they are, with a link from each to the last, perhaps by a name, and a field on the first."""
    objects = {1: b"", 2: b""}

    def add(text):
        objects[len(objects) + 1] = text
        return len(objects)

    font = add(b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
    numbers = [add(b"") for _ in range(pages)]
    place = b"(the end)" if named else b"[%d 0 R/Fit]" % numbers[-1]
    for index, number in enumerate(numbers):
        content = b"BT /F1 12 Tf 20 %d Td (%s page %d) Tj ET" % (100 - index, label.encode(), index + 1)
        stream = add(b"<</Length %d>>stream\n%s\nendstream" % (len(content), content))
        marks = b"<</Type/Annot/Subtype/Link/Rect[0 0 50 50]/Border[0 0 0]/Dest%s>>" % place
        if named and index == 0:
            # A destination in another file, with the same name as one in this file.
            marks += b"<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/Border[0 0 0]/A<</S/GoToR/F(other.pdf)/D(the end)>>>>"
        if form and index == 0:
            look = add(b"<</Type/XObject/Subtype/Form/BBox[0 0 60 20]/Length 22>>stream\n0.5 g 0 0 60 20 re f  \nendstream")
            widget = add(
                b"<</Type/Annot/Subtype/Widget/FT/Tx/T(name)/V(%s)/F 4/Rect[10 10 70 30]/AP<</N %d 0 R>>>>"
                % (label.encode(), look))
            marks += b" %d 0 R" % widget
        # The first page has the rotation of all.
        turned = b"/Rotate %d" % (index % 4 * 90) if index else b""
        objects[number] = b"<</Type/Page/Parent 2 0 R/Contents %d 0 R/Annots[%s]%s>>" % (stream, marks, turned)
    kids = b" ".join(b"%d 0 R" % number for number in numbers)
    objects[2] = (
        b"<</Type/Pages/Kids[%s]/Count %d/MediaBox[0 0 %d 150]/Rotate 90/Resources<</Font<</F1 %d 0 R>>>>>>"
        % (kids, pages, width, font))
    extra = b"/AcroForm<</Fields[%d 0 R]/DA(/F1 0 Tf)/DR<</Font<</F1 %d 0 R/F%d %d 0 R>>>>>>" % (
        widget, font, width, font) if form else b""
    if named:
        # Its node has no limits.
        leaf = add(b"<</Names[(the end)[%d 0 R/Fit]]>>" % numbers[-1])
        extra += b"/Names<</Dests<</Kids[%d 0 R]>>>>" % leaf
    objects[1] = b"<</Type/Catalog/Pages 2 0 R%s>>" % extra
    out, places = b"%PDF-1.5\n", []
    for number in sorted(objects):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, objects[number])
    table = b"".join(b"%010d 00000 n \n" % offset for offset in places)
    return out + b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (
        len(places) + 1, table, len(places) + 1, len(out))


def make(source):
    folder = os.path.join(source, "mixed")
    os.makedirs(os.path.join(folder, "sub"))
    random.seed(5)
    kinds = ["pdf", "png", "jpg", "tif", "webp", "gif"]
    for number in range(1, 51):
        kind = "pdf" if number in (3, 12, 20) or number % 2 else random.choice(kinds)
        name = f"{'Part' if number % 3 == 0 else 'part'} {number}.{kind}"
        name = {3: NAMED, 12: FORMED[0], 20: FORMED[1]}.get(number, name)
        path = os.path.join(folder, name)
        if kind == "pdf":
            with open(path, "wb") as file:
                file.write(pdf(f"file {number}", 1 + number % 5, 150 + number, name in FORMED, name == NAMED))
        else:
            image = Image.effect_noise((60 + number, 40), 80)
            (image if kind == "gif" else image.convert("RGB")).save(path, dpi=(144, 144))
    # Two attachments of one name.
    for number in (5, 7):
        note, path = os.path.join(source, "note.txt"), os.path.join(folder, f"part {number}.pdf")
        with open(note, "w") as file:
            file.write(f"note {number}")
        run("qpdf", path, "--replace-input", "--add-attachment", note, "--")
        os.remove(note)
    os.mkdir(os.path.join(source, "broken"))
    for name in ("one.pdf", "two.pdf"):
        with open(os.path.join(source, "broken", name), "w") as file:
            file.write("%PDF-1.4\nnothing of a document")
    for name in ("notes.log", "sub/inner.pdf"):
        with open(os.path.join(folder, name), "w") as file:
            file.write("not for merging")
    mail = email.message.EmailMessage()
    mail["Subject"] = "all of them"
    mail.set_content("Find them attached.")
    with zipfile.ZipFile(os.path.join(source, "mixed.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        for name in os.listdir(folder):
            if name != "sub":
                archive.write(os.path.join(folder, name), name)
                with open(os.path.join(folder, name), "rb") as file:
                    mail.add_attachment(file.read(), maintype="application", subtype="octet-stream", filename=name)
    with open(os.path.join(source, "mixed.eml"), "wb") as file:
        file.write(mail.as_bytes())


def run(*words):
    return subprocess.run(words, check=True, capture_output=True).stdout


def renders(path):
    """The text and the looks of each page."""
    texts = run("pdftotext", "-layout", path, "-").split(b"\f")[:-1]
    with tempfile.TemporaryDirectory() as folder:
        run("pdftoppm", "-r", "36", path, folder + "/p")
        pictures = []
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as file:
                pictures.append(file.read())
    assert len(texts) == len(pictures), path
    return list(zip(texts, pictures))


def check(source, mount):
    merged = os.path.join(mount, "mixed.merged.pdf")
    assert os.path.getsize(merged) > 0
    number = lambda name: int(name.split()[1].split(".")[0])
    names = sorted((name for name in os.listdir(source + "/mixed") if name[:4] in ("part", "Part")), key=number)
    assert len(names) == 50
    expected, starts = [], []
    for name in names:
        path = os.path.join(mount, "mixed", name)
        starts.append(len(expected) + 1)
        expected += renders(path if name.endswith(".pdf") else path + ".as-pdf")
    found = renders(merged)
    assert len(found) == len(expected), (len(found), len(expected))
    wrong = [page + 1 for page, (one, other) in enumerate(zip(found, expected)) if one != other]
    assert not wrong, f"pages that are not those of the sources: {wrong}"
    run("qpdf", "--check", merged)
    data = json.loads(run("qpdf", "--json=2", "--json-key=outlines", "--json-key=acroform", merged))
    assert [entry["title"] for entry in data["outlines"]] == names
    assert [entry["destpageposfrom1"] for entry in data["outlines"]] == starts
    fields = [(field["fullname"], field["value"]) for field in data["acroform"]["fields"] if field["value"]]
    assert fields == [("12.name", "u:file 12"), ("20.name", "u:file 20")], fields
    attached = run("qpdf", "--list-attachments", merged).decode().splitlines()
    notes = [run("qpdf", f"--show-attachment={line.split(' -> ')[0]}", merged) for line in attached]
    assert sorted(notes) == [b"note 5", b"note 7"], (attached, notes)
    try:
        with open(os.path.join(mount, "broken.merged.pdf"), "rb") as file:
            file.read()
        raise AssertionError("a document of nothing")
    except OSError as error:
        assert error.errno == errno.EIO, error
    places = run("pdfinfo", "-dests", merged).decode()
    last = starts[3] - 1
    assert f"{last} [" in places and "000003.the end" in places, places
    with open(merged, "rb") as file:
        document = file.read()
    assert b"/D (the end)" in document, "a place in another file has another name"
    assert all(b"/F%d " % width in document for width in (162, 170)), "fonts of forms are missing"
    for other in ("mixed.zip.contents.merged.pdf", "mixed.eml.message/attachments.merged.pdf"):
        with open(os.path.join(mount, other), "rb") as file:
            assert file.read() == document, f"the same files make another document as {other}"
    print(f"{len(found)} pages of {len(names)} files")


make(sys.argv[1]) if len(sys.argv) == 2 else check(*sys.argv[1:])
