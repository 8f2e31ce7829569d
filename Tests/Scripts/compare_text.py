"""compare_text.py FFCONVERT FILE…: the text of each PDF, beside pdftotext's: byte for byte, wherever that has one.

A file of which poppler shows no page may be refused, or searched for pages. Fails when any other differs.
"""
import subprocess
import sys

from worker import Worker

worker, same, other, refused, found = Worker(sys.argv[1]), 0, 0, 0, 0
for file in sys.argv[2:]:
    try:
        told = subprocess.run(["pdftotext", file, "-"], capture_output=True, timeout=20)
    except subprocess.TimeoutExpired:
        continue
    failure, _, reason, text = worker.ask(file, "text")
    if failure:
        # pdftotext prints nothing for a page that it cannot find.
        is_empty = told.returncode != 0 or not told.stdout.strip()
        refused, other = refused + is_empty, other + (not is_empty)
        if not is_empty:
            print(f"{file}: {reason}")
    elif told.returncode == 0 and text == told.stdout:
        same += 1
    elif not told.stdout.strip():
        # Pages that are searched for in a damaged file, where pdftotext finds none.
        found += 1
    else:
        other += 1
        print(f"{file}: {len(text)} bytes for {len(told.stdout)}")
print(f"{same} are the same, {other} are not; of {refused} there is no text, of {found} only here")
sys.exit(worker.close() or other)
