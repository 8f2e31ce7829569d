"""elsewhere_abroad.py FFMOUNT FOLDER: redirections of a web server to others on public addresses.

Run as root by `unshare -nm`, where these addresses are this machine's. Prints what is not as it should be, and at the end "done".
"""
import io
import os
import subprocess
import sys
import zipfile

from elsewhere import File, Web
from remote import Mount, complain, expect, whole

ffmount, folder = sys.argv[1:]
mnt = os.path.join(folder, "mnt")
run, cache = os.path.join(folder, "run"), os.path.join(folder, "cache")
for path in (run, cache):
    os.makedirs(path, mode=0o700)
os.environ.update(XDG_RUNTIME_DIR=run, XDG_CACHE_HOME=cache, HOME=folder)
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
for address in ("11.0.0.1", "11.0.0.2"):
    subprocess.run(["ip", "address", "add", address + "/32", "dev", "lo"], check=True)


def leads(to, status=302):
    return lambda handler, file: handler.say(status, b"over there", {"Location": to})


def credentials(web, path):
    """What was sent with the requests for a path."""
    return {headers.get("Authorization", "none").split()[0] for _, asked, _, headers in web.asked if asked == path}


def secret(name, text):
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)
    os.chmod(file.name, 0o600)
    return file.name


made = io.BytesIO()
with zipfile.ZipFile(made, "w") as out:
    out.writestr("large.bin", bytes(range(256)) * 4000)
home, abroad, beyond = Web({}), Web({}, host="11.0.0.1"), Web({}, host="11.0.0.2")
home.files = {"/away.zip": File(b"", answer=leads(abroad.url + "/it.zip")), "/far.zip": File(b"", answer=leads(abroad.url + "/on.zip")),
              "/round.zip": File(b"", answer=leads(abroad.url + "/back.zip")), "/inward.zip": File(b"", answer=leads(abroad.url + "/inner.zip")),
              "/it.zip": File(made.getvalue())}
abroad.files = {"/it.zip": File(made.getvalue()), "/on.zip": File(b"", answer=leads(beyond.url + "/it.zip")),
                "/back.zip": File(b"", answer=leads(home.url + "/it.zip")), "/inner.zip": File(b"", answer=leads("http://10.0.0.1/it.zip"))}
beyond.files = {"/it.zip": File(made.getvalue())}
options = {"Bearer": ["-o", "token_file=" + secret("token", "secret-token\n")], "Basic": []}
for kind, given in options.items():
    if kind == "Basic":
        # For all servers, so that nothing but the redirection keeps it from others.
        secret(".netrc", "default login me password secret\n")
    for path, server in (("/away.zip", abroad), ("/far.zip", beyond)):
        with Mount(ffmount, home.url + path, mnt, *given) as mount:
            expect(f"{kind}: what is redirected by {path}", whole(mount.path("large.bin")) == bytes(range(256)) * 4000, True)
        expect(f"{kind}: what its own server gets", credentials(home, path), {kind})
        expect(f"{kind}: what the other server gets", credentials(server, "/it.zip"), {"none"})
    for path in ("/round.zip", "/inward.zip"):
        ended = subprocess.run([ffmount, home.url + path, mnt, *given], capture_output=True, text=True, timeout=40)
        if ended.returncode == 0 or "redirects" not in ended.stderr:
            complain(f"{kind}: {path}: {ended}")
        if ended.returncode == 0:
            subprocess.run(["fusermount3", "-uz", mnt])
    for web in (home, abroad, beyond):
        web.asked.clear()
print("done")
