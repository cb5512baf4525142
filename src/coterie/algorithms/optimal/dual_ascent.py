"""Prices found without a linear program: those of records in groups that cost too little fall, all others rise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..limits import Limits
from .lagrangian import BELOW
from .pricing import Pricing
from .subset_row_cuts import NO_CUTS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_NO_CUTS = NO_CUTS, np.empty(0)
# Where the linear program starts from, no more. No source gives them; they are measured with it, in docs/least-loss.md.
_FIRST_STEP, _SHRINK = 0.3, 0.96  # of a price, and its factor from round to round
_RISE = 0.5  # of a step; the fall is up to a whole one, for records in so many groups:
_MANY = 4


class Ascended(NamedTuple):
    """Prices, and the groups that were found on the way."""

    pi: Floats
    groups: Ints


def shares(X: Floats, groups: Ints) -> Floats:
    """What each record costs in a partition: the sum of its squared distances to those in its group, over 2s."""
    cost = np.zeros(len(X))
    size = (groups >= 0).sum(axis=1)
    for a in range(groups.shape[1]):
        for b in range(a + 1, groups.shape[1]):
            both = np.flatnonzero(groups[:, b] >= 0)
            i, j = groups[both, a], groups[both, b]
            steps = X[i] - X[j]
            d2 = np.einsum("ij,ij->i", steps, steps) / (2.0 * size[both])
            cost[i] += d2
            cost[j] += d2
    return cost


def ascend(
    pricing: Pricing, pi: Floats, rounds: int, breadth: int, nodes: int, limits: Limits, shrink: float = _SHRINK
) -> Ascended:
    """Move prices, in steps that get smaller, to where few groups have a negative reduced cost."""
    met: list[Ints] = []
    step = _FIRST_STEP
    for _ in range(rounds):
        if limits.over():
            break
        groups = np.unique(
            pricing.price(pi, *_NO_CUTS, below=BELOW, breadth=breadth, nodes=nodes, smallest=True).groups, axis=0
        )
        met.append(groups)
        times = np.bincount(groups[groups >= 0], minlength=len(pi))
        pi = pi * (1.0 + step * np.where(times > 0, -np.minimum(times, _MANY) / _MANY, _RISE))
        step *= shrink
    return Ascended(pi, np.unique(np.concatenate([*met, np.empty((0, pricing.width), np.int64)]), axis=0))
