"""`scripts/bench images`: conversions through a mount, beside the vips command and ImageMagick."""

import math
import subprocess
from pathlib import Path

from .inputs import Inputs
from .rows import Contestant, Row, Session, Stages

#: What both peers are told, because it is what ffmount does of its own accord.
QUALITY = 85
WEBP_QUALITY = 80


def sessions(inputs: Inputs, ours: list[Contestant], scratch: Path) -> list[Session]:
    photos, out = inputs.photos(), results(scratch)
    out.mkdir()

    def vips(*words: str) -> dict[str, Stages]:
        return {"vips": [["vips", *words]]}

    def magick(*words: str) -> dict[str, Stages]:
        # The full path, because there may be another program of this name.
        return {"ImageMagick": [["/usr/bin/convert", *words]]}

    def session(name: str, view: str, limits: dict[str, Stages], warm: str | None = "tiny.png.as-jpeg") -> Session:
        row = Row(
            name,
            lambda root, _: [["cat", f"{root}/{view}"], ["tee", f"{out}/{view}"]],
            limits=limits,
            # A different file: the same one would come from the cache.
            warm=(lambda root: [["cat", f"{root}/{warm}"]]) if warm else None,
            counts_workers=True,
        )
        return Session(photos, None, ours, [row])

    def copy(source: str, target: str, options: str = f"Q={QUALITY}") -> dict[str, Stages]:
        return vips("copy", f"{photos}/{source}", f"{out}/{target}[{options}]")

    return [
        session(
            "a worker's start, a tiny PNG", "tiny.png.as-jpeg",
            copy("tiny.png", "tiny.jpg") | magick(f"{photos}/tiny.png", "-quality", str(QUALITY), f"{out}/tiny-m.jpg"),
            warm=None,
        ),
        session(
            "24 MP PNG to JPEG", "photo24.png.as-jpeg",
            copy("photo24.png", "a.jpg")
            | magick(f"{photos}/photo24.png", "-quality", str(QUALITY), f"{out}/a-m.jpg"),
        ),
        session(
            "24 MP JPEG to 2048 px", "photo24.jpg.2048px.as-jpeg",
            vips("thumbnail", f"{photos}/photo24.jpg", f"{out}/b.jpg[Q={QUALITY}]", "2048", "--size", "down")
            | magick(f"{photos}/photo24.jpg", "-resize", "2048x2048>", "-quality", str(QUALITY), f"{out}/b-m.jpg"),
        ),
        session(
            "12 MP HEIC to JPEG", "photo12.heic.as-jpeg",
            copy("photo12.heic", "c.jpg")
            | magick(f"{photos}/photo12.heic", "-quality", str(QUALITY), f"{out}/c-m.jpg"),
        ),
        session("12 MP JPEG to HEIC", "photo12.jpg.as-heic", vips("copy", f"{photos}/photo12.jpg", f"{out}/d.heic")),
        session(
            "12 MP JPEG to WebP", "photo12.jpg.as-webp",
            copy("photo12.jpg", "e.webp", f"Q={WEBP_QUALITY}")
            | magick(f"{photos}/photo12.jpg", "-quality", str(WEBP_QUALITY), f"{out}/e-m.webp"),
        ),
        session(
            "12 MP WebP to JPEG", "photo12.webp.as-jpeg",
            copy("photo12.webp", "f.jpg")
            | magick(f"{photos}/photo12.webp", "-quality", str(QUALITY), f"{out}/f-m.jpg"),
        ),
        session(
            "24 MP TIFF to JPEG", "photo24.tif.as-jpeg",
            copy("photo24.tif", "g.jpg")
            | magick(f"{photos}/photo24.tif", "-quality", str(QUALITY), f"{out}/g-m.jpg"),
        ),
        session(
            "12 MP JPEG to TIFF", "photo12.jpg.as-tiff",
            copy("photo12.jpg", "h.tif", "compression=deflate,predictor=horizontal")
            | magick(f"{photos}/photo12.jpg", "-compress", "Zip", f"{out}/h-m.tif"),
        ),
    ]  # fmt: skip


def results(scratch: Path) -> Path:
    """Where everybody leaves what he made."""
    return scratch / "images"


def comparison(inputs: Inputs, scratch: Path) -> str:
    """How large and how near to the original the HEIC files are: speed alone says nothing of a lossy codec."""
    lines = []
    for name, file in {"ffmount": "photo12.jpg.as-heic", "vips": "d.heic"}.items():
        path = results(scratch) / file
        if path.exists():
            ratio = signal_to_noise(inputs.photos() / "photo12.jpg", path, scratch)
            lines.append(f"HEIC by {name}: {path.stat().st_size / 1e6:.2f} MB, PSNR {ratio:.1f} dB\n")
    return "".join(lines)


def signal_to_noise(one: Path, other: Path, scratch: Path) -> float:
    """PSNR in dB of two pictures of 8 bits."""
    difference, squares = scratch / "difference.v", scratch / "squares.v"
    for words in (["subtract", one, other, difference], ["multiply", difference, difference, squares]):
        subprocess.run(["vips", *map(str, words)], check=True, stderr=subprocess.DEVNULL)
    mean = float(subprocess.run(["vips", "avg", squares], check=True, capture_output=True, text=True).stdout)
    return 10 * math.log10(255**2 / mean) if mean else math.inf
