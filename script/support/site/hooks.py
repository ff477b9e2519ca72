"""What mkdocs.yml leaves to code: lists as GitHub reads them, patterns in the nav, the search."""

import fnmatch
import json
import pathlib
import re

from markdown import Extension
from markdown.blockprocessors import build_block_parser
from markdown.preprocessors import Preprocessor
from mkdocs.exceptions import PluginError

# Pages that need a place in the nav. What they link to is shown, and stands in no nav.
NEEDED = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/*")


# The begin of a list that may follow a paragraph without an empty line.
LIST = re.compile(r" *([-*+]|1[.)]) ")


class EmptyLineBeforeList(Preprocessor):
    """For GitHub a list ends a paragraph; for Python-Markdown an empty line does."""

    def run(self, lines):
        result = []
        is_paragraph = False
        for line in lines:
            if not line.strip():
                is_paragraph = False
            elif is_paragraph and LIST.match(line):
                result.append("")
                is_paragraph = False
            elif not result or not result[-1].strip():
                is_paragraph = not LIST.match(line)
            result.append(line)
        return result


class ListsOfGitHub(Extension):
    """Has to come before extensions that add to the parser of blocks: it makes that anew."""

    def extendMarkdown(self, md):  # pylint: disable=invalid-name
        md.tab_length = 2  # what is in an item is as far from the edge as the item's text
        md.parser = build_block_parser(md)
        # After code in fences has been taken out (25).
        md.preprocessors.register(EmptyLineBeforeList(md), "empty_line_before_list", 20)


def on_config(config):
    config["markdown_extensions"].insert(0, ListsOfGitHub())
    return config


def named(nav):
    """The paths and patterns in a nav."""
    for item in nav:
        value = next(iter(item.values())) if isinstance(item, dict) else item
        if isinstance(value, str):
            yield value
        else:
            yield from named(value)


def expanded(nav, pages):
    """A nav with the pages that its patterns stand for."""
    for item in nav:
        if isinstance(item, str) and "*" in item:
            yield from fnmatch.filter(pages, item)
        elif isinstance(item, dict):
            title, value = next(iter(item.items()))
            yield {title: value if isinstance(value, str) else list(expanded(value, pages))}
        else:
            yield item


def on_files(files, config):
    pages = sorted(file.src_uri for file in files.documentation_pages())
    paths = set(named(config["nav"]))
    config["nav"] = list(expanded(config["nav"], [page for page in pages if page not in paths]))
    paths = set(named(config["nav"]))
    for page in pages:
        if page not in paths and any(fnmatch.fnmatch(page, pattern) for pattern in NEEDED):
            raise PluginError(f"{page} has no place in the site: add it to nav in mkdocs.yml")
    return files


def on_page_content(html, **_):
    """In a table a bar in code is escaped; Python-Markdown would show the escape."""
    return re.sub("<td.*?</td>", lambda cell: cell[0].replace("\\|", "|"), html, flags=re.DOTALL)


def on_post_build(config):
    """Leaves in the index of the search what has a place in the nav."""
    site = pathlib.Path(config["site_dir"])
    file = site / "search" / "search_index.json"
    index = json.loads(file.read_text(encoding="utf-8"))
    shown = {
        "index.html"
        if path == "README.md"
        else path.replace("README.md", "index.md")[:-3] + ".html"
        for path in named(config["nav"])
    }
    index["docs"] = [entry for entry in index["docs"] if entry["location"].split("#")[0] in shown]
    text = json.dumps(index, sort_keys=True, separators=(",", ":"))
    file.write_text(text, encoding="utf-8")
    # A page without a server may load a script, and no JSON.
    file.with_suffix(".js").write_text(
        f"window.__search = {{index: Promise.resolve({text})}};\n", encoding="utf-8"
    )
    # Its links are absolute, so the site would need a fixed place on its server.
    (site / "404.html").unlink()
