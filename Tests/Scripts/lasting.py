#!/usr/bin/env python3
"""lasting.py CASE SOURCE MOUNT: holds on to what a mount shows of a file, changes the file, and looks what of it lasts."""

import errno
import os
import subprocess
import sys
import threading
import time
import zipfile

case, source, mount = sys.argv[1:]


def check(condition, what):
    if not condition:
        sys.exit(f"{case}: {what}")


def fails(code, what, body):
    try:
        got = body()
    except OSError as error:
        check(error.errno == code, f"{what}: expected {errno.errorcode[code]}, got {error}")
        return
    sys.exit(f"{case}: {what}: expected {errno.errorcode[code]}, got {str(got)[:80]}")


def seen(what, body, limit=5):
    """Waits until `body` gives true."""
    end = time.monotonic() + limit
    while not body():
        check(time.monotonic() < end, f"{what}: not seen within {limit} s")
        time.sleep(0.02)


def old_or_stale(what, file, start, whole):
    """What is open of bytes that are no more. A file that was replaced, or that the kernel has in memory, may still be whole."""
    try:
        check(start + rest(file) == whole, f"{what}: other bytes")
    except OSError as error:
        check(error.errno == errno.ESTALE, f"{what}: {error}")


def read(path, **how):
    file = os.open(path, os.O_RDONLY, **how)
    try:
        return rest(file)
    finally:
        os.close(file)


def rest(file):
    found = b""
    while block := os.read(file, 1 << 17):
        found += block
    return found


def put(path, content):
    """In the place of what is there, as mail programs and rsync do it."""
    with open(path + ".new", "wb") as file:
        file.write(content)
    os.rename(path + ".new", path)


# With names this long, neither the kernel nor this program reads a listing of so many mails, or of that size, at once.
COUNT = 2400
BIG = 40
LONG = "of a long name " * 6


def mail(number, size=200, flags="0001", sender=None):
    body = f"body {number} ".encode() + b"x" * size
    return (
        f"From a@b.c Mon May  6 10:00:00 2024\nFrom: P{number % 7} <{sender or f'p{number % 7}@b.c'}>\n"
        f"Subject: live{number} {LONG}\nMessage-ID: <l{number}@b>\nX-Mozilla-Status: {flags}\n"
        "Date: Mon, 6 May 2024 10:00:00 +0000\nMIME-Version: 1.0\n"
        'Content-Type: multipart/mixed; boundary="b"\n\n--b\n\n'
    ).encode() + body + b"\n--b\nContent-Disposition: attachment; filename=a.txt\n\nattached " + str(
        number).encode() + b"\n--b--\n\n"


class Held:
    """What a process has open of a mailbox's message."""

    def __init__(self, folder, name):
        self.name = name
        self.path = f"{folder}/{name}"
        self.bytes = read(f"{self.path}/message.eml")
        self.body = read(f"{self.path}/body.txt")
        self.folder = os.open(self.path, os.O_RDONLY)
        self.attachments = os.open(f"{self.path}/attachments", os.O_RDONLY)
        self.file = os.open(f"{self.path}/message.eml", os.O_RDONLY)
        # Drops what the kernel has read ahead.
        os.posix_fadvise(self.file, 0, 0, os.POSIX_FADV_DONTNEED)
        self.start = os.read(self.file, 10)
        os.posix_fadvise(self.file, 0, 0, os.POSIX_FADV_DONTNEED)
        self.inodes = [os.fstat(file).st_ino for file in (self.folder, self.attachments, self.file)]

    def lasts(self):
        what = self.name
        check(sorted(os.listdir(self.folder))[-1] == "message.eml", f"the names of {what}")
        check(read("body.txt", dir_fd=self.folder) == self.body, f"the body of {what}")
        check(read("a.txt", dir_fd=self.attachments).startswith(b"attached"), f"the attachment of {what}")
        check(self.start + rest(self.file) == self.bytes, f"the rest of {what}")
        now = [os.fstat(file).st_ino for file in (self.folder, self.attachments, self.file)]
        check(now == self.inodes, f"the numbers of {what}")
        check(read(f"{self.path}/message.eml") == self.bytes, f"{what} by its path")

    def has_gone(self):
        fails(errno.ESTALE, f"the folder of {self.name}", lambda: os.listdir(self.folder))
        fails(errno.ESTALE, f"a name in {self.name}", lambda: read("body.txt", dir_fd=self.folder))
        old_or_stale(f"the rest of {self.name}", self.file, self.start, self.bytes)


