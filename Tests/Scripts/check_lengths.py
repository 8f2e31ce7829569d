"""check_lengths.py FFMEDIA [few | all]: every coding of sound in every container, and how many samples come of it.

FFmpeg writes each coding in each container at each rate that it can, and mkvmerge puts what it takes into Matroska. Of each
file as many samples have to come as FFmpeg's own program decodes: exactly as plain samples (WAV), FLAC, MP3 and Opus, to a
packet of the coding in the sound track of a film. A result of another length has to say so. Without `all`: files among which
each coding, container and rate is, and those that once had wrong lengths; `few` of them have each coding and each container.
Sounds of one packet, sounds that start late and joined ones follow. Prints a line for each result that is wrong, and how many there were.
"""
import array
import concurrent.futures
import json
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections import Counter

from worker import Worker

CODINGS = [
    "aac", "ac3", "adpcm_ima_qt", "adpcm_ima_wav", "adpcm_ms", "adpcm_swf", "adpcm_yamaha", "alac", "dca", "eac3", "flac", "g722",
    "g723_1", "g726", "libcodec2", "libgsm", "libgsm_ms", "libmp3lame", "libopencore_amrnb", "libopus", "libspeex", "libvo_amrwbenc",
    "libvorbis", "mlp", "mp2", "nellymoser", "pcm_alaw", "pcm_bluray", "pcm_dvd", "pcm_f32le", "pcm_mulaw", "pcm_s16be", "pcm_s16le",
    "pcm_s24le", "pcm_u8", "real_144", "s302m", "truehd", "tta", "wavpack", "wmav1", "wmav2",
]  # fmt: skip
#: FFmpeg's muxers, and the extension of their files.
CONTAINERS = {
    "ac3": "ac3", "adts": "aac", "aiff": "aiff", "amr": "amr", "asf": "wma", "au": "au", "avi": "avi", "caf": "caf", "dts": "dts",
    "eac3": "eac3", "flac": "flac", "flv": "flv", "gsm": "gsm", "ipod": "m4a", "ircam": "ircam", "matroska": "mka", "mlp": "mlp", "mov": "mov",
    "mp2": "mp2", "mp3": "mp3", "mp4": "mp4", "mpegts": "ts", "mxf": "mxf", "nut": "nut", "ogg": "ogg", "opus": "opus", "rm": "rm",
    "spx": "spx", "swf": "swf", "3gp": "3gp", "truehd": "thd", "tta": "tta", "vob": "vob", "voc": "voc", "w64": "w64", "wav": "wav",
    "webm": "webm", "wv": "wv",
}  # fmt: skip
RATES = [8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000, 88200, 96000]
#: What containers without a name for what is in them are for.
ALONE = {
    "ac3": {"ac3"}, "adts": {"aac"}, "amr": {"libopencore_amrnb", "libvo_amrwbenc"}, "dts": {"dca"}, "eac3": {"eac3"}, "flac": {"flac"},
    "gsm": {"libgsm"}, "mlp": {"mlp"}, "mp2": {"mp2"}, "mp3": {"libmp3lame"}, "spx": {"libspeex"}, "truehd": {"truehd"}, "tta": {"tta"},
    "wv": {"wavpack"}, "opus": {"libopus"}, "mpegts": {"aac", "ac3", "dca", "eac3", "libmp3lame", "libopus", "mp2", "s302m", "truehd"},
    "vob": {"ac3", "dca", "libmp3lame", "mp2", "pcm_dvd"}, "rm": {"ac3", "aac", "real_144"},
}  # fmt: skip
#: Files among which each coding, container and rate is that FFmpeg 5.1 writes, and those that once had wrong lengths.
SAMPLE = {
    "aac": "matroska@48000 flv@44100 adts@96000 3gp@24000", "ac3": "ac3@48000 rm@32000 ipod@32000", "adpcm_ima_qt": "aiff@32000 caf@88200",
    "adpcm_ima_wav": "mov@96000 caf@44100", "adpcm_ms": "nut@88200 caf@16000", "adpcm_swf": "asf@44100 flv@22050",
    "adpcm_yamaha": "avi@96000 wav@96000", "alac": "ipod@8000 mp4@11025 matroska@16000 caf@24000", "dca": "matroska@48000 dts@11025 avi@44100", "eac3": "eac3@48000",
    "flac": "caf@48000 asf@44100 avi@48000 nut@48000", "g722": "au@22050 wav@22050", "g723_1": "w64@8000 wav@8000", "g726": "avi@32000 wav@88200",
    "libgsm": "gsm@22050 caf@8000", "libgsm_ms": "wav@44100 caf@24000", "libmp3lame": "mp3@16000 mpegts@8000",
    "libopus": "caf@48000 opus@24000 webm@24000", "libspeex": "spx@16000 ogg@32000", "libvorbis": "matroska@48000 webm@32000 ogg@22050 avi@44100",
    "mlp": "mlp@96000", "mp2": "mp2@24000 vob@44100 mpegts@32000", "nellymoser": "flv@11025 mov@22050", "pcm_alaw": "voc@11025 au@22050 flv@44100", "pcm_dvd": "vob@48000",
    "pcm_f32le": "mov@16000 ircam@88200", "pcm_mulaw": "nut@96000 voc@11025", "pcm_s16be": "au@11025 aiff@88200",
    "pcm_s16le": "aiff@48000 ircam@16000", "pcm_s24le": "ircam@22050 caf@16000", "pcm_u8": "voc@88200 aiff@11025",
    "real_144": "rm@8000 matroska@8000", "truehd": "truehd@88200 mpegts@96000 mp4@48000", "tta": "tta@11025", "wavpack": "wv@8000 nut@16000",
    "wmav1": "w64@32000 wav@24000", "wmav2": "wav@24000 w64@44100 avi@48000",
}  # fmt: skip
#: Known defects: FFmpeg writes all of AAC in RealMedia at the time 0, and then does not find its start again; it takes the
#: delay of Opus for samples of another rate where MP4 counts at one; and its encoder of FLAC knows no rate such as 90,909 Hz.
KNOWN = re.compile(r"aac-\d+\.rm: wav|libopus-(8000|12000|16000|24000)\.(mp4|mov): mka|pcm_u8-88200\.voc: flac")
#: What mkvmerge takes into Matroska.
MERGED = {"aac", "ac3", "alac", "caf", "dts", "eac3", "flac", "m4a", "mka", "mp2", "mp3", "mp4", "ogg", "opus", "thd", "tta", "ts", "wav", "wv"}
#: A made file may say that it has another length than its source by these words.
TOLD = ("ends after", "silent", "lacks", "longer", "shorter", "left out")

