"""NAME.as-pdf of real office documents beside `soffice --convert-to pdf`: the same pages, pixel by pixel, and CPU time.

What fields show of a document's name and of today is the same for all documents with the same bytes in ffmount; so soffice
gets a copy that is called as the worker calls it, on the day that ffmount's PDF says.
"""

import filecmp
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from .measure import Daemon
from .office import LARGEST, SOURCES, spent

KINDS = {"docx": 50, "doc": 40, "odt": 30, "rtf": 20, "xlsx": 40, "xls": 40, "ods": 20, "pptx": 25, "ppt": 25, "odp": 10, "html": 10}
#: The acceptance limits: of soffice's CPU time for what both make, of the documents with the same pages, seconds for the
#: first document of a mount, seconds for one document that soffice does not need longer for.
LIMITS = {"cpu": 0.6, "same": 0.97, "first": 1.2, "slowest": 3.0}
#: Pages are compared at so many dots per inch, the first ones of a document.
DPI, PAGES = 36, 12
#: As the worker has it.
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TZ": "UTC0"}
#: In the package faketime.
CLOCK = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))), None)


@dataclass
class Result:
    """One document by both."""

    name: str
    ours: Path
    theirs: Path
    seconds: float = 0.0
    cpu: float = 0.0
    reason: str = ""
    their_seconds: float = 0.0
    their_cpu: float = 0.0
    verdict: str = field(default="")


