#!/usr/bin/env python3
"""check_mail.py MESSAGES ARCHIVE [TRUTH]: compares a folder of messages with the mailbox that it shows.

By TRUTH, which make_mail.py writes, by Python's mailbox and email, and by the archive's own bytes."""

import email
import email.policy
import hashlib
import json
import mailbox
import os
import re
import sys
import time

wrong = []


def same(found, expected, what):
    if found != expected:
        wrong.append(f"{what}: expected {str(expected)[:300]!r}, found {str(found)[:300]!r}")


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def clean(text):
    text = re.sub(r"\s+", " ", text)
    text = re.sub("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "", text)
    return text.replace("/", "-").strip()


def cut(text, count):
    """No generated character is more than one code point."""
    while len(text[:count].encode()) > 255:
        count -= 1
    return text[:count].rstrip()


def folder_name(number, mail):
    day = time.strftime("%Y-%m-%d", time.gmtime(mail["date"] + mail["zone"] * 60))
    sender = cut(clean(mail["sender"]), 60) or "unknown sender"
    # An index stores at most 512 bytes of a subject.
    return cut(f"{number:06} {day} {sender} - {clean(mail['subject']) or 'no subject'}", 120)


def gives_back(folder, archive):
    """Each separator's line and what is behind it, in order, are the archive."""
    data, place = read(archive), 0
    for name in sorted(os.listdir(folder)):
        if data[place:place + 5] != b"From ":
            wrong.append(f"no separator at {place}, before {name}")
            return
        place = data.index(b"\n", place) + 1
        message = read(folder, name, "message.eml")
        if data[place:place + len(message)] != message:
            wrong.append(f"{name}: message.eml is not what the archive has at {place}")
            return
        place += len(message)
    same(place, len(data), "bytes given back")


def by_truth(folder, archive, truth):
    names = sorted(os.listdir(folder))
    same(len(names), len(truth), "messages")
    data = read(archive)
    ending = "\r\n" if b"\r\n" in data[:1000] else "\n"
    for number, (name, mail) in enumerate(zip(names, truth), 1):
        here = os.path.join(folder, name)
        same(name, folder_name(number, mail), f"the name of {number}")
        same(os.stat(here).st_mtime, mail["date"], f"{name}: date")
        same(read(here, "message.eml"), data[mail["start"]:mail["end"]], f"{name}: bytes")
        headers = read(here, "headers.txt").decode()
        subjects = [line[9:] for line in headers.split("\n") if line.startswith("Subject: ")]
        same("".join(subjects).split(), mail["subject"].split(), f"{name}: subject")
        text = read(here, "body.txt").decode()
        if mail["text"] is not False:
            same(text.replace("\r\n", "\n").rstrip("\n"), mail["text"].rstrip("\n"), f"{name}: text")
        shown = {}
        if os.path.isdir(os.path.join(here, "attachments")):
            for entry in os.scandir(os.path.join(here, "attachments")):
                if entry.is_file():
                    content = read(entry.path)
                    same(entry.stat().st_size, len(content), f"{entry.path}: size")
                    same(entry.stat().st_mtime, mail["date"], f"{entry.path}: date")
                    shown[entry.name] = (len(content), hashlib.sha1(content).hexdigest())
        expected = {a["name"]: (a["size"], a["sha1"]) for a in mail["attachments"] if "size" in a}
        messages = {a["name"] for a in mail["attachments"] if "size" not in a}
        same({k: v for k, v in shown.items() if k not in messages}, expected, f"{name}: attachments")
        same(set(shown) & messages, messages, f"{name}: messages within")
        for part in os.listdir(here):
            size, content = os.stat(os.path.join(here, part)).st_size, part != "attachments" and read(here, part)
            if content is not False:
                same(size, len(content), f"{name}/{part}: size")


def by_python(folder, archive):
    """What Python's email decodes is there, and as many messages as mailbox finds, where all `From ` are quoted."""
    names = sorted(os.listdir(folder))
    same(len(names), len(mailbox.mbox(archive, create=False)), "messages by Python")
    for name in names:
        message = email.message_from_bytes(read(folder, name, "message.eml"), policy=email.policy.default)
        shown = set()
        attachments = os.path.join(folder, name, "attachments")
        if os.path.isdir(attachments):
            shown = {read(e.path) for e in os.scandir(attachments) if e.is_file()}
        within = [id(p) for part in message.walk() if part.get_content_type() == "message/rfc822" for p in part.walk()]
        for part in message.walk():
            if part.get("content-transfer-encoding", "") == "base64" and part.get_content_maintype() != "text":
                if id(part) not in within and part.get_payload(decode=True) not in shown:
                    wrong.append(f"{name}: an attachment that Python finds is not shown: {part.items()}")


if __name__ == "__main__":
    folder, archive = sys.argv[1:3]
    if len(sys.argv) > 3:
        with open(sys.argv[3]) as file:
            by_truth(folder, archive, json.load(file))
    gives_back(folder, archive)
    if len(sys.argv) > 4:
        by_python(folder, archive)
    if wrong:
        sys.exit(f"{len(wrong)} are wrong\n" + "\n".join(wrong[:20]))
