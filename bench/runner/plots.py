"""Plots of the scenarios that a table alone does not show well, by gnuplot."""

import statistics
import subprocess

# Scenario and figure; the others are tables.
PLOTTED = {
    "uncontended_1_threads": ("per_second", "pairs a second"),
    "uncontended_8_threads": ("per_second", "pairs a second"),
    "uncontended_64_threads": ("per_second", "pairs a second"),
    "pool_of_4": ("per_second", "pairs a second"),
    "slow_disk_64_pool_of_4": ("per_second", "pairs a second"),
    "hot_8": ("per_second", "grants a second"),
}

SCRIPT = """
set terminal svg noenhanced size 720,{height} font 'sans-serif,12' background '#ffffff'
set output '{file}'
set style fill solid 0.8 noborder
set xlabel '{label}'
set xrange [0:*]
set yrange [{last}:-0.7]
set grid xtics
set format x '%.0s%c'
set border 3
set tics nomirror
set key off
$measured << end
{rows}
end
plot $measured using ($2/2):0:($2/2):(0.35):ytic(1) with boxxyerror linecolor rgb '#4477aa', \\
     $measured using 2:0:3:4 with xerrorbars linecolor rgb '#222222' pointtype 0
"""


def write(scenarios, folder):
    """Bars are medians, lines reach from the lowest round to the highest."""
    for name, (figure, label) in PLOTTED.items():
        if name not in scenarios:
            continue
        rows = []
        for protocol, runs in scenarios[name]["rounds"].items():
            values = [each[figure] for each in runs]
            rows.append((statistics.median(values), min(values), max(values), protocol))
        rows.sort(reverse=True)
        text = "\n".join(f'"{protocol}" {middle} {low} {high}'
                         for middle, low, high, protocol in rows)
        script = SCRIPT.format(file=f"{folder}/{name}.svg", label=label, rows=text,
                               height=70 + 24 * len(rows), last=len(rows) - 0.3)
        subprocess.run(["gnuplot"], input=script,
                       text=True, check=True)
