#!/usr/bin/env python3
"""written.py NAME SOURCE MOUNT: does the same things in the mount, whose source is SOURCE, and in a bare folder; what each
says, and what is there afterwards, must be the same. NAME is a function below."""

import ctypes
import errno
import fcntl
import mmap
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
import zipfile
from pathlib import Path


class Place:
    """The mount or the bare folder: runs operations and notes what each said."""

    def __init__(self, path):
        self.path = str(path)
        self.said = []

    def __call__(self, what, action):
        try:
            result = action()
        except OSError as error:
            result = errno.errorcode.get(error.errno, error.errno)
        self.said.append((what, result))
        return result

    def at(self, name):
        return os.path.join(self.path, name)


def described(folder):
    """Everything below a folder: names, kinds, modes, links, owners, times of modification that were set, bytes."""
    found = {}
    for path, folders, files in os.walk(folder):
        for name in folders + files:
            full = os.path.join(path, name)
            state = os.lstat(full)
            what = [stat.filemode(state.st_mode), state.st_uid, state.st_gid]
            if state.st_mtime < 1_000_000_000:
                what.append(state.st_mtime_ns)
            if stat.S_ISLNK(state.st_mode):
                what.append(os.readlink(full))
            elif stat.S_ISREG(state.st_mode):
                what += [state.st_nlink, Path(full).read_bytes()]
            found[os.path.relpath(full, folder)] = what
    return found


def both(source, mount, steps):
    """Calls `steps` with a folder in the mount and with a bare one, and compares."""
    inner, bare = Place(Path(mount, "work")), Place(Path(source).parent / "bare")
    for place in (inner, bare):
        os.mkdir(place.path)
        steps(place)
    fail = []
    for ours, theirs in zip(inner.said, bare.said):
        if ours != theirs:
            fail.append(f"{ours[0]}: {ours[1]!r}, not {theirs[1]!r}")
    seen, kept, wanted = (described(path) for path in (inner.path, Path(source, "work"), bare.path))
    for what, tree in (("the mount", seen), ("the source", kept)):
        for name in sorted(tree.keys() | wanted.keys()):
            if tree.get(name) != wanted.get(name):
                fail.append(f"{what}: {name}: {str(tree.get(name))[:200]}, not {str(wanted.get(name))[:200]}")
    return fail


def write(path, data, flags=os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode=0o644):
    file = os.open(path, flags, mode)
    try:
        return os.write(file, data)
    finally:
        os.close(file)


