"""The questions of find_questions.py: 200 queries in the languages of ffmount and Recoll, and their answers by the truth of
make_findable.py.

A query is a tree of nodes. A node says what is written, and whether a document matches: True, False, or None where the
truth does not decide, such as whether an attachment has the date of its message."""

import dataclasses
import fnmatch
import functools
import random
import re
import unicodedata

#: Scripts without spaces between words, in which any part of a text is found.
RUNNING = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")


#: By `kind:`, the kinds of the truth.
KINDS = {
    "mail": {"mail"},
    "code": {"code"},
    "book": {"book"},
    "presentation": {"slides"},
    "page": {"web"},
    "card": {"contact", "calendar"},
}


@functools.lru_cache(1 << 12)
def folded(text):
    """Without case, accents, width and ligatures; marks that are letters of their script stay."""
    text = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFKC", "".join(letter for letter in text if not "\u0300" <= letter <= "\u036f")).casefold()


@functools.lru_cache(1 << 12)
def words(text):
    return re.findall(r"[^\W_\u0900-\u097f]+|[\u0900-\u097f]+", folded(text))


def place(text):
    """A text as it is compared: folded, its words in order, and the set of them."""
    several = words(text)
    return folded(text), several, frozenset(several)


class Facts:
    """What is asked of one document."""

    def __init__(self, document, has_attachment):
        self.document, self.has_attachment = document, has_attachment
        self.sections = [place(text) for text in document["sections"]]
        self.beside = place(" \n ".join([document["title"], document["name"], *document["people"]]))
        self.raw = document["sections"]


@dataclasses.dataclass(frozen=True)
class Node:
    def places(self, facts):
        """The sections in which it holds, and -1 for title, name and people. None: unknown."""
        found = [number for number, place in enumerate(facts.sections) if self.within(place)]
        return found + ([-1] if self.within(facts.beside) else [])

    def holds(self, facts):
        """In one section together with what is beside it; None if it does only over several sections."""
        return bool(self.places(facts))


@dataclasses.dataclass(frozen=True)
class Word(Node):
    word: str

    def within(self, place):
        text, several, known = place
        word = folded(self.word)
        if RUNNING.search(word):
            return word in text
        parts = words(word)
        return known.issuperset(parts) and any(
            several[at : at + len(parts)] == parts for at in range(len(several) - len(parts) + 1)
        )

    def ours(self):
        return self.word

    def recoll(self):
        return f'"{self.word}"' if not self.word.isalnum() else self.word


@dataclasses.dataclass(frozen=True)
class Phrase(Word):
    def ours(self):
        return f'"{self.word}"'

    recoll = ours


@dataclasses.dataclass(frozen=True)
class Prefix(Node):
    start: str

    def within(self, place):
        start = folded(self.start)
        return any(word.startswith(start) for word in place[2])

    def ours(self):
        return f"{self.start}*"

    recoll = ours


@dataclasses.dataclass(frozen=True)
class Stem(Node):
    word: str
    forms: tuple

    def within(self, place):
        return any(form in place[2] for form in self.forms)

    def ours(self):
        return f"~{self.word}"

    def recoll(self):
        return None


@dataclasses.dataclass(frozen=True)
class Near(Node):
    one: str
    other: str

    def within(self, place):
        several = place[1]
        if not place[2].issuperset((folded(self.one), folded(self.other))):
            return False
        one, other = folded(self.one), folded(self.other)
        at = [number for number, word in enumerate(several) if word == one]
        return any(other in several[max(0, number - 10) : number + 11] for number in at)

    def ours(self):
        return f"near({self.one} {self.other})"

    def recoll(self):
        return f'"{self.one} {self.other}"p10'


@dataclasses.dataclass(frozen=True)
class Pattern(Node):
    pattern: str

    def places(self, facts):
        return [number for number, text in enumerate(facts.raw) if re.search(self.pattern, text)]

    def ours(self):
        return f"/{self.pattern}/"

    def recoll(self):
        return None


