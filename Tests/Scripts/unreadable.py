"""unreadable.py FFMOUNT FFSERVE FAILING MOUNT FOLDER: the folder FAILING of hanging.py has files whose attributes cannot be read. MOUNT
shows it. Prints the differences from a listing of it all, in MOUNT and in a mount of a server in FOLDER, and "done".
"""
import errno
import os
import stat
import sys

from remote import Mount, complain, expect
from serving import Server

ffmount, ffserve, failing, shown, folder = sys.argv[1:]
names = set(os.listdir(failing))
bad = {name for name in names if name.startswith(("bad", "stale"))}


def check(where, mount):
    """All names are listed, with and without attributes, and only the bad ones have none."""
    with os.scandir(mount) as entries:
        kinds = {entry.name: entry.is_file(follow_symlinks=False) if entry.name not in bad else None for entry in entries}
    expect(f"{where}: missing names", sorted(names - kinds.keys()), [])
    expect(f"{where}: more names", sorted(name for name in kinds.keys() - names if not name.endswith(".contents")), [])
    expect(f"{where}: not files", [name for name, is_file in kinds.items() if is_file is False and name in names], [])
    failed = {}
    for name in kinds:
        try:
            os.lstat(f"{mount}/{name}")
        except OSError as error:
            failed[name] = error.errno
    expect(f"{where}: failing", sorted(name for name in failed if name in names), sorted(bad))
    expect(f"{where}: errors", {failed[name] for name in failed if name.startswith("bad")}, {errno.EIO})
    # As `find` and `ls -l` do: attributes arrive with the names.
    for _ in range(2):
        found = set()
        for _, folders, files in os.walk(mount, onerror=lambda error: complain(f"{where}: {error}")):
            found.update(folders + files)
            for name in files:
                if name not in bad and not stat.S_ISREG(os.lstat(f"{mount}/{name}").st_mode):
                    complain(f"{where}: {name} is not a file")
            break
        expect(f"{where}: missing of a walk", sorted(names - found), [])


check("mount", shown)
with Server(ffserve, shown) as server:
    listed = {item["name"]: item for item in server.call("list", path="/")["items"]}
    expect("server: missing names", sorted(names - listed.keys()), [])
    expect("server: with errors", sorted(name for name in names if "error" in listed[name]), sorted(bad))
    found = server.ask("/dav/", "Depth: 1", method="PROPFIND").body.decode()
    expect("WebDAV: missing names", sorted(name for name in names if f"/dav/{name.replace(' ', '%20')}</D:href>" not in found), [])
    expect("WebDAV: failing", found.count("<D:status>HTTP/1.1 500 "), sum("error" in item for item in listed.values()))
    expect("page: missing names", sorted(name for name in names if f">{name}</a>" not in server.ask("/dav/").body.decode()), [])
    with Mount(ffmount, f"http://127.0.0.1:{server.port}", os.path.join(folder, "remote")) as mount:
        check("client", mount.path(""))
print("done")
