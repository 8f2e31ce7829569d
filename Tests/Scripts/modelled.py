#!/usr/bin/env python3
"""modelled.py SOURCE MOUNT OPERATIONS SEED [WITHOUT...]: two processes make random operations in the mount,
and the same ones in a bare folder, which says what each of them has to answer; the descriptors, names, links, maps and locks of both
processes meet each other.

After every 1,000 operations the mount, its source and the bare folder must have the same names, modes, owners, links, bytes and
attributes. A difference ends it: the operations since the last new folder (every 10,000) are shortened to those that are needed
to see it, as far as this is possible within two minutes, and printed, with what the mount answered and what it should have. The
operations WITHOUT are left out, to go on behind a fault that is known."""

import ctypes
import errno
import fcntl
import mmap
import multiprocessing
import os
import random
import shutil
import signal
import stat
import sys
import time

from written import renameat2

LONGEST = 200_000
SIZES = [0, 1, 5, 100, 511, 512, 4095, 4096, 4097, 8192, 10_000, 65_536, 70_000]
#: What is written is a part of it.
#: Without the two bytes with which a JPEG XL begins: such a file has a view.
BYTES = random.Random(1).randbytes(1 << 18).replace(b"\xff\x0a", b"\xff\x0b")
FOLDERS = ["d0", "d1", "d0/e"]
NAMES = [folder + name for folder in ("", "d0/", "d1/", "d0/e/") for name in ("a", "b", "c.zip", "d.csv")]
library = ctypes.CDLL(None, use_errno=True)
library.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]


def is_view(name):
    """Files of the model have at most one dot."""
    return name.count(".") > 1


def is_fifo(path, folder=None):
    try:
        return stat.S_ISFIFO(os.stat(path, dir_fd=folder).st_mode)
    except OSError:
        return False


