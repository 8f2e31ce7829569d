"""Files whose words are known, in the formats that people have, for make_findable.py.

Each function takes paragraphs and returns a file's bytes. Packages are put together by hand, so that a word can be where
writers put it: in several runs, in a note, in a shared string, in a font with a table of its own."""

import io
import json
import os
import quopri
import re
import subprocess
import tarfile
import tempfile
import textwrap
import urllib.parse
import zipfile
import zlib
from pathlib import Path
from xml.sax.saxutils import escape

from make_mail import encoded_words, lines64, quoted
from raw_files import stream

FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
DOCUMENT = "application/vnd.openxmlformats-officedocument"
SHEET = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
DRAWING = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="%s"' % RELATION
)
OPEN = (
    " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for short, name in [
            ("office", "office"),
            ("text", "text"),
            ("table", "table"),
            ("draw", "drawing"),
            ("presentation", "presentation"),
            ("meta", "meta"),
            ("style", "style"),
            ("svg", "svg-compatible"),
        ]
    )
    + ' xmlns:dc="http://purl.org/dc/elements/1.1/"'
)


def zipped(entries, stored=(), date=(2020, 1, 2, 12, 0, 0)):
    """A ZIP of (name, bytes or text[, date]) in this order."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data, *when in entries:
            entry = zipfile.ZipInfo(name, when[0] if when else date)
            entry.compress_type = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            entry.create_system, entry.external_attr = 3, 0o100644 << 16
            archive.writestr(entry, data)
    return file.getvalue()


def tarred(entries, packing=""):
    """A tar of (name, bytes, seconds), `packing` "", "gz", "xz" or "bz2"."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=f"w:{packing}") as archive:
        for name, data, when in entries:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(data), when
            archive.addfile(entry, io.BytesIO(data))
    return file.getvalue()


def seven_zipped(entries):
    """A 7z of (name, bytes, seconds), by p7zip."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data, when in entries:
            path = Path(folder, "in", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            os.utime(path, (when, when))
        subprocess.run(
            ["7z", "a", "-bd", "-mtc=off", "../out.7z", "."], cwd=f"{folder}/in", check=True, stdout=subprocess.DEVNULL
        )
        return Path(folder, "out.7z").read_bytes()


# Pages.


def pdf(pages, title="", author="", keywords="", unicode=False, packed=True):
    """A page for each list of paragraphs. With `unicode`, characters are glyphs that only a table of the font explains."""
    glyphs = sorted({letter for page in pages for text in page for letter in text + " "})
    codes = {letter: number + 1 for number, letter in enumerate(glyphs)}
    kids = b" ".join(b"%d 0 R" % (8 + 2 * number) for number in range(len(pages)))
    table = "".join(f"<{code:04x}> <{letter.encode('utf-16-be').hex()}>\n" for letter, code in codes.items())
    chunks = table.splitlines(True)
    table = "".join(
        f"{len(chunks[at:at + 100])} beginbfchar\n{''.join(chunks[at:at + 100])}endbfchar\n" for at in range(0, len(chunks), 100)
    )
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def\n"
        f"1 begincodespacerange <0000> <ffff> endcodespacerange\n{table}endcmap end end\n"
    ).encode()

    def said(text):
        return b"<feff" + text.encode("utf-16-be").hex().encode() + b">"

    def flate(data):
        return stream(zlib.compress(data), b"/Filter/FlateDecode") if packed else stream(data)

    info = b"".join(
        b"/%s%s" % (key, said(value)) for key, value in ((b"Title", title), (b"Author", author), (b"Keywords", keywords)) if value
    )
    if unicode:
        font = b"<</Type/Font/Subtype/Type0/BaseFont/Known/Encoding/Identity-H/DescendantFonts[4 0 R]/ToUnicode 5 0 R>>"
    else:
        font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, len(pages)),
        font,
        b"<</Type/Font/Subtype/CIDFontType2/BaseFont/Known/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>"
        b"/FontDescriptor 6 0 R/DW 600>>",
        flate(cmap),
        b"<</Type/FontDescriptor/FontName/Known/Flags 4/FontBBox[0 -200 1000 900]/ItalicAngle 0/Ascent 900/Descent -200/CapHeight 700/StemV 80>>",
        b"<<%s>>" % info,
    ]
    for page in pages:
        lines = [line for text in page for line in [*textwrap.wrap(text, 78, break_long_words=False), ""]]
        content = [b"BT /F1 10 Tf 14 TL 50 790 Td"]
        for line in lines:
            if unicode:
                # Glyphs are drawn from left to right, those of Hebrew and Arabic words from the last letter.
                seen = re.sub("[\u0590-\u06ff]+", lambda word: word[0][::-1], line)
                code = b"<" + "".join(f"{codes[letter]:04x}" for letter in seen).encode() + b">"
            else:
                raw = line.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
                code = b"(" + raw + b")"
            content.append(code + b" Tj T*")
        number = len(objects) + 2
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents %d 0 R/Resources<</Font<</F1 3 0 R>>>>>>" % number
        )
        objects.append(flate(b"\n".join([*content, b"ET"])))
    parts, starts, size = [b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n"], [], 15
    for number, content in enumerate(objects, 1):
        starts.append(size)
        parts.append(b"%d 0 obj\n%s\nendobj\n" % (number, content))
        size += len(parts[-1])
    rows = b"".join(b"%010d 00000 n \n" % start for start in starts)
    parts.append(
        b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R/Info 7 0 R>>\nstartxref\n%d\n%%%%EOF\n"
        % (len(starts) + 1, rows, len(starts) + 1, size)
    )
    return b"".join(parts)


def rewritten_pdf(data, *options):
    """The same document after qpdf with these options, such as object streams or encryption."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "in.pdf").write_bytes(data)
        subprocess.run(["qpdf", *options, "in.pdf", "out.pdf"], cwd=folder, check=True)
        return Path(folder, "out.pdf").read_bytes()


