"""ask_all.py MOUNT SECONDS [SEED [SHARE [VIEWS]]]: asks everything there is to ask of what lies in a mount's first folder.

Attributes, listings, extended attributes, reads at odd places, and views by name with odd modifiers, some of them within
folders; or VIEWS alone, with spaces between them. The SECONDS are divided among the files. Of the conversions, SHARE are read (1: all of them). Prints how often what was answered, as JSON; a failure is an
answer.
"""
import collections
import json
import os
import random
import re
import sys
import time

PLACES = (0, 1, 511, 4095, (1 << 56) - 1, 1 << 61, (1 << 63) - 4097, (1 << 63) - 11)
VIEWS = (
    ".contents .messages .message .views .pages .as-html .as-txt .as-jpeg .as-png .as-pdf .as-avif .merged.pdf .as.jpg "
    ".1600px.q70.as-webp .1px.as-gif .99999999999999999999px.as-png .0%.as-png .50%.rot90.gray.noexif.as-tiff "
    ".800x600.800x600.as-jpeg .contents.as-txt .as-txt.as-html .as-pdf.pages .messages.merged.pdf .as-nothing "
    ".tracks .merged.mp3 .merged.mp4 .crossfade=2s.merged.flac .as-md .sheets .tags.txt .sha256"
).split()
STEM_VIEWS = ".compressed.pdf .72dpi.q40.compressed.pdf .99999999999dpi.compressed.pdf .gray.compressed.pdf".split()
INNER = (
    "1.pdf 0.pdf 1-.pdf 2-1,1-,1-.pdf 1000000000-1,1000000000-1.pdf 000001 search/a search/larger:999999999g "
    "search/before:9999-12-31 by-date attachments ../x"
).split()


def main(mountpoint: str, limit: str, seed: str = "1", share: str = "1", views: str = "") -> None:
    walker = Walker(float(limit), random.Random(int(seed)), float(share))
    if views:
        names = [name for name in walker.listed(mountpoint) if not name.endswith(".as-pdf")]
        # Several that ask at once ask of different files.
        walker.numbers.shuffle(names)
        for name in names:
            for view in views.split():
                walker.ask(f"{mountpoint}/{name}{view}", 3)
        return print(json.dumps(walker.counts))
    names = walker.listed(mountpoint)
    end = walker.end
    for index, name in enumerate(names):
        # Each file gets its share of the time that is left, and at least some: the last ones are asked, too.
        walker.end = time.monotonic() + max(0.02, (end - time.monotonic()) / (len(names) - index))
        walker.ask(f"{mountpoint}/{name}", 0)
        asked = [name + view for view in VIEWS] + [name.partition(".")[0] + view for view in STEM_VIEWS]
        walker.numbers.shuffle(asked)
        for view in asked:
            walker.ask(f"{mountpoint}/{view}", 1)
    print(json.dumps(walker.counts))


class Walker:
    """Asks everything of files and folders, until its time is over."""

    def __init__(self, limit: float, numbers: random.Random, share: float) -> None:
        self.counts: collections.Counter = collections.Counter()
        self.end = time.monotonic() + limit
        self.numbers = numbers
        self.share = share

    def attempt(self, what: str, call, *words):
        self.counts["questions"] += 1
        try:
            return call(*words)
        except OSError as error:
            self.counts[f"{what}: {os.strerror(error.errno)}"] += 1
        except ValueError:
            pass
        return None

    def listed(self, path: str) -> list[str]:
        return sorted(self.attempt("list", os.listdir, path) or [])

    def ask(self, path: str, depth: int) -> None:
        if time.monotonic() > self.end:
            self.counts["not asked"] += 1
            return
        self.counts["names"] += 1
        status = self.attempt("stat", os.lstat, path)
        if status is None:
            return
        for name in self.attempt("xattr", lambda: os.listxattr(path, follow_symlinks=False)) or []:
            self.attempt("xattr", lambda name=name: os.getxattr(path, name, follow_symlinks=False))
        if status.st_mode & 0o170000 == 0o040000:
            self.ask_folder(path, depth)
        elif status.st_mode & 0o170000 == 0o100000:
            # Content that a worker has to generate is expensive.
            if depth == 0 or not re.search(r"\.as-(?!html|txt|md)\w+$|\.pdf$", path) or self.numbers.random() < self.share:
                self.read(path)
        else:
            self.attempt("readlink", os.readlink, path)

    def ask_folder(self, path: str, depth: int) -> None:
        names = self.listed(path)
        if depth >= 4:
            return
        for name in self.numbers.sample(names, min(len(names), 6)):
            self.ask(f"{path}/{name}", depth + 1)
            if depth == 3:
                continue
            for view in self.numbers.sample(VIEWS, 3):
                self.ask(f"{path}/{name}{view}", depth + 2)
        for name in self.numbers.sample(INNER, 3):
            self.ask(f"{path}/{name}", depth + 2)

    def read(self, path: str) -> None:
        descriptor = self.attempt("open", os.open, path, os.O_RDONLY | os.O_NONBLOCK)
        if descriptor is None:
            return
        for offset in (*PLACES, max(0, os.fstat(descriptor).st_size - 1)):
            self.attempt("read", os.pread, descriptor, self.numbers.choice((10, 4097, 200_000)), offset)
        os.close(descriptor)


if __name__ == "__main__":
    main(*sys.argv[1:])