def files(source, mount):
    def steps(on):
        os.umask(0o027)
        on("create", lambda: write(on.at("a"), b"one"))
        on("create anew", lambda: write(on.at("a"), b"x", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        on("append", lambda: write(on.at("a"), b" two", os.O_WRONLY | os.O_APPEND))
        on("read", lambda: Path(on.at("a")).read_bytes())
        on("truncate", lambda: os.truncate(on.at("a"), 5))
        on("lengthen", lambda: os.truncate(on.at("a"), 9))
        on("size", lambda: os.stat(on.at("a")).st_size)
        on("read", lambda: Path(on.at("a")).read_bytes())
        on("missing", lambda: os.unlink(on.at("nothing")))
        on("mkdir", lambda: os.mkdir(on.at("d"), 0o777))
        on("mkdir again", lambda: os.mkdir(on.at("d")))
        on("deep", lambda: write(on.at("d/b"), b"b" * 300_000, mode=0o666))
        on("rmdir full", lambda: os.rmdir(on.at("d")))
        on("rmdir a file", lambda: os.rmdir(on.at("a")))
        on("unlink a folder", lambda: os.unlink(on.at("d")) if False else None)
        on("chmod", lambda: os.chmod(on.at("a"), 0o604))
        on("time", lambda: os.utime(on.at("a"), ns=(123_456_789_012_345_678, 123_000_000_987_654_321)))
        on("now", lambda: (os.utime(on.at("d/b"), (5, 5)), os.utime(on.at("d/b")),
                           abs(os.stat(on.at("d/b")).st_mtime - time.time()) < 60)[2])
        write(on.at("empty"), b"")
        for flags in (os.O_WRONLY | os.O_TRUNC, os.O_RDONLY | os.O_TRUNC):
            os.utime(on.at("empty"), (5, 5))
            on("cut while empty", lambda: (os.close(os.open(on.at("empty"), flags)), os.stat(on.at("empty")).st_mtime > 5)[1])
        on("time of a folder", lambda: os.utime(on.at("d"), (5, 7)))
        on("symlink", lambda: os.symlink("../elsewhere", on.at("l")))
        on("time of a link", lambda: os.utime(on.at("l"), (9, 9), follow_symlinks=False))
        on("open a link's nothing", lambda: os.open(on.at("l"), os.O_RDONLY))
        on("fifo", lambda: os.mkfifo(on.at("f"), 0o640))
        on("long name", lambda: write(on.at("n" * 256), b""))
        on("any bytes", lambda: write(os.fsencode(on.at("")) + b"\xff\xfe", b"!"))
        both_ways = os.open(on.at("rw"), os.O_RDWR | os.O_CREAT, 0o600)
        on("write", lambda: os.pwrite(both_ways, b"0123456789" * 1000, 0))
        on("in between", lambda: os.pwrite(both_ways, b"....", 4094))
        on("read back", lambda: os.pread(both_ways, 20, 4090))
        on("past the end", lambda: os.pwrite(both_ways, b"end", 100_000))
        on("hole", lambda: os.pread(both_ways, 10, 50_000))
        on("sync", lambda: os.fsync(both_ways))
        on("data sync", lambda: os.fdatasync(both_ways))
        on("cut", lambda: os.ftruncate(both_ways, 50))
        on("mode by file", lambda: os.fchmod(both_ways, 0o400))
        on("set-ID bits and no owner", lambda: (os.fchmod(both_ways, 0o4755), os.chown(on.at("rw"), -1, -1), os.fstat(both_ways).st_mode)[2])
        os.close(both_ways)
        folder = os.open(on.at("d"), os.O_RDONLY)
        on("sync a folder", lambda: os.fsync(folder))
        os.close(folder)
        on("made and read only", lambda: write(on.at("ro"), b"text", mode=0o444))

    return both(source, mount, steps)


def names(source, mount):
    def steps(on):
        write(on.at("a"), b"a")
        write(on.at("b"), b"b")
        os.makedirs(on.at("d/e/f"))
        write(on.at("d/e/f/g"), b"g")
        held = os.open(on.at("b"), os.O_RDWR)
        on("over what is open", lambda: os.rename(on.at("a"), on.at("b")))
        on("read", lambda: Path(on.at("b")).read_bytes())
        on("what was open", lambda: os.pread(held, 10, 0))
        on("written", lambda: os.pwrite(held, b"still here", 0))
        on("and read", lambda: os.pread(held, 20, 0))
        on("and seen", lambda: (os.fstat(held).st_size, os.fstat(held).st_nlink))
        on("and cut", lambda: (os.ftruncate(held, 5), os.fstat(held).st_size))
        on("and synced", lambda: os.fsync(held))
        on("and changed", lambda: (os.fchmod(held, 0o611), os.fstat(held).st_mode))
        on("opened again", lambda: os.read(os.open(f"/proc/self/fd/{held}", os.O_RDONLY), 9))
        os.close(held)
        deep = os.open(on.at("d/e/f/g"), os.O_RDWR)
        inside = os.open(on.at("d/e"), os.O_RDONLY)
        on("folder", lambda: os.rename(on.at("d"), on.at("D")))
        on("gone", lambda: os.stat(on.at("d/e")))
        on("there", lambda: sorted(os.listdir(on.at("D/e"))))
        on("open in it", lambda: (os.pwrite(deep, b"moved", 0), os.fstat(deep).st_size))
        on("by its folder", lambda: os.open("f/g", os.O_RDONLY, dir_fd=inside) > 0)
        on("made by its folder", lambda: os.mkdir("h", dir_fd=inside))
        on("listed by its folder", lambda: sorted(os.listdir(inside)))
        on("into itself", lambda: os.rename(on.at("D"), on.at("D/e/x")))
        on("over a full folder", lambda: (os.mkdir(on.at("x")), os.rename(on.at("x"), on.at("D"))))
        on("file over folder", lambda: os.rename(on.at("b"), on.at("x")))
        on("folder over file", lambda: os.rename(on.at("x"), on.at("b")))
        on("missing", lambda: os.rename(on.at("nothing"), on.at("y")))
        on("elsewhere", lambda: os.rename(on.at("D/e/f"), on.at("x/F")))
        on("after all", lambda: Path(on.at("x/F/g")).read_bytes())
        os.unlink(on.at("x/F/g"))
        on("unlinked", lambda: (os.pread(deep, 9, 0), os.pwrite(deep, b"!", 5), os.fstat(deep).st_nlink))
        os.close(deep)
        os.close(inside)
        for name in ("removed", "over", "replaced"):
            os.mkdir(on.at(name))
        removed, replaced = (os.open(on.at(name), os.O_RDONLY) for name in ("removed", "replaced"))
        os.rmdir(on.at("removed"))
        os.rename(on.at("over"), on.at("replaced"))
        on("folders without a name", lambda: [os.fstat(folder).st_nlink for folder in (removed, replaced)])
        on("made in one", lambda: os.mkdir("in", dir_fd=replaced))
        for folder in (removed, replaced):
            os.close(folder)
        for number in range(200):
            write(on.at(f"n{number}"), b"%d" % number)
        for number in range(200):
            os.rename(on.at(f"n{number}"), on.at(f"m{(number * 7) % 200}"))
        on("all", lambda: [Path(on.at(f"m{number}")).read_bytes() for number in range(200)])
        write(on.at("one"), b"1")
        write(on.at("two"), b"2")
        on("kept", lambda: renameat2(on.at("one"), on.at("two"), 1))
        on("exchanged", lambda: renameat2(on.at("one"), on.at("two"), 2))
        on("first", lambda: Path(on.at("one")).read_bytes())
        on("second", lambda: Path(on.at("two")).read_bytes())
        on("again", lambda: (os.unlink(on.at("one")), write(on.at("one"), b"new"), Path(on.at("one")).read_bytes()))

    return both(source, mount, steps)


def renameat2(old, new, flags):
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    if library.renameat2(-100, os.fsencode(old), -100, os.fsencode(new), flags) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


def opened(source, mount):
    """What depends on how a file was opened, and on whether it still has its name."""
    def steps(on):
        write(on.at("a"), b"0123456789")
        file = os.open(on.at("a"), os.O_RDWR | os.O_APPEND)
        fcntl.fcntl(file, fcntl.F_SETFL, 0)
        on("no longer appended", lambda: (os.pwrite(file, b"XX", 0), os.pread(file, 20, 0)))
        fcntl.fcntl(file, fcntl.F_SETFL, os.O_APPEND)
        on("appended again", lambda: (os.write(file, b"end"), os.pread(file, 20, 0)))
        os.close(file)
        write(on.at("m"), b"0" * 8192)
        file = os.open(on.at("m"), os.O_RDWR)
        shared = mmap.mmap(file, 8192)
        appender = os.open(on.at("m"), os.O_RDWR | os.O_APPEND)
        shared[4096:4100] = b"MMMM"
        shared.flush()
        on("a map beside one who appends", lambda: (os.fstat(file).st_size, os.pread(file, 6, 4095)))
        for part in (file, appender):
            os.close(part)
        for name in ("closed", "synced"):
            write(on.at(name), b"0" * 4096)
            os.utime(on.at(name), (1000, 1000))
            file = os.open(on.at(name), os.O_RDWR)
            shared = mmap.mmap(file, 4096)
            on("before", lambda: (shared[0], os.stat(on.at(name)).st_mtime))
            shared[0:4] = b"late"
            if name == "synced":
                # msync(2) of a lent file is not told.
                os.fsync(file)
                on("a map was synced", lambda: os.stat(on.at(name)).st_mtime > 1000)
            shared.close()
            os.close(file)
            on("a map was closed", lambda: os.stat(on.at(name)).st_mtime > 1000)
        write(on.at("gone"), b"text")
        file = os.open(on.at("gone"), os.O_RDWR)
        os.unlink(on.at("gone"))
        on("set", lambda: os.setxattr(file, "user.key", b"value"))
        on("attribute", lambda: os.getxattr(file, "user.key"))
        on("attributes", lambda: os.listxattr(file))
        os.close(file)
        # A new file may have the number of the old one.
        for _ in range(20):
            write(on.at("p"), b"old")
            place = os.open(on.at("p"), os.O_PATH)
            os.unlink(on.at("p"))
            write(on.at("p"), b"new")
            for attempt in (
                lambda: os.chmod(f"/proc/self/fd/{place}", 0o777),
                lambda: write(f"/proc/self/fd/{place}", b"BAD", os.O_WRONLY),
            ):
                try:
                    attempt()
                except OSError:
                    pass
            on("another file", lambda: (Path(on.at("p")).read_bytes(), os.stat(on.at("p")).st_mode & 0o777))
            os.close(place)

    problems = both(source, mount, steps)
    # The kernel does not know the size that a file of the source has just got.
    file = os.open(os.path.join(mount, "log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for _ in range(3):
        os.write(file, b"mount\n")
        write(os.path.join(source, "log"), b"source\n", os.O_WRONLY | os.O_APPEND)
    os.close(file)
    appended = Path(source, "log").read_bytes()
    if appended != b"mount\nsource\n" * 3:
        problems.append(f"appended through the mount and in the source: {appended!r}")
    return problems + append_only(source, mount)


def append_only(source, mount):
    """A file to which bytes can only be appended is locked like others, and no mapping overwrites it."""
    kept = os.open(os.path.join(source, "kept"), os.O_RDWR | os.O_CREAT)
    os.write(kept, b"1234567890")
    # FS_IOC_GETFLAGS, FS_IOC_SETFLAGS and FS_APPEND_FL of <linux/fs.h>.
    try:
        flags = int.from_bytes(fcntl.ioctl(kept, 0x80086601, bytes(8)), sys.byteorder)
        fcntl.ioctl(kept, 0x40086602, (flags | 0x20).to_bytes(8, sys.byteorder))
    except OSError:
        return []  # Only root can do this, and only on some file systems.
    problems = []
    try:
        path = os.path.join(mount, "kept")
        reader, writer = os.open(path, os.O_RDONLY), os.open(path, os.O_RDWR | os.O_APPEND)
        for file, kind in ((writer, fcntl.LOCK_EX), (reader, fcntl.LOCK_SH)):
            fcntl.lockf(file, kind | fcntl.LOCK_NB)
        try:
            with mmap.mmap(writer, 10) as shared:
                shared[:1] = b"A"
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.ENODEV):
                problems.append(f"a mapping of an append-only file: {error}")
        os.write(writer, b"end")
        for file in (reader, writer):
            os.close(file)
        if (found := os.pread(kept, 100, 0)) != b"1234567890end":
            problems.append(f"an append-only file has {found!r}")
    except OSError as error:
        problems.append(f"an append-only file: {error}")
    finally:
        fcntl.ioctl(kept, 0x40086602, flags.to_bytes(8, sys.byteorder))
        os.close(kept)
    return problems


def links(source, mount):
    def steps(on):
        write(on.at("a"), b"first")
        on("link", lambda: os.link(on.at("a"), on.at("b")))
        on("both", lambda: (os.stat(on.at("a")).st_nlink, os.path.samefile(on.at("a"), on.at("b"))))
        on("read", lambda: Path(on.at("b")).read_bytes())
        held = os.open(on.at("b"), os.O_RDONLY)
        on("other name", lambda: write(on.at("a"), b"second, and longer"))
        time.sleep(0.1)
        on("seen by the other", lambda: os.pread(held, 100, 0))
        on("and its size", lambda: os.stat(on.at("b")).st_size)
        os.close(held)
        on("same", lambda: os.rename(on.at("a"), on.at("b")))
        on("both are there", lambda: sorted(os.listdir(on.path)))
        on("one less", lambda: (os.unlink(on.at("a")), os.stat(on.at("b")).st_nlink))
        on("read", lambda: Path(on.at("b")).read_bytes())
        os.symlink("b", on.at("l"))
        on("link of a link", lambda: os.link(on.at("l"), on.at("l2"), follow_symlinks=False))
        on("of a folder", lambda: (os.mkdir(on.at("d")), os.link(on.at("d"), on.at("e"))))
        on("over", lambda: os.link(on.at("b"), on.at("l")))
        on("set", lambda: os.setxattr(on.at("b"), "user.note", b"text"))
        on("get", lambda: os.getxattr(on.at("b"), "user.note"))
        on("set anew", lambda: os.setxattr(on.at("b"), "user.note", b"x", os.XATTR_CREATE))
        on("replace", lambda: os.setxattr(on.at("b"), "user.note", b"longer text", os.XATTR_REPLACE))
        on("replace nothing", lambda: os.setxattr(on.at("b"), "user.none", b"x", os.XATTR_REPLACE))
        on("list", lambda: sorted(os.listxattr(on.at("b"))))
        on("of a folder", lambda: (os.setxattr(on.at("d"), "user.d", b"d"), os.listxattr(on.at("d"))))
        on("remove", lambda: os.removexattr(on.at("b"), "user.note"))
        on("remove again", lambda: os.removexattr(on.at("b"), "user.note"))

    return both(source, mount, steps)


def ranges(source, mount):
    def steps(on):
        file = os.open(on.at("f"), os.O_RDWR | os.O_CREAT, 0o600)
        on("allocate", lambda: (os.posix_fallocate(file, 0, 1 << 20), os.fstat(file).st_size))
        os.pwrite(file, b"d" * 200_000, 0)
        on("punch", lambda: subprocess.run(["fallocate", "-p", "-o", "8192", "-l", "65536", on.at("f")]).returncode)
        on("hole", lambda: os.pread(file, 10, 8190))
        on("seek hole", lambda: os.lseek(file, 0, os.SEEK_HOLE))
        on("seek data", lambda: os.lseek(file, 8192, os.SEEK_DATA))
        other = os.open(on.at("g"), os.O_RDWR | os.O_CREAT, 0o600)
        on("copy", lambda: os.copy_file_range(file, other, 100_000, 100_000, 10))
        on("copied", lambda: os.pread(other, 5, 0) + os.pread(other, 5, 100_005))
        shared = mmap.mmap(file, 1 << 20)
        shared[5000:5005] = b"mmap!"
        shared.flush()
        on("mapped", lambda: os.pread(file, 7, 4999))
        os.pwrite(file, b"written", 5000)
        on("seen in the map", lambda: shared[4999:5008])
        shared.close()
        for part in (file, other):
            os.close(part)
        # Many threads and sizes.
        whole = bytearray(400_000)
        file = os.open(on.at("h"), os.O_RDWR | os.O_CREAT, 0o600)
        for step in range(300):
            place, count = step * 7919 % 390_000, step * 131 % 9000 + 1
            data = bytes([step % 251]) * count
            whole[place:place + count] = data
            os.pwrite(file, data, place)
        end = os.fstat(file).st_size
        on("whole", lambda: os.pread(file, 500_000, 0) == bytes(whole[:end]))
        os.close(file)

    return both(source, mount, steps)


def first_locks(path):
    """The locks of files that were opened before any file of the mount was locked: another program gets them after they are closed."""
    names = [f"{path}{number}" for number in range(50)]
    files = [os.open(name, os.O_WRONLY | os.O_CREAT, 0o600) for name in names]
    for file in files:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    script = (
        "import fcntl,os,sys\n"
        "for line in sys.stdin:\n"
        "    try: fcntl.lockf(os.open(line[:-1],os.O_RDWR),fcntl.LOCK_EX|fcntl.LOCK_NB); print('got',flush=True)\n"
        "    except OSError as error: print(error.strerror,flush=True)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    fail = []
    for number, (name, file) in enumerate(zip(names, files)):
        def asked():
            child.stdin.write(name + "\n")
            child.stdin.flush()
            return child.stdout.readline().strip()
        if number == 0 and (said := asked()) == "got":
            fail.append(f"a lock that is held: {said}")
        os.close(file)
        if (said := asked()) != "got":
            fail.append(f"a lock whose file is closed: {said}")
    child.stdin.close()
    child.wait(5)
    for name in names:
        os.unlink(name)
    return fail


def locks(source, mount):
    """Between two programs in the mount, and between one in it and one outside."""
    inside, outside = os.path.join(mount, "locked"), os.path.join(source, "locked")
    fail = first_locks(inside)
    Path(outside).write_bytes(b"x" * 100)
    script = (
        "import fcntl,os,sys,time\n"
        "f=os.open(sys.argv[1],os.O_RDWR)\n"
        "getattr(fcntl,sys.argv[2])(f,fcntl.LOCK_EX,*([10,5] if sys.argv[2]=='lockf' else []))\n"
        "print('held',flush=True)\nsys.stdin.readline()\n"
    )
    for kind in ("lockf", "flock"):
        file, other = os.open(inside, os.O_RDWR), os.open(outside, os.O_RDWR)
        lock = getattr(fcntl, kind)
        for number in range(10):
            for end, how in ((other, fcntl.LOCK_EX), (file, fcntl.LOCK_SH)):
                lock(end, how)
                if end == other:
                    os.pwrite(other, b"%02d" % number, 0)
                elif os.pread(file, 2, 0) != b"%02d" % number:
                    fail.append(f"{kind}: who has a lock does not see what was written before")
                lock(end, fcntl.LOCK_UN)
            time.sleep(0.01)
        os.close(file)
        os.close(other)
        for holder, wanter in ((inside, inside), (outside, inside), (inside, outside)):
            what = f"{kind} held {'in' if holder == inside else 'out'}side, wanted {'in' if wanter == inside else 'out'}side"
            child = subprocess.Popen(
                [sys.executable, "-c", script, holder, kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            if child.stdout.readline() != "held\n":
                fail.append(f"{what}: not locked")
            file = os.open(wanter, os.O_RDWR)
            lock = getattr(fcntl, kind)
            where = (5, 8) if kind == "lockf" else ()
            try:
                lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB, *where)
                fail.append(f"{what}: got it, too")
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EACCES):
                    fail.append(f"{what}: {error}")
            if kind == "lockf":
                lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 3, 50)
            # Waits, and is interrupted.
            signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError()))
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            try:
                lock(file, fcntl.LOCK_EX, *where)
                fail.append(f"{what}: waited for nothing")
            except TimeoutError:
                pass
            # Waits until it is given up.
            signal.signal(signal.SIGALRM, lambda *_: (child.stdin.write("\n"), child.stdin.flush()))
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            start = time.monotonic()
            lock(file, fcntl.LOCK_EX, *where)
            if not 0.05 < time.monotonic() - start < 2:
                fail.append(f"{what}: waited {time.monotonic() - start} s")
            signal.setitimer(signal.ITIMER_REAL, 0)
            child.wait(5)
            # A closed descriptor of the same file ends fcntl's locks, and an unlocked one the rest.
            os.close(file)
            file = os.open(outside, os.O_RDWR)
            time.sleep(0.05)
            try:
                lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                fail.append(f"{what}: after closing: {error}")
            os.close(file)
    fail += other_descriptors(mount)
    return fail


def other_descriptors(mount):
    """A process's fcntl locks end when it closes any descriptor of the file, however that was opened."""
    fail, path = [], os.path.join(mount, "closed")
    write(path, b"x")

    def got():
        child = os.fork()
        if child == 0:
            try:
                fcntl.lockf(os.open(path, os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                os._exit(error.errno)
            os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR):
        file = os.open(path, os.O_RDWR)
        fcntl.lockf(file, fcntl.LOCK_EX)
        if got() != errno.EAGAIN:
            fail.append("a lock does not hold")
        os.close(os.open(path, flags))
        if got():
            fail.append(f"a lock outlives another descriptor with flags {flags}")
        os.close(file)
    return fail


def numbers(source, mount):
    """Many are made under one name and get another, as git makes its objects: what is written must not reach another file,
    though the kernel's numbers for them are soon used again."""
    def make(maker):
        for number in range(300):
            temporary = os.path.join(mount, f"t{maker}")
            file = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o444)
            os.write(file, b"%d %d" % (maker, number))
            os.close(file)
            os.link(temporary, os.path.join(mount, f"o{maker}.{number}"))
            os.unlink(temporary)

    makers = []
    for maker in range(3):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                make(maker)
                status = 0
            finally:
                os._exit(status)
        makers.append(child)
    fail = [f"maker {maker} failed" for maker, child in enumerate(makers) if os.waitpid(child, 0)[1]]
    for maker in range(3):
        for number in range(300):
            found = Path(source, f"o{maker}.{number}").read_bytes()
            if found != b"%d %d" % (maker, number):
                fail.append(f"o{maker}.{number} is {found}")
    return fail


def crowded(source, mount):
    """The mount has few descriptors: in the end nothing more can be opened, but nothing else fails."""
    fail, held = [], []
    try:
        for number in range(1000):
            held.append(os.open(os.path.join(mount, f"f{number}"), os.O_RDWR | os.O_CREAT))
        fail.append("all can be open")
    except OSError as error:
        if error.errno != errno.EMFILE:
            fail.append(f"after {len(held)}: {error}")
    if len(held) < 50 or os.path.exists(os.path.join(source, f"f{len(held)}")):
        fail.append(f"{len(held)} could be opened, and what could not was made")
    for what, action in {
        "write": lambda: os.write(held[0], b"x"),
        "sync": lambda: os.fsync(held[0]),
        "close": lambda: os.close(held.pop()),
        "make": lambda: os.mkdir(os.path.join(mount, "d")),
        "rename": lambda: os.rename(os.path.join(mount, "f1"), os.path.join(mount, "d/f")),
        "remove": lambda: os.unlink(os.path.join(mount, "d/f")),
    }.items():
        try:
            action()
        except OSError as error:
            fail.append(f"{what}: {error}")
    for file in held:
        os.close(file)

    def again():
        try:
            for number in range(40):
                os.close(os.open(os.path.join(mount, f"g{number}"), os.O_RDWR | os.O_CREAT))
            return True
        except OSError:
            return False

    if not seen(again):
        fail.append("nothing can be opened after all was closed")
    return fail


def seen(condition, limit=1.0):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def zipped(path, *names):
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, name * 10)


