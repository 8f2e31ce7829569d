"""serve_phone.py FFSERVE FOLDER: a client as a phone has one, written from the page Serve and openapi.json alone.

It asks nothing that the description does not have, and everything that it is answered has to be as described. Makes its files below
FOLDER, and prints what is not as it should be, and at the end "done".
"""
import base64
import http.client
import io
import json
import os
import struct
import sys
import time
import urllib.parse
import zipfile
import zlib

from json_schema import faults, resolved
from serving import Server

TOKEN = "a-token-of-a-phone"
LINES = b"".join(b"%d,kWh %d\n" % (number, number * 7 % 101) for number in range(40000))
MBOX = b"".join(
    b"From a@example.org Mon May  6 10:00:00 2024\nFrom: Ann <a@example.org>\nDate: Mon, 6 May 2024 10:0%d:00 +0000\n"
    b"Subject: %s\nMessage-ID: <%d@example.org>\n\nText of it.\n\n" % (number, subject, number)
    for number, subject in enumerate([b"Harbour", b"Summer", b"Harbour again"]))


def png(width, height):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + b"".join(bytes((x * 5 % 256, y * 3 % 256, 90)) for x in range(width)) for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def make(source):
    files = {"Read me.md": b"# Boats\n\n* one\n", "photos/harbour #1.png": png(400, 300), "photos/more/pier+.png": png(30, 20), "data/meter.csv": LINES,
             "data/100%.txt": "Grüße\n".encode(), "inbox.mbox": MBOX, "broken.zip": b"PK\3\4" * 20, "large.bin": os.urandom(2 << 20)}
    for name, data in files.items():
        os.makedirs(os.path.dirname(os.path.join(source, name)), exist_ok=True)
        with open(os.path.join(source, name), "wb") as file:
            file.write(data)
    for name, inner in ((b"a.zip", "in/inner.txt"), (b"raw\xff.zip", "in raw.txt")):
        with zipfile.ZipFile(os.fsdecode(os.path.join(os.fsencode(source), name)), "w") as archive:
            archive.writestr(inner, "packed")
    return files


def say(what):
    print(what[:600])


def same(what, found, wanted):
    if found != wanted:
        say(f"{what}: {str(found)[:250]!r} instead of {str(wanted)[:250]!r}")


class Answer:
    def __init__(self, got):
        self.status, self.headers = got.status, got.headers
        self.body = got.read()


class Phone:
    """Knows where the server is, its token, and its description."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        got = self.request("GET", "/api/openapi.json", {})
        self.description = json.loads(got.body)
        same("what signs in", self.description["components"]["securitySchemes"]["bearer"]["scheme"], "bearer")
        self.used = set()

    def request(self, method, target, headers):
        self.connection.request(method, target, headers={"Authorization": f"Bearer {TOKEN}", **headers})
        return Answer(self.connection.getresponse())

    def ask(self, call, path=None, method="GET", headers=None, **parameters):
        """The answer to a call, once it is as the description has it. `path` is percent-encoded."""
        described = self.description["paths"][f"/api/{call}"]
        operation = described.get(method.lower())
        if operation is None:
            say(f"{method} /api/{call} is not described")
            operation = described["get"]
        self.used.add((f"/api/{call}", method.lower()))
        known = {}
        for parameter in operation.get("parameters", []):
            parameter = resolved(parameter["$ref"], self.description) if "$ref" in parameter else parameter
            known[parameter["name"], parameter["in"]] = parameter
        for name, value in {**({"path": path} if path is not None else {}), **parameters}.items():
            if (name, "query") not in known:
                say(f"/api/{call}: the parameter {name} is not described")
            elif name != "path":
                for fault in faults(value, known[name, "query"]["schema"], self.description):
                    say(f"/api/{call}: {name}: {fault}")
        for name in headers or {}:
            if (name, "header") not in known:
                say(f"/api/{call}: the header {name} is not described")
        query = "&".join([*([f"path={path}"] if path is not None else []), *(f"{name}={urllib.parse.quote(str(value))}" for name, value in parameters.items())])
        got = self.request(method, f"/api/{call}?{query}", headers or {})
        self.check(f"{method} /api/{call}?{query}", operation, got, method)
        return got

    def check(self, what, operation, got, method):
        responses = operation["responses"]
        if got.status >= 400:
            response = responses.get(str(got.status), responses["default"])
        else:
            response = responses.get(str(got.status))
        if response is None:
            return say(f"{what}: {got.status} is not described")
        response = resolved(response["$ref"], self.description) if "$ref" in response else response
        for name, header in response.get("headers", {}).items():
            header = resolved(header["$ref"], self.description) if "$ref" in header else header
            value = got.headers.get(name)
            if value is None and header.get("required"):
                say(f"{what}: {got.status} without {name}")
            elif value is not None:
                value = int(value) if header["schema"].get("type") == "integer" else value
                for fault in faults(value, header["schema"], self.description, name):
                    say(f"{what}: {fault}")
        if method == "HEAD" or "content" not in response:
            return same(f"{what}: its body", got.body, b"")
        kind = got.headers.get("Content-Type", "").partition(";")[0]
        content = response["content"].get(kind, response["content"].get("*/*"))
        if content is None:
            return say(f"{what}: {kind} is not described")
        if "schema" in content and kind.endswith("json"):
            for fault in faults(json.loads(got.body), content["schema"], self.description):
                say(f"{what}: {fault}")

    def json(self, call, path, status=200, **parameters):
        got = self.ask(call, path, **parameters)
        same(f"/api/{call} {path}", got.status, status)
        return json.loads(got.body)

    def items(self, path):
        """A folder's entries, each with its path as the next call takes it."""
        for item in self.json("list", path)["items"]:
            yield item, item.get("encodedPath") or path.rstrip("/") + "/" + urllib.parse.quote(item["name"], safe="")


