"""Neighbours of records among all records: the nearest few of each, and the nearest in another part.

Both look at tiles as `tiles.nearest` does, and are exact: distance first, then the lowest index.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel
from .tiles import SIZE, Tiles, around, exactly, home_of, insert, within
from .tree import NOBODY, STATE, begin, next_tiles

_FIRST = 16  # tiles close to a tile, that are looked at before all others

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
def _look_for_each(
    tiles: Tiles, X: Floats, asking: Ints, t: int, below: Floats, worst: Floats, last: Ints, out: tuple[Floats, Ints]
) -> bool:
    """Let records look at tile t, where their bound `below` allows anything better than the ends of their lists."""
    shadow, middle, scale, radius = tiles.shadow, tiles.middle, tiles.scale, tiles.tree.box[1, X.shape[1] + 1, t]
    values, record, lowest, rough = tiles.values, tiles.record, tiles.tree.lowest[t], np.empty(SIZE, np.float32)
    near_d2, near = out
    found = False
    for i in range(asking.shape[0]):
        if below[i] > worst[i] or (below[i] == worst[i] and lowest >= last[i]):
            continue
        x = asking[i]
        q = X[x]
        limit = around(worst[i], radius, scale, X.shape[1])
        if within(shadow, t, q, middle, scale, limit, rough):
            for h in range(tiles.filled[t]):
                if rough[h] <= limit and record[t, h] != x:
                    d2 = exactly(values, t, h, q)
                    if d2 <= worst[i]:
                        insert(near_d2[x], near[x], d2, record[t, h])
                        worst[i], last[i] = near_d2[x, -1], near[x, -1]
                        found = True
    return found


@kernel
def nearest_of_tiles(tiles: Tiles, X: Floats, first: int, until: int, near_d2: Floats, near: Ints) -> None:
    """Write, in the row of each record of tiles first to until - 1, the records nearest to it: not itself.

    All of a tile's records ask side by side: a tile that many of them look at is fetched from memory once. Its bound
    for the asking tile costs t² / 2 p operations in all, which is little up to some million records.
    """
    values, record, filled, box, lowest = tiles.values, tiles.record, tiles.filled, tiles.tree.box, tiles.tree.lowest
    away, apart, below = tiles.tree.away, tiles.tree.bound[: tiles.filled.shape[0]], np.empty(SIZE)
    worst, last = np.empty(SIZE), np.empty(SIZE, np.int64)  # the end of each list
    for a in range(first, until):
        _apart(tiles, a, apart, away)
        w = filled[a]
        for i in range(w):
            near_d2[record[a, i]] = np.inf
            near[record[a, i]] = NOBODY
            worst[i], last[i] = np.inf, NOBODY
        most, highest = np.inf, NOBODY  # of all of them
        for turn in range(-_FIRST, filled.shape[0]):  # the closest come first: later bounds have more effect then
            t = turn if turn >= 0 else int(np.argmin(away))
            away[t] = np.inf
            if apart[t] > most or (apart[t] == most and lowest[t] >= highest) or apart[t] == np.inf:
                continue
            apart[t] = np.inf
            _bound_each(values[a], box, t, X.shape[1], below)
            if _look_for_each(tiles, X, record[a, :w], t, below, worst, last, (near_d2, near)):
                most, highest = 0.0, 0
                for i in range(w):
                    most, highest = max(most, worst[i]), max(highest, last[i])


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
            at_most = around(best_d2, radius[t], scale, q.shape[0])
            if within(shadow, t, q, middle, scale, at_most, rough):
                for i in range(filled[t]):
                    if rough[i] > at_most or (best_d2 == 0.0 and record[t, i] > best):
                        continue
                    if part[record[t, i]] != mine:
                        d2 = exactly(values, t, i, q)
                        if d2 < best_d2 or (d2 == best_d2 and record[t, i] < best):
                            best, best_d2, any_ = record[t, i], d2, True
                            at_most = around(best_d2, radius[t], scale, q.shape[0])
        count = next_tiles(tree, q, -1.0, best_d2, best, whole, mine, state)
    return (int(best), best_d2) if any_ else (NOBODY, np.inf)
