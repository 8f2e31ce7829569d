#!/usr/bin/env python3
"""delivered.py NAME SOURCE MOUNT [MESSAGES]: mail comes as deliverers bring it, while others read it; each message must be there
once and whole, in the mount and in its source. NAME is a function below, which says how it comes."""

import fcntl
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path


def message(sender, number):
    """A message of some lines, whose length and text follow from its number."""
    lines = "".join(f"line {line} of {sender}.{number}\n" for line in range(random.Random(sender * 1000 + number).randrange(1, 200)))
    return f"From s{sender}@x Fri May  3 10:00:00 2024\nSubject: {sender}.{number}\n\n{lines}\n".encode()


def at_once(count, work):
    """Runs `work(number)`, which gives what was wrong, in that many processes; gives all that was wrong."""
    children = []
    for number in range(count):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.write(writer, "\n".join(work(number) or []).encode()[:60_000])
                status = 0
            finally:
                os._exit(status)
        os.close(writer)
        children.append((child, reader))
    wrong = []
    for child, reader in children:
        with os.fdopen(reader) as answer:
            wrong += [line for line in answer.read().split("\n") if line]
        if os.waitpid(child, 0)[1]:
            wrong.append("a process failed")
    return wrong


def dot_lock(path, who):
    """As liblockfile does: whose link makes two of one has the lock, whatever link(2) answered."""
    own = f"{path}.{who}"
    end = time.monotonic() + 60
    while time.monotonic() < end:
        file = os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        os.write(file, b"%d\n" % os.getpid())
        os.close(file)
        try:
            os.link(own, path + ".lock")
        except FileExistsError:
            pass
        links = os.stat(own).st_nlink
        os.unlink(own)
        if links == 2:
            return
        time.sleep(0.002)
    raise TimeoutError("the lock is never free")


def mbox(source, mount, count=50):
    """Four deliverers append to one mailbox: with a lock file, fcntl(2) and flock(2), as Debian's policy says; a reader takes
    every second message away, as mail programs do, by writing the rest over it and cutting it off."""
    path = mount + "/mbox"
    Path(path).touch()
    senders = 4

    def locked(who, action):
        dot_lock(path, who)
        file = os.open(path, os.O_RDWR)
        try:
            fcntl.lockf(file, fcntl.LOCK_EX)
            fcntl.flock(file, fcntl.LOCK_EX)
            action(file)
        finally:
            os.close(file)
            os.unlink(path + ".lock")

    def deliver(sender):
        for number in range(count):
            def append(file, number=number):
                data = message(sender, number)
                end = os.lseek(file, 0, os.SEEK_END)
                for start in range(0, len(data), 1000):
                    os.write(file, data[start:start + 1000])
                os.fsync(file)
                if os.fstat(file).st_size != end + len(data):
                    raise ValueError("another size")
            locked(f"s{sender}", append)

    def read():
        """Half of the messages go to another file."""
        taken = []
        while len(taken) < senders * count // 4:
            def take(file):
                data = os.pread(file, 1 << 26, 0)
                if len(data) != os.fstat(file).st_size:
                    raise ValueError(f"{len(data)} bytes were read of {os.fstat(file).st_size}")
                whole = data.replace(b"\nFrom s", b"\n\0From s").split(b"\0")
                rest = b"".join(whole[1::2])
                os.pwrite(file, rest, 0)
                os.ftruncate(file, len(rest))
                os.fsync(file)
                taken.extend(whole[::2])
            locked("reader", take)
            time.sleep(0.01)
        with open(mount + "/taken", "wb") as file:
            file.write(b"".join(taken))

    wrong = at_once(senders + 1, lambda number: deliver(number) if number < senders else read())
    texts = [Path(place, name).read_bytes() for place in (mount, source) for name in ("mbox", "taken")]
    if texts[:2] != texts[2:]:
        wrong.append("the source has other mailboxes")
    text = b"".join(texts[:2])
    for sender in range(senders):
        for number in range(count):
            found = text.count(message(sender, number))
            if found != 1:
                wrong.append(f"message {sender}.{number} is there {found} times")
    if len(text) != sum(len(message(sender, number)) for sender in range(senders) for number in range(count)):
        wrong.append("there is something else")
    return wrong


