"""Players, which read parts of a film: VLC and mpv."""

import json
import os
import urllib.parse

from . import files
from .recorder import Recorder
from .tools import as_user, need, reporting, run

NAMES = ("film #1.mp4", "sound.flac")


def seconds(path):
    """How long a file is for FFmpeg, having read all of it."""
    said = run(["ffprobe", "-v", "error", "-count_packets", "-show_entries", "stream=codec_type,nb_read_packets:format=duration", "-of", "json", path])
    return float(json.loads(said)["format"]["duration"])


def play(stage, name, words):
    """Plays from the tenth second to the end, with `words` for the URL and a home; the problems, and how many parts were asked for."""
    media = os.path.join(stage.folder, "media")
    if not os.path.isdir(media):
        files.make_media(media)
        stage.media_port = stage.serve(media)
    wrong, parts = [], 0
    for file in NAMES:
        with Recorder(stage.media_port) as recorder:
            url = f"http://127.0.0.1:{recorder.port}/api/file?path=/{urllib.parse.quote(file)}"
            for kind in (url, f"http://127.0.0.1:{recorder.port}/dav/{urllib.parse.quote(file)}"):
                home = stage.scratch(name)
                problem = words(kind, home, file)
                if problem:
                    wrong.append(f"{kind}: {problem}")
            ranges = [asked for asked in recorder.asked if asked[2] and asked[3] == 206]
            failed = [asked for asked in recorder.asked if asked[3] not in (200, 206)]
            parts += len(ranges)
            if failed:
                wrong.append(f"{file}: {failed[:3]}")
            if not ranges:
                wrong.append(f"{file}: no part was asked for: {recorder.asked[:4]}")
    return wrong, parts


@reporting
def vlc(stage):
    """As an ordinary user and without a screen: what it plays from the tenth second on is written to a file, which has the rest."""
    need("cvlc", "ffmpeg", "setpriv")

    def words(url, home, file):
        target = os.path.join(home, "out.mkv")
        # At times it begins to write before it has gone to the tenth second, with rclone's server as often as with ours.
        for _ in range(4):
            said = run(as_user(["cvlc", "--no-color", "--start-time=10", f"--sout=#std{{access=file,mux=mkv,dst={target}}}", url, "vlc://quit"], home),
                       timeout=60)  # fmt: skip
            if os.path.exists(target) and 7 < seconds(target) < 13:
                return None
        return f"{seconds(target) if os.path.exists(target) else 'nothing'} instead of 10 s: {said[-300:]}"

    wrong, parts = play(stage, "vlc", words)
    return f"a film and a sound from the tenth second on, {parts} ranges", wrong


@reporting
def mpv(stage):
    need("mpv", "ffmpeg", "setpriv")

    def words(url, home, file):
        said = run(as_user(["mpv", "--no-config", "--vo=null", "--ao=null", "--untimed", "--ao-null-untimed=yes", "--start=10",
                            "--term-status-msg=at ${=time-pos}", "--force-seekable=no", url], home), timeout=60)  # fmt: skip
        if "Exiting... (End of file)" not in said:
            return said[-300:]
        return None

    wrong, parts = play(stage, "mpv", words)
    return f"a film and a sound from the tenth second on, {parts} ranges", wrong
