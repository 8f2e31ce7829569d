"""`ffmount https://…` of files of nginx beside curl: seconds, requests and bytes, with 30 ms a request and 100 Mbit/s a connection."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

SERVER, LATE = 4492, 4493
#: One way, in milliseconds, and the rate of a connection in bytes per second.
DELAY, RATE = 15, 12_500_000
#: What reading a file must be of curl's rate, and the requests of a later mount at most.
LEAST_RATE, MOST_REQUESTS = 0.8, 2
ENTRIES = 100_000


def make(folder: Path, small: bool) -> None:
    """A file of 256 MB, a ZIP with a member of 100 MB, and one of 1 GB with 100,000 entries."""
    if (folder / "many.zip").exists():
        return
    part = 16 if small else 1
    folder.mkdir(parents=True, exist_ok=True)
    block = os.urandom(1 << 20)

    def fill(out: object, size: int) -> None:
        for number in range(size // part >> 20):
            out.write(number.to_bytes(8, "big") + block[8:])

    with (folder / "large.bin").open("wb") as out:
        fill(out, 256 << 20)
    with zipfile.ZipFile(folder / "whole.zip", "w") as archive:
        archive.write(folder / "large.bin", "large.bin")
    with zipfile.ZipFile(folder / "large.zip", "w") as archive:
        archive.writestr("first.txt", "first")
        with archive.open("large.bin", "w") as out:
            fill(out, 100 << 20)
    with zipfile.ZipFile(folder / "many.zip.new", "w") as archive:
        for number in range(ENTRIES // part):
            archive.writestr(f"folder{number % 100}/file{number:06}.bin", block[: (1 << 20) if number == 500 else 10_000])
    (folder / "many.zip.new").rename(folder / "many.zip")


class Nginx:
    """A server of a folder, behind a proxy that delays each piece. It counts requests and the bytes of bodies."""

    def __init__(self, files: Path, scratch: Path):
        self.log = scratch / "access.log"
        settings = scratch / "nginx.conf"
        temporary = " ".join(f"{name}_temp_path {scratch}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        settings.write_text(
            f"daemon off; pid {scratch}/nginx.pid; error_log {scratch}/error.log; {'user root;' if os.geteuid() == 0 else ''} events {{}}\n"
            f"http {{ log_format counted '$status $body_bytes_sent'; access_log {self.log} counted; {temporary}\n"
            f"server {{ listen 127.0.0.1:{SERVER}; root {files}; limit_rate {RATE}; }} }}\n")
        program = shutil.which("nginx") or "/usr/sbin/nginx"
        self.nginx = subprocess.Popen([program, "-c", settings, "-p", scratch], stderr=subprocess.DEVNULL)
        self.proxy = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("delay.py"), str(LATE), str(SERVER), str(DELAY)], stdout=subprocess.PIPE, text=True)
        self.proxy.stdout.readline()

    def counted(self) -> tuple[int, int]:
        """The requests and bytes since the last call."""
        time.sleep(2)
        lines = self.log.read_text().splitlines()
        self.log.write_text("")
        return len(lines), sum(int(line.split()[1]) for line in lines)

    def stop(self) -> None:
        for process in (self.proxy, self.nginx):
            process.terminate()
            process.wait(10)


def run(base: Path, binary: Path, small: bool) -> tuple[str, dict, bool]:
    """The table, the same as a document, and whether the acceptance holds."""
    files = base / ("elsewhere-small" if small else "elsewhere")
    make(files, small)
    scratch = Path(tempfile.mkdtemp(prefix="ffmount-elsewhere."))
    scratch.chmod(0o755)
    mountpoint = scratch / "mnt"
    mountpoint.mkdir()
    caches = scratch / "cache"
    variables = {**os.environ, "XDG_CACHE_HOME": str(caches)}
    server = Nginx(files, scratch)
    rows, document, failures = [], {}, []
    address = f"http://127.0.0.1:{LATE}/"

    def record(task: str, seconds: float, most: int | None = None, has_bytes: bool = True) -> float:
        requests, count = server.counted()
        document[task] = {"seconds": seconds, "requests": requests, "bytes": count}
        rows.append(f"| {task} | {seconds:.2f} | {requests} | {count / 1e6:,.2f} |")
        if most is not None and requests > most:
            failures.append(f"{task}: {requests} requests")
        if not has_bytes and count:
            failures.append(f"{task}: {count} bytes")
        return seconds

    def measure(task: str, source: str, command: str, most: int | None = None, has_bytes: bool = True) -> float:
        """Mounts, runs a command, unmounts, and counts what the server logs at the end of each request."""
        began = time.monotonic()
        subprocess.run([binary, address + source, mountpoint], check=True, env=variables)
        try:
            subprocess.run(["bash", "-c", command], cwd=mountpoint, check=True, stdout=subprocess.DEVNULL)
            seconds = time.monotonic() - began
        finally:
            subprocess.run([binary, "-u", mountpoint], check=True, env=variables)
        return record(task, seconds, most, has_bytes)

    try:
        time.sleep(1)
        server.log.write_text("")
        began = time.monotonic()
        subprocess.run(["curl", "-s", "-o", "/dev/null", address + "large.bin"], check=True)
        curl = record("curl: 256 MB", time.monotonic() - began)
        rate = curl / measure("256 MB from front to back", "whole.zip", "cat large.bin")
        if rate < LEAST_RATE:
            failures.append(f"256 MB: {rate:.2f} of curl's rate")
        measure("a member of 100 MB", "large.zip", "cat large.bin")
        measure("the same in a later mount", "large.zip", "cat large.bin", MOST_REQUESTS, has_bytes=False)
        member = f"cat folder0/file{500:06}.bin"
        measure("ls of 100,000 entries", "many.zip", "ls", 5)
        measure("then a member of 1 MB", "many.zip", member, 4)
        measure("both in a later mount", "many.zip", f"ls; {member}", MOST_REQUESTS, has_bytes=False)
    finally:
        server.stop()
        shutil.rmtree(scratch, ignore_errors=True)
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    text = "\n".join(
        ["| 30 ms a request, 100 Mbit/s | seconds | requests | MB |", "|---|---|---|---|", *rows, "",
         f"Load: {load}. " + ("Not met: " + "; ".join(failures) if failures else "All limits are met.")])
    return text, {"benchmark": "elsewhere", "rows": document, "not met": failures}, not failures
