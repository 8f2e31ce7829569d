"""Prints what Python's email package finds in a message: show_message.py FILE."""

import email
import email.policy
import hashlib
import sys


def show(message, indent: str = "") -> None:
    for name in ("from", "to", "cc", "subject", "date", "message-id", "importance"):
        if message[name]:
            print(f"{indent}{name}: {message[name]}")
    for part in message.walk() if indent == "" else [message]:
        if part.get_content_maintype() == "multipart" or part is message and part.is_multipart():
            continue
        if part.get_content_type() == "message/rfc822":
            print(f"{indent}message {part.get_filename()}")
            continue
        data = part.get_payload(decode=True) or b""
        shown = data.decode() if part.get_content_maintype() == "text" else hashlib.sha1(data).hexdigest()
        print(f"{indent}{part.get_content_type()} {part.get_content_disposition()} {part.get_filename()}: {shown}")


with open(sys.argv[1], "rb") as file:
    show(email.message_from_binary_file(file, policy=email.policy.default))
