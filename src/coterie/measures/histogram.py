"""Histograms that tell nothing but counts: their edges are round numbers, and come from the released values alone."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..facts.measures import Histogram
from ..tables.columns import Column
from .standard_units import present

Floats = NDArray[np.float64]

BINS = 20

# Steps of time: how many of a unit of numpy. Months and years are those of the calendar.
_TIMES = [
    *((m * 10**e, "us") for e in range(6) for m in (1, 2, 5)),
    *((m, unit) for unit in ("s", "m") for m in (1, 2, 5, 10, 15, 30)),
    *((m, "h") for m in (1, 2, 3, 6, 12)),
    *((m, "D") for m in (1, 2, 7, 14)),
    *((m, "M") for m in (1, 2, 3, 6)),
    *((m * 10**e, "Y") for e in range(5) for m in (1, 2, 5)),
]


def histogram(before: Column, after: Column, bins: int = BINS) -> Histogram | None:
    """Counts of the values before and after between the same edges; None if nothing was released.

    The edges span the released values in steps of 1, 2 or 5 times a power of ten, for moments in calendar steps from a
    microsecond to years (edges are microseconds since 1970), so that there are `bins` or somewhat fewer. A bin holds
    its lower edge but not its upper one, but for the last bin of numbers. Bins of whole numbers begin at the least
    released one and end before the next one after the largest. Original values beyond the edges are counted in the
    first or the last bin: a lonely extreme has no bin, and no edge comes from it. Missing values are not counted.
    """
    y = present(after.numbers)
    if not len(y):
        return None
    low, high = float(y.min()), float(y.max())
    edges = _moments(low, high, bins) if after.kind == "datetime" else round_edges(low, high, bins)
    if after.kind == "integer":
        edges = _whole_edges(math.floor(low), math.floor(high), bins)
    return Histogram(tuple((edges + 0.0).tolist()), _counts(present(before.numbers), edges), _counts(y, edges))


def _whole_edges(low: int, high: int, bins: int) -> Floats:
    """Bins of one number each; of more numbers than bins, round steps between the least and the largest of them."""
    if high - low < bins:
        return np.arange(low, high + 2, dtype=np.float64)
    steps = round_edges(float(low), float(high), bins)
    close = 0.5 * (steps[1] - steps[0])  # no bin at an end is narrower than that
    inside = steps[(steps >= low + close) & (steps <= high + 1 - close)]
    edges = np.concatenate(([float(low)], inside, [high + 1.0]))
    return edges if np.all(np.diff(edges) > 0) else steps


def _counts(x: Floats, edges: Floats) -> tuple[int, ...]:
    last = len(edges) - 2
    counts = np.bincount(np.clip(np.searchsorted(edges, x, side="right") - 1, 0, last), minlength=last + 1)
    return tuple(counts.tolist())


def round_edges(low: float, high: float, bins: int = BINS) -> Floats:
    """Round numbers at equal steps, the first not above `low`, the last not below `high`."""
    # of numbers that hardly differ, floats of their size can't tell edges apart; of one number, its size is the step
    span = max(high / bins - low / bins, 1e-12 * max(abs(low), abs(high)), _LEAST * (low < high)) or 1.0 / bins
    exponent = math.floor(math.log10(span))
    for e, m in ((exponent + i, m) for i in range(3) for m in (1, 2, 5)):

        def edge(i: int, e: int = e, m: int = m) -> float:
            return _times_power(i * m, e)

        first, last = (_steps(x, m, e) for x in (low, high))
        if last - first < bins:
            while edge(first) > low:  # a rounding error of the quotient
                first -= 1
            while edge(first + 1) <= low:
                first += 1
            while edge(last + 1) <= high:
                last += 1
            if edge(last) == high and last > first:  # the last bin holds its upper edge: a scale to 100 ends there
                last -= 1
            return np.array([edge(i) for i in range(first, last + 2)])
    raise AssertionError("a step of ten times the span makes two bins at most")


_LEAST = 1e-322  # floats have no finer steps that are round numbers
_POWERS = 300  # of ten that are floats, and so are their inverses


def _times_power(number: int, e: int) -> float:
    """A whole number times a power of ten, divided by one where that is exact: 0.3, not 3 * 0.1."""
    if e >= 0:
        return float(number) * 10.0**e
    return float(number) / 10.0**-e if e >= -_POWERS else float(Fraction(number, 10**-e))


def _steps(x: float, m: int, e: int) -> int:
    """How many whole steps of m times a power of ten x has."""
    return math.floor(x / (m * 10.0**e)) if e >= -_POWERS else math.floor(Fraction(x) * 10**-e / m)


_CALENDAR = 2.0**62  # microseconds, 146,000 years: numpy's calendar ends at twice that, and the last edge is beyond


def _moments(low: float, high: float, bins: int) -> Floats:
    """The starts of seconds, days, months, years and so on, or of several of them, around these microseconds."""
    if max(abs(low), abs(high)) > _CALENDAR:
        return round_edges(low, high, bins)
    for m, unit in _TIMES:
        ends = np.array([math.floor(low), math.floor(high)]).astype("datetime64[us]")
        first, last = ends.astype(f"datetime64[{unit}]").astype(np.int64).tolist()
        first, last = first // m, last // m
        if last - first < bins:
            units = (np.arange(first, last + 2) * m).astype(f"datetime64[{unit}]")
            return np.asarray(units.astype("datetime64[us]"), np.int64).astype(np.float64)
    return round_edges(low, high, bins)