def views(source, mount):
    """Views follow what is done to their source in the mount, within a fifth of a second."""
    fail = []

    def check(what, condition):
        if not seen(condition, 0.2):
            fail.append(what)

    def at(name):
        return os.path.join(mount, name)

    def listed(name):
        try:
            return sorted(os.listdir(at(name)))
        except OSError as error:
            return errno.errorcode[error.errno]

    zipped(at("a.zip"), "one")
    check("a view comes with its file", lambda: listed("a.zip.contents") == ["one"])
    check("is listed", lambda: "a.zip.contents" in os.listdir(mount))
    held = os.open(at("a.zip.contents"), os.O_RDONLY)
    zipped(at("new"), "one", "two")
    os.rename(at("new"), at("a.zip"))
    check("follows a file renamed over it", lambda: listed("a.zip.contents") == ["one", "two"])
    check("what is open stays open", lambda: os.path.samestat(os.fstat(held), os.stat(at("a.zip.contents"))))
    os.rename(at("a.zip"), at("b.zip"))
    check("goes with its file", lambda: listed("a.zip.contents") == "ENOENT")
    check("comes with its file", lambda: listed("b.zip.contents") == ["one", "two"])
    os.mkdir(at("d"))
    os.rename(at("b.zip"), at("d/c.zip"))
    os.rename(at("d"), at("e"))
    check("moves with its folder", lambda: listed("e/c.zip.contents") == ["one", "two"])
    write(at("e/c.zip"), b"no archive")
    check("changes with its file", lambda: listed("e/c.zip.contents") == "EIO")
    write(at("t.csv"), b"a,b\n1,2\n")
    check("a page", lambda: b"<td" in Path(at("t.csv.as-html")).read_bytes())
    write(at("t.csv"), b"a,b\n1,2\nthird,4\n")
    check("follows its table", lambda: b"third" in Path(at("t.csv.as-html")).read_bytes())
    if os.path.exists(at("asked.csv.as-txt")) or os.path.exists(at("asked.csv")):
        fail.append("a file that does not exist")
    write(at("asked.csv"), b"a,b\n")
    check("comes although it was asked for before", lambda: os.path.exists(at("asked.csv.as-txt")))
    os.unlink(at("asked.csv"))
    os.unlink(at("t.csv"))
    check("ends with its table", lambda: not os.path.exists(at("t.csv.as-html")))
    # A file that has a view's name can be replaced by removing it, as tar does, or by renaming it, as editors do.
    zipped(at("r.zip"), "in")
    write(os.path.join(source, "r.zip.contents"), b"first")
    check("a real file hides a view", lambda: Path(at("r.zip.contents")).read_bytes() == b"first")
    for number, lose in enumerate([os.unlink, lambda name: os.rename(name, at("kept"))]):
        lose(at("r.zip.contents"))
        if os.path.exists(at("r.zip.contents")) or "r.zip.contents" in os.listdir(mount):
            fail.append("the name of a view that a file has just lost")
        with open(at("r.zip.contents"), "x") as file:
            file.write(f"replaced {number}")
        check("the new file", lambda: Path(source, "r.zip.contents").read_text() == f"replaced {number}")
    for name in ("r.zip", "r.zip.contents", "kept"):
        os.unlink(at(name))
    zipped(at("v.zip"), "in")
    attempts = {
        "write to a view": lambda: write(at("v.zip.contents/in"), b"x", os.O_WRONLY),
        "create in a view": lambda: write(at("v.zip.contents/new"), b"x"),
        "make in a view": lambda: os.mkdir(at("v.zip.contents/new")),
        "remove of a view": lambda: os.unlink(at("v.zip.contents/in")),
        "remove a view": lambda: os.rmdir(at("v.zip.contents")),
        "rename a view": lambda: os.rename(at("v.zip.contents"), at("w")),
        "rename over a view": lambda: os.rename(at("e"), at("v.zip.contents")),
        "rename out of a view": lambda: os.rename(at("v.zip.contents/in"), at("w")),
        "link out of a view": lambda: os.link(at("v.zip.contents/in"), at("w")),
        "mode of a view": lambda: os.chmod(at("v.zip.contents/in"), 0o600),
        "time of a view": lambda: os.utime(at("v.zip.contents/in")),
        "truncate a view": lambda: os.truncate(at("v.zip.contents/in"), 0),
    }
    listed("v.zip.contents")
    for what, attempt in attempts.items():
        try:
            attempt()
            fail.append(f"{what}: went through")
        except OSError as error:
            if error.errno != errno.EROFS and not (os.getuid() and error.errno in (errno.EACCES, errno.EPERM)):
                fail.append(f"{what}: {error}")
    libc = ctypes.CDLL(None, use_errno=True)
    for name in ("v.zip.contents", "v.zip.contents/in"):
        if libc.access(at(name).encode(), os.W_OK) == 0 or ctypes.get_errno() != errno.EROFS:
            fail.append(f"access to {name}: {os.strerror(ctypes.get_errno())}")
    for attempt in (
        lambda: os.setxattr(at("v.zip"), "user.ffmount.view", b"x"),
        lambda: os.mkdir(at("v.zip.contents")),
    ):
        try:
            attempt()
            fail.append("went through")
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EEXIST):
                fail.append(str(error))
    locked = os.open(at("v.zip.contents/in"), os.O_RDONLY)
    fcntl.flock(locked, fcntl.LOCK_EX)
    other = os.open(at("v.zip.contents/in"), os.O_RDONLY)
    try:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fail.append("a view's file locked twice")
    except BlockingIOError:
        pass
    subprocess.run(["rm", "-rf", at("e"), at("v.zip")], check=True)
    os.mkdir(at("full"))
    for name in ("x.zip", "y.zip", "z.pdf", "k.eml"):
        zipped(at("full/" + name), "q")
    removed = subprocess.run(["rm", "-rf", at("full")], capture_output=True, text=True)
    if removed.returncode != 0 or os.path.exists(at("full")):
        fail.append(f"rm -rf: {removed.stderr}")
    return fail


