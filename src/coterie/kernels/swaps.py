"""A group that gives members away for others until its guards hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel
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
def sorted_codes(watch: Watch, members: Ints, codes: Ints) -> float:
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
        sorted_codes(watch, members, codes)
    return least


@kernel
def exchange(watch: Watch, members: Ints, codes: Ints, room: Ints, offers: Ints, short: float) -> float:
    """Let records offer themselves, one after the other, until the guards hold; give the group's shortfall then.

    Each replaces the member whose leaving makes the shortfall least, if that is less than before; of equal ones the
    farthest leaves. The first member always stays.
    """
    for y in offers:
        if short > 0.0:
            short = _offer(watch, members, codes, room, short, y)
    return short
