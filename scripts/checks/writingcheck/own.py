"""The works whose scripts are the project's own, in Tests/Scripts; the short forms of some are among its tests."""

import os
import subprocess
import time
from pathlib import Path

from .mounted import PYTHON, SCRIPTS, Mount, Run, Wrong


def build_failing(folder: Path) -> None:
    libraries = subprocess.run(["pkg-config", "--cflags", "--libs", "fuse3"], stdout=subprocess.PIPE, text=True, check=True)
    source = Path(__file__).parent / "failing.c"
    subprocess.run(["cc", "-O1", "-o", folder / "failing", source, *libraries.stdout.split()], check=True)


def model(run: Run) -> str:
    """Random operations of two processes, compared with what a bare folder answers."""
    return run.tried("modelled.py", run.operations, run.seed)


def links(run: Run) -> str:
    """A file by two names, or after one of them went."""
    return run.tried("linked.py")


def locks(run: Run) -> str:
    """Locks of ranges while the mode of their file changes; only an ordinary user's mount is refused by modes."""
    return run.tried("locked.py", run.seconds * 20, run.seed)


def saves(run: Run) -> str:
    """The ways in which programs save, each call compared with a bare folder."""
    run.tried("saved.py")
    return "nine ways to save, four kinds of files"


def mail(run: Run) -> str:
    """Delivery to mailboxes with locks, to mail folders, by procmail, and by those who write on after link and unlink."""
    count = max(10, min(1000, run.seconds))
    for name in ("mbox", "maildir", "written_on", "procmail"):
        part = Run(run.binary, run.folder / name, run.programs, run.seconds, run.seed, run.operations, run.kills)
        part.tried("delivered.py", count, first=(name,))
    return f"{count} messages of each deliverer in four ways"


def outside(run: Run) -> str:
    """The source changes while files are open."""
    return run.tried("grown.py")


def age(run: Run) -> str:
    """What a change costs does not grow with their number; scripts/check soak makes more of them."""
    return run.script("soak.py", run.binary, run.folder, max(10_000, run.seconds * 200)).splitlines()[-1]


def signals(run: Run) -> str:
    """Who gets signals while he writes is not told EINTR."""
    return run.tried("signalled.py", run.seconds)


def accounts(run: Run, engines: list[str]) -> str:
    said = []
    for engine in engines:
        part = Run(run.binary, run.folder / engine, run.programs, run.seconds, run.seed, run.operations, run.kills)
        said.append(part.tried("accounts.py", max(5, run.seconds // len(engines)), run.seed, first=(engine,)))
    return "; ".join(said)


def sqlite(run: Run) -> str:
    """Killed writers and readers of one database, in each of its journals."""
    return accounts(run, [f"sqlite-{name}" for name in ("delete", "truncate", "persist", "wal", "wal-mapped")])


def lmdb(run: Run) -> str:
    """The same with a database that is a shared map."""
    return accounts(run, ["lmdb", "lmdb-mapped"])


def errors(run: Run) -> str:
    """A source that fails: each error is told as it is, and nothing is lost that was said to be done."""
    rules, backing = run.folder / "rules", run.folder / "backing"
    rules.touch()
    backing.mkdir()
    mount = Mount(run.binary, run.folder)
    below = subprocess.Popen([run.programs / "failing", rules, backing, mount.source, "-f"], stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 20
        while not os.path.ismount(mount.source):
            if below.poll() is not None or time.monotonic() > end:
                raise Wrong("the source is not mounted")
            time.sleep(0.01)
        # What it logs is what it is asked to fail with.
        mount.process = subprocess.Popen([run.binary, "-f", "-o", mount.options, mount.source, mount.path], stderr=subprocess.DEVNULL)
        while not os.path.ismount(mount.path):
            if mount.process.poll() is not None or time.monotonic() > end:
                raise Wrong("it did not mount")
            time.sleep(0.01)
        said, kind = "", Wrong
        try:
            said = run.script("failing.py", mount.source, mount.path, rules, backing)
            kind = None
        finally:
            mount.__exit__(kind)
    finally:
        subprocess.run(["fusermount3", "-uz", mount.source], stderr=subprocess.DEVNULL, check=False)
        below.wait(20)
    return ", ".join(said.splitlines())


def kills(run: Run) -> str:
    """SIGKILL at random moments of a write load: what was synced must be there."""
    for name in ("source", "mount"):
        (run.folder / name).mkdir()
    words = [run.binary, run.folder / "source", run.folder / "mount", run.kills, run.seed]
    return run.call(PYTHON, "-B", SCRIPTS / "killed.py", *words, limit=run.kills * 60 + 600).strip()
