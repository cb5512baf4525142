"""k-anonymity first: MDAV whose groups exchange members for others near by until their guards hold.

Source: Soria-Comas, Domingo-Ferrer, Sánchez, Martínez (2015), IEEE TKDE (k-anonymity first),
doi 10.1109/TKDE.2015.2435777.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...kernels import swaps
from ...kernels.watch import Watch
from .free_blocks import FewBlocks, FreeBlocks, free_blocks
from .guards import least_size
from .merge import merge

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEAR = 16  # so many records offer themselves to a group, whatever their values are
BLOCKS = 16  # then one of each block of values; both chosen on three columns of Census and a simulated table
_SCANS = 3  # questions for a group, about
ROOM = 0.65  # a group that could come no nearer to the table than so much of t hardly ever finds the records for it


def k_first(X: Floats, k: int, watch: Watch) -> Ints:
    """Groups around the record farthest from the centroid of what remains and the one farthest from that, in turn.

    A group that falls short of a guard looks at further free records, nearest to its seed first. Each replaces the
    member whose leaving makes the shortfall (see `merge`) least, if that is less than before, until nothing is lacking.
    What still is, merging cures.

    The paper lets all free records offer themselves: O(n) for a group, and most in vain where near records have values
    alike. Here, the NEAR nearest do, and then, of those farther away, the nearest of each of up to BLOCKS blocks of the
    records sorted by their values (of the first guard with t, or the first). And where it leaves things open: the seed
    stays; of members whose leaving is equally good the farthest leaves; and where groups of k could come no nearer to
    the table than ROOM times t, even with records of their choice, they are as large as it takes.

    Each group costs a search of the tiles, O(n p / 64) at least, and up to (NEAR + BLOCKS) s judgements of O(s log m).
    """
    s = least_size(watch, k, ROOM)
    labels = np.zeros(len(X), np.int64)
    if len(X) >= 2 * s:
        free = free_blocks(X, blocks_of_values(watch), _SCANS * len(X) // s)
        g, r = 0, -1
        while len(free) >= 2 * s:
            r = free.farthest(free.centroid() if g % 2 == 0 else X[r])
            members = _guarded_group(free, r, s, watch)
            free.take(members)
            labels[members] = g
            g += 1
        labels[free.remaining()] = g
    return merge(X, k, labels, watch)


def _guarded_group(free: FewBlocks | FreeBlocks, r: int, s: int, watch: Watch) -> Ints:
    """Give r and the free records nearest to it, exchanged until the guards hold."""
    members = np.concatenate(([r], free.nearest_others(r, s - 1)))
    codes, room = np.empty((len(watch.codes), s), np.int64), np.empty(s, np.int64)
    short = swaps.sorted_codes(watch, members, codes)
    if short > 0.0:
        near = free.nearest_others(r, s - 1 + min(NEAR, len(free) - s))  # s is at least 2, so there is a last one
        short = swaps.exchange(watch, members, codes, room, near[s - 1 :], short)
        if short > 0.0:
            swaps.exchange(watch, members, codes, room, free.nearest_of_each(r, near[-1]), short)
    return members


def blocks_of_values(watch: Watch) -> Ints:
    """Blocks of about equally many records with values that follow each other; the same value is in one block."""
    with_t = np.flatnonzero(np.isfinite(watch.t))
    codes = watch.codes[with_t[0] if len(with_t) else 0]
    before = np.cumsum(np.bincount(codes)) - np.bincount(codes)
    block: Ints = np.unique(before[codes] * BLOCKS // len(codes), return_inverse=True)[1]
    return block
