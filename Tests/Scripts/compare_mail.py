#!/usr/bin/env python3
"""Compares what ffmount makes of odd messages with what their test sets expect, and with Python's email.

usage: compare_mail.py DUMP CORPUS [KNOWN JUDGED] [-v]

DUMP is what MailCorpusTests writes: a JSON object a line: path, body, html, attachments. CORPUS is the folder that holds
stalwart, mime4j, enmime, zbateson and cpython. Prints a line for each difference, and how many of what are alike.
White space does not count in texts, nor the kind of line ends in files, but else every byte does.

KNOWN is a file of such lines: more or fewer are an error. JUDGED is a page that has to name the message of each."""

import base64
import email
import email.policy
import glob
import json
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

VERBOSE = "-v" in sys.argv
ARGUMENTS = [word for word in sys.argv[1:] if word != "-v"]
counts, differences = {}, []


def squeezed(text):
    """Without white space, and without what either side makes of links to parts."""
    text = re.sub(r"""(cid:|attachments/)[^"'\s>)]*""", "", text)
    return re.sub(r"[\s\ufeff\u00a0\u200b]+", "", text)


class Ours:
    def __init__(self, record):
        self.path = record["path"]
        self.files = [base64.b64decode(a["data"]) for a in record["attachments"]]
        self.names = [a["name"] for a in record["attachments"]]
        self.body = base64.b64decode(record["body"]).decode("utf-8")
        self.html = base64.b64decode(record.get("html", "")).decode("utf-8")
        self.text = squeezed(self.body) + "\0" + squeezed(self.html)

    def has_file(self, data):
        return data in self.files or data.replace(b"\r\n", b"\n") in [f.replace(b"\r\n", b"\n") for f in self.files]

    def has_text(self, text):
        return squeezed(text) in self.text or any(
            squeezed(text) == squeezed(f.decode("utf-8", "replace")) for f in self.files)


def check(kind, ours, what, is_alike, detail=""):
    same, other = counts.get(kind, (0, 0))
    counts[kind] = (same + is_alike, other + (not is_alike))
    if not is_alike:
        differences.append((kind, ours.path, what, detail))


def leaves(message):
    """Parts that hold no parts; messages within are not looked into."""
    if message.get_content_maintype() == "multipart" and message.is_multipart():
        for part in message.iter_parts() if hasattr(message, "iter_parts") else message.get_payload():
            yield from leaves(part)
    else:
        yield message


def against_python(ours, data):
    message = email.message_from_bytes(data, policy=email.policy.default)
    for number, part in enumerate(leaves(message)):
        what = f"leaf {number} {part.get_content_type()}"
        if part.get_content_maintype() == "message" and part.is_multipart():
            # If it is not encoded, its bytes are those of the archive. Python rewrites it, so only its text is
            # compared.
            if part.get("content-transfer-encoding", "7bit").lower() in ("7bit", "8bit", "binary"):
                check("verbatim messages", ours, what, any(f and f in data for f in ours.files))
            inner = squeezed(part.get_payload(0).as_bytes().decode("latin-1"))
            check("python messages", ours, what, any(
                squeezed(f.decode("latin-1")) == inner for f in ours.files), inner[:200])
            continue
        payload = part.get_payload(decode=True) or b""
        if part.get_content_maintype() == "multipart":
            # A multipart without parts: its content is text.
            check("python texts", ours, what, ours.has_text(payload.decode("utf-8", "replace")))
        elif part.get_content_maintype() == "text":
            try:
                text = part.get_content()
            except (LookupError, KeyError, ValueError, AttributeError):
                text = payload.decode("utf-8", "replace")
            check("python texts", ours, what, ours.has_text(text) or bool(payload) and ours.has_file(payload), text[:200])
        else:
            check("python files", ours, what, ours.has_file(payload), repr(payload[:60]) + str(len(payload)))


def stalwart_text(body):
    return body.get("Text", body.get("Html"))


