"""What prices prove: a lower bound on the SSE of every partition, by weak duality, whatever the prices are."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def lagrangian_bound(pi: Floats, sigma: Floats, least: Floats, k: int) -> float:
    """No partition into groups of k to 2k - 1 has a smaller SSE.

    pi : the prices of the records; sigma >= 0 : those of subset-row cuts on triples.
    least : for each record, no more than the reduced cost of any group that it is the anchor of.

    For a partition, SSE = sum of pi - what its groups pay for the cuts (at most sigma each) + their reduced costs. No
    two groups have the same anchor, and there are n // k groups at most. This holds for any prices, so nothing is lost
    if those of a linear program are inexact; the reduced costs must be rounded down, see `pricing`.
    """
    groups = len(pi) // k
    worst = np.partition(np.minimum(least, 0.0), groups - 1)[:groups]
    terms = [*pi.tolist(), *(-sigma).tolist(), *worst.tolist()]
    return math.fsum(terms) - 2.0**-52 * math.fsum(map(abs, terms))
