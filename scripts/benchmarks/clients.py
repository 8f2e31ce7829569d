"""Readers that time themselves, so that Python's own start is not measured.

Each prints its wall seconds, its CPU seconds and, where it can, a checksum of what it read.
Run as a program: it imports nothing of the other modules.
"""

import ctypes
import ctypes.util
import email.policy
import functools
import hashlib
import importlib
import mailbox
import os
import random
import resource
import struct
import subprocess
import sys
import time
import zipfile
import zlib
from collections.abc import Callable


def stat(source: str, root: str, count: str) -> tuple[float, float, str]:
    """Mean seconds for os.stat of `count` files, each for the first time; names come from `source`."""
    paths = _chosen(source, root, count)

    # The cost of the loop and a system call without a file system.
    null = os.open(os.devnull, os.O_RDONLY)
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in paths:
        os.fstat(null)
    empty_wall, empty_cpu = time.perf_counter() - wall, time.process_time() - cpu

    size = 0
    wall, cpu = time.perf_counter(), time.process_time()
    for path in paths:
        size += os.stat(path).st_size
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return (wall - empty_wall) / len(paths), (cpu - empty_cpu) / len(paths), f"{size:x}"


def entries(source: str, root: str, count: str) -> tuple[float, float, str]:
    """Mean seconds to open, read and close `count` files, each for the first time; names come from `source`."""
    paths, crc = _chosen(source, root, count), 0
    wall, cpu = time.perf_counter(), time.process_time()
    for path in paths:
        file = os.open(path, os.O_RDONLY)
        crc = zlib.crc32(os.read(file, 4096), crc)
        os.close(file)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return wall / len(paths), cpu / len(paths), f"{crc:x}"


def _chosen(source: str, root: str, count: str) -> list[str]:
    """Paths of files below `root`, chosen by the names in `source`, whose folders the kernel knows."""
    names = [
        os.path.join(os.path.relpath(folder, source), name)
        for folder, _, files in sorted(os.walk(source))
        for name in sorted(files)
    ]
    chosen = random.Random(5).sample(names, min(int(count), len(names)))
    paths = [os.path.normpath(os.path.join(root, name)) for name in chosen]
    for folder in {os.path.dirname(path) for path in paths}:
        os.stat(folder)
    return paths


def pread(path: str, seed: str, count: str, size: str) -> tuple[float, float, str]:
    """Reads at random offsets of a file; of one at the root of a mount, the kernel has cached nothing."""
    file = os.open(path, os.O_RDONLY)
    if os.path.ismount(os.path.dirname(path)):
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    noise, end = random.Random(int(seed)), os.fstat(file).st_size - int(size)
    offsets = [noise.randrange(end) for _ in range(int(count))]
    crc = 0
    wall, cpu = time.perf_counter(), time.process_time()
    for offset in offsets:
        crc = zlib.crc32(os.pread(file, int(size), offset), crc)
    return time.perf_counter() - wall, time.process_time() - cpu, f"{crc:x}"


def inflate(library: str, path: str) -> tuple[float, float, str]:
    """Inflates the first entry of an archive in process."""
    entry = zipfile.ZipFile(path).infolist()[0]
    with open(path, "rb") as file:
        file.seek(entry.header_offset + 26)
        name_size, extra_size = struct.unpack("<HH", file.read(4))
        file.seek(name_size + extra_size, os.SEEK_CUR)
        packed = file.read(entry.compress_size)
    work = {"zlib": _stream, "isal": _stream, "libdeflate": _libdeflate}[library](library, packed, entry)

    wall, cpu = time.perf_counter(), time.process_time()
    size = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if size != entry.file_size:
        sys.exit(f"{library}: {size} bytes of {entry.file_size}")
    return wall, cpu, ""


def _stream(library: str, packed: bytes, _: zipfile.ZipInfo) -> Callable[[], int]:
    codec = importlib.import_module("zlib" if library == "zlib" else "isal.isal_zlib")

    def work() -> int:
        inflater, size, step = codec.decompressobj(-15), 0, 1 << 16
        for offset in range(0, len(packed), step):
            size += len(inflater.decompress(packed[offset : offset + step]))
        return size

    return work


