"""elsewhere_kinds.py FFMOUNT FOLDER: files of every kind that has a folder view, by their addresses as by their paths.

Prints what is not as it should be, and at the end "done".
"""
import os
import random
import subprocess
import sys
import tarfile
import zipfile

from PIL import Image

from elsewhere import File, Web
from remote import Mount, complain, expect, whole

ffmount, folder = sys.argv[1:]
mnt, source, inner = (os.path.join(folder, name) for name in ("mnt", "source", "inner"))
os.makedirs(mnt, exist_ok=True)
run, cache = os.path.join(folder, "run"), os.path.join(folder, "cache")
for path in (run, cache, source, os.path.join(inner, "folder")):
    os.makedirs(path, mode=0o700, exist_ok=True)
os.environ.update(XDG_RUNTIME_DIR=run, XDG_CACHE_HOME=cache, HOME=folder)
random.seed(12)
for name in ("first.txt", "folder/second.bin"):
    with open(os.path.join(inner, name), "wb") as file:
        file.write(random.randbytes(300_000))


def make(name, body=None):
    """The path of a file, which is written if `body` is given."""
    path = os.path.join(source, name)
    if body is not None:
        with open(path, "wb") as file:
            file.write(body)
    return path


def command(*words):
    subprocess.run(words, cwd=inner, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


# Images of disks, by themselves and in others.
image = make("disk.img", bytes(4 << 20))
command("mformat", "-i", image, "-T", "8192", "-h", "2", "-s", "32", "::")
command("mcopy", "-s", "-i", image, "first.txt", "folder", "::")
make("floppy.ima", whole(image))
command("bsdtar", "-cf", make("cd.iso"), "--format", "iso9660", ".")
command("mksquashfs", ".", make("root.squashfs"), "-quiet", "-no-progress")
command("qemu-img", "convert", "-O", "qcow2", image, make("machine.qcow2"))
make("disk.img.gz", b"")
with open(make("disk.img.gz"), "wb") as out:
    subprocess.run(["gzip", "-nc", image], stdout=out, check=True)
# Archives, packed files and others.
for name, method in ("a.zip", zipfile.ZIP_DEFLATED), ("stored.zip", zipfile.ZIP_STORED), ("lzma.zip", zipfile.ZIP_LZMA):
    with zipfile.ZipFile(make(name), "w", method) as out:
        for member in ("first.txt", "folder/second.bin"):
            out.write(os.path.join(inner, member), member)
for ending in ("tar", "tar.gz", "tar.bz2", "tar.xz"):
    with tarfile.open(make("a." + ending), "w:" + ending[4:]) as out:
        out.add(inner, "top")
command("7z", "a", "-bd", make("a.7z"), ".")
command("bsdtar", "-cf", make("a.cpio"), "--format", "cpio", ".")
letter = (b"From: anna@example.org\r\nSubject: harbour\r\nDate: Fri, 1 Jan 2021 00:00:00 +0000\r\nMIME-Version: 1.0\r\n"
          b"Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nThe pier\r\n--x\r\nContent-Type: text/plain; name=a.txt\r\n"
          b"Content-Disposition: attachment; filename=a.txt\r\n\r\nattached\r\n--x--\r\n")
make("letter.eml", letter)
make("inbox.mbox", b"".join(b"From a@b Fri Jan  1 00:00:00 2021\n" + letter.replace(b"\r\n", b"\n") + b"\n" for _ in range(50)))
make("cards.vcf", b"".join(b"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Anna %d\r\nEND:VCARD\r\n" % number for number in range(20)))
pages = [Image.new("RGB", (300, 400), colour) for colour in ("red", "blue", "green")]
pages[0].save(make("report.pdf"), save_all=True, append_images=pages[1:])
# No folder view, which is refused alike.
make("note.txt", b"a note")
# A name without an ending, and one with a query.
make("download", whole(make("a.zip")))


def tree(root):
    """The bytes and times of the files of a mount, by their paths."""
    return {os.path.relpath(os.path.join(where, name), root): (whole(os.path.join(where, name)), os.stat(os.path.join(where, name)).st_mtime)
            for where, _, names in os.walk(root) for name in names}


web = Web({})
seen = 0
for name in sorted(os.listdir(source)):
    path = os.path.join(source, name)
    web.files["/" + name] = web.files["/" + name + "?at=1"] = File(whole(path), modified=int(os.stat(path).st_mtime))
    os.utime(path, (int(os.stat(path).st_mtime),) * 2)
    ended = subprocess.run([ffmount, path, mnt, "-o", "views=none"], capture_output=True, text=True)
    if ended.returncode == 0:
        wanted = tree(mnt)
        subprocess.run([ffmount, "-u", mnt], check=True)
        seen += 1
        for address in (f"{web.url}/{name}", f"{web.url}/{name}?at=1"):
            with Mount(ffmount, address, mnt, "-o", "views=none"):
                found = tree(mnt)
                expect(address, sorted(found), sorted(wanted))
                for member in wanted:
                    if found.get(member) != wanted[member]:
                        complain(f"{address}: {member} differs")
    else:
        other = subprocess.run([ffmount, f"{web.url}/{name}", mnt, "-o", "views=none"], capture_output=True, text=True)
        expect(name, (other.returncode, other.stderr.replace(f"{web.url}/{name}", path)), (ended.returncode, ended.stderr))
        if other.returncode == 0:
            subprocess.run([ffmount, "-u", mnt], check=True)
        if name != "note.txt":
            complain(f"{name} has no folder view: {ended.stderr}")
expect("kinds that are shown", seen > 18, True)
print("done")
