#!/usr/bin/env python3
"""killed.py FFMOUNT SOURCE MOUNT ROUNDS SEED: kills ffmount at random moments while files are written through its mount. What
was synced before, by whatever name it then had, must be in SOURCE; and the next mount must show it."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

ffmount, source, mount, rounds, seed = sys.argv[1:]
chance = random.Random(int(seed))
# Writes, syncs, and only then says so; some are saved as editors do, some appended to.
WRITER = r"""
import os, sys
mount, round = sys.argv[1:]
number = 0
while True:
    name, data = f"r{round}.{number}", (f"{round} {number} ".encode() * (number * 37 % 900 + 1))
    path = os.path.join(mount, name)
    file = os.open(path + ".new" if number % 3 else path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    os.write(file, data)
    if number % 2:
        os.pwrite(file, data[:5], 0)
    os.fsync(file)
    os.close(file)
    if number % 3:
        os.rename(path + ".new", path)
        folder = os.open(mount, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
    print(name, len(data), flush=True)
    number += 1
"""
synced = {}
for number in range(int(rounds)):
    daemon = subprocess.Popen([ffmount, "-f", "-o", "rw", source, mount], stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 20
        while not os.path.ismount(mount):
            if time.monotonic() > end:
                sys.exit("it did not mount")
            time.sleep(0.005)
        for name, size in synced.items():
            if os.stat(os.path.join(mount, name)).st_size != size:
                sys.exit(f"{name}: another size in the next mount")
        writer = subprocess.Popen([sys.executable, "-c", WRITER, mount, str(number)], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        time.sleep(0.05 + chance.random() * 0.25)
        daemon.send_signal(signal.SIGKILL)
        daemon.wait()
        said = writer.communicate(timeout=30)[0]
    finally:
        daemon.kill()
        daemon.wait()
        subprocess.run(["fusermount3", "-uz", mount], check=False)
    for line in said.splitlines():
        name, size = line.split()
        synced[name] = int(size)
        count = int(name.split(".")[1])
        data = f"{number} {count} ".encode() * (count * 37 % 900 + 1)
        if Path(source, name).read_bytes() != data:
            sys.exit(f"{name}: was synced and is not there as it was written")
print(f"{len(synced)} synced files in {rounds} rounds")
sys.exit(0 if synced else 1)
