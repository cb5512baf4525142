"""Who may be in a group around an anchor that costs less than its records' prices: a ball of records.

See `price_search` for why such a group lies near one of its records. What a record adds to a group's cost at least is
its distance to the anchor, and half of those to its own nearest records, less its price.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CHOOSY = 48  # of more records, those that a search would drop at once are left out before their distances are computed


class Space(NamedTuple):
    """The records and their neighbours. Distances are squared, and rounded down by the factor `shrink`."""

    X: Floats  # (n, p)
    near: Ints  # (n, m): the nearest records, nearest first
    near_d2: Floats  # (n, m)
    within: Floats  # (n, min(2k, n)): the sums of the 0, 1, ... least distances
    shrink: float


class Prices(NamedTuple):
    """Those of records and cuts; member[start[i]:start[i + 1]] are the cuts that record i is in."""

    pi: Floats
    start: Ints
    member: Ints
    sigma: Floats


class Ball(NamedTuple):
    """The anchor, which comes first, and its candidates: room for so many, used for one anchor after the other."""

    record: Ints
    price: Floats
    d2: Floats  # between any two
    within: Floats  # (c, 2k)
    values: Floats  # (p, c): scratch


class Asked(NamedTuple):
    """Which groups are looked for."""

    k: int
    top: int  # their sizes, k to top
    below: float  # the reduced cost
    breadth: int  # only among so many nearest records; n - 1 or more for all there are
    most: int  # nodes, after which a search is given up; where every group is wanted, all searches together


@kernel
def keep_least(least: Floats, m: int, d: float) -> None:
    """Keep the m least values, ascending."""
    if m > 0 and d < least[m - 1]:
        z = m - 1
        while z > 0 and least[z - 1] > d:
            least[z] = least[z - 1]
            z -= 1
        least[z] = d


@kernel
def reachable(space: Space, prices: Prices, asked: Asked, i: int, ball: Ints) -> int:
    """Write the records that may be in a group around i that is asked for; give their number."""
    k, top, best, breadth = asked.k, asked.top, asked.below, asked.breadth
    n, m = space.near.shape
    reach = -1.0
    for s in range(k, top + 1):
        reach = max(reach, 2 * (s * prices.pi[i] + best) - space.within[i, s - 2])
    c = 0
    if reach < 0.0:
        return 0
    if breadth <= m or m == n - 1 or space.near_d2[i, m - 1] > reach:
        for h in range(min(m, breadth)):
            if space.near_d2[i, h] > reach:
                break
            ball[c] = space.near[i, h]
            c += 1
        return c if c <= _CHOOSY else _worthwhile(space, prices, asked, i, ball, c)
    for j in range(n):
        if j != i:
            d = _apart(space, i, j)
            if d <= reach:
                ball[c] = j
                c += 1
    return _worthwhile(space, prices, asked, i, ball, c)


@kernel
def _apart(space: Space, i: int, j: int) -> float:
    """Give the squared distance between two records, rounded down."""
    d = 0.0
    for h in range(space.X.shape[1]):
        d += (space.X[i, h] - space.X[j, h]) ** 2
    return d * space.shrink


@kernel
def _worthwhile(space: Space, prices: Prices, asked: Asked, i: int, ball: Ints, c: int) -> int:
    """Keep the records that a search around i would not drop at once; give their number.

    Around an outlier nearly all records lie within its reach: too many for a matrix of their distances.
    """
    apart, value, keep = np.empty(c), np.empty(c), np.zeros(c, np.bool_)
    for a in range(c):
        apart[a] = _apart(space, i, ball[a])
    least = np.empty(asked.top)
    for s in range(asked.k, min(asked.top, c + 1) + 1):
        least[: s - 1] = np.inf
        for a in range(c):
            value[a] = _added(space, prices, apart[a], ball[a], s)
            keep_least(least, s - 2, value[a])
        base = -prices.pi[i]
        for z in range(s - 2):
            base += least[z]
        for a in range(c):
            keep[a] |= base + value[a] < asked.below
    kept = 0
    for a in range(c):
        if keep[a]:
            ball[kept] = ball[a]
            kept += 1
    return kept


@kernel
def _added(space: Space, prices: Prices, apart: float, j: int, s: int) -> float:
    """Give what j adds at least to the cost of a group of s records around an anchor, so far apart from it."""
    added: float = apart / s - prices.pi[j] + space.within[j, s - 2] * (0.5 / s)
    return added


@kernel
def floor_of(space: Space, prices: Prices, asked: Asked, i: int, ball: Ints) -> float:
    """Give what no group of i and some of these records costs less than, or what is asked for."""
    floor, least = asked.below, np.empty(asked.top)
    for s in range(asked.k, min(asked.top, ball.shape[0] + 1) + 1):
        least[: s - 1] = np.inf
        for j in ball:
            keep_least(least, s - 1, _added(space, prices, _apart(space, i, j), j, s))
        total = -prices.pi[i]
        for z in range(s - 1):
            total += least[z]
        floor = min(floor, total)
    return floor


@kernel
def room_for(space: Space, c: int) -> Ball:
    """Room for an anchor and its candidates, c in all."""
    width, p = space.within.shape[1], space.X.shape[1]
    return Ball(np.empty(c, np.int64), np.empty(c), np.empty((c, c)), np.empty((c, width)), np.empty((p, c)))


@kernel
def fill(ball: Ball, space: Space, prices: Prices, i: int, others: Ints) -> None:
    """Put into the ball what a search around i must know."""
    c, p = others.shape[0] + 1, space.X.shape[1]
    record, values = ball.record, ball.values
    record[0] = i
    for a in range(1, c):
        record[a] = others[a - 1]
    for a in range(c):
        x = record[a]
        ball.price[a] = prices.pi[x]
        for h in range(space.within.shape[1]):
            ball.within[a, h] = space.within[x, h]
        for h in range(p):
            values[h, a] = space.X[x, h]
    for a in range(c):
        row = ball.d2[a]
        for b in range(c):
            row[b] = 0.0
        for h in range(p):
            value, column = values[h, a], values[h]
            for b in range(c):
                row[b] += (column[b] - value) ** 2
        for b in range(c):
            row[b] *= space.shrink
