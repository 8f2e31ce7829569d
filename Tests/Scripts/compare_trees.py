#!/usr/bin/env python3
"""compare_trees.py ONE OTHER [--copy]: compares two trees to the last attribute.

Goes by folder descriptors, so no path is too long. Prints each difference; the exit status is 1 when there is one.
"""

import argparse
import hashlib
import os
import stat
import sys

SAMPLED = 256 << 20
differences = []
inodes = {}


def report(path, what, one, other):
    differences.append(f"{os.fsdecode(path)!r}: {what}: {one!r} here, {other!r} there")
    if len(differences) > 50:
        finish()


def finish():
    for line in differences:
        print(line)
    sys.exit(1 if differences else 0)


def attributes(name, folder):
    """All extended attributes; the name is reached through /proc, links not followed."""
    path = b"/proc/self/fd/%d/%s" % (folder, name)
    try:
        return {key: os.getxattr(path, key, follow_symlinks=False) for key in os.listxattr(path, follow_symlinks=False)}
    except OSError as error:
        return error.errno


def content(name, folder, size):
    """A digest; of a huge file, of the bytes around its powers of two and its end. An errno when it cannot be read."""
    try:
        file = os.open(name, os.O_RDONLY | os.O_NONBLOCK, dir_fd=folder)
    except OSError as error:
        return error.errno
    try:
        digest = hashlib.sha1()
        if size > SAMPLED:
            places = [0, size - 100_000, size - 1] + [(1 << bit) - 70_000 for bit in range(17, 33)]
            for place in places + [size, size + 1]:
                digest.update(os.pread(file, 140_000, place))
            return digest.hexdigest()
        count = 0
        while chunk := os.read(file, 1 << 20):
            digest.update(chunk)
            count += len(chunk)
        return count, digest.hexdigest()
    except OSError as error:
        return error.errno
    finally:
        os.close(file)


def compare_status(path, one, other, options):
    fields = ["st_mode", "st_uid", "st_gid", "st_mtime_ns"]
    if not stat.S_ISDIR(one.st_mode):
        fields += ["st_size", "st_nlink", "st_rdev"]
    if not options.copy:
        fields += ["st_blocks", "st_size"]
    if options.copy and stat.S_ISLNK(one.st_mode):
        fields.remove("st_mtime_ns")
    for field in fields:
        if getattr(one, field) != getattr(other, field):
            report(path, field, getattr(one, field), getattr(other, field))
    known = inodes.setdefault((one.st_dev, one.st_ino), other.st_ino)
    if known != other.st_ino:
        report(path, "one file, two inode numbers", known, other.st_ino)


def compare(path, name, folders, options):
    statuses = [os.stat(name, dir_fd=folder, follow_symlinks=False) for folder in folders]
    compare_status(path, *statuses, options)
    if statuses[0].st_mode != statuses[1].st_mode:
        return
    found = [attributes(name, folder) for folder in folders]
    if found[0] != found[1]:
        report(path, "extended attributes", *found)
    kind = stat.S_IFMT(statuses[0].st_mode)
    if kind == stat.S_IFLNK:
        found = [os.readlink(name, dir_fd=folder) for folder in folders]
    elif kind == stat.S_IFREG:
        found = [content(name, folder, statuses[0].st_size) for folder in folders]
    elif kind == stat.S_IFDIR:
        inner = [os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=folder) for folder in folders]
        compare_folders(path, inner, options)
        for folder in inner:
            os.close(folder)
        return
    if found[0] != found[1]:
        report(path, "content", *found)


def compare_folders(path, folders, options):
    names = []
    for folder in folders:
        listed = [os.fsencode(entry) for entry in os.listdir(folder)]
        if len(listed) != len(set(listed)):
            report(path, "names listed twice", "", sorted(name for name in listed if listed.count(name) > 1))
        names.append(set(listed))
    if names[0] != names[1]:
        report(path, "names", names[0] - names[1], names[1] - names[0])
    for name in sorted(names[0] & names[1]):
        compare(os.path.join(path, name), name, folders, options)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("one")
    parser.add_argument("other")
    parser.add_argument("--copy", action="store_true", help="the other is a copy: inode numbers and blocks are its own")
    options = parser.parse_args()
    sys.setrecursionlimit(10000)
    folders = [os.open(path, os.O_RDONLY | os.O_DIRECTORY) for path in [options.one, options.other]]
    compare_status(b".", *[os.fstat(folder) for folder in folders], options)
    compare_folders(b"", folders, options)
    finish()


main()
