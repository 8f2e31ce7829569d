#!/usr/bin/env python3
"""many_mails.py make COUNT SIZE ARCHIVE [FIRST]: appends COUNT messages of about SIZE bytes, the FIRST and those behind it.
many_mails.py check COUNT SIZE FOLDER: looks whether FOLDER shows just these messages, and reads some hundred of them.

Message N can be told by N alone: so a mailbox can grow, or be replaced, and everything in it is still known."""

import os
import random
import sys

FILLER = ("Nothing to see here, only words that fill a line. " * 3 + "\n") * 2000


def message(number, size):
    head = (f"From: P{number % 7} <p{number % 7}@example.com>\nDate: Mon, 1 Jan 2018 00:00:{number % 60:02} +0000\n"
            f"Subject: m{number}\nX-Mozilla-Status: 0001\n\nbody {number}\n")
    return (head + FILLER[:max(0, size - len(head))]).encode() + b"\n\n"


SEPARATOR = b"From - Mon Jan  1 00:00:00 2018\n"


def name(number):
    return f"{number + 1:06} 2018-01-01 P{number % 7} - m{number}"


def make(count, size, path, first=0):
    with open(path, "ab", buffering=1 << 20) as file:
        for number in range(first, first + count):
            file.write(SEPARATOR + message(number, size))


def check(count, size, folder):
    found = os.listdir(folder)
    expected = [name(number) for number in range(count)]
    if sorted(found) != expected:
        odd = sorted(set(found) ^ set(expected))
        sys.exit(f"{len(found)} names, expected {count}; not in both: {odd[:6]}")
    for number in [0, count - 1] + random.sample(range(count), min(count, 100)):
        here = os.path.join(folder, name(number))
        with open(here + "/message.eml", "rb") as file:
            data = file.read()
        if data != message(number, size):
            sys.exit(f"message {number} is another: {data[:300]!r}")
        with open(here + "/body.txt", "rb") as file:
            if not file.read().startswith(b"body %d\n" % number):
                sys.exit(f"the text of {number} is another")


if __name__ == "__main__":
    command, *numbers = sys.argv[1:]
    if command == "make":
        make(int(numbers[0]), int(numbers[1]), numbers[2], *map(int, numbers[3:]))
    else:
        check(int(numbers[0]), int(numbers[1]), numbers[2])
