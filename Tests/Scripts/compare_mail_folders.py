"""Compares the views of folders of mail with those of a mailbox that has the same messages.

usage: compare_mail_folders.py MOUNT MAILBOX 'FOLDER…' 'QUERY
…'
"""

import os
import sys


def content(folder):
    """The files of a message's folder, but what depends on the last empty lines, and the attachments."""
    found = {}
    for place, folders, files in os.walk(folder):
        for name in files:
            with open(f"{place}/{name}", "rb") as file:
                found[os.path.relpath(f"{place}/{name}", folder)] = file.read().rstrip(b"\n")
    return found


def main(mount, mailbox, folders, queries):
    own = f"{mount}/{mailbox}"
    names = sorted(os.listdir(f"{own}.messages"))
    messages = [content(f"{own}.messages/{name}") for name in names]
    assert names and all("message.eml" in message for message in messages)
    for folder in folders.split():
        other = f"{mount}/{folder}"
        assert sorted(os.listdir(f"{other}.messages")) == names, folder
        for name, message in zip(names, messages):
            assert content(f"{other}.messages/{name}") == message, (folder, name)
        for view in ["by-date", "by-sender", "by-thread", "with-attachments", "attachments", "by-attachment-type"]:
            walks = [sorted((os.path.relpath(p, base), sorted(d), sorted(f)) for p, d, f in os.walk(f"{base}.views/{view}"))
                     for base in (own, other)]
            short = [[(p.replace(base, ""), d, f) for p, d, f in walk] for base, walk in zip((own, other), walks)]
            strip = [[(p.split(".views", 1)[-1], d, f) for p, d, f in walk] for walk in short]
            assert strip[0] == strip[1], (folder, view)
        for query in queries.split("\n"):
            hits = [os.listdir(f"{base}.views/search/{query}") for base in (own, other)]
            assert hits[0] == hits[1], (folder, query, hits)


main(*sys.argv[1:])
