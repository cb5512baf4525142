"""The pictures: pure functions from numbers to SVG, readable in colour, in grey, in the dark and by a screen reader."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from .frontier import risk_utility
from .svg import AFTER, BEFORE, FAINT, RULE, WARM, area, at, bars, line, picture, polyline, standalone, words

__all__ = [
    "categories",
    "class_sizes",
    "correlation_change",
    "group_sizes",
    "histogram",
    "intervals",
    "loss_bars",
    "risk_utility",
    "standalone",
]

Count = float | None
MOST_CATEGORIES = 12
MOST_BARS = 24
MOST_COLUMNS = 16


def _shares(counts: Sequence[Count]) -> list[float]:
    total = sum(n for n in counts if n) or 1
    return [(n or 0) / total for n in counts]


def edge(value: float, kind: str | None = None) -> str:
    """A place on an axis: a number, or a date from microseconds since 1970."""
    if kind == "datetime":
        try:
            moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=value)
        except OverflowError:
            return ""
        return f"{moment:%Y-%m-%d}"
    size = abs(value)
    if size >= 1e7 or 0 < size < 1e-3:
        return f"{value:.3g}"
    return f"{value:,.6g}" if size < 1e6 else f"{value:,.0f}"


def histogram(
    name: str, edges: Sequence[float], before: Sequence[Count], after: Sequence[Count], kind: str | None = None
) -> str:
    """A numeric column before (area) and after (line); dotted where the count before is hidden.

    Parameters
    ----------
    name : str
    edges : sequence of float
        One more than there are counts.
    before, after : sequence of int, or None where a count is hidden
    kind : str, optional
        "datetime" writes the edges, microseconds since 1970, as dates.
    """
    left, right, top, base = 6.0, 314.0, 8.0, 112.0
    low, high = edges[0], edges[-1]
    widest = max(b - a for a, b in pairwise(edges))  # bins at the ends may be narrower or wider: heights are densities
    room = [widest / (b - a) for a, b in pairwise(edges)]
    old, new = ([share * r for share, r in zip(_shares(side), room, strict=True)] for side in (before, after))
    highest = max([*old, *new, 1e-12])
    xs = [left + (right - left) * (e - low) / (high - low) for e in edges]
    ys = [[base - (base - top) * share / highest for share in side] for side in (old, new)]
    body = [area(_steps(xs, ys[0], base), BEFORE), polyline(_steps(xs, ys[1], base), AFTER)]
    body.append(line(left, base, right, base, FAINT))
    for a, b, n in zip(xs, xs[1:], before, strict=False):
        if n is None:
            body.append(line(a + 1, base - 3, b - 1, base - 3, FAINT, 1.6, "1.6 2.4"))
    body += _axis(edges, xs, base, kind)
    return picture(320, 132, f"{name}: distribution before (area) and after (line)", "".join(body), "chart")


def _axis(edges: Sequence[float], xs: Sequence[float], base: float, kind: str | None) -> list[str]:
    """The first and the last value that the bins can hold, and one between; of bins for one number, that number."""
    single = kind == "integer" and all(b - a == 1 for a, b in pairwise(edges))
    last = edges[-1]
    if kind == "integer":
        last -= 1  # a bin does not hold its upper edge
    elif kind == "datetime" and edges[-1] - edges[-2] > _DAY:
        last -= _DAY
    middle = (len(edges) - 1) // 2 if single else len(edges) // 2
    shown = [(xs[0], edges[0], "start"), (xs[-1], last, "end")]
    if single:
        shown = [((a + b) / 2, e, "middle") for a, b, e in ((*xs[:2], edges[0]), (*xs[-2:], last))][: len(edges) - 1]
    if len(edges) > 4 and len(edge(edges[middle], kind)) < 11:
        x = (xs[middle] + xs[middle + 1]) / 2 if single else xs[middle]
        shown.insert(1, (x, edges[middle], "middle"))
    marks = [line(x, base, x, base + 3, FAINT) for x, _, anchor in shown if anchor == "middle"]
    return marks + [words(x, base + 15, edge(v, kind), anchor=anchor, fill=FAINT) for x, v, anchor in shown]


_DAY = 86_400e6  # microseconds


def _steps(xs: Sequence[float], ys: Sequence[float], base: float) -> list[tuple[float, float]]:
    """The outline of a histogram, from the base line and back to it."""
    inside = [point for a, b, y in zip(xs, xs[1:], ys, strict=False) for point in ((a, y), (b, y))]
    return [(xs[0], base), *inside, (xs[-1], base)]


def categories(
    name: str, called: Sequence[str], before: Sequence[Count], after: Sequence[Count], below: int | None = None
) -> str:
    """The categories of a column as pairs of bars, in percent; the most frequent ones if there are many."""
    old, new = _shares(before), _shares(after)
    order = list(range(len(called)))
    if len(order) > MOST_CATEGORIES:
        order = sorted(order, key=lambda i: (-max(old[i], new[i]), i))[:MOST_CATEGORIES]
    highest = max([*old, *new, 1e-12])
    left, room, row = 108.0, 146.0, 30.0
    grey, blue, body = [], [], []
    for place, i in enumerate(order):
        y = 4 + place * row
        grey.append((left, y + 2, max(room * old[i] / highest, 0.0), 9.0))
        blue.append((left, y + 13, max(room * new[i] / highest, 0.0), 9.0))
        body.append(words(left - 8, y + 16, called[i], anchor="end", limit=17))
        hidden = "hidden" if below is None else f"fewer than {below}"
        shown = hidden if before[i] is None else _percent(old[i])
        x_old = left + room * (0.0 if before[i] is None else old[i] / highest) + 5
        body.append(words(x_old, y + 10, shown, size=9.5, fill=FAINT))
        body.append(words(left + room * new[i] / highest + 5, y + 21.5, _percent(new[i]), size=9.5))
    height = 8 + row * len(order)
    body = [bars(grey, BEFORE), bars(blue, AFTER), line(left, 2, left, height - 4, FAINT), *body]
    rest = len(called) - len(order)
    if rest:
        body.append(words(left, height + 8, f"and {rest} more", fill=FAINT))
        height += 14
    label = f"{name}: share of each category before (upper bar) and after (lower bar)"
    return picture(320, height, label, "".join(body), "chart")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.9995 else "100 %"


def loss_bars(
    values: Sequence[tuple[str, float | None]], unit: str = " %", label: str = "Information loss of each column"
) -> str:
    """A bar for each column, its name above; the largest first, and not more than 16."""
    known = sorted(
        ((v, n) for n, v in values if v is not None and math.isfinite(v)), key=lambda pair: (-pair[0], pair[1])
    )
    shown = known[:MOST_COLUMNS]
    highest = max([v for v, _ in shown] + [1e-12])
    room, row, boxes, body = 268.0, 37.0, [], []
    for i, (value, name) in enumerate(shown):
        y = i * row
        boxes.append((0.0, y + 17, max(room * max(value, 0.0) / highest, 1.0), 9.0))
        body.append(words(0, y + 12, name, size=12, limit=42))
        body.append(words(room * max(value, 0.0) / highest + 7, y + 25.5, f"{value:.1f}{unit}", size=11))
    height = max(row * len(shown), 20)
    if len(known) > len(shown):
        body.append(words(0, height + 12, f"and {len(known) - len(shown)} columns that lose less", fill=FAINT))
        height += 18
    return picture(340, height, f"{label}, largest first", bars(boxes, AFTER) + "".join(body), "chart")


def group_sizes(sizes: Mapping[str, int]) -> str:
    """Number of groups of each size."""
    return _columns([(size, [(n, AFTER, "groups")]) for size, n in sizes.items()], "records in a group",
                    "Number of groups of each size")  # fmt: skip


def class_sizes(before: Mapping[str, int], after: Mapping[str, int]) -> str:
    """How many classes of records with the same quasi-identifiers there are of each size, before and after."""
    found = {**dict.fromkeys(before), **dict.fromkeys(after)}
    order = sorted(found, key=lambda size: int("".join(c if c.isdecimal() else " " for c in size).split()[:1][0])
                   if any(c.isdecimal() for c in size) else 10**12)  # fmt: skip
    pairs = [(s, [(before.get(s, 0), BEFORE, "before"), (after.get(s, 0), AFTER, "after")]) for s in order]
    return _columns(
        pairs, "records in a class", "Number of classes of each size, before (left bars) and after (right bars)"
    )


def _columns(groups: Sequence[tuple[str, list[tuple[int, str, str]]]], axis: str, label: str) -> str:
    """Upright bars, one or two to a place; places are joined where there are too many."""
    if len(groups) > MOST_BARS:
        groups = _joined(groups)
    left, right, top, base = 6.0, 334.0, 18.0, 112.0
    step = (right - left) / max(len(groups), 6)
    highest = max([n for _, series in groups for n, _, _ in series] + [1])
    body, boxes = [line(left, base, right, base, FAINT)], dict[str, list[tuple[float, float, float, float]]]()
    for i, (size, series) in enumerate(groups):
        width = step * 0.78 / len(series)
        for j, (n, fill, _) in enumerate(series):
            x, height = left + i * step + step * 0.11 + j * width, (base - top) * n / highest
            boxes.setdefault(fill, []).append((x, base - height, width * 0.94, height))
            room = step / sum(1 for m, _, _ in series if m) if n else 0
            if n and room > 6 + 6 * len(f"{n:,}"):
                body.append(words(x + width / 2, base - height - 4, f"{n:,}", size=10, anchor="middle"))
        width = 4 + 5.6 * len(size)
        if step > width or i % math.ceil(width / step) == 0:
            body.append(words(left + (i + 0.5) * step, base + 14, size, size=10.5, anchor="middle", fill=FAINT))
    body.append(words(left, base + 30, axis, fill=FAINT))
    return picture(340, 146, label, "".join(bars(b, fill) for fill, b in boxes.items()) + "".join(body), "chart")


def _joined(groups: Sequence[tuple[str, list[tuple[int, str, str]]]]) -> list[tuple[str, list[tuple[int, str, str]]]]:
    size = math.ceil(len(groups) / MOST_BARS)
    out = []
    for i in range(0, len(groups), size):
        some = groups[i : i + size]
        series = [(sum(g[1][j][0] for g in some), *some[0][1][j][1:]) for j in range(len(some[0][1]))]
        name = some[0][0] if len(some) == 1 else f"{some[0][0].split('-')[0]}-{some[-1][0].split('-')[-1]}"
        out.append((name, series))
    return out


def correlation_change(
    names: Sequence[str], before: Sequence[Sequence[float | None]], after: Sequence[Sequence[float | None]]
) -> str:
    """The change of each correlation, as numbers on colours: warm where it rose, blue and underlined where it fell."""
    n, cell, left = len(names), 46.0, 126.0
    numbered = n > 5 or max(len(name) for name in names) > 7
    top = 22.0
    change = [[None if a is None or b is None else b - a for a, b in zip(old, new, strict=True)]
              for old, new in zip(before, after, strict=True)]  # fmt: skip
    largest = max([abs(v) for row in change for v in row if v is not None] + [0.05])
    body = []
    for i, name in enumerate(names):
        y = top + i * 30
        body.append(words(left - 8, y + 19, f"{i + 1}  {name}" if numbered else name, anchor="end", limit=19))
        if i:
            head = f"{i}" if numbered else names[i - 1]
            body.append(words(left + (i - 0.5) * cell, top - 8, head, anchor="middle", size=10.5, fill=FAINT, limit=8))
        for j in range(i):
            body.append(_cell(left + j * cell, y, cell, change[i][j], largest))
    label = "Change of each correlation, after minus before: " + (", ".join(names) if n <= 12 else f"{n} columns")
    return picture(left + (n - 1) * cell + 4, top + n * 30 + 4, label, "".join(body), "chart heat")


def _cell(x: float, y: float, width: float, value: float | None, largest: float) -> str:
    if value is None:
        return words(x + width / 2, y + 19, "–", anchor="middle", fill=FAINT)
    fill, strength = (WARM if value > 0 else AFTER), min(1.0, abs(value) / largest)
    sign = "" if abs(value) < 0.005 else "+" if value > 0 else "−"
    back = (
        f'<rect x="{at(x + 1)}" y="{at(y + 1)}" width="{at(width - 2)}" height="28" rx="3" '
        f'fill-opacity="{0.06 + 0.5 * strength:.2f}" fill="{fill}"/>'
    )
    under = line(x + 12, y + 25, x + width - 12, y + 25, AFTER, 1.6) if sign == "−" else ""
    return back + words(x + width / 2, y + 19, f"{sign}{abs(value):.2f}", anchor="middle") + under


def intervals(curves: Mapping[str, tuple[Sequence[float], Sequence[float | None]]], axis: str) -> str:
    """The share of records whose original values lie within a width of the released ones, by width."""
    left, right, top, base = 40.0, 330.0, 10.0, 120.0
    widest = max([w for widths, _ in curves.values() for w in widths] + [1e-12])
    body = []
    for share in (0.0, 0.5, 1.0):
        y = base - (base - top) * share
        body += [line(left, y, right, y, RULE if share else FAINT),
                 words(left - 6, y + 4, f"{100 * share:.0f} %", size=10, anchor="end", fill=FAINT)]  # fmt: skip
    for (name, (widths, shares)), dash, colour in zip(curves.items(), ("", "5 3"), (AFTER, WARM), strict=False):
        points = [(left + (right - left) * w / widest, base - (base - top) * min(1.0, max(0.0, s)))
                  for w, s in zip(widths, shares, strict=False) if s is not None]  # fmt: skip
        body.append(polyline(points, colour, 2, dash))
        if points:
            x, y = points[-1]  # the name above the line, below it where there is no room
            body.append(words(x, y - 6 if y - 14 > top else y + 14, name, size=10.5, anchor="end"))
    for x, place, anchor in ((left, "0", "start"), ((left + right) / 2, axis, "middle"), (right, edge(widest), "end")):
        body.append(words(x, base + 15, place, size=10, anchor=anchor, fill=FAINT))
    return picture(340, 142, f"Share of records within an interval, by its width: {axis}", "".join(body), "chart")
