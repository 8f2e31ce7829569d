"""noninterference.py SOURCE MOUNT: what another user learns of private files in a mount that all see. As root.

Two folders have private files of the same names, sizes and times, and of different content. All that another user can ask must
be answered alike in both, also just after the files' owner has looked at them, and while they are exchanged with public ones.
Prints each difference, and "done".
"""
import errno
import io
import json
import os
import struct
import sys
import time
import zipfile

source, mount = sys.argv[1:]
USER = 4001
SECRET = b"secret"


def archive(*members):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for name, content in members:
            file.writestr(zipfile.ZipInfo(name, (2024, 5, 3, 10, 0, 0)), content)
    return data.getvalue()


def mail(*subjects):
    return b"".join(
        b"From a@example.org Fri May  3 10:00:00 2024\nFrom: %s@example.org\nSubject: %s\n"
        b"Date: Fri, 3 May 2024 10:00:00 +0000\n\n%s\n\n" % (subject, subject, subject * 3) for subject in subjects)


def pdf(count):
    kids = b" ".join(b"%d 0 R" % (number + 3) for number in range(count))
    pages = b"".join(b"%d 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\n" % (number + 3) for number in range(count))
    return (b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count " + str(count).encode()
            + b"/Kids[" + kids + b"]>>endobj\n" + pages + b"trailer<</Root 1 0 R>>\n")


