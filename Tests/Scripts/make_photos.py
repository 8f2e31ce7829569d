"""make_photos.py FOLDER: photos of pages whose words are known, taken at an angle on a dark table.

`page.jpg` shows one page of A4, `over.jpg` the same photo upside down, `two.jpg` two pages side by side, `none.jpg` none.
`turned.jpg` shows a page that cannot be read before it is straightened.
`roll/` has two photos whose names sort as numbers do, `skewed.pdf` a page that was scanned askew.
"""
import random
import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageFilter, ImageFont

folder = Path(sys.argv[1])
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
A4 = (1050, 1485)
TEXT = [
    "Receipt number 4711", "for the harbour library", "of all the herring", "delivered on Tuesday", "by the northern gate",
    "and weighed by night", "nothing was returned", "paid with heavy keys",
]


def page(title):
    image = Image.new("RGB", A4, (238, 236, 230))
    draw = ImageDraw.Draw(image)
    font = ImageFont.truetype(FONT, 56)
    for row, line in enumerate([title, *TEXT, *TEXT[:2]]):
        draw.text((110, 110 + 78 * row), line, fill=(25, 25, 40), font=font)
    return image


def table(size):
    noise = Image.effect_noise(size, 24).convert("RGB")
    return Image.blend(noise, Image.new("RGB", size, (52, 40, 34)), 0.85)


def coefficients(corners):
    """Of the projection by which each pixel of a photo finds its own in a page, for the corners clockwise from the top left."""
    rows = []
    for (x, y), (u, v) in zip(corners, [(0, 0), (A4[0], 0), A4, (0, A4[1])]):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y, u])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y, v])
    for column in range(8):
        pivot = max(range(column, 8), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [value / rows[column][column] for value in rows[column]]
        for row in range(8):
            if row != column:
                rows[row] = [a - rows[row][column] * b for a, b in zip(rows[row], rows[column])]
    return [row[8] for row in rows]


def put(photo, image, corners):
    values = coefficients(corners)
    bent = image.transform(photo.size, Image.PERSPECTIVE, values, Image.BICUBIC)
    mask = Image.new("L", A4, 255).transform(photo.size, Image.PERSPECTIVE, values, Image.BICUBIC)
    photo.paste(bent, (0, 0), mask)


def taken(photo, name, **options):
    photo.filter(ImageFilter.GaussianBlur(0.7)).save(folder / name, quality=88, **options)


random.seed(4)
photo = table((1500, 2000))
put(photo, page("The first page"), [(260, 210), (1230, 290), (1330, 1720), (150, 1640)])
taken(photo, "page.jpg")
taken(photo.rotate(180), "over.jpg")

photo = table((2000, 1400))
put(photo, page("The left page"), [(150, 200), (880, 150), (900, 1210), (120, 1180)])
put(photo, page("The right page"), [(1080, 180), (1830, 220), (1880, 1230), (1060, 1190)])
taken(photo, "two.jpg")

photo = table((2000, 1500))
put(photo, page("The turned page"), [(520, 100), (1500, 480), (1260, 1420), (140, 880)])
taken(photo, "turned.jpg")

# Hills.
photo = Image.linear_gradient("L").resize((1200, 900)).convert("RGB")
draw = ImageDraw.Draw(photo)
for row in range(4):
    draw.polygon(
        [(0, 900)] + [(x, 400 + 110 * row + random.randint(-45, 45)) for x in range(0, 1300, 60)] + [(1200, 900)],
        fill=(40, 120 - 22 * row, 50))
taken(photo, "none.jpg")

(folder / "roll").mkdir()
for number, title in (2, "The second page"), (10, "The tenth page"):
    photo = table((1500, 2000))
    put(photo, page(title), [(300, 220), (1260, 250), (1300, 1700), (180, 1660)])
    taken(photo, f"roll/p{number}.jpg")

scan = page("The page askew").convert("L").rotate(3, resample=Image.BICUBIC, fillcolor=236)
scan.save(folder / "skewed.pdf", resolution=127)
