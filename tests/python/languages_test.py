#!/usr/bin/python3
"""Python processes by plain SQL (examples/python) and C++ processes (`rowlock run`) on the same keys.

    script/support/throwaway-postgres run -- tests/python/languages_test.py

ROWLOCK_COMMAND is the command (build/dev/cli/rowlock unless it says otherwise), ROWLOCK_TEST_POSTGRES
the server.
"""

import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

import contender

import psycopg

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("ROWLOCK_COMMAND", str(ROOT / "build/dev/cli/rowlock"))
CONTENDER = str(ROOT / "tests/python/contender.py")
SERVER = os.environ["ROWLOCK_TEST_POSTGRES"]
PATIENCE = 120
SOURCES = ("a", "b")

TABLES = """
    CREATE TABLE inside (source text PRIMARY KEY, pid bigint);
    CREATE TABLE visit (number {number}, source text, token bigint, language text);
    CREATE TABLE visits (source text PRIMARY KEY, value bigint);
    INSERT INTO visits VALUES ('a', 0), ('b', 0);
"""


def await_end(pid):
    """Of a process that need not be a child."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    ended = select.select([process], [], [], PATIENCE)[0]
    os.close(process)
    if not ended:
        raise TimeoutError(f"process {pid} does not end")


class Process:
    """One that is killed at the end of the test, or of this process, if it is still there then."""

    def __init__(self, test, command, environment):
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **environment})
        self.pid = self.process.pid
        test.addCleanup(self.end)

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
        self.process.communicate(timeout=PATIENCE)

    def line(self):
        if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            raise TimeoutError("the process says nothing")
        return self.process.stdout.readline().strip()

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.line()

    def exit_code(self):
        self.process.communicate(timeout=PATIENCE)
        return self.process.returncode

    def signal(self, number):
        os.kill(self.pid, number)


class Languages:
    """What holds on each database; `database` is for Python, `url` for the command."""

    def setUp(self):
        self.environment = {}
        subprocess.run([COMMAND, "migrate", self.url, "--with", "history"], check=True, stdout=subprocess.PIPE)

    def python(self, *arguments):
        return Process(self, [sys.executable, CONTENDER, *arguments], self.environment)

    def rowlock_run(self, source, ttl, *arguments):
        return Process(self, self.run_command(source, ttl, *arguments), self.environment)

    def run_command(self, source, ttl, *arguments):
        return [COMMAND, "run", self.url, "--type", contender.KIND, "--source", source, "--ttl", ttl,
                "--wait", "forever", "--", sys.executable, CONTENDER, *arguments]

    def rowlock_runs(self, turns, first):
        """A shell that executes `rowlock run` so many times, on the keys in turn."""
        commands = [" ".join(map(subprocess.list2cmdline, ([word] for word in self.run_command(
            SOURCES[(first + turn) % len(SOURCES)], "1h", "visit", self.database)))) for turn in range(turns)]
        return Process(self, ["sh", "-ec", "\n".join(commands)], self.environment)

    def visits_of(self, source):
        return self.rows(f"SELECT token, language FROM visit WHERE source = '{source}' ORDER BY number")

    def run_out(self, token):
        self.execute(f"UPDATE shared_lock SET expires_at = '1970-01-01 00:00:00.000' WHERE version = {token}")

    def test_no_two_processes_have_a_key_and_tokens_only_rise(self):
        # Two die while they are inside, one of each language. Their leases would last for an hour.
        killed = [self.python("hold", self.database, "a", "3600"),
                  self.rowlock_run("b", "1h", "hold", self.database)]
        tokens = {}
        for source, process in zip(SOURCES, killed):
            tokens[source] = [int(process.line())]
            self.assertEqual(process.ask("enter"), "done")
        inside = [pid for (pid,) in self.rows("SELECT pid FROM inside")]
        self.assertEqual(len(inside), 2)

        python_turns, cpp_turns = 6, 3
        contenders = [self.python("contend", self.database, str(python_turns), *sources)
                      for sources in (("a", "b"), ("b", "a"), ("a", "b"))]
        contenders += [self.rowlock_runs(cpp_turns, first) for first in range(3)]
        for process in contenders[:3]:
            self.assertEqual(process.line(), "refused")
        for process in killed:
            process.signal(signal.SIGKILL)
        for pid in inside:
            if pid != killed[0].pid:
                os.kill(pid, signal.SIGKILL)  # it ignores the SIGTERM that `rowlock run` leaves it
            await_end(pid)
        for source in SOURCES:
            self.run_out(tokens[source][0])
        for process in contenders:
            self.assertEqual(process.exit_code(), 0)

        for source in SOURCES:
            visits = self.visits_of(source)
            tokens[source] += [token for token, _ in visits]
            self.assertEqual(tokens[source], sorted(set(tokens[source])))
            self.assertEqual({language for _, language in visits}, {"python", "c++"})
            self.assertEqual(self.rows(f"SELECT value FROM visits WHERE source = '{source}'"), [(len(visits),)])
        total = 3 * (python_turns + cpp_turns)
        self.assertEqual(self.rows("SELECT count(*) FROM visit"), [(total,)])
        self.assertEqual(self.rows("SELECT count(*), sum(expiry_count) FROM shared_lock WHERE owner IS NULL"), [(2, 2)])
        self.assertEqual(
            self.rows("SELECT what, count(*) FROM shared_lock_event GROUP BY what ORDER BY what"),
            [("ran out", 2), ("released", total)])

    def test_the_example_and_rowlock_run_refuse_each_other(self):
        example = [sys.executable, str(ROOT / "examples/python/rowlock_sql.py"), self.database, contender.KIND, "a"]
        holder = Process(self, example, {})
        self.assertIn("held for 30 s, token ", holder.line())
        at_once = [COMMAND, "run", self.url, "--type", contender.KIND, "--source", "a", "--"]
        refused = subprocess.run([*at_once, "true"], stderr=subprocess.PIPE)
        self.assertEqual(refused.returncode, 75)
        self.assertIn(f"held by {socket.gethostname()}:{holder.pid}", refused.stderr.decode())
        self.assertIn("released", holder.ask(""))
        under_run = subprocess.run([*at_once, *example], stdout=subprocess.PIPE, check=True)
        self.assertEqual(under_run.stdout.decode(), "another holder has it\n")

    def late_commit_of_a_stopped_python_holder(self):
        holder = self.python("hold", self.database, "a", "3600")
        token = int(holder.line())
        if self.may_work_while_stopped:
            self.assertEqual(holder.ask("work"), "done")
        holder.signal(signal.SIGSTOP)
        self.run_out(token)
        self.assertEqual(self.rowlock_run("a", "1h", "visit", self.database).exit_code(), 0)
        ((successor, language),) = self.visits_of("a")
        self.assertGreater(successor, token)
        self.assertEqual(language, "c++")
        successor_now = self.rowlock_run("a", "1h", "hold", self.database)
        self.assertGreater(int(successor_now.line()), successor)

        holder.signal(signal.SIGCONT)
        if not self.may_work_while_stopped:
            self.assertEqual(holder.ask("work"), "done")
        return holder.ask("commit"), holder, successor_now

    def test_a_stopped_python_holder_is_overtaken_by_cpp_and_commits_nothing(self):
        answer, holder, successor = self.late_commit_of_a_stopped_python_holder()
        self.assertEqual(answer, "refused")
        before = self.rows("SELECT * FROM shared_lock")
        self.assertEqual(holder.ask("renew"), "0")
        self.assertEqual(holder.ask("release"), "0")
        self.assertEqual(self.rows("SELECT * FROM shared_lock"), before)
        self.assertEqual(len(self.visits_of("a")), 1)
        # What it may not do, the successor may.
        self.assertEqual(successor.ask("work"), "done")
        self.assertEqual(successor.ask("commit"), "committed")
        self.assertEqual(successor.exit_code(), 0)

    def test_a_fence_without_the_version_is_caught(self):
        self.environment = {"ROWLOCK_WITHOUT_VERSION": "1"}
        answer, _, _ = self.late_commit_of_a_stopped_python_holder()
        self.assertEqual(answer, "committed")
        self.assertEqual(len(self.visits_of("a")), 2)

    def test_a_stopped_rowlock_run_is_overtaken_by_python_and_its_command_commits_nothing(self):
        holder = self.rowlock_run("a", "1h", "hold", self.database)
        token = int(holder.line())
        holder.signal(signal.SIGSTOP)  # nothing renews its lease
        self.run_out(token)
        self.assertEqual(self.python("contend", self.database, "1", "a").exit_code(), 0)
        ((successor, language),) = self.visits_of("a")
        self.assertGreater(successor, token)
        self.assertEqual(language, "python")
        self.assertEqual(self.rows(f"SELECT what FROM shared_lock_event WHERE token = {token}"), [("ran out",)])
        self.assertEqual(self.rows("SELECT expiry_count FROM shared_lock"), [(1,)])

        self.assertEqual(holder.ask("work"), "done")
        self.assertEqual(holder.ask("commit"), "refused")
        self.assertEqual(holder.ask("renew"), "0")
        self.assertEqual(holder.ask("release"), "0")
        self.assertEqual(len(self.visits_of("a")), 1)
        holder.signal(signal.SIGCONT)
        self.assertEqual(holder.exit_code(), 76)


class LanguagesOnPostgres(Languages, unittest.TestCase):
    may_work_while_stopped = True

    def setUp(self):
        schema = f"languages_{os.getpid()}"
        joint = "&" if "?" in SERVER else "?"
        self.url = self.database = f"{SERVER}{joint}options=-csearch_path%3D{schema}"
        self.connection = psycopg.connect(self.url, autocommit=True)
        self.addCleanup(self.connection.close)
        self.addCleanup(self.execute, f"DROP SCHEMA {schema} CASCADE")
        self.execute(f"CREATE SCHEMA {schema}")
        self.execute(TABLES.format(number="bigserial"))
        super().setUp()

    def execute(self, statement):
        self.connection.execute(statement)

    def rows(self, statement):
        return self.connection.execute(statement).fetchall()


class LanguagesOnSqlite(Languages, unittest.TestCase):
    # An open transaction keeps the file from all others.
    may_work_while_stopped = False

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.database = str(pathlib.Path(folder.name) / "locks.db")
        self.url = "sqlite://" + urllib.parse.quote(self.database)
        super().setUp()
        self.connection = contender.rowlock_sql.connect(self.database)
        self.addCleanup(self.connection.close)
        self.connection.executescript(TABLES.format(number="integer PRIMARY KEY"))

    def execute(self, statement):
        self.connection.execute(statement)

    def rows(self, statement):
        return self.connection.execute(statement).fetchall()


class ExampleTest(unittest.TestCase):
    def test_its_statements_are_those_of_the_page(self):
        page = (ROOT / "docs/sql.md").read_text()
        for engine, of_engine in (("PostgreSQL", contender.statements.POSTGRESQL),
                                  ("SQLite", contender.statements.SQLITE)):
            for operation, statement in of_engine.items():
                section = page.partition(f"\n### {engine}: {operation}\n")[2]
                block = re.search(r"```sql\n(.*?)```", section, re.DOTALL)
                self.assertEqual(statement.lstrip("\n"), block.group(1), f"{operation} on {engine}")

    def test_it_says_what_is_missing_and_makes_no_file(self):
        def refused(*arguments):
            ended = subprocess.run([sys.executable, contender.rowlock_sql.__file__, *arguments], text=True,
                                   stderr=subprocess.PIPE)
            self.assertEqual(ended.returncode, 1)
            self.assertNotIn("Traceback", ended.stderr)
            return ended.stderr

        with tempfile.TemporaryDirectory() as folder:
            database = pathlib.Path(folder) / "locks.db"
            self.assertIn("rowlock_sql.py postgresql://", refused())
            self.assertIn("rowlock migrate", refused(str(database), "invoice", "42"))
            self.assertFalse(database.exists())
            database.touch()
            self.assertIn("no such table", refused(str(database), "invoice", "42"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
