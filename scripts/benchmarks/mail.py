"""`scripts/bench mail`: a mail archive, beside what else reads one."""

from pathlib import Path

from .inputs import Inputs
from .measure import client
from .rows import Contestant, Row, Session, Stages

VIEW = "archive.mbox.messages"
#: In the text of a few messages in a hundred.
WORD = "natürlich"


def sessions(inputs: Inputs, ours: list[Contestant], binary: Path | None, scratch: Path, huge: bool) -> list[Session]:
    source = inputs.mail()
    archive = source / "archive.mbox"

    def session(*rows: Row) -> Session:
        return Session(source, None, ours, list(rows))

    def index(of: Path) -> dict[str, Stages]:
        """The index is made anew each time. Named as the mounts are, so that ratios are of it."""
        script = 'rm -rf "$0" && XDG_CACHE_HOME=$0 exec "$1" index "$2"'
        return {"ffmount": [["sh", "-c", script, str(scratch / "index"), str(binary), str(of)]]} if binary else {}

    def each(name: str) -> Row:
        return Row(
            f"{name} of one of 52,000, each",
            lambda root, _: client("message", f"{root}/{VIEW}", name, min(1000, inputs.scaled(52_000))),
            unit="µs",
        )

    def mutt() -> Stages:
        # mutt needs a terminal, which script(1) provides, and exits as soon as it shows the list.
        commands = "set folder=/ record= sleep_time=0; push <exit>"
        return [["script", "-qec", f"TERM=xterm mutt -n -F /dev/null -R -f {archive} -e '{commands}'", "/dev/null"]]

    def many(copies: int, title: str) -> list[Session]:
        """Longer archives: time in proportion, the same memory."""
        folder = inputs.mail(copies)
        file = folder / "archive.mbox"
        limits = index(file) | {"grep -c": [["grep", "-c", "^From ", str(file)], ["cat"]]}
        listings = [
            Row(f"{title}: mount, first ls", names, mounts=True),
            Row(f"{title}: ls again, remounted", names, mounts=True),
        ]
        return [
            Session(folder, None, [], [Row(f"{title}: index", limits=limits)]),
            Session(folder, None, ours, listings),
        ]

    def names(root: Path, _: Path) -> Stages:
        return [["ls", f"{root}/{VIEW}"], ["wc", "-l"]]

    def search(root: Path, _: Path) -> Stages:
        # Into a pipe: with /dev/null, grep would stop at the first match.
        return [["grep", "-rc", "--include=body.txt", WORD, f"{root}/{VIEW}"], ["cat"]]

    readers = {
        "cat": [["cat", str(archive)], ["cat"]],
        "grep -c": [["grep", "-c", "^From ", str(archive)], ["cat"]],
        "mutt": mutt(),
        "Python": client("names", archive),
    }
    walks = {
        "Python": client("texts", archive, WORD, "classic"),
        "Python, new": client("texts", archive, WORD, "modern"),
    }
    def some(root: Path, _: Path) -> Stages:
        script = 'ls "$0" | head -n 4000 | sed "s|.*|$0/&/message.eml|" | xargs -d "\\n" cat'
        return [["sh", "-c", script, f"{root}/{VIEW}"], ["cat"]]

    million = inputs.million()
    return [
        Session(source, None, [], [Row("52,000: index", limits=index(archive) | readers)]),
        session(
            Row("52,000: mount, first ls", names, mounts=True),
            Row("52,000: ls again, remounted", names, mounts=True),
            each("message.eml"),
            each("body.txt"),
        ),
        session(
            Row("52,000: grep -r in body.txt", search, limits=walks),
            Row("52,000: grep -r again", search),
        ),
        session(Row("52,000: find", lambda root, _: [["find", f"{root}/{VIEW}"]])),
        session(
            Row(
                "52,000: cat all message.eml",
                lambda root, _: [["find", f"{root}/{VIEW}", "-name", "message.eml", "-exec", "cat", "{}", "+"], ["cat"]],
                limits={"cat": [["cat", str(archive)], ["cat"]]},
            )
        ),
        session(Row("52,000: cat 4,000 message.eml", some)),
        Session(
            million, None, ours,
            [
                Row("1,000,000: mount, first ls", names, mounts=True),
                Row("1,000,000: second ls", names),
                Row("1,000,000: ls again, remounted", names, mounts=True),
            ],
        ),
        *many(4, "5 GB"),
        *(many(16, "20 GB") if huge else []),
    ]
