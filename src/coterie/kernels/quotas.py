"""Groups that take a record from every block, when the tiles of each block stand together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel
from .tiles import SIZE, Tiles, distance_to_boxes, distances
from .tree import NOBODY

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def _nearest_in(tiles: Tiles, a: int, b: int, q: Floats, without: int, below: Floats, out: Ints) -> None:
    """Write the free records of the tiles from a to b that are nearest to q, nearest first, leaving out one."""
    d2, near_d2 = np.empty(SIZE), np.full(out.shape[0], np.inf)
    out[:] = NOBODY
    first = a + int(np.argmin(below[a:b]))
    for turn in range(a - 1, b):
        t = first if turn < a else turn
        if below[t] > near_d2[-1] or turn == first:
            continue
        distances(tiles.values[t], tiles.filled[t], q, d2)
        for i in range(tiles.filled[t]):
            x = tiles.record[t, i]
            if x == without or d2[i] > near_d2[-1] or (d2[i] == near_d2[-1] and x > out[-1]):
                continue
            h = out.shape[0] - 1
            while h > 0 and (near_d2[h - 1] > d2[i] or (near_d2[h - 1] == d2[i] and out[h - 1] > x)):
                near_d2[h], out[h] = near_d2[h - 1], out[h - 1]
                h -= 1
            near_d2[h], out[h] = d2[i], x


@kernel
def some_of_each(tiles: Tiles, X: Floats, starts: Ints, quotas: Ints, members: Ints) -> None:
    """Write to `members`, after the first, the free records nearest to it: from each block as many as its quota says.

    The tiles of block j are those from starts[j] to starts[j + 1]. The first member is one of its own block's.
    """
    r, size = members[0], 1
    home = tiles.place[r] // SIZE
    below = distance_to_boxes(tiles.tree.box, X[r])
    for j in range(quotas.shape[0]):
        a, b = starts[j], starts[j + 1]
        more = quotas[j] - 1 if a <= home < b else quotas[j]
        if more > 0:
            _nearest_in(tiles, a, b, X[r], r, below, members[size : size + more])
            size += more
