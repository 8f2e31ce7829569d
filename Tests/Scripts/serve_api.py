"""serve_api.py FFSERVE FOLDER: a client that knows no more of the server than the page Serve says.

Makes its files below FOLDER, and prints what is not as it should be, and at the end "done".
"""
import io
import json
import os
import re
import sys
import threading
import time
import urllib.parse
import xml.etree.ElementTree as ElementTree
import zipfile

from serving import Server

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
             "Folder/inner.txt": b"inner", "Folder/deep/needle in hay.txt": b"deep", "large.bin": os.urandom(3 << 20)}
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
    os.symlink("Folder/inner.txt", os.path.join(source, "link.txt"))
    os.utime(os.path.join(source, "plain.txt"), (1700000000, 1700000000))


def listing(server):
    got = server.call("list", path="/")
    same("its path", (got["path"], got["absolutePath"]), ("/", source))
    items = {item["name"]: item for item in got["items"]}
    kinds = [item["type"] for item in got["items"]]
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
    for text, part in (("0-0", slice(0, 1)), ("5-", slice(5, None)), ("-7", slice(-7, None)), ("100-199", slice(100, 200))):
        got = server.ask(path, f"Range: bytes={text}")
        same(f"Range {text}", (got.status, got.body), (206, PLAIN[part]))
    for condition, status in ((tag, 206), ('"other"', 200), (modified, 206), ("Mon, 01 Jan 2001 00:00:00 GMT", 200), ("W/" + tag, 200)):
        same(f"If-Range {condition}", server.ask(path, "Range: bytes=1-2", f"If-Range: {condition}").status, status)
    quoted = urllib.parse.quote("/" + ODD)
    got = server.ask(f"/api/file?path={quoted}&download=1")
    same("download", got.header("content-disposition").split("; filename*=")[1], "UTF-8''" + urllib.parse.quote(ODD, safe=""))
    same("attachment", got.header("content-disposition").split(";")[0], "attachment")
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
    hits = server.call("search", path="/", q="NEEDLE hay")
    same("search", ([hit["path"] for hit in hits["results"]], hits["isComplete"]), (["/Folder/deep/needle in hay.txt"], True))
    hits = server.call("search", path="/", q="raw")["results"]
    same("hits that are not UTF-8", {hit.get("encodedPath") for hit in hits}, {"/raw%FF.txt", "/raw%FF.zip"})
    same("others", [hit for hit in server.call("search", path="/", q="needle")["results"] if "encodedPath" in hit], [])
    got = [view.get("encodedPath") for view in json.loads(server.ask("/api/views?path=/raw%FF.zip").body)["views"]]
    same("views of a name that is not UTF-8", "/raw%FF.zip.contents" in got, True)
    hits = server.call("search", path="/inbox.mbox", q="harbour")["results"]
    same("search in mail", len(hits), 2)
    same("what it found", "message.eml" in {i["name"] for i in server.call("list", path=hits[0]["path"])["items"]}, True)
    described = json.loads(server.ask("/api/openapi.json").body)
    for path in described["paths"]:
        same(path, server.ask(path + "?path=/&q=a").status in (200, 400), True)


def packed(server):
    with zipfile.ZipFile(io.BytesIO(server.ask("/api/zip?path=/").body)) as archive:
        same("a ZIP's faults", archive.testzip(), None)
        names = set(archive.namelist())
        same("what is packed", {"shown/Folder/deep/needle in hay.txt", "shown/a.zip", "shown/link.txt"} <= names, True)
        same("views are not packed", any("contents" in name for name in names), False)
        same("packed bytes", archive.read("shown/plain.txt"), PLAIN)
        same("its time", archive.getinfo("shown/plain.txt").date_time, (2023, 11, 14, 22, 13, 20))
    with zipfile.ZipFile(io.BytesIO(server.ask("/api/zip?path=/a.zip.contents").body)) as archive:
        same("an archive's folder", archive.read("a.zip.contents/x/packed.txt") == PLAIN * 50, True)


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
    same("all", find("/dav/", "infinity")[0], 403)
    same("nothing", find("/dav/nothing", 0)[0], 404)
    got = server.ask("/dav/", method="OPTIONS")
    same("OPTIONS", (got.status, got.header("dav"), "PROPFIND" in got.header("allow")), (200, "1", True))
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


make()
with Server(program, source) as server:
    for part in (listing, files, views, packed, dav, crowd):
        part(server)
with Server(program, os.path.join(source, "a.zip")) as server:
    same("one file", [item["name"] for item in server.call("list", path="/")["items"]], ["x", "stored.txt"])
print("done")
