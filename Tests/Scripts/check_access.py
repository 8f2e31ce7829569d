"""Who may read what through a mount that all users see.

    check_access.py make SOURCE
    check_access.py check SOURCE MOUNTPOINT

`make` fills a folder: a row for each sort of file that has views, a column for each owner, mode and access list, and beside
each file a twin with the same attributes and nothing of the format in it. `check`, as root, asks for each of them and each
view, as several users, by name and by listing, before and after the owner has used the views:

- who may read a file in SOURCE may read its views, nobody else may, as open(2) says for the file itself;
- to who may not, a file and its twin look alike: attributes, sizes, errors, names of extended attributes, listings.

Prints one line for each thing that is not so, and at last how many questions were asked.
"""
import errno, json, os, struct, subprocess, sys, time, zlib

ALICE, BOB, CAROL = 2001, 2002, 2003
# Name: user, groups.
USERS = {"root": (0, [0]), "alice": (ALICE, [ALICE]), "bob": (BOB, [BOB]), "carol": (CAROL, [CAROL, ALICE])}
ALL = 0xFFFFFFFF
LIST = "system.posix_acl_access"


def acl(owner, group, others, users={}, groups={}, mask=None):
    entries = [(1, owner, ALL)] + [(2, p, u) for u, p in sorted(users.items())]
    entries += [(4, group, ALL)] + [(8, p, g) for g, p in sorted(groups.items())]
    entries += ([(16, mask, ALL)] if mask is not None else []) + [(32, others, ALL)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in entries)


# Name: owner, group, mode, access list.
COLUMNS = {
    "open": (ALICE, ALICE, 0o644, None),
    "own": (ALICE, ALICE, 0o600, None),
    "group": (ALICE, ALICE, 0o640, None),
    "others": (ALICE, ALICE, 0o604, None),
    "nobody": (ALICE, ALICE, 0o000, None),
    "root": (0, 0, 0o600, None),
    "granted": (ALICE, ALICE, 0o600, acl(6, 0, 0, users={BOB: 4}, mask=4)),
    "denied": (ALICE, ALICE, 0o644, acl(6, 4, 4, users={BOB: 0}, mask=4)),
    "masked": (ALICE, ALICE, 0o644, acl(6, 4, 0, users={BOB: 4, CAROL: 4}, mask=0)),
    "writing": (ALICE, ALICE, 0o644, acl(6, 2, 4, users={BOB: 6}, mask=2)),
    "groups": (0, 0, 0o600, acl(6, 0, 0, groups={BOB: 4}, mask=4)),
}


