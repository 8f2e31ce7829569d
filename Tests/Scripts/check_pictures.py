"""check_pictures.py FFCONVERT: pages of TIFFs, frames of what moves, colours and numbers of rare kinds, raw photos.

What is right is known by how a file was made, or by tiff2rgba and netpbm. Prints a line for each that is wrong.
"""
import io
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageChops, ImageCms, ImageSequence, ImageStat

from raw_files import png
from tiff_files import LONG, SHORT, Page, page_of, raw_photo, tiff
from worker import Worker

worker = Worker(sys.argv[1])
folder = tempfile.TemporaryDirectory()
place = Path(folder.name)
wrong = 0
damaged, unsupported, limit = 1, 2, 4


def expect(holds: bool, what: str) -> None:
    global wrong
    if not holds:
        wrong += 1
        print(what)


def made(content: bytes | Path, recipe: str, quiet: bool = False) -> bytes:
    path = content
    if isinstance(content, bytes):
        path = place / "source"
        path.write_bytes(content)
    failure, _, reason, result = worker.ask(path, recipe)
    if failure and not quiet:
        expect(False, f"{recipe}: {reason}")
    return result


def refused(content: bytes, recipe: str, kind: int, words: str) -> None:
    (place / "source").write_bytes(content)
    failure, _, reason, _ = worker.ask(place / "source", recipe)
    expect(failure == kind and words in reason, f"{recipe}: failure {failure}, '{reason}' instead of {kind}, '{words}'")


def opened(content: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(content))
    image.load()
    return image


def same(content: Image.Image, shows: Image.Image, what: str, tolerance: float = 0.6) -> None:
    if content.size != shows.size:
        return expect(False, f"{what}: {content.size} instead of {shows.size}")
    means = ImageStat.Stat(ImageChops.difference(content.convert("RGB"), shows.convert("RGB"))).mean
    expect(max(means) <= tolerance, f"{what}: off by {[round(mean, 1) for mean in means]}")


def ramp(width: int, height: int, colour: int = 0) -> Image.Image:
    """Darker to the left and above; of which colour most, a number says."""
    bands = [bytes((3 * x + 2 * y + 60 * (band == colour)) % 256 for y in range(height) for x in range(width)) for band in range(3)]
    return Image.merge("RGB", [Image.frombytes("L", (width, height), band) for band in bands])


def pdf_pages(content: bytes) -> list[Image.Image]:
    path = place / "made.pdf"
    path.write_bytes(content)
    subprocess.run(["qpdf", "--check", path], check=True, stdout=subprocess.DEVNULL)
    for old in place.glob("image-*"):
        old.unlink()
    subprocess.run(["pdfimages", "-png", path, place / "image"], check=True)
    count = int(subprocess.run(["qpdf", "--show-npages", path], check=True, capture_output=True).stdout)
    images = [Image.open(path).convert("RGB") for path in sorted(place.glob("image-*"))]
    expect(len(images) == count, f"{len(images)} images on {count} pages")
    return images


def tiff_pages(content: bytes) -> list[Image.Image]:
    image = Image.open(io.BytesIO(content))
    pages = [frame.convert("RGB") for frame in ImageSequence.Iterator(image)]
    (place / "made.tif").write_bytes(content)
    said = subprocess.run(["tiffinfo", "-D", place / "made.tif"], capture_output=True, text=True)
    expect(said.returncode == 0 and not said.stderr, f"tiffinfo: {said.stderr}")
    return pages


