"""make_hostile_office.py FOLDER SECRETS LOG [ATTACK...]: documents that would run something, or fetch what they name.

Writes a text, a workbook, a letter, a page and rich text into FOLDER, with all attacks or some; into SECRETS what they are
after: files that each hold a word `leaked-ATTACK`, or an image. Then serves what they ask this machine for, until it is
ended, and writes each request into LOG, which is there once all is made.
"""

import binascii
import struct
import sys
import zipfile
import zlib
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

OASIS = "urn:oasis:names:tc:opendocument:xmlns"
OPEN = "http://schemas.openxmlformats.org"
SPACES = {name: f"{OASIS}:{name}:1.0" for name in ("office", "table", "text", "script", "style", "manifest")} | {
    "draw": f"{OASIS}:drawing:1.0", "svg": f"{OASIS}:svg-compatible:1.0", "of": f"{OASIS}:of:1.2",
    "xlink": "http://www.w3.org/1999/xlink", "dom": "http://www.w3.org/2001/xml-events",
}  # fmt: skip
DECLARED = " ".join(f'xmlns:{name}="{space}"' for name, space in SPACES.items())
HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
LOAD = 'xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"'


def main(folder: Path, secrets: Path, log: Path, *attacks: str) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    maker = Maker(folder, secrets, f"http://127.0.0.1:{server.server_port}", attacks)
    maker.make_secrets()
    for make in (maker.text, maker.workbook, maker.letter, maker.page, maker.rich_text, maker.entity):
        make()
    Answers.log = log
    log.write_text("")
    server.serve_forever()


class Answers(BaseHTTPRequestHandler):
    """An image for a name of one, a word for others."""

    log: Path

    def do_GET(self) -> None:
        with self.log.open("a") as log:
            log.write(f"{self.command} {self.path}\n")
        content = png(77) if self.path.endswith(".png") else b"leaked-web"
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_HEAD = do_OPTIONS = do_PROPFIND = do_GET

    def log_message(self, *_: object) -> None:
        pass


