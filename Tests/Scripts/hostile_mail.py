#!/usr/bin/env python3
"""hostile_mail.py make cut|changed COUNT SOURCE TRUTH: writes COUNT damaged copies of one mailbox.
hostile_mail.py check MOUNT TRUTH: looks whether what is not damaged is right, and reads all of the rest.
hostile_mail.py shape NAME SOURCE: writes a mailbox of an unfriendly shape; hostile_mail.py look NAME MOUNT looks at it."""

import errno
import hashlib
import json
import os
import random
import sys

from make_mail import make


def base():
    """A few messages of each kind, not too large."""
    seed = 0
    while True:
        data, truth = make("rd", "lf", 9, seed)
        if 20_000 < len(data) < 70_000 and sum(len(m["attachments"]) for m in truth) > 4:
            return data, truth
        seed += 1


def damage(kind, count, source, truth_path):
    numbers = random.Random(count)
    data, truth = base()
    files = {}
    for number in range(count):
        name = f"{kind} {number}.mbox"
        if kind == "cut":
            end = numbers.randrange(len(data))
            content = data[:end]
            # The rest of a separator at the cut belongs to the message before.
            whole = [k for k, mail in enumerate(truth) if mail["end"] == end or mail["end"] + 200 <= end]
        else:
            content, places = bytearray(data), []
            for _ in range(numbers.randrange(1, 101) if number % 2 else numbers.randrange(1, 4)):
                places.append(numbers.randrange(len(data)))
                content[places[-1]] = numbers.choice([0, 10, 13, 32, 45, 61, 255, numbers.randrange(256)])
            # A message ends at the next separator, which must be followed by a header line.
            whole = [k for k, mail in enumerate(truth)
                     if not any(mail["separator"] - 2 <= place < mail["end"] + 200 for place in places)]
        files[name] = whole
        with open(os.path.join(source, name), "wb") as file:
            file.write(content)
    with open(os.path.join(source, "whole.mbox"), "wb") as file:
        file.write(data)
    with open(truth_path, "w") as file:
        json.dump({"truth": truth, "files": files, "data": data.decode("latin-1")}, file)


def read(path):
    """All of a file; its size must be what stat says."""
    with open(path, "rb") as file:
        content = file.read()
        if os.fstat(file.fileno()).st_size != len(content):
            sys.exit(f"{path}: {len(content)} bytes, stat says {os.fstat(file.fileno()).st_size}")
        return content


def check(mount, truth_path):
    with open(truth_path) as file:
        known = json.load(file)
    data, truth = known["data"].encode("latin-1"), known["truth"]
    wrong, seen = [], 0
    for name, whole in {**known["files"], "whole.mbox": list(range(len(truth)))}.items():
        folder = os.path.join(mount, name + ".messages")
        expected = {data[truth[k]["start"]:truth[k]["end"]]: k for k in whole}
        try:
            shown = os.listdir(folder)
        except OSError as error:
            # If nothing is left that could be a message.
            if error.errno != errno.EIO or whole:
                wrong.append(f"{name}: {error}")
            continue
        for entry in shown:
            here = os.path.join(folder, entry)
            k = expected.pop(read(here + "/message.eml"), None)
            if k is not None and random.random() < .8:
                continue
            found = {}
            for part in os.listdir(here):
                if part != "attachments":
                    read(os.path.join(here, part))
                    continue
                for file in os.scandir(here + "/attachments"):
                    if file.is_file():
                        found[file.name] = hashlib.sha1(read(file.path)).hexdigest()
            if k is not None:
                seen += 1
                for attachment in truth[k]["attachments"]:
                    if "sha1" in attachment and found.get(attachment["name"]) != attachment["sha1"]:
                        wrong.append(f"{name}: {entry}: {attachment['name']} is another")
        for k in expected.values():
            wrong.append(f"{name}: message {k}, which is not damaged, is not shown")
    if seen < 20:
        wrong.append(f"only {seen} undamaged messages were looked at closely")
    if wrong:
        sys.exit(f"{len(wrong)} are wrong\n" + "\n".join(wrong[:20]))


# Malicious structures.

SEPARATOR = b"From - Mon Jan  1 00:00:00 2018\n"
HEAD = b"From: a@example.com\nDate: Mon, 1 Jan 2018 00:00:00 +0000\nMIME-Version: 1.0\n"
LAST = b"\n" + SEPARATOR + HEAD + b"Subject: the last\n\nstill right\n"


def nested(depth):
    return b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(depth))