class Side:
    """One of the folders: makes operations in it, and gives what they answered. Descriptors and maps have numbers."""

    def __init__(self, root):
        self.root, self.files, self.maps = root, {}, {}

    def __call__(self, name, *arguments):
        try:
            return getattr(self, name)(*arguments)
        except OSError as error:
            return errno.errorcode.get(error.errno, error.errno)
        except KeyError:
            return "not open"
        except (ValueError, TypeError) as error:
            return str(error)

    def at(self, name):
        return f"{self.root}/{name}"

    def end(self):
        for shared in self.maps.values():
            shared[0].close()
        for file in self.files.values():
            os.close(file)
        self.files, self.maps = {}, {}

    # Descriptors.

    def open(self, number, name, flags, mode):
        return self.opened(number, self.at(name), flags, mode)

    def open_in(self, number, folder, name, flags):
        return self.opened(number, name, flags, 0o644, folder=self.files[folder])

    def open_again(self, number, file, flags):
        return self.opened(number, f"/proc/self/fd/{self.files[file]}", flags)

    def opened(self, number, path, flags, mode=0o644, folder=None):
        """For one user, the kernel opens FIFOs whatever their permissions."""
        try:
            return self.kept(number, os.open(path, flags, mode, dir_fd=folder))
        except OSError as error:
            if error.errno in (errno.EACCES, errno.ENXIO) and is_fifo(path, folder):
                return "a FIFO"
            raise

    def kept(self, number, file):
        """The kernel opens FIFOs without a word to their file system, where one that has no name is not found."""
        if stat.S_ISFIFO(os.fstat(file).st_mode):
            os.close(file)
            return "a FIFO"
        self.files[number] = file
        return None

    def duplicate(self, number, file):
        self.files[number] = os.dup(self.files[file])

    def close(self, file):
        os.close(self.files.pop(file))

    def seek(self, file, offset, whence):
        return os.lseek(self.files[file], offset, whence) if self.is_file(file) else None

    def append_mode(self, file, flags):
        fcntl.fcntl(self.files[file], fcntl.F_SETFL, flags)

    def is_file(self, file):
        return stat.S_ISREG(os.fstat(self.files[file]).st_mode)

    # Bytes.

    def read(self, file, count):
        return os.read(self.files[file], count)

    def pread(self, file, offset, count):
        return os.pread(self.files[file], count, offset)

    def write(self, file, start, count):
        return os.write(self.files[file], BYTES[start:start + count])

    def pwrite(self, file, offset, start, count):
        return os.pwrite(self.files[file], BYTES[start:start + count], offset)

    def content(self, name):
        if is_fifo(self.at(name)):
            return "a FIFO"
        file = os.open(self.at(name), os.O_RDONLY | os.O_NONBLOCK)
        try:
            return os.pread(file, 2 * LONGEST, 0)
        finally:
            os.close(file)

    def ftruncate(self, file, size):
        os.ftruncate(self.files[file], size)

    def truncate(self, name, size):
        os.truncate(self.at(name), size)

    def allocate(self, file, mode, offset, count):
        if library.fallocate(self.files[file], mode, offset, count):
            raise OSError(ctypes.get_errno(), "fallocate")

    def copy(self, file, other, offset, place, count):
        return os.copy_file_range(self.files[file], self.files[other], count, offset, place)

    def send(self, file, other, offset, count):
        # Of overlapping ranges, some file systems copy bytes that were just written, and nothing says which.
        if os.path.sameopenfile(self.files[file], self.files[other]):
            return "itself"
        return os.sendfile(self.files[other], self.files[file], offset, count)

    def sync(self, file):
        os.fsync(self.files[file])

    def data_sync(self, file):
        os.fdatasync(self.files[file])

    # Maps: nothing behind the end of the file is touched.

    def map(self, number, file, protection, size):
        self.maps[number] = (mmap.mmap(self.files[file], size, mmap.MAP_SHARED, protection), os.dup(self.files[file]))
        self.files[-number] = self.maps[number][1]

    def mapped(self, number, place):
        shared, file = self.maps[number]
        return shared if min(os.fstat(file).st_size, len(shared)) >= place else None

    def map_read(self, number, place, count):
        shared = self.mapped(number, place + count)
        return shared and shared[place:place + count]

    def map_write(self, number, place, start, count):
        shared = self.mapped(number, place + count)
        if shared:
            shared[place:place + count] = BYTES[start:start + count]

    def map_sync(self, number):
        self.maps[number][0].flush()

    def unmap(self, number):
        self.maps.pop(number)[0].close()
        os.close(self.files.pop(-number))

    def sync_maps(self):
        for shared, _ in self.maps.values():
            shared.flush()

    # Names.

    def link(self, name, new):
        os.link(self.at(name), self.at(new), follow_symlinks=False)

    def link_open(self, file, new):
        # Without a folder it is link(2), which does not follow.
        os.link(f"/proc/self/fd/{self.files[file]}", self.at(new), src_dir_fd=self.files[file], follow_symlinks=True)

    def unlink(self, name):
        os.unlink(self.at(name))

    def unlink_in(self, folder, name):
        os.unlink(name, dir_fd=self.files[folder])

    def rename(self, name, new, flags):
        renameat2(self.at(name), self.at(new), flags)

    def rename_in(self, folder, name, other, new):
        os.rename(name, new, src_dir_fd=self.files[folder], dst_dir_fd=self.files[other])

    def symlink(self, text, name):
        os.symlink(text, self.at(name))

    def readlink(self, name):
        return os.readlink(self.at(name))

    def mkdir(self, name):
        os.mkdir(self.at(name), 0o755)

    def rmdir(self, name):
        os.rmdir(self.at(name))

    def fifo(self, name):
        os.mkfifo(self.at(name), 0o640)

    def listing(self, name):
        return self.same_files(self.at(name))

    def listing_in(self, folder):
        return self.same_files(self.files[folder])

    def same_files(self, folder):
        """Names and kinds, and which of them are the same file."""
        with os.scandir(folder) as entries:
            entries = sorted((entry.name, entry.inode()) for entry in entries if not is_view(entry.name))
        seen = {}
        return [(name, seen.setdefault(inode, name)) for name, inode in entries]

    def save(self, name, start, count):
        """As an editor does."""
        new = self.at(name) + "~"
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(file, BYTES[start:start + count])
            os.fsync(file)
        finally:
            os.close(file)
        try:
            os.rename(new, self.at(name))
        except OSError:
            os.unlink(new)
            raise

    # Attributes.

    def state(self, name):
        return self.described(os.lstat(self.at(name)))

    def fstate(self, file):
        return self.described(os.fstat(self.files[file]))

    def described(self, state):
        folder = stat.S_ISDIR(state.st_mode)
        return oct(state.st_mode), state.st_uid, state.st_gid, None if folder else (state.st_size, state.st_nlink)

    def chmod(self, name, mode):
        folder = stat.S_ISDIR(os.stat(self.at(name)).st_mode)
        os.chmod(self.at(name), mode | 0o700 if folder else mode)

    def fchmod(self, file, mode):
        os.fchmod(self.files[file], mode if self.is_file(file) else mode | 0o700)

    def chown(self, name, user, group):
        os.chown(self.at(name), user, group, follow_symlinks=False)

    def times(self, name, accessed, modified):
        os.utime(self.at(name), ns=(accessed, modified), follow_symlinks=False)
        return os.lstat(self.at(name)).st_mtime_ns

    def set_attribute(self, name, key, start, count):
        os.setxattr(self.at(name), key, BYTES[start:start + count])

    def fset_attribute(self, file, key, start, count):
        os.setxattr(self.files[file], key, BYTES[start:start + count])

    def attribute(self, name, key):
        return os.getxattr(self.at(name), key)

    def attributes(self, name):
        return sorted(key for key in os.listxattr(self.at(name)) if not key.startswith("user.ffmount"))

    def remove_attribute(self, name, key):
        os.removexattr(self.at(name), key)

    # Locks.

    def lock(self, file, kind, offset, count):
        fcntl.lockf(self.files[file], kind if kind == fcntl.LOCK_UN else kind | fcntl.LOCK_NB, count, offset)

    def flock(self, file, kind):
        fcntl.flock(self.files[file], kind if kind == fcntl.LOCK_UN else kind | fcntl.LOCK_NB)