class Listing:
    """A folder's listing under way."""

    def __init__(self, path):
        self.path = path
        self.all = sorted(os.listdir(path))
        self.entries = os.scandir(path)
        self.names = [next(self.entries).name for _ in range(3)]

    def lasts(self, more=0):
        self.names += [entry.name for entry in self.entries]
        check(len(self.names) == len(set(self.names)), f"a name twice in {self.path}")
        lost = set(self.all) - set(self.names)
        check(not lost, f"{len(lost)} names lost of {self.path}: {sorted(lost)[:3]}")


def mailbox():
    """A mailbox, and its mails."""
    mails = [mail(number, 3_000_000 if number == BIG else 10) for number in range(COUNT)]
    path = f"{source}/x.mbox"
    put(path, b"".join(mails))
    return path, mails


def mail_lasts(change, lost=(), is_replaced=False):
    """What is known of a mailbox lasts over a change of it; `lost` are numbers of mails that do not."""
    path, mails = mailbox()
    root, views = f"{mount}/x.mbox.messages", f"{mount}/x.mbox.views"
    listed = sorted(os.listdir(root))
    check(len(listed) == COUNT, "the number of mails")
    held = {number: Held(root, listed[number]) for number in (5, BIG, 700, COUNT - 2)}
    sender = f"{views}/by-sender/p5@b.c"
    sorted_one = Held(sender, listed[5])
    listings = [Listing(root), Listing(sender), Listing(f"{views}/attachments")]
    folders = {path: os.open(path, os.O_RDONLY) for path in (root, views, f"{views}/by-sender", sender)}
    os.chdir(f"{root}/{listed[5]}/attachments")
    new = change(path, mails)
    # By path it is visible after this time at the latest; through open files at once.
    check(os.listdir(folders[root]) != [] and os.listdir(".") == ["a.txt"], "what is open")
    time.sleep(0.7)
    for number, one in held.items():
        if number in lost:
            one.has_gone()
        else:
            one.lasts()
    sorted_one.lasts()
    check(os.getcwd() == f"{root}/{listed[5]}/attachments" and read("a.txt") == b"attached 5", "where it stands")
    for listing in listings:
        if not is_replaced:
            listing.lasts()
    for path, folder in folders.items():
        check(sorted(os.listdir(folder)) == sorted(os.listdir(path)), f"the names of {path}")
    now = sorted(os.listdir(folders[root]))
    check(len(now) == len(new), f"{len(now)} mails of {len(new)}")
    check(read(f"{now[-1]}/message.eml", dir_fd=folders[root]) == new[-1].split(b"\n", 1)[1], "the last mail")
    os.chdir("/")


def mail_touched():
    def change(path, mails):
        os.utime(path)
        return mails
    mail_lasts(change)


def mail_of_another_mode():
    def change(path, mails):
        os.chmod(path, 0o600)
        os.link(path, path + ".link")
        return mails
    mail_lasts(change)


def mail_appended():
    def change(path, mails):
        with open(path, "ab") as file:
            file.write(mail(COUNT))
        return mails + [mail(COUNT)]
    mail_lasts(change)


def mail_replaced_by_longer():
    def change(path, mails):
        put(path, b"".join(mails) + mail(COUNT, sender="a-new-one@b.c"))
        return mails + [mail(COUNT, sender="a-new-one@b.c")]
    mail_lasts(change)


def mail_compacted():
    """The names of all mails but the removed one stay."""
    def change(path, mails):
        put(path, b"".join(mails[:600] + mails[601:]))
        return mails[:600] + mails[601:]
    removed = sorted(os.listdir(f"{mount}/x.mbox.messages"))[600] if os.path.exists(f"{mount}/x.mbox") else None
    mail_lasts(change, is_replaced=True)
    check(removed not in os.listdir(f"{mount}/x.mbox.messages"), "the removed mail")


