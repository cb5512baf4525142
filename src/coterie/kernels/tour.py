"""A short path through all records: 2-opt and Or-opt with neighbour lists, and kicks out of local optima.

The path is held as a closed tour over the records and one place more, HOME, at no distance from any of them: where
the tour passes HOME, the path ends and begins. Every change is made of flips: two edges ab and cd become ac and bd by
reversing what lies between, or the rest if that is shorter. A flip undoes itself, so a list of flips is enough to go
back.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel
from .tiles import Tiles, nearest, remove

SEGMENT = 3  # the longest that Or-opt moves
_FLIP, _SHIFT = 1, 2  # kinds of moves
_GAIN = 1e-11  # of an edge: a gain below it may be rounding, and the search might run in circles
_GOLDEN, _PLASTIC = 0.6180339887498949, 0.7548776662466927  # multiples of these, modulo 1, spread evenly

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Tour(NamedTuple):
    """The state of the search: n records, N = n + 1 places; record n is HOME."""

    X: Floats  # (n, p)
    near: Ints  # (n, m): the records nearest to each, nearest first
    away: Floats  # (n, m): the lengths of these edges
    at: Ints  # (N,): the records in the order of the tour
    place: Ints  # (N,): where each stands in it
    queue: Ints  # (N,): a ring of the records to be looked at
    queued: NDArray[np.bool_]  # (N,): whether a record is in it
    flips: Ints  # (f, 2): the latest flips: the first and the last place reversed
    counts: Ints  # (3,): the front of the queue, its length, the number of flips
    move: Ints  # (7,): the best move found so far: its kind, and the records it takes


class _Ring(NamedTuple):
    """What a look for moves needs of the tour: passing all of it made the search an eighth slower."""

    X: Floats
    at: Ints
    place: Ints
    move: Ints


@kernel
def length(X: Floats, a: int, b: int) -> float:
    """Give the length of edge ab."""
    if a == X.shape[0] or b == X.shape[0]:
        return 0.0
    d2 = 0.0
    for j in range(X.shape[1]):
        step = X[a, j] - X[b, j]
        d2 += step * step
    return math.sqrt(d2)


@kernel
def _after(at: Ints, place: Ints, a: int, way: int) -> int:
    """Give the record next to a: the one after it (way 1) or before it (-1)."""
    i = place[a] + way
    if i < 0:
        i += at.shape[0]
    elif i >= at.shape[0]:
        i = 0
    return int(at[i])


@kernel
def _push(tour: Tour, a: int) -> None:
    """Have record a looked at (again); HOME has no neighbours to look at."""
    queue, queued, counts = tour.queue, tour.queued, tour.counts
    if not queued[a] and a < tour.X.shape[0]:
        queued[a] = True
        queue[(counts[0] + counts[1]) % queue.shape[0]] = a
        counts[1] += 1


@kernel
def push_all(tour: Tour) -> None:
    """Have every record looked at, in the order of the tour."""
    for a in tour.at:
        _push(tour, a)


@kernel
def _reverse(at: Ints, place: Ints, i: int, j: int) -> None:
    """Reverse places i to j of the ring, or all others: the same tour, read from the other side."""
    big = at.shape[0]
    inside = (j - i) % big + 1
    if 2 * inside > big:
        i, j, inside = (j + 1) % big, (i - 1) % big, big - inside
    for _ in range(inside // 2):
        a, b = at[i], at[j]
        at[i], at[j] = b, a
        place[b], place[a] = i, j
        i = i + 1 if i + 1 < big else 0
        j = j - 1 if j > 0 else big - 1


@kernel
def _flip(tour: Tour, a: int, b: int, c: int, d: int) -> None:
    """Turn edges ab and cd, met in this order from either side, into ac and bd."""
    at, place = tour.at, tour.place
    forward = _after(at, place, a, 1) == b
    i, j = (place[b], place[c]) if forward else (place[c], place[b])
    _reverse(at, place, i, j)
    tour.flips[tour.counts[2], 0] = i
    tour.flips[tour.counts[2], 1] = j
    tour.counts[2] += 1
    _push(tour, a)
    _push(tour, b)
    _push(tour, c)
    _push(tour, d)


@kernel
def _shift(tour: Tour, p: int, s: int, e: int, q: int, u: int, v: int) -> None:
    """Move the segment s..e from between p and q to between u and v, s next to u."""
    at, place = tour.at, tour.place
    way = 1 if _after(at, place, p, 1) == s else -1
    if _after(at, place, u, way) == v:
        _flip(tour, p, s, u, v)
        _flip(tour, p, u, q, e)
        _flip(tour, u, e, s, v)
    else:
        _flip(tour, p, s, v, u)
        _flip(tour, p, v, q, e)


@kernel
def _span(at: Ints, place: Ints, a: int, b: int) -> int:
    """Give how many places it is from a to b, on the shorter side."""
    inside = int(abs(place[b] - place[a]))
    return min(inside, int(at.shape[0]) - inside)


@kernel
def _note(move: Ints, kind: int, p: int, s: int, e: int, q: int, u: int, v: int) -> None:
    """Write down the best move so far."""
    move[0], move[1], move[2], move[3], move[4], move[5], move[6] = kind, p, s, e, q, u, v


@kernel
def _from_here(ring: _Ring, a: int, b: int, c: int, way: int, g: float, best: float) -> float:
    """Note the best way to move a segment that begins at a, away from b, next to c; give the gain, or `best`."""
    X, at, place = ring.X, ring.at, ring.place
    end = a
    for _ in range(SEGMENT):  # b [a..end] f
        f = _after(at, place, end, -way)
        if end == c or f == b:
            break
        closed = g + length(X, end, f) - length(X, b, f)
        for side in (1, -1):
            x = _after(at, place, c, side)
            if x == end:
                continue
            gone = closed + length(X, c, x)
            if gone > best:
                gain = gone - length(X, end, x)
                if gain > best:
                    best = gain
                    _note(ring.move, _SHIFT, b, a, end, f, c, x)
        end = f
    return best


@kernel
def _from_there(ring: _Ring, a: int, b: int, c: int, g: float, best: float) -> float:
    """Note the best way to move a segment that begins at c to between a and b, c next to a; give the gain."""
    X, at, place = ring.X, ring.at, ring.place
    for side in (1, -1):
        y, end = _after(at, place, c, -side), c
        if y == a:
            continue
        opened = g + length(X, c, y)
        for _ in range(SEGMENT):  # y [c..end] z
            z = _after(at, place, end, side)
            if end in (a, b) or z in (b, y):
                break
            gone = opened + length(X, end, z)
            if gone > best:
                gain = gone - length(X, y, z) - length(X, end, b)
                if gain > best:
                    best = gain
                    _note(ring.move, _SHIFT, y, c, end, z, a, b)
            end = z
    return best


@kernel
def _improve(tour: Tour, a: int, reach: int) -> float:
    """Make the best move that gives record a a nearer neighbour than it has, and give the gain; 0 if none gains.

    Either a 2-opt move, or a segment that begins at a moves next to c, or one that begins at c moves next to a.
    """
    X, near, away, at, place, move = tour.X, tour.near, tour.away, tour.at, tour.place, tour.move
    ring = _Ring(X, at, place, move)
    best = 0.0
    for way in (1, -1):
        b = _after(at, place, a, way)
        ab = length(X, a, b)
        best = max(best, _GAIN * ab)
        for h in range(near.shape[1]):
            c = near[a, h]
            g = ab - away[a, h]
            if g <= 0.0:
                break
            if c == b or _span(at, place, a, c) > reach:
                continue
            d = _after(at, place, c, way)
            gone = g + length(X, c, d)
            if gone > best and gone - length(X, b, d) > best:
                best = gone - length(X, b, d)
                _note(move, _FLIP, a, b, c, d, a, a)
            best = _from_here(ring, a, b, c, way, g, best)
            best = _from_there(ring, a, b, c, g, best)
    kind = move[0]
    move[0] = 0
    if kind == _FLIP:
        _flip(tour, move[1], move[2], move[3], move[4])
    elif kind == _SHIFT:
        _shift(tour, move[1], move[2], move[3], move[4], move[5], move[6])
    return best if kind else 0.0


@kernel
def search(tour: Tour, reach: int) -> float:
    """Improve until the queue is empty or the list of flips full; give the gain. Longer reversals are not tried."""
    queue, queued, counts = tour.queue, tour.queued, tour.counts
    total = 0.0
    while counts[1] > 0 and counts[2] + 3 <= tour.flips.shape[0]:
        a = queue[counts[0]]
        counts[0] = (counts[0] + 1) % queue.shape[0]
        counts[1] -= 1
        queued[a] = False
        gain = _improve(tour, a, reach)
        if gain > 0.0:
            total += gain
            _push(tour, a)
    return total


@kernel
def kick(tour: Tour, first: int, stop: int, stride: int, most: int, reach: int) -> float:
    """Kicks first to stop - 1: swap two segments that follow one another, search nearby; undo all if nothing is gained.

    Kick t begins at record t * stride modulo n; how long the segments are, up to `most` each, is drawn evenly, and the
    same way every time. Gives the gain.
    """
    X, at, place, flips, counts = tour.X, tour.at, tour.place, tour.flips, tour.counts
    big = at.shape[0]
    total = 0.0
    for t in range(first, stop):
        counts[2] = 0
        i = place[t * stride % X.shape[0]]
        m1 = 1 + int((t * _GOLDEN) % 1.0 * most)
        m2 = 1 + int((t * _PLASTIC) % 1.0 * most)
        p, s, e, q = at[i], at[(i + 1) % big], at[(i + m1) % big], at[(i + m1 + 1) % big]
        u, v = at[(i + m1 + m2) % big], at[(i + m1 + m2 + 1) % big]
        gain = length(X, p, s) + length(X, e, q) + length(X, u, v)
        gain -= length(X, p, q) + length(X, u, s) + length(X, e, v)
        _shift(tour, p, s, e, q, u, v)
        gain += search(tour, reach)
        if gain > 0.0 and counts[1] == 0:
            total += gain
            continue
        while counts[1] > 0:  # the list was full
            tour.queued[tour.queue[counts[0]]] = False
            counts[0] = (counts[0] + 1) % big
            counts[1] -= 1
        for h in range(counts[2] - 1, -1, -1):
            _reverse(at, place, flips[h, 0], flips[h, 1])
    return total


@kernel
def walk(tiles: Tiles, X: Floats, left: Ints, order: Ints, first: int, stop: int) -> None:
    """order[i], for i = first to stop - 1: the record of X nearest to order[i - 1] among those left, which it leaves.

    The tiles hold the records X[left].
    """
    d2, next_ = np.empty(1), np.empty(1, np.int64)
    for i in range(first, stop):
        nearest(tiles, X[order[i - 1]], d2, next_)
        order[i] = left[next_[0]]
        remove(tiles, next_)
