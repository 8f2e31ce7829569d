"""Image files of every kind that is read, made from one small picture, most of them byte by byte.

`samples(folder)` writes them and yields each with what an independent decoder, or its own definition, says it shows.
"""
import io
import struct
import subprocess
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageCms

from raw_files import png

WIDTH, HEIGHT = 61, 43
#: No two corners alike, so that a turned or mirrored picture is told; smooth, so that lossy formats keep it.
PICTURE = Image.merge("RGB", [
    Image.frombytes("L", (WIDTH, HEIGHT), bytes(4 * x for y in range(HEIGHT) for x in range(WIDTH))),
    Image.frombytes("L", (WIDTH, HEIGHT), bytes(5 * y for y in range(HEIGHT) for x in range(WIDTH))),
    Image.frombytes("L", (WIDTH, HEIGHT), bytes(2 * (x + y) for y in range(HEIGHT) for x in range(WIDTH))),
])  # fmt: skip
GRAY = PICTURE.convert("L")
ALPHA = Image.frombytes("L", (WIDTH, HEIGHT), bytes(255 - 4 * x for y in range(HEIGHT) for x in range(WIDTH)))


def on_white(picture: Image.Image) -> Image.Image:
    picture = picture.convert("RGBA")
    white = Image.new("RGBA", picture.size, "white")
    return Image.alpha_composite(white, picture).convert("RGB")


@dataclass
class Sample:
    path: Path
    shows: Image.Image
    #: Mean difference of a channel that is still the same picture.
    tolerance: float = 4.0
    #: What the file says of its colours; it has to come out again where the target can say it.
    profile: bytes | None = None


# Formats that Pillow does not write.


