"""One and two `ffserve` behind nginx on this machine, and one alone: answers a second, processor time and memory."""

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from . import serve

ALONE, BALANCED = "alone", "nginx"
FIRST = 4590
CONFIGURATION = """
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off; keepalive_requests 100000000;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  upstream ffserve {{ hash $arg_path$uri consistent; {servers} keepalive 32; keepalive_requests 100000000; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://ffserve; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr; proxy_max_temp_file_size 0;
    }}
  }}
}}
"""


def run(base: Path, program: Path, small: bool) -> tuple[str, dict, bool]:
    """The table, the same as a document, and that there is no limit to hold."""
    if not shutil.which("wrk") or not shutil.which("nginx"):
        sys.exit("bench: wrk and nginx are missing (scripts/dependencies bench)")
    source = base / ("serve-small" if small else "serve")
    serve.make(source, small)
    scratch = Path(tempfile.mkdtemp(prefix="ffmount-scale."))
    seconds = 2 if small else 5
    names = [f"/small/{number:05}.txt" for number in range(serve.SMALL_FILES)]
    asked = {
        "small files": [f"/api/file?path={name}" for name in names],
        "folders of 10,000, other each time": [f"/api/list?path=/many&n={n}" for n in range(5000)],
    }
    servers, found, lines = [], {}, []
    try:
        for number in range(2):
            name = f"server {number + 1}"
            serve.PORTS[name] = FIRST + number
            words = [str(program), str(source), "--port", str(FIRST + number)]
            servers.append(serve.Server(name, words))
        lines.append("| row | asked | a second | CPU µs of the servers | MB of each server |\n|---|---|---|---|---|")
        print(lines[0], flush=True)
        for row, paths in asked.items():
            # In turns, so that what else the machine does falls on all.
            for title, count in ((ALONE, 0), (f"{BALANCED}, 1 server", 1), (f"{BALANCED}, 2 servers", 2)):
                before = [server.cpu for server in servers]
                if count == 0:
                    sample = serve.wrk(servers[0], serve.script(paths), seconds, 16, scratch)
                else:
                    sample = behind(servers[:count], paths, seconds, scratch)
                taken = sum(server.cpu for server in servers) - sum(before)
                cpu = taken / max(1, sample.rate * seconds)
                memory = [server.memory("VmRSS") for server in servers[: max(1, count)]]
                cells = ", ".join(f"{each / 1e6:.0f}" for each in memory)
                lines.append(f"| {row} | {title} | {sample.rate:,.0f} | {cpu * 1e6:,.0f} | {cells} |")
                print(lines[-1], flush=True)
                found[f"{row}, {title}"] = {"rate": sample.rate, "cpu": cpu, "memory": memory}
    finally:
        for server in servers:
            server.stop()
        shutil.rmtree(scratch, ignore_errors=True)
    return f"Load: {' '.join(f'{each:.1f}' for each in os.getloadavg())}", {"benchmark": "scale", "rows": found}, True


def behind(servers: list[serve.Server], paths: list[str], seconds: int, scratch: Path) -> serve.Sample:
    """What wrk gets from nginx before these servers."""
    serve.PORTS[BALANCED] = FIRST + 5
    path = scratch / "nginx.conf"
    upstream = "".join(f"server 127.0.0.1:{serve.PORTS[server.name]}; " for server in servers)
    path.write_text(CONFIGURATION.format(folder=scratch, port=FIRST + 5, servers=upstream))
    balancer = serve.Server(BALANCED, ["nginx", "-c", str(path), "-g", "daemon off; user root;"])
    try:
        time.sleep(0.2)
        return serve.wrk(balancer, serve.script(paths), seconds, 16, scratch)
    finally:
        balancer.stop()
