#!/usr/bin/env python3
"""refused_writes.py MOUNT FILE FOLDER: every kind of write below MOUNT must fail with EROFS; names are relative."""

import ctypes
import errno
import os
import sys

mount, file, folder = sys.argv[1:]
os.chdir(mount)
# Attributes through a descriptor opened for reading.
held = os.open(file, os.O_RDONLY)
held_folder = os.open(folder, os.O_RDONLY)

ATTEMPTS = {
    "open for writing": lambda: os.open(file, os.O_WRONLY),
    "open for both": lambda: os.open(file, os.O_RDWR),
    "open for appending": lambda: os.open(file, os.O_WRONLY | os.O_APPEND),
    "open, truncating": lambda: os.open(file, os.O_RDONLY | os.O_TRUNC),
    "open, creating": lambda: os.open(folder + "/new", os.O_WRONLY | os.O_CREAT),
    "open, creating, for reading": lambda: os.open(folder + "/new", os.O_RDONLY | os.O_CREAT),
    "unnamed file": lambda: os.open(folder, os.O_TMPFILE | os.O_RDWR),
    "truncate": lambda: os.truncate(file, 0),
    "mkdir": lambda: os.mkdir(folder + "/new"),
    "rmdir": lambda: os.rmdir(folder),
    "unlink": lambda: os.unlink(file),
    "rename": lambda: os.rename(file, folder + "/new"),
    "rename in place": lambda: os.rename(file, file + ".new"),
    "link": lambda: os.link(file, folder + "/new"),
    "symlink": lambda: os.symlink("x", folder + "/new"),
    "mkfifo": lambda: os.mkfifo(folder + "/new"),
    "chmod": lambda: os.chmod(file, 0o644),
    "fchmod": lambda: os.fchmod(held, 0o644),
    "chmod of a folder": lambda: os.fchmod(held_folder, 0o755),
    "chown": lambda: os.chown(file, os.getuid(), os.getgid()),
    "utime": lambda: os.utime(file),
    "utime of a folder": lambda: os.utime(folder, (1, 1)),
    "setxattr": lambda: os.setxattr(file, "user.new", b"x"),
    "setxattr of a folder": lambda: os.setxattr(folder, "user.new", b"x"),
    "removexattr": lambda: os.removexattr(file, "user.plain"),
}

failures = []
for what, attempt in ATTEMPTS.items():
    try:
        attempt()
        failures.append(f"{what}: went through")
    except OSError as error:
        # Linux reports EOPNOTSUPP if the file system does not support unnamed files; either error is accepted.
        if error.errno != errno.EROFS and not (what == "unnamed file" and error.errno == errno.EOPNOTSUPP):
            failures.append(f"{what}: {error}")
libc = ctypes.CDLL(None, use_errno=True)
for path in file, folder:
    if libc.access(path.encode(), os.W_OK) == 0:
        failures.append(f"access({path}, W_OK): granted")
    elif ctypes.get_errno() != errno.EROFS:
        failures.append(f"access({path}, W_OK): {os.strerror(ctypes.get_errno())}")
print("\n".join(failures))
sys.exit(1 if failures else 0)
