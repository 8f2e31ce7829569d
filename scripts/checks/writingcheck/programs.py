"""Programs that people use in the folders that a mount shows."""

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import threading
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .mounted import PYTHON, Run, Wrong, different, kill, removed

GIT = {
    **{f"GIT_{who}_{what}": text for who in ("AUTHOR", "COMMITTER") for what, text in (("NAME", "n"), ("EMAIL", "e@x"))},
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
}
#: Who runs PostgreSQL for root.
NOBODY = 65534


def history(run: Run, place: Path, commits: int = 80) -> None:
    """A bare repository, whose commits change some of 300 files."""
    chance, stream = random.Random(run.seed), []
    for commit in range(commits):
        stream += [f"commit refs/heads/main\ncommitter n <e@x> {1_600_000_000 + commit} +0000\ndata 6\ncommit"]
        for _ in range(20):
            text = f"line {chance.random()}\n" * chance.randrange(1, 300)
            stream.append(f"M 100644 inline d{chance.randrange(20)}/f{chance.randrange(15)}\ndata {len(text)}\n{text}")
    environment = {**os.environ, **GIT}
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", place], check=True, env=environment)
    subprocess.run(["git", "-C", place, "fast-import", "--quiet"], input="\n".join(stream), text=True, check=True, env=environment)


def git(run: Run) -> str:
    """Two at a time clone (every second time by hard links), look back, commit, merge, stash, pack, prune, check, and remove."""
    origin = run.folder / "origin"
    history(run, origin)
    environment = {**os.environ, **GIT}
    rounds = [0, 0]

    def one(mount: Path, who: int) -> None:
        place = mount / f"clone{who}"

        def git(*words: object, cwd: Path = place) -> str:
            return run.call("git", *words, cwd=cwd, env=environment)

        wanted = git("rev-parse", "main~9^{tree}", cwd=origin)
        while run.goes_on() or not rounds[who]:
            links = ["-l"] if rounds[who] % 2 else ["--no-hardlinks"]
            git("clone", "-q", *links, mount / "origin", place, cwd=mount)
            if git("rev-parse", "main~9^{tree}") != wanted:
                raise Wrong("another tree after clone")
            for back in (7, 14, 21):
                git("checkout", "-q", f"main~{back}")
                if git("status", "--porcelain"):
                    raise Wrong("a checkout is not clean")
            git("checkout", "-q", "-b", "side", "main~5")
            for number in range(3):
                (place / f"new{number}").write_text(f"{number}\n" * 100)
                git("add", ".")
                git("commit", "-qm", f"new {number}")
            git("checkout", "-q", "main")
            git("merge", "-q", "-m", "merge", "side")
            (place / "new1").write_text("changed\n")
            git("stash", "-q")
            git("stash", "pop", "-q")
            git("commit", "-qam", "last")
            git("repack", "-adq")
            git("gc", "-q", "--prune=now")
            git("worktree", "add", "-q", "../" + place.name + ".tree", "side")
            git("worktree", "remove", "../" + place.name + ".tree")
            git("fsck", "--full", "--strict")
            if git("status", "--porcelain") or git("diff", "HEAD", "--stat"):
                raise Wrong("there are changes that nobody made")
            removed(place)
            rounds[who] += 1

    with run.mount() as mount:
        shutil.copytree(origin, mount / "origin")
        with ThreadPoolExecutor() as pool:
            for work in [pool.submit(one, mount, who) for who in range(2)]:
                work.result()
        run.call("git", "-C", mount / "origin", "fsck", "--full", "--strict", env=environment)
    return f"{sum(rounds)} rounds"


