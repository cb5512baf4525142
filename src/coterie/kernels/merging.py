"""Groups that are merged until none falls short: the worst first, with the group nearest to it.

Members of a group hang in a list in the order of their codes, one list for each guard, so that merging two groups and
judging the union takes time proportional to its size. Centroids lie in tiles as records do in theirs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel
from .tiles import SIZE, distance_to_boxes, distances
from .tree import NOBODY
from .watch import Watch, lack

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Groups(NamedTuple):
    """G groups of n records in p columns, under q guards."""

    centre: Floats  # (G, p)
    size: Ints  # (G,): 0 for a group that has gone into another
    into: Ints  # (G,): the lower group that it has gone into, or itself
    head: Ints  # (q, G): the member with the lowest code
    after: Ints  # (q, n): the member with the next code, or -1
    short: Floats  # (2 W,): shortfalls, that of group g at W + g; a place i < W holds the larger of 2 i and 2 i + 1


class Shelf(NamedTuple):
    """Centroids of groups in b tiles."""

    values: Floats  # (b, p, SIZE)
    group: Ints  # (b, SIZE): whose they are
    filled: Ints  # (b,)
    box: Floats  # (2, p, b): the least and the largest value of each column
    place: Ints  # (G,): tile * SIZE + slot


@kernel
def _tighten(shelf: Shelf, t: int) -> None:
    """Recompute the box of tile t."""
    for j in range(shelf.values.shape[1]):
        low, high = np.inf, -np.inf
        for i in range(shelf.filled[t]):
            low = min(low, shelf.values[t, j, i])
            high = max(high, shelf.values[t, j, i])
        shelf.box[0, j, t] = low
        shelf.box[1, j, t] = high


@kernel
def _put(shelf: Shelf, t: int, slot: int, centre: Floats) -> None:
    for j in range(centre.shape[0]):
        shelf.values[t, j, slot] = centre[j]


@kernel
def shelve(shelf: Shelf, centre: Floats, order: Ints) -> None:
    """Put groups on an empty shelf, in this order."""
    for i in range(order.shape[0]):
        t, slot, g = i // SIZE, i % SIZE, order[i]
        _put(shelf, t, slot, centre[g])
        shelf.group[t, slot] = g
        shelf.filled[t] = slot + 1
        shelf.place[g] = i
    for t in range(shelf.filled.shape[0]):
        _tighten(shelf, t)


@kernel
def _remove(shelf: Shelf, g: int) -> None:
    """Take a group off the shelf."""
    t, slot = shelf.place[g] // SIZE, shelf.place[g] % SIZE
    last = shelf.filled[t] - 1
    moved = shelf.group[t, last]
    for j in range(shelf.values.shape[1]):
        shelf.values[t, j, slot] = shelf.values[t, j, last]
    shelf.group[t, slot] = moved
    shelf.place[moved] = t * SIZE + slot
    shelf.filled[t] = last
    _tighten(shelf, t)


@kernel
def _exchange(shelf: Shelf, a: int, b: int) -> None:
    """Let two groups change places, both about to lose their centroid."""
    at, to = shelf.place[a], shelf.place[b]
    shelf.group[at // SIZE, at % SIZE], shelf.group[to // SIZE, to % SIZE] = b, a
    shelf.place[a], shelf.place[b] = to, at


@kernel
def _renew(shelf: Shelf, g: int, centre: Floats) -> None:
    """Give a group a new centroid, in its place."""
    t, slot = shelf.place[g] // SIZE, shelf.place[g] % SIZE
    _put(shelf, t, slot, centre)
    _tighten(shelf, t)


@kernel
def nearest_group(shelf: Shelf, q: Floats, own: int) -> int:
    """Give the group other than `own` whose centroid is nearest to q; of equally near ones the lowest."""
    d2 = np.empty(SIZE)
    below = distance_to_boxes(shelf.box, q)
    first = int(np.argmin(below))
    best, best_d2 = NOBODY, np.inf
    for turn in range(-1, below.shape[0]):
        t = first if turn < 0 else turn
        if below[t] > best_d2 or turn == first:
            continue
        distances(shelf.values[t], shelf.filled[t], q, d2)
        for i in range(shelf.filled[t]):
            g = shelf.group[t, i]
            if g != own and (d2[i] < best_d2 or (d2[i] == best_d2 and g < best)):
                best, best_d2 = g, d2[i]
    return best


@kernel
def _weave(after: Ints, codes: Ints, x: int, y: int) -> int:
    """Make one list of two, in the order of their codes; give its head."""
    if codes[y] < codes[x]:
        x, y = y, x
    head = x
    while y >= 0:
        while after[x] >= 0 and codes[after[x]] <= codes[y]:
            x = after[x]
        after[x], y = y, after[x]  # what is left of this list waits while the other goes on
    return head


@kernel
def _judge(watch: Watch, k: int, groups: Groups, g: int, codes: Ints) -> float:
    """Give a group's shortfall, of records and under all guards; `codes` is room for as many as it has."""
    size = groups.size[g]
    short = float(max(0, k - size)) / k
    for w in range(groups.head.shape[0]):
        x = groups.head[w, g]
        for i in range(size):
            codes[i] = watch.codes[w, x]
            x = groups.after[w, x]
        short += lack(watch, w, codes[:size])
    return short