def maildir(source, mount, count=50):
    """Three deliverers write to tmp and bring it to new by link and unlink, or by rename, some of them before all is written; a
    reader takes what is in new to cur."""
    for part in ("tmp", "new", "cur"):
        os.mkdir(f"{mount}/{part}")

    def deliver(sender):
        for number in range(count):
            name, data = f"{number}.s{sender}", message(sender, number)
            file = os.open(f"{mount}/tmp/{name}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            os.write(file, data)
            os.fsync(file)
            os.close(file)
            if sender == 0:
                os.rename(f"{mount}/tmp/{name}", f"{mount}/new/{name}")
            else:
                os.link(f"{mount}/tmp/{name}", f"{mount}/new/{name}")
                os.unlink(f"{mount}/tmp/{name}")

    def read():
        wrong, taken = [], set()
        while len(taken) < 3 * count:
            for name in sorted(os.listdir(f"{mount}/new")):
                if name.count(".") > 1:
                    continue
                os.rename(f"{mount}/new/{name}", f"{mount}/cur/{name}:2,S")
                data = Path(f"{mount}/cur/{name}:2,S").read_bytes()
                number, sender = name.split(".s")
                if data != message(int(sender), int(number)):
                    wrong.append(f"{name}: {len(data)} bytes, not those of the message")
                if name in taken:
                    wrong.append(f"{name} came again")
                taken.add(name)
            time.sleep(0.005)
        return wrong

    wrong = at_once(4, lambda number: deliver(number) if number < 3 else read())
    for place in (mount, source):
        for sender in range(3):
            for number in range(count):
                if Path(place, f"cur/{number}.s{sender}:2,S").read_bytes() != message(sender, number):
                    wrong.append(f"{number}.s{sender} has other bytes")
    return wrong


READER = """
import os, sys
for line in sys.stdin:
    name = line.strip()
    print(len(open(name, 'rb').read()), os.stat(name).st_size, flush=True)
"""
#: Appends by looking for the end, or by O_APPEND.
APPENDER = """
import os, sys
for line in sys.stdin:
    how, name = line.split()
    file = os.open(name, os.O_RDWR | (os.O_APPEND if how == 'append' else 0))
    os.lseek(file, 0, 2)
    os.write(file, b'END')
    os.close(file)
    print('done', flush=True)
"""


def written_on(source, mount, count=50):
    """A deliverer goes on writing after link(tmp, new) and unlink(tmp), as some do; another process reads what is there at once,
    and a third appends at its end."""
    wrong = []

    def started(program):
        return subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def asked(process, line):
        process.stdin.write(line + "\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    reader, appender = started(READER), started(APPENDER)
    for number in range(count):
        temporary, final = f"{mount}/t{number}", f"{mount}/n{number}"
        file = os.open(temporary, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o644)
        os.write(file, b"a" * 1000)
        os.link(temporary, final)
        os.unlink(temporary)
        sizes = [asked(reader, final)]
        for part in (b"b" * 1000, b"c" * 1000):
            os.write(file, part)
            sizes.append(asked(reader, final))
        asked(appender, ("append " if number % 2 else "seek ") + final)
        os.close(file)
        if sizes != ["1000 1000", "2000 2000", "3000 3000"]:
            wrong.append(f"{number}: its sizes are {sizes}")
        wanted = b"a" * 1000 + b"b" * 1000 + b"c" * 1000 + b"END"
        for place in (mount, source):
            if Path(place, f"n{number}").read_bytes() != wanted:
                wrong.append(f"{number}: what was appended is at another place")
    for process in (reader, appender):
        process.stdin.close()
        process.wait()
        process.stdout.close()
    return wrong


def procmail(source, mount, count=50):
    """procmail brings messages to a mailbox and to a mail folder, some processes at once."""
    for part in ("", "tmp", "new", "cur"):
        os.makedirs(f"{mount}/folder/{part}", exist_ok=True)
    # Without its set-ID bits: with another group than the user's the kernel keeps it out of a private mount.
    program = shutil.copy(shutil.which("procmail"), Path(source).parent / "procmail")
    rules = Path(source).parent / "procmailrc"
    rules.write_text(
        f"MAILDIR={mount}\nDEFAULT={mount}/box\nLOCKSLEEP=1\nLOGFILE={rules}.log\n:0 c\nfolder/\n:0 :\nbox\n")
    rules.chmod(0o600)

    def deliver(sender):
        for number in range(count):
            done = subprocess.run([program, "-m", rules], input=message(sender, number), capture_output=True)
            if done.returncode:
                return [f"procmail: {done.returncode} {done.stderr!r}"]
        return []

    wrong = at_once(4, deliver)
    for place in (mount, source):
        new = [path.read_bytes() for path in sorted(Path(place, "folder/new").iterdir()) if path.suffix != ".as-html"]
        for what, text in (("mailbox", Path(place, "box").read_bytes()), ("folder", b"".join(new))):
            for sender in range(4):
                for number in range(count):
                    # A mail folder's messages are without the line that parts those of a mailbox.
                    found = text.count(message(sender, number).split(b"\n", 1)[1])
                    if found != 1:
                        wrong.append(f"message {sender}.{number} is in the {what} {found} times")
    return wrong


if __name__ == "__main__":
    problems = globals()[sys.argv[1]](sys.argv[2], sys.argv[3], *map(int, sys.argv[4:]))
    print("\n".join(problems[:50]))
    sys.exit(1 if problems else 0)