@dataclasses.dataclass(frozen=True)
class Field(Node):
    """A fact of the whole document."""

    field: str
    value: str

    def holds(self, facts):
        one = facts.document
        mail, value = one["kind"] == "mail", self.value.strip('"')
        if self.field in ("type", "ext"):
            name = one["name"].lower()
            if mail and not name:
                return False if value != "eml" else None
            extension = name.rpartition(".")[2] if "." in name else ""
            return extension == value
        if self.field == "kind":
            return True if one["kind"] in KINDS[value] else None if one["in_mail"] and value == "mail" else False
        if self.field == "in":
            # A folder's name, or its path, above the document.
            return f"/{value.strip('/')}/" in f"/{one['path']}"
        if self.field == "name":
            if mail:
                return None
            several = words(one["name"])
            return any(fnmatch.fnmatchcase(word, folded(value)) for word in several)
        if self.field == "size":
            if one["pages"] or one["size"] is None or (mail and not one["name"]):
                return None if one["pages"] or one["size"] is None else compared(one["size"], value)
            return compared(one["size"], value)
        if self.field == "date":
            if one["in_mail"] or not one["day"]:
                return None
            first, _, last = value.partition("..")
            return first <= one["day"] and one["day"][: len(last or first)] <= (last or first)
        if self.field in ("from", "to", "subject"):
            if one["in_mail"] and not mail:
                return None
            if not mail:
                return False if one["kind"] not in ("mailbox", "archive") else None
            if self.field == "subject":
                text = one["title"]
            else:
                address = one["sender" if self.field == "from" else "receiver"]
                at = one["people"].index(address)
                text = " ".join(one["people"][at - 1 : at + 1])
            return Word(value).within(place(text))
        if self.field == "has":
            return facts.has_attachment if mail else False
        if self.field == "lang":
            if one["kind"] == "mail" or not "".join(one["sections"]) or not one["language"]:
                return None
            return (one["language"] == value) if sum(map(len, one["sections"])) > 150 else None
        raise ValueError(self.field)

    def ours(self):
        return f"{self.field}:{self.value}"

    def recoll(self):
        value = self.value
        if self.field in ("type", "ext"):
            return f"ext:{value}"
        if self.field == "in":
            return f'dir:"{{tree}}/{value}"' if "." not in value.rpartition("/")[2] else None
        if self.field == "name":
            return f"filename:*{value.strip('*')}*"
        if self.field == "size":
            return f"size{value.lower()}"
        if self.field == "date":
            first, _, last = value.partition("..")
            return f"date:{first}/{last or first}"
        if self.field in ("from", "to"):
            return f"{self.field}:{value}"
        if self.field == "subject":
            return f"title:{value}"
        return None


def compared(size, value):
    """`size` beside ">1M"; the unit may be of 1000 or 1024."""
    number = float(value[1:-1]) if value[-1] in "kMG" else float(value[1:])
    powers = {"k": 1, "M": 2, "G": 3}.get(value[-1], 0)
    answers = {size > number * unit ** powers if value[0] == ">" else size < number * unit**powers for unit in (1000, 1024)}
    return answers.pop() if len(answers) == 1 else None


@dataclasses.dataclass(frozen=True)
class Joined(Node):
    parts: tuple

    def places(self, facts):
        raise NotImplementedError


class And(Joined):
    def holds(self, facts):
        return combined(self, facts)

    def ours(self):
        return " ".join(part.ours() if not isinstance(part, Or) else f"({part.ours()})" for part in self.parts)

    def recoll(self):
        # Facts come last: Recoll applies them to all that is before.
        several = sorted(
            self.parts, key=lambda part: isinstance(part, Field) and part.field in ("size", "date", "in", "ext", "type")
        )
        return joined(
            " ", [f"({part.recoll()})" if isinstance(part, Or) and part.recoll() else part.recoll() for part in several]
        )


class Or(Joined):
    def holds(self, facts):
        return combined(self, facts)

    def ours(self):
        return " OR ".join(part.ours() if not isinstance(part, And) else f"({part.ours()})" for part in self.parts)

    def recoll(self):
        if any(isinstance(part, Field) for part in self.parts):
            return None
        return joined(
            " OR ", [f"({part.recoll()})" if isinstance(part, And) and part.recoll() else part.recoll() for part in self.parts]
        )


