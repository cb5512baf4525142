"""Free records in blocks of their confidential values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...kernels import quotas as blocks
from ...kernels import swaps, tiles
from ...kernels.watch import Watch
from ..free import FreeRecords

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

    def take_guarded_group(self, r: int, size: int, watch: Watch, near: int) -> Ints:
        """Take r and the free records nearest to it, exchanged until the guards hold: see `k_first`."""
        members = np.empty(size, np.int64)
        members[0] = r
        swaps.guarded_group(self.tiles, self.X, self._starts, watch, members, min(near, len(self) - size))
        self.take(members)
        return members

    def _fill(self) -> None:
        """Put the free records into new tiles, block after block."""
        self._order = self._order[np.argsort(self._block[self._order], kind="stable")]
        sizes = np.bincount(self._block[self._order], minlength=int(self._block.max()) + 1)
        needed = np.maximum(1, -(-sizes // tiles.SIZE))
        self._starts = np.concatenate(([0], np.cumsum(needed)))
        t = int(self._starts[-1])
        within = (np.arange(t) - np.repeat(self._starts[:-1], needed)) * tiles.SIZE
        self._put(np.append(within + np.repeat(np.cumsum(sizes) - sizes, needed), self._free))
