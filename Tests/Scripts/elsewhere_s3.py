"""elsewhere_s3.py FFMOUNT FOLDER: buckets of S3: of a server that verifies each signature, and of moto where it is installed.

Prints what is not as it should be, and at the end "done".
"""
import contextlib
import errno
import io
import os
import random
import shutil
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
import zipfile

from bucket import Buckets, Object
from remote import Mount, attribute, complain, expect, failure, refusal, whole

ffmount, folder = sys.argv[1:]
mnt, run = os.path.join(folder, "mnt"), os.path.join(folder, "run")
os.makedirs(run, mode=0o700, exist_ok=True)
os.makedirs(os.path.join(folder, ".aws"), exist_ok=True)
for name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[name]
os.environ.update(XDG_RUNTIME_DIR=run, XDG_CACHE_HOME=os.path.join(folder, "cache"), HOME=folder)
random.seed(9)

made = io.BytesIO()
large = random.randbytes(1_500_000)
with zipfile.ZipFile(made, "w") as out:
    out.writestr("first.txt", b"first" * 1000)
    out.writestr("large.bin", large)
objects = {
    "top.txt": b"top", "a/one.txt": b"one" * 50_000, "a/b/two.txt": b"two", "a/b c/plus+and & ampersand.txt": b"plus",
    "späße/100%.txt": b"per cent", "q?x#y=z;,'\"<>.txt": b"odd", "inside.zip": made.getvalue(), "a/large.bin": random.randbytes(3_000_000),
    "empty.txt": b"", "~tilde-._!*().txt": b"marks", "line\nbreak\x01.txt": b"control",
}
# Keys that are not paths of files, of which none is shown: their last parts are empty, dots, or too long.
strange = {"a//b.txt": b"x", "../out.txt": b"x", "a/./c.txt": b"x", "..": b"x", "/lead.txt": b"x", "long" * 100: b"x", "both": b"hidden by the folder"}
markers = {"a/": b"", "a/empty folder/": b"", "both/inner.txt": b"inner"}


def bucket():
    every = {**objects, **strange, **markers}
    return {name.encode(): Object(body) for name, body in every.items()}


def settings(key, secret, session=None, more=""):
    with open(os.path.join(folder, ".aws", "credentials"), "w") as file:
        file.write(f"# of the tests\n[other]\naws_access_key_id = nobody\naws_secret_access_key = x\n[test]\naws_access_key_id={key}\n"
                   f"aws_secret_access_key = {secret}\n" + (f"aws_session_token = {session}\n" if session else "") + more)


def names(path):
    return sorted(os.path.join(where, name)[len(path) + 1:] for where, _, files in os.walk(path) for name in files)


def compare(what, root, skip=()):
    wanted = {name: body for name, body in {**objects, "both/inner.txt": b"inner"}.items() if name not in skip}
    expect(what, names(root), sorted(wanted))
    for name, body in wanted.items():
        path = os.path.join(root, name)
        expect(f"{what}: {name}", (os.stat(path).st_size, whole(path) == body), (len(body), True))
    expect(what, os.listdir(os.path.join(root, "a/empty folder")), [])
    expect(what, failure(os.stat, os.path.join(root, "nothing"))[0], errno.ENOENT)
    expect(what, failure(os.stat, os.path.join(root, "a/nothing/x"))[0], errno.ENOENT)


def refused(what, address, *expected, options=()):
    said = refusal(ffmount, mnt, what, address, *expected, options=options)
    if server.secret in said:
        complain(f"{what}: a secret is shown: {said!r}")


server = Buckets()
server.buckets = {"test-bucket": bucket(), "second.bucket": {b"x/y.txt": Object(b"y")}, "void": {}}
settings(server.key, server.secret)
os.environ["AWS_PROFILE"] = "test"
end = ("-o", f"endpoint={server.url},region=eu-central-1")
plain = ("-o", "views=none")

# The tree of a bucket, of a prefix, and of a prefix without its slash.
with Mount(ffmount, "s3://test-bucket", mnt, *end, *plain):
    compare("the bucket", mnt)
    expect("a time", os.stat(os.path.join(mnt, "top.txt")).st_mtime, 1_700_000_000.25)
    expect("writing", failure(open, os.path.join(mnt, "new"), "w")[0], errno.EROFS)
    with open("/proc/self/mountinfo") as table:
        expect("the table of mounts", any("s3://test-bucket" in line for line in table), True)
time.sleep(2)
before = len(server.asked)
with Mount(ffmount, "s3://test-bucket", mnt, *end, "-o", "views=none,offline"):
    compare("offline", mnt)
expect("requests of an offline mount", len(server.asked) - before, 0)
for address in ("s3://test-bucket/a/", "s3://test-bucket/a"):
    with Mount(ffmount, address, mnt, *end, *plain):
        expect(address, names(mnt), sorted(name[2:] for name in objects if name.startswith("a/")))
        expect(address, whole(os.path.join(mnt, "large.bin")) == objects["a/large.bin"], True)
