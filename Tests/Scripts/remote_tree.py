"""remote_tree.py FFMOUNT FFSERVE FOLDER: a server's tree in a mount is that of a mount of its source.

Makes its files below FOLDER, and prints what is not as it should be, and at the end "done".
"""
import errno
import os
import stat
import subprocess
import sys
import time
import zipfile

from remote import Mount, attribute, complain, expect, failure, whole
from serving import Server

ffmount, ffserve, folder = sys.argv[1:]
source = os.path.join(folder, "shown")
sample = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "scripts", "sample")


def make():
    os.makedirs(os.path.join(source, "Folder", "deep"))
    for name in os.listdir(sample):
        with open(os.path.join(source, name), "wb") as file:
            file.write(whole(os.path.join(sample, name)))
    for name, data in {"empty": b"", "Folder/in.txt": b"in", "broken.zip": b"PK\3\4" * 30, "large": os.urandom(9 << 20),
                       "just": os.urandom(128 << 10), "one more": os.urandom((128 << 10) + 1)}.items():
        with open(os.path.join(source, name), "wb") as file:
            file.write(data)
    with open(os.fsencode(source) + b"/raw\xff\n \xc3.txt", "wb") as file:
        file.write(b"raw")
    with zipfile.ZipFile(os.path.join(source, "a.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x/packed.txt", b"packed line\n" * 40_000)
        archive.writestr("x/y/z/deep.txt", "deep")
        archive.writestr("empty/", "")
    for name, target in {"rel": "Folder/in.txt", "dead": "nowhere", "self": ".", "abs": source + "/Folder"}.items():
        os.symlink(target, os.path.join(source, name))
    os.symlink(b"\xfe\xff", os.fsencode(source) + b"/Folder/odd link")
    os.mkfifo(os.path.join(source, "pipe"))
    os.utime(os.path.join(source, "empty"), ns=(5, 1_700_000_000_123_000_000))
    os.utime(os.path.join(source, "Folder"), ns=(5, -1_000_000_000))


def tree(top):
    """Each path below `top`, with what it is."""
    found = {}
    for parent, folders, files in os.walk(os.fsencode(top)):
        for name in folders + files:
            path = os.path.join(parent, name)
            status = os.lstat(path)
            kind = stat.S_IFMT(status.st_mode)
            what = [oct(kind), status.st_mtime_ns // 1_000_000]
            if kind == stat.S_IFLNK:
                what.append(os.readlink(path))
            if kind == stat.S_IFREG:
                try:
                    data = whole(path)
                except OSError as error:
                    what.append(error.errno)
                    what.append(attribute(path, "error"))
                else:
                    # The size may have been a guess before.
                    what += [hash(data), os.stat(path).st_size == len(data)]
            if name.endswith(b".contents") or name.endswith(b".pages"):
                what += [attribute(path, key) for key in ("source", "view", "state", "error")]
            found[os.path.relpath(path, os.fsencode(top))] = what
    return found


make()
with Server(ffserve, source) as server:
    with Mount(ffmount, source, os.path.join(folder, "here"), "-o", "sizes=exact") as here, \
            Mount(ffmount, f"http://127.0.0.1:{server.port}", os.path.join(folder, "there")) as there:
        ours, theirs = tree(here.folder), tree(there.folder)
        # On the server's machine it is an absolute path.
        ours[b"abs"][2] = b"./Folder"
        for path in sorted(ours.keys() | theirs.keys()):
            expect(path, theirs.get(path), ours.get(path))
        if len(ours) < 60:
            complain(f"only {len(ours)} files")
        # Programs that copy trees are shown no views beside real files, in either mount.
        listed = [subprocess.run(["tar", "-C", top, "-cf", "/dev/null", "--totals", "-v", "."], capture_output=True).stdout.splitlines() for top in (source, here.folder, there.folder)]
        expect("names that tar has of the mount", sorted(listed[1]), sorted(listed[0]))
        expect("names that tar has of the server's mount", sorted(listed[2]), sorted(listed[0]))
        # What no listing shows.
        for name in ["harbour.png.as-txt.nothing", "harbour.png.as-bmp", "a.zip.contents/x/packed.txt.nothing"]:
            results = [failure(whole, mount.path(name))[0] for mount in (here, there)]
            expect(f"{name} fails alike", results[1], results[0])
        expect("a view by its name", whole(there.path("harbour.png.as-bmp")) == whole(here.path("harbour.png.as-bmp")), True)
        expect("through a link", whole(there.path("self/self/abs/in.txt")), b"in")
        expect("writing", failure(lambda: open(there.path("new"), "w"))[0], errno.EROFS)
        expect("a long name", failure(os.stat, there.path("x" * 256))[0], errno.ENAMETOOLONG)
        expect("a folder as a file", failure(os.stat, there.path("empty/x"))[0], errno.ENOTDIR)
        with open(there.path("large"), "rb") as file, open(os.path.join(source, "large"), "rb") as wanted:
            for offset, count in [(9 << 20, 5), ((9 << 20) - 7, 50), (5_000_000, 300_000), (100, 20), (4 << 20, 1)]:
                expect(f"bytes at {offset}", os.pread(file.fileno(), count, offset), os.pread(wanted.fileno(), count, offset))
        # Changes show within a second.
        names = os.listdir(there.folder)
        with open(os.path.join(source, "new.txt"), "w") as file:
            file.write("new")
        os.remove(os.path.join(source, "just"))
        with open(os.path.join(source, "empty"), "w") as file:
            file.write("not any more")
        time.sleep(1.05)
        now = os.listdir(there.folder)
        expect("what came and went", (sorted(set(now) - set(names)), sorted(set(names) - set(now))), (["new.txt"], ["just"]))
        expect("what is new in it", whole(there.path("empty")), b"not any more")
        expect("the new file", whole(there.path("new.txt")), b"new")
        expect("the gone file", failure(os.stat, there.path("just"))[0], errno.ENOENT)
    # A small file that is read by its name costs one request, with its folder one more in all.
    os.mkdir(os.path.join(source, "small"))
    os.mkdir(os.path.join(source, "many"))
    for number in range(400):
        with open(os.path.join(source, "many", f"{number} ü"), "wb") as file:
            file.write(b"%d" % number * number)
    for number in range(30):
        with open(os.path.join(source, "small", str(number)), "wb") as file:
            file.write(b"%d" % number * (number * 40))
    with Mount(ffmount, f"http://127.0.0.1:{server.port}", os.path.join(folder, "there")) as there:
        answers = lambda: sum(int(line.split()[1]) for line in server.ask("/metrics").body.splitlines() if line.startswith(b"ffserve_answers_total"))
        os.stat(there.path("small"))
        before = answers()
        read = [whole(there.path(f"small/{number}")) for number in range(30)]
        expect("small files", read, [b"%d" % number * (number * 40) for number in range(30)])
        count = answers() - before
        # The folder itself is asked for again while time passes.
        expect(f"requests for 30 small files: {count}", count <= 50, True)
        # Those of a folder, one after another in any order in which programs read, cost few requests.
        for order in (lambda entries: entries, lambda entries: sorted(entries, key=lambda entry: entry.name), lambda entries: sorted(entries, key=lambda entry: entry.inode())):
            time.sleep(3.2)
            before = answers()
            found = {entry.name: whole(entry.path) for entry in order(list(os.scandir(there.path("many"))))}
            expect("many small files", found, {f"{number} ü": b"%d" % number * number for number in range(400)})
            expect(f"requests for 400 small files: {answers() - before}", answers() - before <= 80, True)
        with open(os.path.join(source, "many", "399 ü"), "wb") as file:
            file.write(b"changed")
        time.sleep(1.05)
        expect("a changed one of many", whole(there.path("many/399 ü")), b"changed")
        with open(os.path.join(source, "small", "7"), "wb") as file:
            file.write(b"other")
        time.sleep(1.05)
        # A folder whose changes the server reports is not asked for again, and shows them.
        def quiet():
            """Whether five looks at the folder, each after what is known has expired, ask for nothing."""
            before = answers()
            for _ in range(5):
                time.sleep(.6)
                os.listdir(there.path("small"))
                os.stat(there.path("small/3"))
            return answers() - before - 1 <= 1
        os.listdir(there.path("small"))
        expect("a folder that does not change", any(quiet() for _ in range(4)), True)
        for step in (lambda: open(os.path.join(source, "small", "late"), "w").close(), lambda: os.remove(os.path.join(source, "small", "late"))):
            step()
            time.sleep(1.05)
            expect("its change", os.listdir(there.path("small")).count("late"), int(os.path.exists(os.path.join(source, "small", "late"))))
        expect("a changed small file", whole(there.path("small/7")), b"other")
    expect("the log of the mount", [line for line in there.said.splitlines() if "broken" not in line], [])
print("done")
