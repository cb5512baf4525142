"""The linear relaxation of set partitioning, solved by column generation, and tightened by subset-row cuts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..limits import Limits
from .boxstep import Boxstep
from .dual_ascent import shares
from .lagrangian import BELOW, lagrangian_bound
from .master import Master, Solution
from .pricing import EVERYBODY, Pricing
from .subset_row_cuts import NO_CUTS, room, separate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# No bound becomes invalid by these: they decide how tight it gets, and how soon. No source gives them. What they reach
# on the CASC sets at k = 2 to 10 is in docs/least-loss.md, and benchmarks/least_loss.py measures it.
CUT_K, _CUT_NODES = 6, 100  # with cuts, pricing is too hard above that k, if it took more nodes for each record before
_BOX_ROUNDS = 60  # of the boxstep method, before cuts are looked for
_HURRY = 2000  # nodes of a search in a hurry
_FEW = 0.01  # so few new columns, per record: time to price exactly
_FRACTION = 1e-6  # what counts as 0 in a linear program, whose own tolerance is 1e-9
_CUTS, _CUTS_EACH = 150, 3  # cuts at once; of these, so many at a record
_ENOUGH_CUTS = 4  # for each record: among few records, larger sets hardly run out
_STUCK = 2e-3  # cuts that close less of the gap, twice, are the last
_STALLED = 1e-5  # a round of cuts that lifts the value by less, relative, is followed by exact pricing


class Dual(NamedTuple):
    """Prices that prove a bound."""

    pi: Floats
    cuts: Ints
    sigma: Floats


class Relaxation:
    """Solves the relaxation over all groups, round by round. The data are scaled: a share of the SSE is about 1.

    Attributes
    ----------
    bound : float
        No partition has a smaller SSE.
    dual : Dual
        The prices that prove it.
    rounds : int
        How many linear programs were solved.
    """

    def __init__(self, X: Floats, k: int, start: Ints, tell: Callable[[float], None] = lambda _: None) -> None:
        """`tell` hears the bound after every linear program."""
        self._tell = tell
        self._X, self._n, self._k, self._start = X, len(X), k, start
        self._breadth = 15 if k < 4 else 30
        self.pricing, self.master = Pricing(X, k), Master(X, k)
        self.bound, self.dual = -math.inf, Dual(np.zeros(len(X)), self.master.cuts, np.empty(0))
        self.rounds = 0
        self.solution: Solution | None = None

    def run(self, limits: Limits, enough: float, most: int, elsewhere: Callable[[], bool] = lambda: False) -> None:
        """Go on until the bound is enough, nothing more helps, or so many rounds are over.

        `elsewhere` is asked when the bound has risen: whether what is left is better done without this.
        """
        self.master.add(self._start)
        box = Boxstep(self._X, self._k, self._start, self.pricing, self._prices)
        try:
            box.run(shares(self._X, self._start), limits, enough, min(most, _BOX_ROUNDS), self._k <= CUT_K)
        finally:
            self.rounds += box.rounds
            self.master.add(box.groups)
        if self.bound >= enough or limits.over():
            return
        if self._k > CUT_K and (not box.converged or box.nodes > _CUT_NODES * self._n):
            return
        if box.converged:
            self.solution = self.master.solve()
        elif not self._converge(limits, enough, most, exact=True):
            return
        stalled = 0
        while self.bound < enough and stalled < 2 and not elsewhere() and self._cut_in_a_hurry(limits, enough, most):
            before = self.bound
            if not self._converge(limits, enough, most, exact=True):
                break
            stalled = stalled + 1 if self.bound - before < _STUCK * (enough - before) else 0

    def _prices(self, bound: float, pi: Floats) -> None:
        """Prices of a linear program without cuts, and what they prove."""
        self.improve(bound, Dual(pi, NO_CUTS, np.empty(0)))
        self._tell(self.bound)

    def improve(self, bound: float, dual: Dual) -> None:
        """Keep a bound if it is the best so far."""
        if bound > self.bound:
            self.bound, self.dual = bound, dual

    def _converge(self, limits: Limits, enough: float, most: int, exact: bool) -> bool:
        """Price groups until none (or hardly any) is left out that could lower the value; whether that was reached."""
        hurry = True
        while self.rounds < most and not limits.over():
            self.rounds += 1
            s = self.solution = self.master.solve()
            breadth, nodes = (self._breadth, _HURRY) if hurry else (EVERYBODY, EVERYBODY)
            cuts = self.master.cuts
            over = limits.over
            priced = self.pricing.price(s.pi, cuts, s.sigma, below=BELOW, breadth=breadth, nodes=nodes, over=over)
            if not hurry:
                bound = lagrangian_bound(s.pi, s.sigma, room(cuts), priced.least, self._k)
                self.improve(bound, Dual(s.pi, cuts, s.sigma))
            self._tell(self.bound)
            if self.bound >= enough:
                return True
            new = self.master.add(priced.groups)
            few = new < _FEW * self._n
            if (few and not exact) or (new == 0 and not hurry):
                return True
            hurry = not few
        return False

    def _cut_in_a_hurry(self, limits: Limits, enough: float, most: int) -> bool:
        """Add cuts, round after round, without exact pricing; whether there were any."""
        any_cuts = False
        while self._cut():
            assert self.solution is not None
            before = self.solution.value
            if not self._converge(limits, enough, most, exact=False):
                return True
            if any_cuts and self.solution.value - before < _STALLED * before:
                return True
            any_cuts = True
        return any_cuts

    def _cut(self) -> bool:
        """Add cuts that the solution violates, if there are any."""
        assert self.solution is not None
        x = self.solution.x
        split = np.flatnonzero((x > _FRACTION) & (x < 1.0 - _FRACTION))
        if len(split) == 0 or len(self.master.cuts) >= _ENOUGH_CUTS * self._n:
            return False
        known = self.master.known
        cuts = separate(self.master.groups[split], x[split], self._n, _CUTS, _CUTS_EACH, known)
        if len(cuts):
            self.master.add_cuts(cuts)
        return len(cuts) > 0
