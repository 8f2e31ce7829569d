#!/usr/bin/env python3
"""failing.py SOURCE MOUNT RULES BACKING: MOUNT shows SOURCE, a file system that shows BACKING and fails as the file RULES says
(scripts/checks/writingcheck/failing.c). Each operation that fails below fails above with the same error, leaves what SOURCE leaves, and works
when the fault is over; and while some of all operations fail, nothing is told to be done that is not."""

import errno
import mmap
import os
import random
import sys
import time
from pathlib import Path

from written import described, renameat2, write


def ended(result):
    return "done" if result is None else result


class Place:
    """A folder, prepared for one operation: a file `f`, which is open to read and write, and other things."""

    def __init__(self, path):
        self.path = path
        os.mkdir(path)
        write(self.at("f"), b"0123456789" * 1000)
        write(self.at("g"), b"other")
        os.mkdir(self.at("d"))
        os.symlink("f", self.at("l"))
        os.setxattr(self.at("f"), "user.key", b"value")
        self.file, self.other = os.open(self.at("f"), os.O_RDWR), os.open(self.at("g"), os.O_RDWR)

    def at(self, name):
        return f"{self.path}/{name}"

    def said(self, action):
        try:
            return ended(action(self))
        except OSError as error:
            return errno.errorcode[error.errno]

    def end(self):
        for file in (self.file, self.other):
            try:
                os.close(file)
            except OSError:
                pass


def by_map(place):
    with mmap.mmap(place.file, 0) as shared:
        shared[0:3] = b"map"
        shared.flush()


def closed(place):
    file, place.file = place.file, -1
    os.write(file, b"closed")
    os.close(file)


def allocated(place):
    os.posix_fallocate(place.file, 0, 20_000)


#: What fails below, and a call that needs it.
ACTIONS = [
    ("write", lambda place: os.pwrite(place.file, b"x" * 5000, 0)),
    ("write", lambda place: os.pwrite(place.file, b"x" * 50_000, 9000)),
    ("write", by_map),
    ("read", lambda place: len(Path(place.at("f")).read_bytes())),
    ("fsync", lambda place: os.fsync(place.file)),
    ("fsync", lambda place: os.fdatasync(place.file)),
    ("flush", closed),
    ("truncate", lambda place: os.ftruncate(place.file, 5)),
    ("truncate", lambda place: os.truncate(place.at("f"), 5)),
    ("fallocate", allocated),
    ("chmod", lambda place: os.fchmod(place.file, 0o600)),
    ("chmod", lambda place: os.chmod(place.at("f"), 0o600)),
    ("utimens", lambda place: os.utime(place.at("f"), (5, 5))),
    ("chown", lambda place: os.chown(place.at("f"), os.getuid(), os.getgid())),
    ("setxattr", lambda place: os.setxattr(place.at("f"), "user.more", b"x")),
    ("getxattr", lambda place: os.getxattr(place.at("f"), "user.key")),
    ("listxattr", lambda place: os.listxattr(place.at("f"))),
    ("removexattr", lambda place: os.removexattr(place.at("f"), "user.key")),
    ("create", lambda place: write(place.at("new"), b"x")),
    ("open", lambda place: os.close(os.open(place.at("f"), os.O_WRONLY))),
    ("mkdir", lambda place: os.mkdir(place.at("new"))),
    ("mknod", lambda place: os.mkfifo(place.at("new"))),
    ("symlink", lambda place: os.symlink("f", place.at("new"))),
    ("link", lambda place: os.link(place.at("f"), place.at("new"))),
    ("unlink", lambda place: os.unlink(place.at("f"))),
    ("rmdir", lambda place: os.rmdir(place.at("d"))),
    ("rename", lambda place: os.rename(place.at("f"), place.at("g"))),
    ("rename", lambda place: renameat2(place.at("f"), place.at("g"), 2)),
    ("readlink", lambda place: os.readlink(place.at("l"))),
    ("readdir", lambda place: sorted(os.listdir(place.path))),
    ("statfs", lambda place: os.statvfs(place.path).f_namemax),
    ("fsyncdir", lambda place: os.fsync(os.open(place.path, os.O_RDONLY))),
]
#: Each action fails with the first, and with one of the others.
ERRORS = ["EIO", "ENOSPC", "EDQUOT", "EROFS"]


