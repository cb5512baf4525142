"""A lower bound at any size: prices learnt window by window, then made safe for all groups of the whole table.

Weak duality holds for any prices (see `lagrangian`), so they need not come from one linear program. In the first round
every window is solved with its halo, and keeps the prices of its own records. From then on, a window improves the
prices of its records while all others stay: groups that reach out of it are priced with it. Windows turn from round to
round, so that the faces of one lie inside those of the next. A cut that is found in a window holds for the whole table,
and a price for it only makes groups dearer.

After each round all groups of the whole table are priced, exactly. Records of groups that are too cheap become cheaper
until none is left; whatever is left counts against the bound.
"""

from __future__ import annotations

import math
import os
import time

import numpy as np
from numpy.typing import NDArray

from ...progress import done, more, state
from ..limits import Limits
from .lagrangian import lagrangian_bound
from .master import group_costs
from .neighbour_bound import least_shares
from .on_threads import in_order
from .pricing import Pricing
from .relaxation import Dual
from .repair import repair
from .subset_row_cuts import NO_CUTS, by_record, room
from .window_prices import Learnt, Table, improve, learn
from .windows import batches, cut_windows, group_of, halo, window_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# No bound becomes invalid by these: they decide how tight it gets, and how soon. No source gives them. What they reach
# is in docs/least-loss.md, and benchmarks/least_loss.py measures it.
SIZE = 120  # records of a window for each of k, at most
_BESIDE, _HALO = 1, 6  # nearest records for each of k, of each record of a window: in the first round, and later
_ROUNDS, _GAIN = 12, 0.1  # rounds at most; one that closes less than this part of the gap is the last
_RESERVE = 0.1  # of the time there is, for the first proof; later twice as long as the last one took


class _Sooner(Limits):
    """Ends before others do, so that there is time left for a proof; or when it is told to."""

    def __init__(self, limits: Limits, reserve: float) -> None:
        super().__init__()
        self._limits, self._reserve = limits, reserve

    def over(self) -> bool:
        """Whether to stop now."""
        if self.cut_short is None and (self._limits.over() or self._limits.left() < self._reserve):
            self.cut_short = self._limits.cut_short or "seconds"
        return self.cut_short is not None

    def stop(self) -> None:
        """Somebody has interrupted it."""
        self.cut_short = "interrupted"


class WindowedBound:
    """Prices of the whole table, learnt round by round. The data are scaled: a share of the SSE is about 1.

    Attributes
    ----------
    value : float
        The SSE of the partition.
    bound : float
        No partition has a smaller SSE.
    dual : Dual
        The prices that prove it.
    rounds : int
        How many times all windows were solved.
    """

    def __init__(self, X: Floats, k: int, groups: Ints, unit: float = 1.0, size: int = 0, threads: int = 0) -> None:
        """`groups`: a good partition. `unit`: what an SSE is times, for whoever watches. `size`: of a window."""
        self._X, self._k, self._groups, self._unit = X, k, groups, unit
        self._size, self._threads = size or SIZE * k, threads or os.cpu_count() or 1
        self.value = math.fsum(group_costs(X, groups).tolist())
        self._pricing = Pricing(X, k)
        near = self._pricing.near
        self._near = near.records[:, : _HALO * k]
        self._pi = least_shares(near.d2[:, : 2 * k - 2], k)  # no record costs less, in any group
        self._cuts, self._sigma = NO_CUTS, np.empty(0)
        self._columns = np.empty((0, 2 * k - 1), np.int64)
        self.bound, self.dual = -math.inf, Dual(self._pi, self._cuts, self._sigma)
        self.rounds = 0
        self._seconds = math.nan  # of the last proof

    def run(self, limits: Limits) -> None:
        """Go on until a round closes little of the gap that is left, or there is no more time."""
        while self.rounds < _ROUNDS and not limits.over():
            before = self.bound
            reserve = _RESERVE * limits.left() if math.isnan(self._seconds) else 2.0 * self._seconds
            sooner = _Sooner(limits, reserve if math.isfinite(reserve) else 0.0)
            self._round(sooner)
            self._prove(limits)
            if sooner.over():
                limits.cut_short = limits.cut_short or sooner.cut_short
            if self.bound >= self.value or self.bound - before < _GAIN * (self.value - before):
                return

    def _round(self, limits: _Sooner) -> None:
        """Solve all windows once."""
        first, n = self.rounds == 0, len(self._X)
        more(n)
        windows = cut_windows(self._X, self._groups, self._size, self.rounds)
        own, own_group = window_of(self._groups, windows, n), group_of(self._groups, n)
        columns, columns_of = [self._columns[:0]], by_record(self._columns, n)
        for batch in [np.arange(len(windows))] if first else batches(self._near, own, len(windows)):
            dual = Dual(self._pi.copy(), self._cuts, self._sigma)
            table = Table(self._X, self._k, dual, by_record(self._cuts, n), self._columns, columns_of)

            def solve(w: int, table: Table = table) -> Learnt | None:
                if limits.over():  # of a million records, what comes before the first look at the clock takes minutes
                    return None
                groups = self._groups[windows[w]]
                records = groups[groups >= 0]
                if first:
                    beside = own_group[halo(self._near[:, : _BESIDE * self._k], records)]
                    return learn(table, self._groups[np.union1d(windows[w], beside)], np.sort(records), limits)
                return improve(table, groups, halo(self._near, records), limits)

            learnt = []
            for w, found in in_order(solve, batch.tolist(), self._threads, limits.stop):
                done(int((self._groups[windows[w]] >= 0).sum()))
                if found is not None:
                    learnt.append(found)
            self._take(learnt)
            columns += [found.columns for found in learnt]
        self._columns = np.unique(np.concatenate(columns), axis=0)
        self.rounds += 1

    def _take(self, learnt: list[Learnt]) -> None:
        """What windows have found becomes part of the whole."""
        keep = np.ones(len(self._cuts), bool)
        for found in learnt:
            self._pi[found.records] = found.pi
            keep[found.dropped] = False
        cuts = np.concatenate([self._cuts[keep], *[found.cuts for found in learnt]])
        sigma = np.concatenate([self._sigma[keep], *[found.sigma for found in learnt]])
        self._cuts, at = np.unique(cuts, axis=0, return_inverse=True)
        self._sigma = np.bincount(at.reshape(-1), sigma, len(self._cuts)).astype(np.float64)

    def _prove(self, limits: Limits) -> None:
        """Make prices safe for all groups of the whole table, and keep what they prove."""
        began = time.perf_counter()
        safe = repair(self._pricing, Dual(self._pi, self._cuts, self._sigma), limits, threads=self._threads)
        smallest = not (self._sigma > 0.0).any()
        bound = lagrangian_bound(
            safe.pi, self._sigma[:0] if smallest else self._sigma, room(self._cuts), safe.least, self._k, smallest
        )
        if bound > self.bound:
            self.bound, self.dual = bound, Dual(safe.pi, self._cuts, self._sigma)
        self._pi, self._cuts, self._sigma = self.dual.pi.copy(), self.dual.cuts, self.dual.sigma
        self._seconds = time.perf_counter() - began
        state(sse=self.value * self._unit, bound=max(0.0, self.bound) * self._unit)
