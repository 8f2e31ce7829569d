"""Trees as they are on the disk or in a mount, and how they differ."""
import collections
import dataclasses
import hashlib
import os
import re
import stat

# Of a longer file the start and the end count: some have holes of gigabytes.
LARGEST = 64 << 20
SPECIAL = (b"character device ", b"block device ", b"named pipe", b"socket")


@dataclasses.dataclass
class Entry:
    kind: str
    size: int
    time: int
    mode: int
    target: bytes | None = None
    # None where the bytes cannot be read.
    digest: str | None = None
    start: bytes = b""
    number: int | None = None


def tree(folder):
    """What lies below a folder, by path."""
    found, pending = {}, [os.fsencode(folder)]
    base = pending[0]
    while pending:
        place = pending.pop()
        try:
            names = sorted(os.listdir(place))
        except OSError:
            continue
        for name in names:
            path = os.path.join(place, name)
            seen = os.lstat(path)
            entry = entry_of(path, seen)
            if entry.kind == "folder":
                if not seen.st_mode & 0o500 == 0o500 and os.geteuid() != 0:
                    os.chmod(path, 0o700)
                pending.append(path)
            found[os.path.relpath(path, base)] = entry
    return found


def entry_of(path, seen):
    kinds = [(stat.S_ISDIR, "folder"), (stat.S_ISLNK, "link"), (stat.S_ISREG, "file")]
    kind = next((kind for test, kind in kinds if test(seen.st_mode)), "special")
    size = seen.st_size if kind == "file" else 0
    entry = Entry(kind, size, seen.st_mtime_ns, seen.st_mode & 0o777)
    if kind == "link":
        entry.target = os.readlink(path)
    if kind == "file":
        # What is compressed tells its size when it is read.
        entry.digest, entry.start, entry.size = digest(path, size)
        if seen.st_nlink > 1:
            entry.number = seen.st_ino
    return entry


def digest(path, size):
    made, start = hashlib.sha1(), b""
    try:
        with open(path, "rb") as file:
            while file.tell() < LARGEST and (block := file.read(1 << 20)):
                start = start or block[:4096]
                made.update(block)
            if size > file.tell():
                file.seek(max(file.tell(), size - 4096))
                made.update(file.read())
            size = os.fstat(file.fileno()).st_size
    except OSError:
        return None, start, size
    return made.hexdigest(), start, size


def escapes(path, target, other):
    """Whether a link leads out of the tree, or might: after another link `..` may lead anywhere."""
    if target.startswith(b"/"):
        return True
    place, lost = [part for part in os.path.dirname(path).split(b"/") if part], False
    for part in target.split(b"/"):
        if part in (b"", b"."):
            continue
        if part == b"..":
            if lost or not place:
                return True
            place.pop()
        else:
            place.append(part)
            entry = other.get(b"/".join(place))
            lost = lost or entry is None or entry.kind != "folder"
    return False


def safe(path):
    """A name as it is shown: no control characters."""
    return bytes(0x3F if byte < 0x20 or byte == 0x7F else byte for byte in path)


def unnumbered(path):
    """The name that another of the same name has, which is shown as `name (2).txt`."""
    return re.sub(rb" \(\d+\)(?=(\.[^/]*)?$)", b"", path)


def contradictions(own, other):
    """Files that are whole in both, and not the same."""
    other = {safe(path): entry for path, entry in other.items()}
    both = [(path, entry, other[path]) for path, entry in own.items() if path in other]
    return [
        ("bytes", path) for path, have, wanted in both
        if have.kind == wanted.kind == "file" and have.digest and have.size == wanted.size and have.digest != wanted.digest
    ]


def differences(own, other, conveys, start):
    """What is otherwise than a program makes it, as pairs of what kind of difference it is and where.

    As documented: set-user-ID bits are not shown, devices are texts, and so are links that lead out. What a program has
    made later than `start` has a time of its own.
    """
    other = {safe(path): entry for path, entry in other.items()}
    found = []
    for path, wanted in other.items():
        have = own.get(path)
        if have is None:
            found.append(("missing", path))
            continue
        found += [(kind, path) for kind in differing(have, wanted, path, other, conveys, start)]
    found += [("more", path) for path in own if path not in other]
    if "links" in conveys:
        groups = [grouped({path: tree[path] for path in own.keys() & other.keys()}) for tree in (own, other)]
        found += [("hard links", min(group)) for group in groups[0] ^ groups[1]]
    return found


def differing(have, wanted, path, other, conveys, start):
    kind = wanted.kind
    if kind == "special":
        if have.kind != "file" or not have.start.startswith(SPECIAL):
            yield "type"
        return
    if kind == "link" and have.kind == "file" and escapes(path, wanted.target, other):
        if have.start != wanted.target[:4096]:
            yield "link"
        return
    if have.kind != kind:
        yield "type"
        return
    if kind == "link" and have.target != wanted.target:
        yield "link"
    if kind == "file":
        if have.size != wanted.size:
            yield "size"
        if have.digest is None:
            yield "unreadable"
        elif have.size == wanted.size and have.digest != wanted.digest:
            yield "bytes"
    step = conveys.get("time")
    if step and wanted.time < start and have.time // step != wanted.time // step:
        yield "time"
    # A folder that is recorded nowhere has the mode and the time of its making.
    if "mode" in conveys and kind != "link" and have.mode != wanted.mode and (kind == "file" or wanted.time < start):
        yield "mode"


def grouped(tree):
    groups = collections.defaultdict(set)
    for path, entry in tree.items():
        if entry.number is not None:
            groups[entry.number].add(path)
    return {frozenset(group) for group in groups.values() if len(group) > 1}
