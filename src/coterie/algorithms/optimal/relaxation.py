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
from .master import Master, Outside, Solution
from .pricing import EVERYBODY, Priced, Pricing
from .subset_row_cuts import NO_CUTS, room, separate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# No bound becomes invalid by these: they decide how tight it gets, and how soon. No source gives them. What they reach
# on the CASC sets at k = 2 to 10 is in docs/least-loss.md, and benchmarks/least_loss.py measures it.
CUT_K = 6  # above that k, pricing takes long:
_CUT_ROUNDS = 6  # rounds of cuts, at most, between two proofs
_CLOSE = 1e-4  # a bound and its linear program agree to that, relative: converged
_LARGER = 2  # a search in a hurry looks for groups that are larger than k by that: others are hardly ever cheap
_HARD, _HARD_PROOFS = 140, 2  # if it took more nodes for each record even without cuts, so many proofs are enough
_BOX_ROUNDS = 60  # of the boxstep method, before cuts are looked for
_HURRY = 2000  # nodes of a search in a hurry
_MOST_NODES = 300_000  # of one search above CUT_K, as in boxstep.py
_PROOF = 2  # the care that a proof takes; 1: exact for groups of k; 0: in a hurry
_FEW = 0.01  # so few new columns, per record: time to price exactly
_FRACTION = 1e-6  # what counts as 0 in a linear program, whose own tolerance is 1e-9
_CUTS, _CUTS_RECORDS, _CUTS_EACH = 150, 8, 3  # cuts at once, or one for so many records; so many at a record
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

    def __init__(
        self,
        X: Floats,
        k: int,
        start: Ints,
        tell: Callable[[float], None] = lambda _: None,
        outside: Outside | None = None,
    ) -> None:
        """`tell` hears the bound after every linear program.

        `outside`: the prices of some records, and of some cuts, stay as they are; what is called a bound then compares
        prices of the others, and proves nothing by itself.
        """
        self._tell, self._outside = tell, outside
        self.X, self._n, self._k, self._start = X, len(X), k, start
        self._breadth = 15 if k < 4 else 30
        self.pricing, self.master = Pricing(X, k), Master(X, k, outside=outside)
        self.bound, self.dual = -math.inf, Dual(np.zeros(len(X)), self.master.cuts, np.empty(0))
        self.rounds = 0
        self._hard = False  # pricing takes very long
        self.solution: Solution | None = None

    def run(
        self,
        limits: Limits,
        enough: float,
        most: int,
        elsewhere: Callable[[], bool] = lambda: False,
        cuts: bool = True,
    ) -> None:
        """Go on until the bound is enough, nothing more helps, or so many rounds are over.

        `elsewhere` is asked when the bound has risen: whether what is left is better done without this.
        """
        self.master.add(self._start)
        box = Boxstep(self.X, self._k, self._start, self.pricing, self._prices)
        try:
            box.run(shares(self.X, self._start), limits, enough, min(most, _BOX_ROUNDS), self._k <= CUT_K)
        finally:
            self.rounds += box.rounds
            self.master.add(box.groups)
        if self.bound >= enough or limits.over() or not cuts:
            return
        if self._k > CUT_K and not box.converged:
            return
        self._hard = self._k > CUT_K and box.nodes > _HARD * self._n
        if box.converged:
            self.solution = self.master.solve()
        elif not self._converge(limits, enough, most, exact=True):
            return
        self._tighten(limits, enough, most, elsewhere)

    def resume(self, limits: Limits, pi: Floats, columns: Ints, cuts: Ints, most: int) -> None:
        """Go on from prices, columns and cuts that were found before."""
        self.master.add(self._start)
        self.master.add(columns)
        given = self._outside
        enough = math.fsum(self.master.cost[: len(self._start)].tolist())  # the partition costs that
        if given is not None:
            enough += math.fsum(given.pi.tolist()) - float(room(given.cuts) @ given.sigma)
        if len(cuts):
            self.master.add_cuts(cuts)
        elif given is None or len(given.cuts) == 0:
            box = Boxstep(self.X, self._k, self.master.groups, self.pricing, self._prices, given)
            box.run(pi, limits, enough, min(most, _BOX_ROUNDS), self._k <= CUT_K, rough=False)
            self.rounds += box.rounds
            self.master.add(box.groups)
            if self._k > CUT_K:
                return
        if self._converge(limits, enough, most, exact=True):
            self._tighten(limits, enough, most, lambda: False)

    def go_on(self, limits: Limits, enough: float, most: int) -> bool:
        """Add cuts again: beside a better partition's cost, what they close counts for more. Whether they helped."""
        before = self.bound
        if self._converge(limits, enough, most, exact=True):
            self._tighten(limits, enough, most, lambda: False)
        return self.bound > before

    def _tighten(self, limits: Limits, enough: float, most: int, elsewhere: Callable[[], bool]) -> None:
        """Add cuts until they hardly help."""
        stalled = proofs = 0
        while self.bound < enough and stalled < 2 and not elsewhere() and self._cut_in_a_hurry(limits, enough, most):
            before = self.bound
            if not self._converge(limits, enough, most, exact=True):
                break
            stalled = stalled + 1 if self.bound - before < _STUCK * (enough - before) else 0
            proofs += 1
            if self._hard and proofs == _HARD_PROOFS:
                break

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
        care = 0
        while self.rounds < most and not limits.over():
            self.rounds += 1
            s = self.solution = self.master.solve()
            dual = self._dual(s)
            priced = self._priced(dual, care, limits)
            if care == _PROOF:
                bound = lagrangian_bound(dual.pi, dual.sigma, room(dual.cuts), priced.least, self._k)
                self.improve(bound, dual)
            self._tell(self.bound)
            if self.bound >= enough:
                return True
            new = self.master.add(priced.groups)
            few = new < _FEW * self._n
            if few and not exact:
                return True
            if care == _PROOF and (new == 0 or (self._k > CUT_K and self.bound >= (1.0 - _CLOSE) * s.value)):
                return True
            care = 0 if not few else _PROOF if self._k <= CUT_K else 1 + care % _PROOF
        return False

    def _priced(self, dual: Dual, care: int, limits: Limits) -> Priced:
        """Groups of negative reduced cost: in a hurry, exactly those of k records, or a proof that there are no others.

        Larger groups are hardly ever cheap enough, but if k is large, they take most of the time.
        """
        larger = EVERYBODY if self._k <= CUT_K or care == _PROOF else 0 if care else _LARGER
        breadth, nodes = (EVERYBODY, EVERYBODY) if care else (self._breadth, _HURRY)
        if care and self._k > CUT_K:
            nodes = _MOST_NODES
        return self.pricing.price(*dual, below=BELOW, breadth=breadth, nodes=nodes, larger=larger, over=limits.over)

    def _dual(self, solution: Solution) -> Dual:
        """The prices of a solution, with those that are given."""
        given, cuts = self._outside, self.master.cuts
        if given is None or len(given.cuts) == 0:
            return Dual(solution.pi, cuts, solution.sigma)
        sigma = np.concatenate([solution.sigma, given.sigma])
        return Dual(solution.pi, np.concatenate([cuts, given.cuts]), sigma)

    def _cut_in_a_hurry(self, limits: Limits, enough: float, most: int) -> bool:
        """Add cuts, round after round, without exact pricing; whether there were any."""
        any_cuts = False
        rounds = 0
        while (self._k <= CUT_K or rounds < _CUT_ROUNDS) and self._cut():
            rounds += 1
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
        most = max(_CUTS, self._n // _CUTS_RECORDS)
        cuts = separate(self.master.groups[split], x[split], self._n, most, _CUTS_EACH, known)
        if len(cuts):
            self.master.add_cuts(cuts)
        return len(cuts) > 0
