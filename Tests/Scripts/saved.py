#!/usr/bin/env python3
"""saved.py SOURCE MOUNT: saves a file again and again as editors and office programs do it (SAVES), in the mount and in a bare
folder: a plain file, one of two names, a symbolic link, one with a mode and attributes of its own; what each call says and what
is there afterwards must be the same, who had the file open sees what he should, and a page of the file follows each save."""

import os
import shutil
import stat
import sys
from pathlib import Path

from written import both, renameat2, seen, write

NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


def synced(path, data, flags=os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode=0o644):
    file = os.open(path, flags, mode)
    try:
        os.write(file, data)
        os.fsync(file)
    finally:
        os.close(file)


def like(path, other):
    """Gives a file the mode, owner and attributes of another."""
    state = os.stat(other)
    os.chmod(path, stat.S_IMODE(state.st_mode))
    os.chown(path, state.st_uid, state.st_gid)
    for key in os.listxattr(other):
        if key.startswith("user.") and not key.startswith("user.ffmount"):
            os.setxattr(path, key, os.getxattr(other, key))


def in_place(path, data):
    write(path, data, os.O_WRONLY | os.O_TRUNC)


def vim_by_renaming(path, data):
    """backupcopy=no: a probe of the folder, the old file as backup, a new one under its name."""
    folder = os.path.dirname(path)
    write(folder + "/4913", b"", NEW, 0o100644)
    os.unlink(folder + "/4913")
    os.rename(path, path + "~")
    synced(path, data, NEW)
    like(path, path + "~")
    os.unlink(path + "~")


def vim_by_copying(path, data):
    """backupcopy=yes: a copy as backup, and the file is written over; beside a swap file."""
    swap = os.open(os.path.dirname(path) + "/.f.swp", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.pwrite(swap, b"b0VIM" + bytes(4091), 0)
    shutil.copy2(path, path + "~")
    synced(path, data, os.O_WRONLY | os.O_TRUNC)
    os.unlink(path + "~")
    os.close(swap)
    os.unlink(os.path.dirname(path) + "/.f.swp")


def emacs(path, data):
    """A symbolic link as lock, a backup by renaming and the file anew."""
    folder = os.path.dirname(path)
    os.symlink("user@host.123:456", folder + "/.#f")
    if os.stat(path).st_nlink > 1:
        shutil.copy2(path, path + "~")
        synced(path, data)
    else:
        os.rename(path, path + "~")
        synced(path, data)
        like(path, path + "~")
    assert os.readlink(folder + "/.#f").startswith("user@")
    os.unlink(folder + "/.#f")


def office(path, data):
    """LibreOffice: a lock file, a new file beside it, which is copied over the old one, whose copy is kept meanwhile."""
    folder = os.path.dirname(path)
    write(folder + "/.~lock.f#", b",user,host,,;", NEW)
    synced(folder + "/lu1.tmp", data, NEW, 0o600)
    shutil.copyfile(path, folder + "/lu2.tmp")
    file = os.open(path, os.O_RDWR)
    os.ftruncate(file, 0)
    with open(folder + "/lu1.tmp", "rb") as origin:
        os.sendfile(file, origin.fileno(), 0, len(data) + 1)
    os.fsync(file)
    os.close(file)
    for name in ("lu1.tmp", "lu2.tmp", ".~lock.f#"):
        os.unlink(f"{folder}/{name}")


def word(path, data):
    """Microsoft's way, as by Samba: a new file, the old one to a third name, the new one to the old name."""
    folder = os.path.dirname(path)
    synced(folder + "/~WRD0000.tmp", data, NEW)
    like(folder + "/~WRD0000.tmp", path)
    os.rename(path, folder + "/~WRL0001.tmp")
    os.rename(folder + "/~WRD0000.tmp", path)
    os.unlink(folder + "/~WRL0001.tmp")


def glib(path, data):
    """GLib: a new file, the old one linked as backup, and the new one renamed over it."""
    folder = os.path.dirname(path)
    synced(folder + "/.goutputstream-1", data, NEW)
    like(folder + "/.goutputstream-1", path)
    if os.path.lexists(path + "~"):
        os.unlink(path + "~")
    os.link(path, path + "~")
    os.rename(folder + "/.goutputstream-1", path)


def by_exchange(path, data):
    synced(path + ".new", data, NEW)
    like(path + ".new", path)
    renameat2(path + ".new", path, 2)
    os.unlink(path + ".new")


def by_lock_file(path, data):
    """As git: the lock is the new file."""
    synced(path + ".lock", data, NEW)
    like(path + ".lock", path)
    os.rename(path + ".lock", path)
    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


SAVES = [in_place, vim_by_renaming, vim_by_copying, emacs, office, word, glib, by_exchange, by_lock_file]


def saved(source, mount):
    fail = []

    def steps(on):
        os.umask(0o022)
        for save in SAVES:
            for kind in ("plain", "linked", "symbolic", "own"):
                folder = on.at(f"{save.__name__}.{kind}")
                path = folder + "/f.csv"
                what = f"{save.__name__}, {kind}"
                os.mkdir(folder)
                real = folder + "/real" if kind == "symbolic" else path
                write(real, b"a,b\nfirst,1\n")
                if kind == "linked":
                    os.link(path, folder + "/other")
                elif kind == "symbolic":
                    os.symlink("real", path)
                elif kind == "own":
                    os.chmod(path, 0o640)
                    os.setxattr(path, "user.note", b"kept")
                reader = os.open(path, os.O_RDONLY)
                os.pread(reader, 100, 0)
                for number in range(3):
                    data = b"a,b\n" + b"saved,%d\n" % number * (number * 50 + 1)
                    on(what, lambda: save(path, data))
                    on(what + ": read", lambda: Path(path).read_bytes() == data)
                    on(what + ": who had it open", lambda: (os.pread(reader, 1000, 0), os.fstat(reader).st_nlink))
                    on(what + ": names", lambda: sorted(name for name in os.listdir(folder) if ".as-" not in name))
                    page = path + ".as-html"
                    if on.path.startswith(str(mount)) and kind == "plain":
                        if not seen(lambda: b"<td class=n>%d\n" % number in Path(page).read_bytes()):
                            fail.append(f"{what}: the page of the file is not that of save {number}")
                os.close(reader)
                on(what + ": attributes", lambda: [key for key in os.listxattr(path) if key == "user.note"])

    return both(source, mount, steps) + fail


if __name__ == "__main__":
    problems = saved(sys.argv[1], sys.argv[2])
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
