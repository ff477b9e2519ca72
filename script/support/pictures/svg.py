"""A drawing of boxes, arrows and text, written as SVG for light and dark pages."""

import html

WIDTH = 700
LINE = 17

# A card of its own behind the picture: a page may be dark while the system is light, and the reverse.
STYLE = """
text { font-family: system-ui, -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif }
text { font-size: 13px; fill: #1f2328 }
.small { font-size: 12px; fill: #57606a } .strong { font-weight: 600; font-size: 14px }
.card { fill: #ffffff; stroke: #d0d7de } .group { fill: none; stroke: #afb8c1; stroke-dasharray: 5 4 }
.plain { fill: #f6f8fa; stroke: #8c959f } .key { fill: #ddf4ff; stroke: #0969da }
.wait { fill: #fff8c5; stroke: #9a6700 }
.good { fill: #dafbe1; stroke: #1a7f37 } .bad { fill: #ffebe9; stroke: #cf222e }
.line { fill: none; stroke: #6e7781; stroke-width: 1.4 } .life { stroke: #afb8c1 } .head { fill: #6e7781 }
.line.good { fill: none; stroke: #1a7f37 } .line.bad { fill: none; stroke: #cf222e }
.head.good { fill: #1a7f37; stroke: none } .head.bad { fill: #cf222e; stroke: none } .dashed { stroke-dasharray: 5 4 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .small { fill: #9da7b1 }
.card { fill: #0d1117; stroke: #30363d } .group { stroke: #545d68 }
.plain { fill: #1c2128; stroke: #768390 } .key { fill: #12294a; stroke: #4493f8 }
.wait { fill: #352a0c; stroke: #d29922 }
.good { fill: #12301d; stroke: #3fb950 } .bad { fill: #3c1618; stroke: #f85149 }
.line { stroke: #9198a1 } .life { stroke: #3d444d } .head { fill: #9198a1 }
.line.good { stroke: #3fb950 } .line.bad { stroke: #f85149 }
.head.good { fill: #3fb950 } .head.bad { fill: #f85149 }
}
"""


def width_of(text, style=""):
    """About the width of the text in DejaVu Sans, the widest of the fonts that pages use."""
    size = {"small": 12, "strong": 14}.get(style, 13)
    narrow = sum(character in "iljtfrI.,:;|'()[]{} -" for character in text)
    wide = sum(character in "mwMW@%—" for character in text)
    bold = 1.1 if style == "strong" else 1
    return size * bold * (0.37 * narrow + 0.92 * wide + 0.62 * (len(text) - narrow - wide))


class Drawing:
    """Elements in the order in which they are drawn."""

    def __init__(self, title, description):
        self.title = title
        self.description = description
        self.height = 0
        self._elements = []

    def _reach(self, y):
        self.height = max(self.height, y)

    def box(self, x, y, width, height, kind, radius=6):
        self._reach(y + height)
        self._elements.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius}" class="{kind}"/>')

    def text(self, x, y, line, style="", anchor="middle"):
        """One line whose base is at `y`. Fails if it does not fit on the picture."""
        width = width_of(line, style)
        left = x - {"start": 0, "middle": width / 2, "end": width}[anchor]
        if left < 4 or left + width > WIDTH - 4:
            raise ValueError(f"this line leaves the picture: {line}")
        self._reach(y + 4)
        kind = f' class="{style}"' if style else ""
        self._elements.append(
            f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{kind}>{html.escape(line, quote=False)}</text>')

    def labelled_box(self, x, y, width, height, kind, lines):
        """A box with the lines in its middle: the first is strong, the others are small."""
        for number, line in enumerate(lines):
            if width_of(line, "small" if number else "strong") > width - 8:
                raise ValueError(f"this line is wider than its box of {width}: {line}")
        if LINE * len(lines) > height - 4:
            raise ValueError(f"these lines are higher than their box of {height}: {lines}")
        self.box(x, y, width, height, kind)
        base = y + height / 2 - LINE * (len(lines) - 1) / 2 + 5
        for number, line in enumerate(lines):
            self.text(x + width / 2, base + LINE * number, line, "small" if number else "strong")

    def line(self, points, kind=""):
        self._reach(max(y for _, y in points))
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        self._elements.append(f'<polyline points="{path}" class="{("line " + kind).strip()}"/>')

    def arrow(self, points, kind=""):
        """Along the points, with its head at the last one. Each part is horizontal or vertical."""
        for start, end in zip(points, points[1:]):
            if start[0] != end[0] and start[1] != end[1]:
                raise ValueError(f"an arrow goes aslant, from {start} to {end}")
        (from_x, from_y), (x, y) = points[-2:]
        along = ((x > from_x) - (x < from_x), (y > from_y) - (y < from_y))
        back = (x - 8 * along[0], y - 8 * along[1])
        side = (4.5 * along[1], 4.5 * along[0])
        self.line([*points[:-1], back], kind)
        colour = " ".join(word for word in kind.split() if word != "dashed")
        corners = [(x, y), (back[0] + side[0], back[1] + side[1]), (back[0] - side[0], back[1] - side[1])]
        path = " ".join(f"{a:g},{b:g}" for a, b in corners)
        self._elements.append(f'<polygon points="{path}" class="{("head " + colour).strip()}"/>')

    def svg(self):
        height = round(self.height + 16)
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="title description">',
            f'<title id="title">{html.escape(self.title, quote=False)}</title>',
            f'<desc id="description">{html.escape(self.description, quote=False)}</desc>',
            f"<style>{STYLE}</style>",
            f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8" class="card"/>',
            *self._elements, "</svg>", ""])
