"""`scripts/bench find`: an index of everything below a folder and questions to it, beside Recoll, ripgrep, and the reading alone."""

import collections
import ctypes
import os
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from . import find_tree
from .measure import AnonymousPeak, Daemon, Failure, children

US, RECOLL, RIPGREP, RGA = "ffmount", "recoll", "ripgrep", "rga"
#: The acceptance limits: shares of other figures, seconds, bytes.
LIMITS = {
    "cpu of recollindex": 0.5,
    "cpu of the texts": 1.2,
    "size of the texts": 0.2,
    "size of recoll": 0.3,
    "query": 0.05,
    "command": 0.1,
    "changed seconds": 1.0,
    "changed bytes": 1_000_000,
    "memory": 100_000_000,
}
WHOLE, SMALL = 10_000, 1_000
MANY, FEW = 100_000, 10_000
#: Files whose text is that of `.as-txt`.
CONVERTED = {
    ".docx",
    ".odt",
    ".rtf",
    ".pptx",
    ".odp",
    ".xlsx",
    ".ods",
    ".epub",
    ".pdf",
    ".html",
    ".htm",
    ".xhtml",
    ".doc",
    ".xls",
    ".ppt",
    ".ics",
    ".vcf",
}
#: Files that are not read for their text.
OTHER = {
    ".png",
    ".jpg",
    ".jpeg",
    ".gif",
    ".svg",
    ".zip",
    ".gz",
    ".xz",
    ".bz2",
    ".7z",
    ".tar",
    ".mbox",
    ".so",
    ".pyc",
    ".ico",
    ".woff",
    ".woff2",
    ".ttf",
    ".mo",
    ".a",
    ".o",
    ".eps",
}
SUBREAPER = 36


@dataclass
class Cost:
    """What a command took: seconds, and bytes. `largest` is the most memory of its own that one process had."""

    wall: float
    cpu: float
    together: int = 0
    largest: int = 0
    written: int = 0
    said: str = ""


def run(
    base: Path, binary: Path | None, small: bool, megabytes: int | None, only: list[str] | None, without: list[str], limit: float
) -> tuple[str, dict, bool]:
    """The table, the same as a document, and whether the acceptance holds."""
    # A row takes minutes: the limit is for one question.
    bench = Bench(base, binary, small, megabytes or (SMALL if small else WHOLE), without, limit)
    try:
        for name, row in {
            "index": bench.index,
            "texts": bench.texts,
            "questions": bench.questions,
            "mount": bench.mount,
            "changed": bench.changed,
        }.items():
            if not only or any(text in name for text in only) or name == "index":
                row()
        if only and any("ocr" in text for text in only):
            bench.ocr()
    finally:
        shutil.rmtree(bench.scratch, ignore_errors=True)
    failures = bench.verdict()
    record = {
        "benchmark": "find",
        "units": "seconds and bytes",
        "machine": {"cpus": os.cpu_count()},
        "size": bench.megabytes * find_tree.MEGABYTE,
        "not met": failures,
        "results": bench.results,
    }
    return bench.table() + "".join(f"NOT MET: {failure}\n" for failure in failures), record, not failures