def shape(name, source):
    kind, _, size = name.partition(" ")
    size = int(size)
    with open(os.path.join(source, name + ".mbox"), "wb", buffering=1 << 20) as file:
        if kind == "empty":
            for start in range(0, size, 1000):
                file.write(SEPARATOR * 1000 if size - start >= 1000 else SEPARATOR * (size - start))
            return
        file.write(SEPARATOR + HEAD)
        if kind == "sparse":
            file.write(b"Subject: sparse\n\n")
            file.truncate(file.seek(size, os.SEEK_CUR))
        elif kind == "header":
            file.write(b"Subject: long\nX-Long: " + b"x" * size + b"\nX-After: 1\n\nthe text\n")
        elif kind == "subject":
            file.write(b"Subject: " + b"word " * (size // 5) + b"\n\nthe text\n")
        elif kind == "headers":
            for number in range(size):
                file.write(b"X-%d: y\n" % number)
            file.write(b"\nthe text\n")
        elif kind == "nested":
            file.write(nested(size) + b"Content-Type: text/plain\n\nat the bottom\n")
        elif kind == "messages":
            file.write(b"Content-Type: message/rfc822\n\n" * size + b"Subject: innermost\n\nat the bottom\n")
        elif kind == "parts":
            file.write(b"Content-Type: multipart/mixed; boundary=b\n\n")
            for number in range(size):
                file.write(b"--b\nContent-Type: image/png; name=a.png\n\npart %d\n" % number)
            file.write(b"--b--\n")
        elif kind == "line":
            # One endless line of base64.
            file.write(b"Content-Type: image/png; name=a.png\nContent-Transfer-Encoding: base64\n\n" + b"QUJD" * (size // 4) + b"\n")
        elif kind == "html":
            file.write(b"Content-Type: text/html\n\n" + b"<div><b>" * (size // 8) + b"\n")
        elif kind == "words":
            file.write(b"Subject: " + b"=?utf-8?Q?=C3?= =?utf-8?Q?=A4?=\n " * (size // 35) + b"\n\nthe text\n")
        else:
            sys.exit(f"no shape {kind}")
        file.write(LAST)


def look(name, mount):
    kind, _, size = name.partition(" ")
    size = int(size)
    folder = os.path.join(mount, name + ".mbox.messages")
    if kind == "empty":
        count = sum(1 for _ in os.scandir(folder))
        if count != size:
            sys.exit(f"{count} messages, expected {size}")
        last = f"{size:06} 2018-01-01 unknown sender - no subject"
        if os.listdir(os.path.join(folder, last)) != ["message.eml", "headers.txt", "body.txt"]:
            sys.exit("the last message has other files")
        return
    names = sorted(os.listdir(folder))
    if len(names) != 2 or read(os.path.join(folder, names[1], "body.txt")) != b"still right\n":
        sys.exit(f"the last message is not right: {names}")
    first = os.path.join(folder, names[0])
    parts = os.listdir(first)
    text = os.path.join(first, "body.txt")
    if kind == "sparse":
        with open(os.path.join(first, "message.eml"), "rb") as file:
            file.seek(size // 2)
            if file.read(1 << 20) != bytes(1 << 20):
                sys.exit("the hole is none")
            if os.fstat(file.fileno()).st_size < size:
                sys.exit("the message is too short")
    elif kind in ("header", "subject", "headers", "words"):
        if kind != "words" and b"the text\n" not in read(text)[-100:]:
            sys.exit(f"the text is lost: {read(text)[-100:]!r}")
        read(os.path.join(first, "headers.txt"))
    elif kind == "nested":
        read(text)
    elif kind == "parts":
        shown = os.listdir(os.path.join(first, "attachments"))
        if len(shown) < min(size, 5000) or len(set(shown)) != len(shown):
            sys.exit(f"{len(shown)} attachments")
        if read(os.path.join(first, "attachments/a (4000).png")) != b"part 4000":
            sys.exit("attachment 4000 is another")
    elif kind == "line":
        if read(os.path.join(first, "attachments/a.png")) != b"ABC" * (size // 4):
            sys.exit("the attachment is another")
    elif kind == "html":
        read(text)
        read(os.path.join(first, "body.html"))
    if "message.eml" not in parts:
        sys.exit(f"{parts}")
    # Nested content, a few levels deep.
    here = first
    for _ in range(4):
        here = os.path.join(here, "attachments")
        inner = [n for n in os.listdir(here) if n.endswith(".message")] if os.path.isdir(here) else []
        if not inner:
            break
        here = os.path.join(here, inner[0])
        read(os.path.join(here, "body.txt"))


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    {"make": lambda kind, count, *paths: damage(kind, int(count), *paths), "check": check, "shape": shape,
     "look": look}[command](*rest)
