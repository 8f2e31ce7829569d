"""The folder that clients are shown, with names that are hard on them, and what they bring home from it."""

import os
import shutil
import subprocess
import zipfile

NAMES = [
    "plain.txt", "with blank.txt", "hash#1.txt", "what?.txt", "100%.txt", "%41.txt", "a+b.txt", "quote'\".txt", "a&b;c=d.txt",
    "back\\slash.txt", "[x]{y}.txt", "trailing .txt", "tilde~.txt", "colon:x.txt", "<tag>.txt", "star*.txt", "$HOME.txt", "ümläut.txt",
    "e\u0301.txt", "京都.txt", ".hidden", "-dash.txt", "x" * 200 + ".txt", "empty.txt",
]  # fmt: skip
RAW = b"raw\xff.txt"


def make(folder):
    """Makes the folder; returns what is in it and in its archive: {path as bytes: bytes}."""
    shown = {}

    def write(name, data):
        path = os.path.join(os.fsencode(folder), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        shown[name] = data

    for name in NAMES:
        write(name.encode(), b"" if name == "empty.txt" else name.encode() * 50)
        write(b"Ordner \xc3\xbc #2/tief/" + name.encode(), b"deep " + name.encode())
    write(RAW, b"not UTF-8")
    write(b"large.bin", os.urandom(6 << 20))
    path = os.path.join(folder, "a.zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in ((b"x/packed.txt", b"packed\n" * 50000), ("grün #1 + 2.txt".encode(), b"green")):
            archive.writestr(name.decode(), data)
            shown[b"a.zip.contents/" + name] = data
    with open(path, "rb") as file:
        shown[b"a.zip"] = file.read()
    return shown


def make_media(folder):
    """A film and a sound, which are no part of the comparison."""
    os.mkdir(folder)
    quiet = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i"]
    subprocess.run([*quiet, "testsrc=size=640x360:rate=25:duration=20", "-f", "lavfi", "-i", "sine=440:duration=20", "-c:v", "libx264",
                    "-b:v", "4M", "-c:a", "aac", os.path.join(folder, "film #1.mp4")], check=True)
    subprocess.run([*quiet, "anoisesrc=duration=20", os.path.join(folder, "sound.flac")], check=True)


def differences(found, shown, without=()):
    """What is wrong with a folder that a client made: a few lines.

    - Parameter without: names that the client cannot bring, which is no matter of the server.
    """
    there = {}
    for folder, _, names in os.walk(os.fsencode(found)):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                there[os.path.relpath(path, os.fsencode(found))] = file.read()
    wanted = {name: data for name, data in shown.items() if os.path.basename(name) not in without}
    wrong = [f"{name!r} is missing" for name in sorted(wanted.keys() - there.keys())]
    wrong += [f"{name!r} is there" for name in sorted(there.keys() - shown.keys())]
    wrong += [f"{name!r} has other bytes" for name in sorted(wanted.keys() & there.keys()) if there[name] != wanted[name]]
    return wrong[:8] + ([f"and {len(wrong) - 8} more"] if len(wrong) > 8 else [])


def empty(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder
