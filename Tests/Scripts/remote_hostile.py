"""remote_hostile.py FFMOUNT FOLDER: a server that answers with anything.

Prints what a mount of it does that it should not, and at the end how many answers were tried.
"""
import errno
import json
import os
import socket
import stat
import sys
import threading
import time
import urllib.parse

from remote import Mount, attribute, complain, expect, failure, whole

ffmount, folder = sys.argv[1:]
BODY = bytes(range(256)) * 4096
TAG = 'ETag: "one"'
# Another server, which nobody is to be led to.
trap = socket.create_server(("127.0.0.1", 0))
elsewhere = f"http://127.0.0.1:{trap.getsockname()[1]}/"
trapped = []


def watch_trap():
    while True:
        connection, _ = trap.accept()
        trapped.append(connection.recv(4096))
        connection.close()


def head(status, *headers, length=None):
    lines = [f"HTTP/1.1 {status} Said", *headers]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return "\r\n".join([*lines, "", ""]).encode()


def problem(status, detail="it is so"):
    body = json.dumps({"title": "x", "status": status, "detail": detail}).encode()
    return head(status, "Content-Type: application/problem+json", length=len(body)) + body


def item(name, size=len(BODY), kind="file", **more):
    return {"name": name, "type": kind, "size": size, "modified": "2024-01-01T00:00:00.000Z", "absolutePath": "/" + name, **more}


def part(first, last, size=len(BODY), body=None, tag=TAG, length=None):
    body = BODY[first:last + 1] if body is None else body
    return head(206, f"Content-Range: bytes {first}-{last}/{size}", tag,
                length=len(body) if length is None else length) + body


def honest(first, last):
    return part(first, min(last, len(BODY) - 1))


def shifted(first, last):
    return part(first - 1000, min(last, len(BODY) - 1) - 1000)


# By the name of a file: what is answered to a request for bytes `first` to `last`. All end the connection.
FILES = {
    "short body": lambda first, last: part(first, min(last, len(BODY) - 1), body=BODY[first:first + 10], length=5000),
    "long body": lambda first, last: part(first, min(last, len(BODY) - 1), body=BODY + BODY, length=len(BODY) * 2),
    # The rest of the file is promised each time, and ten bytes come.
    "drops": lambda first, last: part(first, min(last, len(BODY) - 1), body=BODY[first:first + (10 if first else 1 << 17)],
                                      length=min(last, len(BODY) - 1) + 1 - first),
    "short parts": lambda first, last: part(first, min(last, len(BODY) - 1), body=BODY[first:first + 10] if first else None),
    "another part": lambda first, last: part(first + 1, min(last, len(BODY) - 1)),
    # As much as was asked for, of another place; the second one where a lost connection is made again.
    "a shifted rest": lambda first, last: shifted(first, last) if first else honest(first, last),
    "a shifted end": lambda first, last: shifted(first, last) if first > 1 << 17 else honest(first, last) if not first else
    part(first, min(last, len(BODY) - 1), body=BODY[first:first + (1 << 17)], length=min(last, len(BODY) - 1) + 1 - first),
    "a part before": lambda first, last: part(0, 9) if first else honest(first, last),
    "a size that grows": lambda first, last: part(first, min(last, len(BODY) - 1), size=len(BODY) + first),
    "another tag": lambda first, last: part(first, min(last, len(BODY) - 1), tag=f'ETag: "{first}"'),
    "no tag then one": lambda first, last: part(first, min(last, len(BODY) - 1), tag="X: y" if not first else TAG),
    "all of it later": lambda first, last: honest(first, last) if not first else head(200, TAG, length=len(BODY)) + BODY,
    "no length": lambda first, last: head(200, TAG) + BODY,
    "negative": lambda first, last: head(206, f"Content-Range: bytes -1-5/10", TAG, "Content-Length: -5") + BODY,
    "enormous": lambda first, last: head(206, f"Content-Range: bytes 0-{2**63 - 2}/{2**63 - 1}", TAG, length=2**63 - 1) + BODY,
    "overflowing": lambda first, last: head(206, f"Content-Range: bytes 0-{10**30}/{10**31}", TAG, length=10**31) + BODY,
    "backwards": lambda first, last: head(206, "Content-Range: bytes 9-3/10", TAG, length=4) + b"abcd",
    "a redirection": lambda first, last: head(302, f"Location: {elsewhere}api/file?path=/x", length=0),
    "a forever redirection": lambda first, last: head(301, f"Location: {elsewhere}", length=0),
    "forbidden": lambda first, last: problem(403),
    "locked out": lambda first, last: problem(401),
    "damaged": lambda first, last: problem(422, "it is\ndamaged\x07 in\0 many ways" + "y" * 100_000),
    "failing": lambda first, last: problem(500),
    "gone": lambda first, last: problem(404),
    "no room": lambda first, last: problem(507),
    "not satisfied": lambda first, last: head(416, "Content-Range: bytes */999999", length=0),
    "a strange status": lambda first, last: head(299, length=2) + b"xx",
    "status 999": lambda first, last: head(999, length=2) + b"xx",
    "status 0": lambda first, last: b"HTTP/1.1 000 x\r\n\r\n",
    "no HTTP": lambda first, last: b"220 smtp.example.org ESMTP\r\n" * 10,
    "nothing": lambda first, last: b"",
    "endless headers": lambda first, last: b"HTTP/1.1 200 OK\r\n" + b"X-Filler: " + b"x" * 5000 + b"\r\n" * 1
    + b"".join(b"X-%d: y\r\n" % number for number in range(100_000)),
    "a long header": lambda first, last: b"HTTP/1.1 200 OK\r\nETag: \"" + b"t" * 3_000_000,
    "endless continues": lambda first, last: b"HTTP/1.1 100 Continue\r\n\r\n" * 200_000,
    "a tag of two lines": lambda first, last: head(206, f"Content-Range: bytes {first}-{min(last, len(BODY) - 1)}/{len(BODY)}",
                                                   'ETag: "a', ' X-Injected: yes"', length=0),
    "chunks of any size": lambda first, last: head(206, f"Content-Range: bytes {first}-{min(last, len(BODY) - 1)}/{len(BODY)}", TAG,
                                                   "Transfer-Encoding: chunked") + b"fffffffffffffffff\r\n" + BODY,
    "packed": lambda first, last: head(206, f"Content-Range: bytes {first}-{min(last, len(BODY) - 1)}/{len(BODY)}", TAG,
                                       "Content-Encoding: gzip", length=9) + b"\x1f\x8b\x08abcdef",
}
# The parts that were asked for of an honest file.
asked = []


