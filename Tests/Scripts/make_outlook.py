"""Writes an Outlook message file with libgsf's gsf: make_outlook.py FILE [signed]."""

import struct
import subprocess
import sys
import tempfile
from pathlib import Path

SECONDS_BEFORE_1970 = 11_644_473_600


def properties(head: int, **values: int) -> bytes:
    """Numbers, and times as `t`; each by its identifier in hexadecimal digits."""
    entries = b""
    for name, value in values.items():
        kind = 0x40 if name[0] == "t" else 3
        entries += struct.pack("<HHIQ", kind, int(name[1:], 16), 6, value)
    return bytes(head) + entries


def write(folder: Path, head: int, numbers: dict, texts: dict, streams: dict) -> Path:
    folder.mkdir(parents=True)
    (folder / "__properties_version1.0").write_bytes(properties(head, **numbers))
    for name, text in texts.items():
        (folder / f"__substg1.0_{name}001F").write_bytes((text + "\0").encode("utf-16le"))
    for name, data in streams.items():
        (folder / f"__substg1.0_{name}").write_bytes(data)
    return folder


SIGNED = (
    b'From: x@y\r\nMIME-Version: 1.0\r\nContent-Type: multipart/signed; protocol="application/x-pkcs7-signature";\r\n'
    b'\tboundary="s"\r\n\r\n--s\r\nContent-Type: multipart/mixed; boundary="m"\r\n\r\n'
    b"--m\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nGr\xc3\xbc\xc3\x9fe, signed \r\n"
    b"--m\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; filename=a.csv\r\n\r\n1,2\r\n--m--\r\n"
    b"\r\n--s\r\nContent-Type: application/x-pkcs7-signature; name=smime.p7s\r\n"
    b"Content-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename=smime.p7s\r\n\r\nMAA=\r\n--s--\r\n")


def signed(path: str) -> None:
    """A clear-signed message: its content is an attachment."""
    with tempfile.TemporaryDirectory() as scratch:
        top = write(
            Path(scratch, "top"), 32, {"t0039": (1_700_000_000 + SECONDS_BEFORE_1970) * 10**7},
            {"001A": "IPM.Note.SMIME.MultipartSigned", "0037": "Signed", "5D02": "j@example.org"}, {})
        write(
            top / "__attach_version1.0_#00000000", 8, {"n3705": 1}, {"370E": "multipart/signed"}, {"37010102": SIGNED})
        names = sorted(str(name) for name in top.iterdir())
        subprocess.run(["gsf", "createole", path, *names], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main(path: str) -> None:
    rtf = rb"{\rtf1\ansi\ansicpg1252\fromhtml1{\*\htmltag64 <p>}\htmlrtf hidden\htmlrtf0 Gr\'fc\'dfe\u8364 ?{\*\htmltag72 </p>}}"
    with tempfile.TemporaryDirectory() as scratch:
        top = write(
            Path(scratch, "top"), 32, {"t0039": (1_700_000_000 + SECONDS_BEFORE_1970) * 10**7, "n0017": 2},
            {"0037": "Prüfung 日本", "0042": "Jürgen", "5D02": "j@example.org", "1000": "Grüße\r\nplain", "1035": "<a@b>"},
            {"10090102": struct.pack("<II4sI", len(rtf) + 12, len(rtf), b"MELA", 0) + rtf})  # fmt: skip
        write(top / "__recip_version1.0_#00000000", 8, {"n0C15": 1}, {"3001": "Anna", "39FE": "anna@example.org"}, {})
        write(top / "__recip_version1.0_#00000001", 8, {"n0C15": 2}, {"3001": "Nobody", "3003": "/O=EX/CN=NOBODY"}, {})
        write(
            top / "__attach_version1.0_#00000000", 8, {"n3705": 1, "n3714": 4},
            {"3707": "Bild ä.png", "370E": "image/png", "3712": "pic@1"}, {"37010102": bytes(range(256)) * 700})  # fmt: skip
        second = write(top / "__attach_version1.0_#00000001", 8, {"n3705": 5}, {"3001": "inner"}, {})
        write(
            second / "__substg1.0_3701000D", 24, {"n3FFD": 1251}, {"007D": "Subject: Sent so\r\nContent-Type: x/y\r\nFrom: c@d\r\n"},
            {"1000001E": "Привет".encode("cp1251")})  # fmt: skip
        third = write(top / "__attach_version1.0_#00000002", 8, {"n3705": 6}, {"3707": "drawing"}, {})
        write(third / "__substg1.0_3701000D", 24, {}, {}, {"CONTENTS": b"an object"})
        names = sorted(str(name) for name in top.iterdir())
        subprocess.run(["gsf", "createole", path, *names], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


if len(sys.argv) > 2:
    signed(sys.argv[1])
else:
    main(sys.argv[1])