def against_stalwart(ours, expected):
    parts = expected["parts"]
    for role in ("text_body", "html_body", "attachments"):
        for number in expected[role]:
            body = parts[number]["body"]
            what = f"{role} part {number}"
            text = stalwart_text(body)
            if text is not None:
                where = {"text_body": squeezed(ours.body), "html_body": squeezed(ours.html)}.get(role)
                alike = ours.has_text(text)
                if role == "text_body" and "Text" in body:
                    alike = squeezed(text) in where
                elif role == "html_body" and "Html" in body:
                    alike = squeezed(text) in where
                elif role == "attachments":
                    alike = any(squeezed(text) == squeezed(decoded(f, text)) for f in ours.files)
                check(f"stalwart {role}", ours, what, alike, text[:200])
            else:
                data = body.get("Binary") or body.get("InlineBinary")
                if data is not None:
                    check(f"stalwart {role}", ours, what, ours.has_file(bytes(data)), repr(bytes(data[:60])))
                elif "Message" in body:
                    check(f"stalwart {role}", ours, what, any(n.endswith(".eml") for n in ours.names))


def decoded(data, like):
    for charset in ("utf-8", "windows-1252", "cp949", "gb18030", "shift_jis", "big5", "iso-8859-2", "koi8-r"):
        text = data.decode(charset, "replace")
        if squeezed(text) == squeezed(like):
            return text
    return data.decode("utf-8", "replace")


def against_mime4j(ours, path):
    """Each decoded body that the XML names outside of inner messages."""
    root = ElementTree.parse(path).getroot()

    def walk(node, depth):
        for child in node:
            if child.tag == "message":
                if depth == 0:
                    check("mime4j messages", ours, "inner message", any(n.endswith(".eml") for n in ours.names))
                continue
            if child.tag in ("text-body", "binary-body"):
                data = open(os.path.join(os.path.dirname(path), child.attrib["name"]), "rb").read()
                text = data.decode("utf-8", "replace")
                alike = ours.has_file(data) or ours.has_text(text) or ours.has_text(data.decode("latin-1"))
                check("mime4j bodies", ours, child.attrib["name"], alike, text[:200])
            walk(child, depth)

    walk(root, 0)


DUMP, CORPUS = ARGUMENTS[:2]
files = {os.path.basename(p): open(p, "rb").read() for p in glob.glob(f"{CORPUS}/zbateson/emails/files/*")}
for line in open(DUMP):
    record = json.loads(line)
    ours = Ours(record)
    path = os.path.join(CORPUS, ours.path)
    data = open(path, "rb").read()
    against_python(ours, data)
    if ours.path.startswith("stalwart/"):
        against_stalwart(ours, json.load(open(path[:-4] + ".json")))
    if ours.path.startswith("mime4j/"):
        against_mime4j(ours, path[:-4] + "_decoded.xml")
    if ours.path.startswith("zbateson/"):
        for name, file in zip(ours.names, ours.files):
            if name in files:
                check("zbateson files", ours, name, file.replace(b"\r\n", b"\n").rstrip() == files[name].replace(b"\r\n", b"\n").rstrip())
    if VERBOSE and not ours.body.strip() and not ours.files:
        print("nothing in", ours.path)
for kind, path, what, detail in differences:
    print(f"{kind}: {path}: {what}" + (f"\n    {detail!r}" if VERBOSE else ""))
for kind, (same, other) in sorted(counts.items()):
    print(f"{kind}: {same} alike, {other} different")
if len(ARGUMENTS) > 2:
    known, page = open(ARGUMENTS[2]).read().splitlines(), open(ARGUMENTS[3]).read()
    found = [f"{kind}: {path}: {what}" for kind, path, what, _ in differences]
    stems = {path: os.path.splitext(os.path.basename(path))[0] for _, path, _, _ in differences}
    wrong = [f"new: {line}" for line in found if line not in known]
    wrong += [f"gone: {line}" for line in known if line not in found]
    wrong += [f"not judged: {path}" for path, stem in stems.items() if not re.search(rf"[`/]{re.escape(stem)}`", page)]
    if wrong:
        sys.exit("\n".join(wrong))
