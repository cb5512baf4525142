"""The records that no group has taken yet, under the questions that the methods ask of them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..kernels import exact_sum, mdav, tiles
from ..progress import done

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class FreeRecords:
    """The free records of X.

    Every answer is exact and equal distances go to the lowest index, so a method built on these questions gives
    the partition of its literal version. Whatever answers them (tiles today) can change behind this class.

    Costs, with n free records in p columns: a question looks at every tile's bounds, O(n p / 64), and opens the tiles
    that the bounds cannot rule out: few in low or clustered dimension, all of them, O(n p), in the worst case.
    Memory is O(n p).

    Parameters
    ----------
    X : ndarray of shape (n, p)
    keep_centroid : bool
        Whether `centroid` will be asked for; its sums are kept only then.
    """

    def __init__(self, X: Floats, *, keep_centroid: bool = False) -> None:
        self.X = X
        self._free = len(X)
        self._digits = np.zeros((X.shape[1] if keep_centroid else 0, exact_sum.DIGITS), np.int64)
        if keep_centroid:
            exact_sum.add_rows(self._digits, X)
        self._order = close_together(X, np.arange(len(X)))
        extent = float(np.max(X.max(axis=0) - X.min(axis=0)))
        self._scale = math.ldexp(1.0, max(-1000, min(1000, -math.frexp(extent)[1])))
        self._fill()

    def __len__(self) -> int:
        return self._free

    def is_free(self, record: int) -> bool:
        """Whether no group has taken this record."""
        return bool(self.tiles.place[record] >= 0)

    def remaining(self) -> Ints:
        """The free records, in order."""
        return np.flatnonzero(self.tiles.place >= 0)

    def centroid(self) -> Floats:
        """The mean of the free records: each column's exact sum, rounded once, over their number."""
        out = np.empty(self.X.shape[1])
        exact_sum.mean(self._digits, self._free, out)
        return out

    def farthest(self, point: Floats) -> int:
        """The free record farthest from a point."""
        return tiles.farthest(self.tiles, point)

    def farthest_pair(self) -> int:
        """The lowest record r at an end of a longest pair of free records; its partner is `farthest(X[r])`."""
        outermost = np.argsort(-self.tiles.box[1, -2])
        return tiles.farthest_pair(self.tiles, outermost)

    def take(self, records: Ints) -> None:
        """Take records out: they are free no longer."""
        tiles.remove(self.tiles, records)
        self._gone(len(records))

    def take_group(self, r: int, k: int) -> Ints:
        """Take r and the k - 1 free records nearest to it."""
        members = np.empty(k, np.int64)
        members[0] = r
        tiles.take_group(self.tiles, self.X, members)
        self._gone(k)
        return members

    def take_pairs_of_groups(self, k: int, labels: Ints, g: int) -> int:
        """Take groups g, g + 1, ... by the rule of MDAV, while at least 3k are free; give the next group's number."""
        until = max(3 * k, self._full)
        after = mdav.pairs_of_groups(self.tiles, self.X, labels, g, k, self._free, until)
        self._gone(k * (after - g))
        return after

    def take_growing_group(self, r: int, k: int, gamma: float) -> Ints:
        """Take r, the k - 1 free records nearest to it, and up to k - 1 more by the rule of V-MDAV."""
        members = np.empty(2 * k - 1, np.int64)
        members[0] = r
        size = tiles.take_growing_group(self.tiles, self.X, members, k, gamma)
        self._gone(size)
        return members[:size]

    def _gone(self, m: int) -> None:
        """Keep the books after m records have been taken."""
        self._free -= m
        if self._free < self._full:
            self._order = self._order[self.tiles.place[self._order] >= 0]
            self._fill()
        done(m)

    def _fill(self) -> None:
        """Put the free records, in their order, into new tiles."""
        p = self.X.shape[1]
        self._full = 4 * self._free // 5  # below it, a fifth of the places is empty: the ranks close
        starts = np.append(np.arange(0, max(1, self._free), tiles.SIZE), self._free)
        t = len(starts) - 1  # one empty tile where nobody is left
        self.tiles = tiles.Tiles(
            values=np.empty((t, p + 2, tiles.SIZE)),
            record=np.empty((t, tiles.SIZE), np.int64),
            filled=np.empty(t, np.int64),
            box=np.empty((2, p + 2, t)),
            place=np.full(len(self.X), -1),
            anchor=self.X[self._order].mean(axis=0) if self._free else np.zeros(p),
            centre=np.empty((p, t)),
            shadow=np.empty((t, p, tiles.SIZE), np.float32),
            scale=self._scale,
            digits=self._digits,
        )
        tiles.fill(self.tiles, self.X, self._order, starts)


def close_together(X: Floats, records: Ints) -> Ints:
    """Order records so that every tile's worth of them lies close together.

    Halves the set again and again at the median of its widest column. This decides only how fast the answers
    are, so a sample is enough to tell which column is widest.
    """
    order = records.copy()
    stack = [(0, len(order))]
    while stack:
        a, b = stack.pop()
        if b - a <= tiles.SIZE:
            continue
        part = order[a:b]
        sample = X[part[:: max(1, (b - a) // 256)]]
        widest = np.argmax(sample.max(axis=0) - sample.min(axis=0))
        middle = tiles.SIZE * (-(-(b - a) // tiles.SIZE) // 2)
        order[a:b] = part[np.argpartition(X[part, widest], middle)]
        stack += [(a, a + middle), (a + middle, b)]
    return order
