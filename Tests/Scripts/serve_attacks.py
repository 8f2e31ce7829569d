"""serve_attacks.py FFSERVE FOLDER: attempts to get out of what is served, past its token, or in its way.

Makes its files below FOLDER. Prints each attempt that is not refused, and at the end how many were made.
"""
import json
import os
import random
import resource
import socket
import struct
import sys
import threading
import time
import zlib
import zipfile

from serving import Answer, Server, answer

program, folder = sys.argv[1:]
SECRET = b"not for anybody"
# What runs, redirects, or has a browser connect to elsewhere, whatever a policy says.
PAGE = (b"<head><base href=//canary.example><meta http-equiv=refresh content='0;url=//canary.example'>"
        b"<link rel=preconnect href=//canary.example><LINK REL=dns-prefetch HREF=//canary.example></head>"
        b"<p ping=//canary.example>kept<script>alert(1)</script><img src=beside.png><a href=//canary.example ping=//canary.example>")
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
            file.write(PAGE)
    # Looks like the view of a mailbox, and is none.
    os.makedirs(os.path.join(source, "plain.txt.views/search/inner"))
    with open(os.path.join(source, "a.png"), "wb") as file:
        file.write(picture())
    with zipfile.ZipFile(os.path.join(source, "evil.zip"), "w") as archive:
        for name in ("../../secret.txt", "/etc/passwd", "..\\..\\secret.txt", "<img src=x onerror=alert(1)>.html"):
            archive.writestr(name, "from the archive")
    with open(os.path.join(source, "large.bin"), "wb") as file:
        file.truncate(16 << 20)


