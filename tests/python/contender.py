#!/usr/bin/python3
"""What the processes of languages_test.py do: visits under a key, each in two fenced transactions.

    contender.py contend DATABASE TURNS SOURCE...  acquires the keys in turn, by examples/python; says
                                                   of each try that was refused
    contender.py visit DATABASE                    one visit under `rowlock run`
    contender.py hold DATABASE [SOURCE TTL]        says its token and obeys commands, a line each

`hold` acquires a key by examples/python, or is under `rowlock run`. Its commands:

    enter             the first half of a visit
    work              begins a transaction and works in it
    commit            fences and commits that transaction
    renew, release    the statement alone, however late it is

With ROWLOCK_WITHOUT_VERSION set the fence asks for any holder: a negative control.
"""

import os
import pathlib
import random
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples/python"))
import rowlock_sql  # noqa: E402
import statements  # noqa: E402

KIND = "job"
HOUR = 3600

if "ROWLOCK_WITHOUT_VERSION" in os.environ:
    for of_engine in (statements.POSTGRESQL, statements.SQLITE):
        of_engine["fence"] = of_engine["fence"].replace("version = :token", ":token > 0")


def is_dead(pid):
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return stat.rpartition(")")[2].split()[0] in "ZX"


class Witness:
    """The tables that show whether two holders were inside at a time. All of a visit is fenced."""

    def __init__(self, database, source, token, language):
        self.work = rowlock_sql.connect(database)
        self.source, self.token, self.language = source, token, language
        self.is_sqlite = "://" not in database

    def execute(self, statement, *values):
        return self.work.execute(statement if self.is_sqlite else statement.replace("?", "%s"), values)

    def begin(self):
        self.execute("BEGIN IMMEDIATE" if self.is_sqlite else "BEGIN")

    def fenced_commit(self):
        fenced = rowlock_sql.execute(self.work, "fence", type=KIND, source=self.source, token=self.token)
        self.execute("COMMIT" if fenced == 1 else "ROLLBACK")
        return fenced == 1

    def enter(self):
        self.begin()
        for (pid,) in self.execute("SELECT pid FROM inside WHERE source = ?", self.source).fetchall():
            assert is_dead(pid), f"{pid} and {os.getpid()} are inside {self.source} at a time"
        self.execute("DELETE FROM inside WHERE source = ?", self.source)
        self.execute("INSERT INTO inside (source, pid) VALUES (?, ?)", self.source, os.getpid())
        (self.visits,) = self.execute("SELECT value FROM visits WHERE source = ?", self.source).fetchone()
        assert self.fenced_commit(), "the lease was lost before the visit"

    def add_visit(self):
        self.execute("INSERT INTO visit (source, token, language) VALUES (?, ?, ?)",
                     self.source, self.token, self.language)

    def leave(self):
        self.begin()
        self.add_visit()
        self.execute("UPDATE visits SET value = ? WHERE source = ?", self.visits + 1, self.source)
        left = self.execute("DELETE FROM inside WHERE source = ? AND pid = ?", self.source, os.getpid())
        assert left.rowcount == 1, f"another process entered {self.source} meanwhile"
        assert self.fenced_commit(), "the lease was lost during the visit"


def contend(database, turns, sources):
    locks = rowlock_sql.connect(database)
    for turn in range(turns):
        source = sources[turn % len(sources)]
        while not (lease := rowlock_sql.Lease.acquire(locks, KIND, source, HOUR)):
            print("refused", flush=True)
            time.sleep(random.uniform(0.005, 0.02))
        witness = Witness(database, source, lease.token, "python")
        witness.enter()
        assert lease.renew(), "a lease of an hour was lost"
        witness.leave()
        assert lease.release(), "it was not ours to release"


def of_rowlock_run(database):
    """The key and the token that the command has from `rowlock run`."""
    return Witness(database, os.environ["ROWLOCK_SOURCE"], int(os.environ["ROWLOCK_TOKEN"]), "c++")


def visit(database):
    witness = of_rowlock_run(database)
    witness.enter()
    witness.leave()


def hold(database, source=None, ttl=None):
    locks = rowlock_sql.connect(database)
    if source:
        lease = rowlock_sql.Lease.acquire(locks, KIND, source, float(ttl))
        witness = Witness(database, source, lease.token, "python")
    else:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a late command is what the test is about
        witness = of_rowlock_run(database)
    print(witness.token, flush=True)
    key = {"type": KIND, "source": witness.source, "token": witness.token}
    for command in map(str.strip, sys.stdin):
        answer = "done"
        if command == "enter":
            witness.enter()
        elif command == "work":
            witness.begin()
            witness.add_visit()
        elif command == "commit":
            answer = "committed" if witness.fenced_commit() else "refused"
        elif command == "renew":
            answer = rowlock_sql.execute(locks, "renew", ttl_ms=HOUR * 1000, **key)
        elif command == "release":
            answer = rowlock_sql.execute(locks, "release", **key)
        print(answer, flush=True)


if __name__ == "__main__":
    mode, database, *rest = sys.argv[1:]
    if mode == "contend":
        contend(database, int(rest[0]), rest[1:])
    elif mode == "visit":
        visit(database)
    else:
        hold(database, *rest)
