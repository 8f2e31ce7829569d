"""make_sounds.py FOLDER

Makes a short record in every format of sound that FFmpeg writes, each with what it has a place for of tags and a cover.
"""
import math
import pathlib
import struct
import subprocess
import sys
import wave

RATE = 44100
SECONDS = 3.003
#: By name: FFmpeg's words for it. The rest of the name is the format's extension.
SOURCES = {
    "a.wav": [], "24.wav": ["-c:a", "pcm_s24le"], "32.wav": ["-c:a", "pcm_s32le"], "float.wav": ["-c:a", "pcm_f32le"],
    "8.wav": ["-c:a", "pcm_u8"], "alaw.wav": ["-c:a", "pcm_alaw"], "adpcm.wav": ["-c:a", "adpcm_ms"],
    "a.aiff": ["-write_id3v2", "1"], "a.au": [], "a.caf": [], "a.w64": [], "a.voc": [], "a.ircam": ["-f", "ircam"],
    "a.flac": [], "24.flac": ["-c:a", "flac", "-sample_fmt", "s32"], "a.wv": ["-c:a", "wavpack"], "a.tta": [],
    "alac.m4a": ["-c:a", "alac"], "a.m4a": ["-c:a", "aac"], "a.aac": ["-c:a", "aac"], "a.mp3": ["-b:a", "160k"],
    "vbr.mp3": ["-q:a", "4"], "bare.mp3": ["-write_xing", "0", "-id3v2_version", "0"], "a.mp2": ["-c:a", "mp2"],
    "a.ogg": ["-c:a", "libvorbis"], "a.opus": ["-c:a", "libopus"], "a.oga": ["-c:a", "flac"],
    "a.spx": ["-c:a", "libspeex", "-ac", "2", "-ar", "32000"], "a.ac3": ["-c:a", "ac3"], "a.eac3": ["-c:a", "eac3"],
    "a.dts": ["-c:a", "dca", "-strict", "-2"], "a.wma": ["-c:a", "wmav2", "-b:a", "192k"],
    "a.gsm": ["-c:a", "libgsm", "-ar", "8000", "-ac", "1"], "a.mka": ["-c:a", "libopus"],
    "aac.mka": ["-c:a", "aac"], "flac.mka": ["-c:a", "flac"], "a.rm": ["-c:a", "ac3"],
}  # fmt: skip
COVERED = {".mp3", ".flac", ".m4a", ".mka", ".aiff"}
TAGS = {"title": "Grüße", "artist": "Sängerin", "album": "A"}


def samples() -> bytes:
    """Tones that swell, below what telephones cut off; the channels differ, and their mean is nearly as loud as each."""
    def at(place: int, channel: int) -> int:
        time = place / RATE
        swell = 0.6 + 0.3 * math.sin(2 * math.pi * 1.3 * time + channel / 3)
        tone = sum(math.sin(2 * math.pi * pitch * time) for pitch in (261.63, 440.0, 659.26, 1046.5)) / 4
        return round(20000 * swell * tone)

    return b"".join(struct.pack("<hh", at(place, 0), at(place, 1)) for place in range(round(RATE * SECONDS)))


def make(folder: pathlib.Path, step: int = 1) -> list[pathlib.Path]:
    """All of them, or each `step`th."""
    folder.mkdir(parents=True, exist_ok=True)
    plain, cover = folder / "plain.wav", folder / "cover.jpg"
    with wave.open(str(plain), "wb") as file:
        file.setparams((2, 2, RATE, 0, "NONE", ""))
        file.writeframes(samples())
    ffmpeg = ["ffmpeg", "-nostdin", "-v", "error", "-y"]
    subprocess.run([*ffmpeg, "-f", "lavfi", "-i", "testsrc=s=64x64:d=0.04", "-frames:v", "1", cover], check=True)
    tags = [word for tag in TAGS.items() for word in ("-metadata", "=".join(tag))]
    chosen = list(SOURCES)[::step]
    for name in chosen:
        how = SOURCES[name]
        art = ["-i", cover, "-map", "0:a", "-map", "1:v", "-c:v", "copy", "-disposition:v", "attached_pic"]
        if name.endswith(".mka"):
            art = ["-attach", cover, "-metadata:s:t", "mimetype=image/jpeg"]
        has = pathlib.Path(name).suffix in COVERED and name != "bare.mp3"
        subprocess.run([*ffmpeg, "-i", plain, *(art if has else []), *([] if name == "bare.mp3" else tags), *how, folder / name],
                       check=True)
    plain.unlink()
    cover.unlink()
    return [folder / name for name in chosen]


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]))
