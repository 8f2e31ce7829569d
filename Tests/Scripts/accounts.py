#!/usr/bin/env python3
"""accounts.py ENGINE SOURCE MOUNT [SECONDS [SEED]]: processes move money between the accounts of one database, one of them is killed
again and again, and readers add the accounts up: the sum is always the same, and in the end the database is whole. It is opened
through the mount, and in the end in the source, too. ENGINE is sqlite-JOURNAL (delete, truncate, persist, wal, or memory-mapped:
wal-mapped), lmdb or lmdb-mapped, which writes by a map of the file (needs python3-lmdb)."""

import random
import signal
import sqlite3
import struct
import subprocess
import sys
import time

ACCOUNTS, EACH = 1000, 100


class SQLite:
    def __init__(self, folder, journal, new=False):
        self.path = f"{folder}/accounts.sqlite"
        journal, _, mapped = journal.partition("-")
        self.database = sqlite3.connect(self.path, timeout=60, isolation_level=None)
        run = self.database.execute
        run(f"pragma journal_mode={journal}")
        run("pragma cache_size=50")
        if mapped:
            run("pragma mmap_size=100000000")
        if new:
            run("create table account(id integer primary key, money int, pad text)")
            run("create table large(data blob)")
            run("begin")
            self.database.executemany("insert into account values(?, ?, '')", [(number, EACH) for number in range(ACCOUNTS)])
            run("commit")

    def total(self):
        return self.database.execute("select sum(money) from account").fetchone()[0]

    def move(self, chance):
        run = self.database.execute
        try:
            run("begin immediate")
            for _ in range(chance.randrange(1, 20)):
                one, other, money = chance.randrange(ACCOUNTS), chance.randrange(ACCOUNTS), chance.randrange(100)
                run("update account set money=money-? where id=?", (money, one))
                run("update account set money=money+?, pad=? where id=?", (money, "x" * chance.randrange(400), other))
            if chance.random() < 0.1:
                run("insert into large values(zeroblob(?))", (chance.randrange(50_000),))
            if chance.random() < 0.05:
                run("delete from large where rowid % 3 = 0")
            run("commit" if chance.random() < 0.9 else "rollback")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            if self.database.in_transaction:
                run("rollback")

    def faults(self):
        found = [row[0] for row in self.database.execute("pragma integrity_check")]
        return [] if found == ["ok"] else found[:5]

    def close(self):
        self.database.close()


class LMDB:
    def __init__(self, folder, mapped, new=False):
        import lmdb

        self.environment = lmdb.open(f"{folder}/accounts.lmdb", map_size=64 << 20, subdir=False, writemap=mapped, max_readers=64)
        self.environment.reader_check()
        if new:
            with self.environment.begin(write=True) as transaction:
                for number in range(ACCOUNTS):
                    transaction.put(b"account%06d" % number, struct.pack("<q", EACH))

    def total(self):
        with self.environment.begin() as transaction:
            return sum(struct.unpack("<q", value[:8])[0] for key, value in transaction.cursor() if key.startswith(b"account"))

    def move(self, chance):
        transaction = self.environment.begin(write=True)
        try:
            for _ in range(chance.randrange(1, 20)):
                keys = [b"account%06d" % chance.randrange(ACCOUNTS) for _ in range(2)]
                money = chance.randrange(100)
                for key, change in zip(keys, (-money, money)):
                    old = struct.unpack("<q", transaction.get(key)[:8])[0]
                    transaction.put(key, struct.pack("<q", old + change) + b"x" * chance.randrange(400))
            if chance.random() < 0.1:
                transaction.put(b"large%d" % chance.randrange(50), bytes(chance.randrange(50_000)))
        except BaseException:
            transaction.abort()
            raise
        (transaction.commit if chance.random() < 0.9 else transaction.abort)()

    def faults(self):
        with self.environment.begin() as transaction:
            keys = [key for key, _ in transaction.cursor()]
            if keys != sorted(set(keys)) or transaction.stat()["entries"] != len(keys):
                return ["keys are missing or out of order"]
        return []

    def close(self):
        self.environment.close()


def opened(engine, folder, new=False):
    kind, _, how = engine.partition("-")
    return SQLite(folder, how, new) if kind == "sqlite" else LMDB(folder, how == "mapped", new)


def work(engine, folder, seconds, seed):
    """A process's part: prints the number of transactions, or a wrong sum."""
    database, chance = opened(engine, folder), random.Random(seed)
    end, done = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        if chance.random() < 0.3:
            total = database.total()
            if total != ACCOUNTS * EACH:
                sys.exit(f"the sum is {total}, not {ACCOUNTS * EACH}")
        else:
            database.move(chance)
        done += 1
    print(done, flush=True)


def main(engine, source, mount, seconds=10, seed=1):
    opened(engine, mount, new=True).close()
    chance = random.Random(seed)

    def started(number):
        words = [sys.executable, "-B", __file__, engine, "work", mount, str(seconds), str(number)]
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    end, kills, wrong, done = time.monotonic() + seconds, 0, [], 0
    workers, victim = [started(seed + number) for number in range(3)], started(seed + 100)
    while time.monotonic() < end:
        time.sleep(chance.uniform(0.1, 0.6))
        if victim.poll() not in (None, 0):
            wrong.append(f"who is killed: {victim.communicate()[1][-500:]}")
        victim.send_signal(signal.SIGKILL)
        victim.communicate()
        kills += 1
        victim = started(seed + 100 + kills)
    victim.kill()
    victim.communicate()
    for worker in workers:
        said, errors = worker.communicate(timeout=seconds + 120)
        if worker.returncode:
            wrong.append(errors[-800:].strip())
        else:
            done += int(said)
    for folder in (mount, source):
        database = opened(engine, folder)
        where = "the mount" if folder == mount else "the source"
        if database.total() != ACCOUNTS * EACH:
            wrong.append(f"in {where} the sum is {database.total()}, not {ACCOUNTS * EACH}")
        wrong += [f"in {where}: {fault}" for fault in database.faults()]
        database.close()
    print(f"{engine}: {done} transactions, {kills} kills in {seconds:.0f} s", flush=True)
    return wrong


if __name__ == "__main__":
    if sys.argv[2] == "work":
        work(sys.argv[1], sys.argv[3], float(sys.argv[4]), int(sys.argv[5]))
        sys.exit()
    problems = main(*sys.argv[1:4], *map(int, sys.argv[4:]))
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
