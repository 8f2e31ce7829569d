"""NAME.searchable.pdf and NAME.as-txt beside OCRmyPDF: wrong characters, places of words, CPU time, memory, sizes."""

import html
import io
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path

from .measure import AnonymousPeak, Daemon, children

US = "ffmount"
#: The one that leaves the pictures as they are is the measure of sizes.
PLAIN = "ocrmypdf -O0 --output-type pdf"
PEERS = {"ocrmypdf": [], PLAIN: ["-O0", "--output-type", "pdf"], "ocrmypdf --deskew --clean": ["--deskew", "--clean"]}
#: The acceptance limits: shares of OCRmyPDF's figures, the share of words within 2 % of the width, bytes of a worker.
LIMITS = {"degraded": 0.1, "clean": 1.0, "cpu": 0.6, "places": 0.99, "memory": 200 << 20, "size": 1.0}
NEAR = 0.02
WORD = re.compile(r'<word xMin="([-\d.]+)" yMin="([-\d.]+)" xMax="([-\d.]+)" yMax="([-\d.]+)">(.*?)</word>')


@dataclass
class Outcome:
    """One page by one contestant; `wrong` is the share of wrong characters, `near` that of words in their places."""

    wrong: float = 1.0
    near: float | None = None
    cpu: float = 0.0
    memory: int = 0
    size: int | None = None
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Source:
    picture: Path
    language: str
    is_clean: bool
    words: list[tuple[str, float, float]]

    @property
    def text(self) -> str:
        return " ".join(word for word, _, _ in self.words)


def sources(base: Path, small: bool, only: list[str] | None) -> list[Source]:
    folder, partial = base / "ocr-pages", base / "ocr-pages.partial"
    if not folder.exists():
        print(f"making {folder}", file=sys.stderr)
        shutil.rmtree(partial, ignore_errors=True)
        # Pillow is Debian's.
        subprocess.run(["/usr/bin/python3", Path(__file__).with_name("ocr_pages.py"), partial], check=True)
        partial.rename(folder)
    found = []
    for line in (folder / "pages.tsv").read_text().splitlines():
        name, language, kind = line.split("\t")
        if any(text in name for text in only or [""]):
            words = [word.split("\t") for word in (folder / f"{name}.txt").read_text().splitlines()]
            found.append(Source(folder / f"{name}.jpg", language, kind == "clean",
                                [(word, float(x), float(y)) for word, x, y in words]))
    return found[::4] if small else found


def run(base: Path, binary: Path | None, limit: float, without: list[str], small: bool, only: list[str] | None) -> tuple[str, dict, bool]:
    """The table, the same as a document, and whether the acceptance holds."""
    pages = sources(base, small, only)
    results: dict[str, dict[str, Outcome]] = {}
    scratch = Path(tempfile.mkdtemp(prefix="ffmount-ocr."))
    try:
        if binary:
            results[US] = through_mount(binary, pages, scratch, limit)
        for name, options in PEERS.items():
            if name not in without:
                results[name] = {page.picture.stem: peer(page, options, scratch, limit) for page in pages}
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    failures = verdict(results, pages)
    record = {"benchmark": "ocr", "units": "shares, seconds and bytes", "machine": {"cpus": os.cpu_count()},
              "not met": failures,
              "results": {name: {page: vars(one) for page, one in outcomes.items()} for name, outcomes in results.items()}}
    return table(results, pages, failures), record, not failures


def largest(process: int) -> AnonymousPeak:
    """Of the descendants of a process the one with the most memory of its own."""

    def descendants() -> list[int]:
        found = children(process)
        for child in found:
            found += children(child)
        return found

    return AnonymousPeak(descendants, lambda sizes: max(sizes, default=0))


def peer(page: Source, options: list[str], scratch: Path, limit: float) -> Outcome:
    target, sidecar = scratch / "peer.pdf", scratch / "peer.txt"
    command = ["ocrmypdf", "--quiet", "--jobs", "1", "-l", page.language, *options, "--sidecar", sidecar, page.picture, target]
    # Without it, Tesseract's threads wait for one another: several times the CPU time.
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=os.environ | {"OMP_THREAD_LIMIT": "1"})
    with largest(os.getpid()) as memory:
        killer = threading.Timer(limit, process.kill)
        killer.start()
        said = process.stderr.read().decode(errors="replace").strip().splitlines()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        killer.cancel()
    outcome = Outcome(cpu=usage.ru_utime + usage.ru_stime, memory=memory.most)
    if process.returncode:
        outcome.faults.append((said or ["failed"])[-1][:150])
        return outcome
    outcome.size = target.stat().st_size
    outcome.wrong = share_wrong(page.text, sidecar.read_text())
    # A straightened page's words are elsewhere.
    if "--deskew" not in options:
        outcome.near = share_near(page, target)
    return outcome


def through_mount(binary: Path, pages: list[Source], scratch: Path, limit: float) -> dict[str, Outcome]:
    """By `cp`, with the daemon's and its workers' time; each page by workers that have read none before."""
    outcomes = {}
    for number, page in enumerate(pages):
        mountpoint = scratch / f"mnt{number}"
        mountpoint.mkdir()
        command = [str(binary), "-f", "-o", f"ocr={page.language}", str(page.picture.parent), str(mountpoint)]
        daemon = Daemon(command, mountpoint, scratch / f"cache{number}", limit)
        daemon.start()
        outcome = outcomes[page.picture.stem] = Outcome()
        try:
            target = scratch / "ours.pdf"
            with largest(daemon.process.pid) as memory:
                done = subprocess.run(["cp", mountpoint / f"{page.picture.name}.searchable.pdf", target],
                                      stderr=subprocess.PIPE, timeout=limit)
            outcome.cpu, outcome.memory = daemon.cpu(), memory.most
            if done.returncode:
                outcome.faults.append(done.stderr.decode().strip())
                continue
            outcome.size, outcome.near = target.stat().st_size, share_near(page, target)
            outcome.wrong = share_wrong(page.text, (mountpoint / f"{page.picture.name}.as-txt").read_text())
        finally:
            daemon.stop()
    return outcomes


