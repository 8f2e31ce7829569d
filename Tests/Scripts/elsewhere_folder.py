"""elsewhere_folder.py FFMOUNT FOLDER: folders that web servers list, of nginx if it is installed, and of Python's http.server.

Prints what is not as it should be, and at the end "done".
"""
import functools
import http.server
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
import zipfile

from elsewhere import File, Web
from remote import Mount, complain, expect, failure, whole

ffmount, folder = sys.argv[1:]
mnt, source = os.path.join(folder, "mnt"), os.path.join(folder, "source")
run = os.path.join(folder, "run")
for path in (run, source, os.path.join(source, "a & b", "deeper")):
    os.makedirs(path, mode=0o755, exist_ok=True)
os.environ.update(XDG_RUNTIME_DIR=run, XDG_CACHE_HOME=os.path.join(folder, "cache"), HOME=folder)
random.seed(7)
names = ["plain.txt", "späße 100%.txt", "a & b/it's \"so\".txt", "a & b/deeper/x#y?z.bin", "semi;colon=1.txt"]
for number, name in enumerate(names):
    with open(os.path.join(source, name), "wb") as file:
        file.write(random.randbytes(1000 * number + 10))
with zipfile.ZipFile(os.path.join(source, "inside.zip"), "w") as out:
    out.writestr("first.txt", b"first" * 1000)
LARGE = random.randbytes(700_000)
with open(os.path.join(source, "large.bin"), "wb") as file:
    file.write(LARGE)
os.chmod(folder, 0o755)


def compare(what, root, has_parts):
    for name in names:
        expect(f"{what}: {name}", whole(os.path.join(root, name)), whole(os.path.join(source, name)))
    expect(what, sorted(name for name in os.listdir(root)),
           sorted(os.listdir(source) + ["inside.zip.contents"]))
    expect(what, sorted(os.listdir(os.path.join(root, "a & b"))), sorted(os.listdir(os.path.join(source, "a & b"))))
    expect(what, whole(os.path.join(root, "inside.zip.contents/first.txt")), b"first" * 1000)
    expect(what, failure(os.stat, os.path.join(root, "nothing"))[0], 2)
    if has_parts:
        expect(what, whole(os.path.join(root, "large.bin")) == LARGE, True)
        expect(what, os.stat(os.path.join(root, "large.bin")).st_mtime, int(os.stat(os.path.join(source, "large.bin")).st_mtime))
    else:
        # Not short, and not wrong.
        expect(what, failure(whole, os.path.join(root, "large.bin"))[0], 5)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    """Connections end early where it sends a whole file instead of a part."""

    def handle_error(self, request, client_address):
        pass


python = Server(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
threading.Thread(target=python.serve_forever, daemon=True).start()
for end in ("/source/", "/source"):
    with Mount(ffmount, f"http://127.0.0.1:{python.server_port}{end}", mnt) as mount:
        compare("Python " + end, mnt, has_parts=False)
with open(os.path.join(source, "index.html"), "w") as file:
    file.write("<title>A page</title><a href='plain.txt'>x</a>")
ended = subprocess.run([ffmount, f"http://127.0.0.1:{python.server_port}/source/", mnt], capture_output=True, text=True)
expect("a page", (ended.returncode, "does not list the folder" in ended.stderr), (66, True))
os.remove(os.path.join(source, "index.html"))

# Each file's attributes are a request. Those that a listing will ask for next are on their way already.
under_way, most = set(), 0


def slowly(handler, file):
    global most
    with web.lock:
        under_way.add(handler)
        most = max(most, len(under_way))
    time.sleep(0.05)
    with web.lock:
        under_way.discard(handler)
    return False


many = {f"/many/{number:02}.txt": File(b"%d" % number * 10, answer=slowly) for number in range(40)}
page = b"<title>Index of /many/</title><h1>Index of /many/</h1><a href='../'>../</a>" + b"".join(
    b"<a href='%b'>x</a>" % name.split("/")[-1].encode() for name in many)
web = Web({**many, "/many/": File(page, answer=lambda handler, file: handler.say(200, file.body, {"Content-Type": "text/html"}) or True)})
with Mount(ffmount, web.url + "/many/", mnt, "-o", "views=none") as mount:
    shown = [(entry.name, entry.stat().st_size) for entry in os.scandir(mnt)]
    expect("sizes of many files", shown, [(name.split("/")[-1], len(file.body)) for name, file in many.items()])
    asked = [path for _, path, *_ in web.asked if path in many]
    expect("each file once", (len(asked), sorted(set(asked))), (len(many), sorted(many)))
    expect("requests at a time", 4 < most <= 9, True)
web.stop()

nginx = shutil.which("nginx") or ("/usr/sbin/nginx" if os.path.exists("/usr/sbin/nginx") else None)
if nginx:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = os.path.join(folder, "nginx.conf")
    with open(settings, "w") as file:
        file.write(f"""daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; {'user root;' if os.geteuid() == 0 else ''}
            events {{}} http {{ access_log off; client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2;
            fastcgi_temp_path {folder}/t3; uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
            server {{ listen 127.0.0.1:{port}; root {folder}; autoindex on; charset utf-8; }} }}""")
    process = subprocess.Popen([nginx, "-c", settings, "-p", folder], stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.02)
        for end in ("/source/", "/source"):
            with Mount(ffmount, f"http://127.0.0.1:{port}{end}", mnt) as mount:
                compare("nginx " + end, mnt, has_parts=True)
        ended = subprocess.run([ffmount, "verify", f"http://127.0.0.1:{port}/source/"], capture_output=True, text=True, timeout=60)
        expect("verify", (ended.returncode, run in ended.stdout + ended.stderr, "1 damaged" in ended.stderr), (0, False, False))
        with open(os.path.join(source, "broken.zip"), "wb") as file, open(os.path.join(source, "inside.zip"), "rb") as good:
            file.write(good.read().replace(b"firstfirst", b"firstFirst", 1))
        ended = subprocess.run([ffmount, "verify", f"http://127.0.0.1:{port}/source/"], capture_output=True, text=True, timeout=60)
        expect("verify", (ended.returncode, f"http://127.0.0.1:{port}/source/broken.zip" in ended.stdout, run in ended.stdout), (1, True, False))
        ended = subprocess.run([ffmount, "search", f"http://127.0.0.1:{port}/source/", "inside"], capture_output=True, text=True, timeout=60)
        expect("search", (ended.returncode, "inside.zip" in ended.stdout, run in ended.stdout), (0, True, False))
    finally:
        process.terminate()
        process.wait()
print("done")
