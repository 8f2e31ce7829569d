"""PDFs and images that are made to hurt whoever opens them: `hostile_files()` yields (name, content)."""
import random
import struct
import zlib
from collections.abc import Iterator

from raw_files import pdf, png, stream

SIDE = 100_000


def hostile_files() -> Iterator[tuple[str, bytes]]:
    yield from _images()
    yield from _documents()


def damaged(content: bytes, seed: int, most: int) -> Iterator[bytes]:
    """The content itself, cut off at several places, and with some bits flipped; at most so many variants."""
    noise = random.Random(seed)
    variants = [content, content[: len(content) // 2], _flipped(content, noise, 20)]
    variants += [content[:-1], content[: len(content) // 8], content[:100], content[: len(content) * 7 // 8]]
    variants += [_flipped(content, noise, count) for count in (1, 3, 200)]
    yield from variants[:most]


def _flipped(content: bytes, noise: random.Random, count: int) -> bytes:
    changed = bytearray(content)
    for _ in range(count if changed else 0):
        changed[noise.randrange(len(changed))] ^= 1 << noise.randrange(8)
    return bytes(changed)


# Images.


def _zeros(count: int) -> bytes:
    """So many zeros, packed as zlib would in seconds: one piece over and over, and their Adler-32, which needs no sum."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    rest = zlib.compressobj(9, zlib.DEFLATED, -15)
    end = rest.compress(bytes(count % (1 << 20))) + rest.flush()
    return b"\x78\xda" + piece * (count >> 20) + end + struct.pack(">HH", count % 65521, 1)


def _tiff(width: int, height: int, compression: int, data: bytes, rows: int | None = None) -> bytes:
    entries = [
        (256, 4, width), (257, 4, height), (258, 3, 8), (259, 3, compression), (262, 3, 1), (273, 4, 8),
        (277, 3, 1), (278, 4, rows or height), (279, 4, len(data)),
    ]  # fmt: skip
    directory = struct.pack("<H", len(entries))
    for tag, kind, value in entries:
        directory += struct.pack("<HHII", tag, kind, 1, value)
    return struct.pack("<2sHI", b"II", 42, 8 + len(data)) + data + directory + bytes(4)


def _images() -> Iterator[tuple[str, bytes]]:
    # Small files that decompress to 900 million bytes, all of which are present, and to 10 billion.
    yield "bomb.png", png(30_000, 30_000, _zeros(30_001 * 30_000))
    yield "vast.png", png(SIDE, SIDE, zlib.compress(bytes(1 << 20)))
    yield "vast-bits.png", png(SIDE, SIDE, _zeros(1 << 26), depth=1)
    yield "vast.tif", _tiff(SIDE, SIDE, 8, zlib.compress(bytes(1 << 20)))
    yield "vast-strips.tif", _tiff(SIDE, SIDE, 32773, b"\x81\0" * 4000, rows=1)
    head = struct.pack("<IiiHHIIiiII", 40, SIDE, SIDE, 1, 24, 0, 0, 0, 0, 0, 0)
    yield "vast.bmp", b"BM" + struct.pack("<IHHI", 54, 0, 0, 54) + head + bytes(1000)
    head = struct.pack("<IiiHHIIiiII", 40, 11_000, 11_000, 1, 8, 1, 0, 0, 0, 256, 0)
    yield "runs.bmp", b"BM" + struct.pack("<IHHI", 54, 0, 0, 54 + 1024) + head + bytes(1024) + b"\0\1"
    head = struct.pack("<IiiHHIIiiII", 40, -(1 << 31), -(1 << 31), 1, 24, 0, 0, 0, 0, 0, 0)
    yield "least.bmp", b"BM" + struct.pack("<IHHI", 54, 0, 0, 54) + head + bytes(1000)
    for kind in (2, 3, 5, 6):
        yield f"vast{kind}.ppm", f"P{kind} {SIDE} {SIDE} 255\n".encode() + bytes(1000)
    yield "vast.pbm", f"P4 {SIDE} {SIDE}\n".encode() + bytes(1000)
    screen = struct.pack("<HHBBB", 65535, 65535, 0x80, 0, 0) + bytes(6)
    image = b"," + struct.pack("<HHHHB", 0, 0, 65535, 65535, 0) + b"\x02\x02\x44\x01\x00;"
    yield "vast.gif", b"GIF89a" + screen + image
    frame = b"\x21\xf9\x04\0\0\0\0\0" + b"," + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\x00"
    yield "frames.gif", b"GIF89a" + struct.pack("<HHBBB", 4000, 4000, 0x80, 0, 0) + bytes(6) + frame * 20_000 + b";"
    jpeg = b"\xff\xd8\xff\xc2" + struct.pack(">HBHHBBBB", 11, 8, 65500, 65500, 1, 1, 0x11, 0)
    # Progressive: every scan covers the whole image.
    yield "scans.jpg", jpeg + b"\xff\xda\0\x08\x01\x01\0\0\0\0" * 5000 + b"\xff\xd9"
    box = struct.pack(">I4s4sI4s4s", 12, b"jP  ", b"\r\n\x87\n", 20, b"ftyp", b"jp2 ") + bytes(4) + b"jp2 "
    size = struct.pack(">HHHIIIIIIIIH", 0xFF51, 41, 0, SIDE, SIDE, 0, 0, SIDE, SIDE, 0, 0, 1) + b"\x07\x01\x01"
    header = struct.pack(">I4sI4sIIHBBBB", 45, b"jp2h", 22, b"ihdr", SIDE, SIDE, 1, 7, 7, 0, 0)
    header += struct.pack(">I4sBBBI", 15, b"colr", 1, 0, 0, 17)
    yield "vast.jp2", box + header + struct.pack(">I4s", 0, b"jp2c") + b"\xff\x4f" + size + b"\xff\xd9"
    yield "vast.j2k", b"\xff\x4f" + size + b"\xff\xd9"
    svg = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink" '
    yield "vast.svg", f'{svg} width="{SIDE}" height="{SIDE}"><rect width="9" height="9"/></svg>'.encode()
    uses = "".join(
        f'<g id="g{n}">' + f'<use x:href="#g{n - 1}"/>' * 10 + "</g>" if n else '<g id="g0"><rect width="9" height="9"/></g>'
        for n in range(9))  # fmt: skip
    yield "laughs.svg", f'{svg} width="99" height="99">{uses}<use x:href="#g8"/></svg>'.encode()
    yield "self.svg", f'{svg} width="99" height="99"><g id="a"><use x:href="#a"/></g><use x:href="#a"/></svg>'.encode()
    yield "deep.svg", (f'{svg} width="99" height="99">' + "<g>" * 100_000).encode()
    yield "reads.svg", f'{svg} width="99" height="99"><image x:href="file:///etc/passwd" width="99" height="99"/></svg>'.encode()
    entity = '<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a "ha"><!ENTITY b "' + "&a;" * 9999 + '"><!ENTITY c "' + "&b;" * 9999
    yield "entities.svg", f'{entity}">]>{svg} width="9" height="9"><text>&c;</text></svg>'.encode()
    # A HEIF with only a header, which declares a huge picture.
    ispe = struct.pack(">I4sIII", 20, b"ispe", 0, SIDE, SIDE)
    iprp = _box(b"iprp", _box(b"ipco", ispe) + _box(b"ipma", struct.pack(">IIHBB", 0, 1, 1, 1, 0x81)))
    infe = _box(b"infe", struct.pack(">IHH4s", 2 << 24, 1, 0, b"hvc1") + b"\0")
    meta = _box(b"meta", bytes(4) + _box(b"hdlr", bytes(8) + b"pict" + bytes(13)) + _box(b"pitm", bytes(4) + b"\0\1")
                + _box(b"iinf", bytes(4) + b"\0\1" + infe) + iprp)  # fmt: skip
    yield "vast.heic", _box(b"ftyp", b"heic" + bytes(4) + b"mif1heic") + meta
    nested = b""
    for _ in range(5000):
        nested = _box(b"iprp", nested)
    yield "deep.heic", _box(b"ftyp", b"heic" + bytes(4) + b"mif1heic") + _box(b"meta", bytes(4) + nested)
    riff = b"VP8X" + struct.pack("<IIBHBHB", 10, 0, 0xFF, 0xFFFF, 0xFF, 0xFFFF, 0xFF)
    yield "vast.webp", b"RIFF" + struct.pack("<I", len(riff) + 4) + b"WEBP" + riff
    attribute = b"dataWindow\0box2i\0" + struct.pack("<Iiiii", 16, 0, 0, SIDE - 1, SIDE - 1)
    yield "vast.exr", struct.pack("<II", 20000630, 2) + attribute + attribute.replace(b"data", b"display") + b"\0"
    yield "empty.png", b""
    yield "short.jpg", b"\xff\xd8\xff"
    yield "noise.png", random.Random(3).randbytes(100_000)
    yield "noise.heic", _box(b"ftyp", b"heic" + bytes(4) + b"mif1") + random.Random(4).randbytes(100_000)


def _box(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(content), kind) + content


# Documents.


CATALOG = b"<</Type/Catalog/Pages 2 0 R>>"
PAGES = b"<</Type/Pages/Kids[3 0 R]/Count 1>>"


def _page(resources: bytes, box: bytes = b"0 0 200 200", more: bytes = b"") -> bytes:
    return b"<</Type/Page/Parent 2 0 R/MediaBox[%s]/Contents 4 0 R/Resources<<%s>>%s>>" % (box, resources, more)


def _documents() -> Iterator[tuple[str, bytes]]:
    yield "loop.pdf", pdf(CATALOG, b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 4>>")
    yield "ring.pdf", pdf(
        CATALOG, b"<</Type/Pages/Kids[3 0 R]/Count 3>>", b"<</Type/Pages/Parent 2 0 R/Kids[4 0 R]/Count 3>>",
        b"<</Type/Pages/Parent 3 0 R/Kids[2 0 R 3 0 R]/Count 3>>")  # fmt: skip
    tree = [CATALOG, *(b"<</Type/Pages/Kids[%d 0 R %d 0 R]/Count 2>>" % (n + 1, n + 1) for n in range(2, 60))]
    yield "doubling.pdf", pdf(*tree, b"<</Type/Page/Parent 59 0 R/MediaBox[0 0 9 9]>>")
    yield "parents.pdf", pdf(CATALOG, PAGES, b"<</Type/Page/Parent 3 0 R>>")
    yield "claims.pdf", pdf(CATALOG, b"<</Type/Pages/Kids[3 0 R]/Count 2000000000>>", b"<</Type/Page/Parent 2 0 R>>")
    form = b"/Type/XObject/Subtype/Form/BBox[0 0 200 200]/Resources<</XObject<</F 5 0 R>>>>"
    draw = stream(b"/F Do /F Do")
    yield "form.pdf", pdf(CATALOG, PAGES, _page(b"/XObject<</F 5 0 R>>"), draw, stream(b"/F Do /F Do", form))
    forms = [
        stream(b"/F Do " * 10, b"/Type/XObject/Subtype/Form/BBox[0 0 200 200]/Resources<</XObject<</F %d 0 R>>>>" % (n + 1))
        for n in range(5, 14)
    ]
    last = stream(b"0 0 9 9 re f", b"/Type/XObject/Subtype/Form/BBox[0 0 200 200]")
    yield "laughs.pdf", pdf(CATALOG, PAGES, _page(b"/XObject<</F 5 0 R>>"), draw, *forms, last)
    pattern = b"/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 1 1]/XStep .001/YStep .001"
    yield "tiles.pdf", pdf(
        CATALOG, PAGES, _page(b"/Pattern<</P 5 0 R>>"), stream(b"/Pattern cs /P scn 0 0 200 200 re f"),
        stream(b"/Pattern cs /P scn 0 0 1 1 re f", pattern + b"/Resources<</Pattern<</P 5 0 R>>>>"))  # fmt: skip
    font = b"<</Type/Font/Subtype/Type3/FontBBox[0 0 9 9]/FontMatrix[1 0 0 1 0 0]/FirstChar 65/LastChar 65/Widths[9]"
    font += b"/Encoding<</Differences[65/A]>>/CharProcs<</A 6 0 R>>/Resources<</Font<</T 5 0 R>>>>>>"
    text = b"BT /T 1 Tf (A) Tj ET"
    yield "glyph.pdf", pdf(CATALOG, PAGES, _page(b"/Font<</T 5 0 R>>"), stream(text), font, stream(b"9 0 d0 " + text * 9))
    yield "arrays.pdf", b"%PDF-1.4\n1 0 obj " + b"[" * 1_000_000
    yield "dictionaries.pdf", pdf(CATALOG[:-2] + b"/X " + b"<</X " * 200_000 + b">>" * 200_000 + b">>", PAGES)
    yield "saves.pdf", pdf(CATALOG, PAGES, _page(b""), stream(b"q " * 3_000_000))
    yield "wide.pdf", pdf(CATALOG, PAGES, _page(b"", b"0 0 1e9 1e9"), stream(b""))
    yield "vast.pdf", pdf(CATALOG, PAGES, _page(b"", b"0 0 14400 14400", b"/UserUnit 1000"), stream(b""))
    yield "thin.pdf", pdf(CATALOG, PAGES, _page(b"", b"0 0 .0001 14400"), stream(b""))
    bomb = zlib.compress(_zeros(1 << 29), 9)
    packed = stream(bomb, b"/Filter[/FlateDecode/FlateDecode]")
    yield "bomb.pdf", pdf(CATALOG, PAGES, _page(b""), packed)
    image = stream(b"", b"/Type/XObject/Subtype/Image/Width 100000/Height 100000/BitsPerComponent 8/ColorSpace/DeviceRGB")
    yield "image.pdf", pdf(CATALOG, PAGES, _page(b"/XObject<</F 5 0 R>>"), stream(b"200 0 0 200 0 0 cm /F Do"), image)
    yield "length.pdf", pdf(CATALOG, PAGES, _page(b""), b"<</Length 4 0 R>>stream\nx\nendstream")
    yield "filters.pdf", pdf(CATALOG, PAGES, _page(b""), stream(b"x", b"/Filter[" + b"/ASCIIHexDecode" * 5000 + b"]"))
    yield "previous.pdf", pdf(CATALOG, PAGES).replace(b"trailer<<", b"trailer<</Prev 9 ")
    yield "itself.pdf", b"%PDF-1.4\n1 0 obj 1 0 R endobj\ntrailer<</Root 1 0 R>>\n"
    yield "none.pdf", b"%PDF-1.4\n"
