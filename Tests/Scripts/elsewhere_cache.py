"""elsewhere_cache.py FFMOUNT FOLDER: what is kept of sources elsewhere: by later mounts, offline, damaged, full, and killed.

Prints what is not as it should be, and at the end "done".
"""
import errno
import io
import os
import random
import signal
import subprocess
import sys
import threading
import time
import zipfile

from elsewhere import File, Web
from remote import Mount, attribute, complain, expect, failure, readers, whole

ffmount, folder = sys.argv[1:]
mnt, second = os.path.join(folder, "mnt"), os.path.join(folder, "second")
run, cache = os.path.join(folder, "run"), os.path.join(folder, "cache")
blocks = os.path.join(cache, "ffmount", "blocks")
for path in (run, cache):
    os.makedirs(path, mode=0o700, exist_ok=True)
os.environ.update(XDG_RUNTIME_DIR=run, XDG_CACHE_HOME=cache, HOME=folder)
random.seed(11)
SECRET = "X-Signature=3f9cb1e07d"

member = random.randbytes(20 << 20)
made = io.BytesIO()
with zipfile.ZipFile(made, "w") as out:
    out.writestr("member.bin", member)
    # Larger than what is read ahead.
    out.writestr("unread.bin", random.randbytes(16 << 20))
    out.writestr("read me.txt", b"what it is\n" * 1000)
plain = random.randbytes(3_000_000)


def listing(names):
    body = b"<title>Index of /f/</title><h1>Index of /f/</h1><a href='../'>../</a>" + b"".join(
        b"<a href='%b'>x</a>" % name.encode() for name in names)
    return File(body, answer=lambda handler, file: handler.say(200, file.body, {"Content-Type": "text/html"}) or True)


web = Web({"/big.zip": File(made.getvalue()), f"/big.zip?{SECRET}": File(made.getvalue()), "/plain.zip": File(plain),
           "/f/": listing(["a.bin", "b.bin"]), "/f/a.bin": File(plain), "/f/b.bin": File(plain[::-1])})


def kept():
    return sorted(os.listdir(blocks)) if os.path.isdir(blocks) else []


def settled():
    """Waits until the processes that read the server have written the last blocks, and have ended."""
    until = time.monotonic() + 60
    while found := readers(run):
        if time.monotonic() > until:
            raise SystemExit(f"the processes {found} do not end")
        time.sleep(0.05)



def asked(body):
    """The requests that `body` makes, and the bytes of the answers. Of a version whose answer is some seconds old is asked again:
    on a busy machine `body` may take so long, and one request a second does not count."""
    count, sent, begun = len(web.asked), web.sent, time.monotonic()
    body()
    spare = min(int(time.monotonic() - begun), web.sent - sent)
    return len(web.asked) - count - spare, web.sent - sent - spare


def fresh(path, size, offset):
    """Bytes that come from the program, not from the kernel's memory."""
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return os.pread(file.fileno(), size, offset)


def read_member(address, *options):
    with Mount(ffmount, address, mnt, *options) as mount:
        expect(f"the member of {address}", whole(mount.path("member.bin")) == member, True)


def keep_member(address):
    """Reads it until all is kept. A mount that ends on a busy machine does not wait for its last blocks."""
    for _ in range(3):
        read_member(address)
        settled()


# A later mount needs no bytes but the one that answers what the size is, if the first answer is some seconds old.
address = web.url + "/big.zip"
keep_member(address)
count, sent = asked(lambda: read_member(address))
if count > 2 or sent > count:
    complain(f"a second mount costs {count} requests and {sent} bytes")

# So does one beside another, and one of a signed address that is not kept. The folder is for its user alone.
settled()
with Mount(ffmount, address, second):
    count, sent = asked(lambda: read_member(address))
    if count > 2 or sent > count:
        complain(f"a mount beside another costs {count} requests and {sent} bytes")
keep_member(f"{address}?{SECRET}")
count, sent = asked(lambda: read_member(f"{address}?{SECRET}"))
if count > 2 or sent > count:
    complain(f"a signed address costs {count} requests and {sent} bytes")
