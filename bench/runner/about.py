"""Place and time of a run, for its results."""

import datetime
import os
import platform
import subprocess


def output_of(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else "unknown"


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown"


def processor_times():
    """All time of all processors, and what the host took from this machine, since it was started."""
    with open("/proc/stat", encoding="utf-8") as file:
        times = [int(each) for each in file.readline().split()[1:9]]
    return sum(times), times[7]


def revision():
    return output_of("git", "describe", "--always", "--dirty")


def about(bin_of_postgres):
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%MZ"),
        "revision": revision(),
        "processors": os.cpu_count(),
        "processor": processor(),
        "load_before": os.getloadavg()[0],
        "kernel": platform.release(),
        "postgres": output_of(f"{bin_of_postgres}/postgres", "--version"),
        "mariadb": output_of("mariadbd", "--version"),
        "redis": output_of("redis-server", "--version"),
        "memcached": output_of("memcached", "--version"),
        "settings": "as initdb and Debian make them; fsync on, max_connections 200, "
                    "pg_stat_statements",
    }
