"""The two pictures of Architecture.md, drawn from the sources: the layers with their modules, and the life of a request.

`scripts/docs --pictures` writes them, `scripts/docs --check` fails if they are not current.
"""

import html
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RESOURCES = ROOT / "Sources/Programs/ffmount/ffmount.docc/Resources"
#: From top to bottom.
LAYERS = ["Programs", "Assembly", "Library", "Mount", "Views", "Tree", "Converters", "Parsers", "Conversion", "Base"]
#: The read of an archive entry: a file, a function that it must have, and the function's part.
READ = [
    ("Mount/FuseLink/RequestLoop.swift", "run", "takes the request from the kernel"),
    ("Mount/Mount/MountedTree+Files.swift", "read", "uses the kernel's splice if the bytes are stored in a file"),
    ("Mount/Mount/MountedTree.swift", "answer", "tries without blocking; replies, or parks the request"),
    ("Base/Codecs/Unpacking/UnpackedSource.swift", "read", "returns cached bytes, or throws Fault.later"),
    ("Base/Threads/ThreadPool.swift", "submit", "repeats a parked request where it may block"),
    ("Base/Codecs/Unpacking/UnpackedSource+Decoding.swift", "decode", "decodes a block from the nearest restart point"),
    ("Base/Files/FileSource.swift", "read", "reads the compressed bytes from the source"),
]
STYLE = "<style>text{font:14px sans-serif;fill:#1a1a1a}.small{font-size:11px;fill:#444}.name{font-weight:600}" \
    "rect{fill:#f3f6fa;stroke:#8aa0b8}.step{fill:#fff}line,path{stroke:#8aa0b8;fill:none;stroke-width:1.5}</style>"


def pictures():
    """The pictures by file name."""
    return {"layers.svg": layers(), "request.svg": request()}


def layers():
    described = subprocess.run(
        ["swift", "package", "describe", "--type", "json"], cwd=ROOT, capture_output=True, check=True)
    modules = {}
    for target in json.loads(described.stdout)["targets"]:
        parts = pathlib.Path(target["path"]).parts
        if parts[0] == "Sources" and len(parts) > 1:
            modules.setdefault(parts[1], []).append(target["name"])
    rows, y = [], 10
    for layer in LAYERS:
        names = sorted(modules.get(layer, [layer]))
        lines = wrapped(", ".join(names), 82)
        height = 22 + 16 * len(lines)
        rows.append(f'<rect x="10" y="{y}" width="760" height="{height}" rx="6"/>')
        rows.append(f'<text class="name" x="24" y="{y + 24}">{layer}</text>')
        rows += [f'<text class="small" x="140" y="{y + 24 + 16 * n}">{html.escape(line)}</text>' for n, line in enumerate(lines)]
        y += height + 8
    return svg(780, y + 2, rows)


def request():
    rows, y = ['<text class="name" x="24" y="24">read("a.tar.gz.contents/b.txt")</text>'], 40
    for number, (path, function, part) in enumerate(READ):
        text = (ROOT / "Sources" / path).read_text()
        if not re.search(rf"func {function}\b", text):
            raise SystemExit(f"docs: {path} has no function {function}: correct READ in scripts/site/pictures.py")
        rows.append(f'<rect class="step" x="10" y="{y}" width="760" height="40" rx="6"/>')
        rows.append(f'<text class="name" x="24" y="{y + 17}">{number + 1}. {html.escape(function)}</text>')
        rows.append(f'<text class="small" x="24" y="{y + 33}">{html.escape(path)}</text>')
        rows.append(f'<text x="330" y="{y + 25}">{html.escape(part)}</text>')
        if number + 1 < len(READ):
            rows.append(f'<line x1="390" y1="{y + 40}" x2="390" y2="{y + 54}"/>')
        y += 54
    rows.append(f'<text class="small" x="24" y="{y + 10}">Steps 5 to 7 run only if the bytes are not cached. The reply is sent by step 3.</text>')
    return svg(780, y + 22, rows)


def wrapped(text, width):
    lines = [""]
    for word in text.split(" "):
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def svg(width, height, rows):
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
        f"\n{STYLE}\n" + "\n".join(rows) + "\n</svg>\n")


def write():
    for name, text in pictures().items():
        (RESOURCES / name).write_text(text)


def outdated():
    """Sentences about pictures that are not those of the sources."""
    return [
        f"{name} is not current (run scripts/docs --pictures)"
        for name, text in pictures().items()
        if not (RESOURCES / name).exists() or (RESOURCES / name).read_text() != text
    ]