@dataclasses.dataclass(frozen=True)
class Not(Node):
    part: Node
    said: str = "-"

    def holds(self, facts):
        return combined(self, facts)

    def ours(self):
        text = self.part.ours()
        return f"{self.said}({text})" if isinstance(self.part, Joined) else f"{self.said}{text}"

    def recoll(self):
        # Recoll negates no ranges.
        if isinstance(self.part, Joined) or isinstance(self.part, Field) and self.part.field in ("size", "date"):
            return None
        return "-" + text if (text := self.part.recoll()) else None


def joined(mark, several):
    return mark.join(several) if all(several) else None


def combined(node, facts):
    """Whether it holds in a section and whether in the whole; None if these differ."""
    found = {truth(node, facts, number) for number in range(len(facts.sections))}
    per_section = True if True in found else None if None in found else False
    whole = truth(node, facts, None)
    return whole if per_section == whole else None


def truth(node, facts, section):
    """Within one section, or anywhere if it is None."""
    if isinstance(node, And):
        several = [truth(part, facts, section) for part in node.parts]
        return False if False in several else None if None in several else True
    if isinstance(node, Or):
        several = [truth(part, facts, section) for part in node.parts]
        return True if True in several else None if None in several else False
    if isinstance(node, Not):
        value = truth(node.part, facts, section)
        return None if value is None else not value
    if isinstance(node, Field):
        return node.holds(facts)
    places = node.places(facts)
    return bool(places) if section is None else section in places or -1 in places


def whole(node, facts, parts):
    """Whether a query holds for a message, an archive or the like together with what is in it, whose facts are `parts`.

    A date or a size is that of the thing itself."""
    if isinstance(node, And):
        return all(whole(part, facts, parts) for part in node.parts)
    if isinstance(node, Or):
        return any(whole(part, facts, parts) for part in node.parts)
    if isinstance(node, Not):
        return not whole(node.part, facts, parts)
    if isinstance(node, Field) and node.field in ("date", "size"):
        return node.holds(facts) is not False
    return any(truth(node, one, None) is not False for one in (facts, *parts))


def sections_of(node, facts):
    """The sections of a document in which a query holds."""
    return [number for number in range(len(facts.sections)) if truth(node, facts, number) is True]


@dataclasses.dataclass
class Question:
    sort: str
    node: Node
    #: Where the words are in different pages or sheets: the file as a whole is the answer.
    across: bool = False
    #: Whether a wrong answer counts.
    strict: bool = True
    number: int = 0