# For each name: one content, and another of the same size.
PAIRS = {
    "kind.zip": (archive(("public.txt", b"public")), b"no archive"),
    "names.zip": (archive(("secret.txt", b"secret"), ("d/e/f.txt", b"x")), archive(("public.txt", b"public"))),
    "nested.zip": (archive(("in.zip", archive(("secret.txt", b"s")))), archive(("in.zip", b"no archive"))),
    "links.zip": (archive(("a", b"1"), ("b", b"2"), ("c", b"3")), archive(("a", b"1"))),
    "m.mbox": (mail(b"secret", b"another"), mail(b"public")),
    "no.mbox": (mail(b"secret"), b"no mail"),
    "t.csv": (b"a,b\nsecret,2\n", b"x"),
    "p.pdf": (pdf(3), pdf(1)),
    "noname": (archive(("secret.txt", b"secret")), b"text"),
    "data.bin": (archive(("secret.txt", b"secret")), b"text"),
    "letter.eml": (b"Subject: secret\n\nsecret\n", b"no mail"),
    "e.ics": (b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:secret\nEND:VEVENT\nEND:VCALENDAR\n", b"none"),
}
ENDINGS = ["", ".contents", ".messages", ".views", ".message", ".pages", ".as-txt", ".as-html", ".as-jpeg", ".as-csv", ".tracks",
           ".sheets", ".contents.contents"]
INSIDE = ["/secret.txt", "/public.txt", "/d", "/d/e/f.txt", "/in.zip.contents", "/in.zip.contents/secret.txt", "/search",
          "/search/secret", "/search/public", "/search/subject:secret", "/1.pdf", "/3.pdf", "/body.txt", "/nothing"]
BEFORE = 1_700_000_000 * 10**9


def put(folder, name, data, mode, size):
    """Exchanges a file by another one."""
    path = f"{source}/{folder}/{name}"
    if data.startswith(b"PK"):
        # As the comment of the archive.
        data = data[:-2] + struct.pack("<H", size - len(data))
    with open(path + ".new", "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write(data.ljust(size, b"\n"))
    os.chmod(path + ".new", mode)
    os.utime(path + ".new", ns=(BEFORE, BEFORE))
    os.rename(path + ".new", path)


def put_all(isPublic=False):
    for name, pair in PAIRS.items():
        for folder, data in zip(("one", "two"), pair):
            put(folder, name, b"public" if isPublic else data, 0o644 if isPublic else 0o600, max(map(len, pair)))
    for folder in ("one", "two"):
        if not os.path.exists(f"{source}/{folder}/mix"):
            os.makedirs(f"{source}/{folder}/mix")
            put(folder, "mix/a.png", b"no picture", 0o644, 20)
            # Others may list the folder, and not search it: whether there is mail in it is in the files.
            os.makedirs(f"{source}/{folder}/mh")
            os.chmod(f"{source}/{folder}/mh", 0o744)
        put(folder, "mh/1", b"From: a@b\nSubject: secret\n\nsecret\n" if folder == "one" else b"secret", 0o644, 60)
        os.utime(f"{source}/{folder}/mh", ns=(BEFORE, BEFORE))
        put(folder, "mix/b.png", b"secret" * (1 if folder == "one" else 2), 0o600, 20)
        os.utime(f"{source}/{folder}/mix", ns=(BEFORE, BEFORE))


def asked(question):
    try:
        return question()
    except OSError as error:
        return errno.errorcode[error.errno]


def shown(path):
    status = os.lstat(path)
    # With -o rw, reading sets access times, which others see as on a disk.
    accessed = None if os.environ.get("FFMOUNT_TEST_WRITABLE") else status.st_atime_ns
    return [oct(status.st_mode), status.st_nlink, status.st_uid, status.st_size, status.st_blocks, status.st_mtime_ns,
            accessed]


def read(path):
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        return os.read(file, 1000).decode(errors="replace")
    finally:
        os.close(file)


QUESTIONS = {
    "stat": shown,
    "list": lambda path: sorted(os.listdir(path)),
    "read": read,
    "target": os.readlink,
    "access": lambda path: [os.access(path, mode) for mode in (os.F_OK, os.R_OK, os.W_OK, os.X_OK)],
    "state": lambda path: os.getxattr(path, "user.ffmount.state", follow_symlinks=False).decode(),
    "error": lambda path: os.getxattr(path, "user.ffmount.error", follow_symlinks=False).decode(),
    "attributes": lambda path: sorted(os.listxattr(path, follow_symlinks=False)),
    "enter": lambda path: os.chdir(path),
}


def all_answers(folder):
    found = {}
    top = f"{mount}/{folder}"
    found["names"] = asked(lambda: sorted(os.listdir(top)))

    def ask(path):
        for key, question in QUESTIONS.items():
            found[f"{key} of {path}"] = asked(lambda: question(f"{top}/{path}"))
            # What cannot be found cannot be asked for more.
            if isinstance(found[f"stat of {path}"], str):
                return False
        return True

    for path in [name + ending for name in PAIRS for ending in ENDINGS] + [
            "mix.merged.pdf", "mix.views", "mix.messages", "mh.views", "mh.messages", "mh.merged.pdf"]:
        # Nothing is found in what cannot be found, nor in a file.
        if ask(path) and found[f"list of {path}"] != "ENOTDIR":
            for inside in INSIDE:
                ask(path + inside)
    return found


def as_other(question):
    """The answer of a process of another user's."""
    ends = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ends[0])
        os.setgroups([])
        os.setresgid(USER, USER, USER)
        os.setresuid(USER, USER, USER)
        with open(ends[1], "w") as out:
            json.dump(question(), out)
        os._exit(0)
    os.close(ends[1])
    with open(ends[0]) as answer:
        said = json.load(answer)
    os.waitpid(child, 0)
    return said


def compare(moment):
    one, two = as_other(lambda: [all_answers("one"), all_answers("two")])
    for question in one:
        if one[question] != two.get(question):
            print(f"{moment}: {question}: {one[question]} and {two.get(question)}")
    if len([answer for answer in one.values() if not isinstance(answer, str)]) < 100:
        print(f"{moment}: nothing was answered")


def look():
    """As the owner."""
    for folder in ("one", "two"):
        all_answers(folder)
    os.chdir("/")


os.makedirs(f"{source}/one"), os.makedirs(f"{source}/two")
for folder in (source, f"{source}/one", f"{source}/two"):
    os.chmod(folder, 0o755)
put_all()
time.sleep(.6)
compare("at first")
look()
compare("after the owner")
# Just exchanged: what the kernel and the mount know is of the public ones.
for number in range(2):
    put_all(isPublic=True)
    time.sleep(.6)
    as_other(lambda: [all_answers("one"), all_answers("two")] and None)
    put_all()
    if number == 1:
        look()
    for folder in ("one", "two"):
        said = as_other(lambda: all_answers(folder))
        for question, answer in said.items():
            of = question.partition(" of ")[2]
            if "secret" in json.dumps(answer) and "secret" not in of and question != "names":
                print(f"exchanged: {question}: {answer}")
time.sleep(.6)
compare("at last")
print("done")
