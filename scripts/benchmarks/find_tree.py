"""The mixed tree that searches are measured on: mail, documents, pages, source code, archives in archives.

Texts are those of this machine's packages, whose paragraphs are also put into the documents and mails that are made; so
words are as frequent as in real texts. The same packages give the same tree."""

import gzip
import os
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "Tests" / "Scripts"))

import findable_files as files

from . import letters

MEGABYTE = 1_000_000
#: Each part's share of the tree.
SHARES = {
    "mail": 0.25,
    "maildir": 0.03,
    "attached": 0.07,
    "documentation": 0.14,
    "code": 0.12,
    "office": 0.12,
    "pdf": 0.10,
    "tables": 0.06,
    "archives": 0.11,
}
TEXTS = Path("/usr/share/doc")
CODE = [
    Path("/usr/lib/python3"),
    Path("/usr/include"),
    Path("/usr/share/perl"),
    Path("/usr/lib/gcc"),
    Path("/opt/swift/usr/include"),
]
CODE_KINDS = {".py", ".h", ".pm", ".pl", ".c", ".cc", ".hpp", ".js", ".sh", ".swift", ".modulemap"}
PEOPLE = [
    ("Anna Berg", "anna@example.com"),
    ("Jürgen Weiß", "juergen@example.org"),
    ("Ольга Смирнова", "olga@example.net"),
    ("Tom O'Leary", "tom@example.com"),
]


def made(base: Path, megabytes: int) -> Path:
    """The tree of this size, made once and kept."""
    folder = base / f"find-{megabytes}"
    return kept(folder, lambda partial: write(partial, megabytes * MEGABYTE))


def many(base: Path, count: int) -> Path:
    """A folder of `count` texts of a few hundred bytes, 1000 in a folder."""

    def write_many(folder: Path) -> None:
        noise, pool = random.Random(3), Pool(2 * MEGABYTE)
        for number in range(count):
            if number % 1000 == 0:
                below = folder / f"d{number // 1000:03}"
                below.mkdir()
            (below / f"f{number:06}.txt").write_text(pool.sentence(noise), encoding="utf-8")

    return kept(base / f"find-many-{count}", write_many)


def scans(base: Path, count: int) -> Path:
    """Pages as pictures, `count` of them."""

    def write_scans(folder: Path) -> None:
        noise, pool = random.Random(4), Pool(MEGABYTE)
        for number in range(count):
            paragraphs = [text.encode("ascii", "ignore").decode()[:900] for text in pool.paragraphs(noise, 2)]
            (folder / f"scan{number:04}.png").write_bytes(files.picture(paragraphs, "PNG"))

    return kept(base / f"find-scans-{count}", write_scans)


def kept(folder: Path, make: Callable[[Path], None]) -> Path:
    partial = folder.with_name(folder.name + ".partial")
    if not folder.exists():
        print(f"making {folder}", file=sys.stderr)
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        make(partial)
        partial.rename(folder)
    return folder


class Pool:
    """Paragraphs of this machine's documentation."""

    def __init__(self, size: int) -> None:
        self.texts: list[str] = []
        seen: set[int] = set()
        for path in sorted_files(TEXTS):
            data = contents(path)
            if not data or path.suffix in (".html", ".pdf", ".png", ".svg", ".js", ".css"):
                continue
            for text in data.decode("utf-8", "replace").replace("\0", "").split("\n\n"):
                text = " ".join(text.split())
                # Licences are the same in each package.
                if 60 < len(text) < 3000 and hash(text) not in seen:
                    seen.add(hash(text))
                    self.texts.append("".join(letter for letter in text if letter >= " " and letter not in "\x7f\ufffe\uffff"))
                    size -= len(text)
            if size < 0:
                break

    def paragraphs(self, noise: random.Random, count: int) -> list[str]:
        start = noise.randrange(max(1, len(self.texts) - count))
        return self.texts[start : start + count]

    def sentence(self, noise: random.Random) -> str:
        return noise.choice(self.texts)[: noise.randint(80, 400)]


def sorted_files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            if path.is_file() and not path.is_symlink():
                yield path


def contents(path: Path) -> bytes:
    try:
        return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError):
        return b""


