"""elsewhere_dav.py FFMOUNT FFSERVE FOLDER: folders of WebDAV servers: of ffmount serve, of nginx and of Apache where they are installed.

Prints what is not as it should be, and at the end "done".
"""
import os
import random
import shutil
import socket
import subprocess
import sys
import time
import zipfile

from remote import Mount, expect, failure, whole
from serving import Server

ffmount, ffserve, folder = sys.argv[1:]
mnt, source = os.path.join(folder, "mnt"), os.path.join(folder, "source")
run = os.path.join(folder, "run")
for path in (run, source, os.path.join(source, "a & b", "deeper")):
    os.makedirs(path, mode=0o755, exist_ok=True)
os.environ.update(XDG_RUNTIME_DIR=run, XDG_CACHE_HOME=os.path.join(folder, "cache"), HOME=folder)
random.seed(8)
names = ["plain.txt", "späße 100%.txt", "a & b/it's \"so\".txt", "a & b/deeper/x#y?z.bin", "semi;colon=1+1.txt", "<b>&amp;.txt", "empty"]
for number, name in enumerate(names):
    with open(os.path.join(source, name), "wb") as file:
        file.write(random.randbytes(0 if name == "empty" else 1000 * number + 10))
    os.utime(os.path.join(source, name), (1_600_000_000 + number, 1_600_000_000 + number))
with zipfile.ZipFile(os.path.join(source, "inside.zip"), "w") as out:
    out.writestr("first.txt", b"first" * 1000)
with open(os.path.join(source, "large.bin"), "wb") as file:
    file.write(random.randbytes(3_000_000))
os.utime(os.path.join(source, "a & b"), (1_500_000_000, 1_500_000_000))
os.chmod(folder, 0o755)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def wait_for(port, process):
    for _ in range(500):
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            if process.poll() is not None:
                raise SystemExit(f"{process.args}: it ended")
            time.sleep(0.02)


def compare(what, root):
    for name in names + ["large.bin", "inside.zip"]:
        here, there = os.path.join(root, name), os.path.join(source, name)
        expect(f"{what}: {name}", (os.stat(here).st_size, int(os.stat(here).st_mtime)),
               (os.stat(there).st_size, int(os.stat(there).st_mtime)))
        expect(f"{what}: {name}", whole(here) == whole(there), True)
    expect(what, sorted(os.listdir(root)), sorted(os.listdir(source) + ["inside.zip.contents"]))
    expect(what, sorted(os.listdir(os.path.join(root, "a & b"))), sorted(os.listdir(os.path.join(source, "a & b"))))
    expect(what + ": the time of a folder", int(os.stat(os.path.join(root, "a & b")).st_mtime), 1_500_000_000)
    expect(what + ": the time of the root", int(os.stat(root).st_mtime), int(os.stat(source).st_mtime))
    expect(what, whole(os.path.join(root, "inside.zip.contents/first.txt")), b"first" * 1000)
    expect(what, failure(os.stat, os.path.join(root, "nothing"))[0], 2)


def changes(what, root):
    """A changed file: what is open is stale, and others see the new bytes."""
    path, here = os.path.join(source, "changing.bin"), os.path.join(root, "changing.bin")
    for round in range(2):
        body = random.randbytes(900_000 + round)
        with open(path, "wb") as file:
            file.write(body)
        for _ in range(300):
            if failure(whole, here)[0] == 0 and whole(here) == body:
                break
            time.sleep(0.1)
        expect(f"{what}: version {round}", whole(here) == body, True)
    os.remove(path)


