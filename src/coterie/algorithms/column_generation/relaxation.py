"""The linear relaxation of set partitioning, solved by column generation, and tightened by subset-row cuts."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..limits import Limits
from .bound import lagrangian_bound
from .cuts import separate
from .dual_ascent import BELOW, ascend, shares
from .master import Master, Solution
from .pricing import EVERYBODY, Pricing

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SEED_ROUNDS, _SEED_BREADTH, _SEED_NODES = 80, 15, 300  # of the dual ascent, for the first columns
_HURRY = 2000  # nodes of a search in a hurry
_FEW = 0.01  # so few new columns, per record: time to price exactly
_FRACTION = 1e-6
_CUTS, _CUTS_EACH = 150, 3  # cuts at once; of these, so many at a record
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

    def __init__(self, X: Floats, k: int, start: Ints) -> None:
        self._X, self._n, self._k, self._start = X, len(X), k, start
        self._breadth = 15 if k < 4 else 30
        self.pricing, self.master = Pricing(X, k), Master(X, k)
        self.bound, self.dual = -math.inf, Dual(np.zeros(len(X)), self.master.cuts, np.empty(0))
        self.rounds = 0
        self.solution: Solution | None = None
        self._converged = False

    def run(self, limits: Limits, enough: float, most: int) -> None:
        """Go on until the bound is enough, nothing more helps, or so many rounds are over."""
        self._seed(limits)
        while self._converge(limits, enough, most, exact=True) and self.bound < enough:
            if not self._cut_in_a_hurry(limits, enough, most):
                break

    def _seed(self, limits: Limits) -> None:
        """The start's groups, and those that a dual ascent finds; the bound that its prices prove."""
        self.master.add(self._start)
        pi, groups = ascend(
            self.pricing, shares(self._X, self._start), _SEED_ROUNDS, _SEED_BREADTH, _SEED_NODES, limits
        )
        self.master.add(groups)
        least = self.pricing.price(pi, self.master.cuts, np.empty(0), below=BELOW, nodes=1).least
        self.improve(lagrangian_bound(pi, np.empty(0), least, self._k), Dual(pi, self.master.cuts, np.empty(0)))

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
            found = self.pricing.price(s.pi, cuts, s.sigma, below=BELOW, breadth=breadth, nodes=nodes)
            if not hurry:
                self.improve(lagrangian_bound(s.pi, s.sigma, found.least, self._k), Dual(s.pi, cuts, s.sigma))
                if self.bound >= enough:
                    return True
            new = self.master.add(found.groups)
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
        if len(split) == 0:
            return False
        known = self.master.known
        cuts = separate(self.master.groups[split], x[split], self._n, _CUTS, _CUTS_EACH, known)
        if len(cuts):
            self.master.add_cuts(cuts)
        return len(cuts) > 0
