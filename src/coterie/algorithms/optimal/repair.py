"""Prices made safe: groups that are too cheap under them are found, and their records become cheaper."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernels.price_repair import lower
from ..limits import Limits
from .lagrangian import BELOW
from .pricing import Pricing
from .relaxation import Dual

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ROUNDS = 10  # in which prices are lowered
NODES = 300_000  # of one search: few prices are so bad that it needs more


class Repaired(NamedTuple):
    """Prices, and for each record no more than the reduced cost of any group that it is the anchor of."""

    pi: Floats
    least: Floats


def repair(
    pricing: Pricing,
    dual: Dual,
    limits: Limits,
    inside: NDArray[np.bool_] | None = None,
    threads: int = 1,
    below: float = BELOW,
    nodes: int = NODES,
) -> Repaired:
    """Lower the prices of records (only of those inside) until no group costs less than `below`, or nearly.

    A lower price makes no group cheaper. So what was proven of an anchor stays true, and only those with groups that
    were too cheap are asked again.
    """
    pi, cuts, sigma = dual
    inside = np.ones(len(pi), bool) if inside is None else inside
    smallest = not (sigma > 0.0).any()
    least = np.full(len(pi), -np.inf)
    bad = np.arange(len(pi))
    for again in range(_ROUNDS, -1, -1):
        priced = pricing.price(
            pi,
            cuts,
            sigma,
            below=below,
            nodes=nodes,
            anchors=bad,
            smallest=smallest,
            over=limits.over,
            threads=threads,
        )
        least[bad] = priced.least
        bad = bad[priced.least < below]
        if len(bad) == 0 or again == 0 or limits.over():
            break
        pi = lowered(pi, priced.groups, priced.cost, inside)
    return Repaired(pi, least)


def lowered(pi: Floats, groups: Ints, cost: Floats, inside: NDArray[np.bool_]) -> Floats:
    """Prices under which these groups cost nothing: the cheapest first, each as far as those before have not helped."""
    order = np.lexsort((*groups.T[::-1], cost))  # by cost, then by records: whatever order they were found in
    new = pi.copy()
    lower(pi, new, groups, cost, order, inside)
    return new
