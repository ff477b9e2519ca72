#!/usr/bin/python3
"""The page in Chromium, on the real `rowlock serve` and a real PostgreSQL.

    script/support/throwaway-postgres run -- tests/web/serve_test.py

ROWLOCK_COMMAND is the command (build/dev/cli/rowlock unless it says otherwise), ROWLOCK_TEST_POSTGRES
the server. Needs what page_test.py needs, and psql.

The history is on, and has 100,000 events of 5,000 keys besides.
"""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest
import urllib.request

import hostile_text
import page_test

COMMAND = os.environ.get(
    "ROWLOCK_COMMAND", str(pathlib.Path(__file__).resolve().parents[2] / "build/dev/cli/rowlock")
)
DATABASE = os.environ["ROWLOCK_TEST_POSTGRES"]
SCHEMA = f"web_{os.getpid()}"
TABLE = f"{SCHEMA}.shared_lock"

# The lock table takes no other characters in a type.
hostile_text.TYPE = "hostile"

# 50,000 holds of five hours, ten of each key: each has an event for its grant and one for its end.
EVENTS = 100_000
KEYS = 5_000
FILL = f"""
    insert into {SCHEMA}.shared_lock_event
        (at, lock_type, source_id, what, version, token, holder, since, until, reason)
    select at, case number % {KEYS} % 3 when 0 then 'invoice' when 1 then 'account' else 'order' end,
           (10000 + number % {KEYS})::text, what,
           extract(epoch from at)::bigint * 1000000 + number,
           extract(epoch from since)::bigint * 1000000 + number,
           'web' || number % 7 || ':4711', since, until, case what when 'forced' then 'web1 is gone' end
      from (select number, since, until, what,
                   case what when 'ran out' then until + interval '20 seconds' else until end as at
              from (select number, since, since + (number % 211) * interval '1 second' as until,
                           case number % 100 when 0 then 'forced' when 1 then 'ran out'
                                             when 2 then 'failed' else 'released' end as what
                      from (select number, clock_timestamp() - interval '10 minutes'
                                           - (number / {KEYS}) * interval '30 minutes'
                                           - (number % {KEYS}) * interval '0.2 seconds' as since
                              from generate_series(0, {EVENTS // 2 - 1}) number) begun) held) ended;
    analyze {SCHEMA}.shared_lock_event;"""


def psql(sql, **values):
    """Runs `sql`, in which :'name' stands for a value."""
    command = ["psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", DATABASE]
    command += [f"--set={name}={value}" for name, value in values.items()]
    subprocess.run(command, input=sql.encode(), check=True)


def hold(kind, source, holder, seconds, note=""):
    """A lock of a day, as a process would have acquired it so many seconds ago."""
    psql(
        f"""insert into {TABLE} (lock_type, source_id, version, owner, holder, acquired_at, expires_at,
                ttl_us, note)
            values (:'kind', :'source', 1769860740000000, md5(:'source'), :'holder',
                clock_timestamp() - :'seconds' * interval '1 second',
                clock_timestamp() + interval '1 day', 86400000000, nullif(:'note', ''));""",
        kind=kind,
        source=source,
        holder=holder,
        seconds=seconds,
        note=note,
    )


