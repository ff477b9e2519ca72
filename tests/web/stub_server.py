#!/usr/bin/python3
"""A stand-in for `rowlock serve`, for work on the page and for tests that need a failing database.

It makes up a history of 24 hours: 100,000 events on 5,000 keys, the same ones at each start. Its
clock begins at NOON and runs on; holds go on for an hour after that. It serves the files of cli/web
with the content security policy that the command sends.

    tests/web/stub_server.py [--port 9402] [--events 100000] [--keys 5000] [--no-history]
"""

import argparse
import bisect
import datetime
import http.server
import json
import pathlib
import random
import sys
import threading
import time
import urllib.parse

import hostile_text

WEB = pathlib.Path(__file__).resolve().parents[2] / "cli" / "web"
D3 = pathlib.Path("/usr/share/nodejs/d3/dist/d3.min.js")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:"
)
REPORT_POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">"
)
NOON = datetime.datetime(2026, 1, 31, 12, 0, 0, tzinfo=datetime.timezone.utc)
NOON_US = int(NOON.timestamp()) * 1_000_000
HOUR = 3_600_000_000
DAY = 24 * HOUR


def rfc3339(microseconds):
    at = datetime.datetime.fromtimestamp(microseconds // 1_000_000, datetime.timezone.utc)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{microseconds % 1_000_000:06d}Z"


def parse_time(text):
    at = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return round(at.timestamp() * 1_000_000)


class Database:
    """The made-up events, and what they leave in the lock table at a moment."""

    def __init__(self, events=100_000, keys=5_000, has_history=True):
        self.random = random.Random(20260131)
        self.has_history = has_history
        self.fault = None
        self.started = time.monotonic()
        self.holders = [
            f"web{host}:{process}" for host in range(1, 5) for process in (4711, 4712, 5290)
        ]
        self.holders += [f"worker-{host}:{2000 + host * 37}" for host in range(1, 8)]
        self.holders += ["batch1:910", "backup:77", "report@db2:31337"]
        self.events = []
        self.make(events, keys)
        self.times = [event["us"] for event in self.events]

    def now(self):
        return NOON_US + int((time.monotonic() - self.started) * 1_000_000)

    # -- Making --

    def make(self, number, keys):
        for index, source in enumerate(hostile_text.SOURCES):
            self.make_key(
                hostile_text.TYPE, source, 6, hostile=True, begin=NOON_US - HOUR // 2 + index
            )
        named = list(self.names(keys - len(hostile_text.SOURCES)))
        # A few keys are busy, most are used now and then.
        weights = [1 / (rank + 12) for rank in range(len(named))]
        left = 1.08 * number - len(self.events) - 2 * len(named)
        scale = left / sum(weights) / 2
        for (kind, source), weight in zip(named, weights):
            self.make_key(kind, source, 1 + round(weight * scale))
        self.events.sort(key=lambda event: event["us"])
        past = [event for event in self.events if event["us"] <= NOON_US]
        self.events = past[-number:] + [event for event in self.events if event["us"] > NOON_US]

    def names(self, number):
        known = ["nightly", "cleanup", "mail-queue", "thumbnails", "index", "billing-run", "sync"]
        for index in range(number):
            if index < len(known):
                yield "job", known[index]
            else:
                kind = ("invoice", "account", "report", "invoice", "order")[index % 5]
                yield kind, str(10_000 + index * 7)

    def make_key(self, kind, source, holds, hostile=False, begin=NOON_US - DAY):
        chance = self.random
        end = NOON_US + HOUR
        slot = (end - begin) // holds
        usual = min(slot * 0.5, chance.choice([2, 8, 30, 90, 400]) * 1_000_000)
        free = begin
        for index in range(holds):
            length = max(1_500, min(int(slot * 0.85), int(chance.expovariate(1 / usual))))
            at = begin + index * slot + chance.randrange(max(1, slot - length))
            holder = hostile_text.RIGHT_TO_LEFT if hostile else chance.choice(self.holders)
            if self.events and self.events[-1]["what"] == "handed over" and free > begin:
                # The next waiter has it at once.
                length += at - free
                at = free
            self.make_hold(kind, source, holder, at, length, hostile)
            free = at + length

    def make_hold(self, kind, source, holder, at, length, hostile):
        chance = self.random
        token = at
        correlation = f"{chance.getrandbits(64):016x}" if chance.random() < 0.5 else None
        roll = chance.random()
        if roll < 0.06 and not hostile:
            self.note(kind, source, "locked", at, at, holder, correlation=correlation)
            self.note(
                kind,
                source,
                "committed",
                at + min(length, 40_000),
                at + 1,
                holder,
                correlation=correlation,
            )
            return
        self.note(kind, source, "granted", at, token, holder, correlation=correlation)
        what, reason = "released", None
        if roll > 0.9965:
            what, reason = "forced", "web1 is gone"
        elif roll > 0.992:
            what = "ran out"
        elif roll > 0.98:
            what, reason = "failed", chance.choice(
                [
                    "connection reset by peer",
                    "disk full",
                    "timeout after 30 s: upstream did not answer",
                ]
            )
        elif roll > (0.5 if kind == "job" and len(source) < 7 else 0.97):
            what = "handed over"
        if hostile:
            what, reason = chance.choice(["failed", "forced"]), hostile_text.SCRIPT
        self.note(
            kind,
            source,
            what,
            at + length,
            token + 1,
            holder,
            held_ms=length // 1000,
            token=token,
            reason=reason,
            correlation=correlation,
        )

    def note(
        self,
        kind,
        source,
        what,
        at,
        version,
        holder,
        held_ms=None,
        token=None,
        reason=None,
        correlation=None,
        until=None,
    ):
        until = at if until is None else until
        self.events.append(
            {
                "us": at,
                "at": rfc3339(at),
                "type": kind,
                "source": source,
                "what": what,
                "version": version,
                "holder": holder,
                "held_ms": held_ms,
                "since": None if held_ms is None else rfc3339(until - held_ms * 1000),
                "until": None if held_ms is None else rfc3339(until),
                "token": token,
                "reason": reason,
                "correlation_id": correlation,
            }
        )

    # -- Answers --

    def history(self, query):
        now = self.now()
        if not self.has_history:
            return {"at": rfc3339(now), "has_history": False, "next": None, "events": []}
        limit = min(5000, int(query.get("limit", 5000)))
        last = bisect.bisect_right(self.times, now)
        if "before" in query:
            last = min(last, int(query["before"]))
        if "until" in query:
            last = min(last, bisect.bisect_right(self.times, parse_time(query["until"])))
        first = 0
        if "since" in query:
            first = bisect.bisect_left(self.times, parse_time(query["since"]))
        found = []
        more = None
        for index in range(last - 1, first - 1, -1):
            event = self.events[index]
            if any(
                query.get(name, event[name]) != event[name]
                for name in ("type", "source", "holder", "what")
            ):
                continue
            if len(found) == limit:
                more = str(index + 1)
                break
            found.append(event)
        shown = [{name: value for name, value in event.items() if name != "us"} for event in found]
        return {"at": rfc3339(now), "has_history": True, "next": more, "events": shown}

    def locks(self, query):
        now = self.now()
        open_holds = {}
        for event in self.events[: bisect.bisect_right(self.times, now)]:
            key = (event["type"], event["source"])
            if event["what"] == "granted":
                open_holds[key] = event
            elif event["held_ms"] is not None:
                open_holds.pop(key, None)
        found = [self.lock(event, now) for event in open_holds.values()] + self.remarkable(now)
        found += [
            self.hostile_lock(source, now)
            for source in hostile_text.SOURCES
            if (hostile_text.TYPE, source) not in open_holds
        ]
        for lock in found:
            if lock["type"] == hostile_text.TYPE:
                lock["note"] = hostile_text.SCRIPT
        found = [
            lock
            for lock in found
            if query.get("type", lock["type"]) == lock["type"]
            and query.get("holder", lock["holder"]) == lock["holder"]
        ]
        limit = int(query.get("limit", 1000))
        return {"at": rfc3339(now), "truncated": len(found) > limit, "locks": found[:limit]}

    def lock(self, event, now, **other):
        held = now - event["us"]
        sign = held % 10_000_000
        made = {
            "type": event["type"],
            "source": event["source"],
            "state": "held",
            "holder": event["holder"],
            "since": event["at"],
            "held_ms": held // 1000,
            "ttl_ms": 30_000,
            "sign_of_life_ms": sign // 1000,
            "remaining_ms": 30_000 - sign // 1000,
            "version": event["version"],
            "note": "",
            "waiting": event["version"] % 7 == 0,
            "asked": None,
            "correlation_id": event["correlation_id"],
            "failures": 0,
            "expiries": 0,
            "force_reason": "",
            "last": None,
            "forced": None,
        }
        made.update(other)
        return made

    def hostile_lock(self, source, now):
        return self.made_up(hostile_text.TYPE, source, hostile_text.RIGHT_TO_LEFT, 61, now)

    def made_up(self, kind, source, holder, seconds, now, **other):
        at = NOON_US - seconds * 1_000_000
        event = {
            "us": at,
            "at": rfc3339(at),
            "type": kind,
            "source": source,
            "holder": holder,
            "version": at,
            "correlation_id": None,
        }
        return self.lock(event, now, **{"waiting": False, **other})

    def remarkable(self, now):
        run = (now - NOON_US) // 1000
        silence = 24_000 + run % 5_000
        return [
            self.made_up(
                "job",
                "nightly-export",
                "batch1:910",
                5_525,
                now,
                waiting=True,
                expiries=1,
                note="exporting 2026-01-30, 61 % done",
            ),
            self.made_up(
                "invoice",
                "42",
                "web1:4711",
                214,
                now,
                sign_of_life_ms=silence,
                remaining_ms=30_000 - silence,
                waiting=True,
                note="sending by mail",
            ),
            self.made_up(
                "account",
                "7",
                "web3:5290",
                95,
                now,
                state="run out",
                last={
                    "holder": "web2:4711",
                    "from": rfc3339(NOON_US - 700_000_000),
                    "until": rfc3339(NOON_US - 640_000_000),
                    "how": "failed",
                },
                sign_of_life_ms=47_000 + run,
                remaining_ms=0,
                failures=2,
            ),
            self.made_up(
                "account",
                "9",
                None,
                1,
                now,
                state="busy",
                ttl_ms=None,
                sign_of_life_ms=None,
                since=None,
                held_ms=None,
                remaining_ms=0,
            ),
            self.made_up(
                "report",
                "monthly",
                "worker-2:2074",
                12,
                now,
                state="closed",
                ttl_ms=None,
                sign_of_life_ms=None,
                remaining_ms=41_000,
            ),
            self.made_up(
                "job",
                "reindex",
                "worker-5:2185",
                33,
                now,
                forced={
                    "at": rfc3339(NOON_US - 33_000_000),
                    "from": "web1:4712",
                    "reason": "web1 is gone",
                },
            ),
        ]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):  # pylint: disable=invalid-name
        address = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(address.query, keep_blank_values=True))
        self.server.requests.append(self.path)
        database = self.server.database
        answers = {
            "/api/locks": lambda: database.locks(query),
            "/api/history": lambda: database.history(query),
            "/healthz": lambda: {"ok": True},
        }
        if address.path in answers:
            self.answer_json(address.path, answers[address.path], database.fault)
        elif address.path == "/report.html":
            self.send(200, "text/html; charset=utf-8", report(database).encode(), policy=False)
        else:
            self.answer_file("page.html" if address.path == "/" else address.path[1:])

    def answer_json(self, path, answer, fault):
        if fault is None:
            self.send(200, "application/json", json.dumps(answer()).encode())
            return
        content = {"ok": False, "error": fault} if path == "/healthz" else {"error": fault}
        self.send(503, "application/json", json.dumps(content).encode())

    def answer_file(self, name):
        kinds = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
        path = D3 if name == D3.name else WEB / name
        if path.parent not in (WEB, D3.parent) or path.suffix not in kinds or not path.is_file():
            self.send(404, "text/plain", b"not found")
            return
        self.send(200, f"{kinds[path.suffix]}; charset=utf-8", path.read_bytes())

    def send(self, status, kind, content, policy=True):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        if policy:
            self.send_header("Content-Security-Policy", POLICY)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


