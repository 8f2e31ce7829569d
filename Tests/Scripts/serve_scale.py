"""serve_scale.py FFSERVE SCRATCH PAGE: three servers behind nginx and HAProxy, as ServeScale.md has them, one of which is killed.

PAGE is that document: what stands there is what is run, on free ports. Prints what was skipped, and "done".
"""
import hashlib
import http.client
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
from pathlib import Path

from serving import Answer, answer

PROGRAM, SCRATCH, PAGE = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]).read_text()
TOKEN = "a token for all".replace(" ", "-")
SOURCE = SCRATCH / "source"
SERVERS = 3


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Server:
    """One ffserve, with an index of its own."""

    def __init__(self, number: int, *options: str, cache: Path | None = None) -> None:
        self.port = free_port()
        self.name = f"server {number}"
        own = SCRATCH / f"own{number}"
        own.mkdir(exist_ok=True)
        self.options = [
            "--port", str(self.port), "--token-file", str(SCRATCH / "token"), "--name", "archive.example",
            "-o", f"shared_cache={cache or SCRATCH / 'cache'},source_id=archive", *options]
        self.environment = os.environ | {"XDG_CACHE_HOME": str(own)}
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [PROGRAM, SOURCE, *self.options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL, env=self.environment)
        while line := self.process.stdout.readline():
            if b"Stop with" in line:
                return
        sys.exit(f"{self.name} ended: {self.options}")

    def ask(self, target: str, *headers: str, token: str | None = TOKEN, host: str | None = None) -> Answer:
        lines = [f"GET {target} HTTP/1.1", f"Host: {host or 'archive.example'}", *headers, "Connection: close"]
        if token:
            lines.append(f"Authorization: Bearer {token}")
        with socket.create_connection(("127.0.0.1", self.port), 20) as connection:
            connection.settimeout(20)
            connection.sendall("\r\n".join([*lines, "", ""]).encode())
            return answer(connection)

    def counter(self, name: str) -> float:
        found = re.search(rf"^{name} (\S+)$", self.ask("/metrics").body.decode(), re.M)
        return float(found.group(1))

    def end(self) -> int:
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(10)


def expect(what: str, got: object, *wanted: object) -> None:
    if got not in wanted:
        sys.exit(f"{what}: {got!r}, expected {wanted}")


def configuration(language: str, port: int, servers: list[Server]) -> str:
    """What the page says, with these ports."""
    text = re.search(rf"```{language}\n(.*?)```", PAGE, re.S).group(1)
    for number, server in enumerate(servers):
        text = text.replace(f"127.0.0.1:{4201 + number}", f"127.0.0.1:{server.port}")
    expect("servers in the configuration", len(re.findall(r"127\.0\.0\.1:420[1-9]", text)), 0)
    return text.replace("127.0.0.1:4200", f"127.0.0.1:{port}")


def nginx(port: int, servers: list[Server]) -> list[str]:
    folder = SCRATCH / "nginx"
    folder.mkdir(exist_ok=True)
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in
                        ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(
        f"worker_processes 1;\npid {folder}/pid;\nerror_log {folder}/error.log;\nevents {{ worker_connections 256; }}\n"
        f"http {{\naccess_log off;\n{temporary}{configuration('nginx', port, servers)}}}\n")
    user = "user root; " if os.geteuid() == 0 else ""
    return ["nginx", "-c", str(folder / "nginx.conf"), "-g", f"daemon off; {user}"]


def haproxy(port: int, servers: list[Server]) -> list[str]:
    path = SCRATCH / "haproxy.cfg"
    path.write_text(configuration("haproxy", port, servers))
    return ["haproxy", "-db", "-q", "-f", str(path)]


def wait_for(port: int, process: subprocess.Popen, what: str) -> None:
    for _ in range(200):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/healthz")
            if connection.getresponse().status == 200:
                return connection.close()
        except OSError:
            pass
        if process.poll() is not None:
            break
        time.sleep(0.05)
    sys.exit(f"{what} does not answer")


