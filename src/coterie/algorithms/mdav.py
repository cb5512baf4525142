"""MDAV, maximum distance to average vector, and its one-sided variant.

Sources: Domingo-Ferrer, Solanas, Martínez-Ballesté (2006), Privacy in statistical databases: k-anonymity through
microaggregation, section IV; Domingo-Ferrer, Sebé, Solanas (2008), Computers & Mathematics with Applications 55(4),
section 6, doi 10.1016/j.camwa.2007.04.034.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .free import FreeRecords


def mdav(X: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Two groups at a time: around r, farthest from the centroid, and around s, farthest from r."""
    labels = np.empty(len(X), np.int64)
    free = FreeRecords(X, keep_centroid=True)
    g = 0
    while len(free) >= 3 * k:  # steps 1 to 3, as often as the tiles stay well filled
        g = free.take_pairs_of_groups(k, labels, g)
    if len(free) >= 2 * k:
        labels[free.take_group(free.farthest(free.centroid()), k)] = g
        g += 1
    labels[free.remaining()] = g
    return labels


def mdav1(X: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """One group at a time, around the record farthest from the centroid of what remains."""
    labels = np.empty(len(X), np.int64)
    free = FreeRecords(X, keep_centroid=True)
    g = 0
    while len(free) >= 2 * k:
        labels[free.take_group(free.farthest(free.centroid()), k)] = g
        g += 1
    labels[free.remaining()] = g
    return labels
