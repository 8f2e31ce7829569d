"""Lists the messages of a Maildir while some are delivered and deleted: none of the others is there twice, and no error is.

usage: listed_while_changed.py MOUNT MAILDIR
"""

import os
import sys


def main(mount, maildir):
    for part in ["cur", "new", "tmp"]:
        os.makedirs(f"{maildir}/{part}")
    for number in range(1500):
        with open(f"{maildir}/cur/{1700000000 + number}.M{number}P1.host:2,S", "w") as file:
            file.write(f"From: n@example.com\nSubject: letter {number}\n\nx\n")
    listed = []
    with os.scandir(f"{mount}/{os.path.basename(maildir)}.messages") as entries:
        for count, entry in enumerate(entries):
            listed.append(entry.name)
            if count % 300 == 150:
                if count < 700:
                    gone = count * 2 if count < 300 else 1400
                    os.unlink(f"{maildir}/cur/{1700000000 + gone}.M{gone}P1.host:2,S")
                with open(f"{maildir}/tmp/x", "w") as file:
                    file.write(f"From: n@example.com\nSubject: delivered {count}\n\nx\n")
                # Before and behind all others.
                time = (1600000000, 1800000000)[count // 300 % 2] + count
                os.rename(f"{maildir}/tmp/x", f"{maildir}/new/{time}.M{count}P1.host")
    numbers = [int(name.rpartition(" ")[2]) for name in listed if "letter" in name]
    assert len(numbers) == len(set(numbers)), "a message is there twice"
    # All but those that went before they were come to.
    assert len(numbers) >= 1500 - 2, len(numbers)
    again = os.listdir(f"{mount}/{os.path.basename(maildir)}.messages")
    assert len(again) == 1500 - 2 + 5, len(again)


main(*sys.argv[1:])
