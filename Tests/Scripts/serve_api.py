"""serve_api.py FFSERVE FOLDER: a client that knows no more of the server than the page Serve says.

Makes its files below FOLDER, and prints what is not as it should be, and at the end "done".
"""
import io
import gzip
import json
import os
import random
import re
import socket
import subprocess
import sys
import tarfile
import threading
import time
import urllib.parse
import xml.etree.ElementTree as ElementTree
import zipfile

import json_schema
from serving import Server, answer

program, folder = sys.argv[1:]
source = os.path.join(folder, "shown")
PLAIN = b"".join(b"line %d\n" % number for number in range(2000))
ODD = "ümläut & <b> #1?.txt"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000030000000208020000001216f14d0000000e49444154789c63f8cfc0c0c0f01f0006ff01fe"
    "a1e1d0c60000000049454e44ae426082")
MBOX = b"".join(
    b"From a@example.org Mon May  6 10:00:00 2024\nFrom: Ann <a@example.org>\nDate: Mon, 6 May 2024 10:0%d:00 +0000\n"
    b"Subject: %s\nMessage-ID: <%d@example.org>\n\nText of it.\n\n" % (number, subject, number)
    for number, subject in enumerate([b"Harbour", b"Summer", b"Harbour again"]))


def same(what, found, wanted):
    if found != wanted:
        print(f"{what}: {str(found)[:400]!r} instead of {str(wanted)[:400]!r}")