class Bench:
    def __init__(self, base: Path, binary: Path | None, small: bool, megabytes: int, without: list[str], limit: float) -> None:
        self.base, self.binary, self.megabytes, self.without, self.limit = base, binary, megabytes, without, limit
        self.count = FEW if small else MANY
        self.tree = find_tree.made(base, megabytes)
        self.scratch = Path(tempfile.mkdtemp(prefix="ffmount-find.", dir=base))
        self.cache, self.recoll = self.scratch / "cache", self.scratch / "recoll"
        self.environment = os.environ | {"XDG_CACHE_HOME": str(self.cache)}
        # The programs that Recoll reads files with are for Debian's Python.
        self.plain = os.environ | {"PATH": "/usr/bin:/bin"}
        self.results: dict[str, dict[str, dict]] = {}
        self.has_recoll = "all" not in without and RECOLL not in without

    def say(self, row: str, name: str, **figures: object) -> None:
        # The last lines of a program's errors are in the record only.
        self.results.setdefault(row, {})[name] = dict(figures)
        figures.pop("said", None)
        print(
            f"  {row:<34} {name:<12} "
            + "  ".join(f"{key} {value:.3f}" if isinstance(value, float) else f"{key} {value}" for key, value in figures.items()),
            file=sys.stderr,
            flush=True,
        )

    def ours(self, *words: object) -> list[str]:
        return [str(self.binary), *map(str, words)]

    def configured(self, tree: Path, folder: Path) -> list[str]:
        """recollindex for a tree, with archives of tar, which Debian's configuration leaves out."""
        folder.mkdir()
        (folder / "recoll.conf").write_text(
            f"topdirs = {tree}\nskippedNames =\nnoaspell = 1\nidxniceprio = 0\nloglevel = 1\nlogfilename = {folder}/log\n"
        )
        (folder / "mimeconf").write_text("[index]\napplication/x-tar = execm rcltar.py\n")
        return ["recollindex", "-c", str(folder)]

    # Rows.

    def index(self) -> None:
        warm(self.tree)
        if self.binary:
            cost = measured(self.ours("index", "--search", self.tree), self.environment)
            parts = sizes(self.cache)
            self.say("index", US, **asdict(cost), index=parts.get("find", 0), beside=sum(parts.values()) - parts.get("find", 0))
            again = measured(self.ours("index", "--search", self.tree), self.environment)
            self.say("index again, nothing changed", US, wall=again.wall, cpu=again.cpu, written=again.written)
        if self.has_recoll:
            command = self.configured(self.tree, self.recoll)
            cost = measured(command, self.plain)
            self.say("index", RECOLL, **asdict(cost), index=sum(sizes(self.recoll / "xapiandb").values()))
            again = measured(command, self.plain)
            self.say("index again, nothing changed", RECOLL, wall=again.wall, cpu=again.cpu, written=again.written)

    def texts(self) -> None:
        """Reads all texts through a mount: what the index is made of."""
        if not self.binary:
            return
        mountpoint = Path(tempfile.mkdtemp(prefix="ffmount-find.mount."))
        daemon = Daemon(self.ours("-f", "-o", "views=folders", self.tree, mountpoint), mountpoint, self.scratch / "texts", 3600)
        daemon.start()
        try:
            start = time.perf_counter()
            size, count, faults = read_texts(mountpoint)
            self.say(
                "texts through a mount",
                US,
                wall=time.perf_counter() - start,
                cpu=daemon.cpu(),
                texts=count,
                size=size,
                faults=faults,
            )
        finally:
            daemon.stop()
            mountpoint.rmdir()

    def questions(self) -> None:
        asked = questions(self.tree)
        plain = [str(self.tree / name) for name in ("documentation", "code", "tables") if (self.tree / name).is_dir()]
        contestants = {}
        if self.binary:
            contestants[US] = (lambda query: self.ours("search", self.tree, query, "--json", "--limit", 20), self.environment)
        if self.has_recoll:
            contestants[RECOLL] = (lambda query: ["recollq", "-c", str(self.recoll), "-n", "20", "-A", query], self.plain)
        if shutil.which("rg") and "all" not in self.without:
            contestants[RIPGREP] = (lambda query: ["rg", "-c", "-i", "-w", "--no-messages", pattern(query), *plain], os.environ)
        if shutil.which("rga") and "all" not in self.without:
            contestants[RGA] = (
                lambda query: ["rga", "-c", "-i", "-w", "--no-messages", pattern(query), str(self.tree)],
                os.environ,
            )
        for name, (command, environment) in contestants.items():
            times, spent, empty, failed = [], [], 0, 0
            for query in asked:
                samples, cpu = [], []
                for turn in range(2 if name == RGA else 4):
                    start, before = time.perf_counter(), children_cpu()
                    try:
                        done = subprocess.run(command(query), env=environment, capture_output=True, timeout=self.limit)
                    except subprocess.TimeoutExpired:
                        failed += 1
                        break
                    if turn:
                        samples.append(time.perf_counter() - start)
                        cpu.append(children_cpu() - before)
                    if name == US and turn == 0:
                        empty += done.stdout.strip() in (b"", b"[]")
                        failed += done.returncode not in (0, 1)
                times += [statistics.median(samples)] if samples else []
                spent += [statistics.median(cpu)] if cpu else []
            if times:
                self.say(
                    "20 questions, on the command line",
                    name,
                    median=statistics.median(times),
                    most=max(times),
                    cpu=statistics.median(spent),
                    without_results=empty,
                    failed=failed,
                )

    def mount(self) -> None:
        """The same questions as folders: names, and the list with snippets. Each is asked once, on an index that was read before."""
        if not self.binary:
            return
        mountpoint = Path(tempfile.mkdtemp(prefix="ffmount-find.mount."))
        daemon = Daemon(self.ours("-f", self.tree, mountpoint), mountpoint, self.cache, 3600)
        daemon.start()
        try:
            asked = questions(self.tree)
            times, spent, hits, failed = [], [], 0, 0
            for number, query in enumerate([asked[-1] + " warm", *asked]):
                start, before = time.perf_counter(), daemon.cpu()
                try:
                    folder = mountpoint / ".search" / query
                    os.listdir(folder)
                    found = (folder / "RESULTS.tsv").read_bytes().count(b"\n") - 1
                except OSError:
                    failed += number > 0
                    continue
                if number:
                    times.append(time.perf_counter() - start)
                    spent.append(daemon.cpu() - before)
                    hits += found
            if times:
                self.say(
                    "20 questions, in a mount, all results",
                    US,
                    median=statistics.median(times),
                    most=max(times),
                    cpu=statistics.median(spent),
                    results=hits,
                    failed=failed,
                )
        finally:
            daemon.stop()
            mountpoint.rmdir()

    def changed(self) -> None:
        """One file of many changes: the index is brought up to date, and the new word is found."""
        folder = find_tree.many(self.base, self.count)
        file = next(find_tree.sorted_files(folder))
        kept = file.read_bytes()
        row = f"one of {self.count:,} files changed"
        try:
            if self.binary:
                cost = measured(self.ours("index", "--search", folder), self.environment)
                self.say(f"index of {self.count:,} small files", US, wall=cost.wall, cpu=cost.cpu, largest=cost.largest)
                file.write_bytes(kept + b" quixotrelli")
                cost = measured(self.ours("index", "--search", folder), self.environment)
                found = self.finds(folder, "quixotrelli")
                self.say(row, US, wall=cost.wall, cpu=cost.cpu, written=cost.written, finds=found)
                file.write_bytes(kept + b" zarpendulo")
                start = time.perf_counter()
                found = self.finds(folder, "zarpendulo")
                self.say(f"{row}, a search", US, wall=time.perf_counter() - start, finds=found)
            if self.has_recoll:
                command = self.configured(folder, self.scratch / "recoll-many")
                cost = measured(command, self.plain)
                self.say(f"index of {self.count:,} small files", RECOLL, wall=cost.wall, cpu=cost.cpu, largest=cost.largest)
                file.write_bytes(kept + b" quixotrelli")
                cost = measured(command, self.plain)
                self.say(row, RECOLL, wall=cost.wall, cpu=cost.cpu, written=cost.written)
        finally:
            file.write_bytes(kept)

    def finds(self, folder: Path, word: str) -> bool:
        done = subprocess.run(
            self.ours("search", folder, word, "-l"), env=self.environment, capture_output=True, timeout=self.limit
        )
        return done.stdout.count(b"\n") == 1

    def ocr(self) -> None:
        """Pages as pictures, recognised: the index beside `.as-txt` of each."""
        folder = find_tree.scans(self.base, 500 if self.count == MANY else 25)
        if not self.binary:
            return
        cost = measured(self.ours("index", "--search", "--ocr", folder), self.environment)
        self.say("index of scans, recognised", US, **asdict(cost))
        mountpoint = Path(tempfile.mkdtemp(prefix="ffmount-find.mount."))
        daemon = Daemon(self.ours("-f", folder, mountpoint), mountpoint, self.scratch / "scans", 3600)
        daemon.start()
        try:
            start = time.perf_counter()
            for name in sorted(os.listdir(folder)):
                (mountpoint / f"{name}.as-txt").read_bytes()
            self.say("scans through a mount, recognised", US, wall=time.perf_counter() - start, cpu=daemon.cpu())
        finally:
            daemon.stop()
            mountpoint.rmdir()

    # What comes of it.

    def figure(self, row: str, name: str, what: str) -> float | None:
        return self.results.get(row, {}).get(name, {}).get(what)

    def verdict(self) -> list[str]:
        """What of the acceptance does not hold."""
        row = f"one of {self.count:,} files changed"
        shares = [
            ("CPU of the index beside recollindex", ("index", US, "cpu"), ("index", RECOLL, "cpu"), LIMITS["cpu of recollindex"]),
            (
                "CPU of the index beside the texts",
                ("index", US, "cpu"),
                ("texts through a mount", US, "cpu"),
                LIMITS["cpu of the texts"],
            ),
            (
                "the index beside the texts",
                ("index", US, "index"),
                ("texts through a mount", US, "size"),
                LIMITS["size of the texts"],
            ),
            ("the index beside Recoll's", ("index", US, "index"), ("index", RECOLL, "index"), LIMITS["size of recoll"]),
        ]
        limits = [
            ("seconds of a question on the command line", ("20 questions, on the command line", US, "median"), LIMITS["command"]),
            ("seconds of a question in a mount", ("20 questions, in a mount, all results", US, "median"), LIMITS["query"]),
            ("seconds after a change", (row, US, "wall"), LIMITS["changed seconds"]),
            ("bytes after a change", (row, US, "written"), LIMITS["changed bytes"]),
            ("bytes of memory of the index's largest process", ("index", US, "largest"), LIMITS["memory"]),
        ]
        failures = []
        self.lines = []
        for name, ours, theirs, limit in shares:
            mine, other = self.figure(*ours), self.figure(*theirs)
            if mine is not None and other:
                self.lines.append((name, f"{mine / other:.2f} ×", f"≤ {limit:g} ×"))
                failures += [f"{name}: {mine / other:.2f} × (limit {limit:g} ×)"] if mine > limit * other else []
        for name, ours, limit in limits:
            mine = self.figure(*ours)
            if mine is not None:
                self.lines.append(
                    (
                        name,
                        f"{mine:,.3f}" if limit < 100 else f"{mine:,.0f}",
                        f"≤ {limit:,g}" if limit < 100 else f"≤ {limit:,.0f}",
                    )
                )
                failures += [f"{name}: {mine:,.3f} (limit {limit:,g})"] if mine > limit else []
        failures += [
            f"the changed file is not found: {name}"
            for name, row in self.results.items()
            if row.get(US, {}).get("finds") is False
        ]
        failures += [
            f"{name}: {row[US]['failed']} questions failed" for name, row in self.results.items() if row.get(US, {}).get("failed")
        ]
        return failures

    def table(self) -> str:
        text = f"A tree of {self.megabytes:,} MB. Load: {' '.join(f'{each:.1f}' for each in os.getloadavg())}\n\n| row | program | figures |\n| --- | --- | --- |\n"
        for row, contestants in self.results.items():
            for name, figures in contestants.items():
                cells = [f"{key} {shown(key, value)}" for key, value in figures.items() if key != "said" and value not in (0, "")]
                text += f"| {row} | {name} | {', '.join(cells)} |\n"
        text += "\n| beside | figure | limit |\n| --- | ---: | ---: |\n"
        return text + "".join(f"| {' | '.join(line)} |\n" for line in self.lines)