def browse(phone, files):
    """Every folder, as far as it goes down; returns {path: item}."""
    found, folders = {}, ["/"]
    while folders:
        folder = folders.pop()
        kinds = []
        for item, path in phone.items(folder):
            kinds.append(item["type"])
            found[path] = item
            if item["type"] == "directory" and path.count("/") < 6 and "broken" not in path:
                folders.append(path)
        same(f"{folder}: folders first", kinds, sorted(kinds))
    for name, data in files.items():
        item = found.get("/" + urllib.parse.quote(name))
        same(name, item and (item["type"], item["size"]), ("file", len(data)))
    for path in ("/a.zip.contents/in/inner.txt", "/raw%FF.zip.contents/in%20raw.txt"):
        same(path, phone.ask("file", path).body, b"packed")
    return found


def look(phone, found):
    """Each file is shown as what it is."""
    kinds = {}
    for path, item in found.items():
        told = phone.json("stat", path)
        same(f"{path}: its size", told.get("size"), item["size"])
        if item["type"] != "file" or "view" in item and not path.endswith(".txt"):
            continue
        shown = phone.json("view", path)
        kinds[path] = shown["type"]
        if shown["type"] in ("text", "markdown"):
            same(f"{path}: its text", shown["content"].encode() == phone.ask("file", path).body, not shown["isCut"])
        elif shown["type"] == "image":
            # As the description of /api/file says.
            small = phone.ask("file", path + ".100px.as-png")
            same(f"{path}: a small one", (small.status, small.headers["Content-Type"]), (200, "image/png"))
            width, height = struct.unpack(">II", small.body[16:24])
            same(f"{path}: how small", max(width, height), min(100, max(shown["dimensions"].values())))
    same("what is shown", {name: kinds.get(name) for name in ("/Read%20me.md", "/photos/harbour%20%231.png", "/data/meter.csv", "/large.bin")},
         {"/Read%20me.md": "markdown", "/photos/harbour%20%231.png": "image", "/data/meter.csv": "text", "/large.bin": "binary"})


def open_as(phone):
    """What else a file can be."""
    views = {view["view"]: view for view in phone.json("views", "/photos/harbour%20%231.png")["views"]}
    got = phone.ask("file", urllib.parse.quote(views["as-jpeg"]["path"]))
    same("as JPEG", (got.body[:3], got.headers["Content-Type"]), (b"\xff\xd8\xff", views["as-jpeg"]["mimeType"]))
    views = {view["view"]: view for view in phone.json("views", "/data/meter.csv")["views"]}
    got = phone.ask("file", urllib.parse.quote(views["as-html"]["path"]))
    same("as a page", (got.status, b"<td" in got.body), (200, True))
    views = phone.json("views", "/raw%FF.zip")["views"]
    same("of a name that is not UTF-8", [phone.ask("list", view["encodedPath"]).status for view in views if view["view"] == "contents"], [200])


