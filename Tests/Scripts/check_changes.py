"""check_changes.py FFCONVERT: what the words of names do with a picture: cut, turn, bound, choose.

What is right is known by Pillow. Prints a line for each that is wrong.
"""
import io
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageChops, ImageOps, ImageStat

from image_samples import PICTURE
from tiff_files import raw_photo
from worker import Worker

worker = Worker(sys.argv[1])
folder = tempfile.TemporaryDirectory()
place = Path(folder.name)
wrong = 0
unsupported = 2


def expect(holds: bool, what: str) -> None:
    global wrong
    if not holds:
        wrong += 1
        print(what)


def made(name: str, recipe: str) -> Image.Image:
    failure, _, reason, content = worker.ask(place / name, recipe)
    expect(not failure, f"{name}, {recipe}: {reason}")
    return opened(content) if content else Image.new("RGB", (1, 1))


def opened(content: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(content))
    image.load()
    return image


def refused(name: str, recipe: str, kind: int, words: str) -> None:
    failure, _, reason, _ = worker.ask(place / name, recipe)
    expect(failure == kind and words in reason, f"{name}, {recipe}: {failure}, '{reason}' instead of '{words}'")


def same(image: Image.Image, wanted: Image.Image, what: str, tolerance: float = 0) -> None:
    if image.size != wanted.size:
        return expect(False, f"{what}: {image.size} instead of {wanted.size}")
    means = ImageStat.Stat(ImageChops.difference(image.convert("RGB"), wanted.convert("RGB"))).mean
    expect(max(means) <= tolerance, f"{what}: off by {means}")


def parts() -> None:
    large = PICTURE.resize((610, 430))
    large.save(place / "large.png")
    same(made("large.png", "png crop=100x80+5+10"), large.crop((5, 10, 105, 90)), "a part")
    same(made("large.png", "png crop=100x80+600+400"), large.crop((600, 400, 610, 430)), "a part at the edge")
    refused("large.png", "png crop=10x10+610+0", unsupported, "none where it is to be cropped")
    same(made("large.png", "png 16:9"), large.crop((0, 43, 610, 386)), "16:9")
    same(made("large.png", "png 1:1"), large.crop((90, 0, 520, 430)), "1:1")
    both = large.crop((10, 10, 410, 210))
    same(made("large.png", "png crop=400x200+10+10.1:1"), both.crop((100, 0, 300, 200)), "a part of a ratio")
    half = large.crop((90, 0, 520, 430)).resize((215, 215), Image.Resampling.LANCZOS)
    same(made("large.png", "png 1:1.50%"), half, "half of a ratio", 1)
    # What the camera has turned is cut as it is seen.
    exif = Image.Exif()
    exif[0x0112] = 6
    large.save(place / "turned.jpg", exif=exif, quality=95)
    upright = large.rotate(-90, expand=True)
    same(made("turned.jpg", "png crop=100x200+30+40"), upright.crop((30, 40, 130, 240)), "a part of a turned one", 3)
    pieces = Image.new("RGB", large.size)
    top = 0
    for row in (1, 2, 3):
        left = 0
        for column in (1, 2, 3, 4):
            piece = made("large.png", f"png tile{row}-{column}of4x3")
            pieces.paste(piece, (left, top))
            left += piece.width
        top += piece.height
    same(pieces, large, "pieces put together")
    Image.new("RGB", (3, 2)).save(place / "small.png")
    refused("small.png", "png tile1-1of4x1", unsupported, "too few for the given number of tiles")


def turns() -> None:
    upside, mirrored = ImageOps.flip(PICTURE), ImageOps.mirror(PICTURE)
    PICTURE.save(place / "plain.png")
    same(made("plain.png", "png flip"), upside, "flip")
    same(made("plain.png", "png mirror"), mirrored, "mirror")
    same(made("plain.png", "png flip.mirror"), PICTURE.rotate(180), "both")
    same(made("plain.png", "png rot90.mirror"), ImageOps.mirror(PICTURE.rotate(-90, expand=True)), "turned, then mirrored")


