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


QUESTIONS = {
    "a file": lambda: whole("f/t.csv"),
    "an archive": lambda: whole("f/x.zip"),
    "a view": lambda: whole("f/t.csv.as-txt"),
    "names in an archive": lambda: names("f/x.zip.contents"),
    "a name in an archive": lambda: os.stat("f/x.zip.contents/secret.txt") and b"secret",
    "subjects": lambda: names("f/m.mbox.messages"),
    "found mail": lambda: names("f/m.mbox.views/search/secret"),
    "open archive": lambda: names(held),
    "open messages": lambda: names(held_messages),
}


def put(name, data, mode):
    path = f"{source}/f/{name}"
    with open(path + ".new", "wb") as file:
        file.write(data)
        os.fchmod(file.fileno(), mode)
    os.rename(path + ".new", path)


def hide(how):
    if how == "closed":
        os.chmod(f"{source}/f", 0o700)
    for name, (_, data) in FILES.items():
        if how == "replaced":
            put(name, data, 0o600)
        else:
            if how == "in place":
                os.chmod(f"{source}/f/{name}", 0o600)
            with open(f"{source}/f/{name}", "r+b") as file:
                file.write(data)


os.mkdir(f"{source}/f")
os.chmod(source, 0o755)
for how in ("replaced", "in place", "closed"):
    for what, question in QUESTIONS.items():
        # A folder that is open stays open when one above it is closed, as in any file system.
        if how == "closed" and what.startswith("open "):
            continue
        for delay in (0, 0.1):
            os.chmod(f"{source}/f", 0o755)
            for name, (data, _) in FILES.items():
                put(name, data, 0o644)
            time.sleep(0.6)
            go, told = os.pipe(), os.pipe()
            child = os.fork()
            if child == 0:
                os.setgroups([])
                os.setresgid(USER, USER, USER)
                os.setresuid(USER, USER, USER)
                os.chdir(mount)
                held = os.open("f/x.zip.contents", os.O_RDONLY)
                held_messages = os.open("f/m.mbox.messages", os.O_RDONLY)
                for ask in QUESTIONS.values():
                    try:
                        ask()
                    except FileNotFoundError:
                        pass
                os.write(told[1], b"x")
                os.read(go[0], 1)
                try:
                    said = question()
                except OSError:
                    said = b""
                if b"secret" in said.lower():
                    print(f"{how}: {what} after {delay} s", flush=True)
                os._exit(0)
            os.read(told[0], 1)
            hide(how)
            time.sleep(delay)
            if delay > 0:
                # The kernel may keep what root may list.
                names(f"{mount}/f/x.zip.contents"), names(f"{mount}/f/m.mbox.messages")
            os.write(go[1], b"x")
            os.waitpid(child, 0)
            for end in go + told:
                os.close(end)
# A message of a Maildir whose file others may not read any more, and which is the same otherwise.
os.makedirs(f"{source}/M/cur")
for folder in ("new", "tmp"):
    os.mkdir(f"{source}/M/{folder}")
message = f"{source}/M/cur/1700000000.M1P1.host:2,S"
with open(message, "wb") as file:
    file.write(MAIL.split(b"\n", 1)[1].replace(b"PUBLIC", b"SECRET"))
for folder in (f"{source}/M", f"{source}/M/cur", f"{source}/M/new", f"{source}/M/tmp"):
    os.chmod(folder, 0o755)
for delay in (0, 0.1, 1):
    said = {}
    for mode in (0o644, 0o600):
        os.chmod(message, mode)
        time.sleep(1 if mode == 0o644 else delay)
        there, told = os.pipe()
        child = os.fork()
        if child == 0:
            os.setgroups([])
            os.setresgid(USER, USER, USER)
            os.setresuid(USER, USER, USER)
            try:
                os.write(told, names(f"{mount}/M.messages") or b"nothing")
            except OSError as error:
                os.write(told, str(error).encode())
            os._exit(0)
        os.waitpid(child, 0)
        said[mode] = os.read(there, 4096)
        for end in (there, told):
            os.close(end)
    if b"SECRET" not in said[0o644]:
        print(f"a message that all may read: {said[0o644].decode()}")
    if b"SECRET" in said[0o600]:
        print(f"a message that became private: {said[0o600].decode()} after {delay} s")
print("done")
