"""make_films.py FOLDER

Makes short films: one with all that Matroska has a place for, some as older cameras, discs and broadcasts have them.
"""
import pathlib
import struct
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)


def ffmpeg(*arguments):
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", *map(str, arguments)], cwd=folder, check=True)


def film(name, *coding, seconds=2, size="160x120", rate=25, sound=True):
    picture = ["-f", "lavfi", "-i", f"testsrc=size={size}:rate={rate}:duration={seconds}"]
    tone = ["-f", "lavfi", "-i", f"sine=440:duration={seconds}:sample_rate=48000"] if sound else []
    ffmpeg(*picture, *tone, *coding, name)


(folder / "words.srt").write_text("1\n00:00:00,200 --> 00:00:01,000\nHello\n\n2\n00:00:01,200 --> 00:00:01,800\nWorld\n")
(folder / "notes.txt").write_text("A note.\n")
(folder / "chapters").write_text(
    ";FFMETADATA1\ntitle=The Film\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=1000\ntitle=One\n"
    "[CHAPTER]\nTIMEBASE=1/1000\nSTART=1000\nEND=2000\ntitle=Two\n")
film("plain.mkv", "-c:v", "libx264", "-bf", "2", "-g", "25", "-c:a", "aac", "-ac", "2")
ffmpeg("-i", "plain.mkv", "-i", "words.srt", "-i", "chapters", "-map", "0", "-map", "1", "-map_metadata", "2",
       "-c", "copy", "-attach", "notes.txt", "-metadata:s:3", "mimetype=text/plain", "-metadata:s:a:0", "language=eng",
       "-metadata:s:s:0", "language=deu", "-disposition:a:0", "default", "film.mkv")
# Subtitles of every coding that has a file of its own: with styles, with positions, and pictures.
(folder / "styled.ass").write_text(
    "[Script Info]\nScriptType: v4.00+\n\n[V4+ Styles]\nFormat: Name, Fontname, Fontsize, PrimaryColour, Bold, Alignment\n"
    "Style: Loud,Arial,40,&H0000FFFF,-1,8\n\n[Events]\nFormat: Layer, Start, End, Style, Name, Text\n"
    "Dialogue: 0,0:00:00.20,0:00:01.00,Loud,,{\\pos(20,30)}Hello\n")
(folder / "placed.vtt").write_text("WEBVTT\n\nfirst\n00:00:00.200 --> 00:00:01.000 line:10% align:start\n<b>Hello</b>\n")
(folder / "drawn.sup").write_bytes(
    b"".join(b"PG" + struct.pack(">IIBH", 18000, 0, kind, len(data)) + data for kind, data in [
        (0x16, struct.pack(">HHBHBBBB", 160, 120, 16, 0, 0x80, 0, 0, 0)), (0x80, b"")]))
ffmpeg("-i", "plain.mkv", "-i", "styled.ass", "-i", "placed.vtt", "-i", "words.srt", "-i", "drawn.sup", "-map", "0:v",
       *[word for number in range(1, 5) for word in ("-map", str(number))], "-c", "copy", "subtitled.mkv")
# The option of FFmpeg 6 and later; before, the tag.
if "-display_rotation" in subprocess.run(["ffmpeg", "-v", "error", "-h", "full"], capture_output=True, text=True).stdout:
    ffmpeg("-display_rotation:v", "-90", "-i", "plain.mkv", "-an", "-c", "copy", "turned.mp4")
else:
    ffmpeg("-i", "plain.mkv", "-an", "-c", "copy", "-metadata:s:v", "rotate=90", "turned.mp4")
film("old.avi", "-c:v", "mpeg4", "-bf", "2", "-q:v", "2", "-c:a", "libmp3lame")
film("disc.vob", "-vf", "setsar=16/15,tinterlace=interleave_top,fieldorder=tff", "-c:v", "mpeg2video", "-q:v", "2",
     "-flags", "+ildct+ilme", "-c:a", "ac3", rate=50)
film("cast.ts", "-c:v", "libx264", "-g", "25", "-c:a", "ac3")
film("long.avi", "-c:v", "mpeg4", "-q:v", "4", "-c:a", "ac3", seconds=14)
film("slow.avi", "-c:v", "mpeg4", "-q:v", "4", "-c:a", "ac3", seconds=60, size="640x480")
ffmpeg("-f", "lavfi", "-i", "sine=440:duration=1", "-f", "lavfi", "-i", "testsrc=size=64x64:duration=0.04",
       "-map", "0", "-map", "1", "-c:a", "libmp3lame", "-c:v", "mjpeg", "-disposition:v", "attached_pic", "song.mp3")
(folder / "late").write_text(
    ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=3661500\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=3661500\nEND=3662000\n")
ffmpeg("-f", "lavfi", "-i", "anullsrc=r=8000:cl=mono", "-i", "late", "-t", "3662", "-map", "0", "-map_metadata", "1", "-c:a", "flac",
       "hour.mka")
(folder / "late").unlink()
for name, tone in [("clip1", 300), ("clip2", 400), ("clip10", 500)]:
    (folder / "clips").mkdir(exist_ok=True)
    ffmpeg("-i", "plain.mkv", "-c", "copy", f"clips/{name}.mkv")
for name in ["words.srt", "styled.ass", "placed.vtt", "drawn.sup", "notes.txt", "chapters"]:
    (folder / name).unlink()
