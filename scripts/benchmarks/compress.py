"""STEM.compressed.pdf beside Ghostscript, PyMuPDF and OCRmyPDF: sizes, what is kept, what it looks like, CPU time."""

import io
import json
import math
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from .measure import Daemon

US = "ffmount"
PACKAGES = ["pymupdf", "numpy", "pillow"]
REWRITE = """
import pymupdf, sys
document = pymupdf.open(sys.argv[1])
document.rewrite_images(dpi_threshold=165, dpi_target=150, quality=60)
document.save(sys.argv[2], garbage=4, deflate=True, use_objstms=1)
"""
# The acceptance limits: the maximum share of /ebook's size and CPU, and the minimum similarity.
LIMITS = {"size": 0.72, "cpu": 0.5, "mean": 0.985, "least": 0.95}


@dataclass
class Outcome:
    """One document by one contestant; `size` None is a failure."""

    size: int | None = None
    cpu: float = 0.0
    similarity: float | None = None
    faults: list[str] = field(default_factory=list)


def environment(base: Path) -> Path:
    """A private Python with PyMuPDF, and with what reads the results."""
    python = base / "compress-python" / "bin" / "python"
    if not python.exists():
        print("installing PyMuPDF, numpy and Pillow", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", python.parent.parent], check=True)
        subprocess.run([python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", *PACKAGES],
                       check=True, timeout=900)
    return python


def documents(base: Path, python: Path) -> Path:
    folder, partial = base / "full" / "documents", base / "full" / "documents.partial"
    if not folder.exists():
        corpus = Path(__file__).resolve().parents[3] / "shared" / "corpus"
        photographs = "from the corpus" if corpus.is_dir() else "generated, since there is no corpus: compare nothing with others' figures"
        print(f"making {folder} (photographs {photographs})", file=sys.stderr)
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        subprocess.run([python, Path(__file__).with_name("documents.py"), partial, corpus], check=True)
        partial.rename(folder)
    return folder


def run(base: Path, binary: Path | None, limit: float, without: list[str]) -> tuple[str, dict, bool]:
    """The table, the same as a document, and whether the acceptance holds."""
    python = environment(base)
    sources = sorted(documents(base, python).glob("*.pdf"))
    peers = {
        "gs /ebook": ghostscript("/ebook"),
        "gs /screen": ghostscript("/screen"),
        "PyMuPDF": lambda source, target: [python, "-c", REWRITE, source, target],
        "ocrmypdf -O3": lambda source, target: [
            "ocrmypdf", "--quiet", "--skip-text", "--tesseract-timeout", "0", "-O3", "--output-type", "pdf", "--jobs", "1",
            source, target],
    }
    results: dict[str, dict[str, Outcome]] = {}
    scratch = Path(tempfile.mkdtemp(prefix="ffmount-compress."))
    try:
        if binary:
            results[US] = through_mount(binary, sources, scratch, limit)
        for name, command in peers.items():
            if name not in without:
                results[name] = {source.name: convert(command, source, scratch / place(name, source), limit)
                                 for source in sources}
        for source in sources:
            made = {name: outcomes[source.name] for name, outcomes in results.items() if outcomes[source.name].size}
            compare(python, source, {scratch / place(name, source): outcome for name, outcome in made.items()})
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    failures = verdict(results, sources)
    return table(results, sources, failures), record(results, failures), not failures


def place(contestant: str, source: Path) -> str:
    return "".join(letter for letter in contestant if letter.isalnum()) + "-" + source.name


def ghostscript(settings: str):
    return lambda source, target: [
        "gs", "-q", "-dNOPAUSE", "-dBATCH", "-dSAFER", "-sDEVICE=pdfwrite", f"-dPDFSETTINGS={settings}",
        f"-sOutputFile={target}", source]


def convert(command, source: Path, target: Path, limit: float) -> Outcome:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command(source, target), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=limit)
    except subprocess.TimeoutExpired:
        return Outcome(faults=[f"over {limit:g} s"])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode or not target.exists():
        return Outcome(cpu=cpu, faults=(done.stderr.decode(errors="replace").strip().splitlines() or ["failed"])[-1:])
    return Outcome(target.stat().st_size, cpu)


def through_mount(binary: Path, sources: list[Path], scratch: Path, limit: float) -> dict[str, Outcome]:
    """By `cat`, with the daemon's and its workers' time."""
    mountpoint = scratch / "mnt"
    mountpoint.mkdir()
    daemon = Daemon([str(binary), "-f", str(sources[0].parent), str(mountpoint)], mountpoint, scratch / "cache", limit)
    outcomes = {}
    daemon.start()
    try:
        for source in sources:
            target = scratch / place(US, source)
            before = daemon.cpu()
            read = convert(lambda source, target: ["cp", mountpoint / f"{source.stem}.compressed.pdf", target],
                           source, target, limit)
            read.cpu += daemon.cpu() - before
            outcomes[source.name] = read
    finally:
        daemon.stop()
    return outcomes


def compare(python: Path, source: Path, made: dict[Path, Outcome]) -> None:
    """What differs, and how much alike the pages look: a program of its own, since PyMuPDF may crash."""
    program = [python, Path(__file__).with_name("likeness.py"), source, *made]
    done = subprocess.run(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = done.stdout.splitlines()
    for index, outcome in enumerate(made.values()):
        if index < len(lines):
            outcome.similarity, faults = json.loads(lines[index])
            outcome.faults += faults
        else:
            outcome.faults.append("cannot be compared: " + (done.stderr.strip().splitlines() or ["?"])[-1])
        if outcome.size > source.stat().st_size:
            outcome.faults.append("larger")


def geometric(values: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values))) if values else math.nan


