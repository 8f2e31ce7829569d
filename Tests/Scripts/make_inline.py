#!/usr/bin/env python3
"""make_inline.py ARCHIVE TRUTH: a mailbox of files in texts, by encoders that are not ours, and what check_mail.py is to find.

yEnc by sabctools, which is no package of Debian's: so what this writes is kept as Tests/Fixtures/inline.mbox and .json.
uuencode by sharutils and by Python's binascii."""

import binascii
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile

import sabctools

numbers = random.Random(4)
EVERY = bytes(range(256)) * 9 + numbers.randbytes(3001)
# When encoded, these must be escaped, or must not start a line.
HARD = bytes([214, 224, 227, 19, 4, 246, 201] * 200) + b"\x04" * 300 + bytes([19]) * 130
SHORT = b"Cat"


def y(data, name, part=None, crc=None):
    """One file, or a part of `data`: (number, total, first, last)."""
    number, total, first, last = part or (1, 1, 1, len(data))
    encoded, checksum = sabctools.yenc_encode(data[first - 1:last])
    crc = checksum if crc is None else crc
    head = b"=ybegin part=%d total=%d line=128 size=%d name=%s\r\n" if part else b"=ybegin line=128 size=%d name=%s\r\n"
    values = (number, total, len(data), name) if part else (len(data), name)
    spot = b"=ypart begin=%d end=%d\r\n" % (first, last) if part else b""
    tail = b"=yend size=%d part=%d pcrc32=%08x\r\n" % (last - first + 1, number, crc)
    return head % values + spot + encoded.rstrip(b"\r\n") + b"\r\n" + (tail if part else b"=yend size=%d crc32=%08x\r\n" % (len(data), crc))


def uu(data, name, mode="644"):
    """By sharutils."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x")
        with open(path, "wb") as file:
            file.write(data)
        os.chmod(path, int(mode, 8))
        return subprocess.run(["uuencode", path, name], check=True, capture_output=True).stdout


def uu_python(data, name, change=lambda line: line):
    lines = [binascii.b2a_uu(data[at:at + 45]) for at in range(0, len(data), 45)]
    return b"begin 644 " + name + b"\n" + b"".join(map(change, lines)) + b" \nend\n"


def lf(text):
    return text.replace(b"\r\n", b"\n")


half = len(EVERY) // 2
MAILS = [
    ("single", b"before\n" + lf(y(EVERY, b"every.bin")) + b"after\n", "before\nafter\n", {"every.bin": EVERY}),
    ("single CRLF", b"before\r\n" + y(EVERY, b"every.bin") + b"after\r\n", "before\nafter\n", {"every.bin": EVERY}),
    ("escapes", lf(y(HARD, b"hard ones (1).bin")), "", {"hard ones (1).bin": HARD}),
    ("part 1 of 2", lf(y(EVERY, b"every.bin", (1, 2, 1, half))), "", {"every.bin": EVERY[:half]}),
    ("part 2 of 2", lf(y(EVERY, b"every.bin", (2, 2, half + 1, len(EVERY)))), "", {"every.bin": EVERY[half:]}),
    ("both parts", lf(y(EVERY, b"a", (1, 2, 1, half)) + b"between\n" + y(EVERY, b"a", (2, 2, half + 1, len(EVERY)))),
     "between\n", {"a": EVERY[:half], "a (1)": EVERY[half:]}),
    ("wrong CRC", lf(y(EVERY, b"every.bin", crc=1)), "", {"every.bin": EVERY}),
    ("no end", b"text\n" + lf(y(EVERY, b"every.bin")).partition(b"=yend")[0], "text\n", {"every.bin": EVERY}),
    ("dots", b"=ybegin line=128 size=7 name=dots\n..mn\n.no\n=yend size=7\n", "",
     {"dots": b"\x04\x04CD\x04DE"}),
    ("prose", b"=ybegin is what such a file begins with\n=ypart and =yend are others\n",
     "=ybegin is what such a file begins with\n=ypart and =yend are others\n", {}),
    ("sharutils", uu(EVERY, "every.bin") + b"and\n" + uu(SHORT, "a cat.txt", "755") + uu(b"", "empty"), "and\n",
     {"every.bin": EVERY, "a cat.txt": SHORT, "empty": b""}),
    ("binascii", uu_python(EVERY, b"every.bin"), "", {"every.bin": EVERY}),
    ("spaces lost", b"text\n" + uu_python(bytes(900) + EVERY, b"z", lambda line: line.rstrip() + b"\n") + b"more\n",
     "text\nmore\n", {"z": bytes(900) + EVERY}),
    ("checksums", uu_python(EVERY, b"c", lambda line: line.rstrip(b"\n") + b"X\n"), "", {"c": EVERY}),
    ("CRLF", uu(EVERY, "every.bin").replace(b"\n", b"\r\n"), "", {"every.bin": EVERY}),
    ("empty lines", uu_python(EVERY, b"e", lambda line: line + b"\n"), "", {"e": EVERY}),
    ("uu, then yEnc", uu(SHORT, "cat") + b"and\n" + lf(y(SHORT, b"cat")), "and\n", {"cat": SHORT, "cat (1)": SHORT}),
    ("cut off", b"\n".join(uu(EVERY, "half").split(b"\n")[:21]) + b"\nand that was all\n", "and that was all\n",
     {"half": EVERY[:900]}),
]


def main(archive, truth_path):
    truth, data = [], b""
    for subject, body, text, files in MAILS:
        line = b"From a@example.com Fri May  3 10:00:00 2024\n"
        mail = (b"From: Anna <a@example.com>\nDate: Fri, 3 May 2024 10:00:00 +0000\nSubject: " + subject.encode()
                + b"\n\n" + body + b"\n")
        start = len(data) + len(line)
        truth.append({
            "separator": len(data), "start": start, "end": start + len(mail), "subject": subject, "date": 1714730400,
            "zone": 0, "sender": "Anna", "text": text,
            "attachments": [{"name": n, "size": len(c), "sha1": hashlib.sha1(c).hexdigest()} for n, c in files.items()]})
        data += line + mail
    with open(archive, "wb") as file:
        file.write(data)
    with open(truth_path, "w") as file:
        json.dump(truth, file, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
