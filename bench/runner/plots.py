"""Plots of a run, by gnuplot: SVG files beside docs/performance.md."""

import statistics
import subprocess

import page
from scenarios import (BEST_PEERS, CACHES, DURABLE_PEERS, GROUPED, ORIGINALS, OTHER_PEERS, POLLING_PEERS,
                       RATES, THREADS, UNGROUPED)

OURS, DURABLE, NOT_DURABLE, LIMIT = "#0077bb", "#ee7733", "#999999", "#66ccee"
LEGEND = [(OURS, "rowlock"), (DURABLE, "locks that survive a crash of the server"),
          (NOT_DURABLE, "locks in memory"), (LIMIT, "the same statements alone")]
PERCENTILES = [("p50", "median"), ("p99", "99 %"), ("p999", "99.9 %")]
WHISKERS = "bars: medians of the rounds; whiskers: lowest and highest round"
MEDIANS = "points: medians of the rounds"
POINTS = f"{MEDIANS}; whiskers: lowest and highest round"

HEAD = """
set terminal svg noenhanced size 760,{height} font 'sans-serif,12' background '#ffffff'
set output '{file}'
set title "{title}\\n{place}" font ',13'
set border 3
set tics nomirror
set grid
"""

BARS = HEAD + """
set title offset {left}
set style fill solid 0.85 noborder
set xlabel "{label}\\n{explained}" offset {left}
set yrange [{last}:-0.7]
set grid noytics xtics
{axis}
set key outside bottom center horizontal
$measured << end
{rows}
end
plot {colours}, \\
     $measured using 3:1:4:5 with xerrorbars linecolor rgb '#222222' pointtype 0 notitle, \\
     $measured using ({least}):1:ytic(2) with points pointtype 0 notitle
"""

LINES = HEAD + """
set xlabel "{label}"
set ylabel '{value}'
{axis}
set key outside right
set style data linespoints
{blocks}
plot {lines}
"""


def colour_of(protocol):
    if protocol in DURABLE_PEERS + ORIGINALS:
        return DURABLE
    if protocol in OTHER_PEERS + CACHES:
        return NOT_DURABLE
    return LIMIT if protocol in ("bare", "pgbench", "rowlock_store", "plain_transaction") else OURS


def place_of(about):
    version = about["postgres"].replace("postgres (PostgreSQL) ", "").split(" ")[0]
    return (f"{about['processors']} cores of {about['processor']}, PostgreSQL {version}, fsync on, "
            f"{about['date'][:10]}, {about['revision']}")


def draw(script):
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def medians(runs, figure, scale=1):
    """Median, lowest and highest of the rounds; none where it was not measured."""
    values = [each[figure] * scale for each in runs if figure in each]
    return (statistics.median(values), min(values), max(values)) if values else None


def bars(file, title, place, label, rows, is_logarithmic=False, mark=None):
    """`rows`: name, colour, and median, lowest and highest; the first is on top."""
    least = min(low for *_, (_, low, _) in rows) / 2 if is_logarithmic else 0
    begins = f"set logscale x\nset xrange [{least}:*]" if is_logarithmic else "set xrange [0:*]"
    table = "\n".join(f'{number} "{name}" {middle} {low} {high} "{colour}"'
                      for number, (name, colour, (middle, low, high)) in enumerate(rows))
    present = {colour for _, colour, _ in rows}
    colours = ", \\\n     ".join(
        f"$measured using (strcol(6) eq '{colour}' ? ($3+{least})/2 : NaN):1:({least}):3:"
        f"($1-0.35):($1+0.35) with boxxyerror linecolor rgb '{colour}' title '{meaning}'"
        for colour, meaning in LEGEND if colour in present)
    draw(BARS.format(
        file=file, title=title, place=place, label=label, rows=table, colours=colours,
        # To the middle of the picture, not of what is right of the names.
        left=-max(len(name) for name, *_ in rows) / 2.2,
        explained=WHISKERS, height=150 + 24 * len(rows), last=len(rows) - 0.3, least=least,
        axis=begins + ("" if is_logarithmic else "\nset format x '%.1s%c'")
        + (f"\nset arrow from {mark},graph 0 to {mark},graph 1 nohead linecolor rgb '#222222' "
           "dashtype 2 front" if mark else "")))


def lines(file, title, place, label, value, series, axis, has_whiskers=True):
    """`series`: name, colour, dash type, and points of x, median, lowest and highest."""
    blocks, plotted = [], []
    for number, (name, colour, dash, points) in enumerate(each for each in series if each[3]):
        text = "\n".join(" ".join(str(each) for each in point) for point in points)
        blocks.append(f"$series{number} << end\n{text}\nend")
        style = f"linecolor rgb '{colour}' dashtype {dash} pointtype 7 pointsize 0.4"
        plotted.append(f"$series{number} using 1:2 {style} linewidth 2 title '{name}'")
        if has_whiskers:
            plotted.append(f"$series{number} using 1:2:3:4 with yerrorbars linecolor rgb '{colour}' "
                           "pointtype 0 notitle")
    explained = f"{label}\\n{POINTS}" if has_whiskers else label
    draw(LINES.format(file=file, title=title, place=place, label=explained, value=value, height=420,
                      axis=axis, blocks="\n".join(blocks), lines=", \\\n     ".join(plotted)))


