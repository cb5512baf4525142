"""Histograms at round edges, so that no edge is the value of a record, and counts that hide small ones."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

Counts = list[float | None]


class Histogram(NamedTuple):
    """Counts before and after between common edges; None where a count may not be shown."""

    edges: list[float]
    before: Counts
    after: Counts


def rounded(edges: Sequence[float], before: Sequence[float | None], after: Sequence[float | None],
            kind: str | None = None) -> Histogram | None:  # fmt: skip
    """The histogram at round edges, counts shared out where bins overlap.

    The ends of a histogram are mostly the least and the largest value: those of two records. Round edges are multiples
    of 1, 2 or 5 times a power of ten, whole ones for integers, and first days of months or years, or whole days, for
    dates. Bins that are round already stay as they are; those of whole numbers may end where the released ones do.
    """
    if len(edges) < 2 or len(before) != len(edges) - 1 or len(after) != len(edges) - 1:
        return None
    width = (edges[-1] - edges[0]) / (len(edges) - 1)
    if not (math.isfinite(width) and width > 1e-290) or any(b <= a for a, b in pairwise(edges)):
        return None
    if max(abs(edges[0]), abs(edges[-1])) > 1e9 * width and kind != "datetime":
        return None
    if any(n is not None and not 0 <= n < 1e15 for n in (*before, *after)):  # no counts
        return None
    if (kind == "datetime" and all(_starts_month(e) for e in edges)) or (kind == "integer" and _whole_steps(edges)):
        return Histogram(list(edges), list(before), list(after))
    new = _dates(edges[0], edges[-1], width) if kind == "datetime" else []
    step = max(_round_up(width), 1.0) if kind == "integer" else _round_up(width)
    new = new or _multiples(edges[0], edges[-1], step, width)
    if len(new) < 2:
        return None
    if len(new) == len(edges) and all(abs(a - b) <= _CLOSE * width for a, b in zip(new, edges, strict=True)):
        return Histogram(new, list(before), list(after))
    return Histogram(new, _shared(edges, before, new), _shared(edges, after, new))


def _whole_steps(edges: Sequence[float]) -> bool:
    """Whether bins of whole numbers are round but for the first and the last, which end where the values do."""
    inside = edges[1:-1]
    steps = {b - a for a, b in pairwise(inside)} or {1.0}
    step = min(steps)
    if len(steps) > 1 or step < 1 or any(e != math.floor(e) for e in edges) or _round_up(step) != step:
        return False
    ends = edges[1] - edges[0], edges[-1] - edges[-2]
    return all(e % step == 0 for e in inside) and (len(inside) < 2 or max(ends) <= 1.5 * step + 1)


def _multiples(low: float, high: float, step: float, width: float) -> list[float]:
    close = _CLOSE * min(width, step)  # not of the step alone, in which many bins may lie
    first, last = math.floor((low + close) / step), math.ceil((high - close) / step)
    if last - first > _MOST or last <= first:  # the values are so far from 0 that steps don't resolve
        return []
    return [_tidy(i * step, step) for i in range(first, last + 1)]


_MOST = 1000  # bins
_CLOSE = 1e-6  # of a width: what floats far from 0 leave open
_SECOND = 1e6  # microseconds
_CLOCK = [s * _SECOND for s in (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200)]
_DAY = 86_400e6  # microseconds
_EPOCH = datetime.datetime(1970, 1, 1)


def _moment(microseconds: float) -> datetime.datetime | None:
    try:
        return _EPOCH + datetime.timedelta(microseconds=microseconds)
    except OverflowError:
        return None


def _starts_month(microseconds: float) -> bool:
    moment = _moment(microseconds)
    return moment is not None and moment == datetime.datetime(moment.year, moment.month, 1)


def _dates(low: float, high: float, width: float) -> list[float]:
    """Steps of clock and calendar, some `width` microseconds apart; none below a second, or past the calendar."""
    steps = [*_CLOCK, *(days * _DAY for days in (1, 2, 5, 10, 20))]
    start, end = _moment(low), _moment(high)
    if start is None or end is None or end.year > 9000 or width < _SECOND / 2:
        return []
    if width <= steps[-1]:
        return _multiples(low, high, next(step for step in steps if step >= width * (1 - _CLOSE)), width)
    months = width / (30.5 * _DAY)
    step = next((m for m in (1, 2, 3, 6, 12) if m >= months * 0.99), 12 * math.ceil(_round_up(months / 12)))
    first, last = (start.year * 12 + start.month - 1) // step, -(-(end.year * 12 + end.month) // step)
    whole = [i * step for i in range(first, last + 1)]
    return [(datetime.datetime(m // 12, m % 12 + 1, 1) - _EPOCH) / _MICROSECOND for m in whole if 12 <= m < 9999 * 12]


_MICROSECOND = datetime.timedelta(microseconds=1)


def _round_up(width: float) -> float:
    power = math.floor(math.log10(width))
    for digit in (1, 2, 5, 10):
        if digit * 10.0**power >= width * (1 - _CLOSE):
            return digit * 10.0**power
    return 10.0 ** (power + 1)


def _tidy(edge: float, step: float) -> float:
    """Without the last digits that multiplying has left."""
    return round(edge, max(0, 2 - math.floor(math.log10(step)))) + 0.0


def _shared(edges: Sequence[float], counts: Sequence[float | None], new: Sequence[float]) -> Counts:
    out: Counts = [0.0] * (len(new) - 1)
    for low, high, here in zip(edges, edges[1:], counts, strict=False):
        for j, (a, b) in enumerate(pairwise(new)):
            if (overlap := min(b, high) - max(a, low)) > 0:
                so_far = out[j]
                out[j] = None if here is None or so_far is None else so_far + here * overlap / (high - low)
    return out


def within_release(shown: Histogram) -> Histogram | None:
    """Only the bins that the released values reach; what the original has beyond is counted in the first and last."""
    reached = [i for i, n in enumerate(shown.after) if n]
    if not reached:
        return None
    first, last = reached[0], reached[-1] + 1
    before = shown.before[first:last]
    before[0] = _sum([before[0], *shown.before[:first]])
    before[-1] = _sum([before[-1], *shown.before[last:]])
    return Histogram(shown.edges[first : last + 1], before, shown.after[first:last])


def _sum(counts: Sequence[float | None]) -> float | None:
    known = [n for n in counts if n is not None]
    return sum(known) if len(known) == len(counts) else None


def coarse(counts: Sequence[float | None], k: int) -> list[int | None]:
    """The counts as multiples of k, with None for those below k.

    Hiding alone would not do: where the total is known, a single hidden count is the difference. Between rounded
    counts, differences tell no more than that it is small.
    """
    return [None if n is None or not k <= n < 1e15 else k * max(1, round(n / k)) for n in counts]
