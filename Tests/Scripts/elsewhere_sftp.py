"""elsewhere_sftp.py FFMOUNT FOLDER: files and folders of OpenSSH's server on a loopback address, with keys of its own.

Prints what is not as it should be, and at the end "done".
"""
import errno
import os
import pwd
import random
import signal
import socket
import subprocess
import sys
import time
import zipfile

from remote import Mount, commands, complain, expect, failure, refusal, whole

ffmount, folder = sys.argv[1:]
mnt, source, run = (os.path.join(folder, name) for name in ("mnt", "source", "run"))
os.makedirs(run, mode=0o700, exist_ok=True)
os.makedirs(os.path.join(source, "a & b", "deeper"), exist_ok=True)
os.environ.update(XDG_RUNTIME_DIR=run, XDG_CACHE_HOME=os.path.join(folder, "cache"), HOME=folder)
random.seed(10)
names = {"plain.txt": 10, "empty": 0, "späße 100%.txt": 70_000, "a & b/it's \"so\".txt": 3000, "a & b/deeper/x#y?z.bin": 32768,
         "semi;colon=1+1.txt": 32769, "line\nbreak": 5, "large.bin": 5_000_000}
for name, size in names.items():
    with open(os.path.join(source, name), "wb") as file:
        file.write(random.randbytes(size))
    os.utime(os.path.join(source, name), (1_600_000_000 + size, 1_600_000_000 + size))
with open(os.path.join(os.fsencode(source), b"odd \xff\xfe.bin"), "wb") as file:
    file.write(b"odd")
with zipfile.ZipFile(os.path.join(source, "inside.zip"), "w") as out:
    out.writestr("first.txt", b"first" * 1000)
os.symlink("plain.txt", os.path.join(source, "link"))
os.symlink("/etc/passwd", os.path.join(source, "away"))
os.symlink("a & b", os.path.join(source, "folder link"))
os.mkfifo(os.path.join(source, "fifo"))
os.utime(os.path.join(source, "a & b"), (1_500_000_000, 1_500_000_000))

with socket.create_server(("127.0.0.1", 0)) as free:
    port = free.getsockname()[1]
for name in "host", "user", "stranger":
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", os.path.join(folder, name)], check=True)
with open(os.path.join(folder, "user.pub")) as key, open(os.path.join(folder, "authorized"), "w") as file:
    file.write(key.read())
with open(os.path.join(folder, "host.pub")) as key, open(os.path.join(folder, "known"), "w") as file:
    file.write(f"[127.0.0.1]:{port} {key.read()}")
open(os.path.join(folder, "nothing known"), "w").close()
with open(os.path.join(folder, "sshd.conf"), "w") as file:
    file.write(f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/authorized\nStrictModes no\n"
               f"UsePAM no\nPasswordAuthentication no\nPidFile none\nSubsystem sftp internal-sftp\n")
me = pwd.getpwuid(os.geteuid()).pw_name


def settings(name, key="user", known="known"):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(f"IdentityFile {folder}/{key}\nIdentitiesOnly yes\nUserKnownHostsFile \"{folder}/{known}\"\nGlobalKnownHostsFile none\n"
                   f"StrictHostKeyChecking yes\nHost short\n  HostName 127.0.0.1\n  Port {port}\n")
    return path


good = settings("good.conf")
if os.geteuid() == 0:
    os.makedirs("/run/sshd", exist_ok=True)


def start():
    process = subprocess.Popen(["/usr/sbin/sshd", "-D", "-e", "-f", os.path.join(folder, "sshd.conf")], stderr=subprocess.DEVNULL)
    for _ in range(300):
        if failure(lambda: socket.create_connection(("127.0.0.1", port)).close())[0] == 0:
            return process
        time.sleep(0.02)
    raise SystemExit("sshd does not start")


def refused(what, address, *expected, config=good):
    refusal(ffmount, mnt, what, address, *expected, options=["-o", f"ssh_config={config}"], limit=60)


def expect_no_ssh():
    for _ in range(600):
        found = [pid for pid, words in commands().items() if any(good in word for word in words)]
        if not found:
            return
        time.sleep(0.05)
    complain(f"left over: {found}")


