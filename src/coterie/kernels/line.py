"""The optimal partition of numbers on a line, by dynamic programming over the sorted values.

f(j), the least cost of the first j values, is the least of f(i) + cost(i, j) over groups [i, j) of k to 2k - 1 values
(Hansen, Mukherjee 2003, doi 10.1109/TKDE.2003.1209020). Ends j are taken in blocks of k: all starts i that a block
needs lie before its first end B, so every f(i) is known, and every group of the block spans B. What lies left of B and
what lies right of it is therefore summed up once a block, outward from B, and any group's cost is put together
from its two sides without a subtraction that could cancel: no prefix sum over all values is ever formed. Of f, the last
2k values are kept, above the least of them: no sum of far away costs can drown those nearby.

The costs obey the quadrangle inequality, so the best start moves to the right as the end does (Stamm, Schaub 2024,
arXiv 2401.02381, use the same fact). For large k, a block's ends are solved from coarse to fine, each between the
starts of its neighbours: O(n log k) in all. For small k, all k starts of an end are tried, O(n k).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel

SSE, ABSOLUTE, MAXIMAL = 0, 1, 2
_FEW = 10  # up to this k, all starts are tried

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Sizes = NDArray[np.int32]


class Sides(NamedTuple):
    """What lies left of B and right of it, a or b values outward, measured from the last value before B."""

    left: Floats  # (2k,): the mean (for SSE) or sum (for absolute deviations) of the a values left of B
    right: Floats  # (k,)
    left_m2: Floats  # (2k,): their sum of squares about their mean
    right_m2: Floats  # (k,)
    f: Floats  # (2k,): the least cost of all before them
    ends: Floats  # (k,): the least cost of all up to the b-th value right of B
    inverse: Floats  # (2k,): 1 / m


@kernel
def _outward(
    x: Floats, start: int, step: int, anchor: float, side: Floats, m2: Floats, inverse: Floats, sse: bool
) -> None:
    """Fill one side from its anchor outward."""
    mean = total = squares = 0.0
    for m in range(1, side.shape[0]):
        t = start + step * m
        if t < 0 or t >= x.shape[0]:
            break
        y = x[t] - anchor
        total += y
        delta = y - mean
        mean += delta * inverse[m]
        squares += delta * delta * ((m - 1) * inverse[m])
        side[m] = mean if sse else total
        m2[m] = squares


@kernel
def _best_sse(sides: Sides, b: int, least: int, most: int) -> tuple[float, int]:
    """Give the least cost up to the b-th value right of B, and the size of its last group: least to most values."""
    left, right, left_m2, right_m2, f, _, inverse = sides
    best, size = np.inf, least
    mean = right[b]
    for m in range(least, most + 1):
        a = m - b
        gap = mean - left[a]
        value = f[a] + left_m2[a] + (a * b) * inverse[m] * (gap * gap)
        if value < best:
            best, size = value, m
    return best + right_m2[b], size


@kernel
def _best_other(sides: Sides, b: int, least: int, most: int, x: Floats, j: int, which: int) -> tuple[float, int]:
    """As `_best_sse`, by another cost of the last group [j - m, j)."""
    left, right, f = sides.left, sides.right, sides.f
    best, size = np.inf, least
    for m in range(least, most + 1):
        a = m - b
        if which == MAXIMAL:
            cost = x[j - 1] - x[j - m]
        else:  # the upper half minus the lower half: the deviations from any median
            half = m // 2
            low = left[a] - left[a - half] if half <= a else left[a] + right[half - a]
            high = right[b] - right[b - half] if half <= b else right[b] + left[half - b]
            cost = high - low
        if f[a] + cost < best:
            best, size = f[a] + cost, m
    return best, size


@kernel
def _solve_block(x: Floats, k: int, which: int, sizes: Sizes, sides: Sides, first: int, last: int) -> None:
    """Find the best starts of the ends first..last; all lie before `first`."""
    few = k <= _FEW
    step = 1
    while not few and step <= last - first:
        step *= 2
    while step >= 1:
        for j in range(first + step - 1, last + 1, 1 if few else 2 * step):
            least, most, b = k, min(2 * k - 1, j), j - first
            if not few:  # between the starts of ends solved before
                if j - step >= first:
                    most = min(most, step + sizes[j - step])
                if j + step <= last:
                    least = max(least, sizes[j + step] - step)
            if which == SSE:
                sides.ends[b], sizes[j] = _best_sse(sides, b, least, most)
            else:
                sides.ends[b], sizes[j] = _best_other(sides, b, least, most, x, j, which)
        step //= 2


@kernel
def optimal_sizes(x: Floats, k: int, which: int, sizes: Sizes, sides: Sides, start: int, stop: int) -> None:
    """sizes[j]: that of the last group in the best partition of the first j values; x is sorted.

    Solves the blocks of ends from `start`, a multiple of k, to below `stop`. When it begins, at k, of all f only f(0),
    in sides.f[k], is finite.
    """
    n = x.shape[0]
    left, right, left_m2, right_m2, f, ends, inverse = sides
    for first in range(start, min(stop, n + 1), k):
        if first > k:  # the next block
            base = np.inf
            for a in range(1, k):
                base = min(base, f[a])
            for b in range(k):
                base = min(base, ends[b])
            for a in range(2 * k - 1, k, -1):
                f[a] = f[a - k] - base
            for a in range(1, k + 1):
                f[a] = ends[k - a] - base
        anchor = x[first - 1]
        _outward(x, first, -1, anchor, left, left_m2, inverse, which == SSE)
        _outward(x, first - 1, 1, anchor, right, right_m2, inverse, which == SSE)
        _solve_block(x, k, which, sizes, sides, first, min(first + k - 1, n))


@kernel
def label(order: Ints, sizes: Sizes, labels: Ints) -> None:
    """Follow the sizes back from the last value; order[t] is the record of the t-th value."""
    j, g = order.shape[0], 0
    while j > 0:
        start = j - sizes[j]
        for t in range(start, j):
            labels[order[t]] = g
        j, g = start, g + 1
