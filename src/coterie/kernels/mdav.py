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
    centroid, members = np.empty(X.shape[1]), np.empty(k, np.int64)
    while free >= until:
        exact_sum.mean(tiles.digits, free, centroid)
        origin = centroid
        for _ in range(2):  # one call in the text of each kernel: compilation takes long enough
            members[0] = farthest(tiles, origin)
            take_group(tiles, X, members)
            for x in members:
                labels[x] = g
            origin = X[members[0]]
            g += 1
        free -= 2 * k
    return g
