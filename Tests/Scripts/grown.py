#!/usr/bin/env python3
"""grown.py SOURCE MOUNT: files are changed in the source while they are open through the mount; within .7 s (half a second is
promised) each way to ask by the mount says what is there now: also copy_file_range(2) and sendfile(2), which ask for no
attributes before. Each change and each question has a file of its own, and all of them wait together."""

import fcntl
import os
import sys
import time
from pathlib import Path

from linked import QUESTIONS, short
from written import write

OLD = b"a" * 5000


def appended(path):
    write(path, b"b" * 5000, os.O_WRONLY | os.O_APPEND)
    return OLD + b"b" * 5000


def cut(path):
    os.truncate(path, 100)
    return OLD[:100]


def overwritten(path):
    write(path, b"c" * 5000, os.O_WRONLY)
    return b"c" * 5000


def with_its_old_time(path):
    """Shows to who opens the file."""
    state = os.stat(path)
    write(path, b"d" * 5000, os.O_WRONLY)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    return b"d" * 5000


def cut_and_grown(path):
    os.truncate(path, 0)
    write(path, b"e" * 7000, os.O_WRONLY)
    return b"e" * 7000


def by_its_other_name(path):
    write(path + ".other", b"f" * 6000, os.O_WRONLY)
    return b"f" * 6000


CHANGES = [appended, cut, overwritten, with_its_old_time, cut_and_grown, by_its_other_name]


def replaced(path):
    """The name has another file then; what is open is the old one."""
    write(path + ".new", b"new")
    os.rename(path + ".new", path)
    return OLD


def removed(path):
    os.unlink(path)
    return OLD


NAMELESS = [replaced, removed]


def grown(source, mount):
    found, cases = [], []
    for change in CHANGES + NAMELESS:
        for question in QUESTIONS:
            if change in NAMELESS and question.__name__ in ("by_stat", "by_appending", "by_another_process"):
                continue
            name = f"{change.__name__}.{question.__name__}"
            os.makedirs(f"{source}/{name}")
            write(f"{source}/{name}/a", OLD)
            os.link(f"{source}/{name}/a", f"{source}/{name}/a.other")
            cases.append((name, change, question))
    time.sleep(0.7)
    opened = []
    for name, change, question in cases:
        path = f"{mount}/{name}/a"
        file = os.open(path, os.O_RDWR)
        os.pread(file, 20_000, 0), os.stat(path), Path(path).read_bytes()
        opened.append((file, path, question, name))
    wanted = [change(f"{source}/{name}/a") for name, change, _ in cases]
    time.sleep(0.7)
    for (file, path, question, name), want in zip(opened, wanted):
        try:
            if name.startswith("with_its_old_time"):
                os.close(os.open(path, os.O_RDONLY))
            given, want = question(file, path, want)
            if given != want:
                found.append(f"{name}: {short(given)}, not {short(want)}")
        except OSError as error:
            found.append(f"{name}: {error}")
        os.close(file)
    found += at_once(source, mount)
    print(f"{len(cases)} cases, {len(found)} wrong", flush=True)
    return found


def at_once(source, mount):
    """What needs no half of a second: O_APPEND is the source's, and so are names that are made and removed."""
    found = []
    for number in range(10):
        for how in ("appended", "exclusive", "old"):
            name = f"{how}{number}"
            inner, outer = f"{mount}/{name}", f"{source}/{name}"
            write(outer, b"one")
            file = os.open(inner, os.O_WRONLY)
            if how == "appended":
                write(outer, b" two", os.O_WRONLY | os.O_APPEND)
                fcntl.fcntl(file, fcntl.F_SETFL, os.O_APPEND)
                os.write(file, b" three")
                wanted = b"one two three"
            elif how == "exclusive":
                os.unlink(outer)
                write(inner, b"again", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
                wanted = b"again"
            else:
                write(outer + ".new", b"new")
                os.rename(outer + ".new", outer)
                os.write(file, b"OLD")
                wanted = b"new"
            os.close(file)
            if Path(outer).read_bytes() != wanted:
                found.append(f"{how}: {Path(outer).read_bytes()}, not {wanted}")
    return found


if __name__ == "__main__":
    problems = grown(sys.argv[1], sys.argv[2])
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
