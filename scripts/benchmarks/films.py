"""Sound and film to be converted, made by the ffmpeg command from generated pictures and tones."""

import subprocess
from pathlib import Path

#: Something like music, and like a film: tones that move in noise, and a picture of which all moves with grain.
SOUND = "aevalsrc=exprs='.3*sin(440*2*PI*t*(1+.1*sin(t)))+.1*(random(0)-.5)|.3*sin(330*2*PI*t)+.1*(random(1)-.5)'"
PICTURE = "testsrc2=size={size}:rate=30,noise=alls=12:allf=t"


def write(folder: Path, divisor: int) -> None:
    """Writes `hour.flac`, `song.flac` and `song.wav` of five minutes, `minute.webm` in 1080p and `film.mkv` of ten minutes."""
    hour, song, film, minute = 3600 // divisor, 300 // divisor, 600 // divisor, max(2, 60 // divisor)
    _make(folder / "hour.flac", "-f", "lavfi", "-i", f"{SOUND}:s=44100:d={hour}", "-c:a", "flac")
    for name, codec in {"song.flac": "flac", "song.wav": "pcm_s16le"}.items():
        _make(folder / name, "-f", "lavfi", "-i", f"{SOUND}:s=44100:d={song}", "-c:a", codec)
    sound = ["-f", "lavfi", "-i", f"{SOUND}:s=48000"]
    _make(
        folder / "film.mkv", "-f", "lavfi", "-i", PICTURE.format(size="1280x720"), *sound, "-t", film,
        "-c:v", "libx264", "-preset", "ultrafast", "-crf", 30, "-g", 60, "-c:a", "aac", "-b:a", "128k",
    )  # fmt: skip
    _make(
        folder / "minute.webm", "-f", "lavfi", "-i", PICTURE.format(size="1920x1080"), *sound, "-t", minute,
        "-c:v", "libvpx", "-b:v", "6M", "-deadline", "realtime", "-cpu-used", 8, "-threads", 2, "-c:a", "libopus",
    )  # fmt: skip


def _make(path: Path, *words: object) -> None:
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", *map(str, words), str(path)], check=True)
