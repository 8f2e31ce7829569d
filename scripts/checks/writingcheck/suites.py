"""The suites and tools of others that try a file system."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from benchmarks.suites import unpack

from .mounted import Run, Wrong, removed

#: What xfstests's configure finds out, as far as these two programs need it.
CONFIG = """
#define FALLOCATE 1
#define HAVE_COPY_FILE_RANGE 1
#define HAVE_FALLOCATE 1
#define HAVE_LINUX_FALLOC_H 1
#define HAVE_RENAMEAT2 1
#define HAVE_SIGNAL_H 1
#define HAVE_SYS_PRCTL_H 1
#define HAVE_SYS_STATVFS_H 1
#define HAVE_SYS_XATTR_H 1
#define HAVE_XFS_XFS_H 1
"""
HEADERS = """sys/types.h sys/stat.h sys/time.h sys/uio.h sys/file.h sys/ioctl.h sys/mman.h sys/wait.h sys/statvfs.h
signal.h dirent.h stdio.h stdlib.h string.h unistd.h fcntl.h errno.h time.h getopt.h malloc.h math.h libgen.h limits.h
stddef.h assert.h inttypes.h stdbool.h ctype.h"""
STRESSORS = "hdd dir link rename mmap symlink dentry chmod utime xattr fallocate seek lockf flock copy-file sync-file".split()


def build_fsx(folder: Path) -> None:
    """Builds fsx and fsstress in `folder`."""
    unpack("kdave", "xfstests", ["ltp/fsx.c", "ltp/fsstress.c", "src", "include"], folder)
    headers = "".join(f"#include <{name}>\n" for name in HEADERS.split())
    (folder / "config.h").write_text("#pragma once\n" + CONFIG + headers)
    for program in ("fsx", "fsstress"):
        paths = ["-I", folder, "-I", folder / "src", "-o", folder / program, folder / f"ltp/{program}.c"]
        subprocess.run(["cc", "-O1", "-w", "-D_GNU_SOURCE", *paths, "-lm"], check=True)


def build_pjdfstest(folder: Path) -> None:
    place = folder / "pjdfstest"
    place.mkdir()
    unpack("pjd", "pjdfstest", [], place)
    for words in (["autoreconf", "-ifs"], ["./configure"], ["make", "pjdfstest"]):
        done = subprocess.run(words, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit(f"pjdfstest: {' '.join(words)}: {done.stdout[-2000:]}")


def pjdfstest(run: Run) -> str:
    """All of it as root, in folders that others may enter, since it works as several users. Another user may not become others:
    for him each of the tests must end as it does in a bare folder."""
    tests = run.programs / "pjdfstest" / "tests"
    run.folder.chmod(0o755)
    if os.getuid() == 0:
        with run.mount("allow_other") as mount:
            (mount / "work").mkdir()
            said = run.call("prove", "-r", "-Q", tests, cwd=mount / "work", wanted=None, limit=3600)
            # What an option leaves out is not what was asked for.
            if "Result: PASS" not in said:
                raise Wrong(said[-6000:])
        return " ".join(line for line in said.splitlines() if re.match(r"Files=|Result", line))

    def results(folder: Path) -> dict[str, str]:
        folder.mkdir()
        said = run.call("prove", "-r", "-v", "-m", "--nocolor", tests, cwd=folder, wanted=None, limit=3600)
        found, test = {}, ""
        for line in said.splitlines():
            if line.startswith(str(tests)):
                test = line.removeprefix(f"{tests}/").split(" ")[0]
            elif match := re.match(r"(not ok|ok) (\d+)", line):
                # The suite itself leaves open how a test marked so ends.
                found[f"{test} {match[2]}"] = "open" if "# TODO" in line else match[1]
        return found

    def skipped(found: dict[str, str]) -> set[str]:
        """The files that the suite skips by the type of the file system: a single test, which passes."""
        tests = Counter(test.split(" ")[0] for test in found)
        return {file for file, count in tests.items() if count == 1 and found.get(f"{file} 1") == "ok"}

    bare = results(run.folder / "bare")
    with run.mount() as mount:
        inner = results(mount / "work")
    left_out = skipped(bare) ^ skipped(inner)
    wrong = sorted(
        test for test in bare.keys() | inner.keys()
        if bare.get(test) != inner.get(test) and test.split(" ")[0] not in left_out)
    passed = sum(result == "ok" for result in bare.values())
    if wrong or not passed:
        raise Wrong(f"of {len(bare)} tests {len(wrong)} end otherwise: {wrong[:40]}")
    return f"{len(bare)} tests as in a bare folder, where {passed} pass"


def fsx(run: Run) -> str:
    """Two at a time, each on a file of its own, one of them with every write synced."""
    with run.mount() as mount:
        runs = []
        for number, more in enumerate(([], ["-y", "-l", "3000000"])):
            words = ["-q", *more, "-S", str(run.seed + number), f"--duration={run.seconds}", "-P", run.folder]
            command = [run.programs / "fsx", *words, mount / f"file{number}"]
            runs.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        said = [process.communicate()[0] for process in runs]
        for process, text in zip(runs, said):
            if process.returncode:
                raise Wrong(text[-3000:])
    return "; ".join(text.strip().splitlines()[-1] for text in said)


def fsstress(run: Run) -> str:
    """Four processes in rounds of 1,000 operations each; what they left stays for the next round."""
    rounds = 0
    with run.mount() as mount:
        (mount / "f").mkdir()
        while run.goes_on():
            run.call(run.programs / "fsstress", "-d", mount / "f", "-p", 4, "-n", 1000, "-s", run.seed + rounds)
            rounds += 1
            if rounds % 20 == 0:
                removed(mount / "f")
                (mount / "f").mkdir()
    return f"{rounds} rounds of 4 × 1,000 operations"


def stress_ng(run: Run) -> str:
    """Its stressors of files, with what it can verify."""
    with run.mount() as mount:
        (mount / "stress").mkdir()
        words = [word for name in STRESSORS for word in (f"--{name}", "1")]
        sizes = ["--hdd-bytes", "64M", "--mmap-bytes", "32M", "--mmap-file", "--copy-file-bytes", "128M", "--fallocate-bytes", "64M"]
        said = run.call(
            "stress-ng", *words, *sizes, "--verify", "--temp-path", mount / "stress", "--timeout", f"{run.seconds}s",
            "--metrics-brief", "--oomable", "--seed", run.seed, limit=run.seconds * 4 + 300)
        left = list((mount / "stress").iterdir())
        if left or " fail: " in said:
            raise Wrong(f"it left {left[:3]}: {said[-3000:]}")
    counts = re.findall(r"metrc: \[\d+\] ([a-z-]+) +(\d+) ", said)
    return ", ".join(f"{name} {count}" for name, count in counts)
