"""Microaggregation along a path: put the records in an order, then cut it at the best places.

Source: Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz, Sebé (2006), Efficient multivariate data-oriented
microaggregation, VLDB Journal 15, doi 10.1007/s00778-006-0007-0 (multivariate Hansen-Mukherjee, MHM, over the path
from nearest point to next, NPN). A travelling salesman's tour as the order: Heaton, Mukherjee (2012).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels import path_cut as cut
from ..kernels import tour
from ..progress import done
from .free import FreeRecords
from .groups import farthest_first
from .neighbours import Neighbours

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BITS = 52  # a column's, in the key of the curve
_NEAR = 8  # neighbours of each record that the tour may gain an edge to
_ROUNDS = 5  # of kicks
_KICKED = 200_000_000  # records: kicks in a round times n, since a kick takes O(n) at worst
_FEW = 8  # records that need no kicks
_MOST = 30  # records in a segment that a kick moves
_REACH = 50_000  # records that one move may reverse
_AT_ONCE = 2048  # records, or flips of the tour, between two chances to interrupt
_WORK = 20_000_000  # steps of the cut between two


def path(X: Floats, k: int, *, order: str) -> Ints:
    """Order the records by "tour", "nearest" or "curve", and cut the order into groups of k to 2k - 1 at least SSE.

    The tour is cut several times while it gets shorter, and the best cut is kept: a shorter tour is mostly better, but
    not always.
    """
    cuts = (best_cut(X, found, k) for found in orders(X, order))
    return min(cuts, key=lambda c: c.sse).labels


class Cut(NamedTuple):
    """Groups of records that follow one another in an order, numbered along it."""

    labels: Ints
    sse: float


def best_cut(X: Floats, order: Ints, k: int) -> Cut:
    """Cut an order of the records into groups of k to 2k - 1 with the least SSE, in O(n k p) time and O(n) memory.

    Where cuts are equally good, the last group is the smaller one, then the last but one, and so on.
    """
    n = len(order)
    total, last = np.full(2 * k, np.inf), np.zeros(n + 1, np.int64)
    total[0] = sse = 0.0
    at_once = max(1, _WORK // (2 * k * X.shape[1]))
    for j in range(1, n + 1, at_once):
        sse += cut.best_last_groups(X, order, k, total, last, j, min(n + 1, j + at_once))
    ends = [n]
    while ends[-1] > 0:
        ends.append(ends[-1] - int(last[ends[-1]]))
    labels = np.empty(n, np.int64)
    labels[order] = np.repeat(np.arange(len(ends) - 1), -np.diff(ends)[::-1])
    return Cut(labels, sse + float(total[n % (2 * k)]))


def orders(X: Floats, order: str) -> Iterator[Ints]:
    """The order, or for "tour" shorter and shorter ones. Equal records follow one another, the lowest index first."""
    first, point = _points(X)
    done(len(X) - len(first))
    points = X[first]
    if order == "nearest":
        found: Iterator[Ints] = iter([_nearest(points, int(point[farthest_first(X)[0]]))])
    elif order == "curve":
        found = iter([_curve(points)])
        done(len(points))
    else:
        found = _tours(points)
    for some in found:
        place = np.empty_like(some)
        place[some] = np.arange(len(some))
        yield np.argsort(place[point], kind="stable")


def _points(X: Floats) -> tuple[Ints, Ints]:
    """The first record of each point, in the order of the records, and the number of each record's point."""
    order = np.lexsort(X.T[::-1])
    other = np.ones(len(X), bool)
    for a in range(1, len(X), _AT_ONCE):  # in blocks: no copy of X
        some = order[a - 1 : a + _AT_ONCE]
        other[a : a + _AT_ONCE] = (X[some[1:]] != X[some[:-1]]).any(axis=1)
    lowest = order[other]  # the sort is stable
    number = np.empty(len(lowest), np.int64)
    number[np.argsort(lowest)] = np.arange(len(lowest))
    point = np.empty(len(X), np.int64)
    point[order] = number[np.cumsum(other) - 1]
    return np.sort(lowest), point


