"""Prices found without a linear program: those of records in groups that cost too little fall, all others rise."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..limits import Limits
from .bound import lagrangian_bound
from .pricing import Pricing

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_NO_CUTS = np.empty((0, 3), np.int64), np.empty(0)
_FIRST_STEP, _SHRINK = 0.3, 0.96
_RISE = 0.5  # of a step; the fall is up to a whole one, for records in so many groups:
_MANY = 4
_HURRY_ROUNDS, _HURRY_BREADTH, _HURRY_SHRINK = 25, 25, 0.9
_NODES, _DEEPER = 30, 2  # of a search; so often ten times as many for the worst
_LOWER, _PROOF_STEP, _PROOF_RISE = 0.92, 0.1, 0.3
BELOW = -1e-9  # a record's share of the SSE is about 1


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
    found: list[Ints] = []
    step = _FIRST_STEP
    for _ in range(rounds):
        if limits.over():
            break
        groups = np.unique(pricing.price(pi, *_NO_CUTS, below=BELOW, breadth=breadth, nodes=nodes).groups, axis=0)
        found.append(groups)
        times = np.bincount(groups[groups >= 0], minlength=len(pi))
        pi = pi * (1.0 + step * np.where(times > 0, -np.minimum(times, _MANY) / _MANY, _RISE))
        step *= shrink
    return Ascended(pi, np.unique(np.concatenate([*found, np.empty((0, pricing.width), np.int64)]), axis=0))


def ascent_bound(
    pricing: Pricing, pi: Floats, k: int, rounds: int, limits: Limits, tell: Callable[[float, int], None]
) -> None:
    """Raise the bound that prices prove by pricing in which hard searches are given up; tell each one, and its round.

    For large k, where no linear program converges: first towards the prices that it would have, in a hurry, then to
    lower ones that can be proven.
    """
    n = len(pi)
    tell(_proof(pricing, np.zeros(n), k)[0], 0)
    pi = _LOWER * ascend(pricing, pi, _HURRY_ROUNDS, _HURRY_BREADTH, _NODES, limits, _HURRY_SHRINK).pi
    step = _PROOF_STEP
    for r in range(rounds):
        if limits.over():
            return
        bound, least, groups = _proof(pricing, pi, k)
        tell(bound, r + 1)
        times = np.bincount(groups[groups >= 0], minlength=n)
        fall = np.minimum(times, _MANY) / _MANY
        short = np.minimum(1.0, 0.3 + 2.0 * np.maximum(0.0, -least) / (k * np.maximum(pi, 1e-12)))
        fall = np.where(least < -1e-6, np.maximum(fall, short), fall)
        pi = pi * (1.0 + step * np.where(fall > 0.0, -fall, _PROOF_RISE))
        step *= _SHRINK


def _proof(pricing: Pricing, pi: Floats, k: int) -> tuple[float, Floats, Ints]:
    """The bound, each anchor's least reduced cost, and groups. The worst anchors are looked at more closely."""
    n = len(pi)
    found = pricing.price(pi, *_NO_CUTS, below=BELOW, nodes=_NODES)
    least, groups = found.least, [found.groups]
    anchors, nodes = n // k, _NODES
    for _ in range(_DEEPER):
        nodes *= 10
        worst = np.argsort(least, kind="stable")[: max(1, anchors)]
        found = pricing.price(pi, *_NO_CUTS, below=BELOW, nodes=nodes, anchors=worst)
        least[worst] = np.maximum(least[worst], found.least)
        groups.append(found.groups)
        anchors //= 4
    return lagrangian_bound(pi, np.empty(0), least, k), least, np.unique(np.concatenate(groups), axis=0)
