#!/usr/bin/env python3
"""make_zips.py KIND FOLDER: makes FOLDER/KIND.zip the way KIND does; prints nothing when the tool for it is missing."""

import io
import os
import random
import shutil
import subprocess
import sys
import zipfile

kind, folder = sys.argv[1:]
target = os.path.join(os.path.abspath(folder), kind + ".zip")
tree = os.path.join(os.path.abspath(folder), "..", "tree")


def make_tree():
    """What the packers pack: sizes, modes, links, times, names."""
    random.seed(7)
    words = [random.randbytes(random.randint(2, 9)).hex() for _ in range(300)]
    os.makedirs(os.path.join(tree, "deep", "er", "and", "deeper"))
    os.mkdir(os.path.join(tree, "empty"))
    sizes = [0, 1, 100, 4096, 70_000, 131_072, 262_144, 262_145, 1 << 20, (1 << 20) + 1, 3 << 20]
    for number, size in enumerate(sizes):
        with open(os.path.join(tree, f"text {number}.txt"), "w") as file:
            file.write((" ".join(random.choices(words, k=size // 9 + 1)))[:size])
    with open(os.path.join(tree, "noise.bin"), "wb") as file:
        file.write(random.randbytes(500_000))
    for name in ["\u00fcml\u00e4ut.txt", "\u65e5\u672c\u8a9e", "e\u0301.nfd", "sp ace", "-dash", "a'quote", ".hidden"]:
        with open(os.path.join(tree, "deep", name), "w") as file:
            file.write(name)
    os.makedirs(os.path.join(tree, "\u00f6rdner", "inner"))
    with open(os.path.join(tree, "\u00f6rdner", "inner", "x"), "w") as file:
        file.write("x")
    for mode in [0o644, 0o755, 0o600, 0o444, 0o777, 0o640]:
        path = os.path.join(tree, "deep", f"mode {mode:o}")
        with open(path, "w") as file:
            file.write("#!/bin/sh\n")
        os.chmod(path, mode)
    os.symlink("text 1.txt", os.path.join(tree, "link"))
    os.symlink("../text 2.txt", os.path.join(tree, "deep", "link"))
    os.symlink("er", os.path.join(tree, "deep", "folder link"))
    # Odd seconds, summer and winter: DOS times alone would not preserve them.
    for number, (path, folders, files) in enumerate(os.walk(tree, topdown=False)):
        for name in files:
            full = os.path.join(path, name)
            times = 1_000_000_001 + 9_876_543 * number, 1_100_000_001 + 7_654_321 * number
            os.utime(full, times, follow_symlinks=False)
        os.utime(path, (1_200_000_001 + number, 1_200_000_001 + 8_000_001 * number))


def run(*words, **options):
    if shutil.which(words[0]):
        subprocess.run(words, check=True, cwd=tree, stdout=subprocess.DEVNULL, **options)


def members():
    for path, folders, files in os.walk(tree):
        for name in folders + files:
            full = os.path.join(path, name)
            yield full, os.path.relpath(full, tree)


def python(method, file):
    with zipfile.ZipFile(file, "w", method) as archive:
        for full, name in members():
            info = zipfile.ZipInfo.from_file(full, name)
            info.compress_type = method
            if os.path.islink(full):
                info = zipfile.ZipInfo(name, info.date_time)
                info.external_attr = 0o120777 << 16
                archive.writestr(info, os.readlink(full))
            elif info.is_dir():
                archive.writestr(info, b"")
            else:
                with archive.open(info, "w", force_zip64="zip64" in kind) as out, open(full, "rb") as source:
                    shutil.copyfileobj(source, out)


class Unseekable(io.RawIOBase):
    """Forces data descriptors."""

    def __init__(self, file):
        self.file = file

    def writable(self):
        return True

    def write(self, data):
        return self.file.write(data)


make_tree()
if kind == "zip":
    run("zip", "-qry", target, ".")
elif kind == "zip-stored":
    run("zip", "-qry0", target, ".")
elif kind == "zip-stream":
    if shutil.which("zip"):
        with open(target, "wb") as out:
            # When writing to a pipe, zip stores no links and folders.
            subprocess.run("zip -qrD - . | cat", shell=True, check=True, cwd=tree, stdout=out)
elif kind == "zip-no-folders":
    run("zip", "-qryDX", target, ".")
elif kind == "python-stored":
    python(zipfile.ZIP_STORED, target)
elif kind == "python-deflated":
    python(zipfile.ZIP_DEFLATED, target)
elif kind == "python-zip64-stream":
    with open(target, "wb") as out:
        python(zipfile.ZIP_DEFLATED, Unseekable(out))
elif kind == "7z":
    run("7z", "a", "-tzip", "-mx=1", target, ".")
elif kind == "bsdtar":
    run("bsdtar", "-a", "-cf", target, ".")
elif kind == "jar":
    run("jar", "cf", target, ".")
elif kind == "git":
    if shutil.which("git"):
        run("git", "init", "-q")
        run("git", "add", "-A")
        run("git", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "x")
        run("git", "archive", "--format=zip", "-o", target, "HEAD")
else:
    sys.exit(f"unknown kind {kind}")
print(target if os.path.exists(target) else "")
