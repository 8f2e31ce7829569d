#!/usr/bin/env python3
"""Makes photos of pages whose corners are known: photographed_pages.py FOLDER [--each N] [--seed S] [--kind KIND].

Writes KIND-NNN.jpg and pages.json: for each file its kind and the corners in pixels, clockwise from the page's top left;
of the kind "whole", where paper fills the photo, there are none.
Each photo depends on the seed, its kind and its number only.
"""

import argparse
import json
import math
import random
from pathlib import Path

import numpy
from PIL import Image, ImageChops, ImageDraw, ImageEnhance, ImageFilter, ImageFont

KINDS = ["homography", "lens", "light", "shadow", "clutter", "faint", "cut", "white", "whole"]
FONTS = ["DejaVuSans.ttf", "DejaVuSerif.ttf", "LiberationSerif-Regular.ttf", "LiberationSans-Regular.ttf"]
SIZES = {"a4": (2100, 2970), "letter": (2159, 2794), "a5": (1480, 2100), "receipt": (800, 2200), "card": (1712, 1080)}
WORDS = (
    "the of and invoice to page in number that it account for was payment on are with as date his they be at one have"
    " this from total or had by hot word but what some we can out other were all there when up use your how said an"
    " each she which amount their time if will way about many then them write would like so these her long make thing"
).split()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--each", type=int, default=50, metavar="N", help="photos of each kind, default 50")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--width", type=int, default=1600, help="of most photos, in pixels")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    known = {}
    for kind in options.kind or KINDS:
        for number in range(options.each):
            name = f"{kind}-{number:03}.jpg"
            photo, corners, quality = photographed(random.Random(f"{options.seed} {kind} {number}"), kind, options.width)
            photo.save(options.folder / name, quality=quality)
            known[name] = {"kind": kind, "corners": [[round(x, 2), round(y, 2)] for x, y in corners]}
    (options.folder / "pages.json").write_text(json.dumps(known, indent=1) + "\n")


