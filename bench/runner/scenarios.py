"""The scenarios: each varies one parameter of a base case."""

import dataclasses

# How this library stands in the comparisons without batching, and with it.
UNGROUPED = "rowlock_ungrouped"
GROUPED = "rowlock"
# With an option that is off by default.
DURABLE_RELEASE = "rowlock_durable_release"

# Leases that survive a crash of the server.
DURABLE_PEERS = ["shedlock_template", "shedlock_jdbc", "spring", "pglock", "userver", "jpa_table"]
# River's table is UNLOGGED; advisory locks are memory, and their holder keeps a connection.
ADVISORY = ["advisory_session", "advisory_transaction"]
OTHER_PEERS = ["river", *ADVISORY]
PEERS = DURABLE_PEERS + OTHER_PEERS
# In memory, in another server.
CACHES = ["redis", "memcached"]
# Not their statements, but they themselves; etcd's locks survive a crash, too.
ORIGINALS = ["real_shedlock", "real_pglock", "real_etcd"]
POLLING_PEERS = ["spring", "userver", "jpa_table"]

# Our own on engines where only the raw interface is compared with.
ON_SQLITE = ["rowlock_sqlite", "bare_sqlite"]
PEERS_ON_MARIADB = ["shedlock_jdbc_mariadb", "spring_mariadb"]
ON_MARIADB = ["rowlock_mariadb", "rowlock_mariadb_ungrouped", "bare_mariadb", *PEERS_ON_MARIADB]

# With the history of the database.
HISTORY = "rowlock_history"

# Pair by pair in turns, in one thread.
OWN_CPU = "bare_and_ungrouped"

OURS = [UNGROUPED, GROUPED]

TABLE_SIZES = (1_000, 100_000)
# About sixteen grants, in which waiting processes count the contenders.
TURNS_ARE_TAKEN_AFTER_MS = 8000
MOST_ROWS = 10_000_000  # takes minutes to fill, and is larger than shared_buffers
THREADS = (1, 2, 4, 8, 16, 32, 64)
# The ones of the durable peers that are best where nobody waits.
BEST_PEERS = ["shedlock_jdbc", "userver"]
# Few protocols in many rounds: so what is compared is measured within seconds, on a disk whose speed
# changes from minute to minute.
MOST_ROUNDS = 9
# Of 8 threads, pairs a second: from a quarter of what one process can do to what peers cannot.
RATES = (500, 1500, 3000, 5000)
# The same protocol, several times: how much figures differ without a reason. It is one without batching, which
# may choose another way from one run to the next.
NOISE = ("noise", "noise_after")


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    title: str
    protocols: list
    arguments: list = dataclasses.field(default_factory=list)
    servers: tuple = ("postgres",)
    rounds: int = 5
    length_ms: int = 1000
    warm_up_ms: int = 300
    busy_loops: int = 0  # processes beside it that do nothing else
    more_arguments: dict = dataclasses.field(default_factory=dict)  # those of a protocol alone
    most_set_up_s: int = 120


def threads(count, connections=0):
    return ["--threads", str(count), "--connections", str(connections)]


def of_threads(count):
    return "one thread" if count == 1 else f"{count} threads"


def hot(waiters, hold_us, threads_each=1):
    """One holder and so many waiters, in as many processes by default."""
    processes = (waiters + threads_each) // threads_each
    return ["--act", "turns", "--processes", str(processes), "--threads", str(threads_each),
            "--hold-us", str(hold_us)]


def one_waiter():
    """It comes at a random moment of a hold that is longer than every pause of those that poll."""
    return [*hot(1, 400_000), "--come-back-at-random"]


def of_rows(rows):
    return [*threads(1), "--rows", str(rows), "--keys", "random"]


def batch(keys):
    return ["--batch", str(keys), "--connections", "2"]


def queue(processes, threads_each):
    return ["--act", "queue", "--processes", str(processes), "--threads", str(threads_each)]


def of_table(rows, **more):
    return Scenario(f"rows_{rows}", f"one thread, random keys of a table of {rows:,} rows", [UNGROUPED],
                    of_rows(rows), **more)


