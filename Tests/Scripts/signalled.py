#!/usr/bin/env python3
"""signalled.py SOURCE MOUNT [SECONDS]: a program gets a signal some hundred times a second, as PostgreSQL's does from its timers and
other processes, while it works on files; no call says EINTR, which none does in a bare folder, where the same is tried first. The
handler is a C function with SA_RESTART, and the calls are the C library's, because Python's own are made again."""

import collections
import ctypes
import errno
import os
import signal
import sys
import time
from pathlib import Path

library = ctypes.CDLL(None, use_errno=True)
for name in ("pread", "pwrite"):
    getattr(library, name).argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long]
#: The number of getdents64(2).
LISTED = {"x86_64": 217, "aarch64": 61}[os.uname().machine]


def interrupted(folder, seconds):
    """The errors of calls in a folder, by call, and the number of all calls."""
    place = os.fsencode(folder)
    os.mkdir(place)
    for number in range(200):
        os.close(os.open(place + b"/n%d" % number, os.O_CREAT | os.O_WRONLY))
    errors, count = collections.Counter(), collections.Counter()
    buffer = ctypes.create_string_buffer(65536)

    def call(name, *arguments):
        given = getattr(library, name)(*arguments)
        count[name] += 1
        if given < 0:
            errors[f"{'getdents' if name == 'syscall' else name}: {errno.errorcode[ctypes.get_errno()]}"] += 1
        return given

    parent, child = os.getpid(), os.fork()
    if child == 0:
        while os.getppid() == parent:
            time.sleep(0.0007)
            os.kill(parent, signal.SIGALRM)
        os._exit(0)
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        number += 1
        one, other = place + b"/f%d" % (number % 7), place + b"/other"
        file = call("open", one, os.O_RDWR | os.O_CREAT, 0o644)
        if file >= 0:
            call("pwrite", file, buffer, 9000, 0)
            call("fsync", file)
            call("pread", file, buffer, 9000, 0)
            call("ftruncate", file, 10)
            call("fdatasync", file)
            call("posix_fallocate", file, 0, 100)
            call("fchmod", file, 0o600)
            call("flock", file, 2)
            call("close", file)
        listing = call("open", place, os.O_RDONLY | os.O_DIRECTORY)
        if listing >= 0:
            while call("syscall", LISTED, listing, buffer, 4096) > 0:
                pass
            call("fsync", listing)
            call("close", listing)
        for words in (("link", one, other), ("rename", other, other + b"2"), ("access", other + b"2", 0), ("chmod", one, 0o644),
                      ("unlink", other + b"2"), ("unlink", one), ("mkdir", other, 0o755), ("rmdir", other)):
            call(*words)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return errors, sum(count.values())


def signalled(source, mount, seconds=10):
    # signal(2) of glibc sets SA_RESTART; abs(3) does nothing.
    library.signal(signal.SIGALRM, ctypes.cast(library.abs, ctypes.c_void_p))
    unexpected, _ = interrupted(Path(source).parent / "bare", min(3, seconds))
    errors, count = interrupted(f"{mount}/work", seconds)
    print(f"{count} calls, {sum(errors.values())} failed", flush=True)
    return [f"in a bare folder, {what}: {often} times" for what, often in unexpected.items()] + [
        f"{what}: {often} times" for what, often in errors.items()]


if __name__ == "__main__":
    problems = signalled(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
