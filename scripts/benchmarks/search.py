"""`scripts/bench search`: a mail archive's views and its words, beside what else searches mail."""

from pathlib import Path

from .inputs import Inputs
from .rows import Contestant, Row, Session, Stages

VIEWS = "archive.mbox.views"
#: In a few messages in a hundred, and of one sender.
WORD = "natürlich"
PERSON = "person7@mail0.example.com"


def sessions(inputs: Inputs, ours: list[Contestant], binary: Path | None, scratch: Path) -> list[Session]:
    """The peers but mairix want a Maildir; taking the archive apart is not counted."""
    source, maildir = inputs.mail(), inputs.maildir()
    archive = source / "archive.mbox"
    peers = Peers(scratch, archive, maildir)
    cache = scratch / "words"

    def ffmount(*words: object) -> list[str]:
        return ["env", f"XDG_CACHE_HOME={cache}", str(binary), *map(str, words)]

    def session(*rows: Row) -> Session:
        return Session(source, None, ours, list(rows))

    def all_words(root: Path, _: Path) -> Stages:
        # The attribute disappears when all words are indexed.
        script = 'ls "$0" >/dev/null; while getfattr -n user.ffmount.searched "$0" >/dev/null 2>&1; do sleep .2; done'
        return [["sh", "-c", script, f"{root}/{VIEWS}/search/{WORD}"]]

    def query(text: str):
        return lambda root, _: [["ls", "-U", f"{root}/{VIEWS}/search/{text}"], ["wc", "-l"]]

    def first(text: str):
        # find quits at the first name.
        return lambda root, _: [["find", f"{root}/{VIEWS}/search/{text}", "-mindepth", "1", "-maxdepth", "1", "-print", "-quit"]]

    index = {"ffmount": [["sh", "-c", 'rm -rf "$0"; shift 0; exec "$@"', str(cache), *ffmount("index", "--search", archive)]]} if binary else {}
    lines = {"ffmount": [ffmount("search", archive, WORD), ["wc", "-l"]]} if binary else {}
    people = {"ffmount": [ffmount("search", archive, f"from:{PERSON}"), ["wc", "-l"]]} if binary else {}
    return [
        Session(source, None, [], [Row("52,000: index of all words", limits=index | peers.index())]),
        Session(source, None, [], [Row("52,000: a word, on the command line", limits=lines | peers.query(WORD, WORD, WORD))]),
        Session(
            source, None, [],
            [Row("52,000: a sender, on the command line",
                 limits=people | peers.query(f"from:{PERSON}", f"from:{PERSON}", f"f:{PERSON}"))],
        ),
        session(
            Row("52,000: mount, first ls of .views", lambda root, _: [["ls", f"{root}/{VIEWS}"]], mounts=True),
            Row("52,000: ls by-sender", lambda root, _: [["ls", f"{root}/{VIEWS}/by-sender"], ["wc", "-l"]]),
            Row("52,000: ls by-thread", lambda root, _: [["ls", f"{root}/{VIEWS}/by-thread"], ["wc", "-l"]]),
            Row("52,000: ls attachments", lambda root, _: [["ls", f"{root}/{VIEWS}/attachments"], ["wc", "-l"]]),
            Row("52,000: first search, until all words are in", all_words),
            Row("52,000: first result of another query", first("subject:the")),
            Row("52,000: all results of another query", query("the")),
            Row("52,000: first result of a query, remounted", first(WORD), mounts=True),
            Row("52,000: ls by-sender, remounted", lambda root, _: [["ls", f"{root}/{VIEWS}/by-sender"], ["wc", "-l"]], mounts=True),
        ),
        session(Row("52,000: find over all views", lambda root, _: [["find", f"{root}/{VIEWS}"], ["wc", "-l"]])),
    ]


class Peers:
    """What searches mail, each with its index in a folder of its own."""

    def __init__(self, scratch: Path, archive: Path, maildir: Path) -> None:
        self.archive, self.maildir = archive, maildir
        self.mu, self.notmuch, self.mairix = (scratch / name for name in ("mu", "notmuch", "mairix"))
        for folder in (self.notmuch, self.mairix):
            folder.mkdir()
        (self.notmuch / "config").write_text(
            f"[database]\npath={self.notmuch}/db\nmail_root={maildir.parent}\n"
            "[user]\nname=x\nprimary_email=x@example.com\n[new]\ntags=new\nignore=\n[search]\nexclude_tags=\n"
        )
        (self.mairix / "rc").write_text(
            f"base={archive.parent}\nmbox={archive.name}\nmfolder={self.mairix}/found\nmformat=mbox\n"
            f"database={self.mairix}/database\n"
        )

    def index(self) -> dict[str, Stages]:
        return {
            "mu": [["sh", "-c", 'rm -rf "$0" && mu init --quiet --muhome="$0" --maildir="$1" && exec mu index --quiet --muhome="$0"',
                    str(self.mu), str(self.maildir.parent)]],
            "notmuch": [["sh", "-c", 'rm -rf "$0/db" && mkdir "$0/db" && exec notmuch --config="$0/config" new --quiet', str(self.notmuch)]],
            "mairix": [["sh", "-c", 'rm -f "$0/database" && exec mairix -f "$0/rc"', str(self.mairix)]],
        }

    def query(self, mu: str, notmuch: str, mairix: str) -> dict[str, Stages]:
        return {
            "mu": [["mu", "find", f"--muhome={self.mu}", "--fields=l", mu], ["wc", "-l"]],
            "notmuch": [["notmuch", f"--config={self.notmuch}/config", "search", "--output=files", notmuch], ["wc", "-l"]],
            "mairix": [["sh", "-c", 'mairix -f "$0" -r "$1" || true', str(self.mairix / "rc"), mairix], ["wc", "-l"]],
        }