class Reader(threading.Thread):
    """A client that goes on where an answer broke off, if it is still about the same bytes."""

    def __init__(self, port: int, wanted: dict[str, str], seed: int, until: threading.Event) -> None:
        super().__init__()
        self.port, self.wanted, self.until, self.random = port, wanted, until, random.Random(seed)
        self.read, self.resumed, self.wrong = 0, 0, []
        #: For one that stops in the midst of its first answer: when it is there, and when it may go on.
        self.isThere, self.mayGo = threading.Event(), threading.Event()
        self.stops = False

    def run(self) -> None:
        while not self.until.is_set():
            path = self.random.choice(list(self.wanted))
            data = self.fetch(path)
            if hashlib.sha256(data).hexdigest() != self.wanted[path]:
                self.wrong.append(f"{path}: {len(data)} bytes")
            self.read += 1

    def fetch(self, path: str) -> bytes:
        data, tag = bytearray(), None
        for _ in range(50):
            headers = {"Host": "archive.example", "Authorization": f"Bearer {TOKEN}"}
            if data:
                headers |= {"Range": f"bytes={len(data)}-", "If-Range": tag}
                self.resumed += 1
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
            try:
                connection.request("GET", "/api/file?path=" + urllib.parse.quote(path), headers=headers)
                got = connection.getresponse()
                if got.status == 200:
                    data = bytearray()
                elif got.status != 206:
                    self.wrong.append(f"{path}: {got.status}")
                    return bytes(data)
                if tag not in (None, got.headers["ETag"]):
                    self.wrong.append(f"{path}: the tag was {tag}, is {got.headers['ETag']}")
                tag = got.headers["ETag"]
                while part := got.read1(1 << 16):
                    data += part
                    # Slowly enough that somebody is always in the midst of an answer.
                    time.sleep(0.002)
                    if self.stops:
                        self.isThere.set()
                        self.mayGo.wait(30)
                        self.stops = False
                if got.length in (0, None):
                    return bytes(data)
            except (http.client.HTTPException, OSError):
                pass
            finally:
                connection.close()
            time.sleep(0.02)
        self.wrong.append(f"{path}: never whole")
        return bytes(data)


def make_source() -> None:
    SOURCE.mkdir()
    noise = random.Random(5)
    for number in range(4):
        # More than sockets hold, else it arrives whoever is killed.
        (SOURCE / f"large{number}.bin").write_bytes(b"".join(noise.randbytes(99_991) * 8 for _ in range(16 + number)))
    for number in range(20):
        (SOURCE / f"small{number}.txt").write_bytes(noise.randbytes(500 * number))
    subprocess.run(["zip", "-q", "all.zip", *(f"small{number}.txt" for number in range(20)), "large0.bin"],
                   cwd=SOURCE, check=True)
    picture = b"P6 1500 1000 255\n" + noise.randbytes(1500 * 4) * 750
    (SOURCE / "picture.ppm").write_bytes(picture)
    (SOURCE / "other.ppm").write_bytes(b"P6 300 300 255\n" + noise.randbytes(300 * 300 * 3))
    # Whatever was written a moment ago has no identity.
    time.sleep(0.05)
    (SCRATCH / "token").write_text(TOKEN + "\n")
    os.chmod(SCRATCH / "token", 0o600)


def check_alike(servers: list[Server]) -> None:
    """What one server says holds at the others."""
    for path in ("/large1.bin", "/all.zip.contents/small7.txt", "/picture.ppm.as-png", "/all.zip"):
        got = [server.ask("/api/file?path=" + path) for server in servers]
        expect(f"statuses of {path}", {each.status for each in got}, {200})
        expect(f"the number of tags of {path}", len({each.header("etag") for each in got}), 1)
        expect(f"the number of bodies of {path}", len({each.body for each in got}), 1)
    cookie = servers[0].ask(f"/?token={TOKEN}", token=None).header("set-cookie")
    expect("whether the cookie is for TLS alone", "Secure" in cookie, False)
    pair = cookie.split(";")[0]
    for server in servers:
        expect("a cookie of the first", server.ask("/api/list?path=/", f"Cookie: {pair}", token=None).status, 200)
        expect("no cookie", server.ask("/api/list?path=/", token=None).status, 401)
    secure = servers[0].ask(f"/?token={TOKEN}", "X-Forwarded-Proto: https", token=None).header("set-cookie")
    expect("whether that by TLS is", "Secure" in secure, True)