def counted(first, last):
    asked.append((first, last))
    return honest(first, last)


FILES["honest"] = counted
# These are read in the end, or in part.
MAY_BE_READ = {"no tag then one", "long body", "honest"}
LISTS = {
    "no JSON": b"<html>", "deep": b'{"items":' + b"[" * 200_000, "half": b'{"items":[{"name":"a"', "numbers": b"1" * 100_000,
    "wrong types": b'{"items":[{"name":5}]}', "array": b"[]", "bad text": b'{"items":[{"name":"\xff\xfe"}]}',
    "endless": None, "redirected": None,
}
# Where a link leads, and whether it can be followed without leaving the server's tree.
LINKS = {"/etc/passwd": False, "../etc/passwd": False, "..": False, "same/../../etc": False, "./../x": False,
         "same/..": False, "same": True, "./same": True, "nowhere/at/all": True, "...": True, "/": False}
# The same in a folder.
INNER_LINKS = {"..": True, "../same": True, "./../same": True, "../..": False, "name/..": False, "name/../same": False,
               "../name/..": False, "../../name": False}
BAD_NAMES = ["", ".", "..", "../up", "a/b", "/", "x" * 256, "nul\0l"]


def root():
    items = [item(name) for name in [*FILES, *BAD_NAMES, "same", "same"]] + [item("inner", None, "directory")]
    items += [item("list " + name, None, "directory") for name in LISTS]
    items += [item("escape", encodedPath="/..%2f..%2fetc"), item("step", encodedPath="/%2e%2e"),
              *(item(f"link {number}", link=target) for number, target in enumerate(LINKS)), item("no link", link=""), item("large", 10**17), item("less", -7),
              item("kind", kind="whatever"), item("time", modified="99999-99-99T99:99:99Z")]
    return items


def answer(path, query, headers):
    name = urllib.parse.unquote(query.partition("&")[0].removeprefix("path=")).strip("/")
    if path == "/api/events":
        return head(200) + b'data: {"path":"/inner"}\ndata: [{\n\xff\n' + b"x" * 200_000 + b'\ndata: {"path":"/"}\n\n'
    if path == "/api/list" and not name:
        body = json.dumps({"items": root()}).encode()
        return head(200, TAG, length=len(body)) + body
    if path == "/api/list" and name == "inner":
        items = [item(str(number), link=target, absolutePath=f"/inner/{number}") for number, target in enumerate(INNER_LINKS)]
        body = json.dumps({"items": items}).encode()
        return head(200, length=len(body)) + body
    if path == "/api/list":
        body = LISTS.get(name.removeprefix("list "), b"{}")
        if body is None and "redirected" in name:
            return head(307, f"Location: {elsewhere}", length=0)
        if body is None:
            return head(200) + b'{"items":[' + b" " * (80 << 20)
        return head(200, length=len(body)) + body
    if path == "/api/stat":
        found = {"name": "", "type": "directory", "modified": "2024-01-01T00:00:00.000Z"} if not name else \
            next((item for item in root() if item["name"] == name), None)
        if found is None:
            return problem(404)
        body = json.dumps({**found, "state": "exact"}).encode()
        return head(200, length=len(body)) + body
    if path == "/api/file":
        first, last = (headers.get("range", "bytes=0-") + "x").removeprefix("bytes=").rstrip("x").split("-")
        return FILES.get(name, lambda *_: problem(404))(int(first), int(last or len(BODY) - 1))
    return problem(404)


