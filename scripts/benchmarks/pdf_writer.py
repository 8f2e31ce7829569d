"""A PDF that is written object by object, with images in the codings that are found in the wild."""

import zlib
from io import BytesIO
from pathlib import Path

from PIL import Image

A4 = (595.28, 841.89)


class Document:
    """A PDF that is written object by object."""

    def __init__(self) -> None:
        self.objects: list[bytes] = [b"", b""]
        self.pages: list[int] = []

    def add(self, text: str | bytes, data: bytes | None = None) -> int:
        text = text if isinstance(text, bytes) else text.encode("latin-1")
        if data is not None:
            text = text[:-2] + b"/Length %d>>\nstream\n%s\nendstream" % (len(data), data)
        self.objects.append(text)
        return len(self.objects)

    def image(self, entries: str, data: bytes, size: tuple[int, int]) -> int:
        return self.add(f"<</Type/XObject/Subtype/Image/Width {size[0]}/Height {size[1]}{entries}>>", data)

    def jpeg(self, image: Image.Image, quality: int, more: str = "") -> int:
        file = BytesIO()
        image.save(file, "JPEG", quality=quality, subsampling=0 if quality > 90 else 2)
        colours = {"L": "Gray", "RGB": "RGB", "CMYK": "CMYK"}[image.mode]
        # Pillow writes CMYK inverted, as Adobe does.
        more += "/Decode[1 0 1 0 1 0 1 0]" if image.mode == "CMYK" else ""
        return self.image(f"/ColorSpace/Device{colours}/BitsPerComponent 8/Filter/DCTDecode{more}", file.getvalue(), image.size)

    def plain(self, image: Image.Image, more: str = "") -> int:
        """Without loss: in colours, gray, by a palette, or black and white."""
        bits = 1 if image.mode == "1" else 8
        colours = "/DeviceRGB" if image.mode == "RGB" else "/DeviceGray"
        if image.mode == "P":
            table = bytes(image.getpalette())
            colours = f"[/Indexed/DeviceRGB {len(table) // 3 - 1}<{table.hex()}>]"
        data = zlib.compress(image.tobytes(), 6)
        return self.image(f"/ColorSpace{colours}/BitsPerComponent {bits}/Filter/FlateDecode{more}", data, image.size)

    def fax(self, image: Image.Image) -> int:
        """CCITT Group 4, as scanners write it."""
        file = BytesIO()
        image.save(file, "TIFF", compression="group4", strip_size=1 << 30)
        tags = Image.open(BytesIO(file.getvalue())).tag_v2
        (start,), (count,) = tags[273], tags[279]
        data = file.getvalue()[start : start + count]
        # In Pillow, 1 is white; TIFF's photometric interpretation tells how it was stored.
        black = "true" if tags[262] == 1 else "false"
        parameters = f"/DecodeParms<</K -1/Columns {image.width}/Rows {image.height}/BlackIs1 {black}>>"
        return self.image(f"/ColorSpace/DeviceGray/BitsPerComponent 1/Filter/CCITTFaxDecode{parameters}", data, image.size)

    def page(self, content: str, images: dict[str, int], size: tuple[float, float] = A4, more: str = "") -> int:
        stream = self.add("<</Filter/FlateDecode>>", zlib.compress(content.encode("latin-1")))
        names = "".join(f"/{name} {number} 0 R" for name, number in images.items())
        font = "/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>"
        self.pages.append(self.add(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 {size[0]} {size[1]}]/Contents {stream} 0 R{more}"
            f"/Resources<</XObject<<{names}>>{font}>>>>"))
        return self.pages[-1]

    def picture(self, image: int, size: tuple[float, float] = A4, words: str = "") -> None:
        """A page that an image fills, with words that are there and not seen."""
        lines = "".join(
            f"1 0 0 1 40 {size[1] - 40 - 12 * row} Tm ({line}) Tj " for row, line in enumerate(words.splitlines()))
        text = f"BT /F 9 Tf 3 Tr {lines}ET " if words else ""
        link = f"/Annots[<</Type/Annot/Subtype/Link/Rect[40 40 200 60]/Border[0 0 0]/A<</S/URI/URI(https://example.org/{image})>>>>]"
        self.page(f"{text}q {size[0]} 0 0 {size[1]} 0 0 cm /I Do Q", {"I": image}, size, link)

    def write(self, path: Path) -> None:
        outline = self.add("<</Type/Outlines/Count 1/First %d 0 R/Last %d 0 R>>" % ((len(self.objects) + 2,) * 2))
        self.add(f"<</Title(Start)/Parent {outline} 0 R/Dest[{self.pages[0]} 0 R/Fit]>>")
        self.objects[0] = b"<</Type/Catalog/Pages 2 0 R/Outlines %d 0 R>>" % outline
        kids = " ".join(f"{page} 0 R" for page in self.pages)
        self.objects[1] = f"<</Type/Pages/Kids[{kids}]/Count {len(self.pages)}>>".encode()
        out, places = b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n", []
        for number, text in enumerate(self.objects, 1):
            places.append(len(out))
            out += b"%d 0 obj\n%s\nendobj\n" % (number, text)
        table = b"".join(b"%010d 00000 n \n" % place for place in places)
        path.write_bytes(out + b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n"
                         % (len(places) + 1, table, len(places) + 1, len(out)))
