"""serve_accounts.py FFSERVE FOLDER: users who differ in their rights, by clients that keep to the rules and others that do not.

Prints what is not as it should be, and at the end "done".
"""
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.parse
import zipfile

from serving import Server, wait_until

program, folder = sys.argv[1:]
source = os.path.join(folder, "shown")
users = os.path.join(folder, "users")
TUS = "Tus-Resumable: 1.0.0"


def same(what, found, wanted):
    if found != wanted:
        print(f"{what}: {str(found)[:400]!r} instead of {str(wanted)[:400]!r}")


def content(*names):
    try:
        with open(os.path.join(source, *names), "rb") as file:
            return file.read()
    except OSError:
        return None


def write(name, data):
    path = os.path.join(source, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def make():
    for name in ("anna/own.txt", "ben/secret.txt", "ben/deep/inner.txt", "shared/read.txt", "inbox/before.txt", "top.txt"):
        write(name, name.encode() + b" harbour")
    with zipfile.ZipFile(os.path.join(source, "ben", "pack.zip"), "w") as archive:
        archive.writestr("packed.txt", "packed")
    with zipfile.ZipFile(os.path.join(source, "anna", "pack.zip"), "w") as archive:
        archive.writestr("packed.txt", "packed")
    os.symlink("../ben", os.path.join(source, "anna", "over"))
    os.symlink("../ben/secret.txt", os.path.join(source, "anna", "linked.txt"))
    os.symlink("own.txt", os.path.join(source, "anna", "inside.txt"))


def manage(*words, password=None):
    return subprocess.run([program, "--manage-users", *words, "--users", users], input=password, capture_output=True, text=True)


class User:
    """A client that sends a name and a password, or a token."""

    def __init__(self, server, name, password):
        self.server = server
        self.header = "Authorization: Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()

    def ask(self, target, *headers, method="GET", body=b""):
        return self.server.ask(target, self.header, *headers, method=method, body=body)

    def names(self, path):
        got = self.ask("/api/list?path=" + urllib.parse.quote(path))
        return sorted(item["name"] for item in json.loads(got.body)["items"]) if got.status == 200 else got.status

    def status(self, *words, **more):
        return self.ask(*words, **more).status



def shares():
    """Links show one folder or file, for a time, and no more than their maker may."""
    manage("add", "maria", "--write", "/shared", password="maria's password")
    manage("add", "leser", "--read", "/", password="leser's password")
    with Server(program, source, "--no-bonjour", "--users", users, "--token", "long-enough", "-o", "rw") as server:
        owner, maria = "Authorization: Bearer long-enough", User(None, "maria", "maria's password").header
        form = "Content-Type: application/x-www-form-urlencoded"

        def make(path, *more, who=owner, body=b""):
            got = server.ask(f"/api/shares?path={urllib.parse.quote(path)}" + "".join(more), who, form, method="POST", body=body)
            return got.status, json.loads(got.body or b"{}")

        def enter(address):
            """The cookie that an address gives, and the status of the page."""
            got = server.ask("/" + address.partition("#")[0])
            return got.status, "Cookie: " + got.header("set-cookie").partition(";")[0]

        names = lambda cookie, path="/": [item["name"] for item in json.loads(server.ask(f"/api/list?path={path}", cookie).body).get("items", [])]
        status, link = make("/shared", "&seconds=3600")
        same("a link to a folder", (status, link["path"], link["rights"], link["hasPassword"], "until" in link), (201, "/shared", ["read"], False, True))
        status, cookie = enter(link["address"])
        session = json.loads(server.ask("/api/session", cookie).body)
        same("its page", (status, session["root"], session["canShare"], session["canSignOut"]), (200, "shared", False, False))
        same("its files", sorted(names(cookie)), sorted(os.listdir(os.path.join(source, "shared"))))
        same("nothing else", [server.ask(path, cookie).status for path in ("/api/list?path=/ben", "/dav/ben/", "/api/file?path=/../ben/x", "/api/shares")], [404, 404, 400, 403])
        same("nothing is written", server.ask("/dav/new", cookie, method="PUT", body=b"x").status, 403)
        same("no link of a link", server.ask("/api/shares?path=/", cookie, method="POST").status, 403)
        _, writer = enter(make("/shared", "&rights=write")[1]["address"])
        same("nor of one that writes", [server.ask("/dav/made", writer, method="PUT", body=b"x").status] + [server.ask("/api/shares?path=/", writer, method=method).status for method in ("POST", "GET")], [201, 403, 403])
        os.unlink(os.path.join(source, "shared", "made"))
        # One link after another in the same browser.
        _, other = make("/ben", "&rights=read%2Bdrop")
        got = server.ask("/" + other["address"], cookie)
        second = "Cookie: " + got.header("set-cookie").partition(";")[0]
        same("another link in the same browser", ("secret.txt" in names(second), server.ask("/dav/put", second, method="PUT", body=b"new").status), (True, 201))
        # A file.
        name = sorted(os.listdir(os.path.join(source, "shared")))[0]
        _, single = make("/shared/" + name)
        _, third = enter(single["address"])
        same("a link to a file", (names(third), single["address"].endswith("#/" + urllib.parse.quote(name)), json.loads(server.ask("/api/session", third).body)["root"]), ([name], True, name))
        _, packed = enter(make("/anna/pack.zip")[1]["address"])
        got = server.ask("/dav/pack.zip.contents/packed.txt", packed)
        same("its views, at any depth", (names(packed, "/pack.zip.contents"), got.status, got.body, server.ask("/dav/own.txt", packed).status), (["packed.txt"], 200, b"packed", 404))
        # Of the folder around it, nothing is told.
        with server.connect() as connection:
            connection.sendall(f"GET /api/events?path=/ HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n{third}\r\n\r\n".encode())
            connection.settimeout(1.5)
            told = b""
            try:
                while part := connection.recv(1 << 16):
                    told += part
                    write("shared/unseen.txt", b"x")
            except TimeoutError:
                pass
        os.unlink(os.path.join(source, "shared", "unseen.txt"))
        same("what a link to a file hears", (b" 403 " in told, b"event: change" in told, b"event: watching" in told), (True, False, False))
        # What is heard by it ends with it, not with the next heartbeat.
        _, fifth = enter(make("/shared", "&seconds=5")[1]["address"])
        with server.connect() as connection:
            connection.sendall(f"GET /api/events?path=/ HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n{fifth}\r\n\r\n".encode())
            connection.settimeout(30)
            told = b""
            try:
                while not told.endswith(b"\r\n0\r\n\r\n") and (part := connection.recv(1 << 16)):
                    told += part
            except TimeoutError:
                told += b"and no end"
        same("until the link ends", (b"event: watching" in told, told[-20:]), (True, told[-20:].removesuffix(b"and no end")))
        # A password.
        status, locked = make("/shared", body=b"password=correct+horse")
        name = urllib.parse.parse_qs(locked["address"].partition("?")[2])["name"][0]
        got = server.ask("/" + locked["address"])
        same("the page for its password", (got.status, b"Shared files" in got.body, name.encode() in got.body, b"autocomplete=\"username\"" in got.body), (401, True, True, False))
        enter_by = lambda password: server.ask("/login", form, method="POST", body=urllib.parse.urlencode({"name": name, "password": password}).encode())
        wrong, right = enter_by("wrong horse"), enter_by("correct horse")
        fourth = "Cookie: " + right.header("set-cookie").partition(";")[0]
        same("by it", (wrong.status, b"is wrong" in wrong.body, right.status, sorted(names(fourth))), (401, True, 303, sorted(os.listdir(os.path.join(source, "shared")))))
        same("a password that is too short", make("/shared", body=b"password=short")[0] in (400, 500), True)
        # Counted.
        _, few = make("/shared", "&opens=2")
        same("opened twice", [enter(few["address"])[0] for _ in range(3)], [200, 200, 403])
        token = few["address"].partition("=")[2]
        same("not by a program", server.ask("/api/stat", f"Authorization: Bearer {token}").status, 403)
        # Of another account, which sees and removes only its own.
        same("what she may not", [make("/", who=maria)[0], make("/ben", who=maria)[0], make("/shared", who=User(None, "leser", "leser's password").header)[0]], [403, 404, 403])
        _, hers = make("/shared", who=maria)
        listed = lambda who: {link["name"]: link for link in json.loads(server.ask("/api/shares", who).body)["links"]}
        same("hers", (list(listed(maria)), hers["name"] in listed(owner), listed(owner)[few["name"]]["opened"], listed(owner)[few["name"]]["opens"]), ([hers["name"]], True, 2, 2))
        same("not the owner's", server.ask(f"/api/shares?name={link['name']}", maria, method="DELETE").status, 404)
        same("removed", [server.ask(f"/api/shares?name={link['name']}", owner, method="DELETE").status, server.ask("/api/list?path=/", cookie).status, enter(link["address"])[0]], [204, 401, 401])
        same("bad parameters", [make("/shared", more)[0] for more in ("&seconds=0", "&seconds=x", "&seconds=99999999999", "&rights=all", "&opens=0", "&opens=x")] + [make(path)[0] for path in ("/../x", "/none")], [400] * 7 + [404])
        # A symbolic link in the folder's place leads to nothing that its maker may not read.
        part = os.path.join(source, "shared", "part")
        write("shared/part/x", b"x")
        _, cookie = enter(make("/shared/part", who=maria)[1]["address"])
        asked = ("/api/list?path=/", "/api/stat?path=/secret.txt", "/api/zip?path=/", "/api/search?path=/&q=secret", "/dav/", "/api/views?path=/")
        before = server.ask(asked[0], cookie).status
        shutil.rmtree(part)
        os.symlink("../ben", part)
        time.sleep(.7)
        same("by a symbolic link", [before, *(server.ask(target, cookie).status for target in asked)], [200] + [404] * len(asked))
        os.unlink(part)
        # What she loses, her links lose.
        _, cookie = enter(hers["address"])
        before = server.ask("/api/list?path=/", cookie).status
        manage("add", "maria", "--read", "/ben", password="maria's password")
        until = time.time() + 10
        while server.ask("/api/list?path=/", cookie).status == 200 and time.time() < until:
            time.sleep(.1)
        same("when she has lost the right", (before, server.ask("/api/list?path=/", cookie).status), (200, 401))
        # By the command.
        command = lambda *words, **more: subprocess.run([program, "--manage-links", *words, "--users", users], capture_output=True, text=True, timeout=30, **more)
        done = command("add", "/shared", "--valid", "1d", "--url", f"http://127.0.0.1:{server.port}")
        address = done.stdout.split()[-1].partition(f"{server.port}/")[2]
        # Each attempt before the file is read counts as a guess.
        for _ in range(6):
            if (got := enter(address))[0] == 200:
                break
            time.sleep(1)
        same("made by the command", (done.returncode, got[0], "opened" in command("list").stdout), (0, 200, True))
        for words in [("add", "shared"), ("add", "/x", "--valid", "1y"), ("add", "/x", "--opens", "0"), ("add", "/x", "--rights", "all"), ("remove", "maria"), ("remove",), ("list", "x")]:
            done = command(*words)
            same(f"{words}", (done.returncode != 0, done.stderr.strip() != ""), (True, True))
    counts = os.path.getmtime(users + ".opened") > 0
    with Server(program, source, "--no-bonjour", "--users", users, "--token", "long-enough") as server:
        links = json.loads(server.ask("/api/shares", owner).body)["links"]
        same("rights in a tree that is not writable", json.loads(server.ask("/api/list?path=/", owner).body)["rights"], ["read"])
        same("counted also by the next server", (counts, [link["opened"] for link in links if link["name"] == few["name"]]), (True, [2]))
    with Server(program, source, "--no-bonjour", "--token", "long-enough") as server:
        got = server.ask("/api/shares", owner)
        same("without a file", (got.status, b"--users" in got.body), (501, True))


def commands():
    got = manage("add", "anna", "--write", "/anna", "--read", "/shared", password="anna's word\n")
    same("adding a user", (got.returncode, got.stdout), (0, "anna was added\n"))
    same("its mode", os.stat(users).st_mode & 0o777, 0o600)
    manage("add", "ben", "--write", "/ben", password="ben's word\n")
    manage("add", "dora", "--drop", "/inbox", password="dora's word\n")
    manage("add", "chef", "--write", "/", password="chef's word\n")
    manage("add", "gone", "--write", "/", "--until", "2020-02-29", password="gone's word\n")
    token = re.search("token: (.*)", manage("add", "box", "--read", "/shared", "--token", "--until", "2999-12-31").stdout).group(1)
    listed = json.loads(manage("list", "--json").stdout)
    same("the list", [(one["name"], one["kind"], one["grants"], one.get("until")) for one in listed][:1] + [one["name"] for one in listed],
         [("anna", "password", [{"path": "/shared", "rights": ["read"]}, {"path": "/anna", "rights": ["read", "drop", "write"]}], None),
          "anna", "ben", "dora", "chef", "gone", "box"])
    same("its end", listed[-1]["until"], "3000-01-01T00:00:00.000Z")
    same("a second one", manage("add", "temp", "--read", "/a b", password="long enough\n").returncode, 0)
    same("a path with a blank", "  read /a b\n" in manage("list").stdout, True)
    same("one that is replaced", manage("add", "temp", "--read", "/", password="long enough\n").stdout, "temp was replaced\n")
    same("one that is removed", (manage("remove", "temp").stdout, manage("remove", "temp").returncode), ("temp was removed\n", 1))
    wrong = [("add", "x"), ("add", "x", "--read", "here"), ("add", "x y", "--read", "/"), ("add", "x", "--read", "/../y"), ("list", "x"), ("remove",),
             ("add", "x", "--read", "/", "--until", "2026-13-01"), ("add", "x", "--read", "/", "--until", "tomorrow")]
    for words in wrong:
        got = manage(*words, password="long enough\n")
        same(f"{words}", (got.returncode in (1, 2, 64), bool(got.stderr)), (True, True))
    same("a short password", manage("add", "x", "--read", "/", password="short\n").returncode != 0, True)
    with open(users) as file:
        text = file.read()
    same("what the file has of passwords", [word for word in ("word", "enough", token) if word in text], [])
    return token


def hidden(anna, ben):
    """Nothing tells what exists from what does not."""
    there = ["/ben", "/ben/secret.txt", "/ben/deep", "/ben/deep/inner.txt", "/top.txt", "/ben/pack.zip.contents/packed.txt", "/inbox/before.txt",
             "/anna/over/secret.txt", "/anna/over/deep/inner.txt", "/anna/over/secret.txt/x", "/anna/over", "/anna/linked.txt", "/.search/harbour",
             "/ben.search/harbour", "/ben.zip"]
    own_links = ("/anna/over", "/anna/linked.txt")
    for path in there:
        other = re.sub(r"secret|inner|deep|packed|top|before|ben|linked|over|harbour", lambda found: "q" * len(found.group()), path)
        if path.startswith("/anna/over/"):
            other = path.replace("secret", "qqqqqq").replace("deep/inner", "qqqq/qqqqq")
        for method, target, headers in [
                ("GET", "/api/list?path=", []), ("GET", "/api/stat?path=", []), ("GET", "/api/file?path=", []), ("HEAD", "/api/file?path=", []),
                ("GET", "/api/entries?name=secret.txt&name=inner.txt&name=harbour&path=", []),
                ("GET", "/api/view?path=", []), ("GET", "/api/views?path=", []), ("GET", "/api/zip?path=", []), ("GET", "/api/search?q=harbour&path=", []),
                ("GET", "/dav", []), ("PROPFIND", "/dav", ["Depth: 0"]), ("PROPFIND", "/dav", ["Depth: 1"]), ("DELETE", "/dav", []),
                ("MKCOL", "/dav", []), ("PROPPATCH", "/dav", []), ("LOCK", "/dav", []), ("UNLOCK", "/dav", ["Lock-Token: <x>"]),
                ("MOVE", "/dav", ["Destination: /dav/anna/got"]), ("COPY", "/dav", ["Destination: /dav/anna/got"]),
                ("PUT", "/dav", []), ("DELETE", "/api/file?path=", []), ("POST", "/api/uploads?path=", [TUS, "Upload-Length: 3"]),
                ("GET", "/api/file?path=", ["Range: bytes=0-1"]), ("GET", "/api/file?path=", ["If-None-Match: *"])]:
            # The names in her folder are hers, even those of links to what is hidden.
            if path in own_links and method not in ("GET", "HEAD", "PROPFIND"):
                continue
            answers = []
            for own in (path, other):
                got = anna.ask(target + own, *headers, method=method, body=b"new" if method == "PUT" else b"")
                body = got.body.replace(own.encode(), b"").replace(urllib.parse.quote(own).encode(), b"")
                answers.append((got.status, body))
            same(f"{method} {target}{path}", answers[0], answers[1])
            same(f"{method} {target}{path} is refused", answers[0][0] in (400, 403, 404), True)
        for method in ("MOVE", "COPY") if path not in own_links else ():
            got = anna.ask("/dav/anna/own.txt", f"Destination: /dav{path}", method=method)
            other_got = anna.ask("/dav/anna/own.txt", f"Destination: /dav{other}", method=method)
            same(f"{method} to {path}", (got.status, got.status in (403, 404)), (other_got.status, True))
    same("what was changed", (content("ben", "secret.txt"), content("anna", "own.txt"), os.path.exists(os.path.join(source, "anna", "got"))),
         (b"ben/secret.txt harbour", b"anna/own.txt harbour", False))
    same("anna's root", anna.names("/"), ["anna", "shared"])
    same("ben's root", ben.names("/"), ["ben"])
    same("her folder", anna.names("/anna"), ["inside.txt", "own.txt", "pack.zip", "pack.zip.contents"])
    found = re.findall(rb"<D:href>([^<]*)", anna.ask("/dav/", "Depth: 1", method="PROPFIND").body)
    same("by WebDAV", sorted(found), [b"/dav/", b"/dav/anna/", b"/dav/shared/"])
    found = re.findall(rb"<D:href>([^<]*)", anna.ask("/dav/anna/", "Depth: 1", method="PROPFIND").body)
    same("her folder by WebDAV", [name for name in found if b"over" in name or b"linked" in name], [])
    same("its page", b"over" in anna.ask("/dav/anna/").body, False)
    same("the root's archive", anna.status("/api/zip?path=/"), 403)
    same("the root's search", anna.status("/api/search?path=/&q=harbour"), 403)
    packed = anna.ask("/api/zip?path=/anna").body
    with open(os.path.join(folder, "got.zip"), "wb") as file:
        file.write(packed)
    with zipfile.ZipFile(os.path.join(folder, "got.zip")) as archive:
        same("her archive", sorted(archive.namelist()), ["anna/inside.txt", "anna/own.txt", "anna/pack.zip"])
    hits = json.loads(anna.ask("/api/search?path=/anna&q=harbour").body)
    same("her search", [hit["path"] for hit in hits["results"] if not hit["path"].startswith("/anna/")], [])
    same("its similar word", "similarWord" in json.loads(anna.ask("/api/search?path=/anna&q=harbuor").body), False)
    for path, names, wanted in (("/", ("anna", "ben", "top.txt"), ["anna"]), ("/anna", ("over", "linked.txt", "own.txt", "none"), ["own.txt"])):
        got = anna.ask(f"/api/entries?path={path}&bytes=999" + "".join("&name=" + name for name in names))
        same(f"entries of {path}", [item["name"] for item in json.loads(got.body)["items"]], wanted)
    stat = json.loads(anna.ask("/api/stat?path=/anna/own.txt").body)
    same("her path", (stat["absolutePath"], stat["path"]), ("/anna/own.txt",) * 2)
    same("the counters", anna.status("/metrics"), 404)


def rights(anna, ben, chef):
    same("her rights", [json.loads(anna.ask("/api/list?path=" + path).body)["rights"] for path in ("/", "/anna", "/shared", "/anna/pack.zip.contents")],
         [[], ["read", "drop", "write"], ["read"], ["read"]])
    same("reading", [anna.status("/api/file?path=" + path) for path in ("/anna/own.txt", "/shared/read.txt", "/anna/pack.zip.contents/packed.txt", "/anna/inside.txt")], [200] * 4)
    same("writing what is only read", [anna.status("/dav/shared/" + name, method="PUT", body=b"x") for name in ("read.txt", "new.txt")]
         + [anna.status("/dav/shared/read.txt", method="DELETE"), anna.status("/dav/shared/x/", method="MKCOL"), anna.status("/dav/shared/read.txt", "Destination: /dav/anna/r", method="MOVE")], [403] * 5)
    same("copying what is only read", anna.status("/dav/shared/read.txt", "Destination: /dav/anna/copied.txt", method="COPY"), 201)
    same("writing her own", [anna.status("/dav/anna/new.txt", method="PUT", body=b"x"), anna.status("/dav/anna/new.txt", method="PUT", body=b"xy"),
                             anna.status("/dav/anna/d/", method="MKCOL"), anna.status("/dav/anna/new.txt", "Destination: /dav/anna/d/new.txt", method="MOVE"),
                             anna.status("/dav/anna/d/new.txt", method="DELETE")], [201, 204, 201, 201, 204])
    same("the folders that she was given", [anna.status("/dav/" + name, method="DELETE") for name in ("anna", "shared")]
         + [anna.status("/dav/anna", "Destination: /dav/anna2", method="MOVE"), anna.status("/api/file?path=/anna", method="DELETE")], [403] * 4)
    same("writing into the root", [anna.status("/dav/x.txt", method="PUT", body=b"x"), anna.status("/dav/x/", method="MKCOL")], [404, 404])
    got = anna.ask("/dav/anna/copied.txt", method="LOCK", body=b'<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype><owner>anna</owner></lockinfo>')
    token = got.header("lock-token")
    same("her lock", got.status, 200)
    same("another user's use of it", [chef.status("/dav/anna/copied.txt", f"If: ({token})", method="PUT", body=b"x"), chef.status("/dav/anna/copied.txt", f"Lock-Token: {token}", method="UNLOCK")], [423, 409])
    same("her use of it", [anna.status("/dav/anna/copied.txt", f"If: ({token})", method="PUT", body=b"x"), anna.status("/dav/anna/copied.txt", f"Lock-Token: {token}", method="UNLOCK")], [204, 204])
    item = json.loads(anna.ask("/api/file?path=/anna/copied.txt", method="DELETE").body)["item"]
    got = [ben.ask("/api/restore?item=" + name, method="POST") for name in (item, "x" * len(item))]
    same("another user's restoring", (got[0].status, got[0].body.replace(item.encode(), b"")), (404, got[1].body.replace(b"x" * len(item), b"")))
    same("the trash", [anna.status("/api/list?path=/.trash"), anna.status("/api/restore?item=" + item, method="POST"), content("anna", "copied.txt")], [404, 200, b"x"])
    write("shared/gone.txt", b"x")
    gone = json.loads(chef.ask("/api/file?path=/shared/gone.txt", method="DELETE").body)["item"]
    same("restoring what is only read", [anna.status("/api/restore?item=" + name, method="POST") for name in (gone, "x" * len(gone))], [404, 404])
    same("its restoring", (chef.status("/api/restore?item=" + gone, method="POST"), content("shared", "gone.txt")), (200, b"x"))
    os.unlink(os.path.join(source, "shared", "gone.txt"))
    same("the whole tree", [name in chef.names("/") for name in ("anna", "ben", "top.txt", ".trash")], [True] * 4)


def drops(dora):
    same("her rights", json.loads(dora.ask("/api/list?path=/inbox").body)["rights"], ["drop"])
    same("her folders", (dora.names("/"), dora.names("/inbox")), (["inbox"], []))
    same("what is there", [dora.status("/api/file?path=/inbox/" + name) for name in ("before.txt", "not.txt")], [404, 404])
    same("a file", (dora.status("/dav/inbox/new.txt", method="PUT", body=b"new"), content("inbox", "new.txt"), dora.status("/dav/inbox/new.txt")), (201, b"new", 404))
    for number, condition in enumerate(("X: y", "If-None-Match: *", "If-Match: *")):
        got = [dora.status("/dav/inbox/" + name, condition, method="PUT", body=b"again") for name in ("before.txt", f"new{number}.txt")]
        same(f"a name that is taken, {condition}", got, [412, 412] if condition == "If-Match: *" else [201, 201])
    same("what it is then", (content("inbox", "before.txt"), content("inbox", "before (2).txt"), content("inbox", "before (3).txt")), (b"inbox/before.txt harbour", b"again", b"again"))
    same("folders", [dora.status("/dav/inbox/sub/", method="MKCOL"), dora.status("/dav/inbox/sub/", method="MKCOL"), dora.names("/inbox/sub")], [201, 201, 404])
    same("what she may not", [dora.status("/dav/inbox/new.txt", method="DELETE"), dora.status("/dav/inbox/new.txt", "Destination: /dav/inbox/x", method="MOVE"),
                              dora.status("/dav/inbox/new.txt", "Destination: /dav/inbox/x", method="COPY"), dora.status("/api/file?path=/inbox/new.txt", method="DELETE")], [404] * 4)
    for path, name in (("/inbox/before.txt", "before (4).txt"), ("/inbox/made/in.txt", "made/in.txt")):
        got = dora.ask("/api/uploads?path=" + path, TUS, "Upload-Length: 4", method="POST")
        place = got.header("location")
        same(f"beginning {path}", got.status, 201)
        patch = ["Upload-Offset: 0", "Content-Type: application/offset+octet-stream"]
        same(f"the bytes of {path}", [dora.status(place, TUS, *patch, method="PATCH", body=b"four"), content("inbox", name)], [204, b"four"])


def sessions(server, anna):
    """The form, its cookie, and its end."""
    def post(text, *headers):
        return server.ask("/login", "Content-Type: application/x-www-form-urlencoded", *headers, method="POST", body=text.encode())
    got = server.ask("/")
    same("the form", (got.status, b'action="login"' in got.body, "form-action 'self'" in got.header("content-security-policy")), (401, True, True))
    got = post("name=anna&password=" + urllib.parse.quote_plus("anna's word"))
    cookie = got.header("set-cookie")
    same("signing in", (got.status, got.header("location"), "HttpOnly; SameSite=Strict" in cookie), (303, "/", True))
    cookie = "Cookie: " + cookie.split(";")[0]
    same("the session", json.loads(server.ask("/api/session", cookie).body), {"name": "anna", "root": "shown", "canSignOut": True, "canShare": True})
    same("its page", server.ask("/", cookie).status, 200)
    same("another site's form", post("name=anna&password=x", "Origin: http://evil.example").status, 403)
    same("a forged cookie", [server.ask("/api/session", cookie[:-1] + last).status for last in "01"].count(401) >= 1, True)
    foreign = [server.ask("/logout", cookie, header, method="POST") for header in ("Origin: http://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site")]
    foreign += [server.ask("/logout", cookie, *more) for more in ((), ("Sec-Fetch-Site: same-origin",))]
    same("signing out by others, or by a link", [(got.status, got.header("set-cookie")) for got in foreign], [(403, "")] * 3 + [(405, "")] * 2)
    got = server.ask("/logout", cookie, method="POST")
    same("signing out", (got.status, "Max-Age=0" in got.header("set-cookie")), (303, True))
    got = post("name=anna&password=wrong")
    same("a wrong password", (got.status, b'role="alert"' in got.body, got.header("set-cookie")), (401, True, ""))
    same("beside a session", post("name=ben&password=wrong", cookie).status, 401)
    same("a user who has expired", post("name=gone&password=" + urllib.parse.quote_plus("gone's word")).status, 401)
    same("a body that is no form", [post(text).status for text in ("", "\0\xff" * 100, "name=%zz&password=%zz")], [401] * 3)
    return cookie


def changes(server, anna, cookie):
    """The file takes effect without a restart."""
    manage("add", "anna", "--read", "/anna", password="anna's word\n")
    wait_until("a right that was taken", ["anna"], lambda: anna.names("/"))
    same("another hash ends the session", server.ask("/api/session", cookie).status, 401)
    same("writing without it", anna.status("/dav/anna/own.txt", method="PUT", body=b"x"), 403)
    with open(users) as file:
        good = file.read()
    def complaints():
        with open(server.log) as log:
            return log.read().count("cannot use a changed file")
    for number, bad in enumerate(("anna nothing read:/\n", "anna $1$abcdefgh$abcdefghijklmnopqrstuv read:/\n", good + good, "anna sha256:00 read:/\n", good.replace("read:/anna", "read:/../x"), "\0\n", good.rstrip("\n")[:-3]), 1):
        with open(users, "w") as file:
            file.write(bad)
        wait_until("the complaints", number, complaints)
        same(f"the earlier users beside {bad[:30]!r}", anna.names("/"), ["anna"])
    with open(users, "w") as file:
        file.write("# none\n\n")
    wait_until("no user", 401, lambda: anna.status("/api/list"))


def audited():
    """The log has a line for each change, whatever names and headers contain."""
    log = os.path.join(folder, "log")
    with Server(program, source, "--no-bonjour", "-o", "rw", "--users", users, "--log", log) as server:
        chef = User(server, "chef", "chef's word")
        for method, target, header, body in (
                ("GET", "/api/list", "X: y", b""), ("PUT", "/dav/noted.txt", "X: y", b"1"), ("MOVE", "/dav/noted.txt", "Destination: /dav/a%0Ab", b""),
                ("DELETE", "/api/file?path=/a%0Ab", "X: y", b""), ("MKCOL", "/dav/no/no", "X: y", b""), ("PUT", "/dav/", "X: y", b"1")):
            chef.ask(target, header, method=method, body=body)
        with server.connect() as connection:
            connection.sendall(f"PUT /dav/half HTTP/1.1\r\nHost: localhost\r\n{chef.header}\r\nContent-Length: 100\r\n\r\nhalf".encode())
            time.sleep(0.5)
        time.sleep(0.5)
        os.rename(log, log + ".1")
        chef.ask("/dav/again", method="MKCOL")
    def lines(name):
        with open(name) as file:
            return [line.split(" ", 3)[1:] for line in file.read().splitlines()]
    same("the log", [line[2] for line in lines(log + ".1")],
         ["PUT /dav/noted.txt 201", "MOVE /dav/noted.txt -> /dav/a%0Ab 201", "DELETE /api/file?path=/a%0Ab 200", "MKCOL /dav/no/no 409", "PUT /dav/ 405", "PUT /dav/half cut off"])
    same("the next", lines(log), [["127.0.0.1", "chef", "MKCOL /dav/again 201"]])
    same("its mode", os.stat(log).st_mode & 0o777, 0o600)
    os.rmdir(os.path.join(source, "again"))


def guesses():
    with Server(program, source, "--no-bonjour", "-o", "rw", "--users", users) as server:
        wrong = [User(server, "chef", f"guess {number}").status("/dav/") for number in range(12)]
        same("guesses", (wrong[0], wrong[-1], User(server, "chef", "chef's word").status("/dav/")), (401, 429, 429))


def prefixed():
    """Behind a proxy, at a path."""
    with Server(program, source, "--no-bonjour", "-o", "rw", "--prefix", "/files/") as server:
        same("with and without it", [server.ask(path + "/api/list").status for path in ("/files", "", "/file", "/filesystem")], [200, 200, 404, 404])
        got = server.ask("/files")
        same("without a slash", (got.status, got.header("location")), (301, "/files/"))
        for start in ("", "/files"):
            found = re.findall(rb"<D:href>([^<]*)", server.ask(start + "/dav/shared", "Depth: 1", method="PROPFIND").body)
            same(f"addresses by {start}", found, [b"/files/dav/shared/", b"/files/dav/shared/read.txt"])
            got = server.ask(start + "/dav/shared")
            same("the folder without a slash", got.header("location"), "/files/dav/shared/")
            same("the link to the page", b'href="/files/#/shared"' in server.ask(start + "/dav/shared/").body, True)
            same("moving", [server.ask(start + "/dav/top.txt", f"Destination: http://127.0.0.1:{server.port}/files/dav/up.txt", method="MOVE").status, content("up.txt") is not None,
                            server.ask(start + "/dav/up.txt", "Destination: /dav/top.txt", method="MOVE").status], [201, True, 201])
            got = server.ask(start + "/api/uploads?path=/z", TUS, "Upload-Length: 0", method="POST")
            same("an upload", got.header("location").startswith("/files/api/uploads/"), True)
            os.unlink(os.path.join(source, "z"))
            same("a view's address", json.loads(server.ask(start + "/api/view?path=/top.txt").body)["url"], "/files/api/file?path=%2Ftop.txt")
    for bad in ("files", "/a b", "//x", "/../x", "/a\r\nb", "/ä"):
        got = subprocess.run([program, source, "--port", "0", "--no-bonjour", "--prefix", bad], capture_output=True, text=True, timeout=20)
        same(f"--prefix {bad!r}", (got.returncode != 0, "expected a path" in got.stderr), (True, True))


make()
token = commands()
with Server(program, source, "--no-bonjour", "-o", "rw", "--users", users) as server:
    anna, ben, chef, dora = (User(server, name, f"{name}'s word") for name in ("anna", "ben", "chef", "dora"))
    hidden(anna, ben)
    rights(anna, ben, chef)
    drops(dora)
    same("a token", [server.ask("/api/list?path=" + path, "Authorization: Bearer " + token).status for path in ("/shared", "/anna", "/ben")], [200, 404, 404])
    same("no credentials", [server.ask(target).status for target in ("/api/list", "/dav/", "/", "/metrics", "/healthz")], [401, 401, 401, 401, 200])
    cookie = sessions(server, anna)
audited()
guesses()
with Server(program, source, "--no-bonjour", "-o", "rw", "--users", users, log=os.path.join(folder, "messages")) as server:
    anna = User(server, "anna", "anna's word")
    got = server.ask("/login", method="POST", body=b"name=anna&password=anna%27s+word")
    changes(server, anna, "Cookie: " + got.header("set-cookie").split(";")[0])
shares()
prefixed()
print("done")
