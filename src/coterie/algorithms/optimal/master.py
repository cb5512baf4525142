"""The master problem: a linear program over groups, every record in exactly one, subject to subset-row cuts."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray

from .subset_row_cuts import NO_CUTS, by_record, entries, room

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_TOLERANCE = 1e-9
_INF = highspy.kHighsInf


class Solution(NamedTuple):
    """An optimal solution: its value, the groups' values, the prices of records and of cuts (none negative).

    outside : how much records are alone, or at the edges of the box.
    """

    value: float
    x: Floats
    pi: Floats
    sigma: Floats
    outside: float


class Outside(NamedTuple):
    """What a window must take as given: the prices of the records around it, and of the cuts that reach out of it."""

    inside: NDArray[np.bool_]  # (n,): the records of the window, whose prices are looked for
    pi: Floats  # (n,): the prices of the others; 0 inside
    cuts: Ints
    sigma: Floats


def group_costs(X: Floats, groups: Ints) -> Floats:
    """The SSE of each group: from the distances of its pairs, as the pricing computes it."""
    total = np.zeros(len(groups))
    size = (groups >= 0).sum(axis=1)
    for a in range(groups.shape[1]):
        for b in range(a + 1, groups.shape[1]):
            both = np.flatnonzero(groups[:, b] >= 0)
            steps = X[groups[both, a]] - X[groups[both, b]]
            total[both] += np.einsum("ij,ij->i", steps, steps)
    costs: Floats = total / size
    return costs


def reduced_costs(groups: Ints, cost: Floats, pi: Floats, cuts: Ints, sigma: Floats) -> Floats:
    """What groups cost beyond the prices of their records, with what they pay for cuts."""
    reduced: Floats = cost - np.append(pi, 0.0)[groups].sum(axis=1)  # -1, for nobody, is the last
    charged = np.flatnonzero(sigma > 0.0)
    if len(charged):
        counts, found, much = entries(groups, by_record(cuts[charged], len(pi)), len(charged))
        column = np.repeat(np.arange(len(groups)), counts)
        reduced += np.bincount(column, sigma[charged][found] * much, len(reduced))
    return reduced


def _columns(groups: Ints, cuts: Ints, n: int) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats]:
    """The rows in which each group counts, records first, then cuts: where each group's start; which; how much."""
    size = (groups >= 0).sum(axis=1)
    counts, found, value = entries(groups, by_record(cuts, n), len(cuts))
    starts = np.append(0, np.cumsum(size + counts))
    index = np.empty(starts[-1], np.int32)
    inside = np.arange(groups.shape[1]) < size[:, None]
    index[(starts[:-1, None] + np.arange(groups.shape[1]))[inside]] = groups[inside]
    first = np.append(0, np.cumsum(counts))[:-1]
    place = np.repeat(starts[:-1] + size - first, counts) + np.arange(len(found))
    index[place] = n + found
    much = np.ones(len(index))
    much[place] = value
    return starts[:-1].astype(np.int32), index, much


