#!/usr/bin/env python3
"""make_mail.py STYLE ENDING COUNT SEED ARCHIVE [TRUTH]: writes a mailbox, and as JSON what is in it.

STYLE is rd or o (mboxrd, mboxo), takeout or thunderbird; ENDING lf or crlf. The truth is a list with one object a message:
where its separator and its own bytes start and where they end; date, zone, sender and subject as the folder's name must
show them; the text; each attachment's name as it must be shown, its size and SHA-1. Nothing here is made by a mail library,
so that nothing is wrong in the same way twice."""

import base64
import binascii
import hashlib
import io
import json
import quopri
import random
import re
import sys
import time
import urllib.parse
import zipfile

PEOPLE = [
    ("Anna Schmidt", "anna@example.com"), ("Jürgen Müßig", "j.muessig@example.org"), ("山田太郎", "yamada@example.net"),
    ("Bob O'Neil / Sales", "bob@example.com"), ("Łukasz Nowak", "nowak@example.org"), ("", "robot@example.com"),
    ('Tom "T" Brown', "tom@example.com"), ("Иван Петров", "ivan@example.net"),
]
SUBJECTS = [
    "Q3 numbers", "Re: Grüße aus München", "会議の資料", "[dev] a/b and c:d", "", "Fwd:   two  spaces", "x" * 150,
    "naïve café – 30 €", "Übersicht " * 20, "tab\tand more",
]
TEXTS = [
    "Hello,\n\nthis is a plain text.\n", "Grüße aus München, die Prüfung läuft.\nSchöne Grüße\n",
    "これはテストメールです。\n", "From the beginning we knew.\nFrom me to you, with regards\n", "From now on\n\nlast line\n",
    "a very long line " * 30 + "\n", "= equals = and =3D\n.\n..\n--\nnot a boundary\n",
]
# File names in mail, and the resulting names.
NAMES = [
    ("report.pdf", "report.pdf"), ("Präsentation.pdf", "Präsentation.pdf"), ("見積書.zip", "見積書.zip"),
    ("notes/with/slash.txt", "slash.txt"), ("C:\\Users\\bob\\plan.bin", "plan.bin"), ("a b  c.txt", "a b  c.txt"),
    ("résumé (final).doc", "résumé (final).doc"), ("evil\u202egpj.exe", "evilgpj.exe"), ("..", "image.jpg"),
    ("a very long name that goes on and on until it has to be continued on another line.txt",) * 2, ("", "image.jpg"),
    ("semi;colon, comma 'quote'.txt",) * 2, ("x" * 300 + ".txt", "x" * 255), ("noextension", "noextension"),
    (".hidden", ".hidden"), ("tail. ", "tail."), ("a.tar.gz", "a.tar.gz"),
]


def encoded_words(text, charset="utf-8", encoding="B"):
    """RFC 2047, a few characters a word, as they come when a header is folded."""
    words = []
    for start in range(0, len(text), 10):
        raw = text[start:start + 10].encode(charset)
        if encoding == "B":
            words.append(f"=?{charset}?B?{base64.b64encode(raw).decode()}?=")
        else:
            quoted = "".join(chr(b) if chr(b).isalnum() and b < 128 else "_" if b == 32 else f"={b:02X}" for b in raw)
            words.append(f"=?{charset}?Q?{quoted}?=")
    return "\n ".join(words)


def header_text(text, numbers):
    if text.isascii() and "\t" not in text:
        return text
    return encoded_words(text, encoding=numbers.choice("BQ"))


def parameter(key, value, numbers):
    """A file's name in one of the ways that it comes in."""
    way = numbers.randrange(4)
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    if value.isascii() and (len(value) < 60 or way == 0):
        return f'; {key}="{escaped}"'
    quoted = urllib.parse.quote(value.encode(), safe="")
    if way == 1 and "\\" not in value:
        return f';;\n {key}="{encoded_words(value).replace(chr(10), "")}"'
    if way == 2 and "\u202e" not in value:
        return f'; {key}="{escaped}"'
    pieces = re.findall("(?:%..|[^%]){1,40}", quoted)
    words = [f"{key}*{place}*={'UTF-8' + chr(39) * 2 if place == 0 else ''}{piece}" for place, piece in enumerate(pieces)]
    if way == 3:
        words.reverse()
    return "".join(f";\n\t{word}" for word in words)


