"""`ffmount http://…` beside curl and rclone's mount by WebDAV, and what it costs when each request takes 30 ms."""

import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

US = "ffmount"
PEER = "rclone, WebDAV"
CURL = "curl"
SERVER, LATE = 4490, 4491
LARGE = 256 << 20
LISTED, DEEP, SMALL_FILES = 10_000, 100, 1000
ROUNDS = 3
#: What reading a file must be of curl's rate.
LEAST_RATE = 0.7
#: One way, in milliseconds.
DELAY = 15


def make(source: Path, small: bool) -> None:
    if (source / "hundred.bin").exists():
        return
    part = 50 if small else 1
    for folder, count, size in (("many", LISTED // part, 10), ("small", SMALL_FILES // part, 4096), ("a/b/c", 1, 10)):
        (source / folder).mkdir(parents=True, exist_ok=True)
        for number in range(count):
            (source / folder / f"{number:05}.txt").write_bytes(os.urandom(size // 2).hex().encode())
    for number in range(DEEP):
        folder = source / "deep" / f"{number:03}"
        folder.mkdir(parents=True)
        for name in range(1000 // part):
            (folder / f"{name:04}").touch()
    for name, size in (("large.bin", LARGE), ("hundred.bin", 100 << 20)):
        with (source / name).open("wb") as file:
            for _ in range(size // part >> 20):
                file.write(os.urandom(1 << 20))


class Mount:
    """A mount while it runs."""

    def __init__(self, words: list[str], folder: Path):
        self.folder = folder
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(400):
            if os.path.ismount(folder):
                return
            time.sleep(0.05)
        self.process.kill()
        sys.exit(f"bench: {words} does not mount")

    @property
    def memory(self) -> int:
        return int(re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{self.process.pid}/status").read_text()).group(1)) << 10

    def stop(self) -> None:
        subprocess.run(["fusermount3", "-u", self.folder], check=False)
        self.process.wait(20)


def timed(command: str, folder: Path) -> float:
    start = time.monotonic()
    subprocess.run(["bash", "-c", command], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


TASKS = {
    "read 256 MB, MB/s": "cat large.bin",
    "ls -l of 10,000, s": "ls -l many",
    "find in 100,000, s": "find deep",
    "read 1,000 files of 4 KB, files/s": "cat small/*",
}


def words(kind: str, program: Path, folder: Path, port: int) -> list[str]:
    if kind == US:
        return [str(program), "-f", f"http://127.0.0.1:{port}", str(folder)]
    return ["rclone", "mount", ":webdav:", str(folder), "--read-only", "--webdav-url", f"http://127.0.0.1:{port}/dav",
            "--dir-cache-time", "1s", "--config", "/dev/null"]


def beside(program: Path, source: Path, folder: Path, peers: list[str], small: bool) -> tuple[list[str], dict, list[str]]:
    found: dict[str, dict[str, list[float]]] = {}
    for _ in range(ROUNDS):
        start = time.monotonic()
        subprocess.run(["curl", "-s", "-o", "/dev/null", f"http://127.0.0.1:{SERVER}/api/file?path=/large.bin"], check=True)
        found.setdefault("read 256 MB, MB/s", {}).setdefault(CURL, []).append(time.monotonic() - start)
        for kind in [US, *peers]:
            for task, command in TASKS.items():
                # Fresh: nothing is in the kernel's memory.
                mount = Mount(words(kind, program, folder, SERVER), folder)
                try:
                    found.setdefault(task, {}).setdefault(kind, []).append(timed(command, folder))
                    found.setdefault(f"memory: {task.rsplit(', ', 1)[0]}, MB", {}).setdefault(kind, []).append(mount.memory / 1e6)
                finally:
                    mount.stop()
    sizes = {"MB/s": (LARGE // (50 if small else 1)) / 1e6, "files/s": SMALL_FILES // (50 if small else 1)}
    rows, document = [], {}
    for task, kinds in found.items():
        size = sizes.get(task.split(", ")[-1])
        values = {kind: statistics.median(size / each if size else each for each in times) for kind, times in kinds.items()}
        document[task] = values
        rows.append(f"| {task} | " + " | ".join(f"{values[kind]:,.2f}" if kind in values else "–" for kind in [US, PEER, CURL]) + " |")
    rate = document["read 256 MB, MB/s"][US] / document["read 256 MB, MB/s"][CURL]
    return rows, document, [f"reading: {rate:.2f} of curl's rate"] if rate < LEAST_RATE else []


def late(program: Path, folder: Path) -> tuple[list[str], dict]:
    """Seconds and requests of a new mount, when each takes 30 ms."""
    proxy = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("delay.py"), str(LATE), str(SERVER), str(DELAY)], stdout=subprocess.PIPE, text=True)
    proxy.stdout.readline()

    def requests() -> int:
        proxy.send_signal(signal.SIGUSR1)
        return int(proxy.stdout.readline())

    rows, document = [], {}
    try:
        for task, command in {
            "ls": "ls", "ls -l of 10,000": "ls -l many", "read a/b/c/00000.txt": "cat a/b/c/00000.txt",
            "read 100 MB": "cat hundred.bin", "read its end": "tail -c 100 hundred.bin", "read 100 files": "cat small/000*",
        }.items():
            mount = Mount(words(US, program, folder, LATE), folder)
            try:
                requests()
                seconds = timed(command, folder)
                count = requests()
            finally:
                mount.stop()
            document[task] = {"seconds": seconds, "requests": count}
            rows.append(f"| {task} | {seconds:.2f} | {count} |")
    finally:
        proxy.terminate()
        proxy.wait()
    return rows, document


def run(base: Path, binary: Path, small: bool) -> tuple[str, dict, bool]:
    """The tables, the same as a document, and whether the acceptance holds."""
    source = base / ("remote-small" if small else "remote")
    make(source, small)
    peers = [PEER] if shutil.which("rclone") else []
    scratch = Path(tempfile.mkdtemp(prefix="ffmount-remote."))
    server = subprocess.Popen(
        [binary.parent / "ffserve", source, "--port", str(SERVER)], stdout=subprocess.PIPE, text=True)
    try:
        while "Stop" not in server.stdout.readline():
            pass
        rows, document, failures = beside(binary, source, scratch, peers, small)
        slow, document["30 ms"] = late(binary, scratch)
    finally:
        server.terminate()
        server.wait(10)
        shutil.rmtree(scratch, ignore_errors=True)
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    text = "\n".join(
        [f"| | {US} | {PEER} | {CURL} |", "|---|---|---|---|", *rows, "", "| 30 ms a request | seconds | requests |", "|---|---|---|",
         *slow, "", f"Load: {load}. " + ("Not met: " + "; ".join(failures) if failures else "All limits are met.")])
    return text, {"benchmark": "remote", "rows": document, "not met": failures}, not failures
