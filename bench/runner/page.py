"""The tables of docs/performance.md, of one run. The text around them is written by hand."""

import re
import statistics

import ratios
from scenarios import (CACHES, DURABLE_PEERS, GROUPED, HISTORY, OTHER_PEERS, PEERS_ON_MARIADB, POLLING_PEERS, RATES, UNGROUPED,
                       of_threads)

PAGE = "docs/performance.md"
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
            *((f"slow_disk_{count}", f"slow disk, {of_threads(count)}") for count in (1, 8, 64)),
            ("slow_disk_64_pool_of_4", "slow disk, 64 threads, 4 connections"),
            *((f"distant_{count}", f"1 ms of network, {of_threads(count)}") for count in (1, 8, 16)),
            ("busy_8", "8 threads beside four busy programs"), ("snapshot", "8 threads beside an open transaction")]
# With 4 connections, and where the others have 64.
FEWER_CONNECTIONS = {"pool_of_4": "uncontended_64_threads", "slow_disk_64_pool_of_4": "slow_disk_64"}
WAITING = [("hot_1", "one waits, held for 400 ms"), ("hot_8", "8 wait, held for 1 ms"),
           ("hot_63", "63 wait, in 8 processes, held for 1 ms"), ("hot_8_long", "8 wait, held for 500 ms")]


