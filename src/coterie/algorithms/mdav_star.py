"""MDAV*: before a new group is opened, it is weighed against extending an old one.

Source: Thaeter, Reischuk (2018), Improving anonymization clustering, section 3, doi 10.18420/sicherheit2018_05.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels import growth
from ..kernels import scan as few
from ..kernels.tiles import SIZE
from ..kernels.tree import NOBODY
from .free import FewRecords, free_records, levels
from .groups import farthest_first

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def mdav_star(X: Floats, k: int) -> Ints:
    """Each new origin r either opens a group or joins the one whose SSE grows least, whichever costs less a record."""
    free = free_records(X, len(X) // k, tiled=growth.open_or_extend_in_turn)
    if isinstance(free, FewRecords):
        return _scanned(free, k)
    region = free.tiles.place // (SIZE * k)  # about as many groups will be founded there as a tile holds
    shelf = empty_shelf(int(region.max()) + 1, len(X) // k, X.shape[1], free.tiles.scale)
    groups = no_groups(region, len(X) // k)
    order = farthest_first(X)
    at = g = 0
    while len(free) >= k:  # the same steps, compiled as one
        at, g = free.open_or_extend_in_turn(order, at, k, shelf, groups, g)
    growth.join_closest(X, shelf, groups, k, free.remaining())
    return groups.labels


def _scanned(free: FewRecords, k: int) -> Ints:
    X, most = free.X, len(free) // k
    labels = np.full(len(X), -1)
    groups = few.Centroids(np.empty((X.shape[1], most)), np.empty(most), np.empty(most), np.zeros(1, np.int64))
    order, at = farthest_first(X), 0
    while len(free) >= k:
        at = free.open_or_extend_in_turn(order, at, k, labels, groups)
    few.join_closest(X, labels, groups, free.remaining())
    return labels


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


def empty_shelf(cells: int, groups: int, p: int, scale: float) -> growth.Shelf:
    """A shelf with so many cells and room for so many groups."""
    tiles = cells + groups // SIZE  # one in each cell may be partly filled
    starts = levels(cells)
    above = int(starts[-1]) - cells
    return growth.Shelf(
        values=np.empty((tiles, p, SIZE)),
        group=np.empty((tiles, SIZE), np.int64),
        weight=np.empty((tiles, SIZE)),
        shadow=np.full((tiles, p, SIZE), np.inf, np.float32),
        middle=np.empty((tiles, p)),
        radius=np.zeros(tiles),
        scale=scale,
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
