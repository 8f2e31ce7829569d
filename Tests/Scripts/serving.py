"""A server of `ffserve` for a test, and requests byte by byte."""
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.parse


def state(path):
    """The letter of a thread's state; X for one that has ended."""
    try:
        with open(path) as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def wait_until(what, wanted, get):
    """Waits until a value is as wanted, for 30 seconds at most."""
    for _ in range(60):
        found = get()
        if found == wanted:
            return
        time.sleep(0.5)
    raise SystemExit(f"{what}: {found!r}, not {wanted!r}")


class Server:
    """ffserve on a free port of the loopback address, until the `with` ends. `log` is the path of the file for its messages."""

    def __init__(self, program, source, *options, log=None):
        self.words, self.log = [program, source, "--port", "0", *options], log

    def __enter__(self):
        with open(self.log, "w") if self.log else contextlib.nullcontext() as log:
            self.process = subprocess.Popen(self.words, stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL)
        while True:
            line = self.process.stdout.readline().decode()
            if not line:
                raise SystemExit(f"{self.words}: it ended")
            found = re.search(r"(https?)://[^/]*:(\d+)/(?:\?token=(\S+))?", line)
            if found:
                self.port, self.token = int(found.group(2)), found.group(3)
                return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise SystemExit("it does not end when it is told to")

    def suspend(self):
        """Stops the process until SIGCONT; each of its threads stands still on return, and answers nothing."""
        self.process.send_signal(signal.SIGSTOP)
        tasks = f"/proc/{self.process.pid}/task"
        while any(state(f"{tasks}/{task}/stat") not in "TX" for task in os.listdir(tasks)):
            time.sleep(0.01)

    def connect(self, timeout=30):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout)
        connection.settimeout(timeout)
        return connection

    def raw(self, data, timeout=30):
        """What is answered to these bytes, until the connection ends or one answer is there."""
        with self.connect(timeout) as connection:
            connection.sendall(data)
            return answer(connection)

    def ask(self, target, *headers, method="GET", body=b""):
        lines = [f"{method} {target} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", *headers, "Connection: close"]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        return self.raw("\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape") + body)

    def call(self, name, **parameters):
        """The JSON of a call of the API."""
        got = self.ask(f"/api/{name}?" + urllib.parse.urlencode(parameters, quote_via=urllib.parse.quote))
        if got.status != 200:
            raise AssertionError(f"{name} {parameters}: {got.status} {got.body[:300]}")
        return json.loads(got.body)

    @property
    def memory(self):
        """Resident, in bytes."""
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Answer:
    """An answer; the status is 0 if there was none."""

    def __init__(self, data):
        head, _, self.body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.data = data
        self.status = int(lines[0].split()[1]) if lines[0].startswith("HTTP/") else 0
        self.headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            self.headers.setdefault(name.lower(), []).append(value.strip())
        if self.headers.get("transfer-encoding") == ["chunked"]:
            self.body = unchunked(self.body)

    def header(self, name):
        return ", ".join(self.headers.get(name, []))


def unchunked(data):
    """Without its framing; what has no end raises an error."""
    parts, place = [], 0
    while True:
        end = data.index(b"\r\n", place)
        count = int(data[place:end], 16)
        if count == 0:
            return b"".join(parts)
        parts.append(data[end + 2:end + 2 + count])
        place = end + 4 + count


def answer(connection):
    """What comes until an answer of known length is there, or the connection ends."""
    data = bytearray()
    wanted = None
    try:
        while wanted is None or len(data) < wanted:
            part = connection.recv(1 << 16)
            if not part:
                break
            data += part
            end = data.find(b"\r\n\r\n", 0, 1 << 16)
            if wanted is None and end >= 0:
                length = re.search(rb"\r\ncontent-length: *(\d+)", data[:end], re.I)
                wanted = end + 4 + int(length.group(1)) if length else 1 << 60
    except (ConnectionResetError, BrokenPipeError):
        pass
    return Answer(bytes(data))