def make():
    os.makedirs(os.path.join(source, "Folder", "deep"))
    files = {"plain.txt": PLAIN, "b.png": PNG, "Read.md": b"# Title\n", ODD: b"odd", "inbox.mbox": MBOX, "broken.zip": b"PK\3\4" * 20,
             "latin.txt": "Grüße aus Köln, schöne Tage\n".encode("latin-1") * 20, "code.swift": b"let x = 1\n", "empty": b"",
             "Folder/inner.txt": b"inner", "p.ppm": b"P6 3 2 255\n" + bytes(18), "long.txt": b"x" * ((1 << 20) + 1024), "wide.txt": "Grüße\n".encode("utf-16"), "Folder/deep/needle in hay.txt": b"deep", "large.bin": os.urandom(3 << 20)}
    for name, data in files.items():
        with open(os.path.join(source, name), "wb") as file:
            file.write(data)
    with open(os.fsencode(source) + b"/raw\xff.txt", "wb") as file:
        file.write(b"raw")
    with zipfile.ZipFile(source + "/raw\udcff.zip", "w") as archive:
        archive.writestr("in raw.txt", "raw")
    with zipfile.ZipFile(os.path.join(source, "a.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x/packed.txt", PLAIN * 50)
        archive.writestr("stored.txt", "stored", zipfile.ZIP_STORED)
    with tarfile.open(os.path.join(source, "times.tar"), "w", format=tarfile.PAX_FORMAT) as archive:
        for name, time_of in [("late", 300_000_000_000), ("early", -300_000_000_000), ("last", 253_402_300_799), ("usual", 1_700_000_000)]:
            entry = tarfile.TarInfo(name)
            entry.pax_headers = {"mtime": f"{time_of}.0"}
            archive.addfile(entry)
    os.symlink("Folder/inner.txt", os.path.join(source, "link.txt"))
    os.symlink("missing", os.path.join(source, "nowhere"))
    os.symlink("../outside", os.path.join(source, "out"))
    os.utime(os.path.join(source, "plain.txt"), (1700000000, 1700000000))
    make_findable()


def make_findable():
    """Files that only a search has a use for."""
    inner = os.path.join(source, "found")
    os.makedirs(inner)
    markup = "<img src=x onerror=alert(1)> zebra & \\ \"quoted\" \u202e end"
    with open(os.path.join(inner, "<b>zebra.txt"), "w") as file:
        file.write("Before it. " * 30 + markup)
    os.utime(os.path.join(inner, "<b>zebra.txt"), (1700000000, 1700000000))
    with open(os.path.join(inner, "zebra.eml"), "wb") as file:
        file.write(b"From: Ann <ann@example.org>\nDate: Mon, 6 May 2024 10:00:00 +0000\nSubject: A zebra\n\nIt grazes.\n")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("deep/zebra.md", "one zebra")
    with zipfile.ZipFile(os.path.join(inner, "outer.zip"), "w") as archive:
        archive.writestr("inner.zip", packed.getvalue())
    for number in range(30):
        with open(os.path.join(inner, f"herd {number}.txt"), "w") as file:
            file.write(f"wildebeest number {number}")


def decoded(body, coding):
    """The bytes of a body, by an independent decoder."""
    if coding == "zstd":
        return subprocess.run(["zstd", "-d", "-c"], input=body, stdout=subprocess.PIPE, check=True).stdout
    return gzip.decompress(body) if coding else body


def listing(server):
    got = server.call("list", path="/")
    same("its path", (got["path"], got["absolutePath"]), ("/", source))
    items = {item["name"]: item for item in got["items"]}
    kinds = [item["type"] != "directory" for item in got["items"]]
    same("folders first", kinds, sorted(kinds))
    same("a file", items["plain.txt"], {
        "name": "plain.txt", "type": "file", "size": len(PLAIN), "modified": "2023-11-14T22:13:20.000Z", "extension": "txt",
        "absolutePath": source + "/plain.txt"})
    same("a view", (items["a.zip.contents"]["type"], items["a.zip.contents"]["view"]), ("directory", "contents"))
    same("a link", (items["link.txt"]["type"], items["link.txt"]["size"]), ("file", 5))
    same("real names", {n for n in items if "view" not in items[n]}, {os.fsencode(n).decode("utf-8", "replace") for n in os.listdir(source)})
    raw = next(item for item in got["items"] if item.get("encodedPath") == "/raw%FF.txt")
    same("a name that is not UTF-8", server.ask(f"/api/file?path={raw['encodedPath']}").body, b"raw")
    inner = server.call("list", path="/a.zip.contents/x")["items"]
    same("in an archive", [(item["name"], item["size"]) for item in inner], [("packed.txt", len(PLAIN) * 50)])
    times = {item["name"]: item["modified"] for item in server.call("list", path="/times.tar.contents")["items"]}
    end = "9999-12-31T23:59:59.000Z"
    same("times", times, {"late": end, "early": "0001-01-01T00:00:00.000Z", "last": end, "usual": "2023-11-14T22:13:20.000Z"})
    same("a file's listing", server.ask("/api/list?path=/plain.txt").status, 400)


def files(server):
    path = "/api/file?path=/plain.txt"
    got = server.ask(path)
    same("bytes", got.body, PLAIN)
    same("type", got.header("content-type"), "text/plain; charset=utf-8")
    tag, modified = got.header("etag"), got.header("last-modified")
    same("date", modified, "Tue, 14 Nov 2023 22:13:20 GMT")
    head = server.ask(path, method="HEAD")
    same("HEAD", (head.body, head.header("content-length"), head.header("etag")), (b"", str(len(PLAIN)), tag))
    for header, status in ((f"If-None-Match: {tag}", 304), (f'If-None-Match: "x", W/{tag}', 304), ('If-None-Match: "x"', 200),
                           ("If-None-Match: *", 304), (f"If-Modified-Since: {modified}", 304),
                           ("If-Modified-Since: Mon, 01 Jan 2001 00:00:00 GMT", 200)):
        same(header, server.ask(path, header).status, status)
    for text, part in (("0-0", slice(0, 1)), ("5-", slice(5, None)), ("-7", slice(-7, None)), ("100-199", slice(100, 200)),
                       (f"-{len(PLAIN) * 100}", slice(None)), (f"3-{2**64}", slice(3, None))):
        got = server.ask(path, f"Range: bytes={text}")
        same(f"Range {text}", (got.status, got.body), (206, PLAIN[part]))
    for condition, status in ((tag, 206), ('"other"', 200), (modified, 206), ("Mon, 01 Jan 2001 00:00:00 GMT", 200), ("W/" + tag, 200)):
        same(f"If-Range {condition}", server.ask(path, "Range: bytes=1-2", f"If-Range: {condition}").status, status)
    quoted = urllib.parse.quote("/" + ODD)
    got = server.ask(f"/api/file?path={quoted}&download=1")
    same("download", got.header("content-disposition").split("; filename*=")[1], "UTF-8''" + urllib.parse.quote(ODD, safe=""))
    same("attachment", got.header("content-disposition").split(";")[0], "attachment")
    # Nothing of a name ends the quoted string or the header.
    odd = 'a"; filename="x.exe\\ %41\r\nX: y'
    with open(os.path.join(source, odd), "w") as file:
        file.write("odd")
    got = server.ask("/api/file?path=" + urllib.parse.quote(odd))
    same("a hostile name", (got.header("content-disposition"), got.body, got.header("x")),
         ('inline; filename="a_; filename=_x.exe_ _41__X: y"; filename*=UTF-8\'\'' + urllib.parse.quote(odd, safe=""), b"odd", ""))
    os.remove(os.path.join(source, odd))
    with open(os.path.join(source, "large.bin"), "rb") as file:
        large = file.read()
    same("a large file", server.ask("/api/file?path=large.bin").body == large, True)
    same("its middle", server.ask("/api/file?path=large.bin", "Range: bytes=100000-2999999").body == large[100000:3000000], True)
    same("an entry", server.ask("/api/file?path=/a.zip.contents/x/packed.txt").body == PLAIN * 50, True)
    same("its end", server.ask("/api/file?path=/a.zip.contents/x/packed.txt", "Range: bytes=-9").body, PLAIN[-9:])
    same("an empty one", (server.ask("/api/file?path=empty").status, server.ask("/api/file?path=empty").body), (200, b""))
    got = server.ask("/api/list?path=/broken.zip.contents")
    problem = json.loads(got.body)
    same("a broken archive", (got.status, got.header("content-type"), problem["status"]), (422, "application/problem+json", 422))
    if not problem.get("detail"):
        print(f"no sentence: {problem}")
    same("nothing", server.ask("/api/file?path=/nothing").status, 404)
    # Two on one connection, and one that changes meanwhile.
    with open(os.path.join(source, "empty"), "wb") as file:
        file.write(b"not any more")
    time.sleep(.6)
    same("a change", server.ask("/api/file?path=empty").body, b"not any more")


def views(server):
    same("Markdown", {k: server.call("view", path="/Read.md")[k] for k in ("type", "content", "language")},
         {"type": "markdown", "content": "# Title\n", "language": "markdown"})
    same("code", server.call("view", path="/code.swift")["language"], "swift")
    same("Latin-1", server.call("view", path="/latin.txt")["content"].split(",")[0], "Grüße aus Köln")
    got = server.call("view", path="/b.png")
    same("an image", (got["type"], got["dimensions"], got["mimeType"]), ("image", {"width": 3, "height": 2}, "image/png"))
    same("its address", server.ask(got["url"]).body, PNG)
    same("binary", server.call("view", path="/large.bin")["type"], "binary")
    got = {view["name"]: view for view in server.call("views", path="/a.zip")["views"]}
    same("views", (got["a.zip.contents"]["view"], got["a.zip.contents"]["isListed"]), ("contents", True))
    got = server.call("stat", path="/a.zip.contents/stored.txt")
    same("stat", (got["size"], got["view"], got["source"], got["state"]), (6, "contents", "a.zip", "exact"))
    hits = searched(server, path="/", q="NEEDLE hay")
    same("search", ([hit["path"] for hit in hits["results"]], hits["isComplete"]), (["/Folder/deep/needle in hay.txt"], True))
    hits = searched(server, path="/", q="raw")["results"]
    same("hits that are not UTF-8", {hit.get("encodedPath") for hit in hits},
         {"/raw%FF.txt", "/raw%FF.zip", "/raw%FF.zip.contents/in%20raw.txt"})
    same("others", [hit for hit in server.call("search", path="/", q="needle")["results"] if "encodedPath" in hit], [])
    got = [view.get("encodedPath") for view in json.loads(server.ask("/api/views?path=/raw%FF.zip").body)["views"]]
    same("views of a name that is not UTF-8", "/raw%FF.zip.contents" in got, True)
    hits = searched(server, path="/inbox.mbox", q="harbour")["results"]
    same("search in mail", len(hits), 2)
    same("what it found", "message.eml" in {i["name"] for i in server.call("list", path=hits[0]["path"])["items"]}, True)
    for target in ("/api/list?path=/", "/page.js", "/api/openapi.json", "/dav/"):
        plain = server.ask(target)
        for accepted, coding in (("gzip", "gzip"), ("br, GZIP;q=0.5", "gzip"), ("gzip, br, zstd", "zstd"), ("gzip;q=0", ""), ("gzip; q=0.000", ""), ("deflate", ""), ("x" * 1000, "")):
            got = server.ask(target, "Accept-Encoding: " + accepted)
            same(f"{target} by {accepted[:20]}", (got.header("content-encoding"), "Accept-Encoding" in got.header("vary")), (coding, True))
            body = decoded(got.body, coding)
            same(f"the bytes of {target} by {accepted[:20]}", (body == plain.body, not coding or len(got.body) < len(body) // 2), (True, True))
    page = server.ask("/").body.decode()
    for name in ("page.css", "page.js", "write.js"):
        versioned = re.search(f'"({re.escape(name)}[?]v=[0-9a-z]+)"', page)[1]
        got, plain = server.ask("/" + versioned), server.ask("/" + name)
        same(f"{name} by its version", (got.status, got.body == plain.body, "immutable" in got.header("cache-control")), (200, True, True))
        for target in (name, name + "?v=0"):
            same(f"the lifetime of {target}", server.ask("/" + target).header("cache-control"), "private, no-cache")
        same(f"{name} that is known", server.ask("/" + name, "If-None-Match: " + plain.header("etag")).status, 304)
    tag = server.ask("/", "Accept-Encoding: zstd").header("etag")
    same("a page that is known", [server.ask("/", "If-None-Match: " + known).status for known in (tag, f'"x", {tag}', '"x"')], [304, 304, 200])
    tag = server.ask("/api/list?path=/", "Accept-Encoding: gzip").header("etag")
    same("a weak tag", (tag[:2], server.ask("/api/list?path=/", "Accept-Encoding: gzip", "If-None-Match: " + tag).status), ("W/", 304))
    same("a file's bytes", server.ask("/api/file?path=/Folder/deep/needle in hay.txt".replace(" ", "%20"), "Accept-Encoding: gzip").header("content-encoding"), "")
    described = json.loads(server.ask("/api/openapi.json").body)
    for path in described["paths"]:
        # The events have no end.
        method = "HEAD" if path.endswith("/events") else "GET"
        same(path, server.ask(path + "?path=/&q=a", method=method).status in (200, 400, 501), True)


def searched(server, **parameters):
    """The results once everything has been searched."""
    while True:
        got = server.call("search", **parameters)
        described = json.loads(server.ask("/api/openapi.json").body)
        for fault in json_schema.faults(got, described["components"]["schemas"]["Search"], described):
            print(f"search {parameters}: {fault}")
        if got["percent"] == 100:
            return got
        time.sleep(.1)


def search(server):
    """One search over everything: its members, parts, places and limits."""
    inner = os.path.join(source, "found")
    hits = {hit["path"]: hit for hit in searched(server, path="/", q="zebra")["results"]}
    same("what is found", set(hits), {"/found/<b>zebra.txt", "/found/zebra.eml", "/found/outer.zip.contents/inner.zip.contents/deep/zebra.md"})
    text, mail = hits.get("/found/<b>zebra.txt", {}), hits.get("/found/zebra.eml", {})
    same("a text", [text.get(name) for name in ("name", "type", "kind", "date", "title", "extension")],
         ["<b>zebra.txt", "file", "text", "2023-11-14T22:13:20.000Z", "<b>zebra.txt", "txt"])
    same("its size", text.get("size"), os.path.getsize(os.path.join(inner, "<b>zebra.txt")))
    snippet = text.get("snippet", "").encode()
    same("its words", [snippet[start:end] for start, end in text.get("marks", [])], [b"zebra"])
    same("markup stays as it is", b"<img src=x onerror=alert(1)> zebra & \\ \"quoted\"" in snippet, True)
    same("a message", [mail.get(name) for name in ("kind", "date", "sender", "title", "type")],
         ["mail", "2024-05-06T10:00:00.000Z", "Ann <ann@example.org>", "A zebra", "file"])
    for hit in hits.values():
        same(f"{hit['path']} opens", server.ask("/api/file?path=" + urllib.parse.quote(hit["path"])).status, 200)
    for path, count in (("/found", 3), ("/found/outer.zip.contents", 1), ("/found/outer.zip.contents/inner.zip.contents/deep", 1), ("/Folder", 0)):
        same(f"below {path}", len(searched(server, path=path, q="zebra")["results"]), count)
    same("in a mailbox", [(hit["title"], hit["kind"], hit["sender"], hit["date"][:10]) for hit in searched(server, path="/inbox.mbox", q="summer")["results"]],
         [("Summer", "mail", "Ann", "2024-05-06")])
    whole = searched(server, path="/found", q="wildebeest")
    same("all in one", (len(whole["results"]), whole["count"], whole.get("next"), whole["isComplete"]), (30, 30, None, True))
    parts, start = [], 0
    while start is not None:
        got = server.call("search", path="/found", q="wildebeest", limit="7", **{"from": str(start)})
        same("a part", (len(got["results"]) <= 7, got["count"], got["isComplete"]), (True, 30, "next" not in got))
        parts += got["results"]
        start = got.get("next")
    same("all in parts", [hit["path"] for hit in parts], [hit["path"] for hit in whole["results"]])
    same("ranks", [hit["rank"] for hit in parts], list(range(1, 31)))
    same("a part beyond the end", server.call("search", path="/found", q="wildebeest", limit="7", **{"from": "4000000000"})["results"], [])
    same("a similar word", searched(server, path="/", q="zebar").get("similarWord"), "zebra")
    same("a part of a name", [hit["path"] for hit in searched(server, path="/", q="lain.tx")["results"]], ["/plain.txt"])
    same("a phrase", [hit["name"] for hit in searched(server, path="/", q='"wildebeest number 3"')["results"]], ["herd 3.txt"])
    same("a query that is not understood", server.ask("/api/search?path=/&q=" + urllib.parse.quote("size:>")).status, 422)
    # A hit that is gone when it is opened.
    os.remove(os.path.join(inner, "zebra.eml"))
    time.sleep(.6)
    same("a removed hit", server.ask("/api/file?path=/found/zebra.eml").status, 404)


def packed(server):
    with zipfile.ZipFile(io.BytesIO(server.ask("/api/zip?path=/").body)) as archive:
        same("a ZIP's faults", archive.testzip(), None)
        names = set(archive.namelist())
        same("what is packed", {"shown/Folder/deep/needle in hay.txt", "shown/a.zip", "shown/link.txt"} <= names, True)
        same("views are not packed", any("contents" in name for name in names), False)
        same("packed bytes", archive.read("shown/plain.txt"), PLAIN)
        same("its time", archive.getinfo("shown/plain.txt").date_time, (2023, 11, 14, 22, 13, 20))
    # Names as they are, and no link to a folder: it may lead back.
    inner = os.path.join(source, "zipped")
    os.makedirs(os.path.join(inner, "ä"))
    for name in ("ä/ö.txt", "plain"):
        with open(os.path.join(inner, name), "w") as file:
            file.write(name)
    for name, target in (("up", ".."), ("beside", "ä"), ("to a file", "plain")):
        os.symlink(target, os.path.join(inner, name))
    with zipfile.ZipFile(io.BytesIO(server.ask("/api/zip?path=/zipped").body)) as archive:
        same("names in a ZIP", sorted(name for name in archive.namelist() if name != "zipped/"),
             ["zipped/plain", "zipped/to a file", "zipped/ä/", "zipped/ä/ö.txt"])
    with zipfile.ZipFile(io.BytesIO(server.ask("/api/zip?path=/a.zip.contents").body)) as archive:
        same("an archive's folder", archive.read("a.zip.contents/x/packed.txt") == PLAIN * 50, True)


def packing(server):
    """What is deflated and what is stored, as four programs read it."""
    chance = random.Random(5)
    files = {"long.txt": PLAIN * 40, "short.txt": b"a" * 100, "empty.txt": b"", "tiny.txt": b"x", "zeros.bin": bytes(3 << 20),
             "chance.bin": chance.randbytes(300_000), "photo.jpg": PLAIN, "begins alike.bin": bytes(40_000) + chance.randbytes(200_000)}
    inner = os.path.join(source, "packing")
    os.mkdir(inner)
    for name, content in files.items():
        with open(os.path.join(inner, name), "wb") as file:
            file.write(content)
    deflated = {"long.txt", "short.txt", "zeros.bin", "begins alike.bin"}
    for query, wanted in (("", deflated), ("&method=deflated", deflated), ("&method=stored", set())):
        path = os.path.join(folder, "packed.zip")
        with open(path, "wb") as file:
            file.write(server.ask("/api/zip?path=/packing" + query).body)
        with zipfile.ZipFile(path) as archive:
            found = {info.filename.partition("/")[2]: info for info in archive.infolist()}
            same("deflated", {name for name, info in found.items() if info.compress_type == zipfile.ZIP_DEFLATED}, wanted)
            same("packed", {name: archive.read(info) == files[name] for name, info in found.items()}, dict.fromkeys(files, True))
        for words in (["unzip", "-tqq"], ["7z", "t"], ["bsdtar", "-xOf"]):
            done = subprocess.run([*words, path], capture_output=True)
            same(f"{words[0]}: {done.stderr}", done.returncode, 0)
        with open(path, "rb") as file:
            done = subprocess.run(["bsdtar", "-tf", "-"], stdin=file, capture_output=True)
        same("read front to back", len(done.stdout.splitlines()), len(files))
    same("another method", server.ask("/api/zip?path=/packing&method=lzma").status, 400)


def one_after_the_other(server):
    """Requests that do not wait for answers; and a client that knows no chunks."""
    names = ["plain.txt", "Folder/deep/needle in hay.txt", "b.png", "a.zip.contents/stored.txt", "missing"]
    wanted = {name: server.ask("/api/file?path=" + urllib.parse.quote(name)) for name in names}
    targets = [chance for _ in range(12) for chance in names]
    ask = "".join(f"GET /api/file?path={urllib.parse.quote(name)} HTTP/1.1\r\nHost: localhost\r\n\r\n" for name in targets)
    with server.connect() as connection:
        connection.sendall(ask.encode() + b"no HTTP\r\n\r\n")
        data = b""
        while part := connection.recv(1 << 16):
            data += part
    for name in targets:
        head, _, data = data.partition(b"\r\n\r\n")
        length = int(re.search(rb"content-length: (\d+)", head.lower()).group(1))
        same(f"{name} in turn", (head.split()[1], data[:length] == wanted[name].body), (str(wanted[name].status).encode(), True))
        data = data[length:]
    same("what is no HTTP", data[:12], b"HTTP/1.1 400")
    got = server.raw(b"GET /api/zip?path=/Folder HTTP/1.0\r\nHost: localhost\r\n\r\n")
    same("no chunks", got.header("transfer-encoding"), "")
    with zipfile.ZipFile(io.BytesIO(got.body)) as archive:
        same("an archive without chunks", archive.testzip(), None)


def dav(server):
    def find(target, depth, body=b""):
        got = server.ask(target, f"Depth: {depth}", method="PROPFIND", body=body)
        return got.status, got.body

    def names(data, tag="{DAV:}href"):
        return [element.text for element in ElementTree.fromstring(data).iter(tag)]

    status, data = find("/dav/", 1)
    same("PROPFIND", status, 207)
    hrefs = names(data)
    same("hrefs", {"/dav/", "/dav/Folder/", "/dav/a.zip.contents/", "/dav/" + urllib.parse.quote(ODD), "/dav/raw%FF.txt"} - set(hrefs), set())
    for href in hrefs:
        same(href, find(href, 0)[0], 207)
    status, data = find("/dav/plain.txt", 0, b'<?xml version="1.0"?><propfind xmlns="DAV:"><prop><getcontentlength/>'
                        b'<x xmlns="urn:y"/></prop></propfind>')
    same("a size", names(data, "{DAV:}getcontentlength"), [str(len(PLAIN))])
    same("what is not there", (len(names(data, "{urn:y}x")), names(data, "{DAV:}status")),
         (1, ["HTTP/1.1 200 OK", "HTTP/1.1 404 Not Found"]))
    same("names", names(find("/dav/plain.txt", 0, b"<a:propfind xmlns:a='DAV:'><a:propname/></a:propfind>")[1],
         "{DAV:}getcontentlength"), [None])
    # A conversion's size is not known before it is made.
    same("an estimate", names(find("/dav/b.png.as-jpeg", 0)[1], "{DAV:}getcontentlength"), [])
    for body in (b"<propfind", b"<a:propfind xmlns:a='DAV:'/><b/>", b"<a:propfind/>", b"<propfind xmlns='DAV:'><prop><a:b xmlns:a=''/></prop></propfind>",
                 b"<!DOCTYPE a [<!ENTITY b 'c'>]><propfind xmlns='DAV:'/>", b"<propfind xmlns='DAV:'></prop>", b"<x xmlns='DAV:'/>", b"\xff"):
        same(f"malformed {body}", find("/dav/", 0, body)[0], 400)
    # Names and namespaces are repeated in the answer, which stays XML.
    for name, is_right in (("é", True), ("a·", True), ("漢", True), ("·a", False), ("×", False), ("a\u00a0b", False),
                           ("\u2028", False), ("\ufffe", False), ("1b", False), ("-b", False), ("a:b", False), ("\u0300", False)):
        status, data = find("/dav/plain.txt", 0, f'<propfind xmlns="DAV:" xmlns:p="urn:x&amp;&#x41;"><prop><p:{name}/></prop></propfind>'.encode())
        same(f"a property named {name!r}", status, 207 if is_right else 400)
        if is_right:
            same(f"the answer on {name!r}", len(names(data, "{urn:x&A}" + name)), 1)
    for space in ("&none;", "&", "a&#0;", "a&#x1;", "a\x01", "&#xd800;", "a<"):
        same(f"a namespace {space!r}", find("/dav/plain.txt", 0,
             f'<propfind xmlns="DAV:"><prop><b xmlns="{space}"/></prop></propfind>'.encode())[0], 400)
    same("all", find("/dav/", "infinity")[0], 403)
    same("nothing", find("/dav/nothing", 0)[0], 404)
    got = server.ask("/dav/", method="OPTIONS")
    same("OPTIONS", (got.status, got.header("dav"), "PROPFIND" in got.header("allow")), (200, "1, 3", True))
    same("GET", server.ask("/dav/a.zip.contents/x/packed.txt").body == PLAIN * 50, True)
    same("a step that leads nowhere", server.ask("/dav/./Folder/./inner.txt").body, b"inner")
    same("one that leads up", server.ask("/dav/Folder/../plain.txt").status, 400)
    same("Range", server.ask("/dav/plain.txt", "Range: bytes=3-5").body, PLAIN[3:6])
    got = server.ask("/dav/a.zip.contents")
    same("a folder without its slash", (got.status, got.header("location")), (301, "/dav/a.zip.contents/"))
    got = server.ask("/dav/")
    links = re.findall(r'<td><a href="([^"]*)">', got.body.decode())
    same("a page of links", ({"Folder/", "a.zip.contents/", urllib.parse.quote(ODD), "raw%FF.txt"} - set(links), "<b>" in got.body.decode()),
         (set(), False))
    same("folders before files", [link.endswith("/") for link in links], sorted((link.endswith("/") for link in links), reverse=True))
    same("PUT", server.ask("/dav/new.txt", method="PUT", body=b"x").status, 403)


def entries(server):
    """Many small files in one answer, as /api/stat gives each."""
    folder = os.path.join(source, "many")
    os.mkdir(folder)
    for number in range(100):
        with open(os.path.join(folder, f"+{number}"), "wb") as file:
            file.write(bytes([number]) * 16_000)
    ask = lambda names, more="": server.ask("/api/entries?path=/many" + "".join("&name=" + urllib.parse.quote(name) for name in names) + more)
    names = ["+3", "none", "+1", "+2"]
    same("entries", json.loads(ask(names, "&bytes=16384").body)["items"], [json.loads(server.ask(f"/api/stat?path=/many/%2B{number}&bytes=16384").body) for number in (3, 1, 2)])
    same("without bytes", ["content" in item for item in json.loads(ask(names).body)["items"]], [False] * 3)
    count = len(json.loads(ask([f"+{number}" for number in range(100)], "&bytes=16384").body)["items"])
    same(f"an answer ends early: {count}", 60 <= count < 70, True)
    same("wrong names", [ask(names).status for names in ([], ["..", "+1"], ["a/b"], [""], ["+1"] * 257)], [400] * 5)
    same("no folder", server.ask("/api/entries?path=/none&name=x").status, 404)
    for name in os.listdir(folder):
        os.remove(os.path.join(folder, name))
    os.rmdir(folder)
    space = json.loads(server.ask("/api/space").body)
    same("the space", (space["available"] > 0, space["used"] > 0), (True, True))


def contract(server):
    """Every sentence of the page Serve that is about a single answer."""
    def headers(got):
        return {name: values for name, values in got.headers.items() if name not in ("date", "transfer-encoding")}
    tag = server.ask("/api/file?path=plain.txt").header("etag")
    for target, *more in (
        ("/api/file?path=plain.txt",), ("/api/file?path=large.bin",), ("/api/file?path=/a.zip.contents/x/packed.txt",), ("/dav/plain.txt",),
        ("/api/file?path=empty",), ("/api/file?path=plain.txt", "Range: bytes=3-9"), ("/api/file?path=large.bin", "Range: bytes=3-2999999"),
        ("/api/file?path=plain.txt", "Range: bytes=999999-"), ("/api/file?path=plain.txt", f"If-None-Match: {tag}"), ("/api/list",),
        ("/api/stat?path=a.zip",), ("/api/view?path=code.swift",), ("/api/views?path=a.zip",), ("/api/search?q=needle",), ("/api/zip?path=Folder",),
        ("/api/openapi.json",), ("/api/list?path=nothing",), ("/api/no",), ("/api/file",), ("/dav/Folder/",), ("/dav/no",), ("/",), ("/page.js",),
        ("/page.css",), ("/no",), ("/api/list?path=broken.zip.contents",), ("/api/file?path=Folder",),
    ):
        # HEAD has no ranges.
        full = server.ask(target, *(header for header in more if not header.startswith("Range")))
        head = server.ask(target, *more, method="HEAD")
        same(f"HEAD {target} {more}", (head.status, headers(head), head.body), (full.status, headers(full), b""))
        if full.status >= 400:
            problem = json.loads(full.body)
            same(f"{target} is a problem", (full.header("content-type"), problem["status"], problem["type"], bool(problem["title"])),
                 ("application/problem+json", full.status, "about:blank", True))
    same("nothing's problem", json.loads(server.ask("/api/file?path=/no%C3%BC").body),
         {"type": "about:blank", "title": "Not Found", "status": 404, "detail": "No such file or directory", "instance": "/no%C3%BC"})
    for text, status, part in (("0-0", 206, f"bytes 0-0/{len(PLAIN)}"), ("-5", 206, f"bytes {len(PLAIN) - 5}-{len(PLAIN) - 1}/{len(PLAIN)}"),
                               (f"{len(PLAIN)}-", 416, f"bytes */{len(PLAIN)}"), ("-0", 416, f"bytes */{len(PLAIN)}")):
        got = server.ask("/api/file?path=plain.txt", f"Range: bytes={text}")
        same(f"Content-Range of {text}", (got.status, got.header("content-range")), (status, part))
    same("what is accepted", server.ask("/api/file?path=plain.txt").header("accept-ranges"), "bytes")
    # As many bytes with the same time: another strong tag, after what a kernel keeps.
    path = os.path.join(source, "Folder/inner.txt")
    before = server.ask("/api/file?path=Folder/inner.txt")
    times = os.stat(path)
    with open(path, "wb") as file:
        file.write(b"INNER")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    time.sleep(.6)
    after = server.ask("/api/file?path=Folder/inner.txt", f"If-None-Match: {before.header('etag')}")
    same("other bytes", (after.status, after.body, after.header("etag") != before.header("etag"), before.header("etag")[0]), (200, b"INNER", True, '"'))
    same("other bytes without a condition", server.ask("/api/file?path=Folder/inner.txt").body, b"INNER")
    # On a busy machine, more than a moment passes before the answer.
    for _ in range(20):
        with open(path, "wb") as file:
            file.write(b"inner")
        time.sleep(.6)
        date = server.ask("/api/file?path=Folder/inner.txt").header("last-modified")
        status = server.ask("/api/file?path=Folder/inner.txt", "Range: bytes=1-2", f"If-Range: {date}").status
        if time.time() < int(os.stat(path).st_mtime) + 2:
            break
    same("a date of a moment ago", status, 200)
    for target, allowed in (("/api/list", "GET, HEAD"), ("/", "GET, HEAD"), ("/dav/plain.txt", "OPTIONS, GET, HEAD, PROPFIND")):
        got = server.ask(target, method="POST", body=b"x")
        same(f"POST {target}", (got.status, got.header("allow")), (405, allowed))
    # HTTP/1.0 knows no chunks: the end of the connection is that of the body.
    with zipfile.ZipFile(io.BytesIO(server.raw(b"GET /api/zip?path=Folder HTTP/1.0\r\nHost: localhost\r\n\r\n").body)) as archive:
        same("a ZIP for HTTP/1.0", archive.testzip(), None)
    # The answer to HEAD has no body, and what follows on the connection is the next answer.
    with server.connect() as connection:
        connection.sendall(b"HEAD /api/zip?path=Folder HTTP/1.1\r\nHost: localhost\r\n\r\n"
                           b"HEAD /api/file?path=b.png.as-png HTTP/1.1\r\nHost: localhost\r\n\r\n"
                           b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        data = b""
        while part := connection.recv(1 << 16):
            data += part
        same("answers after HEAD", [part.split(b"\r\n")[0] for part in data.split(b"\r\n\r\n")][:3], [b"HTTP/1.1 200 OK"] * 3)
    # HEAD makes nothing; what has been made has a size.
    sizes = [server.ask("/api/file?path=p.ppm.as-png", method="HEAD").header("content-length"), len(server.ask("/api/file?path=p.ppm.as-png").body),
             server.ask("/api/file?path=p.ppm.as-png", method="HEAD").header("content-length")]
    same("sizes of a conversion", (sizes[0], sizes[1] > 0, sizes[2]), ("", True, str(sizes[1])))
    same("what is made", server.ask("/api/file?path=p.ppm.as-png").body[:4], b"\x89PNG")
    items = {item["name"]: item for item in server.call("list", path="/")["items"]}
    same("members", {frozenset(item) - {"view", "estimate", "encodedPath", "link", "linkModified"} for item in items.values()},
         {frozenset(("name", "type", "size", "modified", "extension", "absolutePath"))})
    same("a dangling link", (items["nowhere"]["type"], items["nowhere"]["size"]), ("other", None))
    same("a folder", [items["Folder"][name] for name in ("type", "size", "extension")], ["directory", None, None])
    got = server.call("stat", path="/broken.zip.contents")
    same("what fails", (got["type"], got["view"], got["state"] in ("exact", "failed")), ("directory", "contents", True))
    same("the root", [server.call("stat")[name] for name in ("path", "name", "type")], ["/", "shown", "directory"])
    got = server.call("view", path="/long.txt")
    same("a long text", (got["type"], got["isCut"], len(got["content"]), got["size"]), ("text", True, 1 << 20, (1 << 20) + 1024))
    same("UTF-16", server.call("view", path="/wide.txt")["content"], "Grüße\n")
    same("a folder's view", server.ask("/api/view?path=/Folder").status, 400)
    got = searched(server, path="/", q="txt", limit="1")
    same("a limit", (len(got["results"]), got["isComplete"]), (1, False))
    for query in ("", "&q=", "&q=" + "a" * 401):
        same(f"search {query[:9]}", server.ask("/api/search?path=/" + query).status, 400)
    same("links out", server.ask("/api/file?path=out").status, 403)
    for name, value in (("download=1", "attachment"), ("download=0", "inline"), ("", "inline")):
        same(f"disposition of {name}", server.ask(f"/api/file?path=plain.txt&{name}").header("content-disposition").split(";")[0], value)
    got = server.ask("/metrics")
    same("counters", (got.header("content-type").split(";")[0], b'ffserve_answers_total{status="404"}' in got.body), ("text/plain", True))


def crowd(server):
    """Connections that wait, and some that are busy."""
    idle = []
    for _ in range(500):
        connection = server.connect()
        connection.sendall(b"GET /api/file?path=plain.txt HTTP/1.1\r\nHost: localhost\r\n\r\n")
        idle.append(connection)
    failed = []

    def busy():
        for _ in range(10):
            if server.ask("/api/file?path=/a.zip.contents/x/packed.txt").body != PLAIN * 50:
                failed.append(1)
    threads = [threading.Thread(target=busy) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    same("answers in a crowd", len(failed), 0)
    for connection in idle:
        connection.close()


def limited(server):
    """The beginning of a listing is that of the whole."""
    whole = server.call("list", path="/")
    for limit in (0, 1, 3, len(whole["items"]) - 1):
        got = server.call("list", path="/", limit=limit)
        same(f"the first {limit}", (got["items"], got["count"]), (whole["items"][:limit], len(whole["items"])))
    for limit in (len(whole["items"]), 1 << 40):
        same(f"a limit of {limit}", server.call("list", path="/", limit=limit), whole)
    for limit in ("x", "-1", "", "1" * 30):
        same(f"a limit of {limit}", server.ask(f"/api/list?path=/&limit={limit}").status, 400)


def other_pages():
    """Scripts of pages that --cors names may ask and read, with a token; others may not."""
    with Server(program, source, "--token", "long-enough", "--cors", "https://app.example", "--index", "-o", "rw") as server:
        own, other, token = "Origin: https://app.example", "Origin: https://evil.example", "Authorization: Bearer long-enough"
        asked = ("Access-Control-Request-Method: PUT", "Access-Control-Request-Headers: authorization, depth", "Sec-Fetch-Site: cross-site")
        got = server.ask("/dav/x", own, *asked, method="OPTIONS")
        same("permission", (got.status, got.header("access-control-allow-origin"), got.header("vary"), "PUT" in got.header("access-control-allow-methods"), "Depth" in got.header("access-control-allow-headers")),
             (204, "https://app.example", "Origin", True, True))
        same("not of others", (server.ask("/dav/x", other, *asked, method="OPTIONS").header("access-control-allow-origin"), server.ask("/api/list", other, token, "Sec-Fetch-Site: cross-site").status), ("", 403))
        for target, method, status in [("/api/list", "GET", 200), ("/dav/plain.txt", "GET", 200), ("/dav/cross", "PUT", 201), ("/dav/cross", "DELETE", 204), ("/api/none", "GET", 404)]:
            got = server.ask(target, own, token, "Sec-Fetch-Site: cross-site", method=method, body=b"x" if method == "PUT" else b"")
            same(f"{method} {target}", (got.status, got.header("access-control-allow-origin"), "ETag" in got.header("access-control-expose-headers"), got.header("access-control-allow-credentials")), (status, "https://app.example", True, ""))
        same("no token", server.ask("/api/list", own).status, 401)
        same("the page itself", server.ask("/", token).header("access-control-allow-origin"), "")
        # A folder's page.
        with open(os.path.join(source, "Folder", "index.html"), "wb") as file:
            file.write(b"<h1>index</h1>")
        got = server.ask("/dav/Folder/", token)
        same("an index", (got.status, got.body, "sandbox" in got.header("content-security-policy")), (200, b"<h1>index</h1>", True))
        same("none", b"<h1>index</h1>" not in server.ask("/dav/", token).body, True)
        os.remove(os.path.join(source, "Folder", "index.html"))
    for words in (("--cors", "*"), ("--cors", "app.example"), ("--cors", "https://a/b"), ("--host", "unix:"), ("--host", "unix:" + "a" * 108), ("--host", "unix:/none/x")):
        got = subprocess.run([program, source, "--no-bonjour", *words], capture_output=True, text=True, timeout=20)
        same(f"{words}", (got.returncode != 0, "expected" in got.stderr or "choose another path" in got.stderr), (True, True))


def by_socket():
    """A socket for a proxy on this machine, which reports its clients."""
    path = os.path.join(folder, "socket")
    words = [program, source, "--host", "unix:" + path, "--token", "long-enough"]

    def begin():
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        for line in process.stdout:
            if "Stop" in line:
                return process
        raise SystemExit("it ended")

    def ask(target, *headers):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(30)
            connection.connect(path)
            connection.sendall("\r\n".join([f"GET {target} HTTP/1.1", "Host: localhost", "Connection: close", *headers, "", ""]).encode())
            return answer(connection)

    server = begin()
    token = "Authorization: Bearer long-enough"
    same("by the socket", (ask("/api/list", token).status, ask("/api/list").status, os.stat(path).st_mode & 0o777), (200, 401, 0o660))
    forwarded = "X-Forwarded-For: 203.0.113.9"
    same("guesses", [ask("/api/list?token=wrong%d" % number, forwarded).status for number in range(11)], [401] * 10 + [429])
    same("of another client", ask("/api/list?token=wrong", "X-Forwarded-For: 203.0.113.10").status, 401)
    same("by TLS", "Secure" in ask("/?token=long-enough", "X-Forwarded-Proto: https").header("set-cookie"), True)
    second = subprocess.run(words, capture_output=True, text=True, timeout=20)
    same("a second server", (second.returncode != 0, "another server" in second.stderr, ask("/api/list", token).status), (True, True, 200))
    server.kill()
    server.wait()
    server = begin()
    same("after a kill", ask("/api/list", token).status, 200)
    server.terminate()
    same("its end", (server.wait(10), os.path.exists(path)), (0, False))


make()
with Server(program, source) as server:
    for part in (listing, files, views, search, packed, packing, one_after_the_other, dav, contract, entries, limited, crowd):
        part(server)
with Server(program, os.path.join(source, "a.zip")) as server:
    same("one file", [item["name"] for item in server.call("list", path="/")["items"]], ["x", "stored.txt"])
other_pages()
by_socket()
print("done")
