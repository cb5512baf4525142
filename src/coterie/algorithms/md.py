"""MD, maximum distance.

Sources: Domingo-Ferrer, Mateo-Sanz (2002), IEEE Transactions on Knowledge and Data Engineering 14(1),
doi 10.1109/69.979982; Domingo-Ferrer, Solanas, Martínez-Ballesté (2006), Privacy in statistical databases:
k-anonymity through microaggregation, section III.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .free import FreeRecords
from .groups import join_nearest_centroid


def md(X: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Two groups at a time, around the two records that are farthest apart."""
    labels = np.full(len(X), -1, np.int64)
    free = FreeRecords(X)
    g = 0
    while len(free) >= 2 * k:
        r = free.farthest_pair()
        labels[free.take_group(r, k)] = g
        # s, at the other end of the pair. Asked after r's group has gone, as in MDAV
        s = free.farthest(X[r])
        labels[free.take_group(s, k)] = g + 1
        g += 2
    rest = free.remaining()
    if len(rest) >= k:
        labels[rest] = g
    else:
        join_nearest_centroid(X, labels, rest)
    return labels
