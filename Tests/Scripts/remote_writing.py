"""remote_writing.py FFMOUNT FFSERVE FOLDER PART: `ffmount -o rw http://…` changes a server's tree.

PART is `names`, `bytes`, `programs` or `conflicts`. Prints what is not as it should be, and at the end "done".
"""
import ctypes
import errno
import os
import random
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import zipfile

from remote import Mount, complain, expect, failure, whole
from serving import Server

ffmount, ffserve, folder, part = sys.argv[1:]
source, mnt, other = (os.path.join(folder, name) for name in ("source", "mnt", "other"))
spools = os.path.join(folder, "spools")
for path in (source, mnt, other, spools):
    os.makedirs(path, exist_ok=True)
os.environ["TMPDIR"] = spools
random.seed(3)
libc = ctypes.CDLL(None, use_errno=True)


def here(*names):
    return os.path.join(source, *names)


def there(*names):
    return os.path.join(mnt, *names)


def write(path, data, mode="wb"):
    with open(path, mode) as file:
        file.write(data)


def rename2(name, new, flags):
    if libc.renameat2(-100, os.fsencode(name), -100, os.fsencode(new), flags):
        raise OSError(ctypes.get_errno(), "renameat2")


def run(*words, cwd=None, status=0, stdin=None, env=None):
    ended = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=120, input=stdin, env={**os.environ, **(env or {})})
    if ended.returncode != status:
        complain(f"{words}: {ended.returncode}: {(ended.stdout + ended.stderr)[-600:]}")
    return ended.stdout


def state(path, hidden=()):
    """All names below a folder with their bytes and the seconds of their times."""
    found = {}
    for base, folders, files in os.walk(path):
        folders[:] = [name for name in folders if not name.endswith((".contents", ".pages", ".message", ".messages")) and name not in hidden]
        for name in folders:
            found[os.path.relpath(os.path.join(base, name), path)] = None
        for name in files:
            full = os.path.join(base, name)
            found[os.path.relpath(full, path)] = (whole(full), int(os.stat(full).st_mtime))
    return found


def expect_same(what, one, another, hidden=()):
    first, second = state(one, hidden), state(another, hidden)
    for name in sorted(first.keys() | second.keys()):
        if first.get(name, 0) != second.get(name, 0):
            said = ["absent" if name not in found else "a folder" if found[name] is None else f"{len(found[name][0])} bytes of {found[name][1]}"
                    for found in (first, second)]
            complain(f"{what}: {name}: {said[0]} instead of {said[1]}")


