"""hostile_sounds.py FFMEDIA [COUNT] [FOLDER]: COUNT (300) damaged sounds, of make_sounds.py's and of FOLDER's files.

None may end the worker, hang, fail without a sentence, or have another size than was told before; nor may it take more memory
than the daemon lets it have. Prints how many were made and refused.
"""
import pathlib
import random
import sys
import tempfile
import time

import make_sounds
from worker import Worker

program = sys.argv[1]
wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 300
numbers = random.Random(5)
scratch = tempfile.TemporaryDirectory()
place = pathlib.Path(scratch.name)
RECIPES = ["wav ", "measure wav ", "aiff mono", "caf 22050hz", "wav 500ms-1s", "mp3 ", "measure mp3 ", "opus ", "m4a ", "flac ", "ogg mono",
           "wav 2x", "mka ", "oga ", "measure oga ", "waveform waveform", "still-jpeg ", "part 70001 30000 wav "]  # fmt: skip
#: What the daemon allows, in KiB.
MOST = 1 << 20
worker = Worker(program)
largest = slowest = made = refused = replaced = 0
bad = []


def damaged(content: bytes) -> bytes:
    content = bytearray(content)
    for _ in range(numbers.choice([1, 2, 5, 20])):
        # Heads are more rewarding.
        at = numbers.randrange(min(len(content), numbers.choice([64, 700, len(content)])))
        kind = numbers.randrange(5)
        if kind == 0:
            content[at] ^= 1 << numbers.randrange(8)
        elif kind == 1:
            content[at] = numbers.choice([0, 1, 0x7F, 0x80, 0xFF])
        elif kind == 2:
            content[at:at + 4] = numbers.choice([b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff", b"\x80\0\0\0"])
        elif kind == 3:
            del content[at:at + numbers.randrange(1, 64)]
        else:
            content[at:at] = content[at:at + numbers.randrange(1, 64)]
        content = content or bytearray(b"\0")
    return bytes(content[:numbers.randrange(1, len(content) + 1)] if numbers.random() < 0.1 else content)


def peak() -> int:
    """In KiB; 0 when it has ended."""
    lines = pathlib.Path(f"/proc/{worker.process.pid}/status").read_text().split("VmHWM:")
    return int(lines[1].split("kB")[0]) if len(lines) > 1 else 0


files = make_sounds.make(place / "sources", 1 if wanted > 300 else 4)
if len(sys.argv) > 3:
    ends = {path.suffix for path in files} | {".ape", ".mpc", ".tak", ".dsf", ".dff", ".amr", ".aif", ".m4b", ".ra"}
    files += [path for path in sorted(pathlib.Path(sys.argv[3]).rglob("*")) if path.suffix.lower() in ends and path.is_file()]
samples = [(path.name, content) for path in files if 0 < len(content := path.read_bytes()) < 1 << 20]
told = None
for index in range(wanted):
    name, content = samples[index % len(samples)]
    recipe = numbers.choice(RECIPES)
    path = place / "sound"
    path.write_bytes(damaged(content))
    before = time.monotonic()
    try:
        try:
            failure, size, said, _ = worker.ask(path, recipe)
        except (BrokenPipeError, ConnectionResetError):
            # One that has kept too much ends by itself between two jobs.
            replaced += 1
            worker = Worker(program)
            failure, size, said, _ = worker.ask(path, recipe)
        if failure == 0 and recipe.startswith("measure ") and size:
            refusal, came, _, _ = worker.ask(path, recipe.removeprefix("measure "))
            if refusal == 0 and came != size:
                bad.append(f"{name}, {recipe}: {size} bytes were told, and {came} came")
        if failure and not said:
            bad.append(f"{name}, {recipe}: fails without a sentence")
        made, refused = made + (failure == 0), refused + (failure != 0)
        largest = max(largest, peak())
    except (EOFError, TimeoutError, OSError) as end:
        kept = pathlib.Path(tempfile.gettempdir(), f"hostile-sound-{index}")
        kept.write_bytes(path.read_bytes())
        bad.append(f"{name}, {recipe}: {type(end).__name__} after {time.monotonic() - before:.1f} s, see {kept}")
        worker.process.kill()
        worker.process.wait()
        worker = Worker(program)
    slowest = max(slowest, time.monotonic() - before)
if largest > MOST:
    bad.append(f"{largest} KiB")
print("\n".join(bad), flush=True)
print(f"{made} made, {refused} refused, {replaced} workers replaced; the slowest took {slowest:.1f} s, the largest {largest >> 10} MiB")
sys.exit(worker.close() or len(bad) > 0)
