"""Charts by matplotlib. Figures are not pyplot's: none is shown by itself, none stays open."""

from __future__ import annotations

import io
import warnings
from typing import Any, Optional

import matplotlib
from matplotlib import font_manager
from matplotlib.figure import Figure as _Figure
from matplotlib.patches import Circle
from matplotlib.text import Text

from . import charts
from .colors import ACCENT, GREY, LIGHT, PALETTE

# Fonts that have Chinese, Japanese, Korean letters, as systems call them; any other comes after these.
WIDE_FONTS = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei",
    "Droid Sans Fallback", "PingFang SC", "Hiragino Sans GB", "Microsoft YaHei", "SimHei", "Arial Unicode MS",
)


class Figure(_Figure):
    """A figure that a notebook shows also where pyplot was never imported."""

    def _repr_png_(self) -> bytes:
        out = io.BytesIO()
        self.savefig(out, format="png")
        return out.getvalue()


def draw_sizes(chart: charts.Bars, ax: Any) -> Any:
    figure, ax = _axes(ax, 8, 1.1 + 0.26 * len(chart.names))
    rows = range(len(chart.names))
    ax.barh(rows, chart.values, color=ACCENT, height=0.72)
    _name_rows(ax, chart.names)
    most = max(chart.values, default=0) or 1
    for row, value in zip(rows, chart.values):
        ax.text(value + most * 0.01, row, f"{value:,}", va="center", fontsize=8, color=GREY)
    ax.set_xlim(0, most * 1.1)
    ax.set_xlabel("documents" + (f"\n{chart.note}" if chart.note else ""), fontsize=8, color=GREY)
    _plain(ax, "left", "bottom")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.xaxis.get_major_locator().set_params(integer=True, nbins=6)
    return _finish(figure, ax, chart.title)


