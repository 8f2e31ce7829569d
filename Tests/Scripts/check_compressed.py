"""check_compressed.py FFCONVERT FILE…: each PDF compressed, beside the source.

Text by pdftotext has to be equal, qpdf must find nothing wrong, and the result may not be larger; or it is the source's
own bytes, and a sentence says why. Prints one line a difference and how many ended how; fails if there is any difference.
"""
import collections
import os
import subprocess
import sys
import tempfile
import time

from worker import Worker

program, files = sys.argv[1], sys.argv[2:]
folder = tempfile.mkdtemp()
result = folder + "/compressed.pdf"
counts = collections.Counter()
# Its page's text was deleted by an update; poppler searches the file, and finds it again.
judged = {"incremental-3.pdf"}
differences = 0
sizes = [0, 0]


def text(file):
    """None for what poppler cannot read, or takes too long over."""
    try:
        ended = subprocess.run(["pdftotext", file, "-"], capture_output=True, timeout=30)
        # Then pdftotext guesses the rest.
        is_lost = ended.returncode != 0 or b"Couldn't find trailer dictionary" in ended.stderr
        return None if is_lost else ended.stdout
    except subprocess.TimeoutExpired:
        return None


def qpdf(file):
    return subprocess.run(["qpdf", "--check", file], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def complain(file, words):
    global differences
    differences += 1
    print(f"{file}: {words}")


worker = Worker(program)
for file in files:
    start = time.monotonic()
    try:
        failure, size, remark, made = worker.ask(file, "compressed 150dpi.q60")
    except EOFError:
        worker = Worker(program)
        complain(file, "the worker died")
        continue
    if time.monotonic() - start > 5:
        print(f"{file}: took {time.monotonic() - start:.1f} s")
    if failure:
        counts["refused: " + remark.split("(")[0].strip()] += 1
        if text(file):
            complain(file, f"has text and is refused: {remark}")
        continue
    with open(file, "rb") as source:
        original = source.read()
    sizes[0] += len(original)
    sizes[1] += len(made)
    if made == original:
        counts["unchanged: " + remark] += 1
        if not remark:
            complain(file, "is unchanged, and nothing says why")
        continue
    counts["smaller"] += 1
    if remark:
        complain(file, f"is changed, although it is said: {remark}")
    if len(made) >= len(original):
        complain(file, f"grew from {len(original)} to {len(made)}")
    with open(result, "wb") as out:
        out.write(made)
    before = text(file)
    if before is not None and text(result) != before and os.path.basename(file) not in judged:
        complain(file, "other text")
    check = qpdf(result)
    if check.returncode > qpdf(file).returncode:
        complain(file, "qpdf --check: " + check.stdout.decode(errors="replace").strip().splitlines()[-1])
for words, count in counts.most_common():
    print(f"{count:5} {words}")
print(f"{sizes[1]} of {sizes[0]} bytes")
if os.path.exists(result):
    os.remove(result)
os.rmdir(folder)
sys.exit(worker.close() or differences > 0)