for where, _, names in os.walk(cache):
    expect(f"the permissions of {where}", oct(os.stat(where).st_mode & 0o777), "0o700")
    for name in names:
        path = os.path.join(where, name)
        expect(f"the permissions of {path}", oct(os.stat(path).st_mode & 0o077), "0o0")
        with open(path, "rb") as file:
            if SECRET.split("=")[1].encode() in file.read():
                complain(f"the query is in {path}")
if os.geteuid() == 0:
    os.chmod(folder, 0o755)
    for path in (blocks, os.path.join(blocks, kept()[0]), os.path.join(cache, "ffmount", "index.sqlite")):
        for tool in ("ls", "cat"):
            ended = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", tool, path], capture_output=True)
            expect(f"{tool} {path} by another user", (ended.returncode != 0, ended.stdout), (True, b""))

# Offline: what was read, and nothing else; with a reason.
settled()
count = len(web.asked)
with Mount(ffmount, address, mnt, "-o", "offline") as mount:
    expect("the names", sorted(os.listdir(mnt)), ["member.bin", "read me.txt", "unread.bin"])
    expect("offline", whole(mount.path("member.bin")) == member, True)
    expect("offline", failure(whole, mount.path("unread.bin"))[0], errno.EIO)
    said = subprocess.run([ffmount, "why", mount.path("unread.bin")], capture_output=True, text=True).stdout
    if "-o offline" not in said or run in said:
        complain(f"the reason: {said!r}")
with Mount(ffmount, web.url + "/f/", mnt, "-o", "views=none") as mount:
    before = sorted((entry.name, entry.stat().st_size, entry.stat().st_mtime) for entry in os.scandir(mnt))
    expect("a file of a folder", whole(mount.path("a.bin")) == plain, True)
settled()
count = len(web.asked)
with Mount(ffmount, web.url + "/f/", mnt, "-o", "views=none,offline") as mount:
    expect("a folder", sorted((entry.name, entry.stat().st_size, entry.stat().st_mtime) for entry in os.scandir(mnt)), before)
    expect("a file of a folder", whole(mount.path("a.bin")) == plain, True)
    expect("another", failure(whole, mount.path("b.bin"))[0], errno.EIO)
    if "-o offline" not in attribute(mount.path("b.bin"), "error"):
        complain(f"the reason: {attribute(mount.path('b.bin'), 'error')!r}")
    expect("nothing", failure(os.stat, mount.path("nothing"))[0], errno.ENOENT)
for name in ("/f/a.bin", "/nothing.zip"):
    ended = subprocess.run([ffmount, web.url + name, mnt, "-o", "offline"], capture_output=True, text=True)
    expect(f"{name} offline", (ended.returncode, "nothing of it has been kept" in ended.stderr), (66, True))
expect("requests of offline mounts", len(web.asked) - count, 0)

# Damaged blocks are replaced by reading with the server, also those that come by read-ahead.
for name in kept():
    path = os.path.join(blocks, name)
    # The key is smaller.
    if os.path.isfile(path) and os.path.getsize(path) > 1000:
        with open(path, "r+b") as file:
            file.seek(500)
            file.write(b"damaged")
keep_member(address)
read_member(address, "-o", "offline")
settled()

# Another version has other bytes, and is the one that is kept.
other = random.randbytes(20 << 20)
made = io.BytesIO()
with zipfile.ZipFile(made, "w") as out:
    out.writestr("member.bin", other)
web.files["/big.zip"] = File(made.getvalue())
for options in ((), ("-o", "offline")):
    with Mount(ffmount, address, mnt, *options) as mount:
        expect("another version", whole(mount.path("member.bin")) == other, True)
    settled()


# Versions that cannot be told apart are not kept.
def tagged(tag):
    def answer(handler, file):
        first, last = (handler.headers["Range"][6:].split("-") + [""])[:2]
        last = min(int(last or len(file.body) - 1), len(file.body) - 1)
        headers = {"Content-Range": f"bytes {first}-{last}/{len(file.body)}", "Last-Modified": "Tue, 14 Nov 2023 22:13:20 GMT"}
        handler.say(206, file.body[int(first):last + 1], {**headers, **({"ETag": tag} if tag else {})})
    return answer