def with_4_among_64(name, title, **more):
    """This library with 4 connections, the others with one for each thread."""
    return Scenario(name, title, [GROUPED, *BEST_PEERS], ["--threads", "64"],
                    more_arguments={GROUPED: ["--connections", "4"]}, **more)


def noise(which, title, **more):
    return Scenario(NOISE[which], title, [UNGROUPED], threads(8), **more)


def full():
    scenarios = []

    def add(name, title, protocols, arguments, **more):
        scenarios.append(Scenario(name, title, protocols, arguments, **more))

    scenarios.append(noise(0, "one protocol, at the beginning"))
    limits = ["bare", "pgbench"]
    for count in THREADS:
        add(f"uncontended_{count}_threads", f"{of_threads(count)} in one process, a key each",
            [*OURS, *BEST_PEERS, *(limits if count in (1, 8) else [])], threads(count), rounds=MOST_ROUNDS)
    add("own_cpu", "one thread: this library and a bare loop of its statements, in turns", [OWN_CPU],
        threads(1), length_ms=5000)
    for count in (8, 32):
        add(f"uncontended_{count}_processes", f"{count} processes of one thread, a key each",
            [GROUPED, DURABLE_RELEASE, "bare", *BEST_PEERS], ["--processes", str(count)], rounds=MOST_ROUNDS)
    for count in (1, 8, 64):
        add(f"all_{count}", f"{of_threads(count)} in one process, a key each, with everything that there is",
            [*OURS, DURABLE_RELEASE, "rowlock_store", *limits, *PEERS, *CACHES], threads(count), rounds=3,
            servers=("postgres", "redis", "memcached"))
    add("processes_16_of_4", "16 processes of 4 threads, a key each", [*OURS, *BEST_PEERS],
        ["--processes", "16", *threads(4)])
    add("pool_of_4", "64 threads in one process, a key each, 4 connections",
        [*OURS, "bare", *PEERS], threads(64, 4))
    scenarios.append(with_4_among_64("pool_of_4_among_64", "64 threads in one process, a key each, 4 connections; "
                                     "the others have 64", rounds=MOST_ROUNDS))
    for count in (1, 8, 16):
        add(f"distant_{count}", f"{of_threads(count)}, a key each, 1 ms of network to the server and back",
            [*OURS, *DURABLE_PEERS], threads(count), servers=("distant_postgres",))
    for count in (2, 4, 8, 16):
        add(f"busy_{count}", f"{of_threads(count)}, a key each, beside four busy loops",
            [*OURS, *BEST_PEERS], threads(count), busy_loops=4, length_ms=4000)
    add("new_key", "one thread, a new key each time; rows of used keys are deleted each second",
        [GROUPED, *DURABLE_PEERS], [*threads(1), "--keys", "fresh"])
    for rate in RATES:
        add(f"rate_{rate}", f"{rate:,} pairs a second, of 8 threads that call at random moments",
            [*OURS, *BEST_PEERS], [*threads(8), "--rate", str(rate)], length_ms=3000)
    for count in (1, 8):
        add(f"transactions_{count}", f"{of_threads(count)}: a transaction that writes a row, alone, with "
            "the row of a key locked, and with the fence of a lease",
            ["plain_transaction", "rowlock_row_lock", "rowlock_fenced"], threads(count))
    add("hot_1", "one key, one process waits, and comes at a random moment of a hold",
        [GROUPED, *POLLING_PEERS, *ADVISORY], one_waiter(), length_ms=8000, rounds=3)
    for waiters in (2, 8):
        add(f"hot_{waiters}", f"one key, {waiters} waiting in as many processes",
            [GROUPED, *POLLING_PEERS, *ADVISORY], hot(waiters, 1_000), length_ms=3000)
    add("hot_8_long", "the same with 8, and the key is held for half a second",
        [GROUPED, *POLLING_PEERS], hot(8, 500_000), length_ms=6000, rounds=3,
        warm_up_ms=TURNS_ARE_TAKEN_AFTER_MS)
    add("hot_63", "one key, 63 waiting, in 8 processes of 8 threads",
        [GROUPED, *POLLING_PEERS, *ADVISORY], hot(63, 1000, threads_each=8), length_ms=3000)
    add("refused", "a try at a key that another process holds", [GROUPED, *PEERS],
        ["--act", "refused"])
    add("queue", "64 threads in 8 processes wait for a key that is not given back",
        [GROUPED, *POLLING_PEERS], queue(8, 8), length_ms=5000, warm_up_ms=3000, rounds=3)
    for count, connections in ((1, 0), (8, 0), (64, 0), (64, 4)):
        pool = f"_pool_of_{connections}" if connections else ""
        add(f"slow_disk_{count}{pool}", f"{of_threads(count)}, a key each, each fsync takes 3 ms longer"
            + (f", {connections} connections" if connections else ""),
            [*OURS, DURABLE_RELEASE, "bare", *DURABLE_PEERS], threads(count, connections),
            servers=("slow_postgres",))
    scenarios.append(with_4_among_64("slow_disk_pool_of_4_among_64", "64 threads, a key each, each fsync takes 3 ms "
                                     "longer, 4 connections; the others have 64", rounds=MOST_ROUNDS,
                                     servers=("slow_postgres",)))
    add("snapshot", "8 threads, a key each, beside a transaction that stays open",
        [*OURS, *DURABLE_PEERS], [*threads(8), "--snapshot"], length_ms=4000, warm_up_ms=2000)
    for count in (1, 8, 64):
        add(f"sqlite_{count}", f"SQLite, {of_threads(count)} in one process, a key each",
            [*ON_SQLITE, "flock"], threads(count), servers=("sqlite",))
    add("sqlite_8_processes", "SQLite, 8 processes of one thread, a key each", [*ON_SQLITE, "flock"],
        ["--processes", "8"], servers=("sqlite",))
    for count in (1, 8, 64):
        add(f"mariadb_{count}", f"MariaDB, {of_threads(count)} in one process, a key each", ON_MARIADB,
            threads(count), servers=("mariadb",))
    for count in (1, 8, 64):
        add(f"history_{count}", f"{of_threads(count)}, a key each, with a history and without",
            [GROUPED, HISTORY], threads(count))
        add(f"history_sqlite_{count}", f"the same on SQLite, {of_threads(count)}",
            ["rowlock_sqlite", "rowlock_sqlite_history"], threads(count), servers=("sqlite",))
        add(f"history_mariadb_{count}", f"the same on MariaDB, {of_threads(count)}",
            ["rowlock_mariadb", "rowlock_mariadb_history"], threads(count), servers=("mariadb",))
    for count in (1, 10, 100, 1000):
        add(f"batch_{count}", f"one thread, {count} keys at once", ["rowlock_batch"], batch(count))
    for count in (1, 100, 10_000):
        add(f"renewal_{count}", f"one thread renews {count:,} leases at once",
            ["rowlock_renewal", "bare_renewal"], batch(count))
        add(f"kept_{count}", f"a lock_table keeps {count:,} leases, renewed every two seconds",
            ["rowlock_kept"], batch(count), length_ms=6000, warm_up_ms=2000)
    scenarios += [of_table(rows) for rows in TABLE_SIZES]
    scenarios.append(noise(1, "the same protocol, at the end"))
    return scenarios