def drawn(paragraphs, size=(1240, 900)):
    """A picture of the text, as a clean scanner makes it. Needs Pillow."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("L", size, 255)
    pen, font = ImageDraw.Draw(image), ImageFont.truetype(FONT, 30)
    row = 60
    for text in paragraphs:
        for line in [*textwrap.wrap(text, 60), ""]:
            pen.text((70, row), line, fill=15, font=font)
            row += 46
    return image


def picture(paragraphs, kind, **options):
    file = io.BytesIO()
    drawn(paragraphs).save(file, kind, **options)
    return file.getvalue()


def pictures(pages, kind):
    """A TIFF or a PDF with a picture for each page."""
    file, images = io.BytesIO(), [drawn(page) for page in pages]
    options = {"resolution": 150} if kind == "PDF" else {"compression": "tiff_lzw"}
    images[0].save(file, kind, save_all=True, append_images=images[1:], **options)
    return file.getvalue()


def photograph(description="", artist="", comment=""):
    """A small JPEG with EXIF fields. Needs Pillow."""
    from PIL import Image

    image, file = Image.linear_gradient("L").resize((320, 240)).convert("RGB"), io.BytesIO()
    exif = Image.Exif()
    exif[0x010E], exif[0x013B] = description, artist
    if comment:
        exif[0x8769] = {0x9286: b"UNICODE\0" + comment.encode("utf-16-be")}
    image.save(file, "JPEG", exif=exif, quality=80)
    return file.getvalue()


def picture_with_text(description, title):
    """A PNG with text chunks. Needs Pillow."""
    from PIL import Image, PngImagePlugin

    info, file = PngImagePlugin.PngInfo(), io.BytesIO()
    info.add_itxt("Description", description)
    info.add_text("Title", title)
    Image.linear_gradient("L").resize((200, 200)).save(file, "PNG", pnginfo=info)
    return file.getvalue()


# Office documents.


def docx(paragraphs, title="", note="", header="", cells=(), deleted="", split="", comment=""):
    """`split` is a word in two runs, `deleted` one that a tracked change removed."""

    def run(text):
        return f'<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'

    body = "".join(f"<w:p>{run(text)}</w:p>" for text in paragraphs)
    if split:
        middle = len(split) // 2
        body += f"<w:p>{run('Before ' + split[:middle])}<w:r><w:rPr><w:b/></w:rPr><w:t>{split[middle:]}</w:t></w:r>{run(' after.')}</w:p>"
    if note:
        body += f'<w:p>{run("With a note")}<w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
    if deleted:
        body += f'<w:p><w:del w:id="9" w:author="x" w:date="2020-01-01T00:00:00Z"><w:r><w:delText>{deleted}</w:delText></w:r></w:del>{run("kept")}</w:p>'
    if comment:
        body += f'<w:p><w:commentRangeStart w:id="0"/>{run("Commented")}<w:commentRangeEnd w:id="0"/><w:r><w:commentReference w:id="0"/></w:r></w:p>'
    if cells:
        rows = "".join("<w:tr>" + "".join(f"<w:tc><w:p>{run(cell)}</w:p></w:tc>" for cell in row) + "</w:tr>" for row in cells)
        body += f"<w:tbl><w:tblPr/><w:tblGrid/>{rows}</w:tbl><w:p/>"
    body += '<w:sectPr><w:headerReference w:type="default" r:id="rId2"/></w:sectPr>' if header else ""
    parts = {"document": f'<w:document {WORD} xmlns:r="{RELATION}"><w:body>{body}</w:body></w:document>'}
    if header:
        parts["header1"] = f"<w:hdr {WORD}><w:p>{run(header)}</w:p></w:hdr>"
    if note:
        parts["footnotes"] = f'<w:footnotes {WORD}><w:footnote w:id="2"><w:p>{run(note)}</w:p></w:footnote></w:footnotes>'
    if comment:
        parts["comments"] = (
            f'<w:comments {WORD}><w:comment w:id="0" w:author="x"><w:p>{run(comment)}</w:p></w:comment></w:comments>'
        )
    kinds = {"document": "document.main", "header1": "header", "footnotes": "footnotes", "comments": "comments"}
    relations = {"header1": ("rId2", "header"), "footnotes": ("rId3", "footnotes"), "comments": ("rId4", "comments")}
    types = {f"/word/{name}.xml": f"{DOCUMENT}.wordprocessingml.{kinds[name]}+xml" for name in parts}
    beside = [(*relations[name], f"{name}.xml") for name in parts if name in relations]
    entries = [(f"word/{name}.xml", XML + text) for name, text in parts.items()]
    if beside:
        entries.append(("word/_rels/document.xml.rels", related(beside)))
    return office("word/document.xml", types, entries, title)


def xlsx(sheets, title=""):
    """`sheets` is a list of (name, rows, whether it is hidden); cells are text or numbers. Odd rows are shared strings."""
    shared, entries, types, listed, beside = [], [], {}, "", []
    for number, (name, rows, is_hidden) in enumerate(sheets, 1):
        text = ""
        for row, cells in enumerate(rows, 1):
            text += f'<row r="{row}">'
            for column, cell in enumerate(cells):
                at = f"{chr(65 + column)}{row}"
                if isinstance(cell, (int, float)):
                    text += f'<c r="{at}"><v>{cell}</v></c>'
                elif row % 2:
                    text += f'<c r="{at}" t="s"><v>{len(shared)}</v></c>'
                    shared.append(cell)
                else:
                    text += f'<c r="{at}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
            text += "</row>"
        entries.append((f"xl/worksheets/sheet{number}.xml", f"{XML}<worksheet {SHEET}><sheetData>{text}</sheetData></worksheet>"))
        types[f"/xl/worksheets/sheet{number}.xml"] = f"{DOCUMENT}.spreadsheetml.worksheet+xml"
        listed += f'<sheet name="{escape(name)}" sheetId="{number}"{" state=%shidden%s" % (chr(34), chr(34)) if is_hidden else ""} r:id="rId{number}"/>'
        beside.append((f"rId{number}", "worksheet", f"worksheets/sheet{number}.xml"))
    strings = "".join(f"<si><t>{escape(text)}</t></si>" for text in shared)
    beside.append((f"rId{len(sheets) + 1}", "sharedStrings", "sharedStrings.xml"))
    types |= {
        "/xl/workbook.xml": f"{DOCUMENT}.spreadsheetml.sheet.main+xml",
        "/xl/sharedStrings.xml": f"{DOCUMENT}.spreadsheetml.sharedStrings+xml",
    }
    entries += [
        ("xl/workbook.xml", f'{XML}<workbook {SHEET} xmlns:r="{RELATION}"><sheets>{listed}</sheets></workbook>'),
        ("xl/sharedStrings.xml", f'{XML}<sst {SHEET} count="{len(shared)}" uniqueCount="{len(shared)}">{strings}</sst>'),
        ("xl/_rels/workbook.xml.rels", related(beside)),
    ]
    return office("xl/workbook.xml", types, entries, title)


def pptx(slides, title="", notes=()):
    """A slide for each list of paragraphs; `notes` are texts for the first ones."""

    def shape(texts):
        text = "".join(f"<a:p><a:r><a:t>{escape(each)}</a:t></a:r></a:p>" for each in texts)
        return (
            '<p:sp><p:nvSpPr><p:cNvPr id="2" name="x"/><p:cNvSpPr/><p:nvPr><p:ph type="body"/></p:nvPr></p:nvSpPr><p:spPr/>'
            f"<p:txBody><a:bodyPr/>{text}</p:txBody></p:sp>"
        )

    def tree(texts):
        return (
            '<p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>'
            f"{shape(texts)}</p:spTree></p:cSld>"
        )

    entries, types, listed, beside = [], {"/ppt/presentation.xml": f"{DOCUMENT}.presentationml.presentation.main+xml"}, "", []
    for number, texts in enumerate(slides, 1):
        entries.append((f"ppt/slides/slide{number}.xml", f"{XML}<p:sld {DRAWING}>{tree(texts)}</p:sld>"))
        types[f"/ppt/slides/slide{number}.xml"] = f"{DOCUMENT}.presentationml.slide+xml"
        listed += f'<p:sldId id="{255 + number}" r:id="rId{number}"/>'
        beside.append((f"rId{number}", "slide", f"slides/slide{number}.xml"))
        if number <= len(notes):
            entries.append(
                (f"ppt/notesSlides/notesSlide{number}.xml", f"{XML}<p:notes {DRAWING}>{tree([notes[number - 1]])}</p:notes>")
            )
            types[f"/ppt/notesSlides/notesSlide{number}.xml"] = f"{DOCUMENT}.presentationml.notesSlide+xml"
            entries.append(
                (
                    f"ppt/slides/_rels/slide{number}.xml.rels",
                    related([("rId1", "notesSlide", f"../notesSlides/notesSlide{number}.xml")]),
                )
            )
    entries += [
        (
            "ppt/presentation.xml",
            f'{XML}<p:presentation {DRAWING}><p:sldIdLst>{listed}</p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/></p:presentation>',
        ),
        ("ppt/_rels/presentation.xml.rels", related(beside)),
    ]
    return office("ppt/presentation.xml", types, entries, title)


def related(relations):
    text = "".join(f'<Relationship Id="{key}" Type="{RELATION}/{kind}" Target="{target}"/>' for key, kind, target in relations)
    return f'{XML}<Relationships xmlns="{PACKAGE}/relationships">{text}</Relationships>'


def office(main, types, entries, title):
    overrides = "".join(f'<Override PartName="{name}" ContentType="{kind}"/>' for name, kind in types.items())
    overrides += (
        '<Override PartName="/docProps/core.xml" ContentType="application/vnd.openxmlformats-package.core-properties+xml"/>'
    )
    core = (
        f'{XML}<cp:coreProperties xmlns:cp="{PACKAGE}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{escape(title)}</dc:title></cp:coreProperties>"
    )
    roots = (
        f'<Relationship Id="rId1" Type="{RELATION}/officeDocument" Target="{main}"/>'
        f'<Relationship Id="rId2" Type="{PACKAGE}/relationships/metadata/core-properties" Target="docProps/core.xml"/>'
    )
    return zipped(
        [
            (
                "[Content_Types].xml",
                f'{XML}<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
                f'relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>',
            ),
            ("_rels/.rels", f'{XML}<Relationships xmlns="{PACKAGE}/relationships">{roots}</Relationships>'),
            *entries,
            ("docProps/core.xml", core),
        ]
    )


def open_document(kind, body, title=""):
    mime = f"application/vnd.oasis.opendocument.{kind}"
    manifest = "".join(
        f'<manifest:file-entry manifest:full-path="{path}" manifest:media-type="{media}"/>'
        for path, media in (("/", mime), ("content.xml", "text/xml"), ("meta.xml", "text/xml"))
    )
    return zipped(
        [
            ("mimetype", mime),
            (
                "content.xml",
                f'{XML}<office:document-content {OPEN} office:version="1.2"><office:body>{body}</office:body></office:document-content>',
            ),
            (
                "meta.xml",
                f'{XML}<office:document-meta {OPEN} office:version="1.2"><office:meta><dc:title>{escape(title)}</dc:title></office:meta></office:document-meta>',
            ),
            (
                "META-INF/manifest.xml",
                f'{XML}<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.2">{manifest}</manifest:manifest>',
            ),
        ],
        stored={"mimetype"},
    )


def odt(paragraphs, title="", note="", split=""):
    text = "".join(f"<text:p>{escape(each)}</text:p>" for each in paragraphs)
    if split:
        middle = len(split) // 2
        text += f"<text:p>Before {split[:middle]}<text:span>{split[middle:]}</text:span> after.</text:p>"
    if note:
        text += (
            '<text:p>With a note<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body>'
            f"<text:p>{escape(note)}</text:p></text:note-body></text:note></text:p>"
        )
    return open_document("text", f"<office:text>{text}</office:text>", title)


def ods(sheets, title=""):
    def cell(value):
        if isinstance(value, (int, float)):
            return (
                f'<table:table-cell office:value-type="float" office:value="{value}"><text:p>{value}</text:p></table:table-cell>'
            )
        return f'<table:table-cell office:value-type="string"><text:p>{escape(value)}</text:p></table:table-cell>'

    tables = "".join(
        f'<table:table table:name="{escape(name)}">'
        + "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
        + "</table:table>"
        for name, rows, _ in sheets
    )
    return open_document("spreadsheet", f"<office:spreadsheet>{tables}</office:spreadsheet>", title)


def odp(slides, title=""):
    pages = "".join(
        f'<draw:page draw:name="s{number}"><draw:frame svg:width="20cm" svg:height="10cm" svg:x="1cm" svg:y="1cm"><draw:text-box>'
        + "".join(f"<text:p>{escape(text)}</text:p>" for text in texts)
        + "</draw:text-box></draw:frame></draw:page>"
        for number, texts in enumerate(slides, 1)
    )
    return open_document("presentation", f"<office:presentation>{pages}</office:presentation>", title)


def rtf(paragraphs, title=""):
    """Characters of Windows-1252 as bytes, others as numbers with a substitute."""

    def said(text):
        out = ""
        for letter in text:
            if letter in "\\{}":
                out += "\\" + letter
            elif ord(letter) < 128:
                out += letter
            elif ord(letter) < 256:
                out += f"\\'{ord(letter):02x}"
            else:
                codes = letter.encode("utf-16-le")
                for at in range(0, len(codes), 2):
                    code = int.from_bytes(codes[at : at + 2], "little")
                    out += f"\\u{code - 65536 if code > 32767 else code}?"
        return out

    text = "".join(f"{{\\pard {said(each)}\\par}}\n" for each in paragraphs)
    return (
        "{\\rtf1\\ansi\\ansicpg1252\\deff0{\\fonttbl{\\f0 Arial;}}{\\info{\\title " + said(title) + "}}\n" + text + "}"
    ).encode("ascii")


def epub(chapters, title, author=""):
    """`chapters` is a list of (title, paragraphs)."""
    items = "".join(
        f'<item id="c{n}" href="c{n:02}.xhtml" media-type="application/xhtml+xml"/>' for n in range(1, len(chapters) + 1)
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(1, len(chapters) + 1))
    points = "".join(
        f'<navPoint id="n{n}" playOrder="{n}"><navLabel><text>{escape(name)}</text></navLabel><content src="c{n:02}.xhtml"/></navPoint>'
        for n, (name, _) in enumerate(chapters, 1)
    )
    entries = [
        ("mimetype", "application/epub+zip"),
        (
            "META-INF/container.xml",
            f'{XML}<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
        ),
        (
            "OEBPS/content.opf",
            f'{XML}<package xmlns="http://www.idpf.org/2007/opf" version="2.0" unique-identifier="i"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
            f'<dc:title>{escape(title)}</dc:title><dc:creator>{escape(author)}</dc:creator><dc:language>en</dc:language><dc:identifier id="i">x</dc:identifier></metadata>'
            f'<manifest><item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>{items}</manifest><spine toc="ncx">{spine}</spine></package>',
        ),
        (
            "OEBPS/toc.ncx",
            f'{XML}<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1"><head/><docTitle><text>{escape(title)}</text></docTitle><navMap>{points}</navMap></ncx>',
        ),
    ]
    for number, (name, paragraphs) in enumerate(chapters, 1):
        text = "".join(f"<p>{escape(each)}</p>" for each in paragraphs)
        entries.append(
            (
                f"OEBPS/c{number:02}.xhtml",
                f'{XML}<html xmlns="http://www.w3.org/1999/xhtml"><head><title>{escape(name)}</title></head><body><h1>{escape(name)}</h1>{text}</body></html>',
            )
        )
    return zipped(entries, stored={"mimetype"})


# Pages of the web, tables, cards.


def html(paragraphs, title="", charset="utf-8", hidden="", entities=False):
    """`hidden` is a word in a script, a style and a comment."""

    def said(text):
        text = escape(text)
        return "".join(f"&#{ord(letter)};" if ord(letter) > 127 and entities else letter for letter in text)

    body = "\n".join(f"<p>{said(text)}</p>" for text in paragraphs)
    secret = f"<script>var {hidden} = 1;</script><style>.{hidden} {{ color: red }}</style><!-- {hidden} -->" if hidden else ""
    text = f'<!DOCTYPE html>\n<html><head><meta charset="{charset}"><title>{said(title)}</title>{secret}</head>\n<body>{body}</body></html>\n'
    return text.encode(charset, "xmlcharrefreplace")


def csv_rows(rows, mark=",", charset="utf-8"):
    def said(cell):
        cell = str(cell)
        return '"' + cell.replace('"', '""') + '"' if mark in cell or '"' in cell else cell

    return "".join(mark.join(map(said, row)) + "\r\n" for row in rows).encode(charset)


def subtitles(lines, kind, charset="utf-8"):
    """A line each ten seconds."""

    def clock(seconds, mark):
        return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{mark}000"

    if kind == "ass":
        head = (
            "[Script Info]\nScriptType: v4.00+\n\n[V4+ Styles]\nFormat: Name, Fontname, Fontsize\nStyle: Default,Arial,20\n\n"
            "[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
        )
        rows = [
            f"Dialogue: 0,0:00:{10 * n % 60:02}.00,0:00:{10 * n % 60 + 4:02}.00,Default,,0,0,0,,{{\\i1}}{text}{{\\i0}}"
            for n, text in enumerate(lines)
        ]
        return (head + "\n".join(rows) + "\n").encode(charset)
    mark = "," if kind == "srt" else "."
    out = "" if kind == "srt" else "WEBVTT\n\n"
    for number, text in enumerate(lines):
        out += f"{number + 1}\n{clock(10 * number, mark)} --> {clock(10 * number + 4, mark)}\n{text}\n\n"
    return out.encode(charset)


def card(name, note, mail, organisation):
    return (
        f"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:{name}\r\nN:{name};;;;\r\nORG:{organisation}\r\nEMAIL;TYPE=INTERNET:{mail}\r\n"
        f"NOTE:{note}\r\nEND:VCARD\r\n"
    ).encode()


def calendar(events):
    """`events` is a list of (day as 20200102, summary, description, location)."""
    out = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//x//EN\r\n"
    for number, (day, summary, description, location) in enumerate(events):
        lines = [
            f"BEGIN:VEVENT\r\nUID:{number}@example.org",
            f"DTSTAMP:{day}T100000Z",
            f"DTSTART:{day}T100000Z",
            f"DTEND:{day}T110000Z",
        ]
        for key, value in (("SUMMARY", summary), ("DESCRIPTION", description), ("LOCATION", location)):
            # RFC 5545, section 3.1: long lines are folded, which may divide a word.
            line = f"{key}:{value}"
            lines.append("\r\n ".join(line[at : at + 60] for at in range(0, len(line), 60)))
        out += "\r\n".join(lines) + "\r\nEND:VEVENT\r\n"
    return (out + "END:VCALENDAR\r\n").encode()


# Mail.


def header(text, encoding="B", charset="utf-8"):
    return text if text.isascii() else encoded_words(text, charset, encoding)


def body(text, subtype="plain", charset="utf-8", way="8bit"):
    """A part of a message: its fields and its bytes."""
    raw = text.encode(charset)
    data = {"base64": lines64, "quoted-printable": quopri.encodestring}.get(way, lambda raw: raw)(raw)
    return f"Content-Type: text/{subtype}; charset={charset}\nContent-Transfer-Encoding: {way}\n\n".encode() + data


def attached(name, data, kind="application/octet-stream"):
    if kind == "message/rfc822":
        return b'Content-Type: message/rfc822\nContent-Disposition: attachment; filename="%s"\n\n' % name.encode() + data
    shown = f'filename="{name}"' if name.isascii() else "filename*=UTF-8''" + urllib.parse.quote(name)
    return (
        f"Content-Type: {kind}\nContent-Disposition: attachment; {shown}\nContent-Transfer-Encoding: base64\n\n".encode()
        + lines64(data)
    )


def parts(subtype, several, number):
    mark = b"--=_known_%d" % number
    head = b'Content-Type: multipart/%s; boundary="%s"\n\n' % (subtype.encode(), mark[2:])
    return head + b"".join(mark + b"\n" + part + b"\n" for part in several) + mark + b"--\n"


def message(number, date, sender, receiver, subject, content, encoding="B", charset="utf-8"):
    """`date` as RFC 5322 has it; people are (name, address)."""

    def person(one):
        name, address = one
        return f'"{name}" <{address}>' if name.isascii() else f"{header(name, encoding)} <{address}>"

    lines = [
        f"From: {person(sender)}",
        f"To: {person(receiver)}",
        f"Date: {date}",
        f"Message-ID: <known{number}@example.org>",
        f"Subject: {header(subject, encoding, charset)}",
        "MIME-Version: 1.0",
    ]
    return "\n".join(lines).encode() + b"\n" + content


def mailbox(messages):
    """mboxrd."""
    return b"".join(
        b"From x@example.org Thu Jan  2 12:00:00 2020\n" + quoted(data, "rd").rstrip(b"\n") + b"\n\n" for data in messages
    )


# Sound and film.


def sound(suffix, tags, seconds=1):
    return encoded([["-f", "lavfi", "-i", f"sine=frequency=440:duration={seconds}"]], suffix, tags)


def film(suffix, tags, lines):
    """A film with a track of subtitles."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "in.srt")
        path.write_bytes(subtitles(lines, "srt"))
        seconds = 10 * len(lines)
        codec = ["-c:v", "mpeg4", "-q:v", "20", "-c:s", "srt" if suffix == "mkv" else "mov_text"]
        return encoded(
            [["-f", "lavfi", "-i", f"testsrc=size=64x48:rate=2:duration={seconds}"], ["-i", str(path)]], suffix, tags, codec
        )


def encoded(inputs, suffix, tags, codec=()):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, f"out.{suffix}")
        words = ["ffmpeg", "-nostdin", "-v", "error", "-y", *(word for each in inputs for word in each), *codec]
        for key, value in tags.items():
            words += ["-metadata", f"{key}={value}"]
        subprocess.run([*words, "-fflags", "+bitexact", str(out)], check=True)
        return out.read_bytes()


# By LibreOffice.


def converted(documents, kind):
    """The given {name: bytes} as files of this kind, by one LibreOffice: {name: bytes}. Empty without it."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in documents.items():
            Path(folder, name).write_bytes(data)
        words = [
            "soffice",
            f"-env:UserInstallation=file://{folder}/profile",
            "--headless",
            "--convert-to",
            kind,
            "--outdir",
            f"{folder}/out",
            *(f"{folder}/{name}" for name in documents),
        ]
        try:
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
        except (OSError, subprocess.SubprocessError):
            return {}
        return {
            name: made.read_bytes()
            for name in documents
            if (made := Path(folder, "out", f"{name.rpartition('.')[0]}.{kind}")).exists()
        }


def escaped_json(value):
    return json.dumps(value, ensure_ascii=True, indent=1).encode()