def _nearest(X: Floats, start: int) -> Ints:
    """From the start always to the nearest record not yet visited; of equally near ones the lowest index."""
    order = np.full(len(X), start)
    at, left = 1, np.delete(np.arange(len(X)), start)
    while len(left) > 0:
        tiles = FreeRecords(X[left]).tiles
        stop = at + -(-len(left) // 5)  # a fifth of the places is empty then: the ranks close
        while at < stop:
            until = min(stop, at + _AT_ONCE)
            tour.walk(tiles, X, left, order, at, until)
            done(until - at)
            at = until
        left = left[tiles.place >= 0]
    done(1)
    return order


def _curve(X: Floats) -> Ints:
    """Along a Hilbert curve through cubes, 2**51 to 2**52 of them side by side along the widest column's range.

    Records in the same cube by index.
    """
    low = X.min(axis=0)
    _, exponent = math.frexp(float((X.max(axis=0) - low).max()))
    cells = np.ldexp(X - low, _BITS - exponent).astype(np.int64)
    return np.argsort(hilbert_keys(np.ascontiguousarray(cells.T), _BITS), kind="stable")


def hilbert_keys(cells: Ints, bits: int) -> NDArray[np.bytes_]:
    """The places on a Hilbert curve of cells[column, record] < 2**bits, as byte strings in that order.

    J. Skilling (2004), Programming the Hilbert curve, doi 10.1063/1.1751381. `cells` is used up.
    """
    head = cells[0]
    for b in range(bits - 1, 0, -1):
        below = (1 << b) - 1
        for j, column in enumerate(cells):
            high = -((column >> b) & 1)  # all ones where the bit is set
            swap = (head ^ column) & below & ~high
            head ^= swap | (high & below)
            if j > 0:
                column ^= swap
    for j in range(1, len(cells)):
        cells[j] ^= cells[j - 1]
    turn = np.zeros_like(head)
    for b in range(bits - 1, 0, -1):
        turn ^= -((cells[-1] >> b) & 1) & ((1 << b) - 1)
    cells ^= turn
    levels = [np.packbits(((cells >> b) & 1).astype(np.uint8), axis=0).T for b in range(bits - 1, -1, -1)]
    keys = np.ascontiguousarray(np.hstack(levels))
    return keys.view(f"S{keys.shape[1]}")[:, 0]


def _tours(X: Floats) -> Iterator[Ints]:
    """Shorter and shorter paths: from the Hilbert curve by 2-opt and Or-opt, then by rounds of kicks.

    Each is a local optimum: none gets shorter by a 2-opt or Or-opt move that gives a record one of its 8 nearest for a
    farther neighbour, and reverses at most 50,000. The length is that of plain distances: with squares, the loss after
    the cut, over eight orders of the columns and k = 3, 5, 10, was about the same on Census, a bit higher on Tarragona,
    and 3 to 10 % higher on EIA.
    """
    n, curve = len(X), _curve(X)
    if n == 1:
        done(1)
        yield curve
        return
    found = _Search(X[curve])  # records that lie close together stand close together in memory
    for r in range(_ROUNDS + 1):
        if r > 0:
            found.kick(r - 1)
        found.descend()
        done(n * (r + 1) // (_ROUNDS + 1) - n * r // (_ROUNDS + 1))
        yield curve[found.path()]


class _Search:
    """The search for a short path through records that all differ; it begins with the order in which they stand."""

    def __init__(self, X: Floats) -> None:
        n = len(X)
        near = Neighbours(X).nearest(min(_NEAR, n - 1))
        self.tour = tour.Tour(
            X=X,
            near=near.records,
            away=np.sqrt(near.d2),
            at=np.arange(n + 1),
            place=np.arange(n + 1),
            queue=np.empty(n + 1, np.int64),
            queued=np.zeros(n + 1, bool),
            flips=np.empty((_AT_ONCE, 2), np.int64),
            counts=np.zeros(3, np.int64),
            move=np.zeros(7, np.int64),
        )

    def descend(self) -> None:
        """Improve until no move gains."""
        gain = 1.0
        while gain > 0.0:
            tour.push_all(self.tour)
            gain = 0.0
            while self.tour.counts[1] > 0:
                self.tour.counts[2] = 0
                gain += tour.search(self.tour, _REACH)

    def kick(self, r: int) -> None:
        """Kick, in round r: at every record, or at so many, evenly spread, that the time stays within bounds."""
        n = len(self.tour.X)
        if n < _FEW:
            return
        kicks = min(n, _KICKED // n + 1)
        for t in range(r * kicks, r * kicks + kicks, _AT_ONCE):
            stop = min(t + _AT_ONCE, r * kicks + kicks)
            tour.kick(self.tour, t, stop, n // kicks, min(_MOST, (n - 1) // 2), _REACH)

    def path(self) -> Ints:
        """The path as it is now."""
        home = int(self.tour.place[-1])
        return np.concatenate([self.tour.at[home + 1 :], self.tour.at[:home]])
