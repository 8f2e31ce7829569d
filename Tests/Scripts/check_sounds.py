"""check_sounds.py FFMEDIA [all]: every format of sound that is read into every one that is written.

Sources are made by other programs (make_sounds.py); results are read by others still (ffprobe, mediainfo, sox, ffmpeg): each
opens, is as long as the source to a packet of its coding, as loud to a tenth of a decibel, has its tags and cover where both
formats have a place for them, and as many bytes as were told before it was made. Then the sizes that are told of plain
samples, MP3 and Opus, of a set of rates, channels and lengths. Without `all`: some targets of some sources, and some sizes.
Prints a line for each result that is wrong, and how many there were.
"""
import array
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile
from collections import Counter

import make_sounds
from worker import Worker

#: Samples of a packet, by which a result may be longer: what decoders add is not said everywhere. At 44,100 Hz.
PLAIN = {"wav": 0, "aiff": 0, "au": 0, "caf": 0, "w64": 0, "flac": 0, "wv": 0, "voc": 0, "ircam": 0}
CODED = {"mp3": 1, "opus": 1, "oga": 1, "mka": 1152, "ogg": 1, "m4a": 1024, "aac": 2048, "ac3": 1792, "dts": 1024, "mp2": 1633,
         "wma": 4096, "spx": 1764, "gsm": 882, "amr": 240, "awb": 480}  # fmt: skip
TARGETS = PLAIN | CODED
#: What sox reads here of what is written.
SOX = {"wav", "aiff", "au", "caf", "w64", "flac", "voc", "ircam", "mp3", "ogg", "gsm", "mp2", "wv"}
TAGGED = {"wav", "aiff", "caf", "flac", "wv", "mp3", "opus", "oga", "ogg", "mka", "m4a", "wma", "spx", "au"}
#: They come out of FFmpeg's readers; of AU and CAF only in part.
UNTAGGED_SOURCES = {".ircam", ".voc", ".w64", ".gsm", ".ac3", ".eac3", ".dts", ".aac", ".mp2", ".au", ".rm", ".tta", ".caf"}
COVERED = {"mp3", "m4a", "flac", "ogg", "opus", "oga", "mka", "aiff", "wav"}
#: What a coding may be louder or quieter, in dB: what telephones make of tones is less of them.
LOUDNESS = dict.fromkeys(TARGETS, 0.1) | {"gsm": 1.4, "amr": 1.4, "awb": 1.4}

folder = tempfile.TemporaryDirectory()
place = pathlib.Path(folder.name)


def run(*words: object) -> bytes:
    done = subprocess.run([str(word) for word in words], capture_output=True, timeout=60)
    if done.returncode:
        raise ValueError(f"{words[0]}: {done.stderr.decode(errors='replace').strip()[-200:]}")
    return done.stdout