def share_wrong(known: str, found: str) -> float:
    """Edits from the one to the other, as a share of the known one's characters; white space is one space."""
    return distance(known, " ".join(found.split())) / len(known)


def distance(one: str, other: str) -> int:
    """Levenshtein's, by the bit vectors of Myers (1999), which here are integers of any length."""
    ones, high, places = (1 << len(one)) - 1, 1 << (len(one) - 1), {}
    for index, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << index
    plus, minus, edits = ones, 0, len(one)
    for letter in other:
        equal = places.get(letter, 0)
        vertical = equal | minus
        horizontal = (((equal & plus) + plus) ^ plus) | equal
        more, less = (minus | ~(horizontal | plus)) & ones, plus & horizontal
        edits += bool(more & high) - bool(less & high)
        more, less = (more << 1 | 1) & ones, (less << 1) & ones
        plus, minus = (less | ~(vertical | more)) & ones, more & vertical
    return edits


def share_near(page: Source, document: Path) -> float:
    """The share of words that are in the document at most 2 % of the page's width from where they are printed."""
    told = subprocess.run(["pdftotext", "-bbox", document, "-"], stdout=subprocess.PIPE, text=True).stdout
    size = re.search(r'<page width="([\d.]+)" height="([\d.]+)"', told)
    if not size:
        return 0.0
    width, height = map(float, size.groups())
    found = [(html.unescape(word), (float(a) + float(c)) / 2, (float(b) + float(d)) / 2) for a, b, c, d, word in WORD.findall(told)]
    near = 0
    for word, x, y in page.words:
        near += any(word == other and math.hypot(x * width - left, y * height - top) <= NEAR * width for other, left, top in found)
    # A word that is misread is no word that is misplaced.
    alike = {word for word, _, _ in found}
    read = sum(word in alike for word, _, _ in page.words)
    return near / read if read else 0.0


def mean(outcomes: dict[str, Outcome], pages: list[Source], clean: bool) -> float:
    return statistics.fmean([outcomes[page.picture.stem].wrong for page in pages if page.is_clean == clean] or [0])


def total(outcomes: dict[str, Outcome], what: str) -> float:
    return sum(getattr(one, what) or 0 for one in outcomes.values())


def verdict(results: dict[str, dict[str, Outcome]], pages: list[Source]) -> list[str]:
    """What of the acceptance does not hold."""
    ours = results.get(US)
    if not ours:
        return []
    failures = [f"{name}: {fault}" for name, one in ours.items() for fault in one.faults]
    failures += [f"{name}: {one.near:.3f} of the words are in their places" for name, one in ours.items()
                 if one.near is not None and one.near < LIMITS["places"]]
    failures += [f"{name}: a worker of {one.memory >> 20} MiB" for name, one in ours.items() if one.memory > LIMITS["memory"]]
    for peer, others in results.items():
        if peer == US:
            continue
        for clean, what in ((False, "degraded"), (True, "clean")):
            mine, theirs = mean(ours, pages, clean), mean(others, pages, clean)
            if mine > LIMITS[what] * theirs:
                failures.append(f"{what} pages: {mine:.3%} wrong, {peer} {theirs:.3%}")
        if total(ours, "cpu") > LIMITS["cpu"] * total(others, "cpu"):
            failures.append(f"CPU is above {LIMITS['cpu']} of that of {peer}")
    if (plain := results.get(PLAIN)) and total(ours, "size") > LIMITS["size"] * total(plain, "size"):
        failures.append(f"size is above that of {PLAIN}")
    return failures


def table(results: dict[str, dict[str, Outcome]], pages: list[Source], failures: list[str]) -> str:
    text = io.StringIO()
    print(f"{'':22}" + "".join(f"{name:>34}" for name in results), file=text)
    for page in pages:
        print(f"{page.picture.stem:22}", end="", file=text)
        for outcomes in results.values():
            one = outcomes[page.picture.stem]
            near = "–" if one.near is None else f"{one.near:.3f}"
            size = "–" if one.size is None else f"{one.size / page.picture.stat().st_size:.3f}"
            cell = f"{one.wrong:.3%} {near:>5} {one.cpu:5.2f} {one.memory >> 20:4} {size:>5}{'!' if one.faults else ' '}"
            print(f"{cell:>34}", end="", file=text)
        print(file=text)
    print("\nWrong characters; words within 2 % of the page's width of where they are printed; CPU seconds; MiB of the "
          "largest process; of the picture's size.\n", file=text)
    for name, outcomes in results.items():
        print(f"{name:26} wrong: degraded {mean(outcomes, pages, False):.3%}, clean {mean(outcomes, pages, True):.3%}  "
              f"CPU {total(outcomes, 'cpu'):6.2f} s  bytes {total(outcomes, 'size'):.0f}", file=text)
    for name, outcomes in results.items():
        for page, one in outcomes.items():
            for fault in one.faults:
                print(f"– {name}, {page}: {fault}", file=text)
    for failure in failures:
        print(f"NOT MET: {failure}", file=text)
    return text.getvalue()
