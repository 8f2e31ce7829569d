#!/usr/bin/env python3
"""make_odd_tree.py FOLDER: fills a folder with everything that a mirror may trip over.

FOLDER/odd holds what only lstat, readlink and read can cope with, FOLDER/plain what every tool can, FOLDER/repo a git
repository.
"""

import os
import random
import shutil
import socket
import stat
import subprocess
import sys

NAMES = [
    b"with space", b" ", b"new\nline", b"tab\there", b"\x01\x1f\x7f", b"-dash", b"--help", b"*?[a]{b}",
    b"quote'\"`$(x)", b"back\\slash", b"trailing.", b"...", b".hidden", b"n" * 255, "\u00fcml\u00e4ut".encode(),
    "nfd u\u0308".encode(), "\U0001f4a9".encode(), b"latin1 \xfc\xe4", b"\xff\xfe\xc0\x80 bad", b"\xe2\x82 cut",
    b"rtl \xe2\x80\xae txt", b"colon:semi;comma,", b"CON", b"fuse_hidden0001", b"x.contents", b".contents",
]


def fill(path, count, seed):
    with open(path, "wb") as file:
        file.write(random.Random(seed).randbytes(count))


def make_odd(odd):
    os.mkdir(odd)
    for number, name in enumerate(NAMES):
        fill(os.path.join(odd, b"f" + name[:254]), number * 1000, number)
        os.mkdir(os.path.join(odd, name[:250] + b".d"))
        fill(os.path.join(odd, name[:250] + b".d", name), 10, number)
    make_deep(odd)
    make_links(odd)
    make_special(odd)
    make_sparse(odd)
    make_attributes(odd)
    make_modes(odd)
    make_times(odd)


