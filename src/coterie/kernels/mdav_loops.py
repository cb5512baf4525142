"""The inner loops of MDAV and its kin, whose steps take microseconds once tiles answer their questions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import exact_sum
from ._jit import kernel
from .tiles import Tiles, anchor_at, farthest, home_of, nearest_from, remove
from .tree import NOBODY
from .turns import Turn

WIDE = 8  # columns: from so many on, searches look at many tiles

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def take_group(tiles: Tiles, X: Floats, members: Ints) -> None:
    """Take out members[0] and the free records nearest to it, which are written to the rest of `members`."""
    k = members.shape[0]
    near_d2, near = np.full(k, np.inf), np.full(k, NOBODY)
    nearest_from(tiles, X[members[0]], home_of(tiles.place, members[0]), near_d2, near, -1.0)
    size = 1
    for x in near:  # members[0] is one of them, unless k others lie on it
        if x != members[0] and size < k:
            members[size] = x
            size += 1
    remove(tiles, members)


@kernel
def take_growing_group(tiles: Tiles, X: Floats, members: Ints, size: int, gamma: float) -> int:
    """Take a group of `size`, as `take_group`, and let it grow up to all of `members` as V-MDAV does; give its size.

    The free record nearest to any member joins while its squared distance to the group is below gamma times that to its
    nearest other free record.
    """
    grows = members.shape[0] > size
    near_d2, near = np.full(size + grows, np.inf), np.full(size + grows, NOBODY)
    nearest_from(tiles, X[members[0]], home_of(tiles.place, members[0]), near_d2, near, -1.0)
    taken, next_d2, following = 1, np.inf, np.int64(NOBODY)
    for i in range(near.shape[0]):  # members[0] is one of them, unless that many others lie on it
        if near[i] != members[0]:
            if taken < size:
                members[taken] = near[i]
                taken += 1
            elif following == NOBODY:  # the nearest to members[0] of those that stay
                next_d2, following = near_d2[i], near[i]
    remove(tiles, members[:size])
    near_d2, near = np.empty(2), np.empty(2, np.int64)
    asked = min(1, size - 1)  # the members whose nearest is known
    while size < members.shape[0]:
        near_d2[:] = np.inf
        near[:] = NOBODY
        if asked == 1:
            near_d2[0], near[0] = next_d2, following
        e, d_in, room = -1, 0.0, 1  # one list for all members; then the nearest two to e, one of which is e
        # first a glance at the members' own tiles alone: nobody has to look far afterwards
        glances = size - asked if X.shape[1] >= WIDE and next_d2 > 0.0 else 0
        for i in range(asked - glances, size + 1):
            x, enough = e, d_in / gamma * (1.0 - 1e-12)  # whoever is so near to e decides
            if i < size:
                x, enough = members[i if i >= asked else i + glances], -1.0 if i >= asked else np.inf
            nearest_from(tiles, X[x], home_of(tiles.place, x), near_d2[:room], near[:room], enough)
            if i == size - 1:
                e, d_in, room = near[0], near_d2[0], 2
                if e == NOBODY:
                    return size
                near_d2[:] = np.inf
                near[:] = NOBODY
        asked = 0
        if not d_in < gamma * near_d2[1 if near[0] == e else 0]:
            return size
        members[size] = e
        size += 1
        remove(tiles, members[size - 1 : size])
    return size


@kernel
def groups_from_the_centroid(
    tiles: Tiles, X: Floats, labels: Ints, g: int, k: int, sides: int, free: int, until: int
) -> int:
    """Form groups g, g + 1, ... while at least `until` records are free; give the next number.

    One around r, the record farthest from the centroid; with two sides, then one around s, farthest from r.
    """
    centroid, members = np.empty(X.shape[1]), np.empty(k, np.int64)
    spent = 0
    while free >= until:
        exact_sum.mean(tiles.digits, free, centroid)
        origin = centroid
        for side in range(sides):  # one call in the text of each kernel: compilation takes long enough
            before = tiles.opened[0]
            members[0] = farthest(tiles, origin)
            if side == 0:  # the centroid walks away from the anchor: as much work as a new one costs, and it gets one
                spent += tiles.opened[0] - before
                if spent > 2 * tiles.filled.shape[0]:
                    anchor_at(tiles, centroid)
                    spent = 0
            take_group(tiles, X, members)
            for x in members:
                labels[x] = g
            origin = X[members[0]]
            g += 1
        free -= sides * k
    return g


@kernel
def groups_in_turn(
    tiles: Tiles, X: Floats, order: Ints, labels: Ints, turn: Turn, k: int, gamma: float, until: int
) -> Turn:
    """Form groups around the free ones of the records order[turn.at], ... while at least `until` are free.

    They grow by the rule of V-MDAV, unless gamma is 0.
    """
    at, g, free = turn.at, turn.group, turn.free
    members = np.empty(2 * k - 1 if gamma > 0.0 else k, np.int64)
    while free >= until and at < order.shape[0]:
        members[0] = order[at]
        at += 1
        if tiles.place[members[0]] >= 0:
            size = take_growing_group(tiles, X, members, k, gamma)
            for i in range(size):
                labels[members[i]] = g
            g += 1
            free -= size
    return Turn(at, g, free)
