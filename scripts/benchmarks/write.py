"""`scripts/bench write`: `-o rw` beside bindfs and the bare folder, in turns: creating, renaming and removing 20,000
files, unpacking a TAR of 10,000, 2 GB in one file, `git clone` of a local repository, `make` of 400 targets; and reading
the results, beside the same folder mounted read-only. The mount of ffmount has served 100,000 changes before the first
row. Each figure is wall time and CPU time of the client and of the mount's processes. Sources are in memory where there
is room: on a disk, its file system's time for a new file, which can grow a hundredfold with files that were just removed,
would be most of the figure."""

import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from io import BytesIO
from pathlib import Path

#: The maximum of bindfs's wall and CPU time, in each row that changes files.
LIMIT = 0.7
#: The maximum of a read-only mount's time, in each row that reads.
READING_LIMIT = 1.03
#: The maximum of the bare folder's wall time for unpacking.
NATIVE_LIMIT = 4
FILES = 20_000
PACKED = 10_000
MEGABYTES = 2_000
CHANGES = 100_000
TARGETS = 400
#: One program for all: the round trips of its calls are most of the time.
CLIENT = r"""
import os, sys
work, root, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
if work == "age":
    os.mkdir(f"{root}/aged")
    for number in range(count // 4):
        name = f"{root}/aged/f{number % 1000}"
        file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.write(file, b"x")
        os.close(file)
        os.rename(name, name + ".old")
        if number % 2:
            os.unlink(name + ".old")
elif work == "make":
    data = b"x" * 4096
    for folder in range(20):
        os.mkdir(f"{root}/d{folder}")
    for number in range(count):
        file = os.open(f"{root}/d{number % 20}/f{number}.new", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        os.write(file, data)
        os.close(file)
elif work == "rename":
    for number in range(count):
        name = f"{root}/d{number % 20}/f{number}"
        os.rename(name + ".new", name)
elif work == "open":
    for number in range(count):
        file = os.open(f"{root}/d{number % 20}/f{number}", os.O_RDONLY)
        os.read(file, 65536)
        os.close(file)
elif work == "read":
    file = os.open(f"{root}/big", os.O_RDONLY)
    while os.read(file, 1 << 20):
        pass
    os.close(file)
elif work == "list":
    for path, folders, files in os.walk(root):
        for name in files:
            os.lstat(os.path.join(path, name))
elif work == "write":
    data = b"y" * (1 << 20)
    file = os.open(f"{root}/big", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    for _ in range(count):
        os.write(file, data)
    os.close(file)
elif work == "remove":
    for number in range(count):
        os.unlink(f"{root}/d{number % 20}/f{number}")
"""