def large():
    """What takes long to set up. Each protocol works beside its transaction for ten minutes: two warm-ups."""
    return [
        noise(0, "one protocol, at the beginning"),
        of_table(TABLE_SIZES[0], rounds=3, length_ms=5000, warm_up_ms=10_000),
        of_table(MOST_ROWS, rounds=3, length_ms=5000, warm_up_ms=10_000, most_set_up_s=1800),
        Scenario("snapshot_of_ten_minutes", "8 threads, a key each, beside a transaction that has been open for "
                 "ten minutes of such work", [GROUPED, *BEST_PEERS], [*threads(8), "--snapshot"], rounds=1,
                 length_ms=20_000, warm_up_ms=300_000),
        noise(1, "the same protocol, at the end"),
    ]


def waiting():
    """How a process waits for a key of another one, by the way in which it learns of the release."""
    ways = (("rowlock", "PostgreSQL", "postgres"), ("rowlock_soci", "PostgreSQL through SOCI", "postgres"),
            ("rowlock_mariadb", "MariaDB", "mariadb"), ("rowlock_sqlite", "SQLite", "sqlite"))
    scenarios = []
    for protocol, words, server in ways:
        scenarios += [
            Scenario(f"handoff_{protocol}", f"{words}: one process waits, and comes at a random moment of a hold of "
                     "400 ms", [protocol], one_waiter(), servers=(server,), length_ms=8000),
            Scenario(f"idle_{protocol}", f"{words}: one process waits for a key that is not released", [protocol],
                     queue(1, 1), servers=(server,), length_ms=5000, warm_up_ms=10_000, rounds=2)]
    return scenarios


