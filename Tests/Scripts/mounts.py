#!/usr/bin/env python3
"""mounts.py BINARY SOURCE MOUNTPOINT COUNT: mounts and unmounts COUNT times, in the background as people do.

Each mount must show the source; afterwards no daemon and no mount may be left, and the last daemon must have held what
the first did: descriptors and threads.
"""

import os
import subprocess
import sys
import time

binary, source, mountpoint, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
names = sorted(os.listdir(source))


def is_mounted():
    return any(line.split()[4] == mountpoint for line in open("/proc/self/mountinfo"))


def daemons():
    """Processes that were started with this mountpoint."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = open(f"/proc/{process}/cmdline", "rb").read().split(b"\0")
        except OSError:
            continue
        if int(process) != os.getpid() and words[0] == os.fsencode(binary) and os.fsencode(mountpoint) in words:
            found.append(process)
    return found


def only_daemon():
    """The one that serves now. The one before it may take a moment to end after its mount is gone."""
    for _ in range(600):
        found = daemons()
        if len(found) == 1:
            return found[0]
        time.sleep(0.05)
    sys.exit(f"daemons of one mount: {found}")


def held(process):
    """Descriptors and threads at this moment."""
    status = dict(line.split(":", 1) for line in open(f"/proc/{process}/status"))
    return len(os.listdir(f"/proc/{process}/fd")), int(status["Threads"])


def settled(process, most=None):
    """What the daemon holds once it rests: the folder that was listed is closed when the kernel likes, and on a busy
    machine threads that were started to help end later. With `most`, ten seconds are given to come down to it."""
    least = held(process)
    for number in range(20 if most is None else 1000):
        now = held(process)
        least = min(least[0], now[0]), min(least[1], now[1])
        if most is not None and least[0] <= most[0] and least[1] <= most[1] + 1:
            break
        time.sleep(0.01)
    return least


def unmount():
    """Whatever looks at all mounts for a moment (df, a desktop, another test) makes this one busy for as long."""
    for attempt in range(100):
        said = subprocess.run(["fusermount3", "-u", mountpoint], stderr=subprocess.PIPE, text=True)
        if said.returncode == 0:
            return
        if "busy" not in said.stderr:
            break
        time.sleep(0.05)
    users = subprocess.run(["fuser", "-vm", mountpoint], stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True)
    sys.exit(f"{said.stderr}{users.stdout}")


first = last = None
for number in range(count):
    # Readers that a busy machine once needed stay, up to the limit: with two, there is one more at most.
    subprocess.run([binary, "-o", "max_threads=2", source, mountpoint], check=True)
    if not set(names) <= set(os.listdir(mountpoint)):
        sys.exit(f"mount {number} shows something else")
    if number in (0, count - 1):
        last = settled(only_daemon(), first)
        first = first or last
    unmount()

if is_mounted():
    sys.exit("still mounted")
for _ in range(600):
    if not daemons():
        break
    time.sleep(0.05)
else:
    sys.exit(f"left running: {daemons()}")
if last[0] > first[0] or last[1] > first[1] + 1:
    sys.exit(f"descriptors and threads were {first}, are {last}")
