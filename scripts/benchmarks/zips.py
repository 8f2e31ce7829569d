"""`scripts/bench zip`: archives, beside the file systems that people mount them with."""

import tempfile
from pathlib import Path

from .inputs import Inputs
from .measure import client
from .rows import Contestant, Row, Session

NATIVE = Contestant("native", None)


def peers(program: Path) -> list[Contestant]:
    return [
        Contestant("fuse-zip", lambda source, mountpoint, _: ["fuse-zip", "-r", "-f", str(source), str(mountpoint)]),
        Contestant(
            "archivemount",
            lambda source, mountpoint, _: ["archivemount", "-o", "readonly", "-f", str(source), str(mountpoint)],
        ),
        Contestant("ratarmount", ratarmount(program)),
    ]


def ratarmount(program: Path, *options: str):
    return lambda source, mountpoint, kept: [
        str(program), "-f", "--index-folders", str(kept), *options, str(source), str(mountpoint)
    ]  # fmt: skip


def mount_zip(program: Path) -> Contestant:
    return Contestant("mount-zip", lambda source, mountpoint, _: [str(program), "-f", str(source), str(mountpoint)])


def sessions(inputs: Inputs, ours: list[Contestant], environment: Path, scratch: Path, beside: list[Contestant]) -> list[Session]:
    """`beside` are peers that are given by options."""
    python = str(environment / "bin" / "python3")
    program = environment / "bin" / "ratarmount"
    contestants = [NATIVE, *peers(program), *beside, *ours]
    small = inputs.small_entries()
    files, deflated, stored = inputs.files(), inputs.deflated(), inputs.stored()

    def session(source: tuple[Path, Path], *rows: Row) -> Session:
        return Session(*source, contestants, list(rows))

    def cat(name: str, member: str, **limits) -> Row:
        return Row(name, lambda root, _: [["cat", f"{root}/{member}"]], limits=limits)

    def random_reads(when: str, seed: int) -> Row:
        count, size = 200, 1 << 16
        return Row(
            f"200 random reads, {when}",
            lambda root, _: client("pread", f"{root}/member.bin", seed, count, size),
        )

    def entries(root: Path, _: Path):
        return client("entries", small[1], root, inputs.scaled(10_000))

    unzip = {"unzip -p": [["unzip", "-p", str(files[0])], ["cat"]]}
    inflating = {"unzip -p": [["unzip", "-p", str(deflated[0])], ["cat"]]} | {
        name: client("inflate", library, deflated[0], python=python)
        for name, library in {"zlib": "zlib", "libdeflate": "libdeflate", "ISA-L": "isal"}.items()
    }
    return [
        session(
            files,
            Row("100,000: mount, first ls", mounts=True),
            Row("100,000: remount", mounts=True),
        ),
        session(files, Row("100,000: find", lambda root, _: [["find", f"{root}"]])),
        session(files, Row("100,000: ls -lR", lambda root, _: [["ls", "-lR", f"{root}"]])),
        session(
            files,
            Row(
                "100,000: tar c",
                lambda root, _: [["tar", "-C", f"{root}", "-cf", "-", "."], ["cat"]],
                limits=unzip,
            ),
        ),
        session(
            files,
            Row("100,000: cp -r", lambda root, copies: [["cp", "-r", f"{root}/.", f"{copies}/tree"]]),
        ),
        session(small, Row("20,000 small: open, read, close 10,000, each", entries, unit="µs")),
        session(small, Row("20,000 small: ls -lR", lambda root, _: [["ls", "-lR", f"{root}"]])),
        session(
            small,
            Row("20,000 small: tar c", lambda root, _: [["tar", "-C", f"{root}", "-cf", "-", "."], ["cat"]]),
        ),
        session(
            deflated,
            Row("1 GB deflated: mount, first ls", mounts=True),
            cat("1 GB deflated: cat", "member.bin", **inflating),
            cat("1 GB deflated: cat again", "member.bin"),
            random_reads("after cat", 1),
            Row("1 GB deflated: remount", mounts=True),
            random_reads("after cat, remount", 2),
        ),
        session(
            deflated,
            random_reads("first", 3),
            random_reads("again", 3),
            random_reads("elsewhere", 4),
            Row("1 GB deflated: remount 2", mounts=True),
            random_reads("after remount", 5),
        ),
        session(
            stored,
            Row("2 GB stored: mount, first ls", mounts=True),
            cat("2 GB stored: cat", "big.bin", **{"unzip -p": [["unzip", "-p", str(stored[0])], ["cat"]]}),
            cat("2 GB stored: cat again", "big.bin"),
            Row("2 GB stored: remount", mounts=True),
        ),
        *_folders_of_archives(inputs, ours, program, scratch),
    ]


def _folders_of_archives(
    inputs: Inputs, ours: list[Contestant], program: Path, scratch: Path
) -> list[Session]:
    source = inputs.archives()
    contestants = [NATIVE, Contestant("ratarmount", ratarmount(program, "--recursive")), *ours]
    # An archive that a client replaces.
    changing = Path(tempfile.mkdtemp(prefix="changing.", dir=scratch))
    (changing / "archive.zip").touch()
    return [
        Session(
            *source,
            contestants,
            [
                Row("1,000 ZIPs: mount, first ls", mounts=True),
                Row("1,000 ZIPs: ls -l of 100", lambda root, _: [["ls", "-l", f"{root}/d7"]]),
                Row("1,000 ZIPs: find everything", lambda root, _: [["find", f"{root}"]]),
                Row("1,000 ZIPs: remount", mounts=True),
            ],
        ),
        Session(
            changing,
            None,
            ours,
            [
                Row(
                    "1,000 ZIPs: a replaced one seen",
                    lambda root, _: client(
                        "replaced", changing / "archive.zip", f"{root}/archive.zip.contents"
                    ),
                )
            ],
        ),
    ]