def lines64(data):
    text = base64.b64encode(data).decode()
    return "".join(text[at:at + 76] + "\n" for at in range(0, len(text), 76)).encode()


def archive_in_mail(numbers):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(zipfile.ZipInfo(f"d/{number}.txt", (2020, 1, 2, 3, 4, 6)), f"file {number}\n" * 50)
    return file.getvalue()


class Mail:
    """One message: its bytes with LF, and what is in it."""

    def __init__(self, number, when, style, numbers):
        self.numbers, self.style = numbers, style
        self.text, self.attachments, self.taken = None, [], {}
        self.zone = numbers.choice([0, 120, -330, 60])
        # The date in the sender's time zone.
        self.date = when
        self.name, self.address = PEOPLE[number % len(PEOPLE)]
        self.subject = SUBJECTS[number % len(SUBJECTS)]
        body = [self.plain, self.alternative, self.mixed, self.html, self.mixed, self.forward, self.uuencoded][number % 7]()
        lines = []
        if style == "takeout":
            lines += [f"X-GM-THRID: {10**18 + number}", "X-Gmail-Labels: =?UTF-8?Q?Privat,_=C3=9Cbung?="]
        if style == "thunderbird":
            lines += ["X-Mozilla-Status: %04x" % numbers.choice([0, 1, 9]), "X-Mozilla-Keys:" + " " * 80]
        lines += ["Received: from a.example (a [192.0.2.1])", "\tby b.example; Mon, 1 Jan 2018 00:00:00 +0000"]
        sign, minutes = "-" if self.zone < 0 else "+", abs(self.zone)
        written = time.strftime("%a, %d %b %Y %H:%M:%S", time.gmtime(when + self.zone * 60))
        if number % 11 == 3:
            # The separator's date is used instead.
            self.zone = 0
        else:
            lines.append(f"Date: {written} {sign}{minutes // 60:02}{minutes % 60:02}")
        if number % 13 == 5:
            self.name = self.address = ""
        elif not self.name:
            lines.append(f"From: {self.address}")
        elif self.name.isascii():
            lines.append('From: "' + self.name.replace('"', '\\"') + f'" <{self.address}>')
        else:
            lines.append(f"From: {header_text(self.name, numbers)} <{self.address}>")
        lines.append(f"Message-ID: <{number}.{numbers.getrandbits(40):x}@example.com>")
        if self.subject or number % 3:
            lines.append("Subject: " + header_text(self.subject, numbers))
        if number % 7 != 6:
            lines.append("MIME-Version: 1.0")
        self.bytes = ("\n".join(lines) + "\n").encode() + body
        if not self.bytes.endswith(b"\n"):
            self.bytes += b"\n"

    def own_text(self):
        text = self.numbers.choice(TEXTS)
        if self.style == "rd" and self.numbers.random() < .3:
            text += ">From quoted before\n>>From twice\n"
        if self.text is None:
            self.text = text
        return text

    def part(self, kind, text):
        way = self.numbers.randrange(3) if not text.isascii() else self.numbers.randrange(4)
        head = f"Content-Type: text/{kind}; charset=\"utf-8\"\nContent-Transfer-Encoding: "
        raw = text.encode()
        if way == 0:
            return (head + "base64\n\n").encode() + lines64(raw)
        if way == 1:
            return (head + "quoted-printable\n\n").encode() + quopri.encodestring(raw)
        return (head + "8bit\n\n").encode() + raw

    def multipart(self, kind, parts):
        boundary = self.numbers.choice(["--=_Part_%x", "Apple-Mail=_%X", "=_%x", "%x"]) % self.numbers.getrandbits(60)
        head = f'Content-Type: multipart/{kind};\n boundary="{boundary}"\n\n'
        mark = b"--" + boundary.encode()
        return head.encode() + b"".join(mark + b"\n" + part + b"\n" for part in parts) + mark + b"--\n"

    def plain(self):
        return self.part("plain", self.own_text())

    def page(self):
        return "<html><body><p>" + self.numbers.choice(TEXTS) + "</p></body></html>\n"

    def html(self):
        # The text extracted from HTML is not checked here.
        self.text = False
        return self.part("html", self.page())

    def alternative(self):
        return self.multipart("alternative", [self.part("plain", self.own_text()), self.part("html", self.page())])

    def note(self, name, data):
        """An attachment's truth; a name that is taken gets a number."""
        count = self.taken.get(name, 0)
        self.taken[name] = count + 1
        if count:
            stem, dot, tail = name.partition(".tar.") if ".tar." in name else name.rpartition(".")
            if not stem:
                stem, dot, tail = name, "", ""
            mark = f" ({count})"
            # Leaves room for a number.
            room = 255 - len((mark + dot + tail).encode()) if len(name.encode()) > 240 else 255
            if room < 255 and not dot:
                stem = stem[:255 - len(mark)]
            name = (stem + mark + ".tar." + tail) if dot == ".tar." else stem + mark + dot + tail
        self.attachments.append({"name": name, "size": len(data), "sha1": hashlib.sha1(data).hexdigest()})

    def mixed(self):
        numbers = self.numbers
        parts = [self.part("plain", self.own_text())]
        for _ in range(numbers.choice([1, 1, 2, 3, 6])):
            called, shown = numbers.choice(NAMES)
            if called.endswith(".zip"):
                data = archive_in_mail(numbers)
            else:
                data = numbers.randbytes(int(min(200_000, numbers.lognormvariate(8, 2))))
            kind = "image/jpeg" if shown == "image.jpg" else "application/octet-stream"
            head = f"Content-Type: {kind}\nContent-Disposition: attachment" + parameter("filename", called, numbers)
            parts.append((head + "\nContent-Transfer-Encoding: base64\n\n").encode() + lines64(data))
            self.note(shown, data)
        return self.multipart("mixed", parts)

    def forward(self):
        inner = (f"From: {PEOPLE[0][1]}\nSubject: inner\nDate: Tue, 2 Jan 2018 00:00:00 +0000\n"
                 "MIME-Version: 1.0\n").encode() + self.multipart("mixed", [
                     self.part("plain", "the message within\n"),
                     b'Content-Type: application/zip; name="z.zip"\nContent-Transfer-Encoding: base64\n\n'
                     + lines64(archive_in_mail(self.numbers))])
        head = 'Content-Type: message/rfc822; name="inner.eml"\nContent-Disposition: attachment; filename="inner.eml"\n\n'
        self.attachments.append({"name": "inner.eml", "message": True})
        # The choice of the message's text must not depend on the nested message.
        return self.multipart("mixed", [self.part("plain", self.own_text()), head.encode() + inner])

    def uuencoded(self):
        data = self.numbers.randbytes(self.numbers.randrange(2000, 20_000))
        lines = b"".join(binascii.b2a_uu(data[at:at + 45]) for at in range(0, len(data), 45))
        self.note("data.bin", data)
        self.text = False
        return b"\nsee below\nbegin 644 data.bin\n" + lines + b"`\nend\nthat was it\n"


