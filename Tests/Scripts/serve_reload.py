"""serve_reload.py FFSERVE SCRATCH: certificates and tokens that are replaced while the server runs."""
import os
import pathlib
import pty
import signal
import socket
import ssl
import subprocess
import sys
import time
import warnings

from serving import Server, wait_until

PROGRAM, SCRATCH = sys.argv[1], pathlib.Path(sys.argv[2])
SOURCE = SCRATCH / "source"


def expect(what, got, wanted):
    if got != wanted:
        raise SystemExit(f"{what}: {got!r}, not {wanted!r}")


def certify(name):
    """Replaces the certificate, and returns it."""
    chain, key = SCRATCH / "chain.pem", SCRATCH / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key.with_suffix(".new"),
                    "-out", chain.with_suffix(".new"), "-days", "9", "-subj", "/CN=" + name],
                   check=True, stderr=subprocess.DEVNULL)
    key.with_suffix(".new").rename(key)
    chain.with_suffix(".new").rename(chain)
    return ssl.PEM_cert_to_DER_cert(chain.read_text())


def refuses_old_versions(server):
    """TLS 1.1 is refused, though this end would speak it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    with socket.create_connection(("127.0.0.1", server.port), 10) as raw:
        try:
            with context.wrap_socket(raw) as secure:
                raise SystemExit(f"the server speaks {secure.version()}")
        except (ssl.SSLError, ConnectionResetError):
            pass


def check_certificates():
    first = certify("first")
    with Server(PROGRAM, SOURCE, "--no-bonjour", "--tls", SCRATCH / "chain.pem", SCRATCH / "key.pem") as server:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE

        def shown():
            with socket.create_connection(("127.0.0.1", server.port)) as raw, context.wrap_socket(raw) as secure:
                return secure.getpeercert(True)
        expect("the first certificate", shown(), first)
        refuses_old_versions(server)
        second = certify("second")
        wait_until("the second certificate", second, shown)
        # Neither a file that is no certificate nor a missing one ends the server, or takes the certificate away.
        (SCRATCH / "chain.pem").write_text("nonsense")
        (SCRATCH / "key.pem").unlink()
        server.process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        expect("the certificate beside unusable files", shown(), second)
        third = certify("third")
        wait_until("the third certificate", third, shown)


def check_tokens():
    file = SCRATCH / "token"
    file.touch(0o600)
    file.write_text("first-token\n")
    with Server(PROGRAM, SOURCE, "--no-bonjour", "--token-file", file) as server:
        def status(token):
            return server.ask("/api/list", f"Authorization: Bearer {token}").status
        expect("the first token", status("first-token"), 200)
        cookie = server.ask("/?token=first-token").header("set-cookie").split(";")[0]
        expect("the first cookie", server.ask("/api/list", f"Cookie: {cookie}").status, 200)
        file.write_text("second-token\n")
        # Few wrong tokens, because many are refused for a minute.
        wait_until("the second token", 200, lambda: status("second-token"))
        expect("the first token afterwards", status("first-token"), 401)
        expect("the first cookie afterwards", server.ask("/api/list", f"Cookie: {cookie}").status, 401)
        for text in ("short", ""):
            file.write_text(text)
            server.process.send_signal(signal.SIGHUP)
            time.sleep(0.3)
            expect(f"the second token beside the file {text!r}", status("second-token"), 200)
        file.chmod(0o644)
        file.write_text("third-token\n")
        server.process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        expect("a token that others can read", (status("third-token"), status("second-token")), (401, 200))


def check_hang_up():
    """A server ends with its terminal, and only then by SIGHUP."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(PROGRAM, [PROGRAM, str(SOURCE), "--port", "0", "--no-bonjour"])
    text = b""
    while b"Stop with" not in text:
        text += os.read(terminal, 4096)
    os.kill(child, signal.SIGHUP)
    time.sleep(0.3)
    expect("whether the server ends by SIGHUP", os.waitpid(child, os.WNOHANG), (0, 0))
    os.close(terminal)
    wait_until("whether the server ends with its terminal", child, lambda: os.waitpid(child, os.WNOHANG)[0])


SOURCE.mkdir(exist_ok=True)
(SOURCE / "a.txt").write_text("a")
check_certificates()
check_tokens()
check_hang_up()
print("done")
