"""HTML that runs scripts, calls home or leads astray unless it is cleaned; each document alone and in a mail."""

import base64
from pathlib import Path

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
RUN = "window.PWNED=1;document.title='PWNED';new Image().src='//HOST/ran'"

# HOST is replaced by a server of the trick's own, RUN by a script.
BODIES = Path(__file__).with_suffix(".html").read_text()


def tricks():
    documents = [line for line in joined(BODIES.rstrip("\n"))]
    # The same in unusual contexts, encodings and lengths.
    first = documents[0]
    documents += [
        "<!doctype html>" + first,
        "text\0<\0script>RUN</script><img\0 src=http://HOST/nul1 onerror=RUN><im\0g src=http://HOST/nul2 onerror=RUN>",
        "<img src=\"http://HOST/unclosed onerror=RUN>",
        "<style>" + "p{color:red}" * 20000 + "p{background:url(http://HOST/long)}</style><p>x",
        "<!--" + "x" * 3_000_000 + "--><img src=http://HOST/after onerror=RUN>",
        "<script>" + "/* */" * 400_000 + "RUN</script>" + first,
        "<b>" * 2000 + first,
        "<div " + "x=y " * 5000 + "onclick=RUN><img src=http://HOST/many onerror=RUN>",
    ]
    for number, document in enumerate(documents):
        yield mail(number, document, "utf-8")
    for number, charset in enumerate(["utf-16", "utf-16-le", "utf-7", "iso-2022-jp", "shift_jis", "gb18030", "hz"]):
        yield mail(len(documents) + number, first, charset)


def joined(text):
    """Each document starts with a line that starts with `<`; others go on."""
    document = ""
    for line in text.split("\n"):
        if line.startswith("<") and document and document.rstrip().endswith((">", "x", "y", "//")):
            yield document
            document = line
        else:
            document += ("\n" if document else "") + line
    yield document


def mail(number, document, charset):
    host = f"t{number}.canary.example"
    body = document.replace("RUN", RUN).replace("HOST", host).encode(charset)
    head = f"""From: a@b.c
Subject: trick {number}
MIME-Version: 1.0
Content-Type: multipart/related; boundary=r

--r
Content-Type: text/html; charset={charset}
Content-Transfer-Encoding: base64

"""


    tail = f"""
--r
Content-Type: image/png; name=pixel.png
Content-ID: <i@x>
Content-Transfer-Encoding: base64

{PIXEL}
--r--
"""
    return head.encode() + base64.encodebytes(body) + tail.encode()
