"""Measures this library against its limits and its peers; script/bench runs it."""

import argparse
import glob
import json
import os
import statistics
import sys
import textwrap

import about
import ratios
import real
import report
import rounds
import scenarios
import servers


def parsed():
    parser = argparse.ArgumentParser(prog="script/bench", usage="see script/bench --help")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--quick", action="store_true")
    what.add_argument("--smoke", action="store_true")
    what.add_argument("--hour", action="store_true", help="half load for an hour")
    what.add_argument("--real", metavar="FOLDER", help="beside the original peers, whose sources lie there")
    what.add_argument("--report", metavar="RESULTS.json", help="the pages once more, of these results")
    what.add_argument("--large", action="store_true", help="what takes long to set up")
    what.add_argument("--waiting", action="store_true", help="until a waiting process has the key, on each database")
    parser.add_argument("--only", default="", help="scenarios whose names begin so")
    parser.add_argument("--build", default="build/release", help="where the programs are")
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)  # the arguments only
    arguments = parser.parse_args()
    arguments.is_kept = not (arguments.quick or arguments.smoke or arguments.only or arguments.report)
    if arguments.is_kept and about.revision().endswith("-dirty"):
        parser.error("files differ from the last commit, and results name it: commit first")
    if arguments.report and not os.path.isfile(arguments.report):
        parser.error(f"there is no file {arguments.report}: name one of bench/results")
    if arguments.only and (arguments.hour or arguments.report):
        parser.error("--hour is one scenario, and --report takes all: leave out --only")
    if arguments.real is not None and not real.present(arguments.real):
        parser.error(f"no sources lie in {arguments.real}: put those of ShedLock into {arguments.real}/ShedLock, "
                     f"or those of pglock into {arguments.real}/pglock")
    if not chosen_by(arguments):
        names = textwrap.fill(", ".join(each.name for each in all_of(arguments)), width=100, initial_indent="  ",
                              subsequent_indent="  ")
        parser.error(f"no scenario begins with {arguments.only}: there are\n{names}")
    return arguments


def known_protocols():
    everything = [*scenarios.full(), *scenarios.large(), *scenarios.waiting(), *scenarios.hour(),
                  *real.scenarios("")]
    return {protocol for each in everything for protocol in each.protocols} | set(scenarios.ORIGINALS)


def results_in(file):
    """Throws for those of a version with other names of protocols or scenarios: ratios would lack them."""
    try:
        with open(file, encoding="utf-8") as opened:
            run = json.load(opened)
    except ValueError as problem:
        raise RuntimeError(f"{file} is no JSON ({problem}): name a file of bench/results that ends in .json") from problem
    if not {"about", "scenarios"} <= run.keys():
        raise RuntimeError(f"{file} was not written by script/bench: its files are named by date and revision")
    unknown = {protocol for each in run["scenarios"].values() for protocol in each["rounds"]} - known_protocols()
    if not run.get("kind"):
        unknown |= {each.name for each in scenarios.full()} ^ set(run["scenarios"])
    if unknown:
        raise RuntimeError(f"{file} has other names than this version ({', '.join(sorted(unknown))}): check out "
                           f"revision {run['about']['revision']}")
    return run


def all_of(arguments):
    return (scenarios.quick() if arguments.quick else
            scenarios.smoke() if arguments.smoke else
            scenarios.hour() if arguments.hour else
            scenarios.large() if arguments.large else
            scenarios.waiting() if arguments.waiting else
            real.scenarios(arguments.real) if arguments.real is not None else scenarios.full())


def chosen_by(arguments):
    return [each for each in all_of(arguments) if each.name.startswith(arguments.only)]


def kind_of(arguments):
    return next((kind for kind in ("real", "hour", "large", "waiting") if getattr(arguments, kind)), "")


def measured(arguments):
    slow_disk = f"{arguments.build}/bench/race/librowlock_slow_disk.so"
    slow_network = f"{arguments.build}/bench/race/rowlock_slow_network"
    known_servers = {
        "postgres": servers.postgres,
        "slow_postgres": lambda: servers.slow_postgres(slow_disk),
        "distant_postgres": lambda: servers.distant_postgres(slow_network),
        "sqlite": servers.sqlite,
        "mariadb": servers.mariadb,
        "redis": servers.redis,
        "etcd": servers.etcd,
        "memcached": servers.memcached,
    }
    newest = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1:] or ["/usr/bin"]
    described = about.about(os.environ.get("ROWLOCK_POSTGRES_BIN", newest[0]))
    race = f"{arguments.build}/bench/race/rowlock_race"
    others = {}
    if arguments.real:
        described["originals"] = real.versions(arguments.real)
        others = real.programs(arguments.real, "build/real")
    all_before, stolen_before = about.processor_times()

    def results_of(measured_now):
        return rounds.run(lambda protocol, number: others.get(protocol, [race, "--protocol", protocol, "--seed",
                                                                         str(number)]),
                          measured_now, known_servers)

    if arguments.hour:
        at_most = scenarios.full_load()
        results = results_of([at_most])
        pairs = statistics.median(each["per_second"] for each in results[at_most.name][scenarios.GROUPED])
        under_half_of_it = scenarios.hour(round(pairs / 2))
        results.update(results_of(under_half_of_it))
        chosen = [at_most, *under_half_of_it]
    else:
        chosen = chosen_by(arguments)
        results = results_of(chosen)
    all_after, stolen_after = about.processor_times()
    described["stolen"] = (stolen_after - stolen_before) / (all_after - all_before)
    return {"about": described, "kind": kind_of(arguments),
            "scenarios": {each.name: {"title": each.title, "arguments": each.arguments,
                                      "more_arguments": each.more_arguments,
                                      "busy_loops": each.busy_loops, "servers": each.servers,
                                      "rounds": results[each.name]}
                          for each in chosen}}


def main():
    arguments = parsed()
    if arguments.check:
        return 0
    if arguments.report:
        run = results_in(arguments.report)
    else:
        run = measured(arguments)
    if arguments.is_kept:
        name = f"bench/results/{report.name_of(run)}.json"
        with open(name, "w", encoding="utf-8") as file:
            file.write(report.compact(run))
        print(f"written: {name}")
    if arguments.is_kept or arguments.report:
        report.write(run)
    if arguments.smoke or run.get("kind") == "hour":
        return 0  # a moment is too short for figures, and an hour has no ratios
    results = {name: each["rounds"] for name, each in run["scenarios"].items()}
    came_out = ratios.all_of(results)
    print(ratios.table(came_out))
    if arguments.quick and any(each.is_missed for each in came_out):
        return 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RuntimeError as problem:
        sys.exit(f"script/bench: {problem}")