def serve(connection):
    try:
        connection.settimeout(20)
        data = b""
        while b"\r\n\r\n" not in data:
            got = connection.recv(4096)
            if not got:
                return
            data += got
        lines = data.decode("latin-1").split("\r\n")
        if "X-Injected" in data.decode("latin-1"):
            complain("a header was made of a tag")
        path, _, query = lines[0].split(" ")[1].partition("?")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
        connection.sendall(answer(path, query, headers))
    except OSError:
        pass
    finally:
        connection.close()


listening = socket.create_server(("127.0.0.1", 0), backlog=64)


def accept():
    while True:
        threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True).start()


for body in (accept, watch_trap):
    threading.Thread(target=body, daemon=True).start()
token = os.path.join(folder, "token")
with open(token, "w") as file:
    file.write("secret-token")
os.chmod(token, 0o600)
tried = 0
# Nothing is asked of a proxy, whatever the environment says.
os.environ.update({name: elsewhere for name in ("http_proxy", "https_proxy", "all_proxy", "ALL_PROXY")}, no_proxy="")
with Mount(ffmount, f"http://127.0.0.1:{listening.getsockname()[1]}", os.path.join(folder, "mnt"), "-o",
           f"wait=1,token_file={token}") as mount:
    names = os.listdir(mount.folder)
    expect("names that lead elsewhere", [name for name in names if name in BAD_NAMES or name in ("escape", "step", "no link")], [])
    expect("two of one name", names.count("same"), 1)
    expect("sizes", (os.lstat(mount.path("large")).st_size, os.lstat(mount.path("less")).st_size), (1, 1))
    for number, (target, is_followed) in enumerate(LINKS.items()):
        path = mount.path(f"link {number}")
        if is_followed:
            expect(f"a link to {target}", os.readlink(path), target)
            continue
        status = os.lstat(path)
        expect(f"a link to {target}", (stat.S_ISREG(status.st_mode), status.st_size), (True, len(target)))
        with open(path) as file:
            expect(f"the text of a link to {target}", file.read(), target)
    kinds = {entry.name: entry.is_symlink() for entry in os.scandir(mount.folder)}
    expect("links in a listing", [kinds[f"link {number}"] for number in range(len(LINKS))], list(LINKS.values()))
    expect("links in a folder", [entry.is_symlink() for entry in sorted(os.scandir(mount.path("inner")), key=lambda entry: entry.name)],
           list(INNER_LINKS.values()))
    for name in FILES:
        tried += 1
        began = time.monotonic()
        try:
            with open(mount.path(name), "rb") as file:
                data = file.read()
        except OSError as error:
            if error.errno not in (errno.EIO, errno.EACCES, errno.ENOENT, errno.ESTALE, errno.ENOSPC):
                complain(f"{name}: {error}")
        else:
            if name not in MAY_BE_READ or data != BODY:
                complain(f"{name}: {len(data)} bytes were read, right: {data == BODY}")
        # By a jump, which asks for a part alone.
        try:
            with open(mount.path(name), "rb", buffering=0) as file:
                data = os.pread(file.fileno(), 100, 700_000)
        except OSError:
            pass
        else:
            expect(f"a jump in {name}", data, BODY[700_000:700_100])
        if time.monotonic() - began > 15:
            complain(f"{name} took {time.monotonic() - began:.1f} s")
    # Each jump asks for its part once, and for nothing behind it.
    jumps = [700_000, 300_000, 900_000]
    with open(mount.path("honest"), "rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        asked.clear()
        expect("the bytes of jumps", [os.pread(file.fileno(), 4096, at) == BODY[at:at + 4096] for at in jumps], [True] * 3)
    expect("what jumps ask for", [first <= at <= last < first + (1 << 17) + 4096 for at, (first, last) in zip(jumps, asked)] + [len(asked)],
           [True] * 3 + [3])
    for name in LISTS:
        tried += 1
        code, seconds = failure(os.listdir, mount.path("list " + name))
        if code != errno.EIO or seconds > 15:
            complain(f"list {name}: {code} after {seconds:.1f} s")
    failure(whole, mount.path("damaged"))
    error = attribute(mount.path("damaged"), "error")
    if "damaged" not in error or len(error) > 4096 or "\n" in error or "\0" in error:
        complain(f"the sentence: {error[:200]!r}, {mount.said[-500:]!r}")
    if mount.memory > 400:
        complain(f"it takes {mount.memory} MB")
    expect("where it was led to", trapped, [])
    expect("the mount is alive", failure(os.stat, mount.path("kind"))[0], 0)
    if "secret-token" in mount.said:
        complain("the token is in the log")
with Mount(ffmount, f"http://127.0.0.1:{listening.getsockname()[1]}", os.path.join(folder, "all"), "-o",
           f"wait=1,token_file={token},symlinks=all") as mount:
    found = [os.readlink(mount.path(f"link {number}")) for number in range(len(LINKS))]
    expect("links that are followed", found, list(LINKS))
print(f"tried {tried}")