@kernel
def _set_short(short: Floats, g: int, value: float) -> None:
    """Note a group's shortfall, and the larger of each pair above it."""
    i = short.shape[0] // 2 + g
    short[i] = value
    while i > 1:
        i //= 2
        short[i] = max(short[2 * i], short[2 * i + 1])


@kernel
def _worst(short: Floats) -> int:
    """Give the group with the largest shortfall; of equal ones the lowest."""
    i, leaves = 1, len(short) // 2
    while i < leaves:
        i = 2 * i if short[2 * i] == short[i] else 2 * i + 1
    return i - leaves


@kernel
def judge_all(watch: Watch, k: int, groups: Groups) -> None:
    """Note the shortfall of every group."""
    codes = np.empty(watch.codes.shape[1], np.int64)
    for g in range(groups.size.shape[0]):
        _set_short(groups.short, g, _judge(watch, k, groups, g, codes))


@kernel
def merge_worst(watch: Watch, k: int, groups: Groups, shelf: Shelf, left: int, until: int) -> int:
    """Merge while a group falls short and more than `until` groups are left; give how many are left."""
    codes = np.empty(watch.codes.shape[1], np.int64)
    centre, size = groups.centre, groups.size
    while left > until and groups.short[1] > 0.0:
        worst = _worst(groups.short)
        other = nearest_group(shelf, centre[worst], worst)
        a, b = min(worst, other), max(worst, other)
        if size[b] > size[a]:  # the new centroid lies nearer to the larger group's, so that is the place to keep
            _exchange(shelf, a, b)
        _merge_into(watch, groups, a, b)
        _set_short(groups.short, a, _judge(watch, k, groups, a, codes))
        _set_short(groups.short, b, 0.0)
        _remove(shelf, b)
        _renew(shelf, a, centre[a])
        left -= 1
    return left


@kernel
def _merge_into(watch: Watch, groups: Groups, a: int, b: int) -> None:
    """Let group a take in group b: members, centroid, size."""
    centre, size = groups.centre, groups.size
    for w in range(groups.head.shape[0]):
        groups.head[w, a] = _weave(groups.after[w], watch.codes[w], groups.head[w, a], groups.head[w, b])
    both = size[a] + size[b]
    for j in range(centre.shape[1]):
        centre[a, j] = (size[a] * centre[a, j] + size[b] * centre[b, j]) / both
    size[a], size[b] = both, 0
    groups.into[b] = a
