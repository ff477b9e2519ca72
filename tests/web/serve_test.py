#!/usr/bin/python3
"""The page in Chromium, on the real `rowlock serve` and a real PostgreSQL.

    script/support/throwaway-postgres run -- tests/web/serve_test.py

ROWLOCK_COMMAND is the command (build/dev/cli/rowlock unless it says otherwise), ROWLOCK_TEST_POSTGRES
the server. Needs what page_test.py needs, and psql.

The server does not read the history yet, so of page_test.PageTest only the tests in WITHOUT_HISTORY run
here.
"""

import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

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

WITHOUT_HISTORY = [
    "test_the_policy_allows_no_script_and_no_style_in_the_page",
    "test_a_held_lock_is_in_the_table_with_holder_and_sign_of_life",
    "test_foreign_names_cannot_turn_their_neighbours",
    "test_nothing_is_requested_from_elsewhere",
    "test_it_updates_itself_and_pauses",
    "test_the_parts_have_roles_and_names",
    "test_light_is_light",
]
# These look at the timeline.
WITH_HISTORY = [
    "test_a_type_narrows_lanes_and_table_to_it",
    "test_a_holder_narrows_lanes_and_table_to_it",
    "test_a_part_of_a_key_narrows_lanes_and_the_address_keeps_it",
    "test_clear_shows_all_again",
    "test_the_wheel_zooms_on_the_axis",
    "test_the_wheel_with_control_zooms_on_the_bars",
    "test_the_wheel_alone_scrolls_the_lanes",
    "test_buttons_zoom_pan_and_reset",
    "test_keys_zoom_and_pan",
    "test_dragging_moves_in_time",
    "test_a_range_is_what_is_visible",
    "test_the_details_of_a_hold_come_by_keys",
    "test_arrow_keys_move_between_bars_and_lanes",
    "test_enter_keeps_the_details_and_escape_closes_them",
    "test_the_focus_is_visible",
    "test_the_details_of_a_hold_come_by_mouse",
    "test_hostile_text_is_text",
]


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
        [COMMAND, "migrate", DATABASE, "--table", TABLE], check=True, stdout=subprocess.DEVNULL
    )
    for number in range(1, 5):
        hold("invoice", str(number), f"web{number % 2 + 1}:4711", number * 60)
    hold("job", "nightly-export", "batch1:910", 5_525, note="exporting 2026-01-30, 61 % done")
    for source in hostile_text.SOURCES:
        hold(hostile_text.TYPE, source, hostile_text.RIGHT_TO_LEFT, 61, note=hostile_text.SCRIPT)


def tearDownModule():  # pylint: disable=invalid-name
    psql(f"set client_min_messages = error; drop schema {SCHEMA} cascade;")


class HeldBrowser(page_test.Browser):
    def open_loaded(self, url):
        self.open(url)
        self.wait(lambda: self.texts("#held-rows .key"), "the locks are listed")
        self.wait(lambda: self.find("no-history").is_displayed(), "the page has no history")


class OnServe(page_test.WithBrowser):
    browser_class = HeldBrowser

    @classmethod
    def start_server(cls):
        cls.serve = Serve()
        cls.addClassCleanup(cls.serve.close)
        cls.url = cls.serve.url


class ServedPageTest(OnServe, page_test.PageTest):
    """Those tests of PageTest that need no history."""


class ServedLocksTest(OnServe):
    def test_every_test_of_the_page_is_run_here_or_waits_for_the_history(self):
        known = unittest.TestLoader().getTestCaseNames(page_test.PageTest)
        self.assertEqual(sorted(WITHOUT_HISTORY + WITH_HISTORY), sorted(known))

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
            self.assertTrue(browser.text("#state-text").startswith("report, taken 20"))
            self.assertFalse(browser.find("pause").is_displayed())
            self.assertIn("invoice/4", browser.texts("#held-rows .key"))
            asked = [address for address in browser.requested() if not address.startswith("data:")]
            self.assertEqual(set(asked) - {"about:blank"}, {f"file://{file}"})


def load_tests(loader, _classes, _pattern):
    suite = unittest.TestSuite(ServedPageTest(name) for name in WITHOUT_HISTORY)
    for tested in (ServedLocksTest, ServedAwayTest, ReportedTest):
        suite.addTests(loader.loadTestsFromTestCase(tested))
    return suite


if __name__ == "__main__":
    unittest.main(verbosity=2)
