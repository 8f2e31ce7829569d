#!/usr/bin/env python3
"""read_anyhow.py HOW SEED SIZE FILE: reads a file that `make` wrote, noise that deflates, and checks each byte.

make, sequential, random (200 reads of 64 KiB), backwards, mmap, parallel (64 processes), threads (16 on one descriptor)
"""

import hashlib
import mmap
import os
import random
import sys
import threading
import zipfile

how, seed, size, path = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
BLOCK = 4096


def block(index):
    """Any block of the content by itself: half noise, half not."""
    noise = hashlib.shake_128(b"%d %d" % (seed, index)).digest(BLOCK // 2)
    return (noise + b"%08d" % index * (BLOCK // 16))[:BLOCK]


def expected(offset, count):
    count = max(0, min(count, size - offset))
    first = offset // BLOCK
    data = b"".join(block(index) for index in range(first, (offset + count + BLOCK - 1) // BLOCK))
    return data[offset - first * BLOCK:][:count]


def check(offset, found, count):
    if found != expected(offset, count):
        sys.stderr.write(f"wrong bytes at {offset}, {len(found)} of {count}\n")
        os._exit(1)


def read_randomly(file, count, generator):
    for _ in range(count):
        offset = generator.randrange(-4096, size + 4096)
        offset = max(0, offset)
        length = generator.choice([1, 100, 4096, 65536, 65536, 200_000])
        check(offset, os.pread(file, length, offset), length)


def make():
    method = zipfile.ZIP_STORED if path.endswith(".stored.zip") else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(path, "w", method, compresslevel=1) as archive, archive.open("m", "w") as file:
        for index in range((size + BLOCK - 1) // BLOCK):
            file.write(expected(index * BLOCK, BLOCK))


def sequential():
    with open(path, "rb", buffering=0) as file:
        offset = 0
        while chunk := file.read(1 << 20):
            check(offset, chunk, len(chunk))
            offset += len(chunk)
        if offset != size:
            sys.exit(f"{offset} bytes")


def randomly():
    file = os.open(path, os.O_RDONLY)
    generator = random.Random(seed)
    for _ in range(200):
        offset = generator.randrange(size)
        check(offset, os.pread(file, 65536, offset), 65536)


def backwards():
    file = os.open(path, os.O_RDONLY)
    for offset in range(size - 1 - (size - 1) % (1 << 20), -1, -(1 << 20)):
        check(offset, os.pread(file, 100_000, offset), 100_000)


def mapped():
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as map:
        generator = random.Random(seed)
        for _ in range(100):
            offset = generator.randrange(size)
            check(offset, map[offset:offset + 10_000], 10_000)
        check(size - 1, map[size - 1:], 1)


def parallel():
    children = []
    for number in range(64):
        child = os.fork()
        if child == 0:
            read_randomly(os.open(path, os.O_RDONLY), 12, random.Random(number))
            os._exit(0)
        children.append(child)
    sys.exit(1 if any([os.waitpid(child, 0)[1] for child in children]) else 0)


def in_threads():
    file = os.open(path, os.O_RDONLY)
    threads = [threading.Thread(target=read_randomly, args=(file, 30, random.Random(number))) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


{"make": make, "sequential": sequential, "random": randomly, "backwards": backwards, "mmap": mapped,
 "parallel": parallel, "threads": in_threads}[how]()
