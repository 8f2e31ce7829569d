"""open_sizes.py SOURCE MOUNT: what fstat(2) and reads give another user of open files that have become private. As root.

Files of a view give what they had when they were opened, real files what they have now. Prints what is wrong, and "done".
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


def count(file):
    """The number of bytes that can be read, or None if the source has changed."""
    try:
        return len(os.pread(file, 1 << 20, 0))
    except OSError as error:
        if error.errno not in (errno.ESTALE, errno.EIO):
            raise
        return None


def told(opened):
    return {name: (os.fstat(file).st_size, count(file)) for name, file in opened.items()}


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
        now = told(opened)
        expected = before if number == 0 else before | {"r.txt": (6000, 6000)}
        for name, (size, length) in expected.items():
            if now[name] not in ((size, length), (size, None if number and name != "r.txt" else length)):
                print(f"{name}: {now[name]} instead of {(size, length)}", flush=True)
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