for name, tag in ("weak", 'W/"1"'), ("none", None):
    web.files[f"/{name}/"] = listing(["x.bin"])
    web.files[f"/{name}/x.bin"] = File(plain, answer=tagged(tag))
    before = kept()
    with Mount(ffmount, f"{web.url}/{name}/", mnt, "-o", "views=none") as mount:
        expect(name, whole(mount.path("x.bin")) == plain, True)
    settled()
    expect(f"kept of a version with the tag {tag}", len(set(kept()) - set(before)), 0)
    with Mount(ffmount, f"{web.url}/{name}/", mnt, "-o", "views=none,offline") as mount:
        expect(f"{name} offline", failure(whole, mount.path("x.bin"))[0], errno.EIO)

# Answers that end too early, or are of another version: nothing of them is served later.
calls = [0]


def unreliable(handler, file):
    calls[0] += 1
    start = int(handler.headers["Range"][6:].split("-")[0])
    if start == 0 or calls[0] % 3 == 0:
        return False
    headers = {"ETag": file.tag, "Content-Range": f"bytes {start}-{len(file.body) - 1}/{len(file.body)}",
               "Last-Modified": "Tue, 14 Nov 2023 22:13:20 GMT"}
    if calls[0] % 3 == 1:
        handler.say(206, file.body[start:start + 100_000], headers, len(file.body) - start)
    else:
        handler.say(206, bytes(len(file.body) - start), {**headers, "ETag": '"other"'})
    return True


web.files["/u/"] = listing(["x.bin"])
web.files["/u/x.bin"] = File(plain, answer=unreliable)
for _ in range(3):
    with Mount(ffmount, web.url + "/u/", mnt, "-o", "views=none,wait=5") as mount:
        try:
            expect("an unreliable server", whole(mount.path("x.bin")) == plain, True)
        except OSError:
            pass
    settled()
web.files["/u/x.bin"].answer = None
with Mount(ffmount, web.url + "/u/", mnt, "-o", "views=none") as mount:
    expect("after an unreliable server", whole(mount.path("x.bin")) == plain, True)

# Blocks that are changed, cut, swapped and removed while they are used.
web.files["/m/"] = listing(["x.bin"])
web.files["/m/x.bin"] = File(plain)
before = set(kept())
with Mount(ffmount, web.url + "/m/", mnt, "-o", "views=none") as mount:
    whole(mount.path("x.bin"))
    inner = [line.split()[4] for line in open("/proc/self/mountinfo") if "fuse.ffremote" in line and run in line]
    inner = os.path.join(inner[0].replace("\\040", " "), "x.bin")
    time.sleep(1)
    mine = sorted(set(kept()) - before)
    expect("the blocks", len(mine) >= len(plain) >> 16, True)
    for number in range(1000):
        path = os.path.join(blocks, random.choice(mine))
        try:
            with open(path, "r+b") as file:
                size = os.fstat(file.fileno()).st_size
                at = random.randrange(size)
                if number % 50 == 0:
                    file.truncate(at)
                elif number % 51 == 0:
                    with open(os.path.join(blocks, random.choice(mine)), "rb") as another:
                        file.write(another.read())
                else:
                    old = os.pread(file.fileno(), 1, at)
                    os.pwrite(file.fileno(), bytes([old[0] ^ random.randrange(1, 256)]), at)
        except FileNotFoundError:
            pass
        at = random.randrange(len(plain))
        if fresh(inner, 100_000, at) != plain[at:at + 100_000]:
            complain(f"wrong bytes at {at} after a change of {path}")
    # A link in place of the folder: nothing is read from it or written through it.
    elsewhere = os.path.join(folder, "elsewhere")
    os.mkdir(elsewhere, 0o700)
    # The blocks of the last reads are kept first.
    time.sleep(1)
    os.rename(blocks, blocks + ".old")
    os.symlink(elsewhere, blocks)
    for at in range(0, len(plain), 200_000):
        expect(f"through a link, at {at}", fresh(inner, 100_000, at) == plain[at:at + 100_000], True)
    time.sleep(0.5)
    expect("what was written through a link", os.listdir(elsewhere), [])
    os.remove(blocks)
