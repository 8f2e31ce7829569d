"""elsewhere_download.py FFMOUNT FOLDER: `-o download`, from web servers that do not send parts of files.

Prints what is not as it should be, and at the end "done".
"""
import errno
import functools
import http.server
import io
import json
import os
import random
import subprocess
import sys
import threading
import time
import zipfile

from elsewhere import File, Web
from remote import Mount, complain, expect, failure, refusal, whole

ffmount, folder = sys.argv[1:]
mnt, served = os.path.join(folder, "mnt"), os.path.join(folder, "served")
run, cache, spools = os.path.join(folder, "run"), os.path.join(folder, "cache"), os.path.join(folder, "spools")
for path in (run, cache, served, spools):
    os.makedirs(path, mode=0o700, exist_ok=True)
os.environ.update(XDG_RUNTIME_DIR=run, XDG_CACHE_HOME=cache, HOME=folder, TMPDIR=spools)
random.seed(7)


def archive(seed, size=900_000):
    random.seed(seed)
    members = {f"folder/{number}.bin": random.randbytes(size) for number in range(3)}
    members["read me.txt"] = b"what it is\n" * 1000
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as out:
        for name, content in members.items():
            out.writestr(zipfile.ZipInfo(name, (2024, 1, 2, 3, 4, 6)), content)
    return made.getvalue(), members


refused = functools.partial(refusal, ffmount, mnt)


def reason(path):
    return subprocess.run([ffmount, "why", path], capture_output=True, text=True, timeout=20).stdout


def eventually(body, wanted=None):
    """The value of a call once it succeeds, and is what is wanted."""
    value = None
    for _ in range(300):
        try:
            value = body()
        except OSError:
            pass
        if value is not None and value == (value if wanted is None else wanted):
            break
        time.sleep(0.1)
    return value


def expect_members(what, members, base=mnt):
    for name, content in members.items():
        expect(f"{what}: {name}", whole(os.path.join(base, name)) == content, True)


# Python's own server, which knows no ranges.
body, members = archive(1)
with open(os.path.join(served, "takeout.zip"), "wb") as file:
    file.write(body)
