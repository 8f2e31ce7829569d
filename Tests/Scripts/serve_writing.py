"""serve_writing.py FFSERVE FOLDER: WebDAV with `-o rw`, by clients that follow the rules and others that do not.

Makes its files below FOLDER, and prints what is not as it should be, and at the end "done".
"""
import fcntl
import hashlib
import json
import os
import re
import socket
import sys
import threading
import time
import urllib.parse
import zipfile

from serving import Server, answer

program, folder = sys.argv[1:]
source = os.path.join(folder, "shown")
SECRET = b"not for anybody"


def same(what, found, wanted):
    if found != wanted:
        print(f"{what}: {str(found)[:400]!r} instead of {str(wanted)[:400]!r}")


def content(*names):
    try:
        with open(os.path.join(source, *names), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def left():
    """The names of files that are not complete."""
    return [name for _, _, names in os.walk(source) for name in names if name.endswith(".part")]


def make():
    os.makedirs(os.path.join(source, "folder", "deep"))
    with open(os.path.join(folder, "secret.txt"), "wb") as file:
        file.write(SECRET)
    with open(os.path.join(source, "plain.txt"), "wb") as file:
        file.write(b"plain")
    with open(os.path.join(source, "folder", "deep", "inner.txt"), "wb") as file:
        file.write(b"inner")
    os.symlink("../secret.txt", os.path.join(source, "out"))
    os.symlink("..", os.path.join(source, "up"))
    os.symlink("plain.txt", os.path.join(source, "link"))
    os.mkfifo(os.path.join(source, "pipe"))
    with zipfile.ZipFile(os.path.join(source, "a.zip"), "w") as archive:
        archive.writestr("x/packed.txt", "packed" * 100)


def quote(path):
    return "/dav/" + urllib.parse.quote(path)


def writes(server):
    """Files and folders as RFC 4918 says, and what may not be."""
    ask = lambda method, path, *headers, body=b"": server.ask(path, *headers, method=method, body=body)
    status = lambda *words, **more: ask(*words, **more).status
    data = os.urandom(3 << 20)
    same("a new file", status("PUT", "/dav/new.bin", body=data), 201)
    same("its bytes", content("new.bin"), data)
    same("the same again", status("PUT", "/dav/new.bin", body=b"short"), 204)
    same("its new bytes", (content("new.bin"), ask("GET", "/dav/new.bin").body), (b"short", b"short"))
    same("an empty file", (status("PUT", "/dav/empty", "Content-Length: 0"), content("empty")), (201, b""))
    reserve = lambda: status("PUT", "/dav/reserved", "Content-Length: 0", "Upload-Complete: ?0", "If-None-Match: *")
    same("a reserved name", (reserve(), content("reserved"), reserve()), (201, b"", 412))
    same("no folder for it", status("PUT", "/dav/none/new", body=b"x"), 409)
    same("a folder instead", status("PUT", "/dav/folder", body=b"x"), 405)
    same("a part of a file", status("PUT", "/dav/new.bin", "Content-Range: bytes 0-0/9", body=b"x"), 400)
    same("through a link", (status("PUT", "/dav/link", body=b"linked"), content("plain.txt")), (204, b"linked"))
    same("a pipe", status("PUT", "/dav/pipe", body=b"x"), 405)
    for name in ["ümläut & #1?.txt", "raw\udcff\udcfe", "line\r\nx: y", '"<&>', "%41", "a" * 255, " ", "COM1:", "京都\u202e"]:
        path = quote(name.encode("utf-8", "surrogateescape"))
        same(f"{name!r}", (status("PUT", path, body=b"odd"), content(name), status("DELETE", path)), (201, b"odd", 204))
    for method, target in [("PUT", "a" * 256), ("MKCOL", "a" * 256), ("GET", "a" * 256)]:
        got = ask(method, quote(target), body=b"x" if method == "PUT" else b"")
        same(f"{method} of a name that is too long", (got.status, b"255 bytes" in got.body), (414, True))
    same("folders", [status("MKCOL", "/dav/made/"), status("MKCOL", "/dav/made"), status("MKCOL", "/dav/no/where")], [201, 405, 409])
    same("a folder with a body", status("MKCOL", "/dav/other", body=b"x"), 415)
    to = lambda path, *more: (f"Destination: {path}", *more)
    here = f"http://127.0.0.1:{server.port}"
    same("a copy", (status("COPY", "/dav/folder", *to(here + "/dav/copy")), content("copy", "deep", "inner.txt")), (201, b"inner"))
    same("one that is flat", (status("COPY", "/dav/folder/", *to("/dav/flat/", "Depth: 0")), os.listdir(os.path.join(source, "flat"))), (201, []))
    same("not over it", status("COPY", "/dav/new.bin", *to("/dav/copy", "Overwrite: F")), 412)
    same("over it", (status("COPY", "/dav/new.bin", *to("/dav/copy")), content("copy")), (204, b"short"))
    same("a move", (status("MOVE", "/dav/copy", *to("/dav/made/moved")), content("made", "moved"), content("copy")), (201, b"short", None))
    # With Depth: 0, as rename(2), so that nothing in a folder is removed.
    status("MKCOL", "/dav/hollow")
    status("MKCOL", "/dav/other")
    flat_move = lambda path, new: status("MOVE", path, *to(new, "Depth: 0"))
    same("a file over folders", [flat_move("/dav/new.bin", path) for path in ("/dav/folder", "/dav/hollow")], [412, 412])
    same("folders over others", [flat_move("/dav/hollow", path) for path in ("/dav/folder", "/dav/new.bin", "/dav/other")], [412, 412, 204])
    same("the files", (content("folder", "deep", "inner.txt"), content("new.bin"), status("DELETE", "/dav/other", "Depth: 0")), (b"inner", b"short", 204))
    same("a file over a file", (flat_move("/dav/empty", "/dav/made/moved"), content("made", "moved"), status("PUT", "/dav/empty", body=b"")), (204, b"", 201))
    same("into itself", [status(method, "/dav/folder", *to("/dav/folder/deep/x")) for method in ("COPY", "MOVE")], [403, 403])
    same("over what it is in", [status(method, "/dav/folder/deep", *to("/dav/folder")) for method in ("COPY", "MOVE")], [403, 403])
    same("elsewhere", status("COPY", "/dav/new.bin", *to("http://other.example/dav/x")), 502)
    same("outside", [status("COPY", "/dav/new.bin", *to(path)) for path in ("/x", "/dav/../x", "/dav/%2e%2e/x", "/dav/a%2fb")], [502] * 4)
    same("the root", [status("DELETE", "/dav/"), status("MOVE", "/dav/", *to("/dav/x")), status("COPY", "/dav/folder", *to("/dav/"))], [403] * 3)
    same("a file of a view", status("COPY", "/dav/a.zip.contents", *to("/dav/unpacked")), 201)
    same("its bytes", content("unpacked", "x", "packed.txt"), b"packed" * 100)
    for method, path, *more in [
        ("PUT", "/dav/a.zip.contents/x/new"), ("MKCOL", "/dav/a.zip.contents/new"), ("DELETE", "/dav/a.zip.contents/x/packed.txt"),
        ("MOVE", "/dav/a.zip.contents/x", *to("/dav/moved")), ("COPY", "/dav/new.bin", *to("/dav/a.zip.contents/new")),
        ("DELETE", "/dav/a.zip.contents"), ("MOVE", "/dav/new.bin", *to("/dav/a.zip.contents/x/packed.txt")),
    ]:  # fmt: skip
        got = ask(method, path, *more, body=b"x" if method == "PUT" else b"")
        same(f"{method} in a view", (got.status, b"view" in got.body or b"real files" in got.body), (403, True))
    same("a folder with entries, of depth 0", (status("DELETE", "/dav/made", "Depth: 0"), os.path.isdir(os.path.join(source, "made"))), (409, True))
    same("an empty one", (status("MKCOL", "/dav/void"), status("DELETE", "/dav/void", "Depth: 0")), (201, 204))
    same("another depth", status("DELETE", "/dav/made", "Depth: 1"), 400)
    same("a removed folder", (status("DELETE", "/dav/made"), content("made", "moved"), status("GET", "/dav/made/")), (204, None, 404))
    same("a removed link", (status("DELETE", "/dav/link"), content("plain.txt")), (204, b"linked"))
    same("nothing is left", left(), [])


def escapes(server):
    """Nothing outside is read, written or removed."""
    for path in ["out", "up/secret.txt", "up/new", "up/shown/x", "%2e%2e/secret.txt", "folder/%2e%2e/%2e%2e/secret.txt", "..%2fsecret.txt", "a%00b"]:
        for method in ["PUT", "MKCOL", "COPY", "MOVE", "PROPPATCH", "LOCK"]:
            if path == "out" and method in ("MKCOL", "MOVE"):
                continue
            got = server.ask("/dav/" + path, "Destination: /dav/stolen", method=method, body=b"x" if method == "PUT" else b"")
            if got.status < 400 or SECRET in got.data:
                print(f"{method} {path}: {got.status} {got.data[:200]!r}")
    for path in ["up/x", "out", "%2e%2e/x"]:
        server.ask("/dav/plain.txt", f"Destination: /dav/{path}", "Overwrite: T", method="COPY")
    same("the secret", open(os.path.join(folder, "secret.txt"), "rb").read(), SECRET)
    same("what is beside it", sorted(os.listdir(folder)), beside)
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1", "http://192.0.2.1"]:
        for more in ([], ["Sec-Fetch-Site: none"], ["Sec-Fetch-Site: x"], [f"Origin: http://127.0.0.1:{server.port}"]):
            same(f"a page of {origin}, {more}", server.ask("/dav/forged", f"Origin: {origin}", *more, method="PUT", body=b"x").status, 403)
    same("the page itself", server.ask("/dav/own", f"Origin: http://127.0.0.1:{server.port}", method="PUT", body=b"x").status, 201)


def conditions(server):
    """Of two clients that know the same state, one succeeds."""
    tag = server.ask("/dav/state", method="PUT", body=b"0").header("etag")
    same("another state", server.ask("/dav/state", 'If-Match: "other"', method="PUT", body=b"x").status, 412)
    same("none", server.ask("/dav/state", "If-None-Match: *", method="PUT", body=b"x").status, 412)
    same("an old one", server.ask("/dav/state", "If-Unmodified-Since: Mon, 06 May 2024 10:00:00 GMT", method="DELETE").status, 412)
    same("to read", server.ask("/dav/state", 'If-Match: "other"').status, 412)
    same("the tag", server.ask("/dav/state").header("etag"), tag)
    got = []
    threads = [threading.Thread(target=lambda n=n: got.append(server.ask("/dav/state", f"If-Match: {tag}", method="PUT", body=b"%d" % n).status)) for n in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    same("eight at once", sorted(got), [204] + [412] * 7)
    got.clear()
    threads = [threading.Thread(target=lambda n=n: got.append(server.ask("/dav/first", "If-None-Match: *", method="PUT", body=b"%d" % n).status)) for n in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    same("eight that make it", (got.count(201), [status for status in got if status not in (201, 409, 412)]), (1, []))
    bodies = [bytes([n]) * (1 << 20) for n in range(6)]
    threads = [threading.Thread(target=lambda body=body: server.ask("/dav/raced", method="PUT", body=body)) for body in bodies]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    same("the bytes of one", content("raced") in bodies, True)


LOCK = b'<?xml version="1.0"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:%s/></D:lockscope><D:locktype><D:write/></D:locktype><D:owner>&lt;me&gt;</D:owner></D:lockinfo>'


def locks(server):
    status = lambda method, path, *headers, body=b"": server.ask(path, *headers, method=method, body=body).status
    got = server.ask("/dav/locked", "Timeout: Infinite, Second-99999999999999999999", method="LOCK", body=LOCK % b"exclusive")
    token = got.header("lock-token")
    same("a lock makes a file", (got.status, content("locked"), b"&lt;me&gt;" in got.body), (201, b"", True))
    same("without it", [status("PUT", "/dav/locked", body=b"x"), status("DELETE", "/dav/locked"), status("LOCK", "/dav/locked", body=LOCK % b"shared")], [423] * 3)
    same("by a copy", status("COPY", "/dav/plain.txt", "Destination: /dav/locked"), 423)
    same("with it", status("PUT", "/dav/locked", f"If: ({token})", body=b"mine"), 204)
    same("with others", [status("PUT", "/dav/locked", f"If: {text}", body=b"x") for text in ("(<urn:uuid:1>)", "(Not <urn:uuid:1>)", "garbage", "(", "()")], [412, 423, 400, 400, 400])
    same("renewed", status("LOCK", "/dav/locked", f"If: ({token})", "Timeout: Second-5"), 200)
    same("unlocked", [status("UNLOCK", "/dav/locked", "Lock-Token: <urn:uuid:1>"), status("UNLOCK", "/dav/locked", f"Lock-Token: {token}"), status("PUT", "/dav/locked", body=b"x")], [409, 204, 204])
    token = server.ask("/dav/folder", method="LOCK", body=LOCK % b"exclusive").header("lock-token")
    same("below", [status("PUT", "/dav/folder/new", body=b"x"), status("DELETE", "/dav/folder"), status("MKCOL", "/dav/folder/m")], [423] * 3)
    same("below, with it", status("PUT", "/dav/folder/new", f"If: </dav/folder> ({token})", body=b"x"), 201)
    same("over it", status("LOCK", "/dav/", body=LOCK % b"exclusive"), 423)
    status("UNLOCK", "/dav/folder", f"Lock-Token: {token}")
    # Set while the bytes of another client arrive.
    os.symlink("plain.txt", os.path.join(source, "another"))
    for name, begin in (("/dav/plain.txt", "PUT"), ("/dav/another", "PUT")):
        before = content("plain.txt")
        with server.connect() as connection:
            connection.sendall(f"{begin} {name} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8\r\n\r\nhalf".encode())
            time.sleep(.3)
            token = server.ask("/dav/plain.txt", method="LOCK", body=LOCK % b"exclusive").header("lock-token")
            connection.sendall(b"half")
            same(f"{begin} {name} beside a new lock", (answer(connection).status, content("plain.txt"), left()), (423, before, []))
        status("UNLOCK", "/dav/plain.txt", f"Lock-Token: {token}")
    token = server.ask("/dav/folder", method="LOCK", body=LOCK % b"exclusive").header("lock-token")
    os.symlink("folder", os.path.join(source, "to folder"))
    same("through a link", [status("PUT", "/dav/to%20folder/" + name, body=b"x") for name in ("new", "newer")], [423] * 2)
    status("UNLOCK", "/dav/folder", f"Lock-Token: {token}")
    token = server.ask("/dav/brief", "Timeout: Second-1", method="LOCK", body=LOCK % b"exclusive").header("lock-token")
    same("a brief one", status("PUT", "/dav/brief", body=b"x"), 423)
    until = time.time() + 10
    while status("PUT", "/dav/brief", body=b"x") == 423 and time.time() < until:
        time.sleep(.1)
    same("after it", (content("brief"), token != ""), (b"x", True))
    # What is moved takes no lock along, and leaves none.
    token = server.ask("/dav/moving", method="LOCK", body=LOCK % b"exclusive").header("lock-token")
    same("moved", status("MOVE", "/dav/moving", f"If: ({token})", "Destination: /dav/moved"), 201)
    same("after a move", [status("PUT", path, body=b"x") for path in ("/dav/moving", "/dav/moved")], [201, 204])
    token = server.ask("/dav/moved", method="LOCK", body=LOCK % b"exclusive").header("lock-token")
    same("removed", status("DELETE", "/dav/moved", f"If: ({token})"), 204)
    same("after a removal", status("PUT", "/dav/moved", body=b"x"), 201)
    # A file that cannot be made is not locked.
    os.symlink("nothing", os.path.join(source, "broken"))
    tries = {status("LOCK", "/dav/broken", body=LOCK % b"exclusive") for _ in range(3)}
    same("a broken link", (len(tries), tries & {200, 201, 423}), (1, set()))
    os.unlink(os.path.join(source, "broken"))
    shared = [status("LOCK", "/dav/shared", body=LOCK % b"shared") for _ in range(102)]
    same("not any number of shared ones", shared, [201] + [200] * 99 + [423] * 2)


def properties(server):
    """What PROPPATCH sets, PROPFIND says; also after a move, and beside other bytes."""
    update = lambda text: b'<?xml version="1.0"?><D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:z">' + text + b"</D:propertyupdate>"
    change = lambda text: server.ask("/dav/plain.txt", method="PROPPATCH", body=update(text))
    find = lambda path: server.ask(path, "Depth: 0", method="PROPFIND", body=b'<D:propfind xmlns:D="DAV:" xmlns:Z="urn:z"><D:prop><Z:a/><Z:b/></D:prop></D:propfind>').body.decode()
    same("set", change(b"<D:set><D:prop><Z:a>1 &lt; <Y xmlns='urn:y' k='&quot;'>2</Y></Z:a><Z:b/></D:prop></D:set>").status, 207)
    server.ask("/dav/plain.txt", method="PUT", body=b"other bytes")
    server.ask("/dav/plain.txt", "Destination: /dav/with.txt", method="MOVE")
    server.ask("/dav/with.txt", "Destination: /dav/plain.txt", method="COPY")
    for path in ("/dav/with.txt", "/dav/plain.txt"):
        same(path, '<a xmlns="urn:z">1 &lt; <Y xmlns="urn:y" k="&quot;">2</Y></a>' in find(path), True)
    got = change(b"<D:set><D:prop><Z:a>3</Z:a><D:getetag>x</D:getetag></D:prop></D:set>").body
    same("one that cannot be", (b"403 Forbidden" in got, b"424" in got, ">1 &lt;" in find("/dav/plain.txt")), (True, True, True))
    same("removed", (change(b"<D:remove><D:prop><Z:a/></D:prop></D:remove>").status, "404" in find("/dav/plain.txt")), (207, True))
    change(b"<D:set><D:prop><x:Win32LastModifiedTime xmlns:x='urn:schemas-microsoft-com:'>Mon, 06 May 2024 10:00:00 GMT</x:Win32LastModifiedTime></D:prop></D:set>")
    got = change(b"<D:set><D:prop><o:modified xmlns:o='urn:ffmount'>1700000000.25</o:modified></D:prop></D:set>")
    same("a client mount's time", (os.stat(os.path.join(source, "plain.txt")).st_mtime, got.header("etag")),
         (1700000000.25, server.ask("/dav/plain.txt").header("etag")))
    server.ask("/dav/timed.txt", "X-OC-Mtime: 1600000000.5", method="PUT", body=b"x")
    got = server.ask("/dav/timed.txt", "Destination: /dav/timed", method="MOVE")
    same("a time with a fraction", os.stat(os.path.join(source, "timed")).st_mtime, 1600000000.5)
    same("the tag after a move", got.header("etag"), server.ask("/dav/timed").header("etag"))
    same("no time", server.ask("/dav/timed.txt", "X-OC-Mtime: soon.99999999999", method="PUT", body=b"x").header("x-oc-mtime"), "")
    change(b"<D:set><D:prop><x:Win32LastModifiedTime xmlns:x='urn:schemas-microsoft-com:'>Mon, 06 May 2024 10:00:00 GMT</x:Win32LastModifiedTime></D:prop></D:set>")
    same("Windows' time", int(os.stat(os.path.join(source, "plain.txt")).st_mtime), 1714989600)
    for body in [b"<a", b"<!DOCTYPE x><D:propertyupdate xmlns:D='DAV:'/>", update(b""), update(b"<D:set><D:prop><q:x/></D:prop></D:set>"), b"<x>" * 2000, update(b"<D:set><D:prop><Z:a>&e;</Z:a></D:prop></D:set>")]:
        same(f"{body[:40]!r}", server.ask("/dav/plain.txt", method="PROPPATCH", body=body).status, 400)
    got = change(b"<D:set><D:prop><Z:a>" + b"x" * 60000 + b"</Z:a></D:prop></D:set>")
    same("one that is large", (got.status, b" 507 " in got.body or b" 200 " in got.body), (207, True))
    same("the root of the server", [server.ask("/", "Depth: 1", method="PROPFIND").body.count(b"<D:response>"), "1, 2, 3" in server.ask("/", method="OPTIONS").header("dav")], [2, True])


def broken(server):
    """What is cut off is not there, whatever the moment."""
    data = os.urandom(1 << 20)
    before = hashlib.sha256(content("plain.txt")).digest()
    for name in ["plain.txt", "never"]:
        for count in [0, 1, 1000, 100_000, (1 << 20) - 1]:
            with server.connect() as connection:
                connection.sendall(f"PUT /dav/{name} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data[:count])
                if count % 2:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    for body in [b"5\r\nhello\r\nzz\r\n", b"5\r\nhello"]:
        with server.connect() as connection:
            connection.sendall(f"PUT /dav/never HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nTransfer-Encoding: chunked\r\n\r\n".encode() + body)
    # What a client asked for that has left may still begin.
    until = time.time() + 10
    clean = 0
    while clean < 10 and time.time() < until:
        clean = 0 if left() or b"\nffserve_connections 1\n" not in server.ask("/metrics").body else clean + 1
        time.sleep(.05)
    same("cut off", (content("never"), hashlib.sha256(content("plain.txt")).digest() == before, left()), (None, True, []))
    # Clients remove what others write.
    found = set()
    write = lambda count, *headers: found.update(server.ask("/dav/crossed", *headers, method="PUT", body=b"x" * count).status for _ in range(150))
    remove = lambda: [server.ask("/dav/crossed", method="DELETE") for _ in range(300)]
    threads = [threading.Thread(target=write, args=args) for args in ((70_000,), (9, "X-OC-Mtime: 1600000000"), (9,))] + [threading.Thread(target=remove) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    same("PUT beside DELETE", found - {201, 204}, set())
    server.ask("/dav/crossed", method="DELETE")
    got = server.raw(f"PUT /dav/chunks HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n".encode())
    same("chunks", (b"100 Continue" in got.data, content("chunks")), (True, b"hello!"))
    with server.connect() as connection:
        connection.sendall(f"PUT /dav/none/x HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: 99999999\r\nExpect: 100-continue\r\n\r\n".encode())
        got = connection.recv(1 << 16)
        same("refused before it is sent", (b" 409 " in got, b"100 Continue" in got), (True, False))
    with server.connect() as connection:
        request = f"PUT /dav/one HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: 3\r\n\r\none".encode()
        connection.sendall(request + request.replace(b"one", b"two") + request.replace(b"/dav/one", b"/dav/none/x") + request)
        got = b""
        while len(re.findall(rb"HTTP/1.1 \d+", got)) < 4:
            part = connection.recv(1 << 16)
            if not part:
                break
            got += part
    same("several in a row", (re.findall(rb"HTTP/1.1 (\d+)", got), content("one"), content("two")), ([b"201", b"201", b"409", b"204"], b"one", b"two"))


TUS = "Tus-Resumable: 1.0.0"


def uploads(server):
    """tus 1.0: what arrives stays, whatever ends the connection or the server, and has its name only when it is complete."""
    data = os.urandom(300_000)

    def create(path, size, *more, headers=(TUS,)):
        return server.ask(f"/api/uploads?path={path}" + "".join(more), f"Upload-Length: {size}", *headers, method="POST")

    def send(address, offset, body, *more):
        return server.ask(address, TUS, f"Upload-Offset: {offset}", *(more or ("Content-Type: application/offset+octet-stream",)), method="PATCH", body=body)

    # Conditions hold for the last part, and the answer to that has the new tag.
    server.ask("/dav/state.bin", method="PUT", body=b"before")
    tag = server.ask("/dav/state.bin").header("etag")
    octets = "Content-Type: application/offset+octet-stream"
    address = create("/state.bin", 5, "&replace=1").header("location")
    same("in another state", (send(address, 0, b"after", octets, 'If-Match: "other"').status, content("state.bin")), (412, b"before"))
    same("given up after that", server.ask(address, TUS, method="DELETE").status, 204)
    got = send(create("/state.bin", 5, "&replace=1").header("location"), 0, b"after", octets, f"If-Match: {tag}", "X-OC-Mtime: 1600000000.5")
    same("in the required one", (got.status, content("state.bin"), os.stat(os.path.join(source, "state.bin")).st_mtime), (204, b"after", 1600000000.5))
    same("its tag", (got.header("etag") != tag, got.header("etag")), (True, server.ask("/dav/state.bin").header("etag")))
    got = server.ask("/api/uploads", method="OPTIONS")
    same("what is there", (got.status, got.header("tus-version"), got.header("tus-extension")), (204, "1.0.0", "creation,termination"))
    got = create("/in/new.bin", len(data))
    address = got.header("location")
    same("begun", (got.status, content("in", "new.bin")), (201, None))
    same("a part", (send(address, 0, data[:1000]).header("upload-offset"), content("in", "new.bin")), ("1000", None))
    same("from elsewhere", [send(address, offset, b"x").status for offset in (0, 999, 1001, 1 << 62)], [409] * 4)
    same("no offset", [send(address, text, b"x").status for text in ("-1", "x", "9" * 30, "")], [400] * 4)
    same("another type", send(address, 1000, b"x", "Content-Type: text/plain").status, 415)
    same("no protocol", [create("/x", 1, headers=()).status, server.ask(address, method="HEAD").status], [412, 412])
    same("no size", [create("/x", size).status for size in ("-1", "x", "9" * 30, "")], [400] * 4)
    same("too much", send(address, 1000, data).status, 413)
    offset = int(server.ask(address, TUS, method="HEAD").header("upload-offset"))
    with server.connect() as connection:
        connection.sendall(f"PATCH {address} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n{TUS}\r\nUpload-Offset: {offset}\r\nContent-Type: application/offset+octet-stream\r\n"
                           f"Content-Length: {len(data) - offset}\r\n\r\n".encode() + data[offset:100_000])  # fmt: skip
        until = time.time() + 10
        while (offset := int(server.ask(address, TUS, method="HEAD").header("upload-offset"))) < 100_000 and time.time() < until:
            time.sleep(.05)
    same("cut off", (offset, content("in", "new.bin")), (100_000, None))
    server.process.kill()
    server.process.wait()
    with Server(program, source, "--no-bonjour", "-o", "rw") as other:
        ask = lambda *headers, **more: other.ask(address, TUS, *headers, **more)
        offset = int(ask(method="HEAD").header("upload-offset"))
        got = ask(f"Upload-Offset: {offset}", "Content-Type: application/offset+octet-stream", method="PATCH", body=data[offset:])
        same("complete", (offset, got.status, content("in", "new.bin") == data, os.listdir(os.path.join(source, "in"))), (100_000, 204, True, ["new.bin"]))
        same("after it", ask(method="HEAD").status, 404)
        make = lambda path, size, more="": other.ask(f"/api/uploads?path={path}{more}", f"Upload-Length: {size}", TUS, method="POST")
        same("not over it", [make("/in/new.bin", 1).status, make("/in/new.bin", 0, "&replace=1").status, content("in", "new.bin")], [409, 201, b""])
        same("outside", [make(path, 1).status for path in ("/../x", "/up/x", "/a.zip.contents/new", "/", "", "/a%00b", "/pipe", "/none%2f..%2fx")], [400, 403, 403, 400, 400, 400, 409, 400])
        got = other.ask(make("/gone", 5).header("location"), TUS, method="DELETE")
        same("given up", (got.status, [name for name in os.listdir(source) if name.endswith(".upload")]), (204, []))
        same("another number", [other.ask(f"/api/uploads/{number}?path=/gone", TUS, method="DELETE").status for number in ("0" * 32, "..", "x" * 32, "")], [404] * 4)
        same("one that is larger than any disk", make("/huge", (1 << 63) - 1).status, 507)
        same("a page elsewhere", other.ask("/api/uploads?path=/x", "Upload-Length: 1", TUS, "Origin: http://evil.example", method="POST").status, 403)


def trash():
    """What the page deletes comes back, unless its name is taken."""
    with Server(program, source, "--no-bonjour", "-o", "rw") as server:
        delete = lambda path: server.ask("/api/file?path=" + urllib.parse.quote(path), method="DELETE")
        restore = lambda item: server.ask("/api/restore?item=" + urllib.parse.quote(item), method="POST")
        for name, data in [("ü #.txt", b"kept"), ("in/b", b"below")]:
            with open(os.path.join(source, name), "wb") as file:
                file.write(data)
            item = json.loads(delete("/" + name).body)["item"]
            same(f"{name} is away", content(name), None)
            same(f"{name} is back", (restore(item).status, content(name), restore(item).status), (200, data, 404))
        token = server.ask("/dav/in", method="LOCK", body=LOCK % b"exclusive").header("lock-token")
        with open(os.path.join(source, "gone"), "wb") as file:
            file.write(b"kept")
        item = json.loads(delete("/gone").body)["item"]
        with open(os.path.join(source, ".trash", "info", item + ".trashinfo"), "w") as file:
            file.write("[Trash Info]\nPath=/in/new\n")
        same("into a locked folder", (restore(item).status, content("in", "new")), (423, None))
        server.ask("/dav/in", f"Lock-Token: {token}", method="UNLOCK")
        same("into it afterwards", (restore(item).status, content("in", "new")), (200, b"kept"))
        item = json.loads(delete("/in").body)["item"]
        os.mkdir(os.path.join(source, "in"))
        same("a name that is taken", (restore(item).status, os.listdir(os.path.join(source, "in"))), (409, []))
        same("what is not there", [restore(text).status for text in ("nothing", "../../secret.txt", "a/b", "")], [404, 400, 400, 400])
        same("what may not be deleted", [delete(path).status for path in ("/", "/a.zip.contents/x", "/up/secret.txt", "/none")], [400, 403, 403, 404])
        with open(os.path.join(source, ".trash", "info", "forged.trashinfo"), "w") as file:
            file.write("[Trash Info]\nPath=/../secret.txt\n")
        same("a forged record", restore("forged").status, 422)
        same("from the trash", (delete("/.trash").status, os.path.exists(os.path.join(source, ".trash"))), (200, False))
    with Server(program, source, "--no-bonjour", "--no-trash", "-o", "rw") as server:
        got = server.ask("/api/file?path=/in", method="DELETE")
        same("for good", (got.status, "item" in json.loads(got.body), sorted(os.listdir(source))[:1] == [".trash"]), (200, False, False))


def killed():
    """A killed server leaves nothing of a file that was on its way; what another has left is not shown, and goes."""
    with Server(program, source, "--no-bonjour", "-o", "rw") as server:
        with server.connect() as connection:
            for name in ("half", "plain.txt"):
                connection.sendall(f"PUT /dav/{name} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000\r\n\r\n".encode() + b"x" * (200000 if name == "half" else 100000))
            seen = server.ask("/metrics").status
            server.process.kill()
            server.process.wait()
        names = [name for name in os.listdir(source) if name.startswith(".ffmount")] + left()
        same("of a killed server", (seen, names, content("plain.txt") is not None), (200, [], True))
    names = [".ffmount-%s.part" % name for name in ("old", "new", "used")] + [".ffmount-" + "0" * 32 + "-9.upload"]
    for name in names:
        with open(os.path.join(source, name), "wb") as file:
            file.write(b"left")
        if "new" not in name:
            os.utime(os.path.join(source, name), (0, time.time() - 600))
    with open(os.path.join(source, names[2]), "rb") as used, Server(program, source, "--no-bonjour", "-o", "rw") as server:
        fcntl.flock(used, fcntl.LOCK_SH)
        listed = [entry["name"] for entry in server.call("list", path="/")["items"]]
        found = server.ask("/dav/", "Depth: 1", method="PROPFIND").body.decode()
        same("what another server left", [name for name in names if name in listed or name in found], [])
        same("of it, what is not in use goes", [os.path.exists(os.path.join(source, name)) for name in names], [False, True, True, True])
        same("by name", [server.ask("/dav/" + names[1], method=method, body=b"x" if method == "PUT" else b"").status for method in ("GET", "PUT", "DELETE")], [404, 403, 403])
        taken = [("PUT", "/dav/.trash", ()), ("MKCOL", "/dav/.trash", ()), ("MOVE", "/dav/plain.txt", ("Destination: /dav/.trash",)), ("COPY", "/dav/plain.txt", ("Destination: /dav/.trash",)),
                 ("POST", "/api/uploads?path=/.trash", (TUS, "Upload-Length: 1"))]  # fmt: skip
        for method, path, headers in taken:
            got = server.ask(path, *headers, method=method, body=b"x" if method == "PUT" else b"")
            same(f"{method}: the name of the trash", (got.status, b"--no-trash" in got.body), (403, True))
        with open(os.path.join(source, ".trash"), "wb") as file:
            file.write(b"mine")
        got = server.ask("/api/file?path=/new.bin", method="DELETE")
        same("a file of that name", (got.status, b"not a folder" in got.body), (409, True))
    for name in [*names[1:], ".trash"]:
        os.remove(os.path.join(source, name))
    with Server(program, source, "--no-bonjour", "--no-trash", "-o", "rw") as server:
        same("without a trash", (server.ask("/dav/.trash", method="PUT", body=b"x").status, server.ask("/dav/.trash", method="DELETE").status), (201, 204))


def foreign():
    """Files of other users that the server's user may write."""
    if os.geteuid() != 0:
        return
    shared = os.path.join(folder, "shared")
    for name, mode in [("open", 0o777), ("sticky", 0o1777)]:
        os.makedirs(os.path.join(shared, name))
        os.chmod(os.path.join(shared, name), mode)
        for file, bits in [("group", 0o664), ("all", 0o666), ("closed", 0o644)]:
            path = os.path.join(shared, name, file)
            with open(path, "wb") as opened:
                opened.write(b"a longer text than the new one")
            os.chown(path, 1, 65534)
            os.chmod(path, bits)
    os.chmod(folder, 0o755)
    server = Server(program, shared, "--no-bonjour", "-o", "rw")
    server.words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", f"HOME={folder}", f"XDG_CACHE_HOME={folder}", *server.words]
    with server:
        for name in ("open", "sticky"):
            for file, wanted in [("group", (204, b"new")), ("all", (204, b"new")), ("closed", (403, b"a longer text than the new one"))]:
                path = os.path.join(shared, name, file)
                status = server.ask(f"/dav/{name}/{file}", method="PUT", body=b"new").status
                with open(path, "rb") as opened:
                    found = (status, opened.read())
                same(f"{name}/{file}", (*found, os.stat(path).st_uid), (*wanted, 1))
            same(f"{name}: what is left", sorted(os.listdir(os.path.join(shared, name))), ["all", "closed", "group"])


def refusals():
    """A refusal arrives although the client is still sending; what it sends is read, but not without end."""
    with Server(program, source, "--no-bonjour", "--token", "long-enough", "-o", "rw") as server:
        body = b"x" * (24 << 20)
        head = lambda method, target, *more: "\r\n".join([f"{method} {target} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}", *more, "", ""]).encode()
        token = "Authorization: Bearer long-enough"
        cases = [("no token", head("PUT", "/dav/x"), 401), ("no folder", head("PUT", "/dav/none/x", token), 409), ("in a view", head("PUT", "/dav/a.zip.contents/x/new", token), 403),
                 ("too much", head("PROPFIND", "/dav/", token), 413), ("not HTTP", b"GET / HTTP/1.1\r\n: x\r\n\r\n", 400)]  # fmt: skip
        for what, start, wanted in cases:
            with server.connect() as connection:
                try:
                    connection.sendall(start + body)
                except OSError as error:
                    print(f"{what}: {error}")
                got = answer(connection)
                same(what, (got.status, got.header("connection")), (wanted, "close"))
        with server.connect() as connection:
            try:
                for _ in range(40):
                    connection.sendall(head("PUT", "/dav/x") + body)
                print("it reads without end")
            except OSError:
                pass
        same("and goes on", server.ask("/api/stat", token).status, 200)



class Events:
    """A client that hears of changes."""

    def __init__(self, server, target, *headers):
        self.connection = server.connect(15)
        lines = [f"GET {target} HTTP/1.1", f"Host: 127.0.0.1:{server.port}", *headers, "", ""]
        self.connection.sendall("\r\n".join(lines).encode())
        self.data = b""
        self.read(b"\r\n\r\n")

    def read(self, word, within=10):
        """Whether a word comes; what follows it is kept."""
        until = time.time() + within
        while word not in self.data:
            self.connection.settimeout(max(.01, until - time.time()))
            try:
                part = self.connection.recv(1 << 16)
            except TimeoutError:
                return False
            if not part:
                return False
            self.data += part
        self.head, _, self.data = self.data.partition(word)
        return True


def events():
    """A change of a folder is told at once, and nothing else."""
    tree = os.path.join(folder, "live")
    os.makedirs(os.path.join(tree, "a", "deep"))
    os.makedirs(os.path.join(tree, "b"))
    with zipfile.ZipFile(os.path.join(tree, "a", "x.zip"), "w") as archive:
        archive.writestr("y", "z")
    place = lambda *names: os.path.join(tree, *names)
    with Server(program, tree, "--no-bonjour", "-o", "rw") as server:
        own = Events(server, "/api/events?path=/a&path=/a/x.zip.contents")
        same("its head", (b" 200 " in own.head, b"text/event-stream" in own.head, b"no-store" in own.head), (True, True, True))
        same("what is watched", [own.read(b'event: watching\ndata: {"path": "/a%s"}' % path) for path in (b"", b"/x.zip.contents")], [True, True])
        same("nothing yet", own.read(b"event:", .5), False)
        steps = [("made", lambda: open(place("a", "new"), "w").close()), ("written", lambda: os.truncate(place("a", "new"), 5)), ("renamed", lambda: os.rename(place("a", "new"), place("a", "other"))),
                 ("by a client", lambda: server.ask("/dav/a/put", method="PUT", body=b"x")), ("removed", lambda: os.unlink(place("a", "put")))]  # fmt: skip
        for what, step in steps:
            server.call("list", path="/a")
            step()
            same(what, own.read(b'{"path": "/a"}'), True)
            names = [item["name"] for item in server.call("list", path="/a")["items"]]
            same(f"{what}: in the next answer", sorted(name for name in names if name in ("new", "other", "put")), sorted(name for name in os.listdir(place("a")) if name in ("new", "other", "put")))
        same("its views", own.read(b'{"path": "/a/x.zip.contents"}') or b"x.zip.contents" in own.head, True)
        time.sleep(.5)
        own.read(b"never", .2)
        own.data = b""
        open(place("b", "elsewhere"), "w").close()
        open(place("a", "deep", "below"), "w").close()
        with open(place("a", ".ffmount-1.part"), "w"):
            same("elsewhere", own.read(b"event:", 1), False)
        for path, wanted in [("/none", 404), ("/a/x.zip", 404), ("/../x", 400)]:
            same(path, server.ask(f"/api/events?path={path}").status in (wanted, 400), True)
        both = Events(server, "/api/events?path=/none&path=/b")
        same("one that is gone beside another", (b" 200 " in both.head, both.read(b'watching\ndata: {"path": "/b"}')), (True, True))
        both.connection.close()
        same("no path", [server.ask("/api/events" + query).status for query in ("", "?path=/" + "&path=/" * 256)], [400, 400])
        same("HEAD", server.ask("/api/events?path=/a", method="HEAD").status, 200)
        for number in range(200):
            Events(server, "/api/events?path=/a").connection.close()
        others = [Events(server, "/api/events?path=/b") for _ in range(50)]
        open(place("b", "new"), "w").close()
        same("many clients", [other.read(b"event: change") for other in others], [True] * 50)
        os.rename(place("b"), place("c"))
        same("a folder that goes", others[0].read(b"event: change"), True)
        server.process.terminate()
        same("the end", others[1].read(b"0\r\n\r\n"), True)
        same("how it ends", server.process.wait(10), 0)


def readonly():
    with Server(program, source, "--no-bonjour") as server:
        for method in ["PUT", "MKCOL", "DELETE", "MOVE", "COPY", "PROPPATCH", "LOCK", "UNLOCK"]:
            got = server.ask("/dav/plain.txt", "Destination: /dav/x", method=method, body=b"x" if method == "PUT" else b"")
            same(f"{method} of a tree that is only read", (got.status, b"-o rw" in got.body, "PUT" in got.header("allow")), (403, True, False))
        for target, method, header in [("/api/uploads?path=/x", "POST", "Upload-Length: 1"), ("/api/file?path=/plain.txt", "DELETE", "X: y"), ("/api/restore?item=x", "POST", "X: y")]:
            same(f"{method} {target}", server.ask(target, TUS, header, method=method).status, 403)
        got = server.ask("/", method="OPTIONS")
        same("its abilities", (got.header("dav"), got.header("allow")), ("1, 3", "OPTIONS, GET, HEAD, PROPFIND"))


make()
beside = sorted(os.listdir(folder))
with Server(program, source, "--no-bonjour", "-o", "rw") as server:
    for part in (writes, escapes, conditions, locks, properties, broken, uploads):
        part(server)
trash()
killed()
foreign()
refusals()
events()
readonly()
print("done")
