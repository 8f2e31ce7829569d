#!/usr/bin/env python3
"""killed_together.py FFMOUNT SOURCE MOUNT VICTIM...: files of a supervised mount with -o rw are open and locked, and other processes wait
for the locks. The VICTIMS are killed at once: process (which serves), holder (of its descriptors), supervisor. Each call must then
give what Keeping.md says, without waiting for a lock that has ended."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
import time
import zipfile

ffmount, source, mount, *victims = sys.argv[1:]
failures, files = [], []


def expect(what, found, *wanted):
    if found not in wanted:
        failures.append(f"{what}: {found}, not {' or '.join(wanted)}")


def call(action):
    try:
        action()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"


def child(action):
    """A process that makes a call and ends with its error."""
    number = os.fork()
    if number == 0:
        # With them, flock's locks would last as long as the child.
        for file in files:
            call(lambda: os.close(file))
        try:
            action()
        except OSError as error:
            os._exit(error.errno)
        os._exit(0)
    return number


def answer(number, seconds=20.0):
    """What a process's call gave, or that it still waits."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if os.waitid(os.P_PID, number, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            code = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
            return errno.errorcode[code] if code else "done"
        time.sleep(0.01)
    return "waits"


def attempt(lock, path, flags=os.O_RDWR):
    """What another process gets that asks for a lock, and does not wait for it."""
    return answer(child(lambda: lock(os.open(path, flags), fcntl.LOCK_EX | fcntl.LOCK_NB)))


def text(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def processes(name):
    return [int(number) for number in os.listdir("/proc") if number.isdigit() and text(f"/proc/{number}/comm") == f"{name}\n"]


def unmount():
    """Unmounts, as soon as the kernel has closed the files of processes that have just ended."""
    end = time.monotonic() + 5
    while (result := subprocess.run([ffmount, "-u", mount], capture_output=True, text=True)).returncode and time.monotonic() < end:
        time.sleep(0.1)
    return result


view, real = f"{mount}/a.zip.contents/in.txt", f"{mount}/real"
with zipfile.ZipFile(f"{source}/a.zip", "w") as archive:
    archive.writestr("in.txt", "inside")
with open(f"{source}/real", "w") as file:
    file.write("x" * 10)
subprocess.run([ffmount, "-o", "rw", source, mount], check=True)
supervisor = next(number for number in processes("ffkeep") if mount in text(f"/proc/{number}/cmdline").split("\0"))
process = int(text(f"/proc/{supervisor}/task/{supervisor}/children"))
holder = next(number for number in processes("ffhold") if f"\nPPid:\t{process}\n" in text(f"/proc/{number}/status"))

files += [os.open(path, flags) for path, flags in ((view, os.O_RDONLY), (view, os.O_RDONLY), (real, os.O_RDWR), (real, os.O_RDWR))]
fcntl.flock(files[0], fcntl.LOCK_EX)
fcntl.lockf(files[1], fcntl.LOCK_SH, 4)
fcntl.flock(files[2], fcntl.LOCK_EX)
fcntl.lockf(files[3], fcntl.LOCK_EX, 4)
waiting = {path: child(lambda: fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_EX)) for path in (view, real)}
for number in waiting.values():
    while not any(word in text(f"/proc/{number}/wchan") for word in ("fuse", "request_wait")):
        time.sleep(0.01)

numbers = [{"process": process, "holder": holder, "supervisor": supervisor}[name] for name in victims]
for how in (signal.SIGSTOP, signal.SIGKILL):
    for number in numbers:
        os.kill(number, how)

if "supervisor" in victims:
    # The kernel ends the connection when the last of the processes has gone.
    for path, number in waiting.items():
        expect(f"waiting for {path}", answer(number), "ECONNABORTED", "ENOTCONN")
    for path in (mount, view, real):
        expect(f"stat of {path}", call(lambda: os.stat(path)), "ENOTCONN")
    for lock in (fcntl.flock, fcntl.lockf):
        for file in files:
            expect("a lock of an open file", call(lambda: lock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)), "ENOTCONN")
        expect("a lock in the source", attempt(lock, f"{source}/real"), "done")
    for file in files:
        call(lambda: os.close(file))
    expect("unmounting", unmount().stderr, "")
    subprocess.run([ffmount, "-o", "rw", source, mount], check=True)
else:
    isKept = "holder" not in victims
    expect("waiting for a view", answer(waiting[view]), "done")
    expect("reading a view", call(lambda: os.pread(files[0], 6, 0)), "done")
    expect("a range of a view", call(lambda: fcntl.lockf(files[1], fcntl.LOCK_SH | fcntl.LOCK_NB, 4)), "done" if isKept else "EIO")
    expect("reading a real file", call(lambda: os.pread(files[2], 6, 0)), "done")
    if not isKept:
        expect("waiting for a real file", answer(waiting[real]), "done", "EIO")
    else:
        expect("another's flock of a real file", attempt(fcntl.flock, real), "EAGAIN")
        expect("another's range of a real file", attempt(fcntl.lockf, real), "EAGAIN")
        expect("waiting for a real file", answer(waiting[real], 0.5), "waits")
    # The kernel may write by itself. Before and after the file has been reopened for reading, changes are refused.
    for _ in range(2):
        expect("writing a real file", call(lambda: os.pwrite(files[2], b"y", 0)), "done", *([] if isKept else ["EIO"]))
        for what, change in (("cutting", lambda: os.ftruncate(files[2], 10)), ("filling", lambda: os.posix_fallocate(files[2], 0, 10))):
            expect(f"{what} a real file", call(change), "done" if isKept else "EIO")
        expect("reading it", call(lambda: os.pread(files[2], 6, 0)), "done")
    for lock, file, again in ((fcntl.flock, files[2], "done"), (fcntl.lockf, files[3], "EIO")):
        expect("a lock in the source", attempt(lock, f"{source}/real"), "EAGAIN" if isKept else "done")
        expect("a lock of an open real file", call(lambda: lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)), "done" if isKept else again)
    for file in files:
        os.close(file)
    if isKept:
        expect("waiting for a real file", answer(waiting[real]), "done")
for lock in (fcntl.flock, fcntl.lockf):
    expect("a lock after all files were closed", attempt(lock, real), "done")
expect("unmounting", unmount().stderr, "")
print("\n".join(failures))
sys.exit(1 if failures else 0)
