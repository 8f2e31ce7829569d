"""delayed.py FOLDER MOUNTPOINT MILLISECONDS: FOLDER as a file system of high latency, such as a store across a network.

Each request that a reader waits for is answered that much later, however many there are at a time; nothing is said about what
closing a file costs, since nobody waits for that. A file called .requests in the root, which is asked for without delay, has
the requests since it was last opened: a line each, with the kind, the path, and for a read the offset and the number of bytes.
As long as there is a file .failing in FOLDER, what is in it is a part of the names of files that cannot be read (EIO).
Names and attributes hold for a second, as most such file systems have it; all is forgotten when the kernel's caches are.
Speaks the kernel's protocol itself (include/uapi/linux/fuse.h), since that asks for nothing to be installed. Ends when it is
unmounted.
"""
import ctypes
import errno
import os
import struct
import sys
import threading
import time

LOOKUP, FORGET, GETATTR, READLINK, OPEN, READ, STATFS, RELEASE = 1, 2, 3, 5, 14, 15, 17, 18
GETXATTR, LISTXATTR, INIT, OPENDIR, READDIR, RELEASEDIR = 22, 23, 26, 27, 28, 29
INTERRUPT, DESTROY, BATCH_FORGET, READDIRPLUS = 36, 38, 42, 44
NAMES = {
    LOOKUP: "lookup", GETATTR: "getattr", READLINK: "readlink", OPEN: "open", READ: "read", STATFS: "statfs",
    GETXATTR: "getxattr", LISTXATTR: "listxattr", OPENDIR: "opendir", READDIR: "readdir", READDIRPLUS: "readdirplus",
}
#: What object stores and their file systems answer at once, because they have none.
LACKING = {GETXATTR, LISTXATTR}
LARGEST = 1 << 20
LOG = ".requests"
FAILING = ".failing"
THREADS = 32