os.makedirs(os.path.join(served, "more"))
films = {f"{number}.bin": random.randbytes(300_000) for number in range(4)}
for name, content in films.items():
    with open(os.path.join(served, "more", name), "wb") as file:
        file.write(content)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Plain(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """The client leaves when it has the start of a file."""


plain = Plain(("127.0.0.1", 0), functools.partial(Quiet, directory=served))
threading.Thread(target=plain.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{plain.server_port}"
refused("without the option", address + "/takeout.zip", "does not send parts", "-o download")
with Mount(ffmount, address + "/takeout.zip", mnt, "-o", "download") as mount:
    expect("the names", sorted(os.listdir(mnt)), ["folder", "read me.txt"])
    expect_members("of Python's server", members)
    expect("names of temporary files", os.listdir(spools), [])
with Mount(ffmount, address + "/", mnt, "-o", "download") as mount:
    expect_members("of a folder", members, mount.path("takeout.zip.contents"))
    expect_members("of a folder", films, mount.path("more"))
    with open(mount.path("more/1.bin"), "rb") as file:
        expect("the end of a file", os.pread(file.fileno(), 1000, 299_000), films["1.bin"][299_000:])
with Mount(ffmount, address + "/", mnt) as mount:
    expect("a large file without the option", failure(whole, mount.path("more/1.bin"))[0], errno.EIO)
    said = reason(mount.path("more/1.bin"))
    if "-o download" not in said:
        complain(f"its reason: {said}")

# Its bound: what has no reader makes room, and a larger file has none.
with Mount(ffmount, address + "/", mnt, "-o", "download,cache_size=1M") as mount:
    for _ in range(2):
        expect_members("within 1 MiB", films, mount.path("more"))
    expect("more than 1 MiB", failure(whole, mount.path("takeout.zip"))[0], errno.ENOSPC)
    said = reason(mount.path("takeout.zip"))
    if "cache_size" not in said:
        complain(f"its reason: {said}")
    expect_members("afterwards", films, mount.path("more"))


# Servers that are not good. They answer the first request well.
def all_of_it(handler, file, body=None, length=None, tag=None):
    handler.say(200, file.body if body is None else body,
                {"ETag": tag or file.tag, "Last-Modified": "Tue, 14 Nov 2023 22:13:20 GMT"}, length)


def download(answer):
    """Answers requests for the whole file in another way."""
    return lambda handler, file: all_of_it(handler, file) if handler.headers.get("Range") else answer(handler, file)


web = Web({"/good.zip": File(body, answer=all_of_it)})
with Mount(ffmount, web.url + "/good.zip", mnt, "-o", "download") as mount:
    expect_members("a good server", members)
    expect("requests for all of it", len([1 for asked in web.asked if not asked[2]]), 1)
BAD = {
    "short": lambda handler, file: all_of_it(handler, file, file.body[:-1000], len(file.body)),
    "shorter": lambda handler, file: all_of_it(handler, file, file.body[:-1000]),
    "longer": lambda handler, file: all_of_it(handler, file, file.body + b"x"),
    "another tag": lambda handler, file: all_of_it(handler, file, tag='"other"'),
    "another start": lambda handler, file: all_of_it(handler, file, b"x" + file.body[1:]),
    "a part": lambda handler, file: handler.say(206, file.body[:1000], {"ETag": file.tag, "Content-Range": f"bytes 0-999/{len(file.body)}"}),
    "gone": lambda handler, file: handler.say(404, b"", {}),
    "packed": lambda handler, file: handler.say(200, file.body, {"ETag": file.tag, "Content-Encoding": "gzip"}),
}
for name, answer in BAD.items():
    web.files["/bad/" + name.replace(" ", "%20")] = File(body, answer=download(answer))
page = "<title>Index of /bad/</title>" + "".join(f'<a href="{name.replace(" ", "%20")}">{name}</a>\n' for name in BAD)
web.files["/bad/"] = File(page.encode(), answer=lambda handler, file: handler.say(200, file.body, {"Content-Type": "text/html"}))
with Mount(ffmount, web.url + "/bad/", mnt, "-o", "download,wait=1") as mount:
    for name in BAD:
        found = failure(whole, mount.path(name))[0]
        if found not in (errno.EIO, errno.ESTALE):
            complain(f"{name}: {found}")


# It changes while it is copied: the last bytes are of another version.
def changing(handler, file):
    if handler.headers.get("Range"):
        return all_of_it(handler, file)
    answered = File(file.body, tag=file.tag)
    file.body, file.tag = file.body[:-1] + b"x", '"next"'
    return all_of_it(handler, answered, answered.body[:-1] + b"x")


web.files["/turn/"] = File(b'<title>Index of /turn/</title><a href="it">it</a>',
                           answer=lambda handler, file: handler.say(200, file.body, {"Content-Type": "text/html"}))
web.files["/turn/it"] = File(body, answer=changing)
with Mount(ffmount, web.url + "/turn/", mnt, "-o", "download") as mount:
    found = failure(whole, mount.path("it"))[0]
    if found and found != errno.ESTALE:
        complain(f"a file that changes: {found}")
    content = eventually(lambda: whole(mount.path("it")))
    expect("the next version or the one after", content[:-1] == body[:-1] and content[-1:] == b"x", True)

# A new version shows within some seconds.
web.files["/turn/it"] = File(body, answer=all_of_it)
with Mount(ffmount, web.url + "/turn/", mnt, "-o", "download") as mount:
    with open(mount.path("it"), "rb") as file:
        expect("the old start", file.read(1000) == body[:1000], True)
        expect("the old end", os.pread(file.fileno(), 1000, len(body) - 1000) == body[-1000:], True)
        other, _ = archive(2)
        web.files["/turn/it"] = File(other, modified=1_700_000_100, answer=all_of_it)
        expect("the new version", eventually(lambda: whole(mount.path("it")), other) == other, True)
        try:
            if os.pread(file.fileno(), 1000, 500_000) not in (body[500_000:501_000], other[500_000:501_000]):
                complain("the open file: bytes of no version")
        except OSError as error:
            expect("the open file", error.errno, errno.ESTALE)


# A slow one: its progress is shown, readers can be interrupted, and nothing is served before it is whole.
gate = threading.Event()


def slow(handler, file):
    handler.send_response_only(200)
    for name, value in (("ETag", file.tag), ("Content-Length", str(len(file.body)))):
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(file.body[:len(file.body) // 2])
    handler.wfile.flush()
    gate.wait(30)
    handler.wfile.write(file.body[len(file.body) // 2:])


web.files["/turn/it"] = File(body, answer=lambda handler, file: slow(handler, file) if not handler.headers.get("Range") else
                             handler.say(200, file.body, {"ETag": file.tag}))
with Mount(ffmount, web.url + "/turn/", mnt, "-o", "download") as mount:
    reader = subprocess.Popen(["cat", mount.path("it")], stdout=subprocess.PIPE)
    for _ in range(200):
        shown = json.loads(subprocess.run([ffmount, "list", "--json"], capture_output=True, text=True).stdout)
        copying = [one for this in shown if this["mountpoint"] == mnt for one in this["copying"]]
        if copying and copying[0]["done"] > 0:
            break
        time.sleep(0.05)
    expect("the progress", [(one["path"], one["size"], 0 < one["done"] < len(body)) for one in copying], [("/it", len(body), True)])
    said = subprocess.run([ffmount, "list"], capture_output=True, text=True).stdout
    expect("the progress for users", "copying /it from its server" in said, True)
    reader.kill()
    expect("a killed reader ends", reader.wait(10), -9)
    gate.set()
    expect("the next one", whole(mount.path("it")) == body, True)

# No room on the disk.
small = os.path.join(folder, "small")
os.makedirs(small)
if os.geteuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", small]).returncode == 0:
    try:
        os.environ["TMPDIR"] = small
        web.files["/turn/it"] = File(body, answer=all_of_it)
        with Mount(ffmount, web.url + "/turn/", mnt, "-o", "download") as mount:
            expect("a full disk", failure(whole, mount.path("it"))[0], errno.ENOSPC)
            expect("its reason", small in reason(mount.path("it")) and "TMPDIR" in reason(mount.path("it")), True)
    finally:
        os.environ["TMPDIR"] = spools
        subprocess.run(["umount", "-l", small])
print("done")