def ratios(outcomes: dict[str, Outcome], others: dict[str, Outcome]) -> list[float]:
    return [outcome.size / others[name].size for name, outcome in outcomes.items()
            if outcome.size and others[name].size]


def verdict(results: dict[str, dict[str, Outcome]], sources: list[Path]) -> list[str]:
    """What of the acceptance does not hold."""
    ours = results.get(US)
    if not ours:
        return []
    failures = [f"{name}: {fault}" for name, outcome in ours.items() for fault in outcome.faults]
    likeness = [outcome.similarity for outcome in ours.values() if outcome.similarity is not None]
    if statistics.fmean(likeness or [0]) < LIMITS["mean"]:
        failures.append(f"mean similarity is below {LIMITS['mean']}")
    if min(likeness or [0]) < LIMITS["least"]:
        failures.append(f"a similarity is below {LIMITS['least']}")
    if ebook := results.get("gs /ebook"):
        if geometric(ratios(ours, ebook)) > LIMITS["size"]:
            failures.append(f"size is above {LIMITS['size']} of /ebook's")
        if total(ours) > LIMITS["cpu"] * total(ebook):
            failures.append(f"CPU is above {LIMITS['cpu']} of /ebook's")
    if (peer := results.get("PyMuPDF")) and geometric(ratios(ours, peer)) >= 1:
        failures.append("size is above PyMuPDF's")
    return failures


def total(outcomes: dict[str, Outcome]) -> float:
    return sum(outcome.cpu for outcome in outcomes.values())


def table(results: dict[str, dict[str, Outcome]], sources: list[Path], failures: list[str]) -> str:
    text = io.StringIO()
    print(f"{'':22}{'bytes':>10}" + "".join(f"{name:>22}" for name in results), file=text)
    for source in sources:
        size = source.stat().st_size
        print(f"{source.stem:22}{size:10}", end="", file=text)
        for outcomes in results.values():
            one = outcomes[source.name]
            alike = "     –" if one.similarity is None else f" {one.similarity:.3f}"
            share = "    –" if one.size is None else f"{one.size / size:5.3f}"
            cell = f"{share}{alike} {one.cpu:5.2f}{'!' if one.faults else ' '}"
            print(f"{cell:>22}", end="", file=text)
        print(file=text)
    print("\nOf the source's size; similarity of the pages (SSIM at 100 dpi); CPU seconds; ! something is not kept.\n", file=text)
    ours = results.get(US)
    for name, outcomes in results.items():
        likeness = [one.similarity for one in outcomes.values() if one.similarity is not None]
        shares = [outcomes[source.name].size / source.stat().st_size for source in sources if outcomes[source.name].size]
        kept = sum(not one.faults for one in outcomes.values())
        line = (f"{name:14} size {geometric(shares):.3f}  similarity {statistics.fmean(likeness or [0]):.4f}, least "
                f"{min(likeness or [0]):.3f}  CPU {total(outcomes):7.2f} s  all kept in {kept} of {len(sources)}")
        if ours and name != US:
            line += f"  ours is {geometric(ratios(ours, outcomes)):.3f} of its size"
        print(line, file=text)
    for name, outcomes in results.items():
        for document, one in outcomes.items():
            for fault in one.faults:
                print(f"– {name}, {document}: {fault}", file=text)
    for failure in failures:
        print(f"NOT MET: {failure}", file=text)
    return text.getvalue()


def record(results: dict[str, dict[str, Outcome]], failures: list[str]) -> dict:
    return {
        "benchmark": "compress",
        "units": "bytes and seconds",
        "machine": {"cpus": os.cpu_count()},
        "not met": failures,
        "results": {name: {document: vars(one) for document, one in outcomes.items()} for name, outcomes in results.items()},
    }
