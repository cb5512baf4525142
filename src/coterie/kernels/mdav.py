"""The inner loop of MDAV, whose steps take microseconds once tiles answer its questions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import exact_sum
from ._jit import kernel
from .tiles import Tiles, farthest, take_group


@kernel
def pairs_of_groups(
    tiles: Tiles, X: NDArray[np.float64], labels: NDArray[np.int64], g: int, k: int, free: int, until: int
) -> int:
    """Form groups g, g + 1, ... two at a time, while at least `until` records are free; give the next number."""
    centroid = np.empty(X.shape[1])
    around_r, around_s = np.empty(k, np.int64), np.empty(k, np.int64)
    while free >= until:
        # Steps 1 and 2: the centroid of what remains, r farthest from it, and the group around r
        exact_sum.mean(tiles.digits, free, centroid)
        around_r[0] = farthest(tiles, centroid)
        take_group(tiles, X, around_r)
        # s is asked for after r's group has gone: the same record, unless all of the rest is equally far from r
        around_s[0] = farthest(tiles, X[around_r[0]])
        take_group(tiles, X, around_s)
        labels[around_r] = g
        labels[around_s] = g + 1
        g += 2
        free -= 2 * k
    return g
