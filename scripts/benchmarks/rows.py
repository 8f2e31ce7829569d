"""What is measured, on whom, and in which order."""

import contextlib
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path

from .measure import AnonymousPeak, Daemon, Failure, Sample, children, run_client

Stages = list[list[str]]


@dataclass(frozen=True)
class Contestant:
    """A file system: how to run it in the foreground, or None for real files.

    `command` takes the source, the mountpoint and a folder for whatever it keeps.
    """

    name: str
    command: Callable[[Path, Path, Path], list[str]] | None


@dataclass(frozen=True)
class Row:
    """One piece of work, done by a client on a mounted tree."""

    name: str
    #: The client's pipeline, given the root of the tree and a scratch folder.
    work: Callable[[Path, Path], Stages] | None = None
    #: Mounts first, which counts. A session's first row is one; a later one is a remount.
    mounts: bool = False
    #: The same work without a file system.
    limits: dict[str, Stages] = field(default_factory=dict)
    unit: str = "s"
    #: Work that is done before, on the mount alone, and does not count.
    warm: Callable[[Path], Stages] | None = None
    #: Memory is that of the daemon's workers, and the anonymous part is a peak, too.
    counts_workers: bool = False
    #: The anonymous part of memory is a peak, of the daemon and its workers together.
    counts_all: bool = False


@dataclass(frozen=True)
class Session:
    """Rows measured one after the other on one fresh mount with nothing kept from before."""

    source: Path
    #: The same tree as real files.
    native: Path | None
    contestants: list[Contestant]
    rows: list[Row]


class Results:
    """The samples of each row and contestant, and why there are none."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.samples: dict[tuple[str, str], list[Sample]] = {}
        self.failures: dict[tuple[str, str], str] = {}

    def contestants(self, row: str) -> list[str]:
        return [name for of, name in [*self.samples, *self.failures] if of == row]

    def median(self, row: str, contestant: str) -> Sample | None:
        samples = self.samples.get((row, contestant))
        if not samples or (row, contestant) in self.failures:
            return None
        figures = {"check": samples[0].check}
        for name in (column.name for column in fields(Sample) if column.name != "check"):
            present = [value for sample in samples if (value := getattr(sample, name)) is not None]
            figures[name] = statistics.median(present) if present else None
        return Sample(**figures)


def run(sessions: list[Session], rounds: int, seconds: float, scratch: Path) -> Results:
    """Measures every session `rounds` times, the contestants taking turns."""
    results = Results()
    for session in sessions:
        for row in session.rows:
            assert row.name not in results.rows, f"two rows are named {row.name!r}"
            results.rows[row.name] = row
        turns = [lambda c=c: _mounted(session, c, seconds, scratch, results) for c in session.contestants]
        for row in session.rows:
            for name, stages in row.limits.items():
                turns.append(lambda r=row, n=name, s=stages: _unmounted(r, n, s, seconds, results))
        if not turns:
            continue
        _warm(session)
        for turn in range(rounds):
            # The order rotates from round to round.
            for take in turns[turn % len(turns) :] + turns[: turn % len(turns)]:
                take()
    _compare_checks(results)
    return results


def _mounted(
    session: Session, contestant: Contestant, seconds: float, scratch: Path, results: Results
) -> None:
    mountpoint = Path(tempfile.mkdtemp(prefix="ffmount-bench."))
    cache = Path(tempfile.mkdtemp(prefix="cache.", dir=scratch))
    copies = Path(tempfile.mkdtemp(prefix="copies.", dir=scratch))
    daemon, root = None, session.native
    if contestant.command is not None:
        daemon = Daemon(contestant.command(session.source, mountpoint, cache), mountpoint, cache, seconds)
        root = mountpoint
    try:
        for index, row in enumerate(session.rows):
            key = (row.name, contestant.name)
            if key in results.failures:
                raise Failure(results.failures[key])
            sample = _measure(row, index, daemon, root, copies, seconds)
            results.samples.setdefault(key, []).append(sample)
            _say(*key, _figures(sample))
    except Failure as failure:
        # Later rows of this session cannot be measured either.
        for later, row in enumerate(session.rows[index:]):
            reason = str(failure) if later == 0 else f"not tried: {session.rows[index].name} failed"
            if results.failures.setdefault((row.name, contestant.name), reason) is reason:
                _say(row.name, contestant.name, reason)
    finally:
        if daemon is not None:
            daemon.stop()
        with contextlib.suppress(OSError):
            mountpoint.rmdir()
        shutil.rmtree(cache, ignore_errors=True)
        shutil.rmtree(copies, ignore_errors=True)


def _measure(
    row: Row, index: int, daemon: Daemon | None, root: Path, copies: Path, seconds: float
) -> Sample:
    before = started = 0.0
    kept = None
    if daemon is not None:
        if index == 0 or row.mounts:
            daemon.stop()
            kept = daemon.kept() if index > 0 else None
            start = time.perf_counter()
            daemon.start()
            started = time.perf_counter() - start
            if not row.mounts:
                # The first reply is waited for but not counted.
                run_client([["ls", str(root)]], seconds, daemon)
        if row.warm:
            run_client(row.warm(root), seconds, daemon)
        if row.counts_workers:
            daemon.forget_peaks()
        if not row.mounts:
            before = daemon.cpu()
    stages = row.work(root, copies) if row.work else [["ls", str(root)]]
    processes = (daemon.processes if row.counts_all else daemon.workers) if daemon else list
    sample = _watched(row, processes, stages, seconds, daemon)
    if row.mounts:
        sample.wall += started
    if daemon is not None:
        sample.daemon_cpu = daemon.cpu() - before
        sample.kept = kept
        sample.peak, anonymous = daemon.memory(only_workers=row.counts_workers)
        if sample.anonymous is None:
            sample.anonymous = anonymous
    return sample


def _watched(
    row: Row, processes: Callable[[], list[int]], stages: Stages, seconds: float, daemon: Daemon | None = None
) -> Sample:
    """Runs a client, and where a row wants it, looks at the processes' memory meanwhile."""
    if not row.counts_workers and not row.counts_all:
        return run_client(stages, seconds, daemon)
    with AnonymousPeak(processes, step=0.03 if row.counts_all else 0.004) as anonymous:
        sample = run_client(stages, seconds, daemon)
    sample.anonymous = anonymous.most
    return sample


