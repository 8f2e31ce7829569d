"""soak.py FFMOUNT FOLDER CHANGES [PROCESSES]: one mount with -o rw, changed and read for long, and what each change costs it.

Several processes change files, folders and names, while all views of the source are known to the kernel, and read some of them.
Prints a line for each of up to 40 equal parts of the changes: the daemon's processor time for a change, its memory, descriptors,
threads and stack. Fails when the last parts have more of anything than the first ones, or when a change costs more than in a new
mount, which is changed in turn with the old one at the end: what a mount does must not depend on how long it has been there, and
whatever else runs here makes both dearer. The first 500 changes of a mount do not count.
"""
import itertools
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
import zipfile

ffmount, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
total, count = int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 2
WARM = 500
PARTS = max(2, min(40, (total - WARM) // 1000))
#: Of the comparison with a new mount: how often each is changed in turn, and how many changes that is.
ROUNDS, CHANGES = 5, 1000
#: The maximum of what the last parts may have, as a multiple of the first ones' or of the new mount's.
DEARER = 1.5
TICKS = os.sysconf("SC_CLK_TCK")


class Mount:
    """A source, its mount, and processes that change what is in it."""

    def __init__(self, name: str):
        self.source, self.mountpoint = os.path.join(folder, f"{name}-source"), os.path.join(folder, f"{name}-mount")
        self.workers: list[multiprocessing.Process] = []
        self.done, self.goal = multiprocessing.Array("q", count, lock=False), multiprocessing.Value("q", 0, lock=False)

    def __enter__(self):
        self.make()
        environment = {**os.environ, "XDG_CACHE_HOME": os.path.join(folder, "soak-cache")}
        self.daemon = subprocess.Popen([ffmount, "-f", "-o", "rw", self.source, self.mountpoint], env=environment)
        deadline = time.monotonic() + 20
        while not os.path.ismount(self.mountpoint):
            if self.daemon.poll() is not None or time.monotonic() > deadline:
                self.daemon.kill()
                sys.exit(f"cannot mount: status {self.daemon.poll()}")
            time.sleep(0.01)
        self.workers = [multiprocessing.Process(target=self.work, args=(number,), daemon=True) for number in range(count)]
        for worker in self.workers:
            worker.start()
        return self

    def __exit__(self, *_):
        for worker in self.workers:
            worker.terminate()
            worker.join()
        subprocess.run([ffmount, "-u", self.mountpoint], capture_output=True)
        try:
            self.daemon.wait(20)
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            raise

    def make(self) -> None:
        source = self.source
        for path in (source, self.mountpoint):
            shutil.rmtree(path, ignore_errors=True)
            os.makedirs(path)
        with zipfile.ZipFile(f"{source}/a.zip", "w") as archive:
            for number in range(20):
                archive.writestr(f"folder/{number}.txt", "x" * 1000)
        mail = "From a@example.org Fri May  3 10:00:00 2024\nFrom: a@example.org\nSubject: s\nDate: Fri, 3 May 2024 10:00:00 +0000\n\nx\n\n"
        with open(f"{source}/a.mbox", "w") as file:
            file.write(mail * 20)
        for part in ("cur", "new", "tmp"):
            os.makedirs(f"{source}/Maildir/{part}")
        for number in range(10):
            with open(f"{source}/Maildir/cur/{number}.M{number}.host:2,S", "w") as file:
                file.write(mail.split("\n", 1)[1])
        with open(f"{source}/t.csv", "w") as file:
            file.write("a,b\n1,2\n")
        for number in range(count):
            os.makedirs(f"{source}/work{number}/inner")

    def known(self) -> int:
        """Has the kernel look up all names; gives their number."""
        return sum(len([os.lstat(os.path.join(here, name)) for name in folders + files])
                   for here, folders, files in os.walk(self.mountpoint))

    def work(self, number: int) -> None:
        """Changes as often as it may."""
        here = f"{self.mountpoint}/work{number}"
        for index in itertools.count():
            while index >= self.goal.value // count:
                time.sleep(0.001)
            change(here, index)
            self.done[number] = index + 1
            if index % 20 == 0:
                self.look(index // 20)

    def look(self, number: int) -> None:
        """Reads something that does not change."""
        step = number % 4
        if step == 0:
            os.listdir(f"{self.mountpoint}/a.zip.contents/folder")
        elif step == 1:
            with open(f"{self.mountpoint}/a.zip.contents/folder/{number % 20}.txt", "rb") as file:
                assert file.read() == b"x" * 1000
        elif step == 2:
            os.listdir(f"{self.mountpoint}/a.mbox.messages")
        else:
            os.stat(f"{self.mountpoint}/t.csv")

    def changed(self, until: int) -> dict[str, float]:
        """Waits for so many changes in all; gives what the daemon has then, and what each change has cost since the last time."""
        before, old = self.cpu(), sum(self.done)
        # All wait for one another between two parts: so each has the same changes.
        self.goal.value = wanted = until // count * count
        while sum(self.done) < wanted:
            if any(worker.exitcode for worker in self.workers):
                sys.exit(f"a process failed after {sum(self.done)} changes")
            time.sleep(0.002)
        cost = (self.cpu() - before) / (wanted - old) * 1e6
        process = self.daemon.pid
        with open(f"/proc/{process}/status") as file:
            lines = dict(line.split(":", 1) for line in file if ":" in line)
        return {"changes": wanted, "cost": cost, "memory": int(lines["VmRSS"].split()[0]) / 1024,
                "descriptors": len(os.listdir(f"/proc/{process}/fd")), "threads": int(lines["Threads"]),
                "stack": int(lines["VmStk"].split()[0])}

    def cpu(self) -> float:
        with open(f"/proc/{self.daemon.pid}/stat") as file:
            words = file.read().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / TICKS


def change(here: str, number: int) -> None:
    """One change, each of which is made as often as the others."""
    one, other, inner = f"{here}/a", f"{here}/b", f"{here}/inner"
    step = number % 12
    if step == 0:
        os.close(os.open(one, os.O_CREAT | os.O_WRONLY, 0o644))
    elif step in (1, 2):
        with open(one, "ab") as file:
            file.write(b"y" * 100)
    elif step == 3:
        os.utime(one)
    elif step == 4:
        os.chmod(one, 0o600)
    elif step == 5:
        os.truncate(one, 50)
    elif step == 6:
        os.link(one, other)
    elif step == 7:
        os.rename(one, f"{inner}/c")
    elif step == 8:
        os.mkdir(f"{here}/new")
    elif step == 9:
        os.rmdir(f"{here}/new")
    elif step == 10:
        os.unlink(other)
    else:
        os.unlink(f"{inner}/c")


def measure(mount: Mount) -> list[str]:
    print(f"{mount.known()} names are known", flush=True)
    mount.changed(WARM)
    parts = []
    for part in range(1, PARTS + 1):
        now = mount.changed(WARM + (total - WARM) * part // PARTS)
        parts.append(now)
        print(f"{now['changes']:>9} changes: {now['cost']:6.0f} us each, {now['memory']:5.0f} MB, {now['descriptors']:.0f} descriptors, "
              f"{now['threads']:.0f} threads, stack {now['stack']:.0f} KB", flush=True)
    few = max(1, PARTS // 5)
    faults = []
    for what, room in (("memory", 16), ("descriptors", 8), ("threads", 12), ("stack", 64)):
        first, last = (min(part[what] for part in some) for some in (parts[:few], parts[-few:]))
        if last > first * 1.1 + room:
            faults.append(f"{what}: {last:.0f} in the end, {first:.0f} in the beginning")
    with Mount("new") as new:
        new.known()
        new.changed(WARM)
        costs: dict[Mount, list[float]] = {new: [], mount: []}
        for _ in range(ROUNDS):
            for each, found in costs.items():
                found.append(each.changed(sum(each.done) + CHANGES)["cost"])
    fresh, old = (min(found) for found in costs.values())
    print(f"a new mount: {fresh:.0f} us each, this one in turn with it: {old:.0f} us", flush=True)
    if old > fresh * DEARER + 5:
        faults.append(f"a change costs {old:.0f} us of processor time in the end, {fresh:.0f} us in a new mount")
    return faults


def main() -> int:
    with Mount("soak") as mount:
        faults = measure(mount)
    print("\n".join(faults) or "flat")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
