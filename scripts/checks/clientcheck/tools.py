"""The server that clients ask, and how they are run."""

import os
import pwd
import re
import shutil
import subprocess
import tempfile
import urllib.parse


class Skipped(Exception):
    """Why a client cannot be tried here."""


class Stage:
    """ffserve over a folder of hard names; others are started as they are needed."""

    def __init__(self, program, folder, make, pictures):
        self.program, self.folder, self.pictures = os.path.abspath(program), folder, pictures
        self.source = os.path.join(folder, "shown")
        os.mkdir(self.source)
        self.shown = make(self.source)
        self.servers = []

    def __enter__(self):
        try:
            self.port = self.serve(self.source)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.terminate()
            try:
                server.wait(5)
            except subprocess.TimeoutExpired:
                server.kill()

    def serve(self, source, *options):
        """Starts a server; returns its port."""
        cache = os.path.join(self.folder, "cache")
        server = subprocess.Popen(
            [self.program, source, "--port", "0", "--no-token", "--no-bonjour", *options], stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL, text=True, env={**os.environ, "XDG_CACHE_HOME": cache})  # fmt: skip
        self.servers.append(server)
        for line in server.stdout:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/", line):
                return int(found[1])
        raise SystemExit("check-clients: the server does not start")

    @property
    def dav(self):
        return f"http://127.0.0.1:{self.port}/dav/"

    def file_url(self, name):
        """Of a file by the API, by the name's bytes."""
        return f"http://127.0.0.1:{self.port}/api/file?path=/{urllib.parse.quote(name)}"

    def scratch(self, name):
        """A new empty folder, which everybody may write to."""
        folder = tempfile.mkdtemp(prefix=name + "-", dir=self.folder)
        os.chmod(folder, 0o777)
        return folder


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skipped(f"no {program} (scripts/dependencies clients)")


def run(words, timeout=120, check=True, **options):
    """What a program prints; an error with that if it fails."""
    try:
        got = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout, errors="surrogateescape", **options)
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{words[0]} does not end within {timeout} s") from error
    if check and got.returncode:
        raise Failed(f"{' '.join(map(str, words))[:200]}: status {got.returncode}: {got.stdout[-600:]}")
    return got.stdout


class Failed(Exception):
    """What a client could not do."""


def reporting(client):
    """A client whose failure is what it says is wrong."""

    def run_client(stage):
        try:
            return client(stage)
        except Failed as failure:
            return "", [str(failure)]

    return run_client


def as_user(words, home):
    """The words that run a program as an ordinary user, with a home of his."""
    if os.getuid() != 0:
        return ["env", f"HOME={home}", f"XDG_RUNTIME_DIR={home}", *words]
    user = pwd.getpwnam("nobody")
    os.chown(home, user.pw_uid, user.pw_gid)
    os.chmod(home, 0o700)
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--reset-env", "env", f"HOME={home}",
            f"XDG_RUNTIME_DIR={home}", "LC_ALL=C.UTF-8", *words]  # fmt: skip