def _unmounted(row: Row, name: str, stages: Stages, seconds: float, results: Results) -> None:
    key = (row.name, name)
    if key in results.failures:
        return
    try:
        sample = _watched(row, children, stages, seconds)
        results.samples.setdefault(key, []).append(sample)
        _say(*key, f"{sample.wall:.6f}")
    except Failure as failure:
        results.failures[key] = str(failure)
        _say(*key, str(failure))


def _warm(session: Session) -> None:
    """Reads the source and the real files once, so that everybody finds them in memory."""
    for path in {session.source, session.native} - {None}:
        run_client([["tar", "-cf", "-", str(path)], ["cat"]], 900)


def _compare_checks(results: Results) -> None:
    """A contestant that read other bytes than the first one has no figure."""
    for row in results.rows:
        expected = ""
        for name in results.contestants(row):
            for sample in results.samples.get((row, name), []):
                expected = expected or sample.check
                if sample.check and sample.check != expected:
                    results.failures[row, name] = "read other bytes"


def _figures(sample: Sample) -> str:
    """All there is, so that a run that is cut off has told it."""
    text = f"{sample.wall:.6f}"
    if sample.daemon_cpu is not None:
        text += f"  cpu {sample.daemon_cpu:.3f}"
    for name, count in {"peak": sample.peak, "anon": sample.anonymous, "kept": sample.kept}.items():
        text += f"  {name} {count / 1e6:.1f}" if count is not None else ""
    return text


def _say(row: str, contestant: str, what: str) -> None:
    print(f"  {row:<34} {contestant:<12} {what}", file=sys.stderr, flush=True)
