"""Programs that change a mount while its processes die; each way is a method that raises when something is wrong."""
import ctypes
import errno
import fcntl
import os
import random
import shutil
import sqlite3
import stat
import subprocess
import tempfile
import time
from pathlib import Path

libc = ctypes.CDLL(None, use_errno=True)
libc.renameat2.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
BALANCE, ACCOUNTS = 100, 500


def prepare(root: Path) -> None:
    """Makes in the mount what several of them use."""
    for mode in ("delete", "wal"):
        with sqlite3.connect(root / f"{mode}.db", isolation_level=None) as table:
            table.execute(f"pragma journal_mode={mode}")
            table.execute("create table account(id integer primary key, sum int, note text)")
            table.execute("begin")
            table.executemany("insert into account values(?, ?, '')", [(n, BALANCE) for n in range(ACCOUNTS)])
            table.execute("commit")
        table.close()
    (root / "number").write_text("0")


def check(root: Path) -> list[str]:
    """What is wrong with what they have left."""
    errors = []
    for mode in ("delete", "wal"):
        table = sqlite3.connect(root / f"{mode}.db", timeout=30)
        found = table.execute("pragma integrity_check").fetchone()[0]
        total = table.execute("select sum(sum) from account").fetchone()[0]
        table.close()
        if found != "ok" or total != BALANCE * ACCOUNTS:
            errors.append(f"{mode}.db: {found}, sum {total}")
    return errors