def documents(base: Path, small: bool) -> dict[str, list[Path]]:
    folder, found = base / "office", {}
    for kind, most in KINDS.items():
        files = sorted(path for path in folder.glob(f"{kind}/*") if path.stat().st_size <= LARGEST and not path.name.startswith("."))
        step = max(1, len(files) // most)
        found[kind] = files[::step][: most // 10 + 1 if small else most]
    if not any(found.values()):
        sys.exit(f"bench: put office documents into {folder}/docx, doc and so on, such as the test files of {', '.join(SOURCES)}")
    return found


def run(base: Path, binary: Path, limit: float, small: bool) -> tuple[str, dict, bool]:
    """The table, the same as a document, and whether the acceptance holds."""
    scratch = Path(tempfile.mkdtemp(prefix="ffmount-documents."))
    rows, odd = [], []
    try:
        for kind, files in documents(base, small).items():
            results = [Result(file.name, scratch / f"ours-{file.name}.pdf", scratch / f"{file.name}.theirs.pdf") for file in files]
            through_mount(binary, base / "office" / kind, results, scratch, limit)
            for file, result in zip(files, results, strict=True):
                soffice(file, result, scratch, limit)
                result.verdict = verdict(result, scratch)
                slow = f"{result.seconds:.1f} s, soffice {result.their_seconds:.1f} s" if result.seconds > LIMITS["slowest"] else ""
                if result.verdict != "same" or slow:
                    odd.append(f"{kind}/{result.name}: {result.verdict} {slow} {result.reason}")
                for path in (result.ours, result.theirs):
                    path.unlink(missing_ok=True)
            rows.append(row(kind, results))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    rows.append(total(rows))
    whole = rows[-1]
    failures = [
        text for text, fails in (
            (f"cpu {whole['cpu']:.2f}", whole["cpu"] > LIMITS["cpu"]),
            (f"same {whole['same'] / max(1, whole['both']):.3f}", whole["same"] < LIMITS["same"] * whole["both"]),
            (f"first {whole['first']:.1f} s", whole["first"] > LIMITS["first"]),
            (f"slowest {whole['slowest']:.1f} s", whole["slowest"] > LIMITS["slowest"]),
        ) if fails
    ]  # fmt: skip
    table = ["| documents | made by both | the same pages | only ffmount | only soffice | neither | soffice CPU s | ffmount's | share | first s | slowest s |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    table += [
        f"| {row['documents']} {row['kind'].upper()} | {row['both']} | {row['same']} | {row['only ours']} | {row['only theirs']} "
        f"| {row['neither']} | {row['their cpu']:.1f} | {row['our cpu']:.1f} | {row['cpu']:.2f} | {row['first']:.1f} | {row['slowest']:.1f} |"
        for row in rows
    ]
    table += ["", *odd, "", "Not met: " + "; ".join(failures) if failures else "All limits are met."]
    return "\n".join(table), {"benchmark": "documents", "rows": rows, "odd": odd, "not met": failures}, not failures


def row(kind: str, results: list[Result]) -> dict:
    def count(*verdicts: str) -> int:
        return sum(result.verdict in verdicts for result in results)

    both = [result for result in results if result.verdict in ("same", "other pages", "other pixels")]
    cpu, their_cpu = sum(result.cpu for result in both), sum(result.their_cpu for result in both)
    # What soffice itself takes long for, or does not end with, says nothing.
    prompt = [result.seconds for result in results if result.seconds <= LIMITS["slowest"] or result.seconds > result.their_seconds]
    return {
        "kind": kind, "documents": len(results), "both": count("same", "other pages", "other pixels"), "same": count("same"),
        "only ours": count("only ours"), "only theirs": count("only theirs"), "neither": count("neither"),
        "their cpu": their_cpu, "our cpu": cpu, "cpu": cpu / max(1e-9, their_cpu), "slowest": max(prompt, default=0), "first": results[0].seconds if results else 0,
    }  # fmt: skip


def total(rows: list[dict]) -> dict:
    names = [name for name in rows[0] if name not in ("kind", "cpu", "first", "slowest")]
    whole = {"kind": "in all"} | {name: sum(row[name] for row in rows) for name in names}
    slowest = {name: max(row[name] for row in rows) for name in ("first", "slowest")}
    return whole | {"cpu": whole["our cpu"] / max(1e-9, whole["their cpu"])} | slowest


def through_mount(binary: Path, folder: Path, results: list[Result], scratch: Path, limit: float) -> None:
    """Copies the PDFs; the CPU time is that of the daemon and its workers."""
    mountpoint = scratch / f"mnt-{folder.name}"
    mountpoint.mkdir()
    daemon = Daemon([str(binary), "-f", str(folder), str(mountpoint)], mountpoint, scratch / f"cache-{folder.name}", limit)
    daemon.start()
    try:
        for result in results:
            before, start, made = daemon.cpu(), time.monotonic(), mountpoint / f"{result.name}.as-pdf"
            try:
                shutil.copyfile(made, result.ours)
            except OSError:
                result.ours.unlink(missing_ok=True)
                try:
                    result.reason = os.getxattr(made, "user.ffmount.error").decode()
                except OSError as error:
                    result.reason = str(error)
            result.seconds = time.monotonic() - start
            # A worker counts when it has ended, which is with its document.
            result.cpu = daemon.cpu() - before
    finally:
        daemon.stop()


def soffice(file: Path, result: Result, scratch: Path, limit: float) -> None:
    """With a profile that has been used before, but for the first document."""
    target = scratch / "soffice"
    target.mkdir(exist_ok=True)
    copy = target / f"document{file.suffix}"
    shutil.copyfile(file, copy)
    command = ["soffice", f"-env:UserInstallation=file://{scratch}/profile", "--headless", "--convert-to", "pdf", "--outdir", target, copy]
    environment = os.environ | ENVIRONMENT | clock(result.ours)
    before, start = spent(), time.monotonic()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, start_new_session=True)
    try:
        process.wait(limit)
    except subprocess.TimeoutExpired:
        # What it has started keeps the profile.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    result.their_seconds, result.their_cpu = time.monotonic() - start, spent() - before
    made = copy.with_suffix(".pdf")
    if made.exists():
        made.rename(result.theirs)
    copy.unlink()


def clock(pdf: Path) -> dict[str, str]:
    """An environment in which it is the time at which a PDF says that it was made."""
    dates = subprocess.run(["pdfinfo", "-isodates", pdf], capture_output=True, text=True, errors="replace", env=os.environ | ENVIRONMENT).stdout
    said = next((line.split()[1] for line in dates.splitlines() if line.startswith("CreationDate:")), None)
    if not (said and CLOCK):
        return {}
    return {"LD_PRELOAD": str(CLOCK), "FAKETIME": "@" + said[:19].replace("T", " "), "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


def verdict(result: Result, scratch: Path) -> str:
    ours, theirs = result.ours.exists(), result.theirs.exists()
    if not (ours and theirs):
        return "only ours" if ours else "only theirs" if theirs else "neither"
    if pages(result.ours) != pages(result.theirs):
        return "other pages"
    return "same" if pixels(result.ours, scratch / "a") == pixels(result.theirs, scratch / "b") and same(scratch) else "other pixels"


def pages(path: Path) -> str:
    told = subprocess.run(["pdfinfo", path], capture_output=True, text=True, errors="replace").stdout
    return "\n".join(line for line in told.splitlines() if line.startswith(("Pages:", "Page size:")))


def pixels(path: Path, folder: Path) -> list[str]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    subprocess.run(["pdftoppm", "-r", str(DPI), "-l", str(PAGES), path, folder / "page"], capture_output=True)
    return sorted(page.name for page in folder.iterdir())


def same(scratch: Path) -> bool:
    names = [page.name for page in (scratch / "a").iterdir()]
    return not any(filecmp.cmpfiles(scratch / "a", scratch / "b", names, shallow=False)[1:])