def ways_out(source, mount):
    """Nothing is written outside the source, even if it is changed meanwhile."""
    fail = []
    outside = Path(source).parent / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    os.mkdir(os.path.join(mount, "d"))
    write(os.path.join(mount, "d/secret"), b"inside")
    held = os.open(os.path.join(mount, "d"), os.O_RDONLY)
    file = os.open(os.path.join(mount, "d/secret"), os.O_RDWR)
    os.rename(os.path.join(source, "d"), os.path.join(source, "elsewhere"))
    os.symlink(outside, os.path.join(source, "d"))
    for attempt in (
        lambda: os.open("secret", os.O_WRONLY | os.O_TRUNC, dir_fd=held),
        lambda: os.open("made", os.O_WRONLY | os.O_CREAT, dir_fd=held),
        lambda: os.unlink("secret", dir_fd=held),
        lambda: os.mkdir("folder", dir_fd=held),
        lambda: os.chmod("secret", 0o777, dir_fd=held),
        lambda: os.pwrite(file, b"goes on", 0),
        lambda: os.rename("secret", "other", src_dir_fd=held, dst_dir_fd=held),
    ):
        try:
            attempt()
        except OSError:
            pass
    os.symlink(outside / "secret", os.path.join(source, "l"))
    os.chmod(outside / "secret", 0o640)
    time.sleep(0.6)
    os.utime(os.path.join(mount, "l"), (1, 1), follow_symlinks=False)
    if sorted(os.listdir(outside)) != ["secret"] or (outside / "secret").read_bytes() != b"secret":
        fail.append("something was written outside")
    if os.stat(outside / "secret").st_mtime == 1 or os.stat(outside / "secret").st_mode & 0o777 != 0o640:
        fail.append("attributes were changed outside")
    return fail