def check_pages() -> None:
    """Every page of a TIFF is one of a TIFF, of a PDF and of a merged one, whatever its size."""
    shown = [ramp(40, 30), ramp(31, 50, 1), ramp(40, 30, 2).convert("L"), ramp(64, 9, 2)]
    thumbnail, mask = page_of(ramp(5, 4, 2), t254=(LONG, [1])), page_of(ramp(40, 30).convert("L"), t254=(LONG, [4]))
    for order, big in (("<", False), (">", False), ("<", True), (">", True)):
        # A reduced copy and a mask are not pages, wherever they are.
        pages = [thumbnail, page_of(shown[0]), page_of(shown[1]), mask, page_of(shown[2]), page_of(shown[3])]
        source = tiff(pages, order, big)
        what = f"{order}{'big' if big else ''}"
        for kind, read in (("tiff", tiff_pages), ("pdf", pdf_pages)):
            result = read(made(source, f"{kind} "))
            expect(len(result) == 4, f"{what}, {kind}: {len(result)} pages")
            for index, (page, image) in enumerate(zip(result, shown)):
                same(page, image, f"{what}, page {index + 1} of {kind}")
        same(opened(made(source, "png ")), shown[0], f"{what}, png")
        # Changes apply to each page.
        sizes = [page.size for page in tiff_pages(made(source, "tiff 20px.rot90"))]
        expect(sizes == [(15, 20), (20, 12), (15, 20), (3, 20)], f"{what}: {sizes}")
    result = tiff_pages(made(tiff([page_of(image) for image in shown]), "tiff q90"))
    for page, image in zip(result, shown, strict=True):
        same(page, image, "JPEG within TIFF", 8)
    turned = tiff([page_of(shown[0]), page_of(shown[1], t274=(SHORT, [6]))])
    same(tiff_pages(made(turned, "tiff "))[1], shown[1].rotate(-90, expand=True), "a page with an orientation")
    same(pdf_pages(made(turned, "pdf "))[1], shown[1].rotate(-90, expand=True), "a page with an orientation, pdf")

    files = [("a.tif", tiff([page_of(image) for image in shown])), ("b.ppm", b"P6 2 1 255\n\1\2\3\4\5\6"),
             ("c.tif", tiff([page_of(image) for image in shown[:2]]))]  # fmt: skip
    names = b"".join(struct.pack("<qq", len(content), len(name)) + name.encode() for name, content in files)
    bundle = struct.pack("<q", 8 + len(names)) + names + b"".join(content for _, content in files)
    merged = pdf_pages(made(bundle, "merged"))
    sizes = [image.size for image in shown]
    expect([page.size for page in merged] == sizes + [(2, 1)] + sizes[:2], f"merged: {[page.size for page in merged]}")

    # A missing page is an error, not the end.
    loop = tiff([page_of(image) for image in shown], last=-1)
    gone = tiff([page_of(image) for image in shown], last=1 << 30)
    for kind in ("tiff", "pdf"):
        refused(loop, f"{kind} ", damaged, "lead back to one another")
        refused(gone, f"{kind} ", damaged, "ends before its page 5")
        broken = Page(31, 50, 2, bytes(range(256)), t259=(SHORT, [8]))
        refused(tiff([page_of(shown[0]), broken]), f"{kind} ", damaged, "(on page 2)")
    same(opened(made(loop, "png ")), shown[0], "the first page of a loop")


def check_many_pages() -> None:
    """A thousand pages take no time that grows faster than they do; far too many are refused."""
    tiny = Page(1, 1, 1, b"\x80", 1)
    expect(len(pdf_pages_count(made(tiff([tiny] * 1000), "pdf "))) == 1000, "a thousand pages")
    # Directories close together: one entry each.
    head, count = 8, 70_000
    chain = b"".join(struct.pack("<HHHIII", 1, 256, 4, 1, 1, head + 18 * (index + 1)) for index in range(count))
    refused(b"II*\0" + struct.pack("<I", head) + chain, "pdf ", limit, "too many")


def pdf_pages_count(content: bytes) -> range:
    (place / "made.pdf").write_bytes(content)
    count = subprocess.run(["qpdf", "--show-npages", place / "made.pdf"], check=True, capture_output=True).stdout
    return range(int(count))


