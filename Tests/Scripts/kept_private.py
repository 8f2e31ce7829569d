"""kept_private.py FFMOUNT SOURCE MOUNT OPTIONS: a folder, or an archive's view in it, that another user has open becomes private
while the process of the supervised mount is killed and replaced. As root.

The user's calls end, and give no name or byte that is private now. The mount goes on for its owner. Prints what is not so, and
"done".
"""
import errno
import os
import signal
import subprocess
import sys
import time
import zipfile

ffmount, source, mount, options = sys.argv[1:]
USER = 4001
COUNT = 3000  # more than one request for names


def archive(path, stem):
    with zipfile.ZipFile(path, "w") as file:
        for number in range(COUNT):
            info = zipfile.ZipInfo(f"{stem}{number:04}")
            info.external_attr = 0o100644 << 16
            file.writestr(info, stem)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def supervisor():
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/comm") as name, open(f"/proc/{number}/cmdline") as line:
                if name.read() == "ffkeep\n" and mount in line.read().split("\0"):
                    return number
        except OSError:
            pass
    raise SystemExit("there is no supervisor")


def serving():
    with open(f"/proc/{keeper}/task/{keeper}/children") as file:
        return file.read().split()


def replace():
    before = serving()
    for number in before:
        os.kill(int(number), signal.SIGKILL)
    until = time.monotonic() + 20
    while not (now := serving()) or now == before:
        if time.monotonic() > until:
            raise SystemExit("no process replaces the killed one")
        time.sleep(0.01)


def use(folder, ready, go):
    """The other user's calls, before and after."""
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    names = os.scandir(held)
    first = next(names).name
    file = os.open(first, os.O_RDONLY, dir_fd=held)
    os.fchdir(held)
    os.write(ready, b"x")
    os.read(go, 1)
    calls = {
        "fstat of the folder": lambda: os.fstat(held).st_mode,
        "fstat of a file": lambda: os.fstat(file).st_mode,
        "pread": lambda: os.pread(file, 100, 0),
        "readdir": lambda: [entry.name for entry in names],
        "another readdir": lambda: os.listdir(held),
        "openat": lambda: os.open("public0002", os.O_RDONLY, dir_fd=held),
        "openat of a private file": lambda: os.read(os.open("private0001", os.O_RDONLY, dir_fd=held), 100),
        "stat below the working folder": lambda: os.stat("./public0003").st_mode,
        "stat of the working folder": lambda: os.stat(".").st_mode,
        "getxattr": lambda: os.getxattr(first, "user.ffmount.state"),
        "opendir by path": lambda: os.listdir(folder),
    }
    for what, call in calls.items():
        try:
            said = str(call())
        except OSError as error:
            said = ""
            if error.errno not in (errno.EACCES, errno.ESTALE, errno.ENODATA):
                print(f"{folder}: {what}: {error}", flush=True)
        if "private" in said:
            print(f"{folder}: {what} gives {said[:200]}", flush=True)


def check(what, number, kills, isReplaced):
    folder = f"{source}/{number}"
    os.mkdir(folder)
    os.chmod(folder, 0o755)
    for file in range(COUNT if what == "folder" else 1):
        write(f"{folder}/public{file:04}", "public")
    archive(f"{folder}/a.zip", "public")
    for name in os.listdir(folder):
        os.chmod(f"{folder}/{name}", 0o644)
    shown = f"{mount}/{number}" + ("" if what == "folder" else "/a.zip.contents")
    ready, go = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.close(go[1])
        os.setgroups([])
        os.setresgid(USER, USER, USER)
        os.setresuid(USER, USER, USER)
        try:
            use(shown, ready[1], go[0])
        except BaseException as error:
            print(f"{shown}: a process of the user failed: {error!r}", flush=True)
        os._exit(0)
    os.close(ready[1]), os.close(go[0])
    os.read(ready[0], 1)
    write(f"{folder}/private0001", "private")
    if isReplaced:
        archive(f"{folder}/new", "private")
        os.chmod(f"{folder}/new", 0o600)
        os.rename(f"{folder}/new", f"{folder}/a.zip")
    os.chmod(folder, 0o700)
    for _ in range(kills):
        replace()
    os.close(go[1])
    until = time.monotonic() + 30
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > until:
            print(f"{shown}: a call of the user hangs", flush=True)
            os.kill(child, signal.SIGKILL)
            break
        time.sleep(0.02)
    os.close(ready[0])
    with open(f"{mount}/{number}/private0001") as file:
        if file.read() != "private" or len(os.listdir(f"{mount}/{number}/a.zip.contents")) != COUNT:
            print(f"{shown}: the owner reads something else", flush=True)


os.chmod(source, 0o755)
subprocess.run([ffmount, "-o", options, source, mount], check=True)
try:
    keeper = supervisor()
    for number, (what, kills, isReplaced) in enumerate(
        [("folder", 1, False), ("folder", 3, False), ("view", 1, False), ("view", 1, True), ("view", 3, True)]):
        check(what, number, kills, isReplaced)
finally:
    os.chdir("/")
    subprocess.run([ffmount, "-u", mount])
print("done")