settled()
subprocess.run([ffmount, "cache", "clear"], check=True, stdout=subprocess.DEVNULL)
expect("after it was cleared", kept(), [])

# Killed while it fills the cache, 20 times: what is kept is right.
for number in range(20):
    process = subprocess.Popen([ffmount, "-f", web.url + "/f/", mnt, "-o", "views=none,wait=1"], stderr=subprocess.DEVNULL)
    for _ in range(400):
        if os.path.ismount(mnt):
            break
        time.sleep(0.02)
    reader = threading.Thread(target=lambda: failure(whole, os.path.join(mnt, "b.bin")), daemon=True)
    reader.start()
    time.sleep(random.uniform(0, 0.06))
    for pid in readers(run):
        os.kill(pid, signal.SIGKILL)
    subprocess.run(["fusermount3", "-uz", mnt])
    process.wait(20)
    reader.join(20)
with Mount(ffmount, web.url + "/f/", mnt, "-o", "views=none,offline") as mount:
    for at in range(0, len(plain), 65536):
        # Not even its attributes may have been kept.
        try:
            with open(mount.path("b.bin"), "rb") as file:
                expect("after kills, offline", os.pread(file.fileno(), 65536, at) == plain[::-1][at:at + 65536], True)
        except OSError as error:
            expect("after kills, offline", error.errno, errno.EIO)
with Mount(ffmount, web.url + "/f/", mnt, "-o", "views=none") as mount:
    expect("after kills", whole(mount.path("b.bin")) == plain[::-1], True)

# Offline, with holes: what is kept is right, and nothing is short.
settled()
for name in kept():
    if len(name) == 64 and random.random() < 0.3:
        os.remove(os.path.join(blocks, name))
with Mount(ffmount, web.url + "/f/", mnt, "-o", "views=none,offline") as mount:
    with open(mount.path("b.bin"), "rb") as file:
        for at in list(range(0, len(plain), 65536)) * 2:
            try:
                found, wanted = os.pread(file.fileno(), 65536, at), plain[::-1][at:at + 65536]
                if found != wanted:
                    complain(f"with holes, at {at}: {len(found)} bytes of {len(wanted)}, {'right' if wanted.startswith(found) else 'wrong'} ones")
            except OSError as error:
                expect(f"with holes, at {at}", error.errno, errno.EIO)

# A bound, a disk that is full, and no folder at all.
settled()
subprocess.run([ffmount, "cache", "clear"], check=True, stdout=subprocess.DEVNULL)
with Mount(ffmount, address, mnt, "-o", "cache_size=1M") as mount:
    expect("within a bound", whole(mount.path("member.bin")) == other, True)
settled()
# The folder's key is not a block.
size = sum(os.stat(os.path.join(blocks, name)).st_blocks * 512 for name in kept() if len(name) == 64)
expect(f"the size of the blocks, {size} of at most 1 MiB, is within its bound", 0 < size <= 1 << 20, True)
if os.geteuid() == 0:
    small = os.path.join(folder, "small")
    os.mkdir(small)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k,mode=700", "tmpfs", small], check=True)
    os.environ["XDG_CACHE_HOME"] = small
    try:
        for _ in range(2):
            with Mount(ffmount, address, mnt) as mount:
                expect("on a full disk", whole(mount.path("member.bin")) == other, True)
            time.sleep(1)
    finally:
        os.environ["XDG_CACHE_HOME"] = cache
        subprocess.run(["umount", "-l", small])
open(os.path.join(folder, "file"), "w").close()
os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "file")
with Mount(ffmount, address, mnt) as mount:
    expect("without a folder", whole(mount.path("member.bin")) == other, True)
print("done")
