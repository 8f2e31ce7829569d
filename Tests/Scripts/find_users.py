#!/usr/bin/env python3
"""find_users.py FFMOUNT FOLDER: two users and root search one mount with `-o allow_other`, as root.

Each finds what he may read at that moment, and nothing that he sees tells of the rest: neither names, counts, suggestions and
extended attributes, nor whether a folder of results exists. A folder of searches that a user does not have at all is right,
too, and is said. By the command, each user has an index of his own, with mode 0600. FOLDER has to be open to all users."""

import errno
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ffmount, base = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
ALICE, BOB = 2001, 2002
USERS = {"root": 0, "alice": ALICE, "bob": BOB}
SHARED = "treasure"
failures = []
#: Path: owner, mode of the file, owner and mode of its folder, its word.
FILES = {
    "open/all.txt": (0, 0o644, 0, 0o755, "walnuttree"),
    "open/alice.txt": (ALICE, 0o600, 0, 0o755, "alabasterine"),
    "open/bob.txt": (BOB, 0o600, 0, 0o755, "bobolinkish"),
    "open/root.txt": (0, 0o600, 0, 0o755, "rootstockade"),
    "hers/note.txt": (ALICE, 0o644, ALICE, 0o700, "hazelwoodian"),
    "his/note.txt": (BOB, 0o644, BOB, 0o700, "hibiscusine"),
    "open/hers.zip": (ALICE, 0o600, 0, 0o755, "zirconalia"),
    "open/his.mbox": (BOB, 0o600, 0, 0o755, "mailordershy"),
    "open/later.txt": (0, 0o644, 0, 0o755, "laterality"),
}


def make(source):
    for name, (owner, mode, above, rights, word) in FILES.items():
        path = source / name
        path.parent.mkdir(exist_ok=True)
        text = f"the {SHARED} is {word}\n"
        if name.endswith(".zip"):
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("inside.txt", text)
        elif name.endswith(".mbox"):
            path.write_text(
                f"From x@example.org Thu Jan  2 12:00:00 2020\nFrom: x@example.org\nDate: Thu, 2 Jan 2020 12:00:00 +0000\nSubject: {word}\n\n{text}\n"
            )
        else:
            path.write_text(text)
        os.chown(path, owner, owner)
        os.chmod(path, mode)
        os.chown(path.parent, above, above)
        os.chmod(path.parent, rights)


def may_read(user, name):
    owner, mode, above, rights, _ = FILES[name]
    number = USERS[user]
    return number == 0 or ((above == number or rights & 0o005 == 0o005) and (owner == number or mode & 0o004))


