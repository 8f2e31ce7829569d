"""Pictures that codecs find as hard as photographs, made by the vips command: the same on every machine."""

import subprocess
from pathlib import Path


def write(folder: Path, divisor: int) -> None:
    """Pictures that codecs find as hard as photographs: clouds of all sizes, a slope of light, and a sensor's noise."""
    _photo(folder / "photo24.png", 6000, 4000, divisor, "compression=6")
    _vips("copy", folder / "photo24.png", f"{folder / 'photo24.jpg'}[Q=92]")
    _vips("copy", folder / "photo24.png", f"{folder / 'photo24.tif'}[compression=lzw,predictor=horizontal]")
    _photo(folder / "photo12.png", 4032, 3024, divisor, "compression=1")
    _vips("copy", folder / "photo12.png", f"{folder / 'photo12.jpg'}[Q=92]")
    _vips("copy", folder / "photo12.png", f"{folder / 'photo12.webp'}[Q=90]")
    _vips("copy", folder / "photo12.png", f"{folder / 'photo12.heic'}[Q=60,effort=0]")
    _photo(folder / "tiny.png", 32, 24, 1, "compression=6")


def photograph(target: Path, width: int, height: int, variant: int) -> None:
    """One picture, another one for each variant."""
    _photo(target, width, height, 1, "compression=1", variant)


def _photo(target: Path, width: int, height: int, divisor: int, options: str, variant: int = 0) -> None:
    # Reduces the number of pixels by the same divisor as the other inputs.
    width, height = (max(16, round(side / divisor**0.5)) for side in (width, height))
    made = target.with_suffix(".made")
    made.mkdir()
    bands = []
    for band in range(3):
        layers = []
        for index, (cells, weight) in enumerate([(4, 60), (16, 40), (64, 24), (256, 12)]):
            layer, weighed = made / f"{band}-{index}.v", made / f"{band}-{index}w.v"
            seed = str(1 + index + 10 * (band if index < 2 else 0) + 1000 * variant)
            size = str(max(2, min(width, height) // cells))
            _vips("perlin", layer, width, height, "--cell-size", size, "--seed", seed)
            _vips("linear", layer, weighed, weight, 30)
            layers.append(weighed)
        noise = made / f"{band}-noise.v"
        _vips("gaussnoise", noise, width, height, "--mean", 0, "--sigma", 2.5, "--seed", 100 + band + 1000 * variant)
        total, bytes_ = made / f"{band}.v", made / f"{band}-8.v"
        _vips("sum", " ".join(map(str, [*layers, noise])), total)
        _vips("cast", total, bytes_, "uchar")
        bands.append(bytes_)
    _vips("bandjoin", " ".join(map(str, bands)), f"{made / 'joined.v'}")
    _vips("copy", made / "joined.v", f"{target}[{options}]", "--interpretation", "srgb")
    for file in made.iterdir():
        file.unlink()
    made.rmdir()


def _vips(*words: object) -> None:
    subprocess.run(["vips", *map(str, words)], check=True, stderr=subprocess.DEVNULL)
