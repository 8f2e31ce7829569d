"""Runs daemons and their clients, and reads what they cost."""

import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CLIENTS = Path(__file__).with_name("clients.py")
TICKS = os.sysconf("SC_CLK_TCK")


class Failure(Exception):
    """Why a measurement has no figure, in a few words."""


@dataclass
class Sample:
    """What one piece of work cost: seconds and bytes. Without a daemon, the peak is a client's."""

    wall: float
    client_cpu: float
    daemon_cpu: float | None = None
    peak: int | None = None
    anonymous: int | None = None
    check: str = ""
    #: What a daemon has stored, before it was started again.
    kept: int | None = None


@contextmanager
def time_limit(seconds: float, kill: Callable[[], None]) -> Iterator[None]:
    """Calls `kill` from another thread when the body takes too long, and fails then."""
    expired = threading.Event()

    def expire() -> None:
        expired.set()
        kill()

    timer = threading.Timer(seconds, expire)
    timer.start()
    try:
        yield
    except Exception:
        if not expired.is_set():
            raise
    finally:
        timer.cancel()
    if expired.is_set():
        raise Failure(f"over {seconds:g} s")


def client(*arguments: object, python: str = sys.executable) -> list[list[str]]:
    """The pipeline of one client of `clients.py`, which times itself."""
    return [[python, str(CLIENTS), *map(str, arguments)]]


class AnonymousPeak:
    """The most anonymous memory that some processes have at a time, looked at every few milliseconds.

    `combine` makes one number of theirs: their sum, or the largest.
    """

    def __init__(
        self, processes: Callable[[], list[int]], combine: Callable[[list[int]], int] = sum, step: float = 0.004
    ) -> None:
        self.processes, self.combine, self.step, self.most = processes, combine, step, 0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "AnonymousPeak":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.thread.join()

    def _watch(self) -> None:
        while not self.ended.wait(self.step):
            self.most = max(self.most, self.combine([in_memory(process, "RssAnon") for process in self.processes()]))


def children(process: int = os.getpid()) -> list[int]:
    """The processes that a process has started and not yet waited for."""
    found = []
    try:
        for task in os.listdir(f"/proc/{process}/task"):
            found += map(int, Path(f"/proc/{process}/task/{task}/children").read_text().split())
    except (FileNotFoundError, ProcessLookupError):
        pass
    return found


def in_memory(process: int, field: str) -> int:
    """Bytes by a field of /proc/PID/status; 0 for a process that is gone."""
    try:
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def run_client(stages: list[list[str]], seconds: float, daemon: "Daemon | None" = None) -> Sample:
    """Runs a pipeline to its end, its output thrown away, and adds up its processes' CPU time."""
    processes: list[subprocess.Popen] = []
    # Linux counts this program's own memory towards a child: smaller values cannot be measured.
    floor = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    peak = None
    times_itself = str(CLIENTS) in stages[-1]

    def kill() -> None:
        # A client that waits for a daemon cannot be killed; the daemon can.
        if daemon is not None:
            daemon.kill()
        for process in processes:
            if process.returncode is None:
                os.kill(process.pid, signal.SIGKILL)

    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        with time_limit(seconds, kill):
            start, source, cpu = time.perf_counter(), None, 0.0
            for stage in stages:
                last = stage is stages[-1]
                sink = subprocess.PIPE if not last else output if times_itself else subprocess.DEVNULL
                process = subprocess.Popen(
                    stage, stdin=source or subprocess.DEVNULL, stdout=sink, stderr=errors
                )
                if source:
                    source.close()
                source = process.stdout
                processes.append(process)
            for process in processes:
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                cpu += usage.ru_utime + usage.ru_stime
                if usage.ru_maxrss * 1024 > floor:
                    peak = max(peak or 0, usage.ru_maxrss * 1024)
            wall = time.perf_counter() - start

        for stage, process in zip(stages, processes):
            if process.returncode != 0:
                errors.seek(0)
                said = errors.read(4000).decode(errors="replace").strip().splitlines() or ["failed"]
                raise Failure(f"{Path(stage[0]).name}: {said[-1][:150]}")
        if not times_itself:
            return Sample(wall, cpu, peak=peak)
        output.seek(0)
        wall_text, cpu_text, check = (output.read().decode() + " ").split(" ")[:3]
        return Sample(float(wall_text), float(cpu_text), peak=peak, check=check.strip())


class Daemon:
    """A file system in the foreground, mounted from `start` to `stop`."""

    def __init__(self, command: list[str], mountpoint: Path, cache: Path, seconds: float) -> None:
        self.command, self.mountpoint, self.cache, self.seconds = command, mountpoint, cache, seconds
        self.environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        """Starts the daemon and waits for its mount to be there."""
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            self.command,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )
        with time_limit(self.seconds, self.kill):
            while not is_mounted(self.mountpoint):
                if self.process.poll() is not None:
                    self.log.seek(0)
                    said = self.log.read(4000).decode(errors="replace").strip().splitlines()
                    raise Failure(f"did not mount: {said[-1][:150] if said else self.process.returncode}")
                time.sleep(0.0005)

    def stop(self) -> None:
        """Unmounts, and waits for the daemon to end; kills it when it does not."""
        if self.process is None:
            return
        for _ in range(50):
            if not is_mounted(self.mountpoint):
                break
            subprocess.run(
                ["fusermount3", "-u", str(self.mountpoint)], stderr=subprocess.DEVNULL, timeout=60
            )
            time.sleep(0.02)
        try:
            self.process.wait(30 if not is_mounted(self.mountpoint) else 0.1)
        except subprocess.TimeoutExpired:
            self.kill()
            self.process.wait()
        if is_mounted(self.mountpoint):
            subprocess.run(["fusermount3", "-u", "-z", str(self.mountpoint)], timeout=60)
        self.process = None
        self.log.close()

    def kill(self) -> None:
        if self.process is not None and self.process.returncode is None:
            for process in self.processes():
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass

    def processes(self) -> list[int]:
        """The daemon and its descendants: its workers are part of what it costs."""
        found = [self.process.pid]
        for process in found:
            found += children(process)
        return found

    def cpu(self) -> float:
        """CPU seconds so far, to the nanosecond but for children that ended (`man 5 proc`, cutime)."""
        total = 0.0
        for process in self.processes():
            try:
                # The process's CPU clock, computed as in clock_getcpuclockid(3).
                total += time.clock_gettime(~process << 3 | 2)
                fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
                total += (int(fields[13]) + int(fields[14])) / TICKS
            except (OSError, IndexError):
                pass
        return total

    def kept(self) -> int:
        """Bytes of the files that it has left."""
        return sum(path.stat().st_blocks * 512 for path in self.cache.rglob("*") if path.is_file())

    def workers(self) -> list[int]:
        return self.processes()[1:]

    def forget_peaks(self) -> None:
        """What comes is measured from what the workers have now: see `man 5 proc`, clear_refs."""
        for process in self.workers():
            Path(f"/proc/{process}/clear_refs").write_text("5")

    def memory(self, only_workers: bool = False) -> tuple[int, int]:
        """The peak of resident memory and what of it is anonymous now, in bytes."""
        processes = self.workers() if only_workers else self.processes()
        return tuple(sum(in_memory(process, field) for process in processes) for field in ("VmHWM", "RssAnon"))


def is_mounted(mountpoint: Path) -> bool:
    """Whether something is mounted there. Never waits for it to answer."""
    with open("/proc/self/mountinfo", "rb") as file:
        return b" %s " % os.fsencode(mountpoint) in file.read()