class Delayed:
    def __init__(self, folder: str, mountpoint: str, delay: float) -> None:
        self.folder, self.delay = os.fsencode(folder), delay
        self.lock = threading.Lock()
        # By node number: the path below the folder, empty for the root; the log's is None.
        self.paths: list[bytes | None] = [None, b""]
        self.numbers: dict[bytes, int] = {b"": 1}
        self.handles: dict[int, object] = {}
        self.last = 0
        self.log: list[str] = []
        self.device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        options = f"fd={self.device},rootmode=40000,user_id=0,group_id=0,allow_other,max_read={LARGEST}".encode()
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mount(b"delayed.py", mountpoint.encode(), b"fuse.delayed", 7, options) != 0:
            sys.exit(f"cannot mount: {os.strerror(ctypes.get_errno())}")

    def run(self) -> None:
        threads = [threading.Thread(target=self.serve) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def serve(self) -> None:
        while True:
            try:
                request = os.read(self.device, LARGEST + 4096)
            except OSError as failure:
                if failure.errno == errno.ENODEV:
                    return
                continue
            _, opcode, unique, node = struct.unpack_from("=IIQQ", request)
            try:
                body = self.take(opcode, node, request[40:])
            except OSError as failure:
                self.answer(unique, error=failure.errno or errno.EIO)
            else:
                if body is not None:
                    self.answer(unique, body)

    def answer(self, unique: int, body: bytes = b"", error: int = 0) -> None:
        try:
            os.write(self.device, struct.pack("=IiQ", 16 + len(body), -error, unique) + body)
        except OSError as failure:
            if failure.errno not in (errno.ENOENT, errno.ENODEV):  # interrupted, or unmounted meanwhile
                raise

    def path(self, node: int, name: bytes = b"") -> bytes:
        with self.lock:
            own = self.paths[node]
        if own is None:
            raise OSError(errno.ENOTDIR, "")
        return b"/".join(part for part in (own, name) if part)

    def real(self, path: bytes) -> bytes:
        return os.path.join(self.folder, path)

    def wait(self, opcode: int, path: bytes, more: str = "") -> None:
        with self.lock:
            self.log.append(f"{NAMES[opcode]} /{os.fsdecode(path)}{more}")
        time.sleep(self.delay)

    def fail(self, path: bytes) -> None:
        try:
            with open(self.real(FAILING.encode()), "rb") as file:
                if file.read().strip() in path:
                    raise OSError(errno.EIO, "")
        except FileNotFoundError:
            pass

    def number(self, path: bytes | None) -> int:
        with self.lock:
            if path is not None and path in self.numbers:
                return self.numbers[path]
            self.paths.append(path)
            if path is not None:
                self.numbers[path] = len(self.paths) - 1
            return len(self.paths) - 1

    def attributes(self, node: int, status: os.stat_result | None) -> bytes:
        if status is None:  # the log
            return struct.pack("=6Q10I", node, 1 << 20, 0, 0, 0, 0, 0, 0, 0, 0o100444, 1, 0, 0, 0, 4096, 0)
        times = [divmod(each, 10**9) for each in (status.st_atime_ns, status.st_mtime_ns, status.st_ctime_ns)]
        return struct.pack(
            "=6Q10I", status.st_ino, status.st_size, status.st_blocks, *[each[0] for each in times],
            *[each[1] for each in times], status.st_mode, status.st_nlink, status.st_uid, status.st_gid, 0, 4096, 0)

    def entry(self, path: bytes | None) -> bytes:
        status = None if path is None else os.lstat(self.real(path))
        node = self.number(path)
        lifetime = 0 if path is None else 1
        return struct.pack("=4Q2I", node, 0, lifetime, lifetime, 0, 0) + self.attributes(node, status)

    def opened(self, handle: object, flags: int = 0) -> bytes:
        with self.lock:
            self.last += 1
            self.handles[self.last] = handle
            return struct.pack("=Q2I", self.last, flags, 0)

    def take(self, opcode: int, node: int, body: bytes) -> bytes | None:
        if opcode == INIT:
            flags = 1 | 1 << 13 | 1 << 14 | 1 << 18 | 1 << 22  # ASYNC_READ, DO_READDIRPLUS and AUTO, PARALLEL_DIROPS, MAX_PAGES
            readahead = struct.unpack_from("=3I", body)[2]
            return struct.pack("=4I2H2I2H8I", 7, 31, readahead, flags, 64, 48, 131072, 1, LARGEST // 4096, *[0] * 9)
        if opcode in (FORGET, BATCH_FORGET, INTERRUPT):
            return None
        if opcode in (RELEASE, RELEASEDIR):
            with self.lock:
                handle = self.handles.pop(struct.unpack_from("=Q", body)[0], None)
            if isinstance(handle, int):
                os.close(handle)
            return b""
        if opcode == DESTROY:
            return b""
        if opcode not in NAMES or opcode in LACKING:
            raise OSError(errno.ENOSYS, "")
        return self.asked(opcode, node, body)

    def asked(self, opcode: int, node: int, body: bytes) -> bytes:
        """The answer to a request that waits."""
        if opcode == LOOKUP:
            name = body[:-1]
            if node == 1 and name == LOG.encode():
                return self.entry(None)
            path = self.path(node, name)
            self.wait(opcode, path)
            try:
                return self.entry(path)
            except FileNotFoundError:
                # That there is nothing holds as long as anything else.
                return struct.pack("=4Q2I", 0, 0, 1, 0, 0, 0) + bytes(88)
        with self.lock:
            own = self.paths[node]
        if own is None:
            return self.log_asked(opcode, node, body)
        if opcode == READ:
            handle, start, size = struct.unpack_from("=QQI", body)
            self.wait(opcode, own, f" {start} {size}")
            self.fail(own)
            return os.pread(self.handles[handle], size, start)
        if opcode in (READDIR, READDIRPLUS):
            handle, start, size = struct.unpack_from("=QQI", body)
            self.wait(opcode, own, f" {start}")
            return self.listing(own, self.handles[handle], start, size, opcode == READDIRPLUS)
        self.wait(opcode, own)
        if opcode == GETATTR:
            return struct.pack("=Q2I", 1, 0, 0) + self.attributes(node, os.lstat(self.real(own)))
        if opcode == OPEN:
            return self.opened(os.open(self.real(own), os.O_RDONLY | os.O_CLOEXEC))
        if opcode == OPENDIR:
            return self.opened(sorted(os.listdir(self.real(own))))
        if opcode == READLINK:
            return os.readlink(self.real(own))
        return struct.pack("=5Q3I", 1 << 30, 1 << 29, 1 << 29, 0, 0, 4096, 255, 4096) + bytes(28)  # STATFS

    def listing(self, folder: bytes, names: list[bytes], start: int, size: int, isFull: bool) -> bytes:
        text = b""
        for place, name in enumerate(names[start:], start + 1):
            path = b"/".join(part for part in (folder, name) if part)
            try:
                status = os.lstat(self.real(path))
            except FileNotFoundError:
                continue
            record = struct.pack("=QQII", status.st_ino, place, len(name), status.st_mode >> 12) + name
            if isFull:
                record = self.entry(path) + record
            record += bytes(-len(record) % 8)
            if len(text) + len(record) > size:
                break
            text += record
        return text

    def log_asked(self, opcode: int, node: int, body: bytes) -> bytes:
        if opcode == GETATTR:
            return struct.pack("=Q2I", 0, 0, 0) + self.attributes(node, None)
        if opcode == OPEN:
            with self.lock:
                text, self.log = "".join(line + "\n" for line in self.log), []
            return self.opened(text.encode(), 1)  # DIRECT_IO
        if opcode == READ:
            handle, start, size = struct.unpack_from("=QQI", body)
            return self.handles[handle][start : start + size]
        raise OSError(errno.ENOSYS, "")


if __name__ == "__main__":
    Delayed(sys.argv[1], sys.argv[2], float(sys.argv[3]) / 1000).run()