def make(run: Run) -> str:
    """Like a kernel: many folders, each with a Makefile of its own, objects beside sources, lists of what they depend on,
    archives, and one program of them, by `make -j4`; then nothing is to be done, and a header brings what includes it."""
    folders, files, rounds = 20, 8, 0

    def sources(place: Path) -> None:
        (place / "include").mkdir(parents=True)
        for folder in range(folders):
            (place / "include" / f"h{folder}.h").write_text(f"#define BASE{folder} {folder}\n")
            (place / f"d{folder}").mkdir()
            objects = " ".join(f"f{number}.o" for number in range(files))
            (place / f"d{folder}" / "Makefile").write_text(
                f"built.a: {objects}\n\trm -f $@\n\t$(AR) rcs $@ $^\n%.o: %.c\n"
                "\t$(CC) -O0 -I../include -MMD -MP -MF .$@.d.tmp -c -o $@ $<\n\tmv .$@.d.tmp .$@.d\n-include .*.o.d\n")
            for number in range(files):
                (place / f"d{folder}" / f"f{number}.c").write_text(
                    f'#include "h{folder}.h"\n#include <stddef.h>\nint f{folder}_{number}(void) {{ return BASE{folder} + {number}; }}\n')
        names = [f"f{folder}_{number}" for folder in range(folders) for number in range(files)]
        (place / "main.c").write_text(
            "#include <stdio.h>\n" + "".join(f"int {name}(void);\n" for name in names) + "int main(void) { int sum = 0;\n"
            + "".join(f"sum += {name}();\n" for name in names) + 'printf("%d\\n", sum); return 0; }\n')
        archives = " ".join(f"d{folder}/built.a" for folder in range(folders))
        (place / "Makefile").write_text(
            f"vmlinux: main.c {archives}\n\t$(CC) -o .tmp_$@ $^\n\tmv .tmp_$@ $@\n"
            "%/built.a: FORCE\n\t@$(MAKE) --no-print-directory -s -C $* built.a\nFORCE:\n.PHONY: FORCE\n"
            "clean:\n\tfind . -name '*.[oa]' -delete -o -name '.*.d' -delete\n\trm -f vmlinux\n")

    total = sum(folder + number for folder in range(folders) for number in range(files))
    with run.mount() as mount:
        while run.goes_on() or not rounds:
            place = mount / f"tree{rounds}"
            sources(place)
            run.call("make", "-s", "-j4", cwd=place)
            if run.call(place / "vmlinux").strip() != str(total):
                raise Wrong("what was built says another sum")
            before = {path: path.stat().st_mtime_ns for path in place.rglob("*.o")}
            if run.call("make", "-j4", cwd=place).count("cc"):
                raise Wrong("something is built again")
            time.sleep(0.02)
            (place / "include" / "h3.h").write_text("#define BASE3 103\n")
            run.call("make", "-s", "-j4", cwd=place)
            again = {path for path, state in before.items() if path.stat().st_mtime_ns != state}
            if again != set((place / "d3").glob("*.o")) or run.call(place / "vmlinux").strip() != str(total + 100 * files):
                raise Wrong(f"a header brought {len(again)} objects, not {files}")
            run.call("make", "-s", "clean", cwd=place)
            if list(place.rglob("*.o")):
                raise Wrong("not all is clean")
            if rounds:
                removed(place)
            rounds += 1
    return f"{rounds} times {folders * files} files"


