#!/usr/bin/env python3
"""find_questions.py FFMOUNT FOLDER: asks ffmount, by command and in a mount, and Recoll 200 questions whose answers are known.

Makes the tree of make_findable.py in FOLDER, unless it is there. Everything is compared with the truth and the programs with
each other: FOLDER/differences.md has each document that one of them finds and the other does not, with a column for the
reason, which find_reasons.tsv fills for what is understood. Exits with 1 if a strict question has a wrong answer.

    --without recoll,mount,words   leaves these out
    --ocr                          also text in pictures
    --only SORT                    questions of this sort"""

import argparse
import base64
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import find_queries

SCRIPTS = Path(__file__).resolve().parent


class Truth:
    def __init__(self, folder):
        self.tree = folder / "tree"
        document = json.loads((folder / "truth.json").read_text())
        self.file, self.documents = document, document["documents"]
        with_files = {one["path"].rpartition("/attachments/")[0] for one in self.documents if "/attachments/" in one["path"]}
        self.facts = [
            find_queries.Facts(one, not {one["path"], f"{one['path']}.message"}.isdisjoint(with_files)) for one in self.documents
        ]
        self.exact, self.patterns = {}, []
        for one in self.documents:
            for path in (one["path"], *one["also"]):
                if "*" in path:
                    self.patterns.append((re.compile(re.escape(path).replace(r"\*", "[^/]*")), one["id"]))
                else:
                    self.exact[path] = one["id"]
        self.known = {}
        # The documents in each message, archive or mailbox.
        self.parts = {}
        for one in self.documents:
            start = one["path"]
            while "/" in start:
                start = start.rpartition("/")[0]
                for owner in (
                    start,
                    *(start.removesuffix(ending) for ending in (".message", ".contents", ".messages") if start.endswith(ending)),
                ):
                    self.parts.setdefault(owner, []).append(self.facts[one["id"]])

    def document(self, path):
        """The document that a hit's path is of: itself, or the closest one that the path leads into. None: of no document."""
        if path not in self.known:
            best, length = None, -1
            start = path
            while start:
                if start in self.exact:
                    best, length = self.exact[start], len(start)
                    break
                # A view's name is the file's with an ending.
                cut = max(start.rfind("/"), start.rfind("."))
                start = start[:cut] if cut > 0 else ""
            for pattern, number in self.patterns:
                found = pattern.match(path)
                if found and found.end() > length and (found.end() == len(path) or path[found.end()] in "/."):
                    best, length = number, found.end()
            self.known[path] = best
        return self.known[path]

    def page(self, number, path):
        """The number of the page that a path is of, from 0; None if it is of the whole document."""
        if not self.documents[number]["pages"]:
            return None
        if found := re.search(r"\.sheets/s(\d+)\.csv$", path):
            return int(found[1])
        found = re.search(r"(?:\.pages/0*|\.contents/OEBPS/c0*)(\d+)\.(?:pdf|xhtml)$", path)
        return int(found[1]) - 1 if found else None


class Ours:
    """ffmount's command, with an index in a folder of its own."""

    name = "ffmount"

    def __init__(self, binary, truth, cache, ocr, jobs):
        self.binary, self.truth = binary, truth
        self.environment = dict(os.environ, XDG_CACHE_HOME=str(cache), TZ="UTC")
        started = time.monotonic()
        words = [binary, "index", "--search", truth.tree, *(["--ocr"] if ocr else []), *(["--jobs", str(jobs)] if jobs else [])]
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True)
        print(f"ffmount index: status {done.returncode} in {time.monotonic() - started:.1f} s", file=sys.stderr)
        if done.returncode not in (0,):
            print(done.stderr[-2000:], file=sys.stderr)

    def ask(self, query):
        """The hits, and the reason why there are none if it failed."""
        words = [self.binary, "search", self.truth.tree, query, "--json", "--limit", "100000"]
        try:
            done = subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=120)
        except subprocess.TimeoutExpired:
            return [], "120 s passed"
        if done.returncode not in (0, 1):
            return [], f"status {done.returncode}: {done.stderr.strip()[-300:]}"
        try:
            hits = json.loads(done.stdout or "[]")
            if not isinstance(hits, list) or not all(isinstance(hit, dict) for hit in hits):
                return [], f"not a list of hits: {done.stdout[:200]!r}"
            for hit in hits:
                hit["path"] = hit["path"].removeprefix(f"{self.truth.tree}/")
            return hits, ""
        except ValueError:
            return [], f"not JSON: {done.stdout[:200]!r}"


