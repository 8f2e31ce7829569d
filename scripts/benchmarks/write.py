"""`scripts/bench write`: `-o rw` beside bindfs and the bare folder, in turns, each on a fresh mount: making, writing and
renaming 20,000 files, 2 GB in one file, removing 20,000 files, `git clone` of a local repository."""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

#: The acceptance limit: of bindfs's wall time, in each row.
LIMIT = 0.7
FILES = 20_000
MEGABYTES = 2_000
#: One program for all: each round trip of a call counts, and nothing else.
CLIENT = r"""
import os, sys
work, root, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
if work == "make":
    data = b"x" * 4096
    for folder in range(20):
        os.mkdir(f"{root}/d{folder}")
    for number in range(count):
        name = f"{root}/d{number % 20}/f{number}"
        file = os.open(name + ".new", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        os.write(file, data)
        os.close(file)
        os.rename(name + ".new", name)
elif work == "write":
    data = b"y" * (1 << 20)
    file = os.open(f"{root}/big", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    for _ in range(count):
        os.write(file, data)
    os.close(file)
elif work == "remove":
    for number in range(count):
        os.unlink(f"{root}/d{number % 20}/f{number}")
"""


def repository(folder: Path, files: int) -> None:
    """A repository of files of 1 to 8 KB, in one commit."""
    folder.mkdir()
    for number in range(files):
        path = folder / f"d{number % 40}" / f"f{number}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{number} {line * number * 2654435761 % 1000003}\n" for line in range(100 + number % 400)))
    git = ["git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=e@x"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
        subprocess.run([*git, *words], check=True)


def mounted(name: str, binary: Path, source: Path, mountpoint: Path, cache: Path) -> subprocess.Popen | None:
    if name == "native":
        return None
    command = ["bindfs", "-f", source, mountpoint] if name == "bindfs" else [binary, "-f", "-o", "rw", source, mountpoint]
    child = subprocess.Popen(
        command, env={**os.environ, "XDG_CACHE_HOME": str(cache)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 20
    while not os.path.ismount(mountpoint):
        if child.poll() is not None or time.monotonic() > end:
            sys.exit(f"bench: {name} did not mount")
        time.sleep(0.01)
    return child


def run(base: Path, binary: Path, small: bool, only: list[str] | None, rounds: int = 3) -> tuple[str, dict, bool]:
    """The table, the same as a document, and whether the acceptance holds."""
    files, megabytes = (FILES // 20, MEGABYTES // 20) if small else (FILES, MEGABYTES)
    scratch = Path(tempfile.mkdtemp(prefix="write.", dir=base))
    seconds: dict[str, dict[str, list[float]]] = {}
    try:
        repository(scratch / "repository", 200 if small else 4000)
        works = {
            f"create, write and rename {files:,}": ["make", files],
            f"write {megabytes / 1000:g} GB": ["write", megabytes],
            f"unlink {files:,}": ["remove", files],
            "git clone": None,
        }
        for number in range(rounds):
            for name in ("native", "bindfs", "ffmount"):
                source, mountpoint = scratch / f"{name}{number}", scratch / "mnt"
                source.mkdir()
                mountpoint.mkdir(exist_ok=True)
                child = mounted(name, binary, source, mountpoint, scratch / "cache")
                root = source if child is None else mountpoint
                try:
                    for row, words in works.items():
                        if only and not any(part in row for part in only) and not words:
                            continue
                        command = (
                            [sys.executable, "-c", CLIENT, words[0], root, str(words[1])] if words
                            else ["git", "clone", "-q", "--no-hardlinks", scratch / "repository", root / "clone"])
                        start = time.monotonic()
                        subprocess.run(command, check=True)
                        seconds.setdefault(row, {}).setdefault(name, []).append(time.monotonic() - start)
                finally:
                    if child:
                        subprocess.run(["fusermount3", "-u", mountpoint], check=True)
                        child.wait(10)
                    shutil.rmtree(source)
                    os.sync()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    holds, lines, rows = True, [], {}
    for row, found in seconds.items():
        medians = {name: statistics.median(times) for name, times in found.items()}
        ratio = medians["ffmount"] / medians["bindfs"]
        holds = holds and ratio <= LIMIT
        rows[row] = {**medians, "ratio": ratio}
        lines.append(
            f"{row:36}" + "".join(f"{name} {value:7.2f} s   " for name, value in medians.items())
            + f"{ratio:.2f} of bindfs (at most {LIMIT})")
    return "\n".join(lines), {"load": os.getloadavg(), "rounds": rounds, "rows": rows}, holds
