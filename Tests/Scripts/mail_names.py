"""Deletes and adds messages in mail of every kind while programs read it, and looks whether the names of the others stay.

usage: mail_names.py SOURCE MOUNT KIND
"""

import concurrent.futures
import gzip
import os
import shutil
import subprocess
import sys
import threading
import time
import zipfile

COUNT = 700


def message(number, status=""):
    return (
        f"From: p{number % 7}@example.com\nMessage-ID: <{number}@x>\nDate: Fri, 3 May 2024 10:{number // 60 % 60:02}:"
        f"{number % 60:02} +0000\n{status}Subject: letter {number}\n\nbody {number}\n{'x' * (number % 50)}\n"
    ).encode()


class Kind:
    """A container of messages, written anew for each change."""

    def __init__(self, source, kind):
        self.kind = kind
        self.path = f"{source}/{kind}"
        self.there = []

    def file(self, number):
        return {
            "maildir": f"cur/{1700000000 + number}.M{number}P1.host:2,S", "mh": f"{number + 1}",
            "eml": f"{number:05} letter.eml", "apple": f"{number + 1}.emlx", "tree": f"box{number % 2}/{number:05}.eml",
        }[self.kind]

    def write(self, numbers, changed=()):
        """Makes the container hold these messages; those `changed` have another status."""
        def bytes_of(number):
            return message(number, "Status: RO\n" if number in changed else "")

        if self.kind in ("mbox", "rewritten", "gz"):
            data = b"".join(b"From a@x Fri May  3 10:00:00 2024\n" + bytes_of(number) + b"\n" for number in numbers)
            if self.kind == "gz":
                self.path = os.path.dirname(self.path) + "/packed.mbox.gz"
                data = gzip.compress(data, 1)
            if self.kind == "rewritten" and os.path.exists(self.path):
                with open(self.path, "r+b") as file:
                    file.write(data)
                    file.truncate()
            else:
                with open(self.path + ".new", "wb") as file:
                    file.write(data)
                os.rename(self.path + ".new", self.path)
        elif self.kind == "zip":
            self.path = os.path.dirname(self.path) + "/mail.zip"
            with zipfile.ZipFile(self.path + ".new", "w") as archive:
                for number in numbers:
                    archive.writestr(zipfile.ZipInfo(f"mail/{number:05}.eml"), bytes_of(number))
            os.rename(self.path + ".new", self.path)
        else:
            folders = {"maildir": ["cur", "new", "tmp"], "tree": ["box0", "box1"]}.get(self.kind, [""])
            for folder in folders:
                os.makedirs(f"{self.path}/{folder}", exist_ok=True)
            if self.kind == "mh":
                open(f"{self.path}/.mh_sequences", "a").close()
            for number in set(self.there) - set(numbers):
                os.unlink(f"{self.path}/{self.file(number)}")
            for number in sorted(set(numbers) - set(self.there)):
                data = bytes_of(number)
                if self.kind == "apple":
                    data = b"%d\n" % len(data) + data + b"<plist><dict></dict></plist>"
                with open(f"{self.path}/.new", "wb") as file:
                    file.write(data)
                os.rename(f"{self.path}/.new", f"{self.path}/{self.file(number)}")
        self.there = list(numbers)

    @property
    def view(self):
        name = os.path.basename(self.path)
        return "mail.zip.contents/mail" if self.kind == "zip" else name


def listed(folder):
    """The names of message folders, by subject."""
    names = {}
    for name in os.listdir(folder):
        subject = int(name.rsplit(" ", 1)[1])
        assert subject not in names, name
        names[subject] = name
    return names


def run(*words):
    found = subprocess.run(words, capture_output=True, text=True)
    assert found.returncode == 0, (words, found.returncode, found.stdout[-500:], found.stderr[-500:])
    return found.stdout


def copied(messages, copy, names):
    """What rsync says it changes of a copy of these messages' folders, without the folders themselves."""
    rules = [f"--include=/{name}/***" for name in sorted(names)] + ["--exclude=/*"]
    said = run("rsync", "-ai", "--delete", *rules, messages + "/", copy + "/").splitlines()
    return [line for line in said if not line.startswith(".d")]


