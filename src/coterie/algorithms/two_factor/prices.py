"""What the dual prices of the factor's linear program say of all edges of the complete graph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernels.cheapest_edges import Sets, cheapest_edges
from ..free import FreeRecords
from .linear_program import Solution
from .odd_sets import Cut

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_EACH = 4  # so many edges at most are found for a record
_AT_ONCE = 4096  # records between two chances to interrupt


class Priced(NamedTuple):
    """Edges of negative reduced cost: of each record, the few of the least, that first."""

    cost: Floats  # (n, _EACH): 0 where there are no more
    other: Ints  # (n, _EACH): the other end; -1


def safe_bound(low: Ints, high: Ints, pi: Floats, rhs: Floats, mu: Floats, least: Floats) -> float:
    """What no factor weighs less than, by weak duality, whatever the prices pi and mu >= 0 are.

    low, high : the bounds of the degrees; rhs : of the cuts.
    least : for each record that needs an edge, no more than the least reduced cost of an edge there.

    For a factor, weight = prices of its degrees + prices of its cuts + reduced costs of its edges. Some minimum factor
    has no spare edge, so each of its edges ends in a leaf that needs it, and no leaf has two (there are at most n - 1
    edges): its negative reduced costs sum to no less than those in `least`.
    """
    terms = [*np.where(pi > 0.0, pi * low, pi * high).tolist(), *(mu * rhs).tolist(), *np.minimum(least, 0.0).tolist()]
    return math.fsum(terms) - 2.0**-51 * math.fsum(map(abs, terms))  # the products were rounded


class Prices:
    """Prices all edges between points, in O(n p) memory. `lone`: the records that need an edge."""

    def __init__(self, X: Floats, lone: Ints) -> None:
        self._X, self._lone = X, lone
        self._tiles = FreeRecords(X).tiles

    def negative(self, solution: Solution, cuts: Sequence[Cut]) -> Priced:
        """The edges that could lower the weight.

        With sigma(v) the prices of cuts with v in L, the reduced cost of uv is d2 - (pi + sigma)(u) - (pi + sigma)(v),
        plus the prices of cuts with both in S. Prices are moved by more than the rounding errors of that sum: no edge's
        reduced cost is lower than it seems here.
        """
        n, p = self._X.shape
        mu = solution.mu[solution.mu > 0.0]
        active = [cuts[c] for c in np.flatnonzero(solution.mu > 0.0).tolist()]
        member = np.repeat(np.arange(len(active)), [len(cut.inside) for cut in active])
        record = np.concatenate([*(cut.inside for cut in active), np.empty(0, np.int64)])
        lower = np.concatenate([*(cut.lower for cut in active), np.empty(0, bool)])
        sigma = np.bincount(record[lower], mu[member[lower]], n)
        count = np.bincount(record, minlength=n)
        slack = 2.0**-50 * (p + 8 + int(count.max()))
        price = solution.pi + sigma + slack * (np.abs(solution.pi) + sigma)
        start, member = np.append(0, np.cumsum(count)), member[np.argsort(record, kind="stable")]
        sets = Sets(start, member, mu * (1.0 - slack))
        out = Priced(np.zeros((n, _EACH)), np.full((n, _EACH), -1))
        for a in range(0, len(self._lone), _AT_ONCE):
            records = self._lone[a : a + _AT_ONCE]
            cheapest_edges(self._tiles, self._X, records, price, sets, out.cost, out.other)
        return out