def _libdeflate(_: str, packed: bytes, entry: zipfile.ZipInfo) -> Callable[[], int]:
    library = ctypes.CDLL(ctypes.util.find_library("deflate") or "libdeflate.so.0")
    library.libdeflate_alloc_decompressor.restype = ctypes.c_void_p
    pointer, number = ctypes.c_void_p, ctypes.c_size_t
    inflate_all = library.libdeflate_deflate_decompress
    inflate_all.argtypes = [pointer, ctypes.c_char_p, number, pointer, number, pointer]
    inflater = library.libdeflate_alloc_decompressor()
    output = ctypes.create_string_buffer(entry.file_size)
    ctypes.memset(output, 1, len(output))  # A limit does not include page faults.
    actual = ctypes.c_size_t()

    def work() -> int:
        failed = inflate_all(
            inflater, packed, len(packed), output, len(output), ctypes.byref(actual)
        )
        return -1 if failed else actual.value

    return work


def replaced(archive: str, view: str) -> tuple[float, float, str]:
    """How long after an archive was replaced its new tree is seen."""

    def write(path: str, name: str) -> None:
        with zipfile.ZipFile(path, "w") as target:
            target.writestr(name, name)

    write(archive, "before")
    if os.listdir(view) != ["before"]:
        sys.exit(f"{view} shows {os.listdir(view)}")
    write(archive + ".new", "after")
    os.replace(archive + ".new", archive)
    wall, cpu = time.perf_counter(), time.process_time()
    while os.listdir(view) != ["after"]:
        if time.perf_counter() - wall > 10:
            sys.exit("not seen within ten seconds")
        time.sleep(0.001)
    return time.perf_counter() - wall, time.process_time() - cpu, ""


def message(folder: str, name: str, count: str) -> tuple[float, float, str]:
    """Mean seconds to open, read and close the file `name` of `count` messages, chosen out of all by name."""
    paths = [f"{folder}/{each}/{name}" for each in random.Random(8).sample(sorted(os.listdir(folder)), int(count))]
    size = 0
    wall, cpu = time.perf_counter(), time.process_time()
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            size += len(file.read())
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return wall / len(paths), cpu / len(paths), f"{size:x}"


def names(path: str) -> tuple[float, float, str]:
    """Python's mailbox module: the subject, sender and date of every message."""
    wall, cpu = time.perf_counter(), time.process_time()
    archive = mailbox.mbox(path, create=False)
    count = sum(bool(each["subject"] or each["from"] or each["date"]) for each in archive)
    return time.perf_counter() - wall, time.process_time() - cpu, f"{count}"


def texts(path: str, word: str, way: str) -> tuple[float, float, str]:
    """Python's mailbox module: looks for a word in the decoded text of every message, or in that of its HTML.

    By `classic` messages, of which the bytes are searched, or by `modern` ones, of which the characters are.
    """
    wall, cpu = time.perf_counter(), time.process_time()
    found = 0
    if way == "classic":
        for each in mailbox.mbox(path, create=False):
            kinds = {}
            for part in each.walk():
                if not part.is_multipart() and not part.get_filename():
                    kinds.setdefault(part.get_content_type(), part)
            text = kinds.get("text/plain") or kinds.get("text/html")
            found += text is not None and word.encode() in text.get_payload(decode=True)
    else:
        read = functools.partial(email.message_from_binary_file, policy=email.policy.default)
        for each in mailbox.mbox(path, read, create=False):
            text = each.get_body(("plain", "html"))
            found += text is not None and word in text.get_content()
    return time.perf_counter() - wall, time.process_time() - cpu, ""


