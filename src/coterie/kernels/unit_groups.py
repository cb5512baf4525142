"""Groups of different units: the free records nearest to one, no two of them of the same unit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel
from .tiles import Tiles, nearest
from .tree import NOBODY

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def nearest_units(tiles: Tiles, X: Floats, unit: Ints, free: int, stamp: Ints, mark: int, members: Ints) -> int:
    """Write to `members`, after the first, the free records nearest to it of different units; give how many there are.

    Of every unit the nearest record is taken, and none of the first one's own unit. `stamp` has a place for every unit
    and holds no `mark` yet. More and more records are looked at until there are enough.
    """
    r, wanted = members[0], members.shape[0]
    m = min(free, 2 * wanted)
    while True:
        near_d2, near = np.empty(m), np.empty(m, np.int64)
        nearest(tiles, X[r], near_d2, near)
        mark += 1
        stamp[unit[r]] = mark
        found = 1
        for x in near:
            if found == wanted or x == NOBODY:
                break
            if stamp[unit[x]] != mark:
                stamp[unit[x]] = mark
                members[found] = x
                found += 1
        if found == wanted or m == free:
            return found
        m = min(free, 2 * m)


@kernel
def nearest_each(tiles: Tiles, points: Floats, out: Ints) -> None:
    """Write, for every point, the record of the tiles that is nearest to it; ties go to the lowest index."""
    near_d2, near = np.empty(1), np.empty(1, np.int64)
    for i in range(points.shape[0]):
        nearest(tiles, points[i], near_d2, near)
        out[i] = near[0]
