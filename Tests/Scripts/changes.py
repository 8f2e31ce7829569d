#!/usr/bin/env python3
"""changes.py CHANGE SOURCE MOUNT: makes one change to SOURCE and waits until MOUNT shows it, for a second at most."""

import errno
import hashlib
import mmap
import os
import sys
import time
import zipfile

change, source, mount = sys.argv[1:]
LIMIT = 1.0
# On a loaded machine this script may be delayed.
SLACK = 0.4


def below(*names):
    return os.path.join(source, *names), os.path.join(mount, *names)


def write(path, content, mode="wb"):
    with open(path, mode) as file:
        file.write(content)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def seen(what, check):
    """Waits until `check` gives true; it may throw meanwhile."""
    start = time.monotonic()
    found = None
    while time.monotonic() - start < LIMIT + SLACK:
        try:
            found = check()
            if found is True:
                return
        except OSError as error:
            found = error
        time.sleep(0.02)
    sys.exit(f"{what}: not seen within {LIMIT} s; last: {found!r}")


def archive(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)


def append():
    here, there = below("log")
    write(here, b"one\n" * 5000)
    seen("a new file", lambda: read(there) == b"one\n" * 5000)
    write(here, b"two\n" * 5000, "ab")
    seen("appended bytes", lambda: read(there) == b"one\n" * 5000 + b"two\n" * 5000)
    with open(there, "rb") as file:
        file.read()
        write(here, b"three\n", "ab")
        seen("appended under an open reader",
             lambda: os.fstat(file.fileno()).st_size == 40006 and file.read() == b"three\n")


def overwrite():
    here, there = below("same size")
    write(here, b"a" * 100_000)
    seen("first", lambda: read(there) == b"a" * 100_000)
    with open(here, "r+b") as file:
        file.write(b"b" * 100_000)
    seen("bytes overwritten in place", lambda: read(there) == b"b" * 100_000)


def replace_by_rename():
    here, there = below("file")
    for round in range(3):
        content = b"%d" % round * 70_000
        write(here + ".new", content)
        os.rename(here + ".new", here)
        seen("replaced", lambda: read(there) == content and os.stat(there).st_size == len(content))
    seen("the name it had", lambda: not os.path.exists(there + ".new"))


def replace_same_size_and_time():
    here, there = below("file")
    write(here, b"a" * 9000)
    os.utime(here, ns=(10**18, 10**18))
    seen("first", lambda: read(there) == b"a" * 9000)
    write(here + ".new", b"b" * 9000)
    os.utime(here + ".new", ns=(10**18, 10**18))
    os.rename(here + ".new", here)
    seen("another file of that size and time", lambda: read(there) == b"b" * 9000)


def truncate():
    here, there = below("file")
    write(here, b"a" * 300_000)
    seen("first", lambda: read(there) == b"a" * 300_000)
    os.truncate(here, 1000)
    seen("truncated", lambda: read(there) == b"a" * 1000 and os.stat(there).st_size == 1000)
    os.truncate(here, 200_000)
    seen("grown by a hole", lambda: read(there) == b"a" * 1000 + bytes(199_000))


def delete():
    here, there = below("file")
    write(here, b"a")
    seen("first", lambda: "file" in os.listdir(mount) and read(there) == b"a")
    os.unlink(here)
    seen("gone from the listing", lambda: "file" not in os.listdir(mount))
    seen("gone by name", lambda: not os.path.lexists(there))
    write(here, b"again")
    seen("there again", lambda: "file" in os.listdir(mount) and read(there) == b"again")


def create():
    here, there = below("folder")
    seen("not there yet", lambda: not os.path.lexists(there))
    os.mkdir(here)
    seen("a new folder", lambda: os.path.isdir(there) and "folder" in os.listdir(mount))
    for number in range(300):
        write(os.path.join(here, str(number)), b"x")
    seen("new files", lambda: len(os.listdir(there)) == 300)
    os.symlink("1", os.path.join(here, "link"))
    seen("a new link", lambda: os.readlink(os.path.join(there, "link")) == "1")


def folder_becomes_file():
    here, there = below("thing")
    os.mkdir(here)
    write(os.path.join(here, "inner"), b"x")
    seen("the folder", lambda: os.listdir(there) == ["inner"])
    os.unlink(os.path.join(here, "inner"))
    os.rmdir(here)
    write(here, b"a file now")
    seen("the file", lambda: read(there) == b"a file now")
    os.unlink(here)
    os.mkdir(here)
    write(os.path.join(here, "other"), b"x")
    seen("the folder again", lambda: os.listdir(there) == ["other"])


