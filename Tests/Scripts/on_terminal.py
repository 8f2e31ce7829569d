"""on_terminal.py COMMAND...: runs a command on a terminal of its own, and answers its questions.

The variable ANSWERS has a line for each question: the answer, or `^C`. A question is text after which the command waits
in silence, with echo off. Prints what the terminal showed; then `echo on` or `echo off`, the mode that the command left;
`seen` if an answer was an argument of any process; and the status, or the negated signal. Exits with 0.
"""
import os
import pty
import select
import signal
import sys
import termios
import time

answers = os.environ.pop("ANSWERS").encode().split(b"\n")
master, slave = pty.openpty()
told, teller = os.pipe()


def lead():
    """Runs the command as a shell does: as a job in the foreground, which is none when the session ends."""
    os.login_tty(slave)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpgrp())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execvp(sys.argv[1], sys.argv[1:])
    status = os.waitstatus_to_exitcode(os.waitpid(job, 0)[1])
    os.tcsetpgrp(0, os.getpgrp())
    os.write(teller, str(status).encode())
    os._exit(0)


leader = os.fork()
if leader == 0:
    os.close(master)
    lead()
os.close(teller)


def echoes():
    return bool(termios.tcgetattr(slave)[3] & termios.ECHO)


def is_argument(answer):
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                if answer in file.read():
                    return True
        except OSError:
            pass
    return False


shown, seen, asked, status = b"", False, 0, None
end = time.monotonic() + 40
while status is None and time.monotonic() < end:
    ready = select.select([master, told], [], [], 0.02)[0]
    if master in ready:
        shown += os.read(master, 65536)
    elif told in ready:
        status = os.read(told, 16).decode()
    elif answers and not echoes() and shown.endswith(b": ") and len(shown) > asked:
        asked = len(shown)
        answer = answers.pop(0)
        os.write(master, b"\x03" if answer == b"^C" else answer + b"\n")
        seen = seen or answer != b"" and is_argument(answer)
while select.select([master], [], [], 0)[0]:
    shown += os.read(master, 65536)
sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
sys.stdout.flush()
print("echo on" if echoes() else "echo off")
if seen:
    print("seen")
print(f"status {status}")
if status is None:
    os.kill(leader, signal.SIGKILL)
