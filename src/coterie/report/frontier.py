"""The risk-utility map: candidates by what they lose and what they leave at risk (Duncan et al. 2001)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..facts.comparison import Candidate
from .candidates import in_words
from .svg import AFTER, FAINT, RULE, WARM, circle, line, linked, marker, picture, polyline, ticks, words

_COLOURS = (AFTER, WARM, "var(--third,#3d7d4c)", "var(--fourth,#7a4fa3)", "var(--fifth,#8a6d1a)", FAINT)
_PLACES = (  # of a label, from its dot
    (9.0, 4.0, "start"), (-9.0, 4.0, "end"), (0.0, -10.0, "middle"),
    (8.0, -7.0, "start"), (-8.0, 15.0, "end"), (9.0, 15.0, "start"), (0.0, 18.0, "middle"), (9.0, 4.0, "start"),
)  # fmt: skip
LEFT, RIGHT, TOP, BASE = 62.0, 700.0, 34.0, 380.0


RING = 9.5


class _Dot(NamedTuple):
    candidate: Candidate
    x: float
    y: float
    name: str
    link: str | None
    chosen: bool


def risk_utility(
    candidates: Sequence[Candidate], links: Sequence[str | None] | None = None, chosen: int | None = None
) -> str:
    """Loss to the right, risk upwards: the lower left is best. Shapes and colours tell k, labels the method.

    Candidates that are not possible are left out.

    Parameters
    ----------
    candidates : sequence of Candidate
    links : sequence of str or None, optional
        For each candidate, where a click on it leads, if anywhere.
    chosen : int, optional
        Which of the candidates has a ring around it.
    """
    placed = []
    for i, (c, link) in enumerate(zip(candidates, [None] * len(candidates) if links is None else links, strict=True)):
        if c.loss_percent is not None and c.linked_percent is not None:
            placed.append((c, c.loss_percent, c.linked_percent, link, i == chosen))
    if not placed:
        return picture(720, 60, "Risk-utility map without candidates", words(12, 34, "Nothing to show."), "chart map")
    far = max(loss for _, loss, *_ in placed) * 1.12 or 1.0
    high = max(risk for _, _, risk, *_ in placed) * 1.12 or 1.0
    ks = sorted({c.k for c, *_ in placed})
    dots = []
    for c, loss, risk, link, ringed in placed:
        name = f"{in_words(c)}, k = {c.k}: information loss {loss:.4g} %, linked {risk:.4g} %" + ", chosen" * ringed
        x, y = LEFT + (RIGHT - LEFT) * loss / far, BASE - (BASE - TOP) * risk / high
        dots.append(_Dot(c, x, y, name, link, ringed))
    frontier = sorted((dot.x, dot.y) for dot in dots if dot.candidate.on_frontier)
    body = [_axes(far, high), polyline(_stairs(frontier), FAINT, 1.4, "4 4"), *_labels(dots)]
    body += [_drawn(dot, ks.index(dot.candidate.k), dots) for dot in dots]
    body += _legend(ks)
    label = f"Risk-utility map of {len(placed)} candidates: information loss across, risk upwards"
    role = "img" if all(dot.link is None for dot in dots) else "group"
    return picture(720, 442, label, "".join(body), "chart map", role)


def _drawn(dot: _Dot, series: int, dots: Sequence[_Dot]) -> str:
    """A marker, with a ring if it is the chosen one; one that is a link can be clicked somewhat beside it too."""
    ring = circle(dot.x, dot.y, RING, stroke="currentColor", width=2) if dot.chosen else ""
    title = dot.name if dot.link is None else ""
    colour = _COLOURS[series % len(_COLOURS)]
    mark = marker(series, dot.x, dot.y, 5, colour, title, not dot.candidate.best)
    if dot.link is not None:
        mark = linked(dot.link, dot.name, circle(dot.x, dot.y, _reach(dot, dots), "transparent") + mark, dot.chosen)
    return ring + mark


def _reach(dot: _Dot, dots: Sequence[_Dot]) -> float:
    """Where a click is still meant for this dot: not nearer to the next one."""
    nearest = min((math.hypot(dot.x - d.x, dot.y - d.y) for d in dots if d is not dot), default=math.inf)
    return min(12.0, max(6.0, nearest / 2))


def _stairs(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """What the frontier rules out lies beyond these stairs; nothing is known of a straight line between its points."""
    out = list(points[:1])
    for x, y in points[1:]:
        out += [(x, out[-1][1]), (x, y)]
    return out


def _axes(far: float, high: float) -> str:
    body = [line(LEFT, BASE, RIGHT, BASE, FAINT), line(LEFT, TOP, LEFT, BASE, FAINT)]
    for value in ticks(0, far):
        x = LEFT + (RIGHT - LEFT) * value / far
        body += [line(x, BASE, x, BASE + 4, FAINT),
                 words(x, BASE + 19, f"{value:g}", size=12, anchor="middle", fill=FAINT)]  # fmt: skip
    for value in ticks(0, high):
        y = BASE - (BASE - TOP) * value / high
        body += [line(LEFT, y, RIGHT, y, RULE) if value else "",
                 words(LEFT - 8, y + 4, f"{value:g}", size=12, anchor="end", fill=FAINT)]  # fmt: skip
    body.append(words(RIGHT, BASE + 38, "information loss, % →", size=12.5, anchor="end"))
    body.append(words(LEFT, TOP - 14, "↑ records re-identified by linkage, %", size=12.5))
    return "".join(body)


def _labels(dots: Sequence[_Dot]) -> list[str]:
    """A label to each dot where there is room, those of the frontier first; the table names them all."""
    taken = []
    for _, x, y, _, _, chosen in dots:
        room = RING + 1 if chosen else 6.0
        taken.append((x - room, y - room, x + room, y + room))
    out = []
    for c, x, y, _, _, chosen in sorted(dots, key=lambda dot: (not dot[0].best, not dot[0].on_frontier)):
        name = in_words(c)[:24]
        width = 7.0 * len(name)
        for across, down, anchor in _PLACES[3:] if c.best else _PLACES:
            dx, dy = (across * 1.5, down * 1.3) if chosen else (across, down)  # beyond the ring
            x0 = x + dx - {"start": 0.0, "end": width, "middle": width / 2}[anchor]
            box = (x0, y + dy - 9, x0 + width, y + dy + 2)
            if box[0] > LEFT and box[2] < RIGHT + 16 and box[3] < BASE and not any(_overlap(box, t) for t in taken):
                taken.append(box)
                out.append(words(x + dx, y + dy, name, size=11.5, anchor=anchor, bold=c.best, halo=True))
                break
    return out


def _overlap(a: Sequence[float], b: Sequence[float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _legend(ks: Sequence[int]) -> list[str]:
    out: list[Any] = []
    for i, k in enumerate(ks[:10]):
        x = LEFT + 6 + 70 * i
        out += [marker(i, x, BASE + 50, 5, _COLOURS[i % len(_COLOURS)], f"k = {k}"),
                words(x + 10, BASE + 54, f"k = {k}", size=12)]  # fmt: skip
    return out