class Serve:
    """A running `rowlock serve`."""

    def __init__(self):
        self.process = subprocess.Popen(
            [COMMAND, "serve", DATABASE, "--table", TABLE, "--listen", "127.0.0.1:0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        line = self.process.stdout.readline().decode()
        self.url = line.removeprefix("serving ").strip().rstrip("/")

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(page_test.PATIENCE)
        self.process.stdout.close()


def setUpModule():  # pylint: disable=invalid-name
    psql(f"create schema {SCHEMA};")
    subprocess.run(
        [COMMAND, "migrate", DATABASE, "--table", TABLE, "--with", "history"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    psql(FILL)
    for number in range(1, 5):
        hold("invoice", str(number), f"web{number % 2 + 1}:4711", number * 60)
    hold("job", "nightly-export", "batch1:910", 5_525, note="exporting 2026-01-30, 61 % done")
    for source in hostile_text.SOURCES:
        hold(hostile_text.TYPE, source, hostile_text.RIGHT_TO_LEFT, 61, note=hostile_text.SCRIPT)


def tearDownModule():  # pylint: disable=invalid-name
    psql(f"set client_min_messages = error; drop schema {SCHEMA} cascade;")


class OnServe(page_test.WithBrowser):
    @classmethod
    def start_server(cls):
        cls.serve = Serve()
        cls.addClassCleanup(cls.serve.close)
        cls.url = cls.serve.url


class ServedPageTest(OnServe, page_test.PageTest):
    """What holds on any server, on this one."""


class ServedHistoryTest(OnServe):
    def test_all_events_are_loaded(self):
        browser = self.browser
        browser.open_loaded(f"{self.url}/#range=all")
        browser.wait(
            lambda: int(browser.data("main")["events"]) >= EVENTS, "all events are loaded"
        )
        self.assertGreaterEqual(browser.lanes(), KEYS)
        browser.picture("served-many")

    def test_a_hold_is_shown_when_it_is_over_and_not_before(self):
        browser = self.browser
        key = ["--table", TABLE, "--type", "job", "--source", "held-now"]
        with subprocess.Popen(
            [COMMAND, "run", DATABASE, *key, "--", "cat"], stdin=subprocess.PIPE
        ) as process:
            browser.open_loaded(f"{self.url}/#key=held-now&type=job")
            browser.focus_timeline()
            browser.keys(page_test.Keys.ARROW_DOWN)
            browser.wait(lambda: browser.details().get("State") == "still held", "it is held")
            token = browser.details()["Token"]
            process.stdin.close()
        browser.wait(lambda: browser.texts("#held-rows .key") == [], "it is not held")
        browser.keys(page_test.Keys.ESCAPE)

        def is_released():
            browser.keys(page_test.Keys.END)
            return browser.details().get("Ended") == "released"

        browser.wait(is_released, "it was released")
        self.assertEqual(browser.details()["Token"], token)

    def test_a_filter_and_a_range_are_those_of_the_api(self):
        browser = self.browser
        browser.open_loaded(f"{self.url}/")
        with urllib.request.urlopen(
            f"{self.url}/api/history?what=forced&holder=web2:4711&limit=1"
        ) as answer:
            [event] = json.load(answer)["events"]
        self.assertEqual((event["what"], event["holder"]), ("forced", "web2:4711"))
        with urllib.request.urlopen(
            f"{self.url}/api/history?type={event['type']}&source={event['source']}"
            f"&since={event['since']}&until={event['at']}"
        ) as answer:
            whole = json.load(answer)["events"]
        self.assertEqual([each["what"] for each in whole], ["forced", "granted"])


class ServedLocksTest(OnServe):
    def test_hostile_locks_are_text(self):
        browser = self.browser
        browser.open_loaded(f"{self.url}/")
        scripts = browser.script("return document.scripts.length")
        browser.find("filters").find_element(page_test.By.NAME, "key").send_keys(hostile_text.TYPE)
        wanted = {hostile_text.SHOWN[source] for source in hostile_text.SOURCES}
        browser.wait(
            lambda: set(browser.texts("#held-rows .key-source")) == wanted, "the locks are listed"
        )
        self.assertEqual(
            set(browser.texts("#held-rows .holder-name")), {hostile_text.RIGHT_TO_LEFT}
        )
        self.assertEqual(set(browser.texts("#held-rows .note")), {hostile_text.SCRIPT})
        self.assertEqual(
            browser.script("return document.querySelectorAll('img, b, iframe, object').length"), 0
        )
        self.assertEqual(browser.script("return document.scripts.length"), scripts)
        browser.picture("served")


class ServedAwayTest(OnServe):
    def tearDown(self):
        # The browser itself reports each answer of 503; anything else is an error of the page.
        others = [message for message in self.browser.severe() if "503" not in message]
        self.assertEqual(others, [])

    def test_the_page_says_that_the_table_is_away_and_recovers(self):
        browser = self.browser
        browser.open_loaded(f"{self.url}/")
        self.assertFalse(browser.find("banner").is_displayed())
        psql(f"alter table {TABLE} rename to away;")
        try:
            browser.wait(lambda: browser.find("banner").is_displayed(), "the banner is there")
            self.assertTrue(browser.texts("#held-rows .key"))
        finally:
            psql(f"alter table {SCHEMA}.away rename to shared_lock;")
        browser.wait(lambda: not browser.find("banner").is_displayed(), "the banner is gone")
        browser.wait(
            lambda: browser.text("#state-text").startswith("live"), "the page is live again"
        )


class ReportedTest(page_test.WithBrowser):
    """The file that `rowlock report` writes."""

    @classmethod
    def start_server(cls):
        pass

    def test_it_shows_its_data_and_requests_nothing(self):
        browser = self.browser
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "report.html"
            subprocess.run(
                [COMMAND, "report", DATABASE, "--table", TABLE, "--html", str(file)], check=True
            )
            browser.requested()
            browser.open(f"file://{file}")
            browser.wait(lambda: browser.texts("#held-rows .key"), "the locks are listed")
            self.assertGreaterEqual(int(browser.data("main")["events"]), EVENTS)
            self.assertTrue(browser.text("#state-text").startswith("report, taken 20"))
            browser.select_a_hold()
            self.assertFalse(browser.find("pause").is_displayed())
            self.assertIn("invoice/4", browser.texts("#held-rows .key"))
            asked = [address for address in browser.requested() if not address.startswith("data:")]
            self.assertEqual(set(asked) - {"about:blank"}, {f"file://{file}"})


def load_tests(loader, _classes, _pattern):
    suite = unittest.TestSuite()
    for tested in (
        ServedPageTest,
        ServedHistoryTest,
        ServedLocksTest,
        ServedAwayTest,
        ReportedTest,
    ):
        suite.addTests(loader.loadTestsFromTestCase(tested))
    return suite


if __name__ == "__main__":
    unittest.main(verbosity=2)
