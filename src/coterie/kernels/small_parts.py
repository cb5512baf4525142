"""MD and MDAV's one-sided variant inside small parts, record by record: the partitions of algorithms/md.py and mdav.py.

A part has few records, so nothing is gained by tiles, and thousands of parts are split in one call.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import exact_sum
from ._jit import kernel
from .growth import centroid_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def _d2(X: Floats, i: int, q: Floats) -> float:
    """Give the squared distance of record i to q, summed column after column."""
    total = 0.0
    for j in range(q.shape[0]):
        step = X[i, j] - q[j]
        total += step * step
    return total


@kernel
def _farthest(X: Floats, free: Ints, q: Floats) -> int:
    """Give the position in `free`, which is in order, of the record farthest from q."""
    best, best_d2 = 0, -1.0
    for i in range(free.shape[0]):
        d2 = _d2(X, free[i], q)
        if d2 > best_d2:
            best, best_d2 = i, d2
    return best


@kernel
def _take_group(X: Floats, free: Ints, r: int, k: int, labels: Ints, g: int) -> Ints:
    """Put free[r] and its k - 1 nearest into group g; give those left, in order."""
    m = free.shape[0]
    d2 = np.empty(m)
    for i in range(m):
        d2[i] = _d2(X, free[i], X[free[r]])
    d2[r] = -1.0  # itself before any that lie on it
    left = np.ones(m, np.bool_)
    for _ in range(k):
        best = -1
        for i in range(m):
            if left[i] and (best < 0 or d2[i] < d2[best]):
                best = i
        left[best] = False
        labels[free[best]] = g
    return free[left]


@kernel
def mdav1(X: Floats, order: Ints, starts: Ints, k: int, labels: Ints, g: int) -> int:
    """Split the parts order[starts[t]:starts[t + 1]] into groups from number g on; give the next number."""
    digits = np.empty((X.shape[1], exact_sum.DIGITS), np.int64)
    centre = np.empty(X.shape[1])
    for t in range(starts.shape[0] - 1):
        free = order[starts[t] : starts[t + 1]]
        while free.shape[0] >= 2 * k:
            centroid_of(X, free, digits, centre)
            free = _take_group(X, free, _farthest(X, free, centre), k, labels, g)
            g += 1
        labels[free] = g
        g += 1
    return g


@kernel
def md(X: Floats, order: Ints, starts: Ints, k: int, labels: Ints, g: int) -> int:
    """As `mdav1`, by the rule of MD; fewer than k left over join the group of the part with the nearest centroid."""
    digits = np.empty((X.shape[1], exact_sum.DIGITS), np.int64)
    for t in range(starts.shape[0] - 1):
        part = order[starts[t] : starts[t + 1]]
        free, first = part, g
        while free.shape[0] >= 2 * k:
            r, apart = 0, -1.0
            for i in range(free.shape[0]):
                for h in range(i + 1, free.shape[0]):
                    d2 = _d2(X, free[i], X[free[h]])
                    if d2 > apart:
                        r, apart = i, d2
            x = free[r]
            free = _take_group(X, free, r, k, labels, g)
            free = _take_group(X, free, _farthest(X, free, X[x]), k, labels, g + 1)
            g += 2
        if free.shape[0] >= k:
            labels[free] = g
            g += 1
            continue
        for x in free:
            labels[x] = -1
        centres = np.empty((g - first, X.shape[1]))
        for h in range(g - first):
            centroid_of(X, part[labels[part] == first + h], digits, centres[h])
        for x in free:
            nearest = 0
            for h in range(1, g - first):
                if _d2(centres, h, X[x]) < _d2(centres, nearest, X[x]):
                    nearest = h
            labels[x] = first + nearest
    return g