class Recoll:
    """Recoll with a configuration of its own. Its documents are recognised by their unique words."""

    name = "Recoll"

    def __init__(self, truth, folder):
        self.truth, self.folder = truth, folder
        # Recoll's filters are for Debian's Python.
        self.environment = dict(os.environ, PATH="/usr/bin:/bin", TZ="UTC")
        folder.mkdir(exist_ok=True)
        (folder / "recoll.conf").write_text(
            f"topdirs = {truth.tree}\nindexstemminglanguages =\nskippedNames =\nnoaspell = 1\nloglevel = 2\nidxflushmb = 100\n"
        )
        # Debian's configuration leaves archives of tar out.
        (folder / "mimeconf").write_text("[index]\napplication/x-tar = execm rcltar.py\n")
        started = time.monotonic()
        subprocess.run(
            ["recollindex", "-c", folder],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=(folder / "log").open("w"),
            check=True,
        )
        print(f"recollindex: {time.monotonic() - started:.1f} s", file=sys.stderr)
        self.documents = {}
        for one in truth.documents:
            # The subject of a message is in the titles of its attachments, too.
            for word in one["unique"][:1] if one["kind"] == "mail" else one["unique"]:
                for key in self.keys(word):
                    self.documents.setdefault(key, set()).add(one["id"])
        of_file = collections.defaultdict(set)
        for one in truth.documents:
            of_file[one["source"]].add(one["id"])
        self.alone = {source: numbers for source, numbers in of_file.items() if len(numbers) == 1}

    def keys(self, query):
        words = ["recollq", "-c", self.folder, "-n", "0", "-F", "url ipath", query]
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True)
        found = []
        for line in done.stdout.splitlines()[2:]:
            cells = [base64.b64decode(cell).decode("utf-8", "replace") for cell in line.split(" ")[:2]]
            found.append(
                (
                    (
                        urllib.parse.unquote(cells[0].removeprefix("file://"))
                        if "%" in cells[0]
                        else cells[0].removeprefix("file://")
                    ),
                    cells[1] if len(cells) > 1 else "",
                )
            )
        return found

    def ask(self, query):
        found = set()
        for key in self.keys(query.replace("{tree}", str(self.truth.tree))):
            source = os.path.relpath(key[0], self.truth.tree)
            found |= self.documents.get(key, set()) or self.alone.get(source, set())
        return found


class Mounted:
    """The tree's mount, whose `.search/QUERY/RESULTS.json` says what a search found."""

    def __init__(self, binary, truth, environment):
        self.path = Path(tempfile.mkdtemp(prefix="find-questions."))
        self.process = subprocess.Popen([binary, "-f", truth.tree, self.path], env=environment, stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + 30
        while not os.path.ismount(self.path):
            if self.process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"it does not mount: {self.process.stderr.read()}")
            time.sleep(0.02)

    def ask(self, query, place=""):
        """The paths that are found, how long it took, and the faults."""
        folder = self.path / (f"{place}.search" if place else ".search") / query
        started = time.monotonic()
        try:
            names = sorted(os.listdir(folder))
            hits = json.loads((folder / "RESULTS.json").read_text())
        except (OSError, ValueError) as error:
            return None, time.monotonic() - started, [str(error)]
        taken, faults = time.monotonic() - started, []
        # Files among the results have views, which are listed beside them.
        ranks = {}
        for name in names:
            if found := re.match(r"\d+(?= )", name):
                known = ranks.setdefault(int(found[0]), name)
                ranks[int(found[0])] = min(known, name, key=len)
        entries = [ranks[rank] for rank in sorted(ranks)]
        if len(entries) != len(hits):
            faults.append(f"{len(entries)} entries, {len(hits)} results")
        # An entry is the very thing: the first ones are compared byte by byte.
        for name, hit in list(zip(entries, hits))[:2]:
            one, other = folder / name, self.path / (f"{place}/" if place else "") / hit["path"]
            try:
                if other.is_dir() != one.is_dir() or (one.is_dir() and sorted(os.listdir(one)) != sorted(os.listdir(other))):
                    faults.append(f"{name} is not the folder {hit['path']}")
                elif one.is_file() and one.read_bytes() != other.read_bytes():
                    faults.append(f"{name} is not {hit['path']}")
            except OSError as error:
                faults.append(f"{name}: {error}")
        return [hit["path"] for hit in hits], taken, faults

    def close(self):
        for _ in range(50):
            if subprocess.run(["fusermount3", "-u", self.path], stderr=subprocess.DEVNULL).returncode == 0:
                break
            time.sleep(0.1)
        self.process.wait(30)
        self.path.rmdir()


