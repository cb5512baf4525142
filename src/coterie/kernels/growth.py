"""What a group's SSE is, by how much a record more would make it grow, and the choice that MDAV* makes of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import exact_sum
from ._jit import kernel
from .tiles import SIZE, Tiles, around, exactly, home_of, nearest_from, remove, within
from .tree import FAN, NOBODY, STATE, Tree, begin, next_tiles
from .turns import Turn

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Shadows = NDArray[np.float32]


@kernel
def centroid_of(X: Floats, members: Ints, digits: Ints, out: Floats) -> None:
    """Write the centroid of a group: each column's exact sum, rounded once, over its size."""
    digits[:] = 0
    for x in members:
        for j in range(X.shape[1]):
            exact_sum.add(digits[j], X[x, j], 1)
    exact_sum.mean(digits, members.shape[0], out)


@kernel
def sse_about(X: Floats, members: Ints, centroid: Floats) -> float:
    """Give the sum of squared distances to the centroid, member after member, column after column."""
    sse = 0.0
    for x in members:
        d2 = 0.0
        for j in range(X.shape[1]):
            step = X[x, j] - centroid[j]
            d2 += step * step
        sse += d2
    return sse


class Shelf(NamedTuple):
    """The groups' centroids in cells, under a tree as that over the records' tiles; c cells, b tiles, p columns.

    A cell holds the groups that were founded in one region, in a chain of tiles. Regions are those of all records, so
    however the groups come, those in a cell lie close together.
    """

    values: Floats  # (b, p, SIZE): the centroids, column by column
    group: Ints  # (b, SIZE): whose they are
    weight: Floats  # (b, SIZE): m / (m + 1) for a group of m
    shadow: Shadows  # (b, p, SIZE): (centroids - middle) * scale in single precision; infinitely far where none is
    middle: Floats  # (b, p): where the tile's first centroid was at first
    radius: Floats  # (b,): no centroid has been farther from there, but for rounding
    scale: float  # that of the records' tiles
    filled: Ints  # (b,): how many the tile holds
    after: Ints  # (b,): the next tile of the same cell; -1 if it is the last
    head: Ints  # (c,): a cell's first tile; -1 without one
    used: Ints  # (1,): how many tiles are in use
    box: Floats  # (2, p, c): the least and the largest value of each column in a cell, or beyond
    upper: Floats  # (2, p, u): the same of the nodes above
    oldest: Ints  # (c + u,): the oldest group of a cell or node
    starts: Ints  # the first node of each level
    bound: Floats  # (c + u,): room for a search
    batch: Ints  # (c + 1,): the same


class Groups(NamedTuple):
    """Who is in which group."""

    labels: Ints  # (n,): a record's group; -1 without one
    latest: Ints  # (groups,): the record that came last
    before: Ints  # (n,): the record that came to the same group before this one; -1 if it was the first
    size: Ints  # (groups,)
    cell: Ints  # (groups,): where the shelf has its centroid
    place: Ints  # (groups,): in which tile * SIZE + slot
    region: Ints  # (n,): the cell of a group that this record founds


@kernel
def _widen(box: Floats, v: int, centroid: Floats) -> None:
    for j in range(centroid.shape[0]):
        box[0, j, v] = min(box[0, j, v], centroid[j])
        box[1, j, v] = max(box[1, j, v], centroid[j])


@kernel
def put(shelf: Shelf, cell: int, place: int, group: int, centroid: Floats, size: int) -> int:
    """Put a group, or its new centroid, in its place, or in a new one if that is -1; give it. Boxes only widen."""
    filled, head, used, starts = shelf.filled, shelf.head, shelf.used, shelf.starts
    if place < 0:
        b = head[cell]
        if b < 0 or filled[b] == SIZE:
            b = used[0]
            used[0] += 1
            filled[b], shelf.after[b], head[cell] = 0, head[cell], b
            for j in range(centroid.shape[0]):
                shelf.middle[b, j] = centroid[j]
        place = b * SIZE + filled[b]
        filled[b] += 1
    b, i = place // SIZE, place % SIZE
    away = 0.0
    for j in range(centroid.shape[0]):
        step = centroid[j] - shelf.middle[b, j]
        away += step * step
        shelf.values[b, j, i] = centroid[j]
        shelf.shadow[b, j, i] = np.float32(step * shelf.scale)
    shelf.radius[b] = max(shelf.radius[b], np.sqrt(away))
    shelf.group[b, i] = group
    shelf.weight[b, i] = size / (size + 1.0)
    _widen(shelf.box, cell, centroid)
    v = cell
    shelf.oldest[v] = min(shelf.oldest[v], group)
    for level in range(1, starts.shape[0] - 1):
        v = starts[level] + (v - starts[level - 1]) // FAN
        _widen(shelf.upper, v - starts[1], centroid)
        shelf.oldest[v] = min(shelf.oldest[v], group)
    return place


