#!/usr/bin/env python3
"""linked.py SOURCE MOUNT [QUESTIONS]: a file has two names or had them, and is open by both. What is done by the one is seen at once by the
other: size, bytes, its end for lseek(2), O_APPEND, mmap(2), copy_file_range(2) and sendfile(2), and a read of another process.

Every way to come to two descriptors (WAYS) is tried with every change (CHANGES) and every question below, or as many as
QUESTIONS says, in turn; each time with new files.
The same is asked of a bare folder first, so that what is expected here is known to be what a file system gives."""

import fcntl
import mmap
import os
import sys
from pathlib import Path

from written import renameat2, write

OLD = b"o" * 3000
MANY = 20_000


def both(folder, first, second):
    """Both names' descriptors, after the kernel has seen the file by the second one."""
    files = os.open(first, os.O_RDWR), os.open(second, os.O_RDWR)
    os.stat(second), os.fstat(files[1]), os.pread(files[1], MANY, 0)
    return files


def linked(folder):
    os.link(folder + "/a", folder + "/b")
    return *both(folder, folder + "/a", folder + "/b"), "b"


def linked_after_opening(folder):
    file = os.open(folder + "/a", os.O_RDWR)
    os.pread(file, MANY, 0)
    os.link(folder + "/a", folder + "/b")
    other = os.open(folder + "/b", os.O_RDWR)
    os.pread(other, MANY, 0)
    return file, other, "b"


def first_name_removed(folder):
    file, other, name = linked(folder)
    os.unlink(folder + "/a")
    os.stat(folder + "/b"), os.fstat(other)
    return file, other, name


def asked_by_the_removed_name(folder):
    file, other, _ = linked(folder)
    os.unlink(folder + "/a")
    os.fstat(file)
    return other, file, None


def both_names_removed(folder):
    file, other, _ = linked(folder)
    os.unlink(folder + "/a")
    os.unlink(folder + "/b")
    os.fstat(other)
    return file, other, None


def renamed_over_itself(folder):
    file, other, name = linked(folder)
    os.rename(folder + "/a", folder + "/b")
    return file, other, name


def another_renamed_over_the_first(folder):
    file, other, name = linked(folder)
    write(folder + "/c", b"another")
    os.rename(folder + "/c", folder + "/a")
    os.stat(folder + "/a")
    return file, other, name


def exchanged_with_another(folder):
    file, other, _ = linked(folder)
    write(folder + "/c", b"another")
    renameat2(folder + "/b", folder + "/c", 2)
    os.stat(folder + "/b")
    return file, other, "c"


def name_came_back(folder):
    os.link(folder + "/a", folder + "/b")
    file = os.open(folder + "/a", os.O_RDWR)
    os.pread(file, MANY, 0)
    os.unlink(folder + "/a")
    os.rename(folder + "/b", folder + "/a")
    other = os.open(folder + "/a", os.O_RDWR)
    os.pread(other, MANY, 0)
    return file, other, "a"


def linked_by_its_descriptor(folder):
    os.link(folder + "/a", folder + "/b")
    file = os.open(folder + "/b", os.O_RDWR)
    os.unlink(folder + "/b")
    # Without a folder it is link(2), which does not follow.
    os.link(f"/proc/self/fd/{file}", folder + "/c", src_dir_fd=file, follow_symlinks=True)
    other = os.open(folder + "/c", os.O_RDWR)
    os.pread(other, MANY, 0)
    return file, other, "c"


def in_a_folder_that_moved(folder):
    os.mkdir(folder + "/one")
    os.link(folder + "/a", folder + "/one/b")
    file, other = both(folder, folder + "/a", folder + "/one/b")
    os.rename(folder + "/one", folder + "/two")
    return file, other, "two/b"


WAYS = [
    linked, linked_after_opening, first_name_removed, asked_by_the_removed_name, both_names_removed, renamed_over_itself,
    another_renamed_over_the_first, exchanged_with_another, name_came_back, linked_by_its_descriptor, in_a_folder_that_moved,
]


def grown(file, folder):
    os.pwrite(file, b"N" * 6000, 0)
    return b"N" * 6000


def overwritten(file, folder):
    os.pwrite(file, b"M" * 3000, 0)
    return b"M" * 3000


def appended(file, folder):
    fcntl.fcntl(file, fcntl.F_SETFL, os.O_APPEND)
    os.write(file, b"A" * 5000)
    fcntl.fcntl(file, fcntl.F_SETFL, 0)
    return OLD + b"A" * 5000


def cut(file, folder):
    os.ftruncate(file, 10)
    return OLD[:10]


def lengthened(file, folder):
    os.ftruncate(file, 9000)
    return OLD + bytes(6000)


