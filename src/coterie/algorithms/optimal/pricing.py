"""Groups of negative reduced cost, found exactly or in a hurry, with all rounding on the safe side."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernels.price_balls import Asked, Prices, Space
from ...kernels.price_search import Found, price_out
from ..neighbours import Nearest, Neighbours
from .on_threads import in_order
from .subset_row_cuts import by_record

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_AT_FIRST, _AT_ONCE, _LONG = 32, 512, 0.3  # anchors between two chances to interrupt; fewer if that takes seconds
EVERYBODY = 2**60


class Priced(NamedTuple):
    """What the pricing found."""

    least: Floats  # (n,): no group that the record is the anchor of costs less, if the pricing was exact
    groups: Ints  # (m, 2k - 1): groups of negative reduced cost, sorted, -1 after the last record
    cost: Floats  # (m,): their reduced costs
    nodes: int


class Pricing:
    """Prices all groups of k to 2k - 1 of n >= 2k records, in O(n k) memory.

    Rounding: distances are shrunk, prices of records raised, prices of cuts shrunk, each by more than the relative
    errors of all sums in which they occur. So no group's reduced cost is lower than it seems here.
    """

    def __init__(self, X: Floats, k: int, listed: int = 0) -> None:
        """`listed`: how many of the nearest records to keep of each. Where these are too few, all are looked at."""
        n, p = X.shape
        self._k, self._n = k, n
        near = Neighbours(X).nearest(min(n - 1, listed or max(64, 12 * k)))
        self._slack = 2.0**-50 * (p + 4 * k * k + 32)
        shrink = 1.0 - self._slack
        d2 = np.multiply(near.d2, shrink, out=near.d2)  # in place: of a million records it takes half a gigabyte
        within = np.zeros((n, min(2 * k, n)))
        np.cumsum(d2[:, : within.shape[1] - 1], axis=1, out=within[:, 1:])
        self._space = Space(np.ascontiguousarray(X), near.records, d2, within, shrink)

    @property
    def near(self) -> Nearest:
        """The nearest records of each, at least 12 k if there are as many; distances are rounded down."""
        return Nearest(self._space.near, self._space.near_d2)

    @property
    def most(self) -> Floats:
        """The highest price of each record under which all groups of k around it are among its nearest records."""
        m = self._space.near.shape[1]
        if m == self._n - 1:
            return np.full(self._n, np.inf)
        reach = self._space.near_d2[:, -1] + self._space.within[:, self._k - 2]
        most: Floats = reach / (2.0 * self._k) * (1.0 - 2.0 * self._slack)
        return most

    @property
    def width(self) -> int:
        """The size of the largest groups."""
        return 2 * self._k - 1

    def _prices(self, pi: Floats, cuts: Ints, sigma: Floats) -> Prices:
        """The prices on the safe side; only cuts that have one."""
        charged = sigma > 0.0
        rows = by_record(cuts[charged], self._n)
        raised = pi + self._slack * np.abs(pi)
        return Prices(raised, rows.start, rows.member, sigma[charged] * (1.0 - self._slack))

    def price(
        self,
        pi: Floats,
        cuts: Ints,
        sigma: Floats,
        *,
        below: float,
        breadth: int = EVERYBODY,
        nodes: int = EVERYBODY,
        anchors: Ints | None = None,
        smallest: bool = False,
        larger: int = EVERYBODY,
        over: Callable[[], bool] = lambda: False,
        threads: int = 1,
    ) -> Priced:
        """The best group of each size at each record (or anchor), below a reduced cost.

        Only among `breadth` nearest records if that is given. A search ends after so many nodes: what it says of the
        least cost is true nevertheless. `smallest`: only groups of k; see `lagrangian` for when these are enough.
        `larger`: by how many records groups may be larger than k.
        Once it is `over`, what is left is looked at only in passing. What is found does not depend on the threads.
        """
        prices = self._prices(pi, cuts, sigma)
        anchors = np.arange(self._n) if anchors is None else anchors
        k, w = self._k, self.width
        top = k if smallest else min(w, self._n, k + larger)

        def search(batch: Ints) -> Priced:
            m = len(batch) * k
            out = Found(np.empty(m), np.empty((m, w), np.int64), np.zeros(m, np.int64), False)
            least = np.empty(len(batch))
            asked = Asked(k, top, below, breadth, 0 if over() else nodes)
            spent = price_out(self._space, prices, asked, batch, least, out)[0]
            priced = out.size > 0
            return Priced(least, _sorted(out.group[priced], out.size[priced]), out.cost[priced], spent)

        if threads > 1:
            parts = np.split(anchors, range(_AT_ONCE, len(anchors), _AT_ONCE))
            found = [part for _, part in in_order(search, parts, threads)]
        else:
            found = []
            a, at_once = 0, _AT_FIRST
            while a < len(anchors):
                began = time.perf_counter()
                found.append(search(anchors[a : a + at_once]))
                a += at_once
                at_once = _next(at_once, time.perf_counter() - began)
        nothing = Priced(np.empty(0), np.empty((0, w), np.int64), np.empty(0), 0)
        least, groups, cost, spent = zip(nothing, *found, strict=True)
        return Priced(np.concatenate(least), np.concatenate(groups), np.concatenate(cost), sum(spent))

    def enumerate(
        self,
        pi: Floats,
        cuts: Ints,
        sigma: Floats,
        below: float,
        most: int,
        nodes: int,
        over: Callable[[], bool] = lambda: False,
    ) -> tuple[Ints, Floats] | None:
        """Every group below a reduced cost, and these costs; None if there are more, or the search is too long."""
        prices, n, k = self._prices(pi, cuts, sigma), self._n, self._k
        cost, group, size = np.empty(most), np.empty((most, self.width), np.int64), np.zeros(most, np.int64)
        m = a = 0
        at_once = _AT_FIRST
        while a < n:
            began = time.perf_counter()
            batch = np.arange(a, min(n, a + at_once))
            left = nodes if not over() else 0
            asked = Asked(k, min(self.width, n), below, n - 1, left)
            out = Found(cost[m:], group[m:], size[m:], True)
            spent, listed = price_out(self._space, prices, asked, batch, np.empty(len(batch)), out)
            m, nodes, a = m + listed, nodes - spent, a + at_once
            if m > most or nodes <= 0 or left == 0:
                return None
            at_once = _next(at_once, time.perf_counter() - began)
        return _sorted(group[:m], size[:m]), cost[:m].copy()


def _next(at_once: int, seconds: float) -> int:
    """How many anchors to look at next, if so many took so long."""
    return max(1, at_once // 2) if seconds > _LONG else min(2 * at_once, _AT_ONCE)


def _sorted(groups: Ints, size: Ints) -> Ints:
    """The records of each group in order, then -1."""
    big = np.iinfo(np.int64).max
    out = np.sort(np.where(np.arange(groups.shape[1]) < size[:, None], groups, big), axis=1)
    out[out == big] = -1
    return out
