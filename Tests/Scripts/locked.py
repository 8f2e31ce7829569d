#!/usr/bin/env python3
"""locked.py SOURCE MOUNT [OPERATIONS [SEED]]: two processes lock one file by fcntl(2), through descriptors of each access mode, while the
mode of the file changes and may no longer permit to open it; the same is done in a bare folder. Every answer must be the same, and
what a third process finds locked from outside, byte by byte. Only an ordinary user is refused by modes."""

import errno
import fcntl
import multiprocessing
import os
import random
import struct
import sys
from pathlib import Path

#: The bytes of the file that are locked.
COUNT = 8
FLOCK = "hhqqi4x"
KINDS = [fcntl.F_RDLCK, fcntl.F_WRLCK, fcntl.F_UNLCK]
ACCESS = [os.O_RDONLY, os.O_WRONLY, os.O_RDWR]


def lock(file, command, kind, start, count):
    return struct.unpack(FLOCK, fcntl.fcntl(file, command, struct.pack(FLOCK, kind, os.SEEK_SET, start, count, 0)))


def locked(file):
    """The kind of lock that others have of each byte."""
    return [lock(file, fcntl.F_GETLK, fcntl.F_WRLCK, place, 1)[0] for place in range(COUNT)]


class Side:
    """A process's descriptors of the file in one folder."""

    def __init__(self, path):
        self.path, self.files = path, []

    def __call__(self, name, *arguments):
        try:
            return getattr(self, name)(*arguments)
        except OSError as error:
            return errno.errorcode[error.errno]

    def open(self, access):
        self.files.append(os.open(self.path, access))

    def close(self, number):
        if self.files:
            os.close(self.files.pop(number % len(self.files)))

    def lock(self, number, kind, start, count):
        if self.files:
            lock(self.files[number % len(self.files)], fcntl.F_SETLK, kind, start, count)

    def found(self, number, kind, start):
        return lock(self.files[number % len(self.files)], fcntl.F_GETLK, kind, start, 1)[0] if self.files else None


def serve(paths, connection):
    sides = [Side(path) for path in paths]
    while True:
        operation = connection.recv()
        connection.send([side(*operation) for side in sides])


def tried(paths, outside, operations, chance):
    """The operations of two processes on a new file; gives lines that say what differs."""
    watched = []
    for path in outside:
        path.write_bytes(b"x" * COUNT)
        path.chmod(0o600)
        watched.append(os.open(path, os.O_RDWR))
    # The kernel does not tell that a descriptor for reading is closed that was the only one when it was opened.
    watched += [os.open(path, os.O_RDWR) for path in paths]
    ends, processes = [], []
    for _ in range(2):
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.Process(target=serve, args=(paths, theirs), daemon=True)
        process.start()
        theirs.close()
        ends.append(ours)
        processes.append(process)
    done = []

    def same(who, operation):
        done.append((who, operation))
        ends[who].send(operation)
        bare, inner = ends[who].recv()
        if bare != inner:
            return [f"{operation}: {inner}, not {bare}"]
        bare, inner = (locked(file) for file in watched[:2])
        return [] if bare == inner else [f"{operation}: the locks are {inner}, not {bare}"]

    try:
        wrong = []
        # Some are open before the mode changes.
        for who in (0, 1):
            for access in chance.sample(ACCESS, chance.randrange(1, 4)):
                wrong = wrong or same(who, ("open", access))
        for _ in range(operations):
            if chance.random() < 0.05:
                mode = chance.choice([0o000, 0o200, 0o400, 0o400, 0o600])
                done.append(("mode", oct(mode)))
                for path in outside:
                    path.chmod(mode)
            operation = chance.choices([
                ("open", chance.choice(ACCESS)), ("close", chance.randrange(9)),
                ("found", chance.randrange(9), chance.choice(KINDS[:2]), chance.randrange(COUNT)),
                ("lock", chance.randrange(9), chance.choice(KINDS), chance.randrange(COUNT), chance.choice([0, 1, 1, 2, 3, 5])),
            ], [4, 3, 10, 40])[0]
            wrong = wrong or same(chance.randrange(2), operation)
            if wrong:
                return wrong + ["the operations, each with its process:", *map(str, done)]
        return wrong
    finally:
        for process in processes:
            process.kill()
            process.join()
        for file in watched:
            os.close(file)


def locks(source, mount, count=4000, seed=1):
    bare = Path(source).parent / "bare"
    bare.mkdir(exist_ok=True)
    chance, done = random.Random(seed), 0
    while done < count:
        name = f"f{done}"
        # What they open, and what is looked at from outside.
        wrong = tried([bare / name, Path(mount) / name], [bare / name, Path(source) / name], 100, chance)
        if wrong:
            return wrong
        done += 100
    print(f"{done} operations, seed {seed}", flush=True)
    return []


if __name__ == "__main__":
    problems = locks(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
