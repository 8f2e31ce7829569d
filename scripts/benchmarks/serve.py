"""`ffmount serve` beside nginx, copyparty and rclone, asked by wrk: small files, large ones, a large folder, and memory with many connections.

dufs and miniserve are not measured: there is no package of them to install.
"""

import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

US = "ffserve"
PEER = "nginx"
#: Others that people run: only told, without limits.
COPYPARTY, RCLONE, RCLONE_DAV = "copyparty", "rclone http", "rclone webdav"
PORTS = {US: 4290, PEER: 4291, COPYPARTY: 4292, RCLONE: 4293, RCLONE_DAV: 4294}
SMALL_FILES = 1000
LISTED = 10_000
LARGE = 256 << 20
#: The acceptance limits: what ours may be of the peer's, and the memory of all connections in bytes.
LEAST_RATE = {"small files": 0.8, "small files, 256 connections": 0.8, "a folder of 10,000": 1.0}
MOST_CPU = {"small files": 3.0, "small files, 256 connections": 3.0, "a file of 256 MB": 2.0}
MOST_MEMORY = 60_000_000
IDLE, BUSY = 5000, 256
CONFIGURATION = """
worker_processes {cores};
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000; types {{ text/plain txt; }}
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port}; root {source}; autoindex on; autoindex_format json; }}
}}
"""


@dataclass
class Sample:
    """One run of wrk: requests and bytes a second, and the server's CPU time for each request and byte."""

    rate: float
    bytes_rate: float
    cpu: float
    cpu_bytes: float


class Server:
    """A server while it runs, with the processes that it has."""

    def __init__(self, name: str, words: list[str]):
        self.name = name
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", PORTS[name]), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        sys.exit(f"bench: {name} does not answer")

    def processes(self) -> list[int]:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [self.process.pid, *map(int, children)]

    @property
    def cpu(self) -> float:
        ticks = 0
        for process in self.processes():
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def memory(self, line: str) -> int:
        found = 0
        for process in self.processes():
            found += int(re.search(rf"{line}:\s*(\d+)", Path(f"/proc/{process}/status").read_text()).group(1)) << 10
        return found

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(10)


