#!/usr/bin/env python3
"""find_killed.py FFMOUNT FOLDER [SECONDS [SEED]]: kills `ffmount index --search` each second (SECONDS) until one run ends by itself.

The answers are then the same as those of an index that was made in one run, and in between no search fails or finds what is
not there. Workers end with the process that is killed. Then bytes of the index are changed, and the answers stay the same.
Makes the tree of make_findable.py in FOLDER, unless it is there."""

import ctypes
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import find_queries

ffmount, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
seconds, seed = float(sys.argv[3]) if len(sys.argv) > 3 else 1.0, int(sys.argv[4]) if len(sys.argv) > 4 else 1
tree, chance, failures = folder / "tree", random.Random(seed), []
ROUNDS = 300
SUBREAPER = 36


def environment(cache):
    return dict(os.environ, XDG_CACHE_HOME=str(cache), TZ="UTC")


def index(cache):
    return subprocess.Popen(
        [ffmount, "index", "--search", tree], env=environment(cache), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


def ask(cache, query):
    done = subprocess.run(
        [ffmount, "search", tree, query, "--json", "--limit", "100000"],
        env=environment(cache),
        capture_output=True,
        text=True,
        timeout=300,
    )
    if done.returncode not in (0, 1):
        failures.append(f"`{query}`: status {done.returncode}: {done.stderr.strip()[-300:]}")
        return []
    hits = json.loads(done.stdout or "[]")
    if not isinstance(hits, list):
        failures.append(f"`{query}`: status {done.returncode}, {done.stdout.strip()[:300]}")
        return []
    return [(hit["path"], hit["kind"], hit["date"], hit["size"], hit["title"]) for hit in hits]


def answers(cache, queries):
    return {query: ask(cache, query) for query in queries}


def compare(what, found, expected):
    for query, hits in expected.items():
        if found[query] != hits:
            missing, extra = set(hits) - set(found[query]), set(found[query]) - set(hits)
            how = f"misses {sorted(missing)[:3]}, has besides {sorted(extra)[:3]}" if missing or extra else "another order"
            failures.append(f"{what}: `{query}`: {how}")


def left():
    """The processes whose parent was killed, after some time for them to end."""
    end = time.monotonic() + 10
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return []
        names = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        if not names or time.monotonic() > end:
            return names
        time.sleep(0.05)


def main():
    global seconds
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    if not (folder / "truth.json").exists():
        subprocess.run([sys.executable, "-B", Path(__file__).with_name("make_findable.py"), folder], check=True)
    truth = json.loads((folder / "truth.json").read_text())
    queries = [question.node.ours() for question in find_queries.questions(truth) if question.sort != "a word"][::5]
    scratch = Path(tempfile.mkdtemp(prefix="find-killed.", dir=folder))
    try:
        whole, killed = scratch / "whole", scratch / "killed"
        started = time.monotonic()
        process = index(whole)
        said = process.communicate()[1]
        taken = time.monotonic() - started
        if process.returncode:
            sys.exit(f"the index is not made: {said}")
        expected = answers(whole, queries)
        kills = 0
        while kills < ROUNDS:
            process = index(killed)
            try:
                process.wait(chance.uniform(0.3, 1.5) * seconds)
                if process.returncode:
                    failures.append(f"after {kills} kills: status {process.returncode}: {process.stderr.read()[-300:]}")
                break
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
            process.stderr.close()
            kills += 1
            if names := left():
                failures.append(f"kill {kills}: processes {names} are left")
                for name in names:
                    os.kill(int(name), signal.SIGKILL)
            if kills % 20 == 0:
                # A file that takes longer than the time between kills would be begun for ever.
                seconds *= 1.5
        else:
            failures.append(f"the index is not complete after {kills} kills")
        compare(f"after {kills} kills", answers(killed, queries), expected)
        damaged = damage(killed)
        compare(f"after damage to {damaged}", answers(killed, queries), expected)
        print(
            f"{len(queries)} queries, {sum(map(len, expected.values()))} hits; in one run {taken:.1f} s; {kills} kills; damaged: {damaged}"
        )
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print("\n".join(failures))
    return 1 if failures else 0


def damage(cache):
    """Changes bytes in the middle of the largest file of the search index, whatever its name is."""
    files = [path for path in cache.rglob("*") if path.is_file() and "find" in str(path.parent.relative_to(cache))]
    largest = max(files, key=lambda path: path.stat().st_size)
    size = largest.stat().st_size
    with open(largest, "r+b") as file:
        for _ in range(20):
            file.seek(chance.randrange(size // 10, size - 64))
            file.write(chance.randbytes(32))
    return str(largest.relative_to(cache))


if __name__ == "__main__":
    sys.exit(main())