def full_load():
    """What 8 threads can do on this machine."""
    return Scenario("full_load", "8 threads in one process, a key each", [GROUPED], threads(8), rounds=9,
                    length_ms=3000)


def hour(pairs_a_second=0):
    """The table under load, with checkpoints and autovacuum."""
    return [Scenario("hour", f"{pairs_a_second:,} pairs a second for an hour, of 8 threads that call at random "
                     "moments", [GROUPED], [*threads(8), "--rate", str(pairs_a_second), "--by-minute"],
                     rounds=1, length_ms=3_600_000)]


def quick():
    """The scenarios of the ratios that matter most, in three to four minutes."""
    short = {"length_ms": 500, "warm_up_ms": 200, "rounds": 3}
    best = BEST_PEERS
    return [
        noise(0, "", **short),
        *(Scenario(f"uncontended_{count}_threads", "", [*OURS, *best], threads(count), **short)
          for count in (1, 4, 8)),
        Scenario("uncontended_8_processes", "", [GROUPED, *best], ["--processes", "8"], **short),
        Scenario("pool_of_4", "", [GROUPED, *best, "advisory_session"], threads(64, 4), **short),
        with_4_among_64("pool_of_4_among_64", "", **short),
        Scenario("uncontended_64_threads", "", [*OURS, *best], threads(64), **short),
        Scenario("busy_8", "", [*OURS, "shedlock_jdbc"], threads(8), busy_loops=4,
                 length_ms=1500, warm_up_ms=400, rounds=3),
        Scenario("new_key", "", [GROUPED, *best], [*threads(1), "--keys", "fresh"], **short),
        Scenario("hot_1", "", [GROUPED, "userver"], one_waiter(), length_ms=4000, rounds=2),
        Scenario("hot_8", "", [GROUPED, "userver"], hot(8, 1000), length_ms=1500, rounds=2),
        Scenario("refused", "", [GROUPED, *best], ["--act", "refused"], **short),
        Scenario("queue", "", [GROUPED], queue(8, 8), rounds=1, length_ms=4000, warm_up_ms=2000),
        Scenario("renewal_10000", "", ["rowlock_renewal", "bare_renewal"], batch(10_000), **short),
        Scenario("kept_10000", "", ["rowlock_kept"], batch(10_000), rounds=1, length_ms=6000,
                 warm_up_ms=2000),
        Scenario("slow_disk_64_pool_of_4", "", [GROUPED, *best], threads(64, 4),
                 servers=("slow_postgres",), **short),
        with_4_among_64("slow_disk_pool_of_4_among_64", "", servers=("slow_postgres",), **short),
        noise(1, "", **short),
    ]


def smoke():
    """Every scenario once but the largest table, for a moment: whether it works, not how well."""
    every = [*full(), *large(), *waiting(), *hour(RATES[0])]
    once = {each.name: each for each in every if each.name != of_table(MOST_ROWS).name}
    return [dataclasses.replace(each, rounds=1, length_ms=200, warm_up_ms=50) for each in once.values()]
