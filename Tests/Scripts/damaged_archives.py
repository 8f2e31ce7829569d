"""Damaged archives: damaged_archives.py make|check FOLDER ORIGINALS [MOUNT]

make: packs ORIGINALS (which it makes) into TAR archives by every compressor that is installed, and flips one bit in
each of many copies. check: reads all members in a mount of FOLDER; prints those that are read without an error and are
not what was packed, and how many were read."""
import io, os, random, shutil, subprocess, sys, tarfile

tools = {
    "gz": ["gzip", "-c"], "bz2": ["bzip2", "-c"], "xz": ["xz", "-c"], "blocks.xz": ["xz", "-c", "--block-size=60000"],
    "zst": ["zstd", "-qc"], "lz4": ["lz4", "-qc"], "lz": ["lzip", "-c"], "members.lz": ["lzip", "-c", "-b", "100000"],
}
count = 25
source = random.Random(11)
files = {f"f{n:02}": source.randbytes(9000) if n % 3 else b"line %d\n" % n * 2000 for n in range(20)}


def make(folder, originals):
    os.makedirs(originals, exist_ok=True)
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        for name, data in files.items():
            with open(f"{originals}/{name}", "wb") as file: file.write(data)
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    for kind, (program, *options) in tools.items():
        if not shutil.which(program): continue
        packed = subprocess.run([program, *options], input=plain.getvalue(), stdout=subprocess.PIPE, check=True).stdout
        with open(f"{folder}/sound.tar.{kind}", "wb") as file: file.write(packed)
        for number in range(count):
            numbers = random.Random(kind + str(number))
            bad = bytearray(packed)
            bad[numbers.randrange(20, len(bad))] ^= 1 << numbers.randrange(8)
            with open(f"{folder}/{number}.tar.{kind}", "wb") as file: file.write(bad)


def check(folder, mount):
    right = 0
    for name in sorted(os.listdir(folder)):
        view = f"{mount}/{name}.contents"
        try: names = os.listdir(view)
        except OSError: continue
        for member in names:
            try:
                with open(f"{view}/{member}", "rb") as file: data = file.read()
            except OSError: continue
            if member in files and data == files[member]: right += 1
            else:
                state = os.getxattr(f"{view}/{member}", "user.ffmount.state").decode()
                print(f"{name}: {member} is read wrong, state {state}")
        if name.startswith("sound") and len(names) != len(files): print(f"{name}: {len(names)} members")
    print("some are right" if right > 200 else f"{right} are right")


if sys.argv[1] == "make": make(*sys.argv[2:4])
else: check(sys.argv[2], sys.argv[3])
