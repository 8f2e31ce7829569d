"""What find_killed.py, find_changed.py and find_parts.py share: `ffmount index --search` and `ffmount search` on a tree, with caches of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import find_queries


class Command:
    """ffmount on one tree. `failures` has a line for each search that failed or found something else."""

    def __init__(self, binary, tree):
        self.binary, self.tree, self.failures, self.options = Path(binary).resolve(), tree, [], []

    def environment(self, cache):
        return dict(os.environ, XDG_CACHE_HOME=str(cache), TZ="UTC")

    def index(self, cache):
        """The process that makes the index, or brings it up to date."""
        words = [self.binary, "index", "--search", self.tree]
        return subprocess.Popen(words, env=self.environment(cache), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def ask(self, cache, query):
        """The hits in their order, without what depends on the order of indexing."""
        words = [self.binary, "search", self.tree, query, "--json", "--limit", "100000", *self.options]
        done = subprocess.run(words, env=self.environment(cache), capture_output=True, text=True, timeout=300)
        if done.returncode not in (0, 1):
            self.failures.append(f"`{query}`: status {done.returncode}: {done.stderr.strip()[-300:]}")
            return []
        hits = json.loads(done.stdout or "[]")
        if not isinstance(hits, list):
            self.failures.append(f"`{query}`: status {done.returncode}, {done.stdout.strip()[:300]}")
            return []
        return [(hit["path"], hit["kind"], hit["date"], hit.get("size"), hit["title"]) for hit in hits]

    def answers(self, cache, queries):
        return {query: self.ask(cache, query) for query in queries}

    def compare(self, what, found, expected, ordered=True):
        for query, hits in expected.items():
            missing, extra = set(hits) - set(found[query]), set(found[query]) - set(hits)
            if missing or extra or len(hits) != len(found[query]):
                self.failures.append(f"{what}: `{query}`: misses {sorted(missing)[:3]}, has besides {sorted(extra)[:3]}")
            elif ordered and found[query] != hits:
                self.failures.append(f"{what}: `{query}`: another order")


def known(folder):
    """The queries for the tree of make_findable.py in a folder, which is made unless it is there."""
    if not (folder / "truth.json").exists():
        subprocess.run([sys.executable, "-B", Path(__file__).with_name("make_findable.py"), folder], check=True)
    truth = json.loads((folder / "truth.json").read_text())
    # Neither single words nor languages, which need no long answers.
    return [one.node.ours() for one in find_queries.questions(truth) if one.sort not in ("a word", "language")][::5]