def programs(source, mount):
    """git, make, SQLite with a write-ahead log, rsync, and how editors save."""
    fail = []

    def run(what, *words, cwd=mount, **more):
        done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=60, **more)
        if done.returncode != 0:
            fail.append(f"{what}: {done.stdout[-300:]}{done.stderr[-300:]}")
        return done.stdout

    names = {"GIT_AUTHOR_NAME": "n", "GIT_AUTHOR_EMAIL": "e@x", "GIT_COMMITTER_NAME": "n", "GIT_COMMITTER_EMAIL": "e@x"}
    variables = {**os.environ, **names, "GIT_CONFIG_NOSYSTEM": "1", "HOME": mount}
    if shutil.which("git"):
        run("git init", "git", "init", "-q", "one", env=variables)
        for number in range(60):
            os.makedirs(os.path.join(mount, f"one/d{number % 7}"), exist_ok=True)
            write(os.path.join(mount, f"one/d{number % 7}/f{number}"), b"line\n" * number)
        run("git add", "git", "-C", "one", "add", ".", env=variables)
        run("git commit", "git", "-C", "one", "commit", "-qm", "first", env=variables)
        run("git clone", "git", "clone", "-q", "one", "two", env=variables)
        run("git gc", "git", "-C", "two", "gc", "-q", env=variables)
        run("git fsck", "git", "-C", "two", "fsck", "--strict", env=variables)
        if run("git status", "git", "-C", "two", "status", "--porcelain", env=variables):
            fail.append("git: a clone that was changed")
    if shutil.which("make"):
        write(os.path.join(mount, "Makefile"), b"all: b\nb: a\n\tcp a b\na:\n\techo a > a\n")
        run("make", "make", "-s")
        if "up to date" not in run("make again", "make") and "Nothing" not in run("make again", "make"):
            fail.append("make: made again")
    import sqlite3

    data = os.path.join(mount, "data.sqlite")
    one, two = sqlite3.connect(data), sqlite3.connect(data)
    one.execute("pragma journal_mode=wal")
    one.execute("create table t(a)")
    for number in range(200):
        (one, two)[number % 2].execute("insert into t values(?)", (number,))
        (one, two)[number % 2].commit()
    if two.execute("select sum(a) from t").fetchone() != (19900,):
        fail.append("SQLite: a wrong sum")
    check = subprocess.run(
        [sys.executable, "-c", "import sqlite3,sys; print(sqlite3.connect(sys.argv[1]).execute('select count(*) from t').fetchone()[0])",
         data], capture_output=True, text=True)
    if check.stdout != "200\n":
        fail.append(f"SQLite: another program sees {check.stdout}{check.stderr}")
    one.close()
    two.close()
    if shutil.which("rsync"):
        big = os.urandom(3 << 20)
        os.mkdir(os.path.join(source, "..", "from"))
        origin = Path(source, "..", "from", "big")
        origin.write_bytes(big)
        run("rsync", "rsync", "-a", "--inplace", str(origin), mount + "/")
        changed = big[:1 << 20] + b"changed" + big[(1 << 20) + 7:-100]
        origin.write_bytes(changed)
        run("rsync again", "rsync", "-a", "--inplace", "--no-whole-file", "-I", str(origin), mount + "/")
        if Path(mount, "big").read_bytes() != changed or Path(source, "big").read_bytes() != changed:
            fail.append("rsync: other bytes")
    zipped(os.path.join(mount, "edited.zip"), "one")
    view = os.open(os.path.join(mount, "edited.zip.contents"), os.O_RDONLY)
    for step in range(20):
        held = os.open(os.path.join(mount, "edited.zip"), os.O_RDONLY)
        temporary = os.path.join(mount, ".edited.zip.swp")
        zipped(temporary, *[f"n{number}" for number in range(step + 1)])
        file = os.open(temporary, os.O_RDWR)
        os.fsync(file)
        os.close(file)
        os.rename(temporary, os.path.join(mount, "edited.zip"))
        folder = os.open(mount, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
        if not seen(lambda: len(os.listdir(os.path.join(mount, "edited.zip.contents"))) == step + 1):
            fail.append(f"the view did not follow save {step}")
        if os.pread(held, 2, 0) != b"PK":
            fail.append("what was open is not what it was")
        os.close(held)
    os.close(view)
    return fail


# Short forms of what scripts/check writing does for longer; the modules import from this one.


def two_names(source, mount):
    """A file by its two names."""
    import linked

    return linked.two_names(source, mount, 2)


def modelled(source, mount):
    """Random operations of two processes."""
    import modelled

    return modelled.modelled(source, mount, 20_000, 1)


def delivered(source, mount):
    """Mail comes while others read it."""
    import delivered

    return [line for way in ("mbox", "maildir", "written_on") for line in getattr(delivered, way)(source, mount, 15)]


def saved(source, mount):
    """How editors and office programs save."""
    import saved

    return saved.saved(source, mount)


def grown(source, mount):
    """The source changes while files are open."""
    import grown

    return grown.grown(source, mount)


if __name__ == "__main__":
    problems = globals()[sys.argv[1]](sys.argv[2], sys.argv[3])
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
