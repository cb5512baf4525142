"""Neighbours of records among all records: the nearest few of each, and the nearest in another part.

Both look at tiles as `tiles.nearest` does, and are exact: distance first, then the lowest index.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel
from .tiles import SIZE, Tiles, around, exactly, home_of, insert, within
from .tree import FAN, NOBODY, STATE, begin, next_tiles

_FIRST = 4  # tiles of a node, the closest ones, that are looked at before the others

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class _Asking(NamedTuple):
    """A tile whose records ask side by side: how their lists end, and room for bounds."""

    worst: Floats  # (SIZE,): how far the last record of each list is
    last: Ints  # (SIZE,): which one it is
    most: Floats  # (1,): the largest of these distances
    highest: Ints  # (1,): the largest of these indices
    below: Floats  # (SIZE,): no record of a tile is nearer to each of them
    apart: Floats  # (FAN,): tiles of a node: no record is nearer to any of them
    away: Floats  # (FAN,): how far their centres are
    nodes: Floats  # (nodes,): the same of all nodes of tiles


@kernel
def _apart(box: Floats, first: int, own: Floats, a: int, apart: Floats, count: int) -> None:
    """Write, for each of some boxes from number `first` on, a squared distance that tile a's box is not nearer than."""
    at = np.uint64(first)
    for i in range(np.uint64(count)):
        apart[i] = 0.0
    for j in range(own.shape[1] - 2):
        low, high = own[0, j, a], own[1, j, a]
        for i in range(np.uint64(count)):
            gap = max(max(box[0, j, at + i] - high, low - box[1, j, at + i]), 0.0)
            apart[i] += gap * gap


@kernel
def _centres_apart(centre: Floats, first: int, a: int, away: Floats, count: int) -> None:
    """Write the squared distances of some tiles' centres to that of tile a."""
    at = np.uint64(first)
    for i in range(np.uint64(count)):
        away[i] = 0.0
    for j in range(centre.shape[0]):
        middle = centre[j, a]
        for i in range(np.uint64(count)):
            step = centre[j, at + i] - middle
            away[i] += step * step


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
def _look_for_each(tiles: Tiles, X: Floats, a: int, t: int, ask: _Asking, near_d2: Floats, near: Ints) -> None:
    """Let tile a's records look at tile t, where its bound allows anything better than the ends of their lists."""
    shadow, middle, scale, radius = tiles.shadow, tiles.middle, tiles.scale, tiles.tree.box[1, X.shape[1] + 1, t]
    values, record, lowest, rough = tiles.values, tiles.record, tiles.tree.lowest[t], np.empty(SIZE, np.float32)
    below, worst, last = ask.below, ask.worst, ask.last
    w, found = tiles.filled[a], False
    _bound_each(values[a], tiles.tree.box, t, X.shape[1], below)
    for i in range(w):
        if below[i] > worst[i] or (below[i] == worst[i] and lowest >= last[i]):
            continue
        x = record[a, i]
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
    if found:
        ask.most[0], ask.highest[0] = 0.0, 0
        for i in range(w):
            ask.most[0], ask.highest[0] = max(ask.most[0], worst[i]), max(ask.highest[0], last[i])


@kernel
def _look_at_node(tiles: Tiles, X: Floats, a: int, v: int, ask: _Asking, near_d2: Floats, near: Ints) -> None:
    """Let tile a's records look at the tiles of node v of the first level: the closest first."""
    first = v * FAN
    count = min(tiles.filled.shape[0] - first, FAN)
    apart, away, lowest = ask.apart, ask.away, tiles.tree.lowest
    _apart(tiles.tree.box, first, tiles.tree.box, a, apart, count)
    _centres_apart(tiles.tree.centre, first, a, away, count)
    for turn in range(-_FIRST, count):  # the closest come first: later bounds have more effect then
        i = turn if turn >= 0 else int(np.argmin(away[:count]))
        away[i] = np.inf
        if apart[i] > ask.most[0] or (apart[i] == ask.most[0] and lowest[first + i] >= ask.highest[0]):
            continue
        if apart[i] < np.inf:
            apart[i] = np.inf
            _look_for_each(tiles, X, a, first + i, ask, near_d2, near)


@kernel
def nearest_of_tiles(tiles: Tiles, X: Floats, first: int, until: int, near_d2: Floats, near: Ints) -> None:
    """Write, in the row of each record of tiles first to until - 1, the records nearest to it: not itself.

    All of a tile's records ask side by side: a tile that many of them look at is fetched from memory once. Nodes of
    tiles that lie too far away are passed over.
    """
    record, filled, tree = tiles.record, tiles.filled, tiles.tree
    starts, room = tree.starts, np.empty((3, SIZE))
    count = starts[2] - starts[1] if starts.shape[0] > 2 else 1
    ask = _Asking(room[0], np.empty(SIZE, np.int64), np.empty(1), np.empty(1, np.int64), room[1], room[2, :FAN],
                  np.empty(FAN), np.empty(count))  # fmt: skip
    nodes = ask.nodes
    for a in range(first, until):
        for i in range(filled[a]):
            near_d2[record[a, i]] = np.inf
            near[record[a, i]] = NOBODY
            ask.worst[i], ask.last[i] = np.inf, NOBODY
        ask.most[0], ask.highest[0] = np.inf, NOBODY
        nodes[0] = 0.0
        if count > 1:
            _apart(tree.upper, 0, tree.box, a, nodes, count)
        v = a // FAN  # its own node comes first
        while nodes[v] <= ask.most[0] and nodes[v] < np.inf:
            nodes[v] = np.inf
            _look_at_node(tiles, X, a, v, ask, near_d2, near)
            v = int(np.argmin(nodes))


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
