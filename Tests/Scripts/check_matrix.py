"""check_matrix.py FFCONVERT [all]: every format of images that is read into every one that is written.

Sources are made by other programs; results are decoded by others still (Pillow, ImageMagick, FFmpeg, libheif's and
poppler's programs) and compared with what those programs see in the source. Sides have to be the same, pixels of formats
without loss, too, and the others alike. Without `all`: each source into two formats, and into each format two sources.
Prints a line for each result that is wrong, and how many there were of each kind.
"""
import io
import math
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageChops, ImageFilter, ImageStat

from tiff_files import raw_photo
from worker import Worker

WIDTH, HEIGHT = 60, 44
CONVERT = "/usr/bin/convert"
#: Formats that give each pixel back, by how many bits a channel has and what else is lost.
EXACT = {"png", "tiff", "bmp", "tga", "pcx", "sgi", "ras", "xwd", "qoi", "ico", "ppm", "pnm", "pam", "pfm", "exr"}
GRAY = {"pgm", "fits"}
BITS = {"xbm", "pbm"}
#: The least signal to noise, in dB. GIF has 256 colours, YUV a quarter of the colours' pixels.
LOSSY = {"jpeg": 30, "webp": 30, "heic": 28, "avif": 30, "jp2": 33, "jxl": 33, "gif": 27, "yuv": 28, "hdr": 34, "pdf": 30}
TARGETS = sorted(EXACT | GRAY | BITS | set(LOSSY))
SEEN_THROUGH = {"png", "tiff", "tga", "sgi", "qoi", "ico", "pam", "exr", "webp", "heic", "avif", "jp2", "jxl"}

folder = tempfile.TemporaryDirectory()
place = Path(folder.name)


@dataclass
class Source:
    path: Path
    #: RGBA, by another program.
    shows: Image.Image
    #: The words that it cannot be read without.
    words: str = ""


def run(*words) -> None:
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def smooth() -> Image.Image:
    """No two corners alike, and nothing that a lossy format may lose."""
    bands = [
        bytes(int(127 + 110 * math.sin(x / 19 + band) * math.cos(y / 23 - band / 2)) for y in range(HEIGHT) for x in range(WIDTH))
        for band in range(3)
    ]
    return Image.merge("RGB", [Image.frombytes("L", (WIDTH, HEIGHT), band) for band in bands])


