"""A group around a record that gives members away for others until its guards hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel
from .guards import Watch, lack
from .tiles import Tiles, nearest

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

AT_FIRST = 32  # most groups need few: a longer list of neighbours is made only for those that need more


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
def _sorted_codes(watch: Watch, members: Ints, codes: Ints) -> float:
    """Write the members' codes, sorted, a row for each guard; give the group's shortfall."""
    short = 0.0
    for w in range(codes.shape[0]):
        for i in range(members.shape[0]):
            codes[w, i] = watch.codes[w, members[i]]
        codes[w].sort()
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
def guarded_group(tiles: Tiles, X: Floats, watch: Watch, members: Ints, walk: int) -> None:
    """Write to `members`, after the first, the free records nearest to it, exchanged until the guards hold.

    The next `walk` free records, nearest first, offer themselves one after the other. Each replaces the member whose
    leaving makes the group's shortfall least, if that is less than before; of equal ones the farthest leaves. The first
    member always stays.
    """
    s = members.shape[0]
    r = members[0]
    codes, room = np.empty((watch.codes.shape[0], s), np.int64), np.empty(s, np.int64)
    _nearest_others(tiles, X, r, members[1:])
    short = _sorted_codes(watch, members, codes)
    done = s - 1
    for reach in (min(walk, AT_FIRST), walk):
        if short == 0.0:
            break
        near = np.empty(s - 1 + reach, np.int64)
        _nearest_others(tiles, X, r, near)
        for y in near[done:]:
            short = _offer(watch, members, codes, room, short, y)
            if short == 0.0:
                break
        done = s - 1 + reach


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
