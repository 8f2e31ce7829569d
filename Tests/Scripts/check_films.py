"""check_films.py SOURCE MOUNT PART

Compares what a mount makes of the films of make_films.py with what ffprobe and ffmpeg say of them. Prints what it found.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

source, mount = map(pathlib.Path, sys.argv[1:3])


def run(*words):
    result = subprocess.run([str(word) for word in words], capture_output=True, timeout=100)
    if result.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}: {result.stderr.decode(errors='replace')}")
    return result.stdout.decode(errors="replace")


def probe(path):
    return json.loads(run("ffprobe", "-v", "error", "-of", "json", "-show_streams", "-show_format", "-show_chapters", path))


def codecs(path):
    return " ".join(stream["codec_name"] for stream in probe(path)["streams"] if stream.get("codec_name", "bin_data") != "bin_data")


def pictures(path, *more):
    """The sums of all decoded pictures."""
    lines = run("ffmpeg", "-nostdin", "-v", "error", "-i", path, "-map", "0:v:0", *more, "-fps_mode", "passthrough", "-f", "framemd5", "-")
    return [line.split()[-1] for line in lines.splitlines() if not line.startswith("#")]


def length(path, kind="v"):
    """In seconds, of what can be decoded."""
    lines = run("ffmpeg", "-nostdin", "-v", "error", "-i", path, "-map", f"0:{kind}:0", "-f", "framecrc", "-")
    times = [line.split(",") for line in lines.splitlines() if not line.startswith("#")]
    base = re.search(r"#tb 0: (\d+)/(\d+)", lines)
    scale = int(base[1]) / int(base[2])
    return (int(times[-1][2]) + int(times[-1][3]) - int(times[0][2])) * scale


def likeness(path, original, change="null"):
    """How alike the pictures' brightness is, in decibels."""
    graph = f"[1:v]{change}[b];[0:v][b]scale2ref[a][c];[a]settb=AVTB,setpts=N[x];[c]settb=AVTB,setpts=N[y];[x][y]psnr"
    result = subprocess.run(["ffmpeg", "-nostdin", "-i", path, "-i", original, "-lavfi", graph, "-f", "null", "-"],
                            capture_output=True, timeout=100)
    found = re.search(rb"PSNR.* y:([\d.]+|inf)", result.stderr)
    return float(found[1]) if found else 0.0


def attribute(path, name):
    try:
        return os.getxattr(path, f"user.ffmount.{name}").decode()
    except OSError:
        return ""


def check(name, is_so):
    print(f"{name}: {'yes' if is_so else 'NO'}")


def copies():
    film = source / "film.mkv"
    for form in ["mp4", "mkv", "ts", "flv"]:
        path = mount / f"film.mkv.as-{form}"
        with open(path, "rb") as opened:
            told = os.fstat(opened.fileno()).st_size
            read = opened.read()
        check(f"{form} {codecs(path)}", told == len(read) and pictures(path) == pictures(film))
    made = probe(mount / "film.mkv.as-mp4")
    print(made["format"]["tags"]["title"], [chapter["tags"]["title"] for chapter in made["chapters"]])
    print([stream["tags"].get("language") for stream in made["streams"]][1:3])
    for form in ["flac", "ogg"]:
        starts = [float(chapter["start_time"]) for chapter in probe(mount / f"hour.mka.as-{form}")["chapters"]]
        if starts != [0, 3661.5]:
            print(f"chapters behind an hour in {form}: {starts}")
    start = open(mount / "film.mkv.as-mp4", "rb").read()
    check("index first", 0 < start.find(b"moov") < start.find(b"mdat"))
    print(attribute(mount / "film.mkv.as-mp4", "remark"))
    print(run("ffmpeg", "-nostdin", "-v", "error", "-i", mount / "film.mkv.as-mp4", "-map", "0:s", "-f", "srt", "-").split()[-1])
    turned, before = (probe(path)["streams"][0] for path in [mount / "turned.mp4.as-mov", source / "turned.mp4"])
    check("still to be turned", turned["width"] == 160 and turned["side_data_list"] == before["side_data_list"])


