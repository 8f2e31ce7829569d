"""Writes a mail archive such as people have: the same bytes from the same numbers."""

import base64
import binascii
import quopri
import random
import re
import time
from collections.abc import Iterator
from email.header import Header
from pathlib import Path

#: The first message's date: 4 January 2010.
EPOCH = 1_262_592_000
NAMES = ["Anna Berg", "Tom O'Leary", "Jürgen Weiß", "Inés Pérez", "山本 明", "Ольга Смирнова", "Build Server"]
UMLAUTS = "Grüße über die Straße für schöne Bücher natürlich größer Ärger Öl Übung".split()
JAPANESE = ["資料を送ります。", "ご確認ください。", "来週の会議は東京で行います。", "よろしくお願いします。"]
CHARSETS = {"en": ["us-ascii", "utf-8"], "de": ["utf-8", "iso-8859-1", "windows-1252"], "ja": ["utf-8", "iso-2022-jp"]}


def write(path: Path, count: int) -> None:
    """An mboxrd archive of `count` messages, about 24 KB each: nine of ten are text, the others carry files."""
    post = PostOffice(6)
    with open(path, "wb", buffering=1 << 20) as file:
        for number in range(count):
            file.write(post.message(number))


def short(count: int) -> Iterator[bytes]:
    """Messages of some 400 bytes with plain text, in threads of ten."""
    noise = random.Random(9)
    for number in range(count):
        person, thread = noise.randrange(300), number // 10
        date = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(EPOCH + number * 600))
        lines = [f"From: Person {person} <person{person}@mail{person % 7}.example.com>", "To: list@example.org", f"Date: {date}",
                 f"Message-ID: <{number}@example.com>"]
        if number % 10:
            lines.append(f"In-Reply-To: <{thread * 10}@example.com>")
        lines += [f"Subject: {'Re: ' if number % 10 else ''}Question {thread}", ""]
        lines += [f"This is message {number}, whose number modulo 97 is {number % 97}.", "A second line of the text.", ""]
        yield "\n".join(lines).encode()


