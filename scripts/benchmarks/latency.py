"""What is in files of a source that takes 30 ms for each request: how many there are, and how long they take."""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "Tests" / "Scripts" / "high_latency.py"
MILLISECONDS = "30"
#: A document of 1,000 pages.
PDF, PAGE = Path("/usr/share/doc/octave/octave.pdf"), "500"


def run(base: Path, binary: Path) -> tuple[str, dict, bool]:
    """The table, the same as a document, and whether the limits hold."""
    if not PDF.exists():
        sys.exit(f"bench: {PDF} is missing (scripts/dependencies bench)")
    scratch = Path(tempfile.mkdtemp(prefix="latency.", dir=base))
    try:
        words = [sys.executable, SCRIPT, binary, scratch, MILLISECONDS, PDF, PAGE, "1"]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    lines = ["| row | by | known before | requests for bytes | for names | seconds |", "|---|---|---|---|---|---|"]
    for each in found:
        known = "nothing" if each["cold"] else "the folder"
        lines.append(f"| {each['row']} | {each['by']} | {known} | {each['bytes']} | {each['names']} | {each['seconds']:.2f} |")
    lines.append("All limits are met." if done.returncode == 0 else f"Not met: {done.stderr.strip()[-600:]}")
    return "\n".join(lines), {"benchmark": "latency", "rows": found}, done.returncode == 0