def several(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def in_ms(microseconds):
    return f"{microseconds / 1000:,.0f}" if microseconds >= 100_000 else f"{microseconds / 1000:.3g}"


def middle(runs, figure):
    return statistics.median(each[figure] for each in runs)


def a_second(runs):
    return f"{middle(runs, 'per_second'):,.0f}"


def best_of(runs, others):
    return max((each for each in others if each in runs), key=lambda each: middle(runs[each], "per_second"))


def times_the_best(runs, ours, others):
    return [several(ratios.of_rounds(runs, ours, others, "per_second")), NAMES[best_of(runs, others)]]


def table(headings, lines):
    return "\n".join(["| " + " | ".join(headings) + " |", "|---|" + "---:|" * (len(headings) - 1),
                      *("| " + " | ".join(line) + " |" for line in lines)])


def against_the_others(results, chosen):
    lines = []
    for scenario, words in chosen:
        runs = results[scenario]
        without = runs.get(UNGROUPED) and several(ratios.of_rounds(runs, GROUPED, [UNGROUPED], "per_second"))
        lines.append([words, a_second(runs[GROUPED]), in_ms(middle(runs[GROUPED], "p50")),
                      *times_the_best(runs, GROUPED, DURABLE_PEERS), without or ""])
        if scenario in FEWER_CONNECTIONS:
            others = results[FEWER_CONNECTIONS[scenario]]
            lines.append([f"{words}; the others have 64", "", "", several(ratios.against_64_connections(runs, others)),
                          NAMES[best_of(others, DURABLE_PEERS)], ""])
    return table(["", "a second", "median, ms", "times the best of the others", "which is", "times itself without "
                  "batching"], lines)


def at_rates(results):
    protocols = [GROUPED, UNGROUPED, "shedlock_jdbc"]
    return table(["pairs a second", "rowlock", "without batching", "ShedLock (JDBC)"],
                 [[f"{rate:,}", *(" / ".join(in_ms(middle(results[f"rate_{rate}"][each], figure))
                                             for figure in ("p50", "p99")) for each in protocols)]
                  for rate in RATES])


def in_memory(results):
    counts = (1, 8, 64)
    return table(["", *map(of_threads, counts)],
                 [[NAMES[peer], *(several(ratios.of_rounds(results[f"all_{count}"], peer, [GROUPED], "per_second"))
                                  for count in counts)]
                  for peer in [*OTHER_PEERS[1:], *CACHES]])


def waiting(results):
    lines = []
    for scenario, words in WAITING:
        runs = results[scenario]
        handoffs = [in_ms(middle(runs[each], "handover_p50"))
                    for each in (GROUPED, min(POLLING_PEERS, key=lambda each: middle(runs[each], "handover_p50")))]
        lines.append([words, *handoffs, *times_the_best(runs, GROUPED, POLLING_PEERS),
                      f"{middle(runs[GROUPED], 'statements_each'):.1f}",
                      f"{min(middle(runs[each], 'statements_each') for each in POLLING_PEERS):.1f}"])
    return table(["", "handoff, ms", "of the best that polls", "times the grants of the best that polls", "which is",
                  "statements a grant", "at least, with polling"], lines)


def transactions(results):
    names = (("plain_transaction", "that writes a row"), ("rowlock_row_lock", "with `with_row_lock`"),
             ("rowlock_fenced", "with `run_fenced`, under a lease that is kept"))
    return table(["a transaction", "one thread, ms", "times as many a second", "8 threads, ms", "times as many"],
                 [[words, *(cell for count in (1, 8) for runs in [results[f"transactions_{count}"]]
                            for cell in (in_ms(middle(runs[name], "p50")), "" if name == names[0][0] else several(
                                ratios.of_rounds(runs, name, [names[0][0]], "per_second"))))]
                  for name, words in names])


def engines(results):
    compared = [(f"mariadb_{count}", f"MariaDB, {of_threads(count)}", "rowlock_mariadb", PEERS_ON_MARIADB)
                for count in (1, 8, 64)]
    compared += [(f"sqlite_{count}", f"SQLite, {of_threads(count)}", "rowlock_sqlite", ["flock"]) for count in (1, 8, 64)]
    compared.append(("sqlite_8_processes", "SQLite, 8 processes", "rowlock_sqlite", ["flock"]))
    return table(["", "a second", "median, ms", "times the best of the others", "which is"],
                 [[words, a_second(results[scenario][ours]), in_ms(middle(results[scenario][ours], "p50")),
                   *times_the_best(results[scenario], ours, others)]
                  for scenario, words, ours, others in compared])


def more(results):
    one, kept, queue = results["uncontended_1_threads"], results["kept_10000"]["rowlock_kept"], results["queue"]
    polling = [middle(queue[each], "statements_per_second") for each in POLLING_PEERS]
    histories = ", ".join(several(ratios.of_rounds(results[f"history_{count}"], HISTORY, [GROUPED], "per_second"))
                          for count in (1, 8, 64))
    return table(["", "median (lowest to highest)"], [
        ["server CPU of a pair of one thread, of ShedLock's",
         several(ratios.of_rounds(one, GROUPED, ["shedlock_jdbc"], "server_cpu_each"))],
        ["WAL of a pair, bytes; ShedLock's",
         "; ".join(f"{middle(one[each], 'wal_bytes_each'):.0f}" for each in (GROUPED, "shedlock_jdbc"))],
        ["64 waiters in 8 processes for a key that is not released, statements a second; with polling at least",
         f"{middle(queue[GROUPED], 'statements_per_second'):.0f}; {min(polling):.0f}"],
        ["pairs with a history, of those without: 1, 8 and 64 threads", histories],
        ["10,000 leases renewed by one statement: time, of a bare UPDATE's",
         several(ratios.of_rounds(results["renewal_10000"], "rowlock_renewal", ["bare_renewal"], "p50"))],
        ["memory of a lease that is held, bytes", f"{middle(kept, 'bytes_each'):.0f}"],
    ])


def missed(results):
    return table(["", "must be", "median", "its interval"],
                 [[each.name, each.bound, f"{each.value:.2f}", "{:.2f} to {:.2f}".format(*each.interval)]
                  for each in ratios.all_of(results) if each.is_missed])


def write(run_text, results):
    """The file has a block for each of these, and `run`, which is `run_text`."""
    tables = {"alone": lambda: against_the_others(results, ALONE),
              "together": lambda: against_the_others(results, TOGETHER), "rates": lambda: at_rates(results),
              "memory": lambda: in_memory(results), "waiting": lambda: waiting(results),
              "transactions": lambda: transactions(results), "engines": lambda: engines(results), "more": lambda: more(results),
              "missed": lambda: missed(results), "run": lambda: run_text}
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    page = BLOCK.sub(lambda found: f"{found[1]}\n{tables[found[2]]()}\n\n{found[3]}", page)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page)
    print(f"written: {PAGE}")
