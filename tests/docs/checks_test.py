#!/usr/bin/python3
"""The checks of script/docs, and that pages of the site are what GitHub makes of them.

    script/docs && tests/docs/checks_test.py

ROWLOCK_SITE is the folder of the site (build/site unless it says otherwise). Needs what script/docs
needs, and cmark-gfm.
"""

import collections
import html.parser
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SITE = pathlib.Path(os.environ.get("ROWLOCK_SITE", ROOT / "build" / "site")).resolve()
TOOLS = ROOT / "script" / "support" / "site"
sys.dont_write_bytecode = True
sys.path.append(str(TOOLS))

import markdown  # pylint: disable=wrong-import-position

import hooks  # pylint: disable=wrong-import-position


class Content(html.parser.HTMLParser):
    """How many elements of each kind a text has, or the article in it, and the words there."""

    def __init__(self, text):
        super().__init__()
        self.count = collections.Counter()
        self.text = []
        self.is_inside = "<article" not in text
        self.is_mark = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.is_inside = self.is_inside or tag == "article"
        self.is_mark = ("class", "headerlink") in attrs
        if self.is_inside:
            self.count[tag] += 1
        if tag in ("li", "p", "td", "th", "pre", "br", "h1", "h2", "h3"):
            self.text.append(" ")

    def handle_endtag(self, tag):
        self.is_inside = self.is_inside and tag != "article"
        self.is_mark = False

    def handle_data(self, data):
        if self.is_inside and not self.is_mark:
            self.text.append(data)

    def words(self):
        return "".join(self.text).split()


def of_github(text):
    command = ["cmark-gfm", "--unsafe", "-e", "table", "-e", "strikethrough"]
    result = subprocess.run(command, check=True, input=text, capture_output=True, text=True)
    return Content(result.stdout)


class RenderingTest(unittest.TestCase):
    """Pages are read as GitHub reads them."""

    kinds = ("ul", "ol", "li", "table", "td", "pre", "code", "em", "strong", "img", "h2", "h3")

    def assert_same(self, found, wanted, path):
        self.assertEqual(found.words(), wanted.words(), f"words of {path}")
        for kind in self.kinds:
            self.assertEqual(
                found.count[kind],
                wanted.count[kind],
                f"<{kind}> of {path}: on GitHub it looks different. Try empty lines around it",
            )

    def test_a_page_is_what_github_shows(self):
        files = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
        for file in [*files, *sorted((ROOT / "docs").rglob("*.md"))]:
            path = file.relative_to(ROOT)
            page = SITE / path.with_suffix(".html")
            if file.name == "README.md":
                page = page.with_name("index.html")
            found = Content(page.read_text(encoding="utf-8"))
            self.assert_same(found, of_github(file.read_text(encoding="utf-8")), path)

    def test_lists_and_escaped_bars_are_what_github_shows(self):
        text = """A paragraph:
- one
  - in it

    with a paragraph
- two

  ```sh
  code
  ```

1. first
   - below
2. second

| a | b |
|---|---|
| `x \\| y` | z \\| 1 |
"""
        config = {"markdown_extensions": ["tables", "sane_lists", "pymdownx.superfences"]}
        extensions = hooks.on_config(config)["markdown_extensions"]
        shown = hooks.on_page_content(markdown.markdown(text, extensions=extensions))
        self.assert_same(Content(shown), of_github(text), "the sample")

    def test_the_search_knows_pages_and_no_sources(self):
        index = json.loads((SITE / "search" / "search_index.json").read_text(encoding="utf-8"))
        pages = {entry["location"].partition("#")[0] for entry in index["docs"]}
        self.assertLessEqual({"index.html", "docs/sql.html", "docs/decisions/index.html"}, pages)
        others = [page for page in pages if "/" in page and not page.startswith("docs/")]
        self.assertEqual(others, [])