with Mount(ffmount, "s3://test-bucket", mnt, *end):
    expect("a view", whole(os.path.join(mnt, "inside.zip.contents/large.bin")) == large, True)
with Mount(ffmount, "s3://second.bucket", mnt, *end):
    expect("a bucket with a dot", whole(os.path.join(mnt, "x/y.txt")), b"y")
with Mount(ffmount, "s3://void", mnt, *end):
    expect("an empty bucket", os.listdir(mnt), [])

# An object.
with Mount(ffmount, "s3://test-bucket/inside.zip", mnt, *end):
    expect("an object", sorted(os.listdir(mnt)), ["first.txt", "large.bin"])
    expect("an object", whole(os.path.join(mnt, "large.bin")) == large, True)
time.sleep(2)
before = len(server.asked)
with Mount(ffmount, "s3://test-bucket/inside.zip", mnt, *end):
    expect("an object again", whole(os.path.join(mnt, "large.bin")) == large, True)
expect("requests of a later mount", len(server.asked) - before <= 2, True)
with Mount(ffmount, "s3://test-bucket/inside.zip", mnt, *end, "-o", "offline"):
    expect("an object offline", whole(os.path.join(mnt, "large.bin")) == large, True)
for where, _, files in os.walk(os.path.join(folder, "cache")):
    for name in files:
        expect(f"the secret in {name}", server.secret.encode() in whole(os.path.join(where, name)), False)
expect("failures of good requests", set(server.failures), {"InvalidRange", "NoSuchKey"})

# The commands, with the endpoint of the environment.
os.environ.update(AWS_ENDPOINT_URL=server.url, AWS_REGION="us-east-2")
for command, address in (["verify"], "s3://test-bucket/"), (["search"], "s3://test-bucket/"):
    ended = subprocess.run([ffmount, *command, address, *(["inside"] if command == ["search"] else [])], capture_output=True, text=True, timeout=60)
    expect(command, (ended.returncode, run in ended.stdout + ended.stderr), (0, False))

# Places of the credentials, and those that are wrong.
del os.environ["AWS_PROFILE"]
refused("no credentials", "s3://test-bucket/top.txt", "no credentials found")
refused("no credentials", "s3://test-bucket/", "no credentials found", "AccessDenied")
with open(os.path.join(folder, ".aws", "config"), "w") as file:
    file.write(f"[profile one]\naws_access_key_id = {server.key}\naws_secret_access_key = {server.secret}\nregion = ap-south-1\n"
               f"s3 =\n  addressing_style = virtual\n[profile role]\nrole_arn = x\n[profile half]\naws_access_key_id = x\n")
for profile, expected in ("nowhere", "AWS_PROFILE"), ("role", "role_arn"), ("half", "aws_secret_access_key"), ("other", "does not accept the credentials"):
    os.environ["AWS_PROFILE"] = profile
    refused(profile, "s3://test-bucket/", expected)
os.environ.update(AWS_PROFILE="one", AWS_ENDPOINT_URL=f"http://localhost:{server.server_port}")
with Mount(ffmount, "s3://test-bucket", mnt, *plain):
    compare("the bucket as a host", mnt)
    expect("the host", server.asked[-1][3]["Host"].split(":")[0], "test-bucket.localhost")
del os.environ["AWS_PROFILE"]
os.environ.update(AWS_ENDPOINT_URL=server.url, AWS_ACCESS_KEY_ID=server.key, AWS_SECRET_ACCESS_KEY="wrong")
refused("a wrong secret", "s3://test-bucket/", "does not accept the credentials")
os.environ["AWS_SECRET_ACCESS_KEY"] = server.secret
server.session = "a/token+of=STS"
refused("no session", "s3://test-bucket/", "expired")
os.environ["AWS_SESSION_TOKEN"] = server.session
with Mount(ffmount, "s3://test-bucket", mnt, *plain):
    compare("temporary credentials", mnt)
refused("no bucket", "s3://no-such-bucket/", "has no bucket no-such-bucket")
refused("nothing", "s3://test-bucket/nothing", "No such file")
refused("nothing", "s3://test-bucket/nothing/", "No such file")
for address in "s3://", "s3://x", "s3://a@b/c", "s3://test-bucket/a/../b", "s3://test-bucket//a", "s3://bad bucket/":
    refused(address, address, "cannot show")
refused("a bad endpoint", "s3://test-bucket", "endpoint", options=["-o", "endpoint=nowhere"])
refused("a bad region", "s3://test-bucket", "region", options=["-o", "region=x/y"])
refused("anonymous", "s3://test-bucket", "no credentials", options=["-o", "anonymous"])

# A public bucket gets no credentials, and a file of this machine no options of S3.
server.is_public, before = True, len(server.asked)
with Mount(ffmount, "s3://test-bucket", mnt, "-o", "anonymous,views=none"):
    compare("an anonymous mount", mnt)
