"""Questions for the records of every block, when the tiles of each block stand together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel
from .tiles import SIZE, Tiles, distance_to_boxes, distances, nearest
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


@kernel
def nearest_others(tiles: Tiles, X: Floats, r: int, out: Ints) -> None:
    """Write the free records nearest to r, nearest first, other than r."""
    m = out.shape[0]
    near_d2, near = np.empty(m + 1), np.empty(m + 1, np.int64)
    nearest(tiles, X[r], near_d2, near)
    i = 0
    for x in near:  # r is one of them, unless so many others lie on it
        if x != r and i < m:
            out[i] = x
            i += 1


@kernel
def nearest_of_each(tiles: Tiles, X: Floats, starts: Ints, r: int, last: int, found: Ints, found_d2: Floats) -> None:
    """Write the free record of each block that is nearest to r of those farther away than `last`, and its distance.

    NOBODY where there is none; the tiles of block j are those from starts[j] to starts[j + 1].
    """
    q, d2 = X[r], np.empty(SIZE)
    below = distance_to_boxes(tiles.tree.box, q)
    beyond = 0.0
    for j in range(q.shape[0]):
        step = X[last, j] - q[j]
        beyond += step * step  # to the last bit as in `distances`
    for block in range(found.shape[0]):
        a, b = starts[block], starts[block + 1]
        first = a + int(np.argmin(below[a:b]))
        best, best_d2 = NOBODY, np.inf
        for turn in range(a - 1, b):
            t = first if turn < a else turn
            if below[t] > best_d2 or turn == first:
                continue
            distances(tiles.values[t], tiles.filled[t], q, d2)
            for i in range(tiles.filled[t]):
                x = tiles.record[t, i]
                if x == r or d2[i] < beyond or (d2[i] == beyond and x <= last):
                    continue
                if d2[i] < best_d2 or (d2[i] == best_d2 and x < best):
                    best, best_d2 = x, d2[i]
        found[block], found_d2[block] = best, best_d2
