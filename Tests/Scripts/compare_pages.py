"""compare_pages.py FFCONVERT MOST FILE…: at most MOST pages of each PDF, beside the same pages of the source.

Text by pdftotext and a picture by pdftoppm at 100 dpi have to be equal, and qpdf must find nothing wrong that it does not
find in a page that it splits off itself. Prints one line a difference, then the numbers; fails below 99.8 %.

Nothing can be compared with a page of the source that poppler shows nothing of, and nothing is said by one that poppler
misreads: it complains of errors in the source, it does not of our page, and the page that qpdf splits off looks like
ours. Both are named and counted apart.
"""
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

from worker import Worker

program, most, files = sys.argv[1], int(sys.argv[2]), sys.argv[3:]


def run(*words, limit=20):
    """(status, output, errors); None after `limit` seconds: some files make poppler run for ever."""
    try:
        ended = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=limit)
        return ended.returncode, ended.stdout, ended.stderr
    except subprocess.TimeoutExpired:
        return None


def split_off(file, number, page):
    """Has qpdf write a page; None when it cannot. It takes its time for long documents."""
    ended = run("qpdf", "--empty", "--pages", file, str(number), "--", page, limit=200)
    return page if ended and ended[0] != 2 else None


class Look:
    """What poppler shows of a page."""

    def __init__(self, *page):
        self.text, self.picture = run("pdftotext", *page, "-"), run("pdftoppm", "-r", "100", *page)
        both = (self.text, self.picture)
        self.is_readable = None not in both and self.text[0] == 0 and self.picture[1] != b""
        self.has_errors = None in both or any(b"Error" in each[2] for each in both)

    def difference(self, other):
        if self.text is None or other.text is None or self.text[:2] != other.text[:2]:
            return "other text"
        if self.picture is None or other.picture is None or self.picture[1] != other.picture[1]:
            return "other picture"
        return None


class Comparison:
    """The pages of one run, compared by several threads."""

    def __init__(self):
        self.worker, self.turn = Worker(program), Lock()
        self.counts = {"same": 0, "other": 0, "unreadable": 0, "misread": 0}

    def ask(self, *words, **more):
        with self.turn:
            return self.worker.ask(*words, **more)

    def compare(self, document, file, number):
        with tempfile.TemporaryDirectory() as folder:
            result, what = self.judge(document, file, number, folder + "/page.pdf", folder + "/peer.pdf")
        with self.turn:
            self.counts[result] += 1
            if what:
                print(f"{file} page {number}: {what}", flush=True)

    def judge(self, document, file, number, page, peer):
        source = Look("-f", str(number), "-l", str(number), file)
        if not source.is_readable:
            return "unreadable", "poppler shows nothing of the source"
        failure, _, reason, made = self.ask(file, f"pages {number}", document=document)
        if failure:
            return "other", reason
        with open(page, "wb") as out:
            out.write(made)
        ours = Look(page)
        difference = source.difference(ours)
        check = run("qpdf", "--check", page, limit=60) or (99,)
        if (difference or check[0]) and not split_off(file, number, peer):
            return "other", f"{difference or 'qpdf --check complains'}, and qpdf splits off nothing to compare with"
        if difference:
            if source.has_errors and not ours.has_errors and ours.difference(Look(peer)) is None:
                return "misread", f"{difference}, but poppler misreads the source, and qpdf's page is like ours"
            return "other", difference
        if check[0] and check[0] > (run("qpdf", "--check", peer, limit=60) or (0,))[0]:
            return "other", "qpdf --check complains"
        return "same", None


comparison, refused = Comparison(), 0
with ThreadPoolExecutor(2) as threads, tempfile.TemporaryDirectory() as folder:
    jobs = []
    for document, file in enumerate(files, 1):
        told = run("qpdf", "--show-npages", file, limit=60)
        count = int(told[1]) if told and told[1].strip().isdigit() else 0
        if count == 0 or not split_off(file, 1, folder + "/first.pdf"):
            refused += 1
            continue
        failure, counted, reason, _ = comparison.ask(file, document=document)
        if failure or counted != count:
            print(f"{file}: {count} pages, counted {counted} {reason}")
        numbers = [1 + index * count // min(count, most) for index in range(min(count, most))]
        jobs += [threads.submit(comparison.compare, document, file, number) for number in numbers]
    for job in jobs:
        job.result()
counts = comparison.counts
compared = counts["same"] + counts["other"]
print(
    f"{counts['same']} of {compared} pages are the same; poppler misreads {counts['misread']} and shows nothing of"
    f" {counts['unreadable']} more in their sources; qpdf does not read {refused} of {len(files)} files")
sys.exit(comparison.worker.close() or counts["same"] < 0.998 * compared)
