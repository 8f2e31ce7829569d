"""elsewhere_file.py FFMOUNT FOLDER: `ffmount http://host/file.zip MOUNTPOINT`, from good servers and from others.

Prints what is not as it should be, and at the end "done".
"""
import errno
import functools
import io
import os
import random
import subprocess
import sys
import time
import zipfile

from elsewhere import File, Web
from remote import Mount, attribute, complain, expect, failure, processes, readers, refusal, whole

ffmount, folder = sys.argv[1:]
mnt = os.path.join(folder, "mnt")
run, cache = os.path.join(folder, "run"), os.path.join(folder, "cache")
for path in (run, cache):
    os.makedirs(path, mode=0o700, exist_ok=True)
os.environ.update(XDG_RUNTIME_DIR=run, XDG_CACHE_HOME=cache, HOME=folder)
random.seed(42)


def archive(seed, count=3, size=700_000):
    random.seed(seed)
    members = {f"folder/{number}.bin": random.randbytes(size) for number in range(count)}
    members["read me.txt"] = b"what it is\n" * 1000
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as out:
        for name, body in members.items():
            out.writestr(zipfile.ZipInfo(name, (2024, 1, 2, 3, 4, 6)), body,
                         zipfile.ZIP_DEFLATED if name.endswith("txt") else zipfile.ZIP_STORED)
    return made.getvalue(), members


refused = functools.partial(refusal, ffmount, mnt)


def left():
    """The mounts and folders that are left of the sources."""
    with open("/proc/self/mountinfo") as table:
        mounts = [line.split()[4] for line in table if run in line or mnt in line]
    return mounts + os.listdir(os.path.join(run, "ffmount"))


def expect_nothing_left(what):
    for _ in range(400):
        if not left():
            return
        time.sleep(0.05)
    complain(f"{what}: left over: {left()}")


body, members = archive(1)
web = Web({"/a%20b/takeout.zip": File(body), "/empty.zip": File(b""), "/plain.txt": File(b"x" * 1000)})
address = web.url + "/a%20b/takeout.zip"

# A good server.
with Mount(ffmount, address, mnt) as mount:
    expect("the names", sorted(os.listdir(mnt)), ["folder", "read me.txt"])
    for name, content in members.items():
        expect(name, whole(mount.path(name)) == content, True)
    with open("/proc/self/mountinfo") as table:
        shown = [line for line in table if f" {mnt} " in line]
    expect("the address in the table of mounts", len(shown) == 1 and web.url.split("//")[1] in shown[0], True)
    expect("what ffmount list says", address in subprocess.run([ffmount, "list"], capture_output=True, text=True).stdout, True)
    expect("the folder of the source", [oct(os.stat(os.path.join(run, "ffmount")).st_mode & 0o777)], ["0o700"])
    # Writing is refused.
    expect("writing", failure(open, mount.path("new"), "w")[0], errno.EROFS)
expect_nothing_left("after a mount")

# A supervised one in the background, whose process is killed.
subprocess.run([ffmount, address, mnt], check=True)
report = os.getxattr(mnt, "user.ffmount.report.0").decode().split("\n")[0].split("\t")
os.kill(int(report[2]), 9)
for _ in range(400):
    if failure(os.listdir, mnt)[0] == 0:
        break
    time.sleep(0.05)
expect("after a kill", whole(os.path.join(mnt, "read me.txt")) == members["read me.txt"], True)
subprocess.run([ffmount, "-u", mnt], check=True)
expect_nothing_left("after a supervised mount")


# The process that reads the server can be supervised, too. It is killed while a file is open.
subprocess.run([ffmount, "-o", "supervise=on", address, mnt], check=True)
with open(os.path.join(mnt, "folder/0.bin"), "rb") as file:
    for number in range(6):
        for _ in range(200):
            if before := readers(run):
                break
            time.sleep(0.02)
        expect("the processes that read", len(before), 1)
        for pid in before:
            os.kill(pid, 9)
        at = 100_000 * number
        expect(f"after kill {number}", os.pread(file.fileno(), 100_000, at) == members["folder/0.bin"][at:at + 100_000], True)
        for name, content in members.items():
            expect(f"{name} after kill {number}", whole(os.path.join(mnt, name)) == content, True)
subprocess.run([ffmount, "-u", mnt], check=True)
expect_nothing_left("after kills of the reader")

