#!/usr/bin/env python3
"""check_views.py VIEWS MESSAGES TRUTH: compares what NAME.views/ holds with what genmbox.py says of the archive.

VIEWS and MESSAGES are the two folders of one mailbox in a mount; TRUTH is genmbox.py's OUT.truth.jsonl. Every view must
hold exactly the right messages, under the names that they have in MESSAGES, and the files in them must be the same files."""

import collections
import hashlib
import json
import os
import re
import sys
import time

wrong = []


def same(found, expected, what):
    if found != expected:
        wrong.append(f"{what}: expected {str(expected)[:300]!r}, found {str(found)[:300]!r}")


def sets(found, expected, what):
    """The same folders, each with the same messages."""
    for name in sorted(set(found) | set(expected)):
        one, other = found.get(name, []), sorted(expected.get(name, []))
        if sorted(one) != other:
            wrong.append(
                f"{what}/{name}: {len(other)} expected, {len(one)} found; "
                f"missing {sorted(set(other) - set(one))[:3]}, too many {sorted(set(one) - set(other))[:3]}")


def tree(folder, isMessage):
    """The names of message folders by the path of the folder that they are in."""
    found = collections.defaultdict(list)
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        if isMessage(name):
            found[""].append(name)
        else:
            for path, names in tree(os.path.join(folder, name), isMessage).items():
                found[f"{name}/{path}".rstrip("/")] += names
    return found


def subject_key(subject):
    text = re.sub(r"\s+", " ", subject).strip().lower()
    while True:
        shorter = re.sub(r"^(re:|\[[^\[\]]*\](?=.)) *", "", text)
        if shorter == text:
            return text
        text = shorter


def check_threads(found, mails, names):
    """By X-GM-THRID exactly. Without it, a reply to a mail that has no id can only be told by its subject: its thread may
    be another one of that subject, and nothing else may differ."""
    thread_of = {name: path for path, members in found.items() for name in members}
    same(sorted(thread_of), sorted(names.values()), "by-thread: all messages")
    same(sum(len(members) for members in found.values()), len(mails), "by-thread: each once")
    lost, threads, subjects = set(), collections.defaultdict(list), collections.defaultdict(set)
    for mail in mails:
        threads[mail["thread"]].append(mail)
        subjects[subject_key(mail["subject"])].add(mail["thread"])
    for thread, members in threads.items():
        # No message refers to the first mails of a thread without an id.
        orphaned = members[0]["msgid"] is None
        if orphaned and (len(subjects[subject_key(members[0]["subject"])]) > 1 or not subject_key(members[0]["subject"])):
            lost |= subjects[subject_key(members[0]["subject"])]
    expected = {t: sorted(names[m["i"]] for m in ms) for t, ms in threads.items() if t not in lost}
    groups = {thread_of[members[0]]: members for members in expected.values()}
    same(len(groups), len(expected), "by-thread: a folder a thread")
    for path, members in groups.items():
        same(sorted(found[path]), members, f"by-thread/{path}")
    print(f"{len(expected)} of {len(threads)} threads are told exactly")
    subject_of = {names[mail["i"]]: mail["subject"] for mail in mails}
    for path, members in found.items():
        # By date, which is the archive's order.
        subject = subject_key(subject_of[min(members)])
        start = re.sub(r" \(\d+\)$", "", path)
        clean = re.sub(r"\s+", " ", subject).replace("/", "-") or "no subject"
        if not clean.startswith(start.lower()[:100]):
            wrong.append(f"by-thread/{path}: is not called after {subject!r}")