def one_by_one(source, mount, rules, backing):
    fail, number = [], 0
    for index, (what, action) in enumerate(ACTIONS):
        for name in (ERRORS[0], ERRORS[1 + index % 3]):
            number += 1
            rules.write_text("")
            below, above = Place(f"{source}/below{number}"), Place(f"{mount}/above{number}")
            said = []
            # The kernel has these for half a second.
            for place in (below, above):
                rules.write_text(f"{what} {getattr(errno, name)} 100\n")
                said.append(place.said(action))
                if what == "write" and place is above and said[0] != said[1] and action is by_map:
                    said[1] = place.said(lambda place: os.fsync(place.file))
                rules.write_text("")
            call = f"{number}: {what} fails with {name}"
            if said[0] != said[1]:
                fail.append(f"{call}: {said[1]}, not {said[0]}")
            for place in (below, above):
                place.end()
            if action is by_map:
                # The kernel keeps pages that it could not write, as those of a disk.
                file = os.open(above.at("f"), os.O_RDONLY)
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(file)
            trees = [described(f"{backing}/{end}{number}") for end in ("below", "above")]
            shown = described(f"{mount}/above{number}")
            for title, tree in (("is there", trees[1]), ("is shown", shown)):
                if tree != trees[0] and action not in (by_map,):
                    names = [key for key in tree.keys() | trees[0].keys() if tree.get(key) != trees[0].get(key)]
                    fail.append(f"{call}: {title}: {[(key, str(tree.get(key))[:80], str(trees[0].get(key))[:80]) for key in names]}")
            # The fault is over.
            again = Place(f"{mount}/again{number}")
            result = again.said(action)
            if isinstance(result, str) and result in errno.errorcode.values():
                fail.append(f"{call}: {result} when it is over")
            again.end()
    return fail, number


def short_writes(source, mount, rules, backing):
    """What takes half of the bytes only is told so, or asked for the rest."""
    fail = []
    for number, size in enumerate((10, 5000, 300_000)):
        name, data = f"short{number}", os.urandom(size)
        rules.write_text("")
        file = os.open(f"{mount}/{name}", os.O_RDWR | os.O_CREAT)
        rules.write_text("write 0 100\n")
        count = os.write(file, data)
        rules.write_text("")
        if Path(backing, name).read_bytes() != data[:count] or os.fstat(file).st_size != count:
            fail.append(f"of {size} bytes {count} are said to be written, {Path(backing, name).stat().st_size} are")
        os.pwrite(file, data[count:], count)
        os.close(file)
        if Path(mount, name).read_bytes() != data or Path(backing, name).read_bytes() != data:
            fail.append(f"{size} bytes, the rest later, are not all there")
    return fail


def storm(source, mount, rules, backing, seconds=8):
    """Two of a hundred operations below fail: what was done is there, and what failed may or may not be; then the mount shows
    what is there."""
    chance, fail, failures, calls, contents = random.Random(3), [], 0, 0, {}
    folder = f"{mount}/storm"
    os.mkdir(folder)
    rules.write_text(f"any {errno.EIO} 2\n")
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        name = f"f{chance.randrange(20)}"
        path, data = f"{folder}/{name}", chance.randbytes(chance.randrange(1, 9000))
        calls += 1
        try:
            kind = chance.randrange(4)
            known = contents.pop(name, None)
            if kind == 0:
                file = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                try:
                    written = os.write(file, data)
                    os.fsync(file)
                finally:
                    os.close(file)
                if written == len(data):
                    os.rename(path + ".new", path)
                    contents[name] = data
            elif kind == 1:
                os.unlink(path)
                contents[name] = None
            elif kind == 2:
                given = Path(path).read_bytes()
                if known and given != known:
                    fail.append(f"{name} has {len(given)} bytes, not the {len(known)} that were written")
                contents[name] = known or given
            else:
                os.link(path, f"{folder}/g{chance.randrange(20)}")
        except OSError as error:
            if error.errno == errno.ENOENT and kind == 1:
                contents[name] = None
            elif error.errno not in (errno.EIO, errno.ENOENT, errno.EEXIST):
                fail.append(f"another error: {error}")
            failures += 1
    rules.write_text("")
    time.sleep(0.7)
    for name, data in contents.items():
        path = Path(backing, "storm", name)
        if (path.read_bytes() if path.exists() else None) != data and data is not None:
            fail.append(f"{name} was written and is not there")
    if described(folder) != described(f"{backing}/storm"):
        fail.append("the mount shows something else than the source has")
    print(f"{calls} calls, {failures} failed", flush=True)
    return fail


def failing(source, mount, rules, backing):
    os.umask(0o022)
    fail, count = one_by_one(source, mount, Path(rules), backing)
    print(f"{count} faults", flush=True)
    fail += short_writes(source, mount, Path(rules), backing)
    fail += storm(source, mount, Path(rules), backing)
    return fail


if __name__ == "__main__":
    problems = failing(*sys.argv[1:5])
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
