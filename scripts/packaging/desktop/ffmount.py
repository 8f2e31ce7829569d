"""Context menus and emblems of ffmount for Nautilus, Caja, Nemo and Thunar, by their Python bindings.

Each of them loads this file from a folder of its own. `scripts/packaging/desktop/make` imports it for the table of
actions, from which it writes those of other file managers.
"""

import os
import re
import shutil
import subprocess

# The name, the label, the command, and the MIME types of the files. Nemo's menu is made of files, not by this program.
INSIDE = (
    "application/zip application/vnd.comicbook+zip application/x-tar application/x-compressed-tar application/gzip "
    "application/x-bzip application/x-bzip-compressed-tar application/x-bzip1-compressed-tar application/x-bzip2 "
    "application/x-bzip2-compressed-tar application/x-xz "
    "application/x-xz-compressed-tar application/zstd application/x-zstd-compressed-tar application/x-compress "
    "application/x-tarz application/x-lz4 application/x-lz4-compressed-tar application/x-lzip "
    "application/x-lzip-compressed-tar application/x-lzma application/x-lzma-compressed-tar application/x-brotli "
    "application/x-cbt application/x-7z-compressed application/x-cb7 application/vnd.rar application/x-rar "
    "application/vnd.comicbook-rar application/x-cd-image application/vnd.efi.iso application/x-cpio application/x-archive "
    "application/vnd.debian.binary-package application/x-deb application/x-rpm application/vnd.ms-cab-compressed "
    "application/x-lha application/x-xar application/x-warc application/warc application/java-archive "
    "application/x-java-archive application/vnd.android.package-archive application/epub+zip "
    "application/vnd.appimage application/x-iso9660-appimage application/x-arj application/vnd.ms-htmlhelp "
    "application/x-apple-diskimage application/x-msi application/x-ms-win-installer application/x-ms-wim "
    "application/x-qemu-disk application/x-raw-disk-image application/vnd.snap application/vnd.squashfs "
    "application/x-vdi-disk application/x-vhd-disk application/x-vhdx-disk application/x-vmdk-disk "
    "application/mbox application/vnd.ms-outlook application/vnd.ms-outlook-pst message/rfc822 text/calendar text/vcard "
    "application/pdf application/x-cue "
    "video/mp4 video/x-matroska video/x-matroska-3d video/webm video/quicktime video/x-msvideo video/vnd.avi video/mpeg "
    "video/mp2t").split()
PICTURES = (
    "image/heif image/heic image/avif image/webp image/png image/apng image/tiff image/gif image/bmp image/jp2 image/jxl "
    "image/x-exr image/svg+xml image/vnd.adobe.photoshop image/x-psd image/x-tga image/x-dcraw image/x-adobe-dng "
    "image/x-canon-cr2 image/x-canon-cr3 image/x-nikon-nef image/x-sony-arw image/x-olympus-orf image/x-panasonic-rw2 "
    "image/x-fuji-raf image/x-pentax-pef image/x-samsung-srw").split()
