"""`scripts/bench library`: the Swift library beside a C program, in turns: the bytes of a cached file of 2 GB, in chunks
and one by one, and a listing of 100,000 entries with their sizes."""

import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

#: The acceptance limits: gigabytes a second of chunks, and a listing's time beside C's.
FASTEST = 3.0
SLOWEST = 1.2
MEGABYTES = 2_000
ENTRIES = 100_000
ROOT = Path(__file__).resolve().parent.parent.parent


def built(folder: Path) -> dict[str, Path]:
    """The programs, compiled for release."""
    script = '. "$0/scripts/lib.sh" && need_swift && o=(-c release --package-path "$0") && '
    script += 'swift build "${o[@]}" --product librarybench >&2 && swift build "${o[@]}" --show-bin-path'
    made = subprocess.run(["bash", "-euc", script, ROOT], stdout=subprocess.PIPE, text=True)
    if made.returncode != 0:
        sys.exit("bench: librarybench does not build")
    c = folder / "library"
    subprocess.run(["cc", "-O2", "-o", c, ROOT / "scripts/benchmarks/library.c"], check=True)
    return {"C": c, "FileTrees": Path(made.stdout.strip()) / "librarybench"}


def make_inputs(folder: Path, megabytes: int, entries: int) -> None:
    piece = bytes(i * 7 % 251 for i in range(1 << 20))
    with open(folder / "large", "wb") as file:
        for _ in range(megabytes):
            file.write(piece)
    (folder / "many").mkdir()
    for number in range(entries):
        (folder / "many" / f"file {number:06}.dat").write_bytes(b"x" * (number % 5))


def run(base: Path, small: bool, rounds: int = 3) -> tuple[str, dict, bool]:
    """The table, the same as a document, and whether the acceptance holds."""
    megabytes, entries = (MEGABYTES // 20, ENTRIES // 20) if small else (MEGABYTES, ENTRIES)
    scratch = Path(tempfile.mkdtemp(prefix="library.", dir=base))
    works = {"chunks": "large", "bytes": "large", "list": "many"}
    times: dict[str, dict[str, list[float]]] = {work: {} for work in works}
    try:
        programs = built(scratch)
        make_inputs(scratch, megabytes, entries)
        counted: dict[str, set[str]] = {}
        for round_number in range(rounds + 1):
            for work, name in works.items():
                for contestant, program in programs.items():
                    if work == "bytes" and contestant == "C":
                        continue
                    command = [program, work, scratch / name, "3"]
                    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
                    lines = [line.split() for line in done.stdout.splitlines()]
                    counted.setdefault(work, set()).update(line[1] for line in lines)
                    # The first brings all into the cache.
                    if round_number > 0:
                        times[work].setdefault(contestant, []).extend(int(line[0]) / 1e9 for line in lines)
        if any(len(counts) != 1 for counts in counted.values()):
            sys.exit(f"bench: they do not count the same: {counted}")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    medians = {work: {name: statistics.median(all) for name, all in row.items()} for work, row in times.items()}
    size = megabytes * (1 << 20) / 1e9
    speed = {name: size / seconds for name, seconds in medians["chunks"].items()}
    ratio = medians["list"]["FileTrees"] / medians["list"]["C"]
    ours, theirs = (medians["list"][name] * 1000 for name in ("FileTrees", "C"))
    text = f"""| Work | C | FileTrees | limit |
| --- | ---: | ---: | ---: |
| {size:.1f} GB in chunks, cached | {speed["C"]:.2f} GB/s | {speed["FileTrees"]:.2f} GB/s | ≥ {FASTEST:g} GB/s |
| the same, byte by byte | | {size * 1000 / medians["bytes"]["FileTrees"]:.0f} MB/s | |
| list {entries:,} entries | {theirs:.0f} ms | {ours:.0f} ms ({ratio:.2f}×) | ≤ {SLOWEST:g}× |
"""
    return text, {"benchmark": "library", "seconds": medians}, speed["FileTrees"] >= FASTEST and ratio <= SLOWEST
