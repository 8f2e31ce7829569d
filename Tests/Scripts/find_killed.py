#!/usr/bin/env python3
"""find_killed.py FFMOUNT FOLDER [SECONDS [SEED]]: kills `ffmount index --search` each second (SECONDS) until one run ends by
itself.

The answers are then the same as those of an index that was made in one run. Workers end with the process that is killed. Then
bytes of the index are changed, and the answers stay the same. Makes the tree of make_findable.py in FOLDER, unless it is
there."""

import ctypes
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import find_command

folder = Path(sys.argv[2]).resolve()
seconds, seed = float(sys.argv[3]) if len(sys.argv) > 3 else 1.0, int(sys.argv[4]) if len(sys.argv) > 4 else 1
command, chance = find_command.Command(sys.argv[1], folder / "tree"), random.Random(seed)
ROUNDS = 300
SUBREAPER = 36


def left():
    """The processes whose parent was killed, after some time for them to end."""
    end = time.monotonic() + 10
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return []
        names = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        if not names or time.monotonic() > end:
            return names
        time.sleep(0.05)


def killed(cache):
    """Kills one process after the other until one ends, and returns how many were killed."""
    global seconds
    for kills in range(ROUNDS):
        process = command.index(cache)
        try:
            said = process.communicate(timeout=chance.uniform(0.3, 1.5) * seconds)[1]
            if process.returncode:
                command.failures.append(f"after {kills} kills: status {process.returncode}: {said[-300:]}")
            return kills
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
        if names := left():
            command.failures.append(f"kill {kills + 1}: processes {names} are left")
            for name in names:
                os.kill(int(name), signal.SIGKILL)
        if kills % 20 == 19:
            # A file that takes longer than the time between kills would be begun for ever.
            seconds *= 1.5
    command.failures.append(f"the index is not complete after {ROUNDS} kills")
    return ROUNDS


def damage(cache):
    """Changes bytes in the largest file of the index."""
    files = [path for path in cache.rglob("*") if path.is_file() and "find" in path.relative_to(cache).parts]
    largest = max(files, key=lambda path: path.stat().st_size)
    size = largest.stat().st_size
    with open(largest, "r+b") as file:
        for _ in range(20):
            file.seek(chance.randrange(size // 10, size - 64))
            file.write(chance.randbytes(32))
    return largest.relative_to(cache)


def main():
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    queries = find_command.known(folder)
    scratch = Path(tempfile.mkdtemp(prefix="find-killed.", dir=folder))
    try:
        whole, parts = scratch / "whole", scratch / "parts"
        started = time.monotonic()
        process = command.index(whole)
        said = process.communicate()[1]
        taken = time.monotonic() - started
        if process.returncode:
            sys.exit(f"the index is not made: {said}")
        expected = command.answers(whole, queries)
        kills = killed(parts)
        command.compare(f"after {kills} kills", command.answers(parts, queries), expected)
        damaged = damage(parts)
        command.compare(f"after damage to {damaged}", command.answers(parts, queries), expected)
        count = sum(map(len, expected.values()))
        print(f"{len(queries)} queries, {count} hits; in one run {taken:.1f} s; {kills} kills; damaged: {damaged}")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print("\n".join(command.failures) or "the same answers")
    return 1 if command.failures else 0


if __name__ == "__main__":
    sys.exit(main())
