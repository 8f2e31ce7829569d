#!/usr/bin/env python3
"""exfat.py FOLDER IMAGE: copies a folder into an empty exFAT image, as mkfs.exfat makes it (exFAT specification 1.00).

A file named fragmented* has every second cluster; one named prepared* is as long as it is, of which the second half was
never written and is something else on the disk; one named deleted* is deleted, and its clusters are free. Clusters of a
file named deleted-used* are not.
"""

import datetime
import os
import struct
import sys


class Image:
    def __init__(self, path):
        self.file = open(path, "r+b")
        boot = self.read(0, 512)
        (self.fat, _, heap, self.clusters, self.root) = struct.unpack_from("<5I", boot, 80)
        sector = 1 << boot[108]
        self.size = sector << boot[109]
        self.fat, self.heap = self.fat * sector, heap * sector
        entries = self.read(self.place(self.root), self.size)
        self.free = next(i for i in range(0, self.size, 32) if entries[i] == 0)
        bitmap = next(i for i in range(0, self.size, 32) if entries[i] == 0x81)
        self.bitmap = self.place(struct.unpack_from("<I", entries, bitmap + 20)[0])
        self.next = 100

    def read(self, place, count):
        self.file.seek(place)
        return self.file.read(count)

    def write(self, place, data):
        self.file.seek(place)
        self.file.write(data)

    def place(self, cluster):
        return self.heap + (cluster - 2) * self.size

    def allocate(self, count, step, is_used):
        clusters = [self.next + i * step for i in range(count)]
        self.next += count * step
        for cluster in clusters if is_used else []:
            place = self.bitmap + (cluster - 2) // 8
            self.write(place, bytes([self.read(place, 1)[0] | 1 << (cluster - 2) % 8]))
        return clusters

    def store(self, data, step=1, is_used=True):
        """Returns the first cluster, and the flags of the stream."""
        clusters = self.allocate(-(-len(data) // self.size), step, is_used)
        for index, cluster in enumerate(clusters):
            self.write(self.place(cluster), data[index * self.size : (index + 1) * self.size])
        if step == 1:
            return (clusters[0], 3) if clusters else (0, 1)
        for cluster, following in zip(clusters, clusters[1:] + [0xFFFFFFFF]):
            self.write(self.fat + 4 * cluster, struct.pack("<I", following))
        return clusters[0], 1

    def folder(self, path):
        entries = b""
        for name in sorted(os.listdir(path)):
            full = os.path.join(path, name)
            if os.path.isdir(full):
                content = self.folder(full)
                content += bytes(-len(content) % self.size or self.size)
                entries += record(name, 0x10, len(content), len(content), *self.store(content), 0)
                continue
            with open(full, "rb") as file:
                content = file.read()
            valid = len(content) // 2 if name.startswith("prepared") else len(content)
            stored = content[:valid] + b"\xa5" * (len(content) - valid)
            is_deleted = name.startswith("deleted")
            is_used = not is_deleted or name.startswith("deleted-used")
            place = self.store(stored, 2 if name.startswith("fragmented") else 1, is_used)
            made = record(name, 0x20, valid, len(content), *place, int(os.stat(full).st_mtime))
            if is_deleted:
                made = b"".join(bytes([made[i] & 0x7F]) + made[i + 1 : i + 32] for i in range(0, len(made), 32))
            entries += made
        return entries

    def fill(self, path):
        entries = self.folder(path)
        room = self.size - self.free
        self.write(self.place(self.root) + self.free, entries[:room])
        if len(entries) > room:
            rest = entries[room:] + bytes(-(len(entries) - room) % self.size)
            first, _ = self.store(rest, 2)
            self.write(self.fat + 4 * self.root, struct.pack("<I", first))


def record(name, attributes, valid, size, first, flags, seconds):
    text = name.encode("utf-16-le")
    number = 0
    for byte in name.upper().encode("utf-16-le"):
        number = ((number << 15 | number >> 1) + byte) & 0xFFFF
    parts = [text[i : i + 30].ljust(30, b"\0") for i in range(0, len(text), 30)]
    days, rest = divmod(seconds, 86400)
    time = (rest // 3600) << 11 | rest // 60 % 60 << 5 | rest % 60 // 2
    day = datetime.date(1970, 1, 1) + datetime.timedelta(days)
    date = max(0, day.year - 1980) << 9 | day.month << 5 | day.day
    stamp = date << 16 | time
    # The offset from UTC is valid, and 0.
    head = struct.pack("<BBHHHIIIBBBBB7x", 0x85, 1 + len(parts), 0, attributes, 0, stamp, stamp, stamp, 0, 0, 0x80, 0x80, 0x80)
    stream = struct.pack("<BBBBHHQIIQ", 0xC0, flags, 0, len(text) // 2, number, 0, valid, 0, first, size)
    whole = bytearray(head + stream + b"".join(b"\xc1\0" + part for part in parts))
    total = 0
    for index, byte in enumerate(whole):
        if index not in (2, 3):
            total = ((total << 15 | total >> 1) + byte) & 0xFFFF
    struct.pack_into("<H", whole, 2, total)
    return bytes(whole)


if __name__ == "__main__":
    Image(sys.argv[2]).fill(sys.argv[1])
