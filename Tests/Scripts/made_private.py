"""made_private.py SOURCE MOUNT: what another user still gets of files that have just become private. As root.

Prints what that was, and "done".
"""
import io
import os
import sys
import time
import zipfile

source, mount = sys.argv[1:]
USER = 4001


def archive(text):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        file.writestr(text.lower() + ".txt", "x" * 50)
    return data.getvalue()


MAIL = (b"From a@example.org Fri May  3 10:00:00 2024\nFrom: a@example.org\nSubject: PUBLIC\n"
        b"Date: Fri, 3 May 2024 10:00:00 +0000\n\nPUBLIC body\n\n")
FILES = {"x.zip": [archive("PUBLIC"), archive("SECRET")], "m.mbox": [MAIL, MAIL.replace(b"PUBLIC", b"SECRET")],
         "t.csv": [b"a,b\nPUBLIC,1\n", b"a,b\nSECRET,1\n"]}


def whole(path):
    with open(path, "rb") as file:
        return file.read()


def names(path):
    return " ".join(os.listdir(path)).encode()


# `f` is a folder of the mount, `held` its archive and mailbox, open as folders since they were public.
QUESTIONS = {
    "a file": lambda f, held: whole(f"{f}/t.csv"),
    "an archive": lambda f, held: whole(f"{f}/x.zip"),
    "a view": lambda f, held: whole(f"{f}/t.csv.as-txt"),
    "names in an archive": lambda f, held: names(f"{f}/x.zip.contents"),
    "a name in an archive": lambda f, held: os.stat(f"{f}/x.zip.contents/secret.txt") and b"secret",
    "subjects": lambda f, held: names(f"{f}/m.mbox.messages"),
    "found mail": lambda f, held: names(f"{f}/m.mbox.views/search/secret"),
    "open archive": lambda f, held: names(held[0]),
    "open messages": lambda f, held: names(held[1]),
}
# The number of processes that ask each question, all at once: no reply may depend on what another request has noticed.
ASKERS = 3


def put(path, data, mode):
    with open(path + ".new", "wb") as file:
        file.write(data)
        os.fchmod(file.fileno(), mode)
    os.rename(path + ".new", path)


def hide(folder, how):
    if how == "closed":
        os.chmod(folder, 0o700)
    for name, (_, data) in FILES.items():
        if how == "replaced":
            put(f"{folder}/{name}", data, 0o600)
        else:
            if how == "in place":
                os.chmod(f"{folder}/{name}", 0o600)
            with open(f"{folder}/{name}", "r+b") as file:
                file.write(data)


def as_user(body):
    """Starts a process of another user that calls `body`."""
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(USER, USER, USER)
            os.setresuid(USER, USER, USER)
            body()
        except BaseException as error:
            print(f"a process of the user failed: {error!r}", flush=True)
        finally:
            os._exit(0)
    return child


def check(how, delay, folder):
    os.mkdir(f"{source}/{folder}")
    os.chmod(f"{source}/{folder}", 0o755)
    for name, (data, _) in FILES.items():
        put(f"{source}/{folder}/{name}", data, 0o644)
    go, told = os.pipe(), os.pipe()

    def ask(what):
        os.close(go[1])
        os.chdir(mount)
        held = [os.open(f"{folder}/{name}", os.O_RDONLY) for name in ("x.zip.contents", "m.mbox.messages")]
        try:
            QUESTIONS[what](folder, held)
        except FileNotFoundError:
            pass
        os.write(told[1], b"x")
        os.read(go[0], 1)
        try:
            said = QUESTIONS[what](folder, held)
        except OSError:
            said = b""
        if b"secret" in said.lower():
            print(f"{how}: {what} after {delay} s", flush=True)

    # A folder that is open stays open when one above it is closed, as in any file system.
    asked = [what for what in QUESTIONS if how != "closed" or not what.startswith("open ")]
    children = [as_user(lambda: ask(what)) for what in asked * ASKERS]
    os.close(told[1])
    for _ in children:
        os.read(told[0], 1)
    # The kernel has current attributes of the folder.
    os.stat(f"{mount}/{folder}")
    hide(f"{source}/{folder}", how)
    time.sleep(delay)
    if delay > 0:
        # The kernel may keep what root may list.
        names(f"{mount}/{folder}/x.zip.contents"), names(f"{mount}/{folder}/m.mbox.messages")
    os.close(go[1])
    for child in children:
        os.waitpid(child, 0)
    os.close(go[0]), os.close(told[0])


def listed(path):
    """The names that another user lists."""
    told = os.pipe()

    def tell():
        try:
            os.write(told[1], names(path) or b"nothing")
        except OSError as error:
            os.write(told[1], str(error).encode())

    os.waitpid(as_user(tell), 0)
    said = os.read(told[0], 4096)
    for end in told:
        os.close(end)
    return said


os.chmod(source, 0o755)
for number, (how, delay) in enumerate((how, delay) for how in ("replaced", "in place", "closed") for delay in (0, 0, 0.1)):
    check(how, delay, f"f{number}")
# A message of a Maildir whose file others may not read any more, and which is the same otherwise.
for number, delay in enumerate((0, 0.1, 1)):
    folder = f"M{number}"
    for inner in ("cur", "new", "tmp"):
        os.makedirs(f"{source}/{folder}/{inner}")
    message = f"{source}/{folder}/cur/1700000000.M1P1.host:2,S"
    with open(message, "wb") as file:
        file.write(MAIL.split(b"\n", 1)[1].replace(b"PUBLIC", b"SECRET"))
    for path, mode in ((f"{source}/{folder}", 0o755), (f"{source}/{folder}/cur", 0o755), (message, 0o644)):
        os.chmod(path, mode)
    if b"SECRET" not in (said := listed(f"{mount}/{folder}.messages")):
        print(f"a message that all may read: {said.decode()}")
    os.chmod(message, 0o600)
    time.sleep(delay)
    if b"SECRET" in (said := listed(f"{mount}/{folder}.messages")):
        print(f"a message that became private: {said.decode()} after {delay} s")
# Mailboxes in a folder that becomes private, and which are the same otherwise.
for number, delay in enumerate((0, 0.1, 1)):
    folder = f"T{number}"
    os.makedirs(f"{source}/{folder}/inner")
    put(f"{source}/{folder}/inner/m.mbox", MAIL.replace(b"PUBLIC", b"SECRET"), 0o644)
    for path in (f"{source}/{folder}", f"{source}/{folder}/inner"):
        os.chmod(path, 0o755)
    if b"SECRET" not in (said := listed(f"{mount}/{folder}.messages")):
        print(f"a mailbox in a folder that all may read: {said.decode()}")
    os.chmod(f"{source}/{folder}/inner", 0o700)
    time.sleep(delay)
    if b"SECRET" in (said := listed(f"{mount}/{folder}.messages")):
        print(f"a mailbox in a folder that became private: {said.decode()} after {delay} s")
print("done")
