"""MDAV, maximum distance to average vector, and its one-sided variant.

Sources: Domingo-Ferrer, Solanas, Martínez-Ballesté (2006), Privacy in statistical databases: k-anonymity through
microaggregation, section IV; Domingo-Ferrer, Sebé, Solanas (2008), Computers & Mathematics with Applications 55(4),
section 6, doi 10.1016/j.camwa.2007.04.034.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels import mdav_loops
from .free import free_records


def mdav(X: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Two groups at a time: around r, farthest from the centroid, and around s, farthest from r."""
    return _from_the_centroid(X, k, sides=2)


def mdav1(X: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """One group at a time, around the record farthest from the centroid of what remains."""
    return _from_the_centroid(X, k, sides=1)


def _from_the_centroid(X: NDArray[np.float64], k: int, sides: int) -> NDArray[np.int64]:
    """Take groups on so many sides while enough remain for them and one more, then one at a time; the rest is one.

    s is asked for after r's group has gone: the same record, unless all of the rest is equally far from r.
    """
    labels = np.empty(len(X), np.int64)
    free = free_records(X, len(X) // k, tiled=mdav_loops.groups_from_the_centroid, keep_centroid=True)
    g = 0
    for side in range(sides, 0, -1):
        while len(free) >= (side + 1) * k:
            g = free.take_groups_from_the_centroid(k, side, (side + 1) * k, labels, g)
    labels[free.remaining()] = g
    return labels