class Cutting(threading.Thread):
    """A line to the server that is cut after some bytes from each connection of the client."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.server, self.token, self.after, self.cuts, self.received = port, None, 1 << 60, 0, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.listener.close()

    def run(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.server))
            threading.Thread(target=self.carry, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self.carry, args=(server, client, False), daemon=True).start()

    def carry(self, one, another, counts):
        done = 0
        try:
            while data := one.recv(1 << 16):
                another.sendall(data)
                done += len(data)
                self.received += len(data) if counts else 0
                if counts and done > self.after:
                    self.cuts += 1
                    # The server takes what has been sent and closes. Otherwise, what is sent twice depends on buffers.
                    another.shutdown(socket.SHUT_WR)
                    end = time.monotonic() + 10
                    while another.fileno() >= 0 and time.monotonic() < end:
                        time.sleep(0.01)
                    break
        except OSError:
            pass
        for end in (one, another):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()


def serving(*options, port=None):
    server = Server(ffserve, source, "-o", "rw", *options)
    if port:
        server.words[server.words.index("--port") + 1] = str(port)
    return server


def mounted(server, where=None, *options):
    token = os.path.join(folder, "token")
    write(token, (server.token or "").encode())
    os.chmod(token, 0o600)
    words = ["-o", f"rw,token_file={token}" if server.token else "rw", *options]
    return Mount(ffmount, f"http://127.0.0.1:{server.port}", where or mnt, *words)


def names(server):
    shared_names()
    os.mkdir(there("made"))
    expect("a new folder", (os.path.isdir(here("made")), "made" in os.listdir(mnt)), (True, True))
    expect("it exists", failure(os.mkdir, there("made"))[0], errno.EEXIST)
    expect("in nothing", failure(os.mkdir, there("nowhere", "made"))[0], errno.ENOENT)
    write(here("made", "inner.txt"), b"inner")
    expect("a folder that is not empty", failure(os.rmdir, there("made"))[0], errno.ENOTEMPTY)
    os.rename(there("made"), there("moved"))
    expect("a renamed folder", (sorted(os.listdir(mnt)), whole(there("moved", "inner.txt"))), (["moved"], b"inner"))
    expect("its names there", sorted(os.listdir(source)), ["moved"])
    write(there("a"), b"of a")
    write(there("b"), b"of b")
    expect("no replacement", failure(rename2, there("a"), there("b"), 1)[0], errno.EEXIST)
    expect("an exchange", failure(rename2, there("a"), there("b"), 2)[0], errno.EINVAL)
    os.rename(there("a"), there("b"))
    expect("a replaced file", (whole(here("b")), whole(there("b")), os.path.exists(there("a")), os.path.exists(here("a"))), (b"of a", b"of a", False, False))
    with open(there("unsent"), "wb") as file:
        file.write(b"not yet")
        expect("no replacement of what is not sent", (failure(rename2, there("b"), there("unsent"), 1)[0], os.path.exists(here("unsent"))), (errno.EEXIST, False))
    expect("what is sent later", (whole(here("unsent")), whole(here("b"))), (b"not yet", b"of a"))
    os.unlink(there("unsent"))
    rename2(there("b"), there("c"), 1)
    expect("a file for a folder", failure(os.rename, there("c"), there("moved"))[0], errno.EISDIR)
    expect("a folder for a file", failure(os.rename, there("moved"), there("c"))[0], errno.ENOTDIR)
    os.mkdir(there("empty"))
    os.rename(there("moved"), there("empty"))
    expect("a folder for an empty one", (sorted(os.listdir(source)), whole(there("empty", "inner.txt"))), (["c", "empty"], b"inner"))
    os.makedirs(there("x/y/z"))
    write(there("x/y/z/f"), b"deep")
    os.chdir(there("x/y"))
    os.rename(there("x"), there("w"))
    expect("below a renamed folder", (os.listdir("z"), whole("z/f"), whole(here("w/y/z/f"))), (["f"], b"deep", b"deep"))
    write("z/g", b"more")
    expect("a new file there", whole(here("w/y/z/g")), b"more")
    os.chdir("/")
    expect("a folder that is not empty as a target", failure(os.rename, there("empty"), there("w"))[0], errno.ENOTEMPTY)
    os.unlink(there("c"))
    expect("a removed file", (os.path.exists(here("c")), failure(os.stat, there("c"))[0], failure(os.unlink, there("c"))[0]), (False, errno.ENOENT, errno.ENOENT))
    shutil.rmtree(there("w"))
    expect("a removed tree", sorted(os.listdir(source)), ["empty"])
    # Whatever the server cannot do.
    write(there("file"), b"x")
    expect("links and others", [failure(os.symlink, "file", there("link"))[0], failure(os.link, there("file"), there("hard"))[0],
                                failure(os.mkfifo, there("fifo"))[0], failure(os.chmod, there("file"), 0o4755)[0],
                                failure(os.chown, there("file"), 12345, -1)[0], failure(os.setxattr, there("file"), "user.x", b"1")[0]],
           [errno.EPERM] * 5 + [errno.ENOTSUP])
    mode = os.stat(there("file")).st_mode
    os.chmod(there("file"), 0o600)
    expect("a mode", os.stat(there("file")).st_mode, mode)
    os.chown(there("file"), os.geteuid(), -1)
    os.utime(there("file"), ns=(1_600_000_000_123_000_000,) * 2)
    expect("a time", (os.stat(here("file")).st_mtime_ns, os.stat(there("file")).st_mtime_ns), (1_600_000_000_123_000_000,) * 2)
    os.utime(there("empty"), (1_500_000_000,) * 2)
    expect("a folder's time", (os.stat(here("empty")).st_mtime, os.stat(there("empty")).st_mtime), (1_500_000_000,) * 2)
    # Views follow what the mount has changed, and cannot be changed.
    with zipfile.ZipFile(os.path.join(folder, "a.zip"), "w") as archive:
        archive.writestr("in.txt", "in")
    shutil.copyfile(os.path.join(folder, "a.zip"), there("a.zip"))
    expect("a view of a new archive", (os.listdir(there("a.zip.contents")), whole(there("a.zip.contents/in.txt"))), (["in.txt"], b"in"))
    with zipfile.ZipFile(os.path.join(folder, "a.zip"), "w") as archive:
        archive.writestr("other.txt", "other")
    shutil.copyfile(os.path.join(folder, "a.zip"), there("a.zip"))
    expect("a view of a changed one", (os.listdir(there("a.zip.contents")), whole(there("a.zip.contents/other.txt"))), (["other.txt"], b"other"))
    expect("changes of a view", [failure(write, there("a.zip.contents/new"), b"x")[0], failure(os.mkdir, there("a.zip.contents/new"))[0],
                                 failure(os.unlink, there("a.zip.contents/other.txt"))[0], failure(write, there("a.zip.contents/other.txt"), b"x")[0],
                                 failure(os.rename, there("a.zip.contents/other.txt"), there("o"))[0]], [errno.EROFS] * 5)
    expect("access", (os.access(there("file"), os.W_OK), os.access(mnt, os.W_OK), os.access(there("a.zip.contents"), os.W_OK)), (True, True, False))
    os.rename(there("a.zip"), there("b.zip"))
    expect("a view of a renamed one", (os.listdir(there("b.zip.contents")), failure(os.listdir, there("a.zip.contents"))[0]), (["other.txt"], errno.ENOENT))
    os.unlink(there("b.zip"))
    expect("a view of a removed one", failure(os.listdir, there("b.zip.contents"))[0], errno.ENOENT)
    # What others change is seen within a second.
    write(here("from elsewhere"), b"1")
    for _ in range(40):
        if os.path.exists(there("from elsewhere")):
            break
        time.sleep(0.05)
    else:
        complain("a change of others does not show")


def shared_names():
    """The space of the server's disk, and a folder that appears under the new name of a file."""
    space, own = os.statvfs(mnt), os.statvfs(source)
    sizes = [round(part.f_bavail * part.f_frsize / (100 << 20)) for part in (space, own)]
    expect("the free space", abs(sizes[0] - sizes[1]) <= 1 and space.f_blocks > 0, True)
    # Programs stay programs.
    mode = lambda path: stat.S_IMODE(os.stat(path).st_mode) & 0o111
    for name, make in {"made": lambda path: os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o755)),
                       "copied": lambda path: shutil.copy2("/bin/true", path), "changed": lambda path: (write(path, b"#!/bin/sh\n"), os.chmod(path, 0o755))}.items():
        make(there(name))
        states = [mode(there(name))]
        os.rename(there(name), there("program"))
        states.append(mode(there("program")))
        time.sleep(0.7)
        states += [mode(there("program")), mode(here("program"))]
        write(there("program"), b"#!/bin/sh\nexit 0\n")
        states.append(mode(here("program")))
        expect(f"{name}: a program", states, [0o111] * 5)
        run(there("program"))
        os.chmod(there("program"), 0o644)
        expect("no program", [mode(there("program")), mode(here("program"))], [0, 0])
        os.unlink(there("program"))
    file = os.open(there("nameless"), os.O_CREAT | os.O_RDWR)
    os.unlink(there("nameless"))
    expect("a file without a name", failure(os.fchmod, file, 0o755)[0], 0)
    os.close(file)
    # An empty file is an old one, too, when what is known of it has expired.
    for flags in (os.O_TRUNC, os.O_APPEND, 0):
        write(there("hollow"), b"")
        time.sleep(0.7)
        file = os.open(there("hollow"), os.O_WRONLY | flags)
        os.write(file, b"full")
        os.close(file)
        expect("what was empty", whole(here("hollow")), b"full")
    os.unlink(there("hollow"))
    for number in range(20):
        write(there("file"), b"file")
        os.path.exists(there("late"))
        os.mkdir(here("late"))
        write(here("late", "kept"), b"kept")
        found = failure(os.rename, there("file"), there("late"))[0]
        expect("a file over a folder", (found in (errno.EISDIR, errno.ENOTEMPTY, errno.EEXIST), whole(here("late", "kept"))), (True, b"kept"))
        shutil.rmtree(here("late"))
    os.unlink(there("file"))