def shown(key: str, value: object) -> str:
    if isinstance(value, bool) or key in ("texts", "faults", "results", "failed", "without_results"):
        return str(value)
    if isinstance(value, float):
        return f"{value:.3f} s"
    return f"{value / 1e6:.2f} MB" if isinstance(value, int) else str(value)


def warm(folder: Path) -> None:
    for path in find_tree.sorted_files(folder):
        path.read_bytes()


def sizes(folder: Path) -> dict[str, int]:
    """The bytes of files on disk, by the name of the folder that they are in."""
    found: dict[str, int] = collections.Counter()
    for place, _, names in os.walk(folder):
        for name in names:
            found[Path(place).name] += os.lstat(Path(place, name)).st_blocks * 512
    return found


def descendants() -> list[int]:
    found = children(os.getpid())
    for process in found:
        found += children(process)
    return found


def measured(command: list[str], environment: dict[str, str], seconds: float = 4 * 3600) -> Cost:
    """Runs a command and adds up its processes, those that outlive it, too."""
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        killer = threading.Timer(seconds, process.kill)
        killer.start()
        with AnonymousPeak(descendants, step=0.03) as together, AnonymousPeak(
            descendants, lambda each: max(each, default=0), step=0.03
        ) as largest:
            # A process that has ended and was not waited for still tells what it wrote.
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            wall = time.perf_counter() - start
            written = wrote(process.pid)
        process.wait()
        killer.cancel()
        errors.seek(0)
        said = errors.read()[-300:].decode(errors="replace").strip()
    leftover(10)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode not in (0, 1):
        raise Failure(f"{command[0]}: status {process.returncode}: {said}")
    return Cost(
        wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, together.most, largest.most, written, said
    )


