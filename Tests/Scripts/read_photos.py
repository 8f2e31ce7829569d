"""read_photos.py FFSCAN FOLDER: the share of characters read wrongly in photos of Tests/Scripts/photographed_text.py.

Prints a row for each kind of photo: errors, and seconds of the processor.
"""
import statistics
import sys
from pathlib import Path

from worker import Worker

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from benchmarks.ocr import share_wrong  # noqa: E402

worker = Worker(sys.argv[1])
rows = {}
for photo in sorted(Path(sys.argv[2]).glob("*.jpg")):
    known = " ".join(photo.with_suffix(".txt").read_text().split())
    before = worker.cpu()
    failure, _, remark, text = worker.ask(str(photo), "recognized eng", timeout=300)
    seconds = (worker.cpu() - before) / 1000
    wrong = share_wrong(known, text.decode()) if not failure else 1.0
    kind = photo.stem.rpartition("-")[0]
    rows.setdefault(kind, []).append((wrong, seconds))
    if "-v" in sys.argv:
        print(f"{photo.name}: {wrong:.2%} of {len(known)}, {seconds:.1f} s {remark}", flush=True)
for kind, values in rows.items():
    wrong, seconds = zip(*values)
    print(f"{kind:12} {len(values):3} pictures {statistics.fmean(wrong):8.2%} wrong {statistics.fmean(seconds):6.2f} s")
