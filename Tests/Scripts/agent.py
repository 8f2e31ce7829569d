#!/usr/bin/env python3
"""agent.py FOLDER: makes calls below FOLDER for MountAgent.swift, one a line; bytes are an x and hex digits."""

import os
import sys

top = os.fsencode(sys.argv[1])


def words(*values):
    return " ".join("x" + value.hex() if isinstance(value, bytes) else str(value) for value in values)


def full(path):
    return os.path.join(top, path) if path else top


def read(path, offset, count):
    file = os.open(full(path), os.O_RDONLY | os.O_NONBLOCK)
    try:
        return words(os.pread(file, int(count), int(offset)))
    finally:
        os.close(file)


def stat(path):
    status = os.lstat(full(path))
    seconds, nanoseconds = divmod(status.st_mtime_ns, 10**9)
    return words(status.st_mode, status.st_ino, status.st_nlink, status.st_uid, status.st_gid, status.st_size, seconds,
                 nanoseconds)


CALLS = {
    "list": lambda path: words(*os.listdir(full(path))),
    "stat": stat,
    "read": read,
    "readlink": lambda path: words(os.readlink(full(path))),
    "getxattr": lambda path, name: words(os.getxattr(full(path), name, follow_symlinks=False)),
    "listxattr": lambda path: words(*[os.fsencode(name) for name in os.listxattr(full(path), follow_symlinks=False)]),
}

for line in sys.stdin:
    call, *arguments = line.split()
    try:
        answer = CALLS[call](*[bytes.fromhex(word[1:]) if word.startswith("x") else word for word in arguments])
        print("ok", answer, flush=True)
    except OSError as error:
        print("errno", error.errno, flush=True)