def resume(phone, source):
    """A download that breaks off: the rest, or all of it if it has changed meanwhile."""
    path, place = "/large.bin", os.path.join(source, "large.bin")
    with open(place, "rb") as file:
        before = file.read()
    head = phone.ask("file", path, method="HEAD")
    same("HEAD", (head.status, int(head.headers["Content-Length"]), head.headers["Accept-Ranges"]), (200, len(before), "bytes"))
    got = phone.ask("file", path, headers={"Range": "bytes=0-99999"})
    tag = got.headers["ETag"]
    same("a part", (got.status, got.body == before[:100000], got.headers["Content-Range"]), (206, True, f"bytes 0-99999/{len(before)}"))
    got = phone.ask("file", path, headers={"Range": "bytes=100000-", "If-Range": tag})
    same("the rest", (got.status, got.body == before[100000:], got.headers["ETag"]), (206, True, tag))
    same("not again", phone.ask("file", path, headers={"If-None-Match": tag}).status, 304)
    # As long as before, and at the same time, for all that a clock in seconds tells.
    after = os.urandom(len(before))
    status = os.stat(place)
    with open(place, "r+b") as file:
        file.write(after)
    os.utime(place, (status.st_atime, int(status.st_mtime)))
    time.sleep(.6)
    got = phone.ask("file", path, headers={"Range": "bytes=100000-", "If-Range": tag})
    same("all of it, as it has changed", (got.status, got.body == after, got.headers["ETag"] == tag), (200, True, False))
    got = phone.ask("file", path, headers={"Range": f"bytes={len(after)}-"})
    same("behind its end", (got.status, got.headers["Content-Range"]), (416, f"bytes */{len(after)}"))


def find(phone):
    hits = phone.json("search", "/", q="pier")["results"]
    same("by name", [hit["path"] for hit in hits], ["/photos/more/pier+.png"])
    hits = phone.json("search", "/inbox.mbox", q="harbour", limit=1)
    same("in mail", (len(hits["results"]), hits["isComplete"]), (1, False))
    inner = {item["name"] for item, _ in phone.items(urllib.parse.quote(hits["results"][0]["path"]))}
    same("a message", {"message.eml", "body.txt"} <= inner, True)


def take(phone, files):
    got = phone.ask("zip", "/data")
    with zipfile.ZipFile(io.BytesIO(got.body)) as archive:
        same("a folder as ZIP", {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")},
             {name: data for name, data in files.items() if name.startswith("data/")})


def refusals(phone, port):
    for call, path, status in (("list", "/nothing", 404), ("file", "/nothing", 404), ("list", "/data/meter.csv", 400), ("view", "/photos", 400),
                               ("file", "/../x", 400), ("list", "/broken.zip.contents", 422), ("zip", "/data/meter.csv", 400),
                               ("search", "/", 400)):
        got = phone.ask(call, path)
        same(f"{call} {path}", got.status, status)
        same(f"{call} {path}: a sentence", bool(json.loads(got.body).get("detail")), True)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/api/list")
    got = Answer(connection.getresponse())
    same("without the token", got.status, 401)
    phone.check("without the token", phone.description["paths"]["/api/list"]["get"], got, "GET")


program, folder = sys.argv[1:]
source = os.path.join(folder, "shown")
files = make(source)
users = os.path.join(folder, "users")
with open(os.open(users, os.O_CREAT | os.O_WRONLY, 0o600), "w"):
    pass
with Server(program, source, "--token", TOKEN, "--users", users) as server:
    phone = Phone(server.port)
    same("the session", json.loads(phone.ask("session").body), {"name": "", "root": "shown", "canSignOut": True, "canShare": True})
    link = phone.ask("shares", "/data", method="POST", seconds=60, opens=2)
    same("a link", (link.status, json.loads(link.body)["path"]), (201, "/data"))
    same("its list", [one["opens"] for one in json.loads(phone.ask("shares").body)["links"]], [2])
    same("without it", (phone.ask("shares", method="DELETE", name=json.loads(link.body)["name"]).status, json.loads(phone.ask("shares").body)["links"]), (204, []))
    got = json.loads(phone.ask("entries", "/data", name="100%.txt", bytes=1000).body)
    same("entries", [item["path"] for item in got["items"]], ["/data/100%.txt"])
    same("the space", json.loads(phone.ask("space").body)["available"] > 0, True)
    got = json.loads(phone.ask("stat", "/data/100%25.txt", bytes=1000).body)
    same("a small file", (base64.b64decode(got["content"]), got["tag"]), (files["data/100%.txt"], phone.ask("file", "/data/100%25.txt").headers["ETag"]))
    same("the beginning of a list", (len(json.loads(phone.ask("list", "/", limit=2).body)["items"])), 2)
    # The answer of events has no end.
    same("events of nothing", phone.ask("events").status, 400)
    found = browse(phone, files)
    look(phone, found)
    open_as(phone)
    resume(phone, source)
    find(phone)
    take(phone, files)
    refusals(phone, server.port)
    described = {(path, method) for path, methods in phone.description["paths"].items() for method in methods if method in ("get", "head")}
    same("calls that are described and not tried", sorted(described - phone.used), [])
print("done")
