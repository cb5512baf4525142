"""A tree over tiles: which of them to look at next, without a look at them all.

Tiles stand in an order in which those close to each other lie close together, so a run of FAN tiles is a node of its
own, a run of FAN nodes a node of the next level, and so on, without a pointer. A node knows a box around its records
and the lowest of their indices. Tiles are level 0; nodes of all levels are numbered on, tiles first.

A search walks down from the most promising node of each level. Bounds of a node's children are computed side by side,
when it is opened. They hold in floating point:

- Nearest: a box's nearest point is subtracted, squared and summed in the same order as a record's distance, and
  rounding is monotone, so the bound computed is never above the distance computed. It needs no slack.
- Farthest: the box's farthest corner, by the same argument; and the triangle inequality over the anchor (sharp for the
  centroid) or the tile's centre (sharp elsewhere), with slack for rounding and for squares that vanish. Bounds and
  distances are negative there, so that the least comes first in both.

A node whose bound is just the distance of the worst record found matters only if it holds a lower index than that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel

FAN = 32
NOBODY = 2**62  # stands after every record where distances are equal
LEVELS = 8  # at most
ENOUGH = 8  # tiles to be looked at before the next bounds are computed
STATE = 2 * LEVELS + 3
SLACK = 1.0 + 1e-9
GRAIN = 1e-150  # distances below about 1e-162 vanish when squared: no bound may rely on them

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Tree(NamedTuple):
    """Boxes over boxes, and room for a search: t tiles, u nodes above them, p columns."""

    box: Floats  # (2, p + 2, t): the tiles' walls; only p columns where nobody asks for the farthest
    upper: Floats  # (2, p + 1, u): the walls of the nodes above
    centre: Floats  # (p, t): a point amid each tile; asked for with the farthest alone
    lowest: Ints  # (t + u,): the lowest record of a tile or node; NOBODY where it is empty
    starts: Ints  # (levels + 1,): the first node of each level, tiles first
    levels: int  # how many of them a search uses: with one, it bounds every tile
    bound: Floats  # (t + u,): bounds of what was opened
    away: Floats  # (FAN or more,): scratch
    batch: Ints  # (t,): the tiles that come next


@kernel
def bound_near(box: Floats, first: int, q: Floats, bound: Floats, a: int, b: int) -> None:
    """bound[a:b]: squared distances that nothing in the boxes from number `first` on is nearer to q than.

    Infinity where nobody is. Unsigned numbers, here and below, spare a test for each, and let the loops run in SIMD.
    """
    at, into, w = np.uint64(first), np.uint64(a), np.uint64(b - a)
    for i in range(w):
        bound[into + i] = 0.0
    for j in range(q.shape[0]):
        x = q[j]
        for i in range(w):
            step = max(max(box[0, j, at + i] - x, x - box[1, j, at + i]), 0.0)
            bound[into + i] += step * step


@kernel
def bound_far(box: Floats, first: int, q: Floats, shift: float, bound: Floats, a: int, b: int) -> None:
    """bound[a:b]: minus squared distances that nothing in the boxes is farther from q than; infinity where nobody is.

    Column p of the box is the distance from the anchor, which is `shift` from q.
    """
    at, into, w, p = np.uint64(first), np.uint64(a), np.uint64(b - a), q.shape[0]
    for i in range(w):
        bound[into + i] = 0.0
    for j in range(p):
        x = q[j]
        for i in range(w):
            step = max(box[1, j, at + i] - x, x - box[0, j, at + i])
            bound[into + i] -= step * step
    for i in range(w):
        outer = box[1, p, at + i]
        reach = (shift + outer) * SLACK + GRAIN
        above = max(bound[into + i], -reach * reach)
        bound[into + i] = above if outer >= 0.0 else np.inf


@kernel
def bound_far_tiles(box: Floats, centre: Floats, q: Floats, bound: Floats, a: int, b: int, away: Floats) -> None:
    """Raise the bounds of tiles a to b - 1, as of `bound_far`, by what the distance of their centres tells."""
    at, w, p = np.uint64(a), np.uint64(b - a), q.shape[0]
    for i in range(w):
        away[i] = 0.0
    for j in range(p):
        x = q[j]
        for i in range(w):
            step = centre[j, at + i] - x
            away[i] += step * step
    for i in range(w):
        reach = (np.sqrt(away[i]) + box[1, p + 1, at + i]) * SLACK + GRAIN
        bound[at + i] = max(bound[at + i], -reach * reach)


@kernel
def _promising(bound: Floats, lowest: Ints, a: int, b: int) -> int:
    """Give the node of least bound, of equal ones that which holds the lowest record."""
    at, w = np.uint64(a), np.uint64(b - a)
    least = np.inf
    for i in range(w):
        least = min(least, bound[at + i])
    best, low = np.uint64(0), NOBODY
    for i in range(w):
        if bound[at + i] == least and lowest[at + i] < low:
            best, low = np.uint64(i), lowest[at + i]
    return a + int(best)


@kernel
def _matters(bound: float, lowest: int, limit: float, last: int | np.int64) -> bool:
    return bool((bound < limit) | ((bound == limit) & (lowest < last) & (limit < np.inf)))  # without a jump


@kernel
def next_tiles(
    tree: Tree, q: Floats, shift: float, limit: float, last: int | np.int64, whole: Ints, part: int, state: Ints
) -> int:
    """Write the next tiles that may hold a record below `limit`, or at it with an index below `last`; give how many.

    Asks for near tiles, or for far ones where `shift`, q's distance from the anchor, is not negative; leaves out nodes
    that are wholly of `part`, by `whole`, unless it is -1. A search begins with `begin` and is over when nothing comes.
    The first few tiles come one by one, by their promise; then some at once, in their order: sorting many would cost
    too much, and so would a call for each.
    """
    starts, levels, bound = tree.starts, tree.levels, tree.bound  # with names for all, MDAV was 3 % slower
    level, count = state[0], 0
    a, b = starts[levels - 1], starts[levels]
    descend = level < 0
    if descend:
        level = levels
    while level < levels or descend:
        if descend:
            level -= 1
            state[2 * level + 3], state[2 * level + 4] = a, b
            if level == 0:
                if shift < 0.0:
                    bound_near(tree.box, a, q, bound, a, b)
                else:
                    bound_far(tree.box, a, q, shift, bound, a, b)
                    bound_far_tiles(tree.box, tree.centre, q, bound, a, b, tree.away)
                if a <= state[1] < b:
                    bound[state[1]] = np.inf
            elif shift < 0.0:
                bound_near(tree.upper, a - starts[1], q, bound, a, b)
            else:
                bound_far(tree.upper, a - starts[1], q, shift, bound, a, b)
            descend = False
            if part >= 0:
                for v in range(np.uint64(a), np.uint64(b)):
                    if whole[v] == part:
                        bound[v] = np.inf
        a, b = state[2 * level + 3], state[2 * level + 4]
        if level == 0 and state[2] == 0:
            level = 1
            for v in range(np.uint64(a), np.uint64(b)):
                tree.batch[count] = v
                count += _matters(bound[v], tree.lowest[v], limit, last)
            if count >= ENOUGH:
                break
            continue
        v = _promising(bound, tree.lowest, a, b)
        if not _matters(bound[v], tree.lowest[v], limit, last):
            level += 1
            continue
        bound[v] = np.inf
        if level == 0:
            tree.batch[0], count = v, 1
            state[2] -= 1
            break
        a = starts[level - 1] + (v - starts[level]) * FAN
        b = min(starts[level], a + FAN)
        descend = True
    state[0] = level
    return count


@kernel
def begin(state: Ints, home: int, p: int) -> None:
    """Begin a search in p columns. The caller has looked at tile `home` already, if that is not -1.

    The state is its level, the home, how many tiles are still to come by their promise and, at each level, the
    children of the node opened there, from the first to the last one's successor.
    """
    state[0], state[1], state[2] = -1, home, 0 if home >= 0 and p < 8 else 1 + p // 4
