"""NAME.as-txt of real office documents beside pandoc and LibreOffice: the same words, in order, and CPU time."""

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from .measure import Daemon

US = "ffmount"
#: Public test files: what they are taken from, and where it is to be found there.
SOURCES = ["github.com/apache/poi", "github.com/apache/tika", "github.com/jgm/pandoc", "github.com/tdf/odftoolkit"]
KINDS = {"docx": 170, "odt": 60, "rtf": 40, "epub": 10, "html": 20}
LARGEST = 3_000_000
#: The acceptance limits: the share of a peer's words, of those in order, of pandoc's CPU time.
LIMITS = {"words": 0.99, "order": 0.99, "cpu": 0.1}
#: Pandoc knows no character set but UTF-8, and takes lists of RTF for text: only LibreOffice is a measure there.
PEERS = {"pandoc": {"docx", "odt", "epub"}, "soffice": {"docx", "odt", "rtf"}}
ALL = "in all"
WORD = re.compile(r"[^\W_]+")


@dataclass
class Outcome:
    """All documents of a kind by one contestant."""

    cpu: float = 0.0
    texts: dict[str, list[str]] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)


def words(text: str) -> list[str]:
    """As they are compared: raised and lowered figures are figures, and soft hyphens nothing."""
    return WORD.findall(unicodedata.normalize("NFKC", text).replace("\u00ad", ""))