def png():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes((x * y) % 256 for x in range(48)) for y in range(16))
    head = struct.pack(">IIBBBBB", 16, 16, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def pdf():
    stream = b"BT /F 20 Tf 20 100 Td (a secret text) Tj ET"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
        b"<< /Length %d >> stream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    text, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(text))
        text += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return text + b"xref\n0 6\n0000000000 65535 f \n%strailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        table, len(text))


def zipped():
    import io, zipfile
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        entry = zipfile.ZipInfo("a.txt")
        entry.external_attr = 0o100644 << 16
        archive.writestr(entry, "a secret text")
    return file.getvalue()


MAIL = b"From: a@example.com\nDate: Fri, 3 May 2024 10:00:00 +0000\nSubject: a secret\n\na secret text\n"
MAILBOX = b"From a@example.com Fri May  3 10:00:00 2024\n" + MAIL

# Name: the bytes, the extension with listed views, an extension without views, and the suffixes of the views' names,
# after the file's name or, with %, its stem.
ROWS = {
    "zip": (zipped(), "zip", "dat", [".contents"]),
    "mbox": (MAILBOX, "mbox", "dat", [".messages", ".views"]),
    "eml": (MAIL, "eml", "dat", [".message"]),
    "pdf": (pdf(), "pdf", "dat", [".pages", ".as-txt", ".as-jpeg", ".50%.as-png"]),
    "png": (png(), "png", "dat", [".as-jpeg", ".as-pdf", ".gray.as-webp", ".as-jpeg.as-png", ".as-pdf.pages"]),
    "stem": (pdf(), "pdf", "pdf", ["%.compressed.pdf", "%.72dpi.compressed.pdf"]),
    "csv": (b"name,secret\none,two\n" * 20, "csv", "tsv", [".as-txt", ".as-html"]),
    "json": (b'{"a secret": [1, 2, 3]}' * 1, "json", "json", [".as-txt"]),
    "bare": (MAILBOX, "", "", [".messages", ".views"]),
}
TWINS = ("a", "b")
TIME = 1_700_000_000


def make(source):
    os.chmod(source, 0o755)
    for row, (content, named, other, _) in ROWS.items():
        for column, (owner, group, mode, rights) in COLUMNS.items():
            for extension in {named, other}:
                for twin in TWINS:
                    data = content if twin == "a" else b"\1" * len(content)
                    path = f"{source}/{row}-{column}-{twin}" + (f".{extension}" if extension else "")
                    put(path, data, owner, group, mode, rights)
    for name, (owner, group, mode, rights, members) in FOLDERS.items():
        os.mkdir(f"{source}/{name}")
        for member, of in members.items():
            put(f"{source}/{name}/{member}.png", png(), *of)
        give(f"{source}/{name}", owner, group, mode, rights)
        os.utime(f"{source}/{name}", (TIME, TIME))


def put(path, data, owner, group, mode, rights):
    with open(path, "wb") as file:
        file.write(data)
    give(path, owner, group, mode, rights)
    os.utime(path, (TIME, TIME))


def give(path, owner, group, mode, rights):
    os.chown(path, owner, group)
    os.chmod(path, mode)
    if rights:
        os.setxattr(path, LIST, rights)


FREE = (ALICE, ALICE, 0o644, None)
# Folders to merge: owner, group, mode, access list, members.
FOLDERS = {
    "all": (ALICE, ALICE, 0o755, None, {"1": FREE, "2": FREE}),
    "one": (ALICE, ALICE, 0o755, None, {"1": FREE, "2": (ALICE, ALICE, 0o600, None)}),
    "mixed": (ALICE, ALICE, 0o755, None, {"1": (ALICE, ALICE, 0o640, None), "2": (BOB, BOB, 0o640, None)}),
    "pair": (ALICE, ALICE, 0o755, None, {"1": (ALICE, ALICE, 0o600, None), "2": (BOB, BOB, 0o600, None)}),
    "rooted": (ALICE, ALICE, 0o755, None, {"1": FREE, "2": (0, 0, 0o600, None)}),
    "split": (ALICE, ALICE, 0o755, None, {"1": (ALICE, BOB, 0o644, None), "2": (ALICE, ALICE, 0o604, None)}),
    "turned": (ALICE, ALICE, 0o755, None, {"1": (BOB, ALICE, 0o044, None), "2": FREE}),
    "unlisted": (ALICE, ALICE, 0o711, None, {"1": FREE, "2": FREE}),
    "unlisted-twin": (ALICE, ALICE, 0o711, None, {}),
    "closed": (ALICE, ALICE, 0o744, None, {"1": FREE}),
    "secret": (ALICE, ALICE, 0o700, None, {"1": FREE}),
    "listed": (ALICE, ALICE, 0o755, acl(7, 5, 5, users={BOB: 0}, mask=5), {"1": FREE}),
    "barred": (ALICE, ALICE, 0o755, None, {"1": FREE, "2": (ALICE, ALICE, 0o644, acl(6, 4, 4, users={BOB: 0}, mask=4))}),
}

questions = 0


def run(user, body):
    """What `body` gives as another user, in a process of his."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        number, groups = USERS[user]
        os.setgroups(groups)
        os.setresgid(groups[0], groups[0], groups[0])
        os.setresuid(number, number, number)
        try:
            result = body()
        except BaseException as error:
            result = f"failed: {error!r}"
        with os.fdopen(theirs, "w") as file:
            file.write(json.dumps(result))
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as file:
        text = file.read()
    os.waitpid(child, 0)
    return json.loads(text)


def error(body):
    try:
        return body()
    except OSError as failure:
        return errno.errorcode[failure.errno]


def native(path):
    """Whether a file or a folder may be read and gone through."""
    def ask():
        if os.path.isdir(path):
            os.listdir(path)
            return os.access(path, os.X_OK, effective_ids=True)
        os.close(os.open(path, os.O_RDONLY))
        return True
    return error(ask) is True


def use(path):
    """Reads everything there is."""
    def ask():
        if os.path.isdir(path):
            for folder, _, files in os.walk(path, onerror=fail):
                for name in files:
                    open(f"{folder}/{name}", "rb").read()
            return "read"
        with open(path, "rb") as file:
            file.read()
        return "read"
    return error(ask)


def fail(failure):
    raise failure


def look(path):
    """All that stat, listxattr, getxattr and open tell."""
    def stat():
        status = os.lstat(path)
        return [status.st_mode, status.st_uid, status.st_gid, status.st_size, status.st_blocks, status.st_nlink,
                status.st_mtime_ns]
    said = {"stat": error(stat), "names": error(lambda: sorted(os.listxattr(path)))}
    for name in ("state", "error", "source", "view", "results"):
        said[name] = error(lambda: os.getxattr(path, f"user.ffmount.{name}").decode())
    said["open"] = error(lambda: os.close(os.open(path, os.O_RDONLY)))
    said["inside"] = error(lambda: os.lstat(path + "/a.txt").st_size)
    return said


def names_of(row, column, twin, extension):
    stem = f"{row}-{column}-{twin}"
    name = stem + (f".{extension}" if extension else "")
    for suffix in ROWS[row][3]:
        yield stem + suffix[1:] if suffix.startswith("%") else name + suffix


def files():
    for row, (_, named, other, _) in ROWS.items():
        for column in COLUMNS:
            for extension in sorted({named, other}):
                yield row, column, extension


def listing(mountpoint):
    """The names, and what a listing with attributes says of each."""
    with os.scandir(mountpoint) as entries:
        return sorted([entry.name, entry.is_dir(follow_symlinks=False)] for entry in entries)


def complain(*words):
    print(*words)


def check_users(source, mountpoint, when):
    global questions
    for user in USERS:
        rows = [(f"{row}-{column}-a" + (f".{extension}" if extension else ""), row, column, extension)
                for row, column, extension in files()]
        readable = run(user, lambda: {name: native(f"{source}/{name}") for name, *_ in rows})
        mirrored = run(user, lambda: {name: native(f"{mountpoint}/{name}") for name, *_ in rows})
        shown = dict(run(user, lambda: listing(mountpoint)))
        pairs = {name: list(zip(names_of(row, column, "a", extension), names_of(row, column, "b", extension)))
                 for name, row, column, extension in rows}
        # One process asks all of a user's questions.
        used, looks = run(user, lambda: [
            {view: use(f"{mountpoint}/{view}") for name, *_ in rows if readable[name] for view, _ in pairs[name]},
            {view: [look(f"{mountpoint}/{view}"), look(f"{mountpoint}/{twin}")]
             for name, *_ in rows if not readable[name] for view, twin in pairs[name]}])
        for name, *_ in rows:
            questions += 1
            if readable[name] != mirrored[name]:
                complain(when, user, name, "is readable natively:", readable[name], "mounted:", mirrored[name])
            if readable[name]:
                for view, _ in pairs[name]:
                    questions += 1
                    if (said := used[view]) != "read":
                        complain(when, user, view, "is", said, "though", name, "can be read")
                continue
            for view, twin in pairs[name]:
                questions += 1
                said, other = looks[view]
                said["source"] = other["source"]
                if said != other:
                    complain(when, user, view, "is", said, "and its twin", other)
                if said["open"] != "EACCES" or said["inside"] not in ("EACCES", "ENOTDIR"):
                    complain(when, user, view, "opens:", said["open"], said["inside"])
                if (view in shown) != (twin in shown):
                    complain(when, user, "is shown", view if view in shown else twin, "and not its twin")
                told.setdefault((user, view), said)
                if told[user, view] != said:
                    complain(when, user, view, "is", said, "and was", told[user, view])


# The first results.
told = {}


def check_folders(source, mountpoint, when):
    global questions
    for user in USERS:
        for name, (_, _, _, _, members) in FOLDERS.items():
            questions += 1
            folder, path = f"{source}/{name}", f"{mountpoint}/{name}.merged.pdf"
            may = run(user, lambda: native(folder) and all(native(f"{folder}/{member}.png") for member in members))
            said = run(user, lambda: use(path))
            if said == "read" and not may:
                complain(when, user, path, "comes out")
            if "EISDIR" in (said, *run(user, lambda: [use(f"{path}.pages/1.pdf"), use(f"{path}.as-txt")])):
                complain(when, user, path, "is said to be a folder")
            # Different lists and owners together permit less than each of them; and root may do everything.
            exact = user == "root" or name not in ("mixed", "listed", "barred", "split", "turned")
            if members and may and exact and said != "read":
                complain(when, user, path, "is", said)
    for user in ("bob", "carol"):
        one, other = (run(user, lambda: look(f"{mountpoint}/{name}.merged.pdf")) for name in ("unlisted", "unlisted-twin"))
        if one != other:
            complain(when, user, "unlisted.merged.pdf is", one, "and of an empty folder", other)
    for name in ("mixed", "pair", "rooted"):
        status = os.stat(f"{mountpoint}/{name}.merged.pdf")
        if status.st_uid in (0, ALICE, BOB):
            complain(when, f"{name}.merged.pdf belongs to", status.st_uid)


def check_later_changes(source, mountpoint):
    """What is closed after it has been used is closed."""
    changed = {name: list(names_of(row, "open", "a", row)) for row in ("zip", "mbox", "pdf", "csv")
               for name in [f"{row}-open-a.{row}"]}
    views = [view for some in changed.values() for view in some]

    def expect(when, user, wanted):
        global questions
        said = run(user, lambda: [use(f"{mountpoint}/{view}") for view in views])
        for view, answer in zip(views, said):
            questions += 1
            if answer != wanted:
                complain(when, view, "is", answer, "to", user)

    # The first use.
    run("bob", lambda: [use(f"{mountpoint}/{view}") for view in views])
    for when, change, wanted in (
            ("after chmod", lambda path: os.chmod(path, 0o600), "EACCES"),
            ("after setfacl", lambda path: os.setxattr(path, LIST, acl(6, 0, 0, users={BOB: 4}, mask=4)), "read"),
            ("after another setfacl", lambda path: os.setxattr(path, LIST, acl(6, 0, 0, users={BOB: 0}, mask=4)), "EACCES")):
        for name in changed:
            change(f"{source}/{name}")
        time.sleep(1.2)
        expect(when, "bob", wanted)
        expect(when, "alice", "read")


def check_namespaces(mountpoint):
    """Who has every capability in a user namespace of his own has none here."""
    global questions
    for name in ("zip-own-a.zip.contents/a.txt", "mbox-root-a.mbox.messages", "pair.merged.pdf"):
        questions += 1
        words = ["unshare", "-Ur", "sh", "-c", 'cat "$0" || ls -A "$0/"', f"{mountpoint}/{name}"]
        said = run("bob", lambda: subprocess.run(words, capture_output=True).stdout.decode("latin-1"))
        if said:
            complain("a namespace of one's own shows", name, said[:100])


def check_wanderer(mountpoint):
    """Who stands in a view stays there, whoever else asks for it."""
    os.chdir(f"{mountpoint}/zip-own-a.zip.contents")
    for _ in range(3):
        run("bob", lambda: look(f"{mountpoint}/zip-own-a.zip.contents"))
        if error(os.getcwd) != f"{mountpoint}/zip-own-a.zip.contents":
            complain("the folder is taken from under one's feet:", error(os.getcwd))
    os.chdir("/")


def check(source, mountpoint):
    check_users(source, mountpoint, "first")
    check_folders(source, mountpoint, "first")
    # The owner and root access everything.
    for user in ("alice", "root"):
        run(user, lambda: [use(f"{mountpoint}/{view}") for row, column, extension in files() for twin in TWINS
                           for view in names_of(row, column, twin, extension)])
        run(user, lambda: listing(mountpoint))
    check_users(source, mountpoint, "later")
    check_folders(source, mountpoint, "later")
    check_namespaces(mountpoint)
    check_wanderer(mountpoint)
    check_later_changes(source, mountpoint)
    print(questions, "questions")


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](*sys.argv[2:])
