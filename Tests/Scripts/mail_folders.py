"""Writes the messages of a mailbox into folders of message files, byte for byte, as mail programs have them.

usage: mail_folders.py MAILBOX FOLDER
"""

import mailbox
import os
import sys


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "xb") as file:
        file.write(data)
    os.chmod(path, 0o600)


def main(source, folder):
    box = mailbox.mbox(source, create=False)
    for name in ["Maildir", "Maildir/.Sent"]:
        for part in ["cur", "new", "tmp"]:
            os.makedirs(f"{folder}/{name}/{part}")
    flags = ["", "S", "FS", "PRS", "DS", "ST"]
    for place, key in enumerate(box.keys()):
        # Exactly what a mailbox's folder of a message has as its bytes.
        data = box.get_bytes(key)
        name = f"{1700000000 + place}.M{place}P1.host"
        path = f"new/{name}" if place == 0 else f"cur/{name}:2,{flags[place % len(flags)]}"
        write(f"{folder}/Maildir/{path}", data)
        write(f"{folder}/eml/{place:03} mail.eml", data)
        write(f"{folder}/mh/{place + 1}", data)
        kind = "partial.emlx" if place == 1 else "emlx"
        state = 1 | (16 if place == 2 else 0)
        plist = f"<plist><dict><key>flags</key>\n\t<integer>{state}</integer></dict></plist>\n"
        write(f"{folder}/apple/{place + 1}.{kind}", b"%-10d\n" % len(data) + data + plist.encode())
    write(f"{folder}/mh/.mh_sequences", b"unseen: 1\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
