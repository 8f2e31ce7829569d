#!/usr/bin/env python3
"""compare_search.py FFMOUNT ARCHIVE NOTMUCH_CONFIG [COUNT]: asks ffmount and notmuch the same COUNT (200) queries.

NOTMUCH_CONFIG is of a database of the same messages, one file each, whose name starts with the message's number in the
archive. Words are quoted for notmuch, so that it looks for the word and not for its stem. Every difference is looked into:
what explains it is counted, and what nothing explains is printed and makes the status 1."""

import collections
import email
import email.policy
import mailbox
import os
import random
import re
import subprocess
import sys
import unicodedata


def numbers(output, pattern):
    return {int(found) for found in re.findall(pattern, output, re.M)}


def ask_us(program, archive, query):
    said = subprocess.run([program, "search", archive, query], capture_output=True, text=True, check=True).stdout
    return numbers(said, r"^[^\t\n]*\.messages/(\d+) ")


def ask_notmuch(config, query):
    said = subprocess.run(
        ["notmuch", f"--config={config}", "search", "--output=files", "--exclude=false", query],
        capture_output=True, text=True, check=True).stdout
    return numbers(said, r"/cur/(\d+)[^/\n]*$")


def folded(text):
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).lower()


def vocabulary(box, noise):
    """Words and phrases that really occur, of plain ASCII or with accents."""
    words, phrases = collections.Counter(), []
    for key in noise.sample(box.keys(), 400):
        message = email.message_from_bytes(box.get_bytes(key), policy=email.policy.default)
        try:
            text = (message.get_body(("plain",)) or message).get_content()
        except (KeyError, LookupError, AttributeError):
            continue
        if not isinstance(text, str):
            continue
        line = [w for w in re.findall(r"[^\W\d_]{3,}", text) if ord(max(w)) < 0x250]
        words.update(line)
        found = re.search(r"\b([a-z]{3,12} [a-z]{3,12})\b", text)
        if found:
            phrases.append(found[1])
    common = [word for word, _ in words.most_common(60)]
    return common, [w for w in words if words[w] < 10], phrases


def queries(common, rare, phrases, people, noise, count):
    """Pairs: ours and notmuch's."""
    q = lambda text: f'"{text}"'
    word = lambda: noise.choice(rare if noise.random() < 0.7 else common)
    made = []
    while len(made) < count:
        kind, a, b, person = len(made) % 10, word(), word(), noise.choice(people)
        year, month = noise.randint(2010, 2012), noise.randint(1, 12)
        made.append([
            (a, q(a)), (f"{a} {b}", f"{q(a)} and {q(b)}"), (f"{a} OR {b}", f"{q(a)} or {q(b)}"),
            (f"{noise.choice(common)} -{a}", None), (f"from:{person}", f"from:{person}"),
            (f'"{noise.choice(phrases)}"', None), (f"subject:{a}", f"subject:{q(a)}"), (f"{a[:4]}*", f"{a[:4].lower()}*"),
            (f"has:attachment {noise.choice(common)}", None),
            (f"after:{year}-{month:02} before:{year + 1}-{month:02} {a}", None),
        ][kind])
        ours, theirs = made[-1]
        if theirs is None:
            theirs = {
                3: lambda: "{} and not {}".format(*map(q, ours.split(" -"))), 5: lambda: ours,
                8: lambda: f"tag:attachment and {q(ours.split()[1])}",
                9: lambda: f"date:{year}-{month:02}-01..@{epoch(year + 1, month) - 1} and {q(ours.split()[2])}",
            }[kind]()
            made[-1] = (ours, theirs)
    return made


def epoch(year, month):
    import calendar
    return calendar.timegm((year, month, 1, 0, 0, 0))


def why(message, ours):
    """What one of us sees in a message and the other does not."""
    parts = list(message.walk())
    words = [folded(word) for word in re.findall(r"[^\W\d_]{2,}", re.sub(r"\b\w+:", " ", ours))]
    names = folded(" ".join(part.get_filename() or "" for part in parts))
    if any(word in names for word in words):
        return "a word in an attachment's name (notmuch: only by attachment:)"
    raw = message.as_bytes()
    if b"\nbegin 644 " in raw:
        return "a file written into the text"
    if "has:attachment" in ours:
        return "what counts as an attachment (notmuch: what says so itself)"
    if "after:" in ours:
        return "the day's zone (ffmount: the mail's own)"
    text = " ".join(str(message[name] or "") for name in ("subject", "from", "to", "cc"))
    for part in parts:
        if part.get_content_maintype() == "text":
            try:
                text += "\n" + part.get_content()
            except (LookupError, AttributeError):
                pass
    for word in words:
        if re.search(rf"[’'&]{word}|{word}[’'&]", folded(text)):
            return "a word beside an apostrophe (notmuch: one word with what is on its other side)"
        found = re.findall(rf"\b{word}", folded(text))
        exact = re.findall(rf"\b{word}", unicodedata.normalize("NFC", text).lower())
        if len(found) != len(exact):
            return "accents (notmuch: two letters)"
    if any(re.search(r"\?=\s+=\?", str(value)) for name, value in message.raw_items()):
        return "a header in several encoded words"
    if re.search(rb"(?i)format=flowed", raw):
        return "flowed text"
    if any(part.get_content_type() == "text/html" for part in parts):
        return "HTML"
    return None


def main():
    program, archive, config = sys.argv[1:4]
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 200
    noise = random.Random(4)
    box = mailbox.mbox(archive, create=False)
    common, rare, phrases = vocabulary(box, noise)
    people = sorted({email.utils.parseaddr(box[key]["From"])[1] for key in noise.sample(box.keys(), 40)})
    same, explained, found = 0, collections.Counter(), 0
    unexplained = 0
    for ours, theirs in queries(common, rare, phrases, people, noise, count):
        one, other = ask_us(program, archive, ours), ask_notmuch(config, theirs)
        found += len(one)
        if one == other:
            same += 1
            continue
        reasons = collections.Counter()
        for number in sorted(one ^ other)[:25]:
            reason = why(email.message_from_bytes(box.get_bytes(number - 1), policy=email.policy.default), ours)
            reasons[reason] += 1
            if reason is None and reasons[None] <= 3:
                print(f"{ours} | {theirs}: {len(one)} and {len(other)}; {number} only in {'ours' if number in one else 'theirs'}")
        unexplained += reasons.pop(None, 0) > 0
        explained.update(reasons)
    print(f"{same} of {count} queries give the same messages ({found} in all), {unexplained} differ for no known reason")
    for reason, times in explained.most_common():
        print(f"  {times} messages (of at most 25 a query): {reason}")
    sys.exit(1 if unexplained else 0)


main()