def as_user(user, question):
    """What a process of this user gets, as JSON can say it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            number = USERS[user]
            if number:
                os.setgroups([number])
                os.setgid(number)
                os.setuid(number)
            answer = question()
        except OSError as error:
            answer = {"error": errno.errorcode.get(error.errno, str(error.errno))}
        except BaseException as error:
            answer = {"fault": repr(error)}
        with os.fdopen(writing, "w") as file:
            json.dump(answer, file)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        said = file.read()
    os.waitpid(child, 0)
    return json.loads(said)


def searched(mount, query, place=""):
    """All that a folder of results says."""
    folder = mount / f"{place}.search" / query
    answer = {"names": sorted(os.listdir(folder))}
    for name in ("RESULTS.txt", "RESULTS.tsv", "RESULTS.json"):
        try:
            answer[name] = (folder / name).read_text()
        except OSError as error:
            answer[name] = errno.errorcode[error.errno]
    answer["attributes"] = {}
    for name in sorted(os.listxattr(folder)):
        try:
            answer["attributes"][name] = os.getxattr(folder, name).decode()
        except OSError as error:
            answer["attributes"][name] = errno.errorcode[error.errno]
    # The status of entries, without times, which the folder has of the moment.
    answer["links"] = os.stat(folder).st_nlink
    return answer


def words_in(answer):
    """The files whose word or path an answer has."""
    text = json.dumps(answer)
    return {name for name, row in FILES.items() if row[4] in text or name in text}


def check_mount(source, mount):
    everybody = {}
    for user in USERS:
        for name in FILES:
            answer = as_user(user, lambda: (mount / name).read_bytes() != b"")
            if (answer is True) != bool(may_read(user, name)):
                failures.append(f"{user}: {name} is {answer} in the mount")
    for user in USERS:
        answer = as_user(user, lambda: searched(mount, SHARED))
        everybody[user] = answer
        allowed = {name for name in FILES if may_read(user, name)}
        if "error" in answer:
            print(f"{user} has no folder of searches: {answer['error']}")
            if user == "root" or answer["error"] not in ("ENOENT", "EACCES", "EPERM"):
                failures.append(f"{user}: {answer['error']}")
            continue
        if "fault" in answer:
            failures.append(f"{user}: {answer['fault']}")
            continue
        try:
            found = {hit["path"] for hit in json.loads(answer["RESULTS.json"])}
        except ValueError:
            failures.append(f"{user}: RESULTS.json is {answer['RESULTS.json'][:100]!r}")
            continue
        seen = {name for name in FILES if any(path == name or path.startswith(f"{name}.") for path in found)}
        if seen != allowed:
            failures.append(f"{user}: finds {sorted(seen - allowed)} that he may not read, and not {sorted(allowed - seen)}")
        said = words_in(answer)
        if said - allowed:
            failures.append(f"{user}: results tell of {sorted(said - allowed)}")
        for name, row in FILES.items():
            single = as_user(user, lambda: searched(mount, row[4]))
            nothing = as_user(user, lambda: searched(mount, "qqvxjkzw"))
            if name not in allowed and comparable(single, row[4]) != comparable(nothing, "qqvxjkzw"):
                failures.append(f"{user}: a search for the word of {name} differs from one for no word: {diff(single, nothing)}")
            # One letter is wrong: suggestions come from words that he may read.
            wrong = row[4][:-2] + row[4][-1] + row[4][-2]
            misspelt = as_user(user, lambda: searched(mount, wrong))
            if name not in allowed and row[4] in json.dumps(misspelt):
                failures.append(f"{user}: the suggestion for `{wrong}` tells the word of {name}")
        for place, owner in (("hers", "alice"), ("his", "bob")):
            if user not in (owner, "root"):
                one, other = (as_user(user, lambda: searched(mount, SHARED, each)) for each in (place, "nowhere"))
                if "error" not in one and json.loads(one["RESULTS.json"]):
                    failures.append(f"{user}: {place}.search finds something")
    # Entries that another user sees are opened by their names.
    for user in ("alice", "bob"):
        for name in everybody["root"].get("names", []):
            if name in everybody[user].get("names", []) or name.startswith(("RESULTS", "INCOMPLETE")):
                continue
            answer = as_user(user, lambda: os.stat(mount / ".search" / SHARED / name).st_size)
            if answer != {"error": "ENOENT"} and answer not in ({"error": "EACCES"}, {"error": "EPERM"}):
                failures.append(f"{user}: the entry `{name}` of root's results exists for him: {answer}")
    # Rights that change count from the next listing on.
    later = source / "open" / "later.txt"
    os.chmod(later, 0o600)
    time.sleep(1.5)
    answer = as_user("alice", lambda: searched(mount, SHARED))
    if "laterality" in json.dumps(answer) or "later.txt" in json.dumps(answer):
        failures.append("alice: a file that she may not read any more is still found")
    os.chmod(later, 0o644)
    for user in ("alice", "bob"):
        times = {}
        for word in ("rootstockade", "qqvxjkzw"):
            times[word] = [as_user(user, lambda: timed(mount, f"{word} -x{number}")) for number in range(15)]
        medians = {
            word: statistics.median(each for each in several if isinstance(each, float))
            for word, several in times.items()
            if any(isinstance(each, float) for each in several)
        }
        print(f"{user}: seconds of a search for a hidden word and for none: {medians}")


def comparable(answer, word):
    return json.dumps(answer).replace(word, "WORD")


def diff(one, other):
    return {key: (one.get(key), other.get(key)) for key in {*one, *other} if one.get(key) != other.get(key)}


def timed(mount, query):
    started = time.perf_counter()
    os.listdir(mount / ".search" / query)
    return time.perf_counter() - started


def check_command(source, scratch):
    for user, number in USERS.items():
        cache = scratch / f"cache-{user}"
        cache.mkdir(mode=0o700)
        os.chown(cache, number, number)
        environment = dict(os.environ, XDG_CACHE_HOME=str(cache), HOME=str(cache))

        def asked():
            done = subprocess.run(
                [ffmount, "search", source, SHARED, "--json", "--limit", "1000"],
                env=environment,
                capture_output=True,
                text=True,
                timeout=120,
            )
            return [done.returncode, done.stdout, done.stderr]

        answer = as_user(user, asked)
        if isinstance(answer, dict) or answer[0] not in (0, 1):
            failures.append(f"{user}: ffmount search: {answer}")
            continue
        found = {hit["path"].removeprefix(f"{source}/") for hit in json.loads(answer[1] or "[]")}
        seen = {name for name in FILES if any(path == name or path.startswith(f"{name}.") for path in found)}
        allowed = {name for name in FILES if may_read(user, name)}
        if seen != allowed:
            failures.append(
                f"{user}: ffmount search finds {sorted(seen - allowed)} that he may not read, and not {sorted(allowed - seen)}"
            )
        for path in cache.rglob("*"):
            if path.is_file() and (path.stat().st_mode & 0o077 or path.stat().st_uid != number):
                failures.append(
                    f"{user}: {path.relative_to(cache)} has mode {path.stat().st_mode & 0o777:o} and owner {path.stat().st_uid}"
                )


def main():
    if os.geteuid():
        sys.exit("root is needed")
    scratch = Path(tempfile.mkdtemp(prefix="find-users.", dir=base))
    os.chmod(scratch, 0o755)
    source, mount = scratch / "source", scratch / "mount"
    source.mkdir()
    mount.mkdir()
    make(source)
    daemon = subprocess.Popen(
        [ffmount, "-f", "-o", "allow_other", source, mount],
        env=dict(os.environ, XDG_CACHE_HOME=str(scratch / "cache")),
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        end = time.monotonic() + 30
        while not os.path.ismount(mount):
            if daemon.poll() is not None or time.monotonic() > end:
                sys.exit(f"it does not mount: {daemon.stderr.read()}")
            time.sleep(0.02)
        # The first search makes the index; root's is complete when it has all.
        for _ in range(100):
            answer = as_user("root", lambda: searched(mount, SHARED))
            if "names" in answer and not any(name.startswith("INCOMPLETE") for name in answer["names"]):
                break
            time.sleep(0.2)
        check_mount(source, mount)
    finally:
        for _ in range(50):
            if subprocess.run(["fusermount3", "-u", mount], stderr=subprocess.DEVNULL).returncode == 0:
                break
            time.sleep(0.1)
        daemon.kill()
        daemon.wait()
    check_command(source, scratch)
    shutil.rmtree(scratch, ignore_errors=True)
    print("\n".join(failures) or "each finds what he may read")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