def png(width: int) -> bytes:
    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", binascii.crc32(kind + content))

    rows = (b"\0" + b"\xff\0\0" * width) * 40
    size = struct.pack(">IIBBBBB", width, 40, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Maker:
    def __init__(self, folder: Path, secrets: Path, server: str, attacks: tuple[str, ...]) -> None:
        self.folder, self.secrets, self.server, self.attacks = folder, secrets, server, attacks

    def make_secrets(self) -> None:
        for name in ("section", "frame", "field", "chunk", "entity"):
            (self.secrets / f"{name}.txt").write_text(f"leaked-{name}\n")
        # Their widths tell them apart.
        for width, name in enumerate(("image", "svg", "page", "picture", "blip"), 61):
            (self.secrets / f"{name}.png").write_bytes(png(width))
        (self.secrets / "source.csv").write_text("leaked-source\n")
        body = "<office:text><text:p>leaked-object</text:p></office:text>"
        self.open_document(self.secrets / "object.odt", "text", body)
        cell = '<table:table-cell office:value-type="string"><text:p>leaked-cell</text:p></table:table-cell>'
        row = f'<table:table table:name="S"><table:table-row>{cell}</table:table-row></table:table>'
        self.open_document(self.secrets / "cell.ods", "spreadsheet", f"<office:spreadsheet>{row}</office:spreadsheet>")

    def file(self, name: str) -> str:
        return f"file://{self.secrets}/{name}"

    def chosen(self, parts: dict[str, str]) -> str:
        return "".join(part for name, part in parts.items() if not self.attacks or name in self.attacks)

    def open_document(self, path: Path, kind: str, body: str, before: str = "", parts: dict[str, str] | None = None) -> None:
        parts = {
            "content.xml": f'{HEAD}<office:document-content {DECLARED} office:version="1.3">{before}'
            f"<office:body>{body}</office:body></office:document-content>"
        } | (parts or {})
        media = f"application/vnd.oasis.opendocument.{kind}"
        kinds = {"/": media} | {name: "text/xml" for name in parts}
        entries = "".join(
            f'<manifest:file-entry manifest:full-path="{name}" manifest:media-type="{kind}"/>' for name, kind in kinds.items()
        )
        parts["META-INF/manifest.xml"] = f'<manifest:manifest {DECLARED} manifest:version="1.3">{entries}</manifest:manifest>'
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in ({"mimetype": media} | parts).items():
                archive.writestr(name, content)

    def macro(self, does: str) -> tuple[str, dict[str, str]]:
        """What runs it when the document opens, and its parts."""
        target = "vnd.sun.star.script:Standard.M.Main?language=Basic&amp;location=document"
        event = f'<script:event-listener script:language="ooo:script" script:event-name="dom:load" xlink:type="simple" xlink:href="{target}"/>'
        library = 'library:name="Standard" library:readonly="false"'
        space = 'xmlns:library="http://openoffice.org/2000/library" xmlns:xlink="http://www.w3.org/1999/xlink"'
        code = 'xmlns:script="http://openoffice.org/2000/script" script:name="M" script:language="StarBasic"'
        return f"<office:scripts><office:event-listeners>{event}</office:event-listeners></office:scripts>", {
            "Basic/Standard/M.xml": f"{HEAD}<script:module {code}>Sub Main\n{does}\nEnd Sub</script:module>",
            "Basic/Standard/script-lb.xml": f'{HEAD}<library:library {space} {library} library:passwordprotected="false">'
            '<library:element library:name="M"/></library:library>',
            "Basic/script-lc.xml": f'{HEAD}<library:libraries {space}><library:library {library} library:link="false"/></library:libraries>',
        }

    def text(self) -> None:
        def frame(name: str, content: str) -> str:
            return (
                f'<text:p><draw:frame draw:name="{name}" text:anchor-type="as-char" svg:width="3cm" svg:height="2cm">'
                f"{content}</draw:frame></text:p>"
            )

        def image(place: str) -> str:
            return f'<draw:image xlink:href="{place}" {LOAD}/>'

        drawing = (
            '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="90" height="60">'
            f'<image width="90" height="60" xlink:href="{self.file("svg.png")}"/></svg>'
        )
        body = "<text:p>plain</text:p>" + self.chosen({
            "section": f'<text:section text:name="s"><text:section-source xlink:href="{self.file("section.txt")}" '
            'text:filter-name="Text"/><text:p>old</text:p></text:section>',
            "image": frame("i", image(self.file("image.png"))),
            "remote": frame("r", image(f"{self.server}/remote.png")),
            "svg": frame("v", f"<draw:image><office:binary-data>{b64encode(drawing.encode()).decode()}</office:binary-data></draw:image>"),
            "object": frame("o", f'<draw:object xlink:href="{self.file("object.odt")}" {LOAD}/>'),
            "frame": frame("f", f'<draw:floating-frame xlink:href="{self.file("frame.txt")}" {LOAD}/>'),
        })  # fmt: skip
        event, parts = self.macro('ThisComponent.Text.insertString(ThisComponent.Text.getStart(), "leaked-macro", False)')
        event = self.chosen({"macro": event})
        self.open_document(
            self.folder / "text.odt", "text", f"<office:text>{body}</office:text>", event, parts
        )

    def workbook(self) -> None:
        def cell(formula: str) -> str:
            return f'<table:table-row><table:table-cell table:formula="{formula}"/></table:table-row>'

        name = "Text - txt - csv (StarCalc)"
        rows = self.chosen({
            "webservice": cell(f"of:=COM.MICROSOFT.WEBSERVICE(&quot;{self.server}/webservice.txt&quot;)"),
            "cell": cell(f"of:='{self.file('cell.ods')}'#$S.A1"),
            "dde": cell("of:=DDE(&quot;soffice&quot;;&quot;" + str(self.secrets / "cell.ods") + "&quot;;&quot;S.A1&quot;)"),
        })  # fmt: skip
        source = self.chosen({
            "source": f'<table:table table:name="L"><table:table-source xlink:type="simple" xlink:href="{self.file("source.csv")}" '
            f'table:filter-name="{name}" table:filter-options="44,34,76"/><table:table-row><table:table-cell/>'
            "</table:table-row></table:table>"
        })  # fmt: skip
        plain = '<table:table-row><table:table-cell office:value-type="string"><text:p>plain</text:p></table:table-cell></table:table-row>'
        event, parts = self.macro('ThisComponent.Sheets(0).getCellByPosition(0, 9).String = "leaked-automatic"')
        event = self.chosen({"automatic": event})
        body = f'<office:spreadsheet><table:table table:name="T">{plain}{rows}</table:table>{source}</office:spreadsheet>'
        self.open_document(self.folder / "book.ods", "spreadsheet", body, event, parts)

    def letter(self) -> None:
        def field(order: str) -> str:
            run = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'
            return (
                f'<w:p>{run.format("begin")}<w:r><w:instrText xml:space="preserve">{order}</w:instrText></w:r>'
                f'{run.format("separate")}<w:r><w:t>old</w:t></w:r>{run.format("end")}</w:p>'
            )

        size = '<wp:extent cx="900000" cy="600000"/><wp:docPr id="1" name="p"/>'
        picture = (
            f'<w:p><w:r><w:drawing><wp:inline>{size}<a:graphic xmlns:a="{OPEN}/drawingml/2006/main"><a:graphicData '
            f'uri="{OPEN}/drawingml/2006/picture"><pic:pic xmlns:pic="{OPEN}/drawingml/2006/picture"><pic:nvPicPr>'
            '<pic:cNvPr id="1" name="p"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:link="{}"/><a:stretch>'
            '<a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="900000" cy="600000"/></a:xfrm>'
            '<a:prstGeom prst="rect"/></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>'
        )
        body = "<w:p><w:r><w:t>plain</w:t></w:r></w:p>" + self.chosen({
            "blip": picture.format("b"), "far": picture.format("f"), "chunk": '<w:altChunk r:id="c"/>',
            "field": field(f'INCLUDETEXT "{self.secrets / "field.txt"}"'),
            "picture": field(f'INCLUDEPICTURE "{self.secrets / "picture.png"}" \\d'),
        })  # fmt: skip
        targets = {
            "b": ("image", self.file("blip.png")), "f": ("image", f"{self.server}/far.png"),
            "c": ("aFChunk", self.file("chunk.txt")), "s": ("settings", "settings.xml"),
        }  # fmt: skip
        template = self.chosen({"template": f"{self.server}/template.dotm"}) or "t.dotm"
        word = f'xmlns:w="{OPEN}/wordprocessingml/2006/main" xmlns:r="{OPEN}/officeDocument/2006/relationships"'
        word += f' xmlns:wp="{OPEN}/drawingml/2006/wordprocessingDrawing"'
        kind = "application/vnd.openxmlformats-officedocument.wordprocessingml"
        with zipfile.ZipFile(self.folder / "letter.docx", "w") as archive:
            archive.writestr(
                "[Content_Types].xml",
                f'{HEAD}<Types xmlns="{OPEN}/package/2006/content-types"><Default Extension="rels" '
                'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
                f'<Override PartName="/word/document.xml" ContentType="{kind}.document.main+xml"/>'
                f'<Override PartName="/word/settings.xml" ContentType="{kind}.settings+xml"/></Types>',
            )
            archive.writestr("_rels/.rels", self.links({"d": ("officeDocument", "word/document.xml")}))
            archive.writestr("word/document.xml", f"{HEAD}<w:document {word}><w:body>{body}</w:body></w:document>")
            archive.writestr("word/_rels/document.xml.rels", self.links(targets))
            archive.writestr("word/settings.xml", f'{HEAD}<w:settings {word}><w:attachedTemplate r:id="t"/></w:settings>')
            archive.writestr("word/_rels/settings.xml.rels", self.links({"t": ("attachedTemplate", template)}))

    @staticmethod
    def links(targets: dict[str, tuple[str, str]]) -> str:
        return f'{HEAD}<Relationships xmlns="{OPEN}/package/2006/relationships">' + "".join(
            f'<Relationship Id="{name}" Type="{OPEN}/officeDocument/2006/relationships/{kind}" Target="{target}"'
            + (' TargetMode="External"' if ":" in target else "") + "/>"
            for name, (kind, target) in targets.items()
        ) + "</Relationships>"  # fmt: skip

    def page(self) -> None:
        (self.folder / "page.html").write_text("<p>plain" + self.chosen({
            "page": f'<img src="{self.file("page.png")}">', "web": f'<img src="{self.server}/web.png">',
            "style": f'<link rel="stylesheet" href="{self.server}/style.css">',
            "script": "<script>document.write('leaked-script')</script>",
            "inner": f'<iframe src="{self.server}/inner.html"></iframe>',
        }))  # fmt: skip

    def rich_text(self) -> None:
        def field(order: str) -> str:
            return "{\\field{\\*\\fldinst " + order + "}{\\fldrslt old}}\\par "

        (self.folder / "rich.rtf").write_text("{\\rtf1 plain\\par " + self.chosen({
            "field": field(f'INCLUDETEXT "{self.secrets / "field.txt"}"'),
            "picture": field(f'INCLUDEPICTURE "{self.secrets / "picture.png"}" \\\\d'),
            "rich": field(f'INCLUDEPICTURE "{self.server}/rich.png" \\\\d'),
        }) + "}")  # fmt: skip

    def entity(self) -> None:
        if not self.attacks or "entity" in self.attacks:
            path = self.folder / "entity.odt"
            self.open_document(path, "text", "<office:text><text:p>plain &f;</text:p></office:text>")
            with zipfile.ZipFile(path) as archive:
                parts = {name: archive.read(name).decode() for name in archive.namelist()}
            declared = f'<!DOCTYPE x [<!ENTITY f SYSTEM "{self.file("entity.txt")}">]>'
            parts["content.xml"] = parts["content.xml"].replace(HEAD, HEAD + declared)
            with zipfile.ZipFile(path, "w") as archive:
                for name, content in parts.items():
                    archive.writestr(name, content)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]).resolve(), Path(sys.argv[3]), *sys.argv[4:])
