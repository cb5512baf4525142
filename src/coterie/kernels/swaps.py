"""A group around a record that gives members away for others until its guards hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel
from .tiles import SIZE, Tiles, distance_to_boxes, distances, insert, nearest
from .tree import NOBODY
from .watch import Watch, lack

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def _without_and_with(codes: Ints, out: int, new: int, room: Ints) -> None:
    """room: sorted codes, one value `out` of them replaced by `new`."""
    i = 0  # in codes
    placed, dropped = False, False
    for at in range(room.shape[0]):
        if not dropped and i < codes.shape[0] and codes[i] == out:
            i, dropped = i + 1, True
        if not placed and (i == codes.shape[0] or new <= codes[i]):
            room[at], placed = new, True
        else:
            room[at] = codes[i]
            i += 1


@kernel
def _lack_with(watch: Watch, codes: Ints, out: int, new: int, room: Ints, enough: float) -> float:
    """Give the group's shortfall were record `out` replaced by `new`; no more of it than `enough`."""
    short = 0.0
    for w in range(codes.shape[0]):
        _without_and_with(codes[w], watch.codes[w, out], watch.codes[w, new], room)
        short += lack(watch, w, room)
        if short >= enough:
            break
    return short


@kernel
def sort_up(row: Ints) -> None:
    """Sort a row by Shell's method: NumPy's sort takes seconds to compile."""
    gap = row.shape[0]
    while gap > 1:
        gap = max(1, gap * 5 // 11)
        for i in range(gap, row.shape[0]):
            value = row[i]
            at = i
            while at >= gap and row[at - gap] > value:
                row[at] = row[at - gap]
                at -= gap
            row[at] = value


@kernel
def _sorted_codes(watch: Watch, members: Ints, codes: Ints) -> float:
    """Write the members' codes, sorted, a row for each guard; give the group's shortfall."""
    short = 0.0
    for w in range(codes.shape[0]):
        for i in range(members.shape[0]):
            codes[w, i] = watch.codes[w, members[i]]
        sort_up(codes[w])
        short += lack(watch, w, codes[w])
    return short


@kernel
def _offer(watch: Watch, members: Ints, codes: Ints, room: Ints, short: float, y: int) -> float:
    """Let y replace the member whose leaving makes the shortfall least, if it becomes less; give the shortfall then."""
    s = members.shape[0]
    leaving, least = -1, short
    for i in range(s - 1, 0, -1):
        shorter = _lack_with(watch, codes, members[i], y, room, least)
        if shorter < least:
            leaving, least = i, shorter
    if leaving > 0:
        for i in range(leaving, s - 1):  # members stand in the order of their distance
            members[i] = members[i + 1]
        members[s - 1] = y
        _sorted_codes(watch, members, codes)
    return least


@kernel
def guarded_group(tiles: Tiles, X: Floats, starts: Ints, watch: Watch, members: Ints, near: int) -> None:
    """Write to `members`, after the first, the free records nearest to it, exchanged until the guards hold.

    Others offer themselves one after the other: the next `near` free records, nearest first, and then, again nearest
    first, the nearest of each block among those farther away. Each replaces the member whose leaving makes the
    group's shortfall least, if that is less than before; of equal ones the farthest leaves. The first member always
    stays. The tiles of block j are those from starts[j] to starts[j + 1].
    """
    s, r = members.shape[0], members[0]
    codes, room = np.empty((watch.codes.shape[0], s), np.int64), np.empty(s, np.int64)
    short = np.inf
    offers = members[1:]  # s is at least 2, so there is a last one
    for turn in range(3):  # those nearest, more of them, those of the blocks: one call in the text of each kernel
        if turn == 1:
            offers = np.empty(s - 1 + near, np.int64)
        if turn == 2:
            offers = _deeper(tiles, X, starts, r, offers[-1])
        else:
            _nearest_others(tiles, X, r, offers)
        if turn == 0:
            short = _sorted_codes(watch, members, codes)
        first = s - 1 if turn < 2 else 0  # those before it are members
        for y in offers[first:]:
            if short > 0.0:
                short = _offer(watch, members, codes, room, short, y)
        if short == 0.0:
            return


@kernel
def _deeper(tiles: Tiles, X: Floats, starts: Ints, r: int, last: int) -> Ints:
    """Give, nearest first, the free record of each block that is nearest to r of those farther away than `last`."""
    found, d2 = np.full(starts.shape[0] - 1, NOBODY), np.full(starts.shape[0] - 1, np.inf)
    below = distance_to_boxes(tiles.tree.box, X[r])
    beyond = _d2(X, last, X[r])
    count = 0
    for j in range(found.shape[0]):
        x = _nearest_beyond(tiles, starts[j], starts[j + 1], X[r], r, below, beyond, last)
        if x != NOBODY:
            insert(d2, found, _d2(X, x, X[r]), x)
            count += 1
    return found[:count]


@kernel
def _nearest_beyond(tiles: Tiles, a: int, b: int, q: Floats, r: int, below: Floats, beyond: float, last: int) -> int:
    """Give the free record of the tiles from a to b that is nearest to q, but after record `last` at `beyond`."""
    d2 = np.empty(SIZE)
    first = a + int(np.argmin(below[a:b]))
    best, best_d2 = NOBODY, np.inf
    for turn in range(a - 1, b):
        t = first if turn < a else turn
        if below[t] > best_d2 or turn == first:
            continue
        distances(tiles.values[t], tiles.filled[t], q, d2)
        for i in range(tiles.filled[t]):
            x = tiles.record[t, i]
            if x == r or d2[i] < beyond or (d2[i] == beyond and x <= last):
                continue
            if d2[i] < best_d2 or (d2[i] == best_d2 and x < best):
                best, best_d2 = x, d2[i]
    return best


@kernel
def _d2(X: Floats, x: int, q: Floats) -> float:
    """Give the squared distance of record x to q, summed column after column."""
    total = 0.0
    for j in range(q.shape[0]):
        step = X[x, j] - q[j]
        total += step * step
    return total


@kernel
def _nearest_others(tiles: Tiles, X: Floats, r: int, out: Ints) -> None:
    """Write the free records nearest to r, nearest first, other than r."""
    m = out.shape[0]
    near_d2, near = np.empty(m + 1), np.empty(m + 1, np.int64)
    nearest(tiles, X[r], near_d2, near)
    i = 0
    for x in near:  # r is one of them, unless so many others lie on it
        if x != r and i < m:
            out[i] = x
            i += 1