def pages(percent: str, root: str, kept: str, count: str, *manuals: str) -> tuple[float, float, str]:
    """A percentile of what single pages cost a warm mount: seconds, and CPU seconds of the file system's processes.

    The same pages serve for all percentiles: what they cost is kept in a file.
    """
    if not os.path.exists(kept):
        # One worker has all documents open, so that each page is read for the first time, but from an open document.
        daemon = _daemon(root)
        with open(kept, "w") as file:
            for manual in manuals:
                folder = f"{root}/{manual}.pages"
                numbers = sorted(os.listdir(folder))
                # The first pages open the document in each worker.
                _times(daemon, [f"{folder}/{name}" for name in numbers[:4]])
                chosen = random.Random(6).sample(numbers[4:], min(int(count), len(numbers) - 4))
                for wall, cpu in _times(daemon, [f"{folder}/{name}" for name in chosen]):
                    file.write(f"{wall} {cpu}\n")
    with open(kept) as file:
        figures = [tuple(map(float, line.split())) for line in file]
    wall, cpu = (sorted(column)[len(figures) * int(percent) // 100] for column in zip(*figures))
    return wall, cpu, ""


def _times(daemon: int, paths: list[str]) -> list[tuple[float, float]]:
    found = []
    for path in paths:
        wall, cpu = time.perf_counter(), _cpu(daemon)
        with open(path, "rb", buffering=0) as file:
            while file.read(1 << 20):
                pass
        found.append((time.perf_counter() - wall, _cpu(daemon) - cpu))
    return found


def _daemon(mountpoint: str) -> int:
    """The process, a child of the same parent as this one, that serves a mount."""
    parent = os.getppid()
    for task in os.listdir(f"/proc/{parent}/task"):
        for child in open(f"/proc/{parent}/task/{task}/children").read().split():
            if mountpoint.encode() in open(f"/proc/{child}/cmdline", "rb").read().split(b"\0"):
                if int(child) != os.getpid():
                    return int(child)
    sys.exit(f"nothing is known to serve {mountpoint}")


def _cpu(daemon: int) -> float:
    """CPU seconds of a process and its descendants, by their clocks (clock_getcpuclockid(3))."""
    found, total = [daemon], 0.0
    for process in found:
        try:
            total += time.clock_gettime(~process << 3 | 2)
            for task in os.listdir(f"/proc/{process}/task"):
                found += map(int, open(f"/proc/{process}/task/{task}/children").read().split())
        except OSError:
            pass
    return total


def extract(percent: str, count: str, *arguments: str) -> tuple[float, float, str]:
    """A percentile of what a program takes for single pages, two of each file.

    The arguments are `count` words of a command, with {file} and {page}, and the files.
    """
    words, files = arguments[: int(count)], arguments[int(count) :]
    figures = []
    for file in files:
        last = int(subprocess.run(["qpdf", "--show-npages", file], capture_output=True, check=True).stdout)
        for number in (1, 2):
            command = [word.format(file=file, page=max(1, last * number // 3)) for word in words]
            wall, usage = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime
            figures.append((time.perf_counter() - wall, cpu))
    wall, cpu = (sorted(column)[len(figures) * int(percent) // 100] for column in zip(*figures))
    return wall, cpu, ""


def first(folder: str) -> tuple[float, float, str]:
    """Reads the first page of a document, whose number has as many digits as that of its pages."""
    wall, cpu = time.perf_counter(), time.process_time()
    for digits in range(3, 7):
        try:
            with open(f"{folder}/{1:0{digits}}.pdf", "rb") as file:
                file.read()
        except FileNotFoundError:
            continue
        return time.perf_counter() - wall, time.process_time() - cpu, ""
    sys.exit(f"{folder} has no first page")


def digest() -> tuple[float, float, str]:
    """Reads its input to the end."""
    digest = hashlib.sha1()
    wall, cpu = time.perf_counter(), time.process_time()
    while data := os.read(0, 1 << 20):
        digest.update(data)
    return time.perf_counter() - wall, time.process_time() - cpu, digest.hexdigest()


def listing(folder: str) -> tuple[float, float, str]:
    """Lists a folder."""
    wall, cpu = time.perf_counter(), time.process_time()
    count = len(os.listdir(folder))
    return time.perf_counter() - wall, time.process_time() - cpu, f"{count}"


if __name__ == "__main__":
    clients = [stat, entries, pread, inflate, replaced, message, names, texts, pages, extract, first, listing, digest]
    client = {each.__name__: each for each in clients}[sys.argv[1]]
    print(*client(*sys.argv[2:]))