folder = tempfile.TemporaryDirectory()
place = pathlib.Path(folder.name)
FFMPEG = ["ffmpeg", "-nostdin", "-v", "error", "-y"]


def run(*words: object) -> bytes:
    done = subprocess.run([str(word) for word in words], capture_output=True, timeout=60)
    if done.returncode:
        raise ValueError(f"{words[0]}: {done.stderr.decode(errors='replace').strip()[-200:]}")
    return done.stdout


def make(name: str, *words: object) -> pathlib.Path | None:
    """A file of another program; None where that cannot be."""
    path = place / name
    try:
        run(*words, path)
    except ValueError as error:
        if not str(error).startswith("mkvmerge: "):
            path.unlink(missing_ok=True)
            return None
    return path if path.is_file() and path.stat().st_size > 200 else None


def sources(coding: str, muxer: str, rate: int) -> list[pathlib.Path]:
    """The coding in the container, as FFmpeg writes it and as mkvmerge puts it into Matroska."""
    # No packet of any coding ends with the sound.
    count = rate * 21 // 10 + 101
    name = f"{coding}-{rate}.{CONTAINERS[muxer]}"
    wave = place / f"{rate}.wav"
    made = make(name, *FFMPEG, "-i", wave, "-af", f"atrim=end_sample={count}", "-map_metadata", "-1", "-c:a", coding, "-strict", "-2",
                "-ar", rate, "-f", muxer)
    files = [made] if made else []
    if made and shutil.which("mkvmerge") and CONTAINERS[muxer] in MERGED:
        merged = make(f"{coding}-{rate}-{muxer}-merged.mka", "mkvmerge", "-q", made, "-o")
        files += [merged] if merged else []
    return files


def stream(path: pathlib.Path) -> dict[str, str]:
    """What FFmpeg's program says of the first sound."""
    return json.loads(run("ffprobe", "-v", "error", "-of", "json", "-select_streams", "a:0", "-show_streams", path))["streams"][0]


def decoded(path: pathlib.Path) -> tuple[int, int, int]:
    """The rate, how many samples FFmpeg's program decodes, and how many there are by what the container of ISO media says."""
    # FFmpeg 7's own decoder of Speex returns wideband frames twice as long as they are.
    decoder = ["-c:a", "libspeex"] if "libspeex" in path.name else []
    wave = run(*FFMPEG, *decoder, "-i", path, "-map", "0:a:0", "-c:a", "pcm_s16le", "-f", "wav", "-")
    # Written to a pipe, its data has no length.
    (channels, rate), start = struct.unpack_from("<HI", wave, 22), wave.index(b"data", 12) + 8
    count = (len(wave) - start) // 2 // channels
    if path.suffix not in (".mp4", ".m4a", ".mov", ".3gp"):
        return rate, count, count
    # FFmpeg's program plays to the end of the last packet, though the container may say that it is shorter.
    cut = round(float(stream(path).get("duration", 0)) * rate)
    exact = recorded_length(path.read_bytes())
    cut = exact if exact and abs(exact - cut) <= rate // 1000 + 1 else cut
    return rate, count, cut if count - 4096 < cut < count else count


def recorded_length(data: bytes) -> int:
    """The length of the only track that ISO media records in its own clock, less what its edit skips. 0 if it has another form."""
    media, edits = data.find(b"mdhd"), data.find(b"elst")
    if min(media, edits) < 0 or data[media + 4] or data[edits + 4] or data[edits + 8 : edits + 12] != b"\0\0\0\1":
        return 0
    return struct.unpack_from(">I", data, media + 20)[0] - struct.unpack_from(">i", data, edits + 16)[0]


def before_start(path: pathlib.Path) -> int:
    """How many samples are decoded before the time 0, as Matroska may say. FFmpeg 7 copies this into an MP4, which then begins later."""
    said = stream(path)
    return int(said.get("initial_padding", 0)) if float(said.get("start_time", 0)) < 0 else 0


def in_wave(content: bytes) -> tuple[int, int]:
    """The rate of a WAV, and how many samples it has."""
    at, rate, step = 12, 0, 1
    while at + 8 <= len(content):
        name, size = struct.unpack_from("<4sI", content, at)
        if name == b"fmt ":
            rate, step = struct.unpack_from("<4xI4xH", content, at + 8)
        if name == b"data":
            return rate, size // step
        at += 8 + size + size % 2
    return rate, 0


#: Formats into which packets of a coding are copied.
COPIES = {"aac": ["m4a", "aac", "mka"], "ac3": ["ac3", "mka"], "dca": ["dts", "mka"], "flac": ["flac", "oga", "mka"], "libmp3lame": ["mp3", "mka"],
          "libopus": ["opus", "mka"], "libvorbis": ["ogg", "mka"], "mp2": ["mp2", "mka"], "alac": ["m4a", "mka"]}  # fmt: skip


def others(name: str, number: int) -> list[str]:
    """What else is made of a file: a copy where that can be, or what is coded."""
    copies = COPIES.get(name.split("-")[0], [])
    if name.endswith((".flv", ".avi")) or "-matroska-merged" in name:
        # Their clocks are coarse, and films have times.
        return ["mp4"]
    return [copies[number % len(copies)]] if copies and number % 3 else [["flac"], ["mp3"], ["opus"], ["mp4"], []][number % 5]


