"""A sequence: who sends what to whom, from the top down.

    actor NAME X: text | smaller text     a lifeline at X
    A -> B: text                          a message; --> is dashed
    A -> B good: text                     or bad
    state A KIND: text | smaller text     a box on the lifeline: plain, key, wait, good, bad
    begin A: text | text                  the actor is stopped from here on, with this text beside it
    end A
    note: text                            a line of text below everything
"""

from .source import lines_of, parse
from .svg import LINE, WIDTH, Drawing, width_of

NAME = r"[a-z]+"
GAP = 14


class Sequence:
    """Goes through the elements; `y` is where the next one begins."""

    def __init__(self, source):
        self._drawing = Drawing(source.fields["title"], source.fields["description"])
        self._actors = {}
        self._stopped = {}
        self._late = []  # drawn over the lifelines
        self._y = 16
        self._top = 0
        for line in source.elements:
            getattr(self, "_" + self._verb(line))(line)

    @staticmethod
    def _verb(line):
        word = line.split()[0].rstrip(":")
        return word if word in ("actor", "state", "begin", "end", "note") else "message"

    def _actor(self, line):
        found = parse(rf"actor (?P<name>{NAME}) (?P<x>\d+): (?P<text>.+)", line)
        lines = lines_of(found["text"])
        width = max(width_of(text, "small" if number else "strong") for number, text in enumerate(lines)) + 24
        x = int(found["x"])
        height = 14 + LINE * len(lines)
        self._drawing.labelled_box(x - width / 2, self._y, width, height, "plain", lines)
        self._actors[found["name"]] = (x, self._y + height)
        self._top = max(self._top, self._y + height)

    def _start(self):
        self._y = max(self._y, self._top + GAP)

    def _x(self, name):
        return self._actors[name][0]

    def _message(self, line):
        self._start()
        found = parse(rf"(?P<a>{NAME}) (?P<arrow>-?->) (?P<b>{NAME})( (?P<kind>good|bad))?: (?P<text>.+)", line)
        start, end = self._x(found["a"]), self._x(found["b"])
        kind = (found["kind"] or "") + (" dashed" if found["arrow"] == "-->" else "")
        lines = lines_of(found["text"])
        room = abs(end - start) - 16
        for text in lines:
            if width_of(text) > room:
                raise ValueError(f"wider than its arrow: {text}")
        for text in lines:
            self._y += LINE
            self._late.append(("text", ((start + end) / 2, self._y - 5, text)))
        step = 6 if end > start else -6
        self._late.append(("arrow", ([(start + step, self._y), (end - step, self._y)], kind.strip())))
        self._y += GAP

    def _state(self, line):
        self._start()
        found = parse(rf"state (?P<name>{NAME}) (?P<kind>[a-z]+): (?P<text>.+)", line)
        lines = lines_of(found["text"])
        width = max(width_of(text, "small" if number else "strong") for number, text in enumerate(lines)) + 24
        height = 10 + LINE * len(lines)
        x = self._x(found["name"])
        self._late.append(("labelled_box", (x - width / 2, self._y, width, height, found["kind"], lines)))
        self._y += height + GAP

    def _begin(self, line):
        self._start()
        found = parse(rf"begin (?P<name>{NAME}): (?P<text>.+)", line)
        self._stopped[found["name"]] = (self._y, lines_of(found["text"]))
        self._y += GAP / 2

    def _end(self, line):
        name = parse(rf"end (?P<name>{NAME})", line)["name"]
        top, lines = self._stopped.pop(name)
        x = self._x(name)
        self._late.append(("box", (x - 6, top, 12, self._y - top, "bad", 3)))
        base = (top + self._y) / 2 - LINE * (len(lines) - 1) / 2 + 4
        left = x < WIDTH / 2
        for number, text in enumerate(lines):
            self._late.append(("text", (x - 14 if left else x + 14, base + LINE * number, text, "",
                                        "end" if left else "start")))
        self._y += GAP

    def _note(self, line):
        self._end_lifelines()
        self._y += LINE
        self._drawing.text(WIDTH / 2, self._y, parse(r"note: (?P<text>.+)", line)["text"], "small")

    def _end_lifelines(self):
        for x, top in self._actors.values():
            self._drawing.line([(x, top), (x, self._y)], "life")
        for call, arguments in self._late:
            getattr(self._drawing, call)(*arguments)
        if self._actors:
            self._y += 8
        self._actors, self._late = {}, []

    def svg(self):
        self._end_lifelines()
        return self._drawing.svg()