def wrote(process: int) -> int:
    """The bytes that a process gave to write(2) and the like."""
    try:
        return int(re.search(r"wchar: (\d+)", Path(f"/proc/{process}/io").read_text())[1])
    except (OSError, TypeError):
        return 0


def children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def leftover(seconds: float) -> None:
    """Waits for processes whose parents have ended; kills them when they do not."""
    end = time.monotonic() + seconds
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0]:
                continue
        except ChildProcessError:
            return
        if time.monotonic() > end:
            for process in children(os.getpid()):
                os.kill(process, 9)
        time.sleep(0.05)


def read_texts(root: Path) -> tuple[int, int, int]:
    """Reads each text below a mount once: bytes, texts, and those that could not be read."""
    size = count = faults = 0

    def read(path: Path) -> None:
        nonlocal size, count, faults
        try:
            with open(path, "rb") as file:
                while block := file.read(1 << 20):
                    size += len(block)
            count += 1
        except OSError:
            faults += 1

    for place, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.endswith((".views", ".pages", ".streams", ".search")))
        here = Path(place)
        if "message.eml" in names:
            read(here / "body.txt")
            continue
        for name in sorted(names):
            suffix = Path(name).suffix.lower()
            if here.name in ("cur", "new") and ":2," in name:
                read(here / f"{name}.message" / "body.txt")
            elif suffix in CONVERTED:
                read(here / f"{name}.as-txt")
            elif suffix not in OTHER and not name.endswith(".as-jpeg"):
                read(here / name)
    return size, count, faults


