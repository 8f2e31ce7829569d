"""elsewhere_signalled.py FFMOUNT FOLDER: programs that a signal reaches while they wait for a server can be killed afterwards.

Prints what is not as it should be, and at the end "done".
"""
import os
import signal
import subprocess
import sys
import threading
import time

from elsewhere import File, Web
from remote import Mount, complain, expect

ffmount, folder = sys.argv[1:]
mnt, run = os.path.join(folder, "mnt"), os.path.join(folder, "run")
os.makedirs(run, mode=0o700, exist_ok=True)
os.environ.update(XDG_RUNTIME_DIR=run, XDG_CACHE_HOME=os.path.join(folder, "cache"), HOME=folder)
released, asked = threading.Event(), threading.Event()


def listed(name, *links):
    """Answers with a listing, as nginx makes it."""
    lines = "".join(f'<a href="{link}">{link}</a>  01-Jan-2024 00:00  -\n' for link in links)
    page = f'<html><head><title>Index of {name}</title></head><body><pre><a href="../">../</a>\n{lines}</pre></body></html>'
    return lambda handler, _: handler.say(200, page.encode(), {"Content-Type": "text/html"})


def late(handler, file):
    asked.set()
    released.wait(60)
    listed("/files/slow/")(handler, file)


web = Web({"/files/": File(b"", answer=listed("/files/", "slow/")), "/files/slow/": File(b"", answer=late)})
READER = """
import os, signal, sys
signal.signal(signal.SIGUSR1, lambda *_: None)
print("begun", flush=True)
os.listdir(sys.argv[1])
"""
with Mount(ffmount, web.url + "/files/", mnt):
    # The mount of the source, whose processes wait for the server.
    inner = os.path.join(run, "ffmount", os.listdir(os.path.join(run, "ffmount"))[0])
    reader = subprocess.Popen([sys.executable, "-c", READER, os.path.join(inner, "slow")], stdout=subprocess.PIPE)
    reader.stdout.readline()
    if not asked.wait(10):
        complain("nothing asks the server")
    time.sleep(0.3)
    # The system call continues.
    reader.send_signal(signal.SIGUSR1)
    time.sleep(0.3)
    expect("after a signal that it handles", reader.poll(), None)
    reader.kill()
    try:
        expect("after SIGKILL", reader.wait(5), -9)
    except subprocess.TimeoutExpired:
        complain("a program that waits for the server cannot be killed after another signal")
    released.set()
    reader.wait()
print("done", flush=True)
