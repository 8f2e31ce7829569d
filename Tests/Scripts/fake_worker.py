#!/usr/bin/env python3
"""fake_worker.py: plays ffconvert for tests. What it does with a job, the input's first line says:

  echo            writes "PID RECIPE" and the input to the output; so for anything that is no word of this list
  pages N         has N pages; makes of one what echo does
  slow SECONDS    the same, later
  half            writes the first half of that
  crash           ends by SIGSEGV
  hang            never answers; `spin`: nor rests
  exit STATUS     ends by itself
  garbage         answers with noise; `long`: with too much of it; `other`: as if to another job; `lie`: claims more bytes
                  than it wrote; `close`: closes the socket and lives on
  eat MIB         takes memory, then hangs
  say LINES       writes lines to standard error, then does what echo does
  fail KIND TEXT  answers with a failure
  full            fails for want of room unless the output lies in memory
  flood MIB       writes so much, then hangs
  once FILE WORD… what the rest says, the first time: then there is FILE, and it does what echo does
  last            takes no more jobs, does what echo does, and ends
  gate FILE SIZE  makes the rest of the input, the first half of it before there is FILE; `known` for SIZE: measures it
  series N LIST   of a series, makes N files "PLACE of INPUT"; LIST is what it says of their sizes, with commas
  state           writes what it is started with: the input's flags, and its arguments
  variables       writes the names of its environment
"""

import array
import ctypes
import fcntl
import os
import socket
import struct
import sys
import time

work = socket.socket(fileno=3)
print("fake sandbox in force", file=sys.stderr, flush=True)


def answer(number, failure, value, text=b""):
    work.send(struct.pack("<QQQ", number, failure, value) + text)


while True:
    message, control, _, _ = work.recvmsg(4096, socket.CMSG_SPACE(8))
    if not message:
        break
    files = array.array("i")
    for _, _, data in control:
        files.frombytes(data)
    number, start, size, document, limit, _ = struct.unpack("<6Q", message[:48])
    recipe = message[48:].decode()
    data = os.pread(files[0], size, start)
    words = data.split(b"\n")[0].split()
    if words[:1] == [b"once"]:
        words = [b"echo"] if os.path.exists(words[1]) else words[2:] + [open(words[1], "w").close()][1:]
    word, value = (words + [b"", b""])[:2]
    if word == b"gate":
        made = data.split(b"\n", 1)[1]
        if recipe.startswith("measure "):
            answer(number, 0, len(made) if words[2:] == [b"known"] else 0)
        elif recipe.startswith("part "):
            first, count = map(int, recipe.split()[1:3])
            os.pwrite(files[1], made[first:first + count], 0)
            answer(number, 0, count)
        else:
            half = len(made) // 2
            os.pwrite(files[1], made[:half], 0)
            answer(number, 256, half, struct.pack("<Q", 500))
            while not os.path.exists(value):
                time.sleep(0.01)
            os.pwrite(files[1], made[half:], half)
            answer(number, 0, len(made))
        for file in files:
            os.close(file)
        continue
    if word == b"series" and recipe.startswith("series "):
        parts = [b"%d of %s" % (place, data) for place in range(min(int(value), int(recipe.split()[1])))]
        os.pwrite(files[1], b"".join(parts), 0)
        sizes = b",".join(b"%d" % len(part) for part in parts)
        answer(number, 0, sum(map(len, parts)), (words[2] if words[2:] else sizes).replace(b",", b" "))
        for file in files:
            os.close(file)
        continue
    # The process ID outside its namespace: inside, it is 1.
    made = os.readlink("/proc/self").encode() + b" %s\n" % recipe.encode() + data
    if word == b"last":
        work.shutdown(socket.SHUT_RD)
    if word == b"state":
        made += b"\n%d %s" % (fcntl.fcntl(files[0], fcntl.F_GETFL) & os.O_ACCMODE, " ".join(sys.argv[1:]).encode())
    if word == b"variables":
        made += b"\n" + " ".join(sorted(os.environ)).encode()
    if word == b"crash":
        ctypes.string_at(0)
    elif word == b"spin":
        while True:
            pass
    elif word == b"flood":
        for place in range(int(value)):
            os.pwrite(files[1], bytes(1 << 20), place << 20)
        time.sleep(1000)
    elif word in (b"hang", b"eat"):
        memory = bytearray(int(value or 0) << 20)
        memory[::4096] = b"x" * len(memory[::4096])
        time.sleep(1000)
    elif word == b"exit":
        os._exit(int(value))
    elif word == b"garbage":
        work.send(b"\xff" * 30)
    elif word == b"long":
        work.send(bytes(8192))
    elif word == b"other":
        answer(number + 1, 0, 0)
    elif word == b"close":
        work.close()
        time.sleep(1000)
    elif word == b"fail":
        answer(number, int(value), 0, b" ".join(words[2:]))
    elif word == b"full" and not os.readlink("/proc/self/fd/%d" % files[1]).startswith("/memfd:"):
        answer(number, 9, 0, b"no room on the disk")
    elif recipe.startswith("count "):
        if word == b"slow":
            time.sleep(float(value))
        answer(number, 0, int(value)) if word == b"pages" else answer(number, 1, 0, b"expected a PDF")
    else:
        if word == b"slow":
            time.sleep(float(value))
        made = made[:len(made) // 2] if word == b"half" else made
        for line in range(int(value or 0) if word == b"say" else 0):
            print("line", line, file=sys.stderr, flush=True)
        os.pwrite(files[1], made, 0)
        answer(number, 0, len(made) + (word == b"lie"))
        if word == b"last":
            time.sleep(0.3)
            break
    for file in files:
        os.close(file)
