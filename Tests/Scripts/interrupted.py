"""interrupted.py SOURCE MOUNT DAEMON: work ends when the last who waits for it has gone.

Readers of what takes long, each by a process that is killed after a moment; then the daemon has to come to rest. SOURCE is an
empty folder that MOUNT shows by the process DAEMON.
"""
import os
import signal
import struct
import subprocess
import sys
import time
import zlib

source, mount, daemon = sys.argv[1], sys.argv[2], int(sys.argv[3])
LIMIT = 30


def sparse(name, start=b""):
    with open(f"{source}/{name}", "wb") as file:
        file.write(start)
        file.truncate(4 << 40)


def long_zip(name, gibibytes):
    """One entry of zeros, of which each GiB is a MiB of Deflate."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = compressor.compress(bytes(64 << 20)) + compressor.flush(zlib.Z_FULL_FLUSH)
    count = 16 * gibibytes
    end = compressor.flush()
    packed, size = len(piece) * count + len(end), gibibytes << 30
    extra = struct.pack("<HHQQ", 1, 16, size, packed)
    common = struct.pack("<HHHHHIIIHH", 45, 0, 8, 0, 33, 0, 0xFFFFFFFF, 0xFFFFFFFF, 5, len(extra))
    with open(f"{source}/{name}", "wb") as file:
        file.write(b"PK\3\4" + common + b"zeros" + extra)
        for _ in range(count):
            file.write(piece)
        file.write(end)
        start = file.tell()
        file.write(b"PK\1\2" + struct.pack("<H", 45) + common + struct.pack("<HHHII", 0, 0, 0, 0, 0) + b"zeros" + extra)
        directory = file.tell() - start
        record = file.tell()
        file.write(b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 1, 1, directory, start))
        file.write(b"PK\6\7" + struct.pack("<IQI", 0, record, 1))
        file.write(b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, 0xFFFFFFFF, 0xFFFFFFFF, 0))


def ticks():
    with open(f"/proc/{daemon}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def rest():
    """Waits until the daemon does nothing."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        before = ticks()
        time.sleep(0.3)
        if ticks() - before <= 1:
            return
    sys.exit("the daemon continues to work")


def start(before):
    """Waits until the daemon has worked for some hundredths of a second."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        if ticks() - before > 8:
            # All of them have asked by then.
            time.sleep(0.1)
            return
        time.sleep(0.01)
    sys.exit("the daemon does not begin to work")


def interrupt(number, *words):
    """`words` asked by several at a time, then gone."""
    before = ticks()
    readers = [
        subprocess.Popen(
            [word.format(index) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for index in range(number)
    ]
    start(before)
    gone = [reader for reader in readers if reader.poll() is not None]
    if gone:
        sys.exit(f"{words}: {len(gone)} of {number} came to an end: status {gone[0].returncode}")
    for reader in readers:
        reader.send_signal(signal.SIGKILL)
    for reader in readers:
        reader.wait(timeout=LIMIT)
    rest()
    if b"plain" not in subprocess.run(["cat", f"{mount}/plain.txt"], stdout=subprocess.PIPE, timeout=LIMIT).stdout:
        sys.exit(f"{words}: nothing is read any more")


with open(f"{source}/plain.txt", "w") as file:
    file.write("plain")
message = b"From a Fri Jan  1 00:00:00 2021\nSubject: one\n\ntext\n\n"
for index in range(40):
    sparse(f"{index}.eml", b"Subject: one\n\n")
for index in range(4):
    sparse(f"{index}.mbox")
    sparse(f"long{index}.mbox", message * 3)
sparse("table.csv", b"a,b\n1,2\n")
long_zip("long.zip", 64)

interrupt(40, "cat", f"{mount}/{{}}.eml.message/body.txt")
interrupt(40, "ls", f"{mount}/{{}}.eml.message")
interrupt(4, "ls", f"{mount}/{{}}.mbox.messages")
interrupt(4, "ls", f"{mount}/long{{}}.mbox.messages")
interrupt(4, "ls", f"{mount}/long{{}}.mbox.views")
interrupt(4, "ls", f"{mount}/long{{}}.mbox.views/search/text")
interrupt(3, "tail", "-c", "1", f"{mount}/table.csv.as-html")
# The kernel reads ahead for these, and does not report that they have gone.
interrupt(3, "tail", "-c", "1", f"{mount}/long.zip.contents/zeros")
interrupt(3, "tail", "-c", "1", f"{mount}/long.zip.contents/zeros")
# Work that was suspended is continued.
with open(f"{mount}/long.zip.contents/zeros", "rb") as zeros:
    zeros.seek(32 << 20)
    if zeros.read(4096) != bytes(4096):
        sys.exit("an entry whose reader was interrupted is not what it was")
rest()
# All of it again, interrupted by the end of the mount.
for index in range(40):
    subprocess.Popen(
        ["cat", f"{mount}/{index}.eml.message/body.txt"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
subprocess.Popen(["tail", "-c", "1", f"{mount}/long.zip.contents/zeros"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
subprocess.Popen(["ls", f"{mount}/0.mbox.messages"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
time.sleep(0.5)
