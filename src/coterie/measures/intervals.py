"""Interval disclosure: how many original values lie in a narrow interval around what was released for them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..facts.measures import IntervalShares
from ..tables.columns import Column
from .standard_units import Scale

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

WIDTHS = (0.01, 0.02, 0.05, 0.1)


def sd_intervals(
    before: Sequence[Column], after: Sequence[Column], widths: Sequence[float] = WIDTHS, outside: int = 0
) -> IntervalShares:
    """The share of records whose original values all lie within width * sd of the released ones (SDID), by width.

    sd is the standard deviation (ddof 1) of the released column. Mateo-Sanz, Sebé, Domingo-Ferrer 2004, LNCS 3050,
    201-215; `dRisk` of sdcMicro, doi 10.18637/jss.v067.i04. The code of sdcMicro also counts records with one value
    outside: that is `outside=1`.

    A cell that is missing before or after is left out, a record without any cell is not counted; None if no record is
    left. In a released column that is constant the interval is a point.
    """
    counts = _Counts(before, widths)
    for b, a in zip(before, after, strict=True):
        scale = Scale(a.numbers)
        sd, gap = scale.sd, np.abs(b.numbers / scale.unit - a.numbers / scale.unit)
        counts.add(~np.isnan(gap), [gap > width * sd for width in widths])
    return IntervalShares(tuple(widths), counts.shares(outside))


def rank_intervals(
    before: Sequence[Column], after: Sequence[Column], widths: Sequence[float] = WIDTHS
) -> IntervalShares:
    """The share of records whose original values all lie within width * n ranks of the released ones (RID), by width.

    The n released values of a column are ranked, equal ones get their mean rank r; the interval goes from the released
    value of rank r - width n to that of rank r + width n, inwards where these are no whole numbers. Domingo-Ferrer and
    Torra 2001, as it is retold: not checked against the original. Missing cells are treated as in `sd_intervals`.
    """
    counts = _Counts(before, widths)
    for b, a in zip(before, after, strict=True):
        here = ~(b.missing | a.missing)
        x, n = b.numbers, int(np.count_nonzero(~a.missing))
        value, place, size = np.unique(a.numbers, return_inverse=True, return_counts=True)
        ranked = np.repeat(value, size)[:n]  # missing ones come last
        rank = (np.cumsum(size) - 0.5 * (size + 1))[place]
        outside = []
        for width in widths if n else ():
            low = np.clip(np.ceil(rank - width * n - 1e-9), 0, n - 1).astype(np.int64)
            high = np.clip(np.floor(rank + width * n + 1e-9), 0, n - 1).astype(np.int64)
            outside.append((x < ranked[low]) | (x > ranked[high]))
        counts.add(here, outside or [np.zeros(len(x), np.bool_)] * len(widths))
    return IntervalShares(tuple(widths), counts.shares(0))


class _Counts:
    """How many values of each record lie outside, for each width."""

    def __init__(self, columns: Sequence[Column], widths: Sequence[float]) -> None:
        n = len(columns[0].numbers) if columns else 0
        self.counted = np.zeros(n, np.bool_)
        self.outside = [np.zeros(n, np.int64) for _ in widths]

    def add(self, here: Flags, outside: Sequence[Flags]) -> None:
        self.counted |= here
        for total, some in zip(self.outside, outside, strict=True):
            total += some & here

    def shares(self, allowed: int) -> tuple[float | None, ...]:
        if not self.counted.any():
            return (None,) * len(self.outside)
        return tuple(float(np.mean(total[self.counted] <= allowed)) for total in self.outside)