def draw_terms(bars: list) -> Any:
    across = min(4, len(bars))
    down = -(-len(bars) // across)
    most_rows = max(len(chart.names) for chart in bars)
    figure = Figure(figsize=(max(3.0, 2.7 * across), down * (0.55 + 0.22 * most_rows)), layout="constrained")
    fields = figure.subplots(down, across, squeeze=False).ravel()
    for at, ax in enumerate(fields):
        if at >= len(bars):
            ax.set_axis_off()
            continue
        chart = bars[at]
        ax.barh(range(len(chart.names)), chart.values, color=PALETTE[at % len(PALETTE)], height=0.72)
        _name_rows(ax, chart.names)
        ax.set_ylim(most_rows - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        ax.xaxis.get_major_locator().set_params(nbins=3)
        _plain(ax, "bottom")
        ax.set_title(_safe(chart.title), fontsize=9, loc="left", fontweight="bold")
    _use_fonts(figure)
    return figure


def draw_trends(chart: charts.Trends, ax: Any) -> Any:
    figure, ax = _axes(ax, 10, 5)
    x = list(range(len(chart.periods)))
    alone = "o" if len(x) == 1 else None
    for line in chart.others:
        ax.plot(x, line.values, color=LIGHT, linewidth=0.8, zorder=1, marker=alone)
    for at, line in enumerate(chart.lines):
        ax.plot(x, line.values, color=PALETTE[at % len(PALETTE)], linewidth=1.8, zorder=2, marker=alone)
    highest = max((max(line.values) for line in chart.lines + chart.others), default=0) or 1
    ax.set_ylim(0, highest * 1.08)
    ax.set_xlim(-0.3 if len(x) > 1 else -1, len(x) - 1 + (0.05 * len(x) if len(x) > 1 else 1))
    wanted = [line.values[-1] for line in chart.lines]
    room = highest * 1.08 / (ax.get_position().height * figure.get_figheight() * 72 / 11)
    signs = {"rising": " ↗", "falling": " ↘"}
    for at, (line, y) in enumerate(zip(chart.lines, _apart(wanted, room))):
        color = PALETTE[at % len(PALETTE)]
        ax.annotate(
            _safe(line.name) + signs.get(line.trend, ""),
            xy=(x[-1], line.values[-1]),
            xytext=(1.015, y / (highest * 1.08)),
            textcoords="axes fraction",
            va="center",
            fontsize=8.5,
            color=color,
            arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 2},
            annotation_clip=False,
        )
    step = max(1, -(-len(x) // 12))
    ticks = x[::-1][::step][::-1]
    ax.set_xticks(ticks)
    long = max(len(name) for name in chart.periods) > 8
    ax.set_xticklabels(
        [chart.periods[i] for i in ticks], fontsize=8, rotation=30 if long else 0, ha="right" if long else "center"
    )
    ax.set_ylabel(chart.y_title, fontsize=8.5, color=GREY)
    if chart.note:
        ax.set_xlabel(chart.note, fontsize=8, color=GREY)
    if all(isinstance(v, int) for line in chart.lines for v in line.values):
        ax.yaxis.get_major_locator().set_params(integer=True)
    ax.grid(axis="y", color=LIGHT, linewidth=0.5)
    _plain(ax, "bottom")
    ax.tick_params(axis="y", length=0)
    return _finish(figure, ax, chart.title)


def draw_map(chart: charts.Map, ax: Any) -> Any:
    if ax is None:  # places are inches: nothing is to be moved by a layout
        below = 0.25 + 0.2 * -(-len(chart.groups) // 4) if chart.groups else 0.0
        figure = Figure(figsize=(chart.width, chart.height + 0.4 + below))
        tall = figure.get_figheight()
        ax = figure.add_axes((0, below / tall, 1, chart.height / tall))
    else:
        figure = ax.figure
    for circle in chart.circles:
        color = ACCENT if circle.group < 0 else PALETTE[1 + circle.group % (len(PALETTE) - 1)]
        ax.add_patch(Circle((circle.x, circle.y), circle.radius, facecolor=color, alpha=0.3, edgecolor=color))
        ax.text(
            circle.x, circle.y, _safe("\n".join(circle.lines)), ha="center", va="center", fontsize=8,
            linespacing=1.05,
        )
    ax.set_xlim(0, chart.width)
    ax.set_ylim(0, chart.height)
    ax.set_aspect("equal")
    ax.set_axis_off()
    if chart.groups:
        marks = [
            matplotlib.lines.Line2D(
                [], [], linestyle="", marker="o", color=PALETTE[1 + i % (len(PALETTE) - 1)], alpha=0.5
            )
            for i in range(len(chart.groups))
        ]
        ax.legend(
            marks, [_safe(" " + name) for name in chart.groups], title="groups of the hierarchy", loc="upper center",
            bbox_to_anchor=(0.5, 0.0), ncol=min(4, len(marks)), fontsize=8, title_fontsize=8, frameon=False,
            borderaxespad=0,
        )
    return _finish(figure, ax, " " + chart.title)


def draw_tree(chart: charts.Tree, ax: Any) -> Any:
    figure, ax = _axes(ax, 9, 1.0 + 0.2 * chart.n_leaves)
    for node in chart.nodes:
        below = [chart.nodes[child] for child in node.children]
        if below:
            ax.plot([node.x] * 2, [min(n.y for n in below), max(n.y for n in below)], color=GREY, linewidth=0.9)
        for child in below:
            ax.plot([node.x, child.x], [child.y] * 2, color=GREY, linewidth=0.9)
            if child.name and not child.is_leaf:
                ax.text(
                    child.x, child.y, _safe(child.name), fontsize=8, color=ACCENT, ha="center", va="center",
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
                )
    leaves = [node for node in chart.nodes if node.is_leaf]
    ax.set_ylim(chart.n_leaves - 0.4, -0.6)
    ax.set_xlim(max([node.x for node in chart.nodes] + [0.1]) * 1.03, 0)
    ax.yaxis.tick_right()
    ax.set_yticks([leaf.y for leaf in leaves])
    ax.set_yticklabels([_safe(leaf.name) for leaf in leaves], fontsize=8.5)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("1 - similarity of what is joined", fontsize=8, color=GREY)
    _plain(ax, "bottom")
    return _finish(figure, ax, chart.title)


def draw_k(chart: charts.Curve, ax: Any) -> Any:
    figure, ax = _axes(ax, 8, 4)
    ax.plot(chart.k, chart.separation, color=ACCENT, linewidth=1.6, label="separation (silhouette)")
    ax.plot(chart.k, chart.worth, color=PALETTE[1], linewidth=1.6, label="worth: a little against many clusters")
    ax.scatter(chart.k, chart.worth, s=14, color=PALETTE[1], zorder=3)
    good = [i for i, one in enumerate(chart.plateau) if one]
    if good:
        ax.scatter(
            [chart.k[i] for i in good], [chart.worth[i] for i in good], s=46, facecolor="white", zorder=4,
            edgecolor=PALETTE[1], label="about as good as the best",
        )
    if chart.floor is not None:
        ax.axhline(chart.floor, color=GREY, linewidth=0.8, linestyle="--", label="what more than one must exceed")
    if chart.chosen >= 0:
        k, worth = chart.k[chart.chosen], chart.worth[chart.chosen]
        ax.axvline(k, color=LIGHT, zorder=0)
        ax.annotate(
            f"k = {k:,}", (k, worth), (0, -18), textcoords="offset points", ha="center", fontsize=9,
            fontweight="bold",
        )
    ax.set_xscale("log")
    _tick_numbers(ax, chart.k)
    ax.set_xlabel("clusters" + (f"\n{chart.why}" if chart.why else ""), fontsize=8.5, color=GREY)
    ax.legend(fontsize=8, frameon=False)
    _plain(ax, "left", "bottom")
    return _finish(figure, ax, chart.title)


# ---- help ------------------------------------------------------------------------------------------


def _axes(ax: Any, width: float, height: float) -> tuple:
    if ax is not None:
        return ax.figure, ax
    figure = Figure(figsize=(width, max(height, 1.6)), layout="constrained")
    return figure, figure.subplots()


def _finish(figure: Any, ax: Any, title: str) -> Any:
    ax.set_title(_safe(title), loc="left", fontsize=10.5)
    _use_fonts(figure)
    return figure


def _safe(text: str) -> str:
    """Text as it is: two dollars would begin and end a formula."""
    return text.replace("$", r"\$")


def _plain(ax: Any, *shown: str) -> None:
    for name, spine in ax.spines.items():
        spine.set_visible(name in shown)
        spine.set_color(GREY)
    ax.tick_params(labelsize=8.5, color=GREY)


def _name_rows(ax: Any, names: list) -> None:
    ax.set_yticks(range(len(names)))
    ax.set_yticklabels([_safe(name) for name in names], fontsize=8.5)
    ax.set_ylim(len(names) - 0.4, -0.6)


def _tick_numbers(ax: Any, numbers: list) -> None:
    """Some of the numbers themselves, not powers of ten: each a fifth further than the one before."""
    shown: list = []
    for number in numbers:
        if not shown or number > shown[-1] * 1.18:
            shown.append(number)
    ax.set_xticks(shown)
    ax.set_xticklabels([f"{number:,}" for number in shown])
    ax.minorticks_off()


def _apart(wanted: list, room: float) -> list:
    """Heights near the wanted ones (falling), each at least that much below the one before, none below 0."""
    placed = list(wanted)
    for i in range(1, len(placed)):
        placed[i] = min(placed[i], placed[i - 1] - room)
    if placed and placed[-1] < 0:
        placed[-1] = 0.0
        for i in range(len(placed) - 2, -1, -1):
            placed[i] = max(placed[i], placed[i + 1] + room)
    return placed


_fonts_of: dict = {}  # letters that the usual font lacks, and the family that has them


def _use_fonts(figure: Any) -> None:
    """Behind the usual font those that have the letters which it lacks."""
    texts = [text for text in figure.findobj(Text) if text.get_text()]
    letters = {c for text in texts for c in text.get_text() if ord(c) > 0x2FF and not c.isspace()}
    if not letters:
        return
    usual = list(matplotlib.rcParams["font.family"])
    lacking = letters - _letters(font_manager.findfont(font_manager.FontProperties(family=usual)))
    families: list = []
    while lacking:
        family = _family_with(sorted(lacking))
        if family is None:
            some = "".join(sorted(lacking)[:8])
            warnings.warn(
                f"no installed font has {some}: they are drawn as boxes; "
                "install one that has (of Debian: fonts-noto-cjk, fonts-wqy-microhei)",
                stacklevel=4,
            )
            break
        families.append(family[0])
        lacking -= family[1]
    if families:
        for text in texts:
            if any(c in letters for c in text.get_text()):
                text.set_fontfamily(usual + families)


def _letters(path: str) -> set:
    if path not in _fonts_of:
        try:
            _fonts_of[path] = set(map(chr, font_manager.get_font(path).get_charmap()))
        except Exception:  # a font that cannot be read has no letters
            _fonts_of[path] = set()
    return _fonts_of[path]


def _family_with(lacking: list) -> Optional[tuple]:
    """The family with most of the letters, and these."""
    first = {name: i for i, name in enumerate(WIDE_FONTS)}
    fonts = sorted(font_manager.fontManager.ttflist, key=lambda f: (first.get(f.name, 99), f.name))
    # The font of last resort, which matplotlib brings, has a box for every letter.
    fonts = [f for f in fonts if "lastresort" not in f.name.replace(" ", "").lower()]
    regular = [f for f in fonts if f.style == "normal" and str(f.weight) in ("400", "normal", "regular", "book")]
    best: tuple = (None, set())
    for font in regular:
        has = set(lacking) & _letters(font.fname)
        if len(has) > len(best[1]):
            best = (font.name, has)
        if len(best[1]) == len(lacking):
            break
    return best if best[1] else None
