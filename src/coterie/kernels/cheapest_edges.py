"""The cheapest edges at each record under the prices of a linear program: near records with additive prices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel
from .tiles import Tiles, distance_to_boxes, distances

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Sets(NamedTuple):
    """Sets of records, and their prices: member[start[u]:start[u + 1]] are those that hold u, ascending."""

    start: Ints
    member: Ints
    mu: Floats


@kernel
def _shared(sets: Sets, u: int, v: int) -> float:
    """Give the sum of mu over the sets that hold both u and v."""
    start, member, mu = sets.start, sets.member, sets.mu
    total = 0.0
    i, j = start[u], start[v]
    while i < start[u + 1] and j < start[v + 1]:
        a, b = member[i], member[j]
        if a == b:
            total += mu[a]
        i += a <= b
        j += b <= a
    return total


@kernel
def cheapest_edges(
    tiles: Tiles, X: Floats, records: Ints, price: Floats, sets: Sets, cost: Floats, other: Ints
) -> None:
    """Write, in the row of each of these records, its edges of the most negative reduced cost, the lowest first.

    That of edge uv is d2(u, v) - price[u] - price[v] + what `_shared` gives. No mu is negative, so a tile's nearest
    corner and dearest record bound it. Where fewer edges are negative, `other` stays -1 and `cost` is 0.
    """
    values, record, filled, box = tiles.values, tiles.record, tiles.filled, tiles.tree.box
    m = other.shape[1]
    d2 = np.empty(values.shape[2])
    paid = np.full(record.shape, -np.inf)
    top = np.full(filled.shape[0], -np.inf)
    for t in range(filled.shape[0]):
        for i in range(filled[t]):
            paid[t, i] = price[record[t, i]]
            top[t] = max(top[t], paid[t, i])
    for x in records:
        q, mine = X[x], price[x]
        row, to = cost[x], other[x]
        row[:] = 0.0
        to[:] = -1
        below = distance_to_boxes(box, q)
        for t in range(below.shape[0]):
            if below[t] - top[t] - mine >= row[m - 1]:
                continue
            distances(values[t], filled[t], q, d2)
            asked = paid[t]
            hits = 0
            for i in range(filled[t]):
                d2[i] = d2[i] - asked[i] - mine
                hits += d2[i] < row[m - 1]
            if hits == 0:
                continue
            for i in range(filled[t]):
                v = record[t, i]
                if d2[i] >= row[m - 1] or v == x:
                    continue
                c = d2[i] + _shared(sets, x, v)
                if c >= row[m - 1]:
                    continue
                h = m - 1
                while h > 0 and row[h - 1] > c:
                    row[h] = row[h - 1]
                    to[h] = to[h - 1]
                    h -= 1
                row[h] = c
                to[h] = v
