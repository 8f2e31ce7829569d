"""The WebDAV of desktops: GNOME's and KDE's, and file managers on a screen that nobody sees."""

import os
import shutil
import subprocess
import tempfile
import urllib.parse

from . import files
from .recorder import Recorder
from .tools import Skipped, need, reporting, run


def session(words, home):
    """The words that run a program in a D-Bus session of its own, whose services end with it."""
    # KDE's services go on without a bus; what is killed with the first process of a namespace does not.
    alone = ["unshare", "--pid", "--mount-proc", "--fork", "--kill-child"] if os.getuid() == 0 else []
    return [*alone, "env", "KDE_FORK_SLAVES=1", f"HOME={home}", f"XDG_RUNTIME_DIR={home}", f"XDG_DATA_HOME={home}", f"XDG_CACHE_HOME={home}/cache", "LC_ALL=C.UTF-8",
            "GVFS_DISABLE_FUSE=1", "QT_QPA_PLATFORM=offscreen", "dbus-run-session", "--", *words]  # fmt: skip


@reporting
def gio(stage):
    """Mounted, listed, each file read and one copied, and nothing removed."""
    need("gio", "dbus-run-session")
    if not shutil.which("gvfsd-dav", path="/usr/libexec:/usr/lib/gvfs"):
        raise Skipped("no gvfsd-dav (scripts/dependencies clients)")
    home = stage.scratch("gio")
    os.chmod(home, 0o700)
    root = stage.dav.replace("http:", "dav:")
    names = list(stage.shown)
    lines = ["set -e", f"gio mount {root} </dev/null >/dev/null 2>&1", "mkdir got", f"gio list -h {root} > listed"]
    lines += [f"gio copy '{root}{urllib.parse.quote(name)}' got/{number}" for number, name in enumerate(names)]
    lines += [f"gio info {root}large.bin > info", f"! gio remove {root}plain.txt 2> refused"]
    with open(os.path.join(home, "do"), "w") as file:
        file.write("\n".join(lines))
    run(session(["bash", "do"], home), cwd=home)
    wrong = []
    for number, name in enumerate(names):
        with open(os.path.join(home, "got", str(number)), "rb") as file:
            if file.read() != stage.shown[name]:
                wrong.append(f"{name!r} has other bytes")
    with open(os.path.join(home, "listed"), "rb") as file:
        listed = file.read().splitlines()
    top = {name.split(b"/")[0] for name in stage.shown}
    wrong += [f"{name!r} is not listed" for name in sorted(top - set(listed))]
    with open(os.path.join(home, "info")) as file:
        info = file.read()
    for word in ("size:  6291456", "time::modified: ", "standard::type: 1"):
        if word not in info:
            wrong.append(f"gio info lacks {word}: {info[:500]}")
    if not os.path.exists(os.path.join(stage.source, "plain.txt")):
        wrong.append("plain.txt was removed")
    return f"mount, list, info, copy of {len(names)} files", wrong


@reporting
def kio(stage):
    """Each file by KDE's WebDAV."""
    program = shutil.which("kioclient5") or shutil.which("kioclient")
    if not program:
        raise Skipped("no kioclient (scripts/dependencies clients)")
    need("dbus-run-session")
    home = stage.scratch("kio")
    os.chmod(home, 0o700)
    root = stage.dav.replace("http:", "webdav:")
    # Its addresses are UTF-8.
    names = [name for name in stage.shown if os.path.basename(name) != files.RAW]
    lines = [f"{program} --noninteractive ls {root} > listed"]
    lines += [f"{program} --noninteractive cat '{root}{urllib.parse.quote(name)}' > {number}" for number, name in enumerate(names)]
    with open(os.path.join(home, "do"), "w") as file:
        file.write("\n".join(lines))
    run(session(["bash", "do"], home), cwd=home, check=False, timeout=300)
    wrong = []
    for number, name in enumerate(names):
        with open(os.path.join(home, str(number)), "rb") as file:
            if file.read() != stage.shown[name]:
                wrong.append(f"{name!r} has other bytes")
    with open(os.path.join(home, "listed"), "rb") as file:
        listed = set(file.read().splitlines())
    top = {name.split(b"/")[0] for name in stage.shown} - {b".hidden", files.RAW}
    wrong += [f"{name!r} is not listed" for name in sorted(top - listed)]
    return f"ls, cat of {len(names)} files", wrong[:8]


@reporting
def pcmanfm(stage):
    return file_manager(stage, "pcmanfm", ["pcmanfm"])


@reporting
def nautilus(stage):
    return file_manager(stage, "nautilus", ["nautilus", "--new-window"])


def file_manager(stage, name, words):
    """The folder in a window of a file manager, by GNOME's WebDAV: it asks for all that is in it, and there is a picture of it."""
    need(words[0], "Xvfb", "openbox", "xdotool", "import", "gio", "dbus-run-session")
    # Sockets have short names.
    home = tempfile.mkdtemp(prefix="manager-", dir="/tmp")
    picture = os.path.join(home, "picture.png")
    read, write = os.pipe()
    screen = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1100x760x24", "-nolisten", "tcp"], pass_fds=[write],
                              stderr=subprocess.DEVNULL)  # fmt: skip
    os.close(write)
    try:
        display = ":" + os.read(read, 16).decode().strip()
        with Recorder(stage.port) as recorder:
            root = f"dav://127.0.0.1:{recorder.port}/dav/"
            lines = [f"gio mount {root} </dev/null", "openbox & sleep 1", f"{' '.join(words)} {root} & window=$!",
                     f"for round in $(seq 100); do xdotool search --onlyvisible --class {name} > found && break; sleep .2; done",
                     "sleep 8", f"import -window root {picture}", "kill $window"]  # fmt: skip
            with open(os.path.join(home, "do"), "w") as file:
                file.write("\n".join(lines))
            said = run(["env", f"DISPLAY={display}", "GSETTINGS_BACKEND=memory", "NO_AT_BRIDGE=1", *session(["bash", "do"], home)], cwd=home,
                       timeout=90, check=False)  # fmt: skip
            # It looks how far up there is WebDAV.
            failed = [one for one in recorder.asked if one[3] >= 400 and one[3] != 404 and one[:2] != ("OPTIONS", "/")]
            listed = [one for one in recorder.asked if (one[0], *one[2:]) == ("PROPFIND", "1", 207)]
        if failed:
            return "", [f"it was answered {failed[:3]}"]
        if not os.path.exists(picture) or not os.path.getsize(os.path.join(home, "found")):
            return "", [f"no window: {said[-500:]}"]
        if stage.pictures:
            stage.pictures.mkdir(parents=True, exist_ok=True)
            shutil.copy(picture, stage.pictures / f"{name}.png")
        # The first is the mount's.
        if len(listed) < 2:
            raise Skipped("its window never asks what is in the folder; without a desktop's session it may show no local folder, either")
        return "a window with the folder", []
    finally:
        os.close(read)
        screen.terminate()
        screen.wait()
        shutil.rmtree(home, ignore_errors=True)
