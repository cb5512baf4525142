"""Closing the gap: branch and bound over the finitely many groups that a better partition can be made of.

A partition that costs less than the best one known holds only groups whose reduced costs lie below the gap between
that and the bound. Where all of these can be listed, what is left is a small set partitioning problem. It branches on
two records that are together or not (Ryan and Foster 1981), with subset-row cuts, and each node's bound is made safe as
the root's is. Where few groups are left, they fall into components that share no record: each is searched on its own,
so that the nodes of these searches add up instead of multiplying.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...progress import state
from ..limits import Limits
from .components import components
from .lagrangian import BELOW, lagrangian_bound
from .master import Master, Solution, best_partition, group_costs, reduced_costs
from .subset_row_cuts import room, separate, within

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

# No bound becomes invalid by these: they decide how tight it gets, and how soon. No source gives them. What they reach
# on the CASC sets at k = 2 to 10 is in docs/least-loss.md, and benchmarks/least_loss.py measures it.
_FRACTION = 1e-6  # what counts as 0 in a linear program, whose own tolerance is 1e-9
_FIRST = 8  # columns, per record, that the linear program starts with
_FEW, _ROUND_NODES, _ROUND_RECORDS = 8, 100, 500  # rounding: among so many groups for each record, with so many nodes
_FIRST_CUT_ROUNDS, _CUT_ROUNDS = 10, 1  # at the first node, and at others
_SHRUNK = 4  # where so many times fewer groups are left, a smaller problem is set up
_CUTS, _CUTS_EACH, _ENOUGH_CUTS = 150, 3, 8  # at once; of these, at a record; in all, for each record


class Node(NamedTuple):
    """A part of the search: the groups that are allowed, and what no partition made of them costs less than."""

    allowed: Mask
    bound: float


class Closed(NamedTuple):
    """The best partition found, as places in the list of groups (None: none below the limit), and what is proven."""

    best: Ints | None
    value: float
    bound: float  # no partition made of these groups costs less, or it is `value`
    nodes: int


class Branching:
    """The search among listed groups for a partition that costs less than `value`."""

    def __init__(
        self,
        X: Floats,
        k: int,
        groups: Ints,
        reduced: Floats,
        cuts: Ints,
        value: float,
        close: float,
        inner: bool = False,
    ) -> None:
        """`inner`: this is a part of another search."""
        self.X, self.n, self.k, self._close = X, len(X), k, close
        self.unit = 1.0  # that SSEs are told in
        self.told = not inner  # whether the list has all groups that matter, so that the bounds hold
        self.groups, self._cost = groups, group_costs(X, groups)
        self._inner = inner
        self._master = Master(X, k, fine=value)
        self._at = np.empty(0, np.int64)  # the places of the master's columns in the list
        self._slack = 2.0**-50 * (X.shape[1] + 4 * k * k + 32)
        self._best: Ints | None = None
        self._value = value
        self._enter(few_of_each(groups, reduced, len(X), _FIRST))
        if len(cuts):
            self._master.add_cuts(cuts)

    def _enter(self, which: Ints) -> None:
        """Let listed groups enter the linear program."""
        self._master.add(self.groups[which])
        self._at = np.concatenate([self._at, which])

    def run(self, bound: float, limits: Limits, most: int, value: float = math.inf) -> Closed:
        """Search until nothing is left, or so many nodes were looked at. `value`: a new limit, if it is lower."""
        if value < self._value:
            self._value, self._best = value, None
        open_nodes = [Node(np.ones(len(self.groups), bool), bound)]
        proven, nodes = math.inf, 0
        while open_nodes:
            node = open_nodes.pop()
            if nodes >= most or limits.over():
                proven = min(proven, node.bound)
                continue
            nodes += 1
            node, solution = self._solve(node, limits, first=nodes == 1)
            if nodes == 1 and not self._inner and self.n <= _ROUND_RECORDS:
                self._round(np.flatnonzero(node.allowed), self._reduced_costs(solution, node.allowed), limits)
            if node.bound >= self._value - self._close:
                proven = min(proven, node.bound)
                continue
            closed = self._apart(node, solution, limits, most - nodes)
            if closed is not None:
                proven, nodes = min(proven, closed.bound), nodes + closed.nodes
                self._tell(proven, open_nodes)
                continue
            pair = self._pair(solution)
            if pair is None:  # prices too inexact to prune by
                proven = min(proven, node.bound)
                continue
            a, b = ((self.groups == x).any(axis=1) for x in pair)
            open_nodes += [Node(node.allowed & ~(a & b), node.bound), Node(node.allowed & (a == b), node.bound)]
            self._tell(proven, open_nodes)
        return Closed(self._best, self._value, min(proven, self._value), nodes)

    def _tell(self, proven: float, open_nodes: list[Node]) -> None:
        """Say how far it has come."""
        if self.told:
            bound = min([proven, self._value, *(node.bound for node in open_nodes)])
            state(sse=self._value * self.unit, bound=bound * self.unit)

    def _apart(self, node: Node, solution: Solution, limits: Limits, most: int) -> Closed | None:
        """Search what is left with smaller linear programs: component by component, or because it has few groups."""
        here = np.flatnonzero(node.allowed)
        component = components(self.groups[here], self.n)
        size = np.bincount(component)
        if (size > 1).sum() < 2 and _SHRUNK * len(here) > len(self.groups):
            return None
        reduced = self._reduced_costs(solution, node.allowed)
        cuts = self._master.cuts[solution.sigma > 0.0]
        alone = here[size[component] == 1]
        parts = [_Part(self, here[component == c], reduced, cuts) for c in np.flatnonzero(size > 1)]
        return self._together(alone, parts, node.bound, limits, most)

    def _together(self, alone: Ints, parts: list[_Part], bound: float, limits: Limits, most: int) -> Closed:
        """Search component by component: each may cost what the best partition does beyond the bounds of the others."""
        paid, nodes = math.fsum(self._cost[alone].tolist()), 0
        for first in (True, False):  # a bound of each, then the proof
            for part in parts:
                others = math.fsum([paid, *(other.bound for other in parts if other is not part)])
                if limits.over() or nodes >= most or others + part.bound >= self._value - self._close:
                    break
                nodes += part.run(self._value - others, self._close / len(parts), limits, 1 if first else most - nodes)
        best = [part.best for part in parts if part.best is not None]
        if len(best) == len(parts):
            self._take(np.concatenate([alone, *best]))
        total = math.fsum([paid, *(part.bound for part in parts)])
        return Closed(None, self._value, max(bound, total * (1.0 - self._slack)), nodes)

    def _solve(self, node: Node, limits: Limits, first: bool) -> tuple[Node, Solution]:
        """The relaxation at a node, with cuts, and without the groups that cannot help."""
        allowed, bound = node
        inside = np.zeros(len(self.groups), bool)
        inside[self._at] = True
        rounds = 0
        while True:
            self._master.allow(allowed[self._at])
            solution = self._master.solve()
            reduced = self._reduced_costs(solution, allowed)
            low = np.sort(np.minimum(reduced, 0.0))[: self.n]
            low = np.append(low, np.zeros(self.n - len(low)))
            here = lagrangian_bound(solution.pi, solution.sigma, room(self._master.cuts), low, self.k)
            bound = max(bound, here)
            self._keep(solution)
            if bound >= self._value - self._close or limits.over():
                break
            allowed = allowed & (reduced < self._value - here)  # the bound that these very prices prove
            missing = np.flatnonzero(allowed & ~inside & (reduced < BELOW))
            if len(missing):
                missing = missing[np.argsort(reduced[missing], kind="stable")][: self.n]
                inside[missing] = True
                self._enter(missing)
                continue
            rounds += 1
            if rounds > (_FIRST_CUT_ROUNDS if first else _CUT_ROUNDS) or not self._cut(solution):
                break
        return Node(allowed, bound), solution

    def _cut(self, solution: Solution) -> bool:
        """Add cuts that the solution violates, if there are any."""
        split = self._split(solution)
        if len(split) == 0 or len(self._master.cuts) >= _ENOUGH_CUTS * self.n:
            return False
        inside = self.groups[self._at[split]]
        cuts = separate(inside, solution.x[split], self.n, _CUTS, _CUTS_EACH, self._master.known)
        if len(cuts):
            self._master.add_cuts(cuts)
        return len(cuts) > 0

    def _split(self, solution: Solution) -> Ints:
        """The columns with fractions."""
        return np.flatnonzero((solution.x > _FRACTION) & (solution.x < 1.0 - _FRACTION))

    def _reduced_costs(self, solution: Solution, allowed: Mask) -> Floats:
        """Those of the groups that are allowed, rounded down; of others, infinite."""
        pi = solution.pi + self._slack * np.abs(solution.pi)
        cost, sigma = self._cost[allowed] * (1.0 - self._slack), solution.sigma * (1.0 - self._slack)
        reduced = np.full(len(self.groups), math.inf)
        reduced[allowed] = reduced_costs(self.groups[allowed], cost, pi, self._master.cuts, sigma)
        return reduced

    def _keep(self, solution: Solution) -> None:
        """Keep a solution without fractions if it is the best so far."""
        self._take(self._at[solution.x > 0.5])

    def _take(self, chosen: Ints) -> None:
        """Keep groups if they are a partition, and the best so far."""
        inside = self.groups[chosen]
        if np.array_equal(np.sort(inside[inside >= 0]), np.arange(self.n)):
            value = math.fsum(self._cost[chosen].tolist())
            if value < self._value:
                self._best, self._value = chosen, value

    def _round(self, listed: Ints, reduced: Floats, limits: Limits) -> None:
        """Look for a better partition made of the groups that are left; if they are many, of the most promising."""
        listed = listed[few_of_each(self.groups[listed], reduced[listed], self.n, _FEW)]
        groups, cost, nobody = self.groups[listed], self._cost[listed], np.empty(0, np.int64)
        chosen = best_partition(self.n, groups, cost, self._master.cuts, nobody, _ROUND_NODES, limits.over)
        self._take(listed[chosen])

    def _pair(self, solution: Solution) -> tuple[int, int] | None:
        """Two records that are together by half, as near as can be."""
        together: dict[tuple[int, int], float] = {}
        for g in self._split(solution).tolist():
            group = self.groups[self._at[g]]
            inside = group[group >= 0].tolist()
            for h, a in enumerate(inside):
                for b in inside[h + 1 :]:
                    together[a, b] = together.get((a, b), 0.0) + float(solution.x[g])
        pairs = {pair: abs(weight - 0.5) for pair, weight in together.items() if abs(weight - 0.5) < 0.5 - _FRACTION}
        return min(pairs, key=lambda pair: (pairs[pair], pair)) if pairs else None


class _Part:
    """A component of what is left at a node: some of the records, and all groups of them that are allowed.

    Attributes
    ----------
    bound : float
        No partition of these records costs less, if it costs less than the last limit.
    best : ndarray or None
        The best partition, as places in the whole list of groups.
    """

    def __init__(self, whole: Branching, places: Ints, reduced: Floats, cuts: Ints) -> None:
        self._places = places
        groups = whole.groups[places]
        records = np.unique(groups[groups >= 0])
        place = np.full(whole.n + 1, -1)
        place[records] = np.arange(len(records))
        self._made = whole.X[records], whole.k, place[groups], reduced[places], within(cuts, place)
        self._search: Branching | None = None
        self.bound = 0.0
        self.best: Ints | None = None

    def run(self, value: float, close: float, limits: Limits, most: int) -> int:
        """Search for a partition that costs less than `value`; the nodes that it took."""
        if self._search is None:
            self._search = Branching(*self._made, value, close, inner=True)
        closed = self._search.run(self.bound, limits, most, value)
        self.bound = max(self.bound, closed.bound)
        self.best = None if closed.best is None else self._places[closed.best]
        return closed.nodes


def few_of_each(groups: Ints, reduced: Floats, n: int, few: int) -> Ints:
    """The groups that are, for one of their records at least, among its few of the least reduced cost."""
    order = np.argsort(reduced, kind="stable")
    place, column = np.nonzero(groups[order] >= 0)
    record = groups[order[place], column]
    by_record = np.argsort(record, kind="stable")
    first = np.append(0, np.cumsum(np.bincount(record, minlength=n)))[:-1]
    rank = np.empty(len(record), np.int64)
    rank[by_record] = np.arange(len(record)) - first[record[by_record]]
    return order[np.unique(place[rank < few])]
