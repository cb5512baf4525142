"""Neighbours of records, whatever group they are in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels import forest, mst, neighbours, tiles
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

    A question bounds every tile, O(n p / 64), and opens those that matter: few in low or clustered dimension.
    """

    def __init__(self, X: Floats) -> None:
        self._X = X
        self._tiles = FreeRecords(X).tiles
        inside = np.arange(tiles.SIZE) < self._tiles.filled[:, None]
        self._first = np.where(inside, self._tiles.record, tiles.NOBODY).min(axis=1)
        self._tile = self._tiles.place // tiles.SIZE
        self._order = np.argsort(self._tiles.place)  # records that lie close together ask one after the other

    def nearest(self, m: int) -> Nearest:
        """The m < n records nearest to each, other than itself."""
        n = len(self._X)
        out = Nearest(np.empty((n, m), np.int64), np.empty((n, m)))
        for a in range(0, n, _AT_ONCE):
            neighbours.nearest_of_each(self._tiles, self._X, self._order[a : a + _AT_ONCE], out.d2, out.records)
        return out

    def grow_forest(self, k: int, order: Ints, growing: forest.Growing) -> None:
        """The procedure FOREST of mu-approx, over these records in turn."""
        nowhere = np.full(len(self._tiles.filled), -1)
        forest.grow(self._tiles, self._X, k, order, nowhere, self._first, growing)

    def shortest_edges(self, nearest: Nearest, part: Ints, shortest: mst.Shortest) -> None:
        """The shortest edge from each part to another, as in a round of Borůvka's."""
        whole = self._whole(part)
        for a in range(0, len(part), _AT_ONCE):
            records = self._order[a : a + _AT_ONCE]
            mst.shortest_edges(
                self._tiles, self._X, records, nearest.records, nearest.d2, part, whole, self._first, shortest
            )

    def _whole(self, part: Ints) -> Ints:
        """For each tile, the part of all its records; -1 where they are of several."""
        t = len(self._tiles.filled)
        low, high = np.full(t, tiles.NOBODY), np.full(t, -1)
        np.minimum.at(low, self._tile, part)
        np.maximum.at(high, self._tile, part)
        return np.where(low == high, low, -1)
