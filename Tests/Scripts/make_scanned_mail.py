"""make_scanned_mail.py SCANS MAILBOX [SUBJECT FILE]…: a message for each subject, with a file of SCANS attached; `-` is none."""
import email.message
import mailbox
import sys
from pathlib import Path

scans, path, *rest = sys.argv[1:]
archive = mailbox.mbox(path)
for subject, name in zip(rest[::2], rest[1::2]):
    message = email.message.EmailMessage()
    message["From"] = "Anna <anna@example.org>"
    message["Subject"] = subject
    message["Date"] = "Mon, 6 May 2024 10:00:00 +0000"
    message.set_content("see what is attached")
    if name != "-":
        message.add_attachment(
            Path(scans, name).read_bytes(), maintype="application", subtype="octet-stream", filename=name)
    archive.add(message)
archive.flush()
