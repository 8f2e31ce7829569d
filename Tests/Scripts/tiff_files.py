"""TIFF files made byte by byte: pages of any kind and in any order of bytes, and what is no page."""
import struct
from collections.abc import Sequence

from PIL import Image

BYTE, ASCII, SHORT, LONG, LONG8 = 1, 2, 3, 4, 16
CODES = {BYTE: "B", SHORT: "H", LONG: "I", LONG8: "Q"}


class Page:
    """One directory: tags with their types and values, and the strip that they are about."""

    def __init__(self, width: int, height: int, photometric: int, pixels: bytes, samples: int = 3, bits: int = 8, **more):
        self.pixels = pixels
        self.inner: Sequence[Page] = more.pop("inner", ())
        self.tags = {
            256: (LONG, [width]), 257: (LONG, [height]), 258: (SHORT, [bits] * samples), 259: (SHORT, [1]),
            262: (SHORT, [photometric]), 277: (SHORT, [samples]), 278: (LONG, [height]), 279: (LONG, [len(pixels)]),
        } | {int(tag[1:]): value for tag, value in more.items()}  # fmt: skip


def tiff(pages: Sequence[Page], order: str = "<", big: bool = False, last: int = 0) -> bytes:
    """`last`: where the last directory says that the next one is; -1: where the first is."""
    place = "Q" if big else "I"
    size = struct.calcsize(place)
    content = bytearray(b"II" if order == "<" else b"MM")
    content += struct.pack(order + "HHH", 43, 8, 0) if big else struct.pack(order + "H", 42)
    pointer, first = len(content), 0
    content += bytes(size)

    def directory(page: Page) -> tuple[int, int]:
        """Its place, and where that of the next one is to be written."""
        inner = [directory(other)[0] for other in page.inner]
        tags = dict(page.tags)
        tags[273] = (LONG8 if big else LONG, [len(content)])
        content.extend(page.pixels + bytes(len(page.pixels) % 2))
        if inner:
            tags[330] = (LONG8 if big else LONG, inner)
        entries = b""
        for tag in sorted(tags):
            kind, values = tags[tag]
            if kind == "rational":
                kind, value, count = 5, b"".join(struct.pack(order + "II", *pair) for pair in values), len(values)
            else:
                value, count = struct.pack(f"{order}{len(values)}{CODES[kind]}", *values), len(values)
            if len(value) > size:
                outside = len(content)
                content.extend(value + bytes(len(value) % 2))
                value = struct.pack(order + place, outside)
            entries += struct.pack(order + "HH" + place, tag, kind, count) + value.ljust(size, b"\0")
        start = len(content)
        content.extend(struct.pack(order + ("Q" if big else "H"), len(tags)) + entries)
        content.extend(bytes(size))
        return start, len(content) - size

    for page in pages:
        start, following = directory(page)
        struct.pack_into(order + place, content, pointer, start)
        first, pointer = first or start, following
    struct.pack_into(order + place, content, pointer, first if last < 0 else last)
    return bytes(content)


def page_of(image: Image.Image, **more) -> Page:
    photometric, samples = {"L": (1, 1), "RGB": (2, 3)}[image.mode]
    return Page(*image.size, photometric, image.tobytes(), samples, **more)


def raw_photo(
    width: int, height: int, alone: bool = False, packing: int = 1, preview: bytes = b"", orientation: int = 1
) -> bytes:
    """A DNG whose quarters are red, green, blue and white; beside it a thumbnail of another colour, unless it is alone, or
    a JPEG, as from a camera that was held so."""
    lit = {(0, 0): (0,), (1, 0): (1,), (0, 1): (2,), (1, 1): (0, 1, 2)}
    # The colours of the four sensors of a cell.
    sensors = [0, 1, 1, 2]
    values = [
        40_000 if sensors[y % 2 * 2 + x % 2] in lit[x * 2 // width, y * 2 // height] else 2000
        for y in range(height) for x in range(width)
    ]  # fmt: skip
    same = [(int(row == column), 1) for row in range(3) for column in range(3)]
    camera = {"t50706": (BYTE, [1, 4, 0, 0]), "t50721": ("rational", same)}
    photo = Page(width, height, 32803, struct.pack(f"<{len(values)}H", *values), 1, 16, t254=(LONG, [0]), t33421=(SHORT, [2, 2]),
                 t33422=(BYTE, sensors), t50717=(LONG, [65535]), **(camera if alone else {}))  # fmt: skip
    photo.tags[259] = (SHORT, [packing])
    if alone:
        return tiff([photo])
    if preview:
        shown = Page(width, height, 6, preview, 3, t254=(LONG, [1]), t274=(SHORT, [orientation]), inner=[photo], **camera)
        shown.tags[259] = (SHORT, [7])
        return tiff([shown])
    return tiff([page_of(Image.new("RGB", (16, 12), (255, 0, 255)), t254=(LONG, [1]), inner=[photo], **camera)])