def check_once(servers: list[Server]) -> None:
    """What all are asked for at a time is made by one."""
    before = sum(server.counter("ffserve_conversions_made_total") for server in servers)
    for view in ("other.ppm.as-png", "other.ppm.as-webp", "picture.ppm.as-tiff", "picture.ppm.as-webp"):
        bodies: list[bytes] = []
        threads = [threading.Thread(target=lambda s=server: bodies.append(s.ask("/api/file?path=/" + view).body))
                   for server in servers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        expect(f"how many kinds of {view} there are", len(set(bodies)), 1)
        expect(f"whether {view} is empty", len(bodies[0]) > 1000, True)
    kept = [name for name in os.listdir(SCRATCH / "cache") if len(name) == 64]
    expect("kept results", len(kept), 5)
    expect("leftovers", [name for name in os.listdir(SCRATCH / "cache") if name.startswith("new.")], [])
    made = sum(server.counter("ffserve_conversions_made_total") for server in servers) - before
    # A server that waits for another one counts what it got as made by its job.
    expect("how many were made", made, *range(4, 4 * SERVERS + 1))


def check_guesses(servers: list[Server]) -> None:
    def guess(server: Server, forwarded: str) -> int:
        return server.ask("/api/list", f"X-Forwarded-For: {forwarded}", token="wrong-" + forwarded[:4].strip()).status

    first = servers[0]
    for _ in range(10):
        expect("a wrong token", guess(first, "198.51.100.1"), 401)
    expect("too many", guess(first, "198.51.100.1"), 429)
    # An address that the client made up is not the one that the proxy added.
    expect("too many, with another address before", guess(first, "203.0.113.9, 198.51.100.1"), 429)
    expect("too many, with a proxy after it", guess(first, "198.51.100.1, 127.0.0.1"), 429)
    expect("another client", guess(first, "198.51.100.2"), 401)
    expect("another client, by IPv6", guess(first, "[2001:db8::1]:4711"), 401)
    # What is no address tells no clients apart: the proxy is the client.
    proxied = Server(6, "--proxy", "127.0.0.0/8")
    try:
        for text in ("unknown", "_hidden", "1.2.3", "unknown, unknown", "1.2.3.4, unknown") * 2:
            expect("a wrong token of nobody", guess(proxied, text), 401)
        expect("too many of the proxy", guess(proxied, ""), 429)
    finally:
        proxied.end()
    # A server that was told of no proxy believes nobody.
    alone = Server(9)
    try:
        for number in range(10):
            expect("a wrong token there", guess(alone, f"198.51.100.{number}"), 401)
        expect("too many there", guess(alone, "198.51.100.77"), 429)
    finally:
        alone.end()


def check_health(servers: list[Server]) -> None:
    got = servers[0].ask("/healthz", token=None, host="10.1.2.3:99")
    expect("health", (got.status, got.body), (200, b"ok\n"))
    expect("metrics without the token", servers[0].ask("/metrics", token=None).status, 401)
    if not shutil.which("promtool"):
        return print("skipped: promtool is missing")
    metrics = servers[0].ask("/metrics").body
    checked = subprocess.run(["promtool", "check", "metrics"], input=metrics, capture_output=True)
    expect(f"promtool: {checked.stderr.decode()}", (checked.returncode, checked.stderr), (0, b""))


def check_drain() -> None:
    """An answer that is under way when the server is told to end comes to its end, and no longer than was said."""
    for patience, isWhole in (("20", True), ("1", False)):
        server = Server(8, "--drain", patience)
        idle = socket.create_connection(("127.0.0.1", server.port), 10)
        with socket.socket() as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.settimeout(20)
            slow.connect(("127.0.0.1", server.port))
            slow.sendall(
                f"GET /api/file?path=/large3.bin HTTP/1.1\r\nHost: archive.example\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
                .encode())
            data = slow.recv(1000)
            start = time.monotonic()
            server.process.terminate()
            expect("the connection that waits", idle.recv(10), b"")
            try:
                socket.create_connection(("127.0.0.1", server.port), 5).close()
                sys.exit("a server that ends takes connections")
            except ConnectionRefusedError:
                pass
            if isWhole:
                slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
                while part := slow.recv(1 << 16):
                    data += part
                body = data.partition(b"\r\n\r\n")[2]
                expect("the answer", body == (SOURCE / "large3.bin").read_bytes(), True)
            expect("the status at the end", server.process.wait(15), 0)
            expect(f"whether it took long ({patience})", time.monotonic() - start < 18, True)
        idle.close()


def check_full_disk() -> None:
    """A cache without room costs only that nothing is kept."""
    folder = SCRATCH / "full"
    folder.mkdir(mode=0o700)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "none", folder]).returncode != 0:
        return print("skipped: no tmpfs can be mounted")
    try:
        server = Server(7, cache=folder / "cache")
        got = server.ask("/api/file?path=/other.ppm.as-png")
        expect("a conversion on a full disk", (got.status, got.body[:4]), (200, b"\x89PNG"))
        expect("what is kept of it", [n for n in os.listdir(folder / "cache") if n[:4] == "new." or len(n) == 64], [])
        expect("the end", server.end(), 0)
    finally:
        subprocess.run(["umount", folder])