class Writer:
    def __init__(self, root: Path, plain: Path, fsx: Path | None, number: int):
        self.random = random.Random(number)
        self.own = Path(tempfile.mkdtemp())
        self.place = Path(tempfile.mkdtemp(dir=root))
        self.plain = Path(tempfile.mkdtemp(dir=plain))
        self.root, self.fsx, self.at, self.text = root, fsx, "", b""
        self.files: dict[int, tuple[int, int]] = {}
        self.log = os.open(self.place / "log", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        self.counter = os.open(root / "number", os.O_RDWR)
        self.table = None

    def names(self):
        """Changes that cannot be done twice, and appends, unnamed files and locks."""
        path = self.place
        self.at = "mkdir"
        (path / "a").mkdir()
        self.at = "create"
        file = os.open(path / "a/x", os.O_WRONLY | os.O_CREAT | os.O_EXCL, self.random.choice([0o444, 0o644, 0o600]))
        data = self.random.randbytes(self.random.randrange(1, 5000))
        os.write(file, data)
        assert os.fstat(file).st_size == len(data)
        os.close(file)
        self.at = "link and rename"
        os.link(path / "a/x", path / "y")
        (path / "a/x").rename(path / "z")
        assert (path / "y").stat().st_nlink == 2
        (path / "y").unlink()
        assert (path / "z").stat().st_nlink == 1 and (path / "z").read_bytes() == data
        self.at = "symlink"
        (path / "l").symlink_to("z")
        assert os.readlink(path / "l") == "z"
        (path / "l").unlink()
        self.at = "folders"
        (path / "a/b").mkdir()
        (path / "a/b/f").write_bytes(b"1")
        (path / "a").rename(path / "c")
        assert (path / "c/b/f").read_bytes() == b"1"
        (path / "c/b/f").unlink()
        (path / "c/b").rmdir()
        (path / "c").rmdir()
        self.at = "append"
        more = self.random.randbytes(self.random.randrange(1, 20000))
        os.write(self.log, more)
        self.text += more
        assert os.fstat(self.log).st_size == len(self.text), f"{os.fstat(self.log).st_size} bytes of {len(self.text)}"
        assert os.pread(self.log, len(self.text), 0) == self.text
        if len(self.text) > 1 << 19:
            os.ftruncate(self.log, 0)
            self.text = b""
        self.at = "attribute"
        os.setxattr(path / "log", "user.a", b"1", os.XATTR_CREATE)
        os.removexattr(path / "log", "user.a")
        self.at = "unlink"
        (path / "z").unlink()
        file = os.open(path / "t", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        (path / "t").unlink()
        os.write(file, data)
        os.fsync(file)
        assert os.pread(file, len(data), 0) == data
        os.close(file)
        assert os.listdir(path) == ["log"], os.listdir(path)
        self.at = "lock"
        fcntl.lockf(self.counter, fcntl.LOCK_EX)
        before = os.pread(self.counter, 20, 0)
        time.sleep(self.random.random() / 500)
        assert os.pread(self.counter, 20, 0) == before, "two have the lock"
        os.pwrite(self.counter, b"%d" % (int(before) + 1), 0)
        fcntl.lockf(self.counter, fcntl.LOCK_UN)

    def tables(self):
        """Transactions of SQLite, half of them in a journal of the one kind and half in the other."""
        if self.table is None:
            self.at = self.random.choice(["delete", "wal"])
            self.table = sqlite3.connect(self.root / f"{self.at}.db", timeout=120, isolation_level=None)
            self.table.execute("pragma cache_size=50")
        if self.random.random() < 0.3:
            total, = self.table.execute("select sum(sum) from account").fetchone()
            assert total == BALANCE * ACCOUNTS, f"the sum is {total}"
        self.table.execute("begin immediate")
        for _ in range(self.random.randrange(1, 20)):
            one, other, sum = self.random.randrange(ACCOUNTS), self.random.randrange(ACCOUNTS), self.random.randrange(100)
            self.table.execute("update account set sum = sum - ? where id = ?", (sum, one))
            note = "x" * self.random.randrange(400)
            self.table.execute("update account set sum = sum + ?, note = ? where id = ?", (sum, note, other))
        self.table.execute("commit" if self.random.random() < 0.9 else "rollback")

    def run(self, *words: object) -> str:
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, f"{words[:5]}: {done.returncode} {(done.stderr + done.stdout)[-400:]!r}"
        return done.stdout

    def git(self):
        """A repository from its first commit to a collection of its garbage, and a clone."""
        first, second = self.place / "first", self.place / "second"
        git = ("git", "-c", "user.name=n", "-c", "user.email=a@b", "-c", "gc.auto=0", "-C")
        self.run("git", "init", "-q", first)
        for number in range(8):
            for name in self.random.sample("abcdef", 3):
                (first / name).write_bytes(self.random.randbytes(self.random.randrange(20000)))
            self.run(*git, first, "add", "-A")
            self.run(*git, first, "commit", "-qm", f"change {number}")
        self.run(*git, first, "checkout", "-q", "HEAD~3")
        self.run(*git, first, "checkout", "-q", "-")
        self.run("git", "clone", "-q", "--no-hardlinks", first, second)
        self.run(*git, first, "gc", "-q", "--prune=now")
        for folder in (first, second):
            self.run(*git, folder, "fsck", "--full", "--strict")
            status = self.run(*git, folder, "status", "--porcelain")
            assert status == "", status
            shutil.rmtree(folder)

    def exerciser(self):
        """fsx of xfstests, where it is."""
        if self.fsx is None:
            return self.names()
        seed = str(self.random.randrange(1, 1 << 30))
        self.run(self.fsx, "-q", "-S", seed, "-N", "400", "-P", self.own, self.place / "fsx")

    # The same in the mount and in a plain folder.

    def model(self):
        """Random operations, whose results must be those in a plain folder."""
        for _ in range(50):
            kind = self.random.choice(Writer.OPERATIONS)
            self.at = kind.__name__
            seed = self.random.random()
            results = []
            for number, folder in enumerate((self.plain, self.place)):
                chance = random.Random(seed)
                try:
                    results.append(kind(self, folder, number, chance))
                except OSError as error:
                    results.append(errno.errorcode[error.errno])
            assert results[0] == results[1], f"plain {str(results[0])[:150]}, mount {str(results[1])[:150]}"

    def some_file(self, number: int, chance: random.Random) -> int:
        if not self.files:
            raise OSError(errno.EBADF, "")
        return self.files[chance.choice(sorted(self.files))][number]

    def some_name(self, chance: random.Random) -> str:
        return chance.choice(["d/", ""]) + chance.choice("fghi")

    def do_open(self, folder: Path, number: int, chance: random.Random):
        flags = chance.choice([os.O_RDONLY, os.O_RDWR, os.O_RDWR, os.O_WRONLY])
        for flag, share in ((os.O_CREAT, 0.7), (os.O_EXCL, 0.1), (os.O_APPEND, 0.2), (os.O_TRUNC, 0.1)):
            if chance.random() < share and (flag != os.O_TRUNC or flags & os.O_ACCMODE):
                flags |= flag
        file = os.open(folder / self.some_name(chance), flags, 0o644)
        key = chance.randrange(8)
        before = self.files.get(key, (-1, -1))
        if before[number] >= 0:
            os.close(before[number])
        self.files[key] = (file, before[1]) if number == 0 else (before[0], file)
        return key

    def do_write(self, folder: Path, number: int, chance: random.Random):
        data = chance.randbytes(chance.randrange(1, 20000))
        return os.pwrite(self.some_file(number, chance), data, chance.randrange(50000))

    def do_append(self, folder: Path, number: int, chance: random.Random):
        return os.write(self.some_file(number, chance), chance.randbytes(chance.randrange(1, 9000)))

    def do_read(self, folder: Path, number: int, chance: random.Random):
        return os.pread(self.some_file(number, chance), chance.randrange(60000), chance.randrange(60000))

    def do_status(self, folder: Path, number: int, chance: random.Random):
        found = os.fstat(self.some_file(number, chance))
        return found.st_mode, found.st_size, found.st_nlink

    def do_truncate(self, folder: Path, number: int, chance: random.Random):
        return os.ftruncate(self.some_file(number, chance), chance.randrange(60000))

    def do_sync(self, folder: Path, number: int, chance: random.Random):
        return os.fsync(self.some_file(number, chance))

    def do_unlink(self, folder: Path, number: int, chance: random.Random):
        return (folder / self.some_name(chance)).unlink()

    def do_rename(self, folder: Path, number: int, chance: random.Random):
        names = [str(folder / chance.choice([self.some_name(chance), "d", "e"])).encode() for _ in range(2)]
        if libc.renameat2(-100, names[0], -100, names[1], chance.choice([0, 0, 0, 1, 2])):
            raise OSError(ctypes.get_errno(), "")

    def do_link(self, folder: Path, number: int, chance: random.Random):
        return os.link(folder / self.some_name(chance), folder / self.some_name(chance))

    def do_folder(self, folder: Path, number: int, chance: random.Random):
        return chance.choice([os.mkdir, os.mkdir, os.rmdir])(folder / chance.choice("de"))

    def do_look(self, folder: Path, number: int, chance: random.Random):
        found = os.lstat(folder / self.some_name(chance))
        return found.st_mode, found.st_nlink, found.st_size if stat.S_ISREG(found.st_mode) else 0

    def do_list(self, folder: Path, number: int, chance: random.Random):
        return sorted(set(os.listdir(folder / chance.choice(["", "d"]))) - {"log"})

    def do_whole(self, folder: Path, number: int, chance: random.Random):
        return (folder / self.some_name(chance)).read_bytes()

    def do_lock(self, folder: Path, number: int, chance: random.Random):
        kind = chance.choice([fcntl.LOCK_EX, fcntl.LOCK_SH, fcntl.LOCK_UN])
        wanted = kind if kind == fcntl.LOCK_UN else kind | fcntl.LOCK_NB
        fcntl.lockf(self.some_file(number, chance), wanted, chance.randrange(1, 99), chance.randrange(99))

    OPERATIONS = [do_open, do_open, do_write, do_write, do_append, do_read, do_read, do_status, do_truncate, do_sync, do_unlink,
                  do_rename, do_link, do_folder, do_look, do_list, do_whole, do_lock]
    WAYS = [names, tables, git, model, exerciser, tables, names, model]
