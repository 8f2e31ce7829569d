"""many_opens.py MOUNT FILES THREADS OPENS: each thread opens and reads so many conversions of the images 1 to FILES.

They start together, and each in an order of its own, so that most are opened while they are being made.
"""
import hashlib
import random
import sys
import threading

mount, files, threads, opens = sys.argv[1], *map(int, sys.argv[2:])
start = threading.Barrier(threads)
seen: dict[int, set[tuple[int, str]]] = {number: set() for number in range(1, files + 1)}
wrong: list[str] = []


def work(thread: int) -> None:
    noise = random.Random(thread)
    start.wait()
    for _ in range(opens):
        number = noise.randint(1, files)
        try:
            with open(f"{mount}/{number}.pgm.as-jpeg", "rb") as file:
                content = file.read()
        except OSError as error:
            wrong.append(f"{number}: {error}")
            continue
        if not content.startswith(b"\xff\xd8\xff"):
            wrong.append(f"{number}: no JPEG")
        seen[number].add((len(content), hashlib.sha256(content).hexdigest()[:8]))


crowd = [threading.Thread(target=work, args=(thread,)) for thread in range(threads)]
for thread in crowd:
    thread.start()
for thread in crowd:
    thread.join()
wrong += [f"{number}: contents of (size, hash) {contents}" for number, contents in seen.items() if len(contents) > 1]
print("\n".join(wrong[:10]) or f"{threads * opens} opens, all the same")
sys.exit(bool(wrong))
