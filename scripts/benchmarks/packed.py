"""The archives of `scripts/bench archives`: one tree in several formats, made by the programs that people make them with."""

import random
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

MEBIBYTE = 1 << 20

#: Blocks of `xz -T0` at its usual level, and frames as pzstd makes them, in bytes.
XZ_BLOCK, ZSTD_FRAME = 24 * MEBIBYTE, 2 * MEBIBYTE


def _filtered(*program: str) -> Callable[[Path, Path], None]:
    def make(tar: Path, target: Path) -> None:
        with open(tar, "rb") as source, open(target, "wb") as sink:
            subprocess.run(program, stdin=source, stdout=sink, check=True)

    return make


def _frames(tar: Path, target: Path) -> None:
    def frame(data: bytes) -> bytes:
        command = ["zstd", "-q", "-3", f"--stream-size={len(data)}"]
        return subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout

    with open(tar, "rb") as source, open(target, "wb") as sink, ThreadPoolExecutor(2) as pool:
        while group := [data for _ in range(8) if (data := source.read(ZSTD_FRAME))]:
            for packed in pool.map(frame, group):
                sink.write(packed)


def _seven_zip(tar: Path, target: Path) -> None:
    tree = tar.with_suffix("")
    command = ["7z", "a", "-bd", "-y", "-mx=3", "-ms=on", "-mmt=2", str(target), "."]
    subprocess.run(command, cwd=tree, stdout=subprocess.DEVNULL, check=True)


#: What makes each of a TAR archive, or of the tree beside it.
FORMATS: dict[str, Callable[[Path, Path], None]] = {
    "tar.gz": _filtered("gzip", "-6"),
    "tar.xz": _filtered("xz", "-1", "-T2", f"--block-size={XZ_BLOCK}"),
    "tar.zst": _filtered("zstd", "-q", "-3", "-T2"),
    "frames.tar.zst": _frames,
    "tar.bz2": _filtered("lbzip2", "-9"),
    "7z": _seven_zip,
}


def write_small(folder: Path, text: bytes, count: int) -> None:
    """A tree of that many files of 2.5 KB on average in 100 folders, in all formats."""
    noise = random.Random(11)
    tree = folder / "tree"
    for index in range(100):
        (tree / f"d{index:02}").mkdir(parents=True)
        for number in range(count // 100):
            start, size = noise.randrange(len(text) - 5_000), noise.randrange(5_000)
            (tree / f"d{index:02}" / f"f{number:04}.txt").write_bytes(text[start : start + size])
    _pack(folder)


def write_big(folder: Path, file: Path) -> None:
    """A tree of one file, in all formats."""
    (folder / "tree").mkdir()
    shutil.copy(file, folder / "tree" / file.name)
    _pack(folder)


def _pack(folder: Path) -> None:
    tar = folder / "tree.tar"
    order = ["--sort=name", "--format=gnu", "--owner=0", "--group=0", "--mtime=2024-05-03"]
    subprocess.run(["tar", "-C", folder / "tree", *order, "-cf", tar, "."], check=True)
    for suffix, make in FORMATS.items():
        make(tar, folder / f"tree.{suffix}")
    tar.unlink()


def write_kinds(folder: Path, samples: list[Path], count: int) -> None:
    """`kinds` with that many small archives, by turns of each kind, and `texts` with as many texts of their sizes."""
    for name in ("kinds", "texts"):
        (folder / name).mkdir()
    for number in range(count):
        sample = samples[number % len(samples)]
        data = sample.read_bytes()
        suffix = sample.name.removeprefix("sample")
        (folder / "kinds" / f"a{number:05}{suffix}").write_bytes(data)
        (folder / "texts" / f"a{number:05}.txt").write_bytes(b"text\n" * (len(data) // 5))


def samples(folder: Path) -> list[Path]:
    """A small archive of each kind, of the tree in the folder."""
    tree = folder / "tree"
    for suffix, options in {
        "tar": ["--format=ustar"], "tar.gz": ["--format=ustar", "-z"], "tar.xz": ["--format=ustar", "-J"],
        "tar.bz2": ["--format=ustar", "-j"], "tar.zst": ["--format=ustar", "--zstd"], "zip": ["--format=zip"],
        "7z": ["--format=7zip"], "iso": ["--format=iso9660"], "cpio": ["--format=newc"], "xar": ["--format=xar"],
    }.items():  # fmt: skip
        subprocess.run(["bsdtar", "-C", tree, *options, "-cf", folder / f"sample.{suffix}", "."], check=True)
    return sorted(folder.glob("sample.*"))
