"""MDAV in plain NumPy, as a careful user would write it: what the compiled version is compared with.

No matrix of all distances. The free records stand in the first places of running arrays; the hole that a taken record
leaves is filled from the end, so nothing is copied as a whole. Equal distances go to whichever record comes first in
these arrays, which may not be the lowest index: on data with ties the groups can differ from Coterie's.

Two ways to get distances: `ByColumn` sums squared differences, and is exact to rounding. `ByProduct` uses
|x|² - 2 x·q + |q|², a matrix product, which is faster but loses digits where records are far from the origin.
"""

from __future__ import annotations

import numpy as np


class ByColumn:
    """Records stored column by column; squared differences are summed one column after the other."""

    name = "by column"

    def __init__(self, X):
        self._columns = np.array(X.T, order="C")
        self._sum, self._step = np.empty((2, len(X)))

    def distances(self, q, m):
        """Squared distances of the first m records to q; overwritten by the next call."""
        total, step = self._sum[:m], self._step[:m]
        total[:] = 0.0
        for column, x in zip(self._columns, q, strict=True):
            np.subtract(column[:m], x, out=step)
            np.multiply(step, step, out=step)
            np.add(total, step, out=total)
        return total

    def move(self, source, target):
        self._columns[:, target] = self._columns[:, source]


class ByProduct:
    """Records stored row by row, with their squared lengths. |q|² is left out: it doesn't change the order."""

    name = "by product"

    def __init__(self, X):
        self._rows = X.copy()
        self._lengths = np.einsum("ij,ij->i", X, X)

    def distances(self, q, m):
        return self._lengths[:m] - self._rows[:m] @ (2.0 * q)

    def move(self, source, target):
        self._rows[target] = self._rows[source]
        self._lengths[target] = self._lengths[source]


def numpy_mdav(X, k, store=ByColumn):
    """MDAV; labels count the groups in the order in which they are built, as Coterie's do."""
    free = _Free(X, k, store(X))
    while free.m >= 3 * k:
        r = free.farthest(free.centroid())
        free.take_group(r)
        free.take_group(free.farthest(r))
    if free.m >= 2 * k:
        free.take_group(free.farthest(free.centroid()))
    return free.finish()


class _Free:
    def __init__(self, X, k, store):
        self.m = len(X)
        self._X, self._k, self._store = X, k, store
        self._record = np.arange(len(X))
        self._sum = X.sum(axis=0)
        self._labels = np.empty(len(X), np.int64)
        self._groups = 0

    def centroid(self):
        return self._sum / self.m

    def farthest(self, q):
        return self._X[self._record[self._store.distances(q, self.m).argmax()]]

    def take_group(self, r):
        places = np.argpartition(self._store.distances(r, self.m), self._k - 1)[: self._k]
        members = self._record[places]
        self._labels[members] = self._groups
        self._groups += 1
        self._sum -= self._X[members].sum(axis=0)
        self._close_ranks(places)

    def _close_ranks(self, places):
        """Move the last records into the places that became free."""
        self.m -= self._k
        holes = places[places < self.m]
        movers = np.setdiff1d(np.arange(self.m, self.m + self._k), places, assume_unique=True)
        self._store.move(movers, holes)
        self._record[holes] = self._record[movers]

    def finish(self):
        self._labels[self._record[: self.m]] = self._groups
        return self._labels