def allocated(file, folder):
    os.posix_fallocate(file, 0, 7000)
    return OLD + bytes(4000)


def mapped(file, folder):
    with mmap.mmap(file, 0) as shared:
        shared[5:11] = b"mapped"
        shared.flush()
    return OLD[:5] + b"mapped" + OLD[11:]


def copied_into(file, folder):
    write(folder + "/from", b"C" * 5000)
    origin = os.open(folder + "/from", os.O_RDONLY)
    os.copy_file_range(origin, file, 5000, 0, 1000)
    os.close(origin)
    return OLD[:1000] + b"C" * 5000


def cut_and_grown(file, folder):
    os.ftruncate(file, 0)
    os.pwrite(file, b"again", 4)
    return bytes(4) + b"again"


CHANGES = [grown, overwritten, appended, cut, lengthened, allocated, mapped, copied_into, cut_and_grown]

# What each of them gives, and what it should give.


def by_fstat(file, path, wanted):
    return os.fstat(file).st_size, len(wanted)


def by_stat(file, path, wanted):
    return os.stat(path).st_size, len(wanted)


def by_pread(file, path, wanted):
    return os.pread(file, MANY, 0), wanted


def by_map(file, path, wanted):
    with mmap.mmap(file, 0, prot=mmap.PROT_READ) as shared:
        return shared[:], wanted


def by_seeking(file, path, wanted):
    return os.lseek(file, 0, os.SEEK_END), len(wanted)


def by_writing_at_the_end(file, path, wanted):
    os.lseek(file, 0, os.SEEK_END)
    os.write(file, b"end")
    return os.pread(file, MANY, 0), wanted + b"end"


def by_appending(file, path, wanted):
    write(path, b"end", os.O_WRONLY | os.O_APPEND)
    return os.pread(file, MANY, 0), wanted + b"end"


def by_copying(file, path, wanted):
    copy = os.open(os.path.dirname(path) + "/copy", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    try:
        os.copy_file_range(file, copy, MANY, 0, 0)
        return os.pread(copy, MANY, 0), wanted
    finally:
        os.close(copy)


def by_sending(file, path, wanted):
    copy = os.open(os.path.dirname(path) + "/copy", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    try:
        os.sendfile(copy, file, 0, MANY)
        return os.pread(copy, MANY, 0), wanted
    finally:
        os.close(copy)


def by_another_process(file, path, wanted):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, Path(path).read_bytes())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        given = answer.read()
    os.waitpid(child, 0)
    return given, wanted


#: Those that need a name.
NAMED = [by_stat, by_appending, by_another_process]
QUESTIONS = [by_fstat, by_pread, by_map, by_seeking, by_writing_at_the_end, by_copying, by_sending, *NAMED]


def short(value):
    return f"{len(value)} bytes {value[:3]!r}…{value[-3:]!r}" if isinstance(value, bytes) else value


def wrong(folder, source, questions):
    """The combinations that fail in a folder, whose source is another."""
    found, count = [], 0
    for way in WAYS:
        for change in CHANGES:
            # Begins with another one each time.
            turn = (WAYS.index(way) + CHANGES.index(change)) * 3 % len(QUESTIONS)
            for question in (QUESTIONS[turn:] + QUESTIONS[:turn])[:questions]:
                place = f"{folder}/{count}"
                kept = f"{source}/{count}"
                count += 1
                os.mkdir(place)
                write(place + "/a", OLD)
                file, other, name = way(place)
                try:
                    if name is None and question in NAMED:
                        continue
                    wanted = change(file, place)
                    given, wanted = question(other, f"{place}/{name or 'none'}", wanted)
                    said = f"{way.__name__}, {change.__name__}, asked {question.__name__}"
                    if given != wanted:
                        found.append(f"{said}: {short(given)}, not {short(wanted)}")
                    elif name and isinstance(wanted, bytes) and Path(kept, name).read_bytes() != wanted:
                        found.append(f"{said}: the source has other bytes")
                except OSError as error:
                    found.append(f"{way.__name__}, {change.__name__}, asked {question.__name__}: {error}")
                finally:
                    os.close(file)
                    os.close(other)
    return found, count


def two_names(source, mount, questions=len(QUESTIONS)):
    bare = str(Path(source).parent / "bare")
    for path in (bare, mount + "/linked"):
        os.mkdir(path)
    unexpected, _ = wrong(bare, bare, questions)
    found, count = wrong(mount + "/linked", source + "/linked", questions)
    print(f"{count} combinations, {len(found)} wrong", flush=True)
    return [f"in a bare folder, {line}" for line in unexpected] + found


if __name__ == "__main__":
    problems = two_names(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
