#!/usr/bin/env python3
"""make_findable.py FOLDER [--scale N] [--seed N]: a tree with known words in all kinds of files and at all depths.

Writes FOLDER/tree and FOLDER/truth.json. Each document has a word that no other has, and shared words by rules (SHARED).
The truth has `documents`, each with its path as it is opened in a mount, and `words`: for each unique word its expected
hits, as prefixes of paths with their kinds. In a path, `*` is the rest of the name of a message's folder. Levels:

- must: a search has to find it;
- may: formats or places of text that a search is better for finding, such as character sets that only a guess tells;
- ocr: text in pictures, which only a search with recognised text finds.

`absent` are words that are in a document's bytes and not in its text, such as those of scripts. Needs Pillow, FFmpeg, 7z and
qpdf; LibreOffice adds files in the formats of earlier versions of Office."""

import argparse
import dataclasses
import datetime
import json
import os
import random
import shutil
import sys
from pathlib import Path

try:
    import PIL  # noqa: F401
except ImportError:
    # Pillow is Debian's.
    if sys.executable != "/usr/bin/python3":
        os.execv("/usr/bin/python3", ["/usr/bin/python3", "-B", *sys.argv])
    raise

import findable_files as files

FIRST_DAY = datetime.date(2012, 1, 15)
PEOPLE = [
    ("Anna Berg", "anna@example.com"),
    ("Jürgen Weiß", "juergen@example.org"),
    ("Ольга Смирнова", "olga@example.net"),
    ("山本明", "yamamoto@example.jp"),
    ("Tom O'Leary", "tom@example.com"),
    ("Inés Pérez", "ines@example.es"),
]
ENGLISH = """about above across after again against almost along already also although always among answer arrive autumn balance
because become before begin behind below between beyond bottle bottom branch bring brother brown build butter candle carry
ceiling chair change cheese chicken circle clean clear clock cloud cold collect colour come common corner cotton country cover
cup dance dark decide deep dinner distance door draw dress drink drive early earth east eight either empty engine enough evening
every example family farmer father field finger finish flower follow forest forward friend front fruit garden gather gentle
glass grass green ground grow happen heavy height holiday honest horse hour hundred hurry inside kitchen ladder language large
laugh learn leather leave letter listen little machine market master measure middle minute morning mother mountain narrow
nature needle neighbour nothing number office orange owner paper parcel pencil people perhaps picture plant plate pocket
potato present promise question quiet rather reason remember repeat return ribbon river round school season second seven
shadow shoulder simple sister sleep slow small smooth soap south spoon spring square station stone story straight street strong
sudden sugar summer table teacher thread through together tomorrow travel trouble under until valley village visit wagon
weather wheel window winter without wonder wooden yellow yesterday""".split()
GERMAN = """aber abend alle anfang arbeit auch aufgabe auge baum beispiel berg bild blume boden brief bruder buch dorf ecke eimer
ende erde fenster feuer finger fluss frage freund garten gegend geld gemeinde geschichte gesicht glas gruppe haus himmel
holz insel kasten keller kind kirche kleid korb kraft kuchen lampe land leben lehrer leute licht mauer mensch milch mittag
monat morgen mutter nacht nebel ofen ordnung papier pferd platz preis rand raum regen reise ring sache schatten schiff schule
seite sommer sonne spiel stadt stein stelle stimme stuhl tag tasche teil tisch topf ufer uhr vater wagen wald wand wasser weg
welt wetter wiese wind winter woche wolke wort zahl zeit zimmer zweig""".split()
#: (divisor, remainder): what documents with such a number say. Characters that a document's charset lacks are left out.
SHARED = [
    (2, 1, "meadow"),
    (3, 0, "harbour"),
    (5, 0, "lantern"),
    (7, 0, "copper"),
    (11, 0, "silver bridge crossing"),
    (11, 1, "crossing bridge silver"),
    (13, 0, "amber like that tower"),
    (13, 1, "amber {gap} tower"),
    (17, 0, "lighthouse"),
    (17, 1, "lightning"),
    (17, 2, "lightweight"),
    (19, 0, "sailing"),
    (19, 1, "sailed"),
    (19, 2, "sails"),
    (23, 0, "Übergröße"),
    (23, 1, "naïveté"),
    (23, 2, "Čeština"),
    (23, 3, "Straßenbahn"),
    (23, 4, "STRASSENBAHN"),
    (23, 5, "café"),
    (23, 6, "ﬁnancial ﬂuid"),
    (23, 7, "ＦＵＬＬＷＩＤＴＨ"),
    (29, 0, "библиотека"),
    (29, 1, "ещё"),
    (29, 2, "图书馆在河边"),
    (29, 3, "ห้องสมุดริมแม่น้ำ"),
    (29, 4, "東京図書館の資料"),
    (29, 5, "도서관에서"),
    (29, 6, "βιβλιοθήκη"),
    (29, 7, "مكتبة"),
    (29, 8, "ספרייה"),
    (29, 9, "पुस्तकालय"),
    (9, 0, "KX-2019-{number:04}"),
    (9, 1, "MB-{number:04}-x"),
]
FEW = SHARED[:4]


