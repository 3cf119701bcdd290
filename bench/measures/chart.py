"""Log-log line charts as SVG, by plain Python: panels beside each other, one legend, readable in
light and dark.

A panel is (title, x name, y name, lines); a line is (name, [(x, y), ...]). The line "in all" is the
thick one. A dashed guide through its last point rises as x does.
"""
import html
import math

WIDTH, HEIGHT = 380, 300  # of a panel's plot
LEFT, TOP, GAP, BOTTOM, LEGEND = 70, 60, 90, 60, 190
TOTAL, GUIDE = "in all", "in proportion"
LIGHT = {"ground": "#ffffff", "ink": "#1f2328", "soft": "#59636e",
         "grid": "#d1d9e0", "faint": "#eef1f4",
         "lines": ("#1f2328", "#0a66d0", "#c4500a", "#16794a", "#8b3fc4", "#a8760a")}
DARK = {"ground": "#0d1117", "ink": "#e6edf3", "soft": "#9aa4af",
        "grid": "#3a424c", "faint": "#1d232b",
        "lines": ("#e6edf3", "#58a6ff", "#f0883e", "#3fb950", "#bc8cff", "#d9a521")}
SHAPES = """text { font: 12px system-ui, sans-serif; }
text.title { font-size: 14px; font-weight: 600; }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; }
.total { stroke-width: 3.5; }
.guide { fill: none; stroke-width: 1.2; stroke-dasharray: 3 4; }"""


def colours_of(palette):
    """Rules without variables, which not every reader of SVG knows."""
    rules = [f"text {{ fill: {palette['ink']}; }}", f"text.soft {{ fill: {palette['soft']}; }}",
             f".ground {{ fill: {palette['ground']}; }}", f".grid {{ stroke: {palette['grid']}; }}",
             f".faint {{ stroke: {palette['faint']}; }}",
             f".guide {{ stroke: {palette['soft']}; }}"]
    for i, colour in enumerate(palette["lines"]):
        rules += [f".s{i} {{ stroke: {colour}; }}", f".d{i} {{ fill: {colour}; }}"]
    return " ".join(rules)


def style():
    dark = f"@media (prefers-color-scheme: dark) {{ {colours_of(DARK)} }}"
    return "\n".join([SHAPES, colours_of(LIGHT), dark])


class Scale:
    """A logarithmic axis: values to pixels, between whole decades or halves of them."""

    def __init__(self, values, begin, end):
        self.low = math.floor(2 * math.log10(min(values)) + 1e-9) / 2
        self.high = max(math.ceil(2 * math.log10(max(values)) - 1e-9) / 2, self.low + 0.5)
        self.begin, self.end = begin, end
        # Digits that have a number beside them.
        self.named = (1,) if self.high - self.low > 1.5 else (1, 2, 5)

    def __call__(self, value):
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.begin + (self.end - self.begin) * share

    def holds(self, value):
        return self.low - 1e-9 <= math.log10(value) <= self.high + 1e-9

    def steps(self):
        """(value, whether a number stands beside it) of every line of the grid."""
        for decade in range(math.floor(self.low), math.ceil(self.high) + 1):
            for digit in range(1, 10):
                if self.holds(digit * 10.0 ** decade):
                    yield digit * 10.0 ** decade, digit in self.named


def amount(value):
    """0.01, 0.1, 1, 10, 1,000, 100 k, 1 M"""
    if value >= 1e6:
        return f"{value / 1e6:g} M"
    return f"{value / 1e3:g} k" if value >= 1e5 else f"{value:,.0f}" if value >= 1 else f"{value:g}"


def text(x, y, words, kind="", anchor="start", more=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}" {more}>'
            f"{html.escape(words)}</text>")


def stroke(kind, points):
    return f'<polyline class="{kind}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def axes(x, y, x_name, y_name):
    bottom, left = y.begin, x.begin
    for value, main in y.steps():
        yield stroke("grid" if main else "faint", [(left, y(value)), (x.end, y(value))])
        if main:
            yield text(left - 8, y(value) + 4, amount(value), "soft", "end")
    for value, main in x.steps():
        yield stroke("grid" if main else "faint", [(x(value), bottom), (x(value), y.end)])
        if main:
            yield text(x(value), bottom + 18, amount(value), "soft", "middle")
    yield text((left + x.end) / 2, bottom + 42, x_name, "", "middle")
    aside, middle = left - 52, (bottom + y.end) / 2
    turned = f'transform="rotate(-90 {aside:.1f} {middle:.1f})"'
    yield text(aside, middle, y_name, "", "middle", turned)


def guide(x, y, last):
    """What rises as x does, through the last point, as far as the panel goes."""
    values = [10 ** (x.low + i * (x.high - x.low) / 200) for i in range(201)]
    points = [(value, last[1] * value / last[0]) for value in values]
    return stroke("guide", [(x(a), y(b)) for a, b in points if y.holds(b)])


def kind_of(name, colour):
    return f"line s{colour}{' total' if name == TOTAL else ''}"


def panel(left, title, x_name, y_name, lines, colours):
    points = [point for _, line in lines for point in line]
    x = Scale([a for a, _ in points], left, left + WIDTH)
    y = Scale([b for _, b in points], TOP + HEIGHT, TOP)
    yield text(left, TOP - 14, title, "title")
    yield from axes(x, y, x_name, y_name)
    for name, line in lines:
        if name == TOTAL:
            yield guide(x, y, line[-1])
        yield stroke(kind_of(name, colours[name]), [(x(a), y(b)) for a, b in line])
        for a, b in line:
            yield (f'<circle class="d{colours[name]}" cx="{x(a):.1f}" cy="{y(b):.1f}" r="3.5">'
                   f"<title>{html.escape(name)}: {amount(a)}, {b:.3g}</title></circle>")


def legend(left, colours):
    for i, (name, colour) in enumerate(colours.items()):
        y = TOP + 12 + 24 * i
        yield stroke(kind_of(name, colour), [(left, y), (left + 26, y)])
        yield f'<circle class="d{colour}" cx="{left + 13}" cy="{y}" r="3.5"/>'
        yield text(left + 34, y + 4, name)
    y = TOP + 12 + 24 * len(colours)
    yield stroke("guide", [(left, y), (left + 26, y)])
    yield text(left + 34, y + 4, GUIDE)


def chart(panels, names, description):
    """The SVG of some panels; names: of all lines, so that each looks the same in every chart, six
    at most.

    The description is read out in place of the picture.
    """
    drawn = {name for _, _, _, lines in panels for name, _ in lines}
    colours = {name: i for i, name in enumerate(names) if name in drawn}
    width = LEFT + len(panels) * (WIDTH + GAP) + LEGEND - GAP + 30
    height = TOP + HEIGHT + BOTTOM
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
             f'width="{width}" height="{height}" role="img" '
             f'aria-label="{html.escape(description)}">', f"<style>{style()}</style>",
             f'<rect class="ground" width="{width}" height="{height}"/>']
    for i, one in enumerate(panels):
        parts += panel(LEFT + i * (WIDTH + GAP), *one, colours)
    parts += legend(LEFT + len(panels) * (WIDTH + GAP) - GAP + 30, colours)
    return "\n".join(parts + ["</svg>", ""])