def check(what, address, log=None):
    for end in ("/", ""):
        with Mount(ffmount, address + end, mnt):
            compare(what + end, mnt)
    time.sleep(2)
    with Mount(ffmount, address + "/", mnt, "-o", "offline"):
        compare(what + " offline", mnt)
    with Mount(ffmount, address, mnt):
        changes(what, mnt)
    ended = subprocess.run([ffmount, "verify", address + "/"], capture_output=True, text=True, timeout=60)
    expect(what + ": verify", (ended.returncode, run in ended.stdout + ended.stderr), (0, False))
    if not log:
        return
    # 2,000 files in 20 folders take a request for each folder.
    for number in range(2000):
        os.makedirs(os.path.join(source, "many", str(number % 20)), exist_ok=True)
        with open(os.path.join(source, "many", str(number % 20), f"{number}.dat"), "wb") as file:
            file.write(b"x" * number)
    with Mount(ffmount, address + "/many/", mnt, "-o", "views=none"):
        before = len(whole(log).splitlines())
        sizes = [os.stat(os.path.join(where, name)).st_size for where, _, files in os.walk(mnt) for name in files]
        expect(what + ": the sizes", sorted(sizes), list(range(2000)))
        time.sleep(0.2)
        cost = len(whole(log).splitlines()) - before
        expect(what + f": {cost} requests for 2,000 files", cost <= 25, True)
    shutil.rmtree(os.path.join(source, "many"))


user = "user root;" if os.geteuid() == 0 else ""

# ffmount serve as a server of WebDAV, whose own API would be preferred.
with Server(ffserve, source, "-o", "views=none") as server:
    check("ffmount serve", f"http://127.0.0.1:{server.port}/dav")

nginx = shutil.which("nginx") or ("/usr/sbin/nginx" if os.path.exists("/usr/sbin/nginx") else None)
module = "/usr/lib/nginx/modules/ngx_http_dav_ext_module.so"
if nginx and os.path.exists(module):
    port, log = free_port(), os.path.join(folder, "access.log")
    settings = os.path.join(folder, "nginx.conf")
    with open(settings, "w") as file:
        file.write(f"""load_module {module}; daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; {user}
            events {{}} http {{ access_log {log}; client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2;
            fastcgi_temp_path {folder}/t3; uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
            server {{ listen 127.0.0.1:{port}; root {folder}; dav_ext_methods PROPFIND OPTIONS; }} }}""")
    server = subprocess.Popen([nginx, "-c", settings, "-p", folder], stderr=subprocess.DEVNULL)
    try:
        wait_for(port, server)
        check("nginx", f"http://127.0.0.1:{port}/source", log)
    finally:
        server.terminate()
        server.wait()

apache = "/usr/sbin/apache2"
if os.path.exists(apache):
    port, log = free_port(), os.path.join(folder, "apache.log")
    settings = os.path.join(folder, "apache.conf")
    modules = "".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n" for name in
                      ["mpm_event", "authz_core", "dav", "dav_fs", "auth_basic", "authn_core", "authn_file", "authz_user"])
    with open(os.path.join(folder, "users"), "w") as file:
        # The password is "secret".
        file.write("me:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n")
    with open(os.path.join(folder, ".netrc"), "w") as file:
        file.write("machine 127.0.0.1 login me password secret\n")
    os.chmod(os.path.join(folder, ".netrc"), 0o600)
    with open(settings, "w") as file:
        file.write(f"""ServerName localhost\nListen 127.0.0.1:{port}\nDocumentRoot {folder}\nPidFile {folder}/apache.pid
ErrorLog {folder}/apache-error.log\n{modules}LogFormat "%r" short\nDavLockDB {folder}/locks
{'User www-data' if user else ''}\n{'Group www-data' if user else ''}
<Directory {folder}>\nDav On\nAuthType Basic\nAuthName x\nAuthUserFile {folder}/users\nRequire valid-user\n</Directory>\n""")
    server = subprocess.Popen([apache, "-X", "-f", settings], stderr=subprocess.PIPE)
    try:
        wait_for(port, server)
        check("Apache", f"http://127.0.0.1:{port}/source")
        os.remove(os.path.join(folder, ".netrc"))
        ended = subprocess.run([ffmount, f"http://127.0.0.1:{port}/source/", mnt], capture_output=True, text=True)
        expect("no password", (ended.returncode, "~/.netrc" in ended.stderr), (66, True))
    finally:
        server.terminate()
        server.wait()
print("done")
