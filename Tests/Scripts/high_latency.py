"""high_latency.py BINARY SCRATCH MILLISECONDS [PDF PAGE PEERS]: how many requests to the source what people do costs.

The source is a file system that answers each request so much later (delayed.py) and nothing of which is in memory: for each row
it and ffmount are mounted anew. Makes a ZIP of 1 GB, with 1,000 entries, as a sparse file, and a mailbox; a PDF of some pages is
made unless one is given. Prints a JSON object a line: the row, seconds, the requests that ask for or after bytes, and those that ask
for names and attributes, with the folder listed a moment before (false) or nothing known (true). Ends with 1 where they are more
than LIMITS. With PEERS (1), other programs are asked, too, that read the source without ffmount.
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENTRIES, ENTRY = 1000, 1 << 20
MESSAGES = 3000
#: For bytes, of what is found in a folder that was listed a moment before; and for names where nothing is known.
LIMITS = {"ls in a ZIP of 1 GB": 4, "cat a message": 2, "a page of a PDF": 12}
MOST_NAMES = 4
#: Requests for bytes; all others are for names and attributes.
BYTES = ("open", "read", "opendir", "readdir", "readdirplus")


def make_zip(path: Path) -> None:
    """Stored entries of zeros, which take no room on the disk."""
    crc, directory = zlib.crc32(bytes(ENTRY)), []
    with open(path, "wb") as file:
        for number in range(ENTRIES):
            name = b"folder%d/file%04d.bin" % (number % 10, number)
            common = struct.pack("<5H3I2H", 20, 0, 0, 0, 0x5A21, crc, ENTRY, ENTRY, len(name), 0)
            directory.append(b"PK\1\2" + struct.pack("<H", 20) + common
                             + struct.pack("<3H2I", 0, 0, 0, 0, file.tell()) + name)
            file.write(b"PK\3\4" + common + name)
            file.seek(ENTRY, os.SEEK_CUR)
        start, whole = file.tell(), b"".join(directory)
        file.write(whole + b"PK\5\6" + struct.pack("<4H2IH", 0, 0, ENTRIES, ENTRIES, len(whole), start, 0))


def make_mailbox(path: Path) -> None:
    body = b"a line of a message, of which there are many\n" * 60
    with open(path, "wb") as file:
        for number in range(MESSAGES):
            file.write(
                b"From a@b Fri Jan  1 00:00:00 2021\nFrom: a%d@example.org\nSubject: message %d\nMessage-ID: <%d@example.org>\n"
                b"Date: Fri, 1 Jan 2021 %02d:%02d:00 +0000\n\n" % (number % 9, number, number, number // 60 % 24, number % 60)
                + body + b"\n")


over: list[dict] = []


class Mounts:
    """The delayed source and a mount of it, both anew."""

    def __init__(self, binary: str | None, scratch: Path, delay: str) -> None:
        self.binary, self.scratch, self.delay = binary, scratch, delay
        self.slow, self.top = scratch / "slow", scratch / "top"

    def __enter__(self) -> "Mounts":
        self.slow.mkdir(exist_ok=True)
        self.top.mkdir(exist_ok=True)
        self.source = subprocess.Popen(
            [sys.executable, HERE / "delayed.py", self.scratch / "files", self.slow, self.delay])
        self.daemon = None
        try:
            self.until(self.slow, self.source)
            self.daemon = self.binary and subprocess.Popen(
                [self.binary, "-f", "-o", "source_id=latency", self.slow, self.top],
                env=os.environ | {"XDG_CACHE_HOME": str(self.scratch / "cache")}, stderr=subprocess.DEVNULL)
            if self.daemon:
                self.until(self.top, self.daemon)
            self.taken()
            # What the mount itself has asked for is forgotten by now.
            time.sleep(1.1)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process, folder in ((self.daemon, self.top), (self.source, self.slow)):
            if process is None:
                continue
            for _ in range(100):
                subprocess.run(["umount", folder], stderr=subprocess.DEVNULL)
                try:
                    process.wait(0.1)
                    break
                except subprocess.TimeoutExpired:
                    pass
            else:
                process.kill()
                subprocess.run(["umount", "-l", folder])

    @staticmethod
    def until(folder: Path, process: subprocess.Popen) -> None:
        for _ in range(1000):
            if os.path.ismount(folder):
                return
            if process.poll() is not None:
                break
            time.sleep(0.01)
        raise SystemExit(f"{folder} is not mounted")

    def taken(self) -> list[str]:
        """The requests since the last time."""
        return (self.slow / ".requests").read_text().splitlines()

    def measure(self, row: str, work, isCold: bool, by: str = "ffmount") -> dict:
        # What a listing before has read ahead comes to its end.
        time.sleep(0.1)
        self.taken()
        start = time.perf_counter()
        work()
        seconds = time.perf_counter() - start
        # What is read ahead for the next one is not part of this one, but shows in the time of who waits for it.
        requests = self.taken()
        forBytes = [each for each in requests if each.split()[0] in BYTES]
        found = {
            "row": row, "by": by, "cold": isCold, "seconds": round(seconds, 3), "bytes": len(forBytes),
            "names": len(requests) - len(forBytes), "requests": requests[:40],
        }
        print(json.dumps(found), flush=True)
        # The kernel asks again for attributes that are half a second old, which a busy machine needs for a conversion.
        mostNames = MOST_NAMES + int(seconds / 0.5) * 2
        isOver = found["names"] > mostNames if isCold else found["bytes"] > LIMITS.get(row, 1 << 30)
        if by == "ffmount" and row in LIMITS and isOver:
            over.append(found)
        return found


def main() -> None:
    binary, scratch, delay = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    files = scratch / "files"
    files.mkdir()
    make_zip(files / "large.zip")
    make_mailbox(files / "inbox.mbox")
    if len(sys.argv) > 4:
        shutil.copy(sys.argv[4], files / "book.pdf")
    else:
        with open(files / "book.pdf", "wb") as file:
            subprocess.run([sys.executable, HERE / "many_pages.py", "6000"], stdout=file, check=True)
    page = int(sys.argv[5]) if len(sys.argv) > 5 else 300

    def message(top: Path) -> Path:
        names = sorted(os.listdir(top / "inbox.mbox.messages"))
        assert len(names) == MESSAGES, names[:3]
        return top / "inbox.mbox.messages" / names[MESSAGES // 2]

    for isCold in (True, False):
        with Mounts(binary, scratch, delay) as mounts:
            top = mounts.top
            if not isCold:
                assert "large.zip.contents" in os.listdir(top)
                os.stat(top / "large.zip.contents")
            mounts.measure("ls in a ZIP of 1 GB", lambda: os.listdir(top / "large.zip.contents"), isCold)
            if isCold:
                assert len(os.listdir(top / "large.zip.contents")) == 10
                mounts.measure(
                    "cat of 1 MB in it", lambda: (top / "large.zip.contents/folder7/file0507.bin").read_bytes(), isCold)
        if isCold:
            with Mounts(binary, scratch, delay) as mounts:
                mounts.measure("index a mailbox", lambda: message(mounts.top), isCold)
                time.sleep(1)
        with Mounts(binary, scratch, delay) as mounts:
            top = mounts.top
            if isCold:
                mounts.measure("cat a message", lambda: (message(top) / "body.txt").read_bytes(), isCold)
            else:
                path = message(top) / "body.txt"
                found = mounts.measure("cat a message", path.read_bytes, isCold)
                assert any(re.match("read /inbox", each) for each in found["requests"]), found
        shutil.rmtree(scratch / "cache/ffmount/renditions", ignore_errors=True)
        with Mounts(binary, scratch, delay) as mounts:
            top = mounts.top
            if not isCold:
                os.listdir(top)
                os.stat(top / "book.pdf.pages")
            mounts.measure(
                "a page of a PDF", lambda: (top / f"book.pdf.pages/{page}.pdf").read_bytes(), isCold)
            if isCold:
                mounts.measure(
                    "the page after it", lambda: (top / f"book.pdf.pages/{page + 1}.pdf").read_bytes(), isCold)
    peers = {
        "ls in a ZIP of 1 GB": ["unzip", "-Z1", "large.zip"],
        "cat of 1 MB in it": ["unzip", "-p", "large.zip", "folder7/file0507.bin"],
        "index a mailbox": ["grep", "-c", "^From ", "inbox.mbox"],
        "a page of a PDF": ["qpdf", "--empty", "--pages", "book.pdf", str(page), "--", str(scratch / "page.pdf")],
    }
    for row, words in peers.items() if len(sys.argv) > 6 and shutil.which("qpdf") else ():
        with Mounts(None, scratch, delay) as mounts:
            mounts.measure(
                row, lambda: subprocess.run(words, cwd=mounts.slow, capture_output=True, check=True), True, words[0])
    if over:
        sys.exit(f"more requests than {LIMITS}, or {MOST_NAMES} for names: {over}")


if __name__ == "__main__":
    main()