def postgresql(run: Run) -> str:
    """pgbench in a cluster with checksums, whose server is killed again and again: the balances agree, the indexes and pages are
    whole. Root's mount is for all, and the server another user's, since it does not run as root."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))[-1]
    root = os.getuid() == 0
    prefix = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if root else []
    sockets, transactions, killed = run.folder / "sockets", 0, 0
    run.folder.chmod(0o755)
    sockets.mkdir()
    environment = {**os.environ, "PGHOST": str(sockets), "PGUSER": "bench", "PGDATABASE": "postgres", "LC_ALL": "C"}
    with run.mount(*(["allow_other"] if root else [])) as mount:
        place = mount / "cluster"
        place.mkdir(mode=0o700)
        if root:
            for path in (place, sockets):
                os.chown(path, NOBODY, NOBODY)

        def run_as(program: str, *words: object, **more: object) -> str:
            return run.call(*prefix, programs / program, *words, cwd="/", env=environment, **more)

        run_as("initdb", "-D", place, "-U", "bench", "-A", "trust", "--data-checksums", "-E", "UTF8", "--no-instructions")

        def start() -> None:
            words = f"-c listen_addresses='' -c unix_socket_directories={sockets} -c shared_buffers=32MB"
            # What a killed server's children share must be gone before.
            end = time.monotonic() + 120
            while True:
                said = run_as("pg_ctl", "start", "-w", "-t", 120, "-D", place, "-l", sockets / "log", "-o", words, wanted=None)
                if "server started" in said:
                    return
                if time.monotonic() > end:
                    raise Wrong(f"{said}{(sockets / 'log').read_text()[-2000:]}")
                time.sleep(0.5)

        def end_at_once() -> None:
            kill(int((place / "postmaster.pid").read_text().splitlines()[0]))

        try:
            start()
            run_as("pgbench", "-i", "-q", "-s", 3)
            while run.goes_on() or not killed:
                last = not run.goes_on()
                said: list[str] = []
                words = ["timeout", "-k", "5", "200", *prefix, programs / "pgbench", "-n", "-c", "4", "-T", "8"]
                # Its end comes late, or never, where the server panics.
                load = threading.Thread(target=lambda: said.append(subprocess.run(
                    words, cwd="/", env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout))
                load.start()
                if killed % 2 and not last:
                    load.join()
                    if not (match := re.search(r"actually processed: (\d+)", said[0])) or "failed transactions: 0 " not in said[0]:
                        raise Wrong(f"pgbench: {said[0][-1500:]}")
                    transactions += int(match[1])
                    load = None
                else:
                    time.sleep(4)
                end_at_once()
                killed += 1
                if load:
                    load.join()
                start()
                sums = run_as(
                    "psql", "-AtF", " ", "-c", "select (select sum(abalance) from pgbench_accounts), (select sum(bbalance) from"
                    " pgbench_branches), (select sum(tbalance) from pgbench_tellers),"
                    " (select coalesce(sum(delta), 0) from pgbench_history)")
                if len(set(sums.split())) != 1:
                    raise Wrong(f"after a kill the balances are {sums}")
                if panics := re.findall(r"PANIC:.*", (sockets / "log").read_text()):
                    raise Wrong(f"the server says {panics[:3]}")
            run_as("psql", "-qc", "create extension amcheck")
            run_as("pg_amcheck", "-d", "postgres", "--heapallindexed")
            run_as("psql", "-qc", "vacuum full", "-c", "reindex database postgres")
            run_as("pg_ctl", "stop", "-w", "-m", "fast", "-D", place)
            run_as("pg_checksums", "--check", "-D", place)
        except BaseException:
            subprocess.run([*prefix, programs / "pg_ctl", "stop", "-m", "immediate", "-D", place], cwd="/", check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            raise
    return f"{transactions} transactions in whole rounds, {killed} kills of the server"


@contextlib.contextmanager
def office(run: Run) -> Iterator[str]:
    """A LibreOffice that listens at a pipe of this name."""
    pipe = f"writing{os.getpid()}"
    words = ["soffice", "--headless", "--norestore", "--nologo", f"-env:UserInstallation=file://{run.folder}/profile",
             f"--accept=pipe,name={pipe};urp;"]
    process = subprocess.Popen(words, env={**os.environ, "HOME": str(run.folder)}, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        yield pipe
    finally:
        # soffice is a script, which has the program as a child.
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


def libreoffice(run: Run) -> str:
    """LibreOffice opens a document, changes and stores it, many times; in the end all that was saved is in it, no lock or temporary
    file is left, and its view shows the last one."""
    count, rounds = 10, 0

    def content(path: Path) -> str:
        with zipfile.ZipFile(path) as archive:
            if archive.testzip():
                raise Wrong(f"{path.name} is damaged")
            return archive.read("content.xml").decode()

    mount = run.mount()
    with mount as path, office(run) as pipe:
        while run.goes_on() or not rounds:
            folder = path / f"papers{rounds}"
            folder.mkdir()
            run.call(PYTHON, "-B", Path(__file__).parent / "office.py", pipe, folder, count, limit=900)
            found = sorted(name for name in os.listdir(mount.source / folder.name))
            if found != ["letter.odt", "other.odt"]:
                raise Wrong(f"the folder has {found}, not letter.odt and other.odt")
            for place in (folder, mount.source / folder.name):
                for name in found:
                    text = content(place / name)
                    if any(f"saved{number}." not in text for number in range(1, count + 1)):
                        raise Wrong(f"{place / name} lacks some of what was saved")
            view = folder / "letter.odt.contents" / "content.xml"
            if view.read_text() != content(folder / "letter.odt"):
                raise Wrong("the view of the document is not what was saved last")
            removed(folder)
            rounds += 1
    return f"{rounds * (count + count // 5 + 1)} times saved"


def vim(run: Run) -> str:
    """vim saves files of each kind with each of its ways to make backups; all is then as in a bare folder."""
    ways = [
        f"set backupcopy={how} {backup} {written} {swap}" for how in ("yes", "no", "auto", "auto,breaksymlink", "yes,breakhardlink")
        for backup in ("backup", "nobackup") for written in ("writebackup", "nowritebackup") for swap in ("swapfile", "noswapfile")]
    rounds = 0

    def work(folder: Path) -> None:
        folder.mkdir()
        (folder / "plain.txt").write_text("first\n")
        (folder / "linked.txt").write_text("first\n")
        os.link(folder / "linked.txt", folder / "second.txt")
        (folder / "real.txt").write_text("first\n")
        (folder / "symbolic.txt").symlink_to("real.txt")
        (folder / "private.txt").write_text("first\n")
        (folder / "private.txt").chmod(0o600)
        os.setxattr(folder / "private.txt", "user.note", b"kept")
        for number, way in enumerate(ways):
            names = ["plain.txt", "linked.txt", "symbolic.txt", "private.txt", "new.txt"]
            run.call(
                "vim", "-N", "-es", "-u", "NONE", "-i", "NONE", "-c", way + " nofsync" * (number % 2), "-c",
                f"silent! argdo $put ='saved {number}' | write", "-c", "qa!", *names, cwd=folder, stdin=subprocess.DEVNULL)

    with run.mount() as mount:
        while run.goes_on() or not rounds:
            bare, inner = run.folder / f"bare{rounds}", mount / f"work{rounds}"
            for folder in (bare, inner):
                work(folder)
            wrong = different(bare, inner)
            if wrong:
                raise Wrong(f"vim leaves something else: {wrong[:5]}")
            for name in ("plain.txt", "private.txt"):
                if (inner / name).read_text().count("saved") != len(ways):
                    raise Wrong(f"{name} was not saved each time")
            if os.listxattr(inner / "private.txt") != os.listxattr(bare / "private.txt"):
                raise Wrong("attributes differ")
            removed(inner)
            rounds += 1
    return f"{rounds * len(ways)} times five files"


def rsync(run: Run) -> str:
    """A tree with links, holes, attributes, times and, in root's mount, access lists goes into the mount and out again, in several
    ways; it is then the same, and rsync itself finds nothing to do."""
    chance, rounds = random.Random(run.seed), 0
    # A private mount has no access lists.
    root = os.getuid() == 0
    kept = "-aAXH" if root else "-aXH"

    def content(count: int) -> bytes:
        """As long a file that no format begins like: one that is taken for a picture has views."""
        return bytes(min(1, count)) + chance.randbytes(max(0, count - 1))

    def grow(folder: Path) -> None:
        for number in range(300):
            path = folder / f"d{number % 17}" / f"e{number % 5}" / f"f{number}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content(chance.choice([0, 1, 4096, 30_000])) if number else bytes(1 << 20))
            path.chmod(chance.choice([0o644, 0o600, 0o755, 0o444]))
            if number % 10 == 0:
                os.link(path, folder / f"link{number}")
                os.symlink(path.relative_to(folder), folder / f"symbolic{number}")
            if number % 15 == 0 and os.access(path, os.W_OK):
                os.setxattr(path, "user.note", b"%d" % number)
                if root:
                    run.call("setfacl", "-m", "u:1234:r", path)
            os.utime(path, ns=(chance.randrange(1 << 60), chance.randrange(1 << 60)))
        os.mkfifo(folder / "fifo")
        with (folder / "holes").open("wb") as file:
            file.seek(5 << 20)
            file.write(b"end")

    def change(folder: Path) -> None:
        files = [path for path in folder.rglob("f*") if path.is_file() and not path.is_symlink()]
        for path in chance.sample(files, 60):
            kind = chance.randrange(4)
            # As many files stay, whatever the number of rounds.
            first = path.name.rpartition("-")[2]
            if kind == 0:
                path.unlink()
                path.with_name(f"f{rounds}new-{first}").write_bytes(content(4096))
            elif kind == 1:
                path.rename(path.with_name(f"f{rounds}-{first}"))
            else:
                path.chmod(0o644)
                with path.open("r+b") as file:
                    file.seek(1 + chance.randrange(1 + path.stat().st_size))
                    file.write(chance.randbytes(500))

    ways = [["--sparse"], [], ["--inplace", "--no-whole-file"], ["--delay-updates"], ["--checksum", "--no-whole-file"]]
    one, other = run.folder / "one", run.folder / "other"
    one.mkdir()
    other.mkdir()
    grow(one)
    with run.mount(*(["allow_other"] if root else [])) as mount:
        inner = mount / "inner"
        inner.mkdir()
        while run.goes_on() or rounds < len(ways):
            for start, end in ((one, inner), (inner, other)):
                # A file may change twice in a second.
                words = ["rsync", kept, "--delete", "--modify-window=-1", "--no-inc-recursive", *ways[rounds % len(ways)]]
                # In a bare folder, too, the mode of a second name is now and then left for the next time.
                for _ in range(2):
                    run.call(*words, f"{start}/", f"{end}/")
                again = run.call("rsync", kept + "ni", "--delete", "--checksum", f"{start}/", f"{end}/")
                if again:
                    raise Wrong(f"rsync {ways[rounds % len(ways)]} to {end.name} leaves: {again[:500]}")
            for end in (inner, other):
                if wrong := different(one, end):
                    raise Wrong(f"{end.name} has something else: {wrong[:5]}")
            if (inner / "holes").stat().st_blocks * 512 > 1 << 20:
                raise Wrong("the holes were filled")
            change(one)
            rounds += 1
    return f"{rounds} rounds there and back"