def make(source: Path, small: bool) -> None:
    if (source / "large.bin").exists():
        return
    for folder, count, size in (("small", SMALL_FILES, 4096), ("many", LISTED // (50 if small else 1), 10)):
        (source / folder).mkdir(parents=True, exist_ok=True)
        for number in range(count):
            (source / folder / f"{number:05}.txt").write_bytes(os.urandom(size // 2).hex().encode())
    with (source / "large.bin").open("wb") as file:
        for _ in range((LARGE // 50 if small else LARGE) >> 20):
            file.write(os.urandom(1 << 20))


def wrk(server: Server, script: str, seconds: int, connections: int, scratch: Path) -> Sample:
    path = scratch / "wrk.lua"
    # What wrk makes of the address has no port that the server would take for one.
    path.write_text('wrk.headers["Host"] = "localhost"\n' + script)
    before = server.cpu
    words = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s", "-s", path, f"http://127.0.0.1:{PORTS[server.name]}/"]
    done = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    count, size, units = re.search(r"(\d+) requests in [\d.]+\w+, ([\d.]+)([KMGT]?)B read", done).groups()
    taken = float(re.search(r"requests in ([\d.]+)s", done).group(1))
    if "Non-2xx" in done:
        if server.name in (US, PEER):
            sys.exit(f"bench: {server.name}: {done}")
        return Sample(0, 0, 0, 0)
    total = float(size) * 1024 ** "_KMGT".index(units or "_")
    cpu = server.cpu - before
    # A large file may not arrive whole in that time.
    made = int(count) or total / LARGE
    return Sample(made / taken, total / taken, cpu / (made or 1), cpu / max(1, total))


def script(paths: list[str]) -> str:
    """Asks for one after the other."""
    if len(paths) == 1:
        return f'wrk.path = "{paths[0]}"'
    requests = ", ".join(f'"{path}"' for path in paths)
    return f"local paths = {{{requests}}}\nlocal n, made = 0, {{}}\n" + (
        "function init() for i, p in ipairs(paths) do made[i] = wrk.format(nil, p) end end\n"
        "function request() n = n % #made + 1 return made[n] end\n"
    )


def crowd(server: Server, source: Path) -> int:
    """The largest resident size with idle and busy connections, in bytes."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    ask = b"GET /api/file?path=/small/00001.txt HTTP/1.1\r\nHost: localhost\r\n\r\n"
    idle = []
    for number in range(IDLE):
        connection = socket.create_connection(("127.0.0.1", PORTS[US]), 20)
        connection.sendall(ask)
        connection.recv(1 << 16)
        idle.append(connection)
    busy = subprocess.Popen(
        ["wrk", "-t1", f"-c{BUSY}", "-d6s", f"http://127.0.0.1:{PORTS[US]}/api/file?path=/large.bin"],
        stdout=subprocess.DEVNULL)
    largest = 0
    while busy.poll() is None:
        largest = max(largest, server.memory("VmRSS"))
        time.sleep(0.1)
    for connection in idle:
        connection.close()
    return largest


def installed(base: Path) -> Path | None:
    """copyparty, in an environment of its own; None if it cannot be installed."""
    environment = base / "copyparty"
    program = environment / "bin" / "copyparty"
    if not program.exists():
        print("installing copyparty", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        pip = [environment / "bin" / "pip", "--quiet", "--disable-pip-version-check", "install", "copyparty"]
        if subprocess.run(pip, timeout=600).returncode != 0:
            print("bench: pip could not install copyparty; its column stays empty", file=sys.stderr)
            return None
    return program


def run(base: Path, program: Path, small: bool, only: list[str] | None) -> tuple[str, dict, bool]:
    """The table, the same as a document, and whether the acceptance holds."""
    if not shutil.which("wrk") or not shutil.which("nginx"):
        sys.exit("bench: wrk and nginx are missing (scripts/dependencies bench)")
    source = base / ("serve-small" if small else "serve")
    make(source, small)
    scratch = Path(tempfile.mkdtemp(prefix="ffmount-serve."))
    configuration = scratch / "nginx.conf"
    configuration.write_text(
        CONFIGURATION.format(cores=os.cpu_count(), folder=scratch, port=PORTS[PEER], source=source))
    servers = {
        US: [str(program), str(source), "--port", str(PORTS[US])],
        PEER: ["nginx", "-c", str(configuration), "-g", "daemon off; user root;"],
    }
    if copyparty := installed(base):
        servers[COPYPARTY] = [str(copyparty), "-q", "-j", "0", "-i", "127.0.0.1", "-p", str(PORTS[COPYPARTY]), "-v", f"{source}::r"]
    if shutil.which("rclone"):
        for kind, name in (("http", RCLONE), ("webdav", RCLONE_DAV)):
            servers[name] = ["rclone", "serve", kind, str(source), "--addr", f"127.0.0.1:{PORTS[name]}"]
    seconds = 2 if small else 8
    api: Callable[[str], str] = lambda path: "/api/file?path=" + path
    names = [f"/small/{number:05}.txt" for number in range(SMALL_FILES)]
    small_files = {US: [api(name) for name in names], PEER: names, COPYPARTY: names, RCLONE: names}
    listed = {PEER: ["/many/"], COPYPARTY: ["/many/?ls"]}
    asked = {
        "small files": (16, small_files),
        "small files, 256 connections": (256, small_files),
        "small files over WebDAV": (16, {US: ["/dav" + name for name in names], PEER: names, RCLONE_DAV: names}),
        "a file of 256 MB": (8, {name: [path] for name, path in (
            (US, api("/large.bin")), (PEER, "/large.bin"), (COPYPARTY, "/large.bin"), (RCLONE, "/large.bin"))}),
        "a folder of 10,000": (4, {US: ["/api/list?path=/many"], **listed}),
        "a folder of 10,000, other each time": (4, {US: [f"/api/list?path=/many&n={n}" for n in range(5000)], **listed}),
    }
    found, rows, failures = {}, [], []
    print(f"| row | {US}: a second, MB/s, CPU µs | {PEER} | rate × | CPU × | others |\n|---|---|---|---|---|---|", flush=True)
    running: dict[str, Server] = {}
    try:
        for name, words in servers.items():
            running[name] = Server(name, words)
        for row, (connections, paths) in asked.items():
            if only and not any(text in row for text in only):
                continue
            samples = {n: wrk(running[n], script(paths[n]), seconds, connections, scratch) for n in running if n in paths}
            ours, theirs = samples[US], samples[PEER]
            rate, cpu = ours.rate / theirs.rate if theirs.rate else 0, ours.cpu / theirs.cpu if theirs.cpu else 0
            cells = {n: f"{s.rate:,.0f}, {s.bytes_rate / 1e6:,.0f}, {s.cpu * 1e6:,.1f}" for n, s in samples.items()}
            others = "; ".join(
                f"{n} {cell if samples[n].rate else 'failed'}" for n, cell in cells.items() if n not in (US, PEER))
            rows.append(f"| {row} | {cells[US]} | {cells[PEER]} | {rate:.2f} | {cpu:.2f} | {others} |")
            print(rows[-1], flush=True)
            found[row] = {name: vars(sample) for name, sample in samples.items()}
            if rate < LEAST_RATE.get(row, 0):
                failures.append(f"{row}: {rate:.2f} of the rate")
            if cpu > MOST_CPU.get(row, cpu):
                failures.append(f"{row}: {cpu:.2f} times the CPU time")
        if not only or any(text in "memory" for text in only):
            running[US].stop()
            running[US] = Server(US, servers[US])
            start, memory = running[US].memory("VmRSS"), crowd(running[US], source)
            rows.append(f"| memory at the start, and with {IDLE:,} idle and {BUSY} busy connections "
                        f"| {start / 1e6:.1f}, {memory / 1e6:.1f} MB | | | | |")
            print(rows[-1], flush=True)
            found["memory"] = {US: memory}
            if memory > MOST_MEMORY:
                failures.append(f"{memory / 1e6:.1f} MB with {IDLE + BUSY:,} connections")
    finally:
        for server in running.values():
            server.stop()
        shutil.rmtree(scratch, ignore_errors=True)
    told = "Not met: " + "; ".join(failures) if failures else "All limits are met."
    return told, {"benchmark": "serve", "rows": found, "not met": failures}, not failures
