"""ffconvert as ffmount runs it: jobs over a socket that is its descriptor 3."""
import os
import socket
import struct
import subprocess
import tempfile


class Worker:
    """One worker; `ask` blocks until it has answered."""
    #: Where an answer has a failure's number.
    UNDER_WAY = 256

    def __init__(self, program):
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.errors = tempfile.TemporaryFile()
        self.count = 0
        # The shell moves the descriptor to number 3.
        self.process = subprocess.Popen(
            ["/bin/bash", "-c", f'exec "$0" 3<&{theirs.fileno()} {theirs.fileno()}<&-' if theirs.fileno() != 3 else 'exec "$0"', program],
            pass_fds=(theirs.fileno(),), stderr=self.errors)
        theirs.close()

    def ask(self, path, recipe="count pages", document=0, limit=1 << 32, start=0, size=None, timeout=60, passwords=()):
        """(failure, value, reason, bytes); failure 0 is success. Raises EOFError when the worker ends."""
        is_question = recipe.startswith(("count ", "passwords", "measure "))
        self.count += 1
        source = os.open(path, os.O_RDONLY)
        if size is None:
            size = os.fstat(source).st_size - start
        output = os.memfd_create("output")
        message = struct.pack("<QQQQQQ", self.count, start, size, document, limit, 0) + recipe.encode()
        message += b"".join(b"\0" + password.encode() for password in passwords)
        try:
            socket.send_fds(self.socket, [message], [source] + ([] if is_question else [output]))
            self.socket.settimeout(timeout)
            failure = self.UNDER_WAY
            while failure == self.UNDER_WAY:
                answer = self.socket.recv(4096)
                if len(answer) < 24:
                    raise EOFError(f"the worker ended with status {self.process.wait()}")
                number, failure, value = struct.unpack("<QQQ", answer[:24])
            assert number == self.count, "the answer is to another job"
            made = os.pread(output, 1 << 30, 0) if not is_question and failure == 0 else b""
            assert not made or len(made) == value, "the size is not what was said"
            return failure, value, answer[24:].decode(), made
        finally:
            os.close(source)
            os.close(output)

    def said(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")

    def cpu(self):
        """Milliseconds of all its threads so far."""
        tasks = f"/proc/{self.process.pid}/task"
        return sum(int(open(f"{tasks}/{task}/schedstat").read().split()[0]) for task in os.listdir(tasks)) / 1e6

    def close(self):
        self.socket.close()
        return self.process.wait(20)
