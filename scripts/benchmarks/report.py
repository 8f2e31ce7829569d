"""Results as a table to read and as JSON to keep."""

import os
import platform
import time
from dataclasses import asdict

from .measure import Sample
from .rows import Results, Row

MEGABYTE = 1e6


def ratios(row: Row, ours: Sample, theirs: Sample) -> dict[str, float]:
    """What we need for one of theirs: below 1 we are ahead."""
    found = {}
    pairs = {
        "wall": (ours.wall, theirs.wall),
        "cpu": (_cpu(row, ours), _cpu(row, theirs)),
        "peak": (ours.peak, theirs.peak),
    }
    for name, (mine, other) in pairs.items():
        if mine is not None and other:
            found[name] = mine / other
    return found


def table(results: Results, us: str, small: bool) -> str:
    heading = ["", "", "wall", "daemon CPU", "client CPU", "peak MB", "anon MB", "kept MB", "wall ×", "CPU ×", "peak ×"]
    lines = [heading]
    notes = []
    for row in results.rows.values():
        ours = results.median(row.name, us)
        title = row.name
        for name in dict.fromkeys(results.contestants(row.name)):
            sample = results.median(row.name, name)
            if sample is None:
                lines.append([title, name, *["–"] * 9])
                notes.append(f"{row.name}, {name}: {results.failures.get((row.name, name))}")
            else:
                ratio = ratios(row, ours, sample) if ours and name != us else {}
                lines.append(
                    [
                        title,
                        name,
                        _time(sample.wall, row.unit),
                        _time(sample.daemon_cpu, "s"),
                        _time(sample.client_cpu, row.unit),
                        _number(sample.peak, MEGABYTE, 1),
                        _number(sample.anonymous, MEGABYTE, 1),
                        _number(sample.kept, MEGABYTE, 1),
                        *(_number(ratio.get(key), 1, 2) for key in ("wall", "cpu", "peak")),
                    ]
                )
            title = ""
    widths = [max(len(line[column]) for line in lines) for column in range(len(heading))]
    text = ""
    for line in lines:
        if line[0] and line is not heading:
            text += "\n"
        cells = [
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths))
        ]
        text += "  ".join(cells).rstrip() + "\n"
    text += f"\nMedians. × is {us} for one of the other's: below 1 it is ahead. – is no figure.\n"
    if small:
        text += "The inputs are a fiftieth of what the names say.\n"
    return text + "".join(f"– {note}\n" for note in notes)


def document(results: Results, us: str, benchmark: str, rounds: int, small: bool, versions: dict, load: float) -> dict:
    """The results for `scripts/make/figures`. `load` is that of the machine before the run."""
    rows = []
    for row in results.rows.values():
        ours = results.median(row.name, us)
        contestants = {}
        for name in dict.fromkeys(results.contestants(row.name)):
            sample = results.median(row.name, name)
            if sample is None:
                contestants[name] = {"failure": results.failures.get((row.name, name))}
                continue
            contestants[name] = asdict(sample) | {
                "walls": [each.wall for each in results.samples[row.name, name]],
                "ratio": ratios(row, ours, sample) if ours and name != us else {},
            }
        rows.append({"row": row.name, "contestants": contestants})
    return {
        "benchmark": benchmark,
        "rounds": rounds,
        "small": small,
        "units": "seconds and bytes",
        "date": time.strftime("%Y-%m-%d"),
        "machine": {"load": load, "cpus": os.cpu_count(), "kernel": platform.release(), "architecture": platform.machine()},
        "versions": versions,
        "rows": rows,
    }


def _cpu(row: Row, sample: Sample) -> float | None:
    # A client's mean cannot be added to the daemon's total.
    return None if row.unit == "µs" else sample.client_cpu + (sample.daemon_cpu or 0)


def _time(seconds: float | None, unit: str) -> str:
    if seconds is None:
        return "–"
    return f"{seconds * 1e6:.1f} µs" if unit == "µs" else f"{seconds:.3f}"


def _number(value: float | None, divisor: float, digits: int) -> str:
    return "–" if value is None else f"{value / divisor:.{digits}f}"
