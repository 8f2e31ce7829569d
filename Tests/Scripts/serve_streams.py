"""serve_streams.py FFSERVE SCRATCH: what HTTP/2 has besides HTTP/1.1, by curl and by frames made here (RFC 9113)."""
import os
import pathlib
import random
import signal
import socket
import ssl
import struct
import subprocess
import sys
import time

from serving import Server

PROGRAM, SCRATCH = sys.argv[1], pathlib.Path(sys.argv[2])
SOURCE = SCRATCH / "source"
CHAIN, KEY = SCRATCH / "chain.pem", SCRATCH / "key.pem"
DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 7, 8
END_STREAM, END_HEADERS = 1, 4


def expect(what, got, wanted):
    if got != wanted:
        raise SystemExit(f"{what}: {got!r}, not {wanted!r}")


def curl(server, path, *options, url=True):
    address = [f"https://localhost:{server.port}{path}"] if url else []
    done = subprocess.run(["curl", "-sS", "--cacert", CHAIN, "-m", "30", *options, *address], capture_output=True)
    if done.returncode:
        raise SystemExit(f"curl {path} {options}: {done.stderr.decode()}")
    return done.stdout


class Peer:
    """A client that sends the frames it is told to."""

    def __init__(self, server):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        self.socket = context.wrap_socket(socket.create_connection(("127.0.0.1", server.port), 20))
        expect("the protocol", self.socket.selected_alpn_protocol(), "h2")
        self.authority = f"localhost:{server.port}"
        self.stream = -1
        self.bytes = b""
        self.socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, kind, payload=b"", flags=0, stream=0):
        self.socket.sendall(struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload)

    def ask(self, path, *more, method="GET", flags=END_STREAM):
        """Begins a request, and returns its stream."""
        self.stream += 2
        fields = [(":method", method), (":scheme", "https"), (":authority", self.authority), (":path", path), *more]
        block = b""
        for name, value in fields:
            block += b"\0" + self.string(name) + self.string(value)
        self.send(HEADERS, block, END_HEADERS | flags, self.stream)
        return self.stream

    @staticmethod
    def string(text):
        """A literal of RFC 7541, section 5.2."""
        size = len(text)
        if size < 127:
            return bytes([size]) + text.encode()
        rest, size = [127], size - 127
        while size >= 128:
            rest.append(size % 128 + 128)
            size //= 128
        return bytes([*rest, size]) + text.encode()

    def frame(self):
        """The next frame: kind, flags, stream and payload. None at the end of the connection."""
        try:
            while len(self.bytes) < 9 or len(self.bytes) < 9 + int.from_bytes(self.bytes[:3], "big"):
                more = self.socket.recv(65536)
                if not more:
                    return None
                self.bytes += more
        except (ConnectionResetError, ssl.SSLError):
            return None
        size = int.from_bytes(self.bytes[:3], "big")
        found = self.bytes[3], self.bytes[4], int.from_bytes(self.bytes[5:9], "big"), self.bytes[9:9 + size]
        self.bytes = self.bytes[9 + size:]
        return found

    def until(self, wanted):
        """Reads frames until one is as wanted. Returns all."""
        frames = []
        while frame := self.frame():
            frames.append(frame)
            if wanted(*frame):
                return frames
        raise SystemExit(f"the connection ended after {[(kind, stream, len(payload)) for kind, _, stream, payload in frames][-20:]} of {len(frames)}")


def check_answers(server):
    """What HTTP/1.1 gives, byte for byte."""
    big, page = (SOURCE / "big").read_bytes(), curl(server, "/", "--http1.1")
    expect("the version", curl(server, "/", "-o", "/dev/null", "-w", "%{http_version}"), b"2")
    expect("the page", curl(server, "/"), page)
    expect("a file", curl(server, "/dav/big"), big)
    expect("a part of it", curl(server, "/dav/big", "-r", "1000000-1999999"), big[1000000:2000000])
    expect("the end of it", curl(server, "/dav/big", "-r", "-1000"), big[-1000:])
    expect("an empty file", curl(server, "/dav/empty", "-w", "%{http_code}"), b"200")
    heads = [curl(server, "/dav/big", "-I", option).decode().lower().splitlines() for option in ("--http2", "--http1.1")]
    fields = [{line for line in head[1:] if line and not line.startswith(("date:", "connection:"))} for head in heads]
    expect("the header of a file", fields[0], fields[1])
    tag = next(line.split(": ")[1] for line in heads[0] if line.startswith("etag"))
    expect("an unchanged file", curl(server, "/dav/big", "-H", "If-None-Match: " + tag, "-w", "%{http_code}"), b"304")
    expect("a text made on the way", curl(server, "/dav/page.html.as-txt", "--http2"), curl(server, "/dav/page.html.as-txt", "--http1.1"))
    packed = curl(server, "/api/zip?path=/")
    (SCRATCH / "all.zip").write_bytes(packed)
    subprocess.run(["unzip", "-tqq", SCRATCH / "all.zip"], check=True)
    listing = curl(server, "/api/list?path=/&limit=10000", "--compressed")
    expect("a listing", listing, curl(server, "/api/list?path=/&limit=10000", "--http1.1"))


def check_many(server):
    """Hundreds of requests at a time, on one connection."""
    names = [f"f{number}" for number in range(400)]
    options = []
    for name in names:
        options += ["--url", f"https://localhost:{server.port}/dav/{name}", "-o", SCRATCH / "got" / name]
    (SCRATCH / "got").mkdir()
    connections = curl(server, "many files", "-Z", "--parallel-max", "90", "-w", "%{num_connects}\n", *options, url=False)
    expect("the number of connections", connections.split().count(b"1"), 1)
    for name in names:
        expect(name, (SCRATCH / "got" / name).read_text(), (SOURCE / name).read_text())