# All processes killed: the mount of the source is left, is listed, and goes with the next mount, or by ffmount -u.
def kill_all():
    # Those that unmount when the others end come first.
    for pid in processes(run, ["fusermount"]) + processes(run) + processes(mnt):
        try:
            os.kill(pid, 9)
        except OSError:
            pass
    # A process that ends has no command line any more while its last threads close the connection.
    for _ in range(400):
        if failure(os.listdir, inner)[0] == errno.ENOTCONN:
            break
        time.sleep(0.05)


inner = os.path.join(run, "ffmount", "takeout.zip")
for number in range(2):
    subprocess.run([ffmount, address, mnt], check=True)
    kill_all()
    subprocess.run(["fusermount3", "-uz", mnt])
    if number == 0:
        said = subprocess.run([ffmount, "list"], capture_output=True, text=True).stdout
        expect("what is left over", (address in said, inner in said, "dead" in said), (True, True, True))
        expect("unmounting it", subprocess.run([ffmount, "-u", inner]).returncode, 0)
    else:
        with Mount(ffmount, address, mnt) as mount:
            expect("after a leftover", whole(mount.path("read me.txt")) == members["read me.txt"], True)
expect_nothing_left("after leftovers")

# A weak tag that changes is another version, also without a time and with the same size.
def weakly(handler, file):
    first, last = (int(part) for part in handler.headers["Range"][6:].split("-")) if not handler.headers["Range"].endswith("-") else (int(handler.headers["Range"][6:-1]), len(file.body) - 1)
    last = min(last, len(file.body) - 1)
    handler.say(206, file.body[first:last + 1], {"ETag": f'W/"{file.modified}"', "Content-Range": f"bytes {first}-{last}/{len(file.body)}"})


other, others = archive(2)
web.files["/weak.zip"] = File(body, modified=1, answer=weakly)
with Mount(ffmount, web.url + "/weak.zip", mnt) as mount:
    with open(mount.path("folder/0.bin"), "rb") as file:
        expect("the first bytes", file.read(1000) == members["folder/0.bin"][:1000], True)
        web.files["/weak.zip"] = File(other, modified=2, answer=weakly)
        found = failure(os.pread, file.fileno(), 65536, 600_000)[0]
        if found != errno.ESTALE and (found or os.pread(file.fileno(), 65536, 600_000) != members["folder/0.bin"][600_000:665_536]):
            complain(f"a weak tag: {found}, or bytes of two versions")

# Another version: what is open is stale, and others see the new bytes.
with Mount(ffmount, address, mnt) as mount:
    name = mount.path("folder/0.bin")
    with open(name, "rb") as file:
        expect("the first bytes", file.read(1000) == members["folder/0.bin"][:1000], True)
        other, others = archive(2)
        web.files["/a%20b/takeout.zip"] = File(other, modified=1_700_000_000)
        time.sleep(6)
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        found = failure(os.pread, file.fileno(), 65536, 400_000)[0]
        expect("the open file", found, errno.ESTALE)
    for _ in range(300):
        if failure(whole, mount.path("folder/0.bin"))[0] == 0:
            break
        time.sleep(0.1)
    for name, content in others.items():
        expect("the new " + name, whole(mount.path(name)) == content, True)
web.files["/a%20b/takeout.zip"] = File(body)

# Sentences of what cannot be shown.
said = refused("a text", web.url + "/plain.txt", "cannot show " + web.url + "/plain.txt")
expect("its path", run in said, False)
refused("nothing", web.url + "/nothing.zip", "cannot show", "No such file")
refused("an empty file", web.url + "/empty.zip", "cannot show")
refused("a password in the address", "http://me:secret@127.0.0.1/x.zip", "cannot show")
refused("rw", address, "rw", options=["-o", "rw"])
expect_nothing_left("after refusals")


# Servers that are not good. Each answers the first 128 KiB well, so that it is mounted, or says why not.
def whole_file(handler, file):
    handler.say(200, file.body, {"ETag": file.tag})


def unsized(handler, file):
    handler.send_response_only(200)
    handler.end_headers()
    handler.wfile.write(file.body)
    handler.close_connection = True


def disguised(handler, file):
    handler.say(200, file.body[:1000], {"ETag": file.tag, "Content-Range": f"bytes 0-999/{len(file.body)}"})


def packed(handler, file):
    handler.say(206, file.body[:99], {"Content-Encoding": "gzip", "Content-Range": f"bytes 0-98/{len(file.body)}"})


