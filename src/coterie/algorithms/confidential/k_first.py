"""k-anonymity first: MDAV whose groups exchange members for others near by until their guards hold.

Source: Soria-Comas, Domingo-Ferrer, Sánchez, Martínez (2015), IEEE TKDE 27(11), section 6 (algorithm 2),
doi 10.1109/TKDE.2015.2435777.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...kernels import swaps
from ...kernels.guards import Watch
from ..free import FreeRecords
from .guards import least_size
from .merge import merge

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WALK = 256  # so many records offer themselves to a group
ROOM = 0.65  # a group that could come no nearer to the table than so much of t hardly ever finds the records for it


def k_first(X: Floats, k: int, watch: Watch) -> Ints:
    """Groups around the record farthest from the centroid of what remains and the one farthest from that, in turn.

    A group that falls short of a guard looks at further free records, nearest to its seed first. Each replaces the member
    whose leaving makes the shortfall (see `merge`) least, if that is less than before, until nothing is lacking. What
    still is, merging cures. Where the paper leaves things open or costs O(n²) for a group: the seed stays; of members
    whose leaving is equally good the farthest leaves; WALK records are looked at, not all; and where groups of k could
    come no nearer to the table than ROOM times t, even with records of their choice, they are as large as it takes.

    Each group costs a search of the tiles, O(n p / 64) at least, and up to WALK s O(s log m) for its exchanges.
    """
    s = least_size(watch, k, ROOM)
    labels = np.zeros(len(X), np.int64)
    if len(X) >= 2 * s:
        free = FreeRecords(X, keep_centroid=True)
        g = 0
        r = -1
        while len(free) >= 2 * s:
            r = free.farthest(free.centroid() if g % 2 == 0 else X[r])
            labels[_take_group(free, r, s, watch)] = g
            g += 1
        labels[free.remaining()] = g
    return merge(X, k, labels, watch)


def _take_group(free: FreeRecords, r: int, s: int, watch: Watch) -> Ints:
    """Take r and s - 1 free records with which it meets the guards, or comes near to it."""
    members = np.empty(s, np.int64)
    members[0] = r
    swaps.guarded_group(free.tiles, free.X, watch, members, min(WALK, len(free) - s))
    free.take(members)
    return members