def bytes_(server):
    for size in (0, 1, 4096, 16_384, 16_385, 131_073, 3_000_001):
        data = random.randbytes(size)
        write(there(f"{size}"), data)
        expect(f"{size} bytes", (whole(here(f"{size}")) == data, whole(there(f"{size}")) == data, os.stat(there(f"{size}")).st_size), (True, True, size))
    data = bytearray(random.randbytes(300_000))
    write(there("f"), data)

    def change(what, flags, at, piece, wanted=None):
        handle = os.open(there("f"), flags)
        try:
            if at is None:
                os.write(handle, piece)
            else:
                os.pwrite(handle, piece, at)
            expect(f"{what}: the size meanwhile", (os.fstat(handle).st_size, os.stat(there("f")).st_size), (len(wanted or data),) * 2)
        finally:
            os.close(handle)
        expect(f"{what}", (whole(here("f")) == (wanted or data), whole(there("f")) == (wanted or data)), (True, True))

    data[1000:2000] = b"x" * 1000
    change("a part", os.O_WRONLY, 1000, b"x" * 1000)
    data += b"the end"
    change("an append", os.O_WRONLY | os.O_APPEND, None, b"the end")
    data[299_990:300_010] = b"y" * 20
    change("read and write", os.O_RDWR, 299_990, b"y" * 20)
    data += bytes(400_000 - len(data)) + b"z"
    change("beyond the end", os.O_WRONLY, 400_000, b"z")
    os.truncate(there("f"), 1234)
    expect("truncated", (whole(here("f")) == data[:1234], os.stat(there("f")).st_size), (True, 1234))
    os.truncate(there("f"), 5000)
    expect("lengthened", whole(here("f")) == data[:1234] + bytes(3766), True)
    os.truncate(there("f"), 0)
    expect("emptied", (whole(here("f")), whole(there("f"))), (b"", b""))
    expect("O_EXCL", failure(os.open, there("f"), os.O_WRONLY | os.O_CREAT | os.O_EXCL)[0], errno.EEXIST)
    # A new name is there at once, for this mount; its bytes are at the server after fsync and close.
    with open(there("new"), "wb", buffering=0) as file:
        expect("a new name", ("new" in os.listdir(mnt), os.stat(there("new")).st_size), (True, 0))
        file.write(b"one")
        expect("another reader", whole(there("new")), b"one")
        os.fsync(file.fileno())
        expect("after fsync", whole(here("new")), b"one")
        file.write(b" two")
        os.utime(file.fileno(), (1_234_567_890,) * 2)
    expect("after close", (whole(here("new")), os.stat(here("new")).st_mtime, os.stat(there("new")).st_mtime), (b"one two", 1_234_567_890, 1_234_567_890))
    with open(there("new"), "r+b", buffering=0) as file:
        os.utime(there("new"), (1_111_111_111,) * 2)
        file.write(b"ONE")
    expect("after another time", whole(here("new")), b"ONE two")
    # Open files whose names change.
    file = open(there("going"), "w+b", buffering=0)
    file.write(b"going")
    os.unlink(there("going"))
    file.write(b" on")
    expect("without a name", (os.pread(file.fileno(), 100, 0), os.fstat(file.fileno()).st_size, os.path.exists(here("going"))), (b"going on", 8, False))
    file.close()
    expect("after its close", (os.path.exists(here("going")), os.path.exists(there("going"))), (False, False))
    with open(there("before"), "wb", buffering=0) as file:
        file.write(b"before")
        os.rename(there("before"), there("after"))
        file.write(b" and after")
    expect("renamed while open", (os.path.exists(here("before")), whole(here("after")), whole(there("after"))), (False, b"before and after", b"before and after"))
    # Mapped, and closed before it is written.
    import mmap
    write(there("mapped"), bytes(10_000))
    with open(there("mapped"), "r+b") as file:
        mapping = mmap.mmap(file.fileno(), 10_000)
    mapping[5000:5003] = b"map"
    mapping.flush()
    mapping.close()
    for _ in range(60):
        if whole(here("mapped"))[5000:5003] == b"map":
            break
        time.sleep(0.05)
    else:
        complain("bytes of a mapping do not arrive")
    write(there("large"), random.randbytes(40 << 20))
    run("cmp", there("large"), here("large"))
    expect("names of temporary files", os.listdir(spools), [])
    expect("names at the server", [name for name in os.listdir(source) if name.startswith(".")], [])


