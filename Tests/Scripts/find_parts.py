#!/usr/bin/env python3
"""find_parts.py FFMOUNT FOLDER [PARTS]: makes an index in PARTS (16) parts by GNU parallel and by Slurm, and compares answers.

One part is killed and made again. The answers are those of an index that was made in one run, in the same order. The parts
that Slurm makes are in a directory that machines share, and another cache reads them there; a damaged part is left out,
removed, and made again. Makes the tree of make_findable.py in FOLDER, unless it is there. What cannot run here is
skipped, with the reason."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import find_command
from slurm import Slurm, Unavailable

folder = Path(sys.argv[2]).resolve()
parts = int(sys.argv[3]) if len(sys.argv) > 3 else 16
command = find_command.Command(sys.argv[1], folder / "tree")


def part(number, *options):
    return [str(command.binary), "index", "--search", "--part", f"{number}/{parts}", *options, str(command.tree)]


def files(cache):
    return sorted(path for path in Path(cache).rglob("*.sqlite") if path.parent.name == "find")


def killed(cache):
    """Starts a part and kills it, at several moments. Returns how often it was killed before it ended."""
    kills = 0
    for delay in (0.05, 0.2, 0.5, 1):
        process = subprocess.Popen(part(3), env=command.environment(cache), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(delay)
        kills += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
    return kills


def by_parallel(cache):
    """All parts but the third by GNU parallel, and the third after it was killed."""
    if not shutil.which("parallel"):
        return "skipped: parts by GNU parallel, which is missing (apt install parallel)"
    kills = killed(cache)
    numbers = "\n".join(str(number) for number in range(1, parts + 1))
    done = subprocess.run(["parallel", "--will-cite", "-j2", *part("{}")], input=numbers, env=command.environment(cache), capture_output=True, text=True)
    if done.returncode:
        command.failures.append(f"parallel: status {done.returncode}: {done.stderr.strip()[-300:]}")
    made = files(cache)
    if len(made) != parts:
        command.failures.append(f"parallel: {len(made)} files instead of {parts}")
    return f"{parts} parts by GNU parallel, one killed {kills} times"


def by_slurm(scratch, queries, expected):
    """All parts by an array job, each with a cache of its own, in a directory that machines share."""
    shared = scratch / "shared"
    shared.mkdir(mode=0o700)
    options = ["-o", f"shared_cache={shared}"]
    words = " ".join(f"'{word}'" for word in part("@", *options)).replace("@", "'$SLURM_ARRAY_TASK_ID'")
    with Slurm(scratch) as slurm:
        # As on several machines, no task has the cache of another.
        script = f"mkdir -p {scratch}/host.$SLURM_ARRAY_TASK_ID\nXDG_CACHE_HOME={scratch}/host.$SLURM_ARRAY_TASK_ID {words}"
        # A task that is cancelled on the way has published nothing, or all.
        failed = slurm.array(parts, f"[ $SLURM_ARRAY_TASK_ID != 5 ] || exec timeout -s KILL .3 {sys.executable} -c 'import time; time.sleep(9)'\n{script}")
        if failed != [5]:
            command.failures.append(f"slurm: tasks {failed} failed, not only 5: {slurm.last_words()}")
        if len(files(shared)) != parts - 1:
            command.failures.append(f"slurm: {len(files(shared))} parts are there instead of {parts - 1}")
        command.options = options
        reader = scratch / "reader"
        missing = command.answers(reader, queries)
        if not all(set(missing[query]) <= set(expected[query]) for query in queries):
            command.failures.append("slurm: without a part, other documents are found")
        if failed := slurm.array(parts, script):
            command.failures.append(f"slurm: tasks {failed} failed the second time: {slurm.last_words()}")
        command.compare("parts by slurm", command.answers(reader, queries), expected)
        for path in files(shared):
            if stat.S_IMODE(path.stat().st_mode) != 0o600:
                command.failures.append(f"{path.name} has the mode {stat.S_IMODE(path.stat().st_mode):o}")
        damaged = files(shared)[7 % parts]
        with open(damaged, "r+b") as file:
            for place in range(0, damaged.stat().st_size, 4096):
                file.seek(place)
                file.write(b"damage")
        found = command.answers(reader, queries)
        if not all(set(found[query]) <= set(expected[query]) for query in queries):
            command.failures.append("slurm: of a damaged part, other documents are found")
        if failed := slurm.array(parts, script):
            command.failures.append(f"slurm: tasks {failed} failed the third time: {slurm.last_words()}")
        command.compare("after damage", command.answers(reader, queries), expected)
    return f"{parts} parts by Slurm, one cancelled, one damaged"


def main():
    queries = find_command.known(folder)
    scratch = Path(tempfile.mkdtemp(prefix="find-parts.", dir=folder))
    try:
        whole = scratch / "whole"
        if said := command.index(whole).communicate()[1]:
            print(said.strip()[-300:])
        expected = command.answers(whole, queries)
        print(f"{len(queries)} queries, {sum(map(len, expected.values()))} hits")
        print(by_parallel(scratch / "parts"))
        if files(scratch / "parts"):
            command.compare("parts by parallel", command.answers(scratch / "parts", queries), expected)
        sizes = [sum(path.stat().st_size for path in files(cache)) for cache in (whole, scratch / "parts")]
        print(f"index: {sizes[0]} bytes in one file, {sizes[1]} in {parts}")
        try:
            print(by_slurm(scratch, queries, expected))
        except Unavailable as reason:
            print(f"skipped: parts by Slurm: {reason}")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print("\n".join(command.failures) or "the same answers")
    return 1 if command.failures else 0


if __name__ == "__main__":
    os.chdir("/")
    sys.exit(main())
