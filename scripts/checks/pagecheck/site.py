"""ffserve over a folder, and a way to it that can be slow or fail, and can take the files of the page from the sources."""

import http.client
import http.server
import os
import re
import subprocess
import threading
import time
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent.parent.parent / "Sources/Programs/ffserve/Page"
FILES = {"/": "page.html", "/page.css": "page.css", "/page.js": "page.js", "/write.js": "write.js"}


class Site:
    """The server as a child process; `port` is where it listens."""

    def __init__(self, program, folder, cache, *words):
        self.command = [str(program), str(folder), "--port", "0", "--no-bonjour", *(words or ["--no-token"])]
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}

    def __enter__(self):
        self.process = subprocess.Popen(self.command, env=self.environment, stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/", line):
                self.port = int(found[1])
                return self
        raise OSError("the server does not start")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)


class Between:
    """Passes everything on to a server; the page's own files come from the sources if it is told so. Can be slow or fail."""

    def __init__(self, port, is_unbuilt=True):
        outer, between = port, self
        self.delay = 0.0
        self.fails = self.is_gone = False
        self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                between.asked.append(self.path)
                if between.is_gone:
                    self.close_connection = True
                    return None
                if self.path.startswith("/api/"):
                    time.sleep(between.delay)
                    if between.fails:
                        self.send_response(503)
                        self.send_header("Content-Length", "0")
                        return self.end_headers()
                connection = http.client.HTTPConnection("127.0.0.1", outer, timeout=120)
                try:
                    headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
                    connection.request("GET", self.path, headers=headers)
                    answer = connection.getresponse()
                    own = is_unbuilt and FILES.get(self.path.partition("?")[0])
                    body = (PAGE / own).read_bytes() if own else None
                    self.send_response(answer.status)
                    for name, value in answer.getheaders():
                        if name.lower() not in ("content-length", "transfer-encoding", "connection", *(["content-encoding"] if own else [])):
                            self.send_header(name, value)
                    length = len(body) if own else answer.getheader("Content-Length")
                    if length is not None:
                        self.send_header("Content-Length", str(length))
                    else:
                        self.send_header("Connection", "close")
                        self.close_connection = True
                    self.end_headers()
                    if own:
                        return self.wfile.write(body)
                    while part := answer.read(1 << 16):
                        self.wfile.write(part)
                except OSError:
                    self.close_connection = True
                finally:
                    connection.close()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
        self.server.request_queue_size = 64
        self.server.server_bind()
        self.server.server_activate()
        self.server.daemon_threads = True
        # Browsers hang up in the middle, as the page has them do.
        self.server.handle_error = lambda *_: None
        self.port = self.server.server_address[1]

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