@dataclasses.dataclass
class Document:
    """One thing that a search finds. `sections` are its pages, sheets or chapters; `pages` the names of these in a mount."""

    path: str
    kind: str
    sections: list
    unique: list
    day: str = ""
    size: int | None = None
    title: str = ""
    name: str = ""
    people: list = dataclasses.field(default_factory=list)
    sender: str = ""
    receiver: str = ""
    level: str = "must"
    pages: list = dataclasses.field(default_factory=list)
    absent: list = dataclasses.field(default_factory=list)
    language: str = ""
    #: Whether it is in a message; the date and sender of the message may count as its own.
    in_mail: bool = False
    #: Other paths by which the same thing may be shown.
    also: list = dataclasses.field(default_factory=list)
    source: str = ""
    number: int = 0


@dataclasses.dataclass
class Leaf:
    """A file before it has a place, with the documents in it; their paths start with its name."""

    name: str
    data: bytes
    day: datetime.date
    documents: list

    @property
    def seconds(self):
        return int(datetime.datetime(self.day.year, self.day.month, self.day.day, 12, tzinfo=datetime.timezone.utc).timestamp())


@dataclasses.dataclass
class Mail:
    """A message before it has a place; `attached` are the files in it."""

    data: bytes
    day: datetime.date
    document: Document
    attached: list


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.used, self.count, self.messages = set(), 0, 0
        self.kept = {}

    # Words.

    def fresh(self):
        """A word that nothing else has, and that is no prefix of another."""
        while True:
            word = "".join(
                self.random.choice("bdfgklmnprstvz") + self.random.choice("aeiou") for _ in range(4)
            ) + self.random.choice("lnrtx")
            if word[:6] not in self.used:
                self.used.add(word[:6])
                return word

    def text(self, charset="utf-8", language="en", long=0, few=False):
        """The paragraphs of the next document, its number and its unique word."""
        number, unique, noise = self.count, self.fresh(), self.random
        self.count += 1
        filler = GERMAN if language == "de" else ENGLISH

        def some(count):
            return " ".join(noise.choices(filler, k=count))

        marks = []
        for divisor, remainder, said in FEW if few else SHARED:
            said = said.format(gap=some(30), number=number)
            if number % divisor == remainder and fits(said, charset):
                marks.append(f"{some(2)} {said} {some(2)}.")
        paragraphs = [f"{some(8).capitalize()} {unique} {some(5)}.", *marks]
        if not few:
            paragraphs.append(some(noise.randint(20, 60)).capitalize() + ".")
        paragraphs += [some(150).capitalize() + "." for _ in range(long // 1000)]
        return paragraphs, number, unique

    def day(self, number):
        return FIRST_DAY + datetime.timedelta(days=number * 37 % 4600)

    def leaf(
        self,
        extension,
        kind,
        make,
        *,
        stem="d",
        sections=None,
        level="must",
        charset="utf-8",
        language="en",
        long=0,
        few=False,
        count=1,
        titled=False,
        absent=(),
        named=False,
        also=(),
    ):
        """A file of `count` texts: `make` gets their paragraphs, and the title if it is `titled`."""
        several = [self.text(charset, language, long, few) for _ in range(count)]
        texts, numbers, uniques = zip(*several)
        number, uniques = numbers[0], list(uniques)
        title = f"{self.fresh()} {self.fresh()}" if titled else ""
        own = f"{stem}{number:04}" if not named else f"{self.fresh()} {self.fresh()} {number}"
        given = list(texts) if sections or count > 1 else texts[0]
        data = make(given, title) if titled else make(given)
        pages = []
        if kind in ("pdf", "scan") and extension == "pdf":
            pages = [f"{own}.{extension}.pages/{page:03}.pdf" for page in range(1, count + 1)]
        if extension in ("xlsx", "ods") and count > 1:
            pages = [f"{own}.{extension}.sheets/s{sheet}.csv" for sheet in range(count)]
        if extension == "epub":
            pages = [f"{own}.{extension}.contents/OEBPS/c{page:02}.xhtml" for page in range(1, count + 1)]
        document = Document(
            f"{own}.{extension}",
            kind,
            ["\n\n".join(text) for text in texts],
            uniques,
            str(self.day(number)),
            len(data),
            title,
            f"{own}.{extension}",
            level=level,
            pages=pages,
            absent=list(absent),
            language=language,
            number=number,
            also=list(also),
        )
        return Leaf(f"{own}.{extension}", data, self.day(number), [document])

    # Containers of leaves.

    def container(self, name, data, kind, leaves, view):
        number = self.count
        self.count += 1
        documents = [Document(name, kind, [""], [], str(self.day(number)), len(data), "", name, number=number)]
        for leaf in leaves:
            documents += moved(leaf.documents, f"{name}{view}/")
        return Leaf(name, data, self.day(number), documents)

    def archive(self, kind, leaves, inner=""):
        """An archive in which the leaves lie in the folder `inner`, such as `a/b/`."""
        leaves = [Leaf(inner + leaf.name, leaf.data, leaf.day, moved(leaf.documents, inner)) for leaf in leaves]
        name = f"a{self.count:04}.{kind}"
        if kind == "zip":
            data = files.zipped(
                [(leaf.name, leaf.data, (leaf.day.year, leaf.day.month, leaf.day.day, 12, 0, 0)) for leaf in leaves]
            )
        elif kind == "7z":
            data = files.seven_zipped([(leaf.name, leaf.data, leaf.seconds) for leaf in leaves])
        else:
            data = files.tarred([(leaf.name, leaf.data, leaf.seconds) for leaf in leaves], kind.partition(".")[2])
        return self.container(name, data, "archive", leaves, ".contents")

    def gzipped(self, leaf):
        import gzip

        data = gzip.compress(leaf.data, mtime=leaf.seconds)
        for document in leaf.documents:
            # Some programs show the date of the compressed file.
            document.day = ""
        return self.container(f"{leaf.name}.gz", data, "archive", [leaf], ".contents")

    # Mail.

    def mail(self, attached=(), way="8bit", charset="utf-8", shape="plain", encoding="B", language="en"):
        number = self.messages
        self.messages += 1
        paragraphs, count, unique = self.text(charset, language)
        subject_word, hidden = self.fresh(), self.fresh()
        subject = f"{subject_word} {'für Größe' if count % 4 == 0 else 'notice'} {count}"
        sender, receiver = PEOPLE[number % len(PEOPLE)], PEOPLE[(number + 1 + number // 6) % len(PEOPLE)]
        day = self.day(count)
        text = "\n\n".join(paragraphs)
        absent = []
        if shape == "plain":
            content = files.body(text + "\n", "plain", charset, way)
        else:
            page = files.html(paragraphs, "x", charset, hidden).decode(charset)
            absent = [hidden]
            content = files.body(page, "html", charset, way)
            if shape == "alternative":
                content = files.parts("alternative", [files.body(text + "\n", "plain", charset, way), content], 1000 + number)
        if attached:
            several = [content]
            for leaf in attached:
                kind = "message/rfc822" if leaf.name.endswith(".eml") else "application/octet-stream"
                several.append(files.attached(leaf.name, leaf.data, kind))
            content = files.parts("mixed", several, 2000 + number)
        date = f"{day:%a, %d %b %Y} 12:00:00 +0000"
        data = files.message(number, date, sender, receiver, subject, content, encoding, "utf-8")
        document = Document(
            "",
            "mail",
            [text],
            [unique],
            str(day),
            len(data),
            subject,
            "",
            [*sender, *receiver],
            sender[1],
            receiver[1],
            absent=absent,
            language=language,
            number=count,
        )
        document.unique.append(subject_word)
        return Mail(data, day, document, list(attached))

    def placed_mail(self, mail, path, also=()):
        """The documents of a message whose folder, or own file, is at the path."""
        folder = path if path.endswith("*") else f"{path}.message"
        own = dataclasses.replace(
            mail.document, path=path, name=path.rpartition("/")[2] if path.endswith(".eml") else "", also=list(also)
        )
        documents = [own]
        for leaf in mail.attached:
            for document in moved(leaf.documents, f"{folder}/attachments/"):
                document.in_mail = True
                document.also = [
                    f"{folder_of(other)}/attachments/{rest}"
                    for other in also
                    for rest in [document.path.removeprefix(f"{folder}/attachments/")]
                ]
                documents.append(document)
        return documents

    def eml(self, mail):
        name = f"m{mail.document.number:04}.eml"
        return Leaf(name, mail.data, mail.day, self.placed_mail(mail, name))

    def mailbox(self, mails, packed=False):
        name, data = f"box{self.count:04}.mbox", files.mailbox([mail.data for mail in mails])
        if packed:
            import gzip

            name, data = name + ".gz", gzip.compress(data, mtime=0)
        number = self.count
        self.count += 1
        documents = [Document(name, "mailbox", [""], [], str(self.day(number)), len(data), "", name, number=number)]
        for place, mail in enumerate(mails, 1):
            other = [f"{name}.contents/{name.removesuffix('.gz')}.messages/{place:06} *"] if packed else []
            documents += self.placed_mail(mail, f"{name}.messages/{place:06} *", other)
        return Leaf(name, data, self.day(number), documents)


def folder_of(path):
    return path if path.endswith("*") else f"{path}.message"


def moved(documents, prefix):
    return [
        dataclasses.replace(
            one, path=prefix + one.path, pages=[prefix + page for page in one.pages], also=[prefix + path for path in one.also]
        )
        for one in documents
    ]


def fits(text, charset):
    try:
        return text.encode(charset).decode(charset) == text
    except UnicodeError:
        return False


# The tree.


def texts(make):
    """Plain text in several character sets; those that carry no mark are guessed."""

    def plain(charset, mark=b""):
        return lambda paragraphs: mark + "\n\n".join(paragraphs).encode(charset) + "\n".encode(charset)

    for charset, mark, level in [
        ("ascii", b"", "must"),
        ("utf-8", b"", "must"),
        ("utf-8", b"", "must"),
        ("utf-8", b"\xef\xbb\xbf", "must"),
        ("utf-16-le", b"\xff\xfe", "must"),
        ("utf-16-be", b"\xfe\xff", "must"),
        ("iso-8859-1", b"", "must"),
        ("cp1252", b"", "must"),
    ]:
        yield make.leaf("txt", "text", plain(charset, mark), charset=charset, level=level)
    for charset, line in [
        ("koi8-r", "Эта библиотека стоит на берегу реки, и каждый вечер её окна светятся."),
        ("cp1251", "Эта библиотека стоит на берегу реки, и каждый вечер её окна светятся."),
        ("shift_jis", "東京の図書館は川のそばにあり、毎晩その窓が光っています。"),
        ("gb18030", "这座图书馆在河边，每天晚上窗户都亮着灯。"),
        ("big5", "這座圖書館在河邊，每天晚上窗戶都亮著燈。"),
        ("tis-620", "ห้องสมุดอยู่ริมแม่น้ำ"),
        ("iso-8859-2", "Knihovna stojí u řeky a každý večer svítí její okna, žlutá a veliká."),
    ]:

        def guessed(paragraphs, charset=charset, line=line):
            paragraphs += [line] * 6
            return "\n\n".join(paragraphs).encode(charset)

        yield make.leaf("txt", "text", guessed, charset=charset, level="may")
    for extension in ("log", "ini", "yaml", "tex", "xml", "md", "md", "rst", ""):

        def marked(paragraphs, extension=extension):
            if extension == "md":
                return ("# " + paragraphs[0] + "\n\n" + "\n\n".join(f"- *{text}*" for text in paragraphs[1:])).encode()
            if extension == "xml":
                return ('<?xml version="1.0"?>\n<all>' + "".join(f"<p>{text}</p>" for text in paragraphs) + "</all>").encode()
            return "\n".join(f"# {text}" for text in paragraphs).encode()

        leaf = make.leaf(extension, "text", marked)
        if not extension:
            leaf.name = leaf.name.rstrip(".")
            leaf.documents[0].path = leaf.documents[0].name = leaf.name
        yield leaf
    # For sizes.
    for _ in range(3):
        yield make.leaf("txt", "text", plain("utf-8"), long=1_300_000)
    for _ in range(5):
        yield make.leaf("txt", "text", plain("utf-8"), language="de", named=True)


def sources(make):
    comments = {
        "py": "#",
        "c": "//",
        "swift": "///",
        "js": "//",
        "java": "//",
        "sh": "#",
        "rs": "//",
        "sql": "--",
        "h": "//",
        "go": "//",
    }
    for extension, comment in comments.items():

        def code(paragraphs, comment=comment):
            name, camel = make.fresh(), make.fresh()
            make.kept.setdefault(extension, []).append((name, camel))
            return (
                "\n".join(f"{comment} {text}" for text in paragraphs)
                + f"\nlet compute_{name}_total = 1;\nlet read{camel.capitalize()}Value = 2;\n"
            ).encode()

        leaf = make.leaf(extension, "code", code)
        ((name, _),) = make.kept.pop(extension)
        # The part of a name between underscores is a word; that of a name in mixed case is none.
        leaf.documents[0].unique.append(name)
        leaf.documents[0].sections[0] += f"\n\nlet compute {name} total\n"
        yield leaf


def pages_of_the_web(make):
    for charset, entities in [
        ("utf-8", False),
        ("utf-8", True),
        ("iso-8859-1", False),
        ("windows-1252", False),
        ("koi8-r", False),
        ("shift_jis", False),
    ]:
        hidden = make.fresh()
        yield make.leaf(
            "html",
            "web",
            lambda texts, title: files.html(texts, title, charset, hidden, entities),
            titled=True,
            absent=[hidden],
            charset="utf-8" if entities else charset,
        )
    yield make.leaf("xhtml", "web", lambda texts, title: files.html(texts, title), titled=True)


def tables(make):
    def rows(paragraphs):
        return [["number", "text"], *([number, text] for number, text in enumerate(paragraphs))]

    for extension, mark, charset in [("csv", ",", "utf-8"), ("csv", ";", "iso-8859-1"), ("tsv", "\t", "utf-8")]:
        yield make.leaf(extension, "table", lambda texts: files.csv_rows(rows(texts), mark, charset), charset=charset)
    yield make.leaf("json", "data", lambda texts: json.dumps({"a": texts, "b": {"c": 1}}, ensure_ascii=False).encode())
    # Letters as numbers, as most programs write JSON.
    yield make.leaf("json", "data", lambda texts: json.dumps({"a": texts}, ensure_ascii=True).encode())
    yield make.leaf(
        "jsonl", "data", lambda texts: b"".join(json.dumps({"t": text}, ensure_ascii=False).encode() + b"\n" for text in texts)
    )


def documents(make):
    for count in (1, 3, 12):
        yield make.leaf(
            "pdf",
            "pdf",
            lambda texts, title: files.pdf(texts if count > 1 else [texts], title, "x", unicode=False),
            charset="cp1252",
            titled=True,
            count=count,
        )
    for count in (1, 4):
        yield make.leaf(
            "pdf",
            "pdf",
            lambda texts, title: files.pdf(texts if count > 1 else [texts], title, unicode=True),
            titled=True,
            count=count,
        )
    plain = ["--object-streams=generate"], ["--linearize"], ["--encrypt", "", "owner", "256", "--"]
    for options in plain:
        yield make.leaf("pdf", "pdf", lambda texts: files.rewritten_pdf(files.pdf(texts), *options), charset="cp1252", count=2)
    locked = make.leaf(
        "pdf",
        "pdf",
        lambda texts: files.rewritten_pdf(files.pdf(texts), "--encrypt", "user", "owner", "256", "--"),
        charset="cp1252",
        count=2,
    )
    locked.documents[0].absent, locked.documents[0].unique, locked.documents[0].sections = locked.documents[0].unique, [], [""]
    locked.documents[0].pages = []
    yield locked
    for _ in range(2):
        yield make.leaf("docx", "document", lambda texts, title: files.docx(texts, title), titled=True)
        yield make.leaf("odt", "document", lambda texts, title: files.odt(texts, title), titled=True)
        yield make.leaf("rtf", "document", lambda texts, title: files.rtf(texts, title), titled=True)
    note, split, header, gone, cell, comment = (make.fresh() for _ in range(6))
    leaf = make.leaf(
        "docx",
        "document",
        lambda texts: files.docx(texts, note=f"in a note {note}", cells=[["one", f"cell {cell}"]], split=split, deleted=gone),
    )
    leaf.documents[0].unique += [note, split, cell]
    leaf.documents[0].sections[0] += f"\n\n{note}\n\n{split}\n\n{cell}"
    leaf.documents[0].absent.append(gone)
    yield leaf
    leaf = make.leaf(
        "docx",
        "document",
        lambda texts: files.docx(texts, header=f"in a header {header}", comment=f"in a comment {comment}"),
        level="may",
    )
    leaf.documents[0].unique += [header, comment]
    leaf.documents[0].sections[0] += f"\n\n{header}\n\n{comment}"
    yield leaf
    note, split = make.fresh(), make.fresh()
    leaf = make.leaf("odt", "document", lambda texts: files.odt(texts, note=f"in a note {note}", split=split))
    leaf.documents[0].unique += [note, split]
    leaf.documents[0].sections[0] += f"\n\n{note}\n\n{split}"
    yield leaf
    for form, extension in ((files.xlsx, "xlsx"), (files.ods, "ods")):
        for count in (1, 3):
            yield make.leaf(
                extension,
                "sheet",
                lambda texts, title: form(
                    [
                        (f"s{n}", [["number", "text"], *([k, text] for k, text in enumerate(text))], False)
                        for n, text in enumerate(texts if count > 1 else [texts])
                    ],
                    title,
                ),
                titled=True,
                count=count,
            )
    yield make.leaf(
        "xlsx",
        "sheet",
        lambda texts: files.xlsx([(f"s{n}", [[text] for text in each], n == 1) for n, each in enumerate(texts)]),
        count=2,
        level="may",
    )
    for form, extension in ((files.pptx, "pptx"), (files.odp, "odp")):
        yield make.leaf(extension, "slides", lambda texts, title: form(texts, title), titled=True, count=3)
    noted = make.fresh()
    leaf = make.leaf("pptx", "slides", lambda texts: files.pptx(texts, notes=[f"a note {noted}"]), count=2, level="may")
    leaf.documents[0].unique.append(noted)
    leaf.documents[0].sections[0] += f"\n\n{noted}"
    yield leaf
    for count in (1, 5):
        yield make.leaf(
            "epub",
            "book",
            lambda texts, title: files.epub(
                [(f"Chapter {n}", text) for n, text in enumerate(texts if count > 1 else [texts], 1)], title, "x"
            ),
            titled=True,
            count=count,
        )


def old_documents(make):
    """In the formats of earlier versions of Office, and PDFs that LibreOffice writes. Nothing without LibreOffice."""
    made = {}
    for kind, source, form in [
        ("doc", "odt", files.odt),
        ("xls", "ods", lambda texts: files.ods([("s", [[text] for text in texts], False)])),
        ("ppt", "odp", lambda texts: files.odp([texts])),
        ("pdf", "odt", files.odt),
    ]:
        kinds = {"doc": "document", "xls": "sheet", "ppt": "slides", "pdf": "pdf"}
        for _ in range(2):
            leaf = make.leaf(kind, kinds[kind], form, level="must" if kind == "pdf" else "may")
            made.setdefault((kind, source), []).append(leaf)
    for (kind, source), leaves in made.items():
        found = files.converted({f"{leaf.name.rpartition('.')[0]}.{source}": leaf.data for leaf in leaves}, kind)
        for leaf in leaves:
            if data := found.get(f"{leaf.name.rpartition('.')[0]}.{source}"):
                leaf.data, leaf.documents[0].size = data, len(data)
                yield leaf


def cards(make):
    for _ in range(2):
        yield make.leaf(
            "vcf", "contact", lambda texts: files.card(make_name(make), " ".join(texts), "x@example.org", "x"), few=True
        )

    def events(texts):
        return files.calendar([("20190304", text[0], " ".join(text[1:]) or "x", "x") for text in texts])

    yield make.leaf("ics", "calendar", events, few=True, count=3)


def make_name(make):
    return f"{make.random.choice(ENGLISH).capitalize()} {make.random.choice(ENGLISH).capitalize()}"


def sounds(make):
    for suffix in ("flac", "mp3", "ogg", "m4a", "opus"):

        def tagged(texts, suffix=suffix):
            return files.sound(suffix, {"title": texts[0], "artist": "Sängerin", "album": " ".join(texts[1:])})

        yield make.leaf(suffix, "sound", tagged, few=True)
    for kind, charset in [("srt", "utf-8"), ("srt", "iso-8859-1"), ("vtt", "utf-8"), ("ass", "utf-8")]:
        yield make.leaf(kind, "subtitles", lambda texts: files.subtitles(texts, kind, charset), few=True, charset=charset)
    for suffix in ("mkv", "mp4"):
        # The first paragraph is the film's title, the others are said in it.
        yield make.leaf(suffix, "film", lambda texts: files.film(suffix, {"title": texts[0]}, texts[1:] or ["x"]), few=True)


def images(make):
    yield make.leaf("jpg", "image", lambda texts: files.photograph(texts[0], "x", " ".join(texts[1:])), few=True, charset="ascii")
    yield make.leaf("jpg", "image", lambda texts: files.photograph(texts[0], " ".join(texts[1:])), few=True, charset="ascii")
    yield make.leaf(
        "png", "image", lambda texts: files.picture_with_text(texts[0], " ".join(texts[1:])), few=True, charset="latin-1"
    )


def scans(make):
    for kind, name, options in [("PNG", "png", {}), ("JPEG", "jpg", {"quality": 85}), ("PNG", "png", {})]:
        yield make.leaf(
            name, "scan", lambda texts: files.picture(texts, kind, **options), stem="scan", level="ocr", charset="ascii"
        )
    for kind, name, count in [("PDF", "pdf", 3), ("TIFF", "tif", 2), ("PDF", "pdf", 1)]:
        yield make.leaf(
            name,
            "scan",
            lambda texts: files.pictures(texts if count > 1 else [texts], kind),
            stem="scan",
            level="ocr",
            count=count,
            charset="ascii",
        )


def small_set(make, turn):
    """A few files of different kinds, for archives and messages."""
    plain = lambda paragraphs: "\n\n".join(paragraphs).encode()
    kinds = [
        lambda: make.leaf("txt", "text", plain),
        lambda: make.leaf("pdf", "pdf", lambda texts: files.pdf(texts, unicode=True), count=2),
        lambda: make.leaf("docx", "document", lambda texts, title: files.docx(texts, title), titled=True),
        lambda: make.leaf(
            "xlsx",
            "sheet",
            lambda texts: files.xlsx([(f"s{n}", [[text] for text in each], False) for n, each in enumerate(texts)]),
            count=2,
        ),
        lambda: make.leaf("html", "web", lambda texts, title: files.html(texts, title), titled=True),
        lambda: make.leaf("odt", "document", files.odt),
        lambda: make.leaf(
            "epub",
            "book",
            lambda texts, title: files.epub([(f"Chapter {n}", text) for n, text in enumerate(texts, 1)], title),
            titled=True,
            count=2,
        ),
        lambda: make.leaf("csv", "table", lambda texts: files.csv_rows([[1, text] for text in texts])),
        lambda: make.leaf("rtf", "document", files.rtf),
        lambda: make.leaf("pptx", "slides", files.pptx, count=2),
        lambda: make.leaf("md", "text", plain),
        lambda: make.leaf("srt", "subtitles", lambda texts: files.subtitles(texts, "srt"), few=True),
    ]
    return [kinds[(3 * turn + step * 5) % len(kinds)]() for step in range(3)]


def mails(make, count):
    ways = [
        ("8bit", "utf-8"),
        ("base64", "utf-8"),
        ("quoted-printable", "iso-8859-1"),
        ("quoted-printable", "utf-8"),
        ("8bit", "koi8-r"),
        ("7bit", "iso-2022-jp"),
    ]
    for turn in range(count):
        way, charset = ways[turn % len(ways)]
        attached = small_set(make, turn) if turn % 3 == 1 else []
        if turn % 6 == 2:
            attached = [make.archive("zip", small_set(make, turn))]
        if turn % 12 == 5:
            attached = [make.eml(make.mail(small_set(make, turn)))]
        if turn % 12 == 11:
            attached = [make.archive("tar.gz", [make.archive("zip", small_set(make, turn), "in/")])]
        shape = ["plain", "alternative", "html", "plain"][turn % 4]
        yield make.mail(attached, way, charset, shape, "BQ"[turn % 2])


def write(folder, scale=1, seed=38):
    """Writes the tree and its truth, and returns the truth."""
    make, tree, found = Maker(seed), folder / "tree", []
    tree.mkdir(parents=True)

    def put(place, leaf):
        path = tree / place / leaf.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(leaf.data)
        os.utime(path, (leaf.seconds, leaf.seconds))
        for document in moved(leaf.documents, f"{place}/"):
            document.source = f"{place}/{leaf.name}"
            found.append(document)

    families = {
        "papers/texts": texts,
        "papers/code/src": sources,
        "papers/web": pages_of_the_web,
        "papers/tables": tables,
        "papers/office": documents,
        "papers/office/old": old_documents,
        "people": cards,
        "media": sounds,
        "media/pictures": images,
        "scans": scans,
    }
    for turn in range(scale):
        for place, family in families.items():
            if turn and family in (old_documents, scans):
                continue
            for leaf in family(make):
                put(place if turn == 0 else f"{place}/{turn}", leaf)
    for turn in range(scale):
        below = f"/{turn}" if turn else ""
        for number, kind in enumerate(["zip", "tar", "tar.gz", "7z", "tar.xz", "zip", "tar.bz2", "zip"]):
            put(
                f"packed{below}",
                make.archive(kind, small_set(make, number) + small_set(make, number + 2), "" if number % 2 else "one/two/"),
            )
        put(f"packed{below}", make.gzipped(make.leaf("txt", "text", lambda texts: "\n\n".join(texts).encode())))
        put(
            f"packed/deep{below}",
            make.archive("zip", [make.archive("tar.gz", [make.archive("zip", small_set(make, 1))]), *small_set(make, 2)]),
        )
        put(
            f"packed/deep{below}",
            make.archive(
                "tar",
                [
                    make.archive("7z", small_set(make, 3)),
                    make.gzipped(make.leaf("txt", "text", lambda texts: "\n\n".join(texts).encode())),
                ],
            ),
        )
        put(
            f"packed/deep{below}",
            make.archive("zip", [make.mailbox(list(mails(make, 6))), make.eml(make.mail(small_set(make, 4)))], "post/"),
        )
        put(f"post{below}", make.mailbox(list(mails(make, 48))))
        put(f"post{below}", make.mailbox(list(mails(make, 6)), packed=True))
        for mail in mails(make, 8):
            put(f"post/single{below}", make.eml(mail))
        put_maildir(tree, f"post/Maildir{below}", make, found)
    unique = {}
    for document in found:
        for word in document.unique:
            unique[word] = [{"prefix": document.path, "kind": document.kind, "level": document.level}]
    truth = {
        "seed": seed,
        "scale": scale,
        "documents": [dataclasses.asdict(one) | {"id": number} for number, one in enumerate(found)],
        "words": unique,
    }
    (folder / "truth.json").write_text(json.dumps(truth, ensure_ascii=False, indent=1) + "\n")
    return truth


def put_maildir(tree, place, make, found):
    for name in ("cur", "new", "tmp"):
        (tree / place / name).mkdir(parents=True)
    for number, mail in enumerate(mails(make, 12)):
        name = f"{1_600_000_000 + number}.M{number}.known:2,S"
        path = tree / place / "cur" / name
        path.write_bytes(mail.data)
        os.utime(path, (1_600_000_000 + number,) * 2)
        word = mail.document.unique[1]
        for document in make.placed_mail(mail, f"{place}.messages/*{word}*", [f"{place}/cur/{name}"]):
            document.source = f"{place}/cur/{name}"
            found.append(document)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scale", type=int, default=1, metavar="N", help="this many times as many documents")
    parser.add_argument("--seed", type=int, default=38, metavar="N")
    options = parser.parse_args()
    shutil.rmtree(options.folder / "tree", ignore_errors=True)
    truth = write(options.folder, options.scale, options.seed)
    levels = {level: sum(one["level"] == level for one in truth["documents"]) for level in ("must", "may", "ocr")}
    print(
        f"{len(truth['documents'])} documents ({levels}) in {sum(1 for path in (options.folder / 'tree').rglob('*') if path.is_file())} files"
    )


if __name__ == "__main__":
    main()
