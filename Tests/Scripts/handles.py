"""handles.py BINARY SOURCE MOUNTPOINT: whether what an NFS server knows files by holds when the kernel has forgotten them.

Takes file handles, has the kernel drop its caches and opens by the handles, as nfsd and nfs-ganesha do: with -o export all of
them open and have the same bytes, also after the process of the mount was killed twice. Without it those of forgotten files do
not open, and nothing opens by the handle of another mount.
"""
import ctypes
import errno
import os
import signal
import subprocess
import sys
import time

binary, source, mountpoint = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
SIZE = 128


class Handle(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint), ("type", ctypes.c_int), ("bytes", ctypes.c_char * SIZE)]


def take(path):
    handle, mount = Handle(SIZE), ctypes.c_int()
    if libc.name_to_handle_at(-100, path.encode(), ctypes.byref(handle), ctypes.byref(mount), 0) != 0:
        raise OSError(ctypes.get_errno(), path)
    return bytes(handle)


def opened(handle, flags=os.O_RDONLY):
    """A descriptor of what a handle stands for."""
    root = os.open(mountpoint, os.O_RDONLY | os.O_DIRECTORY)
    try:
        got = libc.open_by_handle_at(root, handle, flags | os.O_CLOEXEC)
        if got < 0:
            raise OSError(ctypes.get_errno(), "open_by_handle_at")
        return got
    finally:
        os.close(root)


def content(handle, isFolder):
    descriptor = opened(handle, os.O_RDONLY | (os.O_DIRECTORY if isFolder else 0))
    try:
        if isFolder:
            return sorted(os.listdir(descriptor)), os.stat("..", dir_fd=descriptor).st_ino
        return os.read(descriptor, 1 << 20), os.fstat(descriptor).st_ino
    finally:
        os.close(descriptor)


def inode(handle):
    descriptor = opened(handle, os.O_PATH)
    try:
        return os.fstat(descriptor).st_ino
    finally:
        os.close(descriptor)


def forget():
    """Has the kernel forget what nobody has open, and waits until ffmount has been told."""
    for _ in range(3):
        with open("/proc/sys/vm/drop_caches", "w") as file:
            file.write("2")
        time.sleep(0.1)


def paths():
    found = []
    for folder, folders, files in os.walk(mountpoint):
        found += [(os.path.join(folder, name), name in folders) for name in folders + files]
    return found


def mounted(*options):
    daemon = subprocess.Popen([binary, "-f", *options, source, mountpoint], stderr=subprocess.DEVNULL)
    for _ in range(1000):
        if os.path.ismount(mountpoint):
            return daemon
        time.sleep(0.01)
    sys.exit("it is not mounted")


def keeper():
    """The supervisor process of the mount."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm") as name, open(f"/proc/{pid}/cmdline", "rb") as words:
                if name.read() == "ffkeep\n" and os.fsencode(mountpoint) in words.read().split(b"\0"):
                    return pid
        except OSError:
            continue
    sys.exit("no supervisor process")


def restarted():
    """Kills the process that serves the mount, and waits for the next one."""
    pid = keeper()
    children = f"/proc/{pid}/task/{pid}/children"
    with open(children) as file:
        before = file.read()
    os.kill(int(before), signal.SIGKILL)
    for _ in range(1000):
        with open(children) as file:
            if file.read() not in (before, ""):
                return
        time.sleep(0.01)
    sys.exit("the process was not started again")


def unmounted(daemon):
    """Whatever looks at all mounts for a moment (df, another test) makes this one busy for as long."""
    for attempt in range(200):
        if subprocess.run(["umount", mountpoint], stderr=subprocess.DEVNULL).returncode == 0:
            break
        time.sleep(0.05)
    else:
        subprocess.run(["umount", "-l", mountpoint])
    daemon.wait(30)


def run(*options, kills=0):
    """What opens by its handle as before, what is stale, and a handle of this mount."""
    daemon = mounted(*options)
    try:
        before, same, stale = {}, [], []
        for path, isFolder in paths():
            handle = take(path)
            try:
                before[path] = handle, isFolder, content(handle, isFolder)
            except OSError as error:
                # Another test has the kernel drop its caches, too.
                if options or error.errno != errno.ESTALE:
                    raise
                stale.append(path)
        forget()
        for _ in range(kills):
            restarted()
        for path, (handle, isFolder, known) in before.items():
            try:
                got = content(handle, isFolder)
            except OSError as error:
                if error.errno != errno.ESTALE:
                    raise
                stale.append(path)
                continue
            if got != known:
                sys.exit(f"{path}: {got} was {known}")
            same.append(path)
        # A name leads to what the handle stood for.
        for path, (handle, isFolder, known) in before.items():
            if options and os.stat(path).st_ino != inode(handle):
                sys.exit(f"{path}: its handle is another file's")
        inner = next((handle for path, (handle, _, _) in before.items() if path.endswith("inner.txt")), None)
        return same, stale, inner
    finally:
        unmounted(daemon)


same, stale, handle = run("-o", "export")
if stale or len(same) < 10:
    sys.exit(f"with -o export: {len(same)} are the same, stale are {stale}")
same, stale, _ = run("-o", "export,supervise=on", kills=2)
if stale or len(same) < 10:
    sys.exit(f"after restarts: {len(same)} are the same, stale are {stale}")
daemon = mounted("-o", "export")
try:
    paths()
    try:
        os.close(opened(handle))
        sys.exit("a handle of an earlier mount opens something")
    except OSError as error:
        if error.errno != errno.ESTALE:
            raise
finally:
    unmounted(daemon)
_, stale, _ = run()
if not stale:
    sys.exit("without -o export nothing was forgotten: this does not test anything")
print("done")
