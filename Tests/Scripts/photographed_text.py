#!/usr/bin/env python3
"""Makes photos of pages whose text is known: photographed_text.py FOLDER [--each N] [--seed S] [--kind KIND] [--width W].

Writes KIND-NNN.jpg and KIND-NNN.txt. Of the kinds "scan" and "screen" the page fills the picture, as in a scan and on a
screen; the others are those of photographed_pages.py.
"""

import argparse
import random
import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageFilter, ImageFont

import photographed_pages as photos

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts/benchmarks"))
from ocr_pages import TEXTS  # noqa: E402

PHOTOS = ["homography", "light", "shadow", "clutter"]
FLAT = ["scan", "screen"]
FACES = ["DejaVuSerif.ttf", "LiberationSerif-Regular.ttf", "LiberationSans-Regular.ttf"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--each", type=int, default=3, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=PHOTOS + FLAT, action="append")
    parser.add_argument("--width", type=int, default=3000, help="the longer side of a photo, in pixels")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for kind in options.kind or PHOTOS + FLAT:
        for number in range(options.each):
            rng = random.Random(f"{options.seed} {kind} {number}")
            page, text = printed(rng, kind)
            picture, quality = taken(rng, page, kind, options.width)
            picture.save(options.folder / f"{kind}-{number:03}.jpg", quality=quality)
            (options.folder / f"{kind}-{number:03}.txt").write_text(text + "\n")


def printed(rng: random.Random, kind: str) -> tuple[Image.Image, str]:
    """A page of A4 at 260 pixels an inch, or a window, and the text on it."""
    wide, high = (1600, 1200) if kind == "screen" else (2150, 3040)
    white = rng.randint(235, 255)
    page = Image.new("RGB", (wide, high), (white, white, white - rng.randint(0, 8)))
    draw = ImageDraw.Draw(page)
    size = rng.randint(20, 26) if kind == "screen" else rng.randint(38, 46)
    font = ImageFont.truetype(rng.choice(FACES), size)
    words = TEXTS["eng"].split()
    start = rng.randrange(len(words))
    words = words[start:] + words[:start]
    margin, lines, line, y = wide // 9, [], "", high // 12
    if kind == "screen":
        draw.rectangle([0, 0, wide, 60], fill=(60, 70, 90))
        draw.rectangle([margin // 2, 90, wide - margin // 2, high - 40], outline=(120, 120, 120), width=3)
        y = 120
    for word in words:
        longer = f"{line} {word}".strip()
        if font.getlength(longer) > wide - 2 * margin:
            if y + 3 * size > high - margin:
                break
            draw.text((margin, y), line, fill=(25, 25, 30), font=font)
            lines.append(line)
            line, y = word, y + round(size * 1.5)
        else:
            line = longer
    return page, "\n".join(lines)


def taken(rng: random.Random, page: Image.Image, kind: str, width: int) -> tuple[Image.Image, int]:
    """A picture of the page, and the quality to store it with."""
    if kind == "screen":
        return page, 92
    if kind == "scan":
        scan = page.rotate(rng.uniform(-1, 1), Image.BICUBIC, fillcolor=page.getpixel((3, 3)))
        return photos.lit(rng, scan, 0.1).filter(ImageFilter.GaussianBlur(0.6)), 85
    size = (width * 3 // 4, width)
    while True:
        corners = photos.placed(rng, page.size, size, kind)
        if photos.area(corners) > 0.35 * size[0] * size[1]:
            break
    table = photos.tabletop(rng, size, kind, photos.average(page))
    if kind == "clutter":
        photos.strew(rng, table, corners)
    photos.drop_shadow(rng, table, corners, kind)
    photo = photos.laid(table, page, corners)
    photo = photos.lit(rng, photo, rng.uniform(0.45, 0.7) if kind == "light" else rng.uniform(0.05, 0.3))
    if kind == "shadow":
        photo = photos.shadowed(rng, photo, corners)
    return photos.taken(rng, photo, kind), rng.choice([75, 85, 92])


main()