def answers(sides, operation):
    """What the bare folder and the mount say."""
    bare, inner = (side(*operation) for side in sides)
    # The kernel tells of an open file description's end after close(2) has returned.
    end = time.monotonic() + 2
    while operation[0] in ("lock", "flock") and inner == "EAGAIN" and bare is None and time.monotonic() < end:
        time.sleep(0.002)
        inner = sides[1](*operation)
    return bare, inner


def serve(folders, connection):
    """A process: makes the operations that it is told, up to the first that differs."""
    sides = [Side(folder) for folder in folders]
    while True:
        operations = connection.recv()
        difference = None
        for index, operation in enumerate(operations):
            bare, inner = answers(sides, operation)
            if bare != inner:
                difference = index, bare, inner
                break
        connection.send((difference, list(sides[0].files), list(sides[0].maps)))


class Processes:
    """Two processes and new folders for them."""

    def __init__(self, base, source, mount, name):
        self.folders = [f"{place}/{name}" for place in (base, mount, source)]
        for folder in self.folders[:2]:
            os.mkdir(folder)
            for inner in FOLDERS:
                os.mkdir(f"{folder}/{inner}")
        self.ends, self.processes = [], []
        for _ in range(2):
            ours, theirs = multiprocessing.Pipe()
            process = multiprocessing.Process(target=serve, args=(self.folders[:2], theirs), daemon=True)
            process.start()
            theirs.close()
            self.ends.append(ours)
            self.processes.append(process)

    def do(self, who, operations):
        """What differed, the descriptors, and the maps of process `who` after operations."""
        try:
            self.ends[who].send(operations)
            return self.ends[who].recv()
        except (EOFError, ConnectionError):
            self.processes[who].join()
            how = -self.processes[who].exitcode
            died = signal.Signals(how).name if how > 0 else f"status {-how}"
            return (len(operations) - 1, "lives", f"the process ended: {died}"), [], []

    def trees(self):
        """Differences between the trees."""
        for who in range(2):
            self.do(who, [("sync_maps",)])
        bare, mount, source = (described(folder) for folder in self.folders)
        for what, tree in (("the source", source), ("the mount", mount)):
            for name in sorted(tree.keys() | bare.keys()):
                if tree.get(name) != bare.get(name):
                    return f"{what} has {name}: {short(tree.get(name))}, not {short(bare.get(name))}"
        return None

    def end(self):
        for process in self.processes:
            process.kill()
            process.join()
        for folder in self.folders[:2]:
            shutil.rmtree(folder, ignore_errors=True)