class PostOffice:
    """Makes messages one after the other; threads refer to earlier ones."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.noise = self.random.randbytes(8 << 20)
        letters = "aabcdeeefghiiklmnnooprsttuvwy"
        self.words = ["".join(self.random.choices(letters, k=self.random.randint(2, 9))) for _ in range(8000)]
        self.weights = [1 / rank for rank in range(1, len(self.words) + 1)]
        self.people = [
            (self.random.choice(NAMES), f"person{number}@mail{number % 7}.example.com") for number in range(300)
        ]
        self.paragraphs = {language: [self._paragraph(language) for _ in range(800)] for language in CHARSETS}
        self.threads: list[tuple[str, list[str]]] = []
        self.date = EPOCH

    def message(self, number: int) -> bytes:
        """One message with its separator line and the blank line behind it."""
        noise = self.random
        self.date += noise.randint(10, 15_000)
        language = noise.choices(list(CHARSETS), [75, 18, 7])[0]
        kind = noise.choices(["plain", "both", "html", "patch", "forward", "uuencoded"], [50, 32, 6, 10, 1, 1])[0]
        name, address = noise.choice(self.people)
        body = self._body(kind, language, number)
        if kind in ("plain", "both", "html") and noise.random() < 0.074:
            body = self._with_files(body, number)
        text = self._header(number, language, name, address, kind).encode() + body
        text = re.sub(rb"(?m)^(>*From )", rb">\1", text)
        when = time.strftime("%a %b %e %H:%M:%S %Y", time.gmtime(self.date))
        return f"From {address} {when}\n".encode() + text + b"\n"

    # Headers.

    def _header(self, number: int, language: str, name: str, address: str, kind: str) -> str:
        noise = self.random
        date = time.strftime("%a, %d %b %Y %H:%M:%S +0200", time.gmtime(self.date + 7200))
        identity = f"<{number:06}.{noise.getrandbits(64):016x}@{address.partition('@')[2]}>"
        if self.threads and noise.random() < 0.5:
            subject, references = self.threads[-noise.randint(1, min(30, len(self.threads)))]
            shown = f"Re: {subject}"
        else:
            subject, references = self._subject(language), []
            self.threads.append((subject, references))
            shown = subject
        lines = [f"Return-Path: <{address}>"]
        for hop in range(noise.randint(1, 5)):
            lines.append(
                f"Received: from out{hop}.example.net (out{hop}.example.net [192.0.2.{noise.randint(1, 250)}])\n"
                f"\tby in{hop}.example.org with ESMTPS id {noise.getrandbits(48):012X}\n"
                f"\tfor <me@example.org>; {date}"
            )
        if noise.random() < 0.6:
            signature = "\n\t ".join(self._base64(48).strip() for _ in range(4))
            lines.append(
                "DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=example.com; s=k1;\n"
                f"\th=from:to:subject:date; bh={self._base64(32).strip()};\n\tb={signature}"
            )
        to = ",\n\t".join(_mailbox(*noise.choice(self.people)) for _ in range(noise.choice([1, 1, 1, 2, 4])))
        lines += [f"Date: {date}", f"From: {_mailbox(name, address)}", f"To: {to}", f"Message-ID: {identity}"]
        if references:
            lines.append(f"In-Reply-To: {references[-1]}\nReferences: " + "\n\t".join(references[-12:]))
        references.append(identity)
        lines += [f"Subject: {_encoded(shown)}"] + ["MIME-Version: 1.0"] * (kind != "uuencoded")
        if noise.random() < 0.3:
            lines.append("List-Id: A list <list.example.org>\nX-Mailer: Example 3.1")
        return "\n".join(lines) + "\n"

    def _subject(self, language: str) -> str:
        if language == "ja":
            return self.random.choice(JAPANESE)
        return " ".join(self._words(language, self.random.randint(2, 8))).capitalize()

    # Bodies: from the content fields on.

    def _body(self, kind: str, language: str, number: int) -> bytes:
        noise = self.random
        charset = noise.choice(CHARSETS[language])
        text = "\n\n".join(noise.choices(self.paragraphs[language], k=min(40, int(noise.lognormvariate(1.7, 0.9)) + 1)))
        if kind == "plain":
            return self._text("plain", charset, text)
        if kind == "both":
            return self._multipart("alternative", [self._text("plain", charset, text), self._html(charset, text)])
        if kind == "html":
            return self._html(charset, text)
        if kind == "patch":
            signs, words = noise.choices("  +-", k=noise.randint(10, 400)), self.words
            lines = [f"{sign}\tint {noise.choice(words)} = {row};" for row, sign in enumerate(signs)]
            patch = "---\n a/f.c | 9 +++\n\n--- a/f.c\n+++ b/f.c\n" + "\n".join(lines)
            return self._text("plain", charset, f"{text}\n{patch}")
        if kind == "forward":
            inner = f"From: a@example.com\nSubject: The one inside {number}\nMIME-Version: 1.0\n".encode()
            inner = b"Content-Type: message/rfc822\n\n" + inner + self._text("plain", charset, text)
            return self._multipart("mixed", [self._text("plain", "us-ascii", "See below."), inner])
        data = self._noise(noise.randint(2000, 60_000))
        rows = b"".join(binascii.b2a_uu(data[start : start + 45]) for start in range(0, len(data), 45))
        return b"\n" + text.encode("ascii", "replace") + b"\nbegin 644 data%d.bin\n" % number + rows + b"`\nend\n"

    def _html(self, charset: str, text: str) -> bytes:
        style = "".join(f".c{row} {{ margin: 0; color: #{self.random.getrandbits(24):06x} }}\n" for row in range(20))
        rows = "\n".join(f'<p class="c1" style="font-family: Arial">{row}<br></p>' for row in text.split("\n\n"))
        return self._text("html", charset, f"<html><head><style>{style}</style></head><body>\n{rows}\n</body></html>")

    def _text(self, subtype: str, charset: str, text: str) -> bytes:
        data = (text + "\n").encode(charset, "replace")
        encoding = "7bit"
        if charset not in ("us-ascii", "iso-2022-jp"):
            encoding = self.random.choices(["quoted-printable", "base64", "8bit"], [70, 15, 15])[0]
        if encoding == "quoted-printable":
            data = quopri.encodestring(data)
        elif encoding == "base64":
            data = _lines(data)
        fields = f"Content-Type: text/{subtype}; charset={charset}\nContent-Transfer-Encoding: {encoding}\n\n"
        return fields.encode() + data

    def _with_files(self, body: bytes, number: int) -> bytes:
        parts = [body]
        for index in range(self.random.choice([1, 1, 1, 2, 3])):
            size = int(min(5e6, max(1e4, self.random.lognormvariate(11.0, 1.2))))
            kind = self.random.choice(["application/pdf", "image/jpeg", "application/octet-stream"])
            name = self.random.choice(["report", "Übersicht", "scan", "見積書"]) + f" {number}-{index}"
            fields = (
                f"Content-Type: {kind}\nContent-Transfer-Encoding: base64\n"
                f'Content-Disposition: attachment; filename="{_encoded(name)}"\n\n'
            )
            parts.append(fields.encode() + _lines(self._noise(size)))
        return self._multipart("mixed", parts)

    def _multipart(self, subtype: str, parts: list[bytes]) -> bytes:
        boundary = f"=_{self.random.getrandbits(96):024x}".encode()
        fields = b'Content-Type: multipart/%s;\n boundary="%s"\n\n' % (subtype.encode(), boundary)
        return fields + b"".join(b"--%s\n%s\n" % (boundary, part) for part in parts) + b"--%s--\n" % boundary

    # Contents of texts and files.

    def _words(self, language: str, count: int) -> list[str]:
        words = self.random.choices(self.words, self.weights, k=count)
        if language == "de":
            words = [self.random.choice(UMLAUTS) if self.random.random() < 0.3 else word for word in words]
        return words

    def _paragraph(self, language: str) -> str:
        if language == "ja":
            return "\n".join(self.random.choices(JAPANESE, k=self.random.randint(2, 6)))
        words = self._words(language, self.random.randint(20, 110))
        return "\n".join(" ".join(words[start : start + 12]) for start in range(0, len(words), 12)) + "."

    def _noise(self, size: int) -> bytes:
        start = self.random.randrange(len(self.noise) - size)
        return self.noise[start : start + size]

    def _base64(self, size: int) -> str:
        return base64.b64encode(self._noise(size)).decode()


def _lines(data: bytes) -> bytes:
    """In base64, 76 characters a line."""
    text = base64.b64encode(data)
    return b"\n".join(text[start : start + 76] for start in range(0, len(text), 76)) + b"\n"


def _encoded(text: str) -> str:
    """As encoded words where it is not ASCII (RFC 2047)."""
    return text if text.isascii() else Header(text, "utf-8", maxlinelen=70).encode()


def _mailbox(name: str, address: str) -> str:
    return f'"{name}" <{address}>' if name.isascii() else f"{_encoded(name)} <{address}>"
