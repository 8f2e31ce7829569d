"""Clients that bring files home: curl, wget, rclone, cadaver; and litmus, which asks what WebDAV clients ask."""

import os
import re
import urllib.parse

from . import files
from .tools import Failed, need, reporting, run


def part(name):
    """A name without its folders."""
    return os.path.basename(name)


@reporting
def curl(stage):
    """Every file by the API and by /dav/, parts of one, the rest of one that was broken off, and nothing of what has not changed."""
    need("curl")
    wrong = []
    folder = stage.scratch("curl")
    for name, data in stage.shown.items():
        for url in (stage.file_url(name), stage.dav + urllib.parse.quote(name)):
            target = os.path.join(folder, "got")
            run(["curl", "-sSf", "--path-as-is", "-o", target, url])
            with open(target, "rb") as file:
                if file.read() != data:
                    wrong.append(f"{url}: other bytes")
    large, target = stage.shown[b"large.bin"], os.path.join(folder, "large.bin")
    url = stage.file_url(b"large.bin")
    for text, wanted in (("0-0", large[:1]), ("100000-199999", large[100000:200000]), ("-5", large[-5:]), ("6000000-", large[6000000:])):
        run(["curl", "-sSf", "-r", text, "-o", target, url])
        with open(target, "rb") as file:
            if file.read() != wanted:
                wrong.append(f"-r {text}: other bytes")
    with open(target, "wb") as file:
        file.write(large[:1234567])
    said = run(["curl", "-sSf", "-C", "-", "-w", "%{http_code} %{size_download}", "-o", target, url])
    with open(target, "rb") as file:
        if file.read() != large or said != f"206 {len(large) - 1234567}":
            wrong.append(f"-C -: {said}")
    # Which name it has at home is in the answer.
    run(["curl", "-sSf", "-OJ", stage.file_url("ümläut.txt".encode()) + "&download=1"], cwd=folder)
    run(["curl", "-sSf", "-R", "-z", os.path.join(stage.source, "plain.txt"), "-o", os.path.join(folder, "unchanged"),
         stage.file_url(b"plain.txt")])  # fmt: skip
    if os.path.exists(os.path.join(folder, "unchanged")):
        wrong.append("-z: sent again, though it has not changed")
    return f"{len(stage.shown)} files twice, ranges, -C -, -OJ, -z", wrong


@reporting
def wget(stage):
    """All of it by its links, and the rest of a file."""
    need("wget")
    folder = stage.scratch("wget")
    words = ["wget", "-nv", "-e", "robots=off", "--tries=1", "--restrict-file-names=nocontrol", "--no-iri", "--local-encoding=UTF-8"]
    run([*words, "-m", "-np", "-nH", "--cut-dirs=1", stage.dav], cwd=folder)
    for place, _, names in os.walk(folder):
        # The page of each folder.
        if "index.html" in names:
            os.unlink(os.path.join(place, "index.html"))
    for place, _, _ in os.walk(folder):
        # It takes the name for encoded twice when it writes the file.
        if os.path.exists(os.path.join(place, "A.txt")):
            os.rename(os.path.join(place, "A.txt"), os.path.join(place, "%41.txt"))
    wrong = files.differences(folder, stage.shown)
    large = stage.shown[b"large.bin"]
    with open(os.path.join(folder, "large.bin"), "wb") as file:
        file.write(large[:2000000])
    run([*words, "-c", stage.dav + "large.bin"], cwd=folder)
    with open(os.path.join(folder, "large.bin"), "rb") as file:
        if file.read() != large:
            wrong.append("-c: other bytes")
    # Nothing is brought twice: dates and sizes are told.
    said = run([*words, "-N", stage.dav + "large.bin"], cwd=folder)
    if "saved" in said or "->" in said:
        wrong.append(f"-N: {said.strip()}")
    return f"-m brings all {len(stage.shown)} files, -c the rest of one, -N nothing", wrong


@reporting
def rclone(stage):
    """By http and by WebDAV: the names, a copy, and a comparison of its own."""
    need("rclone")
    wrong = []
    home = stage.scratch("home")
    environment = {**os.environ, "HOME": home, "RCLONE_CONFIG": os.path.join(home, "none")}
    # It keeps names as UTF-8 alone.
    without = {files.RAW}
    for kind, options in (("http", [f"--http-url={stage.dav}"]), ("webdav", [f"--webdav-url={stage.dav}", "--webdav-vendor=other"])):
        options += ["--log-level=ERROR", "--retries=1"]
        remote = f":{kind}:"
        listed = set(run(["rclone", "lsf", "-R", "--files-only", remote, *options], env=environment).splitlines())
        wanted = {name.decode() for name in stage.shown if part(name) not in without}
        if missing := wanted - listed:
            wrong.append(f"{kind}: lsf lacks {sorted(missing)[:5]}")
        folder = stage.scratch(kind)
        run(["rclone", "copy", remote, folder, *options, "--exclude", "raw*"], env=environment)
        wrong += [f"{kind}: {line}" for line in files.differences(folder, stage.shown, without)]
        run(["rclone", "check", "--download", folder, remote, "--one-way", *options], env=environment)
    return "http and webdav: lsf, copy, check --download", wrong


@reporting
def cadaver(stage):
    """A listing, folders and files by WebDAV."""
    need("cadaver")
    folder = stage.scratch("cadaver")
    # What its command line has no way to write.
    odd = {name for name in stage.shown if any(byte in part(name) for byte in b"\"'\\")} | {b"large.bin", files.RAW}
    names = [name for name in stage.shown if name not in odd and b"/" not in name]
    lines = [f"open {stage.dav}", "ls", 'cd "Ordner ü #2/tief"', "get plain.txt deep", "cd /dav/a.zip.contents", "get x/packed.txt packed", "cd /dav"]
    lines += [f'get "{name.decode()}" {number}' for number, name in enumerate(names)] + ["put deep new.txt", "quit", ""]
    said = run(["cadaver"], input="\n".join(lines), cwd=folder, env={**os.environ, "HOME": folder})
    wrong = []
    for name, target in [*((name, str(number)) for number, name in enumerate(names)), ("Ordner ü #2/tief/plain.txt".encode(), "deep"),
                         (b"a.zip.contents/x/packed.txt", "packed")]:  # fmt: skip
        try:
            with open(os.path.join(folder, target), "rb") as file:
                if file.read() != stage.shown[name]:
                    wrong.append(f"{name!r} has other bytes")
        except FileNotFoundError:
            wrong.append(f"{name!r} is missing")
    if not re.search("Coll: *a.zip.contents", said) or "403 Forbidden" not in said:
        wrong.append(said[-500:])
    return f"ls, cd, get of {len(names) + 2} files", wrong


@reporting
def litmus(stage):
    """All of its tests, on a server that may be written to."""
    need("litmus")
    folder = stage.scratch("litmus")
    passed = 0
    wrong = []
    port = stage.serve(stage.scratch("written"), "-o", "rw")
    said = run(["litmus", "-k", f"http://127.0.0.1:{port}/dav/"], check=False, cwd=folder)
    for suite, count, failed in re.findall(r"summary for `(\w+)': of (\d+) tests run: \d+ passed, (\d+) failed", said):
        passed += int(count) - int(failed)
        wrong += [f"{suite}: {failed} tests failed"] if failed != "0" else []
    wrong += [line for line in said.splitlines() if "FAIL" in line or "WARNING" in line]
    return f"{passed} tests", wrong if passed else [said[-500:]]
