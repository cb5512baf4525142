"""What a group's SSE is, by how much a record more would make it grow, and the choice that MDAV* makes of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import exact_sum
from ._jit import kernel
from .tiles import NOBODY, SIZE, Tiles, distance_to_boxes, distances, nearest

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
    """Groups' centroids in tiles, as the records are in theirs; b tiles, p columns."""

    values: Floats  # (b, p, SIZE): the centroids, column by column
    group: Ints  # (b, SIZE): whose they are
    weight: Floats  # (b, SIZE): m / (m + 1) for a group of m
    filled: Ints  # (b,): how many the tile holds
    box: Floats  # (2, p, b): the least and the largest value of each column, or beyond


@kernel
def put(shelf: Shelf, place: int, group: int, centroid: Floats, size: int) -> None:
    """Put a group, or its new centroid, in its place: tile * SIZE + slot. The tile's box only widens."""
    values, owner, weight, filled, box = shelf
    b, i = place // SIZE, place % SIZE
    for j in range(centroid.shape[0]):
        values[b, j, i] = centroid[j]
        box[0, j, b] = min(box[0, j, b], centroid[j])
        box[1, j, b] = max(box[1, j, b], centroid[j])
    owner[b, i] = group
    weight[b, i] = size / (size + 1.0)
    filled[b] = max(filled[b], i + 1)


@kernel
def put_all(shelf: Shelf, groups: Ints, centroids: Floats, sizes: Ints) -> None:
    """Put these groups, one after the other, in the first places."""
    for place in range(groups.shape[0]):
        g = groups[place]
        put(shelf, place, g, centroids[g], sizes[g])


@kernel
def least_growth(shelf: Shelf, k: int, q: Floats) -> tuple[int, float]:
    """Give the group whose SSE grows least by q, and that growth; of equal ones the oldest group.

    A group of m records at squared distance d2 from q grows by d2 * m / (m + 1), so by at least d2 * k / (k + 1).
    """
    values, owner, weight, filled, box = shelf
    d2 = np.empty(SIZE)
    below = distance_to_boxes(box, q)
    first = np.argmin(below)
    best, least = NOBODY, np.inf
    for turn in range(-1, below.shape[0]):
        b = first if turn < 0 else turn
        if below[b] * (k / (k + 1.0)) > least or filled[b] == 0 or turn == first:
            continue
        distances(values[b], filled[b], q, d2)
        for i in range(filled[b]):
            growth = d2[i] * weight[b, i]
            if growth < least or (growth == least and owner[b, i] < best):
                best, least = owner[b, i], growth
    return best, least


@kernel
def _neighbourhood(tiles: Tiles, X: Floats, x: int, without: int, out: Ints) -> None:
    """Write x and the free records nearest to it, leaving out one record."""
    m = out.shape[0]
    near_d2, near = np.empty(m + 1), np.empty(m + 1, np.int64)
    nearest(tiles, X[x], near_d2, near)
    out[0] = x
    size = 1
    for i in range(m + 1):
        if near[i] != x and near[i] != without and size < m:
            out[size] = near[i]
            size += 1


@kernel
def open_or_extend(tiles: Tiles, X: Floats, r: int, shelf: Shelf, enough: bool, new: Ints) -> int:
    """Give the group that r should join, or -1 where r should open one with its neighbours, written to `new`.

    Compares the costs (1) and (2) of the paper: a new group around r, a record of it; and r joining the group whose SSE
    grows least while y, its nearest neighbour, founds one. The latter needs `enough` groups and free records.
    """
    k = new.shape[0]
    _neighbourhood(tiles, X, r, r, new)
    if not enough:
        return -1
    digits, centroid = np.empty((X.shape[1], exact_sum.DIGITS), np.int64), np.empty(X.shape[1])
    centroid_of(X, new, digits, centroid)
    opening = sse_about(X, new, centroid) / k
    group, growth = least_growth(shelf, k, X[r])
    if growth / (k + 1) >= opening:  # whatever the group around y costs
        return -1
    virtual = np.empty(k, np.int64)
    _neighbourhood(tiles, X, new[1], r, virtual)
    centroid_of(X, virtual, digits, centroid)
    extending = (growth + sse_about(X, virtual, centroid)) / (k + 1)
    return group if extending < opening else -1