def on_white(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I"):
        image = image.point(lambda value: value / 257).convert("L")
    image = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")


def decoded(path: Path, kind: str, size: tuple[int, int] = (WIDTH, HEIGHT)) -> Image.Image:
    """By a program that shares no code with the worker's for this format, where there is one."""
    shown = place / "shown.png"
    if kind in ("heic", "avif"):
        run("heif-convert", path, shown)
    elif kind == "jxl":
        run("djxl", path, shown)
    elif kind == "qoi":
        return qoi(path.read_bytes())
    elif kind == "pdf":
        run("pdfimages", "-png", path, place / "image")
        shown = place / "image-000.png"
    elif kind == "yuv":
        run("ffmpeg", "-y", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{size[0]}x{size[1]}", "-i", path, shown)
    elif kind in ("exr", "hdr"):
        # Numbers of light, which the program is told to show.
        run(CONVERT, f"{kind}:{path}", "-set", "colorspace", "RGB", "-colorspace", "sRGB", "-depth", "8", f"PNG32:{shown}")
        with Image.open(shown) as image:
            return unmultiplied(image.copy())
    elif kind in ("xwd", "pam", "pfm", "psd", "dds", "xpm", "xbm", "fits"):
        run(CONVERT, f"{kind}:{path}", "-depth", "8", f"PNG32:{shown}")
    else:
        with Image.open(path) as image:
            return image.copy()
    with Image.open(shown) as image:
        return image.copy()


def unmultiplied(image: Image.Image) -> Image.Image:
    """The program does not know that OpenEXR's colours are as dark as what is seen through them leaves of them."""
    def lighter(value: int, opacity: int) -> int:
        value /= 255
        light = value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        light = min(1, light * 255 / opacity) if opacity else 0
        return round(255 * (light * 12.92 if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055))

    pixels = [(*(lighter(value, pixel[3]) for value in pixel[:3]), pixel[3]) for pixel in image.getdata()]
    image.putdata(pixels)
    return image


def qoi(file: bytes) -> Image.Image:
    """By the format's specification, qoiformat.org."""
    width, height, bands = struct.unpack(">IIB", file[4:13])
    seen, pixel, pixels, at = [(0, 0, 0, 0)] * 64, (0, 0, 0, 255), [], 14
    while len(pixels) < width * height:
        lead, at, repeats = file[at], at + 1, 1
        if lead == 0xFE:
            pixel, at = (*file[at:at + 3], pixel[3]), at + 3
        elif lead == 0xFF:
            pixel, at = tuple(file[at:at + 4]), at + 4
        elif lead >> 6 == 0:
            pixel = seen[lead]
        elif lead >> 6 == 1:
            changes = ((lead >> shift & 3) - 2 for shift in (4, 2, 0))
            pixel = (*((old + change) & 255 for old, change in zip(pixel, changes)), pixel[3])
        elif lead >> 6 == 2:
            green, rest, at = (lead & 63) - 32, file[at], at + 1
            changes = (green - 8 + (rest >> 4), green, green - 8 + (rest & 15))
            pixel = (*((old + change) & 255 for old, change in zip(pixel, changes)), pixel[3])
        else:
            repeats = (lead & 63) + 1
        seen[(3 * pixel[0] + 5 * pixel[1] + 7 * pixel[2] + 11 * pixel[3]) % 64] = pixel
        pixels += [pixel] * repeats
    return Image.frombytes("RGBA", (width, height), bytes(value for pixel in pixels for value in pixel))


def sources(worker: Worker) -> list[Source]:
    picture = smooth()
    opacity = Image.frombytes("L", picture.size, bytes(255 - 3 * x for y in range(HEIGHT) for x in range(WIDTH)))
    seen = picture.copy()
    seen.putalpha(opacity)
    found = []

    def made(name: str, shows: Image.Image = picture, words: str = "") -> None:
        found.append(Source(place / name, shows.convert("RGBA"), words))

    def pillow(name: str, image: Image.Image = picture, shows: Image.Image | None = None, **how) -> None:
        image.save(place / name, **how)
        made(name, shows or image)

    def magick(name: str, image: Image.Image = picture, *how: str, kind: str = "", shows: Image.Image | None = None) -> None:
        image.save(place / "plain.png")
        run(CONVERT, place / "plain.png", *how, f"{kind or name.rsplit('.', 1)[1]}:{place / name}")
        made(name, shows or image)

    for name in ("a.png", "a.tif", "a.ppm", "a.bmp", "a.tga", "a.pcx", "a.sgi", "a.ico"):
        how = {"sizes": [picture.size]} if name == "a.ico" else {}
        pillow(name, **how)
    for name in ("seen.png", "seen.tif", "seen.tga", "seen.sgi", "seen.ico"):
        pillow(name, seen, **({"sizes": [picture.size], "bitmap_format": "bmp"} if name == "seen.ico" else {}))
    gray = picture.convert("L")
    for name in ("gray.png", "gray.tga", "gray.sgi", "gray.pcx", "gray.pgm"):
        pillow(name, gray)
    bits = gray.convert("1")
    for name in ("bits.pbm", "bits.pcx", "bits.bmp"):
        pillow(name, bits)
    magick("bits.xbm", bits)
    pillow("run.tga", compression="tga_rle")
    pillow("map.tga", picture.quantize(64))
    pillow("map.pcx", picture.quantize(64))
    pillow("a.webp", lossless=True)
    pillow("a.gif", picture.quantize(64))
    pillow("a.jp2")
    pillow("a.jpg", quality=97, subsampling=0)
    for name in ("a.ras", "a.xpm", "a.xwd", "a.pam", "a.pfm", "a.psd"):
        magick(name)
    for name in ("seen.pam", "seen.psd"):
        magick(name, seen)
    for one in found:
        if one.path.suffix == ".xpm":
            # Of fewer colours.
            one.shows = decoded(one.path, "xpm").convert("RGBA")
    magick("run.psd", picture, "-compress", "RLE")
    magick("gray.psd", gray.convert("RGB"), "-colorspace", "Gray")
    magick("gray.ras", gray.convert("RGB"), "-colorspace", "Gray")
    magick("a.dds", picture, "-define", "dds:compression=none", kind="dds")
    magick("dxt1.dds", picture, "-define", "dds:compression=dxt1", kind="dds")
    magick("dxt5.dds", seen, "-define", "dds:compression=dxt5", kind="dds")
    found[-2].shows, found[-1].shows = (decoded(one.path, "dds").convert("RGBA") for one in found[-2:])
    magick("deep.sgi", picture, "-depth", "16")
    magick("deep.pam", picture, "-depth", "16")
    magick("a.fits", gray.convert("RGB"), "-colorspace", "Gray", "-depth", "8")
    picture.save(place / "plain.png")
    run("ffmpeg", "-y", "-i", place / "plain.png", place / "a.qoi")
    made("a.qoi")
    run("ffmpeg", "-y", "-i", place / "plain.png", "-pix_fmt", "yuv420p", "-f", "rawvideo", place / "a.yuv")
    made("a.yuv", decoded(place / "a.yuv", "yuv"), f"{WIDTH}x{HEIGHT}")
    run("cjxl", place / "plain.png", place / "a.jxl", "-d", "0")
    made("a.jxl")
    for name in ("a.heic", "a.avif"):
        run("heif-enc", *(["-A"] if name == "a.avif" else []), "-q", "95", "-o", place / name, place / "plain.png")
        made(name)
    for name in ("a.exr", "a.hdr"):
        run(CONVERT, place / "plain.png", "-colorspace", "RGB", "-set", "colorspace", "RGB", place / name)
        made(name)
    square = picture.crop((0, 0, 44, 44)).resize((128, 128))
    square.save(place / "plain.png")
    # The coding of older systems, and a PNG.
    for name, size in {"old.icns": 128, "new.icns": 256}.items():
        square.resize((size, size)).save(place / "plain.png")
        run("png2icns", place / name, place / "plain.png")
        made(name, square.resize((size, size)))
    (place / "a.dng").write_bytes(raw_photo(WIDTH, HEIGHT, alone=True))
    made("a.dng")
    failure, _, reason, content = worker.ask(place / "a.dng", "ppm ")
    found[-1].shows = Image.open(io.BytesIO(content)).convert("RGBA")
    (place / "a.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}"><rect width="100%" height="100%"'
        ' fill="#8af"/><rect x="10" y="10" width="20" height="20" fill="#040"/></svg>')
    drawing = Image.new("RGB", (WIDTH, HEIGHT), "#8af")
    drawing.paste("#040", (10, 10, 30, 30))
    made("a.svg", drawing)
    return found


def noise(one: Image.Image, other: Image.Image) -> float:
    """The signal to noise, in dB."""
    squares = ImageStat.Stat(ImageChops.difference(one, other)).sum2
    mean = sum(squares) / len(squares) / (one.width * one.height)
    return 10 * math.log10(255**2 / mean) if mean else math.inf


def fault(source: Source, kind: str, image: Image.Image) -> str | None:
    """What is wrong with a result; nothing if it is right."""
    wanted = on_white(source.shows)
    if image.size != source.shows.size:
        return f"{image.size} instead of {source.shows.size}"
    hasAlpha = image.mode in ("RGBA", "LA") and image.getchannel("A").getextrema() != (255, 255)
    wantsAlpha = source.shows.getchannel("A").getextrema() != (255, 255)
    if wantsAlpha and hasAlpha != (kind in SEEN_THROUGH):
        if kind != "gif":
            return f"opacity is {'kept' if hasAlpha else 'lost'}"
    shown = on_white(image)
    suffix = source.path.suffix
    if kind in BITS:
        # As dark in the whole, seen from afar.
        wanted, shown = (one.convert("L").filter(ImageFilter.GaussianBlur(6)) for one in (wanted, shown))
        ratio = noise(wanted, shown)
        return None if ratio > (14 if suffix == ".dng" else 22) else f"{ratio:.1f} dB from afar"
    if kind in GRAY:
        wanted, shown = wanted.convert("L"), shown.convert("L")
    lossy = suffix in (".heic", ".avif", ".jpg", ".jp2", ".hdr", ".jxl", ".yuv")
    if kind in EXACT and not lossy:
        most = max(high for _, high in ImageChops.difference(wanted, shown).getextrema())
        # What is seen through, and numbers of light, are rounded twice.
        return None if most <= (2 if suffix in (".exr", ".svg") else 3 if wantsAlpha or suffix == ".dds" else 1) else f"off by {most}"
    least = LOSSY.get(kind, 33 if kind in EXACT else 28)
    if kind in GRAY and suffix == ".dng":
        # Strong colours, which have another weight there.
        least = 20
    if kind == "gif" and wantsAlpha:
        # Pixels are seen through, or not.
        least = 18
    if suffix in (".dng", ".svg", ".dds") or wantsAlpha or (lossy and kind not in EXACT):
        least -= 6
    ratio = noise(wanted, shown)
    return None if ratio >= least else f"{ratio:.1f} dB"


def main() -> int:
    worker = Worker(sys.argv[1])
    given = sources(worker)
    wrong, counts = 0, Counter()
    for index, source in enumerate(given):
        few = {TARGETS[(index + step) % len(TARGETS)] for step in (0, len(TARGETS) // 2)}
        for kind in TARGETS if "all" in sys.argv[2:] else sorted(few):
            failure, _, said, content = worker.ask(source.path, f"{kind} {source.words}")
            counts[kind] += 1
            if not failure:
                path = place / f"made.{kind}"
                path.write_bytes(content)
                try:
                    said = fault(source, kind, decoded(path, kind, source.shows.size))
                except Exception as error:
                    said = f"cannot be decoded: {error}"
            if said:
                wrong += 1
                print(f"{source.path.name} as {kind}: {said}")
    print(f"{len(given)} sources, {len(TARGETS)} formats, {sum(counts.values())} results, {wrong} wrong")
    return worker.close() or wrong > 0


if __name__ == "__main__":
    sys.exit(main())
