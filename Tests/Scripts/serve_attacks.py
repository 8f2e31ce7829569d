"""serve_attacks.py FFSERVE FOLDER: attempts to get out of what is served, past its token, or in its way.

Makes its files below FOLDER. Prints each attempt that is not refused, and at the end how many were made.
"""
import os
import random
import socket
import sys
import time
import zipfile

from serving import Server, answer

program, folder = sys.argv[1:]
SECRET = b"not for anybody"
source = os.path.join(folder, "shown")
tried = 0


def expect(name, got, *statuses):
    """Notes an attempt: one of the statuses, nothing of the secret, and no header that was slipped in."""
    global tried
    tried += 1
    if SECRET in got.data or b"root:x:" in got.data or "x-slipped-in" in got.headers:
        print(f"{name}: it got out: {got.data[:300]!r}")
    elif got.status not in statuses:
        print(f"{name}: {got.status} instead of {statuses}: {got.data[:200]!r}")


def make():
    os.makedirs(os.path.join(source, "inner"))
    with open(os.path.join(folder, "secret.txt"), "wb") as file:
        file.write(SECRET)
    with open(os.path.join(source, "plain.txt"), "wb") as file:
        file.write(b"plain text\n" * 1000)
    for name, target in {"out": "../secret.txt", "far": "/etc/passwd", "up": "..", "round": "round",
                         "deep": "inner/../../secret.txt", "proc": "/proc/self/root/etc/passwd"}.items():
        os.symlink(target, os.path.join(source, name))
    os.mkfifo(os.path.join(source, "pipe"))
    names = ['<script>alert(1)<', 'a"b;c.txt', "line\r\nX-Slipped-In: 1.txt", "</script><img src=x onerror=alert(1)>"]
    for name in names[1:3] + [names[0]]:
        with open(os.path.join(source, name), "wb") as file:
            file.write(b"x")
    for name in ("page.html", "drawing.svg", "page.xhtml", "sheet.xml", "script.js"):
        with open(os.path.join(source, name), "wb") as file:
            file.write(b"<script>alert(1)</script>")
    with zipfile.ZipFile(os.path.join(source, "evil.zip"), "w") as archive:
        for name in ("../../secret.txt", "/etc/passwd", "..\\..\\secret.txt", "<img src=x onerror=alert(1)>.html"):
            archive.writestr(name, "from the archive")
    with open(os.path.join(source, "large.bin"), "wb") as file:
        file.truncate(16 << 20)


def traversal(server):
    steps = ["..", "%2e%2e", ".%2e", "%2E.", "..%00", "..%2f..", "%2e%2e%2f", "..\\..", "..%5c..", "%252e%252e",
             "....//", "..;", "%c0%ae%c0%ae", "%u002e%u002e", "．．", "inner/../.."]
    for step in steps:
        for target in (f"/api/file?path=/{step}/secret.txt", f"/api/file?path={step}/secret.txt",
                       f"/api/list?path=/{step}", f"/api/zip?path={step}", f"/api/view?path=/inner/{step}/{step}/secret.txt",
                       f"/api/search?q=s&path={step}", f"/dav/{step}/secret.txt", f"/dav/inner/{step}/{step}/secret.txt",
                       f"/{step}/secret.txt", f"/page.css/{step}/{step}/secret.txt"):
            expect(target, server.ask(target), 400, 404, 403)
    for target in ("/api/file?path=/etc/passwd", "/api/file?path=//etc/passwd", "/etc/passwd", "//etc/passwd",
                   "/api/file?path=file:///etc/passwd", "http://127.0.0.1/etc/passwd", "/api/file?path=%00", "/api/file?path=%",
                   "/api/file?path=%zz", "/api/file?path=a%00b", "/dav/%", "/dav/a%2fb", "/api/file", "/api/file?path=pipe",
                   "/api/file?path=" + "a" * 3000, "/api/file?path=" + "a/" * 1500, "/api/", "/api/nothing?path=/"):
        expect(target, server.ask(target), 400, 403, 404)
    for link in ("out", "far", "up", "round", "deep", "proc"):
        for target in (f"/api/file?path={link}", f"/dav/{link}", f"/api/list?path={link}", f"/api/view?path={link}",
                       f"/api/file?path={link}/secret.txt", f"/api/zip?path={link}", f"/api/file?path={link}.as-txt"):
            expect(target, server.ask(target), 403, 404, 400)
    got = server.ask("/api/zip?path=/")
    expect("links in a ZIP", got, 200)
    listed = server.call("list", path="/evil.zip.contents")["items"]
    for item in listed:
        if "/" in item["name"] or item["name"] in ("..", "."):
            print(f"an archive's names lead out: {item}")


