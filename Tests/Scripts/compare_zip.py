#!/usr/bin/env python3
"""Compares the mounted tree of ZIP archives with what other programs read.

compare_zip.py python ZIP CONTENTS             with Python's zipfile: names, kinds, sizes, times, modes, bytes
compare_zip.py extracted FOLDER CONTENTS ZIP   with what a tool extracted; times and modes of what ZIP records
compare_zip.py machine ROOT MOUNT SECONDS      with Python's zipfile, every .jar and .whl below ROOT, small ones first
"""

import hashlib
import os
import stat
import struct
import sys
import time
import unicodedata
import zipfile


def digest(chunks):
    result = hashlib.sha1()
    for chunk in chunks:
        result.update(chunk)
    return result.hexdigest()


def blocks(file):
    while chunk := file.read(1 << 18):
        yield chunk


class Row:
    """One file, folder or link; what is None is not compared."""

    def __init__(self, kind, size=None, content=None, mode=None, mtime=None):
        self.kind, self.size, self.content, self.mode, self.mtime = kind, size, content, mode, mtime
        # Whether the archive stores the mode and, to the second, the time.
        self.records_mode = self.records_seconds = False


def walk(top):
    """What stands below a folder, by path."""
    rows = {}

    def visit(folder, path):
        with os.scandir(folder) as entries:
            for entry in entries:
                name = path + entry.name
                status = entry.stat(follow_symlinks=False)
                mode = status.st_mode & 0o777
                if name in rows:
                    raise SystemExit(f"{name!r} is listed twice")
                if entry.is_symlink():
                    rows[name] = Row("link", None, os.readlink(entry.path), None, status.st_mtime_ns)
                elif entry.is_dir(follow_symlinks=False):
                    rows[name] = Row("folder", None, None, mode, status.st_mtime_ns)
                    visit(entry.path, name + "/")
                else:
                    with open(entry.path, "rb") as file:
                        content = digest(blocks(file))
                    rows[name] = Row("file", status.st_size, content, mode, status.st_mtime_ns)

    visit(top, "")
    return rows


def recorded_time(info):
    """In ns: Info-ZIP's field before NTFS's before the DOS time."""
    extra, found = info.extra, {}
    while len(extra) >= 4:
        tag, count = struct.unpack_from("<HH", extra)
        found.setdefault(tag, extra[4:4 + count])
        extra = extra[4 + count:]
    stamp = found.get(0x5455, b"")
    if len(stamp) >= 5 and stamp[0] & 1:
        return struct.unpack_from("<i", stamp, 1)[0] * 10**9
    ntfs = found.get(0x000a, b"")
    if len(ntfs) >= 16 and struct.unpack_from("<HH", ntfs, 4) == (1, 24):
        return (struct.unpack_from("<Q", ntfs, 8)[0] - 116_444_736_000_000_000) * 100
    year, month, day, hour, minute, second = info.date_time
    return int(time.mktime((year, max(month, 1), max(day, 1), hour, minute, second, 0, 0, -1))) * 10**9


def facts(row, info, mode):
    row.records_mode = mode != 0
    row.records_seconds = b"UT" in info.extra
    return row


def clean_name(info):
    name = info.orig_filename
    if not info.flag_bits & 0x800:
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            pass
    while name.startswith(("/", "./", "../")):
        name = name[name.index("/") + 1:]
    return name


def numbered(name, number):
    folder, _, last = name.rpartition("/")
    stem, dot, tail = last.rpartition(".")
    if not stem:
        stem, dot, tail = last, "", ""
    elif stem.endswith(".tar") and stem != ".tar":
        stem, dot, tail = stem[:-4], ".tar.", tail
    return (folder + "/" if folder else "") + f"{stem} ({number}){dot}{tail}"


def recorded(path):
    """What the contract says of an archive's tree, by Python's reading of it."""
    folders, files = {}, []
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            name = clean_name(info)
            mode = info.external_attr >> 16 if info.create_system in (3, 19) else 0
            is_folder = name.endswith("/") or name == ""
            name = name.rstrip("/")
            above = name.split("/")[:-1]
            for count in range(1, len(above) + 1):
                folders.setdefault("/".join(above[:count]), Row("folder"))
            if is_folder:
                if name:
                    row = Row("folder", None, None, mode & 0o777 if mode else 0o755, recorded_time(info))
                    folders[name] = facts(row, info, mode)
            elif stat.S_ISLNK(mode):
                files.append((name, Row("link", None, archive.read(info).decode(), None, recorded_time(info))))
            else:
                with archive.open(info) as file:
                    content = digest(blocks(file))
                row = Row("file", info.file_size, content, mode & 0o777 if mode else 0o644, recorded_time(info))
                files.append((name, facts(row, info, mode)))
    rows, clashing = dict(folders), []
    for name, row in files:
        if name in rows:
            clashing.append((name, row))
        else:
            rows[name] = row
    for name, row in clashing:
        number = 1
        while numbered(name, number) in rows:
            number += 1
        rows[numbered(name, number)] = row
    return rows


def compare(expected, found, what):
    failures = []
    for name in sorted(set(expected) | set(found)):
        if name not in found or name not in expected:
            failures.append(f"{what}: {name!r}: {'missing' if name not in found else 'not expected'}")
            continue
        for field in ["kind", "size", "content", "mode", "mtime"]:
            one, other = getattr(expected[name], field), getattr(found[name], field)
            if field == "mode" and one is not None and other is not None:
                one, other = oct(one), oct(other)
            if one is not None and other is not None and one != other:
                failures.append(f"{what}: {name!r}: {field}: expected {one}, found {other}")
    return failures


def extracted(folder, contents, archive):
    # bsdtar composes the names it extracts.
    expected, found, facts = ({unicodedata.normalize("NFC", name): row for name, row in rows.items()}
                              for rows in [walk(folder), walk(contents), recorded(archive)])
    for name in set(expected) & set(found):
        row, other, fact = expected[name], found[name], facts.get(name)
        # Tools choose values that are not stored, and few can set the time of a link.
        if not fact or not fact.records_mode:
            row.mode = None
        if not fact or fact.mtime is None or row.kind == "link":
            row.mtime = None
        # Whole seconds, or the rounding of the DOS time beside a finer one.
        elif row.mtime is not None and abs(row.mtime - other.mtime) < (10**9 if fact.records_seconds else 2 * 10**9):
            row.mtime = None
    return compare(expected, found, "extracted")


def machine(root, mount, seconds):
    start = time.monotonic()
    archives = []
    for path, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not os.path.ismount(os.path.join(path, name))]
        for name in files:
            full = os.path.join(path, name)
            if name.endswith((".jar", ".whl")) and not os.path.islink(full):
                archives.append((os.path.getsize(full), os.path.relpath(full, root)))
    failures, done = [], 0
    for _, name in sorted(archives):
        if time.monotonic() - start > float(seconds):
            break
        done += 1
        try:
            expected = recorded(os.path.join(root, name))
        except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError) as error:
            print(f"{name}: not for zipfile: {error}")
            continue
        try:
            failures += compare(expected, walk(os.path.join(mount, name + ".contents")), name)
        except OSError as error:
            failures.append(f"{name}: {error}")
    print(f"{done} of {len(archives)} archives below {root}")
    return failures


def main():
    mode, *words = sys.argv[1:]
    if mode == "python":
        failures = compare(recorded(words[0]), walk(words[1]), "zipfile")
    elif mode == "extracted":
        failures = extracted(*words)
    else:
        failures = machine(*words)
    for line in failures[:60]:
        print(line)
    sys.exit(1 if failures else 0)


main()