def main(source, mount, kind):
    box = Kind(source, kind)
    isFile = kind in ("mbox", "rewritten", "gz", "zip", "tree")
    box.write(range(COUNT))
    messages, views = f"{mount}/{box.view}.messages", f"{mount}/{box.view}.views"
    first = listed(messages)
    if kind != "tree":
        assert all(first[number].startswith(f"{number + 1:06} ") for number in range(COUNT)), first[0]
    copy = f"{source}.copy-{kind}"
    # The first and the last messages, and those beside the bounds of blocks.
    sample = {first[number] for number in (*range(8), *range(252, 260), *range(508, 516), *range(COUNT - 4, COUNT))}
    copied(messages, copy, sample)
    inode = os.stat(f"{messages}/{first[500]}/body.txt").st_ino
    body = open(f"{messages}/{first[501]}/body.txt")
    inside = os.open(f"{messages}/{first[502]}", os.O_RDONLY)

    # One goes, and nothing else moves.
    box.write([number for number in range(COUNT) if number != 3])
    time.sleep(0.02)
    assert body.read().startswith("body 501")
    assert "message.eml" in os.listdir(inside)
    second = listed(messages)
    assert set(second) == set(first) - {3}
    assert all(second[number] == first[number] for number in second), [n for n in second if second[n] != first[n]][:3]
    assert os.stat(f"{messages}/{first[500]}/body.txt").st_ino == inode
    assert not os.path.exists(f"{messages}/{first[3]}")
    # The number alone is no name.
    assert not os.path.exists(f"{messages}/{first[5][:7]}{first[6][7:]}")
    said = copied(messages, copy, sample)
    assert said and all(first[3] in line for line in said), said[:5]

    # One comes: it gets the next number, wherever it is.
    box.write([number for number in range(COUNT + 1) if number != 3])
    third = listed(messages)
    # A change is seen within a second.
    for _ in range(600):
        if COUNT in third:
            break
        time.sleep(0.05)
        third = listed(messages)
    assert set(third) == set(second) | {COUNT} and third[COUNT].startswith(f"{COUNT + 1:06} "), third.get(COUNT)
    said = copied(messages, copy, sample | {third[COUNT]})
    assert said and all(third[COUNT] in line for line in said), said[:5]

    # What went comes back.
    box.write(range(COUNT + 1))
    fourth = listed(messages)
    assert all(fourth[number] == third[number] for number in third)
    if kind not in ("mh", "eml"):
        assert fourth[3] == first[3], fourth[3]
    else:
        assert fourth[3] not in first.values(), fourth[3]

    # The views have the same names and files.
    assert sorted(os.listdir(f"{views}/by-date/2024/05")) == sorted(fourth.values())
    assert os.listdir(f"{views}/search/subject:501") == [fourth[501]]
    sender = f"{views}/by-sender/p4@example.com"
    assert fourth[501 - 501 % 7 + 4] in os.listdir(sender)
    if kind in ("maildir", "mh", "eml", "apple", "rewritten"):
        # Of a file that was replaced, what was open keeps its inode number.
        assert os.stat(f"{sender}/{fourth[4]}/body.txt").st_ino == os.stat(f"{messages}/{fourth[4]}/body.txt").st_ino

    # Programs that walk while messages come and go see all that stay, and no error.
    gone = [5, 6, 7, 255, 256, 257, 511, 512, 513, 600]
    walks = [["grep", "-rc", "body", "--include=body.txt"], ["find"], ["tar", "cPf", "/dev/null"], ["ls", "-R"]]
    if shutil.which("gio"):
        walks.append(["gio", "list"])
    box.write(range(COUNT + 1))
    now = listed(messages)
    changed = threading.Event()

    def walk(words):
        """Walks again and again while messages come and go, and returns the outputs."""
        said = []
        while not said or not changed.is_set():
            said.append(subprocess.run(words + [messages], capture_output=True, text=True, timeout=60))
        return said

    with concurrent.futures.ThreadPoolExecutor(len(walks)) as threads:
        walking = [threads.submit(walk, words) for words in walks]
        try:
            # A file, or a tree, that changes again and again while it is read is not shown in between.
            for some in [gone[:3], gone[3:6], gone[6:]] if isFile else [[number] for number in gone]:
                box.write([other for other in box.there if other not in some])
                time.sleep(0.4 if isFile else 0.03)
            box.write(box.there + [COUNT + 1])
        finally:
            changed.set()
    for words, said in [(words, said) for words, walked in zip(walks, walking) for said in walked.result()]:
        # What went may be missed where it was listed before.
        bad = [
            line for line in said.stderr.splitlines()
            if not any(now[number] in line for number in gone)
            and "file changed as we read it" not in line and "due to previous errors" not in line
        ]
        assert not bad, (words, bad[:3])
        if words[0] != "tar":
            missed = [number for number in now if number not in gone and now[number] not in said.stdout]
            assert not missed, (words, missed[:5])

    # Marking a message as read changes its bytes, not its name.
    if kind in ("mbox", "rewritten", "gz"):
        before = listed(messages)
        box.write(box.there, changed={9, 10, 650})
        assert listed(messages) == before
    # What is written into its place shows, though as many bytes have the same time.
    if kind in ("maildir", "mh", "eml"):
        path = f"{box.path}/{box.file(640)}"
        status = os.stat(path)
        assert not os.listdir(f"{views}/search/subject:lettuc")
        with open(path, "r+b") as file:
            data = file.read().replace(b"Subject: letter", b"Subject: lettuc")
            file.seek(0)
            file.write(data)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        until = time.monotonic() + 5
        while len(found := os.listdir(f"{views}/search/subject:lettuc")) != 1:
            assert time.monotonic() < until, found
            time.sleep(0.2)
    print("names stay")


main(*sys.argv[1:])
