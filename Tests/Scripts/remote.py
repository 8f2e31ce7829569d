"""A mount of a server, for a test: `ffmount http://…` in the foreground, until the `with` ends."""
import os
import subprocess
import tempfile
import time

from serving import state


def complain(what):
    print(what, flush=True)


def expect(what, found, wanted):
    if found != wanted:
        complain(f"{what}: {str(found)[:500]!r} instead of {str(wanted)[:500]!r}")


def refusal(program, folder, what, address, *expected, options=(), limit=40):
    """Mounts an address, which has to fail with these words. Returns what is said."""
    ended = subprocess.run([program, address, folder, *options], capture_output=True, text=True, timeout=limit)
    if ended.returncode == 0 or any(word not in ended.stderr for word in expected):
        complain(f"{what}: {ended.returncode}, {ended.stderr!r}")
    if ended.returncode == 0:
        subprocess.run(["fusermount3", "-uz", folder])
    return ended.stderr


def threads(pid):
    """The threads of a process that does not end, and those of its children: state, name and what each waits for."""
    found = []
    for task in sorted(os.listdir(f"/proc/{pid}/task"), key=int):
        place = f"/proc/{pid}/task/{task}"
        parts = [state(f"{place}/stat")]
        for name in ("comm", "wchan", "syscall", "children"):
            try:
                with open(f"{place}/{name}") as file:
                    parts.append(file.read().strip())
            except OSError as error:
                parts.append(error.strerror)
        found.append(f"{task} " + "; ".join(parts))
        found += [threads(child) for child in parts[-1].split() if child.isdigit()]
    return "\n".join(found)


class Mount:
    """`ended` is what it ended with; it must be 0, and it must take no longer than some seconds to end."""

    def __init__(self, program, source, folder, *options):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self.words = [program, "-f", *options, source, folder]

    def __enter__(self):
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stderr=self.log)
        for _ in range(1000):
            if os.path.ismount(self.folder):
                return self
            if self.process.poll() is not None:
                raise SystemExit(f"{self.words}: it ended: {self.said}")
            time.sleep(0.02)
        self.process.kill()
        raise SystemExit(f"{self.words}: it does not mount: {self.said}")

    def __exit__(self, *_):
        # Commands of other tests look at all mounts.
        until = time.monotonic() + 20
        while subprocess.run(["fusermount3", "-u", self.folder], timeout=20, capture_output=True).returncode:
            if self.process.poll() is not None or time.monotonic() > until:
                break
            time.sleep(0.1)
        try:
            self.ended = self.process.wait(60)
        except subprocess.TimeoutExpired:
            waiting = threads(self.process.pid)
            self.process.kill()
            subprocess.run(["fusermount3", "-uz", self.folder])
            raise SystemExit(f"it does not end when it is unmounted: {self.said}\n{waiting}")
        expect("its end", self.ended, 0)

    @property
    def said(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    @property
    def memory(self):
        """Resident, in MB."""
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20

    def path(self, name):
        return os.path.join(self.folder, name)


def failure(body, *arguments):
    """The errno that a call fails with and how long it took; 0 if it does not fail."""
    began = time.monotonic()
    try:
        body(*arguments)
        return 0, time.monotonic() - began
    except OSError as error:
        return error.errno, time.monotonic() - began


def whole(path):
    with open(path, "rb") as file:
        return file.read()


def attribute(path, name):
    try:
        return os.getxattr(path, "user.ffmount." + name).decode()
    except OSError:
        return ""


def commands():
    """The words of all other processes, by their numbers."""
    found = {}
    for pid in os.listdir("/proc"):
        if pid.isdigit() and int(pid) != os.getpid():
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as words:
                    found[int(pid)] = words.read().decode(errors="replace").split("\0")
            except OSError:
                pass
    return found


def processes(word, programs=("ffmount", "ffremote", "ffkeep", "fusermount")):
    """The numbers of the processes with a word in their command lines, and the name of one of the programs."""
    texts = {pid: "\0".join(words) for pid, words in commands().items()}
    return [pid for pid, text in texts.items() if word in text and any(program in text for program in programs)]


def readers(word):
    """The processes of ffremote with a word in their command lines, without their supervisors."""
    return [pid for pid, words in commands().items() if words[0].endswith("ffremote") and any(word in part for part in words)]
