"""The folder that scripts/check page serves: something of everything that the page shows, and what could attack it."""

import os
import shutil
import subprocess
import time
import zipfile
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw, ImageFilter, ImageFont, ImageOps

SAMPLE = Path(__file__).resolve().parent.parent.parent / "sample"
WHEN = 1714728600
# Each is the name of a file, of an entry, a subject, or text: none may run, wherever it comes up.
ATTACKS = [
    "<img src=x onerror=PWNED=1>",
    "\"><script>PWNED=1<\u2215script>",
    "'-alert(1)-'",
    "<svg onload=PWNED=1>",
    "javascript:PWNED=1",
    "{{constructor.constructor('PWNED=1')()}}",
    "%3Cscript%3EPWNED=1%3C%2Fscript%3E",
    "a#b?c&d=e%2e%2e;f",
    "line\nbreak \u202egnp.exe",
]
SVG = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="320" height="200" onload="PWNED=1">
<script>parent.PWNED=1;top.PWNED=1;fetch("https://canary.example/svg")</script>
<image xlink:href="https://canary.example/image.png" width="10" height="10"/>
<rect width="320" height="200" fill="#0b7285"/><circle cx="210" cy="90" r="48" fill="#ffd43b"/>
<a xlink:href="javascript:parent.PWNED=1"><text x="20" y="180" fill="white" font-size="20">A drawing</text></a></svg>
"""
# Each asks for something elsewhere, or has a browser connect to it, by a way of its own.
ASKING = """<link rel=preconnect href=https://a1.canary.example><link rel="PreConnect" crossorigin href=http://a2.canary.example>
<link rel=dns-prefetch href=//a3.canary.example><link rel=prefetch href=https://a4.canary.example/x><link rel=icon href=https://a5.canary.example/i>
<link rel=preload as=image href=https://a6.canary.example/x.png><link rel=modulepreload href=https://a7.canary.example/x.js>
<link rel=prerender href=https://a8.canary.example/><link rel=manifest href=https://a9.canary.example/m>
<video poster=http://b1.canary.example/p src=http://b2.canary.example/v></video><audio src=http://b3.canary.example/a></audio>
<img srcset="http://b4.canary.example/i 1x"><picture><source srcset=http://b5.canary.example/q><img></picture>
<input type=image src=http://b6.canary.example/i><object data=http://b7.canary.example/o></object><embed src=http://b8.canary.example/e>
<iframe src=http://b9.canary.example/f></iframe><table background=http://c1.canary.example/t><tr><td>x</table>
<style>@import url(http://c2.canary.example/c); @font-face { font-family: f; src: url(http://c3.canary.example/f) }
p { font-family: f; background: url(http://c4.canary.example/z) } p[title^=a] { background: url(http://c5.canary.example/a) }</style>
<svg><image href=http://c6.canary.example/i /><use href="http://c7.canary.example/u#x"/></svg><math href=http://c8.canary.example/></math>
<p title=abc style="background: url(http://c9.canary.example/s)">text</p><a href=http://d1.canary.example/go ping=http://d2.canary.example/ping>go</a>
"""
HTML = """<!DOCTYPE html><html><head><base href="https://canary.example/"><meta http-equiv="refresh" content="9;url=https://canary.example/r">
<script>parent.PWNED=1;top.PWNED=1</script><link rel="stylesheet" href="https://canary.example/s.css"></head>
<body onload="PWNED=1"><h1>A page</h1><p>Kept as a file.</p><img src="https://canary.example/i.png" onerror="parent.PWNED=1">
<iframe src="javascript:parent.PWNED=1"></iframe><form action="https://canary.example/f"><input name="a"></form>
<a href="javascript:parent.PWNED=1">link</a>""" + ASKING + """</body></html>
"""
MARKDOWN = """# Notes of the harbour

The **boats** were counted at *noon*, from the [pier](readme.txt), with `scripts/count`.

## What is next

- [x] Count
- [ ] Paint

| Month | Boats |
|-------|------:|
| May   |    12 |
| June  |    17 |

> The tide was low.

```swift
struct Boat { let name: String }
```

![Harbour](photos/harbour.jpg)

<script>PWNED=1</script><img src=x onerror="PWNED=1"><a href="javascript:PWNED=1">a link</a>
![far](https://canary.example/md.png)

""" + ASKING
SWIFT = """/// A boat, as it lies in the harbour.
struct Boat: Codable, Sendable {
  let name: String
  var length = 7.5  // metres

  /* Two boats are alike
     if they are called alike. */
  static func == (one: Boat, other: Boat) -> Bool { one.name == other.name }
}

@main
enum Harbour {
  static func main() async throws {
    let boats = [Boat(name: "Möwe"), Boat(name: "\\"Ente\\"", length: 0x1f)]
    for boat in boats where boat.length > 1_000 { print("\\(boat.name) <b>is long</b>") }
  }
}
"""
PYTHON = '''"""Counts boats."""
import json  # the table


def count(path: str, least: float = 1.5e3) -> int:
    with open(path) as file:
        return sum(1 for boat in json.load(file) if boat["length"] >= least)


@property
def name(self):
    return f"{self.first!r} {None}"
'''
LETTER = """From: Anna <anna@harbour.example>
To: Ben <ben@harbour.example>
Subject: =?utf-8?q?Boats_=3Cimg_src=3Dx_onerror=3DPWNED=3D1=3E_and_M=C3=B6wen?=
Date: Fri, 3 May 2024 09:30:00 +0000
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="mixed"

--mixed
Content-Type: text/html; charset=utf-8

<html><body onload="parent.PWNED=1"><script>parent.PWNED=1</script><h2>Dear Ben,</h2>
<p>the boats are in <b>both</b> tables. <img src="https://canary.example/mail.png" onerror="parent.PWNED=1"></p>
<p><a href="javascript:parent.PWNED=1">Here</a> they are, and <a href="https://canary.example/far">far away</a>.</p><p>Anna</p>""" + ASKING + """</body></html>
--mixed
Content-Type: text/csv; name="meter.csv"
Content-Disposition: attachment; filename="meter.csv"

date,kWh,price
2024-05-01,12.7,3.21
--mixed
Content-Type: text/plain
Content-Disposition: attachment; filename="<img src=x onerror=PWNED=1>.txt"

An attachment with an odd name.
--mixed--
"""


def make(folder: Path, many: int = 10_000):
    """Fills a folder that does not exist yet."""
    (folder / "photos").mkdir(parents=True)
    (folder / "code").mkdir()
    (folder / "odd").mkdir()
    (folder / "empty").mkdir()
    (folder / "many").mkdir()
    for name in ("club.mbox", "letters.zip", "readme.txt", "invitation.eml"):
        shutil.copy(SAMPLE / name, folder)
    photos(folder / "photos")
    (folder / "letter.eml").write_text(LETTER)
    (folder / "notes.md").write_text(MARKDOWN)
    (folder / "drawing.svg").write_text(SVG)
    (folder / "page.html").write_text(HTML)
    (folder / "code/harbour.swift").write_text(SWIFT)
    (folder / "code/count.py").write_text(PYTHON)
    (folder / "code/settings.json").write_text('{"name": "Möwe", "length": 7.5, "afloat": true, "owner": null}\n')
    (folder / "code/style.css").write_text("/* boats */\n.boat > a:hover { color: #0b7285; margin: 0 1.5rem; }\n")
    (folder / "code/long.log").write_text("".join(f"{n:06} the tide is at {n % 400 / 100:.2f} m\n" for n in range(20_000)))
    table = "date,kWh,price,remark\n" + "".join(
        f"2024-{1 + day // 28 % 12:02}-{1 + day % 28:02},{12 + day % 7 * 0.7:.1f},{3 + day % 5 * 0.21:.2f},"
        + ('"said ""low"", and <b>left</b>"' if day % 3 == 0 else "") + "\n"
        for day in range(1200)
    )
    (folder / "meter.csv").write_text(table)
    book(folder / "boats.xlsx")
    document(folder / "minutes.docx")
    first, *others = [sheet("Harbour report 2024", number) for number in range(1, 7)]
    dates = {"creationDate": time.gmtime(0), "modDate": time.gmtime(0)}
    first.save(folder / "report.pdf", save_all=True, append_images=others, **dates)
    picture = (folder / "photos/harbour.jpg").read_bytes()
    inner = {f"{n:02} {'image' if '=' in text else 'text'} {text}.txt".replace("/", "\u2215"): b"text\n" for n, text in enumerate(ATTACKS)}
    archive = zipped({"minutes.txt": b"Present: all.\n", "pier/harbour.jpg": picture, "pier/meter.csv": table.encode(), **inner})
    (folder / "2024.zip").write_bytes(archive)
    for text in ATTACKS:
        (folder / "odd" / (text.replace("/", "\u2215") + ".txt")).write_text(text)
    (folder / "odd" / "<img src=x onerror=PWNED=1>").mkdir()
    (folder / "odd" / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 no picture")
    (folder / "odd" / "broken.pdf").write_bytes(b"%PDF-1.4 no pages")
    Path(os.fsdecode(bytes(folder / "odd") + b"/caf\xe9.txt")).write_bytes(b"a name that is not UTF-8\n")
    for name in ("קובץ עם שם ארוך (1).txt", "ملف.txt", "very long name " * 15 + ".txt", "X" * 250 + ".txt", "漢字" * 40 + ".txt", "e\u0301" * 60 + ".txt"):
        (folder / "odd" / name).write_text("text\n")
    films(folder)
    for number in range(many):
        (folder / "many" / f"entry {number:05}.txt").touch()
    for path in [folder, *folder.rglob("*")]:
        os.utime(path, (WHEN, WHEN))


def photos(folder):
    harbour = Image.open(SAMPLE / "harbour.png").convert("RGB").resize((1600, 1200), Image.LANCZOS)
    red, green, blue = harbour.split()
    bands = {
        "harbour": (red, green, blue), "dawn": (red, blue, green), "noon": (blue, green, red),
        "fog": (green, green, blue), "evening": (red, green, green), "night": (green, blue, red),
    }  # fmt: skip
    for place, name in enumerate(bands):
        view = Image.merge("RGB", bands[name])
        if place % 2:
            view = ImageOps.mirror(view).filter(ImageFilter.GaussianBlur(place))
        view.save(folder / f"{name}.jpg", quality=80)
    harbour.crop((400, 200, 1000, 1100)).save(folder / "upright.png")
    subprocess.run(["vips", "copy", folder / "evening.jpg", f"{folder / 'winter.heic'}[Q=60]"], check=True, capture_output=True)
    sheet("Contract", 3).save(folder / "scan.tif", compression="tiff_adobe_deflate")


def films(folder):
    def ffmpeg(*words):
        subprocess.run(["ffmpeg", "-v", "error", "-y", *map(str, words)], check=True)

    bars = ["-f", "lavfi", "-i", "testsrc2=size=480x270:rate=15:duration=4", "-f", "lavfi", "-i", "sine=frequency=330:duration=4"]
    ffmpeg(*bars, "-c:v", "libvpx", "-b:v", "300k", "-c:a", "libvorbis", folder / "pier.webm")
    ffmpeg(*bars, "-c:v", "mpeg4", "-c:a", "mp2", folder / "ferry.avi")
    (folder / "pier.en.srt").write_text("1\n00:00:00,000 --> 00:00:03,500\nThe <i>pier</i>\nat noon\n\n2\n00:00:03,600 --> 00:00:03,900\n{\\an8}End\n")
    ffmpeg(*bars, "-i", folder / "pier.en.srt", "-map", "0", "-map", "1", "-map", "2", "-metadata:s:s:0", "language=deu", "-t", "2", "-c:v", "libvpx",
           "-b:v", "200k", "-c:a", "libvorbis", "-c:s", "srt", folder / "quay.mkv")
    ffmpeg("-f", "lavfi", "-i", "sine=frequency=440:duration=5", folder / "horn.ogg")
    ffmpeg("-f", "lavfi", "-i", "sine=frequency=220:duration=5", "-c:a", "wmav2", folder / "bell.wma")


def zipped(entries):
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            entry = zipfile.ZipInfo(name, (2024, 5, 3, 9, 30, 0))
            entry.create_system, entry.external_attr, entry.compress_type = 3, 0o100644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return file.getvalue()


def sheet(title, number):
    image = Image.new("RGB", (826, 1169), "white")
    draw = ImageDraw.Draw(image)
    draw.text((90, 80), title, "black", ImageFont.truetype("DejaVuSans-Bold.ttf", 34))
    body = ImageFont.truetype("DejaVuSans.ttf", 17)
    for line in range(34 if number % 3 else 12):
        text = f"{number}.{line + 1}  The boats were counted at noon from the pier. There were more than in May."
        draw.text((90, 160 + 27 * line), text, "#333", body)
    return image


# Office documents, as little of them as is read (ECMA-376).
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def office(path, kind, part, parts):
    relation = f'<Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="{part}"/>'
    types = "".join(f'<Override PartName="/{name}" ContentType="application/vnd.openxmlformats-officedocument.{kind}.{what}+xml"/>'
                    for name, (what, _) in parts.items() if what)  # fmt: skip
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    entries = {
        "[Content_Types].xml": f'{head}<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType='
        f'"application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>{types}</Types>',
        "_rels/.rels": f'{head}<Relationships xmlns="{PACKAGE}/relationships">{relation}</Relationships>',
        **{name: head + text for name, (_, text) in parts.items()},
    }
    path.write_bytes(zipped({name: text.encode() for name, text in entries.items()}))


def book(path):
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"

    def cells(rows):
        return f'<worksheet xmlns="{main}"><sheetData>' + "".join(
            "<row>" + "".join(f"<c><v>{c}</v></c>" if isinstance(c, (int, float)) else
                              f'<c t="inlineStr"><is><t>{c}</t></is></c>' for c in row) + "</row>"
            for row in rows) + "</sheetData></worksheet>"  # fmt: skip

    names = ["Boats", "Berths"]
    sheets = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="s{n}"/>' for n, name in enumerate(names, 1))
    rels = "".join(f'<Relationship Id="s{n}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{n}.xml"/>' for n in (1, 2))
    office(path, "spreadsheetml", "xl/workbook.xml", {
        "xl/workbook.xml": ("sheet.main", f'<workbook xmlns="{main}" xmlns:r="{OFFICE}"><sheets>{sheets}</sheets></workbook>'),
        "xl/_rels/workbook.xml.rels": ("", f'<Relationships xmlns="{PACKAGE}/relationships">{rels}</Relationships>'),
        "xl/worksheets/sheet1.xml": ("worksheet", cells([["Boat", "Length"], ["Möwe", 7.5], ["Ente &lt;b&gt;", 5]])),
        "xl/worksheets/sheet2.xml": ("worksheet", cells([["Berth", "Boat"], [1, "Möwe"], [2, "Ente"]])),
    })  # fmt: skip


def document(path):
    main = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    text = ["Present: all. The chairman opens the meeting at eight.", "The pier is painted in June, &lt;script&gt;PWNED=1&lt;/script&gt;."]
    body = '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Minutes</w:t></w:r></w:p>'
    body += "".join(f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for line in text)
    office(path, "wordprocessingml", "word/document.xml",
           {"word/document.xml": ("document.main", f'<w:document xmlns:w="{main}"><w:body>{body}</w:body></w:document>')})  # fmt: skip
