"""hanging.py FOLDER MOUNTPOINT: FOLDER's files as a file system, in which some questions are not answered.

Files called hang and a number, with an extension, are there without being in FOLDER, and reading them hangs; of files called
late and so on, looking them up does. Looking up a file of FOLDER fails with EIO if its name begins with bad, and with ESTALE if
it begins with stale. The listing does not tell the type of those whose names contain untold.
SIGUSR1 has it answer all of those, then and from then on. Speaks the kernel's protocol itself (include/uapi/linux/fuse.h), since
that asks for nothing to be installed. Ends when it is unmounted.
"""
import ctypes
import errno
import os
import re
import signal
import stat
import struct
import sys

folder, mountpoint = sys.argv[1:3]
LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE = 1, 2, 3, 14, 15, 17, 18
FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR, INTERRUPT, DESTROY, BATCH_FORGET = 25, 26, 27, 28, 29, 36, 38, 42
SIZE = 100_000

device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
libc = ctypes.CDLL(None, use_errno=True)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
if libc.mount(b"hanging.py", mountpoint.encode(), b"fuse.hanging", 7, options) != 0:
    sys.exit(f"cannot mount: {os.strerror(ctypes.get_errno())}")

names = [""] + sorted(os.listdir(folder))  # by node number, from 1
held = []
hangs = True


def is_ours(name):
    return re.fullmatch(r"(hang|late)[0-9]+\.[a-z]+", name) is not None


def number(name):
    if name not in names[1:]:
        names.append(name)
    return names.index(name, 1) + 1 if name else 1


def content(name):
    if is_ours(name):
        return bytes(SIZE)
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def attributes(node):
    mode = stat.S_IFDIR | 0o755 if node == 1 else stat.S_IFREG | 0o644
    size = 0 if node == 1 else len(content(names[node - 1]))
    return struct.pack("=6Q10I", node, size, (size + 511) // 512, 10**9, 10**9, 10**9, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def answer(unique, body=b"", error=0):
    try:
        os.write(device, struct.pack("=IiQ", 16 + len(body), -error, unique) + body)
    except OSError as failure:
        if failure.errno != errno.ENOENT:  # interrupted meanwhile
            raise


def entry(unique, name):
    if not is_ours(name) and name not in names[1:]:
        return answer(unique, error=errno.ENOENT)
    node = number(name)
    answer(unique, struct.pack("=4Q2I", node, 0, 60, 60, 0, 0) + attributes(node))


def part(unique, node, start, size):
    answer(unique, content(names[node - 1])[start : start + size])


def release(*_):
    global hangs
    hangs = False
    for reply in held:
        reply()
    held.clear()


def take(opcode, unique, node, body):
    if opcode == INIT:
        flags = 1 | 1 << 18  # ASYNC_READ, PARALLEL_DIROPS
        answer(unique, struct.pack("=4I2H2I2H8I", 7, 31, 131072, flags, 2000, 1500, 131072, 1, 32, *[0] * 9))
    elif opcode == LOOKUP:
        name = body[:-1].decode()
        if name in names[1:] and name.startswith(("bad", "stale")):
            return answer(unique, error=errno.EIO if name[0] == "b" else errno.ESTALE)
        reply = lambda: entry(unique, name)
        held.append(reply) if hangs and is_ours(name) and name[0] == "l" else reply()
    elif opcode == GETATTR:
        answer(unique, struct.pack("=Q2I", 60, 0, 0) + attributes(node))
    elif opcode in (OPEN, OPENDIR):
        answer(unique, struct.pack("=Q2I", 0, 0, 0))
    elif opcode == READ:
        _, start, size = struct.unpack_from("=QQI", body)
        reply = lambda: part(unique, node, start, size)
        held.append(reply) if hangs and is_ours(names[node - 1]) else reply()
    elif opcode == READDIR:
        _, start, size = struct.unpack_from("=QQI", body)
        listing = b""
        for place, name in enumerate(names[1:], 1):
            raw = name.encode()
            record = struct.pack("=QQII", place + 1, place, len(raw), 0 if "untold" in name else 8) + raw
            record += bytes(-len(record) % 8)
            if place > start and len(listing) + len(record) <= size:
                listing += record
        answer(unique, listing)
    elif opcode == STATFS:
        answer(unique, bytes(80))
    elif opcode in (RELEASE, RELEASEDIR, FLUSH, DESTROY):
        answer(unique)
    elif opcode not in (FORGET, BATCH_FORGET, INTERRUPT):
        answer(unique, error=errno.ENOSYS)


signal.signal(signal.SIGUSR1, release)
while True:
    try:
        request = os.read(device, 1 << 20)
    except OSError as failure:
        if failure.errno == errno.ENODEV:
            break
        continue
    _, opcode, unique, node = struct.unpack_from("=IIQQ", request)
    take(opcode, unique, node, request[40:])
