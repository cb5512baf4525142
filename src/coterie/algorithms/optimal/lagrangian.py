"""What prices prove: a lower bound on the SSE of every partition, by weak duality, whatever the prices are."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BELOW = -1e-9  # what is not above that counts as a reduced cost below 0: a record's share of the SSE is about 1


def lagrangian_bound(pi: Floats, sigma: Floats, room: Floats, least: Floats, k: int, smallest: bool = False) -> float:
    """No partition into groups of k to 2k - 1 has a smaller SSE.

    pi : the prices of the records; sigma >= 0 : those of subset-row cuts; room : the right-hand sides of these.
    least : for each record, no more than the reduced cost of any group that it is the anchor of.

    For a partition, SSE = sum of pi - what its groups pay for the cuts (at most room * sigma) + their reduced costs. No
    two groups have the same anchor, and there are n // k groups at most. This holds for any prices, so nothing is lost
    if those of a linear program are inexact; the reduced costs must be rounded down, see `pricing`.

    smallest : without cuts, the reduced costs of groups of k are enough. For take all subsets T of k records of a group
    S of s: their mean SSE is that of S times (k - 1) / (s - 1) <= k / s, and their mean price that of S times k / s. So
    the reduced cost of S is at least s / k times that of the worst T. The s add up to n, and each is below 2k.
    """
    low = np.sort(np.minimum(least, 0.0))
    if smallest:
        assert len(sigma) == 0
        times = np.clip(len(pi) - (2.0 * k - 1) * np.arange(len(low)), 0.0, 2.0 * k - 1)
        low = times / k * low
    else:
        low = low[: len(pi) // k]
    terms = [*pi.tolist(), *(-room * sigma).tolist(), *low.tolist()]
    return math.fsum(terms) - 2.0**-50 * math.fsum(map(abs, terms))