def judged(truth, question, hits, levels):
    """What is wrong in an answer: (missing, extra, wrong pages, paths of no document), as texts."""
    found, pages, strange = set(), collections.defaultdict(set), []
    for hit in hits:
        number = truth.document(hit["path"])
        if number is None:
            strange.append(hit["path"])
            continue
        found.add(number)
        pages[number].add(truth.page(number, hit["path"]))
    missing, better, extra, wrong = [], [], [], []
    for number, facts in enumerate(truth.facts):
        one = facts.document
        holds = question.node.holds(facts)
        if question.across:
            holds = find_queries.truth(question.node, facts, None)
        if (
            holds is False
            and number in found
            and (parts := truth.parts.get(one["path"]))
            and find_queries.whole(question.node, facts, parts)
        ):
            # Its words are in different things in it.
            holds = None
        if one["level"] == "may" and holds is False and number in found:
            extra.append(one["path"])
        elif holds is True and number not in found:
            (missing if one["level"] in levels else better).append(one["path"])
        elif holds is False and number in found:
            extra.append(one["path"])
        if holds is True and number in found and one["pages"] and not question.across:
            sections, shown = set(find_queries.sections_of(question.node, facts)), pages[number]
            if len(one["pages"]) > 1 and shown != sections and not (None in shown and not sections):
                wrong.append(
                    f"{one['path']}: pages {sorted(number + 1 for number in sections)}, shown {sorted('file' if number is None else str(number + 1) for number in shown)}"
                )
    return found, missing, better, extra, wrong, strange


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--without", default="", metavar="LIST")
    parser.add_argument("--ocr", action="store_true")
    parser.add_argument("--only", metavar="SORT")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--failures", type=Path, metavar="FILE", help="append a line for each wrong answer")
    options = parser.parse_args()
    without = options.without.split(",")
    folder = options.folder.resolve()
    if not (folder / "truth.json").exists():
        subprocess.run([sys.executable, "-B", SCRIPTS / "make_findable.py", folder], check=True)
    truth = Truth(folder)
    asked = [one for one in find_queries.questions(truth.file) if not options.only or options.only in one.sort]
    levels = {"must", "ocr"} if options.ocr else {"must"}
    ours = (
        Ours(options.binary.resolve(), truth, folder / "cache", options.ocr, options.jobs) if "ffmount" not in without else None
    )
    recoll = Recoll(truth, folder / "recoll") if "recoll" not in without else None
    failures, table, between = [], collections.defaultdict(collections.Counter), []
    answers, seconds = {}, []
    for question in asked:
        row, query = table[question.sort], question.node.ours()
        row["asked"] += 1
        theirs = None
        if recoll and (text := question.node.recoll()):
            theirs = recoll.ask(text)
            row["recoll asked"] += 1
            row["recoll exact"] += all(
                holds is None or holds == (number in theirs) or one["level"] not in levels
                for number, one in enumerate(truth.documents)
                for holds in [question.node.holds(truth.facts[number])]
            )
        if not ours:
            continue
        started = time.monotonic()
        hits, fault = ours.ask(query)
        seconds.append(time.monotonic() - started)
        found, missing, better, extra, wrong, strange = judged(truth, question, hits, levels)
        answers[question.number] = [hit["path"] for hit in hits]
        row["exact"] += not (fault or missing or extra or wrong or strange)
        row["better missed"] += len(better)
        lines = [f"fails: {fault}"] if fault else []
        lines += [f"expected {len(missing) + len(found)}, does not find {few(missing)}"] if missing else []
        lines += [f"finds {few(extra)}, which does not match"] if extra else []
        lines += [f"finds {few(wrong)}"] if wrong else []
        lines += [f"finds {few(strange)}, which is no known document"] if strange else []
        lines += [f"(better) does not find {few(better)}"] if better and not question.strict else []
        for line in lines:
            mark = "" if question.strict and not line.startswith("(better)") else "not strict: "
            failures.append((not mark, f"{question.number} [{question.sort}] `{query}`: {mark}{line}"))
        if theirs is not None:
            between += [("only Recoll", question, number) for number in sorted(theirs - found)]
            between += [("only ffmount", question, number) for number in sorted(found - theirs)]
    if ours and "words" not in without and not options.only:
        failures += all_words(truth, ours, levels, table["each document's word"])
    if ours and "mount" not in without:
        failures += in_mount(options.binary.resolve(), truth, ours, asked, answers, table["in the mount"])
    report(folder, truth, table, between, failures, seconds, recoll)
    if options.failures:
        with options.failures.open("a") as file:
            file.writelines(f"{line}\n" for _, line in failures)
    sys.exit(1 if any(strict for strict, _ in failures) else 0)


def few(several):
    return ", ".join(map(str, several[:4])) + (f" and {len(several) - 4} more" if len(several) > 4 else "")