def later(answer):
    """Good at first."""
    def answered(handler, file):
        wanted = handler.headers.get("Range", "")
        return False if wanted.startswith("bytes=0-") else answer(handler, file, int(wanted[6:].split("-")[0]))
    return answered


def part(handler, file, first, last, body=None, size=None, tag=None, length=None):
    size = len(file.body) if size is None else size
    handler.say(206, file.body[first:last + 1] if body is None else body,
                {"ETag": tag or file.tag, "Content-Range": f"bytes {first}-{last}/{size}",
                 "Last-Modified": "Tue, 14 Nov 2023 22:13:20 GMT"}, length)


end = len(body) - 1
BAD = {
    "whole": (later(lambda handler, file, first: whole_file(handler, file)), "the whole file instead of a part"),
    "shifted": (later(lambda handler, file, first: part(handler, file, first - 10, end - 10)), "a different range"),
    "short": (later(lambda handler, file, first: part(handler, file, first, end, file.body[first:first + 10], length=end + 1 - first)), ""),
    "shorter": (later(lambda handler, file, first: part(handler, file, first, end, file.body[first:first + 10])), ""),
    "long": (later(lambda handler, file, first: part(handler, file, first, end, file.body + file.body)), ""),
    "other tag": (later(lambda handler, file, first: part(handler, file, first, end, tag='"other"')), ""),
    "other size": (later(lambda handler, file, first: part(handler, file, first, end, size=end + 1000)), ""),
    "forbidden": (later(lambda handler, file, first: handler.say(403, b"", {})), "refuses access"),
    "gone": (later(lambda handler, file, first: handler.say(404, b"", {})), ""),
    "broken": (later(lambda handler, file, first: handler.say(500, b"", {})), "answered with 500"),
}
for name, (answer, sentence) in BAD.items():
    web.files[f"/{name.replace(' ', '%20')}.zip"] = File(body, answer=answer)
for name, (answer, sentence) in BAD.items():
    target = f"{web.url}/{name.replace(' ', '%20')}.zip"
    ended = subprocess.run([ffmount, "-f", target, mnt, "-o", "wait=1"], capture_output=True, text=True, timeout=40) \
        if name in ("whole", "shifted") else None
    process = subprocess.Popen([ffmount, target, mnt, "-o", "wait=1"], stderr=subprocess.PIPE, text=True)
    said = process.communicate(timeout=60)[1]
    if process.returncode == 0:
        # A folder that cannot be read, and never one with wrong bytes.
        for name_of_member, content in members.items():
            try:
                if whole(os.path.join(mnt, name_of_member)) != content:
                    complain(f"{name}: wrong bytes of {name_of_member}")
            except OSError:
                pass
        subprocess.run([ffmount, "-u", "-z", mnt])
    elif target not in said:
        complain(f"{name}: {said!r}")
def sized(size):
    """A server that has a file of any size."""
    headers = {"Content-Range": f"bytes 0-0/{size}", "ETag": '"one"'}
    return lambda handler, file: handler.say(206, b"P", headers)


for name, answer, sentence in [("no ranges", whole_file, "does not send parts"), ("no size", unsized, "did not report the size"),
                               ("a part as the whole", disguised, "a part of the file as the whole"),
                               ("packed", packed, "compressed"), ("an enormous size", sized(2**63 - 1), "range"),
                               ("more than there is", sized(10**30), "range")]:
    web.files["/it.zip"] = File(body, answer=answer)
    refused(name, web.url + "/it.zip", "cannot show", sentence)
expect_nothing_left("after bad servers")

# Redirections: of one server, and to others that only this machine can reach.
def leads(to, status=302):
    return lambda handler, file: handler.say(status, b"over there", {"Location": to})


other = Web({"/secret.zip": File(body)})
with open(os.path.join(folder, ".netrc"), "w") as file:
    file.write("machine 127.0.0.1 login me password secret\n")
os.chmod(os.path.join(folder, ".netrc"), 0o600)
web.files["/latest.zip"] = File(b"", answer=leads("/a%20b/takeout.zip"))
web.files["/loop.zip"] = File(b"", answer=leads("/loop.zip"))
with Mount(ffmount, web.url + "/latest.zip", mnt) as mount:
    for name, content in members.items():
        expect("redirected " + name, whole(mount.path(name)) == content, True)
