"""A web server for tests of sources elsewhere: files of memory by ranges, and whatever a file's `answer` does instead."""
import email.utils
import hashlib
import http.server
import re
import threading
import time


class File:
    """`tag` and `modified` are its version; `answer` is a function of the handler that answers instead, unless it returns False."""

    def __init__(self, body, modified=1_700_000_000, answer=None, tag=None):
        self.body, self.modified, self.answer = body, modified, answer
        self.tag = '"' + hashlib.md5(body).hexdigest() + '"' if tag is None else tag


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        server = self.server
        with server.lock:
            server.asked.append((self.command, self.path, self.headers.get("Range", ""), dict(self.headers)))
        if server.delay:
            time.sleep(server.delay)
        file = server.files.get(self.path)
        if file is None:
            return self.say(404, b"<html>nothing here</html>", {"Content-Type": "text/html"})
        if file.answer and file.answer(self, file) is not False:
            return None
        return self.send(file)

    do_HEAD = do_GET

    def send(self, file):
        """As a good server does."""
        headers = {"Last-Modified": email.utils.formatdate(file.modified, usegmt=True), "Accept-Ranges": "bytes"}
        if file.tag:
            headers["ETag"] = file.tag
            if self.headers.get("If-None-Match") == file.tag:
                return self.say(304, None, headers)
        size = len(file.body)
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not wanted or self.headers.get("If-Range", file.tag) != file.tag:
            return self.say(200, file.body, headers)
        first, last = int(wanted[1]), min(int(wanted[2] or size - 1), size - 1)
        if first >= size:
            return self.say(416, b"", {**headers, "Content-Range": f"bytes */{size}"})
        return self.say(206, file.body[first:last + 1], {**headers, "Content-Range": f"bytes {first}-{last}/{size}"})

    def say(self, status, body, headers, length=None):
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if body is not None:
            self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD" and body:
            self.wfile.write(body)
            self.server.sent += len(body)
        if length is not None:
            self.close_connection = True

    def log_message(self, *_):
        pass


class Web(http.server.ThreadingHTTPServer):
    """`files` by their paths; `asked` is what was requested: (method, path, range, headers)."""
    daemon_threads = True

    def __init__(self, files, port=0, handler=Handler, host="127.0.0.1"):
        super().__init__((host, port), handler)
        self.files, self.asked, self.lock, self.delay, self.sent = files, [], threading.Lock(), 0, 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass

    @property
    def url(self):
        return f"http://{self.server_address[0]}:{self.server_port}"

    def stop(self):
        self.shutdown()
        self.server_close()

    def count(self, body):
        """Calls `body`. Returns how many requests that made."""
        before = len(self.asked)
        body()
        return len(self.asked) - before
