"""`scripts/bench archives`: compressed archives, beside the file systems that people mount them with."""

import shutil
import subprocess
import sys
from pathlib import Path

from .inputs import Inputs
from .measure import client
from .packed import FORMATS
from .rows import Contestant, Row, Session
from .zips import NATIVE, ratarmount

FUSE_ARCHIVE = "https://github.com/google/fuse-archive"
#: As the archives are, so that nobody is at a disadvantage, and all streams are the same.
TAR = ["--sort=name", "--owner=0", "--group=0", "--mtime=2024-05-03", "--mode=a=r"]


def sessions(inputs: Inputs, ours: list[Contestant], environment: Path, base: Path) -> list[Session]:
    contestants = [NATIVE, Contestant("ratarmount", ratarmount(environment / "bin" / "ratarmount"))]
    if program := fuse_archive(base):
        contestants.append(Contestant("fuse-archive", _fuse_archive(program)))
    contestants += ours
    small, big = inputs.packed_files(), inputs.packed_big()
    found = []
    for suffix in FORMATS:
        found += _small(suffix, small, contestants)
        found += _big(suffix, big, contestants)
    return found + _kinds(inputs, ours)


def _mounted(name: str) -> Row:
    """Mounting and listing everything, as one."""
    return Row(name, lambda root, _: [["ls", "-lR", f"{root}"]], mounts=True, counts_all=True)


def _again(name: str) -> list[Row]:
    """Mounting a second time."""
    return [
        Row(f"{name}: remount, ls", mounts=True, counts_all=True),
        Row(f"{name}: ls -lR then", lambda root, _: [["ls", "-lR", f"{root}"]], counts_all=True),
    ]


def _small(suffix: str, folder: Path, contestants: list[Contestant]) -> list[Session]:
    name = f"100,000 in {suffix}"
    reading = Row(
        f"{name}: tar c",
        lambda root, _: [["tar", "-C", f"{root}", *TAR, "-cf", "-", "."], *client("digest")],
        counts_all=True,
    )
    rows = [_mounted(f"{name}: mount, ls -lR"), reading, *_again(name)]
    return [Session(folder / f"tree.{suffix}", folder / "tree", contestants, rows)]


def _big(suffix: str, folder: Path, contestants: list[Contestant]) -> list[Session]:
    name = f"1 GB in {suffix}"

    def random_reads(when: str, seed: int) -> Row:
        return Row(
            f"{name}: 200 reads, {when}",
            lambda root, _: client("pread", f"{root}/member.bin", seed, 200, 1 << 16),
            counts_all=True,
        )

    def reading(when: str) -> Row:
        work = lambda root, _: [["cat", f"{root}/member.bin"], *client("digest")]  # noqa: E731
        return Row(f"{name}: cat{when}", work, counts_all=True)

    first = [
        _mounted(f"{name}: mount, ls -lR"),
        random_reads("first", 3),
        random_reads("elsewhere", 4),
        *_again(name),
        random_reads("after remount", 5),
    ]
    later = [_mounted(f"{name}: mount, ls"), reading(""), random_reads("after cat", 1)]
    tree = folder / "tree"
    return [Session(folder / f"tree.{suffix}", tree, contestants, rows) for rows in (first, later)]


def _kinds(inputs: Inputs, ours: list[Contestant]) -> list[Session]:
    """A folder of archives as a folder, beside one of texts."""
    folder = inputs.kinds()

    def rows(name: str) -> list[Row]:
        return [
            Row(f"10,000 {name}: mount, ls", mounts=True),
            Row(f"10,000 {name}: ls -l", lambda root, _: [["ls", "-l", f"{root}"]], counts_all=True),
            Row(f"10,000 {name}: ls -l again", lambda root, _: [["ls", "-l", f"{root}"]], counts_all=True),
        ]

    return [
        Session(folder / name, folder / name, [NATIVE, *ours], rows(what))
        for name, what in {"kinds": "archives", "texts": "texts"}.items()
    ]


def _fuse_archive(program: str):
    return lambda source, mountpoint, _: [program, "-f", "-q", "-o", "notrim", str(source), str(mountpoint)]


def fuse_archive(base: Path) -> str | None:
    """The program on the PATH, or else built from its source; nil if that cannot be had."""
    if program := shutil.which("fuse-archive"):
        return program
    folder = base / "fuse-archive"
    program = folder / "out" / "fuse-archive"
    if program.exists():
        return str(program)
    print("building fuse-archive", file=sys.stderr)
    clang = shutil.which("clang++") or "/opt/swift/usr/bin/clang++"
    steps = [
        # Its tests need not be there.
        ["git", "clone", "--quiet", "--depth", "1", "--no-checkout", FUSE_ARCHIVE, str(folder)],
        ["git", "-C", str(folder), "checkout", "--quiet", "HEAD", "--", ":!tests"],
        # It is C++23, which Debian's g++ does not know yet, and the Clang beside Swift does.
        ["make", "-C", str(folder), f"CXX={clang}", "CXXFLAGS=-w", "HAS_GTEST=no", "out/fuse-archive"],
    ]
    for step in steps[0 if not folder.exists() else 2 :]:
        try:
            done = subprocess.run(step, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=600)
        except (OSError, subprocess.TimeoutExpired):
            done = None
        if done is None or done.returncode != 0:
            print(f"bench: fuse-archive cannot be had ({step[0]} failed); it is left out", file=sys.stderr)
            return None
    return str(program)
