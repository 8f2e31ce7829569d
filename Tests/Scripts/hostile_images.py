"""hostile_images.py FFCONVERT [COUNT]: images of all formats that lie, and COUNT (300) mutations of good ones.

A worker may die of a file, which costs its job only; it must answer in time, and take no more memory than the daemon lets
it have. Prints how many jobs ended how.
"""
import random
import struct
import sys
import tempfile
import time
from pathlib import Path

import check_matrix
from worker import Worker

program = sys.argv[1]
wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 300
numbers = random.Random(11)
folder = tempfile.TemporaryDirectory()
place = Path(folder.name) / "file"
counts = {"made": 0, "refused": 0, "died": 0, "replaced": 0}
#: What the daemon allows, in KiB.
most = 1 << 20
worker = Worker(program)
slowest = largest = 0


def peak() -> int:
    """In KiB; 0 when it has ended by itself, as one does that has kept too much."""
    lines = Path(f"/proc/{worker.process.pid}/status").read_text().split("VmHWM:")
    return int(lines[1].split("kB")[0]) if len(lines) > 1 else 0


def ask(content: bytes, recipe: str, what: str, timeout: float = 60) -> tuple | None:
    global worker, slowest, largest
    place.write_bytes(content)
    before = time.monotonic()
    answer = None
    while not answer:
        try:
            answer = worker.ask(place, recipe, timeout=timeout)
        except (BrokenPipeError, ConnectionResetError):
            counts["replaced"] += 1
            worker = Worker(program)
        except EOFError as error:
            counts["died"] += 1
            print(f"{what}, {recipe}: {error}")
            worker = Worker(program)
            return None
    slowest = max(slowest, time.monotonic() - before)
    largest = max(largest, peak())
    counts["refused" if answer[0] else "made"] += 1
    assert answer[0] == 0 or answer[2], f"{what}: fails without a sentence"
    return answer


