"""The tables of bench/results, those of the pages in docs, the plots."""

import json
import math
import os
import statistics

import page
import plots
import ratios
from scenarios import NOISE, UNGROUPED

PLOTS = "docs/performance"

# Figure, heading, and how it is written.
COLUMNS = [
    ("per_second", "a second", "{:,.0f}"),
    ("p50", "median, ms", "{:,.2f}"),
    ("p99", "99 %, ms", "{:,.2f}"),
    ("p999", "99.9 %, ms", "{:,.2f}"),
    ("handover_p50", "handoff, ms", "{:,.2f}"),
    ("handover_p99", "99 %, ms", "{:,.2f}"),
    ("statements_each", "statements each", "{:,.1f}"),
    ("statements_per_second", "statements a second", "{:,.0f}"),
    ("wal_bytes_each", "WAL, bytes each", "{:,.0f}"),
    ("server_cpu_each", "server CPU, us each", "{:,.0f}"),
    ("thread_cpu_each", "client CPU, us each", "{:,.0f}"),
    ("client_percent", "of a processor, %, each process", "{:,.2f}"),
    ("own_cpu_each", "own CPU, us each", "{:,.1f}"),
    ("bytes_each", "memory of a lease, bytes", "{:,.0f}"),
    ("dead_rows", "dead rows", "{:,.0f}"),
]
IN_MILLISECONDS = {"p50", "p99", "p999", "handover_p50", "handover_p99"}


def median(runs, figure):
    value = statistics.median(each[figure] for each in runs)
    return value / 1000 if figure in IN_MILLISECONDS else value


def spread(runs):
    """Half the difference of the lowest and the highest, relative to the median."""
    values = [each["per_second"] for each in runs]
    middle = statistics.median(values)
    return (max(values) - min(values)) / 2 / middle if middle else 0


def table_of(scenario):
    rounds = scenario["rounds"]
    columns = [column for column in COLUMNS
               if any(all(column[0] in each for each in runs) for runs in rounds.values())]
    lines = ["| protocol | " + " | ".join(heading for _, heading, _ in columns) + " | spread |",
             "|---|" + "---:|" * (len(columns) + 1)]
    for protocol, runs in sorted(rounds.items(), key=lambda pair: -median(pair[1], "per_second")):
        cells = [shape.format(median(runs, figure)) if all(figure in each for each in runs) else ""
                 for figure, _, shape in columns]
        lines.append(f"| {protocol} | " + " | ".join(cells) + f" | ± {spread(runs):.0%} |")
    return "\n".join(lines)


def minute_table(minutes):
    lines = ["| minute | median, ms | 99 %, ms | 99.9 %, ms | tables and indexes, kB | dead rows | "
             "checkpoints so far | automatic vacuums so far |", "|---:|" + "---:|" * 7]
    for number, each in enumerate(minutes, 1):
        times = " | ".join(f"{each[figure] / 1000:,.2f}" if figure in each else ""
                           for figure in ("p50", "p99", "p999"))
        lines.append(f"| {number} | {times} | {each['table_bytes'] / 1000:,.0f} | {each['dead_rows']:,} | "
                     f"{each['checkpoints']} | {each['vacuums']} |")
    return "\n".join(lines)


def ratio_table(came_out):
    lines = ["| | median | its interval | lowest | highest | must be | |", "|---|---:|---|---:|---:|---|---|"]
    for ratio in came_out:
        low, high = ratio.interval
        lines.append(f"| {ratio.name} | {ratio.value:.2f} | {low:.2f} to {high:.2f} | {min(ratio.values):.2f} | "
                     f"{max(ratio.values):.2f} | {ratio.bound} | {ratio.verdict and f'**{ratio.verdict.lower()}**'} |")
    return "\n".join(lines)


def place_of(run):
    facts = run["about"]
    return (f"Measured on {facts['date']}, revision {facts['revision']}: "
            f"{facts['processors']} cores of {facts['processor']}, Linux {facts['kernel']}, "
            f"{facts['postgres']} ({facts['settings']}); the load before was "
            f"{facts['load_before']:.1f}"
            + (f", and the host took {facts['stolen']:.1%} of the processors' time" if "stolen" in facts else "")
            + ".")


