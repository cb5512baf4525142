"""Neighbours of records among all records: the nearest few of each, and the nearest in another part.

Both look at tiles as `tiles.nearest` does, and are exact: distance first, then the lowest index.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel
from .tiles import NOBODY, Tiles, distance_to_boxes, distances, home_of, nearest_from

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def nearest_of_each(tiles: Tiles, X: Floats, records: Ints, near_d2: Floats, near: Ints) -> None:
    """Write, in the row of each of these records, the records nearest to it: not itself."""
    m = near.shape[1]
    d2, found = np.empty(m + 1), np.empty(m + 1, np.int64)
    for x in records:
        nearest_from(tiles, X[x], home_of(tiles.place, x), d2, found)
        i = 0
        for h in range(m + 1):  # x is one of them, unless so many others lie on it
            if found[h] != x and i < m:
                near_d2[x, i] = d2[h]
                near[x, i] = found[h]
                i += 1


@kernel
def nearest_outside(
    tiles: Tiles, X: Floats, x: int, part: Ints, whole: Ints, first: Ints, limit: float
) -> tuple[int, float]:
    """Give the record nearest to x in another part, if it is not farther than `limit`, and its squared distance.

    whole[t] is the part of all records of tile t, or -1 if they are of several; first[t] its lowest record. Without
    such a record: NOBODY, at an infinite distance.
    """
    values, record, filled, box = tiles.values, tiles.record, tiles.filled, tiles.box
    q, own = X[x], part[x]
    best, best_d2 = NOBODY, limit
    d2 = np.empty(values.shape[2])
    below = distance_to_boxes(box, q)
    for t in range(below.shape[0]):
        if whole[t] == own:
            below[t] = np.inf
    for turn in range(1 + below.shape[0]):
        t = int(np.argmin(below)) if turn == 0 else turn - 1
        if below[t] > best_d2 or below[t] == np.inf or (below[t] == best_d2 and first[t] > best):
            continue
        below[t] = np.inf
        distances(values[t], filled[t], q, d2)
        for i in range(filled[t]):
            if d2[i] <= best_d2 and part[record[t, i]] != own and (d2[i] < best_d2 or record[t, i] < best):
                best, best_d2 = record[t, i], d2[i]
    return best, (np.inf if best == NOBODY else best_d2)
