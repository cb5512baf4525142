"""The neighbour bound: what a partition costs at least, record by record.

A group of s records has SSE = (1 / 2s) sum over its ordered pairs of d2. So each of its records costs, as its share, at
least 1 / 2s times the sum of its s - 1 least squared distances. Some best partition has groups of k to 2k - 1 records:
larger ones can be split, at no cost. `raised_bound` makes more of the same neighbours.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..neighbours import Neighbours

Floats = NDArray[np.float64]


def neighbour_bound(X: Floats, k: int) -> float:
    """No partition into groups of at least k has a smaller SSE than this. O(n k) memory."""
    n, p = X.shape
    top = min(2 * k - 1, n)
    if top < 2:
        return 0.0
    shares = least_shares(Neighbours(X).nearest(top - 1).d2, k)
    slack = 2.0**-51 * (float(p) + top + 4)  # distances and sums were rounded
    bound: float = math.fsum(shares.tolist()) * (1.0 - slack)
    return bound


def least_shares(d2: Floats, k: int) -> Floats:
    """The least that each record costs in a group of k to 2k - 1, from its nearest squared distances, in order."""
    sums = np.cumsum(d2[:, : 2 * k - 2], axis=1)
    sizes = np.arange(k, sums.shape[1] + 2)
    shares: Floats = (sums[:, k - 2 :] / (2.0 * sizes)).min(axis=1)
    return shares