def coded():
    for form in ["webm", "avi", "mpeg", "amv"]:
        path = mount / f"film.mkv.as-{form}"
        # What the container does not take, the remark tells.
        whole = path.read_bytes()
        alike = likeness(path, source / "film.mkv")
        # The sides of AMV's pictures are multiples of sixteen.
        enough = {"amv": 20, "webm": 30}.get(form, 42)
        check(f"{form} {codecs(path)}", len(whole) > 1000 and alike > enough and "coded again" in attribute(path, "remark"))
        check("as loud", abs(loudness(path) - loudness(source / "film.mkv")) < 0.1)
    for name in ["old.avi", "disc.vob", "cast.ts"]:
        path = mount / f"{name}.as-mp4"
        path.read_bytes()
        stream = probe(path)["streams"][0]
        print(name, codecs(path), f"{stream['width']}x{stream['height']}", f"{length(path):.1f}")
    print(attribute(mount / "cast.ts.as-mp4", "remark"))
    turned = mount / "turned.mp4.as-webm"
    stream = probe(turned)["streams"][0]
    check(f"upright {stream['width']}x{stream['height']}", likeness(turned, source / "turned.mp4") > 27)


def changed():
    for words, kind, change in [
        ("500ms-1s500ms", "a", "trim=start=0.5:end=1.5"), ("2x", "a", None),
        ("crop=64x48+16+32", "v", "crop=64:48:16:32"), ("rot90.flip.mirror", "v", "transpose=clock,vflip,hflip"),
        ("64x64.10fps.crf40", "v", None), ("720p", "v", None)]:
        path = mount / f"plain.mkv.{words}.as-mp4"
        path.read_bytes()
        stream = probe(path)["streams"][0]
        alike = "-" if change is None else "alike" if likeness(path, source / "plain.mkv", change) > 38 else "NOT alike"
        print(words, f"{stream['width']}x{stream['height']}", len(pictures(path)), f"{length(path, kind):.1f}", alike)
    print(codecs(mount / "plain.mkv.mute.as-mp4"), codecs(mount / "plain.mkv.track1.as-mkv"))
    refused = ["30fps.30fps", "0x", "5x", "rot45", "crf99", "1s-1s", "mute.track1", "crop=10x10"]
    print([words for words in refused if (mount / f"plain.mkv.{words}.as-mp4").exists()])


def stills():
    for name in ["film.mkv.as-jpeg", "film.mkv.1s.as-png", "film.mkv.contact.as-jpeg", "film.mkv.80px.as-jpeg",
                 "turned.mp4.as-jpeg", "song.mp3.as-jpeg", "film.mkv.as-gif", "film.mkv.80px.as-webp"]:
        run("file", mount / name)
        print(name, run("file", "-b", mount / name).split(",")[0].strip(),
              run("vipsheader", mount / name).split(": ")[1].split()[0])
    for name, mark, place in [("film.mkv.as-gif", b"NETSCAPE2.0", 13), ("film.mkv.80px.as-webp", b"ANIM", 12)]:
        data = (mount / name).read_bytes()
        if struct.unpack_from("<H", data, data.index(mark) + place) != (0,):
            print(f"{name} does not go on for ever")
    picture = likeness(mount / "plain.mkv.1s.as-png", source / "plain.mkv", "trim=start_frame=24:end_frame=25")
    check("the picture at a second", picture > 35)
    frames = json.loads(run("ffprobe", "-v", "error", "-count_frames", "-of", "json", "-show_streams", mount / "film.mkv.as-gif"))
    print(frames["streams"][0]["nb_read_frames"])


def folders():
    print(" ".join(sorted(name for name in os.listdir(mount) if name.startswith(("film", "song", "cast")))))
    for name in sorted(os.listdir(mount / "film.mkv.streams")):
        path = mount / "film.mkv.streams" / name
        print(name, path.stat().st_size > 0 and codecs(path) if not name.endswith(".txt") else path.read_text().strip())
    print(pictures(mount / "film.mkv.streams" / "01 video h264.mp4") == pictures(source / "film.mkv"))
    print(sorted(os.listdir(mount / "long.avi.every=5s.frames")))
    check("a frame", likeness(mount / "long.avi.frames/00-00-07.jpg", source / "long.avi", "trim=start_frame=175:end_frame=176") > 25)
    for name in ["plain.mkv", "long.avi"]:
        playlist = mount / f"{name}.hls/index.m3u8"
        print(sorted(os.listdir(playlist.parent)))
        check("pictures of all segments", len(pictures(playlist)) == len(pictures(source / name)))
        check("their sound", abs(length(playlist, "a") - length(source / name, "a")) < 0.1)
    check("one segment alone", len(pictures(mount / "long.avi.hls/00002.ts")) == 150)


def subtitles():
    """Each track has the coding, styles and positions that it has in the film."""
    def packets(path, number):
        lines = run("ffmpeg", "-nostdin", "-v", "error", "-i", path, "-map", f"0:s:{number}", "-c", "copy", "-f", "framecrc", "-")
        # The unit of times differs.
        return [line.split(",")[4:] or line for line in lines.splitlines() if not line.startswith("#tb")]

    tracks = sorted(path for path in (mount / "subtitled.mkv.streams").iterdir() if "subtitle" in path.name)
    for number, track in enumerate(tracks):
        check(track.name, packets(track, 0) == packets(source / "subtitled.mkv", number))


