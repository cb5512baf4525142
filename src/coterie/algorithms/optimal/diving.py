"""Diving: partitions out of the relaxation's fractions, by fixing groups and generating others around them.

Groups that the linear program takes (nearly) whole are fixed, their records leave, and groups of the others are
generated anew until the next are whole. It never goes back: a heuristic (Joncour et al. 2010, Column generation based
primal heuristics). What is left at every depth is a smaller problem of the same kind: it has a master problem of its
own, which is far quicker than one in which columns are fixed, and a quick search in it gives a partition at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...progress import listening
from ..limits import Limits
from ..mdav import mdav
from ..refine import refine
from .branching import Branching
from .lagrangian import BELOW
from .master import Master, Solution, group_costs
from .pricing import Pricing
from .subset_row_cuts import separate, within

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Dives prove nothing: these decide how good a partition they find, and how soon. No source gives them; what they reach
# on the CASC sets at k = 2 to 10 is in docs/least-loss.md, and benchmarks/least_loss.py measures it.
_FINISHED = 500  # records: among so few, all groups that matter are listed, as the last fixings are the worst,
_LISTED, _LIST_NODES = 1000, 2_000_000  # and if there are not more of them, with so many nodes of that search,
_FINISH_NODES, _CLOSE = (
    100,
    1e-7,
)  # branching finds the best partition: in so many nodes, to that part of its cost
_WHOLE, _FRACTION = 1.0 - 1e-6, 1e-6  # what counts as 1 and as 0 in a linear program, whose own tolerance is 1e-9
_HALF = 0.5  # a group is fixed above that, but one at least
_BREADTH, _NODES = 20, 500  # of a search for groups, nearest records and nodes; it is exact nowhere
_ROUNDS = 30  # of linear programs between two fixings: badly converged, they fixed the wrong groups
_FEW = 0.005  # new columns for each record, below which it has converged
_CUT_ROUNDS, _CUTS, _CUTS_EACH = 3, 100, 3  # rounds of cuts; cuts at once; of these, so many at a record


class Diving:
    """Dives among some of the records, from groups and cuts that are known."""

    def __init__(self, X: Floats, k: int, pool: Ints, cuts: Ints, limits: Limits, part: float) -> None:
        """`part`: how many of the groups that are not whole may be fixed at a time."""
        self._X, self._k, self._limits, self._part = X, k, limits, part
        self._pool, self._cuts = pool, cuts

    def run(self, start: Ints, below: float, met: Callable[[Ints], None]) -> None:
        """Dive among the records of these groups, which are a partition of them.

        `met` hears of every partition of these records that costs less than `below` and all before.
        """
        self._rest, self._start = np.sort(start[start >= 0]), start
        self._taken, self._paid = start[:0], 0.0
        self._value, self._met = below, met
        while len(self._rest) >= 2 * self._k and not self._limits.over() and self._descend():
            self._search()

    def _descend(self) -> bool:
        """Fix groups among the records that are left; whether there is hope."""
        master = self._master()
        solution = self._solve(master)
        if self._limits.over() or self._paid + solution.value >= self._value:
            return False
        split = (solution.x > _FRACTION) & (solution.x < _WHOLE)
        if not split.any():
            self._meet(self._outer(master.groups[solution.x > _HALF]))
            return False
        return not self._finish(master, solution) and self._fix(master, solution)

    def _master(self) -> Master:
        """The linear program of the records that are left."""
        master = Master(self._X[self._rest], self._k)
        place = np.full(len(self._X) + 1, -1)
        place[self._rest] = np.arange(len(self._rest))
        local = place[self._pool]
        master.add(local[((local >= 0) == (self._pool >= 0)).all(axis=1)])
        master.add(place[self._start])
        cuts = within(self._cuts, place)
        if len(cuts):
            master.add_cuts(cuts)
        return master

    def _outer(self, groups: Ints) -> Ints:
        """Groups of records, of groups of those that are left."""
        outer: Ints = np.append(self._rest, -1)[groups]
        return outer

    def _solve(self, master: Master) -> Solution:
        """The relaxation among the records that are left, nearly."""
        n = len(self._rest)
        pricing = self._pricing = Pricing(self._X[self._rest], self._k)
        over, cut_rounds = self._limits.over, 0
        for _ in range(_ROUNDS):
            solution = master.solve()
            if over():
                break
            pi, cuts, sigma = solution.pi, master.cuts, solution.sigma
            priced = pricing.price(pi, cuts, sigma, below=BELOW, breadth=_BREADTH, nodes=_NODES, over=over)
            if master.add(priced.groups) < max(1, _FEW * n):
                cut_rounds += 1
                if cut_rounds > _CUT_ROUNDS or not self._cut(master, solution):
                    break
        self._pool, self._cuts = self._outer(master.groups), self._outer(master.cuts)
        return master.solve()

    def _cut(self, master: Master, solution: Solution) -> bool:
        """Add cuts that the solution violates, if there are any."""
        split = np.flatnonzero((solution.x > _FRACTION) & (solution.x < _WHOLE))
        if len(split) == 0:
            return False
        cuts = separate(master.groups[split], solution.x[split], len(self._rest), _CUTS, _CUTS_EACH, master.known)
        if len(cuts):
            master.add_cuts(cuts)
        return len(cuts) > 0

    def _fix(self, master: Master, solution: Solution) -> bool:
        """Fix the groups that are whole, and some of those that nearly are; whether there were any."""
        free = np.ones(len(self._rest), bool)
        split = (solution.x > _FRACTION) & (solution.x < _WHOLE)
        most = max(1, math.floor(self._part * float(solution.x[split].sum())))
        new: list[int] = []
        fractional = 0
        for g in np.argsort(-solution.x, kind="stable").tolist():
            x = solution.x[g]
            if x < _FRACTION or (x < _WHOLE and (fractional == most or (x < _HALF and fractional > 0))):
                break
            group = master.groups[g]
            group = group[group >= 0]
            if not free[group].all() or 0 < free.sum() - len(group) < self._k:
                continue
            free[group] = False
            new.append(g)
            fractional += x < _WHOLE
        self._taken = np.concatenate([self._taken, self._outer(master.groups[new])])
        self._paid = math.fsum(group_costs(self._X, self._taken).tolist())
        self._rest = self._rest[free]
        return len(new) > 0

    def _search(self) -> None:
        """A partition of what is left, without linear programs: one to begin with, and perhaps a good one."""
        if len(self._rest) == 0:
            self._meet(self._start[:0])
            return
        X = self._X[self._rest]
        with listening(None):  # its progress is not this one's
            rng = np.random.default_rng(0)
            refined = refine(X, mdav(X, self._k), self._k, effort="quick", rng=rng, limits=self._limits)
        labels = refined.labels
        groups = np.full((labels.max() + 1, self._start.shape[1]), -1)
        for g in range(len(groups)):
            group = self._rest[labels == g]
            groups[g, : len(group)] = group
        self._start = groups
        self._meet(groups)

    def _finish(self, master: Master, solution: Solution) -> bool:
        """Where few groups can be in a better partition, look for the best one among these; whether they are few.

        This is exact but for the nodes, and for groups that the hurried pricing has missed.
        """
        gap = self._value - self._paid - solution.value
        if len(self._rest) > _FINISHED:
            return False
        pi, cuts, sigma = solution.pi, master.cuts, solution.sigma
        listed = self._pricing.enumerate(pi, cuts, sigma, gap, _LISTED, _LIST_NODES, self._limits.over)
        if listed is None:
            return False
        binding = cuts[sigma > 0.0]
        limit = self._value - self._paid
        search = Branching(self._X[self._rest], self._k, *listed, binding, limit, _CLOSE * limit, inner=True)
        best = search.run(0.0, self._limits, _FINISH_NODES).best
        if best is not None:
            self._meet(self._outer(listed[0][best]))
        return True

    def _meet(self, groups: Ints) -> None:
        """A partition: what is fixed, and these."""
        groups = np.concatenate([self._taken, groups])
        value = math.fsum(group_costs(self._X, groups).tolist())
        if value < self._value:
            self._value = value
            self._met(groups)