def make_deep(odd):
    """Far beyond PATH_MAX: 90 folders of 100 bytes each."""
    folder = os.open(odd, os.O_RDONLY)
    for level in range(90):
        name = b"%03d" % level + b"d" * 97
        os.mkdir(name, dir_fd=folder)
        inner = os.open(name, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    file = os.open(b"bottom", os.O_WRONLY | os.O_CREAT, dir_fd=folder)
    os.write(file, b"as deep as it gets")
    os.close(file)
    os.symlink(b"bottom", b"link", dir_fd=folder)
    os.close(folder)


def make_links(odd):
    for number, target in enumerate([
        b"nowhere", b"/etc/passwd", b"../..", b"fwith space", b".", b"loop", b"l6", b"\xff\xfe", b"new\nline",
        b"t" * 4000, b"./././fcolon:semi;comma,", b"/", b"a" * 255 + b"/b",
    ]):
        os.symlink(target, os.path.join(odd, b"l%d" % number))
    fill(os.path.join(odd, b"hard one"), 5000, 1)
    os.link(os.path.join(odd, b"hard one"), os.path.join(odd, b"hard two"))
    os.mkdir(os.path.join(odd, b"elsewhere"))
    os.link(os.path.join(odd, b"hard one"), os.path.join(odd, b"elsewhere", b"hard three"))


def make_special(odd):
    os.mkfifo(os.path.join(odd, b"fifo"))
    here = os.getcwd()
    os.chdir(odd)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(b"socket")
    os.chdir(here)
    try:
        os.mknod(os.path.join(odd, b"null"), stat.S_IFCHR | 0o666, os.makedev(1, 3))
        os.mknod(os.path.join(odd, b"block"), stat.S_IFBLK | 0o600, os.makedev(7, 200))
    except PermissionError:
        pass


def make_sparse(odd):
    with open(os.path.join(odd, b"sparse"), "wb") as file:
        for offset in [1 << 20, 7 << 20, 12345678]:
            file.seek(offset)
            file.write(b"data")
        file.truncate(32 << 20)
    with open(os.path.join(odd, b"huge"), "wb") as file:
        for offset in [0, (4 << 30) - 5, (4 << 30) + (1 << 20), (5 << 30) - 3]:
            file.seek(offset)
            file.write(b"%011d" % offset)
        file.truncate(5 << 30)
    open(os.path.join(odd, b"empty"), "wb").close()
    for size in [1, 4095, 4096, 4097, 131071, 131072, 131073, 1 << 20, (1 << 20) + 1]:
        fill(os.path.join(odd, b"size %d" % size), size, size)


def make_attributes(odd):
    folder = os.path.join(odd, b"attributes")
    os.mkdir(folder)
    file = os.path.join(folder, b"file")
    fill(file, 10, 1)
    try:
        for path in [folder, file]:
            os.setxattr(path, b"user.plain", b"value")
            os.setxattr(path, b"user.empty", b"")
            os.setxattr(path, b"user.binary", bytes(range(256)))
            os.setxattr(path, "user.\u00fc".encode(), b"name")
        for number in range(40):
            os.setxattr(file, b"user.many.%02d" % number, b"%d" % number)
        os.setxattr(folder, b"user.long", b"x" * 2000)
        # Set by somebody else; ffmount adds no attributes to real files.
        os.setxattr(file, b"user.ffmount.source", b"mine")
        if os.geteuid() == 0:
            os.setxattr(os.path.join(odd, b"l0"), b"trusted.link", b"on a link", follow_symlinks=False)
    except OSError as error:
        print("no attributes here:", error)


def make_modes(odd):
    folder = os.path.join(odd, b"modes")
    os.mkdir(folder)
    permissions = range(0o10000) if os.geteuid() == 0 else [mode for mode in range(0o10000) if mode & 0o400]
    for mode in permissions:
        path = os.path.join(folder, b"%04o" % mode)
        open(path, "wb").close()
        os.chmod(path, mode)
        if mode % 64 == 0o55 and os.geteuid() == 0:
            os.chown(path, mode, 65534 - mode)
            os.chmod(path, mode)
    for mode in [0o755, 0o700, 0o1777, 0o2775, 0o555, 0o500] + ([0o000, 0o111] if os.geteuid() == 0 else []):
        path = os.path.join(folder, b"d%04o" % mode)
        os.mkdir(path)
        fill(os.path.join(path, b"x"), 3, mode)
        os.chmod(path, mode)


def make_times(odd):
    folder = os.path.join(odd, b"times")
    os.mkdir(folder)
    for time in [0, 1, -1, 999_999_999, 1_600_000_000_123_456_789, 2**31 * 10**9, 2**32 * 10**9 + 7, -(10**18) - 1,
                 4_102_444_800_000_000_001]:
        path = os.path.join(folder, b"%d" % time)
        fill(path, 5, abs(time))
        os.utime(path, ns=(time, time))
        inner = path + b".d"
        os.mkdir(inner)
        os.utime(inner, ns=(time, time))
        os.symlink(b"x", path + b".l")
        os.utime(path + b".l", ns=(time, time), follow_symlinks=False)


def make_plain(plain):
    os.mkdir(plain)
    for number in range(20):
        folder = os.path.join(plain, b"folder %d" % number)
        os.mkdir(folder)
        for inner in range(10):
            fill(os.path.join(folder, b"%d.bin" % inner), inner * inner * 1000, number * 100 + inner)
        with open(os.path.join(folder, b"text.txt"), "w") as file:
            file.write("".join(f"line {line} needle{line % 7}\n" for line in range(500)))
        os.utime(os.path.join(folder, b"text.txt"), ns=(10**18 + number, 10**18 + number))
    os.symlink(b"folder 1/1.bin", os.path.join(plain, b"link"))
    os.symlink(b"nowhere", os.path.join(plain, b"dangling"))
    os.link(os.path.join(plain, b"folder 1", b"9.bin"), os.path.join(plain, b"hard"))
    os.mkdir(os.path.join(plain, b"empty"))
    with open(os.path.join(plain, b"picture.png"), "wb") as file:
        file.write(bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"))


def make_repository(repository):
    os.mkdir(repository)
    environment = dict(
        os.environ, GIT_CONFIG_NOSYSTEM="1", HOME="/nonexistent", GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@example.org",
        GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@example.org")

    def git(*words):
        subprocess.run(["git", "-C", repository, *words], check=True, env=environment, stdout=subprocess.DEVNULL)

    git("init", "-q")
    for number in range(200):
        path = os.path.join(repository, b"d%d" % (number % 10))
        os.makedirs(path, exist_ok=True)
        fill(os.path.join(path, b"f%d" % number), number * 10, number)
    os.symlink(b"d1/f1", os.path.join(repository, b"link"))
    script = os.path.join(repository, b"run.sh")
    fill(script, 10, 1)
    os.chmod(script, 0o755)
    git("add", ".")
    git("commit", "-q", "-m", "one")
    # At a later second, so that the index is not "racily clean".
    git("status")


def main():
    top = os.fsencode(sys.argv[1])
    sys.setrecursionlimit(10000)
    make_odd(os.path.join(top, b"odd"))
    make_plain(os.path.join(top, b"plain"))
    if shutil.which("git"):
        make_repository(os.path.join(top, b"repo"))


main()