def mail_changed():
    """Marked as read in place, and another made longer: the others are where they were, or farther on."""
    def change(path, mails):
        new = list(mails)
        new[BIG] = mail(BIG, 3_000_000, "0009")
        new[90] = mail(90, 99)
        with open(path, "r+b") as file:
            file.write(b"".join(new))
        return new
    mail_lasts(change, lost=(BIG,))
    root = f"{mount}/x.mbox.messages"
    name = sorted(os.listdir(root))[BIG]
    check(b"X-Mozilla-Status: 0009" in read(f"{root}/{name}/message.eml"), "the new bytes")


def pack(path, entries, mode="w"):
    with zipfile.ZipFile(path, mode) as file:
        for name, (content, method) in entries.items():
            file.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content, method)


def text(number, size=3_000_000):
    return b"".join(b"%d line of %d\n" % (number, place) for place in range(size // 16))


def archive_lasts(change, lost=()):
    """What is known of an archive lasts over a change of it; `lost` are names of entries that do not."""
    path = f"{source}/a.zip"
    names = ["d/stored", "d/deflated", "d/small"]
    contents = [(text(1), 0), (text(2), 8), (b"small", 8)]
    many = {f"many/{number:05d}": (b"%d" % number, 0) for number in range(6000)}
    pack(f"{source}/inner", {"in": (text(3), 8)})
    with open(f"{source}/inner", "rb") as file:
        inner = file.read()
    pack(path, dict(zip(names, contents)) | {"inner.zip": (inner, 0)} | many)
    root = f"{mount}/a.zip.contents"
    listing = Listing(f"{root}/many")
    nested = f"{root}/inner.zip.contents"
    whole = {f"{root}/{name}": content for name, (content, _) in zip(names, contents)} | {f"{nested}/in": text(3)}
    files = {}
    for name in whole:
        file = os.open(name, os.O_RDONLY)
        start = os.read(file, 100)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        files[name] = (file, start, os.fstat(file).st_ino)
    folders = [os.open(folder, os.O_RDONLY) for folder in (root, f"{root}/d", nested)]
    os.chdir(f"{root}/d")
    new = change(path, dict(zip(names, contents)), many)
    check(sorted(os.listdir(folders[1])) == sorted(name[2:] for name in new), "the names at once")
    time.sleep(0.7)
    for name, (file, start, inode) in files.items():
        short = name[len(root) + 1:]
        if short in lost:
            old_or_stale(f"the rest of {short}", file, start, whole[name])
            continue
        check(start + rest(file) == whole[name], f"the rest of {short}")
        check(os.fstat(file).st_ino == inode, f"the number of {short}")
        check(read(name) == whole[name], f"{short} by its path")
    check(os.getcwd() == f"{root}/d" and sorted(os.listdir(".")) == sorted(name[2:] for name in new), "where it stands")
    check(sorted(os.listdir(folders[1])) == sorted(name[2:] for name in new), "the names")
    for name, content in new.items():
        check(read(name[2:], dir_fd=folders[1]) == content, f"{name} in a folder that is open")
        check(os.stat(f"{root}/{name}").st_size == len(content), f"the size of {name}")
    check(read("in", dir_fd=folders[2]) == text(3), "what is nested")
    listing.lasts()
    os.chdir("/")


def known(entries):
    return {name: content for name, (content, _) in entries.items()}


def archive_touched():
    def change(path, entries, many):
        os.utime(path)
        os.chmod(path, 0o640)
        return known(entries)
    archive_lasts(change)


def archive_added_to():
    def change(path, entries, many):
        pack(path, {"d/new": (b"new", 8)}, "a")
        return known(entries) | {"d/new": b"new"}
    archive_lasts(change)


def archive_updated():
    """One entry changes, another goes, and what is left lies elsewhere."""
    def change(path, entries, many):
        with open(f"{source}/inner", "rb") as file:
            inner = file.read()
        entries |= {"d/deflated": (text(9), 8)}
        del entries["d/small"]
        pack(path + ".new", many | {"inner.zip": (inner, 0)} | dict(reversed(entries.items())))
        os.rename(path + ".new", path)
        return known(entries)
    archive_lasts(change, lost=["d/deflated", "d/small"])


def entry_rewritten():
    """A stored entry, in place, and the file's time put back: only the time that nobody sets tells."""
    path, inner = f"{source}/a.zip", f"{mount}/a.zip.contents/e"
    packed = []
    for byte in (b"A", b"B"):
        pack(path, {"e": (byte * (4 << 20), 0)})
        with open(path, "rb") as file:
            packed.append(file.read())
    put(path, packed[0])
    os.utime(path, (1.6e9, 1.6e9))
    time.sleep(0.1)
    file = os.open(inner, os.O_RDONLY)
    check(os.pread(file, 1 << 20, 0) == b"A" * (1 << 20), "the old bytes")
    with open(path, "r+b") as other:
        other.write(packed[1])
    os.utime(path, (1.6e9, 1.6e9))
    fails(errno.ESTALE, "what is open", lambda: os.pread(file, 1 << 20, 3 << 20)[:1])
    seen("the new bytes", lambda: read(inner) == b"B" * (4 << 20))


def entry_damaged():
    """Bytes of stored entries change, and the archive's directory does not: never a mixture, though nothing but a sum tells."""
    path, inner = f"{source}/a.zip", f"{mount}/a.zip.contents/e"
    pack(path, {"e": (b"A" * (4 << 20), 0)})
    file = os.open(inner, os.O_RDONLY)
    os.pread(file, 4096, 0)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    with open(path, "r+b") as other:
        other.seek(3 << 20)
        other.write(b"B")
    fails(errno.EIO, "what is open", lambda: os.pread(file, 1 << 20, 2 << 20)[:1])


def entry_mended():
    """Who was given damaged bytes before an archive became whole does not get the rest of the whole one."""
    path, inner = f"{source}/a.zip", f"{mount}/a.zip.contents/e"
    for method in (0, 8):
        pack(path, {"e": (text(1), method)})
        with open(path, "rb") as file:
            whole = file.read()
        # A stored entry partly overwritten by its successor has the same name, size and CRC.
        pack(path, {"e": (text(1), 0)})
        with open(path, "r+b") as other:
            other.seek(1000)
            other.write(b"damaged")
        time.sleep(0.1)
        file = os.open(inner, os.O_RDONLY)
        part = os.pread(file, 100_000, 0)
        check(b"damaged" in part, "the damaged bytes are given before their sum is known")
        with open(path, "r+b") as other:
            other.write(whole)
            other.truncate()
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        fails(errno.ESTALE, f"what is open, method {method}", lambda: os.pread(file, len(text(1)), 100_000)[:1])
        os.close(file)
        seen("the whole bytes", lambda: read(inner) == text(1))


def walkers():
    """Programs walk through a mailbox to which mail comes."""
    path, mails = f"{source}/x.mbox", [mail(number, 10) for number in range(400)]
    put(path, b"".join(mails))
    root = f"{mount}/x.mbox.messages"
    check(len(os.listdir(root)) == len(mails), "the number of mails")
    stop = threading.Event()

    def deliver():
        number = len(mails)
        while not stop.wait(0.3):
            with open(path, "ab") as file:
                file.write(mail(number))
            number += 1

    delivery = threading.Thread(target=deliver)
    delivery.start()
    try:
        for command in (["tar", "-cf", "/dev/null", "--ignore-failed-read", "-C", root, "."], ["grep", "-rc", "zzz", "."]):
            found = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=100)
            # A folder that gets mail while it is read has changed.
            errors = [line for line in found.stderr.splitlines() if "file changed as we read it" not in line]
            check(not errors, f"{command[0]}: {len(errors)} errors: {errors[:2]}")
            if command[0] == "grep":
                check(found.stdout.count("\n") >= 4 * len(mails), f"grep: {found.stdout.count(chr(10))} files")
    finally:
        stop.set()
        delivery.join()


globals()[case]()