class ChecksTest(unittest.TestCase):
    """What makes script/docs fail."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, path, text):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def check_links(self):
        return subprocess.run(
            [TOOLS / "check-links", self.folder], capture_output=True, text=True, check=False
        )

    def collect_pages(self, readme):
        self.write("README.md", readme)
        for name in ("CHANGELOG.md", "CONTRIBUTING.md", "docs/uses.md"):
            self.write(name, f"# {name}\n")
        tool = self.folder / "script" / "support" / "site" / "collect-pages"
        tool.parent.mkdir(parents=True)
        shutil.copy(TOOLS / "collect-pages", tool)
        return subprocess.run(
            [tool, self.folder / "pages"], capture_output=True, text=True, check=False
        )

    def test_a_link_that_leads_nowhere_is_named_with_its_page(self):
        self.write("other.html", "<h1 id='there'></h1>")
        for link, fault in (
            ("missing.html", "does not exist"),
            ("other.html#missing", "is no anchor there"),
            ("#missing", "is no anchor there"),
            ("/other.html", "is absolute"),
            ("../elsewhere.html", "leads out of the site"),
            (".", "does not exist"),
        ):
            for element in (
                f"<a href='{link}'>",
                f"<img src='{link}'>",
                f"<source srcset='{link} 2x'>",
            ):
                self.write("page.html", element)
                result = self.check_links()
                self.assertEqual(result.returncode, 1, element)
                self.assertIn(f"page.html: {link} {fault}", result.stderr)

    def test_links_that_lead_somewhere_pass(self):
        self.write("other.html", "<h1 id='there'></h1><a href='sub/page.html#here'>")
        self.write(
            "sub/page.html",
            "<p id='here'><a href='../other.html#there'><a href='#here'><a href='#'>",
        )
        self.write("style.css", "a { background: url(other.html) }")
        result = self.check_links()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("5 links of 3 files", result.stdout)

    def test_a_link_to_a_missing_file_of_the_repository_is_named(self):
        result = self.collect_pages("[a](docs/uses.md) [b](include/missing.hpp)\n")
        self.assertEqual(result.returncode, 1)
        self.assertIn(
            "README.md has a link to include/missing.hpp, which does not exist", result.stderr
        )

    def test_links_to_sources_lead_to_pages_that_show_them(self):
        self.write("examples/one.cpp", "int main() {}\n")
        self.write("examples/more/README.md", "[one](../one.cpp)\n")
        self.write("examples/two/x.sql", "select 1;\n")
        self.write("pages/api/a__b_8hpp.html", "")
        self.write("include/rowlock/a_b.hpp", "")
        readme = "[a](examples/one.cpp#L1) [b](examples/more) [c](examples/two)"
        readme += " [d](include/rowlock/a_b.hpp) [e](LICENSE)\n"
        self.write("LICENSE", "```\n")
        result = self.collect_pages(
            readme
            + "\n```\n[](missing)\n```\n`[](missing)` [x](https://host/)\n[y]: docs/uses.md\n"
        )
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        pages = self.folder / "pages"
        self.assertEqual(
            (pages / "README.md").read_text(encoding="utf-8").splitlines()[0],
            "[a](examples/one.cpp.md) [b](examples/more/README.md) [c](examples/two/index.md)"
            " [d](api/a__b_8hpp.html) [e](LICENSE.md)",
        )
        self.assertIn(
            "```cpp\nint main() {}\n```", (pages / "examples/one.cpp.md").read_text("utf-8")
        )
        self.assertEqual(
            (pages / "examples/more/README.md").read_text("utf-8"), "[one](../one.cpp.md)\n"
        )
        self.assertIn("- [x.sql](x.sql.md)", (pages / "examples/two/index.md").read_text("utf-8"))
        self.assertIn("````text\n```\n````", (pages / "LICENSE.md").read_text("utf-8"))

    def test_a_page_without_a_place_in_the_nav_is_named(self):
        nav = [{"Start": "README.md"}, {"More": ["docs/a.md", "docs/sub/*.md"]}]
        files = Files(
            "README.md", "docs/a.md", "docs/sub/b.md", "docs/sub/a.md", "examples/one.cpp.md"
        )
        config = {"nav": nav}
        hooks.on_files(files, config)
        self.assertEqual(
            config["nav"][1], {"More": ["docs/a.md", "docs/sub/a.md", "docs/sub/b.md"]}
        )
        with self.assertRaisesRegex(
            hooks.PluginError, "docs/new.md has no place in the site: add it to nav"
        ):
            hooks.on_files(Files("README.md", "docs/a.md", "docs/new.md"), {"nav": nav})


class Files:
    """Stands for the files of MkDocs."""

    def __init__(self, *paths):
        self.paths = paths

    def documentation_pages(self):
        return [collections.namedtuple("File", "src_uri")(path) for path in self.paths]


if __name__ == "__main__":
    unittest.main(verbosity=2)