def folder_is_moved():
    here, there = below("a")
    os.makedirs(os.path.join(here, "b"))
    write(os.path.join(here, "b", "file"), b"x" * 1000)
    seen("first", lambda: read(os.path.join(there, "b", "file")) == b"x" * 1000)
    os.rename(here, os.path.join(source, "moved"))
    seen("gone", lambda: not os.path.lexists(there))
    seen("there", lambda: read(os.path.join(mount, "moved", "b", "file")) == b"x" * 1000)


def attributes():
    here, there = below("file")
    write(here, b"x")
    seen("first", lambda: os.path.exists(there))
    os.chmod(here, 0o640)
    os.utime(here, ns=(5, 1_234_567_890_123_456_789))
    seen("mode and time", lambda: os.stat(there).st_mode & 0o777 == 0o640
         and os.stat(there).st_mtime_ns == 1_234_567_890_123_456_789)
    os.setxattr(here, "user.new", b"value")
    seen("an attribute", lambda: os.getxattr(there, "user.new") == b"value")


def deleted_under_reader():
    here, there = below("file")
    content = os.urandom(3 << 20)
    write(here, content)
    seen("first", lambda: os.stat(there).st_size == len(content))
    with open(there, "rb", buffering=0) as file:
        start = file.read(1000)
        os.unlink(here)
        seen("gone by name", lambda: not os.path.lexists(there))
        # Longer than the kernel caches attributes.
        time.sleep(1.1)
        rest = b""
        while chunk := file.read(1 << 17):
            rest += chunk
        if start + rest != content:
            sys.exit("what is open stays whole: it did not")
        if os.fstat(file.fileno()).st_size != len(content):
            sys.exit("fstat of what is open and deleted gives another size")


def replaced_under_reader():
    here, there = below("file")
    content = os.urandom(3 << 20)
    write(here, content)
    seen("first", lambda: os.stat(there).st_size == len(content))
    with open(there, "rb", buffering=0) as file:
        start = file.read(1000)
        write(here + ".new", b"new" * 1000)
        os.rename(here + ".new", here)
        seen("the new one", lambda: read(there) == b"new" * 1000)
        time.sleep(1.1)
        rest = b""
        while chunk := file.read(1 << 17):
            rest += chunk
        if start + rest != content:
            sys.exit("what is open stays the old file: it did not")


def archive_replaced():
    here, there = below("a.zip")
    archive(here, {"one": b"1" * 5000, "both": b"old" * 10_000})
    seen("first", lambda: sorted(os.listdir(there + ".contents")) == ["both", "one"]
         and read(there + ".contents/both") == b"old" * 10_000)
    for round in range(3):
        text = b"new%d" % round * 10_000
        archive(here + ".new", {"two": b"2" * round, "both": text})
        os.rename(here + ".new", here)
        seen("the new tree", lambda: sorted(os.listdir(there + ".contents")) == ["both", "two"])
        seen("the new bytes", lambda: read(there + ".contents/both") == text
             and os.stat(there + ".contents/both").st_size == len(text))
        seen("the new size", lambda: os.stat(there + ".contents/two").st_size == round)
        seen("not the old", lambda: not os.path.lexists(there + ".contents/one"))
    os.unlink(here)
    seen("gone with the archive", lambda: not os.path.lexists(there + ".contents") and os.listdir(mount) == [])


def archive_rewritten_in_place():
    here, there = below("a.zip")
    archive(here, {"file": b"a" * 100_000})
    seen("first", lambda: read(there + ".contents/file") == b"a" * 100_000)
    archive(here, {"file": b"b" * 100_000, "more": b"x"})
    seen("rewritten", lambda: sorted(os.listdir(there + ".contents")) == ["file", "more"]
         and read(there + ".contents/file") == b"b" * 100_000)


def archive_appended_to():
    here, there = below("a.zip")
    archive(here, {"file": b"a" * 1000})
    seen("first", lambda: os.listdir(there + ".contents") == ["file"])
    with zipfile.ZipFile(here, "a") as file:
        file.writestr("second", b"x" * 2000)
    seen("appended", lambda: os.listdir(there + ".contents") == ["file", "second"]
         and read(there + ".contents/second") == b"x" * 2000)