def report(database):
    """The page as one file, made as cli/web/README.md says."""
    data = json.dumps({"locks": database.locks({}), "history": database.history({"limit": "5000"})})
    page = (WEB / "page.html").read_text()
    style = (WEB / "page.css").read_text()
    page = page.replace('<link rel="stylesheet" href="page.css">', f"<style>\n{style}</style>")
    page = page.replace('<meta charset="utf-8">', f'<meta charset="utf-8">\n{REPORT_POLICY}')
    page = page.replace(
        "<!-- rowlock-data -->",
        '<script type="application/json" id="rowlock-data">'
        + data.replace("<", "\\u003c")
        + "</script>",
    )
    for path in [D3, *WEB.glob("*.js")]:
        page = page.replace(
            f'<script src="{path.name}"></script>', f"<script>\n{path.read_text()}</script>"
        )
    return page


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        # A browser may close a connection at any time.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Stub:
    """A server in a thread of its own; `database.fault` makes its database go away."""

    def __init__(self, database, port=0):
        self.database = database
        self.server = Server(("127.0.0.1", port), Handler)
        self.server.database = database
        self.server.requests = []
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def main():
    parser = argparse.ArgumentParser(description="A stand-in for rowlock serve.")
    parser.add_argument("--port", type=int, default=9402)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--keys", type=int, default=5_000)
    parser.add_argument("--no-history", action="store_true")
    options = parser.parse_args()
    stub = Stub(Database(options.events, options.keys, not options.no_history), options.port)
    print(stub.url, flush=True)
    stub.thread.join()


if __name__ == "__main__":
    main()