def repository(folder: Path, files: int) -> None:
    """A repository of files of 1 to 8 KB, in one commit."""
    folder.mkdir()
    for number in range(files):
        path = folder / f"d{number % 40}" / f"f{number}.txt"
        path.parent.mkdir(exist_ok=True)
        lines = (f"{number} {line * number * 2654435761 % 1000003}\n" for line in range(100 + number % 400))
        path.write_text("".join(lines))
    git = ["git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=e@x"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
        subprocess.run([*git, *words], check=True)


def packed(path: Path, files: int) -> None:
    """A TAR of files of 1 to 8 KB in 100 directories."""
    with tarfile.open(path, "w") as archive:
        for number in range(files):
            data = (f"{number} ".encode() * 2000)[: 1024 + number * 7919 % 7168]
            entry = tarfile.TarInfo(f"t{number % 100}/f{number}")
            entry.size, entry.mtime = len(data), 1_700_000_000 + number
            archive.addfile(entry, BytesIO(data))


def project(folder: Path, targets: int) -> None:
    """A Makefile whose targets copy a source each, through a temporary file, and join the results."""
    folder.mkdir()
    names = [f"p{number}" for number in range(targets)]
    for name in names:
        (folder / f"{name}.in").write_text(f"{name}\n" * 200)
    (folder / "Makefile").write_text(
        f"all: whole\nwhole: {' '.join(name + '.out' for name in names)}\n\tcat $^ > $@.tmp && mv $@.tmp $@\n"
        "%.out: %.in\n\tsed s/p/q/ $< > $@.tmp && mv $@.tmp $@\n")


#: The contestants, and the options of their mounts.
CONTESTANTS = {"native": None, "bindfs": ["bindfs", "-f"], "ffmount": ["-o", "rw"], "read-only": ["-f"]}


class Mount:
    """A mount for as long as the block takes; none of the bare folder."""

    def __init__(self, name: str, binary: Path, source: Path, mountpoint: Path, cache: Path):
        words = CONTESTANTS[name]
        self.root = mountpoint if words else source
        program = [] if name == "bindfs" else [binary]
        self.command = [*program, *words, source, mountpoint] if words else None
        self.name, self.environment = name, {**os.environ, "XDG_CACHE_HOME": str(cache)}

    def __enter__(self) -> "Mount":
        if not self.command:
            return self
        self.child = subprocess.Popen(
            self.command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while not os.path.ismount(self.root):
            if self.child.poll() or time.monotonic() > end:
                self.end()
                sys.exit(f"bench: {self.name} did not mount")
            time.sleep(0.01)
        return self

    def __exit__(self, *_) -> None:
        if self.command:
            self.end()

    def processes(self) -> dict[int, float]:
        """The CPU seconds of the mount's processes: those that name the mountpoint, and their children."""
        found, named = {}, {self.child.pid}
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")
                fields = Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            found[int(entry)] = (int(fields[1]), int(fields[11]) + int(fields[12]))
            if os.fsencode(self.root) in words and b"-c" not in words:
                named.add(int(entry))
        ticks = os.sysconf("SC_CLK_TCK")
        return {pid: used / ticks for pid, (parent, used) in found.items() if pid in named or parent in named}

    def cpu(self) -> float:
        return sum(self.processes().values()) if self.command else 0

    def end(self) -> None:
        # A mount that hangs or is still in use is detached.
        for words in (["-u"], ["-uz"]):
            done = subprocess.run(["fusermount3", *words, self.root], capture_output=True)
            if done.returncode == 0:
                break
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        # A process in the background ends after its mount.
        limit = time.monotonic() + 10
        while self.processes() and time.monotonic() < limit:
            time.sleep(0.05)


def cost(mount: Mount, command: list) -> tuple[float, float]:
    """Runs a command. Returns wall and CPU seconds of it and of the mount's processes."""
    before, mine = mount.cpu(), resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    child = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL)
    try:
        if child.wait(600):
            sys.exit(f"bench: {command[-2:]} failed with {child.returncode}")
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    wall, now = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    own = now.ru_utime + now.ru_stime - mine.ru_utime - mine.ru_stime
    return wall, own + mount.cpu() - before


def run(base: Path, binary: Path, small: bool, only: list[str] | None, rounds: int = 3) -> tuple[str, dict, bool]:
    """The table, the same as a document, and whether the acceptance holds."""
    part = 20 if small else 1
    files, megabytes, entries, targets = FILES // part, MEGABYTES // part, PACKED // part, TARGETS // (4 if small else 1)
    memory = Path("/dev/shm")
    has_room = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 6 << 30
    scratch = Path(tempfile.mkdtemp(prefix="ffmount-write.", dir=memory if has_room else base))

    def client(work: str, count: int):
        return lambda root: [sys.executable, "-c", CLIENT, work, root, str(count)]

    changing = {
        f"create {files:,} of 4 KB": client("make", files),
        f"rename {files:,}": client("rename", files),
        f"write {megabytes / 1000:g} GB": client("write", megabytes),
        f"untar {entries:,}": lambda root: ["tar", "-xf", scratch / "packed.tar", "-C", root],
        "git clone": lambda root: ["git", "clone", "-q", "--no-hardlinks", scratch / "repository", root / "clone"],
        f"make {targets}": lambda root: ["make", "-s", "-j2", "-C", root / "project"],
    }
    reading = {
        f"open and read {files:,}": client("open", files),
        f"read {megabytes / 1000:g} GB": client("read", megabytes),
        "list and stat all": client("list", 0),
    }
    removing = {f"unlink {files:,}": client("remove", files)}
    costs: dict[str, dict[str, list[tuple[float, float]]]] = {}
    try:
        (scratch / "mnt").mkdir()
        repository(scratch / "repository", 200 if small else 4000)
        packed(scratch / "packed.tar", entries)
        for number in range(rounds):
            for name in ("native", "bindfs", "ffmount"):
                source = scratch / f"{name}{number}"
                source.mkdir()
                project(source / "project", targets)

                def measure(one: str, rows: dict, age: bool = False) -> None:
                    with Mount(one, binary, source, scratch / "mnt", scratch / "cache") as mount:
                        if age:
                            cost(mount, client("age", CHANGES // part)(mount.root))
                        for row, command in rows.items():
                            costs.setdefault(row, {}).setdefault(one, []).append(cost(mount, command(mount.root)))

                measure(name, changing, age=name == "ffmount")
                # The files that are read were made by an earlier mount.
                for row, command in reading.items():
                    for one in [name, "read-only"] if name == "ffmount" else [name]:
                        measure(one, {row: command})
                measure(name, removing)
                shutil.rmtree(source)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    wanted = {row: found for row, found in costs.items() if not only or any(part in row for part in only)}
    return table(wanted, rounds)


def table(costs: dict[str, dict[str, list[tuple[float, float]]]], rounds: int) -> tuple[str, dict, bool]:
    holds, lines, rows = True, [], {}
    for row, found in costs.items():
        wall, cpu = ({name: statistics.median(run[part] for run in runs) for name, runs in found.items()} for part in (0, 1))
        is_reading = "read-only" in wall
        peer, limit = ("read-only", READING_LIMIT) if is_reading else ("bindfs", LIMIT)
        ratios = [part["ffmount"] / part[peer] for part in (wall, cpu)]
        native = wall["ffmount"] / wall["native"]
        holds = holds and max(ratios) <= limit and not (row.startswith("untar") and native > NATIVE_LIMIT)
        rows[row] = {"wall": wall, "cpu": cpu, "ratios": ratios, "native": native, "each": found}
        lines.append(
            f"{row:24}" + "".join(f"{name} {wall[name]:6.2f} s (cpu {cpu[name]:5.2f})  " for name in wall)
            + f"of {peer}: wall {ratios[0]:.2f}, cpu {ratios[1]:.2f} (at most {limit}); of native: wall {native:.2f}")
    return "\n".join(lines), {"load": os.getloadavg(), "rounds": rounds, "rows": rows}, holds