def bounds() -> None:
    noise = Image.effect_noise((640, 480), 60).convert("RGB")
    noise.save(place / "noise.png")
    noise.save(place / "noise.jpg", quality=80)
    for kind in ("jpeg", "webp", "avif", "jxl"):
        for thousands in (60, 15):
            content = worker.ask(place / "noise.png", f"{kind} {thousands}k")[3]
            share = len(content) / (1000 * thousands)
            expect(0.8 <= share <= 1, f"{kind} of {thousands}k: {len(content)} bytes")
    expect(made("noise.png", "jpeg 60k").size == (640, 480), "pixels went before quality")
    small = made("noise.png", "jpeg 5k")
    expect(100 <= small.width < 640 and abs(small.width / small.height - 4 / 3) < 0.02, f"5k has {small.size}")
    again = [worker.ask(place / "noise.png", "jpeg 60k")[3] for _ in range(2)]
    expect(again[0] == again[1], "another file the second time")
    least = worker.ask(place / "noise.png", "jpeg q20.500k")[3]
    expect(least == worker.ask(place / "noise.png", "jpeg q20")[3], "a quality is not the highest")
    expect(len(worker.ask(place / "noise.png", "png 100k")[3]) <= 100_000, "a PNG is larger")
    expect(worker.ask(place / "noise.jpg", "jpeg 900k")[3] == (place / "noise.jpg").read_bytes(), "coded in vain")
    refused("noise.png", "pdf 100k", unsupported, ".compressed.pdf")


def frames() -> None:
    colours = ["red", "lime", "blue"]
    images = [Image.new("RGB", (30, 20), colour) for colour in colours]
    for name in ("moves.gif", "moves.webp"):
        how = {"lossless": True} if name == "moves.webp" else {}
        images[0].save(place / name, save_all=True, append_images=images[1:], duration=100, **how)
        for number, image in enumerate(images, 1):
            same(made(name, f"png frame{number}"), image, f"picture {number} of {name}", 1)
        still = made(name, "gif frame2")
        expect(getattr(still, "n_frames", 1) == 1, f"{name}: one picture that moves")
        refused(name, "png frame4", unsupported, "has only 3 pictures")
        moving = made(name, "webp crop=10x10+5+5.mirror")
        expect(moving.size == (10, 10) and moving.n_frames == 3, f"{name}: {moving.size}, cut, has {moving.n_frames}")
    refused("plain.png", "png frame2", unsupported, "has a single picture")
    same(made("plain.png", "png frame1"), PICTURE, "the first of one")


def planes() -> None:
    (place / "planes.yuv").write_bytes(bytes([81]) * 40 * 30 + bytes([90]) * 300 + bytes([240]) * 300)
    same(made("planes.yuv", "png 40x30"), Image.new("RGB", (40, 30), (254, 0, 0)), "red planes", 2)
    refused("planes.yuv", "png 40x31", unsupported, "not an image")
    expect("61 × 43" in worker.ask(place / "plain.png", "yuv ")[2], "no size is told")


def raw_photos() -> None:
    """A camera's own picture is taken as it is; it is of another colour here than what is developed."""
    preview = Image.new("RGB", (300, 200), (255, 0, 255))
    content = io.BytesIO()
    preview.save(content, "JPEG", quality=90)
    for orientation in (1, 6):
        photo = raw_photo(300, 200, preview=content.getvalue(), orientation=orientation)
        (place / "photo.dng").write_bytes(photo)
        failure, _, remark, copy = worker.ask(place / "photo.dng", "jpeg ")
        expect(not failure and "as it is" in remark, f"preview {orientation}: {remark}")
        told = opened(copy).getexif().get(0x0112, 1)
        expect(told == orientation, f"preview {orientation}: told {told}")
        expect(copy.endswith(content.getvalue()[2:]), f"preview {orientation}: coded again")
        size = preview.size if orientation == 1 else preview.size[::-1]
        turned = made("photo.dng", "jpeg 150px")
        expect(turned.size == (size[0] // 2, size[1] // 2), f"preview {orientation}: {turned.size}")
        same(turned, Image.new("RGB", turned.size, (255, 0, 255)), f"a small preview {orientation}", 4)
        own = made("photo.dng", "jpeg developed")
        expect(own.size == size and own.getpixel((5, 5)) != (255, 0, 255), f"developed {orientation}: {own.size}")
        expect(made("photo.dng", "png ").getpixel((5, 5)) != (255, 0, 255), "another format is of the preview")
    (place / "photo.dng").write_bytes(raw_photo(600, 400, preview=content.getvalue()))
    expect(made("photo.dng", "jpeg ").getpixel((5, 5))[2] < 100, "a small preview is taken")
    expect(made("photo.dng", "jpeg 300px").getpixel((5, 5))[2] > 200, "a preview that is large enough is not taken")


for check in (parts, turns, bounds, frames, planes, raw_photos):
    check()
print(wrong, "wrong")
sys.exit(worker.close() or wrong > 0)
