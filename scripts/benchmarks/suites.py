"""Suites of tests of other projects, as clones in $FFMOUNT_BENCH_DIR or /work/.mirror."""

import os
import subprocess
import sys
from pathlib import Path

#: What scripts keep between runs.
BASE = Path(os.environ.get("FFMOUNT_BENCH_DIR", "/var/tmp/ffmount-bench"))


def unpack(owner: str, name: str, wanted: list[str], folder: Path) -> None:
    """Parts of a clone of github.com/OWNER/NAME, or all of it, in `folder`."""
    places = [BASE / name, Path(f"/work/.mirror/{owner}+{name}/repo")]
    clone = next((place for place in places if place.is_dir()), None)
    if clone is None:
        sys.exit(f"{sys.argv[0]}: clone {name} ({owner}/{name} on GitHub) to {places[0]}")
    files = subprocess.run(["git", "-C", clone, "archive", "HEAD", *wanted], stdout=subprocess.PIPE, check=True)
    subprocess.run(["tar", "x", "-C", folder], input=files.stdout, check=True)
