#!/usr/bin/env python3
"""cycles.py SOURCE MOUNT PID COUNT: opens, reads, lists and looks up COUNT times over archives that come and go.

Then the daemon PID must hold what it held after a warm-up: descriptors, threads, memory. First proves that the counters
see an open file.
"""

import os
import shutil
import sys
import threading
import time
import zipfile

source, mount, pid, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
BATCH = 100


def footprint():
    status = dict(line.split(":", 1) for line in open(f"/proc/{pid}/status"))
    return len(os.listdir(f"/proc/{pid}/fd")), int(status["Threads"]), int(status["VmRSS"].split()[0])


def make_templates():
    for number in range(40):
        with zipfile.ZipFile(os.path.join(source, f"template{number}.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
            for inner in range(30):
                archive.writestr(f"folder{inner % 3}/file{inner}.txt", f"{number} {inner} " * 5000)
    with open(os.path.join(source, "big"), "wb") as file:
        file.write(b"x" * (1 << 20))


def cycle(number):
    path = os.path.join(mount, f"c{number}.zip.contents")
    folder = os.path.join(path, f"folder{number % 3}")
    names = os.listdir(folder)
    if len(names) != 10:
        sys.exit(f"{len(names)} names")
    for name in names[number % 10:][:2]:
        with open(os.path.join(folder, name), "rb") as file:
            start = f"{number % 40} {name[4:-4]} ".encode()
            if not file.read().startswith(start):
                sys.exit("wrong bytes")
    if os.path.lexists(os.path.join(path, "nothing")) or os.getxattr(path, "user.ffmount.state") != b"exact":
        sys.exit("wrong answers")


def batch(first):
    for number in range(first, first + BATCH):
        shutil.copyfile(os.path.join(source, f"template{number % 40}.zip"), os.path.join(source, f"c{number}.zip"))
    for number in range(first, first + BATCH):
        cycle(number)
    for number in range(first, first + BATCH):
        os.unlink(os.path.join(source, f"c{number}.zip"))
    # After the kernel's cache has expired, a lookup makes it forget each node.
    time.sleep(0.6)
    for number in range(first, first + BATCH):
        if os.path.lexists(os.path.join(mount, f"c{number}.zip.contents")):
            sys.exit("still there")


def warm_up():
    """All of libfuse's threads, all pools."""
    def read():
        for number in range(40):
            with open(os.path.join(mount, f"template{number}.zip.contents", "folder0", "file0.txt"), "rb") as file:
                file.read()

    threads = [threading.Thread(target=read) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for first in [0, BATCH, 2 * BATCH]:
        batch(first)


def check_counter():
    """A deflated entry holds its archive open, a file itself."""
    before = footprint()[0]
    held = [os.open(os.path.join(mount, "big"), os.O_RDONLY) for _ in range(5)]
    for file in held:
        os.read(file, 10)
    during = footprint()[0]
    for file in held:
        os.close(file)
    time.sleep(0.3)
    after = footprint()[0]
    if during <= before or after > before:
        sys.exit(f"the counter does not see open files: {before}, {during}, {after} descriptors")


make_templates()
warm_up()
check_counter()
before = footprint()
for first in range(3 * BATCH, 3 * BATCH + count, BATCH):
    batch(first)
after = footprint()
print("before", before, "after", after)
# Readers, workers and a few more: the maximum that may ever be needed.
most_threads = 10 + 32 + 4
# Sanitizers keep freed memory.
most = float("inf") if os.environ.get("FFMOUNT_SANITIZER") else before[2] + 4096
if after[0] > before[0] + 4 or after[1] > most_threads or after[2] > most:
    sys.exit(f"not flat: descriptors, threads, KiB were {before}, are {after}")
