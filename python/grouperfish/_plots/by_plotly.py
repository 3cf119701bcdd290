"""Charts by plotly: the same as by matplotlib, with what is known of a cluster under the mouse."""

from __future__ import annotations

import html
from typing import Any

from plotly import graph_objects as go

from . import charts
from .colors import ACCENT, GREY, LIGHT, PALETTE

INCH = 96  # pixels


def draw_sizes(chart: charts.Bars, _ax: Any) -> Any:
    rows = list(range(len(chart.names)))
    bar = go.Bar(
        x=chart.values,
        y=rows,
        orientation="h",
        marker={"color": ACCENT},
        text=[f"{value:,}" for value in chart.values],
        textposition="outside",
        cliponaxis=False,
        hovertext=[_hover(lines) for lines in chart.hovers],
        hoverinfo="text",
    )
    figure = _figure([bar], chart.title, 800, 110 + 25 * len(rows))
    _name_rows(figure, chart.names)
    note = "documents" + (f"<br>{_safe(chart.note)}" if chart.note else "")
    figure.update_xaxes(title={"text": note, "font": {"size": 11, "color": GREY}}, tickformat=",d", rangemode="tozero")
    return figure


def draw_terms(bars: list) -> Any:
    from plotly.subplots import make_subplots

    across = min(4, len(bars))
    down = -(-len(bars) // across)
    most_rows = max(len(chart.names) for chart in bars)
    figure = make_subplots(
        down, across, subplot_titles=[_safe(chart.title) for chart in bars],
        horizontal_spacing=0.36 / across, vertical_spacing=0.16 / down,
    )
    for at, chart in enumerate(bars):
        row, column = at // across + 1, at % across + 1
        figure.add_trace(
            go.Bar(
                x=chart.values,
                y=list(range(len(chart.names))),
                orientation="h",
                marker={"color": PALETTE[at % len(PALETTE)]},
                hovertext=[f"{_safe(n)}: {v:.3f}" for n, v in zip(chart.full_names, chart.values)],
                hoverinfo="text",
            ),
            row,
            column,
        )
        figure.update_yaxes(
            tickvals=list(range(len(chart.names))), ticktext=[_safe(name) for name in chart.names],
            range=[most_rows - 0.4, -0.6], row=row, col=column,
        )
        figure.update_xaxes(nticks=4, row=row, col=column)
    figure.update_layout(_look("", max(320, 250 * across), 40 + down * (70 + 22 * most_rows)))
    figure.update_annotations(font={"size": 12})
    return figure


def draw_trends(chart: charts.Trends, _ax: Any) -> Any:
    signs = {"rising": " ↗", "falling": " ↘"}
    x = list(range(len(chart.periods)))  # by number: names of periods would be taken for dates
    traces = []
    for line in chart.others:
        traces.append(_line(x, chart.periods, line, LIGHT, 1, _safe(line.name), False))
    for at, line in enumerate(chart.lines):
        name = _safe(line.name) + signs.get(line.trend, "")
        traces.append(_line(x, chart.periods, line, PALETTE[at % len(PALETTE)], 2.2, name, True))
    figure = _figure(traces, chart.title, 960, 480)
    step = max(1, -(-len(x) // 12))
    ticks = x[::-1][::step][::-1]
    figure.update_layout(showlegend=True, legend={"traceorder": "normal"}, hovermode="closest")
    figure.update_xaxes(
        tickvals=ticks, ticktext=[chart.periods[i] for i in ticks], range=[-0.5, len(x) - 0.5], ticks="outside",
        tickcolor=LIGHT,
    )
    if chart.note:
        figure.update_xaxes(title={"text": _safe(chart.note), "font": {"size": 11, "color": GREY}})
    figure.update_yaxes(
        title={"text": chart.y_title, "font": {"size": 11, "color": GREY}}, rangemode="tozero", showgrid=True, gridcolor=LIGHT
    )
    return figure


def _line(x: list, periods: list, line: charts.Line, color: str, width: float, name: str, is_named: bool) -> Any:
    return go.Scatter(
        x=x,
        y=line.values,
        mode="lines" if len(x) > 1 else "markers",
        line={"color": color, "width": width},
        marker={"color": color},
        name=name,
        showlegend=is_named,
        hovertext=[f"{_safe(line.full_name)}<br>{p}: {_number(v)}" for p, v in zip(periods, line.values)],
        hoverinfo="text",
    )


def draw_map(chart: charts.Map, _ax: Any) -> Any:
    traces = []
    for group in [-1, *range(len(chart.groups))]:
        circles = [circle for circle in chart.circles if circle.group == group]
        if not circles:
            continue
        color = ACCENT if group < 0 else PALETTE[1 + group % (len(PALETTE) - 1)]
        traces.append(
            go.Scatter(
                x=[circle.x for circle in circles],
                y=[circle.y for circle in circles],
                mode="markers+text",
                marker={
                    "size": [2 * circle.radius * INCH for circle in circles],
                    "sizemode": "diameter",
                    "color": color,
                    "opacity": 0.35,
                    "line": {"color": color, "width": 1},
                },
                text=["<br>".join(_safe(line) for line in circle.lines) for circle in circles],
                textfont={"size": 10.5},
                hovertext=[_hover(circle.hover) for circle in circles],
                hoverinfo="text",
                name=_safe(chart.groups[group]) if group >= 0 else "",
                showlegend=group >= 0,
            )
        )
    below = 60 if chart.groups else 10
    figure = _figure(traces, chart.title, chart.width * INCH + 20, chart.height * INCH + 50 + below)
    figure.update_layout(
        margin={"l": 10, "r": 10, "t": 50, "b": below},
        showlegend=bool(chart.groups),
        legend={"orientation": "h", "y": 0, "yanchor": "top", "itemsizing": "constant"},
    )
    figure.update_xaxes(visible=False, range=[0, chart.width])
    figure.update_yaxes(visible=False, range=[0, chart.height], scaleanchor="x")
    return figure


def draw_tree(chart: charts.Tree, _ax: Any) -> Any:
    x: list = []
    y: list = []
    for node in chart.nodes:
        below = [chart.nodes[child] for child in node.children]
        if below:
            x += [node.x, node.x, None]
            y += [min(n.y for n in below), max(n.y for n in below), None]
        for child in below:
            x += [node.x, child.x, None]
            y += [child.y, child.y, None]
    lines = go.Scatter(x=x, y=y, mode="lines", line={"color": GREY, "width": 1}, hoverinfo="skip")
    inner = [node for node in chart.nodes if not node.is_leaf]
    named = go.Scatter(
        x=[node.x for node in inner],
        y=[node.y for node in inner],
        mode="markers+text",
        marker={"size": 6, "color": ACCENT},
        text=[_safe(node.name) for node in inner],
        textposition="top right",
        textfont={"size": 10.5, "color": ACCENT},
        hovertext=[_hover(node.hover) for node in inner],
        hoverinfo="text",
    )
    leaves = [node for node in chart.nodes if node.is_leaf]
    ends = go.Scatter(
        x=[0] * len(leaves), y=[leaf.y for leaf in leaves], mode="markers", marker={"size": 4, "color": GREY},
        hovertext=[_hover(leaf.hover) for leaf in leaves], hoverinfo="text", cliponaxis=False,
    )
    figure = _figure([lines, named, ends], chart.title, 900, 110 + 20 * chart.n_leaves)
    figure.update_xaxes(
        range=[max([node.x for node in chart.nodes] + [0.1]) * 1.03, 0],
        title={"text": "1 - similarity of what is joined", "font": {"size": 11, "color": GREY}},
    )
    figure.update_yaxes(
        side="right", ticks="outside", ticklen=6, tickcolor="white", tickvals=[leaf.y for leaf in leaves], ticktext=[_safe(leaf.name) for leaf in leaves],
        range=[chart.n_leaves - 0.4, -0.6],
    )
    return figure


def draw_k(chart: charts.Curve, _ax: Any) -> Any:
    good = [i for i, one in enumerate(chart.plateau) if one]
    traces = [
        go.Scatter(x=chart.k, y=chart.separation, mode="lines", line={"color": ACCENT}, name="separation (silhouette)"),
        go.Scatter(
            x=chart.k, y=chart.worth, mode="lines+markers", line={"color": PALETTE[1]},
            name="worth: a little against many clusters",
        ),
    ]
    if good:
        traces.append(
            go.Scatter(
                x=[chart.k[i] for i in good], y=[chart.worth[i] for i in good], mode="markers",
                marker={"size": 11, "symbol": "circle-open", "color": PALETTE[1]}, name="about as good as the best",
            )
        )
    figure = _figure(traces, chart.title, 860, 420)
    if chart.floor is not None:
        figure.add_shape(
            type="line", xref="paper", x0=0, x1=1, y0=chart.floor, y1=chart.floor,
            line={"color": GREY, "width": 1, "dash": "dash"},
        )
    title = "clusters" + (f"<br>{_safe(chart.why)}" if chart.why else "")
    shown: list = []
    for number in chart.k:
        if not shown or number > shown[-1] * 1.18:
            shown.append(number)
    figure.update_xaxes(
        type="log", tickvals=shown, ticktext=[f"{number:,}" for number in shown],
        title={"text": title, "font": {"size": 11, "color": GREY}},
    )
    figure.update_yaxes(rangemode="tozero")
    figure.update_layout(showlegend=True)
    return figure


# ---- help ------------------------------------------------------------------------------------------


def _safe(text: str) -> str:
    """Text as it is, where plotly would take it for HTML or a formula."""
    return html.escape(" ".join(text.split())).replace("$", "&#36;")


def _hover(lines: list) -> str:
    return "<br>".join([f"<b>{_safe(lines[0])}</b>"] + [_safe(line) for line in lines[1:]])


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.1f} %"


def _look(title: str, width: float, height: float) -> dict:
    return {
        "title": {"text": _safe(title), "x": 0.01, "font": {"size": 15}},
        "width": round(width),
        "height": round(height),
        "template": "plotly_white",
        "showlegend": False,
        "margin": {"l": 10, "r": 30, "t": 50 if title else 30, "b": 40},
    }


def _figure(traces: list, title: str, width: float, height: float) -> Any:
    figure = go.Figure(traces)
    figure.update_layout(_look(title, width, height))
    figure.update_xaxes(showgrid=False, zeroline=False, automargin=True)
    figure.update_yaxes(showgrid=False, zeroline=False, automargin=True)
    return figure


def _name_rows(figure: Any, names: list) -> None:
    figure.update_yaxes(
        tickvals=list(range(len(names))), ticktext=[_safe(name) for name in names], range=[len(names) - 0.4, -0.6]
    )
