"""The original peers, compiled from their own sources, which lie where `--real` says."""

import glob
import os
import subprocess

from about import output_of
from rounds import Failed
from scenarios import GROUPED, ORIGINALS, UNGROUPED, Scenario, of_threads, threads

SHEDLOCK, PGLOCK, ETCD = ORIGINALS
# The folder of their sources, and a file that shows that they are there. (Debian's packages have
# those of etcd's client.)
SOURCES = {SHEDLOCK: ("ShedLock", "shedlock-core/pom.xml"), PGLOCK: ("pglock", "client.go")}
JARS = [f"/usr/share/java/{name}.jar" for name in ("postgresql", "HikariCP", "slf4j-api", "slf4j-nop")]
MODULES = ["shedlock-core", "providers/sql/shedlock-sql-support", "providers/jdbc/shedlock-provider-jdbc",
           "providers/jdbc/shedlock-provider-jdbc-internal"]


def present(folder):
    return [protocol for protocol, (where, shown) in SOURCES.items()
            if os.path.isfile(f"{folder}/{where}/{shown}")]


def run(*command, **variables):
    if subprocess.run(command, check=False, env={**os.environ, **variables}).returncode != 0:
        raise Failed(f"{command[0]} could not compile a peer, see above: bench/README.md names versions that "
                     "Debian's compilers take")


def shedlock(sources, build):
    folders = ["bench/real/shedlock", *(f"{sources}/{module}/src/main/java" for module in MODULES)]
    # Without descriptions of modules: all of it is one program, on the class path.
    files = [file for folder in folders for file in glob.glob(f"{folder}/**/*.java", recursive=True)
             if os.path.basename(file) != "module-info.java"]
    classes = f"{build}/shedlock"
    run("javac", "-nowarn", "-d", classes, "-cp", ":".join(JARS), *files)
    return ["java", "-cp", ":".join([classes, *JARS]), "ShedLockRace"]


def go(name, build, packages=()):
    """`packages`: import paths and the folders where they lie."""
    for path, folder in (("rowlock/race", "bench/real/go/race"), *packages):
        link = f"{build}/go/src/{path}"
        os.makedirs(os.path.dirname(link), exist_ok=True)
        if os.path.islink(link):
            os.unlink(link)
        os.symlink(os.path.abspath(folder), link)
    program = f"{build}/{name}"
    run("go", "build", "-o", program, f"bench/real/go/{name}/main.go", GO111MODULE="off",
        GOPATH=f"{os.path.abspath(build)}/go:/usr/share/gocode", GOFLAGS="")
    return [program]


def programs(folder, build):
    """{protocol: command}; a command takes the arguments of rowlock_race."""
    os.makedirs(build, exist_ok=True)
    built = {ETCD: go("etcd", build)}
    if SHEDLOCK in present(folder):
        built[SHEDLOCK] = shedlock(f"{folder}/{SOURCES[SHEDLOCK][0]}", build)
    if PGLOCK in present(folder):
        built[PGLOCK] = go("pglock", build, [("cirello.io/pglock", f"{folder}/{SOURCES[PGLOCK][0]}")])
    return built


def versions(folder):
    """Of what is compared, for the results."""
    def first_line(*command):
        return output_of(*command).split("\n")[0]

    packages = ["libpostgresql-jdbc-java", "libhikaricp-java", "golang-github-lib-pq-dev", "golang-etcd-server-dev"]
    return {
        **{protocol: output_of("git", "-C", f"{folder}/{where}", "describe", "--always", "--tags")
           for protocol, (where, _) in SOURCES.items() if protocol in present(folder)},
        **{name: output_of("dpkg-query", "--show", "--showformat=${Version}", name) for name in packages},
        "java": first_line("java", "--version"),
        "go": first_line("go", "version"),
        "etcd": first_line("etcd", "--version"),
    }


def scenarios(folder):
    """Five seconds each, as a virtual machine for Java takes that long to be warm."""
    on_postgres = [GROUPED, UNGROUPED, "shedlock_jdbc", "pglock", *present(folder)]

    def scenario(name, title, protocols, arguments, **more):
        return Scenario(f"real_{name}", title, protocols, arguments, length_ms=5000, warm_up_ms=3000,
                        servers=("postgres", "redis", "etcd"), **more)

    return [
        *(scenario(f"{count}_threads", f"{of_threads(count)}, a key each",
                   [*on_postgres, ETCD, "redis"], threads(count)) for count in (1, 8, 64)),
        scenario("pool_of_4", "64 threads, a key each, 4 connections", [*on_postgres, ETCD], threads(64, 4)),
        scenario("busy_8", "8 threads, a key each, beside four busy loops", on_postgres, threads(8),
                 busy_loops=4),
        scenario("refused", "a try at a key that another client holds",
                 [GROUPED, *on_postgres[2:], "redis"], ["--act", "refused"]),
    ]
