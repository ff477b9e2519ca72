"""The tables of the pages in docs about a run. The text around them is written by hand."""

import pathlib
import re
import statistics

import ratios
from scenarios import (ADVISORY, BEST_PEERS, CACHES, DURABLE_PEERS, DURABLE_RELEASE, GROUPED, HISTORY,
                       PEERS_ON_MARIADB, POLLING_PEERS, RATES, UNGROUPED, of_threads)

PAGES = ("docs/performance.md", "docs/performance/details.md")
# Between such comments stands what is written here.
BLOCK = re.compile(r"(<!-- measured: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

NAMES = {"shedlock_jdbc": "ShedLock (JDBC)", "shedlock_template": "ShedLock (template)", "spring": "Spring",
         "userver": "userver", "jpa_table": "JPA", "pglock": "pglock", "shedlock_jdbc_mariadb": "ShedLock (JDBC)",
         "spring_mariadb": "Spring", "advisory_session": "advisory lock of a session",
         "advisory_transaction": "advisory lock of a transaction", "redis": "Redis", "memcached": "memcached",
         "flock": "flock"}
# Scenario, and what it is in the table.
ALONE = [("uncontended_1_threads", "one thread"), ("uncontended_8_processes", "8 processes of one thread"),
         ("uncontended_32_processes", "32 processes of one thread"), ("new_key", "one thread, a new key each time"),
         ("refused", "refused attempts")]
TOGETHER = [*((f"uncontended_{count}_threads", f"{count} threads") for count in (2, 4, 8, 16, 64)),
            ("processes_16_of_4", "16 processes of 4 threads"), ("pool_of_4", "64 threads, 4 connections"),
            ("pool_of_4_among_64", "64 threads, 4 connections; the others have 64"),
            *((f"slow_disk_{count}", f"slow disk, {of_threads(count)}") for count in (1, 8, 64)),
            ("slow_disk_64_pool_of_4", "slow disk, 64 threads, 4 connections"),
            ("slow_disk_pool_of_4_among_64", "slow disk, 64 threads, 4 connections; the others have 64"),
            *((f"distant_{count}", f"1 ms of network, {of_threads(count)}") for count in (1, 8, 16)),
            ("busy_8", "8 threads beside four busy programs"), ("snapshot", "8 threads beside an open transaction")]
# Those that were measured with a release that waits for the disk, too.
DURABLE = [("all_1", "one thread"), ("uncontended_8_processes", "8 processes of one thread"), ("all_8", "8 threads"),
           ("all_64", "64 threads"), ("slow_disk_1", "slow disk, one thread"), ("slow_disk_8", "slow disk, 8 threads"),
           ("slow_disk_64", "slow disk, 64 threads"),
           ("slow_disk_64_pool_of_4", "slow disk, 64 threads, 4 connections")]
WAITING = [("hot_1", "one waits, held for 400 ms"), ("hot_8", "8 wait, held for 1 ms"),
           ("hot_63", "63 wait, in 8 processes, held for 1 ms"), ("hot_8_long", "8 wait, held for 500 ms")]


def with_range(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def in_ms(microseconds):
    return f"{microseconds / 1000:,.0f}" if microseconds >= 100_000 else f"{microseconds / 1000:.3g}"


def middle(runs, figure):
    return statistics.median(each[figure] for each in runs)


def a_second(runs):
    return f"{middle(runs, 'per_second'):,.0f}"


def best_of(runs, others):
    return max((each for each in others if each in runs), key=lambda each: middle(runs[each], "per_second"))


def times_the_best(runs, ours, others):
    return [with_range(ratios.of_rounds(runs, ours, others, "per_second")), NAMES[best_of(runs, others)]]


def table(headings, lines):
    return "\n".join(["| " + " | ".join(headings) + " |", "|---|" + "---:|" * (len(headings) - 1),
                      *("| " + " | ".join(line) + " |" for line in lines)])


def against_the_others(results, chosen):
    lines = []
    for scenario, words in chosen:
        runs = results[scenario]
        without = runs.get(UNGROUPED) and with_range(ratios.of_rounds(runs, GROUPED, [UNGROUPED], "per_second"))
        lines.append([words, a_second(runs[GROUPED]), in_ms(middle(runs[GROUPED], "p50")),
                      *times_the_best(runs, GROUPED, DURABLE_PEERS), without or ""])
    return table(["", "a second", "median, ms", "times the best of the others", "best by its median", "times itself "
                  "without batching"], lines)


def with_durable_release(results):
    return table(["", "as by default", "with `durable_release`"],
                 [[words, *(with_range(ratios.of_rounds(results[scenario], ours, DURABLE_PEERS, "per_second"))
                            for ours in (GROUPED, DURABLE_RELEASE))]
                  for scenario, words in DURABLE if DURABLE_RELEASE in results[scenario]])


def all_against_the_others(results):
    """Words, and the ratios of the rounds: what the two tables above have, the best first."""
    found = [(words, ratios.of_rounds(results[scenario], GROUPED, DURABLE_PEERS, "per_second"))
             for scenario, words in [*ALONE, *TOGETHER] if scenario in results]
    return sorted(found, key=lambda each: -statistics.median(each[1]))


def at_rates(results):
    """Of a protocol that made fewer than 97 % of the pairs, how many it made."""
    protocols = [GROUPED, UNGROUPED, *BEST_PEERS]

    def cell(rate, protocol):
        runs = results[f"rate_{rate}"][protocol]
        if middle(runs, "per_second") < 0.97 * rate:
            return f"{a_second(runs)} a second"
        return " / ".join(in_ms(middle(runs, figure)) for figure in ("p50", "p99"))

    return table(["pairs a second", "rowlock", "without batching", *(NAMES[peer] for peer in BEST_PEERS)],
                 [[f"{rate:,}", *(cell(rate, protocol) for protocol in protocols)] for rate in RATES])


def in_memory(results):
    counts = (1, 8, 64)
    return table(["", *map(of_threads, counts)],
                 [[NAMES[peer], *(with_range(ratios.of_rounds(results[f"all_{count}"], peer, [GROUPED], "per_second"))
                                  for count in counts)]
                  for peer in [*ADVISORY, *CACHES]])


def waiting(results):
    lines = []
    for scenario, words in WAITING:
        runs = results[scenario]
        other = best_of(runs, POLLING_PEERS)
        pairs = [[shape(middle(runs[each], figure)) for each in (GROUPED, other)]
                 for figure, shape in (("handover_p50", in_ms), ("statements_each", "{:.1f}".format))]
        lines.append([words, NAMES[other], *(f"{ours}; {its}" for ours, its in pairs),
                      with_range(ratios.of_rounds(runs, GROUPED, POLLING_PEERS, "per_second"))])
    return table(["", "the best that polls", "handoff, ms; its", "statements a grant; its",
                  "times the grants of the best that polls"], lines)


def transactions(results):
    names = (("plain_transaction", "that writes a row"), ("rowlock_row_lock", "with `with_row_lock`"),
             ("rowlock_fenced", "with `run_fenced`, under a lease that is kept"))
    return table(["a transaction", "one thread, ms", "times as many a second", "8 threads, ms", "times as many a second"],
                 [[words, *(cell for count in (1, 8) for runs in [results[f"transactions_{count}"]]
                            for cell in (in_ms(middle(runs[name], "p50")), "" if name == names[0][0] else with_range(
                                ratios.of_rounds(runs, name, [names[0][0]], "per_second"))))]
                  for name, words in names])


def engines(results):
    compared = [(f"mariadb_{count}", f"MariaDB, {of_threads(count)}", "rowlock_mariadb", PEERS_ON_MARIADB)
                for count in (1, 8, 64)]
    compared += [(f"sqlite_{count}", f"SQLite, {of_threads(count)}", "rowlock_sqlite", ["flock"]) for count in (1, 8, 64)]
    compared.append(("sqlite_8_processes", "SQLite, 8 processes", "rowlock_sqlite", ["flock"]))
    return table(["", "a second", "median, ms", "times the best of the others", "best by its median"],
                 [[words, a_second(results[scenario][ours]), in_ms(middle(results[scenario][ours], "p50")),
                   *times_the_best(results[scenario], ours, others)]
                  for scenario, words, ours, others in compared])


def more(results):
    one, kept, queue = results["uncontended_1_threads"], results["kept_10000"]["rowlock_kept"], results["queue"]
    polling = [middle(queue[each], "statements_per_second") for each in POLLING_PEERS]
    histories = ", ".join(with_range(ratios.of_rounds(results[f"history_{count}"], HISTORY, [GROUPED], "per_second"))
                          for count in (1, 8, 64))
    return table(["on PostgreSQL", ""], [
        ["server CPU of a pair with one thread, relative to ShedLock (JDBC)",
         with_range(ratios.of_rounds(one, GROUPED, ["shedlock_jdbc"], "server_cpu_each"))],
        ["WAL of a pair, bytes; ShedLock (JDBC)",
         "; ".join(f"{middle(one[each], 'wal_bytes_each'):.0f}" for each in (GROUPED, "shedlock_jdbc"))],
        ["64 waiters in 8 processes for an unreleased key, statements a second; with polling at least",
         f"{middle(queue[GROUPED], 'statements_per_second'):.0f}; {min(polling):.0f}"],
        ["pairs with a history, relative to those without: 1, 8 and 64 threads", histories],
        ["10,000 leases renewed by one statement: time, relative to a bare UPDATE",
         with_range(ratios.of_rounds(results["renewal_10000"], "rowlock_renewal", ["bare_renewal"], "p50"))],
        ["memory of each of 10,000 held leases, bytes", f"{middle(kept, 'bytes_each'):.0f}"],
    ])


def missed(results):
    return table(["", "must be", "median", "its interval"],
                 [[each.name, each.bound, f"{each.value:.2f}", "{:.2f}–{:.2f}".format(*each.interval)]
                  for each in ratios.all_of(results) if each.is_missed])


def write(run_text, results):
    """The pages have a block for each of these, and `run`, which is `run_text`."""
    tables = {"alone": lambda: against_the_others(results, ALONE), "durable": lambda: with_durable_release(results),
              "together": lambda: against_the_others(results, TOGETHER), "rates": lambda: at_rates(results),
              "memory": lambda: in_memory(results), "waiting": lambda: waiting(results),
              "transactions": lambda: transactions(results), "engines": lambda: engines(results),
              "more": lambda: more(results), "missed": lambda: missed(results), "run": lambda: run_text}
    texts = {page: pathlib.Path(page).read_text(encoding="utf-8") for page in PAGES}
    if (found := sorted(name for text in texts.values() for _, name, _ in BLOCK.findall(text))) != sorted(tables):
        raise RuntimeError(f"{' and '.join(PAGES)} have blocks for {', '.join(found)}, and must have "
                           f"{', '.join(sorted(tables))}")
    for page, text in texts.items():
        pathlib.Path(page).write_text(
            BLOCK.sub(lambda block: f"{block[1]}\n{tables[block[2]]()}\n\n{block[3]}", text), encoding="utf-8")
        print(f"written: {page}")