def photographed(rng: random.Random, kind: str, width: int) -> tuple[Image.Image, list, int]:
    """A photo of a page, the page's corners in it, and the quality to store it with."""
    size = (width, width * 3 // 4) if rng.random() < 0.4 else (width * 3 // 4, width)
    # A page is mostly seen in its own direction.
    if kind == "whole":
        return filled(rng, size), [], rng.choice([60, 75, 85, 92])
    paper = rng.choices(list(SIZES), [8, 4, 2, 2, 2])[0]
    page = printed(rng, paper, kind)
    corners = placed(rng, page.size, size, kind)
    table = tabletop(rng, size, kind, average(page))
    if kind == "clutter":
        strew(rng, table, corners)
    if kind == "cut":
        page, corners = cut(rng, page, corners, size)
    drop_shadow(rng, table, corners, kind)
    photo = laid(table, page, corners)
    if kind == "clutter" and rng.random() < 0.6:
        lay_over(rng, photo, corners)
    if kind == "light":
        photo = lit(rng, photo, strength=rng.uniform(0.45, 0.8))
    else:
        photo = lit(rng, photo, strength=rng.uniform(0.05, 0.3))
    if kind == "shadow":
        photo = shadowed(rng, photo, corners)
    if kind == "lens":
        photo, corners = distorted(photo, corners, rng.choice([-1, 1]) * rng.uniform(0.02, 0.08))
    return taken(rng, photo, kind), corners, rng.choice([60, 75, 85, 92])


def filled(rng: random.Random, size: tuple) -> Image.Image:
    """A photo of paper and nothing else: the page's edges are outside, or where the photo ends."""
    page = printed(rng, rng.choice(["a4", "letter"]), "whole")
    x, y = (rng.uniform(0, 0.03) * side for side in page.size)
    corners = [(x, y), (page.width - x, y), (page.width - x, page.height - y), (x, page.height - y)]
    corners = [(a + rng.uniform(-0.02, 0.02) * page.width, b + rng.uniform(-0.02, 0.02) * page.height) for a, b in corners]
    size = (min(size), max(size))
    ends = [(0, 0), (size[0], 0), size, (0, size[1])]
    room = Image.new("RGB", (page.width * 3 // 2, page.height * 3 // 2), page.getpixel((2, 2)))
    room.paste(page, (page.width // 4, page.height // 4))
    corners = [(a + page.width // 4, b + page.height // 4) for a, b in corners]
    photo = lit(rng, room.transform(size, Image.PERSPECTIVE, coefficients(ends, corners), Image.BICUBIC), rng.uniform(0, 0.6))
    if rng.random() < 0.3:
        photo = shadowed(rng, photo, ends)
    return taken(rng, photo, "whole")


def printed(rng: random.Random, paper: str, kind: str) -> Image.Image:
    """A page with text, rules, boxes and pictures."""
    wide, high = SIZES[paper]
    scale = 1500 / max(wide, high)
    wide, high = round(wide * scale), round(high * scale)
    white = rng.randint(242, 255) if kind == "white" else rng.randint(225, 255)
    tint = (white, white - rng.randint(0, 5), white - rng.randint(0, 14))
    if paper == "card":
        tint = tuple(rng.randint(120, 240) for _ in range(3))
    elif rng.random() < 0.06 and kind != "white":
        tint = rng.choice([(250, 235, 150), (190, 225, 190), (245, 200, 205), (180, 210, 240)])
    page = Image.new("RGB", (wide, high), tint)
    draw = ImageDraw.Draw(page)
    margin = round(min(wide, high) * rng.uniform(0.05, 0.13))
    ink = tuple(rng.randint(0, 70) for _ in range(3))
    if rng.random() < 0.2:
        draw.rectangle([margin // 2, margin // 2, wide - margin // 2, high - margin // 2], outline=ink, width=3)
    y = margin
    body = rng.randint(15, 24)
    face = rng.choice(FONTS)
    while y < high - margin:
        what = rng.random()
        if what < 0.06:
            box = [margin, y, margin + rng.randint(60, wide - 2 * margin), min(high - margin, y + rng.randint(60, 330))]
            if box[3] - box[1] > 20:
                colour = tuple(rng.randint(0, 255) for _ in range(3))
                draw.rectangle(box, fill=colour if rng.random() < 0.5 else None, outline=ink, width=2)
            y = box[3] + 20
        elif what < 0.12:
            y += 12
            draw.line([margin, y, wide - margin, y], fill=ink, width=rng.randint(1, 4))
            y += 12
        elif what < 0.2:
            y += rng.randint(20, 120)
        elif what < 0.24:
            y = ruled(rng, draw, (margin, y, wide - margin, high - margin), ink)
        else:
            size = body * 2 if what < 0.3 else body
            font = ImageFont.truetype(face, size)
            for _ in range(1 if size > body else rng.randint(2, 9)):
                line = " ".join(rng.choice(WORDS) for _ in range(rng.randint(4, 24)))
                while font.getlength(line) > wide - 2 * margin:
                    line = line[: len(line) * 9 // 10]
                if y + size < high - margin:
                    draw.text((margin, y), line, fill=ink, font=font)
                y += round(size * 1.35)
            y += body // 2
    return page


def ruled(rng: random.Random, draw: ImageDraw.ImageDraw, room: tuple, ink: tuple) -> int:
    """A table, and the row below it."""
    columns, step, rows = rng.randint(2, 7), rng.randint(24, 60), rng.randint(2, 14)
    rows = min(rows, (room[3] - room[1]) // step)
    if rows < 2:
        return room[1] + 20
    font = ImageFont.truetype(FONTS[0], 14)
    for column in range(columns + 1):
        x = room[0] + (room[2] - room[0]) * column // columns
        draw.line([x, room[1], x, room[1] + rows * step], fill=ink, width=2)
    for row in range(rows + 1):
        y = room[1] + row * step
        draw.line([room[0], y, room[2], y], fill=ink, width=2)
        for column in range(columns if row < rows else 0):
            draw.text((room[0] + (room[2] - room[0]) * column // columns + 6, y + 4), rng.choice(WORDS), fill=ink, font=font)
    return room[1] + rows * step + 20


def average(page: Image.Image) -> tuple:
    return page.getpixel((3, 3))


def placed(rng: random.Random, page: tuple, size: tuple, kind: str) -> list:
    """The corners of a page that somebody holds a camera over: by a pinhole camera that is tilted."""
    while True:
        tilt, pan = (math.radians(rng.gauss(0, 14)) for _ in range(2))
        turn = math.radians(rng.gauss(0, 9) if rng.random() < 0.85 else rng.uniform(-45, 45))
        if (page[0] > page[1]) != (size[0] > size[1]) and rng.random() < 0.5:
            turn += math.pi / 2 * rng.choice([-1, 1])
        focal = rng.uniform(0.75, 1.3) * max(size)
        fill = rng.uniform(0.55, 0.95)
        corners = []
        wide, high = (side / max(page) for side in page)
        for x, y in [(-wide, -high), (wide, -high), (wide, high), (-wide, high)]:
            x, y = x / 2 * math.cos(turn) - y / 2 * math.sin(turn), x / 2 * math.sin(turn) + y / 2 * math.cos(turn)
            y, z = y * math.cos(tilt), y * math.sin(tilt)
            x, z = x * math.cos(pan) - z * math.sin(pan), x * math.sin(pan) + z * math.cos(pan)
            depth = focal * 1.2 / max(size) + z
            corners.append((x * focal / depth, y * focal / depth))
        left, right = min(x for x, _ in corners), max(x for x, _ in corners)
        top, bottom = min(y for _, y in corners), max(y for _, y in corners)
        scale = fill * min(size[0] / (right - left), size[1] / (bottom - top))
        free = [(size[0] - scale * (right - left)) / 2, (size[1] - scale * (bottom - top)) / 2]
        slack = [rng.uniform(-0.8, 0.8) * side for side in free]
        corners = [
            (size[0] / 2 + scale * (x - (left + right) / 2) + slack[0], size[1] / 2 + scale * (y - (top + bottom) / 2) + slack[1])
            for x, y in corners
        ]
        if area(corners) > 0.12 * size[0] * size[1]:
            return corners


def area(corners: list) -> float:
    pairs = zip(corners, corners[1:] + corners[:1])
    return abs(sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in pairs)) / 2


def noise(rng: random.Random, size: tuple, cell: tuple) -> numpy.ndarray:
    """Smooth noise from -1 to 1 with features of about `cell` pixels."""
    grid = (max(2, round(size[0] / cell[0])), max(2, round(size[1] / cell[1])))
    values = numpy.random.default_rng(rng.getrandbits(32)).integers(0, 256, (grid[1], grid[0]), numpy.uint8)
    return numpy.asarray(Image.fromarray(values).resize(size, Image.BICUBIC), numpy.float32) / 127.5 - 1


def tabletop(rng: random.Random, size: tuple, kind: str, paper: tuple) -> Image.Image:
    """What the page lies on: plain, wood, cloth, stone, tiles."""
    if kind == "white":
        base = [max(0, min(255, part - rng.choice([-1, 1]) * rng.randint(3, 9))) for part in paper]
        if max(paper) > 249:
            base = [part - rng.randint(4, 9) for part in paper]
        strength = rng.uniform(0.5, 2)
    elif kind == "faint":
        # As light as the paper within some levels, or of another colour only.
        away = rng.randint(9, 22)
        base = [part - away for part in paper]
        if rng.random() < 0.4:
            base[rng.randrange(3)] -= rng.randint(15, 35)
        strength = rng.uniform(1, 5)
    else:
        base = rng.choice(
            [(120, 82, 52), (70, 45, 30), (165, 125, 85), (40, 42, 46), (95, 100, 105), (60, 85, 60), (40, 60, 105), (150, 60, 50), (190, 180, 165)]
        )
        strength = rng.uniform(3, 18)
    texture = rng.choice(["plain", "wood", "wood", "cloth", "stone", "tiles"])
    turn = rng.uniform(0, 180)
    room = (int(math.hypot(*size)) + 2,) * 2
    if texture == "wood":
        value = noise(rng, room, (500, 9)) + 0.7 * noise(rng, room, (300, 30)) + 0.4 * noise(rng, room, (60, 3))
        if rng.random() < 0.4:
            value[:: rng.randint(250, 500)] -= 4
    elif texture == "cloth":
        step = rng.randint(8, 60)
        across = numpy.arange(room[0]) // step % 2
        value = (across[None, :] + across[:, None]) * 1.0 - 1 + 0.5 * noise(rng, room, (2, 2))
    elif texture == "stone":
        value = noise(rng, room, (80, 80)) + noise(rng, room, (25, 25)) + noise(rng, room, (5, 5))
    elif texture == "tiles":
        value = 0.6 * noise(rng, room, (60, 60)) + 0.3 * noise(rng, room, (4, 4))
        step = rng.randint(220, 600)
        value[::step], value[:, ::step], value[1::step], value[:, 1::step] = -3, -3, -3, -3
    else:
        value = 0.4 * noise(rng, room, (3, 3)) + 0.4 * noise(rng, room, (200, 200))
    value = value[..., None] * numpy.array([1, 0.92, 0.8], numpy.float32) * strength + numpy.array(base, numpy.float32)
    table = Image.fromarray(numpy.clip(value, 0, 255).astype(numpy.uint8)).rotate(turn, Image.BILINEAR)
    left, top = (room[0] - size[0]) // 2, (room[1] - size[1]) // 2
    # Turned, the square's corners are empty: enlarge what is certainly full.
    side = min(size) / math.hypot(1, 1)
    if turn % 90 > 1:
        return table.crop((left, top, left + size[0], top + size[1])) if full(table, left, top, size) else fill_up(table, size, side)
    return table.crop((left, top, left + size[0], top + size[1]))


def full(table: Image.Image, left: int, top: int, size: tuple) -> bool:
    ends = [(left, top), (left + size[0] - 1, top), (left, top + size[1] - 1), (left + size[0] - 1, top + size[1] - 1)]
    return all(table.getpixel(end) != (0, 0, 0) for end in ends)


def fill_up(table: Image.Image, size: tuple, side: float) -> Image.Image:
    middle = table.size[0] / 2
    half = table.size[0] / math.sqrt(2) / 2 - 2
    ratio = half / max(size) * 2
    wide, high = size[0] * ratio / 2, size[1] * ratio / 2
    return table.resize(size, Image.BICUBIC, (middle - wide, middle - high, middle + wide, middle + high))


def strew(rng: random.Random, table: Image.Image, corners: list) -> None:
    """Things around and under the page: sheets, pens, coins, cables."""
    draw = ImageDraw.Draw(table)
    wide, high = table.size
    for _ in range(rng.randint(3, 9)):
        x, y = rng.uniform(0, wide), rng.uniform(0, high)
        colour = tuple(rng.randint(10, 255) for _ in range(3))
        kind = rng.random()
        if kind < 0.35:
            angle, a, b = rng.uniform(0, math.pi), rng.uniform(0.1, 0.35) * wide, rng.uniform(0.05, 0.25) * wide
            if rng.random() < 0.5:
                colour = (rng.randint(215, 250),) * 3
            spots = [(a, b), (-a, b), (-a, -b), (a, -b)]
            draw.polygon(
                [(x + p * math.cos(angle) - q * math.sin(angle), y + p * math.sin(angle) + q * math.cos(angle)) for p, q in spots],
                fill=colour, outline=tuple(part // 2 for part in colour))
        elif kind < 0.6:
            angle, long = rng.uniform(0, math.pi), rng.uniform(0.1, 0.5) * wide
            ends = [(x, y), (x + long * math.cos(angle), y + long * math.sin(angle))]
            draw.line(ends, fill=colour, width=rng.randint(4, 26))
        elif kind < 0.85:
            r = rng.uniform(0.02, 0.12) * wide
            draw.ellipse([x - r, y - r, x + r, y + r], fill=colour, outline=(30, 30, 30), width=3)
        else:
            points = [(x, y)]
            for _ in range(12):
                points.append((points[-1][0] + rng.uniform(-90, 90), points[-1][1] + rng.uniform(-90, 90)))
            draw.line(points, fill=colour, width=rng.randint(3, 9), joint="curve")


def lay_over(rng: random.Random, photo: Image.Image, corners: list) -> None:
    """A pen, or a finger, over one edge of the page."""
    side = rng.randrange(4)
    (x1, y1), (x2, y2) = corners[side], corners[(side + 1) % 4]
    at = rng.uniform(0.2, 0.8)
    x, y = x1 + at * (x2 - x1), y1 + at * (y2 - y1)
    middle = (sum(p[0] for p in corners) / 4, sum(p[1] for p in corners) / 4)
    away = math.atan2(y - middle[1], x - middle[0]) + rng.uniform(-0.6, 0.6)
    reach = rng.uniform(0.03, 0.1) * photo.size[0]
    start = (x - reach * math.cos(away), y - reach * math.sin(away))
    end = (x + 900 * math.cos(away), y + 900 * math.sin(away))
    draw = ImageDraw.Draw(photo)
    colour = rng.choice([(214, 160, 130), (150, 100, 75), (25, 25, 30), (180, 20, 30)])
    width = rng.randint(14, 80)
    draw.line([start, end], fill=colour, width=width)
    draw.ellipse([start[0] - width / 2, start[1] - width / 2, start[0] + width / 2, start[1] + width / 2], fill=colour)


def drop_shadow(rng: random.Random, table: Image.Image, corners: list, kind: str) -> None:
    """The page's own shadow on the table."""
    dark = rng.uniform(0.08, 0.2) if kind == "white" else rng.uniform(0, 0.35)
    angle, far = rng.uniform(0, 2 * math.pi), rng.uniform(2, 7)
    moved = [(x + far * math.cos(angle), y + far * math.sin(angle)) for x, y in corners]
    mask = Image.new("L", table.size, 0)
    ImageDraw.Draw(mask).polygon(moved, fill=round(255 * dark))
    mask = mask.filter(ImageFilter.GaussianBlur(rng.uniform(2, 5)))
    table.paste(Image.new("RGB", table.size, (0, 0, 0)), (0, 0), mask)


def coefficients(target: list, source: list) -> list:
    """The homography from target to source, as Image.transform wants it."""
    rows = []
    for (x, y), (u, v) in zip(target, source):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y])
    return list(numpy.linalg.solve(numpy.array(rows), numpy.array(source).reshape(8)))


def laid(table: Image.Image, page: Image.Image, corners: list) -> Image.Image:
    """The page over the table, edges smoothed by twice the resolution."""
    page = page.convert("RGBA")
    room = Image.new("RGBA", (page.width + 8, page.height + 8), page.getpixel((2, 2))[:3] + (0,))
    room.paste(page, (4, 4))
    double = [(2 * x, 2 * y) for x, y in corners]
    ends = [(4, 4), (page.width + 4, 4), (page.width + 4, page.height + 4), (4, page.height + 4)]
    size = (table.width * 2, table.height * 2)
    warped = room.transform(size, Image.PERSPECTIVE, coefficients(double, ends), Image.BILINEAR).resize(table.size, Image.BOX)
    photo = table.copy()
    photo.paste(warped.convert("RGB"), (0, 0), warped.getchannel("A"))
    return photo


def cut(rng: random.Random, page: Image.Image, corners: list, size: tuple) -> tuple[Image.Image, list]:
    """One corner or two folded or torn away, or one outside the photo."""
    if rng.random() < 0.3:
        moved = moved_out(corners, size, rng.uniform(0.01, 0.04) * max(size))
        if moved:
            return page, moved
    page = page.convert("RGBA")
    mask = Image.new("L", page.size, 255)
    wide, high = page.size
    for corner in rng.sample(range(4), rng.choice([1, 1, 2])):
        x, y = [(0, 0), (wide, 0), (wide, high), (0, high)][corner]
        a, b = (rng.uniform(0.05, 0.22) * min(page.size) for _ in range(2))
        inside = (x + (a if x == 0 else -a), y + (b if y == 0 else -b))
        ImageDraw.Draw(mask).polygon([(x, y), (inside[0], y), (x, inside[1])], fill=0)
        if rng.random() < 0.5:
            ImageDraw.Draw(page).polygon([(inside[0], y), (x, inside[1]), inside], fill=tuple(part - 18 for part in page.getpixel((wide // 2, 2))[:3]))
    page.putalpha(mask)
    return page, corners


def moved_out(corners: list, size: tuple, beyond: float) -> list | None:
    """The corners moved so that one, and only one, is outside the photo; None if there is no such way."""
    for axis in (0, 1):
        for sign, edge in ((1, size[axis]), (-1, 0)):
            order = sorted((sign * corner[axis] for corner in corners), reverse=True)
            away = sign * edge + beyond - order[0]
            if order[1] + away < sign * edge - 0.02 * size[axis]:
                shift = [sign * away if index == axis else 0 for index in (0, 1)]
                return [(x + shift[0], y + shift[1]) for x, y in corners]
    return None


def lit(rng: random.Random, photo: Image.Image, strength: float) -> Image.Image:
    """Light from one side, and a lamp's spot."""
    wide, high = photo.size
    x, y = numpy.meshgrid(numpy.linspace(-1, 1, wide), numpy.linspace(-1, 1, high))
    angle = rng.uniform(0, 2 * math.pi)
    slope = (x * math.cos(angle) + y * math.sin(angle)) / math.sqrt(2)
    light = 1 - strength * (0.5 + 0.5 * slope)
    if rng.random() < 0.5:
        cx, cy, r = rng.uniform(-0.8, 0.8), rng.uniform(-0.8, 0.8), rng.uniform(0.4, 1.2)
        light = light * (1 - strength * 0.5 + strength * 0.5 * numpy.exp(-((x - cx) ** 2 + (y - cy) ** 2) / r**2))
    warm = numpy.array([1, rng.uniform(0.93, 1), rng.uniform(0.8, 1.0)])
    return Image.fromarray(numpy.clip(numpy.asarray(photo) * light[..., None] * warm, 0, 255).astype(numpy.uint8))


def shadowed(rng: random.Random, photo: Image.Image, corners: list) -> Image.Image:
    """The shadow of the hand with the phone over a part of the page."""
    wide, high = photo.size
    mask = Image.new("L", photo.size, 0)
    draw = ImageDraw.Draw(mask)
    x, y = (sum(p[i] for p in corners) / 4 + rng.uniform(-0.25, 0.25) * photo.size[i] for i in range(2))
    angle = rng.uniform(0, 2 * math.pi)
    a, b = rng.uniform(0.1, 0.22) * wide, rng.uniform(0.18, 0.35) * wide
    spots = [(a, b), (-a, b), (-a, -b), (a, -b)]
    draw.polygon([(x + p * math.cos(angle) - q * math.sin(angle), y + p * math.sin(angle) + q * math.cos(angle)) for p, q in spots], fill=255)
    draw.line([(x, y), (x + 2000 * math.cos(angle), y + 2000 * math.sin(angle))], fill=255, width=round(a))
    for finger in range(4):
        bent = angle + math.pi + (finger - 1.5) * 0.25
        draw.line([(x, y), (x + 1.7 * b * math.cos(bent), y + 1.7 * b * math.sin(bent))], fill=255, width=round(a / 4))
    mask = mask.filter(ImageFilter.GaussianBlur(rng.uniform(4, 30)))
    dark = ImageEnhance.Brightness(photo).enhance(rng.uniform(0.4, 0.75))
    return Image.composite(dark, photo, mask)


def distorted(photo: Image.Image, corners: list, k: float) -> tuple[Image.Image, list]:
    """Through a lens: what is seen at p comes from the middle plus (p - middle) (1 + k r²)."""
    wide, high = photo.size
    half = math.hypot(wide, high) / 2

    def source(x: float, y: float) -> tuple:
        u, v = (x - wide / 2) / half, (y - high / 2) / half
        grow = (1 + k * (u * u + v * v)) / (1 + max(0, k))
        return wide / 2 + u * grow * half, high / 2 + v * grow * half

    step = 32
    mesh = []
    for top in range(0, high, step):
        for left in range(0, wide, step):
            right, bottom = min(wide, left + step), min(high, top + step)
            ends = [source(left, top), source(left, bottom), source(right, bottom), source(right, top)]
            mesh.append(((left, top, right, bottom), sum(ends, ())))
    moved = []
    for x, y in corners:
        p, q = x, y
        for _ in range(50):
            u, v = source(p, q)
            p, q = p + x - u, q + y - v
        moved.append((p, q))
    return photo.transform(photo.size, Image.MESH, mesh, Image.BICUBIC), moved


def taken(rng: random.Random, photo: Image.Image, kind: str) -> Image.Image:
    """Focus, and the sensor's noise."""
    photo = photo.filter(ImageFilter.GaussianBlur(rng.uniform(0.3, 1.8)))
    grain = rng.uniform(0.5, 2) if kind in ("white", "faint") else rng.uniform(0.5, 6)
    values = numpy.random.default_rng(rng.getrandbits(32)).normal(0, grain, (photo.height, photo.width, 3))
    return Image.fromarray(numpy.clip(numpy.asarray(photo) + values, 0, 255).astype(numpy.uint8))


if __name__ == "__main__":
    main()