def check_behind(proxy: str, words, servers: list[Server], wanted: dict[str, str]) -> None:
    """Reads on while a server is killed and another one is told to end."""
    port = free_port()
    process = subprocess.Popen(words(port, servers), stdin=subprocess.DEVNULL)
    try:
        wait_for(port, process, proxy)
        until = threading.Event()
        before = {server: server.counter("ffserve_sent_bytes_total") for server in servers}
        first = Reader(port, {"/large3.bin": wanted["/large3.bin"]}, 0, until)
        first.stops = True
        first.start()
        expect("whether the first has begun", first.isThere.wait(20), True)
        time.sleep(0.2)
        # The one that is in the midst of its answer.
        busiest = max(servers, key=lambda server: server.counter("ffserve_sent_bytes_total") - before[server])
        readers = [Reader(port, wanted, seed, until) for seed in range(1, 4)]
        for reader in readers:
            reader.start()
        readers.append(first)
        time.sleep(0.5)
        busiest.process.kill()
        first.mayGo.set()
        time.sleep(0.7)
        ending = next(server for server in servers if server is not busiest)
        ending.process.terminate()
        time.sleep(1.2)
        until.set()
        for reader in readers:
            reader.join(60)
        wrong = [each for reader in readers for each in reader.wrong]
        expect(f"what was wrong behind {proxy}", wrong[:5], [])
        expect(f"readers behind {proxy} that hang", [r for r in readers if r.is_alive()], [])
        read = sum(reader.read for reader in readers)
        expect(f"whether much was read behind {proxy} ({read})", read > 5, True)
        expect("the end of the second", ending.process.wait(15), 0)
        resumed = sum(reader.resumed for reader in readers)
        expect(f"whether anybody behind {proxy} was in the midst of an answer", first.resumed > 0, True)
        print(f"{proxy}: {read} files, {resumed} resumed", file=sys.stderr)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(10)
    for server in (busiest, ending):
        server.process.wait()
        server.start()


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    make_source()
    cache = SCRATCH / "cache"
    cache.mkdir(mode=0o700)
    # Stands for NFS, as far as it has no files without a name either.
    below = SCRATCH / "below"
    isBound = bool(shutil.which("bindfs")) and os.geteuid() == 0
    if isBound:
        below.mkdir(mode=0o700)
        subprocess.run(["bindfs", below, cache], check=True)
    else:
        print("skipped: bindfs is missing, or this is not root")
    servers: list[Server] = []
    try:
        servers += [Server(number, "--proxy", "127.0.0.0/8", "--drain", "10") for number in range(SERVERS)]
        check_alike(servers)
        check_once(servers)
        check_health(servers)
        check_guesses(servers)
        check_drain()
        if os.geteuid() == 0:
            check_full_disk()
        wanted = {f"/{name}": hashlib.sha256((SOURCE / name).read_bytes()).hexdigest()
                  for name in os.listdir(SOURCE) if name.startswith(("large", "small"))}
        wanted |= {f"/all.zip.contents{path}": sum_ for path, sum_ in wanted.items()
                   if path.startswith("/small") or path == "/large0.bin"}
        for view in ("picture.ppm.as-png", "other.ppm.as-webp"):
            wanted[f"/{view}"] = hashlib.sha256(servers[0].ask("/api/file?path=/" + view).body).hexdigest()
        for proxy, words in (("nginx", nginx), ("haproxy", haproxy)):
            if shutil.which(proxy):
                check_behind(proxy, words, servers, wanted)
            else:
                print(f"skipped: {proxy} is missing")
    finally:
        for server in servers:
            server.process.kill()
            server.process.wait()
        if isBound:
            subprocess.run(["umount", cache])
    print("done")


if __name__ == "__main__":
    os.environ["PATH"] += ":/usr/sbin"
    main()
