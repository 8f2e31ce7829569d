#!/usr/bin/env python3
"""make_pictures.py FOLDER: a TIFF of three pages, one that ends too early, a GIF of four frames, a folder of such, and two
raw photos, of which one is of a kind that nobody knows."""

import sys
from pathlib import Path

from PIL import Image

from tiff_files import page_of, raw_photo, tiff

folder = Path(sys.argv[1])
pages = [page_of(Image.new("RGB", size, colour)) for size, colour in (((40, 30), "red"), ((20, 50), "lime"), ((40, 30), "blue"))]
(folder / "scan.tif").write_bytes(tiff(pages))
(folder / "cut.tif").write_bytes(tiff(pages, last=1 << 30))
frames = [Image.new("RGB", (40, 30), colour) for colour in ("red", "lime", "blue", "white")]
frames[0].save(folder / "film.gif", save_all=True, append_images=frames[1:], duration=100, loop=0)
(folder / "photo.dng").write_bytes(raw_photo(128, 96))
(folder / "odd.dng").write_bytes(raw_photo(128, 96, packing=32769))
(folder / "pictures").mkdir()
for name in ("scan.tif", "film.gif", "photo.dng"):
    (folder / "pictures" / name).write_bytes((folder / name).read_bytes())
(folder / "pictures" / "again.tif").write_bytes(tiff(pages, ">", big=True))
