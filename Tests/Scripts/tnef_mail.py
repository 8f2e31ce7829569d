#!/usr/bin/env python3
"""tnef_mail.py make ARCHIVE TRUTH FOLDER: a mailbox of messages with `winmail.dat`, what check_mail.py is to find in it,
and each `winmail.dat` by itself in FOLDER, as `NAME.dat` with the files that it holds in `NAME.json`.
tnef_mail.py peers FOLDER: whether Debian's tnef and ytnef find the same in these."""

import base64
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile

from tnef import (
    BINARY, INT32, MESSAGE_INTERFACE, OBJECT, STRING, TIME, UNICODE, VARIETY, attribute, file, message, prop, rtf, tnef)

numbers = random.Random(6)
SMALL, ODD, LARGE = b"a small file\r\n", numbers.randbytes(4099), numbers.randbytes(700_001)
RTF = (rb"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fswiss Arial;}{\f1\froman Times New Roman;}}{\colortbl;\red0\green0"
       rb"\blue255;}{\*\generator Somebody;}\pard\plain\f0\fs20 Gr\'fc\'dfe \u8364?, \{all\} of\tab you\par second {\b line}"
       rb"\line third\emdash{\pict\pngblip 89504e47}\~end\par }")
RTF_TEXT = "Gr\u00fc\u00dfe \u20ac, {all} of\tyou\nsecond line\nthird\u2014\u00a0end\n"


def long(name):
    return prop(0x3707, UNICODE, name)


# The bytes, the files in it by name, the text of body.txt if there is no other, and whether tnef and ytnef give the
# same result, which they do not for invalid or unusual files.
def cases():
    legacy = tnef(attribute(1, 0x0002800C, b"Gr\xfc\xdfe\r\nfrom TNEF\r\n\0"), file(b"A.TXT", SMALL),
                  file("Stra\u00dfe.bin".encode("cp1252"), ODD), file(b"EMPTY", b""))
    yield "legacy", legacy, {"A.TXT": SMALL, "Stra\u00dfe.bin": ODD, "EMPTY": b""}, "Gr\u00fc\u00dfe\nfrom TNEF\n", True
    yield "unicode", tnef(
        message(*VARIETY, prop(0x1000, UNICODE, "Unicode \u20ac \u65e5\u672c\n")),
        file(b"ANNUAL~1.TXT", SMALL, *VARIETY, long("Annual report \u20ac \u65e5\u672c.txt"), prop(0x3703, UNICODE, ".txt")),
        file(b"LARGE.BIN", LARGE, prop(0x3704, STRING, b"LARGE.BIN"), prop(0x3707, STRING, b"the large one.bin"), *VARIETY),
    ), {"Annual report \u20ac \u65e5\u672c.txt": SMALL, "the large one.bin": LARGE}, "Unicode \u20ac \u65e5\u672c\n", True
    yield "russian", tnef(
        message(prop(0x1000, STRING, "\u041f\u0440\u0438\u0432\u0435\u0442".encode("cp1251"))),
        file("\u0444\u0430\u0439\u043b.txt".encode("cp1251"), SMALL), codepage=1251,
    ), {"\u0444\u0430\u0439\u043b.txt": SMALL}, "\u041f\u0440\u0438\u0432\u0435\u0442", True
    yield "html", tnef(
        message(prop(0x1013, BINARY, b"<p>Gr\xfc\xdfe <img src=\"cid:a@b\"></p>"), *VARIETY),
        file(b"PIC.PNG", ODD, long("pic.png"), prop(0x3712, UNICODE, "a@b"), prop(0x370E, UNICODE, "image/png")),
    ), {"pic.png": ODD}, "Gr\u00fc\u00dfe", True
    # The data is in a property; the title follows the data; there is no short name; there is only a display name.
    yield "elsewhere", tnef(
        file(b"BIN.BIN", None, prop(0x3701, BINARY, ODD), long("bin.bin")),
        file(b"LAST.TXT", SMALL, title_first=False), file(None, SMALL, long("no title.txt")),
        file(None, SMALL, prop(0x3001, UNICODE, "shown.txt")),
    ), {"bin.bin": ODD, "LAST.TXT": SMALL, "no title.txt": SMALL, "shown.txt": SMALL}, "", False
    inner = tnef(message(prop(0x1000, UNICODE, "inner text"), prop(0x0037, UNICODE, "Gr\u00fc\u00dfe, \u65e5"),
                         prop(0x0C1A, STRING, b"Anna Berg"), prop(0x0C1F, STRING, b"anna@example.com"),
                         prop(0x0E04, UNICODE, "Bob; Carol"), prop(0x0039, TIME, 133592202000000000), *VARIETY[4:]),
                 file(b"INNER.TXT", SMALL, long("inner file.txt")), file(b"ODD.BIN", ODD))
    eml = (b"From: Anna Berg <anna@example.com>\nTo: =?utf-8?B?Qm9iOyBDYXJvbA==?=\nSubject: =?utf-8?B?R3LDvMOfZSwg5pel?=\n"
           b"Date: 3 May 2024 14:30:00 +0000\nMIME-Version: 1.0\nContent-Type: application/ms-tnef; name=\"winmail.dat\"\n"
           b"Content-Transfer-Encoding: base64\n\n" + base64.encodebytes(inner))
    yield "message", tnef(
        file(b"PLAIN.TXT", SMALL),
        file(b"Fwd", None, prop(0x3705, INT32, 5), long("a message"), prop(0x3701, OBJECT, MESSAGE_INTERFACE + inner),
             method=1),
        file(b"AFTER.TXT", SMALL),
    ), {"PLAIN.TXT": SMALL, "a message.eml": eml, "AFTER.TXT": SMALL}, "", False
    # The data's attribute comes first, and has only a picture of the message.
    yield "message-and-picture", tnef(
        file(b"Fwd", b"a picture", long("a message"), prop(0x3701, OBJECT, MESSAGE_INTERFACE + inner), method=1),
        file(b"AFTER.TXT", SMALL),
    ), {"a message.eml": eml, "AFTER.TXT": SMALL}, "", False
    yield "rtf", tnef(message(prop(0x1009, BINARY, rtf(RTF))), file(b"A.TXT", SMALL)), {"A.TXT": SMALL}, RTF_TEXT, True
    yield "plain-rtf", tnef(message(prop(0x1009, BINARY, rtf(RTF, False)))), {}, RTF_TEXT, False
    yield "names", tnef(
        file(b"A", SMALL, long("../../up.txt")), file(b"A", ODD, long("C:\\x\\up.txt")), file(b"A", SMALL, long("..")),
        file(b"", SMALL), file(b"same.txt", SMALL), file(b"same.txt", ODD),
    ), {"up.txt": SMALL, "up (1).txt": ODD, "part-1.bin": SMALL, "part-1 (1).bin": SMALL, "same.txt": SMALL,
        "same (1).txt": ODD}, "", False
    # Invalid checksums, lengths, counts, ends.
    yield "checksums", tnef(file(b"A.TXT", SMALL, checksum=0), file(b"B.TXT", ODD)), {"A.TXT": SMALL, "B.TXT": ODD}, "", False
    yield "lying-count", tnef(
        message(*VARIETY, count=0xFFFFFFFF), file(b"A.TXT", SMALL)), {"A.TXT": SMALL}, "", False
    yield "lying-value", tnef(
        attribute(1, 0x00069003, b"\2\0\0\0\x1f\0\0\x10\1\0\0\0\xff\xff\xff\xff"), file(b"A.TXT", SMALL)), {
            "A.TXT": SMALL}, "", False
    yield "lying-length", tnef(file(b"A.TXT", SMALL), file(b"B.TXT", ODD, length=0xFFFFFFFF)), {
        "A.TXT": SMALL, "B.TXT": ODD + (sum(ODD) & 0xFFFF).to_bytes(2, "little")}, "", False
    whole = tnef(file(b"A.TXT", SMALL), file(b"B.TXT", ODD))
    yield "cut", whole[:-1000], {"A.TXT": SMALL, "B.TXT": ODD[:4099 - 998]}, "", False
    yield "cut-title", whole[:whole.index(b"B.TXT") + 2], {"A.TXT": SMALL}, "", False
    yield "no-key", b"\x78\x9f\x3e\x22", {}, "", False
    yield "none", b"no TNEF at all", {}, "", False


