"""Passes requests on to the server and remembers them: what a client really asked."""

import http.client
import http.server
import threading


class Recorder:
    """Listens on a port of its own in front of the server's.

    `asked` has (method, path, Range or Depth, status); `granted` are the requests that are answered here with a status instead: {(method, path): status}.
    """

    def __init__(self, port, granted=None):
        outer, recorder = port, self
        self.asked = []
        granted = granted or {}

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self):
                # Whatever the method is.
                try:
                    self.raw_requestline = self.rfile.readline(65537)
                    if not self.raw_requestline or not self.parse_request():
                        self.close_connection = True
                        return
                    self.forward()
                except (ConnectionError, TimeoutError):
                    self.close_connection = True

            def forward(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status = granted.get((self.command, self.path))
                if status:
                    self.send_response(status)
                    self.send_header("Content-Length", "0")
                    return self.end_headers()
                connection = http.client.HTTPConnection("127.0.0.1", outer, timeout=60)
                headers = {name: value for name, value in self.headers.items() if name.lower() not in ("connection", "expect")}
                connection.request(self.command, self.path, body=body or None, headers=headers)
                answer = connection.getresponse()
                recorder.asked.append((self.command, self.path, self.headers.get("Range") or self.headers.get("Depth"), answer.status))
                self.send_response_only(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("connection", "transfer-encoding"):
                        self.send_header(name, value)
                self.send_header("Connection", "close")
                self.end_headers()
                self.close_connection = True
                try:
                    while part := answer.read1(1 << 16):
                        self.wfile.write(part)
                finally:
                    connection.close()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
