"""Neighbours of records among all records: the nearest few of each, and the nearest in another part.

Both look at tiles as `tiles.nearest` does, and are exact: distance first, then the lowest index.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel
from .tiles import SIZE, Tiles, around, exactly, home_of, insert, nearest_from, within
from .tree import NOBODY, STATE, begin, next_tiles

_FIRST = 16  # tiles close to a tile, that are looked at before all others

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
def _apart(tiles: Tiles, a: int, below: Floats, away: Floats) -> None:
    """Write, for each tile, a squared distance that its box is not nearer to tile a's than, and that of the centres."""
    box, centre = tiles.tree.box, tiles.tree.centre
    for t in range(np.uint64(below.shape[0])):
        below[t] = away[t] = 0.0
    for j in range(centre.shape[0]):
        low, high, middle = box[0, j, a], box[1, j, a], centre[j, a]
        for t in range(np.uint64(below.shape[0])):
            gap = max(max(box[0, j, t] - high, low - box[1, j, t]), 0.0)
            below[t] += gap * gap
            step = centre[j, t] - middle
            away[t] += step * step


@kernel
def _bound_each(values: Floats, box: Floats, t: int, p: int, below: Floats) -> None:
    """below: squared distances that no record of tile t is nearer to the records of a tile than."""
    for i in range(SIZE):
        below[i] = 0.0
    for j in range(p):
        low, high = box[0, j, t], box[1, j, t]
        for i in range(SIZE):
            step = max(max(low - values[j, i], values[j, i] - high), 0.0)
            below[i] += step * step


@kernel
def nearest_of_tiles(tiles: Tiles, X: Floats, first: int, until: int, near_d2: Floats, near: Ints) -> float:
    """Do what `nearest_of_each` does for the records of tiles first to until - 1, all of a tile's side by side.

    A tile that many of them look at is fetched from memory once: that saves time where questions open a large share of
    all tiles. Gives that share.
    """
    values, record, filled, box, away = tiles.values, tiles.record, tiles.filled, tiles.tree.box, tiles.tree.away
    shadow, middle, scale, p, count = tiles.shadow, tiles.middle, tiles.scale, X.shape[1], tiles.filled.shape[0]
    apart = tiles.tree.bound[:count]
    below, worst, rough = np.empty(SIZE), np.empty(SIZE), np.empty(SIZE, np.float32)
    opened = might = 0
    for a in range(first, until):
        _apart(tiles, a, apart, away)
        for i in range(filled[a]):
            near_d2[record[a, i]] = np.inf
            near[record[a, i]] = NOBODY
        worst[:] = np.inf
        most = np.inf  # of all of them
        might += filled[a] * count
        for turn in range(-_FIRST, count):  # the closest ones come first: the other bounds have more effect then
            t = turn if turn >= 0 else int(np.argmin(away))
            away[t] = np.inf
            if apart[t] > most or apart[t] == np.inf:
                continue
            apart[t] = np.inf
            _bound_each(values[a], box, t, p, below)
            for i in range(filled[a]):
                if below[i] > worst[i]:
                    continue
                opened += 1
                x = record[a, i]
                limit = around(worst[i], box[1, p + 1, t], scale, p)
                if within(shadow, t, X[x], middle, scale, limit, rough):
                    for h in range(filled[t]):
                        if rough[h] <= limit and record[t, h] != x:
                            d2 = exactly(values, t, h, X[x])
                            if d2 <= worst[i]:
                                insert(near_d2[x], near[x], d2, record[t, h])
                                worst[i] = near_d2[x, near.shape[1] - 1]
            most = 0.0
            for i in range(filled[a]):
                most = max(most, worst[i])
    return opened / max(1, might)


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
