"""soak.py FFMOUNT FOLDER CHANGES [PROCESSES]: one mount with -o rw, changed and read for long, and what each change costs it.

Several processes change files, folders and names, while all views of the source are known to the kernel, and read some of them.
Prints a line for each of up to 40 equal parts of the changes: the daemon's processor time for a change, its memory, descriptors,
threads and stack. Fails when the last parts cost more than the first ones, or have more of anything: what a mount does must not
depend on how long it has been there. The first 500 changes do not count.
"""
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
#: The maximum of what the last parts may have, as a multiple of the first ones'.
DEARER = 1.5
TICKS = os.sysconf("SC_CLK_TCK")
source, mountpoint = os.path.join(folder, "soak-source"), os.path.join(folder, "soak-mount")


def make() -> None:
    for path in (source, mountpoint):
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


def known(path: str) -> int:
    """Has the kernel look up all names below a folder; gives their number."""
    return sum(len([os.lstat(os.path.join(here, name)) for name in folders + files]) for here, folders, files in os.walk(path))


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


def look(number: int) -> None:
    """Reads something that does not change."""
    step = number % 4
    if step == 0:
        os.listdir(f"{mountpoint}/a.zip.contents/folder")
    elif step == 1:
        with open(f"{mountpoint}/a.zip.contents/folder/{number % 20}.txt", "rb") as file:
            assert file.read() == b"x" * 1000
    elif step == 2:
        os.listdir(f"{mountpoint}/a.mbox.messages")
    else:
        os.stat(f"{mountpoint}/t.csv")


def work(number: int, done: list, goal: object) -> None:
    """Changes as often as it may."""
    here = f"{mountpoint}/work{number}"
    for index in range(total // count):
        while index >= goal.value // count:
            time.sleep(0.001)
        change(here, index)
        done[number] = index + 1
        if index % 20 == 0:
            look(index // 20)


def state(process: int) -> dict[str, float]:
    with open(f"/proc/{process}/stat") as file:
        words = file.read().rsplit(")", 1)[1].split()
    with open(f"/proc/{process}/status") as file:
        lines = dict(line.split(":", 1) for line in file if ":" in line)
    return {"cpu": (int(words[11]) + int(words[12])) / TICKS, "memory": int(lines["VmRSS"].split()[0]) / 1024,
            "descriptors": len(os.listdir(f"/proc/{process}/fd")), "threads": int(lines["Threads"]),
            "stack": int(lines["VmStk"].split()[0])}


def measure(process: int) -> list[str]:
    done, goal = multiprocessing.Array("q", count, lock=False), multiprocessing.Value("q", 0, lock=False)
    workers = [multiprocessing.Process(target=work, args=(number, done, goal)) for number in range(count)]
    for worker in workers:
        worker.start()
    parts = []
    before = None
    try:
        for part in range(PARTS + 1):
            # All wait for one another between two parts: so each has the same changes.
            goal.value = wanted = (WARM + (total - WARM) * part // PARTS) // count * count
            while sum(done) < wanted:
                if any(worker.exitcode for worker in workers):
                    return [f"a process failed after {sum(done)} changes"]
                time.sleep(0.002)
            now = state(process)
            if before:
                cost = (now["cpu"] - before["cpu"]) / (wanted - before["changes"]) * 1e6
                parts.append({**now, "cost": cost})
                print(f"{wanted:>9} changes: {cost:6.0f} us each, {now['memory']:5.0f} MB, {now['descriptors']:.0f} descriptors, "
                      f"{now['threads']:.0f} threads, stack {now['stack']:.0f} KB", flush=True)
            before = {**now, "changes": wanted}
    finally:
        for worker in workers:
            if not parts or len(parts) < PARTS:
                worker.terminate()
            worker.join()
    few = max(1, PARTS // 5)
    faults = []
    # What else runs here makes parts dearer, never cheaper.
    first, last = (min(part["cost"] for part in some) for some in (parts[:few], parts[-few:]))
    # A short run has few ticks of the clock in each part, and other tests beside it.
    if last > first * DEARER + (5 if total >= 1_000_000 else 60):
        faults.append(f"a change costs {last:.0f} us of processor time in the end, {first:.0f} us in the beginning")
    for what, room in (("memory", 16), ("descriptors", 8), ("threads", 12), ("stack", 64)):
        first, last = (min(part[what] for part in some) for some in (parts[:few], parts[-few:]))
        if last > first * 1.1 + room:
            faults.append(f"{what}: {last:.0f} in the end, {first:.0f} in the beginning")
    return faults


def main() -> int:
    make()
    environment = {**os.environ, "XDG_CACHE_HOME": os.path.join(folder, "soak-cache")}
    daemon = subprocess.Popen([ffmount, "-f", "-o", "rw", source, mountpoint], env=environment)
    try:
        deadline = time.monotonic() + 20
        while not os.path.ismount(mountpoint):
            if daemon.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"cannot mount: status {daemon.poll()}")
            time.sleep(0.01)
        print(f"{known(mountpoint)} names are known", flush=True)
        faults = measure(daemon.pid)
    finally:
        subprocess.run([ffmount, "-u", mountpoint], capture_output=True)
        try:
            daemon.wait(20)
        except subprocess.TimeoutExpired:
            daemon.kill()
            faults = ["the mount does not end"]
    print("\n".join(faults) or "flat")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