def bitmap(depth: int, rows: bytes, compression: int = 0, palette: bytes = b"", masks: bytes = b"", down: bool = False):
    """A BMP with BITMAPINFOHEADER, or a longer one that holds the masks."""
    size = 40 if len(masks) <= 12 else 108
    head = struct.pack("<IiiHHIIiiII", size, WIDTH, -HEIGHT if down else HEIGHT, 1, depth, compression, len(rows),
                       2835, 2835, len(palette) // 4, 0)  # fmt: skip
    rest = (head + masks).ljust(size, b"\0") if size > 40 else head + masks
    start = 14 + len(rest) + len(palette)
    return b"BM" + struct.pack("<IHHI", start + len(rows), 0, 0, start) + rest + palette + rows


def old_bitmap() -> bytes:
    """OS/2's: a header of 12 bytes."""
    rows = padded(lambda y: b"".join(bytes(PICTURE.getpixel((x, y))[::-1]) for x in range(WIDTH)))
    return b"BM" + struct.pack("<IHHI", 26 + len(rows), 0, 0, 26) + struct.pack("<IHHHH", 12, WIDTH, HEIGHT, 1, 24) + rows


def padded(row, upward: bool = True) -> bytes:
    """Rows of a bitmap, each filled up to four bytes."""
    order = reversed(range(HEIGHT)) if upward else range(HEIGHT)
    return b"".join(line + b"\0" * (-len(line) % 4) for line in map(row, order))


def sixteen_grays() -> tuple[bytes, Image.Image]:
    palette = b"".join(bytes([17 * index] * 3 + [0]) for index in range(16))
    return palette, GRAY.point(lambda value: value // 16 * 17)


def runs_of_bytes() -> bytes:
    """RLE8: runs, a stretch, a jump that leaves nothing out, and ends of rows."""
    rows = b""
    for y in reversed(range(HEIGHT)):
        line = [GRAY.getpixel((x, y)) for x in range(WIDTH)]
        rows += b"\0\x05" + bytes(line[:5]) + b"\0\0\2\0\0"
        rows += b"".join(bytes([1, value]) for value in line[5:]) + b"\0\0"
    return rows + b"\0\1"


def runs_of_halves() -> bytes:
    rows = b""
    for y in reversed(range(HEIGHT)):
        line = [GRAY.getpixel((x, y)) // 16 for x in range(WIDTH)]
        rows += b"\0\x06" + bytes(line[x] << 4 | line[x + 1] for x in (0, 2, 4)) + b"\0"
        # Runs of two alternating pixels, and of one.
        rows += b"".join(bytes([2, line[x] << 4 | line[x + 1]]) for x in range(6, WIDTH - 1, 2))
        rows += bytes([1, line[-1] << 4]) + b"\0\0"
    return rows + b"\0\1"


def rows(row) -> bytes:
    """Rows of a PNG, none filtered."""
    return zlib.compress(b"".join(b"\0" + row(y) for y in range(HEIGHT)))


def deep(picture: Image.Image, order: str = ">"):
    """Rows of 16-bit samples; the lower byte differs from the upper one."""
    def row(y: int) -> bytes:
        pixels = [picture.getpixel((x, y)) for x in range(WIDTH)]
        values = [value for pixel in pixels for value in (pixel if isinstance(pixel, tuple) else (pixel,))]
        return struct.pack(f"{order}{len(values)}H", *(value * 257 for value in values))

    return row


def exr() -> bytes:
    """OpenEXR: half floats, not compressed, light proportional to the numbers."""
    def attribute(name: bytes, kind: bytes, value: bytes) -> bytes:
        return name + b"\0" + kind + b"\0" + struct.pack("<i", len(value)) + value

    box = struct.pack("<iiii", 0, 0, WIDTH - 1, HEIGHT - 1)
    channels = b"".join(name + b"\0" + struct.pack("<iiii", 1, 0, 1, 1) for name in (b"B", b"G", b"R")) + b"\0"
    head = b"".join([
        attribute(b"channels", b"chlist", channels), attribute(b"compression", b"compression", b"\0"),
        attribute(b"dataWindow", b"box2i", box), attribute(b"displayWindow", b"box2i", box),
        attribute(b"lineOrder", b"lineOrder", b"\0"), attribute(b"pixelAspectRatio", b"float", struct.pack("<f", 1)),
        attribute(b"screenWindowCenter", b"v2f", struct.pack("<ff", 0, 0)),
        attribute(b"screenWindowWidth", b"float", struct.pack("<f", 1)),
    ]) + b"\0"  # fmt: skip
    start = struct.pack("<II", 20000630, 2) + head

    def light(value: int) -> float:
        value /= 255
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    lines = [
        struct.pack("<ii", y, 6 * WIDTH)
        + b"".join(
            struct.pack(f"<{WIDTH}e", *(light(PICTURE.getpixel((x, y))[band]) for x in range(WIDTH))) for band in (2, 1, 0)
        )
        for y in range(HEIGHT)
    ]
    place, table = len(start) + 8 * HEIGHT, b""
    for line in lines:
        table += struct.pack("<Q", place)
        place += len(line)
    return start + table + b"".join(lines)


def samples(folder: Path) -> Iterator[Sample]:
    def made(name: str, content: bytes, shows: Image.Image = PICTURE, tolerance: float = 4.0) -> Sample:
        (folder / name).write_bytes(content)
        return Sample(folder / name, shows.convert("RGB"), tolerance)

    def saved(name: str, picture: Image.Image, shows: Image.Image | None = None, tolerance: float = 4.0, **how) -> Sample:
        picture.save(folder / name, **how)
        return Sample(folder / name, on_white(shows or picture), tolerance, how.get("icc_profile"))

    picture, alpha = PICTURE, PICTURE.copy()
    alpha.putalpha(ALPHA)
    palette = picture.quantize(64)

    yield saved("24.bmp", picture)
    yield saved("1.bmp", GRAY.convert("1"))
    yield saved("8.bmp", palette)
    yield made("os2.bmp", old_bitmap())
    colours = padded(lambda y: b"".join(bytes(picture.getpixel((x, y))[::-1]) + b"\0" for x in range(WIDTH)))
    yield made("32.bmp", bitmap(32, colours))
    down = padded(lambda y: b"".join(bytes(picture.getpixel((x, y))[::-1]) for x in range(WIDTH)), upward=False)
    yield made("down.bmp", bitmap(24, down, down=True))
    words = padded(lambda y: b"".join(
        struct.pack("<H", r >> 3 << 11 | g >> 2 << 5 | b >> 3)
        for r, g, b in (picture.getpixel((x, y)) for x in range(WIDTH))))  # fmt: skip
    yield made("565.bmp", bitmap(16, words, 3, masks=struct.pack("<III", 0xF800, 0x7E0, 0x1F)))
    words = padded(lambda y: b"".join(
        struct.pack("<H", r >> 3 << 10 | g >> 3 << 5 | b >> 3)
        for r, g, b in (picture.getpixel((x, y)) for x in range(WIDTH))))  # fmt: skip
    yield made("555.bmp", bitmap(16, words))
    transparent = padded(lambda y: b"".join(bytes([b, g, r, a]) for r, g, b, a in (alpha.getpixel((x, y)) for x in range(WIDTH))))
    masks = struct.pack("<IIII", 0xFF0000, 0xFF00, 0xFF, 0xFF000000)
    yield made("alpha.bmp", bitmap(32, transparent, 3, masks=masks), on_white(alpha))
    # A mask without bits is that of no opacity.
    yield made("opaque.bmp", bitmap(32, colours, 3, masks=struct.pack("<IIII", 0xFF0000, 0xFF00, 0xFF, 0)))
    grays, shown = sixteen_grays()
    halves = padded(lambda y: bytes(
        GRAY.getpixel((x, y)) // 16 << 4 | (GRAY.getpixel((x + 1, y)) // 16 if x + 1 < WIDTH else 0)
        for x in range(0, WIDTH, 2)))  # fmt: skip
    yield made("4.bmp", bitmap(4, halves, palette=grays), shown)
    yield made("rle4.bmp", bitmap(4, runs_of_halves(), 2, grays), shown)
    ramp = b"".join(bytes([index] * 3 + [0]) for index in range(256))
    yield made("rle8.bmp", bitmap(8, runs_of_bytes(), 1, ramp), GRAY)

    yield made("light.exr", exr())

    # CMYK: the exact colours depend on the profile, so a wide tolerance; an inverted image is over 100 away.
    yield saved("cmyk.jpg", picture.convert("CMYK"), picture, 45, quality=95)
    yield saved("cmyk.tif", picture.convert("CMYK"), picture, 45)

    yield saved("raw.pbm", GRAY.convert("1"))
    yield saved("raw.pgm", GRAY)
    yield saved("raw.ppm", picture)
    words = " ".join(str(value) for pixel in picture.getdata() for value in pixel)
    yield made("text.ppm", f"P3\n# made by hand\n{WIDTH} {HEIGHT}\n255\n{words}\n".encode())
    words = " ".join(str(value) for value in GRAY.getdata())
    yield made("text.pgm", f"P2 {WIDTH} {HEIGHT} 255\n{words}\n".encode(), GRAY)
    bits = GRAY.convert("1")
    words = " ".join("0" if value else "1" for value in bits.getdata())
    yield made("text.pbm", f"P1\n{WIDTH} {HEIGHT}\n{words}\n".encode(), bits)
    words = b"".join(deep(GRAY)(y) for y in range(HEIGHT))
    yield made("deep.pgm", f"P5 {WIDTH} {HEIGHT} 65535\n".encode() + words, GRAY)
    words = b"".join(deep(picture)(y) for y in range(HEIGHT))
    yield made("deep.ppm", f"P6 {WIDTH} {HEIGHT} 65535\n".encode() + words)

    yield made("deep.png", png(WIDTH, HEIGHT, rows(deep(picture)), 2, 16))
    yield made("deep-gray.png", png(WIDTH, HEIGHT, rows(deep(GRAY)), 0, 16), GRAY)
    yield made("deep-alpha.png", png(WIDTH, HEIGHT, rows(deep(alpha)), 6, 16), on_white(alpha))
    for name, source in {"deep.tif": "deep.png", "deep-gray.tif": "deep-gray.png", "deep-alpha.tif": "deep-alpha.png"}.items():
        subprocess.run(["vips", "copy", folder / source, folder / name], check=True)
        yield Sample(folder / name, {"deep.tif": picture, "deep-gray.tif": GRAY.convert("RGB")}.get(name, on_white(alpha)))
    yield saved("lzw.tif", picture, compression="tiff_lzw")
    yield saved("fax.tif", GRAY.convert("1"), compression="group4")
    yield saved("palette.tif", palette)

    yield saved("alpha.png", alpha)
    yield saved("alpha-gray.png", Image.merge("LA", [GRAY, ALPHA]))
    seen = palette.convert("RGBA")
    clear = palette.getpixel((30, 20))
    opacity = bytes(0 if value == clear else 255 for value in palette.getdata())
    seen.putalpha(Image.frombytes("L", palette.size, opacity))
    yield saved("transparent.png", palette, seen, transparency=clear)
    yield saved("alpha.webp", alpha, lossless=True, exact=True)
    yield saved("alpha.tif", alpha)

    frames = {"save_all": True, "append_images": [Image.new("RGB", picture.size, "red")], "duration": 100, "loop": 0}
    yield saved("animated.gif", palette, **frames)
    yield saved("animated.webp", picture, **frames, lossless=True)

    yield saved("colours.jp2", picture)
    yield saved("gray.jp2", GRAY)
    yield saved("alpha.jp2", alpha)
    yield saved("stream.j2k", picture)

    for name in ("colours.heic", "colours.avif"):
        picture.save(folder / "plain.png")
        subprocess.run(["vips", "copy", folder / "plain.png", f"{folder / name}[Q=90]"], check=True)
        yield Sample(folder / name, picture)
    alpha.save(folder / "seen.png")
    subprocess.run(["vips", "copy", folder / "seen.png", f"{folder / 'alpha.avif'}[Q=90]"], check=True)
    yield Sample(folder / "alpha.avif", on_white(alpha), 6)

    drawing = b"""<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="60" height="40">
      <rect width="30" height="20" fill="#f00"/><rect x="30" y="20" width="30" height="20" fill="#00f" opacity=".5"/></svg>"""
    shown = Image.new("RGB", (60, 40), "white")
    shown.paste((255, 0, 0), (0, 0, 30, 20))
    shown.paste((128, 128, 255), (30, 20, 60, 40))
    yield made("drawing.svg", drawing, shown)

    # A profile other than sRGB.
    subprocess.run(["vips", "icc_transform", folder / "raw.ppm", folder / "p3.png", "p3"], check=True)
    wide = Image.open(folder / "p3.png")
    profile = wide.info["icc_profile"]
    srgb = ImageCms.createProfile("sRGB")
    for name, how in {"wide.png": {}, "wide.jpg": {"quality": 95}, "wide.tif": {}, "wide.webp": {"lossless": True}}.items():
        sample = saved(name, wide, icc_profile=profile, **how)
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        sample.shows = ImageCms.profileToProfile(wide, source, srgb, outputMode="RGB")
        yield sample

