"""hostile_films.py PROGRAM FOLDER COUNT [SEED]

Gives a worker program COUNT damaged copies of the films in FOLDER (see make_films.py), each for one of the conversions.
Prints how many were made, refused, and how many ended the worker or hung, of which there are to be none.
"""
import os
import pathlib
import random
import socket
import struct
import subprocess
import sys
import tempfile
import time

program, folder, count = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
numbers = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
films = [path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file() and path.stat().st_size < 200_000]
recipes = ["mp4 ", "mkv ", "measure mp4 ", "webm 64x64", "avi ", "mov rot90.2x", "mp4 200ms-1s", "still-jpeg ", "still-png 1s",
           "still-jpeg contact", "loop-gif 64x64", "loop-webp 64x64", "tracks", "track-mp4 1", "track-m4a 2", "track-srt 3",
           "hls", "segment 1", "count segment", "count still-jpeg", "ts ", "mpeg ", "amv ", "flv ", "ogv ", "mxf "]


class Worker:
    def __init__(self):
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.process = subprocess.Popen(
            ["/bin/bash", "-c", f'exec "$0" 3<&{theirs.fileno()} {theirs.fileno()}<&-', program],
            pass_fds=(theirs.fileno(),), stderr=subprocess.DEVNULL)
        theirs.close()

    def ask(self, path, recipe):
        source, output = os.open(path, os.O_RDONLY), os.memfd_create("output")
        try:
            message = struct.pack("<QQQQQQ", 1, 0, os.fstat(source).st_size, 0, 1 << 30, 0) + recipe.encode()
            is_question = recipe.startswith(("count ", "measure "))
            socket.send_fds(self.socket, [message], [source] + ([] if is_question else [output]))
            self.socket.settimeout(60)
            while True:
                answer = self.socket.recv(4096)
                if len(answer) < 24:
                    raise EOFError
                failure = struct.unpack("<Q", answer[8:16])[0]
                if failure != 256:
                    return failure
        finally:
            os.close(source)
            os.close(output)


def damaged(film):
    film = bytearray(film)
    for _ in range(numbers.choice([1, 3, 10, 40])):
        place = numbers.randrange(len(film)) if numbers.random() < .5 else numbers.randrange(min(2000, len(film)))
        what = numbers.randrange(5)
        if what == 0:
            film[place] = numbers.randrange(256)
        elif what == 1:
            film[place] ^= 1 << numbers.randrange(8)
        elif what == 2:
            film[place:place + 4] = numbers.choice([b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\xff\xff\xff", b"\x80\0\0\0"])
        elif what == 3:
            del film[place:place + numbers.randrange(1, 64)]
        else:
            film[place:place] = film[place:place + numbers.randrange(1, 64)]
    return bytes(film[:numbers.randrange(1, len(film) + 1)] if numbers.random() < .1 else film)


made = refused = 0
bad = []
worker = Worker()
with tempfile.TemporaryDirectory() as scratch:
    path = pathlib.Path(scratch, "film")
    for number in range(count):
        film = damaged(numbers.choice(films))
        recipe = numbers.choice(recipes)
        path.write_bytes(film)
        start = time.monotonic()
        try:
            failure = worker.ask(path, recipe)
            made, refused = made + (failure == 0), refused + (failure != 0)
            if failure == 5:
                print(f"{number} {recipe}: a failure of the system")
            if worker.process.poll() is not None:
                worker = Worker()
        except (EOFError, TimeoutError, OSError) as end:
            kept = pathlib.Path(tempfile.gettempdir(), f"hostile-film-{number}")
            kept.write_bytes(film)
            bad.append(recipe)
            print(f"{number} {recipe}: {type(end).__name__} after {time.monotonic() - start:.1f} s, status {worker.process.poll()}, see {kept}", flush=True)
            worker.process.kill()
            worker.process.wait()
            worker = Worker()
worker.socket.close()
worker.process.wait(20)
print(f"{made} made, {refused} refused, {len(bad)} ended the worker or hung")
