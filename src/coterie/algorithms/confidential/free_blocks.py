"""Free records in blocks of their confidential values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...kernels import blocks, scan, tiles
from ...kernels.tree import NOBODY
from ..free import FewRecords, FreeRecords, may_be_scanned

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class FreeBlocks(FreeRecords):
    """The free records of X, each block of them in tiles of its own, so that a block can be searched by itself.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    block : ndarray of int64, of shape (n,)
        The block of each record: 0, 1, ...
    """

    def __init__(self, X: Floats, block: Ints) -> None:
        self._block = block
        super().__init__(X, keep_centroid=True)

    def take_some_of_each(self, r: int, quotas: Ints) -> Ints:
        """Take r and the free records nearest to it, so that each block gives its quota."""
        members = np.empty(quotas.sum(), np.int64)
        members[0] = r
        blocks.some_of_each(self.tiles, self.X, self._starts, quotas, members)
        self.take(members)
        return members

    def nearest_others(self, r: int, m: int) -> Ints:
        """The m free records nearest to r, nearest first, other than r."""
        out = np.empty(m, np.int64)
        blocks.nearest_others(self.tiles, self.X, r, out)
        return out

    def nearest_of_each(self, r: int, last: int) -> Ints:
        """Nearest to r first, the record of each block that is nearest to it of those farther away than `last`."""
        found, d2 = np.empty(len(self._starts) - 1, np.int64), np.empty(len(self._starts) - 1)
        blocks.nearest_of_each(self.tiles, self.X, self._starts, r, last, found, d2)
        return _nearest_first(found, d2)

    def _fill(self) -> None:
        """Put the free records into new tiles, block after block."""
        self._order = self._order[np.argsort(self._block[self._order], kind="stable")]
        sizes = np.bincount(self._block[self._order], minlength=int(self._block.max()) + 1)
        needed = np.maximum(1, -(-sizes // tiles.SIZE))
        self._starts = np.concatenate(([0], np.cumsum(needed)))
        t = int(self._starts[-1])
        within = (np.arange(t) - np.repeat(self._starts[:-1], needed)) * tiles.SIZE
        self._put(np.append(within + np.repeat(np.cumsum(sizes) - sizes, needed), self._free))


class FewBlocks(FewRecords):
    """The free records of a small table, under the questions for blocks: scans answer them."""

    def __init__(self, X: Floats, block: Ints) -> None:
        super().__init__(X)
        self._block = block
        self._count = int(block.max()) + 1

    def nearest_others(self, r: int, m: int) -> Ints:
        """The m free records nearest to r, nearest first, other than r."""
        near_d2, near = np.empty(m + 1), np.empty(m + 1, np.int64)
        scan.nearest(self.few, self.X[r], near_d2, near)
        others: Ints = near[near != r][:m]  # r is one of them, unless so many others lie on it
        return others

    def nearest_of_each(self, r: int, last: int) -> Ints:
        """Nearest to r first, the record of each block that is nearest to it of those farther away than `last`."""
        found, d2 = np.empty(self._count, np.int64), np.empty(self._count)
        scan.nearest_of_each(self.few, self.X, self._block, r, last, found, d2)
        return _nearest_first(found, d2)


def _nearest_first(found: Ints, d2: Floats) -> Ints:
    """Those found, by distance and then index."""
    return found[np.lexsort((found, d2))][: np.count_nonzero(found != NOBODY)]


def free_blocks(X: Floats, block: Ints, scans: int) -> FewBlocks | FreeBlocks:
    """All records of X in blocks, in tiles or for so many scans, whichever takes less time."""
    return FewBlocks(X, block) if may_be_scanned(X, scans, blocks.nearest_others) else FreeBlocks(X, block)
