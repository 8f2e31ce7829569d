"""The trees and archives that are measured. Made once, the same on every machine, and kept."""

import mailbox
import os
import random
import shutil
import string
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from . import films, letters, manuals, packed, photos

MEBIBYTE = 1 << 20
DATE = (2024, 5, 3, 9, 30, 0)


class Inputs:
    """The inputs below one folder, at full size or a fiftieth of it."""

    def __init__(self, folder: Path, small: bool) -> None:
        self.folder = folder / ("small" if small else "full")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.divisor = 50 if small else 1

    def scaled(self, count: int) -> int:
        return count // self.divisor

    # For the mirror.

    def big(self) -> Path:
        """A folder with `big.bin`, 2 GB that do not compress."""
        return self._made("big", lambda folder: self._write_noise(folder / "big.bin", 2_000_000_000))

    def tree(self) -> Path:
        """200,000 files of a few hundred bytes in 200 folders."""

        def make(folder: Path) -> None:
            for index in range(200):
                _write_files(folder / f"d{index:03}", self.scaled(1000), 100, 700, index)

        return self._made("tree", make)

    def flat(self) -> Path:
        """A folder whose only folder, `files`, has 100,000 entries."""
        return self._made(
            "flat", lambda folder: _write_files(folder / "files", self.scaled(100_000), 0, 1, 7)
        )

    # For archives. Beside each archive is the same tree of real files.

    def files(self) -> tuple[Path, Path]:
        """100,000 files of 9 KB on average in 100 folders: the archive and the tree."""

        def make(folder: Path) -> None:
            noise, text = random.Random(1), _text(1, 32 * MEBIBYTE // min(self.divisor, 8))
            with zipfile.ZipFile(folder / "files.zip", "w") as archive:
                for index in range(100):
                    (folder / "files" / f"d{index:02}").mkdir(parents=True)
                    for number in range(self.scaled(1000)):
                        start = noise.randrange(len(text) - 20_000)
                        data = text[start : start + noise.randrange(18_800)]
                        _add(archive, folder / "files", f"d{index:02}/f{number:04}.txt", data)

        folder = self._made("files", make)
        return folder / "files.zip", folder / "files"

    def small_entries(self) -> tuple[Path, Path]:
        """20,000 texts of 360 bytes in plain folders of 1,000, each of another time: the archive and the tree."""

        def make(folder: Path) -> None:
            noise, text = random.Random(12), _text(12, MEBIBYTE)
            with zipfile.ZipFile(folder / "small.zip", "w") as archive:
                for number in range(self.scaled(20_000)):
                    name = f"d{number // 1000:02}/f{number:05}.txt"
                    (folder / "files" / name).parent.mkdir(parents=True, exist_ok=True)
                    start = noise.randrange(len(text) - 360)
                    entry = _entry(name)
                    entry.date_time = (2000 + number % 24, 1 + number % 12, 1 + number % 28, number % 24, number % 60, 0)
                    archive.writestr(entry, text[start : start + 360])
                    (folder / "files" / name).write_bytes(text[start : start + 360])

        folder = self._made("small-entries", make)
        return folder / "small.zip", folder / "files"

    def deflated(self) -> tuple[Path, Path]:
        """One deflated member of 1 GB, `member.bin`: the archive and the tree."""

        def make(folder: Path) -> None:
            noise, text = random.Random(2), _text(2, 32 * MEBIBYTE // min(self.divisor, 8))
            (folder / "files").mkdir()
            with (
                zipfile.ZipFile(folder / "deflated.zip", "w") as archive,
                archive.open(_entry("member.bin"), "w", force_zip64=True) as member,
                open(folder / "files" / "member.bin", "wb") as file,
            ):
                # Slices of a pool far larger than Deflate's window, so that none helps compress another.
                for _ in range(self.scaled(1_150_000_000) // 50_000):
                    start = noise.randrange(len(text) - 50_000)
                    member.write(text[start : start + 50_000])
                    file.write(text[start : start + 50_000])

        folder = self._made("deflated", make)
        return folder / "deflated.zip", folder / "files"

    def stored(self) -> tuple[Path, Path]:
        """One stored member of 2 GB, `big.bin`: the archive and the tree."""
        tree = self.big()

        def make(folder: Path) -> None:
            with zipfile.ZipFile(folder / "stored.zip", "w", zipfile.ZIP_STORED) as archive:
                entry = _entry("big.bin", zipfile.ZIP_STORED)
                with (
                    open(tree / "big.bin", "rb") as file,
                    archive.open(entry, "w", force_zip64=True) as member,
                ):
                    shutil.copyfileobj(file, member, MEBIBYTE)

        return self._made("stored", make) / "stored.zip", tree

    def archives(self) -> tuple[Path, Path]:
        """1,000 archives of 26 entries in 10 folders: the tree of archives and the tree unpacked."""

        def make(folder: Path) -> None:
            noise, text = random.Random(3), _text(3, MEBIBYTE)
            for index in range(self.scaled(1000)):
                below = f"d{index * 10 // self.scaled(1000)}"
                name = f"{below}/archive{index:03}.zip"
                (folder / "archives" / below).mkdir(parents=True, exist_ok=True)
                with zipfile.ZipFile(folder / "archives" / name, "w") as archive:
                    for number in range(26):
                        start = noise.randrange(len(text) - 4000)
                        data = text[start : start + noise.randrange(4000)]
                        entry = f"part{number % 3}/f{number:02}.txt"
                        (folder / "files" / name / entry).parent.mkdir(parents=True, exist_ok=True)
                        _add(archive, folder / "files" / name, entry, data)

        folder = self._made("archives", make)
        return folder / "archives", folder / "files"

    def packed_files(self) -> Path:
        """A tree of 100,000 files of 2.5 KB on average, and archives of it: see `packed.FORMATS`."""
        text = _text(11, 8 * MEBIBYTE)
        return self._made("packed-files", lambda folder: packed.write_small(folder, text, self.scaled(100_000)))

    def packed_big(self) -> Path:
        """A tree with the file of `deflated`, and archives of it."""
        file = self.deflated()[1] / "member.bin"
        return self._made("packed-big", lambda folder: packed.write_big(folder, file))

    def kinds(self) -> Path:
        """10,000 archives of all kinds in a folder, `kinds`, and as many texts in `texts`."""

        def make(folder: Path) -> None:
            samples = folder / "samples"
            (samples / "tree" / "part").mkdir(parents=True)
            for number in range(5):
                (samples / "tree" / "part" / f"f{number}.txt").write_bytes(_text(number, 2000))
            packed.write_kinds(folder, packed.samples(samples), self.scaled(10_000))

        return self._made("kinds", make)

    # For mail.

    def mail(self, copies: int = 1) -> Path:
        """An archive of 52,000 messages, 1.26 GB, or that many copies of it one after the other: its folder."""

        def make(folder: Path) -> None:
            if copies == 1:
                letters.write(folder / "archive.mbox", self.scaled(52_000))
                return
            with open(folder / "archive.mbox", "wb") as file:
                for _ in range(copies):
                    with open(self.mail() / "archive.mbox", "rb") as copy:
                        shutil.copyfileobj(copy, file, MEBIBYTE)

        return self._made("mail" if copies == 1 else f"mail-{copies}", make)

    def maildir(self) -> Path:
        """The same archive as a Maildir, a file a message: the folder with `cur`, `new` and `tmp` in it."""

        def make(folder: Path) -> None:
            for name in ("cur", "new", "tmp"):
                (folder / "archive" / name).mkdir(parents=True)
            box = mailbox.mbox(self.mail() / "archive.mbox", create=False)
            for number, key in enumerate(box.iterkeys()):
                (folder / "archive" / "cur" / f"{number:06}.bench:2,S").write_bytes(box.get_bytes(key))

        return self._made("maildir", make) / "archive"

    def short_maildir(self) -> Path:
        """A Maildir of 100,000 messages of some 400 bytes, which all may read: the folder with `cur`, `new` and `tmp`."""

        def make(folder: Path) -> None:
            for name in ("cur", "new", "tmp"):
                (folder / "archive" / name).mkdir(parents=True)
            for number, message in enumerate(letters.short(self.scaled(100_000))):
                (folder / "archive" / "cur" / f"{number:06}.bench:2,S").write_bytes(message)

        return self._made("short-maildir", make) / "archive"

    def million(self) -> Path:
        """An archive of 1,000,000 messages of some 400 bytes: its folder."""

        def make(folder: Path) -> None:
            with open(folder / "archive.mbox", "wb", buffering=MEBIBYTE) as file:
                for message in letters.short(self.scaled(1_000_000)):
                    file.write(b"From person@example.com Fri May  3 09:30:00 2024\n" + message + b"\n")

        return self._made("million", make)

    # For images.

    def photos(self) -> Path:
        """A folder of pictures like photographs: see `photos.write`."""
        return self._made("photos", lambda folder: photos.write(folder, self.divisor))

    def films(self) -> Path:
        """A folder of sound and film: see `films.write`."""
        return self._made("films", lambda folder: films.write(folder, self.divisor))

    # For PDFs.

    def manuals(self) -> Path:
        """Manuals of some hundred to 2,400 pages, and `tiny.pdf` of 2,400 pages: their folder."""

        def make(folder: Path) -> None:
            packages = list(manuals.MANUALS)
            manuals.fetch(folder, packages[:2] if self.divisor > 1 else packages)
            manuals.write_tiny(folder / "tiny.pdf", self.scaled(2400))

        return self._made("manuals", make)

    def scan(self) -> Path:
        """`scan.pdf`, 60 pages of A4 that are each a JPEG of 150 dpi: its folder."""

        def make(folder: Path) -> None:
            manuals.write_scan(folder / "scan.pdf", self.manuals() / "octave.pdf", max(2, self.scaled(60)))

        return self._made("scan", make)

    def _made(self, name: str, make: Callable[[Path], None]) -> Path:
        folder, partial = self.folder / name, self.folder / f"{name}.partial"
        if not folder.exists():
            print(f"making {folder}", file=sys.stderr)
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            make(partial)
            os.sync()
            partial.rename(folder)
        return folder

    def _write_noise(self, path: Path, size: int) -> None:
        block = random.Random(4).randbytes(16 * MEBIBYTE)
        with open(path, "wb") as file:
            left = self.scaled(size)
            while left > 0:
                left -= file.write(block[:left])


def _text(seed: int, size: int) -> bytes:
    """Words as frequent as in real text, which Deflate takes to about 40%."""
    noise = random.Random(seed)
    words = ["".join(noise.choices(string.ascii_lowercase, k=noise.randint(2, 11))) for _ in range(20_000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    text = " ".join(noise.choices(words, weights, k=size // 6)).encode()
    while len(text) < size:
        text += text
    return text[:size]


def _write_files(folder: Path, count: int, smallest: int, largest: int, seed: int) -> None:
    noise = random.Random(seed)
    data = noise.randbytes(largest)
    folder.mkdir()
    directory = os.open(folder, os.O_DIRECTORY)
    for number in range(count):
        file = os.open(f"f{number:06}.txt", os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=directory)
        os.write(file, data[: noise.randint(smallest, largest)])
        os.close(file)
    os.close(directory)


def _entry(name: str, method: int = zipfile.ZIP_DEFLATED) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, DATE)
    entry.compress_type = method
    entry.create_system = 3
    entry.external_attr = 0o100644 << 16
    return entry


def _add(archive: zipfile.ZipFile, tree: Path, name: str, data: bytes) -> None:
    archive.writestr(_entry(name), data)
    (tree / name).write_bytes(data)