def name_of(run):
    """Of the files of this run in bench/results."""
    kind = run.get("kind") and f"-{run['kind']}"
    return f"{run['about']['date'].replace(':', '')}-{run['about']['revision']}{kind or ''}"


def command_of(name, scenario):
    beside = scenario.get("busy_loops", 0)
    more = scenario.get("more_arguments", {})
    return (f"`{name}`: `rowlock_race {' '.join(scenario['arguments'])}`"
            + "".join(f", with `{' '.join(arguments)}` for {protocol}" for protocol, arguments in more.items())
            + (f", beside {beside} busy loops" if beside else ""))


def originals_of(run):
    found = run["about"].get("originals", {})
    return ["The originals: " + "; ".join(f"{name} {version}" for name, version in found.items()) + ". Their "
            "programs in bench/real take the same arguments."] if found else []


def tables_of(run):
    """All scenarios, for bench/results."""
    parts = [f"# Results of {run['about']['date'][:10]}", place_of(run), *originals_of(run),
             *goals_of(run)]
    for name, scenario in run["scenarios"].items():
        parts += [f"## {scenario['title'][0].upper()}{scenario['title'][1:]}",
                  command_of(name, scenario), table_of(scenario)]
        parts += [minute_table(each["minutes"]) for runs in scenario["rounds"].values() for each in runs
                  if "minutes" in each]
    return "\n\n".join(parts) + "\n"


def goals_of(run):
    """The required ratios, and which were reached."""
    came_out = ratios.all_of({name: each["rounds"] for name, each in run["scenarios"].items()})
    if not came_out:
        return []
    noise = max(each.noise for each in came_out)
    return ["## What must come out",
            "Ratios are taken in each round, and their median counts. Where the goal lies within the interval of "
            "the median, the run is too noisy to tell: the interval has all rounds; of nine, all but the lowest "
            "and the highest; of fewer than five, and where they are minutes apart, the noise is added to times."
            + (f" The noise is ± {noise:.0%}: half the spread of `rowlock_ungrouped` with 8 threads, measured "
               "at the beginning and at the end." if 0 < noise < math.inf else ""),
            ratio_table(came_out)]


def summary_of(run):
    results = {name: each["rounds"] for name, each in run["scenarios"].items()}
    came_out = ratios.all_of(results)
    before, after = (median(results[name][UNGROUPED], "per_second") for name in NOISE)
    reached = sum(each.holds for each in came_out)
    missed = sum(each.is_missed for each in came_out)
    return (f"{place_of(run)} 8 threads without batching made {before:,.0f} pairs a second at the beginning and "
            f"{after:,.0f} at the end. Of {len(came_out)} goals {reached} were reached and {missed} missed; for "
            f"{len(came_out) - reached - missed} the run was too noisy to tell ([all goals and tables]"
            f"(../bench/results/{name_of(run)}.md)).")


def compact(run):
    """The JSON of bench/results: a line for each protocol of a scenario; of numbers, nine digits."""
    def short(value):
        if isinstance(value, dict):
            return {key: short(each) for key, each in value.items()}
        if isinstance(value, list):
            return [short(each) for each in value]
        return float(f"{value:.9g}") if isinstance(value, float) else value

    def line(key, value):
        return f"{json.dumps(key)}: {json.dumps(short(value))}"

    scenarios = []
    for name, scenario in run["scenarios"].items():
        rounds = ",\n".join(f"   {line(*each)}" for each in scenario["rounds"].items())
        described = ", ".join(line(*each) for each in scenario.items() if each[0] != "rounds")
        scenarios.append(f'  {json.dumps(name)}: {{{described}, "rounds": {{\n{rounds}}}}}')
    about = ",\n".join(f" {line(*each)}" for each in run.items() if each[0] != "scenarios")
    return f'{{\n{about},\n "scenarios": {{\n' + ",\n".join(scenarios) + "}}\n"


def write(run):
    os.makedirs(PLOTS, exist_ok=True)
    plots.write(run, PLOTS)
    with open(f"bench/results/{name_of(run)}.md", "w", encoding="utf-8") as file:
        file.write(tables_of(run))
    print(f"written: bench/results/{name_of(run)}.md" + ("" if run.get("kind") in ("large", "waiting") else f", plots in {PLOTS}"))
    if not run.get("kind"):
        page.write(summary_of(run), {name: each["rounds"] for name, each in run["scenarios"].items()})
