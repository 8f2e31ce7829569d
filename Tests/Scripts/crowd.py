#!/usr/bin/env python3
"""crowd.py make SOURCE | read MOUNT: a tree of 2,500 files and 40 archives, of which 64 processes read all."""

import os
import random
import sys
import zipfile

mode, top = sys.argv[1:]


def content(number):
    return random.Random(number).randbytes(number % 7 * 3000 + 11)


def path(number):
    return os.path.join(top, f"d{number % 50}", f"e{number % 7}", f"f{number}")


def inner(number, entry):
    return (b"%d %d|" % (number, entry)) * (3000 + 9000 * (entry % 3))


def make():
    for number in range(2500):
        os.makedirs(os.path.dirname(path(number)), exist_ok=True)
        with open(path(number), "wb") as file:
            file.write(content(number))
    for number in range(40):
        method = zipfile.ZIP_DEFLATED if number % 2 else zipfile.ZIP_STORED
        with zipfile.ZipFile(os.path.join(top, f"d{number}", f"z{number}.zip"), "w", method) as archive:
            for entry in range(20):
                archive.writestr(f"in/e{entry}", inner(number, entry))


def read(reader):
    generator = random.Random(reader)
    held = []
    for number in generator.sample(range(2500), 60):
        file = open(path(number), "rb")
        held.append(file)
        if file.read() != content(number):
            raise SystemExit(f"{path(number)}: wrong bytes")
        if len(held) > 40:
            held.pop(generator.randrange(len(held))).close()
    for number in generator.sample(range(40), 6):
        folder = os.path.join(top, f"d{number}", f"z{number}.zip.contents", "in")
        if len(os.listdir(folder)) != 20:
            raise SystemExit(f"{folder}: wrong names")
        for entry in generator.sample(range(20), 3):
            with open(os.path.join(folder, f"e{entry}"), "rb") as file:
                if file.read() != inner(number, entry):
                    raise SystemExit(f"{folder}/e{entry}: wrong bytes")
    # Open files stay readable.
    for file in held:
        file.seek(0)
        file.read(5)
    os.listdir(os.path.join(top, f"d{reader % 50}"))


if mode == "make":
    make()
else:
    children = []
    for reader in range(64):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                read(reader)
                status = 0
            except BaseException as error:
                sys.stderr.write(f"reader {reader}: {error!r}\n")
            os._exit(status)
        children.append(child)
    sys.exit(1 if any([os.waitpid(child, 0)[1] for child in children]) else 0)
