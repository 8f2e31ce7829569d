"""open_sizes.py SOURCE MOUNT: what fstat(2) and reads give another user of open files that have become private. As root.

A file that is only private gives what it had. When its source has changed, too, a real file gives its present bytes. A
file of a view gives bytes of the state that was opened, or ESTALE. Prints what is wrong, and "done".
"""
import errno
import io
import os
import sys
import time
import zipfile

source, mount = sys.argv[1:]
USER = 4001
NAMES = ["r.txt", "a.zip.contents/x", "b.zip.contents/x", "t.csv.as-txt", "t.csv.as-html"]


def write(name, data):
    with open(f"{source}/{name}", "wb") as file:
        file.write(data)


def archive(text, method):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        entry = zipfile.ZipInfo("x")
        entry.external_attr, entry.compress_type = 0o100644 << 16, method
        file.writestr(entry, text)
    return data.getvalue()


def fill(text, count):
    write("r.txt", text * count)
    write("new.zip", archive(text * count, zipfile.ZIP_DEFLATED))
    os.rename(f"{source}/new.zip", f"{source}/a.zip")
    write("b.zip", archive(text * count, zipfile.ZIP_STORED))
    write("t.csv", b"%s,1\n" % text * count)


def answer(call, *words):
    """The value of a call, or the name of its error."""
    try:
        return call(*words)
    except OSError as error:
        return errno.errorcode[error.errno]


def told(opened):
    return {name: (answer(lambda: os.fstat(file).st_size), answer(os.pread, file, 1 << 20, 0))
            for name, file in opened.items()}


def check(before, now, is_changed):
    for name, (size, data) in now.items():
        if not is_changed:
            is_right = (size, data) == before[name]
        elif name == "r.txt":
            is_right = (size, data) == (6000, b"secret" * 1000)
        else:
            is_right = data in (before[name][1], "ESTALE") and (size != "ESTALE" or data == "ESTALE")
        if not is_right:
            print(f"{name}: {size}, {data[:100]} instead of {before[name]}", flush=True)


fill(b"public", 10)
time.sleep(.1)
(ready, tell), (changed, go) = os.pipe(), os.pipe()
if not os.fork():
    os.setgroups([])
    os.setgid(USER)
    os.setuid(USER)
    opened = {name: os.open(f"{mount}/{name}", os.O_RDONLY) for name in NAMES}
    before = told(opened)
    os.write(tell, b"1")
    for number in range(2):
        os.read(changed, 1)
        check(before, told(opened), number == 1)
        os.write(tell, b"1")
    os._exit(0)
os.read(ready, 1)
for name in os.listdir(source):
    os.chmod(f"{source}/{name}", 0o600)
os.write(go, b"1")
os.read(ready, 1)
fill(b"secret", 1000)
os.chmod(f"{source}/a.zip", 0o600)
# The mount's user sees the new state, whose nodes may be those of the open files.
for name in NAMES:
    with open(f"{mount}/{name}", "rb") as file:
        file.read()
time.sleep(1)
os.write(go, b"1")
os.read(ready, 1)
os.wait()
print("done")
