"""damaged_documents.py FFCONVERT [--count N] [--seed N] [--keep FOLDER] [--verbose] FILE…: whether damaged PDFs show
pages where MuPDF shows some (if mutool is installed), and whether all views of one file agree that it has pages.

Damages the documents in random places. Prints one line for each mutant of which this is not so, and fails if there is any.
"""
import argparse
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from worker import Worker

options = argparse.ArgumentParser()
options.add_argument("program")
options.add_argument("--count", type=int, default=100)
options.add_argument("--seed", type=int, default=33)
options.add_argument("--keep", type=Path, help="where mutants that differ are left")
options.add_argument("--verbose", action="store_true", help="also other numbers of pages, which may be as good, and a sum")
options.add_argument("files", nargs="+", type=Path)
options = options.parse_args()

scratch = tempfile.TemporaryDirectory()
dice = random.Random(options.seed)
TOKENS = [b"/Pages", b"/Page", b"/Kids", b"/Count", b"/Root", b"/Type", b"/Parent", b"/Encrypt", b"xref", b"trailer",
          b"startxref", b" obj", b"endobj", b"stream", b"endstream", b" R", b"<<", b">>", b"[", b"]", b"/W", b"/Index"]


def mutant(data):
    """A copy with some damage: bytes, numbers, words, missing parts."""
    data = bytearray(data)
    for _ in range(dice.choice([1, 1, 2, 3, 5, 10, 20])):
        if len(data) < 100:
            break
        at = dice.randrange(len(data))
        kind = dice.randrange(8)
        if kind == 0:
            data[at] = dice.randrange(256)
        elif kind == 1:
            data[at] ^= 1 << dice.randrange(8)
        elif kind == 2:
            end = min(len(data), at + dice.choice([1, 4, 50, 1000]))
            del data[at:end]
        elif kind == 3:
            data[at:at] = data[max(0, at - dice.choice([1, 10, 300])):at]
        elif kind == 4:
            end = min(len(data), at + dice.choice([1, 8, 512]))
            data[at:end] = bytes(end - at)
        elif kind == 5 and dice.randrange(4) == 0:
            del data[dice.randrange(len(data) // 2, len(data)):]
        else:
            # Structure is a small part of most documents.
            places = [place.start() for place in re.finditer(re.escape(dice.choice(TOKENS)), data)]
            if places:
                at = dice.choice(places)
                at = min(len(data) - 1, at + dice.randrange(12))
                data[at] = dice.choice(b"0123456789 /RX<>[]") if dice.randrange(2) else dice.randrange(256)
    return bytes(data)


def run(*command):
    try:
        done = subprocess.run(command, capture_output=True, timeout=60)
    except (subprocess.TimeoutExpired, FileNotFoundError):
        return 1, b""
    return done.returncode, done.stdout + done.stderr


def by_mupdf(path):
    """The number of pages that are drawn, without what MuPDF draws in place of pages that are lost."""
    _, said = run("mutool", "draw", "-r5", "-Fpnm", "-o/dev/null", path)
    return max(0, len(re.findall(rb"^page .* \d+", said, re.M)) - said.count(b"non-page object"))


def by_poppler(path):
    """The number of pages that are drawn."""
    with tempfile.TemporaryDirectory() as drawn:
        run("pdftoppm", "-r", "5", "-gray", path, f"{drawn}/page")
        return len(os.listdir(drawn))


worker = Worker(options.program)


def ask(path, recipe):
    """(failure, value or reason), with a new worker after one that ended."""
    global worker
    try:
        failure, value, reason, _ = worker.ask(path, recipe)
    except (EOFError, OSError) as error:
        worker = Worker(options.program)
        return -1, f"{recipe}: {error}"
    return failure, reason if failure else value


def views(path):
    """What each view says: the number of pages, or the reason why there is none."""
    size = os.stat(path).st_size
    bundle = f"{scratch.name}/bundle"
    member = struct.pack("<QQ", size, 5) + b"a.pdf"
    Path(bundle).write_bytes(struct.pack("<Q", len(member) + 8) + member + Path(path).read_bytes())
    count = ask(path, "count pages")
    return {
        "pages": count, "page": ask(path, "pages 1"), "text": ask(path, "text"), "image": ask(path, "png 20px"),
        "merged": ask(bundle, "merged")}


LOCKED = 3
wrong = differing = asked = 0
for number in range(options.count):
    source = options.files[number % len(options.files)]
    path = f"{scratch.name}/{number:04}.pdf"
    Path(path).write_bytes(mutant(source.read_bytes()))
    found = views(path)
    if LOCKED in (found["pages"][0], found["text"][0]):
        continue
    asked += 1
    pages = 0 if found["pages"][0] else found["pages"][1]
    theirs = by_mupdf(path), by_poppler(path)
    # The first page, which is the image, may be lost while others are not.
    said = {view: failure == 0 for view, (failure, _) in found.items() if view not in ("page", "image") or not pages}
    crashed = any(failure < 0 for failure, _ in found.values())
    is_wrong = pages == 0 and theirs[0] > 0 or len(set(said.values())) > 1 or crashed
    wrong += is_wrong
    differing += pages not in theirs
    if is_wrong or pages not in theirs and options.verbose:
        said = "; ".join(f"{view}: {value}" for view, (failure, value) in found.items() if failure)
        print(
            f"{'WRONG ' if is_wrong else ''}{number:04} {source.name}: {pages} pages, MuPDF {theirs[0]}, "
            f"poppler {theirs[1]}; {said}")
        if options.keep:
            options.keep.mkdir(exist_ok=True)
            (options.keep / f"{number:04}-{source.name}").write_bytes(Path(path).read_bytes())
    os.unlink(path)
if options.verbose:
    print(f"{asked} mutants, {differing} with another number of pages than both, {wrong} wrong")
sys.exit(1 if wrong else 0)
