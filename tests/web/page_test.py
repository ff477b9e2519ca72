#!/usr/bin/python3
"""The page of `rowlock serve` in Chromium, without a window.

    tests/web/page_test.py                             # all tests, on stub_server.py
    ROWLOCK_WEB_URL=http://127.0.0.1:9402 tests/web/page_test.py PageTest

PageTest runs on the server that ROWLOCK_WEB_URL names. Its database must hold two types, several
holders, holds within the last hour on more keys than fit on a screen, one held lock, and the locks
of hostile_text.py. The other tests need a server whose database goes away, has no history, or has
100,000 events: they always use the stub.

Needs chromium, chromium-driver, python3-selenium and node-d3 of Debian. ROWLOCK_WEB_SCREENSHOTS
names a folder for pictures of the page.
"""

import json
import os
import pathlib
import re
import tempfile
import unittest
import urllib.request

from selenium import webdriver
from selenium.common.exceptions import NoAlertPresentException, StaleElementReferenceException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
from selenium.webdriver.support.ui import Select, WebDriverWait

import hostile_text
import stub_server

# Time until a test gives up; no test is quicker or slower because of it.
PATIENCE = 180


class Browser:
    """One Chromium, and what tests ask of the page in it."""

    def __init__(self, width=1440, height=1000, is_dark=False, is_phone=False):
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for argument in (
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
        ):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if is_phone else 1,
            mobile=is_phone,
        )
        if is_phone:
            self.command("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
        self.command(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}],
        )

    def command(self, name, **parameters):
        return self.driver.execute_cdp_cmd(name, parameters)

    def close(self):
        self.driver.quit()

    def open(self, url):
        # A page of its own each time: another part after the # alone would not load it again.
        self.driver.get("about:blank")
        self.driver.get(url)

    def open_loaded(self, url):
        self.open(url)
        self.wait(lambda: self.data("main").get("complete") == "true", "the events are loaded")
        self.wait(lambda: self.lanes() > 0, "the timeline has lanes")

    def wait(self, condition, what):
        def holds(_):
            try:
                return condition()
            except StaleElementReferenceException:
                return False

        return WebDriverWait(self.driver, PATIENCE, poll_frequency=0.05).until(
            holds, f"waited until {what}"
        )

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def find(self, name):
        return self.driver.find_element(By.ID, name)

    def data(self, name):
        return self.script("return {...document.getElementById(arguments[0]).dataset}", name)

    def text(self, selector):
        return self.script("return document.querySelector(arguments[0]).textContent", selector)

    def texts(self, selector):
        return self.script(
            "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)",
            selector,
        )

    def lanes(self):
        return int(self.data("timeline").get("lanes", 0))

    def view(self):
        data = self.data("timeline")
        return float(data["from"]), float(data["to"])

    def span(self):
        begin, end = self.view()
        return end - begin

    def keys(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()

    def focus_timeline(self):
        self.script("document.getElementById('timeline').focus()")

    def wheel(self, selector, delta, is_control=False):
        place = self.driver.find_element(By.CSS_SELECTOR, selector)
        actions = ActionChains(self.driver)
        if is_control:
            actions.key_down(Keys.CONTROL)
        actions.scroll_from_origin(ScrollOrigin.from_element(place), 0, delta)
        if is_control:
            actions.key_up(Keys.CONTROL)
        actions.perform()

    def details(self):
        """The facts in the details that are open: a dict from name to text; empty if none are."""
        return self.script(
            """
            const details = document.getElementById('details');
            if (details.hidden) return {};
            return Object.fromEntries([...details.querySelectorAll('dl > div')].map(
                (fact) => [...fact.children].map((part) => part.textContent)));"""
        )

    def select_a_hold(self):
        """Selects a hold that has ended, by keys, and returns its facts."""
        self.focus_timeline()
        self.keys(Keys.ARROW_DOWN)
        self.wait(self.details, "an item is selected")
        for _ in range(100):
            if "End" in self.details():
                return self.details()
            self.keys(Keys.ARROW_LEFT)
        for _ in range(100):
            self.keys(Keys.ARROW_DOWN)
            if "End" in self.details():
                return self.details()
        raise AssertionError("no hold that has ended in the first hundred lanes")

    def severe(self):
        return [
            entry["message"]
            for entry in self.driver.get_log("browser")
            if entry["level"] in ("SEVERE", "WARNING")
        ]

    def requested(self):
        """The addresses that were requested since the last call."""
        events = [
            json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")
        ]
        return [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def picture(self, name):
        folder = os.environ.get("ROWLOCK_WEB_SCREENSHOTS")
        if folder:
            self.driver.save_screenshot(str(pathlib.Path(folder) / f"web-{name}.png"))


class WithBrowser(unittest.TestCase):
    """Tests on one browser and one server; the console must stay empty."""

    browser_options = {}
    browser_class = Browser

    @classmethod
    def setUpClass(cls):
        cls.stub = None
        cls.start_server()
        cls.browser = cls.browser_class(**cls.browser_options)

    @classmethod
    def start_server(cls):
        cls.stub = stub_server.Stub(stub_server.Database(events=20_000, keys=1_000))
        cls.url = cls.stub.url

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        if cls.stub:
            cls.stub.close()

    def tearDown(self):
        self.assertEqual(self.browser.severe(), [], "messages on the console")


class PageTest(WithBrowser):
    """What holds on any server."""

    @classmethod
    def start_server(cls):
        cls.url = os.environ.get("ROWLOCK_WEB_URL", "").rstrip("/")
        if not cls.url:
            super().start_server()

    def setUp(self):
        self.browser.open_loaded(f"{self.url}/")

    def api(self, path):
        with urllib.request.urlopen(f"{self.url}{path}") as answer:
            return json.load(answer)

    def oldest_lock(self):
        held = [
            lock
            for lock in self.api("/api/locks")["locks"]
            if lock["state"] == "held" and lock["type"] != hostile_text.TYPE
        ]
        return max(held, key=lambda lock: lock["held_ms"])

    def test_the_policy_allows_no_script_and_no_style_in_the_page(self):
        with urllib.request.urlopen(f"{self.url}/") as answer:
            policy = answer.headers["Content-Security-Policy"]
            page = answer.read().decode()
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        self.assertNotRegex(page, r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=")

    def test_a_held_lock_is_in_the_table_with_holder_and_sign_of_life(self):
        lock = self.oldest_lock()
        browser = self.browser
        browser.find("filters").find_element(By.NAME, "key").send_keys(lock["source"])
        wanted = f"{lock['type']}/{lock['source']}"
        browser.wait(lambda: wanted in browser.texts("#held-rows .key"), "the lock is listed")
        row = browser.texts("#held-rows .key").index(wanted)
        self.assertEqual(browser.texts("#held-rows tr")[row].count(lock["holder"]), 1)
        self.assertRegex(
            browser.texts(".life-words")[row], r"renewed|no sign for|ran out|for another"
        )

    def test_a_type_narrows_lanes_and_table_to_it(self):
        browser = self.browser
        before = browser.lanes()
        kind = self.oldest_lock()["type"]
        Select(browser.find("filters").find_element(By.NAME, "type")).select_by_value(kind)
        browser.wait(lambda: 0 < browser.lanes() < before, "there are fewer lanes")
        browser.wait(
            lambda: set(browser.texts("#labels .key-type")) == {kind}, "the lanes are of the type"
        )
        self.assertEqual(set(browser.texts("#held-rows .key-type")), {kind})

    def test_a_holder_narrows_lanes_and_table_to_it(self):
        browser = self.browser
        before = browser.lanes()
        holder = self.oldest_lock()["holder"]
        Select(browser.find("filters").find_element(By.NAME, "holder")).select_by_value(holder)
        browser.wait(lambda: 0 < browser.lanes() < before, "there are fewer lanes")
        self.assertEqual(set(browser.texts("#held-rows .holder-name")), {holder})

    def test_a_part_of_a_key_narrows_lanes_and_the_address_keeps_it(self):
        browser = self.browser
        before = browser.lanes()
        source = self.oldest_lock()["source"]
        browser.find("filters").find_element(By.NAME, "key").send_keys(source)
        browser.wait(lambda: 0 < browser.lanes() < before, "there are fewer lanes")
        found = browser.lanes()
        browser.open_loaded(browser.driver.current_url)
        browser.wait(lambda: browser.lanes() <= found, "the filter is there again")
        self.assertTrue(all(source in key for key in browser.texts("#labels .key")))

    def test_clear_shows_all_again(self):
        browser = self.browser
        before = browser.lanes()
        browser.find("filters").find_element(By.NAME, "key").send_keys(self.oldest_lock()["source"])
        browser.wait(lambda: browser.lanes() < before, "there are fewer lanes")
        browser.find("clear").click()
        browser.wait(lambda: browser.lanes() >= before, "all lanes are back")

    def test_the_wheel_zooms_on_the_axis(self):
        before = self.browser.span()
        self.browser.wheel(".axis-row", -200)
        self.browser.wait(lambda: self.browser.span() < before * 0.9, "less time is visible")

    def test_the_wheel_with_control_zooms_on_the_bars(self):
        before = self.browser.span()
        self.browser.wheel("#bars", -200, is_control=True)
        self.browser.wait(lambda: self.browser.span() < before * 0.9, "less time is visible")

    def test_the_wheel_alone_scrolls_the_lanes(self):
        browser = self.browser
        before = browser.span()
        browser.wheel("#bars", 300)
        browser.wait(
            lambda: int(browser.data("timeline")["firstLane"]) > 0, "the lanes are scrolled"
        )
        self.assertAlmostEqual(browser.span(), before, delta=before / 1000)

    def test_buttons_zoom_pan_and_reset(self):
        browser = self.browser
        whole = browser.span()
        browser.find("zoom-in").click()
        browser.wait(lambda: browser.span() < whole * 0.51, "half of the time is visible")
        begin = browser.view()[0]
        browser.find("earlier").click()
        browser.wait(lambda: browser.view()[0] < begin - whole * 0.1, "earlier time is visible")
        begin = browser.view()[0]
        browser.find("later").click()
        browser.wait(lambda: browser.view()[0] > begin + whole * 0.1, "later time is visible")
        browser.find("zoom-out").click()
        browser.wait(lambda: browser.span() > whole * 0.9, "the whole time is visible")
        browser.find("zoom-in").click()
        browser.find("zoom-reset").click()
        browser.wait(lambda: browser.span() > whole * 0.99, "the whole time is visible again")

    def test_keys_zoom_and_pan(self):
        browser = self.browser
        whole = browser.span()
        browser.focus_timeline()
        browser.keys("+")
        browser.wait(lambda: browser.span() < whole * 0.51, "half of the time is visible")
        begin = browser.view()[0]
        ActionChains(browser.driver).key_down(Keys.SHIFT).send_keys(Keys.ARROW_LEFT).key_up(
            Keys.SHIFT
        ).perform()
        browser.wait(lambda: browser.view()[0] < begin, "earlier time is visible")
        browser.keys("-")
        browser.wait(lambda: browser.span() > whole * 0.9, "the whole time is visible")
        browser.keys("+")
        browser.keys("0")
        browser.wait(lambda: browser.span() > whole * 0.99, "the whole time is visible again")

    def test_dragging_moves_in_time(self):
        browser = self.browser
        whole = browser.span()
        browser.find("zoom-in").click()
        browser.wait(lambda: browser.span() < whole * 0.51, "half of the time is visible")
        begin = browser.view()[0]
        bars = browser.find("bars")
        ActionChains(browser.driver).move_to_element(bars).click_and_hold().move_by_offset(
            100, 0
        ).move_by_offset(100, 0).release().perform()
        browser.wait(lambda: browser.view()[0] < begin - whole * 0.03, "earlier time is visible")

    def test_a_range_is_what_is_visible(self):
        browser = self.browser
        for name, minutes in (("15m", 15), ("6h", 360), ("1h", 60)):
            browser.driver.find_element(By.CSS_SELECTOR, f"[data-range='{name}']").click()
            browser.wait(
                lambda wanted=minutes * 60000: 0.99 < browser.span() / wanted < 1.05,
                f"{minutes} minutes are visible",
            )

    def test_the_details_of_a_hold_come_by_keys(self):
        facts = self.browser.select_a_hold()
        self.assertRegex(facts["Token"], r"^\d+$")
        self.assertRegex(facts["Begin"], r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC$")
        self.assertRegex(facts["Held"], r"^[\d.]+ (ms|s|min|h|d)")
        self.assertIn("Ended", facts)
        said = self.browser.text("#selected")
        self.assertIn(facts["Token"], said)

    def test_arrow_keys_move_between_bars_and_lanes(self):
        browser = self.browser
        browser.select_a_hold()
        key = browser.text("#details .key")
        browser.keys(Keys.HOME)
        first = browser.details()
        browser.keys(Keys.ARROW_RIGHT)
        browser.wait(lambda: browser.details() not in (first, {}), "the next item is selected")
        browser.keys(Keys.ARROW_LEFT)
        browser.wait(lambda: browser.details() == first, "the first item is selected")
        browser.keys(Keys.ARROW_DOWN)
        browser.wait(lambda: browser.text("#details .key") != key, "another key is selected")
        browser.keys(Keys.ARROW_UP)
        browser.wait(lambda: browser.text("#details .key") == key, "the key is selected again")

    def test_enter_keeps_the_details_and_escape_closes_them(self):
        browser = self.browser
        browser.select_a_hold()
        browser.keys(Keys.ENTER)
        browser.wait(lambda: browser.data("details")["kept"] == "true", "the details are kept")
        browser.keys(Keys.TAB)
        self.assertTrue(
            browser.script(
                "return document.getElementById('details').contains(document.activeElement)"
            )
        )
        browser.keys(Keys.ESCAPE)
        browser.wait(lambda: browser.details() == {}, "the details are closed")
        self.assertEqual(browser.script("return document.activeElement.id"), "timeline")

    def test_the_focus_is_visible(self):
        browser = self.browser
        browser.find("filters").find_element(By.NAME, "key").click()
        for _ in range(40):
            browser.keys(Keys.TAB)
            outline = browser.script("return getComputedStyle(document.activeElement).outlineStyle")
            self.assertNotEqual(
                outline, "none", browser.script("return document.activeElement.outerHTML")
            )
            if browser.script("return document.activeElement.id") == "timeline":
                return
        self.fail("Tab does not reach the timeline")

    def test_the_details_of_a_hold_come_by_mouse(self):
        browser = self.browser
        browser.select_a_hold()
        at = browser.data("timeline")
        browser.keys(Keys.ESCAPE)
        browser.wait(lambda: browser.details() == {}, "the details are closed")
        # By the command of the browser: the place is one of the window, not of an element.
        browser.command(
            "Input.dispatchMouseEvent",
            type="mouseMoved",
            x=float(at["selectedX"]),
            y=float(at["selectedY"]),
        )
        browser.wait(
            lambda: "Token" in browser.details() or "Event" in browser.details(),
            "the details are open",
        )
        self.assertEqual(browser.data("details")["kept"], "false")
        browser.command("Input.dispatchMouseEvent", type="mouseMoved", x=2, y=2)
        browser.wait(lambda: browser.details() == {}, "the details are closed")

    def test_hostile_text_is_text(self):
        browser = self.browser
        scripts = browser.script("return document.scripts.length")
        Select(browser.find("filters").find_element(By.NAME, "type")).select_by_value(
            hostile_text.TYPE
        )
        wanted = {hostile_text.SHOWN[source] for source in hostile_text.SOURCES}
        browser.wait(
            lambda: set(browser.texts("#labels .key-source")) == wanted, "the keys are shown"
        )
        browser.wait(
            lambda: set(browser.texts("#held-rows .key-source")) == wanted, "the locks are listed"
        )
        self.assertEqual(
            set(browser.texts("#held-rows .holder-name")), {hostile_text.RIGHT_TO_LEFT}
        )
        self.assertEqual(set(browser.texts("#held-rows .note")), {hostile_text.SCRIPT})
        browser.focus_timeline()
        browser.keys(Keys.ARROW_DOWN)
        browser.wait(
            lambda: hostile_text.RIGHT_TO_LEFT in browser.details().get("Holder", ""),
            "the holder is in the details",
        )
        self.assertEqual(
            browser.script("return document.querySelectorAll('img, b, iframe, object').length"), 0
        )
        self.assertEqual(browser.script("return document.scripts.length"), scripts)
        with self.assertRaises(NoAlertPresentException):
            _ = browser.driver.switch_to.alert.text
        browser.picture("hostile")

    def test_foreign_names_cannot_turn_their_neighbours(self):
        directions = self.browser.script(
            "return [...document.querySelectorAll('bdi')]"
            ".map((e) => getComputedStyle(e).unicodeBidi)"
        )
        self.assertEqual(set(directions), {"isolate"})
        dangerous = re.compile(
            "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066\u2067\u200b-\u200f]"
        )
        shown = "".join(self.browser.texts("bdi"))
        self.assertIsNone(dangerous.search(shown))
        self.assertNotIn("\u202e", self.browser.text("body"))

    def test_nothing_is_requested_from_elsewhere(self):
        browser = self.browser
        browser.requested()
        browser.open_loaded(f"{self.url}/")
        asked = browser.requested()
        self.assertTrue(any("/api/history" in address for address in asked))
        elsewhere = [
            address
            for address in asked
            if not address.startswith((f"{self.url}/", "data:", "about:"))
        ]
        self.assertEqual(elsewhere, [])

    def test_it_updates_itself_and_pauses(self):
        browser = self.browser
        before = browser.text("#state-text")
        browser.wait(lambda: browser.text("#state-text") != before, "time goes on")
        browser.requested()
        browser.wait(
            lambda: any("/api/locks" in address for address in browser.requested()),
            "the locks are read again",
        )
        browser.find("pause").click()
        browser.wait(lambda: browser.text("#state-text").startswith("paused"), "it is paused")
        self.assertEqual(browser.find("pause").get_attribute("aria-pressed"), "true")
        browser.requested()
        browser.find("pause").click()
        browser.wait(lambda: browser.text("#state-text").startswith("live"), "it goes on")
        browser.wait(
            lambda: any("/api/locks" in address for address in browser.requested()),
            "the locks are read again",
        )

    def test_the_parts_have_roles_and_names(self):
        browser = self.browser
        self.assertEqual(browser.find("banner").get_attribute("aria-live"), "polite")
        self.assertEqual(browser.find("timeline").get_attribute("role"), "application")
        unnamed = browser.script(
            """
            const all = document.querySelectorAll('button, input, select, [role=application]');
            return [...all].filter((e) =>
                !(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label')))
                .map((e) => e.outerHTML);"""
        )
        self.assertEqual(unnamed, [])

    def test_light_is_light(self):
        self.assertGreater(brightness(self.browser), 200)
        self.browser.picture("light")


def brightness(browser):
    """Of the ground of the page: 0 is black, 255 is white."""
    colour = browser.script("return getComputedStyle(document.documentElement).backgroundColor")
    return sum(int(part) for part in re.findall(r"\d+", colour)[:3]) / 3


class GivenEvents(stub_server.Database):
    """A few events and locks that a test gives, in seconds before NOON."""

    def __init__(self, give):
        self.given_locks = []
        self.give = give
        super().__init__()

    def make(self, number, keys):
        self.give(self)
        self.events.sort(key=lambda event: event["us"])

    def event(self, source, what, seconds, **other):
        at = stub_server.NOON_US - round(seconds * 1_000_000)
        self.note(
            "given", source, what, at, other.pop("version", at), other.pop("holder", "a"), **other
        )

    def locks(self, query):
        now = self.now()
        return {
            "at": stub_server.rfc3339(now),
            "truncated": False,
            "locks": [
                self.made_up("given", source, holder, seconds, now, **other)
                for source, holder, seconds, other in self.given_locks
            ],
        }


class HoldsTest(WithBrowser):
    """How events and locks become holds."""

    @classmethod
    def start_server(cls):
        cls.stub = stub_server.Stub(GivenEvents(lambda _: None))
        cls.url = cls.stub.url

    def holds(self, give):
        """The details of each item of the key `given/k`, from the oldest on."""
        browser = self.browser
        self.stub.server.database = GivenEvents(give)
        browser.open_loaded(f"{self.url}/#key=given")
        browser.focus_timeline()
        browser.keys(Keys.ARROW_DOWN)
        browser.wait(browser.details, "an item is selected")
        browser.keys(Keys.HOME)
        # An open hold is held for longer each time that it is looked at.
        found = {}
        while True:
            details = browser.details()
            item = tuple(sorted({**details, "Held for": ""}.items()))
            if item in found:
                return list(found.values())
            found[item] = details
            browser.keys(Keys.ARROW_RIGHT)

    def test_an_end_tells_the_begin(self):
        [hold] = self.holds(
            lambda given: given.event(
                "k",
                "failed",
                100,
                held_ms=20_000,
                token=7,
                holder="a",
                reason="no",
                correlation="c1",
            )
        )
        self.assertEqual(
            hold,
            {
                "Holder": "a",
                "Token": "7",
                "Begin": "2026-01-31 11:58:00.000 UTC",
                "End": "2026-01-31 11:58:20.000 UTC",
                "Held": "20 s",
                "Ended": "failed",
                "Reason": "no",
                "Correlation id": "c1",
            },
        )

    def test_a_grant_and_its_end_are_one_hold(self):
        def give(given):
            given.event("k", "granted", 120, version=7)
            given.event("k", "released", 100, held_ms=20_000, token=7)

        [hold] = self.holds(give)
        self.assertEqual((hold["Token"], hold["Ended"]), ("7", "released"))

    def test_a_key_that_is_handed_over_has_two_holds(self):
        def give(given):
            given.event("k", "granted", 120, version=7, holder="a")
            # The clock of a grant may be before that of the end which it follows.
            given.event("k", "handed over", 100, version=8, held_ms=20_000, token=7, holder="a")
            given.event("k", "granted", 100.001, version=8, holder="b")
            given.event("k", "ran out", 50, held_ms=49_999, token=8, holder="b")

        holds = self.holds(give)
        self.assertEqual(
            [(hold["Holder"], hold["Ended"].split(":")[0]) for hold in holds],
            [("a", "handed over to the next waiter"), ("b", "ran out")],
        )

    def test_a_lease_that_ran_out_was_held_until_it_was_over(self):
        until = stub_server.NOON_US - 90_000_000
        [hold] = self.holds(
            lambda given: given.event("k", "ran out", 50, held_ms=20_000, token=7, until=until)
        )
        self.assertEqual(
            (hold["Begin"], hold["End"], hold["Held"]),
            ("2026-01-31 11:58:10.000 UTC", "2026-01-31 11:58:30.000 UTC", "20 s"),
        )

    def test_a_hold_whose_end_was_not_recorded_ends_with_the_next_grant(self):
        def give(given):
            given.event("k", "granted", 120, version=7, holder="a")
            given.event("k", "granted", 100, version=8, holder="b")
            given.event("k", "released", 90, held_ms=10_000, token=8, holder="b")

        holds = self.holds(give)
        self.assertEqual([hold["Ended"] for hold in holds], ["end not recorded", "released"])

    def test_a_hold_that_lasts_is_still_held(self):
        def give(given):
            given.event("k", "granted", 60, version=7, holder="a")
            given.given_locks = [("k", "a", 60, {"version": 7})]

        [hold] = self.holds(give)
        self.assertEqual(
            (hold["Begin"], hold["State"]), ("2026-01-31 11:59:00.000 UTC", "still held")
        )

    def test_a_hold_that_ends_meanwhile_is_ended(self):
        def give(given):
            given.event("k", "granted", 60, version=7, holder="a")
            given.given_locks = [("k", "a", 60, {"version": 7})]

        [before] = self.holds(give)
        self.assertEqual(before["State"], "still held")
        database = self.stub.server.database
        database.event("k", "released", 0, held_ms=60_000, token=7)
        database.given_locks = []
        database.times = [event["us"] for event in database.events]
        browser = self.browser
        browser.wait(lambda: int(browser.data("main")["events"]) == 2, "the event is read")
        # Selected anew: details do not change while they are read.
        browser.keys(Keys.HOME)
        self.assertEqual(
            (browser.details()["Ended"], browser.details()["Held"]), ("released", "1 min")
        )

    def test_a_hold_older_than_the_history_is_known_from_the_lock(self):
        def give(given):
            given.given_locks = [("k", "a", 600, {"state": "run out", "sign_of_life_ms": 60_000})]

        [hold] = self.holds(give)
        self.assertEqual((hold["Holder"], hold["State"]), ("a", "ran out, not taken over yet"))

    def test_a_hold_of_a_key_that_is_free_is_not_shown_as_held(self):
        [hold] = self.holds(lambda given: given.event("k", "granted", 60, version=7))
        self.assertEqual(hold["Ended"], "end not recorded")

    def test_events_that_end_no_hold_are_points(self):
        def give(given):
            given.event("k", "locked", 60)
            given.event("k", "committed", 59)
            given.event("k", "closed", 58)

        self.assertEqual(
            [item["Event"] for item in self.holds(give)],
            ["row locked in a transaction", "committed", "closed for others after the hold"],
        )


class DarkTest(WithBrowser):
    browser_options = {"is_dark": True}

    def test_dark_is_dark(self):
        self.browser.open_loaded(f"{self.url}/")
        self.assertLess(brightness(self.browser), 40)
        self.browser.select_a_hold()
        self.browser.picture("dark")


class PhoneTest(WithBrowser):
    browser_options = {"width": 360, "height": 780, "is_phone": True}

    def setUp(self):
        self.browser.open_loaded(f"{self.url}/")

    def test_the_page_is_as_wide_as_the_telephone(self):
        browser = self.browser
        self.assertEqual(browser.script("return document.documentElement.scrollWidth"), 360)
        wide = browser.script(
            """
            return [...document.querySelectorAll('main *')].filter((e) =>
                !e.closest('.unseen, thead') &&
                e.getClientRects().length > 0 && e.getBoundingClientRect().right > 361 &&
                !e.closest('.axis') && getComputedStyle(e.parentElement).overflow !== 'hidden')
                .map((e) => e.outerHTML.slice(0, 120));"""
        )
        self.assertEqual(wide, [])
        browser.picture("phone")

    def test_two_fingers_zoom(self):
        browser = self.browser
        browser.script("document.getElementById('timeline').scrollIntoView()")
        box = browser.script(
            """
            const box = document.getElementById('bars').getBoundingClientRect();
            return [box.left, box.top, box.width, box.height];"""
        )
        before = browser.span()
        middle, y = box[0] + box[2] / 2, box[1] + 60

        def touch(kind, apart):
            points = [
                {"x": middle - apart, "y": y, "id": 0},
                {"x": middle + apart, "y": y, "id": 1},
            ]
            browser.command(
                "Input.dispatchTouchEvent",
                type=kind,
                touchPoints=points if kind != "touchEnd" else [],
            )

        touch("touchStart", 30)
        for apart in (40, 60, 80, 100, 120):
            touch("touchMove", apart)
        touch("touchEnd", 0)
        browser.wait(lambda: browser.span() < before * 0.6, "less time is visible")

    def test_a_finger_opens_the_details(self):
        browser = self.browser
        browser.select_a_hold()
        at = browser.data("timeline")
        browser.keys(Keys.ESCAPE)
        browser.wait(lambda: browser.details() == {}, "the details are closed")
        point = {"x": float(at["selectedX"]), "y": float(at["selectedY"])}
        browser.command("Input.dispatchTouchEvent", type="touchStart", touchPoints=[point])
        browser.command("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        browser.wait(lambda: browser.details() != {}, "the details are open")
        browser.picture("phone-details")


class ManyEventsTest(WithBrowser):
    """100,000 events on 5,000 keys."""

    @classmethod
    def start_server(cls):
        cls.stub = stub_server.Stub(stub_server.Database(events=100_000, keys=5_000))
        cls.url = cls.stub.url

    def test_all_are_loaded_and_the_work_is_bounded(self):
        browser = self.browser
        browser.open_loaded(f"{self.url}/#range=all")
        browser.wait(
            lambda: int(browser.data("main")["events"]) >= 100_000, "all events are loaded"
        )
        self.assertGreaterEqual(browser.lanes(), 5_000)
        nodes = browser.script("return document.querySelectorAll('*').length")
        self.assertLess(nodes, 2_500)
        visible = len(browser.texts("#labels .label"))
        self.assertLess(visible, 40)
        # Bars and marks of a frame: bounded by the pixels of the visible lanes, not by the events.
        width = browser.script("return document.getElementById('bars').clientWidth")
        self.assertLess(int(browser.data("timeline")["drawn"]), visible * width)
        browser.picture("many")
        browser.script("document.getElementById('lanes').scrollTop = 1e9")
        browser.wait(
            lambda: int(browser.data("timeline")["firstLane"]) > 4_900, "the last lanes are visible"
        )
        self.assertLess(len(browser.texts("#labels .label")), 40)
        # The lanes with the most events are the most work.
        Select(browser.find("filters").find_element(By.NAME, "order")).select_by_value("busiest")
        browser.script("document.getElementById('lanes').scrollTop = 0")
        browser.wait(
            lambda: browser.data("timeline")["firstLane"] == "0", "the first lanes are visible"
        )
        self.assertLess(int(browser.data("timeline")["drawn"]), visible * width)
        browser.picture("busiest")

    def test_pages_are_read_once(self):
        browser = self.browser
        browser.open("about:blank")
        self.stub.server.requests.clear()
        browser.open_loaded(f"{self.url}/#range=all")
        browser.wait(
            lambda: int(browser.data("main")["events"]) >= 100_000, "all events are loaded"
        )
        pages = [
            path
            for path in self.stub.server.requests
            if path.startswith("/api/history") and "since" not in path
        ]
        self.assertEqual(len(pages), len(set(pages)))
        self.assertLessEqual(len(pages), 21)


class TooManyEventsTest(WithBrowser):
    @classmethod
    def start_server(cls):
        cls.stub = stub_server.Stub(stub_server.Database(events=210_000, keys=5_000))
        cls.url = cls.stub.url

    def test_the_oldest_are_left_out_and_the_page_says_so(self):
        browser = self.browser
        browser.open_loaded(f"{self.url}/#range=all")
        browser.wait(
            lambda: "older ones are left out" in browser.text("#timeline-count"), "the page is full"
        )
        self.assertLessEqual(int(browser.data("main")["events"]), 200_000)
        self.assertGreater(int(browser.data("main")["events"]), 150_000)
        pages = len(self.stub.server.requests)
        browser.wait(
            lambda: len(self.stub.server.requests) > pages + 3, "it goes on to update itself"
        )
        self.assertTrue(
            all(
                "since" in path or "/api/locks" in path
                for path in self.stub.server.requests[pages:]
            )
        )


class QuietTest(WithBrowser):
    """A page that is paused or hidden reads nothing while another one goes on."""

    def setUp(self):
        self.other = stub_server.Stub(stub_server.Database(events=1_000, keys=50))
        self.addCleanup(self.other.close)

    def assert_quiet_while_the_other_reads(self, other):
        self.stub.server.requests.clear()
        begin = len(self.other.server.requests)
        other.wait(lambda: len(self.other.server.requests) > begin + 8, "the other page has read")
        self.assertEqual(self.stub.server.requests, [])

    def test_paused(self):
        other = Browser()
        self.addCleanup(other.close)
        other.open_loaded(f"{self.other.url}/")
        self.browser.open_loaded(f"{self.url}/")
        self.browser.find("pause").click()
        begin = len(self.other.server.requests)
        # What was under way when it was paused has come by then.
        other.wait(lambda: len(self.other.server.requests) > begin + 2, "the other page has read")
        self.assert_quiet_while_the_other_reads(other)

    def test_hidden(self):
        browser = self.browser
        browser.open_loaded(f"{self.url}/")
        first = browser.driver.current_window_handle
        browser.driver.switch_to.new_window("tab")
        browser.open_loaded(f"{self.other.url}/")
        self.assert_quiet_while_the_other_reads(browser)
        browser.driver.close()
        browser.driver.switch_to.window(first)
        browser.wait(lambda: self.stub.server.requests, "the page reads again")


class AwayTest(WithBrowser):
    """A database that goes away and comes back."""

    def setUp(self):
        self.stub.database.fault = None

    def tearDown(self):
        # The browser itself reports each answer of 503; anything else is an error of the page.
        others = [message for message in self.browser.severe() if "503" not in message]
        self.assertEqual(others, [])

    def test_the_page_says_so_keeps_the_last_data_and_recovers(self):
        browser = self.browser
        browser.open_loaded(f"{self.url}/")
        events = int(browser.data("main")["events"])
        self.assertFalse(browser.find("banner").is_displayed())
        self.stub.database.fault = "could not connect to server <b>db</b>:\nconnection refused"
        browser.wait(lambda: browser.find("banner").is_displayed(), "the banner is there")
        banner = browser.text("#banner-text")
        self.assertIn("could not connect to server <b>db</b>:\\nconnection refused", banner)
        self.assertRegex(browser.text("#banner-age"), r"is [\d.]+ (s|min)\b.* old")
        # The timeline follows the clock, so a lane may leave it meanwhile.
        self.assertGreaterEqual(int(browser.data("main")["events"]), events)
        self.assertGreater(browser.lanes(), 0)
        browser.wait(
            lambda: float(
                browser.script("return getComputedStyle(document.getElementById('main')).opacity")
            )
            <= 0.5,
            "the data is greyed",
        )
        browser.picture("away")
        self.stub.database.fault = None
        browser.wait(lambda: not browser.find("banner").is_displayed(), "the banner is gone")
        browser.wait(
            lambda: browser.text("#state-text").startswith("live"), "the page is live again"
        )

    def test_a_page_opened_meanwhile_comes_to_life(self):
        browser = self.browser
        self.stub.database.fault = "the database system is starting up"
        browser.open(f"{self.url}/")
        browser.wait(lambda: browser.find("banner").is_displayed(), "the banner is there")
        self.stub.database.fault = None
        browser.wait(lambda: browser.lanes() > 0, "the timeline is there")
        self.assertFalse(browser.find("banner").is_displayed())


class NoHistoryTest(WithBrowser):
    @classmethod
    def start_server(cls):
        cls.stub = stub_server.Stub(stub_server.Database(events=2_000, keys=100, has_history=False))
        cls.url = cls.stub.url

    def test_the_page_says_how_to_get_it_and_shows_the_held_locks(self):
        browser = self.browser
        browser.open(f"{self.url}/")
        browser.wait(lambda: browser.find("no-history").is_displayed(), "the page says so")
        self.assertIn("rowlock migrate URL --with history", browser.text("#no-history"))
        self.assertFalse(browser.find("timeline-section").is_displayed())
        browser.wait(lambda: browser.texts("#held-rows .key"), "the locks are listed")
        # The row itself remembers how its last hold ended.
        self.assertIn("account/7", browser.texts("#failed-rows .key"))
        browser.picture("no-history")

    def test_the_timeline_comes_when_the_history_is_installed(self):
        browser = self.browser
        browser.open(f"{self.url}/")
        browser.wait(lambda: browser.find("no-history").is_displayed(), "the page says so")
        self.stub.database.has_history = True
        self.addCleanup(setattr, self.stub.database, "has_history", False)
        browser.wait(
            lambda: browser.find("timeline-section").is_displayed(), "the timeline is there"
        )
        browser.wait(lambda: browser.lanes() > 0, "the timeline has lanes")


class ReportTest(WithBrowser):
    """The page as one file on a disk."""

    def test_it_shows_its_data_and_requests_nothing(self):
        browser = self.browser
        with tempfile.NamedTemporaryFile(suffix=".html") as file:
            file.write(stub_server.report(self.stub.database).encode())
            file.flush()
            browser.requested()
            self.stub.server.requests.clear()
            browser.open(f"file://{file.name}")
            browser.wait(lambda: browser.lanes() > 0, "the timeline has lanes")
            browser.wait(lambda: browser.texts("#held-rows .key"), "the locks are listed")
            self.assertTrue(browser.text("#state-text").startswith("report, taken 2026-01-31 12:"))
            self.assertFalse(browser.find("pause").is_displayed())
            browser.select_a_hold()
            browser.find("filters").find_element(By.NAME, "key").send_keys("script>")
            wanted = {hostile_text.SHOWN[hostile_text.SCRIPT]}
            browser.wait(
                lambda: set(browser.texts("#labels .key-source")) == wanted, "the key is shown"
            )
            asked = [address for address in browser.requested() if not address.startswith("data:")]
            self.assertEqual(set(asked) - {"about:blank"}, {f"file://{file.name}"})
            self.assertEqual(self.stub.server.requests, [])
            browser.picture("report")


def load_tests(_loader, classes, _pattern):
    """All tests. Or those of a share: ROWLOCK_WEB_SHARE=1/2 is each second class, from the first on,
    without what holds on any server: serve_test.py has that, on a real one."""
    share, number = (int(part) for part in os.environ.get("ROWLOCK_WEB_SHARE", "1/1").split("/"))
    tested = [suite for suite in classes if suite.countTestCases() > 0]
    if "ROWLOCK_WEB_SHARE" in os.environ:
        tested = [suite for suite in tested if not isinstance(next(iter(suite)), PageTest)]
    return unittest.TestSuite(tested[share - 1 :: number])


if __name__ == "__main__":
    unittest.main(verbosity=2)
