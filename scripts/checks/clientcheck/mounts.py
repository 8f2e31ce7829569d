"""Clients that mount the server: rclone and davfs2."""

import os
import subprocess
import time

from . import files
from .tools import Skipped, Failed, need, reporting, run


def may_mount():
    if os.getuid() != 0 or not os.access("/dev/fuse", os.W_OK):
        raise Skipped("mounting needs root and /dev/fuse")


@reporting
def rclone(stage):
    need("rclone", "fusermount3")
    may_mount()
    target, home = stage.scratch("mount"), stage.scratch("home")
    process = subprocess.Popen(
        ["rclone", "mount", "--read-only", ":webdav:", target, f"--webdav-url={stage.dav}", "--webdav-vendor=other", "--log-level=ERROR"],
        env={**os.environ, "HOME": home, "RCLONE_CONFIG": os.path.join(home, "none")})  # fmt: skip
    try:
        for _ in range(100):
            if os.path.ismount(target):
                break
            time.sleep(0.1)
        else:
            raise Failed("it is not mounted")
        wrong = files.differences(target, stage.shown, {files.RAW})
    finally:
        subprocess.run(["fusermount3", "-uz", target], check=False)
        process.terminate()
        process.wait(10)
    return f"{len(stage.shown)} files but the one whose name is not UTF-8", wrong


@reporting
def davfs2(stage):
    need("mount.davfs")
    may_mount()
    target, home = stage.scratch("mount"), stage.scratch("home")
    configuration = os.path.join(home, "davfs2.conf")
    with open(configuration, "w") as file:
        # Its buffer is smaller than what Linux 6.15 and later ask of a folder at once, which it then says is invalid.
        file.write("use_locks 0\nask_auth 0\nbuf_size 64\n")
    run(["mount", "-t", "davfs", "-o", f"ro,conf={configuration}", stage.dav, target], stdin=subprocess.DEVNULL, timeout=30)
    try:
        wrong = files.differences(target, stage.shown)
    finally:
        run(["umount", target], timeout=60)
    return f"{len(stage.shown)} files, with buf_size 64", wrong