def questions(truth_file, count=200, seed=38):
    """The same questions for the same truth."""
    noise = random.Random(seed)
    documents = truth_file["documents"]
    must = [one for one in documents if one["level"] == "must" and one["unique"]]
    made = []

    def ask(sort, *nodes, **how):
        for node in nodes:
            made.append(Question(sort, node, **how))

    # A word of each kind of file in each kind of place.
    groups = {}
    for one in must:
        steps = one["path"].split("/")
        place = "/".join(step.partition(".")[2].rstrip(" *") for step in steps[:-1] if "." in step)
        groups.setdefault((one["kind"], place, one["name"].rpartition(".")[2]), []).append(one)
    chosen = [noise.choice(group) for _, group in sorted(groups.items(), key=lambda item: item[0])]
    noise.shuffle(chosen)
    for one in chosen[:44]:
        ask("a word", Word(noise.choice(one["unique"])))
    for one in [one for one in documents if one["level"] == "may" and one["unique"]][:8]:
        ask("a word, better", Word(one["unique"][0]), strict=False)

    # Case, accents, scripts.
    ask(
        "accents",
        *map(
            Word,
            [
                "übergröße",
                "ubergrosse",
                "ÜBERGRÖSSE",
                "naivete",
                "NAÏVETÉ",
                "cestina",
                "strasse*"[:-1] + "nbahn",
                "straßenbahn",
                "cafe",
                "financial",
                "fluid",
                "fullwidth",
            ],
        ),
    )
    ask(
        "scripts",
        *map(
            Word,
            [
                "библиотека",
                "БИБЛИОТЕКА",
                "еще",
                "图书馆",
                "河边",
                "ห้องสมุด",
                "แม่น้ำ",
                "図書館",
                "東京",
                "도서관",
                "βιβλιοθηκη",
                "مكتبة",
                "ספרייה",
                "पुस्तकालय",
            ],
        ),
    )

    # Several words.
    unique = lambda: noise.choice(must)["unique"][0]
    ask(
        "two words",
        *(
            And((Word(a), Word(b)))
            for a, b in [
                ("meadow", "harbour"),
                ("lantern", "copper"),
                ("meadow", "lantern"),
                ("harbour", "copper"),
                ("sailing", "meadow"),
                ("библиотека", "meadow"),
                ("cafe", "harbour"),
            ]
        ),
    )
    for one in noise.sample([one for one in must if len(words(one["sections"][0])) > 20], 5):
        several = words(one["sections"][0])
        ask("two words", And((Word(one["unique"][0]), Word(noise.choice(several[-10:])))))
    ask(
        "phrase",
        *map(Phrase, ["silver bridge crossing", "crossing bridge silver", "bridge crossing", "silver bridge", "silver crossing"]),
    )
    for one in noise.sample([one for one in must if one["kind"] in ("pdf", "mail", "document", "web", "book", "text")], 6):
        several = words(one["sections"][0])
        at = several.index(one["unique"][0])
        ask("phrase", Phrase(" ".join(several[max(0, at - 1) : at + 2])))
    ask(
        "OR",
        *(
            Or(tuple(map(Word, several)))
            for several in [
                ("lantern", "copper"),
                ("sailing", "sailed", "sails"),
                ("lighthouse", "lightning"),
                ("图书馆", "библиотека"),
            ]
        ),
    )
    ask("OR", *(Or((Word(unique()), Word(unique()))) for _ in range(4)))
    ask(
        "NOT",
        *(
            And((Word(a), Not(Word(b), said)))
            for a, b, said in [
                ("harbour", "meadow", "-"),
                ("lantern", "harbour", "NOT "),
                ("copper", "lantern", "-"),
                ("sailing", "meadow", "-"),
                ("lighthouse", "harbour", "NOT "),
            ]
        ),
    )
    ask(
        "NOT",
        And((Word("copper"), Not(Phrase("silver bridge crossing")))),
        And((Word("bridge"), Not(Phrase("bridge silver")))),
        And((Word("copper"), Not(Or((Word("meadow"), Word("harbour")))))),
        And((Word("harbour"), Not(Field("type", "pdf")))),
    )
    ask("prefix", *map(Prefix, ["light", "lighth", "lightn", "sail", "библ", "strassen", "KX"]))
    ask("prefix", *(Prefix(unique()[:6]) for _ in range(4)))
    ask(
        "stem",
        Stem("sail", ("sail", "sails", "sailed", "sailing")),
        And((Stem("sailed", ("sail", "sails", "sailed", "sailing")), Word("meadow"))),
        Stem("lantern", ("lantern", "lanterns")),
    )
    ask(
        "near",
        Near("amber", "tower"),
        Near("tower", "amber"),
        And((Near("amber", "tower"), Word("meadow"))),
        And((Word("amber"), Word("tower"), Not(Near("amber", "tower")))),
        Near("silver", "crossing"),
    )
    ask(
        "pattern",
        Pattern("KX-2019-0[0-9][0-9]8"),
        And((Word("meadow"), Pattern("KX-2019-0[1-3][0-9][0-9]"))),
        Pattern("MB-[0-9]+-x"),
        And((Word("harbour"), Pattern("KX-20(19|20)-[0-9]*5"))),
    )

    # Facts.
    ask(
        "type",
        *(And((Word("meadow"), Field("type", kind))) for kind in ("pdf", "docx", "epub")),
        And((Word("harbour"), Field("ext", "txt"))),
        And((Word("harbour"), Field("ext", "html"))),
        And((Word("lantern"), Field("ext", "odt"))),
        And((Or((Word("lantern"), Word("copper"))), Field("type", "pdf"))),
    )
    ask(
        "kind",
        *(And((Word("meadow"), Field("kind", kind))) for kind in ("mail", "code", "book", "presentation")),
        And((Word("harbour"), Not(Field("kind", "mail")))),
    )
    ask(
        "in",
        *(And((Word("meadow"), Field("in", place))) for place in ("papers", "papers/office", "post", "packed/deep", "media")),
        And((Word("harbour"), Field("in", "papers/code"))),
        And((Word("lantern"), Not(Field("in", "post")))),
    )
    archive = next(
        one["path"]
        for one in documents
        if one["kind"] == "archive" and one["path"].endswith(".zip") and one["path"].count("/") == 1
    )
    ask("in", And((Word("meadow"), Field("in", f"{archive}.contents"))))
    ask(
        "size",
        *(And((Word("meadow"), Field("size", value))) for value in (">1M", ">100k", "<1k")),
        And((Field("size", ">1M"), Field("ext", "txt"))),
        And((Word("harbour"), Not(Field("size", ">3k")))),
    )
    ask(
        "date",
        *(
            And((Word("meadow"), Field("date", value)))
            for value in ("2019", "2015..2017", "2020-03", "2016-01-01..2018-06-30", "2012..2013")
        ),
        And((Word("copper"), Not(Field("date", "2015..2020")))),
        And((Field("kind", "mail"), Field("date", "2018"))),
    )
    ask(
        "people",
        Field("from", "anna"),
        Field("from", "juergen@example.org"),
        Field("from", "weiss"),
        Field("from", "Смирнова"),
        And((Field("from", "tom"), Word("meadow"))),
        Field("to", "ines"),
        And((Field("from", "山本"), Not(Word("harbour")))),
        Field("subject", next(one["unique"][1] for one in must if one["kind"] == "mail")),
        And((Field("has", "attachment"), Word("lantern"))),
    )
    named = [one for one in must if " " in one["name"]]
    ask(
        "name",
        *(Field("name", words(one["name"])[0]) for one in named[:2]),
        Word(words(named[2]["name"])[1]),
        Field("name", words(named[3]["name"])[0][:5] + "*"),
    )
    ask("language", And((Word("meadow"), Field("lang", "de"))), And((Word("harbour"), Field("lang", "en"))), strict=False)

    # Trees of them.
    ask(
        "nested",
        And((Or((Word("lantern"), Word("copper"))), Not(Word("meadow")), Field("type", "pdf"))),
        Or((And((Word("sailing"), Word("meadow"))), And((Word("lightning"), Word("harbour"))))),
        And((Or((Phrase("silver bridge crossing"), Phrase("crossing bridge silver"))), Word("meadow"))),
        And((Prefix("light"), Not(Word("lightning")), Not(Word("lighthouse")))),
        And((Or((Word("библиотека"), Word("图书馆"), Word("ห้องสมุด"))), Not(Field("kind", "mail")))),
        And((Word("meadow"), Or((Word("lantern"), And((Word("harbour"), Word("copper"))))))),
        Or((Word("lighthouse"), And((Phrase("bridge crossing"), Not(Word("meadow")))))),
        And((Field("from", "anna"), Or((Word("lantern"), Word("copper"))))),
    )

    # Words that are in bytes and not in texts, and words that are nowhere.
    absent = [word for one in documents if one["level"] == "must" for word in one["absent"]]
    ask(
        "absent",
        *(Word(word) for word in noise.sample(absent, 5)),
        Word("qqvxjkzw"),
        Phrase("meadow qqvxjkzw"),
        And((Word("meadow"), Word("qqvxjkzw"))),
    )

    # Words of different pages, sheets or chapters of one file.
    for one in [one for one in must if len(one["sections"]) > 2][:5]:
        ask("across", And((Word(one["unique"][0]), Word(one["unique"][-1]))), across=True, strict=False)
    assert len(made) >= count, len(made)
    # All sorts stay when there are too many.
    while len(made) > count:
        made.remove(next(one for one in made if one.sort == "a word"))
    for number, one in enumerate(made, 1):
        one.number = number
    return made
