#!/usr/bin/python3
"""Leases in Python, beside C++ processes on the same keys, by the statements of docs/sql.md alone.

    rowlock_sql.py postgresql://app@db/shop invoice 42     (or a SQLite file that rowlock migrate has made)
"""

import os
import re
import secrets
import socket
import sqlite3
import sys
import time
import urllib.parse

import statements


def connect(database):
    """In autocommit. Of a second connection the transactions of the work are made."""
    if "://" in database:
        import psycopg  # not needed for SQLite
        return psycopg.connect(database, autocommit=True)
    existing = f"file:{urllib.parse.quote(database)}?mode=rw"
    return sqlite3.connect(existing, uri=True, isolation_level=None, timeout=10)


def execute(connection, operation, **values):
    """The first value that the statement returns; if it returns no rows at all, how many it changes."""
    if isinstance(connection, sqlite3.Connection):
        cursor = connection.execute(statements.SQLITE[operation], values)
    else:  # :'type' and :token are %(type)s and %(token)s here
        statement = re.sub(r"(?<!:):'?([a-z_]+)'?", r"%(\1)s", statements.POSTGRESQL[operation])
        cursor = connection.execute(statement, values)
    if cursor.description is None:
        return cursor.rowcount
    rows = cursor.fetchall()  # all: SQLite commits when they are read
    return rows[0][0] if rows else 0


class Lease:
    """Renew it each third of the ttl. A call that answers False has found it lost: stop the work."""

    MARGIN = 0.2  # for the drift between two clocks, in seconds

    @classmethod
    def acquire(cls, connection, kind, source, ttl):
        """None if another holder has the key. The connection is for locks only, the ttl in seconds."""
        lease = cls()
        lease.connection, lease.ttl, lease.key = connection, ttl, {"type": kind, "source": source}
        asked = time.clock_gettime(time.CLOCK_BOOTTIME)
        holder = f"{socket.gethostname()}:{os.getpid()}"
        lease.token = execute(connection, "acquire", owner=secrets.token_hex(16), holder=holder,
                              ttl_ms=int(ttl * 1000), **lease.key)
        lease.deadline = asked + ttl - cls.MARGIN  # from before the request
        return lease if lease.token else None

    def is_valid(self):
        return time.clock_gettime(time.CLOCK_BOOTTIME) < self.deadline

    def renew(self):
        asked = time.clock_gettime(time.CLOCK_BOOTTIME)
        renewed = self.is_valid() and execute(self.connection, "renew", token=self.token,
                                              ttl_ms=int(self.ttl * 1000), **self.key) == 1
        self.deadline = asked + self.ttl - self.MARGIN if renewed else 0
        return renewed

    def release(self):
        self.deadline = 0
        return execute(self.connection, "release", token=self.token, **self.key) == 1

    def fence(self, work):
        """The last statement of the work's transaction (BEGIN IMMEDIATE on SQLite). If False: ROLLBACK."""
        return execute(work, "fence", token=self.token, **self.key) == 1


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    try:
        held = Lease.acquire(connect(sys.argv[1]), sys.argv[2], sys.argv[3], ttl=30)
    except Exception as fault:
        is_missing = re.search("no such table|does not exist|unable to open", str(fault))
        sys.exit(f"{fault}" + ("\nThe table is made by: rowlock migrate URL" if is_missing else ""))
    print(f"held for 30 s, token {held.token}; Enter releases it" if held else "another holder has it", flush=True)
    if held:
        sys.stdin.readline()
        print("released" if held.release() else "it was lost")