def described(root):
    found, seen = {}, {}
    for path, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not is_view(name)]
        for name in sorted(folders + [name for name in files if not is_view(name)]):
            full = os.path.join(path, name)
            state = os.lstat(full)
            relative = os.path.relpath(full, root)
            what = [stat.filemode(state.st_mode), state.st_uid, state.st_gid]
            if not stat.S_ISDIR(state.st_mode):
                what += [state.st_size, state.st_nlink, seen.setdefault(state.st_ino, relative)]
            if stat.S_ISREG(state.st_mode):
                try:
                    with open(full, "rb") as file:
                        what.append(file.read())
                    what.append([(key, os.getxattr(full, key)) for key in sorted(os.listxattr(full))])
                except OSError as error:
                    what.append(error.errno)
            found[relative] = what
    return found


def short(value):
    text = repr(value)
    return text if len(text) < 200 else f"{text[:120]}… ({len(value) if hasattr(value, '__len__') else len(text)})"


class Chooser:
    """Chooses operations, by what is open."""

    def __init__(self, seed, without):
        self.random = random.Random(seed)
        self.serial = 0
        self.files, self.maps = [[], []], [[], []]
        one_of, chance = self.random.choice, self.random.random

        def name():
            return one_of(NAMES)

        def file():
            return one_of(self.files[self.who] or [0])

        def mapping():
            return one_of(self.maps[self.who] or [0])

        def offset():
            return one_of([0, 0, self.random.randrange(100), one_of(SIZES), self.random.randrange(LONGEST)])

        def count():
            return one_of([1, self.random.randrange(1, 300), one_of(SIZES[1:]), self.random.randrange(1, 30_000)])

        def piece(longest=70_000):
            length = min(count(), longest)
            return self.random.randrange(len(BYTES) - length), length

        def number():
            self.serial += 1
            return self.serial

        def flags():
            kind = one_of([os.O_RDONLY, os.O_RDWR, os.O_RDWR, os.O_WRONLY])
            for flag, often in ((os.O_CREAT, .6), (os.O_EXCL, .1), (os.O_TRUNC, .15), (os.O_APPEND, .15), (os.O_SYNC, .02),
                                (os.O_DSYNC, .02), (os.O_NOFOLLOW, .2), (os.O_NONBLOCK, 1)):
                # What O_TRUNC does to a file that is opened for reading is nowhere said.
                if chance() < often and (flag != os.O_TRUNC or kind != os.O_RDONLY):
                    kind |= flag
            return kind

        def mode():
            # The bits that set IDs go by a user's map in a mount that is not root's: a documented limit.
            return one_of([0o600, 0o644, 0o644, 0o755, 0o444, 0o200] + ([] if os.getuid() else [0o4755, 0o2755]))

        def kind():
            return one_of([fcntl.LOCK_EX, fcntl.LOCK_SH, fcntl.LOCK_UN])

        def moved():
            return one_of(NAMES + FOLDERS)

        def leaf():
            return one_of(["a", "b", "c.zip", "e"])

        owners = [-1, 0, 65534] if os.getuid() == 0 else [-1, os.getuid()]
        groups = [-1, 0, 65534] if os.getuid() == 0 else [-1, os.getgid()]
        key = lambda: one_of(["user.a", "user.b"])  # noqa: E731
        table = [
            (90, lambda: ("open", number(), name(), flags(), one_of([0o644, 0o600, 0o666]))),
            (6, lambda: ("open", number(), one_of(FOLDERS), os.O_RDONLY | os.O_DIRECTORY, 0)),
            (10, lambda: ("open_in", number(), file(), leaf(), flags())),
            (8, lambda: ("open_again", number(), file(), one_of([os.O_RDONLY, os.O_RDWR, os.O_WRONLY]) | os.O_NONBLOCK)),
            (5, lambda: ("duplicate", number(), file())),
            (80, lambda: ("close", file())),
            (20, lambda: ("seek", file(), offset(), one_of([os.SEEK_SET, os.SEEK_END, os.SEEK_CUR]))),
            (6, lambda: ("append_mode", file(), one_of([0, os.O_APPEND]) | os.O_NONBLOCK)),
            (30, lambda: ("read", file(), count())),
            (90, lambda: ("pread", file(), offset(), count())),
            (50, lambda: ("write", file(), *piece())),
            (110, lambda: ("pwrite", file(), offset(), *piece())),
            (30, lambda: ("content", name())),
            (25, lambda: ("ftruncate", file(), offset())),
            (10, lambda: ("truncate", name(), offset())),
            # The kernel has no other modes for FUSE.
            (25, lambda: ("allocate", file(), one_of([0, 1, 3, 0x10, 0x11]), offset(), count())),
            (20, lambda: ("copy", file(), file(), offset(), offset(), count())),
            (10, lambda: ("send", file(), file(), offset(), count())),
            (3, lambda: ("sync", file())),
            (3, lambda: ("data_sync", file())),
            (20, lambda: ("map", number(), file(), one_of([mmap.PROT_READ, mmap.PROT_READ | mmap.PROT_WRITE]),
                          one_of([4096, 8192]))),
            (25, lambda: ("map_read", mapping(), self.random.randrange(4096), self.random.randrange(1, 4096))),
            (25, lambda: ("map_write", mapping(), self.random.randrange(4096), *piece(4000))),
            (5, lambda: ("map_sync", mapping())),
            (12, lambda: ("unmap", mapping())),
            (45, lambda: ("link", name(), name())),
            (8, lambda: ("link_open", file(), name())),
            (45, lambda: ("unlink", name())),
            (6, lambda: ("unlink_in", file(), leaf())),
            (40, lambda: ("rename", moved(), moved(), one_of([0, 0, 0, 1, 2]))),
            (8, lambda: ("rename_in", file(), leaf(), file(), leaf())),
            (6, lambda: ("symlink", one_of(["a", "nowhere", "../d0/b"]), name())),
            (4, lambda: ("readlink", name())),
            (10, lambda: ("mkdir", moved())),
            (6, lambda: ("rmdir", moved())),
            (2, lambda: ("fifo", name())),
            (8, lambda: ("listing", one_of(FOLDERS + ["."]))),
            (4, lambda: ("listing_in", file())),
            (12, lambda: ("save", name(), *piece())),
            (40, lambda: ("state", moved())),
            (40, lambda: ("fstate", file())),
            (10, lambda: ("chmod", name(), mode())),
            (8, lambda: ("fchmod", file(), mode())),
            (6, lambda: ("chown", name(), one_of(owners), one_of(groups))),
            (8, lambda: ("times", name(), self.random.randrange(1 << 60), self.random.randrange(1 << 60))),
            (8, lambda: ("set_attribute", name(), key(), *piece(200))),
            (5, lambda: ("fset_attribute", file(), key(), *piece(20))),
            (6, lambda: ("attribute", name(), key())),
            (5, lambda: ("attributes", name())),
            (5, lambda: ("remove_attribute", name(), key())),
            (16, lambda: ("lock", file(), kind(), offset(), count())),
            (6, lambda: ("flock", file(), kind())),
        ]
        self.weights, self.made = zip(*table)
        self.without = set(without)

    def operations(self, who):
        """Some for process `who`, which has at most about 14 files open."""
        self.who = who
        made = [make() for make in (self.random.choices(self.made, self.weights)[0] for _ in range(self.random.randrange(1, 9)))]
        if len(self.files[who]) > 14:
            made.insert(0, ("close", self.random.choice(self.files[who])))
        # A map's own descriptor is closed with it.
        return [operation for operation in made
                if operation[0] not in self.without and (operation[0] != "close" or operation[1] >= 0)]


