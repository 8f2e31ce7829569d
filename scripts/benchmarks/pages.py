"""Pages in photos: how exactly they are found in photos whose corners are known, and how long a clean page takes."""

import json
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The acceptance limits: the overlap that counts as found, the share of photos with it, the share of photos of nothing but
# paper that are left whole, and seconds of CPU from a photo of 12 megapixels to a clean page.
LIMITS = {"overlap": 0.95, "found": 0.95, "whole": 0.95, "seconds": 1.0}
# No photo of this seed was looked at when the search was made.
SEED = 2000


def run(base: Path, small: bool) -> tuple[str, dict, bool]:
    """The table, the figures, and whether they are within the limits."""
    program = build()
    folder = photos(base / f"pages-{'small' if small else 'full'}", ["--each", "4" if small else "50"])
    known = json.loads((folder / "pages.json").read_text())
    found = {Path(line["file"]).name: line for line in told([program, *sorted(folder.glob("*.jpg"))])}
    results = {}
    for kind in dict.fromkeys(page["kind"] for page in known.values()):
        names = [name for name, page in known.items() if page["kind"] == kind]
        overlaps = [overlap(found[name]["page"], known[name]["corners"]) for name in names]
        results[kind] = {
            "photos": len(names),
            "found": sum(value >= LIMITS["overlap"] for value in overlaps),
            "none": sum(found[name]["page"] is None for name in names),
            "median overlap": round(statistics.median(overlaps), 4),
            "milliseconds": round(1000 * statistics.median(found[name]["find"] for name in names), 1),
        }
    whole = results.pop("whole")
    photographs, hits = (sum(kind[key] for kind in results.values()) for key in ("photos", "found"))
    results["all"] = {"photos": photographs, "found": hits}
    results["whole"] = {"photos": whole["photos"], "none": whole["none"]}
    results["clean"] = large(base, program)
    holds = (
        hits >= LIMITS["found"] * photographs
        and whole["none"] >= LIMITS["whole"] * whole["photos"]
        and all(page["seconds"] <= LIMITS["seconds"] for page in results["clean"].values())
    )
    return table(results), results, holds


def build() -> Path:
    """The release program that finds pages in files."""
    script = '. "$0/scripts/lib.sh" && need_swift && swift build -c release --package-path "$0" --product findpages >&2'
    script += ' && swift build -c release --package-path "$0" --show-bin-path'
    made = subprocess.run(["bash", "-euc", script, ROOT], stdout=subprocess.PIPE, text=True)
    if made.returncode != 0:
        sys.exit("bench: findpages does not build")
    return Path(made.stdout.strip()) / "findpages"


def photos(folder: Path, options: list[str]) -> Path:
    """Photos that are made once."""
    if not (folder / "pages.json").exists():
        print(f"making {folder}", file=sys.stderr)
        script = ROOT / "Tests" / "Scripts" / "photographed_pages.py"
        subprocess.run(["/usr/bin/python3", script, folder, "--seed", str(SEED), *options], check=True)
    return folder


def told(command: list) -> list[dict]:
    output = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    return [json.loads(line) for line in output.splitlines()]


def large(base: Path, program: Path) -> dict:
    """Photos of 12 megapixels to clean pages: one of a page on a table, and one of paper only, which is cleaned as a whole."""
    folder = photos(base / "pages-12m", ["--each", "1", "--width", "4000", "--kind", "homography", "--kind", "whole"])
    made = {}
    for name in ("colour", "bw"):
        for line in told([program, "--clean", name, folder, folder / "homography-000.jpg", folder / "whole-000.jpg"]):
            seconds = sum(line[step] for step in ("read", "find", "clean", "write"))
            kind = Path(line["file"]).stem.partition("-")[0]
            made[f"{kind}, {name}"] = {"seconds": round(seconds, 3), "bytes": line["bytes"], "size": line["size"]}
    return made


def overlap(page: list | None, truth: list) -> float:
    """The intersection of two convex quadrilaterals by their union; 0 for none."""
    if page is None or not truth:
        return 0.0
    shared = [tuple(corner) for corner in page]
    for (ax, ay), (bx, by) in zip(truth, truth[1:] + truth[:1]):
        clipped = []
        for p, q in zip(shared, shared[1:] + shared[:1]):
            inside, next_inside = ((bx - ax) * (y - ay) - (by - ay) * (x - ax) for x, y in (p, q))
            if inside >= 0:
                clipped.append(p)
            if (inside >= 0) != (next_inside >= 0):
                t = inside / (inside - next_inside)
                clipped.append((p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])))
        shared = clipped
    both = area(shared)
    return both / (area(page) + area(truth) - both)


def area(corners: list) -> float:
    return abs(sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in zip(corners, corners[1:] + corners[:1]))) / 2


def table(results: dict) -> str:
    lines = [f"| photos | number | overlap ≥ {LIMITS['overlap']} | left whole | median overlap | search, ms |", "|---|--:|--:|--:|--:|--:|"]
    for name, kind in results.items():
        if name != "clean":
            cells = ["" if name == "whole" and key == "found" else kind.get(key, "") for key in ("photos", "found", "none", "median overlap", "milliseconds")]
            lines.append(f"| {name} | {' | '.join(map(str, cells))} |")
    lines.append("")
    for name, page in results["clean"].items():
        wide, high = page["size"]
        made = f"{wide} × {high} pixels, {page['bytes']} bytes"
        lines.append(f"12 megapixels, {name}: {page['seconds']} s of CPU, {made}")
    return "\n".join(lines)
