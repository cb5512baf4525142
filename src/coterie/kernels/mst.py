"""The minimum spanning tree by Borůvka's rounds, and its parts of at least k records.

Edges are compared by squared length, then by their lower and their higher record: no two are equal, so there is one
minimum spanning tree, and all components may draw their shortest edge at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel
from .nearest import nearest_outside
from .tiles import Tiles
from .tree import NOBODY

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Shortest(NamedTuple):
    """The shortest edge out of each component, (low, high) at d2."""

    d2: Floats
    low: Ints
    high: Ints


@kernel
def _equal(X: Floats, x: int, y: int) -> bool:
    equal = True
    for j in range(X.shape[1]):
        equal &= bool(X[x, j] == X[y, j])
    return equal


@kernel
def shortest_edges(
    tiles: Tiles,
    X: Floats,
    records: Ints,
    near: Ints,
    near_d2: Floats,
    part: Ints,
    whole: Ints,
    shortest: Shortest,
) -> None:
    """Look for shorter edges out of the components of these records.

    A record's nearest outside is the first outside among its nearest, if there is one; else all others are looked at,
    if they can be near enough to matter.
    """
    best_d2, best_low, best_high = shortest
    last = near.shape[1] - 1
    for x in records:
        c = part[x]
        if near[x, 0] < x and part[near[x, 0]] == c and _equal(X, x, near[x, 0]):
            continue  # its edges are as long as those of the lower record, which come first
        i = 0
        while i <= last and part[near[x, i]] == c:
            i += 1
        if i <= last:
            y, d2 = near[x, i], near_d2[x, i]
        elif near_d2[x, last] > best_d2[c]:
            continue
        else:
            before = best_low[c] + 1 if x > best_low[c] else NOBODY  # where edges are equally long, the lowest counts
            y, d2 = nearest_outside(tiles, X, x, part, whole, best_d2[c], before)
        if y == NOBODY or d2 > best_d2[c]:
            continue
        low, high = min(x, y), max(x, y)
        if d2 < best_d2[c] or low < best_low[c] or (low == best_low[c] and high < best_high[c]):
            best_d2[c], best_low[c], best_high[c] = d2, low, high


@kernel
def _find(boss: Ints, x: int) -> int:
    while boss[x] != x:
        boss[x] = boss[boss[x]]
        x = boss[x]
    return x


@kernel
def join(shortest: Shortest, boss: Ints, part: Ints, ends: Ints, d2: Floats, count: int) -> int:
    """Add every component's shortest edge to the tree's, renumber the components and forget their edges."""
    best_d2, best_low, best_high = shortest
    for c in range(best_d2.shape[0]):
        if best_d2[c] < np.inf:
            a, b = _find(boss, best_low[c]), _find(boss, best_high[c])
            if a != b:  # the other end may have drawn the same edge
                boss[max(a, b)] = min(a, b)
                ends[count, 0], ends[count, 1] = best_low[c], best_high[c]
                d2[count] = best_d2[c]
                count += 1
            best_d2[c] = np.inf
    for x in range(part.shape[0]):
        part[x] = _find(boss, x)
    return count


@kernel
def _holds(at: int, blocked: int, k: int, ends: Ints, start: Ints, count: Ints, edges: Ints, stack: Ints) -> bool:
    """Tell whether at least k records are on this side of an edge."""
    stack[0, 0], stack[0, 1] = at, blocked
    seen, i = 1, 0
    while i < seen:
        x, came = stack[i]
        i += 1
        for e in edges[start[x] : start[x] + count[x]]:
            if e != came:
                if seen >= k:
                    return True
                stack[seen, 0], stack[seen, 1] = ends[e, 0] + ends[e, 1] - x, e
                seen += 1
    return seen >= k


@kernel
def cut(ends: Ints, longest_first: Ints, k: int, part: Ints) -> None:
    """Remove edges while both sides keep k records, and number the parts.

    An edge that can't go can't go later either, since sides only shrink: each is asked once, at a cost of O(k).
    """
    n = part.shape[0]
    count = np.zeros(n, np.int64)
    for e in range(n - 1):
        count[ends[e, 0]] += 1
        count[ends[e, 1]] += 1
    start = np.zeros(n, np.int64)
    for x in range(1, n):
        start[x] = start[x - 1] + count[x - 1]
    count[:] = 0
    edges, place = np.empty(2 * n, np.int64), np.empty((n, 2), np.int64)
    for e in range(n - 1):
        for side in range(2):
            x = ends[e, side]
            place[e, side] = start[x] + count[x]
            edges[place[e, side]] = e
            count[x] += 1
    stack = np.empty((max(k, n), 2), np.int64)
    for e in longest_first:
        if not _holds(ends[e, 0], e, k, ends, start, count, edges, stack):
            continue
        if not _holds(ends[e, 1], e, k, ends, start, count, edges, stack):
            continue
        for side in range(2):  # the last edge of the list takes its place
            x = ends[e, side]
            count[x] -= 1
            moved = edges[start[x] + count[x]]
            edges[place[e, side]] = moved
            place[moved, 0 if ends[moved, 0] == x else 1] = place[e, side]
    part[:] = -1
    g = 0
    for x in range(n):
        if part[x] < 0:
            stack[0, 0], seen, i = x, 1, 0
            part[x] = g
            while i < seen:
                y = stack[i, 0]
                i += 1
                for e in edges[start[y] : start[y] + count[y]]:
                    z = ends[e, 0] + ends[e, 1] - y
                    if part[z] < 0:
                        part[z] = g
                        stack[seen, 0] = z
                        seen += 1
            g += 1