def picture():
    """A PNG of one colour that takes a moment to convert."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", 900, 900, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(901 * 2700))) + chunk(b"IEND", b"")


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
        expect(target, server.ask(target), 400, 403, 404, 414)
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


def swapped(server):
    """What is a file when it is looked at, and a link when it is opened."""
    path = os.path.join(source, "swapped")
    is_over = False

    def swap():
        while not is_over:
            for kind in (lambda: os.symlink("../secret.txt", path + "~"), lambda: os.symlink("..", path + "~"), lambda: os.mkdir(path + "~"),
                         lambda: open(path + "~", "w").close()):
                kind()
                try:
                    os.rename(path + "~", path)
                except OSError:
                    (os.rmdir if os.path.isdir(path) and not os.path.islink(path) else os.unlink)(path)
                    os.rename(path + "~", path)
    thread = threading.Thread(target=swap)
    thread.start()
    end = time.monotonic() + .7
    while time.monotonic() < end:
        for target in ("/api/file?path=swapped", "/api/file?path=swapped/secret.txt", "/dav/swapped", "/api/view?path=swapped",
                       "/api/list?path=swapped", "/api/zip?path=swapped"):
            got = server.ask(target)
            expect(target, got, 200, 301, 400, 403, 404, 414, 503)
            if b"secret.txt" in got.body and b"instance" not in got.body:
                print(f"{target}: what is outside is listed")
    is_over = True
    thread.join()
    (os.rmdir if os.path.isdir(path) and not os.path.islink(path) else os.unlink)(path)


def smuggled(server):
    """Requests that somebody between may read otherwise: one answer, a problem, and the connection ends."""
    line, host, inner = b"GET /api/stat HTTP/1.1\r\n", b"Host: localhost\r\n", b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
    chunked = b"Transfer-Encoding: chunked\r\n"
    for name, data, status in (
        ("length and chunks", line + host + b"Content-Length: 5\r\n" + chunked + b"\r\n0\r\n\r\n" + inner, 400),
        ("two lengths", line + host + b"Content-Length: 5\r\nContent-Length: 0\r\n\r\nabcde" + inner, 400),
        ("a length twice", line + host + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nabcde" + inner, 400),
        ("a list of lengths", line + host + b"Content-Length: 5, 5\r\n\r\nabcde" + inner, 400),
        ("+5", line + host + b"Content-Length: +5\r\n\r\nabcde" + inner, 400),
        ("0x5", line + host + b"Content-Length: 0x5\r\n\r\nabcde" + inner, 400),
        ("a huge length", line + host + b"Content-Length: 18446744073709551621\r\n\r\nabcde" + inner, 400),
        ("xchunked", line + host + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + inner, 400),
        ("a tab before it", line + host + b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n" + inner, 400),
        ("folded", line + host + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" + inner, 400),
        ("chunks in HTTP/1.0", line.replace(b"1.1", b"1.0") + host + b"Connection: keep-alive\r\n" + chunked + b"\r\n0\r\n\r\n" + inner, 400),
        ("a line break in an extension", line + host + chunked + b"\r\n5;a\n" + inner + b"\r\nabcde\r\n0\r\n\r\n", 400),
        ("a huge chunk", line + host + chunked + b"\r\nfffffffffffffffff\r\n" + inner, 400),
        ("-1", line + host + chunked + b"\r\n-1\r\n" + inner, 400),
        ("line feeds for chunks", line + host + chunked + b"\r\n5\nabcde\n0\n\n" + inner, 400),
        ("5000 trailers", line + host + chunked + b"\r\n0\r\n" + b"X: y\r\n" * 5000 + b"\r\n" + inner, 431),
        ("a line feed", line + b"X: a\nX-Slipped-In: 1\r\n" + host + b"\r\n", 400),
        ("a carriage return", line + b"X: a\rX-Slipped-In: 1\r\n" + host + b"\r\n", 400),
        ("NUL", line + b"X: a\0b\r\n" + host + b"\r\n", 400),
        ("a blank before the colon", line + b"Host : localhost\r\n\r\n", 400),
        ("a blank before the name", line + b" X: y\r\n" + host + b"\r\n", 400),
        ("no version", b"GET /api/stat\r\n\r\n", 400),
        ("HTTP/2.0", line.replace(b"1.1", b"2.0") + host + b"\r\n", 400),
        ("a small method", line.lower() + host + b"\r\n", 400),
        ("a long header", line + b"X: " + b"a" * 40000 + b"\r\n" + host + b"\r\n", 431),
        ("60 long ones", line + b"X: %s\r\n" % (b"a" * 900) * 60 + host + b"\r\n", 431),
        ("500 headers", line + b"X: a\r\n" * 500 + host + b"\r\n", 431),
        ("a target of 100 KB", b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n" + host + b"\r\n", 431),
    ):
        with server.connect(3) as connection:
            connection.sendall(data)
            got, rest = answer(connection), b""
            try:
                rest = connection.recv(1 << 16)
            except ConnectionResetError:
                pass
            except TimeoutError:
                print(f"{name}: the connection goes on")
        expect(name, got, status)
        if rest or got.data.count(b"HTTP/1.1 ") != 1:
            print(f"{name}: there is a second answer: {rest[:100] or got.data}")
        is_problem(name, got)
    # These are read as they are meant, and only once.
    for name, data in (("a body of a GET", line + host + b"Content-Length: %d\r\n\r\n" % len(inner) + inner),
                       ("an extension", line + host + chunked + b"\r\n5;a=\"b\"\r\nabcde\r\n0\r\n\r\n"),
                       ("a trailer", line + host + chunked + b"\r\n0\r\nHost: evil.example\r\nAuthorization: x\r\n\r\n")):
        with server.connect(1) as connection:
            connection.sendall(data + inner)
            both = b""
            while both.count(b"ffserve_nodes ") < 1:
                both += connection.recv(1 << 16)
            expect(name, Answer(both), 200)
            if both.count(b"HTTP/1.1 200") != 2:
                print(f"{name}: {both}")


def is_problem(name, got):
    """Every refusal says why, in the same form."""
    if got.header("content-type") != "application/problem+json" or json.loads(got.body)["status"] != got.status:
        print(f"{name}: {got.status} is no problem+json: {got.data[:300]}")
    if got.header("x-content-type-options") != "nosniff":
        print(f"{name}: it may be sniffed")


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
    expect("a long header", server.raw(head + b"X: " + b"a" * 20000 + b"\r\n\r\n"), 200)
    for name, got, status in (("a long target", server.ask("/" + "a" * 17000), 414),
                              ("a large body", server.ask("/dav/", "Depth: 0", method="PROPFIND", body=b"<a>" + b" " * 200000), 413),
                              ("a method", server.ask("/api/list", method="PUT"), 405), ("no call", server.ask("/api/no"), 404),
                              ("no path", server.ask("/api/file"), 400), ("a method of WebDAV", server.ask("/dav/", method="MKCOL"), 403),
                              ("a range", server.ask("/api/file?path=plain.txt", "Range: bytes=99999-"), 416)):
        expect(name, got, status)
        is_problem(name, got)
    expect("a large body again", server.ask("/dav/", "Depth: 0", method="PROPFIND", body=b"<a>" + b" " * 200000), 413)
    for method in ("PUT", "DELETE", "MKCOL", "COPY", "MOVE", "PROPPATCH", "LOCK", "POST", "TRACE"):
        expect(method, server.ask("/dav/plain.txt", method=method, body=b"x"), 403, 405, 501)
        expect(method, server.ask("/api/file?path=plain.txt", method=method, body=b"x"), 403, 405, 501, 400)


def ranges(server):
    size = 16 << 20
    for text, status in {"bytes=0-": 206, "bytes=-1": 206, "bytes=5-4": 200, f"bytes={size}-": 416, "bytes=-0": 416,
                         "bytes=" + "9" * 40 + "-": 416, "bytes=0-" + "9" * 40: 206, "bytes=--1": 200, "bytes=a-b": 200,
                         "bytes=0-0,1-1": 200, "bytes=" + ",".join("0-" for _ in range(60)): 200, "lines=1-2": 200,
                         "bytes=-" + "9" * 40: 206, "bytes=18446744073709551615-": 416, "bytes=": 200}.items():
        expect(f"Range: {text}", server.ask("/api/file?path=large.bin", "Range: " + text), status)
        expect(f"HEAD, Range: {text}", server.ask("/api/file?path=large.bin", "Range: " + text, method="HEAD"), 200)


def hosts(server):
    for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "localhost@evil.example", "[::1].evil",
                 "127.0.0.1:80:80", "[evil]", "0x7f.1", "2130706433"):
        expect(f"Host: {host}", server.raw(f"GET /api/list HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()), 421)
    expect("no Host", server.raw(b"GET /api/list HTTP/1.0\r\n\r\n"), 400)
    expect("two", server.raw(b"GET /api/list HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"), 400)
    for target, status in (("http://evil.example/api/list", 421), ("HTTP://127.0.0.1/api/list", 200), ("http://127.0.0.1@evil.example/", 421),
                           ("http://127.0.0.1", 200), ("http://evil.example?x=/", 421), ("//evil.example/api/list", 404)):
        expect(f"target {target}", server.ask(target), status)
    for host in ("evil.example", "evil.example:80"):
        got = server.raw(f"PROPFIND /dav/ HTTP/1.1\r\nHost: {host}\r\nDepth: 1\r\n\r\n".encode())
        expect(f"WebDAV by {host}", got, 421)
    for site in ("cross-site", "same-site"):
        for mode, destination in (("no-cors", "image"), ("cors", "empty"), ("navigate", "iframe"), ("navigate", "document")):
            expect(f"from another page, {mode}", server.ask("/api/file?path=plain.txt", f"Sec-Fetch-Site: {site}",
                   f"Sec-Fetch-Mode: {mode}", f"Sec-Fetch-Dest: {destination}"), 403)
    for call in ("zip?path=/", "search?path=/&q=a", "list?path=/"):
        for kind in ("image", "style", "iframe", "video"):
            expect(f"{call} as {kind}", server.ask("/api/" + call, "Sec-Fetch-Site: same-origin", f"Sec-Fetch-Dest: {kind}"), 403)
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
            if got.body != PAGE:
                print(f"{target} is not the file")
            for kind in ("document", "iframe", "object"):
                got = server.ask(target, f"Sec-Fetch-Dest: {kind}")
                expect(f"{target} as {kind}", got, 200)
                text = got.body.lower()
                is_text = got.header("content-type") == "text/plain; charset=utf-8"
                if not is_text and (b"canary.example" in text.replace(b'<a href="//canary', b"") or b"<script" in text or b"<base" in text):
                    print(f"{target} as {kind}: {got.body}")
            got = server.ask(target)
            if got.body != PAGE:
                print(f"{target} is the page that was shown before: {got.body[:100]}")
    for target in ("/api/file?path=script.js", "/dav/script.js"):
        if server.ask(target).header("content-type") != "text/plain; charset=utf-8":
            print(f"{target} is a script to a browser")
    for target in ("/", "/page.js", "/api/list", "/api/file?path=plain.txt", "/api/stat", "/api/openapi.json"):
        if server.ask(target).header("cache-control") != "private, no-cache":
            print(f"{target} may be kept by others: {server.ask(target).header('cache-control')}")
    for target in ("/metrics", "/api/no", "/api/zip?path=inner"):
        if server.ask(target).header("cache-control") != "no-store":
            print(f"{target} may be kept")
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


def costly(server):
    """Questions that would take much, of few bytes."""
    entities = b"<!DOCTYPE a [<!ENTITY b 'bbbbbbbb'>" + b"".join(b"<!ENTITY %c '&%c;&%c;'>" % (c + 1, c, c) for c in range(98, 120)) + b"]>"
    space = b"n" * 60000
    for name, body, status in (
        ("entities", entities + b"<propfind xmlns='DAV:'>&x;</propfind>", 400),
        ("an entity from a file", b"<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><propfind xmlns='DAV:'>&b;</propfind>", 400),
        ("a long namespace, often", b"<a:propfind xmlns:a='DAV:' xmlns:b='" + space + b"'><a:prop>"
         + b"".join(b"<b:c%d/>" % number for number in range(200)) + b"</a:prop></a:propfind>", 400),
        ("properties", b"<propfind xmlns='DAV:'><prop>" + b"<getetag/>" * 5000 + b"</prop></propfind>", 400),
        ("depth", b"<propfind xmlns='DAV:'>" + b"<a>" * 9000 + b"</a>" * 9000 + b"</propfind>", 400),
        ("attributes", b"<propfind xmlns='DAV:' " + b" ".join(b"xmlns:a%d='b'" % number for number in range(3000)) + b"/>", 207),
        ("comments", b"<propfind xmlns='DAV:'>" + b"<!---->" * 8000 + b"</propfind>", 207),
    ):
        start = time.monotonic()
        expect(f"XML: {name}", server.ask("/dav/", "Depth: 1", method="PROPFIND", body=body), status)
        if time.monotonic() - start > 3:
            print(f"XML: {name}: it took {time.monotonic() - start:.1f} s")
    for query in ("..", ".", "a%00b", "../..", "inner", "%2e%2e"):
        expect(f"search for {query} in no mailbox", server.ask(f"/api/search?path=plain.txt&q={query}"), 400)
    for query in ("(" * 200, "NOT " * 50, "a* " * 60, '"' * 99, "from:" * 40, "%25" * 60, "a" * 201):
        expect(f"search for {query[:10]}", server.ask("/api/search?path=/&q=" + query.replace(" ", "%20")), 200, 400, 422)
    # Every byte in a query, and in each of its operators: an answer that is JSON, and no end of the server.
    odd = b"\0\t\n\r\x1b \"'%&*+-/:<>\\^`|~\x7f\x80\xc0\xed\xff"
    for byte in range(256):
        for form in ("inner%s",) if byte not in odd else ("%s", "inner%s", '"%s inner"', "/%s/", "/[%s/", "in:%s", "size:%s", "near(%s a)", "%s*", "~%s", "kind:%s", "date:%s", "-%s"):
            query = form.replace("%s", f"%{byte:02x}").replace(" ", "%20").replace('"', "%22")
            got = server.ask("/api/search?path=/&limit=3&q=" + query)
            expect(f"search for {query}", got, 200, 400, 422)
            json.loads(got.body)
    for name, values in (("from", ("-1", "x", "9" * 30, "%00", "1e9")), ("limit", ("-1", "x", "9" * 30))):
        for value in values:
            expect(f"search with {name}={value}", server.ask(f"/api/search?path=/&q=inner&{name}={value}"), 400)
    expect("search with a limit of 0", server.ask("/api/search?path=/&q=inner&limit=0"), 200)
    # Two hundred at once, beside which others are answered.
    crowd = []
    for number in range(200):
        crowd.append(server.connect())
        crowd[-1].sendall(f"GET /api/search?path=/&q=inner%20OR%20word{number} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    start = time.monotonic()
    expect("beside searches", server.ask("/api/file?path=plain.txt&y"), 200)
    if time.monotonic() - start > 10:
        print(f"searches hold up others: {time.monotonic() - start:.1f} s")
    for connection in crowd:
        connection.settimeout(40)
        if b"200 OK" not in connection.recv(64):
            print("one of many searches is not answered")
        connection.close()
    # A hundred conversions that are asked for and left.
    for number in range(100):
        with server.connect() as connection:
            connection.sendall(b"GET /api/file?path=a.png.%dpx.as-jpeg HTTP/1.1\r\nHost: localhost\r\n\r\n" % (800 - number))
    start = time.monotonic()
    expect("beside conversions", server.ask("/api/file?path=plain.txt&x"), 200)
    between = time.monotonic()
    expect("one more", server.ask("/api/file?path=a.png.20px.as-jpeg"), 200)
    if between - start > 10 or time.monotonic() - between > 20:
        print(f"conversions that nobody waits for hold up others: {between - start:.1f}, {time.monotonic() - between:.1f} s")
    # What tells answers apart is kept for a moment, and is no way to fill memory.
    before = server.memory
    for number in range(300):
        server.ask(f"/api/file?path=plain.txt&{number}=" + "k" * 14000)
    if server.memory - before > 8 << 20:
        print(f"long addresses take {server.memory - before} bytes")


def large(server):
    """What is long and made in memory, asked for by many who do not take it: bounded, and the rest goes on."""
    with open(os.path.join(source, "long.xml"), "wb") as file:
        file.write(b"<a>" * (7 << 18))
    before = server.memory
    readers = []
    for _ in range(60):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", server.port))
        connection.sendall(b"GET /api/file?path=long.xml HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Dest: document\r\n\r\n")
        readers.append(connection)
    end = time.monotonic() + 60
    while b'answers_total{status="503"}' not in server.ask("/metrics").body and time.monotonic() < end:
        time.sleep(.1)
    one = "/api/file?path=long.xml", "Sec-Fetch-Dest: document"
    expect("one more large answer", server.ask(*one), 503)
    expect("a small one", server.ask("/api/list?path=inner"), 200)
    expect("a file", server.ask("/api/file?path=large.bin"), 200)
    if server.memory - before > 600 << 20:
        print(f"large answers that nobody takes: {server.memory - before >> 20} MB")
    for connection in readers:
        connection.close()
    end = time.monotonic() + 10
    while server.ask(*one).status != 200:
        if time.monotonic() > end:
            return print("large answers are held after all who asked have gone")
        time.sleep(.1)


def few_descriptors():
    """A server that can open few files, and one whose source goes away."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (160, limits[1]))
    try:
        server = Server(program, source).__enter__()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    idle = []
    for _ in range(400):
        try:
            idle.append(server.connect(2))
        except OSError:
            break
    before = os.times()
    time.sleep(.4)
    spent = float(open(f"/proc/{server.process.pid}/stat").read().rsplit(")")[1].split()[11]) / os.sysconf("SC_CLK_TCK")
    for connection in idle:
        connection.close()
    time.sleep(.3)
    expect("after all descriptors were used", server.ask("/api/file?path=plain.txt"), 200)
    if spent > 3:
        print(f"without descriptors it works for {spent} s in {os.times()[4] - before[4]} s")
    os.rename(source, source + ".away")
    for target in ("/api/list", "/api/file?path=plain.txt", "/dav/", "/api/zip?path=/", "/api/search?q=a", "/api/stat?path=/inner"):
        expect(f"{target} of a source that has gone", server.ask(target), 200, 303, 404, 500, 503)
    os.rename(source + ".away", source)
    time.sleep(.6)
    expect("it is back", server.ask("/api/file?path=plain.txt"), 200)
    server.__exit__()


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
        with open(f"/proc/{server.process.pid}/cmdline", "rb") as file:
            words = file.read().split(b"\0")
        if b"--token" not in words or b"right-token-1" in words:
            print(f"the token in the command line: {words}")
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
        expect("behind a cookie that another has set", server.ask("/api/list", f"Cookie: {pair[:-1]}x; {pair}"), 200)
        expect("in a second header", server.ask("/api/list", f"Cookie: {pair[:-1]}x", f"Cookie: {pair}"), 200)
        expect("the token as a cookie", server.ask("/api/list", f"Cookie: {pair.split('=')[0]}=right-token-1"), 401)
        expect("a wrong cookie", server.ask("/api/list", "Cookie: " + pair[:-1] + "x"), 401)
        for _ in range(5):
            server.ask("/api/list", "Authorization: Bearer wrong")
        expect("after many wrong ones", server.ask("/api/list", "Authorization: Bearer right-token-1"), 429)
        expect("who knew it before", server.ask("/api/list", f"Cookie: {pair}"), 200)


make()
with Server(program, source) as server:
    for part in (traversal, swapped, smuggled, headers, ranges, hosts, contents, costly, waiting, large):
        part(server)
    fuzz(server, int(os.environ.get("FFMOUNT_FUZZED", "300")))
    expect("after all", server.ask("/api/file?path=plain.txt"), 200)
tokens()
few_descriptors()
print(f"tried {tried}")