def growing():
    path = mount / "slow.avi.as-webm"
    print(codecs(path))
    print(attribute(path, "state"))
    print(run("ffmpeg", "-nostdin", "-v", "error", "-t", "1", "-i", path, "-f", "null", "-") or "played")
    path = mount / "slow.avi.as-mp4"
    print(codecs(path), attribute(path, "state"))
    # A program that reads on, as players do: it has had the beginning long before the end was there.
    with tempfile.TemporaryDirectory() as scratch:
        player = shutil.copy(shutil.which("cat"), f"{scratch}/mpv")
        early = pathlib.Path(scratch, "early.mp4")
        with open(early, "wb") as output:
            reader = subprocess.Popen([player, path], stdout=output)
            while early.stat().st_size < 1 << 20 and reader.poll() is None:
                time.sleep(0.05)
            check("a picture inside of it", len(pictures(path, "-ss", "1", "-frames:v", "1")) == 1)
            print(attribute(path, "state"))
            reader.wait(100)
        whole = path.read_bytes()
        # But for the index at the start they are the same.
        rest = whole.index(b"moof")
        check("all of it, early and late", early.read_bytes()[rest:] == whole[rest:] and len(pictures(early, "-ss", "58")) == 50)
        print(parts(whole))


def workers():
    """The processes of ffmedia that the mount has."""
    def parent(process):
        return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1]

    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            if pathlib.Path(f"/proc/{process}/comm").read_text() == "ffmedia\n":
                commands = [pathlib.Path(f"/proc/{above}/cmdline").read_bytes() for above in [parent(process), parent(parent(process))]]
                if any(os.fsencode(mount) in command.split(b"\0") for command in commands):
                    yield int(process)
        except OSError:
            pass


