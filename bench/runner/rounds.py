"""Runs scenarios, their protocols alternately, and collects what the programs print."""

import contextlib
import json
import os
import subprocess
import sys
import time

from scenarios import DURABLE_RELEASE
from servers import ENDS_WITH_US


class Failed(RuntimeError):
    pass


def measure(program, scenario, variables, protocol):
    command = [*program, "--length-ms", str(scenario.length_ms),
               "--warm-up-ms", str(scenario.warm_up_ms), *scenario.arguments,
               *scenario.more_arguments.get(protocol, [])]
    # The tables are vacuumed after the warm-up, and it begins once more.
    limit = scenario.most_set_up_s + (2 * scenario.warm_up_ms + scenario.length_ms) / 1000
    with busy_loops(scenario.busy_loops):
        try:
            done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True,
                                  timeout=limit, check=False)
        except subprocess.TimeoutExpired as late:
            said = (late.stderr or b"").decode(errors="replace").strip()
            raise Failed(f"{scenario.name}, {protocol}: not over after {limit:.0f} s: {said}") from late
    if done.returncode != 0:
        raise Failed(f"{scenario.name}, {protocol}: {done.stderr.strip()}")
    figures = json.loads(done.stdout)
    if "--act" not in scenario.arguments and figures.get("refused"):
        raise Failed(f"{scenario.name}, {protocol}: {figures['refused']} pairs were refused, though each thread has "
                     "its own key")
    if figures.get("violations"):
        raise Failed(f"{scenario.name}, {protocol}: two held the key at once")
    is_unflushed = protocol.startswith(("rowlock", "bare")) and protocol != DURABLE_RELEASE
    commits = 1 if is_unflushed else 2  # that a pair flushes
    # A moment may be too short for a single pair.
    if "slow_postgres" in scenario.servers and figures.get("p50", commits * 3000) < commits * 3000:
        raise Failed(f"{scenario.name}, {protocol}: {commits} flushes in {figures['p50']:.0f} us, so the "
                     "disk is not slow: can the server's user read the preloaded library?")
    return figures


@contextlib.contextmanager
def busy_loops(count):
    """Processes that take as much time of the processors as they get."""
    loops = [subprocess.Popen([*ENDS_WITH_US, "sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def in_turns(protocols, round_number):
    """Each round begins with another one."""
    first = round_number % len(protocols)
    return protocols[first:] + protocols[:first]


def run(program_of, scenarios, servers):
    """All scenarios; the servers of `servers` (by name) are started when they are needed first.

    `program_of(protocol, round)` is a command, to which arguments are added. Returns
    {scenario name: {protocol: [figures, ...]}}, a value for each round.
    """
    results = {}
    with contextlib.ExitStack() as stack:
        variables = {}
        for number, scenario in enumerate(scenarios, 1):
            for server in scenario.servers:
                if server not in variables:
                    variables[server] = stack.enter_context(servers[server]())
            given = {}
            for server in scenario.servers:
                given.update(variables[server])
            begun = time.monotonic()
            runs = {protocol: [] for protocol in scenario.protocols}
            for round_number in range(scenario.rounds):
                for protocol in in_turns(scenario.protocols, round_number):
                    runs[protocol].append(measure(program_of(protocol, round_number), scenario, given, protocol))
            results[scenario.name] = runs
            print(f"[{number}/{len(scenarios)}] {scenario.name}: "
                  f"{time.monotonic() - begun:.0f} s", file=sys.stderr)
    return results