def make(archive, truth_path, folder):
    truth, data = [], b""
    for number, (name, content, files, text, is_sound) in enumerate(cases()):
        line = b"From a@example.com Fri May  3 10:00:00 2024\n"
        kind = [b"application/ms-tnef", b"application/octet-stream", b"application/vnd.ms-tnef"][number % 3]
        mail = (b"From: Anna <a@example.com>\nDate: Fri, 3 May 2024 10:00:00 +0000\nSubject: " + name.encode()
                + b"\nMIME-Version: 1.0\nContent-Type: " + kind + b"; name=\"winmail.dat\"\n"
                + b"Content-Transfer-Encoding: base64\n\n" + base64.encodebytes(content) + b"\n")
        start = len(data) + len(line)
        truth.append({
            "separator": len(data), "start": start, "end": start + len(mail), "subject": name, "date": 1714730400,
            "zone": 0, "sender": "Anna", "text": text,
            "attachments": [{"name": n, "size": len(c), "sha1": hashlib.sha1(c).hexdigest()}
                            for n, c in {"winmail.dat": content, **files}.items()]})
        data += line + mail
        with open(os.path.join(folder, name + ".dat"), "wb") as file_:
            file_.write(content)
        if is_sound:
            with open(os.path.join(folder, name + ".json"), "w") as file_:
                json.dump(sorted(hashlib.sha1(c).hexdigest() for c in files.values()), file_)
    with open(archive, "wb") as file_:
        file_.write(data)
    with open(truth_path, "w") as file_:
        json.dump(truth, file_)


def peers(folder):
    """Each finds every file, byte for byte; tnef also says that the checksums are right, and gives the RTF."""
    looked = 0
    for known in sorted(n for n in os.listdir(folder) if n.endswith(".json")):
        path = os.path.join(folder, known[:-5] + ".dat")
        with open(os.path.join(folder, known)) as file_:
            expected = json.load(file_)
        for command in ["tnef", "--save-body=BODY", "--body-pref=all", "-C", "{}", "-f", path], ["ytnef", "-f", "{}", path]:
            with tempfile.TemporaryDirectory() as out:
                done = subprocess.run([word.replace("{}", out) for word in command], capture_output=True)
                found = {}
                for entry in os.scandir(out):
                    with open(entry.path, "rb") as file_:
                        found[entry.name] = file_.read()
            shown = [hashlib.sha1(content).hexdigest() for content in found.values()]
            # ytnef skips empty files.
            missing = [h for h in expected if h not in shown and h != hashlib.sha1(b"").hexdigest()]
            if done.returncode or missing or re.search(b"(?i)checksum|corrupt", done.stderr + done.stdout):
                sys.exit(f"{known}: {command[0]}: {done}, {missing} missing in {list(found)}")
            if known == "rtf.json" and command[0] == "tnef" and RTF not in found.values():
                sys.exit(f"tnef finds other RTF: {found}")
            looked += 1
    print(looked, "are read alike")


if __name__ == "__main__":
    {"make": make, "peers": peers}[sys.argv[1]](*sys.argv[2:])
