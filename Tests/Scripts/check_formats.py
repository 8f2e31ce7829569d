"""check_formats.py FFCONVERT: images of every kind that is read, into every kind that is written, with every modifier.

The results are decoded by Pillow, those that it does not know by libvips. Prints a line for each that is wrong.
"""
import io
import subprocess
import sys
import tempfile
from pathlib import Path

from image_samples import ALPHA, GRAY, HEIGHT, PICTURE, WIDTH, on_white, samples
from PIL import Image, ImageChops, ImageCms, ImageStat

from worker import Worker

worker = Worker(sys.argv[1])
folder = tempfile.TemporaryDirectory()
place = Path(folder.name)
wrong = 0


def complain(what: str) -> None:
    global wrong
    wrong += 1
    print(what)


def expect(holds: bool, what: str) -> None:
    if not holds:
        complain(what)


def made(path: Path, recipe: str) -> Image.Image | None:
    """What the worker makes of a file, decoded."""
    failure, _, reason, content = worker.ask(path, recipe)
    if failure:
        complain(f"{path.name}, {recipe}: {reason}")
        return None
    kind = recipe.split()[0]
    if kind in ("heic", "avif", "pdf"):
        source, shown = place / f"made.{kind}", place / "shown.png"
        source.write_bytes(content)
        if kind == "pdf":
            subprocess.run(["pdfimages", "-png", source, place / "page"], check=True)
            shown = place / "page-000.png"
        else:
            subprocess.run(["vips", "copy", source, shown], check=True)
        content = shown.read_bytes()
    image = Image.open(io.BytesIO(content))
    image.load()
    return image


def in_srgb(image: Image.Image) -> Image.Image:
    """As it is meant to be seen, on white."""
    profile = image.info.get("icc_profile")
    if profile and image.mode == "RGB":
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        return ImageCms.profileToProfile(image, source, ImageCms.createProfile("sRGB"))
    if image.mode.startswith("I"):
        return image.point(lambda value: value / 257).convert("L").convert("RGB")
    return on_white(image)


def check(path: Path, recipe: str, shows: Image.Image, tolerance: float) -> Image.Image | None:
    image = made(path, recipe)
    if image is None:
        return None
    if image.size != shows.size:
        complain(f"{path.name}, {recipe}: {image.size} instead of {shows.size}")
        return image
    means = ImageStat.Stat(ImageChops.difference(in_srgb(image), shows.convert("RGB"))).mean
    expect(max(means) <= tolerance, f"{path.name}, {recipe}: off by {[round(mean, 1) for mean in means]}, mode {image.mode}")
    return image


def check_sources() -> None:
    count = 0
    for sample in samples(place):
        count += 1
        check(sample.path, "jpeg q95", sample.shows, sample.tolerance + 3)
        image = check(sample.path, "png ", sample.shows, sample.tolerance)
        if image and sample.profile:
            expect(image.info.get("icc_profile") == sample.profile, f"{sample.path.name}, png: another profile")
            again = made(sample.path, "jpeg ")
            expect(again and again.info.get("icc_profile") == sample.profile, f"{sample.path.name}, jpeg: another profile")
            # These formats store no profile: the colours are converted instead.
            for recipe in ("gif ", "jp2 q100"):
                again = check(sample.path, recipe, sample.shows, sample.tolerance + 4)
                expect(again and not again.info.get("icc_profile"), f"{sample.path.name}, {recipe}: keeps a profile")
    print(count, "samples")


def check_targets() -> None:
    seen = place / "target.png"
    image = PICTURE.copy()
    image.putalpha(ALPHA)
    image.save(seen)
    for kind, keeps in {
        "png": True, "webp": True, "tiff": True, "heic": True, "avif": True, "jp2": True, "gif": True,
        "jpeg": False, "pdf": False,
    }.items():  # fmt: skip
        # GIF pixels are either opaque or transparent.
        result = check(seen, f"{kind} ", on_white(image), 40 if kind == "gif" else 8)
        if result is None:
            continue
        alpha = result.mode in ("RGBA", "LA") or "transparency" in result.info
        expect(alpha == keeps, f"as {kind}: {'keeps' if alpha else 'loses'} what is seen through")
    # Sixteen bits are kept if the target format supports them.
    deep = place / "deep-gray.png"
    for kind in ("png", "tiff"):
        result = made(deep, f"{kind} ")
        expect(result and result.mode.startswith("I"), f"deep-gray.png as {kind}: {result and result.mode}")
        if result:
            expect(result.getpixel((5, 9)) == GRAY.getpixel((5, 9)) * 257, f"as {kind}: another value")


def check_modifiers() -> None:
    source = place / "raw.ppm"
    tall = PICTURE.resize((600, 900))
    large = place / "large.png"
    tall.save(large)

    def sized(path: Path, change: str, width: int, height: int) -> None:
        result = made(path, f"png {change}")
        expect(result and result.size == (width, height), f"{change}: {result and result.size}")

    sized(source, "1600px", WIDTH, HEIGHT)
    sized(source, "800x600", WIDTH, HEIGHT)
    sized(large, "300px", 200, 300)
    sized(large, "800x600", 400, 600)
    sized(large, "100x5000", 100, 150)
    sized(large, "50%", 300, 450)
    sized(large, "200%", 1200, 1800)
    sized(large, "rot90", 900, 600)
    sized(large, "300px.rot90", 300, 200)
    check(source, "png rot90", PICTURE.rotate(-90, expand=True), 1)
    check(source, "png rot180", PICTURE.rotate(180), 1)
    check(source, "png rot270", PICTURE.rotate(90, expand=True), 1)
    # Pillow weights the colours differently.
    gray = check(source, "png gray", GRAY, 12)
    expect(gray and gray.mode == "L", f"gray: {gray and gray.mode}")
    sizes = [len(worker.ask(large, f"jpeg q{quality}")[3]) for quality in (30, 70, 95)]
    expect(sizes == sorted(set(sizes)), f"qualities give {sizes}")
    expect(worker.ask(large, "jpeg q85")[3] == worker.ask(large, "jpeg ")[3], "85 is not the usual quality")


