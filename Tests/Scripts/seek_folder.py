#!/usr/bin/env python3
"""seek_folder.py FOLDER COUNT: reads a folder of COUNT names with telldir and seekdir from every place."""

import ctypes
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)


class Entry(ctypes.Structure):
    _fields_ = [("inode", ctypes.c_uint64), ("offset", ctypes.c_int64), ("length", ctypes.c_ushort),
                ("type", ctypes.c_ubyte), ("name", ctypes.c_char * 256)]


libc.opendir.restype = ctypes.c_void_p
libc.readdir.restype = ctypes.POINTER(Entry)
libc.readdir.argtypes = libc.telldir.argtypes = libc.rewinddir.argtypes = [ctypes.c_void_p]
libc.telldir.restype = ctypes.c_long
libc.seekdir.argtypes = [ctypes.c_void_p, ctypes.c_long]

folder = libc.opendir(os.fsencode(sys.argv[1]))
rows = []
while True:
    place = libc.telldir(folder)
    entry = libc.readdir(folder)
    if not entry:
        break
    if entry.contents.inode == 0:
        sys.exit(f"{entry.contents.name}: inode number 0")
    rows.append((place, entry.contents.name))
names = [name for _, name in rows if name not in [b".", b".."]]
if len(names) != int(sys.argv[2]) or len(set(names)) != len(names):
    sys.exit(f"{len(names)} names, {len(set(names))} of them different")
for place, name in rows[::-1] + rows[::7] + [rows[0], rows[-1], rows[1]]:
    libc.seekdir(folder, place)
    found = libc.readdir(folder)
    if not found or found.contents.name != name:
        sys.exit(f"expected {name} at {place}, found {found and found.contents.name}")
libc.rewinddir(folder)
again = 0
while libc.readdir(folder):
    again += 1
if again != len(rows):
    sys.exit(f"{again} names after rewinddir")
