#!/usr/bin/env python3
"""find_changed.py FFMOUNT FOLDER [ROUNDS [SEED]]: changes files of a searched tree, and compares the index that is brought up to
date with a new one.

A round makes a few changes: texts, messages that are added to mailboxes and Maildirs, archives with other entries, files and
folders that are renamed or removed, and bytes that change while size and time stay. Then both indexes have to give the same
answers, and the search alone finds what is new. Makes the tree of make_findable.py in FOLDER, unless it is there."""

import os
import random
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

import find_command

folder = Path(sys.argv[2]).resolve()
rounds, seed = int(sys.argv[3]) if len(sys.argv) > 3 else 6, int(sys.argv[4]) if len(sys.argv) > 4 else 1
chance = random.Random(seed)
MESSAGE = "From: New <new@example.org>\nDate: Thu, 4 Jul 2024 12:00:00 +0000\nSubject: {word} meadow\nMessage-ID: <{word}@x>\n\nharbour {word}\n"


def files(tree, *endings):
    return sorted(path for path in tree.rglob("*") if path.is_file() and path.name.endswith(endings))


def word():
    return "".join(chance.choice("bdgklmnprst") + chance.choice("aeiou") for _ in range(5)) + "q"


# The changes. Each returns a new word that is to be found, or None.


def text_changed(tree):
    path, new = chance.choice(files(tree, ".txt", ".md", ".html", ".py")), word()
    path.write_bytes(path.read_bytes()[: chance.randrange(40, 400)] + f"\nmeadow {new}\n".encode())
    return new


def same_size_and_time(tree):
    path, new = chance.choice(files(tree, ".md", ".py", ".log")), word()
    status, data = path.stat(), path.read_bytes()
    path.write_bytes(new.encode() + b" " + data[len(new) + 1 :])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    return new


def file_added(tree):
    new = word()
    place = chance.choice([path.parent for path in files(tree, ".txt", ".pdf")])
    (place / f"added {new}.txt").write_text(f"lantern {new}\n")
    return new


def message_added(tree):
    new = word()
    with open(chance.choice(files(tree, ".mbox")), "a") as file:
        file.write("From new@example.org Thu Jul  4 12:00:00 2024\n" + MESSAGE.format(word=new) + "\n")
    return new


def message_delivered(tree):
    new = word()
    (tree / "post" / "Maildir" / "new" / f"170000{chance.randrange(10_000):04}.M1.new").write_text(MESSAGE.format(word=new))
    return new


def archive_changed(tree):
    found = files(tree, ".zip")
    if not found:
        return None
    new = word()
    with zipfile.ZipFile(chance.choice(found), "a") as archive:
        archive.writestr(zipfile.ZipInfo(f"added/{new}.txt", (2021, 5, 6, 12, 0, 0)), f"copper {new}\n")
    return new


def file_removed(tree):
    chance.choice(files(tree, "")).unlink()


def file_renamed(tree):
    path, new = chance.choice(files(tree, ".pdf", ".docx", ".txt", ".zip", ".mbox")), word()
    path.rename(path.with_name(f"{new}{path.suffix}"))
    return new


def folder_renamed(tree):
    places = sorted(
        path for path in tree.rglob("*") if path.is_dir() and path.name not in ("cur", "new", "tmp", "Maildir", "post")
    )
    path = chance.choice(places)
    path.rename(path.with_name(f"moved{chance.randrange(1000)}"))


CHANGES = [
    text_changed,
    same_size_and_time,
    file_added,
    message_added,
    message_delivered,
    archive_changed,
    file_removed,
    file_renamed,
    folder_renamed,
]


def main():
    queries = find_command.known(folder)
    scratch = Path(tempfile.mkdtemp(prefix="find-changed.", dir=folder))
    tree = scratch / "tree"
    shutil.copytree(folder / "tree", tree, symlinks=True)
    command, old, made = find_command.Command(sys.argv[1], tree), scratch / "old", 0
    told = 0
    try:
        said = command.index(old).communicate()[1]
        for number in range(rounds):
            several, news = chance.choices(CHANGES, k=chance.randint(1, 4)), []
            # Each of them comes once before some come again.
            several[0] = CHANGES[number % len(CHANGES)]
            for change in several:
                new = change(tree)
                made += 1
                # A later change may remove it.
                news = [new] if new else []
            what = f"round {number + 1} ({', '.join(change.__name__ for change in several)})"
            if news and number % 2:
                # Without an index that was brought up to date before.
                for new in news:
                    if not command.ask(old, new):
                        command.failures.append(f"{what}: a search does not find `{new}`")
            process = command.index(old)
            said = process.communicate()[1]
            if process.returncode:
                command.failures.append(f"{what}: status {process.returncode}: {said[-300:]}")
            fresh = scratch / f"fresh{number}"
            command.index(fresh).communicate()
            asked = [*queries[::3], *news]
            command.compare(what, command.answers(old, asked), command.answers(fresh, asked), ordered=False)
            shutil.rmtree(fresh)
            print(what, *command.failures[told:], sep="\n  ", flush=True)
            told = len(command.failures)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print(f"{made} changes in {rounds} rounds")
    print(f"{len(command.failures)} failures" if command.failures else "the same answers")
    return 1 if command.failures else 0


if __name__ == "__main__":
    sys.exit(main())
