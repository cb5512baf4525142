"""MDAV*: before a new group is opened, it is weighed against extending an old one.

Source: Thaeter, Reischuk (2018), Improving anonymization clustering, section 3, doi 10.18420/sicherheit2018_05.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels import growth
from ..kernels.tiles import SIZE
from ..kernels.tree import NOBODY
from .free import SMALL, FewRecords, FreeRecords, levels
from .groups import centroid, farthest_first, squared_distances

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def mdav_star(X: Floats, k: int) -> Ints:
    """Each new origin r either opens a group or joins the one whose SSE grows least, whichever costs less a record."""
    if len(X) <= SMALL:
        return _step_by_step(X, k)
    free = FreeRecords(X)
    region = free.tiles.place // (SIZE * k)  # about as many groups will be founded there as a tile holds
    shelf = empty_shelf(int(region.max()) + 1, len(X) // k, X.shape[1])
    groups = no_groups(region, len(X) // k)
    order = farthest_first(X)
    at = g = 0
    while len(free) >= k:  # the same steps, compiled as one
        at, g = free.open_or_extend_in_turn(order, at, k, shelf, groups, g)
    growth.join_closest(X, shelf, groups, k, free.remaining())
    return groups.labels


def _step_by_step(X: Floats, k: int) -> Ints:
    free = FewRecords(X)
    groups = _Groups(X, k)
    for r in farthest_first(X):  # steps 1 and 2
        if len(free) < k:
            break
        if not free.is_free(r):
            continue
        new = np.append(r, free.nearest(r, k - 1)[0])
        extend, growth = -1, np.inf
        if len(groups) and len(free) > k:  # step 3
            extend, growth = groups.closest(r)
            around_y = [x for x in free.nearest(new[1], k)[0] if x != r][: k - 1]
            virtual = np.append(new[1], around_y)
            if not (growth + _sse(X, virtual)) / (k + 1) < _sse(X, new) / k:
                extend = -1
        new = new if extend < 0 else new[:1]  # step 4
        groups.join(extend if extend >= 0 else len(groups), new)
        free.take(new)
    for x in free.remaining():  # step 5
        groups.join(groups.closest(x)[0], np.array([x]))
    return groups.labels


def _sse(X: Floats, members: Ints) -> float:
    """The sum of squared distances to the centroid, member after member."""
    inside = X[members]
    return float(sum(squared_distances(inside, centroid(inside)).tolist()))


class _Groups:
    """The groups built so far, with their centroids."""

    def __init__(self, X: Floats, k: int) -> None:
        self._X = X
        self.labels = np.full(len(X), -1)
        self._centroids = np.empty((len(X) // k, X.shape[1]))
        self._weights = np.empty(len(X) // k)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def closest(self, x: int) -> tuple[int, float]:
        """The group whose SSE would grow least by record x, and that growth: for m records, m / (m + 1) of d2."""
        g = self._count
        growth = squared_distances(self._centroids[:g], self._X[x]) * self._weights[:g]
        best = int(np.argmin(growth))
        return best, growth[best]

    def join(self, g: int, records: Ints) -> None:
        """Put records into group g, which may be a new one."""
        self._count = max(self._count, g + 1)
        self.labels[records] = g
        members = np.flatnonzero(self.labels == g)
        self._centroids[g] = centroid(self._X[members])
        self._weights[g] = len(members) / (len(members) + 1.0)


def no_groups(region: Ints, most: int) -> growth.Groups:
    """Room for so many groups, without a member yet."""
    n = len(region)
    return growth.Groups(
        labels=np.full(n, -1),
        latest=np.full(most, -1),
        before=np.empty(n, np.int64),
        size=np.zeros(most, np.int64),
        cell=np.empty(most, np.int64),
        place=np.full(most, -1),
        region=region,
    )


def empty_shelf(cells: int, groups: int, p: int) -> growth.Shelf:
    """A shelf with so many cells and room for so many groups."""
    tiles = cells + groups // SIZE  # one in each cell may be partly filled
    starts = levels(cells)
    above = int(starts[-1]) - cells
    return growth.Shelf(
        values=np.empty((tiles, p, SIZE)),
        group=np.empty((tiles, SIZE), np.int64),
        weight=np.empty((tiles, SIZE)),
        filled=np.zeros(tiles, np.int64),
        after=np.empty(tiles, np.int64),
        head=np.full(cells, -1),
        used=np.zeros(1, np.int64),
        box=np.repeat([np.inf, -np.inf], p * cells).reshape(2, p, cells),
        upper=np.repeat([np.inf, -np.inf], p * above).reshape(2, p, above),
        oldest=np.full(cells + above, NOBODY),
        starts=starts,
        bound=np.empty(cells + above),
        batch=np.empty(cells + 1, np.int64),
    )
