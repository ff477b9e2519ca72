"""Servers of our own, each gone when its `with` ends."""

import contextlib
import os
import random
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.parse


# The kernel ends a process when the thread that started it has ended, killed or not.
ENDS_WITH_US = ["setpriv", "--pdeathsig", "KILL"]


@contextlib.contextmanager
def throwaway(script, variables, options=(), preload=None):
    """The environment variables that script/support/throwaway-... exports."""
    shown = " ".join(f'"${name}"' for name in variables)
    environment = dict(os.environ)
    if preload:
        environment["LD_PRELOAD"] = preload
    server = subprocess.Popen(
        [f"script/support/{script}", "run", *options, "--", "env", "-u", "LD_PRELOAD",
         "sh", "-c", f"printf '%s\\n' {shown}; exec cat >/dev/null"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        values = [server.stdout.readline().strip() for _ in variables]
        if not all(values):
            raise RuntimeError(f"{script} did not start a server, see above")
        yield dict(zip(variables, values))
    finally:
        server.stdin.close()
        server.wait()


def postgres():
    return throwaway("throwaway-postgres", ["ROWLOCK_TEST_POSTGRES", "ROWLOCK_POSTGRES_BIN"],
                     ["--fsync", "on"])


@contextlib.contextmanager
def slow_postgres(library):
    """Each fsync takes 3 ms longer, by `library`."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # the server is another user's
        preload = shutil.copy(library, folder)
        with throwaway("throwaway-postgres", ["ROWLOCK_TEST_POSTGRES", "ROWLOCK_POSTGRES_BIN"],
                       ["--fsync", "on"], preload) as variables:
            yield variables


@contextlib.contextmanager
def distant_postgres(program):
    """Each packet takes half a millisecond longer, by `program` between client and server."""
    with postgres() as variables:
        url = urllib.parse.urlsplit(variables["ROWLOCK_TEST_POSTGRES"])
        proxy = subprocess.Popen([program, str(url.port), "500"], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True)
        try:
            port = proxy.stdout.readline().strip()
            if not port:
                raise RuntimeError(f"{program} did not start, see above")
            there = url._replace(netloc=url.netloc.replace(f":{url.port}", f":{port}"))
            yield {**variables, "ROWLOCK_TEST_POSTGRES": there.geturl()}
        finally:
            proxy.stdin.close()
            proxy.wait()


def mariadb():
    return throwaway("throwaway-mariadb", ["ROWLOCK_TEST_MARIADB"], ["--fsync", "on"])


@contextlib.contextmanager
def on_a_port(variable, command_for):
    """`command_for(port, folder)` serves on 127.0.0.1."""
    for _ in range(20):
        port = random.randrange(20000, 32000)
        with tempfile.TemporaryDirectory() as folder:
            server = subprocess.Popen([*ENDS_WITH_US, *command_for(port, folder)], stdout=subprocess.DEVNULL)
            try:
                if answers(server, port):
                    yield {variable: f"127.0.0.1:{port}"}
                    return
            finally:
                server.terminate()
                server.wait()
    raise RuntimeError(f"no server for {variable} could be started, see above")


def answers(server, port):
    for _ in range(200):
        if server.poll() is not None:
            return False
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return True
        time.sleep(0.05)
    return False


def redis():
    return on_a_port("ROWLOCK_BENCH_REDIS", lambda port, folder: [
        "redis-server", "--bind", "127.0.0.1", "--port", str(port), "--dir", folder,
        "--save", "", "--appendonly", "no"])


def etcd():
    return on_a_port("ROWLOCK_BENCH_ETCD", lambda port, folder: [
        "etcd", "--data-dir", folder, "--logger", "zap", "--log-level", "error",
        "--auto-compaction-mode", "revision", "--auto-compaction-retention", "1000",
        "--listen-client-urls", f"http://127.0.0.1:{port}",
        "--advertise-client-urls", f"http://127.0.0.1:{port}",
        "--listen-peer-urls", "http://127.0.0.1:0"])


def memcached():
    return on_a_port("ROWLOCK_BENCH_MEMCACHED", lambda port, folder: [
        "memcached", "-l", "127.0.0.1", "-p", str(port), "-u", "nobody"])


def sqlite():
    """A file; the program makes its own."""
    return contextlib.nullcontext({})
