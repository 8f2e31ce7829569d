"""damaged_images.py FFCONVERT: six hundred images that cannot be opened cost a worker nothing that it keeps.

Asks one worker for a JPEG of each, and after each looks at what it has open. Prints how many were refused.
"""
import os
import random
import sys
import tempfile

from worker import Worker

numbers = random.Random(3)
folder = tempfile.mkdtemp()
place = f"{folder}/image"
worker = Worker(sys.argv[1])


def ask(content, recipe="jpeg "):
    with open(place, "wb") as out:
        out.write(content)
    return worker.ask(place, recipe)


def descriptors():
    return sorted(os.readlink(f"/proc/{worker.process.pid}/fd/{name}") for name in os.listdir(f"/proc/{worker.process.pid}/fd"))


#: Each starts as another kind does; what macOS calls ._NAME.png is none of them.
starts = [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"II*\0", b"BM", b"RIFF\0\0\0\0WEBP", b"\0\0\0\x1cftypheic",
          b"\0\0\0\x0cjP  ", b"\x76\x2f\x31\x01", b"<svg ", b"P6\n9 9\n255\n", b"\0\x05\x16\x07\0\x02\0\0Mac OS X"]
ask(b"none")
before = descriptors()
for index in range(600):
    answer = ask(starts[index % len(starts)] + numbers.randbytes(200))
    assert answer[0], f"{starts[index % len(starts)]}: made"
    assert descriptors() == before, f"{starts[index % len(starts)]}: left {descriptors()} open"
os.remove(place)
os.rmdir(folder)
print("600 refused")
sys.exit(worker.close())
