"""Boxes and arrows, at places that the text gives.

    group X Y WIDTH HEIGHT: text                    a dashed frame
    box NAME X Y WIDTH HEIGHT KIND: text | text     KIND: plain, key, wait, good, bad
    label X Y ANCHOR: text | text                   ANCHOR: start, middle, end
    A.SIDE -> B.SIDE [KIND] [via X,Y ...]           SIDE: left, right, top, bottom, and +N or -N along it;
                                                    KIND: good, bad, dashed
    X,Y -> X,Y [KIND] [via X,Y ...]
"""

import re

from .source import lines_of, parse
from .svg import LINE, Drawing

PLACE = r"[a-z]+\.[a-z]+(?:[+-]\d+)?|\d+,\d+"


class Boxes:
    """Draws boxes first: an arrow may name any of them."""

    def __init__(self, source):
        self._drawing = Drawing(source.fields["title"], source.fields["description"])
        self._boxes = {}
        verbs = [(line.split()[0], line) for line in source.elements]
        for verb in ("group", "box", "label"):
            for line in (line for word, line in verbs if word == verb):
                getattr(self, "_" + verb)(line)
        for line in (line for word, line in verbs if word not in ("group", "box", "label")):
            self._arrow(line)

    def _group(self, line):
        found = parse(r"group (?P<x>\d+) (?P<y>\d+) (?P<w>\d+) (?P<h>\d+): (?P<text>.+)", line)
        x, y, width, height = (int(found[name]) for name in "xywh")
        self._drawing.box(x, y, width, height, "group", 10)
        self._drawing.text(x + 12, y + 19, found["text"], "small", "start")

    def _box(self, line):
        found = parse(r"box (?P<name>[a-z]+) (?P<x>\d+) (?P<y>\d+) (?P<w>\d+) (?P<h>\d+) (?P<kind>[a-z]+): "
                      r"(?P<text>.+)", line)
        place = tuple(int(found[name]) for name in "xywh")
        self._drawing.labelled_box(*place, found["kind"], lines_of(found["text"]))
        self._boxes[found["name"]] = place

    def _label(self, line):
        found = parse(r"label (?P<x>\d+) (?P<y>\d+) (?P<anchor>start|middle|end): (?P<text>.+)", line)
        for number, text in enumerate(lines_of(found["text"])):
            self._drawing.text(int(found["x"]), int(found["y"]) + LINE * number, text, "", found["anchor"])

    def _arrow(self, line):
        found = parse(rf"(?P<a>{PLACE}) -> (?P<b>{PLACE})(?P<kind>( (good|bad|dashed))*)"
                      r"( via (?P<via>(\d+,\d+ ?)+))?", line)
        via = [self._place(point) for point in (found["via"] or "").split()]
        self._drawing.arrow([self._place(found["a"]), *via, self._place(found["b"])], found["kind"].strip())

    def _place(self, text):
        """A point, or the middle of a side of a box, moved along that side."""
        if "," in text:
            return tuple(int(number) for number in text.split(","))
        name, side, moved = re.fullmatch(r"([a-z]+)\.([a-z]+)([+-]\d+)?", text).groups()
        x, y, width, height = self._boxes[name]
        along = int(moved or 0)
        return {"left": (x, y + height / 2 + along), "right": (x + width, y + height / 2 + along),
                "top": (x + width / 2 + along, y), "bottom": (x + width / 2 + along, y + height)}[side]

    def svg(self):
        return self._drawing.svg()
