"""hung_readers.py MOUNT DAEMON SOURCE COUNT: COUNT readers of a source that hangs, while everything else is read.

MOUNT shows a hanging.py, whose process is SOURCE, by the process DAEMON. Prints the slowest of the other answers, in
milliseconds, and the daemon's threads: before, with hung readers, and after the source has come back.
"""
import os
import signal
import subprocess
import sys
import time

mount, daemon, source, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
LIMIT = 30


def threads():
    with open(f"/proc/{daemon}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Threads:"))


def run(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT)
    if done.returncode != 0:
        sys.exit(f"{words}: {done.stderr.decode()}")
    return done.stdout


def others():
    """Everything else, once; gives the slowest."""
    slowest = 0
    for words, wanted in (
        (["ls", mount], b"plain.txt"),
        (["cat", f"{mount}/plain.txt"], b"plain"),
        (["stat", "-c", "%n", f"{mount}/small.zip"], b"small.zip"),
        (["ls", f"{mount}/small.zip.contents"], b"inner.txt"),
        (["cat", f"{mount}/small.zip.contents/inner.txt"], b"inner"),
        (["ls", f"{mount}/inbox.mbox.messages"], b"000001"),
        (["cat", f"{mount}/large.zip.contents/large.bin"], None),
    ):
        start = time.monotonic()
        said = run(*words)
        slowest = max(slowest, time.monotonic() - start)
        if wanted is not None and wanted not in said:
            sys.exit(f"{words} gave {said[:200]}")
    return slowest


kinds = (
    ["cat", "{}/hang{}.bin"],
    ["stat", "{}/late{}.bin"],
    ["ls", "{}/hang{}.zip.contents"],
    ["ls", "{}/hang{}.mbox.messages"],
    ["cat", "{}/hang{}.eml.message/body.txt"],
    ["stat", "{}/hang{}.dat.contents"],
    ["ls", "{}/hang{}.mbox.views"],
    ["cat", "{}/hang{}.csv.as-html"],
)
others()
before = threads()
readers = []
try:
    for index in range(count):
        kind = kinds[index % len(kinds)]
        words = [word.format(mount, index) for word in kind]
        readers.append(subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    time.sleep(1)
    hung = [reader for reader in readers if reader.poll() is None]
    if len(hung) < count:
        done = next(reader for reader in readers if reader.poll() is not None)
        sys.exit(f"only {len(hung)} of {count} readers hang: {done.args} ended with {done.returncode}")
    slowest = max(others() for _ in range(3))
    during = threads()
    # Some are killed, the others see the source recover.
    for reader in readers[::2]:
        reader.kill()
    slowest = max(slowest, others())
finally:
    os.kill(source, signal.SIGUSR1)
for reader in readers:
    reader.wait(timeout=LIMIT)
others()
for _ in range(10 * LIMIT):
    after = threads()
    if after <= before + 60:
        break
    time.sleep(0.1)
print(f"{slowest * 1000:.0f} {before} {during} {after}")
