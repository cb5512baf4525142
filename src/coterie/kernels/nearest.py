"""Neighbours of records among all records: the nearest few of each, and the nearest in another part.

Both look at tiles as `tiles.nearest` does, and are exact: distance first, then the lowest index.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel
from .tiles import SIZE, Tiles, around, exactly, home_of, nearest_from, within
from .tree import NOBODY, STATE, begin, next_tiles

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def nearest_of_each(tiles: Tiles, X: Floats, records: Ints, near_d2: Floats, near: Ints) -> None:
    """Write, in the row of each of these records, the records nearest to it: not itself."""
    m = near.shape[1]
    d2, nearest = np.empty(m + 1), np.empty(m + 1, np.int64)
    for x in records:
        d2[:] = np.inf
        nearest[:] = NOBODY
        nearest_from(tiles, X[x], home_of(tiles.place, x), d2, nearest, -1.0)
        i = 0
        for h in range(m + 1):  # x is one of them, unless so many others lie on it
            if nearest[h] != x and i < m:
                near_d2[x, i] = d2[h]
                near[x, i] = nearest[h]
                i += 1


@kernel
def nearest_outside(
    tiles: Tiles, X: Floats, x: int, part: Ints, whole: Ints, limit: float, before: int
) -> tuple[int, float]:
    """Give the record nearest to x in another part, and its squared distance.

    It must be nearer than `limit`, or as near with an index less than `before`. whole[v] is the part of all records of
    tile or node v, or -1 if they are of several. Without such a record: NOBODY, at an infinite distance.
    """
    tree, q, mine = tiles.tree, X[x], part[x]
    values, record, filled, bound, batch = tiles.values, tiles.record, tiles.filled, tree.bound, tree.batch
    shadow, middle, scale, radius = tiles.shadow, tiles.middle, tiles.scale, tree.box[1, q.shape[0] + 1]
    home = home_of(tiles.place, x)
    if whole[home] == mine:
        home = -1
    best, best_d2, any_ = np.int64(before), limit, False
    rough, state = np.empty(SIZE, np.float32), np.empty(STATE, np.int64)
    begin(state, home, q.shape[0])
    batch[0], count = home, 1 if home >= 0 else -1
    while count:
        for n in range(count):
            t = batch[n]
            if count > 1 and bound[t] > best_d2:
                continue
            limit = around(best_d2, radius[t], scale, q.shape[0])
            if within(shadow, t, q, middle, scale, limit, rough):
                for i in range(filled[t]):
                    if rough[i] <= limit and part[record[t, i]] != mine:
                        d2 = exactly(values, t, i, q)
                        if d2 < best_d2 or (d2 == best_d2 and record[t, i] < best):
                            best, best_d2, any_ = record[t, i], d2, True
        count = next_tiles(tree, q, -1.0, best_d2, best, whole, mine, state)
    return (int(best), best_d2) if any_ else (NOBODY, np.inf)