@kernel
def least_growth(shelf: Shelf, k: int, q: Floats, home: int) -> tuple[int, float]:
    """Give the group whose SSE grows least by q, and that growth; of equal ones the oldest group.

    A group of m records at squared distance d2 from q grows by d2 * m / (m + 1), so by at least d2 * k / (k + 1). Cell
    `home` is looked at first.
    """
    values, owner, weight, filled = shelf.values, shelf.group, shelf.weight, shelf.filled
    bound, batch, oldest, starts = shelf.bound, shelf.batch, shelf.oldest, shelf.starts
    rough, state, none = np.empty(SIZE, np.float32), np.empty(STATE, np.int64), np.empty((0, 0))
    tree = Tree(shelf.box, shelf.upper, none, oldest, starts, starts.shape[0] - 1, bound, bound, batch)
    begin(state, home, q.shape[0])
    batch[0], count = home, 1
    best, least, limit = np.int64(NOBODY), np.inf, np.inf
    while count:
        for n in range(count):
            if count > 1 and bound[batch[n]] > limit:
                continue
            b = shelf.head[batch[n]]
            while b >= 0:
                near = around(limit, shelf.radius[b], shelf.scale, q.shape[0])
                if within(shelf.shadow, b, q, shelf.middle, shelf.scale, near, rough):
                    for i in range(filled[b]):
                        if rough[i] <= near:
                            growth = exactly(values, b, i, q) * weight[b, i]
                            if growth < least or (growth == least and owner[b, i] < best):
                                best, least = owner[b, i], growth
                b = shelf.after[b]
            # a little beyond what matters, for rounding; but not where many groups lie on q
            limit = least * ((k + 1.0) / k) * (1.0 + 1e-12) + 1e-300 if least > 0.0 or k < 2 else 0.0
        count = next_tiles(tree, q, -1.0, limit, best, oldest, -1, state)
    return int(best), least


@kernel
def _neighbourhood(tiles: Tiles, X: Floats, x: int, without: int, out: Ints) -> None:
    """Write x and the free records nearest to it, leaving out one record."""
    m = out.shape[0]
    near_d2, near = np.full(m + 1, np.inf), np.full(m + 1, NOBODY)
    nearest_from(tiles, X[x], home_of(tiles.place, x), near_d2, near, -1.0)
    out[0] = x
    size = 1
    for i in range(m + 1):
        if near[i] != x and near[i] != without and size < m:
            out[size] = near[i]
            size += 1


@kernel
def _open_or_extend(tiles: Tiles, X: Floats, r: int, shelf: Shelf, home: int, enough: bool, new: Ints) -> int:
    """Give the group that r should join, or -1 where r should open one with its neighbours, written to `new`.

    Compares the costs (1) and (2) of the paper: a new group around r, a record of it; and r joining the group whose SSE
    grows least while y, its nearest neighbour, founds one. The latter needs `enough` groups and free records.
    """
    k = new.shape[0]
    digits, centroid = np.empty((X.shape[1], exact_sum.DIGITS), np.int64), np.empty(X.shape[1])
    members = new
    opening, growth, group = np.inf, 0.0, -1
    for turn in range(2):  # the group around r, then that around y
        _neighbourhood(tiles, X, new[1] if turn else r, r, members)
        if not enough:
            return -1
        centroid_of(X, members, digits, centroid)
        sse = sse_about(X, members, centroid)
        if turn:
            return group if (growth + sse) / (k + 1) < opening else -1
        opening = sse / k
        group, growth = least_growth(shelf, k, X[r], home)
        if growth / (k + 1) >= opening:  # whatever the group around y costs
            return -1
        members = np.empty(k, np.int64)
    return -1


@kernel
def _join(X: Floats, shelf: Shelf, groups: Groups, g: int, records: Ints) -> None:
    """Put records into group g, and its new centroid on the shelf."""
    labels, latest, before, size = groups.labels, groups.latest, groups.before, groups.size
    for x in records:
        labels[x] = g
        before[x], latest[g] = latest[g], x
    size[g] += records.shape[0]
    members, x = np.empty(size[g], np.int64), latest[g]
    for i in range(size[g]):
        members[i] = x
        x = before[x]
    digits, centroid = np.empty((X.shape[1], exact_sum.DIGITS), np.int64), np.empty(X.shape[1])
    centroid_of(X, members, digits, centroid)
    groups.place[g] = put(shelf, groups.cell[g], groups.place[g], g, centroid, size[g])


@kernel
def join_closest(X: Floats, shelf: Shelf, groups: Groups, k: int, records: Ints) -> None:
    """Put each of these records, in turn, into the group whose SSE grows least."""
    for i in range(records.shape[0]):
        g, _ = least_growth(shelf, k, X[records[i]], groups.region[records[i]])
        _join(X, shelf, groups, g, records[i : i + 1])


@kernel
def open_or_extend_in_turn(
    tiles: Tiles, X: Floats, order: Ints, shelf: Shelf, groups: Groups, turn: Turn, k: int, until: int
) -> Turn:
    """Steps 2 to 4 of MDAV*, for the free ones of the records order[turn.at], ... while at least `until` are free."""
    at, g, free = turn.at, turn.group, turn.free
    new = np.empty(k, np.int64)
    while free >= until and at < order.shape[0]:
        r = order[at]
        at += 1
        if tiles.place[r] < 0:
            continue
        group = _open_or_extend(tiles, X, r, shelf, groups.region[r], g > 0 and free > k, new)
        joining = new
        if group >= 0:
            joining = new[:1]
        else:
            group = g
            groups.cell[g] = groups.region[r]
            g += 1
        _join(X, shelf, groups, group, joining)
        remove(tiles, joining)
        free -= joining.shape[0]
    return Turn(at, g, free)