OFFICE = (
    "application/vnd.oasis.opendocument.text application/vnd.oasis.opendocument.presentation "
    "application/vnd.oasis.opendocument.spreadsheet application/rtf application/epub+zip "
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document "
    "application/vnd.openxmlformats-officedocument.presentationml.presentation "
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet").split()
LAID_OUT = OFFICE + "application/msword application/vnd.ms-excel application/vnd.ms-powerpoint".split()
SOUNDS = (
    "audio/flac audio/x-flac audio/x-wav audio/vnd.wave audio/x-aiff audio/mp4 audio/aac audio/ogg audio/x-vorbis+ogg "
    "audio/x-opus+ogg audio/x-flac+ogg audio/x-matroska audio/x-ms-wma audio/x-ape audio/x-wavpack audio/AMR "
    "video/mp4 video/x-matroska video/webm video/quicktime video/x-msvideo video/vnd.avi video/mpeg video/mp2t "
    "video/x-ms-wmv video/ogg video/x-flv").split()
ACTIONS = [
    ("open", "Show What Is Inside", ["ffmount", "open"], INSIDE),
    ("folder", "Show with ffmount", ["ffmount", "open"], ["inode/directory"]),
    ("jpeg", "Save as JPEG", ["ffmount", "save", "as-jpeg"], PICTURES),
    ("smaller", "Save as Smaller PDF", ["ffmount", "save", "compressed.pdf"], ["application/pdf"]),
    ("pdf", "Save as PDF", ["ffmount", "save", "as-pdf"], LAID_OUT),
    ("text", "Save as Text", ["ffmount", "save", "as-txt"], ["application/pdf", *OFFICE, "image/jpeg", "image/png", "image/tiff"]),
    ("mp3", "Save as MP3", ["ffmount", "save", "as-mp3"], SOUNDS),
    ("search", "Search Here…", ["ffmount", "open", "--search", ""], ["application/mbox", "inode/directory"]),
]
# Those that take one file.
SINGLE = {"open", "folder", "search"}


def actions(types):
    """The actions that fit files of all these types."""
    return [action for action in ACTIONS if types and all(kind in action[3] for kind in types)]


def run(command, paths):
    for group in [[path] for path in paths] if command[1] == "open" else [paths]:
        subprocess.Popen([*command, "--", *group], start_new_session=True, stdin=subprocess.DEVNULL)


def mounts():
    """The mountpoints of ffmount."""
    with open("/proc/self/mountinfo", "rb") as lines:
        found = [line.split() for line in lines if b" - fuse.ffmount " in line]
    return [re.sub(rb"\\([0-7]{3})", lambda code: bytes([int(code[1], 8)]), fields[4]) for fields in found]


def is_view(path):
    """Whether a path is a view of the file beside it, and not a file in a view."""
    path = os.fsencode(path)
    top = next((mount for mount in mounts() if path.startswith(mount + b"/")), None)
    if top is None:
        return False
    try:
        source, view = (os.getxattr(path, f"user.ffmount.{name}") for name in ("source", "view"))
    except OSError:
        return False
    folder, name = os.path.split(path[len(top) + 1 :])
    # The files in a mount of one file have that file as their source, which is not beside them.
    stem = os.path.splitext(os.path.basename(source))[0]
    return os.path.dirname(source) == folder and name.startswith(stem + b".") and b"." + view in name


def host():
    """The module of the file manager that loads this file, by the folder it is in. Nothing in the source tree."""
    modules = {"nautilus-python": "Nautilus", "caja-python": "Caja", "nemo-python": "Nemo", "thunarx-python": "Thunarx"}
    parents = os.path.abspath(__file__).split("/")
    name = next((module for folder, module in modules.items() if folder in parents), None)
    if name is None:
        return None
    import gi

    if name == "Thunarx":
        gi.require_version("Thunarx", "3.0")
    return getattr(__import__("gi.repository", fromlist=[name]), name)


def provider(module):
    """The class that the file manager looks for."""
    from gi.repository import GObject

    name = module._namespace
    bases = [GObject.GObject]
    if name != "Nemo":
        bases.append(module.MenuProvider)
    if name != "Thunarx":
        bases.append(module.InfoProvider)

    def items(self, *arguments):
        files = arguments[-1]
        if shutil.which("ffmount") is None or any(file.get_uri_scheme() != "file" for file in files):
            return []
        paths = [file.get_location().get_path() for file in files]
        found = []
        for key, label, command, _ in actions([file.get_mime_type() for file in files]):
            if key in SINGLE and len(files) > 1:
                continue
            item = module.MenuItem(name=f"ffmount::{key}", label=label, icon="ffmount")
            item.connect("activate", lambda _, command=command: run(command, paths))
            found.append(item)
        return found

    def of_folder(self, *arguments):
        return items(self, [arguments[-1]])

    def update_file_info(self, file, *_):
        location = file.get_location()
        if location.get_path() and is_view(location.get_path()):
            file.add_emblem("ffmount")

    methods = {"update_file_info": update_file_info}
    for method in ("get_file_items", "get_file_menu_items"):
        methods[method] = items
    for method in ("get_background_items", "get_folder_menu_items"):
        methods[method] = of_folder
    return type("FfmountProvider", tuple(bases), {"__gtype_name__": "FfmountProvider", **methods})


if _module := host():
    FfmountProvider = provider(_module)
