"""hostile_documents.py FFCONVERT FILE…: each file whole, cut off and with flipped bits, and some made to hurt.

A worker may die of a file, which costs its job only; it must not run on, and two workers make the same bytes of the same
file. Prints how many jobs ended how.
"""
import os
import random
import sys
import tempfile
import zlib

from raw_files import png
from worker import Worker

program, files = sys.argv[1], sys.argv[2:]
random.seed(7)
place = tempfile.mkdtemp() + "/file"
counts = {"made": 0, "refused": 0, "died": 0}
worker = Worker(program)


def ask(recipe, timeout=60):
    global worker
    try:
        answer = worker.ask(place, recipe, timeout=timeout)
    except EOFError:
        counts["died"] += 1
        worker = Worker(program)
        return None
    counts["refused" if answer[0] else "made"] += 1
    assert answer[0] == 0 or answer[2], "fails without a sentence"
    return answer


def write(content):
    with open(place, "wb") as out:
        out.write(content)


write(png(100_000, 100_000, zlib.compress(bytes(1 << 20))))
answer = ask("jpeg ")
assert answer and answer[0] == 4, f"100,000 x 100,000: {answer}"
bomb = zlib.compressobj(9)
rows = b"".join(bomb.compress(bytes(1 << 24)) for _ in range(8)) + bomb.flush()
write(png(30_000, 30_000, rows))
answer = ask("jpeg 100px")
assert answer and answer[0], f"a PNG that ends too early: {answer[:3]}"
write(b"")
assert ask("jpeg ")[0] == 1 and ask("pages 1")[0] == 1
write(b"%PDF-1.4\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj 2 0 obj <</Type/Pages/Count 9/Kids[2 0 R]>> endobj\n"
      b"trailer <</Root 1 0 R>>\n")
assert ask("pages 1")[0] == 1
write(b"%PDF-1.4\n" + b"1 0 obj " + b"[" * 200_000)
ask("pages 1")

for file in files:
    with open(file, "rb") as source:
        content = source.read()
    recipes = ("pages 1", "text", "reflowed", "jpeg 72dpi") if file.endswith(".pdf") else ("jpeg ", "png 100px")
    if file.endswith(".pdf") and len(content) < 200_000:
        # A debug build is very slow for many pixels.
        recipes += ("compressed 150dpi.q60",)
    flipped = bytearray(content)
    for _ in range(20):
        flipped[random.randrange(len(flipped))] ^= 1 << random.randrange(8)
    for variant in (content, content[: len(content) // 2], bytes(flipped)):
        write(variant)
        for recipe in recipes:
            first = ask(recipe)
            if variant is content and first and first[0] == 0:
                other = Worker(program)
                assert other.ask(place, recipe)[3] == first[3], f"{file} {recipe}: not the same bytes twice"
                other.close()
os.remove(place)
os.rmdir(os.path.dirname(place))
print(counts)
sys.exit(worker.close())
