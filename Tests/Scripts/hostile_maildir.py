"""Writes messages with names that no mail program gives them into a Maildir, whose folder is the argument.

usage: hostile_maildir.py MAILDIR
"""

import os
import sys


def main(maildir):
    folder = os.fsencode(maildir)
    for part in [b"cur", b"new", b"tmp"]:
        os.makedirs(folder + b"/" + part)
    names = [
        b"1\x01\x1b[31m:2,S", b"2\nnew line:2,F", b"3\xff\xfe:2,S", b"4:2,", b"5:2,SSFFZZ\xff", b"6:2,:2,F", b"7,2,F", b"8;2,F",
        b"9!2,F", b"10:1,F", b"..11", b"...", b"-n", b":2,F", b"99999999999999999999999999:2,S", b"1" * 255, b"\xe2\x80\xae12:2,S",
        b"13 with spaces ", b"14:2,F.eml", b"15.mbox", b"16.sbd", b"17'\"$(x)`",
    ]
    for number, name in enumerate(names):
        with open(folder + b"/cur/" + name, "xb") as file:
            file.write(b"From: n@example.com\nSubject: odd %d\n\nbody %d\n" % (number, number))
    os.symlink("1" * 255, folder + b"/cur/link:2,S")
    os.mkfifo(folder + b"/cur/fifo:2,S")
    os.mkdir(folder + b"/cur/folder:2,S")


main(*sys.argv[1:])
