"""`scripts/bench write`: `-o rw` beside bindfs and the bare folder, in turns, each on a fresh mount: making, writing and
renaming 20,000 files, 2 GB in one file, removing 20,000 files, `git clone` of a local repository; and what is read of all
that, beside the same folder mounted read-only. Sources are in memory where there is room: on a disk its file system's own
time for a new file, which may grow a hundredfold with the files that were just removed, would be most of it."""

import os
import shutil
import signal
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
elif work == "open":
    for number in range(count):
        file = os.open(f"{root}/d{number % 20}/f{number}", os.O_RDONLY)
        os.read(file, 65536)
        os.close(file)
elif work == "read":
    file = os.open(f"{root}/big", os.O_RDONLY)
    while os.read(file, 1 << 20):
        pass
    os.close(file)
elif work == "list":
    for path, folders, files in os.walk(root):
        for name in files:
            os.lstat(os.path.join(path, name))
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
        lines = (f"{number} {line * number * 2654435761 % 1000003}\n" for line in range(100 + number % 400))
        path.write_text("".join(lines))
    git = ["git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=e@x"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
        subprocess.run([*git, *words], check=True)


#: Who is measured, and how it is mounted.
CONTESTANTS = {"native": None, "bindfs": ["bindfs", "-f"], "ffmount": ["-f", "-o", "rw"], "read-only": ["-f"]}


class Mount:
    """A mount for as long as the block takes; none of the bare folder."""

    def __init__(self, name: str, binary: Path, source: Path, mountpoint: Path, cache: Path):
        words = CONTESTANTS[name]
        self.root = mountpoint if words else source
        program = [] if name == "bindfs" else [binary]
        self.command = [*program, *words, source, mountpoint] if words else None
        self.name, self.environment = name, {**os.environ, "XDG_CACHE_HOME": str(cache)}

    def __enter__(self) -> Path:
        if not self.command:
            return self.root
        self.child = subprocess.Popen(
            self.command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while not os.path.ismount(self.root):
            if self.child.poll() is not None or time.monotonic() > end:
                self.end()
                sys.exit(f"bench: {self.name} did not mount")
            time.sleep(0.01)
        return self.root

    def __exit__(self, *_) -> None:
        if self.command:
            self.end()

    def end(self) -> None:
        # What hangs or is still in use is left to the kernel.
        for words in (["-u"], ["-uz"]):
            done = subprocess.run(["fusermount3", *words, self.root], capture_output=True)
            if done.returncode == 0:
                break
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()


def seconds_of(command: list) -> float:
    start = time.monotonic()
    child = subprocess.Popen(command, start_new_session=True)
    try:
        if child.wait(600):
            sys.exit(f"bench: {command[-2:]} failed with {child.returncode}")
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    return time.monotonic() - start


def run(base: Path, binary: Path, small: bool, only: list[str] | None, rounds: int = 3) -> tuple[str, dict, bool]:
    """The table, the same as a document, and whether the acceptance holds."""
    files, megabytes = (FILES // 20, MEGABYTES // 20) if small else (FILES, MEGABYTES)
    memory = Path("/dev/shm")
    has_room = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 6 << 30
    scratch = Path(tempfile.mkdtemp(prefix="ffmount-write.", dir=memory if has_room else base))
    # By name: what is done, and whether the read-only mount does it, too.
    works = {
        f"create, write and rename {files:,}": (["make", files], False),
        f"write {megabytes / 1000:g} GB": (["write", megabytes], False),
        f"open and read {files:,}": (["open", files], True),
        f"read {megabytes / 1000:g} GB": (["read", megabytes], True),
        "list and stat all": (["list", 0], True),
        f"unlink {files:,}": (["remove", files], False),
        "git clone": (None, False),
    }
    seconds: dict[str, dict[str, list[float]]] = {}
    try:
        (scratch / "mnt").mkdir()
        repository(scratch / "repository", 200 if small else 4000)
        for number in range(rounds):
            for name in ("native", "bindfs", "ffmount"):
                source = scratch / f"{name}{number}"
                source.mkdir()
                for row, (words, is_reading) in works.items():
                    # What is read was made by an earlier mount.
                    names = [name, "read-only"] if is_reading and name == "ffmount" else [name]
                    for one in names:
                        with Mount(one, binary, source, scratch / "mnt", scratch / "cache") as root:
                            command = (
                                [sys.executable, "-c", CLIENT, words[0], root, str(words[1])] if words
                                else ["git", "clone", "-q", "--no-hardlinks", scratch / "repository", root / "clone"])
                            seconds.setdefault(row, {}).setdefault(one, []).append(seconds_of(command))
                shutil.rmtree(source)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    wanted = {row: found for row, found in seconds.items() if not only or any(part in row for part in only)}
    return table(wanted, rounds)


def table(seconds: dict[str, dict[str, list[float]]], rounds: int) -> tuple[str, dict, bool]:
    holds, lines, rows = True, [], {}
    for row, found in seconds.items():
        medians = {name: statistics.median(times) for name, times in found.items()}
        ratio = medians["ffmount"] / medians["bindfs"]
        is_reading = "read-only" in medians
        # Reading must not be slower than in a read-only mount, but for what one run differs from the next.
        holds = holds and (medians["ffmount"] <= 1.1 * medians["read-only"] if is_reading else ratio <= LIMIT)
        rows[row] = {**medians, "ratio": ratio, "each": found}
        lines.append(
            f"{row:32}" + "".join(f"{name} {value:6.2f} s  " for name, value in medians.items())
            + f"{ratio:.2f} of bindfs" + ("" if is_reading else f" (at most {LIMIT})"))
    return "\n".join(lines), {"load": os.getloadavg(), "rounds": rounds, "rows": rows}, holds
