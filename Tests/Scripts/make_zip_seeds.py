#!/usr/bin/env python3
"""make_zip_seeds.py FOLDER: small archives of every method and encryption that the programs here can write."""

import lzma
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

target = os.path.abspath(sys.argv[1])
random.seed(3)
words = [random.randbytes(random.randint(2, 9)).hex() for _ in range(40)]
# `long` exceeds the size that is decoded at once.
files = {"small": " ".join(random.choices(words, k=60)).encode(), "long": b"\1\2\3" * 110_000, "empty": b""}


def seven(name, *options):
    if shutil.which("7z"):
        subprocess.run(["7z", "a", "-bd", "-tzip", *options, name, *files], check=True, stdout=subprocess.DEVNULL)


def python(name, method):
    with zipfile.ZipFile(name, "w", method) as archive:
        for file in files:
            archive.write(file)


def wrapped(name, method, compress):
    out, central = b"", b""
    for file, data in files.items():
        packed = compress(data)
        fields = struct.pack(
            "<HHHHHIIIHH", 63, 0, method, 0, 33, zlib.crc32(data), len(packed), len(data), len(file), 0
        )
        central += b"PK\1\2" + struct.pack("<H", 63) + fields + struct.pack("<HHHII", 0, 0, 0, 0, len(out))
        central += file.encode()
        out += b"PK\3\4" + fields + file.encode() + packed
    end = struct.pack("<HHHHIIH", 0, 0, len(files), len(files), len(central), len(out), 0)
    with open(name, "wb") as archive:
        archive.write(out + central + b"PK\5\6" + end)


def zstd(data):
    return subprocess.run(["zstd", "-q", "-c"], input=data, check=True, stdout=subprocess.PIPE).stdout


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for file, data in files.items():
        with open(file, "wb") as out:
            out.write(data)
    made = os.path.join(target, "made-{}.zip").format
    python(made("deflate"), zipfile.ZIP_DEFLATED)
    python(made("bzip2"), zipfile.ZIP_BZIP2)
    python(made("lzma"), zipfile.ZIP_LZMA)
    wrapped(made("xz"), 95, lzma.compress)
    if shutil.which("zstd"):
        wrapped(made("zstd"), 93, zstd)
    seven(made("deflate64"), "-mm=Deflate64")
    for method in "Copy", "Deflate", "BZip2":
        for encryption in "ZipCrypto", "AES128", "AES256":
            seven(made(f"{encryption}-{method}"), f"-mm={method}", f"-mem={encryption}", "-psecret")
