#!/usr/bin/env python3
"""without.py WALL… -- PROGRAM ARGUMENT…: runs a program on a kernel that lacks seccomp, landlock or namespaces.

A seccomp filter of this program's plays the lack: it refuses the calls as such a kernel does.
"""
import ctypes
import errno
import os
import struct
import sys

walls = sys.argv[1:sys.argv.index("--")]
program = sys.argv[sys.argv.index("--") + 1:]
assert os.uname().machine == "x86_64", "the numbers of calls are this machine's"
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
NAMESPACES = 0x7E020000
code = []


def refuse(number, status, argument=None, bits=None, value=None):
    """Refuses a call, or the call where an argument has one of some bits, or a value."""
    if argument is None:
        code.extend([(EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSE | status)])
        return
    test = (ANY_BIT, 0, 1, bits) if bits else (EQUAL, 0, 1, value)
    code.extend([(EQUAL, 0, 3, number), (LOAD, 0, 0, 16 + 8 * argument), test, (RETURN, 0, 0, REFUSE | status),
                 (LOAD, 0, 0, 0)])


code.append((LOAD, 0, 0, 0))
if "landlock" in walls:
    for call in (444, 445, 446):
        refuse(call, errno.ENOSYS)
if "namespaces" in walls:
    refuse(56, errno.EPERM, 0, bits=NAMESPACES)
    refuse(272, errno.EPERM, 0, bits=NAMESPACES)
    refuse(435, errno.ENOSYS)
if "seccomp" in walls:
    refuse(317, errno.ENOSYS)
    refuse(157, errno.EINVAL, 0, value=22)
code.append((RETURN, 0, 0, ALLOW))

libc = ctypes.CDLL(None, use_errno=True)
instructions = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *step) for step in code))
description = ctypes.create_string_buffer(struct.pack("<H6xQ", len(code), ctypes.addressof(instructions)))
if os.geteuid() != 0:
    libc.prctl(38, 1, 0, 0, 0)
if libc.prctl(22, 2, description, 0, 0) != 0:
    sys.exit(f"without.py: {os.strerror(ctypes.get_errno())}")
os.execvp(program[0], program)