def headers(server):
    for name in ("Range", "If-Range", "If-None-Match", "Cookie", "Authorization", "Host"):
        expect(f"{name} twice", server.ask("/api/file?path=plain.txt", f"{name}: a", f"{name}: b"), 200, 206, 304, 400, 421)
    for target in ("/api/file?path=plain.txt%0d%0aX-Slipped-In:%201", "/dav/plain.txt%0d%0aX-Slipped-In:%201",
                   "/?token=%0d%0aX-Slipped-In:1", "/dav/inner%0d%0aX-Slipped-In:1/"):
        expect(target, server.ask(target), 200, 400, 404)
    expect("a name with a line break", server.ask("/api/file?download=1&path=line%0d%0aX-Slipped-In:%201.txt"), 200)
    expect("a bare line feed", server.raw(b"GET / HTTP/1.1\nHost: localhost\n\n", 3), 0, 200, 400)
    for data in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\0" * 4096,
                 b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
                 b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                 b"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n",
                 b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n", b"GET / HTTP/1.1\r\n Host: localhost\r\n\r\n",
                 b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"):
        expect(repr(data[:60]), server.raw(data + b"\r\n\r\n", 3), 0, 400, 404, 405, 421, 505)
    head = b"GET /api/list HTTP/1.1\r\nHost: localhost\r\n"
    expect("a long header", server.raw(head + b"X: " + b"a" * 20000 + b"\r\n\r\n"), 0, 400, 431)
    expect("long headers", server.raw(head + b"X: " + b"\r\nX: ".join([b"a" * 900] * 60) + b"\r\n\r\n"), 0, 400, 431)
    expect("many headers", server.raw(head + b"X: a\r\n" * 500 + b"\r\n"), 0, 400, 431)
    expect("a long target", server.raw(b"GET /" + b"a" * 200000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"), 0, 400, 404, 414, 431)
    expect("a large body", server.ask("/dav/", "Depth: 0", method="PROPFIND", body=b"<a>" + b" " * 200000), 413)
    for method in ("PUT", "DELETE", "MKCOL", "COPY", "MOVE", "PROPPATCH", "LOCK", "POST", "TRACE"):
        expect(method, server.ask("/dav/plain.txt", method=method, body=b"x"), 403, 405, 501)
        expect(method, server.ask("/api/file?path=plain.txt", method=method, body=b"x"), 405, 501, 400)


def ranges(server):
    size = 16 << 20
    for text, status in {"bytes=0-": 206, "bytes=-1": 206, "bytes=5-4": 200, f"bytes={size}-": 416, "bytes=-0": 416,
                         "bytes=" + "9" * 40 + "-": 416, "bytes=0-" + "9" * 40: 206, "bytes=--1": 200, "bytes=a-b": 200,
                         "bytes=0-0,1-1": 200, "bytes=" + ",".join("0-" for _ in range(60)): 200, "lines=1-2": 200,
                         "bytes=-" + "9" * 40: 206, "bytes=18446744073709551615-": 416, "bytes=": 200}.items():
        got = server.ask("/api/file?path=large.bin", "Range: " + text, method="HEAD")
        expect(f"Range: {text}", got, status)


def hosts(server):
    for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "localhost@evil.example", "[::1].evil",
                 "127.0.0.1:80:80", "[evil]", "0x7f.1", "2130706433"):
        expect(f"Host: {host}", server.raw(f"GET /api/list HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()), 421)
    expect("no Host", server.raw(b"GET /api/list HTTP/1.0\r\n\r\n"), 421)
    for site in ("cross-site", "same-site"):
        for mode, destination in (("no-cors", "image"), ("cors", "empty"), ("navigate", "iframe"), ("navigate", "document")):
            expect(f"from another page, {mode}", server.ask("/api/file?path=plain.txt", f"Sec-Fetch-Site: {site}",
                   f"Sec-Fetch-Mode: {mode}", f"Sec-Fetch-Dest: {destination}"), 403)
    got = server.ask("/api/list", "Origin: http://evil.example", method="OPTIONS")
    expect("CORS preflight", got, 405)
    if any(name.startswith("access-control") for name in got.headers):
        print("CORS is permitted")


def contents(server):
    for name in ("page.html", "drawing.svg", "page.xhtml", "sheet.xml"):
        for target in (f"/api/file?path={name}", f"/dav/{name}"):
            got = server.ask(target)
            policy = got.header("content-security-policy")
            if "sandbox" not in policy or "allow-scripts" in policy or "default-src 'none'" not in policy:
                print(f"{target} may run scripts: {policy}")
    for target in ("/", "/api/list", "/api/file?path=plain.txt", "/nothing", "/dav/plain.txt", "/metrics"):
        got = server.ask(target)
        if got.header("x-content-type-options") != "nosniff":
            print(f"{target} may be sniffed")
    if "unsafe" in server.ask("/").header("content-security-policy"):
        print("the page may run what is slipped into it")
    got = server.ask("/api/list?path=/")
    if b"<" in got.body:
        print("a name can end a script element")
    got = server.ask("/dav/", "Depth: 1", method="PROPFIND")
    if b"<script>" in got.body or b"<img" in got.body:
        print("a name is an element in a PROPFIND's answer")


def waiting(server):
    """Those that are slow, or go away, are in nobody's way."""
    slow = []
    for number in range(200):
        connection = server.connect()
        connection.sendall(b"GET /api/list HTTP/1.1\r\nHost: local" if number % 2 else b"")
        slow.append(connection)
    readers = []
    for _ in range(20):
        connection = server.connect()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(b"GET /api/file?path=large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n")
        readers.append(connection)
    for _ in range(50):
        with server.connect() as connection:
            connection.sendall(b"GET /api/zip?path=/ HTTP/1.1\r\nHost: localhost\r\n\r\n")
    start = time.monotonic()
    expect("beside slow ones", server.ask("/api/file?path=plain.txt"), 200)
    if time.monotonic() - start > 2:
        print(f"slow clients hold up others for {time.monotonic() - start:.1f} s")
    with server.connect() as connection:
        connection.sendall(b"GET /api/file?path=plain.txt HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100)
        expect("100 requests at once", answer(connection), 200)
    for connection in slow + readers:
        connection.close()


def fuzz(server, count):
    """Requests with bytes changed; the server has to be there afterwards."""
    chance = random.Random(21)
    seeds = [b"GET /api/file?path=/plain.txt HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-10\r\nIf-None-Match: \"a\"\r\n\r\n",
             b"PROPFIND /dav/ HTTP/1.1\r\nHost: localhost\r\nDepth: 1\r\nContent-Length: 72\r\n\r\n"
             b"<?xml version='1.0'?><a:propfind xmlns:a='DAV:'><a:prop/></a:propfind>\r\n",
             b"GET /api/search?path=/&q=a&limit=5 HTTP/1.1\r\nHost: localhost\r\nCookie: ffserve-1=a\r\n\r\n"]
    for _ in range(count):
        data = bytearray(chance.choice(seeds))
        for _ in range(chance.randint(1, 6)):
            place = chance.randrange(len(data))
            if chance.random() < .5:
                data[place] = chance.randrange(256)
            elif chance.random() < .5:
                del data[place:place + chance.randint(1, 8)]
            else:
                data[place:place] = data[:chance.randint(1, 40)]
            if not data:
                data = bytearray(b"x")
        with server.connect() as connection:
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                got = answer(connection)
            except (ConnectionResetError, BrokenPipeError):
                continue
        if SECRET in got.data or got.status >= 500 and got.status != 501 and got.status != 505:
            print(f"{bytes(data)!r}: {got.data[:200]!r}")


def tokens():
    with Server(program, source, "--token", "right-token-1") as server:
        for target in ("/", "/api/list", "/api/file?path=plain.txt", "/dav/plain.txt", "/metrics", "/page.js", "/nothing"):
            expect(f"{target} without a token", server.ask(target), 401)
        expect("WebDAV without a token", server.ask("/dav/", "Depth: 1", method="PROPFIND"), 401)
        got = server.ask("/?token=right-token-1")
        cookie = got.header("set-cookie")
        if "HttpOnly" not in cookie or "SameSite=Strict" not in cookie or "right-token-1" in cookie:
            print(f"the cookie: {cookie}")
        pair = cookie.split(";")[0]
        expect("the cookie", server.ask("/api/list", f"Cookie: a=b; {pair}"), 200)
        expect("the token", server.ask("/api/list", "Authorization: Bearer right-token-1"), 200)
        # "x:right-token-1"
        expect("a password", server.ask("/dav/plain.txt", "Authorization: Basic eDpyaWdodC10b2tlbi0x"), 200)
        for number in range(8):
            wrong = ["right-token-", "right-token-12", "RIGHT-TOKEN-1", "", "right-token-1%00", " ", "é", "*"][number]
            expect(f"token {wrong!r}", server.ask(f"/api/list?token={wrong}"), 401, 400)
        expect("a wrong cookie", server.ask("/api/list", "Cookie: " + pair[:-1] + "x"), 401)
        for _ in range(5):
            server.ask("/api/list", "Authorization: Bearer wrong")
        expect("after many wrong ones", server.ask("/api/list", "Authorization: Bearer right-token-1"), 429)
        expect("who knew it before", server.ask("/api/list", f"Cookie: {pair}"), 200)


make()
with Server(program, source) as server:
    before = server.memory
    for part in (traversal, headers, ranges, hosts, contents, waiting):
        part(server)
    fuzz(server, int(os.environ.get("FFMOUNT_FUZZED", "300")))
    expect("after all", server.ask("/api/file?path=plain.txt"), 200)
tokens()
print(f"tried {tried}")
