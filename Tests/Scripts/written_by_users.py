#!/usr/bin/env python3
"""written_by_users.py NAME SOURCE MOUNT: as written.py, for what several users do in a mount that all see, by root."""

import errno
import mmap
import os
import pickle
import shutil
import stat
import subprocess
import sys
from pathlib import Path

from written import both, write


def as_user(number, groups, action):
    """What `action` gives or raises in a process of another user, whose own group is the first."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups(groups)
            os.setresgid(groups[0], groups[0], groups[0])
            os.setresuid(number, number, number)
            try:
                result = action()
            except OSError as error:
                result = errno.errorcode[error.errno]
            os.write(writer, pickle.dumps(result))
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        result = answer.read()
    os.waitpid(child, 0)
    return pickle.loads(result)


def tried(*actions):
    """What each of them says."""
    said = []
    for action in actions:
        try:
            said.append(action())
        except OSError as error:
            said.append(errno.errorcode[error.errno])
    return said


def shown(path):
    state = os.lstat(path)
    return stat.filemode(state.st_mode), state.st_uid, state.st_gid


def users(source, mount):
    # The folders above are root's alone.
    os.chmod(Path(source).parent, 0o755)

    def steps(on):
        os.umask(0o022)
        for name, mode in (("all", 0o777), ("group", 0o2777), ("sticky", 0o1777), ("list", 0o755)):
            os.mkdir(on.at(name))
            os.chown(on.at(name), 0, 1003 if name == "group" else 0)
            os.chmod(on.at(name), mode)

        def made(folder):
            os.umask(0o027)
            write(on.at(folder + "/a"), b"x", mode=0o2777)
            os.mkdir(on.at(folder + "/d"), 0o777)
            os.symlink("x", on.at(folder + "/l"))
            os.mkfifo(on.at(folder + "/f"), 0o666)
            return [shown(on.at(f"{folder}/{name}")) for name in "adlf"]

        for folder in ("all", "group", "sticky"):
            on("made in " + folder, lambda: as_user(1001, [1002], lambda: made(folder)))
            place = on.at(folder)
            on(
                "another in " + folder,
                lambda: as_user(
                    1004, [1005],
                    lambda: tried(
                        lambda: write(place + "/a", b"y"), lambda: os.chmod(place + "/a", 0o777),
                        lambda: os.truncate(place + "/a", 0), lambda: os.listdir(place + "/d"),
                        lambda: os.rename(place + "/a", place + "/b"), lambda: os.unlink(place + "/l"),
                        lambda: os.link(place + "/f", place + "/k"), lambda: write(place + "/mine", b""),
                        lambda: os.chown(place + "/mine", 1001, -1),
                        lambda: os.setxattr(place + "/mine", "trusted.x", b""),
                        lambda: os.mknod(place + "/device", 0o666 | stat.S_IFCHR, os.makedev(1, 3)))))

        def set_ids():
            name = on.at("all/s")
            write(name, b"x")
            said = []
            for change in (
                lambda: os.chown(name, -1, 1003), lambda: write(name, b"y", os.O_WRONLY), lambda: os.truncate(name, 0),
                lambda: os.chown(name, -1, 1009), lambda: write(name, b"z", os.O_WRONLY | os.O_APPEND),
            ):
                os.chmod(name, 0o6755)
                said += tried(change) + [shown(name)]
            return said

        def appended():
            return tried(lambda: write(on.at("all/t"), b"z", os.O_WRONLY | os.O_APPEND)) + [shown(on.at("all/t"))]

        write(on.at("all/t"), b"x")
        os.chmod(on.at("all/t"), 0o6777)
        on("appended by a stranger", lambda: as_user(1004, [1005], appended))

        def written(change, mode):
            """The answer to a change of an open file, its mode through the descriptor, and by name."""
            file = os.open(on.at("all/t"), mode)
            try:
                return tried(lambda: change(file), lambda: stat.filemode(os.fstat(file).st_mode)) + [shown(on.at("all/t"))]
            finally:
                os.close(file)

        changes = {
            "write": lambda file: os.write(file, b"z"), "allocate": lambda file: os.posix_fallocate(file, 0, 9000),
            "truncate": lambda file: os.ftruncate(file, 10),
            "copy": lambda file: os.copy_file_range(file, file, 10, 0, 100)}
        for change in changes:
            for flags in (os.O_WRONLY, os.O_RDWR, os.O_RDWR | os.O_SYNC, os.O_RDWR | os.O_TRUNC):
                for mode in (0o6777, 0o4777, 0o2777):
                    write(on.at("all/t"), b"x" * 200)
                    os.chmod(on.at("all/t"), mode)
                    on(f"{change} {flags:o} {mode:o}", lambda: as_user(1004, [1005], lambda: written(changes[change], flags)))

        def open_without_a_name(how):
            """Attributes and size of an open file whose name is gone, or belongs to another file."""
            name = on.at("all/nameless")
            file = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
            if how == "replaced":
                write(on.at("all/other"), b"other")
                os.rename(on.at("all/other"), name)
            else:
                os.unlink(name)
            said = tried(
                lambda: os.setxattr(file, "user.key", b"value"), lambda: os.getxattr(file, "user.key"),
                lambda: "user.key" in os.listxattr(file), lambda: os.removexattr(file, "user.key"),
                lambda: os.truncate(f"/proc/self/fd/{file}", 7), lambda: os.fstat(file).st_size)
            os.close(file)
            return said

        for how in ("removed", "replaced"):
            on(how, lambda: as_user(1001, [1002], lambda: open_without_a_name(how)))

        def unchanged_owner():
            said = []
            for number in range(6):
                name = on.at(f"all/kept{number}")
                said += [number] + tried(lambda: os.chown(name, -1, -1)) + [shown(name)]
            return said + tried(lambda: os.chown(on.at("group"), -1, -1)) + [shown(on.at("group"))]

        for user, groups in ((1001, [1002]), (1001, [1003]), (1004, [1003]), (0, [0])):
            for number, mode in enumerate([0o644, 0o4755, 0o2755, 0o2745, 0o6644, 0o1777]):
                name = on.at(f"all/kept{number}")
                write(name, b"x")
                os.chown(name, 1001, 1003)
                os.chmod(name, mode)
            on(f"no owner by {user} {groups}", lambda: as_user(user, groups, unchanged_owner))

        on("bits that set ids", lambda: as_user(1001, [1002, 1003], set_ids))
        if shutil.which("setfacl"):
            rules = "u:1001:rwx,g:1003:r-x,d:u:1001:rwx,d:g::r-x,d:o::---"
            on("set a list", lambda: subprocess.run(["setfacl", "-m", rules, on.at("list")]).returncode)
            on("made by it", lambda: as_user(1001, [1002], lambda: made("list")))
            on("not without", lambda: as_user(1004, [1005], lambda: tried(lambda: write(on.at("list/n"), b""))))
            for name in ("", "/a", "/d"):
                on("list of " + name, lambda: subprocess.run(
                    ["getfacl", "-cnp", on.at("list" + name)], capture_output=True).stdout)
            on("of others", lambda: as_user(1004, [1005], lambda: subprocess.run(
                ["setfacl", "-m", "u:1004:rwx", on.at("list")], stderr=subprocess.DEVNULL).returncode))

    return both(source, mount, steps)


def strangers(source, mount):
    """A user makes files in a shared folder while root does outside the mount: he cuts off none of root's."""
    count = 1000
    os.mkdir(os.path.join(mount, "r"))
    os.chmod(os.path.join(mount, "r"), 0o1777)
    # The folders above are root's alone.
    folder = os.open(os.path.join(mount, "r"), os.O_RDONLY)
    turn = mmap.mmap(-1, 16)
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setresgid(1002, 1002, 1002)
        os.setresuid(1001, 1001, 1001)
        odd = 0
        for number in range(count):
            turn[:8] = (number + 1).to_bytes(8, "little")
            sum(range(number % 60 * 4))
            try:
                os.close(os.open(str(number), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600, dir_fd=folder))
            except OSError as error:
                odd += error.errno != errno.EACCES
            while int.from_bytes(turn[8:], "little") <= number:
                os.sched_yield()
        os._exit(min(odd, 1))
    own = 0  # files that the user made first: on a busy machine perhaps none, or all
    for number in range(count):
        while int.from_bytes(turn[:8], "little") <= number:
            os.sched_yield()
        sum(range(number // 60 % 60 * 4))
        try:
            write(os.path.join(source, f"r/{number}"), b"root", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            own += 1
        turn[8:] = (number + 1).to_bytes(8, "little")
    fail = [] if os.waitpid(child, 0)[1] == 0 else ["another error than EACCES"]
    os.close(folder)
    states = [os.stat(os.path.join(source, f"r/{number}")) for number in range(count)]
    cut = sum(state.st_uid == 0 and state.st_size != 4 for state in states)
    if cut:
        fail.append(f"{cut} of {count - own} of root's files were cut off")
    return fail


if __name__ == "__main__":
    problems = globals()[sys.argv[1]](sys.argv[2], sys.argv[3])
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