def check_frames() -> None:
    """What moves goes on moving where it can, with its times; elsewhere it is its first frame."""
    frames, times = [ramp(60, 40, band) for band in range(3)], [100, 250, 70]
    for frame, colour in zip(frames, ("red", "lime", "blue")):
        frame.paste(colour, (20, 10, 40, 30))
    how = {"save_all": True, "append_images": frames[1:], "duration": times}
    frames[0].save(place / "a.gif", loop=0, **how)
    frames[0].save(place / "a.webp", loop=0, lossless=True, **how)
    for source in ("a.gif", "a.webp"):
        for recipe, width, height in (("gif ", 60, 40), ("webp ", 60, 40), ("webp 30px", 30, 20), ("gif 200%", 120, 80),
                                      ("gif rot90", 40, 60), ("webp 30px.rot270.noexif", 20, 30)):  # fmt: skip
            image = Image.open(io.BytesIO(made(place / source, recipe)))
            expect(getattr(image, "n_frames", 1) == 3, f"{source}, {recipe}: {getattr(image, 'n_frames', 1)} frames")
            for index, frame in enumerate(ImageSequence.Iterator(image)):
                frame.load()
                time = frame.info["duration"]
                expect(frame.size == (width, height), f"{source}, {recipe}: {frame.size}")
                expect(time == times[index], f"{source}, {recipe}: {time} ms")
                expect(image.info.get("loop") == 0, f"{source}, {recipe}: ends")
                pixel, wanted = frame.convert("RGB").getpixel((width // 2, height // 2)), [0, 0, 0]
                wanted[index] = 255
                far = max(abs(one - other) for one, other in zip(pixel, wanted))
                expect(far < 30, f"{source}, {recipe}: frame {index + 1} has {pixel}")
        for kind in ("png", "tiff", "jpeg"):
            still = opened(made(place / source, f"{kind} "))
            expect(getattr(still, "n_frames", 1) == 1, f"{source}, {kind}: frames")
            same(still, frames[0], f"{source}, {kind}", 9)
        expect(len(pdf_pages(made(place / source, "pdf "))) == 1, f"{source}, pdf: pages")
    # A single frame is not an animation, also when it is scaled up.
    frames[0].save(place / "b.gif")
    expect(getattr(opened(made(place / "b.gif", "gif 200%")), "n_frames", 1) == 1, "a still GIF: frames")
    # Frames of a few bytes each, however large they are.
    def gif(width: int, height: int, count: int) -> bytes:
        frame = b",\0\0\0\0\1\0\1\0\0\2\2D\1\0"
        return b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff" + frame * count + b";"

    for recipe in ("webp ", "gif ", "gif 10px"):
        refused(gif(20, 20, 5000), recipe, limit, "more than 4096 frames")
        refused(gif(2000, 2000, 300), recipe, limit, "300 frames of 2000 × 2000 pixels")
    refused(gif(2000, 2000, 100), "gif rot90", limit, "100 frames of 2000 × 2000 pixels")


def check_profiles() -> None:
    """A profile goes along where it fits; one of other colours than the picture's is no word on it."""
    plain = place / "plain.png"
    ramp(60, 40).save(plain)
    subprocess.run(["vips", "icc_transform", plain, place / "wide.png", "p3"], check=True)
    subprocess.run(["vips", "icc_transform", plain, place / "inks.tif", "cmyk"], check=True)
    wide = Image.open(place / "wide.png")
    profile, inks = wide.info["icc_profile"], Image.open(place / "inks.tif").info["icc_profile"]
    for name in ("wide.jpg", "wide.webp", "wide.tif"):
        wide.save(place / name, icc_profile=profile, quality=95)
    for name in ("wide.png", "wide.jpg", "wide.webp", "wide.tif"):
        for recipe in ("jpeg ", "webp ", "tiff ", "png ", "png 30px", "jpeg rot90", "webp 50%", "tiff q80"):
            kept = opened(made(place / name, recipe)).info.get("icc_profile")
            expect(kept == profile, f"{name}, {recipe}: {'no' if not kept else 'another'} profile")
        for recipe in ("pdf ", "pdf 30px"):
            expect(b"/ICCBased" in made(place / name, recipe), f"{name}, {recipe}: no profile")
        for recipe in ("heic ", "avif ", "heic 30px"):
            expect(profile in made(place / name, recipe), f"{name}, {recipe}: no profile")
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        shown = ImageCms.profileToProfile(Image.open(place / name), source, ImageCms.createProfile("sRGB"))
        for recipe in ("gif ", "jp2 q100", "jp2 30px.q100"):
            same(opened(made(place / name, recipe)), shown.resize((30, 20)) if "30px" in recipe else shown, f"{name}, {recipe}", 5)
    # A PNG with a CMYK profile for its red, green and blue, which PNG writers would reject.
    chunk = b"iCCPinks\0\0" + zlib.compress(inks)
    content = plain.read_bytes()
    odd = content[:33] + struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) + content[33:]
    ramp(60, 40).save(place / "odd.jpg", icc_profile=inks, quality=95)
    ramp(60, 40).save(place / "odd.tif", icc_profile=inks)
    for name, source in (("png", odd), ("jpg", place / "odd.jpg"), ("tif", place / "odd.tif")):
        for recipe in ("png ", "jpeg q95", "tiff ", "webp q95", "gif "):
            image = opened(made(source, recipe))
            expect(not image.info.get("icc_profile"), f"odd {name}, {recipe}: keeps the profile")
            same(image, ramp(60, 40), f"odd {name}, {recipe}", 7)
        for recipe in ("pdf ", "pdf 30px"):
            expect(b"/ICCBased" not in made(source, recipe), f"odd {name}, {recipe}: a profile that does not fit")
    # CMYK is converted to sRGB with its own profile, at every size.
    full = opened(made(place / "inks.tif", "png "))
    expect(not full.info.get("icc_profile"), "inks: a profile")
    same(full, ramp(60, 40), "inks", 16)
    same(opened(made(place / "inks.tif", "png 30px")), full.resize((30, 20), Image.Resampling.BOX), "inks at half their size", 4)
    expect(b"/ICCBased" not in made(place / "inks.tif", "pdf 30px"), "inks, pdf 30px: the profile of inks for sRGB")


def check_anymaps() -> None:
    """Numbers in words, with or without blanks, and of any range, as netpbm reads them."""
    for content in (b"P1\n# made by hand\n5 2\n0110100110", b"P1 5 2\n0 1 1 0 1 # two 1 1 1\n0 0 1 1 0\n", b"P1\n32 2\n" + b"01" * 35,
                    b"P2 3 2 15\n0 1 15 7 8 9\n", b"P3 2 1 15 15 0 0 0 15 7\n", b"P2 2 1 1000 1000 20\n",
                    b"P5 3 2 100\n\0\x32\x64\x19\x4b\x0a", b"P6 1 2 63\n\0\x20\x3f\1\2\3", b"P4 9 2\n\xaa\x80\x55\0"):  # fmt: skip
        shown = Image.open(io.BytesIO(subprocess.run(["pnmtopng", "-force"], input=content, capture_output=True, check=True).stdout))
        result = opened(made(content, "png "))
        if shown.mode == "I":
            expect(list(result.getdata()) == list(shown.getdata()), f"{content[:20]}: {list(result.getdata())}")
        else:
            same(result, shown, f"{content[:20]}", 0)
    refused(b"P1 3 2\n0 1 0\n1 0", "png ", damaged, "ends before its last pixel")
    refused(b"P2 3 2 9\n0 1 0\n1 x", "png ", damaged, "ends before its last pixel")
    refused(b"P1 1000000 1000000\n1", "png ", limit, "too much")


def luma(image: Image.Image, across: int, down: int, weights: tuple[float, float, float]) -> bytes:
    """Blocks of brightness with one pair of colours: TIFF 6.0, section 21."""
    red, green, blue = weights
    result = b""
    for top in range(0, image.height, down):
        for left in range(0, image.width, across):
            pixels = [image.getpixel((min(left + x, image.width - 1), min(top + y, image.height - 1))) for y in range(down) for x in range(across)]
            light = [red * r + green * g + blue * b for r, g, b in pixels]
            mean = sum(light) / len(light)
            colours = [
                128 + (sum(pixel[band] for pixel in pixels) / len(pixels) - mean) / (2 - 2 * weight)
                for band, weight in ((2, blue), (0, red))
            ]
            result += bytes(max(0, min(255, round(value))) for value in light + colours)
    return result


def check_brightness_apart() -> None:
    """YCbCr as tiff2rgba has it, and as it was meant."""
    image = ramp(48, 32).resize((49, 33))
    weights = {"601": ((299, 1000), (587, 1000), (114, 1000)), "709": ((2126, 10000), (7152, 10000), (722, 10000))}
    for name, fractions in weights.items():
        for across, down in ((1, 1), (2, 1), (2, 2), (4, 4)):
            pixels = luma(image, across, down, tuple(one / other for one, other in fractions))
            page = Page(*image.size, 6, pixels, 3, t529=("rational", fractions), t530=(SHORT, [across, down]),
                        t532=("rational", [(0, 1), (255, 1), (128, 1), (255, 1), (128, 1), (255, 1)]))  # fmt: skip
            (place / "source").write_bytes(tiff([page]))
            subprocess.run(["tiff2rgba", place / "source", place / "shown.tif"], check=True)
            what = f"YCbCr {name}, {across} × {down}"
            result = opened(made(place / "source", "png "))
            same(result, Image.open(place / "shown.tif"), what, 0)
            same(result, image, what, 2 + across * down)
    same(tiff_pages(made(tiff([page_of(image), page]), "tiff "))[1], Image.open(place / "shown.tif"), "YCbCr on page 2", 0)
    turned = opened(made(tiff([Page(*image.size, 6, luma(image, 1, 1, (.299, .587, .114)), 3, t530=(SHORT, [1, 1]), t274=(SHORT, [6]))]), "png "))
    same(turned, image.rotate(-90, expand=True), "YCbCr to be turned", 3)


def check_packed_samples() -> None:
    """Samples of ten, twelve and fourteen bits, one behind the other."""
    width, height = 30, 20
    for bits in (10, 12, 14):
        most = (1 << bits) - 1
        for samples in (1, 3):
            values = [[x * most // (width - 1) if band < 2 else y * most // (height - 1) for x in range(width) for band in range(samples)]
                      for y in range(height)]  # fmt: skip
            rows = b"".join(
                int("".join(f"{value:0{bits}b}" for value in row).ljust((len(row) * bits + 7) // 8 * 8, "0"), 2).to_bytes(
                    (len(row) * bits + 7) // 8, "big") for row in values)  # fmt: skip
            for photometric in (0, 1) if samples == 1 else (2,):
                for order in "<>":
                    page = Page(width, height, photometric, rows, samples, bits)
                    wanted = values[3][17 * samples] / most * 65535
                    wanted = 65535 - wanted if photometric == 0 else wanted
                    for tiles in (False, True) if order == "<" else (False,):
                        content = tiff([page], order)
                        value = opened(made(in_tiles(content) if tiles else content, "png ")).getpixel((17, 3))
                        # Colours of sixteen bits are opened with eight.
                        value, scale = (value, 1) if samples == 1 else (value[0], 257)
                        what = f"{bits} bits, {photometric}, {'in tiles' if tiles else 'in strips'}"
                        expect(abs(value - wanted / scale) <= 1, f"{what}: {value} instead of {wanted / scale}")
    refused(tiff([Page(30, 20, 1, bytes(10), 1, 12)]), "png ", damaged, "")


def in_tiles(content: bytes, *words: str) -> bytes:
    (place / "plain.tif").write_bytes(content)
    subprocess.run(["tiffcp", *words, "-t", "-w", "16", "-l", "16", place / "plain.tif", place / "tiled.tif"], check=True)
    return (place / "tiled.tif").read_bytes()


def check_planes_in_tiles() -> None:
    """Each channel in tiles of its own, with samples of eight and sixteen bits, and seen through."""
    image = ramp(45, 37)

    def deep(bands: Sequence[Image.Image], **more) -> Page:
        """Nine tiles for each channel; directories come behind the pixels, which start at byte 8."""
        tiles = [band.crop((left, top, left + 16, top + 16)) for band in bands for top in (0, 16, 32) for left in (0, 16, 32)]
        pixels = b"".join(struct.pack("<256H", *(257 * value for value in tile.tobytes())) for tile in tiles)
        places = {"t324": (LONG, [8 + 512 * index for index in range(len(tiles))]), "t325": (LONG, [512] * len(tiles))}
        return Page(45, 37, 2, pixels, len(bands), 16, t284=(SHORT, [2]), t322=(SHORT, [16]), t323=(SHORT, [16]), **places, **more)

    for words in ([], ["-c", "lzw"]):
        page = page_of(image, t274=(SHORT, [6]))
        shown = opened(made(in_tiles(tiff([page]), "-p", "separate", *words), "png "))
        same(shown, image.rotate(-90, expand=True), f"planes in tiles {words}")
    same(opened(made(tiff([deep(image.split())]), "png ")), image, "deep planes in tiles")
    half = [*(band.point(lambda value: value // 2) for band in image.split()), Image.new("L", image.size, 128)]
    shown = opened(made(tiff([deep(half, t338=(SHORT, [1]))]), "png "))
    same(shown, image, "planes in tiles that are as dark as they are clear", 3)
    expect(shown.getchannel("A").getextrema() == (128, 128), "opacity of planes in tiles")
    cut = deep(image.split())
    cut.pixels = cut.pixels[:3000]
    refused(tiff([cut]), "png ", damaged, "cannot be decoded")


def check_old_jpeg() -> None:
    """As TIFF 6.0, section 22, had it, with as many colours as pixels, and with fewer, which not all say."""
    image = ramp(40, 30)
    for subsampling, said in ((0, [1, 1]), (2, [2, 2]), (2, None)):
        content = io.BytesIO()
        image.save(content, "JPEG", quality=95, subsampling=subsampling)
        more = {"t530": (SHORT, said)} if said else {}
        page = Page(*image.size, 6, content.getvalue(), t513=(LONG, [8]), t514=(LONG, [len(content.getvalue())]), **more)
        page.tags[259] = (SHORT, [6])
        if not said:
            del page.tags[277]
        same(opened(made(tiff([page]), "png ")), image, f"JPEG of the old kind, {subsampling}, {said}", 3 + 4 * subsampling)


def check_icons() -> None:
    """Icons whose pictures have a longer head, with a profile behind it, and those that count their bytes otherwise."""
    image = ramp(24, 16)
    rows = b"".join(bytes(value for x in range(24) for value in image.getpixel((x, y))[::-1]) for y in reversed(range(16)))

    def icon(head: bytes, pixels: bytes, size: int | None = None) -> bytes:
        size = len(head + pixels) if size is None else size
        return struct.pack("<HHHBBBBHHII", 0, 1, 1, 24, 16, 0, 0, 1, 24, size, 22) + head + pixels

    plain = struct.pack("<IiiHHIIiiII", 40, 24, 32, 1, 24, 0, len(rows), 0, 0, 0, 0)
    long = plain.replace(plain[:4], struct.pack("<I", 124), 1).ljust(56, b"\0") + b"DEBM"
    long = long.ljust(112, b"\0") + struct.pack("<III", 124 + len(rows), 200, 0)
    same(opened(made(icon(plain, rows + bytes(64)), "png ")), image, "an icon")
    same(opened(made(icon(plain, rows + bytes(64), 8), "png ")), image, "an icon that counts otherwise")
    profiled = opened(made(icon(long, rows + b"\xff" * 200), "png "))
    same(profiled, image, "an icon with a profile")
    expect(profiled.mode == "RGB", "a profile is taken for a mask")


def check_odd_texts() -> None:
    """Texts under names that no PNG may have are left out; others are kept."""
    def text(name: bytes) -> bytes:
        content = b"tEXt" + name + b"\0said"
        return struct.pack(">I", len(content) - 4) + content + struct.pack(">I", zlib.crc32(content))

    image, content = ramp(5, 4), io.BytesIO()
    image.save(content, "PNG")
    content = content.getvalue()
    names = [b"", b" a", b"p  q", b"z ", b"\x7f", b"\x94", b"Comment"]
    shown = opened(made(content[:33] + b"".join(map(text, names)) + content[33:], "png "))
    same(shown, image, "a PNG with odd texts", 0)
    expect(shown.info.get("Comment") == "said", f"texts are {shown.info}")


def check_moving_pngs() -> None:
    """Frames that cover a part, are blended, and are taken away again."""
    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    def pixels(width: int, height: int, colour: tuple[int, ...]) -> bytes:
        return zlib.compress((b"\0" + bytes(colour) * width) * height)

    def frame(number: int, box: tuple[int, int, int, int], colour: tuple[int, ...], dispose: int, blend: int) -> bytes:
        left, top, width, height = box
        head = struct.pack(">IIIIIHHBB", max(0, 2 * number - 1), width, height, left, top, 7, 100, dispose, blend)
        content = pixels(width, height, colour)
        data = chunk(b"IDAT", content) if number == 0 else chunk(b"fdAT", struct.pack(">I", 2 * number) + content)
        return chunk(b"fcTL", head) + data

    source = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 20, 10, 8, 6, 0, 0, 0)) + chunk(b"acTL", struct.pack(">II", 4, 3))
    source += frame(0, (0, 0, 20, 10), (255, 0, 0, 255), 0, 0) + frame(1, (5, 2, 4, 4), (0, 255, 0, 255), 2, 1)
    source += frame(2, (0, 0, 10, 10), (0, 0, 255, 255), 1, 0) + frame(3, (15, 0, 2, 2), (0, 0, 0, 255), 0, 1) + chunk(b"IEND", b"")
    shows = [Image.new("RGBA", (20, 10), "red") for _ in range(4)]
    shows[1].paste((0, 255, 0, 255), (5, 2, 9, 6))
    shows[2].paste((0, 0, 255, 255), (0, 0, 10, 10))
    shows[3].paste((0, 0, 0, 0), (0, 0, 10, 10))
    shows[3].paste((0, 0, 0, 255), (15, 0, 17, 2))
    for kind in ("webp ", "gif ", "apng "):
        image = Image.open(io.BytesIO(made(source, kind)))
        expect(image.n_frames == 4, f"{kind}: {image.n_frames} frames")
        # WebP mixes colours of neighbours, and Pillow blends its pictures with black.
        for number, wanted in enumerate(shows if kind != "webp " else shows[:1]):
            image.seek(number)
            same(on_white(image.convert("RGBA")), on_white(wanted), f"{kind}: frame {number}", 3)
        expect(image.info.get("duration") in (70, 70.0), f"{kind}: {image.info.get('duration')} ms")
        expect(image.info.get("loop") in (3, 2), f"{kind}: {image.info.get('loop')} times")
    same(on_white(opened(made(source, "png frame3")).convert("RGBA")), on_white(shows[2]), "the third of a moving PNG")
    expect(opened(made(source, "jpeg ")).getpixel((7, 4))[0] > 250, "the first of a moving PNG")
    # Translucent colours over translucent ones.
    below, above = (200, 40, 0, 100), (0, 120, 250, 60)
    mixed = source[:33] + chunk(b"acTL", struct.pack(">II", 2, 0)) + frame(0, (0, 0, 20, 10), below, 0, 0)
    mixed += frame(1, (5, 2, 4, 4), above, 0, 1) + chunk(b"IEND", b"")
    image = Image.open(io.BytesIO(made(mixed, "apng ")))
    image.seek(1)
    wanted = Image.new("RGBA", (20, 10), below)
    wanted.alpha_composite(Image.new("RGBA", (4, 4), above), (5, 2))
    for place in ((0, 0), (5, 2), (8, 5), (9, 6)):
        got, want = image.convert("RGBA").getpixel(place), wanted.getpixel(place)
        expect(all(abs(one - other) <= 2 for one, other in zip(got, want)), f"blended at {place}: {got} instead of {want}")
    again = Image.open(io.BytesIO(made(made(source, "apng "), "apng crop=10x10+0+0")))
    expect(again.size == (10, 10) and again.n_frames == 4, f"cut: {again.size}, {again.n_frames} frames")
    for cut in (len(source) - 30, 150, 90):
        refused(source[:cut], "webp ", damaged, "")


def on_white(image: Image.Image) -> Image.Image:
    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")


def check_raw_photos() -> None:
    """A raw photo is developed, or refused: its thumbnail is another picture here."""
    width, height = 128, 96
    for name, source in (("inside", raw_photo(width, height)), ("alone", raw_photo(width, height, alone=True))):
        for recipe in ("png ", "tiff ", "jpeg ", "webp 64px"):
            image = opened(made(source, recipe)).convert("RGB")
            expect(image.width in (width, 64) and image.width * 3 == image.height * 4, f"{name}, {recipe}: {image.size}")
            means = [ImageStat.Stat(image.crop((x * image.width // 2 + 5, y * image.height // 2 + 5,
                     (x + 1) * image.width // 2 - 5, (y + 1) * image.height // 2 - 5))).mean for y in (0, 1) for x in (0, 1)]  # fmt: skip
            brightest = [max(range(3), key=mean.__getitem__) for mean in means[:3]]
            expect(brightest == [0, 1, 2], f"{name}, {recipe}: {means}")
            expect(max(means[3]) - min(means[3]) < 12 and min(means[3]) > 128, f"{name}, {recipe}: white is {means[3]}")
        expect([page.size for page in pdf_pages(made(source, "pdf "))] == [(width, height)], f"{name}, pdf")
    for recipe in ("png ", "jpeg 8px", "pdf ", "tiff "):
        refused(raw_photo(width, height, packing=32769), recipe, unsupported, "raw photo of an unknown kind")
    # Camera makers' own formats, of which only the start is present.
    for start in (b"FUJIFILMCCD-RAW 0201", b"IIRO\x08\0\0\0", b"IIU\0\x08\0\0\0", b"\0\0\0\x18ftypcrx \0\0\0\0"):
        (place / "source").write_bytes(start.ljust(4096, b"\0"))
        failure, _, reason, _ = worker.ask(place / "source", "png ")
        expect(failure in (damaged, unsupported) and "raw photo" in reason, f"{start}: {failure}, {reason}")


def check_palettes() -> None:
    """JPEG 2000 with a palette, its columns in any order: once that was the worker's end."""
    image = ramp(50, 40).quantize(256)
    indices = Image.frombytes("L", image.size, image.tobytes())
    indices.save(place / "indices.jp2", irreversible=False)
    content = (place / "indices.jp2").read_bytes()
    at = content.index(b"jp2h") - 4
    size = struct.unpack(">I", content[at:at + 4])[0]
    colours = image.getpalette()[:768]

    def box(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", 8 + len(data)) + name + data

    def with_palette(order: tuple[int, ...], depth: int = 7) -> bytes:
        """`order`: which colour a column is."""
        columns = bytes(colours[3 * index + colour] for index in range(256) for colour in order)
        inside = content[at + 8:at + size].replace(struct.pack(">I", 17), struct.pack(">I", 16))
        inside += box(b"pclr", struct.pack(">HB", 256, 3) + bytes([depth] * 3) + columns)
        inside += box(b"cmap", b"".join(struct.pack(">HBB", 0, 1, column) for column in range(3)))
        inside += box(b"cdef", struct.pack(">H", 3) + b"".join(
            struct.pack(">HHH", column, 0, colour + 1) for column, colour in enumerate(order)))  # fmt: skip
        return content[:at] + box(b"jp2h", inside) + content[at + size:]

    for order in ((0, 1, 2), (2, 0, 1), (2, 1, 0)):
        source = with_palette(order)
        for recipe in ("png ", "tiff ", "png 25px"):
            shown = image.convert("RGB")
            shown = shown.resize((25, 20), Image.Resampling.BOX) if "px" in recipe else shown
            same(opened(made(source, recipe)), shown, f"palette {order}, {recipe}", 6 if "px" in recipe else 0)
    refused(with_palette((0, 1, 2), 15), "png ", unsupported, "palette of an unusual kind")


check_pages()
check_many_pages()
check_frames()
check_profiles()
check_anymaps()
check_brightness_apart()
check_packed_samples()
check_planes_in_tiles()
check_old_jpeg()
check_icons()
check_odd_texts()
check_moving_pngs()
check_raw_photos()
check_palettes()
print(wrong, "wrong")
sys.exit(worker.close() or wrong > 0)
