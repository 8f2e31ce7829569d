"""Writes the messages of a mailbox into trees of mailboxes, as mail programs have them.

usage: mail_trees.py MAILBOX FOLDER

Each tree has all messages once, in the mailbox's order, so that it can be compared with the mailbox; `copies` has some of
them several times.
"""

import gzip
import mailbox
import os
import sys

import mail_folders


def mbox(box, keys, path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    data = b"".join(box.get_bytes(key, from_=True).rstrip(b"\n") + b"\n\n" for key in keys)
    with (gzip.open if path.endswith(".gz") else open)(path, "wb") as file:
        file.write(data)


def maildir(box, keys, path, flags="S"):
    for part in ["cur", "new", "tmp"]:
        os.makedirs(f"{path}/{part}")
    for key in keys:
        mail_folders.write(f"{path}/cur/{1700000000 + key}.M{key}P1.host:2,{flags}", box.get_bytes(key))


def emlx(box, keys, path):
    for key in keys:
        data = box.get_bytes(key)
        mail_folders.write(f"{path}/{key + 1}.emlx", b"%-10d\n" % len(data) + data + b"<plist><dict></dict></plist>\n")


def main(source, folder):
    box = mailbox.mbox(source, create=False)
    keys = list(box.keys())
    # Thunderbird: `Archiv.2023` is known by its index, `Sub` is in `Inbox.sbd`.
    thunderbird = f"{folder}/thunderbird/Mail/Local Folders"
    mbox(box, keys[:2], f"{thunderbird}/Archiv.2023")
    mbox(box, keys[2:4], f"{thunderbird}/Inbox")
    mbox(box, keys[4:5], f"{thunderbird}/list.mbox.gz")
    mbox(box, keys[5:], f"{thunderbird}/Inbox.sbd/Sub")
    for name in ["Archiv.2023.msf", "Inbox.msf", "Inbox.sbd/Sub.msf", "msgFilterRules.dat"]:
        with open(f"{thunderbird}/{name}", "w") as file:
            file.write('version="9"\n')
    os.makedirs(f"{thunderbird}/.hidden")
    mbox(box, keys, f"{thunderbird}/.hidden/not.mbox")
    os.symlink("../Inbox", f"{thunderbird}/Inbox.sbd/link")
    apple = f"{folder}/apple-mail"
    mbox(box, keys[:1], f"{apple}/Archive.mbox/mbox")
    emlx(box, keys[1:4], f"{apple}/Inbox.mbox/0F-11/Data/Messages")
    emlx(box, keys[4:], f"{apple}/Inbox.mbox/Work.mbox/Messages")
    maildir(box, keys[:3], f"{folder}/maildirs")
    maildir(box, keys[3:5], f"{folder}/maildirs/.Entw&APw-rfe")
    maildir(box, keys[5:], f"{folder}/maildirs/.Sent.2023")
    # A Maildir of Thunderbird's has no folder `new`.
    os.rmdir(f"{folder}/maildirs/.Sent.2023/new")
    for number, part in enumerate([keys[:3], keys[3:]]):
        for key in part:
            mail_folders.write(f"{folder}/mh-tree/box{number}/{key + 1}", box.get_bytes(key))
    # The first two are in three mailboxes; a message of other content has the id of the third.
    copies = f"{folder}/copies"
    mbox(box, keys, f"{copies}/All.mbox")
    for key in keys[:2]:
        data = b"Received: from elsewhere\n" + box.get_bytes(key).replace(b"\n", b"\r\n") + b"\r\n"
        mail_folders.write(f"{copies}/Sent/{key}.eml", data)
    mbox(box, keys[:2], f"{copies}/Zwei.mbox")
    spoofed = box.get_bytes(keys[2]).rstrip(b"\n") + b"\nYou owe me 1,000,000.\n"
    mail_folders.write(f"{copies}/Spoofed/1.eml", spoofed)


if __name__ == "__main__":
    main(*sys.argv[1:])
