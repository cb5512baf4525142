"""The inner loops of MDAV and its kin, whose steps take microseconds once tiles answer their questions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import exact_sum
from ._jit import kernel
from .tiles import Tiles, anchor_at, farthest, take_group, take_growing_group

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def groups_from_the_centroid(
    tiles: Tiles, X: Floats, labels: Ints, g: int, k: int, sides: int, free: int, until: int
) -> int:
    """Form groups g, g + 1, ... while at least `until` records are free; give the next number.

    One around r, the record farthest from the centroid; with two sides, then one around s, farthest from r.
    """
    centroid, members = np.empty(X.shape[1]), np.empty(k, np.int64)
    spent = 0
    while free >= until:
        exact_sum.mean(tiles.digits, free, centroid)
        origin = centroid
        for side in range(sides):  # one call in the text of each kernel: compilation takes long enough
            before = tiles.opened[0]
            members[0] = farthest(tiles, origin)
            if side == 0:  # the centroid walks away from the anchor: as much work as a new one costs, and it gets one
                spent += tiles.opened[0] - before
                if spent > 2 * tiles.filled.shape[0]:
                    anchor_at(tiles, centroid)
                    spent = 0
            take_group(tiles, X, members)
            for x in members:
                labels[x] = g
            origin = X[members[0]]
            g += 1
        free -= sides * k
    return g


@kernel
def groups_in_turn(
    tiles: Tiles, X: Floats, order: Ints, at: int, labels: Ints, g: int, k: int, gamma: float, free: int, until: int
) -> tuple[int, int, int]:
    """Form groups g, g + 1, ... around the free ones of the records order[at], ... while at least `until` are free.

    They grow by the rule of V-MDAV, unless gamma is 0. Gives the next record's turn, the next group's number and how
    many are free.
    """
    members = np.empty(2 * k - 1 if gamma > 0.0 else k, np.int64)
    while free >= until and at < order.shape[0]:
        members[0] = order[at]
        at += 1
        if tiles.place[members[0]] >= 0:
            size = take_growing_group(tiles, X, members, k, gamma)
            for i in range(size):
                labels[members[i]] = g
            g += 1
            free -= size
    return at, g, free
