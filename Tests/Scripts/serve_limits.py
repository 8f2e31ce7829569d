"""serve_limits.py FFSERVE FOLDER: attempts on ffserve that need a network, mounts and a full disk of their own.

Run as root by `unshare -nm`. Makes its files below FOLDER. Prints what is not as it should be, and at the end "done".
"""
import os
import select
import signal
import socket
import subprocess
import sys
import time

from serving import Server, answer

program, folder = sys.argv[1:]
source = os.path.join(folder, "shown")
FREE_TO_BIND = 78  # IPV6_FREEBIND


def expect(what, got, *wanted):
    if got not in wanted:
        print(f"{what}: {got} instead of {wanted}")


def run(*words):
    subprocess.run(words, check=True)


def connected(server, address):
    """A connection from an address."""
    connection = socket.socket(socket.AF_INET6)
    connection.setsockopt(socket.IPPROTO_IPV6, FREE_TO_BIND, 1)
    connection.bind((address, 0))
    connection.settimeout(30)
    connection.connect(("2001:db8:ffff::1", server.port))
    return connection


def status(server, address, token):
    """Of a request from an address, with a token."""
    with connected(server, address) as connection:
        connection.sendall(f"GET /api/stat HTTP/1.1\r\nHost: [::1]\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n".encode())
        return answer(connection).status


def networks():
    """Who has one address of IPv6 has 2^64, and often 2^80."""
    run("ip", "link", "set", "lo", "up")
    run("ip", "-6", "route", "add", "local", "2001:db8::/32", "dev", "lo")
    with Server(program, source, "--host", "::", "--token", "right-token") as server:
        expect("at first", status(server, "2001:db8:1::1", "right-token"), 200)
        for number in range(10):
            expect("a guess", status(server, f"2001:db8:1::{number + 16:x}:1", "wrong"), 401)
        for address in ("2001:db8:1::1", "2001:db8:1:0:9:9:9:9"):
            expect(f"{address} after ten guesses of its network", status(server, address, "right-token"), 429)
        expect("another network", status(server, "2001:db8:1:1::1", "right-token"), 200)
        for number in range(40):
            expect("a guess", status(server, f"2001:db8:2:{number:x}::1", "wrong"), 401)
        expect("a new network of who has many", status(server, "2001:db8:2:ff::1", "right-token"), 429)
        expect("somebody else", status(server, "2001:db8:3::1", "right-token"), 200)
        if os.environ.get("FFMOUNT_TEST_FULL"):
            for number in range(8300):
                status(server, f"2001:db8:{number + 16:x}::1", "wrong")
            codes = [status(server, f"2001:db8:f{number:03x}::1", "wrong") for number in range(50)]
            expect("guesses when very many guess", codes[-1], 429)


def connections():
    """Who opens as many connections as there can be leaves some to others."""
    server = Server(program, source, "--host", "::", "--token", "right-token")
    server.words[:0] = ["prlimit", "--nofile=160:160"]
    with server:
        held = [connected(server, "2001:db8:4::1") for _ in range(100)]
        # The server refuses some of them.
        while len(select.select(held, [], [], 1)[0]) < 20:
            pass
        expect("a client beside one with all connections that it could get", status(server, "2001:db8:5::1", "right-token"), 200)
        for connection in held:
            connection.close()


def full_disk():
    """No room for what is made."""
    cache = os.path.join(folder, "cache")
    os.mkdir(cache)
    run("mount", "-t", "tmpfs", "-o", "size=256k", "none", cache)
    os.environ["XDG_CACHE_HOME"] = os.environ["TMPDIR"] = cache
    with Server(program, source) as server:
        codes = [server.ask(f"/api/file?path=a.ppm.{size}px.as-png").status for size in (700, 20)]
        expect("a large result on a full disk", codes[0], 200, 500, 507)
        expect("a small one", codes[1], 200)
        rest = os.open(os.path.join(cache, "rest"), os.O_WRONLY | os.O_CREAT)
        try:
            while True:
                os.write(rest, bytes(4096))
        except OSError:
            os.close(rest)
        got = server.ask("/api/file?path=a.ppm.30px.as-png")
        expect(f"without any room ({got.body[:300]})", got.status, 200, 500, 507)
        expect("a file", server.ask("/api/file?path=plain.txt").status, 200)
        os.unlink(os.path.join(cache, "rest"))
        expect("with room again", server.ask("/api/file?path=a.ppm.40px.as-png").status, 200)
    del os.environ["XDG_CACHE_HOME"], os.environ["TMPDIR"]
    run("umount", cache)


def hanging():
    """Files whose reading never ends are in nobody's way."""
    shown = os.path.join(folder, "hanging")
    os.mkdir(shown)
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hanging.py")
    system = subprocess.Popen([sys.executable, script, source, shown])
    while not os.path.ismount(shown):
        time.sleep(.02)
    try:
        with Server(program, shown) as server:
            held = []
            for number in range(150):
                held.append(server.connect())
                held[-1].sendall(f"GET /api/file?path=hang{number}.bin HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            time.sleep(1)
            start = time.monotonic()
            for target in ("/api/file?path=plain.txt", "/api/list", "/api/search?q=plain"):
                expect(f"{target} beside those that hang", server.ask(target).status, 200)
            if time.monotonic() - start > 3:
                print(f"files that hang hold up others: {time.monotonic() - start:.1f} s")
            for connection in held:
                connection.close()
            system.send_signal(signal.SIGUSR1)
            time.sleep(.5)
            expect("afterwards", server.ask("/api/file?path=plain.txt&x").status, 200)
    finally:
        system.send_signal(signal.SIGUSR1)
        run("umount", "-l", shown)
        system.wait(10)


os.makedirs(source)
with open(os.path.join(source, "plain.txt"), "wb") as file:
    file.write(b"plain\n")
with open(os.path.join(source, "a.ppm"), "wb") as file:
    file.write(b"P6 700 700 255\n" + os.urandom(700 * 700 * 3))
for part in (networks, connections, full_disk, hanging):
    part()
print("done")