def check_uploads(server):
    sent = random.Random(5).randbytes(5_000_001)
    (SCRATCH / "sent").write_bytes(sent)
    for name, options in (("plain", []), ("asked", ["-H", "Expect: 100-continue"])):
        expect(name, curl(server, "/dav/" + name, "-T", SCRATCH / "sent", "-w", "%{http_version} %{http_code}", *options), b"2 201")
        expect("the bytes of " + name, (SOURCE / name).read_bytes(), sent)
    status = curl(server, "/dav/none/there", "-T", SCRATCH / "sent", "-o", "/dev/null", "-w", "%{http_code}")
    expect("an upload without its folder", status, b"409")
    # A stream that is cancelled leaves nothing, and its connection goes on.
    with Peer(server) as peer:
        peer.send(SETTINGS)
        stream = peer.ask("/dav/half", ("content-length", "100000"), method="PUT", flags=0)
        peer.send(DATA, b"x" * 10_000, 0, stream)
        time.sleep(0.3)
        peer.send(RST_STREAM, struct.pack(">I", 8), 0, stream)
        other = peer.ask("/dav/f1")
        peer.until(lambda kind, flags, stream, payload: stream == other and flags & END_STREAM and kind in (DATA, HEADERS))
    expect("the half", (SOURCE / "half").exists(), False)


def check_hostile(server):
    # A stream that the client does not read holds up no other.
    with Peer(server) as peer:
        peer.send(SETTINGS, struct.pack(">HI", 4, 0))
        held = peer.ask("/dav/big")
        peer.send(WINDOW_UPDATE, struct.pack(">I", 100_000), 0, 0)
        other = peer.ask("/dav/f1")
        peer.send(WINDOW_UPDATE, struct.pack(">I", 1000), 0, other)
        frames = peer.until(lambda kind, flags, stream, payload: stream == other and kind == DATA and flags & END_STREAM)
        expect("the bytes that are not wanted", [frame for frame in frames if frame[0] == DATA and frame[2] == held], [])
        body = b"".join(payload for kind, _, stream, payload in frames if kind == DATA and stream == other)
        expect("the file", body, (SOURCE / "f1").read_bytes())
    # A body that no request has is not received without end.
    with Peer(server) as peer:
        peer.send(SETTINGS)
        stream = peer.ask("/dav/f1", method="PROPFIND", flags=0)
        for _ in range(6):
            peer.send(DATA, b" " * 16_000, 0, stream)
        frames = peer.until(lambda kind, flags, number, payload: number == stream and kind == DATA)
        expect("the answer to a large body", b"64 KiB" in frames[-1][3], True)
    # Headers without end, frames of no kind, and requests that are cancelled at once end the connection at most.
    with Peer(server) as peer:
        peer.send(SETTINGS)
        try:
            for _ in range(40):
                peer.ask("/", *((f"x-{number}", "y" * 120) for number in range(100)))
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            pass
    for junk in (b"\xff" * 100_000, os.urandom(100_000), b"\0" * 100_000):
        with Peer(server) as peer:
            try:
                peer.socket.sendall(junk)
                while peer.frame():
                    pass
            except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
                pass
    with Peer(server) as peer:
        peer.send(SETTINGS)
        try:
            for _ in range(5000):
                stream = peer.ask("/dav/big")
                peer.send(RST_STREAM, struct.pack(">I", 8), 0, stream)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            pass
        # A connection that goes on ends this by its time limit.
        while peer.frame():
            pass
    expect("the server after all that", curl(server, "/dav/f1"), (SOURCE / "f1").read_bytes())
    # A host that is not the server's is refused as in HTTP/1.1.
    with Peer(server) as peer:
        peer.send(SETTINGS)
        peer.authority = "evil.example"
        stream = peer.ask("/dav/f1")
        frames = peer.until(lambda kind, flags, number, payload: number == stream and flags & END_STREAM)
        expect("a file by another host", any((SOURCE / "f1").read_bytes() in frame[3] for frame in frames), False)


def check_end(server):
    """A server that ends completes what it sends, and takes no more."""
    with Peer(server) as peer:
        peer.send(SETTINGS, struct.pack(">HI", 4, 0))
        stream = peer.ask("/dav/big")
        peer.until(lambda kind, flags, number, payload: number == stream and kind == HEADERS)
        os.kill(server.process.pid, signal.SIGTERM)
        peer.until(lambda kind, flags, number, payload: kind == GOAWAY)
        size = (SOURCE / "big").stat().st_size
        peer.send(WINDOW_UPDATE, struct.pack(">I", size), 0, 0)
        peer.send(WINDOW_UPDATE, struct.pack(">I", size), 0, stream)
        frames = peer.until(lambda kind, flags, number, payload: number == stream and flags & END_STREAM)
        expect("the size of the file", sum(len(frame[3]) for frame in frames if frame[0] == DATA), size)
        while peer.frame():
            pass
    expect("the end", server.process.wait(10), 0)


SOURCE.mkdir(exist_ok=True)
(SOURCE / "big").write_bytes(random.Random(3).randbytes(8_000_000))
(SOURCE / "empty").write_bytes(b"")
(SOURCE / "page.html").write_text("<p>Hello")
for number in range(400):
    (SOURCE / f"f{number}").write_text(f"file {number}\n")
subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", KEY, "-out", CHAIN, "-days", "9", "-subj",
                "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], check=True, stderr=subprocess.DEVNULL)
with Server(PROGRAM, SOURCE, "--no-bonjour", "--tls", CHAIN, KEY, "--no-token", "-o", "rw", "--drain", "20") as server:
    check_answers(server)
    check_many(server)
    check_uploads(server)
    check_hostile(server)
    check_end(server)
print("done")
