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
    for delivered in (maildir / "new").iterdir():
        delivered.unlink()
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
        *maildirs(maildir, ours, peers, ffmount if binary else None, cache),
        *short_maildir(inputs.short_maildir(), ours),
    ]


def short_maildir(maildir: Path, ours: list[Contestant]) -> list[Session]:
    """A Maildir of 100,000 short messages, which grows by one."""

    def listed(root: Path, _: Path) -> Stages:
        return [["ls", "-U", f"{root}/{maildir.name}.messages"], ["wc", "-l"]]

    def after(change: str):
        return lambda root, copies: [["sh", "-c", change, str(maildir), *listed(root, copies)[0]], ["wc", "-l"]]

    return [
        Session(
            maildir.parent, None, ours,
            [
                Row("100,000 short: mount, first ls", listed, mounts=True),
                Row("100,000 short: second ls", listed),
                Row("100,000 short: ls after a delivery", after(DELIVERY)),
                Row("100,000 short: ls after a deletion", after(REMOVAL)),
                Row("100,000 short: ls, remounted", listed, mounts=True),
            ],
        )
    ]


def maildirs(maildir: Path, ours: list[Contestant], peers: "Peers", ffmount, cache: Path) -> list[Session]:
    """The same mail as a Maildir, which grows: each program adds one message to it before it looks."""
    source = maildir.parent
    views, messages = f"{maildir.name}.views", f"{maildir.name}.messages"

    def after(*command: str) -> Stages:
        return [["sh", "-c", DELIVERY, str(maildir), *command]]

    def removed(*command: str) -> Stages:
        return [["sh", "-c", REMOVAL, str(maildir), *command]]

    def listed(name: str, change=after):
        return lambda root, _: [change("ls", "-U", f"{root}/{name}")[0], ["wc", "-l"]]

    def own(*stages: list[str]) -> dict[str, Stages]:
        return {"ffmount": list(stages)} if ffmount else {}

    index = own(["sh", "-c", 'rm -rf "$0"; exec "$@"', str(cache), *ffmount("index", "--search", maildir)]) if ffmount else {}
    again = own(after(*ffmount("index", "--search", maildir))[0]) if ffmount else {}
    line = own(ffmount("search", maildir, WORD), ["wc", "-l"]) if ffmount else {}
    phrase = own(after(*ffmount("search", maildir, "delivered"))[0], ["wc", "-l"]) if ffmount else {}
    return [
        Session(source, None, [], [Row("Maildir: index of all words", limits=index | peers.index(mairix=False))]),
        Session(source, None, [], [Row("Maildir: index after a delivery", limits=again | peers.index_again(after))]),
        Session(source, None, [], [Row("Maildir: a word, on the command line", limits=line | peers.query(WORD, WORD))]),
        Session(source, None, [], [Row("Maildir: a search after a delivery", limits=phrase | peers.search_again(after, "delivered"))]),
        Session(
            source, None, ours,
            [
                Row("Maildir: mount, first ls of .messages", listed(messages), mounts=True),
                Row("Maildir: first ls of .views", lambda root, _: [["ls", f"{root}/{views}"], ["wc", "-l"]]),
                Row("Maildir: ls of .messages after a delivery", listed(messages)),
                Row("Maildir: ls of .views after a delivery", listed(views)),
                Row("Maildir: ls by-date of a month after a delivery", listed(f"{views}/by-date/2024/05")),
                Row("Maildir: ls of .messages after a deletion", listed(messages, removed)),
                Row("Maildir: ls of .messages, remounted", listed(messages), mounts=True),
            ],
        ),
    ]


#: Puts one more message into the Maildir $0 as programs do, and runs the other words.
DELIVERY = r'''name=$(date +%s.%N).bench
printf 'From: %s@example.com\nDate: Wed, 1 May 2024 10:00:00 +0000\nMessage-ID: <%s>\nSubject: delivered\n\nhello\n' \
  "$name" "$name" >"$0/tmp/$name" && mv "$0/tmp/$name" "$0/new/$name" && exec "$@"'''
#: Takes one of them out again.
REMOVAL = r'''rm -f "$0/new/$(ls "$0/new" | head -1)" && exec "$@"'''


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

    def index(self, mairix: bool = True) -> dict[str, Stages]:
        found = {
            "mu": [["sh", "-c", 'rm -rf "$0" && mu init --quiet --muhome="$0" --maildir="$1" && exec mu index --quiet --muhome="$0"',
                    str(self.mu), str(self.maildir.parent)]],
            "notmuch": [["sh", "-c", 'rm -rf "$0/db" && mkdir "$0/db" && exec notmuch --config="$0/config" new --quiet', str(self.notmuch)]],
        }
        if mairix:
            found["mairix"] = [["sh", "-c", 'rm -f "$0/database" && exec mairix -f "$0/rc"', str(self.mairix)]]
        return found

    def index_again(self, after) -> dict[str, Stages]:
        """What is new in the Maildir is added; `after` makes that a command after a delivery."""
        return {
            "mu": after("mu", "index", "--quiet", f"--muhome={self.mu}"),
            "notmuch": after("notmuch", f"--config={self.notmuch}/config", "new", "--quiet"),
        }

    def search_again(self, after, word: str) -> dict[str, Stages]:
        """The same, and a search."""
        mu = f'mu index --quiet --muhome="{self.mu}" && exec mu find --muhome="{self.mu}" --fields=l {word}'
        notmuch = f'export NOTMUCH_CONFIG="{self.notmuch}/config"; notmuch new --quiet && exec notmuch search --output=files {word}'
        return {
            "mu": [*after("sh", "-c", mu), ["wc", "-l"]],
            "notmuch": [*after("sh", "-c", notmuch), ["wc", "-l"]],
        }

    def query(self, mu: str, notmuch: str, mairix: str | None = None) -> dict[str, Stages]:
        found = {
            "mu": [["mu", "find", f"--muhome={self.mu}", "--fields=l", mu], ["wc", "-l"]],
            "notmuch": [["notmuch", f"--config={self.notmuch}/config", "search", "--output=files", notmuch], ["wc", "-l"]],
        }
        if mairix:
            found["mairix"] = [["sh", "-c", 'mairix -f "$0" -r "$1" || true', str(self.mairix / "rc"), mairix], ["wc", "-l"]]
        return found
