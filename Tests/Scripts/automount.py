"""automount.py MOUNTPOINT COMMAND...: what systemd does for x-systemd.automount.

Mounts a direct autofs on MOUNTPOINT, has a stranger list it, runs COMMAND in the automounter's process group when the kernel
asks, says that it is done, and prints what the stranger saw, sorted. Everything is unmounted afterwards.
"""
import ctypes
import fcntl
import os
import signal
import struct
import subprocess
import sys

mountpoint, command = sys.argv[1], sys.argv[2:]
LIMIT = 20
libc = ctypes.CDLL(None, use_errno=True)


def control(number, handle, argument):
    """An ioctl of /dev/autofs (include/uapi/linux/auto_dev-ioctl.h); gives what it set the handle to."""
    order = struct.pack("=IIIiII", 1, 0, 24, handle, argument, 0)
    with open("/dev/autofs", "rb", buffering=0) as device:
        answer = fcntl.ioctl(device, 3 << 30 | 24 << 16 | 0x93 << 8 | number, order + b"")
    return struct.unpack("=IIIiII", answer)[3]


def open_mount(path, device):
    order = struct.pack("=IIIiII", 1, 0, 24 + len(path) + 1, -1, device, 0) + path.encode() + b"\0"
    buffer = bytearray(order)
    with open("/dev/autofs", "rb", buffering=0) as control_device:
        fcntl.ioctl(control_device, 3 << 30 | 24 << 16 | 0x93 << 8 | 0x74, buffer)
    return struct.unpack("=IIIiII", bytes(buffer[:24]))[3]


reading, writing = os.pipe()
options = f"fd={writing},pgrp={os.getpgrp()},minproto=5,maxproto=5,direct".encode()
if libc.mount(b"automount.py", mountpoint.encode(), b"autofs", 0, options) != 0:
    sys.exit(f"cannot mount autofs: {os.strerror(ctypes.get_errno())}")
os.close(writing)
stranger = None
try:
    handle = open_mount(mountpoint, os.stat(mountpoint).st_dev)
    look = "import os,sys; print('\\n'.join(sorted(os.listdir(sys.argv[1]))))"
    stranger = subprocess.Popen(
        [sys.executable, "-c", look, mountpoint], stdout=subprocess.PIPE, start_new_session=True, text=True)
    signal.alarm(LIMIT)
    packet = os.read(reading, 4096)
    version, kind, token = struct.unpack_from("=iiI", packet)
    if kind != 5:
        sys.exit(f"the kernel asks {kind}, not for a direct mount")
    status = subprocess.run(command, timeout=LIMIT, stdin=subprocess.DEVNULL).returncode
    control(0x76 if status == 0 else 0x77, handle, token)
    print(stranger.communicate(timeout=LIMIT)[0], end="")
    sys.exit(status)
finally:
    if stranger and stranger.poll() is None:
        stranger.kill()
    for _ in range(3):
        libc.umount2(mountpoint.encode(), 2)
