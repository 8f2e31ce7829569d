"""`scripts/bench kept`: a mount with a keeper beside the same with one process, in turns: names and sizes, many small files, a
large one; then what the keeper and the table of nodes take."""

import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

#: The acceptance limits: times beside one process, the keeper's memory in kB, a node's in bytes.
SLOWEST, LARGEST, WIDEST = 1.03, 2048, 100
FILES, MEGABYTES = 20_000, 1_000
WORKS = {
    "list and stat": 'find "$0/many" -type f -printf "%s\\n" | wc -l',
    "stat again": 'find "$0/many" -type f -newermt 2001-01-01 | wc -l',
    "read small files": 'tar -C "$0" -cf - many | wc -c',
    "read a large file": 'dd if="$0/large" bs=1M 2>/dev/null | wc -c',
}


class Mounted:
    def __init__(self, binary: Path, source: Path, path: Path, kept: bool):
        self.binary, self.path = binary, path
        supervise = f"supervise={'on' if kept else 'off'}"
        self.process = subprocess.Popen([binary, "-f", "-o", supervise, source, path])
        while not os.path.ismount(path):
            if self.process.poll() is not None:
                sys.exit("bench: it does not mount")
            time.sleep(0.01)

    def __enter__(self) -> "Mounted":
        return self

    def __exit__(self, *_) -> None:
        subprocess.run(["fusermount3", "-u", self.path], check=True)
        self.process.wait(20)


def shared(process: int) -> int:
    """The bytes of the memory that a keeper shares."""
    folder = Path(f"/proc/{process}/fd")
    return next(os.stat(file).st_blocks * 512 for file in folder.iterdir() if "memfd:" in os.readlink(file))


def run(base: Path, binary: Path, small: bool, rounds: int) -> tuple[str, dict, bool]:
    """The table, the same as a document, and whether the acceptance holds."""
    files, megabytes = (FILES // 20, MEGABYTES // 20) if small else (FILES, MEGABYTES)
    scratch = Path(tempfile.mkdtemp(prefix="kept.", dir=base))
    source, path = scratch / "source", scratch / "mount"
    times: dict[str, dict[bool, list[float]]] = {work: {True: [], False: []} for work in WORKS}
    try:
        (source / "many").mkdir(parents=True)
        path.mkdir()
        for number in range(files):
            (source / "many" / f"file {number:06}.dat").write_bytes(b"x" * (number % 5000))
        with open(source / "large", "wb") as large:
            for _ in range(megabytes):
                large.write(os.urandom(1 << 16) * 16)
        for turn in range(rounds + 1):
            for kept in random.sample([True, False], 2):
                with Mounted(binary, source, path, kept):
                    for work, command in WORKS.items():
                        start = time.perf_counter()
                        subprocess.run(["sh", "-c", command, path], check=True, stdout=subprocess.DEVNULL)
                        # The first turn brings the source into the cache.
                        if turn > 0:
                            times[work][kept].append(time.perf_counter() - start)
        with Mounted(binary, source, path, True) as mount:
            before = shared(mount.process.pid)
            subprocess.run(["find", path, "-printf", "%s"], check=True, stdout=subprocess.DEVNULL)
            node = (shared(mount.process.pid) - before) / files
            status = Path(f"/proc/{mount.process.pid}/status").read_text()
            keeper = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    medians = {work: {kept: statistics.median(all) for kept, all in row.items()} for work, row in times.items()}
    ratios = {work: row[True] / row[False] for work, row in medians.items()}
    lines = [f"| {work} | {row[False]:.3f} s | {row[True]:.3f} s ({ratios[work]:.3f}×) | ≤ {SLOWEST:g}× |"
             for work, row in medians.items()]
    lines += [f"| the keeper's memory | | {keeper:,} kB | ≤ {LARGEST:,} kB |",
              f"| a node in the shared table, with a name of 15 bytes | | {node:.0f} bytes | ≤ {WIDEST} bytes |"]
    text = "| Work | one process | with a keeper | limit |\n| --- | ---: | ---: | ---: |\n" + "\n".join(lines) + "\n"
    results = {"benchmark": "kept", "seconds": {work: {str(kept): all for kept, all in row.items()} for work, row in times.items()}}
    holds = max(ratios.values()) <= SLOWEST and keeper <= LARGEST and node <= WIDEST
    return text, results, holds
