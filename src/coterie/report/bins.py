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
    dates. Bins that are round already stay as they are.
    """
    if len(edges) < 2 or len(before) != len(edges) - 1 or len(after) != len(edges) - 1:
        return None
    width = (edges[-1] - edges[0]) / (len(edges) - 1)
    if not (math.isfinite(width) and width > 0) or any(b <= a for a, b in pairwise(edges)):
        return None
    if kind == "datetime" and all(_starts_month(e) for e in edges):
        return Histogram(list(edges), list(before), list(after))
    new = _dates(edges[0], edges[-1], width) if kind == "datetime" else []
    new = new or _multiples(edges, max(_round_up(width), 1.0) if kind == "integer" else _round_up(width))
    if len(new) < 2:
        return None
    if len(new) == len(edges) and all(abs(a - b) <= 1e-9 * width for a, b in zip(new, edges, strict=True)):
        return Histogram(new, list(before), list(after))
    return Histogram(new, _shared(edges, before, new), _shared(edges, after, new))


def _multiples(edges: Sequence[float], step: float) -> list[float]:
    first, last = math.floor(edges[0] / step + 1e-9), math.ceil(edges[-1] / step - 1e-9)
    if last - first > 10 * len(edges) or last <= first:  # the values are so far from 0 that steps don't resolve
        return []
    return [_tidy(i * step, step) for i in range(first, last + 1)]


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
    """First days of months, or multiples of days, some `width` microseconds apart; none for times of one day."""
    if width < _DAY / 2:
        return []
    start, end = _moment(low), _moment(high)
    if start is None or end is None or end.year > 9000:
        return []
    if width < 25 * _DAY:
        step = _round_up(max(width / _DAY, 1.0)) * _DAY
        return _multiples([low, high, *[high] * 100], step)
    months = width / (30.5 * _DAY)
    step_months = next((m for m in (1, 2, 3, 6, 12) if m >= months * 0.99), 12 * math.ceil(_round_up(months / 12)))
    first = (start.year * 12 + start.month - 1) // step_months
    last = -(-(end.year * 12 + end.month) // step_months)
    whole = [i * step_months for i in range(first, last + 1)]
    return [(datetime.datetime(m // 12, m % 12 + 1, 1) - _EPOCH) / _MICROSECOND for m in whole if 12 <= m < 9999 * 12]


_MICROSECOND = datetime.timedelta(microseconds=1)


def _round_up(width: float) -> float:
    power = math.floor(math.log10(width))
    for digit in (1, 2, 5, 10):
        if digit * 10.0**power >= width * (1 - 1e-9):
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
    return [None if n is None or n < k else k * max(1, round(n / k)) for n in counts]
