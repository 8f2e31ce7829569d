"""`scripts/bench pdf`: pages, text and pictures of PDFs, beside the programs that people make them with."""

from pathlib import Path

from .inputs import Inputs
from .measure import client
from .rows import Contestant, Row, Session, Stages


def sessions(inputs: Inputs, ours: list[Contestant], scratch: Path) -> list[Session]:
    source = inputs.manuals()
    tiny = "tiny.pdf"
    manuals = sorted(path.name for path in source.glob("*.pdf") if path.name != tiny)
    longest = "pgfmanual.pdf" if "pgfmanual.pdf" in manuals else "octave.pdf"

    scans = inputs.scan()

    def session(*rows: Row, of: Path = source) -> Session:
        return Session(of, None, ours, list(rows))

    def out(name: str) -> str:
        """In a folder that is made anew each time, in which files are written over."""
        return f"{scratch}/{name}"

    def one_page(file: Path, number: int) -> dict[str, Stages]:
        return {name: [words] for name, words in extractors(str(file), str(number), out("page.pdf")).items()}

    def warm(percent: int) -> Row:
        count = 20 if inputs.divisor > 1 else 250
        # pdfseparate takes many seconds for a page of a long document: it is run once, below.
        peers = {
            name: client("extract", percent, len(words), *words, *[source / each for each in manuals])
            for name, words in extractors("{file}", "{page}", out("one.pdf")).items()
            if percent == 50 and name != "pdfseparate"
        }
        return Row(
            f"warm page of {len(manuals)} manuals, p{percent}",
            lambda root, copies: client("pages", percent, root, copies / "pages", count, *manuals),
            limits=peers,
            unit="µs",
        )

    def first(name: str, title: str) -> Session:
        def work(root: Path, _: Path) -> Stages:
            return client("first", f"{root}/{name}.pages")

        return session(Row(f"first page of {title}", work, limits=one_page(source / name, 1)))

    def listing(name: str) -> Session:
        def work(root: Path, _: Path) -> Stages:
            return client("listing", f"{root}/{name}.pages")

        counting = {"qpdf": [["qpdf", "--show-npages", str(source / name)]]}
        return session(Row(f"ls of {name}.pages, cold", work, limits=counting))

    def all_pages(name: str, title: str, folder_of: Path = source) -> Session:
        file = str(folder_of / name)
        folder = out("split")

        def into(*words: str) -> Stages:
            return [["sh", "-c", 'rm -rf "$0" && mkdir "$0" && exec "$@"', folder, *words]]

        peers = {
            "qpdf": into("qpdf", "--split-pages", file, f"{folder}/%d.pdf"),
            "pdfseparate": into("pdfseparate", file, f"{folder}/%d.pdf"),
            "Ghostscript": into("gs", "-q", "-sDEVICE=pdfwrite", "-o", f"{folder}/%d.pdf", file),
        }

        def work(root: Path, copies: Path) -> Stages:
            return [["cp", "-r", f"{root}/{name}.pages", f"{copies}/pages"]]

        return session(
            Row(f"all pages of {title}", work, limits=peers),
            Row(f"all pages of {title}, again", lambda root, copies: [["cp", "-r", f"{root}/{name}.pages", f"{copies}/again"]]),
            of=folder_of,
        )

    def text(name: str) -> Session:
        file = str(source / name)
        peers = {
            "pdftotext": [["pdftotext", file, "-"], ["cat"]],
            "mutool": [["mutool", "draw", "-F", "text", file], ["cat"]],
            "Ghostscript": [["gs", "-q", "-sDEVICE=txtwrite", "-o", "-", file], ["cat"]],
        }
        return session(
            Row(f"text of {name}", lambda root, _: [["cat", f"{root}/{name}.as-txt"], ["cat"]], limits=peers)
        )

    def pictures(name: str, most: int) -> Session:
        file, density = str(source / name), "150"
        peers = {
            "pdftoppm": [["pdftoppm", "-jpeg", "-r", density, "-l", str(most), file, out("picture")]],
            "mutool": [["mutool", "draw", "-q", "-r", density, "-o", out("picture-%d.png"), file, f"1-{most}"]],
            "Ghostscript": [
                ["gs", "-q", "-sDEVICE=jpeg", f"-r{density}", f"-dLastPage={most}", "-o", out("picture-%d.jpg"), file]
            ],
        }
        title = "first page" if most == 1 else f"{most} pages"
        if most == 1:
            peers["pdftoppm"][0].insert(1, "-singlefile")
            return session(
                Row(f"150 dpi JPEG of {title} of {name}", lambda root, _: [["cat", f"{root}/{name}.as-jpeg"], ["cat"]], limits=peers)
            )
        names = 'ls "$0" | head -n "$1" | sed "s|.*|$0/&.150dpi.as-jpeg|" | xargs cat'

        def work(root: Path, _: Path) -> Stages:
            return [["sh", "-c", names, f"{root}/{name}.pages", str(most)], ["cat"]]

        return session(Row(f"150 dpi JPEG of {title} of {name}", work, limits=peers))

    return [
        session(warm(50), warm(99)),
        first(tiny, "2,400 tiny ones"),
        *[first(name, name) for name in manuals],
        *[listing(name) for name in [tiny, *manuals]],
        all_pages(tiny, "2,400 tiny ones"),
        all_pages(longest, longest),
        all_pages("scan.pdf", "60 scanned ones", scans),
        text("octave.pdf"),
        pictures("octave.pdf", 1),
        pictures("octave.pdf", 20),
    ]


def extractors(file: str, page: str, output: str) -> dict[str, list[str]]:
    """How each program writes one page of a file."""
    return {
        "qpdf": ["qpdf", file, "--pages", ".", page, "--", output],
        "mutool": ["mutool", "merge", "-o", output, file, page],
        "pdfseparate": ["pdfseparate", "-f", page, "-l", page, file, output],
        "Ghostscript": ["gs", "-q", "-sDEVICE=pdfwrite", f"-dFirstPage={page}", f"-dLastPage={page}", "-o", output, file],
    }
