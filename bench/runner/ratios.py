"""The required ratios, and whether a run reached them."""

import dataclasses
import math
import statistics

from scenarios import (DURABLE_PEERS, DURABLE_RELEASE, GROUPED, HISTORY, NOISE, ORIGINALS, OWN_CPU,
                       PEERS_ON_MARIADB, POLLING_PEERS, UNGROUPED, of_threads)


@dataclasses.dataclass(frozen=True)
class Ratio:
    """Of one run; the median of the ratios of its rounds, and their range."""
    name: str
    values: list
    threshold: float
    at_least: bool = True
    unit: str = ""
    # Of times on this machine, as a part of the value: 0 for counts, infinite where it was not measured.
    noise: float = 0
    are_paired: bool = True  # the rounds of what is compared were measured one after the other

    @property
    def bound(self):
        return ("at least " if self.at_least else "at most ") + f"{self.threshold:g}{self.unit and ' ' + self.unit}"

    @property
    def value(self):
        return statistics.median(self.values)

    @property
    def interval(self):
        """Of the median, at nine tenths or more with five rounds (it follows from the binomial
        distribution, if rounds are independent). Fewer do not tell how much times differ, and rounds
        that are minutes apart do so more, so there the noise is added."""
        count = len(self.values)
        least = 1 if count >= 8 else 0
        low, high = sorted(self.values)[least], sorted(self.values)[count - 1 - least]
        extra = self.noise * self.value if count < 5 or not self.are_paired else 0
        return low - extra, high + extra

    @property
    def holds(self):
        low, high = self.interval
        return low >= self.threshold if self.at_least else high <= self.threshold

    @property
    def is_missed(self):
        low, high = self.interval
        return high < self.threshold if self.at_least else low > self.threshold

    @property
    def verdict(self):
        return "" if self.holds else "MISSED" if self.is_missed else "too noisy to tell"


def of_rounds(runs, ours, others, figure, best=max):
    """`figure` of `ours`, divided by that of the best of `others`, round by round."""
    present = [other for other in others if other in runs]
    return [mine[figure] / best(runs[other][i][figure] for other in present)
            for i, mine in enumerate(runs[ours])]


def noise_of(results):
    """Half the spread of the figures of one protocol, relative to their median."""
    values = [each["per_second"] for name in NOISE for each in results.get(name, {}).get(UNGROUPED, [])]
    return (max(values) - min(values)) / 2 / statistics.median(values) if values else math.inf