def separator(mail, style):
    written = time.strftime("%a %b %e %H:%M:%S %Y", time.gmtime(mail.date))
    if style == "takeout":
        return f"From {10**18}@xxx {time.strftime('%a %b %d %H:%M:%S +0000 %Y', time.gmtime(mail.date))}\n".encode()
    return (f"From - {written}\n" if style == "thunderbird" else f"From someone@example.com {written}\n").encode()


def quoted(data, style):
    if style == "rd":
        return re.sub(rb"(?m)^(>*From )", rb">\1", data)
    if style == "o":
        return re.sub(rb"(?m)^(From )", rb">\1", data)
    return data


def make(style, ending, count, seed):
    numbers = random.Random(seed)
    out, truth, when = bytearray(), [], 1_500_000_000
    for number in range(count):
        when += numbers.randrange(10, 90_000)
        mail = Mail(number, when, style, numbers)
        head, body = separator(mail, style), quoted(mail.bytes, style) + b"\n"
        if ending == "crlf":
            head, body = head.replace(b"\n", b"\r\n"), body.replace(b"\n", b"\r\n")
        start = len(out)
        out += head + body
        truth.append({
            "separator": start, "start": start + len(head), "end": len(out), "date": mail.date, "zone": mail.zone,
            "sender": mail.name or mail.address, "subject": mail.subject, "text": mail.text,
            "attachments": mail.attachments,
        })
    return bytes(out), truth


if __name__ == "__main__":
    style, ending, count, seed, path = sys.argv[1:6]
    data, truth = make(style, ending, int(count), int(seed))
    with open(path, "wb") as file:
        file.write(data)
    if len(sys.argv) > 6:
        with open(sys.argv[6], "w") as file:
            json.dump(truth, file)
