"""Neighbours of records, whatever group they are in."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels import forest, mst, tiles, tree
from ..kernels import nearest as neighbours
from .free import FreeRecords

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_AT_ONCE = 4096  # records between two chances to interrupt


class Nearest(NamedTuple):
    """The nearest records of each, nearest first; equally near ones by index."""

    records: Ints  # (n, m)
    d2: Floats  # (n, m): squared distances


class Neighbours:
    """Exact questions about the neighbours of records among all records, in O(n p) memory.

    A question opens the tiles that matter: few in low or clustered dimension, all of them in the worst case.
    """

    def __init__(self, X: Floats) -> None:
        self._X = X
        self._tiles = FreeRecords(X).tiles
        self._tile = self._tiles.place // tiles.SIZE
        self._order = np.argsort(self._tiles.place)  # records that lie close together ask one after the other

    def nearest(self, m: int) -> Nearest:
        """The m < n records nearest to each, other than itself."""
        n, t = len(self._X), len(self._tiles.filled)
        out = Nearest(np.empty((n, m), np.int64), np.empty((n, m)))
        step = _AT_ONCE // tiles.SIZE
        for a in range(0, t, step):
            neighbours.nearest_of_tiles(self._tiles, self._X, a, min(t, a + step), out.d2, out.records)
        return out

    def grow_forest(self, k: int, order: Ints, growing: forest.Growing) -> None:
        """The procedure FOREST of mu-approx, over these records in turn."""
        nowhere = np.full(len(self._tiles.tree.lowest), -1)
        forest.grow(self._tiles, self._X, k, order, nowhere, growing)

    def shortest_edges(self, nearest: Nearest, part: Ints, shortest: mst.Shortest) -> None:
        """The shortest edge from each part but the largest to another, as in a round of Borůvka's.

        All parts are joined all the same, and most records in the midst of a large one would look far for an edge.
        """
        whole = self._whole(part)
        asking = self._order[part[self._order] != np.bincount(part).argmax()]
        for a in range(0, len(asking), _AT_ONCE):
            records = asking[a : a + _AT_ONCE]
            mst.shortest_edges(self._tiles, self._X, records, nearest.records, nearest.d2, part, whole, shortest)

    def _whole(self, part: Ints) -> Ints:
        """For each tile and each node above, the part of all its records; -1 where they are of several."""
        starts = self._tiles.tree.starts
        whole = np.empty(starts[-1], np.int64)
        values, inside = part, self._tile
        for a, b in pairwise(starts):
            low, high = np.full(b - a, tree.NOBODY), np.full(b - a, -1)
            np.minimum.at(low, inside, values)
            np.maximum.at(high, inside, values)
            whole[a:b] = np.where(low == high, low, -1)
            values, inside = whole[a:b], np.arange(b - a) // tree.FAN
        return whole