def all_of(results):
    """The ratios whose scenarios were measured."""
    ratios = []
    noise = noise_of(results)

    def add(scenario, name, threshold, values_of, is_count=False, **more):
        values = values_of(results[scenario]) if scenario in results else []
        if values:
            ratios.append(Ratio(name, values, threshold, noise=0 if is_count else noise, **more))

    def pairs(scenario, name, threshold, ours=GROUPED, others=DURABLE_PEERS):
        add(scenario, name, threshold,
            lambda runs: of_rounds(runs, ours, others, "per_second") if ours in runs else [])

    one, eight = "uncontended_1_threads", "uncontended_8_threads"
    # The release does not wait for the disk, as by default; the peers' do.
    pairs(one, "one thread: of the best durable peer", 1.1)
    for count in (8, 32):
        pairs(f"uncontended_{count}_processes", f"{count} processes: of the best durable peer", 1)
    pairs("processes_16_of_4", "16 processes of 4 threads: of the best durable peer", 1)
    for count, threshold in ((2, 1), (4, 1), (8, 1.2), (16, 1.3), (64, 2.5)):
        pairs(f"uncontended_{count}_threads", f"{count} threads: of the best durable peer", threshold)
    for count in (8, 16):
        pairs(f"busy_{count}", f"{count} threads beside four busy loops: of the best durable peer", 1)
    for count in (1, 8, 16):
        pairs(f"distant_{count}", f"1 ms of network, {of_threads(count)}: of the best durable peer", 0.95)
    for count, threshold in ((1, 1.6), (8, 1.8), (64, 1.5)):
        pairs(f"slow_disk_{count}", f"slow disk, {of_threads(count)}: of the best durable peer", threshold)
    # And with a release that waits, too.
    pairs("all_1", "release that waits, one thread: of the best durable peer", 0.95, DURABLE_RELEASE)
    pairs("uncontended_8_processes", "release that waits, 8 processes: of the best durable peer", 0.9,
          DURABLE_RELEASE)
    add("all_1", "release that waits: server CPU of a pair, of ShedLock's JdbcLockProvider", 1.05,
        lambda runs: of_rounds(runs, DURABLE_RELEASE, ["shedlock_jdbc"], "server_cpu_each")
        if DURABLE_RELEASE in runs else [], at_least=False)
    with_both = {name: runs for name, runs in results.items()
                 if GROUPED in runs and UNGROUPED in runs and "pool" not in name}
    if with_both:
        worst = min(with_both, key=lambda name: statistics.median(
            of_rounds(with_both[name], GROUPED, [UNGROUPED], "per_second")))
        pairs(worst, f"batching, of none, at worst ({worst})", 0.95, others=[UNGROUPED])
    add(one, "server CPU of a pair, of ShedLock's JdbcLockProvider", 1.05,
        lambda runs: of_rounds(runs, GROUPED, ["shedlock_jdbc"], "server_cpu_each"), at_least=False)
    add(one, "WAL of a pair", 340, lambda runs: [each["wal_bytes_each"] for each in runs[GROUPED]],
        at_least=False, is_count=True, unit="bytes")
    pairs("refused", "refused attempts: of the best durable peer", 0.95)
    pairs("new_key", "new keys: of the best durable peer", 0.9)
    pairs("snapshot", "8 threads beside an open transaction: of the best durable peer", 0.9)
    pairs("snapshot_of_ten_minutes", "8 threads, a transaction open for ten minutes: of the best durable peer",
          0.9)
    pairs("pool_of_4", "64 threads, 4 connections: of the best durable peer", 3)
    pairs("slow_disk_64_pool_of_4", "64 threads, 4 connections, slow disk: of the best durable peer", 20)
    pairs("pool_of_4_among_64", "64 threads, 4 connections: of the best durable peer with 64 connections", 2)
    pairs("slow_disk_pool_of_4_among_64",
          "64 threads, 4 connections, slow disk: of the best durable peer with 64 connections", 1.3)
    pairs("pool_of_4", "64 threads, 4 connections: of session advisory locks", 0.8,
          others=["advisory_session"])
    for scenario, count, of_pgbench in ((one, 1, 0.95), (eight, 8, 0.85)):
        if "bare" in results.get(scenario, {}):
            pairs(scenario, f"{of_threads(count)}: pairs, of the bare loop's", 0.95, UNGROUPED,
                  ["bare"])
        if "pgbench" in results.get(scenario, {}):
            pairs(scenario, f"{of_threads(count)}: pairs, of pgbench's", of_pgbench, UNGROUPED,
                  ["pgbench"])
    add("own_cpu", "our own CPU a pair", 15,
        lambda runs: [each["own_cpu_each"] for each in runs[OWN_CPU] if "own_cpu_each" in each],
        at_least=False, unit="us")

    for count in (1, 8):
        for ours, words in (("rowlock_row_lock", "with_row_lock"), ("rowlock_fenced", "run_fenced")):
            pairs(f"transactions_{count}", f"{words}, {of_threads(count)}: of plain transactions", 0.55, ours,
                  ["plain_transaction"])

    add("hot_1", "one waiter: handoff, median", 3000,
        lambda runs: [each["handover_p50"] for each in runs[GROUPED]], at_least=False, unit="us")
    add("hot_1", "one waiter: handoff of the best polling peer, of ours", 15,
        lambda runs: [1 / ratio for ratio in of_rounds(runs, GROUPED, POLLING_PEERS,
                                                       "handover_p50", best=min)])
    add("hot_8", "8 waiters: statements a grant", 5,
        lambda runs: [each["statements_each"] for each in runs[GROUPED]], at_least=False, is_count=True)
    add("hot_8", "8 waiters: handoff, median", 2000,
        lambda runs: [each["handover_p50"] for each in runs[GROUPED]], at_least=False, unit="us")
    add("hot_8", "8 waiters: handoff of the best polling peer, of ours", 3,
        lambda runs: [1 / ratio for ratio in of_rounds(runs, GROUPED, POLLING_PEERS,
                                                       "handover_p50", best=min)])
    pairs("hot_8", "8 waiters: grants, of the best polling peer's", 3, others=POLLING_PEERS)
    # With hold times as short as above no protocol could: a grant and its release are statements.
    add("hot_8_long", "8 waiters, held for long: statements, of the best polling peer's", 0.1,
        lambda runs: of_rounds(runs, GROUPED, POLLING_PEERS, "statements_per_second", best=min),
        at_least=False, is_count=True)
    add("refused", "refused attempt: WAL bytes", 0,
        lambda runs: [each["wal_bytes"] for each in runs[GROUPED]], at_least=False, is_count=True)
    add("refused", "refused attempt: transaction ids", 0,
        lambda runs: [each["transactions"] for each in runs[GROUPED]], at_least=False, is_count=True)
    for protocol, longest in (("rowlock_soci", 60_000), ("rowlock_mariadb", 60_000), ("rowlock_sqlite", 10_000)):
        add(f"handoff_{protocol}", f"{protocol}: handoff, median", longest,
            lambda runs, protocol=protocol: [each["handover_p50"] for each in runs[protocol]], at_least=False,
            unit="us")
    add("idle_rowlock_sqlite", "rowlock_sqlite: processor of one that waits, %", 0.5,
        lambda runs: [each["client_percent"] for each in runs["rowlock_sqlite"]], at_least=False, is_count=True)
    add("queue", "64 waiters in 8 processes: statements a second", 16,
        lambda runs: [each["statements_per_second"] for each in runs[GROUPED]], at_least=False, is_count=True)
    if "rows_1000" in results:
        for rows in sorted(int(name[5:]) for name in results if name.startswith("rows_"))[1:]:
            add("rows_1000", f"a table of {rows:,} rows: median, of that of 1,000", 1.5,
                lambda runs, rows=rows: [
                    large["p50"] / small["p50"]
                    for large, small in zip(results[f"rows_{rows}"][UNGROUPED], runs[UNGROUPED])],
                at_least=False, are_paired=False)
    add("renewal_10000", "10,000 leases renewed: time, of a bare UPDATE's", 5,
        lambda runs: of_rounds(runs, "rowlock_renewal", ["bare_renewal"], "p50"), at_least=False)
    # An interval is two seconds, and each statement may fall into one more or less of them.
    add("kept_10000", "10,000 leases kept: statements in an interval", 1.5,
        lambda runs: [each["statements_per_second"] * 2 for each in runs["rowlock_kept"]],
        at_least=False, is_count=True)
    add("kept_10000", "10,000 leases kept: memory of each", 1024,
        lambda runs: [each["bytes_each"] for each in runs["rowlock_kept"]], at_least=False, is_count=True,
        unit="bytes")
    for count in (1, 8, 64):
        add(f"history_{count}", f"{of_threads(count)}: time of a pair with a history, of one without",
            1.4, lambda runs: [1 / ratio for ratio in of_rounds(runs, HISTORY, [GROUPED],
                                                                "per_second")], at_least=False)
        add(f"history_{count}", f"{of_threads(count)}: server CPU of a pair with a history", 1.4,
            lambda runs: of_rounds(runs, HISTORY, [GROUPED], "server_cpu_each"), at_least=False)
        for engine in ("sqlite", "mariadb"):
            add(f"history_{engine}_{count}",
                f"{engine}, {of_threads(count)}: time of a pair with a history", 1.4,
                lambda runs, engine=engine: [
                    1 / ratio for ratio in of_rounds(runs, f"rowlock_{engine}_history",
                                                     [f"rowlock_{engine}"], "per_second")],
                at_least=False)
    for scenario, name, threshold in (
            ("1_threads", "one thread", 0.95), ("8_threads", "8 threads", 1.3),
            ("busy_8", "8 threads beside four busy loops", 1),
            ("64_threads", "64 threads, a connection each", 1), ("pool_of_4", "64 threads, 4 connections", 6),
            ("refused", "refused attempts", 0.9)):
        pairs(f"real_{scenario}", f"{name}: of the best of the originals", threshold, others=ORIGINALS)
    for count in (1, 8, 64):
        pairs(f"mariadb_{count}", f"MariaDB, {of_threads(count)}: pairs, of the best peer", 1,
              "rowlock_mariadb", PEERS_ON_MARIADB)
    for scenario, words, threshold in (("sqlite_1", "one thread", 1), ("sqlite_8", "8 threads", 0.5),
                                       ("sqlite_64", "64 threads", 0.5), ("sqlite_8_processes", "8 processes", 0.2)):
        pairs(scenario, f"SQLite, {words}: pairs, of flock with a flushed file", threshold, "rowlock_sqlite", ["flock"])
    for scenario, words, threshold in (("sqlite_1", "one thread", 0.9), ("sqlite_8_processes", "8 processes", 0.85)):
        pairs(scenario, f"SQLite, {words}: pairs, of the raw interface's", threshold, "rowlock_sqlite",
              ["bare_sqlite"])
    return ratios


def table(ratios):
    width = max((len(each.name) for each in ratios), default=0)
    lines = [f"{'':{width}} {'median':>9} {'its interval':>19}    must be"]
    for ratio in ratios:
        low, high = ratio.interval
        lines.append(f"{ratio.name:{width}} {ratio.value:9.2f} {low:9.2f} {high:9.2f}    {ratio.bound}   "
                     f"{ratio.verdict}".rstrip())
    noise = max((each.noise for each in ratios), default=0)
    if 0 < noise < math.inf:
        lines.append(f"noise: the same protocol differed by ± {noise:.0%}")
    return "\n".join(lines)