def all_words(truth, ours, levels, row):
    """Each unique word has to find its document, on the page where it is. Many are asked at once, and each of them only where
    these do not find just their documents."""
    failures = []
    words = [(word, one) for one in truth.documents for word in one["unique"]]
    for start in range(0, len(words), 50):
        several = words[start : start + 50]
        question = find_queries.Question("each word", find_queries.Or(tuple(find_queries.Word(word) for word, _ in several)))
        hits, fault = ours.ask(question.node.ours())
        if not fault and not any(judged(truth, question, hits, levels)[1:]):
            row["asked"] += len(several)
            row["exact"] += len(several)
            continue
        for word, one in several:
            question = find_queries.Question("each word", find_queries.Word(word))
            hits, fault = ours.ask(word)
            _, missing, better, extra, wrong, strange = judged(truth, question, hits, levels)
            row["asked"] += 1
            row["exact"] += not (fault or missing or extra or wrong or strange)
            row["better missed"] += len(better)
            lines = [fault] if fault else []
            lines += [f"does not find {few(missing)}"] if missing else []
            lines += [f"finds {few(extra + wrong + strange)}"] if extra or wrong or strange else []
            failures += [(True, f"word `{word}` ({one['kind']}): {line}") for line in lines]
            if better:
                failures.append(
                    (False, f"word `{word}` ({one['kind']}, {one['level']}): not strict: does not find {few(better)}")
                )
    return failures


def in_mount(binary, truth, ours, asked, answers, row):
    """The folders of searches have what the command finds, in the same order."""
    failures, mount = [], Mounted(binary, truth, ours.environment)
    try:
        for question in asked:
            query = question.node.ours()
            if "/" in query or len(query.encode()) > 250 or query.startswith("."):
                continue
            paths, _, faults = mount.ask(query)
            row["asked"] += 1
            if paths is not None and paths != answers[question.number]:
                missing, extra = set(answers[question.number]) - set(paths), set(paths) - set(answers[question.number])
                faults.append(
                    f"misses {few(sorted(missing))}; has besides {few(sorted(extra))}" if missing or extra else "another order"
                )
            row["exact"] += not faults
            failures += [(True, f"{question.number} mount `.search/{query}`: {fault}") for fault in faults]
        for place in ("papers", "papers/office", "post"):
            paths, _, faults = mount.ask("meadow", place)
            hits, fault = ours.ask("meadow")
            row["asked"] += 1
            expected = sorted(hit["path"].removeprefix(f"{place}/") for hit in hits if hit["path"].startswith(f"{place}/"))
            if fault or sorted(paths or []) != expected:
                faults.append(f"has {len(paths or [])} of the {len(expected)} results of `meadow` that are in it")
            row["exact"] += not faults
            failures += [(True, f"mount `{place}.search/meadow`: {fault}") for fault in faults]
    finally:
        mount.close()
    return failures


def report(folder, truth, table, between, failures, seconds, recoll):
    print("| questions | asked | exact | Recoll asked | Recoll exact | better missed |\n|---|---:|---:|---:|---:|---:|")
    total = collections.Counter()
    for sort, row in table.items():
        print(
            f"| {sort} | {row['asked']} | {row['exact']} | {row['recoll asked']} | {row['recoll exact']} | {row['better missed']} |"
        )
        total.update(row)
    print(
        f"| all | {total['asked']} | {total['exact']} | {total['recoll asked']} | {total['recoll exact']} | {total['better missed']} |"
    )
    if seconds:
        seconds.sort()
        print(f"\nffmount search: {seconds[len(seconds) // 2]:.3f} s median, {seconds[-1]:.3f} s most")
    for strict, line in failures:
        print(("WRONG " if strict else "note ") + line)
    if not recoll:
        return
    reasons = []
    for line in (SCRIPTS / "find_reasons.tsv").read_text().splitlines():
        if line.count("\t") == 2 and not line.startswith("#"):
            reasons.append(line.split("\t"))
    rows = ["| found by | question | path | by the truth | level | reason |", "|---|---|---|---|---|---|"]
    for who, question, number in between:
        one = truth.documents[number]
        holds = (
            find_queries.truth(question.node, truth.facts[number], None)
            if question.across
            else question.node.holds(truth.facts[number])
        )
        said = {True: "matches", False: "does not match", None: "not decided"}[holds]
        why = next(
            (
                why
                for by, pattern, why in reasons
                if by == who and re.search(pattern, f"{question.sort} {question.node.ours()} {one['path']} {said}")
            ),
            "",
        )
        rows.append(f"| {who} | `{question.node.ours()}` | {one['path']} | {said} | {one['level']} | {why} |")
    (folder / "differences.md").write_text("\n".join(rows) + "\n")
    count = collections.Counter(row.split("|")[1].strip() for row in rows[2:])
    print(f"\n{folder / 'differences.md'}: {dict(count)}, {sum(row.endswith('|  |') for row in rows)} without a reason")


if __name__ == "__main__":
    main()