def questions(tree: Path) -> list[str]:
    """20 queries in the words of a tree's documentation and tables: frequent and rare ones, phrases, a prefix, alternatives."""
    words, lines = collections.Counter(), []
    for part in ("tables", "documentation"):
        for number, path in enumerate(find_tree.sorted_files(tree / part)):
            if number > 300:
                break
            text = path.read_bytes()[:200_000].decode("utf-8", "replace")
            lines += [found[0] for line in text.splitlines()[:400:7] if (found := re.search(r"\b[a-z]{4,9} [a-z]{4,9}\b", line))]
            words.update(set(re.findall(r"\b[a-z]{4,12}\b", text)))
    noise = random.Random(38)
    ranked = [word for word, _ in words.most_common()]
    chosen = ranked[20:26] + ranked[300:305] + noise.sample(ranked[1000:5000], 4)
    return [
        *chosen,
        f'"{noise.choice(lines)}"',
        f'"{noise.choice(lines)}"',
        f"{ranked[310][:4]}*",
        f"{ranked[40]} {ranked[320]}",
        f"{ranked[330]} OR {ranked[340]}",
    ]


def pattern(query: str) -> str:
    """What of a query a regular expression can say of a line."""
    if query.startswith('"'):
        return re.escape(query.strip('"'))
    if query.endswith("*"):
        return re.escape(query[:-1]) + r"\w*"
    return "|".join(map(re.escape, query.split(" OR "))) if " OR " in query else re.escape(query.split()[0])