def check_attachments(folder, with_folder, messages, mails, names):
    holders = {}
    for mail in mails:
        parts = [part for part in mail["parts"] if part["name"] is not None or part["ct"] == "message/rfc822"]
        if parts:
            holders[names[mail["i"]]] = parts
    same(sorted(os.listdir(with_folder)), sorted(holders), "with-attachments")
    expected = collections.Counter()
    for name, parts in holders.items():
        for part in parts:
            if part["sha1"]:
                expected[part["sha1"]] += 1
    found = collections.Counter()
    names_seen, inodes = [], {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.is_file():
                continue
            names_seen.append(entry.name)
            inodes[entry.name] = entry.inode()
            with open(entry.path, "rb") as file:
                found[hashlib.sha1(file.read()).hexdigest()] += 1
            if os.stat(entry.path).st_ino != entry.inode():
                wrong.append(f"attachments/{entry.name}: its number in the listing is not its own")
            if not re.match(r"\d{4}-\d\d-\d\d .+ - .", entry.name) or len(entry.name.encode()) > 255:
                wrong.append(f"attachments/{entry.name}: is not called as an attachment is")
            day = time.strftime("%Y-%m-%d", time.gmtime(os.stat(entry.path).st_mtime + 7200))
            same(entry.name[:10], day, f"attachments/{entry.name}: its time")
    same(len(names_seen), sum(len(parts) for parts in holders.values()), "attachments: how many")
    for digest, count in expected.items():
        if found[digest] != count:
            wrong.append(f"attachments: {count} of {digest} expected, {found[digest]} found")
    there = {entry.inode() for name in list(holders)[:200]
             for entry in os.scandir(os.path.join(messages, name, "attachments")) if entry.is_file()}
    if not there <= set(inodes.values()):
        wrong.append("attachments: numbers are not those of the same files under .messages/")


def check_sorted_attachments(views):
    """Each attachment is in one folder of each sort, under its name and number."""
    def files(folder):
        return {entry.name: entry.inode() for entry in os.scandir(folder) if entry.is_file()}
    whole = files(os.path.join(views, "attachments"))
    for sort in "type", "sender", "year":
        top, found = os.path.join(views, "by-attachment-" + sort), {}
        for name in os.listdir(top):
            inner = files(os.path.join(top, name))
            same(found.keys() & inner.keys(), set(), f"{sort}/{name}: what is in others, too")
            found |= inner
            if sort == "year":
                same({file[:4] for file in inner}, {name}, f"year/{name}")
            elif sort == "type" and name != "other":
                spelled = {"jpeg": "jpg", "tiff": "tif", "htm": "html", "mpeg": "mpg", "yml": "yaml"}
                endings = {file.rsplit(".", 1)[1].lower() for file in inner}
                same({spelled.get(ending, ending) for ending in endings}, {name}, f"type/{name}")
            elif sort == "sender":
                own, below = set(), os.path.join(views, "by-sender", name)
                for message in os.listdir(below):
                    if os.path.isdir(os.path.join(below, message, "attachments")):
                        own |= set(files(os.path.join(below, message, "attachments")).values())
                same(set(inner.values()), own, f"sender/{name}")
        same(found, whole, f"by-attachment-{sort}")


def check_files(views, messages, name):
    """The files of a message are the same wherever it is shown; its folders are others."""
    def files(folder):
        found = {}
        for base, folders, names in os.walk(folder):
            for inner in names:
                path = os.path.join(base, inner)
                status = os.stat(path)
                found[os.path.relpath(path, folder)] = (status.st_ino, status.st_size, int(status.st_mtime))
        return found
    paths = [os.path.join(base, name) for base, folders, _ in os.walk(views) if name in folders]
    original = files(os.path.join(messages, name))
    folders = {os.stat(os.path.join(messages, name)).st_ino}
    if len(paths) < 3:
        wrong.append(f"{name}: is in {len(paths)} views")
    for path in paths:
        same(files(path), original, path)
        folders.add(os.stat(path).st_ino)
    same(len(folders), len(paths) + 1, f"{name}: numbers of its folders")


def main():
    views, messages, truth = sys.argv[1:]
    mails = [json.loads(line) for line in open(truth)]
    names = dict(enumerate(sorted(os.listdir(messages))))
    same(len(names), len(mails), "messages")
    isMessage = lambda name: re.match(r"\d{6} (\d{4}-\d\d-\d\d|undated) ", name)

    months = collections.defaultdict(list)
    senders = collections.defaultdict(list)
    labels = collections.defaultdict(list)
    for mail in mails:
        name = names[mail["i"]]
        months[time.strftime("%Y/%m", time.gmtime(mail["date"] + 7200))].append(name)
        senders[mail["frm"][1]].append(name)
        for label in mail["labels"] or []:
            labels[label].append(name)
    branch = lambda name: tree(os.path.join(views, name), isMessage)
    sets(branch("by-date"), months, "by-date")
    sets(branch("by-sender"), senders, "by-sender")
    sets(branch("by-label"), labels, "by-label")
    check_threads(branch("by-thread"), mails, names)
    check_attachments(
        os.path.join(views, "attachments"), os.path.join(views, "with-attachments"), messages, mails, names)
    check_sorted_attachments(views)
    style = "takeout" if labels else "thunderbird" if os.path.exists(os.path.join(views, "deleted")) else "classic"
    if style == "thunderbird":
        status = {name: open(os.path.join(messages, name, "headers.txt")).read() for name in names.values()}
        deleted = [name for name, text in status.items() if re.search(r"(?m)^X-Mozilla-Status: ...[89a-f]", text)]
        same(sorted(os.listdir(os.path.join(views, "deleted"))), sorted(deleted), "deleted")
    expected = ["attachments", "by-attachment-sender", "by-attachment-type", "by-attachment-year", "by-date"] + (["by-label"] if labels else []) + ["by-sender", "by-thread"]
    expected += (["deleted"] if style == "thunderbird" else []) + ["with-attachments"]
    same(sorted(name for name in os.listdir(views) if name != "search"), expected, "views")
    # Finding a message in all views walks all of them.
    for name in list(names.values())[:: max(1, len(names) // 3)] if len(names) < 5000 else []:
        check_files(views, messages, name)
    for line in wrong[:40]:
        print(line)
    print(f"{style}: {len(mails)} messages, {len(wrong)} differences")
    sys.exit(1 if wrong else 0)


main()
