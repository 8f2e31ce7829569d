"""check_scans.py IMAGE…: each is a page of A4 that is straight, clean, white and upright, by the pixels that it has."""
import sys

from PIL import Image

for name in sys.argv[1:]:
    image = Image.open(name)
    gray, (width, height) = image.convert("L"), image.size
    levels = gray.histogram()
    corners = [gray.getpixel((x, y)) for x in (9, width - 10) for y in (9, height - 10)]
    # There is more text in the upper half.
    halves = [gray.crop((0, top, width, top + height // 2)).histogram() for top in (0, height // 2)]
    ink = [sum(half[:90]) for half in halves]
    assert image.mode == ("L" if ".gray." in name or ".bw." in name else "RGB"), (name, image.mode)
    assert abs(height / width / 2**0.5 - 1) < 0.02, (name, image.size)
    assert sum(levels[245:]) > 0.75 * width * height, (name, levels)
    assert min(corners) > 240, (name, corners)
    assert ink[0] > 1.2 * ink[1], (name, ink)