def programs(server):
    tree = os.path.join(folder, "tree")
    os.makedirs(os.path.join(tree, "sub/deep"))
    for number in range(60):
        write(os.path.join(tree, "sub" if number % 2 else "sub/deep", f"file {number}.txt"), random.randbytes(random.choice([0, 10, 5000, 200_000])))
    for base, folders, files in os.walk(tree):
        for name in files + folders:
            os.utime(os.path.join(base, name), (1_650_000_000,) * 2)
    run("cp", "-r", "--preserve=timestamps", tree, there("copied"))
    expect_same("cp -r", here("copied"), tree)
    run("cmp", there("copied/sub/file 1.txt"), os.path.join(tree, "sub/file 1.txt"))
    run("rsync", "-a", tree + "/", there("synced"))
    expect_same("rsync -a", here("synced"), tree)
    write(os.path.join(tree, "sub/file 1.txt"), b"another one")
    os.unlink(os.path.join(tree, "sub/file 3.txt"))
    run("rsync", "-a", "--delete", tree + "/", there("synced"))
    expect_same("rsync -a --delete", here("synced"), tree)
    write(os.path.join(tree, "sub/file 1.txt"), random.randbytes(300_000))
    os.utime(os.path.join(tree, "sub"), (1_660_000_000,) * 2)
    run("rsync", "-a", "--inplace", "--no-whole-file", tree + "/", there("synced"))
    expect_same("rsync -a --inplace", here("synced"), tree)
    # The server gives a folder another time when a file in it is written; rsync sets the old one.
    expect("the time of a folder", [os.stat(base).st_mtime for base in (here("synced/sub"), there("synced/sub"))], [1_660_000_000] * 2)
    expect("a second rsync", run("rsync", "-ai", tree + "/", there("synced")), "")
    run("tar", "cf", os.path.join(folder, "tree.tar"), "-C", tree, ".")
    os.mkdir(there("unpacked"))
    run("tar", "xf", os.path.join(folder, "tree.tar"), "--no-same-owner", "-C", there("unpacked"))
    expect_same("tar x", here("unpacked"), tree)
    run("mv", there("unpacked"), there("copied/unpacked"))
    expect_same("mv of a folder", here("copied/unpacked"), tree)
    run("mv", tree, there("tree"))
    expect("mv from another disk", (os.path.exists(tree), len(os.listdir(here("tree/sub")))), (False, 30))
    write(there("text"), b"one\ntwo\nthree\n")
    run("sed", "-i", "s/two/2/", there("text"))
    expect("sed -i", (whole(here("text")), whole(there("text"))), (b"one\n2\nthree\n",) * 2)
    run("dd", "of=" + there("text"), "bs=1", "seek=4", "conv=notrunc", "status=none", stdin="@")
    expect("dd conv=notrunc", whole(here("text")), b"one\n@\nthree\n")
    run("sh", "-c", f"echo four >> '{there('text')}'")
    expect("an append of the shell", whole(here("text")), b"one\n@\nthree\nfour\n")
    run("touch", "-d", "2020-02-02 02:02:02 UTC", there("text"))
    expect("touch -d", (os.stat(here("text")).st_mtime, whole(here("text"))), (1580608922, b"one\n@\nthree\nfour\n"))
    run("touch", there("touched"))
    expect("touch", os.path.getsize(here("touched")), 0)
    if shutil.which("git"):
        identity = {"GIT_CONFIG_GLOBAL": os.path.join(folder, "gitconfig"), "HOME": folder}
        write(identity["GIT_CONFIG_GLOBAL"], b"[user]\nname = A\nemail = a@b\n[safe]\ndirectory = *\n[init]\ndefaultBranch = main\n")
        made = os.path.join(folder, "made")
        os.mkdir(made)
        run("git", "init", "-q", cwd=made, env=identity)
        for number in range(20):
            write(os.path.join(made, f"{number}.txt"), b"line\n" * number)
        run("git", "add", ".", cwd=made, env=identity)
        run("git", "commit", "-qm", "first", cwd=made, env=identity)
        run("git", "clone", "-q", made, there("cloned"), env=identity)
        expect("git clone", run("git", "status", "--porcelain", cwd=there("cloned"), env=identity), "")
        write(there("cloned/new.txt"), b"new")
        run("git", "add", ".", cwd=there("cloned"), env=identity)
        run("git", "commit", "-qm", "second", cwd=there("cloned"), env=identity)
        run("git", "fsck", "--strict", cwd=here("cloned"), env=identity)
        expect("git log", run("git", "log", "--format=%s", cwd=here("cloned"), env=identity), "second\nfirst\n")
    if editor := shutil.which("vim.basic") or shutil.which("vim") or shutil.which("vim.tiny"):
        run(editor, "-u", "NONE", "-es", "+%s/one/1/", "+wq", there("text"))
        expect("vim", (whole(here("text")), [name for name in os.listdir(source) if name.endswith((".swp", "~"))]), (b"1\n@\nthree\nfour\n", []))
    # As LibreOffice saves: a lock file, a temporary file, and a rename.
    lock = os.open(there(".~lock.text#"), os.O_RDWR | os.O_CREAT | os.O_EXCL)
    os.write(lock, b"me")
    os.close(lock)
    expect("a second lock", failure(os.open, there(".~lock.text#"), os.O_RDWR | os.O_CREAT | os.O_EXCL)[0], errno.EEXIST)
    write(there("lu1.tmp"), b"saved")
    os.rename(there("lu1.tmp"), there("text"))
    os.unlink(there(".~lock.text#"))
    expect("a saved document", (whole(here("text")), os.path.exists(here(".~lock.text#"))), (b"saved", False))
    run("rm", "-r", there("copied"), there("synced"), there("tree"))
    expect("rm -r", [name for name in ("copied", "synced", "tree") if os.path.exists(here(name))], [])


