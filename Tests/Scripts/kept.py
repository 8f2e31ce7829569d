"""kept.py FFMOUNT KILLS [SOURCE] [READERS]

Ends the process that serves a mount KILLS times, 2 to 200 ms apart, while READERS processes use it in every way that programs
do, and compare each byte with what an unkept mount gave. Prints a line for each error that anybody saw, and a summary; exits
with 1 if there was one.
"""
import hashlib
import mmap
import multiprocessing
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback


def snapshot(root):
    """Each file's size and SHA-256, and each folder's names, by path; what changes by itself is left out."""
    files, folders = {}, {}
    for folder, names, others in os.walk(root):
        path = os.path.relpath(folder, root)
        folders[path] = sorted(names + others)
        for name in others:
            whole = os.path.join(folder, name)
            if os.path.islink(whole):
                continue
            with open(whole, "rb") as file:
                files[os.path.normpath(os.path.join(path, name))] = hashlib.sha256(file.read()).hexdigest()
    return files, folders


def digest(data):
    return hashlib.sha256(data).hexdigest()


class Reader:
    """One program that uses the mount; each way is a method that raises when something is wrong."""

    def __init__(self, root, files, folders, seed):
        self.root, self.files, self.folders = root, files, folders
        self.random = random.Random(seed)
        self.names = sorted(files)

    def some(self):
        name = self.random.choice(self.names)
        return name, os.path.join(self.root, name), self.files[name]

    def whole(self):
        name, path, expected = self.some()
        with open(path, "rb") as file:
            assert digest(file.read()) == expected, name

    def pieces(self):
        name, path, expected = self.some()
        with open(path, "rb", buffering=0) as file:
            parts = []
            while part := file.read(self.random.choice([1000, 4096, 50000])):
                parts.append(part)
                time.sleep(self.random.random() / 100)
            assert digest(b"".join(parts)) == expected, name

    def kept(self):
        name, path, expected = self.some()
        with open(path, "rb", buffering=0) as file:
            for _ in range(4):
                time.sleep(self.random.random() / 10)
                file.seek(0)
                data = b""
                while part := file.read(1 << 20):
                    data += part
                assert digest(data) == expected, name

    def mapped(self):
        name, path, expected = self.some()
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size == 0:
                return
            with mmap.mmap(file.fileno(), size, prot=mmap.PROT_READ) as view:
                time.sleep(self.random.random() / 20)
                assert digest(view[:]) == expected, name

    def inside(self):
        folder = self.random.choice(sorted(self.folders))
        before = os.open(".", os.O_RDONLY)
        os.chdir(os.path.join(self.root, folder))
        self.at = folder
        try:
            for _ in range(3):
                time.sleep(self.random.random() / 20)
                assert sorted(os.listdir(".")) == self.folders[folder], folder
                for name in self.folders[folder][:3]:
                    os.stat(name)
        finally:
            os.fchdir(before)
            os.close(before)

    def half(self):
        folder = self.random.choice(sorted(self.folders))
        seen = []
        with os.scandir(os.path.join(self.root, folder)) as entries:
            for entry in entries:
                seen.append(entry.name)
                if self.random.random() < 0.1:
                    time.sleep(0.02)
        assert sorted(seen) == self.folders[folder], f"{folder}: {len(seen)} of {len(self.folders[folder])}"

    def walk(self):
        count = sum(len(names) + len(others) for _, names, others in os.walk(self.root, onerror=self.fail))
        expected = sum(len(names) for names in self.folders.values())
        assert count == expected, f"{count} entries instead of {expected}"

    def fail(self, error):
        raise error

    def packed(self):
        done = subprocess.run(["tar", "-C", self.root, "-cf", "-", "."], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert done.returncode == 0, done.stderr.decode()[:300]

    ways = ["whole", "pieces", "kept", "mapped", "inside", "half", "walk", "packed"]


def use(root, files, folders, number, end, told):
    reader = Reader(root, files, folders, number)
    way = Reader.ways[number % len(Reader.ways)]
    rounds = 0
    while not end.is_set():
        try:
            getattr(reader, way)()
        except Exception as error:
            told.put(f"{way}: {type(error).__name__} {error} {getattr(reader, 'at', '')}")
            if told.qsize() > 50:
                return
        rounds += 1
    told.put(rounds)


def children(process):
    text = pathlib.Path(f"/proc/{process}/task/{process}/children").read_text()
    return [int(number) for number in text.split()]


def main():
    program, kills = sys.argv[1], int(sys.argv[2])
    source = sys.argv[3] if len(sys.argv) > 3 else str(pathlib.Path(__file__).resolve().parents[2] / "scripts/sample")
    readers = int(sys.argv[4]) if len(sys.argv) > 4 else 16
    longest = float(os.environ.get("KEPT_LONGEST_MS", "200"))
    root = tempfile.mkdtemp()
    subprocess.run([program, source, root], check=True)
    files, folders = snapshot(root)
    subprocess.run([program, "-u", root], check=True)
    keeper = subprocess.Popen([program, "-f", "-o", "supervise=on", source, root])
    while not os.path.ismount(root):
        time.sleep(0.01)
    end, told = multiprocessing.Event(), multiprocessing.Queue()
    users = [
        multiprocessing.Process(target=use, args=(root, files, folders, number, end, told)) for number in range(readers)
    ]
    for user in users:
        user.start()
    time.sleep(0.5)
    done, errors, rounds, ended = 0, [], 0, 0
    start = time.time()
    dead = None
    while done < kills and keeper.poll() is None:
        time.sleep(random.uniform(0.002, longest / 1000))
        for child in children(keeper.pid):
            if child != dead:
                os.kill(child, signal.SIGKILL)
                dead = child
                done += 1
    taken = time.time() - start
    time.sleep(1)
    end.set()
    limit = time.time() + 60
    while ended < readers and time.time() < limit:
        try:
            said = told.get(timeout=1)
        except Exception:
            continue
        if isinstance(said, int):
            rounds, ended = rounds + said, ended + 1
        else:
            errors.append(said)
    for user in users:
        user.join(5)
    hung = sum(user.is_alive() for user in users)
    for number, user in enumerate(users):
        if user.is_alive():
            print("hangs:", Reader.ways[number % len(Reader.ways)], pathlib.Path(f"/proc/{user.pid}/wchan").read_text(),
                  pathlib.Path(f"/proc/{user.pid}/syscall").read_text().strip())
    if hung:
        for waits in pathlib.Path("/sys/fs/fuse/connections").glob("*/waiting"):
            print(waits, waits.read_text().strip())
        if os.environ.get("KEPT_STOP"):
            print("keeper", keeper.pid, "children", children(keeper.pid), root)
            sys.stdout.flush()
            time.sleep(float(os.environ["KEPT_STOP"]))
    for user in users:
        user.kill()
    rss = [
        line.split()[1] for process in [keeper.pid, *children(keeper.pid)]
        for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines() if line.startswith("VmRSS")
    ]
    subprocess.run([program, "-u", "-z", root])
    try:
        keeper.wait(10)
    except subprocess.TimeoutExpired:
        errors.append("the keeper did not end")
        keeper.kill()
    os.rmdir(root)
    for error in sorted(set(errors))[:20]:
        print(f"{errors.count(error)} x {error}")
    if hung:
        print(f"{hung} readers hung")
    print(f"{done} kills in {taken:.0f} s, {readers} readers, {rounds} rounds, {len(errors)} errors, kB {' '.join(rss)}")
    sys.exit(1 if errors or hung or done < kills else 0)


main()