def by_rate(scenario):
    found = [(protocol, colour_of(protocol), medians(runs, "per_second"))
             for protocol, runs in scenario["rounds"].items()]
    return sorted(found, key=lambda row: -row[2][0])


def by_handover(scenario):
    found = [(protocol, colour_of(protocol), medians(runs, "handover_p50", 1e-3))
             for protocol, runs in scenario["rounds"].items()
             if protocol in [GROUPED, *POLLING_PEERS]]
    return sorted((row for row in found if row[2]), key=lambda row: row[2][0])


SERIES = [(GROUPED, OURS, 1), (UNGROUPED, OURS, 2),
          *((peer, DURABLE, dash) for dash, peer in enumerate(BEST_PEERS, 1))]


def scaling(scenarios):
    present = [count for count in THREADS if f"uncontended_{count}_threads" in scenarios]
    return [(name, colour, dash,
             [(count, *medians(scenarios[f"uncontended_{count}_threads"]["rounds"][name],
                               "per_second")) for count in present
              if name in scenarios[f"uncontended_{count}_threads"]["rounds"]])
            for name, colour, dash in SERIES]


def latencies(scenarios):
    series = []
    for name, colour in ((GROUPED, OURS), ("shedlock_jdbc", DURABLE)):
        for dash, (figure, words) in enumerate(PERCENTILES, 1):
            points = [(rate, *found) for rate in RATES if f"rate_{rate}" in scenarios
                      and (found := medians(scenarios[f"rate_{rate}"]["rounds"][name], figure, 1e-3))]
            series.append((f"{name}, {words}", colour, dash, points))
    return series


def against_the_best(results):
    return [(words, OURS, (statistics.median(values), min(values), max(values)))
            for words, values in page.all_against_the_others(results)]


def by_minute(minutes, figures, scale):
    return [(words, OURS, dash, [(number, each[figure] * scale) for number, each in enumerate(minutes, 1)
                                 if figure in each])
            for dash, (figure, words) in enumerate(figures, 1)]


def write_hour(scenario, place, in_folder):
    minutes = scenario["rounds"][GROUPED][0]["minutes"]
    title = scenario["title"][0].upper() + scenario["title"][1:]
    for name, value, figures, scale, axis in (
            ("hour", "milliseconds", PERCENTILES, 1e-3, "set logscale y"),
            ("hour_bytes", "size of the tables and their indexes, kB", [("table_bytes", GROUPED)], 1e-3,
             "set yrange [0:*]")):
        lines(in_folder(name), title, place, "minute", value, by_minute(minutes, figures, scale), axis,
              has_whiskers=False)


def write_real(scenarios, place, in_folder):
    for name in ("real_8_threads", "real_pool_of_4"):
        title = scenarios[name]["title"]
        bars(in_folder(name), title[0].upper() + title[1:], place, "pairs of acquire and release a second",
             by_rate(scenarios[name]))


def write(run, folder):
    scenarios, place = run["scenarios"], place_of(run["about"])

    def in_folder(name):
        return f"{folder}/{name}.svg"

    if run.get("kind") == "hour":
        write_hour(scenarios["hour"], place, in_folder)
    elif run.get("kind") == "real":
        write_real(scenarios, place, in_folder)
    elif not run.get("kind"):
        write_whole(scenarios, place, in_folder)


def write_whole(scenarios, place, in_folder):
    results = {name: each["rounds"] for name, each in scenarios.items()}
    pairs = "pairs of acquire and release a second"
    for name, label in (("uncontended_1_threads", pairs), ("all_8", pairs), ("busy_8", pairs),
                        ("transactions_8", "transactions a second")):
        if name in scenarios:
            title = scenarios[name]["title"]
            bars(in_folder(name), title[0].upper() + title[1:], place, label, by_rate(scenarios[name]))
    if "hot_1" in scenarios:
        bars(in_folder("hot_1"), "Until a waiting process has the key that another one released", place,
             "milliseconds, median", by_handover(scenarios["hot_1"]), is_logarithmic=True)
    lines(in_folder("scaling"), "Threads of one process, a key and a connection each", place,
          "threads", "pairs of acquire and release a second", scaling(scenarios),
          "set logscale x 2\nset yrange [0:*]\nset format y '%.1s%c'")
    if any(f"rate_{rate}" in scenarios for rate in RATES):
        lines(in_folder("latency"), "8 threads that call at random moments: time of a pair", place,
              f"pairs a second\\n{MEDIANS}", "milliseconds", latencies(scenarios), "set logscale y",
              has_whiskers=False)
    bars(in_folder("ratios"), "Of the best of the locks that survive a crash of the server", place,
         "times as many; 1 is the best of the others", against_the_best(results),
         is_logarithmic=True, mark=1)
