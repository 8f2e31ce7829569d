"""abuse.py make SOURCE MOST [FILE…]: files that are made to hurt, and so many damaged variants of each FILE; if MOST is 1, each
FILE is whole, cut off or with flipped bits, in turns.
abuse.py read MOUNT DAEMON SECONDS: everything that can be made of them, which must cost nobody else anything.

Reads every conversion on four threads. Meanwhile lists the folder, reads a plain file, and looks at the memory of the
daemon and its workers. Fails when an answer takes longer than SECONDS, for a failure without a sentence, for more than 100
MB in the daemon or more than its limit in a worker; and prints how it went.
"""
import collections
import concurrent.futures
import errno
import os
import sys
import threading
import time

from hostile_files import damaged, hostile_files

DAEMON_LIMIT = 100 << 20
#: -o convert_memory's default, of the worker's own, and what may come before the daemon looks again.
WORKER_LIMIT = (1 << 30) + (256 << 20)


def make(folder: str, most: int, files: list[str]) -> None:
    def write(name: str, content: bytes) -> None:
        with open(f"{folder}/{name}", "wb") as file:
            file.write(content)

    for name, content in hostile_files():
        write(name, content)
    for number, path in enumerate(files):
        with open(path, "rb") as file:
            content = file.read()
        extension = path.rpartition(".")[2].lower()
        variants = list(enumerate(damaged(content, number, max(most, 3))))
        for variant, changed in variants[number % 3 :][:1] if most == 1 else variants:
            write(f"{number:04}-{variant}.{extension}", changed)
    write("plain.txt", b"still here\n")


class Watch:
    """How long others wait, and how much memory there is, until it is stopped."""

    def __init__(self, mount: str, daemon: str) -> None:
        self.mount, self.daemon = mount, daemon
        self.longest = self.daemon_memory = self.worker_memory = 0
        self.most_workers = 0
        self.ended = threading.Event()
        self.threads = [threading.Thread(target=each) for each in (self.answers, self.memory)]
        for thread in self.threads:
            thread.start()

    def stop(self) -> None:
        self.ended.set()
        for thread in self.threads:
            thread.join()

    def answers(self) -> None:
        while not self.ended.wait(0.05):
            start = time.monotonic()
            assert len(os.listdir(self.mount)) > 10
            with open(f"{self.mount}/plain.txt", "rb") as file:
                assert file.read() == b"still here\n"
            self.longest = max(self.longest, time.monotonic() - start)

    def memory(self) -> None:
        while not self.ended.wait(0.01):
            workers = children(self.daemon)
            self.most_workers = max(self.most_workers, len(workers))
            self.daemon_memory = max(self.daemon_memory, status(self.daemon, "VmRSS:"))
            for worker in workers:
                self.worker_memory = max(self.worker_memory, status(worker, "RssAnon:"))


def command(process: str) -> bytes:
    try:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


def children(process: str) -> list[str]:
    found = []
    for task in os.listdir(f"/proc/{process}/task"):
        try:
            with open(f"/proc/{process}/task/{task}/children") as file:
                # Except the helper that makes the kernel refresh sizes.
                found += [one for one in file.read().split() if b"witness" not in command(one)]
        except OSError:
            pass
    return found


def status(process: str, field: str) -> int:
    try:
        with open(f"/proc/{process}/status") as file:
            return next((int(line.split()[1]) << 10 for line in file if line.startswith(field)), 0)
    except OSError:
        return 0


def views(mount: str, name: str) -> list[str]:
    """Names of what can be made of a file."""
    if not name.endswith(".pdf"):
        return [f"{name}.as-jpeg", f"{name}.100px.as-png"]
    found = [f"{name}.as-jpeg", f"{name}.as-txt", f"{name[:-4]}.compressed.pdf"]
    try:
        pages = sorted(os.listdir(f"{mount}/{name}.pages"))
    except OSError:
        return [*found, f"{name}.pages"]
    return found + [f"{name}.pages/{page}" for page in {*pages[:1], *pages[-1:]}]


def read(mount: str, daemon: str, seconds: float) -> int:
    outcomes: collections.Counter = collections.Counter()
    wrong, reasons, slowest = [], collections.Counter(), []

    def is_made(view: str) -> bool:
        try:
            with open(f"{mount}/{view}", "rb") as file:
                return bool(file.read())
        except OSError:
            return False

    def convert(name: str) -> None:
        for view in views(mount, name):
            start = time.monotonic()
            try:
                with open(f"{mount}/{view}", "rb") as file:
                    size = os.fstat(file.fileno()).st_size
                    content = file.read()
                outcomes["made"] += 1
                if len(content) != size:
                    wrong.append(f"{view}: {len(content)} bytes of {size}")
            except OSError as error:
                outcomes["refused"] += 1
                try:
                    reason = os.getxattr(f"{mount}/{view}", "user.ffmount.error").decode()
                except OSError as second:
                    reason = ""
                    # What took too long beside others may be made when it is asked for again.
                    if second.errno != errno.ENODATA or not is_made(view):
                        wrong.append(f"{view}: {error.strerror}, and no reason: {second.strerror}")
                reasons[reason.partition(": ")[2].partition("(")[0][:60]] += 1
            slowest.append((round(time.monotonic() - start, 2), view))

    made = (".pages", ".compressed.pdf")
    names = sorted(name for name in os.listdir(mount) if ".as-" not in name and not name.endswith((*made, ".txt")))
    watch = Watch(mount, daemon)
    try:
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(convert, names))
    finally:
        watch.stop()
    print(f"{len(names)} files, {dict(outcomes)}; others waited {watch.longest:.3f} s at most; "
          f"daemon {watch.daemon_memory >> 20} MB, a worker {watch.worker_memory >> 20} MB, "
          f"{watch.most_workers} workers")  # fmt: skip
    for reason, count in reasons.most_common(40):
        print(f"  {count:5} {reason}")
    print("slowest:", sorted(slowest, reverse=True)[:8])
    if watch.longest > seconds:
        wrong.append(f"others waited {watch.longest:.3f} s")
    if watch.daemon_memory > DAEMON_LIMIT:
        wrong.append(f"the daemon took {watch.daemon_memory >> 20} MB")
    if watch.worker_memory > WORKER_LIMIT:
        wrong.append(f"a worker took {watch.worker_memory >> 20} MB")
    print("\n".join(wrong))
    return 1 if wrong else 0


if sys.argv[1] == "make":
    make(sys.argv[2], int(sys.argv[3]), sys.argv[4:])
else:
    sys.exit(read(sys.argv[2], sys.argv[3], float(sys.argv[4])))
