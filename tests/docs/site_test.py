#!/usr/bin/python3
"""The documentation site in Chromium, on a server and without one.

    script/docs && tests/docs/site_test.py

ROWLOCK_SITE is the folder of the site (build/site unless it says otherwise). Needs what
tests/web/page_test.py needs. ROWLOCK_WEB_SCREENSHOTS names a folder for pictures.
"""

import functools
import http.server
import os
import pathlib
import sys
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SITE = pathlib.Path(os.environ.get("ROWLOCK_SITE", ROOT / "build" / "site")).resolve()
sys.dont_write_bytecode = True
sys.path.append(str(ROOT / "tests" / "web"))

import page_test  # pylint: disable=wrong-import-position

# One of each kind: prose and code, tables, a picture; a type, a header, a source in the API.
PAGES = (
    "index.html",
    "docs/uses.html",
    "docs/guarantees.html",
    "docs/architecture.html",
    "docs/sql.html",
    "examples/mariadb.cpp.html",
    "api/index.html",
    "api/classrowlock_1_1lock__table.html",
    "api/retry_8hpp.html",
    "api/lock__table_8hpp_source.html",
)
# What the Web Content Accessibility Guidelines want at level AA, of text and of large text.
CONTRASTS = """
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const parse = (color) => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      return [r, g, b, a / 255];
    };
    const over = (top, ground) => [0, 1, 2].map((i) => top[i] * top[3] + ground[i] * (1 - top[3]));
    const groundOf = (element) => {
      if (!element) return [255, 255, 255];
      const color = parse(getComputedStyle(element).backgroundColor);
      return color[3] === 1 ? color : over(color, groundOf(element.parentElement));
    };
    const luminance = (color) => {
      const [r, g, b] = color.map((value) => {
        const part = value / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const found = new Map();
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let count = 0;
    while (texts.nextNode()) {
      const element = texts.currentNode.parentElement;
      if (!texts.currentNode.data.trim() || element.closest("script, style")) continue;
      if (!element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) continue;
      if (element.matches(".headerlink")) continue; // visible where the pointer is
      ++count;
      const style = getComputedStyle(element);
      const ground = groundOf(element).slice(0, 3);
      const lights = [luminance(over(parse(style.color), ground)), luminance(ground)];
      const ratio = (Math.max(...lights) + 0.05) / (Math.min(...lights) + 0.05);
      const size = parseFloat(style.fontSize);
      const isLarge = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
      if (ratio < (isLarge ? 3 : 4.5)) {
        const colors = `${style.color} on ${ground.map(Math.round)}`;
        const name = `${element.tagName}.${element.className} ${colors}`;
        found.set(name, `${name}: ${ratio.toFixed(2)}, ${texts.currentNode.data.trim()}`);
      }
    }
    return { count, faults: [...found.values()] };
"""


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the site at a place of its own, and nothing else."""

    def translate_path(self, path):
        path = path.removeprefix("/some/place") if path.startswith("/some/place/") else "/missing"
        return super().translate_path(path)

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


class WithSite(unittest.TestCase):
    """Tests on one browser; the site alone is requested, and the console stays empty."""

    is_dark = False
    server = None

    @classmethod
    def setUpClass(cls):
        if not (SITE / "index.html").exists():
            raise AssertionError(f"{SITE} has no site: run script/docs")
        cls.start()
        cls.browser = page_test.Browser(is_dark=cls.is_dark)

    @classmethod
    def start(cls):
        handler = functools.partial(Handler, directory=str(SITE))
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.url = f"http://127.0.0.1:{cls.server.server_port}/some/place/"

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        if cls.server:
            cls.server.shutdown()
            cls.server.server_close()

    def tearDown(self):
        self.assertEqual(self.browser.severe(), [], "messages on the console")
        # The images of the theme are written into its styles.
        own = (self.url, "data:", "about:", "javascript:")
        others = [url for url in self.browser.requested() if not url.startswith(own)]
        self.assertEqual(others, [], "requests that leave the site")

    def name(self):
        return f"site-{'dark' if self.is_dark else 'light'}"

    def search(self, page):
        browser = self.browser
        browser.open(self.url + page)
        field = browser.driver.find_element("css selector", ".md-search__input")
        browser.script("arguments[0].focus()", field)
        field.send_keys("fence")
        links = ".md-search-result__link"
        browser.wait(lambda: browser.texts(links), "there are results")
        self.assertTrue(any("fence" in text.lower() for text in browser.texts(links)))
        return browser.script(
            "return [...document.querySelectorAll(arguments[0])].map((e) => e.href)", links
        )


class DarkTest(WithSite):
    """In the dark colours."""

    is_dark = True

    def test_a_search_finds_pages_of_the_nav(self):
        found = self.search("docs/uses.html")
        self.browser.picture(f"{self.name()}-search")
        self.assertTrue(any(link.startswith(f"{self.url}docs/sql.html") for link in found), found)

    def test_all_text_can_be_read(self):
        for page in PAGES:
            with self.subTest(page):
                self.browser.open(self.url + page)
                result = self.browser.script(CONTRASTS)
                self.browser.picture(f"{self.name()}-{pathlib.Path(page).stem}")
                self.assertGreater(result["count"], 20)
                self.assertEqual(result["faults"], [])

    def test_the_colours_are_those_of_the_system(self):
        for page in ("index.html", "api/index.html"):
            self.browser.open(self.url + page)
            ground = self.browser.script(
                "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
            )
            self.assertEqual(max(ground) < 100, self.is_dark, page)


class LightTest(DarkTest):
    """In the light colours, and what has no colour."""

    is_dark = False

    def test_a_result_leads_to_its_section(self):
        self.search("docs/decisions/index.html")
        self.browser.driver.find_element(
            "css selector", ".md-search-result__link[href*='docs/sql.html#']"
        ).click()
        self.browser.wait(
            lambda: self.browser.script("return document.querySelector(':target')?.tagName")
            in ("H2", "H3"),
            "the page is at a section",
        )

    def test_the_nav_leads_to_the_api_and_back(self):
        browser = self.browser
        browser.open(f"{self.url}docs/uses.html")
        browser.driver.find_element("link text", "API").click()
        browser.wait(lambda: "public headers" in browser.text("#titlearea"), "the API is shown")
        browser.driver.find_element("css selector", "#titlearea a").click()
        browser.wait(
            lambda: browser.script("return !!document.querySelector('.md-nav')"), "it is left"
        )
        self.assertEqual(browser.driver.current_url, f"{self.url}index.html")


class WithoutServerTest(WithSite):
    """Opened from the file system."""

    @classmethod
    def start(cls):
        cls.url = f"{SITE.as_uri()}/"

    def test_a_search_finds_pages(self):
        found = self.search("docs/uses.html")
        self.assertTrue(any(link.startswith(f"{self.url}docs/sql.html") for link in found), found)

    def test_a_search_of_the_api_finds_a_type(self):
        browser = self.browser
        browser.open(f"{self.url}api/index.html")
        browser.driver.find_element("id", "MSearchField").send_keys("lock_table")
        results = browser.find("MSearchResults")
        browser.wait(results.is_displayed, "there are results")
        browser.driver.switch_to.frame(results)
        shown = """return [...document.querySelectorAll(".SRResult")].some(
            (result) => result.offsetParent && result.textContent.startsWith("lock_table"))"""
        browser.wait(lambda: browser.script(shown), "the type is found")
        browser.driver.switch_to.default_content()


if __name__ == "__main__":
    unittest.main(verbosity=2)
