"""Nearest and farthest of few records, by a scan: quick to compile, and for few records quick to run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel
from .tree import NOBODY

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def farthest(X: Floats, free: Ints, q: Floats) -> int:
    """Give the record farthest from q of those free, which are in order."""
    best, best_d2 = -1, -1.0
    for x in free:
        d2 = 0.0
        for j in range(q.shape[0]):
            step = X[x, j] - q[j]
            d2 += step * step
        if d2 > best_d2:
            best, best_d2 = x, d2
    return int(best)


@kernel
def nearest(X: Floats, free: Ints, q: Floats, near_d2: Floats, near: Ints) -> None:
    """Write the free records nearest to q, as `tiles.nearest` does; those free are in order."""
    last = near.shape[0] - 1
    near_d2[:] = np.inf
    near[:] = NOBODY
    for x in free:
        d2 = 0.0
        for j in range(q.shape[0]):
            step = X[x, j] - q[j]
            d2 += step * step
        if d2 < near_d2[last]:
            i = last
            while i > 0 and near_d2[i - 1] > d2:
                near_d2[i] = near_d2[i - 1]
                near[i] = near[i - 1]
                i -= 1
            near_d2[i] = d2
            near[i] = x
