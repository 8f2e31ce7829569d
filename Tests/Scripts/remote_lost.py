"""remote_lost.py FFMOUNT FFSERVE FOLDER: servers that end, come back, hang, or have something else by then.

Prints what is not as it should be, and at the end "done".
"""
import errno
import os
import signal
import subprocess
import sys
import threading
import time

from remote import Mount, attribute, complain, expect, failure, whole
from serving import Server

ffmount, ffserve, folder = sys.argv[1:]
source = os.path.join(folder, "shown")
SIZE = 40 << 20
os.makedirs(source)
data = os.urandom(SIZE)
for name in ["large", "other"]:
    with open(os.path.join(source, name), "wb") as file:
        file.write(data)
with open(os.path.join(source, "small"), "w") as file:
    file.write("small")


def server(port):
    return Server(ffserve, source, "--port", str(port))


def rest(file, begin):
    got = begin
    while True:
        piece = file.read(1 << 17)
        if not piece:
            return got
        got += piece


first = server(0).__enter__()
port = first.port
with Mount(ffmount, f"http://127.0.0.1:{port}", os.path.join(folder, "mnt"), "-o", "wait=4") as mount:
    # Killed and started again while a file is read.
    with open(mount.path("large"), "rb", buffering=0) as file:
        begin = file.read(1 << 17) + file.read(1 << 17)
        first.process.kill()
        first.process.wait()
        started = []
        timer = threading.Timer(1, lambda: started.append(server(port).__enter__()))
        timer.start()
        expect("a file across a restart", rest(file, begin) == data, True)
        timer.join()
    second = started[0]
    # Changed while it is read: never both.
    with open(mount.path("other"), "rb", buffering=0) as file:
        begin = file.read(1 << 17)
        with open(os.path.join(source, "other"), "r+b") as changed:
            changed.write(b"x" * SIZE)
        error = 0
        try:
            begin = rest(file, begin)
        except OSError as failed:
            error = failed.errno
        expect("a file that is changed", error, errno.ESTALE)
        expect("what was read of it", begin == data[:len(begin)], True)
    time.sleep(1.05)
    expect("the changed file, opened again", whole(mount.path("other")) == b"x" * SIZE, True)
    # Shorter, and gone.
    with open(mount.path("other"), "rb", buffering=0) as file:
        os.truncate(os.path.join(source, "other"), 1000)
        expect("a file that is cut", failure(os.pread, file.fileno(), 100, SIZE - 100)[0] in (0, errno.ESTALE), True)
    # One that does not answer, and one that is away.
    second.suspend()
    # Nothing is known of that name.
    code, seconds = failure(os.stat, mount.path("never asked for"))
    expect("a server that hangs", code, errno.EIO)
    if not 2 < seconds < 40:
        complain(f"it took {seconds:.1f} s to say that the server hangs")
    expect("the mount itself", failure(os.stat, mount.folder)[0], 0)
    second.process.send_signal(signal.SIGCONT)
    time.sleep(1.2)
    expect("the server again", sorted(os.listdir(mount.folder)), ["large", "other", "small"])
    second.process.kill()
    second.process.wait()
    time.sleep(0.6)
    code, seconds = failure(whole, mount.path("small"))
    expect("a server that is away", code, errno.EIO)
    if not 2 < seconds < 40:
        complain(f"it took {seconds:.1f} s to say that the server is away")
    code, seconds = failure(whole, mount.path("large"))
    if code != errno.EIO or seconds > 2:
        complain(f"the next one that asks got {code} after {seconds:.1f} s")
    if "cannot be reached" not in attribute(mount.folder, "error"):
        complain(f"the mount says no reason: {attribute(mount.folder, 'error')!r}")
    if "cannot be reached" not in mount.said:
        complain(f"the log says no reason: {mount.said!r}")
    # A reader who waits can be killed.
    third = server(port)
    third.__enter__()
    time.sleep(1.2)
    expect("the third server", whole(mount.path("small")), b"small")
    third.suspend()
    reader = subprocess.Popen(["cat", mount.path("large")], stdout=subprocess.DEVNULL)
    time.sleep(0.5)
    reader.kill()
    began = time.monotonic()
    reader.wait(10)
    if time.monotonic() - began > 8:
        complain(f"a reader took {time.monotonic() - began:.1f} s to be killed")
    # Unmounted while somebody waits, and the server hangs: `Mount` says how long it takes.
    waiting = subprocess.Popen(["ls", mount.path("")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    waiting.kill()
    waiting.wait(10)
third.process.kill()
third.process.wait()
print("done")
