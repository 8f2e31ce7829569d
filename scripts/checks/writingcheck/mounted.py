"""A mount that is written to by one of the works of scripts/check writing, and what all of them need."""

import filecmp
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent.parent
SCRIPTS = ROOT / "Tests" / "Scripts"
#: Another user may not reach the interpreter that runs this, which need not know Debian's modules either.
PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable


class Wrong(Exception):
    """What a work found."""


class Mount:
    """A mount of a new folder, which ends with the block; then the source and a new mount must show the same."""

    options = "rw"

    def __init__(self, binary: Path, folder: Path, *options: str):
        self.binary, self.source, self.path = binary, folder / "source", folder / "mount"
        self.options = ",".join([self.options, *options])
        for path in (self.source, self.path):
            path.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Path:
        self.process = subprocess.Popen([self.binary, "-f", "-o", self.options, self.source, self.path])
        end = time.monotonic() + 60
        while not os.path.ismount(self.path):
            if self.process.poll() is not None or time.monotonic() > end:
                raise Wrong("it did not mount")
            time.sleep(0.01)
        return self.path

    def __exit__(self, kind, *_):
        differing: list[str] = []
        try:
            if kind is None and self.process.poll() is None:
                differing = different(self.source, self.path)
        finally:
            gone = self.process.poll()
            subprocess.run(["fusermount3", "-u" if kind is None and not differing else "-uz", self.path], check=kind is None)
            status = ended(self.process, self.path)
            if status is None:
                self.process.kill()
                self.process.wait()
                status = "none within 20 s"
        if differing:
            raise Wrong(f"the mount shows {len(differing)} otherwise, as {differing[0]}")
        if gone is not None or (kind is None and status):
            raise Wrong(f"ffmount ended with status {status}")


def ended(process: subprocess.Popen, path: Path) -> int | None:
    """The status of a process after its mount was unmounted; None if it does not end within 20 s. As long as another mount
    namespace has a copy of the mount, as those of sandboxes and xfstests have, it waits longer."""
    limit = time.monotonic() + 300
    while True:
        try:
            return process.wait(20)
        except subprocess.TimeoutExpired:
            if time.monotonic() > limit or not is_mounted_elsewhere(path):
                return None


def is_mounted_elsewhere(path: Path) -> bool:
    """Whether any process sees a mount with a source beside `path`. The mount itself may have another path there."""
    for file in Path("/proc").glob("[0-9]*/mountinfo"):
        try:
            if f" {path.parent}/" in file.read_text(errors="replace"):
                return True
        except OSError:
            continue
    return False


def different(one: Path, other: Path) -> list[str]:
    """The names below two folders that are not the same: in kind, size, mode, owner, links, or bytes."""
    def described(folder: Path) -> dict[str, tuple]:
        found = {}
        for path, folders, files in os.walk(folder):
            for name in folders + files:
                state = os.lstat(os.path.join(path, name))
                size = 0 if name in folders else state.st_size
                what = (state.st_mode, size, state.st_uid, state.st_gid, state.st_nlink)
                found[os.path.relpath(os.path.join(path, name), folder)] = what
        return found

    ours, theirs = described(one), described(other)
    wrong = [name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)]
    for name, what in ours.items():
        if name not in wrong and stat.S_ISREG(what[0]):
            if not filecmp.cmp(one / name, other / name, shallow=False):
                wrong.append(name)
    return sorted(wrong)


class Run:
    """What one work is given: a new folder, and how long it is to try."""

    def __init__(self, binary: Path, folder: Path, programs: Path, seconds: int, seed: int, operations: int, kills: int):
        self.binary, self.folder, self.programs = binary, folder, programs
        self.seconds, self.seed, self.operations, self.kills = seconds, seed, operations, kills
        self.end = time.monotonic() + seconds
        folder.mkdir(parents=True)

    def mount(self, *options: str) -> Mount:
        return Mount(self.binary, self.folder, *options)

    def goes_on(self) -> bool:
        return time.monotonic() < self.end

    def call(self, *words: object, wanted: int | None = 0, limit: int = 900, **more: object) -> str:
        """What a program says; it must end with the status `wanted`, unless that is None."""
        command = [str(word) for word in words]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=limit, **more)
        if wanted is not None and done.returncode != wanted:
            raise Wrong(f"{' '.join(command)[:200]}: status {done.returncode}: {done.stdout[-3000:]}")
        return done.stdout

    def script(self, name: str, *words: object, limit: int = 0) -> str:
        """Runs a script of Tests/Scripts, which says what is wrong."""
        return self.call(PYTHON, "-B", SCRIPTS / name, *words, limit=limit or self.seconds * 4 + 900).strip()

    def tried(self, name: str, *words: object, first: tuple = ()) -> str:
        """Runs a script with the source and the mount of a new one."""
        mount = self.mount()
        with mount as path:
            said = self.script(name, *first, mount.source, path, *words)
            # What it leaves may have views, which the source has not.
            for entry in path.iterdir():
                if entry.is_dir() and not entry.is_symlink() and os.access(entry, os.W_OK):
                    removed(entry)
                elif os.access(mount.source / entry.name, os.F_OK, follow_symlinks=False):
                    entry.unlink()
        return said


def removed(folder: Path) -> None:
    """Removes a folder of a mount, whose views go with their files: only rm(1) does not mind."""
    subprocess.run(["rm", "-rf", folder], check=True)


def kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass
