"""`scripts/bench media`: sound and film through a mount, beside ffmpegfs, and the ffmpeg command without a mount."""

import os
import shutil
from pathlib import Path

from .inputs import Inputs
from .measure import client
from .rows import Contestant, Row, Session, Stages

#: Of sound, for all of them; of pictures ffmount's own settings, which the peers are told.
BITRATE = "128k"
X264 = ["-c:v", "libx264", "-preset", "superfast", "-crf", "23"]
FRAGMENTS = ["-f", "mp4", "-movflags", "frag_keyframe+empty_moov"]
FIRST = 64 << 10


def sessions(inputs: Inputs, ours: list[Contestant], scratch: Path) -> list[Session]:
    films = inputs.films()
    player = scratch / "mpv"
    # Players are told by their program's name.
    shutil.copy(shutil.which("head"), player)
    os.chmod(player, 0o755)

    def ffmpegfs(kind: str) -> Contestant:
        words = [f"--desttype={kind}", f"--audiobitrate={BITRATE}", "--autocopy=MATCH"]
        return Contestant(
            "ffmpegfs",
            lambda source, mountpoint, cache: ["ffmpegfs", "-f", str(source), str(mountpoint), *words, f"--cachepath={cache}"],
        )

    def ffmpeg(source: str, *words: str) -> dict[str, Stages]:
        return {"ffmpeg": [["ffmpeg", "-nostdin", "-v", "error", "-i", str(films / source), *words, "-y", "pipe:1"], ["cat"]]}

    def session(name: str, view: str, kind: str, limits: dict[str, Stages], program: list[str] | None = None) -> Session:
        row = Row(
            name, lambda root, _: [[*(program or ["cat"]), _result(root, films, view, kind)], ["cat"]],
            limits=limits,
            # The worker is there, as it is for all but the first file.
            warm=lambda root: [["sh", "-c", f"cat '{root}/song.wav.as-w64' | head -c 100000 || true"]],
            counts_workers=True,
        )  # fmt: skip
        return Session(films, None, ours + [ffmpegfs(kind)], [row])

    def sound(name: str, target: str, kind: str, *words: str, source: str = "song.flac") -> Session:
        # The same bits a second; what loses none, and Vorbis, goes by no such number.
        rate = f".{BITRATE}" if BITRATE in words else ""
        return session(name, f"{source}{rate}.as-{target}", kind, ffmpeg(source, *words))

    reads = Row(
        "200 reads of 64 KiB in the WAV of an hour",
        lambda root, _: client("pread", _result(root, films, "hour.flac.as-wav", "wav"), 11, 200, 64 << 10),
        counts_workers=True,
    )
    return [
        session("MKV to MP4, copied", "film.mkv.as-mp4", "mp4", ffmpeg("film.mkv", "-c", "copy", *FRAGMENTS)),
        session("its first 64 KiB", "film.mkv.as-mp4", "mp4", {}, program=[str(player), "-c", str(FIRST)]),
        session(
            "a minute of 1080p to H.264", "minute.webm.as-mp4", "mp4",
            ffmpeg("minute.webm", *X264, "-c:a", "aac", "-b:a", BITRATE, *FRAGMENTS),
        ),
        session("its first 64 KiB, coded", "minute.webm.as-mp4", "mp4", {}, program=[str(player), "-c", str(FIRST)]),
        sound("5 minutes to MP3", "mp3", "mp3", "-c:a", "libmp3lame", "-b:a", BITRATE, "-f", "mp3"),
        sound("5 minutes to Opus", "opus", "opus", "-c:a", "libopus", "-b:a", BITRATE, "-f", "opus"),
        sound("5 minutes to AAC", "m4a", "mp4", "-c:a", "aac", "-b:a", BITRATE, "-f", "ipod", *FRAGMENTS[2:]),
        session("the first 64 KiB of 5 minutes of AAC", f"song.flac.{BITRATE}.as-m4a", "mp4", {}, program=[str(player), "-c", str(FIRST)]),
        sound("5 minutes of FLAC to WAV", "wav", "wav", "-c:a", "pcm_s16le", "-f", "wav"),
        sound("5 minutes to Vorbis", "ogg", "ogg", "-c:a", "libvorbis", "-f", "ogg"),
        sound("5 minutes to FLAC", "flac", "flac", "-c:a", "flac", "-f", "flac", source="song.wav"),
        Session(films, None, ours + [ffmpegfs("wav")], [reads]),
    ]  # fmt: skip


def _result(root: Path, films: Path, view: str, ending: str) -> str:
    """The path of a result, which a peer calls `song.mp3`, or `song.flac.mp3` if there are several."""
    source = view.rpartition(".as-")[0].removesuffix(f".{BITRATE}")
    theirs = {f"{source}.{ending}", f"{Path(source).stem}.{ending}"}
    return str(root / next(iter(theirs & set(os.listdir(root)) - set(os.listdir(films))), view))