#: Headers that claim 60,000 by 60,000 pixels, and what follows them.
side = 60_000
huge = {
    "tga": bytes([0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0]) + struct.pack("<HHBB", side, side, 24, 0) + b"\xff\1\2\3" * 900,
    "qoi": b"qoif" + struct.pack(">IIBB", side, side, 4, 0) + b"\xfd" * 9000 + bytes(7) + b"\1",
    "psd": b"8BPS\0\1" + bytes(6) + struct.pack(">HIIHH", 3, side // 2, side // 2, 8, 3) + bytes(12) + b"\0\1" + bytes(9000),
    "ras": struct.pack(">8I", 0x59A66A95, side, side, 24, 0, 2, 0, 0) + b"\x80\xff\0" * 900,
    "sgi": struct.pack(">HBBHHHH", 474, 1, 1, 3, side, side, 3).ljust(512, b"\0") + bytes(9000),
    "xwd": struct.pack(">25I", 100, 7, 2, 24, side, side, 0, 0, 32, 0, 32, 32, 4 * side, 5, 0xFF0000, 0xFF00, 0xFF, 8, 0, 0,
                       side, side, 0, 0, 0) + bytes(9000),
    "pcx": bytes([10, 5, 1, 8, 0, 0, 0, 0]) + struct.pack("<HH", side - 1, side - 1) + bytes(53) + struct.pack("<BH", 3, side)
           + bytes(58) + b"\xff\0" * 900,
    "dds": b"DDS " + struct.pack("<7I", 124, 0x1007, side, side, 4 * side, 0, 0) + bytes(44)
           + struct.pack("<8I", 32, 0x41, 0, 32, 0xFF0000, 0xFF00, 0xFF, 0xFF000000) + bytes(20) + bytes(9000),
    "xbm": f"#define a_width {side}\n#define a_height {side}\nstatic char a_bits[] = {{\n 0x00,".encode() * 2,
    "xpm": f'/* XPM */\nstatic char *a[] = {{\n"{side} {side} 2 1",\n"a c #000000",\n"b c #ffffff",\n'.encode() + b'"' + b"a" * 9000,
    "pam": f"P7\nWIDTH {side}\nHEIGHT {side}\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n".encode() + bytes(9000),
    "pfm": f"PF\n{side} {side}\n-1.0\n".encode() + bytes(9000),
    "fits": b"".join(card.ljust(80).encode() for card in (
        "SIMPLE  =                    T", "BITPIX  =                    8", "NAXIS   =                    2",
        f"NAXIS1  = {side:20}", f"NAXIS2  = {side:20}", "END")).ljust(2880, b" ") + bytes(2880),
    "hdr": f"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {side} +X {side}\n".encode() + b"\2\2\xea\x60" + b"\xff\0" * 900,
    "ppm": f"P6 {side} {side} 255\n".encode() + bytes(9000),
    "bmp": b"BM" + struct.pack("<IHHIIiiHHIIiiII", 0, 0, 0, 54, 40, side, side, 1, 24, 0, 0, 0, 0, 0, 0) + bytes(9000),
    "gif": b"GIF89a" + struct.pack("<HHBBB", side, side, 0x80, 0, 0) + bytes(6) + b"," + struct.pack("<HHHHB", 0, 0, side, side, 0)
           + b"\2\2\x4c\1\0;",
    "ico": struct.pack("<HHHBBBBHHII", 0, 1, 1, 0, 0, 0, 0, 1, 32, 9000, 22)
           + struct.pack("<IiiHHIIiiII", 40, side, 2 * side, 1, 32, 0, 0, 0, 0, 0, 0) + bytes(9000),
}
for kind, content in huge.items():
    answer = ask(content, "png 100px", f"a huge {kind}", timeout=60)
    assert answer and answer[0], f"a huge {kind}: {answer and answer[:3]}"
# Small frames on a large canvas, of which each is as large as that when it is made.
frame = b"!\xf9\4\0\1\0\0\0," + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\2\2\x4c\1\0"
for count, width, reason in ((4097, 1, "has more than 4096 frames"), (1100, 1000, "has 1100 frames of 1000 × 1000 pixels"),
                             (3, 1000, None)):
    moving = b"GIF89a" + struct.pack("<HHBBB", width, width, 0x80, 0, 0) + bytes(6) + frame * count + b";"
    answer = ask(moving, "webp ", f"{count} frames", timeout=60)
    assert answer and (reason in answer[2] if reason else answer[0] == 0), f"{count} frames: {answer and answer[:3]}"
for words in ("40x30", "100000x100000", "1x1"):
    ask(bytes(1799), f"png {words}", "short planes")

check_matrix.worker = worker
samples = [(one.path.name, one.path.read_bytes(), one.words) for one in check_matrix.sources(worker)]
for index in range(wanted):
    name, content, words = samples[index % len(samples)]
    mutated = bytearray(content)
    for _ in range(numbers.choice([1, 1, 2, 4, 16])):
        # Headers are more rewarding.
        at = numbers.randrange(min(len(mutated), numbers.choice([64, 600, len(mutated)])))
        kind = numbers.randrange(5)
        if kind == 0:
            mutated[at] ^= 1 << numbers.randrange(8)
        elif kind == 1:
            mutated[at] = numbers.choice([0, 1, 0x7F, 0x80, 0xFF])
        elif kind == 2:
            mutated[at:at + 4] = numbers.choice([b"\xff" * 4, b"\x7f\xff\xff\xff", b"\0\0\xea\x60", b"\x60\xea\0\0"])
        elif kind == 3:
            del mutated[at:at + numbers.randrange(1, 40)]
        else:
            mutated[at:at] = mutated[at:at + numbers.randrange(1, 40)]
        if not mutated:
            mutated = bytearray(b"\0")
    if numbers.random() < 0.1:
        mutated = mutated[:numbers.randrange(1, len(mutated) + 1)]
    recipe = numbers.choice(["jpeg ", "png 100px", "jpeg 16:9.gray", "webp frame1"])
    ask(bytes(mutated), recipe if not words else f"png {words}", name)
assert largest <= most, f"{largest} KiB"
print(f"{counts}, the slowest took {slowest:.1f} s, the largest {largest >> 10} MiB")
sys.exit(worker.close() or counts["died"] > 0)