server = start()
try:
    address = f"sftp://{me}@127.0.0.1:{port}{source}"
    quick = ("-o", f"ssh_config={good}")
    for url in (address + "/", address, f"sftp://short{source}/"):
        with Mount(ffmount, url, mnt, *quick, "-o", "views=none"):
            expect(url, sorted(os.listdir(os.fsencode(mnt))), sorted(os.listdir(os.fsencode(source))))
            for name in names:
                here, there = os.path.join(mnt, name), os.path.join(source, name)
                expect(name, (os.stat(here).st_size, os.stat(here).st_mtime), (os.stat(there).st_size, os.stat(there).st_mtime))
                expect(name, whole(here) == whole(there), True)
            expect("odd bytes", whole(os.path.join(os.fsencode(mnt), b"odd \xff\xfe.bin")), b"odd")
            expect("a link", (os.readlink(os.path.join(mnt, "link")), whole(os.path.join(mnt, "link"))), ("plain.txt", whole(os.path.join(source, "plain.txt"))))
            expect("a link to a folder", sorted(os.listdir(os.path.join(mnt, "folder link"))), sorted(os.listdir(os.path.join(source, "a & b"))))
            expect("a link that leads out", whole(os.path.join(mnt, "away")), b"/etc/passwd")
            expect("the time of a folder", os.stat(os.path.join(mnt, "a & b")).st_mtime, 1_500_000_000)
            expect("nothing", failure(os.stat, os.path.join(mnt, "nothing"))[0], errno.ENOENT)
            with open(os.path.join(mnt, "large.bin"), "rb") as file, open(os.path.join(source, "large.bin"), "rb") as other:
                for _ in range(50):
                    place, count = random.randrange(5_000_000), random.randrange(1, 200_000)
                    expect("a part", os.pread(file.fileno(), count, place) == os.pread(other.fileno(), count, place), True)
    # Offline, without ssh: what was read of files whose times are not recent ones.
    time.sleep(2)
    with Mount(ffmount, address, mnt, *quick, "-o", "views=none,offline"):
        expect("offline", sorted(os.listdir(os.fsencode(mnt))), sorted(os.listdir(os.fsencode(source))))
        for name in names:
            expect(f"{name} offline", whole(os.path.join(mnt, name)) == whole(os.path.join(source, name)), True)
        expect("a link offline", os.readlink(os.path.join(mnt, "link")), "plain.txt")
        expect("a recent file offline", failure(whole, os.path.join(mnt, "inside.zip"))[0], errno.EIO)
        expect("ssh offline", subprocess.run(["pgrep", "-f", f"ssh -F {good}"], capture_output=True, text=True).stdout, "")
    with Mount(ffmount, address, mnt, *quick):
        expect("a view", whole(os.path.join(mnt, "inside.zip.contents/first.txt")), b"first" * 1000)
    with Mount(ffmount, address + "/inside.zip", mnt, *quick):
        expect("a file", whole(os.path.join(mnt, "first.txt")), b"first" * 1000)
    ended = subprocess.run([ffmount, "verify", address, *quick], capture_output=True, text=True, timeout=60)
    expect("verify", (ended.returncode, run in ended.stdout + ended.stderr, ended.stderr[-300:] if ended.returncode else ""), (0, False, ""))
    expect_no_ssh()

    # A changed file, and a connection that is lost.
    with Mount(ffmount, address, mnt, *quick, "-o", "views=none"):
        path = os.path.join(mnt, "large.bin")
        with open(path, "rb") as file:
            expect("the start", len(file.read(1000)), 1000)
            first, body = whole(os.path.join(source, "large.bin")), random.randbytes(5_000_001)
            with open(os.path.join(source, "large.bin"), "wb") as changed:
                changed.write(body)
            found = failure(os.pread, file.fileno(), 65536, 4_000_000)[0]
            if found != errno.ESTALE and (found or os.pread(file.fileno(), 65536, 4_000_000) != first[4_000_000:4_065_536]):
                complain(f"the open file: {found}, or bytes of two versions")
        for _ in range(600):
            try:
                if whole(path) == body:
                    break
            except OSError:
                pass
            time.sleep(0.1)
        expect("the new version", whole(path) == body, True)
        for pid, words in commands().items():
            if good in (text := " ".join(words)) and "BatchMode" in text:
                os.kill(pid, signal.SIGKILL)
        place = "a & b/deeper/x#y?z.bin"
        with open(os.path.join(mnt, place), "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            expect("after a lost connection", file.read() == whole(os.path.join(source, place)), True)

    # Sentences.
    refused("an unknown host", address, "Host key verification failed", config=settings("unknown.conf", known="nothing known"))
    refused("a key that is not accepted", address, "Permission denied", config=settings("stranger.conf", key="stranger"))
    refused("nothing", address + "/nothing", "No such file")
    refused("a text", address + "/plain.txt", "cannot show")
    refused("a password", f"sftp://me:secret@127.0.0.1{source}", "cannot show", "key")
    for bad in ("sftp://", "sftp://-oProxyCommand=x/", "sftp://a b/", "sftp://$(x)/", "sftp://-l@h/", "sftp://h:99999/", "sftp://h/%zz", "sftp://h/%00"):
        refused(bad, bad, "cannot show the server")
    expect_no_ssh()
finally:
    server.terminate()
    server.wait()
# A server that is away.
refused("no server", address, "cannot be reached", "Connection refused")
print("done")