def with_all_names(places: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Those among which each coding and each container is."""
    seen: set[str] = set()
    chosen = []
    for place in places:
        if not seen.issuperset(place[:2]):
            seen.update(place[:2])
            chosen.append(place)
    return chosen


class Check:
    def __init__(self, program: str) -> None:
        self.worker = Worker(program)
        self.counts: Counter[str] = Counter()

    def ask(self, path: pathlib.Path, recipe: str) -> tuple[str, bytes, bool]:
        """What is said of a result, its bytes, and whether its size was told before."""
        _, told, _, _ = self.worker.ask(path, f"measure {recipe} ")
        failure, size, said, content = self.worker.ask(path, f"{recipe} ")
        if failure:
            return said or "fails", b"", False
        if told and told != size:
            raise ValueError(f"{recipe}: {told} bytes were told, and {size} came")
        return said, content, bool(told)

    def faults(self, path: pathlib.Path, others: list[str]) -> list[str]:
        try:
            rate, count, told = decoded(path)
        except (ValueError, IndexError, KeyError):
            # Not all that FFmpeg writes is read by it.
            self.counts["not decoded by FFmpeg"] += 1
            return []
        if not count:
            return []
        found = []
        said, content, was_told = self.ask(path, "wav")
        self.counts["sizes told"] += was_told
        self.counts["results"] += 1
        if not content:
            return [f"wav: {said}"]
        own, came = in_wave(content)
        if own != rate or came not in (count, told):
            is_said = any(word in said for word in TOLD)
            self.counts["differ and say so" if is_said else "differ silently"] += 1
            if is_said:
                print(f"{path.name}: wav: {came} of {count} samples: {said}")
            else:
                found.append(f"wav: {came} samples at {own} Hz, FFmpeg decodes {count} at {rate}: {said or 'no remark'}")
        self.counts["say that something is lost"] += any(word in said for word in TOLD)
        for kind in others:
            said, content, _ = self.ask(path, kind)
            if not content and "no such" in said:
                continue
            if not content:
                found.append(f"{kind}: {said}")
                continue
            self.counts["results"] += 1
            made = place / f"made.{kind}"
            made.write_bytes(content)
            # What an encoder of AAC adds is not all said.
            wanted, slack = came, 2048 if kind == "mp4" else 0
            try:
                made_rate, made_count, cut = decoded(made)
            except (ValueError, IndexError, KeyError) as error:
                found.append(f"{kind}: {said} {error}")
                continue
            if made_rate != own:
                wanted = -(-wanted * made_rate // own)
            if kind == "mp4" and "coded again" not in said:
                # A copy's own packets have to say how long they are.
                again_rate, again = in_wave(self.ask(made, "wav")[1])
                if again_rate != own or again not in (came, came - before_start(path)):
                    found.append(f"{kind}: says that it has {again} samples at {again_rate} Hz instead of {came}: {said or 'no remark'}")
                    continue
            # mkvmerge keeps a file's frame of information as sound, which becomes one again.
            is_information = kind == "mp3" and "-merged" in path.name and wanted - made_count in (576, 1152)
            # Ogg says of Vorbis what the container of the source says, too.
            is_told = kind == "ogg" and made_count == told
            if cut != wanted and not is_told and not is_information and abs(made_count - wanted) > slack and not any(word in said for word in TOLD):
                found.append(f"{kind}: {made_count} samples at {made_rate} Hz instead of {wanted}: {said or 'no remark'}")
        return found


#: Formats that record the number of samples that were put in.
RECORDED = {"flac": "flac", "libvorbis": "ogg", "alac": "caf", "libmp3lame": "mp3", "libopus": "opus", "wavpack": "wv", "pcm_s16be": "aiff"}


def unusual(check: Check) -> list[str]:
    """Sounds of one packet and a few, sounds that start late, and MP3 written one after another."""
    found = []

    def compare(path: pathlib.Path, count: int) -> None:
        check.counts["results"] += 1
        said, content, _ = check.ask(path, "wav")
        came = in_wave(content)[1] if content else 0
        # The encoder of MP3 cannot record all padding of so short a sound.
        if came not in (count, decoded(path)[1] if path.suffix == ".mp3" else count) or said:
            found.append(f"{path.name}: wav: {came} of {count} samples: {said or 'no remark'}")

    for coding, end in RECORDED.items():
        for rate in (48000,) if coding == "libopus" else (8000, 48000):
            for count in (2, 100, 600, 1000, 1500, 5000, 2 * rate + 7):
                words = [*FFMPEG, "-i", place / f"{rate}.wav", "-af", f"atrim=end_sample={count}", "-c:a", coding]
                made = make(f"unusual-{coding}-{rate}-{count}.{end}", *words)
                if made and coding != "libopus" or made and count > 2:
                    compare(made, count)
            if end in ("ogg", "opus", "flac"):
                made = make(f"unusual-late-{coding}-{rate}.{end}", *FFMPEG, "-i", place / f"{rate}.wav", "-output_ts_offset", 10, "-c:a", coding)
                compare(made, rate * 22 // 10)
    # Ogg of one page has no time but that of its end. That of Vorbis does not tell how much of its last packet is wanted.
    for coding in ("flac", "libspeex", "libvorbis"):
        for offset in (0.3, 2):
            words = [*FFMPEG, "-i", place / "48000.wav", "-af", "aresample=16000,atrim=end_sample=16000", "-output_ts_offset", offset]
            if made := make(f"unusual-page-{coding}-{offset}.ogg", *words, "-c:a", coding):
                compare(made, decoded(made)[1])
    # Edit lists in milliseconds, which are shorter or longer than the sound.
    for coding, end in (("aac", "m4a"), ("aac", "mov"), ("libmp3lame", "mp4"), ("libopus", "mp4")):
        for count in (5000, 22072, 48001):
            words = [*FFMPEG, "-i", place / "48000.wav", "-af", f"atrim=end_sample={count}", "-c:a", coding]
            if made := make(f"unusual-edit-{coding}-{count}.{end}", *words):
                compare(made, count)
    # A start within the first packet.
    words = [*FFMPEG, "-itsoffset", 0.03, "-i", place / "48000.wav", "-avoid_negative_ts", "disabled"]
    if made := make("unusual-late-alac.m4a", *words, "-c:a", "alac"):
        compare(made, 48000 * 22 // 10)
    # One packet, whose duration Matroska does not record.
    for coding in ("flac", "wavpack"):
        if made := make(f"unusual-one-{coding}.mka", *FFMPEG, "-i", place / "48000.wav", "-af", "atrim=end_sample=1000", "-c:a", coding):
            compare(made, 1000)
    # All frames but the first one of information, and the frame of information between them, which is silent.
    whole = place / "unusual-libmp3lame-48000-5000.mp3"
    joined = place / "unusual-joined.mp3"
    joined.write_bytes(2 * whole.read_bytes())
    frames = json.loads(run("ffprobe", "-v", "error", "-of", "json", "-show_packets", joined))["packets"]
    compare(joined, len(frames) * 1152 - 1105)
    return found


def main() -> int:
    is_all = "all" in sys.argv[2:]
    for rate in RATES:
        # Noise that begins and ends loud: a lost sample is no silence.
        noise = random.Random(rate)
        samples = array.array("h", (noise.randrange(-9000, 9000) for _ in range(rate * 22 // 10)))
        data = samples.tobytes()
        head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16, b"data", len(data))
        (place / f"{rate}.wav").write_bytes(head + data)
    pairs = [(coding, muxer) for coding in CODINGS for muxer in CONTAINERS if coding in ALONE.get(muxer, CODINGS)]
    known = [(coding, muxer, rate) for coding, muxer in pairs for rate in RATES]
    own = [(coding, *place.split("@")) for coding, places in SAMPLE.items() for place in places.split()]
    own = with_all_names(own) if "few" in sys.argv[2:] else own
    chosen = known if is_all else [(coding, muxer, int(rate)) for coding, muxer, rate in own]
    check = Check(sys.argv[1])
    wrong, files = 0, 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for words, made in zip(chosen, pool.map(lambda words: sources(*words), chosen)):
            check.counts["not written by FFmpeg"] += not made
            for path in made:
                files += 1
                check.counts["of mkvmerge"] += "-merged" in path.name
                try:
                    problems = check.faults(path, others(path.name, files))
                except (ValueError, EOFError, KeyError, IndexError) as error:
                    problems = [str(error)]
                if problems and KNOWN.match(f"{path.name}: {problems[0]}"):
                    check.counts["known defects"] += 1
                    problems = []
                wrong += bool(problems)
                if problems:
                    print(f"{path.name}: {'; '.join(problems)}", flush=True)
                path.unlink()
    for problem in unusual(check):
        wrong += 1
        print(problem, flush=True)
    figures = ", ".join(f"{count} {name}" for name, count in sorted(check.counts.items()))
    print(f"{len(chosen)} of {len(known)} tried, {files} files, {wrong} wrong ({figures})")
    return check.worker.close() or wrong > 0


if __name__ == "__main__":
    sys.exit(main())