def check_words() -> None:
    """EXIF travels, the orientation is applied once, and `noexif` leaves nothing of either."""
    exif = Image.Exif()
    exif[0x010F] = "Example Camera Works"
    exif[0x0112] = 6
    exif[0x8769] = {0x9003: "2024:05:03 09:30:00", 0x9204: 1.5}
    exif[0x8825] = {1: "N", 2: (48.0, 8.0, 15.5)}
    turned, upright = place / "turned.jpg", PICTURE.rotate(-90, expand=True)
    for exif.endian in ("<", ">"):
        PICTURE.save(turned, exif=exif, quality=95)
        check_exif(turned, upright)


def orientation(content: bytes) -> int | None:
    """What the first TIFF block in a file says; nil: nothing."""
    start = min((at for at in (content.find(b"II*\0"), content.find(b"MM\0*")) if at >= 0), default=None)
    if start is None:
        return None
    order = "little" if content[start:start + 1] == b"I" else "big"

    def number(at: int, size: int) -> int:
        return int.from_bytes(content[start + at:start + at + size], order)

    directory = number(4, 4)
    for entry in range(number(directory, 2)):
        place = directory + 2 + 12 * entry
        if number(place, 2) == 0x0112:
            return number(place + 8, 2)
    return None


def check_other_words() -> None:
    """XMP and IPTC travel, too, and `noexif` leaves nothing of them."""
    plain, told = io.BytesIO(), place / "told.jpg"
    PICTURE.save(plain, "JPEG")
    title = b"<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>" \
        b"<rdf:Description xmlns:dc='http://purl.org/dc/elements/1.1/' dc:title='Example Title'/></rdf:RDF></x:xmpmeta>"
    caption = b"Example Caption"
    # IPTC's record 2, data set 120, in Photoshop's block 1028.
    record = b"\x1c\x02\x78" + len(caption).to_bytes(2, "big") + caption
    record += b"\0" * (len(record) % 2)
    blocks = [(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + title),
              (0xED, b"Photoshop 3.0\0" + b"8BIM\x04\x04\0\0" + len(record).to_bytes(4, "big") + record)]
    told.write_bytes(plain.getvalue()[:2] + b"".join(
        bytes([0xFF, mark]) + (len(block) + 2).to_bytes(2, "big") + block for mark, block in blocks
    ) + plain.getvalue()[2:])
    for kind in ("jpeg", "png", "webp", "tiff", "heic"):
        content, bare = (worker.ask(told, f"{kind} {change}")[3] for change in ("", "noexif"))
        if kind != "png":
            # PNG stores it compressed.
            expect(b"Example Title" in content, f"told.jpg as {kind}: no XMP")
        expect(b"Example Title" not in bare, f"told.jpg as {kind}: XMP in spite of noexif")
        expect(b"xmp" not in bare.lower(), f"told.jpg as {kind}: an XMP block in spite of noexif")
        if kind == "jpeg":
            expect(caption in content, f"told.jpg as {kind}: no IPTC")
        expect(caption not in bare, f"told.jpg as {kind}: IPTC in spite of noexif")


def check_exif(turned: Path, upright: Image.Image) -> None:
    order = Image.open(turned).info["exif"][6:8].decode()
    for kind in ("jpeg", "png", "webp", "tiff"):
        result = check(turned, f"{kind} q95", upright, 6)
        if result is None:
            continue
        words = result.getexif()
        expect(words.get(0x010F) == "Example Camera Works", f"turned.jpg as {kind}: no EXIF")
        expect(words.get(0x0112, 1) == 1, f"turned.jpg as {kind}: to be turned again")
        inside = words.get_ifd(0x8769)
        expect(inside.get(0x9003) == "2024:05:03 09:30:00", f"turned.jpg ({order}) as {kind}: no date")
        expect(inside.get(0x9204) == 1.5, f"turned.jpg ({order}) as {kind}: another exposure: {inside.get(0x9204)}")
        spot = words.get_ifd(0x8825)
        expect(spot.get(2) == (48.0, 8.0, 15.5), f"turned.jpg ({order}) as {kind}: another place: {spot}")
        bare = check(turned, f"{kind} noexif.q95", upright, 6)
        expect(bare and 0x010F not in bare.getexif(), f"turned.jpg as {kind}: EXIF in spite of noexif")
    for kind in ("heic", "avif"):
        content = worker.ask(turned, f"{kind} ")[3]
        expect(b"Example Camera Works" in content, f"turned.jpg as {kind}: no EXIF")
        # Readers that honour the block would rotate the picture again.
        told = orientation(content)
        expect(told in (None, 1), f"turned.jpg ({order}) as {kind}: the block's orientation is {told}")
        check(turned, f"{kind} ", upright, 10)
        content = worker.ask(turned, f"{kind} noexif")[3]
        expect(b"Example Camera Works" not in content, f"turned.jpg as {kind}: EXIF in spite of noexif")
    # Also when it is scaled down while it is read.
    check(turned, "png 20px", upright.resize((14, 20), Image.Resampling.LANCZOS), 8)


check_sources()
check_targets()
check_modifiers()
check_words()
check_other_words()
print(wrong, "wrong")
sys.exit(worker.close() or wrong > 0)