def conflicts(server):
    os.environ["FFMOUNT_TEST"] = "1"
    with mounted(server, other) as second:
        write(there("f"), b"first")
        one, two = open(there("f"), "r+b", buffering=0), open(second.path("f"), "r+b", buffering=0)
        one.write(b"ONE")
        two.write(b"TWO")
        one.close()
        expect("the second to close", failure(os.fsync, two.fileno())[0], errno.ESTALE)
        expect("its close", failure(two.close)[0], errno.ESTALE)
        expect("the first", (whole(here("f")), whole(there("f"))), (b"ONEst",) * 2)
        why = subprocess.run([ffmount, "why", second.path("f")], capture_output=True, text=True).stdout
        if "another client" not in " ".join(why.split()):
            complain(f"its reason: {why}")
        for _ in range(60):
            if whole(second.path("f")) == b"ONEst":
                break
            time.sleep(0.05)
        expect("what the second sees", whole(second.path("f")), b"ONEst")
        # Two new files of one name.
        one, two = open(there("n"), "wb", buffering=0), open(second.path("n"), "wb", buffering=0)
        one.write(b"one")
        two.write(b"two")
        two.close()
        expect("the second of two new ones", (failure(one.close)[0], whole(here("n"))), (errno.ESTALE, b"two"))
        exclusive = os.open(there("x"), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        expect("O_EXCL in another mount", failure(os.open, second.path("x"), os.O_WRONLY | os.O_CREAT | os.O_EXCL)[0], errno.EEXIST)
        os.close(exclusive)
        expect("removed by another", [failure(os.unlink, second.path("x"))[0], failure(os.stat, second.path("x"))[0]], [0, errno.ENOENT])
        file = open(there("r"), "wb", buffering=0)
        file.write(b"r")
        os.fsync(file.fileno())
        os.unlink(here("r"))
        file.write(b"s")
        expect("removed meanwhile", (failure(file.close)[0], os.path.exists(here("r"))), (errno.ESTALE, False))

    # What a program that is killed has written is sent, as on a disk.
    for name, flags in [("killed", "O_CREAT"), ("killed too", "O_CREAT | os.O_EXCL")]:
        writer = subprocess.Popen([sys.executable, "-c", f"import os, time\nfile = os.open({there(name)!r}, os.O_WRONLY | os.{flags})\n"
                                   "os.write(file, bytes(30 << 20))\nprint(flush=True)\ntime.sleep(60)"], stdout=subprocess.PIPE)
        writer.stdout.readline()
        writer.kill()
        writer.wait()
        for _ in range(600):
            if os.path.exists(here(name)) and os.path.getsize(here(name)):
                break
            time.sleep(0.05)
        expect(name, (os.path.getsize(here(name)), os.path.getsize(there(name))), (30 << 20, 30 << 20))
        os.unlink(there(name))

    # A line that is cut again and again: large files continue where it was.
    with Cutting(server.port) as line, mounted(line, other, "-o", "wait=3") as second:
        data = random.randbytes(50 << 20)
        line.after = 9 << 20
        write(second.path("cut"), data)
        expect("a line that is cut", (whole(here("cut")) == data, line.cuts > 3, line.received < 60 << 20), (True, True, True))
        data = data[:20_000_000] + b"another" + data[20_000_007:]
        write(second.path("cut"), data)
        expect("over an old one", whole(here("cut")) == data, True)
        line.after = 1 << 20
        expect("what is sent in one piece", (failure(write, second.path("small"), data[:9_000_000])[0], os.path.exists(here("small"))), (errno.EIO, False))
        os.unlink(here("cut"))

    # A server that is away: the writer is told, and the file is whole or absent.
    port = server.port
    data = random.randbytes(64 << 20)

    def killing():
        time.sleep(0.15)
        server.process.kill()

    threading.Thread(target=killing).start()
    found = failure(write, there("big"), data)[0]
    server.process.wait()
    present = os.path.exists(here("big"))
    if present and whole(here("big")) != data or not present and found != errno.EIO:
        complain(f"a lost server: {found}, {os.path.exists(here('big'))}")
    expect("what is left", [name for name in os.listdir(source) if name not in ("f", "n", "big") and not name.startswith(".ffmount-")], [])
    started = time.monotonic()
    expect("without a server", failure(write, there("away"), b"x")[0], errno.EIO)
    if time.monotonic() - started > 20:
        complain("it waits too long")
    with serving(port=port) as again:
        again.token = server.token
        for _ in range(600):
            if failure(write, there("back"), b"back")[0] == 0:
                break
            time.sleep(0.1)
        expect("when it is back", whole(here("back")), b"back")
        # It ends while it is being written to, and comes back.
        again.process.send_signal(signal.SIGSTOP)
        threading.Timer(0.5, lambda: again.process.send_signal(signal.SIGCONT)).start()
        write(there("held up"), data)
        expect("held up", whole(here("held up")) == data, True)


def refused():
    with Server(ffserve, source) as server:
        token = os.path.join(folder, "token")
        write(token, server.token.encode() if server.token else b"x")
        os.chmod(token, 0o600)
        ended = subprocess.run([ffmount, "-f", "-o", f"rw,token_file={token}", f"http://127.0.0.1:{server.port}", mnt],
                               capture_output=True, text=True, timeout=30)
        if ended.returncode == 0 or "-o rw" not in ended.stderr or "permits no changes" not in ended.stderr:
            complain(f"a server without rw: {ended.returncode} {ended.stderr}")


work = {"names": names, "bytes": bytes_, "programs": programs, "conflicts": conflicts}[part]
if part == "names":
    refused()
server = serving()
server.__enter__()
try:
    with mounted(server, None, *(["-o", "wait=3"] if part == "conflicts" else [])):
        work(server)
finally:
    if server.process.poll() is None:
        server.__exit__()
print("done")