class Sound:
    """What FFmpeg makes of a file: its length in seconds, and how loud it is in the mean of its channels, in dB."""

    def __init__(self, path: pathlib.Path) -> None:
        said = json.loads(run("ffprobe", "-v", "error", "-of", "json", "-show_streams", "-show_format", path))
        self.sound = next(stream for stream in said["streams"] if stream["codec_type"] == "audio")
        self.cover = any(stream["codec_type"] == "video" for stream in said["streams"])
        tags = said["format"].get("tags", {}) | self.sound.get("tags", {})
        self.tags = {name.lower(): value for name, value in tags.items()}
        rate = int(self.sound["sample_rate"])
        channels = int(self.sound["channels"])
        # FFmpeg 7's own decoder of Speex returns wideband frames twice as long as they are.
        decoder = ["-c:a", "libspeex"] if self.sound["codec_name"] == "speex" else []
        raw = array.array("f", run("ffmpeg", "-nostdin", "-v", "error", *decoder, "-i", path, "-map", "0:a:0", "-f", "f32le", "-"))
        self.length = len(raw) / channels / rate
        # Without the ends, where a coding's padding is.
        middle = raw[rate * channels // 4:-rate * channels // 4]
        self.loudness = 10 * math.log10(sum(value * value for value in middle) / max(1, len(middle)) + 1e-12)


def faults(kind: str, source: Sound, origin: pathlib.Path, path: pathlib.Path) -> list[str]:
    """What is wrong with a result."""
    found = []
    made = Sound(path)
    # The source's own padding is cut, where the container says it, which FFmpeg's program does not always do.
    rate = int(made.sound["sample_rate"])
    slack = (TARGETS[kind] + (2048 if origin.suffix in (".m4a", ".mka", ".spx", ".wma", ".rm") else 0)) / min(rate, 44100)
    if abs(made.length - source.length) > slack + 2 / 8000:
        found.append(f"{made.length:.4f} s instead of {source.length:.4f}")
    if abs(made.loudness - source.loudness) > LOUDNESS[kind] + (0.05 if origin.suffix in (".gsm", ".spx") else 0):
        found.append(f"{made.loudness - source.loudness:+.2f} dB")
    if kind in TAGGED and origin.suffix not in UNTAGGED_SOURCES and source.tags.get("title"):
        for name in ("title",) if kind in ("au", "aiff", "caf") else make_sounds.TAGS:
            if name in source.tags and made.tags.get(name) != source.tags[name]:
                found.append(f"{name} is {made.tags.get(name)}")
    if kind in COVERED and source.cover and not made.cover:
        found.append("has no cover")
    if kind in SOX:
        length = len(run("sox", path, "-t", "s16", "-")) / 2 / int(made.sound["channels"]) / rate
        if abs(length - source.length) > slack + 4096 / rate:
            found.append(f"sox reads {length:.4f} s")
    return found


def known_to_mediainfo(paths: list[pathlib.Path]) -> set[str]:
    said = json.loads(run("mediainfo", "--Output=JSON", *paths))
    files = said if isinstance(said, list) else [said]
    return {file["media"]["@ref"] for file in files if any(track["@type"] == "Audio" for track in file["media"]["track"])}


def check_matrix(worker: Worker, isAll: bool) -> tuple[int, int]:
    wrong, counts = 0, Counter()
    results = []
    kinds = sorted(TARGETS)
    for index, origin in enumerate(make_sounds.make(place / "sources", 1 if isAll else 5)):
        source = Sound(origin)
        for kind in kinds if isAll else kinds[index % 8::8]:
            _, told, _, _ = worker.ask(origin, f"measure {kind} ")
            failure, size, said, content = worker.ask(origin, f"{kind} ")
            counts[kind] += 1
            problems = [said] if failure else []
            if not failure:
                path = place / f"{origin.stem}-{origin.suffix[1:]}.{kind}"
                path.write_bytes(content)
                results.append(path)
                if told not in (0, size):
                    problems.append(f"{told} bytes were told, and {size} came")
                if told == 0 and kind in ("wav", "aiff", "au", "caf", "w64", "mp3", "opus", "oga") and origin.suffix != ".wma":
                    problems.append("no size was told")
                # A coding that has no such rate or channels says so; nothing is damaged.
                if any(word in said for word in ("damaged", "silent", "ends after", "lacks")):
                    problems.append(said)
                try:
                    problems += faults(kind, source, origin, path)
                except (ValueError, StopIteration) as error:
                    problems.append(str(error))
            wrong += bool(problems)
            if problems:
                print(f"{origin.name} as {kind}: {'; '.join(problems)}", flush=True)
    # It knows none of these: one has no head, the others it does not read, nor WavPack with 8000 Hz.
    seen = known_to_mediainfo(results)
    for path in results:
        if str(path) not in seen and path.suffix not in (".gsm", ".ircam", ".voc", ".caf", ".au", ".w64") and path.name != "a-gsm.wv":
            wrong += 1
            print(f"{path.name}: mediainfo sees no sound")
    return sum(counts.values()), wrong


def check_sizes(worker: Worker, isAll: bool) -> tuple[int, int]:
    """Sizes that are told of files of a rate, channels and samples are those that come."""
    rates = [8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 88200, 96000, 7919, 192000]
    lengths = [1, 2, 7, 479, 480, 575, 576, 577, 1151, 1152, 1153, 1728, 4095, 4097, 10007, 44100]
    count = wrong = 0
    for rate in rates if isAll else rates[::6]:
        for channels in [1, 2, 3, 4, 5, 6, 8] if isAll else [1, 6]:
            for length in lengths if isAll else lengths[::7]:
                path = place / "size.wav"
                data = bytes(2 * channels * length)
                head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 1, channels, rate,
                                   2 * rate * channels, 2 * channels, 16, b"data", len(data))  # fmt: skip
                path.write_bytes(head + data)
                words = ["wav ", "aiff ", "au 24bit", "caf mono", "w64 32bit", "wav 44100hz", "mp3 ", "mp3 96k.mono", "opus "]
                for recipe in words if channels <= 2 else words[:6]:
                    _, told, reason, _ = worker.ask(path, f"measure {recipe}")
                    failure, size, said, _ = worker.ask(path, recipe)
                    count += 1
                    if failure or told != size:
                        wrong += 1
                        print(f"{recipe} of {length} samples, {channels} channels, {rate} Hz: {told} {reason}, then {size} {said}")
    return count, wrong


def main() -> int:
    worker = Worker(sys.argv[1])
    isAll = "all" in sys.argv[2:]
    results, wrong = check_matrix(worker, isAll)
    print(f"{len(make_sounds.SOURCES)} sources, {len(TARGETS)} formats, {results} results, {wrong} wrong")
    sizes, others = check_sizes(worker, isAll)
    print(f"{sizes} sizes, {others} wrong")
    return worker.close() or wrong + others > 0


if __name__ == "__main__":
    sys.exit(main())