def killed():
    """A worker that ends while somebody reads: that reader is told, and the next one has another."""
    path = mount / "slow.avi.as-webm"
    with tempfile.TemporaryDirectory() as scratch:
        player = shutil.copy(shutil.which("cat"), f"{scratch}/mpv")
        for _ in range(2):
            reader = subprocess.Popen([player, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            print(len(reader.stdout.read(1000)))
            # It is the first in its sandbox, which hears of no other signal from outside.
            for process in workers():
                os.kill(process, signal.SIGKILL)
            print(reader.communicate(timeout=100)[1].decode().strip().rpartition(": ")[2], attribute(path, "error"), sep="; ")
    print(len((mount / "plain.mkv.64x64.as-mp4").read_bytes()) > 1000)


def parts(film):
    """What the index of a film's parts says of them."""
    place = film.find(b"sidx") - 4
    size, = struct.unpack(">I", film[place:place + 4])
    scale, first, lead, count = struct.unpack(">IQQ2xH", film[place + 16:place + 40])
    start, seconds = place + size + lead, 0
    for number in range(count):
        length, duration, kind = struct.unpack(">3I", film[place + 40 + 12 * number:place + 52 + 12 * number])
        if film[start + 4:start + 8] != b"moof" or kind != 9 << 28:
            return f"part {number} is none"
        start, seconds = start + length, seconds + duration / scale
    return f"to the end: {start == len(film)}, {first} to {seconds:.2f}, parts of {seconds / count:.0f} s"


#: What is coded, by the container, as ffmpeg's command is told the same.
X264 = "-c:v libx264 -preset superfast -crf 23 -g 50 -x264-params sync-lookahead=0:b-pyramid=none".split()
CODINGS = {
    "webm": "-c:v libvpx-vp9 -deadline realtime -cpu-used 7 -crf 33 -b:v 0 -row-mt 1 -tile-columns 1".split(),
    "ogv": "-c:v libtheora -g 250 -q:v 7".split(), "amv": "-c:v amv -q:v 4 -r 25 -vf scale=160:128 -c:a adpcm_ima_amv -ar 22050 -ac 1 -block_size 882".split(),
    "rm": "-c:v rv20 -g 250 -q:v 4 -vf scale=160:128".split(),
    **{form: [*X264, "-profile:v", "baseline"] for form in ["3gp", "3g2"]},
    **{form: "-c:v mpeg4 -g 250 -q:v 4".split() for form in ["avi"]},
    **{form: "-c:v mpeg2video -bf 2 -g 15 -q:v 4".split() for form in ["mpeg", "vob", "mxf"]},
    **{form: "-c:v wmv2 -g 250 -q:v 4".split() for form in ["wmv", "asf"]}, "swf": "-c:v flv -g 250 -q:v 4".split(),
}
FORMS = "mp4 m4v mov 3gp 3g2 f4v mkv webm avi amv flv wmv asf mpeg vob ts m2ts rm swf mxf ogv".split()
#: Those that have no place for a title, or none that FFmpeg writes and reads.
UNTITLED = {"amv", "mpeg", "vob", "ts", "m2ts", "swf", "mxf", "f4v"}


def loudness(path):
    """Of the samples that are no padding of a codec's, in decibels."""
    said = subprocess.run(["ffmpeg", "-nostdin", "-i", path, "-map", "0:a:0", "-af", "atrim=0.3:1.6,astats=measure_perchannel=none", "-f", "null", "-"],
                          capture_output=True, timeout=100).stderr
    found = re.search(rb"RMS level dB: (-?[\d.]+)", said)
    return float(found[1]) if found else -999


def title(path):
    made = json.loads(run("ffprobe", "-v", "error", "-of", "json", "-show_entries", "format_tags:stream_tags", path))
    tags = [made["format"].get("tags", {})] + [stream.get("tags", {}) for stream in made["streams"]]
    return next((value for some in tags for name, value in some.items() if name.lower() == "title"), None)


def end(path, kind):
    """When the last of it ends, in seconds from the film's beginning."""
    lines = run("ffmpeg", "-nostdin", "-v", "error", "-copyts", "-i", path, "-map", f"0:{kind}:0", "-f", "framecrc", "-")
    times = [line.split(",") for line in lines.splitlines() if not line.startswith("#")]
    base = re.search(r"#tb 0: (\d+)/(\d+)", lines)
    start = run("ffprobe", "-v", "error", "-show_entries", "format=start_time", "-of", "csv=p=0", path).strip()
    return (int(times[-1][2]) + int(times[-1][3])) * int(base[1]) / int(base[2]) - (float(start) if start[:1].isdigit() else 0)


def rate(path):
    return eval(run("ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "stream=r_frame_rate", "-of", "csv=p=0", path).split()[0].strip(","))


def faults(one, path, other, scratch):
    """What is wrong with a film that was made of `one`."""
    if other != "amv" and not int(run("mediainfo", "--Output=General;%VideoCount%", path).strip() or 0):
        yield "mediainfo sees no picture"
    frame = 1 / min(rate(one), rate(path)) + 0.002
    for kind in "va":
        before, after = end(one, kind), end(path, kind)
        # Some codecs' padding is told by no container.
        if min(abs(before - after), abs(2 - after)) > max(frame, 0.07 if kind == "a" else 0):
            yield f"{kind} ends at {after:.3f} s, not {before:.3f}"
    if abs(loudness(one) - loudness(path)) > 0.1:
        yield f"loudness {loudness(path)}, not {loudness(one)}"
    if other not in UNTITLED and title(one) and title(one) not in (title(path), run("mediainfo", "--Output=General;%Title%", path).strip()):
        yield f"its title is {title(path)}"
    if "picture is coded again" not in attribute(path, "remark"):
        if pictures(one) != pictures(path):
            yield "copied pictures are others"
        return
    # Few containers take these.
    theirs = scratch / ("theirs." + (other if other in ("amv", "rm") else "mkv"))
    silent = [] if other == "amv" else ["-an"]
    even = ["-fps_mode", "cfr"] if other in CODINGS and other not in ("webm", "3gp", "3g2") else []
    run("ffmpeg", "-nostdin", "-v", "error", "-y", "-i", one, *silent, *even, *CODINGS.get(other, X264), theirs)
    ours, limit = likeness(path, one), likeness(theirs, one)
    if ours < limit - 0.5:
        yield f"PSNR {ours:.1f}, not {limit:.1f}"


def matrix():
    """Every film as every other, by readers that are none of ours. Not among the tests: a quarter of an hour."""
    forms = os.environ.get("FORMS", " ".join(FORMS)).split()
    count = bad = 0
    with tempfile.TemporaryDirectory() as scratch:
        for form in forms:
            one = pathlib.Path(scratch, f"one.{form}")
            one.write_bytes((mount / f"film.mkv.as-{form}").read_bytes())
            for other in forms:
                path = mount / f"film.mkv.as-{form}.as-{other}"
                count += 1
                try:
                    path.read_bytes()
                    found = list(faults(one, path, other, pathlib.Path(scratch)))
                except (OSError, SystemExit, subprocess.TimeoutExpired) as failure:
                    found = [str(failure), attribute(path, "error")]
                if found:
                    bad += 1
                    print(form, other, *found, sep="; ", flush=True)
    print(f"{count} pairs, {bad} with faults")


globals()[sys.argv[3]]()