class Master:
    """The linear program, solved anew from the last solution on.

    Attributes
    ----------
    groups : ndarray of shape (m, 2k - 1)
        The columns: records in order, -1 after the last.
    cost : ndarray of shape (m,)
        Their SSE; in a window, less the prices of the records around it, and with what they pay for its given cuts.
    cuts : ndarray of shape (c, 9)
        The records of each, -1 after the last.
    """

    def __init__(
        self, X: Floats, k: int, fine: float | None = None, boxed: bool = False, outside: Outside | None = None
    ) -> None:
        """With a fine, records may be left alone: then there always is a solution. For `box`, they have room in it.

        `outside`: the rows of records around a window bind nobody, and their prices are part of the columns' costs.
        """
        self._X, self._n, self._outside = X, len(X), outside
        self.groups = np.empty((0, 2 * k - 1), np.int64)
        self.cost = np.empty(0)
        self.cuts = NO_CUTS
        self._at: dict[bytes, int] = {}
        self.known: set[tuple[int, ...]] = set()
        self._solver = _quiet_solver()
        n = self._n
        empty = np.zeros(n, np.int32), np.zeros(0, np.int32), np.zeros(0)
        low, high = np.ones(n), np.ones(n)
        if outside is not None:
            low[~outside.inside], high[~outside.inside] = -_INF, _INF
        self._solver.addRows(n, low, high, 0, *empty)
        signs = [1.0, -1.0] if boxed else [] if fine is None else [1.0]
        self._alone = n * len(signs)  # these columns come first
        each = np.arange(n, dtype=np.int32)
        for sign in signs:
            cost, most = np.full(n, fine or 0.0), np.full(n, _INF if sign > 0.0 else 1.0)  # else it were unbounded
            self._solver.addCols(n, cost, np.zeros(n), most, n, each, each, np.full(n, sign))

    def box(self, centre: Floats, half_width: float) -> None:
        """Keep the prices near these: a record may be covered less for a little more, or twice for a little less."""
        if self._outside is not None:
            centre = np.where(self._outside.inside, centre, 0.0)
        n, spread = self._n, half_width * (np.abs(centre) + 0.05)  # of a mean share of 1
        each = np.arange(n, dtype=np.int32)
        self._solver.changeColsCost(n, each, centre + spread)
        self._solver.changeColsCost(n, n + each, spread - centre)

    def add(self, groups: Ints) -> int:
        """Add those groups that are not there yet; give their number."""
        if self._outside is not None:  # a group around the window has no row, and its cost may be rounded below 0
            groups = groups[np.append(self._outside.inside, False)[groups].any(axis=1)]
        fresh = []
        for g, row in enumerate(np.ascontiguousarray(groups)):
            key = row.tobytes()
            if key not in self._at:
                self._at[key] = len(self._at)
                fresh.append(g)
        if not fresh:
            return 0
        groups = groups[fresh]
        cost = group_costs(self._X, groups)
        if self._outside is not None:
            cost = reduced_costs(groups, cost, *self._outside[1:])
        m = len(groups)
        starts, index, much = _columns(groups, self.cuts, self._n)
        self._solver.addCols(m, cost, np.zeros(m), np.full(m, _INF), len(index), starts, index, much)
        self.groups = np.concatenate([self.groups, groups])
        self.cost = np.concatenate([self.cost, cost])
        return m

    def add_cuts(self, cuts: Ints) -> None:
        """Add cuts: from now on, solutions satisfy them."""
        m = len(cuts)
        counts, found, much = entries(self.groups, by_record(cuts, self._n), m)
        column = np.repeat(np.arange(len(self.groups)), counts)
        order = np.argsort(found, kind="stable")
        starts = np.append(0, np.cumsum(np.bincount(found, minlength=m)))[:-1]
        index = (self._alone + column[order]).astype(np.int32)
        starts = starts.astype(np.int32)
        self._solver.addRows(m, np.full(m, -_INF), room(cuts), len(index), starts, index, much[order])
        self.cuts = np.concatenate([self.cuts, cuts])
        self.known.update(map(tuple, cuts.tolist()))

    def solve(self) -> Solution:
        """Solve, from the last solution on."""
        for another_try in (True, False):
            self._solver.run()
            status = self._solver.getModelStatus()
            if status == highspy.HighsModelStatus.kOptimal:
                break
            if not another_try:
                raise RuntimeError(f"HiGHS failed on a linear program: {self._solver.modelStatusToString(status)}.")
            self._solver.clearSolver()  # from scratch
            self._solver.setOptionValue("threads", 0)
        solution = self._solver.getSolution()
        dual = np.array(solution.row_dual)
        value = float(self._solver.getInfo().objective_function_value)
        x = np.array(solution.col_value)
        outside, x = float(x[: self._alone].sum()), x[self._alone :]
        pi = dual[: self._n] if self._outside is None else dual[: self._n] + self._outside.pi
        return Solution(value, x, pi, np.maximum(0.0, -dual[self._n :]), outside)

    def allow(self, allowed: NDArray[np.bool_]) -> None:
        """Shut all other columns."""
        m = len(allowed)
        which = np.arange(self._alone, self._alone + m, dtype=np.int32)
        self._solver.changeColsBounds(m, which, np.zeros(m), np.where(allowed, _INF, 0.0))

    def fix(self, which: Ints, at_least: float) -> None:
        """Take these columns at least so much."""
        m = len(which)
        index = (self._alone + which).astype(np.int32)
        self._solver.changeColsBounds(m, index, np.full(m, at_least), np.full(m, _INF))


def _quiet_solver() -> highspy.Highs:
    """A solver on one thread that says nothing."""
    solver = highspy.Highs()
    for option, value in (("output_flag", False), ("threads", 1), ("parallel", "off"), ("random_seed", 0)):
        solver.setOptionValue(option, value)
    for kind in ("primal", "dual"):
        solver.setOptionValue(f"{kind}_feasibility_tolerance", _TOLERANCE)
    return solver


def best_partition(
    n: int, groups: Ints, cost: Floats, cuts: Ints, start: Ints, nodes: int, over: Callable[[], bool]
) -> Ints:
    """A good partition made of these groups, by HiGHS's branch and cut, from a start on: which groups it takes.

    A heuristic: what HiGHS says of its optimality is not asked.
    """
    m = len(groups)
    solver = _quiet_solver()
    for option, value in (("mip_rel_gap", 0.0), ("mip_abs_gap", 1e-9), ("mip_max_nodes", nodes)):
        solver.setOptionValue(option, value)
    rows = n + len(cuts)
    low = np.append(np.ones(n), np.full(len(cuts), -_INF))
    high = np.append(np.ones(n), room(cuts))
    solver.addRows(rows, low, high, 0, np.zeros(rows, np.int32), np.zeros(0, np.int32), np.zeros(0))
    starts, index, much = _columns(groups, cuts, n)
    solver.addCols(m, cost, np.zeros(m), np.ones(m), len(index), starts, index, much)
    solver.changeColsIntegrality(
        m, np.arange(m, dtype=np.int32), np.full(m, highspy.HighsVarType.kInteger, dtype=object)
    )
    if len(start):
        _begin_with(solver, start, m)
    solver.cbMipInterrupt.subscribe(lambda event: event.interrupt() if over() else None)
    solver.run()
    x = np.array(solver.getSolution().col_value)
    chosen = np.flatnonzero(x > 0.5)
    inside = groups[chosen]
    whole = len(chosen) > 0 and np.array_equal(np.sort(inside[inside >= 0]), np.arange(n))
    return chosen if whole else start


def _begin_with(solver: highspy.Highs, start: Ints, m: int) -> None:
    """Give the solver a solution: these of m columns."""
    given = highspy.HighsSolution()
    values = np.zeros(m)
    values[start] = 1.0
    given.col_value = values.tolist()
    solver.setSolution(given)
