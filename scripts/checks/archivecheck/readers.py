"""Other programs that unpack archives."""
import collections
import os
import re
import shutil
import subprocess
import time

from archivecheck.trees import tree

LIMIT = 10
UNIX = {"time": 1, "mode": True, "links": True}
# 7z and unar restore times in steps of their own, and have no hard links.
PLAIN = {"time": 1_000_000_000}

DECOMPRESSORS = {
    ".gz": "gzip", ".z": "gzip", ".Z": "gzip", ".bz2": "bzip2", ".xz": "xz", ".lzma": "xz", ".zst": "zstd", ".lz4": "lz4",
}


class Result:
    def __init__(self, status, said, tree):
        self.status, self.said, self.tree = status, said, tree

    @property
    def words(self):
        """The first complaint."""
        return next((line for line in self.said.split("\n") if line.strip()), "nothing")


class Reader:
    """`formats`: those that it is asked for alone."""

    def __init__(self, name, command, conveys, formats=None):
        self.name, self.command, self.conveys, self.formats = name, command, conveys, formats

    @property
    def exists(self):
        return shutil.which(self.command[0]) is not None

    def unpack(self, archive, folder):
        """Unpacks into an empty folder; `%` in a word stands for the archive."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        words = [word.replace("%", str(archive)) for word in self.command]
        try:
            done = subprocess.run(
                words, cwd=folder, capture_output=True, timeout=LIMIT, stdin=subprocess.DEVNULL, umask=0o022)
            status, said = done.returncode, (done.stderr + done.stdout[-2000:]).decode(errors="replace").strip()
        except subprocess.TimeoutExpired:
            status, said = -1, f"took more than {LIMIT} s"
        found = tree(folder)
        subprocess.run(["chmod", "-R", "u+rwX", str(folder)], check=False, capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)
        return Result(status, said, found)


bsdtar = ["bsdtar", "-x", "-p", "--no-same-owner", "--no-acls", "--no-xattrs", "--no-fflags"]
READERS = [
    Reader("bsdtar", [*bsdtar, "-f", "%"], UNIX),
    Reader("GNU tar", ["tar", "-x", "-p", "--no-same-owner", "-f", "%"], UNIX),
    Reader("7z", ["7z", "x", "-y", "-bd", "-pwrong", "-snld", "%"], PLAIN),
    Reader("unar", ["unar", "-q", "-D", "-p", "wrong", "%"], PLAIN, ["RAR 4", "RAR 5", "LHA", "cab", "ZIP", "7z"]),
    Reader("bsdtar in KOI8-R", [*bsdtar, "--options", "hdrcharset=KOI8-R", "-f", "%"], UNIX, ["ZIP"]),
    Reader("bsdtar behind zeros", [*bsdtar, "--ignore-zeros", "-f", "%"], UNIX),
]


def decompressor(archive):
    """Who decompresses a file that is no archive."""
    stem, ending = os.path.splitext(archive.name)
    if ending not in DECOMPRESSORS:
        return None
    program = DECOMPRESSORS[ending]
    if stem.endswith(".tar"):
        return Reader(f"{program} and bsdtar", ["sh", "-c", f'{program} -dc < "$1" | {" ".join(bsdtar)} -f -', "sh", "%"], UNIX)
    # Times are those of the compressed file, which the copy has not.
    return Reader(program, ["sh", "-c", f'{program} -dc < "$1" > "$2"', "sh", "%", stem], {})


def joined(archive):
    """bsdtar for the first of several parts, which lie beside it."""
    found = re.fullmatch(r"(.*\.part)0*1(\.rar)", archive.name)
    if found is None:
        return None
    parts = sorted(p for p in archive.parent.iterdir() if re.fullmatch(re.escape(found[1]) + r"\d+" + found[2], p.name))
    command = ["sh", "-c", f'cat "$@" | {" ".join(bsdtar)} -f -', "sh", *map(str, parts)]
    return Reader("bsdtar of all parts", command, UNIX)


def names_listed_twice(archive):
    """Names that the archive has more than once, as bsdtar lists them: of these it unpacks the last."""
    said = subprocess.run(["bsdtar", "-tf", str(archive)], capture_output=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
    counts = collections.Counter(said.stdout.split(b"\n"))
    return {unescaped(name).rstrip(b"/").removeprefix(b"./") for name, count in counts.items() if count > 1}


def unescaped(name):
    return re.sub(rb"\\(\d{3})", lambda found: bytes([int(found[1], 8)]), name).replace(b"\\\\", b"\\")


def later_part(archive):
    """The archive's first part, if it is a later one by what it says itself; None if not."""
    try:
        said = subprocess.run(
            ["7z", "l", "-slt", "-pwrong", str(archive)], capture_output=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return None
    found = re.search(rb"^Volume Index = (\d+)$", said.stdout, re.M)
    return int(found[1]) if found and int(found[1]) > 0 else None


def encrypted_by(archive):
    """The program that says that something of the archive is encrypted; None if none does."""
    words = {
        "7z": (["7z", "l", "-slt", "-pwrong", str(archive)], rb"Encrypted = \+|encrypted archive|[Ww]rong password"),
        "lsar": (["lsar", "-L", "-p", "wrong", str(archive)], rb"[Ee]ncrypted:? *[Yy]es|needs a password|wrong password"),
        "bsdtar": (["bsdtar", "-tvf", str(archive)], rb"ncrypt|[Pp]assphrase"),
    }
    for name, (command, mark) in words.items():
        try:
            said = subprocess.run(command, capture_output=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
        except (subprocess.TimeoutExpired, FileNotFoundError):
            continue
        if re.search(mark, said.stdout + said.stderr):
            return name
    return None


def now():
    # Times of new files may lag behind by a tick.
    return time.time_ns() - 50_000_000
