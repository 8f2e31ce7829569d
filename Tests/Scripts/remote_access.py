"""remote_access.py FFMOUNT FFSERVE FOLDER: tokens, TLS, addresses, and what is refused.

Prints what is not as it should be, and at the end "done".
"""
import errno
import os
import subprocess
import sys
import threading
import http.client
import http.server
import time

from remote import Mount, complain, expect, failure, whole
from serving import Server

ffmount, ffserve, folder = sys.argv[1:]
source = os.path.join(folder, "shown")
mnt = os.path.join(folder, "mnt")
os.makedirs(source)
os.makedirs(mnt, exist_ok=True)
with open(os.path.join(source, "a.txt"), "w") as file:
    file.write("a" * 300_000)


def path(name, text=None, mode=0o600):
    full = os.path.join(folder, name)
    if text is not None:
        with open(full, "w") as file:
            file.write(text)
        os.chmod(full, mode)
    return full


def refused(what, words, *expected):
    ended = subprocess.run([ffmount, *words], capture_output=True, text=True, timeout=30)
    said = ended.stderr
    if ended.returncode == 0 or any(word not in said for word in expected):
        complain(f"{what}: {ended.returncode}, {said!r}")
    if "secret-token" in said:
        complain(f"{what}: the token is shown")


class Prefix(http.server.BaseHTTPRequestHandler):
    """A proxy that has the server at /shelf."""
    protocol_version = "HTTP/1.1"
    port = 0

    def do_GET(self):
        if not self.path.startswith("/shelf/api/"):
            return self.send_error(404)
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
        connection.request("GET", self.path[len("/shelf"):], headers=headers)
        got = connection.getresponse()
        body = got.read()
        self.send_response_only(got.status)
        for name, value in got.getheaders():
            if name.lower() not in ("content-length", "transfer-encoding"):
                self.send_header(name, value)
        if got.status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


good, wrong = path("good", "secret-token\n"), path("wrong", "other-token\n")
with Server(ffserve, source, "--token", "secret-token") as server:
    url = f"http://127.0.0.1:{server.port}"
    with Mount(ffmount, url, mnt, "-o", f"token_file={good}") as mount:
        expect("with the token", len(whole(mount.path("a.txt"))), 300_000)
        with open(f"/proc/{mount.process.pid}/cmdline", "rb") as file:
            expect("the token in the command line", b"secret-token" in file.read(), False)
    refused("no token", [url, mnt], "token_file=")
    refused("a wrong token", [url, mnt, "-o", f"token_file={wrong}"], "token_file=")
    refused("a readable file", [url, mnt, "-o", f"token_file={path('open', 'secret-token', 0o644)}"], "chmod 600")
    refused("a token in the address", [f"http://x:secret-token@127.0.0.1:{server.port}", mnt], "token_file=")
    refused("an option of the server's", [url, mnt, "-o", f"depth=1,token_file={good}"], "server's machine")
    refused("the printed address", [f"{url}/?token=secret-token", mnt], "token_file=")
# The token is changed while it is mounted.
changing = path("changing", "first-token\n")
with Server(ffserve, source, "--token", "first-token") as server:
    port = server.port
    mount = Mount(ffmount, f"http://127.0.0.1:{port}", mnt, "-o", f"token_file={changing},wait=5").__enter__()
    expect("the first token", os.listdir(mnt), ["a.txt"])
with Server(ffserve, source, "--token", "second-token", "--port", str(port)):
    time.sleep(0.6)
    expect("the old token", failure(os.listdir, mnt)[0], errno.EACCES)
    path("changing", "second-token\n")
    time.sleep(0.6)
    expect("the new token", failure(os.listdir, mnt)[0], 0)
    mount.__exit__()

with Server(ffserve, source) as server:
    Prefix.port = server.port
    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Prefix)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    with Mount(ffmount, f"http://localhost:{proxy.server_port}/shelf/", mnt) as mount:
        expect("behind a proxy", len(whole(mount.path("a.txt"))), 300_000)
    proxy.shutdown()
    refused("no path there", [f"http://127.0.0.1:{proxy.server_port}", mnt], "cannot show")
    port = server.port
    for option in ["views=none", "password_file=" + good, "depth=3"]:
        refused(option, [f"http://127.0.0.1:{port}", mnt, "-o", option], "server's machine")
for option in ["wait=5", "token_file=" + good, "ca_file=" + good]:
    refused(option, [source, mnt, "-o", option], "for a server")
refused("nobody there", [f"http://127.0.0.1:{port}", mnt], "cannot be reached", "ffmount serve")
for address in ["http://", "http://a b", "http://[::1", "http://h:0", "http://h:99999", "http://h/../x", "http://h/#x"]:
    refused(address, [address, mnt], "cannot show the server")
with Server(ffserve, source, "--host", "::1", "--no-token") as server:
    with Mount(ffmount, f"http://[::1]:{server.port}", mnt) as mount:
        expect("IPv6", os.listdir(mount.folder), ["a.txt"])


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=folder)


openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "ca.key", "-out", "ca.pem",
        "-subj", "/CN=Own CA", "-days", "2")
openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "own.key", "-out", "own.csr",
        "-subj", "/CN=localhost")
path("names", "subjectAltName=DNS:localhost\n")
openssl("x509", "-req", "-in", "own.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", "own.pem", "-days", "2",
        "-extfile", "names")
with Server(ffserve, source, "--tls", path("own.pem"), path("own.key")) as server:
    url = f"https://localhost:{server.port}"
    with Mount(ffmount, url, mnt, "-o", f"ca_file={path('ca.pem')}") as mount:
        expect("by TLS", len(whole(mount.path("a.txt"))), 300_000)
    refused("a CA that nobody knows", [url, mnt], "certificate")
    refused("another name", [f"https://127.0.0.1:{server.port}", mnt, "-o", f"ca_file={path('ca.pem')}"], "cannot")
    refused("no TLS", [f"http://localhost:{server.port}", mnt], "cannot")
print("done")
