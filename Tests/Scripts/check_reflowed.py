"""check_reflowed.py FFCONVERT FILE…: PDFs as web pages: a made one is checked part by part, and of all words of the FILEs
99 of 100 are pdftotext's.
"""
import collections
import html
import re
import subprocess
import sys
import tempfile
import zlib

from raw_files import pdf, stream
from worker import Worker


def made():
    """A heading, two columns with a word that is parted, a list, links, and an image."""
    def line(x, y, words, size=10):
        return b"BT /F1 %d Tf %d %d Td (%s) Tj ET\n" % (size, x, y, words)

    left = [b"The harbour of the town lies to the", b"north of the old bridge. Its ware-", b"houses are empty since the flood of"]
    right = [b"the year before. Nobody has seen any", b"ship there in all these months, they", b"say. See our pages & <letters>."]
    content = line(50, 740, b"The harbour", 24) + b"q 100 0 0 50 50 660 cm /I1 Do Q\n"
    content += b"".join(line(50, 630 - 12 * row, words) for row, words in enumerate(left))
    content += b"".join(line(310, 630 - 12 * row, words) for row, words in enumerate(right))
    content += line(310, 560, b"1. the first thing") + line(310, 546, b"2. the second thing") + line(310, 510, b"The end.")
    link = b"<</Type/Annot/Subtype/Link/Rect[%s]/A<</S/%s>>>>"
    annotations = link % (b"310 604 480 616", b"URI/URI(https://example.org/?a=1&b=\"2\")")
    annotations += link % (b"310 506 480 520", b"URI/URI(javascript:alert\\(1\\))")
    font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
    image = b"/Type/XObject/Subtype/Image/Width 2/Height 1/BitsPerComponent 8/ColorSpace/DeviceRGB/Filter/FlateDecode"
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 800]/Contents 4 0 R/Annots[%s]/Resources<</Font<</F1 5 0 R>>"
    return pdf(
        b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        page % annotations + b"/XObject<</I1 6 0 R>>>>>>", stream(content), font,
        stream(zlib.compress(b"\xff\0\0\0\0\xff"), image))


def words(page):
    """Of a page's body, without its tags; hyphens and marks of direction are left out."""
    body = re.sub(r"</?a\b[^>]*>", "", page[page.index("<body>") + 6:page.index("</body>")])
    return plain(html.unescape(re.sub(r"<[^>]*>", " ", body)))


def plain(text):
    text = text.replace("-\n", "").replace("-", "")
    return re.sub("[\0-\x08\x0e-\x1f\x7f-\x9f\xad\u2010\u200e\u200f\u202a-\u202e]", "", text).split()


worker, mistakes = Worker(sys.argv[1]), []
with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
    file.write(made())
    file.flush()
    failure, _, reason, data = worker.ask(file.name, "reflowed")
    assert not failure, reason
    if worker.ask(file.name, "reflowed")[3] != data:
        mistakes.append("it differs the second time")
    body = data.decode().split("<body>\n")[1]
    expected = (
        r'<h1>The harbour</h1>\n<img src="data:image/png;base64,[A-Za-z0-9+/]+=*" alt="">\n'
        r"<p>The harbour of the town lies to the north of the old bridge\. Its warehouses are empty since the flood of "
        r"the year before\. Nobody has seen any ship there in all these months, they "
        r'<a href="https://example\.org/\?a=1&amp;b=&quot;2&quot;">say\. See our pages &amp; &lt;letters&gt;\.</a></p>\n'
        r"<ul>\n<li>1\. the first thing</li>\n<li>2\. the second thing</li>\n</ul>\n<p>The end\.</p>\n</body>\n</html>\n")
    if not re.fullmatch(expected, body):
        mistakes.append(f"the made one is\n{body}")
seen = same = refused = 0
for path in sys.argv[2:]:
    try:
        told = subprocess.run(["pdftotext", path, "-"], capture_output=True, timeout=30)
    except subprocess.TimeoutExpired:
        continue
    failure, _, reason, data = worker.ask(path, "reflowed")
    refused += failure != 0
    if failure and not worker.ask(path, "text")[0]:
        mistakes.append(f"{path}: {reason}")
    if failure or told.returncode:
        continue
    page = data.decode()
    theirs, ours = (collections.Counter(found) for found in (plain(told.stdout.decode(errors="replace")), words(page)))
    common = (theirs & ours).total()
    seen, same = seen + theirs.total(), same + common
    if theirs.total() - common > max(1, theirs.total() // 20):
        mistakes.append(f"{path}: {common} of {theirs.total()} words")
    if re.search(r"<script|<iframe|<link|\son\w+=|(?:src|href)=\"(?!data:image/|https?:|mailto:)", page, re.I):
        mistakes.append(f"{path}: something may run or be loaded")
if same < seen * 0.99:
    mistakes.append("too few words are the same")
print(*mistakes, f"{same} of {seen} words are the same; {refused} files are refused", sep="\n")
sys.exit(worker.close() or len(mistakes))
