"""MDAV, maximum distance to average vector, and its one-sided variant.

Sources: Domingo-Ferrer, Solanas, Martínez-Ballesté (2006), Privacy in statistical databases: k-anonymity through
microaggregation, section IV; Domingo-Ferrer, Sebé, Solanas (2008), Computers & Mathematics with Applications 55(4),
section 6, doi 10.1016/j.camwa.2007.04.034.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .free import SMALL, FewRecords, FreeRecords


def mdav(X: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Two groups at a time: around r, farthest from the centroid, and around s, farthest from r."""
    labels = np.empty(len(X), np.int64)
    free: FewRecords | FreeRecords = FewRecords(X) if len(X) <= SMALL else FreeRecords(X, keep_centroid=True)
    g = 0
    while len(free) >= 3 * k:
        if isinstance(free, FreeRecords):  # the same steps, compiled as one
            g = free.take_groups_from_the_centroid(k, 2, 3 * k, labels, g)
            continue
        # Steps 1 and 2: the centroid of what remains, r farthest from it, s farthest from r, a group around each.
        # s is asked for after r's group has gone: the same record, unless all of the rest is equally far from r
        r = free.farthest(free.centroid())
        labels[free.take_group(r, k)] = g
        s = free.farthest(X[r])
        labels[free.take_group(s, k)] = g + 1
        g += 2
    if len(free) >= 2 * k:
        labels[free.take_group(free.farthest(free.centroid()), k)] = g
        g += 1
    labels[free.remaining()] = g
    return labels


def mdav1(X: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """One group at a time, around the record farthest from the centroid of what remains."""
    labels = np.empty(len(X), np.int64)
    free: FewRecords | FreeRecords = FewRecords(X) if len(X) <= SMALL else FreeRecords(X, keep_centroid=True)
    g = 0
    while len(free) >= 2 * k:
        if isinstance(free, FreeRecords):
            g = free.take_groups_from_the_centroid(k, 1, 2 * k, labels, g)
            continue
        labels[free.take_group(free.farthest(free.centroid()), k)] = g
        g += 1
    labels[free.remaining()] = g
    return labels