def view_gives_way():
    here, there = below("a.zip")
    archive(here, {"inside": b"x"})
    seen("the view", lambda: os.listdir(there + ".contents") == ["inside"])
    os.mkdir(here + ".contents")
    write(here + ".contents/real", b"x")
    seen("the real folder", lambda: os.listdir(there + ".contents") == ["real"]
         and os.listdir(mount).count("a.zip.contents") == 1)
    os.unlink(here + ".contents/real")
    os.rmdir(here + ".contents")
    seen("the view again", lambda: os.listdir(there + ".contents") == ["inside"])


def archive_replaced_under_reader():
    """ESTALE or the old bytes whole, never a mixture."""
    here, there = below("a.zip")
    for method in [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]:
        old = b"old " * (900_000 + method)
        with zipfile.ZipFile(here + ".new", "w", method) as file:
            file.writestr("m", old)
        os.rename(here + ".new", here)
        inner = there + ".contents/m"
        seen("first", lambda: os.stat(inner).st_size == len(old))
        with open(inner, "rb", buffering=0) as file:
            got = file.read(100_000)
            with zipfile.ZipFile(here + ".new", "w", method) as other:
                other.writestr("m", b"NEW!" * 800_000)
            os.rename(here + ".new", here)
            seen("the new bytes", lambda: read(inner) == b"NEW!" * 800_000)
            try:
                while chunk := file.read(1 << 17):
                    got += chunk
                if got != old:
                    sys.exit(f"replaced: a mixture, {len(got)} bytes, of the new {got.count(b'NEW!')}")
            except OSError as error:
                if error.errno not in (errno.ESTALE, errno.EIO):
                    raise
                if old[:len(got)] != got:
                    sys.exit("replaced: wrong bytes before the error")


def archive_changed_under_reader():
    """The archive's bytes are overwritten in place and cut off: ESTALE, or what was read before."""
    here, there = below("a.zip")
    for method in [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]:
        for cut in [False, True]:
            old = b"".join(hashlib.sha1(b"%d" % number).digest() for number in range(200_000 + 2 * method + cut))
            if os.path.exists(here):
                os.unlink(here)
            with zipfile.ZipFile(here, "w", method) as file:
                file.writestr("m", old)
            inner = there + ".contents/m"
            seen("first", lambda: os.stat(inner).st_size == len(old))
            with open(inner, "rb", buffering=0) as file:
                got = file.read(100_000)
                if cut:
                    os.truncate(here, 1_000_000)
                else:
                    with open(here, "r+b") as raw:
                        raw.seek(1_000_000)
                        raw.write(b"\0" * 2_000_000)
                try:
                    while chunk := file.read(1 << 17):
                        got += chunk
                    if got != old:
                        sys.exit(f"changed, method {method}, cut {cut}: {len(got)} bytes without an error, not the old")
                except OSError as error:
                    if error.errno not in (errno.ESTALE, errno.EIO):
                        raise
                    if old[:len(got)] != got:
                        sys.exit(f"changed, method {method}, cut {cut}: wrong bytes before the error")


def truncated_under_reader():
    here, there = below("file")
    write(here, b"a" * (4 << 20))
    seen("first", lambda: os.stat(there).st_size == 4 << 20)
    with open(there, "rb", buffering=0) as file:
        file.read(1000)
        os.truncate(here, 2 << 20)
        # As on a native file system: no bytes beyond the new end, and no wrong ones before it.
        time.sleep(1.1)
        got = 1000
        while chunk := file.read(1 << 17):
            if chunk.strip(b"a"):
                sys.exit("truncated: bytes that never were in the file")
            got += len(chunk)
        if got != 2 << 20:
            sys.exit(f"truncated: {got} bytes up to the end")


def mapped_file_grows():
    here, there = below("file")
    write(here, b"a" * 8192)
    seen("first", lambda: os.stat(there).st_size == 8192)
    with open(there, "rb") as file, mmap.mmap(file.fileno(), 8192, prot=mmap.PROT_READ) as map:
        if map[:] != b"a" * 8192:
            sys.exit("mapped: wrong bytes")
    write(here, b"b" * 4096, "ab")
    seen("grown", lambda: os.stat(there).st_size == 12288)
    with open(there, "rb") as file, mmap.mmap(file.fileno(), 12288, prot=mmap.PROT_READ) as map:
        if map[:] != b"a" * 8192 + b"b" * 4096:
            sys.exit("mapped again: wrong bytes")


globals()[change]()