def documents(base: Path, small: bool) -> dict[str, list[Path]]:
    folder = base / "office"
    found = {}
    for kind, most in KINDS.items():
        files = sorted(path for path in folder.glob(f"{kind}/*") if path.stat().st_size <= LARGEST)
        step = max(1, len(files) // most)
        found[kind] = files[::step][: most // 20 + 1 if small else most]
    if not any(found.values()):
        sys.exit(f"bench: put office documents into {folder}/docx, odt and so on, such as the test files of {', '.join(SOURCES)}")
    return found


def run(base: Path, binary: Path | None, limit: float, without: list[str], small: bool) -> tuple[str, dict, bool]:
    """The table, the same as a document, and whether the acceptance holds."""
    corpus = documents(base, small)
    scratch = Path(tempfile.mkdtemp(prefix="ffmount-office."))
    results: dict[str, dict[str, Outcome]] = {}
    try:
        if binary:
            results[US] = through_mount(binary, base / "office", corpus, scratch, limit)
        for name, convert in {"pandoc": pandoc, "soffice": soffice}.items():
            if name not in without:
                results[name] = {kind: convert(kind, corpus[kind], scratch, limit) for kind in corpus if kind in PEERS[name]}
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    rows = compared(results)
    rows += [totals(peer, [row for row in rows if row["peer"] == peer]) for peer in sorted({row["peer"] for row in rows})]
    failures = [f"{row['peer']}: {what} {row[what]:.4f}" for row in rows if row["kind"] == ALL for what in LIMITS if not holds(row, what)]
    table = ["| documents | beside | words | the same | in order | refused by it and by ffmount | CPU s | ffmount's | share |",
             "|---|---|---|---|---|---|---|---|---|"]
    table += [
        f"| {row['documents']} {row['kind'].upper()} | {row['peer']} | {row['all']} | {row['words']:.2%} | {row['order']:.2%} "
        f"| {row['refused']}, {row['ours refused']} | {row['peer cpu']:.2f} | {row['our cpu']:.2f} | {row['cpu']:.3f} |"
        for row in rows
    ]
    table += ["", "Not met: " + "; ".join(failures) if failures else "All limits are met."]
    return "\n".join(table), {"benchmark": "office", "rows": rows, "not met": failures}, not failures


def totals(peer: str, rows: list[dict]) -> dict:
    """Of all kinds together, which the limits are for."""
    counts = ["documents", "all", "refused", "ours refused", "peer cpu", "our cpu"]
    whole = {"peer": peer, "kind": ALL} | {name: sum(row[name] for row in rows) for name in counts}
    for name in ("words", "order"):
        whole[name] = sum(row[name] * row["all"] for row in rows) / max(1, whole["all"])
    return whole | {"cpu": whole["our cpu"] / max(1e-9, whole["peer cpu"])}


def holds(row: dict, what: str) -> bool:
    if what == "cpu":
        return row["peer"] != "pandoc" or row["cpu"] <= LIMITS["cpu"]
    return row[what] >= LIMITS[what]


def compared(results: dict[str, dict[str, Outcome]]) -> list[dict]:
    rows = []
    for peer in results.keys() - {US}:
        for kind, theirs in results[peer].items():
            ours = results.get(US, {}).get(kind)
            if not ours:
                continue
            # What only one of them reads says nothing of words.
            both = [name for name in theirs.texts if name in ours.texts]
            total = sum(len(theirs.texts[name]) for name in both)
            same = sum((Counter(theirs.texts[name]) & Counter(ours.texts[name])).total() for name in both)
            order = sum(in_order(theirs.texts[name], ours.texts[name]) for name in both)
            rows.append({
                "peer": peer, "kind": kind, "documents": len(both), "all": total, "words": same / max(1, total),
                "order": order / max(1, total), "refused": len(theirs.refused), "ours refused": len(ours.refused),
                "peer cpu": theirs.cpu, "our cpu": ours.cpu, "cpu": ours.cpu / max(1e-9, theirs.cpu),
            })  # fmt: skip
    return sorted(rows, key=lambda row: (row["peer"], row["kind"]))


def in_order(theirs: list[str], ours: list[str]) -> int:
    """How many of a peer's words stand in ours in the same order: `diff` finds the lines that are missing."""
    with tempfile.NamedTemporaryFile("w") as one, tempfile.NamedTemporaryFile("w") as other:
        for file, text in ((one, theirs), (other, ours)):
            file.write("\n".join(text) + "\n")
            file.flush()
        told = subprocess.run(["diff", "--speed-large-files", one.name, other.name], capture_output=True, text=True)
    return len(theirs) - sum(line.startswith("<") for line in told.stdout.splitlines())


def through_mount(binary: Path, folder: Path, corpus: dict[str, list[Path]], scratch: Path, limit: float) -> dict[str, Outcome]:
    """By reading, with the daemon's and its workers' time, on a fresh mount for each kind."""
    outcomes = {}
    for kind, files in corpus.items():
        mountpoint = scratch / f"mnt-{kind}"
        mountpoint.mkdir()
        daemon = Daemon([str(binary), "-f", str(folder), str(mountpoint)], mountpoint, scratch / f"cache-{kind}", limit)
        daemon.start()
        outcome = outcomes[kind] = Outcome()
        try:
            for file in files:
                try:
                    text = (mountpoint / kind / f"{file.name}.as-txt").read_text()
                    outcome.texts[file.name] = words(text)
                except OSError:
                    outcome.refused.append(file.name)
            outcome.cpu = daemon.cpu()
        finally:
            daemon.stop()
    return outcomes


def spent() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def pandoc(kind: str, files: list[Path], scratch: Path, limit: float) -> Outcome:
    outcome = Outcome()
    for file in files:
        before = spent()
        try:
            done = subprocess.run(["pandoc", "-t", "plain", "--wrap=none", file], capture_output=True, timeout=limit)
        except subprocess.TimeoutExpired:
            outcome.refused.append(file.name)
            continue
        finally:
            outcome.cpu += spent() - before
        if done.returncode:
            outcome.refused.append(file.name)
        else:
            outcome.texts[file.name] = words(done.stdout.decode(errors="replace"))
    return outcome


def soffice(kind: str, files: list[Path], scratch: Path, limit: float) -> Outcome:
    """Thirty documents a process, which starts with a profile of its own."""
    outcome = Outcome()
    profile, target = scratch / "profile", scratch / f"soffice-{kind}"
    before = spent()
    for start in range(0, len(files), 30):
        command = ["soffice", f"-env:UserInstallation=file://{profile}", "--headless", "--convert-to",
                   "txt:Text (encoded):UTF8", "--outdir", target, *files[start : start + 30]]  # fmt: skip
        try:
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=limit)
        except subprocess.TimeoutExpired:
            pass
    outcome.cpu = spent() - before
    for file in files:
        text = target / f"{file.stem}.txt"
        if text.exists():
            outcome.texts[file.name] = words(text.read_text(errors="replace"))
        else:
            outcome.refused.append(file.name)
    return outcome
