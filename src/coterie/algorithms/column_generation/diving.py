"""Diving: partitions out of the relaxation's fractions, by fixing groups and generating others around them.

Groups that the linear program takes (nearly) whole are fixed, their records leave the pricing, and groups of the others
are generated anew until the next are whole. It never goes back: a heuristic (Joncour et al. 2010, Column generation
based primal heuristics), whose every group stays in the master for what comes after.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..limits import Limits
from ..mdav import mdav
from .bound import BELOW
from .cuts import separate
from .master import Master, Solution
from .pricing import Pricing

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FINISHED = 120  # so few records are left to others: the last fixings are the worst
_WHOLE, _FRACTION = 1.0 - 1e-6, 1e-6
_HALF = 0.5  # a group is fixed above that, but one at least
_NODES = 500  # of a search
_ROUNDS = 8  # of linear programs between two fixings
_CUT_ROUNDS, _CUTS, _CUTS_EACH = 3, 100, 3


class Diving:
    """A dive from the solution of a master problem, whose columns it fixes, adds to, and sets free in the end."""

    def __init__(self, X: Floats, k: int, master: Master, limits: Limits, fixed: float, below: float) -> None:
        """`fixed`: the part of the groups that may be fixed at a time. `below`: it gives up when it can't get there."""
        self._X, self._k, self._master, self._limits, self._part = X, k, master, limits, fixed
        self._below = below
        self._finish: Callable[[Floats], Ints] | None = None
        self._breadth = 15 if k < 4 else 30
        self._taken: list[int] = []  # columns
        self._rest = np.arange(len(X))

    def run(self, finish: Callable[[Floats], Ints] | None = None) -> Ints | None:
        """A partition's groups; None if it got stuck, or was stopped. `finish` labels the last FINISHED records."""
        self._finish = finish
        try:
            return self._run()
        finally:
            self._master.fix(np.array(self._taken, np.int64), 0.0)

    def _run(self) -> Ints | None:
        while not self._limits.over():
            solution = self._solve()
            if solution.value >= self._below:
                return None
            if not ((solution.x > _FRACTION) & (solution.x < _WHOLE)).any():
                return self._master.groups[solution.x > _HALF]
            if not self._fix(solution):
                return None
            if len(self._rest) == 0:
                return self._master.groups[self._taken]
            if len(self._rest) < 2 * self._k:
                return self._with(self._rest[None]) if len(self._rest) >= self._k else None
            if len(self._rest) <= FINISHED and self._finish is not None:
                return self._with(self._grouped(self._finish(self._X[self._rest])))
            self._make_feasible()
        return None

    def _with(self, groups: Ints) -> Ints:
        """What is fixed, and these."""
        more = np.full((len(groups), self._master.groups.shape[1]), -1)
        more[:, : groups.shape[1]] = groups
        return np.concatenate([self._master.groups[self._taken], more])

    def _solve(self) -> Solution:
        """The relaxation around what is fixed, nearly."""
        rest, k = self._rest, self._k
        pricing = Pricing(self._X[rest], k)
        place = np.full(len(self._X) + 1, -1)
        place[rest] = np.arange(len(rest))
        cut_rounds = 0
        for _ in range(_ROUNDS):
            solution = self._master.solve()
            if self._limits.over():
                break
            cuts = place[self._master.cuts]  # those who are gone cannot meet anybody
            found = pricing.price(
                solution.pi[rest], cuts, solution.sigma, below=BELOW, breadth=self._breadth, nodes=_NODES
            )
            new = self._master.add(np.append(rest, -1)[found.groups])
            if new < max(1, 0.01 * len(rest)):
                cut_rounds += 1
                if cut_rounds > _CUT_ROUNDS or not self._cut(solution):
                    break
        return self._master.solve()

    def _cut(self, solution: Solution) -> bool:
        """Add cuts that the solution violates, if there are any."""
        split = np.flatnonzero((solution.x > _FRACTION) & (solution.x < _WHOLE))
        if len(split) == 0:
            return False
        inside = self._master.groups[split]
        cuts = separate(inside, solution.x[split], len(self._X), _CUTS, _CUTS_EACH, self._master.known)
        if len(cuts):
            self._master.add_cuts(cuts)
        return len(cuts) > 0

    def _fix(self, solution: Solution) -> bool:
        """Fix the groups that are whole, and some of those that nearly are; whether there were any."""
        free = np.zeros(len(self._X), bool)
        free[self._rest] = True
        most = max(1, math.floor(self._part * float(solution.x.sum() - len(self._taken))))
        new: list[int] = []
        fractional = 0
        for g in np.argsort(-solution.x, kind="stable").tolist():
            x = solution.x[g]
            if x < _FRACTION or (x < _WHOLE and (fractional == most or (x < _HALF and fractional > 0))):
                break
            group = self._master.groups[g]
            group = group[group >= 0]
            if not free[group].all() or 0 < free.sum() - len(group) < self._k:
                continue
            free[group] = False
            new.append(g)
            fractional += x < _WHOLE
        self._taken += new
        self._rest = np.flatnonzero(free)
        self._master.fix(np.array(new, np.int64), 1.0)
        return len(new) > 0

    def _make_feasible(self) -> None:
        """Groups that the others can form, however bad."""
        self._master.add(self._grouped(mdav(self._X[self._rest], self._k)))

    def _grouped(self, labels: Ints) -> Ints:
        """The groups of the records that are left, by their labels."""
        groups = np.full((labels.max() + 1, self._master.groups.shape[1]), -1)
        for g in range(len(groups)):
            group = self._rest[labels == g]
            groups[g, : len(group)] = group
        return groups