def write(folder: Path, size: int) -> None:
    noise, pool = random.Random(38), Pool(max(4 * MEGABYTE, size // 20))
    room = {name: int(share * size) for name, share in SHARES.items()}
    spare = 0
    for name, root_paths, chosen in [
        ("documentation", [TEXTS], lambda path: path.suffix not in (".gz", ".png", ".svg")),
        ("code", CODE, lambda path: path.suffix in CODE_KINDS),
    ]:
        left = room[name]
        for root in root_paths:
            for path in sorted_files(root):
                if left > 0 and chosen(path):
                    target = folder / name / path.relative_to("/")
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, target)
                    left -= path.stat().st_size
        # The machine may not have as much.
        spare += max(0, left)
    room["office"] += spare // 3
    room["mail"] += spare // 3
    room["tables"] += spare - 2 * (spare // 3)
    post = letters.PostOffice(7)
    write_mail(folder / "mail", post, room["mail"])
    write_maildir(folder / "mail" / "Maildir", post, room["maildir"])
    write_attached(folder / "mail" / "with files.mbox", noise, pool, room["attached"])
    office = Office(noise, pool)
    write_many(folder / "office", room["office"], office.document)
    write_many(folder / "pdf", room["pdf"], office.pdf)
    write_many(folder / "tables", room["tables"], office.table)
    write_many(folder / "archives", room["archives"], office.archive)


def write_mail(folder: Path, post: letters.PostOffice, size: int) -> None:
    folder.mkdir(parents=True)
    number = 0
    while size > 0:
        with open(folder / f"archive{number // 4000:03}.mbox", "wb") as file:
            for _ in range(4000):
                if size > 0:
                    size -= file.write(post.message(number))
                    number += 1


def write_maildir(folder: Path, post: letters.PostOffice, size: int) -> None:
    for name in ("cur", "new", "tmp"):
        (folder / name).mkdir(parents=True)
    number = 0
    while size > 0:
        data = post.message(1_000_000 + number).partition(b"\n")[2]
        size -= (folder / "cur" / f"{1_600_000_000 + number}.bench:2,S").write_bytes(data)
        number += 1


def write_attached(path: Path, noise: random.Random, pool: Pool, size: int) -> None:
    office, number = Office(noise, pool), 0
    with open(path, "wb") as file:
        while size > 0:
            make = [office.document, office.pdf, office.table, office.archive][noise.choices(range(4), [5, 4, 2, 1])[0]]
            name, data = make(number)
            body = files.body("\n\n".join(pool.paragraphs(noise, 3)) + "\n", "plain", "utf-8", "quoted-printable")
            content = files.parts("mixed", [body, files.attached(name, data)], number)
            subject = " ".join(pool.sentence(noise).split()[:6])
            date = f"Mon, {number % 28 + 1:02} May {2005 + number % 18} 12:00:00 +0000"
            one = files.message(number, date, noise.choice(PEOPLE), noise.choice(PEOPLE), subject, content)
            size -= file.write(files.mailbox([one]))
            number += 1


def write_many(folder: Path, size: int, make: Callable[[int], tuple[str, bytes]]) -> None:
    number = 0
    while size > 0:
        below = folder / f"{number // 200:03}"
        below.mkdir(parents=True, exist_ok=True)
        name, data = make(number)
        path = below / name
        size -= path.write_bytes(data)
        when = 1_100_000_000 + number * 100_003 % 600_000_000
        os.utime(path, (when, when))
        number += 1


class Office:
    """Makes files of many kinds, with the bytes of pictures and fonts that such files have besides their text."""

    def __init__(self, noise: random.Random, pool: Pool) -> None:
        self.noise, self.pool = noise, pool
        self.filling = noise.randbytes(4 * MEGABYTE)

    def texts(self, least: int, most: int) -> list[str]:
        return self.pool.paragraphs(self.noise, self.noise.randint(least, most))

    def filled(self, size: int) -> bytes:
        start = self.noise.randrange(len(self.filling) - size)
        return self.filling[start : start + size]

    def with_pictures(self, data: bytes) -> bytes:
        import io
        import zipfile

        file = io.BytesIO(data)
        with zipfile.ZipFile(file, "a") as archive:
            for number in range(self.noise.choice([0, 0, 1, 2, 5])):
                archive.writestr(
                    zipfile.ZipInfo(f"media/image{number}.jpeg", (2020, 1, 2, 12, 0, 0)),
                    self.filled(self.noise.randint(10_000, 150_000)),
                )
        return file.getvalue()

    def document(self, number: int) -> tuple[str, bytes]:
        kind = self.noise.choices(["docx", "odt", "xlsx", "ods", "pptx", "epub", "rtf"], [8, 4, 5, 2, 3, 2, 1])[0]
        title = " ".join(self.pool.sentence(self.noise).split()[:5])
        if kind in ("docx", "odt", "rtf"):
            data = {"docx": files.docx, "odt": files.odt, "rtf": files.rtf}[kind](self.texts(5, 120), title)
        elif kind in ("xlsx", "ods"):
            sheets = [
                (
                    f"s{sheet}",
                    [[row, text[:120], row * 3.25, text[120:160]] for row, text in enumerate(self.texts(10, 150))],
                    False,
                )
                for sheet in range(self.noise.randint(1, 4))
            ]
            data = {"xlsx": files.xlsx, "ods": files.ods}[kind](sheets, title)
        elif kind == "pptx":
            data = files.pptx([[text[:200] for text in self.texts(2, 6)] for _ in range(self.noise.randint(3, 40))], title)
        else:
            data = files.epub(
                [(f"Chapter {chapter}", self.texts(10, 80)) for chapter in range(1, self.noise.randint(3, 25))], title, "x"
            )
        return f"document {number:05}.{kind}", data if kind == "rtf" else self.with_pictures(data)

    def pdf(self, number: int) -> tuple[str, bytes]:
        pages = [
            [text.encode("cp1252", "ignore").decode("cp1252") for text in self.texts(2, 5)]
            for _ in range(int(min(300, self.noise.lognormvariate(1.8, 1.1))) + 1)
        ]
        data = files.pdf(pages, " ".join(pages[0][0].split()[:5]))
        # Pictures and fonts, of which the text needs nothing: 8 KB a page behind the end are skipped by readers.
        end = data.rindex(b"\nxref\n") + 1
        filled = b"%" + self.filled(min(4000 * len(pages), 1_000_000)).translate(None, b"\r\n") + b"\n"
        start = int(data[data.rindex(b"startxref\n") + 10 :].split()[0])
        data = data[:end] + filled + data[end:].replace(b"startxref\n%d" % start, b"startxref\n%d" % (start + len(filled)))
        return f"report {number:05}.pdf", data

    def table(self, number: int) -> tuple[str, bytes]:
        import json

        kind = self.noise.choice(["csv", "csv", "json", "jsonl", "log", "md", "html", "srt", "tsv"])
        texts = self.texts(20, 400)
        if kind in ("csv", "tsv"):
            data = files.csv_rows(
                [[row, text[:100], row * 17 % 1000, "2019-01-02", text[100:130]] for row, text in enumerate(texts)],
                "," if kind == "csv" else "\t",
            )
        elif kind == "json":
            data = json.dumps([{"id": row, "text": text} for row, text in enumerate(texts)], ensure_ascii=False).encode()
        elif kind == "jsonl":
            data = b"".join(json.dumps({"id": row, "text": text}).encode() + b"\n" for row, text in enumerate(texts))
        elif kind == "html":
            data = files.html(texts, texts[0][:50])
        elif kind == "srt":
            data = files.subtitles([text[:80] for text in texts], "srt")
        else:
            data = "\n".join(f"2019-03-04 10:00:{row % 60:02} INFO {text}" for row, text in enumerate(texts)).encode()
        return f"table {number:05}.{kind}", data

    def archive(self, number: int) -> tuple[str, bytes]:
        kinds = [self.document, self.table, self.pdf]
        several = [self.noise.choice(kinds)(inner) for inner in range(self.noise.randint(3, 20))]
        if self.noise.random() < 0.2:
            several.append(("inner.zip", files.zipped([self.table(900 + inner) for inner in range(5)])))
        if self.noise.random() < 0.6:
            return f"archive {number:05}.zip", files.zipped([(f"folder/{name}", data) for name, data in several])
        return f"archive {number:05}.tar.gz", files.tarred(
            [(f"folder/{name}", data, 1_500_000_000) for name, data in several], "gz"
        )