given = [headers.get("Authorization", "") for _, path, _, headers in web.asked if path == "/latest.zip"]
expect("the password of ~/.netrc", set(given), {"Basic bWU6c2VjcmV0"})
refused("a loop", web.url + "/loop.zip", "cannot show", "redirects again and again")
for number, target in enumerate([other.url + "/secret.zip", f"http://localhost:{other.server_port}/secret.zip",
                                 f"http://[::1]:{other.server_port}/secret.zip", "http://169.254.169.254/latest/meta-data/",
                                 "file:///etc/passwd", "ftp://127.0.0.1/x", f"http://me@127.0.0.1:{other.server_port}/secret.zip",
                                 "http://10.0.0.1/x", "//0.0.0.0/x", "gopher://x"]):
    web.files["/away.zip"] = File(b"", answer=leads(target))
    refused("to " + target, web.url + "/away.zip", "cannot show", "redirects")
expect("what the other server was asked", other.asked, [])

# What it costs: a ZIP of 100,000 entries, and a member of 1 MB.
made = io.BytesIO()
large = random.randbytes(1 << 20)
with zipfile.ZipFile(made, "w") as out:
    for number in range(100_000):
        out.writestr("folder%d/file%06d.txt" % (number % 100, number), b"x%d" % number)
    out.writestr("large.bin", large)
    out.writestr("end.bin", random.randbytes(4 << 20))
web.files["/many.zip"] = File(made.getvalue())
before = len(web.asked)
with Mount(ffmount, web.url + "/many.zip", mnt) as mount:
    expect("the folders", len(os.listdir(mnt)), 102)
    expect("the files of one", len(os.listdir(mount.path("folder1"))), 1000)
    if len(web.asked) - before > 5:
        complain(f"a listing of 100,000 entries costs {[asked[2] for asked in web.asked[before:]]}")
    before = len(web.asked)
    expect("the large member", whole(mount.path("large.bin")) == large, True)
    if len(web.asked) - before > 4:
        complain(f"a member of 1 MB costs {[asked[2] for asked in web.asked[before:]]}")

# The commands that take a SOURCE.
mail = b"".join(b"From a@b Fri Jan  1 00:00:00 2021\nFrom: anna@example.org\nSubject: harbour %d\nDate: Fri, 1 Jan 2021 00:00:00 +0000\n"
                b"\nThe pier is number%d.\n\n" % (number, number) for number in range(2000))
web.files["/inbox.mbox"] = File(mail)
web.files["/bad.zip"] = File(body[:400_000] + bytes(1000) + body[401_000:])


def said_by(*words):
    ended = subprocess.run([ffmount, *words], capture_output=True, text=True, timeout=60)
    return ended.returncode, ended.stdout, ended.stderr


status, out, err = said_by("verify", address)
expect("a good archive", (status, run in out + err, address in err), (0, False, True))
status, out, err = said_by("verify", web.url + "/bad.zip")
expect("a bad archive", (status, run in out + err, web.url + "/bad.zip" in out), (1, False, True))
status, out, err = said_by("search", web.url + "/inbox.mbox", "number1234")
expect("a search", (status, "harbour 1234" in out, run in out + err), (0, True, False))
status, out, err = said_by("index", "--search", web.url + "/inbox.mbox")
expect("an index", (status, run in out + err), (0, False))
expect("a search of nothing", said_by("search", web.url + "/nowhere.mbox", "x")[0], 66)
expect_nothing_left("after commands")

# A lost server is waited for, and then there is a reason.
with Mount(ffmount, address, mnt, "-o", "wait=2") as mount:
    expect("before", whole(mount.path("folder/1.bin")) == members["folder/1.bin"], True)
    port = web.server_port
    web.stop()
    started = time.monotonic()
    with open(mount.path("folder/2.bin"), "rb") if failure(os.stat, mount.path("folder/2.bin"))[0] == 0 else io.BytesIO() as file:
        found = failure(file.read)[0]
    if found not in (0, errno.EIO):
        complain(f"a lost server: {found}")
    web = Web(web.files, port)
    time.sleep(1.5)
    for _ in range(50):
        if failure(whole, mount.path("folder/2.bin"))[0] == 0:
            break
        time.sleep(0.2)
    expect("after it is back", whole(mount.path("folder/2.bin")) == members["folder/2.bin"], True)
expect_nothing_left("at the end")
print("done")
