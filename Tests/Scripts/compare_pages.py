"""compare_pages.py FFCONVERT MOST FILE…: at most MOST pages of each PDF, beside the same pages of the source.

Text by pdftotext and a picture by pdftoppm have to be equal, and qpdf must find nothing wrong that it does not find in a
page that it splits off itself. Prints one line a difference, then the numbers; fails below 99.8 %.
"""
import os
import random
import subprocess
import sys
import tempfile

from worker import Worker

program, most, files = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
random.seed(5)
folder = tempfile.mkdtemp()
page, peer = folder + "/page.pdf", folder + "/peer.pdf"


def output(*words):
    """(status, what was said); None after 20 seconds: some files make poppler run for ever."""
    try:
        ended = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20)
        return ended.returncode, ended.stdout
    except subprocess.TimeoutExpired:
        return None


pages = same = unread = 0
worker = Worker(program)
for document, file in enumerate(files, 1):
    told = output("qpdf", "--show-npages", file)
    count = int(told[1]) if told and told[1].strip().isdigit() else 0
    if count == 0 or output("qpdf", "--empty", "--pages", file, "1", "--", peer)[0] == 2:
        continue
    failure, counted, reason, _ = worker.ask(file, document=document)
    if failure or counted != count:
        print(f"{file}: {count} pages, counted {counted} {reason}")
    numbers = range(1, count + 1) if count <= most else sorted(random.sample(range(1, count + 1), most))
    for number in numbers:
        here = ("-f", str(number), "-l", str(number), file)
        text, picture = output("pdftotext", *here, "-"), output("pdftoppm", "-r", "100", *here)
        # What poppler cannot show of the source, nothing can be compared with.
        if text is None or picture is None or text[0] or not picture[1]:
            unread += 1
            continue
        pages += 1
        failure, _, reason, made = worker.ask(file, f"pages {number}", document=document)
        if failure:
            print(f"{file} page {number}: {reason}")
            continue
        with open(page, "wb") as out:
            out.write(made)
        if output("pdftotext", page, "-") != text:
            print(f"{file} page {number}: other text")
        elif output("pdftoppm", "-r", "100", page) != picture:
            print(f"{file} page {number}: other picture")
        else:
            output("qpdf", "--empty", "--pages", file, str(number), "--", peer)
            if output("qpdf", "--check", page)[0] > (output("qpdf", "--check", peer) or (0,))[0]:
                print(f"{file} page {number}: qpdf --check complains")
            else:
                same += 1
print(f"{same} of {pages} pages are the same; {unread} cannot be compared")
for name in os.listdir(folder):
    os.remove(f"{folder}/{name}")
os.rmdir(folder)
sys.exit(worker.close() or same < 0.998 * pages)