expect("what it sends", [name for asked in server.asked[before:] for name in asked[3] if name.lower() in ("authorization", "x-amz-security-token")], [])
server.is_public = False
ended = subprocess.run([ffmount, folder, mnt, "-o", "endpoint=http://x"], capture_output=True, text=True)
expect("an endpoint for a folder", (ended.returncode, "endpoint" in ended.stderr), (64, True))

# A changed object is stale for what has it open, and new for others.
with Mount(ffmount, "s3://test-bucket/a/", mnt, *plain):
    path = os.path.join(mnt, "large.bin")
    with open(path, "rb") as file:
        expect("the start", file.read(1000) == objects["a/large.bin"][:1000], True)
        other = random.randbytes(3_000_000)
        server.buckets["test-bucket"][b"a/large.bin"] = Object(other)
        found = failure(os.pread, file.fileno(), 65536, 2_500_000)[0]
        if found != errno.ESTALE and (found or os.pread(file.fileno(), 65536, 2_500_000) != objects["a/large.bin"][2_500_000:2_565_536]):
            complain(f"the open file: {found}, or bytes of two versions")
    for _ in range(300):
        with contextlib.suppress(OSError):
            if whole(path) == other:
                break
        time.sleep(0.1)
    expect("the new version", whole(path) == other, True)
    del server.buckets["test-bucket"][b"a/large.bin"]
    time.sleep(5.5)
    expect("a removed object", failure(os.stat, path)[0], errno.ENOENT)

# Pages: the fewest requests for a folder of 10,000 objects, and for a walk.
server.buckets["many"] = {b"f/%05d.dat" % number: Object(b"x" * (number % 1000)) for number in range(10_000)}
with Mount(ffmount, "s3://many/f/", mnt, *plain):
    before = len(server.asked)
    sizes = [entry.stat().st_size for entry in os.scandir(mnt)]
    expect("the sizes", sorted(sizes), sorted(number % 1000 for number in range(10_000)))
    if len(server.asked) - before > 11:
        complain(f"10,000 objects cost {len(server.asked) - before} requests")
# A server that would never end.
server.repeats = True
with Mount(ffmount, "s3://many/f/", mnt, *plain):
    expect("the same page again and again", failure(os.listdir, mnt)[0], errno.EIO)
server.repeats = False
# Folders in folders: as many requests as there are pages of files at any depth, and some more.
few = {"deep/%02d/%02d/%d.txt" % (number // 100, number // 5 % 20, number % 5): b"%d" % number for number in range(6000)}
few.update({"deep/%02d.txt" % number: b"beside" for number in range(0, 60, 7)})
server.buckets["many"] = {name.encode(): Object(body) for name, body in few.items()}
server.buckets["many"].update({b"deep/03/07/": Object(b""), b"deep/04//x": Object(b"no name"), b"deep/empty/": Object(b"")})
for kind in ("s3://many", "s3://many/deep/"):
    with Mount(ffmount, kind, mnt, *plain):
        before = len(server.asked)
        walked = {os.path.relpath(os.path.join(where, name), mnt) for where, folders, files in os.walk(mnt) for name in files}
        asked = len(server.asked) - before
        expect("a walk", walked, {name.removeprefix("deep/") if kind.endswith("/") else name for name in few})
        if asked > 30:
            complain(f"a walk over 1,200 folders of 6,000 objects costs {asked} requests")
        expect("a folder of it", sorted(os.listdir(os.path.join(mnt, "deep" if kind == "s3://many" else "", "03/07"))), [f"{n}.txt" for n in range(5)])
server.stop()

# Moto, which knows nothing of this project.
moto = shutil.which("moto_server")
for name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[name]
if moto:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen([moto, "-H", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env={**os.environ, "HOME": os.path.expanduser("~root")})
    try:
        for _ in range(600):
            if failure(lambda: socket.create_connection(("127.0.0.1", port)).close())[0] == 0:
                break
            time.sleep(0.05)

        def put(path, body=b""):
            urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/{path}", data=body, method="PUT",
                                                          headers={"Content-Type": "application/octet-stream"}), timeout=30).close()
        put("test-bucket")
        skip = ["line\nbreak\x01.txt"]
        for name, body in {**objects, **markers}.items():
            if name not in skip:
                put("test-bucket/" + urllib.parse.quote(name), body)
        os.environ.update(AWS_ACCESS_KEY_ID="test", AWS_SECRET_ACCESS_KEY="test", AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}")
        with Mount(ffmount, "s3://test-bucket", mnt, *plain):
            compare("moto", mnt, skip)
        with Mount(ffmount, "s3://test-bucket/inside.zip", mnt):
            expect("moto", whole(os.path.join(mnt, "large.bin")) == large, True)
    finally:
        process.terminate()
        process.wait()
print("done")