class Model:
    def __init__(self, source, mount, seed, without):
        self.without = without
        self.base = os.path.join(os.path.dirname(os.path.abspath(source)), f"bare-{seed}")
        self.source, self.mount, self.seed = source, mount, seed
        self.rounds = 0
        os.mkdir(self.base)

    def begun(self):
        self.rounds += 1
        return Processes(self.base, self.source, self.mount, f"model{self.seed}-{self.rounds}")

    def run(self, count):
        """Makes the operations; gives lines that say what was wrong."""
        chooser, done = Chooser(self.seed, self.without), 0
        while done < count:
            processes, log = self.begun(), []
            chooser.files, chooser.maps, looked = [[], []], [[], []], 0
            try:
                while len(log) < 10_000 and done < count:
                    who = chooser.random.randrange(2)
                    operations = chooser.operations(who)
                    difference, chooser.files[who], chooser.maps[who] = processes.do(who, operations)
                    done += len(operations)
                    log += [(who, operation) for operation in operations[:difference[0] + 1 if difference else None]]
                    if difference:
                        said = f"{short(difference[2])}, not {short(difference[1])}"
                        return [f"after {done} operations: {log[-1]}: {said}"] + self.shortened(log, log[-1][1][0])
                    if len(log) // 1000 > looked or done >= count:
                        looked = len(log) // 1000
                        wrong = processes.trees()
                        if wrong:
                            return [f"after {done} operations: {wrong}"] + self.shortened(log, None)
            finally:
                processes.end()
        return []

    def fails(self, log, kind):
        """Whether these operations show a difference, in the answer of an operation of a kind or in the trees."""
        processes = self.begun()
        try:
            for who, operation in log:
                difference = processes.do(who, [operation])[0]
                if difference:
                    return kind == operation[0]
            return kind is None and bool(processes.trees())
        finally:
            processes.end()

    def shortened(self, log, kind):
        end, step = time.monotonic() + 120, max(1, len(log) // 2)
        if not self.fails(log, kind):
            return ["it is not so when they are made again; the last ones:", *map(str, log[-30:])]
        while time.monotonic() < end:
            place, before = 0, len(log)
            while place < len(log) and time.monotonic() < end:
                fewer = log[:place] + log[place + step:]
                if fewer and self.fails(fewer, kind):
                    log = fewer
                else:
                    place += step
            if step == 1 and len(log) == before:
                break
            step = max(1, step // 2)
        return [f"these {len(log)} operations show it, each with its process:", *map(str, log[-60:])]


def modelled(source, mount, count=20_000, seed=1, *without):
    # Programs of a session may have another one; modes are compared as they come.
    os.umask(0o022)
    start = time.monotonic()
    wrong = Model(source, mount, seed, without).run(count)
    seconds = time.monotonic() - start
    print(f"{count} operations, seed {seed}, {seconds:.0f} s, {count / seconds:.0f} a second", flush=True)
    return wrong


if __name__ == "__main__":
    problems = modelled(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:5]), *sys.argv[5:])
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
