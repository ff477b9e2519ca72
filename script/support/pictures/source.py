"""The text of a picture: fields at the top, then one element a line."""

import re


class Source:
    """`fields` are the lines `name: value` before the first empty line. The others are elements."""

    def __init__(self, file):
        self.file = file
        head, _, body = file.read_text(encoding="utf-8").partition("\n\n")
        self.fields = dict(line.split(": ", 1) for line in head.splitlines())
        self.elements = [line for line in body.splitlines() if line.strip() and not line.startswith("#")]


def lines_of(text):
    """`one | two` is two lines."""
    return [line.strip() for line in text.split("|")]


def parse(pattern, line):
    """The named groups of the pattern, or an error that quotes the line."""
    found = re.fullmatch(pattern, line.strip())
    if not found:
        raise ValueError(f"not understood: {line}")
    return found.groupdict()
