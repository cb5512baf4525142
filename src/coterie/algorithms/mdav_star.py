"""MDAV*: before a new group is opened, it is weighed against extending an old one.

Source: Thaeter, Reischuk (2018), Improving anonymization clustering, section 3, doi 10.18420/sicherheit2018_05.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels import exact_sum, growth
from ..kernels.tiles import SIZE
from .free import FreeRecords, close_together
from .groups import farthest_first

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def mdav_star(X: Floats, k: int) -> Ints:
    """Each new origin r either opens a group or joins the one whose SSE grows least, whichever costs less a record."""
    free = FreeRecords(X)
    groups = _Groups(X, k)
    for r in farthest_first(X):  # steps 1 and 2
        if len(free) < k:
            break
        if not free.is_free(r):
            continue
        new, extend = groups.open_or_extend(free, r)  # steps 3 and 4
        if extend >= 0:
            groups.join(extend, r)
            free.take(new[:1])
        else:
            groups.open(new)
            free.take(new)
    for x in free.remaining():  # step 5
        groups.join(groups.closest(x), x)
    return groups.labels


class _Groups:
    """The groups built so far, with their centroids, ready for the question which of them a record should join.

    The centroids stand in tiles. New ones join the last tile; now and then all are put close together again.
    """

    def __init__(self, X: Floats, k: int) -> None:
        self._X, self._k = X, k
        self.labels = np.full(len(X), -1, np.int64)
        self._members: list[Ints] = []
        self._centroids = np.empty((len(X) // k, X.shape[1]))
        self._sizes = np.empty(len(X) // k, np.int64)
        self._place = np.empty(len(X) // k, np.int64)
        self._digits = np.empty((X.shape[1], exact_sum.DIGITS), np.int64)
        self._tidy()

    def open_or_extend(self, free: FreeRecords, r: int) -> tuple[Ints, int]:
        """The group that r would open, and the one it should join instead (-1: none)."""
        new = np.empty(self._k, np.int64)
        enough = len(self._members) > 0 and len(free) > self._k
        return new, growth.open_or_extend(free.tiles, self._X, r, self._shelf, enough, new)

    def closest(self, x: int) -> int:
        """The group whose SSE would grow least by record x."""
        return growth.least_growth(self._shelf, self._k, self._X[x])[0]

    def open(self, members: Ints) -> None:
        """Make a new group."""
        g = len(self._members)
        self._members.append(members)
        self._place[g] = g
        if g == self._room:
            self._tidy()
        self._update(g)

    def join(self, g: int, x: int) -> None:
        """Put record x into group g."""
        self._members[g] = np.append(self._members[g], x)
        self._update(g)

    def _update(self, g: int) -> None:
        members, centroid = self._members[g], self._centroids[g]
        growth.centroid_of(self._X, members, self._digits, centroid)
        self._sizes[g] = len(members)
        growth.put(self._shelf, self._place[g], g, centroid, len(members))
        self.labels[members] = g

    def _tidy(self) -> None:
        """Build the shelf anew, with centroids in the same tile close together and room for a quarter more groups."""
        settled = max(0, len(self._members) - 1)  # the newest has no centroid yet
        tiles = -(-(settled + settled // 4 + 1) // SIZE)
        self._room = tiles * SIZE
        p = self._X.shape[1]
        self._shelf = growth.Shelf(
            values=np.empty((tiles, p, SIZE)),
            group=np.empty((tiles, SIZE), np.int64),
            weight=np.empty((tiles, SIZE)),
            filled=np.zeros(tiles, np.int64),
            box=np.repeat([np.inf, -np.inf], p * tiles).reshape(2, p, tiles),
        )
        order = close_together(self._centroids[:settled], np.arange(settled))
        self._place[order] = np.arange(settled)
        growth.put_all(self._shelf, order, self._centroids, self._sizes)
